// Package nearest predicts from nearest neighbours: the classes of the k nearest rows
// under any metric (KNN), the class of the nearest example so far (OnlineNN), and the
// nearest point under a metric that changes (Tracker). A row is an object.
//
// # Which one
//
// NewKNN takes rows once and answers many queries, under a metric, a kernel's or a learned one. NewOnlineNN learns from one example
// at a time. A Tracker answers for the same points again and again while an online learner changes the metric.
//
// # How a KNN searches
//
// All searches are exact and give the same bits. Approximate search is out of scope: its answers would depend on the
// index and its parameters, and no published result that this project reproduces uses it.
//
// Embedded rows are searched by products of matrices, or by a k-d tree. A tree is built for 1,024 rows or more, of
// width r ≤ 64, once building it takes at most min(1, 2/r) of what products take for the queries asked
// so far. It is then tried on 1 of 64 queries (at most 32, at least one), and dropped for good unless they cost less in it. Each
// later call tries it again, and takes the product where the tree would cost more. Costs are counted in rows and boxes, not
// measured: what is chosen depends on the data and the calls alone. Milliseconds of CPU
// for the 5 nearest of 100,000 uniform rows to 2,000 queries (BenchmarkTree; AMD EPYC, one core, loaded):
//
//	width   NewKNN and all   build   tree   product   gonum's k-d tree: build, search
//	2       29               21      5      242       155, 15
//	3       37               26      6      237       128, 27
//	5       45               30      14     239       154, 131
//	10      268              33      179    253       311, 5059
//	12      339 (product)    36      513    253       not measured
//
// Rows of larger width that lie near a surface of few dimensions are searched fast by the tree if they are many. The same for rows of
// width 50, with noise of 1 % around a flat surface (BenchmarkNearSurface); building takes 92 ms:
//
//	dimensions   tree    product
//	2            25      537
//	4            72      537
//	6            280     537
//	10           > 3000  537
//
// Among 8,000 such rows, leave-one-out of 9 neighbours pays in the tree only at dimension 2; from 4 on the product takes less.
//
// Leave-one-out computes each inner product once, for both rows. On isotropic rows of width 50 (BenchmarkLeaveOneOut) it
// takes 18, 50, 159 and 560 ms at 2,000, 4,000, 8,000 and 16,000 rows. Between the last two the exponent is 1.8 and tends to
// 2: no exact method in use avoids comparing most pairs of such rows, as boxes and balls exclude next to nothing there.
//
// # How it is built
//
// Products of matrices or a k-d tree preselect candidates with rigorous bounds. Distances as documented then
// decide, so that both give the same bits. Leave-one-out takes each product of two blocks of training rows for the
// rows of both. A lock for each block guards its candidates, whose order has no influence.
//
// The tree is our own. The one of gonum boxes points into interfaces, is several times slower (see the table
// above), and has no rule for ties.
package nearest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/cores"
	"metriclab/internal/enum"
	"metriclab/internal/matrix"
	"metriclab/internal/product"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
	"metriclab/pkg/sparse"
)

// KNNVersion changes whenever KNN gives other answers for the same input.
const KNNVersion = 1

// TieTolerance is the relative difference within which two squared distances
// count as equal.
const TieTolerance = 1e-12

// VoteTie says which class wins if several have the same number of votes.
type VoteTie int

const (
	// TieNearest: of the tied classes, that of the nearest neighbour. The
	// default.
	TieNearest VoteTie = iota
	// TieSmallerK: drop the farthest neighbour until one class is ahead.
	TieSmallerK
	// TieLowestLabel: the smallest label of the tied classes.
	TieLowestLabel
)

var voteTieNames = enum.Of[VoteTie]("unknown vote tie rule %d", "nearest of tied", "smaller k", "lowest label")

// String returns the rule in words.
func (v VoteTie) String() string { return voteTieNames.Text(v) }

