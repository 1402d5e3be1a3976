package mapping

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners"
	"metriclab/pkg/learners/cluster"
	"metriclab/pkg/metric"
	"metriclab/pkg/persist"
)

// FTLVersion counts the changes of the values that FTL computes.
const FTLVersion = 1

// FTLKind is the kind under which package persist stores an FTL.
const FTLKind = "mapping/ftl"

// FTLParams are the parameters of FTL.
type FTLParams struct {
	// M is the largest number of prototypes that a map uses, 1 to B; 0 means 2, or 1 if B is 1.
	M int `json:"m" range:">= 1 and <= the number of prototypes" default:"0" doc:"largest number of prototypes that a map uses; 0 means 2, or 1 if there is only one"`
}

// FTL is follow-the-leader: it predicts the map that would have cost least in all rounds so far,
//
//	π(i) = argmin_{j in S} C[i, j],  S = argmin_{|S| = m} Σᵢ min_{j in S} C[i, j],
//
// where C is the sum of the costs. Its regret can grow linearly with the rounds (Rakhlin, Abernethy, Bartlett,
// Online Discovery of Similarity Mappings, ICML 2007, Section 5.1). The search is NP-hard (Theorem 4.1). It is
// exact, by branch and bound, if there are at most MaxSets sets, and Exact says so. Else S is a local optimum, which no
// swap of one prototype improves, found from the set of the round before (cluster.FitFasterPAM).
//
// It draws nothing. Of equally good sets the lexicographically first is taken, where the search is exact; of
// equally good prototypes the lowest; before the first round all are equally good. StepSize of an outcome is
// 1 if the map has changed, else 0; Mistake is always false.
//
// Memory is O(AB). All methods but Step may be called concurrently.
type FTL struct {
	p     FTLParams
	c     costs
	round int
	set   []int
	pi    []int
	// Where the search is exact, the sets of least cost, cheapest first, and what all others cost at least.
	leaders []ftlSet
	floor   float64
}

var _ learners.Online[metric.CostRound, []int] = (*FTL)(nil)

// NewFTL returns an FTL for costs of a objects and b prototypes. It returns an error unless a ≥
// 1, 1 ≤ b < 2³¹, a·b costs fit limits.Memory, and M is 0 to b.
func NewFTL(a, b int, p FTLParams) (*FTL, error) {
	if p.M == 0 {
		p.M = min(2, b)
	}
	if err := checkShape("ftl", a, b, p); err != nil {
		return nil, err
	}
	l := &FTL{p: p, c: newCosts(a, b), set: make([]int, p.M)}
	for k := range l.set {
		l.set[k] = k
	}
	l.lead()
	return l, nil
}

// lead finds the map of least cost.
func (l *FTL) lead() {
	if l.Exact() {
		l.enumerate()
		l.set = l.leaders[0].set
	} else {
		cost := mat.NewDense(l.c.b, l.c.a, l.c.sum).T()
		r, err := cluster.FitFasterPAM(context.Background(), nil, cost, cluster.MedoidsParams{M: l.p.M, Start: l.set})
		if err != nil {
			panic("mapping: " + err.Error()) // the costs are sums of numbers from 0 to 1
		}
		l.set = r.Set
	}
	l.assign()
}

// assign sends each object to the cheapest member of the set.
func (l *FTL) assign() {
	cost := mat.NewDense(l.c.b, l.c.a, l.c.sum).T()
	pi, _, err := cluster.Assign(cost, l.set)
	if err != nil {
		panic("mapping: " + err.Error())
	}
	l.pi = pi
}

// ftlLeaders is how many sets of least cost FTL knows.
const ftlLeaders = 16

// ftlSet is a set of prototypes and what it has cost.
type ftlSet struct {
	cost float64
	set  []int
}

// cheaper orders sets by their costs, and equal ones lexicographically.
func (x ftlSet) cheaper(y ftlSet) int {
	return cmp.Or(cmp.Compare(x.cost, y.cost), slices.Compare(x.set, y.set))
}

// enumerate makes leaders the sets of least cost and floor what all others cost at least. No set gets cheaper, so that while
// one of the leaders costs less than floor, the best of them is the best of all. That holds for rounded sums, too: a sum of smaller
// numbers in the same order is not larger.
func (l *FTL) enumerate() {
	for k, x := range l.leaders {
		l.leaders[k].cost = l.cost(x.set)
	}
	slices.SortFunc(l.leaders, ftlSet.cheaper)
	if len(l.leaders) == 0 || l.leaders[0].cost >= l.floor {
		l.search()
	}
}

// cost returns Σᵢ min_{j in set} C[i, j].
func (l *FTL) cost(set []int) float64 {
	least := slices.Clone(l.c.column(set[0]))
	for _, j := range set[1:] {
		for i, c := range l.c.column(j) {
			least[i] = min(least[i], c)
		}
	}
	return leastCost(least, least, math.Inf(1))
}

