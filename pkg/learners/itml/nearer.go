package itml

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/internal/matrix"
	"metriclab/internal/product"
	"metriclab/internal/ranges"
	"metriclab/internal/vector"
	"metriclab/pkg/learners"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
)

// NearerParams are the parameters of FitNearer.
type NearerParams struct {
	// Margin is by how much the farther squared distance is to exceed the nearer one; 0 means 1.
	Margin float64 `range:"> 0" doc:"by how much the farther squared distance is to exceed the nearer one"`
	// C is the weight of the slacks; 0 means 1.
	C float64 `range:"> 0" doc:"weight of the slacks: half of it for each squared violation"`
	// Tol is the largest duality gap at the end, as a share of the objective; 0 means 0.001.
	Tol float64 `range:"> 0" doc:"stop when no comparison is violated by more than this share of the margin"`
	// MaxCycles is the cap on cycles over the comparisons, at least 1; 0 means 100.
	MaxCycles int `range:"0, or >= 1" doc:"cap on cycles over the comparisons"`
	// Progress, if not nil, is told of each cycle: Residual is the duality gap as a share
	// of the Objective, both as of the last cycle over all comparisons.
	Progress func(learners.Progress)
}

// Resolved returns p with its defaults filled in.
func (p NearerParams) Resolved() NearerParams {
	p.Margin, p.C = cmp.Or(p.Margin, 1), cmp.Or(p.C, 1)
	p.Tol, p.MaxCycles = cmp.Or(p.Tol, 1e-3), cmp.Or(p.MaxCycles, 100)
	return p
}

// NearerResult is what FitNearer returns. Iterations counts cycles.
type NearerResult struct {
	learners.Result
	// Metric is W as the identity but for the span of the differences that are
	// compared, if that is smaller than the space; else it is nil, and Full is W.
	Metric *metric.LowRank
	Full   *metric.Mahalanobis
	// Duals holds λ ≥ 0 of each comparison, 0 for one that does not bind.
	Duals []float64
	// Objective is that of FitNearer, and Gap the duality gap: it bounds how far the
	// objective is above its minimum. Residual of the Result is Gap/Objective.
	Objective, Gap float64
	// KKT is the largest violation of a condition of optimality, as a share of Margin.
	KKT float64
}

// FitNearer learns the metric closest to the Euclidean one, in LogDet divergence, that
// agrees with relative comparisons:
//
//	min over W ≻ 0 and s ≥ 0 of D(W, I) + (C/2)·Σs²
//	subject to uᵀWu + Margin ≤ vᵀWv + s,  u = x_a − x_near,  v = x_a − x_far,
//
// D(W, I) = tr W − log det W − d. x is n×d, a row per object of ts.
//
// Source: the problem is that of Jain, Kulis, Davis, Dhillon, Metric and Kernel Learning
// Using a Linear Transformation, JMLR 13, 2012, Section 4, for relative constraints.
// Davis, Kulis, Jain, Sra, Dhillon, Information-Theoretic Metric Learning, ICML 2007,
// name these in Section 3. In general ltkernel.Fit solves it. Here it is solved by ascent
// in one multiplier at a time. With λ ≥ 0 per comparison the optimum has
//
//	W⁻¹ = I + Σλ(uuᵀ − vvᵀ),  s = λ/C,
//
// and a step takes λ + δ for the δ ≥ −λ at which the comparison holds with equality. With
// a = uᵀWu, b = vᵀWv, c = uᵀWv and Δ = ab − c² this is the root of
//
//	(a − b − 2δΔ)/(1 + δ(a − b) − δ²Δ) + Margin − (λ + δ)/C,
//
// which falls where the denominator is positive. W changes by a matrix of rank 2 and stays
// positive definite without a projection. A step costs O(d²), and its d is that of the
// span of the differences if that is smaller.
//
// The fit stops when the duality gap is at most Tol times the objective: Status is then
// learners.Converged, else learners.IterationCap. Cycles over the comparisons that bind
// come between those over all.
//
// FitNearer returns an error if there is no comparison, or one whose objects are not three
// rows of x, if an entry of x is NaN or infinite, or if a squared distance overflows. It
// also does if three d×d matrices do not fit limits.Memory, a parameter is out of range, the
// comparisons ask for a metric that is singular to working precision, or ctx is done. It
// panics if x is nil or empty.
func FitNearer(ctx context.Context, x mat.Matrix, ts []metric.Triplet, p NearerParams) (NearerResult, error) {
	xd := matrix.Given("itml: FitNearer: x", x)
	p = p.Resolved()
	if err := ranges.Check("itml", p); err != nil {
		return NearerResult{}, err
	}
	if err := metric.CheckFinite(xd); err != nil {
		return NearerResult{}, fmt.Errorf("itml: %w", err)
	}
	n, d := xd.Dims()
	if len(ts) == 0 {
		return NearerResult{}, errors.New("itml: no comparison, want at least one")
	}
	for i, t := range ts {
		if t.A < 0 || t.Near < 0 || t.Far < 0 || t.A >= n || t.Near >= n || t.Far >= n || t.A == t.Near || t.A == t.Far || t.Near == t.Far {
			return NearerResult{}, fmt.Errorf("itml: comparison %d of %d, %d and %d: want three rows of 0 to %d", i, t.A, t.Near, t.Far, n-1)
		}
	}
	if err := limits.Check(fmt.Sprintf("matrices of %d features", min(n, d)), limits.Floats(3, min(n, d), min(n, d))+limits.Floats(2, n, min(n, d))); err != nil {
		return NearerResult{}, fmt.Errorf("itml: %w", err)
	}
	xd = mat.DenseCopyOf(xd)
	return abandon.Run(ctx, "itml", p.Progress, func(ctx context.Context, progress func(learners.Progress)) (NearerResult, error) {
		p.Progress = progress
		return fitNearer(ctx, xd, ts, p)
	})
}

