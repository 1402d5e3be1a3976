package datasets

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"
)

// maxMATBytes is the largest file that readPRTools accepts, 16 MiB: ten times the
// largest in the registry.
const maxMATBytes = 16 << 20

// Types of data elements and classes of arrays, Tables 1-1 and 1-3 of the MathWorks'
// "MAT-File Format".
const (
	miINT8   = 1
	miUINT8  = 2
	miINT16  = 3
	miUINT16 = 4
	miINT32  = 5
	miUINT32 = 6
	miSINGLE = 7
	miDOUBLE = 9
	miMATRIX = 14

	mxCELL   = 1
	mxOBJECT = 3
	mxCHAR   = 4
	mxDOUBLE = 6
)

// readPRTools reads a data set that PRTools 3 (Duin 2000) saved as a MATLAB 5
// MAT-file: the format of nist16 and of the packaging of mfeat by TU Delft. Labels are
// indices into Classes. If the set knows a height of its images, which MATLAB
// stores column by column, rows of X are rearranged to hold them row by row.
//
// Such a file is big-endian and not compressed. It holds one 1×1 object of the class
// "dataset". Among its fields are d (n×d numbers), l (n×1, 1 for the first class), ll
// (a cell with the names of the classes, a row of characters or a number each), and c
// (height of an image, or 0). MATLAB stores numbers in the smallest type that holds
// them. The kept reader of MAT-files in Go that was tried (scigolib/matlab v0.3.1)
// does not read such objects: hence this one.
//
// Everything else is refused with a *FormatError that carries name, the offset and
// what is allowed there: other arrays, sizes that are not those of the data, more
// than maxMATBytes. Nothing is allocated by what a header says before the bytes are
// there, so that memory stays in proportion to the file.
func readPRTools(r io.Reader, name string) (*Set, error) {
	data, err := readAtMost(r, name, maxMATBytes)
	if err != nil {
		return nil, err
	}
	f := &matFile{name, binary.BigEndian, data}
	fields, err := f.object()
	if err != nil {
		return nil, err
	}
	x, err := f.numbers(fields, "d")
	if err != nil {
		return nil, err
	}
	l, err := f.numbers(fields, "l")
	if err != nil {
		return nil, err
	}
	c, err := f.numbers(fields, "c")
	if err != nil {
		return nil, err
	}
	classes, err := f.classes(fields["ll"])
	if err != nil {
		return nil, err
	}

	n, d := x.rows, x.cols
	if l.rows != n || l.cols != 1 {
		return nil, f.refuse(l.at, "size of l", fmt.Sprintf("%d×%d", l.rows, l.cols), "%d×1", n)
	}
	s := &Set{Name: name, X: mat.NewDense(n, d, nil), Y: make([]int, n), Classes: classes}
	for i := range n {
		v := l.value(i)
		if !(v >= 1 && v <= float64(len(classes))) || v != math.Trunc(v) {
			return nil, f.refuse(l.offset(i), "label", fmt.Sprint(v), "1 to %d", len(classes))
		}
		s.Y[i] = int(v) - 1
	}
	height := c.value(0)
	if c.rows*c.cols != 1 || !(height >= 0 && height <= float64(d)) || height != math.Trunc(height) || height > 0 && d%int(height) != 0 {
		return nil, f.refuse(c.at, "height of an image", fmt.Sprint(height), "0 or one divisor of %d", d)
	}
	if height > 0 {
		s.Height, s.Width = int(height), d/int(height)
	}
	for j := range d {
		at := j // where feature j of the file belongs
		if s.Height > 0 {
			at = j%s.Height*s.Width + j/s.Height
		}
		for i := range n {
			v := x.value(j*n + i)
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, f.refuse(x.offset(j*n+i), "number", fmt.Sprint(v), "a finite number")
			}
			s.X.Set(i, at, v)
		}
	}
	return s, nil
}

// readAtMost reads all of r, or returns a *FormatError if that is more than limit bytes.
func readAtMost(r io.Reader, name string, limit int) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, int64(limit)+1))
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", name, err)
	}
	if len(data) > limit {
		return nil, &FormatError{name, int64(limit), "size", "larger", fmt.Sprintf("at most %d bytes", limit), nil}
	}
	return data, nil
}

