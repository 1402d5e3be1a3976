package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
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
	recipeFlags
	gram                       gramFlags
	vectors                    vectorFlags
	triplets                   tripletFlags
	names, given               []string
	ks                         []int
	folds, repeats, validation int
	share                      float64
	limit                      time.Duration
	figure, resume             string
	json                       bool
}

func (a *app) compareCommand() *cobra.Command {
	f := &compareFlags{}
	byDefault := model.Plan{}.Resolved()
	c := &cobra.Command{
		Use:     "compare {{DATA.csv | DATA.svm} {--label COLUMN | --pairs PAIRS.csv} | --gram K0.csv --labels L.csv | --vectors X.npy {--pairs PAIRS.csv | --triplets T.csv} | --triplets T.csv} [--learners NAME,NAME,...]",
		Short:   "Compare learners on your own data: error, time, memory, and which to take",
		Example: "  metriclab compare wine.csv --label class --learners euclidean,fda,lmnn,itml --figure compare.svg\n  metriclab compare wine.csv --label class --resume wine.jsonl --time-limit 2h\n  metriclab compare --vectors X.npy --pairs feedback.csv --unit",
		Long: `Evaluate learners on the same splits, those of metriclab evaluate with the same --seed,
and rank them: with classes by nearest-neighbour error, with a file of --pairs by
1 − AUC (how often a dissimilar pair is nearer than a similar one), with --triplets by
the share of comparisons that are contradicted. Parameters are the defaults but for those
of --param, such as --param lmnn:k=5.
In each split everything is learned anew from what it does not test. The learner of least
estimated cost begins; a line on stderr tells of each that ends. The time of a fit is
measured. Peak memory is what the process took for the splits of a learner, of which
several run at a time, above what it held before: looked at every 5 ms, with garbage
that was not yet collected. What one fit takes is estimated beside it.

Intervals are those of metriclab evaluate. Each learner is compared with the best by the
corrected resampled t test, and the p-values are corrected for their number (Holm 1979).
Where the data do not tell some learners from the best, the cheapest of these is advised.
The best is chosen by the same errors that the tests use, which flatters it a little.

The least of many errors is too good an estimate: chance helped to choose it. The row
"best by validation" is honest: each split takes the learner that was best within what it
learns from (--validation folds, or as many divisions), and its error is that on what the
split tests. That costs as many more fits; --validation 0 leaves it out.

A learner is left out before it begins if a fit exceeds --max-memory or all its fits
exceed --time-limit, by rough estimates: within a factor of about 3 on many tables, but
an iterating learner may take 10 times as long. When the time is over, or after an
interrupt, what has finished is ranked, and the others are named. With --resume FILE
finished splits of a table are kept in FILE, and the same command with it goes on from there.

metriclab help tables says how a table is read, help pairs, comparisons and gram the rest.`,
		Args: tableOr("vectors", "gram", "triplets"),
		RunE: func(c *cobra.Command, args []string) error {
			q, err := a.comparing(c, f, args)
			if err != nil {
				return err
			}
			return a.compare(c.Context(), q)
		},
	}
	f.addTable(c)
	f.gram.addLabels(c)
	c.Flags().StringVar(&f.gram.gram, "gram", "", "CSV or .npy file of the kernel matrix of the objects, in place of a table")
	f.vectors.addRecipe(c)
	f.triplets.add(c, "dimensions in which distances count, with --triplets (default: the whole kernel)")
	c.Flags().Var(&f.recipeFlags.columns, "columns", "which columns of a file of pairs or triplets are i, j and label, or a, near and far, by name or number: a=head,near=winner,far=loser")
	c.Flags().Float64Var(&f.share, "test-share", model.VectorPlan{}.Resolved().Share, "share of items that a split holds out, with --vectors or a file of --pairs")
	c.Flags().StringSliceVar(&f.names, "learners", []string{allLearners}, "learners separated by commas, or all that take the data; metriclab learners lists them")
	completeFlag(c, "learners", completeWords(learnerNames()...))
	c.Flags().StringArrayVar(&f.given, "param", nil, "parameter of a learner as learner:name=value, such as lmnn:k=5; may be repeated")
	completeFlag(c, "param", completeCompared)
	c.Flags().IntSliceVar(&f.ks, "k", byDefault.Ks, "numbers of neighbours, separated by commas; of several, each split takes its best")
	c.Flags().IntVar(&f.folds, "folds", byDefault.Folds, "parts of a cross-validation, from 2 to the number of rows")
	c.Flags().IntVar(&f.repeats, "repeats", byDefault.Repeats, fmt.Sprintf("how often the data are divided anew, at most %d", model.MaxRepeats))
	c.Flags().IntVar(&f.validation, "validation", 3, "folds of the training rows by which a learner is chosen in each split, at least 2; 0 leaves that out")
	c.Flags().DurationVar(&f.limit, "time-limit", 10*time.Minute, "when to end with what has finished, such as 90s or 2h; 0 means no limit")
	c.Flags().StringVar(&f.figure, "figure", "", "file for a plot of errors with intervals, .png or .svg")
	c.Flags().StringVar(&f.resume, "resume", "", "journal of finished splits of a table, to go on from; made if it is not there")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return c
}

