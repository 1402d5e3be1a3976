// Package tables reads a user's own table, from a file or from memory: which columns are features, which holds the
// classes, and what is odd about them, before anything learns. Package model learns from what it reads.
//
// # How it is built
//
// Read makes Data of a CSV file, ReadSVMLight and ReadNPY of others, NewData of what is in memory. A Reader reads
// files like a table that was read before, of any length by Blocks. Gram matrices and lists of labels, which have
// no columns to choose, are read here, too.
//
// How cells are written (datasets.Dialect) is found in the first 64 KiB of a file. It belongs to the file and not
// to the layout, so that a model reads files of other dialects. Where two readings fit, the file is refused, as a
// wrong one would go unnoticed.
//
// Rows of a regular file are counted first: there is then one matrix in memory, and no cells as text.
package tables

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets"
	"metriclab/pkg/metric"
	"metriclab/pkg/sparse"
)

// Data are the rows of a table: features, and labels if there are any. Read makes
// them of a file, NewData of what is in memory.
type Data struct {
	// Name is that of the file, for messages and titles.
	Name string
	// X is n×d, one column per feature; NaN where a cell is missing. It is nil if the rows are sparse.
	X *mat.Dense
	// Sparse is n×d like X, in place of which it stands for sparse rows, such as those of svmlight. The learner iplr takes them as they are with model.Recipe.Raw; for
	// others, model.Fit and model.Evaluate make them dense if limits.Memory allows.
	Sparse *sparse.Matrix
	// Labels holds one class per row; nil if there is none.
	Labels []string
	// Links are labelled pairs of rows that are known, for model.PairsOfRows.
	Links []metric.Link
	// Chunklets holds the chunklet of each row, "" for none, for model.ByChunklets; nil if there is no such column.
	Chunklets []string
	Layout    Layout
	// Unused lists columns of the file that are neither features nor labels.
	Unused []string
	// Dialect says how the cells of the file are written.
	Dialect datasets.Dialect
	// InPlace says that nobody needs the rows after a fit, which prepares them in X itself, where it would make a second matrix. X then holds prepared rows or, after
	// an error, some of them. Sparse rows never change, nor does the model.
	InPlace bool
	// Notes are warnings on the rows of a table that was read for a model: values that may mean missing, and words of one-hot columns that no training row had.
	Notes []string

	kept []string // columns of Columns.Keep
	used bool     // read for a model
}

// Layout says which columns of a file are what. Columns have names if the file
// has a header, and numbers from 1 otherwise.
type Layout struct {
	Header bool `json:"header"`
	// Width is the number of columns of the training file: more than there are
	// features if one column holds the labels.
	Width int `json:"width"`
	// Label is the column of the class; "" if the training file has none.
	Label    string   `json:"label"`
	Features []string `json:"features"`
	// OneHot are columns of words. Their categories are the last features, called column=category.
	OneHot []OneHot `json:"one_hot,omitempty"`
}

// Clone returns a copy that shares nothing with l.
func (l Layout) Clone() Layout {
	l.Features, l.OneHot = slices.Clone(l.Features), slices.Clone(l.OneHot)
	for k, o := range l.OneHot {
		l.OneHot[k].Categories = slices.Clone(o.Categories)
	}
	return l
}

// Columns say which columns of a new file are what: all are features but the
// label and those to drop, each given by name or by number from 1.
type Columns struct {
	Header datasets.Header
	// Label is the column of classes. It may be "", for none, only if Unlabelled.
	Label      string
	Unlabelled bool
	// Chunklets is the column of chunklets, "" for none: rows with equal cells are known to be alike, and nothing is known of a row with
	// a missing cell. It is no feature. It may be that of the label.
	Chunklets string
	Drop      []string
	// OneHot lists columns of words, with a feature for each of their at most MaxCategories values. A missing one is NaN in all features.
	OneHot []string
	// Keep lists columns that are features though they number the rows, which is a *RowNumbersError for a column without a name, and noted of others.
	Keep  []string
	Cells Cells
}

