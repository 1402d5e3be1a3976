package main

import (
	"fmt"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"metriclab/pkg/model"
)

// schema is the number of the JSON forms of fit, evaluate and compare; docs/json.md says what changed with each.
const schema = 2

// planFlags say how something is evaluated or compared.
type planFlags struct {
	ks                     []int
	folds, repeats, splits int
	share                  float64
	limit                  time.Duration
}

// add adds the flags. limit is the default of --time-limit.
func (f *planFlags) add(c *cobra.Command, sample *int, limit time.Duration) {
	byDefault := model.Plan{}.Resolved()
	c.Flags().IntSliceVar(&f.ks, "k", byDefault.Ks, "numbers of neighbours, separated by commas; of several, each split takes its best; of pairs one number, 10 by default")
	c.Flags().IntVar(&f.folds, "folds", byDefault.Folds, "parts of a cross-validation, from 2 to the number of rows, objects or questions; of pairs and of comparisons of vectors in place of --test-share")
	c.Flags().IntVar(&f.repeats, "repeats", byDefault.Repeats, fmt.Sprintf("how often the data are divided anew, at most %d; 2 by default with --triplets alone", model.MaxRepeats))
	c.Flags().IntVar(&f.splits, "splits", 0, "make so many of the splits, from the first (default: all)")
	c.Flags().Float64Var(&f.share, "test-share", 0, "share of items that a split holds out, of pairs and of comparisons of vectors (default 0.3)")
	c.Flags().DurationVar(&f.limit, "time-limit", limit, "when to end with the splits that are done, such as 90s or 2h; 0 means no limit")
	c.Flags().IntVar(sample, "sample", 0, "take so many rows or objects (of each class its share), pairs or comparisons (default: all)")
}

// plan is what the flags say; a default is left to the problem.
func (f *planFlags) plan(c *cobra.Command, seed uint64) (model.Plan, error) {
	changed := c.Flags().Changed
	p := model.Plan{Seed: seed, Share: f.share, Splits: f.splits, Limit: f.limit}
	if changed("k") {
		p.Ks = f.ks
	}
	if changed("folds") {
		p.Folds = f.folds
	}
	if changed("repeats") {
		p.Repeats = f.repeats
	}
	errs := []error{atLeastOne(c, "folds", f.folds, "repeats", f.repeats, "splits", f.splits), atLeastOneEach(f.ks)}
	if changed("test-share") && !(f.share > 0 && f.share < 1) {
		errs = append(errs, usageError{fmt.Errorf("flag --test-share: %v is not allowed, want more than 0 and less than 1", f.share)})
	}
	if f.limit < 0 {
		errs = append(errs, usageError{fmt.Errorf("flag --time-limit: %v is not allowed, want at least 0, which means none", f.limit)})
	}
	return p, together(errs...)
}

func (a *app) evaluateCommand() *cobra.Command {
	f := &problemFlags{}
	p := &planFlags{}
	var path string
	var asJSON bool
	c := &cobra.Command{
		Use:   "evaluate PROBLEM {--learner NAME | --model MODEL.json}",
		Short: "Estimate what a learned metric is worth on your own data, beside distances without learning",
		Example: `  metriclab evaluate wine.csv --label class --learner lmnn
  metriclab evaluate --vectors X.npy --pairs feedback.csv --learner itml --unit
  metriclab evaluate wine.csv --model m.json`,
		Long: "Learn from a part of the data, score it by the other, again and again. The problems:\n" + usages("constraints") + `
classes        folds of the rows or objects are classified by their nearest neighbours
pairs, chunklets, comparisons of vectors   items are held out, and all that is known of them
comparisons alone   folds of questions are held out: an object and two to compare with it

In each split everything is learned anew: the means of missing cells, the scales, the pairs
and the metric. Of several --k each split takes the one with the fewest errors when its
training rows are classified with one left out, for each distance separately. --model takes
columns and recipe from a fitted model of a table, never its metric, which may have seen the
test rows.

AUC is how often a similar pair is nearer than a dissimilar one. The error is the share of
pairs on the wrong side of the threshold that is best on the training pairs. The recall is the
share of the held-out items similar to one that is among its --k nearest ones. The triplet
error is the share of comparisons that are contradicted, a tie as half of one.

An interval covers the mean over splits: the corrected resampled t interval of Nadeau and
Bengio (2003), which allows for the overlap of training sets; below 6 splits there is none.
A --time-limit ends at whole splits: --splits with as many prints the same again.`,
		RunE: func(c *cobra.Command, args []string) error { return a.evaluate(c, f, p, args, path, asJSON) },
	}
	f.add(c, "dimensions in which distances count, with --triplets alone (default: the whole kernel)")
	f.addLearner(c)
	c.Flags().StringVar(&path, "model", "", "take columns and recipe from this file that metriclab fit has written for a table")
	completeFlag(c, "model", completeJSON)
	p.add(c, &f.sample, 0)
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func (a *app) evaluate(c *cobra.Command, f *problemFlags, p *planFlags, args []string, path string, asJSON bool) error {
	ctx := c.Context()
	plan, wrong := p.plan(c, f.seed)
	plan.Dim = f.dim
	q, err := f.name(c, args)
	if q == nil {
		return together(wrong, err)
	}
	var recipe model.Recipe
	read := func() (ready, error) { return f.open(ctx, a, q) }
	if c.Flags().Changed("model") {
		read = func() (on ready, err error) {
			recipe, on.data, err = a.fromModel(c, path, args[0], f.format)
			if err != nil {
				return on, err
			}
			if !q.seed {
				plan.Seed = recipe.Seed
			}
			d := on.data
			on.problem, on.name, on.about = model.ByClasses(d), d.Name, func(int) string { return describeRows(d) }
			return on, nil
		}
	} else {
		var bad error
		recipe, bad = f.recipe(q, false, err != nil)
		err = together(err, bad)
	}
	if err := together(wrong, err); err != nil {
		return err
	}
	on, err := atOnce(ctx, read)
	if on.close != nil {
		defer on.close()
	}
	if err != nil {
		return err
	}
	var mu sync.Mutex // an interrupt does not wait for what tells
	var progress model.Progress
	var inside func(split, done, total int)
	end := func() {}
	divided := a.waiting(ctx, "dividing "+on.name)
	defer divided()
	plan.Estimated = func(seconds float64) error {
		divided()
		return a.agree(ctx, "an evaluation of "+recipe.Learner, seconds)
	}
	plan.Progress = func(done, total int) {
		mu.Lock()
		defer mu.Unlock()
		if progress == nil { // after the estimate, which may ask
			progress, inside, end = a.insideSplits(ctx, total)
		}
		progress(done, total)
	}
	plan.Inside = func(split, done, total int) {
		mu.Lock()
		defer mu.Unlock()
		if inside != nil {
			inside(split, done, total)
		}
	}
	e, err := atOnce(ctx, func() (*model.Evaluation, error) { return model.Evaluate(ctx, on.problem, recipe, plan) })
	mu.Lock()
	end()
	mu.Unlock()
	if err != nil {
		return tableError(err)
	}
	if asJSON {
		return a.printJSON(a.evaluationJSON(on, e))
	}
	return a.printEvaluation(q, on, e)
}
