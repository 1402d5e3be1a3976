package nearest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/spatial/kdtree"

	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
)

// treeSets are sets with more rows than a leaf holds, of odd and even widths.
func treeSets(rng *rand.Rand) []set {
	fill := func(n, d int, f func(i, j int) float64) *mat.Dense {
		x := mat.NewDense(n, d, nil)
		for i := range n {
			for j := range d {
				x.Set(i, j, f(i, j))
			}
		}
		return x
	}
	normal := func(scale float64) func(i, j int) float64 {
		return func(int, int) float64 { return scale * rng.NormFloat64() }
	}
	both := func(name string, n, m, d int, f func(i, j int) float64) set {
		return set{name, fill(n, d, f), fill(m, d, f)}
	}
	grid := func(int, int) float64 { return float64(rng.IntN(4)) }
	apart := set{"far queries", fill(200, 3, normal(1)), fill(20, 3, normal(1e8))}
	thin := both("thin boxes", 300, 40, 2, func(_, j int) float64 { return rng.NormFloat64() * []float64{1e9, 1e-7}[j] })
	skewed := both("skewed", 300, 40, 4, func(_, j int) float64 { return math.Exp(8 * rng.NormFloat64()) })
	clusters := both("clusters", 300, 40, 5, func(i, j int) float64 { return float64(i%6*j) + 1e-9*rng.NormFloat64() })
	line := both("collinear", 300, 40, 3, func(i, j int) float64 { return float64(i%97) * []float64{1, 2, -3}[j] })
	edges := set{"just outside", fill(200, 2, func(int, int) float64 { return float64(rng.IntN(3)) * 1e6 }), fill(40, 2, func(int, int) float64 { return float64(rng.IntN(3))*1e6 + rng.NormFloat64()*1e-9 })}
	all := []set{
		apart, thin, skewed, clusters, line, edges,
		both("uniform 1", 200, 30, 1, normal(1)), both("uniform 2", 250, 60, 2, normal(1)), both("uniform 7", 300, 30, 7, normal(1)), both("uniform 10", 300, 30, 10, normal(1)),
		both("grid", 200, 60, 3, grid), both("duplicates", 300, 5, 2, func(i, j int) float64 { return float64(i % 2) }),
		both("huge", 200, 30, 3, normal(1e151)), both("small", 200, 30, 3, normal(1e-150)), both("one leaf and one", leafRows+1, 5, 2, normal(1)), both("two leaves", 2*leafRows+2, 5, 2, normal(1)),
	}
	return append(all, sets(rng)...)
}

// TestTreeEqualsReference demands what TestNeighboursEqualReference does, of tree and product: the same bits.
func TestTreeEqualsReference(t *testing.T) {
	rng := rand.New(rand.NewPCG(18, 1))
	for _, s := range treeSets(rng) {
		n, d := s.x.Dims()
		c := mustKNN(t, metric.Euclidean{}, s.x, make([]int, n), KNNOptions{})
		tr := newTree(t.Context(), c.points)
		for _, self := range []bool{false, true} {
			points, most := s.q, n
			if self {
				points, most = s.x, n-1
			}
			m, _ := points.Dims()
			for _, k := range []int{1, 4, most} {
				if k < 1 || k > most {
					continue
				}
				byTree, byProduct := make([][]Neighbour, m), make([][]Neighbour, m)
				c.searchTree(t.Context(), tr, points, self, k, func(i int, found []Neighbour) { byTree[i] = slices.Clone(found) })
				keep := func(i int, found []Neighbour) { byProduct[i] = slices.Clone(found) }
				if self {
					c.searchPairs(t.Context(), 16, 3, k, keep)
				} else {
					c.searchProduct(t.Context(), points, k, keep)
				}
				for i := 0; i < m; i += 1 + m/40 { // the reference is slow
					except := -1
					if self {
						except = i
					}
					want := slowNeighbours(func(j int) float64 { return metric.Euclidean{}.SqDist(points.RawRowView(i), s.x.RawRowView(j)) }, n, k, except)
					if !reflect.DeepEqual(byTree[i], want) {
						t.Errorf("%s, width %d, k = %d, self %t: tree, query %d: %v, want %v", s.name, d, k, self, i, byTree[i], want)
						break
					}
					if !reflect.DeepEqual(byProduct[i], want) {
						t.Errorf("%s, width %d, k = %d, self %t: product, query %d: %v, want %v", s.name, d, k, self, i, byProduct[i], want)
						break
					}
				}
			}
		}
	}
}

