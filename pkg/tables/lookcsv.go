package tables

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"metriclab/internal/plural"
	"metriclab/internal/shellword"
	"metriclab/pkg/datasets"
)

// TableLook is what LookCSV finds in a file.
type TableLook struct {
	Rows    int
	Dialect datasets.Dialect
	Columns []CellColumn // all of the file
	// Notes are Looked.Notes of the features, and what else is odd.
	Notes []string
	// Label is the column of the class, given or guessed; "" for none.
	Label string
	// Flags are those of fit that settle what was found; Failure is why a table is not read even so, nil if it is.
	Flags   []string
	Failure error
}

// CellColumn is a column of a file as it is written.
type CellColumn struct {
	Name string `json:"name"`
	// Kind is one of the kinds below; Class tells that the column is the label.
	Kind  string `json:"kind"`
	Class bool   `json:"class"`
	// Least and Greatest are the range of the numbers; both 0 if there are none.
	Least    float64 `json:"least"`
	Greatest float64 `json:"greatest"`
	Missing  int     `json:"missing"`
	// Values is the number of different cells, at most MaxCategories + 1.
	Values   int      `json:"values"`
	Problems []string `json:"problems"`

	numbers, words int
	whole          bool
	texts          map[string]bool // up to MaxCategories + 1
	absent         []string        // words that mean that there is no value
	odd            string          // the first word that does not, and its line
	line           int
}

// The kinds of columns.
const (
	kindNumbers = "numbers"
	kindWhole   = "whole numbers"
	kindWords   = "words"
	kindMixed   = "numbers and words"
	kindEmpty   = "empty"
)

// meansMissing are words that programs write where there is no value, in lower case. Reading takes none for missing that is not said to be: see datasets.MissingCells.
var meansMissing = []string{"na", "n/a", "#n/a", "nan", "null", "none", "nil", "missing", "-", "--", ".", "unknown"}

// classNames are names, in lower case, of columns that usually hold the class.
var classNames = []string{"class", "label", "target", "y", "species", "category", "diagnosis", "outcome", "variety"}

// mostClasses is the largest number of values that a column guessed to be the class has, and of words that are made features.
const mostClasses = 20

// LookCSV looks at a file before anything is learned: at its cells, then at the rows that Read makes of it with the flags that settle what was found. r is read several times.
// What c says is settled. It returns the errors of datasets.NewCSVRows.
func LookCSV(r io.ReadSeeker, name string, c Columns) (*TableLook, error) {
	start, err := r.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, err
	}
	out := &TableLook{Label: c.Label}
	if err := out.cells(r, name, c); err != nil {
		return nil, err
	}
	impute := false
	out.settle(&c, &impute)
	for range len(out.Columns) + 2 { // each time a flag is new
		if _, err := r.Seek(start, io.SeekStart); err != nil {
			return nil, err
		}
		d, err := Read(r, name, c, impute)
		if e, ok := errors.AsType[*RowNumbersError](err); ok {
			c.Drop = append(c.Drop, e.Column)
			out.note(e.Column, fmt.Sprintf("column %q has no name and numbers the rows", e.Column))
			out.flag("drop", e.Column)
			continue
		}
		if err == nil {
			err = d.Check(false)
		}
		if out.Failure = err; err != nil {
			return out, nil
		}
		looked := d.Look()
		for _, note := range looked.Notes(true) {
			if !slices.Contains(out.Notes, note) {
				out.Notes = append(out.Notes, note)
			}
		}
		if !slices.ContainsFunc(looked.Columns, func(k LookedColumn) bool { return !k.Constant }) {
			out.Failure = errors.New("all features are constant: there is nothing to learn from")
			return out, nil
		}
		if !out.found(looked, &c, &impute) {
			break
		}
	}
	return out, nil
}

