package linear

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"metriclab/pkg/learners"
	"metriclab/pkg/learners/classify"
	"metriclab/pkg/learners/learnertest"
	"metriclab/pkg/persist/persisttest"

	"gonum.org/v1/gonum/floats"
)

func newTestPAUM(dim int) (*PAUM, error) {
	return NewPAUM(dim, PAUMParams{TauPositive: 0.7, TauNegative: -0.1, Eta: 0.3, R: 1.7})
}

func TestConformance(t *testing.T) {
	t.Run("Perceptron", func(t *testing.T) {
		learnertest.Classifiers[*Perceptron]{New: NewPerceptron, Load: LoadPerceptron}.Run(t)
	})
	t.Run("PAUM", func(t *testing.T) {
		learnertest.Classifiers[*PAUM]{New: newTestPAUM, Load: LoadPAUM}.Run(t)
	})
}

// TestOverflowIsRefused: weights and losses that leave float64 are errors, after
// which nothing has changed.
func TestOverflowIsRefused(t *testing.T) {
	l, err := NewPAUM(1, PAUMParams{Eta: 1e300, R: 1e-3})
	if err != nil {
		t.Fatal(err)
	}
	before := persisttest.Saved(l)
	if _, err := l.Step(classify.Example{X: []float64{1e100}, Label: classify.Positive}); err == nil || !strings.Contains(err.Error(), "weights overflow") {
		t.Errorf("w = 1e400: %v", err)
	}
	if !bytes.Equal(before, persisttest.Saved(l)) {
		t.Error("a refused step changed the learner")
	}
	if l, err = NewPAUM(1, PAUMParams{Eta: 1e300, R: 1e150}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Step(classify.Example{X: []float64{0}, Label: classify.Positive}); err == nil || !strings.Contains(err.Error(), "weights overflow") {
		t.Errorf("b = 1e600: %v", err)
	}
	if l, err = NewPAUM(1, PAUMParams{TauPositive: math.MaxFloat64, Eta: 1e300}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Step(classify.Example{X: []float64{1}, Label: classify.Positive}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Step(classify.Example{X: []float64{-math.MaxFloat64 / 1e301}, Label: classify.Positive}); err == nil {
		t.Error("an infinite score was accepted")
	}
}

// separable returns n examples with ‖x‖ ≤ radius and margins y(u·x + c) ≥ γ_y for
// a random ‖u‖² + (c/r)² = 1, and the smallest margin of each class.
func separable(rng *rand.Rand, n, dim int, radius, r float64, least map[classify.Label]float64) (out []classify.Example, margins map[classify.Label]float64) {
	u := make([]float64, dim+1)
	for j := range u {
		u[j] = rng.NormFloat64()
	}
	u[dim] *= 0.3
	floats.Scale(1/floats.Norm(u, 2), u)
	margins = map[classify.Label]float64{classify.Positive: math.Inf(1), classify.Negative: math.Inf(1)}
	for len(out) < n {
		x := make([]float64, dim)
		for j := range x {
			x[j] = rng.NormFloat64()
		}
		floats.Scale(radius*math.Pow(rng.Float64(), 0.2)/floats.Norm(x, 2), x)
		s := floats.Dot(u[:dim], x) + u[dim]*r
		y := classify.LabelOf(s > 0)
		if m := math.Abs(s); m >= least[y] {
			margins[y] = min(margins[y], m)
			out = append(out, classify.Example{X: x, Label: y})
		}
	}
	return out, margins
}

// untilQuiet passes over the examples until a pass makes no update, and returns
// the number of updates on each class, and of mistakes.
func untilQuiet(t *testing.T, l learners.Online[classify.Example, classify.Prediction], examples []classify.Example) (updates map[classify.Label]int, mistakes int) {
	t.Helper()
	updates = map[classify.Label]int{}
	for {
		before := updates[classify.Positive] + updates[classify.Negative]
		for _, f := range examples {
			o, err := l.Step(f)
			if err != nil {
				t.Fatal(err)
			}
			if o.Updated {
				updates[f.Label]++
			}
			if o.Mistake {
				mistakes++
			}
		}
		if updates[classify.Positive]+updates[classify.Negative] == before {
			return updates, mistakes
		}
	}
}

// A score that overflows is the largest number; one of which only terms overflow is right.
func TestScoreStaysFinite(t *testing.T) {
	h := &Hyperplane{w: []float64{2e10, -1e10}, b: 3}
	for _, c := range []struct {
		x    []float64
		want float64
	}{
		{[]float64{1, 1}, 1e10 + 3},
		{[]float64{1e300, 1e300}, math.MaxFloat64},
		{[]float64{0, 1e300}, -math.MaxFloat64},
		{[]float64{1e298, 2e298}, 0},
		{[]float64{1.5e298, 2e298}, 1e308},
	} {
		got := h.Predict(c.x)
		tol := 1e-15*math.Abs(c.want) + 4 // and, of terms that cancel, what is lost in them
		for j, v := range c.x {
			tol += 1e-15 * math.Abs(h.w[j]) * v
		}
		if math.Abs(got.Score-c.want) > tol || got.Positive != (got.Score > 0) {
			t.Errorf("%g: %+v, want %g", c.x, got, c.want)
		}
	}
}
