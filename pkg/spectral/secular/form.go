package secular

import "math"

// Form is the quadratic form of the Krylov space of A and a unit vector q: with T from Lanczos steps, AQ = QT + βqeᵀ,
// it approximates
//
//	φ(s) = qᵀ(A + sI)⁻¹q  by  e₁ᵀ(T + sI)⁻¹e₁,
//
// a Gauss quadrature, which is at most φ(s) if A + sI ≻ 0. The residual of x = Qp in (A + sI)x = q, (T + sI)p = e₁, is βp_k.
// The zero value is ready for use. Beta, Full, Solve, Value, Above and Least want at least one step.
type Form struct {
	t    tridiagonal
	d, p []float64
}

// Reset forgets all steps.
func (f *Form) Reset() { f.t.clear() }

// Extend adds a Lanczos step with α and β; β = 0 if the space is invariant.
func (f *Form) Extend(alpha, beta float64) { f.t.append(alpha, beta) }

// Beta returns β of the last step.
func (f *Form) Beta() float64 { return f.t.b[len(f.t.b)-1] }

// Full reports whether the space is invariant, so that Value is exact.
func (f *Form) Full() bool { return f.t.full() }

// Solve returns p = (T + sI)⁻¹e₁, which the next Solve overwrites. It fails unless T + sI ≻ 0.
func (f *Form) Solve(s float64) (p []float64, ok bool) {
	n := len(f.t.a)
	f.d, f.p = room(f.d, n), room(f.p, n)
	a, b, d, p := f.t.a, f.t.b, f.d, f.p
	r := 1.0
	for i := range n {
		d[i] = a[i] + s
		if i > 0 {
			m := b[i-1] / d[i-1]
			d[i] -= m * b[i-1]
			r *= -m
		}
		if !(d[i] > 0) {
			return nil, false
		}
		p[i] = r / d[i]
	}
	for i := n - 2; i >= 0; i-- {
		p[i] -= b[i] / d[i] * p[i+1]
	}
	return p, true
}

// Value returns the quadrature, by the pivots from the end. It fails unless T + sI ≻ 0.
func (f *Form) Value(s float64) (phi float64, ok bool) {
	a, b := f.t.a, f.t.b
	n := len(a)
	d := a[n-1] + s
	for i := n - 2; i >= 0; i-- {
		if !(d > 0) {
			return 0, false
		}
		d = a[i] + s - b[i]*b[i]/d
	}
	return 1 / d, d > 0
}

// Above returns an upper bound of φ(s), given that the spectrum of A is at least least, s > −least: a
// Gauss–Radau quadrature, or Value if the space is invariant. It fails where round-off takes T below least.
func (f *Form) Above(s, least float64) (upper float64, ok bool) {
	if f.Full() {
		return f.Value(s)
	}
	if !f.t.withNode(least, 1) {
		return 0, false
	}
	upper, ok = f.Value(s)
	f.t.cut()
	return upper, ok
}

// Least returns the smallest eigenvalue of T − c·e₁e₁ᵀ to a relative precision of rel, by bisection from [lo, hi], which
// contains it.
func (f *Form) Least(c, lo, hi, rel float64) float64 {
	for range 200 {
		mid := lo + (hi-lo)/2
		if hi-lo <= rel*max(math.Abs(lo), math.Abs(hi)) || mid == lo || mid == hi {
			break
		}
		if phi, ok := f.Value(-mid); ok && c*phi <= 1 {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}
