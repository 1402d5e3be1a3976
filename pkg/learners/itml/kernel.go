package itml

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
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
	"metriclab/pkg/spectral"
)

// KernelVersion changes whenever FitKernel or FitKernelRows gives
// other numbers for the same input.
const KernelVersion = 2

// KernelParams are the parameters of FitKernel. But for W0, which has no
// counterpart (K₀ = ΦᵀW₀Φ stands for it), they are those of Params.
type KernelParams struct {
	// Gamma is the weight γ > 0 of the slacks; 0 means 1, and +Inf that there are
	// none, so that every link is a hard constraint.
	Gamma float64 `range:"> 0, or +Inf"`
	// Upper is u, the largest squared distance wanted of a similar pair, at least 1e-140 and
	// less than Lower; 0 means by Bounds. Both are 0, or neither is.
	Upper float64 `range:"0, or >= 1e-140 and < lower"`
	// Lower is ℓ, the smallest squared distance wanted of a dissimilar pair, at most 1e140.
	Lower float64 `range:"0, or > upper and <= 1e140"`
	// Bounds says how u and ℓ follow from the squared distances of the links under K₀.
	Bounds BoundParams
	// Tol is the tolerance of the stopping rule, > 0; 0 means 0.001.
	Tol float64 `range:"> 0"`
	// MaxCycles is the cap on cycles over the links, at least 1; 0 means those of
	// 100,000 steps.
	MaxCycles int `range:"0, or >= 1"`
	// Progress, if not nil, is told of each cycle, as that of Params.
	Progress func(learners.Progress)
}

// Resolved returns p with its defaults filled in, but for MaxCycles, whose default
// depends on the number of links.
func (p KernelParams) Resolved() KernelParams {
	q := p.input().Resolved()
	p.Gamma, p.Bounds, p.Tol = q.Gamma, q.Bounds, q.Tol
	return p
}

func (p KernelParams) input() Params {
	return Params{Gamma: p.Gamma, Upper: p.Upper, Lower: p.Lower, Bounds: p.Bounds, Tol: p.Tol, MaxCycles: p.MaxCycles, Progress: p.Progress}
}

// KernelResult is what FitKernel returns.
type KernelResult struct {
	// Result has learners.Converged or learners.IterationCap, as for Fit. Iterations counts cycles, and
	// Residual is the change of λ over the last one, as in the stopping rule.
	learners.Result
	// Solution holds bounds, multipliers, slacks, KKT residual and duality gap.
	Solution
	// Support holds the rows of K₀ that a link with λ > 0 joins, ascending.
	Support []int
	// S is the matrix S of W = I + ΦSΦᵀ between the support, in its order; nil if
	// there is none, so that W = I. It is symmetric, and its rows sum to 0 up to
	// round-off.
	S *mat.SymDense
}

