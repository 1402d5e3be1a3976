package sets_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/kernels"
	"metriclab/pkg/kernels/sets"
	"metriclab/pkg/limits"
)

// drawn returns n sets of features in the unit cube, each with one to most features and a code from 0 to codes−1 behind them, if any. Coordinates
// are multiples of 1/32, so that many lie on the borders of bins.
func drawn(rng *rand.Rand, n, most, d, codes int) []mat.Matrix {
	out := make([]mat.Matrix, n)
	for i := range out {
		width := d
		if codes > 0 {
			width++
		}
		x := mat.NewDense(1+rng.IntN(most), width, nil)
		rows, _ := x.Dims()
		for a := range rows {
			for j := range d {
				x.Set(a, j, float64(rng.IntN(33))/32)
			}
			if codes > 0 {
				x.Set(a, d, float64(rng.IntN(codes)))
			}
		}
		out[i] = x
	}
	return out
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// unit is a box of d coordinates from 0 to 1.
func unit(d int, side float64, codes int) sets.PyramidParams {
	p := sets.PyramidParams{Codes: codes}
	for range d {
		p.Low, p.High, p.Side = append(p.Low, 0), append(p.High, 1), append(p.Side, side)
	}
	return p
}

// shared returns the first level at which two features share a bin, by the definition: side 2^level·side, counted from 0; −1 if
// there is none. Codes are the columns behind the first d.
func shared(a, b []float64, d, levels int, side float64) int {
	for j := d; j < len(a); j++ {
		if a[j] != b[j] {
			return -1
		}
	}
	at := func(v float64, level int) float64 {
		if v == 1 {
			v -= side / 2 // the high end belongs to the last bin
		}
		return math.Floor(v / (side * math.Exp2(float64(level))))
	}
	for level := range levels {
		same := true
		for j := range d {
			same = same && at(a[j], level) == at(b[j], level)
		}
		if same {
			return level
		}
	}
	return -1
}

// greedy matches features one by one, at the finest level first, and counts 2^−level per pair.
func greedy(a, b *mat.Dense, d, levels int, side float64) float64 {
	n, _ := a.Dims()
	m, _ := b.Dims()
	usedA, usedB := make([]bool, n), make([]bool, m)
	var sum float64
	for level := range levels {
		for i := range n {
			for j := range m {
				if at := shared(a.RawRowView(i), b.RawRowView(j), d, levels, side); !usedA[i] && !usedB[j] && at >= 0 && at <= level {
					usedA[i], usedB[j] = true, true
					sum += math.Exp2(-float64(level))
				}
			}
		}
	}
	return sum
}

// best returns the largest sum of 2^−level over all one-to-one matchings, by trying them all.
func best(a, b *mat.Dense, d, levels int, side float64) float64 {
	n, _ := a.Dims()
	m, _ := b.Dims()
	used := make([]bool, m)
	var from func(i int) float64
	from = func(i int) float64 {
		if i == n {
			return 0
		}
		most := from(i + 1)
		for j := range m {
			if at := shared(a.RawRowView(i), b.RawRowView(j), d, levels, side); !used[j] && at >= 0 {
				used[j] = true
				most = max(most, math.Exp2(-float64(at))+from(i+1))
				used[j] = false
			}
		}
		return most
	}
	return from(0)
}

// The pyramid match is the score of the matching that greedily takes the finest pairs, and of all matchings the best.
func TestPyramidIsAMatching(t *testing.T) {
	rng := rand.New(rand.NewPCG(20, 1))
	for _, c := range []struct {
		d, codes int
		side     float64
		levels   int
	}{{1, 0, 0.125, 4}, {2, 0, 0.25, 3}, {3, 2, 0.0625, 5}, {2, 3, 1, 1}} {
		columns := 0
		if c.codes > 0 {
			columns = 1
		}
		k := must(sets.NewPyramid(unit(c.d, c.side, columns)))
		if k.Levels() != c.levels {
			t.Fatalf("%+v: %d levels", c, k.Levels())
		}
		for range 150 {
			pair := drawn(rng, 2, 6, c.d, c.codes)
			a, b := pair[0].(*mat.Dense), pair[1].(*mat.Dense)
			n, _ := a.Dims()
			m, _ := b.Dims()
			got := k.Eval(must(k.Prepare(a)), must(k.Prepare(b)))
			scale := math.Sqrt(float64(n * m))
			if want := greedy(a, b, c.d, c.levels, c.side) / scale; got != want {
				t.Fatalf("%+v: %v, the greedy matching %v", c, got, want)
			}
			if want := best(a, b, c.d, c.levels, c.side) / scale; got != want {
				t.Fatalf("%+v: %v, the best matching %v", c, got, want)
			}
		}
	}
}

// laws checks what every kernel on sets promises, and returns the Gram matrix.
func laws[P any](t *testing.T, k sets.Kernel[P], given []mat.Matrix, tol float64) *mat.SymDense {
	t.Helper()
	g := must(sets.Gram(t.Context(), k, given))
	cross := must(sets.Cross(t.Context(), k, given, given))
	for i := range given {
		if g.At(i, i) != 1 {
			t.Errorf("k(x, x) = %v", g.At(i, i))
		}
		for j := range given {
			a, b := must(k.Prepare(given[i])), must(k.Prepare(given[j]))
			v := k.Eval(a, b)
			if v != k.Eval(b, a) {
				t.Errorf("k is not symmetric: %v, %v", v, k.Eval(b, a))
			}
			if !(v >= 0 && v <= 1+tol) {
				t.Errorf("k = %v", v)
			}
			if math.Abs(v-g.At(i, j)) > tol || math.Abs(v-cross.At(i, j)) > tol {
				t.Errorf("Eval %v, Gram %v, Cross %v", v, g.At(i, j), cross.At(i, j))
			}
		}
	}
	// The order of features does not matter.
	first := given[0].(*mat.Dense)
	n, d := first.Dims()
	turned := mat.NewDense(n, d, nil)
	for i := range n {
		turned.SetRow(n-1-i, first.RawRowView(i))
	}
	if v := k.Eval(must(k.Prepare(turned)), must(k.Prepare(first))); v != 1 {
		t.Errorf("k of a set and itself in another order is %v", v)
	}
	return g
}

func TestPyramidLaws(t *testing.T) {
	rng := rand.New(rand.NewPCG(20, 2))
	for _, codes := range []int{0, 3} {
		k := must(sets.NewPyramid(unit(2, 1./16, min(codes, 1))))
		given := drawn(rng, 40, 9, 2, codes)
		g := laws(t, k, given, 0)
		if err := kernels.CheckGram(g); err != nil {
			t.Errorf("codes %d: %v", codes, err)
		}
		// Features outside of the box match others of their bins, and nothing else.
		out := mat.NewDense(1, 2+min(codes, 1), nil)
		out.Set(0, 0, -3)
		row := must(sets.Cross(t.Context(), k, []mat.Matrix{out}, append(given, out)))
		for j := range given {
			if row.At(0, j) != 0 {
				t.Errorf("a feature outside matches set %d", j)
			}
		}
		if row.At(0, len(given)) != 1 {
			t.Error("a feature outside does not match itself")
		}
	}
}

// Features at the end of a box are in its last bin, whatever the rounding of sides.
func TestPyramidEnds(t *testing.T) {
	rng := rand.New(rand.NewPCG(20, 13))
	for range 1000 {
		low := rng.NormFloat64()
		high := low + math.Exp(5*rng.NormFloat64())
		side := (high - low) / (1 + 40*rng.Float64())
		if rng.IntN(2) == 0 {
			side = (high - low) / float64(1+rng.IntN(40))
		}
		k := must(sets.NewPyramid(sets.PyramidParams{Low: []float64{low}, High: []float64{high}, Side: []float64{side}}))
		end := must(k.Prepare(mat.NewDense(1, 1, []float64{high})))
		for _, v := range []float64{low, math.Nextafter(high, low), (low + high) / 2} {
			if k.Eval(end, must(k.Prepare(mat.NewDense(1, 1, []float64{v})))) == 0 {
				t.Fatalf("%v and %v share no bin of the box from %v with side %v and %d levels", high, v, low, side, k.Levels())
			}
		}
	}
}

// Equal features are at distance 0, however narrow the kernel is, and far from the origin.
func TestBestMatchOfEqualSets(t *testing.T) {
	rng := rand.New(rand.NewPCG(20, 14))
	k := must(sets.NewBestMatch(sets.BestMatchParams{Width: 1e-300}))
	for _, far := range []float64{0, 1e8, 1e140 / 2} {
		x := mat.NewDense(7, 60, nil)
		for i := range 7 {
			for j := range 60 {
				x.Set(i, j, far+rng.NormFloat64())
			}
		}
		if v := k.Eval(must(k.Prepare(x)), must(k.Prepare(x))); v != 1 {
			t.Errorf("about %v: k(x, x) = %v", far, v)
		}
	}
}

// distance is D by its definition.
func distance(a, b *mat.Dense) float64 {
	one := func(a, b *mat.Dense) float64 {
		n, d := a.Dims()
		m, _ := b.Dims()
		var sum float64
		for i := range n {
			nearest := math.Inf(1)
			for j := range m {
				var sq float64
				for c := range d {
					sq += (a.At(i, c) - b.At(j, c)) * (a.At(i, c) - b.At(j, c))
				}
				nearest = min(nearest, sq)
			}
			sum += nearest
		}
		return sum / float64(n)
	}
	return one(a, b) + one(b, a)
}

func TestBestMatch(t *testing.T) {
	const tol = 1e-13 // features of norm at most √3, distances over σ of at most 12
	rng := rand.New(rand.NewPCG(20, 3))
	k := must(sets.NewBestMatch(sets.BestMatchParams{Width: 0.5}))
	given := drawn(rng, 30, 9, 3, 0)
	for i := range 200 { // more features than a block of a product has
		if i%20 == 0 {
			given = append(given, drawn(rng, 1, 600, 3, 0)...)
		}
	}
	for i := range given {
		for j := range given[:8] {
			a, b := given[i].(*mat.Dense), given[j].(*mat.Dense)
			want := distance(a, b)
			if got := k.Distance(must(k.Prepare(a)), must(k.Prepare(b))); math.Abs(got-want) > tol {
				t.Errorf("D = %v, want %v", got, want)
			}
			if got := k.Eval(must(k.Prepare(a)), must(k.Prepare(b))); math.Abs(got-math.Exp(-want/k.Width())) > tol {
				t.Errorf("k = %v, want %v", got, math.Exp(-want/k.Width()))
			}
		}
	}
	g := laws(t, k, given, tol)
	if err := kernels.CheckGram(g); err == nil {
		t.Error("the Gram matrix is positive semi-definite: the test of clipping shows nothing")
	}
	c := must(kernels.Clip(t.Context(), g))
	if err := kernels.CheckGram(c.Gram()); err != nil || c.Removed() == 0 {
		t.Errorf("clipped: %v, %d eigenvalues removed", err, c.Removed())
	}
}

func TestMean(t *testing.T) {
	a, b := mat.NewDense(1, 2, []float64{1, 2}), mat.NewSymDense(1, []float64{3})
	if got := sets.Mean(a, a, mat.NewDense(1, 2, []float64{4, 8})); got.At(0, 0) != 2 || got.At(0, 1) != 4 {
		t.Errorf("mean %v", mat.Formatted(got))
	}
	for name, f := range map[string]func(){
		"nothing": func() { sets.Mean() },
		"nil":     func() { sets.Mean(a, nil) },
		"shapes":  func() { sets.Mean(a, b) },
	} {
		if !panics(f) {
			t.Errorf("%s: no panic", name)
		}
	}
}

func panics(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		p    sets.PyramidParams
		want string
	}{
		{sets.PyramidParams{}, "0, 0 and 0 numbers"},
		{sets.PyramidParams{Low: []float64{0}, High: []float64{1, 1}, Side: []float64{1}}, "1, 2 and 1 numbers"},
		{sets.PyramidParams{Low: []float64{0}, High: []float64{1}, Side: []float64{0}}, "side[0]: 0 is not allowed"},
		{sets.PyramidParams{Low: []float64{0}, High: []float64{math.Inf(1)}, Side: []float64{1}}, "high[0]"},
		{sets.PyramidParams{Low: []float64{math.NaN()}, High: []float64{1}, Side: []float64{1}}, "low[0]"},
		{sets.PyramidParams{Low: []float64{1}, High: []float64{1}, Side: []float64{1}}, "low[0]: 1 is not allowed, want a number < high[0] = 1"},
		{sets.PyramidParams{Low: []float64{-1e308}, High: []float64{1e308}, Side: []float64{1}}, "side[0]"},
		{sets.PyramidParams{Low: []float64{0}, High: []float64{1}, Side: []float64{1e-300}}, "at least 2⁻⁵²"},
		{sets.PyramidParams{Low: []float64{0}, High: []float64{1}, Side: []float64{1}, Codes: -1}, "codes: -1"},
	} {
		if _, err := sets.NewPyramid(c.p); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want %q", c.p, err, c.want)
		}
	}
	for _, w := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, err := sets.NewBestMatch(sets.BestMatchParams{Width: w}); err == nil {
			t.Errorf("width %v: no error", w)
		}
	}
	k := must(sets.NewPyramid(unit(1, 0.25, 1)))
	b := must(sets.NewBestMatch(sets.BestMatchParams{Width: 1}))
	good := mat.NewDense(1, 2, []float64{0.5, 3})
	for _, c := range []struct {
		set  mat.Matrix
		want string
	}{
		{mat.NewDense(1, 1, nil), "1 numbers per feature, want 2"},
		{&mat.Dense{}, "no features"},
		{mat.NewDense(1, 2, []float64{math.NaN(), 1}), "feature 0, column 0 is NaN"},
		{mat.NewDense(1, 2, []float64{1e300, 1}), "more than 2⁵² bins"},
		{mat.NewDense(1, 2, []float64{0, 0.5}), "column 1 is 0.5, want a whole number"},
		{mat.NewDense(1, 2, []float64{0, 1e300}), "want a whole number"},
	} {
		_, err := sets.Gram(t.Context(), k, []mat.Matrix{good, c.set})
		if err == nil || !strings.Contains(err.Error(), "set 1: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
	for _, bad := range []float64{math.Inf(1), 1e150} {
		if _, err := b.Prepare(mat.NewDense(1, 1, []float64{bad})); err == nil {
			t.Errorf("%v: no error", bad)
		}
	}
	if _, err := sets.Gram(t.Context(), b, []mat.Matrix{good, mat.NewDense(1, 3, nil)}); err == nil {
		t.Error("features of other lengths: no error")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := sets.Gram(ctx, k, []mat.Matrix{good}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	for name, f := range map[string]func(){
		"no sets":        func() { _, _ = sets.Gram(t.Context(), k, nil) },
		"nil set":        func() { _, _ = sets.Gram(t.Context(), k, []mat.Matrix{nil}) },
		"zero kernel":    func() { _, _ = new(sets.Pyramid).Prepare(good) },
		"zero histogram": func() { k.Eval(sets.Histogram{}, must(k.Prepare(good))) },
		"zero match":     func() { _, _ = new(sets.BestMatch).Prepare(good) },
		"zero features":  func() { b.Eval(sets.Features{}, must(b.Prepare(good))) },
		"lengths":        func() { b.Eval(must(b.Prepare(mat.NewDense(1, 3, nil))), must(b.Prepare(good))) },
	} {
		if !panics(f) {
			t.Errorf("%s: no panic", name)
		}
	}
}

// Sizes are checked before there is memory.
func TestSetsLimits(t *testing.T) {
	defer limits.SetMemory(0)
	k := must(sets.NewPyramid(unit(1, 0.25, 0)))
	b := must(sets.NewBestMatch(sets.BestMatchParams{Width: 1}))
	many := mat.NewDense(3000, 1, nil)
	limits.SetMemory(20_000)
	var over *limits.MemoryError
	if _, err := k.Prepare(many); !errors.As(err, &over) {
		t.Errorf("pyramid: %v", err)
	}
	if _, err := b.Prepare(many); !errors.As(err, &over) {
		t.Errorf("best match: %v", err)
	}
	given := make([]mat.Matrix, 60)
	for i := range given {
		given[i] = mat.NewDense(1, 1, nil)
	}
	if _, err := sets.Gram(t.Context(), k, given); !errors.As(err, &over) {
		t.Errorf("Gram: %v", err)
	}
}

func BenchmarkGram(b *testing.B) {
	rng := rand.New(rand.NewPCG(20, 4))
	given := drawn(rng, 200, 80, 4, 0)
	pyramid := must(sets.NewPyramid(unit(4, 1./16, 0)))
	match := must(sets.NewBestMatch(sets.BestMatchParams{Width: 1}))
	b.Run("kernel=pyramid", func(b *testing.B) {
		for b.Loop() {
			must(sets.Gram(b.Context(), pyramid, given))
		}
	})
	b.Run("kernel=best-match", func(b *testing.B) {
		for b.Loop() {
			must(sets.Gram(b.Context(), match, given))
		}
	})
}

// Two sets of numbers from 0 to 8: 1 and 1.2 share a bin of side 1, 4 and 5.5 one of side 2, and 7.9 is left over.
func ExamplePyramid() {
	k, err := sets.NewPyramid(sets.PyramidParams{Low: []float64{0}, High: []float64{8}, Side: []float64{1}})
	if err != nil {
		panic(err)
	}
	a, err := k.Prepare(mat.NewDense(2, 1, []float64{1, 4}))
	if err != nil {
		panic(err)
	}
	b, err := k.Prepare(mat.NewDense(3, 1, []float64{1.2, 5.5, 7.9}))
	if err != nil {
		panic(err)
	}
	fmt.Printf("%d levels, k = (1 + 1/2)/√(2·3) = %.4f\n", k.Levels(), k.Eval(a, b))
	// Output: 4 levels, k = (1 + 1/2)/√(2·3) = 0.6124
}

// A spatial pyramid: positions in the unit square as coordinates, the visual word as a code.
func ExamplePyramid_spatial() {
	k, err := sets.NewPyramid(sets.PyramidParams{Low: []float64{0, 0}, High: []float64{1, 1}, Side: []float64{0.25, 0.25}, Codes: 1})
	if err != nil {
		panic(err)
	}
	g, err := sets.Gram(context.Background(), k, []mat.Matrix{
		mat.NewDense(2, 3, []float64{0.1, 0.1, 7, 0.9, 0.9, 7}),
		mat.NewDense(2, 3, []float64{0.2, 0.2, 7, 0.9, 0.9, 8}), // near, but the second one is another word
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(mat.Formatted(g))
	// Output:
	// ⎡  1  0.5⎤
	// ⎣0.5    1⎦
}

// Nearest features need not be different ones: both features of a are nearest to the one of b.
func ExampleBestMatch() {
	k, err := sets.NewBestMatch(sets.BestMatchParams{Width: 2})
	if err != nil {
		panic(err)
	}
	a, err := k.Prepare(mat.NewDense(2, 1, []float64{0, 2}))
	if err != nil {
		panic(err)
	}
	b, err := k.Prepare(mat.NewDense(1, 1, []float64{0}))
	if err != nil {
		panic(err)
	}
	fmt.Printf("D = %v, k = %.4f\n", k.Distance(a, b), k.Eval(a, b))
	// Output: D = 2, k = 0.3679
}
