package catalog_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/catalog"
)

// overlapping draws n rows of c classes, whose means differ by about the width of a class.
func overlapping(n, d, c int) (*mat.Dense, []int) {
	rng := rand.New(rand.NewPCG(1, 2))
	means := mat.NewDense(c, d, nil)
	for i := range c {
		for j := range d {
			means.Set(i, j, rng.NormFloat64())
		}
	}
	x, y := mat.NewDense(n, d, nil), make([]int, n)
	for i := range n {
		y[i] = i % c
		for j := range d {
			x.Set(i, j, means.At(y[i], j)+1.2*rng.NormFloat64())
		}
	}
	return x, y
}

func fitOnce(ctx context.Context, e catalog.Entry, x *mat.Dense, y []int, pairs int) error {
	v, err := e.Parse(nil)
	if err != nil {
		return err
	}
	_, d := x.Dims()
	links, err := sample.BalancedLinks(rand.New(rand.NewPCG(3, 4)), y, pairs)
	if err != nil {
		return err
	}
	if !e.Feedback.Online() {
		_, err = e.Fit(ctx, catalog.Input{X: x, Y: y, Links: links}, v, nil)
		return err
	}
	l, err := catalog.As[learners.Pair](e.New(catalog.Shape{Dim: d}, v))
	if err != nil {
		return err
	}
	for _, err := range learners.Run(l, sample.Pairs(x, links)) {
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
	}
	return nil
}

// ofTables tells whether e learns from a table with classes.
func ofTables(e catalog.Entry) bool {
	return slices.Contains([]catalog.Feedback{catalog.Pairs, catalog.Links, catalog.Classes, catalog.Data}, e.Feedback)
}

// Estimates are there, positive, larger for larger tables, and stay numbers whatever the size.
func TestEstimates(t *testing.T) {
	const huge = math.MaxInt64
	for _, e := range catalog.All() {
		if ofTables(e) != (e.Cost != nil) {
			t.Errorf("%s: an estimate is there: %v", e.Name, e.Cost != nil)
		}
		if e.Cost == nil {
			if got := e.Estimate(catalog.Size{Rows: 9}, catalog.Values{}); got != (catalog.Cost{}) {
				t.Errorf("%s: %v", e.Name, got)
			}
			continue
		}
		v, err := e.Parse(nil)
		if err != nil {
			t.Fatal(err)
		}
		var last catalog.Cost
		for _, s := range []catalog.Size{
			{Rows: 2, Features: 1, Classes: 2, Pairs: 1, Passes: 1},
			{Rows: 200, Features: 10, Classes: 3, Pairs: 1000, Passes: 1},
			{Rows: 2000, Features: 20, Classes: 5, Pairs: 2000, Passes: 2},
			{Rows: 20000, Features: 1000, Classes: 50, Pairs: 20000, Passes: 3},
			{Rows: 1e9, Features: 1e6, Classes: 1e5, Pairs: 1e9, Passes: 1e9},
			{Rows: huge, Features: huge, Classes: huge, Pairs: huge, Passes: huge},
		} {
			got := e.Estimate(s, v)
			if !(got.Seconds > last.Seconds) || got.Bytes < last.Bytes || got.Bytes <= 0 {
				t.Errorf("%s, %+v: %+v after %+v", e.Name, s, got, last)
			}
			last = got
		}
		if last.Bytes != huge {
			t.Errorf("%s: the largest table takes %d bytes", e.Name, last.Bytes)
		}
	}
	for _, tt := range []struct {
		name   string
		params map[string]string
		least  int64 // bytes
		most   int64
	}{
		{"kernel-mcml", nil, 20 * 8 * 1e10, 21 * 8 * 1e10},
		{"kernel-mcml", map[string]string{"landmarks": "100"}, 20 * 8 * 1e7, 21 * 8 * 1e7},
		{"kernel-mcml", map[string]string{"kernel": "linear"}, 20 * 8 * 5e5, 80 * 8 * 5e5},
		{"kernel-pca", map[string]string{"kernel": "polynomial", "degree": "2"}, 20 * 8 * 21e5, 21 * 8 * 21e5},
		{"kernel-pca", map[string]string{"kernel": "polynomial", "degree": "1000"}, 20 * 8 * 1e10, 21 * 8 * 1e10},
		{"mcml", nil, 8 * 1e5 * 64, 8 * 1e5 * 100},
	} {
		e, err := catalog.Find(tt.name)
		if err != nil {
			t.Fatal(err)
		}
		v, err := e.Parse(tt.params)
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Estimate(catalog.Size{Rows: 100_000, Features: 5, Classes: 3}, v).Bytes; got < tt.least || got > tt.most {
			t.Errorf("%s %v on 100,000 rows of 5 features: %d bytes, want %d to %d", tt.name, tt.params, got, tt.least, tt.most)
		}
	}
}

// BenchmarkEstimate puts the time of a fit beside its estimate, by which the constants of the costs were chosen.
func BenchmarkEstimate(b *testing.B) {
	for _, e := range catalog.All() {
		if !ofTables(e) {
			continue
		}
		for _, s := range [][4]int{{200, 10, 3, 1000}, {800, 10, 3, 1000}, {500, 150, 4, 2000}, {400, 500, 3, 1000}, {10000, 20, 4, 1000}} {
			v, err := e.Parse(nil)
			if err != nil {
				b.Fatal(err)
			}
			cost := e.Estimate(catalog.Size{Rows: s[0], Features: s[1], Classes: s[2], Pairs: s[3], Passes: 1}, v)
			if cost.Seconds > 30 {
				continue
			}
			x, y := overlapping(s[0], s[1], s[2])
			b.Run(fmt.Sprintf("alg=%s/n=%d/dim=%d", e.Name, s[0], s[1]), func(b *testing.B) {
				for b.Loop() {
					if err := fitOnce(b.Context(), e, x, y, s[3]); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(cost.Seconds/(b.Elapsed().Seconds()/float64(b.N)), "estimated/measured")
			})
		}
	}
}
