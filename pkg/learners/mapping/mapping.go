// Package mapping learns maps from A objects to B prototypes of which at most m
// are used, online, from rounds of assignment costs: Randomized Map Prediction
// (RMP) and follow-the-leader (FTL).
//
// A round is an A×B matrix of costs in [0, 1]. The learner predicts a map π before it
// sees the costs, and loses Σᵢ cost[i, π(i)], at most A. Its regret is what it lost
// beyond the best map with |image(π)| ≤ m in hindsight. That map is NP-hard to find
// (Rakhlin, Abernethy, Bartlett, Online Discovery of Similarity Mappings, ICML 2007,
// Theorem 4.1), and need not be found for the regret to be small.
//
// # Which learner
//
// RMP has a bound on its regret whatever the costs are, and draws its maps at random. FTL predicts the best map so far:
// better where costs come at random, and helpless against costs that are chosen to hurt. Both look at
// all sets of m prototypes if they are few. If not, RMP walks among them at random, and FTL improves one by swaps.
//
// # How it is built
//
// A sampler of sets keeps its weights as costs. The costs of a row are relative to its least one, and what
// underflows even so is summed in logarithms. The sum without the largest weight is kept apart, so that no price
// is a difference of nearly equal numbers.
//
// A random walk may use the law in what it proposes, if the proposal depends on the union of both sets alone
// (HeatBath).
//
// The default rate of RMP comes from data and not from a bound: it is the best of the view fig1-eta of
// rmp2007/fig1, to which a test compares it. The papers' experiments name their rates, and so do users who want a
// guarantee.
package mapping

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/internal/ranges"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
)

// MaxSets is the largest number of sets C(B, m) that is enumerated.
const MaxSets = 100_000

// sets returns C(b, m), or MaxSets+1 if it is larger than MaxSets.
func sets(b, m int) int {
	m = min(m, b-m)
	n := 1
	for k := 1; k <= m; k++ {
		// No overflow: n ≤ MaxSets, and b is a number of columns.
		if n = n * (b - m + k) / k; n > MaxSets {
			return MaxSets + 1
		}
	}
	return n
}

// checkShape returns an error unless maps of a objects to b prototypes exist, params, such as the
// FTLParams of their m, are in their ranges, and the costs fit limits.Memory.
func checkShape(name string, a, b int, params any) error {
	switch {
	case a < 1:
		return fmt.Errorf("%s: a: %d is not allowed, want at least 1 object", name, a)
	case b < 1:
		return fmt.Errorf("%s: b: %d is not allowed, want at least 1 prototype", name, b)
	case b > math.MaxInt32: // so that no product in sets overflows
		return fmt.Errorf("%s: b: %d is not allowed, want at most %d prototypes", name, b, math.MaxInt32)
	}
	if err := ranges.Check(name, params, ranges.Limit{Words: "the number of prototypes", Value: b}); err != nil {
		return err
	}
	// Costs, weights, and what sums over sets take.
	bytes := limits.Floats(a, 4*b+8)
	if err := limits.Check(fmt.Sprintf("%s with %d objects and %d prototypes", name, a, b), bytes); err != nil {
		return fmt.Errorf("%s: a, b: %w", name, err)
	}
	return nil
}

// costs is a sum of rounds: an A×B matrix kept by columns, one per prototype.
type costs struct {
	a, b int
	sum  []float64 // sum[j*a+i] is the cost of assigning object i to prototype j
}

func newCosts(a, b int) costs { return costs{a, b, make([]float64, a*b)} }

// column returns the costs of prototype j, not a copy.
func (c costs) column(j int) []float64 { return c.sum[j*c.a : (j+1)*c.a : (j+1)*c.a] }

// checkShape returns an error unless f has a matrix of the shape of c.
func (c costs) checkShape(f metric.CostRound) error {
	if matrix.IsNil(f.Cost) {
		return errors.New("cost: none given, want a matrix")
	}
	if a, b := f.Cost.Dims(); a != c.a || b != c.b {
		return fmt.Errorf("cost: is %d×%d, want %d×%d", a, b, c.a, c.b)
	}
	return nil
}

