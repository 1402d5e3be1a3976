package triplets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/internal/matrix"
	"metriclab/internal/ranges"
	"metriclab/pkg/learners"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
)

// ReleasedVersion changes whenever FitReleased gives other numbers for the same input.
const ReleasedVersion = 1

// How FitReleased changes its step.
const (
	releasedFall     = 1e-7 // the cost must fall by more than that
	releasedGrowth   = 1.01
	releasedShrink   = 0.5
	releasedFailures = 5
)

// ReleasedParams are the parameters of FitReleased.
type ReleasedParams struct {
	// Loss is the loss of a triplet; the zero value is GNMDS.
	Loss Loss
	// Weight is λ, the weight of the trace, at least 0 and less than 1; that of the losses is 1 − λ. (1−λ)·Σ l + λ·trace K is
	// a multiple of the objective of FitBatch with τ = λ/(1−λ). With CKL, which has no trace term, only 0 is allowed.
	Weight float64 `range:">= 0 and < 1"`
	// Mu is μ of CKL, greater than 0 and at most MaxStep; 0 means 0.05.
	Mu float64 `range:"> 0 and <= 1e100"`
	// Eta is η at the start, greater than 0 and at most MaxStep; 0 means 1, with CKL 1e-5.
	Eta float64 `range:"> 0 and <= 1e100"`
	// Iterations ≥ 1 is the cap on iterations; 0 means 1000.
	Iterations int `range:">= 1"`
	// Initial is the first kernel, n×n and positive semi-definite up to round-off
	// (metric.PSDTolerance), its entries at most MaxStep in magnitude; it is copied. nil means I.
	Initial mat.Symmetric
	// Each, if not nil, is told after each iteration what FitReleased would return with a cap of so many. The next iteration overwrites Kernel.
	Each func(ReleasedResult)
}

// Resolved returns p with its defaults filled in: Mu = 0.05, Eta = 1 (1e-5 with CKL), Iterations = 1000. Initial and Each stay nil.
func (p ReleasedParams) Resolved() ReleasedParams {
	eta := 1.0
	if p.Loss == CKL {
		eta = 1e-5
	}
	p.Mu = cmp.Or(p.Mu, 0.05)
	p.Eta = cmp.Or(p.Eta, eta)
	p.Iterations = cmp.Or(p.Iterations, 1000)
	return p
}

// check is for resolved parameters.
func (p ReleasedParams) check() error {
	if err := ranges.Check("", p); err != nil {
		return err
	}
	switch {
	case p.Loss < GNMDS || p.Loss > CKL:
		return fmt.Errorf("loss: %d is not allowed, want GNMDS, STE or CKL", int(p.Loss))
	case p.Loss == CKL && p.Weight != 0:
		return fmt.Errorf("weight: %v is not allowed with CKL, want 0", p.Weight)
	}
	return nil
}

// ReleasedResult is what FitReleased returns.
type ReleasedResult struct {
	// Kernel is the K of least cost, n×n and positive semi-definite.
	Kernel *mat.SymDense
	// Result has learners.NoProgress after five failures in a row, else learners.IterationCap; never
	// learners.Converged, since the rule proves nothing. Residual is by how much the last iteration lowered the cost.
	learners.Result
	// Cost is (1−λ)·Σ l + λ·trace K of Kernel.
	Cost float64
}

// FitReleased fits a kernel as the MATLAB programs did with which van der Maaten and Weinberger (Stochastic Triplet
// Embedding, MLSP 2012) released GNMDS, STE and CKL. Heim et al. (SDM 2015, Section 5) ran them as their batch methods. It is
// here to repeat such experiments, and is written from a description of the programs. To learn a kernel, use FitBatch: this
// is no method for the problem that it states. What is wrong with it:
//
//   - The gradient stands on one side of the diagonal only. Of D it has −2 at (A, Near) and +2 at (A, Far), 0 at (Near, A)
//     and (Far, A), +1 at (Near, Near) and −1 at (Far, Far). Its symmetric part is the gradient, but K' is not symmetric.
//   - The general eigendecomposition K' = VΛV⁻¹ has columns that are not orthogonal, and complex ones. With the real parts of both, of
//     vectors of length 1, K ← Σ λᵢvᵢvᵢᵀ over λᵢ > 0 is positive semi-definite, but not the nearest such matrix to K', nor to its symmetric part.
//   - Nothing makes the cost fall. Five iterations in a row in which it does not fall end the fit, wherever it is.
//
// An iteration computes the cost (1−λ)·Σ l + λ·trace K and K' = K − (ηn/m)·G, m the number of triplets and G the gradient of the cost in
// that form, and projects. If the cost was lower by more than 1e-7 than that of the iteration before (the first: than ∞), η grows by
// 1 %, else it is halved and the iteration has failed. Five failures in a row or Iterations end the fit. The kernel is that of least cost
// among those whose cost was computed, so that after one iteration it is the first kernel; Iterations counts computed costs. The last iteration therefore projects nothing. The programs start from a random
// matrix of rank 2, the experiments of Heim et al. from I. The margin of the hinge is 1.
//
// For CKL the derivatives of −log p by d²(A, Near) and d²(A, Far) multiply 1 at (A, A) and at the other object's diagonal, and −2 on the same one side.
//
// A general eigendecomposition takes 10 to 25 times as long as a symmetric one: O(n³), 9 ms at n = 100 and .5 s at n = 400. It
// takes up to 10 matrices of the size n².
//
// FitReleased returns an error if there is no object or no triplet, the matrices do not fit limits.Memory, a triplet fails Check, a parameter is out of
// range, Initial is not as described, the kernel overflows, or an eigendecomposition fails. Once ctx is done, it returns
// that of ctx.
func FitReleased(ctx context.Context, n int, ts []metric.Triplet, p ReleasedParams) (ReleasedResult, error) {
	r, err := fitReleased(ctx, n, ts, p.Resolved())
	if err != nil {
		return ReleasedResult{}, fmt.Errorf("released: %w", err)
	}
	return r, nil
}

