package logdet2012

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/datasets"
	"metriclab/pkg/judge"

	"metriclab/pkg/learners/itml"
	"metriclab/pkg/table"
)

// The two rules of bounds, as the table has them.
var (
	percentiles = itml.BoundPercentiles.String()
	bins        = itml.BoundBins.String()
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

// results are the rows of one data set, or of one scaling of the features.
type results struct {
	name   string // for a reader
	t      *table.Table
	varied string   // the column that is varied: bounds, dims or constraints
	fixed  []string // the methods that do not use what is varied

	// features and program are the scaling of counts and the program of Fig. 1(b, c); program is "" on the stand-in.
	features, program string
}

// of returns the rows of a kind and a method where the varied column has a value. It
// ignores the value for a fixed method.
func (r results) of(kind, method string, value any) *table.Table {
	g := r.t.Where("kind", kind, "method", method)
	if slices.Contains(r.fixed, method) {
		return g
	}
	return g.Where(r.varied, fmt.Sprint(value))
}

// errors are the shares of test rows that are wrong, by trial and fold.
func (r results) errors(method string, value any) []float64 {
	return shares(r.of("wrong", method, value))
}

// numbers lists the values of the varied column, which are numbers, ascending.
func (r results) numbers() []int { return r.numbersOf("wrong") }

// numbersOf is numbers in the rows of a kind.
func (r results) numbersOf(kind string) []int {
	var out []int
	for _, s := range r.t.Where("kind", kind).Unique(r.varied) {
		n, err := strconv.Atoi(s)
		if err != nil {
			judge.Refuse("%s: %w", r.varied, err)
		}
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

// size is the mean of a size over the rows that have it.
func (r results) size(what string) float64 {
	return stat.Mean(r.t.Where("kind", "size", "at", what).Values("value"), nil)
}

// bestRival is the rival of the least mean error.
func (r results) bestRival() string {
	return slices.MinFunc(rivals, func(a, b string) int {
		return cmp.Compare(stat.Mean(r.errors(a, ""), nil), stat.Mean(r.errors(b, ""), nil))
	})
}

// meanOfRivals is the mean error of the rivals, by trial and fold.
func (r results) meanOfRivals() []float64 {
	var all [][]float64
	for _, m := range rivals {
		all = append(all, r.errors(m, ""))
	}
	return meanOf(r.name+": errors of the rivals", all)
}

// meanOf is the mean of columns, by trial and fold. what names them.
func meanOf(what string, columns [][]float64) []float64 {
	judge.SameLength(what, columns...)
	out := make([]float64, len(columns[0]))
	for _, c := range columns {
		floats.AddScaled(out, 1/float64(len(columns)), c)
	}
	return out
}

// relativeBound is the mean of a bound among squared distances of features, in their
// median.
func (r results) relativeBound(bounds, at string) float64 {
	return stat.Mean(shares(r.t.Where("kind", "bound", "bounds", bounds, "at", at)), nil)
}

// shares divides the values of a table by what they are of.
func shares(t *table.Table) []float64 {
	return floats.DivTo(make([]float64, t.Len()), t.Values("value"), t.Values("of"))
}

// resultsOf returns the data sets that a table has under a scaling, in the order of the
// table.
func resultsOf(t *table.Table, features string) []results {
	var out []results
	for name, g := range t.Where("features", features).Group("database") {
		out = append(out, results{name: titleOf(name), t: g, varied: "bounds", fixed: rivals})
	}
	return out
}

// titleOf names a data set for a reader.
func titleOf(database string) string {
	if database == "soybean" {
		return "soybean (large)"
	}
	return database
}

// bounded reports whether a method uses u and ℓ.
func bounded(method string) bool { return !slices.Contains(rivals, method) }

// points says that the values of a claim's units are differences of errors, one per fold of
// each trial. Their intervals are corrected for overlapping training sets, as Bouckaert and
// Frank (2004) do for repeated cross-validation. The means of trials would not do: each is
// over all rows, so that they hardly differ.
var points = judge.Rule{Scale: 100, Unit: "points", Sample: "fold", TestRatio: testRatio}

// summary is the mean over all folds of all trials, with the interval of points.
func summary(values []float64) judge.Summary { return judge.SummarizeResampled(values, testRatio) }
