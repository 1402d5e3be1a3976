package iplr

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/enum"
	"metriclab/internal/ranges"
	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
)

// BasisRule says how FitLabels makes its basis of rows and their classes.
type BasisRule int

const (
	// BasisClasses is ClassBasis: the class means, centres of each class, or centres of the means if K is less than the number of classes.
	BasisClasses BasisRule = iota
	// BasisRandomClasses is ClassBasis with FewRandom: the means of K classes drawn at random, if K is less than their number.
	BasisRandomClasses
	// BasisSingular is SingularBasis.
	BasisSingular
	// BasisKMeans is KMeansBasis.
	BasisKMeans
	// BasisRows is CombinedBasis with RandomColumns: K rows drawn at random.
	BasisRows
	// BasisCoefficients is CombinedBasis with RandomCoefficients.
	BasisCoefficients
)

var basisNames = enum.Of[BasisRule]("unknown rule %d", "classes", "random-classes", "singular", "kmeans", "rows", "coefficients")

// String returns the rule in words: "classes", "random-classes", "singular", "kmeans", "rows" or "coefficients".
func (r BasisRule) String() string { return basisNames.Text(r) }

// LabelParams are the parameters of FitLabels.
type LabelParams struct {
	Params
	// Basis says how the basis is made. The default is BasisClasses.
	Basis BasisRule `words:"classes|random-classes|singular|kmeans|rows|coefficients" doc:"means of classes or, if k is more, centres of each class, if less, of the means; the means of k classes drawn; the top singular vectors; centres of clusters; rows drawn; combinations of rows drawn"`
	// K is the number of its vectors, at least 1; 0 means the number of classes, but for BasisSingular at most min(n, d).
	K int `range:"0, or >= 1 and <= the number of rows" doc:"vectors of the basis; 0 means as many as classes"`
	// Links is the number of similar and of dissimilar links to draw for each class, at least 1; 0 means 100, or all there are if they are fewer.
	Links int `range:">= 1" doc:"similar pairs to draw for each class, and as many dissimilar ones"`
	// BoundPairs is the number of pairs to draw for the rule of the bounds; 0 means 1,000.
	BoundPairs int `range:">= 1" needs:"rule=percentiles|bins" doc:"pairs to draw for the bounds"`
}

// Resolved returns p with its defaults filled in, but for K, whose default depends on the
// number of classes.
func (p LabelParams) Resolved() LabelParams {
	p.Params = p.Params.Resolved()
	p.Links, p.BoundPairs = cmp.Or(p.Links, 100), cmp.Or(p.BoundPairs, 1000)
	return p
}

