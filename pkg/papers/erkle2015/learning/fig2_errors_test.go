package learning

import (
	"strconv"
	"testing"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/experiment/harness"
	"metriclab/pkg/judge"
	"metriclab/pkg/papers/erkle2015/protocol"
	"metriclab/pkg/table"
)

// errorsTable makes up curves: shares of errors of PA-ERKLE and of GNMDS after so many triplets.
func errorsTable(pa, batch func(seen float64) float64) *table.Table {
	tb := experimenttest.Table(Fig2Errors)
	for trial := range experimenttest.Trials {
		add := func(cell, rule string, of func(float64) float64) {
			for seen := 50; seen <= 1000; seen += 50 {
				v := table.Values{}
				protocol.ErrorCount{Wrong: int(10000*of(float64(seen))) + trial%3, Of: 10000}.Put(v, "test")
				protocol.ErrorCount{Wrong: 1, Of: 100}.Put(v, "validation")
				tb.Add(table.Key{"cell": cell, "trial": strconv.Itoa(trial), "kind": protocol.CurveRow, "rule": rule, "delta": "1", "tau": "0", "triplets": strconv.Itoa(seen)}, v)
			}
		}
		add(protocol.PAERKLE, NoSettings, pa)
		for _, rule := range []string{ChosenValid, ChosenTest} {
			for _, m := range stepMethods {
				add(m.Name, rule, batch)
			}
			add(gnmdsMany, rule, batch)
		}
	}
	return tb
}

func TestFig2ErrorsClaimsPointTheRightWay(t *testing.T) {
	falling := func(at float64) func(float64) float64 { // crosses 0.4 at so many triplets
		return func(seen float64) float64 { return 0.4 - (seen-at-1)/10000 }
	}
	flat := func(float64) float64 { return 0.4 }
	for _, c := range []struct {
		id      string
		pa      func(float64) float64
		verdict judge.Verdict
	}{
		{"fig2-initially", falling(250), judge.Reproduced},
		{"fig2-initially", falling(-300), judge.NotReproduced},
		{"fig2-outperforms", falling(250), judge.Reproduced},
		{"fig2-outperforms", falling(2000), judge.NotReproduced},
		{"fig2-crossing", falling(250), judge.Reproduced},
		{"fig2-crossing", falling(600), judge.NotReproduced},
		{"fig2-crossing", falling(-300), judge.NotReproduced},
		{"fig2-competitive", falling(250), judge.Reproduced},
		{"fig2-competitive", falling(1100), judge.Reproduced},    // one point more
		{"fig2-competitive", falling(1300), judge.NotReproduced}, // three
	} {
		if f := experimenttest.Judge(t, fig2ErrorsClaims, c.id, errorsTable(c.pa, flat), nil); f.Verdict != c.verdict {
			t.Errorf("%s: %s, want %s: %s", c.id, f.Verdict, c.verdict, f.Reason)
		}
	}
}

// The settings are chosen where they were said to be: on validation for one curve, on test triplets for the other.
func TestFig2ErrorsChoice(t *testing.T) {
	tb, err := harness.Collect(t.Context(), Fig2Errors, &experiment.Env{Scale: experiment.Smoke}, 1, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range stepMethods {
		g := tb.Where("cell", m.Name)
		settings := g.Where("kind", protocol.SettingRow)
		total := func(rows *table.Table, part string) (sum float64) {
			for _, v := range rows.Values(part + " wrong") {
				sum += v
			}
			return sum
		}
		for rule, part := range map[string]string{ChosenValid: "validation", ChosenTest: "test"} {
			c := g.Where("kind", protocol.CurveRow, "rule", rule)
			got := total(c, part)
			for i, tau := range settings.Index("tau") {
				if v := settings.Values(part + " wrong")[i]; tau == "0" && v < got {
					t.Errorf("%s, %s: %v errors, but δ = %s has %v", m.Name, rule, got, settings.Index("delta")[i], v)
				}
			}
			if of := c.Values(part + " triplets"); c.Len() == 0 || of[0] == 0 {
				t.Errorf("%s, %s: a curve of %d rows", m.Name, rule, c.Len())
			}
		}
	}
}
