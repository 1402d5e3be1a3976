package pairs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/internal/enum"
	"metriclab/internal/matrix"
	"metriclab/internal/ranges"
	"metriclab/internal/vector"
	"metriclab/pkg/learners"
	"metriclab/pkg/metric"
)

// BatchPOLAVersion counts the changes of the values that FitBatchPOLA computes.
const BatchPOLAVersion = 1

// BatchReading says what one iteration of batch POLA is. The paper's "invokes POLA
// multiple times so long as there exists an example whose hinge loss exceeds β"
// allows both; its bound on the number is proved for BatchViolations.
type BatchReading int

const (
	// BatchPasses: one step on each pair, in the order of the links.
	BatchPasses BatchReading = iota
	// BatchViolations: one step, on the pair of the largest loss, of those with the
	// same loss the first.
	BatchViolations
)

var readingNames = enum.Of[BatchReading]("unknown reading %d", "passes", "violations")

// String returns "passes" or "violations".
func (r BatchReading) String() string { return readingNames.Text(r) }

// BatchPOLAParams are the parameters of FitBatchPOLA.
type BatchPOLAParams struct {
	POLAParams
	// Beta is the convergence parameter β > 0: the largest hinge loss of a pair
	// that is accepted. 0 means 0.1.
	Beta float64 `json:"beta" range:"> 0" doc:"largest hinge loss of a pair that is accepted"`
	// Reading is what an iteration is. The default is BatchPasses.
	Reading BatchReading `json:"reading" words:"passes|violations" doc:"an iteration is a pass over the pairs, or a step on the pair of the largest loss"`
	// MaxIterations is the cap, at least 1; 0 means 1,000 passes, or 1,000 steps
	// of BatchViolations per link.
	MaxIterations int `json:"max_iterations" range:"0, or >= 1" name:"iterations" default:"0" doc:"cap on iterations; 0 means 1000 passes, or 1000 steps per pair"`
	// Progress, if not nil, is told of each iteration, with the largest hinge loss before it
	// as Residual; Objective is NaN, as there is none.
	Progress func(learners.Progress) `json:"-"`
}

// maxPasses is the default cap on passes, and on steps per link.
const maxPasses = 1000

// Resolved returns p with its defaults filled in, but for the MaxIterations of
// BatchViolations, which depends on the number of links.
func (p BatchPOLAParams) Resolved() BatchPOLAParams {
	p.POLAParams = p.POLAParams.Resolved()
	p.Beta = cmp.Or(p.Beta, 0.1)
	if p.Reading == BatchPasses {
		p.MaxIterations = cmp.Or(p.MaxIterations, maxPasses)
	}
	return p
}

func (p BatchPOLAParams) check() error {
	const name = "pola-batch"
	if p.Reading != BatchPasses && p.Reading != BatchViolations {
		return fmt.Errorf("%s: reading: %d is not allowed, want BatchPasses or BatchViolations", name, int(p.Reading))
	}
	if err := ranges.Check(name, p); err != nil {
		return err
	}
	return p.POLAParams.check(name)
}

// BatchPOLA is what FitBatchPOLA returns. Iterations of the Result counts passes
// or steps, by the Reading; Residual is the largest hinge loss of a pair under the
// metric and the threshold.
type BatchPOLA struct {
	learners.MetricResult
	Threshold float64 // b: two points are similar iff d² ≤ b
	Updates   int     // steps that changed the hypothesis
	// Learner is POLA after the last step: with Save it keeps metric and
	// threshold, and with Step it goes on online.
	Learner *POLA
}

