package sparse

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/pkg/limits"
)

// entryBytes is what an entry of a Matrix takes, rowBytes what a row takes beside its entries.
const (
	entryBytes = 16
	rowBytes   = 8
)

// Matrix is an n×d matrix of compressed rows: it stores the entries that are not 0, 16 bytes
// each. It is immutable and safe for concurrent use. A Matrix is a mat.Matrix, so that whatever
// reads one takes it, mostly by a dense copy: give it Dense, which checks that copy's size. What
// knows of rows takes Row. NewMatrix, Compress and Builder make one; the zero value is of no use.
type Matrix struct {
	cols  int
	start []int // row i is entries start[i] to start[i+1]
	index []int
	value []float64
}

// Builder makes a Matrix row by row. The zero value is ready for use.
type Builder struct {
	m     Matrix
	least int // number of columns that the rows need
}

// Add appends a copy of the row, without its entries that are 0. The error is that of
// Vector.Check, for any index below math.MaxInt, or a *limits.MemoryError; on error nothing is
// appended.
func (b *Builder) Add(row Vector) error {
	if err := row.Check(math.MaxInt); err != nil {
		return err
	}
	entries, rows := len(b.m.value)+len(row.Value), max(1, len(b.m.start))
	if limit := limits.Memory(); limit/entryBytes < int64(entries) || limit/rowBytes < int64(rows) {
		return &limits.MemoryError{What: "a sparse matrix", Limit: limit}
	}
	if b.m.start == nil {
		b.m.start = []int{0}
	}
	for k, x := range row.Value {
		if x != 0 {
			b.m.index, b.m.value = append(b.m.index, row.Index[k]), append(b.m.value, x)
		}
	}
	if n := len(row.Index); n > 0 {
		b.least = max(b.least, row.Index[n-1]+1) // an entry 0 is a column, too
	}
	b.m.start = append(b.m.start, len(b.m.value))
	return nil
}

// Matrix returns the rows added so far as a matrix of that many columns; 0 means as many as the
// greatest index of a row needs. It is an error if there is no row, no column, or a row with an
// index that is not below cols. The builder is empty afterwards, unless there was an error.
func (b *Builder) Matrix(cols int) (*Matrix, error) {
	switch {
	case len(b.m.start) == 0:
		return nil, fmt.Errorf("sparse: 0 rows are not allowed, want at least 1")
	case cols < 0, cols == 0 && b.least == 0:
		return nil, fmt.Errorf("sparse: %d columns are not allowed, want at least 1", cols)
	case cols == 0:
		cols = b.least
	case b.least > cols:
		return nil, fmt.Errorf("sparse: index %d is not allowed, want 0 to %d", b.least-1, cols-1)
	}
	out := b.m
	out.cols = cols
	*b = Builder{}
	return &out, nil
}

// NewMatrix returns the matrix of these rows with that many columns, at least 1. Entries that
// are 0 are left out. The errors are those of Builder.
func NewMatrix(rows []Vector, cols int) (*Matrix, error) {
	if cols < 1 {
		return nil, fmt.Errorf("sparse: %d columns are not allowed, want at least 1", cols)
	}
	var b Builder
	for i, row := range rows {
		if err := row.Check(cols); err != nil {
			return nil, fmt.Errorf("sparse: row %d: %w", i, err)
		}
		if err := b.Add(row); err != nil {
			return nil, err
		}
	}
	return b.Matrix(cols)
}

// Compress returns the sparse copy of a matrix with at least a row and a column. The errors are
// those of Builder, and a *limits.MemoryError if x is too large as a dense matrix. It panics if x is nil.
func Compress(x mat.Matrix) (*Matrix, error) {
	if m, ok := x.(*Matrix); ok && m != nil {
		return m, nil
	}
	if matrix.IsNil(x) {
		panic("sparse: Compress: x is nil")
	}
	n, d := x.Dims()
	if err := limits.Check(fmt.Sprintf("a dense %d×%d matrix", n, d), limits.Floats(n, d)); err != nil {
		return nil, err
	}
	dense := matrix.Dense(x)
	var b Builder
	var row Vector
	for i := range n {
		row.Index, row.Value = row.Index[:0], row.Value[:0]
		for j, v := range dense.RawRowView(i) {
			if v != 0 {
				row.Index, row.Value = append(row.Index, j), append(row.Value, v)
			}
		}
		if err := b.Add(row); err != nil {
			return nil, fmt.Errorf("sparse: row %d: %w", i, err)
		}
	}
	return b.Matrix(d)
}

// Dims returns the numbers of rows and columns.
func (m *Matrix) Dims() (rows, cols int) { return max(0, len(m.start)-1), m.cols }

// At returns an entry, found by bisection of its row. It panics unless 0 ≤ i < rows and
// 0 ≤ j < cols.
func (m *Matrix) At(i, j int) float64 {
	if uint(j) >= uint(m.cols) {
		panic(mat.ErrColAccess)
	}
	row := m.Row(i)
	if k, ok := slices.BinarySearch(row.Index, j); ok {
		return row.Value[k]
	}
	return 0
}

// T returns the transposed view.
func (m *Matrix) T() mat.Matrix { return mat.Transpose{Matrix: m} }

// Entries returns the number of entries that are stored: those that are not 0.
func (m *Matrix) Entries() int { return len(m.value) }

// Row returns a view of row i, which must not be changed. It panics if i is out of range.
func (m *Matrix) Row(i int) Vector {
	if n, _ := m.Dims(); uint(i) >= uint(n) {
		panic(mat.ErrRowAccess)
	}
	lo, hi := m.start[i], m.start[i+1]
	return Vector{m.index[lo:hi:hi], m.value[lo:hi:hi]}
}

