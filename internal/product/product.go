// Package product multiplies dense matrices fast, and gives the same bits on every machine
// that has fused multiply-adds in hardware.
//
// Each element of a product is one chain of fused multiply-adds over the inner index in ascending order. It begins with s = +0,
// or with what is there where a product is added; then s = math.FMA(x[l], y[l], s) for l = 0, 1, …. Neither the width of the
// registers nor the size of the blocks changes the chain. It follows that
//
//   - AVX-512 assembly, AVX2 assembly and pure Go give the same bits, on amd64, arm64 and other processors;
//   - a part of a product (some rows, some columns) has the bits of the whole, on however many cores: a large
//     product uses those that are idle (see package cores), and callers may divide one themselves;
//   - A·Aᵀ and Aᵀ·A are symmetric to the bit, and Syrk gives the bits of Gemm.
//
// What is NaN on one path is NaN on all; sign and payload of a NaN may differ.
//
// What has vectors (Symv, Gemv, GemvT, GerGemv, DotRows, Stairs, rows by index, Rotate) is of another kind: it takes the place of calls of gonum's kernels
// on amd64, and has their bits. Envelopes and SwapProduct go along vectors too, and have
// the bits of their formulas.
//
// # Paths
//
// The processor decides among four paths; Path tells which one it is.
//
//   - Processors of amd64 with AVX-512F run assembly for 512 bits, and that for AVX2 where one side of a product
//     is so short that a wide tile would mostly multiply zeros.
//   - Processors of amd64 with AVX2 and FMA run assembly for 256 bits.
//   - Other processors with fused multiply-adds (amd64 with FMA, arm64, loong64, ppc64, ppc64le,
//     riscv64, s390x) run pure Go.
//   - All others (amd64 without FMA, wasm, 386, arm, mips) would need a software math.FMA, more than
//     ten times as slow. They run gonum's product and give up equal bits. gonum also skips zeros of A:
//     there 0·Inf and 0·NaN can count as 0. It uses several goroutines.
//
// A lesser path can be had for a test: GODEBUG=cpu.avx512f=off, cpu.avx2=off and cpu.fma=off, which the package
// golang.org/x/sys/cpu reads, take away what they name; the build tag noasm leaves out all assembly.
//
// # Memory
//
// A call holds at most 2.4 MB of packed blocks on each core, whatever the size of the matrices; they are pooled. Matrices are
// those of gonum: mat.Dense has RawMatrix, mat.SymDense has RawSymmetric. Calls may run
// concurrently if their results do not overlap.
//
// # How it is built
//
// Each element is one chain of fused multiply-adds, in assembly as in pure Go, whatever the threads, blocks and
// parts. The generator of the assembly is a module of its own, so that avo is a dependency of nothing else; CI
// runs it.
//
// No kept library does this. The kernels of gonum are SSE2 without FMA. The product of vek is slower at order 2000
// and its fallback has other bits. kelindar/simd and tphakala/simd have vectors only. go-highway, tensai and
// gomlx/compute need GOEXPERIMENT=simd for AVX2, and gomlx/compute keeps its product internal.
package product

