package kernels_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/kernels"
	"metriclab/pkg/kernels/kerneltest"
	"metriclab/pkg/metric"
	"metriclab/pkg/metric/metrictest"
	"metriclab/pkg/persist"
	"metriclab/pkg/persist/persisttest"
)

// testTransformed are kernels with S = ±vvᵀ or both, with and without support, in dim
// dimensions. φᵀWφ stays positive, as vᵀK₀v < 1 where S is negative.
func testTransformed(rng *rand.Rand, dim int) map[string]*kernels.Transformed {
	out := map[string]*kernels.Transformed{"none": must(kernels.NewTransformed(kernels.Linear{}, 1, dim, nil, nil))}
	for name, k := range map[string]kernels.Kernel{
		"linear":     kernels.Linear{},
		"polynomial": must(kernels.NewPolynomial(2, 1)),
		"gaussian":   must(kernels.NewGaussian(0.3)),
	} {
		support := normal(rng, 5, dim, 0)
		s := mat.NewSymDense(5, nil)
		s.SymOuterK(0.3, normal(rng, 5, 2, 0))
		v := mat.NewVecDense(5, nil)
		for i := range 5 {
			v.SetVec(i, rng.NormFloat64())
		}
		s.SymRankOne(s, -0.9/mat.Inner(v, kernels.Gram(k, support), v), v)
		out[name] = must(kernels.NewTransformed(k, 1, dim, support, s))
	}
	return out
}

func TestTransformedLaws(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 8))
	for _, dim := range []int{1, 4} {
		x := normal(rng, 12, dim, 0)
		var points [][]float64
		for i := range 12 {
			points = append(points, x.RawRowView(i))
		}
		points = append(points, points[0])
		for name, k := range testTransformed(rng, dim) {
			t.Run(fmt.Sprintf("%s/dim=%d", name, dim), func(t *testing.T) {
				kerneltest.Check(t, k, x, 1e-12)
				metrictest.Check(t, k, points, 1e-12) // sums of 25 products, larger than distances
			})
		}
	}
}

// With the linear kernel it is xᵀWz, W = I + XᵀSX, and the metric that of W; without
// support it is κ.
func TestTransformedOfLinearKernel(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	x, f := normal(rng, 6, 4, 0), normal(rng, 6, 3, 0)
	s := mat.NewSymDense(6, nil)
	s.SymOuterK(0.5, f)
	k := must(kernels.NewTransformed(kernels.Linear{}, 1, 4, x, s))
	bare := must(kernels.NewTransformed(kernels.Linear{}, 1, 4, nil, nil))
	var xs, xsx mat.Dense
	xs.Mul(x.T(), s)
	xsx.Mul(&xs, x)
	w := mat.NewSymDense(4, nil)
	for i := range 4 {
		for j := range i + 1 {
			w.SetSym(i, j, xsx.At(i, j))
		}
		w.SetSym(i, i, 1+w.At(i, i))
	}
	m := must(metric.NewMahalanobis(w))
	const tol = 1e-12 // relative to values of the size of the largest term, some 100
	for range 20 {
		a, b := normal(rng, 1, 4, 0).RawRowView(0), normal(rng, 1, 4, 0).RawRowView(0)
		want := mat.Inner(mat.NewVecDense(4, a), w, mat.NewVecDense(4, b))
		if got := k.Eval(a, b); math.Abs(got-want) > 100*tol {
			t.Errorf("K = %v, xᵀWz = %v", got, want)
		}
		if got, want := k.SqDist(a, b), m.SqDist(a, b); math.Abs(got-want) > tol*(100+want) {
			t.Errorf("d² = %v, Mahalanobis %v", got, want)
		}
		if got, want := bare.SqDist(a, b), (metric.Euclidean{}).SqDist(a, b); bare.Eval(a, b) != (kernels.Linear{}).Eval(a, b) || math.Abs(got-want) > tol*(1+want) {
			t.Errorf("without support: K = %v, d² = %v, want %v", bare.Eval(a, b), got, want)
		}
	}
	if k.Dim() != 4 || k.Support() != 6 || k.Kernel() != (kernels.Linear{}) || bare.Support() != 0 || bare.Dim() != 4 {
		t.Errorf("dim %d, %d support points, kernel %v", k.Dim(), k.Support(), k.Kernel())
	}
}

// What lies near the image of no support point keeps its distances, which a
// kernels.Metric would set to 0.
func TestTransformedKeepsTheRest(t *testing.T) {
	gauss := must(kernels.NewGaussian(1))
	k := must(kernels.NewTransformed(gauss, 1, 1, mat.NewDense(2, 1, []float64{0, 1}), mat.NewSymDense(2, []float64{3, -3, -3, 3})))
	x, z := []float64{100}, []float64{101}
	if got, want := k.SqDist(x, z), 2-2*gauss.Eval(x, z); got != want {
		t.Errorf("d² = %v, want %v", got, want)
	}
}