// matFile is a MAT-file in memory. Offsets count from its beginning.
type matFile struct {
	name  string
	order binary.ByteOrder
	data  []byte
}

func (f *matFile) refuse(at int, field, value, want string, args ...any) error {
	return &FormatError{f.name, int64(at), field, value, fmt.Sprintf(want, args...), nil}
}

// element is a data element: its type and where its content lies.
type element struct {
	kind       uint32
	at         int // of its tag
	start, end int
	next       int // where the next element begins
}

// element reads the tag at an offset; the element must end at or before end.
func (f *matFile) element(at, end int) (element, error) {
	if end-at < 8 {
		return element{}, f.refuse(at, "data element", fmt.Sprintf("%d bytes long", max(end-at, 0)), "at least 8 bytes")
	}
	kind := f.order.Uint32(f.data[at:])
	if size := int(kind >> 16); size > 0 { // up to four bytes stand in the tag itself
		if size > 4 {
			return element{}, f.refuse(at, "size of a small data element", strconv.Itoa(size), "1 to 4")
		}
		return element{kind & 0xffff, at, at + 4, at + 4 + size, at + 8}, nil
	}
	size := uint64(f.order.Uint32(f.data[at+4:]))
	if room := uint64(end - at - 8); (size+7)/8*8 > room { // padded to 8 bytes
		return element{}, f.refuse(at+4, "size of a data element", fmt.Sprint(size), "with its padding at most %d bytes", room)
	}
	start := at + 8
	return element{kind, at, start, start + int(size), start + int(size+7)/8*8}, nil
}

// typed is element with a type that is wanted.
func (f *matFile) typed(at, end int, what string, kind uint32) (element, error) {
	e, err := f.element(at, end)
	if err == nil && e.kind != kind {
		err = f.refuse(at, what, fmt.Sprintf("a data element of type %d", e.kind), "type %d", kind)
	}
	return e, err
}

// array is a matrix element whose flags and size have been read.
type array struct {
	class      byte
	name       string
	rows, cols int
	next, end  int // the parts after its name
}

func (f *matFile) array(e element) (array, error) {
	flags, err := f.typed(e.start, e.end, "array flags", miUINT32)
	if err != nil {
		return array{}, err
	}
	dims, err := f.typed(flags.next, e.end, "dimensions", miINT32)
	if err != nil {
		return array{}, err
	}
	label, err := f.typed(dims.next, e.end, "name", miINT8)
	if err != nil {
		return array{}, err
	}
	if flags.end-flags.start != 8 || dims.end-dims.start != 8 {
		return array{}, f.refuse(e.at, "array header", fmt.Sprintf("%d bytes of flags, %d of dimensions", flags.end-flags.start, dims.end-dims.start), "8 and 8")
	}
	const complexFlag = 8
	word := f.order.Uint32(f.data[flags.start:])
	if word>>8&complexFlag != 0 {
		return array{}, f.refuse(flags.start, "array flags", "complex", "real numbers")
	}
	rows, cols := f.order.Uint32(f.data[dims.start:]), f.order.Uint32(f.data[dims.start+4:])
	if rows > maxMATBytes || cols > maxMATBytes {
		return array{}, f.refuse(dims.start, "dimensions", fmt.Sprintf("%d×%d", rows, cols), "at most %d each", maxMATBytes)
	}
	return array{byte(word), string(f.data[label.start:label.end]), int(rows), int(cols), label.next, e.end}, nil
}

// matHead is the size of a MAT-file's header.
const matHead = 128

// header returns an error unless the file begins with a header of MATLAB 5 that ends in
// the mark of that byte order.
func (f *matFile) header(mark, order string) error {
	if len(f.data) < matHead {
		return f.refuse(len(f.data), "header", fmt.Sprintf("%d bytes long", len(f.data)), "%d bytes", matHead)
	}
	if got := f.data[matHead-4 : matHead]; string(got) != mark {
		return f.refuse(matHead-4, "version and byte order", fmt.Sprintf("%q", got), "%q: MATLAB 5, %s", mark, order)
	}
	return nil
}

