package model

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/plural"
	"metriclab/pkg/datasets"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
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

// gather reads all rows of t into a matrix, and their classes. rows is their number with a header, or 0 if it is
// not known.
func gather(t *datasets.CSVRows, rows int, f *fields, class *classColumn, missing bool) (*mat.Dense, []string, error) {
	x, words, err := gatherWords(t, rows, f, missing, class)
	if err != nil {
		return nil, nil, err
	}
	return x, words[0], nil
}

// gatherWords is gather of several columns of words.
func gatherWords(t *datasets.CSVRows, rows int, f *fields, missing bool, classes ...*classColumn) (*mat.Dense, [][]string, error) {
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

// Embedded are successive rows of a file, embedded.
type Embedded struct {
	// Z holds the coordinates Lx, a row per row.
	Z *mat.Dense
	// Labels holds one class per row; nil if the file has none.
	Labels []string
	// Total is the number of rows of the file; 0 if that is not known before its end.
	Total int
	// Unused lists columns of the file that are neither features nor labels.
	Unused []string
	// Dialect and Notes are as in Data; Notes are of the rows so far.
	Dialect datasets.Dialect
	Notes   []string
}

// blockBytes is about what the coordinates and the features of a block take, and blockRows the least number of its
// rows: gonum's product has other bits for fewer, where it takes another way.
const (
	blockBytes = 1 << 20
	blockRows  = 256
	blocksHeld = 4 // with the block before, those that the caller has, and what grew
)

// EmbedCSV reads a CSV file as Read does, and yields its rows block by block as Embed embeds them, with the same
// bits if 256 rows take less than a fourth of limits.Memory. Memory is that of a few blocks, about 1 MB or 256 rows each, however long the file is. An error ends the sequence: those of
// Read and of Embed, whose rows count from the first of the file. What was yielded before is right, so that whoever
// must not use part of a file waits for the end. Each block is new: the caller may keep and change it.
//
// A column of classes that is missing in the first row must be missing in all.
func (m *Model) EmbedCSV(r io.Reader, name string) iter.Seq2[*Embedded, error] {
	l, err := m.embedder()
	return func(yield func(*Embedded, error) bool) {
		if err != nil {
			yield(nil, err)
			return
		}
		var last *mat.Dense // the block before, prepared
		for b, err := range m.preparedCSV(r, name, l.Rows()+between(l)) {
			if err != nil {
				yield(nil, err)
				return
			}
			out := &Embedded{Labels: b.labels, Unused: b.unused, Dialect: b.dialect, Notes: b.notes}
			n, d := b.x.Dims()
			// A short last block has the bits of the whole beside rows of the one before.
			if last != nil && n < blockRows {
				last.Slice(0, n, 0, d).(*mat.Dense).Copy(b.x)
				k, _ := last.Dims()
				out.Z = mat.DenseCopyOf(l.EmbedRows(last.Slice(0, max(n, min(k, blockRows)), 0, d)).Slice(0, n, 0, l.Rows()))
			} else {
				out.Z = l.EmbedRows(b.x)
			}
			if err := checkCoordinates(out.Z, b.first); err != nil {
				yield(nil, err)
				return
			}
			if !yield(out, nil) {
				return
			}
			last = b.x
		}
	}
}

// prepared are successive rows of a CSV file as the metric takes them.
type prepared struct {
	x       *mat.Dense
	labels  []string // nil if the file has none
	unused  []string
	dialect datasets.Dialect
	notes   []string
	first   int // number of the first row, from 0
}

// preparedCSV reads a CSV file as Read does, in blocks of new rows of which each takes extra numbers beside its features.
func (m *Model) preparedCSV(r io.Reader, name string, extra int) iter.Seq2[*prepared, error] {
	return func(yield func(*prepared, error) bool) {
		t, f, class, unused, err := m.made().open(r, name)
		if err != nil {
			yield(nil, err)
			return
		}
		d := f.width()
		perRow := limits.Floats(2*d + extra) // read, prepared, and what is made of it
		rows := max(blockBytes/perRow, min(blockRows, limits.Memory()/(blocksHeld*perRow)), 1)
		var read []float64
		for first := 0; ; {
			read = read[:0]
			class.names = nil // there may be as many as rows
			b := &prepared{unused: unused, dialect: t.Dialect, first: first}
			n := 0
			for ; int64(n) < rows; n++ {
				_, err := t.Next()
				if err == io.EOF {
					break
				}
				if err != nil {
					yield(nil, err)
					return
				}
				read = slices.Grow(read, d)[:len(read)+d]
				if err := f.read(read[len(read)-d:], t, m.recipe.ImputeMean); err != nil {
					yield(nil, err)
					return
				}
				label, err := class.cell(t)
				if err != nil {
					yield(nil, err)
					return
				}
				if class.labelled() {
					b.labels = append(b.labels, label)
				}
			}
			if n == 0 {
				return
			}
			b.notes = f.seen.notes()
			if b.x, err = m.scaler.Apply(mat.NewDense(n, d, read)); err != nil {
				yield(nil, named(err, m.layout.Features, first))
				return
			}
			if !yield(b, nil) {
				return
			}
			first += n
		}
	}
}

// embedder is a metric that is the Euclidean one between coordinates.
type embedder interface {
	Metric
	Rows() int // the number of coordinates
	EmbedRows(x mat.Matrix) *mat.Dense
}

// within embeds as Model.Within says.
type within struct{ *metric.LowRank }

func (w within) Rows() int { return w.Rank() + 1 }

func (w within) EmbedRows(x mat.Matrix) *mat.Dense { return w.LowRank.Within(x) }

var (
	_ embedder = (*metric.Mahalanobis)(nil)
	_ embedder = (*metric.LowRank)(nil)
	_ embedder = (*kernels.Metric)(nil)
)

// between is how many numbers EmbedRows holds for a row beside its coordinates.
func between(e embedder) int {
	if k, ok := e.(*kernels.Metric); ok {
		return k.Support()
	}
	return 0
}

// embedder returns the metric of a model that can embed.
func (m *Model) embedder() (embedder, error) {
	if m.made().within {
		return within{m.metric.(*metric.LowRank)}, nil
	}
	a, ok := m.metric.(embedder)
	if !ok {
		return nil, fmt.Errorf("model: %s: %w", m.recipe.Learner, ErrNoEmbedding)
	}
	if a.Rows() == 0 {
		return nil, fmt.Errorf("model: %s: %w; more pairs or passes may help", m.recipe.Learner, ErrZero)
	}
	return a, nil
}

// checkCoordinates returns an error if a coordinate overflows; row 0 of z is row first of a table.
func checkCoordinates(z *mat.Dense, first int) error {
	n, _ := z.Dims()
	for i := range n {
		for j, v := range z.RawRowView(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("model: coordinates overflow: row %d, column %d: %v is not allowed, want a finite number", first+i, j, v)
			}
		}
	}
	return nil
}

// CostOfEmbed estimates the time to read, embed and write so many rows of text.
func (m *Model) CostOfEmbed(rows int) catalog.Cost {
	e, err := m.embedder()
	if err != nil {
		return catalog.Cost{}
	}
	d, r := float64(e.Dim()), float64(e.Rows())
	return catalog.Cost{Seconds: float64(rows) * (1e-6 + 3e-7*d + 1.5e-7*r + 1e-9*(d+r)*max(r, float64(between(e))))}
}
