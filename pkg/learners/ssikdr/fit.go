package ssikdr

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/internal/matrix"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/ltkernel"
	"metriclab/pkg/limits"
)

// FitGram learns W of low rank from the Gram matrix K₀ = ΦᵀΦ of objects, n×n, and linear constraints on the learned kernel K = ΦᵀWΦ,
//
//	min over W ⪰ 0 of τ·tr W + ½‖W‖² + slack  subject to tr(CᵢK) ≤, ≥ or = bᵢ.
//
// Source: Jain, Kulis, Davis, Dhillon, Metric and Kernel Learning Using a Linear Transformation, JMLR 13, 2012, Section 5.4, Eq. 26. The ½ is that
// of the paper's update (27). With SlackHard all constraints hold. Otherwise violations sᵢ ≥ 0 cost C·Σsᵢ or (C/2)·Σsᵢ².
//
// FitGram maximises the dual,
//
//	−½‖max(Y − τI, 0)‖² − bᵀλ − (Σλ²/(2C) with SlackL2),  Y = −K₀^½(ΣλᵢCᵢ)K₀^½,  W ≅ max(Y − τI, 0),
//
// by accelerated ascent. Here ≥ counts as ≤ with signs changed; λ ≥ 0 but for equations, and |λ| ≤ C with SlackL1. A step costs O(mk) for m
// constraints, and the k eigenpairs of Y above τ. These follow from the last step by products with K₀, O(n²k), or from a decomposition, O(n³), where k
// is large or n small. Objects that no constraint joins are left out, which changes nothing.
//
// It stops if no entry of λ − clip(λ − ∇h) is larger than Tol, each constraint divided by its size under K₀, and the duality gap is at most
// Tol·(1 + |dual|). The status is learners.Infeasible if the constraints contradict each other. Then Certificate proves it, and W is no answer.
//
// It returns an error if there is no constraint, or if one is malformed. So it does if K₀ between the objects of the constraints has an entry NaN or
// infinite, or is not positive semi-definite, which wraps metric.ErrNotPSD (see kernels.CheckGram). A parameter out of range, numbers that overflow, more than
// limits.Memory and ctx done are errors, too. It panics if k0 is nil or empty.
//
// The same on a page, without speed: [metriclab/pkg/learners/plain.SSIKDR].
func FitGram(ctx context.Context, k0 mat.Symmetric, constraints []ltkernel.Constraint, p Params) (Result, error) {
	out, err := fitPath(ctx, "FitGram", k0, constraints, []float64{p.Tau}, p)
	if err != nil {
		return Result{}, err
	}
	return out[0], nil
}

// Path is FitGram for each τ of taus in turn, whatever p.Tau. Each fit begins with the multipliers of the one before. Rank of each result is the rank
// at its τ: a view of rank against τ needs no more. MaxIterations holds for each τ, and Progress is told of all.
//
// Errors and panics are those of FitGram. Path returns an error, too, if taus is empty or a τ is negative, NaN or infinite.
func Path(ctx context.Context, k0 mat.Symmetric, constraints []ltkernel.Constraint, taus []float64, p Params) ([]Result, error) {
	if len(taus) == 0 {
		return nil, errors.New("ssikdr: taus: none given, want at least one")
	}
	return fitPath(ctx, "Path", k0, constraints, taus, p)
}

func fitPath(ctx context.Context, name string, k0 mat.Symmetric, constraints []ltkernel.Constraint, taus []float64, p Params) ([]Result, error) {
	p = p.Resolved()
	for _, tau := range taus {
		p.Tau = tau
		if err := p.check(); err != nil {
			return nil, err
		}
	}
	support, block, err := prepare(name, k0, constraints)
	if err != nil {
		return nil, err
	}
	t := len(support)
	if !abandon.Long(len(constraints)+t, t, t) {
		return path(ctx, block, support, constraints, taus, p, method{})
	}
	constraints, taus = cloned(constraints), slices.Clone(taus)
	return abandon.Run(ctx, "ssikdr", p.Progress, func(ctx context.Context, progress func(learners.Progress)) ([]Result, error) {
		p.Progress = progress
		return path(ctx, block, support, constraints, taus, p, method{})
	})
}

