package metric

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/internal/product"
	"metriclab/pkg/spectral"
)

// Mahalanobis is the squared distance
//
//	d(x, y)² = (x−y)ᵀ M (x−y) = ‖L(x−y)‖²,  M = LᵀL ⪰ 0,
//
// with M a d×d precision (units 1/feature²). It is kept as L, r×d with r the
// rank, so that it embeds: x ↦ Lx is a map to R^r in which the metric is
// Euclidean. A Mahalanobis is immutable and safe for concurrent use.
type Mahalanobis struct {
	dim int
	l   *mat.Dense // r×d; nil if r = 0, since gonum has no 0×d matrix
}

// PSDTolerance is the relative size of a negative eigenvalue that
// NewMahalanobis takes for round-off: it refuses λ_min < −PSDTolerance·λ_max.
const PSDTolerance = 1e-10

// ErrNotPSD is returned, wrapped, for a matrix with a negative eigenvalue.
var ErrNotPSD = errors.New("not positive semi-definite")

// NewMahalanobis returns the metric of the symmetric matrix m. Eigenvalues
// within PSDTolerance·λ_max of zero are taken to be zero. It returns an error
// that wraps ErrNotPSD and says how far, if m has a negative eigenvalue, and an
// error if an entry is NaN or infinite. It panics if m is nil or 0×0.
func NewMahalanobis(m mat.Symmetric) (*Mahalanobis, error) {
	demandMatrix("NewMahalanobis", m)
	n := m.SymmetricDim()
	if n == 0 {
		panic(mat.ErrZeroLength)
	}
	values, eig, err := eigenSym(m)
	if err != nil {
		return nil, err
	}
	top := values[n-1]
	if values[0] < -PSDTolerance*math.Max(top, 0) || top < 0 {
		return nil, fmt.Errorf("metric: matrix is %w: smallest eigenvalue %g, largest %g", ErrNotPSD, values[0], top)
	}
	return fromEigen(n, values, eig, PSDTolerance*top), nil
}

// FromFactor returns the metric of M = LᵀL for an r×d matrix l, which is
// copied. It panics if l is nil or has no column.
func FromFactor(l mat.Matrix) *Mahalanobis {
	demandMatrix("FromFactor", l)
	_, d := l.Dims()
	if d == 0 {
		panic(mat.ErrZeroLength)
	}
	return &Mahalanobis{dim: d, l: mat.DenseCopyOf(l)}
}

// Zero returns the metric of M = 0 in d dimensions, under which all points
// coincide. It panics if d < 1.
func Zero(d int) *Mahalanobis {
	if d < 1 {
		panic(mat.ErrZeroLength)
	}
	return &Mahalanobis{dim: d}
}

// Identity returns the Euclidean metric in d dimensions. It panics if d < 1.
func Identity(d int) *Mahalanobis {
	l := mat.NewDense(d, d, nil)
	for i := range d {
		l.Set(i, i, 1)
	}
	return &Mahalanobis{dim: d, l: l}
}

// ProjectPSD returns the positive semi-definite matrix nearest to m in
// Frobenius norm, Σ_{λᵢ>0} λᵢuᵢuᵢᵀ (Golub & Van Loan 1989), and the number of
// negative eigenvalues removed. It costs a full eigendecomposition. It returns
// an error if an entry of m is NaN or infinite, and panics if m is nil.
func ProjectPSD(m mat.Symmetric) (*mat.SymDense, int, error) {
	demandMatrix("ProjectPSD", m)
	n := m.SymmetricDim()
	values, eig, err := eigenSym(m)
	if err != nil {
		return nil, 0, err
	}
	out := mat.NewSymDense(n, nil)
	negative := 0
	for negative < n && values[negative] < 0 {
		negative++
	}
	if negative < n {
		v := mat.NewDense(n-negative, n, nil)
		for i := range n - negative {
			eig.Vector(v.RawRowView(i), negative+i)
		}
		matrix.AddOuter(out, values[negative:], v)
	}
	return out, negative, nil
}

// demandMatrix panics if m, the matrix given to function, is nil.
func demandMatrix(function string, m mat.Matrix) {
	if matrix.IsNil(m) {
		panic("metric: " + function + ": the matrix is nil")
	}
}

