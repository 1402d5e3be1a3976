package tables

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/plural"
	"metriclab/pkg/datasets"
	"metriclab/pkg/kernels"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
)

// ReadGram reads the Gram matrix of objects, n×n, symmetric and positive semi-definite up to round-off (see
// kernels.NewGram). A file whose name ends in .npy is NumPy's (see metric.ReadNPY); another is CSV: n rows of n numbers, without
// a header. Errors name the file and, of CSV, the line: those of datasets.NewCSVRows and metric.ReadNPY, a cell that is no finite
// number, and a matrix that is not square, not symmetric, not positive semi-definite or larger than limits.Memory.
func ReadGram(r io.Reader, name string) (*mat.SymDense, error) {
	t, err := readNumbers(r, name)
	if err != nil {
		return nil, err
	}
	rows, columns := t.x.Dims()
	if rows != columns {
		return nil, fmt.Errorf("model: %s: %s of %s, want a square matrix", t.place(min(rows-1, columns)), plural.Of(rows, "row"), plural.Of(columns, "number"))
	}
	k, err := kernels.NewGram(t.x)
	if e, ok := errors.AsType[*kernels.AsymmetryError](err); ok {
		d := e.IJ - e.JI
		return nil, fmt.Errorf("model: %s: row %d, column %d is %v, but row %d, column %d is %v: the matrix is not symmetric, by up to %.3g, want at most %g times its largest entry",
			t.place(max(e.I, e.J)), e.I+1, e.J+1, e.IJ, e.J+1, e.I+1, e.JI, max(d, -d), metric.PSDTolerance)
	}
	if err != nil {
		return nil, fmt.Errorf("model: %s: %w", name, err)
	}
	return k, nil
}

// ReadCross reads kernel values between new objects, one row each, and the n objects of a fit, one column each, from
// files like those of ReadGram, with the like errors.
func ReadCross(r io.Reader, name string, n int) (*mat.Dense, error) {
	t, err := readNumbers(r, name)
	if err != nil {
		return nil, err
	}
	if _, columns := t.x.Dims(); columns != n {
		return nil, fmt.Errorf("model: %s: a row of %s, want %d, one per object of the fit", t.place(0), plural.Of(columns, "number"), n)
	}
	return t.x, nil
}

// numberTable is a file of numbers.
type numberTable struct {
	name  string
	x     *mat.Dense
	lines []int // of each row; nil if the file has none
}

// place names the file and the line of a row.
func (t numberTable) place(row int) string {
	if t.lines == nil {
		return t.name
	}
	return fmt.Sprintf("%s:%d", t.name, t.lines[row])
}

func readNumbers(r io.Reader, name string) (numberTable, error) {
	out := numberTable{name: name}
	var err error
	if strings.HasSuffix(strings.ToLower(name), ".npy") {
		if out.x, err = metric.ReadNPY(r); err != nil {
			err = fmt.Errorf("model: %s: %w", name, err)
		}
		return out, err
	}
	rows, err := countRows(r)
	if err != nil {
		return out, fmt.Errorf("model: %s: %w", name, err)
	}
	t, err := datasets.NewCSVRows(r, name, datasets.CSVOptions{Header: datasets.HeaderNo, OneColumn: true})
	if err != nil {
		return out, err
	}
	d := t.Width()
	check := func(rows int) error {
		size := limits.Floats(rows, d+1) // a line beside each row
		return limits.Check(fmt.Sprintf("%s: %s of %s", name, plural.Of(rows, "row"), plural.Of(d, "number")), size)
	}
	if err := check(rows); err != nil {
		return out, fmt.Errorf("model: %w", err)
	}
	columns := make([]int, d)
	for j := range columns {
		columns[j] = j
	}
	data := make([]float64, 0, rows*d)
	for {
		_, err := t.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return out, err
		}
		out.lines = append(out.lines, t.Line())
		if err := check(len(out.lines)); err != nil {
			return out, fmt.Errorf("model: %w", err)
		}
		for range d {
			data = append(data, 0)
		}
		if err := t.Numbers(data[len(data)-d:], columns, false); err != nil {
			return out, err
		}
	}
	out.x = mat.NewDense(len(out.lines), d, data)
	return out, nil
}

// ReadLabels reads the classes of n objects in the order of the rows of their Gram matrix, from CSV: a row per object of one cell, the label, or of two, an
// id and the label. With n + 1 rows the first is a header. Ids tell rows apart for people: no two are equal and, if all are whole numbers, they
// ascend, since the order of rows counts and not that of ids.
//
// Errors name the file and the line: those of datasets.NewCSVRows, a label that is missing (datasets.MissingCells), more than two cells, rows that are more or fewer than
// objects, ids that are equal or do not ascend, and one class only.
func ReadLabels(r io.Reader, name string, n int) ([]string, error) {
	return readLabels(r, name, n, "object", "the Gram matrix")
}

// readLabels is ReadLabels for n things of a kind, which whole has.
func readLabels(r io.Reader, name string, n int, kind, whole string) ([]string, error) {
	t, err := datasets.NewCSVRows(r, name, datasets.CSVOptions{Header: datasets.HeaderNo, OneColumn: true})
	if err != nil {
		return nil, err
	}
	width := t.Width()
	if width > 2 {
		return nil, fmt.Errorf("model: %s: %s in a row, want 1, the label, or 2, an id and the label", name, plural.Of(width, "cell"))
	}
	var rows [][]string
	var lines []int
	for {
		row, err := t.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if len(rows) > n {
			return nil, fmt.Errorf("model: %s:%d: more rows than the %s of %s and a header", name, t.Line(), plural.Of(n, kind), whole)
		}
		rows, lines = append(rows, slices.Clone(row)), append(lines, t.Line())
	}
	if len(rows) < n {
		return nil, fmt.Errorf("model: %s: %s, want %d, one per %s of %s", name, plural.Of(len(rows), "label"), n, kind, whole)
	}
	if len(rows) == n+1 {
		rows, lines = rows[1:], lines[1:]
	}
	labels := make([]string, n)
	for i, row := range rows {
		labels[i] = row[width-1]
		if slices.Contains(datasets.MissingCells, labels[i]) {
			return nil, fmt.Errorf("model: %s:%d: the label is missing (%q)", name, lines[i], labels[i])
		}
	}
	if classes, _ := datasets.Classes(labels); len(classes) < 2 {
		return nil, fmt.Errorf("model: %s: all labels are %q, want at least two classes", name, strings.Join(classes, ""))
	}
	if width == 1 {
		return labels, nil
	}
	seen := map[string]int{}
	numbers := make([]int, n)
	integers := true
	for i, row := range rows {
		if other, twice := seen[row[0]]; twice {
			return nil, fmt.Errorf("model: %s:%d: the id %q is that of line %d, too", name, lines[i], row[0], other)
		}
		seen[row[0]] = lines[i]
		var err error
		numbers[i], err = strconv.Atoi(row[0])
		integers = integers && err == nil
	}
	for i := 1; integers && i < n; i++ {
		if numbers[i] < numbers[i-1] {
			return nil, fmt.Errorf("model: %s:%d: the id %s comes after %s: want rows in the order of %s, with ids that ascend", name, lines[i], rows[i][0], rows[i-1][0], whole)
		}
	}
	return labels, nil
}
