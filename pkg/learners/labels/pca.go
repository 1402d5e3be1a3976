package labels

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
)

// PCAVersion changes whenever FitPCA gives other numbers for the same input.
const PCAVersion = 2

// PCA is principal component analysis: the k orthonormal directions of largest
// variance about the mean. It is immutable and safe for concurrent use.
type PCA struct {
	mean      []float64
	w         *mat.Dense // k×d
	variances []float64
	residual  float64
}

// FitPCA returns the k principal components of the n×d matrix x: the
// eigenvectors of its k largest eigenvalues of
//
//	C = (1/n) Σ (xᵢ−μ)(xᵢ−μ)ᵀ,  μ = (1/n) Σ xᵢ
//
// (Hotelling 1933). The sign of each is that of metric.FixSign. Components
// without variance, which exist if the data span fewer than k directions, are
// some orthonormal completion. Eigenvalues are accurate to 1e-10 of the largest.
//
// It returns an error unless 1 ≤ k ≤ min(n, d), if an entry is NaN or infinite,
// if the variance overflows, or is below 2.3e-308 though rows differ, or if ctx is done. It panics if x is nil or empty.
//
// The cost is one symmetric matrix product and the top of the spectrum of the
// smaller of covariance and Gram matrix: Lanczos certified by one Cholesky
// factorisation, or a full decomposition where that is cheaper. Residual tells how well
// either did.
func FitPCA(ctx context.Context, x mat.Matrix, k int) (*PCA, error) {
	xd := matrix.Dense(x)
	if xd == nil || xd.IsEmpty() {
		panic("labels: FitPCA: x is nil or empty")
	}
	n, d := xd.Dims()
	if k < 1 || k > min(n, d) {
		return nil, fmt.Errorf("pca: k: %d is not allowed, want 1 to min(n, d) = %d", k, min(n, d))
	}
	if err := limits.Check(fmt.Sprintf("PCA of %d×%d numbers", n, d), limits.Floats(4, min(n, d), min(n, d))); err != nil {
		return nil, fmt.Errorf("pca: %w", err)
	}
	mean, err := finiteMean(xd)
	if err != nil {
		return nil, fmt.Errorf("pca: %w", err)
	}
	e, err := principalOf(ctx, "pca", xd, mean, k)
	if err != nil {
		return nil, err
	}
	return &PCA{mean: mean, w: e.vectors, variances: e.values, residual: e.residual}, nil
}

// finiteMean returns the mean of the rows of x, and the error of metric.CheckFinite.
func finiteMean(x *mat.Dense) ([]float64, error) {
	mean := meanOf(x)
	for _, v := range mean { // NaN or infinite if one of its terms is
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return mean, metric.CheckFinite(x)
		}
	}
	return mean, nil
}

// principalOf returns what principal does for the deviations of the rows of x from mean.
func principalOf(ctx context.Context, name string, x *mat.Dense, mean []float64, k int) (eigenpairs, error) {
	n, _ := x.Dims()
	return fromDeviations(ctx, name, x, always(mean), func(dev deviations) (eigenpairs, error) {
		if dev.moment == nil {
			return principal(dev.rows, dev.squares, k)
		}
		dev.moment.ScaleSym(1/float64(n), dev.moment)
		e, err := topEigen(dev.moment, k)
		if err != nil {
			return eigenpairs{}, err
		}
		e.vectors = settle(e.values, e.vectors, n, false)
		return e, nil
	})
}

// checkSpread returns an error unless the sum of squares of n rows is in the range of float64. differ tells whether it is not 0 in exact arithmetic.
func checkSpread(total float64, n int, differ func() bool) error {
	switch {
	case math.IsInf(total, 0) || math.IsNaN(total):
		return errors.New("the variance of the data overflows float64: rescale the features")
	case total/float64(n) < metric.LeastNormal && differ():
		return errors.New("the variance of the data vanishes in float64: rescale the features")
	}
	return nil
}

