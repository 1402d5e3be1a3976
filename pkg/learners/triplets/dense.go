package triplets

import (
	"fmt"
	"math"
	"slices"

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
			return addition{certificate: CertificateWeyl}
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
func decompose(n int, c []float64) *spectral.EigenSym {
	var e spectral.EigenSym
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
	// n is bounded by the numbers that are there, before it is squared.
	if n > len(s.Kernel) || len(s.Kernel) != n*(n+1)/2 {
		return nil, fmt.Errorf("dense: kernel: %d numbers, want the lower triangle for %d objects", len(s.Kernel), n)
	}
	if !(s.Least >= 0 && s.Least <= maxEntry) || !printed && s.Least != 0 {
		return nil, fmt.Errorf("dense: least: %v is not allowed, want a number ≥ 0, and 0 without the printed rule", s.Least)
	}
	k := &dense{n: n, printed: printed, least: s.Least}
	var err error
	if k.k, err = fromTriangle(n, s.Kernel); err != nil {
		return nil, fmt.Errorf("dense: kernel: %w", err)
	}
	return k, nil
}

// maxEntry bounds the entries of a kernel: as many steps of MaxStep as there can be do not exceed it.
const maxEntry = MaxStep * 1e20

// fromTriangle returns both triangles, by rows, of the symmetric n×n matrix of which c is the lower one. It returns an
// error unless the entries are finite, at most maxEntry, and the matrix is positive semi-definite up to round-off.
func fromTriangle(n int, c []float64) ([]float64, error) {
	out := make([]float64, n*n)
	var most float64 // of the diagonal
	for i := range n {
		for j, v := range c[i*(i+1)/2 : (i+1)*(i+2)/2] {
			if !(math.Abs(v) <= maxEntry) {
				return nil, fmt.Errorf("row %d, column %d: %v is not allowed, want a number of magnitude at most %v", i, j, v, maxEntry)
			}
			out[i*n+j], out[j*n+i] = v, v
		}
		most = max(most, out[i*n+i])
	}
	shifted := mat.NewSymDense(n, slices.Clone(out))
	for i := range n {
		// As relative tolerances go, wide: what many steps add up to is not to refuse a saved file.
		shifted.SetSym(i, i, shifted.At(i, i)+1e-6*most)
	}
	var chol mat.Cholesky
	if most > 0 && !chol.Factorize(shifted) {
		return nil, fmt.Errorf("is %w", metric.ErrNotPSD)
	}
	if most <= 0 && slices.ContainsFunc(c, func(v float64) bool { return v != 0 }) {
		return nil, fmt.Errorf("is %w", metric.ErrNotPSD)
	}
	return out, nil
}
