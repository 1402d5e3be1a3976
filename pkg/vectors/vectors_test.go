package vectors

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
)

// npyOf is a .npy file with a header of its own.
func npyOf(descr, fortran, shape string, numbers []byte) []byte {
	h := fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", descr, fortran, shape)
	for (10+len(h)+1)%64 != 0 {
		h += " "
	}
	b := binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(h)+1))
	return append(append(append(b, h...), '\n'), numbers...)
}

func file(t testing.TB, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.npy")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// What a Writer writes, in any order and from several goroutines, File and metric.ReadNPY read back.
func TestRoundTrip(t *testing.T) {
	for _, float32s := range []bool{false, true} {
		const n, d = 37, 5
		path := filepath.Join(t.TempDir(), "x.npy")
		w, err := Create(path, n, d, float32s)
		if err != nil {
			t.Fatal(err)
		}
		want := make([]float64, n*d)
		for i := range want {
			want[i] = float64(float32(math.Sin(float64(i)) * 1e3))
		}
		var wg sync.WaitGroup
		for _, top := range []int{30, 0, 10, 20} {
			wg.Go(func() {
				rows := min(10, n-top)
				if err := w.WriteRows(want[top*d:(top+rows)*d], top); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if _, err := os.Stat(path); err == nil {
			t.Error("the file is there before Commit")
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if f.Rows() != n || f.Dim() != d || f.Float32() != float32s || f.Name() != path {
			t.Errorf("%d×%d, float32 %v, %s", f.Rows(), f.Dim(), f.Float32(), f.Name())
		}
		got := make([]float64, 7*d)
		if err := f.ReadRows(got, 4); err != nil || !slices.Equal(got, want[4*d:11*d]) {
			t.Errorf("rows 4 to 10: %v, %v", got, err)
		}
		rows := []int{36, 3, 4, 5, 0, 0}
		x, err := f.Select(rows)
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range rows {
			if !slices.Equal(x.RawRowView(i), want[r*d:(r+1)*d]) {
				t.Errorf("row %d is %v", r, x.RawRowView(i))
			}
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := metric.ReadNPY(bytes.NewReader(raw))
		if err != nil || !slices.Equal(whole.RawMatrix().Data, want) {
			t.Errorf("metric.ReadNPY: %v", err)
		}
	}
}

func TestBigEndian(t *testing.T) {
	b := binary.BigEndian.AppendUint32(nil, math.Float32bits(1.5))
	b = binary.BigEndian.AppendUint32(b, math.Float32bits(-2))
	f, err := Open(file(t, npyOf(">f4", "False", "(2, 1)", b)))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got := make([]float64, 2)
	if err := f.ReadRows(got, 0); err != nil || got[0] != 1.5 || got[1] != -2 {
		t.Errorf("%v, %v", got, err)
	}
}

// TestFloat16: all 65,536 numbers, by the definition.
func TestFloat16(t *testing.T) {
	var b []byte
	for i := range 1 << 16 {
		b = binary.LittleEndian.AppendUint16(b, uint16(i))
	}
	finite := 0
	for i := range 1 << 16 {
		f, err := newFile(bytes.NewReader(npyOf("<f2", "False", "(1, 1)", b[2*i:2*i+2])), 130, "x")
		if err != nil {
			t.Fatal(err)
		}
		got := make([]float64, 1)
		err = f.ReadRows(got, 0)
		sign, exponent, fraction := 1-2*float64(i>>15), i>>10&31, float64(i&1023)/1024
		want := sign * (1 + fraction) * math.Pow(2, float64(exponent-15))
		if exponent == 0 {
			want = sign * fraction * math.Pow(2, -14)
		}
		if exponent == 31 {
			if err == nil || !strings.Contains(err.Error(), "row 0, column 0") {
				t.Fatalf("%#x: %v, error %v", i, got, err)
			}
			continue
		}
		finite++
		if err != nil || got[0] != want || math.Signbit(got[0]) != (sign < 0) {
			t.Fatalf("%#x: %v, error %v, want %v", i, got[0], err, want)
		}
	}
	if finite != 2*31*1024 {
		t.Errorf("%d finite numbers", finite)
	}
}

// TestColumns: a file that lies column by column has the rows of its twin, in both byte orders and all sizes.
func TestColumns(t *testing.T) {
	const n, d = 7, 3
	at := func(i, j int) float64 { return float64(10*i+j) / 4 } // a float16 holds them
	for _, descr := range []string{"<f8", ">f8", "<f4", ">f4", "<f2", ">f2"} {
		var rows, columns []byte
		put := func(b []byte, v float64) []byte {
			order := binary.AppendByteOrder(binary.LittleEndian)
			if descr[0] == '>' {
				order = binary.BigEndian
			}
			switch descr[2] {
			case '8':
				return order.AppendUint64(b, math.Float64bits(v))
			case '4':
				return order.AppendUint32(b, math.Float32bits(float32(v)))
			}
			for bits := range uint16(1 << 15) { // from 0 on
				if float16(bits) == v {
					return order.AppendUint16(b, bits)
				}
			}
			panic(v)
		}
		for i := range n {
			for j := range d {
				rows = put(rows, at(i, j))
			}
		}
		for j := range d {
			for i := range n {
				columns = put(columns, at(i, j))
			}
		}
		a, err := Open(file(t, npyOf(descr, "False", "(7, 3)", rows)))
		if err != nil {
			t.Fatal(err)
		}
		b, err := Open(file(t, npyOf(descr, "True", "(7, 3)", columns)))
		if err != nil {
			t.Fatal(err)
		}
		if a.Float32() == (descr[2] == '8') || a.Float32() != b.Float32() {
			t.Errorf("%s: float32 %v and %v", descr, a.Float32(), b.Float32())
		}
		for first := range n {
			for last := first; last <= n; last++ {
				x, y := make([]float64, (last-first)*d), make([]float64, (last-first)*d)
				if err := cmp.Or(a.ReadRows(x, first), b.ReadRows(y, first)); err != nil || !slices.Equal(x, y) {
					t.Fatalf("%s: rows %d to %d: %v and %v, error %v", descr, first, last, x, y, err)
				}
				for k, v := range x {
					if v != at(first+k/d, k%d) {
						t.Fatalf("%s: row %d, column %d: %v", descr, first+k/d, k%d, v)
					}
				}
			}
		}
		if err := cmp.Or(a.Close(), b.Close()); err != nil {
			t.Error(err)
		}
	}
}

func TestOpenErrors(t *testing.T) {
	eight := make([]byte, 64)
	for want, data := range map[string][]byte{
		"want a list of numbers":              []byte("a,b\n1,2\n"),
		"no vector, want at least one":        {},
		"56 bytes follow the header, want 64": npyOf("<f8", "False", "(4, 2)", eight[:56]),
		"64 bytes follow the header, want 32": npyOf("<f4", "False", "(4, 2)", eight),
		"shape [8]":                           npyOf("<f8", "False", "(8,)", eight),
		"shape [0 8]":                         npyOf("<f8", "False", "(0, 8)", nil),
		"shape [2 2 2]":                       npyOf("<f8", "False", "(2, 2, 2)", eight),
		"64 bytes follow the header, want 66": npyOf("<f2", "True", "(11, 3)", eight),
		`numbers of type "<i8"`:               npyOf("<i8", "False", "(4, 2)", eight),
		"want 9223372036854775807":            npyOf("<f8", "False", "(4611686018427387904, 4)", eight),
	} {
		f, err := Open(file(t, data))
		if err == nil || f != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
	if _, err := Open(t.TempDir()); !errors.Is(err, limits.ErrNotRegular) {
		t.Errorf("a folder: %v", err)
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none.npy")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

func TestReadErrors(t *testing.T) {
	b := make([]byte, 48)
	binary.LittleEndian.PutUint64(b[40:], math.Float64bits(math.NaN()))
	path := file(t, npyOf("<f8", "False", "(3, 2)", b))
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.ReadRows(make([]float64, 4), 1); err == nil || !strings.Contains(err.Error(), "row 2, column 1: NaN is not allowed") {
		t.Errorf("NaN: %v", err)
	}
	if err := os.Truncate(path, 130); err != nil {
		t.Fatal(err)
	}
	if err := f.ReadRows(make([]float64, 2), 1); err == nil || !strings.Contains(err.Error(), "row 1: unexpected EOF") {
		t.Errorf("cut off: %v", err)
	}
	limits.SetMemory(1000)
	defer limits.SetMemory(0)
	if _, err := f.Select(make([]int, 63)); err == nil || !strings.Contains(err.Error(), "would take 1008 bytes") && !strings.Contains(err.Error(), "limit") {
		t.Errorf("limit: %v", err)
	}
}

func TestWriteErrors(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "y.npy")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	w, err := Create(path, 2, 2, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), 1e39} {
		if err := w.WriteRows([]float64{0, v}, 1); err == nil || !strings.Contains(err.Error(), "row 1, column 1") || !strings.Contains(err.Error(), "float32") {
			t.Errorf("%v: %v", v, err)
		}
	}
	if err := w.WriteRows([]float64{1, 2}, 1); err != nil {
		t.Fatal(err)
	}
	if err := w.Commit(); err == nil || !strings.Contains(err.Error(), "1 rows were written of 2") {
		t.Errorf("a row is missing: %v", err)
	}
	w.Abort()
	if old, err := os.ReadFile(path); err != nil || string(old) != "old" {
		t.Errorf("the old file is %q, %v", old, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
}

// The header of an array has one size, and says what follows.
func TestHeader(t *testing.T) {
	for _, shape := range [][2]int{{1, 1}, {10, 3}, {1_000_000, 784}, {1<<63 - 1, 1<<63 - 1}} {
		for _, float32s := range []bool{false, true} {
			h := Header(shape[0], shape[1], float32s)
			if len(h) != 128 || h[127] != '\n' || int(h[8])+int(h[9])<<8 != 118 || !bytes.Contains(h, fmt.Appendf(nil, "'shape': (%d, %d), }", shape[0], shape[1])) || bytes.Contains(h, []byte("<f4")) != float32s {
				t.Errorf("%v: %q", shape, h)
			}
		}
	}
}

func TestReadIDs(t *testing.T) {
	ids, err := ReadIDs(strings.NewReader("\ufeffcat.jpg\r\n a b \n17"), "ids", 3)
	if err != nil || !slices.Equal(ids, []string{"cat.jpg", "a b", "17"}) {
		t.Errorf("%q, %v", ids, err)
	}
	for text, want := range map[string]string{
		"a\nb":            "ids: 2 ids for 3 rows",
		"":                "0 ids for 3 rows",
		"a\n\nb\n":        "ids:2: the line is empty",
		"a\nb\na":         `ids:3: the id "a" is that of line 1, too`,
		"a\nb\nc\nd":      "ids:4: more ids than the matrix has rows, 3",
		"a\n\xff\nc":      "ids:2: the id",
		"a\nb\nc\n\n\n\n": "ids:4: the line is empty",
	} {
		if ids, err := ReadIDs(strings.NewReader(text), "ids", 3); err == nil || ids != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	limits.SetMemory(1000)
	defer limits.SetMemory(0)
	if _, err := ReadIDs(strings.NewReader("a"), "ids", 1<<40); err == nil || !strings.Contains(err.Error(), "limit") {
		t.Errorf("limit: %v", err)
	}
}

func TestMisuse(t *testing.T) {
	f, err := Open(file(t, npyOf("<f4", "False", "(2, 2)", make([]byte, 16))))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for name, call := range map[string]func(){
		"row -1":          func() { _ = f.ReadRows(make([]float64, 2), -1) },
		"past the end":    func() { _ = f.ReadRows(make([]float64, 4), 1) },
		"part of a row":   func() { _ = f.ReadRows(make([]float64, 3), 0) },
		"create no rows":  func() { _, _ = Create("x.npy", 0, 1, false) },
		"create no width": func() { _, _ = Create("x.npy", 1, 0, false) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			call()
		}()
	}
}

// FuzzOpen: whatever a file holds, it is refused or all of its rows can be read.
func FuzzOpen(f *testing.F) {
	f.Add(npyOf("<f8", "False", "(2, 3)", make([]byte, 48)))
	f.Add(npyOf(">f4", "True", "(2, 1)", make([]byte, 8)))
	f.Add(npyOf("<f2", "True", "(2, 3)", make([]byte, 12)))
	f.Add(npyOf("<f4", "False", "(-1, 3)", nil))
	f.Add(npyOf("<f4", "False", "(99999999999, 99999999999)", nil))
	f.Add([]byte("\x93NUMPY\x02\x00\xff\xff\xff\xff"))
	f.Add([]byte("\x93NUMPY\x03\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		in, err := newFile(bytes.NewReader(data), int64(len(data)), "x")
		if err != nil {
			return
		}
		if in.Rows() < 1 || in.Dim() < 1 || in.Rows()*in.Dim() > len(data) {
			t.Fatalf("%d×%d of %d bytes", in.Rows(), in.Dim(), len(data))
		}
		if err := in.ReadRows(make([]float64, in.Rows()*in.Dim()), 0); err != nil && !strings.Contains(err.Error(), "want a finite number") {
			t.Fatal(err)
		}
	})
}

// FuzzReadIDs: ids that are accepted are distinct, and as many as rows.
func FuzzReadIDs(f *testing.F) {
	f.Add("a\nb\n", 2)
	f.Add("\ufeffa\r\nb", 3)
	f.Add("", 0)
	f.Fuzz(func(t *testing.T, text string, rows int) {
		ids, err := ReadIDs(strings.NewReader(text), "ids", rows)
		if err != nil {
			if len(err.Error()) > 400 || ids != nil {
				t.Fatalf("%v, %q", err, ids)
			}
			return
		}
		distinct := map[string]bool{}
		for _, id := range ids {
			distinct[id] = true
		}
		if len(ids) != rows || len(distinct) != rows || distinct[""] {
			t.Fatalf("%q for %d rows", ids, rows)
		}
	})
}
