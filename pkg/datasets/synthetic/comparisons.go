// Package synthetic makes data that need no file: glyphs, faces, news stories, rings, mixtures of Gaussians,
// separable pairs, and all comparisons of points. Randomness is always an argument; the same generator
// state gives the same data.
package synthetic

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
)

// Comparisons are all n(n−1)(n−2)/2 comparisons of n points by their Euclidean
// distances: which of two others is closer to a head. They are not stored but
// computed when they are asked for: 485,100 for n = 100, 6·10¹⁰ for n = 5000.
//
// They are numbered from 0 head by head, and for a head by the pairs of others, the
// pair of the i-th and the j-th other, j < i, being the i(i−1)/2 + j-th.
//
// A Comparisons is not changed by its methods, which are safe for concurrent use.
type Comparisons struct {
	x *mat.Dense // n×d
}

// NewComparisons returns the comparisons of the rows of x. It returns an error unless
// there are at least 3, all numbers are finite, and no row is equally far from two others: no question has a tie for an answer.
// Distances count as equal if the computed squares are.
func NewComparisons(x mat.Matrix) (*Comparisons, error) {
	xd := matrix.Given("synthetic: comparisons: x", x)
	n, _ := xd.Dims()
	if n < 3 {
		return nil, fmt.Errorf("synthetic: comparisons: %d points, want at least 3", n)
	}
	if n-2 > math.MaxInt/n/(n-1) {
		return nil, fmt.Errorf("synthetic: comparisons: %d points, whose triplets an int cannot count", n)
	}
	for i := range n {
		for j, v := range xd.RawRowView(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("synthetic: comparisons: point %d, coordinate %d: %v is not allowed, want a finite number", i, j, v)
			}
		}
	}
	c := &Comparisons{mat.DenseCopyOf(xd)}
	row := make([]float64, n)
	for h := range n {
		c.from(row, h)
		row[h] = -1 // apart from all squares
		slices.Sort(row)
		if math.IsInf(row[n-1], 1) {
			return nil, fmt.Errorf("synthetic: comparisons: distances from point %d overflow", h)
		}
		for k := 2; k < n; k++ {
			if row[k] == row[k-1] {
				return nil, fmt.Errorf("synthetic: comparisons: two points have the squared distance %v from point %d, want all different", row[k], h)
			}
		}
	}
	return c, nil
}

// GaussianComparisons returns the comparisons of n points in d dimensions drawn from
// N(0, I), as Heim, Berger, Seversky and Hauskrecht (2015), Sections 5.1 (n = 100)
// and 5.2 (n = 5000), d = 50. It returns an error unless n ≥ 3 and d ≥ 1.
func GaussianComparisons(rng *rand.Rand, n, d int) (*Comparisons, error) {
	if n < 3 {
		return nil, fmt.Errorf("synthetic: n: %d is not allowed, want at least 3", n)
	}
	if d < 1 {
		return nil, fmt.Errorf("synthetic: d: %d is not allowed, want at least 1", d)
	}
	if err := limits.Check(fmt.Sprintf("%d points in %d dimensions", n, d), limits.Floats(2, n, d)); err != nil {
		return nil, fmt.Errorf("synthetic: n, d: %w", err)
	}
	x := mat.NewDense(n, d, nil)
	for i := range n {
		for j := range d {
			x.Set(i, j, rng.NormFloat64())
		}
	}
	return NewComparisons(x)
}

// Objects returns n, the number of points.
func (c *Comparisons) Objects() int { n, _ := c.x.Dims(); return n }

// Points returns the n×d points, which must not change.
func (c *Comparisons) Points() *mat.Dense { return c.x }

// Len returns n(n−1)(n−2)/2.
func (c *Comparisons) Len() int { return c.Objects() * c.perHead() }

// perHead returns the number of pairs of others.
func (c *Comparisons) perHead() int { n := c.Objects(); return (n - 1) * (n - 2) / 2 }

// At returns the comparison of that number, in time proportional to d. It panics if i
// is out of range.
func (c *Comparisons) At(i int) metric.Triplet {
	if i < 0 || i >= c.Len() {
		panic(fmt.Sprintf("synthetic: comparison %d of %d", i, c.Len()))
	}
	h := i / c.perHead()
	hi, lo := unpair(i % c.perHead())
	return c.Answer(h, other(h, hi), other(h, lo))
}

// Answer returns the comparison of objects i and j with the head h. It panics unless these
// are three distinct objects.
func (c *Comparisons) Answer(h, i, j int) metric.Triplet {
	t := metric.Triplet{A: h, Near: i, Far: j}
	c.check(t)
	x := c.x.RawRowView(h)
	if (metric.Euclidean{}).SqDist(x, c.x.RawRowView(j)) < (metric.Euclidean{}).SqDist(x, c.x.RawRowView(i)) {
		t.Near, t.Far = j, i
	}
	return t
}

// All yields every comparison once, in the order of At.
func (c *Comparisons) All() iter.Seq[metric.Triplet] {
	return func(yield func(metric.Triplet) bool) {
		n := c.Objects()
		row := make([]float64, n)
		for h := range n {
			c.from(row, h)
			for hi := 1; hi < n-1; hi++ {
				for lo := range hi {
					t := metric.Triplet{A: h, Near: other(h, hi), Far: other(h, lo)}
					if row[t.Far] < row[t.Near] {
						t.Near, t.Far = t.Far, t.Near
					}
					if !yield(t) {
						return
					}
				}
			}
		}
	}
}

