package linear

import (
	"fmt"
	"io"
	"slices"

	"metriclab/pkg/learners"
	"metriclab/pkg/learners/classify"
	"metriclab/pkg/persist"
)

// PerceptronVersion counts the changes of the values that Perceptron computes.
const PerceptronVersion = 1

// PerceptronKind is the kind under which package persist stores a Perceptron.
const PerceptronKind = "classify/perceptron"

// Perceptron is the online linear classifier
//
//	score = w·x + b,  predict positive iff score > 0
//	if y·score ≤ 0:  w ← w + y·x,  b ← b + y
//
// starting from w = 0 and b = 0, where y = ±1 is the label. Source: Rosenblatt,
// The perceptron: a probabilistic model for information storage and organization
// in the brain, Psychological Review 65, 1958. The bias b is the weight of a
// further feature with the constant value 1.
//
// If ‖x‖ ≤ R and y(u·x + c) ≥ γ > 0 for all examples and some ‖u‖² + c² = 1, it
// makes at most (R² + 1)/γ² updates, and so at most as many mistakes. Source: Novikoff,
// On convergence proofs on perceptrons, 1962; 1 is the square of the constant
// feature.
//
// The loss is max(0, −y·score). A score of 0 predicts negative and is corrected
// whatever the label; it can be an update without loss, and of a negative example
// without a mistake. StepSize is y.
//
// All methods but Step may be called concurrently. Memory is O(d).
type Perceptron struct{ l linear }

var _ learners.Online[classify.Example, classify.Prediction] = (*Perceptron)(nil)

// NewPerceptron returns a Perceptron for vectors of length dim. It returns an
// error unless dim ≥ 1 and weights of that length fit limits.Memory.
func NewPerceptron(dim int) (*Perceptron, error) {
	l, err := newLinear("perceptron", dim, 0, 0, 1, 1)
	if err != nil {
		return nil, err
	}
	return &Perceptron{l}, nil
}

// made returns p, and panics unless a constructor made it.
func (p *Perceptron) made() *Perceptron {
	if p == nil || p.l.w == nil {
		panic("linear: Perceptron: zero value, use NewPerceptron")
	}
	return p
}

// Dim returns the dimension of the vectors.
func (p *Perceptron) Dim() int { return len(p.made().l.w) }

// Weights returns a copy of w.
func (p *Perceptron) Weights() []float64 { return slices.Clone(p.made().l.w) }

// Bias returns b.
func (p *Perceptron) Bias() float64 { return p.made().l.b }

// Predict returns the score and whether it is positive. It ignores the label. It
// panics unless X has length Dim and finite entries. A score that overflows is
// ±math.MaxFloat64.
func (p *Perceptron) Predict(f classify.Example) classify.Prediction { return p.made().l.predict(f.X) }

// Loss returns max(0, −y·score). It panics as Predict does, and if the
// label is neither 1 nor -1.
func (p *Perceptron) Loss(f classify.Example) float64 { return p.made().l.loss(f) }

// Step predicts, suffers the loss and updates. It returns an error, and changes
// nothing, if the label is neither 1 nor -1, X is not of length Dim, an entry is
// NaN or infinite, or ‖x‖², the score or the new weights overflow.
func (p *Perceptron) Step(f classify.Example) (learners.Outcome[classify.Prediction], error) {
	return p.made().l.step(f)
}

// Save writes the learner in the format of package persist, kind
// "classify/perceptron". A learner loaded from it continues bit for bit.
func (p *Perceptron) Save(w io.Writer) error {
	p.made()
	return persist.Write(w, PerceptronKind, struct{}{}, p.l.state())
}

// LoadPerceptron reads a learner that Save wrote. Its errors wrap those of
// package persist if the file is foreign, newer, damaged or of another kind.
func LoadPerceptron(r io.Reader) (*Perceptron, error) {
	var s linearState
	if err := persist.Load(r, PerceptronKind, &struct{}{}, &s); err != nil {
		return nil, err
	}
	p, err := NewPerceptron(len(s.Weights))
	if err == nil {
		err = p.l.restore(s)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", persist.ErrDamaged, PerceptronKind, err)
	}
	return p, nil
}
