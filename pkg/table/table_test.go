package table

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// sameBits compares floats by bits, except that all NaN are one: a table
// stores NaN as an empty cell.
func sameBits(a, b float64) bool {
	return math.IsNaN(a) && math.IsNaN(b) || math.Float64bits(a) == math.Float64bits(b)
}

func same(t *testing.T, got, want *Table) {
	t.Helper()
	if !slices.Equal(got.IndexNames(), want.IndexNames()) || !slices.Equal(got.ValueNames(), want.ValueNames()) || got.Len() != want.Len() {
		t.Fatalf("got columns %q %q and %d rows, want %q %q and %d",
			got.IndexNames(), got.ValueNames(), got.Len(), want.IndexNames(), want.ValueNames(), want.Len())
	}
	for _, name := range want.IndexNames() {
		if !slices.Equal(got.Index(name), want.Index(name)) {
			t.Errorf("column %s: got %q, want %q", name, got.Index(name), want.Index(name))
		}
	}
	for _, name := range want.ValueNames() {
		if !slices.EqualFunc(got.Values(name), want.Values(name), sameBits) {
			t.Errorf("column %s: got %v, want %v", name, got.Values(name), want.Values(name))
		}
	}
}

// roundTrip writes and reads a table and returns the bytes.
func roundTrip(t *testing.T, want *Table) string {
	t.Helper()
	var buf bytes.Buffer
	if err := want.WriteCSV(&buf); err != nil {
		t.Fatal(err)
	}
	text := buf.String()
	got, err := ReadCSV(&buf, "t.csv", want.IndexNames(), want.ValueNames())
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	same(t, got, want)
	return text
}

func TestRoundTripOfNumbers(t *testing.T) {
	tab := New([]string{"row"}, []string{"a", "b"})
	numbers := []float64{
		0, math.Copysign(0, -1), 1, -1, 0.1, 1.0 / 3, math.Pi, 1e21, 1e-7, 123456789, 1 << 53, 1<<53 - 1,
		math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, 2.2250738585072014e-308, 2.225073858507201e-308,
		math.Nextafter(1, 2), math.Inf(1), math.Inf(-1), math.NaN(),
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		numbers = append(numbers, math.Float64frombits(rng.Uint64()))
	}
	for _, v := range numbers {
		tab.Add(Key{"row": "x"}, Values{"a": v})
	}
	text := roundTrip(t, tab)
	for _, want := range []string{"x,0,\n", "x,-0,\n", "x,0.1,\n", "x,5e-324,\n", "x,+Inf,\n", "x,-Inf,\n", "x,,\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the CSV lacks the line %q", want)
		}
	}
	if strings.Contains(text, "NaN") {
		t.Error("the CSV holds NaN, want empty cells")
	}
}

func TestRoundTripOfText(t *testing.T) {
	tab := New([]string{"a,b", "c"}, []string{`v "quoted"`})
	for _, s := range []string{
		"", " ", " x ", "a,b", `say "x"`, `"`, "two\nlines", "\n", "tab\there", "ß λ₁ 漢", "# no comment", "-0", `\.`, "'", ";",
	} {
		tab.Add(Key{"a,b": s, "c": "end"}, Values{`v "quoted"`: 1})
		tab.Add(Key{"c": s}, nil)
	}
	roundTrip(t, tab)
}

// Tables with a single column of empty cells are lines without characters,
// which CSV readers skip.
func TestRoundTripOfSingleColumns(t *testing.T) {
	tab := New(nil, []string{"v"})
	tab.Add(nil, nil)
	tab.Add(nil, Values{"v": 1})
	tab.Add(nil, nil)
	roundTrip(t, tab)

	tab = New([]string{"k"}, nil)
	tab.Add(nil, nil)
	tab.Add(Key{"k": "x"}, nil)
	roundTrip(t, tab)
}

