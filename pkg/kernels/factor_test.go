package kernels

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
)

// normal returns an n×d matrix of normal numbers.
func normal(seed uint64, n, d int) *mat.Dense {
	rng := rand.New(rand.NewPCG(seed, 41))
	x := mat.NewDense(n, d, nil)
	x.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() }, x)
	return x
}

// schur is what is left of k beside pivots, from its definition.
func schur(t *testing.T, k *mat.SymDense, pivots []int) *mat.Dense {
	t.Helper()
	n := k.SymmetricDim()
	left := mat.DenseCopyOf(k)
	if len(pivots) == 0 {
		return left
	}
	m := len(pivots)
	block, columns := mat.NewDense(m, m, nil), mat.NewDense(n, m, nil)
	for b, j := range pivots {
		for i := range n {
			columns.Set(i, b, k.At(i, j))
		}
		for a, i := range pivots {
			block.Set(a, b, k.At(i, j))
		}
	}
	var solved, inside mat.Dense
	if err := solved.Solve(block, columns.T()); err != nil {
		t.Fatal(err)
	}
	inside.Mul(columns, &solved)
	left.Sub(left, &inside)
	return left
}

// F is a factor of K₀, also of a singular one. The pivots are a greedy choice, and what is left is the Schur complement.
func TestFactor(t *testing.T) {
	duplicates := normal(3, 12, 2)
	for i := range 4 {
		duplicates.SetRow(8+i, duplicates.RawRowView(i))
	}
	gauss, err := NewGaussian(0.4)
	if err != nil {
		t.Fatal(err)
	}
	cubic, err := NewPolynomial(3, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		k    Kernel
		x    *mat.Dense
		most int
		rank int
	}{
		{"linear", Linear{}, normal(1, 20, 4), 0, 4},
		{"wide", Linear{}, normal(2, 5, 9), 0, 5},
		{"one row", Linear{}, normal(2, 1, 3), 0, 1},
		{"gaussian", gauss, normal(1, 15, 3), 0, 15},
		{"polynomial", cubic, normal(4, 30, 2), 0, 10}, // monomials of degree at most 3 of two variables
		{"duplicates", gauss, duplicates, 0, 8},
		{"landmarks", gauss, normal(1, 15, 3), 6, 6},
		{"more landmarks than rows", gauss, normal(1, 15, 3), math.MaxInt, 15},
	} {
		n, _ := tt.x.Dims()
		k0 := Gram(tt.k, tt.x)
		f, err := NewFactor(t.Context(), n, k0.At, FactorParams{Most: tt.most})
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if f.Rank() != tt.rank || f.Objects() != n {
			t.Errorf("%s: rank %d of %d objects, want %d of %d", tt.name, f.Rank(), f.Objects(), tt.rank, n)
		}
		// κ(x, x) is of order 1, or 10³ of the polynomial, and the pivots are well conditioned.
		tol := 1e-8 * mat.Max(k0)
		pivots := f.Pivots()
		for a := range pivots {
			left := schur(t, k0, pivots[:a])
			for i := range n {
				if left.At(i, i) > left.At(pivots[a], pivots[a])+tol {
					t.Errorf("%s: pivot %d is object %d, of which %v is left, of %d %v", tt.name, a, pivots[a], left.At(pivots[a], pivots[a]), i, left.At(i, i))
				}
			}
		}
		left := schur(t, k0, pivots)
		rows := f.Rows()
		var inside mat.Dense
		inside.Mul(rows, rows.T())
		inside.Add(&inside, left)
		if !mat.EqualApprox(&inside, k0, tol) {
			t.Errorf("%s: FFᵀ and what is left are not K₀", tt.name)
		}
		if want := mat.Trace(left) / mat.Trace(k0); math.Abs(f.Left()-want) > 1e-8 {
			t.Errorf("%s: share left %v, want %v", tt.name, f.Left(), want)
		}
		again, err := f.Coordinates(k0)
		if err != nil || !mat.EqualApprox(again, rows, 1e-6*(1+mat.Max(rows))) {
			t.Errorf("%s: coordinates are not the rows, error %v", tt.name, err)
		}
	}
}

