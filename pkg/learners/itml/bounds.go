package itml

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/enum"
	"metriclab/internal/matrix"
	"metriclab/internal/ranges"
	"metriclab/pkg/metric"
)

// BoundRule says how the bounds of Fit follow from the squared distances of
// pairs of rows.
type BoundRule int

const (
	// BoundPercentiles: u and ℓ are the Low-th and High-th percentile. The s-th
	// percentile is the least of the squared distances that at least s % of them do
	// not exceed.
	BoundPercentiles BoundRule = iota
	// BoundBins: u and ℓ are the centres of bins number Low and High of 100 equal bins
	// from the least squared distance to the largest, min + (s − ½)·(max − min)/100.
	// This is what the program of Davis et al. (2007) computes, though it speaks of
	// percentiles.
	BoundBins
)

var boundRuleNames = enum.Of[BoundRule]("unknown rule %d", "percentiles", "bins")

// String returns "percentiles" or "bins".
func (r BoundRule) String() string { return boundRuleNames.Text(r) }

// BoundParams are a rule and its two numbers.
type BoundParams struct {
	// Rule is the rule. The default is BoundPercentiles.
	Rule BoundRule
	// Low is the percentile or the bin of u, > 0 and less than High, with BoundBins not
	// less than 1. 0 means 1 with BoundPercentiles, as in Jain et al. (2012), Section 6,
	// and 5 with BoundBins, as in the program.
	Low float64 `range:"> 0 and < high" needs:"rule=percentiles|bins" default:"0" doc:"percentile or bin (at least 1) of the bound on similar pairs; 0 means percentile 1 or bin 5"`
	// High is the percentile or the bin of ℓ, at most 100. 0 means 99 and 95.
	High float64 `range:"> low and <= 100" needs:"rule=percentiles|bins" default:"0" doc:"percentile or bin of the bound on dissimilar pairs; 0 means percentile 99 or bin 95"`
}

// Resolved returns p with its defaults filled in.
func (p BoundParams) Resolved() BoundParams {
	low := 1.0
	if p.Rule == BoundBins {
		low = 5
	}
	p.Low, p.High = cmp.Or(p.Low, low), cmp.Or(p.High, 100-low)
	return p
}

func (p BoundParams) check() error {
	if err := ranges.Check("itml", p); err != nil {
		return err
	}
	switch {
	case p.Rule != BoundPercentiles && p.Rule != BoundBins:
		return fmt.Errorf("itml: rule: %d is not allowed, want BoundPercentiles or BoundBins", int(p.Rule))
	case p.Low >= p.High:
		return fmt.Errorf("itml: low: %v and high: %v are not allowed, want low < high", p.Low, p.High)
	case p.Rule == BoundBins && p.Low < 1:
		return fmt.Errorf("itml: low: %v is not allowed, want at least 1 with bins", p.Low)
	}
	return nil
}

// Of returns the bounds u < ℓ by the rule for the squared distances under m
// between the rows of x, n×d, that pairs name; labels do not matter. Distances are
// squared before anything else, as are the bounds. Where the rule gives zero, as
// it may on discrete data, the least positive squared distance takes its place.
//
// It returns an error if there is no pair, if an index is outside x, if no squared
// distance is positive or one is not finite, or if p is out of range. So it does if u = ℓ, as
// where squared distances tie or there is one pair only. It panics if x is nil or empty, or m is nil
// or has another dimension.
func (p BoundParams) Of(x mat.Matrix, pairs []metric.Link, m metric.SqDister) (upper, lower float64, err error) {
	xd := matrix.Given("itml: BoundParams.Of: x", x)
	if p, ok := m.(*metric.Mahalanobis); m == nil || ok && p == nil {
		panic("itml: BoundParams.Of: the metric is nil")
	}
	n, _ := xd.Dims()
	return p.of(n, pairs, func(l metric.Link) float64 { return m.SqDist(xd.RawRowView(l.I), xd.RawRowView(l.J)) })
}

// within is Of that ends with the error of ctx once that is done.
func (p BoundParams) within(ctx context.Context, x matrix.RowSource, pairs []metric.Link, m metric.SqDister) (upper, lower float64, err error) {
	n, _ := x.Dims()
	upper, lower, err = p.of(n, pairs, func(l metric.Link) float64 {
		if ctx.Err() != nil {
			return math.NaN() // which ends the loop
		}
		return m.SqDist(x.RawRowView(l.I), x.RawRowView(l.J))
	})
	if ctx.Err() != nil {
		return 0, 0, fmt.Errorf("itml: %w", ctx.Err())
	}
	return upper, lower, err
}

