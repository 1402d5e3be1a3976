package mapping

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/combin"

	"metriclab/pkg/metric"
)

// maps counts the maps of a objects to b prototypes with at most m images: Σₖ C(b, k)·(surjections of
// a objects on k prototypes), the latter by inclusion and exclusion.
func maps(a, b, m int) float64 {
	var sum float64
	for k := 1; k <= m; k++ {
		var onto float64
		for j := range k {
			onto += math.Pow(-1, float64(j)) * float64(combin.Binomial(k, j)) * math.Pow(float64(k-j), float64(a))
		}
		sum += float64(combin.Binomial(b, k)) * onto
	}
	return sum
}

func TestLogMaps(t *testing.T) {
	for a := 1; a <= 6; a++ {
		for b := 1; b <= 5; b++ {
			for m := 1; m <= b; m++ {
				n := 0
				if a <= 4 {
					for _, pi := range allMaps(a, b) {
						used := map[int]bool{}
						for _, j := range pi {
							used[j] = true
						}
						if len(used) <= m {
							n++
						}
					}
					near(t, fmt.Sprintf("maps of %d to %d of %d", a, m, b), maps(a, b, m), float64(n), 1e-12)
				}
				got, want := LogMaps(a, b, m), math.Log(float64(combin.Binomial(b, m))*math.Pow(float64(m), float64(a)))
				near(t, "LogMaps", got, want, 1e-12)
				if math.Log(maps(a, b, m)) > got+1e-12 {
					t.Errorf("a = %d, b = %d, m = %d: %v maps, more than exp(%v)", a, b, m, maps(a, b, m), got)
				}
				if p := PrintedLogMaps(a, b, m); (m == 1 || m == b) != (math.Abs(p-got) < 1e-12) || p > got+1e-12 {
					t.Errorf("a = %d, b = %d, m = %d: printed %v, right is %v", a, b, m, p, got)
				}
			}
		}
	}
}

// The number of maps is larger than Theorem 2.1 says at B = 4, m = 2, A = 10 (errata, rmp2007).
func TestPrintedCountIsTooSmall(t *testing.T) {
	if n := maps(10, 4, 2); n != 4+6*1022 || math.Log(n) <= PrintedLogMaps(10, 4, 2) {
		t.Errorf("ln %v = %v, printed %v", n, math.Log(n), PrintedLogMaps(10, 4, 2))
	}
}

func TestRatesAndBounds(t *testing.T) {
	const a, b, m, rounds = 400, 400, 4, 50
	near(t, "PrintedEta", PrintedEta(a, b, m, rounds), math.Sqrt(8*(4*math.Log(100)+400*math.Log(4))/50), 1e-14)
	n := math.Log(400*399*398*397/24) + 400*math.Log(4)
	near(t, "CorrectedEta", CorrectedEta(a, b, m, rounds), math.Sqrt(8*n/50)/400, 1e-12)
	near(t, "RegretBound", RegretBound(a, b, m, rounds, 0.05), 400*(math.Sqrt(25*n)+math.Sqrt(25*math.Log(20))), 1e-12)
	near(t, "PrintedRegretBound", PrintedRegretBound(a, b, m, rounds, 1), 400*math.Sqrt(25*(4*math.Log(100)+400*math.Log(4))), 1e-12)
	near(t, "AnytimeRegretBound", AnytimeRegretBound(a, b, m, rounds), 400*(2*math.Sqrt(25*n)+math.Sqrt(n/8)), 1e-12)
	var epochs float64 // of 1, 2, 4, 8, 16 and 32 rounds, the last of them cut short
	for k := range 6 {
		epochs += RegretBound(a, b, m, 1<<k, 1)
	}
	if got := DoublingRegretBound(a, b, m, 32); got < epochs || got > 1.2*epochs {
		t.Errorf("DoublingRegretBound: %v, the bounds of its epochs sum to %v", got, epochs)
	}
	// The bound for any η is least at the corrected one, where it is RegretBound.
	eta := CorrectedEta(a, b, m, rounds)
	near(t, "ExpectedRegretBound", ExpectedRegretBound(a, b, m, rounds, eta), RegretBound(a, b, m, rounds, 1), 1e-12)
	for _, f := range []float64{0.9, 1.1} {
		if ExpectedRegretBound(a, b, m, rounds, f*eta) <= ExpectedRegretBound(a, b, m, rounds, eta) {
			t.Errorf("the bound is less at %v times the corrected η", f)
		}
	}
	// At the sizes of Fig. 1 every bound is vacuous: the regret is at most A·T = 20000.
	for name, v := range map[string]float64{
		"printed":               PrintedRegretBound(a, b, m, rounds, 1),
		"corrected":             RegretBound(a, b, m, rounds, 1),
		"of the printed η":      ExpectedRegretBound(a, b, m, rounds, PrintedEta(a, b, m, rounds)),
		"anytime":               AnytimeRegretBound(a, b, m, rounds),
		"of the doubling trick": DoublingRegretBound(a, b, m, rounds),
	} {
		if v < a*rounds {
			t.Errorf("%s bound: %v, want more than %d", name, v, a*rounds)
		}
	}
}

