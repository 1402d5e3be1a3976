package pairs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/internal/lbfgs"
	"metriclab/internal/matrix"
	"metriclab/internal/product"
	"metriclab/internal/ranges"
	"metriclab/internal/vector"
	"metriclab/pkg/learners"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
	"metriclab/pkg/spectral"
)

// MMCVersion changes whenever FitMMC gives other numbers for the same input.
const MMCVersion = 1

// MMCParams are the parameters of FitMMC.
type MMCParams struct {
	// Diagonal restricts A to a weight for each feature. The default is any A ⪰ 0.
	Diagonal bool `json:"diagonal" name:"matrix" words:"full|diagonal" doc:"any positive semi-definite matrix, or a weight for each feature"`
	// Ridge is the weight ρ ≥ 0 of the trace in the constraint, relative to the mean of the features' squared differences over
	// the similar pairs. The default is 0: no regularisation unless it is asked for.
	Ridge float64 `json:"ridge" range:">= 0" doc:"weight of the trace in the constraint, relative to the mean squared difference of a feature in similar pairs"`
	// Tol is the Residual at which to stop, > 0; 0 means 1e-6.
	Tol float64 `json:"tol" range:"> 0" doc:"relative distance from the maximum at which to stop"`
	// MaxIterations is the cap on iterations, at least 1; 0 means 1000.
	MaxIterations int `json:"max_iterations" range:">= 1" name:"iterations" doc:"cap on iterations"`
	// Progress, if not nil, is told of each iteration, with g(A) to be maximised, and the Residual last computed.
	Progress func(learners.Progress) `json:"-"`
}

// Resolved returns p with its defaults filled in: Tol = 1e-6, MaxIterations = 1000.
func (p MMCParams) Resolved() MMCParams {
	p.Tol = cmp.Or(p.Tol, 1e-6)
	p.MaxIterations = cmp.Or(p.MaxIterations, 1000)
	return p
}

// MMC is what FitMMC returns. Status is learners.Converged if Residual ≤ Tol, learners.NoProgress if round-off lets nothing
// improve, else learners.IterationCap.
type MMC struct {
	learners.MetricResult
	// Objective is g(A), the sum of the distances of the dissimilar pairs.
	Objective float64
}

