package itml

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

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

// KernelVersion changes whenever FitKernel or FitKernelRows gives
// other numbers for the same input.
const KernelVersion = 3

// KernelParams are the parameters of FitKernel. But for W0, which has no
// counterpart (K₀ = ΦᵀW₀Φ stands for it), they are those of Params.
type KernelParams struct {
	// Gamma is the weight γ > 0 of the slacks; 0 means 1, and +Inf that there are
	// none, so that every link is a hard constraint.
	Gamma float64 `range:"> 0, or +Inf"`
	// Upper is u, the largest squared distance wanted of a similar pair, at least 1e-140 and
	// less than Lower; 0 means by Bounds. Both are 0, or neither is.
	Upper float64 `range:"0, or >= 1e-140 and < lower"`
	// Lower is ℓ, the smallest squared distance wanted of a dissimilar pair, at most 1e140.
	Lower float64 `range:"0, or > upper and <= 1e140"`
	// Bounds says how u and ℓ follow from the squared distances of the links under K₀.
	Bounds BoundParams
	// Tol is the tolerance of the stopping rule, > 0; 0 means 0.001.
	Tol float64 `range:"> 0"`
	// MaxCycles is the cap on cycles over the links, at least 1; 0 means those of
	// 100,000 steps.
	MaxCycles int `range:"0, or >= 1"`
	// Landmarks is the largest number of objects whose images W may differ from I in the span of, an
	// approximation; 0 means all that links join, and that the fit is exact.
	Landmarks int `range:"0, or >= 1" doc:"approximation: the metric is learned in the span of so many rows, which represent the others, and only they are stored; 0 means exact"`
	// Progress, if not nil, is told of each cycle, as that of Params.
	Progress func(learners.Progress)
}

// Resolved returns p with its defaults filled in, but for MaxCycles, whose default
// depends on the number of links.
func (p KernelParams) Resolved() KernelParams {
	q := p.input().Resolved()
	p.Gamma, p.Bounds, p.Tol = q.Gamma, q.Bounds, q.Tol
	return p
}

func (p KernelParams) input() Params {
	return Params{Gamma: p.Gamma, Upper: p.Upper, Lower: p.Lower, Bounds: p.Bounds, Tol: p.Tol, MaxCycles: p.MaxCycles, Progress: p.Progress}
}

// KernelResult is what FitKernel returns.
type KernelResult struct {
	// Result has learners.Converged or learners.IterationCap, as for Fit. Iterations counts cycles, and
	// Residual is the change of λ over the last one, as in the stopping rule.
	learners.Result
	// Solution holds bounds, multipliers, slacks, KKT residual and duality gap.
	Solution
	// Learned is the kernel, W = I + ΦSΦᵀ. Its Support holds the rows of K₀ that a link with λ > 0 joins; of a fit
	// with landmarks, these. Without landmarks the rows of S sum to 0 up to round-off.
	kernels.Learned
	// Landmarks is the number of landmarks that were chosen, at most that of the parameters; 0 for an exact fit.
	Landmarks int
	// Left is the error of landmarks: the share of the trace of K₀, between the objects that links join, that lies
	// outside their span, from 0 to 1.
	Left float64
}

