package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"metriclab/internal/plural"
	"metriclab/pkg/kernels"
	"metriclab/pkg/metric"
	"metriclab/pkg/model"
)

func (a *app) fitCommand() *cobra.Command {
	var f recipeFlags
	var out fitOutputs
	var g gramFlags
	var v vectorFlags
	var compared tripletFlags
	c := &cobra.Command{
		Use:   "fit {DATA.csv [--label COLUMN | --pairs PAIRS.csv | --chunklets COLUMN] | DATA.svm | --vectors X.npy {--pairs PAIRS.csv | --triplets T.csv} | --gram K0.csv {--constraints C.jsonl | --labels L.csv} | --triplets T.csv} --learner NAME --out MODEL.json",
		Short: "Learn a metric on your own table, or a kernel from similarities, and save it",
		Example: `  metriclab fit wine.csv --label class --learner lmnn --out m.json
  metriclab fit --vectors X.npy --pairs feedback.csv --learner itml --out m.json
  metriclab fit --triplets answers.csv --learner ste --dim 2 --coordinates z.csv --out m.json`,
		Long: "Learn a metric on a table of your own, standardised, and save it with all that is needed to use\n" +
			"it on new rows. See also: metriclab evaluate, transform, plot; metriclab help tables, pairs,\n" +
			"vectors, gram, comparisons.\n\nLearners, by what they learn from (metriclab learners NAME tells all about one):\n" + namesByFeedback(fitted()),
		Args: tableOr("vectors", "gram", "triplets"),
		RunE: func(c *cobra.Command, args []string) error {
			v.triplets = &compared.triplets
			if err := f.checkForm(c, args...); err != nil {
				return err
			}
			if given, err := v.given(c, tableFlags...); err != nil || given {
				if err != nil {
					return err
				}
				return a.fitVectors(c, &f, &out, &v)
			}
			if triplets, err := compared.given(c); err != nil || triplets {
				if err != nil {
					return err
				}
				return a.fitTriplets(c, &f, out.model, &compared)
			}
			if gram, err := g.given(c); err != nil || gram {
				if err != nil {
					return err
				}
				return a.fitGram(c, &f, out.model, &g)
			}
			recipe, columns, err := f.recipe(c, args[0], true)
			drawn := recipe.Pairs > 0 || recipe.Given == model.GivenChunklets && !model.Connects(recipe.Learner)
			if err == nil && c.Flags().Changed("seed") && !drawn {
				err = usageError{fmt.Errorf("flag --seed: nothing is drawn for %s", recipe.Learner)}
			}
			if err := together(err, out.check(c, args[0], f.pairs.file)); err != nil {
				return err
			}
			d, m, err := a.fit(c.Context(), args[0], &f, columns, recipe)
			if err != nil {
				return err
			}
			if err := out.write(m, func() (*metric.Mahalanobis, error) { return matrixOf(m) }); err != nil {
				return err
			}
			about := ""
			if d.Links != nil {
				about = describeGiven(d, &f)
			}
			return a.printFit(out.model, d, about, m)
		},
	}
	f.add(c, append(model.GramLearners(), model.TripletLearners()...)...)
	compared.add(c, "coordinates of each object, with --coordinates (default 2)")
	c.Flags().StringVar(&compared.coordinates, "coordinates", "", "CSV or NumPy file for coordinates of the objects, with --triplets")
	c.Flags().BoolVar(&compared.guard, "guard-formulas", false, "write ' before the name of an object that a spreadsheet would run as a formula, with --coordinates")
	f.known.add(c)
	g.add(c)
	v.addRecipe(c)
	c.Flags().StringVar(&out.model, "out", "", "file for the model")
	c.Flags().StringVar(&out.factor, "factor-npy", "", "NumPy file for L, r x features: a prepared row x is embedded as Lx")
	c.Flags().StringVar(&out.matrix, "matrix-npy", "", "NumPy file for M = LᵀL, features x features")
	return c
}

