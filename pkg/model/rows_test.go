package model

import (
	"bytes"
	"errors"
	"fmt"
	"io"
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
	"metriclab/pkg/persist/persisttest"
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
}

// labelText is a table of a feature, with the given classes.
func labelText(classes ...string) string {
	text := "f0,class\n"
	for i, c := range classes {
		text += fmt.Sprintf("%d,%s\n", i, c)
	}
	return text
}

func fitText(t *testing.T, text string, r Recipe) *Model {
	t.Helper()
	return MustFit[*Model](t, ByClasses(readText(t, strings.NewReader(text))), r)
}

// embedAll puts the blocks together.
func embedAll(m *Model, r io.Reader) (z *mat.Dense, labels []string, err error) {
	for b, err := range m.EmbedCSV(r, "x.csv") {
		if err != nil {
			return nil, nil, err
		}
		labels = append(labels, b.Labels...)
		if z == nil {
			z = b.Z
		} else {
			var all mat.Dense
			all.Stack(z, b.Z)
			z = &all
		}
	}
	return z, labels, nil
}

// Blocks have the bits of the whole, also where gonum's product takes another way for few rows of more than 64
// features, and a file of one block has those of its rows.
func TestEmbedCSV(t *testing.T) {
	for _, d := range []int{3, 70} {
		m := fitText(t, tableText(5, 200, d), Recipe{Learner: "rca"})
		rows := blockBytes / (8 * 3 * d)
		for _, n := range []int{1, 100, blockRows - 1, blockRows, rows - 1, rows, rows + 1, rows + blockRows - 1, 2*rows + 5, 2*rows + blockRows} {
			text := tableText(6, n, d)
			whole := readText(t, strings.NewReader(text))
			want := Must(m.Embed(whole.X))
			z, labels, err := embedAll(m, once{strings.NewReader(text)})
			if err != nil || !sameBits(z, want) || !slices.Equal(labels, whole.Labels) {
				t.Errorf("%d features, %d rows: other coordinates or labels, error %v", d, n, err)
			}
		}
	}
}

// Blocks of wide rows leave room for one another within the limit.
func TestEmbedCSVWide(t *testing.T) {
	t.Cleanup(func() { limits.SetMemory(0) })
	const d, rows = 70_000, 4
	m := fitText(t, tableText(5, 4, d), Recipe{Learner: "invcov"})
	l := Must(m.embedder())
	limits.SetMemory(rows * blocksHeld * 8 * int64(2*d+l.Rows()))
	var got []int
	names, _, _ := strings.Cut(tableText(6, 1, d), "\n")
	text := names + strings.Repeat("\n"+strings.Repeat("1,", d)+"c1", 2*rows+1)
	for _, b := range All(m.EmbedCSV(strings.NewReader(text), "x.csv")) {
		n, _ := b.Z.Dims()
		got = append(got, n)
	}
	if want := []int{rows, rows, 1}; !slices.Equal(got, want) {
		t.Errorf("blocks of %d rows, want %d", got, want)
	}
}

// Classes: all, none, or an error that Read has, too.
func TestEmbedCSVLabels(t *testing.T) {
	m := fitText(t, labelText("a", "b", "a"), Recipe{Learner: Euclidean})
	for _, tt := range []struct {
		text string
		want []string
		err  string
	}{
		{labelText("a", "zebra"), []string{"a", "zebra"}, ""},
		{labelText("?", "", "NA"), nil, ""},
		{"f0,other\n1,2\n", nil, ""},
		{labelText("a", "b", "?"), nil, `datasets: x.csv:4: column "class": the cell is missing ("?")`},
		{labelText("?", "?", "b"), nil, `datasets: x.csv:2: column "class": the cell is missing ("?")`},
		{labelText("a", "b") + "1,2,3\n", nil, "datasets: x.csv:4: 3 cells, want 2 as in line 1"},
		{labelText("a", "b") + "x,b\n", nil, `datasets: x.csv:4: column "f0": "x" is not a number`},
		{labelText("a", "b") + ",b\n", nil, `datasets: x.csv:4: column "f0": the cell is missing ("")`},
		{labelText("a", "b") + "1.7e308,b\n", nil, "model: row 2, column f0: 1.7e+308 is too large"},
	} {
		_, labels, err := embedAll(m, strings.NewReader(tt.text))
		d, same := m.Read(strings.NewReader(tt.text), "x.csv")
		if same == nil {
			_, same = m.Embed(d.X)
		}
		if fmt.Sprint(err) != fmt.Sprint(same) {
			t.Errorf("%q: error %v, of Read and Embed %v", tt.text, err, same)
		}
		if tt.err != "" {
			if err == nil || !strings.HasPrefix(err.Error(), tt.err) {
				t.Errorf("%q: error %v, want %q", tt.text, err, tt.err)
			}
		} else if err != nil || !slices.Equal(labels, tt.want) {
			t.Errorf("%q: labels %q, error %v", tt.text, labels, err)
		}
	}
}

