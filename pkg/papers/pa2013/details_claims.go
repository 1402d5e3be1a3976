package pa2013

import (
	"fmt"

	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/table"
)

// strongly is what "strongly depends" and "deviate significantly" mean: 2 points.
const strongly = 0.02

var detailsClaims = experiment.Claims([]experiment.Claim{
	{
		ID: "start-matters", View: "start",
		Statement: "The performance of the different online learning algorithms strongly depends on the initial model given by M and b.",
		Where:     "Section 2.4", Theirs: "no number",
		Predicate: "Of nine initial models, with C and k chosen for each, the test error of the one with the largest mean validation error minus that of the one with the least is > 2 points. On the whole: per method, mean over wine, ionosphere, balance and soybean, worst and best found on that mean. Everywhere: per database and method.",
		Test: func(t *table.Table) judge.Test {
			all := resultsOf(t)
			var whole []judge.Unit
			for _, m := range onlineNames {
				whole = append(whole, judge.Unit{Name: shown.Replace(m), Diffs: worstStart(all, m)})
			}
			return judge.Readings{
				{Name: "on the whole", Test: judge.Positive{Units: whole, Rule: classesRule(all)}},
				{Name: "everywhere", Test: judge.Positive{Rule: classesRule(all), Units: unitsOf(all, onlineNames, func(r results, m string) []float64 { return worstStart([]results{r}, m) })}},
			}
		},
	},
	{
		ID: "last-pairs", View: "order",
		Statement: "The performance of the final solution may deviate significantly depending of the particular instances used in the last iterations.",
		Where:     "Section 1", Theirs: "no number",
		Predicate: "Among ten orders of the last tenth of the steps, the largest test error minus the least is > 2 points: per method, mean over wine, ionosphere, balance and soybean. Everywhere: per database and method.",
		Test: func(t *table.Table) judge.Test {
			all := resultsOf(t)
			beyond := func(r results, m string) []float64 {
				e := r.detail(kindOrder, m, orderTail, "range")
				return difference(e, make([]float64, len(e)), -strongly)
			}
			var whole []judge.Unit
			for _, m := range onlineNames {
				whole = append(whole, judge.Unit{Name: shown.Replace(m), Diffs: meanOf(unitsOf(all, []string{m}, beyond))})
			}
			return judge.Readings{
				{Name: "on the whole", Test: judge.Positive{Units: whole, Rule: classesRule(all)}},
				{Name: "everywhere", Test: judge.Positive{Rule: classesRule(all), Units: unitsOf(all, onlineNames, beyond)}},
			}
		},
	},
	{
		ID: "relaxed", View: "projection",
		Title:     "The PSD constraint can be relaxed: negative models for a fixed number of steps after enforcing positiveness.",
		Statement: "It is possible to relax the PSD constraint by allowing negative models during a fixed amount of learning steps after enforcing positiveness.",
		Where:     "Section 2.4", Theirs: "no number",
		Predicate: "Per rule and number of updates between projections (3 to 300), the test error is less than that of projecting at each step plus 2 points, mean over wine, ionosphere, balance and soybean.",
		Test: func(t *table.Table) judge.Test {
			all := resultsOf(t)
			var units []judge.Unit
			for _, v := range rules {
				for _, q := range everyUpdates {
					if q <= 1 {
						continue
					}
					units = append(units, judge.Unit{Name: v.name + ", " + everyName(q), Diffs: meanOf(unitsOf(all, undivided, func(r results, _ string) []float64 {
						return difference(r.detail(kindProjection, v.name, everyName(1), "error"), r.detail(kindProjection, v.name, everyName(q), "error"), equivalent)
					}))})
				}
			}
			return judge.Positive{Units: units, Rule: classesRule(all)}
		},
	},
	{
		ID: "criterion", View: "stop",
		Ours:      true,
		Title:     "Ours: a convergence criterion ends the steps before 20 % of the pairs at no cost in error.",
		Statement: "Ours: a convergence criterion ends the steps before 20 % of the pairs at no cost in error (the paper has such criteria under study).",
		Where:     "Section 4", Theirs: "no number",
		Predicate: fmt.Sprintf("Per method, mean over wine, ionosphere, balance and soybean: steps taken < T; and the test error is less than that after T plus 1 point. Both must hold. Two criteria, of the losses and of the step sizes: no mean of %d steps is less than the least so far by %g %%, %d times in a row; at most 40 %% of the pairs.",
			stopping.Window, 100*stopping.Fall, stopping.Patience),
		Test: func(t *table.Table) judge.Test {
			all := resultsOf(t)
			at20 := table.Format(mainSettings.Part)
			return judge.Each([]string{byLoss, byStep}, func(criterion string) (string, judge.Test) {
				over := func(diffs func(r results, m string) []float64) (units []judge.Unit) {
					for _, m := range onlineNames {
						units = append(units, judge.Unit{Name: shown.Replace(m), Diffs: meanOf(unitsOf(all, []string{m}, diffs))})
					}
					return units
				}
				steps := classesRule(all)
				steps.Unit = "% of T"
				return criterion, judge.Both{
					{Name: "steps", Test: judge.Positive{Rule: steps, Units: over(func(r results, m string) []float64 {
						taken := r.detail(kindStop, m, criterion, "steps")
						return difference(make([]float64, len(taken)), taken, 1)
					})}},
					{Name: "error", Test: judge.Positive{Rule: classesRule(all), Units: over(func(r results, m string) []float64 {
						return difference(r.detail(kindStop, m, at20, "error"), r.detail(kindStop, m, criterion, "error"), littleGain)
					})}},
				}
			})
		},
	},
})

// detail returns a value of each trial.
func (r results) detail(kind, method, at, value string) []float64 {
	return r.column(kind, method, at, value)
}

// worstStart returns, by trial, the mean test error over databases of the start that validates
// worst minus that of the one that validates best, less the margin.
func worstStart(all []results, method string) []float64 {
	of := func(s start, value string) []float64 {
		return meanOf(unitsOf(all, undivided, func(r results, _ string) []float64 { return r.detail(kindStart, method, s.String(), value) }))
	}
	worst, best := starts[0], starts[0]
	mean := func(s start) float64 { return stat.Mean(of(s, "validation"), nil) }
	for _, s := range starts[1:] {
		if mean(s) > mean(worst) {
			worst = s
		}
		if mean(s) < mean(best) {
			best = s
		}
	}
	return difference(of(worst, "error"), of(best, "error"), -strongly)
}
