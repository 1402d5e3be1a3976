package judge

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// This file has all words of findings.

// worded sets Ours and Reason from the other fields.
func (f Finding) worded() Finding {
	switch f.Test {
	case KindPositive:
		f.Ours, f.Reason = "mean difference "+f.printed(*f.Mean), f.reasonOfPositive()
	case KindEquivalent:
		f.Ours, f.Reason = "mean difference "+f.printed(*f.Mean), f.reasonOfEquivalent()
	case KindNumber:
		f.Ours, f.Reason = f.printed(*f.Mean), f.reasonOfNumber()
	case KindHolds:
		f.Ours, f.Reason = fmt.Sprintf("holds in %d of %d trials", f.Trials-len(f.Failing), f.Trials), f.reasonOfHolds()
	case KindReadings, KindBoth:
		f.Ours, f.Reason = f.wordsOfReadings()
	}
	return f
}

// printed is an estimate with its unit.
func (f Finding) printed(e Estimate) string {
	out := fmt.Sprintf("%.3g", e.Mean)
	if !e.few() {
		out += fmt.Sprintf(" ± %.2g", e.Half)
	}
	if f.Unit != "" {
		out += " " + f.Unit
	}
	return out
}

func (f Finding) tooFew(n int) string {
	return fmt.Sprintf("Only %d %s(s); %d are needed for an interval.", n, f.Sample, MinTrials)
}

func (f Finding) reasonOfPositive() string {
	c, single := f.count(), len(f.Units) == 1
	// The least are named first.
	worst := slices.Clone(f.Units)
	slices.SortStableFunc(worst, func(a, b UnitFinding) int { return cmp.Compare(a.Mean, b.Mean) })
	named := func(which func(UnitFinding) bool) string {
		return some(worst, func(u UnitFinding) bool { return !u.Excepted && which(u) })
	}
	counts := ""
	if !single {
		except := ""
		if f.Exceptions > 0 {
			except = fmt.Sprintf(" (apart from %d excepted)", f.Exceptions)
		}
		counts = fmt.Sprintf("Positive in %d of %d units%s: %d for, %d against, %d open.", c.positive, c.units, except, c.isFor, c.against, c.units-c.isFor-c.against)
	}
	var why string
	switch {
	case f.Mean.few():
		why = f.tooFew(f.Mean.N)
	case f.Verdict == Reproduced && single:
		why = "The whole 95 % interval is above zero."
	case f.Verdict == Reproduced:
	case f.Verdict == Partly && c.positive < c.units:
		why = "The mean over units is for, but not every unit: " + named(func(u UnitFinding) bool { return !(u.Mean > 0) }) + "."
	case f.Verdict == Partly && c.against > 0:
		why = "The mean over units is for, but units are against: " + named(func(u UnitFinding) bool { return u.Side == Against }) + "."
	case f.Verdict == Partly:
		why = "The mean over units is for, but fewer than 90 % of the units are."
	case f.Mean.Side == For:
		why = "The mean over units is for, but after correction for the number of units none is for by itself; " + f.Need + "."
	case f.Mean.Side == Against && f.Verdict == Undecided:
		why = "The mean over all units is against, but not that over those which the statement does not except; " + f.Need + "."
	case f.Mean.Side == Against && single:
		why = "The whole 95 % interval is below zero."
	case f.Mean.Side == Against:
		why = "The mean over units is against."
	case f.Verdict == NotReproduced:
		why = "The interval of the mean over units contains zero, and the statement names every unit, but these are against even after correction for the number of units: " +
			named(func(u UnitFinding) bool { return u.Refutes }) + "."
	default:
		why = "The 95 % interval of the mean contains zero; " + f.Need + "."
	}
	return strings.TrimSpace(counts + " " + why)
}

