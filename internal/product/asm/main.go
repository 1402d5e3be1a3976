// Command asm writes the assembly of package product: go generate in the folder above.
// It is a module of its own, so that nobody who uses metriclab needs avo.
package main

import (
	"fmt"
	"math/bits"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	size      = 8  // bytes of a number
	unroll    = 4  // steps of k in one pass of the loop
	cacheLine = 64 // bytes
)

func main() {
	build.ConstraintExpr("!noasm")
	tile("AVX2", "AVX2 and FMA", 4, 12, 4, false, build.YMM, func(r reg.VecVirtual) { build.VXORPD(r, r, r) })
	// VXORPD would need AVX512DQ.
	tile("AVX512", "AVX-512F", 12, 16, 8, true, build.ZMM, func(r reg.VecVirtual) { build.VPXORQ(r, r, r) })
	rows("symvAVX2", true, true)
	rows("symvDotsAVX2", true, false)
	rows("symvSumAVX2", false, true)
	gemv("gemvAVX2", false, false)
	gemv("gemvBothAVX2", false, true)
	gemv("gerGemvAVX2", true, false)
	gemv("gerGemvBothAVX2", true, true)
	someRows("addRowsAVX2", false)
	someRows("addToRowsAVX2", true)
	pack()
	copyRows("copyAVX2", 12, 4, build.YMM)
	copyRows("copyAVX512", 16, 8, build.ZMM)
	dots("dotRowsAVX2", false)
	dots("dotsAtAVX2", true)
	chains()
	rotate()
	addScaled()
	hinges()
	swapProduct()
	build.Generate()
}

// tile writes a function for tiles of rows × cols numbers, in registers of so many lanes. Rows is a multiple of 4. With ahead, it has
// the rows of c that follow fetched into the cache, one in each pass of the loop: they are those of the next tile.
func tile(name, needs string, rows, cols, lanes int, ahead bool, register func() reg.VecVirtual, zero func(reg.VecVirtual)) {
	build.TEXT("tile"+name, build.NOSPLIT, "func(k int, a, b, c *float64, stride int, load bool)")
	build.Pragma("noescape")
	build.Doc(fmt.Sprintf("tile%s is tileGo with %s: c points at the first of %d rows of %d numbers, stride numbers apart.", name, needs, rows, cols))
	k := build.Load(build.Param("k"), build.GP64())
	a := build.Load(build.Param("a"), build.GP64())
	b := build.Load(build.Param("b"), build.GP64())
	c := build.Load(build.Param("c"), build.GP64())
	stride := build.Load(build.Param("stride"), build.GP64())
	load := build.Load(build.Param("load"), build.GP8())
	build.SHLQ(operand.Imm(3), stride) // in bytes
	// Every second row has a pointer.
	pointers := []reg.Register{c}
	for len(pointers) < rows/2 {
		next := build.GP64()
		build.LEAQ(operand.Mem{Base: pointers[len(pointers)-1], Index: stride, Scale: 2}, next)
		pointers = append(pointers, next)
	}
	at := func(row, lane int) operand.Mem {
		m := operand.Mem{Base: pointers[row/2], Disp: lane * lanes * size}
		if row%2 == 1 {
			m.Index, m.Scale = stride, 1
		}
		return m
	}
	next, left := build.GP64(), build.GP64() // the next row to fetch, and how many are left
	if ahead {
		build.LEAQ(operand.Mem{Base: pointers[len(pointers)-1], Index: stride, Scale: 2}, next)
		build.MOVQ(operand.U32(rows), left)
	}
	sums := make([][]reg.VecVirtual, rows)
	for i := range sums {
		sums[i] = make([]reg.VecVirtual, cols/lanes)
		for j := range sums[i] {
			sums[i][j] = register()
		}
	}
	each := func(f func(i, j int)) {
		for i := range sums {
			for j := range sums[i] {
				f(i, j)
			}
		}
	}

	build.Comment("The chains begin with 0, or go on from c.")
	build.TESTB(load, load)
	build.JZ(operand.LabelRef("zero"))
	each(func(i, j int) { build.VMOVUPD(at(i, j), sums[i][j]) })
	build.JMP(operand.LabelRef("start"))
	build.Label("zero")
	each(func(i, j int) { zero(sums[i][j]) })

	step := func(u int) {
		right := make([]reg.VecVirtual, cols/lanes)
		for j := range right {
			right[j] = register()
			build.VMOVUPD(operand.Mem{Base: b, Disp: (u*cols + j*lanes) * size}, right[j])
		}
		for i := range rows {
			left := register()
			build.VBROADCASTSD(operand.Mem{Base: a, Disp: (u*rows + i) * size}, left)
			for j := range right {
				build.VFMADD231PD(left, right[j], sums[i][j])
			}
		}
	}
	advance := func(n int) {
		build.ADDQ(operand.U32(n*rows*size), a)
		build.ADDQ(operand.U32(n*cols*size), b)
	}
	build.Label("start")
	build.SUBQ(operand.Imm(unroll), k)
	build.JL(operand.LabelRef("rest"))
	build.Label("loop")
	if ahead {
		build.DECQ(left)
		build.JS(operand.LabelRef("fetched"))
		for line := 0; line < cols*size; line += cacheLine {
			build.PREFETCHT0(operand.Mem{Base: next, Disp: line})
		}
		build.ADDQ(stride, next)
		build.Label("fetched")
	}
	for u := range unroll {
		step(u)
	}
	advance(unroll)
	build.SUBQ(operand.Imm(unroll), k)
	build.JGE(operand.LabelRef("loop"))
	build.Label("rest")
	build.ADDQ(operand.Imm(unroll), k)
	build.JZ(operand.LabelRef("store"))
	build.Label("single")
	step(0)
	advance(1)
	build.DECQ(k)
	build.JNZ(operand.LabelRef("single"))

	build.Label("store")
	each(func(i, j int) { build.VMOVUPD(sums[i][j], at(i, j)) })
	build.VZEROUPPER()
	build.RET()
}

