// Package matrixtest has the matrices of tests.
package matrixtest

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Definite returns a positive definite matrix with condition number below 100.
func Definite(rng *rand.Rand, d int) *mat.SymDense {
	a := mat.NewDense(d, d, nil)
	for i := range d {
		for j := range d {
			a.Set(i, j, rng.NormFloat64()/math.Sqrt(float64(d)))
		}
	}
	w := mat.NewSymDense(d, nil)
	w.SymOuterK(1, a)
	for i := range d {
		w.SetSym(i, i, w.At(i, i)+0.1)
	}
	return w
}

// Inverse returns the inverse of a positive definite matrix.
func Inverse(t testing.TB, a mat.Symmetric) *mat.SymDense {
	t.Helper()
	var chol mat.Cholesky
	if !chol.Factorize(a) {
		t.Fatal("not positive definite")
	}
	var inv mat.SymDense
	if err := chol.InverseTo(&inv); err != nil {
		t.Fatal(err)
	}
	return &inv
}

// Identity returns the identity of order d.
func Identity(d int) *mat.SymDense {
	m := mat.NewSymDense(d, nil)
	for i := range d {
		m.SetSym(i, i, 1)
	}
	return m
}

// Distance returns ‖A − B‖, the Frobenius norm.
func Distance(a, b mat.Matrix) float64 {
	var d mat.Dense
	d.Sub(a, b)
	return mat.Norm(&d, 2)
}
