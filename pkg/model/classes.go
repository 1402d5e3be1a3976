package model

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/internal/closest"
	"metriclab/internal/matrix"
	"metriclab/internal/plural"
	"metriclab/pkg/datasets"
	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/metric"
	"metriclab/pkg/random"
	"metriclab/pkg/tables"
)

// Learners returns the learners of tables: those of the catalog that learn from class labels, from pairs drawn by them, or from the rows alone, and
// the Euclidean baselines.
func Learners() []catalog.Entry {
	all := catalog.Of(catalog.Pairs, catalog.Links, catalog.Classes, catalog.Data)
	return append(all, baselineOf(Euclidean), baselineOf(EuclideanRaw))
}

// ByClasses is the problem of a table, or of sparse rows, with classes; learners of the rows alone need none. A learner of pairs sees pairs drawn by classes. Of sparse rows
// features stay as they are.
func ByClasses(d *tables.Data) Problem { return Problem{rows{d}} }

type rows struct{ d *tables.Data }

func (t rows) about() string            { return "a table with classes" }
func (t rows) entries() []catalog.Entry { return Learners() }
func (t rows) scope() scope             { return scope{pairs: true, cells: true, raw: true} }

func (t rows) rivals(r Recipe) rivals {
	if r.Raw || t.d != nil && t.d.Sparse != nil {
		return rivals{verdict: []string{Euclidean}}
	}
	return rivals{shown: []string{EuclideanRaw}, verdict: []string{Euclidean}}
}

func (t rows) cost(f fitting) catalog.Cost {
	n, width := t.d.Dims()
	classes, _, _ := classesOf(t.d.Labels)
	return f.cost(n, width, len(classes))
}

func (t rows) fit(ctx context.Context, f fitting, told Progress) (Fitted, error) {
	m, err := fitRows(ctx, t.d, f, told)
	if err != nil {
		return nil, err
	}
	return m, nil
}

func (t rows) sample(rng *rand.Rand, n int) (task, string, error) {
	all, _ := t.d.Dims()
	if n >= all {
		return t, "", nil
	}
	if t.d.Labels == nil {
		return t, "", notAllowed("sample: %s has no classes to draw rows by", t.d.Name)
	}
	_, _, y := classesOf(t.d.Labels)
	keep := stratified(rng, rowOrder(t.d), y, n)
	return rows{t.d.Rows(keep)}, fmt.Sprintf("a sample of %d of %d rows, stratified by class", len(keep), all), nil
}

// stratified draws n of the items of order, of each class y its share, rounded to the nearest, and at least one.
func stratified(rng *rand.Rand, order, y []int, n int) (keep []int) {
	of := map[int][]int{}
	for _, i := range order {
		of[y[i]] = append(of[y[i]], i)
	}
	for c := range len(of) {
		rng.Shuffle(len(of[c]), func(i, j int) { of[c][i], of[c][j] = of[c][j], of[c][i] })
		share := (2*n*len(of[c]) + len(order)) / (2 * len(order))
		keep = append(keep, of[c][:max(1, share)]...)
	}
	slices.Sort(keep)
	return keep
}

func (t rows) lay(p *Comparing, fits *[]fitting, facts *Facts) (*course, error) {
	d := t.d
	if err := checkData(d, "", true); err != nil {
		return nil, err
	}
	if d.Sparse != nil { // rows are as they are
		all := *fits
		*fits = slices.DeleteFunc(all, func(f fitting) bool { return f.recipe.Learner == EuclideanRaw && len(all) > 1 })
	}
	facts.Notes = d.Look().Notes(true)
	return courseOfRows(d, rowOrder(d), p, *fits, facts)
}

// ByGram is the problem of objects of which only the Gram matrix k0 is known, n×n, with a class each. Each split learns from the rows and columns of its
// training objects, and classifies the others by their kernel values with these and with themselves. A learner of pairs sees those that ByClasses draws for the same classes.
func ByGram(k0 mat.Symmetric, labels []string) Problem { return Problem{objects{k0, labels}} }

type objects struct {
	k0     mat.Symmetric
	labels []string
}

func (t objects) about() string        { return "a Gram matrix with classes" }
func (t objects) scope() scope         { return scope{pairs: true} }
func (t objects) rivals(Recipe) rivals { return rivals{verdict: []string{Euclidean}} }

func (t objects) cost(f fitting) catalog.Cost {
	classes, _ := datasets.Classes(t.labels)
	return f.cost(t.k0.SymmetricDim(), 1, len(classes))
}