// Rows in errors count from the first of the file, not of the block, and what comes before is yielded.
func TestEmbedCSVErrorRow(t *testing.T) {
	m := fitText(t, labelText("a", "b", "a"), Recipe{Learner: Euclidean, Raw: true})
	rows := blockBytes / (8 * 3)
	text := "f0,class\n" + strings.Repeat("1,a\n", rows+7)
	for _, tt := range []struct{ row, want string }{
		{"x,a\n", fmt.Sprintf(`datasets: x.csv:%d: column "f0": "x" is not a number`, rows+9)},
		{"1\n", fmt.Sprintf("datasets: x.csv:%d: 1 cell, want 2", rows+9)},
	} {
		blocks := 0
		var last error
		for b, err := range m.EmbedCSV(strings.NewReader(text+tt.row), "x.csv") {
			if last = err; err == nil && b != nil {
				blocks++
			}
		}
		if blocks != 1 || last == nil || !strings.HasPrefix(last.Error(), tt.want) {
			t.Errorf("%d blocks, error %v, want 1 and %q", blocks, last, tt.want)
		}
	}
	scaled := fitText(t, labelText("a", "b", "a"), Recipe{Learner: Euclidean})
	_, _, err := embedAll(scaled, strings.NewReader(text+"1.7e308,a\n"))
	if want := fmt.Sprintf("model: row %d, column f0: 1.7e+308 is too large", rows+7); err == nil || err.Error() != want {
		t.Errorf("error %v, want %q", err, want)
	}
}

// generated is a table of so many rows, each with a class of its own.
type generated struct {
	rows, at int
	rest     []byte
}

func (g *generated) Read(b []byte) (int, error) {
	if len(g.rest) == 0 {
		if g.at == g.rows {
			return 0, io.EOF
		}
		g.rest = fmt.Appendf(g.rest[:0], "%d,2,3,4,5,6,7,8,9,10,class%d\n", g.at, g.at)
		g.at++
	}
	n := copy(b, g.rest)
	g.rest = g.rest[n:]
	return n, nil
}

// Memory does not grow with the table, nor with its classes: what is in use in the middle and at the end is counted, after
// a collection.
func TestEmbedCSVMemory(t *testing.T) {
	d := Must(Read(strings.NewReader("1,2,3,4,5,6,7,8,9,10,a\n3,2,3,4,5,6,7,8,9,10,b\n"), "x.csv", Columns{Label: "11"}, false))
	m := MustFit[*Model](t, ByClasses(d), Recipe{Learner: Euclidean})
	const rows = 60000 // coordinates, features and classes would take 12 MB
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	n := 0
	for b, err := range m.EmbedCSV(&generated{rows: rows}, "x.csv") {
		if err != nil {
			t.Fatal(err)
		}
		k, _ := b.Z.Dims()
		if n += k; n > rows/2 {
			runtime.GC()
			runtime.ReadMemStats(&now)
			if use := int64(now.HeapAlloc) - int64(before.HeapAlloc); use > 5*blockBytes {
				t.Errorf("after %d rows %d bytes are in use", n, use)
			}
		}
	}
	if n != rows {
		t.Errorf("%d rows, want %d", n, rows)
	}
}

// With InPlace the model is the same, and made in the matrix that was given; without, that is left as it is.
func TestFitInPlace(t *testing.T) {
	text := strings.Replace(tableText(7, 60, 3), "\n", "\n?,1,2,c1\n", 1)
	for _, r := range []Recipe{{Learner: "rca", ImputeMean: true}, {Learner: "pola", ImputeMean: true, Raw: true}} {
		whole, given := readText(t, strings.NewReader(text)), readText(t, strings.NewReader(text))
		kept := mat.DenseCopyOf(whole.X)
		given.InPlace = true
		m, p := MustFit[*Model](t, ByClasses(whole), r), MustFit[*Model](t, ByClasses(given), r)
		if !bytes.Equal(persisttest.Saved(m), persisttest.Saved(p)) || m.Report().Imputed != 1 || p.Report().Imputed != 1 {
			t.Errorf("%s: the models differ, or %d and %d cells are imputed, want 1", r.Learner, m.Report().Imputed, p.Report().Imputed)
		}
		if prepared := Must(m.Prepare(kept)); !sameBits(whole.X, kept) || !sameBits(given.X, prepared) {
			t.Errorf("%s: the rows were changed, or with InPlace not prepared", r.Learner)
		}
	}
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
