package protocol

import (
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/metric"
)

// pair is two objects, the smaller first.
type pair [2]int

func pairOf(i, j int) pair { return pair{min(i, j), max(i, j)} }

// randomTriplets are over few objects, so that many conflict.
func randomTriplets(rng *rand.Rand, objects, n int) []metric.Triplet {
	ts := make([]metric.Triplet, n)
	for i := range ts {
		p := rng.Perm(objects)
		ts[i] = metric.Triplet{A: p[0], Near: p[1], Far: p[2]}
	}
	return ts
}

// closure returns all ordered pairs of pairs that the triplets imply, by repeating
// the rule of transitivity until nothing is new.
func closure(ts []metric.Triplet) map[[2]pair]bool {
	all := map[[2]pair]bool{}
	for _, t := range ts {
		all[[2]pair{pairOf(t.A, t.Near), pairOf(t.A, t.Far)}] = true
	}
	for {
		before := len(all)
		for x := range all {
			for y := range all {
				if x[1] == y[0] {
					all[[2]pair{x[0], y[1]}] = true
				}
			}
		}
		if len(all) == before {
			return all
		}
	}
}

func TestRelationsAgainstTheClosure(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	count := map[triplets.Relation]int{}
	for range 20 {
		ts := randomTriplets(rng, 5, 12)
		for i, got := range Relations(ts) {
			near, far := pairOf(ts[i].A, ts[i].Near), pairOf(ts[i].A, ts[i].Far)
			known := closure(ts[:i])
			want := triplets.RelationUnordered
			switch {
			case known[[2]pair{far, near}]:
				want = triplets.RelationConflicting
			case known[[2]pair{near, far}]:
				want = triplets.RelationImplied
			}
			if got != want {
				t.Fatalf("%v after %v: relation %d, want %d", ts[i], ts[:i], got, want)
			}
			count[got]++
		}
	}
	for r := triplets.RelationUnordered; r <= triplets.RelationConflicting; r++ {
		if count[r] < 10 {
			t.Errorf("relation %d occurs %d times: too few to test it", r, count[r])
		}
	}
}

// Whatever has no cycle is satisfied by a kernel: K_ij = −ε·rank of {i, j} off a diagonal of 1, a
// small change of I, has d² = 2 + 2ε·rank.
func TestWithoutCyclesAKernelSatisfiesAll(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	const n = 7
	for range 20 {
		var kept []metric.Triplet
		var o triplets.Order
		for _, x := range randomTriplets(rng, n, 60) {
			if o.Relation(x) != triplets.RelationConflicting {
				o.Add(x)
				kept = append(kept, x)
			}
		}
		// The longest path below each pair is its rank.
		rank := map[pair]int{}
		for changed := true; changed; {
			changed = false
			for _, x := range kept {
				near, far := pairOf(x.A, x.Near), pairOf(x.A, x.Far)
				if rank[far] < rank[near]+1 {
					rank[far], changed = rank[near]+1, true
				}
			}
		}
		k := mat.NewSymDense(n, nil)
		for i := range n {
			k.SetSym(i, i, 1)
			for j := range i {
				k.SetSym(i, j, -float64(rank[pairOf(i, j)])*.005)
			}
		}
		var chol mat.Cholesky
		if !chol.Factorize(k) {
			t.Fatal("the kernel is not positive definite")
		}
		sq := func(i, j int) float64 { return k.At(i, i) + k.At(j, j) - 2*k.At(i, j) }
		if i := slices.IndexFunc(kept, func(x metric.Triplet) bool { return sq(x.A, x.Near) >= sq(x.A, x.Far) }); i >= 0 {
			t.Errorf("%v is not satisfied", kept[i])
		}
	}
}
