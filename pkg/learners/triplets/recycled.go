package triplets

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/internal/product"
	"metriclab/internal/vector"
	"metriclab/pkg/persist"
	"metriclab/pkg/spectral"
	"metriclab/pkg/spectral/secular"
)

// recycled is a space Q that the searches for negative eigenpairs of a large kernel share; Parks et al. (2006) recycle such
// spaces from one linear system to the next. A kernel has few small eigenvalues: what was removed, moved a little by
// the triplets since. Their vectors are what a Krylov space of a resolvent R takes many steps to find, and they change
// slowly. Q keeps the Ritz vectors of R with the largest values, and the products RQ, which follow R.
type recycled struct {
	n  int
	q  []float64 // by rows, orthonormal
	rq []float64 // their products with R
	p  []float64 // the lower triangle of QRQᵀ by rows, within a search
	h  []float64 // scratch
}

const (
	// A space of more than recycledMost vectors is cut to recycledLeast. A triplet adds its u and a vector for each product.
	recycledMost  = 80
	recycledLeast = 48
	// recycledSearch is the number of products after which the search is left to a Krylov space. Most take four or five.
	recycledSearch = 30
	// recycledBound: what a search may leave.
	recycledBound = recycledMost + 1 + recycledSearch
	// minIndependent: a vector with less of its length outside of the space says nothing new.
	minIndependent = 1e-8
)

func (w *recycled) len() int { return len(w.q) / w.n }

func (w *recycled) matrix(x []float64) blas64.General {
	return blas64.General{Rows: w.len(), Cols: w.n, Stride: w.n, Data: x}
}

// follow follows R ← R + c·zzᵀ.
func (w *recycled) follow(c float64, z []float64) {
	k := w.len()
	if k == 0 {
		return
	}
	w.h = fit(w.h, k)
	blas64.Gemv(blas.NoTrans, c, w.matrix(w.q), vector.Of(z), 0, vector.Of(w.h))
	for i, c := range w.h {
		floats.AddScaled(w.rq[i*w.n:(i+1)*w.n], c, z)
	}
}

// renew takes another resolvent, of which the upper triangle is given.
func (w *recycled) renew(r blas64.General) {
	if w.len() > 0 {
		matrix.Complete(r)
		product.Gemm(blas.NoTrans, blas.NoTrans, w.matrix(w.q), r, w.matrix(w.rq))
	}
}

// orthogonalise makes x orthogonal to the space and of unit length, does the same to its product rx, unless that is nil, and reports
// whether x was not in the space.
func (w *recycled) orthogonalise(x, rx []float64) bool {
	before := blas64.Nrm2(vector.Of(x))
	if k := w.len(); k > 0 {
		w.h = fit(w.h, k)
		for range 2 {
			blas64.Gemv(blas.NoTrans, 1, w.matrix(w.q), vector.Of(x), 0, vector.Of(w.h))
			blas64.Gemv(blas.Trans, -1, w.matrix(w.q), vector.Of(w.h), 1, vector.Of(x))
			if rx != nil {
				blas64.Gemv(blas.Trans, -1, w.matrix(w.rq), vector.Of(w.h), 1, vector.Of(rx))
			}
		}
	}
	length := blas64.Nrm2(vector.Of(x))
	scal(x, 1/length)
	if rx != nil {
		scal(rx, 1/length)
	}
	return length > minIndependent*before
}

// add extends the space by x, orthogonal to it and of unit length, whose product is rx.
func (w *recycled) add(x, rx []float64) {
	w.q, w.rq = append(w.q, x...), append(w.rq, rx...)
	w.h = fit(w.h, w.len())
	blas64.Gemv(blas.NoTrans, 1, w.matrix(w.q), vector.Of(rx), 0, vector.Of(w.h))
	w.p = append(w.p, w.h...)
}

// project sets p.
func (w *recycled) project() {
	w.p = w.p[:0]
	if k := w.len(); k > 0 {
		h := mat.NewDense(k, k, nil)
		product.Gemm(blas.NoTrans, blas.Trans, w.matrix(w.q), w.matrix(w.rq), h.RawMatrix())
		for i := range k {
			w.p = append(w.p, h.RawRowView(i)[:i+1]...)
		}
	}
}

// ritz returns the Ritz values of R, ascending, and their vectors in terms of the basis, as columns; none if R has overflown.
func (w *recycled) ritz() ([]float64, *mat.Dense) {
	k := w.len()
	h := mat.NewSymDense(k, nil)
	for i := range k {
		for j := range i + 1 {
			h.SetSym(i, j, w.p[i*(i+1)/2+j])
		}
	}
	var e spectral.EigenSym
	if !e.Factorize(h, true) {
		return nil, nil
	}
	var y mat.Dense
	e.VectorsTo(&y)
	return e.Values(nil), &y
}

// cut keeps the Ritz vectors of the largest values, if there are many.
func (w *recycled) cut() {
	k := w.len()
	if k <= recycledMost {
		return
	}
	w.project()
	_, y := w.ritz()
	if y == nil {
		w.q, w.rq = w.q[:0], w.rq[:0]
		return
	}
	kept := y.Slice(0, k, k-recycledLeast, k).(*mat.Dense).RawMatrix()
	combined := func(x []float64) []float64 {
		out := make([]float64, recycledLeast*w.n, recycledBound*w.n)
		product.Gemm(blas.Trans, blas.NoTrans, kept, w.matrix(x), blas64.General{Rows: recycledLeast, Cols: w.n, Stride: w.n, Data: out})
		return out
	}
	w.q, w.rq = combined(w.q), combined(w.rq)
}

