package sample

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"metriclab/pkg/metric"
)

// SplitTriplets divides triplets at random into disjoint parts of the given sizes and a
// last part, perhaps empty, of all that is left: len(sizes)+1 parts, each in random
// order. Parts are disjoint as positions of ts: of two equal or contradictory triplets
// in ts one may stand in one part and one in another. It returns an error unless all
// sizes are ≥ 0 and their sum at most len(ts).
func SplitTriplets(rng *rand.Rand, ts []metric.Triplet, sizes ...int) ([][]metric.Triplet, error) {
	if err := CheckSizes(len(ts), sizes...); err != nil {
		return nil, err
	}
	shuffled := make([]metric.Triplet, len(ts))
	for k, i := range Choose(rng, len(ts), len(ts)) {
		shuffled[k] = ts[i]
	}
	return Cut(shuffled, sizes...), nil
}

// CheckSizes returns an error unless n triplets can be divided into parts of these sizes.
func CheckSizes(n int, sizes ...int) error {
	left := n
	for k, size := range sizes {
		if size < 0 || size > left {
			return fmt.Errorf("sample: sizes[%d]: %d is not allowed, want 0 to %d, the triplets that are left of %d", k, size, left, n)
		}
		left -= size
	}
	return nil
}

// Cut divides ts into parts of these sizes and what is left. It panics unless CheckSizes
// allows them.
func Cut(ts []metric.Triplet, sizes ...int) [][]metric.Triplet {
	var parts [][]metric.Triplet
	for _, size := range sizes {
		parts = append(parts, slices.Clip(ts[:size]))
		ts = ts[size:]
	}
	return append(parts, ts)
}

// TripletFolds divides triplets at random into folds whose numbers of questions differ by at most 1, and returns the fold of each triplet.
// A question is an object A and two objects to compare with it: all answers to one, contradictory ones too, are in one fold, so that none
// tells of another in a cross-validation. With threes all triplets of the same three objects are one question: somebody named the odd one out, or the most
// central, and each answer is two of them. It returns an error if there are fewer than 2 folds, or fewer questions than folds.
func TripletFolds(rng *rand.Rand, ts []metric.Triplet, folds int, threes bool) ([]int, error) {
	of := map[metric.Triplet]int{}
	out := make([]int, len(ts))
	for i, t := range ts {
		q := metric.Triplet{A: t.A, Near: min(t.Near, t.Far), Far: max(t.Near, t.Far)}
		if threes {
			o := []int{t.A, t.Near, t.Far}
			slices.Sort(o)
			q = metric.Triplet{A: o[0], Near: o[1], Far: o[2]}
		}
		if _, ok := of[q]; !ok {
			of[q] = len(of)
		}
		out[i] = of[q]
	}
	if folds < 2 || folds > len(of) {
		return nil, fmt.Errorf("sample: folds: %d is not allowed, want 2 to the number of questions, %d", folds, len(of))
	}
	fold := make([]int, len(of))
	for k, q := range Choose(rng, len(of), len(of)) {
		fold[q] = k % folds
	}
	for i, q := range out {
		out[i] = fold[q]
	}
	return out, nil
}

// PartTriplets returns the triplets outside of fold k, and those in it; folds holds the fold of each.
func PartTriplets(ts []metric.Triplet, folds []int, k int) (learned, tested []metric.Triplet) {
	for i, t := range ts {
		if folds[i] == k {
			tested = append(tested, t)
		} else {
			learned = append(learned, t)
		}
	}
	return learned, tested
}
