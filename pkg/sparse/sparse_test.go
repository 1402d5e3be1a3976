package sparse

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/floats/scalar"
	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/limits"
)

// random returns a matrix of about share·n·d entries, its last row and column empty, and its
// dense form.
func random(t testing.TB, rng *rand.Rand, n, d int, share float64) (*Matrix, *mat.Dense) {
	t.Helper()
	dense := mat.NewDense(n, d, nil)
	rows := make([]Vector, n)
	for i := range n - 1 {
		for j := range d - 1 {
			if rng.Float64() < share {
				v := rng.NormFloat64()
				dense.Set(i, j, v)
				rows[i].Index, rows[i].Value = append(rows[i].Index, j), append(rows[i].Value, v)
			}
		}
	}
	m, err := NewMatrix(rows, d)
	if err != nil {
		t.Fatal(err)
	}
	return m, dense
}

// Sums of at most 40 products of numbers of the order of 1, in two orders.
const tol = 1e-13

func TestAgainstDense(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	ctx := t.Context()
	for trial := range 60 {
		n, d, k := 1+rng.IntN(30), 1+rng.IntN(40), 1+rng.IntN(5)
		m, dense := random(t, rng, n, d, rng.Float64())
		if !mat.Equal(m, dense) || !mat.Equal(m.T(), dense.T()) {
			t.Fatalf("trial %d: entries differ from the dense ones", trial)
		}
		if back, err := m.Dense(); err != nil || !mat.Equal(back, dense) {
			t.Fatalf("trial %d: Dense differs: %v", trial, err)
		}
		if again, err := Compress(dense); err != nil || !mat.Equal(again, dense) || again.Entries() != m.Entries() {
			t.Fatalf("trial %d: Compress differs: %v", trial, err)
		}

		b, c := mat.NewDense(d, k, nil), mat.NewDense(n, k, nil)
		for _, x := range []*mat.Dense{b, c} {
			for i := range x.RawMatrix().Data {
				x.RawMatrix().Data[i] = rng.NormFloat64()
			}
		}
		var want mat.Dense
		want.Mul(dense, b)
		got, err := m.Mul(ctx, b)
		if err != nil || !mat.EqualApprox(got, &want, tol) {
			t.Fatalf("trial %d: Mul differs: %v", trial, err)
		}
		vec := make([]float64, n)
		m.MulVec(vec, mat.Col(nil, 0, b))
		if !slices.Equal(vec, mat.Col(nil, 0, got)) {
			t.Fatalf("trial %d: MulVec differs from Mul", trial)
		}
		want.Reset()
		want.Mul(dense.T(), c)
		if got, err = m.MulTrans(ctx, c); err != nil || !mat.EqualApprox(got, &want, tol) {
			t.Fatalf("trial %d: MulTrans differs: %v", trial, err)
		}
		vec = make([]float64, d)
		vec[0] = 99 // overwritten
		m.MulTransVec(vec, mat.Col(nil, 0, c))
		if !slices.Equal(vec, mat.Col(nil, 0, got)) {
			t.Fatalf("trial %d: MulTransVec differs from MulTrans", trial)
		}

		means, err := m.Means()
		if err != nil {
			t.Fatal(err)
		}
		for j := range d {
			if want := floats.Sum(mat.Col(nil, j, dense)) / float64(n); !scalar.EqualWithinAbs(means[j], want, tol) {
				t.Fatalf("trial %d: mean %d is %v, want %v", trial, j, means[j], want)
			}
		}
		norms := m.SqNorms()
		for i := range n {
			row := dense.RawRowView(i)
			if !scalar.EqualWithinAbs(norms[i], floats.Dot(row, row), tol) || norms[i] != m.Row(i).Dot(m.Row(i)) {
				t.Fatalf("trial %d: ‖x%d‖² is %v", trial, i, norms[i])
			}
		}

		var diff Vector
		for i := range n {
			j := rng.IntN(n)
			diff = Difference(diff, m.Row(i), m.Row(j))
			if err := diff.Check(d); err != nil {
				t.Fatal(err)
			}
			row := make([]float64, d)
			diff.Dense(row)
			var want float64
			for c := range d {
				if w := dense.At(i, c) - dense.At(j, c); row[c] != w {
					t.Fatalf("trial %d: entry %d of the difference is %v, want %v", trial, c, row[c], w)
				}
				want += float64(row[c] * row[c])
			}
			if got := m.Row(i).SqDist(m.Row(j)); got != want || i == j && len(diff.Index) > 0 {
				t.Fatalf("trial %d: squared distance %v, want %v", trial, got, want)
			}
			m.Row(j).AddTo(row, 1)
			for c := range d {
				if !scalar.EqualWithinAbs(row[c], dense.At(i, c), tol) {
					t.Fatalf("trial %d: AddTo: %v, want %v", trial, row[c], dense.At(i, c))
				}
			}
		}

		idx := []int{rng.IntN(n), n - 1, rng.IntN(n), 0, 0}
		part, err := m.Rows(idx)
		if err != nil {
			t.Fatal(err)
		}
		for r, i := range idx {
			if !slices.Equal(mat.Row(nil, r, part), dense.RawRowView(i)) {
				t.Fatalf("trial %d: row %d of Rows is not row %d", trial, r, i)
			}
		}
	}
}