func fitReleased(ctx context.Context, n int, ts []metric.Triplet, p ReleasedParams) (ReleasedResult, error) {
	if err := p.check(); err != nil {
		return ReleasedResult{}, err
	}
	if n < 1 {
		return ReleasedResult{}, fmt.Errorf("n: %d is not allowed, want at least 1 object", n)
	}
	if err := limits.Check(fmt.Sprintf("a released fit with %d objects", n), limits.Floats(10, n, n)); err != nil {
		return ReleasedResult{}, fmt.Errorf("n: %w", err)
	}
	if len(ts) == 0 {
		return ReleasedResult{}, errors.New("triplets: none given, want at least one")
	}
	for i, t := range ts {
		if err := Check(n, t); err != nil {
			return ReleasedResult{}, fmt.Errorf("triplet %d: %w", i, err)
		}
	}
	f := &releasedFit{n: n, ts: ts, p: p, loss: batchLoss{loss: p.Loss, margin: 1, mu: p.Mu}, next: mat.NewDense(n, n, nil), eigen: newReleasedEigen(n)}
	f.k = mat.NewSymDense(n, nil)
	for i := range n {
		f.k.SetSym(i, i, 1)
	}
	if !matrix.IsNil(p.Initial) {
		if err := checkBatchInitial(n, p.Initial); err != nil {
			return ReleasedResult{}, fmt.Errorf("initial: %w", err)
		}
		f.k.CopySym(p.Initial)
	}
	if !abandon.Long(n, n, n) {
		return f.run(ctx)
	}
	f.ts = slices.Clone(ts)
	return abandon.Run(ctx, "fit", p.Each, func(ctx context.Context, each func(ReleasedResult)) (ReleasedResult, error) {
		f.p.Each = each
		return f.run(ctx)
	})
}

// releasedFit is the state of a fit.
type releasedFit struct {
	n         int
	ts        []metric.Triplet
	p         ReleasedParams
	loss      batchLoss
	k         *mat.SymDense
	next      *mat.Dense // K'
	eigen     *releasedEigen
	near, far []float64
	wn, wf    []float64
}

func (f *releasedFit) run(ctx context.Context) (ReleasedResult, error) {
	m := len(f.ts)
	f.near, f.far, f.wn, f.wf = make([]float64, m), make([]float64, m), make([]float64, m), make([]float64, m)
	eta, before, failures := f.p.Eta, math.Inf(1), 0
	best := ReleasedResult{Kernel: mat.NewSymDense(f.n, nil), Cost: math.Inf(1)}
	best.Status = learners.IterationCap
	for best.Iterations < f.p.Iterations {
		if err := ctx.Err(); err != nil {
			return ReleasedResult{}, err
		}
		best.Iterations++
		cost := f.cost()
		if math.IsNaN(cost) || math.IsInf(cost, 0) {
			return ReleasedResult{}, errors.New("the cost overflows: shorten the step, or rescale the initial kernel")
		}
		if cost < best.Cost {
			best.Cost = cost
			best.Kernel.CopySym(f.k)
		}
		best.Residual = before - cost
		if before-cost > releasedFall {
			failures = 0
		} else {
			failures++
		}
		if failures == releasedFailures {
			best.Status = learners.NoProgress
		}
		if f.p.Each != nil {
			f.p.Each(best.told())
		}
		if best.Status == learners.NoProgress || best.Iterations == f.p.Iterations {
			break
		}
		if err := f.step(eta); err != nil {
			return ReleasedResult{}, err
		}
		if failures == 0 {
			eta = min(eta*releasedGrowth, MaxStep)
		} else {
			eta *= releasedShrink
		}
		before = cost
	}
	return best.told(), ctx.Err()
}

