package model

import (
	"cmp"
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/internal/plural"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
	"metriclab/pkg/random"
)

// PairEvaluation is what EvaluatePairs found.
type PairEvaluation struct {
	Recipe         Recipe // resolved; Pairs is the number of pairs given
	Rows, Features int
	HeldOut
}

// EvaluatePairs estimates what a recipe that learns from d.Links is worth on rows of which it has seen no pair. Splits and scores are those of
// EvaluateVectors. In each split a share of the rows that pairs name is held out. Means, scales and the metric are learned from all other rows
// and the pairs of two of these. Euclidean and Cosine compare the rows as these means and scales prepare them. With Recipe.Raw pairs of a row of zeros are left out as EvaluateVectors does.
//
// It returns the errors of Fit, naming the split, and those of EvaluateVectors for a plan. It panics if d is nil or has no rows.
func EvaluatePairs(ctx context.Context, d *Data, r Recipe, p VectorPlan) (*PairEvaluation, error) {
	r, entry, values, err := r.resolve()
	if err != nil {
		return nil, err
	}
	if r.Given == "" {
		return nil, notAllowed("given: want %s or %s: the recipe draws its pairs by classes, which Evaluate judges", GivenPairs, GivenChunklets)
	}
	if err := d.check(r.Given, r.NeedsLabels()); err != nil {
		return nil, err
	}
	p = p.Resolved()
	if err := p.check(); err != nil {
		return nil, err
	}
	if len(d.Links) > MaxPairs {
		return nil, notAllowed("%d pairs are given, want at most %d", len(d.Links), MaxPairs)
	}
	r.Pairs = len(d.Links)
	f := fitting{r, entry, values}
	e := &PairEvaluation{Recipe: r}
	e.Rows, e.Features = d.Dims()
	if err := f.room(e.Rows, e.Features, 0); err != nil {
		return nil, err
	}
	order := d.order()
	links := relinked(d.Links, placed(order))
	looked := d.Look().Notes(true)
	if d, err = d.forRecipe(r, entry); err != nil {
		return nil, err
	}
	d = d.Rows(order)
	if !r.Raw && d.X != nil {
		e.Raw = &VectorScore{}
	}
	all := nameItems(links)
	if r.Raw { // which has rows of zeros, such as texts without a known word
		all.x = rowsOf(d.X, all.rows)
		if all, e.Notes, err = all.directed(); err != nil {
			return nil, err
		}
		all.x = nil
	}
	e.Notes = append(looked, e.Notes...)
	if err := e.run(ctx, all, p, func(ctx context.Context, out []bool, train, test *namedPairs, s int) error {
		held := make([]bool, e.Rows)
		for k, i := range all.rows {
			held[i] = out[k]
		}
		for _, side := range []*namedPairs{train, test} {
			for k, item := range side.rows {
				side.rows[k] = all.rows[item]
			}
		}
		return e.split(ctx, d, held, train, test, s, f)
	}); err != nil {
		return nil, err
	}
	return e, nil
}

// split learns and judges split s. held tells of each row of d whether it is held out, and train and test name rows of d.
// Rows that no pair names are learned from, too.
func (e *PairEvaluation) split(ctx context.Context, d *Data, held []bool, train, test *namedPairs, s int, f fitting) error {
	rest := make([]int, 0, e.Rows)
	place := make([]int, e.Rows)
	for i, out := range held {
		if !out {
			place[i] = len(rest)
			rest = append(rest, i)
		}
	}
	links := make([]metric.Link, len(train.links))
	for k, l := range train.links {
		l.I, l.J = place[train.rows[l.I]], place[train.rows[l.J]]
		links[k] = l
	}
	learned, tested := d.Rows(rest), d.Rows(test.rows)
	forgetUnseen(d.Layout, learned.X, tested.X)
	m := &Model{recipe: f.recipe, layout: d.Layout}
	if e.Raw != nil {
		if err := e.raw(ctx, d, f, rest, test, links, s); err != nil {
			return err
		}
	}
	x, _, err := m.prepare(learned, true)
	if err != nil {
		return err
	}
	if test.x, err = m.Prepare(tested.X); err != nil {
		return err
	}
	train.x, train.links = x.(*mat.Dense), links
	rng := random.Seed{Base: e.Plan.Seed, Experiment: "model/pairs", Trial: s}.Stream("pairs")
	if err := m.learn(ctx, f.entry, f.values, train.x, nil, links, rng, e.Plan.inside(s)); err != nil {
		return err
	}
	// The rows are copies, and to embed them may take long.
	_, err = abandon.Do(ctx, "model", func(ctx context.Context) (struct{}, error) {
		if err := e.baselines(ctx, train, test, s); err != nil {
			return struct{}{}, err
		}
		under, expand := coordinates(m.metric)
		a, b, err := expand(train.x, test.x)
		if err != nil {
			return struct{}{}, err
		}
		threshold, _ := bestThreshold(sqDistsOf(under, a, links), links)
		return struct{}{}, e.Learner.judge(ctx, under, b, test.links, threshold, e.Plan.K, s)
	})
	return err
}

// raw judges the Euclidean distance of rows as they are in split s.
func (e *PairEvaluation) raw(ctx context.Context, d *Data, f fitting, rest []int, test *namedPairs, links []metric.Link, s int) error {
	unscaled, err := f.unscaled()
	if err != nil {
		return err
	}
	learned, tested := d.Rows(rest), d.Rows(test.rows)
	forgetUnseen(d.Layout, learned.X, tested.X)
	m := &Model{recipe: unscaled.recipe, layout: d.Layout}
	x, _, err := m.prepare(learned, true)
	if err != nil {
		return err
	}
	z, err := m.scaler.Apply(tested.X)
	if err != nil {
		return named(err, d.Layout.Features, 0)
	}
	threshold, _ := bestThreshold(sqDistsOf(metric.Euclidean{}, x.(*mat.Dense), links), links)
	return e.Raw.judge(ctx, metric.Euclidean{}, z, test.links, threshold, e.Plan.K, s)
}

// coordinates returns a metric of coordinates that is m of prepared rows, and what makes coordinates of the rows of two matrices.
func coordinates(m Metric) (metric.SqDister, func(a, b *mat.Dense) (*mat.Dense, *mat.Dense, error)) {
	l, ok := m.(embedder)
	if !ok { // of a kernel metric that has none
		under, rows := searched(m)
		return under, func(a, b *mat.Dense) (*mat.Dense, *mat.Dense, error) {
			return mat.DenseCopyOf(rows(a)), mat.DenseCopyOf(rows(b)), nil
		}
	}
	width := max(l.Rows(), 1)
	return metric.Euclidean{}, func(a, b *mat.Dense) (*mat.Dense, *mat.Dense, error) {
		n, _ := a.Dims()
		k, _ := b.Dims()
		if err := limits.Check(fmt.Sprintf("coordinates of %s", plural.Of(n+k, "row")), limits.Floats(n+k, between(l)+width)); err != nil {
			return nil, nil, fmt.Errorf("model: %w", err)
		}
		if l.Rows() == 0 { // all points coincide
			return mat.NewDense(n, 1, nil), mat.NewDense(k, 1, nil), nil
		}
		za, zb := l.EmbedRows(a), l.EmbedRows(b)
		return za, zb, cmp.Or(checkCoordinates(za, 0), checkCoordinates(zb, 0))
	}
}
