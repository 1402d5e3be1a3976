// Package learners defines what an online learner is and how a batch learner
// answers. The families live below it: pairs (labelled pairs), labels (class
// labels), triplets (relative comparisons), similarity (those of vectors), mapping (assignment costs); so do
// nearest, linear and cluster, which use what was learned.
//
// # Which learner
//
// The feedback decides. The packages, and a first choice in each:
//
//	feedback                           package              first choice
//	labelled pairs, one at a time      pairs                POLA; LEGO if bounds on distances are known
//	a data set and labelled pairs      itml, pairs          itml.Fit; pairs.FitRCA if only similar pairs are known
//	  with very many features          iplr                 iplr.Fit
//	a class per row                    labels, itml, iplr   labels.FitLMNN; itml.FitLabels; iplr.FitLabels if sparse
//	rows alone                         labels               FitPCA; FitLSA if sparse
//	a Gram matrix and bounds           itml, ltkernel       itml.FitKernel; ssikdr for few dimensions
//	"a is more like b than like c"     triplets             NewERKLE online, FitBatch if all answers are there
//	the same, of vectors               similarity           NewOASIS
//	costs of assignments               mapping              NewRMP
//
// Package kernelized runs a learner of rows in the space of a kernel. What was learned serves nearest (classes of new
// rows), cluster and linear. Package catalog has all of them by name. To see what an algorithm does, read package
// plain, which has those of the papers in the fewest lines.
//
// # Online learners
//
// An online learner is a small state machine. In each round it predicts,
// suffers a loss and updates; Step does all three, and its Outcome describes
// the hypothesis held before the update, so that cumulative loss and regret
// are those of the theorems.
//
// # Grammar
//
// A constructor NewX makes the learner X, LoadX(r) reads what its Save(w) wrote, FitX learns in batch.
// Parameters come in one order in every function, as in FitX(ctx, rng, x, links, p):
//
//   - ctx, if the call may take long. Every fit has one; see Progress.
//   - rng, if the call draws: a *rand.Rand, or a *rand.PCG where the learner keeps and saves it.
//   - The data. Matrices have a row per object. What is only read is a mat.Matrix or a
//     mat.Symmetric; a *mat.Dense is read in place. A reader comes before the name of what it reads.
//   - p, a plain struct XParams. Its zero value means the defaults, and Resolved tells them.
//
// A fit that iterates returns a type with a Result inside. Constants begin with what they are of:
// pairs.UpdateAlways is an UpdateRule.
//
// # Errors and panics
//
// What comes from data is an error: a round given to Step, the rows of a batch fit, a
// file, a parameter that a user may type. The error names the field, its value and what
// is allowed, and nothing has changed.
//
// What only the program can do wrong is a panic with a message that begins with the
// name of the package. Constructors and fits panic if a matrix, a kernel, a metric or a
// source of random numbers is nil. Every method panics on a learner that no constructor
// made. Predict and Loss, which return no error, panic if a round is malformed: a vector
// of another length, NaN or infinity in it, an object out of range. Loss also panics on
// a matrix of another shape, and on a label or cost that is not allowed. Package metric
// has checks that return an error instead, such as metric.Pair.CheckVectors.
//
// Predict and Loss never return NaN or infinity. Finite numbers never make them panic:
// where an answer overflows it is math.MaxFloat64, with its sign (see Saturate), and
// PairPrediction.Check returns an error. A Step that meets the same overflow refuses the
// round.
//
// # Matrices
//
// A matrix that is only read is a mat.Matrix. A *mat.Dense is read in place. Of any
// other, such as a transposed view, a copy may be made first: the answer has the bits of
// that for mat.DenseCopyOf. A nil pointer as an argument counts as nil.
package learners

import (
	"errors"
	"io"
	"iter"
	"math"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/enum"
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
	// ignores the label or cost in f, and changes nothing. Its numbers are finite; it
	// panics if f is malformed (see Errors and panics).
	Predict(f F) P
	// Loss returns the loss of the current hypothesis on f, a finite number, and changes
	// nothing. It panics if f is malformed.
	Loss(f F) float64
	// Step predicts, suffers the loss and updates. It keeps no reference to f.
	// If it returns an error, f was invalid and nothing has changed.
	Step(f F) (Outcome[P], error)
}

// Outcome reports one round. Prediction, Loss and Mistake belong to the
// hypothesis held before the update. As JSON it is one object, with the fields that
// `metriclab learn` writes: see MarshalJSON.
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

type (
	// PairOutcome is what Step of a Pair returns.
	PairOutcome = Outcome[PairPrediction]
	// TripletOutcome is what Step of a TripletLearner returns.
	TripletOutcome = Outcome[TripletPrediction]
	// SimilarityOutcome is what Step of a SimilarityLearner returns.
	SimilarityOutcome = Outcome[SimilarityPrediction]
	// MapOutcome is what Step of a MapLearner returns. The prediction is the map: the prototype,
	// from 0 to B−1, of each object.
	MapOutcome = Outcome[[]int]
)

// PairPrediction is what pair learners predict.
type PairPrediction struct {
	SqDist  float64 `json:"sqdist"`  // squared distance under the current metric; finite, see Saturate
	Similar bool    `json:"similar"` // SqDist ≤ threshold
}

