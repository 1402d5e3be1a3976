package matrix_test

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/internal/product"
)

func random(rng *rand.Rand, r, c int) *mat.Dense {
	x := mat.NewDense(r, c+2, nil) // a view, whose rows are apart
	for i := range r {
		for j := range c + 2 {
			x.Set(i, j, rng.NormFloat64())
		}
	}
	return x.Slice(0, r, 1, c+1).(*mat.Dense)
}

// naive is ab by the definition.
func naive(a, b mat.Matrix) *mat.Dense {
	m, k := a.Dims()
	_, n := b.Dims()
	out := mat.NewDense(m, n, nil)
	for i := range m {
		row := mat.Row(nil, i, a)
		for j := range n {
			var s float64
			for l := range k {
				s += row[l] * b.At(l, j)
			}
			out.Set(i, j, s)
		}
	}
	return out
}

// tol bounds the round-off of sums of 130 products of normal numbers, of which the largest is some 20: 130·20·2⁻⁵³.
const tol = 1e-12

// The dimensions are on both sides of the one from which package product multiplies.
var dims = []int{1, 3, 48, 49, 130}

func TestMul(t *testing.T) {
	rng := rand.New(rand.NewPCG(18, 1))
	for _, m := range dims {
		for _, k := range dims {
			for _, n := range []int{1, 48, 70} {
				a, at, b, bt := random(rng, m, k), random(rng, k, m), random(rng, k, n), random(rng, n, k)
				for name, f := range map[string][2]mat.Matrix{"ab": {a, b}, "aᵀb": {at.T(), b}, "abᵀ": {a, bt.T()}, "aᵀbᵀ": {at.T(), bt.T()}} {
					got := matrix.Mul(f[0], f[1])
					if !mat.EqualApprox(got, naive(f[0], f[1]), tol) {
						t.Fatalf("%d×%d×%d, %s: not the product", m, k, n, name)
					}
					row := mat.NewDense(1, n, nil)
					first := mat.NewDense(1, k, mat.Row(nil, 0, f[0]))
					if matrix.MulTo(row, first, f[1]); min(k, n) > 48 && !mat.Equal(row, got.Slice(0, 1, 0, n)) && product.Path() != "gonum, without FMA" {
						t.Fatalf("%d×%d×%d, %s: a row alone has other bits", m, k, n, name)
					}
				}
			}
		}
	}
}

// Symmetric and triangular factors are multiplied as matrices, not as arrays.
func TestMulOfOtherMatrices(t *testing.T) {
	rng := rand.New(rand.NewPCG(18, 2))
	for _, n := range []int{5, 60} {
		s := mat.NewSymDense(n, nil)
		for i := range n {
			for j := i; j < n; j++ {
				s.SetSym(i, j, rng.NormFloat64())
			}
		}
		u := mat.NewTriDense(n, mat.Upper, nil)
		for i := range n {
			for j := i; j < n; j++ {
				u.SetTri(i, j, rng.NormFloat64())
			}
		}
		for name, f := range map[string][2]mat.Matrix{"symmetric": {s, s}, "triangular": {u, u.T()}, "mixed": {s.T(), u}} {
			if !mat.EqualApprox(matrix.Mul(f[0], f[1]), naive(f[0], f[1]), tol) {
				t.Errorf("order %d, %s: not the product", n, name)
			}
		}
		if !mat.EqualApprox(matrix.Outer(1, u.T()), naive(u.T(), u), tol) {
			t.Errorf("order %d: not UᵀU", n)
		}
	}
}

func TestOuter(t *testing.T) {
	rng := rand.New(rand.NewPCG(18, 3))
	for _, m := range dims {
		for _, k := range dims {
			a := random(rng, m, k)
			for _, alpha := range []float64{1, -0.5} {
				for name, f := range map[string]mat.Matrix{"aaᵀ": a, "aᵀa": a.T()} {
					want := naive(f, f.T())
					want.Scale(alpha, want)
					if !mat.EqualApprox(matrix.Outer(alpha, f), want, tol) {
						t.Fatalf("%d×%d, %s, α = %v: not the product", m, k, name, alpha)
					}
				}
			}
		}
	}
}

func TestAddOuter(t *testing.T) {
	rng := rand.New(rand.NewPCG(18, 4))
	for _, n := range dims {
		for _, k := range dims {
			v, w := random(rng, k, n), make([]float64, k)
			scaled := mat.DenseCopyOf(v)
			for i := range w {
				w[i] = max(rng.NormFloat64(), 0)
				for j := range n {
					scaled.Set(i, j, v.At(i, j)*w[i])
				}
			}
			dst := matrix.Outer(1, random(rng, n, 2))
			var want mat.Dense
			want.Add(naive(scaled.T(), v), dst)
			if matrix.AddOuter(dst, w, v); !mat.EqualApprox(dst, &want, tol) {
				t.Fatalf("%d rows of length %d: not the sum", k, n)
			}
		}
	}
}

