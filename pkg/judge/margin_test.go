package judge_test

import (
	"math"
	"strings"
	"testing"

	"metriclab/pkg/judge"
)

// The verdict turns where the interval of the difference touches zero.
func TestMargin(t *testing.T) {
	rival, ours := spread(0.4, 0.02), spread(0.25, 0)
	test := func(factor float64) judge.Test {
		less := make([]float64, len(rival))
		for i, r := range rival {
			less[i] = factor*r - ours[i]
		}
		return judge.Positive{Units: []judge.Unit{{Name: "rival", Diffs: less}}}
	}
	for _, c := range []struct {
		value, from, to float64
		says            string
	}{
		// The mean is 0.4f − 0.25 and the half-width 0.0151f.
		{0.5, 0, 1, "By the factor, from 0 to 1: not reproduced up to 0.602, undecided up to 0.649, reproduced beyond."},
		{0.3, 0.2, 0.5, "By the factor, from 0.2 to 0.5: not reproduced beyond."},
	} {
		f, err := judge.Judge(judge.Margin{What: "the factor", Value: c.value, From: c.from, To: c.to, Test: test})
		if err != nil || f.Verdict != judge.NotReproduced || f.Note != c.says || !strings.HasSuffix(f.Reason, f.Note) {
			t.Errorf("factor %v: %s, %q (error %v), want %q", c.value, f.Verdict, f.Reason, err, c.says)
		}
	}
	for _, bad := range []judge.Margin{{Value: 2, To: 1, Test: test}, {Test: test}, {To: 1}, {Value: math.NaN(), To: 1, Test: test}} {
		if _, err := judge.Judge(bad); err == nil {
			t.Errorf("%+v was accepted", bad)
		}
	}
}

// Equivalent says with which margins it would have another verdict; with these it has.
func TestEquivalentTurns(t *testing.T) {
	e := judge.Equivalent{Units: []judge.Unit{
		{Name: "near", Diffs: spread(0.01, 0.005)}, {Name: "far", Diffs: spread(-0.2, 0.005)}, {Name: "wide", Diffs: spread(0, 0.5)},
	}}
	for _, c := range []struct {
		share, margin float64
		want          judge.Verdict
		says          string
	}{
		{0.3, 0.014, judge.Reproduced, "By the margin: reproduced above 0.0138."},
		{0.3, 0.0137, judge.Undecided, "By the margin: reproduced above 0.0138."},
		{0.6, 0.204, judge.Reproduced, "By the margin: reproduced above 0.204, not reproduced below 0.00623."},
		{0.6, 0.203, judge.Undecided, "By the margin: reproduced above 0.204, not reproduced below 0.00623."},
		{0.6, 0.00622, judge.NotReproduced, "By the margin: reproduced above 0.204, not reproduced below 0.00623."},
	} {
		e.Share, e.Margin = c.share, c.margin
		f, err := judge.Judge(e)
		if err != nil || f.Verdict != c.want || !strings.HasSuffix(f.Reason, c.says) {
			t.Errorf("share %v, margin %v: %s, %q (error %v), want %s and %q", c.share, c.margin, f.Verdict, f.Reason, err, c.want, c.says)
		}
	}
}

// Of printed numbers it is said how many lie in our intervals, in which groups not all do, and whether that is consistent.
func TestPrintedWords(t *testing.T) {
	in, near, out := spread(0.01, 0.02), spread(0.018, 0.02), spread(0.2, 0.02)
	unit := func(name string, diffs []float64) judge.Unit { return judge.Unit{Name: name, Diffs: diffs} }
	for _, c := range []struct {
		units []judge.Unit
		says  string
	}{
		{[]judge.Unit{unit("wine, PA", in), unit("wine, ITML", in)}, "2 of 2 printed numbers lie in our 95 % intervals. Consistent."},
		{[]judge.Unit{unit("wine, PA", in), unit("wine, ITML", in), unit("iris, PA", near), unit("iris, ITML", in)},
			"3 of 4 printed numbers lie in our 95 % intervals, of iris 1 of 2. Consistent after correction for their number."},
		{[]judge.Unit{unit("wine, PA", in), unit("wine, ITML", in), unit("iris, PA", out), unit("iris, ITML", out)},
			"2 of 4 printed numbers lie in our 95 % intervals, of iris 0 of 2. Contradicted, also after correction for their number: iris, PA; iris, ITML."},
	} {
		f, err := judge.Judge(judge.Equivalent{Units: c.units, Margin: 0.001, Printed: true})
		if err != nil || !strings.Contains(f.Reason, c.says) {
			t.Errorf("%q (error %v), want %q", f.Reason, err, c.says)
		}
	}
}
