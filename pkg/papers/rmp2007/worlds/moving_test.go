package worlds

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners/mapping"
	"metriclab/pkg/metric"
	"metriclab/pkg/papers/rmp2007/protocol"
)

// Objects stay in the square, and change their groups when their world says so.
func TestCrowd(t *testing.T) {
	for _, w := range movingWorlds {
		s := movingSettings{World: w, Objects: 40, M: 4, Rounds: 100}
		c := newCrowd(rand.New(rand.NewPCG(5, 6)), s)
		var changed []int
		for round := range s.Rounds {
			before := slices.Clone(c.group)
			for i, p := range c.at(round) {
				if slices.Min(p[:]) < 0 || slices.Max(p[:]) > 1 {
					t.Fatalf("%s: object %d of round %d at %v", w, i, round, p)
				}
			}
			if !slices.Equal(before, c.group) {
				changed = append(changed, round)
			}
		}
		want := map[string][]int{together: nil, regrouped: {50}, gradual: {10, 20, 30, 40, 50, 60, 70, 80, 90}}[w]
		for _, round := range changed {
			if !slices.Contains(want, round) {
				t.Errorf("%s: groups change in round %d, want %v", w, round, want)
			}
		}
		if len(want) > 0 && len(changed) < len(want)/2+1 { // few draws may give each object its own group again
			t.Errorf("%s: groups change in rounds %v only, want %v", w, changed, want)
		}
	}
}

func TestCrowdCosts(t *testing.T) {
	c := crowd{}
	at := [][2]float64{{0, 0}, {1, 1}, {1, 0}}
	dst := mat.NewDense(3, 3, []float64{9, 9, 9, 9, 9, 9, 9, 9, 9})
	if want := mat.NewDense(3, 3, []float64{0, 1, .5, 1, 0, .5, .5, .5, 0}); !mat.Equal(c.fill(dst, at, -1).Cost, want) {
		t.Errorf("costs %v", mat.Formatted(dst))
	}
	if want := mat.NewDense(3, 3, []float64{0, 0, 0, 1, 0, .5, 0, 0, 0}); !mat.Equal(c.fill(dst, at, 1).Cost, want) {
		t.Errorf("costs of object 1 alone %v", mat.Formatted(dst))
	}
}

// The weights of the copies are those of a fixed share, computed with plain products; they add up to 1, and follow the
// copy that loses less.
func TestSharerWeights(t *testing.T) {
	s := movingSettings{Objects: 3, M: 2, Rounds: 40, Steps: 3}
	h := newSharer(rand.New(rand.NewPCG(7, 8)), s, func(k int) (protocol.Learner, error) {
		return protocol.NewRMP(rand.NewPCG(9, uint64(k)), protocol.RMPPrinted, 3, 3, s.Rounds, mapping.RMPParams{M: s.M, ChainSteps: s.Steps, Sampler: mapping.SampleMetropolis})
	})
	var want []float64
	rng := rand.New(rand.NewPCG(10, 11))
	for round := range s.Rounds {
		cost := mat.NewDense(3, 3, nil)
		cost.Apply(func(_, _ int, _ float64) float64 { return rng.Float64() }, cost)
		f := metric.CostRound{Cost: cost}
		if round%(s.Rounds/movingParts) == 0 {
			n := float64(len(want) + 1)
			for k := range want {
				want[k] *= (n - 1) / n
			}
			want = append(want, 1/n)
		}
		losses := make([]float64, len(h.copies))
		for k, l := range h.copies {
			losses[k] = l.Loss(f)
		}
		paid, err := h.pay(round, f)
		if err != nil {
			t.Fatal(err)
		}
		if len(losses) < len(h.copies) { // a copy that started in this round: it paid once
			fresh, err := h.start(len(h.copies) - 1)
			if err != nil {
				t.Fatal(err)
			}
			losses = append(losses, fresh.Loss(f))
		}
		if !slices.Contains(losses, paid) {
			t.Fatalf("round %d: paid %v, which is the loss of no copy: %v", round, paid, losses)
		}
		sum := 0.0
		for k := range want {
			want[k] *= math.Exp(-h.rate * losses[k] / 3)
			sum += want[k]
		}
		for k := range want {
			want[k] = (1-h.alpha)*want[k]/sum + h.alpha/float64(len(want))
			if got := math.Exp(h.log[k]); math.Abs(got-want[k]) > 1e-12 { // round-off of some 40 rounds
				t.Fatalf("round %d: weight %d is %v, want %v", round, k, got, want[k])
			}
		}
	}
	if len(h.copies) != movingParts {
		t.Errorf("%d copies, want %d", len(h.copies), movingParts)
	}
}