// four returns where four rows begin that are stride bytes apart, and the register that points at the third.
func four(first, stride reg.Register) (third reg.Register, rows []operand.Mem) {
	third = build.GP64()
	build.LEAQ(operand.Mem{Base: first, Index: stride, Scale: 2}, third)
	return third, []operand.Mem{{Base: first}, {Base: first, Index: stride, Scale: 1}, {Base: third}, {Base: third, Index: stride, Scale: 1}}
}

// rows writes a function that Symv runs on four rows at a time: with their dot products, their sum, or both. It has each row fetched
// ahead of its use: what the processor fetches by itself keeps half of the memory's pace.
func rows(name string, dot, sum bool) {
	const lanes = 4
	build.TEXT(name, build.NOSPLIT, "func(n int, a *float64, stride, ahead int, x, c, y, sums *float64)")
	build.Pragma("noescape")
	doc := name + " reads 4 rows of n numbers, n a multiple of 4, that are stride apart, and fetches those ahead numbers further on. Products are rounded."
	if dot {
		doc += " To 4 of the 16 sums it adds a row's products with x."
	}
	if sum {
		doc += " To y it adds the rows, each times one of the 4 numbers of c."
	}
	build.Doc(doc)
	n := build.Load(build.Param("n"), build.GP64())
	a := build.Load(build.Param("a"), build.GP64())
	stride := build.Load(build.Param("stride"), build.GP64())
	next := build.Load(build.Param("ahead"), build.GP64())
	x := build.Load(build.Param("x"), build.GP64())
	c := build.Load(build.Param("c"), build.GP64())
	y := build.Load(build.Param("y"), build.GP64())
	to := build.Load(build.Param("sums"), build.GP64())
	build.SHLQ(operand.Imm(3), stride) // in bytes
	third, row := four(a, stride)
	build.LEAQ(operand.Mem{Base: a, Index: next, Scale: size}, next)
	nextThird, fetched := four(next, stride)
	sums, factors := make([]reg.VecVirtual, len(row)), make([]reg.VecVirtual, len(row))
	for i := range row {
		if dot {
			sums[i] = build.YMM()
			build.VMOVUPD(operand.Mem{Base: to, Disp: i * lanes * size}, sums[i])
		}
		if sum {
			factors[i] = build.YMM()
			build.VBROADCASTSD(operand.Mem{Base: c, Disp: i * size}, factors[i])
		}
	}
	step := func(u int) {
		right, out := build.YMM(), build.YMM()
		if dot {
			build.VMOVUPD(operand.Mem{Base: x, Disp: u * lanes * size}, right)
		}
		if sum {
			build.VMOVUPD(operand.Mem{Base: y, Disp: u * lanes * size}, out)
		}
		for i, m := range row {
			m.Disp = u * lanes * size
			left, product := build.YMM(), build.YMM()
			build.VMOVUPD(m, left)
			if dot {
				build.VMULPD(left, right, product)
				build.VADDPD(product, sums[i], sums[i])
			}
			if sum {
				build.VMULPD(left, factors[i], left)
				build.VADDPD(left, out, out)
			}
		}
		if sum {
			build.VMOVUPD(out, operand.Mem{Base: y, Disp: u * lanes * size})
		}
	}
	advance := func(n int) {
		for _, p := range []reg.Register{a, third, next, nextThird, x, y} {
			build.ADDQ(operand.U32(n*lanes*size), p)
		}
	}
	build.SUBQ(operand.Imm(2*lanes), n)
	build.JL(operand.LabelRef("rest"))
	build.Label("loop")
	for _, m := range fetched {
		build.PREFETCHT0(m)
	}
	step(0)
	step(1)
	advance(2) // a cache line
	build.SUBQ(operand.Imm(2*lanes), n)
	build.JGE(operand.LabelRef("loop"))
	build.Label("rest")
	build.ADDQ(operand.Imm(2*lanes), n)
	build.JZ(operand.LabelRef("store"))
	step(0)
	build.Label("store")
	if dot {
		for i := range row {
			build.VMOVUPD(sums[i], operand.Mem{Base: to, Disp: i * lanes * size})
		}
	}
	build.VZEROUPPER()
	build.RET()
}