// A metric of the rows of F is one of points and of objects, whether known or new.
func TestFactorLift(t *testing.T) {
	const n, others = 14, 9
	x := normal(5, n+others, 3)
	old, others0 := x.Slice(0, n, 0, 3).(*mat.Dense), x.Slice(n, n+others, 0, 3).(*mat.Dense)
	k, err := NewGaussian(0.2)
	if err != nil {
		t.Fatal(err)
	}
	k0 := Gram(k, old)
	for _, most := range []int{0, 5} {
		f, err := NewFactor(t.Context(), n, k0.At, FactorParams{Most: most})
		if err != nil {
			t.Fatal(err)
		}
		m := metric.FromFactor(normal(6, 3, f.Rank()))
		points, err := f.Metric(k, old, m)
		if err != nil {
			t.Fatal(err)
		}
		learned, err := f.Learned(m)
		if err != nil {
			t.Fatal(err)
		}
		const tol = 1e-8 // ε times the condition number of K₀, of order 10⁶, with weights of order 10
		cross := GramRect(k, others0, old)
		z, err := f.Coordinates(cross)
		if err != nil {
			t.Fatal(err)
		}
		diag := make([]float64, others)
		for i := range diag {
			diag[i] = 1
		}
		sq, err := learned.SqDistBetween(k0, cross, diag)
		if err != nil {
			t.Fatal(err)
		}
		rows := f.Rows()
		embedded := points.EmbedRows(x)
		for i := range others {
			for j := range n {
				want := m.SqDist(z.RawRowView(i), rows.RawRowView(j))
				for what, got := range map[string]float64{
					"points":     points.SqDist(others0.RawRowView(i), old.RawRowView(j)),
					"objects":    sq.At(i, j),
					"embedding":  metric.Euclidean{}.SqDist(embedded.RawRowView(n+i), embedded.RawRowView(j)),
					"one by one": metric.Euclidean{}.SqDist(points.Embed(others0.RawRowView(i)), points.Embed(old.RawRowView(j))),
				} {
					if math.Abs(got-want) > tol*(1+want) {
						t.Errorf("%s: new %d and %d: squared distance %v, want %v", what, i, j, got, want)
					}
				}
			}
		}
		var want mat.Dense
		want.Product(rows, m.M(), rows.T())
		if !mat.EqualApprox(learned.All(k0), &want, 1e-6) {
			t.Errorf("most %d: the learned kernel is not FMFᵀ", most)
		}
		if !slices.IsSorted(learned.Support) || len(learned.Support) != f.Rank() || points.Support() != f.Rank() {
			t.Errorf("support %d, points %d", learned.Support, points.Support())
		}
		zero, err := f.Metric(k, old, metric.Zero(f.Rank()))
		if err != nil || zero.Rows() != 0 || zero.Dim() != 3 || !mat.Equal(zero.EmbedRows(old), mat.NewDense(n, 1, nil)) {
			t.Errorf("the zero metric: %v, error %v", zero, err)
		}
		if l, err := f.Learned(metric.Zero(f.Rank())); err != nil || l.Support != nil || l.S != nil {
			t.Errorf("the zero metric: %v, error %v", l, err)
		}
		if _, err := f.Metric(k, old, metric.FromFactor(scaled(1.79e308, f.Rank()))); !errors.Is(err, metric.ErrWeights) {
			t.Errorf("weights overflow: error %v", err)
		}
		if _, err := f.Learned(metric.FromFactor(scaled(1e200, f.Rank()))); !errors.Is(err, metric.ErrWeights) {
			t.Errorf("weights overflow: error %v", err)
		}
	}
}

func scaled(v float64, r int) *mat.Dense {
	a := mat.NewDense(r, r, nil)
	for i := range r {
		a.Set(i, i, v)
	}
	return a
}

