package model

import (
	"context"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets"
	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/metric"
	"metriclab/pkg/random"
	"metriclab/pkg/sparse"
	"metriclab/pkg/tables"
)

// fitRows learns a model from all rows of d: first what stands for missing cells and
// the scales of the features, then the metric, from the prepared rows. The pairs
// that it draws depend on the seed, the labels and the number of pairs only, so
// that learners see the same pairs. With Recipe.Given it draws none: the pairs are d.Links, in their order, and no labels are needed.
//
// A layout that Load would refuse is an error: two columns of one name, a name for a feature too few or too many, no column for the labels; and so is a name
// or label that is not UTF-8.
func fitRows(ctx context.Context, d *tables.Data, f fitting, p Progress) (*Model, error) {
	r, e, values := f.recipe, f.entry, f.values
	if err := checkData(d, r.Given, r.NeedsLabels()); err != nil {
		return nil, err
	}
	if r.Given != "" {
		if r.Pairs = len(d.Links); r.Pairs > MaxPairs {
			return nil, notAllowed("%d pairs are given, want at most %d", r.Pairs, MaxPairs)
		}
	}
	classes, counts, y := classesOf(d.Labels)
	n, _ := d.Dims()
	m := &Model{n: n, recipe: r, learner: e.Version, layout: d.Layout.Clone(), classes: classes, counts: counts}
	if d.Labels == nil && r.Given == "" {
		y = make([]int, n) // as of one class, which the learner does not look at
	}
	used, err := r.rowsFor(d, e)
	if err != nil {
		return nil, err
	}
	n, width := d.Dims()
	if err := (fitting{r, e, values}).room(n, width, len(classes)); err != nil {
		return nil, err
	}
	notes := d.Look().Notes(false)
	x, rep, err := m.prepare(used, d.InPlace || used != d)
	if err != nil {
		return nil, err
	}
	m.report = rep
	m.report.Notes = notes
	if r.Given != "" {
		m.report.Similar = countSimilar(d.Links)
		m.report.Dissimilar = len(d.Links) - m.report.Similar
	}
	rng := random.Seed{Base: r.Seed, Experiment: "model/fit"}.Stream("pairs")
	if err := m.learn(ctx, e, values, x, y, d.Links, rng, p); err != nil {
		return nil, err
	}
	return m, nil
}

// prepare learns the preparation and returns the prepared rows: those of d themselves if they may be changed, or are sparse.
func (m *Model) prepare(d *tables.Data, inPlace bool) (mat.Matrix, Report, error) {
	if d.Sparse != nil { // features stay as they are
		m.scaler = &datasets.Scaler{Dim: len(m.layout.Features)}
		return d.Sparse, Report{Empty: emptyRows(d.Sparse)}, nil
	}
	x := d.X
	s, constant, err := fitScaler(x, m.layout.Features, m.recipe)
	if err != nil {
		return nil, Report{}, err
	}
	m.scaler = s
	rep := Report{Constant: constant}
	n, _ := x.Dims()
	for i := range n {
		for _, v := range x.RawRowView(i) {
			if v != v {
				rep.Imputed++
			}
		}
	}
	if !inPlace {
		out, err := m.Prepare(x)
		return out, rep, err
	}
	if err := s.ApplyInPlace(x); err != nil {
		return nil, Report{}, named(err, m.layout.Features, 0)
	}
	return x, rep, nil
}

// learn sets the metric, by the links if they are given.
func (m *Model) learn(ctx context.Context, e catalog.Entry, v catalog.Values, x mat.Matrix, y []int, links []metric.Link, rng *rand.Rand, p Progress) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var err error
	if Draws(e.Feedback) && m.recipe.Given == "" {
		if links, err = sample.BalancedLinks(rng, y, m.recipe.Pairs); err != nil {
			return fmt.Errorf("model: %w", err)
		}
	}
	f := fitting{m.recipe, e, v}
	if m.metric, err = f.learn(ctx, catalog.Input{X: x, Y: y, Links: links}, p, &m.report); err != nil {
		return err
	}
	return ctx.Err()
}

