package metric_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrixtest"
	"metriclab/pkg/metric"
	"metriclab/pkg/metric/metrictest"
	"metriclab/pkg/persist"
	"metriclab/pkg/persist/persisttest"
	"metriclab/pkg/sparse"
)

// lowRank returns a metric of rank k in d dimensions, and the rows of its basis and the factor it was made of.
func lowRank(rng *rand.Rand, k, d int) (m *metric.LowRank, u, g *mat.Dense) {
	u, g = normal(rng, k, d), normal(rng, k, k)
	for i := range k {
		n := mat.Norm(u.RowView(i), 2)
		for j := range d {
			u.Set(i, j, u.At(i, j)/n)
		}
	}
	metric.Orthonormalise(u)
	m, err := metric.NewLowRank(u, g)
	if err != nil {
		panic(err)
	}
	return m, u, g
}

// All that a LowRank says agrees with W = I + U(F − I)Uᵀ as a dense matrix.
func TestLowRankIsDense(t *testing.T) {
	rng := rand.New(rand.NewPCG(80, 1))
	for _, c := range []struct{ k, d int }{{1, 1}, {1, 5}, {4, 9}, {6, 6}, {60, 70}} {
		m, u, g := lowRank(rng, c.k, c.d)
		var f, change, w mat.Dense
		f.Mul(g.T(), g)
		if d := matrixtest.Distance(m.F(), &f); d > 1e-11*mat.Norm(&f, 2) {
			t.Errorf("F is off by %g", d)
		}
		f.Sub(&f, matrixtest.Identity(c.k))
		change.Product(u.T(), &f, u)
		w.Add(matrixtest.Identity(c.d), &change)
		scale := mat.Norm(&w, 2)
		if d := matrixtest.Distance(m.M(), &w); d > 1e-11*scale || m.Dim() != c.d || m.Rank() != c.k || !mat.Equal(m.Basis(), u) {
			t.Errorf("M is off by %g, dimension %d, rank %d", d, m.Dim(), m.Rank())
		}
		x := normal(rng, 8, c.d)
		images := m.EmbedRows(x)
		var points [][]float64
		for i := range 8 {
			points = append(points, x.RawRowView(i))
			v := mat.NewVecDense(c.d, metric.Sub(nil, x.RawRowView(i), x.RawRowView(0)))
			want := mat.Inner(v, &w, v)
			if got := m.SqDist(x.RawRowView(i), x.RawRowView(0)); math.Abs(got-want) > 1e-11*scale*mat.Dot(v, v) {
				t.Errorf("squared distance %v, want %v", got, want)
			}
			if got := (metric.Euclidean{}).SqDist(images.RawRowView(i), m.Embed(x.RawRowView(0))); math.Abs(got-want) > 1e-11*scale*mat.Dot(v, v)+1e-20 {
				t.Errorf("embedded squared distance %v, want %v", got, want)
			}
		}
		metrictest.Check(t, m, points, 1e-12)
		full, err := m.Mahalanobis()
		if err != nil {
			t.Fatal(err)
		}
		if d := matrixtest.Distance(full.M(), &w); d > 1e-11*scale || full.Rows() != c.d {
			t.Errorf("Mahalanobis is off by %g", d)
		}
		// The map is symmetric positive semi-definite, W^(1/2).
		root := m.EmbedRows(matrixtest.Identity(c.d))
		if d := matrixtest.Distance(root, root.T()); d > 1e-11*scale {
			t.Errorf("the map is not symmetric by %g", d)
		}
		var chol mat.Cholesky
		sym := mat.NewSymDense(c.d, nil)
		for i := range c.d {
			for j := range i + 1 {
				sym.SetSym(i, j, root.At(i, j))
			}
			sym.SetSym(i, i, sym.At(i, i)+1e-9*scale)
		}
		if !chol.Factorize(sym) {
			t.Error("the map is not positive semi-definite")
		}
	}
}

