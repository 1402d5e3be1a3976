package nearest_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/learners/pairs"
	"metriclab/pkg/metric"
)

// sparse returns a vector of unit length with about nnz entries other than
// zero, of one of two kinds that share words.
func sparse(rng *rand.Rand, dim, nnz, kind int) []float64 {
	x := make([]float64, dim)
	var norm float64
	for range nnz {
		j := rng.IntN(dim)
		if rng.IntN(2) == 0 {
			j = (kind*(dim/2) + rng.IntN((dim+1)/2)) % dim
		}
		norm += 1 + 2*x[j]
		x[j]++
	}
	for j := range x {
		x[j] /= math.Sqrt(norm)
	}
	return x
}

// filter runs a stream in which vectors of kind 1 join the points, each round
// learns from one pair, and want is asked before each step.
func filter(tb testing.TB, t *nearest.Tracker, rng *rand.Rand, dim, nnz, rounds int, ask func(x []float64)) {
	for range rounds {
		kind := rng.IntN(4) / 3
		x := sparse(rng, dim, nnz, kind)
		if t.Len() > 0 && rng.IntN(10) == 0 {
			x = append([]float64(nil), t.Point(rng.IntN(t.Len()))...) // a repeated document
		}
		if t.Len() > 0 {
			ask(x)
			i, _ := t.Nearest(x)
			if rng.IntN(3) == 0 {
				i, _ = t.Farthest(x)
			}
			if _, err := t.Step(metric.Pair{X: x, Y: t.Point(i), Label: metric.SameClass(kind == 1)}); err != nil {
				tb.Fatal(err)
			}
		}
		if kind == 1 {
			t.Add(x)
		}
	}
}

// The tracker's answers are those of measuring every point, index and bits.
func TestTrackerIsTheDirectSearch(t *testing.T) {
	for _, c := range []struct{ dim, nnz, rounds int }{{2, 2, 100}, {6, 3, 400}, {40, 8, 1500}, {90, 90, 300}} {
		rng := rand.New(rand.NewPCG(uint64(c.dim), 1))
		l, err := pairs.NewPOLA(c.dim, pairs.POLAParams{})
		if err != nil {
			t.Fatal(err)
		}
		tr := nearest.NewTracker(l)
		asked, moved := 0, 0
		filter(t, tr, rng, c.dim, c.nnz, c.rounds, func(x []float64) {
			asked++
			near, far := math.Inf(1), math.Inf(-1)
			var nearest, farthest int
			for i := range tr.Len() {
				d := l.Predict(metric.Pair{X: x, Y: tr.Point(i)}).SqDist
				if d < near {
					near, nearest = d, i
				}
				if d > far {
					far, farthest = d, i
				}
			}
			if i, d := tr.Nearest(x); i != nearest || d != near {
				t.Fatalf("dim %d, query %d: nearest point %d at %v, direct search %d at %v", c.dim, asked, i, d, nearest, near)
			}
			if i, d := tr.Farthest(x); i != farthest || d != far {
				t.Fatalf("dim %d, query %d: farthest point %d at %v, direct search %d at %v", c.dim, asked, i, d, farthest, far)
			}
			if nearest != 0 {
				moved++
			}
		})
		if asked < c.rounds/2 || c.dim > 1 && moved < asked/4 {
			t.Errorf("dim %d: %d queries, %d not answered by the first point: the test is too easy", c.dim, asked, moved)
		}
	}
}

// A step that fails leaves the answers as they are.
func TestTrackerStepError(t *testing.T) {
	l, err := pairs.NewPOLA(2, pairs.POLAParams{})
	if err != nil {
		t.Fatal(err)
	}
	tr := nearest.NewTracker(l)
	tr.Add([]float64{0, 0})
	tr.Add([]float64{3, 0})
	if _, err := tr.Step(metric.Pair{X: []float64{0, 0}, Y: []float64{1, 0}, Label: metric.Dissimilar}); err != nil {
		t.Fatal(err)
	}
	i, d := tr.Nearest([]float64{2, 5})
	if _, err := tr.Step(metric.Pair{X: []float64{1}, Y: []float64{0, 1}, Label: metric.Similar}); err == nil {
		t.Error("a pair of wrong lengths was accepted")
	}
	if j, e := tr.Nearest([]float64{2, 5}); i != 1 || j != i || e != d {
		t.Errorf("nearest %d at %v, %d at %v before the refused step", j, e, i, d)
	}
}

func TestTrackerPanics(t *testing.T) {
	l, err := pairs.NewPOLA(2, pairs.POLAParams{})
	if err != nil {
		t.Fatal(err)
	}
	tr := nearest.NewTracker(l)
	for name, f := range map[string]func(){
		"point of wrong length": func() { tr.Add([]float64{1}) },
		"no points":             func() { tr.Nearest([]float64{1, 2}) },
	} {
		panics(t, name, f)
	}
	tr.Add([]float64{0, 0})
	panics(t, "query of wrong length", func() { tr.Farthest([]float64{1, 2, 3}) })
}

