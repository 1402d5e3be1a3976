package iplr

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/enum"
	"metriclab/internal/matrix"
	"metriclab/internal/ranges"
	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/learners/cluster"
	"metriclab/pkg/learners/labels"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
)

// BasisVersion changes whenever a basis, or a matrix of coefficients, has other numbers for the same input and state of the generator. SingularBasis
// has labels.LSAVersion besides.
const BasisVersion = 1

// Basis is a subspace of R^d as an orthonormal basis. It is immutable and safe for concurrent use.
type Basis struct {
	u     *mat.Dense // k×d
	asked int
}

// dependent is the share of its length that a vector must keep outside the span of the others to add a dimension to it.
const dependent = 1e-8

// NewBasis returns an orthonormal basis U of the span of the rows of r, q×d: Rᵀ of the paper. Rows that are zero, or lie in the span of others up to
// 1e-8 of their length, add nothing and are dropped: duplicate means do no harm. The paper's U = R(RᵀR)^(−1/2) is a rotation of this U where no
// row is dropped, and does not exist otherwise; W is the same. The method is Gram–Schmidt, twice, of the row first of which most is left. It
// costs O(dq²).
//
// It returns an error if an entry is NaN or infinite, if all rows are zero, or if ctx is done. It panics if r is nil or empty.
func NewBasis(ctx context.Context, r mat.Matrix) (*Basis, error) {
	if matrix.IsNil(r) {
		panic("iplr: NewBasis: r is nil or empty")
	}
	q, d := r.Dims()
	if err := limits.Check(fmt.Sprintf("a basis of %d vectors in %d dimensions", q, d), limits.Floats(2, q, d)); err != nil {
		return nil, fmt.Errorf("iplr: %w", err)
	}
	rd := matrix.Dense(r)
	if rd.IsEmpty() {
		panic("iplr: NewBasis: r is nil or empty")
	}
	if err := metric.CheckFinite(rd); err != nil {
		return nil, fmt.Errorf("iplr: basis: %w", err)
	}
	rest := mat.DenseCopyOf(rd)
	left := make([]float64, q) // squared length, of a unit vector at first
	for i := range left {
		row := rest.RawRowView(i)
		if largest := floats.Norm(row, math.Inf(1)); largest > 0 {
			_, e := math.Frexp(largest) // by a power of two: 1/largest may overflow
			for j, a := range row {
				row[j] = math.Ldexp(a, -e)
			}
			floats.Scale(1/floats.Norm(row, 2), row)
			left[i] = 1
		}
	}
	var chosen []int
	for len(chosen) < min(q, d) {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("iplr: %w", err)
		}
		next := floats.MaxIdx(left) // the first of equals
		if left[next] <= dependent*dependent {
			break
		}
		row := rest.RawRowView(next)
		for _, c := range chosen {
			other := rest.RawRowView(c)
			floats.AddScaled(row, -floats.Dot(other, row), other)
		}
		floats.Scale(1/floats.Norm(row, 2), row)
		left[next] = 0
		chosen = append(chosen, next)
		for i := range left {
			if left[i] > 0 {
				other := rest.RawRowView(i)
				floats.AddScaled(other, -floats.Dot(row, other), row)
				left[i] = sumSquares(other)
			}
		}
	}
	if len(chosen) == 0 {
		return nil, errors.New("iplr: basis: all vectors are zero, want one that is not")
	}
	slices.Sort(chosen) // what is orthogonal already keeps its order
	u := mat.NewDense(len(chosen), d, nil)
	for i, c := range chosen {
		u.SetRow(i, rest.RawRowView(c))
	}
	return &Basis{u, q}, nil
}

// made returns b, and panics if no constructor made it.
func (b *Basis) made() *Basis {
	if b == nil || b.u == nil {
		panic("iplr: Basis: nil or the zero value, use NewBasis")
	}
	return b
}

// Rank returns k, the number of vectors of the basis.
func (b *Basis) Rank() int {
	k, _ := b.made().u.Dims()
	return k
}

// Asked returns the number of vectors that the basis was made of: Rank, and those that were dropped.
func (b *Basis) Asked() int { return b.made().asked }

// Vectors returns a copy of Uᵀ, k×d with orthonormal rows.
func (b *Basis) Vectors() *mat.Dense { return mat.DenseCopyOf(b.made().u) }

// demandSource panics if rng is nil.
func demandSource(rng *rand.Rand) {
	if rng == nil {
		panic("iplr: the source of random numbers is nil")
	}
}

// checkSize returns an error unless k is from 1 to most, which is told in words.
func checkSize(k, most int, words string) error {
	if k < 1 || k > most {
		return fmt.Errorf("iplr: k: %d is not allowed, want 1 to %s = %d", k, words, most)
	}
	return nil
}

