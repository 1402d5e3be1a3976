package model

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets"
	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
	"metriclab/pkg/random"
)

// Euclidean is the name of the baseline that learns nothing, and EuclideanRaw of the one that leaves features as they are, too: a Recipe with it is Raw.
const (
	Euclidean    = "euclidean"
	EuclideanRaw = "euclidean-raw"
)

var euclidean = baseline(Euclidean, "no learning: the Euclidean distance of the prepared rows, the baseline")

func baseline(name, doc string) catalog.Entry {
	e := unlearned
	e.Name, e.Doc = name, doc
	return e
}

var unlearned = catalog.Entry{
	Version: 1,
	Cost: func(s catalog.Size, _ catalog.Values) catalog.Cost {
		return catalog.Cost{Seconds: 1e-5, Bytes: limits.Floats(s.Features, s.Features)}
	},
	Form: catalog.Linear,
	Use: catalog.Use{Feedback: catalog.Data, Fit: func(_ context.Context, in catalog.Input, _ catalog.Values, _ catalog.Progress) (catalog.Learned, error) {
		_, d := in.X.Dims()
		if err := limits.Check(fmt.Sprintf("a metric of %d features", d), limits.Floats(d, d)); err != nil {
			return catalog.Learned{}, err
		}
		return catalog.Learned{Distance: metric.Identity(d), Result: learners.Result{Status: learners.Closed}}, nil
	}},
}

// Learners returns the learners that a Recipe can name: those of the catalog that
// learn from class labels, from pairs drawn by them, or from the rows alone, and
// the Euclidean baselines.
func Learners() []catalog.Entry {
	all := catalog.Of(catalog.Pairs, catalog.Links, catalog.Classes, catalog.Data)
	return append(all, euclidean, baseline(EuclideanRaw, "no learning and no scaling: the Euclidean distance of the rows as they are"))
}

// The values of Recipe.Given.
const (
	GivenPairs     = "pairs"     // a list of pairs
	GivenChunklets = "chunklets" // a column, see Data.GiveChunklets
)

// The largest numbers of a Recipe. Their product can be counted.
const (
	MaxPairs  = 1_000_000_000
	MaxPasses = 1_000_000_000
)

// Recipe says how a model is fitted: all that a user chooses.
type Recipe struct {
	// Learner is one of Learners, by its name or an alias, which Resolved replaces by
	// the name.
	Learner string `json:"learner"`
	// Params are its parameters as text; those not given have their defaults.
	Params map[string]string `json:"params"`
	// Pairs is the number of pairs drawn, half of them similar (see
	// sample.BalancedLinks), at most MaxPairs, for a learner of pairs; 0 means
	// 1000. It must be 0 for others.
	Pairs int `json:"pairs,omitempty"`
	// Given says that the pairs are Data.Links, in place of pairs drawn: GivenPairs or GivenChunklets, as they came about; "" draws. Pairs is then their
	// number, which Fit sets.
	Given string `json:"given,omitempty"`
	// Passes is how often an online learner sees the pairs, always in the same
	// order, at most MaxPasses; 0 means 1. It must be 0 for others.
	Passes int `json:"passes,omitempty"`
	// Seed is the origin of all that is drawn; 0 means 1.
	Seed uint64 `json:"seed"`
	// ImputeMean fills a missing cell with the mean of its column over the
	// training rows; otherwise a missing cell is an error.
	ImputeMean bool `json:"impute_mean"`
	// Raw leaves features as they are; otherwise each has its training mean
	// subtracted and is divided by its training standard deviation (divisor n), or
	// by 1 if it is constant.
	Raw bool `json:"raw"`
}

// NeedsLabels reports whether a fit by r, which must be resolved, needs classes: pca and others of feedback catalog.Data do without, and so does whoever gives pairs.
func (r Recipe) NeedsLabels() bool {
	if r.Given != "" {
		return false
	}
	e, err := catalog.FindIn(Learners(), r.Learner)
	return err != nil || e.Feedback != catalog.Data
}

// OptionError says that a choice of the caller, in a Recipe, Plan or Columns, is
// not allowed, and what is.
type OptionError struct{ err error }

func (e *OptionError) Error() string { return "model: " + e.err.Error() }
func (e *OptionError) Unwrap() error { return e.err }

func notAllowed(format string, args ...any) error {
	return &OptionError{fmt.Errorf(format, args...)}
}