// search does so by branch and bound, from the sets that were leaders. Sets that begin alike cost at least what the
// objects pay if each has the best of these members and of all prototypes that may follow.
func (l *FTL) search() {
	m, a, b := l.p.M, l.c.a, l.c.b
	rest := costs{a: a, b: b, sum: slices.Clone(l.c.sum)} // column j: the least cost of each object with prototypes from j on
	for k := (b-1)*a - 1; k >= 0; k-- {
		rest.sum[k] = min(rest.sum[k], rest.sum[k+a])
	}
	least := make([][]float64, m) // least[d]: with the first d members
	for d := range least {
		least[d] = slices.Repeat([]float64{math.Inf(1)}, a)
	}
	limit := math.Inf(1) // what the last of the leaders will cost at most
	if n := len(l.leaders); n > 0 {
		limit = l.leaders[n-1].cost
	}
	found, set := l.leaders[:0], make([]int, m)
	hopeless := func(sum float64) bool { return sum > limit || len(found) == ftlLeaders && sum == limit }
	var descend func(d, from int)
	descend = func(d, from int) {
		last := d == m-1
		for j := from; j <= b-m+d; j++ {
			if (j == from || !last) && hopeless(leastCost(least[d], rest.column(j), limit)) {
				return
			}
			set[d] = j
			col := l.c.column(j)
			if last {
				if sum := leastCost(least[d], col, limit); !hopeless(sum) {
					x := ftlSet{sum, slices.Clone(set)}
					at, _ := slices.BinarySearchFunc(found, x, ftlSet.cheaper)
					found = slices.Insert(found[:min(len(found), ftlLeaders-1)], at, x)
					if len(found) == ftlLeaders {
						limit = found[ftlLeaders-1].cost
					}
				}
				continue
			}
			for i, c := range col {
				least[d+1][i] = min(c, least[d][i])
			}
			descend(d+1, j+1)
		}
	}
	descend(0, 0)
	l.leaders, l.floor = found, math.Inf(1)
	if len(found) == ftlLeaders {
		l.floor = limit
	}
}

// leastCost returns the sum of the smaller costs, or of the first of them if that is above the limit.
func leastCost(x, y []float64, limit float64) (sum float64) {
	y = y[:len(x)]
	for i, c := range x {
		if sum += min(c, y[i]); sum > limit {
			break
		}
	}
	return sum
}

// made returns l, and panics unless a constructor made it.
func (l *FTL) made() *FTL {
	if l == nil || l.c.sum == nil {
		panic("mapping: FTL: zero value, use NewFTL")
	}
	return l
}

// Dims returns A and B.
func (l *FTL) Dims() (a, b int) { return l.made().c.a, l.c.b }

// Params returns the parameters with the default filled in.
func (l *FTL) Params() FTLParams { return l.made().p }

// Exact reports whether the map is the best one of all sets, and not a local
// optimum.
func (l *FTL) Exact() bool { return sets(l.made().c.b, l.p.M) <= MaxSets }

// Set returns the m prototypes among which the current map chooses, in ascending order.
func (l *FTL) Set() []int { return slices.Clone(l.made().set) }

// Predict returns the current map, the prototype of each object. It takes no account of f.
func (l *FTL) Predict(metric.CostRound) []int { return slices.Clone(l.made().pi) }

// Loss returns the sum of the costs that the current map assigns. It panics unless the
// costs are A×B and those it adds are numbers from 0 to 1.
func (l *FTL) Loss(f metric.CostRound) float64 { return l.made().c.loss(f, l.pi) }

// LogWeights returns a snapshot of −C, A×B: exponential weights tend to follow the leader as
// their learning rate grows.
func (l *FTL) LogWeights() mat.Matrix { return l.made().c.scaled(-1) }

// Step predicts, suffers the loss, adds the costs and finds the new leader. It returns an
// error, and changes nothing, unless f is A×B with entries from 0 to 1.
func (l *FTL) Step(f metric.CostRound) (learners.MapOutcome, error) {
	l.made()
	if err := l.c.check(f); err != nil {
		return learners.MapOutcome{}, fmt.Errorf("ftl: %w", err)
	}
	o := learners.MapOutcome{Prediction: l.Predict(f), Loss: l.Loss(f)}
	l.c.add(f)
	l.round++
	l.lead()
	if !slices.Equal(l.pi, o.Prediction) {
		o.StepSize, o.Updated = 1, true
	}
	return o, nil
}

// ftlState is what Save writes beside the parameters.
type ftlState struct {
	Objects int            `json:"objects"`
	Round   int            `json:"round"`
	Costs   persist.Floats `json:"costs"` // by prototypes
	Set     []int          `json:"set"`
}

// Save writes the learner in the format of package persist, kind "mapping/ftl". A learner loaded
// from it continues bit for bit.
func (l *FTL) Save(w io.Writer) error {
	l.made()
	return persist.Write(w, FTLKind, l.p, ftlState{l.c.a, l.round, l.c.sum, l.set})
}

// LoadFTL reads a learner that Save wrote. Its errors wrap those of package
// persist if the file is foreign, newer, damaged or of another kind.
func LoadFTL(r io.Reader) (*FTL, error) {
	var p FTLParams
	var s ftlState
	if err := persist.Load(r, FTLKind, &p, &s); err != nil {
		return nil, err
	}
	l, err := s.learner(p)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", persist.ErrDamaged, FTLKind, err)
	}
	return l, nil
}

func (s ftlState) learner(p FTLParams) (*FTL, error) {
	c, err := shapeOf(s.Objects, s.Costs)
	if err != nil {
		return nil, err
	}
	if s.Round < 0 || s.Round >= MaxRounds {
		return nil, fmt.Errorf("round: %d is not allowed, want 0 to %d", s.Round, int64(MaxRounds-1))
	}
	if err := errors.Join(checkShape("ftl", c.a, c.b, p), c.checkState(s.Round), checkSet(s.Set, p.M, c.b)); err != nil {
		return nil, err
	}
	l := &FTL{p: p, c: c, round: s.Round, set: s.Set}
	if l.Exact() {
		if l.enumerate(); !slices.Equal(l.leaders[0].set, s.Set) {
			return nil, fmt.Errorf("set: %v is not the leader, %v is", s.Set, l.leaders[0].set)
		}
	}
	l.assign()
	return l, nil
}
