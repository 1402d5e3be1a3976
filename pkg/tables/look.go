package tables

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/closest"
	"metriclab/internal/plural"
	"metriclab/internal/shellword"
	"metriclab/internal/vector"
	"metriclab/pkg/datasets"
)

// Looked is what one pass over a table finds before anything learns from it.
type Looked struct {
	Rows    int
	Columns []LookedColumn // of features
	// Repeated is the number of rows that equal an earlier one in all features, Mixed that of the groups of equal rows with different classes.
	Repeated, Mixed int
	// Alike says which classes, or values of a one-hot column, are different though a reader takes them for one.
	Alike []string

	used bool // the table was read for a model, whose columns are settled
}

// LookedColumn is a feature.
type LookedColumn struct {
	Name string
	// Least and Greatest are the range of the cells that are not missing, sentinels apart; NaN if there is none.
	Least, Greatest float64
	Missing         int
	// Whole tells that all cells are whole numbers, Constant that they differ by round-off at most.
	Whole, Constant bool
	// Counts tells that the cells count the rows: they are n successive whole numbers, in any order.
	Counts bool
	// Sentinels are values at several rows that stand far from all others, as -999 does where it means that there is no value.
	Sentinels []Sentinel

	kept bool // as a feature, by Columns.Keep
}

// Sentinel is a value and the number of its rows.
type Sentinel struct {
	Value float64
	Rows  int
}

// leastCounting is the number of rows from which on successive numbers are no accident.
const leastCounting = 10

// Look passes over the rows once. It changes nothing.
func (d *Data) Look() *Looked {
	d.given()
	n, width := d.Dims()
	out := &Looked{used: d.used, Rows: n, Columns: make([]LookedColumn, width)}
	constant := make([]bool, width)
	if d.X != nil {
		if _, columns, err := datasets.FitScaler(d.X, datasets.ZScore, true); err == nil { // else the fit will tell
			for _, j := range columns {
				constant[j] = true
			}
		}
	}
	numbers := width - d.Layout.categories()
	sparse := columnsOf(d)
	values := make([]float64, n)
	for j := range width {
		zeros := 0
		if sparse != nil {
			values, zeros = sparse[j], n-len(sparse[j])
		} else {
			mat.Col(values, j, d.X)
		}
		out.Columns[j] = lookAt(values, zeros, j < numbers)
		name := d.Layout.Features[j]
		out.Columns[j].Name, out.Columns[j].Constant, out.Columns[j].kept = name, constant[j], slices.Contains(d.kept, name)
	}
	out.repeated(d)
	classes, _ := datasets.Classes(d.Labels)
	out.alike("classes", classes)
	for _, o := range d.Layout.OneHot {
		out.alike("values of column "+o.Column, o.Categories)
	}
	return out
}

func (l *Looked) alike(things string, names []string) {
	if note := closest.AlikeNote(things, names); note != "" {
		l.Alike = append(l.Alike, note)
	}
}

// columnsOf returns the entries of sparse rows by column; nil of others.
func columnsOf(d *Data) [][]float64 {
	if d.Sparse == nil {
		return nil
	}
	n, width := d.Dims()
	out := make([][]float64, width)
	for i := range n {
		row := d.Sparse.Row(i)
		for k, j := range row.Index {
			out[j] = append(out[j], row.Value[k])
		}
	}
	return out
}

// lookAt looks at a column of numbers, or at one of a category, which is 0 or 1. zeros counts its zeros beside values.
func lookAt(values []float64, zeros int, numbers bool) LookedColumn {
	c := LookedColumn{Whole: true}
	for _, v := range values {
		if v != v {
			c.Missing++
		}
		c.Whole = c.Whole && (v != v || v == math.Trunc(v))
	}
	for {
		var e extremes
		for _, v := range values {
			if !slices.ContainsFunc(c.Sentinels, func(s Sentinel) bool { return s.Value == v }) {
				e.add(v, 1)
			}
		}
		e.add(0, zeros)
		if c.Least, c.Greatest = e.least.value, -e.greatest.value; e.rows == 0 {
			c.Least, c.Greatest = math.NaN(), math.NaN()
		}
		s, found := e.sentinel(c.Whole)
		if !found || !numbers {
			break
		}
		c.Sentinels = append(c.Sentinels, s)
	}
	n := len(values) + zeros
	if numbers && c.Whole && c.Missing == 0 && n > 1 && zeros < 2 && c.Greatest-c.Least == float64(n-1) && c.Sentinels == nil {
		seen := make([]bool, n)
		for _, v := range values {
			seen[int(v-c.Least)] = true
		}
		if zeros > 0 {
			seen[int(-c.Least)] = true
		}
		c.Counts = !slices.Contains(seen, false)
	}
	return c
}

// extreme is the least value, its number of rows, and the next value.
type extreme struct {
	value, next float64
	rows        int
	more        bool // there is a next value
}

