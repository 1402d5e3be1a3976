package kernels

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/internal/matrix"
	"metriclab/internal/ranges"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
	"metriclab/pkg/spectral"
)

// GraphParams are the parameters of GraphLaplacian.
type GraphParams struct {
	// Neighbours is the number of nearest neighbours to which a point is joined; 0 means 6, or all others if these are fewer.
	Neighbours int `range:"0, or >= 1 and <= the number of points minus one"`
	// Width is σ ≥ 0 of the weights exp(−d²/(2σ²)) of edges, in units of d; 0 stands for ∞, weights of 1.
	Width float64 `range:">= 0"`
	// Normalised divides the Laplacian by the roots of degrees: D^(−1/2)(D − W)D^(−1/2). The default is D − W.
	Normalised bool
}

// defaultNeighbours is the number of neighbours that 0 stands for, where there are as many.
const defaultNeighbours = 6

// Resolved returns p: what Neighbours = 0 stands for depends on the number of points.
func (p GraphParams) Resolved() GraphParams { return p }

// GraphLaplacian returns the Laplacian L of the graph of nearest neighbours of n points, n×n and positive semi-definite:
//
//	L = D − W, or D^(−1/2)(D − W)D^(−1/2),  D = diag(W1),
//	W_ij = 1, or exp(−d²_ij/(2σ²)), if i is one of the nearest neighbours of j or j of i, else 0,
//
// from their squared distances sq, n×n, of which it does not read the diagonal (Belkin, Niyogi, Laplacian Eigenmaps for Dimensionality Reduction and Data Representation, Neural
// Computation 15, 2003). Of equal distances the lower index is nearer. Points at distance 0 are neighbours like others.
//
// It costs O(n² log n). It returns an error if a squared distance is negative, NaN or infinite, or if a parameter is out of range. So it does if all weights of a point vanish, since Width is far below its
// distances, if memory does not do, or if ctx is done. It panics if sq is nil or empty.
func GraphLaplacian(ctx context.Context, sq mat.Symmetric, p GraphParams) (*mat.SymDense, error) {
	demandGiven("sq", sq)
	n := sq.SymmetricDim()
	if n == 0 {
		panic(mat.ErrZeroLength)
	}
	p = p.Resolved()
	if err := ranges.Check("kernels: graph", p, ranges.Limit{Words: "the number of points minus one", Value: max(n-1, 1)}); err != nil {
		return nil, err
	}
	if err := limits.Check(fmt.Sprintf("the Laplacian of a graph of %d points", n), limits.Floats(n, n)); err != nil {
		return nil, fmt.Errorf("kernels: graph: %w", err)
	}
	k := min(cmp.Or(p.Neighbours, defaultNeighbours), n-1)
	l := mat.NewSymDense(n, nil) // W, with a minus sign, until degrees are known
	order, row := make([]int, n), make([]float64, n)
	for i := range n {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("kernels: graph: %w", err)
		}
		for j := range n {
			order[j], row[j] = j, sq.At(i, j)
			if v := row[j]; j != i && !(v >= 0 && !math.IsInf(v, 1)) {
				return nil, fmt.Errorf("kernels: graph: squared distance (%d, %d) is %v, want a finite number >= 0", i, j, v)
			}
		}
		row[i] = math.Inf(1) // last
		slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(row[a], row[b]), cmp.Compare(a, b)) })
		for _, j := range order[:k] {
			w := 1.0
			if p.Width > 0 {
				scaled := math.Sqrt(row[j]) / p.Width
				w = math.Exp(-scaled * scaled / 2)
			}
			l.SetSym(i, j, -w)
		}
	}
	degrees := make([]float64, n)
	for i := range degrees {
		for j := range n {
			degrees[i] -= l.At(i, j)
		}
		if n > 1 && degrees[i] < metric.LeastNormal {
			return nil, fmt.Errorf("kernels: graph: all weights of point %d vanish: width %v is too small for its distances", i, p.Width)
		}
	}
	for i := range n {
		for j := range i {
			if v := l.At(i, j); v != 0 && p.Normalised {
				l.SetSym(i, j, v/math.Sqrt(degrees[i])/math.Sqrt(degrees[j]))
			}
		}
		d := degrees[i]
		if p.Normalised && n > 1 {
			d = 1
		}
		l.SetSym(i, i, d)
	}
	return l, nil
}

// DataDependentParams are the parameters of DataDependent.
type DataDependentParams struct {
	// Power is p of M = c·Lᵖ, from 1 to 100; 0 means 1.
	Power int `range:">= 1 and <= 100"`
	// Weight is c > 0 of M, the weight of the graph against that of the kernel, γ_I/γ_A; 0 means 1.
	Weight float64 `range:"> 0"`
}

// Resolved returns p with its defaults filled in: Power = 1, Weight = 1.
func (p DataDependentParams) Resolved() DataDependentParams {
	p.Power, p.Weight = cmp.Or(p.Power, 1), cmp.Or(p.Weight, 1)
	return p
}

