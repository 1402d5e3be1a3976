// Package kerneltest checks that a kernel keeps the promises of package
// kernels. It is for tests of kernels, here and in other modules.
package kerneltest

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/pkg/kernels"
	"metriclab/pkg/spectral"
)

// Check reports through t every way in which k breaks the contract of
// kernels.Kernel on the rows of the n×d matrix x:
//
//   - k(x, y) = k(y, x), to the bit, and both are finite;
//   - Gram and GramRect of x with itself, and of two blocks of it, equal calls of
//     Eval within tol·max|k|;
//   - the Gram matrix is positive semi-definite: λ_min ≥ −n·tol·max|k|, where
//     perturbations of entries by tol·max|k| move eigenvalues by no more;
//   - the arguments are not modified;
//   - Eval panics for vectors of different length.
//
// tol is relative; for data about the origin and an Inner kernel 1e-12 holds up
// to d = 1000. It panics if x has fewer than two rows.
func Check(t testing.TB, k kernels.Kernel, x mat.Matrix, tol float64) {
	xd := matrix.Given("kerneltest: Check: x", x)
	t.Helper()
	n, d := xd.Dims()
	if n < 2 {
		panic("kerneltest: fewer than two rows")
	}
	before := mat.DenseCopyOf(xd)
	want := mat.NewDense(n, n, nil)
	var scale float64
	for i := range n {
		for j := range n {
			v := k.Eval(xd.RawRowView(i), xd.RawRowView(j))
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("k(row %d, row %d) = %v, want a finite number", i, j, v)
				return
			}
			want.Set(i, j, v)
			scale = math.Max(scale, math.Abs(v))
		}
	}
	for i := range n {
		for j := range i {
			if want.At(i, j) != want.At(j, i) {
				t.Errorf("k(row %d, row %d) = %v, the other way round %v", i, j, want.At(i, j), want.At(j, i))
			}
		}
	}
	near := func(what string, got mat.Matrix, want mat.Matrix) {
		t.Helper()
		if !mat.EqualApprox(got, want, tol*scale) {
			t.Errorf("%s differs from calls of Eval by more than %g", what, tol*scale)
		}
	}
	gram := kernels.Gram(k, xd)
	near("Gram", gram, want)
	near("GramRect(x, x)", kernels.GramRect(k, xd, xd), want)
	half := n / 2
	top, bottom := xd.Slice(0, half, 0, d).(*mat.Dense), xd.Slice(half, n, 0, d).(*mat.Dense)
	near("GramRect of the first and second half", kernels.GramRect(k, top, bottom), want.Slice(0, half, half, n))
	near("GramRect of the second and first half", kernels.GramRect(k, bottom, top), want.Slice(half, n, 0, half))
	var eig spectral.EigenSym
	if !eig.Factorize(gram, false) {
		t.Error("eigendecomposition of the Gram matrix did not converge")
	} else if low := eig.Values(nil)[0]; low < -float64(n)*tol*scale {
		t.Errorf("smallest eigenvalue of the Gram matrix is %g, want ≥ %g", low, -float64(n)*tol*scale)
	}
	if !mat.Equal(xd, before) {
		t.Error("the data were modified")
	}
	defer func() {
		if recover() == nil {
			t.Error("Eval of vectors of different length did not panic")
		}
	}()
	k.Eval(xd.RawRowView(0), make([]float64, d+1))
}
