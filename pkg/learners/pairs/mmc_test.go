package pairs

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrixtest"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/plain"
	"metriclab/pkg/metric"
)

// classLinks are rows of three classes whose means differ in three features, and links that the classes label, 0 and 1 among them.
func classLinks(rng *rand.Rand, n, d, links int) (*mat.Dense, []metric.Link) {
	x, means := mat.NewDense(n, d, randn(rng, n*d)), randn(rng, 9)
	for i := range n {
		for j := range min(d, 3) {
			x.Set(i, j, x.At(i, j)+2*means[3*(i%3)+j])
		}
	}
	out := []metric.Link{{I: 0, J: 1, Label: metric.Dissimilar}}
	for len(out) < links {
		i, j := rng.IntN(n), rng.IntN(n)
		out = append(out, metric.Link{I: i, J: j, Label: metric.SameClass(i%3 == j%3)})
	}
	return x, out
}

// both are f(M), with the ridge, and g(M) by their definitions.
func both(x *mat.Dense, links []metric.Link, ridge float64, m mat.Symmetric) (f, g float64) {
	_, d := x.Dims()
	var total float64
	for _, l := range links {
		v := mat.NewVecDense(d, metric.Sub(nil, x.RawRowView(l.I), x.RawRowView(l.J)))
		q := mat.Inner(v, m, v)
		if l.Label == metric.Similar {
			f += q
			total += mat.Dot(v, v)
		} else {
			g += math.Sqrt(max(q, 0))
		}
	}
	return f + ridge*total/float64(d)*mat.Trace(m), g
}

// allMMC are parameters with which the maximum exists however links lie.
func allMMC() []MMCParams {
	return []MMCParams{{}, {Ridge: 0.2}, {Diagonal: true}, {Diagonal: true, Ridge: 0.2}}
}

// TestMMCMaximum: the metric is feasible and has the objective that it tells. No metric with that constraint exceeds it by more than the residual: of random
// ones, of ones nearby, and, of two features, of a grid that comes close to the maximum.
func TestMMCMaximum(t *testing.T) {
	const tol, roundOff = 1e-9, 1e-12
	rng := rand.New(rand.NewPCG(71, 1))
	for _, d := range []int{1, 2, 6} {
		x, links := classLinks(rng, 40, d, 60)
		for _, p := range allMMC() {
			p.Tol = tol
			r := must(FitMMC(t.Context(), x, links, p))
			m := r.Metric.M()
			bound := 1.0
			if p.Diagonal {
				bound = 0.5
			}
			f, g := both(x, links, p.Ridge, m)
			if r.Status != learners.Converged || r.Residual > tol || math.Abs(f-bound) > roundOff || math.Abs(g-r.Objective) > roundOff*g {
				t.Errorf("%d features, %+v: %v, residual %v, constraint %v, objective %v, told %v", d, p, r.Status, r.Residual, f, g, r.Objective)
			}
			best := 0.0
			look := func(other *mat.SymDense) {
				f, g := both(x, links, p.Ridge, other)
				best = max(best, g/math.Sqrt(f/bound)/r.Objective)
			}
			for k := range 200 {
				other, near := matrixtest.Definite(rng, d), mat.NewSymDense(d, nil)
				if p.Diagonal {
					other = mat.NewSymDense(d, nil)
					for j := range d {
						other.SetSym(j, j, rng.ExpFloat64())
					}
				}
				look(other)
				near.ScaleSym(mat.Norm(m, 2)*math.Pow(0.1, float64(k%8)), other)
				near.AddSym(near, m)
				look(near)
			}
			if d == 2 {
				const steps = 100
				for a := range steps {
					for b := range steps {
						s, c := math.Sincos(math.Pi * float64(a) / steps)
						u, w := float64(b)/steps, 1-float64(b)/steps
						if p.Diagonal {
							s, c = 0, 1
						}
						look(mat.NewSymDense(2, []float64{u*c*c + w*s*s, (u - w) * c * s, (u - w) * c * s, u*s*s + w*c*c}))
					}
				}
			}
			if best > 1+r.Residual+roundOff || d == 2 && best < 0.98 {
				t.Errorf("%d features, %+v: another metric has %v times the objective", d, p, best)
			}
			if d == 1 && math.Abs(best-1) > roundOff {
				t.Errorf("one feature, %+v: of the only metric the objective is %v times ours", p, best)
			}
		}
	}
}

// TestMMCWidens: pairs that differ along an axis each, of 20, have the maximum at the metric of weights 1/20, whose rank exceeds the columns that L begins
// with. Axes without a column have distances of 0 there.
func TestMMCWidens(t *testing.T) {
	const d, tol = 20, 1e-9
	x := mat.NewDense(1+2*d, d, nil)
	var links []metric.Link
	for j := range d {
		x.Set(1+j, j, 1)
		x.Set(1+d+j, j, 2)
		links = append(links, metric.Link{I: 0, J: 1 + j, Label: metric.Similar}, metric.Link{I: 0, J: 1 + d + j, Label: metric.Dissimilar})
	}
	r := must(FitMMC(t.Context(), x, links, MMCParams{Tol: tol}))
	if want := 2 * math.Sqrt(d); r.Status != learners.Converged || math.Abs(r.Objective-want) > 2*tol*want || r.Metric.Rows() != d {
		t.Errorf("%v, objective %v, want %v, rank %d", r.Status, r.Objective, want, r.Metric.Rows())
	}
}

