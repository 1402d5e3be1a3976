package triplets

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
	"metriclab/pkg/persist"
	"metriclab/pkg/spectral"
)

// dense is a cone that keeps all n² entries of K, and computes the smallest eigenpair of K − γG:
// by a full eigendecomposition at each step, or by Lanczos where the paper's rule asks for it.
type dense struct {
	n       int
	k       []float64 // both triangles, by rows
	printed bool      // the paper's rule
	least   float64   // its λ̂, at most the smallest eigenvalue of K
}

// newDense returns the dense form of a copy of initial, or of I if it is nil. least is the smallest eigenvalue.
func newDense(n int, initial mat.Symmetric, printed bool, least float64) *dense {
	k := &dense{n: n, k: make([]float64, n*n), printed: printed}
	if printed {
		k.least = max(0, least)
	}
	for i := range n {
		if initial == nil {
			k.k[i*n+i] = 1
			continue
		}
		for j := range n {
			k.k[i*n+j] = initial.At(i, j)
		}
	}
	return k
}

func (k *dense) at(i, j int) float64 { return k.k[i*k.n+j] }

func (k *dense) kernel() *mat.SymDense {
	return mat.NewSymDense(k.n, append([]float64(nil), k.k...))
}

func (k *dense) add(t metric.Triplet, gamma float64, g Gradient) addition {
	off := gamma * g.offDiagonal()
	k.inc(t.A, t.Near, off)
	k.inc(t.A, t.Far, -off)
	k.k[t.Near*k.n+t.Near] -= gamma
	k.k[t.Far*k.n+t.Far] += gamma
	if k.printed {
		if k.least -= g.radius() * gamma; k.least >= 0 {
			return addition{certificate: Weyl}
		}
	}
	lambda, v := k.smallest()
	if k.printed {
		k.least = max(0, lambda)
	}
	if lambda >= 0 {
		return addition{}
	}
	for i, x := range v {
		for j, y := range v {
			k.k[i*k.n+j] -= lambda * (x * y) // the same for (i, j) and (j, i)
		}
	}
	return addition{removed: 1}
}

// addShrink projects, and then lowers all eigenvalues by x, those below it to 0. That is
// one with lowering them first, since max(0, max(0, λ) − x) = max(0, λ − x).
func (k *dense) addShrink(t metric.Triplet, gamma float64, g Gradient, x float64) addition {
	a := k.add(t, gamma, g)
	k.shrink(x)
	return a
}

func (k *dense) shrink(x float64) {
	e := decompose(k.n, k.k)
	values := e.Values(nil)
	var v mat.Dense
	e.VectorsTo(&v)
	clear(k.k)
	for c, lambda := range values {
		if lambda -= x; lambda <= 0 {
			continue
		}
		for i := range k.n {
			for j := range k.n {
				k.k[i*k.n+j] += lambda * (v.At(i, c) * v.At(j, c))
			}
		}
	}
}

// inc adds x to K_ij and K_ji, i ≠ j.
func (k *dense) inc(i, j int, x float64) {
	k.k[i*k.n+j] += x
	k.k[j*k.n+i] += x
}

// smallest returns the smallest eigenvalue of K and its unit eigenvector.
func (k *dense) smallest() (float64, []float64) {
	if k.printed {
		r := spectral.Smallest(spectral.Matrix(mat.NewSymDense(k.n, k.k)), 1, spectral.Options{})
		return r.Values[0], r.Vectors.RawRowView(0)
	}
	e := decompose(k.n, k.k)
	var v mat.Dense
	e.VectorsTo(&v)
	return e.Values(nil)[0], mat.Col(nil, 0, &v)
}

// decompose returns the eigendecomposition of the symmetric n×n matrix c.
func decompose(n int, c []float64) *mat.EigenSym {
	var e mat.EigenSym
	if !e.Factorize(mat.NewSymDense(n, c), true) {
		panic("triplets: the eigendecomposition of a finite kernel did not converge")
	}
	return &e
}

// denseState is what is saved of a dense form.
type denseState struct {
	Kernel persist.Floats `json:"kernel"` // the lower triangle, by rows
	Least  float64        `json:"least"`  // λ̂ of the paper's rule
}

func (k *dense) state() *denseState {
	s := &denseState{Least: k.least}
	for i := range k.n {
		s.Kernel = append(s.Kernel, k.k[i*k.n:i*k.n+i+1]...)
	}
	return s
}

// cone returns the form of n objects that was saved.
func (s *denseState) cone(n int, printed bool) (*dense, error) {
	if n > math.MaxInt32 || len(s.Kernel) != n*(n+1)/2 {
		return nil, fmt.Errorf("dense: kernel: %d numbers, want the lower triangle for %d objects", len(s.Kernel), n)
	}
	k := &dense{n: n, k: make([]float64, n*n), printed: printed, least: s.Least}
	for i := range n {
		for j := range i + 1 {
			v := s.Kernel[i*(i+1)/2+j]
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("dense: kernel: row %d, column %d: %v is not allowed, want a finite number", i, j, v)
			}
			k.k[i*n+j], k.k[j*n+i] = v, v
		}
	}
	return k, nil
}
