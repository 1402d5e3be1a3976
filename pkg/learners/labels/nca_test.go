package labels

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/cores"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/plain"
)

func ncaSource() *rand.Rand { return rand.New(rand.NewPCG(64, 0)) }

// classesOf are those of the rows of f, which stand together.
func (f *ncaFit) classesOf() []int { return f.from }

// TestNCAGradient: value and gradient against the definition. There are more rows than a block holds, not a multiple of it, a row alone in its class, and
// duplicates. Also the gradient against central differences, and those of batches, which add up.
func TestNCAGradient(t *testing.T) {
	const (
		tol     = 1e-11 // n·ε, of sums of terms of one size
		fdTol   = 1e-6  // of differences with steps of 1e-6 of a function of the order of n
		perStep = 50    // rows of a batch
	)
	rng := rand.New(rand.NewPCG(64, 1))
	for _, c := range []struct{ n, d, k int }{{25, 4, 4}, {blockRows - 1, 3, 1}, {blockRows, 3, 3}, {blockRows + 1, 5, 2}, {2*blockRows + 7, 3, 2}} {
		x, y := overlapping(rng, c.n, c.d, 3, 1)
		y[c.n-1] = 77                // alone in its class
		x.SetRow(1, x.RawRowView(0)) // of another class
		x.SetRow(3, x.RawRowView(0)) // of the same
		f, _, err := newNCAFit(t.Context(), x, y, NCAParams{Dim: c.k, Batch: perStep})
		if err != nil {
			t.Fatal(err)
		}
		if f.rows != c.n-1 {
			t.Errorf("%+v: %d rows contribute", c, f.rows)
		}
		for _, scale := range []float64{0.1, 1, 5} {
			l := normal(rng, c.k, c.d)
			l.Scale(scale/mat.Norm(l, 2), l)
			g, again := make([]float64, c.k*c.d), make([]float64, c.k*c.d)
			value := f.evaluate(l.RawMatrix().Data, g, nil)
			want, wantG := plain.NCAObjective(f.z, f.classesOf(), l)
			size := mat.Norm(wantG, 2)
			wantG.Scale(-1, wantG)
			if math.Abs(value+want) > tol*want || !mat.EqualApprox(mat.NewDense(c.k, c.d, g), wantG, tol*max(size, 1)) {
				t.Errorf("%+v, scale %g: %v, want %v; gradient %v, want %v", c, scale, -value, want, g, wantG.RawMatrix().Data)
			}
			if f.evaluate(l.RawMatrix().Data, nil, nil) != value {
				t.Errorf("%+v, scale %g: the value alone differs", c, scale)
			}
			near := fd.Gradient(nil, func(l []float64) float64 { return f.evaluate(l, nil, nil) }, l.RawMatrix().Data, &fd.Settings{Formula: fd.Central})
			if !floats.EqualApprox(g, near, fdTol*float64(c.n)) {
				t.Errorf("%+v, scale %g: gradient %v, by differences %v", c, scale, g, near)
			}
			var sum float64
			total := make([]float64, len(g))
			order := rng.Perm(c.n)
			for lo := 0; lo < c.n; lo += perStep {
				sum += f.evaluate(l.RawMatrix().Data, again, order[lo:min(lo+perStep, c.n)])
				floats.Add(total, again)
			}
			if math.Abs(sum-value) > tol*want || !floats.EqualApprox(g, total, tol*max(size, 1)) {
				t.Errorf("%+v, scale %g: by batches %v and %v, want %v and %v", c, scale, sum, total, value, g)
			}
		}
	}
}

// TestNCAAnswer: Objective and Status of a fit are those of its metric, by the definition; the gradient vanishes there; L has the rank asked for.
func TestNCAAnswer(t *testing.T) {
	const tol = 1e-6
	rng := rand.New(rand.NewPCG(64, 2))
	for _, c := range []struct {
		n, d, k int
		start   NCAStart
	}{{60, 3, 0, NCAStartFDA}, {60, 3, 1, NCAStartFDA}, {90, 5, 3, NCAStartPCA}, {90, 2, 0, NCAStartPCA}} {
		x, y := overlapping(rng, c.n, c.d, 3, 0.3)
		r, err := FitNCA(t.Context(), ncaSource(), x, y, NCAParams{Dim: c.k, Start: c.start, Tol: tol})
		if err != nil {
			t.Fatal(err)
		}
		if r.Status != learners.Converged || !(r.Residual <= tol) || r.Rows != c.n {
			t.Errorf("%+v: %v after %d, residual %g, %d rows", c, r.Status, r.Iterations, r.Residual, r.Rows)
		}
		if want := c.k; want > 0 && r.Metric.Rows() != want || want == 0 && r.Metric.Rows() != c.d {
			t.Errorf("%+v: rank %d", c, r.Metric.Rows())
		}
		l := mat.DenseCopyOf(r.Metric.Factor())
		f, g := plain.NCAObjective(x, y, l)
		if math.Abs(f-r.Objective) > 1e-10*f { // n·ε, and the condition of the features
			t.Errorf("%+v: objective %v, want %v", c, r.Objective, f)
		}
		// First order in moves of L as long as itself, in coordinates of other condition.
		if size := mat.Norm(g, 2) * mat.Norm(l, 2) / float64(c.n); size > 1e3*tol {
			t.Errorf("%+v: gradient %g", c, size)
		}
	}
}

