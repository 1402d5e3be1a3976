package kernels_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/kernels"
	"metriclab/pkg/kernels/kerneltest"
	"metriclab/pkg/metric"
)

func normal(rng *rand.Rand, n, d int, shift float64) *mat.Dense {
	x := mat.NewDense(n, d, nil)
	for i := range n {
		for j := range d {
			x.Set(i, j, shift+rng.NormFloat64())
		}
	}
	return x
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestKernels(t *testing.T) {
	const tol = 1e-12 // as kerneltest.Check says
	rng := rand.New(rand.NewPCG(9, 1))
	for name, k := range map[string]kernels.Kernel{
		"linear":             kernels.Linear{},
		"quadratic":          must(kernels.NewPolynomial(2, 1)),
		"cubic, homogeneous": must(kernels.NewPolynomial(3, 0)),
		"degree 7":           must(kernels.NewPolynomial(7, 0.5)),
		"narrow":             must(kernels.NewGaussian(2)),
		"wide":               must(kernels.NewGaussian(1e-3)),
		"function": kernels.Func(func(x, y []float64) float64 {
			return 1 / (1 + metric.Euclidean{}.SqDist(x, y))
		}),
	} {
		for _, s := range []struct{ n, d int }{{2, 1}, {30, 4}, {9, 300}} {
			t.Run(fmt.Sprintf("%s/%dx%d", name, s.n, s.d), func(t *testing.T) {
				x := normal(rng, s.n, s.d, 0)
				x.SetRow(1, x.RawRowView(0)) // a duplicate makes the Gram matrix singular
				kerneltest.Check(t, k, x, tol)
			})
		}
	}
}

// TestGramAccuracy checks the stated bound on the fast path far from the origin,
// where inner products about the origin would lose all digits.
func TestGramAccuracy(t *testing.T) {
	const n, d, gamma = 40, 50, 0.02
	x := normal(rand.New(rand.NewPCG(9, 2)), n, d, 1e6)
	var worst float64 // ‖xᵢ−μ‖²
	mean := make([]float64, d)
	for i := range n {
		floats.AddScaled(mean, 1.0/n, x.RawRowView(i))
	}
	for i := range n {
		worst = math.Max(worst, metric.Euclidean{}.SqDist(x.RawRowView(i), mean))
	}
	k := must(kernels.NewGaussian(gamma))
	bound := gamma * 4 * (d + 8) * 0x1p-53 * 2 * worst
	g, r := kernels.Gram(k, x), kernels.GramRect(k, x, x)
	for i := range n {
		for j := range n {
			want := k.Eval(x.RawRowView(i), x.RawRowView(j))
			if math.Abs(g.At(i, j)-want) > bound || math.Abs(r.At(i, j)-want) > bound {
				t.Fatalf("entry (%d, %d): Gram %v, GramRect %v, Eval %v: more than %g apart", i, j, g.At(i, j), r.At(i, j), want, bound)
			}
		}
		if g.At(i, i) != 1 {
			t.Errorf("diagonal entry %d is %v, want exactly 1", i, g.At(i, i))
		}
	}
}

// TestClosedForms compares each kernel with numbers worked out by hand.
func TestClosedForms(t *testing.T) {
	x, y := []float64{1, 2}, []float64{3, -1} // x·y = 1, ‖x−y‖² = 13
	p, g := must(kernels.NewPolynomial(3, 2)), must(kernels.NewGaussian(0.5))
	for name, c := range map[string]struct{ got, want float64 }{
		"linear":     {kernels.Linear{}.Eval(x, y), 1},
		"polynomial": {p.Eval(x, y), 27},
		"gaussian":   {g.Eval(x, y), math.Exp(-6.5)},
		"degree":     {float64(p.Degree()), 3},
		"offset":     {p.Offset(), 2},
		"gamma":      {g.Gamma(), 0.5},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
}

func TestConstructorErrors(t *testing.T) {
	poly := func(degree int, offset float64) error { _, err := kernels.NewPolynomial(degree, offset); return err }
	gauss := func(gamma float64) error { _, err := kernels.NewGaussian(gamma); return err }
	for _, c := range []struct {
		err  error
		want string
	}{
		{poly(0, 1), "degree: 0 is not allowed"},
		{poly(2, -1), "offset: -1 is not allowed"},
		{poly(2, math.NaN()), "offset: NaN"},
		{poly(2, math.Inf(1)), "offset: +Inf"},
		{gauss(0), "gamma: 0 is not allowed"},
		{gauss(-1), "gamma: -1"},
		{gauss(math.NaN()), "gamma: NaN"},
		{gauss(math.Inf(1)), "gamma: +Inf"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("got %v, want an error with %q", c.err, c.want)
		}
	}
}

func TestGramPanics(t *testing.T) {
	x := mat.NewDense(2, 3, nil)
	for name, f := range map[string]func(){
		"empty Gram":          func() { kernels.Gram(kernels.Linear{}, &mat.Dense{}) },
		"empty GramRect":      func() { kernels.GramRect(kernels.Linear{}, x, &mat.Dense{}) },
		"different dimension": func() { kernels.GramRect(kernels.Linear{}, x, mat.NewDense(2, 2, nil)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

func TestMedianSqDist(t *testing.T) {
	for _, c := range []struct {
		x    []float64
		want float64
	}{
		{[]float64{0, 3}, 9},
		{[]float64{0, 1, 3}, 4},       // 1, 4, 9
		{[]float64{0, 1, 3, 7}, 12.5}, // 1 4 9 16 36 49
	} {
		got, err := kernels.MedianSqDist(nil, mat.NewDense(len(c.x), 1, c.x))
		if err != nil || got != c.want {
			t.Errorf("%v: %v, %v, want %v", c.x, got, err, c.want)
		}
		g, err := kernels.MedianGaussian(nil, mat.NewDense(len(c.x), 1, c.x))
		if err != nil || g.Gamma() != 1/(2*c.want) {
			t.Errorf("%v: γ = %v, %v, want %v", c.x, g.Gamma(), err, 1/(2*c.want))
		}
	}
}

// TestMedianSqDistSubsample: beyond MedianPoints the same seed gives the same
// median, another seed another one, and both are near that of all pairs.
func TestMedianSqDistSubsample(t *testing.T) {
	const n = kernels.MedianPoints + 500
	x := normal(rand.New(rand.NewPCG(9, 3)), n, 3, 0)
	med := func(seed uint64) float64 {
		return must(kernels.MedianSqDist(rand.New(rand.NewPCG(seed, 0)), x))
	}
	var all []float64
	for i := range n {
		for j := range i {
			all = append(all, metric.Euclidean{}.SqDist(x.RawRowView(i), x.RawRowView(j)))
		}
	}
	slices.Sort(all)
	want := all[len(all)/2]
	a := med(1)
	if a != med(1) {
		t.Error("the same seed gave another median")
	}
	if a == med(2) {
		t.Error("another seed gave the same median: the subsample is not drawn")
	}
	const tol = 0.1 // 1,000 of 1,500 points; the standard error is about 0.02
	if math.Abs(a-want) > tol*want {
		t.Errorf("median of the subsample %v, of all pairs %v", a, want)
	}
}

func TestMedianErrors(t *testing.T) {
	for want, x := range map[string]*mat.Dense{
		"median distance is 0":    mat.NewDense(3, 2, []float64{1, 2, 1, 2, 1, 2}),
		"of 1 rows":               mat.NewDense(1, 2, nil),
		"row 1, column 0: NaN":    mat.NewDense(2, 1, []float64{0, math.NaN()}),
		"overflows":               mat.NewDense(2, 1, []float64{-1e200, 1e200}),
		"gamma: +Inf is not allo": mat.NewDense(2, 1, []float64{0, 1e-160}),
	} {
		if _, err := kernels.MedianGaussian(nil, x); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}

func ExampleGram() {
	x := mat.NewDense(3, 1, []float64{0, 1, 3})
	k, err := kernels.MedianGaussian(nil, x)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("gamma", k.Gamma())
	fmt.Printf("%.3f\n", mat.Formatted(kernels.Gram(k, x)))
	// Output:
	// gamma 0.125
	// ⎡1.000  0.882  0.325⎤
	// ⎢0.882  1.000  0.607⎥
	// ⎣0.325  0.607  1.000⎦
}

func BenchmarkGram(b *testing.B) {
	const n, d = 2000, 784
	x := normal(rand.New(rand.NewPCG(9, 4)), n, d, 0)
	k := must(kernels.NewGaussian(1e-3))
	for name, run := range map[string]func(){
		"product":     func() { kernels.Gram(k, x) },
		"calls":       func() { kernels.Gram(kernels.Func(k.Eval), x) },
		"gonum-inner": func() { mat.NewSymDense(n, nil).SymOuterK(1, x) }, // the inner products alone
	} {
		b.Run(fmt.Sprintf("alg=%s/n=%d/dim=%d", name, n, d), func(b *testing.B) {
			before := runtime.GOMAXPROCS(1) // gonum would use all
			defer runtime.GOMAXPROCS(before)
			for b.Loop() {
				run()
			}
		})
	}
}
