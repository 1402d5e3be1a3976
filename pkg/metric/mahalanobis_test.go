package metric_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
	"metriclab/pkg/metric/metrictest"
)

// matTol is about d·ε times matrices of norm up to 100, d ≤ 20.
const matTol = 1e-11

// psd returns a random positive semi-definite matrix of the given rank.
func psd(rng *rand.Rand, d, rank int) *mat.SymDense {
	out := mat.NewSymDense(d, nil)
	if rank > 0 {
		out.SymOuterK(1, normal(rng, d, rank))
	}
	return out
}

func symmetric(rng *rand.Rand, d int) *mat.SymDense {
	out := mat.NewSymDense(d, nil)
	for i := range d {
		for j := i; j < d; j++ {
			out.SetSym(i, j, rng.NormFloat64())
		}
	}
	return out
}

func mustNew(t *testing.T, m mat.Symmetric) *metric.Mahalanobis {
	t.Helper()
	out, err := metric.NewMahalanobis(m)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestMahalanobisIsItsMatrix: LᵀL = M, the number of rows is the rank, and the
// distance is the quadratic form, the embedding and the axioms.
func TestMahalanobisIsItsMatrix(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	for _, c := range []struct{ d, rank int }{{1, 1}, {1, 0}, {5, 5}, {5, 2}, {5, 0}, {20, 7}} {
		want := psd(rng, c.d, c.rank)
		m := mustNew(t, want)
		if m.Dim() != c.d || m.Rows() != c.rank {
			t.Errorf("%+v: dimension %d, %d rows", c, m.Dim(), m.Rows())
		}
		if !mat.EqualApprox(m.M(), want, matTol) {
			t.Errorf("%+v: LᵀL is not M", c)
		}
		if n := mat.Norm(want, 2); math.Abs(m.SqNorm()-n*n) > matTol*(1+n*n) {
			t.Errorf("%+v: squared norm %v, want %v", c, m.SqNorm(), n*n)
		}
		x := normal(rng, 8, c.d)
		metrictest.Check(t, m, rows(x), matTol)
		z := m.EmbedRows(x)
		for i := range 8 {
			for j := range 8 {
				var v mat.VecDense
				v.SubVec(x.RowView(i), x.RowView(j))
				form := mat.Inner(&v, want, &v)
				for name, got := range map[string]float64{
					"SqDist":    m.SqDist(x.RawRowView(i), x.RawRowView(j)),
					"Embed":     metric.Euclidean{}.SqDist(m.Embed(x.RawRowView(i)), m.Embed(x.RawRowView(j))),
					"EmbedRows": metric.Euclidean{}.SqDist(z.RawRowView(i), z.RawRowView(j)),
				} {
					if math.Abs(got-form) > matTol*(1+form) {
						t.Errorf("%+v: %s gives %v, the quadratic form is %v", c, name, got, form)
					}
				}
			}
		}
	}
}

// TestNewMahalanobisRefuses demands an error that says how far the matrix is from
// positive semi-definite, and none within the tolerance.
func TestNewMahalanobisRefuses(t *testing.T) {
	diag := func(v ...float64) *mat.SymDense {
		out := mat.NewSymDense(len(v), nil)
		for i, a := range v {
			out.SetSym(i, i, a)
		}
		return out
	}
	for _, c := range []struct {
		m    mat.Symmetric
		want string
	}{
		{diag(4, -0.5), "smallest eigenvalue -0.5, largest 4"},
		{diag(-1, -2), "smallest eigenvalue -2, largest -1"},
		{diag(0, -1e-300), "largest 0"},
		{diag(1, -2*metric.PSDTolerance), "not positive semi-definite"},
	} {
		_, err := metric.NewMahalanobis(c.m)
		if !errors.Is(err, metric.ErrNotPSD) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want an error with %q", err, c.want)
		}
	}
	if m := mustNew(t, diag(1, -0.5*metric.PSDTolerance)); m.Rows() != 1 {
		t.Errorf("round-off counted as a direction: %d rows", m.Rows())
	}
	for _, v := range []float64{math.NaN(), math.Inf(1)} {
		if _, err := metric.NewMahalanobis(diag(1, v)); err == nil || !strings.Contains(err.Error(), "entry (1, 1)") {
			t.Errorf("%v: got %v, want an error that names the entry", v, err)
		}
	}
	mustPanic(t, "0×0", func() { metric.NewMahalanobis(&mat.SymDense{}) })
}

