// Package iplr learns a metric that is the identity plus a matrix of low rank (IPLR; Jain, Kulis, Davis, Dhillon, Metric and
// Kernel Learning Using a Linear Transformation, JMLR 13, 2012, Section 3.6):
//
//	W = I + ULUᵀ,  U d×k with orthonormal columns, chosen beforehand,  F = I + L ≻ 0.
//
// Only the k×k matrix F is learned, and metric and learning scale with k where those of package itml scale with d. Fit learns from links
// between rows, FitKernel from links between objects of which a Gram matrix is known. NewBasis makes U of any vectors; SingularBasis,
// ClassBasis, KMeansBasis and the others are the paper's ways to choose them, and those of coefficients.go its ways to choose J, R = ΦJ.
// FitLabels makes basis and links of rows and their classes. The rows of a *sparse.Matrix are never made dense.
//
// # When to use it
//
// With thousands of features or more, sparse or dense, and k up to a few hundred. FitLabels is the place to start: its
// basis is made of class means. With fewer features package itml learns all of W. Without feedback, labels.FitLSA
// has a basis but learns no metric in it.
//
// # How it is built
//
// A fit is the projection loop of package itml in the k coordinates of the basis. Each link has one more constant:
// r, the squared length of its difference outside the basis, which no F changes. Package internal/logdet decides
// for both packages when a fit stops, and proves how good it is. The steps themselves are not shared: for small k
// the calls would cost more than the step.
//
// A step solves for the new distance and not for its change. That quadratic has a single positive root, and no
// difference of nearly equal numbers.
//
// Only the span of a basis counts. So dependent vectors are dropped, and no (RᵀR)^(−1/2) is taken, which would not
// exist then.
package iplr

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/internal/enum"
	"metriclab/internal/logdet"
	"metriclab/internal/matrix"
	"metriclab/internal/ranges"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/itml"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
)

// Version changes whenever Fit or FitKernel gives other numbers for the same input and basis.
const Version = 1

// InfeasibleRule says what becomes of pairs that no metric of the basis can satisfy: a similar pair of which the
// part outside the basis, whose length is fixed, is longer than u allows already.
type InfeasibleRule int

const (
	// InfeasibleSlack: slack is on the full squared distance p + r. All pairs are kept; γ weighs what an infeasible one asks for. With γ = ∞
	// such a pair is an error.
	InfeasibleSlack InfeasibleRule = iota
	// InfeasibleDrop: bounds are less the fixed part r, as Eq. 11 has them, and slack is on what is left, u − r or ℓ − r. A pair for which nothing
	// is left, at most 1e-12·u or 0, is dropped and counted.
	InfeasibleDrop
)

var infeasibleNames = enum.Of[InfeasibleRule]("unknown rule %d", "slack", "drop")

// String returns "slack" or "drop".
func (r InfeasibleRule) String() string { return infeasibleNames.Text(r) }

// Params are the parameters of Fit and FitKernel. But for Infeasible and W0 they are those of itml.Fit.
type Params struct {
	// Gamma is the weight γ > 0 of the slacks; 0 means 1, and +Inf that there are
	// none, so that every link is a hard constraint.
	Gamma float64 `range:"> 0, or +Inf"`
	// Upper is u, the largest squared distance wanted of a similar pair, at least 1e-140 and
	// less than Lower; 0 means by Bounds. Both are 0, or neither is.
	Upper float64 `range:"0, or >= 1e-140 and < lower"`
	// Lower is ℓ, the smallest squared distance wanted of a dissimilar pair, at most 1e140.
	Lower float64 `range:"0, or > upper and <= 1e140"`
	// Bounds says how u and ℓ follow from the squared distances of the links before learning.
	Bounds itml.BoundParams
	// Infeasible says what becomes of pairs that the basis cannot bring together. The default is InfeasibleSlack.
	Infeasible InfeasibleRule `words:"slack|drop" doc:"similar pairs that no metric of the basis brings near enough: bounds with slack on the whole distance, or dropped, and bounds on the part in the basis"`
	// Tol is the tolerance of the stopping rule, > 0; 0 means 0.001.
	Tol float64 `range:"> 0"`
	// MaxCycles is the cap on cycles over the links, at least 1; 0 means those of
	// DefaultSteps steps.
	MaxCycles int `range:"0, or >= 1" name:"cycles" doc:"cap on cycles over the pairs; 0 means those of 2000000 steps"`
	// Progress, if not nil, is told of each cycle: Iteration counts cycles, Residual is the
	// change of λ, and Objective is NaN, as it is computed at the end only.
	Progress func(learners.Progress)
}

