package product

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

// byRow is the definition of Symv.
func byRow(a blas64.Symmetric, x, y []float64) {
	clear(y)
	for i := range y {
		row := a.Data[i*a.Stride:]
		y[i] += float64(row[i]*x[i]) + floats.Dot(row[i+1:len(y)], x[i+1:])
		floats.AddScaled(y[i+1:], x[i], row[i+1:len(y)])
	}
}

func TestSymv(t *testing.T) {
	before := runtime.GOMAXPROCS(1)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	r := rand.New(rand.NewPCG(21, 22))
	orders := []int{320, 321, 326, 331, 400, 2051}
	for n := range 70 {
		orders = append(orders, n)
	}
	for _, n := range orders {
		for _, special := range []bool{false, true} {
			m, vectors := random(r, n, n, n+r.IntN(3)+1), random(r, 2, n, n+1)
			if special {
				m, vectors = rare(r, m), rare(r, vectors)
			}
			a, x := blas64.Symmetric{Uplo: blas.Upper, N: n, Stride: m.Stride, Data: m.Data}, vectors.Data[:n]
			want := make([]float64, n)
			byRow(a, x, want)
			for _, p := range append([]path{viaGonum}, paths()...) {
				for _, procs := range []int{1, 2} {
					runtime.GOMAXPROCS(procs)
					got := slices.Clone(vectors.Data[n+1:][:n])
					symv(p, a, x, got)
					if i := differ(got, want); i >= 0 {
						t.Fatalf("path %d, order %d, special values %v, %d cores: element %d is %v, by rows %v", p, n, special, procs, i, got[i], want[i])
					}
				}
			}
		}
	}
}

func TestStairs(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	for n := 0; n < 70; n += 4 {
		for _, special := range []bool{false, true} {
			m := random(r, 5, n+3, n+3)
			if special {
				m = rare(r, m)
			}
			row := func(i, length int) []float64 { return m.Data[i*m.Stride:][:length] }
			for _, p := range append([]path{viaGonum}, paths()...) {
				for i, got := range stairs(p, row(4, n+3), row(0, n), row(1, n+1), row(2, n+2), row(3, n+3)) {
					if want := floats.Dot(row(i, n+i), row(4, n+i)); !same(got, want) {
						t.Fatalf("path %d, length %d, special values %v: product %d is %v, gonum's is %v", p, n+i, special, i, got, want)
					}
				}
			}
		}
	}
}

// TestRotate: the bits of the formula on every path. Nothing beyond the vectors changes.
func TestRotate(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 8))
	for n := range 20 {
		for _, special := range []bool{false, true} {
			m := random(r, 2, n, n+1)
			if special {
				m = rare(r, m)
			}
			c, s := math.Cos(float64(n)), math.Sin(float64(n))
			want := slices.Clone(m.Data)
			for j := range n {
				x, y := m.Data[j], m.Data[n+1+j]
				want[j], want[n+1+j] = float64(c*x)+float64(s*y), float64(c*y)-float64(s*x)
			}
			for _, p := range append([]path{viaGonum}, paths()...) {
				got := slices.Clone(m.Data)
				rotate(p, got[:n], got[n+1:][:n], c, s)
				if !slices.EqualFunc(got, want, same) {
					t.Fatalf("path %d, length %d, special values %v: %v, want %v", p, n, special, got, want)
				}
			}
		}
	}
}

func BenchmarkSymv(b *testing.B) {
	for _, n := range []int{64, 256, 784, 2000, 5000} {
		r := rand.New(rand.NewPCG(1, 1))
		m, x := random(r, n, n, n), random(r, 2, n, n).Data
		a := blas64.Symmetric{Uplo: blas.Upper, N: n, Stride: n, Data: m.Data}
		for _, alg := range []alg{
			{"gonum", func() { byRow(a, x[:n], x[n:]) }},
			{"product", func() { Symv(a, x[:n], x[n:]) }},
		} {
			b.Run(fmt.Sprintf("alg=%s/dim=%d", alg.name, n), func(b *testing.B) {
				for b.Loop() {
					alg.run()
				}
				gflops(b, 2*float64(n)*float64(n))
			})
		}
	}
}
