package labels

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/cores"
	"metriclab/internal/matrix"
	"metriclab/internal/product"
	"metriclab/pkg/spectral"
)

// topTolerance bounds, relative to the largest eigenvalue, how much larger than
// the k-th returned eigenvalue one that was missed can be.
const topTolerance = 1e-10

// lanczosTolerance bounds the residuals of the eigenpairs found by Lanczos, relative to
// the largest eigenvalue: close to the least that round-off allows.
const lanczosTolerance = 1e-13

// eigenpairs are those of the largest eigenvalues, in descending order.
type eigenpairs struct {
	values   []float64
	vectors  *mat.Dense // orthonormal rows
	residual float64    // of all pairs, relative to the largest eigenvalue
}

// topEigen returns the k largest eigenpairs of the positive semi-definite matrix a.
func topEigen(a *mat.SymDense, k int) (e eigenpairs, err error) {
	n := a.SymmetricDim()
	// Below this size, or for much of the spectrum, a full decomposition costs less.
	const small = 150
	if n > small && 8*k <= n {
		if e, ok := lanczosTop(a, k); ok {
			return e, nil
		}
	}
	var eig spectral.EigenSym
	if !eig.Factorize(a, true) {
		return e, errors.New("eigendecomposition did not converge")
	}
	e.values = eig.Values(nil)[n-k:]
	slices.Reverse(e.values)
	e.vectors = mat.NewDense(k, n, nil)
	matrix.Rows(k, n, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			eig.Vector(e.vectors.RawRowView(i), n-1-i)
		}
	})
	e.residual = residualOf(a, e.values, e.vectors)
	return e, nil
}

// exactResiduals is how many pairs residualOf looks at one by one, and probes how many combinations of them it takes of more.
const exactResiduals, probes = 64, 16

// residualOf returns √Σ‖Av − λv‖² of pairs of a, whose lower triangle it completes, relative to the largest λ. Of many pairs it is estimated by Gaussian
// combinations z: R = AVᵀ − VᵀΛ has E‖Rz‖² = ‖R‖² in the Frobenius norm (Halko, Martinsson and Tropp, SIAM Rev. 53, 2011, Section 4.3). A product
// with all pairs would take as long as a tenth of the fit.
func residualOf(a *mat.SymDense, values []float64, vectors *mat.Dense) float64 {
	k, n := vectors.Dims()
	weight := 1.0
	var scaled *mat.Dense // by the values
	if k <= exactResiduals {
		scaled = mat.DenseCopyOf(vectors)
		for i, v := range values {
			floats.Scale(v, scaled.RawRowView(i))
		}
	} else {
		rng := rand.New(rand.NewPCG(1, 1))
		z := mat.NewDense(2*probes, k, nil) // and below, scaled
		for i := range probes {
			for j, v := range values {
				x := rng.NormFloat64() / probes // so that no sum is larger than the largest value by far
				z.Set(i, j, x)
				z.Set(probes+i, j, x*v)
			}
		}
		both := matrix.Mul(z, vectors)
		vectors, scaled = both.Slice(0, probes, 0, n).(*mat.Dense), both.Slice(probes, 2*probes, 0, n).(*mat.Dense)
		k, weight = probes, math.Sqrt(probes)
	}
	var whole mat.Dense
	whole.SetRawMatrix(complete(a))
	images := matrix.Mul(vectors, &whole)
	residuals := make([]float64, k)
	matrix.Rows(k, n, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			floats.Sub(images.RawRowView(i), scaled.RawRowView(i))
			residuals[i] = weight * floats.Norm(images.RawRowView(i), 2)
		}
	})
	return relative(residuals, values[0])
}

// relative returns ‖residuals‖/top, or 0 if there is no residual.
func relative(residuals []float64, top float64) float64 {
	r := floats.Norm(residuals, 2)
	if r == 0 {
		return 0
	}
	return r / top
}

// lanczosTop is topEigen by Lanczos; ok reports that the answer is certified. Where the spectrum decays so slowly
// that n/2 products do not do, a full decomposition costs less than more of them.
func lanczosTop(a *mat.SymDense, k int) (e eigenpairs, ok bool) {
	all := complete(a)
	mul := func(dst, x []float64) { product.Gemv(dst, all, x) }
	r := spectral.Largest(spectral.Func{N: all.Rows, Mul: mul}, k, spectral.Options{Tol: lanczosTolerance, MaxProducts: a.SymmetricDim() / 2})
	if r.Status != spectral.Converged || !certify(a, r.Values, r.Vectors) {
		return eigenpairs{}, false
	}
	return eigenpairs{r.Values, r.Vectors, relative(r.Residuals, r.Values[0])}, true
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
	whole, rest := a.RawSymmetric(), matrix.Outer(1, scaled.T()).RawSymmetric()
	sigma := values[k-1] + topTolerance*values[0]
	matrix.Rows(n, n, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := rest.Data[i*rest.Stride:][i:n]
			floats.SubTo(row, whole.Data[i*whole.Stride:][i:n], row)
			row[0] -= sigma
		}
	})
	_, ok := cholesky(rest)
	return ok
}

// complete returns the whole of a, whose lower triangle nobody reads as it is.
func complete(a *mat.SymDense) blas64.General {
	r := a.RawSymmetric()
	all := blas64.General{Rows: r.N, Cols: r.N, Stride: r.Stride, Data: r.Data}
	matrix.Complete(all)
	return all
}

// cholesky returns R, upper triangular, with RᵀR = −A, and whether there is one. Of A the upper triangle is read, and overwritten by R. A block of
// rows of R at a time is taken from the rest, so that most of it is products.
func cholesky(a blas64.Symmetric) (r blas64.Triangular, ok bool) {
	const (
		block   = 64
		columns = 128 // that a core solves for
	)
	for i := 0; i < a.N; i += block {
		b := min(block, a.N-i)
		at := func(j int) []float64 { return a.Data[i*a.Stride+j:] }
		for k := range b {
			floats.Scale(-1, at(i)[k*a.Stride:][k:b])
		}
		r, ok = lapack64.Potrf(blas64.Symmetric{Uplo: blas.Upper, N: b, Stride: a.Stride, Data: at(i)})
		if !ok {
			return r, false
		}
		from := i + b
		if from == a.N {
			break
		}
		cores.Do((a.N-from+columns-1)/columns, func(c int) {
			j := from + c*columns
			blas64.Trsm(blas.Left, blas.Trans, -1, r, blas64.General{Rows: b, Cols: min(columns, a.N-j), Stride: a.Stride, Data: at(j)})
		})
		rest := blas64.Symmetric{Uplo: a.Uplo, N: a.N - from, Stride: a.Stride, Data: a.Data[from*a.Stride+from:]}
		product.SyrkAdd(blas.Trans, blas64.General{Rows: b, Cols: rest.N, Stride: a.Stride, Data: at(from)}, rest)
	}
	r.N, r.Data = a.N, a.Data
	return r, true
}
