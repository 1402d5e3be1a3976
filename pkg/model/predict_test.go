package model_test

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets"
	"metriclab/pkg/limits"
	"metriclab/pkg/model"
)

// asCSV writes data with a header.
func asCSV(d *model.Data, labels bool) string {
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
			h, err := m.Neighbourhood(train, k)
			if err != nil {
				t.Fatal(err)
			}
			if len(h.Notes()) > 0 {
				t.Errorf("notes %q of the rows of the fit", h.Notes())
			}
			x, err := m.Prepare(train.X)
			if err != nil {
				t.Fatal(err)
			}
			q, err := m.Prepare(test.X)
			if err != nil {
				t.Fatal(err)
			}
			c, err := m.Classifier(train, k)
			if err != nil {
				t.Fatal(err)
			}
			var elected []model.Elected
			for b, err := range c.CSV(context.Background(), strings.NewReader(asCSV(test, true)), "new.csv") {
				if err != nil || b.Found != nil {
					t.Fatal(b, err)
				}
				elected = append(elected, b.Elected...)
			}
			row := 0
			for b, err := range h.CSV(context.Background(), strings.NewReader(asCSV(test, true)), "new.csv") {
				if err != nil {
					t.Fatal(err)
				}
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
	old := limits.Memory()
	t.Cleanup(func() { limits.SetMemory(old) })
	h, err := m.Neighbourhood(train, 3)
	if err != nil {
		t.Fatal(err)
	}
	text := asCSV(test, false)
	run := func() (out []string, blocks int) {
		for b, err := range h.CSV(context.Background(), strings.NewReader(text), "new.csv") {
			if err != nil {
				t.Fatal(err)
			}
			if b.First != len(out) || b.Labels != nil {
				t.Fatalf("first %d, labels %v", b.First, b.Labels)
			}
			for _, f := range b.Found {
				out = append(out, fmt.Sprint(f))
			}
			blocks++
		}
		return out, blocks
	}
	limits.SetMemory(1 << 20)
	whole, _ := run()
	if len(whole) != 900 {
		t.Fatalf("%d rows", len(whole))
	}
	for i, want := range whole {
		if i%97 == 0 {
			one := &model.Data{Name: "one", X: mat.DenseCopyOf(test.X.Slice(i, i+1, 0, 2)), Layout: test.Layout}
			for b, err := range h.CSV(context.Background(), strings.NewReader(asCSV(one, false)), "one.csv") {
				if err != nil || fmt.Sprint(b.Found[0]) != want {
					t.Fatalf("row %d alone: %v, %v, want %s", i, b, err, want)
				}
			}
		}
	}
}

// Sparse rows have the neighbours that the same rows have when dense.
func TestNeighbourhoodSparse(t *testing.T) {
	svm, table := documents(40, 30)
	sparseData, err := model.ReadSVMLight(strings.NewReader(svm), "a.svm", datasets.IndexBaseOne)
	if err != nil {
		t.Fatal(err)
	}
	r := model.Recipe{Learner: "iplr", Raw: true, Params: map[string]string{"k": "3"}}
	m, err := model.Fit(context.Background(), sparseData, r, nil)
	if err != nil {
		t.Fatal(err)
	}
	h, err := m.Neighbourhood(sparseData, 3)
	if err != nil {
		t.Fatal(err)
	}
	dense, err := m.Read(strings.NewReader(table), "a.csv")
	if err != nil {
		t.Fatal(err)
	}
	hd, err := m.Neighbourhood(dense, 3)
	if err != nil {
		t.Fatal(err)
	}
	var got, want []*model.Near
	for b, err := range h.SVMLight(context.Background(), strings.NewReader(svm), "a.svm", datasets.IndexBaseOne) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, b)
	}
	for b, err := range hd.CSV(context.Background(), strings.NewReader(table), "a.csv") {
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, b)
	}
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
	x := d.X
	k0 := sym(products(x, x))
	g, err := model.FitGramLabels(context.Background(), k0, d.Labels, model.GramRecipe{Learner: "kernel-pca"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	h, err := g.Neighbourhood(d.Labels, 1)
	if err != nil {
		t.Fatal(err)
	}
	near, err := h.Objects(context.Background(), k0)
	if err != nil {
		t.Fatal(err)
	}
	c, err := g.Classifier(d.Labels, 1)
	if err != nil {
		t.Fatal(err)
	}
	voted, err := c.Objects(context.Background(), k0)
	if err != nil {
		t.Fatal(err)
	}
	for i, found := range near.Found {
		if e := voted.Elected[i]; found[0].Index != i || e.Class != d.Labels[i] || e.Share != 1 {
			t.Errorf("object %d: %v, %v", i, found, e)
		}
	}
	if _, err := g.Classifier(nil, 1); !errors.Is(err, model.ErrUnlabelled) {
		t.Errorf("without labels: %v", err)
	}
	if _, err := g.Neighbourhood(d.Labels[1:], 1); err == nil {
		t.Error("29 labels of 30 objects pass")
	}
}

func TestNeighbourhoodErrors(t *testing.T) {
	train := blobs(3, 20, 2, 2)
	m := fit(t, train, model.Recipe{Learner: "rca"})
	for _, k := range []int{0, -1, 21} {
		if _, err := m.Neighbourhood(train, k); err == nil || !strings.Contains(err.Error(), "want 1 to 20") {
			t.Errorf("k = %d: %v", k, err)
		}
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
		if err != context.Canceled {
			t.Errorf("cancelled: %v", err)
		}
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
			bare, err := model.Read(strings.NewReader(text), "bare.csv", model.Columns{Unlabelled: true}, false)
			if err != nil || bare.Labels != nil || bare.Layout.Header != header {
				t.Fatalf("header %t: %v, %v", header, bare, err)
			}
			m, err := model.Fit(context.Background(), bare, small(e), nil)
			if small(e).NeedsLabels() {
				if err == nil || !strings.Contains(err.Error(), "bare.csv has no labels") {
					t.Errorf("%s: %v", e.Name, err)
				}
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v", e.Name, err)
			}
			var file strings.Builder
			if err := m.Save(&file); err != nil {
				t.Fatal(err)
			}
			if m, err = model.Load(strings.NewReader(file.String())); err != nil {
				t.Fatalf("%s: %v", e.Name, err)
			}
			again, err := m.Read(strings.NewReader(text), "bare.csv")
			if err != nil {
				t.Fatalf("%s: %v", e.Name, err)
			}
			z, err := m.Embed(again.X)
			if err != nil {
				t.Fatalf("%s: %v", e.Name, err)
			}
			want, err := fit(t, d, small(e)).Embed(d.X)
			if err != nil || !mat.EqualApprox(z, want, 1e-9) {
				t.Errorf("%s: other coordinates than with labels, %v", e.Name, err)
			}
			if _, err := m.Plot(again); err != nil {
				t.Errorf("%s: %v", e.Name, err)
			}
		}
	}
	// Without a header, columns that are dropped are found again by their numbers.
	bare, err := model.Read(strings.NewReader("7,1,2\n8,2,4\n9,4,1\n"), "x.csv", model.Columns{Unlabelled: true, Drop: []string{"1"}, Header: datasets.HeaderNo}, false)
	if err != nil {
		t.Fatal(err)
	}
	m := fit(t, bare, model.Recipe{Learner: "pca"})
	again, err := m.Read(strings.NewReader("7,1,2\n8,2,4\n9,4,1\n"), "x.csv")
	if err != nil || again.Labels != nil || !mat.Equal(again.X, bare.X) {
		t.Errorf("%v, %v", again, err)
	}
}
