package batch

import (
	"slices"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/papers/erkle2015/learning"
	"metriclab/pkg/papers/erkle2015/protocol"
	"metriclab/pkg/papers/erkle2015/variants"
	"metriclab/pkg/table"
)

const restartNote = " Readings: 2, 10 or 50 coordinates."

var restartClaims = experiment.Claims([]experiment.Claim{
	{
		ID: "restarts-local", View: "restarts",
		Ours:      true,
		Statement: "Ours, after Section 2: the local minima of the embedding-learning counterparts matter, so that starts end at different objectives.",
		Where:     section2 + ": \"non-convex optimization problems, which only guarantee convergence to a local minimum\", of which no run can be the opposite", Theirs: "no number",
		Predicate: "Of ten random starts fitted to all triplets, the largest objective minus the least, in units of that of all objects in one place, minus 0.01 (ten times the tolerance of the fits) is > 0, for GNMDS, STE and CKL on the synthetic points and on both sets of people's answers." + restartNote,
		Test: restartPositive(judge.Rule{Scale: 100, Unit: "% of the objective at 0"}, func(d, b string) frame.Measure {
			return starts(b, d, fromAnew, restartSpread).Plus(-anotherMinimum)
		}),
	},
	{
		ID: "restarts-changes", View: "restarts-followed",
		Statement: "Which solution is best may change as feedback is received.",
		Where:     section2, Theirs: "no number",
		Predicate: "Ten starts are fitted to the first of four numbers of triplets, then each goes on from its own solution to the next. In each trial on each data set with each loss another start is best than at the number before at least once, by more than 0.001 of the objective of all objects in one place." + restartNote,
		Test: byCoordinates(func(d string) frame.Test {
			return func(t *table.Table) judge.Test {
				var changes judge.Holds
				for _, g := range t.Where("coordinates", d, "from", fromFollowed).Groups("cell", "method", "trial") {
					changes = append(changes, slices.ContainsFunc(aboveBest(g), func(above float64) bool { return above > passedOver })) // false where there is no former
				}
				return changes
			}
		}),
	},
	{
		ID: "restarts-online", View: "restarts-followed",
		Statement: "This strategy is poorly suited for the online setting: which solution is best may change.",
		Where:     section2, Theirs: "no number",
		Predicate: "After all triplets, the test error of the start that had the least objective after the first number of triplets minus that of the start with the least objective now, both followed, is > 0, for each loss on each data set." + restartNote,
		Test: restartPositive(protocol.Points, func(d, b string) frame.Measure {
			return starts(b, d, fromFollowed, firstErrors.Minus(protocol.TestErrors).On(variants.AfterAll))
		}),
	},
	{
		ID: "restarts-chosen", View: "restarts",
		Ours:      true,
		Title:     "Ours: the best of ten starts by its objective has a smaller test error than one start.",
		Statement: "Ours: the best of ten starts by its objective, which is what is chosen among them, has a smaller test error than one start.",
		Where:     section2 + ", which describes the choice", Theirs: "not in the paper",
		Predicate: "With all triplets, the mean test error of ten starts minus that of the one with the least objective is > 0, for each loss on each data set." + restartNote,
		Test: restartPositive(protocol.Points, func(d, b string) frame.Measure {
			return starts(b, d, fromAnew, wrongShare("mean wrong").Minus(protocol.TestErrors))
		}),
	},
	{
		ID: "restarts-kernel", View: "restarts",
		Ours:      true,
		Title:     "Ours: the convex fit of a kernel generalises as well as the best of ten embeddings with the same loss.",
		Statement: "Ours: the fit of a kernel, convex with GNMDS and STE, generalises as well as the best of ten embeddings with the same loss and weight of the trace.",
		Where:     section2, Theirs: "not in the paper",
		Predicate: "With all triplets, the test error of the best start minus that of the fit of a kernel, plus 1 point, is > 0, for each loss on each data set." + restartNote,
		Test: restartPositive(protocol.Points, func(d, b string) frame.Measure {
			return starts(b, d, fromAnew, protocol.TestErrors).Minus(starts(b, "", fromKernel, protocol.TestErrors.On(variants.AfterAll))).Plus(asWell)
		}),
	},
	{
		ID: "restarts-erkle", View: "restarts",
		Ours:      true,
		Statement: "Ours: PA-ERKLE with ten passes generalises better than the best of ten embeddings.",
		Where:     section2, Theirs: "not in the paper", Afterwards: "the errors of ERKLE and of the batch methods in Figs. 1 and 4",
		Predicate: "With all triplets, the test error of the best start minus that of PA-ERKLE with ten passes is > 0, for each loss on each data set." + restartNote,
		Test: restartPositive(protocol.Points, func(d, b string) frame.Measure {
			return starts(b, d, fromAnew, protocol.TestErrors).Minus(starts(protocol.PAERKLETen, "", fromOnline, protocol.TestErrors.On(variants.AfterAll)))
		}),
	},
})

// section2 is where the paper speaks of embeddings.
const section2 = "Section 2"

// starts is a measure of a method's rows with a number of coordinates, by where its fits began.
func starts(method, d, from string, m frame.Measure) frame.Measure {
	return m.Where("method", method, "coordinates", d, "from", from)
}

// byCoordinates tests with each number of coordinates in the table.
func byCoordinates(test func(d string) frame.Test) frame.Test {
	return func(t *table.Table) judge.Test {
		dims := slices.DeleteFunc(t.Unique("coordinates"), func(d string) bool { return d == "" })
		return frame.Under(experiment.NotEmpty("numbers of coordinates", dims), func(d string) (string, frame.Test) { return d + " coordinates", test(d) })(t)
	}
}

// restartPositive tests that a number per trial is positive with each loss on each data set.
func restartPositive(rule judge.Rule, of func(d, method string) frame.Measure) frame.Test {
	return byCoordinates(func(d string) frame.Test {
		return frame.Positive(rule, frame.Over(protocol.Pairs(restartData, learning.BatchNames), func(p [2]string) (string, frame.Measure) {
			return p[0] + ", " + p[1], of(d, p[1]).Where("cell", p[0])
		}))
	})
}
