package kernelized

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/labels"
	"metriclab/pkg/learners/pairs"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
)

// blobs returns n rows of three classes in d dimensions, the classes, and links within them.
func blobs(seed uint64, n, d int) (*mat.Dense, []int, []metric.Link) {
	rng := rand.New(rand.NewPCG(seed, 53))
	x, y := mat.NewDense(n, d, nil), make([]int, n)
	var links []metric.Link
	for i := range n {
		y[i] = i % 3
		for j := range d {
			x.Set(i, j, rng.NormFloat64()*float64(1+j)+2*float64(y[i]*(j%2)))
		}
		if i >= 3 && i%7 != 0 {
			links = append(links, metric.Link{I: i, J: i - 3, Label: metric.Similar})
		}
	}
	return x, y, links
}

func lmnn(y []int, p labels.LMNNParams) Learner {
	return func(ctx context.Context, z mat.Matrix) (learners.MetricResult, error) {
		l, err := labels.FitLMNN(ctx, z, y, p)
		return l.MetricResult, err
	}
}

func mcml(y []int, p labels.MCMLParams) Learner {
	return func(ctx context.Context, z mat.Matrix) (learners.MetricResult, error) {
		l, err := labels.FitMCML(ctx, z, y, p)
		return l.MetricResult, err
	}
}

func rca(links []metric.Link, p pairs.RCAParams) Learner {
	return func(ctx context.Context, z mat.Matrix) (learners.MetricResult, error) {
		return pairs.FitRCA(ctx, z, links, p)
	}
}

