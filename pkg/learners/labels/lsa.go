package labels

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/internal/matrix"
	"metriclab/internal/ranges"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
	"metriclab/pkg/persist"
	"metriclab/pkg/sparse"
	"metriclab/pkg/spectral"
)

// LSAVersion changes whenever FitLSA gives other numbers for the same input.
const LSAVersion = 1

// LSAParams are the parameters of FitLSA.
type LSAParams struct {
	// K is the number of components.
	K int `range:">= 1 and <= the smaller of the numbers of rows and columns" name:"dim" default:"2" doc:"number of components"`
	// Centred says that column means are subtracted first, which makes LSA principal component analysis. The default is false.
	Centred bool `name:"centring" words:"none|mean" doc:"what is subtracted first: nothing, or the mean row, which makes it pca"`
}

// Resolved returns p: K has no default.
func (p LSAParams) Resolved() LSAParams { return p }

// LSA is latent semantic analysis: the k right singular vectors of a matrix of documents by terms with the
// largest singular values. It is immutable and safe for concurrent use.
type LSA struct {
	mean     []float64 // zero unless centred
	centred  bool
	w        *mat.Dense // k×d
	values   []float64  // singular values
	residual float64
}

// FitLSA returns the K right singular vectors of the n×d matrix x with the largest singular values, x ≈ D·S·W with
// the rows of W, K×d, orthonormal and S diagonal: the best approximation of rank K. Documents are rows of x, terms are columns, and the
// coordinates of a document are its row of D·S = x·Wᵀ. Centred, that is done to x − 1μᵀ, μ the column means. Then W, coordinates and
// metric are those of FitPCA. Source: Deerwester, Dumais, Furnas, Landauer, Harshman, Indexing by Latent Semantic Analysis,
// J. Am. Soc. Inf. Sci. 41(6), 1990. Jain, Kulis, Davis, Dhillon (JMLR 13, 2012, Section 6.2) project "via principal components
// analysis", which is LSA centred.
//
// A *sparse.Matrix stays sparse. Its eigenvectors of xᵀx, or xxᵀ if n < d, are found by Lanczos, in O(entries) per product and
// without a dense copy, also where x is centred. Residual tells how well each was found. That none was missed
// rests on a second search among directions orthogonal to those found, and is not proved. Where min(n, d) is small, or K is
// more than an eighth of it, and where the spectrum decays too slowly, a dense copy is decomposed. Dense rows go the
// way of FitPCA. Sign and degenerate components are as there.
//
// Singular values are accurate to some 1e-13·σ₁²/σ. It returns an error if K is out of range, if an entry is NaN or infinite, if
// memory does not do, or if ctx is done. So it does if the sum of squares overflows, or is below 2.3e-308·n though it is not 0. It panics
// if x is nil or empty.
func FitLSA(ctx context.Context, x mat.Matrix, p LSAParams) (*LSA, error) {
	if matrix.IsNil(x) {
		panic("labels: FitLSA: x is nil")
	}
	n, d := x.Dims()
	if n == 0 || d == 0 {
		panic("labels: FitLSA: x is empty")
	}
	p = p.Resolved()
	m := min(n, d)
	if err := ranges.Check("lsa", p, ranges.Limit{Words: "the smaller of the numbers of rows and columns", Value: m}); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("lsa: %w", err)
	}
	rows, ok := x.(*sparse.Matrix)
	if !ok {
		return fitDenseLSA(ctx, matrix.Dense(x), p)
	}
	if m > fewRows && manyOf*p.K <= m {
		l, err := fitSparseLSA(ctx, rows, p)
		if l != nil || err != nil {
			return l, err
		}
	}
	xd, err := rows.Dense()
	if err != nil {
		return nil, fmt.Errorf("lsa: %w", err)
	}
	return fitDenseLSA(ctx, xd, p)
}

// fitDenseLSA is FitLSA for dense rows.
func fitDenseLSA(ctx context.Context, x *mat.Dense, p LSAParams) (*LSA, error) {
	n, d := x.Dims()
	if err := limits.Check(fmt.Sprintf("LSA of %d×%d numbers", n, d), limits.Floats(4, min(n, d), min(n, d))); err != nil {
		return nil, fmt.Errorf("lsa: %w", err)
	}
	mean, err := finiteMean(x)
	if err != nil {
		return nil, fmt.Errorf("lsa: %w", err)
	}
	if !p.Centred {
		clear(mean)
	}
	e, err := principalOf(ctx, "lsa", x, mean, p.K)
	if err != nil {
		return nil, err
	}
	return newLSA(p, mean, e.vectors, e.values, float64(n), e.residual), nil
}

