package model_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/random"

	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/metric"
	"metriclab/pkg/model"
)

func evaluate(t *testing.T, d *model.Data, r model.Recipe, p model.Plan) *model.Evaluation {
	t.Helper()
	e, err := model.Evaluate(context.Background(), d, r, p)
	if err != nil {
		t.Fatal(err)
	}
	return e
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
		rest := &model.Data{Name: "rest", Layout: d.Layout, X: mat.NewDense(23, 3, nil)}
		for j := range 24 {
			if j != i {
				rest.X.SetRow(len(rest.Labels), d.X.RawRowView(j))
				rest.Labels = append(rest.Labels, d.Labels[j])
			}
		}
		m := fit(t, rest, r)
		x, err := m.Prepare(rest.X)
		if err != nil {
			t.Fatal(err)
		}
		q, err := m.Prepare(d.X.Slice(i, i+1, 0, 3).(*mat.Dense))
		if err != nil {
			t.Fatal(err)
		}
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
	if math.Abs(e.Learner.Summary.Mean-wrong) > tol || math.Abs(e.Baseline.Summary.Mean-base) > tol || wrong == base {
		t.Errorf("error %v, baseline %v, want %v and %v, which differ", e.Learner.Summary.Mean, e.Baseline.Summary.Mean, wrong, base)
	}
}

// The errors of kernel-itml are those that its distances give, one by one: Evaluate
// measures between expanded rows.
func TestEvaluateKernelITML(t *testing.T) {
	d := blobs(19, 40, 2, 2)
	for i := range d.Labels { // two shells about one point
		d.Labels[i] = string(rune('a' + i%2))
		angle, radius := float64(i), 1+0.2*float64(i%5)+1.2*float64(i%2)
		d.X.SetRow(i, []float64{radius * math.Cos(angle), radius * math.Sin(angle)})
	}
	d.X.SetRow(7, d.X.RawRowView(5)) // duplicates
	d = sorted(d)
	r := model.Recipe{Learner: "kernel-itml", Pairs: 60, Params: map[string]string{"gamma": "10", "kernel-gamma": "2"}}
	const folds, repeats = 4, 2
	e := evaluate(t, d, r, model.Plan{Folds: folds, Repeats: repeats, Ks: []int{1, 3}})
	entry, err := catalog.Find(r.Learner)
	if err != nil {
		t.Fatal(err)
	}
	v, err := entry.Parse(r.Params)
	if err != nil {
		t.Fatal(err)
	}
	_, y := datasets.Classes(d.Labels)
	for s := range folds * repeats {
		seed := random.Seed{Base: 1, Experiment: "model/evaluate", Trial: s / folds}
		var train, test []int
		for i, f := range sample.StratifiedFolds(seed.Stream("folds"), y, folds) {
			if f == s%folds {
				test = append(test, i)
			} else {
				train = append(train, i)
			}
		}
		part := func(rows []int) (*mat.Dense, []int) {
			x, labels := mat.NewDense(len(rows), 2, nil), make([]int, len(rows))
			for k, i := range rows {
				x.SetRow(k, d.X.RawRowView(i))
				labels[k] = y[i]
			}
			return x, labels
		}
		x, labels := part(train)
		queries, want := part(test)
		scaler, _, err := datasets.FitScaler(x, datasets.ZScore, false)
		if err != nil {
			t.Fatal(err)
		}
		if x, err = scaler.Apply(x); err != nil {
			t.Fatal(err)
		}
		if queries, err = scaler.Apply(queries); err != nil {
			t.Fatal(err)
		}
		seed.Trial = s
		links, err := sample.BalancedLinks(seed.Stream("pairs"), labels, 60)
		if err != nil {
			t.Fatal(err)
		}
		l, err := entry.Fit(t.Context(), catalog.Input{X: x, Links: links}, v, nil)
		if err != nil {
			t.Fatal(err)
		}
		knn, err := nearest.NewKNN(l.Distance, x, labels, nearest.KNNOptions{})
		if err != nil {
			t.Fatal(err)
		}
		wrong, err := knn.LeaveOneOut(t.Context(), []int{1, 3})
		if err != nil {
			t.Fatal(err)
		}
		k := []int{1, 3}[slices.Index(wrong, slices.Min(wrong))]
		if wrong, err = knn.Errors(t.Context(), queries, want, []int{k}); err != nil {
			t.Fatal(err)
		}
		if share := float64(wrong[0]) / float64(len(want)); e.Learner.Errors[s] != share || e.Learner.Ks[s] != k {
			t.Errorf("split %d: error %v with k = %d, want %v with %d", s, e.Learner.Errors[s], e.Learner.Ks[s], share, k)
		}
	}
	if m := e.Learner.Summary.Mean; m == 0 || m == e.Baseline.Summary.Mean {
		t.Errorf("error %v, baseline %v: the data show nothing", m, e.Baseline.Summary.Mean)
	}
}

