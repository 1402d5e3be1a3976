package synthetic_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"metriclab/pkg/datasets/synthetic"
)

func TestNews(t *testing.T) {
	const n = 4000
	r := synthetic.News(rand.New(rand.NewPCG(1, 1)), n)
	if !reflect.DeepEqual(r, synthetic.News(rand.New(rand.NewPCG(1, 1)), n)) {
		t.Error("the same generator state gave other news")
	}
	train, test := r.ModApte()
	if len(r.Docs) != n || len(train) != n*3/4 || len(test) != n/4 {
		t.Fatalf("%d items, split %d + %d", len(r.Docs), len(train), len(test))
	}
	for _, topic := range synthetic.NewsTopics {
		hits := 0
		for _, has := range r.Relevant(r.All(), topic.Name) {
			if has {
				hits++
			}
		}
		// Five standard deviations of a binomial count.
		if sd := math.Sqrt(n * topic.Share * (1 - topic.Share)); math.Abs(float64(hits)-n*topic.Share) > 5*sd {
			t.Errorf("topic %s has %d items of %d, want about %g", topic.Name, hits, n, n*topic.Share)
		}
	}
	// A topic can be told by its words: items that share a topic share more
	// different words than items without.
	share := func(with bool) float64 {
		var sum, pairs float64
		var last map[string]bool
		for i, has := range r.Relevant(r.All(), synthetic.NewsTopics[0].Name) {
			if has != with {
				continue
			}
			words := map[string]bool{}
			for _, w := range strings.Fields(r.Docs[i].Text()) {
				words[w] = true
			}
			for w := range words {
				if last[w] {
					sum++
				}
			}
			last, pairs = words, pairs+1
		}
		return sum / pairs
	}
	if with, without := share(true), share(false); with < 1.1*without {
		t.Errorf("%.1f words in common with the topic, %.1f without", with, without)
	}
}
