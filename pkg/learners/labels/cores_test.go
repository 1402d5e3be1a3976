package labels

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// However many cores work on a fit, its bits are those of one core. The data are large enough that products are shared.
func TestCores(t *testing.T) {
	before := runtime.GOMAXPROCS(1)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	small, y := overlapping(rand.New(rand.NewPCG(54, 9)), 330, 20, 3, 0.5)
	wide := normal(rand.New(rand.NewPCG(54, 10)), 700, 260)
	labels := make([]int, 700)
	for i := range labels {
		labels[i] = i % 5
	}
	for _, fit := range []struct {
		name string
		run  func() (mat.Matrix, error)
	}{
		{"PCA", func() (mat.Matrix, error) {
			p, err := FitPCA(t.Context(), wide, 260)
			return p.Components(), err
		}},
		{"PCA by Lanczos", func() (mat.Matrix, error) {
			p, err := FitPCA(t.Context(), wide, 8)
			return p.Components(), err
		}},
		{"FDA", func() (mat.Matrix, error) {
			f, err := FitFDA(t.Context(), wide, labels, FDAParams{})
			return f.w, err
		}},
		{"inverse covariance", func() (mat.Matrix, error) {
			m, err := FitInvCov(t.Context(), wide, InvCovParams{})
			return m.Metric.M(), err
		}},
		{"LMNN", func() (mat.Matrix, error) {
			l, err := FitLMNN(t.Context(), small, y, LMNNParams{MaxIterations: 40})
			return l.Metric.M(), err
		}},
		{"MCML", func() (mat.Matrix, error) {
			m, err := FitMCML(t.Context(), small, y, MCMLParams{MaxIterations: 20})
			return m.Metric.M(), err
		}},
		{"NCA", func() (mat.Matrix, error) {
			m, err := FitNCA(t.Context(), rand.New(rand.NewPCG(54, 11)), small, y, NCAParams{MaxIterations: 20})
			return m.Metric.M(), err
		}},
		{"NCA by batches", func() (mat.Matrix, error) {
			m, err := FitNCA(t.Context(), rand.New(rand.NewPCG(54, 11)), small, y, NCAParams{Dim: 2, Batch: 100, Passes: 3})
			return m.Metric.M(), err
		}},
	} {
		var want mat.Matrix
		for _, procs := range []int{1, 2, 3} {
			runtime.GOMAXPROCS(procs)
			got, err := fit.run()
			if err != nil {
				t.Fatal(err)
			}
			if procs == 1 {
				want = got
			} else if !mat.Equal(got, want) {
				t.Errorf("%s: other bits on %d cores than on one", fit.name, procs)
			}
		}
	}
}
