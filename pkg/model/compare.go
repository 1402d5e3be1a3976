package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"metriclab/internal/cpushare"
	"metriclab/internal/plural"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/limits"
	"metriclab/pkg/plots"
	"metriclab/pkg/tables"
)

// Comparing says how learners are compared.
type Comparing struct {
	// Plan has the splits, which are those of Evaluate. Its Progress is told of the splits of the learner at work, and after the last learner of those of the
	// validation. Its Inside is told of the fits of these, with the number of the split that they are of. Its Limit leaves out learners that would take longer by estimate, on
	// as many processors as there are, and ends the comparison: learners are ranked by the splits that most have made, in whole rounds.
	Plan
	// Validation is the number of inner folds by which the learner is chosen in each split, from its training rows
	// alone; 0 leaves this out, otherwise at least 2.
	Validation int
	// CPU reads the CPU time of the process; nil measures none.
	CPU func() time.Duration
	// Heap reads the bytes that the heap of the process takes; nil measures none.
	Heap func() int64
	// Params are parameters of learners, by name or alias; those not given have their defaults.
	Params map[string]map[string]string
	// Journal is given what identifies the comparison, and returns trials of an earlier run, which are not run again, and what records each new trial, one at a time; nil for
	// none. Trials of other learners and splits are ignored. An error of either ends the comparison.
	Journal func(Journal) (done []Trial, record func(Trial) error, err error)
	// Ranking is told, after each learner and while splits are to come, how many splits were made, the learners that made them, ranked by these, and of how many; nil for nobody.
	Ranking func(made int, ranked []Contender, of int)
	// Ended is told of each learner that is left out, before the others begin, and of each that has ended; nil for none.
	Ended func(Contender)

	record func(Trial) error
	asked  int // Validation as it was given
}

// Trial is what a learner did in one split.
type Trial struct {
	Learner string `json:"learner"`
	Version int    `json:"version"` // of the learner
	Split   int    `json:"split"`   // repeat·folds + fold
	// Inner is the number from 1 of the fold of the training rows that was classified; 0 if it was the test rows of
	// the split.
	Inner   int     `json:"inner,omitempty"`
	Wrong   float64 `json:"wrong"` // rows, a tie of votes by its chance
	Rows    int     `json:"rows"`  // classified
	K       int     `json:"k"`
	Seconds float64 `json:"cpu_seconds"` // of the fit and its preparation; 0 if not measured
	// Peak is the most that the heap held since the first trial of the learner in this run, in bytes above what it held before; 0 if not measured.
	Peak int64 `json:"peak_bytes,omitempty"`
}

// State says how far a learner came.
type State string

// The states.
const (
	Finished   State = "finished"
	Failed     State = "failed"            // with an error
	Unfinished State = "unfinished"        // when the time was over
	LeftOut    State = "left out"          // before it began
	OtherInput State = "needs other input" // than a table with classes
)

// Contender is a learner in a comparison.
type Contender struct {
	// Recipe is resolved; of a learner that needs other input it has the name only.
	Recipe Recipe
	State  State
	// Reason says why it has not finished.
	Reason string
	// Cost is the estimate of a fit, and Seconds that of all fits and neighbours on as many processors as there are.
	Cost    catalog.Cost
	Seconds float64
	// Score is its error, if it has finished.
	Score Score
	// Fit is the mean CPU time of a fit in seconds; 0 if not measured.
	Fit float64
	// Peak is the most memory in bytes that the process took for its splits, above what it held before; 0 if not measured. It covers as many splits
	// as ran at a time, with their neighbours and with garbage that was not yet collected. See Trial.
	Peak int64
	// Difference is its error minus that of the best, paired by split; P the p-value of the corrected resampled t test
	// that there is none (judge.ResampledP); Holm the same, corrected for as many learners as were compared with the
	// best. P and Holm are NaN of the best, and below judge.MinTrials splits.
	Difference judge.Summary
	P, Holm    float64
}