// object returns the fields of the file's one variable.
func (f *matFile) object() (map[string]element, error) {
	if err := f.header("\x01\x00MI", "big-endian"); err != nil {
		return nil, err
	}
	variable, err := f.typed(matHead, len(f.data), "variable", miMATRIX)
	if err != nil {
		return nil, err
	}
	if variable.next != len(f.data) {
		return nil, f.refuse(variable.next, "end", fmt.Sprintf("followed by %d more bytes", len(f.data)-variable.next), "one variable")
	}
	a, err := f.array(variable)
	if err != nil {
		return nil, err
	}
	if a.class != mxOBJECT || a.rows != 1 || a.cols != 1 {
		return nil, f.refuse(variable.at, "variable", fmt.Sprintf("a %d×%d array of class %d", a.rows, a.cols, a.class), "a 1×1 object (class %d)", mxOBJECT)
	}
	class, err := f.typed(a.next, a.end, "class name", miINT8)
	if err != nil {
		return nil, err
	}
	if name := string(f.data[class.start:class.end]); name != "dataset" {
		return nil, f.refuse(class.start, "class name", quote(name), `"dataset"`)
	}
	length, err := f.typed(class.next, a.end, "length of a field name", miINT32)
	if err != nil {
		return nil, err
	}
	if length.end-length.start != 4 {
		return nil, f.refuse(length.at, "length of a field name", fmt.Sprintf("%d bytes long", length.end-length.start), "4 bytes")
	}
	width := f.order.Uint32(f.data[length.start:])
	names, err := f.typed(length.next, a.end, "field names", miINT8)
	if err != nil {
		return nil, err
	}
	total := names.end - names.start
	const longest = 64
	if width == 0 || width > longest || total%int(width) != 0 {
		return nil, f.refuse(length.start, "length of a field name", fmt.Sprint(width), "1 to %d, a divisor of the %d bytes of names", longest, total)
	}
	fields := map[string]element{}
	at := names.next
	for k := names.start; k < names.end; k += int(width) {
		name, _, _ := strings.Cut(string(f.data[k:k+int(width)]), "\x00")
		e, err := f.typed(at, a.end, "field "+quote(name), miMATRIX)
		if err != nil {
			return nil, err
		}
		if _, ok := fields[name]; ok {
			return nil, f.refuse(k, "field names", quote(name)+" twice", "distinct names")
		}
		fields[name], at = e, e.next
	}
	if at != a.end {
		return nil, f.refuse(at, "end of the fields", fmt.Sprintf("followed by %d more bytes", a.end-at), "one array per field")
	}
	for _, name := range []string{"d", "l", "ll", "c"} {
		if _, ok := fields[name]; !ok {
			return nil, f.refuse(names.start, "field names", "without "+name, "d, l, ll and c among them")
		}
	}
	return fields, nil
}

// matMatrix is an array of real numbers, column by column.
type matMatrix struct {
	rows, cols int
	at         int // of the numbers
	size       int // bytes of a number
	read       func([]byte) float64
	data       []byte
}

// value returns the number of index k, counted column by column.
func (m matMatrix) value(k int) float64 { return m.read(m.data[m.offset(k):]) }

func (m matMatrix) offset(k int) int { return m.at + k*m.size }

func (f *matFile) numbers(fields map[string]element, name string) (matMatrix, error) {
	e := fields[name]
	a, err := f.array(e)
	if err != nil {
		return matMatrix{}, err
	}
	if a.class != mxDOUBLE {
		return matMatrix{}, f.refuse(e.at, "field "+name, fmt.Sprintf("an array of class %d", a.class), "numbers (class %d)", mxDOUBLE)
	}
	return f.matrix(a, "field "+name)
}

