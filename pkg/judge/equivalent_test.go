package judge_test

import (
	"strings"
	"testing"

	"metriclab/pkg/judge"
)

// spread returns n values around mean whose interval has some half-width of the
// order of width.
func spread(mean, width float64) []float64 {
	var out []float64
	for i := range 10 {
		out = append(out, mean+width*float64(i%2*2-1))
	}
	return out
}

func TestEquivalent(t *testing.T) {
	const margin = 0.05
	same := judge.Unit{Name: "same", Diffs: spread(0.01, 0.005)}
	above := judge.Unit{Name: "above", Diffs: spread(0.2, 0.005)}
	below := judge.Unit{Name: "below", Diffs: spread(-0.2, 0.005)}
	wide := judge.Unit{Name: "wide", Diffs: spread(0, 0.5)}
	zero := judge.Unit{Name: "zero", Diffs: make([]float64, 10)}
	for _, c := range []struct {
		name  string
		units []judge.Unit
		share float64
		want  judge.Verdict
		says  string
	}{
		{"all the same", []judge.Unit{same, zero}, 0, judge.Reproduced, "in 2 of 2"},
		{"half the same", []judge.Unit{same, above}, 0.5, judge.Reproduced, "Larger by more than that: above"},
		{"one different", []judge.Unit{same, below}, 0, judge.NotReproduced, "Smaller by more than that: below"},
		{"most different", []judge.Unit{same, below, above}, 0.5, judge.NotReproduced, "different in 2"},
		// An interval that contains zero but also the margin proves nothing.
		{"too wide", []judge.Unit{wide, wide}, 0.5, judge.Undecided, "Cannot tell at 10 trials, since the half-width is above the margin: wide, wide."},
		{"open could still be the same", []judge.Unit{wide, above}, 0.5, judge.Undecided, "open in 1"},
	} {
		f, err := judge.Judge(judge.Equivalent{Units: c.units, Margin: margin, Share: c.share, Rule: judge.Rule{Scale: 100, Unit: "points"}})
		if err != nil || f.Verdict != c.want || !strings.Contains(f.Reason, c.says) || !strings.Contains(f.Reason, "±5 points") {
			t.Errorf("%s: %s, %q (error %v), want %s with %q", c.name, f.Verdict, f.Reason, err, c.want, c.says)
		}
	}
	few := []judge.Unit{{Name: "few", Diffs: []float64{0, 0, 0}}}
	f, err := judge.Judge(judge.Equivalent{Units: few, Margin: margin, Rule: judge.Rule{Sample: "segment"}})
	if err != nil || f.Verdict != judge.Undecided || !strings.Contains(f.Reason, "3 segment(s)") {
		t.Errorf("three values: %+v, %v", f, err)
	}
	for _, bad := range []judge.Equivalent{{}, {Margin: -1}, {Margin: 1, Share: 2}, {Margin: 1, Share: -0.5}} {
		bad.Units = []judge.Unit{same}
		if _, err := judge.Judge(bad); err == nil {
			t.Errorf("%+v was accepted", bad)
		}
	}
	if _, err := judge.Judge(judge.Equivalent{Margin: 1}); err == nil {
		t.Error("no units were accepted")
	}
}
