package synthetic

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
)

// SeparableConfig describes a stream of pairs that a known metric and
// threshold label without loss.
type SeparableConfig struct {
	N    int // number of pairs; ≥ 0
	Dim  int // d, dimension of the vectors; ≥ 1
	Rank int // r, rank of A*; 1 ≤ r ≤ d
	// Margin is the least y(b*−d²) of a pair; 0 means 1, the least for which
	// the hinge loss max(0, 1−y(b*−d²)) vanishes. Otherwise ≥ 1.
	Margin float64
	// MaxNorm bounds ‖x−x'‖₂; 0 means 1. Otherwise positive.
	MaxNorm float64
}

// Resolved returns the configuration with its defaults filled in.
func (c SeparableConfig) Resolved() SeparableConfig {
	if c.Margin == 0 {
		c.Margin = 1
	}
	if c.MaxNorm == 0 {
		c.MaxNorm = 1
	}
	return c
}

func (c SeparableConfig) check() error {
	switch {
	case c.N < 0:
		return fmt.Errorf("synthetic: N: %d is not allowed, want at least 0", c.N)
	case c.Dim < 1:
		return fmt.Errorf("synthetic: Dim: %d is not allowed, want at least 1", c.Dim)
	case c.Rank < 1 || c.Rank > c.Dim:
		return fmt.Errorf("synthetic: Rank: %d is not allowed, want 1 to Dim = %d", c.Rank, c.Dim)
	case !(c.Margin >= 1) || math.IsInf(c.Margin, 1):
		return fmt.Errorf("synthetic: Margin: %v is not allowed, want a number of at least 1", c.Margin)
	case !(c.MaxNorm > 0) || math.IsInf(c.MaxNorm, 1):
		return fmt.Errorf("synthetic: MaxNorm: %v is not allowed, want a positive number", c.MaxNorm)
	}
	return nil
}

// PairStream is a finite stream of labelled pairs with the metric and the
// threshold that label it.
type PairStream struct {
	Pairs     []metric.Pair
	Metric    *metric.Mahalanobis // A*
	Threshold float64             // b*
	Margin    float64             // y(b*−d²) is at least this, up to round-off
	MaxNorm   float64             // ‖x−x'‖₂ is at most this, up to round-off
}

// SeparablePairs draws a stream as Theorem 1 of Shalev-Shwartz, Singer and Ng
// (2004) assumes it: there are A* ⪰ 0 and b* ≥ 1 with zero hinge loss on every
// pair. With R = MaxNorm, μ = Margin and U a random r×d matrix with orthonormal
// rows,
//
//	A* = (8μ/R²) UᵀU,  b* = 3μ,  ‖A*‖ = 8μ√r/R².
//
// Each pair is similar or dissimilar with probability 1/2. Its difference is Uᵀp + w.
// ‖p‖² is uniform on [0, R²/4] if similar and on [R²/2, R²] if not, so that d² ≤ b*−μ or
// d² ≥ b*+μ. w is orthogonal to the rows of U, the part that A* ignores, with ‖w‖²
// uniform on [0, R²−‖p‖²]; it is 0 if r = d. It returns an error that names the field if
// the configuration is out of range.
func SeparablePairs(rng *rand.Rand, cfg SeparableConfig) (*PairStream, error) {
	c := cfg.Resolved()
	if err := c.check(); err != nil {
		return nil, err
	}
	u := orthonormalRows(rng, c.Rank, c.Dim)
	factor := mat.DenseCopyOf(u)
	factor.Scale(math.Sqrt(8*c.Margin)/c.MaxNorm, factor)
	out := &PairStream{
		Pairs:     make([]metric.Pair, c.N),
		Metric:    metric.FromFactor(factor),
		Threshold: 3 * c.Margin,
		Margin:    c.Margin,
		MaxNorm:   c.MaxNorm,
	}
	r2 := c.MaxNorm * c.MaxNorm
	v := make([]float64, c.Dim)
	for k := range out.Pairs {
		label, p2 := metric.Similar, r2/4*rng.Float64()
		if rng.IntN(2) == 0 {
			label, p2 = metric.Dissimilar, r2/2*(1+rng.Float64())
		}
		clear(v)
		for i, a := range gaussianOfNorm(rng, c.Rank, math.Sqrt(p2)) {
			floats.AddScaled(v, a, u.RawRowView(i))
		}
		if c.Rank < c.Dim {
			addOrthogonal(rng, v, u, math.Sqrt((r2-p2)*rng.Float64()))
		}
		x := gaussianOfNorm(rng, c.Dim, c.MaxNorm/2)
		y := append([]float64(nil), x...)
		floats.AddScaled(x, 0.5, v)
		floats.AddScaled(y, -0.5, v)
		out.Pairs[k] = metric.Pair{X: x, Y: y, Label: label}
	}
	return out, nil
}

// Pad returns the same stream in a higher dimension: zeros are appended to
// every vector and to A*, so that no distance and no norm changes. It panics
// if dim is less than the dimension of the stream.
func (s *PairStream) Pad(dim int) *PairStream {
	d := s.Metric.Dim()
	if dim < d {
		panic(fmt.Sprintf("synthetic: Pad from dimension %d to %d", d, dim))
	}
	return s.mapped(func(x []float64) []float64 {
		out := make([]float64, dim)
		copy(out, x)
		return out
	})
}

