package triplets

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
)

// structured is a cone that computes no eigenpair where a certificate shows that there is no negative
// one, and else that pair alone. A kernel that starts diagonal is kept sparse while few
// eigenpairs were removed.
type structured struct {
	n      int
	sparse *sparse   // nil: resolved holds the kernel
	dense  *resolved // nil: sparse does
}

func newStructured(n int, initial mat.Symmetric) *structured {
	diag := make([]float64, n)
	diagonal := true
	for i := range n {
		diag[i] = 1
		if initial != nil {
			diag[i] = initial.At(i, i)
			for j := range i {
				diagonal = diagonal && initial.At(i, j) == 0
			}
		}
		diagonal = diagonal && diag[i] > 0
	}
	if diagonal {
		return &structured{n: n, sparse: newSparse(diag)}
	}
	k := make([]float64, n*n)
	for i := range n {
		for j := range n {
			k[i*n+j] = initial.At(i, j)
		}
	}
	return &structured{n: n, dense: newResolved(n, k)}
}

func (k *structured) at(i, j int) float64 {
	if k.sparse != nil {
		return k.sparse.at(i, j)
	}
	return k.dense.k.at(i, j)
}

func (k *structured) kernel() *mat.SymDense {
	a := make([]float64, k.n*k.n)
	if k.sparse != nil {
		k.sparse.fill(a)
	} else {
		m := buffered{n: k.n, base: a, c: append([]float64(nil), k.dense.k.c...), z: append([]float64(nil), k.dense.k.z...)}
		copy(a, k.dense.k.base)
		m.flush()
	}
	return mat.NewSymDense(k.n, a)
}

func (k *structured) add(t metric.Triplet, gamma float64, g Gradient) addition {
	o := [3]int{t.A, t.Near, t.Far}
	w, u := g.frame()
	c := g.radius() * gamma
	if k.sparse == nil {
		return k.dense.add(o, w, u, c)
	}
	a, ok := k.sparse.add(o, w, u, c)
	if !ok {
		k.densify()
		floor, _ := tolerances(c, k.dense.trace, k.n)
		return k.dense.direct(floor)
	}
	if len(k.sparse.low) > maxTerms(k.n) {
		k.densify()
	}
	return a
}

// maxTerms is the number of removed eigenpairs from which on a dense kernel with its resolvent is cheaper.
func maxTerms(n int) int { return n / 25 }

func (k *structured) densify() {
	a := make([]float64, k.n*k.n)
	k.sparse.fill(a)
	k.dense, k.sparse = newResolved(k.n, a), nil
}

// frame returns the unit vectors w and u on (A, Near, Far) with −G = radius(wwᵀ − uuᵀ).
func (g Gradient) frame() (w, u [3]float64) {
	if g == Frobenius {
		r := math.Sqrt(3)
		return [3]float64{1 / r, 1 / (r + 3), 1 / (r - 3)}, [3]float64{1 / r, 1 / (r - 3), 1 / (r + 3)}
	}
	return [3]float64{2. / 3, 1. / 3, -2. / 3}, [3]float64{2. / 3, -2. / 3, 1. / 3}
}
