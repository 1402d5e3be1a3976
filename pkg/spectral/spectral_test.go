package spectral_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/spectral"
)

// rotated returns QΛQᵀ with a random orthogonal Q, and Q.
func rotated(rng *rand.Rand, values []float64) (*mat.SymDense, *mat.Dense) {
	n := len(values)
	g := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			g.Set(i, j, rng.NormFloat64())
		}
	}
	var qr mat.QR
	qr.Factorize(g)
	var q mat.Dense
	qr.QTo(&q)
	a := mat.NewSymDense(n, nil)
	for k, v := range values {
		a.SymRankOne(a, v, q.ColView(k))
	}
	return a, &q
}

// spectra are the cases on which Lanczos is compared with mat.EigenSym.
func spectra(rng *rand.Rand) map[string][]float64 {
	const n = 60
	out := map[string][]float64{
		"order one": {3},
		"order two": {-1, 2},
		"identity":  make([]float64, n),
		"zero":      make([]float64, n),
	}
	add := func(name string, f func(i int) float64) {
		v := make([]float64, n)
		for i := range v {
			v[i] = f(i)
		}
		out[name] = v
	}
	add("identity", func(int) float64 { return 1 })
	add("random", func(int) float64 { return rng.NormFloat64() })
	add("clustered", func(i int) float64 { return float64(i%3) + 1e-6*rng.Float64() })
	add("multiple", func(i int) float64 { return float64(i % 4) })
	add("triple ends", func(i int) float64 {
		switch {
		case i < 3:
			return -2
		case i >= n-3:
			return 5
		}
		return rng.Float64()
	})
	add("rank 5", func(i int) float64 {
		if i < 5 {
			return float64(i + 1)
		}
		return 0
	})
	add("few negative", func(i int) float64 { return float64(i) - 3.5 })
	add("huge", func(int) float64 { return 1e12 * rng.NormFloat64() })
	add("tiny", func(int) float64 { return 1e-12 * rng.NormFloat64() })
	return out
}

// eigenvalues returns all eigenvalues, ascending, by mat.EigenSym.
func eigenvalues(t *testing.T, a mat.Symmetric) []float64 {
	t.Helper()
	var eig mat.EigenSym
	if !eig.Factorize(a, false) {
		t.Fatal("EigenSym failed")
	}
	return eig.Values(nil)
}

// valueTol is the tolerance relative to ‖A‖ between the two methods: the
// default Tol bounds the residual, an eigenvalue is off by at most that.
const valueTol = 2e-10

func check(t *testing.T, a *mat.SymDense, r spectral.Result, want []float64) {
	t.Helper()
	all := eigenvalues(t, a)
	size := math.Max(math.Abs(all[0]), math.Abs(all[len(all)-1]))
	if len(r.Values) != len(want) || len(r.Residuals) != len(want) {
		t.Fatalf("%d values (status %v), want %d", len(r.Values), r.Status, len(want))
	}
	for i, v := range r.Values {
		if math.Abs(v-want[i]) > valueTol*size {
			t.Errorf("value %d = %v, want %v (status %v)", i, v, want[i], r.Status)
		}
		u := r.Vectors.RowView(i)
		var au mat.VecDense
		au.MulVec(a, u)
		au.AddScaledVec(&au, -v, u)
		if res := mat.Norm(&au, 2); res > valueTol*size || math.Abs(res-r.Residuals[i]) > valueTol*size {
			t.Errorf("residual %d = %v, reported %v, ‖A‖ = %v", i, res, r.Residuals[i], size)
		}
		for j := range i + 1 {
			want := 0.0
			if i == j {
				want = 1
			}
			if got := mat.Dot(u, r.Vectors.RowView(j)); math.Abs(got-want) > 1e-12 {
				t.Errorf("uᵢᵀuⱼ = %v for i, j = %d, %d", got, i, j)
			}
		}
	}
}

func TestAgainstEigenSym(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	for name, values := range spectra(rng) {
		t.Run(name, func(t *testing.T) {
			a, _ := rotated(rand.New(rand.NewPCG(7, 2)), values)
			op := spectral.Matrix(a)
			all := eigenvalues(t, a)
			n := len(all)
			for _, k := range []int{1, 2, 5, n} {
				if k > n {
					continue
				}
				r := spectral.Smallest(op, k, spectral.Options{})
				check(t, a, r, all[:k])
				r = spectral.Largest(op, k, spectral.Options{})
				top := make([]float64, k)
				for i := range top {
					top[i] = all[n-1-i]
				}
				check(t, a, r, top)
			}
			size := math.Max(math.Abs(all[0]), math.Abs(all[n-1]))
			for _, bound := range []float64{-0.25 * size, 0.37 * size, 10 * size, -10 * size} {
				if bound == 0 {
					continue
				}
				want := 0
				for want < n && all[want] < bound {
					want++
				}
				check(t, a, spectral.Below(op, bound, spectral.Options{}), all[:want])
			}
		})
	}
}

