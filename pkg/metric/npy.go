package metric

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/sbinet/npyio/npy"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/npyhead"
	"metriclab/pkg/limits"
)

// WriteNPY writes x as a NumPy .npy file: two-dimensional, little-endian
// float64, C order (row by row), so that numpy.load gives back every bit. It
// returns an error, and writes nothing, if an entry is NaN or infinite. It panics
// if x is nil or empty.
func WriteNPY(w io.Writer, x mat.Matrix) error {
	d := mat.DenseCopyOf(x)
	if err := CheckFinite(d); err != nil {
		return fmt.Errorf("npy: %w", err)
	}
	b := bufio.NewWriter(w)
	if err := npy.Write(b, d); err != nil {
		return fmt.Errorf("npy: %w", err)
	}
	return b.Flush()
}

// WriteFactorNPY writes the r×d factor L, M = LᵀL, by WriteNPY: in NumPy, X @ L.T
// embeds the rows of X. For a metric of rank 0 it writes one row of zeros, as
// EmbedRows does.
func (m *Mahalanobis) WriteFactorNPY(w io.Writer) error {
	if m.l == nil {
		return WriteNPY(w, mat.NewDense(1, m.dim, nil))
	}
	return WriteNPY(w, m.l)
}

// WriteMatrixNPY writes the d×d matrix M by WriteNPY. It returns an error if M and a
// copy do not fit limits.Memory.
func (m *Mahalanobis) WriteMatrixNPY(w io.Writer) error {
	if err := limits.Check(fmt.Sprintf("the matrix of a metric of %d features", m.dim), limits.Floats(2, m.dim, m.dim)); err != nil {
		return fmt.Errorf("npy: %w", err)
	}
	return WriteNPY(w, m.M())
}

// ReadNPY reads a matrix from a NumPy .npy file as numpy.save writes it. It is two-dimensional, row by row or column by column, in either byte order: of
// float64, of float32, or of integers of at most 64 bits with a sign or 32 without. It returns an error before there is memory for the matrix: if the file is
// another one, holds fewer or more numbers than its header says, or does not fit limits.Memory. Another error names a number that is NaN or infinite, by row
// and column from 0.
func ReadNPY(r io.Reader) (*mat.Dense, error) { return readNPY(r, false) }

// ReadNPYColumn reads a column of numbers: ReadNPY for an array of one dimension, or of one column.
func ReadNPYColumn(r io.Reader) ([]float64, error) {
	x, err := readNPY(r, true)
	if err != nil {
		return nil, err
	}
	if _, columns := x.Dims(); columns != 1 {
		return nil, fmt.Errorf("npy: %d columns are not allowed, want one", columns)
	}
	return mat.Col(nil, 0, x), nil
}

// readNPY is ReadNPY; with column, an array of one dimension is a column.
func readNPY(r io.Reader, column bool) (*mat.Dense, error) {
	raw, err := limits.ReadAll(r, "the .npy file")
	if err != nil {
		return nil, fmt.Errorf("npy: %w", err)
	}
	body := bytes.NewReader(raw)
	in, err := npyhead.Read(body, raw)
	if err != nil {
		return nil, fmt.Errorf("npy: %w", err)
	}
	head := in.Header.Descr
	read, ok := npyTypes[strings.TrimLeft(head.Type, "<>|=")]
	if !ok {
		return nil, fmt.Errorf("npy: numbers of type %q are not allowed, want float64, float32 or integers", head.Type)
	}
	if column && len(head.Shape) == 1 {
		head.Shape, head.Fortran = []int{head.Shape[0], 1}, false
	}
	if len(head.Shape) != 2 || head.Shape[0] < 1 || head.Shape[1] < 1 {
		return nil, fmt.Errorf("npy: an array of shape %v is not allowed, want rows and columns", head.Shape)
	}
	rows, columns := head.Shape[0], head.Shape[1]
	if want := limits.Product(read.size, rows, columns); int64(body.Len()) != want {
		return nil, fmt.Errorf("npy: %d bytes follow the header, want %d for %d×%d numbers of type %s", body.Len(), want, rows, columns, head.Type)
	}
	if err := limits.Check(fmt.Sprintf("a matrix of %d×%d", rows, columns), limits.Floats(rows, columns)); err != nil {
		return nil, fmt.Errorf("npy: %w", err)
	}
	data, err := read.values(in)
	if err != nil {
		return nil, fmt.Errorf("npy: %w", err)
	}
	x := mat.NewDense(rows, columns, data)
	if head.Fortran {
		x = mat.DenseCopyOf(mat.NewDense(columns, rows, data).T())
	}
	if err := CheckFinite(x); err != nil {
		return nil, fmt.Errorf("npy: %w", err)
	}
	return x, nil
}

// npyTypes are the types of numbers that ReadNPY knows, without their byte order.
var npyTypes = map[string]struct {
	size   int
	values func(*npy.Reader) ([]float64, error)
}{
	"f8": {8, npyValues[float64]}, "f4": {4, npyValues[float32]},
	"i8": {8, npyValues[int64]}, "i4": {4, npyValues[int32]}, "i2": {2, npyValues[int16]}, "i1": {1, npyValues[int8]},
	"u4": {4, npyValues[uint32]}, "u2": {2, npyValues[uint16]}, "u1": {1, npyValues[uint8]},
}

func npyValues[T float64 | float32 | int64 | int32 | int16 | int8 | uint32 | uint16 | uint8](in *npy.Reader) ([]float64, error) {
	var values []T
	if err := in.Read(&values); err != nil {
		return nil, err
	}
	if same, ok := any(values).([]float64); ok {
		return same, nil
	}
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = float64(v)
	}
	return out, nil
}
