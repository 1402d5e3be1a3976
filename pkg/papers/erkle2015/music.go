package erkle2015

import (
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/metric"
)

// relation says how a triplet stands to those seen before it.
type relation = triplets.Relation

// The relations as tables name them.
const (
	newTriplet  = triplets.RelationUnordered
	agreeing    = triplets.RelationImplied
	conflicting = triplets.RelationConflicting
)

// relationNames are those of tables.
var relationNames = [...]string{newTriplet: "new", agreeing: "agreeing", conflicting: "conflicting"}

// relations returns how each triplet stands to those before it.
func relations(ts []metric.Triplet) []relation {
	var o triplets.Order
	out := make([]relation, len(ts))
	for i, t := range ts {
		out[i] = o.Relation(t)
		o.Add(t)
	}
	return out
}

// unsatisfiable returns an upper bound on the number of triplets that the best
// kernel violates: as many are left out if each that conflicts with those kept before it is. It
// is 0 if and only if a kernel satisfies all.
func unsatisfiable(ts []metric.Triplet) int {
	var o triplets.Order
	n := 0
	for _, t := range ts {
		if o.Relation(t) == conflicting {
			n++
			continue
		}
		o.Add(t)
	}
	return n
}

// contradicted counts the triplets of ts whose opposite the known ones imply: a kernel that satisfies all of
// known violates them.
func contradicted(known, ts []metric.Triplet) int {
	var o triplets.Order
	for _, t := range known {
		o.Add(t)
	}
	n := 0
	for _, t := range ts {
		if o.Relation(t) == conflicting {
			n++
		}
	}
	return n
}
