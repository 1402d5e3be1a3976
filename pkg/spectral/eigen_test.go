package spectral_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/spectral"
)

// TestEigenSym: of matrices without tiny blocks below the order from which on they are decomposed by blocks of our own,
// every bit is that of gonum, unblocked (n ≤ 32) and blocked.
func TestEigenSym(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 1))
	for _, n := range []int{1, 2, 3, 10, 33, 70, 149} {
		for name, entry := range map[string]func(i, j int) float64{
			"dense":    func(i, j int) float64 { return rng.NormFloat64() },
			"small":    func(i, j int) float64 { return 1e-9 * rng.NormFloat64() },
			"large":    func(i, j int) float64 { return 1e30 * rng.NormFloat64() },
			"blocks":   func(i, j int) float64 { return max(0, float64(2-(i/3-j/3))) * float64(1-min(1, (i/3-j/3))) },
			"sparse":   func(i, j int) float64 { return max(0, rng.NormFloat64()-2) },
			"graded":   func(i, j int) float64 { return math.Pow(10, -float64(i+j)/10) * rng.NormFloat64() },
			"rank one": func(i, j int) float64 { return float64((i + 1) * (j + 1)) },
			"identity": func(i, j int) float64 { return math.Pow(0, math.Abs(float64(i-j))) },
			"zero":     func(i, j int) float64 { return 0 },
		} {
			a := mat.NewSymDense(n, nil)
			for i := range n {
				for j := range i + 1 {
					a.SetSym(i, j, entry(i, j))
				}
			}
			for _, vectors := range []bool{false, true} {
				var want mat.EigenSym
				if !want.Factorize(a, vectors) {
					t.Fatal("EigenSym failed")
				}
				var got spectral.EigenSym
				if !got.Factorize(a, vectors) {
					t.Fatalf("%s, n = %d: failed", name, n)
				}
				values := got.Values(make([]float64, n))
				fused := runtime.GOARCH != "amd64" // products and sums, not the same ones in both
				norm := max(math.Abs(values[0]), math.Abs(values[n-1]))
				for i, w := range want.Values(nil) {
					if values[i] != w && !(fused && math.Abs(values[i]-w) <= 1e-15*float64(n)*norm) {
						t.Errorf("%s, n = %d, vectors %v: eigenvalue %d is %v, want %v", name, n, vectors, i, values[i], w)
					}
				}
				if !vectors {
					continue
				}
				var v, w mat.Dense
				got.VectorsTo(&v)
				want.VectorsTo(&w)
				if !fused && !mat.Equal(&v, &w) {
					t.Errorf("%s, n = %d: other eigenvectors", name, n)
				}
				checkEach(t, &got, &v)
			}
		}
	}
}

// checkEach checks that the vectors are the columns of v.
func checkEach(t *testing.T, e *spectral.EigenSym, v *mat.Dense) {
	n, _ := v.Dims()
	for j := range n {
		one := make([]float64, n)
		e.Vector(one, j)
		if !slices.Equal(one, mat.Col(nil, j, v)) {
			t.Errorf("n = %d: vector %d is not column %d", n, j, j)
		}
	}
}

// blocksOf returns a block diagonal matrix with blocks of order m: random ones times the scales.
func blocksOf(rng *rand.Rand, m int, scales ...float64) *mat.SymDense {
	a := mat.NewSymDense(m*len(scales), nil)
	for b, s := range scales {
		for i := range m {
			for j := range i + 1 {
				a.SetSym(b*m+i, b*m+j, s*rng.NormFloat64())
			}
		}
	}
	return a
}

// TestFactor: FFᵀ is the matrix, to round-off, and F has a column for each direction that is not round-off.
func TestFactor(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 7))
	for _, tt := range []struct{ n, rank int }{{1, 1}, {5, 5}, {40, 3}, {160, 20}} {
		x := mat.NewDense(tt.n, tt.rank, nil)
		x.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() }, x)
		a := mat.NewSymDense(tt.n, nil)
		a.SymOuterK(1, x)
		var eig spectral.EigenSym
		if !eig.Factorize(a, true) {
			t.Fatal("no eigenvectors")
		}
		f := eig.Factor()
		if _, r := f.Dims(); r != tt.rank {
			t.Errorf("n = %d, rank %d: %d columns", tt.n, tt.rank, r)
		}
		var got mat.Dense
		got.Mul(f, f.T())
		got.Sub(&got, a)
		if off := mat.Norm(&got, math.Inf(1)); off > 1e-13*float64(tt.n)*mat.Norm(a, math.Inf(1)) {
			t.Errorf("n = %d, rank %d: FFᵀ is off by %v", tt.n, tt.rank, off)
		}
	}
	var zero spectral.EigenSym
	zero.Factorize(mat.NewSymDense(3, nil), true)
	if r, c := zero.Factor().Dims(); r != 3 || c != 1 {
		t.Errorf("of the zero matrix: %d×%d, want 3×1", r, c)
	}
}

