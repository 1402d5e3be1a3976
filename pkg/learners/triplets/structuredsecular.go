package triplets

import (
	"math"

	"metriclab/pkg/spectral"
)

// secular is the quadratic form of a Krylov space: with A symmetric, q a unit vector and T the
// k×k tridiagonal matrix of k Lanczos steps from q, AQ = QT + βq_{k+1}e_kᵀ, it approximates
//
//	φ(s) = qᵀ(A + sI)⁻¹q  by  e₁ᵀ(T + sI)⁻¹e₁,
//
// a Gauss quadrature, which is at most φ(s) if A + sI ≻ 0 (Golub, Meurant 1994). With a node at or below
// the spectrum of A in place of the last one it is at least φ(s) (Gauss–Radau).
type secular struct {
	a, b []float64 // diagonal; b[i] couples i and i+1, the last one is β
	d, p []float64
}

func (t *secular) reset() { t.a, t.b = t.a[:0], t.b[:0] }

func (t *secular) extend(a, b float64) { t.a, t.b = append(t.a, a), append(t.b, b) }

// solve sets p to (T + sI)⁻¹e₁ and returns the quadrature. It fails unless T + sI ≻ 0.
func (t *secular) solve(s float64) (phi float64, ok bool) {
	n := len(t.a)
	t.d, t.p = fit(t.d, n), fit(t.p, n)
	a, b, d, p := t.a, t.b, t.d, t.p
	r := 1.0
	for i := range n {
		d[i] = a[i] + s
		if i > 0 {
			m := b[i-1] / d[i-1]
			d[i] -= m * b[i-1]
			r *= -m
		}
		if !(d[i] > 0) {
			return 0, false
		}
		p[i] = r / d[i]
	}
	for i := n - 2; i >= 0; i-- {
		p[i] -= b[i] / d[i] * p[i+1]
	}
	return p[0], true
}

// value returns the quadrature alone, by the pivots from the end.
func (t *secular) value(s float64) (phi float64, ok bool) {
	n := len(t.a)
	d := t.a[n-1] + s
	for i := n - 2; i >= 0; i-- {
		if !(d > 0) {
			return 0, false
		}
		d = t.a[i] + s - t.b[i]*t.b[i]/d
	}
	return 1 / d, d > 0
}

// above returns an upper bound of φ(s), given that the spectrum of A is at least least, s > −least.
func (t *secular) above(s, least float64) (upper float64, ok bool) {
	n := len(t.a)
	d := t.a[0] - least
	for i := 1; i < n; i++ {
		if !(d > 0) {
			return 0, false
		}
		d = t.a[i] - least - t.b[i-1]*t.b[i-1]/d
	}
	if !(d > 0) {
		return 0, false
	}
	t.extend(least+t.b[n-1]*t.b[n-1]/d, 0)
	upper, ok = t.value(s)
	t.a, t.b = t.a[:n], t.b[:n]
	return upper, ok
}

// least returns the smallest eigenvalue of T − ρe₁e₁ᵀ to a relative precision of rel, by bisection
// from [lo, hi], which contains it.
func (t *secular) least(rho, lo, hi, rel float64) float64 {
	for range 200 {
		mid := lo + (hi-lo)/2
		if hi-lo <= rel*max(math.Abs(lo), math.Abs(hi)) || mid == lo || mid == hi {
			break
		}
		if phi, ok := t.value(-mid); ok && rho*phi <= 1 {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// fit returns a slice of length n that reuses the memory of x if it can.
func fit(x []float64, n int) []float64 {
	if cap(x) < n {
		return make([]float64, n, 2*n)
	}
	return x[:n]
}

// shifted is the secular equation c·uᵀ(P + sI)⁻¹u = 1 in the Krylov space of R = (P + s₀I)⁻¹ and the
// unit vector u. With RQ = QT + βqeᵀ after k steps and δ = s − s₀,
//
//	(P + sI)⁻¹u = R(I + δR)⁻¹u ≈ x = RQp,  (I + δT)p = e₁,
//
// the residual of x in (P + sI)x = u is exactly δβp_k q, so that it costs O(k) to know.
type shifted struct {
	c, s0    float64
	a, b     []float64 // diagonal of T; b[i] couples i and i+1, the last one is β
	p, tp, d []float64 // p, Tp, pivots
}

func (t *shifted) reset(c, s0 float64) {
	t.c, t.s0 = c, s0
	t.a, t.b = t.a[:0], t.b[:0]
}

func (t *shifted) extend(a, b float64) {
	t.a, t.b = append(t.a, a), append(t.b, b)
	n := len(t.a)
	t.p, t.tp, t.d = fit(t.p, n), fit(t.tp, n), fit(t.d, n)
}

// eval returns f(s) = c·uᵀRQp, a quadrature, and f′(s), and leaves p and Tp. It fails unless I + δT ≻ 0.
func (t *shifted) eval(s float64) (fs, slope float64, ok bool) {
	n := len(t.a)
	sum, ok := spectral.SolveShifted(t.a, t.b, s-t.s0, 1, t.p[:n], t.tp[:n], t.d[:n])
	if !ok {
		return 0, 0, false
	}
	return t.c * t.tp[0], -t.c * sum, true
}

// maxNewton is far above the steps taken (3 to 8); bisection alone halves the logarithm of the
// bracket, 10⁻¹⁶..1, to round-off in 60.
const maxNewton = 100

// root returns the root of f = 1 above floor, where f ≥ 1, from a trial shift s, with the
// residual of the eigenpair it defines.
func (t *shifted) root(s, floor, tol float64) (root, res float64, ok bool) {
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

// newton returns the next trial shift: a Newton step on 1/f − 1, which is concave and increasing
// in s, so that from below the steps are monotone; or the geometric mean of the bracket, if the
// step leaves it.
func newton(s, fs, slope, lo, hi float64) float64 {
	next := s + fs*(1-fs)/slope
	if next > lo && next < hi {
		return next
	}
	return math.Sqrt(lo) * math.Sqrt(hi)
}

// radau returns an upper bound of f(s) for s < s₀: the Gauss–Radau rule with a node at 1/s₀, the
// largest eigenvalue that R has while P ⪰ 0. It overwrites p and Tp.
func (t *shifted) radau(s float64) (upper float64, ok bool) {
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
