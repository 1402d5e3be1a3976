package model_test

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets"
	"metriclab/pkg/metric"
	"metriclab/pkg/model"
	"metriclab/pkg/persist/persisttest"
	"metriclab/pkg/tables"
)

// withWords are rows of two numbers, a word and a class.
func withWords(words ...string) string {
	var b strings.Builder
	b.WriteString("x,colour,y,class\n")
	for i := range 24 {
		fmt.Fprintf(&b, "%d,%s,%d,%c\n", i*i%7, words[i%len(words)], i%5, 'a'+i%2)
	}
	return b.String()
}

func TestOneHot(t *testing.T) {
	c := tables.Columns{Label: "class", OneHot: []string{"colour"}}
	d := must(tables.Read(strings.NewReader(withWords("red", "blue", "green")), "t.csv", c, false))
	want := []string{"x", "y", "colour=blue", "colour=green", "colour=red"}
	if !slices.Equal(d.Layout.Features, want) {
		t.Fatalf("features %q, want %q", d.Layout.Features, want)
	}
	for i := range 24 { // slow and obvious
		word := []string{"colour=red", "colour=blue", "colour=green"}[i%3]
		for j, name := range want[2:] {
			if got := d.X.At(i, 2+j); (got == 1) != (name == word) || got != 0 && got != 1 {
				t.Fatalf("row %d, %s: %v, the word is %s", i, name, got, word)
			}
		}
	}
	m := fit(t, d, model.Recipe{Learner: "rca"})
	loaded := must(model.Load(bytes.NewReader(persisttest.Saved(m))))
	again, err := loaded.Read(strings.NewReader(withWords("red", "blue", "green")), "t.csv")
	if err != nil || !mat.Equal(again.X, d.X) || len(again.Notes) != 0 {
		t.Fatalf("read again: %v, %q", err, again.Notes)
	}
	unknown := []string{"8 cells of one-hot columns with a value that no training row had, so that all features of the column are 0"}
	text := withWords("red", "violet", "green")
	other, err := loaded.Read(strings.NewReader(text), "t.csv")
	if err != nil || !slices.Equal(other.Notes, unknown) || mat.Sum(other.X.Slice(1, 2, 2, 5)) != 0 {
		t.Fatalf("violet: %v, %q", err, other.Notes)
	}
	z := must(loaded.Embed(other.X))
	if b := model.All(loaded.EmbedCSV(strings.NewReader(text), "t.csv")); len(b) != 1 || !mat.Equal(b[0].Z, z) || !slices.Equal(b[0].Notes, unknown) {
		t.Errorf("EmbedCSV differs: %v", b)
	}
}

// Without a header, files may have all columns or the features alone, whose order is that of the training file.
func TestOneHotNoHeader(t *testing.T) {
	rows := strings.SplitAfter(withWords("red", "blue"), "\n")[1:]
	d := must(tables.Read(strings.NewReader(strings.Join(rows, "")), "t.csv", tables.Columns{Header: datasets.HeaderNo, Label: "c4", Drop: []string{"1"}, OneHot: []string{"2"}}, false))
	m := fit(t, d, model.Recipe{Learner: model.Euclidean})
	alone := ""
	for _, row := range rows {
		if cells := strings.Split(row, ","); len(cells) == 4 {
			alone += cells[1] + "," + cells[2] + "\n"
		}
	}
	for _, text := range []string{strings.Join(rows, ""), alone} {
		got, err := m.Read(strings.NewReader(text), "t.csv")
		if err != nil || !mat.Equal(got.X, d.X) {
			t.Fatalf("%v: other features", err)
		}
	}
}

// A missing word is the mean of its features; without imputation it is an error.
func TestOneHotMissing(t *testing.T) {
	text := withWords("red", "?", "blue")
	c := tables.Columns{Label: "class", OneHot: []string{"colour"}}
	model.Refused(t, "", model.ErrorOf(tables.Read(strings.NewReader(text), "t.csv", c, false)), datasets.ErrMissingCell)
	d, err := tables.Read(strings.NewReader(text), "t.csv", c, true)
	if err != nil || !math.IsNaN(d.X.At(1, 2)) || !math.IsNaN(d.X.At(1, 3)) || d.X.At(0, 3) != 1 {
		t.Fatalf("error %v", err)
	}
	m := fit(t, d, model.Recipe{Learner: model.Euclidean, ImputeMean: true, Raw: true})
	p, err := m.Prepare(d.X)
	if err != nil || p.At(1, 2) != .5 || p.At(1, 3) != .5 {
		t.Errorf("imputed %v and %v, error %v", p.At(1, 2), p.At(1, 3), err)
	}
}

func TestOneHotErrors(t *testing.T) {
	many := "x,w,class\n"
	for i := range tables.MaxCategories + 1 {
		many += fmt.Sprintf("%d,w%d,%c\n", i, i, 'a'+i%2)
	}
	for name, c := range map[string]struct {
		text   string
		oneHot []string
		want   string
	}{
		"label":     {withWords("red"), []string{"class"}, "cannot be one-hot"},
		"twice":     {withWords("red"), []string{"colour", "2"}, "cannot be one-hot"},
		"unknown":   {withWords("red"), []string{"color"}, `did you mean "colour"?`},
		"too many":  {many, []string{"w"}, "t.csv:1002: column w has more than 1000 values"},
		"same name": {"colour=red,colour,class\n1,red,a\n2,red,b\n", []string{"colour"}, `both called "colour=red"`},
	} {
		d, err := tables.Read(strings.NewReader(c.text), "t.csv", tables.Columns{Label: "class", OneHot: c.oneHot}, false)
		if err == nil {
			_, err = model.Fit(t.Context(), model.ByClasses(d), model.Recipe{Learner: model.Euclidean}, nil)
		}
		model.Refused(t, name, err, c.want)
	}
}

