package rmp2007

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners/cluster"
)

// The optimum is the best of all sets, the bounds enclose it, and the lower bound alone is one.
func TestOptimumAgainstAllSets(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(71, seed))
		a, b, m := 3+rng.IntN(12), 4+rng.IntN(8), 1+rng.IntN(4)
		c := mat.NewDense(a, b, nil)
		c.Apply(func(_, _ int, _ float64) float64 { return float64(rng.IntN(20)) / 4 }, c) // ties are likely
		all := make([]int, b)
		for j := range all {
			all[j] = j
		}
		least := math.Inf(1)
		for choice := range 1 << b {
			var set []int
			for j := range b {
				if choice>>j&1 == 1 {
					set = append(set, j)
				}
			}
			if len(set) != m {
				continue
			}
			_, cost, err := cluster.Assign(c, set)
			if err != nil {
				t.Fatal(err)
			}
			least = min(least, cost)
		}
		if _, got := tryAll(mat.DenseCopyOf(c.T()), all, m); math.Abs(got-least) > 1e-12 { // sums of at most 14 quarters are exact
			t.Errorf("seed %d: tryAll found %v, the best is %v", seed, got, least)
		}
		o, err := certify(c, rng.Perm(b)[:m]) // seldom the best set
		if err != nil {
			t.Fatal(err)
		}
		const tol = 1e-9 // the dual's sums of up to 4,000 steps
		if o.dual > least+tol {
			t.Errorf("seed %d: the dual bound %v is above the optimum %v", seed, o.dual, least)
		}
		if math.Abs(o.upper-least) > tol || math.Abs(o.lower-least) > tol {
			t.Errorf("seed %d: optimum in [%v, %v], want %v: so few sets are all tried", seed, o.lower, o.upper, least)
		}
		sum := 0.0
		used := map[int]bool{}
		for i, j := range o.pi {
			sum += c.At(i, j)
			used[j] = true
		}
		if math.Abs(sum-o.upper) > tol || len(used) > m {
			t.Errorf("seed %d: the map costs %v with %d prototypes, want %v with at most %d", seed, sum, len(used), o.upper, m)
		}
	}
}

// On data like those of Fig. 1 the dual bound alone is close.
func TestDualBoundIsClose(t *testing.T) {
	p := gaussiansOf(gaussianWidth)(rand.New(rand.NewPCG(72, 1)), 100, 50)
	g, err := newGame(p.x, distortions[0])
	if err != nil {
		t.Fatal(err)
	}
	o, err := findOptimum(context.Background(), g.total(), fig1Groups, searchStarts, rand.New(rand.NewPCG(72, 2)))
	if err != nil {
		t.Fatal(err)
	}
	if gap := 1 - o.dual/o.upper; gap > 1e-3 {
		t.Errorf("the dual bound is %.2g below the best map, %d prototypes are left, want 0.001", gap, o.left)
	}
}