// KNNOptions are the rules of a KNN.
type KNNOptions struct {
	// VoteTie is the rule for tied votes; the zero value is TieNearest.
	VoteTie VoteTie
}

// Neighbour is a row of the training set and its squared distance.
type Neighbour struct {
	Index  int
	SqDist float64
}

// Dist returns the distance: the root of SqDist.
func (n Neighbour) Dist() float64 { return math.Sqrt(n.SqDist) }

// KNN is the k-nearest-neighbour classifier under a given metric. Every answer
// to a query is independent of the other queries, and of GOMAXPROCS, to the bit.
//
// Order of neighbours: by squared distance, with equal distances in the order of
// the training set. Two are equal if within TieTolerance of each other; because
// this relation is not transitive, groups are formed from the nearest on, each
// holding all distances within TieTolerance of its first.
//
// For metric.Euclidean, *metric.Mahalanobis and *kernels.Metric the rows are embedded once,
// x ↦ Lx or Gk(x), and the squared distances are those of metric.Euclidean between the
// images. Candidates come from inner products in blocks, with a rigorous bound
// on their round-off; the order is decided on the squared distances themselves. Squares
// below 2.3e-308 lose digits and vanish below 5e-324: rows nearer than some 1e-162 tie.
// Any other metric is called once per query and training row, from one goroutine.
//
// The rows of a *sparse.Matrix stay sparse under metric.Euclidean and *metric.LowRank of rank k, and so do queries. Candidates come from postings, in as many steps as the columns of the
// query have entries and O(nk), and SqDist or SqDistSparse decides. Under other metrics they are made dense, if limits.Memory allows.
//
// Memory beyond the embedded training set is one block of queries and one of training rows
// per core, and the tree, if there is one (see the package documentation). LeaveOneOut holds the candidates of the rows
// too: up to 64 MiB, or those of 128 rows per core if that is more. A tree takes 8 bytes for each number of the embedded rows, an eighth
// more for boxes, and 24 bytes a row while it is built, 8 afterwards. A tree above limits.Memory is not built. Answers of a
// KNN never change; it is safe for concurrent use if its metric is. While one goroutine builds the tree, others search without.
type KNN struct {
	metric metric.SqDister
	dim    int
	labels []int
	opts   KNNOptions

	points *mat.Dense // training rows, embedded on the fast path
	factor *mat.Dense // L; nil if rows are not mapped by a matrix
	image  embedder   // maps rows where there is no L; nil otherwise
	flat   bool       // a metric of rank 0: all points coincide
	fast   bool
	centre []float64 // mean of points
	sq     []float64 // ‖points[i]−centre‖²

	sparse *sparseRows // nil unless the training rows are sparse; no field above but metric, dim, labels and opts is set then

	asked    atomic.Int64         // queries so far
	tree     atomic.Pointer[tree] // nil until it is built
	building sync.Mutex           // held by who builds it
	trials   int                  // trees that were built and did not pay; guarded by building
	hopeless bool                 // no more will be built; guarded by building
}

// embedder is a metric that is the Euclidean one between images of the points, such
// as *kernels.Metric.
type embedder interface {
	metric.SqDister
	Dim() int
	Rows() int // the dimension of the images
	Embed(x []float64) []float64
}

