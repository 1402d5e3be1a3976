package product

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// TestDotRows: the bits of gonum on every path, and nothing beyond changes.
func TestDotRows(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 24))
	for cols := range 70 {
		for _, special := range []bool{false, true} {
			rows := r.IntN(12)
			a, x := random(r, rows, cols, cols+1), random(r, 1, cols, cols+1)
			if special {
				a, x = rare(r, a), rare(r, x)
			}
			want := make([]float64, rows+1)
			for i := range rows {
				want[i] = floats.Dot(a.Data[i*a.Stride:][:cols], x.Data[:cols])
			}
			for _, p := range append([]path{viaGonum}, paths()...) {
				got := make([]float64, rows+1)
				dotRows(p, got[:rows], a, x.Data[:cols])
				if i := differ(got, want); i >= 0 {
					t.Errorf("path %d, %d×%d, special values %v: product %d is %v, gonum's is %v", p, rows, cols, special, i, got[i], want[i])
				}
			}
		}
	}
}

// TestRows: AddRows, AddToRows and DotsAt have the bits of gonum on every path, and change nothing else.
func TestRows(t *testing.T) {
	r := rand.New(rand.NewPCG(27, 28))
	for cols := range 90 {
		for _, special := range []bool{false, true} {
			a, v := random(r, 9, cols, cols+r.IntN(3)+1), random(r, 1, cols, cols+1)
			if special {
				a, v = rare(r, a), rare(r, v)
			}
			var at []int32
			for range r.IntN(12) {
				at = append(at, int32(r.IntN(a.Rows)))
			}
			c := random(r, 1, len(at), len(at)+1).Data[:len(at)]
			row := func(data []float64, i int32) []float64 { return data[int(i)*a.Stride:][:cols] }
			y, to, dots := slices.Clone(v.Data), slices.Clone(a.Data), make([]float64, len(at))
			for q, i := range at {
				floats.AddScaled(y[:cols], c[q], row(a.Data, i))
				floats.AddScaled(row(to, i), c[q], v.Data[:cols])
				dots[q] = floats.Dot(row(a.Data, i), v.Data[:cols])
			}
			for _, p := range append([]path{viaGonum}, paths()...) {
				products := make([]float64, len(at)+1)
				dotsAt(p, products[:len(at)], a, at, v.Data[:cols])
				if i := differ(products, append(dots, 0)); i >= 0 {
					t.Errorf("path %d, %d columns, special values %v: product %d is %v, gonum's is %v", p, cols, special, i, products[i], dots[i])
				}
				got := slices.Clone(v.Data)
				addRows(p, got[:cols], c, a, at)
				if i := differ(got, y); i >= 0 {
					t.Errorf("path %d, %d columns, special values %v: element %d of the sum is %v, gonum's is %v", p, cols, special, i, got[i], y[i])
				}
				b := a
				b.Data = slices.Clone(a.Data)
				addToRows(p, b, at, c, v.Data[:cols])
				if i := differ(b.Data, to); i >= 0 {
					t.Errorf("path %d, %d columns, special values %v: element %d of the rows is %v, gonum's is %v", p, cols, special, i, b.Data[i], to[i])
				}
			}
		}
	}
}

// TestAddScaled: the bits of gonum on every path, and nothing beyond changes.
func TestAddScaled(t *testing.T) {
	r := rand.New(rand.NewPCG(29, 30))
	for n := range 70 {
		for _, special := range []bool{false, true} {
			x, y, c := random(r, 1, n+1, n+1), random(r, 1, n+1, n+1), r.NormFloat64()
			if special {
				x, y = rare(r, x), rare(r, y)
			}
			want := slices.Clone(y.Data)
			floats.AddScaled(want[:n], c, x.Data[:n])
			for _, p := range append([]path{viaGonum}, paths()...) {
				got := slices.Clone(y.Data)
				addScaled(p, got[:n], c, x.Data[:n])
				if i := differ(got, want); i >= 0 {
					t.Errorf("path %d, %d numbers, special values %v: number %d is %v, gonum's is %v", p, n, special, i, got[i], want[i])
				}
			}
		}
	}
}

// An index that is no row is refused on every path, wherever it stands.
func TestRowsRefuse(t *testing.T) {
	a := random(rand.New(rand.NewPCG(5, 6)), 6, 53, 53)
	x := make([]float64, 53)
	for _, bad := range []int32{-1, 6, math.MinInt32, math.MaxInt32} {
		for place := range 9 {
			at, c := make([]int32, 9), make([]float64, 9)
			at[place] = bad
			for _, p := range append([]path{viaGonum}, paths()...) {
				for name, call := range map[string]func(){
					"addRows": func() { addRows(p, x, c, a, at) }, "addToRows": func() { addToRows(p, a, at, c, x) }, "dotsAt": func() { dotsAt(p, c, a, at, x) },
				} {
					func() {
						defer func() {
							if got := recover(); got != fmt.Sprintf("product: row %d of 6", bad) {
								t.Errorf("path %d: %s with index %d at %d panics with %v", p, name, bad, place, got)
							}
						}()
						call()
					}()
				}
			}
		}
	}
}

func BenchmarkDotRows(b *testing.B) {
	for _, n := range []int{16, 64, 256} {
		r := rand.New(rand.NewPCG(1, 1))
		a, x, y := random(r, 4, n, n), random(r, 1, n, n).Data, make([]float64, 4)
		for _, alg := range []alg{
			{"gonum", func() {
				for i := range y {
					y[i] = floats.Dot(a.Data[i*n:][:n], x)
				}
			}},
			{"product", func() { DotRows(y, a, x) }},
		} {
			b.Run(fmt.Sprintf("alg=%s/dim=%d", alg.name, n), func(b *testing.B) {
				for b.Loop() {
					alg.run()
				}
				gflops(b, 8*float64(n))
			})
		}
	}
}
