package itml

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrixtest"

	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/metric"
)

// The rules, by counting and by the formula.
// Squared distances alone give the bounds of the pairs that have them.
func TestBoundsOfSqDists(t *testing.T) {
	x, links, _, _ := linkedData(12, 20, 3, 30, 0)
	var sq []float64
	for _, l := range links {
		sq = append(sq, metric.Euclidean{}.SqDist(x.RawRowView(l.I), x.RawRowView(l.J)))
	}
	before := slices.Clone(sq)
	for _, p := range []BoundParams{{}, {Rule: BoundBins}, {Low: 20, High: 60}} {
		u, l, err := p.Of(x, links, metric.Euclidean{})
		if gu, gl, e := p.OfSqDists(sq); err != nil || e != nil || gu != u || gl != l || !slices.Equal(sq, before) {
			t.Errorf("%+v: %v, %v, %v, want %v, %v", p, gu, gl, e, u, l)
		}
	}
	for want, sq := range map[string][]float64{"no pairs": nil, "pair 1: squared distance -1, want at least 0": {1, -1}, "pair 0: squared distance NaN": {math.NaN()}, "want upper < lower": {2, 2}} {
		if _, _, err := (BoundParams{}).OfSqDists(sq); err == nil || !strings.HasPrefix(err.Error(), "itml: bounds: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: error %v, want one with %q", sq, err, want)
		}
	}
	if _, _, err := (BoundParams{Low: 70, High: 20}).OfSqDists([]float64{1, 2}); err == nil || !strings.Contains(err.Error(), "low < high") {
		t.Errorf("rule: error %v", err)
	}
}

func TestBounds(t *testing.T) {
	x := mat.NewDense(12, 1, []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0})
	var links []metric.Link // squared distances 100, 81, ..., 1 and 0
	for i := 11; i > 0; i-- {
		links = append(links, metric.Link{I: i, J: 0})
	}
	for _, c := range []struct {
		p            BoundParams
		upper, lower float64
	}{
		{BoundParams{}, 1, 100},                                   // the 1st percentile is 0
		{BoundParams{Low: 10, High: 50}, 1, 25},                   // ⌈1.1⌉ = 2nd and ⌈5.5⌉ = 6th of 11
		{BoundParams{Low: 37, High: 100}, 16, 100},                // ⌈4.07⌉ = 5th
		{BoundParams{Rule: BoundBins}, 4.5, 94.5},                 // centres of bins of width 1
		{BoundParams{Rule: BoundBins, Low: 1, High: 99}, 1, 98.5}, // 0.5 is below the least positive
		{BoundParams{Rule: BoundBins, Low: 30, High: 100}, 29.5, 99.5},
	} {
		upper, lower, err := c.p.Of(x, links, metric.Euclidean{})
		if err != nil || math.Abs(upper-c.upper) > 1e-12 || math.Abs(lower-c.lower) > 1e-12 {
			t.Errorf("%+v: u = %v, ℓ = %v, want %v, %v, error %v", c.p, upper, lower, c.upper, c.lower, err)
		}
		upper, lower, err = c.p.Of(x, links, metric.FromFactor(mat.NewDense(1, 1, []float64{2}))) // four times the squares
		if floor := math.Max(4*c.upper, 4); err != nil || math.Abs(upper-floor) > 1e-12 || math.Abs(lower-4*c.lower) > 1e-12 {
			t.Errorf("%+v under 4I: u = %v, ℓ = %v, error %v", c.p, upper, lower, err)
		}
	}
	// No bounds where distances tie: all of them, or all but the zeros that the least
	// positive one replaces, or as far as float64 can tell.
	ties := mat.NewDense(4, 1, []float64{0, 2, 0, 2 + 1e-15})
	for want, c := range map[string]struct {
		p     BoundParams
		pairs []metric.Link
	}{
		"upper 4 and lower 4, by percentiles 1 and 99 of 2 squared distances from 4 to 4, want upper < lower": {BoundParams{}, []metric.Link{{I: 0, J: 1}, {I: 2, J: 1}}},
		"upper 4 and lower 4, by bins 5 and 95 of 1 squared distances from 4 to 4":                            {BoundParams{Rule: BoundBins}, []metric.Link{{I: 0, J: 1}}},
		"upper 4 and lower 4, by percentiles 1 and 99 of 2 squared distances from 0 to 4":                     {BoundParams{}, []metric.Link{{I: 0, J: 2}, {I: 0, J: 1}}},
		"by bins 94.6 and 95 of 2 squared distances from 4 to 4.0000000000000036, want upper < lower":         {BoundParams{Rule: BoundBins, Low: 94.6, High: 95}, []metric.Link{{I: 0, J: 1}, {I: 0, J: 3}}},
	} {
		if u, l, err := c.p.Of(ties, c.pairs, metric.Euclidean{}); err == nil || !strings.Contains(err.Error(), want) || u != 0 || l != 0 {
			t.Errorf("bounds %v and %v, error %v, want one with %q", u, l, err, want)
		}
	}
	if _, _, err := (BoundParams{}).Of(x, nil, metric.Euclidean{}); err == nil || !strings.Contains(err.Error(), "no pairs given") {
		t.Errorf("no pairs: %v", err)
	}
	if _, _, err := (BoundParams{}).Of(x, []metric.Link{{I: 0, J: 12}}, metric.Euclidean{}); err == nil || !strings.Contains(err.Error(), "pair 0: row 12 is not allowed, want 0 to 11") {
		t.Errorf("row out of range: %v", err)
	}
	if BoundPercentiles.String() != "percentiles" || BoundBins.String() != "bins" || BoundRule(7).String() != "unknown rule 7" {
		t.Error("names of rules")
	}
}

