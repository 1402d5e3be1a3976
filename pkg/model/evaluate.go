package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"metriclab/internal/cores"
	"metriclab/pkg/feedback"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/limits"
)

// MaxRepeats is the largest number of divisions of an evaluation.
const MaxRepeats = 1_000_000

// Plan says how a recipe is evaluated, or several are compared. A field that does not apply to the problem must be zero.
type Plan struct {
	// Ks are, with classes, the numbers of neighbours to choose from; nil means those of 1, 3, 5, 7, 9 that
	// the rows allow. If there are several, each split takes the one with the fewest errors in a
	// leave-one-out classification of its training rows, the smallest of equals:
	// for the learner and for the baseline on their own. With pairs it is the one number of neighbours among which similar items are looked for; nil means 10.
	Ks []int
	// Folds is the number of parts of a cross-validation of rows, objects or questions; 0 means 5, or their number
	// if that is less, otherwise at least 2. With pairs, and with comparisons or judgements of vectors, 0 holds out a share of items; otherwise it holds out questions, of which the
	// items are known, and drops none; of judgements, queries.
	Folds int
	// Share is the share of items that a split holds out, of pairs and of comparisons of vectors, more than 0 and less than 1; 0 means 0.3.
	Share float64
	// Repeats is how often the data are divided anew, at most MaxRepeats; 0 means 10, or 2 of comparisons alone.
	Repeats int
	// Dim is, of comparisons alone, the number of dimensions in which distances count, those of Compared.Coordinates unless a learner was fitted in as many; 0 means all that a learner has.
	Dim int
	// Seed is the origin of the divisions, and in each split of the pairs; 0 means that of the recipe.
	Seed uint64
	// Splits is how many of the splits are made, from the first; 0 means all.
	Splits int
	// Limit ends an evaluation after so long a time, at whole splits: what has been found is what Splits would find; 0 means no limit.
	Limit time.Duration
	// Estimated is told, before the first split, how many seconds all will take by a rough estimate; nil for nobody. An error ends the work.
	Estimated func(seconds float64) error
	// Progress is told of splits.
	Progress Progress
	// Inside, if not nil, is told of a split, counted from 0, what Fit tells of its fits, and of each thousand queries of its neighbours. Splits run at once, and so may its calls.
	Inside func(split, done, total int)
}

