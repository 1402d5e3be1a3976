// Package table is the tidy table that trials fill and views show: a few named
// index columns of strings that say what was measured, a few named value
// columns of float64 that hold the measurement, one observation per row.
//
// A value that does not apply to a row is NaN, written as an empty cell. Rows
// keep the order in which they were added. Written tables are byte-stable:
// numbers are the shortest decimal that reads back to the same float64.
package table

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"metriclab/pkg/limits"
)

// Table is a tidy table. The zero value is unusable; use New or ReadCSV.
type Table struct {
	indexNames, valueNames []string
	index                  [][]string  // by column
	values                 [][]float64 // by column
	n                      int
	selection              []string // names and values that Where was given

	// A table of chosen rows copies a column when it is first asked for it: views choose rows
	// many times over and look at few columns.
	of   *Table // the whole table, of which these are rows; nil for a whole table
	rows []int
	mu   sync.Mutex // guards index and values where of is not nil
}

// own copies all columns that are not copied yet.
func (t *Table) own() {
	for c := range t.index {
		t.indexColumn(c)
	}
	for c := range t.values {
		t.valueColumn(c)
	}
	t.of, t.rows = nil, nil
}

func (t *Table) indexColumn(c int) []string {
	return column(t, func(t *Table) [][]string { return t.index }, c)
}

func (t *Table) valueColumn(c int) []float64 {
	return column(t, func(t *Table) [][]float64 { return t.values }, c)
}

