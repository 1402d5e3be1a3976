package triplets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners"
	"metriclab/pkg/metric"
)

// BatchVersion changes whenever FitBatch gives other numbers for the same input.
const BatchVersion = 1

// BatchMethod is how FitBatch descends.
type BatchMethod int

// The methods.
const (
	// Accelerated is projected gradient descent with Nesterov's momentum.
	Accelerated BatchMethod = iota
	// LineSearch is projected gradient descent with a backtracking line search.
	LineSearch
	// Fixed is projected gradient descent with the step Delta.
	Fixed
)

var batchMethodNames = []string{Accelerated: "accelerated", LineSearch: "line-search", Fixed: "fixed"}

// String returns the name of the method.
func (m BatchMethod) String() string { return name(batchMethodNames, int(m), "BatchMethod") }

// BatchParams are the parameters of FitBatch.
type BatchParams struct {
	// Loss is the loss of a triplet; the zero value is GNMDS.
	Loss Loss
	// Tau ≥ 0 is τ, the weight of the trace.
	Tau float64
	// Margin > 0 is the margin of GNMDS; 0 means 1.
	Margin float64
	// Mu > 0 is μ of CKL; 0 means 0.05.
	Mu float64
	// Method is how to descend; the zero value is Accelerated.
	Method BatchMethod
	// Delta > 0 is the step of Fixed, which has no default.
	Delta float64
	// Iterations is the cap on iterations; 0 means 1000.
	Iterations int
	// Tol > 0 is the Residual at which the fit ends; 0 means 1e-3.
	Tol float64
	// Initial is the first kernel; nil means I.
	Initial mat.Symmetric
}

// Resolved returns p with its defaults filled in, but for Initial, which depends
// on n: Margin = 1, Mu = 0.05, Iterations = 1000, Tol = 1e-3.
func (p BatchParams) Resolved() BatchParams {
	p.Margin = cmp.Or(p.Margin, 1)
	p.Mu = cmp.Or(p.Mu, 0.05)
	p.Iterations = cmp.Or(p.Iterations, 1000)
	p.Tol = cmp.Or(p.Tol, 1e-3)
	return p
}

// check is for resolved parameters.
func (p BatchParams) check() error {
	switch {
	case p.Loss < GNMDS || p.Loss > CKL:
		return fmt.Errorf("loss: %d is not allowed, want %d to %d", int(p.Loss), int(GNMDS), int(CKL))
	case !(p.Tau >= 0) || math.IsInf(p.Tau, 1):
		return fmt.Errorf("tau: %v is not allowed, want a finite number ≥ 0", p.Tau)
	case !(p.Margin > 0) || math.IsInf(p.Margin, 1):
		return fmt.Errorf("margin: %v is not allowed, want a finite number > 0", p.Margin)
	case !(p.Mu > 0) || math.IsInf(p.Mu, 1):
		return fmt.Errorf("mu: %v is not allowed, want a finite number > 0", p.Mu)
	case p.Method < Accelerated || p.Method > Fixed:
		return fmt.Errorf("method: %d is not allowed, want %d to %d", int(p.Method), int(Accelerated), int(Fixed))
	case p.Method == Fixed && (!(p.Delta > 0) || math.IsInf(p.Delta, 1)):
		return fmt.Errorf("delta: %v is not allowed for the method fixed, want a finite number > 0", p.Delta)
	case p.Iterations < 1:
		return fmt.Errorf("iterations: %d is not allowed, want ≥ 1, or 0 for the default", p.Iterations)
	case !(p.Tol > 0) || math.IsInf(p.Tol, 1):
		return fmt.Errorf("tol: %v is not allowed, want a finite number > 0", p.Tol)
	}
	return nil
}

// BatchResult is what FitBatch returns.
type BatchResult struct {
	Kernel     *mat.SymDense // K, n×n, positive semi-definite
	Status     learners.Status
	Iterations int
	Residual   float64
	Objective  float64 // Σ l + τ·trace K
	Rank       int     // of Kernel, by Rank with its default tolerance
}

