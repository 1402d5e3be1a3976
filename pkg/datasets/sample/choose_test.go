package sample

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Few of many are those that a shuffle of all of them begins with, bit for bit.
func TestChooseFew(t *testing.T) {
	for _, size := range [][2]int{{1000, 62}, {1000, 63}, {17, 1}, {16, 1}, {40, 0}} {
		n, k := size[0], size[1]
		got := Choose(rand.New(rand.NewPCG(1, 2)), n, k)
		rng := rand.New(rand.NewPCG(1, 2))
		all := make([]int, n)
		for i := range all {
			all[i] = i
		}
		for i := range k {
			j := i + rng.IntN(n-i)
			all[i], all[j] = all[j], all[i]
		}
		if !slices.Equal(got, all[:k]) {
			t.Errorf("Choose(%d of %d) = %v, want %v", k, n, got, all[:k])
		}
	}
}

// The pairs of 60,000 rows would not fit into memory.
func TestDistinctLinksOfMany(t *testing.T) {
	links, err := DistinctLinks(rand.New(rand.NewPCG(1, 2)), make([]int, 60_000), 400)
	if err != nil || len(links) != 400 {
		t.Fatalf("%d links, %v", len(links), err)
	}
}
