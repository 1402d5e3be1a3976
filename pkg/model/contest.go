package model

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"metriclab/internal/cpushare"
	"metriclab/internal/heappeak"
	"metriclab/pkg/judge"
	"metriclab/pkg/tables"
)

// contest is a comparison that runs.
type contest struct {
	out    *Comparison
	p      Comparing
	course *course
	cpu    *cpushare.Meter
	heap   *heappeak.Meter // while a learner's splits run; nil if not measured

	mu     sync.Mutex // of what follows, and of Record
	done   map[trialKey]Trial
	record error // of what records
}

type trialKey struct {
	learner      string
	split, inner int
}

// entrant is a learner that may start.
type entrant struct {
	fitting
	Contender
	d *tables.Data // dense where the learner needs that
}

func (c *contest) run(ctx context.Context, fits []fitting) (*Comparison, error) {
	total, err := c.p.begin(c.course, &c.out.Facts, fits, false)
	if err != nil {
		return nil, err
	}
	var all []*entrant
	for _, f := range fits {
		f.recipe.Seed = c.p.Seed
		all = append(all, &entrant{fitting: f, Contender: c.contender(f, total)})
	}
	slices.SortStableFunc(all, func(a, b *entrant) int { return cmp.Compare(a.Seconds, b.Seconds) })
	ended := c.p.Ended
	if ended == nil {
		ended = func(Contender) {}
	}
	var runs []*entrant
	for _, e := range all {
		if e.State == LeftOut {
			c.out.Others = append(c.out.Others, e.Contender)
			ended(e.Contender)
		} else {
			runs = append(runs, e)
		}
	}
	made := 0
	for made < total && ctx.Err() == nil && len(runs) > 0 {
		to := 2 * made
		switch {
		case len(runs) == 1:
			to = total
		case made == 0:
			to = firstSplits
		case made == firstSplits:
			to = secondSplits
		}
		to = min(to, total)
		var ahead, late []*entrant
		for _, e := range runs {
			if err := c.enter(ctx, e, made, to); err != nil {
				return nil, err
			}
			switch e.State {
			case Finished:
				if ahead = append(ahead, e); to < total && c.p.Ranking != nil {
					c.p.Ranking(to, c.ranked(ahead, to), len(runs))
				}
				if c.score(e, to); to == total {
					ended(e.Contender)
				}
				continue
			case Unfinished:
				if made > 0 {
					c.score(e, made)
					late = append(late, e)
				} else {
					c.out.Others = append(c.out.Others, e.Contender)
				}
			case Failed:
				c.out.Others = append(c.out.Others, e.Contender)
			}
			ended(e.Contender)
		}
		if made > 0 && len(late) > 0 && len(ahead) < max(2, (len(late)+len(ahead)+1)/2) { // most have not made more
			runs = append(ahead, late...)
			break
		}
		for _, e := range late {
			e.Reason += fmt.Sprintf("; %.2f %% on the first %d", 100*e.Score.Summary.Mean, made)
			c.out.Others = append(c.out.Others, e.Contender)
		}
		if runs = ahead; made > 0 || len(ahead) > 0 {
			made = to
		}
	}
	if made == 0 { // nobody has made the first splits, and some have not begun
		for _, e := range runs {
			e.State, e.Reason = Unfinished, fmt.Sprintf("0 of %d splits done", c.out.Planned)
			c.out.Others = append(c.out.Others, e.Contender)
			ended(e.Contender)
		}
		runs = nil
	}
	for _, e := range runs {
		e.State, e.Reason = Finished, ""
	}
	c.out.finish(c.course, made)
	if err := c.validate(ctx, runs, made); err != nil {
		return nil, err
	}
	c.rank(runs, made)
	c.out.Err = ctx.Err()
	return c.out, nil
}

// contender estimates what f costs, and leaves it out if that is too much.
func (c *contest) contender(f fitting, splits int) Contender {
	e := Contender{Recipe: f.recipe, P: math.NaN(), Holm: math.NaN()}
	var total float64
	var err error
	e.Cost, total, err = c.course.cost(f)
	e.Seconds = c.course.seconds(total, splits)
	if err != nil {
		e.State, e.Reason = LeftOut, strings.TrimPrefix(err.Error(), "model: "+f.recipe.Learner+": ")
	} else if most := c.p.Limit; most > 0 && e.Seconds > most.Seconds() && !c.known(f.recipe.Learner, 0, splits) {
		e.State = LeftOut
		e.Reason = fmt.Sprintf("all its splits would take %s by a rough estimate, the time limit is %v", Roughly(e.Seconds), most)
	}
	return e
}

