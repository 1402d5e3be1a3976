package tables

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/plural"
	"metriclab/pkg/datasets"
	"metriclab/pkg/limits"
)

// Cells say how the cells of a CSV file are written. What the zero value leaves open is found in the head of the file: see
// datasets.DetectDialect, whose *datasets.AmbiguousError Read returns.
type Cells struct {
	// Separator is ',', ';' or '\t'; 0 if it is to be found.
	Separator rune
	// Decimal is the mark within numbers.
	Decimal datasets.Decimal
	// Missing lists what a missing cell holds, beside the empty one; nil means datasets.MissingCells.
	Missing []string
}

// options returns how to read a file of such cells.
func (c Cells) options(h datasets.Header) datasets.CSVOptions {
	return datasets.CSVOptions{Header: h, Detect: true, Decimal: c.Decimal, Missing: c.Missing, Dialect: datasets.Dialect{Separator: c.Separator}}
}

// MaxCategories is the largest number of values of a column that OneHot makes features of.
const MaxCategories = 1000

// OneHot is a column of words: a feature for each of its values, 1 in rows that have it and 0 in others.
type OneHot struct {
	// Column is its name, or its number from 1.
	Column string `json:"column"`
	// Categories are the values that the training rows have, in the order of datasets.Classes.
	Categories []string `json:"categories"`
}

// categories is the number of features of the columns of words.
func (l Layout) categories() int {
	n := 0
	for _, o := range l.OneHot {
		n += len(o.Categories)
	}
	return n
}

// columns returns the columns of the features: those of numbers, then those of words.
func (l Layout) columns() []string {
	if len(l.OneHot) == 0 {
		return l.Features
	}
	out := slices.Clone(l.Features[:len(l.Features)-l.categories()])
	for _, o := range l.OneHot {
		out = append(out, o.Column)
	}
	return out
}

// categoryName is the name of the feature of a category.
func categoryName(column, category string) string { return column + "=" + category }

// checkOneHot returns an error unless the features of the columns of words have the names that they give.
func (l Layout) checkOneHot() error {
	at := len(l.Features) - l.categories()
	if at < 0 {
		return fmt.Errorf("layout: one_hot: %d categories for %d features", l.categories(), len(l.Features))
	}
	seen := map[string]bool{l.Label: true}
	for _, name := range l.Features[:at] {
		seen[name] = true
	}
	for _, o := range l.OneHot {
		if seen[o.Column] {
			return fmt.Errorf("layout: one_hot: the column %q is there twice", o.Column)
		}
		seen[o.Column] = true
		if err := CheckText(o.Column); err != nil {
			return fmt.Errorf("layout: one_hot: the name %w", err)
		}
		if len(o.Categories) == 0 || len(o.Categories) > MaxCategories {
			return fmt.Errorf("layout: one_hot: column %q: %d categories are not allowed, want 1 to %d", o.Column, len(o.Categories), MaxCategories)
		}
		for _, c := range o.Categories {
			if l.Features[at] != categoryName(o.Column, c) {
				return fmt.Errorf("layout: one_hot: feature %q, want %q", l.Features[at], categoryName(o.Column, c))
			}
			at++
		}
	}
	return nil
}

// fields are the columns of a file that give features.
type fields struct {
	numbers []int // columns
	words   []words
	seen    *seen // of a table read for a model; nil of one to learn from
}

// words is a column of words.
type words struct {
	column     int
	categories []string
	at         map[string]int // of categories
	learn      bool           // new words are new categories, and a cell gives the index of its own
}

// fieldsOf returns the fields of a layout, whose columns are as find returns them.
func (l Layout) fieldsOf(columns []int) *fields {
	f := &fields{numbers: columns[:len(columns)-len(l.OneHot)]}
	f.seen = &seen{layout: l, columns: make([]extremes, len(f.numbers)), fractions: make([]bool, len(f.numbers)), strange: make([]map[string]bool, len(l.OneHot))}
	for k, o := range l.OneHot {
		w := words{column: columns[len(f.numbers)+k], categories: o.Categories, at: make(map[string]int, len(o.Categories))}
		for i, c := range o.Categories {
			w.at[c] = i
		}
		f.words = append(f.words, w)
	}
	return f
}

// width is how many numbers a row gives.
func (f *fields) width() int {
	d := len(f.numbers)
	for _, w := range f.words {
		if w.learn {
			d++
		} else {
			d += len(w.categories)
		}
	}
	return d
}

