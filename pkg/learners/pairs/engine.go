// Package pairs holds learners of a Mahalanobis metric from labelled pairs.
//
// A pair of vectors is labelled similar or dissimilar. What is learned is M ⪰ 0, with squared distance
// (x − y)ᵀM(x − y), and for most learners a threshold that separates the two kinds.
//
// # Which learner
//
//	POLA           one pair at a time; no rate to choose; bounds on the loss
//	PA             its relatives with a weight C: PAI and PAII forgive noisy labels, PALS aims at exact distances
//	LEGO           one pair at a time, with known bounds on the distances of both kinds; M is never singular
//	KernelPOLA     POLA under a kernel, where no metric of the vectors separates the pairs; stores vectors
//	RecurringPA    PA on pairs of few vectors that come again and again
//	FitBatchPOLA   all pairs at once, until none has a loss above β
//	FitMMC         all pairs at once: dissimilar ones far apart, in the few directions that do it best
//	FitRCA         similar pairs alone, in closed form: the first to try
//
// If all pairs are there from the start and a rate may be tuned, package itml is the usual choice. Online learners cost
// O(d) to O(d²) per pair and hold O(d²) numbers however long the stream is, kernels apart.
//
// # How they relate
//
// The online learners are one engine with different parts. A rate rule says how
// far one pair moves the hypothesis. A form says how the matrix is kept, and so
// when it is projected back onto the positive semi-definite cone. The others are
// a start threshold, and coordinates: of the vectors, or of their images under a
// kernel's feature map in a basis that grows (chart).
//
// # How it is built
//
// State is the cheapest exact representation, not a dense matrix by habit. A form keeps A = UCUᵀ, with orthonormal
// U and a core C whose order is the rank. From order 13 on it also keeps a resolvent of C, in which it finds the
// one eigenvalue that an update makes negative.
//
// A kernel learner is the same engine in coordinates that grow: an orthonormal basis of the span of the images of
// the points stored, built by Gram–Schmidt on kernel values.
//
// A learner that projects only at the end keeps its form deferred. Predict, Matrix and Threshold are then the
// running hypothesis, Metric and Final the projected one.
package pairs

import (
	"fmt"
	"math"

	"metriclab/internal/vector"
	"metriclab/pkg/learners"
	"metriclab/pkg/metric"
)

// minThreshold is the smallest admissible b: below it a similar pair has a
// positive loss even at distance zero (Shalev-Shwartz et al. 2004, Section 3).
const minThreshold = 1

// rate is a rate rule: it returns τ, the signed step along (−y·vvᵀ, y), from
// the slack 1 + y(d² − b), of which the hinge loss is the positive part, and
// from ‖v‖⁴. No update is made if τ = 0.
type rate func(slack, norm4 float64) float64

const (
	// mostGrowth bounds what one step adds to the trace of the matrix and to the
	// threshold, so that neither overflows.
	mostGrowth = 1e290
	// leastNormal: a smaller ‖v‖² has lost digits, and counts as 0; so does the size of
	// a step.
	leastNormal = metric.LeastNormal
)

// engine is an online pair learner: hypothesis (A, b), one rank-one step per
// pair,
//
//	v = x − y,  A ← A − y·τ·vvᵀ,  b ← b + y·τ,
//
// then A projected onto the cone by the form and b onto [1, ∞), unless the form
// is deferred. Vectors are given by their coordinates: step, predict and loss take
// x and y for theirs; advance takes those of v.
type engine struct {
	name   string // prefix of errors
	length string // ‖v‖, as errors write it
	rate   rate
	// features is the length of the points that a kernel learner stores.
	features int
	// twoSided: the loss is |1 + y(d² − b)|, zero only at the ideal distance;
	// otherwise it is the hinge loss, the positive part.
	twoSided bool
	b        float64
	a        *form
	v        []float64 // v of the last step
	// change is the factor of vvᵀ that the last step added to A before the
	// projection; 0 if A did not change.
	change float64
}

func newEngine(name string, dim int, r rate, b float64) engine {
	return engine{name: name, length: "‖x−y‖", rate: r, b: b, a: newForm(dim)}
}

// stackDim is the dimension up to which Predict and Loss use an array on the
// stack, so that they neither allocate nor share memory.
const stackDim = 64

func (e *engine) sqDist(f metric.Pair) float64 {
	var buf [stackDim]float64
	v := buf[:]
	if e.a.dim > stackDim {
		v = make([]float64, e.a.dim)
	}
	v = metric.Sub(v[:e.a.dim], f.X, f.Y)
	return e.a.sqNorm(v)
}

// demand panics, with the learner's name, if err is not nil.
func demand(name string, err error) {
	if err != nil {
		panic(fmt.Sprintf("pairs: %s: %v", name, err))
	}
}

func (e *engine) predict(f metric.Pair) learners.PairPrediction {
	demand(e.name, f.CheckVectors(e.a.dim))
	return e.prediction(learners.Saturate(e.sqDist(f)))
}

func (e *engine) loss(f metric.Pair) float64 {
	demand(e.name, f.CheckLabel())
	demand(e.name, f.CheckVectors(e.a.dim))
	return learners.Saturate(e.lossAt(learners.Saturate(e.sqDist(f)), f.Label))
}

