package model_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
	"metriclab/pkg/model"
	"metriclab/pkg/persist/persisttest"
)

// Four objects of two classes, known by their similarities, and a fifth one.
func ExampleFitGramLabels() {
	k0 := mat.NewSymDense(4, []float64{
		1, 0.8, 0.1, 0.2,
		0.8, 1, 0.2, 0.1,
		0.1, 0.2, 1, 0.7,
		0.2, 0.1, 0.7, 1,
	})
	g, err := model.FitGramLabels(context.Background(), k0, []string{"a", "a", "b", "b"}, model.GramRecipe{Learner: "kernel-fda"}, nil)
	if err != nil {
		panic(err)
	}
	z, err := g.Embed(mat.NewDense(3, 4, []float64{1, 0.8, 0.1, 0.2, 0.2, 0.1, 0.7, 1, 0.3, 0.2, 0.9, 0.8}))
	if err != nil {
		panic(err)
	}
	fmt.Println("nearer to the last than to the first:", math.Abs(z.At(2, 0)-z.At(1, 0)) < math.Abs(z.At(2, 0)-z.At(0, 0)))
	// Output: nearer to the last than to the first: true
}

// labelled are rows of three classes, n×d, and their labels.
func labelled(seed uint64, n, d int) (*mat.Dense, []string) {
	rng := rand.New(rand.NewPCG(seed, 77))
	x, labels := cloud(rng, n, d), make([]string, n)
	for i := range n {
		labels[i] = string(rune('a' + i%3))
		x.Set(i, 0, x.At(i, 0)+float64(i%3))
	}
	return x, labels
}

// recipeOf is a recipe with which each learner does something on few objects.
func recipeOf(e catalog.Entry) model.GramRecipe {
	r := model.GramRecipe{Learner: e.Name, Params: map[string]string{}}
	if model.Draws(e.Feedback) {
		r.Pairs, r.Seed = 20, 3
	}
	if slices.ContainsFunc(e.Params, func(p catalog.Param) bool { return p.Name == "cycles" }) {
		r.Params["cycles"] = "20"
	}
	return r
}

