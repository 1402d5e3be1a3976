package pairs

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrixtest"

	"metriclab/pkg/datasets/synthetic"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/plain"
	"metriclab/pkg/metric"
)

// separableData returns a data set and links that (A*, b*) explains without loss,
// with ‖w₁ − w*‖² for b₁ = 1 and R.
func separableData(t testing.TB, seed uint64, dim, rank, n int) (x *mat.Dense, links []metric.Link, start, radius float64) {
	t.Helper()
	s, err := synthetic.SeparablePairs(rand.New(rand.NewPCG(50, seed)), synthetic.SeparableConfig{N: n, Dim: dim, Rank: rank})
	if err != nil {
		t.Fatal(err)
	}
	x = mat.NewDense(2*n, dim, nil)
	radius = 1
	for i, p := range s.Pairs {
		x.SetRow(2*i, p.X)
		x.SetRow(2*i+1, p.Y)
		links = append(links, metric.Link{I: 2 * i, J: 2*i + 1, Label: p.Label})
		radius = math.Max(radius, 1+math.Pow(metric.Euclidean{}.SqDist(p.X, p.Y), 2))
	}
	return x, links, s.Metric.SqNorm() + math.Pow(s.Threshold-1, 2), radius
}

// On separable data batch POLA converges within the paper's number of steps on
// violating examples, and within 2m times that number of passes; then no loss is
// above β, and Lemma 3 bounds the norm.
func TestBatchPOLAConverges(t *testing.T) {
	for _, c := range []struct{ dim, rank, n int }{{1, 1, 20}, {3, 2, 40}, {10, 3, 100}, {40, 4, 60}} {
		for _, beta := range []float64{1, 0.3, 0.05} {
			x, links, start, radius := separableData(t, uint64(c.dim), c.dim, c.rank, c.n)
			bound := radius * start / (beta * beta)
			for _, reading := range []BatchReading{BatchPasses, BatchViolations} {
				b, err := FitBatchPOLA(context.Background(), x, links, BatchPOLAParams{Beta: beta, Reading: reading})
				if err != nil {
					t.Fatal(err)
				}
				most := bound
				if reading == BatchPasses {
					most = 2 * float64(len(links)) * bound
				} else if b.Updates != b.Iterations {
					t.Errorf("%d updates in %d steps on violating examples", b.Updates, b.Iterations)
				}
				if b.Status != learners.Converged || b.Residual > beta || float64(b.Iterations) > most || b.Iterations == 0 {
					t.Errorf("%+v, β = %v, %v: %v after %d iterations, bound %v, residual %v", c, beta, reading, b.Status, b.Iterations, most, b.Residual)
				}
				if largest := largestLoss(x, links, b); math.Abs(largest-b.Residual) > 1e-9*(1+b.Threshold) {
					t.Errorf("%+v, β = %v, %v: largest loss %v, residual %v", c, beta, reading, largest, b.Residual)
				}
				if norm := b.Metric.SqNorm() + math.Pow(b.Threshold-1, 2); norm > 4*start {
					t.Errorf("%+v, β = %v, %v: ‖w − w₁‖² = %v above %v", c, beta, reading, norm, 4*start)
				}
				t.Logf("%+v, β = %v, %v: %d iterations of at most %.0f, %d updates", c, beta, reading, b.Iterations, most, b.Updates)
			}
		}
	}
}

// What a batch fit learned is saved, loaded and goes on like any POLA.
func TestBatchPOLAIsSaved(t *testing.T) {
	x, links, _, _ := separableData(t, 1, 5, 3, 40)
	b, err := FitBatchPOLA(context.Background(), x, links, BatchPOLAParams{})
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := b.Learner.Save(&file); err != nil {
		t.Fatal(err)
	}
	l, err := LoadPOLA(&file)
	if err != nil || l.Threshold() != b.Threshold || !mat.Equal(l.Metric().M(), b.Metric.M()) {
		t.Fatalf("loaded: threshold %v, want %v (error %v)", l.Threshold(), b.Threshold, err)
	}
	p := metric.Pair{X: x.RawRowView(0), Y: x.RawRowView(1), Label: -links[0].Label}
	want, err := b.Learner.Step(p)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := l.Step(p); err != nil || got != want {
		t.Errorf("the next step gives %+v (error %v), want %+v", got, err, want)
	}
}

