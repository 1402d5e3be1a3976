package datasets_test

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"metriclab/internal/realdata"
	"metriclab/pkg/datasets"
)

func readCSV(t *testing.T, text string, o datasets.CSVOptions) *datasets.CSV {
	t.Helper()
	c, err := datasets.ReadCSV(strings.NewReader(text), "x.csv", o)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return c
}

// The rule of HeaderAuto.
func TestReadCSVHeader(t *testing.T) {
	tests := []struct {
		name, text string
		o          datasets.CSVOptions
		header     []string // nil for none
	}{
		{"names", "a,b\n1,2\n", datasets.CSVOptions{}, []string{"a", "b"}},
		{"numbers", "1,2\n3,4\n", datasets.CSVOptions{}, nil},
		{"a label that is a word, by number", "red,1,2\nblue,3,4\n", datasets.CSVOptions{Text: []string{"1"}}, nil},
		{"the same with a header", "class,x,y\nred,1,2\n", datasets.CSVOptions{Text: []string{"1"}}, []string{"class", "x", "y"}},
		{"one word among numbers is a bad cell, not a header", "1,x,2\n3,4,5\n", datasets.CSVOptions{}, nil},
		{"missing cells alone are no header", "red,?,\nblue,1,2\n", datasets.CSVOptions{Text: []string{"1"}}, nil},
		{"a header may have empty cells", ",x,y\n1,2,3\n", datasets.CSVOptions{}, []string{"column 1", "x", "y"}},
		{"a column by name needs a header", "1,class\n3,red\n", datasets.CSVOptions{Text: []string{"class"}}, []string{"1", "class"}},
		{"yes", "1,2\n3,4\n", datasets.CSVOptions{Header: datasets.HeaderYes}, []string{"1", "2"}},
		{"no", "a,b\n1,2\n", datasets.CSVOptions{Header: datasets.HeaderNo}, nil},
		{"so is a number out of range", "1e999,b\n1,2\n", datasets.CSVOptions{}, nil},
		{"NaN in the first row is a bad cell, not a header", "NaN,b\n1,2\n", datasets.CSVOptions{}, nil},
	}
	for _, tt := range tests {
		c := readCSV(t, tt.text, tt.o)
		if !slices.Equal(c.Header, tt.header) || (c.Header == nil) != (tt.header == nil) {
			t.Errorf("%s: header %q, want %q", tt.name, c.Header, tt.header)
		}
		rows := strings.Count(tt.text, "\n")
		if tt.header != nil {
			rows--
		}
		if c.Len() != rows {
			t.Errorf("%s: %d rows, want %d", tt.name, c.Len(), rows)
		}
	}
}

// What does not count: byte order mark, carriage returns, blanks, empty lines, a
// missing last line feed, quotes around a cell.
func TestReadCSVForms(t *testing.T) {
	want := readCSV(t, "a,b\n1,x y\n-2.5,z\n", datasets.CSVOptions{})
	for _, text := range []string{
		"\xef\xbb\xbfa,b\r\n1,x y\r\n-2.5,z\r\n",
		"a, b\n 1 ,x y\n\n-2.5 , z",
		"\"a\",\"b\"\n\"1\", \"x y\"\n\"-2.5\",z\n\n",
	} {
		got := readCSV(t, text, datasets.CSVOptions{})
		x, err := got.Numbers([]int{0}, false)
		if err != nil || x.At(0, 0) != 1 || x.At(1, 0) != -2.5 {
			t.Errorf("%q: %v, error %v", text, x, err)
		}
		w, err := got.Words(1)
		v, _ := want.Words(1)
		if err != nil || !slices.Equal(w, v) || !slices.Equal(got.Header, want.Header) {
			t.Errorf("%q: words %q, header %q, error %v", text, w, got.Header, err)
		}
	}
	quoted := readCSV(t, "a,b\n1,\"x, \"\"y\"\"\nz\"\n2,w\n", datasets.CSVOptions{})
	if w, err := quoted.Words(1); err != nil || w[0] != "x, \"y\"\nz" || quoted.Line(1) != 4 {
		t.Errorf("words %q, the second row in line %d, error %v", w, quoted.Line(1), err)
	}
}

