package experiment

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats/scalar"
	"gonum.org/v1/gonum/stat"
)

// t5 is t(0.975, 5), from printed tables (2.571) with more digits.
const t5 = 2.5705818366147395

// tolT is how exactly gonum's quantile meets the table above.
const tolT = 1e-9

func TestSummarize(t *testing.T) {
	// 1..6: mean 3.5, squared deviations 2·(6.25+2.25+0.25) = 17.5, s² = 3.5,
	// half-width t5·√(3.5/6).
	s := Summarize([]float64{1, 2, 3, 4, 5, 6})
	if s.N != 6 || s.Mean != 3.5 || !s.HasInterval || len(s.Warnings) != 0 {
		t.Errorf("got %+v", s)
	}
	if want := t5 * math.Sqrt(3.5/6); !scalar.EqualWithinRel(s.Half, want, tolT) {
		t.Errorf("half-width %v, want %v", s.Half, want)
	}

	few := Summarize([]float64{1, 2, 3, 4, 5})
	if few.Mean != 3 || few.HasInterval || !math.IsNaN(few.Half) || len(few.Warnings) != 1 || few.Warnings[0] != FewTrials {
		t.Errorf("five trials: got %+v", few)
	}
	equal := Summarize([]float64{0.1, 0.1, 0.1, 0.1, 0.1, 0.1})
	if equal.Mean != 0.1 || equal.Half != 0 || !equal.HasInterval {
		t.Errorf("equal values: got %+v", equal)
	}
	if none := Summarize(nil); !math.IsNaN(none.Mean) || none.HasInterval {
		t.Errorf("no values: got %+v", none)
	}
}

func TestSummarizeResampled(t *testing.T) {
	// As in TestSummarize, with 1/6 + 1/4 for 1/6: five folds.
	s := SummarizeResampled([]float64{1, 2, 3, 4, 5, 6}, 1.0/4)
	if want := t5 * math.Sqrt((1.0/6+1.0/4)*3.5); s.Mean != 3.5 || s.N != 6 || !scalar.EqualWithinRel(s.Half, want, tolT) {
		t.Errorf("got %+v, want a half-width of %v", s, want)
	}
	if few := SummarizeResampled([]float64{1, 2}, 1); few.HasInterval || !math.IsNaN(few.Half) || len(few.Warnings) != 1 {
		t.Errorf("two values: got %+v", few)
	}
	for _, ratio := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("ratio %v was accepted", ratio)
				}
			}()
			SummarizeResampled([]float64{1, 2, 3, 4, 5, 6}, ratio)
		}()
	}
}

// If the values are normal and equally correlated with n_test/(n_test+n_train),
// as the correction assumes, the interval holds the true mean with probability
// 0.95, and that of Summarize with much less.
func TestSummarizeResampledCoverage(t *testing.T) {
	const (
		runs, values = 4000, 20
		ratio        = 1.0 / 4
		rho          = ratio / (1 + ratio)
		tol          = 0.014 // 4 standard errors of a share of 0.95 among 4000
	)
	rng := rand.New(rand.NewPCG(1, 2))
	corrected, plain := 0, 0
	x := make([]float64, values)
	for range runs {
		common := math.Sqrt(rho) * rng.NormFloat64()
		for j := range x {
			x[j] = common + math.Sqrt(1-rho)*rng.NormFloat64()
		}
		if SummarizeResampled(x, ratio).Side() == Open {
			corrected++
		}
		if Summarize(x).Side() == Open {
			plain++
		}
	}
	if share := float64(corrected) / runs; math.Abs(share-0.95) > tol {
		t.Errorf("the corrected interval covers the mean in %v of the runs, want 0.95", share)
	}
	if share := float64(plain) / runs; share > 0.7 {
		t.Errorf("the plain interval covers the mean in %v of the runs: the values are not correlated", share)
	}
}

