// Package itml is information-theoretic metric learning (ITML; Davis, Kulis, Jain, Sra, Dhillon, ICML
// 2007), also called LogDet metric learning. Among the metrics, or kernels, that bring similar pairs
// together and keep dissimilar ones apart, it finds the one closest to a start in the LogDet
// divergence. Fit learns from links, FitLabels and FitTuned from class labels, FitKernel and FitKernelRows a kernel.
//
// # Which function
//
//	Fit              rows and links between them, squared distances bounded by u and ℓ
//	FitLabels        rows and classes: draws links and sets bounds
//	FitTuned         the same, with γ chosen by cross-validation
//	FitNearer        rows and comparisons "a is nearer to b than to c"
//	FitKernel        a Gram matrix and links between its objects
//	FitKernelRows    rows, a kernel and links
//	FitSingular      a start W₀ that is singular
//
// A step costs O(d²) for d features, or O(n²) for n objects with links. With more than a few thousand features take
// package iplr; with constraints other than bounds on distances, package ltkernel.
//
// # How it is built
//
// There is one projection loop, over a matrix that gives p = vᵀWv and takes W + β(Wv)(Wv)ᵀ (form). The multipliers
// λ are the state. W is a cache of them, which is made anew now and then, so that round-off does not add up.
//
//   - In input space W is kept in symmetric tiles, and an update waits for the next product: both share one way
//     through memory.
//   - For a kernel of high rank the loop runs on the edges of a spanning forest of the links, short ones first.
//     Other links are short sums of edges, which keeps the digits of small distances. Blocks of steps then change
//     the matrix together, at the speed of a product.
package itml

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/internal/logdet"
	"metriclab/internal/matrix"
	"metriclab/internal/product"
	"metriclab/internal/ranges"
	"metriclab/internal/vector"
	"metriclab/pkg/learners"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
)

// Version changes whenever Fit, FitLabels, FitTuned or FitNearer
// gives other numbers for the same input.
const Version = 1

// Params are the parameters of Fit.
type Params struct {
	// Gamma is the weight γ > 0 of the slacks; 0 means 1, and +Inf that there are
	// none, so that every link is a hard constraint.
	Gamma float64 `range:"> 0, or +Inf" needs:"slack=soft" doc:"price of exceeding a bound"`
	// Upper is u, the largest squared distance wanted of a similar pair, at least 1e-140 and
	// less than Lower; 0 means by Bounds. Both are 0, or neither is.
	Upper float64 `range:"0, or >= 1e-140 and < lower" needs:"rule=given" doc:"largest squared distance wanted of similar pairs; 0 stands for none given"`
	// Lower is ℓ, the smallest squared distance wanted of a dissimilar pair, at most 1e140.
	Lower float64 `range:"0, or > upper and <= 1e140" needs:"rule=given" doc:"smallest squared distance wanted of dissimilar pairs; 0 stands for none given"`
	// Bounds says how u and ℓ follow from the squared distances of pairs.
	Bounds BoundParams
	// W0 is the matrix W₀ to stay close to, d×d and positive definite, a precision (for
	// a singular one see FitSingular);
	// nil means I.
	W0 mat.Symmetric
	// Tol is the tolerance of the stopping rule, > 0; 0 means 0.001.
	Tol float64 `range:"> 0" doc:"relative change of the multipliers over a cycle at which to stop"`
	// MaxCycles is the cap on cycles over the links, at least 1; 0 means those of
	// 100,000 steps, the cap of the program of Davis et al. (2007).
	MaxCycles int `range:"0, or >= 1" name:"cycles" doc:"cap on cycles over the pairs; 0 means those of 100000 steps"`
	// Progress, if not nil, is told of each cycle: Iteration counts cycles, Residual is the
	// change of λ, and Objective is NaN, as it is computed at the end only.
	Progress func(learners.Progress)
}

// maxSteps is the default cap on steps.
const maxSteps = 100_000

// Resolved returns p with its defaults filled in, but for W0 and MaxCycles, whose
// defaults depend on the dimension and on the number of links.
func (p Params) Resolved() Params {
	p.Gamma = cmp.Or(p.Gamma, 1)
	p.Bounds = p.Bounds.Resolved()
	p.Tol = cmp.Or(p.Tol, 1e-3)
	return p
}

