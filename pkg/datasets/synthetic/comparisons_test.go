package synthetic

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/metric"
)

func gaussian(t testing.TB, seed uint64, n, d int) *Comparisons {
	t.Helper()
	c, err := GaussianComparisons(newRand(seed), n, d)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// linear returns XXᵀ, which has the distances of the points.
func linear(c *Comparisons) *mat.SymDense {
	k := mat.NewSymDense(c.Objects(), nil)
	k.SymOuterK(1, c.Points())
	return k
}

// TestComparisonsAreAllQuestions compares All, At, Answer and index with the questions
// and answers taken from the definition.
func TestComparisonsAreAllQuestions(t *testing.T) {
	for _, n := range []int{3, 4, 9} {
		c := gaussian(t, uint64(n), n, 2)
		want := map[metric.Triplet]bool{}
		for h := range n {
			for i := range n {
				for j := range i {
					if h == i || h == j {
						continue
					}
					a := metric.Triplet{A: h, Near: i, Far: j}
					x := c.Points()
					if (metric.Euclidean{}).SqDist(x.RawRowView(h), x.RawRowView(j)) < (metric.Euclidean{}).SqDist(x.RawRowView(h), x.RawRowView(i)) {
						a.Near, a.Far = j, i
					}
					want[a] = true
				}
			}
		}
		if len(want) != c.Len() || c.Len() != n*(n-1)*(n-2)/2 {
			t.Fatalf("n = %d: %d comparisons, want %d", n, c.Len(), len(want))
		}
		i := 0
		for a := range c.All() {
			if a != c.At(i) || c.index(a) != i || c.index(metric.Triplet{A: a.A, Near: a.Far, Far: a.Near}) != i || a != c.Answer(a.A, a.Near, a.Far) || a != c.Answer(a.A, a.Far, a.Near) {
				t.Fatalf("n = %d: comparison %d is %v, by At %v of number %d, by Answer %v", n, i, a, c.At(i), c.index(a), c.Answer(a.A, a.Near, a.Far))
			}
			if !want[a] {
				t.Errorf("n = %d: %v is none, or stands twice", n, a)
			}
			delete(want, a)
			i++
		}
		if len(want) > 0 {
			t.Errorf("n = %d: %d comparisons are left out", n, len(want))
		}
	}
}

func TestUnpair(t *testing.T) {
	r := 0
	for i := 1; i < 200; i++ {
		for j := range i {
			if gi, gj := unpair(r); gi != i || gj != j {
				t.Fatalf("unpair(%d) = %d, %d, want %d, %d", r, gi, gj, i, j)
			}
			r++
		}
	}
	const i = 2_000_000 // the largest number of points is a little more
	for _, j := range []int{0, 1, i - 1} {
		if gi, gj := unpair(i*(i-1)/2 + j); gi != i || gj != j {
			t.Errorf("pair %d, %d comes back as %d, %d", i, j, gi, gj)
		}
	}
}

func TestSmallSyntheticOfHeim(t *testing.T) {
	if got := gaussian(t, 1, 100, 50).Len(); got != 485100 { // Section 5.1
		t.Errorf("%d comparisons, want 485100", got)
	}
}

func TestComparisonsRefuse(t *testing.T) {
	for name, tc := range map[string]struct {
		x    []float64
		want string
	}{
		"two points": {[]float64{1, 2}, "2 points, want at least 3"},
		"tie":        {[]float64{-1, 0, 1}, "point 1"},
		"duplicate":  {[]float64{5, 5, 1}, "the squared distance 16 from point 2"},
		"nan":        {[]float64{1, 2, math.NaN()}, "point 2, coordinate 0: NaN"},
		"overflow":   {[]float64{1, 1e200, -1e200}, "overflow"},
	} {
		if _, err := NewComparisons(mat.NewDense(len(tc.x), 1, tc.x)); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v does not say %q", name, err, tc.want)
		}
	}
	for _, tc := range []struct {
		n, d int
		want string
	}{{2, 1, "n: 2"}, {3, 0, "d: 0"}} {
		if _, err := GaussianComparisons(newRand(1), tc.n, tc.d); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("error %v does not say %q", err, tc.want)
		}
	}
}