// Dots, Gram and Between are Dot to the bit, and that is the dense product.
func TestGram(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for trial := range 60 {
		d := 1 + rng.IntN(40)
		x, dense := random(t, rng, 1+rng.IntN(30), d, rng.Float64())
		y, denseY := random(t, rng, 1+rng.IntN(30), d, rng.Float64())
		g, err := x.Gram(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		b, err := x.Between(t.Context(), y)
		if err != nil {
			t.Fatal(err)
		}
		var wantG, wantB mat.Dense
		wantG.Mul(dense, dense.T())
		wantB.Mul(dense, denseY.T())
		if !mat.EqualApprox(g, &wantG, tol) || !mat.EqualApprox(b, &wantB, tol) {
			t.Fatalf("trial %d: Gram or Between differs from the dense product", trial)
		}
		p, err := NewPostings(y)
		if err != nil {
			t.Fatal(err)
		}
		n, _ := x.Dims()
		k, _ := y.Dims()
		dots := make([]float64, k)
		row := make([]float64, d)
		for i := range n {
			p.Dots(dots, x.Row(i))
			x.Row(i).Dense(row)
			for j := range k {
				want := x.Row(i).Dot(y.Row(j))
				if dots[j] != want || b.At(i, j) != want || y.Row(j).DotDense(row) != want {
					t.Fatalf("trial %d: products (%d, %d) are %v, %v, %v, want %v to the bit", trial, i, j, dots[j], b.At(i, j), y.Row(j).DotDense(row), want)
				}
			}
			for j := range n {
				if want := x.Row(i).Dot(x.Row(j)); g.At(i, j) != want {
					t.Fatalf("trial %d: G(%d, %d) is %v, want %v to the bit", trial, i, j, g.At(i, j), want)
				}
			}
		}
	}
}

// Small integers have one product in any order.
func TestMatrixByHand(t *testing.T) {
	m, err := NewMatrix([]Vector{{[]int{0, 2}, []float64{1, 2}}, {}, {[]int{1, 2, 3}, []float64{-1, 3, 0}}}, 4)
	if err != nil {
		t.Fatal(err)
	}
	if n, d := m.Dims(); n != 3 || d != 4 || m.Entries() != 4 {
		t.Errorf("%d×%d with %d entries, want 3×4 with 4: zeros are left out", n, d, m.Entries())
	}
	g, err := m.Gram(t.Context())
	if want := mat.NewSymDense(3, []float64{5, 0, 6, 0, 0, 0, 6, 0, 10}); err != nil || !mat.Equal(g, want) {
		t.Errorf("G is %v, %v", mat.Formatted(g), err)
	}
	if means, err := m.Means(); err != nil || !slices.Equal(means, []float64{1. / 3, -1. / 3, 5. / 3, 0}) {
		t.Errorf("means are %v, %v", means, err)
	}
	if m.At(0, 2) != 2 || m.At(0, 1) != 0 || m.At(1, 3) != 0 || m.At(2, 1) != -1 {
		t.Errorf("entries are wrong: %v", mat.Formatted(m))
	}
}

func TestVectorCheck(t *testing.T) {
	for name, v := range map[string]Vector{
		"lengths":   {[]int{1}, nil},
		"negative":  {[]int{-1}, []float64{1}},
		"too large": {[]int{3}, []float64{1}},
		"twice":     {[]int{1, 1}, []float64{1, 1}},
		"descends":  {[]int{2, 1}, []float64{1, 1}},
		"NaN":       {[]int{0}, []float64{math.NaN()}},
		"infinite":  {[]int{0}, []float64{math.Inf(-1)}},
	} {
		if err := v.Check(3); err == nil {
			t.Errorf("%s: %v passes", name, v)
		}
		if m, err := NewMatrix([]Vector{{}, v}, 3); err == nil || m != nil || !strings.HasPrefix(err.Error(), "sparse: row 1: ") {
			t.Errorf("%s: got %v, %v; want an error that names the row", name, m, err)
		}
	}
	if err := (Vector{[]int{0, 2}, []float64{1, 0}}).Check(3); err != nil {
		t.Error(err)
	}
}

func TestBuilder(t *testing.T) {
	var b Builder
	if m, err := b.Matrix(3); err == nil || m != nil {
		t.Errorf("no row: %v, %v", m, err)
	}
	row := Vector{[]int{1, 4}, []float64{2, 0}}
	if err := errors.Join(b.Add(Vector{}), b.Add(row)); err != nil {
		t.Fatal(err)
	}
	row.Index[0], row.Value[0] = 0, 9 // a copy was added
	if err := b.Add(Vector{[]int{2, 2}, []float64{1, 1}}); err == nil {
		t.Error("a row that does not ascend is added")
	}
	if m, err := b.Matrix(4); err == nil || m != nil {
		t.Errorf("too few columns: %v, %v", m, err)
	}
	m, err := b.Matrix(0)
	if err != nil {
		t.Fatal(err)
	}
	if n, d := m.Dims(); n != 2 || d != 5 || m.At(1, 1) != 2 || m.Entries() != 1 {
		t.Errorf("got %v", mat.Formatted(m))
	}
	if m, err := b.Matrix(3); err == nil || m != nil {
		t.Errorf("the builder is not empty: %v", m)
	}
	if err := b.Add(Vector{}); err != nil {
		t.Fatal(err)
	}
	if m, err := b.Matrix(0); err == nil || m != nil {
		t.Errorf("no column: %v, %v", m, err)
	}
	if m, err := b.Matrix(-1); err == nil || m != nil {
		t.Errorf("-1 columns: %v, %v", m, err)
	}
}

// Every size has a limit, also where it overflows.
func TestLimits(t *testing.T) {
	wide, err := NewMatrix([]Vector{{[]int{math.MaxInt - 2}, []float64{1}}, {[]int{0}, []float64{1}}}, math.MaxInt)
	if err != nil {
		t.Fatal(err)
	}
	var refused *limits.MemoryError
	if _, err := wide.Dense(); !errors.As(err, &refused) {
		t.Errorf("Dense: %v", err)
	}
	if _, err := Compress(wide.T()); !errors.As(err, &refused) {
		t.Errorf("Compress: %v", err)
	}
	if _, err := wide.Means(); !errors.As(err, &refused) {
		t.Errorf("Means: %v", err)
	}
	if _, err := NewPostings(wide); !errors.As(err, &refused) {
		t.Errorf("NewPostings: %v", err)
	}
	if _, err := wide.Gram(t.Context()); !errors.As(err, &refused) {
		t.Errorf("Gram: %v", err)
	}
	if _, err := wide.Between(t.Context(), wide); !errors.As(err, &refused) {
		t.Errorf("Between: %v", err)
	}
	if _, err := wide.MulTrans(t.Context(), mat.NewDense(2, 1, nil)); !errors.As(err, &refused) {
		t.Errorf("MulTrans: %v", err)
	}
	defer limits.SetMemory(0)
	limits.SetMemory(100)
	long := Vector{[]int{0, 1, 2, 3, 4, 5, 6}, []float64{1, 1, 1, 1, 1, 1, 1}}
	if _, err := NewMatrix([]Vector{long}, 7); !errors.As(err, &refused) {
		t.Errorf("112 bytes of entries: %v", err)
	}
	small, err := NewMatrix([]Vector{{[]int{0, 1, 2, 3}, []float64{1, 1, 1, 1}}}, 4)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := small.Rows([]int{0, 0}); !errors.As(err, &refused) {
		t.Errorf("two rows of 64 bytes: %v", err)
	}
	if _, err := NewMatrix(make([]Vector, 20), 1); !errors.As(err, &refused) {
		t.Errorf("20 empty rows: %v", err)
	}
}

func TestCancelled(t *testing.T) {
	m, _ := random(t, rand.New(rand.NewPCG(5, 6)), 5, 5, .5)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err1 := m.Gram(ctx)
	_, err2 := m.Between(ctx, m)
	_, err3 := m.Mul(ctx, mat.NewDense(5, 1, nil))
	_, err4 := m.MulTrans(ctx, mat.NewDense(5, 1, nil))
	for i, err := range []error{err1, err2, err3, err4} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%d: %v", i, err)
		}
	}
}

