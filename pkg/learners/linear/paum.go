package linear

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"metriclab/internal/ranges"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/classify"
	"metriclab/pkg/persist"
)

// PAUMVersion counts the changes of the values that PAUM computes.
const PAUMVersion = 1

// PAUMKind is the kind under which package persist stores a PAUM.
const PAUMKind = "classify/paum"

// PAUMParams are the parameters of PAUM.
type PAUMParams struct {
	// TauPositive and TauNegative are the margins τ₊₁ and τ₋₁: finite, and not
	// both negative, since nothing would ever be learned. The default is 0, the
	// Perceptron.
	TauPositive float64 `json:"tau_positive" range:"finite"`
	TauNegative float64 `json:"tau_negative" range:"finite"`
	// Eta is the learning rate η > 0; 0 means 1. Only τ/η matters to what is
	// predicted.
	Eta float64 `json:"eta" range:"> 0"`
	// R > 0 is the radius of the data, max ‖x‖: the bias moves by η·R². 0 means 1,
	// which is right for rows of unit length. A stream has no maximum known in
	// advance, so that it is a parameter here.
	R float64 `json:"r" range:"> 0"`
}

// Resolved returns p with its defaults filled in: Eta = 1, R = 1.
func (p PAUMParams) Resolved() PAUMParams {
	p.Eta = cmp.Or(p.Eta, 1)
	p.R = cmp.Or(p.R, 1)
	return p
}

func (p PAUMParams) check() error {
	if err := ranges.Check("paum", p); err != nil {
		return err
	}
	if p.TauPositive < 0 && p.TauNegative < 0 {
		return fmt.Errorf("paum: tau_positive, tau_negative: %v and %v are not allowed, want at least one ≥ 0: from w = 0 no update would be made", p.TauPositive, p.TauNegative)
	}
	if !positive(p.R * p.R) {
		return fmt.Errorf("paum: r: %v is not allowed, want a number > 0 with a finite square > 0", p.R)
	}
	return nil
}

// PAUM is the perceptron algorithm with uneven margins
//
//	score = w·x + b,  predict positive iff score > 0
//	if y·score ≤ τ_y:  w ← w + η·y·x,  b ← b + η·y·R²
//
// starting from w = 0 and b = 0, where y = ±1 is the label: a larger margin for
// the rarer class keeps its examples on the right side. Source: Li, Zaragoza,
// Herbrich, Shawe-Taylor, Kandola, The Perceptron Algorithm with Uneven Margins,
// ICML 2002. The paper passes over a training set until no update is made; this
// is one pass, a round at a time.
//
// If ‖x‖ ≤ R and y(u·x + c) ≥ γ_y > 0 for all examples and some
// ‖u‖² + (c/R)² = 1, the numbers n₊ and n₋ of updates on positive and negative
// examples satisfy
//
//	(n₊γ₊ + n₋γ₋)² ≤ 2(n₊ + n₋)R² + 2(n₊τ₊₁ + n₋τ₋₁)/η,
//
// and hence n₊ + n₋ ≤ 2(R² + max(τ₊₁, τ₋₁)/η)/min(γ₊, γ₋)². This is Novikoff's argument.
// Let w̃ = (w, b/R), x̃ = (x, R) and ũ = (u, c/R). Every update adds at least ηγ_y to
// w̃·ũ, and at most 2ητ_y + η²‖x̃‖² ≤ 2ητ_y + 2η²R² to ‖w̃‖²; and (w̃·ũ)² ≤ ‖w̃‖².
//
// The loss is max(0, τ_y − y·score). StepSize is η·y.
//
// All methods but Step may be called concurrently. Memory is O(d).
type PAUM struct {
	l linear
	p PAUMParams
}

var _ learners.Online[classify.Example, classify.Prediction] = (*PAUM)(nil)

// NewPAUM returns a PAUM for vectors of length dim. It returns an error unless
// dim ≥ 1, weights of that length fit limits.Memory, and the parameters are allowed.
func NewPAUM(dim int, p PAUMParams) (*PAUM, error) {
	p = p.Resolved()
	if err := p.check(); err != nil {
		return nil, err
	}
	l, err := newLinear("paum", dim, p.TauPositive, p.TauNegative, p.Eta, p.R*p.R)
	if err != nil {
		return nil, err
	}
	return &PAUM{l, p}, nil
}

// made returns p, and panics unless a constructor made it.
func (p *PAUM) made() *PAUM {
	if p == nil || p.l.w == nil {
		panic("linear: PAUM: zero value, use NewPAUM")
	}
	return p
}

// Dim returns the dimension of the vectors.
func (p *PAUM) Dim() int { return len(p.made().l.w) }

// Params returns the resolved parameters.
func (p *PAUM) Params() PAUMParams { return p.made().p }

// Weights returns a copy of w.
func (p *PAUM) Weights() []float64 { return slices.Clone(p.made().l.w) }

// Bias returns b.
func (p *PAUM) Bias() float64 { return p.made().l.b }

// Predict returns the score and whether it is positive. It ignores the label. It
// panics unless X has length Dim and finite entries. A score that overflows is
// ±math.MaxFloat64.
func (p *PAUM) Predict(f classify.Example) classify.Prediction { return p.made().l.predict(f.X) }

// Loss returns max(0, τ_y − y·score). It panics as Predict does, and if the
// label is neither 1 nor -1.
func (p *PAUM) Loss(f classify.Example) float64 { return p.made().l.loss(f) }

// Step predicts, suffers the loss and updates. It returns an error, and changes
// nothing, if the label is neither 1 nor -1, X is not of length Dim, an entry is
// NaN or infinite, or ‖x‖², the score or the new weights overflow.
func (p *PAUM) Step(f classify.Example) (learners.Outcome[classify.Prediction], error) {
	return p.made().l.step(f)
}

// Save writes the learner in the format of package persist, kind
// "classify/paum". A learner loaded from it continues bit for bit.
func (p *PAUM) Save(w io.Writer) error { return persist.Write(w, PAUMKind, p.made().p, p.l.state()) }

// LoadPAUM reads a learner that Save wrote. Its errors wrap those of package
// persist if the file is foreign, newer, damaged or of another kind.
func LoadPAUM(r io.Reader) (*PAUM, error) {
	var params PAUMParams
	var s linearState
	if err := persist.Load(r, PAUMKind, &params, &s); err != nil {
		return nil, err
	}
	if params != params.Resolved() {
		return nil, fmt.Errorf("%w: %s: params: %+v are not those of a learner", persist.ErrDamaged, PAUMKind, params)
	}
	p, err := NewPAUM(len(s.Weights), params)
	if err == nil {
		err = p.l.restore(s)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", persist.ErrDamaged, PAUMKind, err)
	}
	return p, nil
}
