package ltkernel

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/pkg/spectral"
)

// term is weight·d²(pair), a part of the left-hand side of a constraint.
type term struct {
	pair   int
	weight float64
}

// pair is two rows of the factor.
type pair struct{ i, j int }

// dual is the dual of
//
//	min Φ(W) + slack  over W ⪰ 0, r×r,  subject to aᵢ(W) ≤ bᵢ + sᵢ,
//	aᵢ(W) = Σ weight·zᵀWz + traceᵢ·tr(GW),
//
// where z are the differences of pairs: to minimise over the box lo ≤ λ ≤ hi
//
//	h(λ) = Σφ*(eigenvalues of Y) + bᵀλ + ½Σρᵢλᵢ²,  Y = −Σλᵢaᵢ.
//
// lo is 0, or −hi for an equation. hi is +Inf, or c where slack costs c·s. ρ is 0, or 1/c
// where it costs (c/2)·s².
type dual struct {
	phi   Divergence
	soft  bool // slack is allowed
	pairs []pair
	z     *mat.Dense    // pairs × r
	gram  *mat.SymDense // G, nil if no constraint has a trace
	terms [][]term
	trace []float64
	b     []float64
	lo    []float64
	hi    []float64
	rho   []float64
	sigma []float64 // what each constraint was divided by
	shift []float64 // what tr(CK) has of coordinates that z lacks
	grows []bool    // the constraint bounds a sum of distances from above
	asked float64   // the largest factor by which a constraint asks W to change, at least 1
	sign  []float64 // −1 for one of ≥, which has been negated
	space []float64 // see room

	mostOrder, fewest int // the constants of these names, but in tests
}

// point is the dual at one λ.
type point struct {
	lambda  []float64
	h       float64
	y       []float64  // eigenvalues of Y, ascending
	x       []float64  // those of W, in the same order
	slope   []float64  // x′(y)
	q       *mat.Dense // eigenvectors of Y and W
	left    []float64  // aᵢ(W)
	grad    []float64  // of h
	zq, gq  *mat.Dense // z and G in the basis q
	overrun bool       // φ* or a product is infinite: h is +Inf, and the rest is not set
}

// at evaluates the dual at lambda, which the point keeps.
func (d *dual) at(lambda []float64) *point {
	p := &point{lambda: lambda}
	weights, trace := d.weights(lambda)
	y := d.operator(weights, trace)
	var eig spectral.EigenSym
	if !eig.Factorize(y, true) {
		p.h, p.overrun = math.Inf(1), true
		return p
	}
	p.y = eig.Values(nil)
	r := len(p.y)
	p.x, p.slope = make([]float64, r), make([]float64, r)
	for i, v := range p.y {
		var c float64
		c, p.x[i], p.slope[i] = d.phi.conjugate(v)
		p.h += c
	}
	for i, l := range lambda {
		p.h += d.b[i]*l + d.rho[i]/2*l*l
	}
	if math.IsInf(p.h, 0) || math.IsNaN(p.h) {
		p.h, p.overrun = math.Inf(1), true
		return p
	}
	p.q = mat.NewDense(r, r, nil)
	eig.VectorsTo(p.q)
	p.zq = matrix.Mul(d.z, p.q)
	if d.gram != nil {
		p.gq = matrix.Mul(p.q.T(), matrix.Mul(d.gram, p.q))
	}
	pairs, _ := d.z.Dims()
	dist := make([]float64, pairs)
	for k := range dist {
		for j, v := range p.zq.RawRowView(k) {
			dist[k] += p.x[j] * v * v
		}
	}
	tr := 0.0
	if p.gq != nil {
		for j, v := range p.x {
			tr += v * p.gq.At(j, j)
		}
	}
	p.left = d.sides(dist, tr)
	p.grad = make([]float64, len(lambda))
	for i, l := range lambda {
		p.grad[i] = d.b[i] - p.left[i] + d.rho[i]*l
	}
	return p
}

// weights returns the weights of the pairs and of G in Σλᵢaᵢ.
func (d *dual) weights(lambda []float64) (pairs []float64, trace float64) {
	n, _ := d.z.Dims()
	pairs = make([]float64, n)
	for i, l := range lambda {
		for _, t := range d.terms[i] {
			pairs[t.pair] += l * t.weight
		}
		trace += l * d.trace[i]
	}
	return pairs, trace
}

// sides returns aᵢ(W) from the squared distances of the pairs and tr(GW).
func (d *dual) sides(dist []float64, trace float64) []float64 {
	left := make([]float64, len(d.terms))
	for i, ts := range d.terms {
		for _, t := range ts {
			left[i] += t.weight * dist[t.pair]
		}
		left[i] += d.trace[i] * trace
	}
	return left
}

// operator returns −zᵀ·diag(weights)·z − trace·G.
func (d *dual) operator(weights []float64, trace float64) *mat.SymDense {
	y := d.weighted(d.z, weights)
	r, _ := y.Dims()
	sym := mat.NewSymDense(r, nil)
	for i := range r {
		for j := i; j < r; j++ {
			v := -y.At(i, j)
			if trace != 0 {
				v -= trace * d.gram.At(i, j)
			}
			sym.SetSym(i, j, v)
		}
	}
	return sym
}

// weighted returns aᵀ·diag(weights)·a, of the rows with a weight.
func (d *dual) weighted(a *mat.Dense, weights []float64) *mat.Dense {
	_, r := a.Dims()
	out := mat.NewDense(r, r, nil)
	rows := 0
	for _, w := range weights {
		if w != 0 {
			rows++
		}
	}
	if rows == 0 {
		return out
	}
	both := d.room(2*rows, r)
	kept, scaled := both.Slice(0, rows, 0, r).(*mat.Dense), both.Slice(rows, 2*rows, 0, r).(*mat.Dense)
	at := 0
	for k, w := range weights {
		if w != 0 {
			copy(kept.RawRowView(at), a.RawRowView(k))
			floats.ScaleTo(scaled.RawRowView(at), w, a.RawRowView(k))
			at++
		}
	}
	matrix.MulTo(out, kept.T(), scaled)
	return out
}

