package experiment

import (
	"strings"
	"testing"

	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

func TestAtEnd(t *testing.T) {
	grid := []float64{2, 0.5, 1, 1}
	for name, tt := range map[string]struct {
		c   Choice
		end float64
		ok  bool
	}{
		"most at the lower end":     {Choice{Grid: grid, Chosen: []float64{0.5, 0.5, 1}}, 0.5, true},
		"most at the upper end":     {Choice{Grid: grid, Chosen: []float64{2, 0.5, 2}}, 2, true},
		"half at an end":            {Choice{Grid: grid, Chosen: []float64{0.5, 1}}, 0, false},
		"inside":                    {Choice{Grid: grid, Chosen: []float64{1, 1, 2}}, 0, false},
		"split between both ends":   {Choice{Grid: grid, Chosen: []float64{0.5, 0.5, 2, 2, 1}}, 0, false},
		"nothing below":             {Choice{Grid: grid, Chosen: []float64{0.5}, NoLower: true}, 0, false},
		"nothing above":             {Choice{Grid: grid, Chosen: []float64{2}, NoHigher: true}, 0, false},
		"nothing below, at the top": {Choice{Grid: grid, Chosen: []float64{2}, NoLower: true}, 2, true},
		"a grid of two":             {Choice{Grid: []float64{0, 1}, Chosen: []float64{1, 1}}, 1, true},
		"one value, twice":          {Choice{Grid: []float64{1, 1, 1}, Chosen: []float64{1}}, 0, false},
		"nothing chosen":            {Choice{Grid: grid}, 0, false},
	} {
		if end, _, ok := tt.c.AtEnd(); end != tt.end || ok != tt.ok {
			t.Errorf("%s: %v, %v, want %v, %v", name, end, ok, tt.end, tt.ok)
		}
	}
}

func TestEndsNote(t *testing.T) {
	inside := Choice{What: "a: x", Grid: []float64{1, 2, 3}, Chosen: []float64{2}}
	end := Choice{What: "b: y", Grid: []float64{1, 2, 3}, Chosen: []float64{3, 3, 1}}
	if got := EndsNote([]Choice{inside}); got != "" {
		t.Errorf("inside: %q", got)
	}
	draw := func(*table.Table) (plots.Drawing, error) {
		return plots.Drawing{Caption: plots.Caption{Shows: "Shown."}}, nil
	}
	d, err := WithEnds(draw, func(*table.Table) []Choice { return []Choice{inside, end} })(nil)
	if err != nil || !strings.HasPrefix(d.Caption.String(), "Shown. Ends: Most choices") || !strings.Contains(d.Caption.String(), "b: y (3, 2 of 3).") || strings.Contains(d.Caption.String(), "a: x") {
		t.Errorf("caption %q, error %v", d.Caption, err)
	}
}
