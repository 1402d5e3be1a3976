package nb

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// A configuration that was moved, rotated and reflected comes back.
func TestAligned(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	for range 20 {
		y, x := mat.NewDense(5, 2, nil), mat.NewDense(5, 2, nil)
		s, c := math.Sincos(2 * math.Pi * rng.Float64())
		for i := range 5 {
			a, b := rng.NormFloat64(), rng.NormFloat64()
			y.SetRow(i, []float64{a, b})
			x.SetRow(i, []float64{c*a + s*b + 3, s*a - c*b - 7}) // a reflection
		}
		// A few products of numbers below 10.
		if got := Aligned(x, y); !mat.EqualApprox(got, y, 1e-12) {
			t.Errorf("got\n%v\nwant\n%v", mat.Formatted(got), mat.Formatted(y))
		}
	}
}

// No turn on a fine grid is nearer than that of Aligned, and distances are kept.
func TestAlignedIsNearest(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 0))
	x, y := mat.NewDense(6, 2, nil), mat.NewDense(6, 2, nil)
	for i := range 6 {
		x.SetRow(i, []float64{rng.NormFloat64(), rng.NormFloat64()})
		y.SetRow(i, []float64{rng.NormFloat64(), rng.NormFloat64()})
	}
	apart := func(a, b *mat.Dense) float64 {
		var d mat.Dense
		d.Sub(a, b)
		return mat.Norm(&d, 2)
	}
	got := Aligned(x, y)
	from, to := centred(x), centred(y)
	least := apart(got, y)
	for k := range 720 {
		s, c := math.Sincos(math.Pi * float64(k) / 360)
		for _, sign := range []float64{1, -1} {
			var turned mat.Dense
			turned.Mul(from, mat.NewDense(2, 2, []float64{c, sign * s, -s, sign * c}))
			if d := apart(&turned, to); d < least-1e-12 {
				t.Errorf("turned by %d half degrees and reflected by %v: at distance %v, below %v", k, sign, d, least)
			}
		}
	}
	for i := range 6 {
		for j := range i {
			before := math.Hypot(x.At(i, 0)-x.At(j, 0), x.At(i, 1)-x.At(j, 1))
			after := math.Hypot(got.At(i, 0)-got.At(j, 0), got.At(i, 1)-got.At(j, 1))
			if math.Abs(before-after) > 1e-12 {
				t.Errorf("points %d and %d were %v apart, are %v", i, j, before, after)
			}
		}
	}
}

func TestAlignedShapes(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	Aligned(mat.NewDense(3, 2, nil), mat.NewDense(4, 2, nil))
}