// DefaultSteps is the default cap on steps, projections and looks at a link that needs none: some .3 s at k = 10, 25 s at k = 100. With bounds by percentiles, γ = 1
// converged within 1.8 million on each of three UCI sets, and γ = 100 within .6 million on documents, where .1 million, the cap of itml, were too few. On the UCI sets γ = 100 needs more than 24 million.
const DefaultSteps = 2_000_000

// Resolved returns p with its defaults filled in, but for MaxCycles, whose default
// depends on the number of links.
func (p Params) Resolved() Params {
	p.Gamma = cmp.Or(p.Gamma, 1)
	p.Bounds = p.Bounds.Resolved()
	p.Tol = cmp.Or(p.Tol, 1e-3)
	return p
}

// check returns an error unless p, which is resolved, is in range. The ranges of Bounds, itml checks.
func (p Params) check() error {
	if err := ranges.Check("iplr", p); err != nil {
		return err
	}
	if p.Infeasible != InfeasibleSlack && p.Infeasible != InfeasibleDrop {
		return fmt.Errorf("iplr: infeasible: %d is not allowed, want InfeasibleSlack or InfeasibleDrop", int(p.Infeasible))
	}
	return logdet.CheckGiven("iplr", p.Upper, p.Lower)
}

// Solution is what a fit says about its answer. Of the itml.Solution inside, p is the squared distance p + r, and with InfeasibleDrop p alone;
// ξ₀ is the bound of it. Skipped counts the links that F cannot move: ‖z‖² ≤ 1e-12·ξ₀, or ≤ 1e-24 of their squared distance.
type Solution struct {
	itml.Solution
	// F is the k×k matrix F = I + L, in the coordinates of the basis.
	F *mat.SymDense
	// Infeasible holds the numbers of the similar links, ascending, that no metric of the basis satisfies, r ≥ u (1 − 1e-12). With
	// InfeasibleDrop they are left out.
	Infeasible []int
	// Vacuous counts the dissimilar links that every metric of the basis satisfies, r ≥ ℓ (1 − 1e-12). They are left out.
	Vacuous int
}

// Result is what Fit returns.
type Result struct {
	// Result has learners.Converged or learners.IterationCap, as for itml.Fit. Iterations counts cycles, and
	// Residual is the change of λ over the last one, as in the stopping rule.
	learners.Result
	Solution
	// Metric is W = I + U(F − I)Uᵀ.
	Metric *metric.LowRank
	// Basis is the one given or, by FitLabels, made. Its Rank is less than the number of its vectors where some lie in the span of others.
	Basis *Basis
	// Links counts the links given or, by FitLabels, drawn.
	Links int
}

