package digits

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/papers/rmp2007/protocol"
)

func TestCoherence(t *testing.T) {
	// 5 5 2
	// 5 2 2: of 7 pairs that share an edge, 5-5 twice and 2-2 twice.
	g := Grid{2, 3}
	pi := []int{5, 5, 2, 5, 2, 2}
	all := func(int) bool { return true }
	if same, pairs := g.coherence(pi, all); same != 4 || pairs != 7 {
		t.Errorf("coherence %v of %v, want 4 of 7", same, pairs)
	}
	// Without the first pixel: 5-2, 2-2, 5-2, 2-2, 5-2.
	if same, pairs := g.coherence(pi, func(i int) bool { return i > 0 }); same != 2 || pairs != 5 {
		t.Errorf("coherence without the first pixel %v of %v, want 2 of 5", same, pairs)
	}
	// Without the last one: 5-5, 5-2, 5-2, 5-5, 5-2.
	if same, pairs := g.coherence(pi, func(i int) bool { return i < 5 }); same != 2 || pairs != 5 {
		t.Errorf("coherence without the last pixel %v of %v, want 2 of 5", same, pairs)
	}
}

// The expectation is that of coherence over random permutations.
func TestShuffledIsTheMeanOverShuffles(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	g := Grid{5, 6}
	pi := make([]int, g.Pixels())
	for i := range pi {
		pi[i] = min(rng.IntN(4), rng.IntN(4))
	}
	all := func(int) bool { return true }
	var sum, square float64
	const n = 4000
	for range n {
		p := slices.Clone(pi)
		rng.Shuffle(len(p), func(i, j int) { p[i], p[j] = p[j], p[i] })
		same, pairs := g.coherence(p, all)
		sum += same / pairs
		square += same / pairs * same / pairs
	}
	mean := sum / n
	se := math.Sqrt((square/n - mean*mean) / n)
	// Five standard errors: the seed is fixed, and a wrong formula is off by far more.
	if want := shuffled(pi, all); math.Abs(mean-want) > 5*se {
		t.Errorf("mean over shuffles %v ± %v, formula %v", mean, se, want)
	}
	if got := shuffled([]int{3, 3, 8}, func(i int) bool { return i < 2 }); got != 1 {
		t.Errorf("two pixels of one group: %v, want 1", got)
	}
}

func TestMapDistortion(t *testing.T) {
	x := mat.NewDense(2, 3, []float64{0, .5, 1, 1, 1, 0})
	// Pixels 1 and 2 to pixel 0: (.25 + 0)/2 and (1 + 1)/2 of two images.
	got := mapDistortion(x, []int{0, 0, 0}, protocol.Compare[protocol.Squared], func(i int) bool { return i > 0 })
	if want := (.25 + 1 + 0 + 1) / 4; got != want {
		t.Errorf("distortion %v, want %v", got, want)
	}
}

// Groups are ranked by size.
func TestRanks(t *testing.T) {
	var pi, want []int
	for k := range 12 {
		for range 12 - max(k, 1) { // groups 0 and 1 are of one size
			pi = append(pi, 100-k*7)
			want = append(want, k)
		}
	}
	got := ranks(pi)
	for i, k := range want {
		switch {
		case k == 0: // group 1 has the lesser prototype
			k = 1
		case k == 1:
			k = 0
		}
		if got[i] != float64(k) {
			t.Errorf("pixel %d of prototype %d: %v, want %d", i, pi[i], got[i], k)
		}
	}
}
