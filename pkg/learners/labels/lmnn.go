package labels

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/internal/cores"
	"metriclab/internal/matrix"
	"metriclab/internal/product"
	"metriclab/internal/ranges"
	"metriclab/pkg/learners"

	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
	"metriclab/pkg/spectral"
)

// LMNNVersion changes whenever FitLMNN gives other numbers for the same input, of a size that an experiment has.
const LMNNVersion = 1

// LMNNParams are the parameters of FitLMNN.
type LMNNParams struct {
	// K is the number of target neighbours of a row, at least 1; 0 means 3.
	K int `range:">= 1" doc:"target neighbours of a row, or all others of its class if these are fewer"`
	// Mu is the weight μ of impostors, greater than 0 and less than 1; 0 means 0.5.
	// Target neighbours have weight 1 − μ.
	Mu float64 `range:"> 0 and < 1" doc:"weight of rows of other classes; target neighbours have 1 - mu"`
	// Ridge is the weight ρ ≥ 0 of the trace of M, relative to the mean variance of a feature. The default is 0: no
	// regularisation unless it is asked for.
	Ridge float64 `range:">= 0" doc:"weight of the trace of the matrix, relative to the mean variance of a feature; of a kernel, of a dimension that the rows span"`
	// Tol is the Residual at which to stop, > 0; 0 means 0.001.
	Tol float64 `range:"> 0" doc:"duality gap at which to stop, relative to the objective"`
	// MaxIterations is the cap on iterations, at least 1; 0 means 2000.
	MaxIterations int `range:">= 1" name:"iterations" doc:"cap on iterations"`
	// Progress, if not nil, is told of each iteration, with Objective and Residual of the
	// best metric as of the last look at all impostors.
	Progress func(learners.Progress)
}

// Resolved returns p with its defaults filled in: K = 3, Mu = 0.5, Tol = 0.001,
// MaxIterations = 2000.
func (p LMNNParams) Resolved() LMNNParams {
	p.K = cmp.Or(p.K, 3)
	p.Mu = cmp.Or(p.Mu, 0.5)
	p.Tol = cmp.Or(p.Tol, 1e-3)
	p.MaxIterations = cmp.Or(p.MaxIterations, 2000)
	return p
}

func (p LMNNParams) check() error {
	return ranges.Check("lmnn", p)
}

// LMNN is what FitLMNN returns. Status is learners.Converged if Residual ≤ Tol,
// learners.NoProgress if round-off lets nothing improve, else learners.IterationCap.
type LMNN struct {
	learners.MetricResult
	// Targets holds the target neighbours of each row, nearest first.
	Targets [][]int
	// Pull is Σ d²(i, j) over rows i and targets j, and Push the sum of the hinges,
	// over all impostors. Penalty is Tρs·tr(M) of FitLMNN. Objective is (1−μ)(Pull + Penalty) + μ·Push.
	Pull, Push, Penalty, Objective float64
	// Lower is a lower bound on the objective of all metrics with tr(M'Σ) ≤ R (see FitLMNN).
	Lower float64
	// Violations is the number of hinges that are positive.
	Violations int
}