// Comparison is what Compare found.
type Comparison struct {
	Facts
	// Measure is what is compared: Score holds shares of it, the less the better.
	Measure    string
	Plan       Plan // resolved
	Validation int
	// Ranked are the learners that have finished, the one of least error first, of equals the one of least estimated cost.
	Ranked []Contender
	// Others are those that have not finished.
	Others []Contender
	// ByValidation is the error of the procedure that takes in each split the learner that was best in an inner
	// evaluation within what the split learns from; nil if there is none. Chosen is the learner taken in each split.
	ByValidation *Score
	Chosen       []string
	// Err is the error of the context if that was done first, or of the deadline that Plan.Limit set.
	Err error
}

// level is the chance of a false rejection among all learners.
const level = 0.05

// Compare evaluates several learners on the same splits of a problem: those, and so the errors, of its evaluation with the same seed. base holds what is common to
// the recipes. Its Learner and Params must be empty, since Comparing has the parameters; its Pairs and Passes are for the learners that take
// them. names are those of the learners of the problem or aliases; nil means all.
//
// Learners take turns, the one of least estimated cost first, in rounds: each makes the first splits, then all make more, until all splits are made; the splits of a learner run in
// parallel. A learner
// is left out before it starts if the estimates say that a fit does not fit limits.Memory or that its splits take more than
// Limit. One that fails is in Others with its error. Once ctx or the time is done, learners are ranked by the splits of the last round that at least half of them have ended, and the rest is in Others.
//
// The best of several errors is too good an estimate of the error of the best: chance helped to choose it. So, with
// Validation, each split takes the learner with the fewest errors in an evaluation within what it learns from, of equals
// that of least cost, and ByValidation is the error of that procedure on what the split tests.
//
// It returns a *tables.OptionError if names or plan are not allowed, the errors of the problem, and those of Journal and Estimated.
func Compare(ctx context.Context, pr Problem, base Recipe, names []string, p Comparing) (*Comparison, error) {
	fits, others, err := pr.contenders(base, names, p.Params)
	if err != nil {
		return nil, err
	}
	c := &contest{out: &Comparison{Facts: Facts{Problem: pr}, Others: others}, done: map[trialKey]Trial{}}
	p.Seed, p.asked = cmp.Or(p.Seed, fits[0].recipe.Seed), p.Validation
	if c.course, err = pr.lay(&p, &fits, &c.out.Facts); err != nil {
		return nil, err
	}
	if c.out.Measure = c.out.Measures[0].Name; !c.out.Measures[0].Less {
		c.out.Measure = "1 − " + c.out.Measure
	}
	if p.Journal != nil {
		params, err := ofLearners(pr.Learners(), p.Params)
		if err != nil {
			return nil, err
		}
		done, record, err := p.Journal(p.journal(pr, base, params, &c.out.Facts))
		if err != nil {
			return nil, err
		}
		p.record = record
		for _, t := range done {
			c.done[trialKey{t.Learner, t.Split, t.Inner}] = t
		}
	}
	clock := p.CPU
	if clock == nil {
		clock = func() time.Duration { return 0 }
	}
	c.p, c.cpu = p, cpushare.New(clock)
	c.out.Plan, c.out.Validation = p.Plan, p.Validation
	limited, cancel := p.limited(ctx)
	defer cancel()
	return c.run(limited, fits)
}

// Comparable returns the recipes that Compare has for the names of learners and their parameters, and what needs other input if names is nil.
// Errors are those of Compare. The problem may be without data.
func Comparable(pr Problem, base Recipe, names []string, params map[string]map[string]string) ([]Recipe, []Contender, error) {
	fits, others, err := pr.contenders(base, names, params)
	var recipes []Recipe
	for _, f := range fits {
		recipes = append(recipes, f.recipe)
	}
	return recipes, others, err
}

func (p *Comparing) checkValidation(learners int) error {
	switch {
	case p.Validation < 0 || p.Validation == 1:
		return notAllowed("validation: %d folds are not allowed, want 0 for none, or at least 2", p.Validation)
	case learners == 1: // there is nothing to choose
		p.Validation = 0
	}
	return nil
}

