package triplets

import (
	"context"
	"errors"
	"math"
	"slices"

	"metriclab/pkg/learners"
	"metriclab/pkg/metric"
)

const (
	// smoothing is ε of the hinge's envelope in units of the margin. By loosening times the error
	// of the descent may exceed that of smoothing when the multipliers move. Both are by
	// experiment, on n = 100 and 10,000 triplets.
	smoothing, loosening = 0.3, 20
	// growth is what a step grows by from one iteration to the next, without momentum slowGrowth; a
	// projection is wasted when it has become too long.
	growth, slowGrowth = 1.1, 1.2
	// sharpen is how far above Tol a residual by the cheap bound is worth computing the eigenvalue
	// it bounds, every sharpenEvery iterations; with BatchFactored, whose bounds are rarer,
	// sharpenFactored.
	sharpen, sharpenEvery = 10, 10
	sharpenFactored       = 100
	// mostBacktracks shortens a step by 0.7^60 < 1e-9 at least.
	mostBacktracks = 60
)

// point is a kernel with the squared distances of the triplets under it.
type point struct {
	k, near, far []float64
	spectra      [][]float64 // of each block of k, the eigenvalues that are not negligible; nil: unknown
	smooth       float64     // what descends: F, with envelopes in place of hinges
	objective    float64     // F
}

// batchFit is the state of a fit.
type batchFit struct {
	*layout
	ctx       context.Context
	p         BatchParams
	loss      batchLoss
	projector *projector
	definite  []bool // of each block: the last projection removed nothing

	now, next, best *point
	kept            *point // a copy of the best, once it is not now
	before, ahead   *point // with momentum: the point before, and where it leads
	at              *point // where the gradient is taken: now or ahead
	wn, wf          []float64
	g, diag         []float64
	step, momentum  float64
	long            bool // a step has been too long
	iterations      int
	reported        int      // the last iteration that report told of
	bound           bound    // of the last gradient, or of BatchFactored the best if the loss is convex
	factors         *factors // of BatchFactored
}

// bound is what a gradient says of the minimum: F ≥ value − R·slope over kernels of trace at most
// R. exact says that slope is −λ_min, and not above it.
type bound struct {
	value, slope float64
	exact        bool
}

func newBatchFit(ctx context.Context, n int, ts []metric.Triplet, p BatchParams) *batchFit {
	l := newLayout(n, p.Initial, ts)
	f := &batchFit{
		layout: l, ctx: ctx, p: p, projector: newProjector(l.largest), definite: make([]bool, len(l.blocks)),
		loss: batchLoss{loss: p.Loss, margin: p.Margin, mu: p.Mu},
		wn:   make([]float64, len(ts)), wf: make([]float64, len(ts)), g: make([]float64, l.size), diag: make([]float64, n),
		momentum: 1, step: p.Delta,
	}
	for i := range f.definite {
		f.definite[i] = true
	}
	f.now, f.next = f.newPoint(), f.newPoint()
	f.fill(f.now.k, p.Initial)
	f.sqDists(f.now.near, f.now.far, f.now.k, f.diag)
	if p.Method != BatchFixed {
		f.step = f.firstStep()
		if p.Loss == GNMDS {
			f.loss.epsilon = smoothing * p.Margin
			if p.Method == BatchFactored {
				f.loss.epsilon = smoothingFactored * p.Margin
			}
			f.loss.c = make([]float64, len(ts))
		}
	}
	if p.Method == BatchFactored {
		f.factors = newFactors(l)
		f.bound.exact = true // F ≥ 0
	}
	if p.Method == BatchAccelerated {
		f.before, f.ahead = f.newPoint(), f.newPoint()
	}
	f.now.smooth = f.loss.smooth(f.now.near, f.now.far, nil, nil) + p.Tau*f.trace(f.now.k)
	f.finish(f.now)
	f.best = f.now
	return f
}

func (f *batchFit) newPoint() *point {
	m := len(f.refs)
	return &point{k: make([]float64, f.size), near: make([]float64, m), far: make([]float64, m)}
}

// copyFrom makes q a copy of o.
func (q *point) copyFrom(o *point) {
	copy(q.k, o.k)
	copy(q.near, o.near)
	copy(q.far, o.far)
	q.spectra = slices.Clone(o.spectra)
	q.smooth, q.objective = o.smooth, o.objective
}

