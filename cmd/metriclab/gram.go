package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/closest"
	"metriclab/internal/plural"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/learners/lines"
	"metriclab/pkg/learners/ltkernel"
	"metriclab/pkg/metric"
	"metriclab/pkg/model"
	"metriclab/pkg/persist"
)

// aboutGram is the part of fit's help on similarities.
const aboutGram = `Similarities without vectors: --gram takes the kernel matrix K0 of n objects in place
of a table, n rows of n numbers without a header (or a .npy file), symmetric and
positive semi-definite. --constraints has a line of JSON each, with squared distances
d(i,j) = K_ii - 2 K_ij + K_jj of the learned kernel K and objects counted from 0:

  {"i":0,"j":1,"at_most":1.2}             d(0,1) <= 1.2
  {"i":0,"j":5,"at_least":4}              d(0,5) >= 4
  {"i":0,"j":4,"exactly":2}               d(0,4) = 2
  {"a":0,"near":2,"far":6,"margin":0.2}   d(0,2) + 0.2 <= d(0,6)
  {"trace_at_most":9}                     tr K <= 9

The learner spectral finds K = Φ'WΦ, K0 = Φ'Φ, of least Σφ(eigenvalues of W) + slack. It
prints the objective, the rank of K, the KKT residual, the duality gap and how many
constraints are violated, with the first twenty of them. If no kernel satisfies the constraints, it names the lines that
contradict each other, with the weights of a dual certificate, writes nothing and ends
with exit code 1. The learner trace-ssikdr finds K of low rank, and its coordinates: W of
least tau tr W + ‖W‖²/2 + slack. See also: metriclab transform --cross-gram.

` + aboutGramLabels

// aboutGramLabels is the part of fit's and evaluate's help on similarities with labels.
const aboutGramLabels = `With --gram, --labels takes the classes of the objects, in the order of the rows of
K0: a CSV file with the label of an object in each row, or an id and the label. A file
with one row more than objects has a header. Ids must differ and, if all are whole
numbers, ascend. Learners that take K0 and labels are those of tables that learn in
the space of a kernel, without the parameters that name one.`

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

// tableOr takes a table as oneTable does, or no argument with one of the flags.
func tableOr(flags ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		for _, flag := range flags {
			if !c.Flags().Changed(flag) {
				continue
			}
			if len(args) > 0 {
				return usageError{fmt.Errorf("%s takes no table with --%s, got %q", c.CommandPath(), flag, args)}
			}
			return nil
		}
		return oneTable(c, args)
	}
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

// readGramLabels reads a Gram matrix and the classes of its objects.
func (a *app) readGramLabels(ctx context.Context, g *gramFlags) (*mat.SymDense, []string, error) {
	k0, err := readTold(ctx, a, g.gram, func(r io.Reader) (*mat.SymDense, error) { return model.ReadGram(r, g.gram) })
	if err != nil {
		return nil, nil, err
	}
	labels, err := readTold(ctx, a, g.labels, func(r io.Reader) ([]string, error) {
		return model.ReadLabels(r, g.labels, k0.SymmetricDim())
	})
	return k0, labels, err
}

// namesOf lists learners.
func namesOf(entries []catalog.Entry) string {
	var names []string
	for _, e := range entries {
		names = append(names, e.Name)
	}
	return strings.Join(names, ", ")
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

// describeGram says in a line what a recipe for labels is.
func describeGram(r model.GramRecipe) string {
	return describeLearner(model.Recipe{Learner: r.Learner, Params: r.Params, Pairs: r.Pairs, Seed: r.Seed})
}

// writeGram writes the model and, if a file is named, its kernel.
func writeGram(ctx context.Context, g *model.Gram, out, kernel string) error {
	outputs := []output{{out, g.Save}}
	if kernel != "" {
		outputs = append(outputs, outputOf(ctx, kernel, g.Kernel()))
	}
	return writeOutputs(outputs...)
}

// writeCSV writes rows of numbers, with as many digits as bring back every bit.
func writeCSV(ctx context.Context, w io.Writer, x mat.Matrix) error {
	b := bufio.NewWriter(w)
	var text []byte
	n, d := x.Dims()
	for i := range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		text = text[:0]
		for j := range d {
			text = append(strconv.AppendFloat(text, x.At(i, j), 'g', -1, 64), ',')
		}
		text[len(text)-1] = '\n'
		if _, err := b.Write(text); err != nil {
			return err
		}
	}
	return b.Flush()
}

// crossFlags are the flags of transform for new objects known by their similarities.
type crossFlags struct{ cross, own, kernel string }

func (g *crossFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&g.cross, "cross-gram", "", "CSV or .npy file of kernel values, a row per new object and a column per object of fit --gram, in place of a table")
	c.Flags().StringVar(&g.own, "self-gram", "", "CSV or .npy file of the kernel matrix among the new objects, with --cross-gram")
	c.Flags().StringVar(&g.kernel, "kernel-out", "", "CSV or .npy file for the learned kernel matrix among the new objects, with --self-gram")
}

