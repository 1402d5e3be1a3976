package nearest

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/cores"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
)

// leafRows is about the number of rows in a leaf of a tree.
const leafRows = 24

// tree is a k-d tree: the rows of a matrix, halved again and again at the median of the column in which the
// part is widest. Each node has the bounding box of its rows. Node i has the children 2i+1 and 2i+2; all
// leaves are on one level, and sizes on a level differ by at most 1.
type tree struct {
	width  int
	levels int       // below the root
	index  []int     // of each row in the training set, in the order of the leaves
	rows   []float64 // in that order
	boxes  []float64 // per node: the least number of each column, then the largest
}

// treeLevels returns the levels below the root of a tree of n rows.
func treeLevels(n int) int { return bits.Len(uint(n / (leafRows + 1))) }

// treeBytes returns what a tree takes, and what building it takes besides.
func treeBytes(n, r int) int64 {
	nodes := 2<<treeLevels(n) - 1
	return int64(n)*int64(r+3)*8 + int64(nodes)*int64(r)*16
}

// newTree returns a tree of the rows of points, or nil once ctx is done. It works on the cores that are idle.
func newTree(ctx context.Context, points *mat.Dense) *tree {
	n, r := points.Dims()
	t := &tree{width: r, levels: treeLevels(n), index: make([]int, n)}
	t.boxes = make([]float64, (2<<t.levels-1)*2*r)
	for i := range t.index {
		t.index[i] = i
	}
	b := treeBuilder{t, points, make([]keyed, n)}
	b.build(ctx, 0, n, t.levels)
	if ctx.Err() != nil {
		return nil
	}
	t.rows = make([]float64, 0, n*r)
	for _, i := range t.index {
		t.rows = append(t.rows, points.RawRowView(i)...)
	}
	t.enclose(0, 0, n, t.levels)
	return t
}

type treeBuilder struct {
	*tree
	points *mat.Dense
	keys   []keyed
}

// keyed is a row with its number in the column that is divided.
type keyed struct {
	key   float64
	index int
}

// alone is the number of rows from which on two cores build the halves.
const alone = 1 << 14

// sampled is the number of rows by which the widest column of a node is found.
const sampled = 32

// build orders the rows lo to hi of index for a node with levels below it.
func (b treeBuilder) build(ctx context.Context, lo, hi, levels int) {
	if levels == 0 || ctx.Err() != nil {
		return
	}
	column := b.widest(lo, hi)
	data := b.points.RawMatrix()
	keys := b.keys[lo:hi]
	for p, i := range b.index[lo:hi] {
		keys[p] = keyed{data.Data[i*data.Stride+column], i}
	}
	mid := (lo + hi) / 2
	divide(keys, mid-lo, 2*bits.Len(uint(len(keys))))
	for p, x := range keys {
		b.index[lo+p] = x.index
	}
	half := func(i int) {
		b.build(ctx, []int{lo, mid}[i], []int{mid, hi}[i], levels-1)
	}
	if hi-lo >= alone {
		cores.Do(2, half)
		return
	}
	half(0)
	half(1)
}

// widest returns the column of the largest range in a sample of the rows lo to hi of index.
func (b treeBuilder) widest(lo, hi int) int {
	n := min(sampled, hi-lo)
	widest, most := 0, 0.0
	for j := range b.width {
		low, high := math.Inf(1), math.Inf(-1)
		for s := range n {
			v := b.points.At(b.index[lo+s*(hi-lo)/n], j)
			low, high = min(low, v), max(high, v)
		}
		if high-low > most {
			widest, most = j, high-low
		}
	}
	return widest
}

