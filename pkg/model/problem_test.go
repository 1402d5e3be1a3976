package model

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/feedback"
	"metriclab/pkg/kernels"
	"metriclab/pkg/metric"
)

// TestCompareProblems: on every problem, a comparison has the errors of the evaluation of each learner, split by split, those of its baselines too.
func TestCompareProblems(t *testing.T) {
	const n, seed = 50, 3
	rng := rand.New(rand.NewPCG(4, 1))
	x, labels := mat.NewDense(n, 4, nil), make([]string, n)
	for i := range n {
		class := i % 3
		x.SetRow(i, []float64{2*float64(class) + rng.NormFloat64(), rng.NormFloat64(), 3 * rng.NormFloat64(), rng.NormFloat64()})
		labels[i] = string(rune('a' + class))
	}
	var links []metric.Link
	var ts []metric.Triplet
	for range 400 {
		p := rng.Perm(n)
		l := metric.Link{I: p[0], J: p[1], Label: metric.Dissimilar}
		if labels[p[0]] == labels[p[1]] {
			l.Label = metric.Similar
		}
		links = append(links, l)
		near, far := p[1], p[2]
		if (metric.Euclidean{}).SqDist(x.RawRowView(p[0]), x.RawRowView(near)) > (metric.Euclidean{}).SqDist(x.RawRowView(p[0]), x.RawRowView(far)) {
			near, far = far, near
		}
		ts = append(ts, metric.Triplet{A: p[0], Near: near, Far: far})
	}
	few := make([]metric.Triplet, 0, len(ts)) // of few objects
	for _, v := range ts {
		if v = (metric.Triplet{A: v.A % 9, Near: v.Near % 9, Far: v.Far % 9}); !v.Degenerate() {
			few = append(few, v)
		}
	}
	set := &feedback.Triplets{Name: "t", Objects: 9, List: few}
	f := vectorFile(t, x, false)
	table, err := NewData(x, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	table.Links = links
	k0 := kernels.Gram(kernels.Linear{}, x)
	plan := Plan{Folds: 3, Repeats: 2, Ks: []int{1, 3}, Seed: seed}
	held := VectorPlan{Splits: 6, Seed: seed}
	same := func(err error, got, want []float64) error {
		if err == nil && !slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) <= 1e-12 }) { // shares, one less the other
			err = fmt.Errorf("%v, want %v", got, want)
		}
		return err
	}
	wrong := func(aucs []float64) (out []float64) {
		for _, a := range aucs {
			out = append(out, 1-a)
		}
		return out
	}
	for _, c := range []struct {
		name     string
		pr       Problem
		base     Recipe
		learners []string
		measure  string
		check    func(learner string, got []float64) error
	}{
		{"gram", ByGram(k0, labels), Recipe{Pairs: 60}, []string{"kernel-itml", "kernel-pca", Euclidean}, MeasureKNN, func(learner string, got []float64) error {
			if learner == Euclidean {
				e, err := EvaluateGram(t.Context(), k0, labels, GramRecipe{Learner: "kernel-pca"}, plan)
				return same(err, got, e.Baseline.Errors)
			}
			r := GramRecipe{Learner: learner}
			if learner == "kernel-itml" {
				r.Pairs = 60
			}
			e, err := EvaluateGram(t.Context(), k0, labels, r, plan)
			return same(err, got, e.Learner.Errors)
		}},
		{"pairs of vectors", PairsOfVectors(f, links, VectorRecipe{Unit: true}, held), Recipe{}, []string{"itml", "pola", Euclidean, Cosine}, MeasureOrder, func(learner string, got []float64) error {
			r := learner
			if learner == Euclidean || learner == Cosine {
				r = "itml"
			}
			e, err := EvaluateVectors(t.Context(), f, links, VectorRecipe{Learner: r, Unit: true}, held)
			switch learner {
			case Euclidean:
				return same(err, got, wrong(e.Euclidean.AUC))
			case Cosine:
				return same(err, got, wrong(e.Cosine.AUC))
			}
			return same(err, got, wrong(e.Learner.AUC))
		}},
		{"comparisons of vectors", ComparisonsOfVectors(f, ts, VectorRecipe{}, held), Recipe{}, []string{"itml", Euclidean, Cosine}, MeasureTriplets, func(learner string, got []float64) error {
			e, err := EvaluateVectorTriplets(t.Context(), f, ts, VectorRecipe{Learner: "itml", Triplets: true}, held)
			switch learner {
			case Euclidean:
				return same(err, got, e.Euclidean.Error)
			case Cosine:
				return same(err, got, e.Cosine.Error)
			}
			return same(err, got, e.Learner.Error)
		}},
		{"pairs of rows", PairsOfRows(table, held), Recipe{Given: GivenPairs}, []string{"itml", "kernel-pola", Euclidean, EuclideanRaw, Cosine}, MeasureOrder, func(learner string, got []float64) error {
			r := Recipe{Learner: learner, Given: GivenPairs}
			switch learner {
			case Euclidean, EuclideanRaw, Cosine:
				r.Learner = "itml"
			}
			e, err := EvaluatePairs(t.Context(), table, r, held)
			switch learner {
			case Euclidean:
				return same(err, got, wrong(e.Euclidean.AUC))
			case EuclideanRaw:
				return same(err, got, wrong(e.Raw.AUC))
			case Cosine:
				return same(err, got, wrong(e.Cosine.AUC))
			}
			return same(err, got, wrong(e.Learner.AUC))
		}},
		{"comparisons", ByComparisons(set, TripletPlan{Dim: 2}), Recipe{}, []string{"erkle", "gnmds"}, MeasureTriplets, func(learner string, got []float64) error {
			e, err := EvaluateTriplets(t.Context(), set, TripletRecipe{Learner: learner}, TripletPlan{Folds: 3, Repeats: 2, Seed: seed, Dim: 2})
			return same(err, got, e.Errors)
		}},
	} {
		p := plan
		if c.measure != MeasureKNN && c.name != "comparisons" {
			p.Repeats = held.Splits
		}
		r, err := Compare(t.Context(), c.pr, c.base, c.learners, Comparing{Plan: p, Validation: 2})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if len(r.Ranked) != len(c.learners) || len(r.Others) > 0 || r.Measure != c.measure {
			t.Errorf("%s: %d ranked by %s, others %v", c.name, len(r.Ranked), r.Measure, r.Others)
		}
		for _, e := range r.Ranked {
			if err := c.check(e.Recipe.Learner, e.Score.Errors); err != nil {
				t.Errorf("%s, %s: %v", c.name, e.Recipe.Learner, err)
			}
		}
		// The choice by validation takes some learner in each split, with the error that this one has there.
		if r.ByValidation == nil || len(r.Chosen) != 6 {
			t.Errorf("%s: no choice by validation: %q", c.name, r.Notes)
			continue
		}
		for s, name := range r.Chosen {
			i := slices.IndexFunc(r.Ranked, func(e Contender) bool { return e.Recipe.Learner == name })
			if i < 0 || r.ByValidation.Errors[s] != r.Ranked[i].Score.Errors[s] {
				t.Errorf("%s: split %d: %s is chosen with %v", c.name, s, name, r.ByValidation.Errors[s])
			}
		}
		if c.name == "pairs of vectors" {
			scaled := mat.NewDense(n, 4, slices.Clone(x.RawMatrix().Data))
			scaled.Scale(1e300, scaled)
			r, err := Compare(t.Context(), PairsOfVectors(vectorFile(t, scaled, false), links, VectorRecipe{}, held), Recipe{}, []string{Euclidean}, Comparing{Plan: p})
			if err != nil || len(r.Ranked) > 0 {
				t.Errorf("%s: where squares overflow: %v, %v", c.name, r, err)
			}
		}
		if _, err := Compare(t.Context(), c.pr, c.base, []string{"fda"}, Comparing{Plan: p}); err == nil {
			t.Errorf("%s: fda, which needs a table with classes, passes", c.name)
		}
		if _, others, err := Comparable(c.pr, c.base, nil, nil); err != nil || len(others) == 0 {
			t.Errorf("%s: of all learners, %d need other input, %v", c.name, len(others), err)
		}
	}
}