// FitLMNN learns the metric of large margin nearest neighbours: it minimises
//
//	F(M) = (1−μ) Σ_{i, j target of i} d²(i, j)
//	     + μ Σ_{i, j target of i, l: y_l ≠ y_i} [1 + d²(i, j) − d²(i, l)]₊
//
// over M ⪰ 0, with d²(i, j) = (x_i−x_j)ᵀM(x_i−x_j) and the margin of 1, which sets the
// scale of M. Source: Weinberger and Saul, Distance Metric Learning for Large Margin
// Nearest Neighbor Classification, JMLR 10, 2009. Divided by 1−μ it is the objective of Weinberger,
// Blitzer, Saul, NIPS 18, 2005, with c = μ/(1−μ): a rival in Jain, Kulis, Davis, Dhillon, JMLR 13,
// 2012, Section 6. The rows of x, n×d, are objects; y has a class per row, any integers.
//
// With a ridge ρ, each pair (i, j) is pulled in all directions a little:
//
//	F(M) + (1−μ)Tρs·tr(M),  s = tr(Σ)/d,
//
// with T the number of pairs (i, j) and Σ the covariance of x. All that follows holds with this F, whose C has the term (1−μ)Tρs·I, too. Where some metric
// collapses the classes, as with as many features as rows, F alone has many minima that tell nothing about other rows; with a ridge the rows' distances count.
//
// The targets of a row are the K nearest others of its class by Euclidean distance in
// x, in the order of nearest.KNN: equal distances by the lower index. A class of c < K+1
// rows gives each c − 1 targets; a single row has none, and is an impostor of others
// only. Duplicates are allowed: two of different classes cost 1 + d²(i, j) each,
// whatever M.
//
// F is convex in M, and not differentiable. The fit stays in M: in L, with M = LᵀL, the problem
// is not convex and nothing tells how far from its least value a descent has stopped, while in M
// a dual solution proves how good the fit is. With weights 0 ≤ α ≤ μ of the
// hinges, ρ ≥ 0, and Σ the covariance of x, all metrics have
//
//	F + ρ·tr(MΣ) ≥ Σ α  if  C + ρΣ + Σ α(v_ij v_ijᵀ − v_il v_ilᵀ) ⪰ 0,  C = (1−μ) Σ v_ij v_ijᵀ,
//
// and weights that miss the condition meet it when they are scaled down. So F is at least
// Lower = max over ρ of the scaled Σ α − ρR for all metrics with tr(M'Σ) ≤ R. For the M returned
// R = max(2·tr(MΣ), 1), with tr(MΣ) half the mean d² of two rows. The ρ are 10⁻⁹, 10⁻⁸, ..., 10⁻²
// times (1−μ)T, T the number of pairs (i, j). (A larger ρ helps where targets hardly differ but
// impostors do.) Residual is
//
//	(F − Lower) / max(F, μT),
//
// relative to F, or to one margin for each pair (i, j) if F is less.
//
// The hinges are replaced by their Moreau envelopes, at first of width 0.1, around multipliers,
// which are the last weights α: the method of multipliers, whose limit is the minimum of F itself.
// In between, the envelopes are minimised by spectral projected gradients, in coordinates
// that C whitens. Only impostors less than a margin beyond a target's are looked at; at
// intervals the set is made anew and Residual is computed, over all impostors. The metric
// of the least F at these points is returned. Nothing is drawn.
//
// An iteration costs O(nr² + r³ + r·impostors), r the rank of Σ, and a look at all
// impostors O(n²(r + K)); memory is O(nr + K·impostors), where an impostor
// whose multipliers are 0 takes four bytes. Directions in which no two rows
// differ, such as a constant feature, have weight 0.
//
// It returns an error if x and y differ in length, there are fewer than two classes, no class
// has two rows, all rows coincide, or an entry is NaN or infinite. It also does if a distance
// or an entry of M overflows, the impostors do not fit limits.Memory, a parameter is out of
// range, or ctx is done. It panics if x is nil or empty.
func FitLMNN(ctx context.Context, x mat.Matrix, y []int, p LMNNParams) (LMNN, error) {
	xd := matrix.Dense(x)
	if xd == nil || xd.IsEmpty() {
		panic("labels: FitLMNN: x is nil or empty")
	}
	n, d := xd.Dims()
	p = p.Resolved()
	if err := p.check(); err != nil {
		return LMNN{}, err
	}
	if err := checkLabelled(xd, y); err != nil {
		return LMNN{}, fmt.Errorf("lmnn: %w", err)
	}
	if !abandon.Long(n, d, min(n, d)) {
		return fitLMNN(ctx, xd, y, p)
	}
	xd, y = mat.DenseCopyOf(xd), slices.Clone(y)
	return abandon.Run(ctx, "lmnn", p.Progress, func(ctx context.Context, progress func(learners.Progress)) (LMNN, error) {
		p.Progress = progress
		return fitLMNN(ctx, xd, y, p)
	})
}

// fitLMNN is FitLMNN for resolved parameters and rows that have been checked.
func fitLMNN(ctx context.Context, x *mat.Dense, y []int, p LMNNParams) (LMNN, error) {
	targets, err := targetNeighbours(ctx, x, y, p.K)
	if err != nil {
		return LMNN{}, fmt.Errorf("lmnn: %w", err)
	}
	f, c, err := newLMNNFit(ctx, x, y, targets, p.Mu, p.Ridge)
	if err != nil {
		return LMNN{}, fmt.Errorf("lmnn: %w", err)
	}
	status, err := f.run(p)
	if err != nil {
		return LMNN{}, fmt.Errorf("lmnn: %w", err)
	}
	m, in, err := c.metric(f.best)
	if err != nil {
		return LMNN{}, fmt.Errorf("lmnn: %w", err)
	}
	end := f.survey(in)
	if err := ctx.Err(); err != nil {
		return LMNN{}, fmt.Errorf("lmnn: %w", err)
	}
	penalty := 0.0
	if p.Ridge > 0 && m.Rows() > 0 {
		norm := mat.Norm(m.Factor(), 2)
		penalty = f.trace * norm * norm
	}
	return LMNN{
		MetricResult: learners.MetricResult{Metric: m, Result: learners.Result{Status: status, Iterations: f.iterations, Residual: f.residual}},
		Targets:      targets,
		Pull:         end.pull, Push: end.push, Penalty: penalty, Objective: (1-p.Mu)*(end.pull+penalty) + p.Mu*end.push,
		Lower: f.bounded(f.best), Violations: end.violations,
	}, nil
}

// checkLabelled returns an error unless x is finite and y has a class per row, at least
// two of them.
func checkLabelled(x *mat.Dense, y []int) error {
	if err := checkLabels(x, y); err != nil {
		return err
	}
	return metric.CheckFinite(x)
}

// checkLabels is checkLabelled but for the numbers of x.
func checkLabels(x *mat.Dense, y []int) error {
	if n, _ := x.Dims(); len(y) != n {
		return fmt.Errorf("%d labels for %d rows", len(y), n)
	}
	if c := len(members(y)); c < 2 {
		return fmt.Errorf("labels: %d class, want at least 2", c)
	}
	return nil
}