// enclose sets the boxes of a node with the rows lo to hi, and of those below it.
func (t *tree) enclose(node, lo, hi, levels int) {
	low, high := t.box(node)
	if levels == 0 {
		copy(low, t.rows[lo*t.width:])
		copy(high, low)
		for p := lo + 1; p < hi; p++ {
			for j, v := range t.rows[p*t.width:][:t.width] {
				if v < low[j] {
					low[j] = v
				}
				if v > high[j] {
					high[j] = v
				}
			}
		}
		return
	}
	mid := (lo + hi) / 2
	t.enclose(2*node+1, lo, mid, levels-1)
	t.enclose(2*node+2, mid, hi, levels-1)
	llow, lhigh := t.box(2*node + 1)
	rlow, rhigh := t.box(2*node + 2)
	for j := range low {
		low[j], high[j] = min(llow[j], rlow[j]), max(lhigh[j], rhigh[j])
	}
}

// divide reorders keys so that none before at is larger than one from there on. It is Hoare's selection, but
// sorts what so many tries leave.
func divide(keys []keyed, at, tries int) {
	lo, hi := 0, len(keys)-1
	for ; lo < hi; tries-- {
		if tries == 0 {
			slices.SortFunc(keys[lo:hi+1], func(x, y keyed) int { return cmp.Compare(x.key, y.key) })
			return
		}
		x, y, z := keys[lo].key, keys[(lo+hi)/2].key, keys[hi].key
		pivot := max(min(x, y), min(max(x, y), z)) // the median
		i, j := lo, hi
		for i <= j {
			for keys[i].key < pivot {
				i++
			}
			for keys[j].key > pivot {
				j--
			}
			if i <= j {
				keys[i], keys[j] = keys[j], keys[i]
				i++
				j--
			}
		}
		switch {
		case at <= j:
			hi = j
		case at >= i:
			lo = i
		default:
			return
		}
	}
}

// box returns the corners of a node's box.
func (t *tree) box(node int) (low, high []float64) {
	r := t.width
	return t.boxes[2*node*r:][:r:r], t.boxes[(2*node+1)*r:][:r:r]
}

// A walk offers the rows of a tree that may be among the nearest of a query.
//
// A squared distance is computed by loops of its own, and so is that from the query to a box.
// Let u = 2⁻⁵³. Each is a sum of r squares of rounded differences, none negative: in whatever order it is added, fused or not,
// its relative error is at most (r+2)u to first order, besides what underflow adds. The same holds for metric.Euclidean. So
// 4(r+8)u bounds any two of them from each other. Coordinates are compared as they are, not after a shift.
type walk struct {
	*tree
	ctx            context.Context
	best           *best
	query          []float64
	without        int // a row of the training set that is not offered, or -1
	eps, underflow float64
	scanned        int     // rows whose distance was computed
	bounded        int     // boxes whose distance was computed
	budget         float64 // the cost at which the walk stops
	leaves         int
	stopped        bool // by the context or the budget
}

func newWalk(ctx context.Context, t *tree, k int) *walk {
	eps, underflow := slack(t.width)
	return &walk{tree: t, ctx: ctx, best: newBest(k), eps: eps, underflow: underflow, budget: math.Inf(1)}
}

// nearest collects in best what may be among the nearest rows of the query; of row without of the training set
// it takes no notice. It reports whether it came to the end.
func (w *walk) nearest(query []float64, without int) bool {
	w.query, w.without = query, without
	w.best.reset()
	w.node(0, 0, len(w.index), w.levels)
	return !w.stopped
}

// node visits a node that has the rows lo to hi, and levels below it.
func (w *walk) node(node, lo, hi, levels int) {
	if w.stopped {
		return
	}
	if levels == 0 {
		w.leaf(lo, hi)
		return
	}
	mid := (lo + hi) / 2
	left, right := w.bound(2*node+1), w.bound(2*node+2)
	w.bounded += 2
	if left <= right {
		if left <= w.best.limit {
			w.node(2*node+1, lo, mid, levels-1)
		}
		if right <= w.best.limit {
			w.node(2*node+2, mid, hi, levels-1)
		}
		return
	}
	if right <= w.best.limit {
		w.node(2*node+2, mid, hi, levels-1)
	}
	if left <= w.best.limit {
		w.node(2*node+1, lo, mid, levels-1)
	}
}

