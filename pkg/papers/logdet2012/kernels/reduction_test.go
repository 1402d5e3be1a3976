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

// reducedWorld is what a made-up run of logdet2012/reduction measures, by kind of J.
type reducedWorld struct {
	excess, wrong, spent func(j string) float64
}

func madeReduction(w reducedWorld) (t, times *table.Table) {
	t = experimenttest.Table(Reduction)
	times = table.New([]string{"job", "cell", "trial", "phase"}, []string{"wall_s", "cpu_s"})
	for _, cell := range []string{"a, LogDet", "a, trace"} {
		for trial := range experimenttest.Trials {
			for i, j := range append([]string{fitKernel, noReduction}, jNames...) {
				ks := []int{10, 20, 40}
				switch j {
				case fitKernel:
					ks = []int{100 - trial%2} // some rows have no pair
				case jConstrained:
					ks = []int{40, 100 - trial%2}
				case noReduction:
					ks = []int{300}
				}
				spread := 1 + 1e-3*float64((trial+i)%3)
				for _, k := range ks {
					key := table.Key{"cell": cell, "trial": strconv.Itoa(trial), "J": j, "k": strconv.Itoa(k)}
					add := func(kind string, value, of float64) {
						key["kind"] = kind
						t.Add(key, table.Values{"value": value, "of": of})
					}
					add("objective", 50*(1+w.excess(j)*spread), 50)
					add("rank", float64(k), float64(k))
					add("wrong", 1000*w.wrong(j)*spread, 1000)
					times.Add(table.Key{"cell": cell, "trial": key["trial"], "phase": reductionPhase(j, strconv.Itoa(k))}, table.Values{"cpu_s": w.spent(j) * spread})
				}
			}
		}
	}
	return t, times
}

func TestReductionClaimsPointTheRightWay(t *testing.T) {
	by := func(plain float64, of map[string]float64) func(string) float64 {
		return func(j string) float64 {
			if v, ok := of[j]; ok {
				return v
			}
			return plain
		}
	}
	good := reducedWorld{by(0, map[string]float64{jRandom: 0.5, jKMeans: 0.2}), by(0.1, nil), by(0.2, map[string]float64{fitKernel: 1, noReduction: 4})}
	for _, c := range []struct {
		id   string
		set  func(w *reducedWorld)
		want judge.Verdict
	}{
		{"reduction-exact", func(*reducedWorld) {}, judge.Reproduced},
		{"reduction-exact", func(w *reducedWorld) { w.excess = by(0, map[string]float64{jConstrained: 0.01}) }, judge.NotReproduced},
		{"reduction-exact", func(w *reducedWorld) { w.excess = by(0, map[string]float64{noReduction: -0.01}) }, judge.NotReproduced},
		{"reduction-default", func(*reducedWorld) {}, judge.Reproduced},
		{"reduction-default", func(w *reducedWorld) { w.spent = by(1, map[string]float64{noReduction: 1.9}) }, judge.NotReproduced},
		{"reduction-kmeans", func(*reducedWorld) {}, judge.Reproduced},
		{"reduction-kmeans", func(w *reducedWorld) { w.excess = by(0, map[string]float64{jRandom: 0.1, jKMeans: 0.2}) }, judge.NotReproduced},
		{"reduction-pays", func(*reducedWorld) {}, judge.Reproduced},
		{"reduction-pays", func(w *reducedWorld) { w.spent = by(1, map[string]float64{jKMeans: 0.6}) }, judge.NotReproduced},
		{"reduction-pays", func(w *reducedWorld) { w.wrong = by(0.1, map[string]float64{jKMeans: 0.13}) }, judge.NotReproduced},
	} {
		w := good
		c.set(&w)
		tb, times := madeReduction(w)
		if f := experimenttest.Judge(t, reductionClaims, c.id, tb, times); f.Verdict != c.want {
			t.Errorf("%s: %s, want %s: %s", c.id, f.Verdict, c.want, f.Reason)
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
