package labels

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/internal/cores"
	"metriclab/internal/enum"
	"metriclab/internal/lbfgs"
	"metriclab/internal/matrix"
	"metriclab/internal/product"
	"metriclab/internal/ranges"
	"metriclab/pkg/learners"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
)

// NCAVersion changes whenever FitNCA gives other numbers for the same input.
const NCAVersion = 1

// NCAStart is where a fit of NCA begins, but for the scale.
type NCAStart int

const (
	// NCAStartFDA is L with variance 1 within classes in all directions: the Dim in which all rows vary most. These are the directions of FitFDA, and
	// where Dim is more, others that the classes do not differ in.
	NCAStartFDA NCAStart = iota
	// NCAStartPCA are the Dim principal components. All of them are the Euclidean distance.
	NCAStartPCA
)

var ncaStartNames = enum.Of[NCAStart]("unknown start %d", "fda", "pca")

// String returns the start in words: "fda" or "pca".
func (s NCAStart) String() string { return ncaStartNames.Text(s) }

// NCAParams are the parameters of FitNCA.
type NCAParams struct {
	// Dim is k, the number of rows of L, from 1 to min(n, d); 0 means min(n, d).
	Dim int `range:">= 0 and <= the smaller of the numbers of rows and columns" doc:"largest rank of the matrix; 0 means the number of features, or of rows if these are fewer"`
	// Start is where the fit begins; the zero value is NCAStartFDA.
	Start NCAStart `words:"fda|pca" doc:"where to begin: variance 1 within classes, in the directions in which rows then vary most, or the principal components, all of which are the Euclidean distance"`
	// Tol is the Residual at which to stop, > 0; 0 means 1e-4.
	Tol float64 `range:"> 0" doc:"length of the gradient at which to stop, times that of L, per row"`
	// MaxIterations is the cap on iterations of L-BFGS, at least 1; 0 means 500.
	MaxIterations int `range:">= 1" name:"iterations" doc:"cap on iterations, if batch=0"`
	// Batch is the number of rows of a stochastic step, at least 0; 0 means all rows, and L-BFGS.
	Batch int `range:">= 0" doc:"rows of a stochastic step; 0 means all rows, and steps of L-BFGS"`
	// Passes is how often stochastic steps pass over the rows, at least 1; 0 means 10.
	Passes int `range:">= 1" doc:"passes over the rows, if batch is not 0"`
	// Progress, if not nil, is told of each iteration, with the objective and Residual at L after it; of a pass, with the sum of p_i over the rows at
	// the L before each row's step, and NaN.
	Progress func(learners.Progress)
}

// Resolved returns p with its defaults filled in: Tol = 1e-4, MaxIterations = 500, Passes = 10.
func (p NCAParams) Resolved() NCAParams {
	p.Tol = cmp.Or(p.Tol, 1e-4)
	p.MaxIterations = cmp.Or(p.MaxIterations, 500)
	p.Passes = cmp.Or(p.Passes, 10)
	return p
}

func (p NCAParams) check() error {
	if p.Start < NCAStartFDA || p.Start > NCAStartPCA {
		return fmt.Errorf("nca: start: %d is not allowed, want NCAStartFDA or NCAStartPCA", int(p.Start))
	}
	return ranges.Check("nca", p)
}

// NCA is what FitNCA returns. Status is learners.Converged if Residual ≤ Tol, which says that L is stationary and not that it is the best; learners.NoProgress
// if round-off lets nothing improve, or if stochastic steps ended below their start, which is then the answer; else learners.IterationCap.
type NCA struct {
	learners.MetricResult
	// Objective is f(L): how many rows are expected to have the class of a stochastic neighbour.
	Objective float64
	// Rows is the number of rows that have another row in their class, a bound of Objective.
	Rows int
}