// P − τvvᵀ, P ⪰ 0, has at most one negative eigenvalue, and its eigenvector is
// in the Krylov space of v.
func TestNegativeOfRankOneDowndate(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	for trial := range 20 {
		n := 5 + 3*trial
		values := make([]float64, n)
		for i := range n / 2 {
			values[i] = rng.ExpFloat64()
		}
		a, _ := rotated(rng, values)
		v := make([]float64, n)
		for i := range v {
			v[i] = rng.NormFloat64()
		}
		a.SymRankOne(a, -0.1, mat.NewVecDense(n, v))
		all := eigenvalues(t, a)
		if !(all[0] < -1e-3 && all[1] > -1e-12) {
			t.Fatalf("n = %d: eigenvalues %v, %v: not the case to test", n, all[0], all[1])
		}
		r := spectral.Smallest(spectral.Matrix(a), 1, spectral.Options{Start: v, StartOnly: true})
		if r.Status != spectral.Converged {
			t.Errorf("n = %d: status %v", n, r.Status)
		}
		check(t, a, r, all[:1])
		if d := math.Abs(mat.Dot(r.Vectors.RowView(0), mat.NewVecDense(n, v))); d < 1e-3 {
			t.Errorf("n = %d: |vᵀu| = %v", n, d)
		}
		check(t, a, spectral.Below(spectral.Matrix(a), -1e-9, spectral.Options{Start: v}), all[:1])
	}
}

// A start vector that is orthogonal to the wanted eigenvector finds it only
// through a restart.
func TestRestartFindsWhatStartMisses(t *testing.T) {
	d := mat.NewSymDense(4, nil)
	for i, v := range []float64{-1, 1, 2, 3} {
		d.SetSym(i, i, v)
	}
	op := spectral.Matrix(d)
	start := []float64{0, 1, 1, 0}
	r := spectral.Smallest(op, 1, spectral.Options{Start: start, StartOnly: true})
	if len(r.Values) != 1 || math.Abs(r.Values[0]-1) > 1e-12 {
		t.Errorf("in the space of the start: %v, want [1]", r.Values)
	}
	if r = spectral.Smallest(op, 3, spectral.Options{Start: start, StartOnly: true}); r.Status != spectral.StartSpace || len(r.Values) != 2 {
		t.Errorf("in the space of the start: %d values, status %v; want 2, %v", len(r.Values), r.Status, spectral.StartSpace)
	}
	r = spectral.Smallest(op, 1, spectral.Options{Start: start})
	if len(r.Values) != 1 || math.Abs(r.Values[0]+1) > 1e-12 {
		t.Errorf("with restarts: %v, want [-1]", r.Values)
	}
	if r = spectral.Smallest(op, 1, spectral.Options{Start: make([]float64, 4)}); math.Abs(r.Values[0]+1) > 1e-12 {
		t.Errorf("with a zero start: %v, want [-1]", r.Values)
	}
}

func TestProductCap(t *testing.T) {
	values := make([]float64, 200)
	for i := range values {
		values[i] = float64(i)
	}
	a, _ := rotated(rand.New(rand.NewPCG(9, 1)), values)
	calls := 0
	op := spectral.Matrix(a)
	counting := spectral.Func{N: op.Dim(), Mul: func(dst, x []float64) { calls++; op.MulVecTo(dst, x) }}
	r := spectral.Smallest(counting, 1, spectral.Options{MaxProducts: 10})
	if r.Status != spectral.ProductCap || len(r.Values) != 0 || r.Products != 10 || calls != 10 {
		t.Errorf("status %v, %d values, %d products, %d calls; want %v, 0, 10, 10", r.Status, len(r.Values), r.Products, calls, spectral.ProductCap)
	}
	calls = 0
	if r = spectral.Smallest(counting, 1, spectral.Options{}); r.Products != calls {
		t.Errorf("%d products reported, %d made", r.Products, calls)
	}
}

