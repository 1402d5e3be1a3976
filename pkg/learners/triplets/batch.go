package triplets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/internal/enum"
	"metriclab/internal/matrix"
	"metriclab/internal/ranges"
	"metriclab/pkg/learners"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
)

// BatchVersion changes whenever FitBatch gives other numbers for the same input with BatchAccelerated,
// BatchLineSearch or BatchFixed, and BatchFactoredVersion with BatchFactored. BatchLargeVersion changes with any of them for BatchLarge
// objects or more that triplets connect.
const (
	BatchVersion         = 1
	BatchFactoredVersion = 1
	BatchLargeVersion    = 2
)

// BatchLarge is the number of connected objects from which on projections work by blocks. Below, the bits of published results stay.
const BatchLarge = 150

// BatchMethod is how FitBatch descends.
type BatchMethod int

// The methods.
const (
	// BatchFactored is L-BFGS on X, where K = XXᵀ, with a projected gradient step now and then. To the same
	// residual it takes a third to a tenth of the time of BatchAccelerated.
	BatchFactored BatchMethod = iota
	// BatchAccelerated is projected gradient descent with momentum, which starts anew where it leads
	// uphill, and a backtracking line search.
	BatchAccelerated
	// BatchLineSearch is projected gradient descent with a backtracking line search.
	BatchLineSearch
	// BatchFixed is projected gradient descent with the step Delta, of the hinge itself a subgradient.
	// It makes exactly as many steps as Iterations says.
	BatchFixed
)

var batchMethodNames = enum.Of[BatchMethod]("BatchMethod(%d)", "factored", "accelerated", "line-search", "fixed")

// String returns the name of the method.
func (m BatchMethod) String() string { return batchMethodNames.Text(m) }

// BatchParams are the parameters of FitBatch.
type BatchParams struct {
	// Loss is the loss of a triplet; the zero value is GNMDS.
	Loss Loss
	// Tau is τ, the weight of the trace, from 0 to MaxStep.
	Tau float64 `range:">= 0 and <= 1e100" words:"auto" doc:"weight of the trace, which makes the rank low; auto tries 100, 10, 1, 0.1 and 0.01 on held-out questions"`
	// Margin is the margin of GNMDS, greater than 0 and at most MaxStep; 0 means 1.
	Margin float64 `range:"> 0 and <= 1e100" doc:"margin of the hinge loss"`
	// Mu is μ of CKL, greater than 0 and at most MaxStep; 0 means 0.05.
	Mu float64 `range:"> 0 and <= 1e100" doc:"added to both squared distances"`
	// Method is how to descend; the zero value is BatchFactored.
	Method BatchMethod
	// Delta is the step of BatchFixed, greater than 0 and at most MaxStep. It multiplies the gradient of
	// a sum: a step that suits m triplets is of the order of 1/m. Other methods ignore it; 0 is for them.
	Delta float64 `range:"0, or > 0 and <= 1e100"`
	// Iterations ≥ 1 is the cap on iterations; 0 means 5000.
	Iterations int `range:">= 1" doc:"cap on steps, of each fit"`
	// Tol is the Residual at which all methods but BatchFixed end, greater than 0 and at most
	// MaxStep; 0 means 1e-3.
	Tol float64 `range:"> 0 and <= 1e100" doc:"residual at which to stop, relative to the objective at 0"`
	// Initial is the first kernel, n×n and positive semi-definite up to round-off
	// (metric.PSDTolerance), its entries at most MaxStep in magnitude; it is copied. nil means I.
	// That of a fit to fewer triplets, or to another τ, is a warm start.
	Initial mat.Symmetric
	// Progress, if not nil, is told of each iteration, with the Objective and Residual of the
	// best kernel so far, of the last one with BatchFixed.
	Progress func(learners.Progress)
}

// Resolved returns p with its defaults filled in: Margin = 1, Mu = 0.05, Iterations = 5000, Tol =
// 1e-3. Initial stays nil.
func (p BatchParams) Resolved() BatchParams {
	p.Margin = cmp.Or(p.Margin, 1)
	p.Mu = cmp.Or(p.Mu, 0.05)
	p.Iterations = cmp.Or(p.Iterations, 5000)
	p.Tol = cmp.Or(p.Tol, 1e-3)
	return p
}

