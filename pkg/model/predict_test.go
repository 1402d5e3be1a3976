package model_test

import (
	"bytes"
	"cmp"
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
	"metriclab/pkg/persist/persisttest"
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

// slowNearest sorts all training rows by their distance.
func slowNearest(m *model.Model, x *mat.Dense, q []float64, k int) (index []int, dist []float64) {
	n, _ := x.Dims()
	all := make([]float64, n)
	for i := range n {
		index = append(index, i)
		all[i] = math.Sqrt(m.Metric().SqDist(q, x.RawRowView(i)))
	}
	slices.SortStableFunc(index, func(a, b int) int { return cmp.Compare(all[a], all[b]) })
	index = index[:k]
	for _, i := range index {
		dist = append(dist, all[i])
	}
	return index, dist
}

// Every learner's model finds the neighbours and elects the class that a loop over all training rows gives.
func TestNeighbourhood(t *testing.T) {
	const k = 4
	train, test := blobs(3, 60, 3, 3), blobs(4, 20, 3, 3)
	for _, e := range model.Learners() {
		t.Run(e.Name, func(t *testing.T) {
			m := fit(t, train, small(e))
			h := must(m.Neighbourhood(train, k))
			if len(h.Notes()) > 0 {
				t.Errorf("notes %q of the rows of the fit", h.Notes())
			}
			x := must(m.Prepare(train.X))
			q := must(m.Prepare(test.X))
			c := must(m.Classifier(train, k))
			var elected []model.Elected
			for _, b := range model.All(c.CSV(t.Context(), strings.NewReader(asCSV(test, true)), "new.csv")) {
				if b.Found != nil {
					t.Fatal(b)
				}
				elected = append(elected, b.Elected...)
			}
			row := 0
			for _, b := range model.All(h.CSV(t.Context(), strings.NewReader(asCSV(test, true)), "new.csv")) {
				for i, found := range b.Found {
					index, dist := slowNearest(m, x, q.RawRowView(row), k)
					votes := map[string]int{}
					for r, f := range found {
						// Where distances nearly tie, the rows may change places.
						if tol := 1e-9 * (1 + dist[r]); math.Abs(f.Dist()-dist[r]) > tol || f.Index != index[r] && math.Abs(math.Sqrt(m.Metric().SqDist(q.RawRowView(row), x.RawRowView(f.Index)))-dist[r]) > tol {
							t.Fatalf("row %d, neighbour %d: %d at %v, want %d at %v", row, r, f.Index, f.Dist(), index[r], dist[r])
						}
						votes[train.Labels[f.Index]]++
					}
					most := 0
					for _, v := range votes {
						most = max(most, v)
					}
					var want string
					for _, f := range found {
						if votes[train.Labels[f.Index]] == most {
							want = train.Labels[f.Index]
							break
						}
					}
					if got := elected[row]; got.Class != want || got.Share != float64(most)/k || math.Abs(got.Distance-found[0].Dist()) > 1e-9*(1+dist[0]) {
						t.Fatalf("row %d: %v, want %s with %v at %v", row, got, want, float64(most)/k, found[0].Dist())
					}
					if b.Labels[i] != test.Labels[row] {
						t.Fatalf("row %d: label %s", row, b.Labels[i])
					}
					row++
				}
			}
			if row != 20 {
				t.Errorf("%d rows, want 20", row)
			}
		})
	}
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

// A table without classes is fitted by learners of the rows alone, to the same coordinates, and by no other.
func TestUnlabelled(t *testing.T) {
	d := blobs(8, 30, 2, 3)
	for _, header := range []bool{true, false} {
		for _, e := range model.Learners() {
			text := asCSV(d, false)
			if !header {
				_, text, _ = strings.Cut(text, "\n")
			}
			bare, err := tables.Read(strings.NewReader(text), "bare.csv", tables.Columns{Unlabelled: true}, false)
			if err != nil || bare.Labels != nil || bare.Layout.Header != header {
				t.Fatalf("header %t: %v, %v", header, bare, err)
			}
			if small(e).NeedsLabels() {
				model.Refused(t, e.Name, model.ErrorOf(model.Fit(t.Context(), model.ByClasses(bare), small(e), nil)), "bare.csv has no labels")
				continue
			}
			m := must(model.Load(bytes.NewReader(persisttest.Saved(fit(t, bare, small(e))))))
			again := must(m.Read(strings.NewReader(text), "bare.csv"))
			z := must(m.Embed(again.X))
			if !mat.EqualApprox(z, must(fit(t, d, small(e)).Embed(d.X)), 1e-9) {
				t.Errorf("%s: other coordinates than with labels", e.Name)
			}
			must(m.Plot(again))
		}
	}
	// Without a header, columns that are dropped are found again by their numbers.
	bare := must(tables.Read(strings.NewReader("7,1,2\n8,2,4\n9,4,1\n"), "x.csv", tables.Columns{Unlabelled: true, Drop: []string{"1"}, Header: datasets.HeaderNo}, false))
	m := fit(t, bare, model.Recipe{Learner: "pca"})
	for _, text := range []string{"7,1,2\n8,2,4\n9,4,1\n", "1,2\n2,4\n4,1\n"} { // or the features alone
		if again := must(m.Read(strings.NewReader(text), "x.csv")); again.Labels != nil || !mat.Equal(again.X, bare.X) {
			t.Errorf("%q: %v", text, again)
		}
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
