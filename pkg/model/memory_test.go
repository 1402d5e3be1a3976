package model_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets"
	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/model"
	"metriclab/pkg/persist/persisttest"
)

// What is fitted on data in memory is saved and loaded, and reads files as the
// documentation says: by name, or by number.
func TestNewData(t *testing.T) {
	labels, features := []string{"x", "y", "y"}, []string{"a", "b"}
	for _, tt := range []struct {
		names []string
		files []string
	}{
		{features, []string{"b,a\n8,7\n", "label,z,b,a\n,word,8,7\n"}},
		{nil, []string{"7,8\n", "7,8,x\n"}},
	} {
		x := mat.NewDense(3, 2, []float64{1, 2, 3, 5, 4, 4})
		d := must(model.NewData(x, labels, tt.names))
		m, err := model.Load(bytes.NewReader(persisttest.Saved(fit(t, d, model.Recipe{Learner: model.Euclidean}))))
		if err != nil {
			t.Fatalf("names %q: %v", tt.names, err)
		}
		for _, file := range tt.files {
			if got, err := m.Read(strings.NewReader(file), "x.csv"); err != nil || !mat.Equal(got.X, mat.NewDense(1, 2, []float64{7, 8})) {
				t.Errorf("names %q, file %q: got %+v, error %v", tt.names, file, got, err)
			}
		}
		d.Labels[0], d.Layout.Features[0] = "changed", "changed"
		if labels[0] != "x" || features[0] != "a" || d.X != x {
			t.Errorf("names %q: the caller's are %q, %q", tt.names, labels, features)
		}
	}
	bare, err := model.NewData(mat.NewDense(1, 2, []float64{math.NaN(), 0}), nil, nil)
	if err != nil || bare.Labels != nil || bare.Layout.Label != "3" || bare.Layout.LabelName() != "label" {
		t.Errorf("got %+v, error %v", bare, err)
	}
}

// Of what is not a *mat.Dense the data keep a copy, and a model prepares and embeds any matrix.
func TestAnyMatrix(t *testing.T) {
	x := mat.NewDense(2, 3, []float64{1, 3, 4, 2, 5, 4})
	d, err := model.NewData(x.T(), []string{"a", "b", "b"}, nil)
	if err != nil || !mat.Equal(d.X, x.T()) {
		t.Fatalf("got %+v, error %v", d, err)
	}
	m := fit(t, d, model.Recipe{Learner: model.Euclidean})
	for name, f := range map[string]func(mat.Matrix) (*mat.Dense, error){"Prepare": m.Prepare, "Embed": m.Embed} {
		got, err := f(x.T())
		if want, errWant := f(mat.DenseCopyOf(x.T())); err != nil || errWant != nil || !mat.Equal(got, want) {
			t.Errorf("%s: got %v, want %v, errors %v, %v", name, got, want, err, errWant)
		}
	}
	x.Zero()
	if d.X.At(0, 0) != 1 {
		t.Error("the data are a view")
	}
	if d, err := model.NewData(nil, nil, nil); d != nil || err == nil || !strings.Contains(err.Error(), "x has no rows") {
		t.Errorf("nil: error %v", err)
	}
}

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
		d, err := model.NewData(x, labels, features)
		if d != nil || err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("error %v, want %q", err, tt.want)
		}
	}
}

// Fit and Evaluate refuse every layout whose model could be saved but not loaded,
// or would be another one: no data are lost.
func TestFitRefusesWhatLoadRefuses(t *testing.T) {
	for want, change := range map[string]func(d *model.Data){
		"width: 0 is not allowed":                  func(d *model.Data) { d.Layout.Width = 0 },
		"width: 2 is not allowed":                  func(d *model.Data) { d.Layout.Width = 2 },
		"width: 2147483648 is not allowed":         func(d *model.Data) { d.Layout.Width = math.MaxInt32 + 1 },
		`features 1 and 2 are both called "f0"`:    func(d *model.Data) { d.Layout.Features[1] = "f0" },
		`the column of labels are both called "f`:  func(d *model.Data) { d.Layout.Label = "f1" },
		"3 names for 2 features":                   func(d *model.Data) { d.Layout.Features = append(d.Layout.Features, "f2") },
		`feature 2: the name "\xff" is not UTF-8`:  func(d *model.Data) { d.Layout.Features[1] = "\xff" },
		`label: the name "\xff" is not UTF-8`:      func(d *model.Data) { d.Layout.Label = "\xff" },
		`column class: the label "\xff" is not UT`: func(d *model.Data) { d.Labels[0] = "\xff" },
	} {
		d := blobs(3, 12, 2, 2)
		change(d)
		model.Refused(t, "Fit", model.ErrorOf(model.Fit(context.Background(), model.ByClasses(d), model.Recipe{Learner: model.Euclidean}, nil)), want)
		model.Refused(t, "Evaluate", model.ErrorOf(model.Evaluate(context.Background(), model.ByClasses(d), model.Recipe{Learner: model.Euclidean}, model.Plan{})), want)
	}
}