func TestPrincipal(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	dependent := normal(rng, 3, 6)
	dependent.SetRow(1, dependent.RawRowView(0))
	for name, l := range map[string]*mat.Dense{
		"r < d":          normal(rng, 3, 6),
		"r = d":          normal(rng, 5, 5),
		"r > d":          normal(rng, 9, 4),
		"dependent rows": dependent,
		"zero rows":      mat.NewDense(2, 4, nil),
	} {
		m := metric.FromFactor(l)
		var eig mat.EigenSym
		eig.Factorize(m.M(), false)
		want := eig.Values(nil)
		slices.Reverse(want)
		r, d := l.Dims()
		k := min(r, d)
		values, u := m.Principal(k)
		for i := range k {
			if math.Abs(values[i]-want[i]) > matTol || values[i] < 0 {
				t.Errorf("%s: eigenvalue %d is %v, want %v", name, i, values[i], want[i])
			}
			var v mat.VecDense
			v.MulVec(m.M(), u.RowView(i))
			v.AddScaledVec(&v, -values[i], u.RowView(i))
			if mat.Norm(&v, 2) > matTol {
				t.Errorf("%s: eigenvector %d has residual %g", name, i, mat.Norm(&v, 2))
			}
			fixed := slices.Clone(u.RawRowView(i))
			metric.FixSign(fixed)
			if !slices.Equal(fixed, u.RawRowView(i)) {
				t.Errorf("%s: eigenvector %d has the wrong sign", name, i)
			}
		}
		checkOrthonormal(t, name, u)
		if one, _ := m.Principal(1); one[0] != values[0] {
			t.Errorf("%s: Principal(1) gives %v, Principal(%d) %v", name, one[0], k, values[0])
		}
		mustPanic(t, name+", k = 0", func() { m.Principal(0) })
		mustPanic(t, name+", k too large", func() { m.Principal(k + 1) })
	}
	mustPanic(t, "rank 0", func() { metric.Zero(3).Principal(1) })
}

func checkOrthonormal(t *testing.T, name string, u *mat.Dense) {
	t.Helper()
	k, _ := u.Dims()
	var g mat.Dense
	g.Mul(u, u.T())
	for i := range k {
		g.Set(i, i, g.At(i, i)-1)
	}
	if n := mat.Norm(&g, 2); n > matTol {
		t.Errorf("%s: rows are not orthonormal: UUᵀ − I has norm %g", name, n)
	}
}

