package triplets

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"metriclab/pkg/metric"
)

// A stream of PA-ERKLE from K₀ = I, random comparisons of points of N(0, I₅₀): the time of one operation is that of
// the whole stream, ms/active that of one active triplet.
func BenchmarkStream(b *testing.B) {
	for _, c := range []struct {
		n, rounds int
		cone      string
	}{
		{100, 2000, "structured"}, {100, 500, "dense"},
		{412, 2000, "structured"},
		{1000, 2000, "structured"}, {1000, 10, "dense"},
		{5000, 1000, "structured"}, {5000, 3000, "structured"},
	} {
		b.Run(fmt.Sprintf("alg=ERKLE/n=%d/rounds=%d/cone=%s", c.n, c.rounds, c.cone), func(b *testing.B) {
			next := points(c.n, 1)
			ts := make([]metric.Triplet, c.rounds)
			for i := range ts {
				ts[i] = next()
			}
			active := 0
			for b.Loop() {
				var k cone
				if c.cone == "dense" {
					k = newDense(c.n, nil, false, 1)
				} else {
					k = newStructured(c.n, nil)
				}
				for _, t := range ts {
					if _, ok := pa(k, t, GradientPrinted); ok {
						active++
					}
				}
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(active), "ms/active")
		})
	}
}

// Whole passes without one mechanism each, which is what that one is worth (docs/speed/triplets.md has a table). The streams are
// those of BenchmarkStream, of 2n triplets from n = 1000 on, as in erkle2015/fig2, and of more where n is small. Constant
// steps of 1 remove larger eigenvalues, steps of 0.01 none for long.
func BenchmarkERKLEAblation(b *testing.B) {
	without := map[string]ablation{
		"nothing": {}, "sparse": {sparse: true}, "second": {second: true}, "anew": {anew: true}, "reuse": {reuse: true}, "buffer": {buffer: true},
	}
	for _, c := range []struct {
		n, rounds int
		step      float64 // 0: passive-aggressive
	}{
		{100, 10000, 0}, {100, 10000, 0.01}, {100, 10000, 1}, {200, 1060, 0}, {400, 2396, 0}, {400, 2396, 1}, {1000, 2000, 0}, {1600, 3200, 0},
	} {
		for _, name := range slices.Sorted(maps.Keys(without)) {
			b.Run(fmt.Sprintf("without=%s/n=%d/rounds=%d/step=%v", name, c.n, c.rounds, c.step), func(b *testing.B) {
				next := points(c.n, 1)
				ts := make([]metric.Triplet, c.rounds)
				for i := range ts {
					ts[i] = next()
				}
				for b.Loop() {
					k := newAblated(c.n, nil, without[name])
					for _, t := range ts {
						if c.step == 0 {
							pa(k, t, GradientPrinted)
						} else if margin(k, t) < 1 {
							k.add(t, c.step, GradientPrinted)
						}
					}
				}
			})
		}
	}
}

// margin returns −D.
func margin(k cone, t metric.Triplet) float64 {
	return k.at(t.Far, t.Far) - k.at(t.Near, t.Near) + 2*k.at(t.A, t.Near) - 2*k.at(t.A, t.Far)
}