// blobs returns n rows of 3 classes that differ in the first of d features, of
// which the others are larger noise.
func blobs(seed uint64, n, d int) (*mat.Dense, []int) {
	rng := rand.New(rand.NewPCG(70, seed))
	x, y := mat.NewDense(n, d, nil), make([]int, n)
	for i := range n {
		y[i] = 10 * (i % 3)
		for j := range d {
			x.Set(i, j, 3*rng.NormFloat64())
		}
		x.Set(i, 0, float64(3*(i%3))+0.7*rng.NormFloat64())
	}
	return x, y
}

// The wrapper is Fit on 40c(c−1) uniform pairs and bounds of another draw.
func TestLabels(t *testing.T) {
	x, y := blobs(1, 60, 4)
	w0 := matrixtest.Definite(rand.New(rand.NewPCG(71, 1)), 4)
	for _, p := range []LabelParams{
		{},
		{Params: Params{Gamma: 10, W0: w0, Bounds: BoundParams{Rule: BoundBins}}, Links: 50, BoundPairs: 100},
		{Params: Params{Upper: 2, Lower: 30}},
	} {
		got, err := FitLabels(context.Background(), rand.New(rand.NewPCG(1, 2)), x, y, p)
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(1, 2))
		m := 240
		if p.Links > 0 {
			m = p.Links
		}
		q := p.Params
		links := must(sample.RandomLinks(rng, y, m))
		if p.Upper == 0 {
			start := metric.SqDister(metric.Euclidean{})
			if p.W0 != nil {
				start = must(metric.NewMahalanobis(w0))
			}
			n := 1000
			if p.BoundPairs > 0 {
				n = p.BoundPairs
			}
			if q.Upper, q.Lower, err = p.Bounds.Of(x, must(sample.RandomLinks(rng, y, n)), start); err != nil {
				t.Fatal(err)
			}
		}
		want, err := Fit(context.Background(), x, links, q)
		if err != nil || len(got.Duals) != m || math.Abs(got.Upper-want.Upper) > 1e-12*want.Upper {
			t.Fatalf("%d links, u = %v, want %v, error %v", len(got.Duals), got.Upper, want.Upper, err)
		}
		if e := matrixtest.Distance(got.Metric.M(), want.Metric.M()); e > 1e-9*mat.Norm(want.Metric.M(), 2) || got.Projections == 0 || got.Iterations > (100000+m-1)/m {
			t.Errorf("W off by %v, %d cycles", e, got.Iterations)
		}
	}
}

