package experiment

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// MinTrials is the smallest number of trials that gets a 95 % interval.
const MinTrials = 6

// FewTrials is the warning that a summary of fewer than MinTrials trials
// carries. It belongs into the caption.
const FewTrials = "fewer than 6 trials: no 95 % interval"

// level is the chance that a 95 % interval misses.
const level = 0.05

// forShare is the share of units that must be for a claim that is reproduced.
const forShare = 0.9

// aTrial is the default of UnitRule.Sample.
const aTrial = "trial"

// maxMore bounds the number of trials that an undecided claim asks for.
const maxMore = 1000

// Summary is the mean of some trials with its 95 % interval Mean ± Half.
type Summary struct {
	N           int
	Mean        float64 // NaN without values
	Half        float64 // half-width of the interval; NaN if HasInterval is false
	HasInterval bool
	Warnings    []string
}

// Summarize returns the mean of one value per trial and the half-width
// t(0.975, n−1)·s/√n of its 95 % interval (Student 1908), where s is the sample
// standard deviation with divisor n−1. Fewer than MinTrials trials get a
// warning and no interval. Equal values have the interval of width 0.
func Summarize(values []float64) Summary {
	s := Summary{N: len(values), Mean: math.NaN(), Half: math.NaN()}
	if s.N > 0 {
		// The mean of equal values is that value, without round-off, so that
		// a difference that is always 0 is never for or against.
		s.Mean = values[0]
		if slices.Max(values) != slices.Min(values) {
			s.Mean = stat.Mean(values, nil)
		}
	}
	if s.N < MinTrials {
		s.Warnings = []string{FewTrials}
		return s
	}
	s.HasInterval = true
	s.Half = halfWidth(values, level, 0)
	return s
}

// SummarizeResampled returns the mean of one value per split of the same data
// into training and test set, with the half-width of its corrected 95 % interval
//
//	t(0.975, J−1)·s·√(1/J + ratio),  ratio = n_test/n_train,
//
// where J is the number of values and s their standard deviation with divisor
// J−1: the corrected resampled t interval of Nadeau and Bengio (Inference for the
// Generalization Error. Machine Learning 52, 2003). The training sets of two
// splits overlap, so that the values are correlated and Summarize, which takes
// them for independent, would be far too sure; the correction takes the
// correlation to be n_test/(n_test+n_train). It was derived for random splits;
// Bouckaert and Frank (Evaluating the Replicability of Significance Tests, PAKDD
// 2004) recommend it for repeated cross-validation with F folds, where the ratio
// is 1/(F−1). Fewer than MinTrials values get a warning and no interval.
//
// It refuses a ratio that is not positive and finite; see Refuse.
func SummarizeResampled(values []float64, ratio float64) Summary {
	if !(ratio > 0) || math.IsInf(ratio, 1) {
		Refuse("experiment: ratio of test to training size is %v, want a positive number", ratio)
	}
	return summarize(values, ratio)
}

// summarize is SummarizeResampled, and Summarize if ratio is 0.
func summarize(values []float64, ratio float64) Summary {
	s := Summarize(values)
	if s.HasInterval {
		s.Half = halfWidth(values, level, ratio)
	}
	return s
}

// halfWidth returns t(1−level/2, n−1)·s·√(1/n + ratio) for n values.
func halfWidth(values []float64, level, ratio float64) float64 {
	n := float64(len(values))
	return quantile(len(values), level) * sd(values) / math.Sqrt(n) * math.Sqrt(1+n*ratio) // √(1/n + ratio) over √(1/n)
}

// checkRatio returns an error unless ratio is a TestRatio.
func checkRatio(ratio float64) error {
	if !(ratio >= 0) || math.IsInf(ratio, 1) {
		return fmt.Errorf("experiment: TestRatio %g is not allowed, want n_test/n_train, or 0 for independent values", ratio)
	}
	return nil
}

// quantile returns t(1−level/2, n−1).
func quantile(n int, level float64) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(n - 1)}.Quantile(1 - level/2)
}

// sd is the sample standard deviation, exactly 0 for equal values.
func sd(values []float64) float64 {
	if slices.Max(values) == slices.Min(values) {
		return 0
	}
	return stat.StdDev(values, nil)
}

// Interval returns the mean and the half-width of its interval, 0 if there is none.
func (s Summary) Interval() (mean, half float64) {
	if !s.HasInterval {
		return s.Mean, 0
	}
	return s.Mean, s.Half
}

// Percent formats the mean of shares in per cent, as "12.34 ± 0.56" if it has an
// interval.
func (s Summary) Percent() string {
	if !s.HasInterval {
		return fmt.Sprintf("%.2f", 100*s.Mean)
	}
	return fmt.Sprintf("%.2f ± %.2f", 100*s.Mean, 100*s.Half)
}