// gemv writes a function that reads a matrix A by four rows at a time, updates it by s·tᵀ, and multiplies it by x and, with both, its
// transpose by c. A product with x is a sum of two chains as in gonum's Dgemv, of the even columns and of the odd ones, to which a last
// column without a fellow is added in the end. Two rows share a register.
func gemv(name string, update, both bool) {
	const rows, lanes = 4, 4
	build.TEXT(name, build.NOSPLIT, "func(m, n int, a *float64, stride int, s, t, x, y, c, z *float64)")
	build.Pragma("noescape")
	doc := name + " adds Ax to y, A being m×n, with m ≥ 4 a multiple of 4."
	if update {
		doc += " Before, it adds stᵀ to A."
	}
	if both {
		doc += " It adds Aᵀc to z."
	}
	build.Doc(doc + " Products are rounded.")
	m := build.Load(build.Param("m"), build.GP64())
	a := build.Load(build.Param("a"), build.GP64())
	stride := build.Load(build.Param("stride"), build.GP64())
	build.SHLQ(operand.Imm(3), stride) // in bytes
	x, y := build.GP64(), build.Load(build.Param("y"), build.GP64())
	var s, t, c, z reg.Register
	at, moving := build.GP64(), []reg.Register{x} // moving are those that go along the columns
	if update {
		s, t = build.Load(build.Param("s"), build.GP64()), build.GP64()
		moving = append(moving, t)
	}
	if both {
		c, z = build.Load(build.Param("c"), build.GP64()), build.GP64()
		moving = append(moving, z)
	}
	load := func(name string, r reg.Register) { build.Load(build.Param(name), r) }
	left := build.GP64() // columns

	build.Label("rows")
	build.MOVQ(a, at)
	third, row := four(at, stride)
	build.LEAQ(operand.Mem{Base: third, Index: stride, Scale: 2}, a)
	load("x", x)
	broadcast := func(p reg.Register) (out []reg.VecVirtual) {
		for i := range rows {
			out = append(out, build.YMM())
			build.VBROADCASTSD(operand.Mem{Base: p, Disp: i * size}, out[i])
		}
		return out
	}
	var by, factors []reg.VecVirtual
	if update {
		load("t", t)
		by = broadcast(s)
	}
	if both {
		load("z", z)
		factors = broadcast(c)
	}
	sums := make([]reg.VecVirtual, rows/2)
	for i := range sums {
		sums[i] = build.YMM()
		build.VXORPD(sums[i], sums[i], sums[i])
	}
	load("n", left)
	advance := func(columns int) {
		for _, p := range append(moving, at, third) {
			build.ADDQ(operand.Imm(uint64(columns*size)), p)
		}
	}
	// step does four columns, or with half two.
	step := func(half bool) {
		register := build.YMM
		if half {
			register = build.XMM
		}
		as := func(r reg.VecVirtual) reg.VecVirtual {
			if half {
				return r.AsX().(reg.VecVirtual)
			}
			return r
		}
		right, out := register(), register()
		build.VMOVUPD(operand.Mem{Base: x}, right)
		if both {
			build.VMOVUPD(operand.Mem{Base: z}, out)
		}
		spare, even := build.YMM(), build.YMM() // even has the products of the row before
		w := as(spare)
		for i := range rows {
			p := even
			if i%2 == 1 {
				p = build.YMM()
			}
			if update || both {
				if update {
					build.VMULPD(operand.Mem{Base: t}, as(by[i]), w)
					build.VADDPD(row[i], w, w)
					build.VMOVUPD(w, row[i])
				} else {
					build.VMOVUPD(row[i], w)
				}
				build.VMULPD(w, right, as(p))
				if both {
					build.VMULPD(w, as(factors[i]), w)
					build.VADDPD(w, out, out)
				}
			} else {
				build.VMULPD(row[i], right, as(p))
			}
			if i%2 == 0 {
				continue
			}
			sum := sums[i/2]
			if half {
				build.VINSERTF128(operand.Imm(1), as(p), even, even)
				build.VADDPD(even, sum, sum)
				continue
			}
			build.VPERM2F128(operand.Imm(0x20), p, even, spare) // the first two columns of both rows
			build.VPERM2F128(operand.Imm(0x31), p, even, p)
			build.VADDPD(spare, sum, sum)
			build.VADDPD(p, sum, sum)
		}
		if both {
			build.VMOVUPD(out, operand.Mem{Base: z})
		}
	}
	build.SUBQ(operand.Imm(lanes), left)
	build.JL(operand.LabelRef("rest"))
	build.Label("columns")
	step(false)
	advance(lanes)
	build.SUBQ(operand.Imm(lanes), left)
	build.JGE(operand.LabelRef("columns"))
	build.Label("rest")
	build.TESTQ(operand.U32(2), left) // left is four less than what is left
	build.JZ(operand.LabelRef("sum"))
	step(true)
	advance(2)
	build.Label("sum")
	total := sums[0]
	build.VHADDPD(sums[1], total, total)
	build.VPERMPD(operand.Imm(0xd8), total, total)
	build.TESTQ(operand.U32(1), left)
	build.JZ(operand.LabelRef("store"))
	build.Comment("The last column, of which no row has a fellow.")
	w, high := sums[1], build.XMM()
	low := w.AsX()
	halves := []reg.Register{low, high}
	for i, half := range halves {
		build.VMOVSD(row[2*i], half)
		build.VMOVHPD(row[2*i+1], half, half)
	}
	build.VINSERTF128(operand.Imm(1), high, w, w)
	if update {
		product := build.YMM()
		build.VBROADCASTSD(operand.Mem{Base: t}, product)
		build.VMULPD(operand.Mem{Base: s}, product, product)
		build.VADDPD(product, w, w)
		build.VEXTRACTF128(operand.Imm(1), w, high)
		for i, half := range halves {
			build.VMOVLPD(half, row[2*i])
			build.VMOVHPD(half, row[2*i+1])
		}
	}
	right := build.YMM()
	build.VBROADCASTSD(operand.Mem{Base: x}, right)
	build.VMULPD(w, right, right)
	build.VADDPD(right, total, total)
	if both {
		out := build.XMM()
		build.VMOVSD(operand.Mem{Base: z}, out)
		build.VMULPD(operand.Mem{Base: c}, w, w)
		build.VEXTRACTF128(operand.Imm(1), w, high)
		for _, half := range halves {
			build.VADDSD(half, out, out)
			build.VUNPCKHPD(half, half, half)
			build.VADDSD(half, out, out)
		}
		build.VMOVSD(out, operand.Mem{Base: z})
	}
	build.Label("store")
	build.VADDPD(operand.Mem{Base: y}, total, total)
	build.VMOVUPD(total, operand.Mem{Base: y})
	build.ADDQ(operand.U32(rows*size), y)
	if update {
		build.ADDQ(operand.U32(rows*size), s)
	}
	if both {
		build.ADDQ(operand.U32(rows*size), c)
	}
	build.SUBQ(operand.U32(rows), m)
	build.JNZ(operand.LabelRef("rows"))
	build.VZEROUPPER()
	build.RET()
}