func (e *extreme) add(v float64, rows int) {
	switch {
	case e.rows == 0:
		e.value, e.rows = v, rows
	case v == e.value:
		e.rows += rows
	case v < e.value:
		e.value, e.next, e.rows, e.more = v, e.value, rows, true
	case !e.more || v < e.next:
		e.next, e.more = v, true
	}
}

// extremes are those of the cells of a column that are not missing; greatest is the least of their negatives. The zero value has none.
type extremes struct {
	least, greatest extreme
	rows            int
}

func (e *extremes) add(v float64, rows int) {
	if v == v && rows > 0 {
		e.least.add(v, rows)
		e.greatest.add(-v, rows)
		e.rows += rows
	}
}

// sentinel returns the least or the greatest value if it is one. Nines, 99 or more, and the least int16 and int32 are far from the others if the next is farther than half of the
// range of these. Below 0 where the others are not, any distance will do. The values -1 and -9 are sentinels in a minority of the rows, or among whole numbers, none of which is
// below 0 and some above 10.
func (e *extremes) sentinel(whole bool) (Sentinel, bool) {
	low, high := e.least, e.greatest
	greatest := -high.value
	apart := func(x extreme, spread float64) bool { return x.rows > 1 && x.more && x.next-x.value > spread/2 }
	below := low.rows > 1 && low.more && low.value < 0 && low.next >= 0 // no other is below 0
	switch {
	case nines(low.value) || low.value == math.MinInt16 || low.value == math.MinInt32:
		if below || low.value < 0 && apart(low, greatest-low.next) {
			return Sentinel{low.value, low.rows}, true
		}
	case low.value == -1 || low.value == -9:
		if below && greatest > 10 && (whole || 2*low.rows < e.rows) {
			return Sentinel{low.value, low.rows}, true
		}
	}
	if greatest > 0 && nines(greatest) && apart(high, -high.next-low.value) {
		return Sentinel{greatest, high.rows}, true
	}
	return Sentinel{}, false
}

