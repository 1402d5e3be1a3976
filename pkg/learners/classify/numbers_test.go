package classify

import (
	"errors"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
	"metriclab/pkg/persist/persisttest"
)

// No number of a file makes a loader or what it loaded panic, or take more memory
// than its file warrants.
func TestNumbersOfFiles(t *testing.T) {
	for _, c := range classifiers {
		l, err := c.make(3)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range stream(rand.New(rand.NewPCG(41, 2)), 6, 3) {
			if _, err := l.Step(f); err != nil {
				t.Fatal(err)
			}
		}
		persisttest.Numbers(t, persisttest.Saved(l), c.load, func(l onlineClassifier) {
			if l.Dim() > 100 {
				return
			}
			for _, f := range stream(rand.New(rand.NewPCG(41, 3)), 3, l.Dim()) {
				_, _ = l.Step(f)
			}
		})
	}
	for _, p := range []RidgeParams{{}, {Strength: 1}, {Grid: []float64{1, 2}}} {
		persisttest.Numbers(t, persisttest.Saved(mustRidge(t, p)), LoadRidge, func(r *Ridge) { r.Predict(make([]float64, r.Dim())) })
	}
	for _, p := range []SVMParams{{}, {Loss: SquaredHinge, C: 3, MaxEpochs: 1}} {
		persisttest.Numbers(t, persisttest.Saved(mustSVM(t, p)), LoadSVM, func(s *SVM) { s.Predict(make([]float64, s.Dim())) })
	}
}

// The candidates of a search have a bound, whatever k is.
func TestKNNAtTheLimit(t *testing.T) {
	t.Cleanup(func() { limits.SetMemory(0) })
	const n = 2000
	x := mat.NewDense(n, 1, nil)
	for i := range n {
		x.Set(i, 0, float64(i))
	}
	c, err := NewKNN(metric.Euclidean{}, x, make([]int, n), KNNOptions{})
	if err != nil {
		t.Fatal(err)
	}
	limits.SetMemory(1 << 20)
	var large *limits.MemoryError
	if _, err := c.Neighbours(mat.NewDense(1, 1, nil), n); !errors.As(err, &large) {
		t.Errorf("k = %d: error %v, want a *limits.MemoryError", n, err)
	}
	if _, err := c.Neighbours(mat.NewDense(1, 1, nil), 3); err != nil {
		t.Errorf("k = 3: %v", err)
	}
}