// TestTreeHoldsAllRows: the leaves hold each row once, boxes hold their rows, and no bound is above a distance that
// metric.Euclidean gives.
func TestTreeHoldsAllRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(18, 2))
	for _, s := range treeSets(rng) {
		n, r := s.x.Dims()
		tr := newTree(t.Context(), s.x)
		if sorted := slices.Sorted(slices.Values(tr.index)); len(sorted) != n || sorted[0] != 0 || sorted[n-1] != n-1 || len(slices.Compact(sorted)) != n {
			t.Fatalf("%s: the leaves hold rows %v", s.name, sorted)
		}
		w := newWalk(t.Context(), tr, 1)
		m, _ := s.q.Dims()
		var visit func(node, lo, hi, levels int)
		visit = func(node, lo, hi, levels int) {
			if levels == 0 && (hi-lo > 2*leafRows || hi == lo) {
				t.Errorf("%s: a leaf of %d rows", s.name, hi-lo)
			}
			low, high := tr.box(node)
			for p := lo; p < hi; p++ {
				row := tr.rows[p*r:][:r]
				if !slices.Equal(row, s.x.RawRowView(tr.index[p])) {
					t.Fatalf("%s: row %d is not where the index says", s.name, tr.index[p])
				}
				for j, v := range row {
					if v < low[j] || v > high[j] {
						t.Fatalf("%s: node %d: row %d is outside of the box", s.name, node, tr.index[p])
					}
				}
				for i := range m {
					w.query = s.q.RawRowView(i)
					if got, most := w.bound(node), (metric.Euclidean{}).SqDist(w.query, row); got > most {
						t.Fatalf("%s: node %d: the bound is %v, a squared distance %v", s.name, node, got, most)
					}
				}
			}
			if levels > 0 {
				mid := (lo + hi) / 2
				visit(2*node+1, lo, mid, levels-1)
				visit(2*node+2, mid, hi, levels-1)
			}
		}
		visit(0, 0, n, tr.levels)
	}
}

// A query that is outside of a wide box by little: the distance must not lose digits to the width.
func TestOutside(t *testing.T) {
	rng := rand.New(rand.NewPCG(18, 3))
	for range 10000 {
		low := rng.NormFloat64() * math.Pow(10, float64(rng.IntN(20)-10))
		high := low + math.Abs(rng.NormFloat64())*math.Pow(10, float64(rng.IntN(20)-10))
		x := []float64{low, high, (low + high) / 2, 0}[rng.IntN(4)] + rng.NormFloat64()*math.Pow(10, float64(rng.IntN(30)-15))
		if got, want := outside(x, low, high), max(low-x, x-high, 0); got != want {
			t.Fatalf("outside(%v, %v, %v) = %v, want %v", x, low, high, got, want)
		}
	}
}

func TestDivide(t *testing.T) {
	rng := rand.New(rand.NewPCG(18, 4))
	for name, f := range map[string]func(i int) float64{
		"random": func(int) float64 { return rng.NormFloat64() }, "constant": func(int) float64 { return 3 },
		"rising": func(i int) float64 { return float64(i) }, "falling": func(i int) float64 { return -float64(i) },
		"few": func(int) float64 { return float64(rng.IntN(3)) }, "pipes": func(i int) float64 { return -math.Abs(float64(i - 50)) },
	} {
		for _, n := range []int{1, 2, 3, 10, 101} {
			for _, tries := range []int{0, 1, 2, 100} {
				for _, at := range []int{0, n / 2, n - 1} {
					keys := make([]keyed, n)
					for i := range keys {
						keys[i] = keyed{f(i), i}
					}
					divide(keys, at, tries)
					seen := map[int]bool{}
					for i, x := range keys {
						seen[x.index] = true
						if i < at && x.key > keys[at].key || i > at && x.key < keys[at].key {
							t.Fatalf("%s, n = %d, at = %d, %d tries: %v", name, n, at, tries, keys)
						}
					}
					if len(seen) != n {
						t.Fatalf("%s, n = %d: a key was lost", name, n)
					}
				}
			}
		}
	}
}

