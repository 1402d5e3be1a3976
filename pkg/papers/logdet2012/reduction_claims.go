package logdet2012

import (
	"math"

	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/table"
)

// Margins of logdet2012/reduction, fixed before its first full run.
const (
	// "the same answer": objectives of fits that stop at a residual of 1e-6.
	sameObjective = 1e-4
	// A small J has a fifth of the columns that make the reduction exact.
	smallJ = 20
	// "as good": within 2 points of the exact fit.
	sameReduced = 0.02
	// "pays": at least twice as fast.
	paysTimes = 2
)

var reductionClaims = experiment.Claims([]experiment.Claim{
	{
		ID: "reduction-exact", View: "reduction",
		Ours:      true,
		Statement: "Ours: with indicators of the constrained points as J the answer is that without a reduction.",
		Where:     "ours, after Theorem 7", Theirs: "no number",
		Predicate: "In each trial, on each data set and for each φ: the objectives with J = indicators of all constrained points, with J = I and of FitKernel differ by at most 10⁻⁴ of the latter.",
		Test: func(t *table.Table) judge.Test {
			var out judge.Holds
			for _, trial := range t.Unique("trial") {
				same := true
				for _, r := range reducedResults(t.Where("trial", trial)) {
					for _, e := range append(r.excess(jConstrained, allColumns), r.excess(noReduction, allColumns)...) {
						same = same && math.Abs(e) <= sameObjective
					}
				}
				out = append(out, same)
			}
			return out
		},
	},
	{
		ID: "reduction-default", View: "reduction-time",
		Ours:      true,
		Statement: "Ours: leaving out the objects without pairs, as FitKernel does, pays.",
		Where:     "ours", Theirs: "no number",
		Predicate: "Per data set and φ: the base-2 logarithm of the CPU time with J = I minus that of FitKernel, minus 1, is > 0: at least twice as fast.",
		TestTimed: func(t, times *table.Table) judge.Test {
			var units []judge.Unit
			for _, r := range reducedResults(t) {
				units = append(units, judge.Unit{Name: r.name, Diffs: doublings(r.seconds(times, noReduction, allColumns), r.seconds(times, fitKernel, allColumns))})
			}
			return judge.Positive{Units: units, Rule: judge.Rule{Unit: "doublings"}}
		},
	},
	{
		ID: "reduction-kmeans", View: "reduction",
		Ours:      true,
		Statement: "Ours: of as many columns, clusters make a better J than random numbers.",
		Where:     "ours", Theirs: "no number",
		Predicate: "With 20 columns, per data set and φ: the objective with random J minus that with k-means J, as a share of the exact one, is > 0.",
		Test: func(t *table.Table) judge.Test {
			var units []judge.Unit
			for _, r := range reducedResults(t) {
				k := r.small()
				units = append(units, judge.Paired(r.name, r.excess(jRandom, k), r.excess(jKMeans, k)))
			}
			return judge.Positive{Units: units, Rule: judge.Rule{Scale: 100, Unit: "points", TestRatio: testRatio}}
		},
	},
	{
		ID: "reduction-pays", View: "reduction-time",
		Ours:      true,
		Statement: "Ours: a J that is not exact is worth it: as good a kernel in less than half the time.",
		Where:     "ours", Theirs: "no number",
		Predicate: "With 20 columns by k-means, per data set and φ: the whole corrected interval of the test error minus that of FitKernel lies within ±2 points; and the base-2 logarithm of the CPU time of FitKernel minus that of the reduced fit, minus 1, is > 0.",
		TestTimed: func(t, times *table.Table) judge.Test {
			var same, fast []judge.Unit
			for _, r := range reducedResults(t) {
				k := r.small()
				same = append(same, judge.Paired(r.name, r.errors(jKMeans, k), r.errors(fitKernel, allColumns)))
				fast = append(fast, judge.Unit{Name: r.name, Diffs: doublings(r.seconds(times, fitKernel, allColumns), r.seconds(times, jKMeans, k))})
			}
			return judge.Both{
				{Name: "error", Test: judge.Equivalent{Units: same, Margin: sameReduced, Rule: splits}},
				{Name: "time", Test: judge.Positive{Units: fast, Rule: judge.Rule{Unit: "doublings"}}},
			}
		},
	},
})

// small is the largest number of columns of k-means J up to smallJ.
func (r reduced) small() string {
	out := ""
	for _, k := range r.ks(jKMeans) {
		if columnsIn(k) <= smallJ {
			out = k
		}
	}
	return out
}

// doublings is log₂ of how many times faster than twice as fast b is than a, by trial.
func doublings(a, b []float64) []float64 {
	judge.SameLength("times", a, b)
	out := make([]float64, len(a))
	for i := range a {
		out[i] = math.Log2(a[i] / b[i] / paysTimes)
	}
	return out
}