// Draws reports whether learners of this feedback see drawn pairs.
func Draws(f catalog.Feedback) bool { return f == catalog.Pairs || f == catalog.Links }

// Resolved returns r with its defaults filled in, those of the parameters too. It
// returns an *OptionError that says what is allowed for an unknown learner, an
// unknown or bad parameter, and a field that does not apply to the learner.
func (r Recipe) Resolved() (Recipe, error) {
	r, _, _, err := r.resolve()
	return r, err
}

func (r Recipe) resolve() (Recipe, catalog.Entry, catalog.Values, error) {
	fail := func(format string, args ...any) (Recipe, catalog.Entry, catalog.Values, error) {
		return Recipe{}, catalog.Entry{}, catalog.Values{}, notAllowed(format, args...)
	}
	e, unknown := catalog.FindIn(Learners(), r.Learner)
	if unknown != nil {
		if e, err := catalog.Find(r.Learner); err == nil {
			return fail("learner %s learns from %s, which a table with class labels does not give", e.Name, e.Feedback)
		}
		return fail("%w", unknown)
	}
	r.Learner = e.Name
	values, err := e.Parse(r.Params)
	if err != nil {
		return fail("%w", err)
	}
	r.Params = withDefaults(e, r.Params)
	r.Raw = r.Raw || r.Learner == EuclideanRaw
	r, err = r.draws(e)
	return r, e, values, err
}

// draws returns r with the defaults of what is drawn for e filled in.
func (r Recipe) draws(e catalog.Entry) (Recipe, error) {
	switch {
	case r.Given == "":
	case r.Given != GivenPairs && r.Given != GivenChunklets:
		return Recipe{}, notAllowed("given: %q is not allowed, want %s or %s", r.Given, GivenPairs, GivenChunklets)
	case !Draws(e.Feedback):
		return Recipe{}, notAllowed("%s learns from %s, not from pairs; learners of pairs are %s", e.Name, e.Feedback, strings.Join(ofPairs(), ", "))
	}
	drawn := 1000
	if r.Given != "" {
		drawn = 0 // Fit counts them
	}
	for _, f := range []struct {
		name      string
		value     *int
		applies   bool
		byDefault int
		most      int
	}{
		{"pairs", &r.Pairs, Draws(e.Feedback), drawn, MaxPairs},
		{"passes", &r.Passes, e.Feedback == catalog.Pairs, 1, MaxPasses},
	} {
		switch {
		case !f.applies && *f.value != 0:
			return Recipe{}, notAllowed("%s: %d does not apply to %s, which learns from %s", f.name, *f.value, e.Name, e.Feedback)
		case *f.value < 0 || *f.value > f.most:
			return Recipe{}, notAllowed("%s: %d is not allowed, want 1 to %d", f.name, *f.value, f.most)
		case f.applies && *f.value == 0:
			*f.value = f.byDefault
		}
	}
	if r.Seed == 0 {
		r.Seed = 1
	}
	return r, nil
}

// ofPairs names the learners of pairs.
func ofPairs() []string {
	var names []string
	for _, e := range Learners() {
		if Draws(e.Feedback) {
			names = append(names, e.Name)
		}
	}
	return names
}

// withDefaults returns the parameters of e, those not given with their defaults.
func withDefaults(e catalog.Entry, given map[string]string) map[string]string {
	params := maps.Clone(given)
	if params == nil {
		params = map[string]string{}
	}
	for _, p := range e.Params {
		chosen := func(name string) string { return params[name] } // an earlier parameter
		if _, ok := params[p.Name]; !ok && p.Applies(chosen) {
			params[p.Name] = p.Default
		}
	}
	return params
}

// Progress is told how much of a work is done. It may be nil. It is called from
// one goroutine at a time. Fit tells of pairs seen by an online learner and of iterations made
// by a batch learner, where total is their cap and a fit that converges ends before it; a
// learner in closed form tells nothing. Evaluate tells of splits.
type Progress func(done, total int)

