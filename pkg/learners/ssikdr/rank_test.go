package ssikdr

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners"
	"metriclab/pkg/learners/ltkernel"
)

func fitOfRank(t *testing.T, k0 mat.Symmetric, cs []ltkernel.Constraint, rank int, p RankParams) Result {
	t.Helper()
	r, err := FitRank(t.Context(), rand.New(rand.NewPCG(1, 2)), k0, cs, rank, p)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestRankOfConvexAnswer: with the rank of the convex answer, the best local minimum has its objective; with less it has more.
func TestRankOfConvexAnswer(t *testing.T) {
	k0, cs := digits(40, 150, 3)
	for _, slack := range slacks {
		const tau = 4
		convex := fit(t, k0, cs, Params{Tau: tau, Slack: slack, Tol: 1e-7})
		same := fitOfRank(t, k0, cs, convex.Rank+1, RankParams{Tau: tau, Slack: slack, Starts: 2, MaxIterations: 20000})
		if math.Abs(same.Objective-convex.Objective) > 1e-4*convex.Objective || same.Status != learners.Converged {
			t.Errorf("slack %v: %v, objective %v of rank %d, %v convex", slack, same.Status, same.Objective, convex.Rank+1, convex.Objective)
		}
		if d := apart(same.Learned().All(k0), convex.Learned().All(k0)); d > 0.01*mat.Norm(k0, math.Inf(1)) {
			t.Errorf("slack %v: K is off by %v", slack, d)
		}
		two := fitOfRank(t, k0, cs, 2, RankParams{Tau: tau, Slack: slack})
		if two.Rank != 2 || slack != ltkernel.SlackHard && !(two.Objective > convex.Objective) || len(two.Objectives) != 10 {
			t.Errorf("slack %v: rank %d, objective %v, convex %v", slack, two.Rank, two.Objective, convex.Objective)
		}
		if slack == ltkernel.SlackHard {
			continue
		}
		if two.Objective != slices.Min(two.Objectives) || two.Objectives[two.Best] != two.Objective {
			t.Errorf("slack %v: objective %v of start %d, all %v", slack, two.Objective, two.Best, two.Objectives)
		}
		if two.Gap < two.Objective-convex.Objective-1e-6*convex.Objective {
			t.Errorf("slack %v: gap %v, but the optimum of all ranks is %v below", slack, two.Gap, two.Objective-convex.Objective)
		}
		// What Result says of W is so of its kernel.
		k := two.Learned().All(k0)
		z, err := two.Coordinates(0).Embed(40, k0)
		if err != nil || apart(k, mulT(z)) > 1e-9*mat.Trace(k) {
			t.Errorf("slack %v: K is not that of the embedding: %v", slack, err)
		}
		cost := 0.0
		for _, x := range two.Values {
			cost += x * (tau + x/2)
		}
		for i, c := range cs {
			s := side(c, k)
			if math.Abs(s-two.Sides[i]) > 1e-9*mat.Trace(k) {
				t.Errorf("slack %v: side %d is %v, told %v", slack, i, s, two.Sides[i])
			}
			v := max(s-c.Bound, 0)
			if c.Sense == ltkernel.SenseAtLeast {
				v = max(c.Bound-s, 0)
			}
			if slack == ltkernel.SlackL2 {
				v *= v / 2
			}
			cost += v
		}
		if math.Abs(cost-two.Objective) > 1e-8*cost {
			t.Errorf("slack %v: objective %v, told %v", slack, cost, two.Objective)
		}
	}
}

// TestRankGradient compares the gradient with finite differences.
func TestRankGradient(t *testing.T) {
	x := normal(9, 6, 4)
	cs := mixed(x, 17, 4)
	for _, slack := range slacks {
		support, block, err := prepare("test", gramOf(x), cs)
		if err != nil {
			t.Fatal(err)
		}
		q, err := newProblem(block, support, cs, slack, 2)
		if err != nil {
			t.Fatal(err)
		}
		q.tau = 0.7
		_, r := q.f.Dims()
		f := &factored{q: q, rank: 3, order: r, lambda: make([]float64, len(q.b)), beta: 10}
		b := f.start(rand.New(rand.NewPCG(7, 7)))
		f.evaluate(b)
		got := slices.Clone(f.gradient)
		want := fd.Gradient(nil, func(b []float64) float64 { f.evaluate(b); return f.value }, b, &fd.Settings{Formula: fd.Central})
		if !floats.EqualApprox(got, want, 1e-5*floats.Norm(want, math.Inf(1))) {
			t.Errorf("slack %v: gradient %v, want %v", slack, got, want)
		}
	}
}

// TestRankDraws: the same source gives the same bits, and one draw of the caller's source does not depend on what the fit does.
func TestRankDraws(t *testing.T) {
	k0, cs := digits(30, 60, 3)
	p := RankParams{Tau: 1, Slack: ltkernel.SlackL2, Starts: 3}
	a, b := fitOfRank(t, k0, cs, 2, p), fitOfRank(t, k0, cs, 2, p)
	if !mat.Equal(a.G, b.G) || a.Best != b.Best {
		t.Error("two fits from one source differ")
	}
	more := p
	more.Starts = 5
	if c := fitOfRank(t, k0, cs, 2, more); !floats.Equal(c.Objectives[:3], a.Objectives) {
		t.Errorf("objectives %v with more starts, %v with fewer", c.Objectives, a.Objectives)
	}
}