func TestComparisonsKeepACopy(t *testing.T) {
	x := mat.NewDense(3, 1, []float64{0, 1, 3})
	c, err := NewComparisons(x)
	if err != nil {
		t.Fatal(err)
	}
	before := slices.Collect(c.All())
	x.Set(2, 0, 1.5)
	if after := slices.Collect(c.All()); !slices.Equal(before, after) {
		t.Errorf("comparisons changed from %v to %v", before, after)
	}
}

func TestComparisonsSample(t *testing.T) {
	c := gaussian(t, 1, 9, 3)
	parts, err := c.Sample(newRand(2), 100, 0, 52, 100)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[metric.Triplet]bool{}
	for _, part := range parts {
		for _, a := range part {
			if seen[a] || a != c.At(c.index(a)) {
				t.Errorf("%v stands twice or is wrong", a)
			}
			seen[a] = true
		}
	}
	if len(parts) != 4 || len(parts[2]) != 52 || len(seen) != c.Len() {
		t.Errorf("%d parts with %d of %d comparisons", len(parts), len(seen), c.Len())
	}
	// The draws are those of Choose, which TestChoose covers.
	some, err := c.Sample(newRand(3), 7)
	if err != nil {
		t.Fatal(err)
	}
	for k, i := range sample.Choose(newRand(3), c.Len(), 7) {
		if some[0][k] != c.At(i) {
			t.Errorf("draw %d is %v, want %v", k, some[0][k], c.At(i))
		}
	}
	for _, sizes := range [][]int{{-1}, {253}, {200, 53}} {
		if _, err := c.Sample(newRand(2), sizes...); err == nil || !strings.Contains(err.Error(), "sizes[") {
			t.Errorf("sizes %v: error %v", sizes, err)
		}
	}
}

// slowErrors counts over a list.
func slowErrors(k mat.Symmetric, ts []metric.Triplet, tol float64) (strict, half float64) {
	for _, a := range ts {
		near := k.At(a.A, a.A) + k.At(a.Near, a.Near) - 2*k.At(a.A, a.Near)
		far := k.At(a.A, a.A) + k.At(a.Far, a.Far) - 2*k.At(a.A, a.Far)
		switch {
		case math.Abs(near-far) <= tol*max(math.Abs(near), math.Abs(far)):
			strict, half = strict+1, half+.5
		case near > far:
			strict, half = strict+1, half+1
		}
	}
	n := float64(len(ts))
	return strict / n, half / n
}

