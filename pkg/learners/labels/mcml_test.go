package labels

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/cores"
	"metriclab/pkg/learners"
	"metriclab/pkg/metric"
)

// overlapping returns classes whose means differ in the first features, by about gap standard
// deviations, of rows whose features are mixed.
func overlapping(rng *rand.Rand, n, d, classes int, gap float64) (*mat.Dense, []int) {
	const informative = 10
	x, means := normal(rng, n, d), normal(rng, classes, d)
	y := make([]int, n)
	for i := range n {
		y[i] = i % classes
		for j := range min(d, informative) {
			x.Set(i, j, x.At(i, j)+gap*means.At(y[i], j))
		}
	}
	var out mat.Dense
	out.Mul(x, normal(rng, d, d))
	return &out, y
}

// slowMCML is F and its gradient from their definitions, with the terms of each row relative to the
// nearest other row.
func slowMCML(x *mat.Dense, y []int, m mat.Symmetric) (float64, *mat.SymDense) {
	n, d := x.Dims()
	g := mat.NewSymDense(d, nil)
	var f float64
	for i := range n {
		others := 0
		sq := make([]float64, n)
		vs := make([]*mat.VecDense, n)
		nearest := math.Inf(1)
		for j := range n {
			vs[j] = mat.NewVecDense(d, nil)
			vs[j].SubVec(x.RowView(i), x.RowView(j))
			sq[j] = mat.Inner(vs[j], m, vs[j])
			if j != i {
				nearest = min(nearest, sq[j])
				if y[j] == y[i] {
					others++
				}
			}
		}
		if others == 0 {
			continue
		}
		var sum float64
		for j := range n {
			if j != i {
				sum += math.Exp(nearest - sq[j])
			}
		}
		for j := range n {
			if j == i {
				continue
			}
			weight := -math.Exp(nearest-sq[j]) / sum
			if y[j] == y[i] {
				p0 := 1 / float64(others)
				weight += p0
				f += p0 * (math.Log(p0) + sq[j] - nearest + math.Log(sum)) // p₀ log(p₀/p)
			}
			g.SymRankOne(g, weight, vs[j])
		}
	}
	return f, g
}

// newTestMCML is the fit in coordinates that are x itself.
func newTestMCML(t *testing.T, x *mat.Dense, y []int) *mcmlFit {
	t.Helper()
	_, d := x.Dims()
	f, err := newMCMLFit(context.Background(), &coordinates{z: x, b: identity(d)}, y, nil)
	if err != nil {
		t.Fatal(err)
	}
	f.z = x
	return f
}

// TestMCMLGradient: against central differences and the definition.
func TestMCMLGradient(t *testing.T) {
	rng := rand.New(rand.NewPCG(53, 1))
	x, y := overlapping(rng, 25, 4, 3, 1)
	y[3] = 77 // alone in its class
	f := newTestMCML(t, x, y)
	for _, scale := range []float64{1e-3, 0.1, 1} {
		m := psd(rng, 4, scale)
		checkGradient(t, fmt.Sprintf("scale %g", scale), rng, f, m)
		g := mat.NewSymDense(4, nil)
		value := f.value(m)
		f.gradient(g)
		want, wantG := slowMCML(x, y, m)
		if math.Abs(value-want) > 1e-11*want || !mat.EqualApprox(g, wantG, 1e-11*mat.Norm(wantG, 2)) {
			t.Errorf("scale %g: value %v, want %v; gradient %v, want %v", scale, value, want, mat.Formatted(g), mat.Formatted(wantG))
		}
	}
	if f.rows != 24 {
		t.Errorf("%d rows contribute, want 24", f.rows)
	}
}

