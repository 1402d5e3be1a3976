package kernels

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
	"metriclab/pkg/spectral"
)

// Whitening returns R = M^(−1/2)Zᵀ, r×n, of a Gram matrix k = ZMZᵀ, n×n, where M holds the eigenvalues that are not
// round-off, largest first; nil if there is none. For values k(x) of the kernel between a point and the n objects,
// Rk(x) are kernel principal coordinates, without centring: of the objects themselves Rk, with inner products k. In each row of R an entry of
// the largest magnitude is positive, since the signs of eigenvectors are free. Negative eigenvalues are round-off, and tell
// how large that is. It costs O(n³).
//
// It returns an error that wraps metric.ErrNotPSD if λ_min < −metric.PSDTolerance·λ_max, and one if eigenvalues overflow. It panics if k is nil or
// empty.
func Whitening(k mat.Symmetric) (*mat.Dense, error) {
	demandGiven("k", k)
	n := k.SymmetricDim()
	if n == 0 {
		panic(mat.ErrZeroLength)
	}
	var eig spectral.EigenSym
	if !eig.Factorize(k, true) {
		return nil, errors.New("its eigenvalues overflow float64: scale it down")
	}
	values := eig.Values(nil)
	low, high := values[0], values[n-1]
	if low < -metric.PSDTolerance*max(high, 0) {
		return nil, fmt.Errorf("it is %w: smallest eigenvalue %g, largest %g", metric.ErrNotPSD, low, high)
	}
	cut := max(float64(n)*0x1p-52*high, -2*low)
	first := n
	for first > 0 && values[first-1] > cut {
		first--
	}
	if first == n {
		return nil, nil
	}
	v := mat.NewDense(n, n, nil)
	eig.VectorsTo(v)
	root := mat.NewDense(n-first, n, nil)
	for a := range n - first {
		row, at := root.RawRowView(a), n-1-a
		mat.Col(row, at, v)
		largest := 0
		for j, x := range row {
			if math.Abs(x) > math.Abs(row[largest]) {
				largest = j
			}
		}
		floats.Scale(math.Copysign(1/math.Sqrt(values[at]), row[largest]), row)
	}
	return root, nil
}
