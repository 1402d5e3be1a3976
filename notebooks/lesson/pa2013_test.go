package lesson

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners/pairs"
	"metriclab/pkg/learners/plain"
)

// A hypothesis steps and becomes feasible as package pairs has it, by each rule.
func TestHypothesisStep(t *testing.T) {
	rounds := Teach(rand.New(rand.NewPCG(1, 0)), 40, 0.2)
	for _, rule := range Rules {
		params := pairs.PAParams{Rule: rule, C: 0.3, PSD: pairs.PSDEachStep}
		h := Hypothesis{mat.NewSymDense(2, nil), 0}
		for n, p := range rounds {
			l := Learn(params, rounds[:n+1])
			h = h.Step(rule, 0.3, p).Feasible()
			if !mat.EqualApprox(h.M, l.Metric().M(), 1e-9) || !near(h.B, l.Threshold()) {
				t.Fatalf("%s, round %d: M = %v and b = %g, want %v and %g", Names[rule], n+1, h.M, h.B, l.Metric().M(), l.Threshold())
			}
		}
	}
}

// The slack at which the rates of package plain are equal.
func TestEqualSlack(t *testing.T) {
	for _, c := range []float64{0.01, 0.3, 5} {
		for _, n := range []float64{1, 2, 30} {
			s := EqualSlack(c, n)
			if !near(s, c*n+0.5) || !near(plain.LinearRate(c)(s, n), plain.SquaredRate(c)(s, n)) {
				t.Errorf("C = %g, N = %g: s = %g, want %g", c, n, s, c*n+0.5)
			}
		}
	}
}
