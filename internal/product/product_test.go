package product

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// random returns a matrix of numbers of many sizes, the same on every machine. The numbers between its
// rows are NaN.
func random(r *rand.Rand, rows, cols, stride int) blas64.General {
	m := blas64.General{Rows: rows, Cols: cols, Stride: stride, Data: make([]float64, rows*stride)}
	for i := range m.Data {
		m.Data[i] = math.NaN()
		if i%stride < cols {
			m.Data[i] = math.Ldexp(r.Float64()-.5, r.IntN(12))
		}
	}
	return m
}

// rare puts zeros of both signs, infinities, NaN and the smallest numbers into m, about one in eight.
func rare(r *rand.Rand, m blas64.General) blas64.General {
	values := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 5e-324, -1e-310, math.MaxFloat64}
	for i := range m.Data {
		if i%m.Stride < m.Cols && r.IntN(8) == 0 {
			m.Data[i] = values[r.IntN(len(values))]
		}
	}
	return m
}

// paths are those that promise equal bits and run here.
func paths() []path {
	all := []path{viaGo, viaAVX2, viaAVX512}
	return all[:max(1, slices.Index(all, current)+1)]
}

// chain is the definition of an element of op(a)·op(b), added to s.
func chain(a, b factor, i, j int, s float64) float64 {
	at := func(f factor, i, l int) float64 {
		if f.along {
			return f.data[i*f.stride+l]
		}
		return f.data[l*f.stride+i]
	}
	for l := range a.depth {
		s = math.FMA(at(a, i, l), at(b, j, l), s)
	}
	return s
}

// same reports whether x and y have the same bits or are both NaN.
func same(x, y float64) bool {
	return math.Float64bits(x) == math.Float64bits(y) || x != x && y != y
}

// near reports whether two sums of k products of what random makes differ by round-off only.
func near(x, y float64, k int) bool { return math.Abs(x-y) <= 4*0x1p-53*float64(k*k)*0x1p20 }

var transposes = []blas.Transpose{blas.NoTrans, blas.Trans}

// op returns the dimensions of a matrix whose op is rows×cols.
func op(t blas.Transpose, rows, cols int) (int, int) {
	if t == blas.NoTrans {
		return rows, cols
	}
	return cols, rows
}

// Sizes around those of tiles and blocks: m, n, k.
var sizes = [][3]int{
	{0, 3, 2}, {3, 0, 2}, {3, 2, 0}, {0, 0, 0}, {1, 1, 1}, {2, 3, 4}, {4, 12, 1}, {4, 12, 7}, {5, 13, 9},
	{3, 11, 4}, {8, 24, 16}, {9, 25, 3}, {31, 37, 41}, {1, 50, 20}, {50, 1, 20}, {blockRows + 1, 13, 5},
	{2*blockRows - 1, 3, 3}, {5, blockCols + 1, 3}, {4, 2*blockCols - 5, 2}, {7, 14, blockDepth + 1},
	{4, 12, 2*blockDepth + 3}, {blockRows + 2, 25, blockDepth + 2}, {11, 15, 6}, {12, 16, 5}, {13, 17, 4}, {25, 49, 11},
}

func TestGemm(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, size := range sizes {
		m, n, k := size[0], size[1], size[2]
		for _, tA := range transposes {
			for _, tB := range transposes {
				for _, special := range []bool{false, true} {
					aRows, aCols := op(tA, m, k)
					bRows, bCols := op(tB, k, n)
					a := random(r, aRows, aCols, aCols+1+r.IntN(3))
					b := random(r, bRows, bCols, bCols+1+r.IntN(3))
					if special {
						a, b = rare(r, a), rare(r, b)
					}
					left, right := lines(a, tA == blas.NoTrans), lines(b, tB != blas.NoTrans)
					old := random(r, m, n, n+2)
					if special {
						old = rare(r, old)
					}
					for _, p := range paths() {
						for _, add := range []bool{false, true} {
							dst := old
							dst.Data = slices.Clone(old.Data)
							gemm(p, tA, tB, a, b, dst, add)
							for i, got := range dst.Data {
								want := math.NaN() // between the rows
								if i, j := i/dst.Stride, i%dst.Stride; j < n {
									start := 0.0
									if add {
										start = old.Data[i*old.Stride+j]
									}
									want = chain(left, right, i, j, start)
								}
								if !same(got, want) {
									t.Fatalf("path %d, %v, transposes %c %c, special values %v, add %v: element %d is %v, the chain gives %v", p, size, tA, tB, special, add, i, got, want)
								}
							}
						}
					}
				}
			}
		}
	}
}

