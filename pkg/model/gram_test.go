package model_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/learners/ltkernel"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
	"metriclab/pkg/model"
	"metriclab/pkg/persist"
	"metriclab/pkg/persist/persisttest"
	"metriclab/pkg/tables"
)

// Two objects whose similarity is known, at most a quarter of their squared distance, and a third one.
func ExampleByConstraints() {
	k0 := mat.NewSymDense(2, []float64{1, 0, 0, 1})
	problem := model.ByConstraints(k0, []ltkernel.Constraint{ltkernel.AtMost(0, 1, 0.5)})
	fitted := must(model.Fit(context.Background(), problem, model.Recipe{Learner: "spectral"}, nil))
	g := fitted.(*model.Gram)
	fmt.Printf("%.4g\n", mat.Formatted(g.Kernel()))
	z := must(g.Embed(mat.NewDense(1, 2, []float64{1, 0}))) // as similar to the two as object 0 is
	fmt.Printf("%.4g\n", mat.Formatted(z))
	// Output:
	// ⎡0.625  0.375⎤
	// ⎣0.375  0.625⎦
	// [0.7071  0.3536]
}

// cloud returns rows of normal numbers.
func cloud(rng *rand.Rand, n, d int) *mat.Dense {
	x := mat.NewDense(n, d, nil)
	for i := range n {
		for j := range d {
			x.Set(i, j, rng.NormFloat64())
		}
	}
	return x
}

// products returns the inner products of the rows of a and b.
func products(a, b mat.Matrix) *mat.Dense {
	var out mat.Dense
	out.Mul(a, b.T())
	return &out
}

var gramRecipes = []map[string]string{
	nil,
	{"divergence": "von-neumann", "tol": "1e-10"},
	{"divergence": "frobenius"},
	{"divergence": "frobenius", "alpha": "0", "slack": "l2", "c": "10"},
	{"divergence": "trace", "tau": "0.1"},
	{"divergence": "trace", "slack": "l1"},
}

var gramConstraints = []ltkernel.Constraint{
	ltkernel.AtMost(0, 1, 1.5), ltkernel.AtLeast(1, 2, 9), ltkernel.Exactly(2, 4, 4), ltkernel.Nearer(4, 1, 5, 0.3), ltkernel.AtMost(0, 1, 2),
}

