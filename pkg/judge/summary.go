package judge

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// MinTrials is the smallest number of trials that gets a 95 % interval.
const MinTrials = 6

// fewTrials is the warning that a summary of fewer than MinTrials trials
// carries. It belongs into the caption.
const fewTrials = "fewer than 6 trials: no 95 % interval"

// level is the chance that a 95 % interval misses.
const level = 0.05

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
func Summarize(values []float64) Summary { return SummarizeAt(values, level) }

// SummarizeAt is Summarize with an interval that misses with the chance level, more than 0 and less than 1, in place of 0.05. It refuses another level; see Refuse.
func SummarizeAt(values []float64, level float64) Summary {
	if !(level > 0 && level < 1) {
		Refuse("judge: level %v is not allowed, want more than 0 and less than 1", level)
	}
	s := Summary{N: len(values), Mean: math.NaN(), Half: math.NaN()}
	if s.N > 0 {
		// The mean of equal values is that value, without round-off, so that
		// a difference that is always 0 is never for or against.
		s.Mean = values[0]
		if slices.Max(values) != slices.Min(values) {
			s.Mean = stat.Mean(values, nil)
			if math.Abs(s.Mean) <= roundOff(values) && !math.IsInf(s.Mean, 0) {
				s.Mean = 0
			}
		}
	}
	if s.N < MinTrials {
		s.Warnings = []string{fewTrials}
		return s
	}
	s.HasInterval = true
	s.Half = halfWidth(values, level, 0)
	return s
}

// roundOff bounds how far from 0 round-off leaves the mean of values that cancel. Errors
// are counts over a number of rows: where two methods have equally many, no sign is to be
// read from the last bit of the mean. A mean of such differences that is not 0 is at least
// one row among all, far above 1e-12 of their mean size.
func roundOff(values []float64) float64 {
	return 1e-12 * floats.Norm(values, 1) / float64(len(values))
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
		Refuse("judge: ratio of test to training size is %v, want a positive number", ratio)
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

// checkRatio refuses what is no Rule.TestRatio.
func checkRatio(ratio float64) {
	if !(ratio >= 0) || math.IsInf(ratio, 1) {
		Refuse("judge: TestRatio %g is not allowed, want n_test/n_train, or 0 for independent values", ratio)
	}
}

// quantile returns t(1−level/2, n−1).
func quantile(n int, level float64) float64 {
	type key struct {
		n     int
		level float64
	}
	if q, ok := quantiles.Load(key{n, level}); ok {
		return q.(float64)
	}
	q := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(n - 1)}.Quantile(1 - level/2)
	quantiles.Store(key{n, level}, q)
	return q
}

// quantiles keeps what quantile has found: each is the root of an incomplete beta function,
// and a figure asks for the same ones thousands of times.
var quantiles sync.Map

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