// FitNCA learns the metric of neighbourhood components analysis: it maximises
//
//	f(L) = Σᵢ pᵢ,  pᵢ = Σ_{j≠i: y_j = y_i} p_ij,  p_ij = exp(−d²(i, j)) / Σ_{l≠i} exp(−d²(i, l)),
//
// over the k×d matrices L, with d²(i, j) = ‖Lx_i − Lx_j‖²: the expected number of rows that get their own class from a neighbour drawn with
// the probabilities p_ij. Source: Goldberger, Roweis, Hinton, Salakhutdinov, Neighbourhood Components Analysis, NIPS 17, 2004, Eqs. 1 to 3.
// x is n×d, a row per object, y has a class per row, any integers. The metric is M = LᵀL, with k < d a projection.
// [metriclab/pkg/learners/plain.NCA] is the same on a page.
//
// The gradient (Eqs. 4 and 5) is, with W_ij = p_ij(p_i − [y_i = y_j]),
//
//	∇f = 2L Σ_ij W_ij (x_i−x_j)(x_i−x_j)ᵀ = 2(DXLᵀ − WᵀXLᵀ − WXLᵀ)ᵀX,  D_jj = Σ_i W_ij.
//
// Exponents are relative to the largest of their row. Those are left out that together would not change the last bit of the row's sum. A row that is alone in its class has
// p_i = 0, and draws others as a wrong neighbour. Duplicates are allowed.
//
// f is not convex. Nothing tells how far f is from its greatest value. The answer is a point near Start at which f is stationary, or nearly constant: where p_ij are
// nearly 0 and 1, as with an L of large entries, f is flat. So the scale of Start is the power of two with the greatest Σ log p_i (Eq. 6), over
// at most 256 rows at equal distances in the order of the classes: one row that is far from its class makes it small. Start is by default NCAStartFDA: it is the same in all units of features and mixtures of them, and with few dimensions it begins where classes
// differ. NCAStartPCA is for rows whose Euclidean distances are worth something. With about as many dimensions as rows, p_i can be 1 for all of them
// in many ways which tell nothing about other rows: take few dimensions.
//
// L-BFGS (10 pairs, Armijo's rule) climbs in coordinates in which the scatter within classes is I, but for directions in which that is less than .001 of the
// variance. Residual is ‖∇f‖·‖L‖/Rows there, by Frobenius' norm. With Batch = b, each step takes b rows at random without replacement, until all had their turn, and all rows as their neighbours.
// It is that of Adam (Kingma and Ba, ICLR 2015; means over 10 and 100 steps) whose length falls linearly to 0. This suits many rows: 10 passes cost about as
// much as 10 iterations. Nothing is drawn if Batch is 0.
//
// An iteration costs O(n²k + nkr), r the rank of the covariance, and memory is O(nd): distances and probabilities are those of 64 rows at a time.
// Directions in which no two rows differ, such as a constant feature, have weight 0. L has r rows at most.
//
// It returns an error if x and y differ in length, there are fewer than two classes, no class has two rows, all rows coincide, or an entry is NaN or
// infinite. It also does if the deviations from the mean or an entry of L overflow, 9 matrices of the size of x and one of 256×n do not fit
// limits.Memory, a parameter is out of range, or ctx is done. It panics if rng is nil or x is nil or empty.
func FitNCA(ctx context.Context, rng *rand.Rand, x mat.Matrix, y []int, p NCAParams) (NCA, error) {
	xd := matrix.Dense(x)
	if xd == nil || xd.IsEmpty() {
		panic("labels: FitNCA: x is nil or empty")
	}
	if rng == nil {
		panic("labels: FitNCA: rng is nil")
	}
	n, d := xd.Dims()
	p = p.Resolved()
	if err := p.check(); err != nil {
		return NCA{}, err
	}
	p.Batch = min(p.Batch, n)
	if p.Dim > min(n, d) {
		return NCA{}, fmt.Errorf("nca: dim: %d is not allowed, want at most min(n, d) = %d", p.Dim, min(n, d))
	}
	if err := checkLabelled(xd, y); err != nil {
		return NCA{}, fmt.Errorf("nca: %w", err)
	}
	if err := limits.Check(fmt.Sprintf("NCA on %d rows of %d features", n, d), limits.Floats(n, 9*d+mostBlocks*blockRows)); err != nil {
		return NCA{}, fmt.Errorf("nca: %w", err)
	}
	if p.Batch > 0 {
		rng = rand.New(rand.NewPCG(rng.Uint64(), rng.Uint64())) // a fit that is abandoned goes on drawing
	}
	if !abandon.Long(n, d, min(n, d)) {
		return fitNCA(ctx, rng, xd, y, p)
	}
	xd, y = mat.DenseCopyOf(xd), slices.Clone(y)
	return abandon.Run(ctx, "nca", p.Progress, func(ctx context.Context, progress func(learners.Progress)) (NCA, error) {
		p.Progress = progress
		return fitNCA(ctx, rng, xd, y, p)
	})
}

