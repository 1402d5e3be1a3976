package nearest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/kernels"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
)

// slowNeighbours is the documented order, straight from its definition: all
// squared distances, sorted, grouped from the nearest on, cut at k.
func slowNeighbours(sqDist func(j int) float64, n, k, except int) []Neighbour {
	var all []Neighbour
	for j := range n {
		if j != except {
			all = append(all, Neighbour{j, sqDist(j)})
		}
	}
	slices.SortStableFunc(all, func(a, b Neighbour) int { return cmp.Compare(a.SqDist, b.SqDist) })
	var out []Neighbour
	for len(all) > 0 {
		end := slices.IndexFunc(all, func(a Neighbour) bool { return a.SqDist > all[0].SqDist*(1+TieTolerance) })
		if end < 0 {
			end = len(all)
		}
		group := slices.Clone(all[:end])
		slices.SortFunc(group, func(a, b Neighbour) int { return a.Index - b.Index })
		out = append(out, group...)
		all = all[end:]
	}
	return out[:k]
}

// slowVote counts the votes of the documented rules.
func slowVote(labels []int, rule VoteTie) int {
	votes := map[int]int{}
	for _, l := range labels {
		votes[l]++
	}
	most := 0
	for _, v := range votes {
		most = max(most, v)
	}
	var tied []int
	for l, v := range votes {
		if v == most {
			tied = append(tied, l)
		}
	}
	slices.Sort(tied)
	switch {
	case len(tied) == 1 || rule == TieLowestLabel:
		return tied[0]
	case rule == TieSmallerK:
		return slowVote(labels[:len(labels)-1], rule)
	}
	return labels[slices.IndexFunc(labels, func(l int) bool { return slices.Contains(tied, l) })]
}

// viaFunc hides the type of a metric, and so the fast path.
type viaFunc struct{ metric.SqDister }

type set struct {
	name string
	x, q *mat.Dense
}

// sets are data whose distances tie often, exactly and almost.
func sets(rng *rand.Rand) []set {
	fill := func(n, d int, f func() float64) *mat.Dense {
		x := mat.NewDense(n, d, nil)
		for i := range n {
			for j := range d {
				x.Set(i, j, f())
			}
		}
		return x
	}
	grid := func() float64 { return float64(rng.IntN(4)) }
	tenth := func() float64 { return 0.1 * float64(rng.IntN(3)) }       // ties up to round-off
	far := func() float64 { return 1e6 + float64(rng.IntN(3)) }         // cancellation
	same := func() float64 { return 0.3 }                               // all points coincide
	tiny := func() float64 { return 1 + 1e-13*float64(rng.IntN(1000)) } // distances near round-off
	vanishing := func() float64 { return 1e-161 * rng.NormFloat64() }   // squares lose digits to underflow
	return []set{
		{"grid", fill(150, 3, grid), fill(130, 3, grid)},
		{"line", fill(100, 1, grid), fill(10, 1, rng.NormFloat64)},
		{"tenths", fill(140, 5, tenth), fill(40, 5, tenth)},
		{"offset", fill(90, 4, far), fill(40, 4, far)},
		{"coincident", fill(135, 2, same), fill(3, 2, same)},
		{"tiny", fill(100, 3, tiny), fill(20, 3, tiny)},
		{"normal", fill(135, 40, rng.NormFloat64), fill(20, 40, rng.NormFloat64)},
		{"one", fill(1, 3, grid), fill(2, 3, grid)},
		{"underflow", fill(100, 3, vanishing), fill(20, 3, vanishing)},
	}
}

func randomLabels(rng *rand.Rand, n, classes int) []int {
	y := make([]int, n)
	for i := range y {
		y[i] = rng.IntN(classes) - 1
	}
	return y
}

