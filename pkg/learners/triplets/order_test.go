package triplets

import (
	"math/rand/v2"
	"slices"
	"testing"

	"metriclab/pkg/metric"
)

// slowClosure is the transitive closure of the order of pairs of ts, by Warshall's algorithm.
func slowClosure(n int, ts []metric.Triplet) func(p, q objectPair) bool {
	id := func(p objectPair) int { return p[0]*n + p[1] }
	reach := make([][]bool, n*n)
	for i := range reach {
		reach[i] = make([]bool, n*n)
	}
	for _, t := range ts {
		reach[id(pairOf(t.A, t.Near))][id(pairOf(t.A, t.Far))] = true
	}
	for k := range reach {
		for i := range reach {
			if reach[i][k] {
				for j := range reach {
					reach[i][j] = reach[i][j] || reach[k][j]
				}
			}
		}
	}
	return func(p, q objectPair) bool { return reach[id(p)][id(q)] }
}

func TestDenoiseKeepsAMaximalSetWithoutCycles(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 6
	someLeft := false
	for range 20 {
		var ts []metric.Triplet
		for range 40 {
			x := rng.Perm(n)
			ts = append(ts, metric.Triplet{A: x[0], Near: x[1], Far: x[2]})
		}
		kept, left, err := Denoise(n, ts)
		if err != nil {
			t.Fatal(err)
		}
		if len(kept)+left != len(ts) {
			t.Fatalf("%d kept and %d left out of %d", len(kept), left, len(ts))
		}
		before := slowClosure(n, kept)
		for i := range n {
			for j := i + 1; j < n; j++ {
				if p := pairOf(i, j); before(p, p) {
					t.Fatalf("the triplets kept have a cycle through %v", p)
				}
			}
		}
		for _, x := range ts {
			if !slices.Contains(kept, x) {
				someLeft = true
				if !before(pairOf(x.A, x.Far), pairOf(x.A, x.Near)) {
					t.Fatalf("%v was left out without a conflict", x)
				}
			}
		}
	}
	if !someLeft {
		t.Error("no triplet was left out in any try")
	}
}

func TestDenoiseKeepsAnswersOfAKernel(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	x := make([]float64, 12) // points of a line
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	var ts []metric.Triplet
	for range 300 {
		p := rng.Perm(len(x))
		a, b, c := p[0], p[1], p[2]
		if (x[a]-x[b])*(x[a]-x[b]) > (x[a]-x[c])*(x[a]-x[c]) {
			b, c = c, b
		}
		ts = append(ts, metric.Triplet{A: a, Near: b, Far: c})
	}
	kept, left, err := Denoise(len(x), ts)
	if err != nil || left != 0 || !slices.Equal(kept, ts) {
		t.Errorf("%d of %d left out, error %v", left, len(ts), err)
	}
}

func TestDenoiseRefuses(t *testing.T) {
	for _, bad := range []metric.Triplet{{A: 0, Near: 1, Far: 1}, {A: 0, Near: 3, Far: 1}, {A: -1, Near: 0, Far: 1}} {
		if _, _, err := Denoise(3, []metric.Triplet{{A: 0, Near: 1, Far: 2}, bad}); err == nil {
			t.Errorf("%v: no error", bad)
		}
	}
}
