// Package kernelized runs learners of metrics of vectors, such as LMNN, MCML and RCA, in the space of a kernel, and so kernel principal component analysis
// (FitPCA) and kernel Fisher discriminant analysis (FitFDA).
//
// Let K₀ = ΦᵀΦ be the Gram matrix of n objects. A cost and constraints that depend on distances between them alone
// depend on W only through PWP, where P projects onto the span of their images. So PWP is as good as W, and W = ΦSΦᵀ
// with S ⪰ 0 (Jain, Kulis, Davis, Dhillon, Metric and Kernel Learning Using a Linear Transformation, JMLR 13, 2012,
// Theorem 9). That is any learner on the rows of a factor of K₀ = FFᵀ (see kernels.Factor): nothing about the learner need
// be known, and its objective, status and bounds hold as they are.
//
// With a Gaussian kernel, distinct objects span as many dimensions as there are objects. There LMNN and MCML without a ridge can collapse each class to a point, in many ways, whatever the
// kernel, and plain RCA ignores what separates the means of chunklets. Landmarks or a ridge then make the answer one that tells something about new objects.
//
// The paper proves the theorem by way of a term −γ·log det W (Eqs. 24 and 25). The term is not needed. It has no minimum either where
// W may grow in directions that no object reaches.
//
// # When to use it
//
// Where no metric of the features does, and a kernel is known that might. LogDet and POLA have methods of their own for
// that: itml.FitKernelRows, pairs.NewKernelPOLA. For many rows take landmarks.
//
// # How it is built
//
// A wrapper and the learner know nothing of each other. kernels.NewFactor makes rows of which K₀ is the Gram
// matrix, the learner learns a metric of these rows, and the factor lifts the metric to new points.
//
// The factor is a pivoted Cholesky decomposition, not one into eigenvalues. Only the columns of the pivots are
// computed, only the pivots are stored, and to stop early is to have landmarks.
//
// The metric is a kernels.Metric, which has coordinates, so that models embed and plot. The kernels.Transformed of
// W = αI + ΦSΦᵀ has none.
//
// Kernel FDA has a ridge by default: where images span as many dimensions as there are rows, plain FDA ignores
// directions without variance within classes.
package kernelized

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/internal/matrix"
	"metriclab/internal/ranges"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
)

// Version changes whenever Fit or FitGram gives other numbers for the same input and the same learner.
const Version = 1

// Learner learns a metric from the rows of z, n×r, which it neither changes nor keeps. Classes or links of the rows
// are its own: those of the objects, in their order.
type Learner func(ctx context.Context, z mat.Matrix) (learners.MetricResult, error)

// Params are the parameters of Fit and FitGram.
type Params struct {
	// Landmarks is the largest number of objects in the span of whose images the metric is learned, an
	// approximation. The others take part by their projections. 0 means as many as tell them apart, and that
	// the fit is exact.
	Landmarks int `range:"0, or >= 1" doc:"approximation: the metric is learned in the span of so many rows, on which the others are projected, and only they are stored; 0 means exact"`
}

// Resolved returns p: its defaults are zeros.
func (p Params) Resolved() Params { return p }

// Result is what Fit returns.
type Result struct {
	// Result is that of the learner.
	learners.Result
	// Metric is the metric of points. Its Embed gives coordinates of any point.
	Metric *kernels.Metric
	// Rank is the dimension of the span in which the metric was learned: the number of rows that Metric holds.
	Rank int
	// Landmarks is the number of landmarks that were chosen, at most that of the parameters; 0 for an exact fit.
	Landmarks int
	// Left is the error of landmarks: the share of the trace of K₀ that lies outside their span, from 0 to 1; 0 for an exact fit.
	Left float64
	// Components are those of FitPCA; zero of others.
	Components
}

// GramResult is what FitGram returns.
type GramResult struct {
	// Result is that of the learner.
	learners.Result
	// Learned is the kernel, W = ΦSΦᵀ. Its Support holds the pivots of the factor.
	kernels.Learned
	// Landmarks, Left and Components are those of Result.
	Landmarks int
	Left      float64
	Components

	factor *kernels.Factor
	metric *metric.Mahalanobis // of the rows of the factor
	shift  []float64           // added to coordinates; nil for none
}

