package ltkernel

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/internal/matrix"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners"
	"metriclab/pkg/metric"
	"metriclab/pkg/spectral"
)

// FitReduced is FitKernel for a W of fewer parameters: with a given J, n×k,
//
//	W = αI + ΦJLJᵀΦᵀ,  K = αK₀ + K₀JLJᵀK₀,  k(x, z) = α·κ(x, z) + (Jᵀk(x))ᵀL(Jᵀk(z))
//
// and only L, k×k, is learned (Section 4.3, Eqs. 19 to 21, Theorems 7 and 8). J may be of any kind: random numbers, indicators
// of clusters or of some objects. L makes W positive semi-definite, which asks for L ⪰ −α(JᵀK₀J)⁻¹ as in Eq. 20, not for L ⪰ 0 as
// printed in Eq. 19. Columns of J that depend on others in the space of φ change nothing, and L is that of least size. The
// answer is that of FitKernel if the span of ΦJ contains the differences of all constrained pairs, and all objects if a constraint has a trace.
//
// The check of K₀ and its product with J cost O(n³ + n²k), a step of the fit O((pairs + k)·k²).
//
// Errors and panics are those of FitKernel, where K₀ is checked as a whole. FitReduced returns an error if an entry of j is NaN or
// infinite or if ΦJ = 0. It panics if j is nil or does not have n rows.
func FitReduced(ctx context.Context, k0 mat.Symmetric, j mat.Matrix, constraints []Constraint, p Params) (ReducedResult, error) {
	if matrix.IsNil(k0) || k0.SymmetricDim() == 0 {
		panic("ltkernel: FitReduced: k0 is nil or empty")
	}
	basis := matrix.Given("ltkernel: FitReduced: j", j)
	n, k := basis.Dims()
	if n != k0.SymmetricDim() {
		panic(fmt.Sprintf("ltkernel: FitReduced: j has %d rows, k0 %d", n, k0.SymmetricDim()))
	}
	if err := metric.CheckFinite(basis); err != nil {
		return ReducedResult{}, fmt.Errorf("ltkernel: j: %w", err)
	}
	p = p.Resolved()
	if _, err := p.prepare(n, k, constraints); err != nil {
		return ReducedResult{}, err
	}
	if !abandon.Long(n, n, n) {
		return fitReduced(ctx, k0, basis, constraints, p)
	}
	own := mat.NewSymDense(n, nil)
	own.CopySym(k0)
	basis, constraints = mat.DenseCopyOf(basis), cloned(constraints)
	return abandon.Run(ctx, "ltkernel", p.Progress, func(ctx context.Context, progress func(learners.Progress)) (ReducedResult, error) {
		p.Progress = progress
		return fitReduced(ctx, own, basis, constraints, p)
	})
}

func fitReduced(ctx context.Context, k0 mat.Symmetric, basis *mat.Dense, constraints []Constraint, p Params) (ReducedResult, error) {
	n, k := basis.Dims()
	if err := kernels.CheckGram(k0); err != nil {
		return ReducedResult{}, fmt.Errorf("ltkernel: k0: %w", err)
	}
	all := make([]int, n)
	for a := range n {
		all[a] = a
	}
	kj := matrix.Mul(k0, basis)
	root, err := inverseRoot(matrix.Mul(basis.T(), kj))
	if err != nil {
		return ReducedResult{}, err
	}
	f := matrix.Mul(kj, root) // of each object, its coordinates in an orthonormal basis U of the span of ΦJ
	d, err := newDual(f, all, constraints, p, k0)
	if err != nil {
		return ReducedResult{}, err
	}
	pt, res, sol, err := d.solve(ctx, p)
	if err != nil {
		return ReducedResult{}, err
	}
	_, r := root.Dims()
	right := matrix.Mul(root, pt.q)
	scaled := mat.NewDense(k, r, nil)
	for i := range k {
		for c, v := range right.RawRowView(i) {
			scaled.RawRowView(i)[c] = v * (pt.x[c] - p.Divergence.alpha)
		}
	}
	return ReducedResult{Result: res, Solution: sol, Alpha: p.Divergence.alpha, L: matrix.Symmetric(matrix.Mul(scaled, right.T())), Dropped: k - r}, nil
}

// inverseRoot returns R, k×r, with RᵀKR = I for the r directions of k that are not round-off.
func inverseRoot(k *mat.Dense) (*mat.Dense, error) {
	var eig spectral.EigenSym
	if !eig.Factorize(matrix.Symmetric(k), true) {
		return nil, errors.New("ltkernel: JᵀK₀J: its eigenvalues overflow float64: scale the data down")
	}
	values := eig.Values(nil)
	n := len(values)
	low := 0
	for low < n && values[low] <= float64(n)*0x1p-40*values[n-1] { // more than round-off: L has its inverse
		low++
	}
	if low == n {
		return nil, errors.New("ltkernel: j: ΦJ is 0: no direction is left to learn")
	}
	var v mat.Dense
	eig.VectorsTo(&v)
	r := mat.DenseCopyOf(v.Slice(0, n, low, n))
	for i := range n {
		row := r.RawRowView(i)
		for c := range row {
			row[c] /= math.Sqrt(values[low+c])
		}
	}
	return r, nil
}
