package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners/ltkernel"
	"metriclab/pkg/metric"
	"metriclab/pkg/model"
)

// fitFlags are those of fit.
type fitFlags struct {
	problemFlags
	model, factor, matrix, kernel, coordinates string
	guard, json                                bool
}

func (a *app) fitCommand() *cobra.Command {
	f := &fitFlags{}
	c := &cobra.Command{
		Use:   "fit PROBLEM --learner NAME --out MODEL.json",
		Short: "Learn a metric on your own data, or a kernel from similarities, and save it",
		Example: `  metriclab fit wine.csv --label class --learner lmnn --out m.json
  metriclab fit --vectors X.npy --pairs feedback.csv --learner itml --out m.json
  metriclab fit --triplets answers.csv --learner ste --dim 2 --coordinates z.csv --out m.json`,
		Long: "Learn from one of these problems, and save what was learned with all that is needed to use it:\n" + usages() +
			"See also: metriclab evaluate, transform, plot; metriclab help tables, pairs, vectors, gram,\ncomparisons; metriclab learners, which says what each learns from.",
		RunE: func(c *cobra.Command, args []string) error { return a.fit(c, f, args) },
	}
	f.add(c, "coordinates of each object of --triplets alone, to which the learner fits them if it has a parameter dim (default: 2 with --coordinates, else what the learner says)")
	f.addLearner(c)
	c.Flags().StringVar(&f.constraints, "constraints", "", "JSON lines of constraints, with --gram")
	c.Flags().StringVar(&f.kernel, "kernel-out", "", "CSV or .npy file for the learned kernel matrix, with --gram")
	c.Flags().StringVar(&f.coordinates, "coordinates", "", "CSV or NumPy file for coordinates of the objects, with --triplets alone")
	c.Flags().BoolVar(&f.guard, "guard-formulas", false, "write ' before the name of an object that a spreadsheet would run as a formula, with --coordinates")
	c.Flags().StringVar(&f.model, "out", "", "file for the model")
	c.Flags().StringVar(&f.factor, "factor-npy", "", "NumPy file for L, r x features: a prepared row x is embedded as Lx")
	c.Flags().StringVar(&f.matrix, "matrix-npy", "", "NumPy file for M = LᵀL, features x features")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return c
}

func (a *app) fit(c *cobra.Command, f *fitFlags, args []string) error {
	q, wrong := f.name(c, args)
	if q == nil {
		return wrong
	}
	if f.dim == 0 && c.Flags().Changed("coordinates") && !slices.ContainsFunc(f.params, func(p string) bool { return strings.HasPrefix(p, "dim=") }) && f.fitsDim(q) {
		f.dim = 2
	}
	recipe, err := f.recipe(q, true, wrong != nil)
	if wrong == nil && err == nil && q.seed && !draws(recipe) {
		err = usageError{fmt.Errorf("flag --seed: nothing is drawn for %s; some learners have a parameter seed", recipe.Learner)}
	}
	if err := together(wrong, err, f.check(c, q)); err != nil {
		return err
	}
	ctx := c.Context()
	counted := work{noun: "pair"}
	switch {
	case recipe.Passes == 0: // a batch learner, if it iterates
		counted = work{noun: "iteration", capped: true}
	case slices.Contains(q.leads, "triplets"):
		counted = work{noun: "comparison"}
	}
	on, err := atOnce(ctx, func() (ready, error) { return f.open(ctx, a, q) })
	if on.close != nil {
		defer on.close()
	}
	if err != nil {
		return err
	}
	if cost, err := on.problem.Estimate(recipe); err == nil {
		if err := a.agree(ctx, "a fit of "+recipe.Learner, cost.Seconds); err != nil {
			return err
		}
	}
	if on.data != nil {
		on.data.InPlace = true
	}
	first := a.waiting(ctx, "fitting "+recipe.Learner)
	show, done := a.meter(ctx, counted)
	progress := func(done, total int) {
		first()
		show(done, total)
	}
	m, err := atOnce(ctx, func() (model.Fitted, error) { return model.Fit(ctx, on.problem, recipe, progress) })
	first()
	done()
	if err != nil {
		return a.explained(err, on, f.gram)
	}
	more, err := f.write(ctx, m)
	if err != nil {
		return err
	}
	return a.printFit(f, q, on, m, more)
}

