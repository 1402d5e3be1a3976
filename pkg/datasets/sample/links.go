// Package sample draws from labelled data: links between rows, splits and folds by class, parts of a
// list of triplets. Randomness is always an argument; the same generator state gives the same sample.
package sample

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
)

// RandomLinks draws n pairs of distinct rows, uniformly and with replacement,
// and labels each by whether y agrees: how Shalev-Shwartz, Singer and Ng (2004),
// Section 7, "randomly chose 1,000 pairs of instances". It returns an error if
// n < 0, the links do not fit limits.Memory, or y has fewer than 2 entries.
func RandomLinks(rng *rand.Rand, y []int, n int) ([]metric.Link, error) {
	if err := checkCount("n", n); err != nil {
		return nil, err
	}
	if err := linksFit(int64(n)); err != nil {
		return nil, fmt.Errorf("sample: n: %w", err)
	}
	if len(y) < 2 {
		return nil, fmt.Errorf("sample: RandomLinks: %d row(s), want at least 2", len(y))
	}
	out := make([]metric.Link, n)
	for k := range out {
		i, j := twoOf(rng, len(y))
		out[k] = metric.Link{I: i, J: j, Label: metric.SameClass(y[i] == y[j])}
	}
	return out, nil
}

// DistinctLinks draws n different pairs of distinct rows, each set of n equally likely,
// in random order, and labels each by whether y agrees. A pair and its mirror image
// are the same. It returns an error unless 0 ≤ n ≤ len(y)(len(y)−1)/2.
func DistinctLinks(rng *rand.Rand, y []int, n int) ([]metric.Link, error) {
	all := len(y) * (len(y) - 1) / 2
	if n < 0 || n > all {
		return nil, fmt.Errorf("sample: n: %d is not allowed, want 0 to %d, the pairs of %d rows", n, all, len(y))
	}
	if err := linksFit(int64(n)); err != nil {
		return nil, fmt.Errorf("sample: n: %w", err)
	}
	out := make([]metric.Link, n)
	for k, r := range Choose(rng, all, n) {
		// Pairs are numbered row by row of the lower triangle: r = i(i−1)/2 + j, j < i.
		i := int((1 + math.Sqrt(float64(8*r+1))) / 2)
		for i*(i-1)/2 > r { // where the root is rounded
			i--
		}
		for (i+1)*i/2 <= r {
			i++
		}
		j := r - i*(i-1)/2
		out[k] = metric.Link{I: i, J: j, Label: metric.SameClass(y[i] == y[j])}
	}
	return out, nil
}

// BalancedLinks draws n pairs of distinct rows with replacement, ⌈n/2⌉ similar
// and ⌊n/2⌋ dissimilar, in random order. A similar pair is uniform among all
// pairs of rows with equal labels, a dissimilar one among all pairs with
// different labels. It returns an error if n < 0, if the links do not fit
// limits.Memory, if similar pairs are wanted
// and no class has 2 rows, or if dissimilar ones are wanted and there is only
// one class.
func BalancedLinks(rng *rand.Rand, y []int, n int) ([]metric.Link, error) {
	if err := checkCount("n", n); err != nil {
		return nil, err
	}
	if err := linksFit(int64(n)); err != nil {
		return nil, fmt.Errorf("sample: n: %w", err)
	}
	same := (n + 1) / 2
	classes, members := byClass(y)
	largest := 0
	for _, m := range members {
		largest = max(largest, len(m))
	}
	if same > 0 && largest < 2 {
		return nil, fmt.Errorf("sample: BalancedLinks: %d rows in %d classes, want a class with at least 2 rows", len(y), len(classes))
	}
	if n > same && len(classes) < 2 {
		return nil, fmt.Errorf("sample: BalancedLinks: %d class(es), want at least 2 for dissimilar pairs", len(classes))
	}
	// Rejection would be slow for rare classes: draw the class of a similar
	// pair by its number of pairs, and the first point of a dissimilar pair by
	// its number of partners.
	pairs := make([]int, len(members))
	partners := make([]int, len(members))
	for c, m := range members {
		pairs[c] = len(m) * (len(m) - 1)
		partners[c] = len(m) * (len(y) - len(m))
	}
	partners = cumulated(partners)
	out := make([]metric.Link, n)
	for k := range out {
		if k < same {
			m := members[pick(rng, pairs)]
			i, j := twoOf(rng, len(m))
			out[k] = metric.Link{I: m[i], J: m[j], Label: metric.Similar}
			continue
		}
		out[k] = dissimilarLink(rng, len(y), members, partners)
	}
	rng.Shuffle(n, func(a, b int) { out[a], out[b] = out[b], out[a] })
	return out, nil
}

