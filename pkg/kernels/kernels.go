// Package kernels provides positive semi-definite kernel functions and their
// Gram matrices. A row is an object.
//
// A Kernel that is a function of inner products (Inner) gets its Gram matrix
// from one matrix product; any other function works through Func, one call per
// entry.
//
// # How it is built
//
// The data-dependent kernel is a Learned (DataDependent) with α = 1 and S = −(I + MK₀)⁻¹M on the points of the
// graph. So its values with other points are those of every learned kernel. S is computed as −R(I + RᵀK₀R)⁻¹Rᵀ
// with M = RRᵀ: the inner matrix has no eigenvalue below 1.
package kernels

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/internal/matrix"
	"metriclab/internal/ranges"
	"metriclab/pkg/metric"
)

// Kernel is a symmetric positive semi-definite function of two vectors.
type Kernel interface {
	// Eval returns k(x, y). It panics if x and y differ in length.
	Eval(x, y []float64) float64
}

// Func adapts an ordinary function to Kernel.
type Func func(x, y []float64) float64

// Eval returns f(x, y).
func (f Func) Eval(x, y []float64) float64 { return f(x, y) }

// Inner is a Kernel that depends on x and y only through x·y, ‖x‖² and ‖y‖²,
// so that a matrix product yields its Gram matrix.
type Inner interface {
	Kernel
	// OfInner returns k(x, y) from xy = x·y, xx = ‖x‖², yy = ‖y‖².
	OfInner(xy, xx, yy float64) float64
	// Invariant reports whether k(x+a, y+a) = k(x, y) for all a. The Gram
	// matrix of an invariant kernel is computed about the mean of the data,
	// where the inner products lose least.
	Invariant() bool
}

var (
	_ Inner = Linear{}
	_ Inner = Polynomial{}
	_ Inner = Gaussian{}
)

// Linear is k(x, y) = x·y.
type Linear struct{}

// Eval returns x·y. It panics if x and y differ in length.
func (k Linear) Eval(x, y []float64) float64 { return floats.Dot(x, y) }

// OfInner returns xy.
func (Linear) OfInner(xy, _, _ float64) float64 { return xy }

// Invariant returns false.
func (Linear) Invariant() bool { return false }

// Polynomial is k(x, y) = (x·y + offset)^degree. Its zero value is the constant
// kernel 1; use NewPolynomial.
type Polynomial struct {
	degree int
	offset float64
}

// MaxDegree is the largest degree of a polynomial kernel.
const MaxDegree = 1_000_000

// NewPolynomial returns the polynomial kernel of the given degree and offset.
// It returns an error unless degree is from 1 to MaxDegree and offset is finite and
// ≥ 0 (a negative offset is not positive semi-definite).
func NewPolynomial(degree int, offset float64) (Polynomial, error) {
	if err := ranges.Check("kernels", Spec{Degree: &degree, Offset: &offset}); err != nil {
		return Polynomial{}, err
	}
	return Polynomial{degree, offset}, nil
}

// Degree returns the degree.
func (k Polynomial) Degree() int { return k.degree }

// Offset returns the offset.
func (k Polynomial) Offset() float64 { return k.offset }

// Eval returns (x·y + offset)^degree. It panics if x and y differ in length.
func (k Polynomial) Eval(x, y []float64) float64 { return k.OfInner(floats.Dot(x, y), 0, 0) }

// OfInner returns (xy + offset)^degree.
func (k Polynomial) OfInner(xy, _, _ float64) float64 {
	p, b := 1.0, xy+k.offset
	for e := k.degree; e > 0; e >>= 1 {
		if e&1 == 1 {
			p *= b
		}
		b *= b
	}
	return p
}

// Invariant returns false.
func (Polynomial) Invariant() bool { return false }

// Gaussian is k(x, y) = exp(−γ‖x−y‖²), γ in 1/feature². Its zero value is the
// constant kernel 1; use NewGaussian.
type Gaussian struct{ gamma float64 }

// NewGaussian returns the Gaussian kernel of width γ. It returns an error unless
// γ is finite and > 0.
func NewGaussian(gamma float64) (Gaussian, error) {
	if err := ranges.Check("kernels", Spec{Gamma: &gamma}); err != nil {
		return Gaussian{}, err
	}
	return Gaussian{gamma}, nil
}

