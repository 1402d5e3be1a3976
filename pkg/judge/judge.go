// Package judge says whether numbers bear out what somebody claims: it turns the paired
// differences of trials, data sets or splits into verdicts with their intervals. Numbers
// go in, findings come out; it knows no paper, no table and no learner.
//
// A Test is a predicate with the numbers that it is put to. Tests are built of
//
//	Positive    a difference is positive in every unit, or in all but some
//	Equivalent  a difference lies within a margin in a share of the units
//	Holds       a statement is true in each trial
//	Number      a mean is a printed number, within a tolerance
//	Ratio       the mean of one thing is at most, or at least, so many times that of another
//	Readings    a statement has several readings, and each is a test
//	Both        a statement has several parts, and all must hold
//	Margin      a test with a margin of our own, and where its verdict turns
//	StandIn     a test on other data than the statement's: shown, without a verdict
//	Check       a test of what cannot fail, and why
//	Unfit       nothing can be tested, and why
//	Unsettled   nothing can be decided, and why
//	Shown       a test whose numbers are told in other words
//
// and Judge gives their Finding. The statistics behind them (Summarize, FriedmanTest,
// ResampledP, Holm, PseudoValues) can be used alone.
package judge

// Verdict grades a claim.
type Verdict string

// The verdicts.
const (
	// Reproduced: the numbers show what is claimed.
	Reproduced Verdict = "reproduced"
	// Partly: they show it on the whole, but not everywhere, or not under every reading.
	Partly Verdict = "partly"
	// NotReproduced: they show the contrary.
	NotReproduced Verdict = "not reproduced"
	// Undecided: they show neither.
	Undecided Verdict = "undecided"
	// Untestable: what is claimed cannot be tested here.
	Untestable Verdict = "untestable"
	// ByConstruction: the claim cannot fail, whatever the numbers are.
	ByConstruction Verdict = "holds by construction"
	// NotGraded: no complete result is there to grade.
	NotGraded Verdict = "not graded"
)

// Verdicts lists all verdicts, best first.
var Verdicts = []Verdict{Reproduced, Partly, NotReproduced, Undecided, Untestable, ByConstruction, NotGraded}

// A Test is a predicate with the numbers that it is put to.
type Test interface {
	// judge returns the finding. It ends in Refuse if the numbers do
	// not make sense.
	judge() Finding
}

// Judge puts a test to its numbers. The error says what is wrong with them, such as
// trials that differ in number or a value that is not finite.
func Judge(t Test) (f Finding, err error) {
	defer Refused(&err)
	if t == nil {
		Refuse("judge: no test")
	}
	return t.judge(), nil
}

// Rule says what the values of a test are, and how they are printed.
type Rule struct {
	// Scale multiplies the numbers of the finding, for example 100 for per cent; 0 means 1.
	Scale float64
	// Unit is the unit of the printed numbers after scaling: "points" are percentage points.
	Unit string
	// Sample is what there is one value of; "" means "trial".
	Sample string
	// TestRatio is n_test/n_train if the values come from random splits of the same
	// data; then all intervals are those of SummarizeResampled, also that of the mean
	// over units, whose splits are drawn alike. 0 means independent values.
	TestRatio float64
}

// Unit is one data set, problem or curve that a claim speaks of.
type Unit struct {
	Name string
	// Diffs holds one paired difference per trial, positive in the direction that is
	// claimed. Where a predicate has a margin ("worse by 2 points"), it is taken off.
	Diffs []float64
}

// Paired returns the unit of the differences a − b, trial by trial. It refuses columns of
// different lengths.
func Paired(name string, a, b []float64) Unit { return Unit{name, Minus(a, b)} }

// Minus returns a − b, entry by entry. It refuses columns of different lengths.
func Minus(a, b []float64) []float64 {
	SameLength("two columns", a, b)
	out := make([]float64, len(a))
	for i := range a {
		out[i] = a[i] - b[i]
	}
	return out
}

// SameLength refuses columns of different lengths, such as the trials of two methods that
// are compared by trial. what names them.
func SameLength(what string, columns ...[]float64) {
	for _, c := range columns {
		if len(c) != len(columns[0]) {
			Refuse("%s: %d values against %d, want as many (one per trial)", what, len(columns[0]), len(c))
		}
	}
}
