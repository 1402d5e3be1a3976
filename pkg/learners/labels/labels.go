// Package labels learns projections and metrics from a whole data set with
// class labels (FDA, LMNN, MCML, NCA) or without (PCA, LSA, the inverse covariance). A row is
// an object.
//
// # Which learner
//
//	FitFDA      few features, classes of one shape: a projection to at most classes − 1 dimensions, in closed form
//	FitLMNN     for kNN: neighbours of the same class near, others beyond a margin; iterates, convex
//	FitMCML     each class to a point, others far; small data only, as each step costs rows² · features
//	FitNCA      for kNN, in few dimensions or all: rows likely to have a neighbour of their class; iterates, not convex
//	FitInvCov   no classes: the Mahalanobis distance of statistics, the baseline of metric learning
//	FitPCA      no classes: the directions of most variance
//	FitLSA      no classes: the same for sparse rows such as texts, centred or not
//
// FDA, PCA, LSA and NCA return a projection to fewer dimensions, the others a metric of all. Links between rows in place of
// classes are for packages itml, iplr and pairs.
//
// # How it is built
//
// LMNN and MCML are fitted in M, where they are convex. They stop on what proves how good they are, a dual bound
// and the conditions of optimality, and not on small steps.
//
// A few principal components of many come from Lanczos on the covariance, with residuals of 1e-13. One Cholesky
// factorisation proves that none was missed. All are computed where Lanczos needs more than n/2 products. The
// randomised method of scikit-learn is 1e-4 of the largest eigenvalue off on MNIST, and not faster.
//
// LSA of sparse rows stays sparse: Lanczos multiplies by xᵀx or xxᵀ as two sparse products, and a correction of
// rank one centres. No Cholesky factorisation certifies it, as that would cost more than the fit.
package labels

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/internal/cores"
	"metriclab/internal/matrix"
	"metriclab/internal/product"
)

// closed returns the answer in closed form that fit gives for private(), n×d numbers that nobody else has and that fit may
// overwrite. Where decompositions and products may take long, fit is abandoned once ctx is done.
func closed[T any](ctx context.Context, name string, n, d int, private func() *mat.Dense, fit func(x *mat.Dense) (T, error)) (T, error) {
	if err := ctx.Err(); err != nil {
		var zero T
		return zero, fmt.Errorf("%s: %w", name, err)
	}
	x := private()
	if !abandon.Long(n+d, d, d) { // with a ridge the matrix has order d, however few the rows
		return fit(x)
	}
	return abandon.Do(ctx, name, func(context.Context) (T, error) { return fit(x) })
}

// copied is closed for a copy of x.
func copied[T any](ctx context.Context, name string, x *mat.Dense, fit func(x *mat.Dense) (T, error)) (T, error) {
	n, d := x.Dims()
	return closed(ctx, name, n, d, func() *mat.Dense {
		own := mat.NewDense(n, d, nil)
		matrix.Rows(n, d, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				copy(own.RawRowView(i), x.RawRowView(i))
			}
		})
		return own
	}, fit)
}

// deviations returns the rows of x less mean, and the sum of their squares.
func deviations(x *mat.Dense, mean []float64) (*mat.Dense, float64) {
	n, d := x.Dims()
	dev := mat.NewDense(n, d, nil)
	var total float64
	for _, s := range deviationsTo(dev, x, mean) {
		total += s
	}
	return dev, total
}

// deviationsTo sets dev to the rows of x less mean, and returns the square of the length of each.
func deviationsTo(dev, x *mat.Dense, mean []float64) (squares []float64) {
	n, d := x.Dims()
	squares = make([]float64, n)
	matrix.Rows(n, d, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			r := floats.SubTo(dev.RawRowView(i), x.RawRowView(i), mean)
			squares[i] = floats.Dot(r, r)
		}
	})
	return squares
}

// centre subtracts the mean of the rows of x from each and returns it.
func centre(x *mat.Dense) []float64 {
	n, d := x.Dims()
	mean := meanOf(x, upTo(n))
	matrix.Rows(n, d, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			floats.Sub(x.RawRowView(i), mean)
		}
	})
	return mean
}

// meanOf returns the mean of the given rows of x. It is taken about the first of
// them, so that a constant feature has exactly its value as mean and deviations
// that are exactly zero.
func meanOf(x *mat.Dense, rows []int) []float64 {
	_, d := x.Dims()
	first := x.RawRowView(rows[0])
	mean := make([]float64, d)
	dev := make([]float64, d)
	columns := max(128, d/(1+cores.Idle())) // that a core sums
	cores.Do((d+columns-1)/columns, func(b int) {
		from, to := b*columns, min((b+1)*columns, d)
		for _, i := range rows {
			floats.SubTo(dev[from:to], x.RawRowView(i)[from:to], first[from:to])
			floats.AddScaled(mean[from:to], 1/float64(len(rows)), dev[from:to])
		}
	})
	floats.Add(mean, first)
	return mean
}

// upTo returns 0, 1, …, n−1.
func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// project returns (x − mean)Wᵀ, n×k.
func project(x mat.Matrix, mean []float64, w *mat.Dense) *mat.Dense {
	xd := matrix.Dense(x)
	if xd == nil || xd.IsEmpty() {
		panic("labels: Transform: x is nil or empty")
	}
	n, d := xd.Dims()
	if d != len(mean) {
		panic(fmt.Sprintf("labels: Transform: x has %d columns, want %d", d, len(mean)))
	}
	k, _ := w.Dims()
	out := mat.NewDense(n, k, nil)
	row := make([]float64, d)
	for i := range n {
		floats.SubTo(row, xd.RawRowView(i), mean)
		product.DotRows(out.RawRowView(i), w.RawMatrix(), row)
	}
	return out
}
