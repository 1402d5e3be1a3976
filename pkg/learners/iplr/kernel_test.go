package iplr

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/internal/matrixtest"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners/itml"
	"metriclab/pkg/persist"
	"metriclab/pkg/persist/persisttest"
)

// normal returns an n×k matrix of normal numbers.
func normal(seed uint64, n, k int) *mat.Dense {
	rng := rand.New(rand.NewPCG(21, seed))
	x := mat.NewDense(n, k, nil)
	x.Apply(func(int, int, float64) float64 { return rng.NormFloat64() }, x)
	return x
}

// With a linear kernel the kernel form is the input-space form of the basis xᵀJ: for any J, also with dependent columns, with more
// objects than features (singular K₀) and fewer, new objects included.
func TestKernelIsInputSpace(t *testing.T) {
	for seed, c := range []struct{ n, d, k int }{{25, 6, 4}, {12, 20, 5}, {25, 3, 3}} {
		x, y, links := problem(uint64(30+seed), c.n, c.d, 40)
		k0 := kernels.Gram(kernels.Linear{}, x)
		dependent := mat.NewDense(c.n, 3, nil)
		dependent.Augment(normal(1, c.n, 2), mat.NewDense(c.n, 1, nil))
		dependent.SetCol(2, mat.Col(nil, 1, dependent))
		rng := rand.New(rand.NewPCG(5, 5))
		for name, j := range map[string]*mat.Dense{
			"random": normal(2, c.n, c.k), "means": MeanCoefficients(y), "columns": RandomColumns(rng, c.n, c.k), "dependent": dependent,
			"k-means": must(KernelKMeans(t.Context(), rng, k0, c.k)),
		} {
			b := must(CombinedBasis(t.Context(), x, j))
			for _, p := range []Params{{Tol: 1e-7}, {Gamma: 20, Infeasible: InfeasibleDrop, MaxCycles: 100, Bounds: itml.BoundParams{Low: 30, High: 70}}} {
				want, err := Fit(t.Context(), x, b, links, p)
				if err != nil {
					t.Fatal(err)
				}
				got, err := FitKernel(t.Context(), k0, j, links, p)
				if err != nil {
					t.Fatal(err)
				}
				if got.Metric.Rank() != want.Metric.Rank() || got.Metric.Rank() != b.Rank() {
					t.Errorf("%s: rank %d, want %d", name, got.Metric.Rank(), b.Rank())
				}
				if math.Abs(got.Gap-want.Gap) > 1e-7*(1+want.Gap) || len(got.Infeasible) != len(want.Infeasible) || got.Vacuous != want.Vacuous {
					t.Errorf("%s: gap %v, %d infeasible, want %v, %d", name, got.Gap, len(got.Infeasible), want.Gap, len(want.Infeasible))
				}
				fresh, _, _ := problem(77, 5, c.d, 1)
				z := must(got.Metric.Coordinates(kernels.GramRect(kernels.Linear{}, fresh, x)))
				own := kernels.Gram(kernels.Linear{}, fresh)
				learned := must(got.Metric.Gram(own, z))
				var xwx mat.Dense
				xwx.Product(fresh, want.Metric.M(), fresh.T())
				if d := matrixtest.Distance(learned, &xwx); d > 1e-7*mat.Norm(&xwx, 2) {
					t.Errorf("%s: K differs by %g of %g", name, d, mat.Norm(&xwx, 2))
				}
				for i := range 5 {
					for l := range i {
						w := want.Metric.SqDist(fresh.RawRowView(i), fresh.RawRowView(l))
						if g := got.Metric.SqDist(own.At(i, i), own.At(i, l), own.At(l, l), z.RawRowView(i), z.RawRowView(l)); math.Abs(g-w) > 1e-7*(1+w) {
							t.Errorf("%s: squared distance %v, want %v", name, g, w)
						}
					}
				}
			}
		}
	}
}

