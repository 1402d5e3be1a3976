package ssikdr

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/pkg/spectral"
)

// Orders and ranks at which a few eigenpairs are cheaper than all of them.
const (
	partialOrder = 64  // of Y
	partialShare = 0.4 // the largest block, as a share of the order
)

// point is the dual at one λ.
type point struct {
	lambda []float64
	h      float64
	sigma  []float64  // eigenvalues of Y above τ, descending
	v, t   *mat.Dense // k×t: u = K₀^(1/2)v of each, uᵀu = 1, and K₀v
	left   []float64  // aᵢ(W)
	grad   []float64  // of h
	exact  bool       // all eigenpairs were computed
	top    float64    // the largest eigenvalue of Y, if exact
}

// embedding returns the coordinates of the objects, transposed; nil if W = 0.
func (q *problem) embedding(p *point) *mat.Dense {
	if len(p.sigma) == 0 {
		return nil
	}
	e := mat.DenseCopyOf(p.t)
	for i, s := range p.sigma {
		floats.Scale(math.Sqrt(s-q.tau), e.RawRowView(i))
	}
	return e
}

// finish sets what follows from the eigenpairs.
func (q *problem) finish(p *point) *point {
	for _, s := range p.sigma {
		p.h += (s - q.tau) * (s - q.tau) / 2
	}
	p.left = q.sides(q.embedding(p))
	p.grad = make([]float64, len(p.lambda))
	for i, l := range p.lambda {
		p.h += q.b[i]*l + q.rho[i]/2*l*l
		p.grad[i] = q.b[i] - p.left[i] + q.rho[i]*l
	}
	return p
}

// all evaluates the dual at λ, which the point keeps, by all eigenpairs of Y; nil if a number overflows.
func (q *problem) all(lambda []float64) *point {
	m := q.laplacian(lambda)
	var eig spectral.EigenSym
	if !eig.Factorize(q.operator(m), true) {
		return nil
	}
	p := &point{lambda: lambda, exact: true}
	y := eig.Values(nil)
	r := len(y)
	p.top = y[r-1]
	k := 0
	cut := q.tau + float64(r)*0x1p-52*max(math.Abs(y[0]), math.Abs(y[r-1])) // with round-off
	for k < r && y[r-1-k] > cut {
		k++
		p.sigma = append(p.sigma, y[r-k])
	}
	if k > 0 {
		u := mat.NewDense(r, r, nil)
		eig.VectorsTo(u)
		top := mat.NewDense(k, r, nil)
		for i := range k {
			mat.Col(top.RawRowView(i), r-1-i, u)
		}
		p.t = matrix.Mul(top, q.f.T())
		p.v = q.dual(m, p.t, p.sigma)
	}
	return q.finish(p)
}

// dual returns v = −Mt/σ for each row t = K₀v of a: eigenvectors of −MK₀ (Lemma 10), without an inverse of K₀.
func (q *problem) dual(m laplacian, a *mat.Dense, sigma []float64) *mat.Dense {
	v := m.rows(a)
	for i, s := range sigma {
		floats.Scale(-1/s, v.RawRowView(i))
	}
	return v
}

// eigenpairs finds those of Y that the dual needs, from step to step.
type eigenpairs struct {
	q     *problem
	rng   *rand.Rand
	dense bool
	block block
	wait  int // steps for which the block is not tried
}

// at evaluates the dual at a copy of λ, with eigenpairs whose residuals are at most tol, together; nil if a number overflows.
func (e *eigenpairs) at(ctx context.Context, lambda []float64, tol float64) *point {
	_, r := e.q.f.Dims()
	if e.dense || r < partialOrder || e.q.tau == 0 || e.block.rng == nil {
		return e.all(lambda)
	}
	if e.wait > 0 {
		e.wait--
		return e.all(lambda)
	}
	if p := e.q.few(ctx, slices.Clone(lambda), &e.block, tol); p != nil {
		return p
	}
	e.wait = 20
	return e.all(lambda)
}

// all evaluates the dual by all eigenpairs, with which the block begins anew.
func (e *eigenpairs) all(lambda []float64) *point {
	p := e.q.all(slices.Clone(lambda))
	e.block = block{rng: e.rng}
	if p != nil && p.v != nil {
		e.block.v, e.block.t = mat.DenseCopyOf(p.v), mat.DenseCopyOf(p.t)
	}
	return p
}

// block is a space that follows the leading eigenvectors of Y from step to step, by rows v and t = K₀v.
type block struct {
	v, t  *mat.Dense
	theta []float64 // Ritz values, descending
	rng   *rand.Rand
}