// Side says on which side of zero the interval of a mean difference lies.
type Side string

// The sides. An interval that touches zero, and a missing one, is Open.
const (
	For     Side = "for"
	Against Side = "against"
	Open    Side = "open"
)

// Side returns For if the whole interval is above zero, Against if it is below.
func (s Summary) Side() Side {
	switch {
	case s.HasInterval && s.Mean-s.Half > 0:
		return For
	case s.HasInterval && s.Mean+s.Half < 0:
		return Against
	}
	return Open
}

// Unit is one data set, problem or curve that a claim speaks of.
type Unit struct {
	Name string
	// Diffs holds one paired difference per trial, positive in the direction
	// that the paper claims.
	Diffs []float64
}

// UnitRule adapts GradeUnits to a claim.
type UnitRule struct {
	// Exceptions is the number of units that the statement itself excepts, as
	// "all but one" does. The units with the smallest mean differences are taken, and
	// the kept ones, chosen for being the largest, count as for only at the level
	// 0.05/(Exceptions+1): the Bonferroni test that at least that many of the
	// differences are positive (Benjamini and Heller 2008).
	Exceptions int
	// Scale multiplies the printed numbers, for example 100 for per cent; 0 means 1.
	Scale float64
	// Unit is the unit of the printed numbers after scaling, for example "points".
	Unit string
	// Sample is what Diffs has one value of; "" means "trial".
	Sample string
	// TestRatio is n_test/n_train if the values of Diffs come from random splits of
	// the same data; then all intervals are those of SummarizeResampled, also that of
	// the mean over units, whose splits are drawn alike. 0 means independent values.
	TestRatio float64
}

// GradeUnits grades a claim that a difference is positive in every unit. All
// units must have the same trials, in the same order: the overall interval is
// that of the mean over units, taken per trial.
//
//   - Reproduced: apart from the excepted units, the mean difference is positive
//     in every unit, at least 90 % of the units are for, none is against.
//   - Partly: otherwise, if the mean over all units is for.
//   - NotReproduced: if the mean over all units is against, or is open while some
//     unit is against at the level 0.05/len(units) (Bonferroni, the first step of
//     Holm 1979): more trials could not save a statement about every unit.
//   - Undecided: otherwise; the reason estimates how many trials would decide.
//
// Errors: no unit, no trial, units with different numbers of trials, a
// difference that is not finite, exceptions outside 0..len(units)−1, a TestRatio
// that is negative or not finite.
func GradeUnits(units []Unit, rule UnitRule) (Finding, error) {
	overall, err := meanOverUnits(units)
	if err != nil {
		return Finding{}, err
	}
	if rule.Exceptions < 0 || rule.Exceptions >= len(units) {
		return Finding{}, fmt.Errorf("experiment: %d exceptions among %d units, want 0 to %d", rule.Exceptions, len(units), len(units)-1)
	}
	if err := checkRatio(rule.TestRatio); err != nil {
		return Finding{}, err
	}
	sums := make([]Summary, len(units))
	order := make([]int, len(units)) // of units, by mean difference
	for i, u := range units {
		sums[i], order[i] = summarize(u.Diffs, rule.TestRatio), i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch {
		case sums[i].Mean < sums[j].Mean:
			return -1
		case sums[i].Mean > sums[j].Mean:
			return 1
		}
		return 0
	})

	var wrong, against, refuting []string // units that contradict, worst first
	positive, isFor, counted := 0, 0, len(units)-rule.Exceptions
	for _, i := range order[rule.Exceptions:] {
		// The kept units are the best ones: a unit of theirs is for at the level
		// 0.05/(Exceptions+1).
		if sums[i].HasInterval && sums[i].Mean-halfWidth(units[i].Diffs, level/float64(rule.Exceptions+1), rule.TestRatio) > 0 {
			isFor++
		}
		if sums[i].Side() == Against {
			against = append(against, units[i].Name)
			if sums[i].Mean+halfWidth(units[i].Diffs, level/float64(counted), rule.TestRatio) < 0 {
				refuting = append(refuting, units[i].Name)
			}
		}
		if sums[i].Mean > 0 {
			positive++
		} else {
			wrong = append(wrong, units[i].Name)
		}
	}
	total := summarize(overall, rule.TestRatio)
	sample := cmp.Or(rule.Sample, aTrial)
	f := Finding{Ours: "mean difference " + rule.format(total)}
	except := ""
	if rule.Exceptions > 0 {
		except = fmt.Sprintf(" (apart from %d excepted)", rule.Exceptions)
	}
	counts := ""
	if len(units) > 1 {
		counts = fmt.Sprintf("Positive in %d of %d units%s: %d for, %d against, %d open.", positive, counted, except, isFor, len(against), counted-isFor-len(against))
	}
	var why string
	switch {
	case !total.HasInterval:
		f.Verdict = Undecided
		why = fmt.Sprintf("Only %d %s(s); %d are needed for an interval.", total.N, sample, MinTrials)
	case positive == counted && len(against) == 0 && float64(isFor) >= forShare*float64(counted):
		f.Verdict = Reproduced
		if len(units) == 1 {
			why = "The whole 95 % interval is above zero."
		}
	case total.Side() == For:
		f.Verdict = Partly
		switch {
		case len(wrong) > 0:
			why = "The mean over units is for, but not every unit: " + some(wrong) + "."
		case len(against) > 0:
			why = "The mean over units is for, but units are against: " + some(against) + "."
		default:
			why = "The mean over units is for, but fewer than 90 % of the units are."
		}
	case total.Side() == Against:
		f.Verdict = NotReproduced
		why = "The mean over units is against."
		if len(units) == 1 {
			why = "The whole 95 % interval is below zero."
		}
	case len(refuting) > 0:
		f.Verdict = NotReproduced
		why = "The interval of the mean over units contains zero, and the statement names every unit, but these are against even after correction for the number of units: " + some(refuting) + "."
	default:
		f.Verdict = Undecided
		why = "The 95 % interval of the mean contains zero; " + moreTrials(overall, sample, rule.TestRatio) + "."
	}
	f.Reason = strings.TrimSpace(counts + " " + why)
	return f, nil
}

