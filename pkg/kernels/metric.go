package kernels

import (
	"fmt"
	"io"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/internal/product"
	"metriclab/pkg/metric"
	"metriclab/pkg/persist"
)

// MetricKind is the kind under which package persist stores a Metric.
const MetricKind = "kernels/metric"

// Metric is the squared distance
//
//	d(x, z)² = ‖G(k(x) − k(z))‖²,  k(x) = (K(s₁, x), …, K(s_m, x)),
//
// with m support points s_i in R^d and G r×m: the Mahalanobis distance between
// the images φ(x) and φ(z) in the space of the kernel K, for a matrix whose range
// is spanned by φ(s₁), …, φ(s_m). With the linear kernel it is a
// metric.Mahalanobis. A Metric is immutable and safe for concurrent use.
type Metric struct {
	kernel  Kernel
	dim     int
	support *mat.Dense // m×d; nil if r = 0
	g       *mat.Dense // r×m; nil if r = 0
	shift   []float64  // length r; nil for zeros
}

var _ metric.SqDister = (*Metric)(nil)

// NewMetric returns the metric of the m×d matrix of support points, one per row,
// and the r×m matrix g; both are copied. Both nil, a nil *mat.Dense too, stand for r = 0: all points of
// R^dim coincide. It panics if dim < 1, k is nil, support does not have dim
// columns, g not one column per support point, or only one of the two is nil.
func NewMetric(k Kernel, dim int, support, g mat.Matrix) *Metric {
	supportd, gd := matrix.Dense(support), matrix.Dense(g)
	if dim < 1 || k == nil {
		panic(mat.ErrZeroLength)
	}
	if supportd == nil && gd == nil {
		return &Metric{kernel: k, dim: dim}
	}
	if supportd == nil || gd == nil {
		panic(mat.ErrShape)
	}
	m, d := supportd.Dims()
	if _, c := gd.Dims(); d != dim || c != m || m == 0 {
		panic(mat.ErrShape)
	}
	return &Metric{kernel: k, dim: dim, support: mat.DenseCopyOf(supportd), g: mat.DenseCopyOf(gd)}
}

// Shifted returns a metric of the same distances whose embedding is Gk(x) + c in place of Gk(x), such as scores about
// the mean of training points. c has length Rows and is copied; it replaces an earlier one. It panics if c has another length.
func (m *Metric) Shifted(c []float64) *Metric {
	if len(c) != m.Rows() {
		panic(mat.ErrShape)
	}
	out := *m
	out.shift = slices.Clone(c)
	return &out
}

// Kernel returns K.
func (m *Metric) Kernel() Kernel { return m.kernel }

// Dim returns d, the dimension of the vectors it compares.
func (m *Metric) Dim() int { return m.dim }

// Support returns m, the number of support points.
func (m *Metric) Support() int {
	if m.support == nil {
		return 0
	}
	n, _ := m.support.Dims()
	return n
}

// SqDist returns d(x, z)², +Inf if it or a value of the kernel overflows. It costs 2m
// evaluations of the kernel and O(rm). It panics if x or z does not have length Dim.
func (m *Metric) SqDist(x, z []float64) float64 {
	if len(x) != m.dim || len(z) != m.dim {
		panic(mat.ErrShape)
	}
	if m.g == nil {
		return 0
	}
	v := make([]float64, m.Support())
	for i := range v {
		s := m.support.RawRowView(i)
		v[i] = m.kernel.Eval(s, x) - m.kernel.Eval(s, z)
	}
	var sum float64
	r, _ := m.g.Dims()
	for i := range r {
		p := floats.Dot(m.g.RawRowView(i), v)
		sum += p * p
	}
	return overflowed(sum, x, z)
}

// overflowed returns the squared distance q between x and z, or +Inf if it is NaN or
// −Inf though x and z are finite: numbers on the way have overflowed.
func overflowed(q float64, x, z []float64) float64 {
	if q > math.Inf(-1) {
		return q
	}
	for _, v := range [][]float64{x, z} {
		for _, a := range v {
			if math.IsNaN(a) || math.IsInf(a, 0) {
				return math.NaN()
			}
		}
	}
	return math.Inf(1)
}

// Rows returns r, the number of rows of G: the dimension of the embedding.
func (m *Metric) Rows() int {
	if m.g == nil {
		return 0
	}
	r, _ := m.g.Dims()
	return r
}

// Embed returns Gk(x), the image of x in R^r, or Gk(x) + c (see Shifted): the distance between two points is
// the Euclidean one between their images, up to round-off. It costs m evaluations
// of the kernel and O(rm), and panics if x does not have length Dim.
func (m *Metric) Embed(x []float64) []float64 {
	if len(x) != m.dim {
		panic(mat.ErrShape)
	}
	v := make([]float64, m.Support())
	for i := range v {
		v[i] = m.kernel.Eval(m.support.RawRowView(i), x)
	}
	out := make([]float64, m.Rows())
	if m.g != nil {
		product.DotRows(out, m.g.RawMatrix(), v)
	}
	if m.shift != nil {
		floats.Add(out, m.shift)
	}
	return out
}

