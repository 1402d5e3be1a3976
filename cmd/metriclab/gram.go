package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/closest"
	"metriclab/internal/plural"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/lines"
	"metriclab/pkg/learners/ltkernel"
	"metriclab/pkg/metric"
	"metriclab/pkg/model"
)

// gramFlags are the flags of fit on a Gram matrix.
type gramFlags struct{ gram, constraints, labels, kernel string }

func (g *gramFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&g.gram, "gram", "", "CSV or .npy file of the kernel matrix of the objects, in place of a table")
	c.Flags().StringVar(&g.constraints, "constraints", "", "JSON lines of constraints, with --gram")
	g.addLabels(c)
	c.Flags().StringVar(&g.kernel, "kernel-out", "", "CSV or .npy file for the learned kernel matrix, with --gram")
}

func (g *gramFlags) addLabels(c *cobra.Command) {
	c.Flags().StringVar(&g.labels, "labels", "", "CSV or .npy file of the classes, a row each: CSV of the objects of --gram, either of the rows of a .npy table")
}

// given reports whether the command line is about a Gram matrix. It returns an error if a flag does not go with that.
func (g *gramFlags) given(c *cobra.Command) (bool, error) {
	changed := c.Flags().Changed
	gram := changed("gram")
	for _, name := range []string{"constraints", "kernel-out"} {
		if !gram && changed(name) {
			return false, usageError{fmt.Errorf("flag --%s: only together with --gram", name)}
		}
	}
	if !gram { // labels may be those of an array, which formatOf checks
		return false, nil
	}
	if changed("labels") && changed("constraints") {
		return false, usageError{errors.New("flags --constraints and --labels: want one of them")}
	}
	tables := append(slices.Clone(columnFlags), "passes", "no-standardise", "factor-npy", "matrix-npy", "model")
	if !changed("labels") {
		tables = append(tables, "pairs", "seed")
	}
	for _, name := range tables {
		if gram && changed(name) {
			return false, usageError{fmt.Errorf("flag --%s: not together with --gram: it is for tables", name)}
		}
	}
	return gram, nil
}

// recipe turns the flags into a recipe with all defaults.
func (g *gramFlags) recipe(c *cobra.Command, f *recipeFlags) (model.GramRecipe, error) {
	if f.seed == 0 {
		return model.GramRecipe{}, usageError{errors.New("flag --seed: 0 is not allowed, want at least 1")}
	}
	if f.pairs.file != "" {
		return model.GramRecipe{}, usageError{fmt.Errorf("flag --pairs: %q is not allowed with --gram, want a number: a file of pairs is for tables", f.pairs.file)}
	}
	if err := atLeastOne(c, "pairs", f.pairs.count); err != nil {
		return model.GramRecipe{}, err
	}
	params, err := parseParams(f.params)
	if err != nil {
		return model.GramRecipe{}, usageError{err}
	}
	r := model.GramRecipe{Learner: f.learner, Params: params, Labels: c.Flags().Changed("labels")}
	if r.Labels {
		r.Pairs, r.Seed = f.pairs.count, f.seed
	}
	if r, err = r.Resolved(); err != nil {
		return model.GramRecipe{}, usageError{err}
	}
	return r, nil
}

// toEvaluate is recipe for evaluate.
func (g *gramFlags) toEvaluate(c *cobra.Command, f *recipeFlags) (model.GramRecipe, error) {
	switch {
	case g.gram == "":
		return model.GramRecipe{}, usageError{errors.New("flag --gram: no file given")}
	case g.labels == "":
		return model.GramRecipe{}, usageError{errors.New("flag --labels: no file given, want one with a label per object")}
	case f.learner == "":
		return model.GramRecipe{}, usageError{fmt.Errorf("flag --learner: none given, want %s", namesOf(model.GramLabelLearners()))}
	}
	return g.recipe(c, f)
}

