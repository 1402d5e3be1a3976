package model

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
	"metriclab/pkg/persist/persisttest"
	"metriclab/pkg/tables"
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

func readText(t *testing.T, r io.Reader) *tables.Data {
	t.Helper()
	return Must(tables.Read(r, "x.csv", tables.Columns{Label: "class"}, true))
}

// once hides all but Read.
type once struct{ io.Reader }

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

// What a block of rows takes, and how many are held: see tables.Reader.Blocks.
const (
	blockBytes = 1 << 20
	blocksHeld = 4
)

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
		m := fitText(t, tableText(5, 200, d), Recipe{Learner: "fda"}) // of few coordinates, whose product is gonum's
		rows := blockBytes / (8 * (2*d + Must(m.embedder()).Rows()))
		for _, n := range []int{1, 100, tables.BlockRows - 1, tables.BlockRows, rows - 1, rows, rows + 1, rows + tables.BlockRows - 1, 2*rows + 5, 2*rows + tables.BlockRows} {
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

// Blocks of an array, and of sparse rows made dense, have the bits of the whole, too.
func TestEmbedBlocks(t *testing.T) {
	const d = 70
	text := tableText(5, 200, d)
	whole := readText(t, strings.NewReader(text))
	train := Must(tables.NewData(whole.X, whole.Labels, nil))
	m := MustFit[*Model](t, ByClasses(train), Recipe{Learner: "fda"}) // of few coordinates, whose product is gonum's
	l := Must(m.embedder())
	rows := blockBytes / (8 * (2*d + l.Rows()))
	for _, n := range []int{rows, rows + 1, 2*rows + 5} {
		x := readText(t, strings.NewReader(tableText(6, n, d))).X
		var svm strings.Builder
		for i := range n {
			fmt.Fprintf(&svm, "%d", i)
			for j, v := range x.RawRowView(i) {
				fmt.Fprintf(&svm, " %d:%v", j+1, v)
			}
			svm.WriteByte('\n')
		}
		npy := Text(func(w io.Writer) error { return metric.WriteNPY(w, x) })
		want := Must(m.Embed(x))
		for name, blocks := range map[string][]*Block{
			"npy":      All(m.EmbedNPY(strings.NewReader(npy), "x.npy", nil)),
			"svmlight": All(m.EmbedSVMLight(strings.NewReader(svm.String()), "x.svm", datasets.IndexBaseOne)),
		} {
			z, first := new(mat.Dense), 0
			for _, b := range blocks {
				if k, _ := b.Z.Dims(); b.First != first || b.Total != n || name == "svmlight" && (len(b.Labels) != k || b.Labels[0] != fmt.Sprint(first)) {
					t.Errorf("%s, %d rows: a block of %d from %d of %d, want from %d", name, n, k, b.First, b.Total, first)
				}
				rows, _ := b.Z.Dims()
				first += rows
				var all mat.Dense
				if all.CloneFrom(b.Z); !z.IsEmpty() {
					all.Reset()
					all.Stack(z, b.Z)
				}
				z = &all
			}
			if len(blocks) != (n+rows-1)/rows || !sameBits(z, want) {
				t.Errorf("%s, %d rows in %d blocks: other coordinates", name, n, len(blocks))
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
	d := Must(tables.Read(strings.NewReader("1,2,3,4,5,6,7,8,9,10,a\n3,2,3,4,5,6,7,8,9,10,b\n"), "x.csv", tables.Columns{Label: "11"}, false))
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