func (p Params) check() error {
	if err := ranges.Check("itml", p); err != nil {
		return err
	}
	if err := logdet.CheckGiven("itml", p.Upper, p.Lower); err != nil {
		return err
	}
	return p.Bounds.check()
}

// Result is what Fit returns. Iterations of the Result counts cycles;
// Residual is the change of λ over the last one, as in the stopping rule.
type Result struct {
	learners.MetricResult
	Solution
}

// Solution is what a fit says about its answer, in input space or for a
// kernel.
type Solution struct {
	// Upper and Lower are u and ℓ, as given or by the rule.
	Upper, Lower float64
	// Duals holds λ ≥ 0 of each link, 0 for one that does not bind, and Slacks
	// its ξ: u or ℓ if λ = 0, else u enlarged or ℓ reduced.
	Duals, Slacks []float64
	// KKT is the largest violation of a condition of optimality, without units: of
	// a constraint, δ(p − ξ)/ξ, and of complementarity, λ|p − ξ|. The others hold
	// by construction: W and ξ are made from λ.
	KKT float64
	// Gap is the duality gap, without units: the objective at W and the ξ that are
	// best for it, less the dual objective at λ. It is at least 0, and bounds how far the
	// objective is above its minimum. If γ = ∞ there are no ξ to choose: it is then
	// D(W, W₀) less the dual objective, which is negative where W violates bounds.
	Gap float64
	// Projections counts the steps that moved W.
	Projections int
	// Skipped counts links between duplicates.
	Skipped int
}

// Fit learns the metric that is closest to W₀ in the LogDet divergence
// D(A, B) = tr(AB⁻¹) − log det(AB⁻¹) − d, and brings similar pairs together and
// dissimilar ones apart:
//
//	min over W ≻ 0 and ξ > 0 of D(W, W₀) + γ·D(diag ξ, diag ξ₀)
//	subject to δ(p − ξ) ≤ 0 for each link,  p = vᵀWv,  v = x_i − x_j,
//
// with δ = 1 and ξ₀ = u for a similar link, δ = −1 and ξ₀ = ℓ for a dissimilar one.
// u, ℓ, ξ and p are squared distances. x is n×d, a row per object.
//
// Source: information-theoretic metric learning (ITML), Davis, Kulis, Jain, Sra,
// Dhillon, ICML 2007. The form is that of Jain, Kulis, Davis, Dhillon, Metric and
// Kernel Learning Using a Linear Transformation, JMLR 13, 2012, Eq. 7 and
// Algorithm 1, in input space.
//
// With a multiplier λ ≥ 0 per link, the optimum has
//
//	W⁻¹ = W₀⁻¹ + Σ λδvvᵀ,  1/ξ = 1/ξ₀ − δλ/γ,  λ(p − ξ) = 0,
//
// where the first two make W and ξ minimise the Lagrangian, whose value is then the
// dual objective, log det(I + W₀Σ λδvvᵀ) + γ·Σ log(1 − δλξ₀/γ).
//
// A step is a Bregman projection onto the constraint of one link, the next in a
// cycle over all. Putting λ − α in place of λ keeps the first two equations if 1/p
// and 1/ξ become 1/p − δα and 1/ξ + δα/γ; they are equal for the α on the right of
//
//	α = min(λ, δ·γ/(γ+1)·(1/p − 1/ξ)),
//	β = δα/(1 − δαp),  W ← W + β·Wv(Wv)ᵀ,  ξ ← γξ/(γ + δαξ),  λ ← λ − α.
//
// W stays positive definite without a projection, as 1/p − δα > 0. The fit stops
// when, over a full cycle,
//
//	‖λ − λ_old‖₁/(‖λ‖₂ + ‖λ_old‖₂) < Tol
//
// and the KKT residual is at most 1. Without the second condition a fit far from the
// optimum would stop because λ is large: as it becomes without limit if γ = ∞ and no
// W satisfies all links. Status is learners.Converged then, else
// learners.IterationCap, which is common with a large γ and bounds that classes do
// not meet: cyclic projections are slow there.
//
// A link between duplicates, p ≤ 10⁻¹²·ξ₀ under W₀, is skipped: no matrix moves
// them. A step costs O(d²), the end O(md² + d³) for m links.
//
// Of an x that is a mat.RawRowViewer, Fit asks for the rows of the next link alone, again in each cycle, so that they may lie
// in a file. It copies a *mat.Dense of many features; another such x must not change, and may be asked until a fit that was
// cancelled has ended.
//
// Fit returns an error if
//
//   - there is no link, or a link has label 0 or an index outside x;
//   - an entry of x or W0 is NaN or infinite, or W0 is not d×d and positive definite;
//   - four d×d matrices do not fit limits.Memory, or a squared distance overflows;
//   - a parameter is out of range, u ≥ ℓ, or the rule gives no bounds (see BoundParams.Of);
//   - the links ask for a metric that is singular to working precision, as contradictory ones
//     with γ = ∞ do once λ has grown to some 10¹⁶ times 1/ℓ;
//   - ctx is done.
//
// It panics if x is nil or empty.
//
// The same on a page, without speed: [metriclab/pkg/learners/plain.ITML].
func Fit(ctx context.Context, x mat.Matrix, links []metric.Link, p Params) (Result, error) {
	rows := matrix.RowsFrom(x)
	if rows == nil || min(rows.Dims()) == 0 {
		panic("itml: Fit: x is nil or empty")
	}
	p = p.Resolved()
	if err := p.check(); err != nil {
		return Result{}, err
	}
	if _, d := rows.Dims(); !abandon.Long(d, d, d) {
		return fit(ctx, rows, links, p)
	}
	if xd, ok := rows.(*mat.Dense); ok {
		rows = mat.DenseCopyOf(xd)
	}
	links, p.W0 = slices.Clone(links), copySymmetric(p.W0)
	return abandon.Run(ctx, "itml", p.Progress, func(ctx context.Context, progress func(learners.Progress)) (Result, error) {
		p.Progress = progress
		return fit(ctx, rows, links, p)
	})
}

