package ltkernel

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"metriclab/pkg/spectral"
)

// hopeless is how many times larger than what the constraints ask for the trace of any feasible W must be
// proved to be before they count as infeasible.
const hopeless = 1e6

// certificate returns weights v of the constraints, at least 0 but for equations, that prove them
// infeasible, or nil. With A = Σvᵢaᵢ, each feasible W ⪰ 0 has
//
//	bᵀv ≥ A(W) ≥ −ε·tr W,  ε = max(0, −least eigenvalue of A),
//
// so that bᵀv < 0 puts tr W above −bᵀv/ε. It looks at λ and at its last step, along which the dual falls
// without end if it does, also with the upper bounds a little heavier, which moves A into the cone. Slack leaves nothing
// infeasible.
func (d *dual) certificate(p, last *point) []float64 {
	if last == nil || p.overrun || d.soft || p.h > 1.001*last.h { // it falls without end
		return nil
	}
	step := make([]float64, len(p.lambda))
	floats.SubTo(step, p.lambda, last.lambda)
	asked := float64(len(p.y)) * (d.asked + floats.Sum(p.x))
	for _, ray := range [][]float64{step, p.lambda} {
		for _, heavier := range []float64{0, 1e-9, 1e-6, 1e-3} {
			v := append([]float64(nil), ray...)
			for i := range v {
				v[i] = max(v[i], d.lo[i])
				if d.grows[i] {
					v[i] *= 1 + heavier
				}
			}
			size := floats.Norm(v, math.Inf(1))
			if size == 0 {
				break
			}
			floats.Scale(1/size, v)
			needs := -floats.Dot(d.b, v)
			if !(needs > 0) {
				break
			}
			var eig spectral.EigenSym
			if !eig.Factorize(d.operator(d.weights(v)), false) {
				break
			}
			y := eig.Values(nil)
			if needs > hopeless*asked*max(0, y[len(y)-1]) {
				return v
			}
		}
	}
	return nil
}
