package tables

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/plural"
	"metriclab/pkg/datasets"
	"metriclab/pkg/limits"
)

// countRows returns how many rows of cells, a header included, a CSV text has that can be read twice,
// and leaves r where it was. It returns 0 for a text that cannot, such as that of a pipe.
func countRows(r io.Reader) (int, error) {
	s, ok := r.(io.ReadSeeker)
	if !ok {
		return 0, nil
	}
	if f, ok := r.(interface{ Stat() (fs.FileInfo, error) }); ok {
		if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() { // a device may have no end
			return 0, nil
		}
	}
	start, err := s.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0, err
	}
	rows := 0
	quoted, empty := false, true
	for b := bufio.NewReaderSize(s, 1<<16); ; {
		part, err := b.ReadSlice('\n')
		if bytes.Count(part, []byte{'"'})%2 == 1 {
			quoted = !quoted // a line break between quotes is part of a cell
		}
		empty = empty && len(bytes.TrimRight(part, "\r\n")) == 0
		if (err == nil && !quoted || err == io.EOF) && !empty {
			rows++
			empty = true
		}
		switch err {
		case nil, bufio.ErrBufferFull:
			continue
		case io.EOF:
			_, err = s.Seek(start, io.SeekStart)
		}
		return rows, err
	}
}

// NoLabelError says that a row to learn from has no label, or one of some that have.
type NoLabelError struct {
	Row int // of data, from 1
	Err error
}

func (e *NoLabelError) Error() string {
	return fmt.Sprintf("%v, in row %d: each row needs its class, which is not filled in; delete the row, or write its class or a class of its own, such as unknown", e.Err, e.Row)
}

func (e *NoLabelError) Unwrap() error { return e.Err }

// classColumn reads the column of the class.
type classColumn struct {
	column   int  // -1 if there is none
	optional bool // a column of missing cells only counts as none
	holes    bool // a missing cell is "" in its row

	names  map[string]string
	text   int64 // bytes of names
	rows   int   // read so far
	absent error // about the first cell, if that is missing
}

// distinct is what a class takes beside its text: a string and its place in a map.
const distinct = 64

// cell returns the class of the row that t has read, "" if the column counts as none so far. All rows of a class
// share one string.
func (c *classColumn) cell(t *datasets.CSVRows) (string, error) {
	if c.column < 0 {
		return "", nil
	}
	c.rows++
	name, err := t.Word(c.column)
	if err != nil {
		err = &NoLabelError{Row: c.rows, Err: err}
	}
	switch {
	case c.holes && errors.Is(err, datasets.ErrMissingCell):
		return "", nil
	case err != nil && c.optional && (c.rows == 1 || c.absent != nil):
		if c.rows == 1 {
			c.absent = err
		}
		return "", nil
	case err != nil:
		return "", err
	case c.absent != nil:
		return "", c.absent
	}
	if known, ok := c.names[name]; ok {
		return known, nil
	}
	if c.names == nil {
		c.names = map[string]string{}
	}
	name = strings.Clone(name) // a cell holds the text of its row
	c.names[name] = name
	c.text += int64(len(name)) + distinct
	return name, nil
}

// labelled tells whether the rows read have classes.
func (c *classColumn) labelled() bool { return c.column >= 0 && c.absent == nil }

// perLabel is the size of a string without its text.
const perLabel = 16

// gather reads all rows of t into a matrix, and the words of columns, such as classes. rows is their number with a header, or 0 if it is
// not known.
func gather(t *datasets.CSVRows, rows int, f *fields, missing bool, classes ...*classColumn) (*mat.Dense, [][]string, error) {
	d := f.width()
	size := func(n int) int64 {
		s := limits.Floats(n, d)
		for _, class := range classes {
			if class.column >= 0 {
				s = max(s, s+limits.Product(perLabel, n)+class.text) // of two large ones the sum may overflow
			}
		}
		return s
	}
	if t.Header != nil {
		rows--
	}
	rows = max(rows, 0)
	if err := limits.Check(fmt.Sprintf("%s: %s of %s", t.Name, plural.Of(rows, "row"), plural.Of(d, "feature")), size(rows)); err != nil {
		return nil, nil, fmt.Errorf("model: %w", err)
	}
	// One part if the rows are known, else parts that double.
	const least, most = 1 << 13, 1 << 23 // numbers
	part := make([]float64, 0, max(rows*d, d))
	var full [][]float64
	labels := make([][]string, len(classes))
	for c, class := range classes {
		if class.column >= 0 {
			labels[c] = make([]string, 0, rows)
		}
	}
	n := 0
	for {
		_, err := t.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, nil, err
		}
		if len(part)+d > cap(part) {
			full = append(full, part)
			part = make([]float64, 0, max(d, min(most, max(least, 2*cap(part)))))
		}
		part = part[:len(part)+d]
		if err := f.read(part[len(part)-d:], t, missing); err != nil {
			if cell, ok := errors.AsType[*datasets.CellError](err); ok {
				err = t.Problems(cell, f.numbers, missing)
			}
			return nil, nil, err
		}
		n++
		for c, class := range classes {
			label, err := class.cell(t)
			if err != nil {
				return nil, nil, err
			}
			if class.labelled() {
				labels[c] = append(labels[c], label)
			}
		}
		if limit := limits.Memory(); size(n) > limit {
			return nil, nil, fmt.Errorf("model: %s:%d: %w", t.Name, t.Line(), &limits.MemoryError{What: "the table", Limit: limit})
		}
	}
	if full != nil {
		part = slices.Concat(append(full, part)...)
	}
	for c, class := range classes {
		if !class.labelled() {
			labels[c] = nil
		}
	}
	return mat.NewDense(n, d, part), labels, nil
}

// ReadColumn reads the text of one column of a CSV file, given by name or number, such as ids: a cell per row, "" where it is empty.
// Errors are those of datasets.NewCSVRows, a column that is not there, and text that exceeds limits.Memory.
func ReadColumn(r io.Reader, name, column string, header bool, c Cells) ([]string, error) {
	o := c.options(datasets.HeaderNo)
	if header {
		o.Header = datasets.HeaderYes
	}
	o.Text, o.OneColumn = []string{column}, true
	t, err := datasets.NewCSVRows(r, name, o)
	if err != nil {
		return nil, err
	}
	j, err := t.Column(column)
	if err != nil {
		return nil, err
	}
	var out []string
	var size int64
	for {
		row, err := t.Next()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		size += perLabel + int64(len(row[j]))
		if limit := limits.Memory(); size > limit {
			return nil, fmt.Errorf("model: %s:%d: %w", name, t.Line(), &limits.MemoryError{What: "column " + column, Limit: limit})
		}
		out = append(out, strings.Clone(row[j])) // a cell holds the text of its row
	}
}