// firstStep returns the inverse of the largest number of triplets of one object, those where it is
// A twice: short enough for most losses, and doubled until it is too long.
func (f *batchFit) firstStep() float64 {
	clear(f.diag)
	most := 0.0
	for _, r := range f.refs {
		f.diag[r.a] += 2
		f.diag[r.near]++
		f.diag[r.far]++
		most = max(most, f.diag[r.a], f.diag[r.near], f.diag[r.far])
	}
	return 1 / most
}

// finish sets the objective of q, whose smooth is known.
func (f *batchFit) finish(q *point) {
	q.objective = q.smooth
	if f.loss.epsilon > 0 {
		q.objective = f.p.Tau*f.trace(q.k) + f.loss.hinges(q.near, q.far)
	}
}

// report tells of the iteration that was made last, if one was.
func (f *batchFit) report() {
	if f.p.Progress != nil && f.iterations > f.reported {
		f.reported = f.iterations
		residual := f.residual()
		if f.factors != nil && f.p.Loss == CKL { // a bound on F linearised elsewhere
			residual = f.factors.residual
		}
		f.p.Progress(learners.Progress{Iteration: f.iterations, Cap: f.p.Iterations, Objective: f.best.objective, Residual: residual})
	}
}

// run descends until the residual is small or the iterations are spent.
func (f *batchFit) run() (learners.Status, error) {
	status, err := f.iterate()
	if err == nil {
		f.report()
		err = f.ctx.Err()
	}
	return status, err
}

// iterate is run without a report of the last iteration.
func (f *batchFit) iterate() (learners.Status, error) {
	for f.iterations < f.p.Iterations {
		f.report()
		if err := f.ctx.Err(); err != nil {
			return learners.NotRun, err
		}
		f.iterations++
		f.look()
		at := f.loss.smooth(f.at.near, f.at.far, f.wn, f.wf)
		f.gradient(f.g, f.wn, f.wf, f.diag, f.p.Tau)
		moved, curved, ok := f.descend(at)
		if err := f.ctx.Err(); err != nil {
			return learners.NotRun, err
		}
		if !ok {
			return f.end(learners.NoProgress), nil
		}
		f.finish(f.next)
		if math.IsNaN(f.next.objective) || math.IsInf(f.next.objective, 0) {
			return learners.NotRun, errors.New("the objective overflows: shorten the step, or rescale the parameters and the initial kernel")
		}
		kept := f.bound
		inexact := f.bind(f.next, moved/f.step, curved)
		if f.p.Method == BatchFixed {
			f.now, f.next = f.next, f.now
			f.best = f.now
			continue
		}
		if f.at != f.now && f.next.smooth > f.now.smooth { // momentum leads uphill: without it from now
			f.momentum = 1
			continue
		}
		uphill := f.at != f.now && f.turns()
		f.advance()
		residual := f.residual()
		if f.factors != nil {
			if residual > f.p.Tol && residual <= sharpenFactored*f.p.Tol {
				f.sharpen()
			}
			f.choose(kept)
			residual = f.residual()
			f.factors.residual = residual
		} else if residual > f.p.Tol && residual <= sharpen*f.p.Tol && f.iterations%sharpenEvery == 0 {
			f.sharpen()
			residual = f.residual()
		}
		if residual <= f.p.Tol {
			return learners.Converged, nil
		}
		if f.factors != nil {
			if err := f.leg(); err != nil {
				return learners.NotRun, err
			}
			continue
		}
		if f.p.Loss == GNMDS && f.bound.slope*f.radius() <= loosening*inexact {
			f.loss.move(f.now.near, f.now.far)
			f.now.smooth = f.loss.smooth(f.now.near, f.now.far, nil, nil) + f.p.Tau*f.trace(f.now.k)
			uphill = true
		}
		if uphill {
			f.momentum = 1
		}
	}
	if f.p.Method == BatchFixed {
		return learners.IterationCap, nil
	}
	if f.factors == nil {
		f.sharpen()
	}
	return f.end(learners.IterationCap), nil
}

