package synthetic

import (
	"math"
	"math/rand/v2"
	"strings"

	"metriclab/pkg/datasets"
)

// NewsTopics are the topics of made-up News with the share of items that have
// each, most frequent first. An item may have several, most have none.
var NewsTopics = []struct {
	Name  string
	Share float64
}{{"harbour", 0.08}, {"metal", 0.06}, {"weather", 0.04}, {"theatre", 0.03}, {"chess", 0.008}}

const (
	newsWords     = 400 // of the common vocabulary
	newsOwn       = 15  // words of a topic's own
	newsOwnShare  = 0.3 // of an item's words are its topics' own
	newsLength    = 30  // words of an item on average
	newsLeast     = 8   // words of the shortest item
	newsSyllables = 3
)

// News returns n made-up news items with the topics NewsTopics, in the form of the
// collection Reuters-21578, for which they stand in where no file may be needed.
// An item's words are drawn from a common vocabulary whose frequencies fall as
// 1/rank (Zipf's law); those of an item with topics are, by three in ten, drawn
// from 15 words of the topic's own. Words are syllables without meaning. All
// items are of the ModApte split, the first three quarters TRAIN. It panics if n
// is negative.
func News(rng *rand.Rand, n int) *datasets.Reuters {
	words := madeWords(rng, newsWords+len(NewsTopics)*newsOwn)
	common := words[:newsWords]
	var total float64
	cumulated := make([]float64, len(common))
	for i := range cumulated {
		total += 1 / float64(i+1)
		cumulated[i] = total
	}
	out := &datasets.Reuters{Docs: make([]datasets.ReutersDoc, n)}
	for i := range out.Docs {
		d := &out.Docs[i]
		d.NewID, d.TopicsAttr, d.LewisSplit = i+1, "YES", "TRAIN"
		if i >= n*3/4 {
			d.LewisSplit = "TEST"
		}
		var own []string
		for k, t := range NewsTopics {
			if rng.Float64() < t.Share {
				d.Topics = append(d.Topics, t.Name)
				first := newsWords + k*newsOwn
				own = append(own, words[first:first+newsOwn]...)
			}
		}
		text := make([]string, newsLeast+int(rng.ExpFloat64()*(newsLength-newsLeast)))
		for j := range text {
			if len(own) > 0 && rng.Float64() < newsOwnShare {
				text[j] = own[rng.IntN(len(own))]
				continue
			}
			at := rng.Float64() * total
			k := 0
			for k < len(common)-1 && cumulated[k] < at {
				k++
			}
			text[j] = common[k]
		}
		title := int(math.Min(4, float64(len(text))))
		d.Title, d.Body = strings.Join(text[:title], " "), strings.Join(text[title:], " ")
	}
	return out
}

// madeWords returns n different words of syllables, none with an ending that a
// stemmer would cut.
func madeWords(rng *rand.Rand, n int) []string {
	const consonants, vowels = "bdfgklmnprtvz", "aou"
	seen := map[string]bool{}
	var out []string
	for len(out) < n {
		var w []byte
		for range newsSyllables {
			w = append(w, consonants[rng.IntN(len(consonants))], vowels[rng.IntN(len(vowels))])
		}
		if !seen[string(w)] {
			seen[string(w)] = true
			out = append(out, string(w))
		}
	}
	return out
}
