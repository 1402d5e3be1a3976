package sparse

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/limits"
)

// Postings are the entries of a Matrix by columns: for each column the rows that have it,
// ascending. The dot products of one vector with all rows look only at the columns that the
// vector has. It is immutable and safe for concurrent use.
type Postings struct {
	rows  int
	start []int // column j is entries start[j] to start[j+1]
	row   []int
	value []float64
}

// NewPostings returns the postings of a matrix: at most 16 bytes for an entry and for a column, or a
// *limits.MemoryError. It panics if m is nil.
func NewPostings(m *Matrix) (*Postings, error) {
	if m == nil {
		panic("sparse: NewPostings: m is nil")
	}
	n, d := m.Dims()
	// A sum that overflows is negative, which Product refuses.
	if err := limits.Check(fmt.Sprintf("postings of a %d×%d matrix", n, d), limits.Product(entryBytes, m.Entries()+d)); err != nil {
		return nil, err
	}
	p := &Postings{rows: n, start: make([]int, d+1), row: make([]int, m.Entries()), value: make([]float64, m.Entries())}
	for _, j := range m.index {
		p.start[j+1]++
	}
	for j := range d {
		p.start[j+1] += p.start[j]
	}
	next := append([]int(nil), p.start[:d]...)
	for i := range n {
		row := m.Row(i)
		for k, j := range row.Index {
			p.row[next[j]], p.value[next[j]] = i, row.Value[k]
			next[j]++
		}
	}
	return p, nil
}

// Dims returns the numbers of rows and columns of the matrix.
func (p *Postings) Dims() (rows, cols int) { return p.rows, len(p.start) - 1 }

// Dots sets dst[i] to the dot product of row i and v, to the bit Row(i).Dot(v). It takes as many
// steps as the columns of v have entries. It panics unless dst has a number per row, and if an
// index of v is not below the number of columns.
func (p *Postings) Dots(dst []float64, v Vector) {
	if len(dst) != p.rows {
		panic(fmt.Sprintf("sparse: Dots of %d rows into %d numbers", p.rows, len(dst)))
	}
	clear(dst)
	for k, j := range v.Index {
		p.add(dst, 0, p.start[j], p.start[j+1], v.Value[k])
	}
}

// add adds s times the entries lo to hi to dst, which begins with row first.
func (p *Postings) add(dst []float64, first, lo, hi int, s float64) {
	values := p.value[lo:hi]
	for k, i := range p.row[lo:hi] {
		dst[i-first] += float64(s * values[k])
	}
}

// Gram returns the n×n matrix of the dot products of the rows, G = X·Xᵀ, in half of
// Σⱼ (entries of column j)² steps: postings of the upper triangle. It returns a
// *limits.MemoryError if G is too large, and ctx.Err() if ctx ends first. For blocks of G use
// Postings.
func (m *Matrix) Gram(ctx context.Context) (*mat.SymDense, error) {
	n, d := m.Dims()
	if err := limits.Check(fmt.Sprintf("a Gram matrix of %d rows", n), limits.Floats(n, n)); err != nil {
		return nil, err
	}
	p, err := NewPostings(m)
	if err != nil {
		return nil, err
	}
	out := mat.NewSymDense(n, nil)
	g := out.RawSymmetric()
	// Rows come in ascending order, so that next[j] is the entry of the row at hand in column j.
	next := append([]int(nil), p.start[:d]...)
	for i := range n {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		row := m.Row(i)
		upper := g.Data[i*g.Stride+i : i*g.Stride+n]
		for k, j := range row.Index {
			p.add(upper, i, next[j], p.start[j+1], row.Value[k])
			next[j]++
		}
	}
	return out, nil
}

// Between returns the dot products of the rows of X and of y, X·Yᵀ: one row per row of X. The
// errors are those of Gram. It panics if y is nil or has another number of columns.
func (m *Matrix) Between(ctx context.Context, y *Matrix) (*mat.Dense, error) {
	if y == nil || y.cols != m.cols {
		panic(fmt.Sprintf("sparse: Between of %d columns with another matrix that has not as many", m.cols))
	}
	n, _ := m.Dims()
	k, _ := y.Dims()
	if err := limits.Check(fmt.Sprintf("a dense %d×%d matrix", n, k), limits.Floats(n, k)); err != nil {
		return nil, err
	}
	p, err := NewPostings(y)
	if err != nil {
		return nil, err
	}
	out := mat.NewDense(n, k, nil)
	for i := range n {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p.Dots(out.RawRowView(i), m.Row(i))
	}
	return out, nil
}
