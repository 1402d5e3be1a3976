package product

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestSwapProduct: the same on every path; and the product of the sums to round-off, against arbitrary precision.
func TestSwapProduct(t *testing.T) {
	r := rand.New(rand.NewPCG(28, 12))
	const slots, tol = 3, 1e-13 // some 40 products, each rounded
	for n := 1; n < 40; n++ {
		for trial := range 20 {
			var v [4][]float64
			var owner []int
			exact := big.NewFloat(1)
			for range n {
				come, gone := math.Ldexp(r.Float64()+0.1, r.IntN(60)-30), math.Ldexp(r.Float64(), r.IntN(20)-30)
				sum, rest, o := gone+math.Ldexp(r.Float64(), -5), r.Float64(), r.IntN(slots)
				if trial%4 == 3 && r.IntN(8) == 0 {
					sum = []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, gone, math.MaxFloat64}[r.IntN(6)]
					come = []float64{0, come, math.SmallestNonzeroFloat64}[r.IntN(3)]
				}
				for k, x := range []float64{sum, gone, rest, come} {
					v[k] = append(v[k], x)
				}
				owner = append(owner, o)
				if trial%4 != 3 {
					stay := sum - gone
					if o == 1 {
						stay = rest
					}
					exact.Mul(exact, big.NewFloat(stay+come))
				}
			}
			want := swapProduct(viaGonum, v[0], v[1], v[2], v[3], owner, 1)
			if trial%4 != 3 {
				got := new(big.Float).SetMantExp(big.NewFloat(want.Product), want.Sum)
				if ratio, _ := got.Quo(got, exact).Float64(); math.Abs(ratio-1) > tol {
					t.Errorf("%d numbers: the product is off by %v", n, ratio-1)
				}
			}
			for _, p := range paths() {
				if got := swapProduct(p, v[0], v[1], v[2], v[3], owner, 1); got != want {
					t.Errorf("path %d, %d numbers: %+v, want %+v", p, n, got, want)
				}
			}
		}
	}
}

// TestSwapProductRange: what is no positive normal number shows in the bounds on the exponents, wherever it stands.
func TestSwapProductRange(t *testing.T) {
	ones := func() []float64 {
		x := make([]float64, 11)
		for i := range x {
			x[i] = 1
		}
		return x
	}
	for _, p := range append([]path{viaGonum}, paths()...) {
		for i := range 11 {
			for _, c := range []struct {
				v           float64
				least, most int
			}{{1, 0, 0}, {0, -1023, 0}, {0x1p-1030, -1023, 0}, {0x1p-481, -481, 0}, {0x1p480, 0, 480}, {-1, 0, 1024}, {math.Inf(1), 0, 1024}, {math.NaN(), 0, 1024}} {
				come := ones()
				come[i] = c.v
				m := swapProduct(p, ones(), ones(), ones(), come, make([]int, 11), 1)
				if m.Least != c.least || m.Most < c.most || c.most < 1024 && m.Most != c.most {
					t.Errorf("path %d, %v at %d: exponents from %d to %d, want %d to %d", p, c.v, i, m.Least, m.Most, c.least, c.most)
				}
			}
		}
	}
}
