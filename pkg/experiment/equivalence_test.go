package experiment_test

import (
	"strings"
	"testing"

	"metriclab/pkg/experiment"
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

func TestGradeEquivalent(t *testing.T) {
	const margin = 0.05
	same := experiment.Unit{Name: "same", Diffs: spread(0.01, 0.005)}
	above := experiment.Unit{Name: "above", Diffs: spread(0.2, 0.005)}
	below := experiment.Unit{Name: "below", Diffs: spread(-0.2, 0.005)}
	wide := experiment.Unit{Name: "wide", Diffs: spread(0, 0.5)}
	zero := experiment.Unit{Name: "zero", Diffs: make([]float64, 10)}
	for _, c := range []struct {
		name  string
		units []experiment.Unit
		share float64
		want  experiment.Verdict
		says  string
	}{
		{"all the same", []experiment.Unit{same, zero}, 0, experiment.Reproduced, "in 2 of 2"},
		{"half the same", []experiment.Unit{same, above}, 0.5, experiment.Reproduced, "Larger by more than that: above"},
		{"one different", []experiment.Unit{same, below}, 0, experiment.NotReproduced, "Smaller by more than that: below"},
		{"most different", []experiment.Unit{same, below, above}, 0.5, experiment.NotReproduced, "different in 2"},
		// An interval that contains zero but also the margin proves nothing.
		{"too wide", []experiment.Unit{wide, wide}, 0.5, experiment.Undecided, "In 2 of them the half-width"},
		{"open could still be the same", []experiment.Unit{wide, above}, 0.5, experiment.Undecided, "open in 1"},
	} {
		f, err := experiment.GradeEquivalent(c.units, experiment.EquivalenceRule{Margin: margin, Share: c.share, Scale: 100, Unit: "points"})
		if err != nil || f.Verdict != c.want || !strings.Contains(f.Reason, c.says) || !strings.Contains(f.Reason, "±5 points") {
			t.Errorf("%s: %s, %q (error %v), want %s with %q", c.name, f.Verdict, f.Reason, err, c.want, c.says)
		}
	}
	few := []experiment.Unit{{Name: "few", Diffs: []float64{0, 0, 0}}}
	f, err := experiment.GradeEquivalent(few, experiment.EquivalenceRule{Margin: margin, Sample: "segment"})
	if err != nil || f.Verdict != experiment.Undecided || !strings.Contains(f.Reason, "3 segment(s)") {
		t.Errorf("three values: %+v, %v", f, err)
	}
	for _, bad := range []experiment.EquivalenceRule{{}, {Margin: -1}, {Margin: 1, Share: 2}, {Margin: 1, Share: -0.5}} {
		if _, err := experiment.GradeEquivalent([]experiment.Unit{same}, bad); err == nil {
			t.Errorf("%+v was accepted", bad)
		}
	}
	if _, err := experiment.GradeEquivalent(nil, experiment.EquivalenceRule{Margin: 1}); err == nil {
		t.Error("no units were accepted")
	}
}
