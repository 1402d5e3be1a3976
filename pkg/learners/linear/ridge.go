package linear

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
	"metriclab/internal/ranges"
	"metriclab/pkg/limits"
	"metriclab/pkg/persist"
	"metriclab/pkg/spectral"
)

// RidgeVersion changes whenever FitRidge gives other numbers for the same input.
const RidgeVersion = 2

// RidgeKind is the kind under which package persist stores a Ridge.
const RidgeKind = "classify/ridge"

// RidgeParams are the parameters of FitRidge.
type RidgeParams struct {
	// Strength is λ > 0, in feature²; 0 means that generalised cross-validation
	// chooses it from Grid.
	Strength float64 `json:"strength" range:"0, or > 0"`
	// Grid holds the strengths > 0 to choose from, in any order. The default is
	// 25 values from 1e-8·s to 100·s, evenly spaced in the logarithm, where s is
	// the largest eigenvalue of the scatter Σ(xᵢ−x̄)(xᵢ−x̄)ᵀ. It must be empty if
	// Strength is given.
	Grid []float64 `json:"grid,omitempty" range:"> 0"`
}

// Resolved returns p with defaults filled in. The default of Grid depends on the
// data, so that it returns p.
func (p RidgeParams) Resolved() RidgeParams { return p }

func (p RidgeParams) check() error {
	if err := ranges.Check("", p); err != nil {
		return err
	}
	if p.Strength != 0 && len(p.Grid) > 0 {
		return errors.New("grid: is not allowed beside a strength")
	}
	return nil
}

func positive(a float64) bool { return a > 0 && !math.IsInf(a, 1) }

// Ridge is ridge regression, and a classifier by the sign of what it predicts. It
// is immutable and safe for concurrent use.
type Ridge struct {
	Hyperplane
	params    RidgeParams
	strengths []float64 // descending
	gcv       []float64 // of each
	chosen    int
}

// FitRidge returns the w and b that minimise
//
//	Σᵢ (yᵢ − w·xᵢ − b)² + λ‖w‖²
//
// for the rows of the n×d matrix x and n targets y (Hoerl and Kennard 1970); the
// intercept b is not penalised. For a classifier take Targets of the labels.
// Unless p gives λ, it is the strength of the grid with the least generalised
// cross-validation
//
//	V(λ) = (1/n)‖(I − H)y‖² / [(1/n)·tr(I − H)]²
//
// (Golub, Heath and Wahba 1979), of equal ones the largest, where Hy are the
// fitted values, b among them. V is the mean squared error of leaving one row out
// with all leverages Hᵢᵢ replaced by their mean.
//
// The mean is removed by n−1 orthonormal contrasts of the rows, and one
// eigendecomposition of the smaller of their scatter (primal, as many features as
// vary) and their Gram matrix (dual, n−1) serves all strengths. A feature that
// does not vary has weight 0. All targets equal, or a single row, give w = 0.
//
// It returns an error if a parameter is not allowed, if x is empty, if y does not
// have length n, if an entry is NaN or infinite, if sums of squares overflow, or if
// ctx is done.
// It panics if x is nil.
func FitRidge(ctx context.Context, x mat.Matrix, y []float64, p RidgeParams) (*Ridge, error) {
	xd := matrix.Dense(x)
	p.Grid = slices.Clone(p.Grid)
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("ridge: %w", err)
	}
	if err := checkTable(xd, len(y)); err != nil {
		return nil, fmt.Errorf("ridge: %w", err)
	}
	for i, v := range y {
		if !finite(v) {
			return nil, fmt.Errorf("ridge: y[%d]: %v is not allowed, want a finite number", i, v)
		}
	}
	if !finite(floats.Dot(y, y) * float64(len(y))) {
		return nil, errors.New("ridge: y: sums of squares overflow float64: rescale the targets")
	}
	n, width := xd.Dims()
	least := min(n, width)
	if err := limits.Check(fmt.Sprintf("ridge regression on %d×%d numbers", n, width), limits.Floats(3, least, least)); err != nil {
		return nil, fmt.Errorf("ridge: %w", err)
	}
	if !abandon.Long(n, width, least) {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("ridge: %w", err)
		}
		return fitRidge(xd, y, p)
	}
	xd, y = mat.DenseCopyOf(xd), slices.Clone(y)
	return abandon.Do(ctx, "ridge", func(context.Context) (*Ridge, error) { return fitRidge(xd, y, p) })
}

