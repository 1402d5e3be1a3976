package triplets

import (
	"fmt"
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