func TestPanics(t *testing.T) {
	m, _ := random(t, rand.New(rand.NewPCG(7, 8)), 4, 3, .5)
	other, _ := random(t, rand.New(rand.NewPCG(7, 8)), 4, 2, .5)
	p, err := NewPostings(m)
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]func(){
		"row":            func() { m.Row(4) },
		"row -1":         func() { m.Row(-1) },
		"row of nothing": func() { new(Matrix).Row(0) },
		"column":         func() { m.At(0, 3) },
		"rows":           func() { _, _ = m.Rows([]int{4}) },
		"Dense":          func() { Vector{[]int{3}, []float64{1}}.Dense(make([]float64, 3)) },
		"MulVec":         func() { m.MulVec(make([]float64, 3), make([]float64, 3)) },
		"MulTransVec":    func() { m.MulTransVec(make([]float64, 3), make([]float64, 3)) },
		"Mul":            func() { _, _ = m.Mul(t.Context(), mat.NewDense(4, 1, nil)) },
		"Mul by nil":     func() { _, _ = m.Mul(t.Context(), nil) },
		"MulTrans":       func() { _, _ = m.MulTrans(t.Context(), mat.NewDense(3, 1, nil)) },
		"Dots":           func() { p.Dots(make([]float64, 3), m.Row(0)) },
		"Dots of column": func() { p.Dots(make([]float64, 4), Vector{[]int{3}, []float64{1}}) },
		"Between":        func() { _, _ = m.Between(t.Context(), other) },
		"Between nil":    func() { _, _ = m.Between(t.Context(), nil) },
		"NewPostings":    func() { _, _ = NewPostings(nil) },
		"Compress":       func() { _, _ = Compress(nil) },
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
	if rows, err := m.Rows(nil); err == nil || rows != nil {
		t.Errorf("no rows: %v, %v", rows, err)
	}
}

func ExampleMatrix_Gram() {
	docs := []Vector{
		{Index: []int{0, 2}, Value: []float64{1, 2}},
		{Index: []int{2, 3}, Value: []float64{3, 1}},
		{Index: []int{1}, Value: []float64{5}},
	}
	x, err := NewMatrix(docs, 4)
	if err != nil {
		fmt.Println(err)
		return
	}
	g, err := x.Gram(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(mat.Formatted(g))
	// Output:
	// ⎡ 5   6   0⎤
	// ⎢ 6  10   0⎥
	// ⎣ 0   0  25⎦
}

func BenchmarkGram(b *testing.B) {
	const n, d, perRow = 2000, 5000, 80
	m, _ := random(b, rand.New(rand.NewPCG(9, 10)), n, d, float64(perRow)/d)
	b.Run(fmt.Sprintf("alg=Gram/n=%d/d=%d/perRow=%d", n, d, perRow), func(b *testing.B) {
		for b.Loop() {
			if _, err := m.Gram(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	})
}