// copySymmetric returns a copy of a, or a if it is nil or empty.
func copySymmetric(a mat.Symmetric) mat.Symmetric {
	if matrix.IsNil(a) {
		return nil
	}
	if a.SymmetricDim() == 0 { // gonum has no copy of an empty matrix
		return a
	}
	c := mat.NewSymDense(a.SymmetricDim(), nil)
	c.CopySym(a)
	return c
}

// fit is Fit for resolved parameters that have been checked.
func fit(ctx context.Context, x matrix.RowSource, links []metric.Link, p Params) (Result, error) {
	n, _ := x.Dims()
	if err := metric.CheckFinite(x); err != nil {
		return Result{}, fmt.Errorf("itml: %w", err)
	}
	if len(links) == 0 {
		return Result{}, errors.New("itml: links: none given, want at least one")
	}
	if err := metric.CheckLinks(n, links); err != nil {
		return Result{}, fmt.Errorf("itml: %w", err)
	}
	f, err := newInputForm(ctx, x, p.W0)
	if err != nil {
		return Result{}, err
	}
	if p.Upper == 0 {
		if p.Upper, p.Lower, err = p.Bounds.within(ctx, x, links, f.metric()); err != nil {
			return Result{}, err
		}
	}
	l := newLoop(ctx, f, links, p)
	status, err := l.run(p)
	if err != nil {
		return Result{}, err
	}
	return Result{
		MetricResult: learners.MetricResult{Metric: f.metric(), Result: learners.Result{Status: status, Iterations: l.cycles, Residual: l.change}},
		Solution:     l.solution(p),
	}, nil
}

// form is the matrix of the projections, W.
type form interface {
	// ahead says of which links, at most blockLinks, sqDist is called next, in this order; some may be left out.
	ahead(links []metric.Link)
	// sqDist returns p = vᵀWv of the link and keeps Wv.
	sqDist(l metric.Link) float64
	// update sets W to W + β·Wv(Wv)ᵀ for the v of the last sqDist.
	update(beta float64)
	// remake sets W to (W₀⁻¹ + Σ cvvᵀ)⁻¹, c of each link, and reports whether that
	// matrix is positive definite; if not, or if the context is done, nothing has changed.
	remake(links []metric.Link, c []float64) bool
	// exact returns vᵀWv with a small relative error, after a remake.
	exact(l metric.Link) float64
}