// FitMMC learns the metric A ⪰ 0 under which dissimilar pairs are far apart in sum, while similar pairs stay near:
//
//	max g(A) = Σ_D ‖x_i−x_j‖_A  subject to  Σ_S ‖x_i−x_j‖²_A + ρ·s·tr(A) ≤ 1,  ‖v‖²_A = vᵀAv,
//
// S the similar and D the dissimilar links, s = (1/d)·Σ_S ‖x_i−x_j‖². Source: Xing, Ng, Jordan, Russell, Distance Metric
// Learning, with Application to Clustering with Side-Information, NIPS 15, 2002, Eqs. 6 to 8; the ridge ρ is not in that
// paper. A rival that Jain, Kulis, Davis, Dhillon, JMLR 13, 2012, Section 6.1, leave out. x is n×d, a row per object. A link
// counts as often as it is given; a link between equal rows counts for nothing.
//
// With Diagonal, A is diagonal and minimises Σ_S ‖x_i−x_j‖²_A + ρ·s·tr(A) − log g(A), as in Section 2.1 of the paper. That
// is the same problem up to the scale of A: its minimum has ½ in place of 1 in the constraint.
//
// Where similar pairs do not differ at all, A could stretch dissimilar pairs without limit. With ρ = 0 such directions
// (Diagonal: features) have weight 0, as those of FitRCA have (see metric.RankTolerance; features are brought to one scale
// before). With ρ > 0 they are used, and the problem has a maximum. With ρ = 0 the distances learned do not depend on the units
// of features, nor, but for Diagonal, on any other invertible linear map of the rows.
//
// The problem is convex. In coordinates z in which the constraint is tr(B) ≤ 1, and for B = LLᵀ, g is Σ_D ‖Lᵀz‖. L-BFGS
// minimises ‖L‖²/2 − log g over L, where the gradient has no pole at distances of 0. Every B ⪰ 0 with tr(B) ≤ 1 has
//
//	g(B) ≤ √(λ·g),  λ the largest eigenvalue of Σ_D zzᵀ/‖Lᵀz‖,  g at L of norm 1
//
// (√q ≤ (qw + 1/w)/2 with w = 1/‖Lᵀz‖, at the best multiple of w). Residual is √(λ/g) − 1: g(A) is at most that much below
// its maximum, relatively. It is computed every fifth iteration. The maximum mostly has low rank, and L begins with 16 columns:
// where the residual stays while the gradient vanishes, L has too few, and gets those that the bound asks for. Nothing is drawn.
//
// For m dissimilar links and r directions in which similar pairs differ, an iteration costs O(mr) for each column of L, and a
// residual O(mr² + r³); with Diagonal both cost O(md). Memory is that of the links' differences, 3md numbers at most, and O(r²).
//
// It returns an error if there is no similar or no dissimilar link, if all similar pairs coincide, if dissimilar pairs
// differ in no direction of weight, or if a link has label 0 or an index outside x. It also does if an entry of x is NaN or
// infinite, differences or an entry of A overflow, the matrices do not fit limits.Memory, a parameter is out of range, or
// ctx is done. It panics if x is nil or empty.
//
// The same on a page, as the paper and its authors' program solve it: [metriclab/pkg/learners/plain.MMC].
func FitMMC(ctx context.Context, x mat.Matrix, links []metric.Link, p MMCParams) (MMC, error) {
	xd := matrix.Dense(x)
	if xd == nil || xd.IsEmpty() {
		panic("pairs: FitMMC: x is nil or empty")
	}
	n, d := xd.Dims()
	p = p.Resolved()
	if err := ranges.Check("mmc", p); err != nil {
		return MMC{}, err
	}
	if err := metric.CheckFinite(xd); err != nil {
		return MMC{}, fmt.Errorf("mmc: %w", err)
	}
	if err := metric.CheckLinks(n, links); err != nil {
		return MMC{}, fmt.Errorf("mmc: %w", err)
	}
	count := map[metric.Label]int{}
	for _, l := range links {
		count[l.Label]++
	}
	r := d // directions
	if p.Ridge == 0 && !p.Diagonal {
		r = min(d, count[metric.Similar])
	}
	if err := limits.Check(fmt.Sprintf("MMC on %d links of %d features", len(links), d), limits.Floats(len(links), d)+limits.Floats(2*count[metric.Dissimilar]+4*r, r)); err != nil {
		return MMC{}, fmt.Errorf("mmc: %w", err)
	}
	f := &mmcFit{ctx: ctx, p: p}
	for _, l := range []metric.Label{metric.Similar, metric.Dissimilar} {
		if count[l] == 0 {
			return MMC{}, fmt.Errorf("mmc: links: no %v one, want at least one", l)
		}
		v := mat.NewDense(count[l], d, nil)
		row := 0
		for _, link := range links {
			if link.Label == l {
				metric.Sub(v.RawRowView(row), xd.RawRowView(link.I), xd.RawRowView(link.J))
				if row++; row%1024 == 0 && ctx.Err() != nil {
					return MMC{}, fmt.Errorf("mmc: %w", ctx.Err())
				}
			}
		}
		if metric.CheckFinite(v) != nil {
			return MMC{}, errors.New("mmc: differences of rows overflow float64: rescale the features")
		}
		f.similar, f.z = f.z, v
	}
	if !abandon.Long(len(links), d, r) {
		return f.fit()
	}
	return abandon.Run(ctx, "mmc", p.Progress, func(ctx context.Context, progress func(learners.Progress)) (MMC, error) {
		f.ctx, f.p.Progress = ctx, progress
		return f.fit()
	})
}

const (
	// mmcWidth is the number of columns that L has first: of 8, 16 and 32, by the time to a residual of 1e-9. The maximum had rank 7 at most.
	mmcWidth = 16
	// mmcMemory is the number of pairs of L-BFGS: of 5, 10 and 20, by the time to a residual of 1e-9.
	mmcMemory = 10
	// mmcLooks is how many iterations pass between two residuals, each of which costs eigenvalues.
	mmcLooks = 5
	// mmcInside is a share of the residual. Where the gradient, of about the size of what is left within the columns of L, is below it, the
	// rest is outside of them. New columns begin with mmcNew of the trace.
	mmcInside, mmcNew = 0.1, 0.01
	// mmcNegligible is the squared length of a pair, relative to the largest coordinate of all, below which its distance adds nothing to g, and mmcShort
	// the distance below which the bound does not follow it.
	mmcNegligible, mmcShort = 1e-280, 1e-12
)

