package datasets

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"metriclab/pkg/metric"
)

// consistent reports whether some order of all pairs of objects satisfies the
// triplets: it takes away, again and again, pairs that no other must precede.
func consistent(ts []metric.Triplet) bool {
	pair := func(a, b int) [2]int { return [2]int{min(a, b), max(a, b)} }
	for len(ts) > 0 {
		far := map[[2]int]bool{}
		for _, t := range ts {
			far[pair(t.A, t.Far)] = true
		}
		var rest []metric.Triplet
		for _, t := range ts {
			if far[pair(t.A, t.Near)] {
				rest = append(rest, t)
			}
		}
		if len(rest) == len(ts) {
			return false
		}
		ts = rest
	}
	return true
}

// TestCountTriplets compares the counts with small cases, and Cyclic with whether random
// triplets can all be satisfied.
func TestCountTriplets(t *testing.T) {
	for name, tc := range map[string]struct {
		ts   []metric.Triplet
		want TripletCounts
	}{
		"none":     {nil, TripletCounts{}},
		"one":      {[]metric.Triplet{{A: 0, Near: 1, Far: 2}}, TripletCounts{Triplets: 1, Distinct: 1, Occurring: 3}},
		"twice":    {[]metric.Triplet{{A: 0, Near: 1, Far: 2}, {A: 0, Near: 1, Far: 2}}, TripletCounts{Triplets: 2, Distinct: 1, Occurring: 3}},
		"conflict": {[]metric.Triplet{{A: 0, Near: 1, Far: 2}, {A: 0, Near: 2, Far: 1}, {A: 0, Near: 1, Far: 2}}, TripletCounts{3, 2, 3, 1, 2, 2}},
		"cycle of a head": {[]metric.Triplet{{A: 0, Near: 1, Far: 2}, {A: 0, Near: 2, Far: 3}, {A: 0, Near: 3, Far: 1}, {A: 0, Near: 1, Far: 4}},
			TripletCounts{4, 4, 5, 0, 3, 3}},
		// d01 < d02, d02 < d12 (head 2), d12 < d01 (head 1): each head alone agrees.
		"cycle of heads": {[]metric.Triplet{{A: 0, Near: 1, Far: 2}, {A: 2, Near: 0, Far: 1}, {A: 1, Near: 2, Far: 0}}, TripletCounts{3, 3, 3, 0, 3, 0}},
		"no cycle":       {[]metric.Triplet{{A: 0, Near: 1, Far: 2}, {A: 2, Near: 0, Far: 1}, {A: 1, Near: 0, Far: 2}}, TripletCounts{3, 3, 3, 0, 0, 0}},
	} {
		if got, err := CountTriplets(5, tc.ts); err != nil || got != tc.want {
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, tc.want)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	agree := 0
	for range 300 {
		ts := make([]metric.Triplet, 1+rng.IntN(12))
		for i := range ts {
			o := rng.Perm(5)[:3]
			ts[i] = metric.Triplet{A: o[0], Near: o[1], Far: o[2]}
		}
		got, err := CountTriplets(5, ts)
		if err != nil {
			t.Fatal(err)
		}
		if want := consistent(ts); (got.Cyclic == 0) != want {
			t.Errorf("%v: %+v, but consistent is %v", ts, got, want)
		} else if want {
			agree++
		}
		if got.CyclicHead > got.Cyclic || 2*got.Conflicts > got.CyclicHead {
			t.Errorf("%v: %+v", ts, got)
		}
	}
	if agree < 30 || agree > 270 {
		t.Errorf("%d of 300 sets agree: the test sees one case only", agree)
	}
	for name, tc := range map[string]struct {
		t    metric.Triplet
		want string
	}{
		"range":      {metric.Triplet{A: 0, Near: 1, Far: 5}, "triplets[1]: object 5"},
		"negative":   {metric.Triplet{A: -1, Near: 1, Far: 2}, "triplets[1]: object -1"},
		"degenerate": {metric.Triplet{A: 1, Near: 1, Far: 2}, "triplets[1]: (1, 1, 2)"},
	} {
		if _, err := CountTriplets(5, []metric.Triplet{{A: 0, Near: 1, Far: 2}, tc.t}); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v does not say %q", name, err, tc.want)
		}
	}
}

func ExampleCountTriplets() {
	// Anna is nearer to Ben than to Cleo, Cleo to Anna than to Ben, Ben to Cleo than to
	// Anna: no distances are like that.
	c, err := CountTriplets(3, []metric.Triplet{{A: 0, Near: 1, Far: 2}, {A: 2, Near: 0, Far: 1}, {A: 1, Near: 2, Far: 0}})
	fmt.Println(c.Conflicts, "conflicts,", c.Cyclic, "triplets on a cycle", err)
	// Output: 0 conflicts, 3 triplets on a cycle <nil>
}
