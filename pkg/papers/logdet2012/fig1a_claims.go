package logdet2012

import (
	"fmt"
	"slices"

	"metriclab/pkg/experiment"
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
		Test:      func(t *table.Table) judge.Test { return higher(t, logDetLinear) },
	},
	{
		ID: "fig1a-gaussian", View: "fig1a",
		Statement: somewhatHigher + " (Here: LogDet Gaussian.)",
		Where:     "Section 6.1, Fig. 1(a)", Theirs: experiment.FigureOnly,
		Predicate: fmt.Sprintf(somewhatMeaning, logDetGaussian) + " Also, with the percentiles, σ² chosen on a wider grid on those data sets where most folds chose the end of ½, 1 and 2 medians.",
		Test: func(t *table.Table) judge.Test {
			return slices.Concat(higher(t, logDetGaussian), widerReadings(t))
		},
	},
})

// exceptions is how many of n data sets "most" leaves out: all but the least majority.
func exceptions(n int) int { return (n - 1) / 2 }

// higher is the test that a method has a lower error than its rivals on most data sets.
func higher(t *table.Table, method string) judge.Readings {
	var out judge.Readings
	for _, rd := range allReadings {
		out = append(out, readingsAgainst(t, rd, func(results) string { return method })...)
	}
	return out
}

// readingsAgainst are the comparisons of a method, which may differ by data set, with the best
// rival and with the mean of all.
func readingsAgainst(t *table.Table, rd reading, method func(results) string) judge.Readings {
	all := resultsOf(t, rd.features)
	if len(all) == 0 {
		judge.Refuse("logdet2012: there are no results with %s", rd)
	}
	var best, mean []judge.Unit
	for _, r := range all {
		rival, ours := r.bestRival(), r.errors(method(r), rd.bounds)
		best = append(best, judge.Paired(r.name+" (against "+rival+")", r.errors(rival, ""), ours))
		mean = append(mean, judge.Paired(r.name, r.meanOfRivals(), ours))
	}
	return judge.Readings{
		{Name: rd.String() + ", best rival", Test: judge.Positive{Units: best, Exceptions: exceptions(len(best)), Rule: points}},
		{Name: rd.String() + ", mean of the rivals", Test: judge.Positive{Units: mean, Exceptions: exceptions(len(mean)), Rule: points}},
	}
}
