package ltkernel

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkFitKernel fits 100 objects to 1,356 pairs of three classes: 10 to 20 steps to a residual of 1e-8.
func BenchmarkFitKernel(b *testing.B) {
	k0 := gramOf(normal(100, 120, 1))
	rng := rand.New(rand.NewPCG(3, 1))
	var cs []Constraint
	for len(cs) < 1356 {
		i, j := rng.IntN(100), rng.IntN(100)
		switch {
		case i == j:
		case i%3 == j%3:
			cs = append(cs, AtMost(i, j, 180))
		default:
			cs = append(cs, AtLeast(i, j, 264))
		}
	}
	fro, _ := Frobenius(1)
	tr, _ := Trace(0.5)
	for _, phi := range []Divergence{LogDet(), VonNeumann(), fro, tr} {
		b.Run(fmt.Sprintf("divergence=%s", phi.Name()), func(b *testing.B) {
			for b.Loop() {
				res, err := FitKernel(b.Context(), k0, cs, Params{Divergence: phi, Slack: SlackL2})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(res.Iterations), "steps")
			}
		})
	}
}