// Rotate returns the same stream, and A*, under a random orthogonal map
// x ↦ Qx, which changes no distance and no norm beyond round-off. After Pad it
// spreads a low-dimensional stream over all coordinates.
func (s *PairStream) Rotate(rng *rand.Rand) *PairStream {
	d := s.Metric.Dim()
	q := orthonormalRows(rng, d, d)
	return s.mapped(func(x []float64) []float64 {
		out := make([]float64, d)
		mat.NewVecDense(d, out).MulVec(q, mat.NewVecDense(d, x))
		return out
	})
}

// mapped applies the linear isometry f to all vectors: d(fx, fy) under the
// factor whose rows are f(rows of L) is d(x, y).
func (s *PairStream) mapped(f func([]float64) []float64) *PairStream {
	out := *s
	out.Pairs = make([]metric.Pair, len(s.Pairs))
	for i, p := range s.Pairs {
		out.Pairs[i] = metric.Pair{X: f(p.X), Y: f(p.Y), Label: p.Label}
	}
	l := s.Metric.Factor()
	var rows [][]float64
	for i := range s.Metric.Rows() {
		rows = append(rows, f(l.RawRowView(i)))
	}
	image := mat.NewDense(len(rows), len(rows[0]), nil)
	for i, row := range rows {
		image.SetRow(i, row)
	}
	out.Metric = metric.FromFactor(image)
	return &out
}

// orthonormalRows returns a random r×d matrix with orthonormal rows, r ≤ d.
func orthonormalRows(rng *rand.Rand, r, d int) *mat.Dense {
	g := mat.NewDense(d, r, nil)
	for i := range d {
		for j := range r {
			g.Set(i, j, rng.NormFloat64())
		}
	}
	var qr mat.QR
	qr.Factorize(g)
	var q mat.Dense
	qr.QTo(&q)
	return mat.DenseCopyOf(q.Slice(0, d, 0, r).T())
}

// gaussianOfNorm returns a vector of the given norm and uniform direction.
func gaussianOfNorm(rng *rand.Rand, d int, norm float64) []float64 {
	v := make([]float64, d)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	scaleTo(v, norm)
	return v
}

// addOrthogonal adds to v a vector of the given norm and uniform direction in
// the orthogonal complement of the rows of u.
func addOrthogonal(rng *rand.Rand, v []float64, u *mat.Dense, norm float64) {
	w := gaussianOfNorm(rng, len(v), 1)
	r, _ := u.Dims()
	for range 2 { // the second pass removes what round-off left of the first
		for i := range r {
			row := u.RawRowView(i)
			floats.AddScaled(w, -floats.Dot(w, row), row)
		}
	}
	scaleTo(w, norm)
	floats.Add(v, w)
}

func scaleTo(v []float64, norm float64) {
	if n := floats.Norm(v, 2); n > 0 {
		floats.Scale(norm/n, v)
	}
}

// Component is one Gaussian of a mixture.
type Component struct {
	Class int           // ≥ 0
	N     int           // number of rows; ≥ 1
	Mean  []float64     // d numbers
	Cov   mat.Symmetric // d×d, positive semi-definite, in feature²; nil means the identity
}

// GaussianMixture draws Component.N rows from each Gaussian N(Mean, Cov), in
// the order of the components. Several components may share a class. It
// returns an error that names the component and field if there is none, N < 1,
// Class < 0, the lengths differ, or Cov is not positive semi-definite and
// finite.
func GaussianMixture(rng *rand.Rand, components []Component) (*datasets.Set, error) {
	if len(components) == 0 {
		return nil, fmt.Errorf("synthetic: components: none given, want at least 1")
	}
	d, n := len(components[0].Mean), 0
	factors := make([]*metric.Mahalanobis, len(components)) // Cov = LᵀL
	for k, c := range components {
		bad := func(field string, value any, want string) error {
			return fmt.Errorf("synthetic: component %d, %s: %v is not allowed, want %s", k, field, value, want)
		}
		switch {
		case c.N < 1:
			return nil, bad("N", c.N, "at least 1")
		case c.Class < 0:
			return nil, bad("Class", c.Class, "at least 0")
		case len(c.Mean) != d || d == 0:
			return nil, bad("Mean", fmt.Sprintf("length %d", len(c.Mean)), fmt.Sprintf("%d numbers, as in the first component, and at least 1", d))
		case c.Cov != nil && c.Cov.SymmetricDim() != d:
			return nil, bad("Cov", fmt.Sprintf("order %d", c.Cov.SymmetricDim()), fmt.Sprintf("order %d", d))
		}
		for _, a := range c.Mean {
			if math.IsNaN(a) || math.IsInf(a, 0) {
				return nil, bad("Mean", a, "finite numbers")
			}
		}
		factors[k] = metric.Identity(d)
		if c.Cov != nil {
			f, err := metric.NewMahalanobis(c.Cov)
			if err != nil {
				return nil, fmt.Errorf("synthetic: component %d, Cov: %w", k, err)
			}
			factors[k] = f
		}
		n += min(c.N, math.MaxInt-n)
	}
	if err := limits.Check(fmt.Sprintf("%d rows of %d features", n, d), limits.Floats(n, d)); err != nil {
		return nil, fmt.Errorf("synthetic: components, N: %w", err)
	}
	out := &datasets.Set{Name: "gaussian-mixture", X: mat.NewDense(n, d, nil)}
	for k, c := range components {
		l := factors[k].Factor()
		for range c.N {
			row := out.X.RawRowView(len(out.Y))
			copy(row, c.Mean)
			for i := range factors[k].Rows() {
				floats.AddScaled(row, rng.NormFloat64(), l.RawRowView(i))
			}
			out.Y = append(out.Y, c.Class)
		}
	}
	return out, nil
}
