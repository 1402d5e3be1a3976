package experiment

import (
	"fmt"
	"math"

	"metriclab/pkg/table"
)

// A table may hold anything: it can be cut short, edited or from another version.
// The functions of this file are how a view or a claim reads what must be there.
// They return what they are asked for or end the Draw or Grade that called them,
// whose caller gets the error. So a helper deep inside returns a plain number.

// refusal is what Refuse panics with.
type refusal struct{ err error }

// Error makes an uncaught refusal readable.
func (r refusal) Error() string { return r.err.Error() }

// Refuse ends the Draw or Grade in whose goroutine it is called: DrawWith and
// GradeWith return the error. It is for a table that lacks what is needed, never
// for a bug. Elsewhere it panics.
func Refuse(format string, args ...any) { panic(refusal{fmt.Errorf(format, args...)}) }

// refused sets err if the function that defers it was ended by Refuse.
func refused(err *error) {
	switch p := recover().(type) {
	case nil:
	case refusal:
		*err = p.err
	default:
		panic(p)
	}
}

// First returns the cell of a value column in the first row, for what is the same
// in all rows. It refuses a table without rows.
func First(t *table.Table, column string) float64 { return first(t, column, t.Values(column)) }

// FirstName is First of an index column.
func FirstName(t *table.Table, column string) string { return first(t, column, t.Index(column)) }

func first[T any](t *table.Table, column string, cells []T) T {
	if len(cells) == 0 {
		Refuse("no rows%s, want at least 1 for its %s", with(t), column)
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
		Refuse("%s: %v, want a whole number from %d to %d", what, v, least, most)
	}
	return int(v)
}

// Last returns the last of a list of what; it refuses an empty one.
func Last[T any](what string, values []T) T { return NotEmpty(what, values)[len(values)-1] }

// NotEmpty returns values and refuses an empty list of what.
func NotEmpty[T any](what string, values []T) []T {
	if len(values) == 0 {
		Refuse("no %s, want at least 1", what)
	}
	return values
}

// SameLength refuses columns of different lengths, such as the trials of two
// methods that are compared by trial. what names them.
func SameLength(what string, columns ...[]float64) {
	for _, c := range columns {
		if len(c) != len(columns[0]) {
			Refuse("%s: %d values against %d, want as many (one per trial)", what, len(columns[0]), len(c))
		}
	}
}

// Ratio returns a quotient of sizes, such as n_test/n_train; it refuses what is not
// positive and finite.
func Ratio(what string, over, under float64) float64 {
	r := over / under
	if !(r > 0) || math.IsInf(r, 1) {
		Refuse("%s: %v/%v, want a positive number", what, over, under)
	}
	return r
}