// cells looks at all cells.
func (l *TableLook) cells(r io.Reader, name string, c Columns) error {
	o := c.Cells.options(c.Header)
	o.Text, o.OneColumn = slices.Concat(c.Drop, c.OneHot), true
	if c.Label != "" {
		o.Text = append(o.Text, c.Label)
	}
	t, err := datasets.NewCSVRows(r, name, o)
	if err != nil {
		return err
	}
	l.Dialect = t.Dialect
	l.Columns = make([]CellColumn, t.Width())
	for j := range l.Columns {
		l.Columns[j] = CellColumn{Name: t.ColumnName(j), whole: true, texts: map[string]bool{}, Problems: []string{}}
	}
	for {
		row, err := t.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		l.Rows++
		for j, cell := range row {
			var v [1]float64
			number := t.Numbers(v[:], []int{j}, true) == nil
			l.Columns[j].add(cell, v[0], number, t.Line())
		}
	}
	if l.Label != "" {
		j, err := t.Column(l.Label)
		if err != nil {
			return err
		}
		l.Label = t.ColumnName(j)
	}
	for j := range l.Columns {
		l.Columns[j].decide()
	}
	if l.Label == "" && !slices.ContainsFunc(l.Columns, func(k CellColumn) bool { return slices.Contains(c.Drop, k.Name) && k.Class }) {
		l.guess(c.Drop)
	}
	for j := range l.Columns {
		l.Columns[j].Class = l.Columns[j].Name == l.Label && l.Label != ""
	}
	return nil
}

// add takes in a cell, which is the number v, or NaN of a missing one, if number.
func (c *CellColumn) add(cell string, v float64, number bool, line int) {
	if number && v != v {
		c.Missing++
		return
	}
	if len(c.texts) <= MaxCategories && !c.texts[cell] {
		c.texts[strings.Clone(cell)] = true // a cell holds the text of its row
	}
	switch {
	case number:
		if c.numbers == 0 {
			c.Least, c.Greatest = v, v
		}
		c.numbers++
		c.Least, c.Greatest, c.whole = min(c.Least, v), max(c.Greatest, v), c.whole && v == math.Trunc(v)
	case slices.Contains(meansMissing, strings.ToLower(cell)):
		c.words++
		if !slices.Contains(c.absent, cell) {
			c.absent = append(c.absent, strings.Clone(cell))
		}
	default:
		if c.words++; c.line == 0 {
			c.odd, c.line = strings.Clone(cell), line
		}
	}
}

// decide sets the kind.
func (c *CellColumn) decide() {
	c.Values = len(c.texts)
	switch {
	case c.numbers+c.words == 0:
		c.Kind = kindEmpty
	case c.numbers == 0 && c.line > 0:
		c.Kind = kindWords
	case c.line > 0:
		c.Kind = kindMixed
	case c.numbers == 0:
		c.Kind = kindEmpty
	case c.whole:
		c.Kind = kindWhole
	default:
		c.Kind = kindNumbers
	}
}

// guess sets Label to the column that may be the class, of those that are not dropped.
func (l *TableLook) guess(drop []string) {
	few := func(c CellColumn) bool {
		return !slices.Contains(drop, c.Name) && c.Missing == 0 && (c.absent == nil || c.numbers == 0) && (c.Kind == kindWords || c.Kind == kindWhole) && c.Values > 1 && c.Values <= mostClasses && 2*c.Values <= l.Rows
	}
	ends := []CellColumn{l.Columns[len(l.Columns)-1], l.Columns[0]}
	ofWords := func(columns []CellColumn) []CellColumn {
		return slices.DeleteFunc(slices.Clone(columns), func(c CellColumn) bool { return c.Kind != kindWords })
	}
	var order []CellColumn
	for _, c := range l.Columns {
		if slices.Contains(classNames, strings.ToLower(c.Name)) {
			order = append(order, c)
		}
	}
	for _, c := range slices.Concat(order, ofWords(ends), ofWords(l.Columns), ends) {
		if few(c) {
			l.Label = c.Name
			return
		}
	}
}

// flag adds a flag.
func (l *TableLook) flag(name, value string) {
	l.Flags = append(l.Flags, "--"+name+" "+shellword.Item(value))
}

// note adds a note on a column.
func (l *TableLook) note(column, note string) {
	l.Notes = append(l.Notes, note)
	for j := range l.Columns {
		if l.Columns[j].Name == column {
			l.Columns[j].Problems = append(l.Columns[j].Problems, note)
		}
	}
}

