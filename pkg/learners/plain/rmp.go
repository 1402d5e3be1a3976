package plain

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// RMP is randomized map prediction: each of the a objects is mapped to one of b prototypes, of which at most m are used.
// Maps are drawn by exponential weights w[i, j] = exp(−ηC[i, j]), C the costs of all rounds.
//
// Source: Rakhlin, Abernethy, Bartlett, Online Discovery of Similarity Mappings, ICML 2007, Algorithms 1 and 2.
type RMP struct {
	C   *mat.Dense // a×b, the costs so far
	M   int
	Eta float64
}

// NewRMP returns RMP before its first round.
func NewRMP(a, b, m int, eta float64) *RMP { return &RMP{C: mat.NewDense(a, b, nil), M: m, Eta: eta} }

// Step adds the costs of a round.
func (l *RMP) Step(cost mat.Matrix) { l.C.Add(l.C, cost) }

// LogOmega returns ln ω(S), ω(S) = Πᵢ Σ_{j in S} w[i, j]. printed: products of weights, which underflow.
func (l *RMP) LogOmega(s []int) float64 {
	a, _ := l.C.Dims()
	total := 0.0
	for i := range a {
		row := make([]float64, len(s))
		for k, j := range s {
			row[k] = -l.Eta * l.C.At(i, j)
		}
		total += logSumExp(row)
	}
	return total
}

// Law returns all sets of m prototypes, in lexicographic order, and P(S) = ω(S)/Σω of each: line 2 of Algorithm 1.
func (l *RMP) Law() (sets [][]int, p []float64) {
	_, b := l.C.Dims()
	sets = subsets(b, l.M)
	p = make([]float64, len(sets))
	for k, s := range sets {
		p[k] = l.LogOmega(s)
	}
	z := logSumExp(p)
	for k := range p {
		p[k] = math.Exp(p[k] - z)
	}
	return sets, p
}

// Draw draws a map by Algorithm 1. A map onto k < m prototypes is C(b−k, m−k) times as likely as under Eq. 1, beside maps onto
// m. printed: that both laws are the same
func (l *RMP) Draw(rng *rand.Rand) []int {
	sets, p := l.Law()
	return l.assign(rng, sets[pick(rng, p)])
}

// Walk draws a map with a set from r steps of Algorithm 2 instead, a random walk from the set s, and returns both.
func (l *RMP) Walk(rng *rand.Rand, s []int, r int) (pi, last []int) {
	_, b := l.C.Dims()
	s = slices.Clone(s)
	for range r {
		next := slices.Clone(s)
		out := rng.IntN(b)
		for slices.Contains(s, out) {
			out = rng.IntN(b)
		}
		next[rng.IntN(len(s))] = out
		if rng.Float64() < math.Exp(l.LogOmega(next)-l.LogOmega(s)) { // line 6
			s = next
		}
	}
	return l.assign(rng, s), s
}

// assign draws π(i) from S with probability w[i, j]/Σ_{k in S} w[i, k]: lines 3 to 5 of Algorithm 1.
func (l *RMP) assign(rng *rand.Rand, s []int) []int {
	a, _ := l.C.Dims()
	pi := make([]int, a)
	for i := range a {
		w := make([]float64, len(s))
		for k, j := range s {
			w[k] = -l.Eta * l.C.At(i, j)
		}
		z := logSumExp(w)
		for k := range w {
			w[k] = math.Exp(w[k] - z)
		}
		pi[i] = s[pick(rng, w)]
	}
	return pi
}

// pick returns k with probability p[k].
func pick(rng *rand.Rand, p []float64) int {
	u := rng.Float64()
	for k, v := range p {
		if u -= v; u < 0 {
			return k
		}
	}
	return len(p) - 1
}

// subsets returns all sets of m of the numbers below b.
func subsets(b, m int) [][]int {
	if m == 0 {
		return [][]int{nil}
	}
	var out [][]int
	for first := range b {
		for _, rest := range subsets(b-first-1, m-1) {
			set := []int{first}
			for _, j := range rest {
				set = append(set, first+1+j)
			}
			out = append(out, set)
		}
	}
	return out
}

// logSumExp returns ln Σ exp(x).
func logSumExp(x []float64) float64 {
	most, sum := slices.Max(x), 0.0
	for _, v := range x {
		sum += math.Exp(v - most)
	}
	return most + math.Log(sum)
}
