package linear

import (
	"testing"

	"metriclab/pkg/persist/persisttest"
)

// No number of a file makes a loader or what it loaded panic, or take more memory
// than its file warrants.
func TestNumbersOfFiles(t *testing.T) {
	for _, p := range []RidgeParams{{}, {Strength: 1}, {Grid: []float64{1, 2}}} {
		persisttest.Numbers(t, persisttest.Saved(mustRidge(t, p)), LoadRidge, func(r *Ridge) { r.Predict(make([]float64, r.Dim())) })
	}
	for _, p := range []SVMParams{{}, {Loss: SquaredHinge, C: 3, MaxEpochs: 1}} {
		persisttest.Numbers(t, persisttest.Saved(mustSVM(t, p)), LoadSVM, func(s *SVM) { s.Predict(make([]float64, s.Dim())) })
	}
}
