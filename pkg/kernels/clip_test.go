package kernels_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/kernels"
)

// Clipping keeps the eigenvalues that are not negative, treats an old object as a new one, and leaves a Gram matrix alone.
func TestClip(t *testing.T) {
	const tol = 1e-11 // n·κ·u for n ≤ 170 and eigenvalues from 0.01 to 20
	rng := rand.New(rand.NewPCG(20, 5))
	for _, n := range []int{2, 7, 40, 170} {
		values := make([]float64, n)
		for i := range values {
			values[i] = 20*rng.Float64() - 5
		}
		values[0], values[1] = 20, -1
		var negative, all float64
		removed := 0
		for _, v := range values {
			if v < 0 {
				negative, removed = negative-v, removed+1
			}
			all += math.Abs(v)
		}
		k := spectrum(rng, values)
		before := mat.DenseCopyOf(k)
		c, err := kernels.Clip(t.Context(), k)
		if err != nil {
			t.Fatal(err)
		}
		if !mat.Equal(k, before) {
			t.Error("the matrix was changed")
		}
		if c.Removed() != removed || math.Abs(c.Share()-negative/all) > tol {
			t.Errorf("n = %d: %d eigenvalues of share %v, want %d, %v", n, c.Removed(), c.Share(), removed, negative/all)
		}
		g := c.Gram()
		if err := kernels.CheckGram(g); err != nil {
			t.Error(err)
		}
		// K⁺ − K is positive semi-definite, and K⁺(K⁺ − K) = 0: the two parts of K.
		var less, product mat.Dense
		less.Sub(g, k)
		product.Mul(g, &less)
		if err := kernels.CheckGram(symmetrised(&less)); err != nil {
			t.Errorf("K⁺ − K: %v", err)
		}
		if most := mat.Max(&product); most > 400*tol {
			t.Errorf("K⁺(K⁺ − K) has an entry %v", most)
		}
		if !mat.EqualApprox(c.Cross(k), g, 20*tol) {
			t.Error("the objects themselves, as new ones, differ")
		}

		same, err := kernels.Clip(t.Context(), g)
		if err != nil {
			t.Fatal(err)
		}
		if !mat.Equal(same.Gram(), g) || same.Removed() != 0 || same.Share() != 0 || !mat.Equal(same.Cross(k), k) {
			t.Error("a Gram matrix was changed")
		}
	}
}

func symmetrised(a *mat.Dense) *mat.SymDense {
	n, _ := a.Dims()
	out := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			out.SetSym(i, j, (a.At(i, j)+a.At(j, i))/2)
		}
	}
	return out
}

func TestClipRefuses(t *testing.T) {
	for want, k := range map[string]*mat.SymDense{
		"entry (1, 0) is NaN":       mat.NewSymDense(2, []float64{1, math.NaN(), math.NaN(), 1}),
		"no eigenvalue is positive": mat.NewSymDense(2, []float64{-1, 0, 0, -2}),
	} {
		if _, err := kernels.Clip(t.Context(), k); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := kernels.Clip(ctx, mat.NewSymDense(1, []float64{1})); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	c, err := kernels.Clip(t.Context(), mat.NewSymDense(1, []float64{0}))
	if err != nil {
		t.Error(err) // 0 is positive semi-definite
	}
	for name, f := range map[string]func(){
		"nil":     func() { _, _ = kernels.Clip(t.Context(), nil) },
		"empty":   func() { _, _ = kernels.Clip(t.Context(), &mat.SymDense{}) },
		"zero":    func() { new(kernels.Clipped).Gram() },
		"columns": func() { c.Cross(mat.NewDense(1, 2, nil)) },
		"no row":  func() { c.Cross(&mat.Dense{}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

// Three objects, each similar to the one between, but too dissimilar from each other for inner products.
func ExampleClip() {
	k := mat.NewSymDense(3, []float64{
		1, 1, 0,
		1, 1, 1,
		0, 1, 1,
	})
	c, err := kernels.Clip(context.Background(), k)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%d eigenvalue removed, %.3f of all\n%.3f\n", c.Removed(), c.Share(), mat.Formatted(c.Gram()))
	// Output:
	// 1 eigenvalue removed, 0.108 of all
	// ⎡1.104  0.854  0.104⎤
	// ⎢0.854  1.207  0.854⎥
	// ⎣0.104  0.854  1.104⎦
}