// end returns status, or learners.Converged if the residual is small enough. With BatchFactored the last
// gradient may be as old as the last projection, and it takes another one.
func (f *batchFit) end(status learners.Status) learners.Status {
	if f.factors != nil {
		f.certify()
	} else if status == learners.NoProgress {
		return status
	}
	if f.residual() <= f.p.Tol {
		return learners.Converged
	}
	return status
}

// look sets at to the point where the next gradient is taken: now, or beyond it.
func (f *batchFit) look() {
	f.at = f.now
	if f.p.Method != BatchAccelerated {
		return
	}
	m := (1 + math.Sqrt(1+4*f.momentum*f.momentum)) / 2
	beta := (f.momentum - 1) / m
	f.momentum = m
	if beta == 0 {
		return
	}
	extrapolate(f.ahead.near, f.now.near, f.before.near, beta)
	extrapolate(f.ahead.far, f.now.far, f.before.far, beta)
	if f.p.Loss == CKL && (negative(f.ahead.near) || negative(f.ahead.far)) { // outside of the domain
		f.momentum = 1
		return
	}
	extrapolate(f.ahead.k, f.now.k, f.before.k, beta)
	f.at = f.ahead
}

// extrapolate sets dst to now + β(now − before).
func extrapolate(dst, now, before []float64, beta float64) {
	for i, v := range now {
		dst[i] = v + beta*(v-before[i])
	}
}

func negative(x []float64) bool {
	for _, v := range x {
		if v < 0 {
			return true
		}
	}
	return false
}

// descend sets next to the projection of at − s·gradient with a step s short enough for
//
//	f(next) ≤ f(at) + ⟨∇f(at), next − at⟩ + ‖next − at‖²/(2s),
//
// f the smooth sum of losses, which at is, and returns ‖next − at‖_F and f(next) − f(at) − ⟨∇f(at),
// next − at⟩. It reports whether there is such a step.
func (f *batchFit) descend(at float64) (moved, curved float64, ok bool) {
	switch {
	case f.p.Method == BatchFixed:
	case !f.long:
		f.step *= 2
	case f.p.Method != BatchAccelerated:
		f.step *= slowGrowth
	default:
		f.step *= growth
	}
	f.step = min(f.step, MaxStep) // where nothing is curved
	for range mostBacktracks {
		if f.ctx.Err() != nil {
			break
		}
		for i, v := range f.at.k {
			f.next.k[i] = v - f.step*f.g[i]
		}
		f.project(f.next)
		f.sqDists(f.next.near, f.next.far, f.next.k, f.diag)
		var sq float64
		for i, v := range f.next.k {
			d := v - f.at.k[i]
			sq += 2 * d * d
		}
		for _, d := range f.diagonal {
			e := f.next.k[d] - f.at.k[d]
			sq -= e * e
		}
		value := f.loss.smooth(f.next.near, f.next.far, nil, nil)
		f.next.smooth = value + f.p.Tau*f.trace(f.next.k)
		curved = value - at
		for t, w := range f.wn {
			curved -= w*(f.next.near[t]-f.at.near[t]) + f.wf[t]*(f.next.far[t]-f.at.far[t])
		}
		// The values are known up to round-off, which decides near the minimum.
		roundoff := 1e-13 * math.Abs(at)
		if f.p.Method == BatchFixed || curved <= sq/(2*f.step)+roundoff {
			return math.Sqrt(sq), max(0, curved), true
		}
		f.long = true
		f.step *= min(0.7, max(0.1, 0.9*sq/(2*curved*f.step)))
	}
	return 0, 0, false
}

// project projects q.k, block by block.
func (f *batchFit) project(q *point) {
	q.spectra = make([][]float64, len(f.blocks))
	for i, b := range f.blocks {
		if f.ctx.Err() != nil {
			return
		}
		m := len(b.objects)
		values, removed := f.projector.project(q.k[b.first:b.first+m*m], m, f.definite[i])
		f.definite[i] = removed == 0
		q.spectra[i] = slices.Clone(values)
	}
}

