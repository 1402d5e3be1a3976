package worlds

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// The collection of single pixels costs what signedCosts says, in its order.
func TestSingleSubsetsAreSignedPixels(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var images [10][]float64
	for digit := range images {
		images[digit] = []float64{rng.Float64(), rng.Float64(), rng.Float64()}
	}
	got, want := mat.NewDense(45, 6, nil), mat.NewDense(45, 6, nil)
	subsetCosts(got, collection(rng, 3, 1), images)
	signedCosts(want, images)
	if !mat.EqualApprox(got, want, 1e-15) { // one rounding of a difference
		t.Errorf("costs\n%v\nwant\n%v", mat.Formatted(got), mat.Formatted(want))
	}
}

func TestCollectionHasDifferentPixels(t *testing.T) {
	subsets := collection(rand.New(rand.NewPCG(3, 4)), 20, 9)
	if len(subsets) != 40 {
		t.Fatalf("%d subsets, want 40", len(subsets))
	}
	for _, s := range subsets {
		if n := len(slices.Compact(slices.Sorted(slices.Values(s.pixel)))); n != 9 {
			t.Errorf("pixels %v: %d different ones, want 9", s.pixel, n)
		}
		for _, sign := range s.sign {
			if math.Abs(sign) != 1 {
				t.Errorf("sign %v, want -1 or 1", sign)
			}
		}
	}
}

// Two pixels that agree are surer than one; a sum beyond 1 is clipped.
func TestSubsetCost(t *testing.T) {
	s := pixelSubset{[]int{0, 2}, []float64{1, -1}}
	for _, c := range []struct {
		u, v []float64
		want float64
	}{
		{[]float64{.25, 0, 0}, []float64{0, 1, .25}, .25},
		{[]float64{1, 0, 0}, []float64{0, 1, 1}, 0},
		{[]float64{0, 0, 1}, []float64{1, 1, 0}, 1},
		{[]float64{.5, 0, .5}, []float64{.5, 1, .5}, .5},
	} {
		if got := s.cost(c.u, c.v); got != c.want {
			t.Errorf("cost of %v against %v is %v, want %v", c.u, c.v, got, c.want)
		}
	}
}

// A pixel that tells the even digits from the odd ones cannot tell two even ones.
func TestJudgeSubsets(t *testing.T) {
	var images [10][]float64
	for digit := range images {
		images[digit] = []float64{float64(1 - digit%2)}
	}
	pi := make([]int, 45) // all to the pixel with ink on the first digit
	cost, mistaken := scoreSubsets(pi, collection(nil, 1, 1), [][10][]float64{images})
	// Of 45 pairs 20 are of one parity; of the other 25, 15 have the even digit first and 10 the odd one.
	if want := (20*.5 + 10) / 45; math.Abs(cost-want) > 1e-12 || math.Abs(mistaken-want) > 1e-12 {
		t.Errorf("cost %v and %v mistaken, want %v of both", cost, mistaken, want)
	}
}