// Read reads a CSV file with labels to fit or evaluate on; name is that of the
// file, for messages. Missing cells (datasets.MissingCells) become NaN if missing
// is true, and are an error otherwise. Errors are those of datasets.ReadCSV and of
// its cells, and an *OptionError if no column is given as label, if the label is
// dropped too, or if no column is left as a feature; and a *RowNumbersError.
//
// Cells become numbers row by row. If r is a regular file, or else an io.ReadSeeker, its rows are counted first, so that
// memory is that of X and the labels; of other readers it is twice that for a moment. X and the labels are
// refused where they do not fit limits.Memory, before they are read if their rows could be counted.
func Read(r io.Reader, name string, c Columns, missing bool) (*Data, error) {
	if c.Label == "" && !c.Unlabelled {
		return nil, notAllowed("label: no column given, want its name or number")
	}
	rows, err := countRows(r)
	if err != nil {
		return nil, fmt.Errorf("model: %s: %w", name, err)
	}
	o := c.Cells.options(c.Header)
	o.Text, o.OneColumn = slices.Concat(c.Drop, c.OneHot), c.Unlabelled
	for _, column := range []string{c.Label, c.Chunklets} {
		if column != "" {
			o.Text = append(o.Text, column)
		}
	}
	t, err := datasets.NewCSVRows(r, name, o)
	if err != nil {
		return nil, err
	}
	used := make([]bool, t.Width())
	d := &Data{Name: name, Dialect: t.Dialect}
	columns := [2]int{-1, -1} // those of labels and of chunklets
	for k, column := range []string{c.Label, c.Chunklets} {
		if column == "" {
			continue
		}
		if columns[k], err = t.Column(column); err != nil {
			return nil, err
		}
		used[columns[k]] = true
	}
	for _, column := range c.Drop {
		j, err := t.Column(column)
		if err != nil {
			return nil, err
		}
		if k := slices.Index(columns[:], j); k >= 0 {
			return nil, notAllowed("column %s is %s and cannot be dropped", column, []string{"the label", "that of the chunklets"}[k])
		}
		if !used[j] {
			d.Unused = append(d.Unused, t.ColumnName(j))
		}
		used[j] = true
	}
	d.Layout = Layout{Header: t.Header != nil, Width: t.Width()}
	if columns[0] >= 0 {
		d.Layout.Label = t.ColumnName(columns[0])
	}
	f := &fields{}
	for _, column := range c.OneHot {
		j, err := t.Column(column)
		if err != nil {
			return nil, err
		}
		if used[j] {
			return nil, notAllowed("column %s is the label, dropped, or one-hot already, and cannot be one-hot", column)
		}
		used[j] = true
		f.words = append(f.words, words{column: j, at: map[string]int{}, learn: true})
	}
	for _, column := range c.Keep {
		j, err := t.Column(column)
		if err != nil {
			return nil, err
		}
		if used[j] {
			return nil, notAllowed("column %s is the label, dropped or one-hot, and cannot be kept as a feature of numbers", column)
		}
		d.kept = append(d.kept, t.ColumnName(j))
	}
	for j := range used {
		if !used[j] {
			f.numbers = append(f.numbers, j)
			d.Layout.Features = append(d.Layout.Features, t.ColumnName(j))
		}
	}
	if f.width() == 0 {
		return nil, notAllowed("%s: no column is left as a feature", name)
	}
	x, read, err := gather(t, rows, f, missing, &classColumn{column: columns[0]}, &classColumn{column: columns[1], holes: true})
	if err != nil {
		return nil, err
	}
	if d.X, err = f.expand(x, name, &t.CSVColumns, &d.Layout); err != nil {
		return nil, err
	}
	d.Labels, d.Chunklets = read[0], read[1]
	if err := d.checkRowNumbers(); err != nil {
		return nil, err
	}
	return d, nil
}

// find returns the columns of a file, in the order of Layout.columns; label is -1 if it has none.
func (l Layout) find(t *datasets.CSVColumns) (features []int, label int, err error) {
	label = -1
	columns := l.columns()
	if l.Header {
		at := make(map[string]int, len(t.Header)) // there may be very many
		for j, name := range t.Header {
			at[name] = j
		}
		if j, ok := at[l.Label]; ok && l.Label != "" {
			label = j
		}
		for _, name := range columns {
			j, ok := at[name]
			if !ok {
				_, err := t.Column(name)
				if err == nil { // a number that is no name here
					err = &datasets.UnknownColumnError{File: t.Name, Column: name, Columns: t.Header, Width: t.Width()}
				}
				return nil, 0, err
			}
			features = append(features, j)
		}
		return features, label, nil
	}
	alone := t.Width() == len(columns) // the features
	if !alone && t.Width() != l.Width {
		return nil, 0, fmt.Errorf("model: %s has %d columns, want %d as the training file, or the %d features alone", t.Name, t.Width(), l.Width, len(columns))
	}
	if alone && len(l.OneHot) == 0 {
		for j := range columns {
			features = append(features, j)
		}
		return features, label, nil
	}
	numbers := columns
	if l.Label != "" {
		numbers = append([]string{l.Label}, columns...)
	}
	for _, number := range numbers {
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || n > l.Width {
			return nil, 0, fmt.Errorf("model: column %q of a model without header is no number from 1 to %d", number, l.Width)
		}
		features = append(features, n-1)
	}
	if l.Label != "" {
		label, features = features[0], features[1:]
	}
	if alone { // in the order of the training file
		order := slices.Sorted(slices.Values(features))
		for k, j := range features {
			features[k], _ = slices.BinarySearch(order, j)
		}
		return features, -1, nil
	}
	return features, label, nil
}

