package labels

import (
	"errors"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// topTolerance bounds, relative to the largest eigenvalue, how much larger than
// the k-th returned eigenvalue one that was missed can be.
const topTolerance = 1e-10

// topEigen returns the k largest eigenvalues of the positive semi-definite
// matrix a, in descending order, and unit eigenvectors as rows.
func topEigen(a *mat.SymDense, k int) ([]float64, *mat.Dense, error) {
	n := a.SymmetricDim()
	// Below this size, or for much of the spectrum, a full decomposition costs less.
	const small = 150
	if n > small && 4*k <= n {
		if values, vectors, ok := lanczosTop(a, k); ok && certify(a, values, vectors) {
			return values, vectors, nil
		}
	}
	var eig mat.EigenSym
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

// lanczosTop runs Lanczos with full reorthogonalisation from a fixed vector
// until the k largest Ritz pairs have residual ≤ 1e-13 of the largest value.
func lanczosTop(a *mat.SymDense, k int) (values []float64, vectors *mat.Dense, ok bool) {
	const residual = 1e-13
	n := a.SymmetricDim()
	limit := n / 2
	rng := rand.New(rand.NewPCG(1, 1)) // any start with a part in every direction will do
	basis := mat.NewDense(limit+1, n, nil)
	v := basis.RawRowView(0)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	floats.Scale(1/floats.Norm(v, 2), v)
	var alpha, beta []float64
	check := min(limit, 2*k+20)
	for j := range limit {
		v, w := basis.RawRowView(j), basis.RawRowView(j+1)
		blas64.Symv(1, a.RawSymmetric(), blas64.Vector{N: n, Data: v, Inc: 1}, 0, blas64.Vector{N: n, Data: w, Inc: 1})
		alpha = append(alpha, floats.Dot(v, w))
		done := blas64.General{Rows: j + 1, Cols: n, Stride: n, Data: basis.RawMatrix().Data}
		c := blas64.Vector{N: j + 1, Data: make([]float64, j+1), Inc: 1}
		wv := blas64.Vector{N: n, Data: w, Inc: 1}
		for range 2 {
			blas64.Gemv(blas.NoTrans, 1, done, wv, 0, c)
			blas64.Gemv(blas.Trans, -1, done, c, 1, wv)
		}
		b := floats.Norm(w, 2)
		beta = append(beta, b)
		scale := math.Abs(alpha[0])
		for _, x := range alpha {
			scale = max(scale, math.Abs(x))
		}
		exhausted := b <= residual*scale // the basis spans an invariant subspace
		if j+1 < check && !exhausted {
			floats.Scale(1/b, w)
			continue
		}
		check = min(limit, check+check/4)
		m := j + 1
		if m < k {
			return nil, nil, false
		}
		t := mat.NewSymDense(m, nil)
		for i := range m {
			t.SetSym(i, i, alpha[i])
			if i+1 < m {
				t.SetSym(i, i+1, beta[i])
			}
		}
		var eig mat.EigenSym
		if !eig.Factorize(t, true) {
			return nil, nil, false
		}
		ritz := eig.Values(nil)
		var s mat.Dense
		eig.VectorsTo(&s)
		good := true
		for i := range k {
			good = good && b*math.Abs(s.At(m-1, m-1-i)) <= residual*ritz[m-1]
		}
		if !good {
			if exhausted {
				return nil, nil, false
			}
			floats.Scale(1/b, w)
			continue
		}
		values = make([]float64, k)
		top := mat.NewDense(k, m, nil)
		for i := range k {
			values[i] = ritz[m-1-i]
			mat.Col(top.RawRowView(i), m-1-i, &s)
		}
		vectors = new(mat.Dense)
		vectors.Mul(top, basis.Slice(0, m, 0, n))
		return values, vectors, true
	}
	return nil, nil, false
}

// certify reports whether a has no eigenvalue above the last of values except
// those given: Lanczos sees one copy of a multiple eigenvalue, so its residuals
// alone do not prove that it found the top of the spectrum. With the given
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