// comparing checks the flags.
func (a *app) comparing(c *cobra.Command, f *compareFlags, args []string) (*comparison, error) {
	errs := []error{atLeastOne(c, "folds", f.folds, "repeats", f.repeats), atLeastOneEach(f.ks)}
	wrong := func(format string, values ...any) { errs = append(errs, usageError{fmt.Errorf(format, values...)}) }
	if f.limit < 0 {
		wrong("flag --time-limit: %v is not allowed, want at least 0, which means none", f.limit)
	}
	q := &comparison{limit: f.limit, figure: f.figure, resume: f.resume, json: f.json}
	q.plan = model.Comparing{
		Plan: planned(c, f.ks, f.folds, f.repeats), Validation: f.validation,
		MostSeconds: f.limit.Seconds(), CPU: a.world.ProcessCPU, Heap: a.heap,
	}
	var err error
	if q.plan.Params, err = learnerParams(f.given); err != nil {
		errs = append(errs, usageError{err})
	}
	errs = append(errs, f.problem(a, c, args, q))
	if err := together(errs...); err != nil {
		return nil, err
	}
	q.names = f.names
	if slices.Contains(f.names, allLearners) {
		if len(f.names) > 1 {
			return nil, usageError{fmt.Errorf("flag --learners: %q is not allowed, want all, or names", strings.Join(f.names, ","))}
		}
		q.names = nil
	}
	if q.table && !q.base.Raw && len(q.names) > 0 && !slices.Contains(q.names, model.EuclideanRaw) {
		q.names = append(slices.Clone(q.names), model.EuclideanRaw) // what scaling alone does is seen in every comparison
	}
	if _, _, err := model.Comparable(q.problem, q.base, q.names, q.plan.Params); err != nil {
		return nil, usageError{fmt.Errorf("flags --learners and --param: %w", err)}
	}
	if c.Flags().Changed("figure") {
		if ending := strings.ToLower(filepath.Ext(f.figure)); ending != ".png" && ending != ".svg" {
			return nil, usageError{fmt.Errorf("flag --figure: %q is not allowed, want a file name that ends in .png or .svg", f.figure)}
		}
		if q.figure, err = outPath("figure", f.figure, q.inputs...); err != nil {
			return nil, err
		}
	}
	if c.Flags().Changed("resume") {
		if !q.table {
			return nil, usageError{errors.New("flag --resume: only for a table")}
		}
		if q.resume, err = outPath("resume", f.resume, q.inputs...); err != nil {
			return nil, err
		}
		if q.figure != "" && samePath(q.resume, q.figure) {
			return nil, usageError{errors.New("flag --resume: the file is that of --figure, want another one")}
		}
	}
	return q, nil
}

