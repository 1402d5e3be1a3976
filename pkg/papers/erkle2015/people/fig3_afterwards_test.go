package people

import (
	"strconv"
	"testing"

	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/judge"
	"metriclab/pkg/papers/erkle2015/protocol"
	"metriclab/pkg/papers/erkle2015/variants"
	"metriclab/pkg/table"
)

func TestModerateConflicts(t *testing.T) {
	for _, c := range []struct {
		cyclic, violated int // of 1,000 training answers
		want             judge.Verdict
		agree            int // of two readings
	}{
		{100, 20, judge.Reproduced, 2}, {250, 10, judge.Reproduced, 2}, {100, 9, judge.Reproduced, 1}, {260, 100, judge.NotReproduced, 1}, {300, 300, judge.NotReproduced, 2}, {5, 2, judge.NotReproduced, 2},
	} {
		tb := experimenttest.Table(Fig3)
		for trial := range experimenttest.Trials {
			key := func(kind, method, setting, size string) table.Key {
				return table.Key{"trial": strconv.Itoa(trial), "kind": kind, "method": method, "setting": setting, "triplets": size}
			}
			tb.Add(key(variants.CurveKind, protocol.GNMDSBatch, "1", "100"), table.Values{})
			tb.Add(key(variants.CurveKind, protocol.GNMDSBatch, "1", "1000"), table.Values{})
			tb.Add(key(variants.CountKind, "", trainCyclic, ""), table.Values{"count": float64(c.cyclic)})
			tb.Add(key(variants.CountKind, "", atMostViolated, ""), table.Values{"count": float64(c.violated)})
		}
		if f := experimenttest.Judge(t, fig3Afterwards, "fig3-moderate-conflicts", tb, nil); f.Verdict != c.want || (judge.ReadingFinding{Finding: f}).Robustness().Agree != c.agree {
			t.Errorf("%+v: %s: %s", c, f.Verdict, f.Reason)
		}
	}
}