// The γ chosen is the first of those with the fewest errors in the cross-validation
// that the doc comment describes.
func TestTuned(t *testing.T) {
	x, y := blobs(2, 45, 3)
	p := TunedParams{Gammas: []float64{1e-4, 0.1, 1, 30, math.Inf(1)}, Folds: 3, K: 3}
	p.Links, p.MaxCycles = 60, 200
	got, err := FitTuned(context.Background(), rand.New(rand.NewPCG(3, 4)), x, y, p)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	fold := sample.StratifiedFolds(rng, y, 3)
	wrong := make([]int, len(p.Gammas))
	for f := range 3 {
		train, test := mat.NewDense(30, 3, nil), mat.NewDense(15, 3, nil)
		var ytrain, ytest []int
		for i, g := range fold {
			if g == f {
				test.SetRow(len(ytest), x.RawRowView(i))
				ytest = append(ytest, y[i])
			} else {
				train.SetRow(len(ytrain), x.RawRowView(i))
				ytrain = append(ytrain, y[i])
			}
		}
		links := must(sample.RandomLinks(rng, ytrain, 60))
		sample := must(sample.RandomLinks(rng, ytrain, 1000))
		q := p.Params
		if q.Upper, q.Lower, err = q.Bounds.Of(train, sample, metric.Identity(3)); err != nil {
			t.Fatal(err)
		}
		for g := range p.Gammas {
			q.Gamma = p.Gammas[g]
			l, err := Fit(context.Background(), train, links, q)
			if err != nil {
				t.Fatal(err)
			}
			knn := must(nearest.NewKNN(l.Metric, train, ytrain, nearest.KNNOptions{}))
			wrong[g] += must(knn.Errors(t.Context(), test, ytest, []int{3}))[0]
		}
	}
	best := slices.Index(wrong, slices.Min(wrong))
	if !slices.Equal(got.Wrong, wrong) || got.Gamma != p.Gammas[best] || slices.Max(wrong) == slices.Min(wrong) {
		t.Errorf("wrong %v, γ = %v, want %v, %v", got.Wrong, got.Gamma, wrong, p.Gammas[best])
	}
	// Tune is all that comes before the fit to all rows, and draws no more.
	tuning, err := Tune(context.Background(), rand.New(rand.NewPCG(3, 4)), x, y, p)
	if err != nil || tuning.Gamma != got.Gamma || !slices.Equal(tuning.Wrong, wrong) || !slices.Equal(tuning.Gammas, p.Gammas) {
		t.Errorf("tuning %+v, error %v, want that of the fit, %+v", tuning, err, got.Tuning)
	}
	q := p.LabelParams
	q.Gamma = got.Gamma
	want, err := FitLabels(context.Background(), rng, x, y, q)
	if err != nil || !mat.Equal(got.Metric.M(), want.Metric.M()) {
		t.Errorf("the last fit differs, error %v", err)
	}
}

func TestTunedDefaults(t *testing.T) {
	p := TunedParams{}.Resolved()
	if len(p.Gammas) != 9 || p.Gammas[0] != 1e-4 || p.Gammas[4] != 1 || p.Gammas[8] != 1e4 || p.Folds != 2 || p.K != 4 || p.Gamma != 0 || p.BoundPairs != 1000 || p.Tol != 1e-3 {
		t.Errorf("defaults %+v", p)
	}
}