func path(ctx context.Context, block *mat.SymDense, support []int, constraints []ltkernel.Constraint, taus []float64, p Params, how method) ([]Result, error) {
	if err := kernels.CheckGram(block); err != nil {
		return nil, fmt.Errorf("ssikdr: k0: %w", err)
	}
	q, err := newProblem(block, support, constraints, p.Slack, p.C)
	if err != nil {
		return nil, fmt.Errorf("ssikdr: %w", err)
	}
	how.least = func(ctx context.Context) ([]float64, error) {
		inner := within(support, constraints)
		for i := range inner {
			inner[i].Bound /= q.unit
		}
		return ltkernel.Contradiction(ctx, block, inner)
	}
	var out []Result
	told := p.Progress
	lambda := make([]float64, len(constraints))
	for i, tau := range taus {
		q.tau = tau
		if told != nil && len(taus) > 1 {
			p.Progress = func(s learners.Progress) {
				s.Iteration, s.Cap = s.Iteration+i*p.MaxIterations, len(taus)*p.MaxIterations
				told(s)
			}
		}
		pt, res, proof, err := q.ascend(ctx, lambda, p, how)
		if err != nil {
			return nil, fmt.Errorf("ssikdr: %w", err)
		}
		out = append(out, q.result(pt, res, proof, support, p.Tol))
		if proof == nil {
			lambda = pt.lambda
		}
	}
	return out, nil
}

// prepare checks constraints and returns the objects that they join, and K₀ of these, if there is room for a fit.
func prepare(name string, k0 mat.Symmetric, constraints []ltkernel.Constraint) ([]int, *mat.SymDense, error) {
	if matrix.IsNil(k0) || k0.SymmetricDim() == 0 {
		panic("ssikdr: " + name + ": k0 is nil or empty")
	}
	support, err := ltkernel.Support(k0.SymmetricDim(), constraints)
	if err != nil {
		return nil, nil, fmt.Errorf("ssikdr: %w", err)
	}
	t := len(support)
	// K₀ three times, F, Y, eigenvectors and what their decomposition takes
	if err := limits.Check(fmt.Sprintf("a fit to %d constraints on %d objects", len(constraints), t), limits.Floats(10, t, t)); err != nil {
		return nil, nil, fmt.Errorf("ssikdr: %w", err)
	}
	block := mat.NewSymDense(t, nil)
	for a, i := range support {
		for b := a; b < t; b++ {
			block.SetSym(a, b, k0.At(i, support[b]))
		}
	}
	return support, block, nil
}

// cloned returns a deep copy.
func cloned(constraints []ltkernel.Constraint) []ltkernel.Constraint {
	out := slices.Clone(constraints)
	for i, c := range out {
		out[i].Dists = slices.Clone(c.Dists)
	}
	return out
}

// within returns the constraints with the places of objects in the support in place of their numbers.
func within(support []int, constraints []ltkernel.Constraint) []ltkernel.Constraint {
	out := cloned(constraints)
	for i := range out {
		for j, t := range out[i].Dists {
			out[i].Dists[j].I, _ = slices.BinarySearch(support, t.I)
			out[i].Dists[j].J, _ = slices.BinarySearch(support, t.J)
		}
	}
	return out
}

// result is the answer at p, whose eigenpairs are exact.
func (q *problem) result(p *point, res learners.Result, proof []float64, support []int, tol float64) Result {
	out := Result{Result: res, Support: support}
	out.Rank = len(p.sigma)
	if out.Rank > 0 {
		out.G = q.coefficients(p)
		for i, s := range p.sigma {
			out.Values = append(out.Values, s-q.tau)
			row := out.G.RawRowView(i)
			floats.Scale(math.Copysign(math.Sqrt(s-q.tau)/math.Sqrt(q.unit), row[largest(row)]), row)
		}
	}
	out.Objective = q.objective(p)
	out.Gap = out.Objective + p.h
	for i, l := range p.lambda {
		if q.violation(p, i) > tol*q.size[i] {
			out.Violated = append(out.Violated, i)
		}
		out.Multipliers = append(out.Multipliers, l/q.unit)
		out.Sides = append(out.Sides, q.sign[i]*p.left[i]*q.unit)
	}
	if proof != nil {
		floats.Scale(1/floats.Norm(proof, math.Inf(1)), proof)
		out.Certificate = proof
	}
	return out
}

