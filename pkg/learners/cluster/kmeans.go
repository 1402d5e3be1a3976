package cluster

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/internal/ranges"
	"metriclab/pkg/learners"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
	"metriclab/pkg/sparse"
)

// KMeansVersion changes whenever FitKMeans gives other numbers for the same input.
const KMeansVersion = 1

// KMeansParams are the parameters of FitKMeans.
type KMeansParams struct {
	// K is the number of clusters, 1 to the number of rows.
	K int `json:"k" range:">= 1 and <= the number of rows"`
	// Starts is the number of runs, of which the first with the least inertia is
	// returned; 0 means 1.
	Starts int `json:"starts" range:">= 1"`
	// MaxIterations is the cap on iterations of one run; 0 means 300.
	MaxIterations int `json:"max_iterations" range:">= 1"`
	// Progress, if not nil, is told of each iteration of all runs, with the inertia after
	// it as Objective; Residual is NaN.
	Progress func(learners.Progress) `json:"-"`
}

// Resolved returns p with its defaults filled in: Starts = 1, MaxIterations = 300.
func (p KMeansParams) Resolved() KMeansParams {
	p.Starts = cmp.Or(p.Starts, 1)
	p.MaxIterations = cmp.Or(p.MaxIterations, 300)
	return p
}

// KMeans is a partition of rows into clusters around their means.
type KMeans struct {
	// Centres is K×d: the mean of each cluster.
	Centres *mat.Dense
	// Assignment is the cluster of each row: that of the nearest centre, of
	// equally near ones the lowest, if Status is learners.Converged.
	Assignment []int
	// Inertia is Σᵢ ‖xᵢ − centre of xᵢ‖², in feature².
	Inertia float64
	// Result is of the run that is returned: learners.Converged if no row is nearer to another centre,
	// else learners.IterationCap. Residual is the number of rows that the last iteration moved to another
	// cluster, and 0 if it converged.
	learners.Result
	// Trace is the inertia after each iteration of the run that is returned.
	Trace []float64
}

// FitKMeans looks for K centres that minimise Σᵢ min_k ‖xᵢ − c_k‖² over the rows
// of the n×d matrix x by Lloyd's iteration: every row goes to its nearest centre,
// every centre to the mean of its rows. Sources: Lloyd, Least Squares
// Quantization in PCM, 1982; the start is drawn by k-means++ (Arthur and
// Vassilvitskii, SODA 2007: each further centre is a row drawn with probability
// proportional to its squared distance from the nearest centre so far). The
// inertia never increases, up to round-off, and the partition it ends at is a
// local optimum.
//
// A cluster that loses all its rows gets the row that is farthest from its
// centre, of those in clusters with several rows; this too lowers the inertia.
// Only if x has fewer than K different rows does a cluster stay empty, with a
// centre that no longer moves.
//
// It returns an error if a parameter is not allowed, x is empty or has fewer than K
// rows, an entry is NaN or infinite, squared distances overflow, or vanish though
// rows differ, or ctx is done. It panics if x or rng is nil. An iteration costs
// O(nKd).
//
// The rows of a *sparse.Matrix are not made dense: an iteration costs O((e + d)K) for e entries, and O(d) more for each row and centre that is as near as another up to
// round-off. The clusters and centres are those of the dense matrix, Inertia and Trace up to round-off.
// It is then an error, too, if the centres exceed limits.Memory.
func FitKMeans(ctx context.Context, rng *rand.Rand, x mat.Matrix, p KMeansParams) (*KMeans, error) {
	demandSource(rng)
	p = p.Resolved()
	xs, err := pointsOf(x, p)
	if err != nil {
		return nil, fmt.Errorf("kmeans: %w", err)
	}
	if err := xs.checkSpread(); err != nil {
		return nil, fmt.Errorf("kmeans: %w", err)
	}
	var best *KMeans
	for i := range p.Starts {
		r := lloyd(ctx, xs, plusPlus(ctx, xs, p.K, rng), p.MaxIterations, runs{p.Progress, i, p.Starts}.report)
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("kmeans: %w", err)
		}
		if best == nil || r.Inertia < best.Inertia {
			best = r
		}
	}
	return best, nil
}

