package erkle2015

import (
	"fmt"
	"math"
	"slices"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// reading is one way to compare the methods on a data set.
type reading struct {
	name, data string
	// rows are those of a method, one per trial and number of triplets.
	rows func(data, method string) frame.Rows
	// at says at which of the numbers of triplets methods are compared that batch methods were fitted to.
	at func(sizes []string) []string
	// tie is what a tie is taken off an error.
	tie float64
}

// as is the reading under another name, at other numbers of triplets.
func (r reading) as(name string, at func(sizes []string) []string) reading {
	r.name, r.at = name, at
	return r
}

// on is the reading of a data set.
func (r reading) on(data string) reading {
	r.data = data
	return r
}

// The numbers of triplets at which readings compare.
func atAll(sizes []string) []string   { return sizes }
func atStart(sizes []string) []string { return sizes[:1] }
func atEnd(sizes []string) []string   { return sizes[len(sizes)-1:] }

// sizes are the numbers of triplets to compare at, ascending: none without a batch method.
func (r reading) sizes(t *table.Table) []string {
	for _, b := range batchNames {
		if sizes := r.rows(r.data, b)(t).Unique("triplets"); len(sizes) > 0 {
			return r.at(sizes)
		}
	}
	return nil
}

// mean is the mean over these numbers of what of measures at each.
func (r reading) mean(of func(size string) frame.Measure) frame.Measure {
	return func(t *table.Table) []float64 {
		var each []frame.Measure
		for _, size := range experiment.NotEmpty(r.data+": sizes of a batch method", r.sizes(t)) {
			each = append(each, of(size))
		}
		return frame.Mean(r.data+": trials at several sizes", each...)(t)
	}
}

// after is a measure of a method's rows after a number of triplets, by trial.
func (r reading) after(size, method string, m frame.Measure) frame.Measure {
	return m.PerTrial("triplets", size).On(r.rows(r.data, method))
}

// of is a measure of a method, the mean over the numbers of triplets, by trial.
func (r reading) of(method string, m frame.Measure) frame.Measure {
	return r.mean(func(size string) frame.Measure { return r.after(size, method, m) })
}

// errors are those of a method on a part.
func (r reading) errors(part, method string) frame.Measure {
	return r.of(method, errorShare(part, r.tie))
}

// less is a unit per pair of methods, better first: the error of the worse minus that of the better, plus a margin.
func (r reading) less(part string, margin float64, pairs ...[2]string) frame.Units {
	return frame.Over(pairs, func(p [2]string) (string, frame.Measure) {
		return p[0] + " and " + p[1], r.errors(part, p[1]).Minus(r.errors(part, p[0])).Plus(margin)
	})
}

// line is a measure of a method against the number of triplets.
func (r reading) line(style plots.Line, method string, m frame.Measure, b frame.Band) frame.Mark {
	return frame.Line(style, "triplets", m, b).On(r.rows(r.data, method))
}

// judgedBy is the reading of Figs. 3 and 4 with τ by a rule, and of a family of ERKLE methods with the setting that each trial chose.
func judgedBy(tau string) reading {
	return reading{name: tau, at: atAll, rows: func(data, method string) frame.Rows {
		return func(t *table.Table) *table.Table {
			g, chosen := t.Where("kind", curveKind, "method", method), t.Where("kind", chosenKind, "method", method)
			switch {
			case isBatch(method):
				return g.Where("setting", table.Format(tauOf(data, method).of(tau)))
			case chosen.Len() > 0:
				return joined("trial", func(trial string) frame.Rows {
					return frame.Only("setting", table.Format(experiment.First(chosen.Where("trial", trial), "count")))
				})(g)
			}
			return g
		}
	}}
}

// Readings beside those by τ: with a tie as half an error, and with batch fits that have run on.
var (
	tiesHalf   = reading{name: "ties half", at: atAll, rows: judgedBy(byValidation).rows, tie: 0.5}
	afterRunOn = reading{name: "run on", at: atAll, rows: func(data, method string) frame.Rows {
		if isBatch(method) {
			method = runOn(method)
		}
		return judgedBy(byValidation).rows(data, method)
	}}
)

// judgedReadings are those of the claims about errors. The paper's rule for τ is the third.
var judgedReadings = []reading{
	judgedBy(byValidation).as("at the end", atEnd),
	judgedBy(byValidation).as("mean over sizes", atAll),
	judgedBy(byTest).as("at the end, "+byTest, atEnd),
	judgedBy(byEnd).as("at the end, "+byEnd, atEnd),
	tiesHalf.as("at the end, ties half", atEnd),
	afterRunOn.as("at the end, batch methods run on", atEnd),
}

// isBatch reports whether a method has a τ.
func isBatch(method string) bool { return slices.Contains(batchNames, method) }

// batchNames are the batch methods in their order.
var batchNames = []string{gnmdsBatch, steBatch, cklBatch}

// joined are the rows that are picked from those of each cell of a column.
func joined(column string, pick func(cell string) frame.Rows) frame.Rows {
	return func(t *table.Table) *table.Table {
		parts := []*table.Table{t.Rows()}
		for cell, g := range t.Group(column) {
			parts = append(parts, pick(cell)(g))
		}
		return table.Concat(parts...)
	}
}

// withNumber are the rows that have a number in a column.
func withNumber(column string) frame.Rows {
	return func(t *table.Table) *table.Table {
		var rows []int
		for i, v := range t.Values(column) {
			if !math.IsNaN(v) {
				rows = append(rows, i)
			}
		}
		return t.Rows(rows...)
	}
}

// bestRows are the rows with the cells of some columns that have the least mean error on a part: the first of equals.
func bestRows(part string, columns ...string) frame.Rows {
	return func(t *table.Table) *table.Table {
		best, least := t, math.Inf(1)
		for _, g := range frame.Groups(t, columns...) {
			if e := judge.Summarize(strictIn(part)(g)).Mean; e < least {
				best, least = g, e
			}
		}
		return best
	}
}

// afterAll are the rows after all training triplets.
func afterAll(t *table.Table) *table.Table {
	if t.Len() == 0 {
		return t
	}
	return t.Where("triplets", table.Format(experiment.Last("numbers of triplets", frame.Numbers(t, "triplets"))))
}

// splitRatio is n_test/n_train of the splits of the same answers.
func splitRatio(t *table.Table) float64 {
	rows := withNumber("test triplets")(t)
	return experiment.SizeRatio("test to training triplets", experiment.First(rows, "test triplets"), experiment.Last("numbers of triplets", frame.Numbers(rows, "triplets")))
}

// onSplits tests that the numbers are positive, on splits of the same answers.
func onSplits(rule judge.Rule, u frame.Units) frame.Test {
	return func(t *table.Table) judge.Test {
		rule.TestRatio = splitRatio(t)
		return judge.Positive{Units: u(t), Rule: rule}
	}
}

// The intervals of lines that are not negative: plain ones, in per cent, and those of splits of the same answers.
var plain = frame.Band{Scale: 100, Possible: [2]float64{0, math.Inf(1)}}

func ofSplits(t *table.Table) frame.Band {
	return plain.By(func(v []float64) judge.Summary { return judge.SummarizeResampled(v, splitRatio(t)) })
}

// largest is a cell with the largest number of a column.
func largest(head, column string) frame.Cell {
	return frame.Cell{Head: head, Of: func(g *table.Table) string { return fmt.Sprintf("%.2g", slices.Max(g.Values(column))) }}
}

// mean is a cell with the mean of a column.
func mean(head, column, format string) frame.Cell {
	return frame.Of(head, frame.Column(column), frame.Band{}, format)
}