// mmcFit is a fit. All that it holds is its own.
type mmcFit struct {
	ctx     context.Context
	p       MMCParams
	similar *mat.Dense // the differences of similar pairs
	z       *mat.Dense // those of dissimilar pairs, then their coordinates, of which the largest is 1; Diagonal: squares of these
	largest float64    // by what the coordinates were divided
	width   int        // columns of L; Diagonal: 1, those of its diagonal
	moved   *mat.Dense // a row zᵀL per pair
	lengths []float64  // ‖Lᵀz‖
}

func (f *mmcFit) fit() (MMC, error) {
	unit, b, err := f.whiten()
	if err != nil {
		return MMC{}, fmt.Errorf("mmc: %w", err)
	}
	l, result, err := f.maximise()
	if err != nil {
		return MMC{}, fmt.Errorf("mmc: %w", err)
	}
	norm := floats.Norm(l, 2)
	if f.p.Diagonal {
		norm *= math.Sqrt2
	}
	floats.Scale(1/norm, l)
	factor, err := f.factor(l, b)
	if err != nil {
		return MMC{}, fmt.Errorf("mmc: %w", err)
	}
	each(factor, func(row []float64) { floats.Mul(row, unit) })
	if err := metric.CheckWeights(factor); err != nil {
		return MMC{}, fmt.Errorf("mmc: %w", err)
	}
	return MMC{
		MetricResult: learners.MetricResult{Metric: metric.FromFactor(factor), Result: result},
		Objective:    learners.Saturate(floats.Sum(f.lengths) / norm * f.largest),
	}, nil
}

// each calls do for each row of m.
func each(m *mat.Dense, do func(row []float64)) {
	n, _ := m.Dims()
	for i := range n {
		do(m.RawRowView(i))
	}
}

// whiten makes z the coordinates, which are the differences of features, each times its unit, times the transpose of b. Diagonal: the one row
// of b holds the factors of features.
func (f *mmcFit) whiten() (unit []float64, b *mat.Dense, err error) {
	_, d := f.similar.Dims()
	unit = make([]float64, d)
	each(f.similar, func(row []float64) {
		for j, v := range row {
			unit[j] = max(unit[j], math.Abs(v))
		}
	})
	common := floats.Max(unit)
	if common == 0 {
		return nil, nil, fmt.Errorf("similar pairs: %w", metric.ErrNoScatter)
	}
	for j, v := range unit {
		if f.p.Ridge > 0 { // the trace is in the units of the features
			v = common
		}
		if v > 0 {
			unit[j] = 1 / v
		}
		if math.IsInf(unit[j], 1) {
			return nil, nil, metric.ErrWeights
		}
	}
	for _, v := range []*mat.Dense{f.similar, f.z} {
		each(v, func(row []float64) { floats.Mul(row, unit) })
	}
	if f.p.Diagonal {
		b = mat.NewDense(1, d, nil)
		weights := b.RawRowView(0)
		each(f.similar, func(row []float64) {
			for j, v := range row {
				weights[j] += v * v
			}
		})
		floats.AddConst(f.p.Ridge*floats.Sum(weights)/float64(d), weights)
		for j, s := range weights {
			if s > 0 {
				weights[j] = 1 / math.Sqrt(s)
			}
		}
		each(f.z, func(row []float64) { floats.Mul(row, weights) })
	} else {
		w, err := metric.InverseScatter(f.similar, 1, f.p.Ridge)
		if err != nil {
			return nil, nil, err
		}
		b = w.Factor()
		f.z = matrix.Mul(f.z, b.T())
	}
	f.similar = nil
	return unit, b, f.settle()
}