// cumulated returns the sums of the numbers up to each.
func cumulated(numbers []int) []int {
	out := make([]int, len(numbers))
	sum := 0
	for i, v := range numbers {
		sum += v
		out[i] = sum
	}
	return out
}

// dissimilarLink draws one of all pairs of rows of different classes. partners counts those of each class, ordered ones, and of all before it.
func dissimilarLink(rng *rand.Rand, n int, members [][]int, partners []int) metric.Link {
	r := rng.IntN(partners[len(partners)-1])
	c := sort.Search(len(partners), func(c int) bool { return partners[c] > r })
	i := members[c][rng.IntN(len(members[c]))]
	// The r-th row of another class: members of c ascend, and before the k-th of them there are m_k − k others.
	r = rng.IntN(n - len(members[c]))
	j := r + sort.Search(len(members[c]), func(k int) bool { return members[c][k]-k > r })
	return metric.Link{I: i, J: j, Label: metric.Dissimilar}
}

// PerClassLinks draws, for every class, similar pairs of distinct rows of that class and,
// for every two classes, dissimilar pairs of one row of each, with replacement and in
// random order. With c classes that makes c·similar + c(c−1)/2·dissimilar links. The
// classes are 0..classes−1. It returns an error if a count is negative, a label is
// outside that range, or a class is empty; if a class has one point and similar > 0; or
// if there is one class and dissimilar > 0.
func PerClassLinks(rng *rand.Rand, y []int, classes, similar, dissimilar int) ([]metric.Link, error) {
	for _, c := range []struct {
		name string
		n    int
	}{{"similar", similar}, {"dissimilar", dissimilar}} {
		if err := checkCount(c.name, c.n); err != nil {
			return nil, err
		}
	}
	if classes < 1 || classes > max(1, len(y)) {
		return nil, fmt.Errorf("sample: classes: %d is not allowed, want 1 to %d, the number of rows", classes, max(1, len(y)))
	}
	members := make([][]int, classes)
	for i, c := range y {
		if c < 0 || c >= classes {
			return nil, fmt.Errorf("sample: PerClassLinks: y[%d] = %d is not allowed, want 0 to %d", i, c, classes-1)
		}
		members[c] = append(members[c], i)
	}
	for c, m := range members {
		if len(m) == 0 {
			return nil, fmt.Errorf("sample: PerClassLinks: class %d is empty", c)
		}
		if len(m) < 2 && similar > 0 {
			return nil, fmt.Errorf("sample: PerClassLinks: class %d has 1 row, want at least 2 for similar pairs", c)
		}
	}
	if classes < 2 && dissimilar > 0 {
		return nil, fmt.Errorf("sample: PerClassLinks: 1 class, want at least 2 for dissimilar pairs")
	}
	// c·similar + c(c−1)/2·dissimilar, without overflow.
	within, between := limits.Product(classes, similar), limits.Product(classes, classes-1, dissimilar)/2
	if err := linksFit(within + min(between, math.MaxInt64-within)); err != nil {
		return nil, fmt.Errorf("sample: PerClassLinks: %w", err)
	}
	var out []metric.Link
	for a, ma := range members {
		for range similar {
			i, j := twoOf(rng, len(ma))
			out = append(out, metric.Link{I: ma[i], J: ma[j], Label: metric.Similar})
		}
		for _, mb := range members[a+1:] {
			for range dissimilar {
				out = append(out, metric.Link{I: ma[rng.IntN(len(ma))], J: mb[rng.IntN(len(mb))], Label: metric.Dissimilar})
			}
		}
	}
	rng.Shuffle(len(out), func(a, b int) { out[a], out[b] = out[b], out[a] })
	return out, nil
}