// TestGramEmbed holds what Embed promises against W = αI + XᵀSX in the space of the rows: K₀ = XXᵀ of full and
// of lower rank, objects beyond the constraints, new objects inside and outside the span.
func TestGramEmbed(t *testing.T) {
	const n, r, tol = 7, 5, 1e-8
	rng := rand.New(rand.NewPCG(1, 9))
	for _, d := range []int{3, 7, 12} {
		x, y := cloud(rng, n, d), cloud(rng, r, d)
		k0, cross, own := kernels.Gram(kernels.Linear{}, x), products(y, x), products(y, y)
		for _, params := range gramRecipes {
			name := fmt.Sprintf("d = %d, %v", d, params)
			g := constrained(t, k0, gramConstraints, "spectral", params)
			if rep := g.Report(); rep.Status != learners.Converged || len(rep.Solution.Violated) > 0 && g.Recipe().Params["slack"] == "hard" {
				t.Errorf("%s: %+v", name, rep)
			}
			phi := must(ltkernel.ParseDivergence(g.Recipe().Params["divergence"], number(g, "alpha"), number(g, "tau")))
			p := ltkernel.Params{Divergence: phi, C: number(g, "c"), Tol: number(g, "tol")}
			switch g.Recipe().Params["slack"] {
			case "l1":
				p.Slack = ltkernel.SlackL1
			case "l2":
				p.Slack = ltkernel.SlackL2
			}
			res := must(ltkernel.FitKernel(t.Context(), k0, gramConstraints, p)) // the slow reference: W itself
			w := mat.NewDense(d, d, nil)
			for i := range d {
				w.Set(i, i, res.Alpha)
			}
			support := mat.NewDense(len(res.Support), d, nil)
			for a, i := range res.Support {
				support.SetRow(a, x.RawRowView(i))
			}
			var sx, add mat.Dense
			sx.Mul(res.S, support)
			add.Mul(support.T(), &sx)
			w.Add(w, &add)
			wy, wx := mat.NewDense(r, d, nil), mat.NewDense(n, d, nil)
			wy.Mul(y, w)
			wx.Mul(x, w)

			old, young := must(g.Embed(k0)), must(g.Embed(cross))
			if _, c := old.Dims(); c != g.Rank() || c > min(n, d) {
				t.Errorf("%s: %d coordinates, rank %d", name, c, g.Rank())
			}
			if got := products(old, old); !mat.EqualApprox(got, g.Kernel(), tol) || !mat.EqualApprox(got, products(wx, x), tol) {
				t.Errorf("%s: inner products of the objects of the fit are not K", name)
			}
			if !mat.EqualApprox(products(young, old), products(wy, x), tol) {
				t.Errorf("%s: inner products of new objects and those of the fit are not Eq. 18", name)
			}
			// Among new objects: those of the parts in the span.
			projected := onto(x, y)
			var wp mat.Dense
			wp.Mul(projected, w)
			if !mat.EqualApprox(products(young, young), products(&wp, projected), tol) {
				t.Errorf("%s: inner products of new objects are not those of their parts in the span", name)
			}
			k, err := g.Among(cross, own)
			if err != nil || !mat.EqualApprox(k, products(wy, y), tol) {
				t.Errorf("%s: the kernel among new objects is not Eq. 18, error %v", name, err)
			}
			if res.Alpha == 0 && !mat.EqualApprox(k, products(young, young), tol) {
				t.Errorf("%s: α = 0, but something lacks", name)
			}
			for i := range r { // the order of neighbours is that of the learned distance
				lack := make([]float64, n)
				for j := range n {
					lack[j] = k.At(i, i) - 2*products(wy, x).At(i, j) + g.Kernel().At(j, j) - sqDist(young.RawRowView(i), old.RawRowView(j))
				}
				if slices.Max(lack)-slices.Min(lack) > tol || slices.Min(lack) < -tol {
					t.Errorf("%s: object %d lacks %v of its squared distances", name, i, lack)
				}
			}
			if again := must(reload(t, g).Embed(cross)); !mat.Equal(again, young) {
				t.Errorf("%s: loaded, it embeds to other bits", name)
			}
		}
	}
}

// onto returns the projections of the rows of y on the span of the rows of x.
func onto(x, y *mat.Dense) *mat.Dense {
	var svd mat.SVD
	svd.Factorize(x, mat.SVDThin)
	var v mat.Dense
	svd.VTo(&v)
	d, _ := v.Dims()
	rank := 0
	for _, s := range svd.Values(nil) {
		if s > 1e-10 {
			rank++
		}
	}
	var c, out mat.Dense
	c.Mul(y, v.Slice(0, d, 0, rank))
	out.Mul(&c, v.Slice(0, d, 0, rank).T())
	return &out
}

func sqDist(a, b []float64) float64 { return metric.Euclidean{}.SqDist(a, b) }

// number returns a parameter of the recipe, or 0.
func number(g *model.Gram, name string) float64 {
	var v float64
	_, _ = fmt.Sscan(g.Recipe().Params[name], &v)
	return v
}

// constrained is the kernel that a learner finds from constraints.
func constrained(t testing.TB, k0 mat.Symmetric, cs []ltkernel.Constraint, learner string, params map[string]string) *model.Gram {
	t.Helper()
	return model.MustFit[*model.Gram](t, model.ByConstraints(k0, cs), model.Recipe{Learner: learner, Params: params})
}

// reload saves a kernel and loads it.
func reload(t testing.TB, g *model.Gram) *model.Gram {
	t.Helper()
	file := persisttest.Saved(g)
	again, err := model.LoadGram(bytes.NewReader(file))
	if err != nil || !bytes.Equal(persisttest.Saved(again), file) {
		t.Fatalf("a kernel is saved and loaded as another: %v", err)
	}
	return again
}

// goldenGram is a file as Save wrote it first: the identity of order 2, with d²(0, 1) = 2 brought down to 1/2.
const goldenGram = `{"format":"metriclab","version":1,"kind":"model/gram","params":{"learner":"spectral","params":{"alpha":"1","divergence":"frobenius","iterations":"1000","slack":"hard","tol":"1e-08"}},"sha256":"8cff41a740ee15d45ec78a239bb1dc6d75986d14f246e1794c9f770b92c5c0f0","state":{"learner_version":1,"objects":2,"gram":"AAAAAAAA8D8AAAAAAAAAAAAAAAAAAPA/","alpha":1,"support":[0,1],"s":"AAAAAAAA2L8AAAAAAADYPwAAAAAAANi/"}}
`

