package learning

import (
	"testing"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/harness"
	"metriclab/pkg/papers/erkle2015/protocol"
	"metriclab/pkg/table"
)

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
