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
