package iplr

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/internal/matrix"
	"metriclab/internal/vector"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
	"metriclab/pkg/persist"
	"metriclab/pkg/spectral"
)

// KernelResult is what FitKernel returns.
type KernelResult struct {
	// Result and Solution are those of Fit, with F in the coordinates of Metric.
	learners.Result
	Solution
	// Metric measures distances of objects, also new ones, by their kernel values.
	Metric *KernelMetric
}

// FitKernel is Fit for n objects of which only the Gram matrix K₀ = ΦᵀΦ is known, positive semi-definite and maybe singular, with the basis R = ΦJ of the images, J n×k:
//
//	U = ΦT,  TᵀK₀T = I,  z = Tᵀ(k_i − k_j),  r = K₀_ii − 2K₀_ij + K₀_jj − ‖z‖²,
//
// with the columns k_i of K₀. It learns K = ΦᵀWΦ = K₀ + K₀T(F − I)TᵀK₀ (see KernelMetric.Gram). Source: Jain, Kulis, Davis, Dhillon, JMLR 13, 2012, Section 3.6. The
// paper's T is J(JᵀK₀J)^(−1/2), which exists if the columns of ΦJ are independent. Here columns of J whose images lie in the span of others, up to 1e-5 of their lengths, add nothing; the
// span and W are the same. Coefficients for J are those of RandomColumns, RandomCoefficients, MeanCoefficients, KernelKMeans and SpectralClusters. See Fit for the rest.
//
// Squared distances under K₀ are those of itml.BoundParams.OfGram: 0 if at most 1e-12·(K₀_ii + K₀_jj). So is an r as small.
//
// Beside the errors of Fit that apply, it returns one if
//
//   - an entry of K₀ or J is NaN or infinite, or K₀ is not positive semi-definite, which wraps metric.ErrNotPSD;
//   - J does not have n rows, or ΦJ is zero.
//
// It panics if k0 or j is nil or empty. It costs O(n³) for the check of K₀, O(n²k) for the basis and O(k²) per step.
func FitKernel(ctx context.Context, k0 mat.Symmetric, j mat.Matrix, links []metric.Link, p Params) (KernelResult, error) {
	p = p.Resolved()
	if err := p.check(); err != nil {
		return KernelResult{}, err
	}
	q, err := NewKernelProblem(ctx, k0, j, links)
	if err != nil {
		return KernelResult{}, err
	}
	return q.Fit(ctx, p)
}

// KernelProblem is links between objects in the coordinates of a basis ΦT, as Problem is between rows.
type KernelProblem struct {
	t     *mat.Dense
	pairs *pairs
}

// NewKernelProblem returns the links of FitKernel, projected on the basis. It has the errors and panics of FitKernel that do not depend on parameters.
func NewKernelProblem(ctx context.Context, k0 mat.Symmetric, j mat.Matrix, links []metric.Link) (*KernelProblem, error) {
	jd := matrix.Dense(j)
	if matrix.IsNil(k0) || k0.SymmetricDim() == 0 || jd == nil || jd.IsEmpty() {
		panic("iplr: NewKernelProblem: k0 or j is nil or empty")
	}
	n := k0.SymmetricDim()
	m, q := jd.Dims()
	if m != n {
		return nil, fmt.Errorf("iplr: j: it has %d rows, want %d like k0", m, n)
	}
	if err := metric.CheckFinite(jd); err != nil {
		return nil, fmt.Errorf("iplr: j: %w", err)
	}
	if err := limits.Check(fmt.Sprintf("IPLR with a kernel of %d objects and %d coefficients of each", n, q), limits.Floats(5, n, max(n, q))); err != nil {
		return nil, fmt.Errorf("iplr: %w", err)
	}
	if err := checkLinks(n, links); err != nil {
		return nil, err
	}
	if !abandon.Long(n, n, max(n, q)) {
		return newKernelProblem(ctx, k0, jd, links)
	}
	copied := mat.NewSymDense(n, nil)
	copied.CopySym(k0)
	jd, links = mat.DenseCopyOf(jd), slices.Clone(links)
	return abandon.Do(ctx, "iplr", func(ctx context.Context) (*KernelProblem, error) { return newKernelProblem(ctx, copied, jd, links) })
}

