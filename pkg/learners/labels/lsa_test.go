package labels

import (
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
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
	"metriclab/pkg/persist"
	"metriclab/pkg/persist/persisttest"
	"metriclab/pkg/sparse"
)

// termMatrix returns n documents of d terms with per different terms each. Terms come with probability ∝ 1/rank, as words do, or
// all alike.
func termMatrix(t testing.TB, rng *rand.Rand, n, d, per int, zipf bool) *sparse.Matrix {
	t.Helper()
	rows := make([]sparse.Vector, n)
	seen := make([]bool, d)
	for i := range rows {
		for len(rows[i].Index) < per {
			j := rng.IntN(d)
			if zipf {
				j = int(math.Exp(rng.Float64()*math.Log(float64(d)))) - 1
			}
			if !seen[j] {
				seen[j] = true
				rows[i].Index = append(rows[i].Index, j)
			}
		}
		slices.Sort(rows[i].Index)
		for _, j := range rows[i].Index {
			seen[j] = false
			rows[i].Value = append(rows[i].Value, (1+rng.ExpFloat64())*math.Log(2+float64(j)))
		}
	}
	m, err := sparse.NewMatrix(rows, d)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func fitLSA(t testing.TB, x mat.Matrix, p LSAParams) *LSA {
	t.Helper()
	l, err := FitLSA(t.Context(), x, p)
	if err != nil {
		t.Fatalf("%+v: %v", p, err)
	}
	return l
}

// denseOf returns the dense copy, minus column means where wanted.
func denseOf(t testing.TB, x *sparse.Matrix, centred bool) *mat.Dense {
	t.Helper()
	out, err := x.Dense()
	if err != nil {
		t.Fatal(err)
	}
	if centred {
		centre(out)
	}
	return out
}

// TestLSA compares singular values and subspaces with those of the dense singular value decomposition, on every path:
// dense and sparse, tall and wide, Lanczos and full decomposition.
func TestLSA(t *testing.T) {
	rng := rand.New(rand.NewPCG(90, 1))
	for _, c := range []struct {
		n, d, per, k int
		zipf         bool
	}{
		{40, 12, 4, 5, true}, {12, 40, 6, 5, true}, {1, 5, 3, 1, true}, {5, 1, 1, 1, true}, {9, 9, 3, 9, true},
		{400, 200, 20, 20, true}, {200, 400, 20, 20, true}, {300, 260, 12, 32, false},
	} {
		x := termMatrix(t, rng, c.n, c.d, c.per, c.zipf)
		for _, centred := range []bool{false, true} {
			reference := denseOf(t, x, centred)
			var svd mat.SVD
			if !svd.Factorize(reference, mat.SVDThin) {
				t.Fatal("the reference did not converge")
			}
			want := svd.Values(nil)
			var v mat.Dense
			svd.VTo(&v)
			for _, given := range []mat.Matrix{x, denseOf(t, x, false)} {
				what := fmt.Sprintf("%+v, centred %v, %T", c, centred, given)
				l := fitLSA(t, given, LSAParams{K: c.k, Centred: centred})
				w, got := l.Components(), l.SingularValues()
				if !mat.EqualApprox(gramRows(w), identity(c.k), pcaTol) {
					t.Errorf("%s: components are not orthonormal", what)
				}
				if r := l.Residual(); !(r >= 0 && r <= lanczosTolerance*10) {
					t.Errorf("%s: residual %g", what, r)
				}
				scale := max(want[0], 1e-300)
				for i := range c.k {
					// An eigenvalue is wrong by 1e-13·σ₁²: σ by about that over σ, or by its root where σ is 0.
					if diff := math.Abs(got[i] - want[i]); diff > 1e-11*scale && diff > 1e-11*scale*scale/max(want[i], 1e-6*scale) {
						t.Errorf("%s: singular value %d is %v, want %v", what, i, got[i], want[i])
					}
				}
				// The subspace before a gap of the spectrum is unique.
				for k := c.k; k >= 1; k-- {
					if k < len(want) && want[k-1]*want[k-1]-want[k]*want[k] < 1e-4*scale*scale || want[k-1] < 1e-6*scale {
						continue
					}
					top, ref := w.Slice(0, k, 0, c.d), v.Slice(0, c.d, 0, k)
					var inner mat.Dense
					inner.Mul(top, ref)
					if !mat.EqualApprox(gramRows(&inner), identity(k), 1e-8) {
						t.Errorf("%s: the first %d components do not span those of the reference", what, k)
					}
					break
				}
				for i := range c.k {
					fixed := slices.Clone(w.RawRowView(i))
					metric.FixSign(fixed)
					if !slices.Equal(fixed, w.RawRowView(i)) {
						t.Errorf("%s: component %d has the wrong sign", what, i)
					}
				}
				// Coordinates are (x − 1μᵀ)Wᵀ from sparse rows as from dense ones.
				var coordinates mat.Dense
				coordinates.Mul(reference, w.T())
				for _, rows := range []mat.Matrix{x, denseOf(t, x, false)} {
					if z := l.Transform(rows); !mat.EqualApprox(z, &coordinates, 1e-11*scale) {
						t.Errorf("%s: wrong coordinates of %T", what, rows)
					}
				}
				again := fitLSA(t, given, LSAParams{K: c.k, Centred: centred})
				sameBits(t, what+", again", w.RawMatrix().Data, again.Components().RawMatrix().Data, got, again.SingularValues(), l.Mean(), again.Mean())
			}
		}
	}
}

// TestLSAIsPCA: centred LSA of dense rows is principal component analysis, to the bit.
func TestLSAIsPCA(t *testing.T) {
	rng := rand.New(rand.NewPCG(90, 2))
	for _, c := range []struct{ n, d, k int }{{30, 6, 3}, {6, 30, 4}, {400, 200, 20}} {
		x := stretched(rng, c.n, c.d)
		p, err := FitPCA(t.Context(), x, c.k)
		if err != nil {
			t.Fatal(err)
		}
		l := fitLSA(t, x, LSAParams{K: c.k, Centred: true})
		sameBits(t, fmt.Sprint(c), p.Mean(), l.Mean(), p.Components().RawMatrix().Data, l.Components().RawMatrix().Data,
			p.Transform(x).RawMatrix().Data, l.Transform(x).RawMatrix().Data, p.Metric().M().RawSymmetric().Data, l.Metric().M().RawSymmetric().Data)
		for i, s := range l.SingularValues() {
			if want := math.Sqrt(float64(c.n) * p.Variances()[i]); math.Abs(s-want) > 1e-14*want {
				t.Errorf("%+v: singular value %d is %v, want %v", c, i, s, want)
			}
		}
	}
}

// TestLSADegenerate: nothing but zeros, equal rows, low rank, also where Lanczos is used.
func TestLSADegenerate(t *testing.T) {
	zero := func(n, d int) *sparse.Matrix {
		m, err := sparse.NewMatrix(make([]sparse.Vector, n), d)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	equal, rank2 := make([]sparse.Vector, 300), make([]sparse.Vector, 300)
	for i := range equal {
		equal[i] = sparse.Vector{Index: []int{1, 150}, Value: []float64{2, 3}}
		rank2[i] = sparse.Vector{Index: []int{5 + i%2}, Value: []float64{1 + float64(i)}}
	}
	made := func(rows []sparse.Vector) *sparse.Matrix {
		m, err := sparse.NewMatrix(rows, 200)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	for name, c := range map[string]struct {
		x             *sparse.Matrix
		rank, centred int
	}{
		"1×1": {zero(1, 1), 0, 0}, "2×3": {zero(2, 3), 0, 0}, "zero, tall": {zero(300, 200), 0, 0}, "zero, wide": {zero(200, 300), 0, 0},
		"equal rows": {made(equal), 1, 0}, "rank 2": {made(rank2), 2, 2},
	} {
		n, d := c.x.Dims()
		for _, centred := range []bool{false, true} {
			k, rank := min(n, d, 4), c.rank
			if centred {
				rank = c.centred
			}
			l := fitLSA(t, c.x, LSAParams{K: k, Centred: centred})
			if !mat.EqualApprox(gramRows(l.Components()), identity(k), pcaTol) {
				t.Errorf("%s, centred %v: components are not orthonormal", name, centred)
			}
			for i, s := range l.SingularValues() {
				if (i < rank) != (s > 1e-5) || !(s >= 0) {
					t.Errorf("%s, centred %v: singular value %d is %v, the rank %d", name, centred, i, s, rank)
				}
			}
		}
	}
}

func TestLSAErrors(t *testing.T) {
	rng := rand.New(rand.NewPCG(90, 3))
	x := termMatrix(t, rng, 300, 200, 5, true)
	scaled := func(rows int, s float64) *sparse.Matrix {
		all := make([]sparse.Vector, rows)
		for i := range all {
			row := x.Row(i)
			all[i].Index = row.Index
			for _, v := range row.Value {
				all[i].Value = append(all[i].Value, s*v)
			}
		}
		m, err := sparse.NewMatrix(all, 200)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	fit := func(ctx context.Context, x mat.Matrix, k int) error {
		for _, centred := range []bool{false, true} {
			if l, err := FitLSA(ctx, x, LSAParams{K: k, Centred: centred}); err != nil || l != nil {
				if l != nil {
					return errors.New("a result")
				}
				return err
			}
		}
		return nil
	}
	for want, err := range map[string]error{
		"k: 0 is not allowed":      fit(t.Context(), x, 0),
		"k: 201 is not allowed":    fit(t.Context(), x, 201),
		"k: -1 is not allowed":     fit(t.Context(), x, -1),
		"row 0, column 0: NaN":     fit(t.Context(), mat.NewDense(1, 1, []float64{math.NaN()}), 1),
		"overflows float64":        fit(t.Context(), scaled(300, 1e160), 2),
		"vanishes in float64":      fit(t.Context(), scaled(300, 1e-170), 2),
		"data vanishes":            fit(t.Context(), scaled(20, 1e-170), 2),
		"of the data overflows":    fit(t.Context(), scaled(20, 1e160), 2),
		"lsa: context canceled":    fit(done, x, 2),
		"lsa: k: 2 is not allow":   fit(t.Context(), mat.NewDense(1, 5, nil), 2),
		"1 to 200, the smaller of": fit(t.Context(), x, math.MaxInt),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
	for _, s := range []float64{1e-150, 1e150} {
		if err := fit(t.Context(), scaled(300, s), 3); err == nil || err.Error() != "a result" {
			t.Errorf("scale %g: %v", s, err)
		}
	}
	l := fitLSA(t, x, LSAParams{K: 2})
	mustPanic(t, "nil", func() { FitLSA(t.Context(), nil, LSAParams{K: 1}) })
	mustPanic(t, "nil sparse", func() { FitLSA(t.Context(), (*sparse.Matrix)(nil), LSAParams{K: 1}) })
	mustPanic(t, "empty", func() { FitLSA(t.Context(), &mat.Dense{}, LSAParams{K: 1}) })
	mustPanic(t, "another dimension", func() { l.Transform(mat.NewDense(1, 3, nil)) })
	mustPanic(t, "another dimension, sparse", func() { l.Transform(termMatrix(t, rng, 3, 7, 2, true)) })
	mustPanic(t, "nothing", func() { l.Transform(&mat.Dense{}) })
	mustPanic(t, "nil, sparse", func() { l.Transform((*sparse.Matrix)(nil)) })
	mustPanic(t, "zero value", func() { new(LSA).Metric() })
}

func TestLSAAtTheLimit(t *testing.T) {
	t.Cleanup(func() { limits.SetMemory(0) })
	x := termMatrix(t, rand.New(rand.NewPCG(90, 4)), 300, 200, 5, true)
	var large *limits.MemoryError
	for _, n := range []int{1, 200} { // the numbers of columns and rows overflow
		rows := make([]sparse.Vector, n)
		for i := range rows {
			rows[i] = sparse.Vector{Index: []int{i, math.MaxInt - 2}, Value: []float64{1, 1}}
		}
		wide, err := sparse.NewMatrix(rows, math.MaxInt)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := FitLSA(t.Context(), wide, LSAParams{K: 1}); !errors.As(err, &large) {
			t.Errorf("%d rows of many columns: error %v, want a *limits.MemoryError", n, err)
		}
	}
	limits.SetMemory(1 << 14)
	for _, k := range []int{10, 100} {
		if _, err := FitLSA(t.Context(), x, LSAParams{K: k}); !errors.As(err, &large) {
			t.Errorf("k = %d: error %v, want a *limits.MemoryError", k, err)
		}
	}
	// Memory for few steps, which do not converge, does not do for a dense decomposition.
	limits.SetMemory(1 << 18)
	small := termMatrix(t, rand.New(rand.NewPCG(90, 4)), 170, 160, 20, false)
	if _, err := FitLSA(t.Context(), small, LSAParams{K: 10}); !errors.As(err, &large) || !strings.Contains(err.Error(), "LSA of 170×160 numbers") {
		t.Errorf("memory for few steps: error %v, want a *limits.MemoryError", err)
	}
}

// A fit that takes long is left once the context is done.
func TestLSAAbandoned(t *testing.T) {
	abandon.Always(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	x := termMatrix(t, rand.New(rand.NewPCG(90, 5)), 300, 200, 5, true)
	if l, err := FitLSA(ctx, x, LSAParams{K: 2}); l != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", l, err)
	}
}

func savedLSA(t testing.TB, centred bool) []byte {
	t.Helper()
	return persisttest.Saved(fitLSA(t, mat.NewDense(3, 2, []float64{0, 0, 1, 0, 0, 2}), LSAParams{K: 1, Centred: centred}))
}

func TestLSASaved(t *testing.T) {
	x := termMatrix(t, rand.New(rand.NewPCG(90, 6)), 300, 200, 5, true)
	for _, centred := range []bool{false, true} {
		l := fitLSA(t, x, LSAParams{K: 7, Centred: centred})
		m, err := LoadLSA(strings.NewReader(string(persisttest.Saved(l))))
		if err != nil {
			t.Fatal(err)
		}
		if m.Centred() != centred || !math.IsNaN(m.Residual()) {
			t.Errorf("centred is %v, the residual %v", m.Centred(), m.Residual())
		}
		sameBits(t, "LSA", l.Mean(), m.Mean(), l.SingularValues(), m.SingularValues(), l.Components().RawMatrix().Data, m.Components().RawMatrix().Data,
			l.Transform(x).RawMatrix().Data, m.Transform(x).RawMatrix().Data)
		persisttest.Check(t, savedLSA(t, centred), LoadLSA)
		persisttest.Numbers(t, savedLSA(t, centred), LoadLSA, func(l *LSA) { l.Transform(mat.NewDense(1, len(l.Mean()), nil)) })
	}
	set := func(key string, value any) persisttest.Edit {
		return func(_, state map[string]any) { state[key] = value }
	}
	persisttest.Tampered(t, savedLSA(t, false), LoadLSA, map[string]persisttest.Edit{
		"a mean without centring": set("mean", persist.Floats{0, 1}),
		"NaN in the rows":         set("rows", persist.Floats{0, math.NaN()}),
		"negative value":          set("values", persist.Floats{-1}),
		"short rows":              set("rows", persist.Floats{0}),
		"more rows than d":        func(_, s map[string]any) { s["rows"], s["values"] = make(persist.Floats, 6), make(persist.Floats, 3) },
		"another parameter":       func(params, _ map[string]any) { params["k"] = 1 },
	})
	if _, err := LoadLSA(strings.NewReader(string(savedPCA(t)))); err == nil {
		t.Error("LoadLSA read components of PCA")
	}
}

func FuzzLoadLSA(f *testing.F) {
	persisttest.Fuzz(f, LoadLSA, func(l *LSA) { l.Transform(mat.NewDense(1, len(l.Mean()), nil)) }, savedLSA(f, false), savedLSA(f, true))
}

func ExampleFitLSA() {
	// Documents by terms: ship, boat, ocean, moon, rocket. "Ship" and "boat" never stand together, but both with "ocean".
	rows := []sparse.Vector{
		{Index: []int{0, 2}, Value: []float64{1, 1}},
		{Index: []int{1, 2}, Value: []float64{1, 1}},
		{Index: []int{3, 4}, Value: []float64{1, 1}},
		{Index: []int{3, 4}, Value: []float64{1, 1}},
	}
	x, err := sparse.NewMatrix(rows, 5)
	if err != nil {
		fmt.Println(err)
		return
	}
	l, err := FitLSA(context.Background(), x, LSAParams{K: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("singular values %.3f\n", l.SingularValues())
	ship, boat, moon := []float64{1, 0, 0, 0, 0}, []float64{0, 1, 0, 0, 0}, []float64{0, 0, 0, 1, 0}
	fmt.Printf("ship to boat %.3f, ship to moon %.3f\n", l.Metric().SqDist(ship, boat), l.Metric().SqDist(ship, moon))
	// Output:
	// singular values [2.000 1.732]
	// ship to boat 0.000, ship to moon 0.667
}

// BenchmarkLSA: 100 components of 10,000 documents with 80 of 5,000 terms each, on one core. Terms as words come, or all
// alike, a spectrum that hardly decays.
func BenchmarkLSA(b *testing.B) {
	for _, zipf := range []bool{true, false} {
		for _, centred := range []bool{false, true} {
			x := termMatrix(b, rand.New(rand.NewPCG(90, 7)), 10000, 5000, 80, zipf)
			b.Run(fmt.Sprintf("alg=LSA/n=10000/dim=5000/k=100/zipf=%v/centred=%v", zipf, centred), func(b *testing.B) {
				for b.Loop() {
					b.ReportMetric(1e15*fitLSA(b, x, LSAParams{K: 100, Centred: centred}).Residual(), "residual/1e-15")
				}
			})
		}
	}
}
