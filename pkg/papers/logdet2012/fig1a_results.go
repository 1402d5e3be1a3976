package logdet2012

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/datasets"
	"metriclab/pkg/experiment"
	"metriclab/pkg/learners/pairs"
	"metriclab/pkg/table"
)

// The two rules of bounds, as the table has them.
var (
	percentiles = pairs.Percentiles.String()
	bins        = pairs.Bins.String()
)

// reading is a way to read the protocol: the scaling of features and the rule of bounds.
type reading struct{ features, bounds string }

// String names the reading for a reader.
func (r reading) String() string {
	name := "features " + describe[r.features]
	if r.bounds == bins {
		name += ", bounds by bins"
	}
	return name
}

// asPublished is the reading nearest to the paper's words, allReadings are those there are.
var (
	asPublished = reading{datasets.AsIs.String(), percentiles}
	byBins      = reading{datasets.AsIs.String(), bins}
	allReadings = []reading{asPublished, {datasets.ZScore.String(), percentiles}, byBins}
)

// results are the rows of one data set under one scaling.
type results struct {
	database, features string
	t                  *table.Table
}

// resultsOf returns the data sets that a table has under a scaling, in the order of the
// table.
func resultsOf(t *table.Table, features string) []results {
	var out []results
	for name, g := range t.Where("features", features).Group("database") {
		out = append(out, results{name, features, g})
	}
	return out
}

// bounded reports whether a method uses u and ℓ.
func bounded(method string) bool { return !slices.Contains(rivals, method) }

// of returns the rows of a kind and a method under a rule of bounds.
func (r results) of(kind, method, bounds string) *table.Table {
	if !bounded(method) {
		bounds = ""
	}
	return r.t.Where("kind", kind, "method", method, "bounds", bounds)
}

// errors are the shares of test rows classified wrongly, by trial and fold.
func (r results) errors(method, bounds string) []float64 {
	return shares(r.of("wrong", method, bounds))
}

// shares divides the values of a table by what they are of.
func shares(t *table.Table) []float64 {
	return floats.DivTo(make([]float64, t.Len()), t.Values("value"), t.Values("of"))
}

// minus is a − b by trial and fold, which must be the same.
func minus(a, b []float64) []float64 {
	experiment.SameLength("folds of two methods", a, b)
	return floats.SubTo(make([]float64, len(a)), a, b)
}

// summary is the mean over all folds of all trials with the interval corrected for overlapping
// training sets, as Bouckaert and Frank (2004) do for repeated cross-validation. The means of
// trials would not do: each is over all rows, so that they hardly differ.
func summary(values []float64) experiment.Summary {
	return experiment.SummarizeResampled(values, testRatio)
}

// aFold is what the values of a claim's units are one of.
const aFold = "fold"

// bestRival is the rival of the least mean error.
func (r results) bestRival() string {
	return slices.MinFunc(rivals, func(a, b string) int {
		x, y := stat.Mean(r.errors(a, ""), nil), stat.Mean(r.errors(b, ""), nil)
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
}

// meanOfRivals is the mean error of the rivals, by trial and fold.
func (r results) meanOfRivals() []float64 {
	var out []float64
	for _, m := range rivals {
		e := r.errors(m, "")
		if out == nil {
			out = make([]float64, len(e))
		}
		experiment.SameLength(r.title()+": errors of "+m+" and other rivals", out, e)
		floats.AddScaled(out, 1/float64(len(rivals)), e)
	}
	return out
}

// size is the mean of a size over folds and trials.
func (r results) size(what string) float64 {
	return stat.Mean(r.t.Where("kind", "size", "at", what).Values("value"), nil)
}

// relativeBound is the mean of a bound among squared distances of features, in their
// median.
func (r results) relativeBound(bounds, at string) float64 {
	return stat.Mean(shares(r.t.Where("kind", "bound", "bounds", bounds, "at", at)), nil)
}

// title names the data set for a reader.
func (r results) title() string {
	if r.database == "soybean" {
		return "soybean (large)"
	}
	return r.database
}

// missingReading is the error of a claim without data of a reading.
func missingReading(rd reading) error {
	return fmt.Errorf("logdet2012: there are no results with %s", rd)
}
