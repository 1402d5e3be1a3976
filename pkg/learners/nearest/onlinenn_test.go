package nearest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners/classify"
	"metriclab/pkg/learners/learnertest"
	"metriclab/pkg/metric"
	"metriclab/pkg/persist"
	"metriclab/pkg/persist/persisttest"
)

// slowNearest computes all distances, and takes the earliest within TieTolerance
// of the smallest.
func slowNearest(seen []classify.Example, x []float64) (Neighbour, bool) {
	smallest := math.Inf(1)
	for _, s := range seen {
		smallest = min(smallest, metric.Euclidean{}.SqDist(x, s.X))
	}
	for i, s := range seen {
		if d := (metric.Euclidean{}).SqDist(x, s.X); d <= smallest*(1+TieTolerance) {
			return Neighbour{i, d}, true
		}
	}
	return Neighbour{}, false
}

func TestOnlineNNConforms(t *testing.T) {
	learnertest.Classifiers[*OnlineNN]{New: NewOnlineNN, Load: LoadOnlineNN}.Run(t)
}

// TestOnlineNNReference compares with all distances, to the bit, on sparse and
// dense rows, with ties, and far from the origin.
func TestOnlineNNReference(t *testing.T) {
	rng := rand.New(rand.NewPCG(44, 1))
	unit := func(x []float64) {
		if n := mat.Norm(mat.NewVecDense(len(x), x), 2); n > 0 {
			for j := range x {
				x[j] /= n
			}
		}
	}
	for name, draw := range map[string]func(x []float64){
		"normal": func(x []float64) {
			for j := range x {
				x[j] = rng.NormFloat64()
			}
		},
		"documents": func(x []float64) {
			for range 4 {
				x[rng.IntN(len(x))] = float64(1 + rng.IntN(3))
			}
			unit(x)
		},
		"grid": func(x []float64) {
			for j := range x {
				x[j] = float64(rng.IntN(3) - 1)
			}
		},
		"tenths": func(x []float64) {
			for j := range x {
				x[j] = float64(rng.IntN(4)) / 10
			}
		},
		"far": func(x []float64) {
			for j := range x {
				x[j] = 1e8 + rng.NormFloat64()
			}
		},
		"empty rows": func(x []float64) {
			if rng.IntN(3) == 0 {
				x[0] = rng.Float64()
			}
		},
		"tiny": func(x []float64) {
			for j := range x {
				x[j] = 1e-160 * rng.NormFloat64()
			}
		},
	} {
		for _, dim := range []int{1, 6, 40} {
			n, err := NewOnlineNN(dim)
			if err != nil {
				t.Fatal(err)
			}
			var seen []classify.Example
			for i := range 250 {
				x := make([]float64, dim)
				draw(x)
				if i > 0 && rng.IntN(10) == 0 {
					copy(x, seen[rng.IntN(i)].X)
				}
				f := classify.Example{X: x, Label: classify.LabelOf(rng.IntN(2) == 0)}
				want, any := slowNearest(seen, x)
				got, ok := n.Nearest(x)
				if ok != any || got.Index != want.Index || math.Float64bits(got.SqDist) != math.Float64bits(want.SqDist) {
					t.Fatalf("%s, dim %d, round %d: %+v (%v), want %+v (%v)", name, dim, i, got, ok, want, any)
				}
				label := classify.Label(0)
				if any {
					label = seen[want.Index].Label
				}
				o, err := n.Step(f)
				if err != nil {
					t.Fatal(err)
				}
				wrong := (label == classify.Positive) != (f.Label == classify.Positive)
				if o.Prediction != (classify.Prediction{Score: float64(label), Positive: label == classify.Positive}) || o.Mistake != wrong || (o.Loss == 1) != wrong || o.StepSize != float64(f.Label) {
					t.Fatalf("%s, dim %d, round %d: %+v, nearest has label %d", name, dim, i, o, label)
				}
				seen = append(seen, f)
			}
			if n.Len() != 250 {
				t.Errorf("%d examples", n.Len())
			}
		}
	}
}

// TestOnlineNNIsKNN: it finds what KNN finds among the examples so far.
func TestOnlineNNIsKNN(t *testing.T) {
	const dim, rows = 3, 200
	rng := rand.New(rand.NewPCG(44, 2))
	x := mat.NewDense(rows, dim, nil)
	y := make([]int, rows)
	n, err := NewOnlineNN(dim)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		for j := range dim {
			x.Set(i, j, float64(rng.IntN(5))/10)
		}
		if _, err := n.Step(classify.Example{X: x.RawRowView(i), Label: classify.LabelOf(rng.IntN(2) == 0)}); err != nil {
			t.Fatal(err)
		}
	}
	c := mustKNN(t, metric.Euclidean{}, x, y, KNNOptions{})
	queries := mat.NewDense(50, dim, nil)
	for i := range 50 {
		for j := range dim {
			queries.Set(i, j, float64(rng.IntN(50))/100)
		}
	}
	want, err := c.Neighbours(t.Context(), queries, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		if got, ok := n.Nearest(queries.RawRowView(i)); !ok || got != want[i][0] {
			t.Errorf("query %d: %+v, KNN says %+v", i, got, want[i][0])
		}
	}
}

// TestOnlineNNConcurrentPredict: predictions from several goroutines are those of
// one.
func TestOnlineNNConcurrentPredict(t *testing.T) {
	rounds := learnertest.ExampleStream(rand.New(rand.NewPCG(44, 3)), 10, 300)
	n, err := NewOnlineNN(10)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range rounds[:200] {
		if _, err := n.Step(f); err != nil {
			t.Fatal(err)
		}
	}
	queries := rounds[200:]
	want := make([]Neighbour, len(queries))
	for i, f := range queries {
		want[i], _ = n.Nearest(f.X)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i, f := range queries {
				if got, _ := n.Nearest(f.X); got != want[i] {
					t.Errorf("query %d: %+v, want %+v", i, got, want[i])
				}
			}
		})
	}
	wg.Wait()
}

