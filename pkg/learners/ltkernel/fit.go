package ltkernel

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/internal/matrix"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
)

// Fit learns the metric W, d×d, of the rows of x, n×d, that costs least under linear constraints,
//
//	min over W ⪰ 0 of Φ(W) + slack  subject to tr(CᵢK) ≤, ≥ or = bᵢ,  K = XWXᵀ.
//
// Source: Jain, Kulis, Davis, Dhillon, Metric and Kernel Learning Using a Linear Transformation, JMLR 13, 2012,
// Section 4, Eq. 13. slack is 0 with SlackHard, where all constraints hold, or else allows to violate them, by
// sᵢ ≥ 0, at the cost C·Σsᵢ or (C/2)·Σsᵢ².
//
// The dual is to minimise, over λ in a box,
//
//	h(λ) = Σφ*(eigenvalues of Y) + bᵀλ + (Σλ²/(2C) with SlackL2),  Y = −Σλᵢ·XᵀCᵢX,  W = φ*′(Y),
//
// where ≥ counts as ≤ with signs changed, λ ≥ 0 but for equations, and |λ| ≤ C with SlackL1. Fit minimises it by
// the projected Newton method. It stops if no entry of λ − clip(λ − ∇h) is larger than Tol, each constraint
// divided by its size under K₀ = XXᵀ: this residual is 0 at the optimum alone, and without units. The duality gap must be small, too: at most
// Tol, or 1e-8 if that is larger, times 1 + Objective + |bᵀλ|. Its status is learners.NoProgress
// if round-off hides any improvement before that, and learners.Infeasible if the constraints contradict each other; then
// Certificate proves it, and the metric is not an answer. If the steps do not show that, Fit seeks the least violation after 50 of them. A step costs some O((n_pairs + d)·d²).
//
// It returns a *ConstraintError if a constraint is malformed or too large for float64. It returns an error if there is no constraint, a number
// of x is NaN or infinite, a parameter is out of range, or ctx is done. It panics if x is nil or empty.
func Fit(ctx context.Context, x mat.Matrix, constraints []Constraint, p Params) (Result, error) {
	xd := matrix.Given("ltkernel: Fit: x", x)
	n, dim := xd.Dims()
	if err := metric.CheckFinite(xd); err != nil {
		return Result{}, fmt.Errorf("ltkernel: %w", err)
	}
	p = p.Resolved()
	support, err := p.prepare(n, dim, constraints)
	if err != nil {
		return Result{}, err
	}
	t := len(support)
	rows := mat.NewDense(t, dim, nil) // a copy: the caller may change x once ctx is done
	for a, i := range support {
		copy(rows.RawRowView(a), xd.RawRowView(i))
	}
	if !abandon.Long(len(constraints)+t, dim, min(t, dim)) {
		return fitRows(ctx, rows, support, constraints, p)
	}
	constraints = cloned(constraints)
	return abandon.Run(ctx, "ltkernel", p.Progress, func(ctx context.Context, progress func(learners.Progress)) (Result, error) {
		p.Progress = progress
		return fitRows(ctx, rows, support, constraints, p)
	})
}

// fitRows is Fit with the rows of the support.
func fitRows(ctx context.Context, rows *mat.Dense, support []int, constraints []Constraint, p Params) (Result, error) {
	f := rows
	if t, dim := rows.Dims(); dim > t {
		var err error
		if f, err = factor(matrix.Outer(1, rows)); err != nil {
			return Result{}, err
		}
	}
	d, err := newDual(f, support, constraints, p, nil)
	if err != nil {
		return Result{}, err
	}
	pt, res, sol, err := d.solve(ctx, p)
	if err != nil {
		return Result{}, err
	}
	out := Result{Solution: sol}
	out.Result = res
	out.Metric = metric.FromFactor(d.root(rows, f, pt))
	return out, nil
}