func eigenSym(m mat.Symmetric) (values []float64, eig *spectral.EigenSym, err error) {
	eig = new(spectral.EigenSym)
	if !eig.Factorize(m, true) {
		n := m.SymmetricDim()
		for i := range n {
			for j := i; j < n; j++ {
				if a := m.At(i, j); notFinite(a) {
					return nil, nil, fmt.Errorf("metric: entry (%d, %d) is %v, want a finite number", i, j, a)
				}
			}
		}
		return nil, nil, errors.New("metric: eigendecomposition did not converge")
	}
	return eig.Values(nil), eig, nil
}

// fromEigen keeps the eigenpairs above tol, largest first. values ascend.
func fromEigen(n int, values []float64, eig *spectral.EigenSym, tol float64) *Mahalanobis {
	r := 0
	for _, v := range values {
		if v > tol {
			r++
		}
	}
	if r == 0 {
		return Zero(n)
	}
	l := mat.NewDense(r, n, nil)
	for k := range r {
		c := n - 1 - k
		row := l.RawRowView(k)
		eig.Vector(row, c)
		floats.Scale(math.Sqrt(values[c]), row)
	}
	return &Mahalanobis{dim: n, l: l}
}

// Dim returns d, the dimension of the vectors it compares.
func (m *Mahalanobis) Dim() int { return m.dim }

// Rows returns r, the number of rows of the factor L: the dimension of the
// embedding, and an upper bound on the rank of M.
func (m *Mahalanobis) Rows() int {
	if m.l == nil {
		return 0
	}
	r, _ := m.l.Dims()
	return r
}

// SqDist returns d(x, y)² = ‖L(x−y)‖², which is +Inf if it or an entry of x−y
// overflows. It panics if x or y does not have length Dim.
func (m *Mahalanobis) SqDist(x, y []float64) float64 {
	if len(x) != m.dim || len(y) != m.dim {
		panic(mat.ErrShape)
	}
	v := Sub(nil, x, y)
	var s float64
	for i := range m.Rows() {
		p := floats.Dot(m.l.RawRowView(i), v)
		s += p * p
	}
	if !(s <= math.MaxFloat64) {
		return m.largeSqDist(v)
	}
	return s
}

// largeSqDist is ‖Lv‖² where sums overflow, and may cancel, on the way: L and v are
// divided by powers of two of the order of their largest entries.
func (m *Mahalanobis) largeSqDist(v []float64) float64 {
	largest := floats.Norm(v, math.Inf(1))
	switch {
	case floats.HasNaN(v):
		return math.NaN()
	case math.IsInf(largest, 1):
		return largest
	}
	_, vk := math.Frexp(largest)
	_, lk := math.Frexp(max(mat.Max(m.l), -mat.Min(m.l)))
	var s float64
	for i := range m.Rows() {
		var p float64
		for j, a := range m.l.RawRowView(i) {
			// The conversion keeps equal products equal: without it arm64 fuses product
			// and sum, and what cancels leaves round-off.
			p += float64(math.Ldexp(a, -lk) * math.Ldexp(v[j], -vk))
		}
		s += p * p
	}
	return math.Ldexp(s, 2*(lk+vk))
}

// M returns a copy of the d×d matrix LᵀL.
func (m *Mahalanobis) M() *mat.SymDense {
	if m.l == nil {
		return mat.NewSymDense(m.dim, nil)
	}
	return matrix.Outer(1, m.l.T())
}

// Factor returns a copy of the r×d factor L, M = LᵀL, or nil if r = 0.
func (m *Mahalanobis) Factor() *mat.Dense {
	if m.l == nil {
		return nil
	}
	return mat.DenseCopyOf(m.l)
}

// Embed returns Lx, the image of x in R^r. It panics if x does not have length
// Dim.
func (m *Mahalanobis) Embed(x []float64) []float64 {
	if len(x) != m.dim {
		panic(mat.ErrShape)
	}
	out := make([]float64, m.Rows())
	if m.l != nil {
		product.DotRows(out, m.l.RawMatrix(), x)
	}
	return out
}

