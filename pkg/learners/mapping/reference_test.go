package mapping

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners/plain"
	"metriclab/pkg/metric"
)

// plainOf is plain.RMP with the costs.
func plainOf(c costs, eta float64, m int) *plain.RMP {
	l := plain.NewRMP(c.a, c.b, m, eta)
	l.Step(mat.NewDense(c.b, c.a, slices.Clone(c.sum)).T())
	return l
}

// subsets returns all sets of m of b prototypes in lexicographic order.
func subsets(b, m int) [][]int {
	sets, _ := plain.NewRMP(1, b, m, 0).Law()
	return sets
}

// allMaps returns all maps of a objects to b prototypes.
func allMaps(a, b int) [][]int {
	out := [][]int{nil}
	for range a {
		var longer [][]int
		for _, pi := range out {
			for j := range b {
				longer = append(longer, append(slices.Clone(pi), j))
			}
		}
		out = longer
	}
	return out
}

// logSumExp returns ln Σ exp(x).
func logSumExp(x []float64) float64 {
	most := slices.Max(x)
	var sum float64
	for _, v := range x {
		sum += math.Exp(v - most)
	}
	return most + math.Log(sum)
}

// logOmega is ln ω(S).
func logOmega(c costs, eta float64, set []int) float64 {
	return plainOf(c, eta, len(set)).LogOmega(set)
}

// reference returns P(S) for all sets.
func reference(c costs, eta float64, m int) []float64 {
	_, p := plainOf(c, eta, m).Law()
	return p
}

// random returns costs from 0 to most.
func random(rng *rand.Rand, a, b int, most float64) costs {
	c := newCosts(a, b)
	for k := range c.sum {
		c.sum[k] = most * rng.Float64()
	}
	return c
}

// round returns a random round.
func round(rng *rand.Rand, a, b int) metric.CostRound {
	m := mat.NewDense(a, b, nil)
	m.Apply(func(_, _ int, _ float64) float64 { return rng.Float64() }, m)
	return metric.CostRound{Cost: m}
}

// regimes are weights at which the samplers are tested, by the spread of η·C: equal, of the
// same order, concentrated. By the last two some sums, or most, underflow around the least
// cost of their row, or overflow around that of a set.
var regimes = map[string]float64{"equal": 0, "flat": 3, "concentrated": 100, "underflow": 2000, "deep": 1e6}

func weightsOf(c costs, eta float64) *weights {
	w := newWeights(c)
	w.set(eta)
	return &w
}

// near fails the test unless got is want to within tol, absolute or relative.
func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*max(1, math.Abs(want))) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
