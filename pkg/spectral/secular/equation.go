package secular

import (
	"math"

	"metriclab/internal/product"
)

// Problem is the equation f(s) = 1 with
//
//	f(s) = c·wᵀ(P + sI)⁻¹w + cρ²/s
//
// of the matrix [P 0; 0 0] − c(w, ρ)(w, ρ)ᵀ, whose last row and column are left out if ρ = 0, and what is asked of its root.
type Problem struct {
	C     float64 // c > 0
	Norm  float64 // ‖w‖ > 0
	Rho   float64 // ρ ≥ 0
	Shift float64 // s₀ > 0 of the resolvent R = (P + s₀I)⁻¹
	Floor float64 // a root at or below it is none; ≥ 0, and > 0 if ρ > 0
	Tol   float64 // residual of an eigenpair that is accepted, > 0
}

// Equation solves a Problem in the Krylov space of R and w. With RQ = QT + βqeᵀ after k Lanczos steps and δ = s − s₀,
//
//	(P + sI)⁻¹w = R(I + δR)⁻¹w ≈ x = RQp = QTp + βp_k q,  (I + δT)p = ‖w‖e₁,
//
// the residual of x in (P + sI)x = w is exactly δβp_k q, so that it costs O(k) to know. T replaces R in f.
// The zero value is ready for Start, and keeps its memory from one problem to the next.
type Equation struct {
	p        Problem
	t        tridiagonal
	s        float64   // trial shift, the root in the end
	y, ty, d []float64 // p, Tp, pivots
}

// Start begins a problem, whose first Lanczos vector is w/‖w‖.
func (e *Equation) Start(p Problem) {
	e.p = p
	e.t.clear()
	e.s = math.Min(math.Max(p.Shift, p.Floor), p.C)
}

// Extend adds a Lanczos step, with α and β of Orthogonalise.
func (e *Equation) Extend(alpha, beta float64) {
	e.t.append(alpha, beta)
	e.size()
}

// size makes the scratch fit T.
func (e *Equation) size() {
	n := len(e.t.a)
	e.y, e.ty, e.d = room(e.y, n), room(e.ty, n), room(e.d, n)
}

// Decide says what the steps so far, at least one, tell of the root. After Negative, Root and Vector give the eigenpair;
// its residual in R is at most Tol/2.
func (e *Equation) Decide() Verdict {
	full := e.t.full()
	// A Gauss quadrature from below at s < s₀; exact if full.
	switch fs, _, ok := e.eval(e.p.Floor); {
	case !ok:
		return Failed
	case fs < 1 && full:
		return Semidefinite
	case fs < 1:
		if upper, ok := e.above(e.p.Floor); ok && upper < 1 {
			return Semidefinite
		}
		return Undecided
	}
	residual, ok := e.solve()
	switch {
	case !ok:
		return Failed
	case residual <= e.p.Tol/2:
		return Negative
	case full:
		return Failed
	}
	return Undecided
}

// Root returns s after Negative: B has the eigenvalue −s.
func (e *Equation) Root() float64 { return e.s }

// Vector sets dst to x after Negative: (x, ρ/s) is the eigenvector, of no particular length. basis has the Lanczos vectors,
// one more than there were steps, unless the space is invariant.
func (e *Equation) Vector(dst []float64, basis [][]float64) {
	k := len(e.t.a)
	clear(dst)
	for j, a := range e.ty[:k] {
		product.AddScaled(dst, a, basis[j])
	}
	if !e.t.full() {
		product.AddScaled(dst, e.t.b[k-1]*e.y[k-1], basis[k])
	}
}

// eval returns f(s) and f′(s), and leaves p and Tp. It fails if I + δT is not positive definite, which only round-off
// can cause.
func (e *Equation) eval(s float64) (fs, slope float64, ok bool) {
	sum, ok := solveShifted(e.t.a, e.t.b, s-e.p.Shift, e.p.Norm, e.y, e.ty, e.d)
	if !ok {
		return 0, 0, false
	}
	last := 0.0
	if e.p.Rho != 0 {
		last = e.p.Rho / s
	}
	return e.p.C * (e.p.Norm*e.ty[0] + e.p.Rho*last), -e.p.C * (sum + last*last), true
}

// solve moves s to the root of f = 1 above the floor, where f ≥ 1, and returns the residual of the eigenpair it defines.
func (e *Equation) solve() (residual float64, ok bool) {
	lo, hi := e.p.Floor, e.p.C
	k := len(e.t.a) - 1
	for range MaxNewton {
		fs, slope, ok := e.eval(e.s)
		if !ok {
			return 0, false
		}
		tail := e.t.b[k] * e.y[k]
		norm := math.Sqrt(-slope/e.p.C + tail*tail)
		miss := math.Abs(1-fs) / norm
		if fs < 1 {
			hi = math.Min(hi, e.s)
		} else {
			lo = math.Max(lo, e.s)
		}
		if miss <= e.p.Tol/4 || Narrow(lo, hi) {
			return math.Abs(e.s-e.p.Shift)*math.Abs(tail)/norm + miss, true
		}
		e.s = Newton(e.s, fs, slope, lo, hi)
	}
	return 0, false
}

// above returns an upper bound of f(s) for s < s₀: the Gauss–Radau rule with a node at 1/s₀, the largest eigenvalue that R
// can have. It overwrites p and Tp.
func (e *Equation) above(s float64) (upper float64, ok bool) {
	if !e.t.withNode(1/e.p.Shift, -1) {
		return 0, false
	}
	e.size()
	upper, _, ok = e.eval(s)
	e.t.cut()
	return upper, ok
}
