package product

import "fmt"

// Envelopes replaces hinges z and multipliers a, each a[i] ≥ 0 or NaN, by
//
//	z[i] = bz − ½·width·(b − a[i])²,  a[i] = b = min(max(a[i] + z[i]/width, 0), 1)
//
// that is by the Moreau envelope of [z]₊ around a[i], the maximum over 0 ≤ b ≤ 1, and by the b that attains it. It has
// the same bits on every path. It panics if lengths differ.
func Envelopes(a, z []float64, width float64) { envelopes(current, a, z, width) }

func envelopes(p path, a, z []float64, width float64) {
	if len(a) != len(z) {
		panic(fmt.Sprintf("product: %d multipliers for %d hinges", len(a), len(z)))
	}
	half := width / 2
	if whole := len(z) &^ 3; p >= viaAVX2 && whole > 0 {
		envelopesAVX2(whole, &a[0], &z[0], width, half)
		a, z = a[whole:], z[whole:]
	}
	for i, h := range z {
		b := min(max(a[i]+h/width, 0), 1)
		step := b - a[i]
		a[i], z[i] = b, float64(b*h)-float64(half*step*step)
	}
}