// loop is Algorithm 1 on any form.
type loop struct {
	ctx   context.Context
	w     form
	links []metric.Link
	gamma float64

	bound, lambda, xi []float64 // ξ₀, λ, ξ
	skip              []bool    // duplicates; run adds to those that are set before

	cycles, projections, skipped int
	change                       float64
	logdet.Certificate
}

const (
	// duplicate is the share of its bound below which a pair's squared distance is
	// taken for zero. To stretch it further would leave less than 4 digits of W.
	duplicate = 1e-12
)

var errSingular = errors.New("itml: links: they ask for a metric that is singular to working precision, want a smaller gamma or bounds closer to the distances")

func newLoop(ctx context.Context, w form, links []metric.Link, p Params) *loop {
	m := len(links)
	l := &loop{
		ctx: ctx, w: w, links: links, gamma: p.Gamma,
		bound: make([]float64, m), lambda: make([]float64, m), xi: make([]float64, m), skip: make([]bool, m),
	}
	for k, link := range links {
		l.bound[k] = p.Upper
		if link.Label == metric.Dissimilar {
			l.bound[k] = p.Lower
		}
	}
	copy(l.xi, l.bound)
	return l
}

func (l *loop) run(p Params) (learners.Status, error) {
	if p.Upper < logdet.LeastBound || p.Lower > logdet.LargestBound {
		return learners.NotRun, fmt.Errorf("itml: upper: %v and lower: %v are not allowed, want %g to %g: rescale the data", p.Upper, p.Lower, logdet.LeastBound, logdet.LargestBound)
	}
	for k, link := range l.links {
		if err := l.stopped(k); err != nil {
			return learners.NotRun, err
		}
		q := l.w.exact(link)
		if math.IsInf(q, 0) || math.IsNaN(q) {
			return learners.NotRun, fmt.Errorf("itml: link %d: squared distance %v at the start, want a finite number: scale the data down", k, q)
		}
		if l.skip[k] = l.skip[k] || q <= duplicate*l.bound[k]; l.skip[k] {
			l.skipped++
		}
	}
	var err error
	var status learners.Status
	status, l.cycles, l.change, err = logdet.Rule{Tol: p.Tol, MaxCycles: p.MaxCycles, Steps: maxSteps, Progress: p.Progress}.Run(logdet.Loop{
		Lambda: l.lambda, Cycle: l.cycle, Remake: l.remake,
		Projections: func() int { return l.projections },
		Finish:      func() (float64, error) { err := l.finish(); return l.KKT, err },
		Stopped:     func() error { return l.stopped(0) },
	})
	return status, err
}

// looks is the number of links between two looks at the context.
const looks = 16

// stopped looks at the context once in looks links, and returns an error if it is done.
func (l *loop) stopped(link int) error {
	if link%looks != 0 || l.ctx.Err() == nil {
		return nil
	}
	return fmt.Errorf("itml: %w", l.ctx.Err())
}

// singular is the error of a remake that failed.
func (l *loop) singular() error {
	if err := l.stopped(0); err != nil {
		return err
	}
	return errSingular
}

func (l *loop) solution(p Params) Solution {
	return Solution{
		Upper: p.Upper, Lower: p.Lower,
		Duals: l.lambda, Slacks: l.xi,
		KKT: l.KKT, Gap: l.Gap, Projections: l.projections, Skipped: l.skipped,
	}
}