func TestFactorErrors(t *testing.T) {
	t.Cleanup(func() { limits.SetMemory(0) })
	done, cancel := context.WithCancel(t.Context())
	cancel()
	identity := func(i, j int) float64 {
		if i == j {
			return 1
		}
		return 0
	}
	of := func(v float64) func(i, j int) float64 { return func(_, _ int) float64 { return v } }
	for _, tt := range []struct {
		name, want string
		ctx        context.Context
		n          int
		at         func(i, j int) float64
		p          FactorParams
	}{
		{"NaN", "entry (0, 0) is NaN, want a finite number", t.Context(), 2, of(math.NaN()), FactorParams{}},
		{"Inf", "entry (0, 0) is +Inf, want a finite number", t.Context(), 2, of(math.Inf(1)), FactorParams{}},
		{"NaN beside the diagonal", "entry (1, 0) is NaN, want a finite number", t.Context(), 2, func(i, j int) float64 {
			if i == j {
				return 1
			}
			return math.NaN()
		}, FactorParams{}},
		{"zero", "all kernel values are 0", t.Context(), 3, of(0), FactorParams{}},
		{"negative", "not positive semi-definite", t.Context(), 3, of(-1), FactorParams{}},
		{"indefinite", "beside 1 pivots, -3 is left", t.Context(), 2, func(i, j int) float64 { return float64(1 + (i+j)%2) }, FactorParams{}},
		{"trace", "its trace overflows float64", t.Context(), 3, of(1e308), FactorParams{}},
		{"done", "context canceled", done, 3, identity, FactorParams{}},
		{"most", "kernels: most: -1 is not allowed", t.Context(), 3, identity, FactorParams{Most: -1}},
		{"tol", "kernels: tol: 1 is not allowed", t.Context(), 3, identity, FactorParams{Tol: 1}},
		{"tol NaN", "kernels: tol: NaN is not allowed", t.Context(), 3, identity, FactorParams{Tol: math.NaN()}},
	} {
		if _, err := NewFactor(tt.ctx, tt.n, tt.at, tt.p); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.want)
		}
	}
	f, err := NewFactor(t.Context(), 3, identity, FactorParams{})
	if err != nil {
		t.Fatal(err)
	}
	for name, cross := range map[string]*mat.Dense{
		"2 columns are not allowed, want 3":          mat.NewDense(1, 2, nil),
		"entry (0, 2) is +Inf, want a finite number": mat.NewDense(1, 3, []float64{0, 0, math.Inf(1)}),
	} {
		if _, err := f.Coordinates(cross); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v, want %q", err, name)
		}
	}
	// The columns are made as they are needed: few pivots of many objects need little.
	limits.SetMemory(1 << 20)
	if f, err := NewFactor(t.Context(), 1500, of(2), FactorParams{}); err != nil || f.Rank() != 1 {
		t.Errorf("rank 1 of 1500 objects: %v", err)
	}
	if _, err := NewFactor(t.Context(), 1500, identity, FactorParams{}); !errors.As(err, new(*limits.MemoryError)) {
		t.Errorf("rank 1500: error %v", err)
	}
	for name, f := range map[string]func(){
		"no objects":  func() { _, _ = NewFactor(t.Context(), 0, identity, FactorParams{}) },
		"no function": func() { _, _ = NewFactor(t.Context(), 1, nil, FactorParams{}) },
		"zero value":  func() { (&Factor{}).Rank() },
		"nil":         func() { (*Factor)(nil).Rows() },
		"coordinates": func() { _, _ = f.Learned(metric.Identity(2)) },
		"rows":        func() { _, _ = f.Metric(Linear{}, mat.NewDense(2, 3, nil), metric.Identity(3)) },
		"cross":       func() { _, _ = f.Coordinates(nil) },
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

func ExampleNewFactor() {
	// The Gram matrix of three points on a line: 1, 2 and −1.
	gram := mat.NewSymDense(3, []float64{1, 2, -1, 2, 4, -2, -1, -2, 1})
	f, err := NewFactor(context.Background(), 3, gram.At, FactorParams{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("pivots", f.Pivots())
	fmt.Println(mat.Formatted(f.Rows()))
	// Output:
	// pivots [1]
	// ⎡ 1⎤
	// ⎢ 2⎥
	// ⎣-1⎦
}