func TestSyrk(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, size := range sizes {
		n, k := size[0]+size[1], size[2]
		if n > blockCols {
			continue
		}
		for _, trans := range transposes {
			rows, cols := op(trans, n, k)
			a := rare(r, random(r, rows, cols, cols+1))
			back := blas.Trans
			if trans == blas.Trans {
				back = blas.NoTrans
			}
			for _, p := range append(paths(), viaGonum) {
				if p == viaGonum { // other bits, and other special values
					a = random(r, rows, cols, cols+1)
				}
				for _, add := range []bool{false, true} {
					dst := blas64.Symmetric{Uplo: blas.Upper, N: n, Stride: n + 2, Data: random(r, n, n, n+2).Data}
					old := slices.Clone(dst.Data)
					square := blas64.General{Rows: n, Cols: n, Stride: n + 2, Data: slices.Clone(old)}
					gemm(viaGo, trans, back, a, a, square, add)
					syrk(p, trans, a, dst, add)
					for i := range n {
						for j := range dst.Stride {
							got, want := dst.Data[i*dst.Stride+j], old[i*dst.Stride+j]
							if i <= j && j < n {
								want = square.Data[i*square.Stride+j]
							}
							if !same(got, want) && !(p == viaGonum && near(got, want, k+1)) {
								t.Fatalf("path %d, order %d, depth %d, %c, add %v: element %d, %d is %v, want %v", p, n, k, trans, add, i, j, got, want)
							}
						}
					}
				}
			}
		}
	}
	// An order above the width of a block.
	n := blockCols + 14
	a := random(r, n, 3, 3)
	dst := blas64.Symmetric{Uplo: blas.Upper, N: n, Stride: n, Data: make([]float64, n*n)}
	Syrk(blas.NoTrans, a, dst)
	full := blas64.General{Rows: n, Cols: n, Stride: n, Data: make([]float64, n*n)}
	Gemm(blas.NoTrans, blas.Trans, a, a, full)
	for i := range n {
		for j := range n {
			got, want := dst.Data[i*n+j], full.Data[i*n+j]
			if i > j {
				want = 0
			}
			if !same(got, want) && current != viaGonum {
				t.Fatalf("order %d: element %d, %d is %v, want %v", n, i, j, got, want)
			}
		}
	}
}

// The path without fused multiply-adds gives the same products up to round-off.
func TestGonum(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, size := range sizes {
		m, n, k := size[0], size[1], size[2]
		a, b := random(r, m, k, k+1), random(r, n, k, k+1)
		want, got := random(r, m, n, n+1), random(r, m, n, n+1)
		for _, add := range []bool{false, true} { // the second time to what the first has left
			gemm(viaGo, blas.NoTrans, blas.Trans, a, b, want, add)
			gemm(viaGonum, blas.NoTrans, blas.Trans, a, b, got, add)
			for i := range got.Data {
				if !same(got.Data[i], want.Data[i]) && !near(got.Data[i], want.Data[i], k) {
					t.Fatalf("%v, add %v: element %d is %v, want %v", size, add, i, got.Data[i], want.Data[i])
				}
			}
		}
	}
}

// The bits are those of every machine: CI runs this test on amd64 and, emulated, on arm64.
func TestBits(t *testing.T) {
	const want = "593ae689778dd438"
	r := rand.New(rand.NewPCG(7, 8))
	a, b := random(r, 37, 300, 300), random(r, 300, 29, 29)
	for _, p := range paths() {
		dst := random(r, 37, 29, 29)
		gemm(p, blas.NoTrans, blas.NoTrans, a, b, dst, false)
		h := fnv.New64a()
		for _, x := range dst.Data {
			fmt.Fprintf(h, "%016x", math.Float64bits(x))
		}
		if got := fmt.Sprintf("%016x", h.Sum64()); got != want {
			t.Errorf("path %d: hash of the product is %s, want %s", p, got, want)
		}
	}
}

