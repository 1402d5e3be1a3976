package tables

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/limits"
)

func TestNewDataErrors(t *testing.T) {
	for _, tt := range []struct {
		change func(x **mat.Dense, labels, features *[]string)
		want   string
	}{
		{func(x **mat.Dense, _, _ *[]string) { *x = nil }, "x has no rows"},
		{func(x **mat.Dense, _, _ *[]string) { *x = new(mat.Dense) }, "x has no rows"},
		{func(x **mat.Dense, _, _ *[]string) { (*x).Set(1, 0, math.Inf(-1)) }, "row 1, column 0: -Inf is not allowed"},
		{func(_ **mat.Dense, l, _ *[]string) { *l = (*l)[:1] }, "1 labels for 2 rows"},
		{func(_ **mat.Dense, l, _ *[]string) { *l = []string{} }, "0 labels for 2 rows"},
		{func(_ **mat.Dense, l, _ *[]string) { (*l)[1] = "NA" }, `row 1: the label is missing ("NA")`},
		{func(_ **mat.Dense, l, _ *[]string) { (*l)[1] = "x " }, `row 1: the label "x " is not allowed`},
		{func(_ **mat.Dense, l, _ *[]string) { (*l)[1] = " x" }, `row 1: the label " x" is not allowed`},
		{func(_ **mat.Dense, l, _ *[]string) { (*l)[1] = "\xff" }, `row 1: the label "\xff" is not UTF-8`},
		{func(_ **mat.Dense, l, _ *[]string) { (*l)[1] = "a\r\nb" }, `row 1: the label "a\r\nb" has the line end \r\n, want \n`},
		{func(_ **mat.Dense, _, f *[]string) { (*f)[1] = "c\r\nd" }, `feature 2: the name "c\r\nd" has the line end \r\n, want \n`},
		{func(_ **mat.Dense, _, f *[]string) { *f = (*f)[:1] }, "1 names for 2 features"},
		{func(_ **mat.Dense, _, f *[]string) { *f = []string{} }, "0 names for 2 features"},
		{func(_ **mat.Dense, _, f *[]string) { (*f)[1] = "a" }, `features 1 and 2 are both called "a"`},
		{func(_ **mat.Dense, _, f *[]string) { (*f)[1] = "" }, `feature 2: the name "" is not allowed`},
		{func(_ **mat.Dense, _, f *[]string) { (*f)[1] = "\tb" }, `feature 2: the name "\tb" is not allowed`},
		{func(_ **mat.Dense, _, f *[]string) { (*f)[1] = "\xff" }, `feature 2: the name "\xff" is not UTF-8`},
		{func(_ **mat.Dense, _, f *[]string) { (*f)[1] = "label" }, `feature 2 and the column of labels are both called "label"`},
	} {
		x, labels, features := mat.NewDense(2, 2, nil), []string{"x", "y"}, []string{"a", "b"}
		tt.change(&x, &labels, &features)
		d, err := NewData(x, labels, features)
		if d != nil || err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("error %v, want %q", err, tt.want)
		}
	}
}

func TestMatrix(t *testing.T) {
	rows := [][]float64{{1, 2}, {3, 4}}
	x, err := Matrix(rows)
	rows[0][0] = 9
	if err != nil || !mat.Equal(x, mat.NewDense(2, 2, []float64{1, 2, 3, 4})) {
		t.Errorf("got %v, error %v", x, err)
	}
	for want, rows := range map[string][][]float64{
		"no numbers":                      {},
		"want at least one row of at lea": {{}, {1}},
		"row 1 has 0 numbers, want 1":     {{1}, {}},
		"row 2 has 3 numbers, want 2":     {{1, 2}, {3, 4}, {5, 6, 7}},
	} {
		if x, err := Matrix(rows); x != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: error %v, want %q", rows, err, want)
		}
	}
	defer limits.SetMemory(limits.Memory())
	limits.SetMemory(31)
	Refused(t, "32 bytes where 31 are allowed", ErrorOf(Matrix(rows)), "a matrix of 2 rows of 2")
}

func TestDataRows(t *testing.T) {
	d := readText(t, strings.NewReader(tableText(5, 6, 2)))
	d.Unused, d.kept = []string{"id"}, []string{"f0"}
	part := d.Rows([]int{4, 2, 4})
	if !slices.Equal(part.Labels, []string{"c1", "c2", "c1"}) || part.X.At(0, 1) != d.X.At(4, 1) || part.X.At(1, 0) != d.X.At(2, 0) || part.X.At(2, 1) != d.X.At(4, 1) {
		t.Errorf("got %+v", part)
	}
	if part.Name != d.Name || fmt.Sprint(part.Layout, part.Unused, part.kept) != fmt.Sprint(d.Layout, d.Unused, d.kept) {
		t.Errorf("got %+v of %+v", part, d)
	}
	part.X.Set(0, 0, 77)
	part.Labels[0], part.Layout.Features[0] = "z", "z"
	if d.X.At(4, 0) == 77 || d.Labels[4] == "z" || d.Layout.Features[0] == "z" {
		t.Error("a part shares memory with the whole")
	}
	d.Labels = nil
	if part := d.Rows([]int{0}); part.Labels != nil {
		t.Errorf("labels %q out of none", part.Labels)
	}
	for _, idx := range [][]int{nil, {6}, {-1}} {
		Panics(t, fmt.Sprint(idx), func() { d.Rows(idx) })
	}
}