// fit reads a table and fits a model to it, while a meter tells how far that has come.
func (a *app) fit(ctx context.Context, path string, f *recipeFlags, columns model.Columns, recipe model.Recipe) (*model.Data, *model.Model, error) {
	counted := work{noun: "pair"}
	if recipe.Passes == 0 { // a batch learner, if it iterates
		counted = work{noun: "iteration", capped: true}
	}
	progress, done := a.meter(ctx, counted)
	defer done()
	var d *model.Data
	m, err := atOnce(ctx, func() (*model.Model, error) {
		var err error
		if d, err = a.readLabelled(ctx, path, f.rows, columns, recipe.ImputeMean); err == nil {
			err = a.give(ctx, d, recipe, f)
		}
		if err != nil {
			return nil, err
		}
		a.warnLong(d, recipe, 1)
		return model.FitInPlace(ctx, d, recipe, progress)
	})
	if err != nil {
		return nil, nil, err
	}
	return d, m, nil
}

// printFit says what was fitted.
func (a *app) printFit(path string, d *model.Data, about string, m *model.Model) error {
	r, rep := m.Recipe(), m.Report()
	var b strings.Builder
	n, width := d.Dims()
	classes, counts := m.Classes()
	fmt.Fprintf(&b, "%s: %s, %s", d.Name, plural.Of(n, "row"), plural.Of(width, "feature"))
	if len(classes) > 0 {
		fmt.Fprintf(&b, ", %s: %s", countClasses(len(classes)), classCounts(classes, counts))
	}
	fmt.Fprintf(&b, "\n%s", about)
	fmt.Fprintf(&b, "%s\n", describe(r))
	printNotes(&b, rep.Notes)
	if rep.Imputed > 0 {
		fmt.Fprintf(&b, "%s filled with the mean of the column\n", plural.Of(rep.Imputed, "missing cell"))
	}
	if len(rep.Constant) > 0 {
		fmt.Fprintf(&b, "constant, so without weight in any distance between these rows: %s\n", few(rep.Constant))
	}
	if r.Passes > 0 {
		fmt.Fprintf(&b, "in the last pass %.1f %% of the pairs were predicted wrongly, each before the update on it\n", 100*float64(rep.Mistakes)/float64(r.Pairs))
	}
	printStatus(&b, rep.Status)
	if rep.Landmarks > 0 {
		over := "the rows that pairs join"
		if _, ok := m.Metric().(*kernels.Metric); ok {
			over = "the rows"
		}
		fmt.Fprintf(&b, "approximated in the span of %s, which leaves out %.3g %% of the kernel's trace over %s\n", plural.Of(rep.Landmarks, "landmark"), 100*rep.Left, over)
	}
	if s := rep.Span; s != nil {
		fmt.Fprintf(&b, "learned in the span of %s", plural.Of(s.Rank, "vector"))
		if s.Asked > s.Rank {
			fmt.Fprintf(&b, " (of %d, the others lie in it)", s.Asked)
		}
		fmt.Fprintf(&b, " from %s; similar ones that no metric of this span brings near enough: %d\n", plural.Of(s.Links, "pair"), s.Infeasible)
	}
	if rep.Empty > 0 {
		fmt.Fprintf(&b, "without an entry, so at no distance from each other: %s\n", plural.Of(rep.Empty, "row"))
	}
	switch metric := m.Metric().(type) {
	case *kernels.Metric:
		fmt.Fprintf(&b, "the metric embeds in %s, by kernel values with %s\n", plural.Of(metric.Rows(), "dimension"), plural.Of(metric.Support(), "stored row"))
	case interface{ Rows() int }:
		fmt.Fprintf(&b, "the metric embeds in %s\n", dimensions(metric.Rows()))
	default:
		fmt.Fprintf(&b, "the metric is a kernel metric: evaluate works with it, transform and plot do not\n")
	}
	fmt.Fprintf(&b, "written to %s\n", path)
	_, err := fmt.Fprint(a.out, b.String())
	return err
}
