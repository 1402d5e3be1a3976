package ssikdr

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/pkg/learners"
	"metriclab/pkg/spectral"
)

// method is how the dual is ascended. The zero value is what the fits use.
type method struct {
	plain bool // steps of one length, without acceleration
	dense bool // all eigenpairs in each step
	seen  func(p *point)
	least func(ctx context.Context) ([]float64, error) // of rays
}

// curvature returns the largest eigenvalue of D^(−½)·H·D^(−½), where H = AAᵀ + diag(ρ) bounds the second derivatives of h, A is the map from X to
// tr(CᵢK₀^½XK₀^½), and D = diag(curve).
func (q *problem) curvature() float64 {
	n := len(q.b)
	start := make([]float64, n)
	floats.AddConst(1, start)
	lambda := make([]float64, n)
	found := spectral.Largest(spectral.Func{N: n, Mul: func(dst, x []float64) {
		for i, v := range x {
			lambda[i] = v / math.Sqrt(q.curve[i])
		}
		k := matrix.Mul(q.k0, q.laplacian(lambda).columns(q.k0)) // K₀MK₀
		trace := mat.Trace(k)
		for i, ts := range q.terms {
			s := q.trace[i]*trace + q.rho[i]*lambda[i]
			for _, t := range ts {
				at := q.pairs[t.pair]
				s += t.weight * (k.At(at.i, at.i) - k.At(at.i, at.j) - k.At(at.j, at.i) + k.At(at.j, at.j))
			}
			dst[i] = s / math.Sqrt(q.curve[i])
		}
	}}, 1, spectral.Options{Start: start, Tol: 1e-2})
	if found.Values[0] <= 0 { // no constraint reaches any W
		return 1
	}
	return 1.02 * found.Values[0] // 1.02: a Ritz value is at most the eigenvalue
}

// Factors of the step length.
const (
	// caution is how many times the curvature seen along the last step a step allows for.
	caution = 2
	// boldness is how fast the allowance shrinks while less curvature is seen.
	boldness = 0.9
	// softShare and hardShare are the least allowances, as shares of the curvature of all directions. Where the dual is linear, it grows by long steps only; without
	// slack it may be linear without end, and long steps would swing about the ray along which it is (see rays).
	softShare, hardShare = 1e-6, 1e-3
)

// stepper chooses the lengths of steps.
type stepper struct {
	q            *problem
	whole, local float64 // curvature: of all directions, and that of the next step
	last         *point
}

// at returns the curvature to allow for in the step from p.
func (s *stepper) at(p *point) float64 {
	if s.last != nil {
		up, down := 0.0, 0.0
		for i, v := range p.lambda {
			d := v - s.last.lambda[i]
			up += d * (p.grad[i] - s.last.grad[i])
			down += s.q.curve[i] * d * d
		}
		if down > 0 {
			least := hardShare
			if s.q.soft {
				least = softShare
			}
			seen := caution * up / down
			s.local = min(s.whole, max(seen, boldness*s.local, least*s.whole))
		}
	}
	s.last = p
	return s.local
}

