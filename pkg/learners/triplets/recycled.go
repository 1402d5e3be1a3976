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
// slowly. Q keeps the Ritz vectors of R with the largest values. The products RQ and H = QRQᵀ follow R.
type recycled struct {
	n  int
	q  []float64 // by rows, orthonormal
	rq []float64 // their products with R
	p  []float64 // the lower triangle of H by rows
	h  []float64 // scratch
}

const (
	// A space of more than recycledMost(n) vectors is cut to this share of them. A triplet adds its u and a vector for each product.
	recycledLeast = 3. / 5
	// recycledSearch is the number of products after which the search is left to a Krylov space. Most take five to ten.
	recycledSearch = 30
	// minIndependent: a vector with less of its length outside of the space says nothing new.
	minIndependent = 1e-8
)

// recycledMost is the number of vectors that a space keeps. What is done in a space of n/16 costs about as much as the products that
// it saves.
func recycledMost(n int) int { return max(80, n/16) }

// recycledBound is the number of vectors that a search may leave.
func recycledBound(n int) int { return recycledMost(n) + 1 + recycledSearch }

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
	product.Gemv(w.h, w.matrix(w.q), z)
	blas64.Ger(c, vector.Of(w.h), vector.Of(z), w.matrix(w.rq))
	for i, h := range w.h {
		floats.AddScaled(w.row(i), c*h, w.h[:i+1])
	}
}

// renew takes another resolvent, of which the upper triangle is given.
func (w *recycled) renew(r blas64.General) {
	if w.len() > 0 {
		matrix.Complete(r)
		product.Gemm(blas.NoTrans, blas.NoTrans, w.matrix(w.q), r, w.matrix(w.rq))
		w.project()
	}
}

// project sets H.
func (w *recycled) project() {
	k := w.len()
	h := blas64.General{Rows: k, Cols: k, Stride: k, Data: make([]float64, k*k)}
	product.Gemm(blas.NoTrans, blas.Trans, w.matrix(w.q), w.matrix(w.rq), h)
	w.p = w.p[:0]
	for i := range k {
		w.p = append(w.p, h.Data[i*k:][:i+1]...)
	}
}

// row returns row i of H up to the diagonal.
func (w *recycled) row(i int) []float64 { return w.p[i*(i+1)/2:][:i+1] }

// orthogonalise makes x orthogonal to the space and of unit length, does the same to its product rx, unless that is nil, and reports
// whether x was not in the space.
func (w *recycled) orthogonalise(x, rx []float64) bool {
	before := blas64.Nrm2(vector.Of(x))
	length := before
	if k := w.len(); k > 0 {
		w.h = fit(w.h, k)
		for last := math.Inf(1); length < last/2; { // twice is enough, and once if little is subtracted
			product.Gemv(w.h, w.matrix(w.q), x)
			product.GemvT(x, -1, w.matrix(w.q), w.h)
			if rx != nil {
				product.GemvT(rx, -1, w.matrix(w.rq), w.h)
			}
			last, length = length, blas64.Nrm2(vector.Of(x))
		}
	}
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
	product.Gemv(w.h, w.matrix(w.q), rx)
	w.p = append(w.p, w.h...)
}

// clear forgets the space.
func (w *recycled) clear() { w.q, w.rq, w.p = w.q[:0], w.rq[:0], w.p[:0] }

// ritz returns the Ritz values of R, ascending, and their vectors in terms of the basis, as columns. It forgets the space if R has
// overflown.
func (w *recycled) ritz() ([]float64, *mat.Dense) {
	k := w.len()
	if k == 0 {
		return nil, nil
	}
	h := mat.NewSymDense(k, nil)
	for i := range k {
		for j, x := range w.row(i) {
			h.SetSym(i, j, x)
		}
	}
	var e spectral.EigenSym
	if !e.Factorize(h, true) {
		w.clear()
		return nil, nil
	}
	var y mat.Dense
	e.VectorsTo(&y)
	return e.Values(nil), &y
}

// cut keeps the Ritz vectors of the largest values, if there are many.
func (w *recycled) cut() {
	k, most := w.len(), recycledMost(w.n)
	if k <= most {
		return
	}
	values, y := w.ritz()
	if y == nil {
		return
	}
	least := int(recycledLeast * float64(most))
	kept := y.Slice(0, k, k-least, k).(*mat.Dense).RawMatrix()
	combined := func(x []float64) []float64 {
		out := make([]float64, least*w.n, recycledBound(w.n)*w.n)
		product.Gemm(blas.Trans, blas.NoTrans, kept, w.matrix(x), blas64.General{Rows: least, Cols: w.n, Stride: w.n, Data: out})
		return out
	}
	w.q, w.rq = combined(w.q), combined(w.rq)
	w.p = w.p[:0]
	for i, v := range values[k-least:] {
		w.p = append(append(w.p, make([]float64, i)...), v)
	}
}

