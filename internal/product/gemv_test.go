package product

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"metriclab/internal/vector"
)

// oneByOne is the definition of GerGemv.
func oneByOne(a blas64.General, by, x, y Ends) {
	if by.Col != nil {
		blas64.Ger(1, vector.Of(by.Col), vector.Of(by.Row), a)
	}
	blas64.Gemv(blas.NoTrans, 1, a, vector.Of(x.Row), 1, vector.Of(y.Col))
	if y.Row != nil {
		blas64.Gemv(blas.Trans, 1, a, vector.Of(x.Col), 1, vector.Of(y.Row))
	}
}

// ends returns vectors of a matrix rows × cols out of the numbers of v.
func ends(v []float64, rows, cols int) Ends { return Ends{Row: v[:cols], Col: v[cols:][:rows]} }

// forms calls f with each form of a call: with an update or without, and for the transpose, too, or not.
func forms(by, y Ends, f func(by, y Ends)) {
	for _, by := range []Ends{{}, by} {
		f(by, Ends{Col: y.Col})
		f(by, y)
	}
}

// TestGerGemv: the bits of gonum on every path, for every remainder. Nothing beyond the matrix and the vectors changes.
func TestGerGemv(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 26))
	for rows := 1; rows < 22; rows++ {
		for cols := 1; cols < 26; cols++ {
			for _, special := range []bool{false, true} {
				m, v := random(r, rows, cols, cols+r.IntN(3)), random(r, 3, rows+cols, rows+cols+1)
				if special {
					m, v = rare(r, m), rare(r, v)
				}
				y := slices.Clone(v.Data[2*v.Stride:])
				forms(ends(v.Data, rows, cols), ends(y, rows, cols), func(by, out Ends) {
					run := func(f func(a blas64.General, by, x, y Ends)) []float64 {
						g := m
						g.Data = slices.Clone(m.Data)
						copy(y, v.Data[2*v.Stride:])
						f(g, by, ends(v.Data[v.Stride:], rows, cols), out)
						return append(g.Data, y...)
					}
					want := run(oneByOne)
					for _, p := range append([]path{viaGonum}, paths()...) {
						got := run(func(a blas64.General, by, x, y Ends) { gerGemv(p, a, by, x, y) })
						if i := differ(got, want); i >= 0 {
							t.Fatalf("path %d, %d×%d, update %v, both %v, special values %v: element %d is %v, gonum's %v", p, rows, cols, by.Col != nil, out.Row != nil, special, i, got[i], want[i])
						}
					}
				})
			}
		}
	}
}

func BenchmarkGerGemv(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{16, 38, 54, 56, 256} {
		a, v := random(r, n, n, n), random(r, 3, 2*n, 2*n)
		for i := range v.Data {
			v.Data[i] *= 1e-9 // so that no number grows
		}
		x := ends(v.Data[2*n:], n, n)
		forms(ends(v.Data, n, n), ends(v.Data[4*n:], n, n), func(by, y Ends) {
			for _, alg := range []alg{
				{"gonum", func() { oneByOne(a, by, x, y) }},
				{"product", func() { GerGemv(a, by, x, y) }},
			} {
				b.Run(fmt.Sprintf("alg=%s/dim=%d/update=%v/both=%v", alg.name, n, by.Col != nil, y.Row != nil), func(b *testing.B) {
					for b.Loop() {
						alg.run()
					}
				})
			}
		})
	}
}

// TestGemvT: the bits of gonum on every path. Nothing beyond the vector changes.
func TestGemvT(t *testing.T) {
	r := rand.New(rand.NewPCG(29, 30))
	for rows := range 14 {
		for cols := range 40 {
			for _, special := range []bool{false, true} {
				m, v := random(r, rows, cols, cols+r.IntN(3)+1), random(r, 1, rows+cols, rows+cols+1)
				if special {
					m, v = rare(r, m), rare(r, v)
				}
				for _, alpha := range []float64{-1, 1, 0.3} {
					x, want := v.Data[:rows], slices.Clone(v.Data)
					blas64.Gemv(blas.Trans, alpha, m, vector.Of(x), 1, vector.Of(want[rows:][:cols]))
					for _, p := range append([]path{viaGonum}, paths()...) {
						got := slices.Clone(v.Data)
						gemvT(p, got[rows:][:cols], alpha, m, x)
						if i := differ(got, want); i >= 0 {
							t.Fatalf("path %d, %d×%d, α = %v, special values %v: element %d is %v, gonum's %v", p, rows, cols, alpha, special, i-rows, got[i], want[i])
						}
					}
				}
			}
		}
	}
}

// TestGemvCores: where a pass is shared by two cores, it has the bits of gonum, too. The last row of the matrix ends with the memory.
func TestGemvCores(t *testing.T) {
	before := runtime.GOMAXPROCS(2)
	defer runtime.GOMAXPROCS(before)
	r := rand.New(rand.NewPCG(27, 28))
	for _, size := range [][2]int{{300, 100}, {16, 2003}, {2003, 16}, {15, 2000}, {2000, 15}, {173, 211}} {
		rows, cols := size[0], size[1]
		m := random(r, rows, cols, cols+3)
		m.Data = m.Data[:(rows-1)*m.Stride+cols]
		v := random(r, 2, rows+cols, rows+cols).Data
		by, x := ends(v, rows, cols), ends(v[rows+cols:], rows, cols)
		for _, p := range append([]path{viaGonum}, paths()...) {
			for _, by := range []Ends{{}, by} {
				run := func(f func(a blas64.General, y Ends)) []float64 {
					g := m
					g.Data = slices.Clone(m.Data)
					y := slices.Clone(x.Col)
					f(g, Ends{Col: y})
					return append(y, g.Data...)
				}
				want := run(func(a blas64.General, y Ends) { oneByOne(a, by, x, y) })
				if got := run(func(a blas64.General, y Ends) { gerGemv(p, a, by, x, y) }); differ(got, want) >= 0 {
					t.Errorf("path %d, %d×%d, update %v: other bits", p, rows, cols, by.Col != nil)
				}
			}
			want, got := slices.Clone(x.Row), slices.Clone(x.Row)
			blas64.Gemv(blas.Trans, 0.3, m, vector.Of(x.Col), 1, vector.Of(want))
			if gemvT(p, got, 0.3, m, x.Col); differ(got, want) >= 0 {
				t.Errorf("path %d, %d×%d: the transpose has other bits", p, rows, cols)
			}
		}
	}
}
