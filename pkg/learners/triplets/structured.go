package triplets

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
)

// structured is a cone that computes at most one eigenpair: the negative one, and only if no certificate
// rules it out. A kernel that starts diagonal is kept sparse until an eigenpair must be removed or
// many entries are filled. Then, and for other starts, all entries are kept, with resolvents.
//
// What it leaves is proved up to round-off of order tr(K)·ε. No negative eigenvalue is skipped but those in
// [−(1e-13·radius(G)·γ + 4ε·tr(K)), 0), as long as K was positive semi-definite before. An eigenpair is accepted by its
// residual in K itself, at most 3e-10·(radius(G)·γ + tr(K)/n) + 120ε·tr(K); a thirtieth of it is aimed at.
type structured struct {
	n      int
	sparse *sparse   // nil: resolved holds the kernel
	dense  *resolved // nil: sparse does

	without ablation
}

// ablation leaves mechanisms out, to measure what each is worth: BenchmarkERKLEAblation. The zero value has all.
type ablation struct {
	sparse bool // all entries are kept from the beginning
	second bool // one resolvent, at the geometric mean of the roots
	anew   bool // resolvents are built anew only where they have lost their digits
	reuse  bool // a product of a pair removed is not derived from one that was made
	buffer bool // rank-one terms are added one by one
	size   bool // any order is taken for a large one
}

func newStructured(n int, initial mat.Symmetric) *structured {
	return newAblated(n, initial, ablation{})
}

func newAblated(n int, initial mat.Symmetric, without ablation) *structured {
	diag := make([]float64, n)
	diagonal := !without.sparse
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
		return &structured{n: n, sparse: newSparse(diag), without: without}
	}
	k := make([]float64, n*n)
	for i := range n {
		k[i*n+i] = diag[i]
		for j := range n {
			if initial != nil {
				k[i*n+j] = initial.At(i, j)
			}
		}
	}
	return &structured{n: n, dense: newResolved(n, k, without), without: without}
}

func (k *structured) at(i, j int) float64 {
	if k.sparse != nil {
		return k.sparse.at(i, j)
	}
	return k.dense.k.at(i, j)
}

func (k *structured) kernel() *mat.SymDense {
	if k.sparse != nil {
		return mat.NewSymDense(k.n, k.sparse.dense())
	}
	m := buffered{n: k.n, base: slices.Clone(k.dense.k.base), c: slices.Clone(k.dense.k.c), z: slices.Clone(k.dense.k.z), wide: k.dense.k.wide}
	m.flush()
	return mat.NewSymDense(k.n, m.base)
}

func (k *structured) add(t metric.Triplet, gamma float64, g Gradient) addition {
	st := newStep(t, gamma, g)
	if k.dense != nil {
		return k.dense.add(st)
	}
	c, ok := k.sparse.add(st)
	if ok && !k.sparse.crowded() {
		return addition{certificate: c}
	}
	k.dense, k.sparse = newResolved(k.n, k.sparse.dense(), k.without), nil
	if ok {
		return addition{certificate: c}
	}
	return k.dense.project(st)
}

// step is −γG = c(wwᵀ − uuᵀ), with w and u of unit length on the objects o = (A, Near, Far).
type step struct {
	o          [3]int
	w, u       [3]float64
	c          float64
	gamma, off float64 // magnitudes of the entries on and off the diagonal
}

func newStep(t metric.Triplet, gamma float64, g Gradient) step {
	s := step{o: [3]int{t.A, t.Near, t.Far}, c: g.radius() * gamma, gamma: gamma, off: gamma * g.offDiagonal()}
	s.u, s.w = g.directions()
	return s
}

// change is x at (i, j) and (j, i).
type change struct {
	i, j int
	x    float64
}

// entries returns −γG.
func (s step) entries() [4]change {
	a, b, c := s.o[0], s.o[1], s.o[2]
	return [4]change{{a, b, s.off}, {a, c, -s.off}, {b, b, -s.gamma}, {c, c, s.gamma}}
}
