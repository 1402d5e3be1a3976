package pa2013

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/table"
)

// strongly is what "strongly depends" and "deviate significantly" mean: 2 percentage points.
const strongly = 0.02

var detailsClaims = experiment.Claims([]experiment.Claim{
	{
		ID: "start-matters", View: "start",
		Statement: "The performance of the different online learning algorithms strongly depends on the initial model given by M and b.",
		Where:     "Section 2.4", Theirs: "no number",
		Predicate: "Of nine initial models, with C and k chosen for each, the test error of the one with the largest mean validation error minus that of the one with the least is > 2 points. On the whole: per method, mean over wine, ionosphere, balance and soybean, worst and best found on that mean. Everywhere: per database and method.",
		Test:      onTheWhole(bySplits, onlineNames, worstStart),
	},
	{
		ID: "last-pairs", View: "order",
		Statement: "The performance of the final solution may deviate significantly depending of the particular instances used in the last iterations.",
		Where:     "Section 1", Theirs: "no number",
		Predicate: "Among ten orders of the last tenth of the steps, the largest test error minus the least is > 2 points: per method, mean over wine, ionosphere, balance and soybean. Everywhere: per database and method.",
		Test: onTheWhole(bySplits, onlineNames, func(m string) frame.Measure {
			return column(kindOrder, m, orderTail, "range").MeanOver("cell").Plus(-strongly)
		}),
	},
	{
		ID: "relaxed", View: "projection",
		Title:     "The PSD constraint can be relaxed: negative models for a fixed number of steps after enforcing positiveness.",
		Statement: "It is possible to relax the PSD constraint by allowing negative models during a fixed amount of learning steps after enforcing positiveness.",
		Where:     "Section 2.4", Theirs: "no number",
		Predicate: "Per rule and number of updates between projections (3 to 300), the test error is less than that of projecting at each step plus 2 points, mean over wine, ionosphere, balance and soybean.",
		Test: positive(bySplits, frame.Over(slices.DeleteFunc(slices.Clone(relaxed), func(x relaxation) bool { return x.q == 0 }), func(x relaxation) (string, frame.Measure) {
			at := func(q int) frame.Measure { return column(kindProjection, x.rule.name, everyName(q), "error") }
			return x.rule.name + ", " + everyName(x.q), at(1).Minus(at(x.q)).Plus(equivalent).MeanOver("cell")
		})),
	},
	{
		ID: "criterion", View: "stop",
		Ours:      true,
		Title:     "Ours: a convergence criterion ends the steps before 20 % of the pairs at no cost in error.",
		Statement: "Ours: a convergence criterion ends the steps before 20 % of the pairs at no cost in error (the paper has such criteria under study).",
		Where:     "Section 4", Theirs: "no number",
		Predicate: fmt.Sprintf("Per method, mean over wine, ionosphere, balance and soybean: steps taken < T; and the test error is less than that after T plus 1 point. Both must hold. Two criteria, of the losses and of the step sizes: no mean of %d steps is less than the least so far by %g %%, %d times in a row; at most 40 %% of the pairs.",
			stopping.Window, 100*stopping.Fall, stopping.Patience),
		Test: frame.UnderNames([]string{byLoss, byStep}, func(criterion string) frame.Test {
			return frame.Parts([]string{"steps", "error"},
				positive(ofSteps, whole(onlineNames, func(m string) frame.Measure {
					return column(kindStop, m, criterion, "steps").Times(-1).Plus(1).MeanOver("cell")
				})),
				positive(bySplits, whole(onlineNames, func(m string) frame.Measure {
					return column(kindStop, m, table.Format(mainSettings.Part), "error").Minus(column(kindStop, m, criterion, "error")).Plus(littleGain).MeanOver("cell")
				})))
		}),
	},
})

// worstStart is, by trial, the mean test error over databases of the start that validates
// worst minus that of the one that validates best, less the margin.
func worstStart(method string) frame.Measure {
	of := func(s start, value string) frame.Measure {
		return column(kindStart, method, s.String(), value).MeanOver("cell")
	}
	return func(t *table.Table) []float64 {
		worst, best := starts[0], starts[0]
		mean := func(s start) float64 { return stat.Mean(of(s, "validation")(t), nil) }
		for _, s := range starts[1:] {
			if mean(s) > mean(worst) {
				worst = s
			}
			if mean(s) < mean(best) {
				best = s
			}
		}
		return of(worst, "error").Minus(of(best, "error")).Plus(-strongly)(t)
	}
}
