package model

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/pkg/datasets"
	"metriclab/pkg/judge"
	"metriclab/pkg/kernels"
	"metriclab/pkg/random"

	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
)

// MaxRepeats is the largest number of divisions of an evaluation.
const MaxRepeats = 1_000_000

// Plan says how a recipe is evaluated.
type Plan struct {
	// Ks are the numbers of neighbours to choose from; nil means those of 1, 3, 5, 7, 9 that
	// the rows allow. If there are several, each split takes the one with the fewest errors in a
	// leave-one-out classification of its training rows, the smallest of equals:
	// for the learner and for the baseline on their own.
	Ks []int
	// Folds is the number of parts of a cross-validation; 0 means 5, or the number of rows
	// if that is less, otherwise at least 2.
	Folds int
	// Repeats is how often the rows are divided anew, at most MaxRepeats; 0 means 10.
	Repeats int
	// Seed is the origin of the division into folds, and in each split of the
	// pairs; 0 means that of the recipe.
	Seed uint64
	// Progress is told of splits.
	Progress Progress
	// Inside, if not nil, is told what Fit tells of the fit of a split, counted from 0. Splits run at once, and so may its calls.
	Inside func(split, done, total int)
}

// Resolved returns p with its defaults filled in, but for the seed, which is the
// recipe's.
func (p Plan) Resolved() Plan {
	if p.Ks == nil {
		p.Ks = []int{1, 3, 5, 7, 9}
	}
	p.Ks = slices.Compact(slices.Sorted(slices.Values(p.Ks)))
	if p.Folds == 0 {
		p.Folds = 5
	}
	if p.Repeats == 0 {
		p.Repeats = 10
	}
	return p
}

// forRows is Resolved for n rows: a default that they do not allow is cut, and told. What is given stays.
func (p Plan) forRows(n int) (q Plan, notes []string) {
	q = p.Resolved()
	if p.Folds == 0 && n >= 2 && q.Folds > n {
		q.Folds = n
		notes = append(notes, fmt.Sprintf("%d folds in place of 5: there are no more rows", n))
	}
	if p.Ks == nil {
		all := q.Ks
		for len(q.Ks) > 1 && slices.Max(q.Ks) > q.mostNeighbours(n) {
			q.Ks = q.Ks[:len(q.Ks)-1]
		}
		if len(q.Ks) < len(all) {
			notes = append(notes, fmt.Sprintf("k is at most %d in place of %d: a training fold has no more rows", slices.Max(q.Ks), slices.Max(all)))
		}
	}
	return q, notes
}

// mostNeighbours is the largest k that a training fold of n rows allows; of several k one is chosen by leaving a row out.
func (p Plan) mostNeighbours(n int) int {
	most := n - (n+p.Folds-1)/p.Folds
	if len(p.Ks) > 1 {
		most--
	}
	return most
}

// check returns an *OptionError unless n rows can be divided as planned.
func (p Plan) check(n int) error {
	switch {
	case p.Folds < 2 || p.Folds > n:
		return notAllowed("folds: %d is not allowed, want 2 to the number of rows, %d", p.Folds, n)
	case p.Repeats < 1 || p.Repeats > MaxRepeats:
		return notAllowed("repeats: %d is not allowed, want 1 to %d", p.Repeats, MaxRepeats)
	}
	const perSplit = 64 // bytes: two errors, two k, a difference and an outcome
	if err := limits.Check(fmt.Sprintf("%d x %d splits of %d rows", p.Repeats, p.Folds, n), limits.Floats(p.Repeats, n)+limits.Product(perSplit, p.Folds, p.Repeats)); err != nil {
		return notAllowed("folds, repeats: %w", err)
	}
	most, what := p.mostNeighbours(n), "rows of the smallest training fold"
	if len(p.Ks) > 1 {
		what = "rows but one of the smallest training fold, since k is chosen by leaving one out"
	}
	if len(p.Ks) == 0 {
		return notAllowed("k: none given, want at least one")
	}
	for _, k := range p.Ks {
		if k < 1 || k > most {
			return notAllowed("k: %d is not allowed, want 1 to %d, the %s", k, most, what)
		}
	}
	return nil
}

// Score is the kNN error of one metric over all splits.
type Score struct {
	// Errors holds the share of wrong test rows of each split: split
	// repeat·folds + fold.
	Errors []float64
	// Ks holds the number of neighbours that each split took.
	Ks []int
	// Summary is the mean over splits with its corrected interval (see
	// judge.SummarizeResampled).
	Summary judge.Summary
}

// Evaluation is what Evaluate found.
type Evaluation struct {
	Recipe Recipe // resolved
	Plan   Plan   // resolved
	Rows   int
	// Classes and Counts are the classes and the number of rows of each.
	Classes []string
	Counts  []int
	// Features is the number of features; 0 of objects with a Gram matrix.
	Features int
	// Learner is the error under the learned metric, Baseline that under the
	// Euclidean distance of the same prepared rows in the same splits.
	Learner, Baseline Score
	// Raw is the error under the Euclidean distance of the rows as they are; nil where the prepared ones are these.
	Raw *Score
	// Difference is the learner's error minus the baseline's, paired by split.
	Difference judge.Summary
	// Notes are warnings on what the numbers mean.
	Notes []string
}

