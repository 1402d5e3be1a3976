package text

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// ClassGain returns the information gain of a term about the class of a document, in
// bits:
//
//	G(t) = H(n_c/n) − df/n·H(df_c/df) − (n−df)/n·H((n_c−df_c)/(n−df)),
//	H(p) = −Σ_c p_c·log₂ p_c
//
// for n_c documents of class c, n = Σ n_c in all, of which df_c, df = Σ df_c in all, have
// the term; a share of no documents counts 0. It is 0 for a term that is independent of
// the class, and at most H(n_c/n). With two classes it is Gain. Counts that differ only
// in the order of the classes have the same gain to the bit.
// Source: Yang and Pedersen, A comparative study on feature selection in text
// categorization, ICML 1997, Section 2.2. It panics unless the counts can belong to one
// set of documents.
func ClassGain(documents, having []int) float64 {
	n, df := 0, 0
	without := make([]int, len(documents))
	for c, size := range documents {
		if len(having) != len(documents) || having[c] < 0 || having[c] > size {
			panic(fmt.Sprintf("text: ClassGain of counts %d and %d, which no documents have", documents, having))
		}
		n, df = n+size, df+having[c]
		without[c] = size - having[c]
	}
	if n == 0 {
		panic("text: ClassGain of no documents")
	}
	g := classEntropy(documents, n) - float64(df)/float64(n)*classEntropy(having, df) - float64(n-df)/float64(n)*classEntropy(without, n-df)
	return max(g, 0) // below 0 by round-off only
}

// classEntropy returns H(counts/total), and 0 for total = 0. The sum is in the order of
// the counts, so that it does not depend on that of the classes.
func classEntropy(counts []int, total int) float64 {
	h := 0.0
	for _, k := range slices.Sorted(slices.Values(counts)) {
		if k > 0 {
			p := float64(k) / float64(total)
			h -= p * math.Log2(p)
		}
	}
	return h
}

// Scored is a term and its information gain in bits.
type Scored struct {
	Term string
	Gain float64
}

// ByClassGain returns the size terms with the greatest ClassGain about the class of the
// documents, or all if there are fewer: the greatest first, equal ones in alphabetical
// order. Only whether a term stands in a document counts, not how often. Classes are any
// integers. It panics if size is negative, or unless there is one class per document.
func ByClassGain(docs []Bag, class []int, size int) []Scored {
	if size < 0 || len(class) != len(docs) {
		panic(fmt.Sprintf("text: ByClassGain of %d terms with %d classes for %d documents", size, len(class), len(docs)))
	}
	names := slices.Compact(slices.Sorted(slices.Values(class)))
	documents := make([]int, len(names))
	having := map[string][]int{}
	for i, d := range docs {
		c, _ := slices.BinarySearch(names, class[i])
		documents[c]++
		for _, t := range d {
			if having[t.Term] == nil {
				having[t.Term] = make([]int, len(names))
			}
			having[t.Term][c]++
		}
	}
	out := make([]Scored, 0, len(having))
	for term, h := range having {
		out = append(out, Scored{term, ClassGain(documents, h)})
	}
	slices.SortFunc(out, func(a, b Scored) int { return cmp.Or(cmp.Compare(b.Gain, a.Gain), cmp.Compare(a.Term, b.Term)) })
	return slices.Clone(out[:min(size, len(out))])
}
