package labels

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/limits"
	"metriclab/pkg/persist/persisttest"
)

// No number of a file makes a loader or what it loaded panic, or take more memory
// than its file warrants.
func TestNumbersOfFiles(t *testing.T) {
	persisttest.Numbers(t, savedPCA(t), LoadPCA, func(p *PCA) {
		p.Reconstruct(mat.NewDense(1, len(p.Mean()), nil))
	})
	persisttest.Numbers(t, savedFDA(t), LoadFDA, func(p *FDA) { p.Transform(mat.NewDense(1, len(p.Mean()), nil)) })
}

// LMNN keeps distances of 256 rows to all, and all impostors that are near; the fit ends where they have no room.
func TestLMNNEndsAtTheLimit(t *testing.T) {
	procs := runtime.GOMAXPROCS(2) // the search for targets keeps candidates for each processor
	t.Cleanup(func() { limits.SetMemory(0); runtime.GOMAXPROCS(procs) })
	rng := rand.New(rand.NewPCG(63, 1))
	const n = 600
	p := LMNNParams{K: 30}
	x, y := mat.NewDense(n, 2, nil), make([]int, n)
	for i := range n {
		x.SetRow(i, []float64{rng.NormFloat64(), rng.NormFloat64()})
		y[i] = i % 2
	}
	if _, err := FitLMNN(context.Background(), x, y, p); err != nil {
		t.Fatal(err)
	}
	for what, bytes := range map[string]int64{"distances of 256 rows": 1_200_000, "impostors": 2_000_000} { // distances take 1.23 MB, impostors more than 2
		limits.SetMemory(bytes)
		var large *limits.MemoryError
		if _, err := FitLMNN(context.Background(), x, y, p); !errors.As(err, &large) || !strings.Contains(err.Error(), what) {
			t.Errorf("error %v, want a *limits.MemoryError about %s", err, what)
		}
	}
}

// So many target neighbours that they have no room are refused before they are looked for.
func TestLMNNTargetsAtTheLimit(t *testing.T) {
	t.Cleanup(func() { limits.SetMemory(0) })
	limits.SetMemory(1 << 20)
	const n = 1000
	x, y := mat.NewDense(n, 1, nil), make([]int, n)
	for i := range n {
		x.Set(i, 0, float64(i))
		y[i] = i % 2
	}
	var large *limits.MemoryError
	if _, err := FitLMNN(context.Background(), x, y, LMNNParams{K: 1e9}); !errors.As(err, &large) || !strings.Contains(err.Error(), "target neighbours") {
		t.Errorf("error %v, want a *limits.MemoryError about target neighbours", err)
	}
}