func TestReadCSVErrors(t *testing.T) {
	text := func(column string) datasets.CSVOptions { return datasets.CSVOptions{Text: []string{column}} }
	tests := []struct {
		text string
		o    datasets.CSVOptions
		want string
	}{
		{"", datasets.CSVOptions{}, "x.csv: the file is empty"},
		{"\n\n", datasets.CSVOptions{}, "x.csv: the file is empty"},
		{"a,b\n", datasets.CSVOptions{}, "x.csv:1: no row of data follows the header"},
		{"a;b\n1;2\n", datasets.CSVOptions{}, `x.csv:1: one cell, "a;b", want at least two, separated by commas`},
		{"a,b\n1,2\n1,2,3\n", datasets.CSVOptions{}, "x.csv:3: 3 cells, want 2 as in line 1"},
		{"a,b\n\n1\n", datasets.CSVOptions{}, "x.csv:3: 1 cell, want 2 as in line 1"},
		{"a,b,a\n1,2,3\n", datasets.CSVOptions{}, `x.csv:1: columns 1 and 3 are both called "a"`},
		{",column 1\n1,2\n", datasets.CSVOptions{}, `x.csv:1: columns 1 and 2 are both called "column 1"`},
		{"a,b\n1,\"2\n", datasets.CSVOptions{}, "x.csv:2: extraneous or missing \" in quoted-field"},
		{"a,b\n1,2\"\n", datasets.CSVOptions{}, "x.csv:2: bare \" in non-quoted-field"},
		{"a,b\n1,\xff\n", datasets.CSVOptions{}, `x.csv:2: column 2: "\xff" is not UTF-8`},
		{"a,b\r1,x\r2,y\r", datasets.CSVOptions{}, `x.csv: lines end with \r alone, want \n or \r\n`},
		{"\xff\xfea\x00,\x00", datasets.CSVOptions{}, "the text is UTF-16, want UTF-8"},
		{"alcohol,class\n1,2\n", text("clas"), `x.csv: no column "clas"; did you mean "class"?`},
		{"alcohol,class\n1,2\n", text("zzzzzzzzz"), `no column "zzzzzzzzz"; its columns are alcohol, class`},
		{"a,b\n1,2\n", text("c"), `no column "c"; its columns are a, b`},
		{"1,2\n3,4\n", text("3"), `no column "3", want a number from 1 to 2, since the file has no header`},
		{"a,b\n1,2\n", datasets.CSVOptions{Header: 7}, "header: 7 is not allowed"},
	}
	for _, tt := range tests {
		_, err := datasets.ReadCSV(strings.NewReader(tt.text), "x.csv", tt.o)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: error %v, want %q", tt.text, err, tt.want)
		}
	}
	var unknown *datasets.UnknownColumnError
	_, err := datasets.ReadCSV(strings.NewReader("a,b\n1,2\n"), "x.csv", text("c"))
	if !errors.As(err, &unknown) {
		t.Errorf("error %v is no UnknownColumnError", err)
	}
	broken := errors.New("disk")
	if _, err := datasets.ReadCSV(brokenReader{broken}, "x.csv", datasets.CSVOptions{}); !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
}

type brokenReader struct{ err error }

func (r brokenReader) Read([]byte) (int, error) { return 0, r.err }