// Goroutines that compute parts of a product, which are views, give the bits of the whole.
func TestParts(t *testing.T) {
	if current == viaGonum {
		t.Skip("without fused multiply-adds in hardware, parts may have other bits")
	}
	const m, n, k = 150, 70, 300
	r := rand.New(rand.NewPCG(9, 10))
	a, b, whole, parts := random(r, m, k, k), random(r, n, k, k), random(r, m, n, n), random(r, m, n, n)
	Gemm(blas.NoTrans, blas.Trans, a, b, whole)
	view := func(g blas64.General, i, rows, j, cols int) blas64.General {
		return blas64.General{Rows: rows, Cols: cols, Stride: g.Stride, Data: g.Data[i*g.Stride+j:]}
	}
	var wg sync.WaitGroup
	for _, rows := range [][2]int{{0, 1}, {1, 70}, {71, 79}} {
		for _, cols := range [][2]int{{0, 30}, {30, 40}} {
			wg.Go(func() {
				Gemm(blas.NoTrans, blas.Trans, view(a, rows[0], rows[1], 0, k), view(b, cols[0], cols[1], 0, k), view(parts, rows[0], rows[1], cols[0], cols[1]))
			})
		}
	}
	wg.Wait()
	for i := range whole.Data {
		if !same(whole.Data[i], parts.Data[i]) {
			t.Fatalf("element %d is %v in the part, %v in the whole", i, parts.Data[i], whole.Data[i])
		}
	}
}

