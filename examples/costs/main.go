// Costs assigns districts to depots, of which at most two may be open on a day.
// What a day costs is known in the evening. Follow-the-leader and Randomized Map
// Prediction (RMP), at two rates, are compared with the best fixed plan.
//
//	go run ./examples/costs
package main

import (
	"fmt"
	"log"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners"
	"metriclab/pkg/learners/mapping"
	"metriclab/pkg/metric"
)

const (
	districts, depots, open = 10, 5, 2
	days                    = 400
)

// must is for programs of one page; elsewhere, return the error.
func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

func main() {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, world := range []struct {
		name string
		cost func(day, i, j int) float64 // from 0 to 1
	}{
		{"roads with noise", func(_, i, j int) float64 {
			far := math.Abs(float64(i)/(districts-1) - float64(j)/(depots-1))
			return min(1, max(0, far+0.2*rng.NormFloat64()))
		}},
		{"strikes in turn, where yesterday looked best", func(day, _, j int) float64 {
			cost := float64((day + j) % 2)
			if day == 0 {
				cost /= 2
			}
			return cost
		}},
	} {
		var rounds []metric.CostRound
		for day := range days {
			cost := mat.NewDense(districts, depots, nil)
			cost.Apply(func(i, j int, _ float64) float64 { return world.cost(day, i, j) }, cost)
			rounds = append(rounds, metric.CostRound{Cost: cost})
		}
		leader := must(mapping.NewFTL(districts, depots, mapping.FTLParams{M: open}))
		bold := must(mapping.NewRMP(rand.NewPCG(3, 4), districts, depots, mapping.RMPParams{M: open}))
		wary := must(mapping.NewRMP(rand.NewPCG(3, 4), districts, depots, mapping.RMPParams{M: open, Eta: mapping.EtaAnytime}))
		lost := []any{play(leader, rounds), play(bold, rounds), play(wary, rounds)}

		// After all days the leader is the plan that would have cost least: here all sets are tried.
		best := 0.0
		for _, r := range rounds {
			best += leader.Loss(r)
		}
		fmt.Printf("%s: cost of %d days\n  best plan     %4.0f (open: %v)\n", world.name, days, best, leader.Set())
		fmt.Printf("  leader        %4.0f\n  RMP           %4.0f\n  RMP, anytime  %4.0f\n", lost...)
	}
}

// play plays the rounds and returns what the learner lost.
func play(l learners.Online[metric.CostRound, []int], rounds []metric.CostRound) (lost float64) {
	for _, r := range rounds {
		lost += must(l.Step(r)).Loss
	}
	return lost
}