// fitNearer is FitNearer for what has been checked.
func fitNearer(ctx context.Context, x *mat.Dense, ts []metric.Triplet, p NearerParams) (NearerResult, error) {
	basis, err := spanOf(ctx, x)
	if err != nil {
		return NearerResult{}, err
	}
	if basis != nil {
		x = matrix.Mul(x, basis.T())
	}
	f := &nearer{ctx: ctx, x: x, ts: ts, p: p, lambda: make([]float64, len(ts))}
	if err := f.start(); err != nil {
		return NearerResult{}, err
	}
	r := NearerResult{Duals: f.lambda}
	r.Status, err = f.run(&r)
	if err != nil {
		return NearerResult{}, err
	}
	w, err := metric.NewMahalanobis(f.symmetric())
	if err != nil {
		return NearerResult{}, fmt.Errorf("itml: %w", err)
	}
	if basis == nil {
		r.Full = w
		return r, nil
	}
	if r.Metric, err = metric.NewLowRank(basis, w.Factor()); err != nil {
		return NearerResult{}, fmt.Errorf("itml: %w", err)
	}
	return r, nil
}

// spanOf returns an orthonormal basis, as rows, of what the rows of x span about the first
// of them, or nil if that is no smaller than the space.
func spanOf(ctx context.Context, x *mat.Dense) (*mat.Dense, error) {
	n, d := x.Dims()
	if n-1 >= d || n == 1 {
		return nil, nil
	}
	diffs := mat.NewDense(d, n-1, nil) // a column per other row
	for i := 1; i < n; i++ {
		if i%looks == 0 && ctx.Err() != nil {
			return nil, fmt.Errorf("itml: %w", ctx.Err())
		}
		for j := range d {
			diffs.Set(j, i-1, x.At(i, j)-x.At(0, j))
		}
	}
	var qr mat.QR
	qr.Factorize(diffs)
	var q mat.Dense
	qr.QTo(&q)
	return mat.DenseCopyOf(q.Slice(0, d, 0, n-1).T()), nil // duplicates only make it larger than needed
}

// nearer is the state of a fit.
type nearer struct {
	ctx    context.Context
	x      *mat.Dense
	ts     []metric.Triplet
	p      NearerParams
	lambda []float64
	w      *mat.Dense // W, both halves
	logDet float64    // of W⁻¹
	steps  int        // since W was made

	u, v, wu, wv []float64
	abc          [3]float64 // uᵀWu, vᵀWv, uᵀWv of the last look
}

func (f *nearer) start() error {
	_, d := f.x.Dims()
	f.u, f.v, f.wu, f.wv = make([]float64, d), make([]float64, d), make([]float64, d), make([]float64, d)
	f.w = mat.NewDense(d, d, nil)
	for i := range d {
		f.w.Set(i, i, 1)
	}
	for i, t := range f.ts {
		if err := f.stopped(i); err != nil {
			return err
		}
		for _, j := range []int{t.Near, t.Far} {
			if q := (metric.Euclidean{}).SqDist(f.x.RawRowView(t.A), f.x.RawRowView(j)); !(q*q <= math.MaxFloat64) {
				return fmt.Errorf("itml: comparison %d: squared distance %v, whose square is to be finite: scale the vectors down", i, q)
			}
		}
	}
	return nil
}

func (f *nearer) stopped(i int) error {
	if i%looks != 0 || f.ctx.Err() == nil {
		return nil
	}
	return fmt.Errorf("itml: %w", f.ctx.Err())
}

// remakeAfter is the number of steps over which W follows λ by updates.
const remakeAfter = 1 << 15

