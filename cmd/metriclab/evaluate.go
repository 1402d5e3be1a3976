package main

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"metriclab/internal/plural"
	"metriclab/pkg/judge"
	"metriclab/pkg/model"
)

func (a *app) evaluateCommand() *cobra.Command {
	var f recipeFlags
	var g gramFlags
	var v vectorFlags
	var share float64
	var compared tripletFlags
	var path string
	var ks []int
	var folds, repeats int
	var asJSON bool
	c := &cobra.Command{
		Use:   "evaluate {{DATA.csv | DATA.svm} {--label COLUMN --learner NAME | --pairs PAIRS.csv --learner NAME | --model MODEL.json} | --vectors X.npy {--pairs PAIRS.csv | --triplets T.csv} --learner NAME | --gram K0.csv --labels L.csv --learner NAME | --triplets T.csv --learner NAME}",
		Short: "Estimate the nearest-neighbour error of a learned metric on your own table",
		Long: `Estimate how well a learner's metric serves nearest-neighbour classification on a
table of your own, beside the Euclidean distance, by repeated stratified
cross-validation. In each split everything is learned anew from the training rows:
the means of missing cells, the scales, the pairs and the metric. --model takes
columns and recipe from a fitted model, never its metric, which may have seen the
test rows. With several --k each split takes the one with the fewest errors when
its training rows are classified with one left out, for both metrics separately.

An interval covers the mean over splits: the corrected resampled t interval of
Nadeau and Bengio (2003), which allows for the overlap of training sets; below 6
splits there is none.

With --pairs FILE (see metriclab help pairs) the pairs judge, and no label is needed.
Each of --repeats splits holds out a share of the rows that pairs name, --test-share.
Everything is learned from the other rows and the pairs of two of these. The scores
are those that are told below for --vectors, of rows as the training rows prepare them.

  metriclab evaluate faces.csv --pairs judged.csv --learner itml

With --gram and --labels (see metriclab help gram) each split learns from the rows and
columns of K0 of its training objects and classifies the others by their kernel values.
Euclidean is then the distance under K0, between images in the space of the kernel.

With --triplets (see metriclab help comparisons) the error is the share of answers that the learned kernel contradicts, or --dim
coordinates of it, a tie as half of one. Folds are of questions, an object and two to
compare with it: no answer to a question is seen while another is tested. A coin has
50 %. --repeats is 2 by default.

` + aboutVectorSplits + "\n\nmetriclab learners lists the learners; metriclab help tables says how a table is read.",
		Args: tableOr("vectors", "gram", "triplets"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := together(atLeastOne(c, "folds", folds, "repeats", repeats), atLeastOneEach(ks)); err != nil {
				return err
			}
			v.triplets = &compared.triplets
			if err := f.checkForm(c, args...); err != nil {
				return err
			}
			if given, err := v.given(c, append([]string{"model", "folds"}, tableFlags...)...); err != nil || given {
				if err != nil {
					return err
				}
				plan, err := heldOutPlan(c, share, repeats, ks)
				if err != nil {
					return err
				}
				return a.evaluateVectors(c, &f, &v, plan, asJSON)
			}
			if triplets, err := compared.given(c); err != nil || triplets {
				if err != nil {
					return err
				}
				return a.evaluateTriplets(c, &f, &compared, model.TripletPlan{Folds: planned(c, ks, folds, repeats).Folds, Repeats: repeats}, asJSON)
			}
			if f.pairs.file != "" && !c.Flags().Changed("gram") {
				plan, err := heldOutPlan(c, share, repeats, ks)
				if err != nil {
					return err
				}
				return a.evaluatePairs(c, args[0], &f, plan, asJSON)
			}
			if c.Flags().Changed("test-share") {
				return usageError{errors.New("flag --test-share: only together with --vectors or a file of --pairs")}
			}
			gram, err := g.given(c)
			if err != nil {
				return err
			}
			var recipe model.GramRecipe
			if gram {
				if recipe, err = g.toEvaluate(c, &f); err != nil {
					return err
				}
			}
			var d *model.Data
			progress, inside, done := a.insideSplits(c.Context(), folds*repeats)
			e, err := atOnce(c.Context(), func() (*model.Evaluation, error) {
				plan := planned(c, ks, folds, repeats)
				plan.Progress, plan.Inside = progress, inside
				if gram {
					k0, labels, err := a.readGramLabels(c.Context(), &g)
					if err != nil {
						return nil, err
					}
					d = &model.Data{Name: filepath.Base(g.gram)}
					e, err := model.EvaluateGram(c.Context(), k0, labels, recipe, plan)
					if err != nil {
						return nil, tableError(err)
					}
					return e, nil
				}
				var recipe model.Recipe
				var err error
				if c.Flags().Changed("model") {
					recipe, d, err = a.fromModel(c, path, args[0], f.format)
					if err == nil && c.Flags().Changed("seed") {
						recipe.Seed = f.seed
					}
				} else {
					var columns model.Columns
					if recipe, columns, err = f.recipe(c, args[0], false); err == nil {
						d, err = a.readLabelled(c.Context(), args[0], f.rows, columns, recipe.ImputeMean)
					}
				}
				if err != nil {
					return nil, err
				}
				a.warnLong(d, recipe, folds*repeats)
				e, err := model.Evaluate(c.Context(), d, recipe, plan)
				if err != nil {
					return nil, tableError(err)
				}
				return e, nil
			})
			done()
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(evaluationJSON(d, e))
			}
			return a.printEvaluation(d, e)
		},
	}
	f.add(c, model.TripletLearners()...)
	compared.add(c, "dimensions in which distances count, with --triplets (default: the whole kernel)")
	c.Flags().StringVar(&g.gram, "gram", "", "CSV or .npy file of the kernel matrix of the objects, in place of a table")
	g.addLabels(c)
	v.addRecipe(c)
	c.Flags().Float64Var(&share, "test-share", model.VectorPlan{}.Resolved().Share, "share of items that a split holds out, with --vectors or a file of --pairs")
	c.Flags().StringVar(&path, "model", "", "take columns and recipe from this file that metriclab fit has written")
	completeFlag(c, "model", completeJSON)
	byDefault := model.Plan{}.Resolved()
	c.Flags().IntSliceVar(&ks, "k", byDefault.Ks, "numbers of neighbours, separated by commas, at most the rows of a training fold; of several, each split takes its best")
	c.Flags().IntVar(&folds, "folds", byDefault.Folds, "parts of a cross-validation, from 2 to the number of rows")
	c.Flags().IntVar(&repeats, "repeats", byDefault.Repeats, fmt.Sprintf("how often the rows are divided anew, at most %d", model.MaxRepeats))
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// planned is the plan that flags give: a default is left to the rows.
func planned(c *cobra.Command, ks []int, folds, repeats int) model.Plan {
	if !c.Flags().Changed("k") {
		ks = nil
	}
	if !c.Flags().Changed("folds") {
		folds = 0
	}
	return model.Plan{Ks: ks, Folds: folds, Repeats: repeats}
}

