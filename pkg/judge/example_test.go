package judge_test

import (
	"fmt"
	"math/rand/v2"

	"metriclab/pkg/judge"
)

func ExamplePositive() {
	// The error of the baseline minus that of the method, per problem and trial.
	units := []judge.Unit{
		{Name: "0-8", Diffs: []float64{0.02, 0.03, 0.02, 0.03, 0.02, 0.03}},
		{Name: "4-9", Diffs: []float64{0.06, 0.05, 0.06, 0.05, 0.06, 0.05}},
	}
	f, err := judge.Judge(judge.Positive{Units: units, Rule: judge.Rule{Scale: 100, Unit: "points"}})
	fmt.Println(f.Verdict, err)
	fmt.Println(f.Ours)
	fmt.Println(f.Reason)
	// Output:
	// reproduced <nil>
	// mean difference 4 ± 0 points
	// Positive in 2 of 2 units: 2 for, 0 against, 0 open.
}

func ExampleSummarize() {
	s := judge.Summarize([]float64{1, 2, 3, 4, 5, 6})
	fmt.Printf("%.2f ± %.2f over %d trials\n", s.Mean, s.Half, s.N)
	fmt.Println(judge.Summarize([]float64{1, 2, 3}).Warnings)
	// Output:
	// 3.50 ± 1.96 over 6 trials
	// [fewer than 6 trials: no 95 % interval]
}

func ExampleFriedmanTest() {
	// Errors of three methods on six data sets.
	scores := [][]float64{{1.0, 1.4, 2.0}, {3.1, 3.0, 3.9}, {0.2, 0.4, 0.5}, {7, 8, 9}, {2.2, 2.3, 2.9}, {5, 6, 6}}
	f, err := judge.FriedmanTest(rand.New(rand.NewPCG(1, 2)), scores)
	fmt.Println(err)
	fmt.Printf("mean ranks %.2f, statistic %.2f, p = %.3f\n", f.MeanRanks, f.Statistic, f.P)
	power := judge.FriedmanPower(rand.New(rand.NewPCG(3, 4)), 6, 3, 0.7)
	fmt.Printf("a method that is best on 7 of 10 data sets would be noticed with probability %.2f\n", power)
	fmt.Printf("mean ranks differ if they are %.2f apart\n", judge.NemenyiDifference(6, 3))
	// Output:
	// <nil>
	// mean ranks [1.17 1.92 2.92], statistic 9.65, p = 0.003
	// a method that is best on 7 of 10 data sets would be noticed with probability 0.22
	// mean ranks differ if they are 1.35 apart
}

func ExampleHolm() {
	fmt.Println(judge.Holm([]float64{0.01, 0.04, 0.03}))
	// Output: [0.03 0.06 0.06]
}

func ExampleResampledP() {
	// Differences over random splits of the same data, with twice as much for training as for tests.
	diffs := []float64{0.02, 0.03, 0.01, 0.02, 0.04, 0.02}
	fmt.Printf("%.4f as splits, %.4f if they were independent\n", judge.ResampledP(diffs, 0.5), judge.ResampledP(diffs, 0))
	// Output: 0.0395 as splits, 0.0026 if they were independent
}

func ExampleEquivalent() {
	// The error of one method minus that of the other, on two data sets, over six trials.
	f, err := judge.Judge(judge.Equivalent{
		Units: []judge.Unit{
			{Name: "wine", Diffs: []float64{0.001, -0.002, 0.001, 0.002, -0.001, 0}},
			{Name: "soybean", Diffs: []float64{0.05, 0.06, 0.05, 0.06, 0.05, 0.06}},
		},
		Margin: 0.02, Share: 0.5, Rule: judge.Rule{Scale: 100, Unit: "points"},
	})
	fmt.Println(f.Verdict, err)
	fmt.Println(f.Reason)
	// Output:
	// reproduced <nil>
	// Within ±2 points in 1 of 2 units; different in 1, open in 0. Larger by more than that: soybean. By the margin: reproduced above 0.171 points.
}

func ExampleHolds() {
	f, err := judge.Judge(judge.Holds{true, true, true, true, true, false})
	fmt.Println(f.Verdict, err)
	fmt.Printf("%s; not in %v\n", f.Ours, f.Failing)
	// Output:
	// partly <nil>
	// holds in 5 of 6 trials; not in [5]
}

func ExampleNumber() {
	f, err := judge.Judge(judge.Number{Theirs: 2, Ours: []float64{2.1, 2.3, 2.2, 2.1, 2.3, 2.2}, Tolerance: 0.5})
	fmt.Println(f.Verdict, err)
	fmt.Println(f.Ours)
	fmt.Println(f.Reason)
	// Output:
	// reproduced <nil>
	// 2.2 ± 0.094
	// Differs by 0.2 from 2, allowed is 0.5.
}