// TestEigenSymTiny: of matrices with tiny blocks, gonum's results are wrong by up to 1e122 times, or it panics.
func TestEigenSymTiny(t *testing.T) {
	rng := rand.New(rand.NewPCG(42, 1))
	for _, scales := range [][]float64{
		{1e-130, 1}, {1, 1e-130}, {1e-140}, {1e-300, 1e-310}, {1e-130, 1e30, 1e-200}, {1e-90, 1e-210}, {1e-120, 1e-130},
		{1e10, 1e-130, 1, 1e-320}, {1e300, 1e100, 1}, {1, 1e-99, 1e-101}, {1e160, 1e150}, {1e154, 1}, {5e-324, 0},
	} {
		for _, m := range []int{1, 2, 3, 7, 70} {
			a := blocksOf(rng, m, scales...)
			checkEigen(t, fmt.Sprintf("blocks of order %d times %v", m, scales), a)
			// The same in random order.
			n := m * len(scales)
			p := rng.Perm(n)
			b := mat.NewSymDense(n, nil)
			for i := range n {
				for j := range i + 1 {
					b.SetSym(p[i], p[j], a.At(i, j))
				}
			}
			checkEigen(t, fmt.Sprintf("blocks of order %d times %v, permuted", m, scales), b)
		}
	}
	for range 300 { // magnitudes from anywhere: what is tiny may come about only in the tridiagonal matrix
		n := 1 + rng.IntN(12)
		a := mat.NewSymDense(n, nil)
		for i := range n {
			for j := range i + 1 {
				if rng.IntN(3) > 0 {
					a.SetSym(i, j, rng.NormFloat64()*math.Pow(10, -320*rng.Float64()))
				}
			}
		}
		checkEigen(t, fmt.Sprintf("%v", mat.Formatted(a)), a)
	}
}

// checkEigen fails unless AV = V·diag(values), V is orthonormal, and the values are the same without V.
func checkEigen(t *testing.T, name string, a *mat.SymDense) {
	t.Helper()
	n := a.SymmetricDim()
	largest := 0.0
	for i := range n {
		for j := range n {
			largest = max(largest, math.Abs(a.At(i, j)))
		}
	}
	var e, without spectral.EigenSym
	if !e.Factorize(a, true) || !without.Factorize(a, false) {
		t.Errorf("%s: failed", name)
		return
	}
	values, only := e.Values(nil), without.Values(nil)
	var v mat.Dense
	e.VectorsTo(&v)
	// Relative to the largest entry, by a power of two so that nothing is rounded or lost.
	_, exponent := math.Frexp(largest)
	unit := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			unit.Set(i, j, math.Ldexp(a.At(i, j), -exponent))
		}
	}
	tol := 1e-14 * float64(n) // n·ε·‖A‖, and some
	if largest > 0 {
		tol += math.Ldexp(1, -1074-exponent) // what is denormal is rounded to that
	}
	var product, gram mat.Dense
	product.Mul(unit, &v)
	gram.Mul(v.T(), &v)
	for j := range n {
		lambda := math.Ldexp(values[j], -exponent)
		if j > 0 && values[j] < values[j-1] {
			t.Errorf("%s: eigenvalues %v do not ascend", name, values)
			return
		}
		if d := math.Abs(math.Ldexp(only[j], -exponent) - lambda); !(d <= tol) {
			t.Errorf("%s: eigenvalue %d is %v, and %v without vectors", name, j, values[j], only[j])
			return
		}
		for i := range n {
			if d := math.Abs(product.At(i, j) - lambda*v.At(i, j)); !(d <= tol) {
				t.Errorf("%s: eigenpair %d has a residual of %g, eigenvalues are %v", name, j, d, values)
				return
			}
			want := 0.0
			if i == j {
				want = 1
			}
			if !(math.Abs(gram.At(i, j)-want) <= 1e-14*float64(n)) {
				t.Errorf("%s: eigenvectors %d and %d have the product %v", name, i, j, gram.At(i, j))
				return
			}
		}
	}
}

// blockOf returns a matrix of order n, the identity but that four entries are x.
func blockOf(n int, x float64) *mat.SymDense {
	a := mat.NewSymDense(n, nil)
	for i := range n {
		a.SetSym(i, i, 1)
	}
	a.SetSym(3, 3, x)
	a.SetSym(3, 4, x)
	a.SetSym(4, 4, x)
	return a
}