// targetNeighbours returns the k nearest others of the class of each row, or all of them.
func targetNeighbours(ctx context.Context, x *mat.Dense, y []int, k int) ([][]int, error) {
	n, d := x.Dims()
	largest := 0
	for _, rows := range members(y) {
		largest = max(largest, len(rows))
	}
	most := min(k, max(largest-1, 0))
	if err := limits.Check(fmt.Sprintf("%d target neighbours for each of %d rows", most, n), limits.Product(24, n, most)); err != nil {
		return nil, err
	}
	targets := make([][]int, n)
	any := false
	for _, rows := range members(y) {
		if len(rows) < 2 {
			continue
		}
		any = true
		part := mat.NewDense(len(rows), d, nil)
		for a, i := range rows {
			part.SetRow(a, x.RawRowView(i))
		}
		knn, err := nearest.NewKNN(metric.Euclidean{}, part, make([]int, len(rows)), nearest.KNNOptions{})
		if err != nil {
			return nil, err
		}
		most := min(k, len(rows)-1)
		for lo := 0; lo < len(rows); lo += productRows {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			hi := min(lo+productRows, len(rows))
			found, err := knn.Neighbours(ctx, part.Slice(lo, hi, 0, d).(*mat.Dense), most+1) // the row itself is among them, or as many duplicates
			if err != nil {
				return nil, err
			}
			for a := lo; a < hi; a++ {
				i := rows[a]
				for _, f := range found[a-lo] {
					if f.Index != a && len(targets[i]) < most {
						targets[i] = append(targets[i], rows[f.Index])
					}
				}
			}
		}
	}
	if !any {
		return nil, errors.New("labels: each class has one row, want a class with at least 2")
	}
	return targets, nil
}

const (
	// The ridges ρ of FitLMNN, in units of (1−μ)·T, are lmnnRidge·10^k for k < lmnnRidges.
	lmnnRidge, lmnnRidges = 1e-9, 8
	// lmnnFloor is the share of that covariance below which C is not whitened, so that a
	// direction in which targets hardly differ does not outgrow the others.
	lmnnFloor = 1e-3
	// lmnnWidth is the first width of the envelope of a hinge, in margins. By lmnnLoose times the
	// error of the descent may exceed that of the envelopes when the multipliers move. Both are by
	// experiment, on 900 rows in 64 dimensions. At lmnnSharp times it, or less, the multipliers move
	// too slowly, and the width is halved; after lmnnWaits looks at which they did not move, the
	// descent is too slow, and it is doubled, up to lmnnWidest.
	lmnnWidth, lmnnLoose, lmnnSharp = 0.1, 2, 0.05
	lmnnWaits, lmnnWidest           = 3, 5
	// lmnnNear is how far beyond the margin an impostor is looked at.
	lmnnNear = 1
	// lmnnEvery is the number of iterations between two looks at all impostors.
	lmnnEvery = 10
	// lmnnStuck is how often in a row a move of the multipliers may leave nothing to descend.
	lmnnStuck = 5
	// lmnnShare is how many rows a core takes at a time.
	lmnnShare = 16
	// lmnnMoves is how many rows it multiplies by the metric together.
	lmnnMoves = 144
)

// lmnnFit is the objective in coordinates of its own, as convex: with envelopes, and over the
// impostors that are near.
type lmnnFit struct {
	ctx     context.Context // once it is done, all numbers are meaningless, and run returns its error
	x       *mat.Dense      // n×r
	y       []int
	targets [][]int
	pairs   int       // T
	pull    []float64 // the diagonal of C, which is all of it
	trace   float64   // Tρs, the weight of tr(M)
	spread  []float64 // and that of the covariance of x
	mu      float64
	width   float64 // of the envelopes, in margins

	near  [][]int32     // impostors looked at, of each row, ascending
	shift []multipliers // of each row
	alpha []multipliers // the same at the last point of value

	product   *mat.Dense // xm for the last m
	sq        []float64  // x_iᵀmx_i
	block     *mat.Dense
	laplacian *mat.Dense
	degree    []float64 // the diagonal of Λ, for scatter
	edges     lmnnEdges
	wide      *mat.Dense // x with columns of zeros up to a multiple of 4, which is what the assembly takes
	sums      *mat.Dense // and the Laplacian
	shares    []lmnnRows // as many as there are shares of lmnnShare rows
	whole     bool       // value keeps the multipliers of each target, which bound and adapt need

	best       *mat.SymDense
	least      float64
	lower      [lmnnRidges]float64 // bounds on F(M) + ρ·tr(MΣ) for each ρ
	residual   float64
	iterations int
}

// multipliers are the α/μ of a row, most of which are 0.
type multipliers struct {
	at        []int32   // the impostors with a positive one, ascending
	a         []float64 // theirs, a plane of them for each target
	impostors []float64 // sums of a over the targets
	targets   []float64 // and over the impostors
}

// lmnnRows is what a core needs for lmnnShare rows.
type lmnnRows struct {
	product.Hinges // of one of them
	terms          [lmnnShare]lmnnTerms
}

// lmnnTerms are the terms of the objective that a row adds: the first count of each of some planes.
type lmnnTerms struct {
	all    []float64
	planes int
	count  int
}

