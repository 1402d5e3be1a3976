package labels

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/product"
	"metriclab/pkg/metric"
)

// fdaTol is about d·ε·κ(S_W) for d ≤ 30 and condition numbers up to 1e4, relative.
const fdaTol = 1e-9

// classData returns n rows in the given number of classes around random means.
func classData(rng *rand.Rand, n, d, classes int) (*mat.Dense, []int) {
	x := stretched(rng, n, d)
	means := normal(rng, classes, d)
	y := make([]int, n)
	for i := range n {
		y[i] = 10 * (i % classes)
		for j := range d {
			x.Set(i, j, x.At(i, j)+means.At(i%classes, j))
		}
	}
	return x, y
}

// scatters are S_W + ρsI and S_B from their definitions.
func scatters(x *mat.Dense, y []int, ridge float64) (within, between *mat.SymDense) {
	n, d := x.Dims()
	_, mean := covariance(x, upTo(n))
	within, between = mat.NewSymDense(d, nil), mat.NewSymDense(d, nil)
	for c := range slices.Max(y) + 1 {
		var rows []int
		for i := range n {
			if y[i] == c {
				rows = append(rows, i)
			}
		}
		if len(rows) == 0 {
			continue
		}
		share := float64(len(rows)) / float64(n)
		cov, m := covariance(x, rows)
		cov.ScaleSym(share, cov)
		within.AddSym(within, cov)
		m.SubVec(m, mean)
		between.SymRankOne(between, share, m)
	}
	shift := ridge * mat.Trace(within) / float64(d)
	for i := range d {
		within.SetSym(i, i, within.At(i, i)+shift)
	}
	return within, between
}

// TestFDA checks the generalised eigenproblem, its normalisation, and that no
// direction has a larger ratio.
func TestFDA(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	for _, c := range []struct {
		n, d, classes int
		ridge         float64
	}{{60, 5, 3, 0}, {60, 5, 2, 0.1}, {40, 3, 6, 0}, {20, 30, 4, 0.01}, {500, 12, 160, 0}, {400, 7, 151, 0.1}, {320, 155, 154, 0.1}} {
		x, y := classData(rng, c.n, c.d, c.classes)
		f, err := FitFDA(t.Context(), x, y, FDAParams{Ridge: c.ridge})
		if err != nil {
			t.Fatal(err)
		}
		within, between := scatters(x, y, c.ridge)
		w, lambda := f.Directions(), f.Ratios()
		k, _ := w.Dims()
		if want := min(c.classes-1, c.d); k != want {
			t.Errorf("%+v: %d directions, want %d", c, k, want)
		}
		var wsw mat.Dense
		wsw.Product(w, within, w.T())
		if !mat.EqualApprox(&wsw, identity(k), fdaTol) {
			t.Errorf("%+v: W(S_W+ρsI)Wᵀ is not I", c)
		}
		for i := range k {
			var l, r mat.VecDense
			l.MulVec(between, w.RowView(i))
			r.MulVec(within, w.RowView(i))
			r.ScaleVec(lambda[i], &r)
			if !mat.EqualApprox(&l, &r, fdaTol*mat.Norm(&l, 2)) {
				t.Errorf("%+v: direction %d does not solve the eigenproblem", c, i)
			}
			if i > 0 && lambda[i] > lambda[i-1] {
				t.Errorf("%+v: ratios %v are not descending", c, lambda)
			}
			fixed := slices.Clone(w.RawRowView(i))
			metric.FixSign(fixed)
			if !slices.Equal(fixed, w.RawRowView(i)) {
				t.Errorf("%+v: direction %d has the wrong sign", c, i)
			}
		}
		for range 200 {
			v := normal(rng, c.d, 1).ColView(0)
			if ratio := mat.Inner(v, between, v) / mat.Inner(v, within, v); ratio > lambda[0]*(1+fdaTol) {
				t.Fatalf("%+v: a random direction has ratio %v > λ₁ = %v", c, ratio, lambda[0])
			}
		}
	}
}