// TestMCMLBlocks: more rows than a block holds, and not a multiple of it; value alone, value and gradient, and the gradient again.
func TestMCMLBlocks(t *testing.T) {
	const tol = 1e-11 // n·ε, of sums of terms of one size
	rng := rand.New(rand.NewPCG(53, 9))
	for _, n := range []int{blockRows - 1, blockRows, blockRows + 1, 2*blockRows + 7} {
		x, y := overlapping(rng, n, 3, 3, 1)
		y[n-1] = 77 // alone in its class
		f := newTestMCML(t, x, y)
		m := psd(rng, 3, 0.1)
		f.value(psd(rng, 3, 1)) // what it leaves has no influence
		value := f.value(m)
		g, again := mat.NewSymDense(3, nil), mat.NewSymDense(3, nil)
		f.gradient(g)
		f.gradient(again)
		want, wantG := slowMCML(x, y, m)
		if math.Abs(value-want) > tol*want || !mat.EqualApprox(g, wantG, tol*mat.Norm(wantG, 2)) {
			t.Errorf("%d rows: value %v, want %v; gradient %v, want %v", n, value, want, mat.Formatted(g), mat.Formatted(wantG))
		}
		if !mat.Equal(g, again) || f.objective(m, false) != value {
			t.Errorf("%d rows: a second gradient, or the value alone, differs", n)
		}
	}
}

// TestMCMLMemory: a fit takes memory for n·d numbers, not n². All that it ever allocates is counted.
func TestMCMLMemory(t *testing.T) {
	const n, d = 3000, 2
	x, y := overlapping(rand.New(rand.NewPCG(53, 10)), n, d, 2, 1)
	defer cores.Occupy(cores.All)() // each core has a block of its own
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := FitMCML(context.Background(), x, y, MCMLParams{MaxIterations: 1}); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	// A block of 64 rows is 1.5 MB, a packed product at most 4: 8 MB in all, where one n×n matrix would be 72. The race detector empties pools at random, so that each product packs
	// anew: some 50.
	if took := after.TotalAlloc - before.TotalAlloc; took >= 8*n*n {
		t.Errorf("%d bytes were allocated for %d rows", took, n)
	}
}

// TestMCMLOptimum certifies the global minimum of the convex problem from the definition of F, in the
// coordinates of x: ∇F ⪰ 0 and ⟨∇F, M⟩ = 0, so that M = Π(M − ∇F).
func TestMCMLOptimum(t *testing.T) {
	const (
		tol = 1e-10 // nats per row: what FitMCML is asked for
		kkt = 1e-6  // of a gradient whose terms are of the order of 1: the root of tol, times 0.1
	)
	rng := rand.New(rand.NewPCG(53, 2))
	for _, c := range []struct {
		n, d, classes int
		gap           float64
	}{{20, 2, 2, 0.5}, {30, 3, 3, 1}, {40, 5, 2, 1}, {30, 8, 3, 0.3}} {
		x, y := overlapping(rng, c.n, c.d, c.classes, c.gap)
		l, err := FitMCML(context.Background(), x, y, MCMLParams{Tol: tol})
		if err != nil {
			t.Fatal(err)
		}
		if l.Status != learners.Converged || l.Residual > tol || l.Rows != c.n {
			t.Errorf("%+v: %v after %d, residual %g, %d rows", c, l.Status, l.Iterations, l.Residual, l.Rows)
		}
		m := l.Metric.M()
		f, g := slowMCML(x, y, m)
		if math.Abs(f-l.Objective) > 1e-9*f {
			t.Errorf("%+v: objective %v, want %v", c, l.Objective, f)
		}
		var eig mat.EigenSym
		eig.Factorize(g, false)
		unit := metricScale(x)
		if least := eig.Values(nil)[0]; least < -kkt*unit*float64(c.n) {
			t.Errorf("%+v: least eigenvalue of the gradient %g", c, least)
		}
		if p := inner(g, m); math.Abs(p) > kkt*float64(c.n) {
			t.Errorf("%+v: <gradient, M> = %g", c, p)
		}
		// Along M − s·∇F with a step s in units of M.
		s := mat.Norm(m, 2) / (unit * float64(c.n))
		shifted := mat.NewSymDense(c.d, nil)
		addScaled(shifted, m, -s, g)
		back, _, err := metric.ProjectPSD(shifted)
		if err != nil {
			t.Fatal(err)
		}
		addScaled(back, back, -1, m)
		if r := mat.Norm(back, 2); r > kkt*mat.Norm(m, 2) {
			t.Errorf("%+v: projected gradient %g, M %g", c, r, mat.Norm(m, 2))
		}
	}
}

