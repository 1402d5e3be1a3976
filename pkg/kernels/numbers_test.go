package kernels_test

import (
	"math/rand/v2"
	"testing"

	"metriclab/pkg/kernels"
	"metriclab/pkg/persist/persisttest"
)

// No number of a file makes a loader or what it loaded panic, or take more memory
// than its file warrants.
func TestNumbersOfFiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 13))
	for _, m := range testMetrics(rng, 2) {
		persisttest.Numbers(t, persisttest.Saved(m), kernels.LoadMetric, func(m *kernels.Metric) {
			if m.Dim() < 100 {
				m.SqDist(make([]float64, m.Dim()), make([]float64, m.Dim()))
			}
		})
	}
	for _, k := range testTransformed(rng, 2) {
		persisttest.Numbers(t, persisttest.Saved(k), kernels.LoadTransformed, func(k *kernels.Transformed) {
			if k.Dim() < 100 {
				k.SqDist(make([]float64, k.Dim()), make([]float64, k.Dim()))
			}
		})
	}
}