func TestRoundTripOfEmptyTable(t *testing.T) {
	if got, want := roundTrip(t, New([]string{"k"}, []string{"v"})), "k,v\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Readers drop a carriage return before a newline, so it must be refused.
func TestRoundTripOfCarriageReturns(t *testing.T) {
	for _, s := range []string{"a\r\nb", "\r\n", "a\rb", "\r", "a\r", "\r\r\n"} {
		tab := New([]string{"k"}, []string{"v"})
		tab.Add(Key{"k": s}, Values{"v": 1})
		if err := tab.WriteCSV(new(bytes.Buffer)); strings.Contains(s, "\r\n") {
			if err == nil || !strings.Contains(err.Error(), "row 0: column k") {
				t.Errorf("%q: got error %v", s, err)
			}
			continue
		}
		roundTrip(t, tab)
	}
}

func results() *Table {
	tab := New([]string{"method", "trial"}, []string{"error", "seconds"})
	for _, method := range []string{"POLA", "RCA"} {
		for trial, e := range []float64{1, 2, 3} {
			tab.Add(Key{"method": method, "trial": string(rune('0' + trial))}, Values{"error": e * float64(len(method))})
		}
	}
	return tab
}

func TestAddFillsMissingCells(t *testing.T) {
	tab := New([]string{"k", "l"}, []string{"v", "w"})
	tab.Add(Key{"l": "x"}, Values{"w": 2})
	if k, l := tab.Index("k"), tab.Index("l"); k[0] != "" || l[0] != "x" {
		t.Errorf("got index cells %q, %q", k, l)
	}
	if v, w := tab.Values("v"), tab.Values("w"); !math.IsNaN(v[0]) || w[0] != 2 {
		t.Errorf("got values %v, %v", v, w)
	}
}

func TestWhere(t *testing.T) {
	tab := results()
	for _, c := range []struct {
		args []string
		want []float64
	}{
		{nil, []float64{4, 8, 12, 3, 6, 9}},
		{[]string{"method", "RCA"}, []float64{3, 6, 9}},
		{[]string{"trial", "1"}, []float64{8, 6}},
		{[]string{"method", "POLA", "trial", "2"}, []float64{12}},
		{[]string{"method", "FDA"}, nil},
		{[]string{"method", "POLA", "method", "RCA"}, nil},
	} {
		got := tab.Where(c.args...)
		if !slices.Equal(got.Values("error"), c.want) || got.Len() != len(c.want) {
			t.Errorf("Where(%q): got %v, %d rows, want %v", c.args, got.Values("error"), got.Len(), c.want)
		}
	}
	// The result is a copy.
	part := tab.Where("method", "RCA")
	part.Add(Key{"method": "RCA"}, nil)
	if tab.Len() != 6 {
		t.Errorf("adding to the result changed the table: %d rows", tab.Len())
	}
}

func TestUniqueAndGroup(t *testing.T) {
	tab := New([]string{"k"}, []string{"v"})
	for i, k := range []string{"b", "a", "b", "", "a"} {
		tab.Add(Key{"k": k}, Values{"v": float64(i)})
	}
	if got, want := tab.Unique("k"), []string{"b", "a", ""}; !slices.Equal(got, want) {
		t.Errorf("Unique: got %q, want %q", got, want)
	}
	var names []string
	var values [][]float64
	for name, part := range tab.Group("k") {
		names, values = append(names, name), append(values, part.Values("v"))
	}
	if want := [][]float64{{0, 2}, {1, 4}, {3}}; !slices.Equal(names, tab.Unique("k")) || !reflect.DeepEqual(values, want) {
		t.Errorf("Group: got %q %v, want %q %v", names, values, tab.Unique("k"), want)
	}
	count := 0
	for range tab.Group("k") {
		count++
		break
	}
	if count != 1 {
		t.Errorf("Group went on after break: %d", count)
	}
}

func TestPanics(t *testing.T) {
	tab := results()
	for name, f := range map[string]func(){
		"empty name":            func() { New([]string{""}, nil) },
		"name twice":            func() { New([]string{"a"}, []string{"a"}) },
		"Add unknown index":     func() { tab.Add(Key{"error": "x"}, nil) },
		"Add unknown value":     func() { tab.Add(nil, Values{"method": 1}) },
		"Index of value column": func() { tab.Index("error") },
		"Values of index":       func() { tab.Values("method") },
		"Where odd":             func() { tab.Where(strings.Fields("method")...) },
		"Where unknown":         func() { tab.Where("x", "y") },
		"Unique unknown":        func() { tab.Unique("x") },
		"Group unknown":         func() { tab.Group("x")(func(string, *Table) bool { return true }) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
	if tab.Len() != 6 {
		t.Errorf("a refused row was added: %d rows", tab.Len())
	}
	// A misspelt column shows even if the table has no rows.
	func() {
		defer func() {
			if recover() == nil {
				t.Error("Where unknown on an empty table: no panic")
			}
		}()
		New([]string{"k"}, nil).Where("x", "y")
	}()
}

func TestReadErrors(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"empty file", "", []string{"r.csv:1", "EOF"}},
		{"wrong column", "k,w\n", []string{"r.csv:1", "columns are k,w, want k,v"}},
		{"missing column", "k\n", []string{"r.csv:1", "columns are k, want k,v"}},
		{"swapped columns", "v,k\n", []string{"columns are v,k, want k,v"}},
		{"wrong number", "k,v\na,1\nb,two\n", []string{"r.csv:3", "column v", `"two" is not a number`}},
		{"wrong number after a cell of two lines", "k,v\n\"a\nb\",1\nc,0x\n", []string{"r.csv:4", `"0x" is not a number`}},
		{"blank", "k,v\na, 1\n", []string{"r.csv:2", `" 1" is not a number`}},
		{"too large", "k,v\na,1e999\n", []string{"r.csv:2", `"1e999" is not a number`}},
		{"too few cells", "k,v\na\n", []string{"r.csv", "line 2", "wrong number of fields"}},
		{"too many cells", "k,v\na,1,2\n", []string{"r.csv", "line 2", "wrong number of fields"}},
		{"open quote", "k,v\n\"a,1\n", []string{"r.csv", "line 2"}},
	} {
		tab, err := ReadCSV(strings.NewReader(c.text), "r.csv", []string{"k"}, []string{"v"})
		if err == nil {
			t.Errorf("%s: no error, %d rows", c.name, tab.Len())
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: error %q lacks %q", c.name, err, w)
			}
		}
	}
}