// matrix reads the numbers of an array, of which there is at least one.
func (f *matFile) matrix(a array, what string) (matMatrix, error) {
	e, err := f.element(a.next, a.end)
	if err != nil {
		return matMatrix{}, err
	}
	m := matMatrix{rows: a.rows, cols: a.cols, at: e.start, data: f.data}
	switch e.kind {
	case miINT8:
		m.size, m.read = 1, func(b []byte) float64 { return float64(int8(b[0])) }
	case miUINT8:
		m.size, m.read = 1, func(b []byte) float64 { return float64(b[0]) }
	case miINT16:
		m.size, m.read = 2, func(b []byte) float64 { return float64(int16(f.order.Uint16(b))) }
	case miUINT16:
		m.size, m.read = 2, func(b []byte) float64 { return float64(f.order.Uint16(b)) }
	case miINT32:
		m.size, m.read = 4, func(b []byte) float64 { return float64(int32(f.order.Uint32(b))) }
	case miUINT32:
		m.size, m.read = 4, func(b []byte) float64 { return float64(f.order.Uint32(b)) }
	case miSINGLE:
		m.size, m.read = 4, func(b []byte) float64 { return float64(math.Float32frombits(f.order.Uint32(b))) }
	case miDOUBLE:
		m.size, m.read = 8, func(b []byte) float64 { return math.Float64frombits(f.order.Uint64(b)) }
	default:
		return matMatrix{}, f.refuse(e.at, what, fmt.Sprintf("a data element of type %d", e.kind), "numbers")
	}
	// Both sizes are at most maxMATBytes, so that the product fits an int64.
	if cells := int64(a.rows) * int64(a.cols); cells == 0 || cells*int64(m.size) != int64(e.end-e.start) {
		return matMatrix{}, f.refuse(e.at, what, fmt.Sprintf("%d bytes", e.end-e.start), "%d×%d numbers of %d bytes, at least one", a.rows, a.cols, m.size)
	}
	return m, nil
}

// classes reads a 1×1 cell with the names of the classes, one per row of characters
// or numbers.
func (f *matFile) classes(e element) ([]string, error) {
	a, err := f.array(e)
	if err != nil {
		return nil, err
	}
	if a.class != mxCELL || a.rows != 1 || a.cols != 1 {
		return nil, f.refuse(e.at, "field ll", fmt.Sprintf("a %d×%d array of class %d", a.rows, a.cols, a.class), "a 1×1 cell (class %d)", mxCELL)
	}
	if e, err = f.typed(a.next, a.end, "content of ll", miMATRIX); err != nil {
		return nil, err
	}
	if a, err = f.array(e); err != nil {
		return nil, err
	}
	if a.class != mxCHAR && !(a.class == mxDOUBLE && a.cols == 1) {
		return nil, f.refuse(e.at, "content of ll", fmt.Sprintf("a %d×%d array of class %d", a.rows, a.cols, a.class), "characters (class %d) or a column of numbers (class %d)", mxCHAR, mxDOUBLE)
	}
	m, err := f.matrix(a, "content of ll")
	if err != nil {
		return nil, err
	}
	const most = 1 << 12 // a name takes more memory than its bytes
	if m.rows > most {
		return nil, f.refuse(e.at, "content of ll", fmt.Sprintf("%d names", m.rows), "at most %d", most)
	}
	classes := make([]string, m.rows)
	for i := range classes {
		var name strings.Builder
		for j := range m.cols {
			v := m.value(j*m.rows + i)
			switch {
			case a.class == mxDOUBLE && !math.IsNaN(v) && !math.IsInf(v, 0):
				fmt.Fprint(&name, v)
			case a.class == mxCHAR && v >= ' ' && v <= '~' && v == math.Trunc(v):
				name.WriteByte(byte(v))
			default:
				return nil, f.refuse(m.offset(j*m.rows+i), "name of a class", fmt.Sprint(v), "a finite number, or a code of printable ASCII")
			}
		}
		if classes[i] = strings.TrimSpace(name.String()); classes[i] == "" {
			return nil, f.refuse(m.offset(i), "name of a class", "blank", "a name")
		}
	}
	if distinct := slices.Compact(slices.Sorted(slices.Values(classes))); len(distinct) < len(classes) {
		return nil, f.refuse(m.at, "names of classes", fmt.Sprintf("%d, of which %d are distinct", len(classes), len(distinct)), "distinct names")
	}
	return classes, nil
}
