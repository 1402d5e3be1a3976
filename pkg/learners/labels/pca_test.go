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

	"metriclab/internal/matrix"
	"metriclab/internal/product"
	"metriclab/pkg/metric"
)

// pcaTol bounds, relative to the largest variance, what round-off and the stop of
// Lanczos at 1e-13 leave in eigenvalues, residuals and orthogonality.
const pcaTol = 1e-11

// TestPCA checks the definition on every path: covariance and Gram matrix, full
// decomposition and Lanczos.
func TestPCA(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	for _, c := range []struct{ n, d, k int }{
		{50, 6, 6}, {50, 6, 1}, {6, 50, 6}, {6, 50, 3}, {1, 4, 1}, {400, 200, 20}, {200, 300, 11}, {300, 170, 160},
	} {
		x := stretched(rng, c.n, c.d)
		p, err := FitPCA(t.Context(), x, c.k)
		if err != nil {
			t.Fatal(err)
		}
		cov, mean := covariance(x, upTo(c.n))
		var eig mat.EigenSym
		eig.Factorize(cov, false)
		want := eig.Values(nil)
		slices.Reverse(want)
		w, got := p.Components(), p.Variances()
		if !mat.EqualApprox(gramRows(w), identity(c.k), pcaTol) {
			t.Errorf("%+v: components are not orthonormal", c)
		}
		if !mat.EqualApprox(mat.NewVecDense(c.d, p.Mean()), mean, 1e-12) {
			t.Errorf("%+v: wrong mean", c)
		}
		if r := p.Residual(); !(r >= 0 && r <= lanczosTolerance*10) {
			t.Errorf("%+v: residual %g", c, r)
		}
		scale := math.Max(want[0], 1)
		for i := range c.k {
			if math.Abs(got[i]-max(want[i], 0)) > pcaTol*scale {
				t.Errorf("%+v: variance %d is %v, want %v", c, i, got[i], want[i])
			}
			var r mat.VecDense
			r.MulVec(cov, w.RowView(i))
			r.AddScaledVec(&r, -got[i], w.RowView(i))
			if mat.Norm(&r, 2) > pcaTol*scale {
				t.Errorf("%+v: component %d has residual %g", c, i, mat.Norm(&r, 2))
			}
			fixed := slices.Clone(w.RawRowView(i))
			metric.FixSign(fixed)
			if !slices.Equal(fixed, w.RawRowView(i)) {
				t.Errorf("%+v: component %d has the wrong sign", c, i)
			}
		}
	}
}

// Block by block, the second moments have the bits of those of all deviations at once. Where gonum multiplies, they differ by round-off.
func TestSecondMoment(t *testing.T) {
	for _, n := range []int{100, 256, 700} {
		x := stretched(rand.New(rand.NewPCG(6, 7)), n, 70)
		mean := func(row int) []float64 { return x.RawRowView((row + 7) % n) }
		dev := mat.NewDense(n, 70, nil)
		var want float64
		for _, s := range deviate(dev, x, 0, mean) {
			want += s
		}
		for i := range n {
			for j, v := range mean(i) {
				if dev.At(i, j) != x.At(i, j)-v {
					t.Fatalf("%d rows: deviation %d, %d is %v, want %v", n, i, j, dev.At(i, j), x.At(i, j)-v)
				}
			}
		}
		c, total, err := secondMoment(t.Context(), x, mean)
		if err != nil || total != want {
			t.Errorf("%d rows: sum of squares %v, want %v (%v)", n, total, want, err)
		}
		same := mat.Equal
		if strings.Contains(product.Path(), "without FMA") {
			same = func(a, b mat.Matrix) bool { return mat.EqualApprox(a, b, pcaTol) }
		}
		if !same(c, matrix.Outer(1, dev.T())) {
			t.Errorf("%d rows: other bits than at once", n)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := secondMoment(ctx, mat.NewDense(3, 3, nil), always(make([]float64, 3))); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: error %v", err)
	}
}

// TestPCAReconstruction: the mean squared error of the best rank-k affine
// approximation is the sum of the variances left out.
func TestPCAReconstruction(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 2))
	const n, d = 40, 7
	x := stretched(rng, n, d)
	all, err := FitPCA(t.Context(), x, d)
	if err != nil {
		t.Fatal(err)
	}
	for k := 1; k <= d; k++ {
		p, err := FitPCA(t.Context(), x, k)
		if err != nil {
			t.Fatal(err)
		}
		var diff mat.Dense
		diff.Sub(x, p.Reconstruct(x))
		var want float64
		for _, v := range all.Variances()[k:] {
			want += v
		}
		if got := math.Pow(mat.Norm(&diff, 2), 2) / n; math.Abs(got-want) > pcaTol*all.Variances()[0] {
			t.Errorf("k = %d: mean squared error %v, want %v", k, got, want)
		}
		// The metric is the squared distance between scores.
		z := p.Transform(x)
		if got, want := p.Metric().SqDist(x.RawRowView(0), x.RawRowView(1)), (metric.Euclidean{}).SqDist(z.RawRowView(0), z.RawRowView(1)); math.Abs(got-want) > 1e-11*want {
			t.Errorf("k = %d: metric says %v, scores %v", k, got, want)
		}
		// Scores have mean 0 and the variances as diagonal covariance.
		cov, mean := covariance(z, upTo(n))
		if mat.Norm(mean, 2) > 1e-12*float64(d)*math.Sqrt(all.Variances()[0]) {
			t.Errorf("k = %d: mean score %v", k, mean)
		}
		if want := mat.NewDiagDense(k, p.Variances()); !mat.EqualApprox(cov, want, pcaTol*all.Variances()[0]) {
			t.Errorf("k = %d: scores are correlated", k)
		}
	}
}

