package model_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
	"metriclab/pkg/model"
	"metriclab/pkg/persist/persisttest"
	"metriclab/pkg/sparse"
)

// documents returns n rows of d words in svmlight, of three classes with words of their own, and the same as a table without header, the class behind the words. Row 2 is empty.
func documents(n, d int) (svmlight, csv string) {
	rng := rand.New(rand.NewPCG(14, 1))
	var a, b strings.Builder
	for i := range n {
		fmt.Fprintf(&a, "%d", i%3)
		for j := range d {
			v := 0.0
			if own := j%3 == i%3; i != 2 && rng.Float64() < 0.1 || own && i != 2 && rng.Float64() < 0.25 || j == d-1 && i == 0 {
				v = math.Round(100*(1+rng.Float64())) / 100
				fmt.Fprintf(&a, " %d:%v", j+1, v)
			}
			fmt.Fprintf(&b, "%v,", v)
		}
		a.WriteString("\n")
		fmt.Fprintf(&b, "%d\n", i%3)
	}
	return a.String(), b.String()
}

// Sparse rows give the model, its coordinates and its evaluation of the same rows in a table: as they are with iplr and Raw, made dense otherwise.
func TestSparse(t *testing.T) {
	const n, d = 45, 30
	text, csv := documents(n, d)
	table, err := model.Read(strings.NewReader(csv), "x.csv", model.Columns{Label: fmt.Sprint(d + 1)}, false)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := model.ReadSVMLight(strings.NewReader(text), "x.svm", datasets.IndexBaseOne)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := rows.Dims(); rows.X != nil || a != n || b != d || !mat.Equal(rows.Sparse, table.X) || !slices.Equal(rows.Labels, table.Labels) || fmt.Sprint(rows.Layout) != fmt.Sprint(table.Layout) {
		t.Fatalf("%d×%d, %v, %v", a, b, rows.Layout, rows.Labels)
	}
	few := map[string]string{"cycles": "30", "gamma": "0.1"}
	for _, r := range []model.Recipe{
		{Learner: "iplr", Raw: true, Params: few},
		{Learner: "iplr", Raw: true, Params: map[string]string{"basis": "singular", "k": "4", "cycles": "30"}},
		{Learner: "iplr", Params: few},
		{Learner: "iplr", Raw: true, ImputeMean: true, Params: few},
		{Learner: "pca", Raw: true},
	} {
		want, err := model.Fit(t.Context(), table, r, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := model.Fit(t.Context(), rows, r, nil)
		if err != nil {
			t.Fatal(err)
		}
		kept := r.Learner == "iplr" && r.Raw && !r.ImputeMean
		if rep := got.Report(); (rep.Empty == 1) != kept || (rep.Span != nil) != (r.Learner == "iplr") {
			t.Errorf("%+v: report %+v", r, rep)
		}
		z, err := want.Embed(table.X)
		if err != nil {
			t.Fatal(err)
		}
		for name, embed := range map[string]func() (*mat.Dense, error){
			"sparse": func() (*mat.Dense, error) { return got.Embed(rows.Sparse) },
			"dense":  func() (*mat.Dense, error) { return got.Embed(table.X) },
			"loaded": func() (*mat.Dense, error) {
				m, err := model.Load(bytes.NewReader(persisttest.Saved(got)))
				if err != nil {
					return nil, err
				}
				return m.Embed(rows.Sparse)
			},
			"read": func() (*mat.Dense, error) {
				again, err := got.ReadSVMLight(strings.NewReader(text), "x.svm", datasets.IndexBaseOne)
				if err != nil {
					return nil, err
				}
				return got.Embed(again.Sparse)
			},
			"blocks": func() (*mat.Dense, error) {
				var out *mat.Dense
				for b, err := range got.EmbedSVMLight(strings.NewReader(text), "x.svm", datasets.IndexBaseOne) {
					if err != nil {
						return nil, err
					}
					if out != nil || !slices.Equal(b.Labels, rows.Labels) {
						t.Errorf("another block, or labels %v", b.Labels)
					}
					out = b.Z
				}
				return out, nil
			},
		} {
			got, err := embed()
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if !mat.EqualApprox(got, z, 1e-9) {
				t.Errorf("%+v: %s: coordinates differ", r, name)
			}
		}
		if r.Learner == "iplr" {
			inside, err := got.Within()
			if err != nil {
				t.Fatal(err)
			}
			a, err := inside.Embed(table.X)
			if err != nil {
				t.Fatal(err)
			}
			if _, width := a.Dims(); width != got.Report().Span.Rank+1 {
				t.Errorf("%d numbers of a row, rank %d", width, got.Report().Span.Rank)
			}
			b, err := inside.Embed(rows.Sparse)
			if err != nil || !mat.EqualApprox(a, b, 1e-9) {
				t.Errorf("%+v: %v: coordinates within differ", r, err)
			}
			for b, err := range inside.EmbedSVMLight(strings.NewReader(text), "x.svm", datasets.IndexBaseOne) {
				if err != nil || !mat.EqualApprox(b.Z, a, 1e-9) {
					t.Errorf("%v: blocks within differ", err)
				}
			}
		} else if _, err := got.Within(); err == nil || !strings.Contains(err.Error(), "as that of iplr does") {
			t.Errorf("%s: error %v", r.Learner, err)
		}
		plan := model.Plan{Ks: []int{1, 3}, Folds: 3, Repeats: 2}
		a, err := model.Evaluate(t.Context(), rows, r, plan)
		if err != nil {
			t.Fatal(err)
		}
		b, err := model.Evaluate(t.Context(), table, r, plan)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(a.Learner.Errors, b.Learner.Errors) || !slices.Equal(a.Baseline.Errors, b.Baseline.Errors) || a.Features != d {
			t.Errorf("%+v: errors %v and %v, want %v and %v", r, a.Learner.Errors, a.Baseline.Errors, b.Learner.Errors, b.Baseline.Errors)
		}
		if _, err := got.Plot(rows); err != nil {
			t.Error(err)
		}
	}
	part := rows.Rows([]int{3, 0, 3})
	if a, b := part.Dims(); a != 3 || b != d || part.Labels[1] != "0" || part.Sparse.At(2, 5) != rows.Sparse.At(3, 5) {
		t.Errorf("rows %v", part)
	}
}

// Rows that cannot be read or used are refused with file and line, or what is allowed; what is too large is refused before it is made dense.
func TestSparseErrors(t *testing.T) {
	text, _ := documents(12, 9)
	rows, err := model.ReadSVMLight(strings.NewReader(text), "x.svm", datasets.IndexBaseOne)
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.Fit(t.Context(), rows, model.Recipe{Learner: "iplr", Raw: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	named, err := model.NewData(mat.NewDense(4, 2, []float64{1, 2, 3, 5, 7, 4, 9, 0}), []string{"a", "b", "a", "b"}, []string{"one", "two"})
	if err != nil {
		t.Fatal(err)
	}
	withNames, err := model.Fit(t.Context(), named, model.Recipe{Learner: "pca"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	read := func(text string) error {
		_, err := model.ReadSVMLight(strings.NewReader(text), "y.svm", datasets.IndexBaseOne)
		return err
	}
	for want, err := range map[string]error{
		`y.svm:2: entry: is "3", want index:value`:      read("1 2:1\n1 3\n"),
		`y.svm:1: target: is "a", want a finite number`: read("a 2:1\n"),
		`y.svm:2: value of feature 1: is "NaN"`:         read("1 2:1\n1 1:NaN\n"),
		"groups (qid)":                                  read("1 qid:3 2:1\n"),
		"the numbers of 2147483647 columns would take":  read("1 2147483647:1\n"),
		`want a whole number from 1 to 9`:               second(m.ReadSVMLight(strings.NewReader("1 10:1\n"), "y.svm", datasets.IndexBaseOne)),
		`features by their names, such as one`:          second(withNames.ReadSVMLight(strings.NewReader("1 1:1\n"), "y.svm", datasets.IndexBaseOne)),
		"want at least two classes":                     second(model.Fit(t.Context(), rows.Rows([]int{0, 3, 6}), model.Recipe{Learner: "iplr", Raw: true}, nil)),
		"model: 1 labels for 12 rows":                   second(model.NewSparseData(rows.Sparse, []string{"a"})),
		`row 1: the label is missing ("?")`:             second(model.NewSparseData(rows.Rows([]int{0, 1}).Sparse, []string{"a", "?"})),
		"x has no rows":                                 second(model.NewSparseData(new(sparse.Matrix), nil)),
		"k: 12 is not allowed, want 1 to 7":             second(model.Evaluate(t.Context(), rows, model.Recipe{Learner: "iplr", Raw: true}, model.Plan{Ks: []int{12, 1}, Folds: 3})),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	wide, err := model.ReadSVMLight(strings.NewReader("1 1:1\n2 300000:1 300001:2\n1 2:1\n2 3:2\n"), "w.svm", datasets.IndexBaseOne)
	if err != nil {
		t.Fatal(err)
	}
	limits.SetMemory(8 << 20)
	t.Cleanup(func() { limits.SetMemory(0) })
	for learner, want := range map[string]string{"itml": "takes no sparse rows; iplr does", "iplr": "features as they are stay sparse"} {
		_, err := model.Fit(t.Context(), wide, model.Recipe{Learner: learner, Raw: learner == "itml"}, nil)
		if !errors.As(err, new(*limits.MemoryError)) || !strings.Contains(err.Error(), "w.svm: made dense for "+learner) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v", learner, err)
		}
	}
	limits.SetMemory(64 << 20)
	fitted, err := model.Fit(t.Context(), wide, model.Recipe{Learner: "iplr", Raw: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if low, ok := fitted.Metric().(*metric.LowRank); !ok || low.Dim() != 300001 {
		t.Errorf("metric %T", fitted.Metric())
	}
	limits.SetMemory(8 << 20)
	if _, err := fitted.Embed(wide.Sparse); !errors.As(err, new(*limits.MemoryError)) {
		t.Errorf("embedded: error %v", err)
	}
	for _, err := range fitted.EmbedSVMLight(strings.NewReader(text), "x.svm", datasets.IndexBaseOne) {
		if !errors.As(err, new(*limits.MemoryError)) {
			t.Errorf("embedded: error %v", err)
		}
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := model.Fit(done, rows, model.Recipe{Learner: "iplr", Raw: true}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: error %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

func ExampleReadSVMLight() {
	const rows = `# class word:count ...
1 1:2 2:1 5:1
1 1:1
1 2:2 5:3
2 3:1 5:2
2 3:1 4:2
2 4:2
`
	d, err := model.ReadSVMLight(strings.NewReader(rows), "words.svm", datasets.IndexBaseOne)
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := model.Fit(context.Background(), d, model.Recipe{Learner: "iplr", Raw: true}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	names, counts := m.Classes()
	fmt.Println(names, counts, m.Report().Span.Rank, "vectors")
	// Output:
	// [1 2] [3 3] 2 vectors
}