// Gamma returns γ.
func (k Gaussian) Gamma() float64 { return k.gamma }

// Eval returns exp(−γ‖x−y‖²). It panics if x and y differ in length.
func (k Gaussian) Eval(x, y []float64) float64 {
	return math.Exp(-k.gamma * metric.Euclidean{}.SqDist(x, y))
}

// OfInner returns exp(−γ·max(xx + yy − 2xy, 0)).
func (k Gaussian) OfInner(xy, xx, yy float64) float64 {
	return math.Exp(-k.gamma * math.Max(xx+yy-2*xy, 0))
}

// Invariant returns true.
func (Gaussian) Invariant() bool { return true }

// Gram returns the n×n matrix K with K_ij = k(xᵢ, xⱼ) for the rows of the n×d
// matrix x. For an Inner kernel it costs one symmetric matrix product, and the
// argument of the kernel is accurate to 4(d+8)u·(‖xᵢ‖²+‖xⱼ‖²), u = 2⁻⁵³, with
// norms about the mean if the kernel is invariant. Where a value of the kernel or an
// inner product overflows, the entry is Inf or NaN, which CheckGram refuses. It panics
// if k is nil, or x is nil or empty.
func Gram(k Kernel, x mat.Matrix) *mat.SymDense {
	g, _ := GramContext(context.Background(), k, x) // which is never done
	return g
}

// GramContext is Gram, which returns an error that wraps ctx's once ctx is done. k is called only until
// then, and from the caller's goroutine.
func GramContext(ctx context.Context, k Kernel, x mat.Matrix) (*mat.SymDense, error) {
	xd := matrix.Given("kernels: Gram: x", x)
	if k == nil {
		panic("kernels: Gram: the kernel is nil")
	}
	n, d := xd.Dims()
	if n == 0 {
		panic(mat.ErrZeroLength)
	}
	const looks = 64 // entries between looks at ctx
	stopped := func(i, j int) error {
		if j%looks != 0 || ctx.Err() == nil {
			return nil
		}
		return fmt.Errorf("kernels: row %d of the Gram matrix: %w", i, ctx.Err())
	}
	inner, ok := k.(Inner)
	if !ok {
		g := mat.NewSymDense(n, nil)
		for i := range n {
			for j := i; j < n; j++ {
				if err := stopped(i, j-i); err != nil {
					return nil, err
				}
				g.SetSym(i, j, k.Eval(xd.RawRowView(i), xd.RawRowView(j)))
			}
		}
		return g, nil
	}
	if inner.Invariant() {
		xd = minus(xd, mean(xd))
	}
	product := func(context.Context) (*mat.SymDense, error) {
		return matrix.Outer(1, xd), nil
	}
	var g *mat.SymDense
	var err error
	if ctx.Done() != nil && abandon.Long(n, n, d) {
		if !inner.Invariant() {
			xd = mat.DenseCopyOf(xd)
		}
		g, err = abandon.Do(ctx, "kernels", product)
	} else {
		g, err = product(ctx)
	}
	if err != nil {
		return nil, err
	}
	sq := make([]float64, n)
	for i := range sq {
		sq[i] = g.At(i, i)
	}
	raw := g.RawSymmetric()
	for i := range n {
		if err := stopped(i, 0); err != nil {
			return nil, err
		}
		row := raw.Data[i*raw.Stride : i*raw.Stride+n]
		for j := i; j < n; j++ {
			row[j] = inner.OfInner(row[j], sq[i], sq[j])
		}
	}
	return g, nil
}

