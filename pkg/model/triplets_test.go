package model_test

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/feedback"
	"metriclab/pkg/metric"
	"metriclab/pkg/model"
	"metriclab/pkg/persist/persisttest"
	"metriclab/pkg/plots"
	"metriclab/pkg/random"
)

// compared draws triplets of points in the plane, of which a share is turned round.
func compared(seed uint64, n, m int, flip float64) *feedback.Triplets {
	rng := rand.New(rand.NewPCG(seed, 1))
	x := make([][2]float64, n)
	for i := range x {
		x[i] = [2]float64{rng.Float64(), rng.Float64()}
	}
	sq := func(i, j int) float64 { return math.Hypot(x[i][0]-x[j][0], x[i][1]-x[j][1]) }
	set := &feedback.Triplets{Name: "made", Objects: n, Read: m}
	for range m {
		o := rng.Perm(n)
		t := metric.Triplet{A: o[0], Near: o[1], Far: o[2]}
		if (sq(t.A, t.Near) > sq(t.A, t.Far)) != (rng.Float64() < flip) {
			t.Near, t.Far = t.Far, t.Near
		}
		set.List = append(set.List, t)
	}
	return set
}

// wrong counts the triplets that distances do not satisfy, one by one.
func wrong(ts []metric.Triplet, sq func(i, j int) float64) float64 {
	count := 0.
	for _, t := range ts {
		near, far := sq(t.A, t.Near), sq(t.A, t.Far)
		switch {
		case math.Abs(near-far) <= 1e-12*max(near, far):
			count += .5
		case near > far:
			count++
		}
	}
	return count / float64(len(ts))
}

func ofKernel(k mat.Symmetric) func(i, j int) float64 {
	return func(i, j int) float64 { return k.At(i, i) + k.At(j, j) - 2*k.At(i, j) }
}

// Each learner of triplets gives a kernel whose error is what a count says, whose coordinates have its distances, and
// which comes back from its file.
func TestFitTriplets(t *testing.T) {
	set := compared(3, 12, 400, 0)
	for _, e := range model.ByComparisons(nil).Learners() {
		c := model.MustFit[*model.Compared](t, model.ByComparisons(set), model.Recipe{Learner: e.Name})
		k := c.Kernel()
		if got, want := c.Report().Error, wrong(set.List, ofKernel(k)); got != want || got > 0.2 {
			t.Errorf("%s: error %v, counted %v", e.Name, got, want)
		}
		if r := c.Report(); r.TauChosen == e.Feedback.Online() || r.Missing != 0 || (r.Mistakes > 0) != e.Feedback.Online() {
			t.Errorf("%s: %+v", e.Name, r)
		}
		z, err := c.Coordinates(t.Context(), 12)
		if err != nil || math.Abs(z.Share-1) > 1e-9 {
			t.Fatalf("%s: %v, share %v", e.Name, err, z.Share)
		}
		size := mat.Trace(k)
		for i := range 12 {
			for j := range 12 {
				sq := sqDist(z.Z.RawRowView(i), z.Z.RawRowView(j))
				if want := ofKernel(k)(i, j); math.Abs(sq-want) > 1e-9*size {
					t.Errorf("%s: objects %d and %d are at %v, want %v", e.Name, i, j, sq, want)
				}
			}
		}
		flat, err := c.Coordinates(t.Context(), 2)
		if err != nil || flat.Share > 1 || flat.Share < 0.3 {
			t.Errorf("%s: share %v, %v", e.Name, flat.Share, err)
		}
		if got, want := c.ErrorOf(flat), wrong(set.List, func(i, j int) float64 { return sqDist(flat.Z.RawRowView(i), flat.Z.RawRowView(j)) }); got != want {
			t.Errorf("%s: error %v in the plane, counted %v", e.Name, got, want)
		}
		for i := range 12 {
			if flat.Z.At(i, 0) != z.Z.At(i, 0) || flat.Z.At(i, 1) != z.Z.At(i, 1) {
				t.Errorf("%s: two coordinates are not the first two", e.Name)
			}
		}
		near := must(c.Neighbours(t.Context(), 11))
		for i, list := range near {
			seen := map[int]bool{i: true}
			for rank, nb := range list {
				if want := ofKernel(k)(i, nb.Index); seen[nb.Index] || math.Abs(nb.SqDist-want) > 1e-9*size || rank > 0 && nb.SqDist < list[rank-1].SqDist {
					t.Errorf("%s: neighbour %d of object %d is %+v, at %v", e.Name, rank+1, i, nb, want)
				}
				seen[nb.Index] = true
			}
			if len(seen) != 12 {
				t.Errorf("%s: object %d has %d neighbours", e.Name, i, len(seen)-1)
			}
		}
		model.Refused(t, e.Name, model.ErrorOf(c.Neighbours(t.Context(), 12)), "k: 12 is not allowed, want 1 to 11")
		back := must(model.LoadTriplets(bytes.NewReader(persisttest.Saved(c))))
		if !mat.Equal(back.Kernel(), k) || !slices.Equal(back.Names(), c.Names()) || back.LearnerVersion() != e.Version || back.Recipe().Learner != e.Name {
			t.Errorf("%s: another was loaded", e.Name)
		}
		d := must(c.Plot(t.Context()))
		if _, err := d.Warnings(); err != nil {
			t.Error(err)
		}
		if len(d.Shares) != 2 || d.Shares[0] < d.Shares[1] || math.Abs(d.Shares[0]+d.Shares[1]-flat.Share) > 1e-12 {
			t.Errorf("%s: shares %v of %v", e.Name, d.Shares, flat.Share)
		}
	}
}

