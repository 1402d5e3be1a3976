package ssikdr

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"metriclab/internal/abandon"
	"metriclab/internal/matrix"
	"metriclab/internal/ranges"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/ltkernel"
	"metriclab/pkg/limits"
	"metriclab/pkg/spectral"
)

// RankParams are the parameters of FitRank.
type RankParams struct {
	// Tau, Slack and C are those of Params.
	Tau   float64 `range:">= 0"`
	Slack ltkernel.SlackRule
	C     float64 `range:"> 0"`
	// Starts is the number of random starts, at least 1; 0 means 10.
	Starts int `range:">= 1" needs:"method=direct" doc:"random starts, of which the one of least objective counts"`
	// Tol is the tolerance of the stopping rule, > 0; 0 means 1e-5.
	Tol float64 `range:"> 0"`
	// MaxIterations is the cap on steps from one start, at least 1; 0 means 2,000.
	MaxIterations int `range:">= 1"`
	// Progress, if not nil, is told of the steps.
	Progress func(learners.Progress)
}

// Resolved returns p with its defaults filled in.
func (p RankParams) Resolved() RankParams {
	p.C = cmp.Or(p.C, 1)
	p.Starts = cmp.Or(p.Starts, 10)
	p.Tol = cmp.Or(p.Tol, 1e-5)
	p.MaxIterations = cmp.Or(p.MaxIterations, 2000)
	return p
}

func (p RankParams) check(rank int) error {
	if err := checkSlack(p.Slack); err != nil {
		return err
	}
	if rank < 1 {
		return fmt.Errorf("ssikdr: rank: %d is not allowed, want at least 1", rank)
	}
	return ranges.Check("ssikdr", p)
}

// FitRank learns a W = BBᵀ of at most the given rank from the Gram matrix of objects: the problem of FitGram over B,
//
//	min over B of τ·‖B‖² + ½‖BᵀB‖² + slack  subject to tr(CᵢK) ≤, ≥ or = bᵢ,  K = ΦᵀBBᵀΦ.
//
// The problem is not convex. The answer is the best local minimum that L-BFGS finds from random starts, which are all that rng is for. Source: Burer and
// Monteiro, A nonlinear programming algorithm for solving semidefinite programs via low-rank factorization, Math. Programming B 95, 2003. Hard constraints
// and SlackL1 enter by the method of multipliers. A gradient costs O(n²·rank + m·rank).
//
// The Result is that of the best start. With slack, Gap bounds how far Objective is above that of the best W of any rank.
//
// A start has converged if two residuals are at most Tol: that of FitGram, for the multipliers and B, and the gradient relative to the size of its
// terms. Objective, Sides and Violated are those of the W that is returned. Without slack there may be no W of this rank; then the status is not
// learners.Converged, and Violated tells.
//
// Errors are those of FitGram, and a rank below 1. It panics if rng is nil, or k0 is nil or empty.
func FitRank(ctx context.Context, rng *rand.Rand, k0 mat.Symmetric, constraints []ltkernel.Constraint, rank int, p RankParams) (Result, error) {
	if rng == nil {
		panic("ssikdr: FitRank: rng is nil")
	}
	p = p.Resolved()
	if err := p.check(rank); err != nil {
		return Result{}, err
	}
	support, block, err := prepare("FitRank", k0, constraints)
	if err != nil {
		return Result{}, err
	}
	t := len(support)
	rank = min(rank, t)
	if err := limits.Check(fmt.Sprintf("a fit of rank %d to %d objects", rank, t), limits.Floats(40, rank, t)); err != nil {
		return Result{}, fmt.Errorf("ssikdr: %w", err)
	}
	if err := limits.Check(fmt.Sprintf("%d starts", p.Starts), limits.Floats(2, p.Starts)); err != nil {
		return Result{}, fmt.Errorf("ssikdr: %w", err)
	}
	seed := rand.New(rand.NewPCG(rng.Uint64(), rng.Uint64())) // one that nobody else draws from
	if !abandon.Long(len(constraints)+t, t, t) {
		return fitRank(ctx, seed, block, support, constraints, rank, p)
	}
	constraints = cloned(constraints)
	return abandon.Run(ctx, "ssikdr", p.Progress, func(ctx context.Context, progress func(learners.Progress)) (Result, error) {
		p.Progress = progress
		return fitRank(ctx, seed, block, support, constraints, rank, p)
	})
}