func mustKNN(t testing.TB, m metric.SqDister, x *mat.Dense, y []int, o KNNOptions) *KNN {
	t.Helper()
	c, err := NewKNN(m, x, y, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestNeighboursEqualReference demands the reference's neighbours, order and
// distances to the bit: ties leave no room for a tolerance.
func TestNeighboursEqualReference(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	for _, s := range sets(rng) {
		n, d := s.x.Dims()
		m, _ := s.q.Dims()
		factor := mat.NewDense(2, d, nil)
		integer := mat.NewDense(2, d, nil)
		for i := range 2 {
			for j := range d {
				factor.Set(i, j, rng.NormFloat64())
				integer.Set(i, j, float64(rng.IntN(3)-1))
			}
		}
		gaussian, err := kernels.NewGaussian(0.1)
		if err != nil {
			t.Fatal(err)
		}
		kernelFactor := mat.NewDense(3, n, nil)
		for i := range 3 {
			for j := range n {
				kernelFactor.Set(i, j, rng.NormFloat64())
			}
		}
		for name, metr := range map[string]metric.SqDister{
			"euclidean": metric.Euclidean{},
			"function":  viaFunc{metric.Euclidean{}},
			"factor":    metric.FromFactor(factor),
			"integer":   metric.FromFactor(integer),
			"zero":      metric.Zero(d),
			"kernel":    kernels.NewMetric(gaussian, d, s.x, kernelFactor),
			"no kernel": kernels.NewMetric(gaussian, d, nil, nil),
		} {
			c := mustKNN(t, metr, s.x, make([]int, n), KNNOptions{})
			image := func(x []float64) []float64 { return x }
			if e, ok := metr.(interface{ Embed(x []float64) []float64 }); ok {
				image = e.Embed
			}
			dist := func(q []float64) func(int) float64 {
				return func(j int) float64 { return metric.Euclidean{}.SqDist(image(q), image(s.x.RawRowView(j))) }
			}
			want := make([][]Neighbour, m) // all rows; the first k are the k nearest
			for i := range m {
				want[i] = slowNeighbours(dist(s.q.RawRowView(i)), n, n, -1)
			}
			for _, k := range []int{1, 2, 7, n / 2, n} {
				if k < 1 || k > n {
					continue
				}
				got, err := c.Neighbours(t.Context(), s.q, k)
				if err != nil {
					t.Fatal(err)
				}
				for i := range m {
					if !slices.Equal(got[i], want[i][:k]) {
						t.Fatalf("%s, %s, k = %d, query %d:\n got %v\nwant %v", s.name, name, k, i, got[i], want[i][:k])
					}
				}
			}
		}
	}
}

// TestEmbeddedOrderIsTheMetrics checks that the distance reported on the
// embedded path is that of the metric itself.
func TestEmbeddedOrderIsTheMetrics(t *testing.T) {
	// L(q−x) and Lq−Lx differ by about r·d·ε relative to ‖Lq‖², here of order 1.
	const tol = 1e-12
	rng := rand.New(rand.NewPCG(3, 2))
	x, q := uniform(rng, 50, 6), uniform(rng, 20, 6)
	m := metric.FromFactor(uniform(rng, 4, 6))
	got, err := mustKNN(t, m, x, make([]int, 50), KNNOptions{}).Neighbours(t.Context(), q, 50)
	if err != nil {
		t.Fatal(err)
	}
	for i, found := range got {
		for _, f := range found {
			if want := m.SqDist(q.RawRowView(i), x.RawRowView(f.Index)); math.Abs(f.SqDist-want) > tol*(1+want) {
				t.Errorf("query %d, row %d: squared distance %v, the metric says %v", i, f.Index, f.SqDist, want)
			}
		}
	}
}

func TestNearTiesGoToTheLowerIndex(t *testing.T) {
	for _, c := range []struct {
		name string
		gap  float64 // relative difference of the squared distances
		want []int
	}{
		{"inside the tolerance", 4e-13, []int{1, 2, 0}},
		{"outside the tolerance", 4e-12, []int{2, 1, 0}},
	} {
		// Rows 1 and 2 have squared distances 1+gap and 1 from the origin.
		x := mat.NewDense(3, 1, []float64{2, math.Sqrt(1 + c.gap), -1})
		got, err := mustKNN(t, metric.Euclidean{}, x, make([]int, 3), KNNOptions{}).Neighbours(t.Context(), mat.NewDense(1, 1, nil), 3)
		if err != nil {
			t.Fatal(err)
		}
		var order []int
		for _, f := range got[0] {
			order = append(order, f.Index)
		}
		if !slices.Equal(order, c.want) {
			t.Errorf("%s: order %v, want %v", c.name, order, c.want)
		}
	}
}

func TestAnswersDoNotDependOnBatchOrCores(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	x, q := uniform(rng, 400, 70), uniform(rng, 300, 70)
	m := metric.FromFactor(uniform(rng, 65, 70))
	c := mustKNN(t, m, x, randomLabels(rng, 400, 4), KNNOptions{})
	all, err := c.Neighbours(t.Context(), q, 6)
	if err != nil {
		t.Fatal(err)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	single, err := mustKNN(t, m, x, c.labels, KNNOptions{}).Neighbours(t.Context(), q, 6)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(all, single) {
		t.Error("GOMAXPROCS = 1 changed a neighbour or a bit of its distance")
	}
	for _, i := range []int{0, 129, 299} {
		one, err := c.Neighbours(t.Context(), mat.DenseCopyOf(q.Slice(i, i+1, 0, 70)), 6)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(one[0], all[i]) {
			t.Errorf("query %d alone: %v, in a batch %v", i, one[0], all[i])
		}
	}
}

// Queries that are multiplied in blocks, with tiles of training rows, have the neighbours that each has alone;
// there are many ties.
func TestBlocksEqualQueriesAlone(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const n, m, d, k = 1100, 530, 3, 7
	x, q := mat.NewDense(n, d, nil), mat.NewDense(m, d, nil)
	for _, rows := range []*mat.Dense{x, q} {
		for i := range rows.RawMatrix().Data {
			rows.RawMatrix().Data[i] = float64(rng.IntN(9)) / 3
		}
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // the largest blocks
	if b := blockRows(m, d); b >= m || b < fewQueries {
		t.Fatalf("a block has %d of %d queries: no test of blocks", b, m)
	}
	c := mustKNN(t, metric.Euclidean{}, x, make([]int, n), KNNOptions{})
	alone := make([][]Neighbour, m)
	for i := range m {
		one, err := c.Neighbours(t.Context(), q.Slice(i, i+1, 0, d).(*mat.Dense), k)
		if err != nil {
			t.Fatal(err)
		}
		alone[i] = one[0]
	}
	for _, rows := range []int{fewQueries - 1, fewQueries, 100, m} {
		got, err := c.Neighbours(t.Context(), q.Slice(0, rows, 0, d).(*mat.Dense), k)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, alone[:rows]) {
			t.Errorf("%d queries: a neighbour or a bit of its distance is not that of a query alone", rows)
		}
	}
}

func TestVoteRules(t *testing.T) {
	// One query at 0; neighbours 1, 2, 3 ... in order, so labels are the ranks'.
	for _, c := range []struct {
		labels []int
		want   map[VoteTie]int
	}{
		{[]int{5}, map[VoteTie]int{TieNearest: 5, TieSmallerK: 5, TieLowestLabel: 5}},
		{[]int{5, 3}, map[VoteTie]int{TieNearest: 5, TieSmallerK: 5, TieLowestLabel: 3}},
		{[]int{9, 5, 3, 3, 5}, map[VoteTie]int{TieNearest: 5, TieSmallerK: 3, TieLowestLabel: 3}},
		{[]int{9, 5, 3, 1}, map[VoteTie]int{TieNearest: 9, TieSmallerK: 9, TieLowestLabel: 1}},
		{[]int{7, 2, 2}, map[VoteTie]int{TieNearest: 2, TieSmallerK: 2, TieLowestLabel: 2}},
		{[]int{-1, -2, -2, -1, 4}, map[VoteTie]int{TieNearest: -1, TieSmallerK: -2, TieLowestLabel: -2}},
	} {
		n := len(c.labels)
		x := mat.NewDense(n, 1, nil)
		for i := range n {
			x.Set(i, 0, float64(i+1))
		}
		for rule, want := range c.want {
			got, err := mustKNN(t, metric.Euclidean{}, x, c.labels, KNNOptions{VoteTie: rule}).Classify(t.Context(), mat.NewDense(1, 1, nil), n)
			if err != nil {
				t.Fatal(err)
			}
			if got[0] != want {
				t.Errorf("labels %v, %v: got %d, want %d", c.labels, rule, got[0], want)
			}
		}
	}
}

func TestVoteEqualsReference(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		n := 1 + rng.IntN(12)
		labels := randomLabels(rng, n, 1+rng.IntN(30)) // more classes than vote's buffer at times
		found := make([]Neighbour, n)
		for i := range found {
			found[i].Index = i
		}
		for _, rule := range []VoteTie{TieNearest, TieSmallerK, TieLowestLabel} {
			c := &KNN{labels: labels, opts: KNNOptions{VoteTie: rule}}
			if got, want := c.vote(found), slowVote(labels, rule); got != want {
				t.Fatalf("labels %v, %v: got %d, want %d", labels, rule, got, want)
			}
		}
	}
}

func TestSweepsEqualOneByOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	for _, s := range sets(rng) {
		n, d := s.x.Dims()
		m, _ := s.q.Dims()
		if n < 2 {
			continue
		}
		y, want := randomLabels(rng, n, 3), randomLabels(rng, m, 3)
		others := make([][]int, n) // labels of all other rows, nearest first
		for q := range n {
			for _, f := range slowNeighbours(func(j int) float64 {
				return metric.Euclidean{}.SqDist(s.x.RawRowView(q), s.x.RawRowView(j))
			}, n, n-1, q) {
				others[q] = append(others[q], y[f.Index])
			}
		}
		for _, metr := range []metric.SqDister{metric.Euclidean{}, viaFunc{metric.Euclidean{}}, metric.Identity(d)} {
			for _, rule := range []VoteTie{TieNearest, TieSmallerK, TieLowestLabel} {
				c := mustKNN(t, metr, s.x, y, KNNOptions{VoteTie: rule})
				ks := []int{min(5, n-1), 1, n - 1}
				errs, err := c.Errors(t.Context(), s.q, want, ks)
				if err != nil {
					t.Fatal(err)
				}
				loo, err := c.LeaveOneOut(t.Context(), ks)
				if err != nil {
					t.Fatal(err)
				}
				for i, k := range ks {
					got, err := c.Classify(t.Context(), s.q, k)
					if err != nil {
						t.Fatal(err)
					}
					wrong := 0
					for q := range m {
						if got[q] != want[q] {
							wrong++
						}
					}
					if errs[i] != wrong {
						t.Errorf("%s, %v, k = %d: Errors says %d, Classify %d", s.name, rule, k, errs[i], wrong)
					}
					wrong = 0
					for q := range n {
						if slowVote(others[q][:k], rule) != y[q] {
							wrong++
						}
					}
					if loo[i] != wrong {
						t.Errorf("%s, %v, k = %d: LeaveOneOut says %d, the reference %d", s.name, rule, k, loo[i], wrong)
					}
				}
			}
		}
	}
}

func TestLeaveOneOutUsesDuplicates(t *testing.T) {
	// Each point has one duplicate of the other class, and nothing else near.
	x := mat.NewDense(4, 1, []float64{0, 0, 9, 9})
	c := mustKNN(t, metric.Euclidean{}, x, []int{0, 1, 0, 1}, KNNOptions{})
	got, err := c.LeaveOneOut(t.Context(), []int{1})
	if err != nil {
		t.Fatal(err)
	}
	if got[0] != 4 {
		t.Errorf("%d errors, want 4: the only near neighbour is the duplicate of the other class", got[0])
	}
}

func TestKNNKeepsNoCallerMemory(t *testing.T) {
	for _, m := range []metric.SqDister{metric.Euclidean{}, viaFunc{metric.Euclidean{}}} {
		x := mat.NewDense(2, 1, []float64{0, 10})
		y := []int{1, 2}
		q := mat.NewDense(1, 1, []float64{1})
		c := mustKNN(t, m, x, y, KNNOptions{})
		x.Set(0, 0, 1000)
		y[0] = 3
		got, err := c.Classify(t.Context(), q, 1)
		if err != nil {
			t.Fatal(err)
		}
		if got[0] != 1 {
			t.Errorf("%T: label %d after the caller changed its data, want 1", m, got[0])
		}
	}
}

func TestKNNErrors(t *testing.T) {
	x := mat.NewDense(3, 2, []float64{0, 0, 1, 0, 0, 1})
	y := []int{0, 1, 1}
	nan := mat.NewDense(1, 2, []float64{0, math.NaN()})
	inf := mat.NewDense(1, 2, []float64{math.Inf(-1), 0})
	huge := mat.NewDense(1, 2, []float64{1e200, 0})
	q := mat.NewDense(1, 2, nil)
	c := mustKNN(t, metric.Euclidean{}, x, y, KNNOptions{})
	broken := mustKNN(t, nanMetric{}, x, y, KNNOptions{})
	build := func(m metric.SqDister, x *mat.Dense, y []int, o KNNOptions) error {
		_, err := NewKNN(m, x, y, o)
		return err
	}
	neighbours := func(c *KNN, q *mat.Dense, k int) error { _, err := c.Neighbours(t.Context(), q, k); return err }
	classify := func(k int) error { _, err := c.Classify(t.Context(), q, k); return err }
	sweep := func(want, ks []int) error { _, err := c.Errors(t.Context(), q, want, ks); return err }
	loo := func(c *KNN, ks ...int) error { _, err := c.LeaveOneOut(t.Context(), ks); return err }
	for want, err := range map[string]error{
		"training set is empty":                      build(metric.Euclidean{}, &mat.Dense{}, nil, KNNOptions{}),
		"2 labels for 3 rows":                        build(metric.Euclidean{}, x, y[:2], KNNOptions{}),
		"vote tie: 3 is not allowed":                 build(metric.Euclidean{}, x, y, KNNOptions{VoteTie: 3}),
		"vote tie: -1 is not allowed":                build(metric.Euclidean{}, x, y, KNNOptions{VoteTie: -1}),
		"training set: row 0, column 1: NaN":         build(metric.Euclidean{}, nan, y[:1], KNNOptions{}),
		"training set: row 0: squared distances":     build(metric.Euclidean{}, mat.NewDense(2, 1, []float64{1e200, -1e200}), y[:2], KNNOptions{}),
		"2 columns, the metric has dimension 3":      build(metric.Identity(3), x, y, KNNOptions{}),
		"k: 0 is not allowed, want 1 to 3":           neighbours(c, q, 0),
		"k: 4 is not allowed, want 1 to 3":           classify(4),
		"k: -1 is not allowed":                       sweep([]int{0}, []int{1, -1}),
		"k: none given":                              sweep([]int{0}, nil),
		"2 labels for 1 queries":                     sweep([]int{0, 0}, []int{1}),
		"k: 3 is not allowed, want 1 to 2":           loo(c, 3),
		"want 1 to 0":                                loo(mustKNN(t, metric.Euclidean{}, q, y[:1], KNNOptions{}), 1),
		"no queries":                                 neighbours(c, &mat.Dense{}, 1),
		"queries have 1 columns":                     neighbours(c, mat.NewDense(1, 1, nil), 1),
		"queries: row 0, column 0: -Inf":             neighbours(c, inf, 1),
		"queries: row 0: squared distances overflow": neighbours(c, huge, 1),
		"query 0 and training row 0 is NaN":          neighbours(broken, q, 1),
		"query 0 and training row 1 is NaN":          loo(broken, 1),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("no panic for a nil metric")
		}
	}()
	NewKNN(nil, x, y, KNNOptions{})
}

