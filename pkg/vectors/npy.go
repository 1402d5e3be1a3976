// Package vectors reads and writes embeddings: matrices in NumPy .npy files, a vector per row, that need not fit in
// memory, and the names of their rows. A File reads rows at any place, a Writer writes them; both hold no more than
// the block that they are given. Files of float64, float32 and float16 are read as they are; in memory numbers are float64.
package vectors

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/atomicfile"
	"metriclab/internal/npyhead"
	"metriclab/pkg/limits"
)

// File is a matrix in a .npy file, n×d with n, d ≥ 1. It is safe for concurrent use.
type File struct {
	name  string
	in    io.ReaderAt
	close func() error
	shape
	big     bool  // big-endian
	columns bool  // column by column
	start   int64 // of the numbers
	ids     []string
}

// shape is what a header says.
type shape struct {
	rows, dim int
	size      int // bytes of a number
}

// headBytes bounds the header of a file that is read. NumPy writes 128 bytes.
const headBytes = 1 << 16

// Open opens a .npy file as numpy.save writes it: two-dimensional, float64, float32 or float16 in either byte order, row by row or column by
// column. Of the latter a row takes a read for each column, so that many rows at a time are faster. Other files are read as Read does. It
// returns an error that names the file if it is no regular file or another one, or is shorter or longer than its header says. Memory does
// not depend on the size of the file.
func Open(path string) (*File, error) {
	f, err := limits.Open(path)
	if err != nil {
		return nil, fmt.Errorf("vectors: %w", err)
	}
	begin := make([]byte, len(npyMagic))
	if n, _ := f.ReadAt(begin, 0); string(begin[:n]) != npyMagic {
		defer f.Close()
		return Read(f, path)
	}
	info, err := f.Stat()
	var out *File
	if err == nil {
		out, err = newFile(f, info.Size(), path)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	out.close = f.Close
	return out, nil
}

// newFile is Open of size bytes.
func newFile(in io.ReaderAt, size int64, name string) (*File, error) {
	fail := func(format string, args ...any) (*File, error) {
		return nil, fmt.Errorf("vectors: %s: %w", name, fmt.Errorf(format, args...))
	}
	raw := make([]byte, min(size, headBytes))
	if _, err := in.ReadAt(raw, 0); err != nil && err != io.EOF {
		return fail("%w", err)
	}
	body := bytes.NewReader(raw)
	r, err := npyhead.Read(body, raw)
	if err != nil {
		return fail("not a .npy file: %w", err)
	}
	head := r.Header.Descr
	f := &File{name: name, in: in, big: strings.HasPrefix(head.Type, ">"), start: int64(len(raw) - body.Len())}
	switch strings.TrimLeft(head.Type, "<>|=") {
	case "f8":
		f.size = 8
	case "f4":
		f.size = 4
	case "f2":
		f.size = 2
	default:
		return fail("numbers of type %q are not allowed, want float64, float32 or float16: in NumPy, x.astype(numpy.float32)", head.Type)
	}
	if len(head.Shape) != 2 || head.Shape[0] < 1 || head.Shape[1] < 1 {
		return fail("an array of shape %v is not allowed, want rows and columns", head.Shape)
	}
	f.rows, f.dim = head.Shape[0], head.Shape[1]
	f.columns = head.Fortran && f.rows > 1 && f.dim > 1
	if want := limits.Product(f.size, f.rows, f.dim); size-f.start != want {
		return fail("%d bytes follow the header, want %d for %d×%d numbers of type %s", size-f.start, want, f.rows, f.dim, head.Type)
	}
	return f, nil
}

// Close closes the file.
func (f *File) Close() error {
	if f.close == nil {
		return nil
	}
	return f.close()
}

// Name returns the path that the file was opened by.
func (f *File) Name() string { return f.name }

// Rows returns n, the number of vectors.
func (f *File) Rows() int { return f.rows }

// Dim returns d, the length of a vector.
func (f *File) Dim() int { return f.dim }

// IDs returns the id of each vector, nil if the file has none, as a .npy file.
func (f *File) IDs() []string { return f.ids }

// Float32 tells whether float32 holds the numbers of the file, which are float32 or float16; else they are float64.
func (f *File) Float32() bool { return f.size <= 4 }

// ReadRows reads rows first, first+1, … into dst, whose length is a multiple of d. It returns an error that names the row
// and column, both from 0, of a number that is NaN or infinite. It panics if the file has fewer rows.
func (f *File) ReadRows(dst []float64, first int) error {
	n := len(dst) / f.dim
	if len(dst)%f.dim != 0 || first < 0 || n > f.rows-first {
		panic(fmt.Sprintf("vectors: ReadRows: %d numbers from row %d of a file of %d×%d", len(dst), first, f.rows, f.dim))
	}
	if n == 0 {
		return nil
	}
	raw, free := bytesOf(f.size * len(dst))
	defer free()
	parts := 1 // that lie together
	if f.columns {
		parts = f.dim
	}
	for j := range parts {
		at, part := int64(first)*int64(f.dim), raw
		if f.columns {
			at, part = int64(j)*int64(f.rows)+int64(first), raw[:f.size*n]
		}
		if _, err := f.in.ReadAt(part, f.start+int64(f.size)*at); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return fmt.Errorf("vectors: %s: row %d: %w", f.name, first, err)
		}
		f.decode(dst[j:], part, parts)
	}
	for i, v := range dst {
		if v-v != 0 {
			return fmt.Errorf("vectors: %s: row %d, column %d: %v is not allowed, want a finite number", f.name, first+i/f.dim, i%f.dim, v)
		}
	}
	return nil
}