// coefficients returns v of each direction u = K₀^½v, or the v of least length where p.v is ten times longer. Where K₀ is singular, and constraints with large multipliers
// cancel in its range, the parts of p.v that K₀ maps to 0 would leave nothing but round-off.
func (q *problem) coefficients(p *point) *mat.Dense {
	out := mat.DenseCopyOf(p.v)
	t, r := q.f.Dims()
	if r == t {
		return out
	}
	across := q.across()
	u := matrix.Mul(p.t, q.f) // uFᵀF
	k, _ := u.Dims()
	for i := range k {
		floats.Div(u.RawRowView(i), across)
		floats.Div(u.RawRowView(i), across)
	}
	least := matrix.Mul(u, q.f.T())
	for i := range k {
		if row := least.RawRowView(i); 10*floats.Norm(row, 2) < floats.Norm(out.RawRowView(i), 2) {
			out.SetRow(i, row)
		}
	}
	return out
}

// across returns the diagonal of FᵀF, which is diagonal.
func (q *problem) across() []float64 {
	t, r := q.f.Dims()
	out := make([]float64, r)
	for i := range t {
		for j, v := range q.f.RawRowView(i) {
			out[j] += v * v
		}
	}
	return out
}

// largest returns the index of the entry of the largest magnitude, the first of equals.
func largest(x []float64) int {
	at := 0
	for i, v := range x {
		if math.Abs(v) > math.Abs(x[at]) {
			at = i
		}
	}
	return at
}

// Leading returns r with the leading directions of W alone, at most dims, and with the Objective, Gap, Sides and Violated of that W. The other fields
// are those of the fit, whose k0, constraints and p it takes; p.Tau is the τ of r. Its errors are those of FitGram. It panics if dims < 1 or there are not as
// many constraints as multipliers.
func (r Result) Leading(k0 mat.Symmetric, constraints []ltkernel.Constraint, dims int, p Params) (Result, error) {
	if dims < 1 || len(constraints) != len(r.Multipliers) {
		panic("ssikdr: Leading: no direction, or other constraints")
	}
	if r.Rank <= dims {
		return r, nil
	}
	p = p.Resolved()
	support, block, err := prepare("Leading", k0, constraints)
	if err != nil {
		return Result{}, err
	}
	q, err := newProblem(block, support, constraints, p.Slack, p.C)
	if err != nil {
		return Result{}, fmt.Errorf("ssikdr: %w", err)
	}
	q.tau = p.Tau
	pt := &point{lambda: make([]float64, len(q.b)), h: r.Gap - r.Objective}
	pt.v = r.Coordinates(dims).G
	for i, x := range r.Values[:dims] {
		pt.sigma = append(pt.sigma, x+q.tau)
		floats.Scale(math.Sqrt(q.unit)/math.Sqrt(x), pt.v.RawRowView(i))
	}
	pt.t = matrix.Mul(pt.v, q.k0)
	pt.left = q.sides(q.embedding(pt))
	for i, l := range r.Multipliers {
		pt.lambda[i] = l * q.unit
	}
	return q.result(pt, r.Result, r.Certificate, support, p.Tol), nil
}

// MaxTau returns the least τ at which W = 0 solves the problem of FitGram, where a path of ranks ends. It is the largest eigenvalue of Y for the
// multipliers of W = 0. It is +Inf if a hard constraint forbids W = 0, and 0 if W = 0 is best at every τ.
//
// Errors and panics are those of FitGram.
func MaxTau(ctx context.Context, k0 mat.Symmetric, constraints []ltkernel.Constraint, p Params) (float64, error) {
	p = p.Resolved()
	if err := p.check(); err != nil {
		return 0, err
	}
	support, block, err := prepare("MaxTau", k0, constraints)
	if err != nil {
		return 0, err
	}
	t := len(support)
	constraints = cloned(constraints)
	work := func(context.Context) (float64, error) {
		if err := kernels.CheckGram(block); err != nil {
			return 0, fmt.Errorf("ssikdr: k0: %w", err)
		}
		q, err := newProblem(block, support, constraints, p.Slack, p.C)
		if err != nil {
			return 0, fmt.Errorf("ssikdr: %w", err)
		}
		lambda := make([]float64, len(q.b))
		for i, b := range q.b {
			violated := b < 0 || b > 0 && q.lo[i] < 0
			switch {
			case !violated:
			case !q.soft:
				return math.Inf(1), nil
			case q.rho[i] > 0:
				lambda[i] = -b / q.rho[i]
			default:
				lambda[i] = math.Copysign(q.hi[i], -b)
			}
		}
		pt := q.all(lambda)
		if pt == nil {
			return 0, fmt.Errorf("ssikdr: %w", errOverflow)
		}
		return max(pt.top, 0), nil
	}
	if !abandon.Long(t, t, t) {
		return work(ctx)
	}
	return abandon.Do(ctx, "ssikdr", work)
}
