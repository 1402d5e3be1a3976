package cluster

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkKMedoids compares the search with eager exchanges with the steepest
// one, and with the price of all exchanges alone.
func BenchmarkKMedoids(b *testing.B) {
	const n, k = 400, 10
	c := plane(rand.New(rand.NewPCG(58, 1)), n, 0)
	b.Run("alg=FasterPAM/n=400/k=10", func(b *testing.B) {
		rng := rand.New(rand.NewPCG(58, 2))
		for b.Loop() {
			if _, err := FitFasterPAM(context.Background(), rng, c, MedoidsParams{M: k}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("alg=PAM/n=400/k=10", func(b *testing.B) {
		for b.Loop() {
			if _, err := FitPAM(context.Background(), c, MedoidsParams{M: k}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("alg=SwapCosts/n=400/k=10", func(b *testing.B) {
		set := rand.New(rand.NewPCG(58, 3)).Perm(n)[:k]
		for b.Loop() {
			if _, err := SwapCosts(c, set); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkRows measures the clusterings of 400 rows in 50 dimensions around four
// means.
func BenchmarkRows(b *testing.B) {
	x := groups(rand.New(rand.NewPCG(59, 1)), 400, 50, 4, 0.4)
	b.Run("alg=KMeans/n=400/dim=50", func(b *testing.B) {
		rng := rand.New(rand.NewPCG(59, 2))
		for b.Loop() {
			if _, err := FitKMeans(context.Background(), rng, x, KMeansParams{K: 4}); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, form := range forms {
		b.Run(fmt.Sprintf("alg=EM/covariance=%v/n=400/dim=50", form), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(59, 2))
			iterations := 0
			for b.Loop() {
				m, err := FitMixture(context.Background(), rng, x, MixtureParams{K: 4, Covariance: form})
				if err != nil {
					b.Fatal(err)
				}
				iterations += len(m.Trace())
			}
			b.ReportMetric(float64(iterations)/float64(b.N), "iterations")
		})
	}
}
