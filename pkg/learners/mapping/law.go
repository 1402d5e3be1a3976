package mapping

import (
	"math"
	"math/rand/v2"

	"metriclab/pkg/metric"
)

// law is the exact law P(S) of Algorithm 1, line 2, over the sets of m prototypes in
// lexicographic order.
type law struct {
	t    *weights
	m    int
	p    []float64 // P(S)
	logZ float64   // ln Σ_S ω(S), with the origins of t
}

// newLaw computes all ω(S) in O(C(B,m)·A).
func newLaw(t *weights, m int) *law {
	l := &law{t: t, m: m, p: make([]float64, 0, sets(t.b, m))}
	most := math.Inf(-1)
	l.each(t.w, nil, func(set []int, w, _, last, _ []float64) {
		omega := logProduct(w, last, func(i int) float64 { return t.logRow(i, set) })
		l.p = append(l.p, omega)
		most = max(most, omega)
	})
	var sum float64
	for k, omega := range l.p {
		l.p[k] = math.Exp(omega - most)
		sum += l.p[k]
	}
	for k := range l.p {
		l.p[k] /= sum
	}
	l.logZ = most + math.Log(sum)
	return l
}

// each calls visit for every set in lexicographic order, with the sums over all its members but
// the last of the columns of w and, unless it is nil, of x, and with the columns of the last member.
func (l *law) each(w, x []float64, visit func(set []int, w, x, last, lastX []float64)) {
	a, b, m := l.t.a, l.t.b, l.m
	column := func(v []float64, j int) []float64 {
		if v == nil {
			return nil
		}
		return v[j*a : (j+1)*a]
	}
	set := make([]int, m)
	sumW, sumX := make([][]float64, m), make([][]float64, m)
	for d := range m {
		sumW[d] = make([]float64, a)
		if x != nil {
			sumX[d] = make([]float64, a)
		}
	}
	var descend func(d, from int)
	descend = func(d, from int) {
		for j := from; j <= b-m+d; j++ {
			set[d] = j
			cw, cx := column(w, j), column(x, j)
			if d == m-1 {
				visit(set, sumW[d], sumX[d], cw, cx)
				continue
			}
			for i, v := range cw {
				sumW[d+1][i] = sumW[d][i] + v
			}
			for i, v := range cx {
				sumX[d+1][i] = sumX[d][i] + v
			}
			descend(d+1, j+1)
		}
	}
	descend(0, 0)
}

// draw returns a set with probability P(S).
func (l *law) draw(rng *rand.Rand) []int {
	return l.unrank(pick(l.p, 1, rng))
}

// unrank returns the set of the given place in lexicographic order.
func (l *law) unrank(k int) []int {
	set := make([]int, l.m)
	j := 0
	for d := range set {
		for {
			below := sets(l.t.b-j-1, l.m-d-1) // sets with j at d
			if k < below {
				break
			}
			k -= below
			j++
		}
		set[d] = j
		j++
	}
	return set
}

// expectedLoss returns the expectation of the loss in round f of a map drawn by
// Algorithm 1.
func (l *law) expectedLoss(f metric.CostRound) float64 {
	t := l.t
	at := entries(f.Cost)
	cost := make([]float64, len(t.w))
	wc := make([]float64, len(t.w))
	for j := range t.b {
		for i := range t.a {
			k := j*t.a + i
			cost[k] = at(i, j)
			wc[k] = t.w[k] * cost[k]
		}
	}
	var total float64
	place := 0
	l.each(t.w, wc, func(set []int, w, x, last, lastX []float64) {
		p := l.p[place]
		place++
		if p == 0 {
			return
		}
		var sum float64
		for i, v := range last {
			if r := w[i] + v; usable(r) {
				sum += (x[i] + lastX[i]) / r
				continue
			}
			least := t.least(i, set)
			var up, down float64
			for _, j := range set {
				e := math.Exp(-t.eta * (t.sum[j*t.a+i] - least))
				up += e * cost[j*t.a+i]
				down += e
			}
			sum += up / down
		}
		total += p * sum
	})
	return total
}

// mapProbability returns the probability that Algorithm 1 draws pi. With k prototypes in use
// it is C(B−k, m−k)·Πᵢ w[i, pi(i)] / Σ_S ω(S): ω(S) cancels against the weights that line 4
// divides by, for each of the C(B−k, m−k) sets that hold the image.
func (l *law) mapProbability(pi []int) float64 {
	t := l.t
	used := make(map[int]bool)
	logP := -l.logZ
	for i, j := range pi {
		used[j] = true
		logP -= t.eta * (t.sum[j*t.a+i] - t.origin[i])
	}
	k := len(used)
	if k > l.m {
		return 0
	}
	return math.Exp(logP + logChoose(t.b-k, l.m-k))
}
