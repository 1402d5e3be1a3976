package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sbinet/npyio/npy"
	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/tables"
)

// longTable is a table of several blocks, of more than held bytes of output, with a class that needs quotes.
func longTable(rows int) string {
	var b strings.Builder
	b.WriteString("x,y,class\n")
	for i := range rows {
		fmt.Fprintf(&b, "%g,%g,\"c,%d\"\n", float64(i%97)/7, float64(i%89)/11, i%3)
	}
	return b.String()
}

const longRows = 150_000

// inLong makes long.csv, and m.json fitted on it, in an empty working folder.
func inLong(t *testing.T) *command {
	t.Helper()
	t.Chdir(t.TempDir())
	writeTest(t, "long.csv", longTable(longRows))
	c := newCommand(toys(nil))
	if code := c.run(strings.Fields("fit long.csv --label class --learner fda --param dim=2 --out m.json")...); code != exitOK {
		t.Fatal(c.err.String())
	}
	return c
}

// wholeTransform is the table that Model.Embed makes of all rows at once, written by encoding/csv.
func wholeTransform(t *testing.T, path string) (string, *mat.Dense) {
	t.Helper()
	m, err := loadModel("m.json")
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d, err := m.Read(f, path)
	if err != nil {
		t.Fatal(err)
	}
	z, err := m.Embed(d.X)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	n, r := z.Dims()
	row := []string{"class"}
	for j := range r {
		row = append(row, "z"+strconv.Itoa(j+1))
	}
	_ = w.Write(row)
	for i := range n {
		row = append(row[:0], d.Labels[i])
		for _, v := range z.RawRowView(i) {
			row = append(row, strconv.FormatFloat(v, 'g', -1, 64))
		}
		_ = w.Write(row)
	}
	w.Flush()
	return b.String(), z
}

// What goes out block by block, to files, to standard output, is the table of all rows at once.
func TestTransformWhole(t *testing.T) {
	c := inLong(t)
	want, z := wholeTransform(t, "long.csv")
	if len(want) <= held {
		t.Fatalf("the output has %d bytes, want more than %d", len(want), held)
	}
	if code := c.run(strings.Fields("transform long.csv --model m.json --out z.csv --npy z.npy")...); code != exitOK || readTest(t, "z.csv") != want {
		t.Errorf("--out: exit code %d, or another table; %s", code, c.err.String())
	}
	f, err := os.Open("z.npy")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var array mat.Dense
	if err := npy.Read(f, &array); err != nil || !mat.Equal(&array, z) {
		t.Errorf("--npy: another array, error %v", err)
	}
	if code := c.run(strings.Fields("transform long.csv --model m.json")...); code != exitOK || c.out.String() != want {
		t.Errorf("standard output: exit code %d, or another table; %s", code, c.err.String())
	}
	nothingLeft(t)
}

// nothingLeft looks for temporary files.
func nothingLeft(t *testing.T) {
	t.Helper()
	if left, err := filepath.Glob(".metriclab-*"); err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, error %v", left, err)
	}
}

// A bad last row leaves files as they were, and nothing on standard output.
func TestTransformBadEnd(t *testing.T) {
	c := inLong(t)
	const bad = "1,abc,\"c,0\"\n"
	writeTest(t, "bad.csv", longTable(longRows)+bad)
	writeTest(t, "old.csv", "old")
	line := fmt.Sprintf(`bad.csv:%d: column "y": "abc" is not a number`, longRows+2)
	for _, args := range []string{"--out old.csv --npy new.npy", "--out new.csv", "--npy new.npy", ""} {
		code := c.run(strings.Fields("transform bad.csv --model m.json " + args)...)
		if code != exitFailed || !strings.Contains(c.err.String(), line) || c.out.Len() > 0 {
			t.Errorf("%q: exit code %d, %d bytes of output, %s", args, code, c.out.Len(), c.err.String())
		}
		if readTest(t, "old.csv") != "old" {
			t.Errorf("%q: the old file has changed", args)
		}
		for _, file := range []string{"new.csv", "new.npy"} {
			if _, err := os.Stat(file); err == nil {
				t.Errorf("%q: %s was written", args, file)
			}
		}
		nothingLeft(t)
	}
}

// The bytes of a table are told in MB from 10 MB on, but not those read to count its rows.
func TestTableFileTells(t *testing.T) {
	t.Chdir(t.TempDir())
	text := "x,y,class\n" + strings.Repeat("1,2,a\n3,1,b\n", 1_000_000)
	var zip bytes.Buffer
	z, err := gzip.NewWriterLevel(&zip, gzip.NoCompression)
	if _, failed := io.WriteString(z, text); cmp.Or(err, failed, z.Close()) != nil {
		t.Fatal(err, failed)
	}
	for name, content := range map[string]string{"t.csv": text, "t.csv.gz": zip.String()} {
		writeTest(t, name, content)
		f, err := (&app{}).openTable(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		var told []int
		f.tell = func(done, total int) {
			if total != 12 {
				t.Errorf("%s: %d of %d MB", name, done, total)
			}
			told = append(told, done)
		}
		if _, err := tables.Read(f, name, tables.Columns{Label: "class"}, false); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(told, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}) {
			t.Errorf("%s: told of MB %v, want 1 to 12", name, told)
		}
	}
}

// A class column with the name of a coordinate, or of what is outside, is called otherwise.
func TestTransformLabelNames(t *testing.T) {
	t.Chdir(t.TempDir())
	c := newCommand(toys(nil))
	for _, tt := range []struct{ label, flags, head string }{
		{"z1", "", "label,z1,z2\n"}, {"z3", "", "z3,z1,z2\n"}, {"outside", "", "outside,z1,z2\n"}, {"outside", "--subspace", "label,z1,outside\n"}, {"z2", "--subspace", "label,z1,outside\n"},
	} {
		writeTest(t, "t.csv", "x,y,"+tt.label+"\n0,1,a\n1,0,a\n5,6,b\n6,7,b\n")
		for _, line := range []string{"fit t.csv --label " + tt.label + " --learner iplr --param k=1 --no-standardise --out m.json", "transform t.csv --model m.json " + tt.flags} {
			if code := c.run(strings.Fields(line)...); code != exitOK {
				t.Fatalf("%s: %s", line, c.err.String())
			}
		}
		if got := c.out.String(); !strings.HasPrefix(got, tt.head) {
			t.Errorf("column %s %s: %s", tt.label, tt.flags, got)
		}
	}
}
