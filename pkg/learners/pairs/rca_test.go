package pairs

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners"
	"metriclab/pkg/learners/plain"
	"metriclab/pkg/metric"
)

func rcaData(rng *rand.Rand, n, d, links int) (*mat.Dense, []metric.Link) {
	x := mat.NewDense(n, d, nil)
	for i := range n {
		for j := range d {
			x.Set(i, j, 3+float64(j+1)*rng.NormFloat64())
		}
	}
	ls := make([]metric.Link, links)
	for k := range ls {
		ls[k] = metric.Link{I: rng.IntN(n), J: rng.IntN(n), Label: metric.SameClass(k%3 > 0)}
	}
	return x, ls
}

// rcaTol is about d·ε·κ(C) for d ≤ 40 and condition numbers up to 1e4.
const rcaTol = 1e-9

// TestRCAWhitensChunklets is the property that defines RCA: with ridge 0 the
// embedded chunklets have covariance I; with more features than contrasts, I in
// the subspace that they span.
func TestRCAWhitensChunklets(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	for _, c := range []struct{ n, d, links int }{{60, 5, 50}, {40, 3, 400}, {30, 40, 12}, {3, 6, 9}} {
		x, links := rcaData(rng, c.n, c.d, c.links)
		res, err := FitRCA(t.Context(), x, links, RCAParams{})
		if err != nil {
			t.Fatal(err)
		}
		got := plain.ChunkletCovariance(res.Metric.EmbedRows(x), links)
		if r := got.SymmetricDim(); r != min(c.d, rank(plain.ChunkletCovariance(x, links))) {
			t.Errorf("%+v: %d directions", c, r)
		}
		for i := range got.SymmetricDim() {
			for j := range got.SymmetricDim() {
				want := 0.0
				if i == j {
					want = 1
				}
				if math.Abs(got.At(i, j)-want) > rcaTol {
					t.Errorf("%+v: covariance[%d][%d] of the embedded chunklets is %v, want %v", c, i, j, got.At(i, j), want)
				}
			}
		}
	}
}

func rank(a *mat.SymDense) int {
	var svd mat.SVD
	svd.Factorize(a, mat.SVDNone)
	r := 0
	for _, s := range svd.Values(nil) {
		if s > 1e-10*svd.Values(nil)[0] {
			r++
		}
	}
	return r
}

// TestRCAIsPlain compares M with that of plain.RCA.
func TestRCAIsPlain(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 2))
	for _, c := range []struct {
		n, d, links int
		ridge       float64
	}{{60, 5, 50, 0}, {60, 5, 50, 0.1}, {30, 40, 12, 0.01}, {10, 2, 100, 7}} {
		x, links := rcaData(rng, c.n, c.d, c.links)
		res, err := FitRCA(t.Context(), x, links, RCAParams{Ridge: c.ridge})
		if err != nil {
			t.Fatal(err)
		}
		want := plain.RCA(x, links, c.ridge)
		scale := mat.Max(want)
		if !mat.EqualApprox(res.Metric.M(), want, rcaTol*scale) {
			t.Errorf("%+v: M differs from (C + ρsI)⁻¹", c)
		}
		if res.Status != learners.Closed {
			t.Errorf("status %v, want closed form", res.Status)
		}
	}
}

// TestRCADoesNotSee checks what the answer must not depend on: dissimilar,
// repeated, reversed and self links, and a shift of the data.
func TestRCADoesNotSee(t *testing.T) {
	x, links := rcaData(rand.New(rand.NewPCG(5, 3)), 30, 4, 30)
	fit := func(x *mat.Dense, links []metric.Link) *mat.SymDense {
		res, err := FitRCA(t.Context(), x, links, RCAParams{Ridge: 0.01})
		if err != nil {
			t.Fatal(err)
		}
		return res.Metric.M()
	}
	want := fit(x, links)
	more := append([]metric.Link{}, links...)
	for _, l := range links {
		more = append(more, metric.Link{I: l.J, J: l.I, Label: l.Label})
	}
	more = append(more, metric.Link{I: 0, J: 1, Label: metric.Dissimilar}, metric.Link{I: 7, J: 7, Label: metric.Similar})
	if !mat.Equal(fit(x, more), want) {
		t.Error("repeated, dissimilar or self links changed M")
	}
	var shifted mat.Dense
	shifted.Apply(func(_, j int, v float64) float64 { return v + 100*float64(j) }, x)
	if !mat.EqualApprox(fit(&shifted, links), want, rcaTol) {
		t.Error("a shift of the data changed M")
	}
}