// Round-off makes no squared distance negative.
func TestTransformedSqDistIsNotNegative(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 13))
	for name, k := range testTransformed(rng, 3) {
		for range 300 {
			x := normal(rng, 1, 3, 0).RawRowView(0)
			z := []float64{x[0], x[1] + 1e-9*rng.NormFloat64(), x[2]}
			if d := k.SqDist(x, z); !(d >= 0) {
				t.Errorf("%s: d² = %v", name, d)
			}
		}
	}
}

func TestNewTransformedCopies(t *testing.T) {
	x, s := mat.NewDense(1, 1, []float64{1}), mat.NewSymDense(1, []float64{1})
	k := must(kernels.NewTransformed(kernels.Linear{}, 1, 1, x, s))
	x.Set(0, 0, 5)
	s.SetSym(0, 0, 5)
	if d := k.SqDist([]float64{2}, []float64{0}); d != 8 {
		t.Errorf("d² = %v, want 8", d)
	}
}

// Any matrices will do, and nil pointers stand for κ.
func TestNewTransformedOfAnyMatrix(t *testing.T) {
	x, s := normal(rand.New(rand.NewPCG(9, 6)), 3, 2, 0), mat.NewDiagDense(2, []float64{1, 2})
	views := must(kernels.NewTransformed(kernels.Linear{}, 1, 3, x.T(), s))
	copies := must(kernels.NewTransformed(kernels.Linear{}, 1, 3, mat.DenseCopyOf(x.T()), mat.NewSymDense(2, []float64{1, 0, 0, 2})))
	x.Zero()
	if x, z := []float64{1, 2, 3}, []float64{0, 1, -1}; views.SqDist(x, z) != copies.SqDist(x, z) {
		t.Errorf("d² = %v, of copies %v", views.SqDist(x, z), copies.SqDist(x, z))
	}
	if k := must(kernels.NewTransformed(kernels.Linear{}, 1, 3, (*mat.Dense)(nil), (*mat.SymDense)(nil))); k.Support() != 0 {
		t.Errorf("%d support points, want none", k.Support())
	}
}