// problem sets what is compared on: the problem without data, and how to read these.
func (f *compareFlags) problem(a *app, c *cobra.Command, args []string, q *comparison) error {
	f.vectors.triplets = &f.triplets.triplets
	if err := f.checkForm(c, args...); err != nil {
		return err
	}
	vectors, err := f.vectors.given(c, append([]string{"folds", "k"}, tableFlags...)...)
	if err != nil || vectors {
		return cmp.Or(err, f.problemOfVectors(a, c, q))
	}
	if c.Flags().Changed("test-share") && f.pairs.file == "" {
		return usageError{errors.New("flag --test-share: only together with --vectors or a file of --pairs")}
	}
	if triplets, err := f.triplets.given(c); err != nil || triplets {
		return cmp.Or(err, f.problemOfTriplets(a, c, q))
	}
	if gram, err := f.gram.given(c); err != nil || gram {
		return cmp.Or(err, f.problemOfGram(a, c, q))
	}
	q.table, q.inputs = true, args
	rows := f.checkRows(c, args[0])
	base, columns, err := f.base(c)
	errs := []error{rows, err}
	if rows == nil && err == nil && columns.Unlabelled {
		errs = append(errs, errNoLabel)
	}
	q.base, q.problem = base, model.ByClasses(nil)
	if base.Given != "" {
		return together(append(errs[:2], f.problemOfRows(a, c, args[0], columns, q))...)
	}
	q.read = func(ctx context.Context) (ready, error) {
		d, err := a.readLabelled(ctx, args[0], f.rows, columns, base.ImputeMean)
		if err != nil {
			return ready{}, err
		}
		return ready{problem: model.ByClasses(d), name: d.Name, data: d}, nil
	}
	return together(errs...)
}

// problemOfRows is problem for known pairs of the rows of a table.
func (f *compareFlags) problemOfRows(a *app, c *cobra.Command, table string, columns model.Columns, q *comparison) error {
	for _, name := range []string{"folds", "k", "resume"} {
		if c.Flags().Changed(name) {
			return usageError{fmt.Errorf("flag --%s: not together with a file of --pairs", name)}
		}
	}
	plan, err := heldOutPlan(c, f.share, f.repeats, nil)
	q.plan.Plan = model.Plan{Repeats: f.repeats, Seed: f.seed}
	q.problem = model.PairsOfRows(nil, plan)
	q.inputs = []string{table, f.pairs.file}
	q.read = func(ctx context.Context) (ready, error) {
		d, err := a.readLabelled(ctx, table, f.rows, columns, q.base.ImputeMean)
		if err == nil {
			err = a.give(ctx, d, q.base, &f.recipeFlags)
		}
		if err != nil {
			return ready{}, err
		}
		return ready{problem: model.PairsOfRows(d, plan), name: d.Name, data: d}, nil
	}
	return err
}

func (f *compareFlags) problemOfGram(a *app, c *cobra.Command, q *comparison) error {
	if f.gram.gram == "" || f.gram.labels == "" {
		return usageError{errors.New("flags --gram and --labels: want a file each")}
	}
	if f.pairs.file != "" || f.seed == 0 {
		return usageError{errors.New("flags --pairs and --seed: want how many pairs to draw, and at least 1")}
	}
	q.inputs = []string{f.gram.gram, f.gram.labels}
	q.base, q.problem = model.Recipe{Pairs: f.pairs.count, Seed: f.seed}, model.ByGram(nil, nil)
	q.read = func(ctx context.Context) (ready, error) {
		k0, labels, err := a.readGramLabels(ctx, &f.gram)
		return ready{problem: model.ByGram(k0, labels), name: filepath.Base(f.gram.gram)}, err
	}
	return atLeastOne(c, "pairs", f.pairs.count)
}

func (f *compareFlags) problemOfVectors(a *app, c *cobra.Command, q *comparison) error {
	v := &f.vectors
	plan, err := heldOutPlan(c, f.share, f.repeats, nil)
	errs := []error{err, atLeastOne(c, "passes", f.passes, "rank", v.rank)}
	switch {
	case f.pairs.file == "" && !v.compared():
		errs = append(errs, usageError{errors.New("flags --pairs and --triplets: no file given, want one with pairs of vectors and their labels, or with relative comparisons")})
	case f.pairs.file != "" && v.compared() || v.compared() && c.Flags().Changed("pairs"):
		errs = append(errs, usageError{errors.New("flag --pairs: not together with --triplets")})
	}
	if f.seed == 0 {
		errs = append(errs, usageError{errors.New("flag --seed: 0 is not allowed, want at least 1")})
	}
	common := model.VectorRecipe{Rank: v.rank, Unit: v.unit, Raw: f.raw}
	q.base = model.Recipe{Passes: f.passes}
	q.plan.Plan = model.Plan{Repeats: f.repeats, Seed: f.seed}
	q.problem = model.PairsOfVectors(nil, nil, common, plan)
	if v.compared() {
		q.problem = model.ComparisonsOfVectors(nil, nil, common, plan)
	}
	q.inputs = []string{v.vectors, cmp.Or(f.pairs.file, f.triplets.triplets)}
	q.read = func(ctx context.Context) (ready, error) {
		in, err := v.open(ctx, a)
		if err != nil {
			return ready{}, err
		}
		r := ready{name: filepath.Base(in.File.Name()), close: in.File.Close}
		if v.compared() {
			set, err := a.readCompared(ctx, *v.triplets, in.Objects, f.form())
			if err != nil {
				return r, err
			}
			r.problem = model.ComparisonsOfVectors(in.File, set.List, common, plan)
			return r, nil
		}
		pairs, err := a.readPairs(ctx, f.pairs.file, in.Objects, f.form())
		if err != nil {
			return r, err
		}
		r.problem = model.PairsOfVectors(in.File, pairs.Links, common, plan)
		return r, nil
	}
	return together(errs...)
}