// learn returns the metric of vectors that a learner finds, and reports what there is to say.
func (f fitting) learn(ctx context.Context, in catalog.Input, p Progress, rep *Report) (learned catalog.Distance, err error) {
	if f.entry.Feedback.Online() {
		if learned, rep.Mistakes, err = online(ctx, f.entry, f.values, in.X, in.Links, f.recipe.Passes, p); err != nil {
			return nil, fmt.Errorf("model: %w", err)
		}
		return learned, nil
	}
	r, err := f.entry.Fit(ctx, in, f.values, p.of())
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	rep.Result, rep.Landmarks, rep.Left = r.Result, r.Landmarks, r.Left
	if low, ok := r.Distance.(*metric.LowRank); ok {
		rep.Span = &Span{Rank: low.Rank(), Asked: r.Asked, Links: r.Links, Infeasible: r.Infeasible}
	}
	return r.Distance, nil
}

// online feeds the pairs to an online learner and returns its metric and the
// number of its mistakes in the last pass.
func online(ctx context.Context, e catalog.Entry, v catalog.Values, x mat.Matrix, links []metric.Link, passes int, p Progress) (catalog.Distance, int, error) {
	const between = 64 // pairs between looks at ctx
	_, d := x.Dims()
	l, err := catalog.As[learners.Pair](e.New(catalog.Shape{Dim: d}, v))
	if err != nil {
		return nil, 0, err
	}
	mistakes, done := 0, 0
	for pass := range passes {
		for o, err := range learners.Run(l, sample.Pairs(x, links)) {
			if err != nil {
				return nil, 0, fmt.Errorf("%s: pair %d: %w", e.Name, done+1, err)
			}
			if pass == passes-1 && o.Mistake {
				mistakes++
			}
			if done++; done%between == 0 {
				if err := ctx.Err(); err != nil {
					return nil, 0, err
				}
				if p != nil {
					p(done, passes*len(links))
				}
			}
		}
	}
	switch l := l.(type) {
	case learners.PairMetric:
		return l.Metric(), mistakes, nil
	case learners.PairKernel:
		return l.KernelMetric(), mistakes, nil
	}
	return nil, 0, fmt.Errorf("%s: the learner has no metric", e.Name)
}

// keepsSparse tells whether a fit by the recipe takes sparse rows as they are.
func (r Recipe) keepsSparse(e catalog.Entry) bool {
	return e.Form == catalog.LowRank && r.Raw && !r.ImputeMean
}

// rowsFor returns d, with rows that the recipe can use: sparse ones are made dense unless it keeps them.
func (r Recipe) rowsFor(d *tables.Data, e catalog.Entry) (*tables.Data, error) {
	if d.Sparse == nil || r.keepsSparse(e) {
		return d, nil
	}
	x, err := d.Sparse.Dense()
	if err != nil {
		why := "whose rows are standardised: features as they are stay sparse"
		if e.Form != catalog.LowRank {
			why = "which takes no sparse rows; iplr does"
		}
		return nil, fmt.Errorf("model: %s: made dense for %s, %s: %w", d.Name, e.Name, why, err)
	}
	out := *d
	out.X, out.Sparse = x, nil
	return &out, nil
}

// emptyRows counts the rows without an entry.
func emptyRows(x *sparse.Matrix) int {
	count := 0
	n, _ := x.Dims()
	for i := range n {
		if len(x.Row(i).Index) == 0 {
			count++
		}
	}
	return count
}

// checkData returns an error unless d can be fitted, by its Links if they are given, without labels if the learner needs none.
func checkData(d *tables.Data, given string, labels bool) error {
	if _, _ = d.Dims(); (given != "") != (d.Links != nil) {
		return notAllowed("given: the recipe says %q, but the data have %d links", given, len(d.Links))
	}
	return d.Check(labels)
}
