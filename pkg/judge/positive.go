package judge

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// forShare is the share of units that must be for a claim that is reproduced.
const forShare = 0.9

// Positive tests a claim that a difference is positive in every unit. All units must have
// the same trials, in the same order: the overall interval is that of the mean over
// units, taken per trial.
//
//   - Reproduced: apart from the excepted units, the mean difference is positive
//     in every unit, at least 90 % of the units are for, none is against.
//   - Partly: otherwise, if the mean over all units is for, and so is some unit at the level
//     0.05/len(units) (Bonferroni, the first step of Holm 1979): the statement holds in some.
//   - NotReproduced: if the mean over all units is against, and so is that over the kept ones;
//     or if it is open while some unit is against at that level: more trials could not save a
//     statement about every unit.
//   - Undecided: otherwise; Finding.Need estimates how many trials would decide.
//
// It refuses no unit, no trial, units with different numbers of trials, a difference that
// is not finite, exceptions outside 0..len(units)−1, a TestRatio that is negative or not
// finite.
type Positive struct {
	Units []Unit
	// Exceptions is the number of units that the statement itself excepts, as "all but one"
	// does. The units with the smallest mean differences are taken. The kept ones, chosen
	// for being the largest, count as for only at the level 0.05/(Exceptions+1): the
	// Bonferroni test that at least that many of the differences are positive (Benjamini and
	// Heller 2008).
	Exceptions int
	Rule       Rule
}

func (p Positive) judge() Finding {
	overall := meanOverUnits(p.Units)
	if p.Exceptions < 0 || p.Exceptions >= len(p.Units) {
		Refuse("judge: %d exceptions among %d units, want 0 to %d", p.Exceptions, len(p.Units), len(p.Units)-1)
	}
	p.Rule.check()
	total := summarize(overall, p.Rule.TestRatio)
	mean := p.Rule.estimate(total)
	f := Finding{
		Test: KindPositive, Unit: p.Rule.Unit, Sample: p.Rule.sample(), Mean: &mean, Exceptions: p.Exceptions, Units: p.units(),
	}
	var kept []Unit
	for i, u := range f.Units {
		if !u.Excepted {
			kept = append(kept, p.Units[i])
		}
	}
	ofKept := meanOverUnits(kept)
	f.Verdict = f.count().verdict(total, summarize(ofKept, p.Rule.TestRatio))
	switch {
	case f.Verdict == Undecided && total.Side() == For:
		f.Need = p.needOfUnit()
	case f.Verdict == Undecided && total.Side() == Against:
		f.Need = p.Rule.needAt(ofKept, math.Abs(stat.Mean(ofKept, nil)), level/float64(p.Exceptions+1))
	case f.Verdict == Undecided:
		f.Need = p.Rule.need(overall, math.Abs(total.Mean))
	}
	return f.worded()
}

// units are the findings of the units, of which the least are excepted.
func (p Positive) units() []UnitFinding {
	out := make([]UnitFinding, len(p.Units))
	order := make([]int, len(p.Units)) // by mean difference
	counted := float64(len(p.Units) - p.Exceptions)
	for i, u := range p.Units {
		order[i] = i
		s := summarize(u.Diffs, p.Rule.TestRatio)
		out[i] = UnitFinding{Name: u.Name, Estimate: p.Rule.estimate(s)}
		// beyond reports whether the interval at a level lies on the given side of zero.
		beyond := func(sign, level float64) bool {
			return s.HasInterval && sign*s.Mean-halfWidth(u.Diffs, level, p.Rule.TestRatio) > 0
		}
		if out[i].Side == For && !beyond(1, level/float64(p.Exceptions+1)) {
			out[i].Side = Open
		}
		out[i].Confirms, out[i].Refutes = beyond(1, level/counted), beyond(-1, level/counted)
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(out[i].Mean, out[j].Mean) })
	for _, i := range order[:p.Exceptions] {
		out[i].Excepted, out[i].Confirms, out[i].Refutes = true, false, false
	}
	return out
}

// needOfUnit is what would decide for the unit that is the nearest to being for by itself.
func (p Positive) needOfUnit() string {
	best, ratio := p.Units[0], math.Inf(-1)
	for _, u := range p.Units {
		if s := summarize(u.Diffs, p.Rule.TestRatio); s.Mean/s.Half > ratio {
			best, ratio = u, s.Mean/s.Half
		}
	}
	return best.Name + ": " + p.Rule.needAt(best.Diffs, math.Abs(stat.Mean(best.Diffs, nil)), level/float64(len(p.Units)-p.Exceptions))
}

// tally counts the units of a finding that are not excepted.
type tally struct {
	units, positive, isFor, against, confirming, refuting int
}

func (f Finding) count() (c tally) {
	for _, u := range f.Units {
		if u.Excepted {
			continue
		}
		c.units++
		if u.Mean > 0 {
			c.positive++
		}
		switch u.Side {
		case For:
			c.isFor++
		case Against:
			c.against++
		}
		if u.Confirms {
			c.confirming++
		}
		if u.Refutes {
			c.refuting++
		}
	}
	return c
}

// verdict is that of Positive, by the means over all units and over the kept ones.
func (c tally) verdict(total, kept Summary) Verdict {
	switch side := total.Side(); {
	case !total.HasInterval:
		return Undecided
	case c.positive == c.units && c.against == 0 && float64(c.isFor) >= forShare*float64(c.units):
		return Reproduced
	case side == For && c.confirming > 0:
		return Partly
	case side == Against && kept.Side() == Against, side != Against && c.refuting > 0:
		return NotReproduced
	}
	return Undecided
}

// meanOverUnits returns, per trial, the mean of the units' differences.
func meanOverUnits(units []Unit) []float64 {
	if len(units) == 0 {
		Refuse("judge: no units to grade")
	}
	n := len(units[0].Diffs)
	if n == 0 {
		Refuse("judge: unit %s has no trials", units[0].Name)
	}
	mean := make([]float64, n)
	for _, u := range units {
		if len(u.Diffs) != n {
			Refuse("judge: unit %s has %d trials, unit %s has %d", u.Name, len(u.Diffs), units[0].Name, n)
		}
		for i, d := range u.Diffs {
			if math.IsNaN(d) || math.IsInf(d, 0) {
				Refuse("judge: unit %s, trial %d: difference %g is not finite", u.Name, i, d)
			}
			mean[i] += d / float64(len(units))
		}
	}
	return mean
}

// maxMore bounds the number of trials that an undecided claim asks for.
const maxMore = 1000

// need estimates how many trials in all would make the half-width less than far if the
// deviation stayed as it is; or how long a sequence, if the sample is a part of one.
// However many splits of the same data there are, that is with a TestRatio, the half-width
// stays above z(0.975)·s·√ratio.
func (r Rule) need(values []float64, far float64) string { return r.needAt(values, far, level) }

// needAt is need at another level.
func (r Rule) needAt(values []float64, far, level float64) string {
	if len(values) < MinTrials {
		return wordsFew(r.sample())
	}
	s, ratio := sd(values), r.TestRatio
	switch {
	case far == 0 || s == 0:
		return wordsNoHelp(r.sample())
	case far <= distuv.UnitNormal.Quantile(1-level/2)*s*math.Sqrt(ratio):
		return wordsOtherData
	}
	for n := len(values) + 1; n <= max(maxMore, 2*len(values)); n++ {
		if quantile(n, level)*s/math.Sqrt(float64(n))*math.Sqrt(1+float64(n)*ratio) < far {
			return r.wordsMore(n, len(values))
		}
	}
	return r.wordsTooMany(len(values))
}
