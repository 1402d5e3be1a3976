package plain

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// NCA is neighbourhood components analysis: it climbs from l, k×d, by steps L += rate·∇f, and returns the last L.
//
// Source: Goldberger, Roweis, Hinton, Salakhutdinov, Neighbourhood Components Analysis, NIPS 17, 2004.
func NCA(x mat.Matrix, y []int, l mat.Matrix, rate float64, steps int) *mat.Dense {
	out := mat.DenseCopyOf(l)
	for range steps {
		_, g := NCAObjective(x, y, out)
		g.Scale(rate, g)
		out.Add(out, g)
	}
	return out
}

// NCAObjective returns f(L) = Σᵢ pᵢ, the expected number of rows with the class of their stochastic neighbour, and its gradient.
func NCAObjective(x mat.Matrix, y []int, l mat.Matrix) (f float64, g *mat.Dense) {
	n, d := x.Dims()
	s := mat.NewSymDense(d, nil)
	for i := range n {
		sq, v, nearest := make([]float64, n), make([]*mat.VecDense, n), math.Inf(1)
		for j := range n {
			v[j] = difference(mat.Row(nil, i, x), mat.Row(nil, j, x))
			var lv mat.VecDense
			lv.MulVec(l, v[j])
			if sq[j] = mat.Dot(&lv, &lv); j != i {
				nearest = min(nearest, sq[j])
			}
		}
		p, sum, own := make([]float64, n), 0.0, 0.0
		for j := range n {
			if j != i {
				p[j] = math.Exp(nearest - sq[j]) // Eq. 1, but that 0/0 cannot be
				sum += p[j]
			}
		}
		for j := range n {
			p[j] /= sum
			if y[j] == y[i] {
				own += p[j] // Eq. 2
			}
		}
		f += own // Eq. 3
		for j := range n {
			w := own * p[j] // Eq. 5
			if y[j] == y[i] {
				w -= p[j]
			}
			s.SymRankOne(s, w, v[j])
		}
	}
	g = new(mat.Dense)
	g.Mul(l, s)
	g.Scale(2, g)
	return f, g
}
