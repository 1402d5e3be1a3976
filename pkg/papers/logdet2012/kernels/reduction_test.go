package kernels

import (
	"math"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners/ltkernel"
	"metriclab/pkg/papers/logdet2012/protocol"
	"metriclab/pkg/table"
)

// The claim of exactness reads J = I and the indicators of all constrained points, and no other J.
func TestExactReductions(t *testing.T) {
	made := func(off string) *table.Table {
		tb := experimenttest.Table(Reduction)
		for trial := range experimenttest.Trials {
			for j, ks := range map[string][]int{fitKernel: {100 - trial%2}, noReduction: {300}, jConstrained: {40, 100 - trial%2}, jRandom: {40}} { // some rows have no pair
				for _, k := range ks {
					above := 1.0
					if j == off || k == 40 {
						above = 1.01
					}
					tb.Add(table.Key{"cell": "a", "trial": strconv.Itoa(trial), "J": j, "k": strconv.Itoa(k), "kind": "objective"}, table.Values{"value": 50 * above, "of": 50})
				}
			}
		}
		return tb
	}
	for off, want := range map[string]judge.Verdict{"": judge.ByConstruction, jConstrained: judge.NotReproduced, noReduction: judge.NotReproduced} {
		if f := experimenttest.Judge(t, reductionClaims, "reduction-exact", made(off), nil); f.Verdict != want {
			t.Errorf("objective above with %q: %s, want %s: %s", off, f.Verdict, want, f.Reason)
		}
	}
}

// Pairs are of the constrained training rows; the reduced kernel of training rows is that of the fit, and with
// indicators of all constrained rows it is that of FitKernel, test rows included.
func TestReducible(t *testing.T) {
	set := experimenttest.Must(protocol.Load(experimenttest.Env(), experimenttest.Seed(protocol.GeneratedLinear), protocol.GeneratedLinear))
	s := reductionSettingsOf("made up", phiLogDet, experiment.Smoke)
	r, err := newReducible(set, s, experimenttest.Seed(protocol.GeneratedLinear))
	if err != nil {
		t.Fatal(err)
	}
	n := len(r.Train.Y)
	if n+len(r.Test.Y) != s.Rows || len(r.constraints) != s.Pairs || len(r.constrained) > s.Constrained {
		t.Fatalf("%d training and %d test rows, %d pairs of %d rows", n, len(r.Test.Y), len(r.constraints), len(r.constrained))
	}
	for _, c := range r.constraints {
		for _, d := range c.Dists {
			if !slices.Contains(r.constrained, d.I) || !slices.Contains(r.constrained, d.J) {
				t.Fatalf("%+v is not of constrained rows", c)
			}
		}
	}
	p := ltkernel.Params{Slack: ltkernel.SlackL2, C: s.C, Tol: 1e-10}
	exact, err := ltkernel.FitKernel(t.Context(), r.kernel.Train, r.constraints, p)
	if err != nil {
		t.Fatal(err)
	}
	rng := experimenttest.Seed(protocol.GeneratedLinear).Stream("J")
	for _, kind := range append(slices.Clone(jNames), noReduction) {
		k := len(r.constrained)
		if kind == noReduction {
			k = n
		}
		j, err := r.basis(t.Context(), kind, k, rng)
		if err != nil {
			t.Fatal(err)
		}
		fit, err := ltkernel.FitReduced(t.Context(), r.kernel.Train, j, r.constraints, p)
		if err != nil {
			t.Fatal(err)
		}
		kernel := r.reducedKernel(j, fit)
		for i, c := range r.constraints {
			d := c.Dists[0]
			side := kernel.At(d.I, d.I) - 2*kernel.At(d.I, d.J) + kernel.At(d.J, d.J)
			if math.Abs(side-fit.Sides[i]) > 1e-8*(1+side) { // round-off
				t.Fatalf("%s: squared distance of pair %d is %v, want %v", kind, i, side, fit.Sides[i])
			}
		}
		if same := mat.EqualApprox(kernel, exact.All(r.kernel.All), 1e-6); same != (kind == jConstrained || kind == noReduction) {
			t.Errorf("%s: equal to the exact kernel is %v", kind, same)
		}
	}
}
