package kernels

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/pkg/metric"
)

// Expanded is the squared distance of a Transformed with m support points in R^d, between
// points of which each is compared with many: it takes in place of a point x the
// d + 1 + 2m numbers
//
//	(x, κ(x, x), k(x) − k(s₁), S(k(x) − k(s₁)))
//
// that Rows makes once, after which a distance costs O(m) and not O(m²). Its accuracy is
// that of Transformed.SqDist. An Expanded is immutable and safe for concurrent use if κ is.
type Expanded struct {
	t     *Transformed
	s     *mat.Dense // S, m×m; nil if m = 0
	first []float64  // k(s₁), taken off so that far from the origin Sk keeps its digits
}

var _ metric.SqDister = (*Expanded)(nil)

// Expanded returns the squared distance of t between expanded points. It costs O(m²).
func (t *Transformed) Expanded() *Expanded {
	e := &Expanded{t: t}
	if m := t.Support(); m > 0 {
		e.s = mat.DenseCopyOf(t.s)
		e.first = make([]float64, m)
		for i := range m {
			e.first[i] = t.kernel.Eval(t.support.RawRowView(i), t.support.RawRowView(0))
		}
	}
	return e
}

// Dim returns d + 1 + 2m, the length of an expanded point.
func (e *Expanded) Dim() int { return e.t.dim + 1 + 2*e.t.Support() }

// Rows returns the n×Dim matrix of the expanded rows of the n×d matrix x. Each is
// independent of the other rows to the bit. It costs n(m + 1) evaluations of κ and
// O(nm²). It panics if x is nil or empty, or does not have d columns.
func (e *Expanded) Rows(x mat.Matrix) *mat.Dense {
	xd := matrix.Given("kernels: Rows: x", x)
	n, d := xd.Dims()
	if n == 0 {
		panic(mat.ErrZeroLength)
	}
	if d != e.t.dim {
		panic(mat.ErrShape)
	}
	const tile = 16 // rows of S that stay in a cache
	m := e.t.Support()
	out := mat.NewDense(n, e.Dim(), nil)
	for i := range n {
		row := out.RawRowView(i)
		copy(row, xd.RawRowView(i))
		row[d] = e.t.kernel.Eval(row[:d], row[:d])
		for j, c := range e.first {
			row[d+1+j] = e.t.kernel.Eval(e.t.support.RawRowView(j), row[:d]) - c
		}
	}
	for top := 0; top < m; top += tile {
		for i := range n {
			row := out.RawRowView(i)[d+1:]
			for j := top; j < min(top+tile, m); j++ {
				row[m+j] = floats.Dot(e.s.RawRowView(j), row[:m])
			}
		}
	}
	return out
}

// SqDist returns the squared distance of two expanded points, as
//
//	α(κ(x, x) − 2κ(x, z) + κ(z, z)) + uᵀSu,  u = k(x) − k(z),
//
// or 0 where round-off makes that negative, or +Inf where it or a value of a kernel
// overflows. It costs one evaluation of κ and O(m), and
// panics if x or z does not have length Dim.
func (e *Expanded) SqDist(x, z []float64) float64 {
	if n := e.Dim(); len(x) != n || len(z) != n {
		panic(mat.ErrShape)
	}
	d, m := e.t.dim, e.t.Support()
	q := e.t.alpha * (x[d] - 2*e.t.kernel.Eval(x[:d], z[:d]) + z[d])
	kx, kz := x[d+1:d+1+m], z[d+1:d+1+m]
	wx, wz := x[d+1+m:], z[d+1+m:]
	var sum float64
	for i, a := range kx {
		sum += (a - kz[i]) * (wx[i] - wz[i])
	}
	return max(overflowed(q+sum, x[:d], z[:d]), 0)
}
