package linear

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/internal/matrix"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/classify"
	"metriclab/pkg/limits"
	"metriclab/pkg/persist"
)

// KernelSVMVersion changes whenever FitKernelSVM gives other numbers for the same input.
const KernelSVMVersion = 1

// KernelSVMKind is the kind under which package persist stores a KernelSVM.
const KernelSVMKind = "classify/kernel-svm"

// KernelSVMProblem is a Gram matrix made ready for support vector machines: for the labels of many classes and many
// parameters it is checked and factored once. It is immutable and safe for concurrent use.
type KernelSVMProblem struct {
	k    *mat.SymDense
	rows *mat.Dense // F, K ≈ FFᵀ
}

// NewKernelSVMProblem prepares the n×n Gram matrix k of n objects, by kernels.Factor in its full rank. It returns an error if k is not positive
// semi-definite up to round-off, which wraps metric.ErrNotPSD; if an entry is not finite, or all are 0; if the factor does not fit
// limits.Memory, or if ctx is done. It panics if k is nil or empty. It costs O(n³).
func NewKernelSVMProblem(ctx context.Context, k mat.Symmetric) (*KernelSVMProblem, error) {
	if matrix.IsNil(k) || k.SymmetricDim() == 0 {
		panic("linear: NewKernelSVMProblem: k is nil or empty")
	}
	n := k.SymmetricDim()
	if err := limits.Check(fmt.Sprintf("an SVM on a Gram matrix of %d objects", n), limits.Floats(3, n, n)); err != nil {
		return nil, fmt.Errorf("kernel svm: %w", err)
	}
	p := &KernelSVMProblem{k: mat.NewSymDense(n, nil)}
	p.k.CopySym(k)
	prepare := func(ctx context.Context) (*mat.Dense, error) {
		if err := kernels.CheckGram(p.k); err != nil {
			return nil, fmt.Errorf("kernel svm: gram: %w", err)
		}
		f, err := kernels.NewFactor(ctx, n, p.k.At, kernels.FactorParams{})
		if err != nil {
			return nil, fmt.Errorf("kernel svm: gram: %w", err)
		}
		return f.Rows(), nil
	}
	var err error
	if abandon.Long(n, n, n) {
		p.rows, err = abandon.Do(ctx, "kernel svm", prepare)
	} else {
		p.rows, err = prepare(ctx)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Objects returns n.
func (p *KernelSVMProblem) Objects() int { return p.made().k.SymmetricDim() }

func (p *KernelSVMProblem) made() *KernelSVMProblem {
	if p == nil || p.rows == nil {
		panic("linear: KernelSVMProblem: nil or the zero value, use NewKernelSVMProblem")
	}
	return p
}

// KernelSVM is a support vector machine of objects of which only kernel values are known. It is immutable and safe for
// concurrent use.
type KernelSVM struct {
	// Result has learners.Converged if Residual, the duality gap relative to the objective, is at most Tol. The gap is that of the
	// Gram matrix itself, computed from α alone. Other statuses and Iterations are those of SVM.
	learners.Result
	params SVMParams
	signed []float64 // αᵢyᵢ
	bias   float64
}

// FitKernelSVM is FitSVM for n objects with the Gram matrix K: it returns the function f = Σ αᵢyᵢκ(xᵢ, ·) + b that minimises
//
//	½(‖f − b‖² + (b/B)²) + C Σᵢ loss(yᵢf(xᵢ)),
//
// where ‖·‖ is the norm of the kernel's space. For the linear kernel it is the same classifier. It costs
// O(n³) beside the passes of O(n²). NewKernelSVMProblem and its Fit do the first part once for many fits. Errors and panics are those of
// both.
func FitKernelSVM(ctx context.Context, rng *rand.Rand, k mat.Symmetric, y []classify.Label, p SVMParams) (*KernelSVM, error) {
	problem, err := NewKernelSVMProblem(ctx, k)
	if err != nil {
		return nil, err
	}
	return problem.Fit(ctx, rng, y, p)
}

// Fit is FitKernelSVM for the labels y of the n objects: FitSVM on the rows of a factor of K, whose answer is then audited on
// K. It returns an error where FitSVM does. It panics if rng is nil.
func (p *KernelSVMProblem) Fit(ctx context.Context, rng *rand.Rand, y []classify.Label, params SVMParams) (*KernelSVM, error) {
	linear, err := FitSVM(ctx, rng, p.made().rows, y, params)
	if err != nil {
		return nil, fmt.Errorf("kernel %w", err)
	}
	targets, err := classify.Targets(y)
	if err != nil {
		return nil, fmt.Errorf("kernel svm: %w", err)
	}
	s := &KernelSVM{Result: linear.Result, params: linear.params, signed: targets}
	alpha := linear.alpha
	floats.Mul(s.signed, alpha)
	b := s.params.BiasScale
	s.bias = b * b * floats.Sum(s.signed)

	// The gap, as svmSolver.audit has it: ‖w̃‖² = Σ αᵢmᵢ, and all of its terms are ≥ 0.
	solver := svmSolver{p: s.params}
	var losses, gap, sq float64
	n := len(alpha)
	raw := p.k.RawSymmetric()
	scores := make([]float64, n)
	for i := range n { // the upper triangle of K, by rows
		row := raw.Data[i*raw.Stride+i : i*raw.Stride+n]
		scores[i] += floats.Dot(row, s.signed[i:])
		floats.AddScaled(scores[i+1:], s.signed[i], row[1:])
	}
	for i, a := range alpha {
		score := scores[i] + s.bias
		m := score
		if y[i] == classify.Negative {
			m = -score
		}
		l, g := solver.terms(m, a)
		losses, gap, sq = losses+l, gap+g, sq+a*m
	}
	s.Residual = max(gap, 0) / (max(sq, 0)/2 + s.params.C*losses)
	switch {
	case math.IsNaN(s.Residual) || math.IsInf(s.Residual, 0):
		return nil, errors.New("kernel svm: the objective overflows float64: rescale the kernel")
	case s.Residual <= s.params.Tol:
		s.Status = learners.Converged
	case s.Status == learners.Converged:
		s.Status = learners.NoProgress // what the factor leaves out matters
	}
	if err := s.valid(); err != nil {
		return nil, fmt.Errorf("kernel svm: rescale the kernel: %w", err)
	}
	return s, nil
}

// made returns s, and panics if no constructor made it.
func (s *KernelSVM) made() *KernelSVM {
	if s == nil || s.signed == nil {
		panic("linear: KernelSVM: nil or the zero value, use FitKernelSVM")
	}
	return s
}

// Params returns the resolved parameters.
func (s *KernelSVM) Params() SVMParams { return s.made().params }

// Objects returns n, the number of objects of the fit.
func (s *KernelSVM) Objects() int { return len(s.made().signed) }

// Coefficients returns a copy of αᵢyᵢ, one per object; those that are not 0 are of support vectors.
func (s *KernelSVM) Coefficients() []float64 { return slices.Clone(s.made().signed) }

// Bias returns b.
func (s *KernelSVM) Bias() float64 { return s.made().bias }

// Predict returns the score f of an object from its kernel values with the n objects of the fit, ±math.MaxFloat64 where it overflows,
// and whether it is positive. It panics unless k has length n and finite entries.
func (s *KernelSVM) Predict(k []float64) classify.Prediction {
	demand("KernelSVM", classify.CheckVector(k, len(s.made().signed)))
	return classify.PredictionOf(finiteScore(s.signed, k, s.bias))
}

// kernelSVMState is what a KernelSVM saves beside its parameters.
type kernelSVMState struct {
	Coefficients persist.Floats `json:"coefficients"`
	Bias         float64        `json:"bias"`
	Status       string         `json:"status"`
	Epochs       int            `json:"epochs"`
	Gap          float64        `json:"gap"`
}

// Save writes the classifier in the format of package persist, kind "classify/kernel-svm". What is loaded from it predicts the same
// bits. The objects themselves are not saved. It panics if no fit made the classifier.
func (s *KernelSVM) Save(w io.Writer) error {
	return persist.Write(w, KernelSVMKind, s.made().params, kernelSVMState{s.signed, s.bias, s.Status.String(), s.Iterations, s.Residual})
}

// LoadKernelSVM reads what KernelSVM.Save wrote. Its errors wrap those of package persist if the file is foreign, newer,
// damaged or of another kind.
func LoadKernelSVM(in io.Reader) (*KernelSVM, error) {
	var s KernelSVM
	var state kernelSVMState
	if err := persist.Load(in, KernelSVMKind, &s.params, &state); err != nil {
		return nil, err
	}
	s.signed, s.bias, s.Iterations, s.Residual = state.Coefficients, state.Bias, state.Epochs, state.Gap
	s.Status = svmStatus(state.Status)
	if err := s.valid(); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", persist.ErrDamaged, KernelSVMKind, err)
	}
	return &s, nil
}

// valid returns an error unless s is what a fit can give.
func (s *KernelSVM) valid() error {
	if err := s.params.check(); err != nil {
		return err
	}
	if !finite(s.bias) {
		return fmt.Errorf("bias: %v is not allowed, want a finite number", s.bias)
	}
	alpha := make([]float64, len(s.signed))
	for i, v := range s.signed {
		alpha[i] = math.Abs(v)
	}
	return s.params.checkFit(alpha, s.Result)
}