type fullDisk struct{ room int }

var errFull = errors.New("no space left")

func (d *fullDisk) Write(p []byte) (int, error) {
	if len(p) > d.room {
		return 0, errFull
	}
	d.room -= len(p)
	return len(p), nil
}

func TestWriteReportsErrors(t *testing.T) {
	tab := New([]string{"k"}, []string{"v"})
	for range 2000 {
		tab.Add(Key{"k": "some text"}, Values{"v": 0.1})
	}
	for _, room := range []int{0, 5000} {
		if err := tab.WriteCSV(&fullDisk{room}); !errors.Is(err, errFull) {
			t.Errorf("room for %d bytes: got error %v, want %v", room, err, errFull)
		}
	}
}

func TestFormat(t *testing.T) {
	for v, want := range map[float64]string{0.1: "0.1", 1: "1", 1e21: "1e+21", 100: "100", -2.5: "-2.5"} {
		if got := Format(v); got != want {
			t.Errorf("Format(%v) = %q, want %q", v, got, want)
		}
	}
	if got := Format(math.NaN()); got != "" {
		t.Errorf("Format(NaN) = %q, want an empty cell", got)
	}
}

// A table that was saved on Windows.
func TestReadFromWindows(t *testing.T) {
	tab, err := ReadCSV(strings.NewReader("\xef\xbb\xbfk,v\r\na,1\r\n"), "r.csv", []string{"k"}, []string{"v"})
	if err != nil {
		t.Fatal(err)
	}
	if k, v := tab.Index("k"), tab.Values("v"); tab.Len() != 1 || k[0] != "a" || v[0] != 1 {
		t.Errorf("got %q, %v", k, v)
	}
}

// No input makes ReadCSV panic, and what it reads is written and read again
// without change.
func FuzzReadCSV(f *testing.F) {
	for _, s := range []string{
		"k,l,v\na,b,1\n", "k,l,v\n", "", "k,l,v\r\na,b,\r\n", "k,l,v\n\"a\nb\",\"\"\"\",-0\n", "k,l,v\na,b,NaN\n", "k,l,v\na,b,0x1p-2\n",
		"k,l,v\na,b,1_0\n", "k,l,v\n,,\n", "k,l,v\n\n\na,b,+inf\n", "k,l,v\na,\"b\rc\",1\n", "k,l,v\n\"\\.\",\r,1",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tab, err := ReadCSV(strings.NewReader(text), "f.csv", []string{"k", "l"}, []string{"v"})
		if err != nil {
			if tab != nil || !strings.Contains(err.Error(), "f.csv") {
				t.Fatalf("error %v, table %v", err, tab)
			}
			return
		}
		if err := tab.WriteCSV(io.Discard); err != nil && strings.Contains(err.Error(), "carriage return") {
			return // read from two of them before a newline
		}
		roundTrip(t, tab)
	})
}

