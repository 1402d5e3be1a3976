package metric

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"
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
// float64, of float32, of integers, or of booleans, which are 0 and 1. It returns an error before there is memory for the matrix: if the file is
// another one, holds fewer or more numbers than its header says, or does not fit limits.Memory. Another error names a number that is NaN or infinite, or
// an integer that no float64 is, by row and column from 0.
func ReadNPY(r io.Reader) (*mat.Dense, error) {
	in, rows, columns, err := openNPY(r, false)
	if err != nil {
		return nil, err
	}
	head := in.Header.Descr
	data, bad, err := npyTypes[npyType(head.Type)].values(in)
	if err != nil {
		return nil, fmt.Errorf("npy: %w", err)
	}
	if bad >= 0 {
		i, j := bad/columns, bad%columns
		if head.Fortran {
			i, j = bad%rows, bad/rows
		}
		return nil, fmt.Errorf("npy: row %d, column %d: an integer beyond ±2^53 is not allowed that no float64 is: it would be read as %s", i, j, strconv.FormatFloat(data[bad], 'f', -1, 64))
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

// ReadNPYLabels reads labels: the numbers of an array of one dimension, or of one column, as their shortest decimal text. Integers are never float64 on
// the way.
func ReadNPYLabels(r io.Reader) ([]string, error) {
	in, _, columns, err := openNPY(r, true)
	if err != nil {
		return nil, err
	}
	if columns != 1 {
		return nil, fmt.Errorf("npy: %d columns are not allowed, want one", columns)
	}
	labels, err := npyTypes[npyType(in.Header.Descr.Type)].texts(in)
	if err != nil {
		return nil, fmt.Errorf("npy: %w", err)
	}
	return labels, nil
}

func npyType(descr string) string { return strings.TrimLeft(descr, "<>|=") }

// openNPY reads the header of an array; with column, one of one dimension is a column.
func openNPY(r io.Reader, column bool) (in *npy.Reader, rows, columns int, err error) {
	in, rows, columns, err = headNPY(r, column)
	if err != nil {
		err = fmt.Errorf("npy: %w", err)
	}
	return in, rows, columns, err
}

func headNPY(r io.Reader, column bool) (in *npy.Reader, rows, columns int, err error) {
	raw, err := limits.ReadAll(r, "the .npy file")
	if err != nil {
		return nil, 0, 0, err
	}
	body := bytes.NewReader(raw)
	if in, err = npyhead.Read(body, raw); err != nil {
		return nil, 0, 0, err
	}
	head := &in.Header.Descr
	read, ok := npyTypes[npyType(head.Type)]
	if !ok {
		return nil, 0, 0, fmt.Errorf("numbers of type %q are not allowed, want float64, float32, integers or booleans", head.Type)
	}
	shape := head.Shape
	if column && len(shape) == 1 {
		shape = []int{shape[0], 1}
	}
	if len(shape) != 2 || shape[0] < 1 || shape[1] < 1 {
		return nil, 0, 0, fmt.Errorf("an array of shape %v is not allowed, want rows and columns", shape)
	}
	rows, columns = shape[0], shape[1]
	if want := limits.Product(read.size, rows, columns); int64(body.Len()) != want {
		return nil, 0, 0, fmt.Errorf("%d bytes follow the header, want %d for %d×%d numbers of type %s", body.Len(), want, rows, columns, head.Type)
	}
	return in, rows, columns, limits.Check(fmt.Sprintf("a matrix of %d×%d", rows, columns), limits.Floats(rows, columns))
}

// npyNumbers reads the numbers of a type: as float64, with the place of the first integer that none is, or −1; and as text.
type npyNumbers struct {
	size   int
	values func(*npy.Reader) (values []float64, bad int, err error)
	texts  func(*npy.Reader) ([]string, error)
}

// npyTypes are the types of numbers that ReadNPY knows, without their byte order.
var npyTypes = map[string]npyNumbers{
	"f8": floatsOf[float64](8, 64), "f4": floatsOf[float32](4, 32),
	"i8": integersOf[int64](8), "i4": integersOf[int32](4), "i2": integersOf[int16](2), "i1": integersOf[int8](1),
	"u8": integersOf[uint64](8), "u4": integersOf[uint32](4), "u2": integersOf[uint16](2), "u1": integersOf[uint8](1),
	"b1": {1, func(in *npy.Reader) ([]float64, int, error) {
		values, err := numbersOf[bool](in)
		out := make([]float64, len(values))
		for i, v := range values {
			if v {
				out[i] = 1
			}
		}
		return out, -1, err
	}, func(in *npy.Reader) ([]string, error) {
		values, err := numbersOf[bool](in)
		return texts(values, strconv.FormatBool), err
	}},
}

func numbersOf[T any](in *npy.Reader) (values []T, err error) {
	err = in.Read(&values)
	return values, err
}

func texts[T any](values []T, text func(T) string) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = text(v)
	}
	return out
}

func floatsOf[T float64 | float32](size, bits int) npyNumbers {
	return npyNumbers{size, func(in *npy.Reader) ([]float64, int, error) {
		values, err := numbersOf[T](in)
		if same, ok := any(values).([]float64); ok {
			return same, -1, err
		}
		out := make([]float64, len(values))
		for i, v := range values {
			out[i] = float64(v)
		}
		return out, -1, err
	}, func(in *npy.Reader) ([]string, error) {
		values, err := numbersOf[T](in)
		for i, v := range values {
			if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
				return nil, fmt.Errorf("row %d: %v is not allowed, want a finite number", i, f)
			}
		}
		return texts(values, func(v T) string { return strconv.FormatFloat(float64(v), 'g', -1, bits) }), err
	}}
}

func integersOf[T int64 | int32 | int16 | int8 | uint64 | uint32 | uint16 | uint8](size int) npyNumbers {
	return npyNumbers{size, func(in *npy.Reader) ([]float64, int, error) {
		values, err := numbersOf[T](in)
		out := make([]float64, len(values))
		bad := -1
		for i, v := range values {
			// Beyond 2⁶³ a conversion back would not be defined; no such value of float64 is less than 1<<63.
			if out[i] = float64(v); bad < 0 && (out[i] >= 1<<63 && uint64(v) != uint64(out[i]/2)*2 || out[i] < 1<<63 && T(out[i]) != v) {
				bad = i
			}
		}
		return out, bad, err
	}, func(in *npy.Reader) ([]string, error) {
		values, err := numbersOf[T](in)
		return texts(values, func(v T) string { return fmt.Sprint(v) }), err
	}}
}
