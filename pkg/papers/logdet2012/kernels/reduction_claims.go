package kernels

import (
	"math"
	"slices"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/papers/logdet2012/protocol"
	"metriclab/pkg/table"
)

// Margins of logdet2012/reduction, fixed before its first full run.
const (
	// "the same answer": objectives of fits that stop at a residual of 1e-6.
	sameObjective = 1e-4
	// A small J has a fifth of the columns that make the reduction exact.
	smallJ = 20
	// "as good": within 2 percentage points of the exact fit.
	sameReduced = 0.02
	// "pays": at least twice as fast.
	paysTimes = 2
)

var reductionClaims = experiment.Claims([]experiment.Claim{
	{
		ID: "reduction-exact", View: "reduction",
		Ours:      true,
		Statement: "Ours: with indicators of the constrained objects as J the answer is that without a reduction.",
		Where:     "ours, after Theorem 7", Theirs: "no number",
		Predicate: "In each trial, on each data set and for each φ: the objectives with J = indicators of all constrained points, with J = I and of FitKernel differ by at most 10⁻⁴ of the latter.",
		Test: frame.Always(func(trial *table.Table) bool {
			above := func(v float64) bool { return !(math.Abs(v) <= sameObjective) }
			return !slices.ContainsFunc(excess.Where("J", jConstrained, "columns", allColumns)(trial), above) && !slices.ContainsFunc(excess.Where("J", noReduction)(trial), above)
		}).On(withAll).Check("Theorem 7 gives the same problem for each of them.", 0),
	},
	{
		ID: "reduction-default", View: "reduction-time",
		Ours:      true,
		Statement: "Ours: leaving out the objects without pairs, as FitKernel does, pays.",
		Where:     "ours", Theirs: "no number",
		Predicate: "Per data set and φ: the base-2 logarithm of the CPU time with J = I minus that of FitKernel, minus 1, is > 0: at least twice as fast.",
		TestTimed: frame.TestTimed(reductionPhaseOf, perCell(frame.Positive, judge.Rule{Unit: "doublings"}, twice(reductionSeconds(noReduction, allColumns), reductionSeconds(fitKernel, allColumns)))),
	},
	{
		ID: "reduction-kmeans", View: "reduction",
		Ours:      true,
		Statement: "Ours: of as many columns, clusters make a better J than random numbers.",
		Where:     "ours", Theirs: "no number",
		Predicate: "With 20 columns, per data set and φ: the objective with random J minus that with k-means J, as a share of the exact one, is > 0.",
		Test: perCell(frame.Positive, judge.Rule{Scale: 100, Unit: "points", TestRatio: protocol.TestRatio}, ofSmall(func(k string) frame.Measure {
			return excess.Where("J", jRandom, "columns", k).Minus(excess.Where("J", jKMeans, "columns", k))
		})),
	},
	{
		ID: "reduction-pays", View: "reduction-time",
		Ours:      true,
		Statement: "Ours: a J that is not exact is worth it: as good a kernel in less than half the time.",
		Where:     "ours", Theirs: "no number",
		Predicate: "With 20 columns by k-means, per data set and φ: the whole corrected interval of the test error minus that of FitKernel lies within ±2 points; and the base-2 logarithm of the CPU time of FitKernel minus that of the reduced fit, minus 1, is > 0.",
		TestTimed: frame.TestTimed(reductionPhaseOf, frame.Parts([]string{"error", "time"},
			perCell(func(rule judge.Rule, u frame.Units) frame.Test { return frame.Equivalent(sameReduced, 0, rule, u) }, splits, ofSmall(func(k string) frame.Measure { return beyondExact(jKMeans, k) })),
			perCell(frame.Positive, judge.Rule{Unit: "doublings"}, ofSmall(func(k string) frame.Measure {
				return twice(reductionSeconds(fitKernel, allColumns), reductionSeconds(jKMeans, k))
			})))),
	},
})

// perCell is a test with a unit per data set and φ.
func perCell(test func(rule judge.Rule, u frame.Units) frame.Test, rule judge.Rule, m frame.Measure) frame.Test {
	return test(rule, frame.OverGroups(m, "cell")).On(withAll)
}

// ofSmall is a measure of the largest number of columns of k-means J up to smallJ.
func ofSmall(m func(k string) frame.Measure) frame.Measure {
	return func(rows *table.Table) []float64 {
		small := ""
		for _, k := range rows.Where("kind", "objective", "J", jKMeans).Unique("columns") {
			if frame.Parse("k", k) <= smallJ {
				small = k
			}
		}
		return m(small)(rows)
	}
}

// twice is log₂ of how many times faster than twice as fast b is than a, by trial.
func twice(a, b frame.Measure) frame.Measure {
	return a.Over(b).Map(func(times float64) float64 { return math.Log2(times / paysTimes) })
}