// TestNCAPlain: from the same start, plain steps along the gradient end at the same L, of one feature.
func TestNCAPlain(t *testing.T) {
	const tol = 1e-6
	x, y := overlapping(rand.New(rand.NewPCG(64, 3)), 30, 1, 2, 1)
	r, err := FitNCA(t.Context(), ncaSource(), x, y, NCAParams{Tol: 1e-9})
	if err != nil {
		t.Fatal(err)
	}
	start, c, err := newNCAFit(t.Context(), x, y, NCAParams{})
	if err != nil {
		t.Fatal(err)
	}
	per := c.b.At(0, 0)
	l := plain.NCA(x, y, mat.NewDense(1, 1, []float64{start.X[0] * per}), 0.5*per*per, 200)
	if got := math.Sqrt(r.Metric.M().At(0, 0)); math.Abs(got-math.Abs(l.At(0, 0))) > tol*got {
		t.Errorf("L = %v, by plain steps %v", got, l.At(0, 0))
	}
}

// TestNCAStart: FDA is L of variance 1 within classes whatever the units, PCA the Euclidean distance; of the multiples by powers of two none has a greater Σ log p.
func TestNCAStart(t *testing.T) {
	rng := rand.New(rand.NewPCG(64, 4))
	x, y := overlapping(rng, 80, 4, 3, 0.5)
	units := mat.DenseCopyOf(x)
	for i := range 80 {
		for j := range 4 {
			units.Set(i, j, math.Ldexp(x.At(i, j), 20*j-30))
		}
	}
	of := func(x *mat.Dense, p NCAParams) (*ncaFit, *mat.SymDense) {
		f, c, err := newNCAFit(t.Context(), x, y, p)
		if err != nil {
			t.Fatal(err)
		}
		var l mat.Dense
		l.Mul(mat.NewDense(f.k, f.r, f.X), c.b)
		_, d := x.Dims()
		m := mat.NewSymDense(d, nil)
		m.SymOuterK(1, l.T())
		return f, m
	}
	const tol = 1e-9 // ε, and the condition of the features
	f, fda := of(x, NCAParams{})
	_, other := of(units, NCAParams{})
	for i := range 4 {
		for j := range 4 {
			if v := math.Ldexp(other.At(i, j), 20*(i+j)-60); math.Abs(v-fda.At(i, j)) > tol*mat.Norm(fda, 2) {
				t.Errorf("fda: entry %d, %d is %v, in other units %v", i, j, fda.At(i, j), v)
			}
		}
	}
	_, pca := of(x, NCAParams{Start: NCAStartPCA})
	for i := range 4 {
		for j := range 4 {
			want := 0.0
			if i == j {
				want = pca.At(0, 0)
			}
			if math.Abs(pca.At(i, j)-want) > tol*pca.At(0, 0) {
				t.Errorf("pca: entry %d, %d is %v, want %v", i, j, pca.At(i, j), want)
			}
		}
	}
	logs := func(scale float64) (sum float64) {
		l := make([]float64, len(f.X))
		floats.ScaleTo(l, scale, f.X)
		f.evaluate(l, nil, nil)
		for _, p := range f.terms { // of all rows, which are fewer than ncaSample
			sum += math.Log(p)
		}
		return sum
	}
	best := logs(1)
	for e := -6; e <= 6; e++ {
		if v := logs(math.Ldexp(1, e)); v > best {
			t.Errorf("Σ log p is %v at the start, %v at 2^%d times it", best, v, e)
		}
	}
	// With as many dimensions as differ between classes, the start spans the directions of FitFDA.
	p, err := FitFDA(t.Context(), x, y, FDAParams{K: 2})
	if err != nil {
		t.Fatal(err)
	}
	_, two := of(x, NCAParams{Dim: 2})
	both := mat.NewDense(4, 4, nil)
	both.Slice(0, 2, 0, 4).(*mat.Dense).Copy(p.Directions())
	var m mat.SVD
	m.Factorize(two, mat.SVDFull)
	var v mat.Dense
	m.VTo(&v)
	both.Slice(2, 4, 0, 4).(*mat.Dense).Copy(v.Slice(0, 4, 0, 2).T())
	for i := range 4 {
		floats.Scale(1/floats.Norm(both.RawRowView(i), 2), both.RawRowView(i))
	}
	if s := singular(both); s[2] > 0.1*s[1] {
		t.Errorf("the start of two dimensions and FitFDA span singular values %v", s)
	}
}

