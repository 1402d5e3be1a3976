package itml

import (
	"cmp"
	"container/heap"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/product"
	"metriclab/internal/vector"
	"metriclab/pkg/metric"
)

// forest spans the objects that links join with s ≤ min(m, t − 1) of the m links, its edges. The difference
// φ(i) − φ(j) of any link is a sum of ± the differences v of edges, those on its path, so that the s×s matrix of
// vᵀWv' is all of W that the links see.
//
// Short edges come first, so that no edge on the path of a link is much longer than the link: the sum keeps the
// digits of the distance. Among edges of like length those near the root do, so that paths are short.
type forest struct {
	parent []int // of each object, −1 of a root
	edge   []int // from the object to its parent; −1 of a root
	depth  []int
	child  []int // of each edge
}

// likeLength is the number of binary digits of squared distances that the forest does not tell apart: those within a factor
// of 256 have like length.
const likeLength = 8

// candidate is a link from the tree to an object that may be outside.
type candidate struct{ class, depth, from, to int }

// candidates is a heap.
type candidates []candidate

func (c candidates) Len() int      { return len(c) }
func (c candidates) Swap(i, j int) { c[i], c[j] = c[j], c[i] }
func (c candidates) Less(i, j int) bool {
	a, b := c[i], c[j]
	return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.depth, b.depth), cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) < 0
}
func (c *candidates) Push(x any) { *c = append(*c, x.(candidate)) }
func (c *candidates) Pop() any {
	last := len(*c) - 1
	x := (*c)[last]
	*c = (*c)[:last]
	return x
}

// newForest returns the forest of links between t objects with the given squared distances (Prim's algorithm).
func newForest(t int, links []metric.Link, sq []float64) *forest {
	f := &forest{parent: slices.Repeat([]int{-1}, t), edge: slices.Repeat([]int{-1}, t), depth: make([]int, t)}
	largest := math.Ilogb(max(slices.Max(sq), math.SmallestNonzeroFloat64))
	type neighbour struct{ class, to int }
	near := make([][]neighbour, t)
	for k, l := range links {
		class := (math.Ilogb(max(sq[k], math.SmallestNonzeroFloat64)) - largest) / likeLength
		near[l.I] = append(near[l.I], neighbour{class, l.J})
		near[l.J] = append(near[l.J], neighbour{class, l.I})
	}
	seen := make([]bool, t)
	var next candidates
	enter := func(i int) {
		seen[i] = true
		for _, n := range near[i] {
			if !seen[n.to] {
				heap.Push(&next, candidate{n.class, f.depth[i], i, n.to})
			}
		}
	}
	for root := range t {
		if seen[root] {
			continue
		}
		for enter(root); len(next) > 0; {
			c := heap.Pop(&next).(candidate)
			if seen[c.to] {
				continue
			}
			f.parent[c.to], f.depth[c.to] = c.from, f.depth[c.from]+1
			f.edge[c.to] = len(f.child)
			f.child = append(f.child, c.to)
			enter(c.to)
		}
	}
	return f
}

// path calls visit with each edge on the path of the link and its sign in φ(i) − φ(j).
func (f *forest) path(l metric.Link, visit func(edge int, sign float64)) {
	i, j := l.I, l.J
	for i != j {
		if f.depth[i] >= f.depth[j] {
			visit(f.edge[i], 1)
			i = f.parent[i]
		} else {
			visit(f.edge[j], -1)
			j = f.parent[j]
		}
	}
}

// sum sets dst to the sum of ± the rows of x along the path of the link.
func (f *forest) sum(dst []float64, x *mat.Dense, l metric.Link) []float64 {
	clear(dst)
	f.path(l, func(e int, sign float64) {
		if row := x.RawRowView(e); sign > 0 {
			floats.Add(dst, row)
		} else {
			floats.Sub(dst, row)
		}
	})
	return dst
}