// TestFDATwoClasses is Fisher's closed form: w ∝ (S_W+ρsI)⁻¹(m₁−m₀).
func TestFDATwoClasses(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 2))
	for _, ridge := range []float64{0, 0.3} {
		x, y := classData(rng, 50, 6, 2)
		f, err := FitFDA(t.Context(), x, y, FDAParams{K: 1, Ridge: ridge})
		if err != nil {
			t.Fatal(err)
		}
		within, _ := scatters(x, y, ridge)
		diff := mat.NewVecDense(6, nil)
		for i := range 50 {
			diff.AddScaledVec(diff, float64(2*y[i]/10-1)/25, x.RowView(i))
		}
		var want mat.VecDense
		if err := want.SolveVec(within, diff); err != nil {
			t.Fatal(err)
		}
		want.ScaleVec(1/mat.Norm(&want, 2), &want)
		metric.FixSign(want.RawVector().Data)
		got := mat.VecDenseCopyOf(f.Directions().RowView(0))
		got.ScaleVec(1/mat.Norm(got, 2), got)
		if !mat.EqualApprox(got, &want, fdaTol) {
			t.Errorf("ridge %g: direction %v, want %v", ridge, got.RawVector().Data, want.RawVector().Data)
		}
	}
}

// TestFDAConstantFeature: with ridge 0 a constant feature is ignored, and so is
// one that is constant inside classes though it separates them; with a ridge the
// second one is used.
func TestFDAConstantFeature(t *testing.T) {
	const roundOff = 1e-12
	rng := rand.New(rand.NewPCG(8, 3))
	x, y := classData(rng, 40, 4, 2)
	for i := range 40 {
		x.Set(i, 1, 0.1)
		x.Set(i, 2, float64(y[i]))
	}
	for _, ridge := range []float64{0, 1e-3} {
		f, err := FitFDA(t.Context(), x, y, FDAParams{Ridge: ridge})
		if err != nil {
			t.Fatal(err)
		}
		w := f.Directions()
		if v := w.At(0, 1); math.Abs(v) > roundOff {
			t.Errorf("ridge %g: weight %v of a constant feature", ridge, v)
		}
		if v := math.Abs(w.At(0, 2)); (v > roundOff) != (ridge > 0) {
			t.Errorf("ridge %g: weight %v of a feature constant inside classes", ridge, v)
		}
		for _, v := range f.Transform(x).RawMatrix().Data {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Fatalf("ridge %g: score %v", ridge, v)
			}
		}
	}
}

func TestFDAScoresAndMetric(t *testing.T) {
	x, y := classData(rand.New(rand.NewPCG(8, 4)), 30, 4, 3)
	f, err := FitFDA(t.Context(), x, y, FDAParams{})
	if err != nil {
		t.Fatal(err)
	}
	z := f.Transform(x)
	if _, mean := covariance(z, upTo(30)); mat.Norm(mean, 2) > fdaTol {
		t.Errorf("mean score %v, want 0", mean.RawVector().Data)
	}
	got, want := f.Metric().SqDist(x.RawRowView(3), x.RawRowView(7)), metric.Euclidean{}.SqDist(z.RawRowView(3), z.RawRowView(7))
	if math.Abs(got-want) > fdaTol*want {
		t.Errorf("metric says %v, scores %v", got, want)
	}
	if len(f.Mean()) != 4 {
		t.Errorf("mean has %d entries", len(f.Mean()))
	}
}