// fitNCA is FitNCA for resolved parameters and rows that have been checked.
func fitNCA(ctx context.Context, rng *rand.Rand, x *mat.Dense, y []int, p NCAParams) (NCA, error) {
	f, c, err := newNCAFit(ctx, x, y, p)
	if err != nil {
		return NCA{}, fmt.Errorf("nca: %w", err)
	}
	var r learners.Result
	if p.Batch > 0 {
		r, err = f.passes(rng, p)
	} else {
		r, err = f.climb(p)
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return NCA{}, fmt.Errorf("nca: %w", err)
	}
	l := matrix.Mul(mat.NewDense(f.k, f.r, f.X), c.b)
	if err := metric.CheckWeights(l); err != nil {
		return NCA{}, fmt.Errorf("nca: %w", err)
	}
	return NCA{MetricResult: learners.MetricResult{Metric: metric.FromFactor(l), Result: r}, Objective: -f.now, Rows: f.rows}, nil
}

const (
	// ncaMemory is the number of pairs that L-BFGS keeps, and ncaFirst the length of its first step, relative to L.
	ncaMemory, ncaFirst = 10, 0.1
	// ncaSample is of how many rows, at most, the scale of the start is chosen.
	ncaSample = 256
	// ncaIdle is how many steps in a row may change f by less than round-off.
	ncaIdle = 3
	// ncaEnough is by how much an exponent is to be less than the largest of its row, beside log n, to be left out: n such terms are together
	// less than 2⁻⁵⁴ of the sum.
	ncaEnough = 54 * math.Ln2
	// ncaRate is the length of the first steps of Adam, relative to L: by experiment, on 1797 rows in 64 dimensions and 569 in 30, to 2, 5 and all.
	ncaRate = 0.2
	// ncaMean and ncaSquare are the weights of a gradient in the means of Adam.
	ncaMean, ncaSquare = 0.1, 0.01
)

// ncaFit is −f as L-BFGS descends it, over L, k×r by rows, in coordinates of its own.
type ncaFit struct {
	lbfgs.State
	ctx      context.Context // once it is done, all numbers are meaningless
	k, r     int
	z        *mat.Dense // n×r, the rows of a class together
	from, to []int      // where the class of each row begins and ends
	rows     int        // that have another in their class
	now      float64    // −f at X

	left, right *mat.Dense // n×(k+1): (Lz_i, 1) and (2Lz_i, −‖Lz_i‖²)
	some        *mat.Dense // the rows of left that a stochastic step takes
	block       []float64  // rows of W
	sum         *mat.Dense // WLz, of the rows that are taken
	back        *mat.Dense // n×(k+1): Wᵀ(Lz, 1)
	terms       []float64  // p_i of the rows that are taken
	least       float64    // of exponents, relative to the largest of a row
}