// A matrix that makes no kernel is an error, one of another shape a panic.
func TestNewTransformedRefuses(t *testing.T) {
	one := mat.NewDense(1, 1, []float64{2})
	number := func(v float64) *mat.SymDense { return mat.NewSymDense(1, []float64{v}) }
	if _, err := kernels.NewTransformed(kernels.Linear{}, 1, 1, one, number(-0.25)); err != nil { // K = 4 − 0.25·16
		t.Errorf("K = 0: error %v", err)
	}
	if _, err := kernels.NewTransformed(kernels.Linear{}, 1, 1, one, number(-0.26)); !errors.Is(err, metric.ErrNotPSD) {
		t.Errorf("K < 0: error %v", err)
	}
	for _, v := range []float64{math.NaN(), math.Inf(1)} {
		if _, err := kernels.NewTransformed(kernels.Linear{}, 1, 1, one, number(v)); err == nil {
			t.Errorf("S = %v: no error", v)
		}
		if _, err := kernels.NewTransformed(kernels.Linear{}, 1, 1, mat.NewDense(1, 1, []float64{v}), number(1)); err == nil {
			t.Errorf("support %v: no error", v)
		}
	}
	x, s := mat.NewDense(2, 3, nil), mat.NewSymDense(2, nil)
	k := must(kernels.NewTransformed(kernels.Linear{}, 1, 3, x, s))
	for name, f := range map[string]func(){
		"no dimension":      func() { kernels.NewTransformed(kernels.Linear{}, 1, 0, nil, nil) },
		"no kernel":         func() { kernels.NewTransformed(nil, 1, 3, x, s) },
		"no support":        func() { kernels.NewTransformed(kernels.Linear{}, 1, 3, nil, s) },
		"nil pointer":       func() { kernels.NewTransformed(kernels.Linear{}, 1, 3, x, (*mat.SymDense)(nil)) },
		"no s":              func() { kernels.NewTransformed(kernels.Linear{}, 1, 3, x, nil) },
		"other dimension":   func() { kernels.NewTransformed(kernels.Linear{}, 1, 2, x, s) },
		"s of other order":  func() { kernels.NewTransformed(kernels.Linear{}, 1, 3, x, mat.NewSymDense(3, nil)) },
		"Eval too short":    func() { k.Eval([]float64{1, 2}, []float64{1, 2}) },
		"SqDist too long":   func() { k.SqDist([]float64{1, 2, 3, 4}, []float64{1, 2, 3, 4}) },
		"SqDist of lengths": func() { k.SqDist([]float64{1, 2, 3}, []float64{1, 2}) },
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

func TestTransformedSaved(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for name, k := range testTransformed(rng, 2) {
		t.Run(name, func(t *testing.T) {
			persisttest.Check(t, persisttest.Saved(k), kernels.LoadTransformed)
		})
	}
	set := func(key string, v any) persisttest.Edit {
		return func(_, state map[string]any) { state[key] = v }
	}
	zeros := make(persist.Floats, 15)
	with := func(i int, v float64) persist.Floats {
		out := append(persist.Floats{}, zeros...)
		out[i] = v
		return out
	}
	persisttest.Tampered(t, persisttest.Saved(testTransformed(rng, 2)["gaussian"]), kernels.LoadTransformed, map[string]persisttest.Edit{
		"no dimension":    set("dim", 0),
		"huge dimension":  set("dim", 1<<40),
		"other dimension": set("dim", 5),
		"odd dimension":   set("dim", 3),
		"no support":      set("support", persist.Floats{}),
		"no s":            set("s", persist.Floats{}),
		"short s":         set("s", zeros[:14]),
		"NaN in support":  set("support", persist.Floats{1, 2, 3, 4, 5, 6, 7, 8, 9, math.NaN()}),
		"Inf in s":        set("s", with(14, math.Inf(1))),
		"no kernel":       set("s", with(0, -2)),
		"kernel":          func(params, _ map[string]any) { params["kernel"] = map[string]any{"name": "gaussian", "gamma": -1} },
		"kernel missing":  func(params, _ map[string]any) { delete(params, "kernel") },
	})
	persisttest.Tampered(t, persisttest.Saved(testTransformed(rng, 2)["none"]), kernels.LoadTransformed, map[string]persisttest.Edit{
		"no dimension":   set("dim", 0),
		"huge dimension": set("dim", 1<<40),
	})
	function := must(kernels.NewTransformed(kernels.Func(func(x, y []float64) float64 { return 1 }), 1, 1, nil, nil))
	if err := function.Save(never{}); err == nil || errors.Is(err, errWritten) {
		t.Errorf("a function was saved: error %v", err)
	}
}

// A loaded kernel gives the same values to the bit.
func TestTransformedLoadedIsTheSame(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 11))
	for name, k := range testTransformed(rng, 3) {
		got := persisttest.Saved(k)
		loaded, err := load(got)
		if err != nil {
			t.Fatal(err)
		}
		for range 10 {
			x, z := normal(rng, 1, 3, 0).RawRowView(0), normal(rng, 1, 3, 0).RawRowView(0)
			if k.Eval(x, z) != loaded.Eval(x, z) || k.SqDist(x, z) != loaded.SqDist(x, z) {
				t.Errorf("%s: K = %v, loaded %v", name, k.Eval(x, z), loaded.Eval(x, z))
			}
		}
	}
}

func load(file []byte) (*kernels.Transformed, error) {
	return kernels.LoadTransformed(bytes.NewReader(file))
}

func FuzzLoadTransformed(f *testing.F) {
	rng := rand.New(rand.NewPCG(9, 12))
	var files [][]byte
	for _, name := range []string{"none", "linear", "polynomial", "gaussian"} {
		files = append(files, persisttest.Saved(testTransformed(rng, 2)[name]))
	}
	persisttest.Fuzz(f, kernels.LoadTransformed, func(k *kernels.Transformed) {
		if k.Dim() < 100 {
			k.SqDist(make([]float64, k.Dim()), make([]float64, k.Dim()))
		}
	}, files...)
}