func TestMatrix(t *testing.T) {
	rows := [][]float64{{1, 2}, {3, 4}}
	x, err := model.Matrix(rows)
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
		if x, err := model.Matrix(rows); x != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: error %v, want %q", rows, err, want)
		}
	}
	model.Limit(t, 31)
	model.Refused(t, "32 bytes where 31 are allowed", model.ErrorOf(model.Matrix(rows)), "a matrix of 2 rows of 2")
}

func TestDataRows(t *testing.T) {
	d := blobs(5, 6, 2, 2)
	d.Unused = []string{"id"}
	part := d.Rows([]int{4, 1, 4})
	if !slices.Equal(part.Labels, []string{"a", "b", "a"}) || part.X.At(0, 1) != d.X.At(4, 1) || part.X.At(1, 0) != d.X.At(1, 0) || part.X.At(2, 1) != d.X.At(4, 1) {
		t.Errorf("got %+v", part)
	}
	if part.Name != d.Name || fmt.Sprint(part.Layout, part.Unused) != fmt.Sprint(d.Layout, d.Unused) {
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
		model.Panics(t, fmt.Sprint(idx), nil, func() { d.Rows(idx) })
	}
}

func ExampleNewData() {
	x := must(model.Matrix([][]float64{{1, 10}, {2, 30}, {1, 20}, {8, 15}, {9, 25}, {8, 20}}))
	d := must(model.NewData(x, []string{"a", "a", "a", "b", "b", "b"}, []string{"height", "weight"}))
	m := must(model.Fit(context.Background(), model.ByClasses(d), model.Recipe{Learner: "fda"}, nil))
	table := m.(*model.Model)
	names, rows := table.Classes()
	fmt.Println(table.Layout().Features, names, rows)
	// Output: [height weight] [a b] [3 3]
}

// A metric is judged on rows that it was not learned from.
func ExampleData_Rows() {
	rng := rand.New(rand.NewPCG(1, 1))
	var rows [][]float64
	var labels []string
	for i := range 100 { // all features but the first are noise
		rows = append(rows, []float64{float64(i%2) + 0.4*rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()})
		labels = append(labels, []string{"even", "odd"}[i%2])
	}
	x := must(model.Matrix(rows))
	d := must(model.NewData(x, labels, []string{"signal", "noise 1", "noise 2", "noise 3"}))
	_, y := datasets.Classes(d.Labels)
	train, test, err := sample.StratifiedSplit(rng, y, 0.5)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, learner := range []string{model.Euclidean, "fda"} {
		m := must(model.Fit(context.Background(), model.ByClasses(d.Rows(train)), model.Recipe{Learner: learner}, nil))
		wrong := errorsOf(m.(*model.Model), d.Rows(train), d.Rows(test))
		fmt.Printf("%s: %d of %d wrong\n", learner, wrong, len(test))
	}
	// Output:
	// euclidean: 14 of 50 wrong
	// fda: 8 of 50 wrong
}

// errorsOf counts the rows of test whose nearest row of train is of another class.
func errorsOf(m *model.Model, train, test *model.Data) int {
	_, y := datasets.Classes(train.Labels) // both parts have all classes
	_, want := datasets.Classes(test.Labels)
	knn := must(nearest.NewKNN(m.Metric(), must(m.Prepare(train.X)), y, nearest.KNNOptions{}))
	return must(knn.Errors(context.Background(), must(m.Prepare(test.X)), want, []int{1}))[0]
}