// newNCAFit starts at p.Start, times the power of two of the greatest Σ log p_i.
func newNCAFit(ctx context.Context, x *mat.Dense, y []int, p NCAParams) (*ncaFit, *coordinates, error) {
	c, err := whitened(x)
	if err != nil {
		return nil, nil, err
	}
	scatter, rows, err := within(ctx, c.z, y)
	if err != nil {
		return nil, nil, err
	}
	_, scales, err := c.balance(scatter, withinFloor)
	if err != nil {
		return nil, nil, err
	}
	n, r := c.z.Dims()
	k := min(cmp.Or(p.Dim, r), r)
	f := &ncaFit{
		State: lbfgs.New(k*r, ncaMemory), ctx: ctx, k: k, r: r, z: mat.NewDense(n, r, nil), from: make([]int, n), to: make([]int, n), rows: rows,
		left: mat.NewDense(n, k+1, nil), right: mat.NewDense(n, k+1, nil), some: mat.NewDense(max(p.Batch, min(n, ncaSample)), k+1, nil),
		block: make([]float64, min(mostBlocks*blockRows, n)*n), sum: mat.NewDense(n, k, nil), back: mat.NewDense(n, k+1, nil), terms: make([]float64, n),
		least: -ncaEnough - math.Log(float64(n)),
	}
	start := mat.NewDense(k, r, nil)
	if p.Start == NCAStartPCA {
		dev := mat.DenseCopyOf(x)
		centre(dev)
		dev.Scale(1/floats.Norm(dev.RawMatrix().Data, math.Inf(1)), dev)
		total := mat.Norm(dev, 2)
		e, err := principal(dev, total*total, k)
		if err != nil {
			return nil, nil, err
		}
		start = matrix.Mul(matrix.Mul(dev, e.vectors.T()).T(), c.z) // the scores are zLᵀ, and zᵀz/n is diagonal
		for i := range k {
			for j, s := range scales {
				start.Set(i, j, start.At(i, j)/(s*s))
			}
		}
	} else {
		for i := range k { // of the coordinates the first vary most relative to their scatter within classes
			start.Set(i, i, 1)
		}
	}
	at := 0
	for _, rows := range members(y) {
		for a, i := range rows {
			f.z.SetRow(at+a, c.z.RawRowView(i))
			f.from[at+a], f.to[at+a] = at, at+len(rows)
		}
		at += len(rows)
	}
	var far float64
	moved := matrix.Mul(f.z, start.T())
	for i := range n {
		far = max(far, floats.Norm(moved.RawRowView(i), 2))
	}
	floats.ScaleTo(f.X, 1/far, start.RawMatrix().Data) // no d² is above 4, and no p_i vanishes
	var sample []int
	for i := 0; i < n; i += 1 + (n-1)/ncaSample {
		if f.to[i]-f.from[i] > 1 {
			sample = append(sample, i)
		}
	}
	for best := math.Inf(-1); ; floats.Scale(2, f.X) {
		f.evaluate(f.X, nil, sample)
		var sum float64
		for _, p := range f.terms[:len(sample)] {
			sum += math.Log(p)
		}
		if !(sum > best) {
			break
		}
		best = sum
	}
	floats.Scale(0.5, f.X)
	f.now = f.evaluate(f.X, f.G, nil)
	return f, c, nil
}