// FitBatchPOLA repeats POLA on the pairs of rows of x that links name, from A = 0
// and b = b₁, until
//
//	max over the pairs of max(0, y(d² − b) + 1) ≤ β
//
// and returns the last hypothesis. Source: Shalev-Shwartz, Singer, Ng, Online and
// Batch Learning of Pseudo-Metrics, ICML 2004, Section 6. x is n×d, a row per
// object.
//
// If some (A*, b*) with A* ⪰ 0 and b* ≥ 1 has no loss on any of the m pairs, and
// R ≥ ‖x−x'‖⁴ + 1 for all, then with γ = 0 there are at most
//
//	R(‖A*‖² + (b* − b₁)²)/β²
//
// iterations of BatchViolations, as the paper says, and 2m times as many of BatchPasses,
// for which the paper's number is not proved. Status is learners.Converged then.
// Otherwise it may be learners.IterationCap, or learners.NoProgress if steps have
// stopped to change the hypothesis (a row that is dissimilar to itself).
//
// With r the rank of A, a pass costs O(m·r·d) and a step of BatchViolations O(m·d) more
// than a step of POLA. FitBatchPOLA returns an error if there is no link, a link
// has label 0 or an index outside x, an entry of x is not finite, a squared distance
// overflows, a parameter is out of range, or ctx is done. It panics if x is nil or
// empty.
//
// The same in 30 lines: [metriclab/pkg/learners/plain.BatchPOLA] and [metriclab/pkg/learners/plain.BatchPOLAPasses].
func FitBatchPOLA(ctx context.Context, x mat.Matrix, links []metric.Link, p BatchPOLAParams) (BatchPOLA, error) {
	xd := matrix.Dense(x)
	if xd == nil || xd.IsEmpty() {
		panic("pairs: FitBatchPOLA: x is nil or empty")
	}
	n, d := xd.Dims()
	p = p.Resolved()
	if err := p.check(); err != nil {
		return BatchPOLA{}, err
	}
	if err := metric.CheckFinite(xd); err != nil {
		return BatchPOLA{}, fmt.Errorf("pola-batch: %w", err)
	}
	if len(links) == 0 {
		return BatchPOLA{}, errors.New("pola-batch: links: none given, want at least one")
	}
	if err := metric.CheckLinks(n, links); err != nil {
		return BatchPOLA{}, fmt.Errorf("pola-batch: %w", err)
	}
	if !abandon.Long(d, d, d) {
		return fitBatchPOLA(ctx, xd, links, p)
	}
	xd, links = mat.DenseCopyOf(xd), slices.Clone(links)
	return abandon.Run(ctx, "pola-batch", p.Progress, func(ctx context.Context, progress func(learners.Progress)) (BatchPOLA, error) {
		p.Progress = progress
		return fitBatchPOLA(ctx, xd, links, p)
	})
}

// fitBatchPOLA is FitBatchPOLA for resolved parameters and input that has been checked.
func fitBatchPOLA(ctx context.Context, x *mat.Dense, links []metric.Link, p BatchPOLAParams) (BatchPOLA, error) {
	_, d := x.Dims()
	l, err := NewPOLA(d, p.POLAParams)
	if err != nil {
		return BatchPOLA{}, err
	}
	f := &batch{ctx: ctx, progress: p.Progress, l: l, pairs: make([]metric.Pair, len(links)), sq: make([]float64, len(links))}
	v := make([]float64, d)
	for k, link := range links {
		f.pairs[k] = metric.Pair{X: x.RawRowView(link.I), Y: x.RawRowView(link.J), Label: link.Label}
		metric.Sub(v, f.pairs[k].X, f.pairs[k].Y)
		if norm2 := vector.Dot(v, v); !(norm2 <= math.MaxFloat64) { // its loss may be NaN, which is never the largest
			return BatchPOLA{}, fmt.Errorf("pola-batch: link %d: ‖x−y‖² = %v, want a finite number: scale the features down", k, norm2)
		}
	}
	var status learners.Status
	if p.Reading == BatchPasses {
		status, err = f.passes(p.Beta, p.MaxIterations)
	} else {
		status, err = f.violations(p.Beta, cmp.Or(p.MaxIterations, maxPasses*len(links)))
	}
	if err != nil {
		return BatchPOLA{}, err
	}
	if err := ctx.Err(); err != nil {
		return BatchPOLA{}, fmt.Errorf("pola-batch: %w", err)
	}
	k, residual := f.worst()
	if math.IsInf(residual, 0) {
		return BatchPOLA{}, fmt.Errorf("pola-batch: link %d: loss %v under the last metric, want a finite number: scale the features down", k, residual)
	}
	return BatchPOLA{
		MetricResult: learners.MetricResult{Metric: l.Metric(), Result: learners.Result{Status: status, Iterations: f.iterations, Residual: residual}},
		Threshold:    l.Threshold(),
		Updates:      f.updates,
		Learner:      l,
	}, nil
}