// check returns an error unless f is a valid round.
func (c costs) check(f metric.CostRound) error {
	if err := c.checkShape(f); err != nil {
		return err
	}
	at := entries(f.Cost)
	for i := range c.a {
		for j := range c.b {
			if v := at(i, j); !(v >= 0 && v <= 1) {
				return badCost(i, j, v)
			}
		}
	}
	return nil
}

// add adds a valid round.
func (c costs) add(f metric.CostRound) {
	at := entries(f.Cost)
	const tile = 16 // columns at a time, so that their ends stay in the cache
	for lo := 0; lo < c.b; lo += tile {
		for i := range c.a {
			for j := lo; j < min(lo+tile, c.b); j++ {
				c.sum[j*c.a+i] += at(i, j)
			}
		}
	}
}

// entries returns the entries of m as a function, quick for a *mat.Dense.
func entries(m mat.Matrix) func(i, j int) float64 {
	d, ok := m.(*mat.Dense)
	if !ok {
		return m.At
	}
	raw := d.RawMatrix()
	return func(i, j int) float64 { return raw.Data[i*raw.Stride+j] }
}

// loss returns what the map pi costs in round f. It panics unless f has the shape of c
// and the costs that it adds are numbers from 0 to 1.
func (c costs) loss(f metric.CostRound, pi []int) float64 {
	demand(c.checkShape(f))
	var sum float64
	for i, j := range pi {
		v := f.Cost.At(i, j)
		if !(v >= 0 && v <= 1) {
			demand(badCost(i, j, v))
		}
		sum += v
	}
	return sum
}

// demand panics if err is not nil.
func demand(err error) {
	if err != nil {
		panic("mapping: " + err.Error())
	}
}

func badCost(i, j int, v float64) error {
	return fmt.Errorf("cost: row %d, column %d: %v is not allowed, want a number from 0 to 1", i, j, v)
}

// scaled returns f·sum, A×B.
func (c costs) scaled(f float64) *mat.Dense {
	out := mat.NewDense(c.a, c.b, nil)
	for k, v := range c.sum {
		if v != 0 { // f·0 could be −0
			out.Set(k%c.a, k/c.a, f*v)
		}
	}
	return out
}

// checkState returns an error unless sum can be the costs of n rounds.
func (c costs) checkState(n int) error {
	for k, v := range c.sum {
		if !(v >= 0 && v <= float64(n)) {
			return fmt.Errorf("costs: row %d, column %d: %v is not allowed, want 0 to %d, the number of rounds", k%c.a, k/c.a, v, n)
		}
	}
	return nil
}

// shapeOf returns the number of columns of sum with a rows, or an error.
func shapeOf(a int, sum []float64) (costs, error) {
	if a < 1 || len(sum) == 0 || len(sum)%a != 0 {
		return costs{}, fmt.Errorf("costs: %d numbers in %d rows, want a whole number per row, at least one", len(sum), a)
	}
	return costs{a, len(sum) / a, sum}, nil
}

// checkSet returns an error unless set holds m of b prototypes in ascending order.
func checkSet(set []int, m, b int) error {
	if len(set) != m {
		return fmt.Errorf("set: %d prototypes, want %d", len(set), m)
	}
	for k, j := range set {
		if j < 0 || j >= b || k > 0 && j <= set[k-1] {
			return fmt.Errorf("set[%d]: %d is not allowed, want ascending numbers from 0 to %d", k, j, b-1)
		}
	}
	return nil
}

// checkMap returns an error unless pi assigns each of a objects to a member of set.
func checkMap(pi []int, a int, set []int) error {
	if len(pi) != a {
		return fmt.Errorf("map: %d prototypes, want one for each of %d objects", len(pi), a)
	}
	for i, j := range pi {
		if !slices.Contains(set, j) {
			return fmt.Errorf("map[%d]: %d is not allowed, want one of the set %v", i, j, set)
		}
	}
	return nil
}