// newLSA makes singular values of eigenvalues, of which scale times are squares.
func newLSA(p LSAParams, mean []float64, w *mat.Dense, values []float64, scale, residual float64) *LSA {
	for i, v := range values {
		values[i] = math.Sqrt(scale) * math.Sqrt(v)
	}
	return &LSA{mean: mean, centred: p.Centred, w: w, values: values, residual: residual}
}

// fitSparseLSA is FitLSA for sparse rows by Lanczos. It returns nil and no error where Lanczos does not converge
// within min(n, d)/2 products: more cost more than a full decomposition. So it does where memory ends before (then there is
// none for a full decomposition either).
func fitSparseLSA(ctx context.Context, x *sparse.Matrix, p LSAParams) (*LSA, error) {
	n, d := x.Dims()
	m := min(n, d)
	// A Krylov space takes steps·(m + 2·steps) numbers, at most 2·steps·m, twice while its basis grows. Of K
	// components there must be room for twice as many steps.
	if err := limits.Check(fmt.Sprintf("LSA of a %d×%d matrix with %d components", n, d, p.K), limits.Floats(8, p.K, n+d)); err != nil {
		return nil, fmt.Errorf("lsa: %w", err)
	}
	products := m / 2
	if most := limits.Memory() / 32 / int64(m); most < int64(products) {
		products = int(most)
	}
	mean := make([]float64, d)
	if p.Centred {
		var err error
		if mean, err = x.Means(); err != nil {
			return nil, fmt.Errorf("lsa: %w", err)
		}
	}
	if err := checkSpread(spread(x, mean), n, func() bool { return x.Entries() > 0 && !p.Centred || p.Centred && differ(x) }); err != nil {
		return nil, fmt.Errorf("lsa: %w", err)
	}
	return abandon.Do(ctx, "lsa", func(context.Context) (*LSA, error) {
		c := centredRows{x, mean, floats.Norm(mean, 1) > 0}
		rows, cols := make([]float64, n), make([]float64, d)
		op := spectral.Func{N: d, Mul: func(dst, v []float64) {
			c.mul(rows, v)
			c.mulTrans(dst, rows)
		}}
		dual := n < d
		if dual {
			op = spectral.Func{N: n, Mul: func(dst, v []float64) {
				c.mulTrans(cols, v)
				c.mul(dst, cols)
			}}
		}
		r := spectral.Largest(op, p.K, spectral.Options{Tol: lanczosTolerance, MaxProducts: products})
		if len(r.Values) < p.K || r.Status != spectral.Converged && r.Status != spectral.WholeSpace {
			return nil, nil
		}
		w := r.Vectors
		residual := relative(r.Residuals, r.Values[0])
		if dual {
			w = mat.NewDense(p.K, d, nil)
			for i := range p.K {
				c.mulTrans(w.RawRowView(i), r.Vectors.RawRowView(i))
			}
		}
		for i := range r.Values {
			r.Values[i] = max(r.Values[i], 0)
		}
		return newLSA(p, mean, settle(r.Values, w, 1, dual), r.Values, 1, residual), nil
	})
}

// fewRows is the order up to which, and 1/manyOf the share of the spectrum from which on, a full decomposition costs less
// than Lanczos.
const fewRows, manyOf = 150, 8

// spread returns Σ‖xᵢ − μ‖².
func spread(x *sparse.Matrix, mean []float64) float64 {
	n, d := x.Dims()
	absent := make([]int, d)
	for j := range absent {
		absent[j] = n
	}
	var total float64
	for i := range n {
		row := x.Row(i)
		for k, j := range row.Index {
			dev := row.Value[k] - mean[j]
			total += dev * dev
			absent[j]--
		}
	}
	for j, a := range absent {
		total += float64(a) * mean[j] * mean[j]
	}
	return total
}

// differ reports whether a row of x differs from the first.
func differ(x *sparse.Matrix) bool {
	n, _ := x.Dims()
	first := x.Row(0)
	for i := range n {
		row := x.Row(i)
		if !slices.Equal(row.Index, first.Index) || !slices.Equal(row.Value, first.Value) {
			return true
		}
	}
	return false
}