// room returns a matrix of any entries, which holds until the next call.
func (d *dual) room(rows, columns int) *mat.Dense {
	if n := rows * columns; n > len(d.space) {
		d.space = make([]float64, n)
	}
	return mat.NewDense(rows, columns, d.space[:rows*columns])
}

// hessian returns the generalised Hessian of h at p times v:
//
//	DW[Y′] = Q(Γ ∘ QᵀY′Q)Qᵀ,  Γ_kl = (x_k − x_l)/(y_k − y_l), or x′ at equal y.
func (d *dual) hessian(p *point, v []float64) []float64 {
	in := d.gather(p, v) // −QᵀY′Q
	for k := range p.y {
		row := in.RawRowView(k)
		for l := range row {
			row[l] *= p.gamma(k, l)
		}
	}
	out := d.spread(p, in)
	for i := range out {
		out[i] += d.rho[i] * v[i]
	}
	return out
}

// gather returns ΣvᵢQᵀaᵢQ.
func (d *dual) gather(p *point, v []float64) *mat.Dense {
	weights, trace := d.weights(v)
	out := d.weighted(p.zq, weights)
	if trace != 0 {
		out.Apply(func(i, j int, x float64) float64 { return x + trace*p.gq.At(i, j) }, out)
	}
	return out
}

// spread returns aᵢ(QsQᵀ), the adjoint of gather.
func (d *dual) spread(p *point, s *mat.Dense) []float64 {
	tr := 0.0
	if p.gq != nil {
		for k := range p.y {
			for l, v := range s.RawRowView(k) {
				tr += v * p.gq.At(k, l)
			}
		}
	}
	pairs, r := p.zq.Dims()
	moved := d.room(pairs, r)
	matrix.MulTo(moved, p.zq, s)
	dist := make([]float64, pairs)
	for k := range dist {
		dist[k] = floats.Dot(moved.RawRowView(k), p.zq.RawRowView(k))
	}
	return d.sides(dist, tr)
}

// diagonal returns that of the generalised Hessian at p, of a constraint of several terms without what these have in
// common. No entry is 0.
func (d *dual) diagonal(p *point) []float64 {
	r := len(p.y)
	g := mat.NewDense(r, r, nil)
	trace := 0.0
	for k := range r {
		row := g.RawRowView(k)
		for l := range row {
			row[l] = p.gamma(k, l)
			if p.gq != nil {
				trace += row[l] * p.gq.At(k, l) * p.gq.At(k, l)
			}
		}
	}
	var squares mat.Dense
	squares.MulElem(p.zq, p.zq)
	moved := matrix.Mul(&squares, g)
	out := make([]float64, len(d.terms))
	for i, ts := range d.terms {
		for _, t := range ts {
			out[i] += t.weight * t.weight * floats.Dot(moved.RawRowView(t.pair), squares.RawRowView(t.pair))
		}
		out[i] += d.trace[i]*d.trace[i]*trace + d.rho[i]
		if !(out[i] > 0) || math.IsInf(out[i], 0) {
			out[i] = 1
		}
	}
	return out
}

// gamma is the divided difference of x. Where two y are so near that it would lose half
// the digits, the mean of the slopes replaces it, which is nearer.
func (p *point) gamma(k, l int) float64 {
	dy := p.y[k] - p.y[l]
	if math.Abs(dy) <= 1e-6*(1+math.Abs(p.y[k])) {
		return p.slope[k]/2 + p.slope[l]/2
	}
	return (p.x[k] - p.x[l]) / dy
}

// clip sets λ to the nearest point of the box.
func (d *dual) clip(lambda []float64) {
	for i, v := range lambda {
		lambda[i] = min(max(v, d.lo[i]), d.hi[i])
	}
}

// projected returns λ − clip(λ − ∇h): 0 at the optimum. Where nothing is clipped this is ∇h, which the difference would lose beside
// a large λ.
func (d *dual) projected(p *point) []float64 {
	out := make([]float64, len(p.grad))
	for i, g := range p.grad {
		l := p.lambda[i]
		out[i] = min(max(g, l-d.hi[i]), l-d.lo[i])
	}
	return out
}

// cost returns Φ(W) − Φ(αI) and the cost of the slack.
func (d *dual) cost(p *point) float64 {
	v := 0.0
	for _, x := range p.x {
		v += d.phi.value(x)
	}
	for i := range p.lambda {
		s := d.violation(p, i)
		switch {
		case d.rho[i] > 0:
			v += s * s / (2 * d.rho[i])
		case !math.IsInf(d.hi[i], 1):
			v += d.hi[i] * s
		}
	}
	return v
}

// violation returns by how much W violates constraint i, divided by its size.
func (d *dual) violation(p *point, i int) float64 {
	s := p.left[i] - d.b[i]
	if d.lo[i] < 0 {
		s = math.Abs(s)
	}
	return max(s, 0)
}

// converged reports whether the residual is at most tol, and the duality gap at most tol, or 1e-8 for round-off, times
// the size of what it is the difference of.
func (d *dual) converged(p *point, residual, tol float64) bool {
	if p.overrun || residual > tol {
		return false
	}
	cost := d.cost(p)
	return math.Abs(cost+p.h) <= max(tol, 1e-8)*(1+cost+math.Abs(floats.Dot(d.b, p.lambda)))
}