func (f Finding) reasonOfEquivalent() string {
	if f.Mean.few() {
		return f.tooFew(f.Mean.N)
	}
	c, n := f.count(), len(f.Units)
	margin := f.printed(Estimate{Mean: f.Margin})
	parts := []string{fmt.Sprintf("Within ±%s in %d of %d units; different in %d, open in %d.", margin, c.isFor, n, c.against, n-c.isFor-c.against)}
	for _, side := range []struct {
		word string
		sign float64
	}{{"Larger", 1}, {"Smaller", -1}} {
		if names := some(f.Units, func(u UnitFinding) bool { return u.Side == Against && side.sign*u.Mean > 0 }); names != "" {
			parts = append(parts, side.word+" by more than that: "+names+".")
		}
	}
	if f.Verdict == Undecided {
		parts = append(parts, "The intervals of the open units are too wide for the margin.")
	}
	if blind := some(f.Units, func(u UnitFinding) bool { return u.Blind }); blind != "" {
		parts = append(parts, fmt.Sprintf("Cannot tell at %d %ss, since the half-width is above the margin: %s.", f.Mean.N, f.Sample, blind))
	}
	if f.Printed {
		parts = append(parts, f.wordsOfPrinted())
	}
	parts = append(parts, f.wordsOfMargin())
	return strings.Join(parts, " ")
}

// wordsOfPrinted says how many printed numbers lie in our intervals.
func (f Finding) wordsOfPrinted() string {
	in := 0
	for _, u := range f.Units {
		if u.encloses() {
			in++
		}
	}
	s := fmt.Sprintf("%d of %d printed numbers lie in our 95 %% intervals%s.", in, len(f.Units), f.wordsOfGroups())
	against := some(f.Units, func(u UnitFinding) bool { return u.Refutes })
	switch {
	case against != "":
		return s + " Contradicted, also after correction for their number: " + against + "."
	case in < len(f.Units):
		return s + " Consistent after correction for their number."
	}
	return s + " Consistent."
}

// wordsOfGroups says of which groups of units not all printed numbers lie in our intervals. The group of "balance, ITML" is
// "balance".
func (f Finding) wordsOfGroups() (words string) {
	in, of := map[string]int{}, map[string]int{}
	var groups []string
	for _, u := range f.Units {
		group, _, _ := strings.Cut(u.Name, ", ")
		if of[group] == 0 {
			groups = append(groups, group)
		}
		of[group]++
		if u.encloses() {
			in[group]++
		}
	}
	for _, g := range groups {
		if in[g] < of[g] && of[g] < len(f.Units) && of[g] > 1 {
			words += fmt.Sprintf(", of %s %d of %d", g, in[g], of[g])
		}
	}
	return words
}

// encloses reports whether the interval of a difference has zero in it.
func (u UnitFinding) encloses() bool { return math.Abs(u.Mean) <= u.Half }

func (f Finding) reasonOfNumber() string {
	theirs := *f.Theirs
	off, allowed := math.Abs(f.Mean.Mean-theirs), math.Max(f.Mean.Half, f.Tolerance)
	switch {
	case f.Mean.few():
		return f.tooFew(f.Mean.N)
	case f.Verdict == Undecided:
		return fmt.Sprintf("Differs by %.2g from %g, but the interval is wider than the tolerance %.2g.", off, theirs, f.Tolerance)
	case f.Verdict == Reproduced:
		return fmt.Sprintf("Differs by %.2g from %g, allowed is %.2g.", off, theirs, allowed)
	}
	return fmt.Sprintf("Differs by %.2g from %g, more than %.2g.", off, theirs, allowed)
}

func (f Finding) reasonOfHolds() string {
	switch f.Verdict {
	case Undecided:
		return fmt.Sprintf("Only %d trial(s); %d are needed.", f.Trials, MinTrials)
	case Reproduced:
		return "It holds in every trial."
	case Partly:
		return "It holds in most trials, not in all."
	}
	return "It does not hold in most trials."
}

