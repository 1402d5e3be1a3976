package labels

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/spectral"
)

// topTolerance bounds, relative to the largest eigenvalue, how much larger than
// the k-th returned eigenvalue one that was missed can be.
const topTolerance = 1e-10

// residual bounds the residuals of the eigenpairs found by Lanczos, relative to
// the largest eigenvalue: close to the least that round-off allows.
const residual = 1e-13

// topEigen returns the k largest eigenvalues of the positive semi-definite
// matrix a, in descending order, and unit eigenvectors as rows.
func topEigen(a *mat.SymDense, k int) ([]float64, *mat.Dense, error) {
	n := a.SymmetricDim()
	// Below this size, or for much of the spectrum, a full decomposition costs less.
	const small = 150
	if n > small && 4*k <= n {
		if values, vectors, ok := lanczosTop(a, k); ok {
			return values, vectors, nil
		}
	}
	var eig spectral.EigenSym
	if !eig.Factorize(a, true) {
		return nil, nil, errors.New("eigendecomposition did not converge")
	}
	all := eig.Values(nil)
	var q mat.Dense
	eig.VectorsTo(&q)
	values := make([]float64, k)
	vectors := mat.NewDense(k, n, nil)
	for i := range k {
		values[i] = all[n-1-i]
		mat.Col(vectors.RawRowView(i), n-1-i, &q)
	}
	return values, vectors, nil
}

// lanczosTop is topEigen by Lanczos; ok reports that the answer is certified.
func lanczosTop(a *mat.SymDense, k int) (values []float64, vectors *mat.Dense, ok bool) {
	r := spectral.Largest(spectral.Matrix(a), k, spectral.Options{Tol: residual, MaxProducts: a.SymmetricDim()})
	if r.Status != spectral.Converged || !certify(a, r.Values, r.Vectors) {
		return nil, nil, false
	}
	return r.Values, r.Vectors, true
}

// certify reports whether a has no eigenvalue above the last of values except
// those given: the residuals of Lanczos alone do not
// prove that it found the top of the spectrum. With the given
// pairs deflated, σI − A is positive definite iff all others are below
// σ = λ_k + topTolerance·λ_1.
func certify(a *mat.SymDense, values []float64, vectors *mat.Dense) bool {
	n := a.SymmetricDim()
	k := len(values)
	scaled := mat.DenseCopyOf(vectors)
	for i, v := range values {
		floats.Scale(math.Sqrt(max(v, 0)), scaled.RawRowView(i))
	}
	var rest mat.SymDense
	rest.ScaleSym(-1, a)
	rest.SymRankK(&rest, 1, scaled.T())
	sigma := values[k-1] + topTolerance*values[0]
	for i := range n {
		rest.SetSym(i, i, rest.At(i, i)+sigma)
	}
	var chol mat.Cholesky
	return chol.Factorize(&rest)
}