// CSVRows gives the rows of ReadCSV, one at a time.
func TestCSVRows(t *testing.T) {
	text := "\xef\xbb\xbfa, b\r\n1,x\n\n\" 2\",\"y\nz\"\n?,NA\n"
	rows, err := datasets.NewCSVRows(strings.NewReader(text), "x.csv", datasets.CSVOptions{})
	if err != nil || !slices.Equal(rows.Header, []string{"a", "b"}) || rows.Width() != 2 {
		t.Fatalf("header %q, error %v", rows.Header, err)
	}
	var kept []string
	for _, want := range []struct {
		line  int
		value float64
		cells []string
	}{{2, 1, []string{"1", "x"}}, {4, 2, []string{"2", "y\nz"}}, {6, math.NaN(), []string{"?", "NA"}}} {
		row, err := rows.Next()
		if err != nil || !slices.Equal(row, want.cells) || rows.Line() != want.line {
			t.Errorf("line %d: %q, error %v, want %+v", rows.Line(), row, err, want)
		}
		kept = append(kept, row...)
		v := []float64{7}
		if err := rows.Numbers(v, []int{0}, true); err != nil || math.Float64bits(v[0]) != math.Float64bits(want.value) && v[0] == v[0] {
			t.Errorf("line %d: %v, error %v", want.line, v, err)
		}
		missing := slices.Contains(datasets.MissingCells, want.cells[0])
		if err := rows.Numbers(v, []int{0}, false); errors.Is(err, datasets.ErrMissingCell) != missing {
			t.Errorf("line %d: error %v", want.line, err)
		}
		if word, err := rows.Word(1); errors.Is(err, datasets.ErrMissingCell) != missing || !missing && word != want.cells[1] {
			t.Errorf("line %d: %q, error %v", want.line, word, err)
		}
	}
	for range 2 {
		if _, err := rows.Next(); err != io.EOF {
			t.Errorf("after the last row: error %v", err)
		}
	}
	if want := []string{"1", "x", "2", "y\nz", "?", "NA"}; !slices.Equal(kept, want) {
		t.Errorf("cells became %q, want %q", kept, want)
	}
	// Of two errors the first in the file is told, and what comes before it is read.
	if _, err := datasets.ReadCSV(strings.NewReader("a,b\n1,\xff\n1\n"), "x.csv", datasets.CSVOptions{}); err == nil || !strings.Contains(err.Error(), "x.csv:2: ") {
		t.Errorf("error %v", err)
	}
}

func TestCSVNumbers(t *testing.T) {
	for _, bad := range []struct{ cell, want string }{
		{"abc", `x.csv:3: column "b": "abc" is not a number`},
		{"NaN", "NaN is not allowed, want a finite number"},
		{"-Inf", "-Inf is not allowed, want a finite number"},
		{"infinity", "infinity is not allowed, want a finite number"},
		{"1e999", `"1e999" is not allowed, want a number between`},
		{"1e-400", `"1e-400" is not allowed, want 0 or a number of at least ±4.9e-324`},
		{"0x10", `"0x10" is not a number`},
		{"0x1p4", `"0x1p4" is not a number`},
		{"1 000", `"1 000" is not a number`},
		{"\"1,5\"", `"1,5" is not a number`},
		{"", `x.csv:3: column "b": the cell is missing ("")`},
		{"?", `the cell is missing ("?")`},
		{"NA", `the cell is missing ("NA")`},
		{strings.Repeat("z", 100), `zzz"... is not a number`},
	} {
		c := readCSV(t, "a,b\n1,2\n3,"+bad.cell+"\n", datasets.CSVOptions{})
		if _, err := c.Numbers([]int{1}, false); err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%q: error %v, want %q", bad.cell, err, bad.want)
		}
		_, err := c.Numbers([]int{1}, false)
		if errors.Is(err, datasets.ErrMissingCell) != slices.Contains(datasets.MissingCells, bad.cell) {
			t.Errorf("%q: error %v", bad.cell, err)
		}
		x, err := c.Numbers([]int{0, 1}, true)
		if missing := slices.Contains(datasets.MissingCells, bad.cell); missing != (err == nil) {
			t.Errorf("%q, missing cells allowed: error %v", bad.cell, err)
		} else if missing && (!math.IsNaN(x.At(1, 1)) || x.At(1, 0) != 3) {
			t.Errorf("%q: got %v", bad.cell, x)
		}
	}
	// Without a header columns have numbers from 1, and so have they in messages.
	c := readCSV(t, "1,2\n3,x\n", datasets.CSVOptions{})
	if _, err := c.Numbers([]int{1}, false); err == nil || !strings.Contains(err.Error(), "x.csv:2: column 2: ") {
		t.Errorf("error %v", err)
	}
	if c.ColumnName(1) != "2" {
		t.Errorf("column 1 is called %q", c.ColumnName(1))
	}
}

