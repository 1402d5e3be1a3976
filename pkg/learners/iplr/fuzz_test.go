package iplr

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners"
	"metriclab/pkg/metric"
)

// FuzzFit: whatever the scale of data, bounds and γ, a fit returns an error of its own, or a finite metric with a gap that is not negative.
func FuzzFit(f *testing.F) {
	for seed := range uint64(40) {
		f.Add(seed, 0.0, 0.0, 0.0, 1.0)
		f.Add(seed, 60*float64(seed%5)-120, -3.0, 5.0, 2.0)
		f.Add(seed, 0.0, -20.0, 40.0, 30.0)
	}
	f.Fuzz(func(t *testing.T, seed uint64, scale, bound, weight, ratio float64) {
		rng := rand.New(rand.NewPCG(seed, 1))
		n, d := 2+rng.IntN(8), 1+rng.IntN(5)
		x, y := mat.NewDense(n, d, nil), make([]int, n)
		for i := range n {
			y[i] = rng.IntN(3)
			for j := range d {
				x.Set(i, j, math.Pow(10, scale)*math.Round(2*rng.NormFloat64()))
			}
		}
		var links []metric.Link
		for range 1 + rng.IntN(12) {
			links = append(links, metric.Link{I: rng.IntN(n), J: rng.IntN(n), Label: metric.SameClass(rng.IntN(2) == 0)})
		}
		p := Params{Gamma: math.Pow(10, weight), Infeasible: InfeasibleRule(rng.IntN(2)), MaxCycles: 200}
		if rng.IntN(4) == 0 {
			p.Gamma = math.Inf(1)
		}
		if rng.IntN(3) > 0 {
			p.Upper = math.Pow(10, 2*scale+bound)
			p.Lower = p.Upper * ratio
		}
		ctx := t.Context()
		b, err := ClassBasis(ctx, rng, x, y, ClassParams{K: 1 + rng.IntN(n), Few: FewRule(rng.IntN(2))})
		if err == nil {
			var r Result
			if r, err = Fit(ctx, x, b, links, p); err == nil {
				for _, l := range links {
					if q := r.Metric.SqDist(x.RawRowView(l.I), x.RawRowView(l.J)); !(q >= 0) {
						t.Errorf("squared distance %v", q)
					}
				}
				if math.IsNaN(r.Gap) || math.IsNaN(r.KKT) || !math.IsInf(p.Resolved().Gamma, 1) && r.Gap < 0 || r.Status != learners.Converged && r.Status != learners.IterationCap {
					t.Errorf("gap %v, KKT %v, %v", r.Gap, r.KKT, r.Status)
				}
			}
		}
		if err != nil && !strings.HasPrefix(err.Error(), "iplr: ") {
			t.Errorf("error %v", err)
		}
	})
}
