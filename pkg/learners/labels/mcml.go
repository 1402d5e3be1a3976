package labels

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/internal/cores"
	"metriclab/internal/matrix"
	"metriclab/internal/product"
	"metriclab/internal/ranges"
	"metriclab/pkg/learners"
	"metriclab/pkg/limits"
	"metriclab/pkg/spectral"
)

// MCMLVersion changes whenever FitMCML gives other numbers for the same input.
const MCMLVersion = 2

// MCMLParams are the parameters of FitMCML.
type MCMLParams struct {
	// Ridge is the weight ρ ≥ 0 of the trace of M, relative to the mean variance of a feature. The default is 0: no
	// regularisation unless it is asked for.
	Ridge float64 `range:">= 0" doc:"weight of the trace of the matrix, relative to the mean variance of a feature; of a kernel, of a dimension that the rows span"`
	// Tol is the Residual at which to stop, in nats, > 0; 0 means 0.001.
	Tol float64 `range:"> 0" doc:"distance from the minimum at which to stop, in nats per row"`
	// MaxIterations is the cap on iterations, at least 1; 0 means 1000.
	MaxIterations int `range:">= 1" name:"iterations" doc:"cap on iterations"`
	// Progress, if not nil, is told of each iteration, with F(M) and Residual at the metric
	// before it.
	Progress func(learners.Progress)
}

// Resolved returns p with its defaults filled in: Tol = 0.001, MaxIterations = 1000.
func (p MCMLParams) Resolved() MCMLParams {
	p.Tol = cmp.Or(p.Tol, 1e-3)
	p.MaxIterations = cmp.Or(p.MaxIterations, 1000)
	return p
}

func (p MCMLParams) check() error {
	return ranges.Check("mcml", p)
}

// MCML is what FitMCML returns. Status is learners.Converged if Residual ≤ Tol,
// learners.NoProgress if round-off lets nothing improve, else learners.IterationCap.
type MCML struct {
	learners.MetricResult
	// Objective is F(M), in nats, with the term of the ridge.
	Objective float64
	// Rows is the number of rows that have another row in their class.
	Rows int
}

// FitMCML learns the metric of maximally collapsing metric learning: it minimises
//
//	F(M) = Σᵢ KL(p₀(·|i) ‖ p(·|i)),  p(j|i) = exp(−d²(i, j)) / Σ_{l≠i} exp(−d²(i, l)), j ≠ i,
//
// over M ⪰ 0, with d²(i, j) = (x_i−x_j)ᵀM(x_i−x_j) and p₀(·|i) uniform on the other rows of
// the class of i. Source: Globerson and Roweis, Metric Learning by Collapsing Classes, NIPS
// 18, 2005; a rival in Jain, Kulis, Davis, Dhillon, JMLR 13, 2012, Section 6. x is
// n×d, a row per object, y has a class per row, any integers. With c_i the size of the class
// of i,
//
//	KL = −log(c_i−1) + mean of d²(i, j) over j in its class + log Σ_{l≠i} exp(−d²(i, l)),
//	∇F = Σ_{i,j} (p₀(j|i) − p(j|i)) (x_i−x_j)(x_i−x_j)ᵀ.
//
// With a ridge ρ, F has the term ρs·tr(M) for each row that has another in its class, s = tr(Σ)/d, Σ the covariance of x. Where some metric collapses the classes, as
// with as many features as rows, F alone falls to 0 without a minimum; with a ridge it has one.
//
// The sum of exponentials is taken relative to its largest. A row that is alone in its class
// has no p₀: it contributes no term of its own, but other rows are moved away from it.
// Duplicates are allowed.
//
// F is convex. It is minimised by spectral projected gradients in coordinates that the scatter
// within classes whitens, from the best of the metrics 2^k·I there. As F is convex,
//
//	F(M) − F(M') ≤ ⟨∇F, M⟩ + R·max(0, −λ)  for all M' with tr(M'Σ) ≤ R,
//
// Σ the covariance of x and λ the least eigenvalue of ∇F where Σ is I. Residual is
// the right hand side per row that contributes, in nats, with R = max(2·tr(MΣ), rank Σ); tr(MΣ)
// is half the mean d² of two rows. It is 0 at the minimum, where ∇F ⪰ 0 and ⟨∇F, M⟩ = 0. If
// a linear map collapses each class to a point of its own, M grows without limit
// as F and Residual fall to 0, and the fit ends at Tol. Nothing is drawn.
//
// An iteration costs O(n²r + r³), r the rank of Σ. Memory is O(n(d + r)): distances and probabilities are those of
// 64 rows at a time. Directions in which no
// two rows differ, such as a constant feature, have weight 0.
//
// It returns an error if x and y differ in length, there are fewer than two classes, no class has two rows, all
// rows coincide, or an entry is NaN or infinite. It also does if the deviations from the mean or an entry of M
// overflow, a parameter is out of range, or ctx is done. So it does if 5 matrices of the size of x, 7 with a
// ridge, and one of 64×n do not fit limits.Memory. It panics if x is nil or empty.
func FitMCML(ctx context.Context, x mat.Matrix, y []int, p MCMLParams) (MCML, error) {
	xd := matrix.Dense(x)
	if xd == nil || xd.IsEmpty() {
		panic("labels: FitMCML: x is nil or empty")
	}
	n, d := xd.Dims()
	p = p.Resolved()
	if err := p.check(); err != nil {
		return MCML{}, err
	}
	if err := checkLabelled(xd, y); err != nil {
		return MCML{}, fmt.Errorf("mcml: %w", err)
	}
	copies := 5
	if p.Ridge > 0 {
		copies = 7
	}
	if err := limits.Check(fmt.Sprintf("MCML on %d rows of %d features", n, d), limits.Floats(n, copies*d+mostBlocks*blockRows)); err != nil {
		return MCML{}, fmt.Errorf("mcml: %w", err)
	}
	if !abandon.Long(n, d, min(n, d)) {
		return fitMCML(ctx, xd, y, p)
	}
	xd, y = mat.DenseCopyOf(xd), slices.Clone(y)
	return abandon.Run(ctx, "mcml", p.Progress, func(ctx context.Context, progress func(learners.Progress)) (MCML, error) {
		p.Progress = progress
		return fitMCML(ctx, xd, y, p)
	})
}

