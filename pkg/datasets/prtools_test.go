package datasets

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"gonum.org/v1/gonum/mat"
)

// matElement writes a data element; with small, in the form of up to four bytes.
func matElement(kind uint32, data []byte, small bool) []byte {
	if small {
		out := binary.BigEndian.AppendUint32(nil, uint32(len(data))<<16|kind)
		return append(append(out, data...), make([]byte, 4-len(data))...)
	}
	out := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, kind), uint32(len(data)))
	return append(append(out, data...), make([]byte, (8-len(data)%8)%8)...)
}

func bigEndian(v any) []byte {
	out, err := binary.Append(nil, binary.BigEndian, v)
	if err != nil {
		panic(err)
	}
	return out
}

// matArray writes an array with its parts behind the header.
func matArray(class uint32, rows, cols int, name string, parts ...[]byte) []byte {
	body := matElement(miUINT32, bigEndian([]uint32{class, 0}), false)
	body = append(body, matElement(miINT32, bigEndian([]int32{int32(rows), int32(cols)}), false)...)
	body = append(body, matElement(miINT8, []byte(name), name != "" && len(name) <= 4)...)
	return matElement(miMATRIX, append(body, bytes.Join(parts, nil)...), false)
}

// matColumns returns the numbers of x column by column.
func matColumns(x *mat.Dense) []float64 {
	var out []float64
	_, d := x.Dims()
	for j := range d {
		out = append(out, mat.Col(nil, j, x)...)
	}
	return out
}

// matParts are the arrays of a PRTools file, in the order of its fields.
type matParts struct {
	names  []string
	arrays map[string][]byte
	class  string
	tail   []byte // behind the fields
}

// partsOf returns what readPRTools reads s from, images column by column.
func partsOf(s *Set) matParts {
	x := s.X
	if s.Height > 0 {
		x = mat.NewDense(s.N(), s.Dim(), nil)
		for i := range s.N() {
			for r := range s.Height {
				for c := range s.Width {
					x.Set(i, c*s.Height+r, s.X.At(i, r*s.Width+c))
				}
			}
		}
	}
	longest := 0
	for _, c := range s.Classes {
		longest = max(longest, len(c))
	}
	var labels []uint16
	for _, y := range s.Y {
		labels = append(labels, uint16(y+1))
	}
	names := make([]uint16, len(s.Classes)*longest)
	for j := range longest {
		for i, c := range s.Classes {
			names[j*len(s.Classes)+i] = uint16((c + strings.Repeat(" ", longest))[j])
		}
	}
	return matParts{
		names: []string{"d", "l", "p", "ll", "c"},
		class: "dataset",
		arrays: map[string][]byte{
			"d":  matArray(mxDOUBLE, s.N(), s.Dim(), "", matElement(miDOUBLE, bigEndian(matColumns(x)), false)),
			"l":  matArray(mxDOUBLE, s.N(), 1, "", matElement(miUINT16, bigEndian(labels), false)),
			"p":  matArray(mxDOUBLE, 0, 0, "", matElement(miUINT8, nil, false)),
			"ll": matArray(mxCELL, 1, 1, "", matArray(mxCHAR, len(s.Classes), longest, "labl", matElement(miUINT16, bigEndian(names), false))),
			"c":  matArray(mxDOUBLE, 1, 1, "", matElement(miINT32, bigEndian(int32(s.Height)), true)),
		},
	}
}

func (p matParts) file() []byte {
	var names []byte
	for _, n := range p.names {
		names = append(names, (n + strings.Repeat("\x00", 32))[:32]...)
	}
	parts := [][]byte{matElement(miINT8, []byte(p.class), false), matElement(miINT32, bigEndian(int32(32)), true), matElement(miINT8, names, false)}
	for _, n := range p.names {
		parts = append(parts, p.arrays[n])
	}
	head := append(fmt.Appendf(nil, "%-124s", "MATLAB 5.0 MAT-file"), "\x01\x00MI"...)
	return append(head, matArray(mxOBJECT, 1, 1, "a", append(parts, p.tail)...)...)
}

