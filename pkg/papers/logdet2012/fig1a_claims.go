package logdet2012

import (
	"fmt"

	"metriclab/pkg/experiment"
	"metriclab/pkg/table"
)

// Predicates and readings of Fig. 1(a), fixed before the first full run.
const (
	somewhatHigher  = "LogDet Linear and LogDet Gaussian algorithms obtain somewhat higher accuracy for most of the datasets."
	somewhatMeaning = "\"For most of the datasets\": per data set, the error of a rival minus that of %s is > 0, with two exceptions among the five. The rival is the best of Euclidean, Inv. Covariance, MCML and LMNN on that data set, by mean error on the test folds, " +
		"or the mean of the four. Readings: features as they are, which the figure's error axis suggests, and standardised; u and ℓ the 1st and 99th percentiles, and, features as they are, the same shares of the range."
)

var fig1aClaims = []experiment.Claim{
	{
		ID: "fig1a-linear", View: "fig1a",
		Statement: somewhatHigher + " (Here: LogDet Linear.)",
		Where:     "Section 6.1, Fig. 1(a)", Theirs: experiment.FigureOnly,
		Predicate: fmt.Sprintf(somewhatMeaning, logDetLinear),
		Grade:     func(t *table.Table) (experiment.Finding, error) { return gradeHigher(t, logDetLinear) },
	},
	{
		ID: "fig1a-gaussian", View: "fig1a",
		Statement: somewhatHigher + " (Here: LogDet Gaussian.)",
		Where:     "Section 6.1, Fig. 1(a)", Theirs: experiment.FigureOnly,
		Predicate: fmt.Sprintf(somewhatMeaning, logDetGaussian),
		Grade:     func(t *table.Table) (experiment.Finding, error) { return gradeHigher(t, logDetGaussian) },
	},
}

// exceptions is how many of n data sets "most" leaves out: all but the least majority.
func exceptions(n int) int { return (n - 1) / 2 }

// gradeHigher grades that a method has a lower error than its rivals on most data sets.
func gradeHigher(t *table.Table, method string) (experiment.Finding, error) {
	var out []experiment.Reading
	for _, rd := range allReadings {
		all := resultsOf(t, rd.features)
		if len(all) == 0 {
			return experiment.Finding{}, missingReading(rd)
		}
		for _, against := range []string{"best rival", "mean of the rivals"} {
			var units []experiment.Unit
			for _, r := range all {
				rival, name := r.meanOfRivals(), r.title()
				if against == "best rival" {
					best := r.bestRival()
					rival, name = r.errors(best, ""), name+" (against "+best+")"
				}
				units = append(units, experiment.Unit{Name: name, Diffs: minus(rival, r.errors(method, rd.bounds))})
			}
			f, err := experiment.GradeUnits(units, experiment.UnitRule{Exceptions: exceptions(len(units)), Scale: 100, Unit: "points", Sample: aFold, TestRatio: testRatio})
			if err != nil {
				return f, fmt.Errorf("%s, %s: %w", rd, against, err)
			}
			out = append(out, experiment.Reading{Name: rd.String() + ", " + against, Finding: f})
		}
	}
	return experiment.AllReadings(out), nil
}