// all sets dst to the multipliers of the impostors in near, among which are those of m, k each.
func (m multipliers) all(dst []float64, near []int32, k int) {
	clear(dst)
	q := 0
	for p, l := range m.at {
		for near[q] != l {
			q++
		}
		for j := range k {
			dst[q*k+j] = m.a[j*len(m.at)+p]
		}
	}
}

func newLMNNFit(ctx context.Context, x *mat.Dense, y []int, targets [][]int, mu, ridge float64) (*lmnnFit, *coordinates, error) {
	c, err := whitened(x)
	if err != nil {
		return nil, nil, err
	}
	n, r := c.z.Dims()
	f := &lmnnFit{ctx: ctx, y: y, targets: targets, mu: mu, width: lmnnWidth}
	scatter := mat.NewSymDense(r, nil)
	var weights []float64
	differences := mat.NewDense(productRows, r, nil)
	add := func() {
		if len(weights) > 0 {
			matrix.AddOuter(scatter, weights, differences.Slice(0, len(weights), 0, r).(*mat.Dense))
		}
		weights = weights[:0]
	}
	for i, ts := range targets {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		for _, j := range ts {
			metric.Sub(differences.RawRowView(len(weights)), c.z.RawRowView(i), c.z.RawRowView(j))
			f.pairs++
			if weights = append(weights, 1-mu); len(weights) == productRows {
				add()
			}
		}
	}
	add()
	unit := (1 - mu) * float64(f.pairs)
	if ridge > 0 {
		if err := c.confine(x); err != nil {
			return nil, nil, err
		}
		s, r, err := c.penalty(x)
		if err != nil {
			return nil, nil, err
		}
		addScaled(scatter, scatter, ridge*unit, r)
		f.trace = ridge * float64(f.pairs) * s
	}
	values, scales, err := c.balance(scatter, lmnnFloor*unit)
	if err != nil {
		return nil, nil, err
	}
	for k, v := range values {
		sq := scales[k] * scales[k]
		f.pull = append(f.pull, v*sq)
		f.spread = append(f.spread, sq)
	}
	blocks := min(n, mostBlocks*blockRows)
	if err := limits.Check(fmt.Sprintf("distances of %d rows to %d", blocks, n), limits.Floats(blocks, n)); err != nil {
		return nil, nil, err
	}
	f.x, f.wide = padded(n, r)
	f.x.Copy(c.z)
	f.laplacian, f.sums = padded(n, r)
	f.near, f.shift, f.alpha = make([][]int32, n), make([]multipliers, n), make([]multipliers, n)
	f.product, f.sq = mat.NewDense(n, r, nil), make([]float64, n)
	f.block = mat.NewDense(blocks, n, nil)
	f.degree = make([]float64, n)
	f.shares = make([]lmnnRows, (n+lmnnShare-1)/lmnnShare)
	return f, c, nil
}

// run descends until the residual is at most p.Tol.
func (f *lmnnFit) run(p LMNNParams) (learners.Status, error) {
	_, r := f.x.Dims()
	start := scaledIdentity(r, f.startScale())
	if err := f.survey(start).room(); err != nil {
		return learners.NotRun, err
	}
	d := newDescent(f, start)
	if err := f.ctx.Err(); err != nil {
		return learners.NotRun, err
	}
	f.least = math.Inf(1)
	stuck, waits := 0, 0
	for {
		inside, outside, err := f.look(d)
		switch {
		case err != nil:
			return learners.NotRun, err
		case f.residual <= p.Tol:
			return learners.Converged, nil
		case f.iterations >= p.MaxIterations:
			return learners.IterationCap, nil
		case stuck > lmnnStuck:
			return learners.NoProgress, nil
		}
		waits = f.adapt(d, inside, outside, stuck > 0, waits)
		if err := f.ctx.Err(); err != nil {
			return learners.NotRun, err
		}
		moved, err := f.descend(d, p)
		if err != nil {
			return learners.NotRun, err
		}
		if stuck++; moved {
			stuck = 0
		}
	}
}

// look makes the set of impostors anew, keeps the metric if it is the best so far, and computes the residual. It
// returns the errors of the descent and of the envelopes.
func (f *lmnnFit) look(d *descent) (inside, outside float64, err error) {
	end := f.survey(d.m)
	if err := end.room(); err != nil {
		return 0, 0, err
	}
	f.renew(d)
	if err := f.ctx.Err(); err != nil {
		return 0, 0, err
	}
	if end.total < f.least {
		f.least = end.total
		f.best = d.m
	}
	smooth, err := f.bound(d)
	if err != nil {
		return 0, 0, err
	}
	f.residual = max(f.least-f.bounded(f.best), 0) / max(f.least, f.mu*float64(f.pairs))
	return d.now - smooth, end.total - d.now, nil
}

// renew is that of d, and keeps all multipliers.
func (f *lmnnFit) renew(d *descent) {
	f.whole = true
	d.renew()
	f.whole = false
}

