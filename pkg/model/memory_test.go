package model_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets"
	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/model"
	"metriclab/pkg/persist/persisttest"
	"metriclab/pkg/tables"
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
		d := must(tables.NewData(x, labels, tt.names))
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
	bare, err := tables.NewData(mat.NewDense(1, 2, []float64{math.NaN(), 0}), nil, nil)
	if err != nil || bare.Labels != nil || bare.Layout.Label != "3" || bare.Layout.LabelName() != "label" {
		t.Errorf("got %+v, error %v", bare, err)
	}
}

// Of what is not a *mat.Dense the data keep a copy, and a model prepares and embeds any matrix.
func TestAnyMatrix(t *testing.T) {
	x := mat.NewDense(2, 3, []float64{1, 3, 4, 2, 5, 4})
	d, err := tables.NewData(x.T(), []string{"a", "b", "b"}, nil)
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
	if d, err := tables.NewData(nil, nil, nil); d != nil || err == nil || !strings.Contains(err.Error(), "x has no rows") {
		t.Errorf("nil: error %v", err)
	}
}

// Fit and Evaluate refuse every layout whose model could be saved but not loaded,
// or would be another one: no data are lost.
func TestFitRefusesWhatLoadRefuses(t *testing.T) {
	for want, change := range map[string]func(d *tables.Data){
		"width: 0 is not allowed":                  func(d *tables.Data) { d.Layout.Width = 0 },
		"width: 2 is not allowed":                  func(d *tables.Data) { d.Layout.Width = 2 },
		"width: 2147483648 is not allowed":         func(d *tables.Data) { d.Layout.Width = math.MaxInt32 + 1 },
		`features 1 and 2 are both called "f0"`:    func(d *tables.Data) { d.Layout.Features[1] = "f0" },
		`the column of labels are both called "f`:  func(d *tables.Data) { d.Layout.Label = "f1" },
		"3 names for 2 features":                   func(d *tables.Data) { d.Layout.Features = append(d.Layout.Features, "f2") },
		`feature 2: the name "\xff" is not UTF-8`:  func(d *tables.Data) { d.Layout.Features[1] = "\xff" },
		`label: the name "\xff" is not UTF-8`:      func(d *tables.Data) { d.Layout.Label = "\xff" },
		`column class: the label "\xff" is not UT`: func(d *tables.Data) { d.Labels[0] = "\xff" },
	} {
		d := blobs(3, 12, 2, 2)
		change(d)
		model.Refused(t, "Fit", model.ErrorOf(model.Fit(context.Background(), model.ByClasses(d), model.Recipe{Learner: model.Euclidean}, nil)), want)
		model.Refused(t, "Evaluate", model.ErrorOf(model.Evaluate(context.Background(), model.ByClasses(d), model.Recipe{Learner: model.Euclidean}, model.Plan{})), want)
	}
}

func ExampleByClasses() {
	x := must(tables.Matrix([][]float64{{1, 10}, {2, 30}, {1, 20}, {8, 15}, {9, 25}, {8, 20}}))
	d := must(tables.NewData(x, []string{"a", "a", "a", "b", "b", "b"}, []string{"height", "weight"}))
	m := must(model.Fit(context.Background(), model.ByClasses(d), model.Recipe{Learner: "fda"}, nil))
	table := m.(*model.Model)
	names, rows := table.Classes()
	fmt.Println(table.Layout().Features, names, rows)
	// Output: [height weight] [a b] [3 3]
}

// A metric is scored on rows that it was not learned from.
func ExampleByClasses_heldOut() {
	rng := rand.New(rand.NewPCG(1, 1))
	var rows [][]float64
	var labels []string
	for i := range 100 { // all features but the first are noise
		rows = append(rows, []float64{float64(i%2) + 0.4*rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()})
		labels = append(labels, []string{"even", "odd"}[i%2])
	}
	x := must(tables.Matrix(rows))
	d := must(tables.NewData(x, labels, []string{"signal", "noise 1", "noise 2", "noise 3"}))
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
func errorsOf(m *model.Model, train, test *tables.Data) int {
	_, y := datasets.Classes(train.Labels) // both parts have all classes
	_, want := datasets.Classes(test.Labels)
	knn := must(nearest.NewKNN(m.Metric(), must(m.Prepare(train.X)), y, nearest.KNNOptions{}))
	return must(knn.Errors(context.Background(), must(m.Prepare(test.X)), want, []int{1}))[0]
}
