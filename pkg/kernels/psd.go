package kernels

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/pkg/metric"
	"metriclab/pkg/spectral"
)

// AsymmetryError says which entries k_ij and k_ji of a matrix differ most.
type AsymmetryError struct {
	I, J   int
	IJ, JI float64
}

func (e *AsymmetryError) Error() string {
	return fmt.Sprintf("it is not symmetric: entries (%d, %d) and (%d, %d) are %v and %v", e.I, e.J, e.J, e.I, e.IJ, e.JI)
}

// NewGram returns the n×n matrix k, given from outside, as a Gram matrix: the mean of
// k_ij and k_ji. It returns an error if k is not square, if k_ij and k_ji differ by
// more than metric.PSDTolerance times the largest magnitude of an entry, an
// *AsymmetryError for the pair that differs most, and those of CheckGram. It panics if k is nil or empty.
func NewGram(k mat.Matrix) (*mat.SymDense, error) {
	if matrix.IsNil(k) {
		panic("kernels: NewGram: k is nil")
	}
	n, c := k.Dims()
	if n == 0 || c == 0 {
		panic(mat.ErrZeroLength)
	}
	if n != c {
		return nil, fmt.Errorf("kernels: gram: %d×%d is not allowed, want a square matrix", n, c)
	}
	out := mat.NewSymDense(n, nil)
	var worst, largest float64
	var at [2]int
	for i := range n {
		for j := range i + 1 {
			a, b := k.At(i, j), k.At(j, i)
			if d := math.Abs(a - b); d > worst {
				worst, at = d, [2]int{i, j}
			}
			largest = max(largest, math.Abs(a), math.Abs(b))
			out.SetSym(i, j, a/2+b/2)
		}
	}
	if worst > metric.PSDTolerance*largest {
		return nil, fmt.Errorf("kernels: gram: %w", &AsymmetryError{at[0], at[1], k.At(at[0], at[1]), k.At(at[1], at[0])})
	}
	if err := CheckGram(out); err != nil {
		return nil, fmt.Errorf("kernels: gram: %w", err)
	}
	return out, nil
}

// CheckGram returns an error unless the n×n matrix k is a Gram matrix up to round-off:
// an error that names an entry that is NaN or infinite, and one that wraps
// metric.ErrNotPSD and says how far if λ_min < −metric.PSDTolerance·λ_max. It costs a
// Cholesky decomposition, and one into eigenvalues where that fails. It panics if k is
// nil or empty.
func CheckGram(k mat.Symmetric) error {
	if matrix.IsNil(k) {
		panic("kernels: CheckGram: k is nil")
	}
	n := k.SymmetricDim()
	if n == 0 {
		panic(mat.ErrZeroLength)
	}
	a := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			v := k.At(i, j)
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("entry (%d, %d) is %v, want a finite number", i, j, v)
			}
			a.SetSym(i, j, v)
		}
	}
	// If no λ < 0, Σλ²/Σλ ≤ λ_max, with equality where all positive λ are equal, and Σλ² ≤ (Σλ)².
	norm, trace := mat.Norm(a, 2), mat.Trace(a)
	if norm == 0 {
		return nil
	}
	if shift := metric.PSDTolerance * norm * min(norm/trace, 1); shift > 0 && !math.IsInf(shift, 1) {
		for i := range n {
			a.SetSym(i, i, a.At(i, i)+shift)
		}
		var chol mat.Cholesky
		if chol.Factorize(a) {
			return nil
		}
	}
	var eig spectral.EigenSym
	if !eig.Factorize(k, false) {
		return errors.New("its eigenvalues overflow float64: scale it down")
	}
	values := eig.Values(nil)
	if low, high := values[0], values[n-1]; low < -metric.PSDTolerance*max(high, 0) {
		return fmt.Errorf("it is %w: smallest eigenvalue %g, largest %g; to go on without its negative part, clip it (in Go kernels.Clip, for new objects, too)", metric.ErrNotPSD, low, high)
	}
	return nil
}
