package logdet2012

import (
	"fmt"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/table"
)

// Predicates and readings of Fig. 1(a), fixed before the first full run.
const (
	somewhatHigher  = "LogDet Linear and LogDet Gaussian algorithms obtain somewhat higher accuracy for most of the datasets."
	somewhatMeaning = "\"For most of the datasets\": per data set, the error of a rival minus that of %s is > 0, with two exceptions among the five. The rival is the best of Euclidean, Inv. Covariance, MCML and LMNN on that data set, by mean error on the test folds, " +
		"or the mean of the four. Readings: features as they are, which the figure's error axis suggests, and standardised; u and ℓ the 1st and 99th percentiles, and, features as they are, the same shares of the range."
)

var fig1aClaims = experiment.Claims([]experiment.Claim{
	{
		ID: "fig1a-linear", View: "fig1a",
		Statement: somewhatHigher + " (Here: LogDet Linear.)",
		Where:     "Section 6.1, Fig. 1(a)", Theirs: experiment.FigureOnly,
		Predicate: fmt.Sprintf(somewhatMeaning, logDetLinear),
		Test:      frame.Readings(higher(logDetLinear)...),
	},
	{
		ID: "fig1a-gaussian", View: "fig1a",
		Statement: somewhatHigher + " (Here: LogDet Gaussian.)",
		Where:     "Section 6.1, Fig. 1(a)", Theirs: experiment.FigureOnly,
		Predicate: fmt.Sprintf(somewhatMeaning, logDetGaussian) + " Also, with the percentiles, σ² chosen on a wider grid on those data sets where most folds chose the end of ½, 1 and 2 medians.",
		Test:      frame.Readings(append(higher(logDetGaussian), widerReadings()...)...),
	},
})

// exceptions is how many of n data sets "most" leaves out: all but the least majority.
func exceptions(n int) int { return (n - 1) / 2 }

// higher are the readings of the statement that a method has a lower error than its rivals on most data sets.
func higher(method string) (out []frame.Reading) {
	for _, rd := range allReadings {
		out = append(out, rd.against(errorOf(method, "bounds", rd.bounds))...)
	}
	return out
}

// against are the comparisons of errors with the best rival and with the mean of all.
func (rd reading) against(ours frame.Measure) []frame.Reading {
	most := func(rival func(rows *table.Table) (note string, its frame.Measure)) frame.Test {
		return func(t *table.Table) judge.Test {
			var units []judge.Unit
			for database, g := range t.Where("features", rd.features).Group("database") {
				note, its := rival(g)
				units = append(units, judge.Unit{Name: titleOf(database) + note, Diffs: its.Minus(ours)(g)})
			}
			return judge.Positive{Units: units, Exceptions: exceptions(len(units)), Rule: points}
		}
	}
	return []frame.Reading{
		{Name: rd.String() + ", best rival", Test: most(func(rows *table.Table) (string, frame.Measure) {
			best := bestRival(rows)
			return " (against " + best + ")", errorOf(best)
		})},
		{Name: rd.String() + ", mean of the rivals", Test: most(func(*table.Table) (string, frame.Measure) { return "", meanOfRivals })},
	}
}
