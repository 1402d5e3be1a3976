package product

import (
	"fmt"
	"slices"
)

// Hinges are those of large margin nearest neighbours for one row i, with k targets: of each impostor l and each target j
//
//	z = 1 + d²(i, j) − d²(i, l),  d²(i, l) = Own + Sq[l] − 2·Dots[q].
type Hinges struct {
	Near    []int32   // the impostors, ascending rows
	Dots    []float64 // their products with row i
	Sq      []float64 // the squared lengths of all rows
	Own     float64   // that of row i
	Targets []float64 // d²(i, j), k ≥ 1 of them
	Width   float64   // of the envelopes, > 0
	Held    []int32   // those of Near that have multipliers, ascending
	Shift   []float64 // theirs, each at least 0: a plane of len(Held) numbers for each target

	// What Envelopes sets. Terms and A have a plane of len(Near) numbers for each target.
	Terms     []float64 // the first Count of each plane are envelopes, in the order of Near; all others are 0
	Count     int
	At        []int32   // the impostors with a positive multiplier, ascending
	A         []float64 // the first len(At) of each plane are theirs
	Impostors []float64 // their sums over the targets
	Sums      []float64 // and those of each target over the impostors
}

// Envelopes computes the Moreau envelopes of the hinges [z]₊ around their multipliers a, 0 if an impostor is not held, and the
// multipliers b that attain them:
//
//	bz − ½·Width·(b − a)²,  b = min(max(a + z/Width, 0), 1),
//
// the maximum over 0 ≤ b ≤ 1. It has the same bits on every path. It panics if lengths do not fit, or an impostor is none of the rows.
func (h *Hinges) Envelopes() { h.envelopes(current) }

func (h *Hinges) envelopes(p path) {
	n, k := len(h.Near), len(h.Targets)
	if len(h.Dots) != n || k == 0 || len(h.Shift) != k*len(h.Held) {
		panic(fmt.Sprintf("product: %d impostors with %d products, %d targets, and %d multipliers of %d impostors", n, len(h.Dots), k, len(h.Shift), len(h.Held)))
	}
	h.Terms, h.A = slices.Grow(h.Terms[:0], k*n)[:k*n], slices.Grow(h.A[:0], k*n)[:k*n]
	h.At, h.Impostors = slices.Grow(h.At[:0], n)[:n], slices.Grow(h.Impostors[:0], n)[:n]
	h.Sums = slices.Grow(h.Sums[:0], k)[:k]
	clear(h.Sums)
	most, half := slices.Max(h.Targets), h.Width/2
	var done [3]int // impostors of Held, of Count and of At
	q := 0
	if whole := n &^ 3; p >= viaAVX2 && whole > 0 {
		held, shift := &h.Near[0], &h.Dots[0] // whatever there is: a processor takes long to read nothing from where nothing is
		if len(h.Held) > 0 {
			held, shift = &h.Held[0], &h.Shift[0]
		}
		q = whole - hingesAVX2(whole, &h.Near[0], &h.Dots[0], &h.Sq[0], len(h.Sq), held, shift, len(h.Held), 8*len(h.Held), k, &h.Targets[0], &h.Sums[0], &h.Terms[0], &h.A[0], 8*n,
			&h.At[0], &h.Impostors[0], h.Own, most, h.Width, half, &done)
	}
	next, count, kept := done[0], done[1], done[2]
	for ; q < n; q++ {
		l := h.Near[q]
		above := 1 - (h.Own + h.Sq[l] - 2*h.Dots[q])
		held := next < len(h.Held) && h.Held[next] == l
		if above+most <= 0 && !held { // not if it is NaN, which must show in the envelopes
			continue
		}
		var sum float64
		for j, t := range h.Targets {
			var a float64
			if held {
				a = h.Shift[j*len(h.Held)+next]
			}
			z := above + t
			b := min(max(a+z/h.Width, 0), 1)
			step := b - a
			h.Terms[j*n+count], h.A[j*n+kept] = float64(b*z)-float64(half*step*step), b
			h.Sums[j] += b
			sum += b
		}
		count++
		if held {
			next++
		}
		if sum > 0 { // else all are 0
			h.At[kept], h.Impostors[kept] = l, sum
			kept++
		}
	}
	h.Count, h.At, h.Impostors = count, h.At[:kept], h.Impostors[:kept]
}