// FitLabels is Fit with a basis made of the rows of x, n×d, and their classes y, on links drawn by sample.EachClassLinks: 100 similar and 100 dissimilar ones for each class, as in Jain, Kulis, Davis, Dhillon,
// JMLR 13, 2012, Section 6. Bounds by the rule come from uniform pairs of distinct rows, another draw. rng is used in the order: links, pairs for the bounds, basis.
// A class of one row has no similar links. A row of zeros is as good as others.
//
// The rows of a *sparse.Matrix are not made dense: see Fit and the bases. It returns the errors of Fit and of the bases, and one if y does not have an entry
// per row, or has fewer than two classes. It panics if x is nil or empty or rng is nil.
func FitLabels(ctx context.Context, rng *rand.Rand, x mat.Matrix, y []int, p LabelParams) (Result, error) {
	xs := rowsOf("FitLabels", x)
	demandSource(rng)
	p = p.Resolved()
	n, d := xs.dims()
	if err := ranges.Check("iplr", p, ranges.Limit{Words: "the number of rows", Value: n}); err != nil {
		return Result{}, err
	}
	if err := p.Params.check(); err != nil {
		return Result{}, err
	}
	if p.Basis < BasisClasses || p.Basis > BasisCoefficients {
		return Result{}, fmt.Errorf("iplr: basis: %d is not allowed, want one of %q", int(p.Basis), basisNames.List())
	}
	groups, err := classes(xs, y)
	if err != nil {
		return Result{}, err
	}
	if len(groups) < 2 {
		return Result{}, errors.New("iplr: labels: 1 class, want at least 2")
	}
	if p.K == 0 {
		if p.K = len(groups); p.Basis == BasisSingular {
			p.K = min(p.K, n, d)
		}
	}
	links, err := sample.EachClassLinks(rng, y, p.Links)
	if err != nil {
		return Result{}, fmt.Errorf("iplr: %w", err)
	}
	if p.Upper == 0 {
		pairs, err := sample.RandomLinks(rng, y, p.BoundPairs)
		if err != nil {
			return Result{}, fmt.Errorf("iplr: %w", err)
		}
		sq := make([]float64, len(pairs))
		for i, l := range pairs {
			if i%looks == 0 && ctx.Err() != nil {
				return Result{}, fmt.Errorf("iplr: %w", ctx.Err())
			}
			sq[i] = xs.sqDist(l.I, l.J)
		}
		if p.Upper, p.Lower, err = p.Bounds.OfSqDists(sq); err != nil {
			return Result{}, fmt.Errorf("iplr: %w", err)
		}
	}
	basis, err := p.basis(ctx, rng, xs, y)
	if err != nil {
		return Result{}, err
	}
	return Fit(ctx, xs.matrix(), basis, links, p.Params)
}

// RowsBasis makes the basis of K vectors of the rows of x alone, by BasisSingular, BasisKMeans or BasisRows, for Fit on links. It
// returns the errors of SingularBasis, KMeansBasis and CombinedBasis. It panics if x is nil or empty, rng is nil or Basis needs
// classes.
func (p LabelParams) RowsBasis(ctx context.Context, rng *rand.Rand, x mat.Matrix) (*Basis, error) {
	xs := rowsOf("RowsBasis", x)
	demandSource(rng)
	n, _ := xs.dims()
	switch p.Basis {
	case BasisSingular, BasisKMeans:
	case BasisRows:
		if p.K < 1 || p.K > n {
			return nil, fmt.Errorf("iplr: k: %d is not allowed, want 1 to the number of rows, %d", p.K, n)
		}
	default:
		panic(fmt.Sprintf("iplr: RowsBasis: the basis %v needs classes", p.Basis))
	}
	return p.basis(ctx, rng, xs, nil)
}

// basis makes the basis of K vectors.
func (p LabelParams) basis(ctx context.Context, rng *rand.Rand, x rows, y []int) (*Basis, error) {
	n, _ := x.dims()
	coefficients := func(draw func(rng *rand.Rand, n, k int) *mat.Dense) (*Basis, error) {
		if err := limits.Check(fmt.Sprintf("%d coefficients of %d rows", p.K, n), limits.Floats(n, p.K)); err != nil {
			return nil, fmt.Errorf("iplr: %w", err)
		}
		return CombinedBasis(ctx, x.matrix(), draw(rng, n, p.K))
	}
	switch p.Basis {
	case BasisSingular:
		return SingularBasis(ctx, x.matrix(), p.K)
	case BasisKMeans:
		return KMeansBasis(ctx, rng, x.matrix(), p.K)
	case BasisRows:
		return coefficients(RandomColumns)
	case BasisCoefficients:
		return coefficients(RandomCoefficients)
	}
	few := FewClustered
	if p.Basis == BasisRandomClasses {
		few = FewRandom
	}
	return ClassBasis(ctx, rng, x.matrix(), y, ClassParams{K: p.K, Few: few})
}

// sqDist returns the squared distance of two rows.
func (x rows) sqDist(i, j int) float64 {
	if x.dense == nil {
		return x.sparse.Row(i).SqDist(x.sparse.Row(j))
	}
	return metric.Euclidean{}.SqDist(x.dense.RawRowView(i), x.dense.RawRowView(j))
}