func TestOnlineNNPredictsNegativeWithoutNeighbour(t *testing.T) {
	n, err := NewOnlineNN(1)
	if err != nil {
		t.Fatal(err)
	}
	if p := n.Predict(classify.Example{X: []float64{1}}); p != (classify.Prediction{}) {
		t.Errorf("before the first example: %+v", p)
	}
	if _, err := n.Step(classify.Example{X: []float64{1}, Label: classify.Positive}); err != nil {
		t.Fatal(err)
	}
	if p := n.Predict(classify.Example{X: []float64{math.MaxFloat64}}); p != (classify.Prediction{}) {
		t.Errorf("of a vector whose norm overflows: %+v", p)
	}
}

func smallNN(t testing.TB) *OnlineNN {
	t.Helper()
	n, err := NewOnlineNN(3)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []classify.Example{{X: []float64{1, 0, 2}, Label: classify.Positive}, {X: []float64{0, 0, 0}, Label: classify.Negative}, {X: []float64{0, 3, 0}, Label: classify.Negative}} {
		if _, err := n.Step(f); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

func TestTamperedOnlineNN(t *testing.T) {
	set := func(key string, value any) persisttest.Edit {
		return func(_, state map[string]any) { state[key] = value }
	}
	persisttest.Tampered(t, persisttest.Saved(smallNN(t)), LoadOnlineNN, map[string]persisttest.Edit{
		"no dimension":      set("dim", 0),
		"small dimension":   set("dim", 2),
		"label 0":           set("labels", []int{1, 0, -1}),
		"label 300":         set("labels", []int{1, 300, -1}),
		"missing label":     set("labels", []int{1, -1}),
		"negative count":    set("counts", []int{2, -1, 2}),
		"huge count":        set("counts", []int{2, 0, math.MaxInt64}),
		"values left over":  set("counts", []int{2, 0, 0}),
		"missing values":    set("counts", []int{2, 1, 1}),
		"missing feature":   set("features", []int{0, 2}),
		"negative feature":  set("features", []int{-1, 2, 1}),
		"repeated feature":  set("features", []int{2, 2, 1}),
		"descending":        set("features", []int{2, 0, 1}),
		"stored zero":       set("values", persist.Floats{1, 0, 3}),
		"NaN":               set("values", persist.Floats{1, math.NaN(), 3}),
		"Inf":               set("values", persist.Floats{1, math.Inf(1), 3}),
		"distances too big": set("values", persist.Floats{1, 1e200, 3}),
		"nothing":           func(_, s map[string]any) { clear(s) },
		"parameters":        func(p, _ map[string]any) { p["k"] = 1 },
	})
}

func FuzzLoadOnlineNN(f *testing.F) {
	persisttest.Fuzz(f, LoadOnlineNN, func(n *OnlineNN) {
		if n.Dim() < 1000 {
			n.Step(classify.Example{X: make([]float64, n.Dim()), Label: classify.Positive})
		}
	}, persisttest.Saved(smallNN(f)))
}

func ExampleNewOnlineNN() {
	n, err := NewOnlineNN(2)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range []classify.Example{
		{X: []float64{0, 0}, Label: classify.Negative},
		{X: []float64{4, 0}, Label: classify.Positive},
		{X: []float64{2, 0}, Label: classify.Positive}, // as far from the first as from the second
		{X: []float64{3, 0}, Label: classify.Positive},
	} {
		nearest, ok := n.Nearest(f.X)
		o, err := n.Step(f)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(nearest, ok, o.Prediction.Positive, o.Mistake)
	}
	// Output:
	// {0 0} false false false
	// {0 16} true false true
	// {0 4} true false true
	// {1 1} true true false
}

// documents returns n rows of length 1 in R^dim with about 35 of the features
// each, of which the first are the most frequent, like words.
func documents(rng *rand.Rand, n, dim int) [][]float64 {
	zipf := rand.NewZipf(rng, 1.1, 10, uint64(dim-1))
	out := make([][]float64, n)
	for i := range out {
		x := make([]float64, dim)
		for distinct := 0; distinct < 35; {
			j := zipf.Uint64()
			if x[j] == 0 {
				distinct++
			}
			x[j] += 0.5 + rng.Float64()
		}
		norm := math.Sqrt(metric.Euclidean{}.SqDist(x, make([]float64, dim)))
		for j := range x {
			x[j] /= norm
		}
		out[i] = x
	}
	return out
}

// BenchmarkOnlineNN measures the search for the nearest of 20,000 documents in
// R^500.
func BenchmarkOnlineNN(b *testing.B) {
	const dim, seen = 500, 20000
	rng := rand.New(rand.NewPCG(44, 4))
	rows := documents(rng, seen, dim)
	l, err := NewOnlineNN(dim)
	if err != nil {
		b.Fatal(err)
	}
	for _, x := range rows {
		if _, err := l.Step(classify.Example{X: x, Label: classify.LabelOf(rng.IntN(20) == 0)}); err != nil {
			b.Fatal(err)
		}
	}
	b.Run(fmt.Sprintf("alg=OnlineNN/dim=%d", dim), func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			l.Nearest(rows[i%seen])
		}
	})
	queries := slices.Clone(rows[:100])
	b.Run(fmt.Sprintf("alg=AllDistances/dim=%d", dim), func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			q := queries[i%len(queries)]
			best := math.Inf(1)
			for _, x := range rows {
				best = min(best, metric.Euclidean{}.SqDist(q, x))
			}
		}
	})
}
