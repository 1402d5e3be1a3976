package labels

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/cores"
	"metriclab/internal/matrix"
	"metriclab/internal/ranges"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
	"metriclab/pkg/spectral"
)

// FDAVersion changes whenever FitFDA gives other numbers for the same input.
const FDAVersion = 3

// FDAParams are the parameters of FitFDA.
type FDAParams struct {
	// K is the number of directions; 0 means all that separate class means, at
	// most the number of classes minus one.
	K int `json:"k" range:"0, or >= 1 and <= the number of classes minus one" name:"dim" doc:"number of directions; 0 means all that separate class means"`
	// Ridge is the regularisation ρ ≥ 0, relative to the mean variance within
	// classes. The default is 0, plain FDA with the pseudo-inverse: no
	// regularisation unless it is asked for.
	Ridge float64 `json:"ridge" range:">= 0" doc:"regularisation, relative to the mean variance within classes"`
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
// From 150 features on, where no eigenvalue of S_W + ρ·s·I is below 10⁻¹⁰ times its trace, the cost is that of S_W and of one or two Cholesky
// factorisations; else it is that of metric.InverseScatter.
//
// It returns an error if there are fewer than two classes, if x and y differ in
// length, if an entry is NaN or infinite, if no class varies, or if all class means
// coincide. It also does if K is negative or larger than the number of directions along
// which class means differ, if Ridge is negative or not finite, or if ctx is done.
// It panics if x is nil or empty.
func FitFDA(ctx context.Context, x mat.Matrix, y []int, p FDAParams) (*FDA, error) {
	xd := matrix.Dense(x)
	if xd == nil || xd.IsEmpty() {
		panic("labels: FitFDA: x is nil or empty")
	}
	p = p.Resolved()
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("fda: %w", err)
	}
	if err := checkLabels(xd, y); err != nil {
		return nil, fmt.Errorf("fda: %w", err)
	}
	n, _ := xd.Dims()
	class := classOf(y)
	var mean []float64
	var finite error
	var means [][]float64
	cores.Do(2, func(part int) {
		if part == 0 {
			mean, finite = finiteMean(xd)
		} else {
			means = meansOf(xd, class)
		}
	})
	if finite != nil {
		return nil, fmt.Errorf("fda: %w", finite)
	}
	between := scatterOf(means, mean, class)
	within := func(row int) []float64 { return means[class[row]] }
	return fromDeviations(ctx, "fda", xd, within, func(dev deviations) (*FDA, error) {
		whiten, err := dev.whitening(n, p.Ridge)
		if err != nil {
			return nil, fmt.Errorf("within classes: %w", err)
		}
		w, values, err := discriminants(between, whiten, p.K)
		if err != nil {
			return nil, err
		}
		return &FDA{mean: mean, w: w, values: values}, nil
	})
}

func (p FDAParams) check() error {
	return ranges.Check("", p)
}

// scatterOf returns B, a row √(n_c/n)(m_c − μ) per class: BᵀB = S_B.
func scatterOf(means [][]float64, mean []float64, class []int) *mat.Dense {
	rows := make([]int, len(means))
	for _, c := range class {
		rows[c]++
	}
	between := mat.NewDense(len(means), len(mean), nil)
	for c, m := range means {
		b := between.RawRowView(c)
		floats.SubTo(b, m, mean)
		floats.Scale(math.Sqrt(float64(rows[c])/float64(len(class))), b)
	}
	return between
}

// whitening is a matrix L with LᵀL = (S_W + ρsI)⁻¹: itself, or the Cholesky factor R of S_W + ρsI, with L = R⁻ᵀ.
type whitening struct {
	l *mat.Dense
	r blas64.Triangular // if l is nil
}

// whitening returns that of n rows with these deviations.
func (d deviations) whitening(n int, ridge float64) (whitening, error) {
	if r, ok := d.factor(n, ridge); ok {
		return whitening{r: r}, nil
	}
	m, err := d.inverse(n, ridge)
	if err != nil {
		return whitening{}, err
	}
	return whitening{l: m.Factor()}, nil
}

// factor returns the Cholesky factor of S + ρsI if it proves that none of its eigenvalues is round-off or, without a ridge, zero for
// metric.InverseScatter. Small matrices get none, nor do numbers far from 1 or too many for limits.Memory: what is wrong, inverse says.
func (d deviations) factor(n int, ridge float64) (r blas64.Triangular, ok bool) {
	const (
		small       = 150
		least, most = 1e-100, 1e100
	)
	order := d.order()
	mean := d.squares / float64(n) / float64(order)
	shift := ridge * mean
	singular := n < order && ridge == 0
	usual := mean >= least && mean <= most && ridge <= 1/metric.RankTolerance
	if order < small || singular || !usual || limits.Check("", limits.Floats(2, order, order)) != nil {
		return r, false
	}
	minus := d.scaledMoment(-1 / float64(n))
	zero := metric.RankTolerance * mean * float64(order) // at least that share of the largest eigenvalue
	if shift <= zero {
		rest := mat.NewSymDense(order, nil)
		rest.CopySym(minus)
		addDiagonal(rest, zero-shift)
		if _, ok := cholesky(rest.RawSymmetric()); !ok {
			return r, false
		}
	}
	addDiagonal(minus, -shift)
	return cholesky(minus.RawSymmetric())
}