// entries are those of the catalog that learn from rows under any kernel, without the parameters that name one.
func (t objects) entries() []catalog.Entry {
	out := slices.DeleteFunc(catalog.Of(catalog.Links, catalog.Classes, catalog.Data), func(e catalog.Entry) bool { return !e.Form.Kernel() })
	for i, e := range out {
		out[i] = e.WithoutKernel()
	}
	return out
}

func (t objects) fit(ctx context.Context, f fitting, told Progress) (Fitted, error) {
	if matrix.IsNil(t.k0) || t.k0.SymmetricDim() == 0 {
		panic("model: ByGram: k0 is nil or empty")
	}
	if err := checkObjectLabels(t.labels, t.k0.SymmetricDim()); err != nil {
		return nil, err
	}
	return fitGram(ctx, t.k0, f, told, func(ctx context.Context, g *Gram, told catalog.Progress) error {
		var y []int
		g.classes, g.counts, y = classesOf(t.labels)
		err := g.fitLabels(ctx, f, y, told)
		if note := closest.AlikeNote("classes", g.classes); note != "" {
			g.report.Notes = []string{note}
		}
		return err
	})
}

func (t objects) sample(rng *rand.Rand, n int) (task, string, error) {
	if n >= len(t.labels) {
		return t, "", nil
	}
	_, _, y := classesOf(t.labels)
	keep := stratified(rng, gramOrder(t.k0, t.labels), y, n)
	out := objects{k0: matrixOf(t.k0, keep)}
	for _, i := range keep {
		out.labels = append(out.labels, t.labels[i])
	}
	return out, fmt.Sprintf("a sample of %d of %d objects, stratified by class", len(keep), len(t.labels)), nil
}

// matrixOf returns rows and columns of a, nil for all.
func matrixOf(a mat.Symmetric, keep []int) *mat.SymDense {
	if keep == nil {
		for i := range a.SymmetricDim() {
			keep = append(keep, i)
		}
	}
	out := mat.NewSymDense(len(keep), nil)
	for i, from := range keep {
		for j := i; j < len(keep); j++ {
			out.SetSym(i, j, a.At(from, keep[j]))
		}
	}
	return out
}

func (t objects) lay(p *Comparing, fits *[]fitting, facts *Facts) (*course, error) {
	if matrix.IsNil(t.k0) || t.k0.SymmetricDim() == 0 {
		panic("model: ByGram: k0 is nil or empty")
	}
	u, err := under(t.k0, t.labels)
	if err != nil {
		return nil, err
	}
	for i, f := range *fits {
		(*fits)[i].entry, (*fits)[i].recipe.Raw = u.entry(f.entry), true
	}
	c, err := courseOfRows(u.d, gramOrder(t.k0, t.labels), p, *fits, facts)
	if err != nil {
		return nil, err
	}
	facts.Features = 0
	if note := closest.AlikeNote("classes", facts.Classes); note != "" {
		facts.Notes = append(facts.Notes, note)
	}
	return c, nil
}

// gramUnder is a Gram matrix as rows: the numbers of the objects.
type gramUnder struct {
	d       *tables.Data
	objects kernels.Objects
}

// under checks a Gram matrix and its classes.
func under(k0 mat.Symmetric, labels []string) (u gramUnder, err error) {
	n := k0.SymmetricDim()
	if err := cmp.Or(checkObjects(n), checkObjectLabels(labels, n)); err != nil {
		return u, err
	}
	own := mat.NewSymDense(n, nil)
	own.CopySym(k0)
	if err := kernels.CheckGram(own); err != nil {
		return u, fmt.Errorf("model: k0: %w", err)
	}
	u.objects = kernels.NewObjects(own)
	u.d, err = tables.NewData(u.objects.Points(), labels, nil)
	return u, err
}

// entry is a learner of rows that looks up the kernel values of objects.
func (u gramUnder) entry(e catalog.Entry) catalog.Entry {
	fit := e.Fit
	e.Fit = func(ctx context.Context, in catalog.Input, v catalog.Values, told catalog.Progress) (catalog.Learned, error) {
		in.Kernel = u.objects
		return fit(ctx, in, v, told)
	}
	if !e.Form.Kernel() { // the baseline
		e.Form = catalog.Transformed
		e.Fit = func(context.Context, catalog.Input, catalog.Values, catalog.Progress) (catalog.Learned, error) {
			k, err := kernels.NewTransformed(u.objects, 1, 1, nil, nil)
			return catalog.Learned{Distance: k}, err
		}
	}
	return e
}

// checkObjectLabels returns an error unless labels tell classes of n objects.
func checkObjectLabels(labels []string, n int) error {
	if len(labels) != n {
		return fmt.Errorf("model: %s for %s", plural.Of(len(labels), "label"), plural.Of(n, "object"))
	}
	if err := tables.CheckLabels(labels, n); err != nil {
		return err
	}
	if classes, _ := datasets.Classes(labels); len(classes) < 2 {
		return fmt.Errorf("model: all objects have the label %q, want at least 2 classes", classes[0])
	}
	return nil
}