// centredRows is the matrix x − 1μᵀ, never formed.
type centredRows struct {
	x       *sparse.Matrix
	mean    []float64
	centred bool
}

// mul sets dst to (x − 1μᵀ)v.
func (c centredRows) mul(dst, v []float64) {
	c.x.MulVec(dst, v)
	if c.centred {
		floats.AddConst(-floats.Dot(c.mean, v), dst)
	}
}

// mulTrans sets dst to (x − 1μᵀ)ᵀv.
func (c centredRows) mulTrans(dst, v []float64) {
	c.x.MulTransVec(dst, v)
	if c.centred {
		floats.AddScaled(dst, -floats.Sum(v), c.mean)
	}
}

// made returns l, and panics if no constructor made it.
func (l *LSA) made() *LSA {
	if l == nil || l.w == nil {
		panic("labels: LSA: zero value, use FitLSA")
	}
	return l
}

// Mean returns a copy of μ, length d: zero unless the fit was centred.
func (l *LSA) Mean() []float64 { return slices.Clone(l.made().mean) }

// Centred reports whether column means were subtracted.
func (l *LSA) Centred() bool { return l.made().centred }

// Components returns a copy of the K×d matrix W of orthonormal rows, largest singular value first.
func (l *LSA) Components() *mat.Dense { return mat.DenseCopyOf(l.made().w) }

// SingularValues returns a copy of the K largest singular values of x, or of x − 1μᵀ, descending.
func (l *LSA) SingularValues() []float64 { return slices.Clone(l.made().values) }

// Residual is that of PCA, with A the smaller of xᵀx and xxᵀ (centred
// where the fit is). It is 0 if A is, and NaN after LoadLSA, as files do not hold it.
func (l *LSA) Residual() float64 { return l.made().residual }

// Transform returns the n×K coordinates (x − 1μᵀ)Wᵀ of the rows of x, in O(entries·K) if x is a *sparse.Matrix. It panics if
// x is nil or empty or does not have d columns.
func (l *LSA) Transform(x mat.Matrix) *mat.Dense {
	l.made()
	rows, ok := x.(*sparse.Matrix)
	if !ok || rows == nil {
		return project(x, l.mean, l.w)
	}
	n, d := rows.Dims()
	if n == 0 || d != len(l.mean) {
		panic(fmt.Sprintf("labels: Transform: x is %d×%d, want at least a row and %d columns", n, d, len(l.mean)))
	}
	k, _ := l.w.Dims()
	offset := make([]float64, k)
	for c := range k {
		offset[c] = floats.Dot(l.w.RawRowView(c), l.mean)
	}
	out := mat.NewDense(n, k, nil)
	for i := range n {
		row, dst := rows.Row(i), out.RawRowView(i)
		for c := range dst {
			dst[c] = row.DotDense(l.w.RawRowView(c)) - offset[c]
		}
	}
	return out
}

// Metric returns the projection metric M = WᵀW: the Euclidean distance between coordinates, which means do not change.
func (l *LSA) Metric() *metric.Mahalanobis { return metric.FromFactor(l.made().w) }

// LSAKind is the kind under which package persist stores an LSA.
const LSAKind = "labels/lsa"

// lsaParams are what a file says beside the projection.
type lsaParams struct {
	Centred bool `json:"centred"`
}

// Save writes the components in the format of package persist, kind "labels/lsa". What is loaded from it
// transforms to the same bits.
func (l *LSA) Save(w io.Writer) error {
	return save(w, LSAKind, lsaParams{l.made().centred}, l.mean, l.w, l.values)
}

// LoadLSA reads what LSA.Save wrote. Its errors wrap those of package persist if the file is foreign, newer, damaged or
// of another kind.
func LoadLSA(r io.Reader) (*LSA, error) {
	var p lsaParams
	s, w, err := load(r, LSAKind, &p)
	if err != nil {
		return nil, err
	}
	if !p.Centred && floats.Norm(s.Mean, math.Inf(1)) > 0 {
		return nil, fmt.Errorf("%w: %s: mean: a number that is not 0 is not allowed without centring", persist.ErrDamaged, LSAKind)
	}
	return &LSA{mean: s.Mean, centred: p.Centred, w: w, values: s.Values, residual: math.NaN()}, nil
}