// room is how many matrices of the size of the factor a fit may take: the factor with copies, and what learners hold.
const room = 20

// Fit learns a metric in the space of the kernel k from the rows of x, n×d, with a learner of metrics of vectors:
//
//	K₀ = FFᵀ,  M = learn(F),  d²(x, z) = ‖LC⁻¹(k(x) − k(z))‖²,  M = LᵀL,
//
// where k(x) holds κ of x and each of r rows, the pivots of a rank-revealing factor F, n×r (see kernels.NewFactor). With the linear kernel and a learner
// that sees distances only it is the learner's own metric, on points not seen too, except in directions in which no two
// rows differ: there W is 0. RCA with a ridge would have a weight there, and is relative to the r dimensions of the span.
// Directions in which images vary by less than 10⁻¹⁰ of the largest κ(x, x) are left out, since
// the kernel values do not tell them. Features of very different scales should be standardised first.
//
// It costs O(nr²), n evaluations of the kernel for each of the r pivots, and the fit of the learner to n rows of r numbers; r is at most Landmarks, n, and the dimension of the kernel's space.
//
// It returns the errors of learn as they are. Its own are an entry of x or a kernel value that is NaN or infinite, and a kernel seen not to be
// positive semi-definite (wraps metric.ErrNotPSD). So are n×r too large for limits.Memory, a parameter out of range, weights that overflow, and a ctx
// that is done. It panics if k or learn is nil, or x is nil or empty.
func Fit(ctx context.Context, k kernels.Kernel, x mat.Matrix, learn Learner, p Params) (Result, error) {
	xd := matrix.Given("kernelized: Fit: x", x)
	if k == nil || learn == nil || xd.IsEmpty() {
		panic("kernelized: Fit: the kernel or the learner is nil, or x is empty")
	}
	p = p.Resolved()
	if err := ranges.Check("kernelized", p); err != nil {
		return Result{}, err
	}
	if err := metric.CheckFinite(xd); err != nil {
		return Result{}, fmt.Errorf("kernelized: %w", err)
	}
	n, _ := xd.Dims()
	f, err := p.factor(ctx, n, func(i, j int) float64 { return k.Eval(xd.RawRowView(i), xd.RawRowView(j)) })
	if err != nil {
		return Result{}, err
	}
	if r := f.Rank(); abandon.Long(r, r, r) {
		xd = mat.DenseCopyOf(xd) // for the goroutine of lift
	}
	l, err := learn(ctx, f.Rows())
	if err != nil {
		return Result{}, err
	}
	m, err := lifted(ctx, f, func() (*kernels.Metric, error) { return f.Metric(k, xd, l.Metric) })
	if err != nil {
		return Result{}, err
	}
	return Result{Result: l.Result, Metric: m, Rank: f.Rank(), Landmarks: p.landmarks(f), Left: p.left(f)}, nil
}

