package vectors

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/datasets"
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners/itml"
	"metriclab/pkg/papers/logdet2012/protocol"
	"metriclab/pkg/table"
)

// fig1aSettings are those of one data set.
type fig1aSettings struct {
	// Database is the name by which the paper calls the data set.
	Database string `key:"database"`
	// Only, if not "", is the one method of the cell.
	Only string `key:"only,omitzero"`
	protocol.Settings
}

// Describe says how features are brought to scale.
var Describe = map[string]string{datasets.AsIs.String(): "as they are", datasets.ZScore.String(): "standardised"}

// CellsOf are the cells of the data sets of Fig. 1(a), or of built-in ones at smoke scale, under each scaling of the features.
func CellsOf(scale experiment.Scale, of func(database string, by datasets.Preprocessing) (methods map[string]int, settings any)) (out []experiment.Cell) {
	all := protocol.Databases
	if scale == experiment.Smoke {
		all = protocol.Generated
	}
	for _, d := range all {
		for _, by := range protocol.Readings {
			methods, settings := of(d.Name, by)
			out = append(out, experiment.Cell{Name: cellName(d.Name, by), Dataset: d.Dataset, Methods: methods, Settings: settings})
		}
	}
	return out
}

func cellName(database string, by datasets.Preprocessing) string {
	return database + " features " + Describe[by.String()]
}

// exceptions is how many of n data sets "most" leaves out: all but the least majority.
func exceptions(n int) int { return (n - 1) / 2 }

// onMost is the test that differences of errors are positive in most units.
func onMost(of frame.Units) frame.Test {
	return func(t *table.Table) judge.Test {
		units := of(t)
		return judge.Positive{Units: units, Exceptions: exceptions(len(units)), Rule: Points}
	}
}

// against are the comparisons of errors with the best rival and with the mean of all.
func (rd reading) against(ours frame.Measure) []frame.Reading {
	most := func(rival func(rows *table.Table) (note string, its frame.Measure)) frame.Test {
		return onMost(func(t *table.Table) (units []judge.Unit) {
			for database, g := range t.Where("features", rd.features).Group("database") {
				note, its := rival(g)
				units = append(units, judge.Unit{Name: titleOf(database) + note, Diffs: its.Minus(ours)(g)})
			}
			return units
		})
	}
	return []frame.Reading{
		{Name: rd.String() + ", best rival", Test: most(func(rows *table.Table) (string, frame.Measure) {
			best := bestRival(rows)
			return " (against " + best + ")", ErrorOf(best)
		})},
		{Name: rd.String() + ", mean of the rivals", Test: most(func(*table.Table) (string, frame.Measure) { return "", meanOfRivals })},
	}
}

// The two rules of bounds, as the table has them.
var (
	percentiles = itml.BoundPercentiles.String()
	bins        = itml.BoundBins.String()
)

// reading is a way to read the protocol: the scaling of features and the rule of bounds.
type reading struct{ features, bounds string }

// String names the reading for a reader.
func (r reading) String() string {
	name := "features " + Describe[r.features]
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

// Share is what a row counts of what it is of, by trial and fold.
var Share = frame.Share("value", "of")

// ShareOf is share of the rows of a kind and a method with some other cells.
func ShareOf(kind, method string, where ...string) frame.Measure {
	return Share.Where(append([]string{"kind", kind, "method", method}, where...)...)
}

// ErrorOf is the share of test rows that are wrong.
func ErrorOf(method string, where ...string) frame.Measure { return ShareOf("wrong", method, where...) }

// Errors in per cent with the intervals of points: as marks, and as lines, whose bands end at 0 alone.
var (
	ErrorBand = frame.Percent.By(Summary)
	ErrorLine = frame.Band{Scale: 100, Possible: [2]float64{0, math.Inf(1)}}.By(Summary)
)

// ErrorCell is a column of a text with a mean error.
func ErrorCell(head string, m frame.Measure) frame.Cell {
	return frame.WithInterval(head, m, ErrorBand)
}

// OrElse is a column that says something else where rows have no number.
func OrElse(missing string, m frame.Measure, c frame.Cell) frame.Cell {
	return frame.Cell{Head: c.Head, Of: func(rows *table.Table) string {
		if len(m(rows)) == 0 {
			return missing
		}
		return c.Of(rows)
	}}
}

// SizesOf returns what gives the mean of a size over the rows that have it.
func SizesOf(rows *table.Table) func(what string) float64 {
	return func(what string) float64 {
		return stat.Mean(rows.Where("kind", "size", "at", what).Values("value"), nil)
	}
}

// SizeCells are columns with the means of sizes.
func SizeCells(of ...string) (out []frame.Cell) {
	for _, what := range of {
		out = append(out, frame.Of(what, frame.Column("value").Where("kind", "size", "at", what), frame.Band{}, "%.0f"))
	}
	return out
}

// AtEach are the errors by the cells of a column, in a new one; those of a method that has none of these stand at each.
func AtEach(column, of, fixed string) frame.Rows {
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
	return slices.MinFunc(protocol.Rivals, func(a, b string) int {
		return cmp.Compare(stat.Mean(ErrorOf(a)(rows), nil), stat.Mean(ErrorOf(b)(rows), nil))
	})
}

// meanOfRivals is the mean error of the rivals.
var meanOfRivals = func() frame.Measure {
	var all []frame.Measure
	for _, m := range protocol.Rivals {
		all = append(all, ErrorOf(m))
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
func bounded(method string) bool { return !slices.Contains(protocol.Rivals, method) }

// Points says that the values of a claim's units are differences of errors, one per fold of
// each trial. Their intervals are corrected for overlapping training sets, as Bouckaert and
// Frank (2004) do for repeated cross-validation. The means of trials would not do: each is
// over all rows, so that they hardly differ.
var Points = judge.Rule{Scale: 100, Unit: "points", Sample: "fold", TestRatio: protocol.TestRatio}

// Summary is the mean over all folds of all trials, with the interval of points.
func Summary(values []float64) judge.Summary {
	return judge.SummarizeResampled(values, protocol.TestRatio)
}

// widerKnown is what was known when the readings were added.
const widerKnown = "the errors with widths of ½, 1 and 2 medians"

// widest is the error of LogDet Gaussian with the widest grid that a data set has.
func widest(rows *table.Table) []float64 {
	if e := ErrorOf(protocol.LogDetWider)(rows); len(e) > 0 {
		return e
	}
	return ErrorOf(protocol.LogDetGaussian, "bounds", percentiles)(rows)
}

// widerReadings are those of the claim about LogDet Gaussian with the wider grids.
func widerReadings() (out []frame.Reading) {
	for _, rd := range allReadings {
		if rd.bounds == percentiles {
			for _, r := range rd.against(widest) {
				test := func(t *table.Table) judge.Test {
					if t.Where("kind", "wrong", "method", protocol.LogDetWider).Len() == 0 {
						judge.Refuse("logdet2012: there are no results of %s", protocol.LogDetWider)
					}
					return r.Test(t)
				}
				out = append(out, frame.Reading{Name: r.Name + ", wider grid of σ²", Test: test, Afterwards: widerKnown})
			}
		}
	}
	return out
}
