// Command asm writes the assembly of package product: go generate in the folder above.
// It is a module of its own, so that nobody who uses metriclab needs avo.
package main

import (
	"fmt"

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
