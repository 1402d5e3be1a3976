package experiment_test

import (
	"fmt"

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
