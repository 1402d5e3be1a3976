package mapping

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// tolLaw is relative to ln ω, a sum of some A·η·C: 1e6·ε, and as much again for the reference.
const tolLaw = 1e-9

func TestSets(t *testing.T) {
	for b := 1; b <= 12; b++ {
		for m := 1; m <= b; m++ {
			if got := sets(b, m); got != len(subsets(b, m)) {
				t.Errorf("C(%d, %d): got %d, want %d", b, m, got, len(subsets(b, m)))
			}
		}
	}
	for _, c := range []struct{ b, m, want int }{
		{400, 2, 79800}, {400, 398, 79800}, {448, 2, 100128}, {400, 4, 0}, {784, 50, 0}, {1 << 40, 1 << 39, 0}, {100000, 1, 100000}, {100001, 1, 0},
	} {
		want := c.want
		if want == 0 || want > MaxSets {
			want = MaxSets + 1
		}
		if got := sets(c.b, c.m); got != want {
			t.Errorf("C(%d, %d): got %d, want %d", c.b, c.m, got, want)
		}
	}
}

func TestLawAgainstBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for name, spread := range regimes {
		for _, s := range []struct{ a, b, m int }{{1, 1, 1}, {3, 4, 1}, {4, 4, 4}, {5, 6, 3}, {7, 5, 2}, {2, 9, 4}} {
			t.Run(fmt.Sprintf("%s/A=%d/B=%d/m=%d", name, s.a, s.b, s.m), func(t *testing.T) {
				c := random(rng, s.a, s.b, spread)
				l := newLaw(weightsOf(c, 1), s.m)
				var sum float64
				for k, want := range reference(c, 1, s.m) {
					near(t, fmt.Sprintf("P(S) of %v", subsets(s.b, s.m)[k]), l.p[k], want, tolLaw)
					if got := l.unrank(k); !slices.Equal(got, subsets(s.b, s.m)[k]) {
						t.Errorf("set %d is %v, want %v", k, got, subsets(s.b, s.m)[k])
					}
					sum += l.p[k]
				}
				near(t, "Σ P(S)", sum, 1, 1e-12)
			})
		}
	}
}

// mapReference is the probability of pi by lines 2 to 5 of Algorithm 1, summed over the sets.
func mapReference(c costs, eta float64, m int, pi []int) float64 {
	var sum float64
	for k, set := range subsets(c.b, m) {
		logP := math.Log(reference(c, eta, m)[k])
		for i, j := range pi {
			if !slices.Contains(set, j) {
				logP = math.Inf(-1)
				break
			}
			row := make([]float64, m)
			for n, v := range set {
				row[n] = -eta * c.sum[v*c.a+i]
			}
			logP += -eta*c.sum[j*c.a+i] - logSumExp(row)
		}
		sum += math.Exp(logP)
	}
	return sum
}

func TestMapLawAgainstBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for name, spread := range regimes {
		for _, s := range []struct{ a, b, m int }{{1, 1, 1}, {3, 3, 2}, {2, 4, 3}, {4, 3, 3}, {3, 4, 1}} {
			t.Run(fmt.Sprintf("%s/A=%d/B=%d/m=%d", name, s.a, s.b, s.m), func(t *testing.T) {
				c := random(rng, s.a, s.b, spread)
				l := newLaw(weightsOf(c, 1), s.m)
				f := round(rng, s.a, s.b)
				var sum, loss float64
				for _, pi := range allMaps(s.a, s.b) {
					p := l.mapProbability(pi)
					near(t, fmt.Sprintf("P of %v", pi), p, mapReference(c, 1, s.m, pi), tolLaw)
					sum += p
					loss += p * c.loss(f, pi)
				}
				near(t, "Σ P(π)", sum, 1, tolLaw)
				near(t, "expected loss", l.expectedLoss(f), loss, tolLaw)
			})
		}
	}
}

// Algorithm 1 is not Eq. 1: a map with k < m images is C(B−k, m−k) times too likely, so that of two equally
// costly maps the one with fewer images is drawn more often (errata, rmp2007).
func TestAlgorithm1IsNotEquation1(t *testing.T) {
	const a, b, m = 3, 4, 2
	l := newLaw(weightsOf(newCosts(a, b), 1), m) // Eq. 1 would be uniform
	one, two := l.mapProbability([]int{2, 2, 2}), l.mapProbability([]int{2, 0, 2})
	near(t, "one image against two", one/two, 3, 1e-12)
	near(t, "two images", two, 1.0/(6*8), 1e-12)
}

// Adding a constant to a row of the costs changes no probability, whatever underflows: here ln ω(S) is
// below −10⁶.
func TestLawIsFreeOfRowConstants(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	const a, b, m = 5, 6, 3
	c := random(rng, a, b, 8)
	// Halves of integers below 2²⁰, so that adding 2¹⁸ is exact.
	for k, v := range c.sum {
		c.sum[k] = math.Round(2*v) / 2
	}
	want := newLaw(weightsOf(c, 1), m)
	for k := range c.sum {
		c.sum[k] += 1 << 18
	}
	if got := logOmega(c, 1, []int{0, 1, 2}); got > -1e6 {
		t.Fatalf("ln ω = %v, want at most −10⁶", got)
	}
	got := newLaw(weightsOf(c, 1), m)
	for k, p := range want.p {
		if got.p[k] != p {
			t.Errorf("P(S) of set %d: %v, want %v", k, got.p[k], p)
		}
	}
}
