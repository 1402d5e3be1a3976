package ltkernel

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
)

// newton minimises h over its box by the projected Newton method with conjugate gradients: Bertsekas,
// Projected Newton methods for optimization problems with simple constraints, SIAM J. Control and
// Optimization 20(2), 1982. after is called with each iterate and its number; it says whether to stop.
func (d *dual) newton(ctx context.Context, lambda []float64, limit int, after func(p, last *point, iteration int) bool) (*point, error) {
	p := d.at(lambda)
	var last *point
	damping := 1.0
	for k := 0; ; k++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if after(p, last, k) || k == limit {
			return p, nil
		}
		next, whole := d.search(p, d.direction(ctx, p, damping))
		if damping *= 10; whole {
			// Along a direction without end, steps grow.
			damping = max(damping/100, 1e-12)
		}
		damping = min(damping, 1)
		if next == nil && ctx.Err() == nil {
			next, _ = d.search(p, d.steepest(p))
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if next == nil { // round-off: no step makes h or its gradient smaller
			return p, nil
		}
		last, p = p, next
	}
}

// bound returns which multipliers are at a bound that the gradient presses them against.
func (d *dual) bound(p *point) []bool {
	near := min(1e-3, floats.Norm(d.projected(p), 2))
	out := make([]bool, len(p.lambda))
	for i, l := range p.lambda {
		eps := min(near, 1e-2*(d.hi[i]-d.lo[i])) // where the box is narrow, its middle is at no bound
		out[i] = p.grad[i] > 0 && l <= d.lo[i]+eps || p.grad[i] < 0 && l >= d.hi[i]-eps
	}
	return out
}

// direction solves (H + μI)·step = −∇h, μ = damping·|∇h|/1000 up to 1e-6, for the free multipliers; the others go to their bounds.
func (d *dual) direction(ctx context.Context, p *point, damping float64) []float64 {
	at := d.bound(p)
	n := len(p.grad)
	r, step := make([]float64, n), make([]float64, n)
	for i, g := range p.grad {
		if !at[i] {
			r[i] = -g
		}
	}
	size := floats.Norm(r, 2)
	mu := damping * 1e-3 * min(1e-3, size)
	tol := size * min(0.1, math.Sqrt(size))
	// Scaled by the diagonal: what slack adds to it differs by many orders between near and far pairs.
	scale := d.diagonal(p)
	floats.AddConst(mu, scale)
	v, s := make([]float64, n), make([]float64, n)
	floats.DivTo(s, r, scale)
	copy(v, s)
	rs := floats.Dot(r, s)
	for range min(n, 500) {
		if floats.Norm(r, 2) <= tol || ctx.Err() != nil {
			break
		}
		hv := d.hessian(p, v)
		for i := range hv {
			if at[i] {
				hv[i] = 0
			} else {
				hv[i] += mu * v[i]
			}
		}
		curve := floats.Dot(v, hv)
		if !(curve > 0) {
			break
		}
		floats.AddScaled(step, rs/curve, v)
		floats.AddScaled(r, -rs/curve, hv)
		floats.DivTo(s, r, scale)
		next := floats.Dot(r, s)
		for i := range v {
			v[i] = s[i] + next/rs*v[i]
		}
		rs = next
	}
	for i, g := range p.grad {
		if at[i] {
			step[i] = -g
		}
	}
	return step
}

func (d *dual) steepest(p *point) []float64 {
	step := make([]float64, len(p.grad))
	floats.ScaleTo(step, -1, p.grad)
	return step
}

// search returns the first of the points clip(λ + t·step), t = 1, ½, ¼, …, with enough
// decrease, and whether it has t = 1; nil if there is none. Where h no longer tells, the projected gradient does.
func (d *dual) search(p *point, step []float64) (next *point, whole bool) {
	before := floats.Norm(d.projected(p), 2)
	for t := 1.0; t > 1e-15; t /= 2 {
		lambda := make([]float64, len(step))
		floats.AddScaledTo(lambda, p.lambda, t, step)
		d.clip(lambda)
		slope := 0.0
		same := true
		for i, g := range p.grad {
			slope += g * (lambda[i] - p.lambda[i])
			same = same && lambda[i] == p.lambda[i]
		}
		if same {
			return nil, false
		}
		q := d.at(lambda)
		if q.overrun {
			continue
		}
		if q.h <= p.h+1e-4*slope && slope < 0 {
			return q, t == 1
		}
		if math.Abs(q.h-p.h) <= 1e-13*(1+math.Abs(p.h)) && floats.Norm(d.projected(q), 2) < 0.9*before {
			return q, t == 1
		}
	}
	return nil, false
}