// evaluate returns −Σ p_i at l, over the rows taken, nil for all, and sets g, unless it is nil, to the gradient
//
//	−2 Σ W_ij (Lz_i − Lz_j)(z_i − z_j)ᵀ,  W_ij = p_ij(p_i − [y_i = y_j]),
//
// which is −2(DLz − WᵀLz − WLz)ᵀz with the sums D of the columns of W: those of its rows are 0.
func (f *ncaFit) evaluate(l, g []float64, taken []int) float64 {
	n, k := len(f.from), f.k
	z, left, right, sum, back := f.z.RawMatrix(), f.left.RawMatrix(), f.right.RawMatrix(), f.sum.RawMatrix(), f.back.RawMatrix()
	moved := blas64.General{Rows: n, Cols: k, Stride: k + 1, Data: left.Data}
	product.Gemm(blas.NoTrans, blas.Trans, z, blas64.General{Rows: k, Cols: f.r, Stride: f.r, Data: l}, moved)
	for i := range n {
		a, b := f.left.RawRowView(i), f.right.RawRowView(i)
		floats.ScaleTo(b[:k], 2, a[:k])
		a[k], b[k] = 1, -floats.Dot(a[:k], a[:k])
	}
	m, some := n, left
	if taken != nil {
		m, some = len(taken), f.some.RawMatrix()
		for a, i := range taken {
			f.some.SetRow(a, f.left.RawRowView(i))
		}
	}
	f.back.Zero()
	var total float64
	blocks := min(mostBlocks, 1+cores.Idle())
	for top := 0; top < m; top += blocks * blockRows {
		if f.ctx.Err() != nil {
			return math.Inf(-1) // which ends a line search
		}
		end := min(top+blocks*blockRows, m)
		cores.Do((end-top+blockRows-1)/blockRows, func(b int) {
			lo := top + b*blockRows
			hi := min(lo+blockRows, end)
			w := part(blas64.General{Cols: n, Stride: n, Data: f.block}, lo-top, hi-top)
			product.Gemm(blas.NoTrans, blas.Trans, part(some, lo, hi), right, w)
			for a := lo; a < hi; a++ {
				i := a
				if taken != nil {
					i = taken[a]
				}
				f.terms[a] = f.row(i, w.Data[(a-lo)*n:(a-lo+1)*n])
			}
			if g != nil {
				product.Gemm(blas.NoTrans, blas.NoTrans, w, moved, part(sum, lo, hi))
			}
		})
		for _, t := range f.terms[top:end] {
			total += t
		}
		if g != nil {
			cores.Do((n+blockColumns-1)/blockColumns, func(b int) { // each column in the order of the rows
				from, to := b*blockColumns, min((b+1)*blockColumns, n)
				w := blas64.General{Rows: end - top, Cols: to - from, Stride: n, Data: f.block[from:]}
				product.GemmAdd(blas.Trans, blas.NoTrans, w, part(some, top, end), part(back, from, to))
			})
		}
	}
	if g == nil {
		return -total
	}
	for i := range n {
		a, b := f.left.RawRowView(i), f.back.RawRowView(i)
		floats.AddScaled(b[:k], -b[k], a[:k])
	}
	for a := range m {
		i := a
		if taken != nil {
			i = taken[a]
		}
		floats.Add(f.back.RawRowView(i)[:k], f.sum.RawRowView(a))
	}
	product.Gemm(blas.Trans, blas.NoTrans, blas64.General{Rows: n, Cols: k, Stride: k + 1, Data: back.Data}, z, blas64.General{Rows: k, Cols: f.r, Stride: f.r, Data: g})
	floats.Scale(2, g)
	return -total
}

// part returns rows lo to hi of a.
func part(a blas64.General, lo, hi int) blas64.General {
	return blas64.General{Rows: hi - lo, Cols: a.Cols, Stride: a.Stride, Data: a.Data[lo*a.Stride:]}
}

// row makes of t_l = 2Lz_i·Lz_l − ‖Lz_l‖², which is −d²(i, l) but for a term of the row, the weights W of row i and returns p_i.
func (f *ncaFit) row(i int, t []float64) float64 {
	t[i] = math.Inf(-1)
	top := t[0]
	for _, v := range t {
		if v > top {
			top = v
		}
	}
	exp := func(t []float64) (sum float64) {
		for l, v := range t {
			t[l] = 0
			if v -= top; v >= f.least {
				t[l] = math.Exp(v)
				sum += t[l]
			}
		}
		return sum
	}
	before, own, after := t[:f.from[i]], t[f.from[i]:f.to[i]], t[f.to[i]:]
	others, same := exp(before)+exp(after), exp(own)
	sum := others + same
	p := same / sum
	floats.Scale(p/sum, before)
	floats.Scale(-others/sum/sum, own)
	floats.Scale(p/sum, after)
	return p
}