func addDiagonal(a *mat.SymDense, v float64) {
	for i := range a.SymmetricDim() {
		a.SetSym(i, i, a.At(i, i)+v)
	}
}

func (v whitening) rank() int {
	if v.l == nil {
		return v.r.N
	}
	return v.l.RawMatrix().Rows
}

// forth returns BLᵀ.
func (v whitening) forth(b *mat.Dense) *mat.Dense {
	if v.l == nil {
		return v.solve(blas.NoTrans, mat.DenseCopyOf(b))
	}
	return matrix.Mul(b, v.l.T())
}

// back returns AL, and may overwrite A.
func (v whitening) back(a *mat.Dense) *mat.Dense {
	if v.l == nil {
		return v.solve(blas.Trans, a)
	}
	k, _ := a.Dims()
	_, d := v.l.Dims()
	w := mat.NewDense(k, d, nil)
	for i := range k {
		for j, c := range a.RawRowView(i) {
			floats.AddScaled(w.RawRowView(i), c, v.l.RawRowView(j))
		}
	}
	return w
}

// solve overwrites X by the solution Y of Y·op(R) = X, and returns it.
func (v whitening) solve(t blas.Transpose, x *mat.Dense) *mat.Dense {
	n, d := x.Dims()
	matrix.Rows(n, d*d, func(lo, hi int) {
		blas64.Trsm(blas.Right, t, 1, v.r, x.Slice(lo, hi, 0, d).(*mat.Dense).RawMatrix())
	})
	return x
}

// discriminants returns the solutions w of largest λ as rows, with these λ, from B and the metric (S_W + ρsI)⁻¹: k of them,
// or all that separate class means if k = 0.
func discriminants(between *mat.Dense, within whitening, k int) (w *mat.Dense, values []float64, err error) {
	// With LᵀL = (S_W + ρsI)⁻¹, w = Lᵀa and A = BLᵀ, the problem is AᵀA a = λa. Its Gram matrix AAᵀ has one row per class, and is taken
	// unless the classes are more than the rows of L, and so many that it matters.
	const many = 150
	classes, _ := between.Dims()
	a := within.forth(between)
	perClass, gram := classes <= max(within.rank(), many), mat.Matrix(a)
	if !perClass {
		gram = a.T()
	}
	var eig spectral.EigenSym
	if !eig.Factorize(matrix.Outer(1, gram), true) {
		return nil, nil, errors.New("eigendecomposition did not converge")
	}
	all := eig.Values(nil)
	n := len(all)
	slices.Reverse(all)
	if k, err = separating(all, classes, k); err != nil {
		return nil, nil, err
	}
	vectors := mat.NewDense(k, within.rank(), nil) // a as rows
	q := make([]float64, n)
	for i := range k {
		row := vectors.RawRowView(i)
		eig.Vector(q, n-1-i)
		if perClass { // Aᵀq is a
			for c, b := range q {
				floats.AddScaled(row, b, a.RawRowView(c))
			}
			floats.Scale(1/floats.Norm(row, 2), row)
		} else {
			copy(row, q)
		}
	}
	w = within.back(vectors)
	for i := range k {
		metric.FixSign(w.RawRowView(i))
	}
	return w, all[:k], nil
}

// separating returns k, or if that is 0 the number of directions along which class means differ, from the λ in descending
// order. It returns an error if there are none, or fewer than k.
func separating(values []float64, classes, k int) (int, error) {
	// Means of equal classes differ by round-off; S_W makes λ free of scale.
	const (
		noSeparation = 1e-20
		rankTol      = 1e-10
	)
	if values[0] <= noSeparation {
		return 0, errors.New("all class means coincide along the directions in which classes vary")
	}
	rank := 0
	for rank < min(len(values), classes-1) && values[rank] > rankTol*values[0] {
		rank++
	}
	if k > rank {
		return 0, fmt.Errorf("k: %d is not allowed, want at most %d: the means of %d classes differ along %d directions", k, rank, classes, rank)
	}
	if k == 0 {
		k = rank
	}
	return k, nil
}

// made returns f, and panics if no constructor made it.
func (f *FDA) made() *FDA {
	if f == nil || f.w == nil {
		panic("labels: FDA: zero value, use FitFDA")
	}
	return f
}

// Mean returns a copy of the mean μ of all rows, length d.
func (f *FDA) Mean() []float64 { return slices.Clone(f.made().mean) }

// Directions returns a copy of the k×d matrix W of discriminant directions,
// largest ratio first.
func (f *FDA) Directions() *mat.Dense { return mat.DenseCopyOf(f.made().w) }

// Ratios returns a copy of the k eigenvalues λ, in descending order: variance
// between class means over variance (plus ridge) within classes.
func (f *FDA) Ratios() []float64 { return slices.Clone(f.made().values) }

// Transform returns the n×k scores (X − μ)Wᵀ of the rows of the n×d matrix x.
// It panics if x is nil or empty or does not have d columns.
func (f *FDA) Transform(x mat.Matrix) *mat.Dense { return project(x, f.made().mean, f.w) }

// Metric returns the metric M = WᵀW: the Euclidean distance between scores.
func (f *FDA) Metric() *metric.Mahalanobis { return metric.FromFactor(f.made().w) }