// adapt sets width and place of the envelopes by the errors that look returned. They move to the multipliers where the
// descent is stuck or its error small; waits counts the looks since they did, and its new value is returned.
func (f *lmnnFit) adapt(d *descent, inside, outside float64, stuck bool, waits int) int {
	move := stuck || inside <= lmnnLoose*outside
	switch {
	case inside <= lmnnSharp*outside:
		f.width /= 2
	case move:
		waits = 0
	default:
		waits++
	}
	if waits == lmnnWaits {
		f.width = min(2*f.width, lmnnWidest)
		waits = 0
		f.renew(d)
	}
	if move {
		f.shift, f.alpha = f.alpha, f.shift
		d.renew()
	}
	return waits
}

// descend makes at most lmnnEvery iterations and reports whether there was one that moved.
func (f *lmnnFit) descend(d *descent, p LMNNParams) (some bool, err error) {
	for k := 0; k < lmnnEvery && f.iterations < p.MaxIterations; k++ {
		moved, err := d.iterate()
		if stopped := f.ctx.Err(); stopped != nil {
			return some, stopped
		}
		if err != nil || !moved {
			return some, err
		}
		some = true
		f.iterations++
		if p.Progress != nil {
			p.Progress(learners.Progress{Iteration: f.iterations, Cap: p.MaxIterations, Objective: f.least, Residual: f.residual})
		}
	}
	return some, nil
}

// move makes product and sq those of m.
func (f *lmnnFit) move(m *mat.SymDense) {
	n, r := f.x.Dims()
	var whole mat.Dense // one for all blocks of rows
	whole.SetRawMatrix(complete(m))
	cores.Do((n+lmnnMoves-1)/lmnnMoves, func(b int) {
		lo, hi := b*lmnnMoves, min((b+1)*lmnnMoves, n)
		if f.ctx.Err() != nil {
			return
		}
		matrix.MulTo(f.product.Slice(lo, hi, 0, r).(*mat.Dense), f.x.Slice(lo, hi, 0, r), &whole)
		for i := lo; i < hi; i++ {
			f.sq[i] = floats.Dot(f.x.RawRowView(i), f.product.RawRowView(i))
		}
	})
}

// value is the objective with the envelope
//
//	max over 0 ≤ a ≤ 1 of az − ½w(a − s)²
//
// of a hinge [z]₊, w its width and s the multiplier.
func (f *lmnnFit) value(m *mat.SymDense) float64 {
	f.move(m)
	// Few shares at a time, so that their terms stay in the caches: while they are made, those of the shares before are summed, in
	// the order of the rows, impostors and targets.
	var push float64
	var before []lmnnRows
	group := 1 + 7*cores.Idle()
	for top := 0; top < len(f.shares)+group; top += group {
		some := f.shares[min(top, len(f.shares)):min(top+group, len(f.shares))]
		cores.Do(1+len(some), func(k int) {
			if k > 0 {
				f.hinges(top+k-1, &some[k-1])
				return
			}
			push = sumTerms(push, before)
		})
		before = some
	}
	if f.ctx.Err() != nil {
		return math.Inf(-1) // which ends a line search
	}
	return f.pullOf(m) + f.mu*push
}

// sumTerms returns sum and the terms of some shares.
func sumTerms(sum float64, shares []lmnnRows) float64 {
	for i := range shares {
		for _, t := range shares[i].terms {
			for q := range t.count {
				for n := len(t.all) / t.planes; q < len(t.all); q += n {
					sum += t.all[q]
				}
			}
		}
	}
	return sum
}

// hinges sets the multipliers of a share of the rows, and the terms of x to theirs.
func (f *lmnnFit) hinges(share int, x *lmnnRows) {
	for s := range x.terms {
		x.terms[s].count = 0
	}
	first := share * lmnnShare
	for i := first; i < min(first+lmnnShare, len(f.near)); i++ {
		near, shift, alpha := f.near[i], f.shift[i], &f.alpha[i]
		alpha.at, alpha.a, alpha.impostors, alpha.targets = alpha.at[:0], alpha.a[:0], alpha.impostors[:0], alpha.targets[:0]
		if len(near) == 0 {
			continue
		}
		if f.ctx.Err() != nil {
			return
		}
		row := f.product.RawRowView(i)
		x.Near, x.Sq, x.Own, x.Width, x.Held, x.Shift = near, f.sq, f.sq[i], f.width, shift.at, shift.a
		x.Targets, x.Dots = x.Targets[:0], slices.Grow(x.Dots[:0], len(near))[:len(near)]
		for _, j := range f.targets[i] {
			x.Targets = append(x.Targets, x.Own+f.sq[j]-2*floats.Dot(row, f.x.RawRowView(j)))
		}
		product.DotsAt(x.Dots, f.x.RawMatrix(), near, row)
		t := &x.terms[i-first]
		x.Terms = t.all
		x.Envelopes()
		t.all, t.planes, t.count = x.Terms, len(x.Targets), x.Count
		alpha.at, alpha.impostors, alpha.targets = append(alpha.at, x.At...), append(alpha.impostors, x.Impostors...), append(alpha.targets, x.Sums...)
		for j := 0; f.whole && j < t.planes; j++ {
			alpha.a = append(alpha.a, x.A[j*len(near):][:len(x.At)]...)
		}
	}
}

