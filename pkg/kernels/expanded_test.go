package kernels_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/kernels"
	"metriclab/pkg/metric/metrictest"
)

// Between expanded points the squared distance is that between the points themselves, near
// the origin and far from it, and keeps the laws.
func TestExpanded(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 14))
	const n = 40 // more than a tile of rows of S, as support and as points
	for _, shift := range []float64{0, 100} {
		models := testTransformed(rng, 3)
		support, s := normal(rng, n, 3, shift), mat.NewSymDense(n, nil)
		s.SymOuterK(0.3, normal(rng, n, 2, 0))
		for name, k := range map[string]kernels.Kernel{
			"many linear": kernels.Linear{}, "many gaussian": must(kernels.NewGaussian(0.3)), "many polynomial": must(kernels.NewPolynomial(2, 1)),
		} {
			models[name] = must(kernels.NewTransformed(k, 1, 3, support, s))
		}
		for name, k := range models {
			x := normal(rng, n, 3, shift)
			x.SetRow(n-1, x.RawRowView(0))
			e := k.Expanded()
			rows := e.Rows(x)
			if _, width := rows.Dims(); width != e.Dim() || width != 3+1+2*k.Support() {
				t.Fatalf("%s: %d numbers, Dim %d", name, width, e.Dim())
			}
			var points [][]float64
			for i := range n {
				points = append(points, rows.RawRowView(i))
				if one := e.Rows(x.Slice(i, i+1, 0, 3).(*mat.Dense)); !mat.Equal(one, rows.Slice(i, i+1, 0, e.Dim())) {
					t.Errorf("%s: row %d differs when it is alone", name, i)
				}
			}
			// What uᵀSu and κ are sums of: they are this much larger than distances far from
			// the origin, by (shift/1)² and, for the polynomial, its square.
			largest := 0.0
			for i := range n {
				largest = max(largest, math.Abs(rows.At(i, 3)))
				for a := range k.Support() {
					largest = max(largest, math.Abs(rows.At(i, 4+a)*rows.At(i, 4+k.Support()+a)))
				}
			}
			const tol = 1e-13 // relative to the largest term, of 40 that are each rounded a few times
			for i := range n {
				for j := range n {
					want, got := k.SqDist(x.RawRowView(i), x.RawRowView(j)), e.SqDist(points[i], points[j])
					if math.Abs(got-want) > tol*(1+largest) {
						t.Errorf("%s, shift %v: rows %d and %d: d² = %v, want %v", name, shift, i, j, got, want)
					}
				}
			}
			if strings.HasPrefix(name, "many") { // S multiplies differences, which are small where κ is large
				for i := range n {
					for a := range n {
						s := support.RawRowView(a)
						if got, want := rows.At(i, 4+a), k.Kernel().Eval(s, x.RawRowView(i))-k.Kernel().Eval(s, support.RawRowView(0)); got != want {
							t.Fatalf("%s, shift %v: row %d keeps %v of support point %d, want %v", name, shift, i, got, a, want)
						}
					}
				}
			}
			for range 300 { // round-off makes no squared distance negative
				near := normal(rng, 2, 3, shift)
				near.SetRow(1, near.RawRowView(0))
				near.Set(1, 1, near.At(0, 1)*(1+1e-9*rng.NormFloat64()))
				if r := e.Rows(near); !(e.SqDist(r.RawRowView(0), r.RawRowView(1)) >= 0) {
					t.Fatalf("%s, shift %v: d² = %v", name, shift, e.SqDist(r.RawRowView(0), r.RawRowView(1)))
				}
			}
			if d := e.SqDist(points[0], points[n-1]); d != 0 {
				t.Errorf("%s: d² of duplicates is %v", name, d)
			}
			if shift == 0 {
				t.Run(name, func(t *testing.T) { metrictest.Check(t, e, points, 1e-12) }) // as for Transformed
			}
		}
	}
}

func TestExpandedPanics(t *testing.T) {
	e := must(kernels.NewTransformed(kernels.Linear{}, 1, 2, mat.NewDense(1, 2, []float64{1, 2}), mat.NewSymDense(1, []float64{1}))).Expanded()
	for name, f := range map[string]func(){
		"no rows":        func() { e.Rows(new(mat.Dense)) },
		"other columns":  func() { e.Rows(mat.NewDense(1, 3, nil)) },
		"not expanded":   func() { e.SqDist([]float64{1, 2}, []float64{1, 2}) },
		"z not expanded": func() { e.SqDist(make([]float64, e.Dim()), []float64{1, 2}) },
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

// A distance of 800 support points in 10 dimensions, with and without expanding.
func BenchmarkTransformedSqDist(b *testing.B) {
	rng := rand.New(rand.NewPCG(9, 15))
	const m, dim = 800, 10
	s := mat.NewSymDense(m, nil)
	s.SymOuterK(1.0/m, normal(rng, m, 5, 0))
	k := must(kernels.NewTransformed(must(kernels.NewGaussian(0.1)), 1, dim, normal(rng, m, dim, 0), s))
	x := normal(rng, 2, dim, 0)
	e := k.Expanded()
	rows := e.Rows(x)
	b.Run(fmt.Sprintf("alg=direct/support=%d", m), func(b *testing.B) {
		for b.Loop() {
			k.SqDist(x.RawRowView(0), x.RawRowView(1))
		}
	})
	b.Run(fmt.Sprintf("alg=expanded/support=%d", m), func(b *testing.B) {
		for b.Loop() {
			e.SqDist(rows.RawRowView(0), rows.RawRowView(1))
		}
	})
}

func ExampleExpanded() {
	k, err := kernels.NewTransformed(kernels.Linear{}, 1, 2, mat.NewDense(1, 2, []float64{1, 0}), mat.NewSymDense(1, []float64{3}))
	if err != nil {
		fmt.Println(err)
		return
	}
	e := k.Expanded()
	rows := e.Rows(mat.NewDense(3, 2, []float64{0, 0, 1, 0, 0, 1}))
	for i := range 3 {
		fmt.Println(e.SqDist(rows.RawRowView(0), rows.RawRowView(i)))
	}
	// Output:
	// 0
	// 4
	// 1
}
