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
	"metriclab/pkg/tables"
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
	table := must(tables.Read(strings.NewReader(csv), "x.csv", tables.Columns{Label: fmt.Sprint(d + 1)}, false))
	rows := must(tables.ReadSVMLight(strings.NewReader(text), "x.svm", datasets.IndexBaseOne))
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
		want := fit(t, table, r)
		got := fit(t, rows, r)
		kept := r.Learner == "iplr" && r.Raw && !r.ImputeMean
		if rep := got.Report(); (rep.Empty == 1) != kept || (rep.Span != nil) != (r.Learner == "iplr") {
			t.Errorf("%+v: report %+v", r, rep)
		}
		z := must(want.Embed(table.X))
		again := must(got.ReadSVMLight(strings.NewReader(text), "x.svm", datasets.IndexBaseOne))
		blocks := model.All(got.EmbedSVMLight(strings.NewReader(text), "x.svm", datasets.IndexBaseOne))
		if len(blocks) != 1 || !slices.Equal(blocks[0].Labels, rows.Labels) {
			t.Errorf("%d blocks, or other labels than %v", len(blocks), rows.Labels)
		}
		for name, got := range map[string]*mat.Dense{
			"sparse": must(got.Embed(rows.Sparse)),
			"dense":  must(got.Embed(table.X)),
			"loaded": must(must(model.Load(bytes.NewReader(persisttest.Saved(got)))).Embed(rows.Sparse)),
			"read":   must(got.Embed(again.Sparse)),
			"blocks": blocks[0].Z,
		} {
			if !mat.EqualApprox(got, z, 1e-9) {
				t.Errorf("%+v: %s: coordinates differ", r, name)
			}
		}
		if r.Learner == "iplr" {
			inside := must(got.Within())
			a := must(inside.Embed(table.X))
			if _, width := a.Dims(); width != got.Report().Span.Rank+1 {
				t.Errorf("%d numbers of a row, rank %d", width, got.Report().Span.Rank)
			}
			blocks := model.All(inside.EmbedSVMLight(strings.NewReader(text), "x.svm", datasets.IndexBaseOne))
			if b := must(inside.Embed(rows.Sparse)); !mat.EqualApprox(a, b, 1e-9) || !mat.EqualApprox(blocks[0].Z, a, 1e-9) {
				t.Errorf("%+v: coordinates within differ", r)
			}
		} else {
			model.Refused(t, r.Learner, model.ErrorOf(got.Within()), "as that of iplr does")
		}
		plan := model.Plan{Ks: []int{1, 3}, Folds: 3, Repeats: 2}
		e := evaluate(t, rows, r, plan)
		learner, baseline := scores(e)
		if a, b := scores(evaluate(t, table, r, plan)); !slices.Equal(learner.Values, a.Values) || !slices.Equal(baseline.Values, b.Values) || e.Features != d {
			t.Errorf("%+v: errors %v and %v, want %v and %v", r, learner.Values, baseline.Values, a.Values, b.Values)
		}
		must(got.Plot(rows))
	}
	part := rows.Rows([]int{3, 0, 3})
	if a, b := part.Dims(); a != 3 || b != d || part.Labels[1] != "0" || part.Sparse.At(2, 5) != rows.Sparse.At(3, 5) {
		t.Errorf("rows %v", part)
	}
}

// Rows that cannot be read or used are refused with file and line, or what is allowed; what is too large is refused before it is made dense.
func TestSparseErrors(t *testing.T) {
	text, _ := documents(12, 9)
	rows := must(tables.ReadSVMLight(strings.NewReader(text), "x.svm", datasets.IndexBaseOne))
	m := fit(t, rows, model.Recipe{Learner: "iplr", Raw: true})
	named := must(tables.NewData(mat.NewDense(4, 2, []float64{1, 2, 3, 5, 7, 4, 9, 0}), []string{"a", "b", "a", "b"}, []string{"one", "two"}))
	withNames := fit(t, named, model.Recipe{Learner: "pca"})
	read := func(text string) error {
		_, err := tables.ReadSVMLight(strings.NewReader(text), "y.svm", datasets.IndexBaseOne)
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
		"want at least two classes":                     second(model.Fit(t.Context(), model.ByClasses(rows.Rows([]int{0, 3, 6})), model.Recipe{Learner: "iplr", Raw: true}, nil)),
		"model: 1 labels for 12 rows":                   second(tables.NewSparseData(rows.Sparse, []string{"a"})),
		`row 1: the label is missing ("?")`:             second(tables.NewSparseData(rows.Rows([]int{0, 1}).Sparse, []string{"a", "?"})),
		"x has no rows":                                 second(tables.NewSparseData(new(sparse.Matrix), nil)),
		"k: 12 is not allowed, want 1 to 7":             second(model.Evaluate(t.Context(), model.ByClasses(rows), model.Recipe{Learner: "iplr", Raw: true}, model.Plan{Ks: []int{12, 1}, Folds: 3})),
	} {
		model.Refused(t, "", err, want)
	}
	wide := must(tables.ReadSVMLight(strings.NewReader("1 1:1\n2 300000:1 300001:2\n1 2:1\n2 3:2\n"), "w.svm", datasets.IndexBaseOne))
	model.Limit(t, 8<<20)
	for learner, want := range map[string]string{"itml": "takes no sparse rows; iplr does", "iplr": "features as they are stay sparse"} {
		_, err := model.Fit(t.Context(), model.ByClasses(wide), model.Recipe{Learner: learner, Raw: learner == "itml"}, nil)
		if !errors.As(err, new(*limits.MemoryError)) || !strings.Contains(err.Error(), "w.svm: made dense for "+learner) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v", learner, err)
		}
	}
	limits.SetMemory(64 << 20)
	fitted := fit(t, wide, model.Recipe{Learner: "iplr", Raw: true})
	if low, ok := fitted.Metric().(*metric.LowRank); !ok || low.Dim() != 300001 {
		t.Errorf("metric %T", fitted.Metric())
	}
	limits.SetMemory(8 << 20)
	model.Refused(t, "embedded", model.ErrorOf(fitted.Embed(wide.Sparse)), "the limit is")
	for _, err := range fitted.EmbedSVMLight(strings.NewReader(text), "x.svm", datasets.IndexBaseOne) {
		model.Refused(t, "embedded", err, "the limit is")
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	model.Refused(t, "cancelled", model.ErrorOf(model.Fit(done, model.ByClasses(rows), model.Recipe{Learner: "iplr", Raw: true}, nil)), context.Canceled)
}

func second[T any](_ T, err error) error { return err }

func ExampleByClasses_sparse() {
	const rows = `# class word:count ...
1 1:2 2:1 5:1
1 1:1
1 2:2 5:3
2 3:1 5:2
2 3:1 4:2
2 4:2
`
	d := must(tables.ReadSVMLight(strings.NewReader(rows), "words.svm", datasets.IndexBaseOne))
	m := must(model.Fit(context.Background(), model.ByClasses(d), model.Recipe{Learner: "iplr", Raw: true}, nil))
	names, counts := m.(*model.Model).Classes()
	fmt.Println(names, counts, m.Report().Span.Rank, "vectors")
	// Output:
	// [1 2] [3 3] 2 vectors
}