// Rows returns the rows idx, in that order: len(idx)×d. An index may stand several times. It is
// an error if there is none, or if the copy takes more memory than limits.Memory. It panics if
// an index is out of range.
func (m *Matrix) Rows(idx []int) (*Matrix, error) {
	entries := 0
	for _, i := range idx {
		entries += len(m.Row(i).Index)
	}
	b := Builder{m: Matrix{start: []int{0}}}
	if err := limits.Check("rows of a sparse matrix", limits.Product(entryBytes, entries)); err != nil {
		return nil, err
	}
	b.m.index, b.m.value = make([]int, 0, entries), make([]float64, 0, entries)
	for _, i := range idx {
		if err := b.Add(m.Row(i)); err != nil {
			return nil, err
		}
	}
	if len(idx) == 0 {
		return nil, fmt.Errorf("sparse: 0 rows are not allowed, want at least 1")
	}
	return b.Matrix(m.cols)
}

// Dense returns the dense copy, or a *limits.MemoryError if it is too large.
func (m *Matrix) Dense() (*mat.Dense, error) {
	n, d := m.Dims()
	if err := limits.Check(fmt.Sprintf("a dense %d×%d matrix", n, d), limits.Floats(n, d)); err != nil {
		return nil, err
	}
	out := mat.NewDense(n, d, nil)
	for i := range n {
		m.Row(i).Dense(out.RawRowView(i))
	}
	return out, nil
}

// SqNorms returns ‖xᵢ‖² of each row.
func (m *Matrix) SqNorms() []float64 {
	n, _ := m.Dims()
	out := make([]float64, n)
	for i := range out {
		out[i] = m.Row(i).SqNorm()
	}
	return out
}

// Means returns the mean of each column, (1/n)·Σᵢ xᵢ, or a *limits.MemoryError if there are too
// many columns.
func (m *Matrix) Means() ([]float64, error) {
	if err := limits.Check(fmt.Sprintf("means of %d columns", m.cols), limits.Floats(m.cols)); err != nil {
		return nil, err
	}
	n, _ := m.Dims()
	out := make([]float64, m.cols)
	for k, j := range m.index {
		out[j] += m.value[k]
	}
	for j := range out {
		out[j] /= float64(n)
	}
	return out, nil
}

// MulVec sets dst to X·x. It panics unless len(dst) = n and len(x) = d.
func (m *Matrix) MulVec(dst, x []float64) {
	n, d := m.Dims()
	if len(dst) != n || len(x) != d {
		panic(fmt.Sprintf("sparse: MulVec of a %d×%d matrix with lengths %d and %d", n, d, len(dst), len(x)))
	}
	for i := range dst {
		dst[i] = m.Row(i).DotDense(x)
	}
}

// MulTransVec sets dst to Xᵀ·x. It panics unless len(dst) = d and len(x) = n.
func (m *Matrix) MulTransVec(dst, x []float64) {
	n, d := m.Dims()
	if len(dst) != d || len(x) != n {
		panic(fmt.Sprintf("sparse: MulTransVec of a %d×%d matrix with lengths %d and %d", n, d, len(dst), len(x)))
	}
	clear(dst)
	for i, s := range x {
		addScaled(dst, s, m.Row(i))
	}
}

// addScaled adds s·row to dst.
func addScaled(dst []float64, s float64, row Vector) {
	for k, j := range row.Index {
		dst[j] += float64(s * row.Value[k])
	}
}

// Mul returns X·B, n×k for a d×k matrix B, in O(entries·k). It returns a *limits.MemoryError if
// the product is too large, and ctx.Err() if ctx ends first. It panics if B is nil or has not d
// rows, or no column.
func (m *Matrix) Mul(ctx context.Context, b mat.Matrix) (*mat.Dense, error) {
	return m.mul(ctx, "Mul", b, m.cols, func() int { n, _ := m.Dims(); return n }(), func(i, j int) (from, to int) { return j, i })
}

// MulTrans returns Xᵀ·B, d×k for an n×k matrix B, otherwise like Mul.
func (m *Matrix) MulTrans(ctx context.Context, b mat.Matrix) (*mat.Dense, error) {
	n, _ := m.Dims()
	return m.mul(ctx, "MulTrans", b, n, m.cols, func(i, j int) (from, to int) { return i, j })
}

// mul adds row from(i, j) of b, times the entry (i, j), to row to(i, j) of the product.
func (m *Matrix) mul(ctx context.Context, name string, b mat.Matrix, in, out int, ends func(i, j int) (from, to int)) (*mat.Dense, error) {
	x := matrix.Given("sparse: "+name+": b", b)
	rows, k := x.Dims()
	if rows != in || k == 0 {
		panic(fmt.Sprintf("sparse: %s with a %d×%d matrix, want %d rows and at least a column", name, rows, k, in))
	}
	if err := limits.Check(fmt.Sprintf("a dense %d×%d matrix", out, k), limits.Floats(out, k)); err != nil {
		return nil, err
	}
	product := mat.NewDense(out, k, nil)
	n, _ := m.Dims()
	for i := range n {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		row := m.Row(i)
		for e, j := range row.Index {
			from, to := ends(i, j)
			dst, v := product.RawRowView(to), row.Value[e]
			for c, y := range x.RawRowView(from) {
				dst[c] += float64(v * y)
			}
		}
	}
	return product, nil
}