// cycle projects onto the constraint of each link in turn.
func (l *loop) cycle() error {
	share := 1.0 // γ/(γ+1)
	if !math.IsInf(l.gamma, 1) {
		share = l.gamma / (l.gamma + 1)
	}
	for k, link := range l.links {
		if err := l.stopped(k); err != nil {
			return err
		}
		if k%blockLinks == 0 {
			l.w.ahead(l.links[k:min(k+blockLinks, len(l.links))])
		}
		if l.skip[k] {
			continue
		}
		p := l.w.sqDist(link)
		if !(p > 0) { // round-off of the updates
			if !l.remake() {
				return l.singular()
			}
			if p = l.w.sqDist(link); !(p > 0) {
				return errSingular
			}
		}
		delta, xi, lambda := float64(link.Label), l.xi[k], l.lambda[k]
		alpha := delta * share * (1/p - 1/xi)
		var after float64 // p after the step
		switch {
		case alpha < lambda: // p = ξ after the step, their harmonic mean with weights 1 and γ
			after = xi
			if !math.IsInf(l.gamma, 1) {
				after = (l.gamma + 1) * p * xi / (l.gamma*p + xi)
			}
			l.lambda[k], l.xi[k] = lambda-alpha, after
		case lambda > 0: // the constraint no longer binds: α = λ
			after = p / (1 - delta*lambda*p)
			l.lambda[k], l.xi[k] = 0, l.bound[k]
		default:
			continue
		}
		// β as printed would cancel where the step stretches p by much.
		beta := (after/p - 1) / p
		if math.IsInf(beta, 0) || math.IsNaN(beta) {
			return fmt.Errorf("itml: link %d: squared distance %v, which float64 cannot move to %v: rescale the data", k, p, after)
		}
		if beta != 0 {
			l.w.update(beta)
			l.projections++
		}
	}
	return nil
}

// weights returns δλ of each link.
func (l *loop) weights() []float64 {
	c := make([]float64, len(l.links))
	for k, link := range l.links {
		c[k] = float64(link.Label) * l.lambda[k]
	}
	return c
}

// remake makes W and ξ anew from λ, without the round-off of the updates.
func (l *loop) remake() bool {
	c := l.weights()
	if !l.w.remake(l.links, c) {
		return false
	}
	if math.IsInf(l.gamma, 1) {
		return true
	}
	for k := range c {
		if t := 1/l.bound[k] - c[k]/l.gamma; t > 0 {
			l.xi[k] = 1 / t
		}
	}
	return true
}

// finish is remake with the KKT residual and the duality gap of the answer. With ξ(λ),
// and ξ* the best slacks for W, which are feasible, the gap is
//
//	Σ γ(ξ*/ξ − 1 − log(ξ*/ξ)) + λδ(ξ* − p),
//
// by the two conditions that hold, and neither term is negative.
func (l *loop) finish() error {
	if !l.remake() {
		return l.singular()
	}
	l.Certificate = logdet.Certificate{}
	for k, link := range l.links {
		if err := l.stopped(k); err != nil {
			return err
		}
		if l.skip[k] {
			continue
		}
		l.Add(float64(link.Label), l.w.exact(link), l.xi[k], l.lambda[k], l.bound[k], l.gamma)
	}
	return nil
}

// inputForm is W in input space. An update is left for the next product, with which
// it shares the way through memory.
type inputForm struct {
	ctx     context.Context
	x       matrix.RowSource
	inverse *mat.SymDense // W₀⁻¹; nil if it is I
	factor  *mat.Dense    // L, W = LᵀL, since the start or the last remake
	w       *tiles
	v, wv   []float64
	sign    float64 // of the update left, 0 if none is
	s       []float64
}