// draws tells whether a fit draws by its seed.
func draws(r model.Recipe) bool {
	if r.Given != "" {
		return r.Given == model.GivenChunklets && !model.Connects(r.Learner)
	}
	return r.Pairs > 0
}

// explained tells of an error about constraints where they stand, with the certificate of a contradiction.
func (a *app) explained(err error, on ready, gram string) error {
	cs := on.lines
	if e, ok := errors.AsType[*model.InfeasibleError](err); ok {
		if err := a.printInfeasible(e, cs); err != nil {
			return err
		}
		if len(e.Conflict) == 1 {
			return fmt.Errorf("%s:%d: no kernel of the objects of %s has %s", cs.Name, cs.Lines[e.Conflict[0]], gram, spell(cs.List[e.Conflict[0]]))
		}
		return fmt.Errorf("%s: no kernel satisfies %s together", cs.Name, linesOf(cs, e.Conflict))
	}
	if e, ok := errors.AsType[*ltkernel.ConstraintError](err); ok && cs != nil {
		return fmt.Errorf("%s:%d: %s: %w", cs.Name, cs.Lines[e.Index], spell(cs.List[e.Index]), e.Err)
	}
	return tableError(err)
}

// check completes the paths that the flags give. No file may be one that is read or that of another flag.
func (f *fitFlags) check(c *cobra.Command, q *posed) error {
	changed := c.Flags().Changed
	ending := strings.ToLower(filepath.Ext(f.coordinates))
	objects := slices.Contains(q.flags, "coordinates")
	switch out := strings.ToLower(filepath.Ext(f.model)); {
	case objects && !changed("out") && !changed("coordinates"):
		return usageError{errors.New("flags --out and --coordinates: no file given, want one for the model, for coordinates, or both")}
	case objects && (out == ".csv" || out == ".npy"):
		return usageError{fmt.Errorf("flag --out: %s is the file of the model, which is JSON; want --coordinates %s", f.model, f.model)}
	case objects && changed("guard-formulas") && ending != ".csv":
		return usageError{errors.New("flag --guard-formulas: only together with a .csv file of --coordinates, which has names")}
	case objects && !changed("coordinates") && changed("dim") && !f.fitsDim(q):
		return usageError{fmt.Errorf("flag --dim: only together with --coordinates: the kernel of %s has all dimensions", f.learner)}
	case objects && changed("coordinates") && ending != ".csv" && ending != ".npy":
		return usageError{fmt.Errorf("flag --coordinates: %q is not allowed, want a file name that ends in .csv or .npy", f.coordinates)}
	}
	return outPaths(c, q.inputs, outFile{flag: "out", path: &f.model, must: !objects}, outFile{flag: "factor-npy", path: &f.factor}, outFile{flag: "matrix-npy", path: &f.matrix},
		outFile{flag: "kernel-out", path: &f.kernel}, outFile{flag: "coordinates", path: &f.coordinates})
}

// write writes the files that the flags name, all or none.
func (f *fitFlags) write(ctx context.Context, m model.Fitted) (*mapped, error) {
	outputs := []output{{f.model, m.Save}}
	if f.factor != "" || f.matrix != "" {
		l, err := m.(interface {
			Factor() (*metric.Mahalanobis, error)
		}).Factor() // what other problems learn is refused by their flags
		if err != nil {
			return nil, err
		}
		outputs = append(outputs, output{f.factor, l.WriteFactorNPY}, output{f.matrix, l.WriteMatrixNPY})
	}
	if k, ok := m.(interface{ Kernel() *mat.SymDense }); ok && f.kernel != "" {
		outputs = append(outputs, outputOf(ctx, f.kernel, k.Kernel()))
	}
	var made *mapped
	if objects, ok := m.(*model.Compared); ok && f.coordinates != "" {
		if strings.EqualFold(filepath.Ext(f.coordinates), ".npy") && m.Report().Missing > 0 {
			return nil, fmt.Errorf("flag --coordinates: %s has a row per object, but %s in no comparison; want a .csv file, which has their numbers", f.coordinates, occur(m.Report().Missing))
		}
		dim := cmp.Or(f.dim, m.Report().Dim, 2)
		z, err := objects.Coordinates(ctx, dim)
		if err != nil {
			return nil, tableError(err)
		}
		made = &mapped{dim: dim, share: z.Share, wrong: objects.ErrorOf(z)}
		outputs = append(outputs, objectsOutput(ctx, f.coordinates, objects.Names(), z, f.guard))
	}
	return made, writeOutputs(outputs...)
}