// Fit learns a model from all rows of d: first what stands for missing cells and
// the scales of the features, then the metric, from the prepared rows. The pairs
// that it draws depend on the seed, the labels and the number of pairs only, so
// that learners see the same pairs. With Recipe.Given it draws none: the pairs are d.Links, in their order, and no labels are needed.
//
// It returns an error if the recipe is not allowed (see Recipe.Resolved); if d has no labels and the recipe needs them (see Recipe.NeedsLabels), or has one
// class only; if the fit would exceed limits.Memory by its estimate (see Estimate); if a cell is missing and must not be, or a column has no cell at all; and
// the errors of the learner. An error wraps that of ctx when ctx is done first, which batch learners notice in the middle of a fit (see learners.Progress). A
// layout that Load would refuse is an error, too: two columns of one name, a name for a feature too few or too many, no column for the labels; and so is a name
// or label that is not UTF-8. It panics if d is nil or has no rows.
func Fit(ctx context.Context, d *Data, r Recipe, p Progress) (*Model, error) {
	return fit(ctx, d, r, p, false)
}

// FitInPlace is Fit for data that nobody needs afterwards: it prepares the rows in d.X itself, where Fit makes
// a second matrix. d.X then holds prepared rows or, after an error, some of them. Sparse rows never change. The model is that of Fit.
func FitInPlace(ctx context.Context, d *Data, r Recipe, p Progress) (*Model, error) {
	return fit(ctx, d, r, p, true)
}

func fit(ctx context.Context, d *Data, r Recipe, p Progress, inPlace bool) (*Model, error) {
	r, e, values, err := r.resolve()
	if err != nil {
		return nil, err
	}
	if err := d.check(r.Given, r.NeedsLabels()); err != nil {
		return nil, err
	}
	if r.Given != "" {
		if r.Pairs = len(d.Links); r.Pairs > MaxPairs {
			return nil, notAllowed("%d pairs are given, want at most %d", r.Pairs, MaxPairs)
		}
	}
	classes, y := datasets.Classes(d.Labels)
	n, _ := d.Dims()
	m := &Model{n: n, recipe: r, learner: e.Version, layout: d.Layout.clone(), classes: classes, counts: make([]int, len(classes))}
	for _, c := range y {
		m.counts[c]++
	}
	if d.Labels == nil && r.Given == "" {
		y = make([]int, n) // as of one class, which the learner does not look at
	}
	used, err := d.forRecipe(r, e)
	if err != nil {
		return nil, err
	}
	n, width := d.Dims()
	if err := (fitting{r, e, values}).room(n, width, len(classes)); err != nil {
		return nil, err
	}
	notes := d.Look().Notes(false)
	x, rep, err := m.prepare(used, inPlace || used != d)
	if err != nil {
		return nil, err
	}
	m.report = rep
	m.report.Notes = notes
	rng := random.Seed{Base: r.Seed, Experiment: "model/fit"}.Stream("pairs")
	if err := m.learn(ctx, e, values, x, y, d.Links, rng, p); err != nil {
		return nil, err
	}
	return m, nil
}

// prepare learns the preparation and returns the prepared rows: those of d themselves if they may be changed, or are sparse.
func (m *Model) prepare(d *Data, inPlace bool) (mat.Matrix, Report, error) {
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
	if e.Feedback == catalog.Pairs {
		m.metric, m.report.Mistakes, err = online(ctx, e, v, x, links, m.recipe.Passes, p)
	} else {
		m.metric, err = batch(ctx, e, v, x, links, y, p, &m.report)
	}
	if err != nil {
		return fmt.Errorf("model: %w", err)
	}
	return ctx.Err()
}

// batch returns the metric of a batch learner, and reports why it stopped and what it approximated.
func batch(ctx context.Context, e catalog.Entry, v catalog.Values, x mat.Matrix, links []metric.Link, y []int, p Progress, rep *Report) (Metric, error) {
	var told catalog.Progress
	if p != nil {
		told = func(q learners.Progress) { p(q.Iteration, q.Cap) }
	}
	r, err := e.Fit(ctx, catalog.Input{X: x, Y: y, Links: links}, v, told)
	if err != nil {
		return nil, err
	}
	rep.Status, rep.Landmarks, rep.Left = r.Status, r.Landmarks, r.Left
	if low, ok := r.Distance.(*metric.LowRank); ok {
		rep.Span = &Span{Rank: low.Rank(), Asked: r.Asked, Links: r.Links, Infeasible: r.Infeasible}
	}
	return r.Distance, nil
}

// online feeds the pairs to an online learner and returns its metric and the
// number of its mistakes in the last pass.
func online(ctx context.Context, e catalog.Entry, v catalog.Values, x mat.Matrix, links []metric.Link, passes int, p Progress) (Metric, int, error) {
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
