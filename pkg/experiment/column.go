package experiment

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"metriclab/pkg/table"
)

// KindColumn is the name of the column that tells the kind of a row.
const KindColumn = "kind"

// Kind declares one kind of rows.
type Kind struct {
	Name string
	// Meaning says what such a row is of: "test rows classified wrongly, per fold".
	Meaning string
	// Rare says that a complete table may have no such row: of failures, say.
	Rare bool
}

// Column declares a column of an experiment's table, or a vector of columns.
type Column struct {
	Name string
	// Text columns hold names; the others hold numbers, NaN for none.
	Text bool
	// Unit is that of the numbers, "s" or "share"; "" for counts and pure numbers.
	Unit string
	// Meaning says what stands there.
	Meaning string
	// Kinds are the kinds of rows in which it may be filled; nil means in all, an empty list
	// in no row.
	Kinds []string
	// Len is the length of a vector, whose columns are Name0, Name1, …; 0 is a single one.
	Len int
	// Derive, if set, computes the column of the rows of one job, a number for each, from
	// the others. A derived column is not stored with a job: it may be added, changed or
	// dropped without a new run.
	Derive func(rows *table.Table) []float64
}

// Text declares a column of names.
func Text(name, meaning string) Column { return Column{Name: name, Text: true, Meaning: meaning} }

// Number declares a column of numbers.
func Number(name, unit, meaning string) Column {
	return Column{Name: name, Unit: unit, Meaning: meaning}
}

// Vector declares the columns name0 … name(n−1).
func Vector(name string, n int, unit, meaning string) Column {
	return Column{Name: name, Unit: unit, Meaning: meaning, Len: n}
}

// In returns the column as one that is filled in rows of some kinds only. Without kinds it
// is filled in no row: a column of another experiment's table, for the views that they share.
func (c Column) In(kinds ...string) Column {
	c.Kinds = append([]string{}, kinds...)
	return c
}

// Names are the names of the column in a table: one, or those of a vector.
func (c Column) Names() []string {
	if c.Len == 0 {
		return []string{c.Name}
	}
	out := make([]string, c.Len)
	for i := range out {
		out[i] = c.Name + strconv.Itoa(i)
	}
	return out
}

// Columns are the columns of a table: those of names come first, derived ones last.
type Columns []Column

// names lists the names of the columns that are chosen.
func (c Columns) names(is func(Column) bool) []string {
	var out []string
	for _, x := range c {
		if is(x) {
			out = slices.Concat(out, x.Names())
		}
	}
	return out
}

// Texts lists the names of the columns of names.
func (c Columns) Texts() []string { return c.names(func(x Column) bool { return x.Text }) }

// Numbers lists the names of the columns of numbers that a trial fills.
func (c Columns) Numbers() []string {
	return c.names(func(x Column) bool { return !x.Text && x.Derive == nil })
}

// Derived lists the names of the derived columns.
func (c Columns) Derived() []string { return c.names(func(x Column) bool { return x.Derive != nil }) }

// Table returns an empty table for a trial to fill.
func (c Columns) Table() *table.Table { return table.New(c.Texts(), c.Numbers()) }

// WithDerived returns the rows of one job with the derived columns. The error is that of a
// Derive that refuses, panics or does not give one number per row.
func (c Columns) WithDerived(rows *table.Table) (t *table.Table, err error) {
	if len(c.Derived()) == 0 {
		return rows, nil
	}
	name := ""
	defer func() {
		if p := recover(); p != nil {
			t, err = nil, fmt.Errorf("derived column %s: %v", name, p)
		}
	}()
	out := table.New(rows.IndexNames(), slices.Concat(rows.ValueNames(), c.Derived()))
	derived := map[string][]float64{}
	for _, x := range c {
		if x.Derive == nil {
			continue
		}
		name = x.Name
		values := x.Derive(rows)
		if len(values) != rows.Len() {
			return nil, fmt.Errorf("derived column %s has %d values for %d rows", name, len(values), rows.Len())
		}
		derived[name] = values
	}
	for i := range rows.Len() {
		key, values := rows.Row(i)
		for name, v := range derived {
			values[name] = v[i]
		}
		out.Add(key, values)
	}
	return out, nil
}

// columnName matches what a head of CSV shows as it is.
var columnName = regexp.MustCompile(`^[\pL\pN](?:[\pL\pN _./+-]*[\pL\pN])?$`)

// checkColumns returns an error unless the declaration makes sense: plain names that do not
// repeat, a meaning for each, texts first, derived numbers last, kinds that are declared.
func (s Spec) checkColumns() error {
	kinds := map[string]bool{}
	for _, k := range s.Kinds {
		if k.Name == "" || kinds[k.Name] || k.Meaning == "" {
			return fmt.Errorf("its kind %q has no meaning, or its name is empty or occurs twice", k.Name)
		}
		kinds[k.Name] = true
	}
	if hasKind := slices.Contains(s.Columns.Texts(), KindColumn); hasKind != (len(kinds) > 0) {
		return fmt.Errorf("%d kinds are declared; a column %q and kinds go together", len(kinds), KindColumn)
	}
	seen := map[string]bool{"job": true, "cell": true, "trial": true}
	order := 0 // of texts, numbers, derived numbers
	for _, c := range s.Columns {
		for _, name := range c.Names() {
			if !columnName.MatchString(name) || seen[name] {
				return fmt.Errorf("its column name %q is not one of letters, digits and a few signs between them, or occurs twice", name)
			}
			seen[name] = true
		}
		rank := 1
		switch {
		case c.Text && (c.Unit != "" || c.Len > 0 || c.Derive != nil):
			return fmt.Errorf("its column %s: a text has no unit, no length and is not derived", c.Name)
		case c.Meaning == "" || c.Len < 0 || c.Len > 0 && c.Derive != nil:
			return fmt.Errorf("its column %s: want a meaning, a length of at least 0, and no derived vector", c.Name)
		case c.Text:
			rank = 0
		case c.Derive != nil:
			rank = 2
		}
		if rank < order {
			return fmt.Errorf("its column %s: texts stand first, derived numbers last", c.Name)
		}
		order = rank
		for _, k := range c.Kinds {
			if !kinds[k] {
				return fmt.Errorf("its column %s: kind %q is not declared", c.Name, k)
			}
		}
	}
	return nil
}
