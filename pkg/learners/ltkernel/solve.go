package ltkernel

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/pkg/learners"
)

// After patience steps, or an earlier end with a residual that is not small, a fit without slack looks whether its constraints contradict each other.
const (
	patience = 50
	small    = 1e-4
)

// A fit with slack, of LogDet, that has not ended after easy steps, of at least roomy, goes on from the end of a path (see path).
const (
	easy  = 30
	roomy = 500
)

// solve minimises the dual from λ = 0.
func (d *dual) solve(ctx context.Context, p Params) (*point, learners.Result, Solution, error) {
	var res learners.Result
	var sol Solution
	var failed error
	var done bool
	before := 0 // steps
	told := func(e *dual, pt *point, k int) {
		res.Iterations, res.Residual = before+k, floats.Norm(e.projected(pt), math.Inf(1))
		if p.Progress != nil && k > 0 {
			told := learners.Progress{Iteration: res.Iterations, Cap: p.MaxIterations, Objective: -pt.h, Residual: res.Residual}
			if e != d { // those of a problem on the path, not of the fit's
				told.Objective, told.Residual = math.NaN(), math.NaN()
			}
			p.Progress(told)
		}
	}
	after := func(pt, last *point, k int) bool {
		told(d, pt, k)
		if sol.Certificate = d.certificate(pt, last); sol.Certificate != nil {
			return true
		}
		if done = d.converged(pt, res.Residual, p.Tol); done {
			return true
		}
		if k == patience && !d.soft {
			sol.Certificate, failed = d.least(ctx)
		}
		return sol.Certificate != nil || failed != nil
	}
	most := p.MaxIterations
	if c, _, _ := d.phi.conjugate(1); d.soft && most >= roomy && math.IsInf(c, 1) {
		most = easy
	}
	pt, err := d.newton(ctx, make([]float64, len(d.b)), most, after)
	if err == nil && !done && res.Iterations == most && most < p.MaxIterations {
		before = most
		var end []float64
		if end, err = d.path(ctx, told); err == nil {
			before = res.Iterations
			if q := d.at(end); !(q.h < pt.h) {
				end = pt.lambda
			}
			pt, err = d.newton(ctx, end, p.MaxIterations-before, after)
		}
	}
	if err == nil {
		err = failed
	}
	if err == nil && sol.Certificate == nil && !d.soft && res.Iterations < patience && res.Residual > max(p.Tol, small) {
		sol.Certificate, err = d.least(ctx)
	}
	if err != nil {
		return nil, res, sol, fmt.Errorf("ltkernel: %w", err)
	}
	switch {
	case sol.Certificate != nil:
		res.Status = learners.Infeasible
	case done:
		res.Status = learners.Converged
	case res.Iterations == p.MaxIterations:
		res.Status = learners.IterationCap
	default:
		res.Status = learners.NoProgress
	}
	size := 0.0 // of y and x, which have round-off relative to it
	for i, x := range pt.x {
		size = max(size, x, math.Abs(pt.y[i]))
	}
	for _, x := range pt.x {
		if x > float64(len(pt.x))*0x1p-52*size {
			sol.Rank++
		}
	}
	for i, l := range pt.lambda {
		if d.violation(pt, i) > p.Tol {
			sol.Violated = append(sol.Violated, i)
		}
		sol.Multipliers = append(sol.Multipliers, l/d.sigma[i])
		sol.Sides = append(sol.Sides, d.sign[i]*d.sigma[i]*pt.left[i]+d.shift[i])
		if sol.Certificate != nil {
			sol.Certificate[i] /= d.sigma[i]
		}
	}
	sol.Objective = d.cost(pt)
	sol.Gap = sol.Objective + pt.h
	return pt, res, sol, nil
}