// someRows writes a function for the rows of a matrix A whose indices are given: it adds their multiples to a vector, or with to,
// multiples of a vector to them. It goes over all rows for 16 columns at a time, and then for 4.
func someRows(name string, to bool) {
	const lanes = 4
	build.TEXT(name, build.NOSPLIT, "func(n int, at *int32, c *float64, cols int, a *float64, stride, rows int, x *float64) (done bool)")
	build.Pragma("noescape")
	doc := "adds to x, of cols numbers, the rows of A with the n ≥ 1 indices at, each times a number of c"
	if to {
		doc = "adds x, of cols numbers, to the rows of A with the n ≥ 1 indices at, each time times a number of c"
	}
	build.Doc(name + " " + doc + ". Cols is a multiple of 4, and products are rounded. It ends at an index that is none of so many rows, and reports whether there is none.")
	cols := build.Load(build.Param("cols"), build.GP64())
	a := build.Load(build.Param("a"), build.GP64())
	stride := build.Load(build.Param("stride"), build.GP64())
	x := build.Load(build.Param("x"), build.GP64())
	count := build.Load(build.Param("rows"), build.GP64())
	done := build.GP8()
	build.XORB(done, done)
	build.SHLQ(operand.Imm(3), stride) // in bytes
	n, at, c, row := build.GP64(), build.GP64(), build.GP64(), build.GP64()
	for _, width := range []int{16, 4} {
		label := func(s string) string { return fmt.Sprint(s, width) }
		build.Label(label("columns"))
		build.SUBQ(operand.U32(width), cols)
		build.JL(operand.LabelRef(label("next")))
		build.Load(build.Param("n"), n)
		build.Load(build.Param("at"), at)
		build.Load(build.Param("c"), c)
		vector := make([]reg.VecVirtual, width/lanes)
		for i := range vector {
			vector[i] = build.YMM()
			build.VMOVUPD(operand.Mem{Base: x, Disp: i * lanes * size}, vector[i])
		}
		build.Label(label("rows"))
		build.MOVLQSX(operand.Mem{Base: at}, row)
		build.CMPQ(row, count)
		build.JAE(operand.LabelRef("end"))
		build.IMULQ(stride, row)
		factor := build.YMM()
		build.VBROADCASTSD(operand.Mem{Base: c}, factor)
		for i, v := range vector {
			m, t := operand.Mem{Base: a, Index: row, Scale: 1, Disp: i * lanes * size}, build.YMM()
			if to {
				build.VMULPD(v, factor, t)
				build.VADDPD(m, t, t)
				build.VMOVUPD(t, m)
			} else {
				build.VMULPD(m, factor, t)
				build.VADDPD(t, v, v)
			}
		}
		build.ADDQ(operand.Imm(4), at)
		build.ADDQ(operand.Imm(size), c)
		build.DECQ(n)
		build.JNZ(operand.LabelRef(label("rows")))
		if !to {
			for i, v := range vector {
				build.VMOVUPD(v, operand.Mem{Base: x, Disp: i * lanes * size})
			}
		}
		build.ADDQ(operand.U32(width*size), x)
		build.ADDQ(operand.U32(width*size), a)
		build.JMP(operand.LabelRef(label("columns")))
		build.Label(label("next"))
		build.ADDQ(operand.U32(width), cols)
	}
	build.INCB(done)
	build.Label("end")
	build.Store(done, build.ReturnIndex(0))
	build.VZEROUPPER()
	build.RET()
}

// pack writes the function that packs four lines that lie along the rows of a matrix.
func pack() {
	build.TEXT("packAVX2", build.NOSPLIT, "func(n int, a *float64, stride int, to *float64, width int)")
	build.Pragma("noescape")
	build.Doc("packAVX2 transposes 4 rows of n numbers, n a multiple of 4 and at least 4, that are stride apart, to n rows of 4, width apart.")
	n := build.Load(build.Param("n"), build.GP64())
	a := build.Load(build.Param("a"), build.GP64())
	stride := build.Load(build.Param("stride"), build.GP64())
	to := build.Load(build.Param("to"), build.GP64())
	width := build.Load(build.Param("width"), build.GP64())
	build.SHLQ(operand.Imm(3), stride) // in bytes
	build.SHLQ(operand.Imm(3), width)
	third, from := four(a, stride)
	second, into := four(to, width)
	build.Label("loop")
	var x, y [4]reg.VecVirtual
	for i, m := range from {
		x[i], y[i] = build.YMM(), build.YMM()
		build.VMOVUPD(m, x[i])
	}
	build.VUNPCKLPD(x[1], x[0], y[0]) // columns 0 and 2 of the first two rows
	build.VUNPCKHPD(x[1], x[0], y[1])
	build.VUNPCKLPD(x[3], x[2], y[2])
	build.VUNPCKHPD(x[3], x[2], y[3])
	for i, m := range into {
		halves := operand.Imm(0x20)
		if i >= 2 {
			halves = operand.Imm(0x31)
		}
		build.VPERM2F128(halves, y[2+i%2], y[i%2], x[i])
		build.VMOVUPD(x[i], m)
	}
	for _, p := range []reg.Register{a, third} {
		build.ADDQ(operand.U32(4*size), p)
	}
	for _, p := range []reg.Register{to, second} {
		build.LEAQ(operand.Mem{Base: p, Index: width, Scale: 4}, p)
	}
	build.SUBQ(operand.Imm(4), n)
	build.JNZ(operand.LabelRef("loop"))
	build.VZEROUPPER()
	build.RET()
}

