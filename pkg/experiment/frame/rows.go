package frame

import (
	"slices"

	"metriclab/pkg/table"
)

// Rows are the rows of a table that a view or a claim is about, in its order and with its
// names.
type Rows func(t *table.Table) *table.Table

// Only are the rows with one of some cells in a column, in the order of these cells.
func Only(column string, cells ...string) Rows {
	return func(t *table.Table) *table.Table {
		var rows []int
		at := t.Index(column)
		for _, cell := range cells {
			for i, c := range at {
				if c == cell {
					rows = append(rows, i)
				}
			}
		}
		return t.Rows(rows...)
	}
}

// Called adds a column with what each cell of another one is called.
func Called(column, of string, name func(cell string) string) Rows {
	return func(t *table.Table) *table.Table {
		cells := slices.Clone(t.Index(of))
		for i, c := range cells {
			cells[i] = name(c)
		}
		return t.With(column, cells)
	}
}

// Named are the rows of each of some parts in turn, with its name in a new column. A row may
// belong to several.
func Named[T any](column string, all []T, of func(T) (name string, rows Rows)) Rows {
	return func(t *table.Table) *table.Table {
		if len(all) == 0 {
			return t.Rows().With(column, nil)
		}
		var parts []*table.Table
		for _, v := range all {
			name, rows := of(v)
			g := rows(t)
			parts = append(parts, g.With(column, slices.Repeat([]string{name}, g.Len())))
		}
		return table.Concat(parts...)
	}
}

// Where are those of the rows that have some cells.
func (r Rows) Where(nameValue ...string) Rows {
	return func(t *table.Table) *table.Table { return r(t).Where(nameValue...) }
}

// Then are the rows of next among these.
func (r Rows) Then(next Rows) Rows {
	return func(t *table.Table) *table.Table { return next(r(t)) }
}
