package nearest

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
	"metriclab/pkg/sparse"
)

// sparseData returns n rows of d numbers, few of them not 0, with duplicates, a row of zeros and ties, and classes.
func sparseData(t *testing.T, rng *rand.Rand, n, d int) (*mat.Dense, *sparse.Matrix, []int) {
	t.Helper()
	x, y := mat.NewDense(n, d, nil), make([]int, n)
	for i := range n {
		y[i] = rng.IntN(3)
		for j := range d {
			if rng.IntN(6) == 0 && i != 1 {
				x.Set(i, j, float64(1+rng.IntN(3)))
			}
		}
	}
	x.SetRow(n-1, x.RawRowView(0))
	s, err := sparse.Compress(x)
	if err != nil {
		t.Fatal(err)
	}
	return x, s, y
}

// Sparse rows have the neighbours, votes and errors of the same rows as a dense matrix under a function, which decides one pair at a time.
func TestSparseKNN(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 2))
	for trial := range 12 {
		n, d := 10+rng.IntN(60), 3+rng.IntN(40)
		x, s, y := sparseData(t, rng, n, d)
		queries, sq, want := sparseData(t, rng, 15, d)
		k := 1 + rng.IntN(3)
		u, g := mat.NewDense(k, d, nil), mat.NewDense(k, k, nil)
		for _, m := range []*mat.Dense{u, g} {
			m.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() }, m)
		}
		if trial%3 == 0 { // inside the basis nothing is left
			g.Scale(1e-6, g)
		}
		for i := range k {
			row := u.RawRowView(i)
			var l float64
			for _, a := range row {
				l += a * a
			}
			for j := range row {
				row[j] /= math.Sqrt(l)
			}
		}
		metric.Orthonormalise(u)
		low, err := metric.NewLowRank(u, g)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []metric.SqDister{metric.Euclidean{}, low} {
			few, err := NewKNN(m, s, y, KNNOptions{})
			if err != nil {
				t.Fatal(err)
			}
			slow, err := NewKNN(onlySqDist{m}, x, y, KNNOptions{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := few.Neighbours(t.Context(), sq, 5)
			if err != nil {
				t.Fatal(err)
			}
			dense, err := few.Neighbours(t.Context(), queries, 5) // is compressed
			if err != nil {
				t.Fatal(err)
			}
			ref, err := slow.Neighbours(t.Context(), queries, 5)
			if err != nil {
				t.Fatal(err)
			}
			for i := range ref {
				if !slices.Equal(got[i], dense[i]) {
					t.Fatalf("trial %d, %T: sparse queries %v, dense ones %v", trial, m, got[i], dense[i])
				}
				for j, w := range ref[i] {
					v := got[i][j]
					if tied := m != (metric.Euclidean{}); v.Index != w.Index && !tied || math.Abs(v.SqDist-w.SqDist) > 1e-11*(1e-3+w.SqDist) {
						t.Fatalf("trial %d, %T: query %d: %v, want %v", trial, m, i, got[i], ref[i])
					}
				}
			}
			if m != (metric.Euclidean{}) {
				continue // distances that tie in one sum do not in another
			}
			ks := []int{1, 3, 4}
			a, err := few.Errors(t.Context(), sq, want, ks)
			b, other := slow.Errors(t.Context(), queries, want, ks)
			if err != nil || other != nil || !slices.Equal(a, b) {
				t.Errorf("trial %d: errors %v, want %v, %v", trial, a, b, err)
			}
			a, err = few.LeaveOneOut(t.Context(), ks)
			b, other = slow.LeaveOneOut(t.Context(), ks)
			if err != nil || other != nil || !slices.Equal(a, b) {
				t.Errorf("trial %d: leave-one-out %v, want %v, %v", trial, a, b, err)
			}
			a, err = few.Classify(t.Context(), sq, 3)
			b, other = slow.Classify(t.Context(), queries, 3)
			if err != nil || other != nil || !slices.Equal(a, b) {
				t.Errorf("trial %d: classes %v, want %v, %v", trial, a, b, err)
			}
		}
		full, err := NewKNN(metric.Identity(d), s, y, KNNOptions{}) // is made dense
		if err != nil {
			t.Fatal(err)
		}
		if _, err := full.Classify(t.Context(), sq, 1); err != nil {
			t.Error(err)
		}
	}
}

// onlySqDist hides all methods of a metric but SqDist.
type onlySqDist struct{ m metric.SqDister }

func (o onlySqDist) SqDist(x, y []float64) float64 { return o.m.SqDist(x, y) }

func TestSparseKNNErrors(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 3))
	_, s, y := sparseData(t, rng, 9, 6)
	c, err := NewKNN(metric.Euclidean{}, s, y, KNNOptions{})
	if err != nil {
		t.Fatal(err)
	}
	huge, err := sparse.NewMatrix([]sparse.Vector{{Index: []int{1}, Value: []float64{1e200}}}, 6)
	if err != nil {
		t.Fatal(err)
	}
	for want, f := range map[string]func() error{
		"overflow float64":    func() error { _, err := NewKNN(metric.Euclidean{}, huge, []int{1}, KNNOptions{}); return err },
		"queries: row 0":      func() error { _, err := c.Classify(t.Context(), huge, 1); return err },
		"5 columns":           func() error { _, err := c.Classify(t.Context(), mat.NewDense(1, 5, nil), 1); return err },
		"k: 10 is not":        func() error { _, err := c.Classify(t.Context(), s, 10); return err },
		"2 labels for 9 rows": func() error { _, err := NewKNN(metric.Euclidean{}, s, []int{1, 2}, KNNOptions{}); return err },
		"NaN is not allowed": func() error {
			_, err := c.Classify(t.Context(), mat.NewDense(1, 6, []float64{1, math.NaN(), 0, 0, 0, 0}), 1)
			return err
		},
		"the metric has dimension 2": func() error {
			m, err := metric.NewLowRank(mat.NewDense(1, 2, []float64{1, 0}), mat.NewDense(1, 1, []float64{1}))
			if err != nil {
				return err
			}
			_, err = NewKNN(m, s, y, KNNOptions{})
			return err
		},
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.LeaveOneOut(done, []int{1}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: error %v", err)
	}
	wide, err := sparse.NewMatrix([]sparse.Vector{{Index: []int{1 << 24}, Value: []float64{1}}}, 1<<24+1)
	if err != nil {
		t.Fatal(err)
	}
	limits.SetMemory(1 << 20)
	t.Cleanup(func() { limits.SetMemory(0) })
	if _, err := NewKNN(metric.Identity(2), wide, []int{1}, KNNOptions{}); !errors.As(err, new(*limits.MemoryError)) {
		t.Errorf("error %v, want one about memory", err)
	}
}