// Many rows need no copy of their deviations: FDA has the bits of the copy, and so has the inverse covariance. Where gonum multiplies, they differ
// by round-off.
func TestInverseByMoment(t *testing.T) {
	same := mat.Equal
	if strings.Contains(product.Path(), "without FMA") {
		same = func(a, b mat.Matrix) bool { return mat.EqualApprox(a, b, fdaTol*mat.Norm(b, 2)) }
	}
	x, y := classData(rand.New(rand.NewPCG(8, 6)), 400, 70, 3)
	class := classOf(y)
	mean, means := meanOf(x), meansOf(x, class)
	between := scatterOf(means, mean, class)
	within := func(row int) []float64 { return means[class[row]] }
	for _, ridge := range []float64{0, 1e-3} {
		inverse := func(mean func(int) []float64) *metric.Mahalanobis {
			dev := mat.NewDense(400, 70, nil)
			deviate(dev, x, 0, mean)
			m, err := metric.InverseScatter(dev, 400, ridge)
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		want, _, err := discriminants(between, whitening{l: inverse(within).Factor()}, 0)
		if err != nil {
			t.Fatal(err)
		}
		if f, err := FitFDA(t.Context(), x, y, FDAParams{Ridge: ridge}); err != nil || !same(f.Directions(), want) {
			t.Errorf("ridge %g: FDA has other bits than of a copy (%v)", ridge, err)
		}
		if r, err := FitInvCov(t.Context(), x, InvCovParams{Ridge: ridge}); err != nil || !same(r.Metric.Factor(), inverse(always(mean)).Factor()) {
			t.Errorf("ridge %g: the inverse covariance has other bits than of a copy (%v)", ridge, err)
		}
	}
}

// Many features are whitened by the Cholesky factor: the directions are those by the inverse, but for round-off times the condition of S_W + ρsI.
// Where that may have an eigenvalue that is zero, there is no factor, and the bits are those by the inverse.
func TestFDAByCholesky(t *testing.T) {
	const d = 150
	for _, c := range []struct {
		n, classes int
		least      float64 // standard deviation of a feature; others have 1
		copies     int     // of the last feature
		ridge, tol float64 // tol 0: no factor
	}{
		{400, 2, 1, 0, 0, fdaTol},
		{400, 10, 1, 0, 1e-3, fdaTol},
		{400, 10, 1e-3, 0, 0, 1e-8},
		{400, 10, 0, 0, 1e-3, fdaTol},
		{100, 10, 1, 0, 1e-3, fdaTol},     // fewer rows than features
		{600, d + 10, 1, 0, 1e-3, fdaTol}, // more classes than features
		{400, 10, 1e-7, 0, 0, 0},
		{400, 10, 0, 0, 0, 0},
		{400, 10, 1, 1, 0, 0},
		{100, 10, 1, 0, 0, 0},
		{400, 10, 1, 1, 1e-14, 0},
	} {
		rng := rand.New(rand.NewPCG(8, 7))
		x, y := normal(rng, c.n, d), make([]int, c.n)
		for i := range y {
			y[i] = i % c.classes
			row := x.RawRowView(i)
			row[y[i]%d] += 3
			row[0] *= c.least
			copy(row[d-1-c.copies:d-1], row[d-c.copies:])
		}
		class := classOf(y)
		means := meansOf(x, class)
		dev := mat.NewDense(c.n, d, nil)
		deviate(dev, x, 0, func(row int) []float64 { return means[class[row]] })
		within, err := metric.InverseScatter(dev, float64(c.n), c.ridge)
		if err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		want, ratios, err := discriminants(scatterOf(means, meanOf(x), class), whitening{l: within.Factor()}, 0)
		if err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		f, err := FitFDA(t.Context(), x, y, FDAParams{Ridge: c.ridge})
		if err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		if len(f.values) != len(ratios) {
			t.Errorf("%+v: %d directions, want %d", c, len(f.values), len(ratios))
		} else if !floats.EqualApprox(f.values, ratios, c.tol*ratios[0]) || !mat.EqualApprox(f.Metric().M(), metric.FromFactor(want).M(), c.tol*mat.Norm(want, 2)*mat.Norm(want, 2)) {
			t.Errorf("%+v: other directions than by the inverse", c)
		} else if c.tol > 0 == mat.Equal(f.Directions(), want) {
			t.Errorf("%+v: bits of the inverse: %v", c, c.tol > 0)
		}
	}
}

func TestFDACollinearMeans(t *testing.T) {
	x := mat.NewDense(6, 2, []float64{0, 1, 0, -1, 5, 1.5, 5, -1.5, 9, 1, 9, -1})
	for i := range 6 {
		x.Set(i, 0, x.At(i, 0)+0.1*x.At(i, 1)*x.At(i, 1))
	}
	for i := range 6 { // variance along the first feature too, the same in each class
		x.Set(i, 0, x.At(i, 0)+0.2*x.At(i, 1))
	}
	y := []int{0, 0, 1, 1, 2, 2}
	f, err := FitFDA(t.Context(), x, y, FDAParams{Ridge: 0.01})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(f.Ratios()); n != 1 {
		t.Errorf("%d directions for means on a line, want 1", n)
	}
	if _, err := FitFDA(t.Context(), x, y, FDAParams{K: 2, Ridge: 0.01}); err == nil || !strings.Contains(err.Error(), "differ along 1 directions") {
		t.Errorf("k = 2: got %v, want an error that says how many directions there are", err)
	}
}

func TestFDAErrors(t *testing.T) {
	x := mat.NewDense(4, 2, []float64{0, 0, 1, 0, 0, 1, 3, 3})
	y := []int{0, 0, 1, 1}
	fit := func(x *mat.Dense, y []int, p FDAParams) error { _, err := FitFDA(t.Context(), x, y, p); return err }
	for want, err := range map[string]error{
		"3 labels for 4 rows":         fit(x, y[:3], FDAParams{}),
		"1 class, want at least 2":    fit(x, []int{7, 7, 7, 7}, FDAParams{}),
		"k: -1 is not allowed":        fit(x, y, FDAParams{K: -1}),
		"k: 2 is not allowed":         fit(x, y, FDAParams{K: 2}),
		"ridge: -1 is not allowed":    fit(x, y, FDAParams{Ridge: -1}),
		"ridge: NaN is not allowed":   fit(x, y, FDAParams{Ridge: math.NaN()}),
		"row 1, column 0: +Inf":       fit(mat.NewDense(2, 1, []float64{0, math.Inf(1)}), []int{0, 1}, FDAParams{}),
		"all deviations are zero":     fit(x, []int{0, 1, 2, 3}, FDAParams{}),
		"all class means coincide":    fit(mat.NewDense(4, 1, []float64{.1, .3, .3, .1}), y, FDAParams{}),
		"within classes: the scatter": fit(mat.NewDense(3, 1, []float64{1e200, -1e200, 0}), []int{0, 0, 1}, FDAParams{}),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
	mustPanic(t, "empty data", func() { FitFDA(t.Context(), &mat.Dense{}, nil, FDAParams{}) })
}

func ExampleFitFDA() {
	// Two classes that overlap along each feature but not along their difference.
	x := mat.NewDense(6, 2, []float64{
		0, 1,
		1, 2,
		2, 3,
		1, 0,
		2, 1,
		3, 2.1,
	})
	f, err := FitFDA(context.Background(), x, []int{0, 0, 0, 1, 1, 1}, FDAParams{Ridge: 0.01})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("scores %.1f\n", mat.Formatted(f.Transform(x).T()))
	// Output:
	// scores [-8.4  -8.2  -8.0   8.3   8.5   7.9]
}

func BenchmarkFDA(b *testing.B) {
	rng := rand.New(rand.NewPCG(8, 5))
	const n, d = 10000, 784
	x := normal(rng, n, d)
	y := make([]int, n)
	for i := range y {
		y[i] = i % 10
	}
	for _, ridge := range []float64{0, 1e-3} {
		b.Run(fmt.Sprintf("alg=FDA/n=%d/dim=%d/ridge=%g", n, d, ridge), func(b *testing.B) {
			for b.Loop() {
				if _, err := FitFDA(b.Context(), x, y, FDAParams{Ridge: ridge}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
