package triplets

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"metriclab/pkg/metric"
)

// comparisons answers random queries about n points of N(0, I) in R^dim.
func comparisons(r *rand.Rand, n, dim, count int) []metric.Triplet {
	x := make([][]float64, n)
	for i := range x {
		x[i] = make([]float64, dim)
		for j := range x[i] {
			x[i][j] = r.NormFloat64()
		}
	}
	sq := func(i, j int) (sum float64) {
		for k, v := range x[i] {
			sum += (v - x[j][k]) * (v - x[j][k])
		}
		return sum
	}
	out := make([]metric.Triplet, count)
	for i := range out {
		out[i] = randomTriplet(r, n)
		if t := &out[i]; sq(t.A, t.Near) > sq(t.A, t.Far) {
			t.Near, t.Far = t.Far, t.Near
		}
	}
	return out
}

// A round with the trace penalty, late in a stream that drew the rank down to what the metric names, in the factored form and
// by full eigendecompositions.
func BenchmarkTrace(b *testing.B) {
	for _, c := range []struct {
		n, rounds int
		trace     float64
		form      Projection
	}{
		{100, 2000, 0.01, ProjectStructured}, {100, 2000, 0.1, ProjectStructured}, {100, 2000, 0.5, ProjectStructured}, {100, 100, 0.1, ProjectDense},
		{400, 4000, 0.1, ProjectStructured}, {400, 4000, 0.5, ProjectStructured},
	} {
		form := map[Projection]string{ProjectStructured: "factored", ProjectDense: "dense"}[c.form]
		b.Run(fmt.Sprintf("alg=ERKLE/n=%d/trace=%v/cone=%s", c.n, c.trace, form), func(b *testing.B) {
			ts := comparisons(rand.New(rand.NewPCG(1, 2)), c.n, 50, 2*c.rounds)
			l := must(NewERKLE(c.n, ERKLEParams{Trace: c.trace, Projection: c.form}))
			for _, t := range ts[:c.rounds] {
				if _, err := l.Step(t); err != nil {
					b.Fatal(err)
				}
			}
			i, active := 0, l.Stats().Active
			for b.Loop() {
				if _, err := l.Step(ts[c.rounds+i%c.rounds]); err != nil {
					b.Fatal(err)
				}
				i++
			}
			b.ReportMetric(float64(l.Stats().Active-active)/float64(b.N), "active/op")
			if f, ok := l.k.(*factored); ok {
				b.ReportMetric(float64(f.r), "rank")
			}
		})
	}
}
