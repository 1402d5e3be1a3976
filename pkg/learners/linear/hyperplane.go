package linear

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/pkg/learners/classify"
	"metriclab/pkg/metric"
)

// Hyperplane is a fitted linear classifier: its score is w·x + b, and it predicts
// positive iff the score is > 0. It is immutable and safe for concurrent use.
type Hyperplane struct {
	w []float64
	b float64
}

// Dim returns the dimension of the vectors.
func (h *Hyperplane) Dim() int { return len(h.w) }

// Weights returns a copy of w.
func (h *Hyperplane) Weights() []float64 { return slices.Clone(h.w) }

// Bias returns b.
func (h *Hyperplane) Bias() float64 { return h.b }

// Predict returns the score w·x + b, ±math.MaxFloat64 where it overflows, and whether it
// is positive. It panics unless x has length Dim and finite entries.
func (h *Hyperplane) Predict(x []float64) classify.Prediction {
	demand("Hyperplane", classify.CheckVector(x, len(h.w)))
	return classify.PredictionOf(finiteScore(h.w, x, h.b))
}

// Classify returns the predicted label of each row of x. It panics if x is nil or
// does not have Dim columns.
func (h *Hyperplane) Classify(x mat.Matrix) []classify.Label {
	xd := matrix.Given("linear: Classify: x", x)
	n, _ := xd.Dims()
	out := make([]classify.Label, n)
	for i := range out {
		out[i] = classify.LabelOf(h.Predict(xd.RawRowView(i)).Positive)
	}
	return out
}

// Errors returns the number of rows of x that Classify gives another label than
// want. It panics as Classify does, and unless there is a label for each row.
func (h *Hyperplane) Errors(x mat.Matrix, want []classify.Label) int {
	got := h.Classify(x)
	if len(want) != len(got) {
		panic(fmt.Sprintf("linear: %d labels for %d rows", len(want), len(got)))
	}
	wrong := 0
	for i, l := range got {
		if l != want[i] {
			wrong++
		}
	}
	return wrong
}

// check returns an error unless w and b are what a fit can give.
func (h *Hyperplane) check() error {
	if len(h.w) == 0 || !finite(floats.Norm(h.w, math.Inf(1))) || !finite(h.b) {
		return fmt.Errorf("%d weights and bias %v, want finite numbers", len(h.w), h.b)
	}
	return nil
}

// checkTable returns an error unless x is a finite, not empty matrix with n rows
// whose squared norms, and sums of them, are finite.
func checkTable(x *mat.Dense, n int) error {
	if x == nil {
		panic("linear: x is nil")
	}
	rows, d := x.Dims()
	if rows == 0 {
		return fmt.Errorf("x: no rows, want at least one")
	}
	if n != rows {
		return fmt.Errorf("y: %d numbers for %d rows", n, rows)
	}
	if err := metric.CheckFinite(x); err != nil {
		return fmt.Errorf("x: %w", err)
	}
	limit := math.Sqrt(math.MaxFloat64) / (8 * math.Sqrt(float64(rows)*float64(d)))
	for i := range rows {
		if floats.Norm(x.RawRowView(i), math.Inf(1)) > limit {
			return fmt.Errorf("x: row %d: sums of squares overflow float64: rescale the features", i)
		}
	}
	return nil
}