func TestEigenSymRefuses(t *testing.T) {
	for name, a := range map[string]*mat.SymDense{
		"NaN":             mat.NewSymDense(2, []float64{1, math.NaN(), math.NaN(), 1}),
		"Inf":             mat.NewSymDense(2, []float64{1, 0, 0, math.Inf(-1)}),
		"overflow":        mat.NewSymDense(2, []float64{1.5e308, 1.5e308, 1.5e308, 1.5e308}),
		"large, NaN":      blockOf(170, math.NaN()),
		"large, Inf":      blockOf(170, math.Inf(1)),
		"large, overflow": blockOf(170, 1.5e308),
	} {
		for _, vectors := range []bool{false, true} {
			var e spectral.EigenSym
			if e.Factorize(a, vectors) {
				t.Errorf("%s: eigenvalues %v, want a refusal", name, e.Values(nil))
			}
		}
	}
	if spectral.TridiagonalValues([]float64{1, 2}, []float64{math.NaN()}) {
		t.Error("a tridiagonal matrix with NaN has eigenvalues")
	}
	var one spectral.EigenSym
	one.Factorize(mat.NewSymDense(1, []float64{3}), false)
	for name, f := range map[string]func(){
		"no diagonal": func() { spectral.TridiagonalValues(nil, nil) },
		"off":         func() { spectral.TridiagonalValues([]float64{1}, []float64{1}) },
		"vectors":     func() { spectral.TridiagonalVectors([]float64{1, 2}, []float64{1}, make([]float64, 3)) },
		"empty":       func() { new(spectral.EigenSym).Factorize(new(mat.SymDense), true) },
		"no values":   func() { new(spectral.EigenSym).Values(nil) },
		"length":      func() { one.Values(make([]float64, 2)) },
		"not wanted":  func() { one.VectorsTo(new(mat.Dense)) },
		"nor one":     func() { one.Vector(make([]float64, 1), 0) },
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

// TestLanczosTiny: the Lanczos method on operators so small that the QR iterations would panic or
// scale wrongly.
func TestLanczosTiny(t *testing.T) {
	rng := rand.New(rand.NewPCG(43, 1))
	const n = 30
	unit := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			unit.SetSym(i, j, rng.NormFloat64())
		}
	}
	var e spectral.EigenSym
	if !e.Factorize(unit, false) {
		t.Fatal("EigenSym failed")
	}
	want := e.Values(nil)
	for _, exponent := range []int{-450, -600, 600} {
		a := mat.NewSymDense(n, nil)
		a.ScaleSym(math.Ldexp(1, exponent), unit)
		r := spectral.Smallest(spectral.Matrix(a), 2, spectral.Options{})
		for i, v := range r.Values {
			if got := math.Ldexp(v, -exponent); !(math.Abs(got-want[i]) <= 1e-8) { // Tol·‖A‖
				t.Errorf("2^%d: eigenvalue %d is %v, want %v", exponent, i, got, want[i])
			}
		}
	}
}

func ExampleEigenSym() {
	// Two blocks, one of them tiny.
	a := mat.NewSymDense(4, []float64{
		2e-130, 1e-130, 0, 0,
		1e-130, 2e-130, 0, 0,
		0, 0, 1, 0.5,
		0, 0, 0.5, 1,
	})
	var e spectral.EigenSym
	fmt.Println(e.Factorize(a, false))
	fmt.Printf("%.2g\n", e.Values(nil))
	// Output:
	// true
	// [0 0 0.5 1.5]
}

// BenchmarkEigenSym compares with gonum, on one core with -cpu 1. Values are without eigenvectors.
func BenchmarkEigenSym(b *testing.B) {
	for _, n := range []int{100, 150, 256, 784, 1500} {
		rng := rand.New(rand.NewPCG(44, 1))
		a := mat.NewSymDense(n, nil)
		for i := range n {
			for j := range i + 1 {
				a.SetSym(i, j, rng.NormFloat64())
			}
		}
		for _, alg := range []struct {
			name string
			run  func() bool
		}{
			{"gonum", func() bool { return new(mat.EigenSym).Factorize(a, true) }},
			{"metriclab", func() bool { return new(spectral.EigenSym).Factorize(a, true) }},
			{"gonum-values", func() bool { return new(mat.EigenSym).Factorize(a, false) }},
			{"metriclab-values", func() bool { return new(spectral.EigenSym).Factorize(a, false) }},
		} {
			b.Run(fmt.Sprintf("alg=%s/n=%d", alg.name, n), func(b *testing.B) {
				for b.Loop() {
					if !alg.run() {
						b.Fatal("failed")
					}
				}
			})
		}
	}
}

// However many cores work on a decomposition, its bits are those of one core. The order is large enough that products are shared.
func TestCores(t *testing.T) {
	before := runtime.GOMAXPROCS(1)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	const n = 560
	rng := rand.New(rand.NewPCG(44, 2))
	a := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			a.SetSym(i, j, rng.NormFloat64())
		}
	}
	var values []float64
	var vectors mat.Dense
	for _, procs := range []int{1, 2, 3} {
		runtime.GOMAXPROCS(procs)
		var e spectral.EigenSym
		if !e.Factorize(a, true) {
			t.Fatal("no convergence")
		}
		var v mat.Dense
		e.VectorsTo(&v)
		if procs == 1 {
			values = e.Values(nil)
			vectors.CloneFrom(&v)
		} else if !slices.Equal(e.Values(nil), values) || !mat.Equal(&v, &vectors) {
			t.Errorf("other bits on %d cores than on one", procs)
		}
	}
}