// A learner with a parameter dim fits in so many coordinates: they are all that there is, come back from the file, and contradict no more than a kernel that is cut
// to as many.
func TestFitInCoordinates(t *testing.T) {
	set := compared(6, 14, 300, 0)
	pr := model.ByComparisons(set)
	for _, name := range []string{"gnmds", "ste", "ckl", "tste", "soe"} {
		recipe := model.Recipe{Learner: name, Params: map[string]string{"dim": "2", "starts": "3", "tau": "0.1"}}
		c := model.MustFit[*model.Compared](t, pr, recipe)
		flat := must(c.Coordinates(t.Context(), 2))
		if r := c.Report(); c.Dim() != 2 || r.Dim != 2 || r.Dims != nil || math.Abs(flat.Share-1) > 1e-9 {
			t.Errorf("%s: %d dimensions of share %v, %+v", name, c.Dim(), flat.Share, r)
		}
		if got, want := c.Report().Error, wrong(set.List, ofKernel(c.Kernel())); got != want || got > 0.1 {
			t.Errorf("%s: error %v, counted %v", name, got, want)
		}
		back := must(model.LoadTriplets(bytes.NewReader(persisttest.Saved(c))))
		if back.Dim() != 2 || !mat.Equal(back.Kernel(), c.Kernel()) {
			t.Errorf("%s: another was loaded, of %d dimensions", name, back.Dim())
		}
		if d := must(back.Plot(t.Context())); !strings.Contains(d.Caption.Shows, "in the 2 coordinates that "+name+" fitted") {
			t.Errorf("%s: %s", name, d.Caption.Shows)
		}
		if name == "tste" || name == "soe" {
			recipe.Params["dim"] = "all"
			model.Refused(t, name, model.ErrorOf(model.Fit(t.Context(), pr, recipe, nil)), `parameter dim: "all" is not allowed, want auto, or an integer from 1`)
			continue
		}
		delete(recipe.Params, "starts")
		delete(recipe.Params, "dim")
		k := model.MustFit[*model.Compared](t, pr, recipe)
		if cut := k.ErrorOf(must(k.Coordinates(t.Context(), 2))); k.Dim() != 0 || cut < c.Report().Error {
			t.Errorf("%s: the kernel cut to two dimensions contradicts %v, two coordinates %v", name, cut, c.Report().Error)
		}
	}
	c := model.MustFit[*model.Compared](t, pr, model.Recipe{Learner: "soe", Params: map[string]string{"dim": "auto", "starts": "2", "tau": "0.1"}})
	if r := c.Report(); r.Dim < 2 || r.Dim > 3 || c.Dim() != r.Dim || !slices.Equal(r.Dims, []int{1, 2, 3, 4, 5, 6}) || len(r.DimErrors) != 6 {
		t.Errorf("the number of coordinates is chosen: %+v", r)
	}
	model.Refused(t, "", model.ErrorOf(model.Fit(t.Context(), pr, model.Recipe{Learner: "soe", Params: map[string]string{"dim": "15"}}, nil)), "dim: 15 is not allowed, want 1 to the number of objects, 14")
	model.Refused(t, "", model.ErrorOf(model.Fit(t.Context(), pr, model.Recipe{Learner: "soe", Params: map[string]string{"margin": "1e100"}}, nil)), "soe: the kernel overflows")
	e := must(model.Evaluate(t.Context(), pr, model.Recipe{Learner: "tste", Params: map[string]string{"dim": "auto", "starts": "1", "tau": "0.1"}}, model.Plan{Repeats: 1, Folds: 3}))
	if chosen := e.Methods[0].Scores[0].Chosen; e.Choice != "dim" || len(chosen) != 3 {
		t.Errorf("%s of splits: %v", e.Choice, chosen)
	}
}

