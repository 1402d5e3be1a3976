package experimenttest

import (
	"strings"
	"testing"

	"metriclab/pkg/experiment"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// An end that no caption tells, a choice outside of its grid and one that is not declared
// are found.
func TestCheckChoices(t *testing.T) {
	one := func(c experiment.Choice) func(*table.Table) []experiment.Choice {
		return func(*table.Table) []experiment.Choice { return []experiment.Choice{c} }
	}
	grid := []float64{1, 2, 3}
	end := one(experiment.Choice{What: "x", Grid: grid, Chosen: []float64{3}})
	view := func(choices func(*table.Table) []experiment.Choice) []experiment.View {
		draw := func(*table.Table) (plots.Drawing, error) {
			return plots.Drawing{Caption: plots.Caption{Shows: "Shown."}}, nil
		}
		if choices != nil {
			draw = experiment.WithEnds(draw, choices)
		}
		return []experiment.View{{Name: "v", Title: "V", Draw: draw}}
	}
	for name, tt := range map[string]struct {
		s    experiment.Spec
		want string
	}{
		"nothing chosen":    {experiment.Spec{Views: view(nil)}, ""},
		"inside":            {experiment.Spec{Views: view(nil), Choices: one(experiment.Choice{What: "x", Grid: grid, Chosen: []float64{2}})}, ""},
		"at the end, told":  {experiment.Spec{Views: view(end), Choices: end}, ""},
		"at the end":        {experiment.Spec{Views: view(nil), Choices: end}, "no caption says: Most choices"},
		"outside":           {experiment.Spec{Views: view(nil), Choices: one(experiment.Choice{What: "x", Grid: grid, Chosen: []float64{4}})}, "not of the grid"},
		"never made":        {experiment.Spec{Views: view(nil), Choices: one(experiment.Choice{What: "x", Grid: grid})}, "was never made"},
		"none in the table": {experiment.Spec{Views: view(nil), Choices: func(*table.Table) []experiment.Choice { return nil }}, "finds none"},
		"not declared":      {experiment.Spec{Views: view(nil), Kinds: []experiment.Kind{{Name: "chosen"}}}, "Choices is nil"},
	} {
		tab := table.New([]string{"cell"}, nil)
		err := checkChoices(tt.s, tab, nil)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: error is %v, want %q", name, err, tt.want)
		}
	}
}