// Every learner: the Gram matrix of rows under a kernel and labels give what the rows give under that kernel: distances of rows that neither has seen,
// and coordinates where there are some.
func TestGramLabelsAreThoseOfTables(t *testing.T) {
	const n, s, tol = 18, 5, 1e-6 // iterations carry round-off along
	x, labels := labelled(1, n, 4)
	fresh, _ := labelled(2, s, 4)
	all := mat.NewDense(n+s, 4, nil)
	all.Stack(x, fresh)
	d, err := model.NewData(x, labels, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(model.GramLabelLearners()) < 6 {
		t.Fatalf("%d learners", len(model.GramLabelLearners()))
	}
	squares, err := kernels.NewPolynomial(2, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range model.GramLabelLearners() {
		for name, k := range map[string]kernels.Kernel{kernels.LinearName: kernels.Linear{}, kernels.PolynomialName: squares} {
			r := recipeOf(e)
			k0, cross := kernels.Gram(k, x), kernels.GramRect(k, all, x)
			g, err := model.FitGramLabels(t.Context(), k0, labels, r, nil)
			if err != nil {
				t.Errorf("%s: %v", e.Name, err)
				continue
			}
			table := model.Recipe{Learner: e.Name, Params: map[string]string{"kernel": name}, Pairs: r.Pairs, Seed: r.Seed, Raw: true}
			for p, v := range r.Params {
				table.Params[p] = v
			}
			want := fit(t, d, table)
			if g.Report().Status != want.Report().Status || g.LearnerVersion() != want.LearnerVersion() || g.Objects() != n {
				t.Errorf("%s: %+v, want %+v", e.Name, g.Report(), want.Report())
			}
			classes, counts := g.Classes()
			if !slices.Equal(classes, []string{"a", "b", "c"}) || !slices.Equal(counts, []int{6, 6, 6}) {
				t.Errorf("%s: classes %v, %v", e.Name, classes, counts)
			}
			z, err := g.Embed(cross)
			if err != nil {
				t.Errorf("%s: %v", e.Name, err)
				continue
			}
			kk := g.Kernel()
			for i := range n {
				for j := range i {
					q := want.Metric().SqDist(x.RawRowView(i), x.RawRowView(j))
					if v := kk.At(i, i) - 2*kk.At(i, j) + kk.At(j, j); math.Abs(v-q) > tol*(1+q) {
						t.Errorf("%s, %s: squared distance %v under the kernel of %d and %d, want %v", e.Name, name, v, i, j, q)
					}
					if v := (metric.Euclidean{}).SqDist(z.RawRowView(i), z.RawRowView(j)); math.Abs(v-q) > tol*(1+q) {
						t.Errorf("%s, %s: squared distance %v between coordinates of %d and %d, want %v", e.Name, name, v, i, j, q)
					}
				}
			}
			if e.Form == catalog.Embedded {
				wanted, err := want.Embed(all)
				if err != nil {
					t.Fatal(err)
				}
				_, width := wanted.Dims()
				if _, w := z.Dims(); w != width || g.Rank() != width {
					t.Errorf("%s: %d coordinates, rank %d, want %d", e.Name, w, g.Rank(), width)
				}
				for i := range n + s {
					for j := range i {
						v, q := (metric.Euclidean{}).SqDist(z.RawRowView(i), z.RawRowView(j)), (metric.Euclidean{}).SqDist(wanted.RawRowView(i), wanted.RawRowView(j))
						if math.Abs(v-q) > tol*(1+q) {
							t.Errorf("%s, %s: squared distance %v of %d and %d, want %v", e.Name, name, v, i, j, q)
						}
					}
				}
			}
			// Saved and loaded it is the same to the bit.
			file := persisttest.Saved(g)
			loaded, err := model.LoadGram(bytes.NewReader(file))
			if err != nil {
				t.Fatalf("%s: %v", e.Name, err)
			}
			if again, err := loaded.Embed(cross); err != nil || !mat.Equal(again, z) || !mat.Equal(loaded.Kernel(), kk) {
				t.Errorf("%s: loaded it embeds otherwise, error %v", e.Name, err)
			}
			if a, _ := loaded.Classes(); !slices.Equal(a, classes) || !bytes.Equal(persisttest.Saved(loaded), file) {
				t.Errorf("%s: loaded it is another", e.Name)
			}
			// The learned kernel of new objects gives the learned distances among them.
			own := kernels.Gram(k, fresh)
			among, err := g.Among(cross.Slice(n, n+s, 0, n), own)
			if err != nil {
				t.Errorf("%s: %v", e.Name, err)
				continue
			}
			for i := range s {
				for j := range i {
					v, q := among.At(i, i)-2*among.At(i, j)+among.At(j, j), want.Metric().SqDist(fresh.RawRowView(i), fresh.RawRowView(j))
					if math.Abs(v-q) > tol*(1+q) {
						t.Errorf("%s, %s: squared distance %v of new objects, want %v", e.Name, name, v, q)
					}
				}
			}
		}
	}
}

// Every learner: an evaluation on a Gram matrix has the errors of one on rows under its kernel, split by split, for the baseline too.
func TestEvaluateGram(t *testing.T) {
	drawn, words := labelled(3, 40, 3)
	order := make([]int, 40)
	for i := range order {
		order[i] = i
	}
	norm := func(i int) float64 { return mat.Norm(drawn.RowView(i), 2) }
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(norm(i), norm(j)) })
	// Rows are ordered by their first number, objects by their kernel values with themselves: here that is one order.
	x, labels := mat.NewDense(40, 4, nil), make([]string, 40)
	for k, i := range order {
		x.SetRow(k, append([]float64{1e-6 * float64(k)}, drawn.RawRowView(i)...))
		labels[k] = words[i]
	}
	d, err := model.NewData(x, labels, nil)
	if err != nil {
		t.Fatal(err)
	}
	k0 := kernels.Gram(kernels.Linear{}, x)
	plan := model.Plan{Folds: 4, Repeats: 2, Ks: []int{1, 3}, Seed: 5}
	for _, e := range model.GramLabelLearners() {
		r := recipeOf(e)
		got, err := model.EvaluateGram(t.Context(), k0, labels, r, plan)
		if err != nil {
			t.Errorf("%s: %v", e.Name, err)
			continue
		}
		table := model.Recipe{Learner: e.Name, Params: map[string]string{"kernel": "linear"}, Pairs: r.Pairs, Seed: r.Seed, Raw: true}
		for p, v := range r.Params {
			table.Params[p] = v
		}
		want, err := model.Evaluate(t.Context(), d, table, plan)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Baseline.Errors, want.Baseline.Errors) || !slices.Equal(got.Learner.Errors, want.Learner.Errors) || !slices.Equal(got.Learner.Ks, want.Learner.Ks) {
			t.Errorf("%s: errors %v beside %v, want %v beside %v", e.Name, got.Learner.Errors, got.Baseline.Errors, want.Learner.Errors, want.Baseline.Errors)
		}
		if got.Features != 0 || got.Rows != 40 || !slices.Equal(got.Counts, want.Counts) || got.Recipe.Seed != 5 {
			t.Errorf("%s: %+v", e.Name, got)
		}
	}
}

