package secular

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func TestSolveShifted(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := 1; n <= 8; n++ {
		a, b := make([]float64, n), make([]float64, n)
		for i := range n {
			a[i], b[i] = 2+rng.Float64(), rng.Float64() // diagonally dominant, thus positive definite
		}
		tri := mat.NewSymDense(n, nil)
		for i := range n {
			tri.SetSym(i, i, a[i])
			if i < n-1 {
				tri.SetSym(i, i+1, b[i])
			}
		}
		const delta, w = 0.7, 1.5
		p, tp, d := make([]float64, n), make([]float64, n), make([]float64, n)
		sq, ok := solveShifted(a, b, delta, w, p, tp, d)
		if !ok {
			t.Fatalf("n = %d: not positive definite", n)
		}
		var product mat.VecDense
		product.MulVec(tri, mat.NewVecDense(n, p))
		want := 0.0
		for i := range n {
			rhs := 0.0
			if i == 0 {
				rhs = w
			}
			if math.Abs(tp[i]-product.AtVec(i)) > 1e-14 || math.Abs(p[i]+delta*tp[i]-rhs) > 1e-14 { // a few roundings of numbers of order 1
				t.Errorf("n = %d, row %d: Tp is %v, want %v; p + δTp is %v, want %v", n, i, tp[i], product.AtVec(i), p[i]+delta*tp[i], rhs)
			}
			want += tp[i] * tp[i]
		}
		if sq != want {
			t.Errorf("n = %d: ‖Tp‖² is %v, want %v", n, sq, want)
		}
		if _, ok := solveShifted(a, b, -1, w, p, tp, d); ok {
			t.Errorf("n = %d: I − T has a negative eigenvalue, and is accepted", n)
		}
	}
}
