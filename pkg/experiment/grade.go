package experiment

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// MinTrials is the least number of trials for which an interval is given.
const MinTrials = 6

// Summary is a mean over trials with its 95 % t interval.
type Summary struct {
	N           int
	Mean        float64
	Half        float64 // half-width; 0 if there is no interval
	HasInterval bool    // N ≥ MinTrials
}

// Summarize returns the mean of values and, from MinTrials values on, the
// half-width of the 95 % interval t_{0.975, n−1}·s/√n.
func Summarize(values []float64) Summary {
	s := Summary{N: len(values)}
	if s.N == 0 {
		s.Mean = math.NaN()
		return s
	}
	mean, std := stat.MeanStdDev(values, nil)
	s.Mean = mean
	if s.N >= MinTrials {
		s.HasInterval = true
		t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(s.N - 1)}
		s.Half = t.Quantile(0.975) * std / math.Sqrt(float64(s.N))
	}
	return s
}

// Unit is what a claim quantifies over: a data set, a problem or a curve. Diffs
// holds one paired difference per trial, positive in the direction claimed.
type Unit struct {
	Name  string
	Diffs []float64
}

// Evidence is what the trials of one unit, or of all, say about a claim.
type Evidence int

// The kinds of evidence: the interval of the mean difference lies above zero,
// below zero, or contains it. No interval, no evidence.
const (
	Open Evidence = iota
	For
	Against
)

// Evidence returns what the paired differences say.
func (s Summary) Evidence() Evidence {
	switch {
	case !s.HasInterval:
		return Open
	case s.Mean-s.Half > 0:
		return For
	case s.Mean+s.Half < 0:
		return Against
	}
	return Open
}

// UnitRule adjusts GradeUnits to the claim.
type UnitRule struct {
	// Exceptions is the number of units that the statement itself excepts, as in
	// "all but one".
	Exceptions int
	// Scale multiplies the differences, and Unit names the result, in Finding.Ours.
	// 0 means 1.
	Scale float64
	Unit  string
}

// GradeUnits grades "in every unit (but some exceptions) the difference is
// positive" by the rule of docs/design.md:
//
//   - reproduced: the mean is positive in every unit, the paired interval is for
//     in at least 90 % of them and against in none (Exceptions units may fail);
//   - partly: not so, but the mean over units is for;
//   - not reproduced: the mean over units is against;
//   - undecided: otherwise, with the number of trials it would take.
//
// The mean over units is taken per trial, and its interval over trials. It
// returns an error unless every unit has the same positive number of trials.
func GradeUnits(units []Unit, rule UnitRule) (Finding, error) {
	if len(units) == 0 {
		return Finding{}, errors.New("experiment: no units to grade")
	}
	trials := len(units[0].Diffs)
	overall := make([]float64, trials)
	positive, nFor, nAgainst := 0, 0, 0
	var failing []string
	for _, u := range units {
		if len(u.Diffs) != trials || trials == 0 {
			return Finding{}, fmt.Errorf("experiment: unit %s has %d trials, want %d > 0", u.Name, len(u.Diffs), trials)
		}
		for i, d := range u.Diffs {
			overall[i] += d / float64(len(units))
		}
		s := Summarize(u.Diffs)
		if s.Mean > 0 {
			positive++
		} else {
			failing = append(failing, u.Name)
		}
		switch s.Evidence() {
		case For:
			nFor++
		case Against:
			nAgainst++
		}
	}
	all := Summarize(overall)
	scale := rule.Scale
	if scale == 0 {
		scale = 1
	}
	f := Finding{Ours: fmt.Sprintf("%d of %d positive; %d for, %d open, %d against; mean difference %s",
		positive, len(units), nFor, len(units)-nFor-nAgainst, nAgainst, all.format(scale, rule.Unit))}
	if len(units) == 1 {
		f.Ours = "difference " + all.format(scale, rule.Unit)
	}
	enoughFor := math.Ceil(0.9 * float64(len(units)-rule.Exceptions))
	switch {
	case !all.HasInterval:
		f.Verdict = Undecided
		f.Reason = fmt.Sprintf("%d trial(s); an interval needs at least %d.", trials, MinTrials)
	case positive >= len(units)-rule.Exceptions && float64(nFor) >= enoughFor && nAgainst <= rule.Exceptions:
		f.Verdict = Reproduced
		f.Reason = "The claimed sign holds in every unit that the statement names, and the paired intervals support it."
	case all.Evidence() == For:
		f.Verdict = Partly
		f.Reason = "The mean over units supports it, but not every unit does: " + quantifier(failing, nFor, nAgainst, len(units)) + "."
	case all.Evidence() == Against:
		f.Verdict = NotReproduced
		f.Reason = "The mean over units is against it."
	default:
		f.Verdict = Undecided
		f.Reason = fmt.Sprintf("The interval of the mean over units contains zero; at this spread it would take about %d trials.", trialsNeeded(all))
	}
	return f, nil
}