// fitGram is fit on a Gram matrix.
func (a *app) fitGram(c *cobra.Command, f *recipeFlags, out string, g *gramFlags) error {
	var errs []error
	wrong := func(format string, values ...any) { errs = append(errs, usageError{fmt.Errorf(format, values...)}) }
	if g.gram == "" {
		wrong("flag --gram: no file given")
	}
	switch {
	case c.Flags().Changed("labels") && g.labels == "":
		wrong("flag --labels: no file given, want one with a label per object")
	case !c.Flags().Changed("labels") && g.constraints == "":
		wrong("flag --constraints: no file given, want JSON lines of constraints, or --labels")
	}
	var recipe model.GramRecipe
	if f.learner == "" {
		all := model.GramLearners()
		if g.labels != "" {
			all = model.GramLabelLearners()
		}
		wrong("flag --learner: none given, want %s", namesOf(all))
	} else {
		var err error
		if recipe, err = g.recipe(c, f); err != nil {
			errs = append(errs, err)
		} else if c.Flags().Changed("seed") && recipe.Pairs == 0 {
			wrong("flag --seed: nothing is drawn for %s", recipe.Learner)
		}
	}
	reads := []string{g.gram, g.constraints, g.labels}
	errs = append(errs, outPaths(c, reads, outFile{flag: "out", path: &out, must: true}, outFile{flag: "kernel-out", path: &g.kernel}))
	if err := together(errs...); err != nil {
		return err
	}
	ctx := c.Context()
	if recipe.Labels {
		fitted, err := a.learnGramLabels(ctx, recipe, g)
		if err != nil {
			return err
		}
		if err := writeGram(ctx, fitted, out, g.kernel); err != nil {
			return err
		}
		return a.printGramLabels(fitted, out, g)
	}
	fitted, cs, err := a.learnGram(ctx, recipe, g)
	if e, ok := errors.AsType[*model.InfeasibleError](err); ok {
		if err := a.printInfeasible(e, cs); err != nil {
			return err
		}
		if len(e.Conflict) == 1 {
			return fmt.Errorf("%s:%d: no kernel of the objects of %s has %s", cs.Name, cs.Lines[e.Conflict[0]], g.gram, spell(cs.List[e.Conflict[0]]))
		}
		return fmt.Errorf("%s: no kernel satisfies %s together", cs.Name, linesOf(cs, e.Conflict))
	}
	if e, ok := errors.AsType[*ltkernel.ConstraintError](err); ok {
		return fmt.Errorf("%s:%d: %s: %w", cs.Name, cs.Lines[e.Index], spell(cs.List[e.Index]), e.Err)
	}
	if err != nil {
		return err
	}
	if err := writeGram(ctx, fitted, out, g.kernel); err != nil {
		return err
	}
	return a.printGram(fitted, cs, out, g)
}

// learnGram reads the files and fits a kernel, while a meter tells how far that has come. With an InfeasibleError it returns the
// constraints.
func (a *app) learnGram(ctx context.Context, recipe model.GramRecipe, g *gramFlags) (*model.Gram, *lines.Constraints, error) {
	progress, done := a.meter(ctx, work{noun: "iteration", capped: true})
	defer done()
	var cs *lines.Constraints
	fitted, err := atOnce(ctx, func() (*model.Gram, error) {
		k0, err := readTold(ctx, a, g.gram, func(r io.Reader) (*mat.SymDense, error) { return model.ReadGram(r, g.gram) })
		if err != nil {
			return nil, err
		}
		if cs, err = readTold(ctx, a, g.constraints, func(r io.Reader) (*lines.Constraints, error) {
			return lines.ReadConstraints(r, g.constraints, k0.SymmetricDim())
		}); err != nil {
			return nil, err
		}
		if recipe.Params["slack"] == ltkernel.SlackHard.String() {
			differ := func(i, j int) bool {
				size := k0.At(i, i) + k0.At(j, j)
				return size-2*k0.At(i, j) > metric.PSDTolerance*size
			}
			if err := cs.CheckBounds(recipe.Params["divergence"] == ltkernel.LogDet().Name(), differ); err != nil {
				return nil, err
			}
		}
		return model.FitGram(ctx, k0, cs.List, recipe, progress)
	})
	if ctx.Err() != nil {
		return nil, nil, ctx.Err() // cs may still be written to
	}
	return fitted, cs, err
}

// learnGramLabels reads the files and fits a kernel, while a meter tells how far that has come.
func (a *app) learnGramLabels(ctx context.Context, recipe model.GramRecipe, g *gramFlags) (*model.Gram, error) {
	progress, done := a.meter(ctx, work{noun: "iteration", capped: true})
	defer done()
	return atOnce(ctx, func() (*model.Gram, error) {
		k0, labels, err := a.readGramLabels(ctx, g)
		if err != nil {
			return nil, err
		}
		return model.FitGramLabels(ctx, k0, labels, recipe, progress)
	})
}

