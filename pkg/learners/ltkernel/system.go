package ltkernel

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
)

// system is the linear system of a Newton step, (H + μI)·step = −∇h, for the free multipliers.
type system struct {
	d    *dual
	p    *point
	at   []bool // the multipliers that are not free
	mu   float64
	tol  float64   // of the residual
	r    []float64 // the residual of step
	step []float64
}

// confine sends free multipliers that step takes out of the box to its bound, and sets r to what remains for the others. It returns whether there
// are any.
func (s *system) confine() bool {
	out := false
	for i, l := range s.p.lambda {
		switch low, high := s.d.lo[i], s.d.hi[i]; {
		case s.at[i]:
		case l+s.step[i] < low:
			s.at[i], s.step[i], out = true, low-l, true
		case l+s.step[i] > high:
			s.at[i], s.step[i], out = true, high-l, true
		}
	}
	if out {
		s.remain()
	}
	return out
}

// remain sets r to −∇h − (H + μI)·step of the free multipliers.
func (s *system) remain() {
	product := s.d.hessian(s.p, s.step)
	for i, g := range s.p.grad {
		s.r[i] = 0
		if !s.at[i] {
			s.r[i] = -g - product[i] - s.mu*s.step[i]
		}
	}
}

// blockFloats bounds the rows and columns of A that inverse holds at once.
const blockFloats = 1 << 17

const (
	mostOrder = 2048 // the largest order of a matrix that inverse decomposes
	fewest    = 40   // products with H before an inverse: small problems need no more
)

// order returns the order of the matrix that inverse decomposes, the other dimension of A, and the number of free multipliers.
func (s *system) order() (order, other, free int) {
	for _, a := range s.at {
		if !a {
			free++
		}
	}
	r := len(s.p.y)
	q := r * (r + 1) / 2
	return min(free, q), max(free, q), free
}

// price returns how many products with H cost as much as inverse, at least fewest. It is math.MaxInt if the matrix is too large or empty, or
// if the inverse would be 1/μ in most directions: where more multipliers than W has entries are free, and no slack is quadratic.
func (s *system) price() int {
	order, other, free := s.order()
	if order == 0 || order > s.d.mostOrder || order < free && slices.Min(s.d.rho) == 0 {
		return math.MaxInt
	}
	pairs, r := s.p.zq.Dims()
	n := float64(order)
	return max(s.d.fewest, int(n*n*(float64(other)+n)/(4*float64(pairs)*float64(r*r))))
}

// column is one of A: the entries k, l and l, k of aᵢ, with the root of their share of H.
type column struct {
	k, l int
	root float64
}

// inverse returns a function that multiplies by (H + μI)⁻¹, but for round-off. On the free multipliers
//
//	H = AAᵀ + diag(ρ),  A of a row per multiplier and a column per entry k ≤ l of W: √Γ_kl·(QᵀaᵢQ)_kl, times √2 if k < l.
//
// It decomposes the smaller of H + μI itself and, with D = diag(ρ + μ), of I + AᵀD⁻¹A, by which
//
//	(H + μI)⁻¹ = D⁻¹ − D⁻¹A(I + AᵀD⁻¹A)⁻¹AᵀD⁻¹.
//
// Source: Woodbury, Inverting modified matrices, Memorandum Report 42, Princeton University, 1950. It returns nil if
// that has no Cholesky factor in float64, or ctx is done.
func (s *system) inverse(ctx context.Context) func(to, r []float64) {
	var rows []int
	for i, a := range s.at {
		if !a {
			rows = append(rows, i)
		}
	}
	r := len(s.p.y)
	var columns []column
	for k := range r {
		for l := k; l < r; l++ {
			root := math.Sqrt(max(0, s.p.gamma(k, l)))
			if l > k {
				root *= math.Sqrt2
			}
			columns = append(columns, column{k, l, root})
		}
	}
	if len(rows) <= len(columns) {
		return s.direct(ctx, rows, columns)
	}
	return s.woodbury(ctx, rows, columns)
}

// part sets to to a part of A.
func (s *system) part(to *mat.Dense, rows []int, columns []column) {
	for a, i := range rows {
		row := to.RawRowView(a)
		clear(row)
		for _, t := range s.d.terms[i] {
			z := s.p.zq.RawRowView(t.pair)
			for c, at := range columns {
				row[c] += t.weight * z[at.k] * z[at.l]
			}
		}
		for c, at := range columns {
			if trace := s.d.trace[i]; trace != 0 {
				row[c] += trace * s.p.gq.At(at.k, at.l)
			}
			row[c] *= at.root
		}
	}
}

// direct is inverse by H + μI.
func (s *system) direct(ctx context.Context, rows []int, columns []column) func(to, r []float64) {
	n := len(rows)
	h := mat.NewSymDense(n, nil)
	width := max(1, blockFloats/n)
	for c := 0; c < len(columns); c += width {
		if ctx.Err() != nil {
			return nil
		}
		some := columns[c:min(c+width, len(columns))]
		a := s.d.room(n, len(some))
		s.part(a, rows, some)
		h.AddSym(h, matrix.Outer(1, a))
	}
	for a, i := range rows {
		h.SetSym(a, a, h.At(a, a)+s.d.rho[i]+s.mu)
	}
	var chol mat.Cholesky
	if !chol.Factorize(h) {
		return nil
	}
	x := mat.NewVecDense(n, nil)
	return func(to, r []float64) {
		for a, i := range rows {
			x.SetVec(a, r[i])
		}
		_ = chol.SolveVecTo(x, x) // an error is about the condition, and comes with an answer
		clear(to)
		for a, i := range rows {
			to[i] = x.AtVec(a)
		}
	}
}

// woodbury is inverse by I + AᵀD⁻¹A.
func (s *system) woodbury(ctx context.Context, rows []int, columns []column) func(to, r []float64) {
	q, n := len(columns), len(s.at)
	over := make([]float64, n) // of D
	for _, i := range rows {
		over[i] = 1 / (s.d.rho[i] + s.mu)
	}
	m := mat.NewSymDense(q, nil)
	height := max(1, blockFloats/q)
	for a := 0; a < len(rows); a += height {
		if ctx.Err() != nil {
			return nil
		}
		some := rows[a:min(a+height, len(rows))]
		b := s.d.room(len(some), q)
		s.part(b, some, columns)
		for c, i := range some {
			floats.Scale(math.Sqrt(over[i]), b.RawRowView(c))
		}
		m.AddSym(m, matrix.Outer(1, b.T()))
	}
	for c := range columns {
		m.SetSym(c, c, m.At(c, c)+1)
	}
	var chol mat.Cholesky
	if !chol.Factorize(m) {
		return nil
	}
	x, scaled := mat.NewVecDense(q, nil), make([]float64, n)
	return func(to, r []float64) {
		floats.MulTo(scaled, over, r)
		in := s.d.gather(s.p, scaled)
		for c, at := range columns {
			x.SetVec(c, at.root*in.At(at.k, at.l))
		}
		_ = chol.SolveVecTo(x, x)
		for c, at := range columns {
			v := at.root * x.AtVec(c)
			if at.k != at.l {
				v /= 2
			}
			in.Set(at.k, at.l, v)
			in.Set(at.l, at.k, v)
		}
		floats.MulTo(to, over, s.d.spread(s.p, in))
		floats.SubTo(to, scaled, to)
	}
}