// known tells whether splits of a learner are done.
func (c *contest) known(learner string, from, to int) bool {
	for s := from; s < to; s++ {
		if _, ok := c.done[trialKey{learner, s, 0}]; !ok {
			return false
		}
	}
	return true
}

// enter runs a learner on splits.
func (c *contest) enter(ctx context.Context, e *entrant, from, to int) error {
	var missing []int
	for s := from; s < to; s++ {
		if c.missing(e, s, 0) {
			missing = append(missing, s)
		}
	}
	var err error
	if len(missing) > 0 {
		if err = c.ready(e); err == nil {
			told := c.p.Progress
			if told != nil {
				told = func(done, _ int) { c.p.Progress(to-len(missing)+done, to) }
				told(0, 0)
			}
			if c.p.Heap != nil {
				c.heap = heappeak.Start(c.p.Heap)
			}
			err = parallel(ctx, len(missing), told, func(ctx context.Context, i int) error {
				if err := c.trial(ctx, e, missing[i], 0); err != nil {
					if ctx.Err() != nil {
						return ctx.Err()
					}
					return fmt.Errorf("%s: %w", c.course.named(missing[i]), err)
				}
				return nil
			})
			if c.heap != nil {
				c.heap.Stop()
				c.heap = nil
			}
		}
	}
	if c.record != nil {
		return c.record
	}
	switch {
	case c.known(e.recipe.Learner, from, to):
		e.State = Finished
	case ctx.Err() != nil:
		e.State = Unfinished
		have := from
		for s := from; s < to; s++ {
			if !c.missing(e, s, 0) {
				have++
			}
		}
		e.Reason = fmt.Sprintf("%d of %d splits done", have, c.out.Planned)
	default:
		e.State, e.Reason = Failed, err.Error()
	}
	return nil
}

// ready prepares for the first trial of a learner.
func (c *contest) ready(e *entrant) error {
	if c.course.ready == nil {
		return nil
	}
	return c.course.ready(e)
}