// With J = I the fit is that of itml.FitKernel, and so with indicators of the objects that links join.
func TestAllObjectsIsKernelITML(t *testing.T) {
	x, _, links := problem(40, 14, 5, 20)
	k0 := kernels.Gram(must(kernels.NewGaussian(0.1)), x)
	p := Params{Upper: 0.3, Lower: 1.2, Tol: 1e-8, MaxCycles: 2000}
	want := must(itml.FitKernel(t.Context(), k0, links, itml.KernelParams{Upper: 0.3, Lower: 1.2, Tol: 1e-8, MaxCycles: 2000})).All(k0)
	for _, apart := range []bool{false, true} {
		if apart {
			abandon.Always(t)
		}
		got := must(FitKernel(t.Context(), k0, matrixtest.Identity(14), links, p))
		k := must(got.Metric.Gram(k0, must(got.Metric.Coordinates(k0))))
		if d := matrixtest.Distance(k, want); d > 1e-6 {
			t.Errorf("K differs by %g", d)
		}
	}
}

func TestKernelErrors(t *testing.T) {
	x, _, links := problem(41, 8, 3, 10)
	k0 := kernels.Gram(kernels.Linear{}, x)
	indefinite := mat.NewSymDense(8, nil)
	indefinite.CopySym(k0)
	indefinite.SetSym(0, 1, 1e6)
	bad := mat.NewSymDense(8, nil)
	bad.SetSym(2, 1, math.NaN())
	null := mat.NewDense(8, 1, nil) // xᵀJ = 0, as rank is 3
	var svd mat.SVD
	svd.Factorize(x, mat.SVDFull)
	var u mat.Dense
	svd.UTo(&u)
	null.SetCol(0, mat.Col(nil, 7, &u))
	j := normal(3, 8, 2)
	for name, c := range map[string]struct {
		k0   mat.Symmetric
		j    mat.Matrix
		p    Params
		want string
	}{
		"indefinite": {indefinite, j, Params{}, "not positive semi-definite"},
		"NaN":        {bad, j, Params{}, "entry (2, 1) is NaN"},
		"rows":       {k0, normal(3, 7, 2), Params{}, "j: it has 7 rows, want 8"},
		"NaN in j":   {k0, mat.NewDense(8, 1, []float64{0, 0, math.NaN(), 0, 0, 0, 0, 0}), Params{}, "j: row 2, column 0: NaN"},
		"zero":       {k0, mat.NewDense(8, 2, nil), Params{}, "the images ΦJ are zero"},
		"null space": {k0, null, Params{}, "the images ΦJ are zero"},
		"zero k0":    {mat.NewSymDense(8, nil), j, Params{}, "the images ΦJ are zero"},
		"bounds":     {k0, j, Params{Upper: 2, Lower: 1}, "want upper < lower"},
	} {
		if _, err := FitKernel(t.Context(), c.k0, c.j, links, c.p); err == nil || !strings.HasPrefix(err.Error(), "iplr: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.want)
		}
	}
	m := must(FitKernel(t.Context(), k0, j, links, Params{})).Metric
	if _, err := m.Coordinates(normal(1, 2, 7)); err == nil || !strings.Contains(err.Error(), "7 columns, want 8") {
		t.Errorf("columns: error %v", err)
	}
	if _, err := m.Coordinates(mat.NewDense(1, 8, []float64{0, 0, 0, math.Inf(1), 0, 0, 0, 0})); err == nil || !strings.Contains(err.Error(), "+Inf") {
		t.Errorf("infinite: error %v", err)
	}
	if _, err := m.Gram(k0, normal(1, 8, 3)); err == nil || !strings.Contains(err.Error(), "8×3 is not allowed, want 8×2") {
		t.Errorf("coordinates: error %v", err)
	}
}