// Sparse rows have the distances, coordinates and images of the same rows as a dense matrix, also where next to nothing lies outside the basis.
func TestLowRankSparse(t *testing.T) {
	rng := rand.New(rand.NewPCG(81, 1))
	for _, c := range []struct{ k, d int }{{1, 1}, {2, 50}, {6, 6}, {20, 21}} {
		m, u, _ := lowRank(rng, c.k, c.d)
		x := normal(rng, 9, c.d)
		for i := range 9 {
			for j := range c.d {
				if rng.IntN(3) > 0 {
					x.Set(i, j, 0)
				}
			}
		}
		x.SetRow(1, make([]float64, c.d))
		x.SetRow(2, u.RawRowView(0)) // inside the basis
		s, err := sparse.Compress(x)
		if err != nil {
			t.Fatal(err)
		}
		scale := mat.Norm(m.M(), 2)
		if d := matrixtest.Distance(m.EmbedRows(s), m.EmbedRows(x)); d > 1e-13*scale*mat.Norm(x, 2) {
			t.Errorf("images are off by %g", d)
		}
		z := m.Coordinates(s)
		if d := matrixtest.Distance(z, m.Coordinates(x)); d > 1e-13*mat.Norm(x, 2) {
			t.Errorf("coordinates are off by %g", d)
		}
		f := m.F()
		within := m.Within(s)
		if d := matrixtest.Distance(within, m.Within(x)); d > 1e-12*scale*mat.Norm(x, 2) {
			t.Errorf("numbers within are off by %g", d)
		}
		if got := within.At(2, c.k); got > 1e-12 {
			t.Errorf("a vector of the basis is %g outside", got)
		}
		for i := range 9 {
			for j := range 9 {
				v := metric.Sub(nil, within.RawRowView(i), within.RawRowView(j))
				low := floats.Dot(v, v)
				high := low + 4*within.At(i, c.k)*within.At(j, c.k)
				if got := m.SqDistSparse(s.Row(i), s.Row(j)); got < low-1e-11*scale*(1+low) || got > high+1e-11*scale*(1+high) {
					t.Errorf("squared distance %v, want %v to %v", got, low, high)
				}
			}
		}
		for i := range 9 {
			for j := range 9 {
				want := m.SqDist(x.RawRowView(i), x.RawRowView(j))
				if got := m.SqDistSparse(s.Row(i), s.Row(j)); math.Abs(got-want) > 1e-12*want {
					t.Errorf("%d×%d: squared distance of rows %d and %d: %v, want %v", c.k, c.d, i, j, got, want)
				}
				v := mat.NewVecDense(c.k, metric.Sub(nil, z.RawRowView(i), z.RawRowView(j)))
				if got := s.Row(i).SqDist(s.Row(j)) - mat.Dot(v, v) + mat.Inner(v, f, v); math.Abs(got-want) > 1e-11*scale*(1+want) {
					t.Errorf("by coordinates %v, want %v", got, want)
				}
			}
		}
		huge := sparse.Vector{Index: []int{c.d - 1}, Value: []float64{1e200}}
		if got := m.SqDistSparse(huge, s.Row(1)); !math.IsInf(got, 1) {
			t.Errorf("squared distance %v, want +Inf", got)
		}
	}
}

// In a direction that F shrinks to almost nothing, and far from the origin, distances keep their digits and are not negative.
func TestLowRankDigits(t *testing.T) {
	u := mat.NewDense(1, 3, []float64{0.6, 0.8, 0})
	m, err := metric.NewLowRank(u, mat.NewDense(1, 1, []float64{1e-7}))
	if err != nil {
		t.Fatal(err)
	}
	if got := m.SqDist([]float64{6e3, 8e3, 0}, []float64{0, 0, 0}); math.Abs(got-1e-6) > 1e-15*1e8 {
		t.Errorf("squared distance %v, want 1e-6", got)
	}
	for _, c := range []struct {
		x, y []float64
		want float64
	}{
		{[]float64{0, 0, 1e200}, []float64{0, 0, 0}, math.Inf(1)},
		{[]float64{math.MaxFloat64, 0, 0}, []float64{-math.MaxFloat64, 0, 0}, math.Inf(1)},
		{[]float64{6e156, 8e156, 0}, []float64{0, 0, 0}, 1e300},
		{[]float64{1e-170, 0, 0}, []float64{0, 0, 0}, 0},
	} {
		if got := m.SqDist(c.x, c.y); !(got == c.want || math.Abs(got-c.want) <= 0.1*c.want && !math.IsInf(c.want, 0)) {
			t.Errorf("%v: squared distance %v, want %v", c.x, got, c.want)
		}
	}
}