// Pairs yields the links as pairs of rows of x, n×d. Data are not copied: the vectors are views of x if
// it has rows to look at (mat.RawRowViewer, as a *mat.Dense), and must not be changed then. Of another x, such as a transposed one, each
// pair gets the entries of its two rows. It panics if x is
// nil, and, when iterated, if an index is out of range.
func Pairs(x mat.Matrix, links []metric.Link) iter.Seq[metric.Pair] {
	if matrix.IsNil(x) {
		panic("sample: Pairs: x is nil")
	}
	row := func(i int) []float64 { return mat.Row(nil, i, x) }
	if views, ok := x.(mat.RawRowViewer); ok {
		row = views.RawRowView
	}
	return func(yield func(metric.Pair) bool) {
		for _, l := range links {
			if !yield(metric.Pair{X: row(l.I), Y: row(l.J), Label: l.Label}) {
				return
			}
		}
	}
}

// Choose returns k different numbers of 0..n−1 in random order: every ordered
// choice is equally likely, so that each prefix is itself a uniform choice. It
// takes O(k) memory where k is far below n. It panics unless 0 ≤ k ≤ n.
func Choose(rng *rand.Rand, n, k int) []int {
	if k < 0 || k > n {
		panic(fmt.Sprintf("sample: Choose %d of %d", k, n))
	}
	// Fisher-Yates, stopped after k swaps.
	const sparse = 16 // an entry of the map takes as much as some numbers
	if k < n/sparse {
		moved := map[int]int{} // what stands in a place, if it is not its own number
		at := func(i int) int {
			if v, ok := moved[i]; ok {
				return v
			}
			return i
		}
		out := make([]int, k)
		for i := range out {
			j := i + rng.IntN(n-i)
			out[i], moved[j] = at(j), at(i)
		}
		return out
	}
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	for i := range k {
		j := i + rng.IntN(n-i)
		all[i], all[j] = all[j], all[i]
	}
	return slices.Clip(all[:k])
}

func checkCount(name string, n int) error {
	if n < 0 {
		return fmt.Errorf("sample: %s: %d is not allowed, want at least 0", name, n)
	}
	return nil
}

// linksFit returns an error unless n links fit limits.Memory.
func linksFit(n int64) error {
	size := int64(math.MaxInt64)
	if n <= math.MaxInt64/linkBytes {
		size = n * linkBytes
	}
	return limits.Check(fmt.Sprintf("%d pairs of rows", n), size)
}

// linkBytes is the size of a metric.Link.
const linkBytes = 24

// twoOf returns two different numbers of 0..n−1, every ordered pair equally
// likely.
func twoOf(rng *rand.Rand, n int) (i, j int) {
	i, j = rng.IntN(n), rng.IntN(n-1)
	if j >= i {
		j++
	}
	return i, j
}

// pick returns an index with probability proportional to its weight.
func pick(rng *rand.Rand, weights []int) int {
	total := 0
	for _, w := range weights {
		total += w
	}
	r := rng.IntN(total)
	for i, w := range weights {
		if r < w {
			return i
		}
		r -= w
	}
	panic("sample: unreachable, r is not less than total")
}

// byClass returns the distinct labels in ascending order and the rows of each,
// ascending.
func byClass(y []int) (classes []int, members [][]int) {
	classes = slices.Clone(y)
	slices.Sort(classes)
	classes = slices.Compact(classes)
	members = make([][]int, len(classes))
	for i, c := range y {
		k, _ := slices.BinarySearch(classes, c)
		members[k] = append(members[k], i)
	}
	return classes, members
}
