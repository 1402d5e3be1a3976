package mapping

import (
	"math"
	"math/rand/v2"
)

// heatBath is a walk with the same law as Algorithm 2 that weighs m swaps at a time. It draws a prototype
// s' from outside S uniformly, and then which member x of V = S ∪ {s'} is to go, with probability q_V(x)
// about proportional to ω(V∖x); x = s' leaves S as it is. The swap is made with probability min(1,
// ω(S')·q_V(s')/(ω(S)·q_V(x))), S' = V∖x. With q_V(x) exactly proportional to ω(V∖x) that would be Gibbs
// sampling of S given V, a heat bath, and no swap would be turned down.
//
// It is in detailed balance with P(S) ∝ ω(S): V is drawn with probability 1/(B−m) both from S and
// from S', and q depends on V alone, so that P(S)·Pr(S→S') = min(ω(S)·q_V(x), ω(S')·q_V(s'))/((B−m)·Σω) is
// symmetric in S and S'. Proposals that know the law are treated by Zanella, Informed proposals for
// local MCMC in discrete spaces, JASA 115, 2020.
//
// As in FasterPAM all m+1 weights share their sums. Let R and v be the sums of row i over V without and with
// its largest weight (of equal ones that of the lowest prototype). If the owner of that goes, the row is multiplied by R/v;
// if another member does, by 1 − R/(mv) on average. So
//
//	q_V(x) ∝ Π_{rows that x owns} (R/v)/(1 − R/(mv)),
//
// which is right for equal weights and where each row has one weight that counts, and takes O(A) for all x
// together; the one swap that is drawn is priced exactly.
//
// In between, where several weights of a row count, q can be far from ω. Therefore every step is with probability ½ one of
// Algorithm 2; a mixture of steps in detailed balance is in detailed balance.
type heatBath struct {
	*metropolis
	q     []float64 // of each slot, then of s'
	banks []float64 // products for q, of which consecutive rows use different ones
}

const (
	banks = 4
	// leastQ = 2⁻⁴⁰⁰ bounds q from below. A factor that is not less has a numerator of at least 2⁻⁸⁸⁰, since sums are
	// in the range in which they are used: no underflow makes q depend on the origins of rows.
	leastQ = 1.0 / (1 << 50) / (1 << 50) / (1 << 50) / (1 << 50) / (1 << 50) / (1 << 50) / (1 << 50) / (1 << 50)
)

func newHeatBath(c *chain) *heatBath {
	n := len(c.set) + 1
	return &heatBath{metropolis: newMetropolis(c), q: make([]float64, n), banks: make([]float64, banks*n)}
}

func (c *heatBath) step(rng *rand.Rand) {
	if rng.Uint64()&1 == 0 {
		c.metropolis.step(rng)
	} else {
		c.swap(rng)
	}
}

// swap is the other half of the steps.
func (c *heatBath) swap(rng *rand.Rand) {
	q := rng.IntN(len(c.out))
	s := pick(c.q, c.weigh(q), rng)
	if last := len(c.set); s < last {
		u := rng.Float64()
		logSum := c.price(s, q)
		if u*c.q[s] < c.q[last]*math.Exp(logSum-c.logSum) {
			c.move(s, q, logSum)
		}
	}
	c.record()
}

// weigh sets q for V = S ∪ {out[q]}, up to a factor, and returns the sum.
func (c *heatBath) weigh(q int) float64 {
	j := c.out[q]
	come := c.t.column(j)
	n := len(come)
	top, rest, sum, owner := c.top[:n], c.rest[:n], c.sum[:n], c.owner[:n]
	share := 1 / float64(len(c.set))
	for k := range c.banks {
		c.banks[k] = 1
	}
	for i, w := range come {
		s, stay := owner[i], rest[i]+w
		if w >= top[i] && (w > top[i] || j < c.set[s]) {
			s, stay = len(c.set), sum[i]
		}
		c.banks[s*banks+i%banks] *= stay / (sum[i] + w - share*stay)
	}
	var total float64
	for s := range c.q {
		p := 1.0
		for _, f := range c.banks[s*banks : (s+1)*banks] {
			p *= f
		}
		c.q[s] = max(p, leastQ)
		total += c.q[s]
	}
	return total
}