func TestSameCallSameBits(t *testing.T) {
	a, _ := rotated(rand.New(rand.NewPCG(10, 1)), []float64{1, 1, 2, 3, 3, 5})
	x := spectral.Smallest(spectral.Matrix(a), 3, spectral.Options{})
	y := spectral.Smallest(spectral.Matrix(a), 3, spectral.Options{})
	if fmt.Sprint(x.Values) != fmt.Sprint(y.Values) || !mat.Equal(x.Vectors, y.Vectors) {
		t.Error("two equal searches differ")
	}
	var zero spectral.Options
	if o := zero.Resolved(6); o.Tol != 1e-10 || o.MaxProducts != 700 || o.Rand == nil {
		t.Errorf("Resolved = %+v", o)
	}
}

func TestMatrixIsACopy(t *testing.T) {
	a := mat.NewSymDense(2, []float64{1, 2, 0, 3})
	op := spectral.Matrix(a)
	a.SetSym(0, 1, 99)
	dst := make([]float64, 2)
	op.MulVecTo(dst, []float64{1, 1})
	if dst[0] != 3 || dst[1] != 5 {
		t.Errorf("product %v, want [3 5]", dst)
	}
}

func TestPanics(t *testing.T) {
	op := spectral.Matrix(mat.NewSymDense(3, nil))
	for name, f := range map[string]func(){
		"k = 0":         func() { spectral.Smallest(op, 0, spectral.Options{}) },
		"k > n":         func() { spectral.Largest(op, 4, spectral.Options{}) },
		"short start":   func() { spectral.Smallest(op, 1, spectral.Options{Start: []float64{1}}) },
		"negative tol":  func() { spectral.Smallest(op, 1, spectral.Options{Tol: -1}) },
		"NaN tol":       func() { spectral.Smallest(op, 1, spectral.Options{Tol: math.NaN()}) },
		"negative cap":  func() { spectral.Smallest(op, 1, spectral.Options{MaxProducts: -1}) },
		"NaN bound":     func() { spectral.Below(op, math.NaN(), spectral.Options{}) },
		"order 0":       func() { spectral.Below(spectral.Func{}, 0, spectral.Options{}) },
		"NaN operator":  func() { spectral.Smallest(spectral.Func{N: 2, Mul: nan}, 1, spectral.Options{}) },
		"nil operator":  func() { spectral.Smallest(nil, 1, spectral.Options{}) },
		"nil symmetric": func() { spectral.Matrix(nil) },
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

func nan(dst, _ []float64) { dst[0], dst[1] = math.NaN(), math.NaN() }

func TestStatusString(t *testing.T) {
	seen := map[string]bool{}
	for s := range spectral.ProductCap + 2 {
		seen[s.String()] = true
	}
	if len(seen) != int(spectral.ProductCap)+2 {
		t.Errorf("status texts are not distinct: %v", seen)
	}
}

func ExampleSmallest() {
	// The negative eigenpair of I − 4vvᵀ, v = (0.6, 0.8), is (−3, v).
	v := []float64{0.6, 0.8}
	op := spectral.Func{N: 2, Mul: func(dst, x []float64) {
		p := 4 * (v[0]*x[0] + v[1]*x[1])
		dst[0], dst[1] = x[0]-p*v[0], x[1]-p*v[1]
	}}
	r := spectral.Smallest(op, 1, spectral.Options{Start: v, StartOnly: true})
	fmt.Printf("%.3f %v\n", r.Values[0], r.Status)
	// Output: -3.000 converged
}

func BenchmarkLargest(b *testing.B) {
	const n, k = 784, 2
	rng := rand.New(rand.NewPCG(11, 1))
	a := mat.NewSymDense(n, nil)
	x := make([]float64, n)
	for i := range 2000 {
		for j := range x {
			x[j] = rng.NormFloat64() / float64(1+j) * float64(1+i%3)
		}
		blas64.Syr(1, blas64.Vector{N: n, Inc: 1, Data: x}, a.RawSymmetric())
	}
	op := spectral.Matrix(a)
	b.Run(fmt.Sprintf("alg=Lanczos/dim=%d/k=%d", n, k), func(b *testing.B) {
		for b.Loop() {
			spectral.Largest(op, k, spectral.Options{})
		}
	})
	b.Run(fmt.Sprintf("alg=EigenSym/dim=%d", n), func(b *testing.B) {
		for b.Loop() {
			var eig mat.EigenSym
			eig.Factorize(a, true)
		}
	})
}