// The paper's own algorithm comes within its tolerance of the maximum: f(A) is up to 1.01, which is .5 % of g, and it stops at steps of a hundredth of A.
func TestMMCBeatsPlain(t *testing.T) {
	x, links := classLinks(rand.New(rand.NewPCG(71, 2)), 40, 3, 80)
	r := must(FitMMC(t.Context(), x, links, MMCParams{}))
	a, updates, _ := plain.MMC(x, links, 10_000)
	f, g := both(x, links, 0, a)
	if share := g / math.Sqrt(f) / r.Objective; f > 1.01 || share > 1+r.Residual || share < 0.97 {
		t.Errorf("after %d updates f = %v, and g is %v of the maximum", updates, f, share)
	}
}

func TestMMCGradient(t *testing.T) {
	const tol = 1e-6 // of central differences
	rng := rand.New(rand.NewPCG(71, 3))
	for _, diagonal := range []bool{false, true} {
		f := &mmcFit{ctx: t.Context(), p: MMCParams{Diagonal: diagonal}, z: mat.NewDense(9, 3, randn(rng, 27))}
		if err := f.settle(); err != nil {
			t.Fatal(err)
		}
		if f.width = 2; diagonal {
			f.width = 1
		}
		l := randn(rng, 3*f.width)
		got := make([]float64, len(l))
		f.value(l, got)
		want := fd.Gradient(nil, func(l []float64) float64 { return f.value(l, make([]float64, len(l))) }, l, &fd.Settings{Formula: fd.Central})
		for i := range got {
			if math.Abs(got[i]-want[i]) > tol {
				t.Errorf("diagonal %v: gradient %d is %v, want %v", diagonal, i, got[i], want[i])
			}
		}
	}
}

// Without a ridge, distances learned do not depend on a linear map of the rows; diagonal ones not on units. Pairs that coincide, and a shift, change nothing.
func TestMMCDoesNotSee(t *testing.T) {
	const tol = 1e-6 // of a metric, at a residual of 1e-12
	rng := rand.New(rand.NewPCG(71, 4))
	x, links := classLinks(rng, 40, 4, 80)
	for _, diagonal := range []bool{false, true} {
		p := MMCParams{Diagonal: diagonal, Tol: 1e-12}
		want := must(FitMMC(t.Context(), x, links, p)).Metric
		a := mat.NewDense(4, 4, randn(rng, 16))
		if diagonal {
			a = mat.DenseCopyOf(mat.NewDiagDense(4, []float64{1e-90, 3, 0.1, 1e80}))
		}
		var mapped mat.Dense
		mapped.Mul(x, a)
		mapped.Apply(func(_, j int, v float64) float64 { return v + a.At(j, j) }, &mapped)
		got := must(FitMMC(t.Context(), &mapped, append([]metric.Link{{I: 7, J: 7, Label: metric.Similar}, {I: 7, J: 7, Label: metric.Dissimilar}}, links...), p)).Metric
		for i := range 40 {
			q, w := got.SqDist(mapped.RawRowView(i), mapped.RawRowView(0)), want.SqDist(x.RawRowView(i), x.RawRowView(0))
			if math.Abs(q-w) > tol*(w+1e-3) {
				t.Errorf("diagonal %v: squared distance %v, want %v", diagonal, q, w)
			}
		}
	}
}

// A feature in which similar pairs do not differ has weight 0 without a ridge, and one with it.
func TestMMCConstantFeatures(t *testing.T) {
	x, links := classLinks(rand.New(rand.NewPCG(71, 5)), 30, 3, 60)
	for i := range 30 {
		x.Set(i, 2, float64(i%3))
	}
	for _, p := range allMMC() {
		w := must(FitMMC(t.Context(), x, links, p)).Metric.M().At(2, 2)
		if p.Ridge > 0 && !(w > 0) || p.Ridge == 0 && w > 1e-20 { // round-off of eigenvectors, squared
			t.Errorf("%+v: weight %v", p, w)
		}
	}
}

func TestMMCCores(t *testing.T) {
	before := runtime.GOMAXPROCS(1)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	x, links := classLinks(rand.New(rand.NewPCG(71, 6)), 300, 60, 3000)
	for _, p := range allMMC()[1:3] {
		var want mat.Matrix
		for _, procs := range []int{1, 2, 3} {
			runtime.GOMAXPROCS(procs)
			got := must(FitMMC(t.Context(), x, links, p)).Metric.M()
			if procs == 1 {
				want = got
			} else if !mat.Equal(got, want) {
				t.Errorf("%+v: other bits on %d cores than on one", p, procs)
			}
		}
	}
}

