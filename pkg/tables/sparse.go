package tables

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets"
	"metriclab/pkg/limits"
	"metriclab/pkg/sparse"
)

// NewSparseData returns sparse rows in memory as data to fit or evaluate on: NewData for an n×d matrix of which few entries are not 0. Columns have the numbers 1 to d,
// as NewData gives them where it has no names. Labels and their errors are those of NewData. It returns an error, too, if what is kept of each
// column exceeds limits.Memory. It panics if x is nil.
func NewSparseData(x *sparse.Matrix, labels []string) (*Data, error) {
	if x == nil {
		panic("tables: NewSparseData: x is nil")
	}
	n, width := x.Dims()
	if n == 0 {
		return nil, fmt.Errorf("model: x has no rows, want at least 1")
	}
	layout, err := numbered(width)
	if err != nil {
		return nil, err
	}
	if err := CheckLabels(labels, n); err != nil {
		return nil, err
	}
	return &Data{Name: "data", Sparse: x, Labels: slices.Clone(labels), Layout: layout}, nil
}

// perColumn is about what the number of a column takes as text, in the layout, its copies and the map that checks it.
const perColumn = 160

// numbered is the layout of width columns without names, with the labels behind them.
func numbered(width int) (Layout, error) {
	if err := limits.Check(fmt.Sprintf("the numbers of %d columns", width), limits.Product(perColumn, width)); err != nil {
		return Layout{}, fmt.Errorf("model: %w", err)
	}
	l := Layout{Width: width + 1, Label: strconv.Itoa(width + 1), Features: make([]string, width)}
	for j := range l.Features {
		l.Features[j] = strconv.Itoa(j + 1)
	}
	return l, nil
}

// ReadSVMLight reads rows of svmlight or LIBSVM with their classes, "class index:value ...", to fit or evaluate on: see
// datasets.ReadSVMLight for the format and the errors, which name file and line. Features have their numbers from 1, with either base; classes are the numbers that
// stand first, as text. Groups of rows (qid) are an error.
func ReadSVMLight(r io.Reader, name string, base datasets.IndexBase) (*Data, error) {
	return readSVMLight(r, name, datasets.SVMLightOptions{Base: base}, numbered)
}

func readSVMLight(r io.Reader, name string, o datasets.SVMLightOptions, layout func(width int) (Layout, error)) (*Data, error) {
	s, err := datasets.ReadSVMLight(r, name, o)
	if err != nil {
		return nil, err
	}
	if s.Query != nil {
		return nil, fmt.Errorf("model: %s: the rows have groups (qid), want rows of a class and index:value", name)
	}
	n, width := s.X.Dims()
	if err := limits.Check(fmt.Sprintf("%s: the classes of %d rows", name, n), limits.Product(perLabel, n)); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	d := &Data{Name: name, Sparse: s.X, Labels: make([]string, n)}
	if d.Layout, err = layout(width); err != nil {
		return nil, err
	}
	names := map[float64]string{} // all rows of a class share one string
	for i, t := range s.Target {
		if names[t] == "" {
			names[t] = strconv.FormatFloat(t, 'g', -1, 64)
		}
		d.Labels[i] = names[t]
	}
	return d, nil
}

// Dims returns the numbers of rows and of features.
func (d *Data) Dims() (rows, features int) { return d.Matrix().Dims() }

// Matrix returns X or, if the rows are sparse, Sparse. It panics if d is nil or has no rows.
func (d *Data) Matrix() mat.Matrix {
	d.given()
	if d.Sparse != nil {
		return d.Sparse
	}
	return d.X
}

// given panics if d is nil or has no rows, or both kinds.
func (d *Data) given() {
	if d == nil || (d.X == nil) == (d.Sparse == nil) {
		panic("tables: the data, or their X, are nil")
	}
}