// gram returns the matrix of v·v' of the edges under the Gram matrix k of the objects.
func (f *forest) gram(k *mat.SymDense) *mat.SymDense {
	s, t := len(f.child), k.SymmetricDim()
	g := mat.NewSymDense(s, nil)
	diff := make([]float64, t)
	for e, i := range f.child {
		p := f.parent[i]
		for j := range diff {
			diff[j] = k.At(i, j) - k.At(p, j)
		}
		for o := e; o < s; o++ {
			j := f.child[o]
			g.SetSym(e, o, diff[j]-diff[f.parent[j]])
		}
	}
	return g
}

// vectors returns the v of each edge under the Gram matrix k of the objects, in as many dimensions as they span up to round-off.
func (f *forest) vectors(k *mat.SymDense) *mat.Dense {
	var chol mat.PivotedCholesky
	chol.Factorize(f.gram(k), -1)
	r := max(chol.Rank(), 1)
	u, pivots := chol.RawU(), chol.ColumnPivots(nil)
	v := mat.NewDense(len(f.child), r, nil)
	for at, e := range pivots {
		for i := range min(at+1, r) {
			v.Set(e, i, u.At(i, at))
		}
	}
	return v
}

// points returns the objects, each tree from its root, for the v of the edges.
func (f *forest) points(v *mat.Dense) *mat.Dense {
	_, r := v.Dims()
	x := mat.NewDense(len(f.parent), r, nil)
	for e, i := range f.child { // a parent comes before its children
		floats.AddTo(x.RawRowView(i), x.RawRowView(f.parent[i]), v.RawRowView(e))
	}
	return x
}

// forestForm is W as Q, the matrix of vᵀWv' of the edges of a forest, where the rank r of W is large, and not far below their
// number s. Steps are collected: those of a block of links are made on the p of these links alone, and are then added to Q
// together, as a product of matrices.
type forestForm struct {
	*forest
	ctx context.Context
	v   *mat.Dense // s×r, v of each edge
	z   *mat.Dense // s×r, Lv, W = LᵀL, since the start or the last remake
	q   *mat.Dense // s×s, since the last flush

	links []metric.Link // the block
	at    int           // its next link; those before have been moved past
	y     *mat.Dense    // a row Q·a of each link, a the signs of its path
	p     *mat.Dense    // aᵀQa' of links a ≤ a' of the block; row i counts the moves of those before i
	g     *mat.Dense    // a row for each move: it adds βuuᵀ to Q, u = Σ g·y
	moved []int         // links of the moves
	beta  []float64
	total []float64 // as long as a row of v

	left, right, change []float64 // of flush
}

// blockLinks is the number of links of a block: for fewer, the products are slower; for more, the steps.
const blockLinks = 128

func newForestForm(ctx context.Context, f *forest, v *mat.Dense) *forestForm {
	s, r := v.Dims()
	w := &forestForm{
		forest: f, ctx: ctx, v: v, q: mat.NewDense(s, s, nil),
		y: mat.NewDense(blockLinks, s, nil), p: mat.NewDense(blockLinks, blockLinks, nil), g: mat.NewDense(blockLinks, blockLinks, nil),
		total: make([]float64, r),
		left:  make([]float64, blockLinks*s), right: make([]float64, blockLinks*s), change: make([]float64, updateRows*s),
	}
	w.set(v)
	return w
}

// set sets Q to zzᵀ.
func (w *forestForm) set(z *mat.Dense) {
	w.z = z
	s, _ := z.Dims()
	q := w.q.RawMatrix()
	product.Syrk(blas.NoTrans, z.RawMatrix(), blas64.Symmetric{N: s, Stride: q.Stride, Data: q.Data, Uplo: blas.Upper})
	w.mirror(0, s)
}

// mirrorTile is the edge of the squares that mirror takes at a time, for the sake of the cache.
const mirrorTile = 32

// mirror copies rows top to end of Q, from the diagonal on, to below the diagonal.
func (w *forestForm) mirror(top, end int) {
	q := w.q.RawMatrix()
	for i0 := top; i0 < end; i0 += mirrorTile {
		for j0 := i0; j0 < q.Cols; j0 += mirrorTile {
			for j := j0; j < min(j0+mirrorTile, q.Cols); j++ {
				row := q.Data[j*q.Stride:]
				for i := i0; i < min(i0+mirrorTile, end, j); i++ {
					row[i] = q.Data[i*q.Stride+j]
				}
			}
		}
	}
}