// run makes cycles until the gap is small, and sets what r says of the answer.
func (f *nearer) run(r *NearerResult) (learners.Status, error) {
	all := make([]int, len(f.ts))
	for i := range all {
		all[i] = i
	}
	var bound []int
	for r.Iterations < f.p.MaxCycles {
		worst, err := f.cycle(all)
		if err != nil {
			return learners.NotRun, err
		}
		r.Iterations++
		if err := f.certify(r); err != nil {
			return learners.NotRun, err
		}
		f.told(r)
		if r.Gap <= f.p.Tol*r.Objective {
			// W has followed λ by updates: the answer is made from λ itself.
			if err := cmp.Or(f.remake(), f.certify(r)); err != nil {
				return learners.NotRun, err
			}
			if r.Gap <= f.p.Tol*r.Objective {
				return learners.Converged, nil
			}
		}
		// Where most comparisons do not bind, cycles over the others alone are cheap.
		bound = bound[:0]
		for i, l := range f.lambda {
			if l > 0 {
				bound = append(bound, i)
			}
		}
		const least = 0.1 // of what the cycle over all has met
		for range boundCycles {
			if r.Iterations == f.p.MaxCycles || 2*len(bound) > len(f.ts) {
				break
			}
			inner, err := f.cycle(bound)
			if err != nil {
				return learners.NotRun, err
			}
			r.Iterations++
			f.told(r)
			if inner <= least*worst {
				break
			}
		}
	}
	if err := cmp.Or(f.remake(), f.certify(r)); err != nil {
		return learners.NotRun, err
	}
	if r.Gap <= f.p.Tol*r.Objective {
		return learners.Converged, nil
	}
	return learners.IterationCap, nil
}

// boundCycles is the largest number of cycles over the comparisons that bind between two
// over all.
const boundCycles = 10

func (f *nearer) told(r *NearerResult) {
	if f.p.Progress != nil {
		f.p.Progress(learners.Progress{Iteration: r.Iterations, Cap: f.p.MaxCycles, Objective: r.Objective, Residual: r.Residual})
	}
}

// cycle takes a step in each of some multipliers and returns the largest violation that
// it met, as a share of the margin.
func (f *nearer) cycle(which []int) (worst float64, err error) {
	for k, i := range which {
		if err := f.stopped(k); err != nil {
			return 0, err
		}
		excess := f.look(i)
		lambda := f.lambda[i]
		violation := excess + f.p.Margin - lambda/f.p.C
		if lambda == 0 && violation <= 0 {
			continue
		}
		worst = math.Max(worst, math.Abs(violation)/f.p.Margin)
		delta := f.root(lambda)
		if delta == 0 {
			continue
		}
		f.lambda[i] = lambda + delta
		f.move(delta)
		if f.steps++; f.steps == remakeAfter {
			if err := f.remake(); err != nil {
				return 0, err
			}
		}
	}
	return worst, nil
}

// look computes what is known of a comparison under W, and returns uᵀWu − vᵀWv.
func (f *nearer) look(i int) float64 {
	t := f.ts[i]
	metric.Sub(f.u, f.x.RawRowView(t.A), f.x.RawRowView(t.Near))
	metric.Sub(f.v, f.x.RawRowView(t.A), f.x.RawRowView(t.Far))
	for j := range f.wu {
		row := f.w.RawRowView(j)
		f.wu[j], f.wv[j] = vector.Dot(row, f.u), vector.Dot(row, f.v)
	}
	f.abc = [3]float64{vector.Dot(f.u, f.wu), vector.Dot(f.v, f.wv), vector.Dot(f.u, f.wv)}
	return f.abc[0] - f.abc[1]
}

// root returns the step δ in the multiplier of the comparison of the last look.
func (f *nearer) root(lambda float64) float64 {
	a, b, c := f.abc[0], f.abc[1], f.abc[2]
	first, second := a-b, math.Max(0, a*b-c*c) // det = 1 + δ·first − δ²·second
	value := func(delta float64) float64 {
		det := 1 + delta*(first-delta*second)
		return (first-2*delta*second)/det + f.p.Margin - (lambda+delta)/f.p.C
	}
	lo, hi := ends(first, second)
	if lo < -lambda {
		if value(-lambda) <= 0 {
			return -lambda
		}
		lo = -lambda
	}
	// At δ = C(Margin + |first|) the last term outweighs the others where these stay.
	hi = math.Min(hi, f.p.C*(f.p.Margin+math.Abs(first)))
	if value(0) > 0 {
		lo = 0
	} else {
		hi = 0
	}
	const halvings = 200 // of which 60 exhaust the digits of a number, and the others its scale
	for range halvings {
		mid := lo + (hi-lo)/2
		if mid == lo || mid == hi {
			break
		}
		if value(mid) > 0 {
			lo = mid
		} else {
			hi = mid
		}
		if hi-lo <= 1e-14*math.Max(math.Abs(lo), math.Abs(hi)) {
			break
		}
	}
	return lo
}