func TestGramLabelErrors(t *testing.T) {
	x, labels := labelled(4, 12, 2)
	k0 := kernels.Gram(kernels.Linear{}, x)
	wild := mat.NewSymDense(12, nil)
	wild.CopySym(k0)
	wild.SetSym(0, 1, 1e9)
	same := slices.Repeat([]string{"a"}, 12)
	blank := slices.Clone(labels)
	blank[3] = ""
	lmnn := model.GramRecipe{Learner: "kernel-lmnn"}
	for name, tt := range map[string]struct {
		k0     mat.Symmetric
		labels []string
		recipe model.GramRecipe
		want   string
	}{
		"unknown":      {k0, labels, model.GramRecipe{Learner: "kernel-mlnn"}, `unknown learner "kernel-mlnn", want one of kernel-rca, kernel-itml = kernel-logdet, kernel-pca, kernel-fda, kernel-lmnn, kernel-mcml`},
		"of a table":   {k0, labels, model.GramRecipe{Learner: "lmnn"}, "learner lmnn learns from data set and class labels, want one that learns from a Gram matrix and labels"},
		"constraints":  {k0, labels, model.GramRecipe{Learner: "spectral"}, "learner spectral learns from a Gram matrix with constraints, not with labels"},
		"a kernel":     {k0, labels, model.GramRecipe{Learner: "kernel-lmnn", Params: map[string]string{"kernel": "linear"}}, `unknown parameter "kernel"`},
		"pairs":        {k0, labels, model.GramRecipe{Learner: "kernel-lmnn", Pairs: 3}, "pairs: 3 does not apply to kernel-lmnn"},
		"few labels":   {k0, labels[:3], lmnn, "3 labels for 12 objects"},
		"one class":    {k0, same, lmnn, `all objects have the label "a", want at least 2 classes`},
		"empty label":  {k0, blank, lmnn, `row 3: the label is missing ("")`},
		"not PSD":      {wild, labels, lmnn, "k0: it is not positive semi-definite"},
		"NaN":          {mat.NewSymDense(2, []float64{1, math.NaN(), 0, 1}), labels[:2], lmnn, "NaN, want a finite number"},
		"zero":         {mat.NewSymDense(12, nil), labels, lmnn, "all kernel values are 0"},
		"components":   {k0, labels, model.GramRecipe{Learner: "kernel-pca", Params: map[string]string{"dim": "3"}}, "dim: 3 is not allowed, want an integer from 1 to 2"},
		"of the fit":   {k0, labels, model.GramRecipe{Learner: "kernel-fda", Params: map[string]string{"dim": "9"}}, "k: 9 is not allowed"},
		"of landmarks": {k0, labels, model.GramRecipe{Learner: "kernel-fda", Params: map[string]string{"landmarks": "-1"}}, `parameter landmarks: "-1" is not allowed`},
	} {
		for _, f := range []func() error{
			func() error {
				_, err := model.FitGramLabels(t.Context(), tt.k0, tt.labels, tt.recipe, nil)
				return err
			},
			func() error {
				_, err := model.EvaluateGram(t.Context(), tt.k0, tt.labels, tt.recipe, model.Plan{Folds: 2, Repeats: 1, Ks: []int{1}})
				return err
			},
		} {
			if err := f(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: error %v, want %q", name, err, tt.want)
			}
		}
	}
	if _, err := model.FitGram(t.Context(), k0, gramConstraints, lmnn, nil); err == nil || !strings.Contains(err.Error(), "learner kernel-lmnn learns from a Gram matrix with labels, not with constraints") {
		t.Errorf("error %v", err)
	}
	if _, err := model.FitGram(t.Context(), k0, gramConstraints, model.GramRecipe{Learner: "spectral", Seed: 1}, nil); err == nil || !strings.Contains(err.Error(), "pairs and seed are for labels") {
		t.Errorf("error %v", err)
	}
	if _, err := model.EvaluateGram(t.Context(), k0, labels, lmnn, model.Plan{Folds: 13}); err == nil || !strings.Contains(err.Error(), "folds: 13 is not allowed") {
		t.Errorf("error %v", err)
	}
	for name, f := range map[string]func(){
		"no matrix":       func() { _, _ = model.FitGramLabels(t.Context(), nil, labels, lmnn, nil) },
		"nothing to test": func() { _, _ = model.EvaluateGram(t.Context(), &mat.SymDense{}, labels, lmnn, model.Plan{}) },
		"labels": func() {
			_, _ = model.FitGram(t.Context(), k0, gramConstraints, model.GramRecipe{Learner: "kernel-lmnn", Labels: true}, nil)
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	want, err := model.FitGramLabels(t.Context(), k0, labels, lmnn, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, large := range []bool{false, true} {
		if large {
			abandon.Always(t)
		}
		if g, err := model.FitGramLabels(done, k0, labels, lmnn, nil); !errors.Is(err, context.Canceled) || g != nil {
			t.Errorf("%v, error %v", g, err)
		}
		told := 0
		g, err := model.FitGramLabels(t.Context(), k0, labels, lmnn, func(int, int) { told++ })
		if err != nil || !mat.Equal(g.Kernel(), want.Kernel()) || told == 0 || g.Report().Status != learners.Converged {
			t.Errorf("large %v: another answer, told %d times, error %v", large, told, err)
		}
	}
	t.Cleanup(func() { limits.SetMemory(0) })
	limits.SetMemory(1000)
	if _, err := model.FitGramLabels(t.Context(), k0, labels, lmnn, nil); !errors.As(err, new(*limits.MemoryError)) {
		t.Errorf("error %v", err)
	}
}

// Whatever the size of the kernel, the learned one is finite and positive semi-definite, or there is an error.
func TestGramLabelsAtAllScales(t *testing.T) {
	x, labels := labelled(6, 12, 2)
	k0 := kernels.Gram(kernels.Linear{}, x)
	for _, e := range model.GramLabelLearners() {
		for _, s := range []float64{1e-300, 1e-150, 1e-20, 1, 1e20, 1e150, 1e300} {
			scaled := mat.NewSymDense(12, nil)
			scaled.ScaleSym(s, k0)
			g, err := model.FitGramLabels(t.Context(), scaled, labels, recipeOf(e), nil)
			if err != nil {
				if s == 1 {
					t.Errorf("%s: %v", e.Name, err)
				}
				continue
			}
			if err := kernels.CheckGram(g.Kernel()); err != nil {
				t.Errorf("%s, scale %g: %v", e.Name, s, err)
			}
			if z, err := g.Embed(scaled); err == nil && metric.CheckFinite(z) != nil {
				t.Errorf("%s, scale %g: coordinates overflow", e.Name, s)
			}
		}
	}
}

func TestGramLabelsTampered(t *testing.T) {
	x, labels := labelled(5, 6, 2)
	g, err := model.FitGramLabels(t.Context(), kernels.Gram(kernels.Linear{}, x), labels, model.GramRecipe{Learner: "kernel-pca"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	file := persisttest.Saved(g)
	set := func(key string, v any) persisttest.Edit {
		return func(_, state map[string]any) { state[key] = v }
	}
	drop := func(key string) persisttest.Edit {
		return func(_, state map[string]any) { delete(state, key) }
	}
	persisttest.Check(t, file, model.LoadGram)
	persisttest.Tampered(t, file, model.LoadGram, map[string]persisttest.Edit{
		"no classes":      drop("classes"),
		"no counts":       drop("counts"),
		"one class":       func(_, s map[string]any) { s["classes"], s["counts"] = []string{"a"}, []int{6} },
		"other counts":    set("counts", []int{2, 2, 3}),
		"negative":        set("counts", []int{-2, 4, 4}),
		"missing label":   set("classes", []string{"a", "", "c"}),
		"labels unsaid":   func(p, _ map[string]any) { delete(p, "labels") },
		"no seed":         func(p, _ map[string]any) { delete(p, "seed") },
		"pairs":           func(p, _ map[string]any) { p["pairs"] = -1 },
		"no coordinates":  drop("g"),
		"long shift":      set("shift", []float64{1, 2, 3}),
		"alpha":           set("alpha", 1),
		"s too":           func(_, s map[string]any) { s["s"] = s["g"] },
		"short support":   set("support", []int{0}),
		"support of none": set("support", []int{}),
	})
	persisttest.Numbers(t, file, model.LoadGram, func(g *model.Gram) {
		_, _ = g.Embed(mat.NewDense(1, 6, nil))
	})
}

func TestReadLabels(t *testing.T) {
	want := []string{"a", "b b", "a"}
	for _, text := range []string{
		"a\nb b\na\n", "label\na\nb b\na\n", "0,a\n1,b b\n2,a\n", "id,label\r\n1,a\r\n\r\n5,b b\r\n9,a", "name,class\nx,a\nw,\"b b\"\nv,a\n", "2,a\n1,b b\nx,a\n",
	} {
		if got, err := model.ReadLabels(strings.NewReader(text), "l.csv", 3); err != nil || !slices.Equal(got, want) {
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
		if _, err := model.ReadLabels(strings.NewReader(text), "l.csv", 3); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text[:min(len(text), 40)], err, want)
		}
	}
}

func FuzzReadLabels(f *testing.F) {
	for _, text := range []string{"a\nb\n", "id,label\n1,a\n2,b\n", "\"a\n", "1,a\n1,b\n", "\xef\xbb\xbfa\r\n\r\nb"} {
		f.Add(text, 2)
	}
	f.Fuzz(func(t *testing.T, text string, n int) {
		labels, err := model.ReadLabels(strings.NewReader(text), "l.csv", n)
		if err == nil && (len(labels) != n || slices.Contains(labels, "")) {
			t.Errorf("%q", labels)
		}
	})
}

// Where all pairs meet their bounds, the fit leaves K₀ as it is, with no object in the support. Its file is read like any other.
func TestGramUnchangedIsSaved(t *testing.T) {
	k0 := mat.NewSymDense(3, []float64{2, 1, 0, 1, 2, 0, 0, 0, 2})
	g, err := model.FitGramLabels(context.Background(), k0, []string{"a", "a", "b"}, model.GramRecipe{Learner: "kernel-itml", Pairs: 4}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !mat.Equal(g.Kernel(), k0) {
		t.Fatalf("the kernel is\n%v, want that of a fit that changes nothing", mat.Formatted(g.Kernel()))
	}
	again, err := model.LoadGram(bytes.NewReader(persisttest.Saved(g)))
	if err != nil {
		t.Fatal(err)
	}
	want, err := g.Embed(k0)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := again.Embed(k0); err != nil || !mat.Equal(got, want) || !bytes.Equal(persisttest.Saved(again), persisttest.Saved(g)) {
		t.Errorf("embedded by what was loaded: %v (%v), want %v", got, err, want)
	}
}