// EmbedRows returns the n×r matrix of the images of the rows of x, n×d, those of Embed up to round-off; n×1
// zeros if r = 0. It costs nm evaluations of the kernel, O(nrm), and memory for n(m + r) numbers. It panics if x is nil or does not have Dim columns.
func (m *Metric) EmbedRows(x mat.Matrix) *mat.Dense {
	xd := matrix.Given("kernels: EmbedRows: x", x)
	n, d := xd.Dims()
	if d != m.dim {
		panic(mat.ErrShape)
	}
	if m.g == nil {
		return mat.NewDense(n, 1, nil)
	}
	v := mat.NewDense(n, m.Support(), nil)
	for i := range n {
		row := v.RawRowView(i)
		for j := range row {
			row[j] = m.kernel.Eval(m.support.RawRowView(j), xd.RawRowView(i))
		}
	}
	out := matrix.Mul(v, m.g.T())
	if m.shift != nil {
		for i := range n {
			floats.Add(out.RawRowView(i), m.shift)
		}
	}
	return out
}

// savedParams and metricState are what Save writes.
type savedParams struct {
	Kernel Spec `json:"kernel"`
}

type metricState struct {
	Dim     int            `json:"dim"`
	Support persist.Floats `json:"support"` // row by row
	Rows    int            `json:"rows"`    // r
	G       persist.Floats `json:"g"`       // row by row
	Shift   persist.Floats `json:"shift,omitempty"`
}

// Save writes the metric in the format of package persist, kind
// "kernels/metric". A metric loaded from it measures every distance to the same
// bit. It returns an error, and writes nothing, if the kernel has no Spec or a
// number is NaN or infinite.
func (m *Metric) Save(w io.Writer) error {
	spec, err := SpecOf(m.kernel)
	if err != nil {
		return err
	}
	s := metricState{Dim: m.dim}
	if m.g != nil {
		s.Rows, _ = m.g.Dims()
		for name, x := range map[string]*mat.Dense{"support": m.support, "g": m.g} {
			if err := metric.CheckFinite(x); err != nil {
				return fmt.Errorf("kernels: %s: %w", name, err)
			}
		}
		if err := finiteShift(m.shift); err != nil {
			return fmt.Errorf("kernels: %w", err)
		}
		s.Support, s.G, s.Shift = m.support.RawMatrix().Data, m.g.RawMatrix().Data, m.shift
	}
	return persist.Write(w, MetricKind, savedParams{spec}, s)
}

// LoadMetric reads a metric that Save wrote. Its errors wrap those of package
// persist if the file is foreign, newer, damaged or of another kind.
func LoadMetric(r io.Reader) (*Metric, error) {
	var s metricState
	k, err := load(r, MetricKind, &s)
	if err != nil {
		return nil, err
	}
	m, err := s.metric(k)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", persist.ErrDamaged, MetricKind, err)
	}
	return m, nil
}

// load reads a file of the kind given into state, and returns the kernel of its parameters.
func load(r io.Reader, kind string, state any) (Kernel, error) {
	var p savedParams
	if err := persist.Load(r, kind, &p, state); err != nil {
		return nil, err
	}
	k, err := p.Kernel.Kernel()
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", persist.ErrDamaged, kind, err)
	}
	return k, nil
}

// metric returns the saved metric, or an error if the parts do not fit.
func (s metricState) metric(k Kernel) (*Metric, error) {
	// Without support points only this limit bounds the dimension.
	if s.Dim < 1 || s.Dim > math.MaxInt32 || s.Rows < 0 {
		return nil, fmt.Errorf("%d rows in %d dimensions", s.Rows, s.Dim)
	}
	if s.Rows == 0 && len(s.Support) == 0 && len(s.G) == 0 && len(s.Shift) == 0 {
		return &Metric{kernel: k, dim: s.Dim}, nil
	}
	m := len(s.Support) / s.Dim
	if m == 0 || len(s.Support)%s.Dim != 0 || s.Rows == 0 || len(s.G)%s.Rows != 0 || len(s.G)/s.Rows != m {
		return nil, fmt.Errorf("arrays of %d and %d numbers do not fit %d rows in %d dimensions", len(s.Support), len(s.G), s.Rows, s.Dim)
	}
	if len(s.Shift) != 0 && len(s.Shift) != s.Rows {
		return nil, fmt.Errorf("a shift of %d numbers does not fit %d rows", len(s.Shift), s.Rows)
	}
	out := &Metric{kernel: k, dim: s.Dim, support: mat.NewDense(m, s.Dim, s.Support), g: mat.NewDense(s.Rows, m, s.G)}
	if len(s.Shift) > 0 {
		out.shift = s.Shift
	}
	for name, x := range map[string]*mat.Dense{"support": out.support, "g": out.g} {
		if err := metric.CheckFinite(x); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := finiteShift(out.shift); err != nil {
		return nil, err
	}
	return out, nil
}

// finiteShift returns an error unless all numbers of a shift are finite.
func finiteShift(c []float64) error {
	for i, v := range c {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("shift: entry %d is %v, want a finite number", i, v)
		}
	}
	return nil
}