// largestLoss measures with the metric of the result.
func largestLoss(x *mat.Dense, links []metric.Link, b BatchPOLA) float64 {
	var largest float64
	for _, l := range links {
		d := b.Metric.SqDist(x.RawRowView(l.I), x.RawRowView(l.J))
		largest = math.Max(largest, 1+float64(l.Label)*(d-b.Threshold))
	}
	return largest
}

// Each reading is that of plain.
func TestBatchPOLAIsPlain(t *testing.T) {
	x, links, _, _ := separableData(t, 7, 5, 2, 30)
	var all []metric.Pair
	for _, l := range links {
		all = append(all, metric.Pair{X: x.RawRowView(l.I), Y: x.RawRowView(l.J), Label: l.Label})
	}
	for _, p := range []BatchPOLAParams{
		{MaxIterations: 3, Beta: 1e-6},
		{Beta: 0.3},
		{MaxIterations: 600, Beta: 1e-6, Reading: BatchViolations, POLAParams: POLAParams{Gamma: 0.5, B1: new(2.0)}},
		{Beta: 0.3, Reading: BatchViolations},
	} {
		got, err := FitBatchPOLA(context.Background(), x, links, p)
		if err != nil {
			t.Fatal(err)
		}
		want, most := newPlain(5, p.POLAParams), p.MaxIterations
		if most == 0 {
			most = math.MaxInt
		}
		repeat := plain.BatchPOLAPasses
		if p.Reading == BatchViolations {
			repeat = plain.BatchPOLA
		}
		iterations := repeat(want, all, p.Beta, most)
		if got.Iterations != iterations || (got.Status == learners.IterationCap) != (p.MaxIterations > 0) {
			t.Errorf("%v: %v after %d iterations, want %d", p.Reading, got.Status, got.Iterations, iterations)
		}
		if d := matrixtest.Distance(got.Metric.M(), want.A); d > agreeTol*mat.Norm(want.A, 2) || math.Abs(got.Threshold-want.B) > agreeTol {
			t.Errorf("%v: A off by %v, b = %v, want %v", p.Reading, d, got.Threshold, want.B)
		}
	}
}

// Labels that no metric explains end at the cap, and a step that undoes itself
// ends at once; either way the residual is the largest loss.
func TestBatchPOLAInseparable(t *testing.T) {
	x := mat.NewDense(4, 2, []float64{0, 0, 1, 0, 0, 1, 1, 1})
	for name, c := range map[string]struct {
		links []metric.Link
		p     BatchPOLAParams
		want  learners.Status
		max   int
	}{
		"contradiction": {[]metric.Link{{I: 0, J: 1, Label: 1}, {I: 1, J: 0, Label: -1}}, BatchPOLAParams{MaxIterations: 50}, learners.IterationCap, 50},
		"contradiction, violations": {[]metric.Link{{I: 0, J: 1, Label: 1}, {I: 1, J: 0, Label: -1}},
			BatchPOLAParams{MaxIterations: 1000, Reading: BatchViolations}, learners.IterationCap, 1000},
		"itself":             {[]metric.Link{{I: 2, J: 2, Label: -1}}, BatchPOLAParams{}, learners.NoProgress, 1},
		"itself, violations": {[]metric.Link{{I: 0, J: 1, Label: -1}, {I: 2, J: 2, Label: -1}}, BatchPOLAParams{Reading: BatchViolations}, learners.NoProgress, 1000},
		"nothing to do":      {[]metric.Link{{I: 0, J: 3, Label: 1}}, BatchPOLAParams{}, learners.Converged, 0},
		"gamma":              {[]metric.Link{{I: 0, J: 1, Label: 1}, {I: 1, J: 0, Label: -1}}, BatchPOLAParams{POLAParams: POLAParams{Gamma: 5}, MaxIterations: 7}, learners.IterationCap, 7},
	} {
		b, err := FitBatchPOLA(context.Background(), x, c.links, c.p)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if b.Status != c.want || b.Iterations > c.max || c.want == learners.IterationCap && b.Iterations != c.max {
			t.Errorf("%s: %v after %d iterations, want %v after at most %d", name, b.Status, b.Iterations, c.want, c.max)
		}
		if largest := largestLoss(x, c.links, b); math.Abs(math.Max(0, largest)-b.Residual) > 1e-9 {
			t.Errorf("%s: largest loss %v, residual %v", name, largest, b.Residual)
		}
	}
}