// fitMCML is FitMCML for resolved parameters and rows that have been checked.
func fitMCML(ctx context.Context, x *mat.Dense, y []int, p MCMLParams) (MCML, error) {
	c, err := whitened(x)
	if err != nil {
		return MCML{}, fmt.Errorf("mcml: %w", err)
	}
	var ridge *mat.SymDense // for each row
	if p.Ridge > 0 {
		if err := c.confine(x); err != nil {
			return MCML{}, fmt.Errorf("mcml: %w", err)
		}
		if _, ridge, err = c.penalty(x); err != nil {
			return MCML{}, fmt.Errorf("mcml: %w", err)
		}
		ridge.ScaleSym(p.Ridge, ridge)
	}
	f, err := newMCMLFit(ctx, c, y, ridge)
	if err != nil {
		return MCML{}, fmt.Errorf("mcml: %w", err)
	}
	if ridge != nil { // in the coordinates of the fit
		if _, f.ridge, err = c.penalty(x); err != nil {
			return MCML{}, fmt.Errorf("mcml: %w", err)
		}
		f.ridge.ScaleSym(p.Ridge*float64(f.rows), f.ridge)
	}
	end, err := f.run(p)
	if err != nil {
		return MCML{}, fmt.Errorf("mcml: %w", err)
	}
	m, in, err := c.metric(end.at)
	if err != nil {
		return MCML{}, fmt.Errorf("mcml: %w", err)
	}
	objective := max(f.objective(in, false), 0)
	if err := ctx.Err(); err != nil {
		return MCML{}, fmt.Errorf("mcml: %w", err)
	}
	return MCML{
		MetricResult: learners.MetricResult{Metric: m, Result: learners.Result{Status: end.status, Iterations: end.iterations, Residual: end.residual}},
		Objective:    objective, Rows: f.rows,
	}, nil
}

