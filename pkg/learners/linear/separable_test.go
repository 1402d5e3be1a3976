package linear

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

type point struct{ x, y int64 }

// slowSeparable decides strict separability of two planar sets exactly. Sets can
// be separated iff some line through a point p of a and q of b has all of a on
// one closed side, all of b on the other, and the two apart on the line itself.
// (Turn a separating line until it touches both; turn it back a little.)
func slowSeparable(a, b []point) bool {
	for _, p := range a {
		for _, q := range b {
			dx, dy := q.x-p.x, q.y-p.y
			if dx == 0 && dy == 0 {
				return false
			}
			for _, side := range []int64{1, -1} {
				ok := true
				last, first := int64(math.MinInt64), int64(math.MaxInt64) // of a and b along the line
				for _, r := range a {
					s := side * (dx*(r.y-p.y) - dy*(r.x-p.x))
					ok = ok && s >= 0
					if s == 0 {
						last = max(last, dx*(r.x-p.x)+dy*(r.y-p.y))
					}
				}
				for _, r := range b {
					s := side * (dx*(r.y-p.y) - dy*(r.x-p.x))
					ok = ok && s <= 0
					if s == 0 {
						first = min(first, dx*(r.x-p.x)+dy*(r.y-p.y))
					}
				}
				if ok && last < first {
					return true
				}
			}
		}
	}
	return false
}

func stack(a, b []point, scale, shift float64) (*mat.Dense, []int) {
	x := mat.NewDense(len(a)+len(b), 2, nil)
	y := make([]int, len(a)+len(b))
	for i, p := range append(append([]point{}, a...), b...) {
		x.SetRow(i, []float64{scale*float64(p.x) + shift, scale*float64(p.y) - shift})
		if i >= len(a) {
			y[i] = 1
		}
	}
	return x, y
}

// TestSeparableEqualsReference draws integer points on small grids, where
// touching hulls, shared points and collinear sets are common.
func TestSeparableEqualsReference(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	counts := map[bool]int{}
	trials := 600
	if testing.Short() {
		trials = 200
	}
	for trial := range trials {
		n := 2 + rng.IntN(8)
		if trial%4 == 0 {
			n = 100 + rng.IntN(100)
		}
		size := int64(3 + rng.IntN(40))
		// Points on either side of a random line, moved towards or over it.
		nx, ny := rng.Int64N(7)-3, rng.Int64N(7)-3
		slack := rng.Int64N(4) - 1
		var a, b []point
		for range n {
			p := point{rng.Int64N(2*size+1) - size, rng.Int64N(2*size+1) - size}
			s := nx*p.x + ny*p.y
			if s >= slack {
				a = append(a, p)
			}
			if s <= -slack {
				b = append(b, p)
			}
		}
		if len(a) == 0 || len(b) == 0 {
			continue
		}
		want := slowSeparable(a, b)
		counts[want]++
		// Neither scale nor shift may matter.
		for _, f := range []struct{ scale, shift float64 }{{1, 0}, {1e-6, 0.1}, {1e9, -3e8}} {
			x, y := stack(a, b, f.scale, f.shift)
			got, margin, err := LinearlySeparable(x, y)
			if err != nil {
				t.Fatalf("trial %d: %v", trial, err)
			}
			if got != want {
				t.Fatalf("trial %d, scale %g: separable = %v, the reference says %v\na = %v\nb = %v", trial, f.scale, got, want, a, b)
			}
			if (margin > 0) != got {
				t.Errorf("trial %d: separable = %v with margin %v", trial, got, margin)
			}
		}
	}
	if counts[true] < trials/10 || counts[false] < trials/10 {
		t.Errorf("%d separable and %d inseparable sets: the test has lost its balance", counts[true], counts[false])
	}
}