// ofLearners returns parameters by the names of learners, which may be aliases.
func ofLearners(learners []catalog.Entry, params map[string]map[string]string) (map[string]map[string]string, error) {
	out := map[string]map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(params)) {
		e, err := catalog.FindIn(learners, name)
		if err != nil {
			return nil, notAllowed("param %s: %w", name, err)
		}
		if out[e.Name] != nil {
			return nil, notAllowed("param %s: learner %s is given twice", name, e.Name)
		}
		out[e.Name] = maps.Clone(params[name])
	}
	return out, nil
}

func (pr Problem) contenders(base Recipe, names []string, params map[string]map[string]string) (fits []fitting, others []Contender, err error) {
	if base.Learner != "" || len(base.Params) > 0 {
		return nil, nil, notAllowed("learner: %q with %d parameters is given, want neither in the recipe of a comparison", base.Learner, len(base.Params))
	}
	all := pr.Learners()
	if params, err = ofLearners(all, params); err != nil {
		return nil, nil, err
	}
	if names == nil {
		for _, e := range all {
			if !(base.Raw && e.Name == EuclideanRaw) { // euclidean is the same then
				names = append(names, e.Name)
			}
		}
		for _, e := range catalog.All() {
			if !slices.Contains(names, e.Name) {
				others = append(others, Contender{Recipe: Recipe{Learner: e.Name}, State: OtherInput, Reason: fmt.Sprintf("it learns from %s, not from %s", e.Feedback, pr.about())})
			}
		}
	}
	seen := map[string]bool{}
	for _, name := range names {
		r := base
		r.Learner, r.Pairs, r.Passes = name, 0, 0
		f, err := pr.resolve(r)
		if err != nil {
			return nil, nil, err
		}
		e := f.entry
		if seen[e.Name] {
			return nil, nil, notAllowed("learner %s is given twice", e.Name)
		}
		seen[e.Name] = true
		r.Params = params[e.Name]
		if f.recipe.Pairs > 0 { // drawn
			r.Pairs = base.Pairs
		}
		if f.recipe.Passes > 0 { // online
			r.Passes = base.Passes
		}
		if f, err = pr.resolve(r); err != nil {
			return nil, nil, err
		}
		fits = append(fits, f)
	}
	for name := range params {
		if !seen[name] {
			return nil, nil, notAllowed("param %s: it is none of the learners that are compared", name)
		}
	}
	if len(fits) == 0 {
		return nil, nil, notAllowed("learners: none given, want at least one")
	}
	return fits, others, nil
}

func (f fitting) cost(rows, features, classes int) catalog.Cost {
	if f.entry.Cost == nil {
		return catalog.Cost{}
	}
	return f.entry.Estimate(catalog.Size{Rows: rows, Features: features, Classes: classes, Pairs: f.recipe.Pairs, Passes: f.recipe.Passes}, f.values)
}

// room returns an error unless a fit to n rows fits limits.Memory by its estimate.
func (f fitting) room(n, width, classes int) error {
	what := fmt.Sprintf("a fit to %s of %s", plural.Of(n, "row"), plural.Of(width, "feature"))
	if f.recipe.Pairs > 0 {
		what += fmt.Sprintf(" and %s", plural.Of(f.recipe.Pairs, "pair"))
	}
	return f.roomOf(f.cost(n, width, classes), what)
}

// roomOf returns an error unless a fit of an estimated cost fits limits.Memory; what it is, for messages.
func (f fitting) roomOf(c catalog.Cost, what string) error {
	err := limits.Check(what+", by a rough estimate,", c.Bytes)
	if err == nil {
		return nil
	}
	advice := "want fewer of them, or a higher limit"
	if _, ok := f.recipe.Params["landmarks"]; ok {
		advice = "want fewer rows, a higher limit, or landmarks=500 (--param of fit and evaluate), which learns in the span of so many rows"
	}
	return fmt.Errorf("model: %s: %w; %s", f.recipe.Learner, err, advice)
}

// unwrapped is the error within a *tables.OptionError.
func unwrapped(err error) error {
	if e, ok := errors.AsType[*tables.OptionError](err); ok {
		return e.Err
	}
	return err
}