// column is the c-th of the columns of a kind, copied if it was not yet.
func column[T any](t *Table, kind func(*Table) [][]T, c int) []T {
	columns := kind(t)
	if t.of == nil {
		return columns[c]
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if columns[c] == nil {
		columns[c] = chosen(kind(t.of)[c], t.rows)
	}
	return columns[c]
}

// chosen returns the cells in the given rows.
func chosen[T any](column []T, rows []int) []T {
	out := make([]T, len(rows))
	for i, row := range rows {
		out[i] = column[row]
	}
	return out
}

// New returns an empty table with the given index and value columns. It panics
// if a name is empty or occurs twice.
func New(index, values []string) *Table {
	seen := map[string]bool{}
	for _, name := range slices.Concat(index, values) {
		if name == "" || seen[name] {
			panic(fmt.Sprintf("table: column name %q is empty or occurs twice", name))
		}
		seen[name] = true
	}
	return &Table{
		indexNames: slices.Clone(index),
		valueNames: slices.Clone(values),
		index:      make([][]string, len(index)),
		values:     make([][]float64, len(values)),
	}
}

// IndexNames returns the names of the index columns.
func (t *Table) IndexNames() []string { return slices.Clone(t.indexNames) }

// ValueNames returns the names of the value columns.
func (t *Table) ValueNames() []string { return slices.Clone(t.valueNames) }

// Len returns the number of rows.
func (t *Table) Len() int { return t.n }

// Key holds the index cells of a new row by column name; a missing column is "".
type Key map[string]string

// Values holds the value cells of a new row by column name; a missing column
// is NaN.
type Values map[string]float64

// Add appends a row. It panics on a name that is not a column of the table.
func (t *Table) Add(key Key, values Values) {
	for name := range key {
		if !slices.Contains(t.indexNames, name) {
			panic(fmt.Sprintf("table: no index column %q among %q", name, t.indexNames))
		}
	}
	for name := range values {
		if !slices.Contains(t.valueNames, name) {
			panic(fmt.Sprintf("table: no value column %q among %q", name, t.valueNames))
		}
	}
	t.own()
	for c, name := range t.indexNames {
		t.index[c] = append(t.index[c], key[name])
	}
	for c, name := range t.valueNames {
		v, ok := values[name]
		if !ok {
			v = math.NaN()
		}
		t.values[c] = append(t.values[c], v)
	}
	t.n++
}

// Row returns the cells of row i by column name, of which the caller may change the maps.
func (t *Table) Row(i int) (Key, Values) {
	key, values := make(Key, len(t.index)), make(Values, len(t.values))
	for c, name := range t.indexNames {
		key[name] = t.indexColumn(c)[i]
	}
	for c, name := range t.valueNames {
		values[name] = t.valueColumn(c)[i]
	}
	return key, values
}

// Select returns the table with these columns only. It panics if one is not there.
func (t *Table) Select(index, values []string) *Table {
	out := New(index, values)
	out.n = t.n
	for c, name := range index {
		out.index[c] = slices.Clone(t.Index(name))
	}
	for c, name := range values {
		out.values[c] = slices.Clone(t.Values(name))
	}
	return out
}

// Index returns the cells of an index column, one per row; the caller must not
// change them. It panics if there is no such column.
func (t *Table) Index(name string) []string {
	c := slices.Index(t.indexNames, name)
	if c < 0 {
		panic(fmt.Sprintf("table: no index column %q among %q", name, t.indexNames))
	}
	return t.indexColumn(c)
}

// Values returns the cells of a value column, one per row; the caller must not
// change them. It panics if there is no such column.
func (t *Table) Values(name string) []float64 {
	c := slices.Index(t.valueNames, name)
	if c < 0 {
		panic(fmt.Sprintf("table: no value column %q among %q", name, t.valueNames))
	}
	return t.valueColumn(c)
}

// Where returns the rows whose index cells equal the given values, as
// alternating names and values: t.Where("method", "POLA", "trial", "0"). It
// panics on an odd number of arguments or an unknown column.
func (t *Table) Where(nameValue ...string) *Table {
	if len(nameValue)%2 != 0 {
		panic("table: Where takes pairs of a column name and a value")
	}
	var columns [][]string
	for i := 0; i < len(nameValue); i += 2 {
		columns = append(columns, t.Index(nameValue[i]))
	}
	var rows []int
next:
	for row := range t.n {
		for i, column := range columns {
			if column[row] != nameValue[2*i+1] {
				continue next
			}
		}
		rows = append(rows, row)
	}
	return t.selected(rows, nameValue...)
}

// selected returns the rows of the given numbers, which these names and values select.
func (t *Table) selected(rows []int, nameValue ...string) *Table {
	out := t.Rows(rows...)
	out.selection = slices.Concat(t.selection, nameValue)
	return out
}

// Selection says by which index cells Where and Group chose the rows, for errors:
// "method POLA, trial 0"; "" if the table is whole.
func (t *Table) Selection() string {
	var parts []string
	for i := 0; i < len(t.selection); i += 2 {
		value := t.selection[i+1]
		if value == "" || strings.ContainsAny(value, " ,") {
			value = strconv.Quote(value)
		}
		parts = append(parts, t.selection[i]+" "+value)
	}
	return strings.Join(parts, ", ")
}

// Rows returns the rows of the given numbers, in the given order, as often as each
// number occurs. It panics on a number outside 0..Len()−1.
func (t *Table) Rows(rows ...int) *Table {
	out := &Table{
		indexNames: t.indexNames,
		valueNames: t.valueNames,
		index:      make([][]string, len(t.index)),
		values:     make([][]float64, len(t.values)),
		n:          len(rows),
		selection:  t.selection,
		of:         t,
	}
	for _, row := range rows {
		if row < 0 || row >= t.n {
			panic(fmt.Sprintf("table: no row %d among %d", row, t.n))
		}
	}
	if t.of != nil {
		out.of, out.rows = t.of, chosen(t.rows, rows)
	} else {
		out.rows = slices.Clone(rows)
	}
	return out
}

// With returns the table with another index column, which has a cell per row. It panics if
// there is a column of that name, or another number of cells.
func (t *Table) With(name string, cells []string) *Table {
	if len(cells) != t.n {
		panic(fmt.Sprintf("table: %d cells of column %q for %d rows", len(cells), name, t.n))
	}
	out := New(append(t.IndexNames(), name), t.valueNames)
	out.selection, out.n = t.selection, t.n
	for c := range t.index {
		out.index[c] = slices.Clone(t.indexColumn(c))
	}
	out.index[len(t.index)] = slices.Clone(cells)
	for c := range t.values {
		out.values[c] = slices.Clone(t.valueColumn(c))
	}
	return out
}

// Concat returns the rows of tables one after the other, with cells of their own. It panics unless there is one and
// all have the columns of the first.
func Concat(tables ...*Table) *Table {
	out := New(tables[0].indexNames, tables[0].valueNames)
	for _, t := range tables {
		if !slices.Equal(t.indexNames, out.indexNames) || !slices.Equal(t.valueNames, out.valueNames) {
			panic("table: Concat takes tables of the same columns")
		}
		for c := range t.index {
			out.index[c] = append(out.index[c], t.indexColumn(c)...)
		}
		for c := range t.values {
			out.values[c] = append(out.values[c], t.valueColumn(c)...)
		}
		out.n += t.n
	}
	return out
}

// Unique returns the distinct cells of an index column in order of first
// appearance. It panics if there is no such column.
func (t *Table) Unique(name string) []string {
	var out []string
	seen := map[string]bool{}
	for _, s := range t.Index(name) {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

// Group yields the rows of each distinct cell of an index column, in order of
// first appearance. It panics if there is no such column.
func (t *Table) Group(name string) iter.Seq2[string, *Table] {
	return func(yield func(string, *Table) bool) {
		for cells, rows := range t.Groups(name) {
			if !yield(cells[0], rows) {
				return
			}
		}
	}
}

// Groups yields the rows of each combination of cells of index columns, the first column
// outermost, each in order of first appearance. It panics if there is no such column.
func (t *Table) Groups(names ...string) iter.Seq2[[]string, *Table] {
	return func(yield func([]string, *Table) bool) {
		all := make([]int, t.n)
		for row := range all {
			all[row] = row
		}
		t.within(all, nil, names, yield)
	}
}

// within groups rows, which the names and values of selection chose, by the further names.
func (t *Table) within(rows []int, selection, names []string, yield func([]string, *Table) bool) bool {
	if len(names) == 0 {
		var cells []string
		for i := 1; i < len(selection); i += 2 {
			cells = append(cells, selection[i])
		}
		return yield(cells, t.selected(rows, selection...))
	}
	column, of, order := t.Index(names[0]), map[string][]int{}, []string(nil)
	for _, row := range rows {
		cell := column[row]
		if of[cell] == nil {
			order = append(order, cell)
		}
		of[cell] = append(of[cell], row)
	}
	for _, cell := range order {
		if !t.within(of[cell], append(selection, names[0], cell), names[1:], yield) {
			return false
		}
	}
	return true
}

// WriteCSV writes the table as CSV with a header line: the index columns, then
// the value columns. NaN is an empty cell. It returns w's errors, and an error
// for an index cell with a carriage return before a newline, which readers of
// CSV drop.
func (t *Table) WriteCSV(w io.Writer) error {
	cw := csv.NewWriter(w)
	if err := cw.Write(slices.Concat(t.indexNames, t.valueNames)); err != nil {
		return err
	}
	rec := make([]string, 0, len(t.index)+len(t.values))
	for row := range t.n {
		rec = rec[:0]
		for c := range t.index {
			cell := t.indexColumn(c)[row]
			if strings.Contains(cell, "\r\n") {
				return fmt.Errorf("table: row %d: column %s: %q has a carriage return before a newline", row, t.indexNames[c], cell)
			}
			rec = append(rec, cell)
		}
		for c := range t.values {
			rec = append(rec, Format(t.valueColumn(c)[row]))
		}
		if len(rec) == 1 && rec[0] == "" {
			// Readers skip empty lines; csv.Writer does not quote this cell.
			cw.Flush()
			if _, err := io.WriteString(w, "\"\"\n"); err != nil {
				return err
			}
			continue
		}
		if err := cw.Write(rec); err != nil {
			return err
		}
	}
	cw.Flush()
	return cw.Error()
}

// Format returns the shortest decimal that reads back as v, and "" for NaN.
func Format(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// ReadCSV reads a table written by WriteCSV whose columns are the given ones,
// in that order. name is used in errors, which name line and column. A UTF-8 byte
// order mark, and carriage returns before line feeds, do not count. More bytes than
// limits.Memory are an error.
func ReadCSV(r io.Reader, name string, index, values []string) (*Table, error) {
	raw, err := limits.ReadAll(r, name)
	if err != nil {
		return nil, fmt.Errorf("table: %w", err)
	}
	cr := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))))
	cr.ReuseRecord = true
	want := slices.Concat(index, values)
	head, err := cr.Read()
	if err != nil {
		return nil, fmt.Errorf("table: %s:1: %w", name, err)
	}
	if !slices.Equal(head, want) {
		return nil, fmt.Errorf("table: %s:1: columns are %s, want %s", name, strings.Join(head, ","), strings.Join(want, ","))
	}
	t := New(index, values)
	for {
		rec, err := cr.Read()
		if err == io.EOF {
			return t, nil
		}
		if err != nil {
			return nil, fmt.Errorf("table: %s: %w", name, err)
		}
		for c := range index {
			t.index[c] = append(t.index[c], rec[c])
		}
		for c := range values {
			cell := rec[len(index)+c]
			v := math.NaN()
			if cell != "" {
				if v, err = strconv.ParseFloat(cell, 64); err != nil {
					line, _ := cr.FieldPos(len(index) + c)
					return nil, fmt.Errorf("table: %s:%d: column %s: %q is not a number", name, line, values[c], cell)
				}
			}
			t.values[c] = append(t.values[c], v)
		}
		t.n++
	}
}
