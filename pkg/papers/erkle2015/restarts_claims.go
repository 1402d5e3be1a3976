package erkle2015

import (
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"

	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/table"
)

// Margins, fixed before the first full run.
const (
	// anotherMinimum is by how much two objectives differ that are of different minima, in units of the objective at 0: ten times the
	// residual at which fits end, as in erkle2015/released.
	anotherMinimum = 0.01
	// passedOver is by how much another start is better than the one that was best.
	passedOver = 0.001
)

const restartNote = " Readings: 2, 10 or 50 coordinates."

var restartClaims = experiment.Claims([]experiment.Claim{
	{
		ID: "restarts-local", View: "restarts",
		Statement: "Ours, after Section 2: the local minima of the embedding-learning counterparts matter, so that starts end at different objectives.",
		Where:     section2 + ": \"non-convex optimization problems, which only guarantee convergence to a local minimum\", of which no run can be the opposite", Theirs: "no number",
		Predicate: "Of ten random starts fitted to all triplets, the largest objective minus the least, in units of that of all objects in one place, minus 0.01 (ten times the tolerance of the fits) is > 0, for GNMDS, STE and CKL on the synthetic points and on both sets of people's answers." + restartNote,
		Test: restartPositive(judge.Rule{Scale: 100, Unit: "% of the objective at 0"}, func(g *table.Table) []float64 {
			out := restartSpread(g.Where("from", fromAnew))
			floats.AddConst(-anotherMinimum, out)
			return out
		}),
	},
	{
		ID: "restarts-changes", View: "restarts-followed",
		Statement: "Which solution is best may change as feedback is received.",
		Where:     section2, Theirs: "no number",
		Predicate: "Ten starts are fitted to the first of four numbers of triplets, then each goes on from its own solution to the next. In each trial on each data set with each loss another start is best than at the number before at least once, by more than 0.001 of the objective of all objects in one place." + restartNote,
		Test: func(t *table.Table) judge.Test {
			return restartReadings(t, func(d string) judge.Test {
				var changes judge.Holds
				for _, g := range groups(t.Where("coordinates", d, "from", fromFollowed), "cell", "method", "trial") {
					former, least, zero := g.Values("former"), g.Values("objective"), g.Values("objective at 0")
					changed := false
					for i, f := range former {
						changed = changed || (f-least[i])/zero[i] > passedOver // false where there is no former
					}
					changes = append(changes, changed)
				}
				return changes
			})
		},
	},
	{
		ID: "restarts-online", View: "restarts-followed",
		Statement: "This strategy is poorly suited for the online setting: which solution is best may change.",
		Where:     section2, Theirs: "no number",
		Predicate: "After all triplets, the test error of the start that had the least objective after the first number of triplets minus that of the start with the least objective now, both followed, is > 0, for each loss on each data set." + restartNote,
		Test: restartPositive(points, func(g *table.Table) []float64 {
			g = atAll(g.Where("from", fromFollowed))
			return judge.Minus(firstErrors(g), testErrors(g))
		}),
	},
	{
		ID: "restarts-chosen", View: "restarts",
		Title:     "Ours: the best of ten starts by its objective has a smaller test error than one start.",
		Statement: "Ours: the best of ten starts by its objective, which is what is chosen among them, has a smaller test error than one start.",
		Where:     section2 + ", which describes the choice", Theirs: "not in the paper",
		Predicate: "With all triplets, the mean test error of ten starts minus that of the one with the least objective is > 0, for each loss on each data set." + restartNote,
		Test: restartPositive(points, func(g *table.Table) []float64 {
			g = g.Where("from", fromAnew)
			return judge.Minus(wrongShares(g, "mean wrong"), testErrors(g))
		}),
	},
	{
		ID: "restarts-kernel", View: "restarts",
		Title:     "Ours: the convex fit of a kernel generalises as well as the best of ten embeddings with the same loss.",
		Statement: "Ours: the fit of a kernel, convex with GNMDS and STE, generalises as well as the best of ten embeddings with the same loss and weight of the trace.",
		Where:     section2, Theirs: "not in the paper",
		Predicate: "With all triplets, the test error of the best start minus that of the fit of a kernel, plus 1 point, is > 0, for each loss on each data set." + restartNote,
		Test: func(t *table.Table) judge.Test {
			return restartRivals(t, func(data, method string) []float64 {
				return testErrors(atAll(t.Where("cell", data, "method", method, "from", fromKernel)))
			}, asWell)
		},
	},
	{
		ID: "restarts-erkle", View: "restarts",
		Statement: "Ours: PA-ERKLE with ten passes generalises better than the best of ten embeddings.",
		Where:     section2, Theirs: "not in the paper", Afterwards: "the errors of ERKLE and of the batch methods in Figs. 1 and 4",
		Predicate: "With all triplets, the test error of the best start minus that of PA-ERKLE with ten passes is > 0, for each loss on each data set." + restartNote,
		Test: func(t *table.Table) judge.Test {
			return restartRivals(t, func(data, _ string) []float64 {
				return testErrors(atAll(t.Where("cell", data, "method", paERKLETen)))
			}, 0)
		},
	},
})

// section2 is where the paper speaks of embeddings.
const section2 = "Section 2"

// atAll are the rows after all triplets.
func atAll(g *table.Table) *table.Table {
	return g.Where("triplets", strconv.Itoa(slices.Max(experiment.NotEmpty("numbers of triplets", countsIn(g, "triplets")))))
}

// wrongShares are shares of the test triplets, by row.
func wrongShares(g *table.Table, column string) []float64 {
	out := slices.Clone(g.Values(column))
	for i, of := range g.Values("test triplets") {
		out[i] /= of
	}
	return out
}

// restartReadings is a reading per number of coordinates in the table.
func restartReadings(t *table.Table, test func(d string) judge.Test) judge.Readings {
	var dims []string
	for _, d := range t.Unique("coordinates") {
		if d != "" {
			dims = append(dims, d)
		}
	}
	return judge.Each(experiment.NotEmpty("numbers of coordinates", dims), func(d string) (string, judge.Test) { return d + " coordinates", test(d) })
}

// restartPositive tests that a number per trial is positive with each loss on each data set.
func restartPositive(rule judge.Rule, of func(g *table.Table) []float64) func(t *table.Table) judge.Test {
	return func(t *table.Table) judge.Test {
		return restartReadings(t, func(d string) judge.Test {
			var units []judge.Unit
			for key, g := range groups(t.Where("coordinates", d), "cell", "method") {
				units = append(units, judge.Unit{Name: key[0] + ", " + key[1], Diffs: of(g)})
			}
			return judge.Positive{Units: units, Rule: rule}
		})
	}
}

// restartRivals tests that the best start has a larger test error than a rival, less a margin.
func restartRivals(t *table.Table, rival func(data, method string) []float64, margin float64) judge.Test {
	return restartReadings(t, func(d string) judge.Test {
		var units []judge.Unit
		for key, g := range groups(t.Where("coordinates", d, "from", fromAnew), "cell", "method") {
			units = append(units, judge.Unit{Name: key[0] + ", " + key[1], Diffs: excess(testErrors(g), rival(key[0], key[1]), margin)})
		}
		return judge.Positive{Units: units, Rule: points}
	})
}
