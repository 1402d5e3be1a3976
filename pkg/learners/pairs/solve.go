package pairs

import (
	"math"

	"metriclab/internal/vector"
	"metriclab/pkg/spectral/secular"
)

// eigenpair is the negative eigenpair (−s, p) of
//
//	B = [C 0; 0 0] − c(w, ρ)(w, ρ)ᵀ,  C ⪰ 0,  ‖w‖² + ρ² = 1,
//
// p = (a, last) of unit length. C ⪰ 0 allows at most one negative eigenvalue
// (interlacing). It is the root s > 0 of the secular equation
//
//	f(s) = c·wᵀ(C + sI)⁻¹w + cρ²/s = 1,  p ∝ ((C + sI)⁻¹w, ρ/s),
//
// see package secular. For any s and any x, the pair (−s, (x, ρ/s)) has the
// residual (Cx + sx − gw, ρ(1−g)), g = c·(wᵀx + ρ²/s). By symmetry of B an
// eigenvalue lies within its norm over ‖(x, ρ/s)‖ of −s: the stopping rule.
type eigenpair struct {
	s    float64
	a    []float64
	last float64
}

// fit returns a slice of length n that reuses the memory of x if it can.
func fit(x []float64, n int) []float64 {
	if cap(x) < n {
		return make([]float64, n, 2*n)
	}
	return x[:n]
}

const (
	// residualTol bounds the residual of an accepted eigenpair, relative to c, the
	// length of the term subtracted, and with it the error of A.
	residualTol = 1e-12
	// maxLanczos is far above the steps taken (8 to 20). A space that needs
	// more is left to the direct solver.
	maxLanczos = 150
	// firstLook: the steps before the root is looked for.
	firstLook = 4
)

// workspace is the scratch of the solvers.
type workspace struct {
	n       int
	x, y, z []float64
	basis   [][]float64 // Lanczos vectors
	eq      secular.Equation
	chol    sym
}

func (ws *workspace) size(n int) {
	ws.n = n
	ws.x = fit(ws.x, n)
	ws.y = fit(ws.y, n)
	ws.z = fit(ws.z, n)
}

// vector returns Lanczos vector k.
func (ws *workspace) vector(k int) []float64 {
	if k == len(ws.basis) {
		ws.basis = append(ws.basis, nil)
	}
	ws.basis[k] = fit(ws.basis[k], ws.n)
	return ws.basis[k]
}

// inRange reports whether the solvers can work with c, s or s₀ = x > 0: they square
// (C + sI)⁻¹w, of the order of 1/s, and s is from 10⁻¹³c to c.
func inRange(x float64) bool { return x >= 0x1p-400 && x <= 0x1p400 }

// tolerances returns the size of eigenvalues that are left alone, and the bound of
// the residual.
func (f *form) tolerances(c, trace float64) (floor, tol float64) {
	return secular.Tolerances(c, trace, f.n, residualTol)
}

// solve finds the negative eigenpair and reports whether there is one below
// −floor. trace is that of C.
func (f *form) solve(c float64, w []float64, rho, trace float64) bool {
	floor, tol := f.tolerances(c, trace)
	found := false
	switch {
	case vector.Dot(w, w) == 0: // v ⟂ range(A)
		clear(f.eig.a)
		f.eig.s, f.eig.last = c, 1
		found = true
	case !inRange(c):
		found = f.scaledDirect(c, w, rho, trace)
	case f.n <= directOrder || f.res.seen == 0:
		found = f.direct(c, w, rho, floor, tol)
	default:
		found = f.iterative(c, w, rho, floor, tol)
	}
	if found {
		f.res.note(f.eig.s)
	}
	return found
}

// scaledDirect is direct for C and c divided by a power of two of the order of c, by
// which s is divided too while p stays.
func (f *form) scaledDirect(c float64, w []float64, rho, trace float64) bool {
	_, k := math.Frexp(c)
	k &^= 1 // even, so that square roots have the bits that they have without it
	c, trace = math.Ldexp(c, -k), math.Ldexp(trace, -k)
	floor, tol := f.tolerances(c, trace)
	if floor >= c { // also if the trace overflows
		return false
	}
	core := f.c
	f.c = times2(core, -k)
	found := f.direct(c, w, rho, floor, tol)
	f.c = core
	f.eig.s = math.Ldexp(f.eig.s, k)
	return found
}