func quantifier(failing []string, nFor, nAgainst, n int) string {
	var parts []string
	if len(failing) > 0 {
		shown := failing
		more := ""
		if len(shown) > 8 {
			shown, more = shown[:8], fmt.Sprintf(" and %d more", len(failing)-8)
		}
		parts = append(parts, "the mean has the other sign (or is zero) in "+strings.Join(shown, ", ")+more)
	}
	if nAgainst > 0 {
		parts = append(parts, fmt.Sprintf("%d against", nAgainst))
	}
	return strings.Join(append(parts, fmt.Sprintf("%d of %d have an interval above zero", nFor, n)), "; ")
}

// trialsNeeded extrapolates, with half-widths shrinking like 1/√n, when the
// interval would leave zero.
func trialsNeeded(s Summary) int {
	if s.Mean == 0 {
		return math.MaxInt32
	}
	r := s.Half / math.Abs(s.Mean)
	return int(math.Ceil(math.Min(float64(s.N)*r*r, math.MaxInt32)))
}

func (s Summary) format(scale float64, unit string) string {
	if unit != "" {
		unit = " " + unit
	}
	if !s.HasInterval {
		return fmt.Sprintf("%.3g%s (no interval)", scale*s.Mean, unit)
	}
	return fmt.Sprintf("%.3g%s [%.3g, %.3g]", scale*s.Mean, unit, scale*(s.Mean-s.Half), scale*(s.Mean+s.Half))
}

// GradeAlways grades a statement that is true or false in each trial: reproduced
// if it holds in all, partly if in more than half, else not reproduced; undecided
// with fewer than MinTrials trials. It returns an error if there is no trial.
func GradeAlways(holds []bool) (Finding, error) {
	n := 0
	for _, h := range holds {
		if h {
			n++
		}
	}
	f := Finding{Ours: fmt.Sprintf("holds in %d of %d trials", n, len(holds))}
	switch {
	case len(holds) == 0:
		return Finding{}, errors.New("experiment: no trials to grade")
	case len(holds) < MinTrials:
		f.Verdict, f.Reason = Undecided, fmt.Sprintf("Fewer than %d trials.", MinTrials)
	case n == len(holds):
		f.Verdict, f.Reason = Reproduced, "The predicate holds in every trial."
	case 2*n > len(holds):
		f.Verdict, f.Reason = Partly, "The predicate holds in most trials, not in all."
	default:
		f.Verdict, f.Reason = NotReproduced, "The predicate fails in at least half of the trials."
	}
	return f, nil
}

// Reading is a finding under one declared reading of an ambiguous statement.
type Reading struct {
	Name    string
	Finding Finding
}

// AllReadings combines the readings of one statement: the common verdict if
// they agree; partly if it holds, wholly or partly, under some of them only;
// otherwise (undecided here, not reproduced there) undecided. It panics without
// readings.
func AllReadings(rs []Reading) Finding {
	var ours, reason []string
	same, holds := true, false
	for _, r := range rs {
		ours = append(ours, r.Name+": "+r.Finding.Ours)
		reason = append(reason, fmt.Sprintf("%s: %s. %s", r.Name, r.Finding.Verdict, r.Finding.Reason))
		same = same && r.Finding.Verdict == rs[0].Finding.Verdict
		holds = holds || r.Finding.Verdict == Reproduced || r.Finding.Verdict == Partly
	}
	f := Finding{Ours: strings.Join(ours, ". "), Reason: strings.Join(reason, " ")}
	switch {
	case same:
		f.Verdict = rs[0].Finding.Verdict
	case holds:
		f.Verdict = Partly
	default:
		f.Verdict = Undecided
	}
	return f
}