// DataDependent returns the kernel κ̃ whose norm of a function f adds to that of κ how much f varies along a graph of n points,
//
//	‖f‖² + fᵀMf,  M = c·Lᵖ,  f = (f(x₁), …, f(xₙ)),
//	κ̃(x, z) = κ(x, z) − k(x)ᵀ(I + MK₀)⁻¹M·k(z),  k(x) = κ of x and each of the n points,
//
// for the Gram matrix K₀ of these, n×n, and the Laplacian L of their graph (see GraphLaplacian), n×n and positive semi-definite. Source: Sindhwani, Niyogi, Belkin, Beyond the Point Cloud: from Transductive to
// Semi-supervised Learning, ICML 2005. On the n points K̃ = K₀(I + MK₀)⁻¹, which is (K₀⁻¹ + M)⁻¹ if K₀ has an inverse.
//
// It is a Learned of α = 1, S = −(I + MK₀)⁻¹M and all n points as Support. Its All gives K̃. Between and Among give κ̃ of points that are not in the graph,
// from values of κ alone. The graph has the training points, with labels and without. Points that are to be scored do not belong in it.
//
// S is −R(I + RᵀK₀R)⁻¹Rᵀ with RRᵀ = M, so that the matrix that is inverted has no eigenvalue below 1, however large c is. K̃ is a difference: its entries are
// accurate to round-off relative to those of K₀, so that c should not be so large that all of K̃ is round-off. It costs O(n³).
//
// It returns the errors of CheckGram for k0 and the like for laplacian; one if they differ in size, a parameter is out of range, a number overflows or memory does not do; and
// one if ctx is done. It panics if k0 or laplacian is nil or empty.
func DataDependent(ctx context.Context, k0, laplacian mat.Symmetric, p DataDependentParams) (Learned, error) {
	demandGiven("k0", k0)
	demandGiven("laplacian", laplacian)
	n := k0.SymmetricDim()
	if n == 0 || laplacian.SymmetricDim() == 0 {
		panic(mat.ErrZeroLength)
	}
	p = p.Resolved()
	if err := ranges.Check("kernels: data-dependent", p); err != nil {
		return Learned{}, err
	}
	fail := func(err error) (Learned, error) {
		return Learned{}, fmt.Errorf("kernels: data-dependent: %w", err)
	}
	if m := laplacian.SymmetricDim(); m != n {
		return fail(fmt.Errorf("a laplacian of %d points is not allowed, want %d as k0 has", m, n))
	}
	if err := limits.Check(fmt.Sprintf("a data-dependent kernel of %d points", n), limits.Floats(7, n, n)); err != nil {
		return fail(err)
	}
	if err := ctx.Err(); err != nil {
		return fail(err)
	}
	deform := func(k, l mat.Symmetric) (Learned, error) {
		s, err := deformation(k, l, p)
		if err != nil {
			return fail(err)
		}
		out := Learned{Alpha: 1, Support: make([]int, n), S: s}
		for i := range n {
			out.Support[i] = i
		}
		return out, nil
	}
	if !abandon.Long(n, n, n) {
		return deform(k0, laplacian)
	}
	k, l := mat.NewSymDense(n, nil), mat.NewSymDense(n, nil)
	k.CopySym(k0)
	l.CopySym(laplacian)
	return abandon.Do(ctx, "kernels: data-dependent", func(context.Context) (Learned, error) { return deform(k, l) })
}

// deformation returns S of DataDependent.
func deformation(k, l mat.Symmetric, p DataDependentParams) (*mat.SymDense, error) {
	if err := CheckGram(k); err != nil {
		return nil, fmt.Errorf("k0: %w", err)
	}
	if err := metric.CheckFinite(matrix.Dense(l)); err != nil {
		return nil, fmt.Errorf("laplacian: %w", err)
	}
	n := k.SymmetricDim()
	var eig spectral.EigenSym
	if !eig.Factorize(l, true) {
		return nil, errors.New("laplacian: its eigenvalues overflow float64: scale it down")
	}
	values := eig.Values(nil)
	if low, high := values[0], values[n-1]; low < -metric.PSDTolerance*max(high, 0) {
		return nil, fmt.Errorf("laplacian: it is %w: smallest eigenvalue %g, largest %g", metric.ErrNotPSD, low, high)
	}
	// Eigenvalues of round-off stand for 0: functions that are constant on a component of the graph cost nothing.
	first := 0
	for cut := float64(n) * 0x1p-52 * values[n-1]; first < n && values[first] <= cut; {
		first++
	}
	s := mat.NewSymDense(n, nil)
	if first == n {
		return s, nil
	}
	v := mat.NewDense(n, n, nil)
	eig.VectorsTo(v)
	root := mat.NewDense(n-first, n, nil) // Rᵀ
	for a := range n - first {
		row := root.RawRowView(a)
		mat.Col(row, first+a, v)
		scale := math.Sqrt(p.Weight) * math.Pow(values[first+a], float64(p.Power)/2)
		floats.Scale(scale, row)
	}
	inner := matrix.Mul(matrix.Mul(root, matrix.Dense(k)), root.T())
	sum := mat.NewSymDense(n-first, nil)
	for i := range n - first {
		for j := range i {
			sum.SetSym(i, j, inner.At(i, j)/2+inner.At(j, i)/2)
		}
		sum.SetSym(i, i, 1+inner.At(i, i))
	}
	if metric.CheckFinite(inner) != nil {
		return nil, errors.New("the weight of the graph overflows float64: scale it down")
	}
	var chol mat.Cholesky
	if !chol.Factorize(sum) { // by round-off, where eigenvalues of it spread over 16 digits
		return nil, fmt.Errorf("round-off hides the kernel: eigenvalues of the graph's weight under k0 reach %g, want fewer digits", mat.Norm(sum, 2))
	}
	var lower mat.TriDense
	chol.LTo(&lower)
	blas64.Trsm(blas.Left, blas.NoTrans, 1, lower.RawTriangular(), root.RawMatrix()) // C⁻¹Rᵀ
	s = matrix.Outer(-1, root.T())
	if metric.CheckFinite(s) != nil {
		return nil, errors.New("the weight of the graph overflows float64: scale it down")
	}
	return s, nil
}