// principal returns the k largest eigenpairs of (1/n)·xᵀx, with eigenvalues ≥ 0, and the residual of those that it used. The sum of the squares of x is total.
func principal(x *mat.Dense, total float64, k int) (eigenpairs, error) {
	n, d := x.Dims()
	if err := checkSpread(total, n, func() bool { return mat.Norm(x, 1) > 0 }); err != nil {
		return eigenpairs{}, err
	}
	dual := n < d
	factor := mat.Matrix(x.T())
	if dual {
		factor = x
	}
	e, err := topEigen(matrix.Outer(1/float64(n), factor), k)
	if err != nil {
		return eigenpairs{}, err
	}
	if dual { // the component of eigenvector q of the Gram matrix is Xᵀq/‖Xᵀq‖
		e.vectors = matrix.Mul(e.vectors, x)
	}
	e.vectors = settle(e.values, e.vectors, n, dual)
	return e, nil
}

// settle makes eigenvectors of what was found, and values ≥ 0. If dual, the rows of w are Xᵀq for unit eigenvectors q of the n×n Gram matrix. It
// overwrites both.
func settle(values []float64, w *mat.Dense, n int, dual bool) *mat.Dense {
	if dual {
		for i, v := range values {
			if s := math.Sqrt(float64(n) * v); s > 0 {
				floats.Scale(1/s, w.RawRowView(i))
			}
		}
		metric.Orthonormalise(w) // where λ is small q has lost what Xᵀq needs
	}
	_, d := w.Dims()
	matrix.Rows(len(values), d, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			values[i] = max(values[i], 0)
			metric.FixSign(w.RawRowView(i))
		}
	})
	return w
}

// made returns p, and panics if no constructor made it.
func (p *PCA) made() *PCA {
	if p == nil || p.w == nil {
		panic("labels: PCA: zero value, use FitPCA")
	}
	return p
}

// Mean returns a copy of μ, length d.
func (p *PCA) Mean() []float64 { return slices.Clone(p.made().mean) }

// Components returns a copy of the k×d matrix W of orthonormal rows, largest
// variance first.
func (p *PCA) Components() *mat.Dense { return mat.DenseCopyOf(p.made().w) }

// Variances returns a copy of the k eigenvalues of C, in descending order, in
// feature².
func (p *PCA) Variances() []float64 { return slices.Clone(p.made().variances) }

// Residual returns how well the components were found: √Σ‖Av − λv‖² of the eigenpairs that FitPCA used, with A
// the smaller of the d×d matrix C and the n×n Gram matrix, relative to the largest λ. Round-off leaves about
// 1e-15·√min(n, d); Lanczos stops where each pair has 1e-13. Of more than 64 pairs by a full decomposition it is
// an estimate, which is below a third of the truth with a chance of 5·10⁻⁶ at most. It is 0 if no row differs from another, and NaN
// after LoadPCA, as files do not hold it.
func (p *PCA) Residual() float64 { return p.made().residual }

// Transform returns the n×k scores (X − μ)Wᵀ of the rows of the n×d matrix x.
// It panics if x is nil or empty or does not have d columns.
func (p *PCA) Transform(x mat.Matrix) *mat.Dense { return project(x, p.made().mean, p.w) }

// Reconstruct returns the n×d matrix whose rows are the nearest points of the
// affine subspace of the components, μ + WᵀW(xᵢ−μ). It panics if x is nil or
// empty or does not have d columns.
func (p *PCA) Reconstruct(x mat.Matrix) *mat.Dense {
	out := matrix.Mul(p.Transform(x), p.w)
	n, _ := out.Dims()
	for i := range n {
		floats.Add(out.RawRowView(i), p.mean)
	}
	return out
}

// Metric returns the projection metric M = WᵀW: the Euclidean distance between
// scores.
func (p *PCA) Metric() *metric.Mahalanobis { return metric.FromFactor(p.made().w) }