func ExampleRatio() {
	// "Greatly reduces the error": by at least a quarter.
	f, err := judge.Judge(judge.Ratio{
		Over: []float64{0.10, 0.11, 0.09, 0.10, 0.11, 0.09}, Under: []float64{0.20, 0.21, 0.19, 0.20, 0.21, 0.19},
		Bound: 0.75, What: "mean error", Rule: judge.Rule{Scale: 100, Unit: "%"},
	})
	fmt.Println(f.Verdict, err)
	fmt.Println(f.Ours)
	// Output:
	// reproduced <nil>
	// 10.00 ± 0.94 % against 20.00 ± 0.94 %: ratio 0.50 ± 0.02, claimed at most 0.75
}

func ExampleReadings() {
	// The paper does not say which baseline it means: each is a reading, and the first, if none
	// was added afterwards, gives the verdict.
	diffs := map[string][]float64{
		"plain":     {0.02, 0.03, 0.02, 0.03, 0.02, 0.03},
		"validated": {-0.01, 0.01, -0.02, 0.02, -0.01, 0.01},
	}
	f, err := judge.Judge(judge.Under([]string{"plain", "validated"}, func(name string) judge.Test {
		return judge.Positive{Units: []judge.Unit{{Name: "digits", Diffs: diffs[name]}}}
	}))
	fmt.Println(f.Verdict, err)
	fmt.Println((judge.ReadingFinding{Finding: f}).Robustness())
	for _, r := range f.Readings {
		fmt.Printf("%s: %s\n", r.Name, r.Finding.Verdict)
	}
	// Output:
	// reproduced <nil>
	// 1 of 2 readings agree
	// plain: reproduced
	// validated: undecided
}

func ExampleBoth() {
	// "Faster, and no worse": faster holds, and no worse does not.
	f, err := judge.Judge(judge.Both{
		{Name: "time", Test: judge.Holds{true, true, true, true, true, true}},
		{Name: "error", Test: judge.Holds{false, false, true, false, false, false}},
	})
	fmt.Println(f.Verdict, err)
	// Output: partly <nil>
}

func ExampleStandIn() {
	f, err := judge.Judge(judge.StandIn{Where: "stand-in", Test: judge.Holds{true, true, true, true, true, true}})
	fmt.Println(f.Verdict, err)
	fmt.Println(f.Reason)
	// Output:
	// untestable <nil>
	// On the stand-in it would be "reproduced". It holds in every trial.
}

func ExampleFinding() {
	f, err := judge.Judge(judge.Positive{Units: []judge.Unit{
		{Name: "0-8", Diffs: []float64{0.02, 0.03, 0.02, 0.03, 0.02, 0.03}},
		{Name: "4-9", Diffs: []float64{0.06, -0.05, 0.06, -0.05, 0.06, -0.05}},
	}, Rule: judge.Rule{Scale: 100, Unit: "points"}})
	if err != nil {
		panic(err)
	}
	for _, u := range f.Units {
		fmt.Printf("%s: %.1f ± %.1f %s over %d trials: %s\n", u.Name, u.Mean, u.Half, f.Unit, u.N, u.Side)
	}
	// Output:
	// 0-8: 2.5 ± 0.6 points over 6 trials: for
	// 4-9: 0.5 ± 6.3 points over 6 trials: open
}

func ExampleSummarizeResampled() {
	// Errors on ten random halves of the same data: test and training parts are equally large.
	errors := []float64{0.21, 0.19, 0.20, 0.22, 0.18, 0.20, 0.21, 0.19, 0.20, 0.20}
	s, plain := judge.SummarizeResampled(errors, 1), judge.Summarize(errors)
	fmt.Printf("%s %%, as if independent %s %%\n", s.Percent(), plain.Percent())
	// Output: 20.00 ± 2.74 %, as if independent 20.00 ± 0.83 %
}

func ExamplePseudoValues() {
	// Mistakes of a filter in six parts of one news stream, and the documents in each.
	mistakes, documents := []float64{9, 7, 6, 6, 5, 5}, []float64{50, 50, 50, 50, 50, 50}
	values := judge.PseudoValues(6, func(keep func(int) bool) float64 {
		m, n := 0.0, 0.0
		for i := range mistakes {
			if keep(i) {
				m, n = m+mistakes[i], n+documents[i]
			}
		}
		return m / n
	})
	fmt.Println(judge.Summarize(values).Percent(), "%")
	// Output: 12.67 ± 3.16 %
}
