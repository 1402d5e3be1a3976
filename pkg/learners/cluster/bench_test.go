package cluster

import (
	"math/rand/v2"
	"testing"
)

// BenchmarkKMedoids compares the search with eager exchanges with the steepest one, and with the price of
// all exchanges alone.
func BenchmarkKMedoids(b *testing.B) {
	const n, k = 400, 10
	c := plane(rand.New(rand.NewPCG(58, 1)), n, 0)
	b.Run("alg=FasterPAM/n=400/k=10", func(b *testing.B) {
		rng := rand.New(rand.NewPCG(58, 2))
		for b.Loop() {
			if _, err := FitFasterPAM(c, MedoidsParams{M: k}, rng); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("alg=PAM/n=400/k=10", func(b *testing.B) {
		for b.Loop() {
			if _, err := FitPAM(c, MedoidsParams{M: k}); err != nil {
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