// trial fits and scores, and records the result.
func (c *contest) trial(ctx context.Context, e *entrant, split, inner int) error {
	account := c.cpu.Begin()
	var used time.Duration
	fitted := func() { // so that other fits are not charged for what follows
		used = c.cpu.End(account)
		account = c.cpu.Begin()
	}
	var told Progress
	if c.p.Inside != nil {
		told = func(done, total int) { c.p.Inside(split, done, total) }
	}
	v, err := c.course.trial(ctx, run{entrant: e, split: split, inner: inner, fitted: fitted, told: told})
	c.cpu.End(account)
	if err != nil {
		return err
	}
	r := Trial{Learner: e.recipe.Learner, Version: e.entry.Version, Split: split, Inner: inner, Wrong: v.wrong, Rows: v.rows, Seconds: used.Seconds()}
	if c.out.Choice == "k" {
		r.K = int(v.chosen)
	}
	if c.heap != nil {
		r.Peak = c.heap.Peak()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done[trialKey{r.Learner, split, inner}] = r
	if c.p.record != nil && c.record == nil {
		c.record = c.p.record(r)
	}
	return c.record
}

// score sums up the first splits of a learner.
func (c *contest) score(e *entrant, splits int) {
	e.Score, e.Fit, e.Peak = Score{}, 0, 0
	for s := range splits {
		t := c.done[trialKey{e.recipe.Learner, s, 0}]
		e.Score.Values = append(e.Score.Values, t.Wrong/float64(t.Rows))
		if t.K > 0 && c.out.Choice == "k" {
			e.Score.Chosen = append(e.Score.Chosen, float64(t.K))
		}
		e.Fit += t.Seconds / float64(splits)
		e.Peak = max(e.Peak, t.Peak)
	}
	e.Score.Summary = judge.SummarizeResampled(e.Score.Values, c.course.ratio)
}

// validate chooses in each split the learner with the fewest errors in a cross-validation of the training rows.
func (c *contest) validate(ctx context.Context, finished []*entrant, splits int) error {
	v := c.out.Validation
	for _, e := range finished {
		c.score(e, splits)
	}
	if v == 0 || len(finished) < 2 {
		return nil
	}
	type job struct {
		e            *entrant
		split, inner int
	}
	var jobs []job
	for _, e := range finished {
		for s := range splits {
			for i := range v {
				if c.missing(e, s, i+1) {
					jobs = append(jobs, job{e, s, i + 1})
				}
			}
		}
		if err := c.ready(e); err != nil { // all its splits may have been done before
			return err
		}
	}
	if c.p.Progress != nil && len(jobs) > 0 {
		c.p.Progress(0, len(jobs))
	}
	failed := make(map[*entrant]error)
	var mu sync.Mutex
	err := parallel(ctx, len(jobs), c.p.Progress, func(ctx context.Context, i int) error {
		j := jobs[i]
		mu.Lock()
		_, gone := failed[j.e]
		mu.Unlock()
		if gone {
			return nil
		}
		if err := c.trial(ctx, j.e, j.split, j.inner); err != nil {
			if ctx.Err() != nil || c.stopped() {
				return err
			}
			mu.Lock()
			failed[j.e] = fmt.Errorf("split %d, inner fold %d: %w", j.split+1, j.inner, err)
			mu.Unlock()
		}
		return nil
	})
	if c.record != nil {
		return c.record
	}
	if err != nil && slices.ContainsFunc(jobs, func(j job) bool { return failed[j.e] == nil && c.missing(j.e, j.split, j.inner) }) {
		c.out.Notes = append(c.out.Notes, "the time was over before the choice by validation was made in all splits: its error is missing")
		return nil
	}
	var chosen []*entrant // among
	for _, e := range finished {
		if err, ok := failed[e]; ok {
			c.out.Notes = append(c.out.Notes, fmt.Sprintf("the choice by validation is without %s, which failed on parts of the training rows: %v", e.recipe.Learner, err))
			continue
		}
		chosen = append(chosen, e)
	}
	if len(chosen) == 0 {
		return nil
	}
	best := &Score{}
	for s := range splits {
		take, least := chosen[0], math.Inf(1)
		for _, e := range chosen {
			wrong := 0.0
			for i := range v {
				wrong += c.done[trialKey{e.recipe.Learner, s, i + 1}].Wrong
			}
			if wrong < least {
				take, least = e, wrong
			}
		}
		best.Values = append(best.Values, take.Score.Values[s])
		if take.Score.Chosen != nil {
			best.Chosen = append(best.Chosen, take.Score.Chosen[s])
		}
		c.out.Chosen = append(c.out.Chosen, take.recipe.Learner)
	}
	best.Summary = judge.SummarizeResampled(best.Values, c.course.ratio)
	c.out.ByValidation = best
	return nil
}

// stopped tells whether Record has failed.
func (c *contest) stopped() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.record != nil
}

// missing tells whether a trial is not done.
func (c *contest) missing(e *entrant, split, inner int) bool {
	_, ok := c.done[trialKey{e.recipe.Learner, split, inner}]
	return !ok
}

// rank sorts the learners and compares each with the best.
func (c *contest) rank(finished []*entrant, splits int) {
	if len(finished) == 0 {
		return
	}
	ranked := c.ranked(finished, splits)
	c.out.Ranked = ranked
	ps := make([]float64, len(ranked))
	for i := range ranked {
		diffs := judge.Minus(ranked[i].Score.Values, ranked[0].Score.Values)
		ranked[i].Difference = judge.SummarizeResampled(diffs, c.course.ratio)
		ps[i] = math.NaN()
		if d := ranked[i].Difference; i > 0 && !(d.Half == 0 && d.Mean != 0 && c.out.few()) {
			ps[i] = judge.ResampledP(diffs, c.course.ratio)
		}
		ranked[i].P = ps[i]
	}
	for i, p := range judge.Holm(ps) {
		ranked[i].Holm = p
	}
	if !ranked[0].Difference.HasInterval {
		c.out.Notes = append(c.out.Notes, fmt.Sprintf("fewer than %d splits give neither interval nor p-value", judge.MinTrials))
	}
}

// ranked are learners by their errors in the first splits.
func (c *contest) ranked(finished []*entrant, splits int) (ranked []Contender) {
	for _, e := range finished {
		c.score(e, splits)
		ranked = append(ranked, e.Contender)
	}
	slices.SortStableFunc(ranked, func(a, b Contender) int { return cmp.Compare(a.Score.Summary.Mean, b.Score.Summary.Mean) })
	return ranked
}

// firstSplits is how many splits the first round has, and secondSplits those after the second; later ones double.
const firstSplits, secondSplits = 2, judge.MinTrials