func TestMMCProgress(t *testing.T) {
	x, links := classLinks(rand.New(rand.NewPCG(71, 7)), 40, 6, 80)
	var told []learners.Progress
	r := must(FitMMC(t.Context(), x, links, MMCParams{Tol: 1e-300, MaxIterations: 7, Progress: func(p learners.Progress) { told = append(told, p) }}))
	if last := told[len(told)-1]; r.Status != learners.IterationCap || len(told) != 7 || last.Iteration != 7 || last.Cap != 7 || math.Abs(last.Objective-r.Objective) > 1e-12*r.Objective || told[0].Objective > last.Objective {
		t.Errorf("%v after %+v", r.Status, told)
	}
	if r = must(FitMMC(t.Context(), x, links, MMCParams{Tol: 1e-300, MaxIterations: 1 << 20})); r.Status != learners.NoProgress && r.Residual > 0 || r.Residual > 1e-12 {
		t.Errorf("%v with a residual of %v", r.Status, r.Residual)
	}
}

func TestMMCErrors(t *testing.T) {
	x := mat.NewDense(4, 2, []float64{0, 0, 1, 0, 5, 5, 5, 6})
	links := func(i, j, k, l int) []metric.Link {
		return []metric.Link{{I: i, J: j, Label: metric.Similar}, {I: k, J: l, Label: metric.Dissimilar}}
	}
	for want, c := range map[string]struct {
		x     *mat.Dense
		links []metric.Link
		p     MMCParams
	}{
		"mmc: links: no similar one":                {x, links(0, 1, 0, 2)[1:], MMCParams{}},
		"mmc: links: no dissimilar one":             {x, links(0, 1, 0, 2)[:1], MMCParams{}},
		"similar pairs: all deviations are zero":    {x, links(1, 1, 0, 2), MMCParams{Ridge: 1}},
		"only where similar pairs do not":           {x, links(0, 1, 2, 3), MMCParams{}},
		"dissimilar pairs: they differ only":        {x, links(0, 1, 2, 3), MMCParams{Diagonal: true}},
		"dissimilar pairs: they":                    {x, links(0, 1, 2, 2), MMCParams{Ridge: 1}},
		"link 1: row 4 is not allowed, want 0 to 3": {x, links(0, 1, 0, 4), MMCParams{}},
		"row 0, column 1: NaN is not allowed":       {mat.NewDense(1, 2, []float64{0, math.NaN()}), links(0, 0, 0, 0), MMCParams{}},
		"differences of rows overflow":              {mat.NewDense(2, 1, []float64{1e308, -1e308}), links(0, 1, 0, 1), MMCParams{}},
		"mmc: weights overflow float64":             {mat.NewDense(3, 1, []float64{0, 1e-170, 1}), links(0, 1, 0, 2), MMCParams{}},
		"differ too much more":                      {mat.NewDense(3, 1, []float64{0, 1e-300, 1e200}), links(0, 1, 0, 2), MMCParams{Diagonal: true}},
		"ridge: -1 is not allowed":                  {x, links(0, 1, 0, 2), MMCParams{Ridge: -1}},
		"tol: NaN is not allowed":                   {x, links(0, 1, 0, 2), MMCParams{Tol: math.NaN()}},
		"max_iterations: -1 is not allowed":         {x, links(0, 1, 0, 2), MMCParams{MaxIterations: -1}},
	} {
		if r, err := FitMMC(t.Context(), c.x, c.links, c.p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v and %v, want an error with %q", r, err, want)
		}
	}
}

func ExampleFitMMC() {
	// Similar pairs differ as much along both features, dissimilar ones along the first alone.
	x := mat.NewDense(4, 2, []float64{
		0, 0,
		1, 1,
		5, 0,
		4, 1,
	})
	links := []metric.Link{
		{I: 0, J: 1, Label: metric.Similar},
		{I: 2, J: 3, Label: metric.Similar},
		{I: 0, J: 2, Label: metric.Dissimilar},
		{I: 1, J: 3, Label: metric.Dissimilar},
	}
	r, err := FitMMC(context.Background(), x, links, MMCParams{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("M = %.3f\n", mat.Formatted(r.Metric.M(), mat.Prefix("    ")))
	fmt.Printf("sum of the distances of dissimilar pairs: %.3f\n", r.Objective)
	// Output:
	// M = ⎡0.500  0.000⎤
	//     ⎣0.000  0.000⎦
	// sum of the distances of dissimilar pairs: 5.657
}

func BenchmarkMMC(b *testing.B) {
	for _, d := range []int{16, 64, 256} {
		x, links := classLinks(rand.New(rand.NewPCG(71, 8)), 2000, d, 10_000)
		for _, diagonal := range []bool{false, true} {
			b.Run(fmt.Sprintf("alg=MMC/dim=%d/links=10000/diagonal=%v", d, diagonal), func(b *testing.B) {
				for b.Loop() {
					if _, err := FitMMC(b.Context(), x, links, MMCParams{Diagonal: diagonal}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