// settle divides the coordinates by the largest, and leaves out pairs whose distances vanish beside those of others.
func (f *mmcFit) settle() error {
	each(f.z, func(row []float64) { f.largest = max(f.largest, floats.Norm(row, math.Inf(1))) })
	switch {
	case f.largest == 0:
		return errors.New("dissimilar pairs: they differ only where similar pairs do not, and have weight 0 there: want a ridge")
	case !(f.largest <= math.MaxFloat64):
		return errors.New("features differ too much more in dissimilar pairs than in similar ones: rescale them")
	}
	kept := 0
	each(f.z, func(row []float64) {
		floats.Scale(1/f.largest, row)
		if floats.Dot(row, row) < mmcNegligible {
			return
		}
		to := f.z.RawRowView(kept)
		copy(to, row)
		if f.p.Diagonal {
			floats.Mul(to, to)
		}
		kept++
	})
	_, r := f.z.Dims()
	f.z = f.z.Slice(0, kept, 0, r).(*mat.Dense)
	f.moved, f.lengths = mat.NewDense(kept, r, nil), make([]float64, kept)
	return nil
}

// value is ‖L‖²/2 − log g at L, r×width, and sets its gradient.
func (f *mmcFit) value(l, gradient []float64) float64 {
	m, r := f.z.Dims()
	right := l
	if f.p.Diagonal {
		right = floats.MulTo(make([]float64, r), l, l)
	}
	moved, sum := f.columns(f.width), dense(r, f.width, make([]float64, r*f.width))
	product.Gemm(blas.NoTrans, blas.NoTrans, f.z.RawMatrix(), dense(r, f.width, right), moved)
	matrix.Rows(m, r, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			row := moved.Data[k*f.width : (k+1)*f.width]
			sq := row[0]
			if f.p.Diagonal {
				row[0] = 1
			} else {
				sq = vector.Dot(row, row)
			}
			f.lengths[k] = math.Sqrt(sq)
			if sq > 0 { // else 0 is a subgradient
				floats.Scale(1/f.lengths[k], row)
			} else {
				row[0] = 0
			}
		}
	})
	g := floats.Sum(f.lengths)
	product.Gemm(blas.Trans, blas.NoTrans, f.z.RawMatrix(), moved, sum)
	if f.p.Diagonal {
		floats.Mul(sum.Data, l)
	}
	floats.AddScaledTo(gradient, l, -1/g, sum.Data)
	return vector.Dot(l, l)/2 - math.Log(g)
}

// columns returns the room of moved as a matrix of n columns.
func (f *mmcFit) columns(n int) blas64.General {
	m, _ := f.z.Dims()
	return dense(m, n, f.moved.RawMatrix().Data[:m*n])
}

// dense returns numbers as a matrix of product.
func dense(rows, columns int, data []float64) blas64.General {
	return blas64.General{Rows: rows, Cols: columns, Stride: columns, Data: data}
}

// scatter returns Σ zzᵀ/‖Lᵀz‖ over the dissimilar pairs, of lengths of at least mmcShort.
func (f *mmcFit) scatter() *mat.SymDense {
	m, r := f.z.Dims()
	matrix.Rows(m, r, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			floats.ScaleTo(f.moved.RawRowView(k), 1/math.Sqrt(max(f.lengths[k], mmcShort)), f.z.RawRowView(k))
		}
	})
	return matrix.Outer(1, f.moved.T())
}

// residual is that of FitMMC, at the last L of value.
func (f *mmcFit) residual(l []float64) (float64, error) {
	_, r := f.z.Dims()
	var lambda, g float64
	for _, s := range f.lengths {
		g += max(s, mmcShort)
	}
	if f.p.Diagonal {
		weights, sum := f.columns(1), dense(r, 1, make([]float64, r))
		for k, s := range f.lengths {
			weights.Data[k] = 1 / max(s, mmcShort)
		}
		product.Gemm(blas.Trans, blas.NoTrans, f.z.RawMatrix(), weights, sum)
		lambda = floats.Max(sum.Data)
	} else {
		var eig spectral.EigenSym
		if !eig.Factorize(f.scatter(), false) {
			return 0, errEigen
		}
		lambda = eig.Values(nil)[r-1]
	}
	return max(math.Sqrt(lambda*vector.Dot(l, l)*g)/floats.Sum(f.lengths)-1, 0), nil
}

var errEigen = errors.New("eigendecomposition did not converge")