var (
	errSqDist     = errors.New("x and y: d² overflows float64: scale the features down")
	errSimilarity = errors.New("a similarity overflows float64: scale the features down")
)

// Check returns an error if the squared distance overflowed, so that its value is only a
// bound: if it is ±math.MaxFloat64, infinite or NaN. A step that would meet this overflow
// is refused with the same error.
func (p PairPrediction) Check() error {
	if !(math.Abs(p.SqDist) < math.MaxFloat64) {
		return errSqDist
	}
	return nil
}

// Saturate returns x if it is finite, ±math.MaxFloat64 if it is infinite, and
// math.MaxFloat64 if it is NaN. Predict and Loss return what overflowed through it.
func Saturate(x float64) float64 {
	switch {
	case math.Abs(x) <= math.MaxFloat64:
		return x
	case x < 0:
		return -math.MaxFloat64
	}
	return math.MaxFloat64
}

// TripletPrediction is what triplet learners predict: two squared distances,
// from A to Near and from A to Far.
type TripletPrediction struct {
	SqNear float64 `json:"sqnear"`
	SqFar  float64 `json:"sqfar"`
}

// SimilarityPrediction is what learners of a similarity predict: that of A to Near, and to Far. The
// larger is the more similar.
type SimilarityPrediction struct {
	SimNear float64 `json:"simnear"`
	SimFar  float64 `json:"simfar"`
}

// Check returns an error if a similarity overflowed, so that its value is only a bound. A step that would meet this overflow is
// refused.
func (p SimilarityPrediction) Check() error {
	if !(math.Abs(p.SimNear) < math.MaxFloat64 && math.Abs(p.SimFar) < math.MaxFloat64) {
		return errSimilarity
	}
	return nil
}

// Pair is an online learner of a squared distance and a threshold from labelled
// pairs.
type Pair interface {
	Online[metric.Pair, PairPrediction]
	// Dim returns the dimension of the vectors.
	Dim() int
	// Threshold returns b: a pair is predicted similar iff d² ≤ b.
	Threshold() float64
	// Save writes the learner in the format of package persist.
	Save(w io.Writer) error
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

// TripletLearner is an online learner of the kernel of a fixed set of objects
// from relative comparisons.
type TripletLearner interface {
	Online[metric.Triplet, TripletPrediction]
	// Objects returns n: objects are numbered from 0 to n−1.
	Objects() int
	// Kernel returns a snapshot of the n×n kernel matrix, which later steps do not
	// change.
	Kernel() mat.Symmetric
	// Save writes the learner in the format of package persist.
	Save(w io.Writer) error
}

// SimilarityLearner is an online learner of a similarity S(x, y) = xᵀWy of vectors from
// relative comparisons.
type SimilarityLearner interface {
	Online[metric.Comparison, SimilarityPrediction]
	// Dim returns the dimension of the vectors.
	Dim() int
	// Matrix returns a snapshot of W, which later steps do not change.
	Matrix() *mat.Dense
	// Save writes the learner in the format of package persist.
	Save(w io.Writer) error
}

// MapLearner is an online learner of a map from A objects to B prototypes; its
// prediction is the prototype, from 0 to B−1, of each object.
type MapLearner interface {
	Online[metric.CostRound, []int]
	// Dims returns A and B, the shape of the cost matrices.
	Dims() (a, b int)
	// LogWeights returns a snapshot of the A×B logarithms of the weights, which later
	// steps do not change.
	LogWeights() mat.Matrix
	// Save writes the learner in the format of package persist.
	Save(w io.Writer) error
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
	// Infeasible: nothing satisfies the constraints, and the fit has a proof of it.
	Infeasible
)

var statusNames = enum.Of[Status]("unknown status %d", "not run", "converged", "closed form", "iteration cap", "no progress", "infeasible")

// String returns the status in words.
func (s Status) String() string { return statusNames.Text(s) }

// Progress says how far a batch fit has come. A fit calls the function Progress of its
// parameters after each iteration, from the caller's goroutine, and goes on when that
// returns. The function changes no bit of the answer. A batch fit takes a context as its first
// argument: once that is done, the fit returns an error that wraps the context's, and no
// answer. It looks at the context in the middle of an iteration too, and does not wait for
// the decomposition or the product of large matrices. Such work goes on with copies of its own
// until it ends by itself, mostly within seconds, and nobody reads its answer.
type Progress struct {
	// Iteration counts the iterations made, from 1; where a fit has several runs, a run that
	// ends early counts as one of its full length. Cap is where the fit ends at the latest.
	Iteration, Cap int
	// Objective is what the fit minimises (or maximises, if its documentation says so), and
	// Residual that of its stopping rule, each as of the last time that the fit looked at it.
	// NaN stands for one that the fit has not computed.
	Objective, Residual float64
}

// Result says how a batch fit that iterates ended. What each such fit returns has one inside.
type Result struct {
	Status     Status
	Iterations int     // as the fit counts them
	Residual   float64 // of the stopping rule, in the units it states; 0 for a closed form
}

// MetricResult is what a batch learner of a metric returns.
type MetricResult struct {
	Result
	Metric *metric.Mahalanobis
}
