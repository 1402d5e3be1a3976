package logdet2012

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/datasets"
	"metriclab/pkg/experiment/frame"
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

// share is what a row counts of what it is of, by trial and fold.
var share = frame.Share("value", "of")

// shareOf is share of the rows of a kind and a method with some other cells.
func shareOf(kind, method string, where ...string) frame.Measure {
	return share.Where(append([]string{"kind", kind, "method", method}, where...)...)
}

// errorOf is the share of test rows that are wrong.
func errorOf(method string, where ...string) frame.Measure { return shareOf("wrong", method, where...) }

// Errors in per cent with the intervals of points: as marks, and as lines, whose bands end at 0 alone.
var (
	errorBand = frame.Percent.By(summary)
	errorLine = frame.Band{Scale: 100, Possible: [2]float64{0, math.Inf(1)}}.By(summary)
)

// errorCell is a column of a text with a mean error.
func errorCell(head string, m frame.Measure) frame.Cell {
	return frame.WithInterval(head, m, errorBand)
}

// orElse is a column that says something else where rows have no number.
func orElse(missing string, m frame.Measure, c frame.Cell) frame.Cell {
	return frame.Cell{Head: c.Head, Of: func(rows *table.Table) string {
		if len(m(rows)) == 0 {
			return missing
		}
		return c.Of(rows)
	}}
}

// sizesOf returns what gives the mean of a size over the rows that have it.
func sizesOf(rows *table.Table) func(what string) float64 {
	return func(what string) float64 {
		return stat.Mean(rows.Where("kind", "size", "at", what).Values("value"), nil)
	}
}

// sizeCells are columns with the means of sizes.
func sizeCells(of ...string) (out []frame.Cell) {
	for _, what := range of {
		out = append(out, frame.Of(what, frame.Column("value").Where("kind", "size", "at", what), frame.Band{}, "%.0f"))
	}
	return out
}

// atEach are the errors by the cells of a column, in a new one; those of a method that has none of these stand at each.
func atEach(column, of, fixed string) frame.Rows {
	return func(t *table.Table) *table.Table {
		parts := []*table.Table{t.Rows().With(column, nil)}
		for _, g := range t.Where("kind", "wrong").Group("cell") {
			others := slices.DeleteFunc(g.Unique("method"), func(m string) bool { return m == fixed })
			for cell, rows := range frame.Only("method", others...)(g).Group(of) {
				rows = table.Concat(rows, g.Where("method", fixed))
				parts = append(parts, rows.With(column, slices.Repeat([]string{cell}, rows.Len())))
			}
		}
		return table.Concat(parts...)
	}
}

// bestRival is the rival of the least mean error.
func bestRival(rows *table.Table) string {
	return slices.MinFunc(rivals, func(a, b string) int {
		return cmp.Compare(stat.Mean(errorOf(a)(rows), nil), stat.Mean(errorOf(b)(rows), nil))
	})
}

// meanOfRivals is the mean error of the rivals.
var meanOfRivals = func() frame.Measure {
	var all []frame.Measure
	for _, m := range rivals {
		all = append(all, errorOf(m))
	}
	return frame.Mean("errors of the rivals", all...)
}()

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
