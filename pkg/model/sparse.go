package model

import (
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/limits"
	"metriclab/pkg/sparse"
)

// NewSparseData returns sparse rows in memory as data to fit or evaluate on: NewData for an n×d matrix of which few entries are not 0. Columns have the numbers 1 to d,
// as NewData gives them where it has no names. Labels and their errors are those of NewData. It returns an error, too, if what is kept of each
// column exceeds limits.Memory. It panics if x is nil.
func NewSparseData(x *sparse.Matrix, labels []string) (*Data, error) {
	if x == nil {
		panic("model: NewSparseData: x is nil")
	}
	n, width := x.Dims()
	if n == 0 {
		return nil, fmt.Errorf("model: x has no rows, want at least 1")
	}
	layout, err := numbered(width)
	if err != nil {
		return nil, err
	}
	if err := checkLabels(labels, n); err != nil {
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

// ReadSVMLight reads rows of svmlight or LIBSVM for a model that was fitted on a table without header: feature i is the i-th feature of that table. Rows may lack features that the
// training rows had; an index behind the last of these is an error.
func (m *Model) ReadSVMLight(r io.Reader, name string, base datasets.IndexBase) (*Data, error) {
	if m.made().layout.Header {
		return nil, fmt.Errorf("model: %s: the model knows features by their names, such as %s, which rows of svmlight do not have", name, m.layout.Features[0])
	}
	o := datasets.SVMLightOptions{Base: base, Features: len(m.layout.Features)}
	d, err := readSVMLight(r, name, o, func(int) (Layout, error) { return m.layout.clone(), nil })
	if err != nil {
		return nil, err
	}
	d.used = true
	d.Notes = d.Look().strange()
	return d, nil
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
func (d *Data) Dims() (rows, features int) { return d.matrix().Dims() }

// matrix returns X or, if the rows are sparse, Sparse.
func (d *Data) matrix() mat.Matrix {
	if d.Sparse != nil {
		return d.Sparse
	}
	return d.X
}

// given panics if d is nil or has no rows, or both kinds.
func (d *Data) given() {
	if d == nil || (d.X == nil) == (d.Sparse == nil) {
		panic("model: the data, or their X, are nil")
	}
}

// keepsSparse tells whether a fit by the recipe takes sparse rows as they are.
func (r Recipe) keepsSparse(e catalog.Entry) bool {
	return e.Form == catalog.LowRank && r.Raw && !r.ImputeMean
}

// forRecipe returns d, with rows that the recipe can use: sparse ones are made dense unless it keeps them.
func (d *Data) forRecipe(r Recipe, e catalog.Entry) (*Data, error) {
	if d.Sparse == nil || r.keepsSparse(e) {
		return d, nil
	}
	x, err := d.Sparse.Dense()
	if err != nil {
		why := "whose rows are standardised: features as they are stay sparse"
		if e.Form != catalog.LowRank {
			why = "which takes no sparse rows; iplr does"
		}
		return nil, fmt.Errorf("model: %s: made dense for %s, %s: %w", d.Name, e.Name, why, err)
	}
	out := *d
	out.X, out.Sparse = x, nil
	return &out, nil
}

// emptyRows counts the rows without an entry.
func emptyRows(x *sparse.Matrix) int {
	count := 0
	n, _ := x.Dims()
	for i := range n {
		if len(x.Row(i).Index) == 0 {
			count++
		}
	}
	return count
}

// EmbedSVMLight reads rows as ReadSVMLight does, all of them, and yields them block by block as Embed embeds them. Beside the rows, memory is that of a block, 256 rows or more. An error ends the sequence:
// those of ReadSVMLight, before the first block, and of Embed.
func (m *Model) EmbedSVMLight(r io.Reader, name string, base datasets.IndexBase) iter.Seq2[*Embedded, error] {
	l, err := m.embedder()
	return func(yield func(*Embedded, error) bool) {
		if err != nil {
			yield(nil, err)
			return
		}
		d, err := m.ReadSVMLight(r, name, base)
		if err != nil {
			yield(nil, err)
			return
		}
		n, width := d.Dims()
		rows := int(max(blockBytes/limits.Floats(2*width+between(l)+l.Rows()), blockRows))
		var idx []int
		for first := 0; first < n; first += rows {
			idx = idx[:0]
			for i := first; i < min(first+rows, n); i++ {
				idx = append(idx, i)
			}
			part, err := d.Sparse.Rows(idx)
			if err != nil {
				yield(nil, fmt.Errorf("model: %w", err))
				return
			}
			z, err := m.embed(part, first)
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(&Embedded{Z: z, Labels: d.Labels[first : first+len(idx) : first+len(idx)], Notes: d.Notes, Total: n}, nil) {
				return
			}
		}
	}
}
