package model_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/judge"
	"metriclab/pkg/metric"
	"metriclab/pkg/model"
	"metriclab/pkg/random"
	"metriclab/pkg/tables"
)

func evaluate(t *testing.T, d *tables.Data, r model.Recipe, p model.Plan) *model.Evaluation {
	t.Helper()
	return model.MustEvaluate(t, model.ByClasses(d), r, p)
}

// scores are the errors of the learner and of the baseline.
func scores(e *model.Evaluation) (learner, baseline *model.Score) {
	return e.Of(e.Recipe.Learner, model.MeasureKNN), e.Of(model.Euclidean, model.MeasureKNN)
}

// The time that is told counts the baselines, as that of a comparison with them does.
func TestEstimateCountsBaselines(t *testing.T) {
	d, enough := blobs(11, 60, 2, 4), errors.New("told")
	told := func(learners ...string) (seconds float64) {
		plan := quick
		plan.Validation, plan.Estimated = 0, func(s float64) error { seconds = s; return enough }
		err := model.ErrorOf(model.Evaluate(t.Context(), model.ByClasses(d), model.Recipe{Learner: learners[0]}, plan.Plan))
		if len(learners) > 1 {
			err = model.ErrorOf(model.Compare(t.Context(), model.ByClasses(d), model.Recipe{}, learners, plan))
		}
		if !errors.Is(err, enough) {
			t.Fatal(err)
		}
		return seconds
	}
	evaluation, comparison := told("fda"), told("fda", model.Euclidean, model.EuclideanRaw)
	if math.Abs(evaluation-comparison) > 1e-9*comparison || evaluation == 0 {
		t.Errorf("an evaluation would take %v s, a comparison with its baselines %v s", evaluation, comparison)
	}
}

// With as many folds as rows, one repeat and one k, cross-validation is leaving
// one out, which is done here in the obvious way: everything learned from the
// other rows.
func TestEvaluateIsHonest(t *testing.T) {
	d := blobs(6, 24, 2, 3)
	for i := range 6 { // holes and an outlier make preparation matter
		d.X.Set(4*i, 1, math.NaN())
	}
	d.X.Set(3, 2, 1e5)
	r := model.Recipe{Learner: "fda", ImputeMean: true}
	e := evaluate(t, d, r, model.Plan{Folds: 24, Repeats: 1, Ks: []int{1}})
	wrong, base := 0.0, 0.0
	for i := range 24 {
		rest := d.Rows(slices.Delete(indices(d), i, i+1))
		m := fit(t, rest, r)
		x := must(m.Prepare(rest.X))
		q := must(m.Prepare(d.X.Slice(i, i+1, 0, 3).(*mat.Dense)))
		for _, c := range []struct {
			m     metric.SqDister
			count *float64
		}{{m.Metric(), &wrong}, {metric.Euclidean{}, &base}} {
			best, at := math.Inf(1), 0
			for j := range 23 {
				if sq := c.m.SqDist(q.RawRowView(0), x.RawRowView(j)); sq < best {
					best, at = sq, j
				}
			}
			if rest.Labels[at] != d.Labels[i] {
				*c.count += 1.0 / 24
			}
		}
	}
	const tol = 1e-12 // sums of 24 shares
	if learner, baseline := scores(e); math.Abs(learner.Summary.Mean-wrong) > tol || math.Abs(baseline.Summary.Mean-base) > tol || wrong == base {
		t.Errorf("error %v, baseline %v, want %v and %v, which differ", learner.Summary.Mean, baseline.Summary.Mean, wrong, base)
	}
}

// The seed matters, that of the plan as that of the recipe, and the baseline does not depend on the learner.
func TestEvaluateSeed(t *testing.T) {
	d := blobs(8, 40, 3, 2)
	run := func(r model.Recipe, seed uint64) string {
		learner, baseline := scores(evaluate(t, d, r, model.Plan{Repeats: 2, Seed: seed}))
		if r.Learner == "fda" {
			learner = nil
		}
		return fmt.Sprint(learner, *baseline)
	}
	pola := model.Recipe{Learner: "pola", Pairs: 50}
	seeded := pola
	seeded.Seed = 9
	if !strings.HasSuffix(run(pola, 0), strings.TrimPrefix(run(model.Recipe{Learner: "fda"}, 0), "<nil>")) {
		t.Error("the baseline beside fda is another than beside pola")
	}
	if run(pola, 0) == run(seeded, 0) || run(pola, 9) != run(seeded, 0) {
		t.Error("the seed does not matter, or that of the plan is not that of the recipe")
	}
}

// Differences are paired, intervals are the corrected ones, and k is among those
// given.
func TestEvaluateSummary(t *testing.T) {
	d := blobs(9, 40, 2, 2)
	e := evaluate(t, d, model.Recipe{Learner: "fda"}, model.Plan{Folds: 4, Repeats: 3, Ks: []int{5, 1, 5}})
	learner, baseline := scores(e)
	if !slices.Equal(e.Plan.Ks, []int{1, 5}) || len(learner.Values) != 12 {
		t.Fatalf("plan %+v, %d errors", e.Plan, len(learner.Values))
	}
	diffs := make([]float64, 12)
	for i := range diffs {
		diffs[i] = learner.Values[i] - baseline.Values[i]
		if k := learner.Chosen[i]; k != 1 && k != 5 {
			t.Errorf("split %d took k = %v", i, k)
		}
	}
	want := model.Score{Values: diffs, Summary: judge.SummarizeResampled(diffs, 1.0/3)}
	if got := e.Minus(model.Euclidean, model.MeasureKNN); fmt.Sprint(*got) != fmt.Sprint(want) || len(e.Over) != 1 {
		t.Errorf("difference %+v, want %+v", got, want)
	}
	same := evaluate(t, d, model.Recipe{Learner: model.Euclidean}, model.Plan{Repeats: 2})
	beside := evaluate(t, d, model.Recipe{Learner: "fda"}, model.Plan{Repeats: 2})
	if a, b := same.Of(model.Euclidean, model.MeasureKNN), beside.Of(model.Euclidean, model.MeasureKNN); fmt.Sprint(*a) != fmt.Sprint(*b) || len(same.Over) > 0 || same.Verdict() != "Nothing was learned: this is the baseline." {
		t.Errorf("the Euclidean distance differs from the baseline, or is compared with it: %q", same.Verdict())
	}
}

