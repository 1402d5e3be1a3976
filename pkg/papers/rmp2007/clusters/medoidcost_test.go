package clusters

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners/cluster"
	"metriclab/pkg/metric"
	"metriclab/pkg/papers/rmp2007/protocol"
)

// By turns no cluster has a better member than its medoid, and no point a nearer medoid.
func TestTurnsEndAtALocalOptimum(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	x := gaussiansOf(gaussianWidth)(rng, 60, 5).x
	distance := mat.NewDense(60, 60, nil)
	if got := addDistances(distance, x, 0, 5); got != 60*59/2*5 {
		t.Errorf("%v differences, want %d", got, 60*59/2*5)
	}
	for i := range 60 {
		for j := range 60 {
			if want := (metric.Euclidean{}).SqDist(x.RawRowView(i), x.RawRowView(j)); math.Abs(distance.At(i, j)-want) > 1e-12*want { // order of sums
				t.Fatalf("distance of %d and %d is %v, want %v", i, j, distance.At(i, j), want)
			}
		}
	}
	c, err := turnsCounted(context.Background(), rng, distance, 4)
	if err != nil {
		t.Fatal(err)
	}
	set := protocol.Image(c.pi)
	nearest, _, err := cluster.Assign(distance, set)
	if err != nil {
		t.Fatal(err)
	}
	sum := func(j int) (s float64) {
		for i, of := range c.pi {
			if of == c.pi[j] {
				s += distance.At(i, j)
			}
		}
		return s
	}
	for i, j := range c.pi {
		if distance.At(i, j) != distance.At(i, nearest[i]) {
			t.Errorf("point %d goes to %d, %d is nearer", i, j, nearest[i])
		}
		if sum(i) < sum(j) {
			t.Errorf("member %d is a better medoid than %d", i, j)
		}
	}
	// At least one assignment and one search; each search reads at least n²/m and at most n² distances.
	n, m := 60., 4.
	if low, high := n*m+n*n/m, c.iterations*(n*m+n*n); c.other < low || c.other > high {
		t.Errorf("%v look-ups in %v turns, want %v to %v", c.other, c.iterations, low, high)
	}
}

// Distances that grow feature by feature are those of all features.
func TestAddDistancesFeatureByFeature(t *testing.T) {
	x := gaussiansOf(1)(rand.New(rand.NewPCG(3, 4)), 9, 4).x
	once, slowly := mat.NewDense(9, 9, nil), mat.NewDense(9, 9, nil)
	want, got := addDistances(once, x, 0, 4), 0.
	for d := range 4 {
		got += addDistances(slowly, x, d, d+1)
	}
	if got != want || !mat.EqualApprox(once, slowly, 1e-12) { // order of sums
		t.Errorf("%v and %v differences; distances\n%v\nand\n%v", got, want, mat.Formatted(slowly), mat.Formatted(once))
	}
}

// Lloyd's count is that of its loop, written out.
func TestLloydCounted(t *testing.T) {
	x := gaussiansOf(gaussianWidth)(rand.New(rand.NewPCG(5, 6)), 50, 3).x
	c, err := lloydCounted(context.Background(), rand.New(rand.NewPCG(7, 8)), x, 4)
	if err != nil {
		t.Fatal(err)
	}
	fit, err := cluster.FitKMeans(context.Background(), rand.New(rand.NewPCG(7, 8)), x, cluster.KMeansParams{K: 4})
	if err != nil {
		t.Fatal(err)
	}
	want := 0
	for range 3 { // the start
		want += 50 * 3
	}
	for range fit.Iterations {
		want += 50*3*4 + 50*3
	}
	want += 50*3*4 + 50*3 // the last comparison, and the points nearest to the centres
	if c.other != float64(want) {
		t.Errorf("%v operations in %d iterations, want %d", c.other, fit.Iterations, want)
	}
	prototypes := fit.Prototypes(x)
	for i, k := range fit.Assignment {
		if c.pi[i] != prototypes[k] || !slices.Contains(prototypes, c.pi[i]) {
			t.Fatalf("point %d goes to %d, want %d", i, c.pi[i], prototypes[k])
		}
	}
}