// read sets dst to the numbers of the row that t has read.
func (f *fields) read(dst []float64, t *datasets.CSVRows, missing bool) error {
	if err := t.Numbers(dst[:len(f.numbers)], f.numbers, missing); err != nil {
		return err
	}
	if f.seen != nil {
		f.seen.add(dst[:len(f.numbers)])
	}
	dst = dst[len(f.numbers):]
	for k := range f.words {
		w := &f.words[k]
		part := dst[:1]
		if !w.learn {
			part = dst[:len(w.categories)]
		}
		dst = dst[len(part):]
		cell, absent := t.Word(w.column)
		if absent != nil {
			if !missing {
				return absent
			}
			for j := range part {
				part[j] = math.NaN()
			}
			continue
		}
		i, ok := w.at[cell]
		if !ok && w.learn {
			if len(w.categories) == MaxCategories {
				return fmt.Errorf("model: %s:%d: column %s has more than %d values, want at most that many to make a feature of each: it may be a number or a name, which is no feature",
					t.Name, t.Line(), t.ColumnName(w.column), MaxCategories)
			}
			i = len(w.categories)
			cell = strings.Clone(cell) // it holds the text of its row
			w.categories = append(w.categories, cell)
			w.at[cell] = i
		}
		if w.learn {
			part[0] = float64(i)
			continue
		}
		clear(part)
		if ok {
			part[i] = 1
		} else {
			f.seen.word(k, cell)
		}
	}
	return nil
}

// expand returns x with a column for each category in place of those of the indices of words that were learned, and adds the columns to l.
func (f *fields) expand(x *mat.Dense, name string, t *datasets.CSVColumns, l *Layout) (*mat.Dense, error) {
	if len(f.words) == 0 {
		return x, nil
	}
	n, _ := x.Dims()
	plain := len(f.numbers)
	place := make([][]int, len(f.words)) // of each category, its feature
	d := plain
	for k, w := range f.words {
		if len(w.categories) == 0 {
			return nil, fmt.Errorf("model: %s: column %s has no cell that is not missing", name, t.ColumnName(w.column))
		}
		sorted, order := datasets.Classes(w.categories)
		place[k] = make([]int, len(order))
		for i, o := range order {
			place[k][i] = d + o
		}
		o := OneHot{Column: t.ColumnName(w.column), Categories: sorted}
		l.OneHot = append(l.OneHot, o)
		for _, c := range sorted {
			l.Features = append(l.Features, categoryName(o.Column, c))
		}
		d += len(sorted)
	}
	if err := limits.Check(fmt.Sprintf("%s: %s of %s", name, plural.Of(n, "row"), plural.Of(d, "feature")), limits.Floats(n, d)); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	out := mat.NewDense(n, d, nil)
	for i := range n {
		from, to := x.RawRowView(i), out.RawRowView(i)
		copy(to, from[:plain])
		for k := range f.words {
			if v := from[plain+k]; v == v {
				to[place[k][int(v)]] = 1
				continue
			}
			for _, j := range place[k] {
				to[j] = math.NaN()
			}
		}
	}
	return out, nil
}

// ForgetUnseen sets the features of categories that no row of train has to 0 in the rows of d: rows that are new have them so. Both have the layout of one table.
func (d *Data) ForgetUnseen(train *Data) {
	n, width := train.Dims()
	for j := width - d.Layout.categories(); j < width; j++ {
		seen := false
		for i := 0; i < n && !seen; i++ {
			seen = train.X.At(i, j) == 1
		}
		rows, _ := d.Dims()
		for i := 0; i < rows && !seen; i++ {
			if v := d.X.At(i, j); v == v {
				d.X.Set(i, j, 0)
			}
		}
	}
}

// The least number of values of a label that looks continuous.
const leastContinuous = 21

// checkContinuous returns an error if labels look like measurements: many numbers with fractions, of which few are equal.
func checkContinuous(labels, classes []string) error {
	if 2*len(classes) <= len(labels) || len(classes) < leastContinuous {
		return nil
	}
	fractions := 0
	for _, c := range classes {
		v, err := strconv.ParseFloat(strings.Replace(c, ",", ".", 1), 64)
		if err != nil {
			return nil
		}
		if v != math.Trunc(v) {
			fractions++
		}
	}
	if fractions < leastContinuous {
		return nil
	}
	return fmt.Errorf("%s of %s are distinct numbers, such as %s: it looks continuous. Classes are wanted, and to learn a metric for regression is out of scope; make classes of intervals first, such as low, middle and high thirds",
		plural.Of(len(classes), "label"), plural.Of(len(labels), "row"), classes[0])
}
