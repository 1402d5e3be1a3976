package text

import (
	"fmt"

	porter "github.com/blevesearch/go-porterstemmer"
	"github.com/kljensen/snowball/english"

	"metriclab/internal/enum"
)

// Stemmer says how words become terms. The zero value is StemmerPorter2.
type Stemmer int

const (
	// StemmerPorter2 is Porter's English stemmer of 2001.
	StemmerPorter2 Stemmer = iota
	// StemmerPorter is the original: Porter, An algorithm for suffix stripping, Program
	// 14(3), 1980, with the two departures of the author's own program, which the vocabulary
	// that he publishes has, too. Step 2 takes BLI to BLE where the paper takes ABLI to
	// ABLE: "possibly" is possibl. And it takes LOGI to LOG: "archaeology" is archaeolog.
	StemmerPorter
)

var stemmerNames = enum.Of[Stemmer]("Stemmer(%d)", "porter2", "porter")

// String returns "porter2" or "porter".
func (s Stemmer) String() string { return stemmerNames.Text(s) }

// stem returns the stem of a word in lower case that is no stop word.
func (s Stemmer) stem(word string) string {
	if s == StemmerPorter {
		return string(porter.StemWithoutLowerCasing([]rune(word)))
	}
	return english.Stem(word, true)
}

// NewAnalyzer returns an analyzer with that stemmer. It panics if s is not one of the Stemmer
// constants.
func NewAnalyzer(s Stemmer) *Analyzer {
	if s != StemmerPorter2 && s != StemmerPorter {
		panic(fmt.Sprintf("text: NewAnalyzer: %v is not a stemmer", s))
	}
	return &Analyzer{stemmer: s}
}
