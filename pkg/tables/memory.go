package tables

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/pkg/datasets"
	"metriclab/pkg/limits"
)

// labelColumn is the name of the column of labels where NewData gives names.
const labelColumn = "label"

// NewData returns rows in memory as data to fit or evaluate on, or to draw. x is
// n×d with one column per feature, NaN where a cell is missing. labels holds one
// class per row, or is nil if there are none. features names the columns.
//
// A model that is fitted on the data reads a CSV file with a header: features by
// their names, labels from a column "label". If features is nil, columns have the
// numbers 1 to d, and the model reads a file without a header: the d features
// alone, or with the label behind them.
//
// What NewData accepts could stand in a file. It returns an error if x is nil or empty or
// holds an infinite number. Of labels it is one if there are fewer or more than rows, or
// one is missing (datasets.MissingCells), not UTF-8, or has blanks around it. Of names it
// is one if there are fewer or more than columns, or one is empty, not UTF-8, has blanks
// around it, occurs twice, or is "label".
//
// The data keep x, or a copy if it is not a *mat.Dense, and copies of labels and features; Name is "data".
func NewData(x mat.Matrix, labels, features []string) (*Data, error) {
	xd := matrix.Dense(x)
	if xd == nil || xd.IsEmpty() {
		return nil, fmt.Errorf("model: x has no rows, want at least 1")
	}
	n, width := xd.Dims()
	for i := range n {
		for j, v := range xd.RawRowView(i) {
			if math.IsInf(v, 0) {
				return nil, fmt.Errorf("model: x: row %d, column %d: %v is not allowed, want a finite number, or NaN for a missing cell", i, j, v)
			}
		}
	}
	d := &Data{Name: "data", X: xd, Labels: slices.Clone(labels), Layout: Layout{Header: features != nil, Width: width + 1}}
	if features == nil {
		for j := range width {
			d.Layout.Features = append(d.Layout.Features, strconv.Itoa(j+1))
		}
		d.Layout.Label = strconv.Itoa(width + 1)
	} else {
		d.Layout.Features, d.Layout.Label = slices.Clone(features), labelColumn
	}
	for j, name := range d.Layout.Features {
		if name == "" || name != strings.TrimSpace(name) {
			return nil, fmt.Errorf("model: feature %d: the name %q is not allowed, want one without blanks around it", j+1, name)
		}
	}
	if err := d.Layout.Check(width); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	if err := CheckLabels(labels, n); err != nil {
		return nil, err
	}
	return d, nil
}

// CheckLabels returns an error unless labels, if there are any, could be those of n rows of a file.
func CheckLabels(labels []string, n int) error {
	if labels == nil {
		return nil
	}
	if len(labels) != n {
		return fmt.Errorf("model: %d labels for %d rows", len(labels), n)
	}
	for i, l := range labels {
		if slices.Contains(datasets.MissingCells, l) {
			return fmt.Errorf("model: row %d: the label is missing (%q)", i, l)
		}
		if l != strings.TrimSpace(l) {
			return fmt.Errorf("model: row %d: the label %q is not allowed, want one without blanks around it", i, l)
		}
		if err := CheckText(l); err != nil {
			return fmt.Errorf("model: row %d: the label %w", i, err)
		}
	}
	return nil
}

// Matrix returns a matrix with a copy of the given rows, as NewData and the methods
// of a model.Model take it. It returns an error if there is no row, if a row is empty or of
// another length than the first, or if the matrix would exceed limits.Memory.
func Matrix(rows [][]float64) (*mat.Dense, error) {
	if len(rows) == 0 || len(rows[0]) == 0 {
		return nil, fmt.Errorf("model: no numbers, want at least one row of at least one")
	}
	n, d := len(rows), len(rows[0])
	for i, row := range rows {
		if len(row) != d {
			return nil, fmt.Errorf("model: row %d has %d numbers, want %d as row 0 has", i, len(row), d)
		}
	}
	if err := limits.Check(fmt.Sprintf("a matrix of %d rows of %d", n, d), limits.Floats(n, d)); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	x := mat.NewDense(n, d, nil)
	for i, row := range rows {
		x.SetRow(i, row)
	}
	return x, nil
}

// Rows returns the data of the rows idx, counted from 0, in that order: a training
// or a test part, say, as sample.StratifiedSplit draws them. A row may occur more
// than once. Cells and labels are copied; Links and Chunklets are not part of it. It panics if idx is empty (gonum has no
// 0×d matrix), if an index is out of range of the rows or of the labels, or if sparse rows that occur more than once exceed limits.Memory.
func (d *Data) Rows(idx []int) *Data {
	d.given()
	out := &Data{Name: d.Name, Layout: d.Layout.Clone(), Unused: slices.Clone(d.Unused), kept: slices.Clone(d.kept)}
	if d.Sparse != nil {
		part, err := d.Sparse.Rows(idx)
		if err != nil {
			panic("tables: Rows: " + err.Error())
		}
		out.Sparse = part
	} else {
		_, width := d.X.Dims()
		out.X = mat.NewDense(len(idx), width, nil)
	}
	if d.Labels != nil {
		out.Labels = make([]string, len(idx))
	}
	for k, i := range idx {
		if out.X != nil {
			out.X.SetRow(k, d.X.RawRowView(i))
		}
		if d.Labels != nil {
			out.Labels[k] = d.Labels[i]
		}
	}
	return out
}

// Blocks yields the rows of d as Reader.Blocks does those of a file. Blocks of dense rows and labels are parts of d.
func (d *Data) Blocks(extra int) iter.Seq2[*Data, error] {
	n, width := d.Dims()
	rows := int(max(blockBytes/limits.Floats(2*width+extra), BlockRows))
	return func(yield func(*Data, error) bool) {
		for first := 0; first < n; first += rows {
			end := min(first+rows, n)
			b := *d
			b.Links, b.Chunklets = nil, nil
			if d.Labels != nil {
				b.Labels = d.Labels[first:end:end]
			}
			if d.Sparse == nil {
				b.X = d.X.Slice(first, end, 0, width).(*mat.Dense)
			} else {
				idx := make([]int, end-first)
				for i := range idx {
					idx[i] = first + i
				}
				part, err := d.Sparse.Rows(idx)
				if err != nil {
					yield(nil, fmt.Errorf("model: %w", err))
					return
				}
				b.Sparse = part
			}
			if !yield(&b, nil) {
				return
			}
		}
	}
}