// check is for resolved parameters.
func (p BatchParams) check() error {
	if err := ranges.Check("", p); err != nil {
		return err
	}
	switch {
	case p.Loss < GNMDS || p.Loss > CKL:
		return fmt.Errorf("loss: %v is not allowed for a kernel, want gnmds, ste or ckl; coordinates have tste and soe, too", p.Loss)
	case p.Method < BatchFactored || p.Method > BatchFixed:
		return fmt.Errorf("method: %d is not allowed, want BatchFactored, BatchAccelerated, BatchLineSearch or BatchFixed", int(p.Method))
	case p.Method == BatchFixed && p.Delta == 0:
		return fmt.Errorf("delta: 0 is not allowed with the method fixed, want %s", ranges.Of(p, "Delta").WithoutZero().Text())
	}
	return nil
}

// BatchResult is what FitBatch returns.
type BatchResult struct {
	// Kernel is K, n×n and positive semi-definite.
	Kernel *mat.SymDense
	// Result has learners.Converged if Residual ≤ Tol, learners.NoProgress if no step improved the
	// objective, else learners.IterationCap, which BatchFixed always ends with. Residual bounds how far
	// Objective is from its minimum; see FitBatch. Iterations counts steps. One of
	// BatchAccelerated or BatchLineSearch may project more than once, and one of BatchFactored take more than
	// one product XXᵀ: where the line search shortens its step.
	learners.Result
	// Objective is Σ l(K, t) + τ·trace K.
	Objective float64
	// Rank is that of Kernel by Rank with its default tolerance.
	Rank int
	// Tau is the weight of the trace, given or chosen.
	Tau float64
	// Errors holds, by FitTuned, the share of the held-out triplets that the kernel of each of Taus does not satisfy, a tie as half of one; nil if nothing was held out.
	Errors []float64
}

// FitBatch minimises
//
//	F(K) = Σ_t l(K, t) + τ·trace K  over K ⪰ 0
//
// over the n×n kernels of n objects. The step of all methods is that of projected gradient descent,
//
//	K ← Π(Y − s(Σ_t ∇l(Y, t) + τI)),
//
// Π the projection on the positive semi-definite cone and ∇ the gradient in the Frobenius inner
// product. Sources: Heim, Berger, Seversky, Hauskrecht, Efficient Online Relative Comparison Kernel
// Learning, SDM 2015, Eqs. 3.3, 3.7, 3.8; the losses of Agarwal et al. 2007 (GNMDS), van der Maaten
// and Weinberger 2012 (STE), Tamuz et al. 2011 (CKL); the momentum of Beck and Teboulle 2009 with
// the restarts of O'Donoghue and Candès 2015; K = XXᵀ of Burer and Monteiro 2003; L-BFGS of Nocedal 1980.
//
// BatchFactored makes such a step from Y = K and then, with K = XXᵀ, 20 or more steps of L-BFGS on X. They need products of
// matrices in place of eigenvectors, and as many columns as the rank of K. Alone they could end where
// X lacks a direction; the projected step finds it, and tells whether K is a minimum.
//
// The hinge of GNMDS is not differentiable. All methods but BatchFixed descend on its Moreau
// envelope around multipliers, which they move while they converge (the method of multipliers), so
// that the limit is a minimum of F itself. What descends at every iteration is F, for GNMDS the sum
// of the envelopes; the kernel returned is that of the least F, with BatchFixed the last. CKL is not
// convex: its limit is a stationary point.
//
// GNMDS and STE are convex, and weights α of the triplets bound the minimum from below: over all
// kernels of trace at most R,
//
//	F ≥ Σ_t −l*(α_t) + R·min(0, λ_min(τI + Σ_t α_t ∇D_t)),
//
// l* the conjugate of the loss as a function of D. Residual is the difference between F(K) and this
// bound, with the α of the last gradient and R = max(n, 2·trace K), in units of F(0). It says that
// F(K) is within Residual·F(0) of the least F of all kernels with at most twice the trace.
// BatchFactored takes the best bound of all its projected steps. For τ > 0 it also tries the multiples cα that make the
// second term 0 (c ≤ 1), whose bound holds for all kernels. BatchFixed,
// and the others while they are far from Tol, take the lower bound −‖K − Y‖_F/s for λ_min. For CKL
// Residual is the same difference for F linearised at the last Y, 0 at a stationary point.
// A fit that ends with learners.IterationCap says by Residual how far it is.
//
// From Tol = 1e-2 on the error on other triplets stayed the same to 0.1 % with each loss; the default
// is a tenth of that. BenchmarkFitBatchTol makes the table, which is in docs/speed/triplets.md.
//
// A component of objects that no triplet and no entry of Initial connects with others is projected
// on its own. Below BatchLarge objects a projection computes the eigenvectors of one sign only, of the rarer; with m the
// order of the largest component an iteration costs O(m³) and 2 to 11 matrices of the size Σm², with
// BatchFactored up to 20.
//
// FitBatch returns an error if there is no object or no triplet, or twelve n×n matrices do not fit limits.Memory (20 with
// BatchFactored). It returns one if a triplet fails Check, a parameter is out of range, Initial is not as described or F overflows, and that of ctx once it is done.
// Contradictory and repeated triplets are allowed: each counts.
func FitBatch(ctx context.Context, n int, ts []metric.Triplet, p BatchParams) (BatchResult, error) {
	p = p.Resolved()
	r, err := fitBatch(ctx, n, ts, p)
	if err != nil {
		return BatchResult{}, fmt.Errorf("batch: %w", err)
	}
	return r, nil
}