// wordsOfReadings tell the headline; of parts, each.
func (f Finding) wordsOfReadings() (ours, reason string) {
	if f.Test == KindReadings {
		head := f.Readings[slices.IndexFunc(f.Readings, func(r ReadingFinding) bool { return r.Headline != "" })]
		if len(f.Readings) == 1 {
			return head.Finding.Ours, head.Finding.Reason
		}
		return head.Name + ": " + head.Finding.Ours, fmt.Sprintf("Read as %s: %s", head.called(), head.Finding.Reason)
	}
	var values, reasons []string
	for _, r := range f.Readings {
		values = append(values, r.Name+": "+r.Finding.Ours)
		reasons = append(reasons, fmt.Sprintf("%s: %s. %s", r.called(), r.Finding.Verdict, r.Finding.Reason))
	}
	return strings.Join(values, "; "), strings.Join(reasons, " ")
}

// called is the name, with what was known if the reading was added afterwards.
func (r ReadingFinding) called() string {
	if r.Afterwards == "" {
		return r.Name
	}
	return r.Name + " (" + WordsAfterwards(r.Afterwards) + ")"
}

// WordsAfterwards says of a claim or a reading that it was added when this was known.
func WordsAfterwards(known string) string { return "added afterwards, knowing " + known }

// wordsOfRatio tells both sides of a ratio, their quotient and the bound.
func (f Finding) wordsOfRatio() string {
	fixed := func(e *Estimate, unit string) string {
		if e.few() {
			return fmt.Sprintf("%.2f", e.Mean) + unit
		}
		return fmt.Sprintf("%.2f ± %.2f", e.Mean, e.Half) + unit
	}
	unit := ""
	if f.Unit != "" {
		unit = " " + f.Unit
	}
	return fmt.Sprintf("%s against %s: ratio %s, claimed %s %.2f", fixed(f.Over, unit), fixed(f.Under, unit), fixed(f.Quotient, ""), f.Bound, *f.Theirs)
}

// wordsOfStandIn says before the reason what the verdict would be.
func (f Finding) wordsOfStandIn(where string) string {
	return fmt.Sprintf("On the %s it would be %q. %s", where, f.Would, f.Reason)
}

// What would decide; see Rule.need.
const wordsAtMargin = "the mean difference is the margin, more values would not help"

const wordsOtherData = "more splits of the same data would not decide, larger data might"

func wordsFew(sample string) string { return fmt.Sprintf("at least %d %ss", MinTrials, sample) }

func wordsNoHelp(sample string) string {
	return "the mean difference is zero, more " + sample + "s would not help"
}

// sequence reports whether the sample is a part of a sequence: cutting it finer brings no
// data.
func (r Rule) sequence() bool { return r.TestRatio == 0 && r.sample() != aTrial }

func (r Rule) wordsMore(n, have int) string {
	if r.sequence() {
		return fmt.Sprintf("a sequence about %.2g times as long might decide", float64(n)/float64(have))
	}
	return fmt.Sprintf("about %d %ss instead of %d might decide", n, r.sample(), have)
}

func (r Rule) wordsTooMany(have int) string {
	if r.sequence() {
		return fmt.Sprintf("even a sequence %d times as long would not decide", max(maxMore, 2*have)/have)
	}
	return fmt.Sprintf("even %d %ss would not decide", max(maxMore, 2*have), r.sample())
}

// some names the units for which is true.
func some(units []UnitFinding, is func(UnitFinding) bool) string {
	var names []string
	for _, u := range units {
		if is(u) {
			names = append(names, u.Name)
		}
	}
	return listed(names)
}

// listed joins names, of which at most five are given, by what is in none of them.
func listed(names []string) string {
	const shown = 5
	separator, more := " / ", ""
	for _, s := range []string{"; ", ", "} {
		if !slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, strings.TrimSpace(s)) }) {
			separator = s
		}
	}
	if n := len(names) - shown; n > 0 {
		names, more = names[:shown], fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(names, separator) + more
}