func TestBatchPOLAErrors(t *testing.T) {
	x := mat.NewDense(2, 1, []float64{0, 1})
	one := []metric.Link{{I: 0, J: 1, Label: -1}}
	for want, c := range map[string]struct {
		x     *mat.Dense
		links []metric.Link
		p     BatchPOLAParams
	}{
		"links: none given":            {x, nil, BatchPOLAParams{}},
		"link 0: label 0":              {x, []metric.Link{{I: 0, J: 1}}, BatchPOLAParams{}},
		"link 1: row 2 is not allowed": {x, append(one, metric.Link{I: 2, J: 0, Label: 1}), BatchPOLAParams{}},
		"beta: -1 is not allowed":      {x, one, BatchPOLAParams{Beta: -1}},
		"beta: NaN":                    {x, one, BatchPOLAParams{Beta: math.NaN()}},
		"reading: 7":                   {x, one, BatchPOLAParams{Reading: 7}},
		"max_iterations: -1":           {x, one, BatchPOLAParams{MaxIterations: -1}},
		"pola-batch: gamma: -1":        {x, one, BatchPOLAParams{POLAParams: POLAParams{Gamma: -1}}},
		"NaN":                          {mat.NewDense(2, 1, []float64{0, math.NaN()}), one, BatchPOLAParams{}},
		"link 0: pola: x and y: ‖x−y‖⁴ = +Inf":   {mat.NewDense(2, 1, []float64{0, 1e100}), one, BatchPOLAParams{}},
		"pola-batch: link 0: pola: x and y: ‖x−": {mat.NewDense(2, 1, []float64{0, 1e100}), one, BatchPOLAParams{Reading: BatchViolations}},
	} {
		if b, err := FitBatchPOLA(context.Background(), c.x, c.links, c.p); err == nil || !strings.Contains(err.Error(), want) || b.Metric != nil {
			t.Errorf("got %+v, error %v, want one with %q", b, err, want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("no panic without data")
		}
	}()
	FitBatchPOLA(context.Background(), &mat.Dense{}, one, BatchPOLAParams{})
}

func TestReadingString(t *testing.T) {
	for r, want := range map[BatchReading]string{BatchPasses: "passes", BatchViolations: "violations", 9: "unknown reading 9"} {
		if got := r.String(); got != want {
			t.Errorf("%d is written %q, want %q", int(r), got, want)
		}
	}
}

func ExampleFitBatchPOLA() {
	// Rows are alike in the first feature, and differ by class in the second.
	x := mat.NewDense(4, 2, []float64{0, 0, 1, 0, 0, 2, 1, 2})
	links := []metric.Link{
		{I: 0, J: 1, Label: metric.Similar}, {I: 2, J: 3, Label: metric.Similar},
		{I: 0, J: 2, Label: metric.Dissimilar}, {I: 1, J: 2, Label: metric.Dissimilar},
	}
	b, err := FitBatchPOLA(context.Background(), x, links, BatchPOLAParams{Beta: 0.01})
	if err != nil {
		fmt.Println(err)
		return
	}
	m := b.Metric.M()
	fmt.Printf("%v after %d passes, largest loss %.3f\n", b.Status, b.Iterations, b.Residual)
	fmt.Printf("A = [%.2f %.2f; %.2f %.2f], b = %.2f\n", m.At(0, 0), m.At(0, 1), m.At(1, 0), m.At(1, 1), b.Threshold)
	// Output:
	// converged after 2 passes, largest loss 0.002
	// A = [0.00 -0.01; -0.01 0.50], b = 1.00
}

// BenchmarkBatchPOLA is a fit of 1,000 pairs in 10 dimensions.
func BenchmarkBatchPOLA(b *testing.B) {
	x, links, _, _ := separableData(b, 1, 10, 3, 1000)
	for _, r := range []BatchReading{BatchPasses, BatchViolations} {
		b.Run(fmt.Sprintf("alg=BatchPOLA/dim=10/reading=%v", r), func(b *testing.B) {
			for b.Loop() {
				f, err := FitBatchPOLA(context.Background(), x, links, BatchPOLAParams{Reading: r})
				if err != nil || f.Status != learners.Converged {
					b.Fatal(f.Status, err)
				}
				b.ReportMetric(float64(f.Iterations), "iterations")
			}
		})
	}
}
