package kernels_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/kernels"
	"metriclab/pkg/metric"
)

// spectrum returns QΛQᵀ for the given eigenvalues and a random orthogonal Q.
func spectrum(rng *rand.Rand, values []float64) *mat.SymDense {
	n := len(values)
	q := normal(rng, n, n, 0)
	metric.Orthonormalise(q)
	var a, scaled mat.Dense
	scaled.CloneFrom(q)
	for i, v := range values {
		for j := range n {
			scaled.Set(i, j, v*q.At(i, j))
		}
	}
	a.Mul(q.T(), &scaled)
	k := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			k.SetSym(i, j, a.At(i, j)/2+a.At(j, i)/2)
		}
	}
	return k
}

// What is refused is what has an eigenvalue under −PSDTolerance·λ_max, at any scale:
// flat spectra and steep ones, of full rank and not.
func TestCheckGram(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 7))
	shapes := map[string][]float64{"flat": nil, "singular": nil, "steep": nil, "rank one": nil}
	for i := range 30 {
		shapes["flat"] = append(shapes["flat"], 1)
		shapes["singular"] = append(shapes["singular"], float64(i%2))
		shapes["steep"] = append(shapes["steep"], math.Pow(0.3, float64(i)))
		shapes["rank one"] = append(shapes["rank one"], float64(1-min(i, 1)))
	}
	for name, values := range shapes {
		for low, ok := range map[float64]bool{0: true, -0.9e-10: true, -1.1e-10: false, -1e-3: false, -1: false, -5: false} {
			for _, scale := range []float64{1, 1e-150, 1e150} {
				v := make([]float64, len(values))
				for i := range v {
					v[i] = scale * values[i]
				}
				v[len(v)-1] = scale * low
				err := kernels.CheckGram(spectrum(rng, v))
				if (err == nil) != ok || err != nil && !errors.Is(err, metric.ErrNotPSD) {
					t.Errorf("%s, least eigenvalue %v, times %v: %v", name, low, scale, err)
				}
			}
		}
	}
	if err := kernels.CheckGram(mat.NewSymDense(3, nil)); err != nil {
		t.Errorf("zero: %v", err)
	}
	for want, k := range map[string]*mat.SymDense{
		"smallest eigenvalue -1, largest 1": mat.NewSymDense(2, []float64{0, 1, 1, 0}), // trace 0
		"entry (1, 0) is NaN":               mat.NewSymDense(2, []float64{1, math.NaN(), 0, 1}),
		"entry (1, 1) is -Inf":              mat.NewSymDense(2, []float64{1, 0, 0, math.Inf(-1)}),
		"overflow":                          mat.NewSymDense(2, []float64{math.MaxFloat64, math.MaxFloat64, 0, math.MaxFloat64}),
	} {
		if err := kernels.CheckGram(k); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want one with %q", err, want)
		}
	}
}

func TestNewGram(t *testing.T) {
	a := mat.NewDense(2, 2, []float64{2, 1, 1 + 1e-11, 3})
	k, err := kernels.NewGram(a)
	if err != nil || k.At(0, 1) != k.At(1, 0) || math.Abs(k.At(0, 1)-1-5e-12) > 1e-15 || k.At(0, 0) != 2 || k.At(1, 1) != 3 {
		t.Errorf("K = %v, error %v", mat.Formatted(k), err)
	}
	for want, a := range map[string]*mat.Dense{
		"2×3 is not allowed, want a square matrix":             mat.NewDense(2, 3, nil),
		"not symmetric: entries (1, 0) and (0, 1) are 1 and 2": mat.NewDense(2, 2, []float64{2, 2, 1, 3}),
		"entries (2, 0) and (0, 2) are 2 and 0":                mat.NewDense(3, 3, []float64{5, 1, 0, 1.5, 5, 1, 2, 2, 5}), // the pair that differs most
		"smallest eigenvalue -1, largest 1":                    mat.NewDense(2, 2, []float64{1, 0, 0, -1}),
		"entry (1, 0) is NaN":                                  mat.NewDense(2, 2, []float64{1, math.NaN(), 0, 1}),
		"entry (1, 1) is +Inf":                                 mat.NewDense(2, 2, []float64{1, 0, 0, math.Inf(1)}),
	} {
		if _, err := kernels.NewGram(a); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want one with %q", err, want)
		}
	}
	for name, f := range map[string]func(){
		"NewGram":   func() { kernels.NewGram(&mat.Dense{}) },
		"CheckGram": func() { kernels.CheckGram(&mat.SymDense{}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s of nothing: no panic", name)
				}
			}()
			f()
		}()
	}
}
