package experiment

import (
	"fmt"
	"math"

	"metriclab/pkg/judge"
	"metriclab/pkg/table"
)

// A table may hold anything: it can be cut short, edited or from another version.
// The functions of this file are how a view or a claim reads what must be there. They
// return what they are asked for or end the Draw or Test that called them; see
// judge.Refuse.

// First returns the cell of a value column in the first row, for what is the same
// in all rows. It refuses a table without rows.
func First(t *table.Table, column string) float64 { return first(t, column, t.Values(column)) }

// FirstName is First of an index column.
func FirstName(t *table.Table, column string) string { return first(t, column, t.Index(column)) }

func first[T any](t *table.Table, column string, cells []T) T {
	if len(cells) == 0 {
		judge.Refuse("no rows%s, want at least 1 for its %s", with(t), column)
	}
	return cells[0]
}

// with says which rows a table has, " with kind size".
func with(t *table.Table) string {
	if s := t.Selection(); s != "" {
		return " with " + s
	}
	return ""
}

// Whole returns v, which stands where what says, as a whole number from least to
// most; it refuses others.
func Whole(what string, v float64, least, most int) int {
	if !(v >= float64(least) && v <= float64(most)) || v != math.Trunc(v) {
		judge.Refuse("%s: %v, want a whole number from %d to %d", what, v, least, most)
	}
	return int(v)
}

// Last returns the last of a list of what; it refuses an empty one.
func Last[T any](what string, values []T) T { return NotEmpty(what, values)[len(values)-1] }

// NotEmpty returns values and refuses an empty list of what.
func NotEmpty[T any](what string, values []T) []T {
	if len(values) == 0 {
		judge.Refuse("no %s, want at least 1", what)
	}
	return values
}

// TrialsNote says in a caption over how many trials its means are, and what their intervals
// cover, if anything is to be said of that: ", which cover the draws of a trial".
func TrialsNote(t *table.Table, cover string) string {
	n := len(t.Unique("trial"))
	if n < judge.MinTrials {
		return fmt.Sprintf("Means over %d trial(s); fewer than %d, so no intervals are given.", n, judge.MinTrials)
	}
	return fmt.Sprintf("Means over %d trials with 95 %% t intervals%s.", n, cover)
}

// SizeRatio returns a quotient of sizes, such as n_test/n_train; it refuses what is not
// positive and finite.
func SizeRatio(what string, over, under float64) float64 {
	r := over / under
	if !(r > 0) || math.IsInf(r, 1) {
		judge.Refuse("%s: %v/%v, want a positive number", what, over, under)
	}
	return r
}