// linesOf lists the lines of constraints, the first twenty.
func linesOf(cs *lines.Constraints, constraints []int) string {
	const shown = 20
	var words []string
	for k, i := range constraints {
		if k == shown {
			words = append(words, fmt.Sprintf("%d more", len(constraints)-shown))
			break
		}
		words = append(words, strconv.Itoa(cs.Lines[i]))
	}
	if len(words) == 1 {
		return "line " + words[0]
	}
	return "lines " + strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

var relations = map[ltkernel.Sense]string{ltkernel.SenseAtMost: "<=", ltkernel.SenseAtLeast: ">=", ltkernel.SenseExactly: "="}

// spell writes a constraint as a formula.
func spell(c ltkernel.Constraint) string {
	return fmt.Sprintf("%s %s %v", leftSide(c), relations[c.Sense], c.Bound)
}

// leftSide writes what a constraint bounds.
func leftSide(c ltkernel.Constraint) string {
	switch {
	case c.Trace != 0:
		return "tr K"
	case len(c.Dists) == 2:
		return fmt.Sprintf("d(%d,%d) - d(%d,%d)", c.Dists[0].I, c.Dists[0].J, c.Dists[1].I, c.Dists[1].J)
	}
	return fmt.Sprintf("d(%d,%d)", c.Dists[0].I, c.Dists[0].J)
}

// printInfeasible shows a certificate.
func (a *app) printInfeasible(e *model.InfeasibleError, cs *lines.Constraints) error {
	var b strings.Builder
	fmt.Fprintf(&b, "status: %s, found after %s\n", e.Report.Status, plural.Of(e.Report.Iterations, "step"))
	fmt.Fprintf(&b, "certificate: the weighted sum of these left sides, those of >= with a minus sign, is at least 0 for every kernel\n")
	largest, sum := 0.0, 0.0
	for _, w := range e.Weights {
		largest = max(largest, w, -w)
	}
	for k, i := range e.Conflict {
		c, w := cs.List[i], e.Weights[k]/largest
		sign := 1.0
		if c.Sense == ltkernel.SenseAtLeast {
			sign = -1
		}
		sum += sign * w * c.Bound
		fmt.Fprintf(&b, "  line %d: weight %.6g of %s\n", cs.Lines[i], w, spell(c))
	}
	fmt.Fprintf(&b, "  but that of the bounds is %.6g\n", sum)
	_, err := fmt.Fprint(a.out, b.String())
	return err
}

// printGram says what was fitted.
func (a *app) printGram(g *model.Gram, cs *lines.Constraints, out string, f *gramFlags) error {
	var b strings.Builder
	r, rep := g.Recipe(), g.Report()
	fmt.Fprintf(&b, "%s: %s; %s: %s\n", f.gram, plural.Of(g.Objects(), "object"), f.constraints, plural.Of(len(cs.List), "constraint"))
	b.WriteString(r.Learner)
	for _, e := range model.GramLearners() {
		for _, p := range e.Params {
			if v, ok := r.Params[p.Name]; ok && e.Name == r.Learner {
				fmt.Fprintf(&b, " %s=%s", p.Name, v)
			}
		}
	}
	fmt.Fprintf(&b, "\nstatus: %s after %s\n", rep.Status, plural.Of(rep.Iterations, "step"))
	if rep.Status != learners.Converged {
		fmt.Fprintf(&b, "the learner stopped early: what is written is its last kernel, not the best one\n")
		if r.Params["slack"] != ltkernel.SlackHard.String() {
			fmt.Fprintf(&b, "constraints may contradict each other at too high a price of slack: a smaller c makes the problem easier\n")
		}
	}
	fmt.Fprintf(&b, "objective: %.10g\nrank: %d\nKKT residual: %.3g\nduality gap: %.3g\nviolated constraints: %d\n",
		rep.Objective, g.Rank(), rep.Residual, rep.Gap, len(rep.Violated))
	printViolated(&b, rep.Solution, cs)
	if g.Rank() == 0 {
		fmt.Fprintf(&b, "the learned kernel is 0: all objects coincide\n")
	}
	fmt.Fprintf(&b, "written to %s\n", out)
	if f.kernel != "" {
		fmt.Fprintf(&b, "learned kernel written to %s\n", f.kernel)
	}
	_, err := fmt.Fprint(a.out, b.String())
	return err
}

// mostViolated is how many violated constraints a report shows.
const mostViolated = 20

// printViolated shows the constraints that the kernel violates, in the order of their lines.
func printViolated(b *strings.Builder, s ltkernel.Solution, cs *lines.Constraints) {
	for k, i := range s.Violated {
		if k == mostViolated {
			fmt.Fprintf(b, "  and %d more\n", len(s.Violated)-mostViolated)
			return
		}
		c := cs.List[i]
		fmt.Fprintf(b, "  line %d: %s is %.6g, want %s %v\n", cs.Lines[i], leftSide(c), s.Sides[i]+0, relations[c.Sense], c.Bound)
	}
}

// printGramLabels says what was fitted to classes.
func (a *app) printGramLabels(g *model.Gram, out string, f *gramFlags) error {
	var b strings.Builder
	rep := g.Report()
	classes, counts := g.Classes()
	fmt.Fprintf(&b, "%s: %s, %s: %s\n%s\n", f.gram, plural.Of(g.Objects(), "object"), countClasses(len(classes)), classCounts(classes, counts), describeGram(g.Recipe()))
	if note := closest.AlikeNote("classes", classes); note != "" {
		printNotes(&b, []string{note})
	}
	printStatus(&b, rep.Status)
	if rep.Landmarks > 0 {
		fmt.Fprintf(&b, "approximated in the span of %s, which leaves out %.3g %% of the trace\n", plural.Of(rep.Landmarks, "landmark"), 100*rep.Left)
	}
	fmt.Fprintf(&b, "the metric embeds in %s, by kernel values with these objects\nwritten to %s\n", plural.Of(g.Rank(), "dimension"), out)
	if f.kernel != "" {
		fmt.Fprintf(&b, "learned kernel written to %s\n", f.kernel)
	}
	_, err := fmt.Fprint(a.out, b.String())
	return err
}
