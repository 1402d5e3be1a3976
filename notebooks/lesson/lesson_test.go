package lesson

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// near reports whether two numbers are equal but for round-off.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*(1+math.Abs(b)) }

func TestEigenvalues(t *testing.T) {
	if got := Eigenvalues(mat.NewSymDense(2, []float64{1, 2, 2, 1})); !slices.Equal(got, []float64{-1, 3}) {
		t.Errorf("eigenvalues %v, want -1 and 3", got)
	}
	if got := Eigenvalues(mat.NewSymDense(2, []float64{0.1, 0.3, 0.3, 0.9})); got[0] != 0 || math.Signbit(got[0]) {
		t.Errorf("smallest eigenvalue %v of a matrix of rank 1", got[0])
	}
}