// pullOf returns tr(CM).
func (f *lmnnFit) pullOf(m *mat.SymDense) float64 {
	var s float64
	for k, c := range f.pull {
		s += c * m.At(k, k)
	}
	return s
}

// gradient is C + μ Σ α(v_ij v_ijᵀ − v_il v_ilᵀ) = C + xᵀΛx, Λ the Laplacian of a graph with
// weights of both signs.
func (f *lmnnFit) gradient(g *mat.SymDense) {
	if cores.Idle() == 0 {
		f.scatter()
	} else if f.edges.sort(f); f.ctx.Err() == nil {
		f.gather()
	}
	if f.ctx.Err() != nil {
		return
	}
	symmetric(g, mulTrans(f.ctx, f.x, f.laplacian))
	for k, c := range f.pull {
		g.SetSym(k, k, g.At(k, k)+c)
	}
}

// scatter sets the Laplacian to Λx: each row in turn adds what its edges add to both ends.
func (f *lmnnFit) scatter() {
	clear(f.degree)
	f.sums.Zero()
	var at []int32
	var w []float64
	for i := range f.alpha {
		if f.ctx.Err() != nil {
			return
		}
		at, w = f.edgesFrom(i, at[:0], w[:0])
		f.degree[i] = less(f.degree[i], w)
		product.AddRows(f.sums.RawRowView(i), w, f.wide.RawMatrix(), at)
		for q, l := range at {
			f.degree[l] -= w[q]
		}
		product.AddToRows(f.sums.RawMatrix(), at, w, f.wide.RawRowView(i))
	}
	for i, d := range f.degree {
		floats.AddScaled(f.laplacian.RawRowView(i), d, f.x.RawRowView(i))
	}
}

// edgesFrom appends the edges that row i has by its multipliers to at and w, their weights in Λ.
func (f *lmnnFit) edgesFrom(i int, at []int32, w []float64) ([]int32, []float64) {
	at = append(at, f.alpha[i].at...)
	for _, a := range f.alpha[i].impostors {
		w = append(w, f.mu*a)
	}
	for j, a := range f.alpha[i].targets {
		at, w = append(at, int32(f.targets[i][j])), append(w, -f.mu*a)
	}
	return at, w
}

// less returns d less the numbers of w, one after the other.
func less(d float64, w []float64) float64 {
	for _, w := range w {
		d -= w
	}
	return d
}

// gather is scatter on several cores, with the edges sorted by their other ends: a row sums its terms in the order in which scatter adds them.
func (f *lmnnFit) gather() {
	n, e := len(f.alpha), &f.edges
	cores.With((n+lmnnShare-1)/lmnnShare, func() func(int) {
		var at []int32
		var w []float64
		return func(share int) {
			if f.ctx.Err() != nil {
				return
			}
			for i := share * lmnnShare; i < min((share+1)*lmnnShare, n); i++ {
				first, own, end := e.first[i], e.own[i], e.first[i+1]
				at, w = f.edgesFrom(i, append(at[:0], e.at[first:own]...), append(w[:0], e.w[first:own]...))
				at, w = append(at, e.at[own:end]...), append(w, e.w[own:end]...)
				sum := f.sums.RawRowView(i)
				clear(sum)
				product.AddRows(sum, w, f.wide.RawMatrix(), at)
				floats.AddScaled(f.laplacian.RawRowView(i), less(0, w), f.x.RawRowView(i))
			}
		}
	})
}

// lmnnEdges are those of all rows by their multipliers, sorted by the other end, and then by the row that they come from.
type lmnnEdges struct {
	first []int     // those to row i are numbers first[i] to first[i+1],
	own   []int     // and from own[i] on from rows after i
	at    []int32   // the rows
	w     []float64 // weights in Λ
	next  [][]int   // of each part of the rows, and each row: where the next edge to it goes
}

// sort finds the edges. Parts of the rows count theirs to each row, and then fill the places that are left to them.
func (e *lmnnEdges) sort(f *lmnnFit) {
	n, parts := len(f.alpha), 1+cores.Idle()
	for len(e.next) < parts {
		e.next = append(e.next, make([]int, n))
	}
	each := func(do func(next []int, i int)) {
		cores.Do(parts, func(part int) {
			for i := part * n / parts; i < (part+1)*n/parts && f.ctx.Err() == nil; i++ {
				do(e.next[part], i)
			}
		})
	}
	for _, next := range e.next {
		clear(next)
	}
	each(func(next []int, i int) {
		for _, l := range f.alpha[i].at {
			next[l]++
		}
		for j := range f.alpha[i].targets {
			next[f.targets[i][j]]++
		}
	})
	e.first = append(e.first[:0], 0)
	all := 0
	for i := range n {
		for _, next := range e.next[:parts] {
			next[i], all = all, all+next[i]
		}
		e.first = append(e.first, all)
	}
	e.own = append(e.own[:0], e.first[:n]...)
	e.at, e.w = slices.Grow(e.at[:0], all)[:all], slices.Grow(e.w[:0], all)[:all]
	each(func(next []int, i int) {
		e.own[i] = next[i]
		add := func(l int, w float64) {
			k := next[l]
			next[l] = k + 1
			e.at[k], e.w[k] = int32(i), w
		}
		for q, l := range f.alpha[i].at {
			add(int(l), f.mu*f.alpha[i].impostors[q])
		}
		for j, a := range f.alpha[i].targets {
			add(f.targets[i][j], -f.mu*a)
		}
	})
}