// adversaries give the costs of a round, which may depend on the law of the learner's prediction.
var adversaries = map[string]func(rng *rand.Rand, l *RMP, round int) *mat.Dense{
	"random": func(rng *rand.Rand, l *RMP, _ int) *mat.Dense {
		c := mat.NewDense(3, 4, nil)
		c.Apply(func(_, _ int, _ float64) float64 { return float64(rng.IntN(2)) }, c)
		return c
	},
	"alternating": func(_ *rand.Rand, _ *RMP, round int) *mat.Dense {
		c := mat.NewDense(3, 4, nil)
		c.Apply(func(i, j int, _ float64) float64 { return float64((round + j + i/2) % 2) }, c)
		return c
	},
	"against the likeliest prototype": func(_ *rand.Rand, l *RMP, _ int) *mat.Dense {
		c := mat.NewDense(3, 4, nil)
		w := l.LogWeights()
		for i := range 3 {
			best := 0
			for j := range 4 {
				if w.At(i, j) > w.At(i, best) {
					best = j
				}
			}
			c.Set(i, best, 1)
		}
		return c
	},
}

// Theorem 2.1 in its correct forms: against every adversary the expected regret is within its bound after
// every round, and with the doubling trick too.
func TestExpectedRegretIsBounded(t *testing.T) {
	const a, b, m, rounds = 3, 4, 2, 200
	for name, adversary := range adversaries {
		for rule, c := range map[string]struct {
			p     RMPParams
			bound func(t int) float64
			ends  bool // the bound is for the last round only
		}{
			"corrected": {RMPParams{Eta: EtaCorrected, Rounds: rounds}, func(t int) float64 { return RegretBound(a, b, m, t, 1) }, true},
			"printed":   {RMPParams{Eta: EtaPrinted, Rounds: rounds}, func(t int) float64 { return ExpectedRegretBound(a, b, m, t, PrintedEta(a, b, m, rounds)) }, false},
			"fixed":     {RMPParams{Eta: EtaFixed, Rate: 0.1}, func(t int) float64 { return ExpectedRegretBound(a, b, m, t, 0.1) }, false},
			"anytime":   {RMPParams{Eta: EtaAnytime}, func(t int) float64 { return AnytimeRegretBound(a, b, m, t) }, false},
			"doubling":  {RMPParams{Eta: EtaCorrected}, func(t int) float64 { return DoublingRegretBound(a, b, m, t) }, false},
		} {
			c.p.M = m
			l := mustRMP(t, a, b, c.p)
			rng := rand.New(rand.NewPCG(1, 20))
			sum := newCosts(a, b)
			var expected float64
			for r := 1; r <= rounds; r++ {
				f := metric.CostRound{Cost: adversary(rng, l, r)}
				e, _ := l.ExpectedLoss(f)
				expected += e
				sum.add(f)
				if _, err := l.Step(f); err != nil {
					t.Fatal(err)
				}
				if c.ends && r < rounds {
					continue
				}
				if regret := expected - offline(sum, m); regret > c.bound(r)+1e-9 {
					t.Errorf("%s, %s: expected regret %v after %d rounds, bound %v", name, rule, regret, r, c.bound(r))
					break
				}
			}
		}
	}
}

// offline returns the cost of the best map with at most m images, by trying all sets.
func offline(c costs, m int) float64 {
	best := math.Inf(1)
	for _, set := range subsets(c.b, m) {
		var sum float64
		for i := range c.a {
			least := math.Inf(1)
			for _, j := range set {
				least = min(least, c.sum[j*c.a+i])
			}
			sum += least
		}
		best = min(best, sum)
	}
	return best
}
