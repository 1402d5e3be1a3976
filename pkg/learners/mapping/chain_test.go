package mapping

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// sampler is a walk and what it prices: the probabilities of a swap are tested from it.
type sampler interface {
	step(*rand.Rand)
	// logRatio returns ln ω(S') − ln ω(S) for the member of slot s replaced by out[q].
	logRatio(s, q int) float64
	// probability returns that of this swap in one step.
	probability(s, q int) float64
	base() *chain
}

func (c *metropolis) base() *chain              { return c.chain }
func (c *metropolis) logRatio(s, q int) float64 { return c.price(s, q) - c.logSum }
func (c *metropolis) probability(s, q int) float64 {
	return min(1, math.Exp(c.logRatio(s, q))) / float64(len(c.set)*len(c.out))
}

func (c *heatBath) probability(s, q int) float64 {
	total := c.weigh(q)
	swap := c.q[s] / total * min(1, math.Exp(c.logRatio(s, q))*c.q[len(c.set)]/c.q[s]) / float64(len(c.out))
	return (swap + c.metropolis.probability(s, q)) / 2
}

var samplers = map[string]func(c *chain) sampler{
	"metropolis": func(c *chain) sampler { return newMetropolis(c) },
	"heat-bath":  func(c *chain) sampler { return newHeatBath(c) },
}

// eachSampler runs f for every sampler in every regime, started from a drawn set.
func eachSampler(t *testing.T, a, b, m int, f func(t *testing.T, rng *rand.Rand, c costs, s sampler)) {
	for name, make := range samplers {
		for regime, spread := range regimes {
			t.Run(name+"/"+regime, func(t *testing.T) {
				rng := rand.New(rand.NewPCG(1, 4))
				c := random(rng, a, b, spread)
				f(t, rng, c, make(newChain(weightsOf(c, 1), rng.Perm(b)[:m])))
			})
		}
	}
}

// tolPrice is for a price of A = 40 rows whose sums can be off by 2⁻³⁶ (maxStale), or for the
// rounding of ln ω ≈ 10⁶·40.
const tolPrice = 1e-7

// Along a walk every price is that of the definition, and the trace is ln ω(S).
func TestPricesAgainstDefinition(t *testing.T) {
	eachSampler(t, 40, 12, 5, func(t *testing.T, rng *rand.Rand, c costs, s sampler) {
		w := s.base()
		for n := range 200 {
			at := logOmega(c, 1, w.set)
			if n%20 == 0 {
				for slot := range w.set {
					for q, j := range w.out {
						near(t, fmt.Sprintf("step %d: %v, slot %d to %d", n, w.set, slot, j), s.logRatio(slot, q), logOmega(c, 1, w.swapped(slot, j))-at, tolPrice)
					}
				}
			}
			// Force moves that would be turned down: prices must hold everywhere.
			if m, ok := s.(*metropolis); ok && n%3 == 0 {
				slot, q := rng.IntN(len(w.set)), rng.IntN(len(w.out))
				m.move(slot, q, m.price(slot, q))
				m.record()
			} else {
				s.step(rng)
			}
			for i, v := range w.sum {
				if !usable(v) {
					t.Fatalf("step %d, row %d: the sum is %v", n, i, v)
				}
			}
			near(t, fmt.Sprintf("step %d: ln ω", n), w.trace[n], logOmega(c, 1, w.set), tolPrice)
			if t.Failed() {
				return
			}
		}
		if w.moves < 3 {
			t.Errorf("%d moves only", w.moves)
		}
	})
}