// pointsOf returns the rows of x, which are checked.
func pointsOf(x mat.Matrix, p KMeansParams) (points, error) {
	s, ok := x.(*sparse.Matrix)
	if !ok || s == nil {
		xd := matrix.Dense(x)
		if err := checkRows(xd, p); err != nil {
			return nil, err
		}
		return rowsOf(xd), nil
	}
	n, d := s.Dims()
	if n == 0 {
		return nil, errNoRows
	}
	if err := ranges.Check("", p, ranges.Limit{Words: "the number of rows", Value: n}); err != nil {
		return nil, err
	}
	if err := limits.Check(fmt.Sprintf("%d centres of %d features", p.K, d), limits.Floats(2, p.K, d)); err != nil {
		return nil, err
	}
	return sparseRows{s}, nil
}

// checkSpread returns an error if sums of squared distances could overflow, or if rows
// differ but all squared distances vanish.
func checkSpread(x *mat.Dense) error {
	n, d := x.Dims()
	limit := largestEntry(n, d)
	var widest float64
	for i := range n {
		if floats.Norm(x.RawRowView(i), math.Inf(1)) > limit {
			return errOverflow
		}
		widest = max(widest, floats.Distance(x.RawRowView(i), x.RawRowView(0), math.Inf(1)))
	}
	return checkWidest(widest)
}

// runs tells a Progress of run, of all runs.
type runs struct {
	progress func(learners.Progress)
	run, of  int
}

// report tells of an iteration, the number of which counts from 1 to most.
func (r runs) report(iteration, most int, objective float64) {
	if r.progress != nil {
		r.progress(learners.Progress{Iteration: r.run*most + iteration, Cap: r.of * most, Objective: objective, Residual: math.NaN()})
	}
}

// looks is the number of rows between two looks at a context.
const looks = 16

// plusPlus draws k different rows of x as centres; if ctx is done, they may be fewer.
func plusPlus(ctx context.Context, x points, k int, rng *rand.Rand) *mat.Dense {
	n, d := x.Dims()
	centres := mat.NewDense(k, d, nil)
	near := make([]float64, n) // squared distance to the nearest centre so far
	taken := make([]bool, n)
	next := rng.IntN(n)
	for c := range k {
		if ctx.Err() != nil {
			break
		}
		if c > 0 {
			next = draw(near, rng)
		}
		if next < 0 { // all rows coincide with centres: any other one will do
			for next = 0; taken[next]; next++ {
			}
		}
		taken[next] = true
		x.setRow(centres.RawRowView(c), next)
		for i := range n {
			sq := x.between(i, next)
			if c == 0 || sq < near[i] {
				near[i] = sq
			}
		}
	}
	return centres
}

// draw returns an index with probability proportional to its weight, or −1 if all
// weights are zero.
func draw(weights []float64, rng *rand.Rand) int {
	u := rng.Float64() * floats.Sum(weights)
	last := -1
	for i, w := range weights {
		if w == 0 {
			continue
		}
		last = i
		if u -= w; u < 0 {
			break
		}
	}
	return last
}

// lloyd iterates from centres, which it changes. If ctx is done, the answer is meaningless.
func lloyd(ctx context.Context, x points, centres *mat.Dense, maxIterations int, report func(iteration, most int, objective float64)) *KMeans {
	k, _ := centres.Dims()
	r := &KMeans{Centres: centres, Result: learners.Result{Status: learners.IterationCap}}
	size := make([]int, k)
	for range maxIterations {
		next, sq := x.nearest(ctx, centres)
		if ctx.Err() != nil {
			return r
		}
		if slices.Equal(next, r.Assignment) {
			r.Status, r.Residual = learners.Converged, 0
			break
		}
		r.Iterations++
		r.Residual = moved(r.Assignment, next)
		r.Assignment = next
		clear(size)
		for _, c := range next {
			size[c]++
		}
		if slices.Contains(size, 0) {
			x.exact(sq, centres, r.Assignment)
			fill(r.Assignment, sq, size)
		}
		means(x, centres, r.Assignment, size)
		r.Trace = append(r.Trace, x.inertia(centres, r.Assignment))
		report(len(r.Trace), maxIterations, r.Trace[len(r.Trace)-1])
	}
	r.Inertia = r.Trace[len(r.Trace)-1]
	return r
}