// FitKernel is Fit for objects of which only the Gram matrix K₀ is known,
// n×n and positive semi-definite, also singular: given as such or of any kernel κ,
// K₀ = ΦᵀΦ with Φ = (φ(x₁), …, φ(x_n)). It learns the kernel matrix K = ΦᵀWΦ of the W in the
// space of φ that is closest to I in the LogDet divergence, brings similar pairs together and
// dissimilar ones apart,
//
//	min over K and ξ > 0 of D(K, K₀) + γ·D(diag ξ, diag ξ₀)
//	subject to δ(p − ξ) ≤ 0 for each link,  p = K_ii − 2K_ij + K_jj,
//
// where, if K₀ is singular, D(K, K₀) stands for D(W, I). With K₀ = ΦᵀW₀Φ the W learned
// is the closest to W₀. Source: Jain, Kulis, Davis, Dhillon, Metric and Kernel Learning
// Using a Linear Transformation, JMLR 13, 2012, Theorem 1, Corollary 2, Eq. 7 and
// Algorithm 1. See Fit for γ, δ, ξ₀, u, ℓ, the steps, when they stop and what status
// says.
//
// With C = Σ λδ(e_i − e_j)(e_i − e_j)ᵀ, W⁻¹ = I + ΦCΦᵀ. Hence
//
//	K = K₀(I + CK₀)⁻¹,  W = I + ΦSΦᵀ,  S = −C + CKC,
//
// without an inverse of K₀ as in the paper's S = K₀⁻¹(K − K₀)K₀⁻¹; S is found from
// (I + CK₀)S = −C. It is 0 outside the rows that links join, and the steps are made for
// these alone. A spanning forest of the links, short ones first, has s edges, the differences v of two images; the v of
// any other link is a sum of these. That keeps digits of small
// distances that K_ii − 2K_ij + K_jj loses, also where the points are far from the origin. Where the v have a rank r of 160 or more and
// s < 2r, the steps are made on Q, the matrix of vᵀWv' of edges. They are collected over blocks of links and change Q together, as a
// product of matrices. Elsewhere they are those of Fit in r dimensions. What K is elsewhere, All says, and Kernel at new points.
// Between, Among and the squared distances beside them are for new objects of which only kernel values are known.
//
// A link between duplicates is skipped: p ≤ 10⁻¹²·ξ₀ under K₀, or ≤ 10⁻¹²·(K₀_ii + K₀_jj),
// less than which the entries do not tell. With m links that join t objects, s ≤ min(m, t − 1), a step on Q costs
// O(s²), and else O(r²). The beginning and end cost O(mr² + s³), and the check
// of K₀ O(n³).
//
// With Landmarks = q, W differs from I in the span of q images only (Nyström; Williams, Seeger, NIPS 2000). Bounds,
// λ, KKT residual and gap are those of the objects projected onto it. The squared distance of i and j that the fit sees is too small by
// at most 2(e_i + e_j), e the part of K_ii that is left, whose sum Left tells. The landmarks are, one after the other, the objects of
// which most is left (pivoted Cholesky decomposition, the first of equals), until less than 10⁻⁸ of the largest K_ii is left of each.
// It costs O(tq²) and O(q²) per step.
//
// FitKernel returns an error if
//
//   - there is no link, or a link has label 0 or an index outside K₀;
//   - an entry of K₀ is NaN or infinite, or K₀ is not positive semi-definite, which wraps
//     metric.ErrNotPSD and says how far (see kernels.CheckGram);
//   - a parameter is out of range, u ≥ ℓ, or the rule gives no bounds;
//   - the links ask for a metric that is singular to working precision, as contradictory ones
//     with γ = ∞ may (see Fit);
//   - ctx is done.
//
// It panics if k0 is nil or empty.
//
// The same on a page, without speed: [metriclab/pkg/learners/plain.LogDet].
func FitKernel(ctx context.Context, k0 mat.Symmetric, links []metric.Link, p KernelParams) (KernelResult, error) {
	if matrix.IsNil(k0) || k0.SymmetricDim() == 0 {
		panic("itml: FitKernel: k0 is nil or empty")
	}
	n := k0.SymmetricDim()
	objects, q, err := p.prepare(n, links)
	if err != nil {
		return KernelResult{}, err
	}
	if !abandon.Long(n, n, n) {
		return p.fitGram(ctx, objects, k0, links, q)
	}
	k0, links = copySymmetric(k0), slices.Clone(links)
	return abandon.Run(ctx, "itml", p.Progress, func(ctx context.Context, progress func(learners.Progress)) (KernelResult, error) {
		q.Progress = progress
		return p.fitGram(ctx, objects, k0, links, q)
	})
}

// fitGram is FitKernel with the objects that links join and the resolved parameters q.
func (p KernelParams) fitGram(ctx context.Context, objects []int, k0 mat.Symmetric, links []metric.Link, q Params) (KernelResult, error) {
	if err := kernels.CheckGram(k0); err != nil {
		return KernelResult{}, fmt.Errorf("itml: k0: %w", err)
	}
	if p.Landmarks > 0 {
		return fitLandmarks(ctx, objects, p.Landmarks, func(i, j int) float64 { return k0.At(objects[i], objects[j]) }, links, q)
	}
	block := mat.NewSymDense(len(objects), nil)
	for a, i := range objects {
		for b, j := range objects[:a+1] {
			block.SetSym(a, b, k0.At(i, j))
		}
	}
	return fitBlock(ctx, objects, block, links, q)
}