// start returns L-BFGS at the first L: with Diagonal all equal, else the top eigenvectors of Σ zzᵀ/‖z‖.
func (f *mmcFit) start() (lbfgs.State, error) {
	_, r := f.z.Dims()
	if f.p.Diagonal {
		f.width = 1
		c := lbfgs.New(r, mmcMemory)
		floats.AddConst(1/math.Sqrt(float64(r)), c.X)
		return c, nil
	}
	for k := range f.lengths {
		f.lengths[k] = floats.Norm(f.z.RawRowView(k), 2)
	}
	return f.widened(nil, min(mmcWidth, r), 1)
}

// widened returns L-BFGS at L with more columns: the top eigenvectors of scatter, with a share of the trace of all.
func (f *mmcFit) widened(l []float64, more int, share float64) (lbfgs.State, error) {
	_, r := f.z.Dims()
	before, width := f.width, f.width+more
	if err := limits.Check(fmt.Sprintf("MMC of rank %d in %d directions", width, r), limits.Floats(2*mmcMemory+8, width, r)); err != nil {
		return lbfgs.State{}, err
	}
	var eig spectral.EigenSym
	if !eig.Factorize(f.scatter(), true) {
		return lbfgs.State{}, errEigen
	}
	var u mat.Dense
	eig.VectorsTo(&u)
	c := lbfgs.New(r*width, mmcMemory)
	size := math.Sqrt(share / float64(more))
	if before > 0 {
		size *= floats.Norm(l, 2)
	}
	for i := range r {
		row := c.X[i*width : (i+1)*width]
		copy(row, l[i*before:(i+1)*before])
		for k := range more {
			row[before+k] = size * u.At(i, r-1-k)
		}
	}
	f.width = width
	return c, nil
}

// maximise returns the L of the largest g, up to the tolerance.
func (f *mmcFit) maximise() (l []float64, result learners.Result, err error) {
	_, r := f.z.Dims()
	c, err := f.start()
	if err != nil {
		return nil, result, err
	}
	c.Scale = 1 // the Hessian of ‖L‖²/2
	now, stuck := f.value(c.X, c.G), false
	for {
		if err := f.ctx.Err(); err != nil {
			return nil, result, err
		}
		if result.Iterations%mmcLooks == 0 || result.Iterations == f.p.MaxIterations || stuck {
			if result.Residual, err = f.residual(c.X); err != nil {
				return nil, result, err
			}
			wide := f.p.Diagonal || f.width == r
			switch {
			case result.Residual <= f.p.Tol:
				result.Status = learners.Converged
			case result.Iterations == f.p.MaxIterations:
				result.Status = learners.IterationCap
			case stuck && wide:
				result.Status = learners.NoProgress
			case !wide && (stuck || floats.Norm(c.G, 2) < mmcInside*result.Residual):
				if c, err = f.widened(c.X, min(f.width, r-f.width), mmcNew); err != nil {
					return nil, result, err
				}
				c.Scale = 1
				now, stuck = f.value(c.X, c.G), false
			}
			if result.Status != learners.NotRun {
				return c.X, result, nil
			}
		}
		c.Aim()
		next := now
		if !c.Search(f.ctx, now, func() float64 {
			next = f.value(c.Next, c.GNext)
			return next
		}) {
			stuck = true
			f.value(c.X, c.G)
			continue
		}
		c.Remember()
		now = next
		result.Iterations++
		if f.p.Progress != nil {
			f.p.Progress(learners.Progress{Iteration: result.Iterations, Cap: f.p.MaxIterations, Objective: floats.Sum(f.lengths) / floats.Norm(c.X, 2) * f.largest, Residual: result.Residual})
		}
	}
}

// factor returns L of A = LᵀL in the units of the fit, of as few rows as its rank.
func (f *mmcFit) factor(l []float64, b *mat.Dense) (*mat.Dense, error) {
	if !f.p.Diagonal {
		_, r := f.z.Dims()
		m, err := metric.NewMahalanobis(matrix.Outer(1, mat.NewDense(r, f.width, l)))
		if err != nil {
			return nil, err
		}
		return matrix.Mul(m.Factor(), b), nil
	}
	var rows [][]float64
	for j, v := range l {
		if v *= b.At(0, j); v != 0 {
			row := make([]float64, len(l))
			row[j] = v
			rows = append(rows, row)
		}
	}
	out := mat.NewDense(len(rows), len(l), nil)
	for i, row := range rows {
		out.SetRow(i, row)
	}
	return out, nil
}