func TestPanics(t *testing.T) {
	matrix := func(rows, cols, stride, length int) blas64.General {
		return blas64.General{Rows: rows, Cols: cols, Stride: stride, Data: make([]float64, length)}
	}
	sym := func(m blas64.General) blas64.Symmetric {
		return blas64.Symmetric{Uplo: blas.Upper, N: m.Rows, Stride: m.Stride, Data: m.Data}
	}
	a, b, dst := matrix(2, 3, 3, 6), matrix(3, 4, 4, 12), matrix(2, 4, 4, 8)
	shared := matrix(4, 6, 6, 24)
	cut := func(rows, cols, stride, at int) blas64.General {
		return blas64.General{Rows: rows, Cols: cols, Stride: stride, Data: shared.Data[at:]}
	}
	no, yes := blas.NoTrans, blas.Trans
	for _, test := range []struct {
		name, want string
		call       func()
	}{
		{"inner", "inner dimensions 2 of a and 3 of b differ", func() { Gemm(yes, no, a, b, dst) }},
		{"dst", "dst is 2×4, the product is 2×3", func() { Gemm(no, no, a, matrix(3, 3, 3, 9), dst) }},
		{"transpose", "is no blas.Transpose", func() { Gemm('x', no, a, b, dst) }},
		{"negative", "a is -1×3", func() { Gemm(no, no, matrix(-1, 3, 3, 0), b, dst) }},
		{"stride", "b has 4 columns and a stride of 3", func() { Gemm(no, no, a, matrix(3, 4, 3, 12), dst) }},
		{"short", "dst is 2×4 with a stride of 4, but has 7 numbers", func() { Gemm(no, no, a, b, matrix(2, 4, 4, 7)) }},
		{"empty", "b is 3×4 with a stride of 4, but has 0 numbers", func() { Gemm(no, no, a, matrix(3, 4, 4, 0), dst) }},
		{"alias a", "dst overlaps a factor", func() { Gemm(no, no, cut(3, 3, 6, 0), matrix(3, 3, 3, 9), cut(3, 3, 6, 8)) }},
		{"alias b", "dst overlaps a factor", func() { Gemm(no, no, matrix(3, 3, 3, 9), cut(3, 3, 6, 8), cut(3, 3, 6, 0)) }},
		{"alias, added", "dst overlaps a factor", func() { GemmAdd(no, no, cut(3, 3, 6, 0), matrix(3, 3, 3, 9), cut(3, 3, 6, 8)) }},
		{"itself", "dst overlaps a factor", func() { Gemm(no, no, shared, matrix(6, 6, 6, 36), shared) }},
		{"other stride", "dst overlaps a factor", func() { Gemm(no, no, cut(2, 2, 6, 0), matrix(2, 2, 2, 4), cut(2, 2, 2, 4)) }},
		{"order", "dst has order 2, the product has order 3", func() { Syrk(yes, a, sym(matrix(2, 2, 2, 4))) }},
		{"lower", "dst.Uplo is not blas.Upper", func() { Syrk(no, a, blas64.Symmetric{Uplo: blas.Lower, N: 2, Stride: 2, Data: make([]float64, 4)}) }},
		{"alias", "dst overlaps a factor", func() { Syrk(no, cut(3, 3, 6, 0), sym(cut(3, 3, 6, 8))) }},
		{"vectors", "a of order 2, x of length 2 and y of length 3", func() { Symv(sym(matrix(2, 2, 2, 4)), make([]float64, 2), make([]float64, 3)) }},
		{"lengths", "a is 2×3, with vectors of lengths 2 and 4", func() { DotRows(make([]float64, 2), a, make([]float64, 4)) }},
		{"ends", "a is 2×3, with vectors of lengths 2 and 4", func() {
			GerGemv(a, Ends{}, Ends{Row: make([]float64, 3), Col: make([]float64, 2)}, Ends{Col: make([]float64, 2), Row: make([]float64, 4)})
		}},
		{"result", "a is 2×3, with vectors of lengths 3 and 0", func() { Gemv(make([]float64, 3), a, make([]float64, 3)) }},
		{"sum", "vectors of lengths 2 and 3", func() { AddScaled(make([]float64, 2), 1, make([]float64, 3)) }},
		{"row beyond", "row 2 of 2", func() { AddRows(make([]float64, 3), make([]float64, 2), a, []int32{0, 2}) }},
		{"row before", "row -1 of 2", func() { AddToRows(a, []int32{-1}, make([]float64, 1), make([]float64, 3)) }},
		{"row beyond, of four", "row 2 of 2", func() { DotsAt(make([]float64, 9), a, []int32{0, 1, 0, 1, 1, 0, 2, 0, 1}, make([]float64, 3)) }},
		{"row before, of four", "row -1 of 2", func() { DotsAt(make([]float64, 4), a, []int32{0, 1, -1, 1}, make([]float64, 3)) }},
		{"numbers of rows", "a is 2×3, with 1 rows and vectors of lengths 2 and 3", func() { DotsAt(make([]float64, 2), a, []int32{1}, make([]float64, 3)) }},
		{"stairs", "stairs of lengths 4, 5, 6 and 6, x of length 8", func() { v := make([]float64, 8); Stairs(v, v[:4], v[:5], v[:6], v[:6]) }},
		{"lower Symv", "a.Uplo is not blas.Upper", func() { Symv(blas64.Symmetric{Uplo: blas.Lower}, nil, nil) }},
	} {
		func() {
			defer func() {
				if said := fmt.Sprint(recover()); !strings.HasPrefix(said, "product: ") || !strings.Contains(said, test.want) {
					t.Errorf("%s: panic %q, want one with %q", test.name, said, test.want)
				}
			}()
			test.call()
		}()
	}
	// Views of one matrix that share no element are no aliases.
	for _, views := range [][2]blas64.General{
		{cut(4, 3, 6, 0), cut(4, 3, 6, 3)},  // left and right half
		{cut(2, 6, 6, 0), cut(2, 6, 6, 12)}, // upper and lower half
		{cut(3, 3, 6, 3), cut(3, 3, 6, 6)},  // one row further, on the left
	} {
		for _, flip := range []int{0, 1} {
			x, y := views[flip], views[1-flip]
			Gemm(no, no, x, matrix(x.Cols, y.Cols, y.Cols, x.Cols*y.Cols), y)
		}
	}
}

func TestPath(t *testing.T) {
	if p := Path(); p == "" || (current == viaGonum) != strings.Contains(p, "without FMA") {
		t.Errorf("Path() = %q on path %d", p, current)
	}
}