// The verdict follows from the intervals of the differences.
func TestVerdict(t *testing.T) {
	type over [][2]float64 // means and halves, −1 for no interval
	for want, c := range map[string]struct {
		less bool
		over over
	}{
		"fda is better than b0: the interval of the difference in m is below zero.":                                      {true, over{{-2, 1}}},
		"fda is better than b0 and b1: the intervals of the differences in m are above zero.":                            {false, over{{2, 1}, {3, 1}}},
		"fda is worse than b0: the interval of the difference in m is above zero.":                                       {true, over{{2, 1}}},
		"fda is worse than b0: the interval of the difference in m is below zero.":                                       {false, over{{-2, 1}}},
		"fda is worse than a distance without learning: an interval of the difference in m is below zero.":               {false, over{{2, 1}, {-3, 1}}},
		"These data do not tell whether fda is better than b0 and b1: an interval of the difference in m contains zero.": {true, over{{-2, 1}, {0, 1}}},
		"These data do not tell whether fda is better than b0: the interval of the difference in m contains zero.":       {true, over{{.5, 1}}},
		"No difference in any split.": {true, over{{0, 0}}},
		"Too few splits to compare.":  {true, over{{-2, -1}}},
		"fda is better than b0 and b1: the intervals of the differences in m are below zero.": {true, over{{-2, 0}, {-2, 0}}},
	} {
		e := model.Evaluation{Recipe: model.Recipe{Learner: "fda"}}
		e.Known = 6
		e.Measures = []model.Measure{{Name: "m", Less: c.less}}
		for i, s := range c.over {
			score := model.Score{Summary: judge.Summary{Mean: s[0], Half: s[1], HasInterval: s[1] >= 0}}
			e.Over = append(e.Over, model.Method{Name: fmt.Sprint("b", i), Scores: []model.Score{score}})
		}
		if got := e.Verdict(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		// The same in all splits, of five answers, is what chance gives one time in sixteen.
		if e.Known = 5; c.over[0][1] == 0 && c.over[0][0] != 0 && !strings.HasSuffix(e.Verdict(), "better than b0: too little is held out.") {
			t.Errorf("of five answers: %q", e.Verdict())
		}
	}
}

// Of several numbers of neighbours each split takes the one that its training rows
// like best, and has the error that this number has on its own. With a fifth of
// the labels wrong, in classes far apart, that is never 1: two labels in three
// then agree, with 9 four in five.
func TestEvaluateChoosesK(t *testing.T) {
	d := blobs(12, 100, 2, 1)
	for i := range d.Labels {
		d.X.Set(i, 0, d.X.At(i, 0)+100*float64(i%2))
		if i%10 < 2 { // one of each class
			d.Labels[i] = string(rune('a' + 1 - i%2))
		}
	}
	r := model.Recipe{Learner: model.Euclidean}
	both, _ := scores(evaluate(t, d, r, model.Plan{Ks: []int{1, 9}}))
	nine, _ := scores(evaluate(t, d, r, model.Plan{Ks: []int{9}}))
	if slices.Contains(both.Chosen, 1) || !slices.Equal(both.Values, nine.Values) {
		t.Errorf("took %v", both.Chosen)
	}
}

func TestEvaluateNotes(t *testing.T) {
	d := blobs(10, 20, 2, 2)
	d.Labels[0] = "rare"
	d.Labels[1], d.Labels[2] = "seldom", "seldom"
	e := evaluate(t, d, model.Recipe{Learner: model.Euclidean}, model.Plan{Repeats: 1, Ks: []int{1}})
	notes := strings.Join(e.Notes, "\n")
	for _, want := range []string{`"rare" has 1 row, which is wrong`, `"seldom" has 2 rows, fewer than folds`, "fewer than 6 splits"} {
		if !strings.Contains(notes, want) {
			t.Errorf("notes %q lack %q", notes, want)
		}
	}
	if strings.Contains(notes, `"a"`) {
		t.Errorf("notes %q", notes)
	}
}

// Labels drawn without regard to the features cannot be predicted: an evaluation
// that let test rows into training would say otherwise. A metric of high capacity
// is fitted to them.
func TestEvaluateRandomLabels(t *testing.T) {
	d := blobs(7, 120, 1, 8)
	seed := random.Seed{Base: 1}.Stream("labels")
	for i := range d.Labels {
		d.Labels[i] = string(rune('a' + seed.IntN(2)))
	}
	for _, r := range []model.Recipe{{Learner: "pola"}, {Learner: "fda"}, {Learner: "kernel-itml", Pairs: 200}} {
		learner, _ := scores(evaluate(t, d, r, model.Plan{Repeats: 3}))
		if m := learner.Summary.Mean; m < 0.35 || m > 0.65 { // 0.5 ± 3 standard errors of 120 rows
			t.Errorf("%s: error %v on random labels, want about 0.5", r.Learner, m)
		}
	}
}
