package mapping

import "slices"

// chain is a random walk over the sets of m prototypes whose law tends to P(S) ∝ ω(S) = Πᵢ
// Σ_{j in S} w[i, j]. A slot is a position in set.
type chain struct {
	t   *weights
	set []int // in no order
	out []int // the other prototypes

	// Per row, over the members of set: the largest weight, its slot (of equal ones that of the lowest prototype), the sum of the other weights (added
	// up, never a difference of nearly equal numbers), and the sum of all.
	top   []float64
	owner []int
	rest  []float64
	sum   []float64

	logSum float64 // Σ ln sum
	origin float64 // −η Σ origin, so that ln ω(S) = logSum + origin

	trace []float64 // ln ω(S) after each step of the walk
	moves int
}

// newChain starts at set, which is copied and sorted.
func newChain(t *weights, set []int) *chain {
	c := &chain{t: t, set: slices.Sorted(slices.Values(set))}
	c.out = complement(c.set, t.b)
	c.top, c.rest, c.sum = make([]float64, t.a), make([]float64, t.a), make([]float64, t.a)
	c.owner = make([]int, t.a)
	c.rebuild()
	return c
}

// rebuild computes all that depends on set anew, in O(Am).
func (c *chain) rebuild() {
	t := c.t
	copy(c.top, t.column(c.set[0]))
	clear(c.owner)
	clear(c.rest)
	for k, j := range c.set[1:] {
		for i, w := range t.column(j) {
			if w > c.top[i] || w == c.top[i] && j < c.set[c.owner[i]] {
				c.rest[i] += c.top[i]
				c.top[i], c.owner[i] = w, k+1
			} else {
				c.rest[i] += w
			}
		}
	}
	c.origin = 0
	for i := range c.sum {
		if c.sum[i] = c.top[i] + c.rest[i]; !usable(c.sum[i]) {
			t.recentre(i, c.set)
			c.row(i)
		}
		c.origin -= t.eta * t.origin[i]
	}
	c.logSum = logProduct(c.top, c.rest, func(int) float64 { panic("mapping: a sum around its own origin is not usable") })
}

// row computes row i anew, in O(m).
func (c *chain) row(i int) {
	t := c.t
	top, rest, owner := t.w[c.set[0]*t.a+i], 0.0, 0
	for k, j := range c.set[1:] {
		if w := t.w[j*t.a+i]; w > top || w == top && j < c.set[owner] {
			rest += top
			top, owner = w, k+1
		} else {
			rest += w
		}
	}
	c.top[i], c.rest[i], c.owner[i], c.sum[i] = top, rest, owner, top+rest
}

// record adds the current set to the trace.
func (c *chain) record() { c.trace = append(c.trace, c.logSum+c.origin) }

// swapped returns set with the member of slot s replaced by j.
func (c *chain) swapped(s, j int) []int {
	set := slices.Clone(c.set)
	set[s] = j
	return set
}