// Fit learns F, and so W = I + U(F − I)Uᵀ, in the span of a basis U:
//
//	min over F ≻ 0 and ξ > 0 of D(F, I) + γ·D(diag ξ, diag ξ₀)
//	subject to δ(p + r − ξ) ≤ 0 for each link,  p = zᵀFz,
//	z = Uᵀ(x_i − x_j),  r = ‖x_i − x_j‖² − ‖z‖² ≥ 0,
//
// D(F, I) = tr F − log det F − k being D(W, I). A similar link has δ = 1 and ξ₀ = u, a dissimilar one δ = −1 and ξ₀ = ℓ. The squared distance under W
// is p + r; no F changes r, the part outside the basis. See Params.Infeasible for pairs with r ≥ u. x is n×d, a row per object.
//
// Source: Jain, Kulis, Davis, Dhillon, JMLR 13, 2012, Section 3.6, Eqs. 8 to 11, and Algorithm 1. Eq. 8 asks for L ⪰ 0, under
// which no distance could shrink; Eq. 11, for F ≻ 0, that is L ≻ −I, which is what is learned here.
//
// A step is a Bregman projection onto the constraint of one link, the next in a cycle over all. It puts λ − α in place of the link's multiplier λ ≥ 0, 1/p −
// a and 1/ξ + a/γ in place of 1/p and 1/ξ, with a = δα. After it p + r = ξ for the root a of
//
//	−rpξ·a² + (pξ + rξ − γrp + γξp)·a + γ(p + r − ξ) = 0
//
// at which both stay positive. There the new p is q, the only positive root of
//
//	s·q² − (1 + γ − rs)·q − r = 0,  s = γ/ξ + 1/p,
//
// which takes no difference of nearly equal numbers. With r = 0 that is the closed form of itml.Fit, and a basis of the whole space gives its answer. If a step
// would make λ negative, α = λ. The rule of stopping is that of itml.Fit, too. A step costs O(k²); preparing the links, once for all parameters (see Problem), O(mdk) for m
// links; the end O(mk² + k³).
//
// The rows of a *sparse.Matrix are not made dense. Preparing a link then costs O(k) for each entry in which its rows differ, and O(dk) more where
// less than 1e-4 of its squared distance is outside the basis, which a difference of squared lengths would not tell well. The answer is that of the dense rows up to round-off.
//
// Fit returns an error if
//
//   - there is no link, or a link has label 0 or an index outside x;
//   - an entry of x is NaN or infinite, or a squared distance overflows;
//   - the basis is of another dimension than x;
//   - the links would take more memory than limits.Memory;
//   - a parameter is out of range, u ≥ ℓ, or the rule gives no bounds (see itml.BoundParams.Of);
//   - γ = ∞ with InfeasibleSlack, and a link is infeasible, which it names;
//   - the links ask for a metric that is singular to working precision;
//   - ctx is done.
//
// It panics if x is nil or empty, or basis is nil.
//
// The same in 30 lines: [metriclab/pkg/learners/plain.IPLR].
func Fit(ctx context.Context, x mat.Matrix, basis *Basis, links []metric.Link, p Params) (Result, error) {
	p = p.Resolved()
	if err := p.check(); err != nil {
		return Result{}, err
	}
	q, err := NewProblem(ctx, x, basis, links)
	if err != nil {
		return Result{}, err
	}
	return q.Fit(ctx, p)
}

// pairs are what a fit needs of links: z and r, whatever γ and the bounds are.
type pairs struct {
	links []metric.Link
	k     int
	z     []float64 // m×k, row by row
	r     []float64
	sq    []float64 // ‖x_i − x_j‖²
}

// checkLinks returns an error unless there are links, all between n objects.
func checkLinks(n int, links []metric.Link) error {
	if len(links) == 0 {
		return errors.New("iplr: links: none given, want at least one")
	}
	if err := metric.CheckLinks(n, links); err != nil {
		return fmt.Errorf("iplr: %w", err)
	}
	return nil
}

// newPairs makes room for links, which have been checked, in k coordinates.
func newPairs(k int, links []metric.Link) (*pairs, error) {
	m := len(links)
	if err := limits.Check(fmt.Sprintf("IPLR with %d links and a basis of %d vectors", m, k), limits.Floats(1, m, k)); err != nil {
		return nil, fmt.Errorf("iplr: %w", err)
	}
	return &pairs{links: slices.Clone(links), k: k, z: make([]float64, m*k), r: make([]float64, m), sq: make([]float64, m)}, nil
}

// refuse returns an error about a link.
func (p *pairs) refuse(link int, format string, args ...any) error {
	l := p.links[link]
	return fmt.Errorf("iplr: link %d, of %d and %d counted from 0: %w", link, l.I, l.J, fmt.Errorf(format, args...))
}

// of returns z of a link.
func (p *pairs) of(link int) []float64 { return p.z[link*p.k : (link+1)*p.k : (link+1)*p.k] }

// finite returns an error if the squared distance of a link overflows.
func (p *pairs) finite(link int) error {
	if s := p.sq[link] + p.r[link] + sumSquares(p.of(link)); math.IsInf(s, 0) || math.IsNaN(s) {
		return p.refuse(link, "squared distance %v at the start, want a finite number: scale the data down", p.sq[link])
	}
	return nil
}

// Problem is links between rows in the coordinates of a basis: what does not depend on parameters, so that several γ share it. It is immutable, and its methods may be called concurrently.
type Problem struct {
	basis *Basis
	pairs *pairs
}

// blockLinks is how many links are projected on the basis at a time, at most, and blockWork how many multiplications that takes: some .05 s.
const blockLinks, blockWork = 256, 1 << 26