// TestSeparableMargin builds sets with a known margin: points at least h from a
// random hyperplane in d dimensions, with the nearest ones facing each other.
func TestSeparableMargin(t *testing.T) {
	const tol = 1e-9 // relative; the gap at which Wolfe's algorithm stops, and round-off
	rng := rand.New(rand.NewPCG(4, 2))
	for _, d := range []int{1, 2, 3, 10, 30} {
		for _, h := range []float64{1e-6, 0.01, 1, 50} {
			w := make([]float64, d)
			for j := range w {
				w[j] = rng.NormFloat64()
			}
			floats.Scale(1/floats.Norm(w, 2), w)
			const n = 60
			x := mat.NewDense(n, d, nil)
			y := make([]int, n)
			base := make([]float64, d) // where the two sets come closest
			for i := range n {
				row := x.RawRowView(i)
				y[i] = 3 + 4*(i%2)
				sign := float64(1 - 2*(i%2))
				if i < 2 {
					copy(row, base)
					floats.AddScaled(row, sign*h, w)
					continue
				}
				for j := range row {
					row[j] = rng.NormFloat64()
				}
				floats.AddScaled(row, sign*(h+rng.Float64())-floats.Dot(row, w), w)
			}
			ok, margin, err := LinearlySeparable(x, y)
			if err != nil {
				t.Fatal(err)
			}
			// The nearest points differ by exactly 2h w, and no others are nearer.
			if !ok || math.Abs(margin-h) > tol*h+1e-14 {
				t.Errorf("d = %d: separable = %v with margin %v, want %v", d, ok, margin, h)
			}
		}
	}
}

func TestSeparableSpecialSets(t *testing.T) {
	for name, c := range map[string]struct {
		x    []float64 // in the plane
		y    []int
		want bool
	}{
		"two points":             {[]float64{0, 0, 1, 0}, []int{0, 1}, true},
		"one point twice":        {[]float64{2, 3, 2, 3}, []int{0, 1}, false},
		"exclusive or":           {[]float64{0, 0, 1, 1, 0, 1, 1, 0}, []int{0, 0, 1, 1}, false},
		"touching at a corner":   {[]float64{0, 0, 1, 1, 1, 1, 2, 0}, []int{0, 0, 1, 1}, false},
		"point on an edge":       {[]float64{0, 0, 0, 2, 0, 1}, []int{0, 0, 1}, false},
		"point beside an edge":   {[]float64{0, 0, 0, 2, 1e-6, 1}, []int{0, 0, 1}, true},
		"closer than tolerance":  {[]float64{0, 0, 0, 2, 1e-10, 1}, []int{0, 0, 1}, false},
		"collinear, interleaved": {[]float64{0, 0, 1, 1, 2, 2, 3, 3}, []int{0, 1, 0, 1}, false},
		"collinear, apart":       {[]float64{0, 0, 1, 1, 2, 2, 3, 3}, []int{0, 0, 1, 1}, true},
		"point inside":           {[]float64{0, 0, 4, 0, 0, 4, 1, 1}, []int{0, 0, 0, 1}, false},
	} {
		got, _, err := LinearlySeparable(mat.NewDense(len(c.y), 2, c.x), c.y)
		if err != nil || got != c.want {
			t.Errorf("%s: separable = %v, error %v, want %v", name, got, err, c.want)
		}
	}
}

func TestSeparableErrors(t *testing.T) {
	x := mat.NewDense(2, 1, []float64{0, 1})
	separable := func(x *mat.Dense, y ...int) error { _, _, err := LinearlySeparable(x, y); return err }
	for want, err := range map[string]error{
		"1 classes, want exactly 2":     separable(x, 4, 4),
		"3 classes, want exactly 2":     separable(mat.NewDense(3, 1, nil), 1, 2, 3),
		"0 classes, want exactly 2":     separable(&mat.Dense{}),
		"1 labels for 2 rows":           separable(x, 1),
		"row 1, column 0: NaN":          separable(mat.NewDense(2, 1, []float64{0, math.NaN()}), 0, 1),
		"overflow float64: rescale the": separable(mat.NewDense(2, 2, []float64{-1.7e308, -1.7e308, 1.7e308, 1.7e308}), 0, 1),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}

func ExampleLinearlySeparable() {
	x := mat.NewDense(4, 2, []float64{0, 0, 0, 2, 3, 0, 3, 2})
	fmt.Println(LinearlySeparable(x, []int{0, 0, 1, 1}))
	fmt.Println(LinearlySeparable(x, []int{0, 1, 1, 0}))
	// Output:
	// true 1.5 <nil>
	// false 0 <nil>
}