// EmbedRows returns the n×r matrix XLᵀ whose rows are the images of the rows of the n×d
// matrix x. For a metric of rank 0 it is n×1 and zero. So distances between its rows are
// always those of the metric. It panics if x is nil or does not have Dim columns.
func (m *Mahalanobis) EmbedRows(x mat.Matrix) *mat.Dense {
	xd := matrix.Given("metric: EmbedRows: x", x)
	n, d := xd.Dims()
	if d != m.dim {
		panic(mat.ErrShape)
	}
	if m.l == nil {
		return mat.NewDense(n, 1, nil)
	}
	return matrix.Mul(xd, m.l.T())
}

// Principal returns the k largest eigenvalues of M, in descending order, and
// the corresponding unit eigenvectors as the rows of a k×d matrix. The sign of
// each is fixed by making its entry of largest magnitude positive (the first
// such entry). The eigenvectors are orthonormal, also where L has dependent rows
// and an eigenvalue is 0. An eigenvalue that overflows is +Inf. It costs an eigendecomposition of the smaller of LLᵀ
// and LᵀL. It panics unless 1 ≤ k ≤ min(Rows, Dim).
func (m *Mahalanobis) Principal(k int) (values []float64, vectors *mat.Dense) {
	r := m.Rows()
	if k < 1 || k > min(r, m.dim) {
		panic(fmt.Sprintf("metric: Principal(%d) of a metric with %d rows in %d dimensions", k, r, m.dim))
	}
	var eig spectral.EigenSym
	small := r < m.dim
	exponent := 0                               // of the power of two by which eigenvalues are to be multiplied
	if !eig.Factorize(smallerGram(m.l), true) { // M or an eigenvalue overflows
		_, k := math.Frexp(max(mat.Max(m.l), -mat.Min(m.l)))
		scaled := mat.DenseCopyOf(m.l)
		scaled.Apply(func(_, _ int, a float64) float64 { return math.Ldexp(a, -k) }, scaled)
		exponent = 2 * k
		if !eig.Factorize(smallerGram(scaled), true) {
			panic("metric: eigendecomposition of a finite matrix did not converge")
		}
	}
	all := eig.Values(nil)
	n := len(all)
	values = make([]float64, k)
	vectors = mat.NewDense(k, m.dim, nil)
	q := make([]float64, n)
	for i := range k {
		c := n - 1 - i
		values[i] = math.Ldexp(math.Max(all[c], 0), exponent)
		row := vectors.RawRowView(i)
		if small { // u = Lᵀq/‖Lᵀq‖
			eig.Vector(q, c)
			for j, a := range q {
				floats.AddScaled(row, a, m.l.RawRowView(j))
			}
			if nrm := blas64.Nrm2(blas64.Vector{N: len(row), Inc: 1, Data: row}); nrm > 0 {
				floats.Scale(1/nrm, row)
			}
		} else {
			eig.Vector(row, c)
		}
	}
	Orthonormalise(vectors)
	for i := range k {
		FixSign(vectors.RawRowView(i))
	}
	return values, vectors
}

// FixSign negates v in place if its entry of largest magnitude (the first such
// entry) is negative: the convention that makes eigenvectors reproducible.
func FixSign(v []float64) {
	best := 0
	for i, a := range v {
		if math.Abs(a) > math.Abs(v[best]) {
			best = i
		}
	}
	if len(v) > 0 && v[best] < 0 {
		floats.Scale(-1, v)
	}
}

// SqNorm returns ‖M‖²_F, the squared Frobenius norm of M, +Inf if it overflows.
func (m *Mahalanobis) SqNorm() float64 {
	if m.l == nil {
		return 0
	}
	n := mat.Norm(smallerGram(m.l), 2)
	return n * n
}

// smallerGram returns the smaller of LLᵀ and LᵀL, which have the same eigenvalues but for zeros; LᵀL if L is square.
func smallerGram(l *mat.Dense) *mat.SymDense {
	if r, d := l.Dims(); r < d {
		return matrix.Outer(1, l)
	}
	return matrix.Outer(1, l.T())
}
