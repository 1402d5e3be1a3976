package ltkernel

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// newton minimises h over its box by the projected Newton method with conjugate gradients: Bertsekas,
// Projected Newton methods for optimization problems with simple constraints, SIAM J. Control and
// Optimization 20(2), 1982. after is called with each iterate and its number; it says whether to stop.
func (d *dual) newton(ctx context.Context, lambda []float64, limit int, after func(p, last *point, iteration int) bool) (*point, error) {
	p := d.at(lambda)
	var last *point
	damping, stiff, whole := 1.0, false, true
	for k := 0; ; k++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if after(p, last, k) || k == limit {
			return p, nil
		}
		var step []float64
		late := k >= easy // far from the minimum rough steps are as good as those by an inverse
		step, stiff = d.direction(ctx, p, damping, stiff && late, !whole && late)
		var next *point
		next, whole = d.search(p, step)
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
// It scales conjugate gradients by the diagonal of H until their products have cost as much as the inverse, or not at all if stiff, then
// by the inverse. It returns whether they needed the inverse. If so and confined, multipliers that would leave the box go to its bounds, and
// the others are solved for again, twice: else the path of search bends early, and steps stay short.
func (d *dual) direction(ctx context.Context, p *point, damping float64, stiff, confined bool) ([]float64, bool) {
	n := len(p.grad)
	s := &system{d: d, p: p, at: d.bound(p), r: make([]float64, n), step: make([]float64, n)}
	for i, g := range p.grad {
		if !s.at[i] {
			s.r[i] = -g
		}
	}
	size := floats.Norm(s.r, 2)
	s.mu = damping * 1e-3 * min(1e-3, size)
	s.tol = size * min(0.1, math.Sqrt(size))
	most := min(n, 500)
	patience := s.price()
	if patience >= most { // so where no inverse is worth it
		stiff, patience = false, most
	}
	var scale []float64
	byDiagonal := func(most int) bool {
		if scale == nil {
			// What slack adds to the diagonal differs by many orders between near and far pairs.
			scale = d.diagonal(p)
			floats.AddConst(s.mu, scale)
		}
		return s.conjugate(ctx, func(to, r []float64) { floats.DivTo(to, r, scale) }, most)
	}
	byInverse := func() {
		if floats.Norm(s.r, 2) <= s.tol { // so where no multiplier is free
			return
		}
		if inverse := s.inverse(ctx); inverse == nil || !s.conjugate(ctx, inverse, 50) {
			byDiagonal(most - patience)
		}
	}
	if !stiff {
		stiff = !byDiagonal(patience) && patience < most
	}
	if stiff {
		for i, g := range p.grad {
			switch {
			case !s.at[i]:
			case g > 0:
				s.step[i] = d.lo[i] - p.lambda[i]
			default:
				s.step[i] = d.hi[i] - p.lambda[i]
			}
		}
		s.remain()
		byInverse()
	}
	step := slices.Clone(s.step)
	for i, g := range p.grad {
		if s.at[i] {
			step[i] = -g
		}
	}
	if !stiff {
		return step, false
	}
	for again := 0; confined && s.confine() && again < 2; again++ {
		byInverse()
	}
	if floats.Dot(s.step, p.grad) < 0 {
		return s.step, true
	}
	return step, true
}

// conjugate goes on from step by preconditioned conjugate gradients, for at most so many products. It returns false if it stopped for another reason
// than a small residual or a direction without curvature.
func (s *system) conjugate(ctx context.Context, precondition func(to, r []float64), most int) bool {
	n := len(s.r)
	v, z := make([]float64, n), make([]float64, n)
	precondition(z, s.r)
	copy(v, z)
	rz := floats.Dot(s.r, z)
	for range most {
		if floats.Norm(s.r, 2) <= s.tol || ctx.Err() != nil {
			return true
		}
		hv := s.d.hessian(s.p, v)
		for i := range hv {
			if s.at[i] {
				hv[i] = 0
			} else {
				hv[i] += s.mu * v[i]
			}
		}
		curve := floats.Dot(v, hv)
		if !(curve > 0) {
			return true
		}
		floats.AddScaled(s.step, rz/curve, v)
		floats.AddScaled(s.r, -rz/curve, hv)
		precondition(z, s.r)
		next := floats.Dot(s.r, z)
		for i := range v {
			v[i] = z[i] + next/rz*v[i]
		}
		rz = next
	}
	return floats.Norm(s.r, 2) <= s.tol
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