func fitBatch(ctx context.Context, n int, ts []metric.Triplet, p BatchParams) (BatchResult, error) {
	if err := p.check(); err != nil {
		return BatchResult{}, err
	}
	if matrix.IsNil(p.Initial) {
		p.Initial = nil // not a nil pointer
	}
	if n < 1 {
		return BatchResult{}, fmt.Errorf("n: %d is not allowed, want at least 1 object", n)
	}
	matrices := 12
	if p.Method == BatchFactored {
		matrices = 20
	}
	if err := limits.Check(fmt.Sprintf("a batch fit with %d objects", n), limits.Floats(matrices, n, n)); err != nil {
		return BatchResult{}, fmt.Errorf("n: %w", err)
	}
	if len(ts) == 0 {
		return BatchResult{}, errors.New("triplets: none given, want at least one")
	}
	for i, t := range ts {
		if err := Check(n, t); err != nil {
			return BatchResult{}, fmt.Errorf("triplet %d: %w", i, err)
		}
	}
	if !abandon.Long(n, n, n) {
		return fitChecked(ctx, n, ts, p)
	}
	ts = slices.Clone(ts)
	if p.Initial != nil && p.Initial.SymmetricDim() == n {
		c := mat.NewSymDense(n, nil)
		c.CopySym(p.Initial)
		p.Initial = c
	}
	return abandon.Run(ctx, "fit", p.Progress, func(ctx context.Context, progress func(learners.Progress)) (BatchResult, error) {
		p.Progress = progress
		return fitChecked(ctx, n, ts, p)
	})
}

// fitChecked is fitBatch for parameters and triplets that have been checked.
func fitChecked(ctx context.Context, n int, ts []metric.Triplet, p BatchParams) (BatchResult, error) {
	if p.Initial != nil {
		if err := checkBatchInitial(n, p.Initial); err != nil {
			return BatchResult{}, fmt.Errorf("initial: %w", err)
		}
	}
	f := newBatchFit(ctx, n, ts, p)
	status, err := f.run()
	if err != nil {
		return BatchResult{}, err
	}
	return BatchResult{
		Kernel:    f.kernel(f.best.k),
		Result:    learners.Result{Status: status, Iterations: f.iterations, Residual: f.residual()},
		Objective: f.best.objective,
		Rank:      f.rank(f.best),
		Tau:       p.Tau,
	}, nil
}

// checkBatchInitial returns an error unless k may be BatchParams.Initial.
func checkBatchInitial(n int, k mat.Symmetric) error {
	if m := k.SymmetricDim(); m != n {
		return fmt.Errorf("is %d×%d, want %d×%d", m, m, n, n)
	}
	most := 0.0
	for i := range n {
		for j := i; j < n; j++ {
			v := k.At(i, j)
			if !(math.Abs(v) <= MaxStep) {
				return fmt.Errorf("entry (%d, %d): %v is not allowed, want a number of magnitude at most %v", i, j, v, MaxStep)
			}
			if i == j {
				most = max(most, v)
			}
		}
	}
	// The largest eigenvalue is at least the largest diagonal entry: a Cholesky decomposition of K
	// + 1e-10 of that proves what costs far more to compute.
	shifted := mat.NewSymDense(n, nil)
	shifted.CopySym(k)
	for i := range n {
		shifted.SetSym(i, i, shifted.At(i, i)+metric.PSDTolerance*most)
	}
	var c mat.Cholesky
	if c.Factorize(shifted) {
		return nil
	}
	values, _ := eigen(k, false)
	if least, top := values[0], values[n-1]; least < -metric.PSDTolerance*top || top < 0 {
		return fmt.Errorf("is %w: its smallest eigenvalue is %g, the largest %g", metric.ErrNotPSD, least, top)
	}
	return nil
}