// Roughly writes a number of seconds that is known roughly: "about 5m", "about 2h", "less than 1s".
func Roughly(seconds float64) string {
	switch {
	case seconds < 1:
		return "less than 1s"
	case seconds < 90:
		return fmt.Sprintf("about %.0fs", seconds)
	case seconds < 90*60:
		return fmt.Sprintf("about %.0fm", seconds/60)
	case seconds < 48*3600:
		return fmt.Sprintf("about %.0fh", seconds/3600)
	case seconds < 2*365*86400:
		return fmt.Sprintf("about %.0f days", seconds/86400)
	}
	return fmt.Sprintf("about %.3g years", seconds/(365*86400))
}

// Tied returns the best learner and those that the rows do not tell from it at a corrected level of 0.05, as they are
// ranked; nil if none has finished, or if there are too few splits to tell.
func (c *Comparison) Tied() []Contender {
	if len(c.Ranked) == 0 || !c.Ranked[0].Difference.HasInterval {
		return nil
	}
	tied := c.Ranked[:1:1]
	for _, e := range c.Ranked[1:] {
		if !(e.Holm < level) {
			tied = append(tied, e)
		}
	}
	return tied
}

// Take returns the learner of least estimated cost among Tied; false if there is none.
func (c *Comparison) Take() (Contender, bool) {
	tied := c.Tied()
	if len(tied) == 0 {
		return Contender{}, false
	}
	return slices.MinFunc(tied, func(a, b Contender) int { return cmp.Compare(a.Seconds, b.Seconds) }), true
}

// Drawing shows the errors as dots with intervals, the best at the top; name is that of the data.
func (c *Comparison) Drawing(name string) plots.Drawing {
	mark := func(m plots.Intervals, label string, s judge.Summary) plots.Intervals {
		mean, half := s.Interval()
		m.Labels, m.X, m.Err = append(m.Labels, label), append(m.X, 100*mean), append(m.Err, 100*half)
		return m
	}
	each := plots.Intervals{Possible: [2]float64{0, 100}}
	for _, e := range c.Ranked {
		each = mark(each, e.Recipe.Learner, e.Score.Summary)
	}
	what := plural.Of(c.Items, "row")
	if c.Features > 0 {
		what += ", " + plural.Of(c.Features, "feature")
	}
	if len(c.Classes) > 0 {
		what += ", " + classesWord(len(c.Classes))
	}
	caption := fmt.Sprintf("Error of nearest neighbours under metrics that learners found for %s: %s.", name, what)
	if c.Measure != MeasureKNN {
		caption = fmt.Sprintf("%s of metrics or kernels that learners found for %s: %s.", capital(c.Measure), name, what)
	}
	if c.Plan.Share > 0 {
		caption += fmt.Sprintf(" %s, %.3g %% of the items held out, the same splits for all.", plural.Of(c.Plan.Repeats, "split"), 100*c.Plan.Share)
	} else {
		caption += fmt.Sprintf(" %d x %d-fold %scross-validation, the same splits for all.", c.Plan.Repeats, c.Plan.Folds, map[bool]string{true: "stratified "}[len(c.Classes) > 0])
	}
	if len(c.Ranked) > 0 && c.Ranked[0].Score.Summary.HasInterval {
		caption += " Bars are corrected 95 % intervals of Nadeau and Bengio (2003); they do not compare two learners."
	}
	if s := c.ByValidation; s != nil {
		each = mark(each, "best by validation", s.Summary)
		caption += fmt.Sprintf(" Best by validation: each split takes the learner that is best in %d divisions of what it learns from.", c.Validation)
	}
	return plots.Drawing{Caption: plots.Caption{Shows: caption}, Notes: c.Notes, Panels: []plots.Panel{{Title: "Learners on " + name, XLabel: c.Measure + " in %", Marks: []plots.Mark{each}}}}
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func classesWord(n int) string {
	if n == 1 {
		return "1 class"
	}
	return fmt.Sprintf("%d classes", n)
}
