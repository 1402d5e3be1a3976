package pairs

import (
	"math"
	"math/rand/v2"
	"testing"

	"metriclab/internal/matrixtest"

	"gonum.org/v1/gonum/mat"
)

// pack returns the lower triangle of m, and unpack the matrix of a triangle.
func pack(m mat.Symmetric) sym {
	var s sym
	for i := range m.SymmetricDim() {
		for j := range i + 1 {
			s = append(s, m.At(i, j))
		}
	}
	return s
}

func unpack(s sym, n int) *mat.SymDense {
	m := mat.NewSymDense(n, nil)
	for i := range n {
		for j, a := range s.row(i) {
			m.SetSym(i, j, a)
		}
	}
	return m
}

// randomPSD returns GᵀG for a random rank×n matrix G with entries of variance
// 1/rank.
func randomPSD(rng *rand.Rand, n, rank int) *mat.SymDense {
	m := mat.NewSymDense(n, nil)
	for range rank {
		m.SymRankOne(m, 1/float64(rank), mat.NewVecDense(n, randn(rng, n)))
	}
	return m
}

// Each operation against gonum's dense matrices, below and above the length at
// which kernels take over. symTol is for sums of 40 products of order one.
func TestSym(t *testing.T) {
	const symTol = 1e-12
	for _, n := range []int{1, 2, 5, 13, 40} {
		rng := rand.New(rand.NewPCG(20, uint64(n)))
		m := randomPSD(rng, n, n+2)
		x, y := randn(rng, n), randn(rng, n)
		vx, vy := mat.NewVecDense(n, x), mat.NewVecDense(n, y)
		near := func(name string, got, want float64) {
			t.Helper()
			if math.Abs(got-want) > symTol*(1+math.Abs(want)) {
				t.Errorf("n = %d: %s = %v, want %v", n, name, got, want)
			}
		}
		s := pack(m)
		var mx mat.VecDense
		mx.MulVec(m, vx)
		got := make([]float64, n)
		s.mulTo(got, x)
		for i := range got {
			near("Sx", got[i], mx.AtVec(i))
		}
		near("xᵀSx", s.quad(x), mat.Inner(vx, m, vx))
		near("trace", s.trace(n), mat.Trace(m))

		var want mat.SymDense
		want.SymRankOne(m, -0.3, vx)
		s.rankOne(-0.3, x)
		near("rank one", matrixtest.Distance(unpack(s, n), &want), 0)
		want.SymRankOne(&want, 0.2, vx)
		want.RankTwo(&want, 0.7, vx, vy)
		want.SymRankOne(&want, -0.4, vy)
		s.rankTwo(0.2, 0.7, -0.4, x, y)
		near("rank two", matrixtest.Distance(unpack(s, n), &want), 0)

		s = pack(m)
		l := make(sym, len(s))
		if !s.cholesky(l, 0.5, n) {
			t.Fatalf("n = %d: I/2 + GᵀG is positive definite", n)
		}
		z := append([]float64(nil), x...)
		l.solve(z)
		s.mulTo(got, z)
		for i := range got {
			near("(S + I/2)z", got[i]+0.5*z[i], x[i])
		}
		if s.cholesky(l, -1e3, n) {
			t.Errorf("n = %d: S − 1000·I is not positive definite", n)
		}
		d := s.dense(2, n)
		for i := range n {
			for j := range i {
				near("dense", d.Data[i*n+j], m.At(i, j))
			}
			near("dense diagonal", d.Data[i*n+i], m.At(i, i)+2)
		}
	}
}