func fitRank(ctx context.Context, rng *rand.Rand, block *mat.SymDense, support []int, constraints []ltkernel.Constraint, rank int, p RankParams) (Result, error) {
	if err := kernels.CheckGram(block); err != nil {
		return Result{}, fmt.Errorf("ssikdr: k0: %w", err)
	}
	q, err := newProblem(block, support, constraints, p.Slack, p.C)
	if err != nil {
		return Result{}, fmt.Errorf("ssikdr: %w", err)
	}
	q.tau = p.Tau
	_, r := q.f.Dims()
	rank = min(rank, r)
	var objectives []float64
	var best *point
	var ended learners.Result
	which := 0
	fewest := 0
	for start := range p.Starts {
		f := &factored{q: q, rank: rank, order: r, lambda: make([]float64, len(q.b))}
		pt, res, err := f.minimise(ctx, f.start(rng), start, p)
		if err != nil {
			return Result{}, fmt.Errorf("ssikdr: %w", err)
		}
		objective, violated := q.objective(pt), 0
		if !q.soft {
			for i := range q.b {
				if q.violation(pt, i) > 10*p.Tol*q.size[i] {
					violated++
				}
			}
		}
		objectives = append(objectives, objective)
		if best == nil || violated < fewest || violated == fewest && objective < objectives[which] {
			best, fewest, which, ended = pt, violated, start, res
		}
	}
	bound := q.all(best.lambda) // the dual is a bound for every rank
	if bound == nil {
		return Result{}, fmt.Errorf("ssikdr: %w", errOverflow)
	}
	best.h = bound.h
	out := q.result(best, ended, nil, support, 10*p.Tol)
	out.Objectives, out.Best = objectives, which
	return out, nil
}

// factored is the problem over B, order×rank, with the multipliers of the constraints.
type factored struct {
	q           *problem
	rank, order int
	lambda      []float64 // of the last outer iteration
	beta        float64   // penalty of a violation, each constraint divided by its size
	mu          []float64 // multipliers at the last B
	gradient    []float64
	value       float64
	at          []float64 // that B, row by row
	told        int       // the last iteration that Progress was told of
}

// start draws a B of which the mean squared distance is the mean bound, B = FᵀH for random H.
func (f *factored) start(rng *rand.Rand) []float64 {
	h := mat.NewDense(f.q.objects(), f.rank, nil)
	for i := range f.q.objects() {
		row := h.RawRowView(i)
		for j := range row {
			row[j] = rng.NormFloat64()
		}
	}
	b := matrix.Mul(f.q.f.T(), h).RawMatrix().Data
	left := f.q.sides(f.rows(b))
	is, wanted := 0.0, 0.0
	for i, v := range left {
		is += math.Abs(v) / f.q.size[i]
		wanted += math.Abs(f.q.b[i]) / f.q.size[i]
	}
	if scale := math.Sqrt(wanted / is); scale > 0 && !math.IsInf(scale, 0) {
		floats.Scale(scale, b)
	}
	return b
}

// rows returns the coordinates of the objects, transposed, rank×t.
func (f *factored) rows(b []float64) *mat.Dense {
	return mat.DenseCopyOf(matrix.Mul(f.q.f, mat.NewDense(f.order, f.rank, b)).T())
}

// evaluate sets value, gradient and multipliers at b: of the augmented Lagrangian
//
//	τ‖B‖² + ½‖BᵀB‖² + Σ max over lo ≤ μ ≤ hi of μ(aᵢ − bᵢ) − ½ρᵢμ² − (μ − λᵢ)²/(2βᵢ),  βᵢ = β/sizeᵢ²,
//
// whose last term is absent where ρ > 0.
func (f *factored) evaluate(b []float64) {
	if f.at != nil && floats.Equal(f.at, b) {
		return
	}
	f.at = append(f.at[:0], b...)
	q := f.q
	e := f.rows(b)
	left := q.sides(e)
	f.mu = make([]float64, len(left))
	bd := mat.NewDense(f.order, f.rank, b)
	gram := matrix.Mul(bd.T(), bd)
	f.value = q.tau*mat.Trace(gram) + floats.Dot(gram.RawMatrix().Data, gram.RawMatrix().Data)/2
	for i, a := range left {
		v := a - q.b[i]
		inverse := 0.0 // 1/βᵢ
		if q.rho[i] == 0 {
			inverse = q.size[i] * q.size[i] / f.beta
		}
		mu := min(max((v+f.lambda[i]*inverse)/(q.rho[i]+inverse), q.lo[i]), q.hi[i])
		d := mu - f.lambda[i]
		f.mu[i] = mu
		f.value += mu*v - q.rho[i]/2*mu*mu - d*d*inverse/2
	}
	// ∇ = 2τB + 2BBᵀB + 2FᵀMFB
	g := matrix.Mul(q.f.T(), q.laplacian(f.mu).rows(e).T())
	var quartic mat.Dense
	quartic.Mul(bd, gram)
	f.gradient = make([]float64, len(b))
	for i := range f.gradient {
		f.gradient[i] = 2 * (q.tau*b[i] + quartic.RawMatrix().Data[i] + g.RawMatrix().Data[i])
	}
}

// The penalty of violations begins at firstPenalty and grows by morePenalty where a round has not made them smaller by lessViolation.
const (
	firstPenalty  = 10
	morePenalty   = 4
	mostPenalty   = 1e6
	lessViolation = 0.25
	mostRounds    = 200
	idleRounds    = 5 // rounds of at most one step after which a start ends
)