// Sample draws disjoint parts of the given sizes, each comparison equally likely, in
// random order. Time and memory are proportional to what is drawn. It returns an error
// unless all sizes are ≥ 0 and their sum is at most Len.
func (c *Comparisons) Sample(rng *rand.Rand, sizes ...int) ([][]metric.Triplet, error) {
	if err := sample.CheckSizes(c.Len(), sizes...); err != nil {
		return nil, err
	}
	total := 0
	for _, size := range sizes {
		total += size
	}
	// Fisher-Yates, stopped after total swaps, as in Choose: moved holds what does not
	// stand in its own place.
	moved := make(map[int]int, total)
	at := func(i int) int {
		if v, ok := moved[i]; ok {
			return v
		}
		return i
	}
	ts := make([]metric.Triplet, total)
	for i := range ts {
		j := i + rng.IntN(c.Len()-i)
		v := at(j)
		moved[j] = at(i)
		ts[i] = c.At(v)
	}
	return sample.Cut(ts, sizes...)[:len(sizes)], nil
}

// Errors returns the share of comparisons that the n×n kernel k does not satisfy, over
// all but those in without, whose direction does not count and which may stand more than
// once. With d²(i, j) = k_ii + k_jj − 2k_ij, a comparison is a tie if d²(A, Near) and
// d²(A, Far) differ by at most tol times the larger magnitude. A tie is an error in
// strict, and half an error in half. It takes time proportional to n³, some 2 ns per
// comparison, and memory proportional to n. It panics unless k is of order n, all squared
// distances are finite and without leaves something.
func (c *Comparisons) Errors(k mat.Symmetric, tol float64, without ...metric.Triplet) (strict, half float64) {
	n := c.Objects()
	if k.SymmetricDim() != n {
		panic(mat.ErrShape)
	}
	total, wrong, ties := c.Len(), 0, 0
	truth, row := make([]float64, n), make([]float64, n)
	order, sorted, slack := make([]int, 0, n), make([]float64, n-1), make([]float64, n-1)
	for h := range n {
		c.from(truth, h)
		kernelFrom(row, k, h)
		order = order[:0]
		for j := range n {
			if j != h {
				order = append(order, j)
			}
		}
		slices.SortFunc(order, func(i, j int) int { return cmp.Compare(truth[i], truth[j]) })
		for i, j := range order {
			sorted[i], slack[i] = row[j], tol*math.Abs(row[j])
		}
		for i, near := range sorted {
			fars, slacks := sorted[i+1:], slack[i+1:]
			for j, far := range fars {
				tie, more := compare(near, far, slack[i], slacks[j])
				ties, wrong = ties+tie, wrong+more
			}
		}
	}
	left := make([]int, len(without))
	for i, t := range without {
		left[i] = c.index(t)
	}
	slices.Sort(left)
	for _, i := range slices.Compact(left) {
		t := c.At(i)
		total--
		near, far := kernelSqDist(k, t.A, t.Near), kernelSqDist(k, t.A, t.Far)
		tie, more := compare(near, far, tol*math.Abs(near), tol*math.Abs(far))
		ties, wrong = ties-tie, wrong-more
	}
	if total == 0 {
		panic("synthetic: Errors without any comparison")
	}
	return float64(wrong+ties) / float64(total), (float64(wrong) + float64(ties)/2) / float64(total)
}

// compare returns 1, 0 for a tie, 0, 1 if near is more than far, and else 0, 0. They tie if
// they differ by at most one of the slacks. There is no branch that a processor would
// have to guess.
func compare(near, far, slackNear, slackFar float64) (tie, more int) {
	gap := math.Abs(near - far)
	tie = b2i(gap <= slackNear) | b2i(gap <= slackFar)
	return tie, b2i(near > far) &^ tie
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func kernelSqDist(k mat.Symmetric, i, j int) float64 {
	return k.At(i, i) + k.At(j, j) - 2*k.At(i, j)
}

// kernelFrom sets row[j] to the squared distance of objects h and j.
func kernelFrom(row []float64, k mat.Symmetric, h int) {
	for j := range row {
		row[j] = kernelSqDist(k, h, j)
		if math.IsNaN(row[j]) || math.IsInf(row[j], 0) {
			panic(fmt.Sprintf("synthetic: squared distance of %d and %d is %v", h, j, row[j]))
		}
	}
}

// index is the number of the comparison of t's objects.
func (c *Comparisons) index(t metric.Triplet) int {
	c.check(t)
	rank := func(o int) int {
		if o > t.A {
			return o - 1
		}
		return o
	}
	i, j := rank(max(t.Near, t.Far)), rank(min(t.Near, t.Far))
	return t.A*c.perHead() + i*(i-1)/2 + j
}

// check panics unless t is of three distinct objects.
func (c *Comparisons) check(t metric.Triplet) {
	n := c.Objects()
	if t.Degenerate() || min(t.A, t.Near, t.Far) < 0 || max(t.A, t.Near, t.Far) >= n {
		panic(fmt.Sprintf("synthetic: comparison of %d and %d with %d, among %d objects", t.Near, t.Far, t.A, n))
	}
}

// from sets row[j] to the squared distance of points h and j.
func (c *Comparisons) from(row []float64, h int) {
	x := c.x.RawRowView(h)
	for j := range row {
		row[j] = metric.Euclidean{}.SqDist(x, c.x.RawRowView(j))
	}
}

// unpair returns the numbers i > j ≥ 0 with i(i−1)/2 + j = r.
func unpair(r int) (i, j int) {
	i = int((1 + math.Sqrt(float64(8*r+1))) / 2)
	for i*(i-1)/2 > r { // where the root is rounded
		i--
	}
	for (i+1)*i/2 <= r {
		i++
	}
	return i, r - i*(i-1)/2
}

// other returns the k-th object that is not h.
func other(h, k int) int {
	if k >= h {
		return k + 1
	}
	return k
}