// Few features keep the bits of gonum, with which results are published.
func TestThinProductsAreGonums(t *testing.T) {
	rng := rand.New(rand.NewPCG(18, 5))
	a, b := random(rng, 300, 48), random(rng, 48, 200)
	var want mat.Dense
	var outer mat.SymDense
	want.Mul(a, b)
	outer.SymOuterK(1.0/3, a.T())
	if !mat.Equal(matrix.Mul(a, b), &want) || !mat.Equal(matrix.Outer(1.0/3, a.T()), &outer) {
		t.Error("other bits than gonum's")
	}
	wide := random(rng, 300, 49)
	outer.Reset()
	outer.SymOuterK(1, wide.T())
	// Only on amd64 gonum is known to round each product: elsewhere the compiler may fuse it with the sum, which is our bits.
	if mat.Equal(matrix.Outer(1, wide.T()), &outer) && runtime.GOARCH == "amd64" && product.Path() != "gonum, without FMA" {
		t.Error("49 columns have gonum's bits, too") // of 1,225 entries, some round otherwise
	}
}

func TestPanics(t *testing.T) {
	a, b := mat.NewDense(2, 3, nil), mat.NewDense(2, 3, nil)
	for name, f := range map[string]func(){
		"inner dimensions": func() { matrix.Mul(a, b) },
		"rows":             func() { matrix.MulTo(mat.NewDense(3, 2, nil), a, b.T()) },
		"columns":          func() { matrix.MulTo(mat.NewDense(2, 3, nil), a, b.T()) },
		"empty":            func() { matrix.Mul(new(mat.Dense), new(mat.Dense)) },
		"empty, outer":     func() { matrix.Outer(1, new(mat.Dense)) },
		"weights":          func() { matrix.AddOuter(mat.NewSymDense(3, nil), []float64{1}, a) },
		"order":            func() { matrix.AddOuter(mat.NewSymDense(2, nil), []float64{1, 1}, a) },
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

// NaN and infinities reach the entries that they belong to, and no other.
func TestSpecialValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(18, 6))
	a := random(rng, 60, 60)
	a.Set(7, 3, math.Inf(1))
	a.Set(9, 3, math.NaN())
	s := matrix.Outer(1, a)
	for i := range 60 {
		for j := range 60 {
			v := s.At(i, j)
			finite := !math.IsNaN(v) && !math.IsInf(v, 0)
			if finite != (i != 7 && i != 9 && j != 7 && j != 9) {
				t.Fatalf("entry %d, %d is %v", i, j, v)
			}
		}
	}
	if !math.IsInf(s.At(7, 7), 1) || !math.IsNaN(s.At(9, 9)) {
		t.Errorf("squares of infinity and NaN: %v, %v", s.At(7, 7), s.At(9, 9))
	}
}

// TestSymmetric: the mean of both halves, without overflow.
func TestSymmetric(t *testing.T) {
	s := matrix.Symmetric(mat.NewDense(2, 2, []float64{1, 4, 2, math.MaxFloat64}))
	if want := mat.NewSymDense(2, []float64{1, 3, 3, math.MaxFloat64}); !mat.Equal(s, want) {
		t.Errorf("got %v", mat.Formatted(s))
	}
	defer func() {
		if recover() == nil {
			t.Error("a matrix of 1×2 does not panic")
		}
	}()
	matrix.Symmetric(mat.NewDense(1, 2, nil))
}

func TestComplete(t *testing.T) {
	for _, n := range []int{0, 1, 16, 17, 40} {
		a := blas64.General{Rows: n, Cols: n, Stride: n + 2, Data: make([]float64, n*(n+2))}
		for i := range a.Data {
			a.Data[i] = float64(i)
		}
		matrix.Complete(a)
		for i := range n {
			for j := range n + 2 {
				if want := float64(min(i, j)*a.Stride + max(i, j)); j < n && a.Data[i*a.Stride+j] != want {
					t.Fatalf("order %d: element %d, %d is %v, want %v", n, i, j, a.Data[i*a.Stride+j], want)
				} else if j >= n && a.Data[i*a.Stride+j] != float64(i*a.Stride+j) {
					t.Fatalf("order %d: number %d of row %d, beside the matrix, has changed", n, j, i)
				}
			}
		}
	}
}
