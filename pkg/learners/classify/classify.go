// Package classify has the examples of two classes that online and linear
// classifiers learn from, and what they predict. The classifiers themselves are in
// packages nearest and linear.
package classify

import (
	"fmt"
	"math"
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

// ParseLabel returns the label that v stands for, 1 or -1, or an error that says so. A
// conversion Label(v) would keep the last eight bits of v: that of 257 is Positive.
func ParseLabel(v int) (Label, error) {
	if v != int(Positive) && v != int(Negative) {
		return 0, fmt.Errorf("label: %d is not allowed, want 1 (positive) or -1 (negative)", v)
	}
	return Label(v), nil
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
	X     []float64 `json:"x"`
	Label Label     `json:"label,omitzero"`
}

// Check returns an error unless e is a valid round for a classifier of
// dim-dimensional vectors: X of length dim, every entry finite, the label
// Positive or Negative. The error names field, index and value.
func (e Example) Check(dim int) error {
	if err := e.CheckLabel(); err != nil {
		return err
	}
	return CheckVector(e.X, dim)
}

// CheckLabel returns an error unless the label is Positive or Negative.
func (e Example) CheckLabel() error {
	_, err := ParseLabel(int(e.Label))
	return err
}

// CheckVector returns an error unless x has length dim and finite entries: what a vector
// that only asks for a prediction must satisfy.
func CheckVector(x []float64, dim int) error {
	if len(x) != dim {
		return fmt.Errorf("x: has %d numbers, want %d", len(x), dim)
	}
	for i, a := range x {
		if math.IsNaN(a) || math.IsInf(a, 0) {
			return fmt.Errorf("x[%d]: %v is not allowed, want a finite number", i, a)
		}
	}
	return nil
}

// Prediction is what online classifiers predict.
type Prediction struct {
	Score    float64 `json:"score"`    // the larger, the more positive; finite
	Positive bool    `json:"positive"` // Score > 0
}

// PredictionOf returns the prediction of a score: positive iff it is > 0.
func PredictionOf(score float64) Prediction { return Prediction{score, score > 0} }

// Targets returns 1 for each Positive label and −1 for each Negative one: what
// FitRidge takes to fit a classifier. It returns an error if a label is neither.
func Targets(y []Label) ([]float64, error) {
	out := make([]float64, len(y))
	for i, l := range y {
		if !l.Valid() {
			return nil, fmt.Errorf("targets: label %d: %d is not allowed, want 1 (positive) or -1 (negative)", i, int8(l))
		}
		out[i] = float64(l)
	}
	return out, nil
}
