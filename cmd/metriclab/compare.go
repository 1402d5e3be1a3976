package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"metriclab/internal/heappeak"
	"metriclab/internal/plural"
	"metriclab/pkg/model"
)

// heapBytes is what the command measures memory by.
var heapBytes = heappeak.Bytes

// allLearners is the word that stands for all of them.
const allLearners = "all"

// compareFlags are those of compare.
type compareFlags struct {
	problemFlags
	planFlags
	names, given   []string
	validation     int
	figure, resume string
	json           bool
}

func (a *app) compareCommand() *cobra.Command {
	f := &compareFlags{}
	c := &cobra.Command{
		Use:     "compare PROBLEM [--learners NAME,NAME,...]",
		Short:   "Compare learners on your own data: error, time, memory, and which to take",
		Example: "  metriclab compare wine.csv --label class --learners euclidean,fda,lmnn,itml --figure compare.svg\n  metriclab compare wine.csv --label class --resume wine.jsonl --time-limit 2h\n  metriclab compare --vectors X.npy --pairs feedback.csv --unit",
		Long: "Evaluate learners on the same splits, those of metriclab evaluate with the same --seed, and rank\nthem by the measure of the problem, the less the better:\n" + usages("constraints") + `
Classes are scored by nearest-neighbour error, pairs by 1 − AUC (how often a dissimilar pair is
nearer than a similar one), comparisons by the share that is contradicted. Parameters are the
defaults but for those of --param, such as --param lmnn:k=5. The learner of least estimated cost
begins. All make the first splits, then more: a line on stderr ranks them by what is done. The
time of a fit is measured. Peak memory is what the process took for the splits of a learner, of
which several run at a time, above what it held before: looked at every 5 ms, with garbage that
was not yet collected. What one fit takes is estimated beside it.

Each learner is compared with the best by the corrected resampled t test, and the p-values are
corrected for their number (Holm 1979). Where the data do not tell some learners from the best,
the cheapest of these is advised. The best is chosen by the same errors that the tests use,
which flatters it a little, and the least of many errors is too good an estimate. The row "best
by validation" is honest: each split takes the learner that was best within what it learns from
(--validation folds, or as many divisions), and its error is that on what the split tests. That
costs as many more fits; --validation 0 leaves it out.

A learner is left out before it begins if a fit exceeds --max-memory or its splits exceed
--time-limit, by rough estimates: within a factor of about 3 on many tables, but an iterating
learner may take 10 times as long. When the time is over, or after an interrupt, learners are
ranked by the splits that all have made. With --resume FILE finished splits are kept in FILE,
and the same command with it goes on from there.`,
		RunE: func(c *cobra.Command, args []string) error {
			q, err := f.comparing(a, c, args)
			if err != nil {
				return err
			}
			return a.compare(c.Context(), f, q)
		},
	}
	f.problemFlags.add(c, "dimensions in which distances count, with --triplets alone (default: the whole kernel)")
	f.planFlags.add(c, &f.sample, 10*time.Minute)
	c.Flags().StringSliceVar(&f.names, "learners", []string{allLearners}, "learners separated by commas, or all that take the data; metriclab learners lists them")
	completeFlag(c, "learners", completeWords(learnerNames()...))
	c.Flags().StringArrayVar(&f.given, "param", nil, "parameter of a learner as learner:name=value, such as lmnn:k=5; may be repeated")
	completeFlag(c, "param", completeCompared)
	c.Flags().IntVar(&f.validation, "validation", 3, "folds of the training rows by which a learner is chosen in each split, at least 2; 0 leaves that out")
	c.Flags().StringVar(&f.figure, "figure", "", "file for a plot of errors with intervals, .png or .svg")
	c.Flags().StringVar(&f.resume, "resume", "", "journal of finished splits, to go on from; made if it is not there")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return c
}

// comparison is what the flags of compare say.
type comparison struct {
	*posed
	names []string // nil for all
	plan  model.Comparing
}