// grow appends n random rows.
func (b *block) grow(q *problem, n int) {
	t, _ := q.k0.Dims()
	old := 0
	if b.v != nil {
		old, _ = b.v.Dims()
	}
	fresh := mat.NewDense(n, t, nil)
	for i := range n {
		row := fresh.RawRowView(i)
		for j := range row {
			row[j] = b.rng.NormFloat64()
		}
	}
	ft := matrix.Mul(fresh, q.k0)
	v, w := mat.NewDense(old+n, t, nil), mat.NewDense(old+n, t, nil)
	if old > 0 {
		v.Slice(0, old, 0, t).(*mat.Dense).Copy(b.v)
		w.Slice(0, old, 0, t).(*mat.Dense).Copy(b.t)
	}
	v.Slice(old, old+n, 0, t).(*mat.Dense).Copy(fresh)
	w.Slice(old, old+n, 0, t).(*mat.Dense).Copy(ft)
	b.v, b.t = v, w
}

// ritz replaces the rows by Ritz vectors of Y, with K₀^(1/2)v orthonormal. It drops directions of round-off. It returns false if
// nothing is left or a number overflows.
func (b *block) ritz(m laplacian) bool {
	n, _ := b.v.Dims()
	for i := range n {
		x, y := b.v.RawRowView(i), b.t.RawRowView(i)
		s := math.Sqrt(floats.Dot(x, y))
		if !(s > 0) || math.IsInf(s, 0) {
			s = math.Inf(1)
		}
		floats.Scale(1/s, x)
		floats.Scale(1/s, y)
	}
	for pass := range 2 {
		p := orthonormal(symmetric(matrix.Mul(b.v, b.t.T())))
		if p == nil {
			return false
		}
		if pass == 1 {
			h := symmetric(matrix.Mul(matrix.Mul(p, b.t), m.rows(matrix.Mul(p, b.t)).T()))
			var eig spectral.EigenSym
			if !eig.Factorize(h, true) {
				return false
			}
			values := eig.Values(nil)
			var s mat.Dense
			eig.VectorsTo(&s)
			b.theta = b.theta[:0]
			for _, v := range values { // of −Y, ascending
				b.theta = append(b.theta, -v)
			}
			p = matrix.Mul(s.T(), p)
		}
		b.v, b.t = matrix.Mul(p, b.v), matrix.Mul(p, b.t)
	}
	return true
}

// orthonormal returns P with PGPᵀ = I, without directions of round-off; nil if none is left.
func orthonormal(g *mat.SymDense) *mat.Dense {
	var eig spectral.EigenSym
	if !eig.Factorize(g, true) {
		return nil
	}
	values := eig.Values(nil)
	n := len(values)
	low := 0
	for low < n && !(values[low] > 1e-13*values[n-1]) {
		low++
	}
	if low == n {
		return nil
	}
	var q mat.Dense
	eig.VectorsTo(&q)
	p := mat.DenseCopyOf(q.Slice(0, n, low, n).T())
	for i, v := range values[low:] {
		floats.Scale(1/math.Sqrt(v), p.RawRowView(i))
	}
	return p
}

// symmetric returns the mean of a and aᵀ.
func symmetric(a *mat.Dense) *mat.SymDense {
	n, _ := a.Dims()
	s := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			s.SetSym(i, j, a.At(i, j)/2+a.At(j, i)/2)
		}
	}
	return s
}

// apply returns Y times the rows: −tM and −tMK₀.
func (b *block) apply(q *problem, m laplacian, t *mat.Dense) (v, kv *mat.Dense) {
	v = m.rows(t)
	v.Scale(-1, v)
	return v, matrix.Mul(v, q.k0)
}

// filterDegree is the degree of the Chebyshev polynomial.
const filterDegree = 8

// filter applies to the rows a Chebyshev polynomial of Y that is small on [low, high] and large above: Zhou, Saad, Tiago and Chelikowsky,
// Self-consistent-field calculations using Chebyshev-filtered subspace iteration, J. Comput. Phys. 219, 2006. v1 and t1 are Y times the rows.
func (b *block) filter(q *problem, m laplacian, low, high float64, v1, t1 *mat.Dense) {
	e, c := (high-low)/2, (high+low)/2
	s := e / (b.theta[0] - c)
	first := s
	step := func(v, t *mat.Dense, factor float64, v0, t0 *mat.Dense, yv, yt *mat.Dense, drop float64) (*mat.Dense, *mat.Dense) {
		for _, x := range []struct{ y, a, old *mat.Dense }{{yv, v, v0}, {yt, t, t0}} {
			out, a := x.y.RawMatrix().Data, x.a.RawMatrix().Data
			floats.AddScaled(out, -c, a)
			floats.Scale(factor, out)
			if x.old != nil {
				floats.AddScaled(out, -drop, x.old.RawMatrix().Data)
			}
		}
		return yv, yt
	}
	v0, t0 := b.v, b.t
	v, t := step(v0, t0, s/e, nil, nil, v1, t1, 0)
	for range filterDegree - 1 {
		next := 1 / (2/first - s)
		yv, yt := b.apply(q, m, t)
		yv, yt = step(v, t, 2*next/e, v0, t0, yv, yt, s*next)
		v0, t0, v, t, s = v, t, yv, yt, next
	}
	b.v, b.t = v, t
}

