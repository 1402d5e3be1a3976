package variants

import (
	"math"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/papers/erkle2015/protocol"
	"metriclab/pkg/random"
	"metriclab/pkg/table"
)

// Without a tolerance both rules are ERKLE; with one, no eigenvalue ends below −ε, and the first rule is that of raising the
// eigenvalue of the dense kernel to −ε at each update, to round-off of some hundred of them.
func TestTolerantPasses(t *testing.T) {
	s := experimenttest.Must(protocol.DrawSynthetic(&experiment.Env{Scale: experiment.Full}, random.Seed{Base: 3, Experiment: "test"}, protocol.Counts{Objects: 12, Train: 150, Test: 1}))
	l := experimenttest.Must(triplets.NewERKLE(12, triplets.ERKLEParams{}))
	for _, x := range s.Train {
		experimenttest.Must(l.Step(x))
	}
	for _, eps := range []float64{0, 0.2, 5} {
		bounded, zeroed := experimenttest.Must(boundedPass(t.Context(), s, eps)), experimenttest.Must(zeroedPass(t.Context(), s, eps))
		for name, p := range map[string]tolerantPass{toBound: bounded, toZero: zeroed} {
			if eps == 0 && (!mat.EqualApprox(p.kernel, l.Kernel(), 1e-7) || p.raised != l.Stats().Projected || p.active != l.Stats().Active) {
				t.Errorf("%s: without a tolerance it is not ERKLE: %d raised, want %d", name, p.raised, l.Stats().Projected)
			}
			if _, least, err := nearestPSD(p.kernel); err != nil || least < -eps-1e-9 || p.raised == 0 && eps < 5 {
				t.Errorf("%s, ε = %v: least eigenvalue %v, %d raised, error %v", name, eps, least, p.raised, err)
			}
		}
		k := mat.NewSymDense(12, nil)
		for i := range 12 {
			k.SetSym(i, i, 1)
		}
		for _, x := range s.Train {
			gamma := max(0, marginOf(k, x)+1) / 10
			for _, e := range []struct {
				i, j int
				v    float64
			}{{x.Near, x.Near, -1}, {x.Far, x.Far, 1}, {x.A, x.Near, 2}, {x.A, x.Far, -2}} {
				k.SetSym(e.i, e.j, k.At(e.i, e.j)+gamma*e.v)
			}
			var e mat.EigenSym
			var v mat.Dense
			e.Factorize(k, true)
			e.VectorsTo(&v)
			for j, lambda := range e.Values(nil) {
				if lambda < -eps {
					k.SymRankOne(k, -eps-lambda, v.ColView(j))
				}
			}
		}
		if !mat.EqualApprox(k, bounded.kernel, 1e-6) {
			t.Errorf("ε = %v: the pass on K + εI is not that on K", eps)
		}
	}
}

func TestNearestPSD(t *testing.T) {
	k, least, err := nearestPSD(mat.NewSymDense(2, []float64{0, 2, 2, 0})) // ±2, (1, 1)/√2
	if err != nil || math.Abs(least+2) > 1e-12 || !mat.EqualApprox(k, mat.NewSymDense(2, []float64{1, 1, 1, 1}), 1e-12) {
		t.Errorf("%v, %v, %v", k, least, err)
	}
}

// toleranceTable has for each cell and rule, by trial, errors and shares of skipped triplets by tolerance: those of exact projection,
// where the share is 0.4, of ε = 1, and of the largest tolerance, which skips all.
func toleranceTable(exact, skips, wrong, never float64) *table.Table {
	tb := experimenttest.Table(Tolerance)
	for _, cell := range []string{"n = 100, 10000 triplets", "n = 300, 600 triplets", "n = 300, 100 " + perObject, "n = 1000, 100 " + perObject} {
		for _, rule := range []string{toBound, toZero} {
			for trial := range experimenttest.Trials {
				for _, x := range []struct{ eps, share, wrong float64 }{{0, 0.4, exact}, {1, skips, wrong}, {10, 1, never}} {
					tb.Add(table.Key{"cell": cell, "trial": strconv.Itoa(trial), "rule": rule, "tolerance": table.Format(x.eps)}, table.Values{
						"triplets": 1000, "active": 800, "raised": math.Round(1000*(1-x.share)) + float64(trial%3), "least": -x.eps,
						"test wrong": x.wrong + float64(trial%2), "test ties": 0, "test triplets": 1000,
					})
				}
			}
		}
	}
	return tb
}

func TestToleranceClaimsPointTheRightWay(t *testing.T) {
	for _, c := range []struct {
		claim                      string
		exact, skips, wrong, never float64
		want                       judge.Verdict
	}{
		{"tolerance-skips", 200, 0.95, 205, 500, judge.Reproduced},
		{"tolerance-skips", 200, 0.95, 220, 500, judge.NotReproduced},
		{"tolerance-skips", 200, 0.8, 200, 500, judge.NotReproduced},
		{"tolerance-never", 200, 0.8, 200, 190, judge.Reproduced},
		{"tolerance-never", 200, 0.8, 190, 210, judge.NotReproduced},
	} {
		if f := experimenttest.Judge(t, toleranceClaims, c.claim, toleranceTable(c.exact, c.skips, c.wrong, c.never), nil); f.Verdict != c.want {
			t.Errorf("%+v: %s: %s", c, f.Verdict, f.Reason)
		}
	}
}