// told returns r with a residual of 0 after a single iteration.
func (r ReleasedResult) told() ReleasedResult {
	if math.IsInf(r.Residual, 0) {
		r.Residual = 0
	}
	return r
}

// cost returns the cost of k, and sets wn and wf to the derivatives of the losses.
func (f *releasedFit) cost() float64 {
	for i, t := range f.ts {
		f.near[i], f.far[i] = sqDist(f.k, t.A, t.Near), sqDist(f.k, t.A, t.Far)
	}
	return (1-f.p.Weight)*f.loss.smooth(f.near, f.far, f.wn, f.wf) + f.p.Weight*mat.Trace(f.k)
}

// step replaces k by the projection, so called, of K − (ηn/m)·G, with the derivatives that cost has set.
func (f *releasedFit) step(eta float64) error {
	s := eta * float64(f.n) / float64(len(f.ts))
	releasedDescend(f.next, f.k, f.ts, f.wn, f.wf, s*(1-f.p.Weight), s*f.p.Weight)
	return f.eigen.project(f.k, f.next)
}

// releasedDescend sets next to K − s·G − trace·I, where G is the one-sided gradient of the sum of the losses with the
// derivatives wn and wf by the squared distances.
func releasedDescend(next *mat.Dense, k mat.Symmetric, ts []metric.Triplet, wn, wf []float64, s, trace float64) {
	next.Copy(k)
	inc := func(i, j int, v float64) { next.Set(i, j, next.At(i, j)-s*v) }
	for i, t := range ts {
		dn, df := wn[i], wf[i]
		inc(t.A, t.A, dn+df) // 0 if the loss is one of D
		inc(t.Near, t.Near, dn)
		inc(t.Far, t.Far, df)
		inc(t.A, t.Near, -2*dn)
		inc(t.A, t.Far, -2*df)
	}
	for i := range k.SymmetricDim() {
		next.Set(i, i, next.At(i, i)-trace)
	}
}

// releasedEigen is the memory of projections, all of the same order.
type releasedEigen struct {
	vectors      *mat.Dense // n×n
	scaled       []float64  // n²
	re, im, work []float64
}

// newReleasedEigen returns that for matrices n×n.
func newReleasedEigen(n int) *releasedEigen {
	e := &releasedEigen{mat.NewDense(n, n, nil), make([]float64, n*n), make([]float64, n), make([]float64, n), make([]float64, 1)}
	e.factorize(mat.NewDense(n, n, nil), -1) // asks for the size of work
	e.work = make([]float64, int(e.work[0]))
	return e
}

// factorize overwrites a, and reports whether a decomposition was found. If size is −1 it sets work[0] instead.
func (e *releasedEigen) factorize(a *mat.Dense, size int) bool {
	return lapack64.Geev(lapack.LeftEVNone, lapack.RightEVCompute, a.RawMatrix(), e.re, e.im, blas64.General{}, e.vectors.RawMatrix(), e.work, size) == 0
}

// project sets k to Σ λᵢvᵢvᵢᵀ over the real parts λᵢ > 0 of the eigenvalues of a and the real parts vᵢ of its right
// eigenvectors of length 1, and overwrites a. It returns an error if a has numbers that are not finite, or no decomposition is found.
func (e *releasedEigen) project(k *mat.SymDense, a *mat.Dense) error {
	n := k.SymmetricDim()
	for _, v := range a.RawMatrix().Data {
		if !(math.Abs(v) <= MaxStep) {
			return errors.New("the kernel overflows: shorten the step, or rescale the initial kernel")
		}
	}
	if !e.factorize(a, len(e.work)) {
		return errors.New("the general eigendecomposition did not converge")
	}
	var roots []float64
	var columns []int
	for j, lambda := range e.re {
		if lambda > 0 {
			if e.im[j] < 0 {
				j-- // of a pair, the first column has the real part of both vectors, and the second the imaginary one
			}
			roots, columns = append(roots, math.Sqrt(lambda)), append(columns, j)
		}
	}
	if len(columns) == 0 {
		k.Zero()
		return nil
	}
	x := mat.NewDense(n, len(columns), e.scaled[:n*len(columns)])
	for i := range n {
		from, to := e.vectors.RawRowView(i), x.RawRowView(i)
		for c, j := range columns {
			to[c] = roots[c] * from[j]
		}
	}
	k.SymOuterK(1, x)
	return nil
}