// FitKernel is Fit for objects of which only the Gram matrix K₀ is known,
// n×n and positive semi-definite, also singular: given as such or of any kernel κ,
// K₀ = ΦᵀΦ with Φ = (φ(x₁), …, φ(x_n)). It learns the kernel matrix K = ΦᵀWΦ of the W in the
// space of φ that is closest to I in the LogDet divergence, brings similar pairs together and
// dissimilar ones apart,
//
//	min over K and ξ > 0 of D(K, K₀) + γ·D(diag ξ, diag ξ₀)
//	subject to δ(p − ξ) ≤ 0 for each link,  p = K_ii − 2K_ij + K_jj,
//
// where, if K₀ is singular, D(K, K₀) stands for D(W, I). With K₀ = ΦᵀW₀Φ the W learned
// is the closest to W₀. Source: Jain, Kulis, Davis, Dhillon, Metric and Kernel Learning
// Using a Linear Transformation, JMLR 13, 2012, Theorem 1, Corollary 2, Eq. 7 and
// Algorithm 1. See Fit for γ, δ, ξ₀, u, ℓ, the steps, when they stop and what status
// says.
//
// With C = Σ λδ(e_i − e_j)(e_i − e_j)ᵀ, W⁻¹ = I + ΦCΦᵀ. Hence
//
//	K = K₀(I + CK₀)⁻¹,  W = I + ΦSΦᵀ,  S = −C + CKC,
//
// without an inverse of K₀ as in the paper's S = K₀⁻¹(K − K₀)K₀⁻¹; S is found from
// (I + CK₀)S = −C. It is 0 outside the rows that links join, and the steps are made for
// these alone: they are those of Fit for the rows of F, K₀ = FFᵀ by the eigenvectors of
// their block of K₀, centred, which changes no distance and keeps digits of K₀ where the
// points are far from the origin. p = vᵀWv, v a difference of two rows, keeps digits of small
// distances that K_ii − 2K_ij + K_jj loses. What K is elsewhere, All says, and Kernel at
// new points. Between, Among and the squared distances beside them are for new objects of which only kernel
// values are known.
//
// A link between duplicates is skipped: p ≤ 10⁻¹²·ξ₀ under K₀, or ≤ 10⁻¹²·(K₀_ii + K₀_jj),
// less than which the entries do not tell. With m links that join t objects a step costs
// O(r²), r ≤ t the rank of F, and the beginning and end O(mr² + t³); the check of K₀ costs
// O(n³).
//
// FitKernel returns an error if
//
//   - there is no link, or a link has label 0 or an index outside K₀;
//   - an entry of K₀ is NaN or infinite, or K₀ is not positive semi-definite, which wraps
//     metric.ErrNotPSD and says how far (see kernels.CheckGram);
//   - a parameter is out of range, u ≥ ℓ, or the rule gives no bounds;
//   - the links ask for a metric that is singular to working precision, as contradictory ones
//     with γ = ∞ may (see Fit);
//   - ctx is done.
//
// It panics if k0 is nil or empty.
func FitKernel(ctx context.Context, k0 mat.Symmetric, links []metric.Link, p KernelParams) (KernelResult, error) {
	if matrix.IsNil(k0) || k0.SymmetricDim() == 0 {
		panic("itml: FitKernel: k0 is nil or empty")
	}
	n := k0.SymmetricDim()
	objects, q, err := p.prepare(n, links)
	if err != nil {
		return KernelResult{}, err
	}
	if !abandon.Long(n, n, n) {
		return fitGram(ctx, objects, k0, links, q)
	}
	k0, links = copySymmetric(k0), slices.Clone(links)
	return abandon.Run(ctx, "itml", p.Progress, func(ctx context.Context, progress func(learners.Progress)) (KernelResult, error) {
		q.Progress = progress
		return fitGram(ctx, objects, k0, links, q)
	})
}

// fitGram is FitKernel with the objects that links join and resolved parameters.
func fitGram(ctx context.Context, objects []int, k0 mat.Symmetric, links []metric.Link, p Params) (KernelResult, error) {
	if err := kernels.CheckGram(k0); err != nil {
		return KernelResult{}, fmt.Errorf("itml: k0: %w", err)
	}
	block := mat.NewSymDense(len(objects), nil)
	for a, i := range objects {
		for b, j := range objects[:a+1] {
			block.SetSym(a, b, k0.At(i, j))
		}
	}
	return fitBlock(ctx, objects, block, links, p)
}

// FitKernelRows is FitKernel for the Gram matrix of the kernel k between the
// rows of x, n×d, of which only the rows that links join are used. It returns the errors of
// FitKernel, with the entries of K₀ numbered among these rows, and one if an
// entry of x is NaN or infinite. It panics if x is nil or empty, or k is nil.
func FitKernelRows(ctx context.Context, k kernels.Kernel, x mat.Matrix, links []metric.Link, p KernelParams) (KernelResult, error) {
	xd := matrix.Dense(x)
	if k == nil || xd == nil || xd.IsEmpty() {
		panic("itml: FitKernelRows: the kernel or x is nil, or x is empty")
	}
	n, d := xd.Dims()
	objects, q, err := p.prepare(n, links)
	if err != nil {
		return KernelResult{}, err
	}
	if err := metric.CheckFinite(xd); err != nil {
		return KernelResult{}, fmt.Errorf("itml: %w", err)
	}
	rows := mat.NewDense(len(objects), d, nil)
	for a, i := range objects {
		rows.SetRow(a, xd.RawRowView(i))
	}
	block, err := kernels.GramContext(ctx, k, rows)
	if err != nil {
		return KernelResult{}, fmt.Errorf("itml: %w", err)
	}
	fit := func(ctx context.Context) (KernelResult, error) {
		if err := kernels.CheckGram(block); err != nil {
			return KernelResult{}, fmt.Errorf("itml: kernel matrix: %w", err)
		}
		return fitBlock(ctx, objects, block, links, q)
	}
	if t := len(objects); !abandon.Long(t, t, t) {
		return fit(ctx)
	}
	links = slices.Clone(links)
	return abandon.Run(ctx, "itml", p.Progress, func(ctx context.Context, progress func(learners.Progress)) (KernelResult, error) {
		q.Progress = progress
		return fit(ctx)
	})
}