func TestLabelErrors(t *testing.T) {
	var continuous, many, twice strings.Builder
	continuous.WriteString("x,y\n")
	twice.WriteString("x,y\n")
	many.WriteString("x,y\n")
	for i := range 60 {
		fmt.Fprintf(&continuous, "%d,%v\n", i, float64(i)/7)
		fmt.Fprintf(&many, "%d,%d\n", i, i)
		fmt.Fprintf(&twice, "%d,%v\n", i, float64(i/2)/7)
	}
	for text, want := range map[string]string{
		continuous.String():        "60 labels of 60 rows are distinct numbers",
		"x,y\n1,a\n2,b\n3,\n4,a\n": `t.csv:4: column "y": the cell is missing (""), in row 3: each row needs its class`,
		many.String():              "",
		twice.String():             "",
	} {
		d, err := tables.Read(strings.NewReader(text), "t.csv", tables.Columns{Label: "y"}, true)
		if err == nil {
			_, err = model.Fit(t.Context(), model.ByClasses(d), model.Recipe{Learner: model.Euclidean}, nil)
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func TestReadNPY(t *testing.T) {
	x := mat.NewDense(4, 2, []float64{0, 1, 2, 3, 4, 5, 6, 8})
	npy := func(m mat.Matrix) string { return model.Text(func(w io.Writer) error { return metric.WriteNPY(w, m) }) }
	array, classes := npy(x), npy(mat.NewDense(4, 1, []float64{1, 2, 1, 2}))
	labels := func(n int) ([]string, error) { return tables.ReadClasses(strings.NewReader(classes), "y.npy", n) }
	d, err := tables.ReadNPY(strings.NewReader(array), "x.npy", labels)
	if err != nil || !mat.Equal(d.X, x) || !slices.Equal(d.Labels, []string{"1", "2", "1", "2"}) {
		t.Fatalf("%v, error %v", d, err)
	}
	m := fit(t, d, model.Recipe{Learner: model.Euclidean})
	if b := model.All(m.EmbedNPY(strings.NewReader(array), "x.npy", nil)); len(b) != 1 || !mat.Equal(b[0].Z, must(m.Embed(x))) || b[0].Labels != nil {
		t.Errorf("embedded as %v", b)
	}
	long, names := mat.NewDense(70_000, 2, nil), make([]string, 70_000) // of several blocks
	for i := range names {
		long.Set(i, 0, []float64{-9999, -9999, float64(i % 7)}[min(i, 2)])
		names[i] = []string{"1", "2"}[i*i%7%2]
	}
	var got []string
	for _, b := range model.All(m.EmbedNPY(strings.NewReader(npy(long)), "x.npy", func(int) ([]string, error) { return names, nil })) {
		if got = append(got, b.Labels...); len(b.Notes) != 1 || !strings.Contains(b.Notes[0], `column "1" is -9999 at 2 rows`) {
			t.Errorf("notes %q", b.Notes)
		}
	}
	if !slices.Equal(got, names) {
		t.Error("blocks have other labels than the rows")
	}
	model.Refused(t, "", model.ErrorOf(labels(3)), "want 3, one per row of the array")
	model.Refused(t, "", model.ErrorOf(tables.ReadClasses(strings.NewReader("a\nb\nc\n"), "y.csv", 1)), "more rows than the 1 row of the array and a header")
	model.Refused(t, "", model.ErrorOf(tables.ReadClasses(strings.NewReader(npy(mat.NewDense(1, 4, nil))), "y.npy", 4)), "4 columns are not allowed")
}

// What Reading says holds for Read and EmbedCSV alike.
func TestReading(t *testing.T) {
	d, err := tables.Read(strings.NewReader("x;y;c\n1,5;2;a\n-;3,5;b\n2;1;a\n"), "t.csv", tables.Columns{Label: "c", Cells: tables.Cells{Missing: []string{"-"}}}, true)
	if err != nil || d.Dialect != (datasets.Dialect{Separator: ';', DecimalComma: true}) {
		t.Fatalf("%v, error %v", d, err)
	}
	m := fit(t, d, model.Recipe{Learner: model.Euclidean, ImputeMean: true})
	text := "x\ty\n1,234\t2\n-\t1\n"
	if _, err := m.Read(strings.NewReader(text), "t.csv"); err == nil {
		t.Error("an ambiguous file was read")
	}
	m = m.Reading(tables.Cells{Decimal: datasets.DecimalComma, Missing: []string{"-"}})
	got, err := m.Read(strings.NewReader(text), "t.csv")
	if err != nil || got.X.At(0, 0) != 1.234 || !math.IsNaN(got.X.At(1, 0)) {
		t.Fatalf("%v, error %v", got, err)
	}
	z := must(m.Embed(got.X))
	if b := model.All(m.EmbedCSV(strings.NewReader(text), "t.csv")); len(b) != 1 || !mat.Equal(b[0].Z, z) {
		t.Errorf("EmbedCSV differs: %v", b)
	}
}