// BenchmarkEvaluate is a cross-validation in two folds, k chosen.
func BenchmarkEvaluate(b *testing.B) {
	for _, rows := range []int{200, 1000} {
		d := blobs(20, rows, 3, 5)
		for _, learner := range []string{"itml", "kernel-itml"} {
			b.Run(fmt.Sprintf("alg=%s/rows=%d", learner, rows), func(b *testing.B) {
				for b.Loop() {
					if _, err := model.Evaluate(context.Background(), d, model.Recipe{Learner: learner}, model.Plan{Folds: 2, Repeats: 1}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
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
		e := evaluate(t, d, r, model.Plan{Repeats: 3})
		if m := e.Learner.Summary.Mean; m < 0.35 || m > 0.65 { // 0.5 ± 3 standard errors of 120 rows
			t.Errorf("%s: error %v on random labels, want about 0.5", r.Learner, m)
		}
	}
}

// The answer depends on the seed only: not on the number of processors, and the
// baseline not on the learner.
func TestEvaluateDeterministic(t *testing.T) {
	d := blobs(8, 40, 3, 2)
	r := model.Recipe{Learner: "pola", Pairs: 50}
	p := model.Plan{Repeats: 2}
	one := evaluate(t, d, r, p)
	procs := runtime.GOMAXPROCS(1)
	two := evaluate(t, d, r, p)
	runtime.GOMAXPROCS(procs)
	if fmt.Sprint(one.Learner, one.Baseline, one.Difference) != fmt.Sprint(two.Learner, two.Baseline, two.Difference) {
		t.Errorf("on one processor:\n%v\non %d:\n%v", two, procs, one)
	}
	fda := evaluate(t, d, model.Recipe{Learner: "fda"}, p)
	if !slices.Equal(fda.Baseline.Errors, one.Baseline.Errors) {
		t.Errorf("baseline %v beside fda, %v beside pola", fda.Baseline.Errors, one.Baseline.Errors)
	}
	r.Seed = 9
	if other := evaluate(t, d, r, p); slices.Equal(other.Baseline.Errors, one.Baseline.Errors) {
		t.Error("the seed does not matter")
	}
	if p.Seed = 9; fmt.Sprint(evaluate(t, d, model.Recipe{Learner: "pola", Pairs: 50}, p).Learner) != fmt.Sprint(evaluate(t, d, r, model.Plan{Repeats: 2}).Learner) {
		t.Error("the seed of the plan is not that of the recipe")
	}
}

// Differences are paired, intervals are the corrected ones, and k is among those
// given.
func TestEvaluateSummary(t *testing.T) {
	d := blobs(9, 40, 2, 2)
	e := evaluate(t, d, model.Recipe{Learner: "fda"}, model.Plan{Folds: 4, Repeats: 3, Ks: []int{5, 1, 5}})
	if !slices.Equal(e.Plan.Ks, []int{1, 5}) || len(e.Learner.Errors) != 12 {
		t.Fatalf("plan %+v, %d errors", e.Plan, len(e.Learner.Errors))
	}
	diffs := make([]float64, 12)
	for i := range diffs {
		diffs[i] = e.Learner.Errors[i] - e.Baseline.Errors[i]
		if k := e.Learner.Ks[i]; k != 1 && k != 5 {
			t.Errorf("split %d took k = %d", i, k)
		}
	}
	if want := judge.SummarizeResampled(diffs, 1.0/3); fmt.Sprint(e.Difference) != fmt.Sprint(want) {
		t.Errorf("difference %+v, want %+v", e.Difference, want)
	}
	same := evaluate(t, d, model.Recipe{Learner: model.Euclidean}, model.Plan{Repeats: 2})
	if !slices.Equal(same.Learner.Errors, same.Baseline.Errors) || !slices.Equal(same.Learner.Ks, same.Baseline.Ks) {
		t.Error("the Euclidean distance differs from the baseline")
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
	both := evaluate(t, d, r, model.Plan{Ks: []int{1, 9}})
	nine := evaluate(t, d, r, model.Plan{Ks: []int{9}})
	if slices.Contains(both.Learner.Ks, 1) || !slices.Equal(both.Learner.Errors, nine.Learner.Errors) {
		t.Errorf("took %v", both.Learner.Ks)
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

func TestEvaluateErrors(t *testing.T) {
	for _, tt := range []struct {
		plan   model.Plan
		recipe model.Recipe
		want   string
		option bool
	}{
		{model.Plan{Folds: 1}, model.Recipe{Learner: "fda"}, "folds: 1 is not allowed, want 2 to the number of rows, 20", true},
		{model.Plan{Folds: 21}, model.Recipe{Learner: "fda"}, "folds: 21", true},
		{model.Plan{Repeats: -1}, model.Recipe{Learner: "fda"}, "repeats: -1", true},
		{model.Plan{Ks: []int{17}}, model.Recipe{Learner: "fda"}, "k: 17 is not allowed, want 1 to 16", true},
		{model.Plan{Ks: []int{1, 16}}, model.Recipe{Learner: "fda"}, "k: 16 is not allowed, want 1 to 15", true},
		{model.Plan{Ks: []int{0}}, model.Recipe{Learner: "fda"}, "k: 0", true},
		{model.Plan{Ks: []int{}}, model.Recipe{Learner: "fda"}, "k: none given", true},
		{model.Plan{}, model.Recipe{Learner: "polo"}, "unknown learner", true},
		{model.Plan{}, model.Recipe{Learner: "fda", Params: map[string]string{"dim": "4"}}, "repeat 1, fold 1: ", false},
	} {
		_, err := model.Evaluate(context.Background(), blobs(11, 20, 2, 2), tt.recipe, tt.plan)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: error %v, want %q", tt.plan, err, tt.want)
		}
		if _, ok := errors.AsType[*model.OptionError](err); ok != tt.option {
			t.Errorf("%+v: OptionError %v", tt.plan, ok)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	_, err := model.Evaluate(ctx, blobs(11, 20, 2, 2), model.Recipe{Learner: "fda"}, model.Plan{Progress: func(done, total int) { cancel() }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: error %v", err)
	}
}