func (e *engine) prediction(sq float64) learners.PairPrediction {
	return learners.PairPrediction{SqDist: sq, Similar: sq <= e.b}
}

// hinge returns the hinge loss at squared distance sq.
func (e *engine) hinge(sq float64, label metric.Label) float64 {
	return math.Max(0, e.slack(sq, label))
}

// lossAt returns the learner's loss at squared distance sq.
func (e *engine) lossAt(sq float64, label metric.Label) float64 {
	if e.twoSided {
		return math.Abs(e.slack(sq, label))
	}
	return e.hinge(sq, label)
}

func (e *engine) slack(sq float64, label metric.Label) float64 {
	return 1 + float64(label)*(sq-e.b)
}

func (e *engine) step(f metric.Pair) (learners.PairOutcome, error) {
	e.change = 0
	if err := f.Check(e.a.dim); err != nil {
		return learners.PairOutcome{}, fmt.Errorf("%s: %w", e.name, err)
	}
	e.v = fit(e.v, e.a.dim)
	return e.advance(metric.Sub(e.v, f.X, f.Y), f.Label)
}

// advance is step for the coordinates v, which it keeps for lastChange. Entries
// of v past the dimension of the form are along further axes, by which the form
// grows if the update needs them.
func (e *engine) advance(v []float64, label metric.Label) (learners.PairOutcome, error) {
	return e.update(e.a.look(v[:e.a.dim]), v, label)
}

// plan returns the outcome of update before anything changes, ‖v‖², and the signed
// size −y·τ‖v‖² of the term to be added to A, which is 0 if A stays as it is. It
// returns an error if a number overflows, or if A would not fit limits.Memory.
func (e *engine) plan(q float64, v []float64, label metric.Label) (o learners.PairOutcome, norm2, size float64, err error) {
	norm2 = vector.Dot(v, v)
	norm4 := norm2 * norm2
	if !(norm4 <= math.MaxFloat64) {
		return o, 0, 0, fmt.Errorf("%s: x and y: %s⁴ = %v, want a finite number: scale the features down", e.name, e.length, norm4)
	}
	now := e.outcome(q, norm4, label)
	if err := now.Prediction.Check(); err != nil {
		return o, 0, 0, fmt.Errorf("%s: %w", e.name, err)
	}
	size = -now.StepSize * norm2
	if err := e.checkGrowth(now, q, max(math.Abs(size), math.Abs(now.StepSize))); err != nil {
		return o, 0, 0, err
	}
	if norm2 < leastNormal || math.Abs(size) < leastNormal {
		size = 0
	}
	if size != 0 {
		if err := e.a.checkRoom(len(v), e.features); err != nil {
			return o, 0, 0, fmt.Errorf("%s: %w", e.name, err)
		}
	}
	return now, norm2, size, nil
}

// checkGrowth returns an error unless the loss and the growth that an outcome asks for
// are in range.
func (e *engine) checkGrowth(o learners.PairOutcome, q, growth float64) error {
	if math.IsInf(o.Loss, 0) {
		return fmt.Errorf("%s: x and y: loss %v at d² = %v and threshold %v, want a finite number: scale the features, or start nearer to 0", e.name, o.Loss, q, e.b)
	}
	if !(growth <= mostGrowth) {
		return fmt.Errorf("%s: x and y: the step would change the matrix or the threshold by %v at d² = %v and threshold %v, want at most %g: scale the features, or start nearer to 0", e.name, growth, q, e.b, float64(mostGrowth))
	}
	return nil
}

// update is advance after q = look(v).
func (e *engine) update(q float64, v []float64, label metric.Label) (learners.PairOutcome, error) {
	e.v, e.change = v, 0
	o, norm2, size, err := e.plan(q, v, label)
	if err != nil || o.StepSize == 0 {
		return o, err
	}
	if size != 0 {
		c := -o.StepSize
		if len(v) > e.a.dim && (c > 0 || !e.a.zero()) {
			e.a.grow(len(v) - e.a.dim)
		}
		if o.Projections = e.a.add(v[:e.a.dim], norm2, c); e.a.changed {
			e.change = c
		}
	}
	b := e.b + o.StepSize
	if !e.a.deferred {
		b = math.Max(b, minThreshold)
	}
	o.Updated = size != 0 || b != e.b
	e.b = b
	return o, nil
}

// outcome returns what a step on a pair at squared distance q reports before the
// update is made; its StepSize is y·τ.
func (e *engine) outcome(q, norm4 float64, label metric.Label) learners.PairOutcome {
	o := learners.PairOutcome{Prediction: e.prediction(q), Loss: e.lossAt(q, label)}
	o.Mistake = o.Prediction.Similar != (label == metric.Similar)
	if tau := e.rate(e.slack(q, label), norm4); tau != 0 {
		o.StepSize = float64(label) * tau
	}
	return o
}

// lastChange returns the terms of the last step's change of A: −y·τ·vvᵀ, and
// s·ppᵀ if an eigenpair (−s, p) was removed.
func (e *engine) lastChange() []metric.RankOne {
	if e.change == 0 {
		return nil
	}
	terms := []metric.RankOne{{C: e.change, V: e.v}}
	if e.a.removed > 0 {
		terms = append(terms, metric.RankOne{C: e.a.removed, V: e.a.removedVector()})
	}
	return terms
}
