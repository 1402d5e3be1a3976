package product

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestEnvelopes: the bits of the formula on every path, with what is not a number too, and nothing beyond the slices changes. Half of
// the hinges are at an end of where the multiplier moves.
func TestEnvelopes(t *testing.T) {
	r := rand.New(rand.NewPCG(28, 11))
	const width = 0.1
	ends := []float64{0, math.Copysign(0, -1), width, -width, math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64, math.SmallestNonzeroFloat64}
	for n := range 20 {
		for range 20 {
			var a, z, nexta, nextz []float64
			for range n + 1 {
				s, h := min(max(3*r.Float64()-1, 0), 1), 3*width*r.NormFloat64()
				if r.IntN(2) == 0 {
					h = ends[r.IntN(len(ends))]
				}
				a, z = append(a, s), append(z, h)
				b := min(max(s+h/width, 0), 1)
				nexta, nextz = append(nexta, b), append(nextz, float64(b*h)-float64(width/2*(b-s)*(b-s)))
			}
			nexta[n], nextz[n] = a[n], z[n]
			for _, p := range append([]path{viaGonum}, paths()...) {
				gota, gotz := slices.Clone(a), slices.Clone(z)
				envelopes(p, gota[:n], gotz[:n], width)
				if i := differ(gota, nexta); i >= 0 {
					t.Fatalf("path %d, %d hinges: %v at multiplier %v has multiplier %v, want %v", p, n, z[i], a[i], gota[i], nexta[i])
				}
				if i := differ(gotz, nextz); i >= 0 {
					t.Fatalf("path %d, %d hinges: the envelope of %v at multiplier %v is %v, want %v", p, n, z[i], a[i], gotz[i], nextz[i])
				}
			}
		}
	}
}
