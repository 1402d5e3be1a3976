package metric_test

import (
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
	"metriclab/pkg/persist/persisttest"
)

// No number of a file makes the loader or what it loaded panic, or take more memory
// than its file warrants.
func TestNumbersOfFiles(t *testing.T) {
	for _, m := range []*metric.Mahalanobis{metric.Zero(3), metric.Identity(2), metric.FromFactor(mat.NewDense(2, 3, []float64{1, 2, 3, 4, 5, 6}))} {
		persisttest.Numbers(t, persisttest.Saved(m), metric.Load, func(m *metric.Mahalanobis) {
			if m.Dim() < 100 {
				m.SqDist(make([]float64, m.Dim()), make([]float64, m.Dim()))
			}
		})
	}
}
