package kernels_test

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/kernels"
	"metriclab/pkg/metric"
	"metriclab/pkg/metric/metrictest"
	"metriclab/pkg/persist"
	"metriclab/pkg/persist/persisttest"
)

// testMetrics are metrics of each kernel, and one of rank 0, in dim dimensions.
func testMetrics(rng *rand.Rand, dim int) map[string]*kernels.Metric {
	out := map[string]*kernels.Metric{"rank 0": kernels.NewMetric(kernels.Linear{}, dim, nil, nil)}
	for name, k := range map[string]kernels.Kernel{
		"linear":     kernels.Linear{},
		"polynomial": must(kernels.NewPolynomial(2, 1)),
		"gaussian":   must(kernels.NewGaussian(0.3)),
	} {
		out[name] = kernels.NewMetric(k, dim, normal(rng, 5, dim, 0), normal(rng, 3, 5, 0))
	}
	out["shifted"] = out["gaussian"].Shifted([]float64{1, -2, 0.5})
	return out
}

func TestMetricLaws(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 3))
	for _, dim := range []int{1, 4} {
		var points [][]float64
		for range 12 {
			points = append(points, normal(rng, 1, dim, 0).RawRowView(0))
		}
		points = append(points, points[0])
		for name, m := range testMetrics(rng, dim) {
			t.Run(fmt.Sprintf("%s/dim=%d", name, dim), func(t *testing.T) {
				metrictest.Check(t, m, points, 1e-14) // a few ε: sums of five terms
			})
		}
	}
}

// With the linear kernel the metric is the Mahalanobis metric with L = GS.
func TestMetricOfLinearKernel(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 4))
	s, g := normal(rng, 6, 4, 0), normal(rng, 3, 6, 0)
	var l mat.Dense
	l.Mul(g, s)
	m, want := kernels.NewMetric(kernels.Linear{}, 4, s, g), metric.FromFactor(&l)
	for range 20 {
		x, z := normal(rng, 1, 4, 0).RawRowView(0), normal(rng, 1, 4, 0).RawRowView(0)
		if a, b := m.SqDist(x, z), want.SqDist(x, z); math.Abs(a-b) > 1e-13*b+1e-13 {
			t.Errorf("d² = %v, Mahalanobis %v", a, b)
		}
	}
	if m.Dim() != 4 || m.Support() != 6 || m.Kernel() != (kernels.Linear{}) {
		t.Errorf("dim %d, %d support points, kernel %v", m.Dim(), m.Support(), m.Kernel())
	}
}

// The quadratic kernel's metric is Euclidean in the monomials φ(x) = (x₁²,
// √2·x₁x₂, x₂²), if the support points are such that φ(s_i) are a basis.
func TestMetricOfPolynomialKernel(t *testing.T) {
	phi := func(x []float64) []float64 { return []float64{x[0] * x[0], math.Sqrt2 * x[0] * x[1], x[1] * x[1]} }
	s := mat.NewDense(3, 2, []float64{1, 0, 0, 1, 1, 1})
	images := mat.NewDense(3, 3, nil)
	for i := range 3 {
		images.SetRow(i, phi(s.RawRowView(i)))
	}
	var g mat.Dense
	if err := g.Inverse(images); err != nil { // k(x) = images·φ(x)
		t.Fatal(err)
	}
	m := kernels.NewMetric(must(kernels.NewPolynomial(2, 0)), 2, s, &g)
	x, z := []float64{2, -1}, []float64{0.5, 3}
	if got, want := m.SqDist(x, z), (metric.Euclidean{}).SqDist(phi(x), phi(z)); math.Abs(got-want) > 1e-12*want {
		t.Errorf("d² = %v, between monomials %v", got, want)
	}
}

// A shift is added to coordinates, leaves distances and the metric that it was made of as they are, and is copied.
func TestShifted(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 6))
	x := normal(rng, 4, 3, 0)
	plain := testMetrics(rng, 3)["polynomial"]
	before := plain.EmbedRows(x)
	c := []float64{3, 0, -1}
	m := plain.Shifted([]float64{9, 9, 9}).Shifted(c)
	c[0] = 0
	z := m.EmbedRows(x)
	for i := range 4 {
		one := m.Embed(x.RawRowView(i))
		for j, want := range []float64{3, 0, -1} {
			if z.At(i, j) != before.At(i, j)+want || math.Abs(one[j]-z.At(i, j)) > 1e-12*(1+math.Abs(one[j])) {
				t.Errorf("row %d, coordinate %d: %v, alone %v, want %v + %v", i, j, z.At(i, j), one[j], before.At(i, j), want)
			}
		}
		if a, b := m.SqDist(x.RawRowView(0), x.RawRowView(i)), plain.SqDist(x.RawRowView(0), x.RawRowView(i)); a != b {
			t.Errorf("squared distance %v, without a shift %v", a, b)
		}
	}
	if !mat.Equal(plain.EmbedRows(x), before) {
		t.Error("the metric without a shift has changed")
	}
}

// The arguments of NewMetric are copied.
func TestNewMetricCopies(t *testing.T) {
	s, g := mat.NewDense(1, 1, []float64{1}), mat.NewDense(1, 1, []float64{1})
	m := kernels.NewMetric(kernels.Linear{}, 1, s, g)
	s.Set(0, 0, 5)
	g.Set(0, 0, 5)
	if d := m.SqDist([]float64{2}, []float64{0}); d != 4 {
		t.Errorf("d² = %v, want 4", d)
	}
}

