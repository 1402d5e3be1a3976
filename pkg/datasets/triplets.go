package datasets

import (
	"fmt"

	"gonum.org/v1/gonum/graph/simple"
	"gonum.org/v1/gonum/graph/topo"
	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
)

// TripletSet is a set of relative comparisons between objects: "A is more like Near
// than like Far".
type TripletSet struct {
	Name    string
	Objects int // objects are numbered 0..Objects−1; not all need occur
	// Triplets are the answers, in the order of their source. The three objects of
	// each are distinct; the same answer, or its contradiction, may stand more than once.
	Triplets []metric.Triplet
	// Votes are, for each triplet, those for it and those against it, For > Against.
	// nil if each triplet is one answer.
	Votes []Votes
	// Features are Objects×d numbers that describe the objects; nil if there are none.
	Features *mat.Dense
	// Names are those of the objects; nil if the source has none.
	Names  []string
	Report TripletReport
}

// Votes counts the answers to one question.
type Votes struct{ For, Against int }

// TripletReport says what a source of comparisons held and how far its answers agree.
type TripletReport struct {
	Read       int // answers of the source, or questions where answers come as votes
	Degenerate int // of them dropped, since objects are not distinct
	Ties       int // of them dropped, since as many votes are for as against
	TripletCounts
}

// TripletCounts says how far comparisons agree with one another. Relative to the
// distances d, a triplet says d(A, Near) < d(A, Far): an edge from the pair
// {A, Near} to the pair {A, Far}. Distances that satisfy all triplets exist if and
// only if no edge lies on a cycle; whether they can be Euclidean is another question.
type TripletCounts struct {
	Triplets   int
	Distinct   int // different triplets
	Occurring  int // objects that occur
	Conflicts  int // questions answered both ways: (a, b, c) and (a, c, b) both stand
	Cyclic     int // different triplets on a cycle of pairs, those of conflicts included
	CyclicHead int // different triplets on a cycle of pairs that share A, those of conflicts included
}

// CountTriplets counts over objects 0..n−1. It returns an error that names the triplet
// unless all objects are in that range and those of a triplet distinct.
func CountTriplets(n int, ts []metric.Triplet) (TripletCounts, error) {
	c := TripletCounts{Triplets: len(ts)}
	if err := limits.Check(fmt.Sprintf("marks of %d objects", n), int64(max(n, 0))); err != nil {
		return c, fmt.Errorf("datasets: n: %w", err)
	}
	occurs := make([]bool, max(n, 0))
	set := make(map[metric.Triplet]bool, len(ts))
	for i, t := range ts {
		for _, o := range []int{t.A, t.Near, t.Far} {
			if o < 0 || o >= n {
				return c, fmt.Errorf("datasets: triplets[%d]: object %d is not allowed, want 0 to %d", i, o, n-1)
			}
			occurs[o] = true
		}
		if t.Degenerate() {
			return c, fmt.Errorf("datasets: triplets[%d]: (%d, %d, %d) is not allowed, want three distinct objects", i, t.A, t.Near, t.Far)
		}
		set[t] = true
	}
	for _, ok := range occurs {
		if ok {
			c.Occurring++
		}
	}
	c.Distinct = len(set)
	for t := range set {
		if t.Near < t.Far && set[metric.Triplet{A: t.A, Near: t.Far, Far: t.Near}] {
			c.Conflicts++
		}
	}
	pair := func(a, b int) int64 { return int64(max(a, b))*int64(n) + int64(min(a, b)) }
	c.Cyclic = onCycles(set, pair)
	// Edges of different heads meet in no node if a pair is told apart by its head.
	c.CyclicHead = onCycles(set, func(a, b int) int64 { return int64(a)*int64(n) + int64(b) })
	return c, nil
}

// onCycles counts the triplets whose edge from node(A, Near) to node(A, Far) lies on
// a cycle: both ends are in one strongly connected component.
func onCycles(set map[metric.Triplet]bool, node func(a, b int) int64) int {
	g := simple.NewDirectedGraph()
	for t := range set {
		g.SetEdge(simple.Edge{F: simple.Node(node(t.A, t.Near)), T: simple.Node(node(t.A, t.Far))})
	}
	component := map[int64]int{}
	for k, nodes := range topo.TarjanSCC(g) {
		for _, v := range nodes {
			component[v.ID()] = k
		}
	}
	n := 0
	for t := range set {
		if component[node(t.A, t.Near)] == component[node(t.A, t.Far)] {
			n++
		}
	}
	return n
}