// bound returns a lower bound on the squared distances of the query to the rows of a node.
func (w *walk) bound(node int) float64 {
	low, high := w.box(node)
	high = high[:len(low)]
	q := w.query[:len(low)]
	var s, t float64
	j := 0
	for ; j+2 <= len(low); j += 2 {
		l, h, x := (*[2]float64)(low[j:]), (*[2]float64)(high[j:]), (*[2]float64)(q[j:])
		d, e := outside(x[0], l[0], h[0]), outside(x[1], l[1], h[1])
		s += d * d
		t += e * e
	}
	if j < len(low) {
		d := outside(q[j], low[j], high[j])
		s += d * d
	}
	s += t
	return s - w.eps*s - w.underflow
}

// outside returns how far x is outside of [low, high]: max(low−x, x−high, 0), without a branch. Of low−x and
// x−high at least one is not positive and adds exactly 0, so that nothing but these differences is rounded.
func outside(x, low, high float64) float64 {
	under, over := low-x, x-high
	return ((under + math.Abs(under)) + (over + math.Abs(over))) / 2
}

// leaf offers the rows lo to hi.
func (w *walk) leaf(lo, hi int) {
	if w.leaves++; w.leaves%looks == 0 && w.ctx.Err() != nil || w.cost() > w.budget {
		w.stopped = true
		return
	}
	w.scanned += hi - lo
	r := w.width
	eps, underflow := w.eps, w.underflow
	q := w.query[:r]
	b := w.best
	for p := lo; p < hi; p++ {
		row := w.rows[p*r:][:len(q)]
		var s0, s1, s2, s3 float64
		j := 0
		for ; j+4 <= len(q); j += 4 {
			x, y := (*[4]float64)(q[j:]), (*[4]float64)(row[j:])
			d0, d1, d2, d3 := x[0]-y[0], x[1]-y[1], x[2]-y[2], x[3]-y[3]
			s0 += d0 * d0
			s1 += d1 * d1
			s2 += d2 * d2
			s3 += d3 * d3
		}
		for ; j < len(q); j++ {
			d := q[j] - row[j]
			s0 += d * d
		}
		s := (s0 + s1) + (s2 + s3)
		slack := eps*s + underflow
		if s-slack <= b.limit && w.index[p] != w.without {
			b.offer(w.index[p], s-slack, s+slack)
		}
	}
}

// home returns a position in the order of the leaves near which the neighbours of a query are likely: that of
// the leaf to which the nearer boxes lead.
func (w *walk) home(query []float64) int {
	w.query = query
	node, lo, hi := 0, 0, len(w.index)
	for range w.levels {
		mid := (lo + hi) / 2
		if w.bound(2*node+1) <= w.bound(2*node+2) {
			node, hi = 2*node+1, mid
		} else {
			node, lo = 2*node+2, mid
		}
	}
	return lo
}

// Costs in nanoseconds of one core (AMD EPYC, AVX2; see BenchmarkKNN), of which only the ratios matter.

// productCost is that of one query answered by products.
func productCost(n, r int) float64 { return float64(n) * (1.1 + 0.035*float64(r)) }

// buildCost is that of a tree.
func buildCost(n, r int) float64 {
	return float64(n) * float64(treeLevels(n)) * (14 + 1.3*float64(r))
}

// cost is that of what the walk has met.
func (w *walk) cost() float64 {
	return float64(w.scanned+2*w.bounded) * (6 + 0.8*float64(w.width))
}

const (
	// treeRows is the least number of rows for which a tree is built; to compare a query with fewer takes microseconds.
	treeRows = 1024
	// treeWidth is the largest width for which one is built.
	treeWidth = 64
	// A tree is tried on one of pilotShare queries, at most on pilots of them.
	pilotShare, pilots = 64, 32
)