// Resolved returns p with its defaults for classes filled in, but for the seed, which is the recipe's.
func (p Plan) Resolved() Plan {
	if p.Ks == nil {
		p.Ks = []int{1, 3, 5, 7, 9}
	}
	p.Ks = slices.Compact(slices.Sorted(slices.Values(p.Ks)))
	p.Folds, p.Repeats = cmp.Or(p.Folds, 5), cmp.Or(p.Repeats, 10)
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

// check returns a *tables.OptionError unless n rows can be divided as planned.
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

// Measure is what a distance is scored by: a share.
type Measure struct {
	Name string
	// Less says that the less the better.
	Less bool
}

// Score is what one method gets in one measure over all splits.
type Score struct {
	// Values holds a share for each split: split repeat·folds + fold, or the number of the division.
	Values []float64
	// Chosen holds what each split chose (see Facts.Choice); nil for nothing.
	Chosen []float64
	// Summary is the mean over splits with its corrected interval (see judge.SummarizeResampled).
	Summary judge.Summary
}

// Method is a learner, a baseline, or the difference of two.
type Method struct {
	Name string
	// Scores has one for each measure; a Score without Values is of a measure that the method does not have.
	Scores []Score
}

// Title is the name as words.
func (m Method) Title() string {
	switch m.Name {
	case Euclidean:
		return "Euclidean"
	case EuclideanRaw:
		return "Euclidean, raw"
	}
	return m.Name
}

// Facts are what there is to say of the data of an evaluation or comparison.
type Facts struct {
	Problem Problem
	// Measures are what methods are scored by; by the first they are ranked, and the verdict follows from it.
	Measures []Measure
	// Items is the number of rows, objects or vectors that are divided; Rows that of a table of which pairs name some; Features is 0 where only a kernel or names are known.
	Items, Rows, Features int
	// Classes and Counts are the classes and the number of items of each.
	Classes []string
	Counts  []int
	// Known is the number of pairs or comparisons, Similar that of the similar pairs.
	Known, Similar int
	// Agreement says how far answers agree with each other; nil of other problems.
	Agreement *feedback.Agreement
	// Choice names what each split chooses, such as k; "" for nothing.
	Choice string
	// Planned is the number of splits of the plan, of which Made were made.
	Planned, Made int
	// Train, Test and Dropped are the numbers of pairs or comparisons of each split within either part, and across, where items are held out.
	Train, Test, Dropped []int
	// Notes are warnings on what the numbers mean.
	Notes []string
}

// Evaluation is what Evaluate found.
type Evaluation struct {
	Facts
	Recipe Recipe // resolved
	Plan   Plan   // resolved
	// Methods are the baselines and, behind those that measure, the learner.
	Methods []Method
	// Over are the differences of the learner from the baselines that the verdict is about, paired by split, under their names.
	Over []Method
}

// Of returns the score of a method in a measure; nil if there is none.
func (e *Evaluation) Of(method, measure string) *Score { return e.find(e.Methods, method, measure) }

// Minus returns the difference of the learner from a baseline in a measure; nil if there is none.
func (e *Evaluation) Minus(baseline, measure string) *Score { return e.find(e.Over, baseline, measure) }

func (e *Evaluation) find(methods []Method, name, measure string) *Score {
	for i := range methods {
		for k, m := range e.Measures {
			if methods[i].Name == name && m.Name == measure && methods[i].Scores[k].Values != nil {
				return &methods[i].Scores[k]
			}
		}
	}
	return nil
}

// course is how a problem is divided, and what a learner does in a division.
type course struct {
	splits int
	ratio  float64 // of what a split tests to what it learns from
	named  func(split int) string
	// redrawn tells of splits that were drawn anew, and counts how much is known within either part, once they were tried; nil where nothing is drawn anew or dropped.
	redrawn []bool
	counts  [][2]int
	// count counts a split of which no trial ran, since a journal has them all.
	count func(split int)
	// cost estimates a fit, and the seconds of a split on one processor; its error says that there is no room.
	cost func(f fitting) (one catalog.Cost, split float64, err error)
	// ready is called before trials of a learner; nil for nothing to do.
	ready func(e *entrant) error
	// trial fits to what a split learns from, calls fitted, and scores by what the split tests; with inner > 0 it does so within the former.
	trial func(ctx context.Context, r run) (outcome, error)
}

// outcome is what a trial found: a value for each measure, or only for that which ranks; the latter as a share wrong of rows; and what it chose.
type outcome struct {
	values []float64
	wrong  float64
	rows   int
	chosen float64
}

// Evaluate estimates what a recipe is worth on data that it has not seen, beside the distances without learning. In each split everything is learned from one part
// alone: what stands for missing cells, the scales, the pairs and the metric, and whatever is chosen. The other part scores; see Problem for what is held out, and the measures.
// Splits run in parallel; the answer does not depend on how many at a time, nor on the order of rows and lines. An online learner sees the pairs or comparisons of a split in
// a random order. Among classes neighbours vote as nearest.Voters has it.
//
// An interval is the corrected resampled one (see judge.SummarizeResampled), with the ratio of what is held out to what is learned from.
//
// It returns the errors of Fit, naming the split, a *tables.OptionError if the plan does not suit the data, and what Estimated returns. Once the time is over (see Plan.Limit) before the first split has ended,
// it returns an error. It panics if the data are nil or empty.
func Evaluate(ctx context.Context, pr Problem, r Recipe, p Plan) (*Evaluation, error) {
	f, err := pr.resolve(r)
	if err != nil {
		return nil, err
	}
	with := pr.rivals(f.recipe)
	fits := append([]fitting{f}, f.besides(slices.Concat(with.shown, with.verdict, with.constants))...)
	q := Comparing{Plan: p}
	q.Seed = cmp.Or(q.Seed, f.recipe.Seed)
	e := &Evaluation{Facts: Facts{Problem: pr}}
	c, err := pr.lay(&q, &fits, &e.Facts)
	if err != nil {
		return nil, err
	}
	splits, err := q.begin(c, &e.Facts, fits, true)
	if err != nil {
		return nil, err
	}
	entrants := make([]*entrant, len(fits))
	outcomes := make([][]outcome, len(fits))
	for i := range fits {
		fits[i].recipe.Seed = q.Seed
		entrants[i], outcomes[i] = &entrant{fitting: fits[i]}, make([]outcome, splits)
		if c.ready != nil {
			if err := c.ready(entrants[i]); err != nil {
				return nil, err
			}
		}
	}
	e.Recipe, e.Plan = fits[0].recipe, q.Plan
	made := make([]bool, splits)
	limited, cancel := q.limited(ctx)
	defer cancel()
	if p.Progress != nil {
		p.Progress(0, splits)
	}
	err = parallel(limited, splits, p.Progress, func(ctx context.Context, s int) error {
		for i, one := range entrants {
			r := run{entrant: one, split: s, all: true, fitted: func() {}}
			if p.Inside != nil { // as a part of what all methods do
				r.told = func(done, total int) { p.Inside(s, i*total+done, len(entrants)*total) }
			}
			o, err := c.trial(ctx, r)
			if err != nil {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				return fmt.Errorf("%s: %w", c.named(s), err)
			}
			outcomes[i][s] = o
		}
		made[s] = true
		return nil
	})
	whole := slices.Index(append(made, false), false)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil && !errors.Is(err, context.DeadlineExceeded):
		return nil, err
	case whole == 0:
		return nil, fmt.Errorf("model: the time limit of %v was over before the first split had ended", p.Limit)
	}
	e.conclude(c, whole, entrants, outcomes, with)
	return e, nil
}

