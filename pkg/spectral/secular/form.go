package secular

// Form is the quadratic form of the Krylov space of A and a unit vector q: with T from Lanczos steps, AQ = QT + βqeᵀ,
// it approximates
//
//	φ(s) = qᵀ(A + sI)⁻¹q  by  e₁ᵀ(T + sI)⁻¹e₁,
//
// a Gauss quadrature, which is at most φ(s) if A + sI ≻ 0. The zero value is ready for use. Beta, Full, Value and
// Above want at least one step.
type Form struct {
	t tridiagonal
}

// Reset forgets all steps.
func (f *Form) Reset() { f.t.clear() }

// Extend adds a Lanczos step with α and β; β = 0 if the space is invariant.
func (f *Form) Extend(alpha, beta float64) { f.t.append(alpha, beta) }

// Beta returns β of the last step.
func (f *Form) Beta() float64 { return f.t.b[len(f.t.b)-1] }

// Full reports whether the space is invariant, so that Value is exact.
func (f *Form) Full() bool { return f.t.full() }

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