// bind sets the bound that the last gradient gives, and returns its distance from F(q) but for
// the eigenvalue: Σ l + l* − αD, by Fenchel and Young ≥ 0. For a smooth loss that is curved, and
// for CKL it is not counted. If q is the projection of at − s·M, the gradient M = τI + ΣαG satisfies
//
//	s·M = N − (q − at),  N ⪰ 0
//
// the part that the projection removed, hence λ_min(M) ≥ −slope = −‖q − at‖/s.
func (f *batchFit) bind(q *point, slope, curved float64) (inexact float64) {
	linear := f.p.Tau * f.trace(q.k) // ⟨M, q⟩
	for t, w := range f.wn {
		linear += w*q.near[t] + f.wf[t]*q.far[t]
	}
	switch f.p.Loss {
	case GNMDS:
		for t, w := range f.wn {
			x := q.near[t] - q.far[t] + f.p.Margin
			inexact += max(0, x) - w*x
		}
	case STE:
		inexact = curved
	}
	f.bound = bound{value: q.objective - inexact - linear, slope: slope}
	return inexact
}

// sharpen makes the bound exact.
func (f *batchFit) sharpen() {
	if f.bound.exact {
		return
	}
	least := 0.0
	for _, b := range f.blocks {
		m := len(b.objects)
		least = min(least, f.projector.eigenvalues(f.g[b.first:b.first+m*m], m)[0])
	}
	f.bound.slope, f.bound.exact = -least, true
}

// choose makes the best one of three the bound: that of the last gradient; with multiples cα of its weights and the
// largest c ≤ 1 for which τI + cΣαG ⪰ 0, which holds whatever the trace; and kept. CKL, whose bound
// is of the last linearisation, has no choice.
func (f *batchFit) choose(kept bound) {
	if f.p.Loss == CKL {
		return
	}
	c := 1.0
	if f.bound.slope > 0 {
		c = f.p.Tau / (f.p.Tau + f.bound.slope)
	}
	for _, b := range []bound{{value: f.loss.conjugate(f.wn, c), exact: true}, kept} {
		if f.lower(b) > f.lower(f.bound) {
			f.bound = b
		}
	}
}

// certify takes the gradient at now, and the best bound.
func (f *batchFit) certify() {
	kept := f.bound
	f.loss.smooth(f.now.near, f.now.far, f.wn, f.wf)
	f.gradient(f.g, f.wn, f.wf, f.diag, f.p.Tau)
	f.bind(f.now, math.Inf(1), 0)
	f.sharpen()
	f.choose(kept)
	f.factors.residual = f.residual()
}

// turns reports whether ⟨at − next, next − now⟩ > 0: whether the step turns back from where the
// momentum went.
func (f *batchFit) turns() bool {
	var sum float64
	for i, v := range f.next.k {
		sum += 2 * (f.at.k[i] - v) * (v - f.now.k[i])
	}
	for _, d := range f.diagonal {
		v := f.next.k[d]
		sum -= (f.at.k[d] - v) * (v - f.now.k[d])
	}
	return sum > 0
}

// advance makes next the point now, and best if it is.
func (f *batchFit) advance() {
	better := f.next.objective <= f.best.objective
	if f.best == f.now && !better { // the least hinges are those of the last point
		if f.kept == nil {
			f.kept = f.newPoint()
		}
		f.kept.copyFrom(f.now)
		f.best = f.kept
	}
	if f.before == nil {
		f.now, f.next = f.next, f.now
	} else {
		f.before, f.now, f.next = f.now, f.next, f.before
	}
	if better {
		f.best = f.now
	}
}

// radius returns the R of the residual.
func (f *batchFit) radius() float64 {
	return max(float64(len(f.diagonal)), 2*f.trace(f.best.k), 2*f.trace(f.now.k))
}

// lower returns the bound on F that b is.
func (f *batchFit) lower(b bound) float64 { return b.value - f.radius()*b.slope }

// residual returns how far the best F is above the bound, in units of F(0).
func (f *batchFit) residual() float64 {
	zero := float64(len(f.refs)) * f.loss.zero()
	return max(0, f.best.objective-f.bound.value+f.radius()*f.bound.slope) / zero
}

// rank is Rank of q.
func (f *batchFit) rank(q *point) int {
	var values []float64
	for i, b := range f.blocks {
		if q.spectra != nil && q.spectra[i] != nil {
			values = append(values, q.spectra[i]...)
			continue
		}
		m := len(b.objects)
		values = append(values, f.projector.eigenvalues(q.k[b.first:b.first+m*m], m)...)
	}
	return rank(values, RankTolerance)
}
