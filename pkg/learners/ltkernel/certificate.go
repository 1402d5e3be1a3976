package ltkernel

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
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
		if v := d.proof(ray, asked); v != nil {
			return v
		}
	}
	return nil
}

// proof returns the certificate that ray is, or nil: no W whose trace is at most hopeless times asked is feasible.
func (d *dual) proof(ray []float64, asked float64) []float64 {
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
			return nil
		}
		floats.Scale(1/size, v)
		needs := -floats.Dot(d.b, v)
		if !(needs > 0) {
			return nil
		}
		var eig spectral.EigenSym
		if !eig.Factorize(d.operator(d.weights(v)), false) {
			return nil
		}
		y := eig.Values(nil)
		if needs > hopeless*asked*max(0, y[len(y)-1]) {
			return v
		}
	}
	return nil
}

// The least violation is sought with weights of the slack that grow from 1 to mostSlack.
const (
	slackStep = 100
	mostSlack = 1e14
)

// Contradiction seeks a proof that no kernel K = ΦᵀWΦ of the objects of k0, n×n, satisfies the constraints, whatever the divergence. It returns the certificate
// of Solution.Certificate, or nil if it finds none. It seeks the least violation of the constraints by some tens of Newton steps, of O((pairs + n)·n²) each.
//
// Errors and panics are those of FitKernel, but for a k0 that is not positive semi-definite, which is not checked.
func Contradiction(ctx context.Context, k0 mat.Symmetric, constraints []Constraint) ([]float64, error) {
	if matrix.IsNil(k0) || k0.SymmetricDim() == 0 {
		panic("ltkernel: Contradiction: k0 is nil or empty")
	}
	p := Params{}.Resolved()
	support, err := p.prepare(k0.SymmetricDim(), math.MaxInt, constraints)
	if err != nil {
		return nil, err
	}
	block := blockOf(k0, support)
	f, err := factor(block)
	if err != nil {
		return nil, err
	}
	d, err := newDual(f, support, constraints, p, nil)
	if err != nil {
		return nil, err
	}
	proof, err := d.least(ctx)
	if err != nil {
		return nil, fmt.Errorf("ltkernel: %w", err)
	}
	for i := range proof {
		proof[i] /= d.sigma[i]
	}
	return proof, nil
}

// least returns a certificate from the least violation of the constraints, or nil if it finds none. It solves
//
//	min ½‖W‖² + (C/2)Σs²,  C = 1, 100, …,
//
// each from the multipliers of the last one, λ = Cs. As C grows, s tends to the least violation, whose normal cone contains it: Σsᵢaᵢ ⪰ 0 in the limit
// and bᵀs = −Σs² < 0, unless it is 0.
func (d *dual) least(ctx context.Context) ([]float64, error) {
	e := *d
	e.mostOrder = 0 // with so heavy slack the inverse is round-off
	var err error
	if e.phi, err = Trace(0); err != nil {
		return nil, err
	}
	m := len(d.b)
	_, r := d.z.Dims()
	lambda := make([]float64, m)
	for c := 1.0; c <= mostSlack; c *= slackStep {
		e.rho = make([]float64, m)
		for i := range e.rho {
			e.rho[i] = 1 / c
		}
		var proof []float64
		p, err := e.newton(ctx, lambda, 100, func(p, _ *point, k int) bool {
			residual := floats.Norm(e.projected(p), math.Inf(1))
			return residual <= 1e-10
		})
		if err != nil {
			return nil, err
		}
		if proof = d.proof(p.lambda, float64(r)*(d.asked+float64(r))); proof != nil {
			return proof, nil
		}
		if floats.Norm(p.lambda, math.Inf(1)) <= 1e-7*c { // no violation is left
			return nil, nil
		}
		lambda = append([]float64(nil), p.lambda...)
		floats.Scale(slackStep, lambda)
	}
	return nil, nil
}