// GramRect returns the n×m matrix K with K_ij = k(xᵢ, zⱼ) for the rows of the
// n×d matrix x and the m×d matrix z. Cost and accuracy are those of Gram, with
// norms about the mean of x. It panics if x or z is nil or empty, or if they
// differ in columns.
func GramRect(k Kernel, x, z mat.Matrix) *mat.Dense {
	xd, zd := matrix.Given("kernels: GramRect: x", x), matrix.Given("kernels: GramRect: z", z)
	n, d := xd.Dims()
	m, dz := zd.Dims()
	if n == 0 || m == 0 {
		panic(mat.ErrZeroLength)
	}
	if d != dz {
		panic(mat.ErrShape)
	}
	inner, ok := k.(Inner)
	if !ok {
		g := mat.NewDense(n, m, nil)
		for i := range n {
			row := g.RawRowView(i)
			for j := range row {
				row[j] = k.Eval(xd.RawRowView(i), zd.RawRowView(j))
			}
		}
		return g
	}
	if inner.Invariant() {
		c := mean(xd)
		xd, zd = minus(xd, c), minus(zd, c)
	}
	g := matrix.Mul(xd, zd.T())
	sqx, sqz := sqNorms(xd), sqNorms(zd)
	for i := range n {
		row := g.RawRowView(i)
		for j, v := range row {
			row[j] = inner.OfInner(v, sqx[i], sqz[j])
		}
	}
	return g
}

func sqNorms(x *mat.Dense) []float64 {
	n, _ := x.Dims()
	out := make([]float64, n)
	for i := range out {
		out[i] = floats.Dot(x.RawRowView(i), x.RawRowView(i))
	}
	return out
}

func mean(x *mat.Dense) []float64 {
	n, d := x.Dims()
	out := make([]float64, d)
	for i := range n {
		floats.AddScaled(out, 1/float64(n), x.RawRowView(i))
	}
	return out
}

func minus(x *mat.Dense, c []float64) *mat.Dense {
	n, d := x.Dims()
	out := mat.NewDense(n, d, nil)
	for i := range n {
		floats.SubTo(out.RawRowView(i), x.RawRowView(i), c)
	}
	return out
}

// MedianPoints is the largest number of rows from which MedianSqDist uses every
// pair.
const MedianPoints = 1000

// MedianSqDist returns the median of ‖xᵢ−xⱼ‖² over all pairs i < j of rows of x
// (the mean of the middle two, if the number of pairs is even). If x has more
// than MedianPoints rows, the pairs are those of MedianPoints rows drawn from
// rng without replacement; otherwise rng is not used and may be nil.
//
// It returns an error if x has fewer than two rows or an entry that is NaN or
// infinite, or if the median is 0 (at least half of the pairs coincide) or
// overflows. It panics if x is nil, or if rng is nil and needed.
func MedianSqDist(rng *rand.Rand, x mat.Matrix) (float64, error) {
	xd := matrix.Given("kernels: MedianSqDist: x", x)
	n, _ := xd.Dims()
	if n < 2 {
		return 0, fmt.Errorf("kernels: median distance of %d rows, want at least 2", n)
	}
	if err := metric.CheckFinite(xd); err != nil {
		return 0, fmt.Errorf("kernels: %w", err)
	}
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	if n > MedianPoints {
		for i := range MedianPoints { // the first steps of Fisher–Yates
			j := i + rng.IntN(n-i)
			rows[i], rows[j] = rows[j], rows[i]
		}
		rows = rows[:MedianPoints]
	}
	sq := make([]float64, 0, len(rows)*(len(rows)-1)/2)
	for i, a := range rows {
		for _, b := range rows[:i] {
			sq = append(sq, metric.Euclidean{}.SqDist(xd.RawRowView(a), xd.RawRowView(b)))
		}
	}
	slices.Sort(sq)
	half := len(sq) / 2
	med := sq[half]
	if len(sq)%2 == 0 {
		med = sq[half-1]/2 + med/2
	}
	if med == 0 {
		return 0, errors.New("kernels: the median distance is 0: at least half of the pairs of rows coincide")
	}
	if math.IsInf(med, 1) {
		return 0, errors.New("kernels: the median squared distance overflows float64: rescale the features")
	}
	return med, nil
}

// MedianGaussian returns the Gaussian kernel of the median heuristic,
//
//	γ = 1/(2σ²),  σ² = MedianSqDist(x, rng),
//
// that is exp(−‖x−y‖²/(2σ²)) with σ the median distance (Gretton et al., A
// kernel two-sample test, JMLR 13, 2012). Errors and panics are those of
// MedianSqDist; it also returns an error if γ overflows.
func MedianGaussian(rng *rand.Rand, x mat.Matrix) (Gaussian, error) {
	sq, err := MedianSqDist(rng, x)
	if err != nil {
		return Gaussian{}, err
	}
	return NewGaussian(0.5 / sq)
}
