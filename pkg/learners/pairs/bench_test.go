package pairs

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"metriclab/internal/realdata"
	"metriclab/internal/vector"
	"metriclab/pkg/datasets"
	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/kernels"
	"metriclab/pkg/metric"
)

// images returns n pairs of vectors like images of two digits: 784 entries, a
// tenth of them not zero, none negative, length 1. An image is its class's
// strokes with some pixels lost and some added.
func images(rng *rand.Rand, n int) []metric.Pair {
	const dim, ink = 784, 78
	class := [2][]int{rng.Perm(dim)[:ink], rng.Perm(dim)[:ink]}
	draw := func(k int) []float64 {
		x := make([]float64, dim)
		for _, i := range class[k] {
			if rng.IntN(3) == 0 {
				i = rng.IntN(dim)
			}
			x[i] = rng.Float64()
		}
		norm := math.Sqrt(vector.Dot(x, x))
		for i := range x {
			x[i] /= norm
		}
		return x
	}
	out := make([]metric.Pair, n)
	for i := range out {
		j, k := rng.IntN(2), rng.IntN(2)
		out[i] = metric.Pair{X: draw(j), Y: draw(k), Label: metric.SameClass(j == k)}
	}
	return out
}

// mnist returns n pairs of the digits 3 and 5, half of them similar.
func mnist(b *testing.B, n int) []metric.Pair {
	train, _, err := realdata.Store(b, "mnist").MNIST()
	if err != nil {
		b.Fatal(err)
	}
	set := train.Set(train.Filter(train.All(), 3, 5), datasets.ScaleUnitNorm)
	links, err := sample.BalancedLinks(rand.New(rand.NewPCG(1, 1)), set.Y, n)
	if err != nil {
		b.Fatal(err)
	}
	return slices.Collect(sample.Pairs(set.X, links))
}

// BenchmarkStream is one pass over 1,000 pairs at d = 784, from the start. The
// reference keeps A dense and finds its negative eigenpair by Lanczos from v.
func BenchmarkStream(b *testing.B) {
	for _, data := range []struct {
		name string
		make func(b *testing.B) []metric.Pair
	}{
		{"generated", func(*testing.B) []metric.Pair { return images(rand.New(rand.NewPCG(1, 1)), 1000) }},
		{"mnist", func(b *testing.B) []metric.Pair { return mnist(b, 1000) }},
	} {
		b.Run("data="+data.name, func(b *testing.B) {
			rounds := data.make(b)
			b.Run("alg=POLA/dim=784", func(b *testing.B) {
				similar, dissimilar := 0, 0
				for b.Loop() {
					l := mustPOLA(b, 784, POLAParams{})
					similar, dissimilar = 0, 0
					for _, f := range rounds {
						switch o := mustStep(b, l, f); {
						case o.StepSize > 0:
							similar++
						case o.StepSize < 0:
							dissimilar++
						}
					}
				}
				b.ReportMetric(float64(similar), "similar-updates")
				b.ReportMetric(float64(dissimilar), "dissimilar-updates")
			})
			b.Run("alg=DenseLanczos/dim=784", func(b *testing.B) {
				for b.Loop() {
					l := newKrylov(784)
					for _, f := range rounds {
						l.step(b, f)
					}
				}
			})
		})
	}
}

// BenchmarkStep is one step of an endless stream on which about two steps in
// three update.
func BenchmarkStep(b *testing.B) {
	for _, dim := range []int{2, 10, 12, 13, 32, 100} {
		rounds := randomLabels(rand.New(rand.NewPCG(1, uint64(dim))), dim, 1000)
		l := mustPOLA(b, dim, POLAParams{Gamma: 1})
		for _, f := range rounds {
			mustStep(b, l, f)
		}
		b.Run(fmt.Sprintf("alg=POLA/dim=%d", dim), func(b *testing.B) {
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				mustStep(b, l, rounds[i%len(rounds)])
				i++
			}
		})
	}
}

// BenchmarkMetric is a snapshot after 400 pairs.
func BenchmarkMetric(b *testing.B) {
	l := mustPOLA(b, 784, POLAParams{})
	for _, f := range images(rand.New(rand.NewPCG(1, 1)), 400) {
		mustStep(b, l, f)
	}
	b.Run("alg=POLA/dim=784", func(b *testing.B) {
		for b.Loop() {
			l.Metric()
		}
	})
}

// BenchmarkKernelStream is one pass over 1,000 pairs from the start: at d = 784
// all points differ, at d = 10 they are pairs of 100 points too.
func BenchmarkKernelStream(b *testing.B) {
	wide := images(rand.New(rand.NewPCG(1, 1)), 1000)
	small := randomLabels(rand.New(rand.NewPCG(1, 2)), 10, 1000)
	few := fewPoints(rand.New(rand.NewPCG(1, 3)), 10, 100, 1000)
	for _, c := range []struct {
		data   string
		dim    int
		k      kernels.Kernel
		rounds []metric.Pair
	}{
		{"generated", 784, gaussian(0.5), wide},
		{"generated", 784, kernels.Linear{}, wide},
		{"generated", 10, gaussian(0.5), small},
		{"generated", 10, polynomial(2, 1), small},
		{"100points", 10, gaussian(0.5), few},
	} {
		spec := must(kernels.SpecOf(c.k))
		b.Run(fmt.Sprintf("data=%s/alg=KernelPOLA/kernel=%s/dim=%d", c.data, spec.Name, c.dim), func(b *testing.B) {
			support := 0
			for b.Loop() {
				l := must(NewKernelPOLA(c.dim, c.k, POLAParams{Gamma: 1}))
				for _, f := range c.rounds {
					must(l.Step(f))
				}
				support = l.Support()
			}
			b.ReportMetric(float64(support), "points")
		})
	}
}

// BenchmarkKernelPredict is one prediction with 500 points or so stored.
func BenchmarkKernelPredict(b *testing.B) {
	for _, dim := range []int{10, 784} {
		rounds := randomLabels(rand.New(rand.NewPCG(1, 1)), dim, 400)
		l := must(NewKernelPOLA(dim, gaussian(0.5), POLAParams{Gamma: 1}))
		for _, f := range rounds {
			must(l.Step(f))
		}
		f := randomLabels(rand.New(rand.NewPCG(1, 4)), dim, 1)[0]
		b.Run(fmt.Sprintf("alg=KernelPOLA/dim=%d", dim), func(b *testing.B) {
			for b.Loop() {
				l.Predict(f)
			}
			b.ReportMetric(float64(l.Support()), "points")
		})
	}
}
