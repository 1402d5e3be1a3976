// Package learners defines what an online learner is and how a batch learner
// answers. The families live below it: pairs (labelled pairs), labels (class
// labels), triplets (relative comparisons), mapping (assignment costs); so do
// nearest, linear and cluster, which use what was learned.
//
// An online learner is a small state machine. In each round it predicts,
// suffers a loss and updates; Step does all three, and its Outcome describes
// the hypothesis held before the update, so that cumulative loss and regret
// are those of the theorems.
package learners

import (
	"iter"

	"metriclab/pkg/kernels"
	"metriclab/pkg/metric"
)

// Online is a learner that receives one round of feedback F at a time and
// predicts P. All hypotheses are deterministic between steps: a learner that
// draws does so at construction and at the end of Step, never in Predict.
//
// All methods but Step may be called concurrently, those that save and take snapshots
// too; a kernel or matrix that the caller gave must allow it. No method may be
// called during a Step.
type Online[F, P any] interface {
	// Predict returns the prediction of the current hypothesis for f. It
	// ignores the label or cost in f, and changes nothing.
	Predict(f F) P
	// Loss returns the loss of the current hypothesis on f, and changes nothing.
	Loss(f F) float64
	// Step predicts, suffers the loss and updates. It keeps no reference to f.
	// If it returns an error, f was invalid and nothing has changed.
	Step(f F) (Outcome[P], error)
}

// Outcome reports one round. Prediction, Loss and Mistake belong to the
// hypothesis held before the update.
type Outcome[P any] struct {
	Prediction P
	Loss       float64
	StepSize   float64 // signed length of the update; 0 if there was none
	Mistake    bool    // the prediction was wrong, by the learner's own rule
	Updated    bool    // the hypothesis changed
	// Projections counts the eigenpairs that the update removed to return to
	// the positive semi-definite cone.
	Projections int
}

// PairPrediction is what pair learners predict.
type PairPrediction struct {
	SqDist  float64 // squared distance under the current metric
	Similar bool    // SqDist ≤ threshold
}

// TripletPrediction is what triplet learners predict: two squared distances,
// from A to Near and from A to Far.
type TripletPrediction struct{ SqNear, SqFar float64 }

// Pair is an online learner of a squared distance and a threshold from labelled
// pairs.
type Pair interface {
	Online[metric.Pair, PairPrediction]
	// Dim returns the dimension of the vectors.
	Dim() int
	// Threshold returns b: a pair is predicted similar iff d² ≤ b.
	Threshold() float64
}

// PairMetric is a Pair whose squared distance is that of a Mahalanobis metric. A
// kernel learner, whose distance has no matrix, is a PairKernel instead.
type PairMetric interface {
	Pair
	// Metric returns a snapshot of the metric, always positive semi-definite,
	// which later steps do not change.
	Metric() *metric.Mahalanobis
}

// PairKernel is a Pair whose squared distance is one between images under a
// kernel's feature map.
type PairKernel interface {
	Pair
	// KernelMetric returns a snapshot of the metric, which later steps do not
	// change.
	KernelMetric() *kernels.Metric
}

// Run feeds rounds to l and yields each outcome. It stops at the first error,
// yielding it last.
func Run[F, P any](l Online[F, P], rounds iter.Seq[F]) iter.Seq2[Outcome[P], error] {
	return func(yield func(Outcome[P], error) bool) {
		for f := range rounds {
			o, err := l.Step(f)
			if !yield(o, err) || err != nil {
				return
			}
		}
	}
}

// Status says why a batch fit stopped.
type Status int

const (
	// NotRun is the zero value: no fit has been made.
	NotRun Status = iota
	// Converged: the stated residual fell below the stated tolerance.
	Converged
	// Closed: the answer is in closed form; no iteration was needed.
	Closed
	// IterationCap: the cap on iterations was reached first.
	IterationCap
	// NoProgress: no step improved the objective, and the residual is above
	// the tolerance.
	NoProgress
)

// String returns the status in words.
func (s Status) String() string {
	switch s {
	case NotRun:
		return "not run"
	case Converged:
		return "converged"
	case Closed:
		return "closed form"
	case IterationCap:
		return "iteration cap"
	case NoProgress:
		return "no progress"
	}
	return "unknown status"
}

// Progress says how far a batch fit has come. A fit calls the function Progress of its
// parameters after each iteration, from the caller's goroutine, and goes on when that
// returns. The function changes no bit of the answer. A batch fit takes a context as its first
// argument: once that is done, the fit returns an error that wraps the context's, and no
// answer. It looks at the context in the middle of an iteration too, but never in the middle of
// the decomposition of one matrix.
type Progress struct {
	// Iteration counts the iterations made, from 1; where a fit has several runs, a run that
	// ends early counts as one of its full length. Cap is where the fit ends at the latest.
	Iteration, Cap int
	// Objective is what the fit minimises (or maximises, if its documentation says so), and
	// Residual that of its stopping rule, each as of the last time that the fit looked at it.
	// NaN stands for one that the fit has not computed.
	Objective, Residual float64
}

// Result is what a batch learner of a metric returns.
type Result struct {
	Metric     *metric.Mahalanobis
	Status     Status
	Iterations int
	Residual   float64 // of the stopping rule, in the units it states; 0 for a closed form
}