// FitGram is Fit for objects of which only the Gram matrix K₀ is known, n×n. It returns an error that wraps
// metric.ErrNotPSD and says how far if K₀ is not positive semi-definite (see kernels.CheckGram, which costs O(n³)). It panics if k0
// is nil or empty, or learn is nil.
func FitGram(ctx context.Context, k0 mat.Symmetric, learn Learner, p Params) (GramResult, error) {
	if matrix.IsNil(k0) || k0.SymmetricDim() == 0 || learn == nil {
		panic("kernelized: FitGram: k0 is nil or empty, or the learner is nil")
	}
	p = p.Resolved()
	if err := ranges.Check("kernelized", p); err != nil {
		return GramResult{}, err
	}
	n := k0.SymmetricDim()
	if err := limits.Check(fmt.Sprintf("a copy of the Gram matrix of %d objects", n), limits.Floats(2, n, n)); err != nil {
		return GramResult{}, fmt.Errorf("kernelized: %w", err)
	}
	own := mat.NewSymDense(n, nil)
	own.CopySym(k0)
	check := func(context.Context) (struct{}, error) {
		if err := kernels.CheckGram(own); err != nil {
			return struct{}{}, fmt.Errorf("kernelized: k0: %w", err)
		}
		return struct{}{}, nil
	}
	if err := run(ctx, n, check); err != nil {
		return GramResult{}, err
	}
	f, err := p.factor(ctx, n, own.At)
	if err != nil {
		return GramResult{}, err
	}
	l, err := learn(ctx, f.Rows())
	if err != nil {
		return GramResult{}, err
	}
	w, err := lifted(ctx, f, func() (kernels.Learned, error) { return f.Learned(l.Metric) })
	if err != nil {
		return GramResult{}, err
	}
	return GramResult{Result: l.Result, Learned: w, Landmarks: p.landmarks(f), Left: p.left(f), factor: f, metric: l.Metric}, nil
}

// run is check, left to itself once ctx is done if order is large.
func run(ctx context.Context, order int, check func(context.Context) (struct{}, error)) error {
	var err error
	if abandon.Long(order, order, order) {
		_, err = abandon.Do(ctx, "kernelized", check)
	} else {
		_, err = check(ctx)
	}
	return err
}

// factor returns the factor of the Gram matrix of n objects, if there is room for a fit to its rows.
func (p Params) factor(ctx context.Context, n int, at func(i, j int) float64) (*kernels.Factor, error) {
	most := limits.Memory() / limits.Floats(room, n) // pivots for which there is room
	q := kernels.FactorParams{Most: p.Landmarks}
	if int64(n) > most && (q.Most == 0 || int64(q.Most) > most) {
		q.Most = int(most) + 1 // one too many tells that there are too many
	}
	f, err := kernels.NewFactor(ctx, n, at, q)
	if err != nil {
		return nil, fmt.Errorf("kernelized: kernel matrix: %w", err)
	}
	r := f.Rank()
	if err := limits.Check(fmt.Sprintf("a fit of %d rows in the space of the kernel, of %d dimensions at least (landmarks bound them),", n, r), limits.Floats(room, n, r)); err != nil {
		return nil, fmt.Errorf("kernelized: %w", err)
	}
	return f, nil
}

// landmarks and left are those of Result.
func (p Params) landmarks(f *kernels.Factor) int {
	if p.Landmarks == 0 {
		return 0
	}
	return f.Rank()
}

func (p Params) left(f *kernels.Factor) float64 {
	if p.Landmarks == 0 {
		return 0
	}
	return f.Left()
}

// lifted is lift, which inverts a matrix of the order of the rank, unless ctx is done.
func lifted[T any](ctx context.Context, f *kernels.Factor, lift func() (T, error)) (T, error) {
	var m T
	var err error
	if r := f.Rank(); abandon.Long(r, r, r) {
		m, err = abandon.Do(ctx, "kernelized", func(context.Context) (T, error) { return lift() })
	} else {
		m, err = lift()
	}
	if err != nil {
		return m, fmt.Errorf("kernelized: %w", err)
	}
	return m, nil
}

// Embed returns the coordinates of s objects, between which Euclidean distances are the learned ones: from their kernel values with the
// n objects of the fit, cross, s×n; K₀ itself for these. They need not have been known at the fit. It returns an error if cross does not have n columns or
// a number is NaN or infinite, and panics if cross is nil or empty, or FitGram did not make g.
func (g GramResult) Embed(cross mat.Matrix) (*mat.Dense, error) {
	if g.factor == nil {
		panic("kernelized: GramResult: zero value, use FitGram")
	}
	z, err := g.factor.Coordinates(cross)
	if err != nil {
		return nil, fmt.Errorf("kernelized: %w", err)
	}
	out := g.metric.EmbedRows(z)
	if g.shift != nil {
		for i := range out.RawMatrix().Rows {
			floats.Add(out.RawRowView(i), g.shift)
		}
	}
	return out, nil
}