// OfGram is Of for objects of which the Gram matrix k, n×n, is known: squared
// distances are k_ii − 2k_ij + k_jj, or 0 if that is at most 10⁻¹²·(k_ii + k_jj), less
// than which the entries do not tell. It returns the errors of Of, and panics if k is
// nil or empty.
func (p BoundParams) OfGram(k mat.Symmetric, pairs []metric.Link) (upper, lower float64, err error) {
	return p.of(k.SymmetricDim(), pairs, func(l metric.Link) float64 { return gramSqDist(k, l) })
}

// gramSqDist returns the squared distance of OfGram.
func gramSqDist(k mat.Symmetric, l metric.Link) float64 {
	a, b := k.At(l.I, l.I), k.At(l.J, l.J)
	if q := a - 2*k.At(l.I, l.J) + b; !(q <= duplicate*(a+b)) {
		return q
	}
	return 0
}

// of is Of for n objects with the squared distances sqDist.
func (p BoundParams) of(n int, pairs []metric.Link, sqDist func(metric.Link) float64) (upper, lower float64, err error) {
	if n == 0 {
		panic("itml: BoundParams: no objects, want at least one")
	}
	p = p.Resolved()
	if err := p.check(); err != nil {
		return 0, 0, err
	}
	if len(pairs) == 0 {
		return 0, 0, errors.New("itml: bounds: no pairs given, want at least one")
	}
	sq := make([]float64, len(pairs))
	for k, l := range pairs {
		for _, i := range []int{l.I, l.J} {
			if i < 0 || i >= n {
				return 0, 0, fmt.Errorf("itml: bounds: pair %d: row %d is not allowed, want 0 to %d", k, i, n-1)
			}
		}
		if sq[k] = sqDist(l); math.IsNaN(sq[k]) || math.IsInf(sq[k], 0) {
			return 0, 0, notFinite(k, sq[k])
		}
	}
	return p.apply(sq)
}

// OfSqDists is Of for pairs of which only the squared distances are known. It returns the errors of Of, and one for a
// negative squared distance.
func (p BoundParams) OfSqDists(sq []float64) (upper, lower float64, err error) {
	p = p.Resolved()
	if err := p.check(); err != nil {
		return 0, 0, err
	}
	if len(sq) == 0 {
		return 0, 0, errors.New("itml: bounds: no pairs given, want at least one")
	}
	for k, q := range sq {
		switch {
		case math.IsNaN(q) || math.IsInf(q, 0):
			return 0, 0, notFinite(k, q)
		case q < 0:
			return 0, 0, fmt.Errorf("itml: bounds: pair %d: squared distance %v, want at least 0", k, q)
		}
	}
	return p.apply(slices.Clone(sq))
}

func notFinite(pair int, sq float64) error {
	return fmt.Errorf("itml: bounds: pair %d: squared distance %v, want a finite number: scale the data down", pair, sq)
}

// apply is the rule, of resolved parameters, for squared distances, which it sorts.
func (p BoundParams) apply(sq []float64) (upper, lower float64, err error) {
	slices.Sort(sq)
	least, largest := sq[0], sq[len(sq)-1]
	if largest <= 0 {
		return 0, 0, errors.New("itml: bounds: all pairs coincide, so no scale can be learned")
	}
	at := func(s float64) float64 {
		if p.Rule == BoundBins {
			return least + (s-0.5)/100*(largest-least)
		}
		return sq[max(int(math.Ceil(s/100*float64(len(sq)))), 1)-1]
	}
	positive := sq[slices.IndexFunc(sq, func(q float64) bool { return q > 0 })]
	upper, lower = max(at(p.Low), positive), max(at(p.High), positive)
	if upper >= lower {
		return 0, 0, fmt.Errorf("itml: bounds: upper %v and lower %v, by %v %v and %v of %d squared distances from %v to %v, want upper < lower: take low and high further apart, take pairs whose distances differ, or give upper and lower",
			upper, lower, p.Rule, p.Low, p.High, len(sq), least, largest)
	}
	return upper, lower, nil
}
