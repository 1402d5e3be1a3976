package mapping

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// clusters are costs after the given number of rounds: objects are points around centres in
// [0, 1]^rounds, a round is a coordinate, and the cost of j for i is their squared difference. Each coordinate
// of a centre is 0.3 or 0.7, and points have the given spread.
func clusters(rng *rand.Rand, n, centres, rounds int, spread float64) costs {
	c := newCosts(n, n)
	x, centre := make([]float64, n), make([]float64, centres)
	for range rounds {
		for k := range centre {
			centre[k] = 0.3 + 0.4*float64(rng.IntN(2))
		}
		for i := range x {
			x[i] = min(max(centre[i%centres]+spread*rng.NormFloat64(), 0), 1)
		}
		for j := range n {
			for i, v := range c.column(j) {
				c.column(j)[i] = v + (x[i]-x[j])*(x[i]-x[j])
			}
		}
	}
	return c
}

// sizes are those of the paper's experiments: Fig. 1 and Fig. 2.
var sizes = []struct{ a, m, centres int }{{400, 4, 4}, {784, 50, 40}}

// state is a walk late in a run with the printed η, at the set to which it has come.
func state(b *testing.B, a, m, centres int) *chain {
	b.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	w := newWeights(clusters(rng, a, centres, 50, 0.15))
	w.set(PrintedEta(a, a, m, 50))
	h := newHeatBath(newChain(&w, rng.Perm(a)[:m]))
	for range 5000 {
		h.step(rng)
	}
	c := newChain(&w, h.set)
	return c
}

// A step of each walk late in a run. moves/op is the share of steps that change the set, ess/s the effective
// draws of ln ω(S) per second: an estimate from one run, which is rough where few sets are seen.
func BenchmarkStep(b *testing.B) {
	for _, s := range sizes {
		for _, name := range []string{"metropolis", "heat-bath"} {
			b.Run(fmt.Sprintf("alg=%s/A=%d/m=%d", name, s.a, s.m), func(b *testing.B) {
				w := samplers[name](state(b, s.a, s.m, s.centres))
				rng := rand.New(rand.NewPCG(1, 3))
				for b.Loop() {
					w.step(rng)
				}
				c := w.base()
				b.ReportMetric(float64(c.moves)/float64(len(c.trace)), "moves/op")
				b.ReportMetric(EffectiveSize(c.trace)/b.Elapsed().Seconds(), "ess/s")
			})
		}
	}
}

// A round: adding the costs, all weights, 5000 steps and the map.
func BenchmarkRound(b *testing.B) {
	for _, s := range sizes {
		b.Run(fmt.Sprintf("alg=RMP/A=%d/m=%d", s.a, s.m), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 2))
			l := mustRMP(b, s.a, s.a, RMPParams{M: s.m, Eta: EtaPrinted, Rounds: 50})
			f := round(rng, s.a, s.a)
			for b.Loop() {
				if _, err := l.Step(f); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("alg=RMP/A=40/m=4/sampler=enumerate", func(b *testing.B) { // 91390 sets
		l := mustRMP(b, 40, 40, RMPParams{M: 4, Eta: EtaPrinted, Rounds: 50})
		f := round(rand.New(rand.NewPCG(1, 2)), 40, 40)
		for b.Loop() {
			if _, err := l.Step(f); err != nil {
				b.Fatal(err)
			}
		}
	})
}