// path returns multipliers near the minimum of h. It minimises
//
//	τ·Σφ*(eigenvalues of Y) + bᵀλ + ½Σρᵢλᵢ²,  τ = 10,000, 3,333, … > 1,
//
// each roughly, by at most 50 steps from the last one: an interior-point method, as φ* of LogDet is infinite from y = 1 on. Where the constraints
// cost much more than Φ, steps for τ = 1 would be many and short, as Y is then near that edge. told is called with each step, numbered through.
func (d *dual) path(ctx context.Context, told func(e *dual, pt *point, step int)) ([]float64, error) {
	const roughly, steps = 1e-2, 50
	lambda, before := make([]float64, len(d.b)), 0
	for tau := 1e4; tau > 1; tau /= 3 {
		e := *d
		e.b, e.rho = make([]float64, len(d.b)), make([]float64, len(d.b))
		floats.ScaleTo(e.b, 1/tau, d.b) // h/τ
		floats.ScaleTo(e.rho, 1/tau, d.rho)
		last := 0
		pt, err := e.newton(ctx, lambda, steps, func(pt, _ *point, k int) bool {
			last = k
			told(&e, pt, before+k)
			return floats.Norm(e.projected(pt), math.Inf(1)) <= roughly
		})
		if err != nil {
			return nil, err
		}
		before += last
		lambda = pt.lambda
	}
	return lambda, nil
}

// multiplied returns B = −Σλᵢcᵢ between the objects of the support.
func (d *dual) multiplied(t int, lambda []float64) *mat.Dense {
	b := mat.NewDense(t, t, nil)
	add := func(i, j int, v float64) { b.Set(i, j, b.At(i, j)+v) }
	weights, trace := d.weights(lambda)
	for k, at := range d.pairs {
		add(at.i, at.i, -weights[k])
		add(at.j, at.j, -weights[k])
		add(at.i, at.j, weights[k])
		add(at.j, at.i, weights[k])
	}
	for i := range t {
		add(i, i, -trace)
	}
	return b
}

// transformation returns S of FitKernel.
func (d *dual) transformation(f *mat.Dense, p *point) *mat.SymDense {
	t, r := f.Dims()
	_, _, c := d.phi.conjugate(0)
	b := d.multiplied(t, p.lambda)
	half := matrix.Mul(matrix.Mul(b, f), p.q) // BFQ
	scaled := mat.NewDense(t, r, nil)
	for i := range t {
		for j, v := range half.RawRowView(i) {
			scaled.RawRowView(i)[j] = v * d.phi.second(p.y[j])
		}
	}
	out := matrix.Mul(scaled, half.T())
	sym := matrix.Symmetric(out)
	for i := range t {
		for j := i; j < t; j++ {
			sym.SetSym(i, j, sym.At(i, j)+c*b.At(i, j))
		}
	}
	return sym
}

// root returns L with W = LᵀL for the rows of x. f is x itself, or a factor of xxᵀ if x has more columns than rows.
func (d *dual) root(x, f *mat.Dense, p *point) *mat.Dense {
	if f == x {
		r := len(p.x)
		l := mat.NewDense(r, r, nil)
		for i, v := range p.x {
			for j := range r {
				l.Set(i, j, math.Sqrt(v)*p.q.At(j, i))
			}
		}
		return l
	}
	// Y has the eigenvectors u = v/y, v = xᵀBFq, in the space of x. The root is √α·I + Σ(√x − √α)·uuᵀ.
	t, dim := x.Dims()
	b := d.multiplied(t, p.lambda)
	half := matrix.Mul(matrix.Mul(b, f), p.q)
	v := matrix.Mul(half.T(), x)
	alpha := math.Sqrt(d.phi.alpha)
	var at []int
	for k, y := range p.y {
		if y != 0 && p.x[k] != d.phi.alpha {
			at = append(at, k)
			floats.Scale(1/y, v.RawRowView(k))
		}
	}
	if alpha == 0 {
		l := mat.NewDense(max(len(at), 1), dim, nil)
		for i, k := range at {
			floats.ScaleTo(l.RawRowView(i), math.Sqrt(p.x[k]), v.RawRowView(k))
		}
		return l
	}
	weights := make([]float64, len(p.x))
	for _, k := range at {
		weights[k] = math.Sqrt(p.x[k]) - alpha
	}
	l := d.weighted(v, weights)
	for i := range dim {
		l.Set(i, i, l.At(i, i)+alpha)
	}
	return l
}