// The swaps of both walks are in detailed balance with P(S) ∝ ω(S).
func TestDetailedBalance(t *testing.T) {
	for name, make := range samplers {
		for _, spread := range []float64{0, 3, 30} {
			rng := rand.New(rand.NewPCG(1, 5))
			c := random(rng, 6, 6, spread)
			all := subsets(6, 3)
			p := reference(c, 1, 3)
			// flow[S][S'] = P(S)·Pr(S→S')
			flow := map[[2]string]float64{}
			var stay float64
			for k, set := range all {
				s := make(newChain(weightsOf(c, 1), set))
				leave := 0.0
				for slot := range set {
					for q, j := range s.base().out {
						pr := s.probability(slot, q)
						leave += pr
						next := slices.Sorted(slices.Values(s.base().swapped(slot, j)))
						flow[[2]string{fmt.Sprint(set), fmt.Sprint(next)}] += p[k] * pr
					}
				}
				if leave > 1+1e-12 {
					t.Errorf("%s: a step leaves %v with probability %v", name, set, leave)
				}
				stay += p[k] * (1 - leave)
			}
			if len(flow) != len(all)*9 {
				t.Fatalf("%s: %d swaps, want %d", name, len(flow), len(all)*9)
			}
			for pair, there := range flow {
				back := flow[[2]string{pair[1], pair[0]}]
				if math.Abs(there-back) > 1e-13 { // of probabilities
					t.Errorf("%s, spread %v: flow %v from %s to %s, %v back", name, spread, there, pair[0], pair[1], back)
				}
			}
			if spread == 3 && !(stay > 0 && stay < 1) {
				t.Errorf("%s: stays with probability %v", name, stay)
			}
		}
	}
}

// The frequencies of steps, started from the law itself, are the probabilities that detailed balance is
// about: what step does is what probability says. A correct sampler fails with probability 1e-6.
func TestStepsHaveTheirProbabilities(t *testing.T) {
	const a, b, m, n = 5, 5, 2, 20000
	for name, make := range samplers {
		rng := rand.New(rand.NewPCG(1, 6))
		c := random(rng, a, b, 3)
		set := []int{1, 3}
		s := make(newChain(weightsOf(c, 1), set))
		want := map[string]float64{}
		leave := 0.0
		for slot := range set {
			for q, j := range s.base().out {
				pr := s.probability(slot, q)
				leave += pr
				want[fmt.Sprint(slices.Sorted(slices.Values(s.base().swapped(slot, j))))] = n * pr
			}
		}
		want[fmt.Sprint(set)] = n * (1 - leave)
		got := map[string]float64{}
		for range n {
			s := make(newChain(weightsOf(c, 1), set))
			s.step(rng)
			got[fmt.Sprint(slices.Sorted(slices.Values(s.base().set)))]++
		}
		chiSquare(t, name, got, want)
	}
}

// falseAlarm is the probability with which a chi-square test fails a sampler that is right. The
// seed is fixed: it fails always or never.
const falseAlarm = 1e-6

// chiSquare compares counts with their expectations, which sum to the same; classes of less than
// 5 are taken together.
func chiSquare(t *testing.T, what string, got, want map[string]float64) {
	t.Helper()
	var stat, rareGot, rareWant float64
	classes := 0
	for k, w := range want {
		if w < 5 {
			rareGot, rareWant = rareGot+got[k], rareWant+w
			continue
		}
		classes++
		stat += (got[k] - w) * (got[k] - w) / w
	}
	if rareWant >= 5 {
		classes++
		stat += (rareGot - rareWant) * (rareGot - rareWant) / rareWant
	} else if rareGot > 40 { // a Poisson variable of mean 5 is larger with probability < 1e-19
		t.Errorf("%s: %v draws of classes with expectation %v in all", what, rareGot, rareWant)
	}
	for k := range got {
		if _, ok := want[k]; !ok {
			t.Errorf("%s: drew %s, which is impossible", what, k)
		}
	}
	if classes < 3 {
		t.Fatalf("%s: %d classes, want at least 3", what, classes)
	}
	if p := (distuv.ChiSquared{K: float64(classes - 1)}).Survival(stat); p < falseAlarm {
		t.Errorf("%s: χ² = %.4g with %d classes, p = %.2g", what, stat, classes, p)
	}
}

// The law of a long walk is P(S): 3000 walks of 150 steps from one set.
func TestWalkHasTheExactLaw(t *testing.T) {
	const a, b, m, walks, steps = 6, 7, 3, 3000, 150
	for name, make := range samplers {
		rng := rand.New(rand.NewPCG(1, 7))
		c := random(rng, a, b, 4)
		want := map[string]float64{}
		for k, p := range reference(c, 1, m) {
			want[fmt.Sprint(subsets(b, m)[k])] = walks * p
		}
		got := map[string]float64{}
		for range walks {
			s := make(newChain(weightsOf(c, 1), []int{0, 1, 2}))
			for range steps {
				s.step(rng)
			}
			got[fmt.Sprint(slices.Sorted(slices.Values(s.base().set)))]++
		}
		chiSquare(t, name, got, want)
	}
}