func TestRowsAndSelection(t *testing.T) {
	tb := New([]string{"method", "trial"}, []string{"y"})
	for i, m := range []string{"POLA", "1-NN", "POLA"} {
		tb.Add(Key{"method": m, "trial": "0"}, Values{"y": float64(i)})
	}
	if got := tb.Rows(2, 0, 2).Values("y"); !slices.Equal(got, []float64{2, 0, 2}) {
		t.Errorf("rows 2, 0, 2 are %v", got)
	}
	if got := tb.Rows().Len(); got != 0 {
		t.Errorf("no rows are %d", got)
	}
	if got := tb.Selection(); got != "" {
		t.Errorf("the selection of a whole table is %q", got)
	}
	g := tb.Where("method", "POLA").Where("trial", "")
	if got, want := g.Rows().Selection(), `method POLA, trial ""`; got != want {
		t.Errorf("selection %q, want %q", got, want)
	}
}

// Another column leaves the table as it is, and tables of the same columns are one.
func TestWithAndConcat(t *testing.T) {
	a := New([]string{"m"}, []string{"v"})
	for i, m := range []string{"x", "y", "x"} {
		a.Add(Key{"m": m}, Values{"v": float64(i)})
	}
	b := a.With("n", []string{"1", "2", "3"})
	b.Add(Key{"m": "z", "n": "4"}, Values{"v": 9})
	if a.Len() != 3 || !slices.Equal(a.IndexNames(), []string{"m"}) || !slices.Equal(b.Index("n"), []string{"1", "2", "3", "4"}) {
		t.Errorf("%q of %d rows, and %q", a.IndexNames(), a.Len(), b.Index("n"))
	}
	all := Concat(a, a.Where("m", "y"))
	if !slices.Equal(all.Index("m"), []string{"x", "y", "x", "y"}) || !slices.Equal(all.Values("v"), []float64{0, 1, 2, 1}) || all.Len() != 4 {
		t.Errorf("%q with %v", all.Index("m"), all.Values("v"))
	}
	for name, f := range map[string]func(){
		"too few cells":         func() { a.With("n", []string{"1"}) },
		"a column of that name": func() { a.With("m", []string{"1", "2", "3"}) },
		"other columns":         func() { Concat(a, b) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

// A table of chosen rows is the same whenever its columns are copied: before or after rows
// are added to it, or to the table it was chosen from.
func TestChosenRowsKeep(t *testing.T) {
	build := func() *Table {
		tab := New([]string{"method", "trial"}, []string{"error"})
		for i := range 12 {
			tab.Add(Key{"method": string(rune('A' + i%3)), "trial": strconv.Itoa(i / 3)}, Values{"error": float64(i)})
		}
		return tab
	}
	csv := func(tab *Table) string {
		var b strings.Builder
		if err := tab.WriteCSV(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	whole := build()
	chosen := whole.Where("method", "B").Rows(3, 0, 0).Where("trial", "0")
	whole.Add(Key{"method": "B", "trial": "0"}, Values{"error": 99})
	const want = "method,trial,error\nB,0,1\nB,0,1\n"
	if got := csv(chosen); got != want {
		t.Errorf("after a row was added to the whole table: %q, want %q", got, want)
	}
	chosen = build().Where("method", "B").Rows(0, 2)
	chosen.Add(Key{"method": "Z"}, Values{"error": 7})
	if got, want := csv(chosen), "method,trial,error\nB,0,1\nB,2,7\nZ,,7\n"; got != want {
		t.Errorf("after a row was added to the chosen ones: %q, want %q", got, want)
	}
	if got, want := chosen.Selection(), "method B"; got != want {
		t.Errorf("selection %q, want %q", got, want)
	}
}

// Groups are those of Group within Group, with its selection.
func TestGroups(t *testing.T) {
	tab := New([]string{"method", "trial"}, []string{"error"})
	for i, cells := range [][2]string{{"B", "1"}, {"A", "0"}, {"B", "0"}, {"B", "1"}} {
		tab.Add(Key{"method": cells[0], "trial": cells[1]}, Values{"error": float64(i)})
	}
	var want, got []string
	for a, rows := range tab.Group("method") {
		for b, rows := range rows.Group("trial") {
			want = append(want, fmt.Sprint(a, b, rows.Values("error"), rows.Selection()))
		}
	}
	for cells, rows := range tab.Groups("method", "trial") {
		got = append(got, fmt.Sprint(cells[0], cells[1], rows.Values("error"), rows.Selection()))
	}
	if !slices.Equal(got, want) || len(got) != 3 {
		t.Errorf("got %q, want %q", got, want)
	}
	for cells, rows := range tab.Groups() {
		if len(cells) != 0 || rows.Len() != tab.Len() {
			t.Errorf("of no column: %q with %d rows", cells, rows.Len())
		}
		break // it can be left
	}
}