func newKernelProblem(ctx context.Context, k0 mat.Symmetric, j *mat.Dense, links []metric.Link) (*KernelProblem, error) {
	if err := kernels.CheckGram(k0); err != nil {
		return nil, fmt.Errorf("iplr: k0: %w", err)
	}
	k := mat.DenseCopyOf(k0)
	t, image, err := kernelBasis(ctx, k, j)
	if err != nil {
		return nil, err
	}
	_, rank := t.Dims()
	p, err := newPairs(rank, links)
	if err != nil {
		return nil, err
	}
	for i, l := range links {
		if i%looks == 0 && ctx.Err() != nil {
			return nil, fmt.Errorf("iplr: %w", ctx.Err())
		}
		z := metric.Sub(p.of(i), image.RawRowView(l.I), image.RawRowView(l.J))
		p.sq[i] = gramSqDist(k.At(l.I, l.I), k.At(l.I, l.J), k.At(l.J, l.J))
		p.r[i] = outside(p.sq[i], z, k.At(l.I, l.I)+k.At(l.J, l.J))
		if math.IsInf(p.sq[i], 0) || math.IsNaN(p.r[i]) {
			return nil, p.refuse(i, "squared distance %v at the start, want a finite number: scale k0 down", p.sq[i])
		}
	}
	return &KernelProblem{t, p}, nil
}

// told is the share of K₀_ii + K₀_jj that the entries of K₀ tell of a squared distance.
const told = 1e-12

// gramSqDist returns the squared distance of two objects by their kernel values.
func gramSqDist(xx, xy, yy float64) float64 {
	if q := xx - 2*xy + yy; !(q <= told*(xx+yy)) {
		return q
	}
	return 0
}

// outside returns the part of the squared distance sq that lies outside the basis, in which it is z. size is the sum of the objects' κ(x, x).
func outside(sq float64, z []float64, size float64) float64 {
	if r := sq - sumSquares(z); !(r <= told*size) {
		return r
	}
	return 0
}

// kernelBasis returns T with TᵀK₀T = I, whose columns span those of J as far as K₀ tells, and K₀T.
func kernelBasis(ctx context.Context, k, j *mat.Dense) (t, image *mat.Dense, err error) {
	_, q := j.Dims()
	j = mat.DenseCopyOf(j)
	for c := range q { // first to the size of 1, so that nothing overflows
		var largest float64
		for i := range k.RawMatrix().Rows {
			largest = max(largest, math.Abs(j.At(i, c)))
		}
		scaleColumn(j, c, largest)
	}
	image = matrix.Mul(k, j)
	for c := range q {
		var square, size float64 // of the image
		for i := range k.RawMatrix().Rows {
			square += j.At(i, c) * image.At(i, c)
			size += math.Abs(j.At(i, c)) * math.Sqrt(max(k.At(i, i), 0))
		}
		if square <= told*size*size { // round-off
			square = 0
		}
		scaleColumn(j, c, math.Sqrt(square))
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, fmt.Errorf("iplr: %w", err)
	}
	t = j
	for round := range 2 { // the second mends the round-off of the first, which grows with the condition of JᵀK₀J
		gram := matrix.Symmetric(matrix.Mul(t.T(), matrix.Mul(k, t)))
		var eig spectral.EigenSym
		if !eig.Factorize(gram, true) {
			return nil, nil, errors.New("iplr: k0: the basis overflows float64: scale it down")
		}
		values := eig.Values(nil)
		var vectors mat.Dense
		eig.VectorsTo(&vectors)
		first := 0
		if round == 0 {
			for first < len(values) && values[first] <= leastEigen*values[len(values)-1] {
				first++
			}
		}
		if first == len(values) || values[len(values)-1] <= 0 {
			return nil, nil, errors.New("iplr: j: the images ΦJ are zero, want one that is not")
		}
		kept := mat.DenseCopyOf(vectors.Slice(0, len(values), first, len(values)))
		for c := range len(values) - first {
			scaleColumn(kept, c, math.Sqrt(values[first+c]))
		}
		t = matrix.Mul(t, kept)
		if err := ctx.Err(); err != nil {
			return nil, nil, fmt.Errorf("iplr: %w", err)
		}
	}
	if err := metric.CheckFinite(t); err != nil {
		return nil, nil, fmt.Errorf("iplr: basis: %w", err)
	}
	return t, matrix.Mul(k, t), nil
}

