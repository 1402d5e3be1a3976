// Package text turns documents into vectors: terms, vocabularies and
// tf-idf, as sparse rows. It is a leaf but for package sparse: it knows neither
// learners nor data sets.
//
// # How it is built
//
// NewAnalyzer takes the stemmer as an argument: Porter2 is that of kljensen/snowball, the original that of
// blevesearch/go-porterstemmer, which is frozen as the algorithm is. The latter was compared with the program of
// the Snowball project on 123,051 words of 20 Newsgroups and Classic3. They differ in the two departures of
// Porter's own, in words of at most two letters, which never come here, and in ten oddities: "trekked" is the
// paper's "trek".
//
// Which parts of a post's header count (PostHeaders) is chosen when the post is loaded.
package text

import (
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
)

// Version changes when a document's terms or vectors do.
const Version = 1

const (
	// minLetters is the length of the shortest word that counts.
	minLetters = 2
	// maxLetters is the length of the longest; English has none of that length,
	// damaged files do.
	maxLetters = 64
	// maxCached bounds the memory of an Analyzer over an endless stream.
	maxCached = 1 << 17
)

// Analyzer takes documents apart into terms:
//
//  1. A word is a longest run of letters (Unicode), in lower case, so that digits,
//     hyphens and apostrophes separate: "U.S. crude-oil, $17.50" is u, s, crude,
//     oil.
//  2. Words of fewer than 2 or more than 64 letters, and English stop words (the
//     127 of the Snowball library, among them "the", "after", "will"), are
//     dropped.
//  3. The rest are stemmed by Porter's English stemmer ("Porter2", 2001; it
//     revises Porter, An algorithm for suffix stripping, Program 14(3), 1980), or
//     by the Stemmer that NewAnalyzer is given.
//
// It remembers the stems of words it has met, at most 131072, and none changes a
// result. The zero value is ready for use, by one goroutine at a time.
type Analyzer struct {
	stemmer Stemmer
	term    map[string]string // word -> term; "" for a stop word
	word    []byte
}

// Terms returns the terms of a document in their order.
func (a *Analyzer) Terms(doc string) []string {
	var out []string
	a.each(doc, func(term string) { out = append(out, term) })
	return out
}

// Count is a term and how often it stands in a document.
type Count struct {
	Term string
	N    int // ≥ 1
}

// Bag is a document as its terms without their order: distinct, ascending.
type Bag []Count

// Bag returns the bag of a document; it is empty for one without terms.
func (a *Analyzer) Bag(doc string) Bag {
	terms := a.Terms(doc)
	slices.Sort(terms)
	var out Bag
	for i, t := range terms {
		if i == 0 || t != terms[i-1] {
			out = append(out, Count{Term: t})
		}
		out[len(out)-1].N++
	}
	return slices.Clip(out)
}

func (a *Analyzer) each(doc string, yield func(term string)) {
	letters := 0
	a.word = a.word[:0]
	for _, r := range doc {
		if unicode.IsLetter(r) {
			if letters++; letters <= maxLetters {
				a.word = utf8.AppendRune(a.word, unicode.ToLower(r))
			}
			continue
		}
		a.end(letters, yield)
		letters = 0
	}
	a.end(letters, yield)
}

// end completes the word of that many letters.
func (a *Analyzer) end(letters int, yield func(term string)) {
	if minLetters <= letters && letters <= maxLetters {
		term, ok := a.term[string(a.word)]
		if !ok {
			word := string(a.word)
			if !english.IsStopWord(word) {
				term = a.stemmer.stem(word)
			}
			if a.term == nil {
				a.term = map[string]string{}
			}
			if len(a.term) < maxCached {
				a.term[word] = term
			}
		}
		if term != "" {
			yield(term)
		}
	}
	a.word = a.word[:0]
}
