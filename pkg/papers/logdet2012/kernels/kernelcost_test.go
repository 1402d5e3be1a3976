package kernels

import (
	"math"
	"strconv"
	"testing"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/judge"
	"metriclab/pkg/table"
)

// madeKernelCosts makes 1,000 steps and 500 updates per method and number of objects, whose
// times grow with the given exponents from the given times with 100 objects.
func madeKernelCosts(logDet, pola, exponent float64) (t, times *table.Table) {
	t = experimenttest.Table(KernelCost)
	times = table.New([]string{"job", "cell", "trial", "phase"}, []string{"wall_s", "cpu_s"})
	for trial := range experimenttest.Trials {
		for _, m := range []struct {
			name         string
			at, exponent float64
		}{{kernelLogDet, logDet, 2}, {kernelPOLA, pola, exponent}} {
			for _, n := range []int{50, 100, 200, 400} {
				key := table.Key{"cell": "a", "trial": strconv.Itoa(trial), "method": m.name, "objects": strconv.Itoa(n)}
				for kind, v := range map[string]float64{"steps": 1000, "updates": 500} {
					key["kind"] = kind
					t.Add(key, table.Values{"value": v})
				}
				spread := 1 + 1e-3*float64((trial+n/50)%3)
				times.Add(table.Key{"cell": "a", "trial": key["trial"], "phase": costPhase(m.name, strconv.Itoa(n))}, table.Values{"cpu_s": m.at * math.Pow(float64(n)/100, m.exponent) * spread})
			}
		}
	}
	return t, times
}

func TestKernelCostClaimsPointTheRightWay(t *testing.T) {
	for _, c := range []struct {
		id                     string
		logDet, pola, exponent float64
		want                   judge.Verdict
	}{
		{"kernelcost-less", 1, 3, 3, judge.Reproduced},
		{"kernelcost-less", 3, 1, 2, judge.NotReproduced},
		{"kernelcost-less", 1, 1.5, 3, judge.Partly}, // slower with 50 objects
		{"kernelcost-cubic", 1, 3, 3, judge.Reproduced},
		{"kernelcost-cubic", 1, 3, 2, judge.NotReproduced},
	} {
		tb, times := madeKernelCosts(c.logDet, c.pola, c.exponent)
		if f := experimenttest.Judge(t, kernelCostClaims, c.id, tb, times); f.Verdict != c.want {
			t.Errorf("%s, %g and %g s, exponent %g: %s, want %s: %s", c.id, c.logDet, c.pola, c.exponent, f.Verdict, c.want, f.Reason)
		}
	}
}

// Both methods are shown as many pairs; an update is a step.
func TestKernelCostCountsSteps(t *testing.T) {
	cell := KernelCost.Cells(experiment.Smoke)[0]
	s := cell.Settings.(kernelCostSettings)
	tb, err := KernelCost.Run(t.Context(), experimenttest.Env(), cell, experimenttest.Seed(cell.Dataset))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []string{kernelLogDet, kernelPOLA} {
		for _, n := range s.Objects {
			of := func(kind string) float64 {
				return tb.Where("kind", kind, "method", m, "objects", strconv.Itoa(n)).Values("value")[0]
			}
			if steps, updates := of("steps"), of("updates"); steps != float64(n*s.Passes) || updates <= 0 || updates > steps {
				t.Errorf("%s, %d objects: %g steps, %g updates, want %d steps", m, n, steps, updates, n*s.Passes)
			}
		}
	}
}