// recycle looks for the negative eigenpair (−s, v) of K, which is P − c·uuᵀ with P ⪰ 0, in the recycled space, with u in it, and leaves v
// in d.v. With Q the Ritz vectors of R = (P + s₀I)⁻¹, λ_i their values and μ_i = 1/λ_i − s₀ ≥ 0, which stand for eigenvalues of P,
//
//	1 = c·Σ a_i²/(μ_i + s),  v ∝ x = Σ a_i/(μ_i + s)·q_i ≈ (P + sI)⁻¹u,  a = Qᵀu,
//
// is the secular equation of the space. It is Galerkin's condition: the residual Ru − x − (s − s₀)Rx is orthogonal to the
// space, and extends it by one product. A pair is accepted by its residual in K. Without a root nothing is known: the sum is less than that of all of P.
func (d *resolved) recycle(t step, floor, tol float64) (s float64, found bool) {
	w, r := d.w, &d.r[0]
	w.cut()
	w.project()
	p, rp := make([]float64, d.n), make([]float64, d.n) // by which the space grows
	for i, o := range t.o {
		p[o] = t.u[i]
	}
	r.combine(rp, t.o, t.u)
	if w.orthogonalise(p, rp) {
		w.add(p, rp)
	}
	for looks := range recycledSearch {
		if looks > 0 {
			if !w.orthogonalise(p, nil) {
				break
			}
			r.mulTo(rp, p)
			w.add(p, rp)
		}
		values, vectors := w.ritz()
		k := len(values)
		if k == 0 {
			w.q, w.rq = w.q[:0], w.rq[:0]
			break
		}
		a, y := make([]float64, k), make([]float64, k)
		for i := range a {
			a[i] = on(t.u, w.q[i*w.n:(i+1)*w.n], t.o)
		}
		blas64.Gemv(blas.Trans, 1, vectors.RawMatrix(), vector.Of(a), 0, vector.Of(y)) // in terms of Ritz vectors
		squares := make([]float64, k)
		for i, v := range y {
			values[i] = max(0, 1/values[i]-d.shift[0])
			squares[i] = t.c * v * v
		}
		if s = largestRoot(squares, values, floor); s == 0 {
			return 0, false
		}
		for i := range y {
			y[i] /= values[i] + s
		}
		x := make([]float64, k)
		blas64.Gemv(blas.NoTrans, 1, vectors.RawMatrix(), vector.Of(y), 0, vector.Of(x))
		blas64.Gemv(blas.Trans, 1, w.matrix(w.q), vector.Of(x), 0, vector.Of(d.v))
		floats.AddScaled(a, d.shift[0]-s, x) // Ru − (s − s₀)Rx = RQ(a − (s − s₀)x)
		blas64.Gemv(blas.Trans, 1, w.matrix(w.rq), vector.Of(a), 0, vector.Of(d.x))
		floats.AddScaled(d.x, -1, d.v)
		length := blas64.Nrm2(vector.Of(d.v))
		// (P + s₀I) times it is the residual in K, and few of the eigenvalues of P are above the mean by far.
		if blas64.Nrm2(vector.Of(d.x))*(d.trace/float64(d.n)+d.shift[0]) <= tol*length {
			scal(d.v, 1/length)
			return s, d.residual(s) <= inaccurate*tol
		}
		copy(p, d.x)
	}
	return 0, false
}

// largestRoot returns the s > floor with Σ c_i/(m_i + s) = 1, c_i and m_i ≥ 0, floor > 0, or 0 if there is none.
func largestRoot(c, m []float64, floor float64) float64 {
	at := func(s float64) (f, slope float64) {
		for i, x := range c {
			f += x / (m[i] + s)
			slope -= x / ((m[i] + s) * (m[i] + s))
		}
		return f, slope
	}
	lo, hi := floor, floats.Sum(c) // f(hi) ≤ 1
	f, slope := at(lo)
	if !(f > 1) || !(lo < hi) {
		return 0
	}
	for s := lo; !secular.Narrow(lo, hi); {
		if s = secular.Newton(s, f, slope, lo, hi); !(s > lo && s < hi) {
			break
		}
		if f, slope = at(s); f >= 1 {
			lo = s
		} else {
			hi = s
		}
	}
	return lo
}

type recycledState struct {
	Basis    persist.Floats `json:"basis"` // by rows
	Products persist.Floats `json:"products"`
}

func (w *recycled) state() *recycledState {
	if w == nil || len(w.q) == 0 {
		return nil
	}
	return &recycledState{Basis: slices.Clone(w.q), Products: slices.Clone(w.rq)}
}

// restore takes what was saved.
func (w *recycled) restore(s *recycledState) error {
	if k := len(s.Basis) / w.n; k == 0 || k > recycledBound || k*w.n != len(s.Basis) {
		return fmt.Errorf("basis: %d numbers, want 1 to %d vectors of %d", len(s.Basis), recycledBound, w.n)
	}
	if err := finite("basis", s.Basis, len(s.Basis)); err != nil {
		return err
	}
	if err := finite("products", s.Products, len(s.Basis)); err != nil {
		return err
	}
	for i, v := range s.Basis {
		if !(math.Abs(v) <= 2 && math.Abs(s.Products[i]) <= maxEntry) {
			return fmt.Errorf("basis, products: %v, %v are not allowed, want magnitudes of at most 2 and %v", v, s.Products[i], maxEntry)
		}
	}
	w.q, w.rq = append(w.q, s.Basis...), append(w.rq, s.Products...)
	return nil
}