// dots writes a function of dot products with rows of a matrix A: all of them, or those whose indices are given.
func dots(name string, indexed bool) {
	signature, doc := "func(m, n int, x, a *float64, stride int, out *float64)", "all m rows of A, m ≥ 4 a multiple of 4, with the bits of gonum's dot product."
	if indexed {
		signature, doc = "func(m int, at *int32, n int, x, a *float64, stride, rows int, out *float64) (left int)", "the rows of A that have the m indices at, m ≥ 4 a multiple of 4, with the bits of gonum's dot product. At the first four of which one is none of so many rows it ends; it returns how many numbers are not set."
	}
	build.TEXT(name, build.NOSPLIT, signature)
	build.Pragma("noescape")
	build.Doc(name + " sets m numbers of out to the products of x, of length n, with " + doc)
	m := build.Load(build.Param("m"), build.GP64())
	a := build.Load(build.Param("a"), build.GP64())
	stride := build.Load(build.Param("stride"), build.GP64())
	out := build.Load(build.Param("out"), build.GP64())
	build.SHLQ(operand.Imm(3), stride) // in bytes
	var at, count reg.Register
	if indexed {
		at, count = build.Load(build.Param("at"), build.GP64()), build.Load(build.Param("rows"), build.GP64())
	}
	build.Label("four")
	pointers := []reg.Register{build.Load(build.Param("x"), build.GP64())}
	for i := range 4 {
		row := build.GP64()
		if indexed {
			build.MOVLQSX(operand.Mem{Base: at, Disp: 4 * i}, row)
			build.CMPQ(row, count)
			build.JAE(operand.LabelRef("end"))
			build.IMULQ(stride, row)
			build.ADDQ(a, row)
		} else {
			build.MOVQ(a, row)
			build.ADDQ(stride, a)
		}
		pointers = append(pointers, row)
	}
	n := build.Load(build.Param("n"), build.GP64())
	sums, j := chain(n, pointers)
	closeChains(n, j, pointers, sums, out)
	build.ADDQ(operand.Imm(4*size), out)
	if indexed {
		build.ADDQ(operand.Imm(4*4), at)
	}
	build.SUBQ(operand.Imm(4), m)
	build.JNZ(operand.LabelRef("four"))
	if indexed {
		build.Label("end")
		build.Store(m, build.ReturnIndex(0))
	}
	build.VZEROUPPER()
	build.RET()
}

// chains writes the function of the chains of four dot products with one vector.
func chains() {
	build.TEXT("chainsAVX2", build.NOSPLIT, "func(n int, x, a, b, c, d, out *float64)")
	build.Pragma("noescape")
	build.Doc("chainsAVX2 sets 4×4 numbers of out to the chains of the products of x with a, b, c and d, all of length n, a multiple of 4, as in gonum's dot product.")
	n := build.Load(build.Param("n"), build.GP64())
	var pointers []reg.Register
	for _, name := range []string{"x", "a", "b", "c", "d"} {
		pointers = append(pointers, build.Load(build.Param(name), build.GP64()))
	}
	out := build.Load(build.Param("out"), build.GP64())
	sums, _ := chain(n, pointers)
	for i, sum := range sums {
		build.VMOVUPD(sum, operand.Mem{Base: out, Disp: i * 4 * size})
	}
	build.VZEROUPPER()
	build.RET()
}

// chain adds up four chains for each of four products of the vector at the first pointer, as gonum's dot product does. It leaves
// in n what is left, less 4, and in at how many bytes of each vector are done.
func chain(n reg.Register, pointers []reg.Register) (sums [4]reg.VecVirtual, at reg.Register) {
	const lanes = 4
	at = build.GP64()
	build.XORQ(at, at)
	for i := range sums {
		sums[i] = build.YMM()
		build.VXORPD(sums[i], sums[i], sums[i])
	}
	build.SUBQ(operand.Imm(lanes), n)
	build.JL(operand.LabelRef("rest"))
	build.Label("loop")
	left := build.YMM()
	build.VMOVUPD(operand.Mem{Base: pointers[0], Index: at, Scale: 1}, left)
	for i, p := range pointers[1:] {
		t := build.YMM()
		build.VMULPD(operand.Mem{Base: p, Index: at, Scale: 1}, left, t)
		build.VADDPD(t, sums[i], sums[i])
	}
	build.ADDQ(operand.Imm(lanes*size), at)
	build.SUBQ(operand.Imm(lanes), n)
	build.JGE(operand.LabelRef("loop"))
	build.Label("rest")
	return sums, at
}

// closeChains adds what chain left to it, and stores the four products.
func closeChains(n, at reg.Register, pointers []reg.Register, sums [4]reg.VecVirtual, out reg.Register) {
	var low, high [4]reg.VecVirtual
	for i := range sums {
		low[i], high[i] = sums[i].AsX().(reg.VecVirtual), build.XMM()
		build.VEXTRACTF128(operand.Imm(1), sums[i], high[i])
	}
	build.ADDQ(operand.Imm(4), n)
	build.JZ(operand.LabelRef("sum"))
	build.Comment("What is left goes to the first of the four chains.")
	build.Label("single")
	one := build.XMM()
	build.VMOVSD(operand.Mem{Base: pointers[0], Index: at, Scale: 1}, one)
	for i, p := range pointers[1:] {
		t := build.XMM()
		build.VMULSD(operand.Mem{Base: p, Index: at, Scale: 1}, one, t)
		build.VADDSD(t, low[i], low[i])
	}
	build.ADDQ(operand.Imm(size), at)
	build.DECQ(n)
	build.JNZ(operand.LabelRef("single"))
	build.Label("sum")
	for i := range sums {
		build.VADDPD(high[i], low[i], low[i])
	}
	for i := 0; i < len(sums); i += 2 {
		build.VHADDPD(low[i+1], low[i], low[i])
		build.VMOVUPD(low[i], operand.Mem{Base: out, Disp: i * size})
	}
}

// rotate writes the function of a plane rotation of two rows.
func rotate() {
	const lanes = 4
	build.TEXT("rotateAVX2", build.NOSPLIT, "func(n int, x, y *float64, c, s float64)")
	build.Pragma("noescape")
	build.Doc("rotateAVX2 sets x to cx + sy and y to cy − sx, n ≥ 4 numbers each, a multiple of 4. Products are rounded.")
	n := build.Load(build.Param("n"), build.GP64())
	x := build.Load(build.Param("x"), build.GP64())
	y := build.Load(build.Param("y"), build.GP64())
	c, s := build.YMM(), build.YMM()
	build.VBROADCASTSD(operand.NewParamAddr("c", 24), c)
	build.VBROADCASTSD(operand.NewParamAddr("s", 32), s)
	build.Label("loop")
	a, b, t, u := build.YMM(), build.YMM(), build.YMM(), build.YMM()
	build.VMOVUPD(operand.Mem{Base: x}, a)
	build.VMOVUPD(operand.Mem{Base: y}, b)
	build.VMULPD(a, s, t)
	build.VMULPD(a, c, a)
	build.VMULPD(b, s, u)
	build.VMULPD(b, c, b)
	build.VADDPD(u, a, a)
	build.VSUBPD(t, b, b)
	build.VMOVUPD(a, operand.Mem{Base: x})
	build.VMOVUPD(b, operand.Mem{Base: y})
	for _, p := range []reg.Register{x, y} {
		build.ADDQ(operand.Imm(lanes*size), p)
	}
	build.SUBQ(operand.Imm(lanes), n)
	build.JNZ(operand.LabelRef("loop"))
	build.VZEROUPPER()
	build.RET()
}