// LabelName returns a name for the column of labels.
func (l Layout) LabelName() string {
	if l.Header {
		return l.Label
	}
	return "label"
}

// Check returns an error unless l can be that of a table of d features: what
// model.Load refuses, model.Fit refuses too.
func (l Layout) Check(d int) error {
	if len(l.Features) != d {
		return fmt.Errorf("%d names for %d features", len(l.Features), d)
	}
	if err := l.checkOneHot(); err != nil {
		return err
	}
	filled := d - l.categories() + len(l.OneHot) // columns of the file
	least, also := filled, ""
	if l.Label != "" {
		least, also = filled+1, " and one of labels"
	}
	if d == 0 || l.Width < least || l.Width > math.MaxInt32 {
		return fmt.Errorf("layout: width: %d is not allowed with %d features, want %d to %d: a column per feature%s", l.Width, filled, least, math.MaxInt32, also)
	}
	columns := map[string]int{}
	for j, name := range l.Features {
		if err := CheckText(name); err != nil {
			return fmt.Errorf("layout: feature %d: the name %w", j+1, err)
		}
		if i, ok := columns[name]; ok {
			return fmt.Errorf("layout: features %d and %d are both called %q, want distinct names", i+1, j+1, name)
		}
		columns[name] = j
	}
	if err := CheckText(l.Label); err != nil {
		return fmt.Errorf("layout: label: the name %w", err)
	}
	if j, ok := columns[l.Label]; ok {
		return fmt.Errorf("layout: feature %d and the column of labels are both called %q, want distinct names", j+1, l.Label)
	}
	return nil
}

// CheckText returns an error if s would not come back as it is from a saved model, which is
// JSON, or from a CSV file, whose reader takes \r\n for \n.
func CheckText(s string) error {
	if !utf8.ValidString(s) {
		return fmt.Errorf("%q is not UTF-8", s)
	}
	if strings.Contains(s, "\r\n") {
		return fmt.Errorf("%q has the line end \\r\\n, want \\n", s)
	}
	return nil
}

// Check returns an error unless something can be learned from d: by its Links if there are any, else by its labels, which may be nil unless they are needed. It panics if d is nil or has no rows.
func (d *Data) Check(labels bool) error {
	linked := d.Links != nil
	n, width := d.Dims()
	switch {
	case d.Labels == nil && labels:
		return fmt.Errorf("model: %s has no labels", d.Name)
	case d.Labels != nil && len(d.Labels) != n:
		return fmt.Errorf("model: %d labels for %d rows", len(d.Labels), n)
	}
	if err := d.Layout.Check(width); err != nil {
		return fmt.Errorf("model: %w", err)
	}
	if linked {
		if err := metric.CheckLinks(n, d.Links); err != nil {
			return fmt.Errorf("model: %s: %w", d.Name, err)
		}
	}
	classes, _ := datasets.Classes(d.Labels)
	if len(classes) < 2 && !linked && d.Labels != nil {
		return fmt.Errorf("model: %s: column %s: all labels are %q, want at least two classes", d.Name, d.Layout.Label, strings.Join(classes, ""))
	}
	if err := checkContinuous(d.Labels, classes); err != nil {
		return fmt.Errorf("model: %s: column %s: %w", d.Name, d.Layout.Label, err)
	}
	for _, c := range classes {
		if err := CheckText(c); err != nil {
			return fmt.Errorf("model: %s: column %s: the label %w", d.Name, d.Layout.Label, err)
		}
	}
	return nil
}