// Objects that few comparisons name are pale in a plot, with a name in the legend and a sentence in the caption; where there are none, neither is said.
func TestPlotFewAnswers(t *testing.T) {
	set := compared(7, 12, 200, 0)
	set.Objects++
	for i := range 3 { // the object 12, which 3 comparisons name
		set.List = append(set.List, metric.Triplet{A: i, Near: 12, Far: i + 1})
	}
	marks := func(c *model.Compared) []plots.Mark { return must(c.Plot(t.Context())).Panels[0].Marks }
	fit := func() *model.Compared {
		return model.MustFit[*model.Compared](t, model.ByComparisons(set), model.Recipe{Learner: "ste", Params: map[string]string{"dim": "2", "starts": "2"}})
	}
	few := fit()
	for _, c := range []*model.Compared{few, must(model.LoadTriplets(bytes.NewReader(persisttest.Saved(few))))} {
		m := marks(c)
		known, pale := m[0].(plots.Points), m[1].(plots.Points)
		if len(m) != 2 || len(known.X) != 12 || !slices.Equal(pale.Labels, []string{"12"}) || pale.Color != plots.Grey || pale.Shape != plots.Ring || pale.Name != "in fewer than 4 comparisons" {
			t.Errorf("marks %+v", m)
		}
		if shows := must(c.Plot(t.Context())).Caption.Shows; !strings.Contains(shows, "Pale rings: the 1 that fewer than 4 comparisons name") {
			t.Error(shows)
		}
	}
	set.List = append(set.List, metric.Triplet{A: 12, Near: 0, Far: 5})
	if m := marks(fit()); len(m) != 1 || m[0].(plots.Points).Name != "" {
		t.Errorf("marks %+v", m)
	}
}

// Where answers are about three objects these are the question, of which there are 20 here, and no fold tells of another by the second comparison of an answer.
func TestThreesStayTogether(t *testing.T) {
	set := &feedback.Triplets{Name: "odd", Objects: 6, Threes: 20}
	for a := range 6 {
		for b := range a {
			for o := range b { // of which a is the odd one out
				set.List = append(set.List, metric.Triplet{A: b, Near: o, Far: a}, metric.Triplet{A: o, Near: b, Far: a})
			}
		}
	}
	evaluate := func(folds int) error {
		return model.ErrorOf(model.Evaluate(t.Context(), model.ByComparisons(set), model.Recipe{Learner: "ste"}, model.Plan{Folds: folds, Repeats: 1}))
	}
	if err := evaluate(20); err != nil {
		t.Error(err)
	}
	model.Refused(t, "", evaluate(21), "want 2 to the number of questions, 20")
}

// Objects that do not occur are left out, and names stay with their objects.
func TestFitTripletsNames(t *testing.T) {
	set := &feedback.Triplets{Name: "t", Objects: 9, List: []metric.Triplet{{A: 8, Near: 3, Far: 5}, {A: 3, Near: 8, Far: 5}}}
	c := model.MustFit[*model.Compared](t, model.ByComparisons(set), model.Recipe{Learner: "erkle", Passes: 3})
	if c.Report().Missing != 6 || c.Report().Items != 3 || !slices.Equal(c.Names(), []string{"3", "5", "8"}) {
		t.Fatalf("%+v of %q", c.Report(), c.Names())
	}
	if sq := ofKernel(c.Kernel()); sq(0, 2) >= sq(0, 1) {
		t.Error("3 is nearer to 5 than to 8")
	}
	set.Names = []string{"a", "b", "c", "d", "e", "f", "g", "h", "i"}
	if c = model.MustFit[*model.Compared](t, model.ByComparisons(set), model.Recipe{Learner: "gnmds"}); !slices.Equal(c.Names(), []string{"d", "f", "i"}) {
		t.Errorf("%q", c.Names())
	}
}