// Where the member that goes has nearly all the weight of a row, the sum of the others is not a
// difference: 1 + 2⁻⁶⁰ − 1 would be 0.
func TestRowsOfRemovedPrototypesAreRebuilt(t *testing.T) {
	for name, make := range samplers {
		c := newCosts(1, 4)
		copy(c.sum, []float64{0, 60 * math.Ln2, 61 * math.Ln2, 62 * math.Ln2})
		s := make(newChain(weightsOf(c, 1), []int{0, 1}))
		near(t, name, s.logRatio(0, 0), math.Log(math.Exp2(-60)+math.Exp2(-61)), 1e-12)
		near(t, name, s.logRatio(0, 1), math.Log(math.Exp2(-60)+math.Exp2(-62)), 1e-12)
	}
	// By moves: members 0 and 1 go one after the other.
	c := newCosts(1, 4)
	copy(c.sum, []float64{0, 60 * math.Ln2, 61 * math.Ln2, 62 * math.Ln2})
	w := newMetropolis(newChain(weightsOf(c, 1), []int{0, 1}))
	w.move(0, 0, w.price(0, 0)) // {2, 1}
	near(t, "the sum of the row", w.sum[0]*math.Exp2(60), 1.5, 1e-12)
	w.move(1, 1, w.price(1, 1)) // {2, 3}
	near(t, "the sum of the row", w.sum[0]*math.Exp2(60), 0.75, 1e-12)
}

// More rows than one product holds: 2500 mantissas of 1.5 on average.
func TestManyRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 27))
	const a, b, m = 2501, 5, 2
	c := random(rng, a, b, 3)
	l := newLaw(weightsOf(c, 1), m)
	for k, want := range reference(c, 1, m) {
		near(t, fmt.Sprintf("P(S) of set %d", k), l.p[k], want, tolLaw)
	}
	w := newMetropolis(newChain(weightsOf(c, 1), []int{0, 1}))
	for q, j := range w.out {
		near(t, fmt.Sprintf("0 to %d", j), w.logRatio(0, q), logOmega(c, 1, []int{j, 1})-logOmega(c, 1, []int{0, 1}), tolPrice)
	}
}

// A total that exceeds the sum by round-off picks the last entry that is not 0.
func TestPick(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 28))
	w := []float64{0, 1, 2, 0}
	count := make([]int, 4)
	for range 3000 {
		count[pick(w, 3, rng)]++
	}
	if count[0] != 0 || count[3] != 0 || count[1] < 800 || count[1] > 1200 { // 1000 ± 8 standard deviations
		t.Errorf("picked %v, want about 0, 1000, 2000, 0", count)
	}
	for range 100 {
		if k := pick(w, 1e12, rng); k != 2 {
			t.Fatalf("picked %d, want 2", k)
		}
	}
}

// A walk of many moves keeps the sums of the other weights to round-off, where they shrink by
// many orders of magnitude in small steps.
func TestRestsStayAccurate(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 8))
	const a, b, m = 30, 60, 20
	c := random(rng, a, b, 40)
	for k, v := range c.sum {
		c.sum[k] = math.Round(v) // ties
	}
	w := newMetropolis(newChain(weightsOf(c, 1), rng.Perm(b)[:m]))
	moves := 0
	for range 4000 {
		s, q := rng.IntN(m), rng.IntN(b-m)
		logSum := w.price(s, q)
		if rng.IntN(4) == 0 || logSum > w.logSum {
			w.move(s, q, logSum)
			moves++
			for i := range a {
				top, rest := w.top[i], w.rest[i]
				own := w.owner[i]
				w.row(i)
				if w.top[i] != top || w.owner[i] != own || math.Abs(w.rest[i]-rest) > 2e-11*w.rest[i] { // maxStale
					t.Fatalf("move %d, row %d: largest %v of %d and rest %v, want %v of %d and %v", moves, i, top, own, rest, w.top[i], w.owner[i], w.rest[i])
				}
				w.top[i], w.rest[i], w.owner[i], w.sum[i] = top, rest, own, top+rest
			}
		}
	}
	if moves < 500 {
		t.Errorf("%d moves only", moves)
	}
}

