package learnertest_test

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/learners/learnertest"
	"metriclab/pkg/metric"
)

// Every online learner of pairs in the catalog conforms, with its defaults.
func TestCatalog(t *testing.T) {
	n := 0
	for _, e := range catalog.All() {
		if e.Feedback != catalog.Pairs {
			continue
		}
		n++
		t.Run(e.Name, func(t *testing.T) {
			v, err := e.Parse(nil)
			if err != nil {
				t.Fatal(err)
			}
			learnertest.Pairs[learners.Pair]{
				New: func(dim int) (learners.Pair, error) {
					return catalog.As[learners.Pair](e.New(catalog.Shape{Dim: dim}, v))
				},
				Load:         func(r io.Reader) (learners.Pair, error) { return catalog.As[learners.Pair](e.Load(r)) },
				MinThreshold: 1,
				Saturates:    e.Form.Kernel(), // Gaussian by default
			}.Run(t)
		})
	}
	if n == 0 {
		t.Error("the catalog has no online learner of pairs")
	}
}

// Every online learner of comparisons and of costs in the catalog conforms, with its
// defaults. All methods but Step may be called concurrently, as those of pair learners may.
func TestCatalogOfOtherFeedback(t *testing.T) {
	const objects, prototypes, rounds = 30, 5, 40
	rng := rand.New(rand.NewPCG(17, 2))
	n := 0
	for _, e := range catalog.All() {
		if !e.Feedback.Online() || e.Feedback == catalog.Pairs {
			continue
		}
		n++
		t.Run(e.Name, func(t *testing.T) {
			if e.Feedback == catalog.VectorTriplets {
				v, err := e.Parse(nil)
				if err != nil {
					t.Fatal(err)
				}
				learnertest.Comparisons[learners.SimilarityLearner]{
					New: func(dim int) (learners.SimilarityLearner, error) {
						return catalog.As[learners.SimilarityLearner](e.New(catalog.Shape{Dim: dim}, v))
					},
					Load: func(r io.Reader) (learners.SimilarityLearner, error) {
						return catalog.As[learners.SimilarityLearner](e.Load(r))
					},
				}.Run(t)
				return
			}
			if e.Feedback == catalog.Triplets {
				s := learnertest.Suite[metric.Triplet, learners.TripletPrediction, learners.TripletLearner]{
					New:  maker[learners.TripletLearner](t, e, catalog.Shape{Objects: objects}),
					Save: learners.TripletLearner.Save,
					Load: func(r io.Reader) (learners.TripletLearner, error) {
						return catalog.As[learners.TripletLearner](e.Load(r))
					},
					Snapshot: func(l learners.TripletLearner) func() []float64 { return entries(l.Kernel()) },
					Bad: map[string]metric.Triplet{
						"object −1": {A: -1, Near: 1, Far: 2}, "too large": {A: 0, Near: 1, Far: objects},
						"near and far": {A: 0, Near: 1, Far: 1}, "a and near": {A: 1, Near: 1, Far: 2},
					},
				}
				for range rounds {
					p := rng.Perm(objects)
					s.Rounds = append(s.Rounds, metric.Triplet{A: p[0], Near: p[1], Far: p[2]})
				}
				s.Run(t)
				return
			}
			s := learnertest.Suite[metric.CostRound, []int, learners.MapLearner]{
				New:      maker[learners.MapLearner](t, e, catalog.Shape{Objects: objects, Prototypes: prototypes}),
				Save:     learners.MapLearner.Save,
				Load:     func(r io.Reader) (learners.MapLearner, error) { return catalog.As[learners.MapLearner](e.Load(r)) },
				Snapshot: func(l learners.MapLearner) func() []float64 { return entries(l.LogWeights()) },
				Bad:      map[string]metric.CostRound{"no costs": {}, "turned": {Cost: mat.NewDense(prototypes, objects, nil)}},
			}
			for _, v := range []float64{-0.5, 1.5, math.NaN(), math.Inf(1)} {
				c := mat.NewDense(objects, prototypes, nil)
				c.Apply(func(_, _ int, _ float64) float64 { return v }, c)
				s.Bad[fmt.Sprint("costs of ", v)] = metric.CostRound{Cost: c}
			}
			for range rounds {
				c := mat.NewDense(objects, prototypes, nil)
				c.Apply(func(_, _ int, _ float64) float64 { return rng.Float64() }, c)
				s.Rounds = append(s.Rounds, metric.CostRound{Cost: c})
			}
			s.Run(t)
		})
	}
	if n == 0 {
		t.Error("the catalog has no online learner of comparisons or costs")
	}
}

// maker makes learners with the defaults, and ends the test if one cannot be made.
func maker[L catalog.Learner](t *testing.T, e catalog.Entry, s catalog.Shape) func() L {
	v, err := e.Parse(nil)
	if err != nil {
		t.Fatal(err)
	}
	return func() L {
		l, err := catalog.As[L](e.New(s, v))
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
}

// entries reads the numbers of a matrix whenever it is asked.
func entries(m mat.Matrix) func() []float64 {
	return func() []float64 { return mat.DenseCopyOf(m).RawMatrix().Data }
}