// TestPCADegenerate: constant and repeated data, and more components than
// directions with variance.
func TestPCADegenerate(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 3))
	rank2 := new(mat.Dense)
	rank2.Mul(normal(rng, 8, 2), normal(rng, 2, 30))
	for name, x := range map[string]*mat.Dense{
		"constant, tall": mat.NewDense(9, 3, nil),
		"constant, wide": mat.NewDense(3, 9, nil),
		"rank 2, wide":   rank2,
		"rank 2, tall":   mat.DenseCopyOf(rank2.T()),
	} {
		n, d := x.Dims()
		k := min(n, d)
		p, err := FitPCA(t.Context(), x, k)
		if err != nil {
			t.Fatal(err)
		}
		if !mat.EqualApprox(gramRows(p.Components()), identity(k), pcaTol) {
			t.Errorf("%s: components are not orthonormal", name)
		}
		if !mat.EqualApprox(p.Reconstruct(x), x, 1e-9) {
			t.Errorf("%s: all components do not reconstruct the data", name)
		}
		for i, v := range p.Variances() {
			if v < 0 || math.IsNaN(v) || i >= 2 && v > pcaTol*100 {
				t.Errorf("%s: variance %d is %v", name, i, v)
			}
		}
	}
}

func TestPCAErrors(t *testing.T) {
	x := mat.NewDense(3, 2, []float64{0, 0, 1, 0, 0, 1})
	for want, err := range map[string]error{
		"k: 0 is not allowed, want 1 to min(n, d) = 2": fitPCAErr(x, 0),
		"k: 3 is not allowed":                          fitPCAErr(x, 3),
		"row 0, column 0: NaN":                         fitPCAErr(mat.NewDense(1, 1, []float64{math.NaN()}), 1),
		"overflows":                                    fitPCAErr(mat.NewDense(2, 1, []float64{1e200, -1e200}), 1),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
	p, err := FitPCA(t.Context(), x, 1)
	if err != nil {
		t.Fatal(err)
	}
	mustPanic(t, "empty data", func() { FitPCA(t.Context(), &mat.Dense{}, 1) })
	mustPanic(t, "Transform of another dimension", func() { p.Transform(mat.NewDense(1, 3, nil)) })
	mustPanic(t, "Transform of nothing", func() { p.Transform(&mat.Dense{}) })
}

func fitPCAErr(x *mat.Dense, k int) error { _, err := FitPCA(context.Background(), x, k); return err }

func ExampleFitPCA() {
	// Points near the line through (1, 1) and (3, 3).
	x := mat.NewDense(4, 2, []float64{
		1, 1,
		1.9, 2.1,
		2.1, 1.9,
		3, 3,
	})
	p, err := FitPCA(context.Background(), x, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("mean %.2f, direction %.3f, variance %.2f\n", p.Mean(), p.Components().RawRowView(0), p.Variances()[0])
	fmt.Printf("(3, 1) is nearest to %.2f\n", p.Reconstruct(mat.NewDense(1, 2, []float64{3, 1})).RawRowView(0))
	// Output:
	// mean [2.00 2.00], direction [0.707 0.707], variance 1.00
	// (3, 1) is nearest to [2.00 2.00]
}

// Alg gonum is the covariance by SymOuterK and mat.EigenSym, all eigenvectors; the covariance alone is gonum-covariance
// and covariance. With -cpu 1 each runs on one core, with -cpu 2 on two.
func BenchmarkPCA(b *testing.B) {
	rng := rand.New(rand.NewPCG(6, 4))
	const n, d = 10000, 784
	// Variances that fall like those of images.
	x := normal(rng, n, d)
	for i := range n {
		for j := range d {
			x.Set(i, j, x.At(i, j)/float64(1+j))
		}
	}
	run := func(alg string, f func(b *testing.B)) {
		b.Run(fmt.Sprintf("alg=%s/n=%d/dim=%d", alg, n, d), func(b *testing.B) {
			for b.Loop() {
				f(b)
			}
		})
	}
	for _, k := range []int{d, 50, 10} {
		run(fmt.Sprintf("PCA/k=%d", k), func(b *testing.B) {
			p, err := FitPCA(b.Context(), x, k)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(1e15*p.Residual(), "residual/1e-15")
		})
	}
	run("gonum", func(b *testing.B) {
		c := mat.NewSymDense(d, nil)
		c.SymOuterK(1, x.T())
		var eig mat.EigenSym
		if !eig.Factorize(c, true) {
			b.Fatal("no convergence")
		}
	})
	run("gonum-covariance", func(*testing.B) { mat.NewSymDense(d, nil).SymOuterK(1, x.T()) })
	run("covariance", func(*testing.B) { matrix.Outer(1, x.T()) })
}

// Where variances vanish in float64 there are no directions to learn from, though rows differ.
func TestPCAOfVanishingVariance(t *testing.T) {
	x := mat.NewDense(3, 2, []float64{0, 1e-170, 2e-170, 0, 0, 0})
	if p, err := FitPCA(t.Context(), x, 1); err == nil || !strings.Contains(err.Error(), "vanishes in float64: rescale the features") {
		t.Errorf("%+v, error %v", p, err)
	}
	if _, err := FitPCA(t.Context(), mat.NewDense(3, 2, nil), 1); err != nil { // rows that coincide are documented
		t.Errorf("no variance at all: %v", err)
	}
}