// metricScale is the mean variance of a feature.
func metricScale(x *mat.Dense) float64 {
	n, d := x.Dims()
	c, _ := covariance(x, upTo(n))
	return mat.Trace(c) / float64(d)
}

// TestMCMLReference: plain projected gradients from elsewhere, in the coordinates of x, end at the same F.
func TestMCMLReference(t *testing.T) {
	const tol = 1e-5 // nats per row
	rng := rand.New(rand.NewPCG(53, 3))
	x, y := overlapping(rng, 18, 2, 2, 1)
	l, err := FitMCML(context.Background(), x, y, MCMLParams{Tol: 1e-8})
	if err != nil {
		t.Fatal(err)
	}
	m := scaledIdentity(2, 3)
	least, g := slowMCML(x, y, m)
	step := 1.0
	for range 1000 {
		next := mat.NewSymDense(2, nil)
		addScaled(next, m, -step, g)
		if next, _, err = metric.ProjectPSD(next); err != nil {
			t.Fatal(err)
		}
		if f, gradient := slowMCML(x, y, next); f < least {
			m, least, g = next, f, gradient
			step *= 1.2
		} else {
			step /= 2
		}
	}
	if l.Objective > least+1e-8*18 || least > l.Objective+tol*18 {
		t.Errorf("F = %v, by plain steps %v", l.Objective, least)
	}
}

// TestMCMLResidual: F is within Residual·Rows of the least F, also where the fit is cut short.
func TestMCMLResidual(t *testing.T) {
	rng := rand.New(rand.NewPCG(53, 4))
	x, y := overlapping(rng, 40, 6, 2, 0.5)
	best, err := FitMCML(context.Background(), x, y, MCMLParams{Tol: 1e-9})
	if err != nil {
		t.Fatal(err)
	}
	for iterations := 1; iterations <= 6; iterations++ {
		l, err := FitMCML(context.Background(), x, y, MCMLParams{Tol: 1e-9, MaxIterations: iterations})
		if err != nil {
			t.Fatal(err)
		}
		if l.Status != learners.IterationCap || l.Iterations != iterations {
			t.Errorf("cap of %d: %v after %d", iterations, l.Status, l.Iterations)
		}
		if off := (l.Objective - best.Objective) / float64(l.Rows); off > l.Residual+1e-9 || off < -1e-9 {
			t.Errorf("after %d: %g above the minimum, residual %g", iterations, off, l.Residual)
		}
	}
}