// leastEigen is the share of the largest eigenvalue of the Gram matrix of unit vectors below which a direction is round-off.
const leastEigen = 1e-10

// scaleColumn divides a column of a by s, or clears it if s is 0.
func scaleColumn(a *mat.Dense, c int, s float64) {
	n, _ := a.Dims()
	for i := range n {
		v := 0.0
		if s > 0 {
			v = a.At(i, c) / s
		}
		a.Set(i, c, v)
	}
}

// made returns p, and panics if no constructor made it.
func (p *KernelProblem) made() *KernelProblem {
	if p == nil || p.pairs == nil {
		panic("iplr: KernelProblem: nil or the zero value, use NewKernelProblem")
	}
	return p
}

// Rank returns k, the number of vectors of the basis.
func (p *KernelProblem) Rank() int { return p.made().pairs.k }

// Residuals returns the part r of the squared distance of each link that lies outside the basis.
func (p *KernelProblem) Residuals() []float64 { return slices.Clone(p.made().pairs.r) }

// Fit is the function FitKernel on links that are prepared.
func (p *KernelProblem) Fit(ctx context.Context, params Params) (KernelResult, error) {
	return fit(ctx, p.made().pairs, params, func(a answer) (KernelResult, error) {
		return KernelResult{Result: a.Result, Solution: a.Solution, Metric: &KernelMetric{t: p.t, g: a.factor}}, nil
	})
}

// KernelMetric is the squared distance of W = I + U(F − I)Uᵀ, U = ΦT, between objects of which kernel values are known: those of the fit, and new ones by
// their kernel values with these. It holds the n×k matrix T and a factor of F, O(nk) numbers, and is immutable and safe for concurrent use.
type KernelMetric struct {
	t *mat.Dense
	g *mat.Dense // F = GᵀG
}

// made returns m, and panics if no constructor made it.
func (m *KernelMetric) made() *KernelMetric {
	if m == nil || m.t == nil {
		panic("iplr: KernelMetric: nil or the zero value, use FitKernel")
	}
	return m
}

// Objects returns n, the number of objects of the fit.
func (m *KernelMetric) Objects() int {
	n, _ := m.made().t.Dims()
	return n
}

// Rank returns k, the number of vectors of the basis.
func (m *KernelMetric) Rank() int {
	_, k := m.made().t.Dims()
	return k
}

// Coordinates returns Uᵀφ of each of s objects, s×k: for their kernel values with the objects of the fit, cross, s×n (K₀ itself for these), cross·T. It costs O(snk).
// It returns an error if cross does not have n columns or an entry is NaN or infinite, and panics if cross is nil or empty.
func (m *KernelMetric) Coordinates(cross mat.Matrix) (*mat.Dense, error) {
	t := m.made().t
	c := matrix.Dense(cross)
	if c == nil || c.IsEmpty() {
		panic("iplr: Coordinates: cross is nil or empty")
	}
	n, _ := t.Dims()
	if _, cols := c.Dims(); cols != n {
		return nil, fmt.Errorf("iplr: cross: it has %d columns, want %d, one per object of the fit", cols, n)
	}
	if err := metric.CheckFinite(c); err != nil {
		return nil, fmt.Errorf("iplr: cross: %w", err)
	}
	return matrix.Mul(c, t), nil
}