// decode sets every step-th number of dst to the next number of raw.
func (f *File) decode(dst []float64, raw []byte, step int) {
	order := binary.ByteOrder(binary.LittleEndian)
	if f.big {
		order = binary.BigEndian
	}
	switch {
	case f.size == 8:
		for i := 0; len(raw) > 0; i, raw = i+step, raw[8:] {
			dst[i] = math.Float64frombits(order.Uint64(raw))
		}
	case f.size == 2:
		for i := 0; len(raw) > 0; i, raw = i+step, raw[2:] {
			dst[i] = float16(order.Uint16(raw))
		}
	case f.big:
		for i := 0; len(raw) > 0; i, raw = i+step, raw[4:] {
			dst[i] = float64(math.Float32frombits(binary.BigEndian.Uint32(raw)))
		}
	default: // without a call for each number: most files are these
		for i := 0; len(raw) > 0; i, raw = i+step, raw[4:] {
			dst[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(raw)))
		}
	}
}

// float16 returns the number that IEEE 754's binary16 has these bits for.
func float16(bits uint16) float64 {
	exponent, fraction := int(bits>>10&31), float64(bits&1023)
	var v float64
	switch exponent {
	case 0:
		v = math.Ldexp(fraction, -24)
	case 31:
		if v = math.Inf(1); fraction != 0 {
			v = math.NaN()
		}
	default:
		v = math.Ldexp(1024+fraction, exponent-25)
	}
	if bits>>15 == 1 {
		v = -v
	}
	return v
}

// buffers are those of bytesOf, which blocks of a long file share.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// bytesOf returns n bytes until free is called.
func bytesOf(n int) (raw []byte, free func()) {
	b := buffers.Get().(*[]byte)
	*b = slices.Grow((*b)[:0], n)
	return (*b)[:n], func() { buffers.Put(b) }
}

// Select returns the matrix of the rows idx, in that order. It returns an error, before there is memory for the matrix, if that
// does not fit limits.Memory, and those of ReadRows. It panics if idx is empty or a row is not there.
func (f *File) Select(idx []int) (*mat.Dense, error) {
	if err := limits.Check(fmt.Sprintf("vectors: %d rows of %s", len(idx), f.name), limits.Floats(len(idx), f.dim)); err != nil {
		return nil, err
	}
	x := mat.NewDense(len(idx), f.dim, nil)
	for i := 0; i < len(idx); {
		const most = 1 << 16 // numbers at a time
		n := 1
		for i+n < len(idx) && idx[i+n] == idx[i]+n && n*f.dim < most {
			n++
		}
		if err := f.ReadRows(x.RawMatrix().Data[i*f.dim:(i+n)*f.dim], idx[i]); err != nil {
			return nil, err
		}
		i += n
	}
	return x, nil
}

