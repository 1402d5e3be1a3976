// Package frame is the language in which experiments say their views and claims: a number
// for each row of a table, means of them with intervals, tables and curves by group, and
// comparisons paired by trial.
//
// # How it is built
//
// A Measure takes a table to a number per row. Where, Minus, Times and the others make new
// measures of it, so that "the error with uniform draws less that with others" is one
// expression. Rows order and name what a table has, as a reader is to see it. Views and claims
// are made of measures and name the rows that they are of; neither reads a table by itself. What no combinator says is a Measure, a Mark or a
// column of one's own: each is a function of rows. A table that lacks what is asked for
// ends the work by judge.Refuse.
package frame

import (
	"iter"
	"maps"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/judge"
	"metriclab/pkg/table"
)

// Measure gives a number for each row of a table, as a rule one row per trial. The caller
// must not change what it returns.
type Measure func(rows *table.Table) []float64

// Column is the measure of a value column.
func Column(name string) Measure {
	return func(rows *table.Table) []float64 { return rows.Values(name) }
}

// Cells is the measure of a column of names that are numbers.
func Cells(column string) Measure {
	return func(rows *table.Table) []float64 {
		out := make([]float64, rows.Len())
		for i, cell := range rows.Index(column) {
			out[i] = Parse(column, cell)
		}
		return out
	}
}

// Share is one value column over another.
func Share(part, whole string) Measure { return Column(part).Over(Column(whole)) }

// Where is the measure of the rows with some cells, as Table.Where takes them.
func (m Measure) Where(nameValue ...string) Measure {
	return func(rows *table.Table) []float64 { return m(rows.Where(nameValue...)) }
}

// On is the measure of the rows made of a table.
func (m Measure) On(rows Rows) Measure {
	return func(t *table.Table) []float64 { return m(rows(t)) }
}

// PerTrial is the measure of the rows with some cells, of which each trial of the table must
// have one.
func (m Measure) PerTrial(nameValue ...string) Measure {
	return func(rows *table.Table) []float64 {
		g := rows.Where(nameValue...)
		if n := len(rows.Unique("trial")); g.Len() != n || len(g.Unique("trial")) != n {
			judge.Refuse("%q: %d rows for %d trials", nameValue, g.Len(), n)
		}
		return m(g)
	}
}

// Minus is m − other. Both must have as many numbers.
func (m Measure) Minus(other Measure) Measure {
	return func(rows *table.Table) []float64 { return judge.Minus(m(rows), other(rows)) }
}

// Plus is m plus a constant, such as a margin.
func (m Measure) Plus(constant float64) Measure {
	return func(rows *table.Table) []float64 {
		out := slices.Clone(m(rows))
		floats.AddConst(constant, out)
		return out
	}
}

// Times is m multiplied by a constant.
func (m Measure) Times(constant float64) Measure {
	return func(rows *table.Table) []float64 {
		v := m(rows)
		return floats.ScaleTo(make([]float64, len(v)), constant, v)
	}
}

// Map is a function of each number of m.
func (m Measure) Map(f func(float64) float64) Measure {
	return func(rows *table.Table) []float64 {
		out := slices.Clone(m(rows))
		for i, v := range out {
			out[i] = f(v)
		}
		return out
	}
}

// MeanOver is the mean over the cells of a column, entry by entry, of m of the rows with each.
func (m Measure) MeanOver(column string) Measure {
	return func(rows *table.Table) []float64 {
		var of []Measure
		for cell := range rows.Group(column) {
			of = append(of, m.Where(column, cell))
		}
		return Mean(column, of...)(rows)
	}
}

// Reduce is one number of all that m has; there must be one at least.
func (m Measure) Reduce(f func([]float64) float64) Measure {
	return func(rows *table.Table) []float64 {
		v := m(rows)
		if len(v) == 0 {
			judge.Refuse("no numbers")
		}
		return []float64{f(v)}
	}
}

// Averaged is one number, the mean of m's.
func (m Measure) Averaged() Measure {
	return m.Reduce(func(v []float64) float64 { return judge.Summarize(v).Mean })
}

// Over is m divided by other. Both must have as many numbers.
func (m Measure) Over(other Measure) Measure {
	return func(rows *table.Table) []float64 {
		a, b := m(rows), other(rows)
		judge.SameLength("two columns", a, b)
		return floats.DivTo(make([]float64, len(a)), a, b)
	}
}

// Mean is the mean of several measures, entry by entry. what names them where their numbers
// differ in length.
func Mean(what string, of ...Measure) Measure {
	return func(rows *table.Table) []float64 {
		var out []float64
		for _, m := range of {
			v := m(rows)
			if out == nil {
				out = make([]float64, len(v))
			}
			judge.SameLength(what, out, v)
			floats.AddScaled(out, 1/float64(len(of)), v)
		}
		return out
	}
}

// PerTrialMean is one number per trial: the mean of m over its rows.
func (m Measure) PerTrialMean() Measure {
	return func(rows *table.Table) (out []float64) {
		for _, g := range rows.Group("trial") {
			out = append(out, stat.Mean(m(g), nil))
		}
		return out
	}
}

// Least is, for each trial, the measure of the candidate for which by is least: the first of
// equals. Candidates are cells of a column. which has the number of each trial's candidate.
func Least(by, of Measure, column string, candidates ...string) (m Measure, which func(rows *table.Table) []int) {
	which = func(rows *table.Table) []int {
		var least []float64
		var out []int
		for k, c := range candidates {
			v := by.PerTrial(column, c)(rows)
			if k == 0 {
				least, out = slices.Clone(v), make([]int, len(v))
			}
			for i := range v {
				if v[i] < least[i] {
					least[i], out[i] = v[i], k
				}
			}
		}
		return out
	}
	return func(rows *table.Table) []float64 {
		chosen := which(rows)
		out := make([]float64, len(chosen))
		for k, c := range candidates {
			v := of.PerTrial(column, c)(rows)
			for i := range v {
				if chosen[i] == k {
					out[i] = v[i]
				}
			}
		}
		return out
	}, which
}

// ByNumber yields the rows of each different number in a value column, ascending. Rows without a
// number are left out.
func ByNumber(t *table.Table, column string) iter.Seq2[float64, *table.Table] {
	return func(yield func(float64, *table.Table) bool) {
		rows := map[float64][]int{}
		for i, v := range t.Values(column) {
			if !math.IsNaN(v) {
				rows[v] = append(rows[v], i)
			}
		}
		for _, v := range slices.Sorted(maps.Keys(rows)) {
			if !yield(v, t.Rows(rows[v]...)) {
				return
			}
		}
	}
}

// Parse reads a finite number in a column of names.
func Parse(column, cell string) float64 {
	v, err := strconv.ParseFloat(cell, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		judge.Refuse("column %s: %q is not a finite number", column, cell)
	}
	return v
}

// Numbers lists the different numbers in a column of names, ascending.
func Numbers(t *table.Table, column string) []float64 {
	var out []float64
	for _, cell := range t.Unique(column) {
		out = append(out, Parse(column, cell))
	}
	slices.Sort(out)
	return out
}