func TestCSVColumn(t *testing.T) {
	c := readCSV(t, "class,2,x\nred,1,4\n", datasets.CSVOptions{Header: datasets.HeaderYes})
	for _, tt := range []struct {
		column string
		want   int
	}{{"class", 0}, {"1", 0}, {"2", 1}, {"3", 2}, {"x", 2}} {
		if j, err := c.Column(tt.column); err != nil || j != tt.want {
			t.Errorf("column %q is %d, want %d, error %v", tt.column, j, tt.want, err)
		}
	}
	for _, column := range []string{"0", "4", "-1", "", "Class "} {
		if _, err := c.Column(column); err == nil {
			t.Errorf("column %q was found", column)
		}
	}
	if _, err := c.Words(1); err != nil {
		t.Error(err)
	}
	missing := readCSV(t, "class,x\nred,1\n?,4\n", datasets.CSVOptions{})
	if _, err := missing.Words(0); err == nil || !strings.Contains(err.Error(), `x.csv:3: column "class": the cell is missing`) {
		t.Errorf("error %v", err)
	}
}

// Words that are all numbers are ordered by value, others by alphabet.
func TestClasses(t *testing.T) {
	classes, y := datasets.Classes([]string{"10", "2", "10", "-1"})
	if !slices.Equal(classes, []string{"-1", "2", "10"}) || !slices.Equal(y, []int{2, 1, 2, 0}) {
		t.Errorf("classes %q, y %v", classes, y)
	}
	classes, y = datasets.Classes([]string{"10", "2", "b", "a"})
	if !slices.Equal(classes, []string{"10", "2", "a", "b"}) || !slices.Equal(y, []int{0, 1, 3, 2}) {
		t.Errorf("classes %q, y %v", classes, y)
	}
}

func TestReadCSVWine(t *testing.T) {
	store := realdata.Store(t, "wine")
	f, err := os.Open(store.Path("uci/wine.data"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c, err := datasets.ReadCSV(f, "wine.data", datasets.CSVOptions{Text: []string{"1"}})
	if err != nil || c.Header != nil || c.Len() != 178 || c.Width() != 14 {
		t.Fatalf("%d rows, error %v", c.Len(), err)
	}
}

// Whatever the bytes, reading ends with an error or with a table that is
// rectangular and whose numbers are finite.
func FuzzReadCSV(f *testing.F) {
	for _, seed := range []string{"a,b\n1,2\n", "1,2\n3,4", "\xef\xbb\xbfa,\"b\nc\"\r\n1,?\n", "a,b\n1,NaN\n", ",\n,\n", "\"", "a,a\n1,2\n", "1e999,0x1p-2\n_,1_0\n"} {
		f.Add([]byte(seed), 0, "1")
	}
	f.Fuzz(func(t *testing.T, raw []byte, header int, column string) {
		c, err := datasets.ReadCSV(strings.NewReader(string(raw)), "x.csv", datasets.CSVOptions{Header: datasets.Header(header), Text: []string{column}})
		if err != nil {
			return
		}
		if c.Len() < 1 || c.Width() < 2 || c.Header != nil && len(c.Header) != c.Width() {
			t.Fatalf("%d×%d, header %q", c.Len(), c.Width(), c.Header)
		}
		for j := range c.Width() {
			if k, err := c.Column(c.ColumnName(j)); err != nil || k != j {
				t.Fatalf("column %d is called %q, which is column %d, error %v", j, c.ColumnName(j), k, err)
			}
			x, err := c.Numbers([]int{j}, false)
			if err != nil {
				continue
			}
			for i := range c.Len() {
				if v := x.At(i, 0); math.IsNaN(v) || math.IsInf(v, 0) {
					t.Fatalf("cell %d, %d is %v", i, j, v)
				}
			}
		}
	})
}

func ExampleReadCSV() {
	text := "alcohol,ash,class\n14.2,2.4,red\n13.2,?,white\n"
	c, err := datasets.ReadCSV(strings.NewReader(text), "wine.csv", datasets.CSVOptions{Text: []string{"class"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	label, _ := c.Column("class")
	words, _ := c.Words(label)
	fmt.Println(c.Header, words)
	_, err = c.Numbers([]int{0, 1}, false)
	fmt.Println(err)
	// Output:
	// [alcohol ash class] [red white]
	// datasets: wine.csv:3: column "ash": the cell is missing ("?"), want a number
}
