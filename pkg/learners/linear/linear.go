// Package linear has linear classifiers of two classes: online (Perceptron, PAUM) and in
// batch (Ridge, which is a regression too, SVM, and KernelSVM on a Gram matrix), the elimination of features (RFE), and a
// test of linear separability. A row is an object.
//
// # Which one
//
//	FitSVM                      most problems; dual certificate of how good the answer is
//	FitKernelSVM                the same on a Gram matrix
//	FitRidge                    regression, or very fast and all regularisations at once
//	NewPerceptron, NewPAUM      one example at a time; PAUM has a margin of its own for the rarer class
//	FitRFE                      which features matter
//	LinearlySeparable           whether a hyperplane separates the classes at all
package linear

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"metriclab/pkg/learners"
	"metriclab/pkg/learners/classify"
	"metriclab/pkg/limits"
	"metriclab/pkg/persist"
)

// linear is an online linear classifier with margins: hypothesis (w, b) from
// (0, 0),
//
//	score = w·x + b;  if y·score ≤ τ_y:  w ← w + η·y·x,  b ← b + η·y·R².
//
// In R^(d+1) with x̃ = (x, R) and w̃ = (w, b/R) this is the rule without bias:
// score = w̃·x̃, w̃ ← w̃ + η·y·x̃.
type linear struct {
	name     string // prefix of errors
	w        []float64
	b        float64
	positive float64 // τ₊₁
	negative float64 // τ₋₁
	eta      float64
	r2       float64   // R²
	next     []float64 // scratch of step
}

func newLinear(name string, dim int, positive, negative, eta, r2 float64) (linear, error) {
	if dim < 1 {
		return linear{}, fmt.Errorf("%s: dim: %d is not allowed, want at least 1", name, dim)
	}
	if err := limits.Check(fmt.Sprintf("%s with %d features", name, dim), limits.Floats(2, dim)); err != nil {
		return linear{}, fmt.Errorf("%s: dim: %w", name, err)
	}
	return linear{
		name: name, w: make([]float64, dim), next: make([]float64, dim),
		positive: positive, negative: negative, eta: eta, r2: r2,
	}, nil
}

// score returns w·x + b, which may overflow.
func (l *linear) score(x []float64) float64 { return floats.Dot(l.w, x) + l.b }

// predict returns the prediction for x, with the score as finiteScore has it.
func (l *linear) predict(x []float64) classify.Prediction {
	demand(l.name, classify.CheckVector(x, len(l.w)))
	return classify.PredictionOf(finiteScore(l.w, x, l.b))
}

// finiteScore returns w·x + b, ±math.MaxFloat64 where that overflows; where only sums on
// the way do, it adds up w and x divided by powers of two.
func finiteScore(w, x []float64, b float64) float64 {
	if s := floats.Dot(w, x) + b; finite(s) {
		return s
	}
	const down = 0x1p-530
	var s float64 // of terms below 2^988
	for i, a := range x {
		s += (w[i] * down) * (a * down)
	}
	return learners.Saturate((s + b*down*down) / down / down)
}

func (l *linear) loss(f classify.Example) float64 {
	demand(l.name, f.CheckLabel())
	return learners.Saturate(l.lossAt(f.Label, l.predict(f.X).Score))
}

func (l *linear) lossAt(y classify.Label, score float64) float64 {
	return math.Max(0, l.margin(y)-float64(y)*score)
}

func (l *linear) margin(y classify.Label) float64 {
	if y == classify.Positive {
		return l.positive
	}
	return l.negative
}

func (l *linear) step(f classify.Example) (learners.Outcome[classify.Prediction], error) {
	var o learners.Outcome[classify.Prediction]
	if err := f.Check(len(l.w)); err != nil {
		return o, fmt.Errorf("%s: %w", l.name, err)
	}
	score, sq := l.score(f.X), floats.Dot(f.X, f.X)
	loss := l.lossAt(f.Label, score)
	if !finite(score) || !finite(sq) || !finite(loss) {
		return o, fmt.Errorf("%s: x: score %v and ‖x‖² = %v, want finite numbers: scale the features down", l.name, score, sq)
	}
	y := float64(f.Label)
	if y*score <= l.margin(f.Label) {
		o.StepSize = l.eta * y
		o.Updated = true
		b := l.b + o.StepSize*l.r2
		floats.AddScaledTo(l.next, l.w, o.StepSize, f.X)
		if !finite(b) || !finite(floats.Norm(l.next, math.Inf(1))) {
			return learners.Outcome[classify.Prediction]{}, fmt.Errorf("%s: x: the weights overflow: scale the features down", l.name)
		}
		l.w, l.next, l.b = l.next, l.w, b
	}
	o.Prediction = classify.PredictionOf(score)
	o.Mistake = o.Prediction.Positive != (f.Label == classify.Positive)
	o.Loss = loss
	return o, nil
}

func finite(a float64) bool { return !math.IsNaN(a) && !math.IsInf(a, 0) }

// linearState is what the linear classifiers save beside their parameters.
type linearState struct {
	Weights persist.Floats `json:"weights"`
	Bias    float64        `json:"bias"`
}

func (l *linear) state() linearState { return linearState{l.w, l.b} }

// restore sets (w, b) to those of s, whose weights have the right length.
func (l *linear) restore(s linearState) error {
	if !finite(floats.Norm(s.Weights, math.Inf(1))) {
		return errors.New("NaN or Inf in the weights") // the bias is a JSON number, and so finite
	}
	l.w, l.b = s.Weights, s.Bias
	return nil
}

// demand panics, with the learner's name, if err is not nil.
func demand(name string, err error) {
	if err != nil {
		panic(fmt.Sprintf("linear: %s: %v", name, err))
	}
}
