package experiment

import (
	"cmp"
	"fmt"
	"strings"
)

// EquivalenceRule adapts GradeEquivalent to a claim.
type EquivalenceRule struct {
	// Margin is the largest difference that counts as none; > 0.
	Margin float64
	// Share is the share of units that must be equivalent, in (0, 1]; 0 means 1.
	Share float64
	// Scale and Unit print numbers as in UnitRule.
	Scale float64
	Unit  string
	// Sample is what a unit has several of; "" means "trial".
	Sample string
	// TestRatio is as in UnitRule.
	TestRatio float64
}

// GradeEquivalent grades a claim that two things perform alike in some share of
// the units. That an interval contains zero shows nothing, since a wide one
// always does; a unit is equivalent if its whole 95 % interval lies within
// ±Margin (two one-sided tests at 2.5 %: Schuirmann 1987), different if the whole
// interval lies outside, and otherwise open.
//
//   - Reproduced: at least Share of the units are equivalent.
//   - NotReproduced: so many are different that the share cannot be reached.
//   - Undecided: otherwise, and with fewer than MinTrials values per unit.
//
// Errors are those of GradeUnits, but for exceptions, and a margin or share out of
// range.
func GradeEquivalent(units []Unit, rule EquivalenceRule) (Finding, error) {
	overall, err := meanOverUnits(units)
	if err != nil {
		return Finding{}, err
	}
	rule.Share = cmp.Or(rule.Share, 1)
	if !(rule.Margin > 0) || !(rule.Share > 0 && rule.Share <= 1) {
		return Finding{}, fmt.Errorf("experiment: margin %g and share %g, want a margin > 0 and a share in (0, 1]", rule.Margin, rule.Share)
	}
	if err := checkRatio(rule.TestRatio); err != nil {
		return Finding{}, err
	}
	sample := cmp.Or(rule.Sample, aTrial)
	var above, below []string
	same, blind := 0, 0 // blind: open, and the interval is wider than the margin
	for _, u := range units {
		s := summarize(u.Diffs, rule.TestRatio)
		switch {
		case !s.HasInterval:
		case s.Mean-s.Half > rule.Margin:
			above = append(above, u.Name)
		case s.Mean+s.Half < -rule.Margin:
			below = append(below, u.Name)
		case s.Mean+s.Half < rule.Margin && s.Mean-s.Half > -rule.Margin:
			same++
		case s.Half >= rule.Margin:
			blind++
		}
	}
	n := len(units)
	different := len(above) + len(below)
	r := UnitRule{Scale: rule.Scale, Unit: rule.Unit}
	total := summarize(overall, rule.TestRatio)
	f := Finding{Verdict: Undecided, Ours: "mean difference " + r.format(total)}
	margin := r.format(Summary{Mean: rule.Margin})
	if !total.HasInterval {
		f.Reason = fmt.Sprintf("Only %d %s(s); %d are needed for an interval.", total.N, sample, MinTrials)
		return f, nil
	}
	parts := []string{fmt.Sprintf("Within ±%s in %d of %d units; different in %d, open in %d.", margin, same, n, different, n-same-different)}
	if len(above) > 0 {
		parts = append(parts, "Larger by more than that: "+some(above)+".")
	}
	if len(below) > 0 {
		parts = append(parts, "Smaller by more than that: "+some(below)+".")
	}
	switch {
	case float64(same) >= rule.Share*float64(n):
		f.Verdict = Reproduced
	case float64(n-different) < rule.Share*float64(n):
		f.Verdict = NotReproduced
	default:
		parts = append(parts, "The intervals of the open units are too wide for the margin.")
		if blind > 0 {
			parts = append(parts, fmt.Sprintf("In %d of them the half-width is more than the margin, so that no difference, however small, could be shown to be within it.", blind))
		}
	}
	f.Reason = strings.Join(parts, " ")
	return f, nil
}