// mcmlFit is F as convex, in coordinates of its own.
type mcmlFit struct {
	ctx    context.Context // once it is done, all numbers are meaningless, and run returns its error
	z      *mat.Dense
	scales []float64 // the covariance of z is the diagonal matrix of their squares
	y      []int
	size   map[int]int // of each class
	rows   int         // that contribute
	moved  *mat.Dense  // zm
	sq     []float64   // z_iᵀmz_i
	block  []float64   // rows of p₀ − p, first the squared distances
	// The gradient at the last m of value, with W = p₀ − p.
	sum    *mat.Dense // Wz
	degree []float64  // the sums of the columns of W

	ridge *mat.SymDense // the gradient of the term of the ridge; nil if there is none
}

// newMCMLFit balances the coordinates by the scatter within classes, the mean of Σ p₀(j|i)(x_i−x_j)(x_i−x_j)ᵀ, and the ridge of a row, if it is not nil.
func newMCMLFit(ctx context.Context, c *coordinates, y []int, ridge *mat.SymDense) (*mcmlFit, error) {
	n, r := c.z.Dims()
	f := &mcmlFit{
		ctx: ctx, y: y, size: map[int]int{},
		moved: mat.NewDense(n, r, nil), sq: make([]float64, n), block: make([]float64, min(mostBlocks*blockRows, n)*n),
		sum: mat.NewDense(n, r, nil), degree: make([]float64, n),
	}
	for _, rows := range members(y) {
		f.size[y[rows[0]]] = len(rows)
	}
	scatter, rows, err := within(ctx, c.z, y)
	if err != nil {
		return nil, err
	}
	f.rows = rows
	if ridge != nil {
		scatter.AddSym(scatter, ridge)
	}
	if _, f.scales, err = c.balance(scatter, withinFloor); err != nil {
		return nil, err
	}
	f.z = c.z
	return f, nil
}

func (f *mcmlFit) value(m *mat.SymDense) float64 { return f.objective(m, true) }

// objective is F(m). With gradient it prepares that at m, too, as long as the probabilities are in memory: that
// costs a product, where to compute them again would cost another product and an exponential for each.
func (f *mcmlFit) objective(m *mat.SymDense, gradient bool) float64 {
	n, r := f.z.Dims()
	z, moved, sum := f.z.RawMatrix(), f.moved.RawMatrix(), f.sum.RawMatrix()
	product.Gemm(blas.NoTrans, blas.NoTrans, z, mat.DenseCopyOf(m).RawMatrix(), moved)
	for i := range f.sq {
		f.sq[i] = floats.Dot(f.z.RawRowView(i), f.moved.RawRowView(i))
	}
	if gradient {
		clear(f.degree)
	}
	var total float64
	if f.ridge != nil {
		total = inner(f.ridge, m)
	}
	terms := make([]float64, n)
	blocks := min(mostBlocks, 1+cores.Idle())
	for top := 0; top < n; top += blocks * blockRows {
		if f.ctx.Err() != nil {
			return math.Inf(-1) // which ends a line search
		}
		end := min(top+blocks*blockRows, n)
		all := f.block[:(end-top)*n]
		cores.Do((end-top+blockRows-1)/blockRows, func(b int) {
			lo := top + b*blockRows
			rows := min(blockRows, end-lo)
			w := blas64.General{Rows: rows, Cols: n, Stride: n, Data: all[(lo-top)*n:]}
			some := blas64.General{Rows: rows, Cols: r, Stride: moved.Stride, Data: moved.Data[lo*moved.Stride:]}
			product.Gemm(blas.NoTrans, blas.Trans, some, z, w)
			for k := range rows {
				terms[lo+k] = f.row(lo+k, w.Data[k*n:(k+1)*n])
			}
			if gradient {
				product.Gemm(blas.NoTrans, blas.NoTrans, w, z, blas64.General{Rows: rows, Cols: r, Stride: sum.Stride, Data: sum.Data[lo*sum.Stride:]})
			}
		})
		for _, t := range terms[top:end] {
			total += t
		}
		if !gradient {
			continue
		}
		cores.Do((n+blockColumns-1)/blockColumns, func(b int) { // each column in the order of the rows
			from, to := b*blockColumns, min((b+1)*blockColumns, n)
			for k := range end - top {
				floats.Add(f.degree[from:to], all[k*n+from:k*n+to])
			}
		})
	}
	return total
}

