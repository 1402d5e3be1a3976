package tables

import (
	"io"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
)

func TestReadGram(t *testing.T) {
	want := mat.NewSymDense(2, []float64{2, 1, 1, 3})
	var b strings.Builder
	Must(0, metric.WriteNPY(&b, want))
	array := b.String()
	for name, text := range map[string]string{"k.csv": "2,1\n\n1 , 3\r\n", "K.NPY": array, "k": "2,1\n1,3"} {
		if got, err := ReadGram(strings.NewReader(text), name); err != nil || !mat.Equal(got, want) {
			t.Errorf("%s: %v, error %v", name, got, err)
		}
	}
	if got, err := ReadGram(strings.NewReader("4\n"), "k.csv"); err != nil || got.At(0, 0) != 4 {
		t.Errorf("one object: %v, error %v", got, err)
	}
	if got, err := ReadCross(strings.NewReader("1,2\n3,4\n5,6\n"), "c.csv", 2); err != nil || !mat.Equal(got, mat.NewDense(3, 2, []float64{1, 2, 3, 4, 5, 6})) {
		t.Errorf("%v, error %v", got, err)
	}
	for text, want := range map[string]string{
		"":                       "k.csv: the file is empty",
		"a,b\n1,2\n":             `k.csv:1: column 1: "a" is not a number`,
		"2,1\n1,NaN\n":           "k.csv:2: column 2: NaN is not allowed",
		"2,1\n1,\n":              "k.csv:2: column 2: the cell is missing",
		"2,1\n1,1e999\n":         "k.csv:2: column 2: ",
		"2,1\n1,3,4\n":           "k.csv:2: 3 cells, want 2",
		"2,1,0\n\n1,3,0\n":       "k.csv:3: 2 rows of 3 numbers, want a square matrix",
		"2,1\n1,3\n\n0,0\n0,0\n": "k.csv:4: 4 rows of 2 numbers, want a square matrix",
		"2,1\n\n1.5,3\n":         "k.csv:3: row 2, column 1 is 1.5, but row 1, column 2 is 1: the matrix is not symmetric, by up to 0.5",
		"1,2\n2,1\n":             "smallest eigenvalue -1, largest 3",
	} {
		Refused(t, text, ErrorOf(ReadGram(strings.NewReader(text), "k.csv")), want)
	}
	Refused(t, "", ErrorOf(ReadCross(strings.NewReader("\n1,2\n"), "c.csv", 3)), "c.csv:2: a row of 2 numbers, want 3")
	Refused(t, "", ErrorOf(ReadGram(strings.NewReader("12"), "k.npy")), "model: k.npy: npy: ")
	Limit(t, 1<<10)
	Refused(t, "", ErrorOf(ReadGram(io.MultiReader(strings.NewReader(strings.Repeat("1,2,3\n", 1000))), "k.csv")), "limit")
}

func TestReadLabels(t *testing.T) {
	want := []string{"a", "b b", "a"}
	for _, text := range []string{
		"a\nb b\na\n", "label\na\nb b\na\n", "0,a\n1,b b\n2,a\n", "id,label\r\n1,a\r\n\r\n5,b b\r\n9,a", "name,class\nx,a\nw,\"b b\"\nv,a\n", "2,a\n1,b b\nx,a\n",
	} {
		if got, err := ReadLabels(strings.NewReader(text), "l.csv", 3); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, error %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"":                           "l.csv: the file is empty",
		"a\nb\n":                     "l.csv: 2 labels, want 3, one per object of the Gram matrix",
		"a\nb\nc\nd\n\ne\n":          "l.csv:6: more rows than the 3 objects of the Gram matrix and a header",
		"a,b,c\n":                    "l.csv: 3 cells in a row, want 1, the label, or 2, an id and the label",
		"class\na\na\na\n":           `l.csv: all labels are "a", want at least two classes`,
		"a\nb\n1,c\n":                "l.csv:3: 2 cells, want 1",
		"1,a\n\n2,?\n3,c\n":          `l.csv:3: the label is missing ("?")`,
		"id,l\n1,a\n2,\n3,c\n":       `l.csv:3: the label is missing ("")`,
		"x,a\ny,b\nx,c\n":            `l.csv:3: the id "x" is that of line 1, too`,
		"id,l\n1,a\n3,b\n2,c\n":      "l.csv:4: the id 2 comes after 3: want rows in the order of the Gram matrix, with ids that ascend",
		"a\n\"b\nc\n":                "l.csv:3: extraneous or missing",
		"a\nb\xff\nc\n":              "l.csv:2",
		strings.Repeat("a\n", 1<<16): "l.csv:5: more rows than",
	} {
		Refused(t, text[:min(len(text), 40)], ErrorOf(ReadLabels(strings.NewReader(text), "l.csv", 3)), want)
	}
}

func FuzzReadLabels(f *testing.F) {
	for _, text := range []string{"a\nb\n", "id,label\n1,a\n2,b\n", "\"a\n", "1,a\n1,b\n", "\xef\xbb\xbfa\r\n\r\nb"} {
		f.Add(text, 2)
	}
	f.Fuzz(func(t *testing.T, text string, n int) {
		labels, err := ReadLabels(strings.NewReader(text), "l.csv", n)
		if err == nil && (len(labels) != n || slices.Contains(labels, "")) {
			t.Errorf("%q", labels)
		}
	})
}
