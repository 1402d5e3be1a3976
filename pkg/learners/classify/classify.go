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