// ends returns the interval about 0 in which 1 + δ·first − δ²·second > 0, a little smaller.
func ends(first, second float64) (lo, hi float64) {
	lo, hi = math.Inf(-1), math.Inf(1)
	switch {
	case second > 0:
		// The roots of δ²·second − δ·first − 1, the one without cancellation first.
		large := (first + math.Copysign(math.Sqrt(first*first+4*second), first)) / 2
		x, y := large/second, -1/large
		lo, hi = math.Min(x, y), math.Max(x, y)
	case first > 0:
		lo = -1 / first
	case first < 0:
		hi = -1 / first
	}
	const within = 1 - 1e-9
	return lo * within, hi * within
}

// move sets W to (W⁻¹ + δ(uuᵀ − vvᵀ))⁻¹ for the comparison of the last look.
func (f *nearer) move(delta float64) {
	a, b, c := f.abc[0], f.abc[1], f.abc[2]
	det := 1 + delta*(a-b) - delta*delta*(a*b-c*c)
	f.logDet += math.Log(det)
	uu, uv, vv := (delta-delta*delta*b)/det, delta*delta*c/det, -(delta+delta*delta*a)/det
	for i := range f.wu {
		row := f.w.RawRowView(i)
		product.AddScaled(row, -(uu*f.wu[i] + uv*f.wv[i]), f.wu)
		product.AddScaled(row, -(uv*f.wu[i] + vv*f.wv[i]), f.wv)
	}
}

// remake makes W anew from λ.
func (f *nearer) remake() error {
	d := len(f.u)
	inverse := mat.NewSymDense(d, nil)
	for i := range d {
		inverse.SetSym(i, i, 1)
	}
	// Σλ(uuᵀ − vvᵀ) = XᵀSX, with S a sum of Laplacians of single edges.
	n, _ := f.x.Dims()
	s := map[int]map[int]float64{}
	add := func(i, j int, l float64) {
		for _, e := range [][2]int{{i, i}, {i, j}, {j, i}, {j, j}} {
			if s[e[0]] == nil {
				s[e[0]] = map[int]float64{}
			}
			if e[0] == e[1] {
				s[e[0]][e[1]] += l
			} else {
				s[e[0]][e[1]] -= l
			}
		}
	}
	for i, t := range f.ts {
		if l := f.lambda[i]; l != 0 {
			add(t.A, t.Near, l)
			add(t.A, t.Far, -l)
		}
	}
	sx := mat.NewDense(n, d, nil)
	for i := range n {
		if err := f.stopped(i); err != nil {
			return err
		}
		for _, j := range slices.Sorted(maps.Keys(s[i])) { // sums in a map's order would differ from run to run
			product.AddScaled(sx.RawRowView(i), s[i][j], f.x.RawRowView(j))
		}
	}
	inverse.AddSym(inverse, matrix.Symmetric(matrix.Mul(f.x.T(), sx)))
	var chol mat.Cholesky
	if !chol.Factorize(inverse) {
		return errors.New("itml: comparisons: they ask for a metric that is singular to working precision, want a smaller c or margin")
	}
	var w mat.SymDense
	if err := chol.InverseTo(&w); err != nil {
		return fmt.Errorf("itml: comparisons: they ask for a metric that is singular to working precision, want a smaller c or margin: %w", err)
	}
	f.w.Copy(&w)
	f.logDet, f.steps = chol.LogDet(), 0
	return nil
}

// symmetric is W as a symmetric matrix.
func (f *nearer) symmetric() *mat.SymDense { return matrix.Symmetric(f.w) }

// certify sets Objective, Gap, Residual and KKT.
func (f *nearer) certify(r *NearerResult) error {
	// log det W⁻¹ stands in both the objective and its bound.
	above := mat.Trace(f.w) - float64(len(f.u))
	var below float64
	r.KKT = 0
	for i, lambda := range f.lambda {
		if err := f.stopped(i); err != nil {
			return err
		}
		excess := f.look(i) + f.p.Margin
		slack := math.Max(0, excess)
		above += f.p.C / 2 * slack * slack
		below += f.p.Margin*lambda - lambda*lambda/(2*f.p.C)
		violation := excess - lambda/f.p.C
		if lambda > 0 {
			violation = math.Abs(violation)
		}
		r.KKT = math.Max(r.KKT, violation/f.p.Margin)
	}
	r.Objective, r.Gap = above+f.logDet, math.Max(0, above-below)
	r.Residual = 0
	if r.Gap > 0 {
		r.Residual = r.Gap / r.Objective
	}
	return nil
}
