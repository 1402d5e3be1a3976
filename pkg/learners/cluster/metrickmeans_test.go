package cluster

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
)

// metricTol bounds what an embedding into a few dimensions rounds, relative.
const metricTol = 1e-12

// Rows are with the nearest mean under the metric, as the definition measures it, and
// the inertia is that of the definition: for metrics of full, low and no rank.
func TestMetricKMeans(t *testing.T) {
	rng := rand.New(rand.NewPCG(81, 1))
	const n, d, k = 60, 4, 3
	x := groups(rng, n, d, k, 2)
	fresh := groups(rng, 20, d, k, 2)
	for _, rank := range []int{0, 1, 2, d} {
		m := metric.Zero(d)
		if rank > 0 {
			m = metric.FromFactor(groups(rng, rank, d, 1, 0))
		}
		r, err := FitMetricKMeans(context.Background(), rng, x, m, KMeansParams{K: k, Starts: 3})
		if err != nil {
			t.Fatal(err)
		}
		size := make([]int, k)
		for _, c := range r.Assignment {
			size[c]++
		}
		mean := mat.NewDense(k, d, nil)
		means(rowsOf(x), mean, r.Assignment, size)
		var sum float64
		for i, c := range r.Assignment {
			own := m.SqDist(x.RawRowView(i), mean.RawRowView(c))
			sum += own
			for other := range k {
				if q := m.SqDist(x.RawRowView(i), mean.RawRowView(other)); size[other] > 0 && own > q*(1+metricTol)+metricTol {
					t.Errorf("rank %d: row %d is in cluster %d at %v, but %d is at %v", rank, i, c, own, other, q)
				}
			}
		}
		if math.Abs(sum-r.Inertia) > metricTol*(1+sum) {
			t.Errorf("rank %d: inertia %v, want %v", rank, r.Inertia, sum)
		}
		if !slices.Equal(r.Assign(x), r.Assignment) {
			t.Errorf("rank %d: Assign gives other clusters", rank)
		}
		for i, c := range r.Assign(fresh) {
			for other := range k {
				own, q := m.SqDist(fresh.RawRowView(i), mean.RawRowView(c)), m.SqDist(fresh.RawRowView(i), mean.RawRowView(other))
				if size[c] > 0 && size[other] > 0 && own > q*(1+metricTol)+metricTol {
					t.Errorf("rank %d: new row %d: cluster %d at %v, but %d is at %v", rank, i, c, own, other, q)
				}
			}
		}
		for c, i := range r.Prototypes(x) {
			for j := range n {
				if p, q := m.SqDist(x.RawRowView(i), mean.RawRowView(c)), m.SqDist(x.RawRowView(j), mean.RawRowView(c)); size[c] > 0 && p > q*(1+metricTol)+metricTol {
					t.Errorf("rank %d: prototype %d of cluster %d: row %d is nearer", rank, i, c, j)
				}
			}
		}
	}
}

// Under the identity it is k-means, bit for bit.
func TestMetricKMeansOfIdentity(t *testing.T) {
	x := groups(rand.New(rand.NewPCG(82, 1)), 50, 3, 3, 1)
	p := KMeansParams{K: 3, Starts: 2}
	a, err := FitKMeans(context.Background(), rand.New(rand.NewPCG(82, 2)), x, p)
	if err != nil {
		t.Fatal(err)
	}
	b, err := FitMetricKMeans(context.Background(), rand.New(rand.NewPCG(82, 2)), x, metric.Identity(3), p)
	if err != nil {
		t.Fatal(err)
	}
	if !mat.Equal(a.Centres, b.Centres) || !slices.Equal(a.Trace, b.Trace) || !slices.Equal(a.Assignment, b.Assignment) {
		t.Error("the clusters differ")
	}
}

func TestMetricKMeansErrors(t *testing.T) {
	x := groups(rand.New(rand.NewPCG(83, 1)), 5, 2, 1, 1)
	nan := mat.DenseCopyOf(x)
	nan.Set(3, 1, math.NaN())
	for _, c := range []struct {
		x    *mat.Dense
		m    *metric.Mahalanobis
		p    KMeansParams
		want string
	}{
		{x, metric.Identity(2), KMeansParams{K: 6}, "kmeans: k: 6 is not allowed, want an integer from 1 to 5"},
		{x, metric.Identity(2), KMeansParams{K: 2, Starts: -1}, "kmeans: starts: -1"},
		{new(mat.Dense), metric.Identity(2), KMeansParams{K: 1}, "kmeans: x: no rows"},
		{nan, metric.Identity(2), KMeansParams{K: 2}, "kmeans: x: row 3, column 1: NaN"},
		{x, metric.FromFactor(mat.NewDense(1, 2, []float64{1e200, 0})), KMeansParams{K: 2}, "squared distances overflow"},
	} {
		if _, err := FitMetricKMeans(context.Background(), rand.New(rand.NewPCG(1, 1)), c.x, c.m, c.p); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want %q", c.p, err, c.want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a metric of another dimension does not panic")
		}
	}()
	_, _ = FitMetricKMeans(context.Background(), rand.New(rand.NewPCG(1, 1)), x, metric.Identity(3), KMeansParams{K: 2})
}

func ExampleFitMetricKMeans() {
	// The second feature has the larger scale; the metric takes no account of it.
	x := mat.NewDense(4, 2, []float64{0, 0, 1, 90, 10, 0, 11, 90})
	m := metric.FromFactor(mat.NewDense(1, 2, []float64{1, 0}))
	r, err := FitMetricKMeans(context.Background(), rand.New(rand.NewPCG(1, 2)), x, m, KMeansParams{K: 2, Starts: 5})
	if err != nil {
		panic(err)
	}
	a := r.Assignment
	fmt.Println(a[0] == a[1], a[2] == a[3], a[0] == a[2], r.Inertia)
	// Output: true true false 1
}