// NewProblem returns the links of Fit, projected on the basis. It has the errors and panics of Fit that do not depend on parameters.
func NewProblem(ctx context.Context, x mat.Matrix, basis *Basis, links []metric.Link) (*Problem, error) {
	xs := rowsOf("NewProblem", x)
	u := basis.made().u
	n, d := xs.dims()
	k, bd := u.Dims()
	if bd != d {
		return nil, fmt.Errorf("iplr: basis: its vectors have %d numbers, want %d like the rows", bd, d)
	}
	if err := xs.check(); err != nil {
		return nil, fmt.Errorf("iplr: %w", err)
	}
	if err := checkLinks(n, links); err != nil {
		return nil, err
	}
	p, err := newPairs(k, links)
	if err != nil {
		return nil, err
	}
	if xs.dense == nil {
		err := p.projectSparse(ctx, xs.sparse, u, func(l int) (i, j int) { return links[l].I, links[l].J })
		if err != nil {
			return nil, err
		}
		return &Problem{basis, p}, nil
	}
	xd := xs.dense
	at := min(blockLinks, len(links), max(1, blockWork/d/k))
	v := mat.NewDense(at, d, nil)
	for top := 0; top < len(links); top += at {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("iplr: %w", err)
		}
		rows := min(at, len(links)-top)
		block := v.Slice(0, rows, 0, d).(*mat.Dense)
		for i := range rows {
			l := links[top+i]
			row := metric.Sub(block.RawRowView(i), xd.RawRowView(l.I), xd.RawRowView(l.J))
			p.sq[top+i] = sumSquares(row)
		}
		z := mat.NewDense(rows, k, p.z[top*k:(top+rows)*k])
		matrix.MulTo(z, block, u.T())
		inside := matrix.Mul(z, u)
		for i := range rows { // a difference of squared lengths would lose a short residual
			row := block.RawRowView(i)
			p.r[top+i] = sumSquares(metric.Sub(row, row, inside.RawRowView(i)))
			if err := p.finite(top + i); err != nil {
				return nil, err
			}
		}
	}
	return &Problem{basis, p}, nil
}

func sumSquares(v []float64) float64 {
	var s float64
	for _, a := range v {
		s += a * a
	}
	return s
}

// made returns p, and panics if no constructor made it.
func (p *Problem) made() *Problem {
	if p == nil || p.pairs == nil {
		panic("iplr: Problem: nil or the zero value, use NewProblem")
	}
	return p
}

// Residuals returns the part r of the squared distance of each link that lies outside the basis.
func (p *Problem) Residuals() []float64 { return slices.Clone(p.made().pairs.r) }

// Fit is the function Fit on links that are prepared.
func (p *Problem) Fit(ctx context.Context, params Params) (Result, error) {
	return fit(ctx, p.made().pairs, params, func(a answer) (Result, error) {
		m, err := metric.NewLowRank(p.basis.u, a.factor)
		if err != nil {
			return Result{}, fmt.Errorf("iplr: %w", err)
		}
		return Result{Result: a.Result, Solution: a.Solution, Metric: m, Basis: p.basis, Links: len(p.pairs.links)}, nil
	})
}

// answer is what a fit on pairs returns; factor is G, F = GᵀG.
type answer struct {
	learners.Result
	Solution
	factor *mat.Dense
}

// fit is the fit on pairs, with parameters as given; with makes the result of its answer.
func fit[T any](ctx context.Context, p *pairs, params Params, with func(answer) (T, error)) (T, error) {
	var zero T
	q := params.Resolved()
	if err := q.check(); err != nil {
		return zero, err
	}
	if q.Upper == 0 {
		var err error
		if q.Upper, q.Lower, err = q.Bounds.OfSqDists(p.sq); err != nil {
			return zero, fmt.Errorf("iplr: %w", err)
		}
	}
	if q.Upper < logdet.LeastBound || q.Lower > logdet.LargestBound {
		return zero, fmt.Errorf("iplr: upper: %v and lower: %v are not allowed, want %g to %g: rescale the data", q.Upper, q.Lower, logdet.LeastBound, logdet.LargestBound)
	}
	work := func(ctx context.Context, progress func(learners.Progress)) (T, error) {
		q.Progress = progress
		a, err := p.solve(ctx, q)
		if err != nil {
			return zero, err
		}
		return with(a)
	}
	if !abandon.Long(p.k, p.k, p.k) {
		return work(ctx, q.Progress)
	}
	return abandon.Run(ctx, "iplr", q.Progress, work)
}