func (w *forestForm) ahead(links []metric.Link) {
	w.flush()
	w.links = links
	w.load()
}

// load makes the block of its links from Q.
func (w *forestForm) load() {
	w.at, w.moved, w.beta = 0, w.moved[:0], w.beta[:0]
	for i, l := range w.links {
		y := w.sum(w.y.RawRowView(i), w.q, l)
		for j, o := range w.links[:i+1] {
			var p float64
			w.path(o, func(e int, sign float64) { p += sign * y[e] })
			w.p.Set(j, i, p)
		}
	}
}

func (w *forestForm) sqDist(l metric.Link) float64 {
	w.at += slices.Index(w.links[w.at:], l)
	return w.p.At(w.at, w.at)
}

func (w *forestForm) update(beta float64) {
	b, at := len(w.links), w.at
	g := w.g.RawRowView(len(w.moved))
	clear(g)
	for k, i := range w.moved {
		floats.AddScaled(g[:at], w.beta[k]*w.p.At(i, at), w.g.RawRowView(k)[:at])
	}
	g[at] = 1
	w.moved, w.beta = append(w.moved, at), append(w.beta, beta)
	row := w.p.RawRowView(at)
	for i := at + 1; i < b; i++ {
		if c := beta * row[i]; c != 0 {
			blas64.Axpy(c, vector.Of(row[i:b]), vector.Of(w.p.RawRowView(i)[i:b]))
		}
	}
	w.at++
}

// updateRows is how many rows of Q flush changes at a time.
const updateRows = 192

// flush adds the moves to Q.
func (w *forestForm) flush() {
	n, b, s := len(w.moved), len(w.links), len(w.child)
	if n == 0 {
		return
	}
	general := func(data []float64, rows, cols int) blas64.General {
		return blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: data[:rows*cols]}
	}
	// Both factors have the root of β, and one its sign, so that the product is symmetric to the bit.
	right := general(w.right, n, s)
	product.Gemm(blas.NoTrans, blas.NoTrans,
		w.g.Slice(0, n, 0, b).(*mat.Dense).RawMatrix(), w.y.Slice(0, b, 0, s).(*mat.Dense).RawMatrix(), right)
	left := general(w.left, n, s)
	for k, beta := range w.beta {
		row := right.Data[k*s : (k+1)*s]
		floats.Scale(math.Sqrt(math.Abs(beta)), row)
		floats.ScaleTo(left.Data[k*s:(k+1)*s], math.Copysign(1, beta), row)
	}
	for top := 0; top < s; top += updateRows {
		end := min(top+updateRows, s)
		add := general(w.change, end-top, s-top)
		product.Gemm(blas.Trans, blas.NoTrans,
			blas64.General{Rows: n, Cols: end - top, Stride: s, Data: left.Data[top:]},
			blas64.General{Rows: n, Cols: s - top, Stride: s, Data: right.Data[top:]}, add)
		for i := top; i < end; i++ {
			floats.Add(w.q.RawRowView(i)[i:], add.Data[(i-top)*add.Stride+i-top:(i-top+1)*add.Stride])
		}
		w.mirror(top, end)
	}
	w.moved, w.beta = w.moved[:0], w.beta[:0]
}

func (w *forestForm) exact(l metric.Link) float64 {
	d := w.sum(w.total, w.z, l)
	return vector.Dot(d, d)
}

func (w *forestForm) remake(links []metric.Link, c []float64) bool {
	s, r := w.v.Dims()
	inv, ok := precisionRoot(w.ctx, r, nil, func(dst []float64, l metric.Link) []float64 { return w.sum(dst, w.v, l) }, links, c)
	if !ok {
		return false
	}
	z := mat.NewDense(s, r, nil) // L = R⁻ᵀ
	product.Gemm(blas.NoTrans, blas.NoTrans, w.v.RawMatrix(), mat.DenseCopyOf(inv).RawMatrix(), z.RawMatrix())
	w.set(z)
	w.load()
	return true
}
