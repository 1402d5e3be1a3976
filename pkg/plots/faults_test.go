package plots

import (
	"strings"
	"testing"
)

// A drawing within the rules has no faults; ranges, ticks and titles of one's own can break them.
func TestFaults(t *testing.T) {
	line := Line{Name: "a", X: []float64{2, 3, 50}, Y: []float64{3, 4.5, 5}}
	errors := func(p Panel) Panel { p.YLabel = "error (%)"; return p }
	for _, c := range []struct {
		name   string
		panels []Panel
		want   string
	}{
		{"none", []Panel{errors(Panel{Marks: []Mark{line}}), errors(Panel{XLog: true, Marks: []Mark{line}})}, ""},
		{"one tick", []Panel{{XLog: true, XTicks: []Tick{{At: 10, Label: "10"}}, Marks: []Mark{line}}}, "panel 0: the x axis has 1 labelled ticks, want two at least"},
		{"half a thing", []Panel{{XTicks: []Tick{{2, "2"}, {2.5, "2.5"}}, Marks: []Mark{line}}}, "panel 0: the x axis counts, and has a tick at 2.5"},
		{"a lone word", []Panel{{YLabel: strings.Repeat("m", 40) + " (%)", Marks: []Mark{line}}}, `panel 0: the title of the y axis ends in the lone word "(%)"`},
		{"one from zero", []Panel{errors(Panel{YMin: 0, YMax: 9, Marks: []Mark{line}}), errors(Panel{YMin: 2, YMax: 9, Marks: []Mark{line}})}, "panels 0 and 1: of two y axes of one title one begins at 0"},
		{"rows have no numbers", []Panel{{Marks: []Mark{Intervals{Labels: []string{"p"}, X: []float64{2}, Err: []float64{0.5}}}}}, ""},
		{"hidden", []Panel{{HideAxes: true, Marks: []Mark{line}}}, ""},
	} {
		got, err := (Drawing{Panels: c.panels}).Faults()
		if err != nil || strings.Join(got, "; ") != c.want {
			t.Errorf("%s: %q, error %v, want %q", c.name, got, err, c.want)
		}
	}
	for _, g := range golden {
		if got, err := g.drawing().Faults(); err != nil || len(got) > 0 {
			t.Errorf("%s: %q, error %v", g.name, got, err)
		}
	}
}