func newInputForm(ctx context.Context, x matrix.RowSource, w0 mat.Symmetric) (*inputForm, error) {
	_, d := x.Dims()
	if err := limits.Check(fmt.Sprintf("ITML with %d features", d), limits.Floats(4, d, d)); err != nil {
		return nil, fmt.Errorf("itml: %w", err)
	}
	f := &inputForm{ctx: ctx, x: x, w: newTiles(d), v: make([]float64, d), wv: make([]float64, d), s: make([]float64, d)}
	if matrix.IsNil(w0) {
		f.factor = metric.Identity(d).Factor()
		f.w.set(mat.NewDiagDense(d, slices.Repeat([]float64{1}, d)))
		return f, nil
	}
	if n := w0.SymmetricDim(); n != d {
		return nil, fmt.Errorf("itml: w0: %d×%d is not allowed, want %d×%d like the rows", n, n, d, d)
	}
	a := mat.NewSymDense(d, nil)
	a.CopySym(w0)
	for i := range d {
		for j := range i + 1 {
			if t := a.At(i, j); math.IsNaN(t) || math.IsInf(t, 0) {
				return nil, fmt.Errorf("itml: w0: entry (%d, %d) is %v, want a finite number", i, j, t)
			}
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(a) {
		return nil, errors.New("itml: w0: it is not positive definite")
	}
	var u mat.TriDense
	chol.UTo(&u)
	f.factor = mat.DenseCopyOf(&u)
	f.inverse = mat.NewSymDense(d, nil)
	if err := chol.InverseTo(f.inverse); err != nil && chol.Cond() > 1/duplicate {
		return nil, fmt.Errorf("itml: w0: condition number %.3g is not allowed, want at most %g", chol.Cond(), 1/duplicate)
	}
	f.w.set(a)
	return f, nil
}

// metric returns the metric of the start, or of the last remake.
func (f *inputForm) metric() *metric.Mahalanobis { return metric.FromFactor(f.factor) }

func (f *inputForm) diff(l metric.Link) []float64 {
	return metric.Sub(f.v, f.x.RawRowView(l.I), f.x.RawRowView(l.J))
}

func (f *inputForm) ahead([]metric.Link) {}

func (f *inputForm) sqDist(l metric.Link) float64 {
	v := f.diff(l)
	f.w.addMul(f.wv, f.sign, f.s, v)
	f.sign = 0
	return vector.Dot(v, f.wv)
}

func (f *inputForm) update(beta float64) {
	root := math.Sqrt(math.Abs(beta))
	for i, a := range f.wv {
		f.s[i] = root * a
	}
	f.sign = math.Copysign(1, beta)
}

func (f *inputForm) exact(l metric.Link) float64 {
	v := f.diff(l)
	d := len(v)
	product.Gemv(f.wv[:d], f.factor.RawMatrix(), v)
	return vector.Dot(f.wv, f.wv)
}

func (f *inputForm) remake(links []metric.Link, c []float64) bool {
	inv, ok := precisionRoot(f.ctx, f.w.n, f.inverse, func(dst []float64, l metric.Link) []float64 {
		return metric.Sub(dst, f.x.RawRowView(l.I), f.x.RawRowView(l.J))
	}, links, c)
	if !ok {
		return false
	}
	f.factor = mat.DenseCopyOf(inv.T()) // W = R⁻¹R⁻ᵀ = LᵀL with L = R⁻ᵀ
	var w mat.SymDense
	w.SymOuterK(1, inv)
	f.w.set(&w)
	f.sign = 0
	return true
}

// scatterRows is how many links are added to W⁻¹ at a time.
const scatterRows = 256

// precisionRoot returns R⁻¹ of W⁻¹ = RᵀR, R upper triangular, for W⁻¹ = W₀⁻¹ + Σ cvvᵀ
// over links, whose v of length d diff returns in dst; a nil inverse stands for W₀⁻¹ = I. It reports whether
// the matrix is positive definite, and that ctx is not done.
func precisionRoot(ctx context.Context, d int, inverse *mat.SymDense, diff func(dst []float64, l metric.Link) []float64, links []metric.Link, c []float64) (*mat.TriDense, bool) {
	p := mat.NewSymDense(d, nil)
	if inverse != nil {
		p.CopySym(inverse)
	} else {
		for i := range d {
			p.SetSym(i, i, 1)
		}
	}
	v := make([]float64, d)
	block := make([]float64, 0, scatterRows*d)
	for _, sign := range []float64{1, -1} { // a difference of two scatter matrices
		flush := func() {
			if rows := len(block) / d; rows > 0 {
				blas64.Syrk(blas.Trans, sign, blas64.General{Rows: rows, Cols: d, Stride: d, Data: block}, 1, p.RawSymmetric())
			}
			block = block[:0]
		}
		for k, l := range links {
			if c[k]*sign <= 0 {
				continue
			}
			root := math.Sqrt(c[k] * sign)
			for _, a := range diff(v, l) {
				block = append(block, root*a)
			}
			if len(block) == cap(block) {
				flush()
				if ctx.Err() != nil {
					return nil, false
				}
			}
		}
		flush()
	}
	if ctx.Err() != nil {
		return nil, false
	}
	var chol mat.Cholesky
	if !chol.Factorize(p) {
		return nil, false
	}
	var r, inv mat.TriDense
	chol.UTo(&r)
	if err := inv.InverseTri(&r); err != nil {
		if c, ok := errors.AsType[mat.Condition](err); !ok || math.IsInf(float64(c), 1) {
			return nil, false
		}
	}
	return &inv, true
}
