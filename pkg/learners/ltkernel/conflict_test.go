package ltkernel

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"metriclab/pkg/learners"
)

// TestConflict: of many constraints, Conflict names those that contradict each other, and only those.
func TestConflict(t *testing.T) {
	k0 := gramOf(normal(8, 8, 1))
	fro, _ := Frobenius(0)
	tr, _ := Trace(0.1)
	harmless := []Constraint{AtMost(3, 4, 1), AtLeast(3, 5, 4), AtMost(5, 6, 2), Nearer(6, 7, 3, 0.1)}
	for name, wrong := range map[string][]Constraint{
		"triangle": {AtMost(0, 1, 1), AtMost(1, 2, 1), AtLeast(0, 2, 4.1)}, // √4.1 > 1 + 1
		"equation": {Exactly(0, 1, 1), AtLeast(0, 1, 2)},
		"cycle":    {Nearer(0, 1, 2, .1), Nearer(0, 2, 3, .1), Nearer(0, 3, 1, .1)},
		"trace":    {AtLeast(0, 1, 20), TraceAtMost(5)},
		"negative": {AtMost(0, 1, -1)},
	} {
		for _, phi := range []Divergence{LogDet(), VonNeumann(), fro, tr} {
			all := slices.Concat(harmless[:2], wrong, harmless[2:])
			p := Params{Divergence: phi}
			res, err := FitKernel(t.Context(), k0, all, p)
			if err != nil || res.Status != learners.Infeasible {
				t.Fatalf("%s, %s: %v, error %v", name, phi.Name(), res.Status, err)
			}
			got, weights, err := Conflict(t.Context(), k0, all, res.Certificate, p)
			var want []int
			for i := range wrong {
				want = append(want, 2+i)
			}
			if err != nil || !slices.Equal(got, want) || len(weights) != len(want) {
				t.Errorf("%s, %s: constraints %v with %v, error %v, want %v", name, phi.Name(), got, weights, err, want)
			}
			for i, w := range weights {
				if w == 0 || w < 0 && wrong[i].Sense != SenseExactly {
					t.Errorf("%s, %s: weight %v", name, phi.Name(), w)
				}
			}
			done, cancel := context.WithCancel(t.Context())
			cancel()
			if _, _, err := Conflict(done, k0, all, res.Certificate, p); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
		}
	}
}

// TestRankWithoutRoundOff: eigenvalues of round-off do not count.
func TestRankWithoutRoundOff(t *testing.T) {
	fro, _ := Frobenius(0)
	for n := 2; n < 8; n++ {
		k0 := gramOf(normal(n, n, uint64(n)))
		res, err := FitKernel(t.Context(), k0, []Constraint{Exactly(0, 1, 2), Exactly(0, 1, 2), TraceAtMost(1e6)}, Params{Divergence: fro})
		if err != nil || res.Rank != 1 {
			t.Errorf("n = %d: rank %d of λvvᵀ, error %v", n, res.Rank, err)
		}
	}
}

// TestInfeasibleOfLowRank: few directions and many constraints, whose contradiction no single step shows, end with a certificate and not with a cap.
func TestInfeasibleOfLowRank(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 15))
	const n = 15
	k0 := gramOf(normal(n, 4, 3))
	var cs []Constraint
	for range 60 {
		i, j := rng.IntN(n), rng.IntN(n)
		if i == j {
			continue
		}
		d := k0.At(i, i) - 2*k0.At(i, j) + k0.At(j, j)
		if i%2 == j%2 {
			cs = append(cs, AtMost(i, j, d*(0.5+rng.Float64())))
		} else {
			cs = append(cs, AtLeast(i, j, d*(0.8+rng.Float64())))
		}
	}
	for _, phi := range []Divergence{LogDet(), VonNeumann()} {
		res, err := FitKernel(t.Context(), k0, cs, Params{Divergence: phi})
		if err != nil || res.Status != learners.Infeasible || res.Iterations > 60 {
			t.Fatalf("%s: %v after %d steps, error %v", phi.Name(), res.Status, res.Iterations, err)
		}
	}
}