func TestSide(t *testing.T) {
	tests := []struct {
		name   string
		values []float64
		want   Side
	}{
		// 1..6 shifted: the interval is mean ± 1.963.
		{"above zero", []float64{0, 1, 2, 3, 4, 5}, For},
		{"reaches zero", []float64{-1, 0, 1, 2, 3, 4}, Open},
		{"below zero", []float64{-5, -4, -3, -2, -1, 0}, Against},
		{"always positive", []float64{1, 1, 1, 1, 1, 1}, For},
		{"always negative", []float64{-1, -1, -1, -1, -1, -1}, Against},
		{"always zero", []float64{0, 0, 0, 0, 0, 0}, Open},
		{"too few", []float64{5, 5, 5}, Open},
	}
	for _, tt := range tests {
		if got := Summarize(tt.values).Side(); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

// The differences of the units below, by what their interval says.
var (
	isFor     = []float64{9, 10, 11, 9, 10, 11} // mean 10
	isAgainst = []float64{-9, -10, -11, -9, -10, -11}
	openPlus  = []float64{-4, 5, -3, 5, -4, 7} // mean 1, s ≈ 5.2, half-width ≈ 5.5
	openMinus = []float64{4, -5, 3, -5, 4, -7} // mean −1
	// mean −1, s ≈ 0.70, t ≈ 3.5: beyond 2.57 = t(.975, 5), within 4.77 = t(.9975, 5)
	weakAgainst = []float64{-1.8, -0.2, -1.5, -0.5, -1.6, -0.4}
	// mean 1, t ≈ 3.5: within 3.81 = t(.99375, 5), the level of the best of four
	weakFor   = []float64{1.8, 0.2, 1.5, 0.5, 1.6, 0.4}
	zero      = []float64{0, 0, 0, 0, 0, 0}
	slightly  = []float64{1, 1, 1, 1, 1, 1}
	negative1 = []float64{-1, -1, -1, -1, -1, -1}
)

// units repeats differences.
func units(groups ...any) []Unit {
	var out []Unit
	for i := 0; i < len(groups); i += 2 {
		for range groups[i].(int) {
			out = append(out, Unit{Name: "u" + string(rune('A'+len(out))), Diffs: groups[i+1].([]float64)})
		}
	}
	return out
}

func TestGradeUnits(t *testing.T) {
	tests := []struct {
		name   string
		units  []Unit
		rule   UnitRule
		want   Verdict
		reason string
	}{
		{"all for", units(3, isFor), UnitRule{}, Reproduced, "Positive in 3 of 3 units: 3 for, 0 against, 0 open."},
		{"exactly 90 % for, none against", units(9, isFor, 1, openPlus), UnitRule{}, Reproduced, "9 for, 0 against, 1 open"},
		{"less than 90 % for", units(8, isFor, 2, openPlus), UnitRule{}, Partly, "fewer than 90 %"},
		{"an open unit with the wrong sign", units(9, isFor, 1, openMinus), UnitRule{}, Partly, "not every unit: uJ."},
		{"a unit that is always equal", units(9, isFor, 1, zero), UnitRule{}, Partly, "not every unit: uJ."},
		{"one against", units(9, isFor, 1, negative1), UnitRule{}, Partly, "1 against"},
		{"one against, excepted", units(9, isFor, 1, negative1), UnitRule{Exceptions: 1}, Reproduced, "9 of 9 units (apart from 1 excepted)"},
		{"two against, one excepted", units(8, isFor, 2, negative1), UnitRule{Exceptions: 1}, Partly, "1 against"},
		{"the best of four weakly for", units(1, weakFor, 3, openMinus), UnitRule{Exceptions: 3}, Undecided, "0 for, 0 against, 1 open"},
		{"the best of four clearly for", units(1, isFor, 3, openMinus), UnitRule{Exceptions: 3}, Reproduced, "1 for, 0 against, 0 open"},
		{"the mean is against", units(2, isFor, 3, isAgainst), UnitRule{}, NotReproduced, "The mean over units is against."},
		{"balanced", units(1, isFor, 1, isAgainst), UnitRule{}, NotReproduced, "against even after correction for the number of units: uB"},
		{"open, one weakly against", units(9, openPlus, 1, weakAgainst), UnitRule{}, Undecided, "0 for, 1 against, 9 open"},
		{"open, none against", units(1, zero), UnitRule{}, Undecided, "more trials would not help"},
		{"too few trials", []Unit{{"u", []float64{1, 1, 1, 1, 1}}}, UnitRule{}, Undecided, "Only 5 trial(s); 6 are needed"},
		{"one unit for", units(1, slightly), UnitRule{}, Reproduced, "The whole 95 % interval is above zero."},
		{"one unit against", units(1, negative1), UnitRule{}, NotReproduced, "below zero"},
		{"one unit open", units(1, openPlus), UnitRule{}, Undecided, "might decide"},
	}
	for _, tt := range tests {
		f, err := GradeUnits(tt.units, tt.rule)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if f.Verdict != tt.want || !strings.Contains(f.Reason, tt.reason) {
			t.Errorf("%s: got %q because %q, want %q with %q", tt.name, f.Verdict, f.Reason, tt.want, tt.reason)
		}
	}
}

func TestGradeUnitsOurs(t *testing.T) {
	// Per trial the mean over the two units is 2, 3, 4, 5, 6, 7: mean 4.5,
	// half-width t5·√(3.5/6) = 1.963, in per cent 450 and 200 (two digits).
	u := []Unit{{"a", []float64{1, 2, 3, 4, 5, 6}}, {"b", []float64{3, 4, 5, 6, 7, 8}}}
	f, err := GradeUnits(u, UnitRule{Scale: 100, Unit: "points"})
	if err != nil {
		t.Fatal(err)
	}
	if want := "mean difference 450 ± 2e+02 points"; f.Ours != want {
		t.Errorf("got %q, want %q", f.Ours, want)
	}
}

func TestGradeUnitsErrors(t *testing.T) {
	for name, g := range map[string]struct {
		units []Unit
		rule  UnitRule
	}{
		"no units":         {},
		"no trials":        {units: []Unit{{Name: "u"}}},
		"unequal trials":   {units: []Unit{{"u", isFor}, {"v", isFor[:5]}}},
		"NaN":              {units: []Unit{{"u", []float64{1, math.NaN()}}}},
		"Inf":              {units: []Unit{{"u", []float64{1, math.Inf(1)}}}},
		"all excepted":     {units: units(2, isFor), rule: UnitRule{Exceptions: 2}},
		"negative excepts": {units: units(2, isFor), rule: UnitRule{Exceptions: -1}},
	} {
		if f, err := GradeUnits(g.units, g.rule); err == nil {
			t.Errorf("%s: no error, but %+v", name, f)
		}
	}
}

func TestMoreTrials(t *testing.T) {
	// Mean 1, s = 2 (deviations ±2·√(5/6) around the mean have s² = 4):
	// t(0.975, n−1)·2/√n < 1 first at n = 18: 2.1098·2/√18 = 0.9946, while at
	// n = 17 it is 2.1199·2/√17 = 1.0283.
	d := 2 * math.Sqrt(5.0/6)
	values := []float64{1 + d, 1 - d, 1 + d, 1 - d, 1 + d, 1 - d}
	if got, want := moreTrials(values, "trial", 0), "about 18 trials instead of 6 might decide"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := moreTrials(values, "segment", 0), "a sequence about 3 times as long might decide"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := moreTrials([]float64{1, -1, 1, -1, 1, -1 + 1e-9}, "segment", 0); got != "even a sequence 166 times as long would not decide" {
		t.Errorf("got %q", got)
	}
	if got := moreTrials([]float64{1, -1, 1, -1, 1, -1 + 1e-9}, "trial", 0); !strings.HasPrefix(got, "even 1000 trials") {
		t.Errorf("a mean of almost zero: got %q", got)
	}
}

// Splits of the same data: values and s as in TestMoreTrials.
func TestMoreTrialsOfSplits(t *testing.T) {
	d := 2 * math.Sqrt(5.0/6)
	values := []float64{1 + d, 1 - d, 1 + d, 1 - d, 1 + d, 1 - d}
	for _, tt := range []struct {
		ratio float64
		want  string
	}{
		// t(0.975, 21)·2·√(1/22 + 0.01) = 0.979, with one split less 1.001.
		{0.01, "about 22 splits instead of 6 might decide"},
		// z(0.975)·2·√0.065 = 0.99938, but t(0.975, 999)·2·√(0.001 + 0.065) = 1.008.
		{0.065, "even 1000 splits would not decide"},
		// z(0.975)·2·√0.0651 = 1.0002
		{0.0651, "more splits of the same data would not decide, larger data might"},
		{0.25, "more splits of the same data would not decide, larger data might"},
	} {
		if got := moreTrials(values, "split", tt.ratio); got != tt.want {
			t.Errorf("ratio %v: got %q, want %q", tt.ratio, got, tt.want)
		}
	}
}

// stretched moves the values of each unit away from their mean by √(1 + n·ratio):
// the intervals of what it returns, taken for independent, are those of the
// units, taken for splits of the same data.
func stretched(units []Unit, ratio float64) []Unit {
	out := slices.Clone(units)
	for i, u := range units {
		m := stat.Mean(u.Diffs, nil)
		out[i].Diffs = nil
		for _, d := range u.Diffs {
			out[i].Diffs = append(out[i].Diffs, m+(d-m)*math.Sqrt(1+float64(len(u.Diffs))*ratio))
		}
	}
	return out
}

// TestTestRatio grades with a TestRatio as without one after stretching, apart
// from what would decide; so all intervals are corrected.
func TestTestRatio(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	upToDecide := func(f Finding) Finding {
		f.Reason, _, _ = strings.Cut(f.Reason, "contains zero; ")
		return f
	}
	seen, changed := map[string]int{}, 0
	for range 400 { // the quantiles of t take their time
		groups := make([]Unit, 1+rng.IntN(4))
		shift := 2 * rng.NormFloat64()
		for i := range groups {
			own := shift + rng.NormFloat64()
			groups[i].Name = string(rune('a' + i))
			for range 8 {
				groups[i].Diffs = append(groups[i].Diffs, own+rng.NormFloat64())
			}
		}
		const ratio = 0.3
		rule := UnitRule{Exceptions: len(groups) / 3}
		want, err1 := GradeUnits(stretched(groups, ratio), rule)
		plain, err2 := GradeUnits(groups, rule)
		rule.TestRatio = ratio
		got, err3 := GradeUnits(groups, rule)
		if err := errors.Join(err1, err2, err3); err != nil {
			t.Fatal(err)
		}
		if upToDecide(got) != upToDecide(want) {
			t.Fatalf("%v: got %+v, want %+v", groups, got, want)
		}
		seen[string(got.Verdict)]++
		if strings.Contains(got.Reason, "after correction for the number") {
			seen["refuted"]++
		}
		if got.Verdict != plain.Verdict {
			changed++
		}
		same := EquivalenceRule{Margin: 2, Share: 0.5}
		want, err1 = GradeEquivalent(stretched(groups, ratio), same)
		same.TestRatio = ratio
		got, err2 = GradeEquivalent(groups, same)
		if err := errors.Join(err1, err2); err != nil || got != want {
			t.Fatalf("%v: got %+v, want %+v (%v)", groups, got, want, err)
		}
		seen["equivalent: "+string(got.Verdict)]++
	}
	for _, v := range []string{"reproduced", "partly", "not reproduced", "undecided", "refuted", "equivalent: reproduced", "equivalent: not reproduced", "equivalent: undecided"} {
		if seen[v] < 2 {
			t.Errorf("%d times %s: the units do not try it", seen[v], v)
		}
	}
	if changed < 20 {
		t.Errorf("the ratio changes %d verdicts only", changed)
	}
}

func TestTestRatioErrors(t *testing.T) {
	for _, ratio := range []float64{-0.1, math.Inf(1), math.NaN()} {
		_, err1 := GradeUnits(units(1, isFor), UnitRule{TestRatio: ratio})
		_, err2 := GradeEquivalent(units(1, isFor), EquivalenceRule{Margin: 1, TestRatio: ratio})
		for _, err := range []error{err1, err2} {
			if err == nil || !strings.Contains(err.Error(), "TestRatio") {
				t.Errorf("ratio %v: got %v", ratio, err)
			}
		}
	}
}

func TestGradeAlways(t *testing.T) {
	tests := []struct {
		yes, no int
		want    Verdict
	}{{6, 0, Reproduced}, {5, 0, Undecided}, {5, 1, Partly}, {4, 3, Partly}, {3, 3, NotReproduced}, {0, 6, NotReproduced}}
	for _, tt := range tests {
		holds := make([]bool, tt.yes+tt.no)
		for i := range tt.yes {
			holds[i] = true
		}
		f, err := GradeAlways(holds)
		if err != nil || f.Verdict != tt.want {
			t.Errorf("%d yes, %d no: got %q, %v, want %q", tt.yes, tt.no, f.Verdict, err, tt.want)
		}
	}
	if _, err := GradeAlways(nil); err == nil {
		t.Error("no trials: no error")
	}
}

func TestGradeNumber(t *testing.T) {
	six := []float64{1, 2, 3, 4, 5, 6} // 3.5 ± 1.963
	tests := []struct {
		name      string
		theirs    float64
		ours      []float64
		tolerance float64
		want      Verdict
	}{
		{"inside the interval", 5.4, six, 0, Reproduced},
		{"outside the interval", 5.5, six, 0, NotReproduced},
		{"inside the tolerance", 5.5, six, 2, Reproduced},
		{"at the tolerance", 1.5, []float64{1, 1, 1, 1, 1, 1}, 0.5, Reproduced},
		{"inside the interval, which is wider than the tolerance", 3.6, six, 1.9, Undecided},
		{"outside both", 5.5, six, 1.9, NotReproduced},
		{"too few trials", 3, six[:5], 10, Undecided},
	}
	for _, tt := range tests {
		f, err := GradeNumber(tt.theirs, tt.ours, tt.tolerance)
		if err != nil || f.Verdict != tt.want {
			t.Errorf("%s: got %q, %v, want %q", tt.name, f.Verdict, err, tt.want)
		}
	}
	for name, call := range map[string]func() (Finding, error){
		"no trials":          func() (Finding, error) { return GradeNumber(1, nil, 0) },
		"negative tolerance": func() (Finding, error) { return GradeNumber(1, six, -1) },
		"NaN tolerance":      func() (Finding, error) { return GradeNumber(1, six, math.NaN()) },
		"infinite value":     func() (Finding, error) { return GradeNumber(1, []float64{math.Inf(1)}, 0) },
		"theirs is NaN":      func() (Finding, error) { return GradeNumber(math.NaN(), six, 0) },
	} {
		if f, err := call(); err == nil {
			t.Errorf("%s: no error, but %+v", name, f)
		}
	}
}

func TestAllReadings(t *testing.T) {
	tests := []struct {
		verdicts []Verdict
		want     Verdict
	}{
		{[]Verdict{Reproduced, Reproduced}, Reproduced},
		{[]Verdict{NotReproduced, NotReproduced}, NotReproduced},
		{[]Verdict{Reproduced, NotReproduced}, Partly},
		{[]Verdict{Reproduced, Undecided}, Partly},
		{[]Verdict{Partly, NotReproduced}, Partly},
		{[]Verdict{Partly, Partly}, Partly},
		{[]Verdict{NotReproduced, Undecided}, Undecided},
		{[]Verdict{Undecided}, Undecided},
		{[]Verdict{Reproduced, Untestable}, Untestable},
		{[]Verdict{Reproduced, Untestable, NotGraded}, NotGraded},
	}
	for _, tt := range tests {
		var readings []Reading
		for i, v := range tt.verdicts {
			readings = append(readings, Reading{string(rune('a' + i)), Finding{v, "1", "why."}})
		}
		f := AllReadings(readings)
		if f.Verdict != tt.want {
			t.Errorf("%q: got %q, want %q", tt.verdicts, f.Verdict, tt.want)
		}
		if !strings.Contains(f.Reason, "a: "+string(tt.verdicts[0])+". why.") || !strings.HasPrefix(f.Ours, "a: 1") {
			t.Errorf("%q: ours %q, reason %q", tt.verdicts, f.Ours, f.Reason)
		}
	}
	many := []Reading{{"a", Finding{Partly, "1", "why."}}, {"b", Finding{NotReproduced, "2", "why."}}, {"c", Finding{Partly, "3", "why."}}, {"d", Finding{Partly, "4", "why."}}}
	if f := AllReadings(many); !strings.HasPrefix(f.Reason, "Of 4 readings: 3 partly, 1 not reproduced. a: partly. why.") {
		t.Errorf("many readings: reason %q", f.Reason)
	}
	defer func() {
		if recover() == nil {
			t.Error("no readings: no panic")
		}
	}()
	AllReadings(nil)
}