// direct solves the secular equation with a Cholesky factor at each shift.
func (f *form) direct(c float64, w []float64, rho, floor, tol float64) bool {
	n := f.n
	ws, p := &f.ws, &f.eig
	if need := n * (n + 1) / 2; cap(ws.chol) < need {
		ws.chol = make(sym, need)
	}
	l := ws.chol[:n*(n+1)/2]
	// The Rayleigh quotient of (w, ρ) bounds s from below, c from above.
	lo, hi := floor, c
	s := math.Max(floor, c-f.c.quad(w))
	if s >= hi {
		s = hi
	}
	above := false // f ≥ 1 was seen
	for range secular.MaxNewton {
		next := math.Sqrt(lo) * math.Sqrt(hi)
		if f.c.cholesky(l, s, n) {
			copy(p.a, w)
			l.solve(p.a)
			last := rho / s
			norm2 := vector.Dot(p.a, p.a) + last*last
			fs := c * (vector.Dot(w, p.a) + rho*last)
			if fs < 1 && s == floor {
				return false
			}
			norm := math.Sqrt(norm2)
			if math.Abs(1-fs) <= tol/4*norm {
				p.accept(s, norm, last)
				return true
			}
			if fs < 1 {
				hi = s
			} else {
				lo = s
				above = true
			}
			next = secular.Newton(s, fs, -c*norm2, lo, hi)
			if above && secular.Narrow(lo, hi) {
				p.accept(s, norm, last)
				return true
			}
		} else {
			lo = s // C + sI is indefinite by round-off: s is too small to tell
		}
		if secular.Narrow(lo, hi) {
			return false
		}
		s = next
	}
	return false
}

// accept scales the vector (p.a, last) of the given norm to unit length.
func (p *eigenpair) accept(s, norm, last float64) {
	for i := range p.a {
		p.a[i] /= norm
	}
	p.s, p.last = s, last/norm
}

// iterative solves by Lanczos on the resolvent, built anew if it is missing,
// stale or inaccurate, and falls back on the direct solver.
func (f *form) iterative(c float64, w []float64, rho, floor, tol float64) bool {
	if f.res.stale() {
		f.res.drop()
	}
	for range 2 {
		if !f.res.ready() && !f.res.build(f.c, f.n) {
			break
		}
		if found, ok := f.lanczos(c, w, rho, floor, tol); ok {
			return found
		}
		f.res.drop()
	}
	return f.direct(c, w, rho, floor, tol)
}

// lanczos finds the eigenpair in the Krylov space of R = (C + s₀I)⁻¹ and w. It
// reports whether there is an eigenvalue below −floor, and whether that is known.
func (f *form) lanczos(c float64, w []float64, rho, floor, tol float64) (found, ok bool) {
	ws, eq := &f.ws, &f.ws.eq
	wn := math.Sqrt(vector.Dot(w, w))
	q := ws.vector(0)
	for i, a := range w {
		q[i] = a / wn
	}
	eq.Start(secular.Problem{C: c, Norm: wn, Rho: rho, Shift: f.res.shift, Floor: floor, Tol: tol})
	for k := 1; k <= min(f.n, maxLanczos); k++ {
		z := ws.vector(k)
		f.res.mulTo(z, ws.basis[k-1])
		alpha, beta := secular.Orthogonalise(z, ws.basis[:k])
		if beta != 0 {
			for i := range z {
				z[i] /= beta
			}
		}
		eq.Extend(alpha, beta)
		if k < firstLook && beta != 0 {
			continue
		}
		switch eq.Decide() {
		case secular.Semidefinite:
			return false, true
		case secular.Failed:
			return false, false
		case secular.Negative:
			ok := f.take(c, w, rho, tol)
			return ok, ok
		}
	}
	return false, false
}

// take makes the eigenpair of the equation that of the form, if its residual in C
// itself is at most tol.
func (f *form) take(c float64, w []float64, rho, tol float64) bool {
	s := f.ws.eq.Root()
	f.ws.eq.Vector(f.eig.a, f.ws.basis)
	norm, res := f.residual(c, w, rho, s)
	if !(res <= tol) {
		return false
	}
	f.eig.accept(s, norm, rho/s)
	return true
}

// residual returns ‖(x, ρ/s)‖ for x in f.eig.a, and the norm of the residual
// over it, from C itself.
func (f *form) residual(c float64, w []float64, rho, s float64) (norm, res float64) {
	x, y := f.eig.a, f.ws.y
	f.c.mulTo(y, x)
	last := rho / s
	g := c * (vector.Dot(w, x) + rho*last)
	var sum float64
	for i, a := range y {
		d := a + s*x[i] - g*w[i]
		sum += d * d
	}
	d := rho * (1 - g)
	norm = math.Sqrt(vector.Dot(x, x) + last*last)
	return norm, math.Sqrt(sum+d*d) / norm
}
