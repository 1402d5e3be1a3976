package costs

import (
	"strconv"
	"testing"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/judge"
	"metriclab/pkg/metric"
	"metriclab/pkg/papers/erkle2015/learning"
	"metriclab/pkg/papers/erkle2015/protocol"
	"metriclab/pkg/table"
)

func TestFig2LargerClaimsPointTheRightWay(t *testing.T) {
	made := func(crosses float64) *table.Table { // PA-ERKLE falls through 0.4 at so many triplets
		tb := experimenttest.Table(learning.Fig2Larger)
		for trial := range experimenttest.Trials {
			add := func(cell, rule string, of func(float64) float64) {
				for seen := 125; seen <= 2500; seen += 125 {
					v := table.Values{}
					protocol.ErrorCount{Wrong: int(10000*of(float64(seen))) + trial%3, Of: 10000}.Put(v, "test")
					protocol.ErrorCount{Wrong: 1, Of: 100}.Put(v, "validation")
					tb.Add(table.Key{"cell": cell, "trial": strconv.Itoa(trial), "kind": protocol.CurveRow, "rule": rule, "delta": "1", "tau": "0", "triplets": strconv.Itoa(seen)}, v)
				}
			}
			add(protocol.PAERKLE, learning.NoSettings, func(seen float64) float64 { return 0.4 - (seen-crosses-1)/10000 })
			for _, rule := range []string{learning.ChosenValid, learning.ChosenTest} {
				for _, name := range learning.LargerSteps {
					add(name, rule, func(float64) float64 { return 0.4 })
				}
			}
		}
		return tb
	}
	for _, c := range []struct {
		id      string
		crosses float64
		verdict judge.Verdict
	}{
		{"fig2-larger-initially", 625, judge.Reproduced},
		{"fig2-larger-initially", -300, judge.NotReproduced},
		{"fig2-larger-outperforms", 625, judge.Reproduced},
		{"fig2-larger-outperforms", 5000, judge.NotReproduced},
		{"fig2-larger-crossing", 625, judge.Reproduced},
		{"fig2-larger-crossing", 1500, judge.NotReproduced},
		{"fig2-larger-competitive", 625, judge.Reproduced},
		{"fig2-larger-competitive", 2600, judge.Reproduced},
		{"fig2-larger-competitive", 2800, judge.NotReproduced},
	} {
		if f := experimenttest.Judge(t, learning.Fig2LargerClaims, c.id, made(c.crosses), nil); f.Verdict != c.verdict {
			t.Errorf("%s, crossing at %v: %s, want %s: %s", c.id, c.crosses, f.Verdict, c.verdict, f.Reason)
		}
	}
}

// The numbers of the claims are those of the paper at equal numbers of triplets per object, and the data set is a quarter of its.
func TestFig2LargerIsAQuarter(t *testing.T) {
	c := learning.Fig2Larger.Cells(experiment.Full)[0].Settings.(learning.ErrorsOnline).Counts
	if 4*c.Objects != largeObjects || 4*c.Train != 10000 || 4*learning.LargerCrossing != 2500 || 4*learning.LargerAround != 1000 || protocol.ErrorsMinibatch(protocol.Split{Train: make([]metric.Triplet, c.Train)}) != 125 {
		t.Errorf("%+v, crossing at %d within %d", c, learning.LargerCrossing, learning.LargerAround)
	}
}