// A saved kernel metric has every bit, and damaged files are refused.
func TestSaveKernelMetric(t *testing.T) {
	x, _, links := problem(42, 10, 4, 12)
	k0 := kernels.Gram(must(kernels.NewGaussian(0.2)), x)
	m := must(FitKernel(t.Context(), k0, normal(4, 10, 3), links, Params{})).Metric
	file := persisttest.Saved(m)
	again := must(LoadKernelMetric(bytes.NewReader(file)))
	z, z2 := must(m.Coordinates(k0)), must(again.Coordinates(k0))
	if !mat.Equal(z, z2) || !mat.Equal(m.F(), again.F()) || again.Objects() != 10 || again.Rank() != 3 {
		t.Error("another metric was loaded")
	}
	persisttest.Check(t, file, LoadKernelMetric)
	set := func(key string, value any) persisttest.Edit {
		return func(_, state map[string]any) { state[key] = value }
	}
	persisttest.Tampered(t, file, LoadKernelMetric, map[string]persisttest.Edit{
		"rank 0": set("rank", 0), "rank 2": set("rank", 2), "huge rank": set("rank", math.MaxInt64), "objects": set("objects", 9), "no T": set("t", persist.Floats{}),
		"NaN": set("factor", persist.Floats{1, 0, 0, 0, math.NaN(), 0, 0, 0, 1}), "Inf": set("t", make(persist.Floats, 30-1)),
		"infinite": func(_, s map[string]any) {
			f := make(persist.Floats, 30)
			f[7] = math.Inf(-1)
			s["t"] = f
		},
	})
	persisttest.Numbers(t, file, LoadKernelMetric, func(m *KernelMetric) { m.F() })
}

func FuzzLoadKernelMetric(f *testing.F) {
	m := &KernelMetric{t: mat.NewDense(2, 1, []float64{1, 0.5}), g: mat.NewDense(1, 1, []float64{2})}
	persisttest.Fuzz(f, LoadKernelMetric, func(m *KernelMetric) {
		if m.Objects() < 1000 {
			m.SqDist(1, 0, 1, make([]float64, m.Rank()), make([]float64, m.Rank()))
		}
	}, persisttest.Saved(m))
}

// A prepared problem serves several fits at once, and its residuals are those of the rows.
func TestProblems(t *testing.T) {
	x, _, links := problem(44, 20, 6, 30)
	j := normal(6, 20, 3)
	a := must(NewProblem(t.Context(), x, must(CombinedBasis(t.Context(), x, j)), links))
	b := must(NewKernelProblem(t.Context(), kernels.Gram(kernels.Linear{}, x), j, links))
	if b.Rank() != 3 {
		t.Errorf("rank %d", b.Rank())
	}
	rows, objects := a.Residuals(), b.Residuals()
	for i, r := range rows {
		if math.Abs(objects[i]-r) > 1e-10*(1+r) {
			t.Errorf("link %d: residual %v, of the rows %v", i, objects[i], r)
		}
	}
	gammas := []float64{0.1, 1, 10, 100}
	at := make([]*mat.SymDense, len(gammas))
	var group sync.WaitGroup
	for i, g := range gammas {
		group.Go(func() {
			if r, err := a.Fit(t.Context(), Params{Gamma: g}); err == nil {
				at[i] = r.F
			}
		})
	}
	group.Wait()
	for i, g := range gammas {
		if want := must(a.Fit(t.Context(), Params{Gamma: g})).F; at[i] == nil || !mat.Equal(at[i], want) {
			t.Errorf("γ = %v: another answer beside other fits", g)
		}
	}
}

// Distances of objects that coincide in the basis, and far from the origin, are not negative.
func TestKernelSqDistNotNegative(t *testing.T) {
	x, _, links := problem(43, 12, 3, 20)
	for i := range 12 {
		for j := range 3 {
			x.Set(i, j, x.At(i, j)+1e6)
		}
	}
	k0 := kernels.Gram(kernels.Linear{}, x)
	m := must(FitKernel(t.Context(), k0, normal(5, 12, 3), links, Params{Upper: 5, Lower: 9})).Metric
	z := must(m.Coordinates(k0))
	for i := range 12 {
		for j := range 12 {
			d := m.SqDist(k0.At(i, i), k0.At(i, j), k0.At(j, j), z.RawRowView(i), z.RawRowView(j))
			if !(d >= 0) || i == j && d != 0 {
				t.Errorf("objects %d and %d: squared distance %v", i, j, d)
			}
		}
	}
}
