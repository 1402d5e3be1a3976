package mapping

import (
	"math"
	"math/rand/v2"

	"metriclab/internal/product"
)

// metropolis is the walk of Algorithm 2: a uniform swap of a member for another prototype, made
// with probability min(1, ω(S')/ω(S)).
type metropolis struct {
	*chain
	unfit bool // a sum of the set that was priced last is not usable
	stale int  // moves since the last rebuild
}

// maxStale bounds the moves between rebuilds. A subtraction leaves at least half of rest, so that
// its relative error at most doubles: it stays below 2¹⁷·2⁻⁵³ ≈ 1.5e-11, and is some 1e-15 as a rule.
const maxStale = 16

func newMetropolis(c *chain) *metropolis { return &metropolis{chain: c} }

func (c *metropolis) step(rng *rand.Rand) {
	s, q := rng.IntN(len(c.set)), rng.IntN(len(c.out))
	u := rng.Float64()
	logSum := c.price(s, q)
	if d := logSum - c.logSum; d >= 0 || u < math.Exp(d) {
		c.move(s, q, logSum)
	}
	c.record()
}

// price returns what logSum is, with the same origins, once the member of slot s is replaced by
// out[q], in O(A).
func (c *metropolis) price(s, q int) float64 {
	t := c.t
	gone, come := t.column(c.set[s]), t.column(c.out[q])
	c.unfit = false
	var total float64
	exponent := 0
	for lo := 0; lo < t.a; lo += block {
		hi := min(lo+block, t.a)
		m := product.SwapProduct(c.sum[lo:hi], gone[lo:hi], c.rest[lo:hi], come[lo:hi], c.owner[lo:hi], s)
		if m.Least < leastExp || m.Most >= -leastExp {
			c.unfit = true
			total, m = c.unfitPrice(s, q, lo, hi, total)
		}
		exponent += m.Sum
		total += math.Log(m.Product)
	}
	return total + float64(exponent)*math.Ln2
}

// unfitPrice is price for the rows from lo to hi, some of which have sums that are not usable: it adds the logarithms of those to total,
// and returns the product of the others.
func (c *metropolis) unfitPrice(s, q, lo, hi int, total float64) (float64, product.Mantissas) {
	t := c.t
	gone, come := t.column(c.set[s]), t.column(c.out[q])
	even, odd, exponent := 1.0, 1.0, 0
	for i := lo; i < hi; i++ {
		stay := c.sum[i] - gone[i]
		if c.owner[i] == s {
			stay = c.rest[i]
		}
		v := stay + come[i]
		if !usable(v) {
			total += t.logRow(i, c.swapped(s, c.out[q]))
			continue
		}
		bits := math.Float64bits(v)
		exponent += int(bits>>52) - 1023
		even, odd = odd, even*math.Float64frombits(bits&mantissa|one)
	}
	return total, product.Mantissas{Product: even * odd, Sum: exponent}
}

// move makes the swap that was priced last, in O(A) and O(m) for each row that loses its largest
// weight or most of the others.
func (c *metropolis) move(s, q int, logSum float64) {
	t := c.t
	come, j := t.column(c.out[q]), c.out[q]
	n := len(come)
	gone, top, rest, sum, owner := t.column(c.set[s])[:n], c.top[:n], c.rest[:n], c.sum[:n], c.owner[:n]
	c.set[s], c.out[q] = j, c.set[s]
	c.moves++
	if c.stale++; c.unfit || c.stale == maxStale {
		c.stale = 0
		c.rebuild()
		return
	}
	c.logSum = logSum
	for i, w := range come {
		switch {
		case owner[i] == s || 2*gone[i] > rest[i]:
			c.row(i)
			continue
		case w > top[i] || w == top[i] && j < c.set[owner[i]]:
			rest[i] += top[i] - gone[i]
			top[i], owner[i] = w, s
		default:
			rest[i] += w - gone[i]
		}
		sum[i] = top[i] + rest[i]
	}
}