// begin checks the plan against the course and tells the estimated time of fits in all splits. It returns how many splits are to be made, and an error if there must be room for the first fit and is none.
func (p *Comparing) begin(c *course, facts *Facts, fits []fitting, must bool) (splits int, err error) {
	if p.Splits < 0 || p.Limit < 0 {
		return 0, notAllowed("splits and time-limit: %d and %v are not allowed, want at least 0, which means all and no limit", p.Splits, p.Limit)
	}
	if err := limits.Check(fmt.Sprintf("%d splits", c.splits), limits.Floats(24, c.splits)); err != nil {
		return 0, notAllowed("splits: %w", err)
	}
	facts.Planned, splits = c.splits, c.splits
	if p.Splits > 0 {
		splits = min(splits, p.Splits)
	}
	total := 0.0
	for i, f := range fits {
		_, split, err := c.cost(f)
		if err != nil && i == 0 && must {
			return 0, err
		}
		total += c.seconds(split, splits)
	}
	if p.Limit > 0 {
		total = min(total, p.Limit.Seconds())
	}
	if p.Estimated != nil {
		return splits, p.Estimated(total)
	}
	return splits, nil
}

// seconds is how long splits take that run at once, each so long.
func (c *course) seconds(split float64, splits int) float64 {
	return split * float64(splits) / float64(min(runtime.GOMAXPROCS(0), splits))
}

// limited returns the context of the work.
func (p Plan) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	if p.Limit == 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, p.Limit)
}

// finish tells of the splits that were made.
func (f *Facts) finish(c *course, made int) {
	if f.Made = made; c.counts != nil {
		for s, n := range c.counts[:made] {
			if n == [2]int{} {
				c.count(s)
				n = c.counts[s]
			}
			f.Train, f.Test, f.Dropped = append(f.Train, n[0]), append(f.Test, n[1]), append(f.Dropped, f.Known-n[0]-n[1])
		}
		if all, dropped := 0, 0; made > 0 {
			for s := range made {
				all, dropped = all+f.Known, dropped+f.Dropped[s]
			}
			if 3*dropped > all {
				f.Notes = append(f.Notes, fmt.Sprintf("%.0f %% of what is known lies across a split and is dropped; --folds 5 drops nothing: it holds out questions, whose items are then known", 100*float64(dropped)/float64(all)))
			}
		}
		f.Notes = append(f.Notes, redrawnNote(c.redrawn[:made])...)
	}
	if made < f.Planned {
		f.Notes = append(f.Notes, fmt.Sprintf("%d of the %d splits, from the first", made, f.Planned))
	}
}