func gaussian(t testing.TB, gamma float64) kernels.Kernel {
	t.Helper()
	k, err := kernels.NewGaussian(gamma)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// With the linear kernel the metric is the learner's own, on points not seen too: of rows and of their Gram matrix, whether there are
// more rows than dimensions or fewer.
func TestLinearKernel(t *testing.T) {
	// The fits make the same steps, in coordinates that are turned. Round-off grows over some hundred steps of LMNN, whose cost is not strictly convex.
	const tol = 1e-8
	for _, size := range [][2]int{{60, 5}, {24, 40}} {
		x, y, links := blobs(11, size[0], size[1])
		fresh, _, _ := blobs(12, 15, size[1])
		for name, learn := range map[string]Learner{
			"lmnn":      lmnn(y, labels.LMNNParams{}),
			"mcml":      mcml(y, labels.MCMLParams{Tol: 1e-6}),
			"rca":       rca(links, pairs.RCAParams{}),
			"rca ridge": rca(links, pairs.RCAParams{Ridge: 0.3}),
		} {
			if name != "rca" && size[0] < size[1] {
				continue // LMNN and MCML can collapse the classes, in more than one way; the ridge of the input space acts outside the span, too
			}
			want, err := learn(t.Context(), x)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			got, err := Fit(t.Context(), kernels.Linear{}, x, learn, Params{})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			gram := kernels.Gram(kernels.Linear{}, x)
			ofGram, err := FitGram(t.Context(), gram, learn, Params{})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			z, err := ofGram.Embed(kernels.GramRect(kernels.Linear{}, fresh, x))
			if err != nil {
				t.Fatal(err)
			}
			if rank := min(size[0], size[1]); got.Rank != rank || got.Metric.Support() != rank || len(ofGram.Support) != rank || got.Status != want.Status || ofGram.Status != want.Status {
				t.Errorf("%s %v: rank %d, %d and %d rows, status %v, %v, %v", name, size, got.Rank, got.Metric.Support(), len(ofGram.Support), got.Status, ofGram.Status, want.Status)
			}
			for i := range 15 {
				for j := range i {
					q := want.Metric.SqDist(fresh.RawRowView(i), fresh.RawRowView(j))
					for what, v := range map[string]float64{
						"rows":      got.Metric.SqDist(fresh.RawRowView(i), fresh.RawRowView(j)),
						"embedding": metric.Euclidean{}.SqDist(got.Metric.Embed(fresh.RawRowView(i)), got.Metric.Embed(fresh.RawRowView(j))),
						"Gram":      metric.Euclidean{}.SqDist(z.RawRowView(i), z.RawRowView(j)),
					} {
						if math.Abs(v-q) > tol*(1+q) {
							t.Errorf("%s %v, %s: new rows %d and %d: squared distance %v, want %v", name, size, what, i, j, v, q)
						}
					}
				}
			}
		}
	}
}

// Where the rows span fewer dimensions than there are features, a ridge makes the answer of LMNN and MCML unique: it is that of the input space, too, with the mean variance taken over
// the dimensions of the span.
func TestRidge(t *testing.T) {
	const n, d = 12, 20
	x, y, _ := blobs(19, n, d)
	fresh, _, _ := blobs(20, 6, d)
	for name, learn := range map[string]func(ridge float64) Learner{
		"lmnn": func(ridge float64) Learner {
			return lmnn(y, labels.LMNNParams{Ridge: ridge, Tol: 1e-2})
		},
		"mcml": func(ridge float64) Learner { return mcml(y, labels.MCMLParams{Ridge: ridge, Tol: 1e-9}) },
	} {
		want, err := learn(0.5)(t.Context(), x)
		if err != nil || want.Status != learners.Converged {
			t.Fatalf("%s: status %v, error %v", name, want.Status, err)
		}
		got, err := Fit(t.Context(), kernels.Linear{}, x, learn(0.5*n/d), Params{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 6 {
			for j := range i {
				const tol = 1e-8
				v, q := got.Metric.SqDist(fresh.RawRowView(i), fresh.RawRowView(j)), want.Metric.SqDist(fresh.RawRowView(i), fresh.RawRowView(j))
				if math.Abs(v-q) > tol*(1+q) {
					t.Errorf("%s: new rows %d and %d: squared distance %v, want %v", name, i, j, v, q)
				}
			}
		}
	}
}

// With the polynomial kernel of degree 2 the fit is that on all monomials of degree at most 2, which span the space of the kernel.
func TestPolynomialKernel(t *testing.T) {
	k, err := kernels.NewPolynomial(2, 1)
	if err != nil {
		t.Fatal(err)
	}
	phi := func(row []float64) []float64 {
		a, b := row[0], row[1]
		return []float64{1, math.Sqrt2 * a, math.Sqrt2 * b, a * a, b * b, math.Sqrt2 * a * b}
	}
	x, y, links := blobs(13, 45, 2)
	images := mat.NewDense(45, 6, nil)
	for i := range 45 {
		images.SetRow(i, phi(x.RawRowView(i)))
	}
	fresh, _, _ := blobs(14, 10, 2)
	for name, learn := range map[string]Learner{
		"lmnn": lmnn(y, labels.LMNNParams{}), "mcml": mcml(y, labels.MCMLParams{}), "rca": rca(links, pairs.RCAParams{}),
		"rca ridge": rca(links, pairs.RCAParams{Ridge: 0.1}),
	} {
		want, err := learn(t.Context(), images)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Fit(t.Context(), k, x, learn, Params{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 10 {
			for j := range i {
				const tol = 1e-8 // ε times the condition number of the images, some 10⁶
				v, q := got.Metric.SqDist(fresh.RawRowView(i), fresh.RawRowView(j)), want.Metric.SqDist(phi(fresh.RawRowView(i)), phi(fresh.RawRowView(j)))
				if math.Abs(v-q) > tol*(1+q) {
					t.Errorf("%s: new rows %d and %d: squared distance %v, want %v", name, i, j, v, q)
				}
			}
		}
	}
}

// Landmarks project: a fit with q of them is the learner's on the projections. As many as there are rows change nothing.
func TestLandmarks(t *testing.T) {
	x, _, links := blobs(15, 40, 3)
	k := gaussian(t, 0.05)
	learn := rca(links, pairs.RCAParams{Ridge: 0.1})
	exact, err := Fit(t.Context(), k, x, learn, Params{})
	if err != nil {
		t.Fatal(err)
	}
	left := 1.0
	for _, q := range []int{2, 10, 40, 1_000_000} {
		got, err := Fit(t.Context(), k, x, learn, Params{Landmarks: q})
		if err != nil {
			t.Fatal(err)
		}
		ofGram, err := FitGram(t.Context(), kernels.Gram(k, x), learn, Params{Landmarks: q})
		if err != nil {
			t.Fatal(err)
		}
		if got.Landmarks != min(q, exact.Rank) || got.Rank != got.Landmarks || got.Metric.Support() != got.Landmarks || ofGram.Landmarks != got.Landmarks {
			t.Errorf("%d landmarks: %d, rank %d, %d rows are kept", q, got.Landmarks, got.Rank, got.Metric.Support())
		}
		if !(got.Left <= left && got.Left >= 0) || math.Abs(got.Left-ofGram.Left) > 1e-9 || (got.Left < 1e-9) != (q >= 40) {
			t.Errorf("%d landmarks: %v of the trace is left, of the Gram matrix %v, before it was %v", q, got.Left, ofGram.Left, left)
		}
		left = got.Left
		if q < 40 {
			continue
		}
		for i := range 40 {
			if a, b := got.Metric.SqDist(x.RawRowView(i), x.RawRowView(0)), exact.Metric.SqDist(x.RawRowView(i), x.RawRowView(0)); a != b {
				t.Errorf("%d landmarks: squared distance %v, want %v", q, a, b)
			}
		}
	}
	if exact.Landmarks != 0 || exact.Left != 0 {
		t.Errorf("an exact fit has %d landmarks and leaves %v", exact.Landmarks, exact.Left)
	}
}

func TestErrors(t *testing.T) {
	t.Cleanup(func() { limits.SetMemory(0) })
	x, y, links := blobs(16, 12, 2)
	learn := rca(links, pairs.RCAParams{})
	k := gaussian(t, 1)
	fault := errors.New("fault")
	wild := mat.DenseCopyOf(x)
	wild.Set(3, 1, math.NaN())
	huge := mat.DenseCopyOf(x)
	huge.Scale(1e200, huge)
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		name, want string
		ctx        context.Context
		k          kernels.Kernel
		x          mat.Matrix
		learn      Learner
		p          Params
	}{
		{"learner", "fault", t.Context(), k, x, func(context.Context, mat.Matrix) (learners.MetricResult, error) {
			return learners.MetricResult{}, fault
		}, Params{}},
		{"classes", "2 labels for 12 rows", t.Context(), k, x, lmnn(y[:2], labels.LMNNParams{}), Params{}},
		{"NaN", "kernelized: row 3, column 1: NaN is not allowed", t.Context(), k, wild, learn, Params{}},
		{"overflow", "kernelized: kernel matrix: entry (0, 0) is +Inf", t.Context(), kernels.Linear{}, huge, learn, Params{}},
		{"no kernel", "kernelized: kernel matrix: it is not positive semi-definite", t.Context(), kernels.Func(func(a, b []float64) float64 { return -metric.Euclidean{}.SqDist(a, b) - 1 }), x, learn, Params{}},
		{"zero", "kernelized: kernel matrix: all kernel values are 0", t.Context(), kernels.Linear{}, mat.NewDense(12, 2, nil), learn, Params{}},
		{"landmarks", "kernelized: landmarks: -1 is not allowed", t.Context(), k, x, learn, Params{Landmarks: -1}},
		{"done", "context canceled", done, k, x, learn, Params{}},
	} {
		got, err := Fit(tt.ctx, tt.k, tt.x, tt.learn, tt.p)
		if err == nil || !strings.Contains(err.Error(), tt.want) || !reflect.ValueOf(got).IsZero() {
			t.Errorf("%s: %+v, error %v, want %q", tt.name, got, err, tt.want)
		}
	}
	for name, k0 := range map[string]*mat.SymDense{
		"kernelized: k0: it is not positive semi-definite":          mat.NewSymDense(2, []float64{0, 1, 1, 0}),
		"kernelized: k0: entry (1, 0) is NaN, want a finite number": mat.NewSymDense(2, []float64{1, math.NaN(), 0, 1}),
		"kernelized: kernel matrix: all kernel values are 0":        mat.NewSymDense(2, nil),
	} {
		if _, err := FitGram(t.Context(), k0, learn, Params{}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v, want %q", err, name)
		}
	}
	g, err := FitGram(t.Context(), kernels.Gram(k, x), learn, Params{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Embed(mat.NewDense(1, 3, nil)); err == nil || !strings.Contains(err.Error(), "3 columns are not allowed, want 12") {
		t.Errorf("error %v", err)
	}
	// A factor for which there is no room is refused before all of it is made; landmarks make room.
	large, _, many := blobs(17, 300, 3)
	limits.SetMemory(room * 8 * 300 * 50)
	_, err = Fit(t.Context(), gaussian(t, 5), large, rca(many, pairs.RCAParams{}), Params{})
	if e := new(limits.MemoryError); !errors.As(err, &e) || !strings.Contains(err.Error(), "of 51 dimensions at least (landmarks bound them)") {
		t.Errorf("error %v", err)
	}
	if r, err := Fit(t.Context(), gaussian(t, 5), large, rca(many, pairs.RCAParams{}), Params{Landmarks: 50}); err != nil || r.Landmarks != 50 {
		t.Errorf("%d landmarks, error %v", r.Landmarks, err)
	}
	for name, f := range map[string]func(){
		"no kernel":  func() { _, _ = Fit(t.Context(), nil, x, learn, Params{}) },
		"no rows":    func() { _, _ = Fit(t.Context(), k, nil, learn, Params{}) },
		"no learner": func() { _, _ = Fit(t.Context(), k, x, nil, Params{}) },
		"no gram":    func() { _, _ = FitGram(t.Context(), nil, learn, Params{}) },
		"zero value": func() { _, _ = GramResult{}.Embed(x) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

// A large fit gives the answer of a small one, and none once its context is done.
func TestAbandoned(t *testing.T) {
	x, y, _ := blobs(18, 20, 2)
	k := gaussian(t, 0.1)
	want, err := FitGram(t.Context(), kernels.Gram(k, x), lmnn(y, labels.LMNNParams{}), Params{})
	if err != nil {
		t.Fatal(err)
	}
	abandon.Always(t)
	got, err := FitGram(t.Context(), kernels.Gram(k, x), lmnn(y, labels.LMNNParams{}), Params{})
	if err != nil || !mat.Equal(got.S, want.S) {
		t.Errorf("another answer, error %v", err)
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := FitGram(done, kernels.Gram(k, x), lmnn(y, labels.LMNNParams{}), Params{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func ExampleFit() {
	// Two classes, one around the other: no linear map of the plane makes room between them.
	x := mat.NewDense(8, 2, []float64{0.1, 0, -0.1, 0, 0, 0.1, 0, -0.1, 2, 0, -2, 0, 0, 2, 0, -2})
	y := []int{0, 0, 0, 0, 1, 1, 1, 1}
	k, err := kernels.NewPolynomial(2, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	learn := func(ctx context.Context, z mat.Matrix) (learners.MetricResult, error) {
		l, err := labels.FitLMNN(ctx, z, y, labels.LMNNParams{})
		return l.MetricResult, err
	}
	fit, err := Fit(context.Background(), k, x, learn, Params{})
	if err != nil {
		fmt.Println(err)
		return
	}
	near, far := fit.Metric.SqDist([]float64{1.4, 1.4}, []float64{0, 2}), fit.Metric.SqDist([]float64{1.4, 1.4}, []float64{0, 0.1})
	fmt.Println(fit.Status, "in", fit.Rank, "dimensions; a new point of the outer class is nearer to it:", near < far)
	// Output: converged in 2 dimensions; a new point of the outer class is nearer to it: true
}
