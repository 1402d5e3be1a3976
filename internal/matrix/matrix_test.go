package matrix_test

import (
	"testing"

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