// comparing checks the flags.
func (f *compareFlags) comparing(a *app, c *cobra.Command, args []string) (*comparison, error) {
	plan, err := f.plan(c, f.seed)
	plan.Dim = f.dim
	errs := []error{err}
	q := &comparison{plan: model.Comparing{Plan: plan, Validation: f.validation, CPU: a.world.ProcessCPU, Heap: a.heap}}
	if q.plan.Params, err = learnerParams(f.given); err != nil {
		errs = append(errs, usageError{err})
	}
	q.posed, err = f.name(c, args)
	if q.posed != nil && q.unlabelled() {
		errs = append(errs, f.noLabel())
	}
	if err := together(append(errs, err)...); err != nil {
		return nil, err
	}
	q.names = f.names
	if slices.Contains(f.names, allLearners) {
		if len(f.names) > 1 {
			return nil, usageError{fmt.Errorf("flag --learners: %q is not allowed, want all, or names", strings.Join(f.names, ","))}
		}
		q.names = nil
	}
	if q.leads == nil && !q.base.Raw && len(q.names) > 0 && !slices.Contains(q.names, model.EuclideanRaw) {
		q.names = append(slices.Clone(q.names), model.EuclideanRaw) // what scaling alone does is seen in every comparison
	}
	if f.dim > 0 {
		for _, e := range q.bare.Learners() {
			if given := q.plan.Params[e.Name]; fitsDim(e) && given["dim"] == "" && (q.names == nil || slices.Contains(q.names, e.Name)) {
				if given == nil {
					given = map[string]string{}
					q.plan.Params[e.Name] = given
				}
				given["dim"] = strconv.Itoa(f.dim)
			}
		}
	}
	if _, _, err := model.Comparable(q.bare, q.base, q.names, q.plan.Params); err != nil {
		return nil, usageError{fmt.Errorf("flags --learners and --param: %w", err)}
	}
	if c.Flags().Changed("figure") {
		if ending := strings.ToLower(filepath.Ext(f.figure)); ending != ".png" && ending != ".svg" {
			return nil, usageError{fmt.Errorf("flag --figure: %q is not allowed, want a file name that ends in .png or .svg", f.figure)}
		}
	}
	return q, outPaths(c, q.inputs, outFile{flag: "figure", path: &f.figure}, outFile{flag: "resume", path: &f.resume})
}

// learnerParams reads the values of --param of compare.
func learnerParams(given []string) (map[string]map[string]string, error) {
	lists := map[string][]string{}
	for _, p := range given {
		learner, param, ok := strings.Cut(p, ":")
		if !ok || learner == "" {
			return nil, fmt.Errorf("flag --param: %q is not allowed: want learner:name=value", p)
		}
		lists[learner] = append(lists[learner], param)
	}
	out := map[string]map[string]string{}
	for learner, list := range lists {
		params, err := parseParams(list)
		if err != nil {
			return nil, err
		}
		out[learner] = params
	}
	return out, nil
}

// givenParams lists parameters by learner: "lmnn k=5, pca dim=2".
func givenParams(params map[string]map[string]string) string {
	var parts []string
	for _, learner := range slices.Sorted(maps.Keys(params)) {
		for _, name := range slices.Sorted(maps.Keys(params[learner])) {
			parts = append(parts, fmt.Sprintf("%s %s=%s", learner, name, params[learner][name]))
		}
	}
	return strings.Join(parts, ", ")
}

// learnerNames are the names with their documentation, for completion.
func learnerNames() []string {
	words := []string{allLearners}
	for _, e := range model.Learners() {
		words = append(words, e.Name+"\t"+e.Doc)
	}
	return words
}