// Any matrix will do, and nil pointers stand for rank 0.
func TestNewMetricOfAnyMatrix(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 5))
	s, g := normal(rng, 3, 4, 0), normal(rng, 4, 2, 0)
	views := kernels.NewMetric(kernels.Linear{}, 3, s.T(), g.T())
	copies := kernels.NewMetric(kernels.Linear{}, 3, mat.DenseCopyOf(s.T()), mat.DenseCopyOf(g.T()))
	s.Zero()
	if x, z := []float64{1, 2, 3}, []float64{0, 1, -1}; views.SqDist(x, z) != copies.SqDist(x, z) {
		t.Errorf("d² = %v, of copies %v", views.SqDist(x, z), copies.SqDist(x, z))
	}
	var none *mat.Dense
	if r := kernels.NewMetric(kernels.Linear{}, 3, none, none).Rows(); r != 0 {
		t.Errorf("rank %d, want 0", r)
	}
}

func TestNewMetricPanics(t *testing.T) {
	s, g := mat.NewDense(2, 3, nil), mat.NewDense(1, 2, nil)
	for name, f := range map[string]func(){
		"no dimension":     func() { kernels.NewMetric(kernels.Linear{}, 0, nil, nil) },
		"no kernel":        func() { kernels.NewMetric(nil, 3, s, g) },
		"no support":       func() { kernels.NewMetric(kernels.Linear{}, 3, nil, g) },
		"nil pointer":      func() { kernels.NewMetric(kernels.Linear{}, 3, (*mat.Dense)(nil), g) },
		"no g":             func() { kernels.NewMetric(kernels.Linear{}, 3, s, nil) },
		"other dimension":  func() { kernels.NewMetric(kernels.Linear{}, 2, s, g) },
		"g of other width": func() { kernels.NewMetric(kernels.Linear{}, 3, s, mat.NewDense(2, 1, nil)) },
		"shift":            func() { kernels.NewMetric(kernels.Linear{}, 3, s, g).Shifted(make([]float64, 2)) },
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

func TestMetricSaved(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 5))
	for name, m := range testMetrics(rng, 2) {
		t.Run(name, func(t *testing.T) {
			persisttest.Check(t, persisttest.Saved(m), kernels.LoadMetric)
		})
	}
	set := func(key string, v any) persisttest.Edit {
		return func(_, state map[string]any) { state[key] = v }
	}
	persisttest.Tampered(t, persisttest.Saved(testMetrics(rng, 2)["gaussian"]), kernels.LoadMetric, map[string]persisttest.Edit{
		"no dimension":    set("dim", 0),
		"huge dimension":  set("dim", 1<<40),
		"other dimension": set("dim", 3),
		"negative rows":   set("rows", -1),
		"no rows":         set("rows", 0),
		"too many rows":   set("rows", 16),
		"no support":      set("support", persist.Floats{}),
		"short g":         set("g", persist.Floats{1, 2}),
		"NaN in support":  set("support", persist.Floats{1, 2, 3, 4, 5, 6, 7, 8, 9, math.NaN()}),
		"Inf in g":        set("g", persist.Floats{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, math.Inf(1)}),
		"long shift":      set("shift", persist.Floats{1, 2, 3, 4}),
		"NaN in shift":    set("shift", persist.Floats{1, math.NaN(), 3}),
		"kernel":          func(params, _ map[string]any) { params["kernel"] = map[string]any{"name": "gaussian", "gamma": -1} },
		"no kernel":       func(params, _ map[string]any) { delete(params, "kernel") },
	})
}

// What cannot be read again is not written.
func TestMetricNotSaved(t *testing.T) {
	s, g := mat.NewDense(1, 1, []float64{1}), mat.NewDense(1, 1, []float64{math.NaN()})
	one := kernels.Func(func(x, y []float64) float64 { return 1 })
	for name, m := range map[string]*kernels.Metric{
		"function": kernels.NewMetric(one, 1, s, s),
		"NaN":      kernels.NewMetric(kernels.Linear{}, 1, s, g),
		"shift":    kernels.NewMetric(kernels.Linear{}, 1, s, s).Shifted([]float64{math.Inf(1)}),
	} {
		if err := m.Save(never{}); err == nil || errors.Is(err, errWritten) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

var errWritten = errors.New("something was written")

type never struct{}

func (never) Write([]byte) (int, error) { return 0, errWritten }

var _ io.Writer = never{}

func FuzzLoadMetric(f *testing.F) {
	rng := rand.New(rand.NewPCG(9, 6))
	var files [][]byte
	for _, name := range []string{"rank 0", "linear", "polynomial", "gaussian", "shifted"} {
		files = append(files, persisttest.Saved(testMetrics(rng, 2)[name]))
	}
	persisttest.Fuzz(f, kernels.LoadMetric, func(m *kernels.Metric) {
		if m.Dim() < 100 {
			m.SqDist(make([]float64, m.Dim()), make([]float64, m.Dim()))
		}
	}, files...)
}

func ExampleMetric() {
	// One support point, the centre of a ring: what counts is how near to it a
	// point is.
	gauss, err := kernels.NewGaussian(1)
	if err != nil {
		fmt.Println(err)
		return
	}
	m := kernels.NewMetric(gauss, 2, mat.NewDense(1, 2, []float64{0, 0}), mat.NewDense(1, 1, []float64{1}))
	fmt.Printf("around the ring %.2f, to the centre %.2f\n", m.SqDist([]float64{2, 0}, []float64{0, -2}), m.SqDist([]float64{2, 0}, []float64{0, 0}))
	// Output:
	// around the ring 0.00, to the centre 0.96
}
