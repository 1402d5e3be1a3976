package labels

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
	"metriclab/pkg/spectral"
)

// FDAVersion changes whenever FitFDA gives other numbers for the same input.
const FDAVersion = 1

// FDAParams are the parameters of FitFDA.
type FDAParams struct {
	// K is the number of directions; 0 means all that separate class means, at
	// most the number of classes minus one.
	K int `json:"k"`
	// Ridge is the regularisation ρ ≥ 0, relative to the mean variance within
	// classes. The default is 0, plain FDA with the pseudo-inverse: no
	// regularisation unless it is asked for.
	Ridge float64 `json:"ridge"`
}

// Resolved returns p with defaults filled in. Zero is legal in both fields and
// is the default, so it returns p.
func (p FDAParams) Resolved() FDAParams { return p }

// FDA is Fisher's discriminant analysis: the directions along which class means
// are far apart relative to the variance within classes. It is immutable and
// safe for concurrent use.
type FDA struct {
	mean   []float64
	w      *mat.Dense // k×d
	values []float64
}

// FitFDA returns the solutions w of largest λ of
//
//	S_B w = λ (S_W + ρ·s·I) w,  s = tr(S_W)/d,
//	S_W = (1/n) Σᵢ (xᵢ−m_{yᵢ})(xᵢ−m_{yᵢ})ᵀ,  S_B = (1/n) Σ_c n_c (m_c−μ)(m_c−μ)ᵀ
//
// (Fisher 1936; Rao 1948 for several classes), for the n×d matrix x and one
// class label per row. Any integers are labels; the classes are those that
// occur. Each w is scaled to wᵀ(S_W + ρ·s·I)w = 1, so that projected classes
// have unit mean variance if ρ = 0, and its sign is that of metric.FixSign. For
// two classes w is a multiple of (S_W + ρ·s·I)⁻¹(m₁−m₀).
//
// A direction without variance inside classes, such as a constant feature, is
// ignored if ρ = 0 (pseudo-inverse, see metric.InverseScatter) even if it
// separates the classes; with ρ > 0 it is used.
//
// It returns an error if there are fewer than two classes, if x and y differ in
// length, if an entry is NaN or infinite, if no class varies, if all class means
// coincide, if K is negative or larger than the number of directions along
// which class means differ, or if Ridge is negative or not finite. It panics if
// x is nil or empty.
func FitFDA(x *mat.Dense, y []int, p FDAParams) (*FDA, error) {
	n, d := x.Dims()
	if n == 0 {
		panic(mat.ErrZeroLength)
	}
	p = p.Resolved()
	if len(y) != n {
		return nil, fmt.Errorf("fda: %d labels for %d rows", len(y), n)
	}
	if p.K < 0 {
		return nil, fmt.Errorf("fda: k: %d is not allowed, want ≥ 1, or 0 for all", p.K)
	}
	if !(p.Ridge >= 0) || math.IsInf(p.Ridge, 1) {
		return nil, fmt.Errorf("fda: ridge: %v is not allowed, want a finite number ≥ 0", p.Ridge)
	}
	if err := metric.CheckFinite(x); err != nil {
		return nil, fmt.Errorf("fda: %w", err)
	}
	members := map[int][]int{}
	for i, c := range y {
		members[c] = append(members[c], i)
	}
	classes := make([]int, 0, len(members))
	for c := range members {
		classes = append(classes, c)
	}
	slices.Sort(classes)
	if len(classes) < 2 {
		return nil, fmt.Errorf("fda: %d class, want at least 2", len(classes))
	}
	mean := meanOf(x, upTo(n))
	between := mat.NewDense(len(classes), d, nil) // BᵀB = S_B
	dev := mat.NewDense(n, d, nil)
	for c, class := range classes {
		rows := members[class]
		m := meanOf(x, rows)
		for _, i := range rows {
			floats.SubTo(dev.RawRowView(i), x.RawRowView(i), m)
		}
		b := between.RawRowView(c)
		floats.SubTo(b, m, mean)
		floats.Scale(math.Sqrt(float64(len(rows))/float64(n)), b)
	}
	within, err := metric.InverseScatter(dev, float64(n), p.Ridge)
	if err != nil {
		return nil, fmt.Errorf("fda: within classes: %w", err)
	}
	// With LᵀL = (S_W + ρsI)⁻¹, w = Lᵀa and A = BLᵀ, the problem is AᵀA a = λa; its Gram matrix AAᵀ has one row per class.
	l := within.Factor()
	var a mat.Dense
	a.Mul(between, l.T())
	gram := mat.NewSymDense(len(classes), nil)
	gram.SymOuterK(1, &a)
	var eig spectral.EigenSym
	if !eig.Factorize(gram, true) {
		return nil, errors.New("fda: eigendecomposition did not converge")
	}
	all := eig.Values(nil)
	slices.Reverse(all)
	// Means of equal classes differ by round-off; S_W makes λ free of scale.
	const (
		noSeparation = 1e-20
		rankTol      = 1e-10
	)
	if all[0] <= noSeparation {
		return nil, errors.New("fda: all class means coincide along the directions in which classes vary")
	}
	rank := 0
	for rank < len(classes)-1 && all[rank] > rankTol*all[0] {
		rank++
	}
	k := p.K
	if k == 0 {
		k = rank
	}
	if k > rank {
		return nil, fmt.Errorf("fda: k: %d is not allowed, want at most %d: the means of %d classes differ along %d directions", k, rank, len(classes), rank)
	}
	var q mat.Dense
	eig.VectorsTo(&q)
	r := within.Rows()
	w := mat.NewDense(k, d, nil)
	coef := make([]float64, r)
	for i := range k {
		clear(coef)
		for c := range classes {
			floats.AddScaled(coef, q.At(c, len(classes)-1-i), a.RawRowView(c))
		}
		floats.Scale(1/floats.Norm(coef, 2), coef)
		row := w.RawRowView(i)
		for j, b := range coef {
			floats.AddScaled(row, b, l.RawRowView(j))
		}
		metric.FixSign(row)
	}
	return &FDA{mean: mean, w: w, values: all[:k]}, nil
}

// Mean returns a copy of the mean μ of all rows, length d.
func (f *FDA) Mean() []float64 { return slices.Clone(f.mean) }

// Directions returns a copy of the k×d matrix W of discriminant directions,
// largest ratio first.
func (f *FDA) Directions() *mat.Dense { return mat.DenseCopyOf(f.w) }

// Ratios returns a copy of the k eigenvalues λ, in descending order: variance
// between class means over variance (plus ridge) within classes.
func (f *FDA) Ratios() []float64 { return slices.Clone(f.values) }

// Transform returns the n×k scores (X − μ)Wᵀ of the rows of the n×d matrix x.
// It panics if x is nil or empty or does not have d columns.
func (f *FDA) Transform(x *mat.Dense) *mat.Dense { return project(x, f.mean, f.w) }

// Metric returns the metric M = WᵀW: the Euclidean distance between scores.
func (f *FDA) Metric() *metric.Mahalanobis { return metric.FromFactor(f.w) }
