package kernels

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/internal/ranges"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
)

// FactorParams are the parameters of NewFactor.
type FactorParams struct {
	// Most is the largest number of pivots, and so of columns of the factor; 0 means that of all objects.
	Most int `range:"0, or >= 1"`
	// Tol is the share of the largest κ(x, x) below which what is left of an object is taken for nothing, > 0
	// and < 1; 0 means metric.RankTolerance.
	Tol float64 `range:"> 0 and < 1"`
}

// Resolved returns p with its default filled in: Tol = metric.RankTolerance.
func (p FactorParams) Resolved() FactorParams {
	p.Tol = cmp.Or(p.Tol, metric.RankTolerance)
	return p
}

// Factor is a factor of a Gram matrix K₀ = ΦᵀΦ of n objects, by r of them, the pivots P:
//
//	K₀ ≈ FFᵀ,  F = K₀[·, P]·C⁻ᵀ,  CCᵀ = K₀[P, P],  C lower triangular.
//
// Row i of F holds the coordinates of the image φ(xᵢ) in an orthonormal basis of the span of the images of the pivots.
// So every method for vectors runs in the space of the kernel: on the rows of F. A metric M of these rows is one
// of images, W = ΦSΦᵀ, with S = C⁻ᵀMC⁻¹ between the pivots and 0 elsewhere. Then K = K₀SK₀ = FMFᵀ, and
//
//	K(x, z) = k(x)ᵀSk(z),  d²(x, z) = ‖LC⁻¹(k(x) − k(z))‖²,  M = LᵀL,  k(x) = κ of x and each pivot,
//
// also for objects that were not known before (Jain, Kulis, Davis, Dhillon, Metric and Kernel Learning Using a Linear
// Transformation, JMLR 13, 2012, Eq. 18). Nothing is lost if what is left of all objects is round-off. A cost that
// depends on distances between the objects alone depends on PWP alone, P the projection onto their span (Theorem 9,
// whose proof needs no more than this).
//
// A Factor is immutable and safe for concurrent use.
type Factor struct {
	pivots []int      // in the order in which they were chosen
	rows   *mat.Dense // n×r; the rows of pivots are C
	left   float64
}

// firstPivots is the number of pivots for which NewFactor has room at first.
const firstPivots = 64

// NewFactor returns a factor of the Gram matrix of n objects whose kernel values are at(i, j), by the pivoted Cholesky decomposition. The next pivot
// is the object of which most is left, the first of equals, until Tol·max K_ii is left at most, or there are Most pivots. Only the diagonal and the
// columns of the pivots are asked for, from the caller's goroutine. It costs O(nr²), and memory for some 3nr numbers.
//
// It returns an error if a kernel value is NaN or infinite, if all are 0, or if the trace overflows; if the factor does not fit limits.Memory, a
// parameter is out of range, or ctx is done. The error wraps metric.ErrNotPSD if the diagonal tells that the matrix is not positive semi-definite
// (CheckGram sees all such matrices). It panics if n < 1 or at is nil.
func NewFactor(ctx context.Context, n int, at func(i, j int) float64, p FactorParams) (*Factor, error) {
	if n < 1 || at == nil {
		panic("kernels: NewFactor: there is no object, or the function of kernel values is nil")
	}
	p = p.Resolved()
	if err := ranges.Check("kernels", p); err != nil {
		return nil, err
	}
	most := cmp.Or(p.Most, n)
	most = min(most, n)
	rest := make([]float64, n)
	for i := range rest {
		rest[i] = at(i, i)
		if v := rest[i]; math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("entry (%d, %d) is %v, want a finite number", i, i, v)
		}
	}
	trace, largest := floats.Sum(rest), floats.Max(rest)
	if math.IsInf(trace, 0) {
		return nil, errors.New("its trace overflows float64: scale it down")
	}
	var rows *mat.Dense
	room := 0
	f := &Factor{}
	for len(f.pivots) < most {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c := floats.MaxIdx(rest) // the first of equals
		if least := floats.Min(rest); least < -metric.PSDTolerance*max(largest, 0)*float64(n) {
			return nil, fmt.Errorf("it is %w: beside %d pivots, %g is left of a diagonal entry, of at most %g", metric.ErrNotPSD, len(f.pivots), least, largest)
		}
		if rest[c] <= p.Tol*largest {
			break
		}
		k := len(f.pivots)
		if k == room {
			was := room
			room = min(most, max(firstPivots, 2*room))
			if err := limits.Check(fmt.Sprintf("a factor of the Gram matrix of %d objects", n), limits.Floats(n, was+room)); err != nil {
				return nil, err
			}
			rows = widened(rows, n, room)
		}
		root, row := math.Sqrt(rest[c]), rows.RawRowView(c)
		for i := range n {
			v := at(i, c)
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("entry (%d, %d) is %v, want a finite number", i, c, v)
			}
			other := rows.RawRowView(i)
			other[k] = (v - floats.Dot(other[:k], row[:k])) / root
			if i != c {
				rest[i] -= other[k] * other[k]
			}
		}
		row[k], rest[c] = root, 0
		for _, i := range f.pivots { // round-off
			rows.Set(i, k, 0)
			rest[i] = 0
		}
		f.pivots = append(f.pivots, c)
	}
	if len(f.pivots) == 0 {
		return nil, errors.New("all kernel values are 0")
	}
	f.rows = widened(rows, n, len(f.pivots))
	f.left = max(floats.Sum(rest)/trace, 0)
	return f, nil
}

// widened returns a copy of the first columns of a, n×c, in an n×width matrix; a is nil if there are none.
func widened(a *mat.Dense, n, width int) *mat.Dense {
	out := mat.NewDense(n, width, nil)
	if a != nil {
		out.Copy(a)
	}
	return out
}

