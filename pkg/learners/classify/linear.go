package classify

import (
	"errors"
	"fmt"
	"io"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners"
	"metriclab/pkg/limits"
	"metriclab/pkg/persist"
)

// Label is the class of an example. Its zero value is invalid, so that a
// forgotten label is an error and not a class.
type Label int8

const (
	Negative Label = -1
	Positive Label = +1
)

// LabelOf returns Positive if positive is true, and Negative otherwise.
func LabelOf(positive bool) Label {
	if positive {
		return Positive
	}
	return Negative
}

// Valid reports whether l is Positive or Negative.
func (l Label) Valid() bool { return l == Positive || l == Negative }

// String returns "positive", "negative" or "invalid label n".
func (l Label) String() string {
	switch l {
	case Positive:
		return "positive"
	case Negative:
		return "negative"
	}
	return fmt.Sprintf("invalid label %d", int8(l))
}

// Example is one round of an online classifier: a vector and its class.
type Example struct {
	X     []float64
	Label Label
}

// Check returns an error unless e is a valid round for a classifier of
// dim-dimensional vectors: X of length dim, every entry finite, the label
// Positive or Negative. The error names field, index and value.
func (e Example) Check(dim int) error {
	if !e.Label.Valid() {
		return fmt.Errorf("label: %d is not allowed, want 1 (positive) or -1 (negative)", int8(e.Label))
	}
	if len(e.X) != dim {
		return fmt.Errorf("x: has %d numbers, want %d", len(e.X), dim)
	}
	for i, a := range e.X {
		if math.IsNaN(a) || math.IsInf(a, 0) {
			return fmt.Errorf("x[%d]: %v is not allowed, want a finite number", i, a)
		}
	}
	return nil
}

// Prediction is what online classifiers predict.
type Prediction struct {
	Score    float64 // the larger, the more positive
	Positive bool    // Score > 0
}

func predicted(score float64) Prediction { return Prediction{score, score > 0} }

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

func (l *linear) score(x []float64) float64 {
	if len(x) != len(l.w) {
		panic(mat.ErrShape)
	}
	return floats.Dot(l.w, x) + l.b
}

func (l *linear) loss(f Example) float64 { return l.lossAt(f.Label, l.score(f.X)) }

func (l *linear) lossAt(y Label, score float64) float64 {
	return math.Max(0, l.margin(y)-float64(y)*score)
}

func (l *linear) margin(y Label) float64 {
	if y == Positive {
		return l.positive
	}
	return l.negative
}

func (l *linear) step(f Example) (learners.Outcome[Prediction], error) {
	var o learners.Outcome[Prediction]
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
			return learners.Outcome[Prediction]{}, fmt.Errorf("%s: x: the weights overflow: scale the features down", l.name)
		}
		l.w, l.next, l.b = l.next, l.w, b
	}
	o.Prediction = predicted(score)
	o.Mistake = o.Prediction.Positive != (f.Label == Positive)
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

// decode reads a file of the given kind into params and state. Its errors wrap
// those of package persist.
func decode(r io.Reader, kind string, params, state any) error {
	env, err := persist.Read(r)
	if err != nil {
		return err
	}
	if err := env.Expect(kind); err != nil {
		return err
	}
	if err := env.Decode(params, state); err != nil {
		return fmt.Errorf("%w: %w", persist.ErrDamaged, err)
	}
	return nil
}
