package nearest

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
)

// Whatever the blocks, the groups and the number of cores, each row has the neighbours of the reference, to the bit.
func TestPairsEqualReference(t *testing.T) {
	rng := rand.New(rand.NewPCG(18, 4))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, s := range sets(rng) {
		n, _ := s.x.Dims()
		if n < 2 {
			continue
		}
		c := mustKNN(t, metric.Euclidean{}, s.x, make([]int, n), KNNOptions{})
		for _, k := range []int{1, 5, n - 1} {
			want := make([][]Neighbour, n)
			for i := range want {
				want[i] = slowNeighbours(func(j int) float64 { return metric.Euclidean{}.SqDist(s.x.RawRowView(i), s.x.RawRowView(j)) }, n, k, i)
			}
			for _, procs := range []int{1, 4} {
				runtime.GOMAXPROCS(procs)
				// one row a block; groups of 1, 2, 3 blocks; one block; one group of many blocks
				for _, size := range [][2]int{{1, 7}, {9, 1}, {16, 2}, {11, 3}, {n, 1}, {13, n}} {
					got := make([][]Neighbour, n)
					c.searchPairs(t.Context(), size[0], size[1], k, func(i int, found []Neighbour) {
						if got[i] != nil {
							t.Errorf("%s: row %d is answered twice", s.name, i)
						}
						got[i] = slices.Clone(found)
					})
					if !reflect.DeepEqual(got, want) {
						i := slices.IndexFunc(got, func(f []Neighbour) bool { return f == nil })
						t.Errorf("%s, k = %d, blocks of %d rows, groups of %d, %d cores: not the neighbours of the reference (first without: row %d)", s.name, k, size[0], size[1], procs, i)
					}
				}
			}
		}
	}
}

// The candidates of a group stay within the bound on memory where that leaves as much as a search of queries takes.
func TestPairRows(t *testing.T) {
	t.Cleanup(func() { limits.SetMemory(0) })
	for _, memory := range []int64{1 << 20, 1 << 30, 0} {
		limits.SetMemory(memory)
		for _, n := range []int{2, 100, 8000, 1 << 30} {
			for _, r := range []int{1, 50, 784, 1 << 20} {
				for _, k := range []int{1, 9, 1000, 1 << 40} {
					block, group := pairRows(n, r, k)
					rows := block * group
					least := max(queryBlock*runtime.GOMAXPROCS(0), block)
					if block < 1 || block > n || group < 1 || rows > least && limits.Product(rows, 72, k) > min(groupBytes, limits.Memory()/4) {
						t.Errorf("%d rows of width %d, k = %d, memory %d: %d blocks of %d rows", n, r, k, memory, group, block)
					}
				}
			}
		}
	}
}

// nearSurface returns n rows of width r: images of points in dim dimensions, plus noise of 1 per cent. With dim 0 they
// are isotropic.
func nearSurface(rng *rand.Rand, n, r, dim int) *mat.Dense {
	normal := func(n, r int, scale float64) *mat.Dense {
		x := mat.NewDense(n, r, nil)
		for i := range x.RawMatrix().Data {
			x.RawMatrix().Data[i] = scale * rng.NormFloat64()
		}
		return x
	}
	if dim == 0 {
		return normal(n, r, 1)
	}
	x, noise := mat.NewDense(n, r, nil), normal(n, r, .01)
	x.Mul(normal(n, dim, 1), normal(dim, r, 1))
	x.Add(x, noise)
	return x
}

// BenchmarkLeaveOneOut is on one core: all five k of metriclab evaluate, on rows of width 50 that are isotropic
// (latent=0) or lie near a flat surface. Product and tree are the two ways to search; KNN is what is chosen, with all that it
// builds. The package documentation quotes it.
func BenchmarkLeaveOneOut(b *testing.B) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const r, k = 50, 9
	for _, dim := range []int{0, 2, 4, 6, 10} {
		for _, n := range []int{1000, 2000, 4000, 8000, 16000} {
			x := nearSurface(rand.New(rand.NewPCG(1, 2)), n, r, dim)
			build := func() *KNN {
				c, err := NewKNN(metric.Euclidean{}, x, make([]int, n), KNNOptions{})
				if err != nil {
					b.Fatal(err)
				}
				return c
			}
			c := build()
			ignore := func(int, []Neighbour) {}
			block, group := pairRows(n, r, k)
			for _, alg := range []struct {
				name string
				run  func()
			}{
				{"KNN", func() {
					if _, err := build().LeaveOneOut(b.Context(), []int{1, 3, 5, 7, k}); err != nil {
						b.Fatal(err)
					}
				}},
				{"product", func() { c.searchPairs(b.Context(), block, group, k, ignore) }},
				{"tree", func() { c.searchTree(b.Context(), newTree(b.Context(), c.points), c.points, true, k, ignore) }},
			} {
				b.Run(fmt.Sprintf("alg=%s/latent=%d/n=%d", alg.name, dim, n), func(b *testing.B) {
					for b.Loop() {
						alg.run()
					}
				})
			}
		}
	}
}

// BenchmarkNearSurface is BenchmarkTree on rows of width 50 near a flat surface.
func BenchmarkNearSurface(b *testing.B) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const queries, n, r, k = 2000, 100000, 50, 5
	for _, dim := range []int{2, 4, 6, 10} {
		all := nearSurface(rand.New(rand.NewPCG(1, 2)), n+queries, r, dim)
		x, q := all.Slice(0, n, 0, r).(*mat.Dense), all.Slice(n, n+queries, 0, r).(*mat.Dense)
		c, err := NewKNN(metric.Euclidean{}, x, make([]int, n), KNNOptions{})
		if err != nil {
			b.Fatal(err)
		}
		tr := newTree(b.Context(), c.points)
		ignore := func(int, []Neighbour) {}
		for _, alg := range []struct {
			name string
			run  func()
		}{
			{"build", func() { newTree(b.Context(), c.points) }},
			{"tree", func() { c.searchTree(b.Context(), tr, q, false, k, ignore) }},
			{"product", func() { c.searchProduct(b.Context(), q, k, ignore) }},
		} {
			b.Run(fmt.Sprintf("alg=%s/latent=%d", alg.name, dim), func(b *testing.B) {
				for b.Loop() {
					alg.run()
				}
			})
		}
	}
}