func TestGramGolden(t *testing.T) {
	g, err := model.LoadGram(strings.NewReader(goldenGram))
	if err != nil {
		t.Fatal(err)
	}
	want := mat.NewSymDense(2, []float64{0.625, 0.375, 0.375, 0.625})
	if !mat.EqualApprox(g.Kernel(), want, 1e-15) || g.Recipe().Params["divergence"] != "frobenius" || g.Objects() != 2 || g.Rank() != 2 || g.LearnerVersion() != 1 {
		t.Errorf("loaded %+v", g)
	}
	if again := persisttest.Saved(g); string(again) != goldenGram {
		t.Errorf("saved again as\n%s", again)
	}
}

func TestGramFile(t *testing.T) {
	x := mat.NewDense(4, 2, []float64{0, 0, 1, 0, 0, 2, 1, 1})
	file := persisttest.Saved(constrained(t, kernels.Gram(kernels.Linear{}, x), []ltkernel.Constraint{ltkernel.AtMost(0, 1, 0.5), ltkernel.AtLeast(0, 3, 3)}, "spectral", nil))
	persisttest.Check(t, file, model.LoadGram)
	persisttest.Numbers(t, file, model.LoadGram, func(g *model.Gram) {
		cross := mat.NewDense(2, g.Objects(), nil)
		for j := range g.Objects() {
			cross.Set(0, j, float64(j))
		}
		_, _ = g.Embed(cross)
		_, _ = g.Among(cross, mat.NewDense(2, 2, []float64{9, 1, 1, 1}))
		_, _ = g.Rank(), g.Kernel()
	})
	floats := func(v ...float64) string {
		var b []byte
		for _, x := range v {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
		}
		return base64.StdEncoding.EncodeToString(b)
	}
	edits := map[string]persisttest.Edit{}
	for name, e := range map[string]struct {
		field string
		value any
	}{
		"no objects":       {"objects", 0},
		"few objects":      {"objects", 3},
		"negative alpha":   {"alpha", -1},
		"support twice":    {"support", []int{0, 0, 3}},
		"support turned":   {"support", []int{1, 0, 3}},
		"support beyond":   {"support", []int{0, 1, 4}},
		"support negative": {"support", []int{-1, 0, 1}},
		"no support":       {"support", []int{}},
		"gram not PSD":     {"gram", floats(0, 0, 0, 0, -1, 0, 0, 4, 0, 2)},
		"gram infinite":    {"gram", floats(math.Inf(1), 0, 0, 0, 1, 0, 0, 4, 0, 2)},
		"S infinite":       {"s", floats(1, 0, 0, math.NaN(), 0, 1)},
		"S makes it less":  {"s", floats(-9, 0, 0, -9, 0, -9)},
		"S is huge":        {"s", floats(1e300, 0, 0, 1e308, 0, 1e308)},
		"version":          {"learner_version", -1},
	} {
		edits[name] = func(_, state map[string]any) { state[e.field] = e.value }
	}
	edits["no learner"] = func(params, _ map[string]any) { params["learner"] = "" }
	edits["no params"] = func(params, _ map[string]any) { params["params"] = nil }
	persisttest.Tampered(t, file, model.LoadGram, edits)

	model.Refused(t, "a Gram loaded as a Model", model.ErrorOf(model.Load(bytes.NewReader(file))), persist.ErrKind)
	model.Limit(t, 600) // more than the file, less than what it makes
	var e *limits.MemoryError
	if _, err := model.LoadGram(bytes.NewReader(file)); !errors.As(err, &e) || errors.Is(err, persist.ErrDamaged) {
		t.Errorf("error %v", err)
	}
}

func FuzzLoadGram(f *testing.F) {
	g := constrained(f, mat.NewSymDense(2, []float64{1, 0, 0, 1}), []ltkernel.Constraint{ltkernel.AtMost(0, 1, 0.5)}, "spectral", nil)
	persisttest.Fuzz(f, model.LoadGram, nil, persisttest.Saved(g))
}