func TestLabelsErrors(t *testing.T) {
	x, y := blobs(3, 6, 2)
	rng := rand.New(rand.NewPCG(1, 1))
	for want, p := range map[string]TunedParams{
		"itml: gamma: 1 is not allowed, want 0":                        {LabelParams: LabelParams{Params: Params{Gamma: 1}}},
		"itml: gammas: none given":                                     {Gammas: []float64{}},
		"itml: gammas[1]: 0 is not allowed":                            {Gammas: []float64{1, 0}},
		"itml: folds: 1 is not allowed, want an integer from 2 to 6":   {Folds: 1},
		"itml: folds: 7 is not allowed":                                {Folds: 7},
		"itml: k: 4 is not allowed, want an integer from 1 to 3":       {},
		"itml: links: -1 is not allowed":                               {K: 1, LabelParams: LabelParams{Links: -1}},
		"itml: bound_pairs: -1 is not allowed":                         {K: 1, LabelParams: LabelParams{BoundPairs: -1}},
		"itml: tol: -1 is not allowed":                                 {K: 1, LabelParams: LabelParams{Params: Params{Tol: -1}}},
		"fold 1: itml: w0: 1×1 is not allowed, want 2×2 like":          {K: 1, LabelParams: LabelParams{Params: Params{W0: matrixtest.Identity(1)}}},
		"itml: rule: 5 is not allowed, want BoundPercentiles or Bound": {K: 1, LabelParams: LabelParams{Params: Params{Bounds: BoundParams{Rule: 5}}}},
	} {
		if _, err := Tune(context.Background(), rng, x, y, p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("tuning: got error %v, want one with %q", err, want)
		}
		if l, err := FitTuned(context.Background(), rng, x, y, p); err == nil || !strings.Contains(err.Error(), want) || l.Metric != nil {
			t.Errorf("got error %v, want one with %q", err, want)
		}
	}
	for want, labels := range map[string][]int{
		"itml: 2 labels for 6 rows":              {1, 2},
		"itml: labels: 1 class, want at least 2": {1, 1, 1, 1, 1, 1},
	} {
		if _, err := FitLabels(context.Background(), rng, x, labels, LabelParams{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want one with %q", err, want)
		}
	}
}

func ExampleFitLabels() {
	x, y := blobs(4, 60, 2) // the first feature tells classes apart
	l, err := FitLabels(context.Background(), rand.New(rand.NewPCG(1, 1)), x, y, LabelParams{Params: Params{Gamma: 0.01}})
	if err != nil {
		fmt.Println(err)
		return
	}
	m := l.Metric.M()
	fmt.Printf("%v, %d links, first feature weighs more: %t\n", l.Status, len(l.Duals), m.At(0, 0) > 2*m.At(1, 1))
	// Output:
	// converged, 240 links, first feature weighs more: true
}

func ExampleTune() {
	x, y := blobs(5, 60, 6)
	rng := rand.New(rand.NewPCG(1, 1))
	t, err := Tune(context.Background(), rng, x, y, TunedParams{Gammas: []float64{0.01, 1, 100}})
	if err != nil {
		fmt.Println(err)
		return
	}
	links := []metric.Link{{I: 0, J: 3, Label: metric.Similar}, {I: 0, J: 1, Label: metric.Dissimilar}}
	l, err := Fit(context.Background(), x, links, Params{Gamma: t.Gamma})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("γ = %v, and with it %d links of one's own: %v\n", t.Gamma, len(l.Duals), l.Status)
	// Output:
	// γ = 1, and with it 2 links of one's own: converged
}

func ExampleFitTuned() {
	x, y := blobs(5, 60, 6)
	l, err := FitTuned(context.Background(), rand.New(rand.NewPCG(1, 1)), x, y, TunedParams{Gammas: []float64{0.01, 1, 100}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("wrong in the cross-validation: %v, γ = %v\n", l.Wrong, l.Gamma)
	// Output:
	// wrong in the cross-validation: [21 1 1], γ = 1
}
