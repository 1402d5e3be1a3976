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
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/internal/cores"
	"metriclab/internal/matrix"
	"metriclab/internal/product"
	"metriclab/pkg/metric"
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

// deviations are the rows xᵢ − mᵢ of a matrix D, n×d, or where rows are many only DᵀD.
type deviations struct {
	rows    *mat.Dense // nil if there is a moment
	moment  *mat.SymDense
	squares float64 // the sum of those of D
}

// order returns d.
func (d deviations) order() int {
	if d.moment != nil {
		return d.moment.SymmetricDim()
	}
	return d.rows.RawMatrix().Cols
}

// scaledMoment returns α·DᵀD.
func (d deviations) scaledMoment(alpha float64) *mat.SymDense {
	if d.moment == nil {
		return matrix.Outer(alpha, d.rows.T())
	}
	s := mat.NewSymDense(d.order(), nil)
	s.ScaleSym(alpha, d.moment)
	return s
}

// fromDeviations is closed for the deviations of the rows of x from mean(i), of which fit may overwrite either. Where rows are many, it
// needs no copy of them.
func fromDeviations[T any](ctx context.Context, name string, x *mat.Dense, mean func(row int) []float64, fit func(deviations) (T, error)) (T, error) {
	n, d := x.Dims()
	// Few columns save little, and up to 48 products are gonum's, of all rows at once. Of many, a block of rows takes long.
	const least, most = 64, 1024
	var dev deviations
	if n >= d && d >= least && d <= most {
		moment, squares, err := secondMoment(ctx, x, mean)
		if err != nil {
			var zero T
			return zero, fmt.Errorf("%s: %w", name, err)
		}
		if squares/float64(n) >= metric.LeastNormal && squares <= math.MaxFloat64 { // else the rows may say why
			dev = deviations{moment: moment, squares: squares}
		}
	}
	return closed(ctx, name, n, d, func() *mat.Dense {
		if dev.moment != nil {
			return nil
		}
		rows := mat.NewDense(n, d, nil)
		for _, s := range deviate(rows, x, 0, mean) {
			dev.squares += s
		}
		return rows
	}, func(rows *mat.Dense) (T, error) {
		dev.rows = rows
		t, err := fit(dev)
		if err != nil {
			err = fmt.Errorf("%s: %w", name, err)
		}
		return t, err
	})
}

// secondMoment returns Σ (xᵢ−mᵢ)(xᵢ−mᵢ)ᵀ and Σ ‖xᵢ−mᵢ‖², with the bits of deviate and matrix.Outer. It looks at ctx after
// each block of rows.
func secondMoment(ctx context.Context, x *mat.Dense, mean func(row int) []float64) (*mat.SymDense, float64, error) {
	n, d := x.Dims()
	const block = 256
	c, dev := mat.NewSymDense(d, nil), mat.NewDense(min(n, block), d, nil)
	var total float64
	for lo := 0; lo < n; lo += block {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		part := dev.Slice(0, min(block, n-lo), 0, d).(*mat.Dense)
		for _, s := range deviate(part, x, lo, mean) {
			total += s
		}
		product.SyrkAdd(blas.Trans, part.RawMatrix(), c.RawSymmetric())
	}
	return c, total, nil
}

// deviate sets row i of dev to row first+i of x less its mean, and returns the square of the length of each.
func deviate(dev, x *mat.Dense, first int, mean func(row int) []float64) (squares []float64) {
	n, d := dev.Dims()
	squares = make([]float64, n)
	matrix.Rows(n, d, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			r := floats.SubTo(dev.RawRowView(i), x.RawRowView(first+i), mean(first+i))
			squares[i] = floats.Dot(r, r)
		}
	})
	return squares
}

// always returns a function that returns mean for each row.
func always(mean []float64) func(int) []float64 { return func(int) []float64 { return mean } }

// centre subtracts the mean of the rows of x from each and returns it.
func centre(x *mat.Dense) []float64 {
	n, d := x.Dims()
	mean := meanOf(x)
	matrix.Rows(n, d, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			floats.Sub(x.RawRowView(i), mean)
		}
	})
	return mean
}

// meanOf returns the mean of the rows of x.
func meanOf(x *mat.Dense) []float64 {
	n, _ := x.Dims()
	return meansOf(x, make([]int, n))[0]
}

// meansOf returns the mean of each group of rows of x; group has the number of that of each row, from 0 on without a gap. A mean is taken about the
// first row of the group, so that a constant feature has exactly its value as mean and deviations that are exactly zero.
func meansOf(x *mat.Dense, group []int) [][]float64 {
	_, d := x.Dims()
	groups := slices.Max(group) + 1
	means, first, weight := make([][]float64, groups), make([][]float64, groups), make([]float64, groups)
	for i, g := range group {
		if first[g] == nil {
			means[g], first[g] = make([]float64, d), x.RawRowView(i)
		}
		weight[g]++
	}
	for g, rows := range weight {
		weight[g] = 1 / rows
	}
	const least = 1000 // columns of a core: of shorter parts of rows, the memory brings what lies between, too
	columns := max(least, d/(1+cores.Idle()))
	cores.Do((d+columns-1)/columns, func(b int) {
		from, to := b*columns, min((b+1)*columns, d)
		dev := make([]float64, to-from)
		for i, g := range group {
			floats.SubTo(dev, x.RawRowView(i)[from:to], first[g][from:to])
			floats.AddScaled(means[g][from:to], weight[g], dev)
		}
	})
	for g, mean := range means {
		floats.Add(mean, first[g])
	}
	return means
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