// meanOverUnits returns, per trial, the mean of the units' differences.
func meanOverUnits(units []Unit) ([]float64, error) {
	if len(units) == 0 {
		return nil, errors.New("experiment: no units to grade")
	}
	n := len(units[0].Diffs)
	if n == 0 {
		return nil, fmt.Errorf("experiment: unit %s has no trials", units[0].Name)
	}
	mean := make([]float64, n)
	for _, u := range units {
		if len(u.Diffs) != n {
			return nil, fmt.Errorf("experiment: unit %s has %d trials, unit %s has %d", u.Name, len(u.Diffs), units[0].Name, n)
		}
		for i, d := range u.Diffs {
			if math.IsNaN(d) || math.IsInf(d, 0) {
				return nil, fmt.Errorf("experiment: unit %s, trial %d: difference %g is not finite", u.Name, i, d)
			}
			mean[i] += d / float64(len(units))
		}
	}
	return mean, nil
}

func (r UnitRule) format(s Summary) string {
	scale := r.Scale
	if scale == 0 {
		scale = 1
	}
	out := fmt.Sprintf("%.3g", scale*s.Mean)
	if s.HasInterval {
		out += fmt.Sprintf(" ± %.2g", scale*s.Half)
	}
	if r.Unit != "" {
		out += " " + r.Unit
	}
	return out
}

// moreTrials estimates how many trials in all, or how long a sequence if sample is a
// part of one, would take the interval of the mean off zero if mean and deviation
// stayed as they are. However many splits of the same data there are, that is with
// ratio > 0, the half-width stays above z(0.975)·s·√ratio.
func moreTrials(values []float64, sample string, ratio float64) string {
	m, s := math.Abs(Summarize(values).Mean), sd(values)
	if m == 0 || s == 0 {
		return "the mean difference is zero, more " + sample + "s would not help"
	}
	if m <= distuv.UnitNormal.Quantile(1-level/2)*s*math.Sqrt(ratio) {
		return "more splits of the same data would not decide, larger data might"
	}
	sequence := ratio == 0 && sample != aTrial
	for n := len(values) + 1; n <= maxMore; n++ {
		if quantile(n, level)*s/math.Sqrt(float64(n))*math.Sqrt(1+float64(n)*ratio) < m {
			if sequence { // cutting it finer brings no data
				return fmt.Sprintf("a sequence about %.2g times as long might decide", float64(n)/float64(len(values)))
			}
			return fmt.Sprintf("about %d %ss instead of %d might decide", n, sample, len(values))
		}
	}
	if sequence {
		return fmt.Sprintf("even a sequence %d times as long would not decide", maxMore/len(values))
	}
	return fmt.Sprintf("even %d %ss would not decide", maxMore, sample)
}

