package nearest

import (
	"context"
	"math"
	"runtime"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"metriclab/internal/product"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
)

// pairs finds the neighbours of training rows among the others. Each inner product of two rows of a group serves both.
//
// Which rows become candidates depends on the order in which goroutines meet the tiles. The answers do not: they
// are chosen among all candidates that the final bounds admit, by squared distances as documented.
type pairs struct {
	c      *KNN
	block  int // rows of a block
	blocks int // of all training rows
	lo, hi int // the blocks of the group
	best   []best
	half   []float64    // nearly half the squared norm of each row
	most   []float64    // half the limit of each row of the group; −Inf for the others
	locks  []sync.Mutex // one per block of the group: its best and most
}

// groupBytes is about what the candidates of a group take at most.
const groupBytes = 64 << 20

// pairRows returns the rows of a block, and the blocks of a group, in a search for k neighbours among n rows of width r. Blocks
// are up to 384 rows, less where rows are wide or where cores would wait for each other.
func pairRows(n, r, k int) (block, group int) {
	procs := runtime.GOMAXPROCS(0)
	block = min(max(min(1<<18/r, n/(4*procs)), 64), 384, n)
	perRow := limits.Product(72, k) + 640 // at most 4k+32 candidates, k bounds and what holds them
	fit := int(min(groupBytes, limits.Memory()/4) / perRow)
	return block, max(fit, queryBlock*procs, block) / block
}

// searchPairs is search of the training rows, each without itself, by products of blocks of them. It does one group after the other.
func (c *KNN) searchPairs(ctx context.Context, block, group, k int, f func(int, []Neighbour)) {
	n := len(c.labels)
	group = min(group*block, n)
	eps, underflow := slack(c.width())
	p := &pairs{c: c, block: block, blocks: (n + block - 1) / block, half: make([]float64, n), most: make([]float64, n)}
	for i, sq := range c.sq {
		p.half[i] = sq * (1 - 2*eps) / 2
		p.most[i] = math.Inf(-1)
	}
	p.best = newBests(group, n, k)
	p.locks = make([]sync.Mutex, (group+block-1)/block)
	for first := 0; first < n; first += group {
		last := min(first+group, n)
		p.lo, p.hi = first/block, (last+block-1)/block
		for i := first; i < last; i++ {
			p.best[i-first].reset()
			p.most[i] = math.Inf(1)
		}
		tiles := p.tiles()
		parallel(ctx, len(tiles), 1, func() func(lo, hi int) {
			w := newPairWorker(p, eps, underflow)
			return func(lo, _ int) { w.tile(tiles[lo]) }
		})
		parallel(ctx, last-first, queryBlock, func() func(lo, hi int) {
			return func(lo, hi int) {
				for i := lo; i < hi; i++ {
					q := c.points.RawRowView(first + i)
					f(first+i, p.best[i].nearest(func(x candidate) float64 {
						return metric.Euclidean{}.SqDist(q, c.points.RawRowView(x.index))
					}))
				}
			}
		})
		for i := first; i < last; i++ {
			p.most[i] = math.Inf(-1)
		}
	}
}

// tiles returns pairs of blocks: each two of the group once, a block with itself among them, and each of the
// group with all others. Tiles that follow each other have no block of the group in common
// for the most part, so that few goroutines wait for each other.
func (p *pairs) tiles() [][2]int {
	var out [][2]int
	n := p.hi - p.lo
	for sum := range n {
		for a := range n {
			if b := (sum - a + n) % n; a <= b {
				out = append(out, [2]int{p.lo + a, p.lo + b})
			}
		}
	}
	for b := range p.blocks {
		if b >= p.lo && b < p.hi {
			continue
		}
		for a := p.lo; a < p.hi; a++ {
			out = append(out, [2]int{a, b})
		}
	}
	return out
}

// pairWorker does tiles with buffers of its own.
type pairWorker struct {
	*pairs
	eps, underflow float64
	left, right    []float64 // rows of two blocks minus centre
	inner          []float64
}

func newPairWorker(p *pairs, eps, underflow float64) *pairWorker {
	r := p.c.width()
	return &pairWorker{p, eps, underflow, make([]float64, p.block*r), make([]float64, p.block*r), make([]float64, p.block*p.block)}
}

// rows sets dst to the rows of a block minus centre, and returns the first and their number.
func (w *pairWorker) rows(dst []float64, block int) (first int, m blas64.General) {
	c, r := w.c, w.c.width()
	first = block * w.block
	n := min(w.block, len(c.labels)-first)
	for i := range n {
		floats.SubTo(dst[i*r:(i+1)*r], c.points.RawRowView(first+i), c.centre)
	}
	return first, blas64.General{Rows: n, Cols: r, Stride: r, Data: dst}
}

// tile offers the rows of two blocks to each other. The bounds are those of searcher.block.
//
// A pair passes the first test if it passes for one of the two rows: with v = half[j] − inner, the row i demands
// v ≤ most[i] − half[i], the row j v ≤ most[j] − half[i].
func (w *pairWorker) tile(t [2]int) {
	i0, left := w.rows(w.left, t[0])
	j0, right := i0, left
	if t[1] != t[0] {
		j0, right = w.rows(w.right, t[1])
		product.Gemm(blas.NoTrans, blas.Trans, left, right, blas64.General{Rows: left.Rows, Cols: right.Rows, Stride: right.Rows, Data: w.inner})
	} else {
		product.Syrk(blas.NoTrans, left, blas64.Symmetric{Uplo: blas.Upper, N: left.Rows, Stride: left.Rows, Data: w.inner})
	}
	inGroup := t[1] >= w.lo && t[1] < w.hi
	// Of two locks the lower first, so that no two goroutines wait for each other.
	w.locks[t[0]-w.lo].Lock()
	defer w.locks[t[0]-w.lo].Unlock()
	if inGroup && t[1] != t[0] {
		w.locks[t[1]-w.lo].Lock()
		defer w.locks[t[1]-w.lo].Unlock()
	}
	h := right.Rows
	first := w.lo * w.block
	half, most, sq := w.half[j0:][:h], w.most[j0:][:h], w.c.sq[j0:][:h]
	for i := range left.Rows {
		from := 0
		if t[1] == t[0] {
			from = i + 1 // what is below the diagonal was not computed
		}
		own, ownSq := w.half[i0+i], w.c.sq[i0+i]
		b := &w.best[i0+i-first]
		limit := w.most[i0+i] - own
		inner := w.inner[i*h:][:h]
		for j := from; j < len(half) && j < len(inner) && j < len(most); j++ {
			if v := half[j] - inner[j]; v > limit && v > most[j]-own {
				continue
			}
			norms := ownSq + sq[j]
			mid, slack := norms-2*inner[j], w.eps*norms+w.underflow
			b.offer(j0+j, mid-slack, mid+slack)
			w.most[i0+i] = b.limit/2 + w.underflow
			limit = w.most[i0+i] - own
			if inGroup {
				b := &w.best[j0+j-first]
				b.offer(i0+i, mid-slack, mid+slack)
				most[j] = b.limit/2 + w.underflow
			}
		}
	}
}