// addScaled writes the function that adds a multiple of a vector to another.
func addScaled() {
	const lanes = 4
	build.TEXT("addScaledAVX2", build.NOSPLIT, "func(n int, y *float64, c float64, x *float64)")
	build.Pragma("noescape")
	build.Doc("addScaledAVX2 adds cx to y, n ≥ 4 numbers each, a multiple of 4. Products are rounded.")
	n := build.Load(build.Param("n"), build.GP64())
	y := build.Load(build.Param("y"), build.GP64())
	x := build.Load(build.Param("x"), build.GP64())
	c := build.YMM()
	build.VBROADCASTSD(operand.NewParamAddr("c", 16), c)
	for _, width := range []int{16, 4} {
		label := func(s string) operand.LabelRef { return operand.LabelRef(fmt.Sprint(s, width)) }
		build.SUBQ(operand.Imm(uint64(width)), n)
		build.JL(label("rest"))
		build.Label(string(label("loop")))
		for i := range width / lanes {
			at, t := i*lanes*size, build.YMM()
			build.VMULPD(operand.Mem{Base: x, Disp: at}, c, t)
			build.VADDPD(operand.Mem{Base: y, Disp: at}, t, t)
			build.VMOVUPD(t, operand.Mem{Base: y, Disp: at})
		}
		for _, p := range []reg.Register{x, y} {
			build.ADDQ(operand.U32(width*size), p)
		}
		build.SUBQ(operand.Imm(uint64(width)), n)
		build.JGE(label("loop"))
		build.Label(string(label("rest")))
		build.ADDQ(operand.Imm(uint64(width)), n)
	}
	build.VZEROUPPER()
	build.RET()
}