// galerkin approximates (P + sI)⁻¹u, u in the space, by x = Qᵀξ. With H = QRQᵀ, R = (P + s₀I)⁻¹, a = Qu and δ = s − s₀,
//
//	(I + δH)ξ = Ha
//
// says that the residual Ru − x − δRx is orthogonal to the space. The Ritz vectors Y of the space at the start, HY = YΛ, make its part of
// the matrix diagonal. Vectors that were added are eliminated last, by a Schur complement, so that a trial shift costs little.
type galerkin struct {
	w      *recycled
	t      step // u and c
	shift  float64
	values []float64 // Λ
	y      *mat.Dense
	a      []float64 // Qu
	alpha  []float64 // Yᵀ of its first part
	b      []float64 // HY of the vectors that were added, by rows
	xi     []float64 // ξ, its first part in terms of Y
}

func newGalerkin(w *recycled, t step, shift float64) *galerkin {
	g := &galerkin{w: w, t: t, shift: shift}
	g.values, g.y = w.ritz()
	for i, v := range g.values {
		g.values[i] = min(v, 1/shift) // but for round-off they are
		g.a = append(g.a, g.product(i))
	}
	g.alpha = g.turn(nil, g.a)
	return g
}

// product returns the product of u with vector i of the space.
func (g *galerkin) product(i int) float64 { return on(g.t.u, g.w.q[i*g.w.n:][:g.w.n], g.t.o) }

// turn appends Yᵀx to dst.
func (g *galerkin) turn(dst, x []float64) []float64 {
	n, k := len(dst), len(x)
	dst = append(dst, make([]float64, k)...)
	if k > 0 {
		product.GemvT(dst[n:], 1, g.y.RawMatrix(), x)
	}
	return dst
}

// extend follows w.add.
func (g *galerkin) extend() {
	last := g.w.len() - 1
	g.a = append(g.a, g.product(last))
	g.b = g.turn(g.b, g.w.row(last)[:len(g.values)])
}

// at sets ξ for a shift s > 0 and returns f(s) = c·uᵀx and its slope −c‖ξ‖², NaN if I + δH is not positive definite, by round-off.
func (g *galerkin) at(s float64) (f, slope float64) {
	k, n, delta := len(g.values), len(g.a), s-g.shift
	added := g.a[k:]
	row := func(j int) []float64 { return g.b[j*k:][:k] }
	g.xi = fit(g.xi, n)
	first, scaled := g.xi[:k], make([]float64, k)
	for i, v := range g.values { // the right-hand side
		first[i] = v * g.alpha[i]
	}
	for j, a := range added {
		floats.AddScaled(first, a, row(j))
	}
	if m := n - k; m > 0 {
		schur, right := mat.NewSymDense(m, nil), mat.NewVecDense(m, g.xi[k:])
		for j := range m {
			h := g.w.row(k + j)[k:]
			for i, v := range row(j) {
				scaled[i] = v / (1 + delta*g.values[i])
			}
			sum := floats.Dot(row(j), g.alpha) - delta*floats.Dot(scaled, first)
			for l, v := range h {
				schur.SetSym(j, l, delta*(v-delta*floats.Dot(scaled, row(l))))
				sum += v * added[l]
			}
			for l := j + 1; l < m; l++ {
				sum += g.w.row(k + l)[k+j] * added[l]
			}
			schur.SetSym(j, j, 1+schur.At(j, j))
			right.SetVec(j, sum)
		}
		var c mat.Cholesky
		if !c.Factorize(schur) || c.SolveVecTo(right, right) != nil {
			return math.NaN(), math.NaN()
		}
		for j := range m {
			floats.AddScaled(first, -delta*right.AtVec(j), row(j))
		}
	}
	for i, v := range g.values {
		first[i] /= 1 + delta*v
	}
	f = g.t.c * (floats.Dot(first, g.alpha) + floats.Dot(g.xi[k:], added))
	return f, -g.t.c * floats.Dot(g.xi, g.xi)
}

// inBasis returns ξ.
func (g *galerkin) inBasis() []float64 {
	k := len(g.values)
	x := append([]float64(nil), g.xi...)
	if k > 0 {
		product.Gemv(x[:k], g.y.RawMatrix(), g.xi[:k])
	}
	return x
}

