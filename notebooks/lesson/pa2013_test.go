package lesson

import (
	"math/rand/v2"
	"strings"
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

// The rate of each rule is the best of the grid and has no better neighbour; another length has.
func TestObjective(t *testing.T) {
	for _, rule := range Rules {
		rng, h, others := rand.New(rand.NewPCG(2, 0)), Hypothesis{mat.NewSymDense(3, nil), 0}, 0
		for range 20 {
			p := RandomPair(rng)
			s, n := h.Slack(p), LengthOf(p)
			if tau := Rate(rule, 0.05)(s, n); tau != 0 {
				if off, better := OffGrid(h, tau, rule, 0.05, p), Better(rng, h, h.Along(p, tau), rule, 0.05, p); off > 1 || better > 0 {
					t.Errorf("%s: τ = %g is %g spacings off, %d neighbours are better", Names[rule], tau, off, better)
				}
				if OffGrid(h, 1.1*tau, rule, 0.05, p) > 1 {
					others++
				}
			}
			h = h.Step(rule, 0.05, p)
		}
		if others == 0 {
			t.Errorf("%s: no other rate is off the grid's best", Names[rule])
		}
	}
}

// Only least squares pulls a pair back, and moves on each.
func TestPresent(t *testing.T) {
	rounds := Balance()
	for _, rule := range Rules[1:] {
		_, n := Present(pairs.PAParams{Rule: rule, C: 0.1}, rounds)
		if every := rule == pairs.PALS; (n.Back > 0) != every || (n.Updates == 10*len(rounds)) != every || n.Mistakes == 0 || n.Mistakes > n.Updates {
			t.Errorf("%s: %+v", Names[rule], n)
		}
	}
}

func TestPARefusals(t *testing.T) {
	for want, f := range map[string]func(){
		"want a positive number": func() { Rate(pairs.PAII, 0) },
		"want 2 as M has": func() {
			Hypothesis{mat.NewSymDense(2, nil), 0}.Slack(RandomPair(rand.New(rand.NewPCG(1, 0))))
		},
	} {
		func() {
			defer func() {
				if says, _ := recover().(string); !strings.Contains(says, want) {
					t.Errorf("panic %q, want %q in it", says, want)
				}
			}()
			f()
		}()
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
