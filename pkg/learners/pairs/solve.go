package pairs

import (
	"math"

	"metriclab/pkg/spectral"
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
// f being convex and decreasing, so that there is a root iff f(0+) > 1. For any
// s and any x, the pair (−s, (x, ρ/s)) has the residual (Cx + sx − gw, ρ(1−g)),
// g = c·(wᵀx + ρ²/s), and by symmetry of B an eigenvalue lies within its norm
// over ‖(x, ρ/s)‖ of −s: the stopping rule.
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

// Tolerances of the solver, relative to c, the length of the term subtracted.
const (
	// negligible: eigenvalues in [−negligible·c, 0) are left alone.
	negligible = 1e-13
	// residualTol bounds the residual of an accepted eigenpair, and with it
	// the error of A: a residual ε shifts p by ε/s and s·ppᵀ by 2ε at most.
	residualTol = 1e-12
	// roundOff·tr(C) is added to both: the round-off of C itself.
	roundOff = 4 * eps
	// maxNewton is far above the steps taken (3 to 8); bisection alone halves
	// the logarithm of the bracket, 10⁻¹⁶..1, to round-off in 60.
	maxNewton = 100
	// maxLanczos is far above the steps taken (8 to 20). A space that needs
	// more is left to the direct solver.
	maxLanczos = 150
)

// workspace is the scratch of the solvers.
type workspace struct {
	n       int
	x, y, z []float64
	basis   [][]float64 // Lanczos vectors
	tri     tridiagonal
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
// (C + sI)⁻¹w, of the order of 1/s, and s is from negligible·c to c.
func inRange(x float64) bool { return x >= 0x1p-400 && x <= 0x1p400 }

// tolerances returns the size of eigenvalues that are left alone, and the bound of
// the residual.
func (f *form) tolerances(c, trace float64) (floor, tol float64) {
	return negligible*c + roundOff*trace, residualTol*(c+trace/float64(f.n)) + roundOff*trace
}

// solve finds the negative eigenpair and reports whether there is one below
// −floor. trace is that of C.
func (f *form) solve(c float64, w []float64, rho, trace float64) bool {
	floor, tol := f.tolerances(c, trace)
	found := false
	switch {
	case dot(w, w) == 0: // v ⟂ range(A)
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

// newton returns the next trial shift: a Newton step on 1/f − 1, which is
// concave and increasing in s, so that from below the steps are monotone; or
// the geometric mean of the bracket, if the step leaves it.
func newton(s, fs, slope, lo, hi float64) float64 {
	next := s + fs*(1-fs)/slope
	if next > lo && next < hi {
		return next
	}
	return math.Sqrt(lo) * math.Sqrt(hi)
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
	for range maxNewton {
		next := math.Sqrt(lo) * math.Sqrt(hi)
		if f.c.cholesky(l, s, n) {
			copy(p.a, w)
			l.solve(p.a)
			last := rho / s
			norm2 := dot(p.a, p.a) + last*last
			fs := c * (dot(w, p.a) + rho*last)
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
			next = newton(s, fs, -c*norm2, lo, hi)
			if above && hi-lo <= 2*eps*hi {
				p.accept(s, norm, last)
				return true
			}
		} else {
			lo = s // C + sI is indefinite by round-off: s is too small to tell
		}
		if hi-lo <= 2*eps*hi {
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

// lanczos finds the eigenpair in the Krylov space of R = (C + s₀I)⁻¹ and w. With
// RQ = QT + βqeᵀ after k steps and δ = s − s₀,
//
//	(C + sI)⁻¹w = R(I + δR)⁻¹w ≈ x = RQp,  (I + δT)p = ‖w‖e₁,
//
// the residual of x in (C + sI)x = w is exactly δβp_k q, so that it costs O(k)
// to know. T replaces R in f. It reports whether there is an eigenvalue below
// −floor, and whether that is known.
func (f *form) lanczos(c float64, w []float64, rho, floor, tol float64) (found, ok bool) {
	ws, p := &f.ws, &f.eig
	s0 := f.res.shift
	wn := math.Sqrt(dot(w, w))
	q := ws.vector(0)
	for i, a := range w {
		q[i] = a / wn
	}
	t := &ws.tri
	t.reset(c, wn, rho, s0)
	s := math.Min(math.Max(s0, floor), c)
	for k := 1; k <= min(f.n, maxLanczos); k++ {
		q := ws.basis[k-1]
		z := ws.vector(k)
		f.res.mulTo(z, q)
		size := math.Sqrt(dot(z, z))
		var alpha float64
		for j := k - 1; j >= 0; j-- {
			d := dot(ws.basis[j], z)
			axpy(z, -d, ws.basis[j])
			if j == k-1 {
				alpha = d
			}
		}
		beta := math.Sqrt(dot(z, z))
		full := k == f.n || beta <= 8*eps*size // an invariant subspace
		if full {
			beta = 0
		} else {
			for i := range z {
				z[i] /= beta
			}
		}
		t.extend(alpha, beta)
		if k < 4 && !full {
			continue
		}
		// A Gauss quadrature from below at s < s₀; exact if full.
		if fs, _, good := t.eval(floor); !good {
			return false, false
		} else if fs < 1 {
			if full {
				return false, true
			}
			if upper, good := t.radau(floor); good && upper < 1 {
				return false, true
			}
			continue
		}
		var res float64
		if s, res, ok = t.root(s, floor, tol/4); !ok {
			return false, false
		}
		if !(res <= tol/2) {
			if full {
				return false, false
			}
			continue
		}
		clear(p.a)
		for j, a := range t.tp {
			axpy(p.a, a, ws.basis[j])
		}
		if !full {
			axpy(p.a, beta*t.p[k-1], z)
		}
		norm, res := f.residual(c, w, rho, s)
		if !(res <= tol) {
			return false, false
		}
		p.accept(s, norm, rho/s)
		return true, true
	}
	return false, false
}

// residual returns ‖(x, ρ/s)‖ for x in f.eig.a, and the norm of the residual
// over it, from C itself.
func (f *form) residual(c float64, w []float64, rho, s float64) (norm, res float64) {
	x, y := f.eig.a, f.ws.y
	f.c.mulTo(y, x)
	last := rho / s
	g := c * (dot(w, x) + rho*last)
	var sum float64
	for i, a := range y {
		d := a + s*x[i] - g*w[i]
		sum += d * d
	}
	d := rho * (1 - g)
	norm = math.Sqrt(dot(x, x) + last*last)
	return norm, math.Sqrt(sum+d*d) / norm
}

// tridiagonal is the secular equation with T in place of R.
type tridiagonal struct {
	c, wn, rho, s0 float64
	a, b           []float64 // diagonal; b[i] couples i and i+1, the last one is β
	p, tp, d       []float64 // p, Tp, pivots
}

func (t *tridiagonal) reset(c, wn, rho, s0 float64) {
	t.c, t.wn, t.rho, t.s0 = c, wn, rho, s0
	t.a, t.b = t.a[:0], t.b[:0]
}

func (t *tridiagonal) extend(a, b float64) {
	t.a, t.b = append(t.a, a), append(t.b, b)
	n := len(t.a)
	t.p, t.tp, t.d = fit(t.p, n+1)[:n], fit(t.tp, n+1)[:n], fit(t.d, n+1)[:n]
}

// eval returns f(s) and f′(s), and leaves p and Tp. It fails if I + δT is not
// positive definite, which only round-off can cause.
func (t *tridiagonal) eval(s float64) (fs, slope float64, ok bool) {
	sum, ok := spectral.SolveShifted(t.a, t.b, s-t.s0, t.wn, t.p, t.tp, t.d)
	if !ok {
		return 0, 0, false
	}
	last := t.rho / s
	return t.c * (t.wn*t.tp[0] + t.rho*last), -t.c * (sum + last*last), true
}

// root moves s to the root of f = 1 above floor, where f ≥ 1, and returns it
// with the residual of the eigenpair it defines.
func (t *tridiagonal) root(s, floor, tol float64) (root, res float64, ok bool) {
	lo, hi := floor, t.c
	k := len(t.a) - 1
	for range maxNewton {
		fs, slope, good := t.eval(s)
		if !good {
			return 0, 0, false
		}
		tail := t.b[k] * t.p[k]
		norm := math.Sqrt(-slope/t.c + tail*tail)
		miss := math.Abs(1-fs) / norm
		if fs < 1 {
			hi = math.Min(hi, s)
		} else {
			lo = math.Max(lo, s)
		}
		if miss <= tol || hi-lo <= 2*eps*hi {
			return s, math.Abs(s-t.s0)*math.Abs(tail)/norm + miss, true
		}
		s = newton(s, fs, slope, lo, hi)
	}
	return 0, 0, false
}

// radau returns an upper bound of f(s) for s < s₀: the Gauss–Radau rule with a
// node at 1/s₀, the largest eigenvalue that R can have (Golub & Meurant 1994).
// It overwrites p and Tp.
func (t *tridiagonal) radau(s float64) (upper float64, ok bool) {
	n := len(t.a)
	node := 1 / t.s0
	d := t.a[0] - node
	for i := 1; i < n; i++ {
		if !(d < 0) {
			return 0, false
		}
		d = t.a[i] - node - t.b[i-1]*t.b[i-1]/d
	}
	if !(d < 0) {
		return 0, false
	}
	t.extend(node+t.b[n-1]*t.b[n-1]/d, 0)
	upper, _, ok = t.eval(s)
	t.a, t.b = t.a[:n], t.b[:n]
	return upper, ok
}