// Assembly gives the bits of pure Go, for many sizes, strides and kinds of products.
func TestAssembly(t *testing.T) {
	for _, p := range []path{viaAVX2, viaAVX512} {
		t.Run(pathNames[p], func(t *testing.T) {
			if !slices.Contains(paths(), p) {
				t.Skipf("not done: no %s here", pathNames[p])
			}
			r := rand.New(rand.NewPCG(11, uint64(p)))
			for range 300 {
				m, n, k := 1+r.IntN(70), 1+r.IntN(70), 1+r.IntN(40)
				tA, tB, add := transposes[r.IntN(2)], transposes[r.IntN(2)], r.IntN(2) == 1
				aRows, aCols := op(tA, m, k)
				bRows, bCols := op(tB, k, n)
				a := rare(r, random(r, aRows, aCols, aCols+r.IntN(9)))
				b := rare(r, random(r, bRows, bCols, bCols+r.IntN(9)))
				want := random(r, m, n, n+r.IntN(9))
				got := want
				got.Data = slices.Clone(want.Data)
				gemm(viaGo, tA, tB, a, b, want, add)
				gemm(p, tA, tB, a, b, got, add)
				if i := differ(got.Data, want.Data); i >= 0 {
					t.Fatalf("%d×%d×%d, transposes %c %c, add %v: element %d is %v, in pure Go %v", m, n, k, tA, tB, add, i, got.Data[i], want.Data[i])
				}
				square := random(r, m, m, m+r.IntN(9))
				whole, part := square, square
				whole.Data, part.Data = slices.Clone(square.Data), slices.Clone(square.Data)
				upper := func(g blas64.General) blas64.Symmetric {
					return blas64.Symmetric{Uplo: blas.Upper, N: m, Stride: g.Stride, Data: g.Data}
				}
				syrk(viaGo, tA, a, upper(whole), add)
				syrk(p, tA, a, upper(part), add)
				if i := differ(part.Data, whole.Data); i >= 0 {
					t.Fatalf("Syrk of order %d, depth %d, %c, add %v: element %d is %v, in pure Go %v", m, k, tA, add, i, part.Data[i], whole.Data[i])
				}
			}
		})
	}
}

// differ returns the first place where x and y have other bits, or -1.
func differ(x, y []float64) int {
	for i := range x {
		if !same(x[i], y[i]) {
			return i
		}
	}
	return -1
}

// Wide tiles are for products that fill them.
func TestSuited(t *testing.T) {
	for _, test := range []struct {
		m, n int
		want path
	}{
		{1, 16, viaAVX2}, {4, 1000, viaAVX2}, {1000, 1, viaAVX512}, {8, 1000, viaAVX512}, {12, 16, viaAVX512}, {784, 784, viaAVX512},
	} {
		if got := viaAVX512.suited(test.m, test.n); got != test.want {
			t.Errorf("%d×%d: tiles of %s, want those of %s", test.m, test.n, pathNames[got], pathNames[test.want])
		}
		for _, p := range []path{viaGo, viaAVX2} {
			if got := p.suited(test.m, test.n); got != p {
				t.Errorf("%d×%d: %s became %s", test.m, test.n, pathNames[p], pathNames[got])
			}
		}
	}
}

// However many cores share a product, its bits are those of one core.
func TestCores(t *testing.T) {
	before := runtime.GOMAXPROCS(1)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	r := rand.New(rand.NewPCG(13, 14))
	for _, size := range [][3]int{{170, blockCols + 30, 200}, {3, 2*blockCols + 5, 800}, {400, 20, 700}, {blockCols + 20, 13, 60}} {
		m, n, k := size[0], size[1], size[2]
		a, b, old := rare(r, random(r, m, k, k+1)), random(r, k, n, n+3), random(r, m, n, n+2)
		var first, triangle []float64
		for _, procs := range []int{1, 2, 3, 8} {
			runtime.GOMAXPROCS(procs)
			dst := old
			dst.Data = slices.Clone(old.Data)
			GemmAdd(blas.NoTrans, blas.NoTrans, a, b, dst)
			square := blas64.Symmetric{Uplo: blas.Upper, N: m, Stride: m, Data: make([]float64, m*m)}
			Syrk(blas.NoTrans, a, square)
			if procs == 1 {
				first, triangle = dst.Data, square.Data
				continue
			}
			if i := max(differ(dst.Data, first), differ(square.Data, triangle)); i >= 0 && current != viaGonum {
				t.Fatalf("%v: element %d differs between 1 and %d cores", size, i, procs)
			}
		}
	}
}