// matSet is six rows: images of 2×3 pixels if images is true.
func matSet(images bool) *Set {
	s := &Set{Name: "x.mat", X: mat.NewDense(4, 6, nil), Y: []int{1, 0, 2, 1}, Classes: []string{"a", "bc", "d-&e"}}
	for i := range 4 {
		for j := range 6 {
			s.X.Set(i, j, float64(10*i+j)/3)
		}
	}
	if images {
		s.Height, s.Width = 2, 3
	}
	return s
}

func mustPRTools(t *testing.T, data []byte) *Set {
	t.Helper()
	s, err := readPRTools(bytes.NewReader(data), "x.mat")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestReadPRTools(t *testing.T) {
	for _, images := range []bool{false, true} {
		want := matSet(images)
		if got := mustPRTools(t, partsOf(want).file()); !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

// MATLAB stores numbers in the smallest type that holds them; names of classes can
// be numbers.
func TestReadPRToolsTypes(t *testing.T) {
	values := []float64{0, 1, 100, 7, 3, 2, 1, 1, 0, 0, 5, 6, 120, 9, 8, 4, 2, 2, 0, 3, 1, 1, 1, 2}
	p := partsOf(matSet(false))
	p.arrays["ll"] = matArray(mxCELL, 1, 1, "", matArray(mxDOUBLE, 3, 1, "", matElement(miINT8, []byte{0xff, 0, 2}, true)))
	for kind, as := range map[uint32]func(v float64) any{
		miINT8: func(v float64) any { return int8(-v) }, miUINT8: func(v float64) any { return uint8(v) },
		miINT16: func(v float64) any { return int16(-v) }, miUINT16: func(v float64) any { return uint16(v) },
		miINT32: func(v float64) any { return int32(-v) }, miUINT32: func(v float64) any { return uint32(v) },
		miSINGLE: func(v float64) any { return float32(-v) }, miDOUBLE: func(v float64) any { return -v },
	} {
		var data []byte
		for _, v := range values {
			data = append(data, bigEndian(as(v))...)
		}
		p.arrays["d"] = matArray(mxDOUBLE, 4, 6, "", matElement(kind, data, false))
		s := mustPRTools(t, p.file())
		signed := !slices.Contains([]uint32{miUINT8, miUINT16, miUINT32}, kind)
		for k, v := range values {
			if signed {
				v = -v
			}
			if got := s.X.At(k%4, k/4); got != v {
				t.Fatalf("type %d: number %d is %v, want %v", kind, k, got, v)
			}
		}
		if !slices.Equal(s.Classes, []string{"-1", "0", "2"}) {
			t.Errorf("classes %q", s.Classes)
		}
	}
}

func TestReadPRToolsRefuses(t *testing.T) {
	doubles := func(rows, cols int, v ...float64) []byte {
		return matArray(mxDOUBLE, rows, cols, "", matElement(miDOUBLE, bigEndian(v), false))
	}
	chars := func(rows, cols int, s string) []byte {
		return matArray(mxCELL, 1, 1, "", matArray(mxCHAR, rows, cols, "", matElement(miUINT8, []byte(s), false)))
	}
	field := func(name string, array []byte) []byte {
		p := partsOf(matSet(false))
		p.arrays[name] = array
		return p.file()
	}
	ok := partsOf(matSet(false)).file()
	patch := func(at int, b ...byte) []byte {
		out := slices.Clone(ok)
		copy(out[at:], b)
		return out
	}
	without := func(name string) []byte {
		p := partsOf(matSet(false))
		p.names = slices.DeleteFunc(p.names, func(n string) bool { return n == name })
		return p.file()
	}
	twice := partsOf(matSet(false))
	twice.names = append(twice.names, "d")
	other := partsOf(matSet(false))
	other.class = "prdataset"
	tail := partsOf(matSet(false))
	tail.tail = matElement(miINT8, nil, false)
	for name, tc := range map[string]struct {
		data []byte
		want string
	}{
		"empty":             {nil, "byte 0, header: is 0 bytes long, want 128 bytes"},
		"cut header":        {ok[:100], "byte 100, header"},
		"little-endian":     {patch(124, 0, 1, 'I', 'M'), `byte 124, version and byte order: is "\x00\x01IM", want "\x01\x00MI"`},
		"no variable":       {ok[:128], "byte 128, data element: is 0 bytes long"},
		"compressed":        {patch(128, 0, 0, 0, 15), "byte 128, variable: is a data element of type 15, want type 14"},
		"cut":               {ok[:len(ok)-8], "byte 132, size of a data element"},
		"huge":              {patch(132, 0xff, 0xff, 0xff, 0xff), "byte 132, size of a data element: is 4294967295"},
		"two variables":     {append(slices.Clone(ok), ok[128:]...), "want one variable"},
		"numbers":           {append(slices.Clone(ok[:128]), doubles(1, 1, 3)...), "is a 1×1 array of class 6, want a 1×1 object (class 3)"},
		"flags":             {patch(139, 5), "byte 136, array flags: is a data element of type 5, want type 6"},
		"long small":        {patch(168, 0, 5, 0, 1), "byte 168, size of a small data element: is 5, want 1 to 4"},
		"another class":     {other.file(), `class name: is "prdataset", want "dataset"`},
		"more than fields":  {tail.file(), "end of the fields: is followed by 8 more bytes"},
		"without d":         {without("d"), "field names: is without d, want d, l, ll and c among them"},
		"without c":         {without("c"), "field names: is without c"},
		"field twice":       {twice.file(), `field names: is "d" twice`},
		"complex":           {patch(146, 8), "array flags: is complex"},
		"name width 0":      {patch(196, 0, 0, 0, 0), "length of a field name: is 0, want 1 to 64"},
		"characters in d":   {field("d", matArray(mxCHAR, 4, 6, "", matElement(miUINT8, make([]byte, 24), false))), "field d: is an array of class 4"},
		"matrix in d":       {field("d", matArray(mxDOUBLE, 4, 6, "", doubles(1, 1, 1))), "field d: is a data element of type 14, want numbers"},
		"few numbers":       {field("d", doubles(4, 6, 1, 2, 3)), "field d: is 24 bytes, want 4×6 numbers of 8 bytes"},
		"size overflow":     {field("d", matArray(mxDOUBLE, 1<<31-1, 1<<31-1, "", matElement(miDOUBLE, nil, false))), "dimensions: is 2147483647×2147483647"},
		"no row":            {field("d", doubles(0, 6)), "field d: is 0 bytes, want 0×6 numbers"},
		"NaN":               {field("d", doubles(4, 1, 1, 2, math.NaN(), 3)), "number: is NaN, want a finite number"},
		"infinity":          {field("d", doubles(4, 1, 1, 2, 3, math.Inf(-1))), "number: is -Inf"},
		"few labels":        {field("l", doubles(3, 1, 1, 2, 3)), "size of l: is 3×1, want 4×1"},
		"row of labels":     {field("l", doubles(1, 4, 1, 2, 3, 1)), "size of l: is 1×4"},
		"label 0":           {field("l", doubles(4, 1, 1, 2, 0, 1)), "label: is 0, want 1 to 3"},
		"label 4":           {field("l", doubles(4, 1, 4, 2, 3, 1)), "label: is 4, want 1 to 3"},
		"label 1.5":         {field("l", doubles(4, 1, 1, 1.5, 3, 1)), "label: is 1.5"},
		"label NaN":         {field("l", doubles(4, 1, 1, math.NaN(), 3, 1)), "label: is NaN"},
		"height 4":          {field("c", doubles(1, 1, 4)), "height of an image: is 4, want 0 or one divisor of 6"},
		"height -1":         {field("c", doubles(1, 1, -1)), "height of an image: is -1"},
		"height NaN":        {field("c", doubles(1, 1, math.NaN())), "height of an image: is NaN"},
		"two heights":       {field("c", doubles(1, 2, 2, 2)), "height of an image: is 2, want 0 or one"},
		"names no cell":     {field("ll", doubles(3, 1, 1, 2, 3)), "field ll: is a 3×1 array of class 6, want a 1×1 cell"},
		"names no matrix":   {field("ll", matArray(mxCELL, 1, 1, "", matElement(miUINT8, nil, false))), "content of ll: is a data element of type 2, want type 14"},
		"names in a row":    {field("ll", matArray(mxCELL, 1, 1, "", doubles(1, 3, 1, 2, 3))), "content of ll: is a 1×3 array of class 6"},
		"control character": {field("ll", chars(3, 1, "ab\x00")), "name of a class: is 0, want"},
		"name NaN":          {field("ll", matArray(mxCELL, 1, 1, "", doubles(3, 1, 1, math.NaN(), 3))), "name of a class: is NaN"},
		"blank name":        {field("ll", chars(3, 1, "a b")), "name of a class: is blank"},
		"name twice":        {field("ll", chars(3, 1, "aba")), "names of classes: is 3, of which 2 are distinct"},
		"many names":        {field("ll", chars(1<<13, 1, strings.Repeat("a", 1<<13))), "content of ll: is 8192 names, want at most 4096"},
	} {
		s, err := readPRTools(bytes.NewReader(tc.data), "x.mat")
		if _, ok := errors.AsType[*FormatError](err); !ok || s != nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v, want %q", name, err, tc.want)
		}
	}
	broken := errors.New("disk")
	if _, err := readPRTools(iotest.ErrReader(broken), "x.mat"); !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
	if _, err := readPRTools(endless{}, "x.mat"); err == nil || !strings.Contains(err.Error(), "size: is larger, want at most 16777216 bytes") {
		t.Errorf("an endless file: %v", err)
	}
}

// A header that announces 2 GiB allocates nothing of the kind.
func TestReadPRToolsMemory(t *testing.T) {
	p := partsOf(matSet(false))
	p.arrays["d"] = matArray(mxDOUBLE, 1<<14, 1<<14, "", matElement(miDOUBLE, make([]byte, 8), false))
	data := p.file()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := readPRTools(bytes.NewReader(data), "x.mat"); err == nil {
		t.Fatal("no error")
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<20 {
		t.Errorf("%d bytes were allocated for a file of %d", grown, len(data))
	}
}

// Whatever the bytes, reading ends with a FormatError or with a set that holds
// together and, written by the test, is read again.
func FuzzReadPRTools(f *testing.F) {
	for _, images := range []bool{false, true} {
		ok := partsOf(matSet(images)).file()
		f.Add(ok)
		f.Add(ok[:len(ok)-8])
		f.Add(ok[:200])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := readPRTools(bytes.NewReader(data), "x.mat")
		if err != nil {
			if _, ok := errors.AsType[*FormatError](err); !ok || s != nil {
				t.Fatalf("got %v, %v; want a FormatError", s, err)
			}
			return
		}
		if err := checkSet(s); err != nil {
			t.Fatal(err)
		}
		if again := mustPRTools(t, partsOf(s).file()); !reflect.DeepEqual(again, s) {
			t.Fatalf("got %+v, then %+v", s, again)
		}
	})
}

// checkSet returns an error unless the parts of a set fit.
func checkSet(s *Set) error {
	n, d := s.X.Dims()
	if len(s.Y) != n || s.Height*s.Width != 0 && s.Height*s.Width != d {
		return fmt.Errorf("%d labels of %d rows, images of %d×%d of %d", len(s.Y), n, s.Height, s.Width, d)
	}
	for i, y := range s.Y {
		if y < 0 || s.Classes != nil && y >= len(s.Classes) {
			return fmt.Errorf("label %d of %d classes", y, len(s.Classes))
		}
		for j, v := range s.X.RawRowView(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("number %d, %d is %v", i, j, v)
			}
		}
	}
	return nil
}