// minimise returns the minimum that L-BFGS finds from b, as a point of the dual with its multipliers.
func (f *factored) minimise(ctx context.Context, b []float64, start int, p RankParams) (*point, learners.Result, error) {
	q := f.q
	res := learners.Result{Status: learners.IterationCap, Residual: math.Inf(1)}
	f.beta = firstPenalty
	pr := optimize.Problem{
		Func: func(x []float64) float64 { f.evaluate(x); return f.value },
		Grad: func(grad, x []float64) { f.evaluate(x); copy(grad, f.gradient) },
		Status: func() (optimize.Status, error) {
			if err := ctx.Err(); err != nil {
				return optimize.Failure, err
			}
			return optimize.NotTerminated, nil
		},
	}
	last, idle := math.Inf(1), 0
	for round := 0; round < mostRounds && res.Iterations < p.MaxIterations; round++ {
		steps := 0
		f.evaluate(b)
		threshold := 0.3 * p.Tol * f.unit(b)
		if norm := floats.Norm(f.gradient, math.Inf(1)); norm > threshold {
			found, err := optimize.Minimize(pr, b, &optimize.Settings{
				GradientThreshold: threshold, MajorIterations: p.MaxIterations - res.Iterations, Converger: optimize.NeverTerminate{},
			}, &optimize.LBFGS{})
			if ctx.Err() != nil {
				return nil, res, ctx.Err()
			}
			if found == nil || found.X == nil {
				return nil, res, err
			}
			// Any other error says that round-off hides progress: the point found is the answer of this round.
			steps = found.MajorIterations
			res.Iterations += max(steps, 1)
			if floats.HasNaN(found.X) {
				return nil, res, errOverflow
			}
			b = found.X
		}
		f.at = nil
		f.evaluate(b)
		pt := &point{lambda: f.mu, left: q.sides(f.rows(b)), grad: make([]float64, len(f.mu))}
		for i, mu := range f.mu {
			pt.grad[i] = q.b[i] - pt.left[i] + q.rho[i]*mu
		}
		residual := q.residual(pt)
		res.Residual = max(residual, floats.Norm(f.gradient, math.Inf(1))/f.unit(b))
		if now := start*p.MaxIterations + res.Iterations; p.Progress != nil && now > f.told {
			f.told = now
			p.Progress(learners.Progress{Iteration: now, Cap: p.Starts * p.MaxIterations, Objective: f.value, Residual: res.Residual})
			if err := ctx.Err(); err != nil {
				return nil, res, err
			}
		}
		if res.Residual <= p.Tol {
			res.Status = learners.Converged
			break
		}
		if residual > lessViolation*last {
			f.beta = min(f.beta*morePenalty, mostPenalty)
		}
		if steps > 1 {
			idle = 0
		} else if idle++; idle == idleRounds {
			res.Status = learners.NoProgress
			break
		}
		last = residual
		f.lambda = f.mu
	}
	f.at = nil
	f.evaluate(b)
	pt := f.answer(b)
	if pt == nil {
		return nil, res, errOverflow
	}
	return pt, res, nil
}

// unit is what a gradient is small against: the size of its terms. A B that shrinks to nothing is measured by the size 0.001, W = I having the size 1 in each direction.
func (f *factored) unit(b []float64) float64 {
	n := max(floats.Norm(b, 2), 0.001)
	return n * (f.q.tau + n*n)
}

// answer returns the eigenpairs of W = BBᵀ, as combinations of images with the coefficients V, FᵀV = B, of least length: V = F(FᵀF)⁻¹B, and FᵀF is
// diagonal.
func (f *factored) answer(b []float64) *point {
	q := f.q
	p := &point{lambda: f.mu}
	bd := mat.NewDense(f.order, f.rank, b)
	var eig spectral.EigenSym
	if !eig.Factorize(symmetric(matrix.Mul(bd.T(), bd)), true) {
		return nil
	}
	values := eig.Values(nil)
	k := 0
	for k < f.rank && values[f.rank-1-k] > 1e-12*values[f.rank-1] {
		k++
	}
	if k == 0 {
		return q.finish(p)
	}
	var rotation mat.Dense
	eig.VectorsTo(&rotation)
	u := matrix.Mul(bd, &rotation) // columns √x times eigenvectors of W in the coordinates of F
	across := q.across()
	top := mat.NewDense(k, f.order, nil)
	for i := range k {
		x := values[f.rank-1-i]
		p.sigma = append(p.sigma, x+q.tau)
		mat.Col(top.RawRowView(i), f.rank-1-i, u)
		floats.Scale(1/math.Sqrt(x), top.RawRowView(i))
	}
	p.t = matrix.Mul(top, q.f.T())
	for i := range k {
		floats.Div(top.RawRowView(i), across)
	}
	p.v = matrix.Mul(top, q.f.T())
	return q.finish(p)
}

func (q *problem) objects() int {
	t, _ := q.k0.Dims()
	return t
}
