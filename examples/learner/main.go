// Learner runs an online learner of one's own: weights.go has the learner,
// weights_test.go shows it to the conformance suite, which tells what it lacks.
//
//	go run ./examples/learner && go test ./examples/learner
package main

import (
	"fmt"
	"log"
	"math/rand/v2"
	"slices"

	"metriclab/pkg/learners"
	"metriclab/pkg/metric"
)

func main() {
	learner, err := NewWeights(3)
	if err != nil {
		log.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var stream []metric.Pair // similar iff the first features are near; the others are noise
	for range 600 {
		x, y := []float64{4 * rng.Float64(), rng.NormFloat64(), rng.NormFloat64()}, []float64{4 * rng.Float64(), rng.NormFloat64(), rng.NormFloat64()}
		stream = append(stream, metric.Pair{X: x, Y: y, Label: metric.SameClass(max(x[0]-y[0], y[0]-x[0]) < 1)})
	}
	var mistakes [3]int // per 200 rounds
	round := 0
	for out, err := range learners.Run(learner, slices.Values(stream)) {
		if err != nil {
			log.Fatal(err)
		}
		if out.Mistake {
			mistakes[round/200]++
		}
		round++
	}
	fmt.Printf("mistakes in each 200 rounds: %d\nweights: %.2f\n", mistakes, learner.w)
}