func ExampleTransformed() {
	// Two support points are drawn together: S = −c·vvᵀ with v = (1, −1). A pair far from
	// both stays as it was.
	gauss, err := kernels.NewGaussian(1)
	if err != nil {
		fmt.Println(err)
		return
	}
	support := mat.NewDense(2, 1, []float64{0, 1})
	k, err := kernels.NewTransformed(gauss, 1, 1, support, mat.NewSymDense(2, []float64{-0.7, 0.7, 0.7, -0.7}))
	if err != nil {
		fmt.Println(err)
		return
	}
	bare, err := kernels.NewTransformed(gauss, 1, 1, nil, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range [][2]float64{{0, 1}, {0.1, 0.9}, {8, 9}} {
		x, z := p[:1], p[1:]
		fmt.Printf("%v and %v: %.2f, was %.2f\n", p[0], p[1], k.SqDist(x, z), bare.SqDist(x, z))
	}
	// Output:
	// 0 and 1: 0.15, was 1.26
	// 0.1 and 0.9: 0.11, was 0.95
	// 8 and 9: 1.26, was 1.26
}

// Where a value of a kernel overflows, a squared distance is +Inf: never NaN, and never the
// 0 that −Inf would be clamped to.
func TestSqDistWhereKernelsOverflow(t *testing.T) {
	cubic, err := kernels.NewPolynomial(3, 0)
	if err != nil {
		t.Fatal(err)
	}
	for name, k := range map[string]kernels.Kernel{"linear": kernels.Linear{}, "cubic": cubic} {
		support := mat.NewDense(2, 2, []float64{1, 0, 0, 1})
		plain, err := kernels.NewTransformed(k, 1, 2, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		learned, err := kernels.NewTransformed(k, 1, 2, support, mat.NewSymDense(2, []float64{1, 0.5, 0.5, 1}))
		if err != nil {
			t.Fatal(err)
		}
		images := kernels.NewMetric(k, 2, support, mat.NewDense(1, 2, []float64{1, -1}))
		for _, p := range [][2][]float64{
			{{1e200, 1e200}, {-1e200, 1e200}},
			{{1e200, 1e200}, {1e200, 1.1e200}},
			{{1.2e154, 0}, {1.1e154, 0}}, // of the linear kernel, 2κ(x, z) overflows and κ(x, x) does not
		} {
			points := mat.NewDense(2, 2, slices.Concat(p[0], p[1]))
			for of, d := range map[string]metric.SqDister{"plain": plain, "learned": learned, "images": images} {
				if q := d.SqDist(p[0], p[1]); !(q > 0) {
					t.Errorf("%s, %s: %v: d² = %v", name, of, p, q)
				}
			}
			e := learned.Expanded()
			rows := e.Rows(points)
			if q := e.SqDist(rows.RawRowView(0), rows.RawRowView(1)); !(q > 0) {
				t.Errorf("%s, expanded: %v: d² = %v", name, p, q)
			}
		}
	}
}

// TestTransformedAlpha: with any α ≥ 0, K = ακ + kᵀSk; distances, expanded ones too, and files follow.
func TestTransformedAlpha(t *testing.T) {
	x := mat.NewDense(2, 2, []float64{1, 2, -1, 0.5})
	s := mat.NewSymDense(2, []float64{0.3, 0.1, 0.1, 0.2})
	a, b := []float64{0.5, -1}, []float64{2, 1}
	for _, alpha := range []float64{0, 0.25, 1, 3} {
		k := must(kernels.NewTransformed(kernels.Linear{}, alpha, 2, x, s))
		bare := must(kernels.NewTransformed(kernels.Linear{}, alpha, 2, nil, nil))
		eval := func(u, v []float64) float64 {
			sum := alpha * floats.Dot(u, v)
			for i := range 2 {
				for j := range 2 {
					sum += floats.Dot(x.RawRowView(i), u) * s.At(i, j) * floats.Dot(x.RawRowView(j), v)
				}
			}
			return sum
		}
		want := eval(a, a) - 2*eval(a, b) + eval(b, b)
		if got := k.Eval(a, b); math.Abs(got-eval(a, b)) > 1e-12 || k.Alpha() != alpha {
			t.Errorf("α = %v: K = %v, want %v", alpha, got, eval(a, b))
		}
		if got := k.SqDist(a, b); math.Abs(got-want) > 1e-12 {
			t.Errorf("α = %v: d² = %v, want %v", alpha, got, want)
		}
		e := k.Expanded()
		rows := e.Rows(mat.NewDense(2, 2, append(append([]float64{}, a...), b...)))
		if got := e.SqDist(rows.RawRowView(0), rows.RawRowView(1)); math.Abs(got-want) > 1e-12 {
			t.Errorf("α = %v: expanded d² = %v, want %v", alpha, got, want)
		}
		if got := bare.Eval(a, b); math.Abs(got-alpha*floats.Dot(a, b)) > 1e-15 {
			t.Errorf("α = %v without support: K = %v", alpha, got)
		}
		for _, k := range []*kernels.Transformed{k, bare} {
			var file bytes.Buffer
			if err := k.Save(&file); err != nil {
				t.Fatal(err)
			}
			if has := strings.Contains(file.String(), `"alpha"`); has != (alpha != 1) {
				t.Errorf("α = %v: the file names it: %v", alpha, has)
			}
			l, err := kernels.LoadTransformed(&file)
			if err != nil || l.Alpha() != alpha || l.Eval(a, b) != k.Eval(a, b) {
				t.Errorf("α = %v: loaded %v, error %v", alpha, l, err)
			}
		}
	}
	for _, alpha := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, err := kernels.NewTransformed(kernels.Linear{}, alpha, 2, nil, nil); err == nil {
			t.Errorf("α = %v: no error", alpha)
		}
	}
}