// NewKNN returns a classifier with the rows of the n×d matrix x, which is
// copied, as training set, and y as their labels; any integers are labels. It
// returns an error if x is empty or does not have the dimension of the metric, if y does
// not have length n, or if o names no rule. An entry that is NaN or infinite, or so large
// that squared distances overflow, is an error too. It panics if m or x is nil.
func NewKNN(m metric.SqDister, x mat.Matrix, y []int, o KNNOptions) (*KNN, error) {
	if p, ok := m.(*metric.Mahalanobis); m == nil || ok && p == nil {
		panic("nearest: NewKNN: the metric is nil")
	}
	if matrix.IsNil(x) {
		panic("nearest: NewKNN: x is nil")
	}
	if o.VoteTie < TieNearest || o.VoteTie > TieLowestLabel {
		return nil, fmt.Errorf("knn: vote tie: %d is not allowed, want %d to %d", o.VoteTie, TieNearest, TieLowestLabel)
	}
	n, d := x.Dims()
	if n == 0 {
		return nil, errors.New("knn: training set is empty")
	}
	if len(y) != n {
		return nil, fmt.Errorf("knn: %d labels for %d rows", len(y), n)
	}
	if s, ok := x.(*sparse.Matrix); ok {
		low, isLow := m.(*metric.LowRank)
		if _, ok := m.(metric.Euclidean); ok || isLow {
			return newSparse(m, low, s, y, o)
		}
		dense, err := s.Dense()
		if err != nil {
			return nil, fmt.Errorf("knn: training set: %w", err)
		}
		x = dense
	}
	xd := matrix.Dense(x)
	if err := metric.CheckFinite(xd); err != nil {
		return nil, fmt.Errorf("knn: training set: %w", err)
	}
	c := &KNN{metric: m, dim: d, labels: slices.Clone(y), opts: o}
	switch m := m.(type) {
	case metric.Euclidean:
		c.fast = true
	case *metric.Mahalanobis:
		if m.Dim() != d {
			return nil, fmt.Errorf("knn: training set has %d columns, the metric has dimension %d", d, m.Dim())
		}
		c.fast = true
		c.factor = m.Factor()
		c.flat = c.factor == nil
	case embedder:
		if m.Dim() != d {
			return nil, fmt.Errorf("knn: training set has %d columns, the metric has dimension %d", d, m.Dim())
		}
		c.fast = true
		c.image = m
		c.flat = m.Rows() == 0
	}
	c.points = c.embed(context.Background(), xd)
	if c.points == x { // the caller's; what Dense made is a copy
		c.points = mat.DenseCopyOf(xd)
	}
	if !c.fast {
		return c, nil
	}
	r := c.width()
	c.centre = make([]float64, r)
	for i := range n {
		floats.AddScaled(c.centre, 1/float64(n), c.points.RawRowView(i))
	}
	c.sq = make([]float64, n)
	dev := make([]float64, r)
	for i := range n {
		floats.SubTo(dev, c.points.RawRowView(i), c.centre)
		c.sq[i] = floats.Dot(dev, dev)
		if !representable(c.sq[i]) {
			return nil, fmt.Errorf("knn: training set: row %d: squared distances overflow float64: rescale the features", i)
		}
	}
	return c, nil
}

// representable leaves room for the sums that distances are made of.
func representable(sq float64) bool { return sq <= math.MaxFloat64/16 }

func (c *KNN) width() int { _, r := c.points.Dims(); return r }

// embed returns the image of each row of x: x itself, if rows are their own.
func (c *KNN) embed(ctx context.Context, x *mat.Dense) *mat.Dense {
	n, _ := x.Dims()
	if c.flat {
		return mat.NewDense(n, 1, nil)
	}
	if c.image != nil {
		out := mat.NewDense(n, c.image.Rows(), nil)
		parallel(ctx, n, 1, func() func(lo, hi int) {
			return func(lo, _ int) { out.SetRow(lo, c.image.Embed(x.RawRowView(lo))) }
		})
		return out
	}
	if c.factor == nil {
		return x
	}
	r, d := c.factor.Dims()
	out := mat.NewDense(n, r, nil)
	// One inner product per entry, as in Mahalanobis.Embed: a matrix product
	// adds in an order that depends on the number of rows.
	tile := tileRows(d)
	parallel(ctx, n, queryBlock, func() func(lo, hi int) {
		return func(lo, hi int) {
			for t := 0; t < r; t += tile {
				rows := c.factor.Slice(t, min(t+tile, r), 0, d).(*mat.Dense).RawMatrix()
				for i := lo; i < hi; i++ {
					row, dst := x.RawRowView(i), out.RawRowView(i)
					product.DotRows(dst[t:min(t+tile, r)], rows, row)
				}
			}
		}
	})
	return out
}