// prepare returns the objects that links between n of them join, ascending, and the
// resolved parameters of the loop.
func (p KernelParams) prepare(n int, links []metric.Link) ([]int, Params, error) {
	q := p.input().Resolved()
	if err := q.check(); err != nil {
		return nil, q, err
	}
	if len(links) == 0 {
		return nil, q, errors.New("itml: links: none given, want at least one")
	}
	if err := metric.CheckLinks(n, links); err != nil {
		return nil, q, fmt.Errorf("itml: %w", err)
	}
	objects := make([]int, 0, 2*len(links))
	for _, l := range links {
		objects = append(objects, l.I, l.J)
	}
	slices.Sort(objects)
	objects = slices.Compact(objects)
	t := len(objects)
	if err := limits.Check(fmt.Sprintf("a kernel of the %d rows that links join", t), limits.Floats(6, t, t)); err != nil {
		return nil, q, fmt.Errorf("itml: %w", err)
	}
	return objects, q, nil
}

// fitBlock is the fit on the block of K₀ between the objects that links join.
func fitBlock(ctx context.Context, objects []int, block *mat.SymDense, links []metric.Link, p Params) (KernelResult, error) {
	inside := make([]metric.Link, len(links))
	for k, l := range links {
		i, _ := slices.BinarySearch(objects, l.I)
		j, _ := slices.BinarySearch(objects, l.J)
		inside[k] = metric.Link{I: i, J: j, Label: l.Label}
	}
	var err error
	if p.Upper == 0 {
		if p.Upper, p.Lower, err = p.Bounds.OfGram(block, inside); err != nil {
			return KernelResult{}, err
		}
	}
	if err := ctx.Err(); err != nil {
		return KernelResult{}, fmt.Errorf("itml: %w", err)
	}
	f, err := newKernelForm(ctx, block)
	if err != nil {
		return KernelResult{}, err
	}
	l := newLoop(ctx, f, inside, p)
	for k, link := range inside {
		l.skip[k] = gramSqDist(block, link) == 0
	}
	status, err := l.run(p)
	if err != nil {
		return KernelResult{}, err
	}
	if err := l.stopped(0); err != nil {
		return KernelResult{}, err
	}
	support, s, ok := f.transformation(inside, l.weights())
	if !ok {
		return KernelResult{}, errSingular
	}
	for a, i := range support {
		support[a] = objects[i]
	}
	return KernelResult{
		Result:   learners.Result{Status: status, Iterations: l.cycles, Residual: l.change},
		Solution: l.solution(p),
		Support:  support, S: s,
	}, nil
}

// allRows is how many rows of K All makes at a time.
const allRows = 256

// All returns the learned kernel matrix
//
//	K = K₀ + K₀SK₀
//
// of all n objects of k0, which is the K₀ of the fit, or a larger one that begins with
// it: further objects need not have been known then. K of the support is that of the
// fit, up to round-off. For m objects in the support it costs O(mn²). It panics if k0 is
// nil or has too few rows for the support.
func (l KernelResult) All(k0 mat.Symmetric) *mat.SymDense {
	demandGiven("k0", k0)
	n, m := k0.SymmetricDim(), len(l.Support)
	k := mat.NewSymDense(n, nil)
	k.CopySym(k0)
	if m == 0 {
		return k
	}
	if l.Support[m-1] >= n {
		panic(fmt.Sprintf("itml: k0 has %d rows, want at least %d", n, l.Support[m-1]+1))
	}
	p := mat.NewDense(n, m, nil) // K₀ between all objects and the support
	for i := range n {
		row := p.RawRowView(i)
		for a, j := range l.Support {
			row[a] = k0.At(i, j)
		}
	}
	var ps mat.Dense
	ps.Mul(p, l.S)
	raw := k.RawSymmetric()
	for top := 0; top < n; top += allRows {
		end := min(top+allRows, n)
		var add mat.Dense
		add.Mul(ps.Slice(top, end, 0, m), p.Slice(top, n, 0, m).T())
		for i := top; i < end; i++ {
			floats.Add(raw.Data[i*raw.Stride+i:i*raw.Stride+n], add.RawRowView(i - top)[i-top:])
		}
	}
	return k
}

// Kernel returns the learned kernel, of any two points, known at the fit or not (Eq. 6):
//
//	K(x, y) = κ(x, y) + k(x)ᵀSk(y),  k(x) = κ of x and each support point,
//
// for the kernel k = κ and the rows of x, n×d, whose Gram matrix K₀ is. It returns an
// error, by kernels.NewTransformed, if the kernel is not positive semi-definite: because k
// or x are others than those of the fit, or by round-off, where K₀ is singular and bounds ask
// for distances some 10⁷ times smaller than they were. It panics if k or x is nil, or x has
// too few rows for the support.
func (l KernelResult) Kernel(k kernels.Kernel, x mat.Matrix) (*kernels.Transformed, error) {
	xd := matrix.Given("itml: Kernel: x", x)
	n, d := xd.Dims()
	m := len(l.Support)
	if m == 0 {
		return kernels.NewTransformed(k, d, nil, nil)
	}
	if l.Support[m-1] >= n {
		panic(fmt.Sprintf("itml: x has %d rows, want at least %d", n, l.Support[m-1]+1))
	}
	support := mat.NewDense(m, d, nil)
	for a, i := range l.Support {
		support.SetRow(a, xd.RawRowView(i))
	}
	return kernels.NewTransformed(k, d, support, l.S)
}

