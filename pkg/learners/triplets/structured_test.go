package triplets

import (
	"math"
	"math/rand/v2"
	"testing"

	"metriclab/pkg/metric"
)

// points answers random comparisons of n points of N(0, I₅₀).
func points(n int, seed uint64) func() metric.Triplet {
	r := rand.New(rand.NewPCG(seed, 2))
	x := make([]float64, n*50)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	return func() metric.Triplet {
		a, b, c := r.IntN(n), r.IntN(n), r.IntN(n)
		for b == a {
			b = r.IntN(n)
		}
		for c == a || c == b {
			c = r.IntN(n)
		}
		var d float64
		for k := range 50 {
			p, q := x[a*50+k]-x[b*50+k], x[a*50+k]-x[c*50+k]
			d += p*p - q*q
		}
		if d > 0 {
			b, c = c, b
		}
		return metric.Triplet{A: a, Near: b, Far: c}
	}
}

func pa(k cone, t metric.Triplet, g Gradient) (addition, bool) {
	d := k.at(t.Near, t.Near) - k.at(t.Far, t.Far) - 2*k.at(t.A, t.Near) + 2*k.at(t.A, t.Far)
	gamma := (d + 1) / g.drop()
	if gamma <= 0 {
		return addition{}, false
	}
	return k.add(t, gamma, g), true
}

// agreement is how far the structured kernel may be from the dense one after a long stream: the round-off
// of thousands of eigenpairs in either.
const agreement = 1e-8

// gap returns the largest difference of the entries of two kernels.
func gap(n int, k, d cone) float64 {
	var worst float64
	for i := range n {
		for j := range n {
			worst = max(worst, math.Abs(k.at(i, j)-d.at(i, j)))
		}
	}
	return worst
}

func TestStructuredIsDense(t *testing.T) {
	for _, n := range []int{4, 30, 100} {
		for _, g := range []Gradient{Printed, Frobenius} {
			next := points(n, 1)
			k, d := newStructured(n, nil), newDense(n, nil, false, 1)
			for range 6 * n {
				t := next()
				pa(k, t, g)
				pa(d, t, g)
			}
			if e := gap(n, k, d); e > agreement {
				t.Errorf("n = %d, %v: kernels differ by %v", n, g, e)
			}
		}
	}
}