// FitBatch minimises Σ_t l(K, t) + τ·trace K over K ⪰ 0 (Heim et al., Eq. 3.3).
func FitBatch(ctx context.Context, n int, ts []metric.Triplet, p BatchParams) (BatchResult, error) {
	p = p.Resolved()
	if err := p.check(); err != nil {
		return BatchResult{}, fmt.Errorf("batch: %w", err)
	}
	if n < 1 {
		return BatchResult{}, fmt.Errorf("batch: n: %d is not allowed, want at least 1 object", n)
	}
	if len(ts) == 0 {
		return BatchResult{}, errors.New("batch: triplets: none given, want at least one")
	}
	for i, t := range ts {
		if err := Check(n, t); err != nil {
			return BatchResult{}, fmt.Errorf("batch: triplet %d: %w", i, err)
		}
	}
	k, err := start(n, p.Initial)
	if err != nil {
		return BatchResult{}, fmt.Errorf("batch: initial: %w", err)
	}
	o := batchObjective{p: p, ts: ts}
	r := BatchResult{Status: learners.IterationCap}
	f := o.value(k)
	grad := mat.NewSymDense(n, nil)
	step := 1.0
	if p.Method == Fixed {
		step = p.Delta
	}
	for r.Iterations < p.Iterations {
		if err := ctx.Err(); err != nil {
			return BatchResult{}, err
		}
		o.gradient(grad, k)
		r.Iterations++
		for {
			next := mat.NewSymDense(n, nil)
			next.ScaleSym(-step, grad)
			next.AddSym(next, k)
			next, _, err = metric.ProjectPSD(next)
			if err != nil {
				return BatchResult{}, fmt.Errorf("batch: %w", err)
			}
			value := o.value(next)
			var moved mat.Dense
			moved.Sub(next, k)
			length := mat.Norm(&moved, 2)
			r.Residual = length / step / math.Sqrt(float64(len(ts)))
			if p.Method == Fixed || value <= f-1e-4*length*length/step {
				k, f = next, value
				step = cmp.Or(p.Delta, step*1.5)
				break
			}
			step /= 2
			if step < 1e-12 {
				r.Status = learners.NoProgress
				break
			}
		}
		if r.Status == learners.NoProgress {
			break
		}
		if p.Method != Fixed && r.Residual <= p.Tol {
			r.Status = learners.Converged
			break
		}
	}
	r.Kernel, r.Objective, r.Rank = k, f, Rank(k, 0)
	return r, nil
}

// start returns a copy of the initial kernel, which must be finite and positive
// semi-definite.
func start(n int, initial mat.Symmetric) (*mat.SymDense, error) {
	k := mat.NewSymDense(n, nil)
	if initial == nil {
		for i := range n {
			k.SetSym(i, i, 1)
		}
		return k, nil
	}
	if m := initial.SymmetricDim(); m != n {
		return nil, fmt.Errorf("is of order %d, want %d", m, n)
	}
	k.CopySym(initial)
	if err := checkFinite(k); err != nil {
		return nil, err
	}
	if _, err := metric.NewMahalanobis(k); err != nil {
		return nil, err
	}
	return k, nil
}

// batchObjective is the objective of FitBatch.
type batchObjective struct {
	p  BatchParams
	ts []metric.Triplet
}

func (o *batchObjective) value(k *mat.SymDense) float64 {
	sum := o.p.Tau * mat.Trace(k)
	for _, t := range o.ts {
		near, far := sqDist(k, t.A, t.Near), sqDist(k, t.A, t.Far)
		switch o.p.Loss {
		case GNMDS:
			sum += max(0, near-far+o.p.Margin)
		case STE:
			sum += softplus(near - far)
		case CKL:
			sum += math.Log((2*o.p.Mu + near + far) / (o.p.Mu + far))
		}
	}
	return sum
}

// gradient sets dst to the gradient in the Frobenius inner product.
func (o *batchObjective) gradient(dst, k *mat.SymDense) {
	dst.Zero()
	n := k.SymmetricDim()
	for i := range n {
		dst.SetSym(i, i, o.p.Tau)
	}
	add := func(i, j int, w float64) { // w times the gradient of d²(i, j)
		dst.SetSym(i, i, dst.At(i, i)+w)
		dst.SetSym(j, j, dst.At(j, j)+w)
		dst.SetSym(i, j, dst.At(i, j)-w)
	}
	for _, t := range o.ts {
		near, far := sqDist(k, t.A, t.Near), sqDist(k, t.A, t.Far)
		var dn, df float64
		switch o.p.Loss {
		case GNMDS:
			if near-far+o.p.Margin > 0 {
				dn, df = 1, -1
			}
		case STE:
			dn = 1 / (1 + math.Exp(far-near))
			df = -dn
		case CKL:
			dn = 1 / (2*o.p.Mu + near + far)
			df = dn - 1/(o.p.Mu+far)
		}
		add(t.A, t.Near, dn)
		add(t.A, t.Far, df)
	}
}

// softplus returns log(1 + exp x).
func softplus(x float64) float64 {
	if x > 0 {
		return x + math.Log1p(math.Exp(-x))
	}
	return math.Log1p(math.Exp(x))
}
