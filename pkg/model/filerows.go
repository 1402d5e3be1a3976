package model

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/pkg/limits"
	"metriclab/pkg/vectors"
)

// Source has vectors: a *vectors.File, or two of them (see Behind).
type Source interface {
	Rows() int
	Dim() int
	// ReadRows reads successive rows, as a *vectors.File does.
	ReadRows(dst []float64, first int) error
	// Select returns some rows, in ascending order.
	Select(rows []int) (*mat.Dense, error)
}

// heldBytes bounds what a fit keeps of vectors whose learner asks for one after the other.
const heldBytes = 64 << 20

// fileRows are the vectors of items, prepared for a learner: the first ones lie in memory, the others are read from a file
// whenever they are asked for. It is a matrix.RowSource.
type fileRows struct {
	kept  *mat.Dense // nil for none
	held  int        // rows of kept
	file  Source
	rows  []int // of the file, one per item
	unit  bool
	scale float64
	fail  func(error)  // is told of a row that cannot be read, in place of which zeros are returned
	over  func() error // not nil once the fit is: no more is read
}

// inMemory are the vectors of x, which it may change.
func inMemory(x *mat.Dense) *fileRows {
	n, _ := x.Dims()
	return &fileRows{kept: x, held: n, scale: 1}
}

// holds returns how many of n vectors of length d a fit by f keeps: as many as fit bytes if the learner asks for rows, else all. It
// returns an error if they do not fit limits.Memory.
func (f fitting) holds(n, d int, bytes int64) (int, error) {
	if f.entry.ByRows(f.values) {
		n = int(min(int64(n), min(bytes, limits.Memory())/limits.Floats(d)))
	}
	return n, limits.Check(fmt.Sprintf("model: %d vectors of %d numbers", n, d), limits.Floats(n, d))
}

// openRows returns the vectors of rows of a file as they are, the first held of them in memory. It reads each once, so that the first that is
// not finite is an error, and tells which are zeros.
func openRows(ctx context.Context, file Source, rows []int, held int) (r *fileRows, none []bool, zeros vectors.Zeros, err error) {
	const most = 1 << 16 // numbers at a time
	d := file.Dim()
	r = &fileRows{held: held, file: file, rows: rows, scale: 1}
	if held > 0 {
		r.kept = mat.NewDense(held, d, nil)
	}
	buffer := make([]float64, max(d, most))
	none = make([]bool, len(rows))
	for i := 0; i < len(rows); {
		n := 1
		for i+n < len(rows) && rows[i+n] == rows[i]+n && (n+1)*d <= len(buffer) && i+n != held {
			n++
		}
		x := mat.NewDense(n, d, buffer[:n*d])
		if i < held {
			x = r.kept.Slice(i, i+n, 0, d).(*mat.Dense)
		}
		if err := ctx.Err(); err != nil {
			return nil, nil, zeros, err
		}
		if err := file.ReadRows(x.RawMatrix().Data[:n*d], rows[i]); err != nil {
			return nil, nil, zeros, err
		}
		these, z := zeroRows(x, func(k int) int { return rows[i+k] })
		copy(none[i:], these)
		zeros.Join(z)
		i += n
	}
	return r, none, zeros, nil
}

// toUnit makes unit vectors of all.
func (r *fileRows) toUnit() {
	r.unit = true
	if r.kept != nil {
		matrix.ToUnit(r.kept)
	}
}

// scaleBy multiplies all by s.
func (r *fileRows) scaleBy(s float64) {
	r.scale = s
	if r.kept != nil {
		r.kept.Scale(s, r.kept)
	}
}

// matrix returns the vectors as a learner takes them: a *mat.Dense if all lie in memory.
func (r *fileRows) matrix() mat.Matrix {
	if r.file == nil || r.held == len(r.rows) {
		return r.kept
	}
	return r
}

// Dims returns the numbers of vectors and of numbers in each.
func (r *fileRows) Dims() (n, d int) {
	if r.file == nil {
		return r.kept.Dims()
	}
	return len(r.rows), r.file.Dim()
}

// RawRowView returns vector i, which must not be changed.
func (r *fileRows) RawRowView(i int) []float64 {
	if i < r.held {
		return r.kept.RawRowView(i)
	}
	row := make([]float64, r.file.Dim())
	if r.over != nil && r.over() != nil {
		return row
	}
	if err := r.file.ReadRows(row, r.rows[i]); err != nil {
		r.fail(err)
		clear(row)
		return row
	}
	if r.unit {
		matrix.ToUnit(mat.NewDense(1, len(row), row))
	}
	if r.scale != 1 {
		floats.Scale(r.scale, row)
	}
	return row
}

// At returns number j of vector i.
func (r *fileRows) At(i, j int) float64 { return r.RawRowView(i)[j] }

// T returns the transpose.
func (r *fileRows) T() mat.Matrix { return mat.Transpose{Matrix: r} }