// Late in a run, where Metropolis accepts 1 % of its proposals, the heat bath is worth more per step: 5 times
// as many effective draws of ln ω(S) on these costs, at 1.5 times the time (BenchmarkStep). The margin is for other builds.
func TestHeatBathWalkIsWorthMore(t *testing.T) {
	const n, m, steps = 100, 20, 100_000
	rng := rand.New(rand.NewPCG(1, 25))
	w := weightsOf(clusters(rng, n, 16, 50, 0.15), PrintedEta(n, n, m, 50))
	start := newHeatBath(newChain(w, rng.Perm(n)[:m]))
	for range 20_000 {
		start.step(rng)
	}
	size, moves := map[string]float64{}, map[string]float64{}
	for name, make := range samplers {
		s := make(newChain(w, start.set))
		for range steps {
			s.step(rng)
		}
		size[name], moves[name] = EffectiveSize(s.base().trace), float64(s.base().moves)/steps
	}
	t.Logf("effective size %v, moves per step %v", size, moves)
	if moves["metropolis"] > 0.03 || moves["heat-bath"] < 3*moves["metropolis"] {
		t.Errorf("moves per step: %v", moves)
	}
	if size["heat-bath"] < 2*size["metropolis"] {
		t.Errorf("effective size: %v", size)
	}
}

// What the heat bath proposes depends on V alone, from whichever set it comes, with equal weights and where
// sums underflow: else there would be no detailed balance.
func TestHeatBathWeightsDependOnUnionOnly(t *testing.T) {
	const a, b, m = 30, 9, 4
	for regime, spread := range regimes {
		rng := rand.New(rand.NewPCG(1, 26))
		c := random(rng, a, b, spread)
		for k := range c.sum {
			c.sum[k] = spread * math.Round(4*c.sum[k]/max(spread, 1)) / 4 // ties
		}
		for _, v := range subsets(b, m+1) {
			var want []float64 // of the members of v, normalised
			for k, last := range v {
				set := slices.Concat(v[:k], v[k+1:])
				rng.Shuffle(m, func(i, j int) { set[i], set[j] = set[j], set[i] })
				w := newHeatBath(newChain(weightsOf(c, 1), []int{0, 1, 2, 3}))
				w.set, w.out = set, complement(set, b)
				w.rebuild()
				total := w.weigh(slices.Index(w.out, last))
				got := make([]float64, m+1)
				for i, j := range v {
					got[i] = w.q[m] / total
					if s := slices.Index(set, j); s >= 0 {
						got[i] = w.q[s] / total
					}
				}
				if want == nil {
					want = got
				}
				for i := range got {
					if math.Abs(got[i]-want[i]) > 1e-12*want[i] { // rounding of A factors
						t.Fatalf("%s: V = %v with %d last: %v, want %v", regime, v, last, got, want)
					}
				}
			}
		}
	}
}

// The heat bath proposes by the exact weights where all weights are equal, and where each row has one that counts.
func TestHeatBathWeightsInTheLimits(t *testing.T) {
	const a, b, m = 12, 6, 3
	rng := rand.New(rand.NewPCG(1, 30))
	one := newCosts(a, b)
	for i := range a {
		for j, r := range rng.Perm(b) {
			one.sum[j*a+i] = 3 + 40*float64(r)
		}
	}
	for name, c := range map[string]costs{"equal": newCosts(a, b), "one per row": one} {
		w := newHeatBath(newChain(weightsOf(c, 0.1*float64(len(name))), []int{0, 2, 5}))
		for q, j := range w.out {
			total := w.weigh(q)
			want := make([]float64, m+1)
			for s := range m {
				want[s] = logOmega(c, w.t.eta, w.swapped(s, j))
			}
			want[m] = logOmega(c, w.t.eta, w.set)
			z := logSumExp(want)
			for s, v := range want {
				near(t, fmt.Sprintf("%s: slot %d for %d", name, s, j), w.q[s]/total, math.Exp(v-z), 1e-9)
			}
		}
	}
}

// A set is left at once for one that is better by more than float64 can say.
func TestHeatBathLeavesAHopelessSet(t *testing.T) {
	c := newCosts(40, 2)
	for i := range 40 {
		c.sum[i] = 60
	}
	w := newHeatBath(newChain(weightsOf(c, 1), []int{0}))
	w.swap(rand.New(rand.NewPCG(1, 31)))
	if w.set[0] != 1 || w.trace[0] != 0 {
		t.Errorf("set %v, ln ω %v, want [1] and 0", w.set, w.trace)
	}
}
