package spectral

import "testing"

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