// Evaluate estimates the k-nearest-neighbour error of a recipe on d beside that
// of the Euclidean distance, by repeated stratified cross-validation. In each
// split everything is learned from the training rows alone: what stands for
// missing cells, the scales, the pairs and the metric, and k if there is a choice.
// Classes are spread over the folds as evenly as can be. Splits run in parallel;
// the answer does not depend on how many at a time, nor on the order of the rows: neighbours vote as nearest.Voters has it.
//
// It returns the errors of Fit, naming the split, and an *OptionError if the plan
// does not suit the number of rows. It panics if d is nil or has no rows.
func Evaluate(ctx context.Context, d *Data, r Recipe, p Plan) (*Evaluation, error) {
	r, entry, values, err := r.resolve()
	if err != nil {
		return nil, err
	}
	if r.Given != "" {
		return nil, notAllowed("given: %s: a cross-validation draws pairs by the labels of its training rows, and takes none that are known, which EvaluatePairs judges by", r.Given)
	}
	if err := d.check("", true); err != nil {
		return nil, err
	}
	f := fitting{r, entry, values}
	n, width := d.Dims()
	if q, _ := p.forRows(n); q.check(n) == nil { // else evaluate says why
		classes, _, _ := d.classes()
		if err := f.room(n-(n+q.Folds-1)/q.Folds, width, len(classes)); err != nil {
			return nil, err
		}
	}
	notes := d.Look().Notes(true)
	e, err := evaluate(ctx, d, d.order(), f, metric.Euclidean{}, p)
	if err == nil {
		e.Notes = append(notes, e.Notes...)
	}
	return e, err
}

// fitting is how each split fits.
type fitting struct {
	recipe Recipe // resolved
	entry  catalog.Entry
	values catalog.Values
}

