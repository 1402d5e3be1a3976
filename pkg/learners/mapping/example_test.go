package mapping_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners/mapping"
	"metriclab/pkg/metric"
)

// Four objects, four prototypes, of which two may be used: 0 and 1 are alike, and so are 2 and 3.
func ExampleNewRMP() {
	l, err := mapping.NewRMP(rand.NewPCG(1, 0), 4, 4, mapping.RMPParams{M: 2, Eta: mapping.EtaPrinted, Rounds: 20})
	if err != nil {
		fmt.Println(err)
		return
	}
	f := metric.CostRound{Cost: mat.NewDense(4, 4, []float64{
		0, 0.1, 1, 1,
		0.1, 0, 1, 1,
		1, 1, 0, 0.1,
		1, 1, 0.1, 0,
	})}
	for range 20 {
		expected, _ := l.ExpectedLoss(f)
		o, err := l.Step(f)
		if err != nil {
			fmt.Println(err)
			return
		}
		if o.Loss > 1 {
			fmt.Printf("map %v costs %.1f, expected %.1f\n", o.Prediction, o.Loss, expected)
		}
	}
	expected, _ := l.ExpectedLoss(f)
	fmt.Printf("η = %.2f, now expected %.1f\n", l.Eta(), expected)
	// Output:
	// map [1 2 2 1] costs 2.1, expected 2.1
	// map [1 0 0 0] costs 2.2, expected 1.3
	// η = 1.29, now expected 0.2
}

// Follow-the-leader on the costs of two prototypes that take turns, against the better one of them.
func ExampleNewFTL() {
	l, err := mapping.NewFTL(1, 2, mapping.FTLParams{M: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	var loss float64
	total := []float64{0, 0}
	for t := range 101 {
		cost := []float64{0, 0.5}
		if t > 0 {
			cost = []float64{float64(t % 2), float64((t + 1) % 2)}
		}
		o, err := l.Step(metric.CostRound{Cost: mat.NewDense(1, 2, cost)})
		if err != nil {
			fmt.Println(err)
			return
		}
		loss += o.Loss
		total[0] += cost[0]
		total[1] += cost[1]
	}
	fmt.Println("lost", loss, "of 101, the better prototype", min(total[0], total[1]))
	// Output:
	// lost 100 of 101, the better prototype 50
}

// A learner goes on where it was saved.
func ExampleLoadRMP() {
	l, err := mapping.NewRMP(rand.NewPCG(1, 0), 2, 3, mapping.RMPParams{})
	if err != nil {
		fmt.Println(err)
		return
	}
	f := metric.CostRound{Cost: mat.NewDense(2, 3, []float64{0, 0.5, 1, 1, 0.5, 0})}
	if _, err := l.Step(f); err != nil {
		fmt.Println(err)
		return
	}
	var file bytes.Buffer
	if err := l.Save(&file); err != nil {
		fmt.Println(err)
		return
	}
	again, err := mapping.LoadRMP(&file)
	if err != nil {
		fmt.Println(err)
		return
	}
	a, _ := l.Step(f)
	b, _ := again.Step(f)
	fmt.Println(fmt.Sprint(a) == fmt.Sprint(b), again.Params().Sampler)
	// Output: true enumerate
}

// The law itself: the sets of the next round with their probabilities.
func ExampleRMP_Sets() {
	l, err := mapping.NewRMP(rand.NewPCG(1, 0), 2, 3, mapping.RMPParams{Eta: mapping.EtaFixed, Rate: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := l.Step(metric.CostRound{Cost: mat.NewDense(2, 3, []float64{0, 1, 1, 1, 1, 0})}); err != nil {
		fmt.Println(err)
		return
	}
	for set, p := range l.Sets() {
		fmt.Printf("%v %.3f\n", set, p)
	}
	// Output:
	// [0 1] 0.259
	// [0 2] 0.482
	// [1 2] 0.259
}

// At the sizes of the paper's Fig. 1 (A = B = 400, m = 4, T = 50) the bounds exceed the largest regret there can be,
// A·T = 20000.
func ExampleRegretBound() {
	const a, b, m, rounds = 400, 400, 4, 50
	printed, corrected := mapping.PrintedEta(a, b, m, rounds), mapping.CorrectedEta(a, b, m, rounds)
	fmt.Printf("η printed %.2f, corrected %.4f\n", printed, corrected)
	fmt.Printf("bound on the expected regret: printed %.0f, corrected %.0f, with the printed η %.0f\n",
		mapping.PrintedRegretBound(a, b, m, rounds, 1), mapping.RegretBound(a, b, m, rounds, 1), mapping.ExpectedRegretBound(a, b, m, rounds, printed))
	fmt.Printf("it would be 10 %% of the largest after %.0f rounds\n", 0.5*mapping.LogMaps(a, b, m)/math.Pow(0.1, 2))
	// Output:
	// η printed 9.57, corrected 0.0240
	// bound on the expected regret: printed 47872, corrected 47970, with the printed η 9574513
	// it would be 10 % of the largest after 28765 rounds
}
