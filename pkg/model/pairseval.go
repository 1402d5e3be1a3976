package model

import (
	"cmp"
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/internal/plural"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
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
	if !r.Raw && d.X != nil {
		e.Raw = &VectorScore{}
	}
	laid, err := d.layPairs(r, entry)
	if err != nil {
		return nil, err
	}
	e.Notes = laid.notes
	d, all := laid.d, laid.all
	if err := e.run(ctx, all, p, func(ctx context.Context, out []bool, train, test *namedPairs, s int) error {
		return e.split(ctx, d, laid.rest(out, train, test), train, test, s, f)
	}); err != nil {
		return nil, err
	}
	return e, nil
}

// laidPairs are the rows of a table and pairs of them, in an order that the contents give.
type laidPairs struct {
	d     *Data
	all   *namedPairs // items are the rows that are named
	notes []string
}

// layPairs orders rows and pairs of d, and leaves out what the recipe cannot judge.
func (d *Data) layPairs(r Recipe, e catalog.Entry) (l laidPairs, err error) {
	order := d.order()
	links := relinked(d.Links, placed(order))
	looked := d.Look().Notes(true)
	if d, err = d.forRecipe(r, e); err != nil {
		return l, err
	}
	l.d, l.all = d.Rows(order), nameItems(links)
	if r.Raw { // which has rows of zeros, such as texts without a known word
		l.all.x = rowsOf(l.d.X, l.all.rows)
		if l.all, l.notes, err = l.all.directed(); err != nil {
			return l, err
		}
		l.all.x = nil
	}
	l.notes = append(looked, l.notes...)
	return l, nil
}

// rest returns the rows to learn from, those of train and all that no pair names; out tells of each item whether it is held out. It makes the rows of train places among these, and those of
// test rows of the table.
func (l laidPairs) rest(out []bool, train, test *namedPairs) []int {
	n, _ := l.d.Dims()
	held := make([]bool, n)
	for k, i := range l.all.rows {
		held[i] = out[k]
	}
	rest, place := make([]int, 0, n), make([]int, n)
	for i, out := range held {
		if !out {
			place[i] = len(rest)
			rest = append(rest, i)
		}
	}
	for k, item := range train.rows {
		train.rows[k] = place[l.all.rows[item]]
	}
	for k, item := range test.rows {
		test.rows[k] = l.all.rows[item]
	}
	for k, p := range train.links {
		p.I, p.J = train.rows[p.I], train.rows[p.J]
		train.links[k] = p
	}
	return rest
}

// split learns and judges split s, from the rows rest, of which train has pairs, and rows of d that test names.
func (e *PairEvaluation) split(ctx context.Context, d *Data, rest []int, train, test *namedPairs, s int, f fitting) error {
	links := train.links
	if e.Raw != nil {
		if err := e.raw(ctx, d, f, rest, test, links, s); err != nil {
			return err
		}
	}
	m, x, z, err := f.onPairs(ctx, d, rest, links, test.rows, e.Plan.inside(s))
	if err != nil {
		return err
	}
	train.x, test.x = x, z
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
	_, x, z, err := unscaled.onPairs(ctx, d, rest, links, test.rows, nil)
	if err != nil {
		return err
	}
	threshold, _ := bestThreshold(sqDistsOf(metric.Euclidean{}, x, links), links)
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