// classesOf returns the classes, the number of rows of each, and that of each row.
func classesOf(labels []string) (classes []string, counts, y []int) {
	classes, y = datasets.Classes(labels)
	counts = make([]int, len(classes))
	for _, c := range y {
		counts[c]++
	}
	return classes, counts, y
}

// courseOfRows divides rows into folds, in an order that their numbers have no part in.
func courseOfRows(d *tables.Data, order []int, p *Comparing, fits []fitting, facts *Facts) (*course, error) {
	n, width := d.Dims()
	inner := Plan{Ks: p.Ks, Folds: p.Validation, Repeats: 1}
	if p.Share != 0 || p.Dim != 0 {
		return nil, notAllowed("test-share and dim: they do not apply: folds of rows are held out")
	}
	var cut []string
	p.Plan, cut = p.forRows(n)
	if err := p.check(n); err != nil {
		return nil, err
	}
	facts.Measures = []Measure{{MeasureKNN, true}}
	facts.Items, facts.Features, facts.Choice = n, width, "k"
	var y []int
	facts.Classes, facts.Counts, y = classesOf(d.Labels)
	facts.Notes = slices.Concat(facts.Notes, cut, p.rare(facts.Classes, facts.Counts))
	test := (n + p.Folds - 1) / p.Folds
	train := n - test
	inner, err := p.withinRows(inner, train, len(fits), facts)
	if err != nil {
		return nil, err
	}
	plan, v := p.Plan, p.Validation
	folds := plan.divisions(order, y)
	var dense *tables.Data // of sparse rows, once a learner needs it
	return &course{
		splits: p.Folds * p.Repeats, ratio: 1 / float64(p.Folds-1),
		named: func(s int) string { return fmt.Sprintf("repeat %d, fold %d", s/plan.Folds+1, s%plan.Folds+1) },
		cost: func(f fitting) (catalog.Cost, float64, error) {
			one := func(train, test int) float64 {
				dims := width
				if f.entry.Form.Kernel() { // a number for each row that is stored
					if dims = train; f.recipe.Pairs > 0 {
						dims = min(train, 2*f.recipe.Pairs)
					}
				}
				queries := test
				if len(plan.Ks) > 1 {
					queries += train
				}
				return f.cost(train, width, len(facts.Classes)).Seconds + catalog.KNN(queries, train, dims).Seconds
			}
			total := one(train, test)
			if v > 0 {
				total += float64(v) * one(train-train/v, train/v)
			}
			return f.cost(train, width, len(facts.Classes)), total, f.room(train, width, len(facts.Classes))
		},
		ready: func(e *entrant) (err error) {
			if d.Sparse == nil || e.recipe.keepsSparse(e.entry) {
				e.d = d
				return nil
			}
			if dense == nil {
				dense, err = e.recipe.rowsFor(d, e.entry)
			}
			e.d = dense
			return err
		},
		trial: func(ctx context.Context, r run) (outcome, error) {
			s, i := r.split, r.inner
			train, test := part(order, folds[s/plan.Folds], s%plan.Folds)
			rng, scoring := plan.pairs(s), plan
			if i > 0 {
				classes := make([]int, len(train))
				for k, row := range train {
					classes[k] = y[row]
				}
				within := sample.StratifiedFolds(random.Seed{Base: plan.Seed, Experiment: "model/compare", Trial: s}.Stream("folds"), classes, v)
				train, test = part(train, within, i-1)
				rng, scoring = withinSplit(plan.Seed, s, i, v).Stream("pairs"), inner
			}
			t, err := r.train(ctx, r.d, y, train, test, rng, r.told)
			r.fitted()
			if err != nil {
				return outcome{}, err
			}
			return t.score(ctx, t.model.metric, scoring, r.told)
		},
	}, nil
}

// withinSplit is the origin of what is drawn in inner fold i, from 1, of v within split s.
func withinSplit(seed uint64, s, i, v int) random.Seed {
	return random.Seed{Base: seed, Experiment: "model/compare", Trial: s*v + i - 1}
}

// withinRows checks the inner folds of the validation within a training part of train rows, and leaves out what these do not suffice for.
func (p *Comparing) withinRows(inner Plan, train, learners int, facts *Facts) (Plan, error) {
	if err := p.checkValidation(learners); err != nil || p.Validation == 0 {
		return inner, err
	}
	inner, _ = inner.forRows(train)
	if err := inner.check(train); err != nil {
		p.Validation = 0
		facts.Notes = append(facts.Notes, fmt.Sprintf("no error of the choice by validation: in the training rows of a split, %v", unwrapped(err)))
	}
	return inner, nil
}