// some names at most five of many.
func some(names []string) string {
	const shown = 5
	if len(names) <= shown {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
}

// GradeAlways grades a statement that is true or false in each trial.
//
//   - Reproduced: it holds in every trial.
//   - Partly: it holds in more than half of them.
//   - NotReproduced: otherwise.
//   - Undecided: there are fewer than MinTrials trials.
//
// It returns an error if there is no trial.
func GradeAlways(holds []bool) (Finding, error) {
	if len(holds) == 0 {
		return Finding{}, errors.New("experiment: no trials to grade")
	}
	n := 0
	for _, h := range holds {
		if h {
			n++
		}
	}
	f := Finding{Ours: fmt.Sprintf("holds in %d of %d trials", n, len(holds))}
	switch {
	case len(holds) < MinTrials:
		f.Verdict, f.Reason = Undecided, fmt.Sprintf("Only %d trial(s); %d are needed.", len(holds), MinTrials)
	case n == len(holds):
		f.Verdict, f.Reason = Reproduced, "It holds in every trial."
	case 2*n > len(holds):
		f.Verdict, f.Reason = Partly, "It holds in most trials, not in all."
	default:
		f.Verdict, f.Reason = NotReproduced, "It does not hold in most trials."
	}
	return f, nil
}

// GradeNumber grades a printed number: Reproduced if the mean over trials is
// within max(half-width of its 95 % interval, tolerance) of it, otherwise
// NotReproduced; Undecided with fewer than MinTrials trials, and in place of Reproduced
// if the interval is wider than a tolerance that is not 0, since a wide one would contain
// any number. The error is
// non-nil if a value is not finite, there is none, or the tolerance is
// negative.
func GradeNumber(theirs float64, ours []float64, tolerance float64) (Finding, error) {
	if len(ours) == 0 {
		return Finding{}, errors.New("experiment: no trials to grade")
	}
	if !(tolerance >= 0) {
		return Finding{}, fmt.Errorf("experiment: tolerance %g, want at least 0", tolerance)
	}
	for i, v := range append([]float64{theirs}, ours...) {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return Finding{}, fmt.Errorf("experiment: value %d is %g, want a finite number", i, v)
		}
	}
	s := Summarize(ours)
	f := Finding{Ours: UnitRule{}.format(s)}
	if !s.HasInterval {
		f.Verdict, f.Reason = Undecided, fmt.Sprintf("Only %d trial(s); %d are needed for an interval.", s.N, MinTrials)
		return f, nil
	}
	off, allowed := math.Abs(s.Mean-theirs), math.Max(s.Half, tolerance)
	if off <= allowed && tolerance > 0 && s.Half > tolerance {
		f.Verdict = Undecided
		f.Reason = fmt.Sprintf("Differs by %.2g from %g, but the interval is wider than the tolerance %.2g.", off, theirs, tolerance)
	} else if off <= allowed {
		f.Verdict = Reproduced
		f.Reason = fmt.Sprintf("Differs by %.2g from %g, allowed is %.2g.", off, theirs, allowed)
	} else {
		f.Verdict = NotReproduced
		f.Reason = fmt.Sprintf("Differs by %.2g from %g, more than %.2g.", off, theirs, allowed)
	}
	return f, nil
}

// Reading is the finding of a claim under one way to read the paper.
type Reading struct {
	Name    string
	Finding Finding
}

// AllReadings combines the findings under all declared readings of a claim.
//
//   - NotGraded, Untestable: if any reading is so.
//   - Reproduced, NotReproduced: if all readings are so.
//   - Partly: otherwise, if at least one reading is Reproduced or Partly.
//   - Undecided: otherwise.
//
// The reason names each reading, after a count of verdicts if there are more than
// three. It refuses an empty list; see Refuse.
func AllReadings(readings []Reading) Finding {
	NotEmpty("readings to grade", readings)
	count := map[Verdict]int{}
	var ours, reasons []string
	for _, r := range readings {
		count[r.Finding.Verdict]++
		ours = append(ours, r.Name+": "+r.Finding.Ours)
		reasons = append(reasons, fmt.Sprintf("%s: %s. %s", r.Name, r.Finding.Verdict, r.Finding.Reason))
	}
	if len(readings) > 3 { // a summary for those who do not read all of it
		var parts []string
		for _, v := range Verdicts {
			if n := count[v]; n > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", n, v))
			}
		}
		reasons = slices.Insert(reasons, 0, fmt.Sprintf("Of %d readings: %s.", len(readings), strings.Join(parts, ", ")))
	}
	f := Finding{Verdict: Undecided, Ours: strings.Join(ours, "; "), Reason: strings.Join(reasons, " ")}
	switch {
	case count[NotGraded] > 0:
		f.Verdict = NotGraded
	case count[Untestable] > 0:
		f.Verdict = Untestable
	case count[Reproduced] == len(readings):
		f.Verdict = Reproduced
	case count[NotReproduced] == len(readings):
		f.Verdict = NotReproduced
	case count[Reproduced]+count[Partly] > 0:
		f.Verdict = Partly
	}
	return f
}