const queryBlock = 128

// looks is the number of squared distances by a function between two looks at the context.
const looks = 64

// tileRows returns how many training rows of width r are compared with a block
// of queries at a time: about 24 KiB, which stay in the first-level cache.
func tileRows(r int) int { return min(max(3072/r, 4), 512) }

// parallel does the blocks of [0, n) on the cores that are idle, each with
// its own worker. It begins no block once ctx is done.
func parallel(ctx context.Context, n, block int, newWorker func() func(lo, hi int)) {
	cores.With((n+block-1)/block, func() func(int) {
		work := newWorker()
		return func(b int) {
			if ctx.Err() == nil {
				work(b*block, min((b+1)*block, n))
			}
		}
	})
}

// Neighbours returns, for each row of the matrix queries, its k nearest
// training rows, nearest first. It returns an error unless 1 ≤ k ≤ n, if ctx is done, or if
// queries is empty or does not have the columns of the training set. An entry that is NaN or
// infinite, or so large that squared distances overflow, is an error too. It panics if queries is nil.
func (c *KNN) Neighbours(ctx context.Context, queries mat.Matrix, k int) ([][]Neighbour, error) {
	qd, err := c.given("Neighbours", queries)
	if err != nil {
		return nil, err
	}
	if err := c.checkK(k, len(c.made().labels), "the number of training rows"); err != nil {
		return nil, err
	}
	m, err := c.checkQueries(qd)
	if err != nil {
		return nil, err
	}
	out := make([][]Neighbour, m)
	err = c.search(ctx, qd, k, func(i int, found []Neighbour) { out[i] = slices.Clone(found) })
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Classify returns the majority label of the k nearest training rows of each
// row of queries. Its errors and panics are those of Neighbours.
func (c *KNN) Classify(ctx context.Context, queries mat.Matrix, k int) ([]int, error) {
	qd, err := c.given("Classify", queries)
	if err != nil {
		return nil, err
	}
	if err := c.checkK(k, len(c.made().labels), "the number of training rows"); err != nil {
		return nil, err
	}
	m, err := c.checkQueries(qd)
	if err != nil {
		return nil, err
	}
	out := make([]int, m)
	err = c.search(ctx, qd, k, func(i int, found []Neighbour) { out[i] = c.vote(found) })
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Errors returns, for each k of ks, the number of rows of queries that Classify
// gives another label than want, from one computation of distances. Its errors
// and panics are those of Neighbours; ks must not be empty, and want must have
// one label per query.
func (c *KNN) Errors(ctx context.Context, queries mat.Matrix, want []int, ks []int) ([]int, error) {
	qd, err := c.given("Errors", queries)
	if err != nil {
		return nil, err
	}
	top, err := c.checkKs(ks, len(c.made().labels), "the number of training rows")
	if err != nil {
		return nil, err
	}
	m, err := c.checkQueries(qd)
	if err != nil {
		return nil, err
	}
	if len(want) != m {
		return nil, fmt.Errorf("knn: %d labels for %d queries", len(want), m)
	}
	wrong := make([][]bool, m)
	err = c.search(ctx, qd, top, func(i int, found []Neighbour) { wrong[i] = c.sweep(found, want[i], ks) })
	if err != nil {
		return nil, err
	}
	return count(wrong, len(ks)), nil
}

// LeaveOneOut returns, for each k of ks, the number of training rows whose label
// differs from the majority of their k nearest other training rows, from one
// computation of distances. A row is never its own neighbour, but its duplicates
// can be. It returns an error if ks is empty, unless 1 ≤ k ≤ n−1, or if ctx is done.
func (c *KNN) LeaveOneOut(ctx context.Context, ks []int) ([]int, error) {
	top, err := c.checkKs(ks, len(c.made().labels)-1, "the number of other training rows")
	if err != nil {
		return nil, err
	}
	wrong := make([][]bool, len(c.labels))
	err = c.search(ctx, nil, top, func(i int, found []Neighbour) { wrong[i] = c.sweep(found, c.labels[i], ks) })
	if err != nil {
		return nil, err
	}
	return count(wrong, len(ks)), nil
}

// made returns c, and panics if no constructor made it.
func (c *KNN) made() *KNN {
	if c == nil || c.metric == nil {
		panic("nearest: KNN: zero value, use NewKNN")
	}
	return c
}

func (c *KNN) checkK(k, most int, what string) error {
	if k < 1 || k > most {
		return fmt.Errorf("knn: k: %d is not allowed, want 1 to %d, %s", k, most, what)
	}
	// A query has up to 4k candidates of 16 bytes and k bounds of 8.
	return limits.Check(fmt.Sprintf("knn: the candidates of %d queries on each processor with k = %d", queryBlock, k), limits.Product(runtime.GOMAXPROCS(0), queryBlock, 72, k))
}

func (c *KNN) checkKs(ks []int, most int, what string) (top int, err error) {
	if len(ks) == 0 {
		return 0, errors.New("knn: k: none given, want at least one")
	}
	for _, k := range ks {
		if err := c.checkK(k, most, what); err != nil {
			return 0, err
		}
	}
	return slices.Max(ks), nil
}

func (c *KNN) checkQueries(queries mat.Matrix) (int, error) {
	m, d := queries.Dims()
	if d != c.dim {
		return 0, fmt.Errorf("knn: queries have %d columns, the training set has %d", d, c.dim)
	}
	if dense, ok := queries.(*mat.Dense); ok { // entries of sparse rows are finite
		if err := metric.CheckFinite(dense); err != nil {
			return 0, fmt.Errorf("knn: queries: %w", err)
		}
	}
	return m, nil
}

// sweep reports for each k whether the vote of the first k found is not want.
func (c *KNN) sweep(found []Neighbour, want int, ks []int) []bool {
	out := make([]bool, len(ks))
	for i, k := range ks {
		out[i] = c.vote(found[:k]) != want
	}
	return out
}

func count(wrong [][]bool, n int) []int {
	out := make([]int, n)
	for _, w := range wrong {
		for i, bad := range w {
			if bad {
				out[i]++
			}
		}
	}
	return out
}

// vote returns the label that the neighbours elect.
func (c *KNN) vote(found []Neighbour) int {
	type tally struct{ label, votes int }
	var few [16]tally // in order of first appearance, so nearest first
	tallies := few[:0]
	for _, f := range found {
		label := c.labels[f.Index]
		i := slices.IndexFunc(tallies, func(t tally) bool { return t.label == label })
		if i < 0 {
			i = len(tallies)
			tallies = append(tallies, tally{label: label})
		}
		tallies[i].votes++
	}
	for last := len(found) - 1; ; last-- {
		best, tied := tallies[0], false
		for _, t := range tallies[1:] {
			switch {
			case t.votes > best.votes:
				best, tied = t, false
			case t.votes == best.votes:
				tied = true
				if c.opts.VoteTie == TieLowestLabel && t.label < best.label {
					best = t
				}
			}
		}
		if !tied || c.opts.VoteTie != TieSmallerK {
			return best.label
		}
		dropped := c.labels[found[last].Index]
		tallies[slices.IndexFunc(tallies, func(t tally) bool { return t.label == dropped })].votes--
	}
}

// search calls f for each query with its k nearest training rows, which f must
// not keep; from several goroutines, once per query. Queries nil are the
// training rows, each without itself.
func (c *KNN) search(ctx context.Context, given mat.Matrix, k int, f func(i int, found []Neighbour)) error {
	if c.sparse != nil {
		rows, _ := given.(*sparse.Matrix) // nil for the training rows
		return c.searchSparse(ctx, rows, k, f)
	}
	queries, _ := given.(*mat.Dense)
	self := queries == nil
	points := c.points
	m := len(c.labels)
	if !self {
		m, _ = queries.Dims()
	}
	if !c.fast {
		return c.searchAny(ctx, queries, m, k, f)
	}
	if !self {
		points = c.embed(ctx, queries)
	}
	return c.searchPoints(ctx, points, self, k, f)
}

// searchPoints is search for embedded queries.
func (c *KNN) searchPoints(ctx context.Context, points *mat.Dense, self bool, k int, f func(i int, found []Neighbour)) error {
	if err := ctx.Err(); err != nil { // some rows may have no image
		return fmt.Errorf("knn: %w", err)
	}
	m, _ := points.Dims()
	dev := make([]float64, c.width())
	for i := 0; i < m && !self; i++ {
		floats.SubTo(dev, points.RawRowView(i), c.centre)
		if !representable(floats.Dot(dev, dev)) {
			return fmt.Errorf("knn: queries: row %d: squared distances overflow float64: rescale the features", i)
		}
	}
	if t := c.treeFor(ctx, points, self, k); t != nil {
		c.searchTree(ctx, t, points, self, k, f)
	} else if self {
		block, group := pairRows(len(c.labels), c.width(), k)
		c.searchPairs(ctx, block, group, k, f)
	} else {
		c.searchProduct(ctx, points, k, f)
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("knn: %w", err)
	}
	return nil
}

// searchProduct is search by products of blocks of queries and blocks of training rows.
func (c *KNN) searchProduct(ctx context.Context, points *mat.Dense, k int, f func(int, []Neighbour)) {
	m, _ := points.Dims()
	block := blockRows(m, c.width())
	parallel(ctx, m, block, func() func(lo, hi int) {
		w := newSearcher(c, points, k, block)
		return func(lo, hi int) { w.block(ctx, lo, hi, f) }
	})
}

// searchAny is search for a metric that is only a function.
func (c *KNN) searchAny(ctx context.Context, queries *mat.Dense, m, k int, f func(int, []Neighbour)) error {
	self := queries == nil
	if self {
		queries = c.points
	}
	best := newBest(k)
	for i := range m {
		best.reset()
		q := queries.RawRowView(i)
		for j := range c.labels {
			if j%looks == 0 && ctx.Err() != nil {
				return fmt.Errorf("knn: %w", ctx.Err())
			}
			if self && j == i {
				continue
			}
			sq := c.metric.SqDist(q, c.points.RawRowView(j))
			if math.IsNaN(sq) || math.IsInf(sq, 0) || sq < 0 {
				return fmt.Errorf("knn: squared distance of query %d and training row %d is %v, want a finite number ≥ 0", i, j, sq)
			}
			best.offer(j, sq, sq)
		}
		f(i, best.nearest(func(x candidate) float64 { return x.lower }))
	}
	return nil
}

// searcher answers blocks of queries with buffers of its own.
type searcher struct {
	c       *KNN
	points  *mat.Dense // embedded queries
	queries []float64  // of the block, minus centre
	sq      []float64  // their squared norms
	height  int        // training rows in a tile
	tile    []float64  // training rows minus centre
	half    []float64  // nearly half the squared norms of the tile
	inner   []float64  // inner products of the queries with the tile
	best    []best
}

// fewQueries is the number of queries below which packing a product costs more than it gains.
const fewQueries = 4

// blockRows returns how many of m queries of width r are answered together: up to 512, less where they
// are wide or where cores would have nothing to do.
func blockRows(m, r int) int {
	share := (m + runtime.GOMAXPROCS(0) - 1) / runtime.GOMAXPROCS(0)
	return min(max(min(1<<20/r, share), queryBlock), 512)
}

func newSearcher(c *KNN, points *mat.Dense, k, block int) *searcher {
	m, r := points.Dims()
	rows, height := min(block, m), tileRows(r)
	if rows >= fewQueries {
		height = min(max(1<<18/r, 12), 512)
	}
	height = min(height, len(c.labels))
	s := &searcher{
		c: c, points: points,
		queries: make([]float64, rows*r),
		sq:      make([]float64, rows),
		height:  height,
		tile:    make([]float64, height*r),
		half:    make([]float64, height),
		inner:   make([]float64, rows*height),
		best:    newBests(rows, len(c.labels), k),
	}
	return s
}

// slack returns what bounds two squared distances of rows of width r from each other: a relative part, and what underflow adds.
func slack(r int) (eps, underflow float64) {
	return 4 * float64(r+8) * 0x1p-53, 4 * float64(r+8) * math.SmallestNonzeroFloat64
}

// block answers queries lo to hi, unless ctx is done.
//
// Let u = 2⁻⁵³, a = q−centre and b = x−centre, all of width r and as rounded.
// The squared distance of q and x that the inner product gives differs from the
// true one by at most (2r+9)u·(‖a‖²+‖b‖²) to first order, in whatever order its
// terms are added, fused or not. The one that metric.Euclidean computes does by
// (2r+4)u·(‖a‖²+‖b‖²). 4(r+8)u·(‖a‖²+‖b‖²) bounds
// the two from each other, and as many of the smallest numbers what underflow adds.
//
// A first test, half[j] − inner > limit, costs one subtraction for almost all rows. Both sides are half of the bound's, less
// ‖a‖²/2, with a slack of twice the size, which covers their round-off of some 6u·(‖a‖²+‖b‖²).
func (s *searcher) block(ctx context.Context, lo, hi int, f func(i int, found []Neighbour)) {
	c := s.c
	n, r := len(c.labels), c.width()
	eps, underflow := slack(r)
	rows := hi - lo
	for i := range rows {
		q := s.queries[i*r : (i+1)*r]
		floats.SubTo(q, s.points.RawRowView(lo+i), c.centre)
		s.sq[i] = floats.Dot(q, q)
		s.best[i].reset()
	}
	for t := 0; t < n; t += s.height {
		if ctx.Err() != nil {
			return
		}
		h := min(s.height, n-t)
		for j := range h {
			floats.SubTo(s.tile[j*r:(j+1)*r], c.points.RawRowView(t+j), c.centre)
		}
		s.multiply(rows, h, r)
		sq, half := c.sq[t:t+h], s.half[:h]
		for j := range half {
			half[j] = sq[j] * (1 - 2*eps) / 2
		}
		for i := range rows {
			b := &s.best[i]
			most := func() float64 { return (b.limit-s.sq[i]*(1-2*eps))/2 + underflow }
			limit := most()
			for j, inner := range s.inner[i*h:][:len(half)] {
				if half[j]-inner > limit {
					continue
				}
				norms := s.sq[i] + sq[j]
				mid, slack := norms-2*inner, eps*norms+underflow
				if mid-slack <= b.limit {
					b.offer(t+j, mid-slack, mid+slack)
					limit = most()
				}
			}
		}
	}
	for i := range rows {
		q := s.points.RawRowView(lo + i)
		f(lo+i, s.best[i].nearest(func(x candidate) float64 {
			return metric.Euclidean{}.SqDist(q, c.points.RawRowView(x.index))
		}))
	}
}

// multiply sets inner to the inner products of the first queries of the block with the first h rows of the tile.
func (s *searcher) multiply(rows, h, r int) {
	if rows < fewQueries {
		for i := range rows {
			product.DotRows(s.inner[i*h:(i+1)*h], blas64.General{Rows: h, Cols: r, Stride: r, Data: s.tile}, s.queries[i*r:(i+1)*r])
		}
		return
	}
	product.Gemm(blas.NoTrans, blas.Trans,
		blas64.General{Rows: rows, Cols: r, Stride: r, Data: s.queries},
		blas64.General{Rows: h, Cols: r, Stride: r, Data: s.tile},
		blas64.General{Rows: rows, Cols: h, Stride: h, Data: s.inner})
}

// best collects the candidates for the k nearest of one query from bounds on
// their distances.
type best struct {
	k          int
	limit      float64   // no row whose lower bound is above is among the k nearest
	upper      []float64 // max-heap of the k smallest upper bounds
	candidates []candidate
	room       int // compact when there are as many candidates
	found      []Neighbour
}

type candidate struct {
	index int
	lower float64
}

// newBest returns the collector of one query.
func newBest(k int) *best { return &newBests(1, roomFor(k), k)[0] }

// roomFor is the number of candidates at which a collector drops those that its limit excludes.
func roomFor(k int) int { return 4*k + 32 }

// newBests returns collectors for m queries of the k nearest of n rows.
func newBests(m, n, k int) []best {
	room := min(roomFor(k), n)
	out := make([]best, m)
	upper, candidates := make([]float64, m*k), make([]candidate, m*room)
	for i := range out {
		out[i] = best{k: k, upper: upper[i*k : i*k : (i+1)*k], candidates: candidates[i*room : i*room : (i+1)*room]}
		out[i].reset()
	}
	return out
}

func (b *best) reset() {
	b.limit = math.Inf(1)
	b.upper = b.upper[:0]
	b.candidates = b.candidates[:0]
	b.room = roomFor(b.k)
}

// offer considers a training row whose squared distance lies in [lower, upper].
func (b *best) offer(index int, lower, upper float64) {
	if lower > b.limit {
		return
	}
	if len(b.candidates) == b.room {
		b.candidates = slices.DeleteFunc(b.candidates, func(c candidate) bool { return c.lower > b.limit })
		b.room = max(b.room, 2*len(b.candidates)) // ties can be many
	}
	b.candidates = append(b.candidates, candidate{index, lower})
	switch {
	case len(b.upper) < b.k:
		b.upper = append(b.upper, upper)
		for i := len(b.upper) - 1; i > 0 && b.upper[(i-1)/2] < b.upper[i]; i = (i - 1) / 2 {
			b.upper[(i-1)/2], b.upper[i] = b.upper[i], b.upper[(i-1)/2]
		}
	case upper < b.upper[0]:
		i := 0
		for {
			c := 2*i + 1
			if c+1 < len(b.upper) && b.upper[c+1] > b.upper[c] {
				c++
			}
			if c >= len(b.upper) || b.upper[c] <= upper {
				break
			}
			b.upper[i] = b.upper[c]
			i = c
		}
		b.upper[i] = upper
	}
	if len(b.upper) == b.k {
		// The k-th smallest distance is at most upper[0]; rows equal to it within
		// TieTolerance can still come before it.
		b.limit = b.upper[0] + 2*TieTolerance*math.Abs(b.upper[0])
	}
}

// nearest returns the k nearest by their true squared distances, in the order
// of KNN. The slice is valid until the next call.
func (b *best) nearest(sqDist func(candidate) float64) []Neighbour {
	b.found = b.found[:0]
	for _, c := range b.candidates {
		if c.lower <= b.limit {
			b.found = append(b.found, Neighbour{c.index, sqDist(c)})
		}
	}
	slices.SortFunc(b.found, func(x, y Neighbour) int {
		return cmp.Or(cmp.Compare(x.SqDist, y.SqDist), cmp.Compare(x.Index, y.Index))
	})
	for lo := 0; lo < min(b.k, len(b.found)); {
		hi := groupEnd(b.found, lo)
		if hi-lo > 1 {
			slices.SortFunc(b.found[lo:hi], func(x, y Neighbour) int { return cmp.Compare(x.Index, y.Index) })
		}
		lo = hi
	}
	return b.found[:b.k]
}

// groupEnd returns the end of the group of equal distances that begins at found[lo].
func groupEnd(found []Neighbour, lo int) int {
	hi := lo + 1
	for hi < len(found) && found[hi].SqDist <= found[lo].SqDist*(1+TieTolerance) {
		hi++
	}
	return hi
}