// moved counts the rows whose cluster differs; all of them if there was none before.
func moved(before, after []int) float64 {
	n := len(after)
	for i, c := range before {
		if c == after[i] {
			n--
		}
	}
	return float64(n)
}

// fill gives each empty cluster the row farthest from its centre, of those in
// clusters of several rows, unless that row lies on its centre.
func fill(assignment []int, sq []float64, size []int) {
	for c := range size {
		if size[c] > 0 {
			continue
		}
		far := -1
		for i, a := range assignment {
			if size[a] > 1 && sq[i] > 0 && (far < 0 || sq[i] > sq[far]) {
				far = i
			}
		}
		if far < 0 {
			return
		}
		size[assignment[far]]--
		assignment[far], size[c], sq[far] = c, 1, 0
	}
}

// means sets each centre to the mean of its rows, taken about the first of them,
// so that equal rows have exactly themselves as mean. The centre of an empty
// cluster stays.
func means(x points, centres *mat.Dense, assignment, size []int) {
	k, d := centres.Dims()
	first := make([]int, k)
	for c := range first {
		first[c] = -1
	}
	dev := mat.NewDense(k, d, nil)
	for i, c := range assignment {
		if first[c] < 0 {
			first[c] = i
		}
		x.addDeviation(dev.RawRowView(c), 1/float64(size[c]), i, first[c])
	}
	for c, f := range first {
		if f >= 0 {
			row := centres.RawRowView(c)
			x.setRow(row, f)
			floats.Add(row, dev.RawRowView(c))
		}
	}
}

// made returns k, and panics if no constructor made it.
func (k *KMeans) made() *KMeans {
	if k == nil || k.Centres == nil {
		panic("cluster: KMeans: zero value, use FitKMeans")
	}
	return k
}

// Assign returns the cluster of each row of x: that of the nearest centre, of
// equally near ones the lowest. It panics if x is nil or does not have the
// columns of Centres.
func (k *KMeans) Assign(x mat.Matrix) []int {
	xd := matrix.Given("cluster: Assign: x", x)
	out, _ := nearest(xd, k.made().Centres)
	return out
}

// Prototypes returns, for each cluster, the row of x nearest to its centre, of
// equally near ones the lowest. It panics if x is nil or empty or does not have
// the columns of Centres.
func (k *KMeans) Prototypes(x mat.Matrix) []int {
	xd := matrix.Dense(x)
	if xd == nil || xd.IsEmpty() {
		panic("cluster: Prototypes: x is nil or empty")
	}
	out, _ := nearest(k.made().Centres, xd)
	return out
}

// nearest returns, for each row of x, the first nearest row of y and the squared
// distance to it.
func nearest(x, y *mat.Dense) (index []int, sq []float64) {
	return nearestUntil(context.Background(), x, y)
}

// nearestUntil is nearest, which ends early when ctx is done.
func nearestUntil(ctx context.Context, x, y *mat.Dense) (index []int, sq []float64) {
	n, _ := x.Dims()
	m, _ := y.Dims()
	index, sq = make([]int, n), slices.Repeat([]float64{math.Inf(1)}, n)
	for i := range n {
		if i%looks == 0 && ctx.Err() != nil {
			break
		}
		row := x.RawRowView(i)
		for j := range m {
			if s := (metric.Euclidean{}).SqDist(row, y.RawRowView(j)); s < sq[i] {
				index[i], sq[i] = j, s
			}
		}
	}
	return index, sq
}
