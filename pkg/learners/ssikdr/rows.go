package ssikdr

import (
	"context"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners/ltkernel"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
)

// Fit is FitGram for the rows of x, n×d, under the kernel k. It evaluates the kernel between the rows that the constraints join.
//
// Errors and panics are those of FitGram for the Gram matrix. Fit returns an error, too, if an entry of x is NaN or infinite. It panics if k or x is nil, or x
// is empty.
func Fit(ctx context.Context, k kernels.Kernel, x mat.Matrix, constraints []ltkernel.Constraint, p Params) (Result, error) {
	p = p.Resolved()
	if err := p.check(); err != nil {
		return Result{}, err
	}
	support, k0, err := rowsOf(ctx, "Fit", k, x, constraints)
	if err != nil {
		return Result{}, err
	}
	r, err := FitGram(ctx, k0, within(support, constraints), p)
	if err != nil {
		return Result{}, err
	}
	r.Support = support
	return r, nil
}

// FitRankRows is FitRank for the rows of x, n×d, under the kernel k, as Fit is FitGram.
func FitRankRows(ctx context.Context, rng *rand.Rand, k kernels.Kernel, x mat.Matrix, constraints []ltkernel.Constraint, rank int, p RankParams) (Result, error) {
	if rng == nil {
		panic("ssikdr: FitRankRows: rng is nil")
	}
	if err := p.Resolved().check(rank); err != nil {
		return Result{}, err
	}
	support, k0, err := rowsOf(ctx, "FitRankRows", k, x, constraints)
	if err != nil {
		return Result{}, err
	}
	r, err := FitRank(ctx, rng, k0, within(support, constraints), rank, p)
	if err != nil {
		return Result{}, err
	}
	r.Support = support
	return r, nil
}

// rowsOf returns the rows that constraints join, and their Gram matrix.
func rowsOf(ctx context.Context, name string, k kernels.Kernel, x mat.Matrix, constraints []ltkernel.Constraint) ([]int, *mat.SymDense, error) {
	xd := matrix.Given("ssikdr: "+name+": x", x)
	if k == nil || xd.IsEmpty() {
		panic("ssikdr: " + name + ": the kernel is nil or x is empty")
	}
	if err := metric.CheckFinite(xd); err != nil {
		return nil, nil, fmt.Errorf("ssikdr: %w", err)
	}
	n, d := xd.Dims()
	support, err := ltkernel.Support(n, constraints)
	if err != nil {
		return nil, nil, fmt.Errorf("ssikdr: %w", err)
	}
	t := len(support)
	if err := limits.Check(fmt.Sprintf("a Gram matrix of %d rows", t), limits.Floats(12, t, t)); err != nil {
		return nil, nil, fmt.Errorf("ssikdr: %w", err)
	}
	rows := mat.NewDense(t, d, nil)
	for a, i := range support {
		rows.SetRow(a, xd.RawRowView(i))
	}
	k0, err := kernels.GramContext(ctx, k, rows)
	if err != nil {
		return nil, nil, fmt.Errorf("ssikdr: %w", err)
	}
	return support, k0, nil
}

// Constraints returns those of links between objects: a squared distance of at most upper for similar pairs, at least lower for dissimilar ones.
func Constraints(links []metric.Link, upper, lower float64) []ltkernel.Constraint {
	out := make([]ltkernel.Constraint, len(links))
	for i, l := range links {
		if l.Label == metric.Similar {
			out[i] = ltkernel.AtMost(l.I, l.J, upper)
		} else {
			out[i] = ltkernel.AtLeast(l.I, l.J, lower)
		}
	}
	return out
}