func singular(a *mat.Dense) []float64 {
	var m mat.SVD
	m.Factorize(a, mat.SVDNone)
	return m.Values(nil)
}

// TestNCAEnds: the cap, round-off, batches that end below the start; classes that are points or collapse.
func TestNCAEnds(t *testing.T) {
	x, y := overlapping(rand.New(rand.NewPCG(64, 5)), 40, 2, 2, 0.3)
	for _, c := range []struct {
		p    NCAParams
		want learners.Status
		most int
	}{
		{NCAParams{MaxIterations: 2, Tol: 1e-9}, learners.IterationCap, 2},
		{NCAParams{Tol: 1e-300}, learners.NoProgress, 500},
		{NCAParams{Batch: 7}, learners.IterationCap, 10},
		{NCAParams{Batch: 1000, Passes: 3, Tol: 1}, learners.Converged, 3},
	} {
		var told int
		c.p.Progress = func(learners.Progress) { told++ }
		r, err := FitNCA(t.Context(), ncaSource(), x, y, c.p)
		if err != nil || r.Status != c.want || r.Iterations > c.most || told != r.Iterations {
			t.Errorf("%+v: %v after %d, told %d, error %v", c.p, r.Status, r.Iterations, told, err)
		}
	}
	f, _, err := newNCAFit(t.Context(), x, y, NCAParams{Batch: 1})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := f.climb(NCAParams{}.Resolved()); err != nil || r.Status != learners.Converged {
		t.Fatalf("%v, error %v", r.Status, err)
	}
	best := f.now // from where large steps lead down
	r, err := f.passes(ncaSource(), NCAParams{Batch: 1, Passes: 1, Tol: 1e-9})
	if err != nil || r.Status != learners.NoProgress || f.now != best {
		t.Errorf("from a maximum: %v, f = %v, was %v, error %v", r.Status, -f.now, -best, err)
	}

	points, err := FitNCA(t.Context(), ncaSource(), mat.NewDense(4, 2, []float64{0, 0, 0, 0, 1, 5, 1, 5}), []int{0, 0, 1, 1}, NCAParams{})
	if err != nil || points.Status != learners.Converged || points.Objective < 4*(1-1e-4) {
		t.Errorf("classes that are points: %v, f = %v, error %v", points.Status, points.Objective, err)
	}
	// Rows that are as far as this have p = 0/0, without exponents relative to the largest.
	far, _, err := newNCAFit(t.Context(), mat.NewDense(4, 1, []float64{0, 1, 1000, 1001}), []int{0, 1, 0, 1}, NCAParams{})
	if err != nil {
		t.Fatal(err)
	}
	if v := far.evaluate([]float64{1e4}, far.G, nil); v != 0 || far.G[0] != 0 {
		t.Errorf("far rows: f = %v, gradient %v", -v, far.G)
	}
}