// least returns a lower bound of the eigenvalues of Y, by a few steps of the Lanczos method.
func (b *block) least(q *problem, m laplacian) float64 {
	t, _ := q.k0.Dims()
	const steps = 10
	one := func(x []float64) *mat.Dense { return mat.NewDense(1, t, x) }
	v := make([]float64, t)
	for i := range v {
		v[i] = b.rng.NormFloat64()
	}
	kv := matrix.Mul(one(v), q.k0).RawRowView(0)
	var basis, images [][]float64
	tri := mat.NewSymDense(steps, nil)
	size := math.Sqrt(floats.Dot(v, kv))
	n, last := 0, 0.0
	for n < steps && size > 0 {
		floats.Scale(1/size, v)
		floats.Scale(1/size, kv)
		basis, images = append(basis, v), append(images, kv)
		w, kw := b.apply(q, m, one(kv))
		v, kv = w.RawRowView(0), kw.RawRowView(0)
		tri.SetSym(n, n, floats.Dot(v, images[n]))
		for range 2 {
			for a := range basis {
				d := floats.Dot(v, images[a])
				floats.AddScaled(v, -d, basis[a])
				floats.AddScaled(kv, -d, images[a])
			}
		}
		size = math.Sqrt(max(floats.Dot(v, kv), 0))
		last = size
		if n++; n < steps {
			tri.SetSym(n-1, n, size)
		}
		if size < 1e-10*math.Abs(tri.At(0, 0)) {
			break
		}
	}
	if n == 0 {
		return 0
	}
	var eig spectral.EigenSym
	if !eig.Factorize(tri.SliceSym(0, n), false) {
		return math.Inf(-1)
	}
	return eig.Values(nil)[0] - last
}

// few evaluates the dual at λ by the eigenpairs above τ that a block finds, with residuals of at most tol, together; nil if these
// are too many, or do not come.
func (q *problem) few(ctx context.Context, lambda []float64, b *block, tol float64) *point {
	m := q.laplacian(lambda)
	_, r := q.f.Dims()
	most := int(partialShare * float64(r))
	low := math.NaN()
	if b.v == nil {
		b.grow(q, 8)
	}
	const rounds = 12
	for range rounds {
		if ctx.Err() != nil || !b.ritz(m) {
			return nil
		}
		k := 0
		for k < len(b.theta) && b.theta[k] > q.tau {
			k++
		}
		guard := 4 + k/8
		if n := len(b.theta); n < k+guard {
			if k+2*guard > most {
				return nil
			}
			b.grow(q, k+2*guard-n)
			if !b.ritz(m) {
				return nil
			}
			k = 0
			for k < len(b.theta) && b.theta[k] > q.tau {
				k++
			}
		} else if n > k+4*guard {
			keep := k + 2*guard
			_, t := b.v.Dims()
			b.theta = b.theta[:keep]
			b.v, b.t = b.v.Slice(0, keep, 0, t).(*mat.Dense), b.t.Slice(0, keep, 0, t).(*mat.Dense)
			b.v, b.t = mat.DenseCopyOf(b.v), mat.DenseCopyOf(b.t)
		}
		v1, t1 := b.apply(q, m, b.t)
		sum := 0.0
		for i := range k {
			sum += residual(b, v1, t1, i)
		}
		if len(b.theta) > k && math.Sqrt(sum) <= tol {
			_, t := b.v.Dims()
			p := &point{lambda: lambda, sigma: append([]float64(nil), b.theta[:k]...)}
			if k > 0 {
				p.v, p.t = mat.DenseCopyOf(b.v.Slice(0, k, 0, t)), mat.DenseCopyOf(b.t.Slice(0, k, 0, t))
			}
			return q.finish(p)
		}
		if math.IsNaN(low) {
			low = b.least(q, m)
		}
		high := min(b.theta[len(b.theta)-1], 0.95*q.tau)
		low = min(low, b.theta[len(b.theta)-1]-1e-3*math.Abs(b.theta[0]))
		if !(high > low) || !(b.theta[0] > high) || math.IsInf(low, 0) {
			return nil
		}
		b.filter(q, m, low, high, v1, t1)
	}
	return nil
}

// residual returns ‖Yu − θu‖² of Ritz pair i.
func residual(b *block, v1, t1 *mat.Dense, i int) float64 {
	theta := b.theta[i]
	v, t, y, z := b.v.RawRowView(i), b.t.RawRowView(i), v1.RawRowView(i), t1.RawRowView(i)
	s := 0.0
	for j, x := range y {
		s += (x - theta*v[j]) * (z[j] - theta*t[j])
	}
	return max(s, 0)
}