// TestProjectPSD checks the definition of a projection on a convex cone: no other
// member is nearer, and the optimality conditions, A = P − N with P, N ⪰ 0 and
// PN = 0.
func TestProjectPSD(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	for _, a := range []*mat.SymDense{symmetric(rng, 1), symmetric(rng, 4), symmetric(rng, 9), psd(rng, 5, 3), mat.NewSymDense(3, nil)} {
		d := a.SymmetricDim()
		p, negative, err := metric.ProjectPSD(a)
		if err != nil {
			t.Fatal(err)
		}
		n := mat.NewSymDense(d, nil)
		n.ScaleSym(-1, a)
		n.AddSym(n, p)
		below := 0
		for name, m := range map[string]*mat.SymDense{"projection": p, "residual": n} {
			var eig mat.EigenSym
			eig.Factorize(m, false)
			if low := eig.Values(nil)[0]; low < -matTol {
				t.Errorf("d = %d: the %s has eigenvalue %g", d, name, low)
			}
			if name == "residual" {
				for _, v := range eig.Values(nil) {
					if v > matTol {
						below++
					}
				}
			}
		}
		// Eigenvalues of a singular matrix can be negative by round-off.
		if negative < below || negative > below+d-1 {
			t.Errorf("d = %d: %d negative eigenvalues, want %d", d, negative, below)
		}
		var pn mat.Dense
		pn.Mul(p, n)
		if mat.Norm(&pn, 2) > matTol {
			t.Errorf("d = %d: projection and residual are not orthogonal: %g", d, mat.Norm(&pn, 2))
		}
		best := mat.Norm(n, 2)
		for trial := range 200 {
			c := psd(rng, d, 1+rng.IntN(d))
			if trial%2 == 0 { // near the projection, where one could be better
				c.ScaleSym(1e-3, c)
				c.AddSym(c, p)
			}
			var diff mat.SymDense
			diff.ScaleSym(-1, c)
			diff.AddSym(&diff, a)
			if dist := mat.Norm(&diff, 2); dist < best-matTol {
				t.Fatalf("d = %d: a candidate is at distance %v, the projection at %v", d, dist, best)
			}
		}
	}
	bad := mat.NewSymDense(2, []float64{1, math.NaN(), 0, 1})
	if _, _, err := metric.ProjectPSD(bad); err == nil || !strings.Contains(err.Error(), "entry (0, 1) is NaN") {
		t.Errorf("got %v, want an error that names the entry", err)
	}
}

func TestZeroAndIdentity(t *testing.T) {
	x, y := []float64{1, 2}, []float64{4, 6}
	z := metric.Zero(2)
	if z.SqDist(x, y) != 0 || z.Factor() != nil || len(z.Embed(x)) != 0 || z.SqNorm() != 0 {
		t.Error("Zero is not the zero metric")
	}
	if n, c := z.EmbedRows(mat.NewDense(3, 2, nil)).Dims(); n != 3 || c != 1 {
		t.Errorf("Zero embeds 3 rows into %d×%d, want 3×1", n, c)
	}
	if !mat.Equal(z.M(), mat.NewSymDense(2, nil)) {
		t.Error("M of Zero is not zero")
	}
	if got := metric.Identity(2).SqDist(x, y); got != 25 {
		t.Errorf("Identity gives %v, want 25", got)
	}
	mustPanic(t, "Zero(0)", func() { metric.Zero(0) })
	mustPanic(t, "Identity(0)", func() { metric.Identity(0) })
	mustPanic(t, "empty factor", func() { metric.FromFactor(&mat.Dense{}) })
	mustPanic(t, "Embed of another dimension", func() { z.Embed(x[:1]) })
	mustPanic(t, "EmbedRows of another dimension", func() { z.EmbedRows(mat.NewDense(1, 3, nil)) })
}

// TestMahalanobisIsImmutable: neither the matrix given nor those returned are
// shared.
func TestMahalanobisIsImmutable(t *testing.T) {
	l := mat.NewDense(1, 2, []float64{1, 2})
	m := metric.FromFactor(l)
	l.Set(0, 0, 9)
	m.Factor().Set(0, 0, 9)
	m.M().SetSym(0, 0, 9)
	if got := m.SqDist([]float64{1, 0}, []float64{0, 0}); got != 1 {
		t.Errorf("squared distance %v after changes outside, want 1", got)
	}
}

func TestFixSign(t *testing.T) {
	for _, c := range []struct{ in, want []float64 }{
		{[]float64{1, -2}, []float64{-1, 2}},
		{[]float64{-1, 2}, []float64{-1, 2}},
		{[]float64{-2, 2}, []float64{2, -2}}, // the first of equal magnitude counts
		{[]float64{0, 0}, []float64{0, 0}},
		{nil, nil},
	} {
		got := slices.Clone(c.in)
		metric.FixSign(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%v became %v, want %v", c.in, got, c.want)
		}
	}
}