// TestMCMLResidualDefinition: from F, its gradient and the covariance in the coordinates of x, with a row
// alone in its class, where a fit is cut short; and the fit starts from the best power of two.
func TestMCMLResidualDefinition(t *testing.T) {
	const tol = 1e-8 // n·ε·κ of the covariance, of terms that nearly cancel
	rng := rand.New(rand.NewPCG(53, 8))
	wide := 0 // fits whose residual has R = 2·tr(MΣ)
	for _, gap := range []float64{0.3, 1, 4, 7} {
		x, y := overlapping(rng, 40, 4, 2, gap)
		y[7] = 5
		for j, v := range x.RawRowView(7) { // away from the others, which can then collapse
			x.Set(7, j, -4*v)
		}
		for _, most := range []int{1, 2, 4} {
			l, err := FitMCML(context.Background(), x, y, MCMLParams{Tol: 1e-12, MaxIterations: most})
			if err != nil {
				t.Fatal(err)
			}
			m := l.Metric.M()
			_, g := slowMCML(x, y, m)
			c, _ := covariance(x, upTo(40))
			// The least λ for which det(∇F − λΣ) = 0, with Σ = LLᵀ.
			var chol mat.Cholesky
			if !chol.Factorize(c) {
				t.Fatal("singular covariance")
			}
			var lower, inverse mat.TriDense
			chol.LTo(&lower)
			if err := inverse.InverseTri(&lower); err != nil {
				t.Fatal(err)
			}
			var full mat.Dense
			full.Product(&inverse, g, inverse.T())
			scaled := mat.NewSymDense(4, nil)
			symmetric(scaled, &full)
			var eig mat.EigenSym
			eig.Factorize(scaled, false)
			radius := max(2*inner(m, c), 4)
			least := eig.Values(nil)[0]
			if radius > 4 && least < -1e-3 {
				wide++
			}
			want := max(inner(g, m)+radius*max(0, -least), 0) / 39
			if l.Rows != 39 || math.Abs(l.Residual-want) > tol*max(want, 1) {
				t.Errorf("gap %g, %d iterations: residual %v, want %v", gap, most, l.Residual, want)
			}
		}
		f := newTestMCML(t, x, y)
		at := f.start()
		best := f.value(at)
		for e := -30; e <= 30; e++ {
			if v := f.value(scaledIdentity(4, math.Ldexp(at.At(0, 0), e))); v < best*(1-1e-12) {
				t.Errorf("gap %g: the start has F = %v, 2^%d times it %v", gap, best, e, v)
			}
		}
	}
	if wide < 3 {
		t.Errorf("%d fits have R = 2·tr(MΣ), want at least 3", wide)
	}
}

// TestMCMLInvariance: F has the same minimum after an invertible linear map of the rows, and a
// constant feature has no weight.
func TestMCMLInvariance(t *testing.T) {
	const tol = 1e-8
	rng := rand.New(rand.NewPCG(53, 5))
	x, y := overlapping(rng, 30, 3, 2, 1)
	l, err := FitMCML(context.Background(), x, y, MCMLParams{Tol: tol})
	if err != nil {
		t.Fatal(err)
	}
	mapped := mat.NewDense(30, 4, nil)
	mapped.Slice(0, 30, 0, 3).(*mat.Dense).Mul(x, normal(rng, 3, 3))
	for i := range 30 {
		mapped.Set(i, 1, 1e6*mapped.At(i, 1))
		mapped.Set(i, 3, 0.1)
	}
	k, err := FitMCML(context.Background(), mapped, y, MCMLParams{Tol: tol})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(l.Objective-k.Objective) > 2*tol*30 {
		t.Errorf("objective %v, of mapped rows %v", l.Objective, k.Objective)
	}
	if w := k.Metric.M().At(3, 3); w != 0 {
		t.Errorf("weight %v of a constant feature", w)
	}
}

// TestMCMLEdges: rows that are far, equal, alone, or collapse.
func TestMCMLEdges(t *testing.T) {
	// Without sums of exponentials relative to their largest, all p are 0/0 here.
	far := newTestMCML(t, mat.NewDense(4, 1, []float64{0, 1, 1000, 1001}), []int{0, 1, 0, 1})
	g := mat.NewSymDense(1, nil)
	if f := far.value(scaledIdentity(1, 10)); math.IsInf(f, 0) || math.IsNaN(f) || f < 1e6 {
		t.Errorf("far rows have F = %v", f)
	}
	far.gradient(g)
	if v := g.At(0, 0); math.IsNaN(v) || v < 1e6 {
		t.Errorf("far rows have the gradient %v", v)
	}

	rng := rand.New(rand.NewPCG(53, 6))
	x, y := overlapping(rng, 24, 3, 2, 1)
	x.SetRow(1, x.RawRowView(0)) // of another class
	x.SetRow(4, x.RawRowView(2)) // of the same
	y[5] = 9
	l, err := FitMCML(context.Background(), x, y, MCMLParams{})
	if err != nil || l.Status != learners.Converged || l.Rows != 23 {
		t.Errorf("duplicates and a row alone: %v, %d rows, error %v", l.Status, l.Rows, err)
	}
	// Each class is a point: F can be as small as asked for.
	l, err = FitMCML(context.Background(), mat.NewDense(4, 2, []float64{0, 0, 0, 0, 1, 5, 1, 5}), []int{0, 0, 1, 1}, MCMLParams{})
	if err != nil || l.Status != learners.Converged || l.Objective > 1e-3*4 {
		t.Errorf("classes that are points: %v, F = %v, error %v", l.Status, l.Objective, err)
	}
	again, err := FitMCML(context.Background(), x, y, MCMLParams{})
	if err != nil {
		t.Fatal(err)
	}
	other, err := FitMCML(context.Background(), x, y, MCMLParams{})
	if err != nil || !mat.Equal(again.Metric.M(), other.Metric.M()) {
		t.Errorf("two fits differ, error %v", err)
	}
}