// conclude sums up the first splits. entrants begin with the learner.
func (e *Evaluation) conclude(c *course, splits int, entrants []*entrant, outcomes [][]outcome, with rivals) {
	score := func(values, chosen []float64) Score {
		return Score{values, chosen, judge.SummarizeResampled(values, c.ratio)}
	}
	var learner Method
	for i, one := range entrants {
		m := Method{Name: one.recipe.Learner}
		for k := range e.Measures {
			var values, chosen []float64
			for _, o := range outcomes[i][:splits] {
				values = append(values, o.values[k])
				if k == 0 && o.chosen > 0 {
					chosen = append(chosen, o.chosen)
				}
			}
			if math.IsNaN(values[0]) { // no such measure
				m.Scores = append(m.Scores, Score{})
				continue
			}
			m.Scores = append(m.Scores, score(values, chosen))
		}
		if i == 0 {
			learner = m
			continue
		}
		e.Methods = append(e.Methods, m)
	}
	e.finish(c, splits)
	learns := !isBaseline(learner.Name)
	for _, m := range e.Methods {
		if !learns || !slices.Contains(with.verdict, m.Name) {
			continue
		}
		over := Method{Name: m.Name}
		for k := range e.Measures {
			over.Scores = append(over.Scores, score(judge.Minus(learner.Scores[k].Values, m.Scores[k].Values), nil))
		}
		e.Over = append(e.Over, over)
	}
	at := slices.IndexFunc(e.Methods, func(m Method) bool { return slices.Contains(with.constants, m.Name) || m.Name == coin })
	if at < 0 {
		at = len(e.Methods)
	}
	e.Methods = slices.Insert(e.Methods, at, learner)
	if splits < judge.MinTrials {
		e.Notes = append(e.Notes, fmt.Sprintf("fewer than %d splits give no interval", judge.MinTrials))
	} else if slices.ContainsFunc(e.Methods[:at+1], func(m Method) bool { return m.Scores[0].Summary.Half == 0 }) {
		e.Notes = append(e.Notes, "an interval of width 0, where all splits have the same value, does not mean that it is known exactly")
	}
}

// redrawnNote tells of splits that were drawn anew.
func redrawnNote(redrawn []bool) []string {
	n := 0
	for _, again := range redrawn {
		if again {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s drawn anew, since a side lacked a kind of answer: the splits are not quite random", map[bool]string{true: "1 split was", false: fmt.Sprintf("%d splits were", n)}[n == 1])}
}

// few tells whether so little is judged that a difference which is the same in all splits says nothing. By the sign test, fewer than judge.MinTrials answers of one kind are
// what chance gives more often than one time in twenty.
func (f *Facts) few() bool { return cmp.Or(f.Known, f.Items) < judge.MinTrials }

// Verdict says what the intervals of the differences in the first measure say.
func (e *Evaluation) Verdict() string {
	name, m := e.Recipe.Learner, e.Measures[0]
	if len(e.Over) == 0 {
		return "Nothing was learned: this is the baseline."
	}
	var names []string
	better, worse, equal := 0, 0, 0
	for _, o := range e.Over {
		names = append(names, o.Title())
		s := o.Scores[0].Summary
		side := s.Side()
		switch {
		case !s.HasInterval:
			return "Too few splits to compare."
		case s.Half == 0 && s.Mean != 0 && e.few():
			return fmt.Sprintf("These data do not tell whether %s is better than %s: too little is held out.", name, o.Title())
		case side != judge.Against && side != judge.For:
			if s.Half == 0 {
				equal++
			}
		case (side == judge.Against) == m.Less:
			better++
		default:
			worse++
		}
	}
	below, above := "below", "above"
	if !m.Less {
		below, above = above, below
	}
	an, all := "the interval", "the interval of the difference in "+m.Name+" is "
	if len(names) > 1 {
		an, all = "an interval", "the intervals of the differences in "+m.Name+" are "
	}
	from := strings.Join(names, " and ")
	switch {
	case better == len(names):
		return fmt.Sprintf("%s is better than %s: %s%s zero.", name, from, all, below)
	case worse > 0:
		return fmt.Sprintf("%s is worse than %s: %s of the difference in %s is %s zero.", name, map[bool]string{true: from, false: "a distance without learning"}[len(names) == 1], an, m.Name, above)
	case equal == len(names):
		return "No difference in any split."
	}
	return fmt.Sprintf("These data do not tell whether %s is better than %s: %s of the difference in %s contains zero.", name, from, an, m.Name)
}

// parallel does the jobs 0..n−1 on the cores that are idle and returns the
// error of the lowest job that failed. It begins no job after one has failed or
// ctx has ended.
func parallel(ctx context.Context, n int, p Progress, job func(ctx context.Context, i int) error) error {
	var mu sync.Mutex
	done := 0
	errs := make([]error, n)
	var failed atomic.Bool
	cores.Do(n, func(i int) {
		if failed.Load() || ctx.Err() != nil {
			return
		}
		errs[i] = job(ctx, i)
		if errs[i] != nil {
			failed.Store(true)
		}
		mu.Lock()
		defer mu.Unlock()
		done++
		if p != nil {
			p(done, n)
		}
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	i := slices.IndexFunc(errs, func(err error) bool { return err != nil })
	if i < 0 {
		return nil
	}
	return errs[i]
}
