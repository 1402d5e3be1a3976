package tables

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets"
	"metriclab/pkg/limits"
)

// tableText is a table of n rows of d features and a class, with a header.
func tableText(seed uint64, n, d int) string {
	rng := rand.New(rand.NewPCG(seed, 61))
	var b []byte
	for j := range d {
		b = fmt.Appendf(b, "f%d,", j)
	}
	b = append(b, "class\n"...)
	for i := range n {
		for range d {
			b = append(strconv.AppendFloat(b, rng.NormFloat64(), 'g', -1, 64), ',')
		}
		b = fmt.Appendf(b, "c%d\n", i%3)
	}
	return string(b)
}

func readText(t *testing.T, r io.Reader) *Data {
	t.Helper()
	return Must(Read(r, "x.csv", Columns{Label: "class"}, true))
}

// once hides all but Read.
type once struct{ io.Reader }

// A text has as many rows as ReadCSV finds.
func TestCountRows(t *testing.T) {
	for _, text := range []string{
		"a,b\n1,2\n", "a,b\n1,2", "a,b\r\n1,2\r\n", "\n\na,b\n\r\n1,2\n\n", "a,b\n\"x\ny\",2\n3,4\n", "a,b\n\"x \"\"\n\n\"\"y\",2\n3,4",
		"a,b\n\"\",2\n", "a,b\n" + strings.Repeat("1", 1<<17) + ",2\n3,4\n", "a,b\n\"" + strings.Repeat("\n", 1<<17) + "\",2\n3,4\n", tableText(1, 100, 3),
	} {
		c, err := datasets.ReadCSV(strings.NewReader(text), "x.csv", datasets.CSVOptions{Header: datasets.HeaderNo})
		if err != nil {
			t.Fatalf("%.40q: %v", text, err)
		}
		r := strings.NewReader("skipped" + text)
		if _, err := r.Seek(7, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		n, err := countRows(r)
		if rest, _ := io.ReadAll(r); err != nil || n != c.Len() || string(rest) != text {
			t.Errorf("%.40q: %d rows, want %d, %d bytes left, error %v", text, n, c.Len(), len(rest), err)
		}
	}
	if n, err := countRows(once{strings.NewReader("a,b\n")}); n != 0 || err != nil {
		t.Errorf("a pipe: %d rows, error %v", n, err)
	}
	if f, err := os.Open("/dev/zero"); err == nil { // has no end
		defer f.Close()
		if n, err := countRows(f); n != 0 || err != nil {
			t.Errorf("a device: %d rows, error %v", n, err)
		}
	}
}

// What is read does not depend on whether rows can be counted, and holds the cells.
func TestReadParts(t *testing.T) {
	for _, n := range []int{1, 2, 2047, 2048, 2049, 9000} {
		text := tableText(2, n, 4)
		text = strings.Replace(text, "\n", "\n?,1,2,3,\"c0\"\n", 1)
		a, b := readText(t, strings.NewReader(text)), readText(t, once{strings.NewReader(text)})
		cells := Must(datasets.ReadCSV(strings.NewReader(text), "x.csv", datasets.CSVOptions{}))
		want := Must(cells.Numbers([]int{0, 1, 2, 3}, true))
		words := Must(cells.Words(4))
		for _, d := range []*Data{a, b} {
			if rows, _ := d.X.Dims(); rows != n+1 || !sameBits(d.X, want) || !slices.Equal(d.Labels, words) {
				t.Errorf("%d rows: other cells, or %d rows", n+1, rows)
			}
		}
	}
}

func sameBits(a, b *mat.Dense) bool {
	n, d := a.Dims()
	if k, l := b.Dims(); k != n || l != d {
		return false
	}
	for i := range n {
		for j := range d {
			if math.Float64bits(a.At(i, j)) != math.Float64bits(b.At(i, j)) {
				return false
			}
		}
	}
	return true
}

// Blocks of a file, and of rows in memory, are the rows in their order.
func TestBlocks(t *testing.T) {
	const d = 3
	rows := blockBytes / (8 * 2 * d)
	text := tableText(3, rows+BlockRows, d)
	whole := readText(t, strings.NewReader(text))
	thin := Must(ReadSVMLight(strings.NewReader(strings.Repeat("1 1:2 3:4\n0 2:5\n", rows)), "x.svm", datasets.IndexBaseOne))
	for name, c := range map[string]struct {
		want   *Data
		blocks iter.Seq2[*Data, error]
	}{
		"file":   {whole, Reader{Layout: whole.Layout}.Blocks(strings.NewReader(text), "x.csv", 0)},
		"memory": {whole, whole.Blocks(0)},
		"sparse": {thin, thin.Blocks(0)},
	} {
		first := 0
		for b, err := range c.blocks {
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			n, _ := b.Dims()
			idx := make([]int, n)
			for i := range idx {
				idx[i] = first + i
			}
			part := c.want.Rows(idx)
			if !mat.Equal(b.Matrix(), part.Matrix()) || !slices.Equal(b.Labels, part.Labels) {
				t.Errorf("%s: other rows or labels from row %d on", name, first)
			}
			first += n
		}
		if n, _ := c.want.Dims(); first != n {
			t.Errorf("%s: %d rows, want %d", name, first, n)
		}
	}
}

// Reading allocates the matrix, the text once (by encoding/csv, row by row) and the labels: not each cell, and no
// matrix twice where rows can be counted. All that it ever allocates is counted.
func TestReadMemory(t *testing.T) {
	const n, d = 20000, 10
	text := tableText(3, n, d)
	took := func(r io.Reader) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		readText(t, r)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	const matrix, labels, slack = 8 * n * d, 16 * n, 1 << 20 // buffers, one of them the head that shows how cells are written
	// encoding/csv keeps the text of a row in a string, in size classes up to an eighth larger.
	line := uint64(len(text)) * 9 / 8
	if got := took(strings.NewReader(text)); got > matrix+labels+line+slack {
		t.Errorf("%d bytes were allocated, the matrix takes %d", got, matrix)
	}
	// The matrix, parts of it that double up to half as many again, labels that double.
	if got := took(once{strings.NewReader(text)}); got > 3*matrix+5*labels+line+slack {
		t.Errorf("from a pipe %d bytes were allocated, the matrix takes %d", got, matrix)
	}
}

func TestReadLimits(t *testing.T) {
	t.Cleanup(func() { limits.SetMemory(0) })
	text := tableText(4, 100, 3)
	limits.SetMemory(100*(3*8+16) + 3*(2+distinct))
	for _, r := range []io.Reader{strings.NewReader(text), once{strings.NewReader(text)}} {
		readText(t, r)
	}
	limits.SetMemory(limits.Memory() - 1)
	for _, r := range []io.Reader{strings.NewReader(text), once{strings.NewReader(text)}} {
		_, err := Read(r, "x.csv", Columns{Label: "class"}, false)
		var large *limits.MemoryError
		if !errors.As(err, &large) || !strings.HasPrefix(err.Error(), "model: x.csv:101: the table takes more than") {
			t.Errorf("error %v", err)
		}
	}
	limits.SetMemory(100*(3*8+16) - 1)
	_, err := Read(strings.NewReader("not read,x,y,class\n"+strings.Repeat("a,b,c,d\n", 100)), "x.csv", Columns{Label: "class"}, false)
	if want := "model: x.csv: 100 rows of 3 features would take 3.91 KiB of memory, the limit is 3.91 KiB"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
	limits.SetMemory(1000)
	Refused(t, "a column", ErrorOf(ReadColumn(strings.NewReader(text), "x.csv", "class", true, Cells{})), "x.csv:57: column class takes more than")
}

// labelText is a table of a feature, with the given classes.
func labelText(classes ...string) string {
	text := "f0,class\n"
	for i, c := range classes {
		text += fmt.Sprintf("%d,%s\n", i, c)
	}
	return text
}

// A file that is longer than it was when its rows were counted is read to its end.
func TestReadGrowing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv")
	if err := os.WriteFile(path, []byte(labelText("a", "b")), 0o600); err != nil {
		t.Fatal(err)
	}
	f := Must(os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0))
	defer f.Close()
	d := readText(t, &growing{File: f})
	if n, _ := d.X.Dims(); n != 3 || d.X.At(2, 0) != 9 || !slices.Equal(d.Labels, []string{"a", "b", "c"}) {
		t.Errorf("%d rows, labels %q", n, d.Labels)
	}
}

// growing gets a row when it is rewound.
type growing struct{ *os.File }

func (g *growing) Seek(offset int64, whence int) (int64, error) {
	if whence == io.SeekStart {
		if _, err := g.WriteString("9,c\n"); err != nil {
			return 0, err
		}
	}
	return g.File.Seek(offset, whence)
}
