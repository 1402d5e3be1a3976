package costs

import (
	"math"
	"strconv"
	"testing"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/judge"
	"metriclab/pkg/table"
)

// batchCostTables make up a run in which the time of each step grows as a power of n.
func batchCostTables(power float64) (t, times *table.Table) {
	t = experimenttest.Table(BatchCost)
	times = table.New([]string{"job", "cell", "trial", "phase"}, []string{"wall_s", "cpu_s"})
	cell := BatchCost.Cells(experiment.Full)[0]
	for trial := range experimenttest.Trials {
		for _, n := range cell.Settings.(batchCostSettings).Objects {
			for _, s := range batchSteps {
				key := table.Key{"cell": cell.Name, "trial": strconv.Itoa(trial), "step": s.name, "objects": strconv.Itoa(n)}
				const repeats = 4
				t.Add(key, table.Values{"repeats": repeats})
				noise := 1 + 1e-3*float64((trial+n)%3)
				times.Add(table.Key{"cell": cell.Name, "trial": key["trial"], "phase": batchCostPhase(key)}, table.Values{"cpu_s": repeats * 1e-9 * math.Pow(float64(n), power) * noise})
			}
		}
	}
	return t, times
}

// O(n³) is an upper bound, refuted by a fourth power alone; that time grows as n³ is refuted by a square.
func TestBatchCostClaims(t *testing.T) {
	for _, c := range []struct {
		power        float64
		bound, grows judge.Verdict
		agree        int // of six readings of the bound
	}{
		{2, judge.Reproduced, judge.NotReproduced, 6}, {2.8, judge.Reproduced, judge.Reproduced, 6}, {3.2, judge.Reproduced, judge.Reproduced, 3}, {4, judge.NotReproduced, judge.Reproduced, 6},
	} {
		tb, times := batchCostTables(c.power)
		bound := experimenttest.Judge(t, batchCostClaims, "batchcost-bound", tb, times)
		if got := (judge.ReadingFinding{Finding: bound}).Robustness().Agree; bound.Verdict != c.bound || got != c.agree {
			t.Errorf("n^%v: bound %s, %d readings agree, want %s, %d: %s", c.power, bound.Verdict, got, c.bound, c.agree, bound.Reason)
		}
		if f := experimenttest.Judge(t, batchCostClaims, "batchcost-grows", tb, times); f.Verdict != c.grows {
			t.Errorf("n^%v: growth %s, want %s: %s", c.power, f.Verdict, c.grows, f.Reason)
		}
	}
}

// With fewer objects a step is made more often, so that the times are of like length.
func TestBatchCostRepeats(t *testing.T) {
	tb, err := BatchCost.Run(t.Context(), experimenttest.Env(), BatchCost.Cells(experiment.Smoke)[0], experimenttest.Seed("points in R50"))
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range tb.Index("objects") {
		if want := map[string]float64{"10": 16, "20": 4, "40": 1}[n]; tb.Values("repeats")[i] != want {
			t.Errorf("%s objects: %v repeats, want %v", n, tb.Values("repeats")[i], want)
		}
	}
	if tb.Len() != 3*len(batchSteps) {
		t.Errorf("%d rows", tb.Len())
	}
}
