package itml

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/internal/matrix"
	"metriclab/internal/ranges"
	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/metric"
)

// LabelParams are the parameters of FitLabels.
type LabelParams struct {
	Params
	// Links is the number of links to draw; 0 means 40c(c−1) for c classes.
	Links int `range:"0, or >= 1" doc:"pairs to draw; 0 means 40c(c-1) for c classes"`
	// BoundPairs is the number of pairs to draw for the rule of the bounds; 0 means
	// 1,000. The program of Davis et al. (2007) draws up to 100.
	BoundPairs int `range:">= 1" needs:"rule=percentiles|bins" doc:"pairs to draw for the bounds"`
}

// Resolved returns p with its defaults filled in, but for Links, whose default
// depends on the number of classes.
func (p LabelParams) Resolved() LabelParams {
	p.Params = p.Params.Resolved()
	p.BoundPairs = cmp.Or(p.BoundPairs, 1000)
	return p
}

func (p LabelParams) check() error {
	if err := ranges.Check("itml", p); err != nil {
		return err
	}
	return p.Params.check()
}

// FitLabels is Fit on links drawn from the classes y of the rows of x:
// 40c(c−1) pairs of distinct rows, uniform and with replacement, similar if of one
// class, as in the program of Davis et al. (2007) and in Perez-Suay and Ferri
// (2013), Section 3. Bounds by the rule come from another draw of the same kind.
// It draws the links first, so that they do not depend on the bounds.
//
// It returns the errors of Fit, and one if y does not have an entry per row
// or has fewer than two classes.
func FitLabels(ctx context.Context, rng *rand.Rand, x mat.Matrix, y []int, p LabelParams) (Result, error) {
	xd := matrix.Dense(x)
	p = p.Resolved()
	if err := p.check(); err != nil {
		return Result{}, err
	}
	links, p, err := p.draw(ctx, rng, xd, y)
	if err != nil {
		return Result{}, err
	}
	return Fit(ctx, xd, links, p.Params)
}

// draw returns links, and p with bounds.
func (p LabelParams) draw(ctx context.Context, rng *rand.Rand, x *mat.Dense, y []int) ([]metric.Link, LabelParams, error) {
	if rng == nil {
		panic("itml: FitLabels: rng is nil")
	}
	if x == nil || x.IsEmpty() {
		panic("itml: FitLabels: x is nil or empty")
	}
	n, _ := x.Dims()
	if len(y) != n {
		return nil, p, fmt.Errorf("itml: %d labels for %d rows", len(y), n)
	}
	classes := len(slices.Compact(slices.Sorted(slices.Values(y))))
	if classes < 2 {
		return nil, p, fmt.Errorf("itml: labels: %d class, want at least 2", classes)
	}
	if err := metric.CheckFinite(x); err != nil {
		return nil, p, fmt.Errorf("itml: %w", err)
	}
	links, err := sample.RandomLinks(rng, y, cmp.Or(p.Links, 40*classes*(classes-1)))
	if err != nil {
		return nil, p, fmt.Errorf("itml: %w", err)
	}
	if p.Upper != 0 {
		return links, p, nil
	}
	sample, err := sample.RandomLinks(rng, y, p.BoundPairs)
	if err != nil {
		return nil, p, fmt.Errorf("itml: %w", err)
	}
	bounds := func(ctx context.Context, x *mat.Dense, p LabelParams) (LabelParams, error) {
		f, err := newInputForm(ctx, x, p.W0)
		if err != nil {
			return p, err
		}
		p.Upper, p.Lower, err = p.Bounds.within(ctx, x, sample, f.metric())
		return p, err
	}
	if _, d := x.Dims(); matrix.IsNil(p.W0) || !abandon.Long(d, d, d) {
		p, err = bounds(ctx, x, p)
		return links, p, err
	}
	own, rows := p, mat.DenseCopyOf(x) // what an abandoned goroutine goes on to read
	own.W0 = copySymmetric(p.W0)
	q, err := abandon.Do(ctx, "itml", func(ctx context.Context) (LabelParams, error) { return bounds(ctx, rows, own) })
	q.W0 = p.W0
	return links, q, err
}

// TunedParams are the parameters of Tune and FitTuned.
type TunedParams struct {
	// LabelParams are those of each fit. Gamma must be 0: it is chosen.
	LabelParams
	// Gammas is the grid of γ, each > 0 or +Inf; nil means 10⁻⁴, 10⁻³, ..., 10⁴, as
	// in the program of Davis et al. (2007). (Jain et al. 2012, Section 6, have 0.01
	// to 1,000.)
	Gammas []float64 `range:"> 0, or +Inf"`
	// Folds is the number of parts of the cross-validation, at least 2; 0 means 2.
	Folds int `range:">= 2 and <= the number of rows" doc:"parts of the cross-validation"`
	// K is the number of neighbours, at least 1; 0 means 4. Both are the program's.
	K int `range:">= 1 and <= the rows of the smallest training fold" doc:"neighbours that vote in the cross-validation"`
}

// Resolved returns p with its defaults filled in, but for Gamma and Links.
func (p TunedParams) Resolved() TunedParams {
	gamma := p.Gamma
	p.LabelParams = p.LabelParams.Resolved()
	p.Gamma = gamma
	if p.Gammas == nil {
		for e := -4; e <= 4; e++ {
			p.Gammas = append(p.Gammas, math.Pow10(e))
		}
	}
	p.Folds, p.K = cmp.Or(p.Folds, 2), cmp.Or(p.K, 4)
	return p
}