func (f *compareFlags) problemOfTriplets(a *app, c *cobra.Command, q *comparison) error {
	plan := model.TripletPlan{Dim: f.triplets.dim}
	q.base = model.Recipe{Passes: f.passes}
	q.plan.Seed = f.seed
	if !c.Flags().Changed("repeats") {
		q.plan.Repeats = 0 // its own default
	}
	q.problem = model.ByComparisons(nil, plan)
	q.inputs = []string{f.triplets.triplets}
	q.read = func(ctx context.Context) (ready, error) {
		set, err := f.triplets.read(ctx, a, f.form())
		if err != nil {
			return ready{}, err
		}
		return ready{problem: model.ByComparisons(set, plan), name: filepath.Base(set.Name)}, nil
	}
	if f.seed == 0 {
		return usageError{errors.New("flag --seed: 0 is not allowed, want at least 1")}
	}
	return atLeastOne(c, "passes", f.passes)
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

// comparison is what the flags of compare say.
type comparison struct {
	problem        model.Problem // without data
	read           func(ctx context.Context) (ready, error)
	table          bool
	inputs         []string
	base           model.Recipe
	names          []string // nil for all
	plan           model.Comparing
	limit          time.Duration
	figure, resume string
	json           bool
}

// ready is a problem that was read.
type ready struct {
	problem model.Problem
	name    string       // of the data
	data    *model.Data  // of a table
	close   func() error // after the comparison; nil for nothing
}

func (a *app) compare(ctx context.Context, q *comparison) error {
	on, err := atOnce(ctx, func() (ready, error) { return q.read(ctx) })
	if on.close != nil {
		defer on.close()
	}
	if err != nil {
		return tableError(err)
	}
	limited := ctx
	if q.limit > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, q.limit)
		defer cancel()
	}
	if q.resume != "" {
		j, err := openJournal(q.resume, model.NewJournal(on.data, q.base, q.plan))
		if err != nil {
			return err
		}
		defer j.Close()
		a.note(q.resume, j.notes)
		if len(j.trials) > 0 {
			fmt.Fprintf(a.err, "%s: %s of an earlier run\n", q.resume, plural.Of(len(j.trials), "finished trial"))
		}
		q.plan.Done, q.plan.Record = j.trials, j.record
	}
	// A meter for each learner and for the validation, which ends before the line on it.
	var mu sync.Mutex
	var show model.Progress
	var inside func(split, done, total int)
	end := func() {}
	q.plan.Progress = func(done, total int) {
		mu.Lock()
		defer mu.Unlock()
		if show == nil {
			show, inside, end = a.insideSplits(limited, total)
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
		show, end = nil, func() {}
	}
	q.plan.Ended = func(e model.Contender) {
		ended()
		fmt.Fprintln(a.err, progressLine(e))
	}
	r, err := model.Compare(limited, on.problem, q.base, q.names, q.plan)
	ended()
	if err != nil {
		return tableError(err)
	}
	if q.figure != "" && len(r.Ranked) > 0 {
		if err := drawComparison(q.figure, on.name, r); err != nil {
			return err
		}
	}
	if q.json {
		err = a.printJSON(comparisonJSON(on.name, r))
	} else {
		err = a.printComparison(on.name, r, q)
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
