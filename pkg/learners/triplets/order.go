package triplets

import (
	"slices"

	"metriclab/pkg/metric"
)

// DenoiseVersion counts the changes of what Denoise keeps.
const DenoiseVersion = 1

// Relation says how a triplet stands to others. A triplet orders two pairs of objects: {A, Near} is closer than
// {A, Far}, and chains of triplets imply more such orders.
type Relation int

// The relations.
const (
	// RelationUnordered: the others imply no order of the two pairs.
	RelationUnordered Relation = iota
	// RelationImplied: a chain of the others has {A, Near} below {A, Far}.
	RelationImplied
	// RelationConflicting: a chain of the others has {A, Far} below {A, Near}. No kernel satisfies that chain and the
	// triplet.
	RelationConflicting
)

// Order collects triplets as a directed graph of pairs of objects: an edge from {A, Near} to {A, Far} says that the first
// is closer. A cycle of it is a set of triplets that no kernel satisfies. Without cycles there is a kernel that
// satisfies all: any small change of the squared distances of K = I, all 2, is that of a kernel.
//
// The zero value has no triplets. Relation and Add may not be called concurrently.
type Order struct {
	farther map[objectPair][]objectPair
	seen    map[objectPair]int // the search that has last seen a pair
	search  int
	stack   []objectPair
}

// objectPair is two objects, the smaller first.
type objectPair [2]int

func pairOf(i, j int) objectPair { return objectPair{min(i, j), max(i, j)} }

// reaches reports whether a path leads from p to q.
func (o *Order) reaches(p, q objectPair) bool {
	if o.seen == nil {
		o.seen = map[objectPair]int{}
	}
	o.search++
	o.stack = append(o.stack[:0], p)
	o.seen[p] = o.search
	for len(o.stack) > 0 {
		last := len(o.stack) - 1
		x := o.stack[last]
		o.stack = o.stack[:last]
		if x == q {
			return true
		}
		for _, y := range o.farther[x] {
			if o.seen[y] != o.search {
				o.seen[y] = o.search
				o.stack = append(o.stack, y)
			}
		}
	}
	return false
}

// Relation returns how t stands to the triplets that were added. A triplet of which they imply both orders, since
// they conflict among themselves, is RelationConflicting. The search takes time proportional to the triplets added.
func (o *Order) Relation(t metric.Triplet) Relation {
	near, far := pairOf(t.A, t.Near), pairOf(t.A, t.Far)
	switch {
	case o.reaches(far, near):
		return RelationConflicting
	case o.reaches(near, far):
		return RelationImplied
	}
	return RelationUnordered
}

// Add adds t, whatever its relation is.
func (o *Order) Add(t metric.Triplet) {
	if o.farther == nil {
		o.farther = map[objectPair][]objectPair{}
	}
	near, far := pairOf(t.A, t.Near), pairOf(t.A, t.Far)
	if !slices.Contains(o.farther[near], far) {
		o.farther[near] = append(o.farther[near], far)
	}
}

// Denoise returns the triplets that conflict with none kept before them, and the number of those left out, in time
// proportional to the square of their number at worst. A kernel satisfies all that are kept, and no triplet left out
// can be kept with them. It is the denoising out of the model that Heim et al. (2015,
// Section 6) suggest, as a maximal acyclic subgraph in the order given: McFee, Lanckriet, Learning Multi-modal Similarity, JMLR
// 2011. It returns an error for the first triplet that does not compare three of n objects.
func Denoise(n int, ts []metric.Triplet) (kept []metric.Triplet, left int, err error) {
	var o Order
	for _, t := range ts {
		if err := Check(n, t); err != nil {
			return nil, 0, err
		}
		if o.reaches(pairOf(t.A, t.Far), pairOf(t.A, t.Near)) {
			left++
			continue
		}
		o.Add(t)
		kept = append(kept, t)
	}
	return kept, left, nil
}
