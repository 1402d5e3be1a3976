package judge

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
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

	// t(0.9875, 5) = 3.16338, from tables of Student's distribution.
	if s := SummarizeAt([]float64{1, 2, 3, 4, 5, 6}, .025); math.Abs(s.Half-3.16338*math.Sqrt(3.5/6)) > 1e-5 {
		t.Errorf("half-width %v at 97.5 %%", s.Half)
	}
	few := Summarize([]float64{1, 2, 3, 4, 5})
	if few.Mean != 3 || few.HasInterval || !math.IsNaN(few.Half) || len(few.Warnings) != 1 || few.Warnings[0] != fewTrials {
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

// Two methods that make equally many errors in all differ by 0, also where the shares of
// errors sum to something else in the last bit.
func TestSummarizeCancels(t *testing.T) {
	const rows = 45.0
	wrong := [][2]float64{{13, 14}, {7, 9}, {22, 19}, {3, 3}, {5, 6}, {8, 7}}
	var diffs []float64
	naive := 0.0
	for _, w := range wrong {
		d := w[0]/rows - w[1]/rows
		diffs = append(diffs, d)
		naive += d
	}
	if naive == 0 {
		t.Fatal("these shares sum to 0 exactly: the test shows nothing")
	}
	if s := Summarize(diffs); s.Mean != 0 {
		t.Errorf("mean %g, want 0", s.Mean)
	}
	diffs[0] += 1 / rows / 1e5 // less than any row
	if s := Summarize(diffs); s.Mean <= 0 {
		t.Errorf("mean %g, want what was added", s.Mean)
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

func TestPositive(t *testing.T) {
	tests := []struct {
		name   string
		units  []Unit
		except int
		want   Verdict
		reason string
	}{
		{"all for", units(3, isFor), 0, Reproduced, "Positive in 3 of 3 units: 3 for, 0 against, 0 open."},
		{"exactly 90 % for, none against", units(9, isFor, 1, openPlus), 0, Reproduced, "9 for, 0 against, 1 open"},
		{"less than 90 % for", units(8, isFor, 2, openPlus), 0, Partly, "fewer than 90 %"},
		{"an open unit with the wrong sign", units(9, isFor, 1, openMinus), 0, Partly, "not every unit: uJ."},
		{"a unit that is always equal", units(9, isFor, 1, zero), 0, Partly, "not every unit: uJ."},
		{"one against", units(9, isFor, 1, negative1), 0, Partly, "1 against"},
		{"one against, excepted", units(9, isFor, 1, negative1), 1, Reproduced, "9 of 9 units (apart from 1 excepted)"},
		{"two against, one excepted", units(8, isFor, 2, negative1), 1, Partly, "1 against"},
		{"the best of four weakly for", units(1, weakFor, 3, openMinus), 3, Undecided, "0 for, 0 against, 1 open"},
		{"the best of four clearly for", units(1, isFor, 3, openMinus), 3, Reproduced, "1 for, 0 against, 0 open"},
		{"the mean is against", units(2, isFor, 3, isAgainst), 0, NotReproduced, "The mean over units is against."},
		{"the mean is against, the kept one open", units(1, openPlus, 3, isAgainst), 3, Undecided, "not that over those which the statement does not except; "},
		{"the kept one is against, too", units(4, isAgainst), 3, NotReproduced, "The mean over units is against."},
		{"balanced", units(1, isFor, 1, isAgainst), 0, NotReproduced, "against even after correction for the number of units: uB"},
		{"open, one weakly against", units(9, openPlus, 1, weakAgainst), 0, Undecided, "0 for, 1 against, 9 open"},
		{"open, none against", units(1, zero), 0, Undecided, "more trials would not help"},
		{"too few trials", []Unit{{"u", []float64{1, 1, 1, 1, 1}}}, 0, Undecided, "Only 5 trial(s); 6 are needed"},
		{"one unit for", units(1, slightly), 0, Reproduced, "The whole 95 % interval is above zero."},
		{"one unit against", units(1, negative1), 0, NotReproduced, "below zero"},
		{"one unit open", units(1, openPlus), 0, Undecided, "might decide"},
	}
	for _, tt := range tests {
		f, err := Judge(Positive{Units: tt.units, Exceptions: tt.except})
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if f.Verdict != tt.want || !strings.Contains(f.Reason, tt.reason) {
			t.Errorf("%s: got %q because %q, want %q with %q", tt.name, f.Verdict, f.Reason, tt.want, tt.reason)
		}
	}
}

func TestPositiveOurs(t *testing.T) {
	// Per trial the mean over the two units is 2, 3, 4, 5, 6, 7: mean 4.5,
	// half-width t5·√(3.5/6) = 1.963, in per cent 450 and 200 (two digits).
	u := []Unit{{"a", []float64{1, 2, 3, 4, 5, 6}}, {"b", []float64{3, 4, 5, 6, 7, 8}}}
	f, err := Judge(Positive{Units: u, Rule: Rule{Scale: 100, Unit: "points"}})
	if err != nil {
		t.Fatal(err)
	}
	if want := "mean difference 450 ± 2e+02 points"; f.Ours != want {
		t.Errorf("got %q, want %q", f.Ours, want)
	}
}

func TestPositiveErrors(t *testing.T) {
	for name, p := range map[string]Positive{
		"no units":         {},
		"no trials":        {Units: []Unit{{Name: "u"}}},
		"unequal trials":   {Units: []Unit{{"u", isFor}, {"v", isFor[:5]}}},
		"NaN":              {Units: []Unit{{"u", []float64{1, math.NaN()}}}},
		"Inf":              {Units: []Unit{{"u", []float64{1, math.Inf(1)}}}},
		"all excepted":     {Units: units(2, isFor), Exceptions: 2},
		"negative excepts": {Units: units(2, isFor), Exceptions: -1},
	} {
		if f, err := Judge(p); err == nil {
			t.Errorf("%s: no error, but %+v", name, f)
		}
	}
}

func TestNeed(t *testing.T) {
	// Mean 1, s = 2 (deviations ±2·√(5/6) around the mean have s² = 4):
	// t(0.975, n−1)·2/√n < 1 first at n = 18: 2.1098·2/√18 = 0.9946, while at
	// n = 17 it is 2.1199·2/√17 = 1.0283.
	d := 2 * math.Sqrt(5.0/6)
	values := []float64{1 + d, 1 - d, 1 + d, 1 - d, 1 + d, 1 - d}
	if got, want := (Rule{Sample: "trial", TestRatio: 0}).need(values, 1), "about 18 trials instead of 6 might decide"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := (Rule{Sample: "segment", TestRatio: 0}).need(values, 1), "a sequence about 3 times as long might decide"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := (Rule{Sample: "segment"}).need([]float64{1, -1, 1, -1, 1, -1 + 1e-9}, 1e-9/6); got != "even a sequence 166 times as long would not decide" {
		t.Errorf("got %q", got)
	}
	if got := (Rule{Sample: "trial"}).need([]float64{1, -1, 1, -1, 1, -1 + 1e-9}, 1e-9/6); !strings.HasPrefix(got, "even 1000 trials") {
		t.Errorf("a mean of almost zero: got %q", got)
	}
}

// Splits of the same data: values and s as in TestNeed.
func TestNeedOfSplits(t *testing.T) {
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
		if got := (Rule{Sample: "split", TestRatio: tt.ratio}).need(values, 1); got != tt.want {
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
	upToDecide := func(f Finding) []any {
		reason, _, _ := strings.Cut(f.Reason, "contains zero; ")
		reason, _, _ = strings.Cut(reason, "by itself; ")
		reason, _, _ = strings.Cut(reason, "does not except; ")
		var sides []Side
		for _, u := range f.Units {
			sides = append(sides, u.Side)
		}
		return []any{f.Verdict, f.Ours, reason, sides}
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
		except := len(groups) / 3
		want, err1 := Judge(Positive{Units: stretched(groups, ratio), Exceptions: except})
		plain, err2 := Judge(Positive{Units: groups, Exceptions: except})
		splits := Rule{TestRatio: ratio}
		got, err3 := Judge(Positive{Units: groups, Exceptions: except, Rule: splits})
		if err := errors.Join(err1, err2, err3); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(upToDecide(got), upToDecide(want)) {
			t.Fatalf("%v: got %+v, want %+v", groups, got, want)
		}
		seen[string(got.Verdict)]++
		if strings.Contains(got.Reason, "even after correction for the number") {
			seen["refuted"]++
		}
		if strings.Contains(got.Reason, "none is for by itself") {
			seen["for in none"]++
		}
		if got.Verdict != plain.Verdict {
			changed++
		}
		want, err1 = Judge(Equivalent{Units: stretched(groups, ratio), Margin: 2, Share: 0.5})
		got, err2 = Judge(Equivalent{Units: groups, Margin: 2, Share: 0.5, Rule: splits})
		if err := errors.Join(err1, err2); err != nil || !reflect.DeepEqual(upToDecide(got), upToDecide(want)) {
			t.Fatalf("%v: got %+v, want %+v (%v)", groups, got, want, err)
		}
		seen["equivalent: "+string(got.Verdict)]++
	}
	for _, v := range []string{"reproduced", "partly", "not reproduced", "undecided", "refuted", "for in none", "equivalent: reproduced", "equivalent: not reproduced", "equivalent: undecided"} {
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
		_, err1 := Judge(Positive{Units: units(1, isFor), Rule: Rule{TestRatio: ratio}})
		_, err2 := Judge(Equivalent{Units: units(1, isFor), Margin: 1, Rule: Rule{TestRatio: ratio}})
		for _, err := range []error{err1, err2} {
			if err == nil || !strings.Contains(err.Error(), "TestRatio") {
				t.Errorf("ratio %v: got %v", ratio, err)
			}
		}
	}
}

func TestHolds(t *testing.T) {
	tests := []struct {
		yes, no int
		want    Verdict
	}{{6, 0, Reproduced}, {5, 0, Undecided}, {5, 1, Partly}, {4, 3, Partly}, {3, 3, NotReproduced}, {0, 6, NotReproduced}}
	for _, tt := range tests {
		holds := make([]bool, tt.yes+tt.no)
		for i := range tt.yes {
			holds[i] = true
		}
		f, err := Judge(Holds(holds))
		if err != nil || f.Verdict != tt.want {
			t.Errorf("%d yes, %d no: got %q, %v, want %q", tt.yes, tt.no, f.Verdict, err, tt.want)
		}
	}
	if _, err := Judge(Holds(nil)); err == nil {
		t.Error("no trials: no error")
	}
}

func TestNumber(t *testing.T) {
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
		f, err := Judge(Number{tt.theirs, tt.ours, tt.tolerance})
		if err != nil || f.Verdict != tt.want {
			t.Errorf("%s: got %q, %v, want %q", tt.name, f.Verdict, err, tt.want)
		}
	}
	for name, n := range map[string]Number{
		"no trials":          {1, nil, 0},
		"negative tolerance": {1, six, -1},
		"NaN tolerance":      {1, six, math.NaN()},
		"infinite value":     {1, []float64{math.Inf(1)}, 0},
		"theirs is NaN":      {math.NaN(), six, 0},
	} {
		if f, err := Judge(n); err == nil {
			t.Errorf("%s: no error, but %+v", name, f)
		}
	}
}

// given is a test of a known finding.
type given Finding

func (g given) judge() Finding { return Finding(g) }

// A claim has the verdict of its headline, whatever its other readings found.
func TestReadings(t *testing.T) {
	late, named := "the errors of Fig. 3", "the program that the paper names"
	for _, tt := range []struct {
		readings []Reading // without names
		headline int
		robust   string
	}{
		{[]Reading{{Test: given{Verdict: Undecided}}}, 0, ""},
		{[]Reading{{Test: given{Verdict: Reproduced}}, {Test: given{Verdict: Reproduced}}}, 0, "2 of 2 readings agree"},
		{[]Reading{{Test: given{Verdict: NotReproduced}}, {Test: given{Verdict: Reproduced}}, {Test: given{Verdict: Partly}}}, 0, "1 of 3 readings agree"},
		{[]Reading{{Test: given{Verdict: Reproduced}}, {Test: given{Verdict: NotReproduced}}, {Test: given{Verdict: ByConstruction}}}, 0, "2 of 3 readings agree"},
		{[]Reading{{Test: given{Verdict: Reproduced}, Afterwards: late}, {Test: given{Verdict: Undecided}}}, 1, "1 of 2 readings agree, 1 added afterwards"},
		{[]Reading{{Test: given{Verdict: Partly}, Afterwards: late}, {Test: given{Verdict: Reproduced}, Afterwards: late}}, 0, "1 of 2 readings agree, 2 added afterwards"},
		{[]Reading{{Test: given{Verdict: NotReproduced}}, {Test: given{Verdict: Reproduced}, Afterwards: late, Headline: named}}, 1, "1 of 2 readings agree, 1 added afterwards"},
	} {
		var readings Readings
		for i, r := range tt.readings {
			g := r.Test.(given)
			g.Ours, g.Reason, g.Need = fmt.Sprint(i), "Why "+fmt.Sprint(i)+".", "more of "+fmt.Sprint(i)
			r.Name, r.Test = string(rune('a'+i)), g
			readings = append(readings, r)
		}
		f, err := Judge(readings)
		if err != nil {
			t.Fatal(err)
		}
		head := f.Readings[tt.headline]
		if f.Verdict != head.Finding.Verdict || f.Need != head.Finding.Need || head.Headline == "" || (ReadingFinding{Finding: f}).Robustness().String() != tt.robust {
			t.Errorf("%+v: got %+v, want the verdict of reading %d, %q and not %q", tt.readings, f, tt.headline, tt.robust, (ReadingFinding{Finding: f}).Robustness())
		}
		ours, reason := fmt.Sprint(tt.headline), fmt.Sprintf("Why %d.", tt.headline)
		if len(readings) > 1 {
			ours, reason = head.Name+": "+ours, fmt.Sprintf("Read as %s: %s", head.called(), reason)
		}
		if f.Ours != ours || f.Reason != reason {
			t.Errorf("%+v: ours %q, reason %q, want %q and %q", tt.readings, f.Ours, f.Reason, ours, reason)
		}
	}
}

// Of parts each has its own headline, and all readings count.
func TestRobustnessOfParts(t *testing.T) {
	readings := func(verdicts ...Verdict) (out Readings) {
		for i, v := range verdicts {
			out = append(out, Reading{Name: string(rune('a' + i)), Test: given{Verdict: v}})
		}
		return out
	}
	f, err := Judge(Both{{Name: "x", Test: readings(Reproduced, NotReproduced)}, {Name: "y", Test: readings(NotReproduced, NotReproduced, Partly)}})
	if got := (ReadingFinding{Finding: f}).Robustness(); err != nil || f.Verdict != Partly || got != (Robustness{Agree: 3, Of: 5}) {
		t.Errorf("%q with %v (error %v), want partly with 3 of 5", f.Verdict, got, err)
	}
	// What was added afterwards are all readings of a claim that was.
	if got := (ReadingFinding{Finding: f, Afterwards: "all"}).Robustness(); got != (Robustness{Agree: 3, Of: 5, Added: 5}) {
		t.Errorf("of a claim added afterwards %v", got)
	}
	if got := (ReadingFinding{Finding: Finding{Verdict: Partly}, Afterwards: "all"}).Robustness().String(); got != "added afterwards" {
		t.Errorf("of one reading, added afterwards, %q", got)
	}
}

// A claim of several parts holds if all do, and partly if some do.
func TestBoth(t *testing.T) {
	for _, tt := range []struct {
		parts []Verdict
		want  Verdict
	}{
		{[]Verdict{Reproduced, Reproduced}, Reproduced},
		{[]Verdict{Reproduced, Partly}, Partly},
		{[]Verdict{Partly, Undecided}, Partly},
		{[]Verdict{Reproduced, Undecided}, Undecided},
		{[]Verdict{Undecided, NotReproduced}, Undecided},
		{[]Verdict{Reproduced, NotReproduced}, Partly},
		{[]Verdict{Reproduced, NotReproduced, Undecided}, Partly},
		{[]Verdict{NotReproduced, NotReproduced}, NotReproduced},
		{[]Verdict{NotReproduced, Untestable}, Untestable},
		{[]Verdict{ByConstruction, Reproduced}, Reproduced},
		{[]Verdict{ByConstruction, ByConstruction}, ByConstruction},
	} {
		var both Both
		for i, v := range tt.parts {
			both = append(both, Reading{Name: string(rune('a' + i)), Test: given{Verdict: v, Ours: "1", Reason: "why.", Need: "more"}})
		}
		f, err := Judge(both)
		if err != nil || f.Verdict != tt.want || strings.HasPrefix(f.Need, "a: more; b: more") != (tt.want == Undecided) || !strings.HasPrefix(f.Reason, "a: "+string(tt.parts[0])+". why. b: ") {
			t.Errorf("%q: got %+v (error %v), want %q", tt.parts, f, err, tt.want)
		}
	}
}

// What cannot fail is no reproduction; what fails all the same is told.
func TestCheck(t *testing.T) {
	for verdict, want := range map[Verdict]Verdict{Reproduced: ByConstruction, Partly: Partly, NotReproduced: NotReproduced, Undecided: Undecided, Untestable: Untestable} {
		reason := "It held."
		if want == ByConstruction {
			reason = "It held. No regret exceeds it."
		}
		f, err := Judge(Check{Test: given{Verdict: verdict, Reason: "It held."}, Why: "No regret exceeds it."})
		if err != nil || f.Verdict != want || f.Reason != reason {
			t.Errorf("a check that is %q: got %q, %q (error %v), want %q", verdict, f.Verdict, f.Reason, err, want)
		}
	}
}

// What is no list of tests is refused, and never judged as true.
func TestNothingToJudge(t *testing.T) {
	for name, test := range map[string]Test{
		"nil": nil, "no readings": Readings{}, "no parts": Both{}, "a reading without a test": Readings{{Name: "a"}},
		"a ratio of unequal columns": Ratio{Over: []float64{1}, Under: []float64{1, 2}, Bound: 1},
		"a ratio to nothing":         Ratio{Over: isFor, Under: zero, Bound: 1},
		"a stand-in without a test":  StandIn{Where: "stand-in"},
		"a check without a test":     Check{Why: "It is so."},
		"a check without a reason":   Check{Test: Holds{true}},
		"nothing is shown":           Shown{Ours: "1"},
		"a negative scale":           Positive{Units: units(1, isFor), Rule: Rule{Scale: -1}},
		"a scale that is no number":  Equivalent{Units: units(1, isFor), Margin: 1, Rule: Rule{Scale: math.NaN()}},
		"an infinite margin":         Equivalent{Units: units(1, isFor), Margin: math.Inf(1)},
		"an infinite tolerance":      Number{1, isFor, math.Inf(1)},
	} {
		if f, err := Judge(test); err == nil {
			t.Errorf("%s: no error, but %+v", name, f)
		}
	}
}

func TestRatio(t *testing.T) {
	over := []float64{.10, .11, .09, .10, .11, .09}
	under := []float64{.20, .21, .19, .20, .21, .19}
	rule := Rule{Scale: 100, Unit: "%"}
	for _, tt := range []struct {
		bound   float64
		atLeast bool
		want    Verdict
		ours    string
	}{
		// 0.1/0.2, 0.11/0.21, 0.09/0.19, twice: mean 0.4992, half-width t5·0.0227/√6 = 0.0238.
		{0.6, false, Reproduced, "10.00 ± 0.94 % against 20.00 ± 0.94 %: ratio 0.50 ± 0.02, claimed at most 0.60"},
		{0.4, false, NotReproduced, "claimed at most 0.40"},
		{0.4, true, Reproduced, "claimed at least 0.40"},
		{0.5, true, Undecided, "claimed at least 0.50"},
	} {
		f, err := Judge(Ratio{Over: over, Under: under, Bound: tt.bound, AtLeast: tt.atLeast, What: "mean", Rule: rule})
		if err != nil || f.Verdict != tt.want || !strings.Contains(f.Ours, tt.ours) {
			t.Errorf("bound %v, at least %v: got %+v (error %v), want %s, %q", tt.bound, tt.atLeast, f, err, tt.want, tt.ours)
		}
	}
}

func TestStandIn(t *testing.T) {
	f, err := Judge(StandIn{"stand-ins", Positive{Units: units(1, isFor)}})
	if err != nil || f.Verdict != Untestable || f.Would != Reproduced || f.Reason != `On the stand-ins it would be "reproduced". The whole 95 % interval is above zero.` || len(f.Units) != 1 {
		t.Errorf("got %+v (error %v)", f, err)
	}
}

func TestShown(t *testing.T) {
	f, err := Judge(Shown{Test: Positive{Units: units(1, isFor)}, Ours: "ten", More: ", no less", Note: "A note."})
	if err != nil || f.Ours != "ten, no less" || f.Reason != "The whole 95 % interval is above zero. A note." || f.Verdict != Reproduced {
		t.Errorf("got %+v (error %v)", f, err)
	}
}

// A finding is data: each unit with its numbers and its side, in the order given.
func TestFindingOfUnits(t *testing.T) {
	f, err := Judge(Positive{Units: units(1, isFor, 1, negative1, 1, weakFor), Exceptions: 1, Rule: Rule{Scale: 100, Unit: "points", Sample: "split"}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"test":"positive","unit":"points","sample":"split"`,
		`{"name":"uA","n":6,"mean":1000,"half":93.8644,"side":"for","confirms":true}`,
		`{"name":"uB","n":6,"mean":-100,"half":0,"side":"against","excepted":true}`,
		`{"name":"uC","n":6,"mean":100,"half":74.2063,"side":"for","confirms":true}`,
		`"exceptions":1`,
	} {
		if !strings.Contains(string(got), want) {
			t.Errorf("%s lacks %s", got, want)
		}
	}
	few, err := Judge(Positive{Units: []Unit{{"u", []float64{1, 2}}}})
	if err != nil || few.Need != "at least 6 trials" {
		t.Errorf("two trials: %+v (error %v)", few, err)
	}
	if got, err := json.Marshal(few.Units); err != nil || string(got) != `[{"name":"u","n":2,"mean":1.5,"half":null,"side":"open"}]` {
		t.Errorf("two trials: %s (error %v)", got, err)
	}
	var back Finding
	if err := json.Unmarshal(got, &back); err != nil || len(back.Units) != 3 || back.Units[1].Name != "uB" || !back.Units[1].Excepted || back.Units[0].Half != 93.8644 || back.Mean.Side != For {
		t.Errorf("read again: %+v (error %v)", back, err)
	}
	one, err := json.Marshal(few)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(one, &back); err != nil || !math.IsNaN(back.Mean.Half) || back.Mean.Mean != 1.5 {
		t.Errorf("read again: %+v (error %v)", back.Mean, err)
	}
}

// Where the deviation overflows there is no interval that could contain anything.
func TestDeviationOverflows(t *testing.T) {
	huge := []float64{1, 1, 1, 1, 1, 1, 1, 1, 1e200}
	f, err := Judge(Number{0.1, huge, 0.5})
	if err != nil || f.Verdict != NotReproduced || strings.Contains(f.Reason, "are needed") {
		t.Errorf("got %+v (error %v), want not reproduced", f, err)
	}
	f, err = Judge(Positive{Units: []Unit{{"u", huge}}})
	if err != nil || f.Verdict != Undecided || strings.Contains(f.Reason, "are needed") {
		t.Errorf("got %+v (error %v), want undecided", f, err)
	}
}

// A printed number of 0 is a number.
func TestTheirsIsZero(t *testing.T) {
	f, err := Judge(Number{0, zero, 0})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := json.Marshal(f); err != nil || !strings.Contains(string(got), `"theirs":0`) || strings.Contains(string(got), `"side"`) {
		t.Errorf("got %s (error %v), want theirs 0 and no side", got, err)
	}
}

// A mean at the margin stays there, however many trials there are.
func TestNeedAtTheMargin(t *testing.T) {
	f, err := Judge(Equivalent{Units: []Unit{{"a", slightly}, {"b", openPlus}}, Margin: 1})
	if err != nil || f.Verdict != Undecided || f.Need != "a, b: "+wordsAtMargin {
		t.Errorf("got %+v (error %v)", f, err)
	}
}
