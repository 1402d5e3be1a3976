package kernels_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/kernels"
)

// A metric and a kernel of objects are those of the points that they stand for, whatever the order of the support.
func TestObjects(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 1))
	const n = 9
	x, fresh := normal(rng, n, 3, 0), normal(rng, 4, 3, 0)
	gauss := must(kernels.NewGaussian(0.3))
	k0, cross := kernels.Gram(gauss, x), kernels.GramRect(gauss, fresh, x)
	objects := kernels.NewObjects(k0)
	if got := kernels.Gram(objects, objects.Points()); !mat.Equal(got, k0) {
		t.Error("the Gram matrix of the objects is not K₀")
	}
	order := []int{4, 0, 7}
	points, numbers := mat.NewDense(3, 3, nil), mat.NewDense(3, 1, nil)
	for a, i := range order {
		points.SetRow(a, x.RawRowView(i))
		numbers.Set(a, 0, float64(i))
	}
	g := normal(rng, 2, 3, 0)
	shift := []float64{1, -3}
	want := kernels.NewMetric(gauss, 3, points, g).Shifted(shift)
	got := kernels.NewMetric(objects, 1, numbers, g).Shifted(shift).OfObjects()
	const tol = 1e-13
	for name, c := range map[string]struct {
		cross mat.Matrix
		x     *mat.Dense
	}{"known": {k0, x}, "new": {cross, fresh}} {
		z, err := got.Embed(n, c.cross)
		if err != nil || !mat.EqualApprox(z, want.EmbedRows(c.x), tol) {
			t.Errorf("%s objects: other coordinates, error %v", name, err)
		}
	}
	l, err := got.Learned()
	if err != nil {
		t.Fatal(err)
	}
	k := l.All(k0)
	for i := range n {
		for j := range i {
			if d, w := k.At(i, i)-2*k.At(i, j)+k.At(j, j), want.SqDist(x.RawRowView(i), x.RawRowView(j)); math.Abs(d-w) > 1e-12*(1+w) {
				t.Errorf("objects %d and %d: squared distance %v, want %v", i, j, d, w)
			}
		}
	}

	s := mat.NewSymDense(3, nil)
	s.SymOuterK(1, normal(rng, 3, 3, 0))
	of := must(kernels.NewTransformed(gauss, 0.5, 3, points, s))
	learned := must(kernels.NewTransformed(objects, 0.5, 1, numbers, s)).OfObjects()
	if !mat.EqualApprox(learned.All(k0), kernels.Gram(of, x), tol) {
		t.Error("the kernel of objects is not that of their points")
	}
	if plain := must(kernels.NewTransformed(objects, 2, 1, nil, nil)).OfObjects(); plain.Alpha != 2 || plain.Support != nil || plain.S != nil {
		t.Errorf("without a support: %+v", plain)
	}
	none := kernels.NewMetric(objects, 1, nil, nil).OfObjects()
	z, err := none.Embed(n, cross)
	if l, errL := none.Learned(); err != nil || errL != nil || !mat.Equal(z, mat.NewDense(4, 1, nil)) || l.S != nil {
		t.Errorf("rank 0: %v, errors %v and %v", z, err, errL)
	}
}

func TestObjectsMisused(t *testing.T) {
	k0 := mat.NewSymDense(2, []float64{1, 0, 0, 1})
	objects := kernels.NewObjects(k0)
	s := mat.NewSymDense(2, []float64{1, 0, 0, 1})
	twice := mat.NewDense(2, 1, nil)
	one := mat.NewDense(1, 1, []float64{1})
	c := kernels.NewMetric(objects, 1, one, one).OfObjects()
	for name, f := range map[string]func(){
		"nil":            func() { kernels.NewObjects(nil) },
		"empty":          func() { kernels.NewObjects(&mat.SymDense{}) },
		"no object":      func() { objects.Eval([]float64{0.5}, []float64{0}) },
		"two numbers":    func() { objects.Eval([]float64{0, 1}, []float64{0}) },
		"beyond":         func() { objects.Eval([]float64{2}, []float64{0}) },
		"another kernel": func() { kernels.NewMetric(kernels.Linear{}, 1, one, one).OfObjects() },
		"kernel":         func() { must(kernels.NewTransformed(kernels.Linear{}, 1, 1, nil, nil)).OfObjects() },
		"twice":          func() { kernels.NewMetric(objects, 1, twice, mat.NewDense(1, 2, nil)).OfObjects() },
		"twice, kernel":  func() { must(kernels.NewTransformed(objects, 1, 1, twice, s)).OfObjects() },
		"no cross":       func() { _, _ = c.Embed(2, nil) },
		"few objects":    func() { _, _ = c.Embed(1, one) },
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
	for want, cross := range map[string]*mat.Dense{
		"3 columns are not allowed, want 2, one per object of the fit": mat.NewDense(1, 3, nil),
		"cross: entry (0, 0) is NaN":                                   mat.NewDense(1, 2, []float64{math.NaN(), 0}),
	} {
		if _, err := c.Embed(2, cross); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	huge := kernels.NewMetric(objects, 1, one, mat.NewDense(1, 1, []float64{1e200})).OfObjects()
	if _, err := huge.Learned(); err == nil {
		t.Error("an overflow was accepted")
	}
}

func ExampleObjects() {
	// What learns from points under a kernel learns from similarities: here the metric that looks at object 1 alone.
	k0 := mat.NewSymDense(3, []float64{1, 0.5, 0, 0.5, 1, 0.5, 0, 0.5, 1})
	objects := kernels.NewObjects(k0)
	m := kernels.NewMetric(objects, 1, mat.NewDense(1, 1, []float64{1}), mat.NewDense(1, 1, []float64{2}))
	fmt.Println(m.SqDist([]float64{0}, []float64{1}), m.SqDist([]float64{0}, []float64{2}))
	z, err := m.OfObjects().Embed(3, mat.NewDense(1, 3, []float64{0.1, 0.9, 0.4})) // a new object
	fmt.Println(z.At(0, 0), err)
	// Output:
	// 1 0
	// 1.8 <nil>
}
