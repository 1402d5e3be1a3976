package triplets

import (
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
)

// TestErrorsTies: K = I satisfies nothing and contradicts nothing, whatever the order
// of the answers.
func TestErrorsTies(t *testing.T) {
	k := mat.NewSymDense(4, []float64{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1})
	ts := []metric.Triplet{{A: 0, Near: 1, Far: 2}, {A: 0, Near: 1, Far: 3}, {A: 3, Near: 1, Far: 2}}
	if strict, half := Errors(k, ts); strict != 1 || half != 0.5 {
		t.Errorf("Errors(I) = %v, %v, want 1, 0.5", strict, half)
	}
}
