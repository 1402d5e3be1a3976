package product

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

func gflops(b *testing.B, flops float64) {
	b.ReportMetric(flops*float64(b.N)/b.Elapsed().Seconds()/1e9, "GF/s")
}

// alg is one of the ways that a benchmark compares.
type alg struct {
	name string
	run  func()
}

var dims = []int{8, 16, 32, 64, 128, 784, 2000}

// Alg product is what this processor runs, alg go is pure Go. With -cpu 1 each runs on one core, with -cpu 2 on two.
func BenchmarkGemm(b *testing.B) {
	for _, n := range dims {
		r := rand.New(rand.NewPCG(1, 1))
		x, y, z := random(r, n, n, n), random(r, n, n, n), random(r, n, n, n)
		for _, alg := range []alg{
			{"gonum", func() { blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, x, y, 0, z) }},
			{"product", func() { Gemm(blas.NoTrans, blas.NoTrans, x, y, z) }},
			{"go", func() { gemm(viaGo, blas.NoTrans, blas.NoTrans, x, y, z, false) }},
		} {
			b.Run(fmt.Sprintf("alg=%s/dim=%d", alg.name, n), func(b *testing.B) {
				for b.Loop() {
					alg.run()
				}
				gflops(b, 2*float64(n)*float64(n)*float64(n))
			})
		}
	}
}

// XᵀX of a matrix of 5 rows per column. Alg gonum-gemm is the full product.
func BenchmarkSyrk(b *testing.B) {
	for _, n := range dims[:len(dims)-1] {
		r := rand.New(rand.NewPCG(1, 1))
		x, z := random(r, 5*n, n, n), random(r, n, n, n)
		s := blas64.Symmetric{Uplo: blas.Upper, N: n, Stride: n, Data: z.Data}
		for _, alg := range []alg{
			{"gonum", func() { blas64.Syrk(blas.Trans, 1, x, 0, s) }},
			{"gonum-gemm", func() { blas64.Gemm(blas.Trans, blas.NoTrans, 1, x, x, 0, z) }},
			{"product", func() { Syrk(blas.Trans, x, s) }},
		} {
			b.Run(fmt.Sprintf("alg=%s/dim=%d", alg.name, n), func(b *testing.B) {
				for b.Loop() {
					alg.run()
				}
				gflops(b, 5*float64(n)*float64(n)*float64(n))
			})
		}
	}
}