// FitKernelRows is FitKernel for the Gram matrix of the kernel k between the
// rows of x, n×d, of which only the rows that links join are used; with landmarks, only the diagonal and the columns of these
// are computed. It returns the errors of
// FitKernel, with the entries of K₀ numbered among these rows, and one if an
// entry of x is NaN or infinite. It panics if x is nil or empty, or k is nil.
func FitKernelRows(ctx context.Context, k kernels.Kernel, x mat.Matrix, links []metric.Link, p KernelParams) (KernelResult, error) {
	xd := matrix.Dense(x)
	if k == nil || xd == nil || xd.IsEmpty() {
		panic("itml: FitKernelRows: the kernel or x is nil, or x is empty")
	}
	n, d := xd.Dims()
	objects, q, err := p.prepare(n, links)
	if err != nil {
		return KernelResult{}, err
	}
	if err := metric.CheckFinite(xd); err != nil {
		return KernelResult{}, fmt.Errorf("itml: %w", err)
	}
	rows := mat.NewDense(len(objects), d, nil)
	for a, i := range objects {
		rows.SetRow(a, xd.RawRowView(i))
	}
	fit := func(ctx context.Context) (KernelResult, error) {
		if p.Landmarks > 0 {
			return fitLandmarks(ctx, objects, p.Landmarks, func(i, j int) float64 { return k.Eval(rows.RawRowView(i), rows.RawRowView(j)) }, links, q)
		}
		block, err := kernels.GramContext(ctx, k, rows)
		if err != nil {
			return KernelResult{}, fmt.Errorf("itml: %w", err)
		}
		if err := kernels.CheckGram(block); err != nil {
			return KernelResult{}, fmt.Errorf("itml: kernel matrix: %w", err)
		}
		return fitBlock(ctx, objects, block, links, q)
	}
	if t := len(objects); !abandon.Long(t, t, t) {
		return fit(ctx)
	}
	links = slices.Clone(links)
	return abandon.Run(ctx, "itml", p.Progress, func(ctx context.Context, progress func(learners.Progress)) (KernelResult, error) {
		q.Progress = progress
		return fit(ctx)
	})
}

// prepare returns the objects that links between n of them join, ascending, and the
// resolved parameters of the loop.
func (p KernelParams) prepare(n int, links []metric.Link) ([]int, Params, error) {
	q := p.input().Resolved()
	if err := cmp.Or(q.check(), ranges.Check("itml", p.Resolved())); err != nil {
		return nil, q, err
	}
	if len(links) == 0 {
		return nil, q, errors.New("itml: links: none given, want at least one")
	}
	if err := metric.CheckLinks(n, links); err != nil {
		return nil, q, fmt.Errorf("itml: %w", err)
	}
	objects := make([]int, 0, 2*len(links))
	for _, l := range links {
		objects = append(objects, l.I, l.J)
	}
	slices.Sort(objects)
	objects = slices.Compact(objects)
	t := len(objects)
	size := limits.Floats(10, t, t)
	if p.Landmarks > 0 {
		size = limits.Floats(2, t, min(p.Landmarks, t)) // that of smaller matrices, newInputForm checks
	}
	if err := limits.Check(fmt.Sprintf("a kernel of the %d rows that links join", t), size); err != nil {
		return nil, q, fmt.Errorf("itml: %w", err)
	}
	return objects, q, nil
}

// fitBlock is the fit on the block of K₀ between the objects that links join.
func fitBlock(ctx context.Context, objects []int, block *mat.SymDense, links []metric.Link, p Params) (KernelResult, error) {
	inside := within(objects, links)
	var err error
	if p.Upper == 0 {
		if p.Upper, p.Lower, err = p.Bounds.OfGram(block, inside); err != nil {
			return KernelResult{}, err
		}
	}
	if err := ctx.Err(); err != nil {
		return KernelResult{}, fmt.Errorf("itml: %w", err)
	}
	f, err := newKernelForm(ctx, block, inside)
	if err != nil {
		return KernelResult{}, err
	}
	l := newLoop(ctx, f, inside, p)
	for k, link := range inside {
		l.skip[k] = gramSqDist(block, link) == 0
	}
	status, err := l.run(p)
	if err != nil {
		return KernelResult{}, err
	}
	if err := l.stopped(0); err != nil {
		return KernelResult{}, err
	}
	l.w = nil // its memory
	support, s, ok := transformation(block, inside, l.weights())
	if !ok {
		return KernelResult{}, errSingular
	}
	for a, i := range support {
		support[a] = objects[i]
	}
	return KernelResult{
		Result:   learners.Result{Status: status, Iterations: l.cycles, Residual: l.change},
		Solution: l.solution(p),
		Learned:  kernels.Learned{Alpha: 1, Support: support, S: s},
	}, nil
}