// kernelForm is the W of input space for the rows of F, t×r, where FFᵀ is the kernel matrix
// K₀ of the t objects that links join, centred.
type kernelForm struct {
	*inputForm
	k0 *mat.SymDense // as given
}

// newKernelForm returns the form of K₀ without the eigenvalues up to t·ε times the
// largest, which are round-off.
func newKernelForm(ctx context.Context, k0 *mat.SymDense) (*kernelForm, error) {
	t := k0.SymmetricDim()
	mean := make([]float64, t)
	for i := range t {
		for j := range t {
			mean[i] += k0.At(i, j) / float64(t)
		}
	}
	all := floats.Sum(mean) / float64(t)
	centred := mat.NewSymDense(t, nil)
	for i := range t {
		for j := range i + 1 {
			centred.SetSym(i, j, k0.At(i, j)-mean[i]-mean[j]+all)
		}
	}
	var eig spectral.EigenSym
	if !eig.Factorize(centred, true) {
		return nil, errors.New("itml: k0: its eigenvalues overflow float64: scale the data down")
	}
	values := eig.Values(nil)
	var vectors mat.Dense
	eig.VectorsTo(&vectors)
	low := 0 // the first eigenvalue that counts; gonum has no matrix without columns
	for low < t-1 && values[low] <= float64(t)*0x1p-52*values[t-1] {
		low++
	}
	f := mat.DenseCopyOf(vectors.Slice(0, t, low, t))
	for i := range t {
		for j, v := range values[low:] {
			f.RawRowView(i)[j] *= math.Sqrt(max(v, 0))
		}
	}
	in, err := newInputForm(ctx, f, nil)
	if err != nil {
		return nil, err
	}
	return &kernelForm{in, k0}, nil
}

// transformation returns the objects of links with c ≠ 0, ascending, and S between them,
// from (I + CK₀)S = −C with K₀ as given: the terms of −C + CKC cancel where K is far below
// K₀. Both are nil if there are none. It reports whether S exists to working precision.
func (f *kernelForm) transformation(links []metric.Link, c []float64) (support []int, s *mat.SymDense, ok bool) {
	for k, l := range links {
		if c[k] != 0 {
			support = append(support, l.I, l.J)
		}
	}
	if support == nil {
		return nil, nil, true
	}
	slices.Sort(support)
	support = slices.Compact(support)
	m := len(support)
	rows := mat.NewDense(m, m, nil) // K₀
	for a, i := range support {
		for b, j := range support {
			rows.Set(a, b, f.k0.At(i, j))
		}
	}
	cm, a := mat.NewDense(m, m, nil), mat.NewDense(m, m, nil) // −C, I + CK₀
	v := make([]float64, m)
	for k, l := range links {
		if c[k] == 0 {
			continue
		}
		i, _ := slices.BinarySearch(support, l.I)
		j, _ := slices.BinarySearch(support, l.J)
		metric.Sub(v, rows.RawRowView(i), rows.RawRowView(j)) // first: sums of multiples of K₀ would lose its digits
		floats.AddScaled(a.RawRowView(i), c[k], v)
		floats.AddScaled(a.RawRowView(j), -c[k], v)
		cm.Set(i, i, cm.At(i, i)-c[k])
		cm.Set(j, j, cm.At(j, j)-c[k])
		cm.Set(i, j, cm.At(i, j)+c[k])
		cm.Set(j, i, cm.At(j, i)+c[k])
	}
	for i := range m {
		a.Set(i, i, a.At(i, i)+1)
	}
	var lu mat.LU
	lu.Factorize(a)
	var x mat.Dense
	if err := lu.SolveTo(&x, false, cm); err != nil {
		if c, ok := errors.AsType[mat.Condition](err); !ok || math.IsInf(float64(c), 1) {
			return nil, nil, false
		}
	}
	s = mat.NewSymDense(m, nil)
	for i := range m {
		for j := range i + 1 {
			s.SetSym(i, j, x.At(i, j)/2+x.At(j, i)/2)
		}
	}
	return support, s, true
}
