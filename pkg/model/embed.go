package model

import (
	"fmt"
	"io"
	"iter"
	"math"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
	"metriclab/pkg/sparse"
	"metriclab/pkg/tables"
)

// Block are successive rows of a file, with what was asked of them: coordinates, neighbours or classes. What was not asked for is nil.
type Block struct {
	// First is the number of the first of these rows, counted from 0.
	First int
	// Z holds the coordinates Lx, a row per row.
	Z *mat.Dense
	// Found holds the k nearest training rows of each row, nearest first.
	Found [][]nearest.Neighbour
	// Elected holds the predicted class of each row.
	Elected []Elected
	// Labels holds one class per row; nil if the file has none.
	Labels []string
	// Total is the number of rows of the file; 0 if that is not known before its end.
	Total int
	// Unused lists columns of the file that are neither features nor labels.
	Unused []string
	// Dialect and Notes are as in tables.Data; Notes are of the rows so far.
	Dialect datasets.Dialect
	Notes   []string

	x mat.Matrix // what the metric takes in place of the rows
}

// EmbedCSV reads a CSV file as Read does, and yields its rows block by block as Embed embeds them, with the same
// bits if 256 rows take less than a fourth of limits.Memory. Memory is that of a few blocks, about 1 MB or 256 rows each, however long the file is. An error ends the sequence: those of
// Read and of Embed, whose rows count from the first of the file. What was yielded before is right, so that whoever
// must not use part of a file waits for the end. Each block is new: the caller may keep and change it.
//
// A column of classes that is missing in the first row must be missing in all.
func (m *Model) EmbedCSV(r io.Reader, name string) iter.Seq2[*Block, error] {
	return m.embedded(func(extra int) (iter.Seq2[*tables.Data, error], int, error) {
		return m.reader().Blocks(r, name, extra), 0, nil
	})
}

// EmbedSVMLight is EmbedCSV for a file of ReadSVMLight, all of which is read first.
func (m *Model) EmbedSVMLight(r io.Reader, name string, base datasets.IndexBase) iter.Seq2[*Block, error] {
	return m.embedded(func(extra int) (iter.Seq2[*tables.Data, error], int, error) {
		return blocksOf(extra)(m.ReadSVMLight(r, name, base))
	})
}

// EmbedNPY is EmbedCSV for a file of ReadNPY, all of which is read first.
func (m *Model) EmbedNPY(r io.Reader, name string, labels func(n int) ([]string, error)) iter.Seq2[*Block, error] {
	return m.embedded(func(extra int) (iter.Seq2[*tables.Data, error], int, error) {
		return blocksOf(extra)(m.ReadNPY(r, name, labels))
	})
}

// blocksOf returns the blocks of a table that was read as a whole, and the number of its rows.
func blocksOf(extra int) func(d *tables.Data, err error) (iter.Seq2[*tables.Data, error], int, error) {
	return func(d *tables.Data, err error) (iter.Seq2[*tables.Data, error], int, error) {
		if err != nil {
			return nil, 0, err
		}
		n, _ := d.Dims()
		return d.Blocks(extra), n, nil
	}
}

// embedded embeds the rows of blocks. open opens the file, of whose rows each takes extra numbers beside its features, and returns the number of rows, 0 if that is not known.
func (m *Model) embedded(open func(extra int) (blocks iter.Seq2[*tables.Data, error], total int, err error)) iter.Seq2[*Block, error] {
	l, err := m.embedder()
	return func(yield func(*Block, error) bool) {
		if err != nil {
			yield(nil, err)
			return
		}
		blocks, total, err := open(l.Rows() + between(l))
		if err != nil {
			yield(nil, err)
			return
		}
		var last *mat.Dense // the block before, prepared
		for b, err := range m.prepared(blocks, total) {
			if err != nil {
				yield(nil, err)
				return
			}
			n, d := b.x.Dims()
			if total > 0 { // blocks of a file that is read row by row are as small as memory asks
				if err := limits.Check(fmt.Sprintf("an embedding of %d rows", n), limits.Floats(n, between(l)+l.Rows())); err != nil {
					yield(nil, fmt.Errorf("model: %w", err))
					return
				}
			}
			x, dense := b.x.(*mat.Dense)
			// A short last block has the bits of the whole beside rows of the one before.
			if dense && last != nil && n < tables.BlockRows {
				last.Slice(0, n, 0, d).(*mat.Dense).Copy(x)
				k, _ := last.Dims()
				b.Z = mat.DenseCopyOf(l.EmbedRows(last.Slice(0, max(n, min(k, tables.BlockRows)), 0, d)).Slice(0, n, 0, l.Rows()))
			} else {
				b.Z = l.EmbedRows(b.x)
			}
			if err := checkCoordinates(b.Z, b.First); err != nil {
				yield(nil, err)
				return
			}
			last, b.x = x, nil
			if !yield(b, nil) {
				return
			}
		}
	}
}

// prepared prepares the rows of blocks. total is their number, 0 if it is not known.
func (m *Model) prepared(blocks iter.Seq2[*tables.Data, error], total int) iter.Seq2[*Block, error] {
	return func(yield func(*Block, error) bool) {
		first := 0
		for d, err := range blocks {
			if err != nil {
				yield(nil, err)
				return
			}
			b := &Block{First: first, Labels: d.Labels, Total: total, Unused: d.Unused, Dialect: d.Dialect, Notes: d.Notes}
			if b.x, err = m.prepareRows(d.Matrix(), first); err != nil {
				yield(nil, err)
				return
			}
			n, _ := d.Dims()
			first += n
			if !yield(b, nil) {
				return
			}
		}
	}
}

// prepareRows returns rows as the metric takes them, sparse ones as they are if it can; the first is row first of a table.
func (m *Model) prepareRows(x mat.Matrix, first int) (mat.Matrix, error) {
	if s, ok := x.(*sparse.Matrix); ok && s != nil {
		if _, low := m.metric.(*metric.LowRank); low && m.scaler.Fill == nil && m.scaler.Shift == nil {
			return s, nil
		}
		dense, err := s.Dense()
		if err != nil {
			return nil, fmt.Errorf("model: rows made dense: %w", err)
		}
		x = dense
	}
	out, err := m.scaler.Apply(x)
	if err != nil {
		return nil, named(err, m.layout.Features, first)
	}
	return out, nil
}

// embedder is a metric that is the Euclidean one between coordinates.
type embedder interface {
	catalog.Distance
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

// CostOfEmbed estimates the time to read, embed and write rows of text.
func (m *Model) CostOfEmbed(rows int) catalog.Cost {
	e, err := m.embedder()
	if err != nil {
		return catalog.Cost{}
	}
	d, r := float64(e.Dim()), float64(e.Rows())
	return catalog.Cost{Seconds: float64(rows) * (1e-6 + 3e-7*d + 1.5e-7*r + 1e-9*(d+r)*max(r, float64(between(e))))}
}
