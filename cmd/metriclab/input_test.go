package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"metriclab/pkg/datasets"
	"metriclab/pkg/tables"
)

func gzipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A table is the same from a file, compressed or not, and from standard input, be that a pipe or a file read from the middle.
func TestTableSources(t *testing.T) {
	inTables(t)
	text := tableFiles["good.csv"]
	zip := gzipped(t, text)
	for name, content := range map[string][]byte{"good.csv.gz": zip, "noname": zip, "behind": append([]byte("skip"), text...), "behind.gz": append([]byte("skip"), zip...)} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	read := func(path string, in io.Reader) string {
		t.Helper()
		f, err := (&app{in: in}).openTable(path)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		defer f.Close()
		d, err := tables.Read(f, path, tables.Columns{Label: "class"}, false)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		var b strings.Builder
		for i, l := range d.Labels {
			b.WriteString(l)
			for _, v := range d.X.RawRowView(i) {
				b.WriteString(" " + string(rune('0'+int(v)+10)))
			}
		}
		return b.String()
	}
	behind := func(name string) *os.File {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		if _, err := f.Seek(4, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		return f
	}
	want := read("good.csv", nil)
	for name, got := range map[string]string{
		"file.gz": read("good.csv.gz", nil), "by its bytes": read("noname", nil), "pipe": read(stdin, strings.NewReader(text)), "slow pipe": read(stdin, iotest.OneByteReader(strings.NewReader(text))), "slow pipe of gzip": read(stdin, iotest.OneByteReader(bytes.NewReader(zip))),
		"pipe of gzip":   read(stdin, bytes.NewReader(zip)),
		"rest of a file": read(stdin, behind("behind")), "rest of a file of gzip": read(stdin, behind("behind.gz")),
	} {
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for name, content := range map[string][]byte{"cut": zip[:len(zip)-9], "head": zip[:5], "foreign": []byte("\x1f\x8b, no gzip")} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
		var in io.Reader = bytes.NewReader(content)
		for _, path := range []string{name, stdin} {
			f, err := (&app{in: in}).openTable(path)
			if err == nil {
				_, err = tables.Read(f, path, tables.Columns{Label: "class"}, false)
				f.Close()
			}
			if err == nil || !strings.Contains(err.Error(), "what gzip has compressed is damaged") {
				t.Errorf("%s: error %v", name, err)
			}
		}
	}
}

// Files that are no text say what to do; text that begins like them is read.
func TestNoText(t *testing.T) {
	t.Chdir(t.TempDir())
	c := newCommand(toys(nil))
	for name, content := range map[string]string{"b.xlsx": "PK\x03\x04\x14\x00\x06\x00", "t.parquet": "PAR1\x15\x04\x15"} {
		writeTest(t, name, content)
		want := map[string]string{"b.xlsx": "save the sheet as CSV", "t.parquet": "duckdb -c \"COPY 'x.parquet' TO 'x.csv'\" writes CSV"}[name]
		for _, path := range []string{name, stdin} {
			c.app.in = strings.NewReader(content)
			if code := c.run("fit", path, "--label", "c", "--learner", "fda", "--out", "m.json"); code != exitFailed || !strings.Contains(c.err.String(), tableName(path)+": it is ") || !strings.Contains(c.err.String(), want) {
				t.Errorf("%s: exit code %d: %s", path, code, c.err.String())
			}
		}
	}
	writeTest(t, "text.csv", "PAR1,PK,c\n1,2,a\n2,1,b\n3,1,a\n4,2,b\n")
	writeTest(t, "less.csv", "a,b")
	if code := c.run("fit", "text.csv", "--label", "c", "--learner", "fda", "--out", "m.json"); code != exitOK {
		t.Errorf("exit code %d: %s", code, c.err.String())
	}
	if code := c.run("fit", "less.csv", "--label", "b", "--learner", "fda", "--out", "m.json"); code != exitFailed || strings.Contains(c.err.String(), "it is ") {
		t.Errorf("exit code %d: %s", code, c.err.String())
	}
}

// On a terminal the table is told before work begins.
func TestTellTable(t *testing.T) {
	var b bytes.Buffer
	d, err := tables.Read(strings.NewReader("x,y,c\n1,?,a\n2,3,b\n"), "t.csv", tables.Columns{Label: "c"}, true)
	if err != nil {
		t.Fatal(err)
	}
	(&app{err: &b}).tellTable(d)
	(&app{err: &b, terminal: true}).tellTable(d)
	if want := "t.csv: 2 rows x 2 features, label c with 2 classes, 1 missing cell\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
	if !(datasets.Dialect{}).Usual() {
		t.Error("the zero Dialect is not the usual one")
	}
}