// recycle looks for the negative eigenpair (−s, v) of K, which is P − c·uuᵀ with P ⪰ 0, in the recycled space, with u in it, and leaves v
// in d.v. It is at the root of the secular equation
//
//	f(s) = c·uᵀ(P + sI)⁻¹u = 1,  v ∝ (P + sI)⁻¹u,
//
// in which x of galerkin stands for the inverse. Where its residual is large, that extends the space by one product. It reports whether
// there is a pair below −floor, and whether that is known: a pair is accepted by its residual in K, and that there is none is
// proved in K as well.
func (d *resolved) recycle(t step, floor, tol float64) (s float64, found, ok bool) {
	w, r := d.w, &d.r[0]
	w.cut()
	g := newGalerkin(w, t, d.shift[0])
	p, rp := make([]float64, d.n), make([]float64, d.n) // by which the space grows
	for i, o := range t.o {
		p[o] = t.u[i]
	}
	r.combine(rp, t.o, t.u)
	independent := w.orthogonalise(p, rp)
	s = min(max(d.shift[0], floor), t.c)
	for looks := range recycledSearch {
		if looks > 0 {
			if independent = w.orthogonalise(p, nil); !independent {
				break
			}
			r.mulTo(rp, p)
		}
		if independent {
			w.add(p, rp)
			g.extend()
		}
		root := largestRoot(g.at, s, floor, t.c)
		if s = max(root, floor); !(root >= 0) {
			break
		}
		f, _ := g.at(s)
		x := g.inBasis()
		clear(d.v)
		product.GemvT(d.v, 1, w.matrix(w.q), x)
		for i, a := range g.a {
			x[i] = a - (s-d.shift[0])*x[i] // Ru − δRx = RQᵀ(a − δξ)
		}
		floats.ScaleTo(d.x, -1, d.v)
		product.GemvT(d.x, 1, w.matrix(w.rq), x)
		copy(p, d.x)
		// (P + s₀I) times it is the residual in K, and few of the eigenvalues of P are above the mean by far.
		length, residual := blas64.Nrm2(vector.Of(d.v)), blas64.Nrm2(vector.Of(d.x))*(d.trace/float64(d.n)+d.shift[0])
		switch {
		case root == 0 && t.c*residual*residual < (1-f)*floor && d.above(t, floor) < 1:
			return 0, false, true
		case root > 0 && residual <= tol*length:
			scal(d.v, 1/length)
			ok = d.residual(s) <= inaccurate*tol
			return s, ok, ok
		}
	}
	return 0, false, false
}

// above returns an upper bound of c·uᵀ(P + sI)⁻¹u, P = K + c·uuᵀ being positive semi-definite, that is near it if x in d.v is near
// (P + sI)⁻¹u: with r = u − (P + sI)x
//
//	uᵀ(P + sI)⁻¹u = uᵀx + rᵀx + rᵀ(P + sI)⁻¹r ≤ uᵀx + rᵀx + rᵀr/s.
func (d *resolved) above(t step, s float64) float64 {
	x, r := d.v, d.x
	d.k.mulTo(r, x)
	floats.AddScaled(r, s, x)
	ux := on(t.u, x, t.o)
	for i, o := range t.o {
		r[o] += (t.c*ux - 1) * t.u[i]
	}
	return t.c * (ux - floats.Dot(r, x) + floats.Dot(r, r)/s) // of −r
}

// largestRoot returns the s from floor > 0 to most with f(s) = 1, 0 if f(floor) < 1, and NaN if f is NaN where it looks. at returns f, which is
// decreasing and at most 1 at most, and its slope. The search begins at start, from floor to most.
func largestRoot(at func(s float64) (f, slope float64), start, floor, most float64) float64 {
	lo, hi, s := floor, most, start
	f, slope := at(s)
	if f < 1 {
		if least, _ := at(floor); !(least >= 1) {
			return 0 * least
		}
	}
	for {
		switch {
		case f >= 1:
			lo = s
		case f < 1:
			hi = s
		default:
			return math.NaN()
		}
		if !(lo < hi) || secular.Narrow(lo, hi) {
			return lo
		}
		if s = secular.Newton(s, f, slope, lo, hi); !(s > lo && s < hi) {
			return lo
		}
		f, slope = at(s)
	}
}

type recycledState struct {
	Basis     persist.Floats `json:"basis"` // by rows
	Products  persist.Floats `json:"products"`
	Projected persist.Floats `json:"projected,omitempty"` // the lower triangle of H, by rows; optional
}

func (w *recycled) state() *recycledState {
	if w == nil || len(w.q) == 0 {
		return nil
	}
	return &recycledState{Basis: slices.Clone(w.q), Products: slices.Clone(w.rq), Projected: slices.Clone(w.p)}
}

// restore takes what was saved.
func (w *recycled) restore(s *recycledState) error {
	k, most := len(s.Basis)/w.n, recycledBound(w.n)
	if k == 0 || k > most || k*w.n != len(s.Basis) {
		return fmt.Errorf("basis: %d numbers, want 1 to %d vectors of %d", len(s.Basis), most, w.n)
	}
	projected := k * (k + 1) / 2
	if len(s.Projected) == 0 { // as ERKLE 4 saved it
		projected = 0
	}
	for _, f := range []struct {
		field   string
		x       []float64
		n       int
		largest float64
	}{{"basis", s.Basis, len(s.Basis), 2}, {"products", s.Products, len(s.Basis), maxEntry}, {"projected", s.Projected, projected, maxEntry}} {
		if err := finite(f.field, f.x, f.n); err != nil {
			return err
		}
		for _, v := range f.x {
			if !(math.Abs(v) <= f.largest) {
				return fmt.Errorf("%s: %v is not allowed, want a magnitude of at most %v", f.field, v, f.largest)
			}
		}
	}
	w.q, w.rq, w.p = slices.Clone(s.Basis), slices.Clone(s.Products), slices.Clone(s.Projected)
	if len(w.p) == 0 {
		w.project()
	}
	return nil
}
