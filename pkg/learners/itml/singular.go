package itml

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/internal/matrix"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
)

// FitSingular is Fit for a W₀ that may be singular: positive semi-definite, of rank r ≤ d.
//
// The LogDet divergence to such a W₀ is finite only for W with the range of W₀. With
// W₀ = GᵀG, G of r rows, these are W = GᵀFG with F ≻ 0, and
//
//	D(W, W₀) = tr(WW₀⁺) − log det₊(WW₀⁺) − r = D(F, I),
//
// W₀⁺ the pseudo-inverse and det₊ the product of the eigenvalues that are not 0. So F is
// what Fit learns on the rows Gx, r numbers each, with W₀ = I. Source: Jain, Kulis, Davis,
// Dhillon, JMLR 13, 2012, Section 3.2, footnote 1; Kulis, Sustik, Dhillon, Low-rank kernel
// learning with Bregman matrix divergences, JMLR 10, 2009.
//
// Directions outside the range of W₀ have length 0 under the metric, before and after. A
// link whose rows differ in such directions alone is skipped. Eigenvalues of W₀ up to
// metric.PSDTolerance times the largest count as 0. Where W₀ is positive definite, the
// answer is that of Fit up to round-off. Bounds that follow from percentiles are of
// distances under W₀, as in Fit.
//
// It costs an eigendecomposition of W₀, O(ndr) for the rows, and a fit in r dimensions,
// which is faster than one in d. Metric has r rows (metric.Mahalanobis.Rows).
//
// FitSingular returns an error if p.W0 is nil, not d×d or not positive semi-definite (which
// wraps metric.ErrNotPSD), is 0 or has an entry that is NaN or infinite, and where Fit
// does. It panics if x is nil or empty.
func FitSingular(ctx context.Context, x mat.Matrix, links []metric.Link, p Params) (Result, error) {
	xd := matrix.Dense(x)
	if xd == nil || xd.IsEmpty() {
		panic("itml: FitSingular: x is nil or empty")
	}
	n, d := xd.Dims()
	if matrix.IsNil(p.W0) {
		return Result{}, errors.New("itml: w0: it is nil, want a positive semi-definite matrix")
	}
	if k := p.W0.SymmetricDim(); k != d {
		return Result{}, fmt.Errorf("itml: w0: %d×%d is not allowed, want %d×%d like the rows", k, k, d, d)
	}
	if err := metric.CheckFinite(xd); err != nil {
		return Result{}, fmt.Errorf("itml: %w", err)
	}
	if err := limits.Check(fmt.Sprintf("ITML with a singular matrix of order %d and %d rows", d, n), max(limits.Floats(4, d, d), limits.Floats(n, d))); err != nil {
		return Result{}, fmt.Errorf("itml: %w", err)
	}
	work := func(rows *mat.Dense, w0 mat.Symmetric) func(context.Context) (*start, error) {
		return func(context.Context) (*start, error) { return startOf(rows, w0) }
	}
	var s *start
	var err error
	if abandon.Long(d, d, d) || abandon.Long(n, d, d) {
		s, err = abandon.Do(ctx, "itml", work(mat.DenseCopyOf(xd), copySymmetric(p.W0)))
	} else {
		s, err = startOf(xd, p.W0)
	}
	if err != nil {
		return Result{}, err
	}
	p.W0 = nil
	r, err := Fit(ctx, s.rows, links, p)
	if err != nil {
		return Result{}, err
	}
	r.Metric = metric.FromFactor(matrix.Mul(r.Metric.Factor(), s.factor))
	return r, nil
}

// start is a singular W₀ = GᵀG with the rows Gx.
type start struct{ factor, rows *mat.Dense }

func startOf(x *mat.Dense, w0 mat.Symmetric) (*start, error) {
	m, err := metric.NewMahalanobis(w0)
	if err != nil {
		return nil, fmt.Errorf("itml: w0: %w", err)
	}
	if m.Rows() == 0 {
		return nil, errors.New("itml: w0: it is 0, want a matrix of rank at least 1")
	}
	return &start{m.Factor(), m.EmbedRows(x)}, nil
}