func TestMCMLErrors(t *testing.T) {
	x := mat.NewDense(4, 1, []float64{0, 1, 3, 4})
	y := []int{0, 0, 1, 1}
	fit := func(x *mat.Dense, y []int, p MCMLParams) error {
		_, err := FitMCML(context.Background(), x, y, p)
		return err
	}
	for want, err := range map[string]error{
		"mcml: 3 labels for 4 rows":                fit(x, y[:3], MCMLParams{}),
		"mcml: labels: 1 class, want at least 2":   fit(x, []int{3, 3, 3, 3}, MCMLParams{}),
		"mcml: labels: each class has one row":     fit(x, []int{0, 1, 2, 3}, MCMLParams{}),
		"mcml: tol: NaN is not allowed":            fit(x, y, MCMLParams{Tol: math.NaN()}),
		"mcml: tol: -1 is not allowed":             fit(x, y, MCMLParams{Tol: -1}),
		"mcml: max_iterations: -1 is not allowed":  fit(x, y, MCMLParams{MaxIterations: -1}),
		"mcml: row 1, column 0: +Inf":              fit(mat.NewDense(2, 1, []float64{0, math.Inf(1)}), []int{0, 1}, MCMLParams{}),
		"mcml: all rows coincide":                  fit(mat.NewDense(4, 2, nil), y, MCMLParams{}),
		"mcml: deviations from the mean overflow":  fit(mat.NewDense(4, 1, []float64{-1e308, 1e308, 0, 0}), y, MCMLParams{}),
		"mcml: weights overflow float64: rescale ": fit(mat.NewDense(4, 1, []float64{0, 5e-324, 0, 5e-324}), y, MCMLParams{}),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	mustPanic(t, "empty data", func() { FitMCML(context.Background(), &mat.Dense{}, nil, MCMLParams{}) })
}

func ExampleFitMCML() {
	// The classes differ along the first feature, the second varies more.
	x := mat.NewDense(8, 2, []float64{
		0, -9, 1, 2, 0.2, 8, 1.4, -3,
		2, 9, 3, -4, 2.7, 3, 1.3, -8,
	})
	l, err := FitMCML(context.Background(), x, []int{0, 0, 0, 0, 1, 1, 1, 1}, MCMLParams{})
	if err != nil {
		fmt.Println(err)
		return
	}
	m := l.Metric.M()
	fmt.Printf("%v; F = %.2f nats, weights %.2f and %.2f\n", l.Status, l.Objective, m.At(0, 0), m.At(1, 1))
	p := MCMLParams{}.Resolved()
	fmt.Println(p.Tol, p.MaxIterations)
	// Output:
	// converged; F = 4.84 nats, weights 0.47 and 0.00
	// 0.001 1000
}

func BenchmarkMCML(b *testing.B) {
	for _, c := range []struct{ n, d int }{{350, 33}, {900, 64}} {
		x, y := overlapping(rand.New(rand.NewPCG(53, 7)), c.n, c.d, 3, 0.7)
		b.Run(fmt.Sprintf("alg=MCML/n=%d/dim=%d", c.n, c.d), func(b *testing.B) {
			var l MCML
			for b.Loop() {
				var err error
				if l, err = FitMCML(context.Background(), x, y, MCMLParams{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(l.Iterations), "iterations")
		})
	}
}