// ascend maximises the dual from λ by accelerated projected gradient steps, which begin anew where a step turns against the gradient. Sources: Beck and
// Teboulle, A fast iterative shrinkage-thresholding algorithm for linear inverse problems, SIAM J. Imaging Sciences 2(1), 2009; O'Donoghue and Candès,
// Adaptive restart for accelerated gradient schemes, Found. Comput. Math. 15, 2015.
//
// The step of constraint i has length 1/(L·curveᵢ). L is twice the curvature seen along the last step. In the second half of the iterations it is the
// largest curvature, with which convergence is a theorem. So it is now and then where constraints may contradict each other (see rays). Eigenpairs are as
// exact as the residual asks for.
func (q *problem) ascend(ctx context.Context, lambda []float64, p Params, how method) (*point, learners.Result, []float64, error) {
	var res learners.Result
	n := len(lambda)
	whole := q.curvature()
	step := &stepper{q: q, whole: whole, local: whole}
	eigen := &eigenpairs{q: q, rng: rand.New(rand.NewPCG(5, 4)), dense: how.dense}
	infeasible := &rays{q: q, next: 50, least: how.least}
	lambda, momentum := slices.Clone(lambda), 1.0
	y := slices.Clone(lambda)
	res.Residual = math.Inf(1)
	for k := 0; ; k++ {
		if err := ctx.Err(); err != nil {
			return nil, res, nil, err
		}
		pt := eigen.at(ctx, y, 0.1*max(p.Tol, min(res.Residual, 0.01)))
		if pt == nil {
			return nil, res, nil, errOverflow
		}
		done := func() bool {
			res.Residual = q.residual(pt)
			gap := math.Abs(q.objective(pt) + pt.h)
			return res.Residual <= p.Tol && gap <= p.Tol*(1+math.Abs(pt.h))
		}
		stop := done()
		if (stop || k == p.MaxIterations) && !pt.exact {
			if pt = eigen.all(y); pt == nil {
				return nil, res, nil, errOverflow
			}
			stop = done()
		}
		res.Iterations = k
		if how.seen != nil {
			how.seen(pt)
		}
		if p.Progress != nil && k > 0 {
			p.Progress(learners.Progress{Iteration: k, Cap: p.MaxIterations, Objective: -pt.h, Residual: res.Residual})
			if err := ctx.Err(); err != nil {
				return nil, res, nil, err
			}
		}
		switch {
		case stop:
			res.Status = learners.Converged
			return pt, res, nil, nil
		case !q.soft:
			proof, err := infeasible.proof(ctx, pt, k)
			if err != nil {
				return nil, res, nil, err
			}
			if proof != nil {
				res.Status = learners.Infeasible
				if !pt.exact {
					if pt = eigen.all(y); pt == nil {
						return nil, res, nil, errOverflow
					}
				}
				return pt, res, proof, nil
			}
		}
		if k == p.MaxIterations {
			res.Status = learners.IterationCap
			return pt, res, nil, nil
		}
		length := whole
		if !how.plain && k <= p.MaxIterations/2 && (q.soft || !infeasible.steady) {
			length = step.at(pt)
		}
		next := make([]float64, n)
		for i, v := range y {
			next[i] = v - pt.grad[i]/(length*q.curve[i])
		}
		q.clip(next)
		turn := 0.0
		for i, v := range next {
			turn += q.curve[i] * (y[i] - v) * (v - lambda[i])
		}
		y = make([]float64, n)
		if how.plain || turn > 0 {
			momentum = 1
			copy(y, next)
		} else {
			was := momentum
			momentum = (1 + math.Sqrt(1+4*was*was)) / 2
			for i, v := range next {
				y[i] = v + (was-1)/momentum*(v-lambda[i])
			}
			q.clip(y)
		}
		lambda = next
	}
}

// residual returns the largest entry of λ − clip(λ − ∇h), each constraint divided by its size: 0 at the optimum alone.
func (q *problem) residual(p *point) float64 {
	worst := 0.0
	for i, l := range p.lambda {
		s := q.size[i]
		v := min(max(l*s-p.grad[i]/s, q.lo[i]*s), q.hi[i]*s)
		worst = max(worst, math.Abs(l*s-v))
	}
	return worst
}

// violation returns by how much W violates constraint i.
func (q *problem) violation(p *point, i int) float64 {
	s := p.left[i] - q.b[i]
	if q.lo[i] < 0 {
		s = math.Abs(s)
	}
	return max(s, 0)
}

// objective returns τ·tr W + ½‖W‖² and the cost of the slack.
func (q *problem) objective(p *point) float64 {
	v := 0.0
	for _, s := range p.sigma {
		x := s - q.tau
		v += x * (q.tau + x/2)
	}
	if !q.soft {
		return v
	}
	for i := range p.left {
		s := q.violation(p, i)
		if q.rho[i] > 0 {
			v += s * s / (2 * q.rho[i])
		} else {
			v += q.hi[i] * s
		}
	}
	return v
}