// padded returns a matrix n×r, and the same with columns of zeros up to a multiple of 4.
func padded(n, r int) (m, all *mat.Dense) {
	all = mat.NewDense(n, (r+3)&^3, nil)
	return all.Slice(0, n, 0, r).(*mat.Dense), all
}

// bound takes the weights α at the point of d for bounds on F(M) + ρ·tr(MΣ). It returns a lower bound
// on the objective with envelopes, over the metrics within the radius of d.m.
func (f *lmnnFit) bound(d *descent) (float64, error) {
	longest := 0
	for i, near := range f.near {
		longest = max(longest, len(near)*len(f.targets[i]))
	}
	type rowSums struct{ alpha, squares, mixed, shifts float64 }
	rows := make([]rowSums, len(f.near))
	cores.With((len(rows)+lmnnShare-1)/lmnnShare, func() func(int) {
		alphas, shifts := make([]float64, longest), make([]float64, longest)
		return func(share int) {
			for i := share * lmnnShare; i < min((share+1)*lmnnShare, len(rows)); i++ {
				k := len(f.targets[i])
				alpha, shift := alphas[:len(f.near[i])*k], shifts[:len(f.near[i])*k]
				f.alpha[i].all(alpha, f.near[i], k)
				f.shift[i].all(shift, f.near[i], k)
				rows[i] = rowSums{floats.Sum(alpha), floats.Dot(alpha, alpha), floats.Dot(alpha, shift), floats.Dot(shift, shift)}
			}
		}
	})
	var sums rowSums
	for _, r := range rows {
		sums.alpha += r.alpha
		sums.squares += r.squares
		sums.mixed += r.mixed
		sums.shifts += r.shifts
	}
	radius := f.radius(d.m)
	r := len(f.pull)
	var smooth [lmnnRidges]float64
	cores.Do(lmnnRidges, func(k int) {
		if f.ctx.Err() != nil {
			return
		}
		rho := f.ridge(k)
		root := make([]float64, r)
		for i, c := range f.pull {
			root[i] = math.Sqrt(c + rho*f.spread[i])
		}
		s := mat.NewSymDense(r, nil) // the gradient without C, in coordinates in which C + ρΣ is I
		for i := range r {
			s.SetSym(i, i, (d.g.At(i, i)-f.pull[i])/(root[i]*root[i]))
			for j := i + 1; j < r; j++ {
				s.SetSym(i, j, d.g.At(i, j)/(root[i]*root[j]))
			}
		}
		var eig spectral.EigenSym
		if !eig.Factorize(s, false) {
			smooth[k] = math.NaN()
			return
		}
		theta := 1 / max(1, -eig.Values(nil)[0])
		f.lower[k] = max(f.lower[k], theta*f.mu*sums.alpha)
		apart := theta*theta*sums.squares - 2*theta*sums.mixed + sums.shifts // Σ (θα − s)²
		smooth[k] = f.mu*(theta*sums.alpha-f.width/2*apart) - rho*radius
	})
	if err := f.ctx.Err(); err != nil {
		return 0, err
	}
	best := slices.Max(smooth[:]) // NaN if one is
	if math.IsNaN(best) {
		return 0, errors.New("eigendecomposition did not converge")
	}
	return best, nil
}

// ridge returns the k-th ρ.
func (f *lmnnFit) ridge(k int) float64 {
	return lmnnRidge * math.Pow10(k) * (1 - f.mu) * float64(f.pairs)
}

// radius returns R of m.
func (f *lmnnFit) radius(m *mat.SymDense) float64 {
	var trace float64
	for k, c := range f.spread {
		trace += c * m.At(k, k)
	}
	return max(2*trace, 1)
}

// bounded returns the lower bound on F over the metrics within the radius of m.
func (f *lmnnFit) bounded(m *mat.SymDense) float64 {
	lower := 0.0
	for k, v := range f.lower {
		lower = max(lower, v-f.ridge(k)*f.radius(m))
	}
	return lower
}

// lmnnSums are those of the objective over all impostors.
type lmnnSums struct {
	pull, push float64
	violations int
	total      float64 // the objective
	// impostors counts those that are near, and bytes is what they take if half of them have
	// multipliers: past limits.Memory the survey ends early.
	impostors int
	bytes     int64
}

// room returns an error if the impostors do not fit limits.Memory.
func (s lmnnSums) room() error {
	return limits.Check(fmt.Sprintf("%d impostors, with a multiplier for each target neighbour,", s.impostors), s.bytes)
}