// within returns links with the objects numbered by their places in objects, which is ascending.
func within(objects []int, links []metric.Link) []metric.Link {
	out := make([]metric.Link, len(links))
	for k, l := range links {
		i, _ := slices.BinarySearch(objects, l.I)
		j, _ := slices.BinarySearch(objects, l.J)
		out[k] = metric.Link{I: i, J: j, Label: l.Label}
	}
	return out
}

// newKernelForm returns the form of W for the links between objects of Gram matrix k0, and W = I.
func newKernelForm(ctx context.Context, k0 *mat.SymDense, links []metric.Link) (form, error) {
	t := k0.SymmetricDim()
	f := newForest(t, links, gramSqDists(k0, links))
	s := len(f.child)
	if s == 0 { // all links join an object with itself; gonum has no empty matrix
		return newInputForm(ctx, mat.NewDense(t, 1, nil), nil)
	}
	v := f.vectors(k0)
	if _, r := v.Dims(); r >= leastRank && s < lowRank*r {
		return newForestForm(ctx, f, v), nil
	}
	return newInputForm(ctx, f.points(v), nil)
}

// Single steps of O(r²) in r dimensions keep more digits than the products of O(s²) per step for s edges, whose paths add up. They are
// faster, too, where the rank r is below leastRank, or lowRank times smaller than s (BenchmarkForms).
const leastRank, lowRank = 160, 2

// gramSqDists returns the squared distances of links, by OfGram.
func gramSqDists(k mat.Symmetric, links []metric.Link) []float64 {
	sq := make([]float64, len(links))
	for i, l := range links {
		sq[i] = gramSqDist(k, l)
	}
	return sq
}

// transformation returns the objects of links with c ≠ 0, ascending, and S between them. Both are nil if there are none.
// It reports whether S exists to working precision.
//
// C = Σcaaᵀ of the edges of a forest of these links, S = E·X·Eᵀ with a row of E per object and a column per edge, and
// (I + CG)X = −C with G = EᵀK₀E. The terms of −C + CKC cancel where K is far below K₀.
func transformation(k0 *mat.SymDense, links []metric.Link, c []float64) (support []int, s *mat.SymDense, ok bool) {
	var bound []metric.Link
	var weight []float64
	for k, l := range links {
		if c[k] != 0 {
			bound, weight = append(bound, l), append(weight, c[k])
			support = append(support, l.I, l.J)
		}
	}
	if bound == nil {
		return nil, nil, true
	}
	slices.Sort(support)
	support = slices.Compact(support)
	t := len(support)
	block := mat.NewSymDense(t, nil)
	for a, i := range support {
		for b, j := range support[:a+1] {
			block.SetSym(a, b, k0.At(i, j))
		}
	}
	bound = within(support, bound)
	f := newForest(t, bound, gramSqDists(block, bound))
	g := mat.DenseCopyOf(f.gram(block))
	m := len(f.child)
	cm, a := mat.NewDense(m, m, nil), mat.NewDense(m, m, nil) // −C, I + CG
	v := make([]float64, m)
	for k, l := range bound {
		f.sum(v, g, l) // first: sums of multiples of G would lose its digits
		f.path(l, func(e int, sign float64) {
			floats.AddScaled(a.RawRowView(e), weight[k]*sign, v)
			row := cm.RawRowView(e)
			f.path(l, func(o int, other float64) { row[o] -= weight[k] * sign * other })
		})
	}
	for i := range m {
		a.Set(i, i, a.At(i, i)+1)
	}
	var lu mat.LU
	lu.Factorize(a)
	var x mat.Dense
	if err := lu.SolveTo(&x, false, cm); err != nil {
		if c, ok := errors.AsType[mat.Condition](err); !ok || math.IsInf(float64(c), 1) {
			return nil, nil, false
		}
	}
	left := mat.NewDense(t, m, nil) // E(X + Xᵀ)/2
	mean := make([]float64, m)
	for e, i := range f.child {
		for o := range mean {
			mean[o] = x.At(e, o)/2 + x.At(o, e)/2
		}
		floats.Add(left.RawRowView(i), mean)
		floats.Sub(left.RawRowView(f.parent[i]), mean)
	}
	whole := mat.NewDense(t, t, nil)
	for i := range t {
		row := whole.RawRowView(i)
		for e, v := range left.RawRowView(i) {
			row[f.child[e]] += v
			row[f.parent[f.child[e]]] -= v
		}
	}
	return support, matrix.Symmetric(whole), true
}
