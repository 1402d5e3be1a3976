package model_test

import (
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets"
	"metriclab/pkg/kernels"
	"metriclab/pkg/model"
	"metriclab/pkg/tables"
)

// asCSV writes data with a header.
func asCSV(d *tables.Data, labels bool) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	head := slices.Clone(d.Layout.Features)
	if labels {
		head = append(head, d.Layout.Label)
	}
	_ = w.Write(head)
	n, width := d.Dims()
	for i := range n {
		var row []string
		for j := range width {
			row = append(row, fmt.Sprintf("%g", d.X.At(i, j)))
		}
		if labels {
			row = append(row, d.Labels[i])
		}
		_ = w.Write(row)
	}
	w.Flush()
	return b.String()
}

// Blocks change nothing.
func TestNeighbourhoodBlocks(t *testing.T) {
	train, test := blobs(5, 40, 2, 2), blobs(6, 900, 2, 2)
	m := fit(t, train, model.Recipe{Learner: "rca"})
	h := must(m.Neighbourhood(train, 3))
	text := asCSV(test, false)
	model.Limit(t, 1<<20)
	var whole []string
	for _, b := range model.All(h.CSV(t.Context(), strings.NewReader(text), "new.csv")) {
		if b.First != len(whole) || b.Labels != nil {
			t.Fatalf("first %d, labels %v", b.First, b.Labels)
		}
		for _, f := range b.Found {
			whole = append(whole, fmt.Sprint(f))
		}
	}
	if len(whole) != 900 {
		t.Fatalf("%d rows", len(whole))
	}
	for i, want := range whole {
		if i%97 == 0 {
			one := &tables.Data{Name: "one", X: mat.DenseCopyOf(test.X.Slice(i, i+1, 0, 2)), Layout: test.Layout}
			if b := model.All(h.CSV(t.Context(), strings.NewReader(asCSV(one, false)), "one.csv")); fmt.Sprint(b[0].Found[0]) != want {
				t.Fatalf("row %d alone: %v, want %s", i, b[0].Found[0], want)
			}
		}
	}
}

// Sparse rows have the neighbours that the same rows have when dense.
func TestNeighbourhoodSparse(t *testing.T) {
	svm, table := documents(40, 30)
	sparseData := must(tables.ReadSVMLight(strings.NewReader(svm), "a.svm", datasets.IndexBaseOne))
	r := model.Recipe{Learner: "iplr", Raw: true, Params: map[string]string{"k": "3"}}
	m := fit(t, sparseData, r)
	h := must(m.Neighbourhood(sparseData, 3))
	dense := must(m.Read(strings.NewReader(table), "a.csv"))
	hd := must(m.Neighbourhood(dense, 3))
	got := model.All(h.SVMLight(t.Context(), strings.NewReader(svm), "a.svm", datasets.IndexBaseOne))
	want := model.All(hd.CSV(t.Context(), strings.NewReader(table), "a.csv"))
	for i, found := range got[0].Found {
		for r, f := range found {
			if w := want[0].Found[i][r]; math.Abs(f.SqDist-w.SqDist) > 1e-9*(1+w.SqDist) {
				t.Errorf("row %d, neighbour %d: %v, want %v", i, r, f, w)
			}
		}
	}
}

// The objects of the fit are their own nearest neighbours.
func TestNeighbourhoodGram(t *testing.T) {
	d := blobs(7, 30, 2, 2)
	k0 := kernels.Gram(kernels.Linear{}, d.X)
	g := model.MustFit[*model.Gram](t, model.ByGram(k0, d.Labels), model.Recipe{Learner: "kernel-pca"})
	h := must(g.Neighbourhood(d.Labels, 1))
	near := must(h.Objects(context.Background(), k0))
	c := must(g.Classifier(d.Labels, 1))
	voted := must(c.Objects(context.Background(), k0))
	for i, found := range near.Found {
		if e := voted.Elected[i]; found[0].Index != i || e.Class != d.Labels[i] || e.Share != 1 {
			t.Errorf("object %d: %v, %v", i, found, e)
		}
	}
	model.Refused(t, "without labels", model.ErrorOf(g.Classifier(nil, 1)), model.ErrUnlabelled)
	if _, err := g.Neighbourhood(d.Labels[1:], 1); err == nil {
		t.Error("29 labels of 30 objects pass")
	}
}

// A label of new rows names the class of that name, or else the one class that is the same number.
func TestClassNamed(t *testing.T) {
	d := blobs(7, 12, 3, 2)
	for i := range d.Labels {
		d.Labels[i] = []string{"1", "1.0", "2"}[i%3]
	}
	h := must(fit(t, d, model.Recipe{Learner: model.Euclidean}).Neighbourhood(d, 1))
	for label, want := range map[string]string{"1": "1", "1.0": "1.0", "1.00": "", "2.0": "2", "x": ""} {
		if got := h.Class(label); got != want {
			t.Errorf("%s is class %q, want %q", label, got, want)
		}
	}
}

func TestNeighbourhoodErrors(t *testing.T) {
	train := blobs(3, 20, 2, 2)
	m := fit(t, train, model.Recipe{Learner: "rca"})
	for _, k := range []int{0, -1, 21} {
		model.Refused(t, "k =", model.ErrorOf(m.Neighbourhood(train, k)), "want 1 to 20")
	}
	other, err := m.Neighbourhood(train.Rows([]int{0, 1, 2}), 1)
	if err != nil || len(other.Notes()) != 1 || !strings.Contains(other.Notes()[0], "not those of the fit") {
		t.Errorf("other rows: %v, %v", other.Notes(), err)
	}
	for text, want := range map[string]string{
		"f0,f1\n1,2\n1,x\n":      "new.csv:3",
		"f0,f2\n1,2\n":           "f1",
		"f0,f1\n1e308,-1e308\n":  "overflow",
		"f0,f1\n1,NaN\n":         "new.csv:2",
		"f0,f1\n":                "new.csv",
		"f0,f1,class\n1,2,\n1,,": "new.csv:3",
	} {
		found := false
		for _, err := range other.CSV(context.Background(), strings.NewReader(text), "new.csv") {
			if err != nil {
				found = true
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q: %v, want %q", text, err, want)
				}
			}
		}
		if !found {
			t.Errorf("%q passes", text)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, err := range other.CSV(ctx, strings.NewReader("f0,f1\n1,2\n"), "new.csv") {
		model.Refused(t, "cancelled", err, context.Canceled)
	}
}