// hinges writes the function of Hinges.Envelopes.
func hinges() {
	const lanes = 4
	build.TEXT("hingesAVX2", build.NOSPLIT, "func(n int, near *int32, dots, sq *float64, rows int, held *int32, shift *float64, helds, shiftStride, k int, targets, sums, terms, a *float64, stride int, at *int32, impostors *float64, own, most, width, half float64, done *[3]int) (left int)")
	build.Pragma("noescape")
	build.Doc("hingesAVX2 is Hinges.Envelopes for n ≥ 4 impostors, a multiple of 4. Strides are in bytes. At the first four of which one is none of so many rows it ends; it returns how many are left.")
	param := func(name string) reg.GPVirtual { return build.Load(build.Param(name), build.GP64()).(reg.GPVirtual) }
	frame := func(name string, place int) operand.Mem { return operand.NewParamAddr(name, 8*place) }
	broadcast := func(name string, place int) reg.VecVirtual {
		v := build.YMM()
		build.VBROADCASTSD(frame(name, place), v)
		return v
	}
	table := func(name string, masks, words int, word func(mask, i int) int) operand.Mem {
		m := build.GLOBL(name, build.RODATA|build.NOPTR)
		for mask := range masks {
			for i := range words {
				build.DATA(4*(mask*words+i), operand.U32(uint32(word(mask, i))))
			}
		}
		return m
	}
	place := func(mask, lane int) int { // the lane-th of those in the mask, or 0
		for i := range lanes {
			if mask>>i&1 == 1 {
				if lane == 0 {
					return i
				}
				lane--
			}
		}
		return 0
	}
	rank := func(mask, lane int) int { return bits.OnesCount(uint(mask & (1<<lane - 1))) }
	together := table("hingesTogether", 16, 8, func(mask, i int) int { return 2*place(mask, i/2) + i%2 })
	apart := table("hingesApart", 16, 8, func(mask, i int) int { return 2*rank(mask, i/2) + i%2 })
	indices := table("hingesIndices", 16, 4, place)
	first := table("hingesFirst", 5, 4, func(count, i int) int {
		if i < count {
			return -1
		}
		return 0
	})
	row := func(t operand.Mem, mask reg.GPVirtual, shift uint64) operand.Mem {
		base, offset := build.GP64(), build.GP64()
		build.LEAQ(t, base)
		build.MOVQ(mask, offset)
		build.SHLQ(operand.Imm(shift), offset)
		return operand.Mem{Base: base, Index: offset, Scale: 1}
	}

	n, near, dots := param("n"), param("near"), param("dots")
	done := param("done")
	next, count, kept := build.GP64(), build.GP64(), build.GP64()
	for i, r := range []reg.GPVirtual{next, count, kept} {
		build.MOVQ(operand.Mem{Base: done, Disp: i * size}, r)
	}
	width, half := broadcast("width", 19), broadcast("half", 20)
	one, zero := build.YMM(), build.YMM()
	build.Comment("Ten bits of one, and two of zero above them, are 1.")
	build.VPCMPEQQ(one, one, one)
	build.VPSLLQ(operand.Imm(54), one, one)
	build.VPSRLQ(operand.Imm(2), one, one)
	build.VXORPD(zero, zero, zero)

	build.Label("four")
	build.Comment("1 less the squared distances of four impostors.")
	sq := param("sq")
	var index [lanes]reg.GPVirtual
	for i := range index {
		index[i] = build.GP64()
		build.MOVLQSX(operand.Mem{Base: near, Disp: 4 * i}, index[i])
		build.CMPQ(index[i], frame("rows", 4))
		build.JAE(operand.LabelRef("end"))
	}
	above, high := build.YMM(), build.XMM()
	for i, half := range []reg.Register{above.AsX(), high} {
		build.VMOVSD(operand.Mem{Base: sq, Index: index[2*i], Scale: size}, half)
		build.VMOVHPD(operand.Mem{Base: sq, Index: index[2*i+1], Scale: size}, half, half)
	}
	build.VINSERTF128(operand.Imm(1), high, above, above)
	build.VADDPD(broadcast("own", 17), above, above)
	twice := build.YMM()
	build.VMOVUPD(operand.Mem{Base: dots}, twice)
	build.VADDPD(twice, twice, twice)
	build.VSUBPD(twice, above, above)
	build.VSUBPD(above, one, above)

	build.Comment("Which of them are held: four that are, or what is left of these, in all orders.")
	left, four := param("helds"), build.GP64()
	build.SUBQ(next, left)
	build.MOVQ(operand.U32(lanes), four)
	build.CMPQ(left, four)
	build.CMOVQGT(four, left)
	there, held, impostors := build.XMM(), build.XMM(), build.XMM()
	build.VMOVDQU(row(first, left, 4), there)
	build.VPMASKMOVD(operand.Mem{Base: param("held"), Index: next, Scale: 4}, there, held)
	none, equal := build.XMM(), build.XMM()
	build.VPCMPEQD(none, none, none)
	build.VPXOR(there, none, none)
	build.VPOR(none, held, held)
	build.VMOVDQU(operand.Mem{Base: near}, impostors)
	build.VPCMPEQD(impostors, held, equal)
	for _, order := range []uint8{0x39, 0x4e, 0x93} {
		t := build.XMM()
		build.VPSHUFD(operand.Imm(uint64(order)), held, t)
		build.VPCMPEQD(impostors, t, t)
		build.VPOR(t, equal, equal)
	}
	loaded, isHeld, order := build.YMM(), build.YMM(), build.YMM()
	build.VPMOVSXDQ(there, loaded)
	build.VPMOVSXDQ(equal, isHeld)
	mask := build.GP64()
	build.VMOVMSKPS(equal, mask.As32())
	build.VMOVDQU(row(apart, mask, 5), order)
	shift := param("shift")
	build.LEAQ(operand.Mem{Base: shift, Index: next, Scale: size}, shift)
	build.POPCNTQ(mask, mask)
	build.ADDQ(mask, next)

	build.Comment("Which of them count: not if the hinge with the farthest target is at most 0, and if it is NaN.")
	counts := build.YMM()
	build.VADDPD(broadcast("most", 18), above, counts)
	build.VCMPPD(operand.Imm(6), zero, counts, counts)
	build.VORPD(isHeld, counts, counts)
	build.VMOVMSKPD(counts, mask.As32())
	build.TESTQ(mask, mask)
	build.JZ(operand.LabelRef("next"))
	pack := build.YMM()
	build.VMOVDQU(row(together, mask, 5), pack)
	terms, a := param("terms"), param("a")
	build.LEAQ(operand.Mem{Base: terms, Index: count, Scale: size}, terms)
	build.LEAQ(operand.Mem{Base: a, Index: kept, Scale: size}, a)
	build.POPCNTQ(mask, mask)
	build.ADDQ(mask, count)

	sum := build.YMM()
	build.VXORPD(sum, sum, sum)
	targets, sums, j := param("targets"), param("sums"), build.GP64()
	build.XORQ(j, j)
	build.Label("target")
	z, before, now, u := build.YMM(), build.YMM(), build.YMM(), build.YMM()
	build.VBROADCASTSD(operand.Mem{Base: targets, Index: j, Scale: size}, z)
	build.VADDPD(z, above, z)
	build.VMASKMOVPD(operand.Mem{Base: shift}, loaded, before)
	build.VPERMPS(before, order, before)
	build.VANDPD(isHeld, before, before)
	build.VDIVPD(width, z, now)
	build.VADDPD(before, now, now)
	build.Comment("Of two operands one of which is NaN these return the first here.")
	build.VMAXPD(now, zero, now)
	build.VMINPD(now, one, now)
	build.VMOVUPD(now, operand.Mem{Base: a})
	build.VADDPD(now, sum, sum)
	build.VSUBPD(before, now, before)
	build.VMULPD(before, half, u)
	build.VMULPD(before, u, u)
	build.VMULPD(z, now, z)
	build.VSUBPD(u, z, z)
	build.VPERMPS(z, pack, z)
	build.VMOVUPD(z, operand.Mem{Base: terms})
	build.Comment("The sum over impostors, one after the other.")
	total, upper := build.XMM(), build.XMM()
	build.VMOVSD(operand.Mem{Base: sums, Index: j, Scale: size}, total)
	build.VEXTRACTF128(operand.Imm(1), now, upper)
	for _, pair := range []reg.Register{now.AsX(), upper} {
		build.VADDSD(pair, total, total)
		build.VPERMILPD(operand.Imm(1), pair, pair)
		build.VADDSD(pair, total, total)
	}
	build.VMOVSD(total, operand.Mem{Base: sums, Index: j, Scale: size})
	build.ADDQ(frame("shiftStride", 8), shift)
	build.ADDQ(frame("stride", 14), terms)
	build.ADDQ(frame("stride", 14), a)
	build.INCQ(j)
	build.CMPQ(j, frame("k", 9))
	build.JL(operand.LabelRef("target"))

	build.Comment("Those with a positive multiplier.")
	build.VCMPPD(operand.Imm(30), zero, sum, counts)
	build.VMOVMSKPD(counts, mask.As32())
	build.VMOVDQU(row(together, mask, 5), pack)
	build.VPERMPS(sum, pack, sum)
	build.VMOVUPD(sum, operand.Mem{Base: param("impostors"), Index: kept, Scale: size})
	build.VMOVDQU(row(indices, mask, 4), equal)
	build.VPERMILPS(equal, impostors, impostors)
	build.VMOVDQU(impostors, operand.Mem{Base: param("at"), Index: kept, Scale: 4})
	build.CMPQ(mask, operand.Imm(1<<lanes-1))
	build.JEQ(operand.LabelRef("packed"))
	build.Label("plane")
	build.SUBQ(frame("stride", 14), a)
	build.VMOVUPD(operand.Mem{Base: a}, now)
	build.VPERMPS(now, pack, now)
	build.VMOVUPD(now, operand.Mem{Base: a})
	build.DECQ(j)
	build.JNZ(operand.LabelRef("plane"))
	build.Label("packed")
	build.POPCNTQ(mask, mask)
	build.ADDQ(mask, kept)

	build.Label("next")
	build.ADDQ(operand.Imm(4*lanes), near)
	build.ADDQ(operand.Imm(lanes*size), dots)
	build.SUBQ(operand.Imm(lanes), n)
	build.JNZ(operand.LabelRef("four"))
	build.Label("end")
	build.Load(build.Param("done"), done)
	for i, r := range []reg.GPVirtual{next, count, kept} {
		build.MOVQ(r, operand.Mem{Base: done, Disp: i * size})
	}
	build.Store(n, build.ReturnIndex(0))
	build.VZEROUPPER()
	build.RET()
}