// made returns f, and panics if no constructor made it.
func (f *Factor) made() *Factor {
	if f == nil || f.rows == nil {
		panic("kernels: Factor: nil or the zero value, use NewFactor")
	}
	return f
}

// Objects returns n.
func (f *Factor) Objects() int {
	n, _ := f.made().rows.Dims()
	return n
}

// Rank returns r, the number of pivots.
func (f *Factor) Rank() int { return len(f.made().pivots) }

// Pivots returns the pivots in the order in which they were chosen.
func (f *Factor) Pivots() []int { return slices.Clone(f.made().pivots) }

// Left returns the share of the trace of K₀ that lies outside the span of the pivots, from 0 to 1.
func (f *Factor) Left() float64 { return f.made().left }

// Rows returns a copy of F, n×r. Inner products of its rows are kernel values, up to what is left of the objects.
func (f *Factor) Rows() *mat.Dense { return mat.DenseCopyOf(f.made().rows) }

// Triangle returns C, r×r: the rows of F of the pivots.
func (f *Factor) Triangle() *mat.TriDense {
	r := f.Rank()
	c := mat.NewTriDense(r, mat.Lower, nil)
	for a, i := range f.pivots {
		for b, v := range f.rows.RawRowView(i)[:a+1] {
			c.SetTri(a, b, v)
		}
	}
	return c
}

// lift returns G = LC⁻¹ for the metric M = LᵀL of rows of F, a column per pivot; nil if M = 0.
func (f *Factor) lift(m *metric.Mahalanobis) (*mat.Dense, error) {
	r := f.Rank()
	if m.Dim() != r {
		panic(mat.ErrShape)
	}
	if m.Rows() == 0 {
		return nil, nil
	}
	var inverse mat.TriDense
	if err := inverse.InverseTri(f.Triangle()); err != nil {
		if c, ok := errors.AsType[mat.Condition](err); !ok || math.IsInf(float64(c), 1) {
			return nil, fmt.Errorf("kernels: factor: %w", err)
		}
	}
	g := matrix.Mul(m.Factor(), &inverse)
	if metric.CheckFinite(g) != nil {
		return nil, fmt.Errorf("kernels: factor: %w", metric.ErrWeights)
	}
	return g, nil
}

// Metric returns the metric M of rows of F as one of points, for the kernel k and the rows of x, n×d, whose kernel values the
// factor has. It holds the pivots alone.
//
// It returns an error if its numbers overflow. It panics if k, x or m is nil, x does not have n rows, or m is not a metric of
// Rank coordinates.
func (f *Factor) Metric(k Kernel, x mat.Matrix, m *metric.Mahalanobis) (*Metric, error) {
	xd := matrix.Given("kernels: Factor: x", x)
	n, d := xd.Dims()
	if n != f.Objects() {
		panic(mat.ErrShape)
	}
	g, err := f.lift(m)
	if err != nil {
		return nil, err
	}
	if g == nil {
		return NewMetric(k, d, nil, nil), nil
	}
	support := mat.NewDense(f.Rank(), d, nil)
	for a, i := range f.pivots {
		support.SetRow(a, xd.RawRowView(i))
	}
	return NewMetric(k, d, support, g), nil
}

// Learned returns the metric M of rows of F as a learned kernel, W = ΦSΦᵀ, for objects of which kernel values alone
// are known. Its Support holds the pivots, ascending; none if M = 0. It returns an error if its numbers overflow, and panics
// if m is nil or not a metric of Rank coordinates.
func (f *Factor) Learned(m *metric.Mahalanobis) (Learned, error) {
	g, err := f.lift(m)
	if err != nil || g == nil {
		return Learned{}, err
	}
	s := matrix.Outer(1, g.T())
	if metric.CheckFinite(s) != nil {
		return Learned{}, fmt.Errorf("kernels: factor: %w", metric.ErrWeights)
	}
	order := make([]int, f.Rank()) // of the pivots, ascending
	for a := range order {
		order[a] = a
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(f.pivots[a], f.pivots[b]) })
	l := Learned{S: mat.NewSymDense(len(order), nil)}
	for a, i := range order {
		l.Support = append(l.Support, f.pivots[i])
		for b, j := range order[:a+1] {
			l.S.SetSym(a, b, s.At(i, j))
		}
	}
	return l, nil
}

// Coordinates returns the coordinates C⁻¹k(x) of s objects, which need not have been known at the fit, from their kernel values
// with the n objects, cross, s×n: the rows of F for K₀ itself, up to round-off. What of an image lies outside the span of the pivots
// has none. It costs O(sr²).
//
// It returns an error if cross does not have n columns, or an entry in the column of a pivot is NaN or infinite. It panics if cross is nil or
// empty.
func (f *Factor) Coordinates(cross mat.Matrix) (*mat.Dense, error) {
	c := matrix.Given("kernels: Factor: cross", cross)
	s, n := c.Dims()
	if s == 0 || n == 0 {
		panic(mat.ErrZeroLength)
	}
	if n != f.Objects() {
		return nil, fmt.Errorf("kernels: cross: %d columns are not allowed, want %d, one per object of the factor", n, f.Objects())
	}
	out := mat.NewDense(s, f.Rank(), nil)
	for i := range s {
		z := out.RawRowView(i)
		for a, p := range f.pivots {
			v := c.At(i, p)
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("kernels: cross: entry (%d, %d) is %v, want a finite number", i, p, v)
			}
			row := f.rows.RawRowView(p)
			z[a] = (v - floats.Dot(z[:a], row[:a])) / row[a]
		}
	}
	return out, nil
}
