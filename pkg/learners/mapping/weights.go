package mapping

import (
	"math"
	"math/rand/v2"
	"slices"
)

// weights are w[i, j] = exp(−η·cost[i, j]), each row divided by a factor of its own so
// that they do not all underflow: the weight of row i is 1 at cost origin[i]. A sum of weights
// outside [2⁻⁴⁸⁰, 2⁴⁸⁰[ is not used; what it is for is computed from the costs instead (logRow).
type weights struct {
	costs
	eta    float64
	w      []float64 // like costs.sum
	origin []float64 // of each row
}

func newWeights(c costs) weights {
	return weights{costs: c, w: make([]float64, len(c.sum)), origin: make([]float64, c.a)}
}

func (t *weights) column(j int) []float64 { return t.w[j*t.a : (j+1)*t.a : (j+1)*t.a] }

// set computes all weights at learning rate eta, with the least cost of each row as its origin.
func (t *weights) set(eta float64) {
	t.eta = eta
	copy(t.origin, t.sum[:t.a])
	for j := 1; j < t.b; j++ {
		for i, c := range t.costs.column(j) {
			t.origin[i] = min(t.origin[i], c)
		}
	}
	for j := range t.b {
		w := t.column(j)
		for i, c := range t.costs.column(j) {
			w[i] = math.Exp(-eta * (c - t.origin[i]))
		}
	}
}

// recentre makes the least cost of row i among set its origin.
func (t *weights) recentre(i int, set []int) {
	t.origin[i] = t.least(i, set)
	for k := i; k < len(t.w); k += t.a {
		t.w[k] = math.Exp(-t.eta * (t.sum[k] - t.origin[i]))
	}
}

// least returns the least cost of row i among set.
func (t *weights) least(i int, set []int) float64 {
	least := math.Inf(1)
	for _, j := range set {
		least = min(least, t.sum[j*t.a+i])
	}
	return least
}

// logRow returns ln Σ_{j in set} w[i, j], whatever underflows.
func (t *weights) logRow(i int, set []int) float64 {
	least := t.least(i, set)
	var sum float64
	for _, j := range set {
		sum += math.Exp(-t.eta * (t.sum[j*t.a+i] - least))
	}
	return math.Log(sum) - t.eta*(least-t.origin[i])
}

// drawMap draws the prototype of each object among set, with probabilities proportional to its
// weights (Algorithm 1, lines 3 to 5).
func (t *weights) drawMap(pi, set []int, rng *rand.Rand) {
	w := make([]float64, len(set))
	for i := range pi {
		least := t.least(i, set)
		var total float64
		for k, j := range set {
			w[k] = math.Exp(-t.eta * (t.sum[j*t.a+i] - least))
			total += w[k]
		}
		pi[i] = set[pick(w, total, rng)]
	}
}

// pick returns an index of w with probability proportional to its entry; the entries are not
// negative, and total > 0 is their sum.
func pick(w []float64, total float64, rng *rand.Rand) int {
	u := rng.Float64() * total
	last := 0
	for k, v := range w {
		if v == 0 {
			continue
		}
		if u -= v; u < 0 {
			return k
		}
		last = k // round-off can leave u at 0 after the last one
	}
	return last
}

// A product of many numbers is kept as product·2^exponent, with the product of
// their mantissas, so that one logarithm at the end is enough.
const (
	mantissa = 1<<52 - 1
	one      = 1023 << 52 // the bits of 1
	leastExp = -480
	minExp   = 1023 + leastExp // the exponents of usable sums
	spanExp  = -2 * leastExp
	block    = 1000 // numbers in [1, 2) whose product cannot overflow
)

// usable reports whether v is in the range in which sums of weights are used.
func usable(v float64) bool { return math.Float64bits(v)>>52-minExp < spanExp }

// logProduct returns Σ ln(x[i] + y[i]). Where a sum is not usable, slow(i) takes the place of its
// logarithm.
func logProduct(x, y []float64, slow func(i int) float64) float64 {
	var sum float64
	exponent := 0
	y = y[:len(x)]
	for lo := 0; lo < len(x); lo += block {
		p, q := 1.0, 1.0
		hi := min(lo+block, len(x))
		i := lo
		for ; i+1 < hi; i += 2 {
			a, b := math.Float64bits(x[i]+y[i]), math.Float64bits(x[i+1]+y[i+1])
			if a>>52-minExp >= spanExp || b>>52-minExp >= spanExp {
				sum += slowOrLog(x, y, i, slow) + slowOrLog(x, y, i+1, slow)
				continue
			}
			exponent += int(a>>52+b>>52) - 2*1023
			p *= math.Float64frombits(a&mantissa | one)
			q *= math.Float64frombits(b&mantissa | one)
		}
		if i < hi {
			sum += slowOrLog(x, y, i, slow)
		}
		sum += math.Log(p * q)
	}
	return sum + float64(exponent)*math.Ln2
}

func slowOrLog(x, y []float64, i int, slow func(i int) float64) float64 {
	if v := x[i] + y[i]; usable(v) {
		return math.Log(v)
	}
	return slow(i)
}

// complement returns the numbers from 0 to b−1 that are not in set, in ascending order.
func complement(set []int, b int) []int {
	out := make([]int, 0, b-len(set))
	for j := range b {
		if !slices.Contains(set, j) {
			out = append(out, j)
		}
	}
	return out
}