// swapProduct writes the function of the product of sums of which one term is exchanged.
func swapProduct() {
	const lanes = 4
	build.TEXT("swapProductAVX2", build.NOSPLIT, "func(n int, sum, gone, rest, come *float64, owner *int, s int, pair *[2]float64, exponents *[3][4]int)")
	build.Pragma("noescape")
	build.Doc("swapProductAVX2 is SwapProduct for n ≥ 4 numbers, a multiple of 4: it multiplies pair by the mantissas at even and at odd places, and sets the exponents of each of four lanes: their sum, the least and the largest.")
	n := build.Load(build.Param("n"), build.GP64())
	var pointers []reg.Register
	for _, name := range []string{"sum", "gone", "rest", "come", "owner"} {
		pointers = append(pointers, build.Load(build.Param(name), build.GP64()))
	}
	pair := build.Load(build.Param("pair"), build.GP64())
	exponents := build.Load(build.Param("exponents"), build.GP64())
	slot, one, mask := build.YMM(), build.YMM(), build.YMM()
	build.VPBROADCASTQ(operand.NewParamAddr("s", 48), slot)
	build.Comment("The bits of 1, and those of a mantissa.")
	build.VPCMPEQQ(one, one, one)
	build.VPSRLQ(operand.Imm(12), one, mask)
	build.VPSLLQ(operand.Imm(54), one, one)
	build.VPSRLQ(operand.Imm(2), one, one)
	total, least, most := build.YMM(), build.YMM(), build.YMM()
	build.VPXOR(total, total, total)
	build.VPXOR(most, most, most)
	build.VMOVDQU(mask, least)
	product := build.XMM()
	build.VMOVUPD(operand.Mem{Base: pair}, product)
	at := build.GP64()
	build.XORQ(at, at)
	m := func(k int) operand.Mem { return operand.Mem{Base: pointers[k], Index: at, Scale: size} }
	build.Label("loop")
	v, owned, e := build.YMM(), build.YMM(), build.YMM()
	build.VMOVUPD(m(0), v)
	build.VSUBPD(m(1), v, v)
	build.VPCMPEQQ(m(4), slot, owned)
	build.VBLENDVPD(owned, m(2), v, v)
	build.VADDPD(m(3), v, v)
	build.VPSRLQ(operand.Imm(52), v, e)
	build.VPADDQ(e, total, total)
	build.Comment("Exponents are small, so that the upper halves are 0.")
	build.VPMINUD(e, least, least)
	build.VPMAXUD(e, most, most)
	build.VANDPD(mask, v, v)
	build.VORPD(one, v, v)
	high := build.XMM()
	build.VEXTRACTF128(operand.Imm(1), v, high)
	build.VMULPD(v.AsX(), product, product)
	build.VMULPD(high, product, product)
	build.ADDQ(operand.Imm(lanes), at)
	build.CMPQ(at, n)
	build.JNE(operand.LabelRef("loop"))
	build.VMOVUPD(product, operand.Mem{Base: pair})
	for i, x := range []reg.VecVirtual{total, least, most} {
		build.VMOVDQU(x, operand.Mem{Base: exponents, Disp: i * lanes * size})
	}
	build.VZEROUPPER()
	build.RET()
}

// copyRows writes the function that packs lines of which the numbers of a panel lie together.
func copyRows(name string, width, lanes int, register func() reg.VecVirtual) {
	build.TEXT(name, build.NOSPLIT, "func(n int, a *float64, stride int, to *float64)")
	build.Pragma("noescape")
	build.Doc(fmt.Sprintf("%s copies n ≥ 1 rows of %d numbers that are stride apart.", name, width))
	n := build.Load(build.Param("n"), build.GP64())
	a := build.Load(build.Param("a"), build.GP64())
	stride := build.Load(build.Param("stride"), build.GP64())
	to := build.Load(build.Param("to"), build.GP64())
	build.SHLQ(operand.Imm(3), stride) // in bytes
	build.Label("loop")
	var row []reg.VecVirtual
	for j := 0; j < width; j += lanes {
		row = append(row, register())
		build.VMOVUPD(operand.Mem{Base: a, Disp: j * size}, row[len(row)-1])
	}
	for j, x := range row {
		build.VMOVUPD(x, operand.Mem{Base: to, Disp: j * lanes * size})
	}
	build.ADDQ(stride, a)
	build.ADDQ(operand.U32(width*size), to)
	build.DECQ(n)
	build.JNZ(operand.LabelRef("loop"))
	build.VZEROUPPER()
	build.RET()
}