func (a *app) printEvaluation(d *model.Data, e *model.Evaluation) error {
	name := e.Recipe.Learner
	if e.Features == 0 {
		fmt.Fprintf(a.out, "%s: %s, %s: %s\n%s\n", d.Name, plural.Of(e.Rows, "object"), countClasses(len(e.Classes)), classCounts(e.Classes, e.Counts), describeLearner(e.Recipe))
	} else {
		fmt.Fprintf(a.out, "%s: %s, %s, %s: %s\n%s\n", d.Name, plural.Of(e.Rows, "row"), plural.Of(e.Features, "feature"), countClasses(len(e.Classes)), classCounts(e.Classes, e.Counts), describe(e.Recipe))
	}
	fmt.Fprintf(a.out, "%d x %d-fold stratified cross-validation, seed %d; everything learned anew in each split\n", e.Plan.Repeats, e.Plan.Folds, e.Plan.Seed)
	fmt.Fprintf(a.out, "%s\n\n", describeKs(e.Plan.Ks))
	w := tabwriter.NewWriter(a.out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "metric\tkNN error in %, 95 % interval\tk taken")
	if e.Raw != nil {
		fmt.Fprintf(w, "Euclidean, raw\t%s\t%s\n", interval(e.Raw.Summary), taken(e.Raw.Ks))
	}
	fmt.Fprintf(w, "Euclidean\t%s\t%s\n", interval(e.Baseline.Summary), taken(e.Baseline.Ks))
	if name != model.Euclidean {
		fmt.Fprintf(w, "%s\t%s\t%s\n", name, interval(e.Learner.Summary), taken(e.Learner.Ks))
		fmt.Fprintf(w, "%s minus Euclidean\t%s\n", name, interval(e.Difference))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(a.out)
	for _, n := range e.Notes {
		fmt.Fprintf(a.out, "Note: %s.\n", n)
	}
	_, err := fmt.Fprintln(a.out, verdict(e))
	return err
}

// verdict says what the interval of the difference says.
func verdict(e *model.Evaluation) string {
	switch name := e.Recipe.Learner; {
	case name == model.Euclidean:
		return "Nothing was learned: this is the baseline."
	case !e.Difference.HasInterval:
		return "Too few splits to compare the two."
	case e.Difference.Side() == judge.Against:
		return fmt.Sprintf("%s is better than Euclidean: the interval of the difference is below zero.", name)
	case e.Difference.Side() == judge.For:
		return fmt.Sprintf("%s is worse than Euclidean: the interval of the difference is above zero.", name)
	case e.Difference.Half == 0:
		return "No difference in any split."
	default:
		return "These rows do not tell which is better: the interval of the difference contains zero."
	}
}

// evaluated is the JSON of evaluate. Errors are shares; an interval is
// mean ± half_width, left out below 6 splits.
type evaluated struct {
	Data         string          `json:"data"`
	Rows         int             `json:"rows"`
	Features     int             `json:"features"`
	Classes      map[string]int  `json:"classes"`
	Recipe       model.Recipe    `json:"recipe"`
	Folds        int             `json:"folds"`
	Repeats      int             `json:"repeats"`
	Seed         uint64          `json:"seed"`
	Ks           []int           `json:"ks"`
	Level        float64         `json:"level"`
	Learner      evaluatedScore  `json:"learner"`
	Euclidean    evaluatedScore  `json:"euclidean"`
	Raw          *evaluatedScore `json:"euclidean_raw,omitempty"` // of rows as they are, if they are scaled otherwise
	Difference   evaluatedMean   `json:"difference"`
	Notes        []string        `json:"notes"`
	Verdict      string          `json:"verdict"`
	IntervalFrom string          `json:"interval"`
}

type evaluatedMean struct {
	Mean float64  `json:"mean"`
	Half *float64 `json:"half_width,omitempty"`
}

type evaluatedScore struct {
	evaluatedMean
	Errors []float64 `json:"errors"` // of each split: repeat by repeat, fold by fold
	Ks     []int     `json:"k"`      // taken in each split
}

func meanJSON(s judge.Summary) evaluatedMean {
	if !s.HasInterval || math.IsNaN(s.Half) {
		return evaluatedMean{Mean: s.Mean}
	}
	return evaluatedMean{s.Mean, new(s.Half)}
}

func evaluationJSON(d *model.Data, e *model.Evaluation) evaluated {
	out := evaluated{
		Data: d.Name, Rows: e.Rows, Features: e.Features, Classes: map[string]int{}, Recipe: e.Recipe,
		Folds: e.Plan.Folds, Repeats: e.Plan.Repeats, Seed: e.Plan.Seed, Ks: e.Plan.Ks, Level: 0.95,
		Learner:    evaluatedScore{meanJSON(e.Learner.Summary), e.Learner.Errors, e.Learner.Ks},
		Euclidean:  evaluatedScore{meanJSON(e.Baseline.Summary), e.Baseline.Errors, e.Baseline.Ks},
		Difference: meanJSON(e.Difference), Notes: append([]string{}, e.Notes...), Verdict: verdict(e),
		IntervalFrom: "corrected resampled t (Nadeau and Bengio 2003)",
	}
	if e.Raw != nil {
		out.Raw = &evaluatedScore{meanJSON(e.Raw.Summary), e.Raw.Errors, e.Raw.Ks}
	}
	for i, c := range e.Classes {
		out.Classes[c] = e.Counts[i]
	}
	return out
}
