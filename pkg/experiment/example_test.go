package experiment_test

import (
	"fmt"
	"math/rand/v2"

	"metriclab/pkg/experiment"
)

func ExampleGradeUnits() {
	// The error of the baseline minus that of the method, per problem and trial.
	units := []experiment.Unit{
		{Name: "0-8", Diffs: []float64{0.02, 0.03, 0.02, 0.03, 0.02, 0.03}},
		{Name: "4-9", Diffs: []float64{0.06, 0.05, 0.06, 0.05, 0.06, 0.05}},
	}
	f, err := experiment.GradeUnits(units, experiment.UnitRule{Scale: 100, Unit: "points"})
	fmt.Println(f.Verdict, err)
	fmt.Println(f.Ours)
	fmt.Println(f.Reason)
	// Output:
	// reproduced <nil>
	// mean difference 4 ± 0 points
	// Positive in 2 of 2 units: 2 for, 0 against, 0 open.
}

func ExampleSummarize() {
	s := experiment.Summarize([]float64{1, 2, 3, 4, 5, 6})
	fmt.Printf("%.2f ± %.2f over %d trials\n", s.Mean, s.Half, s.N)
	fmt.Println(experiment.Summarize([]float64{1, 2, 3}).Warnings)
	// Output:
	// 3.50 ± 1.96 over 6 trials
	// [fewer than 6 trials: no 95 % interval]
}

func ExampleSelect() {
	papers := []experiment.Paper{{Key: "pola2004", Experiments: []experiment.Spec{{ID: "pola2004/fig2"}, {ID: "pola2004/fig3"}}}}
	_, err := experiment.Select(papers, []string{"pola2004/fgi3"})
	fmt.Println(err)
	// Output:
	// unknown experiment "pola2004/fgi3": did you mean pola2004/fig3 or pola2004/fig2?
}

func ExampleSeed_Stream() {
	s := experiment.Seed{Base: 1, Experiment: "toy/lines", Dataset: "toy", Trial: 0}
	fmt.Println(s.Stream("pairs").Uint64() == s.Stream("pairs").Uint64())
	fmt.Println(s.Stream("pairs").Uint64() == s.Stream("noise").Uint64())
	// Output:
	// true
	// false
}

func ExampleFriedmanTest() {
	// Errors of three methods on six data sets.
	scores := [][]float64{{1.0, 1.4, 2.0}, {3.1, 3.0, 3.9}, {0.2, 0.4, 0.5}, {7, 8, 9}, {2.2, 2.3, 2.9}, {5, 6, 6}}
	f, err := experiment.FriedmanTest(rand.New(rand.NewPCG(1, 2)), scores)
	fmt.Println(err)
	fmt.Printf("mean ranks %.2f, statistic %.2f, p = %.3f\n", f.MeanRanks, f.Statistic, f.P)
	power := experiment.FriedmanPower(rand.New(rand.NewPCG(3, 4)), 6, 3, 0.7)
	fmt.Printf("a method that is best on 7 of 10 data sets would be noticed with probability %.2f\n", power)
	fmt.Printf("mean ranks differ if they are %.2f apart\n", experiment.NemenyiDifference(6, 3))
	// Output:
	// <nil>
	// mean ranks [1.17 1.92 2.92], statistic 9.65, p = 0.003
	// a method that is best on 7 of 10 data sets would be noticed with probability 0.22
	// mean ranks differ if they are 1.35 apart
}

func ExampleHolm() {
	fmt.Println(experiment.Holm([]float64{0.01, 0.04, 0.03}))
	// Output: [0.03 0.06 0.06]
}

func ExampleResampledP() {
	// Differences over random splits of the same data, with twice as much for training as for tests.
	diffs := []float64{0.02, 0.03, 0.01, 0.02, 0.04, 0.02}
	fmt.Printf("%.4f as splits, %.4f if they were independent\n", experiment.ResampledP(diffs, 0.5), experiment.ResampledP(diffs, 0))
	// Output: 0.0395 as splits, 0.0026 if they were independent
}