// passes makes stochastic steps.
func (f *ncaFit) passes(rng *rand.Rand, p NCAParams) (learners.Result, error) {
	n := len(f.from)
	order, first, before := upTo(n), slices.Clone(f.X), f.now
	mean, square := make([]float64, len(f.X)), make([]float64, len(f.X))
	rate := ncaRate * floats.Norm(f.X, 2) / math.Sqrt(float64(len(f.X)))
	unseen, unseenSquare := 1.0, 1.0 // the weights of the zeros at which the means begin
	step, steps := 0, p.Passes*((n+p.Batch-1)/p.Batch)
	for pass := range p.Passes {
		rng.Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
		var seen float64
		for taken := range slices.Chunk(order, p.Batch) {
			seen -= f.evaluate(f.X, f.G, taken)
			if err := f.ctx.Err(); err != nil {
				return learners.Result{}, err
			}
			length := rate * float64(steps-step) / float64(steps)
			step++
			unseen *= 1 - ncaMean
			unseenSquare *= 1 - ncaSquare
			for i, g := range f.G {
				mean[i] += ncaMean * (g - mean[i])
				square[i] += ncaSquare * (g*g - square[i])
				if square[i] > 0 {
					f.X[i] -= length * mean[i] / (1 - unseen) / math.Sqrt(square[i]/(1-unseenSquare))
				}
			}
		}
		if p.Progress != nil {
			p.Progress(learners.Progress{Iteration: pass + 1, Cap: p.Passes, Objective: seen, Residual: math.NaN()})
		}
	}
	r := learners.Result{Status: learners.IterationCap, Iterations: p.Passes}
	if f.now = f.evaluate(f.X, f.G, nil); !(f.now <= before) {
		r.Status = learners.NoProgress
		copy(f.X, first)
		f.now = f.evaluate(f.X, f.G, nil)
	}
	if r.Residual = f.residual(); r.Residual <= p.Tol {
		r.Status = learners.Converged
	}
	return r, nil
}

func (f *ncaFit) residual() float64 {
	return floats.Norm(f.G, 2) * floats.Norm(f.X, 2) / float64(f.rows)
}

// climb makes steps of L-BFGS until the residual is at most p.Tol.
func (f *ncaFit) climb(p NCAParams) (r learners.Result, err error) {
	f.forget()
	idle := 0
	for {
		if err := f.ctx.Err(); err != nil {
			return learners.Result{}, err
		}
		r.Residual = f.residual()
		if p.Progress != nil && r.Iterations > 0 {
			p.Progress(learners.Progress{Iteration: r.Iterations, Cap: p.MaxIterations, Objective: -f.now, Residual: r.Residual})
		}
		switch {
		case r.Residual <= p.Tol:
			r.Status = learners.Converged
			return r, nil
		case r.Iterations == p.MaxIterations:
			r.Status = learners.IterationCap
			return r, nil
		case idle == ncaIdle:
			r.Status = learners.NoProgress
			return r, nil
		}
		before := f.now
		for f.Aim(); !f.step(); f.Aim() {
			if err := f.ctx.Err(); err != nil {
				return learners.Result{}, err
			}
			if f.Pairs == 0 {
				r.Status = learners.NoProgress
				return r, nil
			}
			f.forget() // perhaps they mislead
		}
		r.Iterations++
		if idle++; before-f.now > roundOff*float64(f.rows) {
			idle = 0
		}
	}
}

// forget makes the next step one along the gradient.
func (f *ncaFit) forget() {
	f.Pairs = 0
	f.Scale = ncaFirst * floats.Norm(f.X, 2) / floats.Norm(f.G, 2)
}

// step moves along Direction, and reports whether f rose, up to round-off.
func (f *ncaFit) step() bool {
	var value float64
	if !f.Search(f.ctx, f.now, func() float64 {
		value = f.evaluate(f.Next, f.GNext, nil)
		return value
	}) {
		return false
	}
	f.Remember()
	f.now = value
	return true
}