// Whatever the size of the kernel and of the bounds, the learned kernel is finite and positive semi-definite, or there is an error.
func TestGramAtAllScales(t *testing.T) {
	k0 := kernels.Gram(kernels.Linear{}, cloud(rand.New(rand.NewPCG(5, 1)), 6, 3))
	x, labels := labelled(6, 12, 2)
	of := kernels.Gram(kernels.Linear{}, x)
	for _, s := range []float64{1e-300, 1e-150, 1e-20, 1, 1e20, 1e150, 1e300} {
		check := func(pr model.Problem, scaled mat.Matrix, r model.Recipe) {
			fitted, err := model.Fit(t.Context(), pr, r, nil)
			if err != nil {
				if s == 1 {
					t.Errorf("%+v: %v", r, err)
				}
				return
			}
			g := fitted.(*model.Gram)
			if err := kernels.CheckGram(g.Kernel()); err != nil {
				t.Errorf("%+v, scale %g: %v", r, s, err)
			}
			if z, err := g.Embed(scaled); err == nil && metric.CheckFinite(z) != nil {
				t.Errorf("%+v, scale %g: coordinates overflow", r, s)
			}
		}
		var scaled, scaledOf mat.SymDense
		scaled.ScaleSym(s, k0)
		scaledOf.ScaleSym(s, of)
		for _, e := range gramLearners() {
			r, _ := recipesOf(e, "")
			check(model.ByGram(&scaledOf, labels), &scaledOf, r)
		}
		for _, bounds := range []float64{s, 1} {
			cs := []ltkernel.Constraint{ltkernel.AtMost(0, 1, bounds), ltkernel.AtLeast(0, 3, 9*bounds), ltkernel.Nearer(4, 3, 1, bounds/4), ltkernel.TraceAtMost(900 * bounds)}
			for _, divergence := range []string{"logdet", "von-neumann", "frobenius", "trace"} {
				for _, slack := range []string{"hard", "l1", "l2"} {
					check(model.ByConstraints(&scaled, cs), &scaled, model.Recipe{Learner: "spectral", Params: map[string]string{"divergence": divergence, "slack": slack, "iterations": "100"}})
				}
			}
		}
	}
}

