package product

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// someHinges are made up: of n impostors of k targets, about half of them held. Rare ones have products that are huge, infinite or NaN,
// or such that a hinge is at an end of where its multiplier moves.
func someHinges(r *rand.Rand, n, k int, rare bool) *Hinges {
	h := &Hinges{Own: r.Float64(), Width: 0.1, Sq: make([]float64, 2*n+1)}
	for i := range h.Sq {
		h.Sq[i] = r.Float64()
	}
	for range k {
		h.Targets = append(h.Targets, r.Float64())
	}
	some := r.Perm(len(h.Sq))[:n]
	slices.Sort(some)
	share := []float64{0, 0.5, 1}[r.IntN(3)]
	for _, l := range some {
		dot := r.NormFloat64()
		if rare && r.IntN(2) == 0 {
			at := []float64{0, 1e-300, -h.Width, h.Width, math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64}[r.IntN(8)]
			dot = (h.Own + h.Sq[l] - 1 - h.Targets[r.IntN(k)] + at) / 2
		}
		h.Near, h.Dots = append(h.Near, int32(l)), append(h.Dots, dot)
		if r.Float64() < share {
			h.Held = append(h.Held, int32(l))
		}
	}
	for range k * len(h.Held) {
		h.Shift = append(h.Shift, min(max(3*r.Float64()-1, 0), 1))
	}
	return h
}

// TestHinges: the bits of the formula on every path, in memory used before for more of them.
func TestHinges(t *testing.T) {
	r := rand.New(rand.NewPCG(28, 11))
	used := map[path]*Hinges{}
	for n := 40; n >= 0; n-- {
		for range 20 {
			k := 1 + r.IntN(5)
			h := someHinges(r, n, k, r.IntN(2) == 0)
			terms, a, sums := make([][]float64, k), make([][]float64, k), make([]float64, k)
			var at []int32
			var impostors []float64
			for q, l := range h.Near {
				held := slices.Index(h.Held, l)
				above, most := 1-(h.Own+h.Sq[l]-2*h.Dots[q]), slices.Max(h.Targets)
				if held < 0 && above+most <= 0 {
					continue
				}
				var sum float64
				var now []float64
				for j, target := range h.Targets {
					var before float64
					if held >= 0 {
						before = h.Shift[j*len(h.Held)+held]
					}
					z := above + target
					b := min(max(before+z/h.Width, 0), 1)
					terms[j] = append(terms[j], float64(b*z)-float64(h.Width/2*(b-before)*(b-before)))
					sums[j] += b
					sum += b
					now = append(now, b)
				}
				if sum > 0 {
					at, impostors = append(at, l), append(impostors, sum)
					for j, b := range now {
						a[j] = append(a[j], b)
					}
				}
			}
			for _, p := range append([]path{viaGonum}, paths()...) {
				got := used[p]
				if got == nil {
					got = &Hinges{}
					used[p] = got
				}
				got.Near, got.Dots, got.Sq, got.Own, got.Targets, got.Width, got.Held, got.Shift = h.Near, h.Dots, h.Sq, h.Own, h.Targets, h.Width, h.Held, h.Shift
				got.envelopes(p)
				if got.Count != len(terms[0]) || !slices.Equal(got.At, at) || differ(got.Impostors, impostors) >= 0 || differ(got.Sums, sums) >= 0 {
					t.Fatalf("path %d, %d impostors, %d targets: %d count, with multipliers %v, sums %v and %v; want %d, %v, %v, %v", p, n, k, got.Count, got.At, got.Impostors, got.Sums, len(terms[0]), at, impostors, sums)
				}
				for j := range k {
					if i := differ(got.Terms[j*n:][:got.Count], terms[j]); i >= 0 {
						t.Fatalf("path %d, %d impostors: envelope %d of target %d is %v, want %v", p, n, i, j, got.Terms[j*n+i], terms[j][i])
					}
					if i := differ(got.A[j*n:][:len(at)], a[j]); i >= 0 {
						t.Fatalf("path %d, %d impostors: multiplier %d of target %d is %v, want %v", p, n, i, j, got.A[j*n+i], a[j][i])
					}
				}
			}
		}
	}
}

// What does not fit is refused on every path, and so is an impostor that is none of the rows.
func TestHingesRefuse(t *testing.T) {
	for name, spoil := range map[string]func(h *Hinges){
		"product: 9 impostors with 8 products": func(h *Hinges) { h.Dots = h.Dots[1:] },
		"product: 9 impostors with 9 products, 0 targets": func(h *Hinges) {
			h.Targets = nil
		},
		"and 1 multipliers of 0 impostors": func(h *Hinges) { h.Held, h.Shift = nil, []float64{1} },
		"index out of range [-1]":          func(h *Hinges) { h.Near[1] = -1 },
		"index out of range [19]":          func(h *Hinges) { h.Near[8] = 19 },
		"index out of range [2147483647]":  func(h *Hinges) { h.Near[7] = math.MaxInt32 },
	} {
		for _, p := range append([]path{viaGonum}, paths()...) {
			h := someHinges(rand.New(rand.NewPCG(3, 4)), 9, 2, false)
			spoil(h)
			func() {
				defer func() {
					var got string
					switch x := recover().(type) {
					case string:
						got = x
					case error:
						got = x.Error()
					}
					if !strings.Contains(got, name) {
						t.Errorf("path %d: panic %q, want %q", p, got, name)
					}
				}()
				h.envelopes(p)
			}()
		}
	}
}
