package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"metriclab/internal/plural"
	"metriclab/pkg/model"
)

// heldOutPlan is the plan of an evaluation on held-out items, with --vectors or a file of --pairs.
func heldOutPlan(c *cobra.Command, share float64, repeats int, ks []int) (model.VectorPlan, error) {
	plan := model.VectorPlan{Share: share, Splits: repeats}
	if c.Flags().Changed("k") {
		if len(ks) != 1 {
			return plan, usageError{fmt.Errorf("flag --k: %d numbers, want one with --vectors or a file of --pairs", len(ks))}
		}
		plan.K = ks[0]
	}
	if !(share > 0 && share < 1) {
		return plan, usageError{fmt.Errorf("flag --test-share: %v is not allowed, want more than 0 and less than 1", share)}
	}
	return plan, nil
}

// evaluatedPairs is the JSON of evaluate on pairs of the rows of a table.
type evaluatedPairs struct {
	Data     string       `json:"data"`
	Rows     int          `json:"rows"`
	Features int          `json:"features"`
	Recipe   model.Recipe `json:"recipe"`
	heldOut
}

// evaluatePairs is evaluate on pairs of the rows of a table.
func (a *app) evaluatePairs(c *cobra.Command, table string, f *recipeFlags, p model.VectorPlan, asJSON bool) error {
	for _, name := range []string{"folds", "model"} {
		if c.Flags().Changed(name) {
			return usageError{fmt.Errorf("flag --%s: not together with a file of --pairs", name)}
		}
	}
	recipe, columns, err := f.recipe(c, table, true)
	if err != nil {
		return err
	}
	ctx := c.Context()
	progress, inside, done := a.insideSplits(ctx, p.Splits)
	p.Seed, p.Progress, p.Inside = recipe.Seed, progress, inside
	var d *model.Data
	e, err := atOnce(ctx, func() (*model.PairEvaluation, error) {
		var err error
		if d, err = a.readLabelled(ctx, table, f.rows, columns, recipe.ImputeMean); err == nil {
			err = a.give(ctx, d, recipe, f)
		}
		if err != nil {
			return nil, err
		}
		a.warnLong(d, recipe, p.Splits)
		return model.EvaluatePairs(ctx, d, recipe, p)
	})
	done()
	if err != nil {
		return tableError(err)
	}
	name := e.Recipe.Learner
	if asJSON {
		return a.printJSON(evaluatedPairs{d.Name, e.Rows, e.Features, e.Recipe, heldOutJSON(name, &e.HeldOut, a.noted)})
	}
	fmt.Fprintf(a.out, "%s: %s, %s; %s%s\n", d.Name, plural.Of(e.Rows, "row"), plural.Of(e.Features, "feature"), describeGiven(d, f), describe(e.Recipe))
	return a.printHeldOut(name, "rows in pairs", &e.HeldOut)
}