// worthBuilding reports whether a tree of n rows of width r may pay, asked queries having been asked. Building costs at
// most 2/r of what the product takes for these queries, because trees help the less the wider
// rows are, and at most all of it.
func worthBuilding(asked int64, n, r int) bool {
	return n >= treeRows && r <= treeWidth && treeBytes(n, r) <= limits.Memory() &&
		float64(asked)*productCost(n, r) >= max(1, float64(r)/2)*buildCost(n, r)
}

// treeFor returns a tree for queries, the rows of points, or nil if the product should answer them. It builds
// the tree if that is worth it and nobody else is at it, and tries it on a few of the queries.
func (c *KNN) treeFor(ctx context.Context, points *mat.Dense, self bool, k int) *tree {
	n, r := c.points.Dims()
	m, _ := points.Dims()
	asked := c.asked.Add(int64(m))
	if t := c.tree.Load(); t != nil {
		if t.pays(ctx, points, self, k) {
			return t
		}
		return nil
	}
	if !worthBuilding(asked, n, r) || !c.building.TryLock() {
		return nil
	}
	defer c.building.Unlock()
	if c.hopeless || c.tree.Load() != nil {
		return c.tree.Load()
	}
	t := newTree(ctx, c.points)
	if t == nil {
		return nil
	}
	pays := t.pays(ctx, points, self, k)
	switch {
	case ctx.Err() != nil:
		return nil
	case !pays:
		// Few queries may be unlucky: the next trial is then after as many again, and the third is the last.
		c.trials++
		c.hopeless = m >= pilots*pilotShare || c.trials == 3
		c.asked.Store(0)
		return nil
	}
	c.tree.Store(t)
	return t
}

// pays reports whether a few of the queries cost less in the tree than by the product.
func (t *tree) pays(ctx context.Context, points *mat.Dense, self bool, k int) bool {
	m, _ := points.Dims()
	tried := min(max(m/pilotShare, 1), pilots)
	w := newWalk(ctx, t, k)
	w.budget = float64(tried) * productCost(len(t.index), t.width)
	for s := range tried {
		i, without := s*m/tried, -1
		if self {
			without = i
		}
		if !w.nearest(points.RawRowView(i), without) {
			return false
		}
	}
	return w.cost() <= w.budget
}

// treeBlock is the number of queries that a goroutine takes at a time.
const treeBlock = 64

// searchTree is search by a tree. It takes the queries in the order of the leaves, so that those near each
// other find their rows in the cache.
func (c *KNN) searchTree(ctx context.Context, t *tree, points *mat.Dense, self bool, k int, f func(int, []Neighbour)) {
	m, _ := points.Dims()
	order := t.index
	if !self {
		order = t.arrange(ctx, points)
	}
	parallel(ctx, m, treeBlock, func() func(lo, hi int) {
		w := newWalk(ctx, t, k)
		return func(lo, hi int) {
			for _, i := range order[lo:hi] {
				q, without := points.RawRowView(i), -1
				if self {
					without = i
				}
				if !w.nearest(q, without) {
					return
				}
				f(i, w.best.nearest(func(x candidate) float64 { return metric.Euclidean{}.SqDist(q, c.points.RawRowView(x.index)) }))
			}
		}
	})
}

// arrange returns the numbers of the rows of points, in the order of the leaves that are nearest to them.
func (t *tree) arrange(ctx context.Context, points *mat.Dense) []int {
	m, _ := points.Dims()
	order, home := make([]int, m), make([]int, m)
	parallel(ctx, m, queryBlock, func() func(lo, hi int) {
		w := newWalk(ctx, t, 1)
		return func(lo, hi int) {
			for i := lo; i < hi; i++ {
				order[i], home[i] = i, w.home(points.RawRowView(i))
			}
		}
	})
	slices.SortFunc(order, func(i, j int) int { return cmp.Or(cmp.Compare(home[i], home[j]), cmp.Compare(i, j)) })
	return order
}
