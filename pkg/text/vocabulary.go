package text

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"metriclab/internal/enum"
)

// Selection says which terms make a vocabulary. The zero value is
// SelectDocumentFrequency.
type Selection int

const (
	// SelectDocumentFrequency prefers the terms that stand in most documents.
	SelectDocumentFrequency Selection = iota
	// SelectInformationGain prefers the terms that tell most about whether a document
	// is relevant.
	SelectInformationGain
)

var selectionNames = enum.Of[Selection]("Selection(%d)", "document-frequency", "information-gain")

// String returns "document-frequency" or "information-gain".
func (s Selection) String() string { return selectionNames.Text(s) }

// Gain returns the information gain of a term about a binary label, in bits:
//
//	G(t) = H(n₊/n) − df/n·H(df₊/df) − (n−df)/n·H((n₊−df₊)/(n−df)),
//	H(p) = −p·log₂ p − (1−p)·log₂(1−p)
//
// for n documents of which n₊ are relevant, and df with the term of which df₊
// are relevant; a share of no documents counts 0. It is 0 for a term that is
// independent of the label, and at most H(n₊/n).
// Source: Yang and Pedersen, A comparative study on feature selection in text
// categorization, ICML 1997, Section 2.2, with two classes. It panics unless the
// counts can belong to one set of documents.
func Gain(n, relevant, df, dfRelevant int) float64 {
	if n < 1 || dfRelevant < 0 || dfRelevant > min(df, relevant) || df-dfRelevant > n-relevant || relevant > n {
		panic(fmt.Sprintf("text: Gain of counts %d, %d, %d, %d, which no documents have", n, relevant, df, dfRelevant))
	}
	total := float64(n)
	g := entropy(relevant, n) - float64(df)/total*entropy(dfRelevant, df) - float64(n-df)/total*entropy(relevant-dfRelevant, n-df)
	return max(g, 0) // below 0 by round-off only
}

// entropy returns H(k/n), and 0 for n = 0.
func entropy(k, n int) float64 {
	if k == 0 || k == n {
		return 0
	}
	p := float64(k) / float64(n)
	return -p*math.Log2(p) - (1-p)*math.Log2(1-p)
}

// termStat says in how many documents a term stands.
type termStat struct {
	term           string
	df, dfRelevant int
	score          float64
}

// vocabulary returns the size best terms of the documents, or all if there are
// fewer, in alphabetical order.
func vocabulary(docs []Bag, p VectorizerParams) []termStat {
	index := map[string]int{}
	var stats []termStat
	relevant := 0
	for i, d := range docs {
		hit := 0
		if p.Relevant != nil && p.Relevant[i] {
			hit = 1
		}
		relevant += hit
		for _, c := range d {
			k, ok := index[c.Term]
			if !ok {
				k = len(stats)
				index[c.Term] = k
				stats = append(stats, termStat{term: c.Term})
			}
			stats[k].df++
			stats[k].dfRelevant += hit
		}
	}
	for k := range stats {
		s := &stats[k]
		if p.Select == SelectInformationGain {
			s.score = Gain(len(docs), relevant, s.df, s.dfRelevant)
		} else {
			s.score = float64(s.df)
		}
	}
	byTerm := func(a, b termStat) int { return cmp.Compare(a.term, b.term) }
	slices.SortFunc(stats, func(a, b termStat) int { return cmp.Or(cmp.Compare(b.score, a.score), byTerm(a, b)) })
	stats = slices.Clone(stats[:min(p.Size, len(stats))])
	slices.SortFunc(stats, byTerm)
	return stats
}
