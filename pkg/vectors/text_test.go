package vectors

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"metriclab/pkg/limits"
)

func zipped(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// All forms of the same vectors, as they are and compressed, from a reader and from a file.
func TestRead(t *testing.T) {
	want := []float64{.5, -2, 1e-3, 0, 4, 5}
	for i, v := range want {
		want[i] = float64(float32(v))
	}
	ids := []string{"a b", "7"}
	for form, test := range map[string]struct {
		text string
		ids  []string
	}{
		"pgvector":   {"a b\t[0.5,-2,1e-3]\n7\t[0,4,5]\n", ids},
		"alone":      {"\ufeff[0.5,-2,0.001]\r\n\r\n[0, 4, 5]", nil},
		"json":       {`{"id":"a b","vector":[0.5,-2,1e-3],"tags":[]}` + "\n" + `{"vector":[0,4,5],"id":7}`, ids},
		"chroma":     {`{"_id":"a b","embedding":[0.5,-2,1e-3]}` + "\n\n" + `{"_id":"7","embedding":[0.0,4.0,5.0],"document":"x"}` + "\n", ids},
		"any list":   {`{"id":"a b","text_vector":[0.5,-2,1e-3]}` + "\n" + `{"id":"7","text_vector":[0,4,5]}`, ids},
		"brackets":   {"a [b\t[0.5,-2,1e-3]\n[7]\t[0,4,5]\n", []string{"a [b", "[7]"}},
		"json alone": {`{"values":[0.5,-2,1e-3]}` + "\n" + `{"values":[0,4,5]}`, nil},
	} {
		for _, data := range [][]byte{[]byte(test.text), zipped(t, []byte(test.text))} {
			f, err := Read(bytes.NewReader(data), "x")
			if err != nil {
				t.Errorf("%s: %v", form, err)
				continue
			}
			other, err := Open(file(t, data))
			if err != nil {
				t.Errorf("%s: %v", form, err)
				continue
			}
			for _, f := range []*File{f, other} {
				got := make([]float64, 6)
				if err := f.ReadRows(got, 0); err != nil || f.Rows() != 2 || f.Dim() != 3 || !slices.Equal(got, want) || !slices.Equal(f.IDs(), test.ids) || !f.Float32() {
					t.Errorf("%s: %d×%d, %v, ids %q, %v", form, f.Rows(), f.Dim(), got, f.IDs(), err)
				}
				if err := f.Close(); err != nil {
					t.Errorf("%s: %v", form, err)
				}
			}
		}
	}
}

// An array comes through a pipe and compressed as it is.
func TestReadNPY(t *testing.T) {
	raw := append(Header(1, 2, false), make([]byte, 16)...)
	for _, data := range [][]byte{raw, zipped(t, raw)} {
		f, err := Read(bytes.NewReader(data), "x")
		if err != nil || f.Rows() != 1 || f.Dim() != 2 || f.Float32() {
			t.Fatalf("%+v, %v", f, err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestReadTextErrors(t *testing.T) {
	temp := t.TempDir()
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} {
		t.Setenv(name, temp)
	}
	long := strings.Repeat("1,", lineBytes/2)
	for text, want := range map[string]string{
		"":                                    "x: no vector, want at least one",
		"\n\n":                                "x: no vector, want at least one",
		"1,2,3":                               "x:1: want a list of numbers",
		"a [1]":                               "x:1: want a list of numbers",
		"\t[1]":                               "x:1: want a list of numbers",
		"a\t[1":                               "x:1: want a list of numbers",
		"[1]\n[1,2]":                          "x:2: 2 numbers, want 1 as in the lines before",
		"[1]\n[]":                             `x:2: number 1: "" is not allowed`,
		"[1,NaN]":                             `x:1: number 2: "NaN" is not allowed`,
		"[1e39]":                              `x:1: number 1: "1e39" is not allowed`,
		"[1,]":                                `x:1: number 2: "" is not allowed`,
		"[[1]]":                               `x:1: number 1: "[1]" is not allowed`,
		"a\t[1]\n[2]":                         "x:2: the line has no id, and the lines before have one",
		"[2]\n\na\t[1]":                       "x:3: the line has an id, and the lines before have none",
		"a\t[1]\na\t[2]":                      `x:2: the id "a" is that of line 1, too`,
		"\xff\t[1]":                           `is not UTF-8`,
		`{"id":1}`:                            "x:1: 0 fields are lists, want one",
		`{"id":1,"a":[1],"b":[2]}`:            "x:1: 2 fields are lists, want one",
		`{"id":"","vector":[1]}`:              "x:1: id is empty",
		`{"id":1,"vector":[1]`:                "x:1: ",
		`{"id":1,"vector":[null]}`:            `x:1: number 1: "null" is not allowed`,
		gzipMagic + "no":                      "x: ",
		string(zipped(t, []byte("[1]"))[:20]): "x:",
		"\xff\xfe[\x00":                       "x: the text is UTF-16, want UTF-8",
		"\xfe\xff\x00[":                       "x: the text is UTF-16, want UTF-8",
		`{"id":null,"vector":[1]}`:            "x:1: id: \"null\" is not allowed, want a text or a number",
		`{"_id":[7],"vector":[1]}`:            "x:1: _id: \"[7]\" is not allowed, want a text or a number",
		npyMagic + "no":                       "x: not a .npy file",
		"[" + long + "1]":                     "x:1: the line is longer than",
	} {
		f, err := Read(strings.NewReader(text), "x")
		if f != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
	var cut strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&cut, "[%d,%d]\n", i*i%7919, i*i*i%7919)
	}
	whole := zipped(t, []byte(cut.String()))
	for _, n := range []int{len(whole) / 2, len(whole)/2 + 1, len(whole) - 4} { // what is cut off is the file, not a line
		if _, err := Read(bytes.NewReader(whole[:n]), "x"); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d of %d bytes: %v", n, len(whole), err)
		}
	}
	t.Cleanup(func() { limits.SetMemory(0) })
	limits.SetMemory(1 << 10)
	var many strings.Builder
	for i := range 100 {
		many.WriteString(strings.Repeat("i", i+1) + "\t[1]\n")
	}
	if _, err := Read(strings.NewReader(many.String()), "x"); err == nil || !strings.Contains(err.Error(), "limit") {
		t.Errorf("100 ids in 1 kB: %v", err)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("a\t[0.5,-2]\nb\t[1,2]\n"))
	f.Add([]byte(`{"id":"a","vector":[1,2]}`))
	f.Add([]byte("[1]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Read(bytes.NewReader(data), "x")
		if err != nil {
			return
		}
		defer file.Close()
		if ids := file.IDs(); ids != nil && len(ids) != file.Rows() {
			t.Errorf("%d ids of %d rows", len(ids), file.Rows())
		}
		row := make([]float64, file.Dim())
		for i := range file.Rows() {
			if err := file.ReadRows(row, i); err != nil && !strings.HasPrefix(string(data), npyMagic) && !strings.HasPrefix(string(data), gzipMagic) {
				t.Errorf("row %d: %v", i, err)
			}
		}
	})
}
