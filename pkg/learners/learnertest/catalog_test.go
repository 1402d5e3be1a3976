package learnertest_test

import (
	"fmt"
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
		if e.NewPair == nil {
			continue
		}
		n++
		t.Run(e.Name, func(t *testing.T) {
			v, err := e.Parse(nil)
			if err != nil {
				t.Fatal(err)
			}
			l, err := e.NewPair(1, v)
			if err != nil {
				t.Fatal(err)
			}
			_, kernel := l.(learners.PairKernel) // Gaussian by default
			learnertest.Pairs[learners.Pair]{
				New:          func(dim int) (learners.Pair, error) { return e.NewPair(dim, v) },
				Load:         e.LoadPair,
				MinThreshold: 1,
				Saturates:    kernel,
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
		if e.NewTriplet == nil && e.NewMap == nil {
			continue
		}
		n++
		t.Run(e.Name, func(t *testing.T) {
			v, err := e.Parse(nil)
			if err != nil {
				t.Fatal(err)
			}
			if e.NewTriplet != nil {
				s := learnertest.Suite[metric.Triplet, learners.TripletPrediction, learners.TripletLearner]{
					New:      maker(t, func() (learners.TripletLearner, error) { return e.NewTriplet(objects, v) }),
					Save:     learners.TripletLearner.Save,
					Load:     e.LoadTriplet,
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
				New:      maker(t, func() (learners.MapLearner, error) { return e.NewMap(objects, prototypes, v) }),
				Save:     learners.MapLearner.Save,
				Load:     e.LoadMap,
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

// maker makes learners, and ends the test if one cannot be made.
func maker[L any](t *testing.T, make func() (L, error)) func() L {
	return func() L {
		l, err := make()
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
