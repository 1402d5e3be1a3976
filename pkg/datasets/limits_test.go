package datasets_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"metriclab/pkg/datasets"
	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/datasets/synthetic"
	"metriclab/pkg/limits"
)

// A count beyond the limit is an error before anything is drawn.
func TestHugeCounts(t *testing.T) {
	t.Cleanup(func() { limits.SetMemory(0) })
	limits.SetMemory(1 << 20)
	rng := rand.New(rand.NewPCG(1, 1))
	y := []int{0, 0, 1, 1}
	mixture := func(n int) []synthetic.Component {
		c := synthetic.Component{Mean: []float64{0, 0}, N: n}
		return []synthetic.Component{c, c, c}
	}
	for _, n := range []int{1 << 20, 1 << 40, math.MaxInt} {
		for name, f := range map[string]func() error{
			"RandomLinks":   func() error { _, err := sample.RandomLinks(rng, y, n); return err },
			"BalancedLinks": func() error { _, err := sample.BalancedLinks(rng, y, n); return err },
			"PerClassLinks": func() error { _, err := sample.PerClassLinks(rng, y, 2, n, n); return err },
			"Rings":         func() error { _, err := synthetic.Rings(rng, n, []float64{1}, 0); return err },
			"NoisyGlyphs": func() error {
				_, err := synthetic.NoisyGlyphs(rng, []int{1}, n, synthetic.NoisePerImage, 1)
				return err
			},
			"GaussianMixture":     func() error { _, err := synthetic.GaussianMixture(rng, mixture(n)); return err },
			"GaussianComparisons": func() error { _, err := synthetic.GaussianComparisons(rng, n, 2); return err },
			"CountTriplets":       func() error { _, err := datasets.CountTriplets(2*n, nil); return err },
		} {
			var e *limits.MemoryError
			if name == "CountTriplets" && n == math.MaxInt {
				continue // 2n is negative
			}
			if err := f(); !errors.As(err, &e) {
				t.Errorf("%s(%d): error %v", name, n, err)
			}
		}
	}
	if links, err := sample.EachClassLinks(rng, y, math.MaxInt); err != nil || len(links) == 0 {
		t.Errorf("as many links as there are: %d, error %v", len(links), err)
	}
	if _, err := sample.PerClassLinks(rng, y, math.MaxInt, 1, 1); err == nil {
		t.Error("more classes than rows are allowed")
	}
}