// survey returns the sums at m and looks for the impostors that are near.
func (f *lmnnFit) survey(m *mat.SymDense) lmnnSums {
	var s lmnnSums
	var found [2 * mostBlocks]lmnnFound // in the blocks that are visited, and in those before
	at := func(lo int) *lmnnFound { return &found[lo/blockRows%len(found)] }
	f.each(m, func(lo int, d *mat.Dense) {
		x := at(lo)
		*x = lmnnFound{pull: x.pull[:0], push: x.push[:0]}
		rows, _ := d.Dims()
		for i := 0; i < rows && s.bytes+x.bytes <= limits.Memory(); i++ {
			f.visit(x, lo+i, d.RawRowView(i))
		}
	}, func(top, blocks int) (later func()) {
		for b := range blocks {
			x := at(top + b*blockRows)
			s.violations += len(x.push)
			s.impostors += x.impostors
			s.bytes += x.bytes
		}
		return func() {
			for b := range blocks {
				x := at(top + b*blockRows)
				for _, t := range x.pull {
					s.pull += t
				}
				for _, z := range x.push {
					s.push += z
				}
			}
		}
	})
	s.total = f.pullOf(m) + f.mu*s.push
	return s
}

// lmnnFound is what a block of rows adds to lmnnSums; pull and push are terms of the sums.
type lmnnFound struct {
	pull, push []float64
	impostors  int
	bytes      int64
}

// visit looks for the impostors of row i, which has squared distances d to all rows.
func (f *lmnnFit) visit(x *lmnnFound, i int, d []float64) {
	targets := f.targets[i]
	k := len(targets)
	if k == 0 {
		return
	}
	first := len(x.pull)
	for _, j := range targets {
		x.pull = append(x.pull, d[j])
	}
	td := x.pull[first:]
	limit := 1 + slices.Max(td)
	held, near := f.shift[i].at, f.near[i][:0]
	for l, dl := range d {
		if len(held) > 0 && int(held[0]) == l {
			held = held[1:]
		} else if dl >= limit+lmnnNear || f.y[l] == f.y[i] {
			continue
		}
		near = append(near, int32(l))
		for _, t := range td {
			if z := 1 + t - dl; z > 0 {
				x.push = append(x.push, z)
			}
		}
	}
	f.near[i] = near
	x.impostors += len(near)
	x.bytes += limits.Product(len(near), 22+16*k)
}

// each calls visit with the squared distances of blockRows rows from lo on to all rows under m, a row of the matrix each. It
// calls it for up to mostBlocks blocks of rows from top on, on the cores that are idle, and then done. What that returns is
// called while the next blocks are visited, or after the last.
func (f *lmnnFit) each(m *mat.SymDense, visit func(lo int, d *mat.Dense), done func(top, blocks int) (later func())) {
	f.move(m)
	n, r := f.x.Dims()
	later := func() {}
	for top := 0; top < n; top += mostBlocks * blockRows {
		blocks := min(mostBlocks, (n-top+blockRows-1)/blockRows)
		cores.Do(1+blocks, func(k int) {
			if k == 0 {
				later()
				return
			}
			if f.ctx.Err() != nil {
				return
			}
			lo := top + (k-1)*blockRows
			hi := min(lo+blockRows, n)
			block := f.block.Slice(lo-top, hi-top, 0, n).(*mat.Dense)
			matrix.MulTo(block, f.x.Slice(lo, hi, 0, r), f.product.T())
			for i := lo; i < hi; i++ {
				d := block.RawRowView(i - lo)
				for l, dot := range d {
					d[l] = f.sq[i] + f.sq[l] - 2*dot
				}
			}
			visit(lo, block)
		})
		if f.ctx.Err() != nil {
			return
		}
		later = done(top, blocks)
	}
	later()
}

// startScale returns the power of two c for which F(cI) is least.
func (f *lmnnFit) startScale() float64 {
	const most = 60
	// Of g = d²(i, l) − d²(i, j) under I, in bins by its power of two: with c = 2^−e the hinges
	// of g < 2^e are positive.
	type bins struct{ count, sum [2*most + 1]float64 }
	var all bins
	var parts [mostBlocks]bins
	_, r := f.x.Dims()
	f.each(scaledIdentity(r, 1), func(lo int, d *mat.Dense) {
		part := &parts[lo/blockRows%mostBlocks]
		*part = bins{}
		rows, _ := d.Dims()
		for i := range rows {
			d, own := d.RawRowView(i), f.y[lo+i]
			for _, j := range f.targets[lo+i] {
				for l, dl := range d {
					if f.y[l] == own {
						continue
					}
					bin, g := 0, dl-d[j]
					if g > 0 { // its exponent is that of math.Frexp, or so low that the bin is the first
						bin = min(max(int(math.Float64bits(g)>>52)-1022+most, 0), 2*most)
					}
					part.count[bin]++
					part.sum[bin] += g
				}
			}
		}
	}, func(_, blocks int) func() {
		for _, part := range parts[:blocks] {
			floats.Add(all.count[:], part.count[:])
			floats.Add(all.sum[:], part.sum[:])
		}
		return func() {}
	})
	best, least := 1.0, math.Inf(1)
	var hinges, total float64
	for bin := range all.count {
		hinges += all.count[bin]
		total += all.sum[bin]
		c := math.Ldexp(1, most-bin)
		if v := c*floats.Sum(f.pull) + f.mu*(hinges-c*total); v < least {
			best, least = c, v
		}
	}
	return best
}
