package judge

import (
	"cmp"
	"math"
	"strings"
)

// Equivalent tests a claim that two things perform alike in some share of the units. That
// an interval contains zero shows nothing, since a wide one always does. A unit is
// equivalent if its whole 95 % interval lies within ±Margin (two one-sided tests at
// 2.5 %: Schuirmann 1987), different if the whole interval lies outside, and otherwise
// open. An open unit with a half-width of at least Margin is Blind: it can tell neither way.
//
//   - Reproduced: at least Share of the units are equivalent.
//   - NotReproduced: so many are different that the share cannot be reached.
//   - Undecided: otherwise, and with fewer than MinTrials values per unit.
//
// It refuses what Positive refuses, but for exceptions, and a margin or share out of
// range.
type Equivalent struct {
	Units []Unit
	// Margin is the largest difference that counts as none; > 0.
	Margin float64
	// Share is the share of units that must be equivalent, in (0, 1]; 0 means 1.
	Share float64
	// Printed says that the units are differences to printed numbers: the finding counts those
	// that lie in our intervals.
	Printed bool
	Rule    Rule
}

func (e Equivalent) judge() Finding {
	overall := meanOverUnits(e.Units)
	e.Share = cmp.Or(e.Share, 1)
	if !(e.Margin > 0) || math.IsInf(e.Margin, 1) || !(e.Share > 0 && e.Share <= 1) {
		Refuse("judge: margin %g and share %g, want a finite margin > 0 and a share in (0, 1]", e.Margin, e.Share)
	}
	e.Rule.check()
	total := summarize(overall, e.Rule.TestRatio)
	mean := e.Rule.estimate(total)
	f := Finding{
		Verdict: Undecided, Test: KindEquivalent, Unit: e.Rule.Unit, Sample: e.Rule.sample(), Mean: &mean,
		Margin: e.Rule.scale() * e.Margin, Share: e.Share, Printed: e.Printed, Units: make([]UnitFinding, len(e.Units)),
	}
	needs := map[string][]string{} // the units, by what would decide
	var order []string
	for i, u := range e.Units {
		s := summarize(u.Diffs, e.Rule.TestRatio)
		f.Units[i] = UnitFinding{Name: u.Name, Estimate: e.Rule.estimate(s)}
		f.Units[i].Side = e.side(s)
		f.Units[i].Blind = s.HasInterval && f.Units[i].Side == Open && s.Half >= e.Margin
		if e.Printed && s.HasInterval {
			f.Units[i].Refutes = math.Abs(s.Mean) > halfWidth(u.Diffs, level/float64(len(e.Units)), e.Rule.TestRatio)
		}
		if f.Units[i].Side == Open {
			need := e.need(u, s)
			if needs[need] == nil {
				order = append(order, need)
			}
			needs[need] = append(needs[need], u.Name)
		}
	}
	c, n := f.count(), float64(len(e.Units))
	switch {
	case !total.HasInterval:
		f.Need = wordsFew(f.Sample)
	case float64(c.isFor) >= e.Share*n:
		f.Verdict = Reproduced
	case n-float64(c.against) < e.Share*n:
		f.Verdict = NotReproduced
	default:
		for i, need := range order {
			order[i] = listed(needs[need]) + ": " + need
		}
		f.Need = strings.Join(order, ". ")
	}
	return f.worded()
}

// need says what would take the interval of an open unit off the margin.
func (e Equivalent) need(u Unit, s Summary) string {
	far := math.Abs(math.Abs(s.Mean) - e.Margin)
	if far == 0 {
		return wordsAtMargin
	}
	return e.Rule.need(u.Diffs, far)
}

// side is For if the interval lies within the margin, Against if beyond it.
func (e Equivalent) side(s Summary) Side {
	switch {
	case !s.HasInterval:
		return Open
	case s.Mean-s.Half > e.Margin, s.Mean+s.Half < -e.Margin:
		return Against
	case s.Mean+s.Half < e.Margin && s.Mean-s.Half > -e.Margin:
		return For
	}
	return Open
}