// fitRidge is FitRidge for input that has been checked.
func fitRidge(x *mat.Dense, y []float64, p RidgeParams) (*Ridge, error) {
	c := contrast(x, y)
	r := &Ridge{params: p}
	if err := r.choose(c, len(y)); err != nil {
		return nil, fmt.Errorf("ridge: %w", err)
	}
	_, d := x.Dims()
	r.w = make([]float64, d)
	for k, v := range c.weights(r.Strength()) {
		r.w[c.vary[k]] = v
	}
	r.b = c.meanY - floats.Dot(r.w, c.meanX)
	if err := r.check(); err != nil {
		return nil, fmt.Errorf("ridge: the weights overflow: %w", err)
	}
	return r, nil
}

// contrasts is a ridge regression without intercept: z on the rows of the matrix
// Z, both n−1 orthonormal contrasts of the rows of the table.
type contrasts struct {
	meanX []float64
	meanY float64
	vary  []int      // the features that vary: the columns of Z
	rows  *mat.Dense // Z; nil if there are no rows or no columns
	z     []float64

	dual   bool
	values []float64  // eigenvalues of ZᵀZ or, dual, ZZᵀ: σ² ≥ 0
	basis  *mat.Dense // their eigenvectors as columns
	coef   []float64  // basisᵀ·Zᵀz or, dual, basisᵀ·z
}

// contrast returns the Helmert contrasts: row k is √(k/(k+1)) times the
// difference of row k and the mean of those before it.
func contrast(x *mat.Dense, y []float64) *contrasts {
	n, d := x.Dims()
	c := &contrasts{meanX: slices.Clone(x.RawRowView(0)), meanY: y[0], z: make([]float64, n-1)}
	varies := make([]bool, d)
	diff := make([][]float64, n-1)
	for k := 1; k < n; k++ {
		scale := math.Sqrt(float64(k) / float64(k+1))
		row := make([]float64, d)
		floats.SubTo(row, x.RawRowView(k), c.meanX)
		floats.AddScaled(c.meanX, 1/float64(k+1), row)
		for j, v := range row {
			varies[j] = varies[j] || v != 0
		}
		floats.Scale(scale, row)
		diff[k-1] = row
		dy := y[k] - c.meanY
		c.meanY += dy / float64(k+1)
		c.z[k-1] = scale * dy
	}
	for j, v := range varies {
		if v {
			c.vary = append(c.vary, j)
		}
	}
	if len(c.vary) == 0 {
		return c
	}
	c.rows = mat.NewDense(n-1, len(c.vary), nil)
	for i, row := range diff {
		for k, j := range c.vary {
			c.rows.Set(i, k, row[j])
		}
	}
	return c
}

// decompose does the eigendecomposition.
func (c *contrasts) decompose() error {
	if c.rows == nil {
		return nil
	}
	n, d := c.rows.Dims()
	c.dual = n < d
	factor, right := mat.Matrix(c.rows), mat.NewVecDense(n, c.z)
	if !c.dual {
		factor = c.rows.T()
		zy := mat.NewVecDense(d, nil)
		zy.MulVec(factor, right)
		right = zy
	}
	var eig spectral.EigenSym
	if !eig.Factorize(matrix.Outer(1, factor), true) {
		return errors.New("eigendecomposition did not converge")
	}
	c.values = eig.Values(nil)
	for k, v := range c.values {
		c.values[k] = max(v, 0)
	}
	c.basis = new(mat.Dense)
	eig.VectorsTo(c.basis)
	var coef mat.VecDense
	coef.MulVec(c.basis.T(), right)
	c.coef = coef.RawVector().Data
	return nil
}

// scale returns the largest eigenvalue of the scatter, or 1 if nothing varies.
func (c *contrasts) scale() float64 {
	if top := slices.Max(append([]float64{0}, c.values...)); top > 0 {
		return top
	}
	return 1
}

// weights returns the solution for λ.
func (c *contrasts) weights(lambda float64) []float64 {
	if c.rows == nil {
		return nil
	}
	shrunk := mat.NewVecDense(len(c.coef), nil)
	for k, v := range c.coef {
		shrunk.SetVec(k, v/(c.values[k]+lambda))
	}
	var w mat.VecDense
	w.MulVec(c.basis, shrunk)
	if c.dual {
		var primal mat.VecDense
		primal.MulVec(c.rows.T(), &w)
		return primal.RawVector().Data
	}
	return w.RawVector().Data
}

// residual returns the sum of squared residuals and tr(I − H) for λ, both as sums
// of terms ≥ 0.
func (c *contrasts) residual(lambda float64) (rss, trace float64) {
	trace = float64(len(c.z) - len(c.values))
	for _, v := range c.values {
		trace += lambda / (v + lambda)
	}
	if c.dual {
		for k, v := range c.coef {
			e := v * (lambda / (c.values[k] + lambda))
			rss += e * e
		}
		return rss, trace
	}
	e := mat.NewVecDense(len(c.z), slices.Clone(c.z))
	if c.rows != nil {
		var fitted mat.VecDense
		fitted.MulVec(c.rows, mat.NewVecDense(len(c.vary), c.weights(lambda)))
		e.SubVec(e, &fitted)
	}
	return mat.Dot(e, e), trace
}

