package model_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/feedback"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
	"metriclab/pkg/model"
	"metriclab/pkg/persist/persisttest"
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
	for _, e := range model.TripletLearners() {
		c, err := model.FitTriplets(t.Context(), set, model.TripletRecipe{Learner: e.Name}, nil)
		if err != nil {
			t.Fatal(err)
		}
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
				sq := 0.
				for d := range 12 {
					v := z.Z.At(i, d) - z.Z.At(j, d)
					sq += v * v
				}
				if want := ofKernel(k)(i, j); math.Abs(sq-want) > 1e-9*size {
					t.Errorf("%s: objects %d and %d are at %v, want %v", e.Name, i, j, sq, want)
				}
			}
		}
		flat, err := c.Coordinates(t.Context(), 2)
		if err != nil || flat.Share > 1 || flat.Share < 0.3 {
			t.Errorf("%s: share %v, %v", e.Name, flat.Share, err)
		}
		for i := range 12 {
			if flat.Z.At(i, 0) != z.Z.At(i, 0) || flat.Z.At(i, 1) != z.Z.At(i, 1) {
				t.Errorf("%s: two coordinates are not the first two", e.Name)
			}
		}
		near, err := c.Neighbours(t.Context(), 11)
		if err != nil {
			t.Fatal(err)
		}
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
		if _, err := c.Neighbours(t.Context(), 12); err == nil || !strings.Contains(err.Error(), "k: 12 is not allowed, want 1 to 11") {
			t.Errorf("%s: as many neighbours as objects: %v", e.Name, err)
		}
		var file bytes.Buffer
		if err := c.Save(&file); err != nil {
			t.Fatal(err)
		}
		back, err := model.LoadTriplets(bytes.NewReader(file.Bytes()))
		if err != nil || !mat.Equal(back.Kernel(), k) || !slices.Equal(back.Names(), c.Names()) || back.LearnerVersion() != e.Version || back.Recipe().Learner != e.Name {
			t.Errorf("%s: %v", e.Name, err)
		}
		d, err := c.Plot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.Warnings(); err != nil {
			t.Error(err)
		}
		if len(d.Shares) != 2 || d.Shares[0] < d.Shares[1] || math.Abs(d.Shares[0]+d.Shares[1]-flat.Share) > 1e-12 {
			t.Errorf("%s: shares %v of %v", e.Name, d.Shares, flat.Share)
		}
	}
}

// Objects that do not occur are left out, and names stay with their objects.
func TestFitTripletsNames(t *testing.T) {
	set := &feedback.Triplets{Name: "t", Objects: 9, List: []metric.Triplet{{A: 8, Near: 3, Far: 5}, {A: 3, Near: 8, Far: 5}}}
	c, err := model.FitTriplets(t.Context(), set, model.TripletRecipe{Learner: "erkle", Passes: 3}, nil)
	if err != nil || c.Report().Missing != 6 || !slices.Equal(c.Names(), []string{"3", "5", "8"}) {
		t.Fatalf("%+v, %v", c, err)
	}
	if sq := ofKernel(c.Kernel()); sq(0, 2) >= sq(0, 1) {
		t.Error("3 is nearer to 5 than to 8")
	}
	set.Names = []string{"a", "b", "c", "d", "e", "f", "g", "h", "i"}
	if c, err = model.FitTriplets(t.Context(), set, model.TripletRecipe{Learner: "gnmds"}, nil); err != nil || !slices.Equal(c.Names(), []string{"d", "f", "i"}) {
		t.Errorf("%v, %v", c.Names(), err)
	}
}