// TestTreeIsBuiltWhenItPays: not for one query, not where rows are wide or memory is short, and not kept where it does not help.
func TestTreeIsBuiltWhenItPays(t *testing.T) {
	t.Cleanup(func() { limits.SetMemory(0) })
	rng := rand.New(rand.NewPCG(18, 5))
	const n = 4000
	x := uniform(rng, n, 2)
	q := uniform(rng, 1, 2)
	c := mustKNN(t, metric.Euclidean{}, x, make([]int, n), KNNOptions{})
	for asked := 1; c.tree.Load() == nil; asked++ {
		if worth := worthBuilding(int64(asked-1), n, 2); worth {
			t.Fatalf("no tree after %d queries one by one", asked-1)
		}
		if _, err := c.Neighbours(t.Context(), q, 3); err != nil {
			t.Fatal(err)
		}
	}
	if asked := c.asked.Load(); asked < 20 {
		t.Errorf("a tree after %d queries one by one", asked)
	}
	once := func(x *mat.Dense) *KNN {
		n, _ := x.Dims()
		c := mustKNN(t, metric.Euclidean{}, x, make([]int, n), KNNOptions{})
		if _, err := c.LeaveOneOut(t.Context(), []int{3}); err != nil {
			t.Fatal(err)
		}
		return c
	}
	if c := once(x); c.tree.Load() == nil || c.hopeless {
		t.Error("no tree for 4000 rows of width 2")
	}
	if c := once(uniform(rng, 3000, 24)); c.tree.Load() != nil || !c.hopeless {
		t.Errorf("uniform rows of width 24: tree kept %t, found hopeless %t", c.tree.Load() != nil, c.hopeless)
	}
	// Queries as far from one row as from another are answered no faster by a tree; one at a time they are not the last word.
	ring := mat.NewDense(n, 2, nil)
	for i := range n {
		ring.SetRow(i, []float64{math.Cos(float64(i)), math.Sin(float64(i))})
	}
	c = mustKNN(t, metric.Euclidean{}, ring, make([]int, n), KNNOptions{})
	for centre := mat.NewDense(1, 2, nil); c.trials == 0; {
		if _, err := c.Neighbours(t.Context(), centre, 3); err != nil {
			t.Fatal(err)
		}
	}
	if c.hopeless {
		t.Error("given up after one query")
	}
	if _, err := c.LeaveOneOut(t.Context(), []int{3}); err != nil || c.tree.Load() == nil {
		t.Errorf("no tree after a better trial, error %v", err)
	}
	if c := once(uniform(rng, treeRows-1, 2)); c.tree.Load() != nil {
		t.Errorf("a tree of %d rows", treeRows-1)
	}
	if worthBuilding(math.MaxInt64, 1<<20, treeWidth+1) || !worthBuilding(math.MaxInt64, 1<<20, treeWidth) {
		t.Error("the width does not decide")
	}
	limits.SetMemory(treeBytes(n, 2) - 1)
	if c := once(x); c.tree.Load() != nil {
		t.Error("a tree that is larger than the limit")
	}
	limits.SetMemory(treeBytes(n, 2))
	if c := once(x); c.tree.Load() == nil {
		t.Error("no tree at the limit")
	}
}