func panics(t *testing.T, name string, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s: no panic", name)
		}
	}()
	f()
}

// BenchmarkNearest is one document at the end of a news stream: d = 500, 35
// words each, 700 relevant documents seen, the metric of full rank. A third of
// the documents update it.
func BenchmarkNearest(b *testing.B) {
	const dim, nnz, points = 500, 35, 700
	start := func() (*pairs.POLA, *nearest.Tracker, []metric.Pair) {
		rng := rand.New(rand.NewPCG(1, 2))
		l, err := pairs.NewPOLA(dim, pairs.POLAParams{})
		if err != nil {
			b.Fatal(err)
		}
		t := nearest.NewTracker(l)
		filter(b, t, rng, dim, nnz, 4*points, func([]float64) {})
		updates := make([]metric.Pair, 64)
		for i := range updates {
			kind := rng.IntN(2)
			updates[i] = metric.Pair{X: sparse(rng, dim, nnz, kind), Y: t.Point(rng.IntN(t.Len())), Label: metric.SameClass(kind == 1)}
		}
		return l, t, updates
	}
	for _, search := range []string{"tracker", "direct"} {
		b.Run(fmt.Sprintf("alg=%s/dim=%d/points=%d", search, dim, points), func(b *testing.B) {
			l, t, queries := start()
			k := 0
			for b.Loop() {
				p := queries[k%len(queries)]
				var err error
				if search == "tracker" {
					t.Nearest(p.X)
				} else {
					for i := range t.Len() {
						l.Predict(metric.Pair{X: p.X, Y: t.Point(i)})
					}
				}
				if k%3 == 0 {
					if search == "tracker" {
						_, err = t.Step(p)
					} else {
						_, err = l.Step(p)
					}
				}
				if err != nil {
					b.Fatal(err)
				}
				k++
			}
		})
	}
}

func ExampleTracker() {
	// The first feature matters, the second does not; the points far away in the
	// second become the near ones.
	l, err := pairs.NewPOLA(2, pairs.POLAParams{})
	if err != nil {
		fmt.Println(err)
		return
	}
	t := nearest.NewTracker(l)
	t.Add([]float64{1, 0})
	t.Add([]float64{0, 3})
	if _, err := t.Step(metric.Pair{X: []float64{0, 0}, Y: []float64{2, 0}, Label: metric.Dissimilar}); err != nil {
		fmt.Println(err)
		return
	}
	nearest, sq := t.Nearest([]float64{0, 0})
	farthest, far := t.Farthest([]float64{0, 0})
	fmt.Printf("nearest: point %d at d² = %.2f, farthest: point %d at d² = %.2f\n", nearest, sq, farthest, far)
	// Output: nearest: point 1 at d² = 0.00, farthest: point 0 at d² = 0.47
}

// Where the sums that select points overflow, every point is measured: the answers stay
// those of the direct search, and there always is one.
func TestTrackerOfHugePoints(t *testing.T) {
	l, err := pairs.NewPOLA(2, pairs.POLAParams{})
	if err != nil {
		t.Fatal(err)
	}
	tracker := nearest.NewTracker(l)
	if _, err := tracker.Step(metric.Pair{X: []float64{1, 2}, Y: []float64{0, 0}, Label: metric.Dissimilar}); err != nil {
		t.Fatal(err)
	}
	points := [][]float64{{1, 1}, {1e155, 0}, {1e155, -1e155}, {-1e154, 1e150}}
	for _, x := range points {
		tracker.Add(x)
	}
	if _, err := tracker.Step(metric.Pair{X: []float64{3, -2}, Y: []float64{1, 0}, Label: metric.Dissimilar}); err != nil {
		t.Fatal(err)
	}
	for _, x := range [][]float64{{0, 0}, {1e155, 0}, {1.1e155, -1e155}, {-1e155, -1e155}} {
		near, far := -1, -1
		for i, p := range points {
			d := l.Predict(metric.Pair{X: x, Y: p}).SqDist
			if near < 0 || d < l.Predict(metric.Pair{X: x, Y: points[near]}).SqDist {
				near = i
			}
			if far < 0 || d > l.Predict(metric.Pair{X: x, Y: points[far]}).SqDist {
				far = i
			}
		}
		if i, d := tracker.Nearest(x); i != near || math.IsNaN(d) {
			t.Errorf("%v: nearest %d at %v, want %d", x, i, d, near)
		}
		if i, d := tracker.Farthest(x); i != far || math.IsNaN(d) {
			t.Errorf("%v: farthest %d at %v, want %d", x, i, d, far)
		}
	}
}