func TestTripletErrors(t *testing.T) {
	set := compared(3, 12, 60, 0)
	for _, c := range []struct {
		recipe model.TripletRecipe
		plan   model.TripletPlan
		want   string
	}{
		{model.TripletRecipe{Learner: "pola"}, model.TripletPlan{}, "learner pola learns from labelled pairs, online, not from triplets"},
		{model.TripletRecipe{Learner: "st"}, model.TripletPlan{}, `unknown learner "st", want one of erkle, gnmds, ste, ckl`},
		{model.TripletRecipe{Learner: "ste", Passes: 2}, model.TripletPlan{}, "passes: 2 does not apply to ste"},
		{model.TripletRecipe{Learner: "erkle", Passes: -2}, model.TripletPlan{}, "passes: -2 is not allowed"},
		{model.TripletRecipe{Learner: "ste", Params: map[string]string{"tau": "x"}}, model.TripletPlan{}, `parameter tau: "x" is not allowed, want auto, or`},
		{model.TripletRecipe{Learner: "ste"}, model.TripletPlan{Folds: 1}, "folds: 1 is not allowed"},
		{model.TripletRecipe{Learner: "ste"}, model.TripletPlan{Folds: 61}, "want 2 to the number of questions"},
		{model.TripletRecipe{Learner: "ste"}, model.TripletPlan{Repeats: -1}, "repeats: -1 is not allowed"},
		{model.TripletRecipe{Learner: "ste"}, model.TripletPlan{Dim: 13}, "dim: 13 is not allowed, want 1 to the number of objects, 12"},
	} {
		if _, err := model.EvaluateTriplets(t.Context(), set, c.recipe, c.plan); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v %+v: %v, want %s", c.recipe, c.plan, err, c.want)
		} else if _, ok := errors.AsType[*model.OptionError](err); !ok {
			t.Errorf("%+v %+v: %T", c.recipe, c.plan, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, learner := range []string{"erkle", "ste"} {
		if _, err := model.FitTriplets(ctx, set, model.TripletRecipe{Learner: learner}, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, cancelled: %v", learner, err)
		}
		if _, err := model.EvaluateTriplets(ctx, set, model.TripletRecipe{Learner: learner}, model.TripletPlan{}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, cancelled: %v", learner, err)
		}
	}
	t.Cleanup(func() { limits.SetMemory(0) })
	limits.SetMemory(1000)
	if _, err := model.FitTriplets(t.Context(), set, model.TripletRecipe{Learner: "ste"}, nil); err == nil || !strings.Contains(err.Error(), "kernels of 12 objects") {
		t.Errorf("over the limit: %v", err)
	}
}

// The error of each split is what a fit to the triplets of other folds has on its own, counted one by one.
func TestEvaluateTripletsBySplit(t *testing.T) {
	set := compared(9, 7, 120, 0.1)
	slices.SortFunc(set.List, func(a, b metric.Triplet) int {
		return cmp.Or(cmp.Compare(a.A, b.A), cmp.Compare(a.Near, b.Near), cmp.Compare(a.Far, b.Far))
	})
	const folds = 3
	for _, dim := range []int{0, 2} {
		e, err := model.EvaluateTriplets(t.Context(), set, model.TripletRecipe{Learner: "ste"}, model.TripletPlan{Folds: folds, Repeats: 2, Seed: 4, Dim: dim})
		if err != nil {
			t.Fatal(err)
		}
		for s, got := range e.Errors {
			fold, err := sample.TripletFolds(random.Seed{Base: 4, Experiment: "model/triplets", Trial: s / folds}.Stream("folds"), set.List, folds)
			if err != nil {
				t.Fatal(err)
			}
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
			c, err := model.FitTriplets(t.Context(), train, model.TripletRecipe{Learner: "ste"}, nil)
			if err != nil || c.Report().Tau != e.Taus[s] {
				t.Fatalf("split %d: tau %v, want %v, %v", s, e.Taus[s], c.Report().Tau, err)
			}
			sq := ofKernel(c.Kernel())
			if dim > 0 {
				z, err := c.Coordinates(t.Context(), dim)
				if err != nil {
					t.Fatal(err)
				}
				sq = func(i, j int) float64 {
					a, b := z.Z.At(i, 0)-z.Z.At(j, 0), z.Z.At(i, 1)-z.Z.At(j, 1)
					return a*a + b*b
				}
			}
			if want := wrong(test, sq); got != want {
				t.Errorf("dim %d, split %d: error %v, want %v", dim, s, got, want)
			}
		}
	}
}

// Better learners are below one half; answers by a coin are at one half, whatever learns.
func TestEvaluateTriplets(t *testing.T) {
	set := compared(5, 10, 300, 0.1)
	for _, r := range []model.TripletRecipe{{Learner: "gnmds", Params: map[string]string{"tau": "0.5"}}, {Learner: "erkle", Passes: 2}} {
		e, err := model.EvaluateTriplets(t.Context(), set, r, model.TripletPlan{Folds: 3, Repeats: 2, Seed: 4})
		if err != nil {
			t.Fatal(err)
		}
		if len(e.Errors) != 6 || !e.Summary.HasInterval || e.Summary.Mean > 0.35 || e.Objects != 10 || e.Triplets != 300 || (e.Taus == nil) != (r.Learner == "erkle") {
			t.Errorf("%s: %+v", r.Learner, e)
		}
		again, err := model.EvaluateTriplets(t.Context(), set, r, model.TripletPlan{Folds: 3, Repeats: 2, Seed: 4, Dim: 10})
		if err != nil {
			t.Fatal(err)
		}
		for s, v := range again.Errors { // ties apart, all dimensions are the kernel
			if math.Abs(v-e.Errors[s]) > 0.02 {
				t.Errorf("%s, split %d: %v in all dimensions, %v by the kernel", r.Learner, s, v, e.Errors[s])
			}
		}
	}
	coin := compared(6, 10, 300, 0.5)
	e, err := model.EvaluateTriplets(t.Context(), coin, model.TripletRecipe{Learner: "ste"}, model.TripletPlan{})
	if err != nil || math.Abs(e.Summary.Mean-.5) > 0.1 || len(e.Taus) != 10 {
		t.Errorf("%+v, %v", e, err)
	}
	if e.Agreement != coin.Agreement() || e.Agreement.Outvoted == 0 {
		t.Errorf("%+v", e.Agreement)
	}
}

func TestLoadTripletsNumbers(t *testing.T) {
	c, err := model.FitTriplets(t.Context(), compared(3, 5, 40, 0), model.TripletRecipe{Learner: "gnmds"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := c.Save(&file); err != nil {
		t.Fatal(err)
	}
	persisttest.Numbers(t, file.Bytes(), model.LoadTriplets, func(c *model.Compared) {
		if _, err := c.Coordinates(context.Background(), 2); err != nil {
			t.Error(err)
		}
		if _, err := c.Plot(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

func TestNumbersOfGivenFiles(t *testing.T) {
	d := readJudged(t, model.Columns{Unlabelled: true, Drop: []string{"id", "who"}})
	d.Links = []metric.Link{{I: 0, J: 1, Label: metric.Similar}, {I: 0, J: 4, Label: metric.Dissimilar}}
	m, err := model.Fit(t.Context(), d, model.Recipe{Learner: "pola", Given: model.GivenPairs}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := m.Save(&file); err != nil {
		t.Fatal(err)
	}
	persisttest.Numbers(t, file.Bytes(), model.Load, func(m *model.Model) { _, _ = m.Embed(d.X) })
}