// SingularBasis returns the k right singular vectors of the n×d matrix x with the largest singular values, descending: "the top k singular vectors of Φ". They are
// the components of labels.FitLSA, which says how they are found and what they cost, also of a *sparse.Matrix. The data are not centred; for centred ones, give NewBasis
// the components of a centred LSA. Vectors with singular values below 1e-8 of the largest are left out, so that the rank may be less than k.
//
// It returns an error unless 1 ≤ k ≤ min(n, d), if an entry is NaN or infinite, if all are zero, if memory exceeds limits.Memory, or if ctx is done. It
// panics if x is nil or empty.
func SingularBasis(ctx context.Context, x mat.Matrix, k int) (*Basis, error) {
	xs := rowsOf("SingularBasis", x)
	n, d := xs.dims()
	if err := checkSize(k, min(n, d), "min(n, d)"); err != nil {
		return nil, err
	}
	if err := xs.check(); err != nil {
		return nil, fmt.Errorf("iplr: %w", err)
	}
	xs, err := xs.near1()
	if err != nil {
		return nil, err
	}
	l, err := labels.FitLSA(ctx, xs.matrix(), labels.LSAParams{K: k})
	if err != nil {
		return nil, fmt.Errorf("iplr: %w", err)
	}
	values, keep := l.SingularValues(), 1
	for keep < k && values[keep] > dependent*values[0] {
		keep++
	}
	b, err := NewBasis(ctx, l.Components().Slice(0, keep, 0, d))
	if err != nil {
		return nil, err
	}
	b.asked = k
	return b, nil
}

// MeansBasis returns the means of the classes y of the rows of x, n×d: a basis of "the class-mean vectors", in ascending order of the classes. With k = c classes that
// is what Section 6.2 does. It returns an error if y does not have an entry per row, an entry of x is NaN or infinite, or all means are zero. It panics if x is nil or empty.
func MeansBasis(ctx context.Context, x mat.Matrix, y []int) (*Basis, error) {
	xs := rowsOf("MeansBasis", x)
	groups, err := classes(xs, y)
	if err != nil {
		return nil, err
	}
	return meansBasis(ctx, xs, groups)
}

// meansBasis is the basis of the means of groups of rows.
func meansBasis(ctx context.Context, x rows, groups [][]int) (*Basis, error) {
	means, err := meansOf(x, groups)
	if err != nil {
		return nil, err
	}
	return NewBasis(ctx, means)
}

// classes returns the rows of each class, classes ascending.
func classes(x rows, y []int) ([][]int, error) {
	n, _ := x.dims()
	if len(y) != n {
		return nil, fmt.Errorf("iplr: y: %d classes for %d rows", len(y), n)
	}
	if err := x.check(); err != nil {
		return nil, fmt.Errorf("iplr: %w", err)
	}
	return groupsOf(y), nil
}

// groupsOf returns the places of each value of y, values ascending.
func groupsOf(y []int) [][]int {
	names := slices.Clone(y)
	slices.Sort(names)
	names = slices.Compact(names)
	groups := make([][]int, len(names))
	for i, v := range y {
		c, _ := slices.BinarySearch(names, v)
		groups[c] = append(groups[c], i)
	}
	return groups
}

// meansOf returns the mean of each group of rows.
func meansOf(x rows, groups [][]int) (*mat.Dense, error) {
	means, err := x.vectors(len(groups))
	if err != nil {
		return nil, err
	}
	for c, group := range groups {
		for _, i := range group {
			x.addTo(means.RawRowView(c), 1/float64(len(group)), i)
		}
	}
	return means, nil
}

// FewRule says what ClassBasis does with fewer vectors than classes.
type FewRule int

const (
	// FewClustered: "cluster the class-mean vectors into k clusters and use the obtained cluster centers" (Section 3.6).
	FewClustered FewRule = iota
	// FewRandom: the means of "a randomly selected subset of k classes" (Section 6.2), each choice equally likely. The rest of the classes have no vector.
	FewRandom
)

var fewNames = enum.Of[FewRule]("unknown rule %d", "clustered", "random")

// String returns "clustered" or "random".
func (r FewRule) String() string { return fewNames.Text(r) }

// ClassParams are the parameters of ClassBasis.
type ClassParams struct {
	// K is the number of vectors, 1 to the number of rows.
	K int `range:">= 1 and <= the number of rows"`
	// Few says what to do if K is less than the number of classes. The default is FewClustered.
	Few FewRule
	// Starts is the number of runs of each k-means, of which the best counts; 0 means 1.
	Starts int `range:"0, or >= 1"`
}