// FitKernel is Fit for objects of which only the Gram matrix K₀ is known, n×n and positive semi-definite, also singular:
//
//	min over K of Φ(K₀^(−1/2)·K·K₀^(−1/2)) + slack  subject to tr(CᵢK) ≤, ≥ or = bᵢ,
//
// where K is confined to the range of K₀ if that is singular (Eq. 12). It is Fit in the space of any φ with
// K₀ = ΦᵀΦ: K = ΦᵀWΦ, and
//
//	W = αI + ΦSΦᵀ,  K = αK₀ + K₀SK₀,  k(x, z) = α·κ(x, z) + k(x)ᵀSk(z)
//
// for points never seen (Theorem 4, Eq. 18; see kernels.Learned). S comes from the multipliers without an inverse of K₀: with B = −ΣλᵢCᵢ and
// K₀ = FFᵀ, Y = FᵀBF and x(y) = φ*′(y),
//
//	S = x′(0)·B + BF·g(Y)·FᵀB,  g(y) = (x(y) − α − x′(0)·y)/y².
//
// Objects that no constraint joins are left out, which changes nothing: this is the parameter reduction of
// Section 4.3 with indicators of the constrained objects as J, which is exact. A trace joins all objects.
//
// Errors are those of Fit. So are a K₀ with an entry NaN or infinite and one that is not positive semi-definite, which wraps
// metric.ErrNotPSD (see kernels.CheckGram), both between the objects of the constraints. It panics if k0 is nil or empty.
func FitKernel(ctx context.Context, k0 mat.Symmetric, constraints []Constraint, p Params) (KernelResult, error) {
	if matrix.IsNil(k0) || k0.SymmetricDim() == 0 {
		panic("ltkernel: FitKernel: k0 is nil or empty")
	}
	p = p.Resolved()
	support, err := p.prepare(k0.SymmetricDim(), math.MaxInt, constraints)
	if err != nil {
		return KernelResult{}, err
	}
	t := len(support)
	block := blockOf(k0, support)
	if !abandon.Long(len(constraints)+t, t, t) {
		return fitBlock(ctx, block, support, constraints, p)
	}
	constraints = cloned(constraints)
	return abandon.Run(ctx, "ltkernel", p.Progress, func(ctx context.Context, progress func(learners.Progress)) (KernelResult, error) {
		p.Progress = progress
		return fitBlock(ctx, block, support, constraints, p)
	})
}

// blockOf returns K₀ between the objects of the support.
func blockOf(k0 mat.Symmetric, support []int) *mat.SymDense {
	t := len(support)
	block := mat.NewSymDense(t, nil)
	for a, i := range support {
		for b := a; b < t; b++ {
			block.SetSym(a, b, k0.At(i, support[b]))
		}
	}
	return block
}

// fitBlock is FitKernel with K₀ of the support.
func fitBlock(ctx context.Context, block *mat.SymDense, support []int, constraints []Constraint, p Params) (KernelResult, error) {
	if err := kernels.CheckGram(block); err != nil {
		return KernelResult{}, fmt.Errorf("ltkernel: k0: %w", err)
	}
	f, err := factor(block)
	if err != nil {
		return KernelResult{}, err
	}
	d, err := newDual(f, support, constraints, p, nil)
	if err != nil {
		return KernelResult{}, err
	}
	pt, res, sol, err := d.solve(ctx, p)
	if err != nil {
		return KernelResult{}, err
	}
	return KernelResult{
		Result: res, Solution: sol,
		Learned: kernels.Learned{Alpha: p.Divergence.alpha, Support: support, S: d.transformation(f, pt)},
	}, nil
}

// cloned returns a deep copy.
func cloned(constraints []Constraint) []Constraint {
	out := slices.Clone(constraints)
	for i, c := range out {
		out[i].Dists = slices.Clone(c.Dists)
	}
	return out
}

// prepare checks what a fit with at most width coordinates per object was given, and that there is room for it. It
// returns the objects that the constraints join.
func (p Params) prepare(n, width int, constraints []Constraint) ([]int, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	support, err := Support(n, constraints)
	if err != nil {
		return nil, fmt.Errorf("ltkernel: %w", err)
	}
	t, dists := len(support), 0
	for _, c := range constraints {
		dists += len(c.Dists)
	}
	r := min(t, width)
	order := min(len(constraints), mostOrder) // of an inverse
	// matrices: the block and its eigenvectors; rows of pairs as they are, rotated, kept and weighted; Y, W and the
	// columns of an inverse; the inverse
	need := limits.Floats(3, t, t)
	for _, part := range []int64{limits.Floats(5, dists, r), limits.Floats(10, r, r), limits.Floats(4, order, order)} {
		if need += part; need < 0 {
			need = math.MaxInt64
		}
	}
	if err := limits.Check(fmt.Sprintf("a fit to %d constraints on %d objects", len(constraints), t), need); err != nil {
		return nil, fmt.Errorf("ltkernel: %w", err)
	}
	return support, nil
}