func (p TunedParams) check(n int) error {
	if p.Gamma != 0 {
		return fmt.Errorf("itml: gamma: %v is not allowed, want 0: it is chosen from gammas", p.Gamma)
	}
	if len(p.Gammas) == 0 {
		return fmt.Errorf("itml: gammas: none given, want at least one")
	}
	err := ranges.Check("itml", p,
		ranges.Limit{Words: "the number of rows", Value: n},
		ranges.Limit{Words: "the rows of the smallest training fold", Value: n - (n+p.Folds-1)/p.Folds})
	if err != nil {
		return err
	}
	p.Gamma = p.Gammas[0]
	return p.LabelParams.check()
}

// after returns the Progress of the fit that follows done others of all, nil if there is none.
func (p TunedParams) after(done, all int) func(learners.Progress) {
	if p.Progress == nil {
		return nil
	}
	return func(q learners.Progress) {
		q.Iteration += done * q.Cap
		q.Cap *= all
		p.Progress(q)
	}
}

// Tuning is what Tune returns.
type Tuning struct {
	// Gamma is the γ chosen.
	Gamma float64
	// Gammas is the grid, and Wrong the number of rows that the cross-validation
	// got wrong with each.
	Gammas []float64
	Wrong  []int
}

// Tuned is what FitTuned returns: the fit to all rows with the γ chosen.
type Tuned struct {
	Result
	Tuning
}

// Tune chooses the γ of the grid under which k nearest neighbours get the
// fewest rows wrong in a cross-validation, the first of equals, as the program of
// Davis et al. (2007) does. Folds are stratified (sample.StratifiedFolds). In each
// fold links and bounds are drawn from the training rows, once for all γ, and the
// test rows are classified by the training rows under the metric learned. rng is
// used in the order: folds, the draws of each fold.
//
// It makes Folds·len(Gammas) fits and returns the errors of FitLabels, naming
// fold and γ. Progress is told of the cycles of all fits: Iteration and Cap count a fit that
// ends early as one of its full length.
func Tune(ctx context.Context, rng *rand.Rand, x mat.Matrix, y []int, p TunedParams) (Tuning, error) {
	xd := matrix.Dense(x)
	all := p.Resolved()
	return tune(ctx, rng, xd, y, p, all.Folds*len(all.Gammas))
}

// tune is Tune. Progress is told that its fits are the first of fits.
func tune(ctx context.Context, rng *rand.Rand, x *mat.Dense, y []int, p TunedParams, fits int) (Tuning, error) {
	if rng == nil {
		panic("itml: Tune: rng is nil")
	}
	if x == nil || x.IsEmpty() {
		panic("itml: Tune: x is nil or empty")
	}
	n, d := x.Dims()
	p = p.Resolved()
	if err := p.check(n); err != nil {
		return Tuning{}, err
	}
	if len(y) != n {
		return Tuning{}, fmt.Errorf("itml: %d labels for %d rows", len(y), n)
	}
	fold := sample.StratifiedFolds(rng, y, p.Folds)
	wrong := make([]int, len(p.Gammas))
	for f := range p.Folds {
		var rows [2][]int // training, test
		for i, g := range fold {
			part := 0
			if g == f {
				part = 1
			}
			rows[part] = append(rows[part], i)
		}
		var xs [2]*mat.Dense
		var ys [2][]int
		for part, r := range rows {
			xs[part] = mat.NewDense(len(r), d, nil)
			for k, i := range r {
				xs[part].SetRow(k, x.RawRowView(i))
				ys[part] = append(ys[part], y[i])
			}
		}
		links, q, err := p.draw(ctx, rng, xs[0], ys[0])
		if err != nil {
			return Tuning{}, fmt.Errorf("fold %d: %w", f+1, err)
		}
		for g, gamma := range p.Gammas {
			q.Gamma = gamma
			q.Progress = p.after(f*len(p.Gammas)+g, fits)
			l, err := Fit(ctx, xs[0], links, q.Params)
			if err != nil {
				return Tuning{}, fmt.Errorf("fold %d, gamma %v: %w", f+1, gamma, err)
			}
			// The rows are copies.
			e, err := abandon.Do(ctx, "knn", func(ctx context.Context) ([]int, error) {
				knn, err := nearest.NewKNN(l.Metric, xs[0], ys[0], nearest.KNNOptions{})
				if err != nil {
					return nil, err
				}
				return knn.Errors(ctx, xs[1], ys[1], []int{p.K})
			})
			if err != nil {
				return Tuning{}, fmt.Errorf("itml: fold %d, gamma %v: %w", f+1, gamma, err)
			}
			wrong[g] += e[0]
		}
	}
	best := p.Gammas[slices.Index(wrong, slices.Min(wrong))]
	return Tuning{Gamma: best, Gammas: slices.Clone(p.Gammas), Wrong: wrong}, nil
}

// FitTuned is Tune, and FitLabels on all rows with the γ chosen and
// what follows from rng. It returns the errors of both.
func FitTuned(ctx context.Context, rng *rand.Rand, x mat.Matrix, y []int, p TunedParams) (Tuned, error) {
	xd := matrix.Dense(x)
	all := p.Resolved()
	fits := all.Folds * len(all.Gammas)
	t, err := tune(ctx, rng, xd, y, p, fits+1)
	if err != nil {
		return Tuned{}, err
	}
	p.Gamma, p.Progress = t.Gamma, all.after(fits, fits+1)
	l, err := FitLabels(ctx, rng, xd, y, p.LabelParams)
	if err != nil {
		return Tuned{}, err
	}
	return Tuned{Result: l, Tuning: t}, nil
}