// settle adds the flags that the cells ask for, to c too.
func (l *TableLook) settle(c *Columns, impute *bool) {
	if c.Header == datasets.HeaderNo {
		l.Flags = append(l.Flags, "--no-header")
	}
	for _, d := range c.Drop {
		l.flag("drop", d)
	}
	for _, k := range c.Keep {
		l.flag("keep", k)
	}
	for _, o := range c.OneHot {
		l.flag("one-hot", o)
	}
	c.Label, c.Unlabelled = l.Label, l.Label == ""
	missing := c.Cells.Missing
	if missing == nil {
		missing = datasets.MissingCells[1:]
	}
	given := len(missing)
	for _, k := range l.Columns {
		if slices.Contains(c.Drop, k.Name) || slices.Contains(c.OneHot, k.Name) {
			continue
		}
		some := k.Missing
		if k.numbers > 0 || k.Kind == kindEmpty && k.words > 0 {
			for _, w := range k.absent {
				some++
				l.note(k.Name, fmt.Sprintf("column %q has the word %q: --missing reads it as no value", k.Name, w))
				if !slices.Contains(missing, w) {
					missing = append(slices.Clone(missing), w)
				}
			}
		}
		if k.Class {
			if some > 0 {
				l.note(k.Name, fmt.Sprintf("column %q is the class and missing in %s: classes are not filled in", k.Name, plural.Of(k.Missing, "row")))
			}
			continue
		}
		switch {
		case k.Kind == kindEmpty:
			l.note(k.Name, fmt.Sprintf("column %q has no value", k.Name))
			l.flag("drop", k.Name)
			c.Drop = append(c.Drop, k.Name)
			continue
		case k.Kind == kindWords && k.Values <= mostClasses && 2*k.Values <= l.Rows:
			l.note(k.Name, fmt.Sprintf("column %q is of words, %d different ones: --one-hot makes a feature of each", k.Name, k.Values))
			l.flag("one-hot", k.Name)
			c.OneHot = append(c.OneHot, k.Name)
		case k.Kind == kindWords:
			l.note(k.Name, fmt.Sprintf("column %q is of words, too many different ones to make a feature of each", k.Name))
			l.flag("drop", k.Name)
			c.Drop = append(c.Drop, k.Name)
			continue
		case k.Kind == kindMixed:
			l.note(k.Name, fmt.Sprintf("column %q has %s that are no number, the first %q in line %d: --drop leaves the column out, --missing %s reads that as no value", k.Name, plural.Of(k.words, "cell"), k.odd, k.line, shellword.Item(k.odd)))
			l.flag("drop", k.Name)
			c.Drop = append(c.Drop, k.Name)
			continue
		}
		if some > 0 && !*impute {
			*impute = true
			l.Flags = append(l.Flags, "--impute mean")
		}
	}
	l.missing(c, missing, len(missing) > given || c.Cells.Missing != nil)
}

// missing sets the words that mean missing, and the flag if there are others than usual.
func (l *TableLook) missing(c *Columns, words []string, unusual bool) {
	c.Cells.Missing = words
	if !unusual {
		return
	}
	l.Flags = slices.DeleteFunc(l.Flags, func(f string) bool { return strings.HasPrefix(f, "--missing ") })
	items := make([]string, len(words))
	for i, w := range words {
		items[i] = shellword.Item(w)
	}
	l.Flags = append(l.Flags, "--missing "+strings.Join(items, ","))
}

// found adds the flags that the rows ask for, and tells whether there are some.
func (l *TableLook) found(looked *Looked, c *Columns, impute *bool) bool {
	more := false
	words := c.Cells.Missing
	for _, k := range looked.Columns {
		for j := range l.Columns {
			if l.Columns[j].Name == k.Name {
				l.Columns[j].Problems = append(l.Columns[j].Problems, k.notes(looked.Rows)...)
			}
		}
		if k.Counts && looked.Rows >= leastCounting && !k.kept {
			more = true
			l.flag("drop", k.Name)
			c.Drop = append(c.Drop, k.Name)
		}
		for _, s := range k.Sentinels {
			if w := number(s.Value); !slices.Contains(words, w) {
				more, words = true, append(slices.Clone(words), w)
			}
		}
	}
	if len(words) > len(c.Cells.Missing) {
		l.missing(c, words, true)
		if !*impute {
			*impute = true
			l.Flags = append(l.Flags, "--impute mean")
		}
	}
	return more
}