func ExampleMahalanobis() {
	// The second feature counts for 4 times as much.
	m, err := metric.NewMahalanobis(mat.NewSymDense(2, []float64{1, 0, 0, 4}))
	if err != nil {
		fmt.Println(err)
		return
	}
	x, y := []float64{0, 0}, []float64{3, 2}
	fmt.Printf("squared distance %.0f\n", m.SqDist(x, y))
	_, err = metric.NewMahalanobis(mat.NewSymDense(2, []float64{1, 2, 2, 1}))
	fmt.Println(err)
	// Output:
	// squared distance 25
	// metric: matrix is not positive semi-definite: smallest eigenvalue -1, largest 3
}

// TestProjectPSDTiny: a block of 1e-130 beside one of order 1, which mat.EigenSym makes one of 1e122.
func TestProjectPSDTiny(t *testing.T) {
	for _, m := range []*mat.SymDense{
		mat.NewSymDense(4, []float64{2e-130, 1e-130, 0, 0, 1e-130, 2e-130, 0, 0, 0, 0, 1, .5, 0, 0, .5, 1}),
		mat.NewSymDense(4, []float64{1, .5, 0, 0, .5, 1, 0, 0, 0, 0, 2e-130, 1e-130, 0, 0, 1e-130, 2e-130}),
	} {
		got, negative, err := metric.ProjectPSD(m)
		if err != nil {
			t.Fatal(err)
		}
		if negative != 0 || !mat.EqualApprox(got, m, 1e-15) {
			t.Errorf("%d eigenvalues removed, projection\n%v\nwant\n%v", negative, mat.Formatted(got), mat.Formatted(m))
		}
		l, err := metric.NewMahalanobis(m)
		if err != nil {
			t.Fatal(err)
		}
		if values, _ := l.Principal(2); !(math.Abs(values[0]-1.5) <= 1e-15 && math.Abs(values[1]-0.5) <= 1e-15) || l.Rows() != 2 {
			t.Errorf("eigenvalues %v of rank %d, want 1.5, 0.5 of rank 2", values, l.Rows())
		}
	}
}

// Sums that overflow on the way, and would cancel to NaN, are made again in other units.
func TestSqDistOfLargeVectors(t *testing.T) {
	for _, c := range []struct {
		l, x, y []float64
		want    float64
	}{
		{[]float64{1e200, -1e200}, []float64{1e120, 1e120}, []float64{0, 0}, 0},
		{[]float64{1e200, -1e200}, []float64{1e-190, 1e120}, []float64{0, 1e120}, 1e20},
		{[]float64{1e160, 1e-160}, []float64{1e150, 1e150}, []float64{0, 0}, math.Inf(1)},
		{[]float64{1e-100, 0}, []float64{1e200, 1e300}, []float64{0, 0}, 1e200},
		{[]float64{1, 1}, []float64{1e308, 0}, []float64{-1e308, 0}, math.Inf(1)},
	} {
		m := metric.FromFactor(mat.NewDense(1, 2, c.l))
		if got := m.SqDist(c.x, c.y); math.Abs(got-c.want) > 1e-12*c.want && got != c.want || math.IsNaN(got) {
			t.Errorf("L = %v, x = %v, y = %v: d² = %v, want %v", c.l, c.x, c.y, got, c.want)
		}
	}
	if got := metric.Identity(1).SqDist([]float64{math.NaN()}, []float64{1}); !math.IsNaN(got) {
		t.Errorf("d² of NaN = %v", got)
	}
}

// Where M overflows its eigenvectors are still known, and eigenvalues are +Inf.
func TestPrincipalOfHugeFactors(t *testing.T) {
	for _, l := range []*mat.Dense{
		mat.NewDense(2, 2, []float64{3e200, 4e200, 0, 0}), mat.NewDense(1, 2, []float64{3e200, 4e200}),
	} {
		values, vectors := metric.FromFactor(l).Principal(1)
		if !math.IsInf(values[0], 1) || math.Abs(vectors.At(0, 0)-0.6) > 1e-15 || math.Abs(vectors.At(0, 1)-0.8) > 1e-15 {
			t.Errorf("eigenvalue %v, eigenvector %v", values[0], mat.Formatted(vectors))
		}
	}
}