func TestLowRankErrors(t *testing.T) {
	one := mat.NewDense(1, 1, []float64{1})
	for name, c := range map[string]struct {
		u, g mat.Matrix
		want string
	}{
		"not unit":       {mat.NewDense(1, 2, []float64{1, 1}), one, "the product of vectors 0 and 0 is 2, want 1"},
		"not orthogonal": {mat.NewDense(2, 2, []float64{1, 0, 0.6, 0.8}), matrixtest.Identity(2), "the product of vectors 0 and 1 is 0.6"},
		"NaN":            {mat.NewDense(1, 2, []float64{1, math.NaN()}), one, "basis: row 0, column 1: NaN"},
		"infinite":       {mat.NewDense(1, 2, []float64{1, 0}), mat.NewDense(1, 1, []float64{math.Inf(1)}), "factor: row 0, column 0: +Inf"},
		"shape":          {mat.NewDense(1, 2, []float64{1, 0}), matrixtest.Identity(2), "2×2 does not fit"},
		"too many":       {mat.NewDense(2, 1, []float64{1, 0}), matrixtest.Identity(2), "basis of 2 vectors in 1 dimensions"},
	} {
		if _, err := metric.NewLowRank(c.u, c.g); err == nil || !strings.HasPrefix(err.Error(), "metric: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.want)
		}
	}
}

// A loaded metric measures to the same bit, takes O(dk) bytes, and what does not fit is refused.
func TestSaveLowRank(t *testing.T) {
	rng := rand.New(rand.NewPCG(81, 1))
	m, _, _ := lowRank(rng, 3, 200)
	file := persisttest.Saved(m)
	if len(file) > 200*3*11+1000 {
		t.Errorf("%d bytes for 609 numbers", len(file))
	}
	again, err := metric.LoadLowRank(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	x := normal(rng, 2, 200)
	if a, b := m.SqDist(x.RawRowView(0), x.RawRowView(1)), again.SqDist(x.RawRowView(0), x.RawRowView(1)); a != b {
		t.Errorf("squared distance %v, was %v", b, a)
	}
	m, _, _ = lowRank(rng, 2, 3)
	file = persisttest.Saved(m)
	persisttest.Check(t, file, metric.LoadLowRank)
	set := func(key string, value any) persisttest.Edit {
		return func(_, state map[string]any) { state[key] = value }
	}
	persisttest.Tampered(t, file, metric.LoadLowRank, map[string]persisttest.Edit{
		"rank 0": set("rank", 0), "rank": set("rank", 3), "huge rank": set("rank", math.MaxInt64), "dim": set("dim", 2), "negative": set("dim", -3),
		"not orthonormal": set("basis", persist.Floats{1, 0, 0, 1, 0, 0}), "NaN": set("basis", persist.Floats{1, 0, 0, 0, math.NaN(), 0}),
		"infinite": set("root", persist.Floats{1, 0, 0, math.Inf(1)}), "not symmetric": set("root", persist.Floats{1, 0, 0.5, 1}), "short": set("root", persist.Floats{1, 0, 0}), "unknown": set("colour", 1),
	})
	persisttest.Numbers(t, file, metric.LoadLowRank, func(m *metric.LowRank) {
		m.SqDist(make([]float64, m.Dim()), make([]float64, m.Dim()))
	})
}

func FuzzLoadLowRank(f *testing.F) {
	m, err := metric.NewLowRank(mat.NewDense(1, 2, []float64{0.6, 0.8}), mat.NewDense(1, 1, []float64{2}))
	if err != nil {
		f.Fatal(err)
	}
	persisttest.Fuzz(f, metric.LoadLowRank, func(m *metric.LowRank) {
		if m.Dim() < 1000 {
			m.SqDist(make([]float64, m.Dim()), make([]float64, m.Dim()))
		}
	}, persisttest.Saved(m))
}