// choose fills in the strengths, their V and which of them is taken.
func (r *Ridge) choose(c *contrasts, n int) error {
	if err := c.decompose(); err != nil {
		return err
	}
	switch {
	case r.params.Strength != 0:
		r.strengths = []float64{r.params.Strength}
	case len(r.params.Grid) > 0:
		r.strengths = slices.Clone(r.params.Grid)
	default:
		r.strengths = make([]float64, 25)
		floats.LogSpan(r.strengths, 1e-8, 100)
		floats.Scale(c.scale(), r.strengths)
	}
	slices.Sort(r.strengths)
	slices.Reverse(r.strengths)
	r.strengths = slices.Compact(r.strengths)
	r.gcv = make([]float64, len(r.strengths))
	for k, l := range r.strengths {
		if !positive(l) {
			return fmt.Errorf("strength: %v is not allowed, want a finite number > 0: rescale the features", l)
		}
		if len(c.z) > 0 { // else a single row, which leaves no residual
			rss, trace := c.residual(l)
			r.gcv[k] = float64(n) * rss / (trace * trace)
		}
		if math.IsNaN(r.gcv[k]) || math.IsInf(r.gcv[k], 1) {
			return fmt.Errorf("strength: V(%v) is %v: want a larger strength", l, r.gcv[k])
		}
		if r.gcv[k] < r.gcv[r.chosen] {
			r.chosen = k
		}
	}
	return nil
}

// Params returns the parameters.
func (r *Ridge) Params() RidgeParams {
	p := r.made().params
	p.Grid = slices.Clone(p.Grid)
	return p
}

// Strength returns λ.
func (r *Ridge) Strength() float64 { return r.made().strengths[r.chosen] }

// Path returns copies of the strengths tried, in descending order, and of V for
// each.
func (r *Ridge) Path() (strengths, gcv []float64) {
	return slices.Clone(r.made().strengths), slices.Clone(r.gcv)
}

// made returns r, and panics if no constructor made it.
func (r *Ridge) made() *Ridge {
	if r == nil || r.w == nil {
		panic("linear: Ridge: zero value, use FitRidge")
	}
	return r
}

// ridgeState is what a Ridge saves beside its parameters.
type ridgeState struct {
	linearState
	Strengths persist.Floats `json:"strengths"`
	GCV       persist.Floats `json:"gcv"`
}

// Save writes the classifier in the format of package persist, kind
// "classify/ridge". What is loaded from it predicts the same bits. It panics if no fit made the classifier.
func (r *Ridge) Save(w io.Writer) error {
	return persist.Write(w, RidgeKind, r.made().params, ridgeState{linearState{r.w, r.b}, r.strengths, r.gcv})
}

// LoadRidge reads what Ridge.Save wrote. Its errors wrap those of package persist
// if the file is foreign, newer, damaged or of another kind.
func LoadRidge(in io.Reader) (*Ridge, error) {
	var r Ridge
	var s ridgeState
	if err := persist.Load(in, RidgeKind, &r.params, &s); err != nil {
		return nil, err
	}
	r.w, r.b, r.strengths, r.gcv = s.Weights, s.Bias, s.Strengths, s.GCV
	if err := r.valid(); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", persist.ErrDamaged, RidgeKind, err)
	}
	return &r, nil
}

// valid returns an error unless r is what a fit can give, and sets chosen.
func (r *Ridge) valid() error {
	if err := r.params.check(); err != nil {
		return err
	}
	if err := r.check(); err != nil {
		return err
	}
	want := slices.Clone(r.params.Grid)
	if r.params.Strength != 0 {
		want = []float64{r.params.Strength}
	}
	slices.Sort(want)
	slices.Reverse(want)
	if want = slices.Compact(want); len(want) > 0 && !slices.Equal(want, r.strengths) {
		return errors.New("strengths are not those of the parameters")
	}
	if len(r.strengths) == 0 || len(r.gcv) != len(r.strengths) {
		return fmt.Errorf("%d strengths and %d values of V", len(r.strengths), len(r.gcv))
	}
	for k, v := range r.gcv {
		if !positive(r.strengths[k]) || k > 0 && r.strengths[k] >= r.strengths[k-1] {
			return fmt.Errorf("strengths[%d]: %v is not allowed, want numbers > 0 in descending order", k, r.strengths[k])
		}
		if !(v >= 0) || math.IsInf(v, 1) {
			return fmt.Errorf("gcv[%d]: %v is not allowed, want a finite number ≥ 0", k, v)
		}
		if v < r.gcv[r.chosen] {
			r.chosen = k
		}
	}
	return nil
}