// given reports whether the command line is about new objects. It returns an error if a flag does not go with that.
func (g *crossFlags) given(c *cobra.Command) (bool, error) {
	changed := c.Flags().Changed
	switch {
	case changed("self-gram") && !changed("cross-gram"):
		return false, usageError{errors.New("flag --self-gram: only together with --cross-gram")}
	case changed("kernel-out") && !changed("self-gram"):
		return false, usageError{errors.New("flag --kernel-out: only together with --self-gram, which the learned kernel among new objects needs")}
	case changed("cross-gram") && changed("guard-formulas"):
		return false, usageError{errors.New("flag --guard-formulas: not together with --cross-gram: there are no classes")}
	case changed("cross-gram") && changed("subspace"):
		return false, usageError{errors.New("flag --subspace: not together with --cross-gram: it is for models of iplr")}
	case changed("cross-gram") && changed("format"):
		return false, usageError{errors.New("flag --format: not together with --cross-gram: it is for tables")}
	}
	return changed("cross-gram"), nil
}

// transformGram embeds new objects.
func (a *app) transformGram(c *cobra.Command, path string, out embedOutputs, g *crossFlags) error {
	for _, f := range []struct{ flag, path string }{{"cross-gram", g.cross}, {"self-gram", g.own}} {
		if c.Flags().Changed(f.flag) && f.path == "" {
			return usageError{fmt.Errorf("flag --%s: no file given", f.flag)}
		}
	}
	reads := []string{path, g.cross, g.own}
	if err := out.check(c, reads, outFile{flag: "kernel-out", path: &g.kernel}); err != nil {
		return err
	}
	ctx := c.Context()
	var kernel *mat.SymDense
	z, err := atOnce(ctx, func() (*mat.Dense, error) {
		m, err := loadGram(path)
		if err != nil {
			return nil, err
		}
		cross, err := readTold(ctx, a, g.cross, func(r io.Reader) (*mat.Dense, error) { return model.ReadCross(r, g.cross, m.Objects()) })
		if err != nil {
			return nil, err
		}
		if g.own != "" {
			own, err := readTold(ctx, a, g.own, func(r io.Reader) (*mat.SymDense, error) { return model.ReadGram(r, g.own) })
			if err != nil {
				return nil, err
			}
			if rows, _ := cross.Dims(); own.SymmetricDim() != rows {
				return nil, fmt.Errorf("%s: %s, want %d, one per row of %s", g.own, plural.Of(own.SymmetricDim(), "row"), rows, g.cross)
			}
			if kernel, err = m.Among(cross, own); err != nil {
				return nil, fmt.Errorf("%s and %s: %w", g.cross, g.own, err)
			}
		}
		z, err := m.Embed(cross)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", g.cross, err)
		}
		return z, nil
	})
	if err != nil {
		return err
	}
	e := &embedding{app: a, ctx: ctx}
	text := func(w io.Writer) error {
		const rows = 1024
		n, width := z.Dims()
		for i := 0; i < n; i += rows {
			if err := e.write(&model.Embedded{Z: z.Slice(i, min(i+rows, n), 0, width).(*mat.Dense)}, i == 0); err != nil {
				return err
			}
			if _, err := atOnce(ctx, func() (int, error) { return w.Write(bytes.Clone(e.text)) }); err != nil {
				return err
			}
		}
		return nil
	}
	outputs := []output{{out.csv, text}, {out.npy, func(w io.Writer) error { return metric.WriteNPY(w, z) }}}
	if g.kernel != "" {
		outputs = append(outputs, outputOf(ctx, g.kernel, kernel))
	}
	if out == (embedOutputs{}) {
		if err := text(a.data); err != nil {
			return err
		}
	}
	return writeOutputs(outputs...)
}

// loadGram reads a file that fit --gram has written.
func loadGram(path string) (*model.Gram, error) {
	if path == "" {
		return nil, usageError{errors.New("flag --model: no file given; metriclab fit --gram makes one")}
	}
	m, err := persist.ReadFile(path, model.LoadGram)
	if errors.Is(err, persist.ErrKind) {
		return nil, fmt.Errorf("%w; only metriclab fit --gram makes models for --cross-gram", err)
	}
	return m, err
}

// kindOf returns the kind of an open file of package persist, "" of another.
func kindOf(f *os.File) string {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return ""
	}
	env, err := persist.Read(f)
	if err != nil {
		return ""
	}
	return env.Kind
}

// readTold opens a file for read and tells how far it was read.
func readTold[T any](ctx context.Context, a *app, path string, read func(io.Reader) (T, error)) (T, error) {
	f, err := a.openTable(path)
	if err != nil {
		return *new(T), err
	}
	defer f.Close()
	var done func()
	f.tell, done = a.meter(ctx, work{unit: "MB"})
	defer done()
	return read(f)
}
