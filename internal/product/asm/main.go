// Command asm writes the assembly of package product: go generate in the folder above.
// It is a module of its own, so that nobody who uses metriclab needs avo.
package main

import (
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	rows   = 4  // of a tile, as in package product
	cols   = 12 // of a tile, as in package product
	lanes  = 4  // numbers in a register
	size   = 8  // bytes of a number
	unroll = 4  // steps of k in one pass of the loop
)

func main() {
	build.ConstraintExpr("!noasm")
	build.TEXT("tileAVX2", build.NOSPLIT, "func(k int, a, b, c *float64, stride int, load bool)")
	build.Pragma("noescape")
	build.Doc("tileAVX2 is tileGo with AVX2 and FMA: c points at the first of 4 rows of 12 numbers, stride numbers apart.")
	k := build.Load(build.Param("k"), build.GP64())
	a := build.Load(build.Param("a"), build.GP64())
	b := build.Load(build.Param("b"), build.GP64())
	c := build.Load(build.Param("c"), build.GP64())
	stride := build.Load(build.Param("stride"), build.GP64())
	load := build.Load(build.Param("load"), build.GP8())
	build.SHLQ(operand.Imm(3), stride) // in bytes
	third := build.GP64()
	build.LEAQ(operand.Mem{Base: c, Index: stride, Scale: 2}, third)
	at := func(row, lane int) operand.Mem {
		m := operand.Mem{Base: c, Disp: lane * lanes * size}
		if row >= 2 {
			m.Base = third
		}
		if row%2 == 1 {
			m.Index, m.Scale = stride, 1
		}
		return m
	}
	var sums [rows][cols / lanes]reg.VecVirtual
	each := func(f func(i, j int)) {
		for i := range sums {
			for j := range sums[i] {
				f(i, j)
			}
		}
	}
	each(func(i, j int) { sums[i][j] = build.YMM() })

	build.Comment("The chains begin with 0, or go on from c.")
	build.TESTB(load, load)
	build.JZ(operand.LabelRef("zero"))
	each(func(i, j int) { build.VMOVUPD(at(i, j), sums[i][j]) })
	build.JMP(operand.LabelRef("start"))
	build.Label("zero")
	each(func(i, j int) { build.VXORPD(sums[i][j], sums[i][j], sums[i][j]) })

	step := func(u int) {
		var right [cols / lanes]reg.VecVirtual
		for j := range right {
			right[j] = build.YMM()
			build.VMOVUPD(operand.Mem{Base: b, Disp: (u*cols + j*lanes) * size}, right[j])
		}
		for i := range rows {
			left := build.YMM()
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
	build.Generate()
}