// batch is the state of a fit.
type batch struct {
	ctx                 context.Context
	progress            func(learners.Progress)
	l                   *POLA
	pairs               []metric.Pair
	sq                  []float64 // squared distance of each pair
	iterations, updates int
}

// measure sets all squared distances, unless the context is done.
func (f *batch) measure() {
	for k, p := range f.pairs {
		if f.ctx.Err() != nil {
			return
		}
		f.sq[k] = f.l.Predict(p).SqDist
	}
}

// worst returns the first pair of the largest loss.
func (f *batch) worst() (worst int, loss float64) {
	for k, p := range f.pairs {
		if a := f.l.e.hinge(f.sq[k], p.Label); a > loss {
			worst, loss = k, a
		}
	}
	return worst, loss
}

// report tells of the iteration that was made, before which the largest loss was as given.
func (f *batch) report(loss float64, most int) {
	if f.progress != nil {
		f.progress(learners.Progress{Iteration: f.iterations, Cap: most, Objective: math.NaN(), Residual: loss})
	}
}

// step makes a step on pair k and reports whether it changed the hypothesis.
func (f *batch) step(k int) (bool, error) {
	if err := f.ctx.Err(); err != nil {
		return false, fmt.Errorf("pola-batch: %w", err)
	}
	o, err := f.l.Step(f.pairs[k])
	if err != nil {
		return false, fmt.Errorf("pola-batch: link %d: %w", k, err)
	}
	if o.Updated {
		f.updates++
	}
	return o.Updated, nil
}

func (f *batch) passes(beta float64, most int) (learners.Status, error) {
	for {
		f.measure()
		_, loss := f.worst()
		if loss <= beta {
			return learners.Converged, nil
		}
		if f.iterations == most {
			return learners.IterationCap, nil
		}
		before := f.updates
		for k := range f.pairs {
			if _, err := f.step(k); err != nil {
				return learners.NotRun, err
			}
		}
		f.iterations++
		f.report(loss, most)
		if f.updates == before {
			return learners.NoProgress, nil
		}
	}
}

// remeasure is the number of steps over which squared distances follow the
// changes of A before they are measured again. It bounds what following leaves
// out, some 1e-11 of each change (see POLA.LastChange). The decision to stop is
// always made on distances just measured.
const remeasure = 256

func (f *batch) violations(beta float64, most int) (learners.Status, error) {
	diffs := mat.NewDense(len(f.pairs), f.l.Dim(), nil)
	for k, p := range f.pairs {
		metric.Sub(diffs.RawRowView(k), p.X, p.Y)
	}
	f.measure()
	for age := 0; ; { // steps since the last measurement
		k, loss := f.worst()
		stop := loss <= beta || f.iterations == most
		switch {
		case age > 0 && (stop || age == remeasure):
			f.measure()
			age = 0
			continue
		case stop && loss <= beta:
			return learners.Converged, nil
		case stop:
			return learners.IterationCap, nil
		}
		changed, err := f.step(k)
		if err != nil {
			return learners.NotRun, err
		}
		f.iterations++
		f.report(loss, most)
		if !changed && age == 0 {
			return learners.NoProgress, nil
		}
		age++
		for _, r := range f.l.LastChange() {
			for i := range f.sq {
				c := vector.Dot(r.V, diffs.RawRowView(i))
				f.sq[i] += r.C * c * c
			}
		}
	}
}
