package kernels_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/pkg/kernels"
)

// TestGramContext: GramContext is Gram to the bit, and ends soon after its context is done.
func TestGramContext(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	x := mat.NewDense(40, 3, nil)
	for i := range 40 {
		for j := range 3 {
			x.Set(i, j, rng.NormFloat64())
		}
	}
	gaussian, err := kernels.NewGaussian(0.5)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, k := range []kernels.Kernel{kernels.Linear{}, gaussian} {
		want := kernels.Gram(k, x)
		for _, large := range []bool{false, true} {
			if large {
				abandon.Always(t)
			}
			if got, err := kernels.GramContext(t.Context(), k, x); err != nil || !mat.Equal(got, want) {
				t.Errorf("large %v: another matrix, error %v", large, err)
			}
			if got, err := kernels.GramContext(ctx, k, x); got != nil || !errors.Is(err, context.Canceled) {
				t.Errorf("large %v: error %v", large, err)
			}
		}
	}
	const at, more = 100, 64
	calls := 0
	ctx, cancel = context.WithCancel(t.Context())
	_, err = kernels.GramContext(ctx, kernels.Func(func(a, b []float64) float64 {
		if calls++; calls == at {
			cancel()
		}
		return floats.Dot(a, b)
	}), x)
	if !errors.Is(err, context.Canceled) || calls > at+more {
		t.Errorf("error %v after %d calls, want at most %d", err, calls, at+more)
	}
}
