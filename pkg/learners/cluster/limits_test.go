package cluster

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/limits"
)

// What a number of clusters or features would take is checked first.
func TestSizes(t *testing.T) {
	t.Cleanup(func() { limits.SetMemory(0) })
	limits.SetMemory(1 << 20)
	rng := rand.New(rand.NewPCG(1, 1))
	const n = 600
	tall, wide := mat.NewDense(n, 1, nil), mat.NewDense(3, n, nil)
	for i := range n {
		tall.Set(i, 0, float64(i))
		wide.Set(i%3, i, float64(i))
	}
	costs := mat.NewDense(n, n, nil)
	costs.Set(0, 1, 1) // not symmetric, so that it is copied
	for name, f := range map[string]func() error{
		"mixture, many components": func() error { _, err := FitMixture(context.Background(), rng, tall, MixtureParams{K: n}); return err },
		"mixture, many features":   func() error { _, err := FitMixture(context.Background(), rng, wide, MixtureParams{K: 2}); return err },
		"hmrf": func() error {
			_, err := FitHMRF(context.Background(), rng, tall, nil, HMRFParams{KMeansParams: KMeansParams{K: n}})
			return err
		},
		"medoids": func() error { _, err := FitPAM(context.Background(), costs, MedoidsParams{M: 2}); return err },
	} {
		var e *limits.MemoryError
		if err := f(); !errors.As(err, &e) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
