package model_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/kernels"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/ltkernel"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
	"metriclab/pkg/model"
	"metriclab/pkg/persist"
	"metriclab/pkg/persist/persisttest"
)

// Two objects whose similarity is known, at most a quarter of their squared distance, and a third one.
func ExampleFitGram() {
	k0 := mat.NewSymDense(2, []float64{1, 0, 0, 1})
	g, err := model.FitGram(context.Background(), k0, []ltkernel.Constraint{ltkernel.AtMost(0, 1, 0.5)}, model.GramRecipe{Learner: "spectral"}, nil)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.4g\n", mat.Formatted(g.Kernel()))
	z, err := g.Embed(mat.NewDense(1, 2, []float64{1, 0})) // as similar to the two as object 0 is
	if err != nil {
		panic(err)
	}
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

func sym(a *mat.Dense) *mat.SymDense {
	n, _ := a.Dims()
	s := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			s.SetSym(i, j, a.At(i, j))
		}
	}
	return s
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
		k0, cross, own := products(x, x), products(y, x), products(y, y)
		for _, params := range gramRecipes {
			name := fmt.Sprintf("d = %d, %v", d, params)
			g, err := model.FitGram(t.Context(), sym(k0), gramConstraints, model.GramRecipe{Learner: "spectral", Params: params}, nil)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if rep := g.Report(); rep.Status != learners.Converged || rep.Violated > 0 && g.Recipe().Params["slack"] == "hard" {
				t.Errorf("%s: %+v", name, rep)
			}
			var res ltkernel.KernelResult // the slow reference: W itself
			phi, err := ltkernel.ParseDivergence(g.Recipe().Params["divergence"], number(g, "alpha"), number(g, "tau"))
			if err != nil {
				t.Fatal(err)
			}
			p := ltkernel.Params{Divergence: phi, C: number(g, "c"), Tol: number(g, "tol")}
			switch g.Recipe().Params["slack"] {
			case "l1":
				p.Slack = ltkernel.SlackL1
			case "l2":
				p.Slack = ltkernel.SlackL2
			}
			if res, err = ltkernel.FitKernel(t.Context(), sym(k0), gramConstraints, p); err != nil {
				t.Fatal(err)
			}
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

			old, err := g.Embed(k0)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			young, err := g.Embed(cross)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
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
			loaded, err := model.LoadGram(bytes.NewReader(persisttest.Saved(g)))
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if again, err := loaded.Embed(cross); err != nil || !mat.Equal(again, young) {
				t.Errorf("%s: loaded, it embeds to other bits, error %v", name, err)
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

func fitGram(t *testing.T) *model.Gram {
	t.Helper()
	x := mat.NewDense(4, 2, []float64{0, 0, 1, 0, 0, 2, 1, 1})
	g, err := model.FitGram(t.Context(), sym(products(x, x)), []ltkernel.Constraint{ltkernel.AtMost(0, 1, 0.5), ltkernel.AtLeast(0, 3, 3)}, model.GramRecipe{Learner: "spectral"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return g
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
	file := persisttest.Saved(fitGram(t))
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

	if _, err := model.Load(bytes.NewReader(file)); !errors.Is(err, persist.ErrKind) {
		t.Errorf("a Gram loaded as a Model: error %v", err)
	}
	t.Cleanup(func() { limits.SetMemory(0) })
	limits.SetMemory(600) // more than the file, less than what it makes
	var e *limits.MemoryError
	if _, err := model.LoadGram(bytes.NewReader(file)); !errors.As(err, &e) || errors.Is(err, persist.ErrDamaged) {
		t.Errorf("error %v", err)
	}
}

func FuzzLoadGram(f *testing.F) {
	g, err := model.FitGram(context.Background(), mat.NewSymDense(2, []float64{1, 0, 0, 1}), []ltkernel.Constraint{ltkernel.AtMost(0, 1, 0.5)}, model.GramRecipe{Learner: "spectral"}, nil)
	if err != nil {
		f.Fatal(err)
	}
	persisttest.Fuzz(f, model.LoadGram, nil, persisttest.Saved(g))
}

// TestGramAtAllScales: whatever the size of the kernel and of the bounds, the learned kernel is finite and positive semi-definite, or there is an error.
func TestGramAtAllScales(t *testing.T) {
	k0 := sym(products(cloud(rand.New(rand.NewPCG(5, 1)), 6, 3), cloud(rand.New(rand.NewPCG(5, 1)), 6, 3)))
	for _, divergence := range []string{"logdet", "von-neumann", "frobenius", "trace"} {
		for _, slack := range []string{"hard", "l1", "l2"} {
			for _, s := range []float64{1e-300, 1e-150, 1e-20, 1, 1e20, 1e150, 1e300} {
				for _, bounds := range []float64{s, 1} {
					label := fmt.Sprintf("%s, %s, scale %g, bounds %g", divergence, slack, s, bounds)
					scaled := mat.NewSymDense(6, nil)
					scaled.ScaleSym(s, k0)
					cs := []ltkernel.Constraint{ltkernel.AtMost(0, 1, bounds), ltkernel.AtLeast(0, 3, 9*bounds), ltkernel.Nearer(4, 3, 1, bounds/4), ltkernel.TraceAtMost(900 * bounds)}
					g, err := model.FitGram(t.Context(), scaled, cs, model.GramRecipe{Learner: "spectral", Params: map[string]string{"divergence": divergence, "slack": slack, "iterations": "100"}}, nil)
					if err != nil {
						if s == 1 {
							t.Errorf("%s: %v", label, err)
						}
						continue
					}
					if err := kernels.CheckGram(g.Kernel()); err != nil {
						t.Errorf("%s: %v", label, err)
					}
					if z, err := g.Embed(scaled); err == nil && metric.CheckFinite(z) != nil {
						t.Errorf("%s: coordinates overflow", label)
					}
				}
			}
		}
	}
}

func TestFitGramErrors(t *testing.T) {
	k0 := mat.NewSymDense(2, []float64{1, 0, 0, 1})
	one := []ltkernel.Constraint{ltkernel.AtMost(0, 1, 0.5)}
	for name, tt := range map[string]struct {
		k0     mat.Symmetric
		cs     []ltkernel.Constraint
		recipe model.GramRecipe
		want   string
	}{
		"unknown":       {k0, one, model.GramRecipe{Learner: "spectrum"}, `unknown learner "spectrum", want one of trace-ssikdr, spectral`},
		"of a table":    {k0, one, model.GramRecipe{Learner: "pola"}, "learner pola learns from labelled pairs"},
		"parameter":     {k0, one, model.GramRecipe{Learner: "spectral", Params: map[string]string{"gamma": "1"}}, `unknown parameter "gamma"`},
		"wrong choice":  {k0, one, model.GramRecipe{Learner: "spectral", Params: map[string]string{"tau": "1"}}, "tau is only for divergence=trace"},
		"not PSD":       {mat.NewSymDense(2, []float64{1, 2, 2, 1}), one, model.GramRecipe{Learner: "spectral"}, "smallest eigenvalue -1"},
		"NaN":           {mat.NewSymDense(2, []float64{1, math.NaN(), 0, 1}), one, model.GramRecipe{Learner: "spectral"}, "NaN, want a finite number"},
		"no constraint": {k0, nil, model.GramRecipe{Learner: "spectral"}, "no constraints given"},
	} {
		if _, err := model.FitGram(t.Context(), tt.k0, tt.cs, tt.recipe, nil); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q", name, err, tt.want)
		}
	}
	_, err := model.FitGram(t.Context(), k0, []ltkernel.Constraint{ltkernel.AtMost(0, 1, 0.5), ltkernel.TraceAtMost(7), ltkernel.AtLeast(0, 1, 1)}, model.GramRecipe{Learner: "spectral"}, nil)
	if e, ok := errors.AsType[*model.InfeasibleError](err); !ok || !slices.Equal(e.Conflict, []int{0, 2}) || e.Report.Status != learners.Infeasible {
		t.Errorf("error %v", err)
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if g, err := model.FitGram(done, k0, one, model.GramRecipe{Learner: "spectral"}, nil); !errors.Is(err, context.Canceled) || g != nil {
		t.Errorf("%v, error %v", g, err)
	}
	t.Cleanup(func() { limits.SetMemory(0) })
	limits.SetMemory(100)
	if _, err := model.FitGram(t.Context(), k0, one, model.GramRecipe{Learner: "spectral"}, nil); err == nil || !strings.Contains(err.Error(), "a learned kernel of 2 objects would take 192 bytes") {
		t.Errorf("error %v", err)
	}
}

// TestGramOfZero: a kernel that is 0 has no coordinates, but is saved and loaded.
func TestGramOfZero(t *testing.T) {
	g, err := model.FitGram(t.Context(), mat.NewSymDense(2, []float64{1, 0, 0, 1}), []ltkernel.Constraint{ltkernel.AtMost(0, 1, 0.5)},
		model.GramRecipe{Learner: "spectral", Params: map[string]string{"divergence": "trace"}}, nil)
	if err != nil || g.Rank() != 0 {
		t.Fatalf("error %v", err)
	}
	if _, err := g.Embed(mat.NewDense(1, 2, []float64{1, 0})); !errors.Is(err, model.ErrZero) {
		t.Errorf("error %v", err)
	}
	if _, err := model.LoadGram(bytes.NewReader(persisttest.Saved(g))); err != nil {
		t.Error(err)
	}
}

func TestReadGram(t *testing.T) {
	var array bytes.Buffer
	want := mat.NewSymDense(2, []float64{2, 1, 1, 3})
	if err := metric.WriteNPY(&array, want); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"k.csv": "2,1\n\n1 , 3\r\n", "K.NPY": array.String(), "k": "2,1\n1,3"} {
		if got, err := model.ReadGram(strings.NewReader(text), name); err != nil || !mat.Equal(got, want) {
			t.Errorf("%s: %v, error %v", name, got, err)
		}
	}
	if got, err := model.ReadGram(strings.NewReader("4\n"), "k.csv"); err != nil || got.At(0, 0) != 4 {
		t.Errorf("one object: %v, error %v", got, err)
	}
	if got, err := model.ReadCross(strings.NewReader("1,2\n3,4\n5,6\n"), "c.csv", 2); err != nil || !mat.Equal(got, mat.NewDense(3, 2, []float64{1, 2, 3, 4, 5, 6})) {
		t.Errorf("%v, error %v", got, err)
	}
	for text, want := range map[string]string{
		"":                       "k.csv: the file is empty",
		"a,b\n1,2\n":             `k.csv:1: column 1: "a" is not a number`,
		"2,1\n1,NaN\n":           "k.csv:2: column 2: NaN is not allowed",
		"2,1\n1,\n":              "k.csv:2: column 2: the cell is missing",
		"2,1\n1,1e999\n":         "k.csv:2: column 2: ",
		"2,1\n1,3,4\n":           "k.csv:2: 3 cells, want 2",
		"2,1,0\n\n1,3,0\n":       "k.csv:3: 2 rows of 3 numbers, want a square matrix",
		"2,1\n1,3\n\n0,0\n0,0\n": "k.csv:4: 4 rows of 2 numbers, want a square matrix",
		"2,1\n\n1.5,3\n":         "k.csv:3: row 2, column 1 is 1.5, but row 1, column 2 is 1: the matrix is not symmetric, by up to 0.5",
		"1,2\n2,1\n":             "smallest eigenvalue -1, largest 3",
	} {
		if _, err := model.ReadGram(strings.NewReader(text), "k.csv"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
	if _, err := model.ReadCross(strings.NewReader("\n1,2\n"), "c.csv", 3); err == nil || !strings.Contains(err.Error(), "c.csv:2: a row of 2 numbers, want 3") {
		t.Errorf("error %v", err)
	}
	if _, err := model.ReadGram(strings.NewReader("12"), "k.npy"); err == nil || !strings.Contains(err.Error(), "model: k.npy: npy: ") {
		t.Errorf("error %v", err)
	}
	t.Cleanup(func() { limits.SetMemory(0) })
	limits.SetMemory(1 << 10)
	if _, err := model.ReadGram(io.MultiReader(strings.NewReader(strings.Repeat("1,2,3\n", 1000))), "k.csv"); err == nil || !strings.Contains(err.Error(), "limit") {
		t.Errorf("error %v", err)
	}
}

// A kernel of low rank from constraints has the learner's own coordinates, also of new objects and when it is loaded.
func TestGramOfLowRank(t *testing.T) {
	x := mat.NewDense(6, 3, []float64{0, 3, 1, 1, 0, 4, 0, 7, 2, 5, 1, 1, 6, 5, 3, 5, 6, 0})
	fresh := mat.NewDense(2, 3, []float64{0, 3, 1, 6, 2, 9})
	cs := []ltkernel.Constraint{ltkernel.AtMost(0, 1, 0.5), ltkernel.AtMost(1, 2, 0.5), ltkernel.AtMost(3, 4, 0.5), ltkernel.AtLeast(0, 3, 4), ltkernel.AtLeast(1, 4, 4), ltkernel.AtLeast(2, 5, 4)}
	for _, params := range []map[string]string{{"slack": "hard"}, {"slack": "l1", "tau": "0", "rank": "1"}, {"method": "direct", "rank": "2", "tau": "0.1"}} {
		g, err := model.FitGram(t.Context(), sym(products(x, x)), cs, model.GramRecipe{Learner: "trace-ssikdr", Params: params}, nil)
		if err != nil {
			t.Fatal(err)
		}
		file := persisttest.Saved(g)
		persisttest.Check(t, file, model.LoadGram)
		loaded, err := model.LoadGram(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		z, err := g.Embed(products(fresh, x))
		if err != nil {
			t.Fatal(err)
		}
		again, err := loaded.Embed(products(fresh, x))
		if err != nil || !mat.Equal(z, again) {
			t.Errorf("%v: loaded, it embeds otherwise: %v", params, err)
		}
		own, err := g.Embed(products(x, x))
		if err != nil {
			t.Fatal(err)
		}
		if _, width := own.Dims(); width != g.Rank() || !mat.EqualApprox(z.Slice(0, 1, 0, width), own.Slice(0, 1, 0, width), 1e-9) {
			t.Errorf("%v: rank %d, object 0 at %v, and as a new one at %v", params, g.Rank(), own.RawRowView(0), z.RawRowView(0))
		}
		var k mat.Dense
		if k.Mul(own, own.T()); !mat.EqualApprox(&k, g.Kernel(), 1e-9) {
			t.Errorf("%v: coordinates and kernel differ", params)
		}
	}
	g, err := model.FitGram(t.Context(), sym(products(x, x)), cs, model.GramRecipe{Learner: "trace-ssikdr", Params: map[string]string{"tau": "1e9"}}, nil)
	if err != nil || g.Rank() != 0 {
		t.Fatalf("tau = 1e9: error %v", err)
	}
	file := persisttest.Saved(g)
	persisttest.Check(t, file, model.LoadGram)
	if _, err := g.Embed(products(fresh, x)); !errors.Is(err, model.ErrZero) {
		t.Errorf("W = 0: error %v", err)
	}
}
