package model

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/metric"
	"metriclab/pkg/random"
	"metriclab/pkg/tables"
)

// No evaluation depends on the order of rows, or of lines of a file. So everything that is drawn, divided or summed up is so in an order that the contents give.

// relation is what an item has to do with others: a value, and up to two items.
type relation struct {
	value  float64
	others [2]int // −1 for none
}

// canonical returns an order of n items that does not depend on their numbers: by compare, and items that are equal by how they are related to the others.
// Items are alike in it only if that tells no two of them apart in as many rounds as there are items, as if they changed places. relations may be nil.
func canonical(n int, compare func(i, j int) int, relations func(i int) []relation) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	rank := make([]int, n)
	place := func(compare func(i, j int) int) (distinct int) {
		slices.SortStableFunc(order, compare)
		next := make([]int, n)
		for k, i := range order {
			if next[i] = k; k > 0 && compare(order[k-1], i) == 0 {
				next[i] = next[order[k-1]]
			} else {
				distinct++
			}
		}
		copy(rank, next)
		return distinct
	}
	distinct := place(compare)
	for distinct < n && relations != nil {
		signs := make([][sha256.Size]byte, n)
		for k, i := range order {
			if rank[i] == k && (k == n-1 || rank[order[k+1]] != k) {
				continue // no other has its rank
			}
			signs[i] = signOf(relations(i), rank)
		}
		more := place(func(i, j int) int {
			return cmp.Or(cmp.Compare(rank[i], rank[j]), slices.Compare(signs[i][:], signs[j][:]))
		})
		if more == distinct {
			break
		}
		distinct = more
	}
	return order
}

// signOf is a hash of the relations of an item, whose others are known by rank alone.
func signOf(of []relation, rank []int) [sha256.Size]byte {
	type known struct {
		value uint64
		ranks [2]int
	}
	all := make([]known, len(of))
	for k, r := range of {
		all[k] = known{math.Float64bits(r.value), [2]int{-1, -1}}
		for j, o := range r.others {
			if o >= 0 {
				all[k].ranks[j] = rank[o]
			}
		}
	}
	slices.SortFunc(all, func(a, b known) int {
		return cmp.Or(cmp.Compare(a.value, b.value), slices.Compare(a.ranks[:], b.ranks[:]))
	})
	b := make([]byte, 0, 24*len(all))
	for _, k := range all {
		b = binary.LittleEndian.AppendUint64(b, k.value)
		b = binary.LittleEndian.AppendUint64(b, uint64(k.ranks[0]))
		b = binary.LittleEndian.AppendUint64(b, uint64(k.ranks[1]))
	}
	return sha256.Sum256(b)
}

// placed returns the place of each item in an order.
func placed(order []int) []int {
	place := make([]int, len(order))
	for k, i := range order {
		place[i] = k
	}
	return place
}

// rowOrder returns the rows of d in an order that their numbers, classes, chunklets and links give.
func rowOrder(d *tables.Data) []int {
	n, _ := d.Dims()
	rows := nearest.RowOrder(d.Matrix())
	compare := func(i, j int) int {
		by := rows(i, j)
		for _, words := range [][]string{d.Labels, d.Chunklets} {
			if by == 0 && words != nil {
				by = cmp.Compare(words[i], words[j])
			}
		}
		return by
	}
	if d.Links == nil {
		return canonical(n, compare, nil)
	}
	return canonical(n, compare, linked(n, d.Links))
}

// linked returns the relations that links are.
func linked(n int, links []metric.Link) func(i int) []relation {
	of := make([][]relation, n)
	for _, l := range links {
		of[l.I] = append(of[l.I], relation{float64(l.Label), [2]int{l.J, -1}})
		of[l.J] = append(of[l.J], relation{float64(l.Label), [2]int{l.I, -1}})
	}
	return func(i int) []relation { return of[i] }
}

// compared returns the relations that comparisons are.
func compared(n int, ts []metric.Triplet) func(i int) []relation {
	of := make([][]relation, n)
	for _, t := range ts {
		of[t.A] = append(of[t.A], relation{0, [2]int{t.Near, t.Far}})
		of[t.Near] = append(of[t.Near], relation{1, [2]int{t.A, t.Far}})
		of[t.Far] = append(of[t.Far], relation{2, [2]int{t.A, t.Near}})
	}
	return func(i int) []relation { return of[i] }
}

// gramOrder returns objects in an order that their kernel values and classes give.
func gramOrder(k0 mat.Symmetric, labels []string) []int {
	n := k0.SymmetricDim()
	return canonical(n, func(i, j int) int {
		return cmp.Or(cmp.Compare(k0.At(i, i), k0.At(j, j)), cmp.Compare(labels[i], labels[j]))
	}, func(i int) []relation {
		of := make([]relation, 0, n-1)
		for j := range n {
			if j != i {
				of = append(of, relation{k0.At(i, j), [2]int{j, -1}})
			}
		}
		return of
	})
}

// relinked returns links between items at their places, in an order that these give.
func relinked(links []metric.Link, place []int) []metric.Link {
	out := make([]metric.Link, len(links))
	for k, l := range links {
		i, j := place[l.I], place[l.J]
		l.I, l.J = min(i, j), max(i, j)
		out[k] = l
	}
	slices.SortFunc(out, func(a, b metric.Link) int {
		return cmp.Or(cmp.Compare(a.I, b.I), cmp.Compare(a.J, b.J), cmp.Compare(a.Label, b.Label))
	})
	return out
}

// recompared is relinked for comparisons.
func recompared(ts []metric.Triplet, place []int) []metric.Triplet {
	out := make([]metric.Triplet, len(ts))
	for k, t := range ts {
		out[k] = metric.Triplet{A: place[t.A], Near: place[t.Near], Far: place[t.Far]}
	}
	sortTriplets(out)
	return out
}

func sortTriplets(ts []metric.Triplet) {
	slices.SortFunc(ts, func(a, b metric.Triplet) int {
		return cmp.Or(cmp.Compare(a.A, b.A), cmp.Compare(a.Near, b.Near), cmp.Compare(a.Far, b.Far))
	})
}

// shuffled puts what split s learns from in a random order: the order of the contents is no order to learn in.
func shuffled[T any](feedback []T, base uint64, s int) {
	rng := random.Seed{Base: base, Experiment: "model/evaluate", Trial: s}.Stream("order")
	rng.Shuffle(len(feedback), func(i, j int) { feedback[i], feedback[j] = feedback[j], feedback[i] })
}
