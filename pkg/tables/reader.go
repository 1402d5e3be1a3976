package tables

import (
	"fmt"
	"io"
	"iter"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/plural"
	"metriclab/pkg/datasets"
	"metriclab/pkg/limits"
)

// Reader reads tables that are like the one of a layout. Their words become the features of the categories that the layout has.
type Reader struct {
	Layout Layout
	// Cells say how the cells of CSV are written.
	Cells Cells
	// Missing reads missing cells as NaN; otherwise they are an error.
	Missing bool
}

// CSV reads a CSV file. With a header, columns are found by name and others left out; without one, the file has all
// columns of the layout, or the features alone. Labels are read if they are there: a column of missing cells only, as new
// rows have it, counts as none. Errors are those of Read.
func (t Reader) CSV(r io.Reader, name string) (*Data, error) {
	rows, err := countRows(r)
	if err != nil {
		return nil, fmt.Errorf("model: %s: %w", name, err)
	}
	in, err := t.open(r, name)
	if err != nil {
		return nil, err
	}
	x, labels, err := gather(in.rows, rows, in.fields, t.Missing, in.class)
	if err != nil {
		return nil, err
	}
	d := t.data(name)
	d.X, d.Labels, d.Unused, d.Dialect, d.Notes = x, labels[0], in.unused, in.rows.Dialect, in.fields.seen.notes()
	return d, nil
}

// data are those of a file, without rows.
func (t Reader) data(name string) *Data {
	return &Data{Name: name, Layout: t.Layout.Clone(), used: true}
}

// opened is a CSV file that is read as far as its columns.
type opened struct {
	rows   *datasets.CSVRows
	fields *fields
	class  *classColumn
	unused []string // names of other columns
}

func (t Reader) open(r io.Reader, name string) (out opened, err error) {
	o := t.Cells.options(datasets.HeaderNo)
	if t.Layout.Header {
		o.Header = datasets.HeaderYes
	}
	o.OneColumn = len(t.Layout.columns()) == 1
	if out.rows, err = datasets.NewCSVRows(r, name, o); err != nil {
		return out, err
	}
	features, label, err := t.Layout.find(&out.rows.CSVColumns)
	if err != nil {
		return out, err
	}
	known := make([]bool, out.rows.Width())
	for _, j := range features {
		known[j] = true
	}
	for j := range known {
		if j != label && !known[j] {
			out.unused = append(out.unused, out.rows.ColumnName(j))
		}
	}
	out.fields, out.class = t.Layout.fieldsOf(features), &classColumn{column: label, optional: true}
	return out, nil
}

// SVMLight reads rows of svmlight or LIBSVM for a layout without header: feature i is the i-th of the layout. Rows may lack features that the
// layout has; an index behind the last of these is an error.
func (t Reader) SVMLight(r io.Reader, name string, base datasets.IndexBase) (*Data, error) {
	if t.Layout.Header {
		return nil, fmt.Errorf("model: %s: the model knows features by their names, such as %s, which rows of svmlight do not have", name, t.Layout.Features[0])
	}
	o := datasets.SVMLightOptions{Base: base, Features: len(t.Layout.Features)}
	d, err := readSVMLight(r, name, o, func(int) (Layout, error) { return t.Layout.Clone(), nil })
	if err != nil {
		return nil, err
	}
	d.used = true
	d.Notes = d.Look().strange()
	return d, nil
}

// NPY reads features for a layout without header: column i of the array is the i-th feature. labels is as in ReadNPY.
func (t Reader) NPY(r io.Reader, name string, labels func(n int) ([]string, error)) (*Data, error) {
	if t.Layout.Header {
		return nil, fmt.Errorf("model: %s: the model knows features by their names, such as %s, which an array does not have", name, t.Layout.Features[0])
	}
	read, err := ReadNPY(r, name, labels)
	if err != nil {
		return nil, err
	}
	if _, width := read.X.Dims(); width != len(t.Layout.Features) {
		return nil, fmt.Errorf("model: %s has %s, want %d as the model", name, plural.Of(width, "column"), len(t.Layout.Features))
	}
	d := t.data(name)
	d.X, d.Labels = read.X, read.Labels
	d.Notes = d.Look().strange()
	return d, nil
}

// blockBytes is about what a block takes.
const (
	blockBytes = 1 << 20
	blocksHeld = 4 // with the block before, those that the caller has, and what grew
)

// BlockRows is the least number of rows of a block, the last apart, where memory allows: gonum's product has other bits for fewer, where it takes another way.
const BlockRows = 256

// Blocks reads a CSV file as CSV does, and yields its rows in blocks of about 1 MB or 256 rows, of which each row takes extra numbers beside its features
// where it is used. Memory is that of a few blocks, however long the file is. An error ends the sequence. A block is valid until the next one is asked for.
//
// A column of classes that is missing in the first row must be missing in all.
func (t Reader) Blocks(r io.Reader, name string, extra int) iter.Seq2[*Data, error] {
	return func(yield func(*Data, error) bool) {
		in, err := t.open(r, name)
		if err != nil {
			yield(nil, err)
			return
		}
		d := in.fields.width()
		perRow := limits.Floats(2*d + extra) // read, prepared, and what is made of it
		rows := max(blockBytes/perRow, min(BlockRows, limits.Memory()/(blocksHeld*perRow)), 1)
		var read []float64
		for {
			read = read[:0]
			in.class.names = nil // there may be as many as rows
			b := &Data{Name: name, Layout: t.Layout, Unused: in.unused, Dialect: in.rows.Dialect, used: true}
			n := 0
			for ; int64(n) < rows; n++ {
				_, err := in.rows.Next()
				if err == io.EOF {
					break
				}
				if err != nil {
					yield(nil, err)
					return
				}
				read = slices.Grow(read, d)[:len(read)+d]
				if err := in.fields.read(read[len(read)-d:], in.rows, t.Missing); err != nil {
					yield(nil, err)
					return
				}
				label, err := in.class.cell(in.rows)
				if err != nil {
					yield(nil, err)
					return
				}
				if in.class.labelled() {
					b.Labels = append(b.Labels, label)
				}
			}
			if n == 0 {
				return
			}
			b.X, b.Notes = mat.NewDense(n, d, read), in.fields.seen.notes()
			if !yield(b, nil) {
				return
			}
		}
	}
}