func TestTripletErrors(t *testing.T) {
	set := compared(3, 12, 60, 0)
	pr := model.ByComparisons(set)
	params := model.Recipe{Learner: "ste", Params: map[string]string{"tau": "x"}}
	model.Refused(t, "", model.ErrorOf(model.Fit(t.Context(), pr, params, nil)), `parameter tau: "x" is not allowed, want auto, or`)
	beyond := *set
	beyond.Objects = 11
	for _, err := range []error{
		model.ErrorOf(model.Fit(t.Context(), model.ByComparisons(&beyond), model.Recipe{Learner: "ste"}, nil)),
		model.ErrorOf(model.Evaluate(t.Context(), model.ByComparisons(&beyond), model.Recipe{Learner: "ste"}, model.Plan{})),
	} {
		model.Refused(t, "", err, "object 11 is not allowed, want 0 to 10")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	model.Refused(t, "cancelled", model.ErrorOf(model.Fit(ctx, pr, model.Recipe{Learner: "ste"}, nil)), context.Canceled)
	model.Limit(t, 1000)
	model.Refused(t, "over the limit", model.ErrorOf(model.Fit(t.Context(), pr, model.Recipe{Learner: "ste"}, nil)), "kernels of 12 objects")
}

// The error of each split is what a fit to the triplets of other folds has on its own, counted one by one.
func TestEvaluateTripletsBySplit(t *testing.T) {
	set := compared(9, 7, 120, 0.1)
	slices.SortFunc(set.List, func(a, b metric.Triplet) int {
		return cmp.Or(cmp.Compare(a.A, b.A), cmp.Compare(a.Near, b.Near), cmp.Compare(a.Far, b.Far))
	})
	const folds = 3
	for _, dim := range []int{0, 2} {
		plan := model.Plan{Folds: folds, Repeats: 2, Seed: 4, Dim: dim}
		score := model.MustEvaluate(t, model.ByComparisons(set), model.Recipe{Learner: "ste"}, plan).Of("ste", model.MeasureTriplets)
		for s, got := range score.Values {
			fold := must(sample.TripletFolds(random.Seed{Base: 4, Experiment: "model/triplets", Trial: s / folds}.Stream("folds"), set.List, folds, false))
			train := &feedback.Triplets{Name: "t", Objects: 7}
			var test []metric.Triplet
			for i, v := range set.List {
				if fold[i] == s%folds {
					test = append(test, v)
				} else {
					train.List = append(train.List, v)
				}
			}
			order := random.Seed{Base: 4, Experiment: "model/evaluate", Trial: s}.Stream("order")
			order.Shuffle(len(train.List), func(i, j int) { train.List[i], train.List[j] = train.List[j], train.List[i] })
			c := model.MustFit[*model.Compared](t, model.ByComparisons(train), model.Recipe{Learner: "ste"})
			if c.Report().Tau != score.Chosen[s] {
				t.Fatalf("split %d: tau %v, want %v", s, score.Chosen[s], c.Report().Tau)
			}
			sq := ofKernel(c.Kernel())
			if dim > 0 {
				z := must(c.Coordinates(t.Context(), dim))
				sq = func(i, j int) float64 { return sqDist(z.Z.RawRowView(i), z.Z.RawRowView(j)) }
			}
			if want := wrong(test, sq); got != want {
				t.Errorf("dim %d, split %d: error %v, want %v", dim, s, got, want)
			}
		}
	}
}

func TestLoadTripletsNumbers(t *testing.T) {
	c := model.MustFit[*model.Compared](t, model.ByComparisons(compared(3, 5, 40, 0)), model.Recipe{Learner: "gnmds"})
	persisttest.Numbers(t, persisttest.Saved(c), model.LoadTriplets, func(c *model.Compared) {
		if _, err := c.Coordinates(context.Background(), 2); err != nil {
			t.Error(err)
		}
		if _, err := c.Plot(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// Better learners are below one half; answers by a coin are at one half, whatever learns.
func TestEvaluateTriplets(t *testing.T) {
	set := compared(5, 10, 300, 0.1)
	for _, r := range []model.Recipe{{Learner: "gnmds", Params: map[string]string{"tau": "0.5"}}, {Learner: "erkle", Passes: 2}} {
		plan := model.Plan{Folds: 3, Repeats: 2, Seed: 4}
		e := model.MustEvaluate(t, model.ByComparisons(set), r, plan)
		score := e.Of(r.Learner, model.MeasureTriplets)
		if len(score.Values) != 6 || !score.Summary.HasInterval || score.Summary.Mean > 0.35 || e.Items != 10 || e.Known != 300 || (score.Chosen == nil) != (r.Learner == "erkle") {
			t.Errorf("%s: %+v", r.Learner, e)
		}
		plan.Dim = 10
		for s, v := range model.MustEvaluate(t, model.ByComparisons(set), r, plan).Of(r.Learner, model.MeasureTriplets).Values { // ties apart, all dimensions are the kernel
			if math.Abs(v-score.Values[s]) > 0.02 {
				t.Errorf("%s, split %d: %v in all dimensions, %v by the kernel", r.Learner, s, v, score.Values[s])
			}
		}
	}
	coin := compared(6, 10, 300, 0.5)
	e := model.MustEvaluate(t, model.ByComparisons(coin), model.Recipe{Learner: "ste"}, model.Plan{})
	if score := e.Of("ste", model.MeasureTriplets); math.Abs(score.Summary.Mean-.5) > 0.1 || len(score.Chosen) != 10 || e.Of("a coin", model.MeasureTriplets).Summary.Mean != .5 {
		t.Errorf("%+v", e)
	}
	if *e.Agreement != coin.Agreement() || e.Agreement.Outvoted == 0 {
		t.Errorf("%+v", e.Agreement)
	}
}
