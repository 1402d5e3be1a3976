package spectral

import (
	"math"
	"testing"
)

// TestPlausible: wrong scales and wrong signs are seen.
func TestPlausible(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   bool
	}{
		{[]float64{-1, 1, 2}, true}, {[]float64{-1, 1, 2 + 1e-12}, true}, {[]float64{-1e-3, 1e-3, 2}, false},
		{[]float64{-1, 1, 2e122}, false}, {[]float64{-2, -1, 1}, false},
	} {
		if got := plausible(c.values, 2, 2.449489742783178); got != c.want { // √6
			t.Errorf("%v: %v", c.values, got)
		}
	}
}

// TestLongKrylov: the Ritz pairs of many steps come by divide and conquer. The operator's eigenvalues are those of a path,
// 2 − 2cos(πj/(n+1)), which crowd at the ends.
func TestLongKrylov(t *testing.T) {
	const n, k = 700, 12
	products := 0
	op := Func{N: n, Mul: func(dst, x []float64) {
		products++
		for i := range x {
			dst[i] = 2 * x[i]
			if i > 0 {
				dst[i] -= x[i-1]
			}
			if i+1 < n {
				dst[i] -= x[i+1]
			}
		}
	}}
	r := Largest(op, k, Options{Tol: 1e-12})
	if r.Status != Converged && r.Status != WholeSpace || products < manySteps {
		t.Fatalf("%v after %d products, want more than %d", r.Status, products, manySteps)
	}
	for i, v := range r.Values {
		if want := 2 - 2*math.Cos(math.Pi*float64(n-i)/(n+1)); math.Abs(v-want) > 1e-11 || r.Residuals[i] > 1e-11 {
			t.Errorf("eigenvalue %d is %v with residual %g, want %v", i, v, r.Residuals[i], want)
		}
	}
}