// Header returns the header of a .npy file of little-endian numbers, float32 or float64, row by row. Whatever the numbers of rows
// and columns, it has 128 bytes, a multiple of 64 as the format asks for.
func Header(rows, dim int, float32 bool) []byte {
	const size, magic = 128, "\x93NUMPY\x01\x00"
	descr := "<f8"
	if float32 {
		descr = "<f4"
	}
	b := binary.LittleEndian.AppendUint16([]byte(magic), size-uint16(len(magic))-2)
	b = fmt.Appendf(b, "{'descr': '%s', 'fortran_order': False, 'shape': (%d, %d), }", descr, rows, dim)
	for len(b) < size-1 {
		b = append(b, ' ')
	}
	return append(b, '\n')
}

// Writer writes a .npy file of which the number of rows is known. The file has its name once Commit has returned, with all rows;
// before, the old file or none is there. One of Commit and Abort ends a Writer. WriteRows may be called concurrently.
type Writer struct {
	file    *atomicfile.File
	path    string
	start   int64
	written atomic.Int64 // rows
	shape
}

// Create starts the file at path, for n×d numbers, float32 or float64, with n, d ≥ 1. Its folder must exist.
func Create(path string, rows, dim int, float32 bool) (*Writer, error) {
	if rows < 1 || dim < 1 {
		panic(fmt.Sprintf("vectors: Create: %d×%d", rows, dim))
	}
	file, err := atomicfile.Create(path)
	if err != nil {
		return nil, err
	}
	w := &Writer{file: file, path: path, shape: shape{rows, dim, 8}}
	if float32 {
		w.size = 4
	}
	head := Header(rows, dim, float32)
	w.start = int64(len(head))
	if _, err := file.Write(head); err != nil {
		file.Abort()
		return nil, err
	}
	return w, nil
}

// WriteRows writes src, whose length is a multiple of d, as rows first, first+1, …; each row once. It returns an error that names
// row and column of a number that is NaN or infinite, or that a float32 cannot hold. It panics if the file has fewer rows.
func (w *Writer) WriteRows(src []float64, first int) error {
	n := len(src) / w.dim
	if len(src)%w.dim != 0 || first < 0 || n > w.rows-first {
		panic(fmt.Sprintf("vectors: WriteRows: %d numbers at row %d of a file of %d×%d", len(src), first, w.rows, w.dim))
	}
	raw, free := bytesOf(w.size * len(src))
	defer free()
	for i, v := range src {
		if a := float32(v); v-v != 0 || w.size == 4 && a-a != 0 {
			return fmt.Errorf("vectors: %s: row %d, column %d: %v is not allowed, want a finite float%d", w.path, first+i/w.dim, i%w.dim, v, 8*w.size)
		}
		if w.size == 8 {
			binary.LittleEndian.PutUint64(raw[8*i:], math.Float64bits(v))
		} else {
			binary.LittleEndian.PutUint32(raw[4*i:], math.Float32bits(float32(v)))
		}
	}
	if _, err := w.file.WriteAt(raw, w.start+int64(w.size)*int64(w.dim)*int64(first)); err != nil {
		return err
	}
	w.written.Add(int64(n))
	return nil
}

// Abort removes what has been written. After Commit it does nothing.
func (w *Writer) Abort() { w.file.Abort() }

// Commit gives the file its name. It returns an error, and removes what has been written, if rows are missing.
func (w *Writer) Commit() error {
	if n := w.written.Load(); n != int64(w.rows) {
		w.file.Abort()
		return fmt.Errorf("vectors: %s: %d rows were written of %d", w.path, n, w.rows)
	}
	return w.file.Commit()
}
