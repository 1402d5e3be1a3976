package secular

// solveShifted solves (I + δT) p = w·e₁ for the symmetric tridiagonal T with diagonal a and off-diagonal b, at least as
// long as a is minus one. It sets p and tp to p and Tp, overwrites d, all of the length of a, and returns ‖Tp‖². ok is
// false, and p and tp are of no use, unless I + δT is positive definite.
//
// T is from the Lanczos process on R = (K + s₀I)⁻¹, δ = s − s₀ and w the norm of the start v. p holds the
// coefficients of the Lanczos approximation to (I + δR)⁻¹ v, so that vᵀR(I + δR)⁻¹v = vᵀ(K + sI)⁻¹v is about w·(Tp)₁.
func solveShifted(a, b []float64, delta, w float64, p, tp, d []float64) (sqNorm float64, ok bool) {
	n := len(a)
	p[0] = w
	for i := range n {
		d[i] = 1 + delta*a[i]
		if i > 0 {
			m := delta * b[i-1] / d[i-1]
			d[i] -= m * delta * b[i-1]
			p[i] = -m * p[i-1]
		}
		if !(d[i] > 0) {
			return 0, false
		}
	}
	for i := n - 1; i >= 0; i-- {
		p[i] /= d[i]
		if i < n-1 {
			p[i] -= delta * b[i] / d[i] * p[i+1]
		}
	}
	for i := range n {
		v := a[i] * p[i]
		if i > 0 {
			v += b[i-1] * p[i-1]
		}
		if i < n-1 {
			v += b[i] * p[i+1]
		}
		tp[i] = v
		sqNorm += v * v
	}
	return sqNorm, true
}
