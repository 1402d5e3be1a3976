package judge

import "math"

// Number tests a printed number.
//
//   - Reproduced: the mean over trials is within max(half-width of its 95 % interval,
//     Tolerance) of it.
//   - Undecided: there are fewer than MinTrials trials; or it would be Reproduced, but the
//     interval is wider than a tolerance that is not 0, and a wide one contains any number.
//   - NotReproduced: otherwise.
//
// It refuses a value that is not finite, no values, and a tolerance that is negative or
// not finite.
type Number struct {
	Theirs float64
	// Ours has one value per trial.
	Ours      []float64
	Tolerance float64
}

func (n Number) judge() Finding {
	if len(n.Ours) == 0 {
		Refuse("judge: no trials to grade")
	}
	if !(n.Tolerance >= 0) || math.IsInf(n.Tolerance, 1) {
		Refuse("judge: tolerance %g, want a finite number of at least 0", n.Tolerance)
	}
	for i, v := range append([]float64{n.Theirs}, n.Ours...) {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			Refuse("judge: value %d is %g, want a finite number", i, v)
		}
	}
	s := Summarize(n.Ours)
	f := Finding{Verdict: NotReproduced, Test: KindNumber, Sample: aTrial, Mean: Rule{}.level(s), Theirs: &n.Theirs, Tolerance: n.Tolerance}
	switch near := math.Abs(s.Mean-n.Theirs) <= math.Max(s.Half, n.Tolerance); {
	case !s.HasInterval:
		f.Verdict, f.Need = Undecided, wordsFew(aTrial)
	case near && n.Tolerance > 0 && s.Half > n.Tolerance:
		f.Verdict, f.Need = Undecided, Rule{}.need(n.Ours, n.Tolerance)
	case near:
		f.Verdict = Reproduced
	}
	return f.worded()
}

// Ratio tests that the mean of Over divided by that of Under is at most, or at least,
// Bound. The difference Bound·Under − Over, paired by trial, is tested as Positive is, so
// that a small denominator in one trial does not decide. What is shown beside it is the
// mean over trials of the quotients.
//
// It refuses what Positive refuses, and values of Under that are not positive.
type Ratio struct {
	// Over and Under have one value per trial.
	Over, Under []float64
	Bound       float64
	AtLeast     bool
	// What names the values, "mean over the problems".
	What string
	Rule Rule
}

func (r Ratio) judge() Finding {
	SameLength("the two sides of a ratio", r.Over, r.Under)
	diffs, quotients := make([]float64, len(r.Over)), make([]float64, len(r.Over))
	for i := range diffs {
		if !(r.Under[i] > 0) {
			Refuse("judge: ratio: value %d of the denominator is %g, want a positive number", i, r.Under[i])
		}
		diffs[i] = r.Bound*r.Under[i] - r.Over[i]
		if r.AtLeast {
			diffs[i] = -diffs[i]
		}
		quotients[i] = r.Over[i] / r.Under[i]
	}
	f := Positive{Units: []Unit{{r.What, diffs}}, Rule: r.Rule}.judge()
	f.Test, f.Theirs, f.Bound = KindRatio, &r.Bound, "at most"
	if r.AtLeast {
		f.Bound = "at least"
	}
	f.Over, f.Under = r.Rule.level(summarize(r.Over, r.Rule.TestRatio)), r.Rule.level(summarize(r.Under, r.Rule.TestRatio))
	f.Quotient = Rule{}.level(summarize(quotients, r.Rule.TestRatio))
	f.Ours = f.wordsOfRatio()
	return f
}

// Holds tests a statement that is true or false in each trial.
//
//   - Reproduced: it holds in every trial.
//   - Partly: it holds in more than half of them.
//   - NotReproduced: otherwise.
//   - Undecided: there are fewer than MinTrials trials.
//
// It refuses no trial.
type Holds []bool

func (h Holds) judge() Finding {
	if len(h) == 0 {
		Refuse("judge: no trials to grade")
	}
	f := Finding{Test: KindHolds, Sample: aTrial, Trials: len(h)}
	for i, ok := range h {
		if !ok {
			f.Failing = append(f.Failing, i)
		}
	}
	switch n := len(h) - len(f.Failing); {
	case len(h) < MinTrials:
		f.Verdict, f.Need = Undecided, wordsFew(aTrial)
	case n == len(h):
		f.Verdict = Reproduced
	case 2*n > len(h):
		f.Verdict = Partly
	default:
		f.Verdict = NotReproduced
	}
	return f.worded()
}