func TestByConstraintsErrors(t *testing.T) {
	k0 := mat.NewSymDense(2, []float64{1, 0, 0, 1})
	one := []ltkernel.Constraint{ltkernel.AtMost(0, 1, 0.5)}
	fit := func(ctx context.Context, k0 mat.Symmetric, cs []ltkernel.Constraint, params map[string]string) error {
		return model.ErrorOf(model.Fit(ctx, model.ByConstraints(k0, cs), model.Recipe{Learner: "spectral", Params: params}, nil))
	}
	for want, tt := range map[string]struct {
		k0     mat.Symmetric
		cs     []ltkernel.Constraint
		params map[string]string
	}{
		`unknown parameter "gamma"`:        {k0, one, map[string]string{"gamma": "1"}},
		"tau is only for divergence=trace": {k0, one, map[string]string{"tau": "1"}},
		"smallest eigenvalue -1":           {mat.NewSymDense(2, []float64{1, 2, 2, 1}), one, nil},
		"NaN, want a finite number":        {mat.NewSymDense(2, []float64{1, math.NaN(), 0, 1}), one, nil},
		"no constraints given":             {k0, nil, nil},
	} {
		model.Refused(t, "", fit(t.Context(), tt.k0, tt.cs, tt.params), want)
	}
	err := fit(t.Context(), k0, []ltkernel.Constraint{ltkernel.AtMost(0, 1, 0.5), ltkernel.TraceAtMost(7), ltkernel.AtLeast(0, 1, 1)}, nil)
	if e, ok := errors.AsType[*model.InfeasibleError](err); !ok || !slices.Equal(e.Conflict, []int{0, 2}) || e.Report.Status != learners.Infeasible {
		t.Errorf("error %v", err)
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	model.Refused(t, "cancelled", fit(done, k0, one, nil), context.Canceled)
	model.Limit(t, 100)
	model.Refused(t, "", fit(t.Context(), k0, one, nil), "a learned kernel of 2 objects would take 192 bytes")
}

// TestGramOfZero: a kernel that is 0 has no coordinates, but is saved and loaded.
func TestGramOfZero(t *testing.T) {
	g := constrained(t, mat.NewSymDense(2, []float64{1, 0, 0, 1}), []ltkernel.Constraint{ltkernel.AtMost(0, 1, 0.5)}, "spectral", map[string]string{"divergence": "trace"})
	if _, err := g.Embed(mat.NewDense(1, 2, []float64{1, 0})); !errors.Is(err, model.ErrZero) || g.Rank() != 0 {
		t.Errorf("rank %d, error %v", g.Rank(), err)
	}
	reload(t, g)
}

// A kernel of low rank from constraints has the learner's own coordinates, also of new objects and when it is loaded.
func TestGramOfLowRank(t *testing.T) {
	x := mat.NewDense(6, 3, []float64{0, 3, 1, 1, 0, 4, 0, 7, 2, 5, 1, 1, 6, 5, 3, 5, 6, 0})
	fresh := mat.NewDense(2, 3, []float64{0, 3, 1, 6, 2, 9})
	cs := []ltkernel.Constraint{ltkernel.AtMost(0, 1, 0.5), ltkernel.AtMost(1, 2, 0.5), ltkernel.AtMost(3, 4, 0.5), ltkernel.AtLeast(0, 3, 4), ltkernel.AtLeast(1, 4, 4), ltkernel.AtLeast(2, 5, 4)}
	for _, params := range []map[string]string{{"slack": "hard"}, {"slack": "l1", "tau": "0", "rank": "1"}, {"method": "direct", "rank": "2", "tau": "0.1"}} {
		g := constrained(t, kernels.Gram(kernels.Linear{}, x), cs, "trace-ssikdr", params)
		persisttest.Check(t, persisttest.Saved(g), model.LoadGram)
		z, own := must(g.Embed(products(fresh, x))), must(g.Embed(products(x, x)))
		if again := must(reload(t, g).Embed(products(fresh, x))); !mat.Equal(z, again) {
			t.Errorf("%v: loaded, it embeds otherwise", params)
		}
		if _, width := own.Dims(); width != g.Rank() || !mat.EqualApprox(z.Slice(0, 1, 0, width), own.Slice(0, 1, 0, width), 1e-9) {
			t.Errorf("%v: rank %d, object 0 at %v, and as a new one at %v", params, g.Rank(), own.RawRowView(0), z.RawRowView(0))
		}
		var k mat.Dense
		if k.Mul(own, own.T()); !mat.EqualApprox(&k, g.Kernel(), 1e-9) {
			t.Errorf("%v: coordinates and kernel differ", params)
		}
	}
	g := constrained(t, kernels.Gram(kernels.Linear{}, x), cs, "trace-ssikdr", map[string]string{"tau": "1e9"})
	persisttest.Check(t, persisttest.Saved(g), model.LoadGram)
	if _, err := g.Embed(products(fresh, x)); !errors.Is(err, model.ErrZero) || g.Rank() != 0 {
		t.Errorf("W = 0: rank %d, error %v", g.Rank(), err)
	}
}

// Four objects of two classes, known by their similarities, and a fifth one.
func ExampleByGram() {
	k0 := mat.NewSymDense(4, []float64{
		1, 0.8, 0.1, 0.2,
		0.8, 1, 0.2, 0.1,
		0.1, 0.2, 1, 0.7,
		0.2, 0.1, 0.7, 1,
	})
	fitted := must(model.Fit(context.Background(), model.ByGram(k0, []string{"a", "a", "b", "b"}), model.Recipe{Learner: "kernel-fda"}, nil))
	z := must(fitted.(*model.Gram).Embed(mat.NewDense(3, 4, []float64{1, 0.8, 0.1, 0.2, 0.2, 0.1, 0.7, 1, 0.3, 0.2, 0.9, 0.8})))
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

// recipesOf are recipes with which each learner of a Gram matrix does something on few objects, for such and for a table of rows.
func recipesOf(e catalog.Entry, kernel string) (gram, table model.Recipe) {
	gram = model.Recipe{Learner: e.Name, Params: map[string]string{}, Seed: 3}
	if model.Draws(e.Feedback) {
		gram.Pairs = 20
	}
	if slices.ContainsFunc(e.Params, func(p catalog.Param) bool { return p.Name == "cycles" }) {
		gram.Params["cycles"] = "20"
	}
	table = gram
	table.Params, table.Raw = maps.Clone(gram.Params), true
	table.Params["kernel"] = kernel
	return gram, table
}

func gramLearners() []catalog.Entry {
	return slices.DeleteFunc(model.ByGram(nil, nil).Learners(), func(e catalog.Entry) bool { return e.Name == model.Euclidean })
}

// Every learner: the Gram matrix of rows under a kernel and labels give what the rows give under that kernel: distances of rows that neither has seen,
// and coordinates where there are some.
func TestGramLabelsAreThoseOfTables(t *testing.T) {
	const n, s, tol = 18, 5, 1e-6 // iterations carry round-off along
	x, labels := labelled(1, n, 4)
	fresh, _ := labelled(2, s, 4)
	all := mat.NewDense(n+s, 4, nil)
	all.Stack(x, fresh)
	d := must(tables.NewData(x, labels, nil))
	if len(gramLearners()) < 6 {
		t.Fatalf("%d learners", len(gramLearners()))
	}
	squares := must(kernels.NewPolynomial(2, 1))
	for _, e := range gramLearners() {
		for name, k := range map[string]kernels.Kernel{kernels.LinearName: kernels.Linear{}, kernels.PolynomialName: squares} {
			r, table := recipesOf(e, name)
			k0, cross := kernels.Gram(k, x), kernels.GramRect(k, all, x)
			g := model.MustFit[*model.Gram](t, model.ByGram(k0, labels), r)
			want := fit(t, d, table)
			if g.Report().Status != want.Report().Status || g.LearnerVersion() != want.LearnerVersion() || g.Objects() != n {
				t.Errorf("%s: %+v, want %+v", e.Name, g.Report(), want.Report())
			}
			classes, counts := g.Classes()
			if !slices.Equal(classes, []string{"a", "b", "c"}) || !slices.Equal(counts, []int{6, 6, 6}) {
				t.Errorf("%s: classes %v, %v", e.Name, classes, counts)
			}
			z := must(g.Embed(cross))
			same := func(what string, i, j int, got, want float64) {
				if math.Abs(got-want) > tol*(1+want) {
					t.Errorf("%s, %s: squared distance %v %s of %d and %d, want %v", e.Name, name, got, what, i, j, want)
				}
			}
			kk := g.Kernel()
			for i := range n {
				for j := range i {
					q := want.Metric().SqDist(x.RawRowView(i), x.RawRowView(j))
					same("under the kernel", i, j, kk.At(i, i)-2*kk.At(i, j)+kk.At(j, j), q)
					same("between coordinates", i, j, sqDist(z.RawRowView(i), z.RawRowView(j)), q)
				}
			}
			if e.Form == catalog.Embedded {
				wanted := must(want.Embed(all))
				_, width := wanted.Dims()
				if _, w := z.Dims(); w != width || g.Rank() != width {
					t.Errorf("%s: %d coordinates, rank %d, want %d", e.Name, w, g.Rank(), width)
				}
				for i := range n + s {
					for j := range i {
						same("of coordinates of rows", i, j, sqDist(z.RawRowView(i), z.RawRowView(j)), sqDist(wanted.RawRowView(i), wanted.RawRowView(j)))
					}
				}
			}
			// Saved and loaded it is the same to the bit.
			loaded := reload(t, g)
			if a, _ := loaded.Classes(); !mat.Equal(must(loaded.Embed(cross)), z) || !mat.Equal(loaded.Kernel(), kk) || !slices.Equal(a, classes) {
				t.Errorf("%s: loaded it is another", e.Name)
			}
			// The learned kernel of new objects gives the learned distances among them.
			own := kernels.Gram(k, fresh)
			among := must(g.Among(cross.Slice(n, n+s, 0, n), own))
			for i := range s {
				for j := range i {
					same("of new objects", i, j, among.At(i, i)-2*among.At(i, j)+among.At(j, j), want.Metric().SqDist(fresh.RawRowView(i), fresh.RawRowView(j)))
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
	d := must(tables.NewData(x, labels, nil))
	k0 := kernels.Gram(kernels.Linear{}, x)
	plan := model.Plan{Folds: 4, Repeats: 2, Ks: []int{1, 3}, Seed: 5}
	for _, e := range gramLearners() {
		r, table := recipesOf(e, "linear")
		got := model.MustEvaluate(t, model.ByGram(k0, labels), r, plan)
		want := evaluate(t, d, table, plan)
		learner, baseline := scores(got)
		if a, b := scores(want); !reflect.DeepEqual(learner, a) || !reflect.DeepEqual(baseline, b) {
			t.Errorf("%s: errors %v beside %v, want %v beside %v", e.Name, learner, baseline, a, b)
		}
		if got.Features != 0 || got.Items != 40 || !slices.Equal(got.Counts, want.Counts) || got.Recipe.Seed != 5 {
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
	lmnn := model.Recipe{Learner: "kernel-lmnn"}
	for name, tt := range map[string]struct {
		k0     mat.Symmetric
		labels []string
		recipe model.Recipe
		want   string
	}{
		"a kernel":     {k0, labels, model.Recipe{Learner: "kernel-lmnn", Params: map[string]string{"kernel": "linear"}}, `unknown parameter "kernel"`},
		"few labels":   {k0, labels[:3], lmnn, "3 labels for 12 objects"},
		"one class":    {k0, same, lmnn, `all objects have the label "a", want at least 2 classes`},
		"empty label":  {k0, blank, lmnn, `row 3: the label is missing ("")`},
		"not PSD":      {wild, labels, lmnn, "k0: it is not positive semi-definite"},
		"NaN":          {mat.NewSymDense(2, []float64{1, math.NaN(), 0, 1}), labels[:2], lmnn, "NaN, want a finite number"},
		"zero":         {mat.NewSymDense(12, nil), labels, lmnn, "all kernel values are 0"},
		"components":   {k0, labels, model.Recipe{Learner: "kernel-pca", Params: map[string]string{"dim": "3"}}, "dim: 3 is not allowed, want an integer from 1 to 2"},
		"of the fit":   {k0, labels, model.Recipe{Learner: "kernel-fda", Params: map[string]string{"dim": "9"}}, "k: 9 is not allowed"},
		"of landmarks": {k0, labels, model.Recipe{Learner: "kernel-fda", Params: map[string]string{"landmarks": "-1"}}, `parameter landmarks: "-1" is not allowed`},
	} {
		pr := model.ByGram(tt.k0, tt.labels)
		model.Refused(t, name+", fit", model.ErrorOf(model.Fit(t.Context(), pr, tt.recipe, nil)), tt.want)
		model.Refused(t, name+", evaluate", model.ErrorOf(model.Evaluate(t.Context(), pr, tt.recipe, model.Plan{Folds: 2, Repeats: 1, Ks: []int{1}})), tt.want)
	}
	pr := model.ByGram(k0, labels)
	done, cancel := context.WithCancel(t.Context())
	cancel()
	want := model.MustFit[*model.Gram](t, pr, lmnn)
	for _, large := range []bool{false, true} {
		if large {
			abandon.Always(t)
		}
		model.Refused(t, large, model.ErrorOf(model.Fit(done, pr, lmnn, nil)), context.Canceled)
		told := 0
		g := must(model.Fit(t.Context(), pr, lmnn, func(int, int) { told++ })).(*model.Gram)
		if !mat.Equal(g.Kernel(), want.Kernel()) || told == 0 || g.Report().Status != learners.Converged {
			t.Errorf("large %v: another answer, told %d times", large, told)
		}
	}
	model.Limit(t, 1000)
	model.Refused(t, "", model.ErrorOf(model.Fit(t.Context(), pr, lmnn, nil)), "a learned kernel of 12 objects would take")
}

func TestGramLabelsTampered(t *testing.T) {
	x, labels := labelled(5, 6, 2)
	g := model.MustFit[*model.Gram](t, model.ByGram(kernels.Gram(kernels.Linear{}, x), labels), model.Recipe{Learner: "kernel-pca"})
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

// Where all pairs meet their bounds, the fit leaves K₀ as it is, with no object in the support. Its file is read like any other.
func TestGramUnchangedIsSaved(t *testing.T) {
	k0 := mat.NewSymDense(3, []float64{2, 1, 0, 1, 2, 0, 0, 0, 2})
	g := model.MustFit[*model.Gram](t, model.ByGram(k0, []string{"a", "a", "b"}), model.Recipe{Learner: "kernel-itml", Pairs: 4})
	if !mat.Equal(g.Kernel(), k0) {
		t.Fatalf("the kernel is\n%v, want that of a fit that changes nothing", mat.Formatted(g.Kernel()))
	}
	if want, got := must(g.Embed(k0)), must(reload(t, g).Embed(k0)); !mat.Equal(got, want) {
		t.Errorf("embedded by what was loaded: %v, want %v", got, want)
	}
}