// nines tells whether a number is written with at least two nines and no other digit: -99, 999.9.
func nines(v float64) bool {
	digits := strings.Replace(strings.TrimPrefix(number(v), "-"), ".", "", 1)
	return len(digits) > 1 && strings.Trim(digits, "9") == ""
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// repeated counts equal rows.
func (l *Looked) repeated(d *Data) {
	type group struct {
		first int
		mixed bool
	}
	groups := make(map[uint64][]group, l.Rows) // by a hash of the row
	for i := range l.Rows {
		h := d.hash(i)
		k := slices.IndexFunc(groups[h], func(g group) bool { return d.sameRow(g.first, i) })
		if k < 0 {
			groups[h] = append(groups[h], group{first: i})
			continue
		}
		l.Repeated++
		if g := &groups[h][k]; d.Labels != nil && d.Labels[i] != d.Labels[g.first] && !g.mixed {
			g.mixed = true
			l.Mixed++
		}
	}
}

// hash returns a number that equal rows have in common.
func (d *Data) hash(i int) uint64 {
	if d.Sparse == nil {
		return vector.Hash(d.X.RawRowView(i))
	}
	row := d.Sparse.Row(i)
	h := vector.Hash(row.Value)
	for _, j := range row.Index {
		h = vector.Mix(h, uint64(j))
	}
	return h
}

// sameRow tells whether two rows are equal.
func (d *Data) sameRow(a, b int) bool {
	same := func(u, v float64) bool { return vector.Bits(u) == vector.Bits(v) }
	if d.Sparse == nil {
		return slices.EqualFunc(d.X.RawRowView(a), d.X.RawRowView(b), same)
	}
	ra, rb := d.Sparse.Row(a), d.Sparse.Row(b)
	return slices.Equal(ra.Index, rb.Index) && slices.EqualFunc(ra.Value, rb.Value, same)
}

// Notes says what may be meant and makes numbers wrong if it is not, with the flag that settles it. folds adds what matters to who divides the rows.
func (l *Looked) Notes(folds bool) []string {
	var notes, constant []string
	if l.used {
		notes = l.strange()
	}
	for _, c := range l.Columns {
		if !l.used {
			notes = append(notes, c.notes(l.Rows)...)
		}
		if c.Constant {
			constant = append(constant, c.Name)
		}
	}
	const most = 10
	if more := len(notes) - most; more > 1 {
		notes = append(notes[:most:most], fmt.Sprintf("%d more columns have such values", more))
	}
	notes = append(notes, l.Alike...)
	if folds && len(constant) > 0 {
		notes = append(notes, fmt.Sprintf("constant, so without weight in any distance: %s", someOf(constant)))
	}
	if folds && l.Repeated > 0 {
		mixed := ""
		if l.Mixed > 0 {
			mixed = fmt.Sprintf("; %s of equal rows have different classes", plural.Of(l.Mixed, "group"))
			if l.Mixed == 1 {
				mixed = "; 1 group of equal rows has different classes"
			}
		}
		verb := "equal an earlier one in all features: tested while that is learned from, they tell"
		if l.Repeated == 1 {
			verb = "equals an earlier one in all features: tested while that is learned from, it tells"
		}
		notes = append(notes, fmt.Sprintf("%s %s nothing about new rows%s", plural.Of(l.Repeated, "row"), verb, mixed))
	}
	return notes
}

// someOf lists the first ten of names.
func someOf(names []string) string {
	const shown = 10
	if len(names) <= shown+1 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s, %d more", strings.Join(names[:shown], ", "), len(names)-shown)
}

func (c *LookedColumn) notes(rows int) (notes []string) {
	switch {
	case c.kept:
	case c.Counts && rows >= leastCounting:
		notes = append(notes, fmt.Sprintf("column %q counts the rows: --drop %s leaves it out, --keep %[2]s says that it is a feature", c.Name, shellword.Item(c.Name)))
	case unnamed.MatchString(c.Name):
		notes = append(notes, fmt.Sprintf("column %q has no name in the header: --drop %s leaves it out, --keep %[2]s says that it is a feature", c.Name, shellword.Item(c.Name)))
	}
	return append(notes, c.strange("--impute mean")...)
}

// strange returns notes on the sentinels; beside says what is wanted beside --missing.
func (c *LookedColumn) strange(beside string) (notes []string) {
	for _, s := range c.Sentinels {
		notes = append(notes, fmt.Sprintf("column %q is %s at %s, and %s to %s at others: if that means missing, --missing %s %s",
			c.Name, number(s.Value), plural.Of(s.Rows, "row"), number(c.Least), number(c.Greatest), number(s.Value), beside))
	}
	return notes
}

// strange returns notes on the sentinels of a table that was read for a model.
func (l *Looked) strange() (notes []string) {
	for _, c := range l.Columns {
		notes = append(notes, c.strange(ofImputing)...)
	}
	return notes
}

// ofImputing is what --missing wants beside it where a model is used.
const ofImputing = "with a model of fit --impute mean"

// seen are the rows of a table, read for a model, so far.
type seen struct {
	layout    Layout
	columns   []extremes // of numbers
	fractions []bool
	unknown   int               // cells of words that no training row had
	strange   []map[string]bool // these words by column, a few
}

// add takes in the numbers of a row.
func (s *seen) add(row []float64) {
	for j, v := range row {
		s.columns[j].add(v, 1)
		s.fractions[j] = s.fractions[j] || v == v && v != math.Trunc(v)
	}
}

// word takes in a word of one-hot column k that is no category.
func (s *seen) word(k int, word string) {
	const most = 20
	s.unknown++
	if s.strange[k] == nil {
		s.strange[k] = map[string]bool{}
	}
	if len(s.strange[k]) < most {
		s.strange[k][strings.Clone(word)] = true // a cell holds the text of its row
	}
}

// notes returns warnings on the rows so far.
func (s *seen) notes() (notes []string) {
	for j := range s.columns {
		e := &s.columns[j]
		if value, found := e.sentinel(!s.fractions[j]); found {
			c := LookedColumn{Name: s.layout.Features[j], Least: e.least.value, Greatest: -e.greatest.value, Sentinels: []Sentinel{value}}
			if value.Value == c.Least {
				c.Least = e.least.next
			} else {
				c.Greatest = -e.greatest.next
			}
			notes = append(notes, c.strange(ofImputing)...)
		}
	}
	if s.unknown > 0 {
		notes = append(notes, fmt.Sprintf("%s of one-hot columns with a value that no training row had, so that all features of the column are 0", plural.Of(s.unknown, "cell")))
	}
	for k, o := range s.layout.OneHot {
		if s.strange[k] == nil {
			continue
		}
		if note := closest.AlikeNote("values of column "+o.Column, slices.Concat(o.Categories, slices.Sorted(maps.Keys(s.strange[k])))); note != "" {
			notes = append(notes, note)
		}
	}
	return notes
}

// unnamed matches what datasets and pandas call a column whose cell of the header is empty.
var unnamed = regexp.MustCompile(`^(column|Unnamed:) \d+$`)

// RowNumbersError says that a column without a name numbers the rows, as the index does that pandas and R write in front of a table.
type RowNumbersError struct {
	File, Column string
}

func (e *RowNumbersError) Error() string {
	return fmt.Sprintf("model: %s: column %q has no name and a different whole number in each row, as the index that pandas and R write: --drop %s leaves it out, --keep %[3]s makes it a feature", e.File, e.Column, shellword.Item(e.Column))
}

// checkRowNumbers returns a *RowNumbersError for a column without a name that has another whole number in each row and is not kept.
func (d *Data) checkRowNumbers() error {
	n, _ := d.Dims()
	for j, name := range d.Layout.Features[:len(d.Layout.Features)-d.Layout.categories()] {
		if !unnamed.MatchString(name) || !d.Layout.Header || slices.Contains(d.kept, name) || n < 2 {
			continue
		}
		values := mat.Col(nil, j, d.X)
		slices.Sort(values)
		whole := !slices.ContainsFunc(values, func(v float64) bool { return v != math.Trunc(v) })
		if whole && len(slices.Compact(values)) == n {
			return &RowNumbersError{d.Name, name}
		}
	}
	return nil
}