// TestNCABatches: the same source gives the same bits, another one others; f rises by a part of what L-BFGS reaches.
func TestNCABatches(t *testing.T) {
	x, y := overlapping(rand.New(rand.NewPCG(64, 6)), 200, 5, 3, 0.6)
	fit := func(seed uint64, p NCAParams) NCA {
		r, err := FitNCA(t.Context(), rand.New(rand.NewPCG(seed, 0)), x, y, p)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	p := NCAParams{Batch: 32}
	one, same, other := fit(1, p), fit(1, p), fit(2, p)
	if !mat.Equal(one.Metric.M(), same.Metric.M()) || mat.Equal(one.Metric.M(), other.Metric.M()) {
		t.Error("the source does not decide alone, or not at all")
	}
	start, full := fit(1, NCAParams{MaxIterations: 1}), fit(1, NCAParams{})
	if gain := (one.Objective - start.Objective) / (full.Objective - start.Objective); gain < 0.2 {
		t.Errorf("f rose from %v to %v by batches, to %v by L-BFGS", start.Objective, one.Objective, full.Objective)
	}
	rng := ncaSource()
	if _, err := FitNCA(t.Context(), rng, x, y, NCAParams{MaxIterations: 1}); err != nil || rng.Uint64() != ncaSource().Uint64() {
		t.Errorf("L-BFGS has drawn, or error %v", err)
	}
}

// TestNCAMemory: a fit takes memory for n·d numbers, not n². All that its start ever allocates is counted, with a gradient.
func TestNCAMemory(t *testing.T) {
	const n, d = 3000, 2
	x, y := overlapping(rand.New(rand.NewPCG(64, 7)), n, d, 2, 1)
	defer cores.Occupy(cores.All)() // each core has packed blocks of its own
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, _, err := newNCAFit(t.Context(), x, y, NCAParams{}); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	// 256 rows are 6 MB, packed products at most 4, where one n×n matrix would be 72. The race detector empties pools at random, so that each product
	// packs anew: some 40.
	if took := after.TotalAlloc - before.TotalAlloc; took >= 8*n*n {
		t.Errorf("%d bytes were allocated for %d rows", took, n)
	}
}

func TestNCAErrors(t *testing.T) {
	x := mat.NewDense(4, 1, []float64{0, 1, 3, 4})
	y := []int{0, 0, 1, 1}
	fit := func(x *mat.Dense, y []int, p NCAParams) error {
		_, err := FitNCA(context.Background(), ncaSource(), x, y, p)
		return err
	}
	for want, err := range map[string]error{
		"nca: 3 labels for 4 rows":                fit(x, y[:3], NCAParams{}),
		"nca: labels: 1 class, want at least 2":   fit(x, []int{3, 3, 3, 3}, NCAParams{}),
		"nca: labels: each class has one row":     fit(x, []int{0, 1, 2, 3}, NCAParams{}),
		"nca: tol: NaN is not allowed":            fit(x, y, NCAParams{Tol: math.NaN()}),
		"nca: dim: 2 is not allowed, want at mo":  fit(x, y, NCAParams{Dim: 2}),
		"nca: dim: -1 is not allowed":             fit(x, y, NCAParams{Dim: -1}),
		"nca: start: 2 is not allowed":            fit(x, y, NCAParams{Start: 2}),
		"nca: max_iterations: -1 is not allowed":  fit(x, y, NCAParams{MaxIterations: -1}),
		"nca: batch: -1 is not allowed":           fit(x, y, NCAParams{Batch: -1}),
		"nca: passes: -1 is not allowed":          fit(x, y, NCAParams{Passes: -1}),
		"nca: row 1, column 0: +Inf":              fit(mat.NewDense(2, 1, []float64{0, math.Inf(1)}), []int{0, 1}, NCAParams{}),
		"nca: all rows coincide":                  fit(mat.NewDense(4, 2, nil), y, NCAParams{}),
		"nca: deviations from the mean overflow":  fit(mat.NewDense(4, 1, []float64{-1e308, 1e308, 0, 0}), y, NCAParams{}),
		"nca: weights overflow float64: rescale ": fit(mat.NewDense(4, 1, []float64{0, 5e-324, 0, 5e-324}), y, NCAParams{}),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	mustPanic(t, "empty data", func() { FitNCA(context.Background(), ncaSource(), &mat.Dense{}, nil, NCAParams{}) })
}

func ExampleFitNCA() {
	// The classes differ along the first feature, the second varies more.
	x := mat.NewDense(8, 2, []float64{
		0, -9, 1, 2, 0.2, 8, 1.4, -3,
		2, 9, 3, -4, 2.7, 3, 1.3, -8,
	})
	rng := rand.New(rand.NewPCG(1, 2)) // drawn from with Batch alone
	l, err := FitNCA(context.Background(), rng, x, []int{0, 0, 0, 0, 1, 1, 1, 1}, NCAParams{Dim: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%v; %.2f of %d rows, rank %d\n", l.Status, l.Objective, l.Rows, l.Metric.Rows())
	p := NCAParams{}.Resolved()
	fmt.Println(p.Start, p.Tol, p.MaxIterations, p.Passes)
	// Output:
	// converged; 7.00 of 8 rows, rank 1
	// fda 0.0001 500 10
}

func BenchmarkNCA(b *testing.B) {
	for _, c := range []struct{ n, d, k int }{{350, 33, 0}, {900, 64, 0}, {900, 64, 2}} {
		x, y := overlapping(rand.New(rand.NewPCG(64, 8)), c.n, c.d, 3, 0.7)
		b.Run(fmt.Sprintf("alg=NCA/n=%d/dim=%d/rank=%d", c.n, c.d, c.k), func(b *testing.B) {
			var l NCA
			for b.Loop() {
				var err error
				if l, err = FitNCA(context.Background(), ncaSource(), x, y, NCAParams{Dim: c.k}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(l.Iterations), "iterations")
		})
	}
}