// rare returns notes on classes of few rows.
func (p Plan) rare(classes []string, counts []int) (notes []string) {
	for i, c := range counts {
		if c < p.Folds {
			note := fmt.Sprintf("class %q has %d rows, fewer than folds: some folds have none of it", classes[i], c)
			if c == 1 {
				note = fmt.Sprintf("class %q has 1 row, which is wrong whenever it is tested", classes[i])
			}
			notes = append(notes, note)
		}
	}
	return notes
}

// divisions returns the number of the fold of each row at its place in order, for each repeat.
func (p Plan) divisions(order, y []int) [][]int {
	folds := make([][]int, p.Repeats)
	classes := make([]int, len(order))
	for k, i := range order {
		classes[k] = y[i]
	}
	for i := range folds {
		folds[i] = sample.StratifiedFolds(random.Seed{Base: p.Seed, Experiment: "model/evaluate", Trial: i}.Stream("folds"), classes, p.Folds)
	}
	return folds
}

// pairs returns the source of the pairs of split s.
func (p Plan) pairs(s int) *rand.Rand {
	return random.Seed{Base: p.Seed, Experiment: "model/evaluate", Trial: s}.Stream("pairs")
}

// part returns the rows outside of fold k and those in it, in their order; fold tells of each place in the order.
func part(order, fold []int, k int) (train, test []int) {
	for place, i := range order {
		if fold[place] == k {
			test = append(test, i)
		} else {
			train = append(train, i)
		}
	}
	return train, test
}

// trained is a model of some rows, with other rows to score it by.
type trained struct {
	model        *Model
	x, queries   mat.Matrix // prepared
	ytrain, want []int
}

// train learns all from the rows train of d, and prepares the rows test.
func (f fitting) train(ctx context.Context, d *tables.Data, y, train, test []int, rng *rand.Rand, p Progress) (trained, error) {
	t := trained{ytrain: make([]int, len(train)), want: make([]int, len(test))}
	for k, i := range train {
		t.ytrain[k] = y[i]
	}
	for k, i := range test {
		t.want[k] = y[i]
	}
	t.model = &Model{recipe: f.recipe, layout: d.Layout}
	var err error
	learned, tested := d.Rows(train), d.Rows(test)
	tested.ForgetUnseen(learned)
	if t.x, _, err = t.model.prepare(learned, true); err != nil {
		return t, err
	}
	t.queries = tested.Matrix()
	if tested.X != nil {
		if t.queries, err = t.model.Prepare(t.queries); err != nil {
			return t, err
		}
	}
	return t, t.model.learn(ctx, f.entry, f.values, t.x, t.ytrain, nil, rng, p)
}

// score classifies the rows to score by, under a metric.
func (t trained) score(ctx context.Context, m metric.SqDister, p Plan, told Progress) (outcome, error) {
	// The rows are copies, and to embed them may take long.
	return abandon.Do(ctx, "model", func(ctx context.Context) (outcome, error) {
		voters, queries, err := t.voters(m)
		if err != nil {
			return outcome{}, err
		}
		voters.Told = told
		k := p.Ks[0]
		if len(p.Ks) > 1 {
			wrong, err := voters.LeaveOneOut(ctx, p.Ks)
			if err != nil {
				return outcome{}, err
			}
			k = p.Ks[slices.Index(wrong, slices.Min(wrong))]
		}
		wrong, err := voters.Errors(ctx, queries, t.want, []int{k})
		if err != nil {
			return outcome{}, err
		}
		share := wrong[0] / float64(len(t.want))
		return outcome{values: []float64{share}, wrong: wrong[0], rows: len(t.want), chosen: float64(k)}, nil
	})
}

// voters returns the classifier of the rows that were learned from, and the rows to score by as it takes them.
func (t trained) voters(m metric.SqDister) (*nearest.Voters, mat.Matrix, error) {
	m, expand := searched(m)
	voters, err := nearest.NewVoters(m, expand(t.x), t.ytrain)
	return voters, expand(t.queries), err
}

// searched returns the metric under which neighbours are searched for m, and what it takes in place of prepared rows.
func searched(m metric.SqDister) (metric.SqDister, func(mat.Matrix) mat.Matrix) {
	if t, ok := m.(*kernels.Transformed); ok { // each row is compared with all others
		expanded := t.Expanded()
		return expanded, func(x mat.Matrix) mat.Matrix { return expanded.Rows(x) }
	}
	return m, func(x mat.Matrix) mat.Matrix { return x }
}
