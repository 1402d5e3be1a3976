package tables

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/sparse"
)

// looking returns what a column of n rows, beside one without oddities and two classes, makes Look say.
func looking(t *testing.T, n int, column func(i int) float64) string {
	t.Helper()
	x := mat.NewDense(n, 2, nil)
	labels := make([]string, n)
	for i := range n {
		x.SetRow(i, []float64{column(i), float64(i*i%997) + 0.5})
		labels[i] = []string{"a", "b"}[i%2]
	}
	d := Must(NewData(x, labels, []string{"c", "other"}))
	return strings.Join(d.Look().Notes(true), "\n")
}

func TestLook(t *testing.T) {
	among := func(rows int, special, else_ float64) func(i int) float64 { // special in so many of 40 rows
		return func(i int) float64 {
			if i < rows {
				return special
			}
			return else_ + float64(i*7%13)
		}
	}
	const missing = "if that means missing, --missing "
	for _, test := range []struct {
		name   string
		column func(i int) float64
		want   string // "" for nothing
	}{
		{"row numbers", func(i int) float64 { return float64(i) }, `column "c" counts the rows: --drop c leaves it out`},
		{"row numbers from 1, mixed", func(i int) float64 { return float64(i*7%40 + 1) }, "counts the rows"},
		{"one twice", func(i int) float64 { return float64(max(i, 1)) }, ""},
		{"halves", func(i int) float64 { return float64(i) / 2 }, ""},
		{"-999", among(2, -999, 3), `column "c" is -999 at 2 rows, and 3 to 15 at others: ` + missing + "-999 --impute mean"},
		{"-999 once", among(1, -999, 3), ""},
		{"-999 where others are below 0", among(3, -999, -5), missing + "-999"},
		{"-999 among such", among(3, -999, -1000), ""},
		{"9999", among(5, 9999, 3), missing + "9999"},
		{"99.9", among(5, 99.9, 3), missing + "99.9"},
		{"99 after 86 to 98", among(5, 99, 86), ""},
		{"9999 and -999", func(i int) float64 { return []float64{9999, -999, 4, 5}[min(i%8, 2+i%2)] }, missing + "9999"},
		{"-1 among ages", among(3, -1, 20), missing + "-1"},
		{"-1 of most whole numbers", among(30, -1, 4), missing + "-1"},
		{"-1 beside 0 to 10", func(i int) float64 { return []float64{-1, -1, float64(i % 11)}[min(i, 2)] }, ""},
		{"-1, 0 and 1", func(i int) float64 { return float64(i%3 - 1) }, ""},
		{"-1 of most pixels", func(i int) float64 { return max(-1, float64(i-37)/4) }, ""},
		{"-32768", among(2, -32768, 0), missing + "-32768"},
		{"round-off", func(i int) float64 { return []float64{0.3, 0.1 + 0.2 - 1e-17, 0.30000000000000004}[i%3] }, "constant, so without weight in any distance: c"},
	} {
		got := looking(t, 40, test.column)
		if test.want == "" && got != "" || !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
	if got := looking(t, 9, func(i int) float64 { return float64(i) }); got != "" {
		t.Errorf("9 rows: %s", got)
	}
}

// Rows are equal whether they are sparse or not, with 0 for -0; classes of equal rows may differ.
func TestLookRepeated(t *testing.T) {
	rows := [][]float64{{1, 0}, {0, 2}, {1, 0}, {0, 2}, {0, 0}, {1, 0}, {0, 2.5}}
	labels := []string{"a", "a", "a", "b", "b", "b", "b"}
	x := mat.NewDense(len(rows), 2, nil)
	s := make([]sparse.Vector, len(rows))
	for i, row := range rows {
		x.SetRow(i, row)
		for j, v := range row {
			if v != 0 {
				s[i].Index, s[i].Value = append(s[i].Index, j), append(s[i].Value, v)
			}
		}
	}
	x.Set(2, 1, negativeZero())
	m := Must(sparse.NewMatrix(s, 2))
	dense, errDense := NewData(x, labels, nil)
	thin, errThin := NewSparseData(m, labels)
	if errDense != nil || errThin != nil {
		t.Fatal(errDense, errThin)
	}
	for _, d := range []*Data{dense, thin} {
		if l := d.Look(); l.Repeated != 3 || l.Mixed != 2 || l.Columns[1].Greatest != 2.5 || l.Columns[0].Least != 0 {
			t.Errorf("%+v", l)
		}
	}
	if got := strings.Join(thin.Look().Notes(true), ""); !strings.Contains(got, "3 rows equal an earlier one") || !strings.Contains(got, "2 groups of equal rows have different classes") {
		t.Error(got)
	}
	if got := thin.Look().Notes(false); len(got) > 0 {
		t.Errorf("without folds: %q", got)
	}
}

func negativeZero() float64 { zero := 0.0; return -zero }

// The flags that LookCSV gives make a table of the file.
func TestLookCSV(t *testing.T) {
	text := ",a,colour,when,size,note,empty,y\n"
	for i := range 30 {
		text += fmt.Sprintf("%d,%s,%s,day %d,%s,%s,,%s\n", i, []string{"1.5", "n/a", "2.5", "-999.0", "3", "4"}[i%6], []string{"red", "blue"}[i%2], i, []string{"1", "2", "?"}[i*i%3], []string{"3", "4", "many"}[i%3], []string{"u", "v", "u"}[i%3])
	}
	l, err := LookCSV(strings.NewReader(text), "t.csv", Columns{Unlabelled: true})
	if err != nil || l.Failure != nil {
		t.Fatal(err, l.Failure)
	}
	if want := []string{"--impute mean", "--one-hot colour", "--drop when", "--drop note", "--drop empty", "--drop 'column 1'", "--missing '?',NA,n/a,-999"}; l.Label != "y" || !slices.Equal(l.Flags, want) {
		t.Errorf("label %s, flags %q, want %q\n%s", l.Label, l.Flags, want, strings.Join(l.Notes, "\n"))
	}
	for _, want := range []string{`column "column 1" has no name and numbers the rows`, `has the word "n/a"`, `is -999 at 5 rows`, `column "when" is of words, too many`, `the first "many" in line 4`, `column "empty" has no value`} {
		if !strings.Contains(strings.Join(l.Notes, "\n"), want) {
			t.Errorf("no %q in %q", want, l.Notes)
		}
	}
	for name, label := range map[string]string{"a,b\nx,1\ny,2\nx,3\ny,4\n": "a", "a,b,class\n1,u,1\n2,v,1\n3,u,2\n4,v,2\n": "class", "1,2,3\n4,5,6\n7,8,9\n": "", "w\n1\n2\n3\n": ""} {
		if l, err := LookCSV(strings.NewReader(name), "t.csv", Columns{Unlabelled: true}); err != nil || l.Label != label || l.Failure != nil {
			t.Errorf("%q: %+v, %v", name, l, err)
		}
	}
}