// SqDist returns the learned squared distance of two objects, ‖φ − φ'‖² − ‖z − z'‖² + (z − z')ᵀF(z − z'), from their kernel values κ(x, x), κ(x, y) and κ(y, y), and their
// Coordinates z and z'. The part outside the basis counts as 0 if it is at most 1e-12·(κ(x, x) + κ(y, y)), as at the fit, so that the answer is never negative. It costs O(k²). It panics
// if z or z' does not have length Rank.
func (m *KernelMetric) SqDist(xx, xy, yy float64, zx, zy []float64) float64 {
	if k := m.Rank(); len(zx) != k || len(zy) != k {
		panic(mat.ErrShape)
	}
	z := metric.Sub(nil, zx, zy)
	s := outside(gramSqDist(xx, xy, yy), z, xx+yy)
	for i := range z {
		p := vector.Dot(m.g.RawRowView(i), z)
		s += p * p
	}
	return s
}

// Gram returns the learned kernel matrix K = K₀ + Z(F − I)Zᵀ of s objects from their kernel matrix k0, s×s, and their Coordinates z, s×k. With K₀ of the fit that is the paper's
// K. It costs O(s²k). It returns an error if the shapes do not fit, and panics if a matrix is nil or empty.
func (m *KernelMetric) Gram(k0 mat.Symmetric, z mat.Matrix) (*mat.SymDense, error) {
	m.made()
	zd := matrix.Dense(z)
	if matrix.IsNil(k0) || k0.SymmetricDim() == 0 || zd == nil || zd.IsEmpty() {
		panic("iplr: Gram: k0 or z is nil or empty")
	}
	n := k0.SymmetricDim()
	if rows, cols := zd.Dims(); rows != n || cols != m.Rank() {
		return nil, fmt.Errorf("iplr: z: %d×%d is not allowed, want %d×%d for a kernel matrix of order %d", rows, cols, n, m.Rank(), n)
	}
	inside, stretched := matrix.Outer(1, zd), matrix.Outer(1, matrix.Mul(zd, m.g.T()))
	k := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			k.SetSym(i, j, k0.At(i, j)-inside.At(i, j)+stretched.At(i, j))
		}
	}
	return k, nil
}

// F returns a copy of the k×k matrix F.
func (m *KernelMetric) F() *mat.SymDense { return matrix.Outer(1, m.made().g.T()) }

// KernelKind is the kind under which package persist stores a KernelMetric.
const KernelKind = "iplr/kernel"

// kernelState is what Save writes; there are no parameters.
type kernelState struct {
	Objects int            `json:"objects"`
	Rank    int            `json:"rank"`
	T       persist.Floats `json:"t"`      // n×k, row by row
	Factor  persist.Floats `json:"factor"` // G, row by row
}

// Save writes the metric in the format of package persist, kind "iplr/kernel": O(nk) numbers, every bit. It panics on nil and on the zero value.
func (m *KernelMetric) Save(w io.Writer) error {
	return persist.Write(w, KernelKind, struct{}{}, kernelState{Objects: m.Objects(), Rank: m.Rank(), T: m.t.RawMatrix().Data, Factor: m.g.RawMatrix().Data})
}

// LoadKernelMetric reads a metric that Save wrote. Its errors wrap those of package persist if the file is foreign, newer, damaged or of another kind.
func LoadKernelMetric(r io.Reader) (*KernelMetric, error) {
	var s kernelState
	if err := persist.Load(r, KernelKind, &struct{}{}, &s); err != nil {
		return nil, err
	}
	if s.Rank < 1 || s.Objects < s.Rank || len(s.T)%s.Rank != 0 || len(s.T)/s.Rank != s.Objects || len(s.Factor)%s.Rank != 0 || len(s.Factor)/s.Rank != s.Rank {
		return nil, fmt.Errorf("%w: %s: %d and %d numbers do not fit rank %d and %d objects", persist.ErrDamaged, KernelKind, len(s.T), len(s.Factor), s.Rank, s.Objects)
	}
	if floats.HasNaN(s.T) || floats.HasNaN(s.Factor) || math.IsInf(floats.Norm(s.T, math.Inf(1)), 0) || math.IsInf(floats.Norm(s.Factor, math.Inf(1)), 0) {
		return nil, fmt.Errorf("%w: %s: a number is NaN or infinite", persist.ErrDamaged, KernelKind)
	}
	return &KernelMetric{t: mat.NewDense(s.Objects, s.Rank, s.T), g: mat.NewDense(s.Rank, s.Rank, s.Factor)}, nil
}