import (
	"fmt"
	"math"
	"runtime"
	"sync"
	"unsafe"

	"metriclab/internal/cores"

	"golang.org/x/sys/cpu"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// Gemm sets dst to op(a)·op(b), where op(x) is x for blas.NoTrans and xᵀ for blas.Trans or blas.ConjTrans.
// An inner dimension of 0 gives zeros. What dst held before has no influence. Gemm panics if
// the dimensions do not fit, if dst overlaps a or b, if a matrix is malformed, or if tA or tB is
// none of the three constants.
func Gemm(tA, tB blas.Transpose, a, b, dst blas64.General) {
	gemm(current, tA, tB, a, b, dst, false)
}

// GemmAdd adds op(a)·op(b) to dst: it is Gemm but that the chain of an element begins with what dst holds
// there, and that an inner dimension of 0 leaves dst.
func GemmAdd(tA, tB blas.Transpose, a, b, dst blas64.General) {
	gemm(current, tA, tB, a, b, dst, true)
}

func gemm(p path, tA, tB blas.Transpose, a, b, dst blas64.General, add bool) {
	check("a", a)
	check("b", b)
	check("dst", dst)
	left, right := lines(a, !transposed(tA)), lines(b, transposed(tB))
	if left.depth != right.depth {
		panic(fmt.Sprintf("product: inner dimensions %d of a and %d of b differ", left.depth, right.depth))
	}
	if dst.Rows != left.n || dst.Cols != right.n {
		panic(fmt.Sprintf("product: dst is %d×%d, the product is %d×%d", dst.Rows, dst.Cols, left.n, right.n))
	}
	if overlap(dst, a) || overlap(dst, b) {
		panic("product: dst overlaps a factor")
	}
	switch {
	case left.n == 0 || right.n == 0 || left.depth == 0 && add:
	case left.depth == 0:
		for i := range dst.Rows {
			clear(dst.Data[i*dst.Stride:][:dst.Cols])
		}
	case p == viaGonum:
		beta := 0.0
		if add {
			beta = 1
		}
		blas64.Gemm(tA, tB, 1, a, b, beta, dst)
	default:
		multiply(task{path: p, left: left, right: right, dst: dst, add: add})
	}
}

// Syrk sets the upper triangle of dst to a·aᵀ for t = blas.NoTrans, to aᵀ·a for blas.Trans or
// blas.ConjTrans, and leaves what is below the diagonal. It computes that triangle only. Syrk panics if
// dst.Uplo is not blas.Upper (which that of a mat.SymDense is), and as Gemm does.
func Syrk(t blas.Transpose, a blas64.General, dst blas64.Symmetric) {
	syrk(current, t, a, dst, false)
}

// SyrkAdd is to Syrk what GemmAdd is to Gemm.
func SyrkAdd(t blas.Transpose, a blas64.General, dst blas64.Symmetric) {
	syrk(current, t, a, dst, true)
}

func syrk(p path, t blas.Transpose, a blas64.General, dst blas64.Symmetric, add bool) {
	if dst.Uplo != blas.Upper {
		panic("product: dst.Uplo is not blas.Upper")
	}
	square := blas64.General{Rows: dst.N, Cols: dst.N, Stride: dst.Stride, Data: dst.Data}
	check("a", a)
	check("dst", square)
	factor := lines(a, !transposed(t))
	if dst.N != factor.n {
		panic(fmt.Sprintf("product: dst has order %d, the product has order %d", dst.N, factor.n))
	}
	if overlap(square, a) {
		panic("product: dst overlaps a factor")
	}
	switch {
	case factor.n == 0 || factor.depth == 0 && add:
	case factor.depth == 0:
		for i := range dst.N {
			clear(dst.Data[i*dst.Stride:][i:dst.N])
		}
	case p == viaGonum:
		beta := 0.0
		if add {
			beta = 1
		}
		blas64.Syrk(t, 1, a, beta, dst)
	default:
		multiply(task{path: p, left: factor, right: factor, dst: square, add: add, upper: true})
	}
}

// path is how products are computed.
type path int

const (
	viaGonum path = iota
	viaGo
	viaAVX2
	viaAVX512
)

var pathNames = [...]string{viaGonum: "gonum, without FMA", viaGo: "pure Go with FMA", viaAVX2: "AVX2 and FMA", viaAVX512: "AVX-512"}

var current = detect()

// detect returns the path of this processor. The package cpu reports AVX-512 and AVX2 only if
// the system saves their registers.
func detect() path {
	switch runtime.GOARCH {
	case "amd64":
		switch {
		case assembly && cpu.X86.HasAVX512F && cpu.X86.HasAVX2 && cpu.X86.HasFMA:
			return viaAVX512
		case assembly && cpu.X86.HasAVX2 && cpu.X86.HasFMA:
			return viaAVX2
		case cpu.X86.HasFMA:
			return viaGo
		}
	case "arm64", "loong64", "ppc64", "ppc64le", "riscv64", "s390x":
		return viaGo // the compiler makes one instruction of math.FMA
	}
	return viaGonum
}

// Path says how this processor multiplies: "AVX-512", "AVX2 and FMA", "pure Go with FMA", or "gonum, without FMA",
// whose bits differ from those of the others.
func Path() string { return pathNames[current] }

func transposed(t blas.Transpose) bool {
	switch t {
	case blas.NoTrans:
		return false
	case blas.Trans, blas.ConjTrans:
		return true
	}
	panic(fmt.Sprintf("product: %q is no blas.Transpose", rune(t)))
}

// check panics unless m is a matrix whose elements all lie in its data.
func check(name string, m blas64.General) {
	switch {
	case m.Rows < 0 || m.Cols < 0:
		panic(fmt.Sprintf("product: %s is %d×%d", name, m.Rows, m.Cols))
	case m.Rows == 0 || m.Cols == 0:
	case m.Stride < m.Cols:
		panic(fmt.Sprintf("product: %s has %d columns and a stride of %d", name, m.Cols, m.Stride))
	case len(m.Data) < m.Cols || (len(m.Data)-m.Cols)/m.Stride < m.Rows-1:
		panic(fmt.Sprintf("product: %s is %d×%d with a stride of %d, but has %d numbers", name, m.Rows, m.Cols, m.Stride, len(m.Data)))
	}
}

// overlap reports whether two matrices that passed check may share an element. It is exact where both have the
// same stride, as views of one matrix have.
func overlap(x, y blas64.General) bool {
	if x.Rows*x.Cols == 0 || y.Rows*y.Cols == 0 {
		return false
	}
	// first and last address of each
	x0, y0 := uintptr(unsafe.Pointer(&x.Data[0])), uintptr(unsafe.Pointer(&y.Data[0]))
	x1 := uintptr(unsafe.Pointer(&x.Data[(x.Rows-1)*x.Stride+x.Cols-1]))
	y1 := uintptr(unsafe.Pointer(&y.Data[(y.Rows-1)*y.Stride+y.Cols-1]))
	if x1 < y0 || y1 < x0 {
		return false
	}
	if x.Stride != y.Stride {
		return true
	}
	if x0 > y0 {
		x, x0, y0 = y, y0, x0
		y.Cols, x.Cols = x.Cols, y.Cols
	}
	apart := int((y0-x0)/8) % x.Stride // columns from the first of x to the first of y
	return apart < x.Cols || apart+y.Cols > x.Stride
}

// A factor is n lines of depth numbers: the rows of a left factor, the columns of a right one.
type factor struct {
	data   []float64
	stride int
	along  bool // a line is contiguous; otherwise the l-th numbers of all lines are
	n      int
	depth  int
}

// lines returns the rows of m as lines, or its columns.
func lines(m blas64.General, rows bool) factor {
	f := factor{data: m.Data, stride: m.Stride, along: rows, n: m.Rows, depth: m.Cols}
	if !rows {
		f.n, f.depth = m.Cols, m.Rows
	}
	return f
}

// The sizes of packed blocks, multiples of those of every tile. A block of the left factor stays in the second-level
// cache (288 KiB), a panel of the right one, of as many lines as a tile has columns, in the first (24 or 32 KiB).
const (
	blockRows  = 144
	blockDepth = 256
	blockCols  = 1008
)

// everyTile is a multiple of the columns of every tile.
const everyTile = 48

// A shape is that of a tile, whose sums stay in registers: 12 of 16 registers of 256 bits, 24 of 32 of 512 bits.
type shape struct{ rows, cols int }

var shapes = [...]shape{viaGo: {4, 12}, viaAVX2: {4, 12}, viaAVX512: {12, 16}}

// largest is the size of the largest tile.
const largest = 12 * 16

// filled returns how many numbers the tiles have that cover m rows and n columns.
func (s shape) filled(m, n int) int { return up(m, s.rows) * up(n, s.cols) }

// suited returns viaAVX2 instead of viaAVX512 where tiles of AVX-512 would cover at least twice as much, since a
// register of theirs holds twice as many numbers.
func (p path) suited(m, n int) path {
	if p == viaAVX512 && shapes[viaAVX512].filled(m, n) >= 2*shapes[viaAVX2].filled(m, n) {
		return viaAVX2
	}
	return p
}

// What several cores share takes one of them .1 ms or more: as many multiplications, or as many numbers to pack.
const (
	sharedWork  = 1 << 22
	sharedPacks = 1 << 17
)

// A task is to set dst to the products of all lines of the left factor with all of the right one, or, if add, to add
// them to it. If upper, what is below the diagonal of dst is left out. No dimension is 0.
type task struct {
	path
	left, right factor
	dst         blas64.General
	add, upper  bool
	width       int // of a stripe
}

func multiply(t task) {
	t.path = t.suited(t.left.n, t.right.n)
	n := divide(t.right.n, blockCols)
	t.width = up(divide(t.right.n, n), everyTile) // of equal width, since each packs the left factor
	if n > 1 && t.several(t.right.n, t.left.depth) {
		all := t                                           // so that a small task stays off the heap
		cores.Do(n, func(s int) { all.stripe(n - 1 - s) }) // of an upper triangle the last is the largest
		return
	}
	for s := range n {
		t.stripe(s)
	}
}

// several reports whether it is worth it that several cores share the product with n columns of so many numbers.
func (t *task) several(n, depth int) bool {
	work := float64(t.left.n) * float64(n) * float64(depth)
	if t.upper {
		work /= 2
	}
	return work >= sharedWork
}

// A stripe is n ≤ width ≤ blockCols columns of dst from j on.
type stripe struct {
	task
	j, n   int
	m      int // rows of dst
	height int // of a block of rows

	// What is multiplied: of each line the numbers l to l+depth. Those of the right factor are packed.
	l, depth int
	packed   []float64
}

var stripes = sync.Pool{New: func() any { return new(stripe) }}

// stripe does the s-th stripe of a task.
func (t task) stripe(s int) {
	w := stripes.Get().(*stripe)
	w.task, w.j = t, s*t.width
	defer func() {
		w.task = task{} // the pool keeps no matrix
		stripes.Put(w)
	}()
	w.n, w.m, w.height = min(t.width, t.right.n-w.j), t.left.n, blockRows
	if t.upper {
		w.m = min(w.m, w.j+w.n)
	}
	several := t.several(w.n, min(blockDepth, t.left.depth))
	if several { // blocks of equal size, two for each core
		blocks := up(divide(w.m, blockRows), 2*(cores.Idle()+1))
		w.height = min(w.height, max(up(divide(w.m, blocks), shapes[t.path].rows), 48))
	}
	w.packed = room(w.packed, up(w.n, shapes[t.path].cols)*min(blockDepth, t.left.depth))
	for w.l = 0; w.l < t.left.depth; w.l += blockDepth {
		w.depth = min(blockDepth, t.left.depth-w.l)
		chunks, blocks := divide(w.n, chunk), divide(w.m, w.height)
		if several && w.n*w.depth >= sharedPacks {
			cores.Do(chunks, w.pack)
		} else {
			for c := range chunks {
				w.pack(c)
			}
		}
		if several {
			cores.Do(blocks, w.block)
		} else {
			for b := range blocks {
				w.block(b)
			}
		}
	}
}

// chunk is how many lines of the right factor a core packs.
const chunk = 2 * everyTile

// pack packs a chunk of the right factor.
func (w *stripe) pack(c int) {
	c *= chunk
	w.path.pack(w.packed[c*w.depth:], w.right, w.j+c, min(chunk, w.n-c), w.l, w.depth, shapes[w.path].cols)
}

// workspace is what a goroutine needs of its own for a block of rows.
type workspace struct {
	left []float64 // packed
	edge [largest]float64
}

var workspaces = sync.Pool{New: func() any { return new(workspace) }}

// block packs a block of the left factor, and adds its product with what is packed of the right one to dst, or stores it.
func (w *stripe) block(b int) {
	own := workspaces.Get().(*workspace)
	defer workspaces.Put(own)
	rows, cols := shapes[w.path].rows, shapes[w.path].cols
	i, j, n, depth, dst, load := b*w.height, w.j, w.n, w.depth, w.dst, w.add || w.l > 0
	m := min(w.height, w.m-i)
	own.left = room(own.left, up(m, rows)*depth)
	w.path.pack(own.left, w.left, i, m, w.l, depth, rows)
	for c := 0; c < n; c += cols {
		b := w.packed[c*depth:][:cols*depth]
		for r := 0; r < m; r += rows {
			if w.upper && i+r >= j+c+cols {
				break
			}
			a := own.left[r*depth:][:rows*depth]
			at := (i+r)*dst.Stride + j + c
			if r+rows <= m && c+cols <= n && (!w.upper || i+r+rows-1 <= j+c) {
				tile(w.path, depth, a, b, dst.Data[at:], dst.Stride, load)
				continue
			}
			height, width := min(rows, m-r), min(cols, n-c)
			if load {
				for s := range height {
					copy(own.edge[s*cols:][:cols], dst.Data[at+s*dst.Stride:][:width])
				}
			}
			tile(w.path, depth, a, b, own.edge[:], cols, load)
			for s := range height {
				from := 0
				if w.upper {
					from = min(max(0, i+r+s-j-c), width)
				}
				copy(dst.Data[at+s*dst.Stride+from:][:width-from], own.edge[s*cols+from:])
			}
		}
	}
}

// divide returns n/d, rounded up.
func divide(n, d int) int { return (n + d - 1) / d }

// up returns the least multiple of d that is at least n.
func up(n, d int) int { return divide(n, d) * d }

// room returns size numbers, in buffer if that is large enough.
func room(buffer []float64, size int) []float64 {
	if cap(buffer) < size {
		buffer = make([]float64, size)
	}
	return buffer[:size]
}

// tile runs tileGo, or one of its twins in assembly.
func tile(p path, k int, a, b, c []float64, stride int, load bool) {
	s := shapes[p]
	_, _, _ = a[s.rows*k-1], b[s.cols*k-1], c[(s.rows-1)*stride+s.cols-1]
	switch p {
	case viaAVX512:
		tileAVX512(k, &a[0], &b[0], &c[0], stride, load)
	case viaAVX2:
		tileAVX2(k, &a[0], &b[0], &c[0], stride, load)
	default:
		tileGo(k, a, b, c, stride, load)
	}
}

// tileGo adds a product to the first 12 numbers of 4 rows of c, which are stride apart, or, unless load, stores it
// there. Of the factors, a has k columns of 4 numbers, b has k rows of 12.
func tileGo(k int, a, b, c []float64, stride int, load bool) {
	const rows, cols = 4, 12
	for j := 0; j < cols; j += 2 {
		c0, c1, c2, c3 := c[j:][:2], c[stride+j:][:2], c[2*stride+j:][:2], c[3*stride+j:][:2]
		var s00, s01, s10, s11, s20, s21, s30, s31 float64
		if load {
			s00, s01, s10, s11, s20, s21, s30, s31 = c0[0], c0[1], c1[0], c1[1], c2[0], c2[1], c3[0], c3[1]
		}
		for l := range k {
			x, y := (*[rows]float64)(a[l*rows:]), b[l*cols+j:][:2]
			s00, s01 = math.FMA(x[0], y[0], s00), math.FMA(x[0], y[1], s01)
			s10, s11 = math.FMA(x[1], y[0], s10), math.FMA(x[1], y[1], s11)
			s20, s21 = math.FMA(x[2], y[0], s20), math.FMA(x[2], y[1], s21)
			s30, s31 = math.FMA(x[3], y[0], s30), math.FMA(x[3], y[1], s31)
		}
		c0[0], c0[1], c1[0], c1[1], c2[0], c2[1], c3[0], c3[1] = s00, s01, s10, s11, s20, s21, s30, s31
	}
}

// pack sets buffer to n lines of f from i on, of each the numbers l to l+depth, as panels of width lines: the l-th
// numbers of all lines of a panel lie together. The last panel is filled up with zeros.
func (p path) pack(buffer []float64, f factor, i, n, l, depth, width int) {
	for j := 0; j < n; j += width {
		panel := buffer[j*depth:][:width*depth]
		if !f.along && width > 4 && j+width <= n { // the numbers of a panel lie together in each row
			p.copyRows(depth, f.data[l*f.stride+i+j:], f.stride, panel, width)
			continue
		}
		for q := 0; q < width; q += 4 { // four lines at a time; width is a multiple of 4
			from, done := i+j+q, 0
			if f.along && p >= viaAVX2 && j+q+4 <= n && depth >= 4 {
				done = depth &^ 3
				at := from*f.stride + l
				_, _ = f.data[at+3*f.stride+done-1], panel[q+(done-1)*width+3]
				packAVX2(done, &f.data[at], f.stride, &panel[q], width)
			}
			if done < depth {
				packFour(panel[q+done*width:], f, from, min(4, n-j-q), l+done, depth-done, width)
			}
		}
	}
}

// copyRows copies n ≥ 1 rows of width numbers, stride apart, to lie together.
func (p path) copyRows(n int, a []float64, stride int, to []float64, width int) {
	_, _ = a[(n-1)*stride+width-1], to[n*width-1]
	switch {
	case p >= viaAVX2 && width == shapes[viaAVX2].cols:
		copyAVX2(n, &a[0], stride, &to[0])
	case p == viaAVX512 && width == shapes[p].cols:
		copyAVX512(n, &a[0], stride, &to[0])
	default:
		for k := range n {
			copy(to[k*width:][:width], a[k*stride:])
		}
	}
}

// packFour packs n ≤ 4 lines; those that are missing are zeros.
func packFour(panel []float64, f factor, i, n, l, depth, width int) {
	switch {
	case n < 4:
		for k := range depth {
			four := panel[k*width:][:4]
			clear(four)
			for q := range max(n, 0) {
				if f.along {
					four[q] = f.data[(i+q)*f.stride+l+k]
				} else {
					four[q] = f.data[(l+k)*f.stride+i+q]
				}
			}
		}
	case f.along:
		x0, x1 := f.data[i*f.stride+l:][:depth], f.data[(i+1)*f.stride+l:][:depth]
		x2, x3 := f.data[(i+2)*f.stride+l:][:depth], f.data[(i+3)*f.stride+l:][:depth]
		for k := range x0 {
			four := panel[k*width:][:4]
			four[0], four[1], four[2], four[3] = x0[k], x1[k], x2[k], x3[k]
		}
	default:
		for k := range depth {
			to, from := panel[k*width:][:4], f.data[(l+k)*f.stride+i:][:4]
			to[0], to[1], to[2], to[3] = from[0], from[1], from[2], from[3]
		}
	}
}