// evaluate is Evaluate beside a baseline, of rows in an order that their numbers have no part in.
func evaluate(ctx context.Context, d *Data, order []int, f fitting, baseline metric.SqDister, p Plan) (*Evaluation, error) {
	n, width := d.Dims()
	p, cut := p.forRows(n)
	if p.Seed == 0 {
		p.Seed = f.recipe.Seed
	}
	f.recipe.Seed = p.Seed
	err := p.check(n)
	if err != nil {
		return nil, err
	}
	if d, err = d.forRecipe(f.recipe, f.entry); err != nil {
		return nil, err
	}
	e := &Evaluation{Recipe: f.recipe, Plan: p, Rows: n, Features: width}
	var y []int
	e.Classes, e.Counts, y = d.classes()
	e.Notes = append(cut, p.rare(e.Classes, e.Counts)...)
	splits := p.Folds * p.Repeats
	scores := []*Score{&e.Learner, &e.Baseline}
	if !f.recipe.Raw && d.X != nil {
		e.Raw = &Score{}
		scores = append(scores, e.Raw)
	}
	for _, s := range scores {
		s.Errors, s.Ks = make([]float64, splits), make([]int, splits)
	}
	folds := p.divisions(order, y)
	if err := parallel(ctx, splits, p.Progress, func(ctx context.Context, s int) error {
		if err := e.split(ctx, d, f, baseline, y, order, folds[s/p.Folds], s); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return fmt.Errorf("repeat %d, fold %d: %w", s/p.Folds+1, s%p.Folds+1, err)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	ratio := 1 / float64(p.Folds-1)
	diffs := make([]float64, splits)
	for s := range diffs {
		diffs[s] = e.Learner.Errors[s] - e.Baseline.Errors[s]
	}
	for _, s := range scores {
		s.Summary = judge.SummarizeResampled(s.Errors, ratio)
	}
	e.Difference = judge.SummarizeResampled(diffs, ratio)
	if !e.Difference.HasInterval {
		e.Notes = append(e.Notes, fmt.Sprintf("fewer than %d splits give no interval", judge.MinTrials))
	} else if e.Learner.Summary.Half == 0 || e.Baseline.Summary.Half == 0 {
		e.Notes = append(e.Notes, "an interval of width 0, where all splits have the same error, does not mean that it is known exactly")
	}
	return e, nil
}

// split fits and classifies one fold of one division.
func (e *Evaluation) split(ctx context.Context, d *Data, f fitting, baseline metric.SqDister, y, order, fold []int, s int) error {
	train, test := part(order, fold, s%e.Plan.Folds)
	var inside Progress
	if e.Plan.Inside != nil {
		inside = func(done, total int) { e.Plan.Inside(s, done, total) }
	}
	t, err := f.train(ctx, d, y, train, test, e.Plan.pairs(s), inside)
	if err != nil {
		return err
	}
	for _, judged := range []struct {
		score  *Score
		metric metric.SqDister
	}{{&e.Learner, t.model.metric}, {&e.Baseline, baseline}} {
		v, err := t.judge(ctx, judged.metric, e.Plan)
		if err != nil {
			return err
		}
		judged.score.Errors[s], judged.score.Ks[s] = v.error, v.k
	}
	if e.Raw == nil {
		return nil
	}
	raw, err := f.unscaled()
	if err != nil {
		return err
	}
	if t, err = raw.train(ctx, d, y, train, test, nil, nil); err != nil {
		return err
	}
	v, err := t.judge(ctx, baseline, e.Plan)
	if err != nil {
		return err
	}
	e.Raw.Errors[s], e.Raw.Ks[s] = v.error, v.k
	return nil
}

// unscaled is the baseline on rows as they are, with missing cells filled in as f does.
func (f fitting) unscaled() (fitting, error) {
	r, entry, values, err := Recipe{Learner: EuclideanRaw, ImputeMean: f.recipe.ImputeMean, Seed: f.recipe.Seed}.resolve()
	return fitting{r, entry, values}, err
}

// classes returns the classes, the number of rows of each, and that of each row.
func (d *Data) classes() (classes []string, counts, y []int) {
	classes, y = datasets.Classes(d.Labels)
	counts = make([]int, len(classes))
	for _, c := range y {
		counts[c]++
	}
	return classes, counts, y
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

// trained is a model of some rows, with other rows to judge it by.
type trained struct {
	model        *Model
	x, queries   mat.Matrix // prepared
	ytrain, want []int
}

// train learns all from the rows train of d, and prepares the rows test.
func (f fitting) train(ctx context.Context, d *Data, y, train, test []int, rng *rand.Rand, p Progress) (trained, error) {
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
	if d.X != nil {
		forgetUnseen(d.Layout, learned.X, tested.X)
	}
	if t.x, _, err = t.model.prepare(learned, true); err != nil {
		return t, err
	}
	t.queries = tested.matrix()
	if tested.X != nil {
		if t.queries, err = t.model.Prepare(t.queries); err != nil {
			return t, err
		}
	}
	return t, t.model.learn(ctx, f.entry, f.values, t.x, t.ytrain, nil, rng, p)
}

// judge classifies the rows to judge by, under a metric.
func (t trained) judge(ctx context.Context, m metric.SqDister, p Plan) (verdict, error) {
	// The rows are copies, and to embed them may take long.
	return abandon.Do(ctx, "model", func(ctx context.Context) (verdict, error) {
		return p.judge(ctx, m, t.x, t.ytrain, t.queries, t.want)
	})
}

// verdict is the number and share of wrong test rows of a split, a draw by its chance, and the number of neighbours that it took.
type verdict struct {
	wrong float64
	rows  int
	error float64
	k     int
}

// judge classifies queries by their neighbours among the rows of x under m.
func (p Plan) judge(ctx context.Context, m metric.SqDister, x mat.Matrix, y []int, queries mat.Matrix, want []int) (verdict, error) {
	m, expand := searched(m)
	x, queries = expand(x), expand(queries)
	voters, err := nearest.NewVoters(m, x, y)
	if err != nil {
		return verdict{}, err
	}
	k := p.Ks[0]
	if len(p.Ks) > 1 {
		wrong, err := voters.LeaveOneOut(ctx, p.Ks)
		if err != nil {
			return verdict{}, err
		}
		k = p.Ks[slices.Index(wrong, slices.Min(wrong))]
	}
	wrong, err := voters.Errors(ctx, queries, want, []int{k})
	if err != nil {
		return verdict{}, err
	}
	return verdict{wrong[0], len(want), wrong[0] / float64(len(want)), k}, nil
}

// searched returns the metric under which neighbours are searched for m, and what it takes in place of prepared rows.
func searched(m metric.SqDister) (metric.SqDister, func(mat.Matrix) mat.Matrix) {
	if t, ok := m.(*kernels.Transformed); ok { // each row is compared with all others
		expanded := t.Expanded()
		return expanded, func(x mat.Matrix) mat.Matrix { return expanded.Rows(x) }
	}
	return m, func(x mat.Matrix) mat.Matrix { return x }
}

// parallel does the jobs 0..n−1 on up to GOMAXPROCS goroutines and returns the
// error of the lowest job that failed. It begins no job after one has failed or
// ctx has ended.
func parallel(ctx context.Context, n int, p Progress, job func(ctx context.Context, i int) error) error {
	var mu sync.Mutex
	next, done := 0, 0
	errs := make([]error, n)
	failed := false
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		wg.Go(func() {
			for {
				mu.Lock()
				i := next
				if i >= n || failed || ctx.Err() != nil {
					mu.Unlock()
					return
				}
				next++
				mu.Unlock()
				err := job(ctx, i)
				mu.Lock()
				errs[i] = err
				failed = failed || err != nil
				done++
				if p != nil {
					p(done, n)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	i := slices.IndexFunc(errs, func(err error) bool { return err != nil })
	if i < 0 {
		return nil
	}
	return errs[i]
}