// ClassBasis returns a basis of K vectors made of the classes y of the rows of x, n×d:
//
//   - With c = K classes, their means.
//   - With c < K, "cluster each class into k/c clusters and use the cluster centers": ⌊K/c⌋ or ⌈K/c⌉ clusters a class, more for the larger ones, and no more than it has rows,
//     so that the others get more. Clusters are those of cluster.FitKMeans, with centres of the class's rows.
//   - With c > K, see FewRule.
//
// Source: Jain, Kulis, Davis, Dhillon, JMLR 13, 2012, Sections 3.6 and 6.2. A cluster of duplicates only adds no dimension: see NewBasis, which may drop vectors.
//
// It returns an error if a parameter is out of range, y does not have an entry per row, or ctx is done. So it does if an entry of x is
// NaN or infinite, squared distances overflow, or all vectors are zero. It panics if x is nil or empty or rng is nil.
func ClassBasis(ctx context.Context, rng *rand.Rand, x mat.Matrix, y []int, p ClassParams) (*Basis, error) {
	xs := rowsOf("ClassBasis", x)
	demandSource(rng)
	n, _ := xs.dims()
	if err := ranges.Check("iplr", p, ranges.Limit{Words: "the number of rows", Value: n}); err != nil {
		return nil, err
	}
	if p.Few != FewClustered && p.Few != FewRandom {
		return nil, fmt.Errorf("iplr: few: %d is not allowed, want FewClustered or FewRandom", int(p.Few))
	}
	groups, err := classes(xs, y)
	if err != nil {
		return nil, err
	}
	c := len(groups)
	switch {
	case p.K == c:
		return meansBasis(ctx, xs, groups)
	case p.K < c && p.Few == FewRandom:
		chosen := sample.Choose(rng, c, p.K)
		slices.Sort(chosen)
		some := make([][]int, p.K)
		for i, g := range chosen {
			some[i] = groups[g]
		}
		return meansBasis(ctx, xs, some)
	case p.K < c:
		means, err := meansOf(xs, groups)
		if err != nil {
			return nil, err
		}
		return kmeansBasis(ctx, rng, means, p.K, p.Starts)
	}
	centres, err := xs.vectors(p.K)
	if err != nil {
		return nil, err
	}
	at := 0
	for g, clusters := range quotas(groups, p.K) {
		rows, err := xs.some(groups[g])
		if err != nil {
			return nil, fmt.Errorf("iplr: %w", err)
		}
		km, err := cluster.FitKMeans(ctx, rng, rows, cluster.KMeansParams{K: clusters, Starts: p.Starts})
		if err != nil {
			return nil, fmt.Errorf("iplr: class with %d rows: %w", len(groups[g]), err)
		}
		for i := range clusters {
			centres.SetRow(at, km.Centres.RawRowView(i))
			at++
		}
	}
	return NewBasis(ctx, centres)
}

// quotas returns how many of k clusters each group gets, at most as many as it has members: the next goes to one that has fewest, of these to the largest, of
// these to the first. There are at least as many members as clusters, and as many clusters as groups.
func quotas(groups [][]int, k int) []int {
	q := make([]int, len(groups))
	for range k {
		best := -1
		for g := range groups {
			if q[g] < len(groups[g]) && (best < 0 || q[g] < q[best] || q[g] == q[best] && len(groups[g]) > len(groups[best])) {
				best = g
			}
		}
		q[best]++
	}
	return q
}

// KMeansBasis returns the centres of k clusters of the rows of x, n×d: "clustering the columns of Φ and using the mean vectors as the basis R". The clusters are those of
// cluster.FitKMeans, whose errors it returns, and one if all centres are zero. It panics if x is nil or empty or rng is nil.
func KMeansBasis(ctx context.Context, rng *rand.Rand, x mat.Matrix, k int) (*Basis, error) {
	xs := rowsOf("KMeansBasis", x)
	demandSource(rng)
	return kmeansBasis(ctx, rng, xs.matrix(), k, 1)
}

func kmeansBasis(ctx context.Context, rng *rand.Rand, x mat.Matrix, k, starts int) (*Basis, error) {
	n, _ := x.Dims()
	if err := checkSize(k, n, "the number of rows"); err != nil {
		return nil, err
	}
	km, err := cluster.FitKMeans(ctx, rng, x, cluster.KMeansParams{K: k, Starts: starts})
	if err != nil {
		return nil, fmt.Errorf("iplr: %w", err)
	}
	return NewBasis(ctx, km.Centres)
}

// CombinedBasis returns the basis R = ΦJ in input space: the vectors are xᵀJ for the n×d matrix x of rows and the n×k matrix j of coefficients, such as those of
// RandomColumns, RandomCoefficients, KernelKMeans and SpectralClusters. It returns an error if the numbers of rows differ, if an entry is NaN or infinite or the
// product overflows, if all vectors are zero, or if ctx is done. It panics if a matrix is nil or empty.
func CombinedBasis(ctx context.Context, x, j mat.Matrix) (*Basis, error) {
	xs, jd := rowsOf("CombinedBasis", x), matrix.Dense(j)
	if jd == nil || jd.IsEmpty() {
		panic("iplr: CombinedBasis: j is nil or empty")
	}
	n, _ := xs.dims()
	m, k := jd.Dims()
	if m != n {
		return nil, fmt.Errorf("iplr: j: it has %d rows, want %d like x", m, n)
	}
	if err := xs.check(); err != nil {
		return nil, fmt.Errorf("iplr: x: %w", err)
	}
	if err := metric.CheckFinite(jd); err != nil {
		return nil, fmt.Errorf("iplr: j: %w", err)
	}
	r, err := xs.vectors(k)
	if err != nil {
		return nil, err
	}
	for i := range n { // the rows of J are mostly zeros
		if ctx.Err() != nil {
			return nil, fmt.Errorf("iplr: %w", ctx.Err())
		}
		for c, w := range jd.RawRowView(i) {
			if w != 0 {
				xs.addTo(r.RawRowView(c), w, i)
			}
		}
	}
	return NewBasis(ctx, r)
}
