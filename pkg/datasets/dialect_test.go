package datasets_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"metriclab/pkg/datasets"
)

func TestDetectDialect(t *testing.T) {
	for text, want := range map[string]datasets.Dialect{
		"a,b\n1,2\n":                           {Separator: ','},
		"a;b\n1;2\n":                           {Separator: ';'},
		"a\tb\n1.5\t2\n":                       {Separator: '\t'},
		"a;b\n1,5;2\n":                         {Separator: ';', DecimalComma: true},
		"a;b;c\n1,5;2,25;x\n":                  {Separator: ';', DecimalComma: true},
		"1,5;2,5\n3,5;4,5\n":                   {Separator: ';', DecimalComma: true},
		"a\tb\n1,5\tx\n":                       {Separator: '\t', DecimalComma: true},
		"0,123;1\n0,456;2\n":                   {Separator: ';', DecimalComma: true},
		"1.5,2.5,x;y\n1.5,2,z;y\n":             {Separator: ','},
		"a,b\n1,\"x;y\"\n":                     {Separator: ','},
		"name;x\n\"Huber, A.\";1,5\nMaier;2\n": {Separator: ';', DecimalComma: true},
		"\xef\xbb\xbfa;b\n1;2\n":               {Separator: ';'},
		"one column\n2\n":                      {Separator: ','},
		"a|b\n1|2\n":                           {Separator: '|'},
		"a,b\n1.234,x\n22.345,y\n":             {Separator: ','},
		"a;b\n1.234;0,5\n":                     {Separator: ';', DecimalComma: true, Thousands: true},
		"a;b\n1,234;0.5\n":                     {Separator: ';', Thousands: true},
		"a,b\n\"1,234\",0.5\n":                 {Separator: ',', Thousands: true},
		"a;b\n1.234.567;2\n":                   {Separator: ';', DecimalComma: true, Thousands: true},
		"a;b\n1,234,567;2\n":                   {Separator: ';', Thousands: true},
		"a\tb\n-1.250,5\t2\n":                  {Separator: '\t', DecimalComma: true, Thousands: true},
		"a;b\n0.125;2\n":                       {Separator: ';'},
		"a;b\n1;2\n1;2\n1;2\n1;2\n1;2;3\n1;2\n1;2\n1;2\n1;2\n1;2\n": {Separator: ';'}, // reading names the line
	} {
		got, err := datasets.DetectDialect([]byte(text), true, "x.csv", 0, datasets.DecimalAuto)
		if err != nil || got != want {
			t.Errorf("%q: %v, error %v, want %v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"a;b\n1,234;x\n22,345;y\n": `the comma of "1,234" may be decimal or mark thousands`,
		"a;b\n1.234;x\n22.345;y\n": `the point of "1.234" may be decimal or mark thousands`,
		"a,b\n\"1,234\",x\n":       `the comma of "1,234" may be decimal or mark thousands`,
		"a,b;c\nd,e;f\n":           "cells may be separated by",
	} {
		_, err := datasets.DetectDialect([]byte(text), true, "x.csv", 0, datasets.DecimalAuto)
		if e, ok := errors.AsType[*datasets.AmbiguousError](err); !ok || !strings.Contains(e.Error(), want) {
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
	}
}

// What is given is taken: detection never changes it.
func TestDetectGiven(t *testing.T) {
	for _, c := range []struct {
		text      string
		separator rune
		decimal   datasets.Decimal
		want      datasets.Dialect
	}{
		{"a;b\n1,234;x\n", 0, datasets.DecimalComma, datasets.Dialect{Separator: ';', DecimalComma: true, Thousands: true}},
		{"a;b\n1,234;x\n", 0, datasets.DecimalPoint, datasets.Dialect{Separator: ';', Thousands: true}},
		{"a,b\n1,2\n", ';', datasets.DecimalAuto, datasets.Dialect{Separator: ';'}},
		{"a,b;c\nd,e;f\n", ',', datasets.DecimalAuto, datasets.Dialect{Separator: ','}},
		{"x", 0, datasets.DecimalComma, datasets.Dialect{Separator: ';', DecimalComma: true}},
	} {
		got, err := datasets.DetectDialect([]byte(c.text), true, "x.csv", c.separator, c.decimal)
		if err != nil || got != c.want {
			t.Errorf("%+v: %v, error %v", c, got, err)
		}
	}
	for _, o := range []datasets.CSVOptions{
		{Dialect: datasets.Dialect{Separator: 'x'}},
		{Dialect: datasets.Dialect{Separator: ',', DecimalComma: true}},
		{Detect: true, Decimal: 7},
		{Detect: true, Decimal: datasets.DecimalComma, Dialect: datasets.Dialect{Separator: ','}},
	} {
		if _, err := datasets.NewCSVRows(strings.NewReader("a,b\n1,2\n"), "x.csv", o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}

// A table has the same cells in each dialect, empty first and last cells among them.
func TestDialects(t *testing.T) {
	for _, text := range []string{"a,b,c\n1.5,?,x\n-2e3,7,y\n", "a;b;c\n1,5;?;x\n-2e3;7;y\n", "a\tb\tc\n1,5\t?\tx\n-2e3\t7\ty\n", "a\tb\tc\n1.5\t\tx\n-2e3\t 7\ty\n"} {
		c, err := datasets.ReadCSV(strings.NewReader(text), "x.csv", datasets.CSVOptions{Detect: true, Text: []string{"c"}})
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		x, err := c.Numbers([]int{0, 1}, true)
		if err != nil || x.At(0, 0) != 1.5 || x.At(0, 1) == x.At(0, 1) || x.At(1, 0) != -2000 || x.At(1, 1) != 7 {
			t.Errorf("%q: %v, error %v", text, x, err)
		}
	}
	for text, want := range map[string]string{
		"a;b\n1,5;2.5\n":    `"2.5" is not a number with a decimal comma`,
		"a;b\n1,5;1.23,5\n": `"1.23,5" is not a number with a decimal comma`,
		"a;b\n1,5;1,2,3\n":  `"1,2,3" is not a number with a decimal comma`,
	} {
		c, err := datasets.ReadCSV(strings.NewReader(text), "x.csv", datasets.CSVOptions{Detect: true})
		if err == nil {
			_, err = c.Numbers([]int{0, 1}, true)
		}
		if err == nil || !strings.Contains(err.Error(), `x.csv:2: column "b": `+want) {
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
	}
}

// A text that comes in small pieces, as from a slow pipe, is read as it is from a file, be it longer than what detection looks at, or end without a line end.
func TestDialectsInPieces(t *testing.T) {
	long := func(head, row string, rows int) string { return head + strings.Repeat(row, rows) }
	for _, text := range []string{
		"a;b;c\n1,5;?;x\n-2e3;7;y",
		long("a;b;c\n", "1,5;2,25;x\n", 10_000),
		long("a\tb\tc\n", "1,5\t2\tx, y\n", 10_000),
		long("a,b,c\n", "1.5,2,\"x;\ny\"\n", 10_000),
		long("a;b;c\n", "1234567890123456789;0,000000000000000000123;a word that is longer than others\n", 2_000) + "1;2;z",
	} {
		read := func(r io.Reader) string {
			t.Helper()
			c, err := datasets.NewCSVRows(r, "x.csv", datasets.CSVOptions{Detect: true, Text: []string{"c"}})
			if err != nil {
				t.Fatalf("%.20q: %v", text, err)
			}
			var b strings.Builder
			fmt.Fprintln(&b, c.Dialect, c.Header)
			for {
				row, err := c.Next()
				if err == io.EOF {
					return b.String()
				}
				if err != nil {
					t.Fatalf("%.20q: %v", text, err)
				}
				fmt.Fprintf(&b, "%q\n", row)
			}
		}
		want := read(strings.NewReader(text))
		for name, r := range map[string]io.Reader{
			"bytes": iotest.OneByteReader(strings.NewReader(text)), "halves": iotest.HalfReader(strings.NewReader(text)), "with the end": iotest.DataErrReader(strings.NewReader(text)),
			"a byte with the end": iotest.DataErrReader(iotest.OneByteReader(strings.NewReader(text))),
		} {
			if got := read(r); got != want {
				t.Errorf("%.20q: in %s: %.200q, want %.200q", text, name, got, want)
			}
		}
	}
}

func TestMissing(t *testing.T) {
	o := datasets.CSVOptions{Missing: []string{"nan", "-"}}
	c, err := datasets.ReadCSV(strings.NewReader("a,b\n1,nan\n-,2\n,3\n"), "x.csv", o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Numbers([]int{0, 1}, true); err != nil {
		t.Error(err)
	}
	c, err = datasets.ReadCSV(strings.NewReader("a,b\n1,NA\n"), "x.csv", o)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Numbers([]int{0, 1}, true)
	if e, ok := errors.AsType[*datasets.CellError](err); !ok || e.Kind != datasets.CellAbsent || e.Column != "b" || e.Line != 2 || e.Cell != "NA" {
		t.Errorf("error %v", err)
	}
}

// Whatever the bytes, detection ends, and a file is read alike with what was found and with that given.
func FuzzDetectDialect(f *testing.F) {
	for _, seed := range []string{"a;b\n1,5;2\n", "a\tb\n1\t2\n", "1,2;3,4\n", "\"a;b\",c\n1,2\n", "a;b\n1,234;x\n", "\"", ";\n;\n"} {
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, raw []byte, whole bool) {
		d, err := datasets.DetectDialect(raw, whole, "x.csv", 0, datasets.DecimalAuto)
		if err != nil {
			if _, ok := errors.AsType[*datasets.AmbiguousError](err); !ok {
				t.Fatalf("error %v", err)
			}
			return
		}
		again, err := datasets.DetectDialect(raw, whole, "x.csv", d.Separator, datasets.DecimalPoint)
		if err != nil || again.Separator != d.Separator {
			t.Fatalf("%v, then %v, error %v", d, again, err)
		}
		if !whole {
			return
		}
		found, ferr := datasets.NewCSVRows(strings.NewReader(string(raw)), "x.csv", datasets.CSVOptions{Detect: true})
		given, gerr := datasets.NewCSVRows(strings.NewReader(string(raw)), "x.csv", datasets.CSVOptions{Dialect: d})
		if fmt.Sprint(ferr) != fmt.Sprint(gerr) {
			t.Fatalf("errors %v and %v", ferr, gerr)
		}
		if ferr != nil {
			return
		}
		for {
			a, aerr := found.Next()
			b, berr := given.Next()
			if fmt.Sprint(a, aerr) != fmt.Sprint(b, berr) {
				t.Fatalf("%q, %v and %q, %v", a, aerr, b, berr)
			}
			if aerr != nil {
				return
			}
		}
	})
}

func BenchmarkCSVRows(b *testing.B) {
	text := strings.Repeat("1.25,-3.5,17,0.001,2e-3,4.75,red\n", 20000)
	columns, dst := []int{0, 1, 2, 3, 4, 5}, make([]float64, 6)
	for name, o := range map[string]datasets.CSVOptions{"plain": {}, "detect": {Detect: true}} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				rows, err := datasets.NewCSVRows(strings.NewReader(text), "x.csv", o)
				if err != nil {
					b.Fatal(err)
				}
				for {
					if _, err := rows.Next(); err == io.EOF {
						break
					}
					if err := rows.Numbers(dst, columns, false); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// numbers reads the first column of a text.
func numbers(text string, o datasets.CSVOptions) ([]float64, error) {
	o.Detect, o.Text, o.OneColumn = true, []string{"y"}, true
	t, err := datasets.NewCSVRows(strings.NewReader(text), "x.csv", o)
	if err != nil {
		return nil, err
	}
	var out []float64
	for {
		if _, err := t.Next(); err != nil {
			if err == io.EOF {
				return out, nil
			}
			return nil, err
		}
		v := []float64{0}
		if err := t.Numbers(v, []int{0}, false); err != nil {
			return nil, err
		}
		out = append(out, v[0])
	}
}

// TestThousands: one rule for both marks. No cell is read as a thousandth of what its neighbours are read as.
func TestThousands(t *testing.T) {
	long := strings.Repeat("563;2;A\n", 300) // more than detection looks at
	for _, text := range []string{"a;n;y\n1.250;0,5;A\n563;1;B\n", "a;n;y\n1,250;0.5;A\n563;1;B\n", "a,n,y\n\"1,250\",0.5,A\n563,1,B\n", "a\tn\ty\n1.250,0\t1\tA\n563\t1\tB\n"} {
		if v, err := numbers(text, datasets.CSVOptions{}); err != nil || v[0] != 1250 || v[1] != 563 {
			t.Errorf("%q: %v, %v", text, v, err)
		}
	}
	for _, mark := range []string{".", ","} {
		text := "a;n;y\n1" + mark + "250;1;A\n563;2;B\n"
		for _, ambiguous := range []string{text, "a;n;y\n" + long + "1" + mark + "250;1;A\n"} {
			_, err := numbers(ambiguous, datasets.CSVOptions{})
			if _, ok := errors.AsType[*datasets.AmbiguousError](err); !ok && !(mark == "," && err != nil) { // behind the head a comma is no number yet
				t.Errorf("%.30q: %v", ambiguous, err)
			}
		}
		for decimal, want := range map[datasets.Decimal]float64{datasets.DecimalPoint: map[string]float64{".": 1.25, ",": 1250}[mark], datasets.DecimalComma: map[string]float64{".": 1250, ",": 1.25}[mark]} {
			if v, err := numbers(text, datasets.CSVOptions{Decimal: decimal}); err != nil || v[0] != want || v[1] != 563 {
				t.Errorf("%q by %v: %v, %v, want %v", text, decimal, v, err, want)
			}
		}
	}
}

// TestOddCells: what is no number is named, all of it at once.
func TestOddCells(t *testing.T) {
	for text, want := range map[string]string{
		"sep=;\na;y\n1;A\nx;B\n": `x.csv:4: column "a": "x" is not a number`, "@RELATION x\n": "it is ARFF", "% c\n@relation x\n": "it is ARFF", "%%MatrixMarket matrix\n": "it is MatrixMarket",
		"[{\"a\":1}]": "it is JSON", "{\"a\":1}": "it is JSON", "<html>": "it is HTML", "a,y\n9007199254740993,A\n": "would become 9007199254740992",
		"a,y\n\xe9,A\n": "iconv -f WINDOWS-1252",
	} {
		if _, err := numbers(text, datasets.CSVOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	for cell, want := range map[string]datasets.CellKind{
		"NaN": datasets.CellAbsent, "n/a": datasets.CellAbsent, "14.23 %": datasets.CellPercent, "3%": datasets.CellPercent, "2026-11-25": datasets.CellDate, "25.11.2026": datasets.CellDate,
		"11/25/26 12:00": datasets.CellDate, "True": datasets.CellWord, "1,250.5": datasets.CellMarks, "1e999": datasets.CellOther, "1,5": datasets.CellOther,
	} {
		_, err := numbers("a\ty\n"+cell+"\tA\n", datasets.CSVOptions{Decimal: datasets.DecimalPoint})
		e, ok := errors.AsType[*datasets.CellError](err)
		if cell == "1,250.5" { // read, since the decimal mark is given
			continue
		}
		if !ok || e.Kind != want {
			t.Errorf("%s: %v, want %v", cell, err, want)
		}
	}
}