// row returns the term of row i, of which w holds the products z_iᵀmz_l, and sets w to p₀(·|i) − p(·|i).
func (f *mcmlFit) row(i int, w []float64) float64 {
	c := f.y[i]
	others := f.size[c] - 1
	if others == 0 {
		clear(w)
		return 0
	}
	nearest, within := math.Inf(1), 0.0
	for l, dot := range w {
		w[l] = f.sq[i] + f.sq[l] - 2*dot
		if l == i {
			continue
		}
		nearest = min(nearest, w[l])
		if f.y[l] == c {
			within += w[l]
		}
	}
	var sum float64
	for l, d := range w {
		w[l] = 0
		if l != i {
			w[l] = math.Exp(nearest - d)
			sum += w[l]
		}
	}
	for l, e := range w {
		w[l] = -e / sum
		if f.y[l] == c && l != i {
			w[l] += 1 / float64(others)
		}
	}
	return within/float64(others) - nearest + math.Log(sum) - math.Log(float64(others))
}

// gradient is zᵀ(D − W − Wᵀ)z, W = p₀ − p and D the sums of its columns: those of its rows are 0.
func (f *mcmlFit) gradient(g *mat.SymDense) {
	right := f.moved // which is not needed any more
	right.Scale(-2, f.sum)
	for i, s := range f.degree {
		floats.AddScaled(right.RawRowView(i), s, f.z.RawRowView(i))
	}
	_, r := f.z.Dims()
	full := mat.NewDense(r, r, nil)
	product.Gemm(blas.Trans, blas.NoTrans, f.z.RawMatrix(), right.RawMatrix(), full.RawMatrix())
	symmetric(g, full)
	if f.ridge != nil {
		g.AddSym(g, f.ridge)
	}
}

// mcmlEnd is where a descent ended.
type mcmlEnd struct {
	at         *mat.SymDense
	status     learners.Status
	iterations int
	residual   float64
}

// run descends until the residual is at most p.Tol.
func (f *mcmlFit) run(p MCMLParams) (mcmlEnd, error) {
	d := newDescent(f, f.start())
	var e mcmlEnd
	for {
		if err := f.ctx.Err(); err != nil {
			return mcmlEnd{}, err
		}
		residual, err := f.residual(d)
		if err != nil {
			return mcmlEnd{}, err
		}
		e.at, e.residual = d.m, residual
		switch {
		case residual <= p.Tol:
			e.status = learners.Converged
			return e, nil
		case e.iterations == p.MaxIterations:
			e.status = learners.IterationCap
			return e, nil
		}
		before := d.now
		moved, err := d.iterate()
		if stopped := f.ctx.Err(); stopped != nil {
			return mcmlEnd{}, stopped
		}
		if err != nil {
			return mcmlEnd{}, err
		}
		if !moved {
			e.status = learners.NoProgress
			return e, nil
		}
		e.iterations++
		if p.Progress != nil {
			p.Progress(learners.Progress{Iteration: e.iterations, Cap: p.MaxIterations, Objective: before, Residual: residual})
		}
	}
}

// residual is that of FitMCML.
func (f *mcmlFit) residual(d *descent) (float64, error) {
	r := len(f.scales)
	g := mat.NewSymDense(r, nil) // the gradient in coordinates in which the rows have covariance I
	var trace float64
	for i, s := range f.scales {
		trace += s * s * d.m.At(i, i)
		for j := i; j < r; j++ {
			g.SetSym(i, j, d.g.At(i, j)/(s*f.scales[j]))
		}
	}
	var eig spectral.EigenSym
	if !eig.Factorize(g, false) {
		return 0, errors.New("eigendecomposition did not converge")
	}
	radius := max(2*trace, float64(r))
	return max(inner(d.g, d.m)+radius*max(0, -eig.Values(nil)[0]), 0) / float64(f.rows), nil
}

// start returns the multiple of I, by a power of two, with the least F.
func (f *mcmlFit) start() *mat.SymDense {
	_, r := f.z.Dims()
	c := math.Exp2(-math.Round(math.Log2(float64(r))))
	best := f.objective(scaledIdentity(r, c), false)
	for _, factor := range []float64{2, 0.5} {
		for range 60 { // F is convex in c, so the first rise is past the minimum
			v := f.objective(scaledIdentity(r, factor*c), false)
			if !(v < best) {
				break
			}
			best, c = v, factor*c
		}
	}
	return scaledIdentity(r, c)
}
