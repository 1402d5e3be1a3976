package text

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats/scalar"
)

// gainReference is the mutual information of "has the term" and "is relevant",
// cell by cell: Σ p(t,c)·log₂(p(t,c)/(p(t)·p(c))).
func gainReference(n, relevant, df, dfRelevant int) float64 {
	cells := [2][2]float64{
		{float64(n - relevant - df + dfRelevant), float64(relevant - dfRelevant)},
		{float64(df - dfRelevant), float64(dfRelevant)},
	}
	g := 0.0
	for t := range 2 {
		for c := range 2 {
			p := cells[t][c] / float64(n)
			pt := (cells[t][0] + cells[t][1]) / float64(n)
			pc := (cells[0][c] + cells[1][c]) / float64(n)
			if p > 0 {
				g += p * math.Log2(p/(pt*pc))
			}
		}
	}
	return g
}

func TestGain(t *testing.T) {
	// Entropies are at most 1, so that cancellation leaves a few ε of absolute error.
	const tol = 1e-14
	for n := 1; n <= 12; n++ {
		for relevant := 0; relevant <= n; relevant++ {
			for df := 0; df <= n; df++ {
				for k := max(0, df+relevant-n); k <= min(df, relevant); k++ {
					got, want := Gain(n, relevant, df, k), gainReference(n, relevant, df, k)
					if !scalar.EqualWithinAbs(got, want, tol) || got < 0 {
						t.Errorf("Gain(%d, %d, %d, %d) = %v, want %v", n, relevant, df, k, got, want)
					}
					if k*n == df*relevant && got > tol {
						t.Errorf("Gain(%d, %d, %d, %d) = %v of an independent term, want 0", n, relevant, df, k, got)
					}
				}
			}
			if got := Gain(n, relevant, relevant, relevant); !scalar.EqualWithinAbs(got, entropy(relevant, n), tol) {
				t.Errorf("a term that is the label of %d in %d gains %v, want %v", relevant, n, got, entropy(relevant, n))
			}
		}
	}
	if got := Gain(8, 4, 4, 4); got != 1 {
		t.Errorf("a term that is the label of half the documents gains %v, want 1 bit", got)
	}
}

func TestGainPanics(t *testing.T) {
	for _, c := range [][4]int{{0, 0, 0, 0}, {5, 6, 0, 0}, {5, 2, 1, 2}, {5, 2, 5, 1}, {5, 2, 1, -1}, {5, 2, 6, 2}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Gain%v does not panic", c)
				}
			}()
			Gain(c[0], c[1], c[2], c[3])
		}()
	}
}

// letters are the terms of made documents.
const letters = "abcdefghijklmnop"

// randomBags returns documents of up to 8 of 16 one-letter terms, the first of
// them far more frequent than the last, and labels.
func randomBags(rng *rand.Rand, n int) (docs []Bag, relevant []bool) {
	for range n {
		counts := [len(letters)]int{}
		for range rng.IntN(9) {
			counts[min(rng.IntN(len(letters)), rng.IntN(len(letters)))]++
		}
		var d Bag
		for i, c := range counts {
			if c > 0 {
				d = append(d, Count{letters[i : i+1], c})
			}
		}
		docs = append(docs, d)
		relevant = append(relevant, rng.IntN(4) == 0)
	}
	return docs, relevant
}

// hasTerm returns whether the term stands in the document.
func hasTerm(d Bag, term string) bool {
	return slices.ContainsFunc(d, func(c Count) bool { return c.Term == term })
}

// Each chosen term is at least as good as each that was not, and first in the
// alphabet where they are equally good.
func TestVocabulary(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for trial := range 50 {
		docs, relevant := randomBags(rng, 1+rng.IntN(40))
		size := 1 + rng.IntN(len(letters))
		for _, p := range []VectorizerParams{{Size: size}, {Size: size, Select: SelectInformationGain, Relevant: relevant}} {
			chosen := vocabulary(docs, p)
			score, n := map[string]float64{}, 0
			for i := range letters {
				term, df, dfRelevant, all := letters[i:i+1], 0, 0, 0
				for k, d := range docs {
					if relevant[k] {
						all++
					}
					if hasTerm(d, term) {
						df++
						if relevant[k] {
							dfRelevant++
						}
					}
				}
				if df == 0 {
					continue
				}
				n++
				score[term] = float64(df)
				if p.Select == SelectInformationGain {
					score[term] = Gain(len(docs), all, df, dfRelevant)
				}
			}
			if len(chosen) != min(size, n) {
				t.Fatalf("trial %d, %v: %d terms, want %d", trial, p.Select, len(chosen), min(size, n))
			}
			for i, c := range chosen {
				if i > 0 && c.term <= chosen[i-1].term {
					t.Fatalf("trial %d, %v: terms do not ascend: %v", trial, p.Select, chosen)
				}
				for other, s := range score {
					in := slices.ContainsFunc(chosen, func(o termStat) bool { return o.term == other })
					if !in && (s > score[c.term] || s == score[c.term] && other < c.term) {
						t.Errorf("trial %d, %v: %s (%v) is chosen and %s (%v) is not", trial, p.Select, c.term, score[c.term], other, s)
					}
				}
			}
		}
	}
}