func TestComparisonsErrors(t *testing.T) {
	const tol = 1e-12
	c := gaussian(t, 1, 12, 4)
	other := linear(gaussian(t, 2, 12, 4))
	same := linear(c)
	identity := mat.NewSymDense(12, nil)
	for i := range 12 {
		identity.SetSym(i, i, 1)
	}
	blocks := mat.NewSymDense(12, nil) // many ties and many errors
	for i := range 12 {
		for j := range i + 1 {
			if i/3 == j/3 {
				blocks.SetSym(i, j, 1)
			}
		}
	}
	parts, err := c.Sample(newRand(3), 50)
	if err != nil {
		t.Fatal(err)
	}
	without := slices.Concat(parts[0], parts[0][:3]) // some twice, one turned round
	without[0].Near, without[0].Far = without[0].Far, without[0].Near
	var rest []metric.Triplet
	for a := range c.All() {
		if !slices.Contains(parts[0], a) {
			rest = append(rest, a)
		}
	}
	for name, tc := range map[string]struct {
		k            mat.Symmetric
		strict, half float64 // over all; −1 if only the reference knows
	}{
		"truth":    {same, 0, 0},
		"identity": {identity, 1, .5}, // a tie is no success
		"other":    {other, -1, -1},
		"blocks":   {blocks, -1, -1},
	} {
		strict, half := c.Errors(tc.k, tol)
		wantStrict, wantHalf := slowErrors(tc.k, slices.Collect(c.All()), tol)
		if strict != wantStrict || half != wantHalf || tc.strict >= 0 && (strict != tc.strict || half != tc.half) {
			t.Errorf("%s: errors %v, %v, want %v, %v", name, strict, half, wantStrict, wantHalf)
		}
		strict, half = c.Errors(tc.k, tol, without...)
		wantStrict, wantHalf = slowErrors(tc.k, rest, tol)
		if strict != wantStrict || half != wantHalf {
			t.Errorf("%s, without some: errors %v, %v, want %v, %v", name, strict, half, wantStrict, wantHalf)
		}
	}
	// Three equal points, whose squared distances round-off made negative.
	c3, err := NewComparisons(mat.NewDense(3, 1, []float64{0, 1, 3}))
	if err != nil {
		t.Fatal(err)
	}
	a := 1 + 0x1p-52
	if strict, half := c3.Errors(mat.NewSymDense(3, []float64{1, a, a, a, 1, a, a, a, 1}), tol); strict != 1 || half != .5 {
		t.Errorf("equal points: errors %v, %v, want 1, 0.5", strict, half)
	}
	nan := mat.NewSymDense(12, nil)
	nan.SetSym(3, 4, math.NaN())
	for name, f := range map[string]func(){
		"order":   func() { c.Errors(mat.NewSymDense(11, nil), tol) },
		"NaN":     func() { c.Errors(nan, tol) },
		"nothing": func() { c.Errors(same, tol, slices.Collect(c.All())...) },
		"range":   func() { c.Errors(same, tol, metric.Triplet{A: 0, Near: 1, Far: 12}) },
		"At":      func() { c.At(c.Len()) },
		"Answer":  func() { c.Answer(1, 1, 2) },
	} {
		if !panics(f) {
			t.Errorf("%s: no panic", name)
		}
	}
}

func panics(f func()) (yes bool) {
	defer func() { yes = recover() != nil }()
	f()
	return false
}

func ExampleGaussianComparisons() {
	c, err := GaussianComparisons(rand.New(rand.NewPCG(1, 2)), 100, 50)
	if err != nil {
		fmt.Println(err)
		return
	}
	parts, err := c.Sample(rand.New(rand.NewPCG(3, 4)), 10000)
	if err != nil {
		fmt.Println(err)
		return
	}
	identity := mat.NewDiagDense(100, slices.Repeat([]float64{1}, 100))
	strict, half := c.Errors(identity, 1e-12, parts[0]...)
	fmt.Println(c.Len(), "comparisons; the identity's error on the others:", strict, "and, a tie being half an error,", half)
	// Output: 485100 comparisons; the identity's error on the others: 1 and, a tie being half an error, 0.5
}

func BenchmarkComparisons(b *testing.B) {
	for _, n := range []int{100, 500} {
		c := gaussian(b, 1, n, 50)
		k := linear(gaussian(b, 2, n, 50))
		b.Run(fmt.Sprintf("alg=Comparisons.Errors/n=%d", n), func(b *testing.B) {
			for b.Loop() {
				c.Errors(k, 1e-12)
			}
		})
	}
	for _, n := range []int{100, 5000} {
		b.Run(fmt.Sprintf("alg=GaussianComparisons/n=%d", n), func(b *testing.B) {
			for b.Loop() {
				gaussian(b, 1, n, 50)
			}
		})
		c := gaussian(b, 1, n, 50)
		b.Run(fmt.Sprintf("alg=Comparisons.Sample/n=%d/m=60000", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := c.Sample(newRand(1), 10000, 50000); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