// Done at whatever look, a method that builds and uses a tree returns the context's error and no answer.
func TestTreeCancelled(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // with several, the number of looks is a matter of luck
	rng := rand.New(rand.NewPCG(18, 6))
	x := uniform(rng, 1200, 2)
	fresh := func() *KNN { return mustKNN(t, metric.Euclidean{}, x, make([]int, 1200), KNNOptions{}) }
	all := &counted{Context: t.Context(), most: 1 << 60}
	c := fresh()
	if _, err := c.Neighbours(all, x, 3); err != nil || c.tree.Load() == nil {
		t.Fatalf("error %v, tree built: %t", err, c.tree.Load() != nil)
	}
	for most := range all.looks.Load() {
		got, err := fresh().Neighbours(&counted{Context: t.Context(), most: most}, x, 3)
		if !errors.Is(err, context.Canceled) || got != nil {
			t.Errorf("done from look %d on: error %v", most+1, err)
		}
	}
	// A cancelled search leaves a KNN as good as it was.
	c = fresh()
	if _, err := c.LeaveOneOut(&counted{Context: t.Context(), most: 5}, []int{1}); err == nil {
		t.Fatal("no error")
	}
	got, err := c.Neighbours(t.Context(), x, 3)
	want, _ := fresh().Neighbours(t.Context(), x, 3)
	if err != nil || !reflect.DeepEqual(got, want) || c.tree.Load() == nil {
		t.Errorf("after a cancelled search: error %v, same answers %t, tree built %t", err, reflect.DeepEqual(got, want), c.tree.Load() != nil)
	}
}

// Goroutines that share a KNN get the same answers while one of them builds the tree.
func TestTreeIsShared(t *testing.T) {
	rng := rand.New(rand.NewPCG(18, 7))
	const n = 3000
	x := uniform(rng, n, 3)
	c := mustKNN(t, metric.Euclidean{}, x, make([]int, n), KNNOptions{})
	want := make([][]Neighbour, n)
	c.searchProduct(t.Context(), x, 4, func(i int, found []Neighbour) { want[i] = slices.Clone(found) })
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for lo := g * 100; lo < n; lo += 500 {
				got, err := c.Neighbours(t.Context(), x.Slice(lo, lo+100, 0, 3), 4)
				if err != nil || !reflect.DeepEqual(got, want[lo:lo+100]) {
					t.Errorf("rows from %d: error %v, same answers %t", lo, err, err == nil)
				}
			}
		})
	}
	wg.Wait()
	if c.tree.Load() == nil {
		t.Error("nobody built a tree")
	}
}

// BenchmarkTree compares, on one core, what a KNN does for the 5 nearest neighbours of 2,000 queries among
// uniform rows: KNN with all that it builds, its parts, all distances one by one, and gonum's k-d tree.
// The table in the package documentation is made of it.
func BenchmarkTree(b *testing.B) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const queries, n, k = 2000, 100000, 5
	for _, dim := range []int{2, 3, 5, 8, 10, 12, 16} {
		rng := rand.New(rand.NewPCG(1, 2))
		q, x := uniform(rng, queries, dim), uniform(rng, n, dim)
		build := func() *KNN {
			c, err := NewKNN(metric.Euclidean{}, x, make([]int, n), KNNOptions{})
			if err != nil {
				b.Fatal(err)
			}
			return c
		}
		c := build()
		tr := newTree(b.Context(), c.points)
		ignore := func(int, []Neighbour) {}
		points := make(kdtree.Points, n)
		for i := range points {
			points[i] = x.RawRowView(i)
		}
		peer := kdtree.New(slices.Clone(points), true)
		for _, alg := range []struct {
			name string
			run  func()
		}{
			{"KNN", func() {
				if _, err := build().Classify(b.Context(), q, k); err != nil {
					b.Fatal(err)
				}
			}},
			{"build", func() { newTree(b.Context(), c.points) }},
			{"tree", func() { c.searchTree(b.Context(), tr, q, false, k, ignore) }},
			{"product", func() { c.searchProduct(b.Context(), q, k, ignore) }},
			{"brute", func() {
				best := newBest(k)
				for i := range queries {
					best.reset()
					for j := range n {
						sq := metric.Euclidean{}.SqDist(q.RawRowView(i), x.RawRowView(j))
						best.offer(j, sq, sq)
					}
				}
			}},
			{"gonum-build", func() { kdtree.New(slices.Clone(points), true) }},
			{"gonum-tree", func() {
				for i := range queries {
					peer.NearestSet(kdtree.NewNKeeper(k), kdtree.Point(q.RawRowView(i)))
				}
			}},
		} {
			b.Run(fmt.Sprintf("alg=%s/n=%d/dim=%d", alg.name, n, dim), func(b *testing.B) {
				for b.Loop() {
					alg.run()
				}
			})
		}
	}
}
