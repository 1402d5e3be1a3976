package classify

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
)

func uniform(rng *rand.Rand, n, d int) *mat.Dense {
	x := mat.NewDense(n, d, nil)
	for i := range n {
		for j := range d {
			x.Set(i, j, rng.Float64())
		}
	}
	return x
}

// BenchmarkKNN compares the nearest neighbours of 2,000 queries among 12,000
// points in 784 dimensions, on one core, with the matrix product of that size.
func BenchmarkKNN(b *testing.B) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const queries, points, dim = 2000, 12000, 784
	rng := rand.New(rand.NewPCG(1, 2))
	q, x := uniform(rng, queries, dim), uniform(rng, points, dim)
	c, err := NewKNN(metric.Euclidean{}, x, make([]int, points), KNNOptions{})
	if err != nil {
		b.Fatal(err)
	}
	b.Run("alg=product/dim=784", func(b *testing.B) {
		out := mat.NewDense(queries, points, nil)
		for b.Loop() {
			out.Mul(q, x.T())
		}
	})
	b.Run("alg=KNN/dim=784", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := c.Classify(q, 5); err != nil {
				b.Fatal(err)
			}
		}
	})
}