func TestRCAConstantFeatures(t *testing.T) {
	const roundOff = 1e-25 // ε² times a weight: eigenvectors are orthogonal to it up to ε
	rng := rand.New(rand.NewPCG(5, 4))
	x, links := rcaData(rng, 40, 4, 40)
	for i := range 40 {
		x.Set(i, 2, 0.1)
	}
	for _, ridge := range []float64{0, 1e-3} {
		res, err := FitRCA(t.Context(), x, links, RCAParams{Ridge: ridge})
		if err != nil {
			t.Fatal(err)
		}
		c := plain.ChunkletCovariance(x, links)
		want := 0.0
		if ridge > 0 {
			want = 1 / (ridge * mat.Trace(c) / 4)
		}
		if got := res.Metric.M().At(2, 2); math.Abs(got-want) > rcaTol*want+roundOff {
			t.Errorf("ridge %g: weight %v of the constant feature, want %v", ridge, got, want)
		}
		if d := res.Metric.SqDist(x.RawRowView(0), x.RawRowView(1)); !(d > 0) || math.IsInf(d, 0) {
			t.Errorf("ridge %g: squared distance %v", ridge, d)
		}
	}
}

func TestRCAErrors(t *testing.T) {
	x := mat.NewDense(3, 2, []float64{0, 0, 1, 2, 5, 5})
	link := func(i, j int, l metric.Label) []metric.Link { return []metric.Link{{I: i, J: j, Label: l}} }
	good := link(0, 1, metric.Similar)
	for want, c := range map[string]struct {
		x     *mat.Dense
		links []metric.Link
		ridge float64
	}{
		"no similar link":                           {x, link(0, 1, metric.Dissimilar), 0},
		"no similar link between two different":     {x, link(1, 1, metric.Similar), 0},
		"rca: links: no similar":                    {x, nil, 0},
		"link 0: row 3 is not allowed, want 0 to 2": {x, link(0, 3, metric.Similar), 0},
		"link 0: row -1 is not allowed":             {x, link(-1, 0, metric.Dissimilar), 0},
		"link 0: label 0 is not allowed":            {x, link(0, 1, 0), 0},
		"row 0, column 1: NaN is not allowed":       {mat.NewDense(2, 2, []float64{0, math.NaN(), 0, 0}), good, 0},
		"row 1, column 0: +Inf":                     {mat.NewDense(2, 2, []float64{0, 0, math.Inf(1), 0}), good, 0},
		"all deviations are zero":                   {mat.NewDense(2, 2, []float64{.1, .7, .1, .7}), good, 1},
		"ridge: -1 is not allowed":                  {x, good, -1},
		"ridge: NaN is not allowed":                 {x, good, math.NaN()},
		"ridge: +Inf is not allowed":                {x, good, math.Inf(1)},
		"is lost in round-off":                      {x, good, 1e-300},
		"overflows":                                 {mat.NewDense(2, 1, []float64{1e200, -1e200}), good, 0},
	} {
		if _, err := FitRCA(t.Context(), c.x, c.links, RCAParams{Ridge: c.ridge}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}

func ExampleFitRCA() {
	// Similar pairs differ four times as much along the first feature, which
	// therefore counts for 16 times less.
	x := mat.NewDense(4, 2, []float64{
		-4, 0,
		+4, 0,
		10, -1,
		10, +1,
	})
	links := []metric.Link{
		{I: 0, J: 1, Label: metric.Similar},
		{I: 2, J: 3, Label: metric.Similar},
	}
	res, err := FitRCA(context.Background(), x, links, RCAParams{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("M = %.3f\n", mat.Formatted(res.Metric.M(), mat.Prefix("    ")))
	// Output:
	// M = ⎡0.125  0.000⎤
	//     ⎣0.000  2.000⎦
}

func BenchmarkRCA(b *testing.B) {
	rng := rand.New(rand.NewPCG(5, 5))
	x, links := rcaData(rng, 2000, 784, 1000)
	for _, ridge := range []float64{0, 1e-3} {
		b.Run(fmt.Sprintf("alg=RCA/dim=784/links=1000/ridge=%g", ridge), func(b *testing.B) {
			for b.Loop() {
				if _, err := FitRCA(b.Context(), x, links, RCAParams{Ridge: ridge}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