type nanMetric struct{}

func (nanMetric) SqDist(x, y []float64) float64 { return math.NaN() }

func TestVoteTieString(t *testing.T) {
	for rule, want := range map[VoteTie]string{
		TieNearest: "nearest of tied", TieSmallerK: "smaller k", TieLowestLabel: "lowest label", 9: "unknown vote tie rule 9",
	} {
		if rule.String() != want {
			t.Errorf("%d: %q, want %q", rule, rule, want)
		}
	}
}

// TestCandidatesStayFew checks the memory promise: on data without ties the
// search keeps a number of candidates of the order of k, not of n.
func TestCandidatesStayFew(t *testing.T) {
	const n, k = 20000, 3
	b := newBest(k)
	for i := range n { // the worst order: every row is nearer than all before
		b.offer(i, float64(n-i), float64(n-i))
	}
	if got := cap(b.candidates); got > 128 {
		t.Errorf("room for %d candidates after %d rows, want at most 128", got, n)
	}
	if got := b.nearest(func(c candidate) float64 { return c.lower })[0].Index; got != n-1 {
		t.Errorf("nearest is row %d, want %d", got, n-1)
	}
}

func ExampleNewKNN() {
	x := mat.NewDense(4, 2, []float64{
		0, 0,
		0, 1,
		5, 5,
		5, 6,
	})
	knn, err := NewKNN(metric.Euclidean{}, x, []int{0, 0, 1, 1}, KNNOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	labels, _ := knn.Classify(context.Background(), mat.NewDense(2, 2, []float64{1, 1, 4, 4}), 3)
	fmt.Println(labels)
	errors, _ := knn.LeaveOneOut(context.Background(), []int{1, 3})
	fmt.Println("leave-one-out errors for k = 1 and 3:", errors)
	// Output:
	// [0 1]
	// leave-one-out errors for k = 1 and 3: [0 4]
}

// counted is a context that is done from the look of the given number on.
type counted struct {
	context.Context
	looks atomic.Int64
	most  int64
}

func (c *counted) Err() error {
	if c.looks.Add(1) > c.most {
		return context.Canceled
	}
	return nil
}

// measured is a Euclidean metric that calls tell before each distance.
type measured struct{ tell func() }

func (m measured) SqDist(x, y []float64) float64 {
	m.tell()
	return metric.Euclidean{}.SqDist(x, y)
}

// TestKNNCancelled: done at whatever look, each method returns the context's error and no answer.
func TestKNNCancelled(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	x, y := mat.NewDense(300, 3, nil), make([]int, 300)
	for i := range 300 {
		y[i] = i % 2
		for j := range 3 {
			x.Set(i, j, rng.NormFloat64())
		}
	}
	scaled, err := metric.NewMahalanobis(mat.NewSymDense(3, []float64{2, 0, 0, 0, 1, 0, 0, 0, 1}))
	if err != nil {
		t.Fatal(err)
	}
	for name, m := range map[string]metric.SqDister{"embedded": scaled, "function": measured{func() {}}} {
		c := mustKNN(t, m, x, y, KNNOptions{})
		for method, f := range map[string]func(ctx context.Context) (any, error){
			"Neighbours":  func(ctx context.Context) (any, error) { return c.Neighbours(ctx, x, 3) },
			"Classify":    func(ctx context.Context) (any, error) { return c.Classify(ctx, x, 3) },
			"Errors":      func(ctx context.Context) (any, error) { return c.Errors(ctx, x, y, []int{3}) },
			"LeaveOneOut": func(ctx context.Context) (any, error) { return c.LeaveOneOut(ctx, []int{3}) },
		} {
			all := &counted{Context: t.Context(), most: 1 << 60}
			if _, err := f(all); err != nil {
				t.Fatal(err)
			}
			for most := range min(all.looks.Load(), 10) {
				got, err := f(&counted{Context: t.Context(), most: most})
				if !errors.Is(err, context.Canceled) || !reflect.ValueOf(got).IsZero() {
					t.Errorf("%s, %s, done from look %d on: error %v", name, method, most+1, err)
				}
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	c := mustKNN(t, measured{func() {
		if calls++; calls == 1000 {
			cancel()
		}
	}}, x, y, KNNOptions{})
	calls = 0
	if _, err := c.Classify(ctx, x, 3); !errors.Is(err, context.Canceled) || calls > 1000+looks {
		t.Errorf("error %v after %d distances, want at most %d", err, calls, 1000+looks)
	}
}

// The candidates of a search have a bound, whatever k is.
func TestKNNAtTheLimit(t *testing.T) {
	t.Cleanup(func() { limits.SetMemory(0) })
	const n = 2000
	x := mat.NewDense(n, 1, nil)
	for i := range n {
		x.Set(i, 0, float64(i))
	}
	c, err := NewKNN(metric.Euclidean{}, x, make([]int, n), KNNOptions{})
	if err != nil {
		t.Fatal(err)
	}
	limits.SetMemory(1 << 20)
	var large *limits.MemoryError
	if _, err := c.Neighbours(t.Context(), mat.NewDense(1, 1, nil), n); !errors.As(err, &large) {
		t.Errorf("k = %d: error %v, want a *limits.MemoryError", n, err)
	}
	if _, err := c.Neighbours(t.Context(), mat.NewDense(1, 1, nil), 3); err != nil {
		t.Errorf("k = 3: %v", err)
	}
}

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
// points in 784 dimensions with the matrix product of that size, on one core with -cpu 1.
func BenchmarkKNN(b *testing.B) {
	const queries, points, dim = 2000, 12000, 784
	rng := rand.New(rand.NewPCG(1, 2))
	q, x := uniform(rng, queries, dim), uniform(rng, points, dim)
	c, err := NewKNN(metric.Euclidean{}, x, make([]int, points), KNNOptions{})
	if err != nil {
		b.Fatal(err)
	}
	b.Run("alg=gonum/dim=784", func(b *testing.B) {
		out := mat.NewDense(queries, points, nil)
		for b.Loop() {
			out.Mul(q, x.T())
		}
	})
	b.Run("alg=KNN/dim=784", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := c.Classify(b.Context(), q, 5); err != nil {
				b.Fatal(err)
			}
		}
	})
}
