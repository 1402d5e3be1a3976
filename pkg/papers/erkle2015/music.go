package erkle2015

import "metriclab/pkg/metric"

// relation says how a triplet stands to those seen before it.
type relation int

// The relations. A triplet orders two pairs of objects: {A, Near} is closer than {A, Far}.
const (
	// newTriplet: the triplets before it order neither pair below the other.
	newTriplet relation = iota
	// agreeing: a chain of triplets before it has {A, Near} below {A, Far}.
	agreeing
	// conflicting: a chain of triplets before it has {A, Far} below {A, Near}. No
	// kernel satisfies that chain and the triplet.
	conflicting
)

// pairOrder collects triplets as a directed graph of pairs of objects: an edge from
// {A, Near} to {A, Far} says that the first is closer. A cycle of it is a set of triplets
// that no kernel satisfies. Without cycles there is a kernel that satisfies all: any small change
// of the squared distances of K = I, all 2, is that of a kernel.
type pairOrder struct {
	farther map[pair][]pair
	seen    map[pair]int // the search that has last seen a pair
	search  int
	stack   []pair
}

// relationNames are those of tables.
var relationNames = [...]string{newTriplet: "new", agreeing: "agreeing", conflicting: "conflicting"}

// pair is two objects, the smaller first.
type pair [2]int

func pairOf(i, j int) pair { return pair{min(i, j), max(i, j)} }

func newPairOrder() *pairOrder {
	return &pairOrder{farther: map[pair][]pair{}, seen: map[pair]int{}}
}

// reaches reports whether a path leads from p to q.
func (o *pairOrder) reaches(p, q pair) bool {
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

// relation returns how t stands to the triplets that were added. A triplet of which
// they imply both orders, since they conflict among themselves, is conflicting.
func (o *pairOrder) relation(t metric.Triplet) relation {
	near, far := pairOf(t.A, t.Near), pairOf(t.A, t.Far)
	switch {
	case o.reaches(far, near):
		return conflicting
	case o.reaches(near, far):
		return agreeing
	}
	return newTriplet
}

func (o *pairOrder) add(t metric.Triplet) {
	near := pairOf(t.A, t.Near)
	o.farther[near] = append(o.farther[near], pairOf(t.A, t.Far))
}

// relations returns how each triplet stands to those before it.
func relations(ts []metric.Triplet) []relation {
	o := newPairOrder()
	out := make([]relation, len(ts))
	for i, t := range ts {
		out[i] = o.relation(t)
		o.add(t)
	}
	return out
}

// unsatisfiable returns an upper bound on the number of triplets that the best
// kernel violates: as many are left out if each that conflicts with those kept before it is. It
// is 0 if and only if a kernel satisfies all.
func unsatisfiable(ts []metric.Triplet) int {
	o := newPairOrder()
	n := 0
	for _, t := range ts {
		if o.relation(t) == conflicting {
			n++
			continue
		}
		o.add(t)
	}
	return n
}

// contradicted counts the triplets of ts whose opposite the known ones imply: a kernel that satisfies all of
// known violates them.
func contradicted(known, ts []metric.Triplet) int {
	o := newPairOrder()
	for _, t := range known {
		o.add(t)
	}
	n := 0
	for _, t := range ts {
		if o.relation(t) == conflicting {
			n++
		}
	}
	return n
}
