package matrix_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
)

func TestDense(t *testing.T) {
	x := mat.NewDense(2, 3, []float64{1, 2, 3, 4, 5, 6})
	if matrix.Dense(x) != x || matrix.Given("x", x) != x {
		t.Error("a *mat.Dense is copied")
	}
	s := mat.NewSymDense(2, []float64{1, 2, 2, 3})
	for name, v := range map[string]mat.Matrix{"transposed": x.T(), "symmetric": s, "vector": mat.NewVecDense(2, []float64{1, 2})} {
		got := matrix.Dense(v)
		if !mat.Equal(got, v) {
			t.Errorf("%s: got %v, want %v", name, got, v)
		}
		got.Set(0, 0, 9)
		if v.At(0, 0) == 9 {
			t.Errorf("%s: not a copy", name)
		}
	}
	for name, v := range map[string]mat.Matrix{"dense": new(mat.Dense), "symmetric": new(mat.SymDense), "transposed": new(mat.Dense).T()} {
		if got := matrix.Dense(v); got == nil || !got.IsEmpty() {
			t.Errorf("empty, %s: got %v", name, got)
		}
	}
}

func TestNil(t *testing.T) {
	for name, v := range map[string]mat.Matrix{"nil": nil, "dense": (*mat.Dense)(nil), "symmetric": (*mat.SymDense)(nil)} {
		if !matrix.IsNil(v) || matrix.Dense(v) != nil {
			t.Errorf("%s: not nil", name)
		}
		func() {
			defer func() {
				if p := recover(); p != "matrix: x is nil" {
					t.Errorf("%s: panic %v", name, p)
				}
			}()
			matrix.Given("matrix: x", v)
		}()
	}
	if matrix.IsNil(new(mat.Dense)) || matrix.IsNil(mat.NewDense(1, 1, nil).T()) {
		t.Error("a matrix counts as nil")
	}
}

// Unit vectors have the bits of those that are divided by a power of two by its exponent, at all scales.
func TestToUnit(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	for _, scale := range []float64{1, 1e-3, 1e300, math.MaxFloat64 / 8, 1e-300, 0x1p-1022, 0x1p-1060, 0x1p-1074} {
		x := mat.NewDense(20, 7, nil)
		x.Apply(func(i, j int, _ float64) float64 { return scale * math.Ldexp(rng.NormFloat64(), -j*i*8) }, x)
		want := mat.DenseCopyOf(x)
		for i := range 20 {
			row := want.RawRowView(i)
			_, e := math.Frexp(floats.Norm(row, math.Inf(1)))
			for j, v := range row {
				row[j] = math.Ldexp(v, -e)
			}
			if floats.Norm(row, 2) > 0 {
				floats.Scale(1/floats.Norm(row, 2), row)
			}
		}
		if matrix.ToUnit(x); !mat.Equal(x, want) {
			t.Errorf("scale %g: other bits", scale)
		}
	}
}