func (a *app) compare(ctx context.Context, f *compareFlags, q *comparison) error {
	on, err := atOnce(ctx, func() (ready, error) { return f.open(ctx, a, q.posed) })
	if on.close != nil {
		defer on.close()
	}
	if err != nil {
		return err
	}
	divided := a.waiting(ctx, "dividing "+on.name)
	defer divided()
	if f.resume != "" {
		var j *journal
		q.plan.Journal = func(of model.Journal) ([]model.Trial, func(model.Trial) error, error) {
			divided()
			if j, err = openJournal(f.resume, of); err != nil {
				return nil, nil, err
			}
			for _, n := range j.notes { // of the journal, not of what is compared
				fmt.Fprintf(a.err, "%s: %s\n", f.resume, n)
			}
			if len(j.trials) > 0 {
				fmt.Fprintf(a.err, "%s: %s of an earlier run\n", f.resume, plural.Of(len(j.trials), "finished trial"))
			}
			return j.trials, j.record, nil
		}
		defer func() {
			if j != nil {
				j.Close()
			}
		}()
	}
	// A meter for each learner and for the validation, which ends before the line on it.
	var mu sync.Mutex
	var show model.Progress
	var inside func(split, done, total int)
	last := 0
	end := func() {}
	begin, long := time.Now(), false
	var telling sync.Mutex // of rankings
	q.plan.Estimated = func(seconds float64) error {
		divided()
		long = seconds >= longWork
		return a.agree(ctx, "the comparison", seconds)
	}
	q.plan.Progress = func(done, total int) {
		mu.Lock()
		defer mu.Unlock()
		if done < last { // another learner, or the next round
			end()
			show = nil
		}
		if last = done; show == nil {
			show, inside, end = a.insideSplits(ctx, total)
		}
		show(done, total)
	}
	q.plan.Inside = func(split, done, total int) {
		mu.Lock()
		defer mu.Unlock()
		if show != nil {
			inside(split, done, total)
		}
	}
	ended := func() {
		mu.Lock()
		defer mu.Unlock()
		end()
		show, end, last = nil, func() {}, 0
	}
	q.plan.Ended = func(e model.Contender) {
		ended()
		fmt.Fprintln(a.err, progressLine(e))
	}
	// A first ranking stands within a minute, of the learners that have made the first splits by then; later ones where all have made as many.
	var latest string
	tell := func() {
		if latest != "" {
			ended()
			fmt.Fprintln(a.err, latest)
			latest = ""
		}
	}
	first := time.AfterFunc(firstRanking, func() {
		telling.Lock()
		defer telling.Unlock()
		tell()
	})
	defer first.Stop()
	q.plan.Ranking = func(made int, ranked []model.Contender, of int) {
		telling.Lock()
		defer telling.Unlock()
		var parts []string
		for _, e := range ranked {
			parts = append(parts, fmt.Sprintf("%s %.2f %%", e.Recipe.Learner, 100*e.Score.Summary.Mean))
		}
		latest = fmt.Sprintf("by %s, %d of %s: %s", plural.Of(made, "split"), len(ranked), plural.Of(of, "learner"), strings.Join(parts, ", "))
		if len(ranked) == of && (long || time.Since(begin) >= longWork*time.Second) {
			tell()
		}
	}
	r, err := model.Compare(ctx, on.problem, q.base, q.names, q.plan)
	ended()
	if err != nil {
		return tableError(err)
	}
	if f.figure != "" && len(r.Ranked) > 0 {
		if err := drawComparison(f.figure, on.name, r); err != nil {
			return err
		}
	}
	if f.json {
		err = a.printJSON(a.comparisonJSON(on, r))
	} else {
		err = a.printComparison(f, q, on, r)
	}
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case len(r.Ranked) == 0:
		return errors.New("no learner has finished")
	}
	return nil
}

// firstRanking is how long after the beginning a ranking is told of learners that have made the first splits.
const firstRanking = 45 * time.Second

// progressLine tells of a learner that has ended.
func progressLine(e model.Contender) string {
	name := e.Recipe.Learner
	switch e.State {
	case model.Finished:
		return fmt.Sprintf("%s: error %s %%%s", name, e.Score.Summary.Percent(), perFit(e))
	case model.LeftOut:
		return fmt.Sprintf("%s: left out, %s", name, e.Reason)
	}
	return fmt.Sprintf("%s: %s, %s", name, e.State, e.Reason)
}

// perFit tells the CPU time of a fit, if it was measured.
func perFit(e model.Contender) string {
	if e.Fit == 0 {
		return ""
	}
	return fmt.Sprintf(", %s a fit", seconds(e.Fit))
}

// seconds writes a CPU time.
func seconds(s float64) string {
	switch {
	case s == 0:
		return "-"
	case s < 0.001:
		return fmt.Sprintf("%.0f µs", s*1e6)
	case s < 1:
		return fmt.Sprintf("%.3g ms", s*1e3)
	}
	return fmt.Sprintf("%.3g s", s)
}

// pValue writes a p-value.
func pValue(p float64) string {
	switch {
	case math.IsNaN(p):
		return "-"
	case p < 0.001:
		return "< 0.001"
	}
	return fmt.Sprintf("%.3f", p)
}
