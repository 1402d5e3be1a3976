package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/plural"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners"
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
	f.add(c, "coordinates of each object, with --coordinates (default 2)")
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
	progress, done := a.meter(ctx, counted)
	m, err := atOnce(ctx, func() (model.Fitted, error) { return model.Fit(ctx, on.problem, recipe, progress) })
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
	case objects && !changed("coordinates") && changed("dim"):
		return usageError{errors.New("flag --dim: only together with --coordinates: the model has all dimensions")}
	case objects && changed("coordinates") && ending != ".csv" && ending != ".npy":
		return usageError{fmt.Errorf("flag --coordinates: %q is not allowed, want a file name that ends in .csv or .npy", f.coordinates)}
	}
	return outPaths(c, q.inputs, outFile{flag: "out", path: &f.model, must: !objects}, outFile{flag: "factor-npy", path: &f.factor}, outFile{flag: "matrix-npy", path: &f.matrix},
		outFile{flag: "kernel-out", path: &f.kernel}, outFile{flag: "coordinates", path: &f.coordinates})
}

// mapped are coordinates of objects that were written.
type mapped struct {
	dim          int
	share, wrong float64
}

// write writes the files that the flags name, all or none.
func (f *fitFlags) write(ctx context.Context, m model.Fitted) (*mapped, error) {
	outputs := []output{{f.model, m.Save}}
	if f.factor != "" || f.matrix != "" {
		l, err := matrixOf(m)
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
			return nil, fmt.Errorf("flag --coordinates: %s has a row per object, but %s in no triplet; want a .csv file, which has their numbers", f.coordinates, occur(m.Report().Missing))
		}
		dim := f.dim
		if dim == 0 {
			dim = 2
		}
		z, err := objects.Coordinates(ctx, dim)
		if err != nil {
			return nil, tableError(err)
		}
		made = &mapped{dim: dim, share: z.Share, wrong: objects.ErrorOf(z)}
		outputs = append(outputs, objectsOutput(ctx, f.coordinates, objects.Names(), z, f.guard))
	}
	return made, writeOutputs(outputs...)
}

// matrixOf returns the metric of a model that has a matrix.
func matrixOf(m model.Fitted) (*metric.Mahalanobis, error) {
	switch m := m.(type) {
	case *model.Vectors:
		return m.Factor()
	case *model.Model:
		switch d := m.Metric().(type) {
		case *metric.Mahalanobis:
			return d, nil
		case *metric.LowRank:
			return d.Mahalanobis()
		}
	}
	return nil, fmt.Errorf("%s: %w", m.Recipe().Learner, model.ErrKernel)
}

// fitJSON is the JSON of fit; what does not apply is left out.
type fitJSON struct {
	Schema     int            `json:"schema"`
	Data       string         `json:"data"`
	Problem    string         `json:"problem"`
	Sample     string         `json:"sample,omitempty"`
	Counts     map[string]int `json:"counts,omitempty"`
	Recipe     model.Recipe   `json:"recipe"`
	Report     reportJSON     `json:"report"`
	Dimensions *int           `json:"dimensions,omitempty"` // in which the metric embeds
	Written    []string       `json:"written"`
	Notes      []string       `json:"notes"`
}

type reportJSON struct {
	Status        string              `json:"status,omitempty"`
	Iterations    int                 `json:"iterations,omitempty"`
	Items         int                 `json:"items,omitempty"`
	Missing       int                 `json:"missing_objects,omitempty"`
	Imputed       int                 `json:"imputed,omitempty"`
	Constant      []string            `json:"constant,omitempty"`
	Empty         int                 `json:"empty_rows,omitempty"`
	Similar       int                 `json:"similar,omitempty"`
	Dissimilar    int                 `json:"dissimilar,omitempty"`
	Comparisons   int                 `json:"comparisons,omitempty"`
	Mistakes      *float64            `json:"mistakes,omitempty"` // share of the feedback in the last pass
	Threshold     *float64            `json:"threshold,omitempty"`
	Error         *float64            `json:"training_error,omitempty"` // share of the feedback of the fit that is wrong
	Lost          float64             `json:"trace_lost,omitempty"`
	Tau           float64             `json:"tau,omitempty"`
	TauChosen     bool                `json:"tau_chosen,omitempty"`
	Landmarks     int                 `json:"landmarks,omitempty"`
	LandmarksLeft float64             `json:"landmarks_left,omitempty"`
	Span          *model.Span         `json:"span,omitempty"`
	Solution      *solutionJSON       `json:"solution,omitempty"`
	Coordinates   *map[string]float64 `json:"coordinates,omitempty"`
}

type solutionJSON struct {
	Objective float64 `json:"objective"`
	Rank      int     `json:"rank"`
	Residual  float64 `json:"kkt_residual"`
	Gap       float64 `json:"duality_gap"`
	Violated  []int   `json:"violated_lines"`
}

// feedbackOf counts what an online learner saw in a pass.
func feedbackOf(r model.Recipe, rep model.Report) int {
	return max(r.Pairs, rep.Similar+rep.Dissimilar, rep.Comparisons)
}

func (f *fitFlags) report(on ready, m model.Fitted, made *mapped) reportJSON {
	rep, r := m.Report(), m.Recipe()
	out := reportJSON{
		Iterations: rep.Iterations, Items: rep.Items, Missing: rep.Missing, Imputed: rep.Imputed, Constant: rep.Constant, Empty: rep.Empty,
		Similar: rep.Similar, Dissimilar: rep.Dissimilar, Comparisons: rep.Comparisons, Lost: rep.Lost, Tau: rep.Tau, TauChosen: rep.TauChosen,
		Landmarks: rep.Landmarks, LandmarksLeft: rep.Left, Span: rep.Span,
	}
	if rep.Status != learners.NotRun {
		out.Status = rep.Status.String()
	}
	if n := feedbackOf(r, rep); r.Passes > 0 && n > 0 {
		out.Mistakes = new(float64(rep.Mistakes) / float64(n))
	}
	switch m := m.(type) {
	case *model.Vectors:
		if rep.Comparisons > 0 {
			out.Error = new(float64(rep.Contradicted) / float64(rep.Comparisons))
			break
		}
		out.Threshold, out.Error = new(m.Threshold()), new(float64(rep.Wrong)/float64(rep.Similar+rep.Dissimilar))
	case *model.Compared:
		out.Error = new(rep.Error)
	case *model.Gram:
		if s := rep.Solution; s != nil {
			out.Solution = &solutionJSON{s.Objective, m.Rank(), rep.Residual, s.Gap, []int{}}
			for _, i := range s.Violated {
				out.Solution.Violated = append(out.Solution.Violated, on.lines.Lines[i])
			}
		}
	}
	if made != nil {
		out.Coordinates = &map[string]float64{"dimensions": float64(made.dim), "share_of_spread": made.share, "training_error": made.wrong}
	}
	return out
}

// dimensionsOf counts those in which what was learned embeds vectors; nil if it does not.
func dimensionsOf(m model.Fitted) *int {
	switch m := m.(type) {
	case *model.Gram:
		return new(m.Rank())
	case *model.Vectors:
		return new(m.Rows())
	case *model.Model:
		if l, ok := m.Metric().(interface{ Rows() int }); ok {
			return new(l.Rows())
		}
	}
	return nil
}

// printFit says what was fitted.
func (a *app) printFit(f *fitFlags, q *posed, on ready, m model.Fitted, made *mapped) error {
	r, rep := m.Recipe(), m.Report()
	if f.json {
		written := slices.DeleteFunc([]string{f.model, f.factor, f.matrix, f.kernel, f.coordinates}, func(path string) bool { return path == "" })
		return a.printJSON(fitJSON{
			Schema: schema, Data: on.name, Problem: on.problem.String(), Counts: on.counts, Recipe: r, Report: f.report(on, m, made), Dimensions: dimensionsOf(m), Written: written,
			Notes: slices.Concat([]string{}, a.noted, rep.Notes),
		})
	}
	var b strings.Builder
	say := func(when bool, format string, values ...any) {
		if when {
			fmt.Fprintf(&b, format+"\n", values...)
		}
	}
	b.WriteString(on.about(rep.Items))
	pairs := rep.Similar + rep.Dissimilar
	say(r.Given == model.GivenChunklets, "%s, %d similar", plural.Of(pairs, "pair"), rep.Similar)
	say(true, "%s", q.describe(r))
	printNotes(&b, rep.Notes)
	say(rep.Imputed > 0, "%s filled with the mean of the column", plural.Of(rep.Imputed, "missing cell"))
	say(len(rep.Constant) > 0, "constant, so without weight in any distance between these rows: %s", few(rep.Constant))
	say(rep.Empty > 0, "without an entry, so at no distance from each other: %s", plural.Of(rep.Empty, "row"))
	say(rep.TauChosen, "tau=%g, chosen on a fifth of the questions", rep.Tau)
	say(!rep.TauChosen && r.Params["tau"] == "auto", "tau=%g: too few questions to choose it", rep.Tau)
	if r.Passes > 0 {
		wrong := 100 * float64(rep.Mistakes) / float64(max(feedbackOf(r, rep), 1))
		what := fmt.Sprintf("%.1f %% of the pairs", wrong)
		if rep.Comparisons > 0 {
			what = fmt.Sprintf("%.2f %% of the comparisons", wrong)
		}
		say(true, "in the last pass %s were predicted wrongly, each before the update on it", what)
	}
	if rep.Solution == nil {
		printStatus(&b, rep.Status)
	}
	say(rep.Landmarks > 0, "approximated in the span of %s, which leaves out %.3g %% of the trace of the kernel over what it learned from", plural.Of(rep.Landmarks, "landmark"), 100*rep.Left)
	if s := rep.Span; s != nil {
		also := ""
		if s.Asked > s.Rank {
			also = fmt.Sprintf(" (of %d, the others lie in it)", s.Asked)
		}
		say(true, "learned in the span of %s%s from %s; similar ones that no metric of this span brings near enough: %d", plural.Of(s.Rank, "vector"), also, plural.Of(s.Links, "pair"), s.Infeasible)
	}
	say(r.Rank > 0, "rank %d: %.3g %% of the trace is lost", r.Rank, 100*rep.Lost)
	switch m := m.(type) {
	case *model.Vectors:
		say(rep.Comparisons > 0, "the metric contradicts %.1f %% of the comparisons of the fit", 100*float64(rep.Contradicted)/float64(max(rep.Comparisons, 1)))
		say(pairs > 0, "pairs at squared distances up to %.6g are taken for similar: %.1f %% of the pairs of the fit are wrong", m.Threshold(), 100*float64(rep.Wrong)/float64(max(pairs, 1)))
	case *model.Compared:
		say(true, "the learned kernel contradicts %.2f %% of the comparisons that it was learned from; metriclab evaluate tells of others", 100*rep.Error)
	case *model.Gram:
		if s := rep.Solution; s != nil {
			a.printSolution(&b, m, on)
		}
	}
	b.WriteString(embeds(m))
	say(f.model != "", "written to %s", f.model)
	say(f.kernel != "", "learned kernel written to %s", f.kernel)
	if made != nil {
		say(true, "%s per object, which show %.3g %% of the spread of the kernel, written to %s; they contradict %.2f %% of the comparisons", plural.Of(made.dim, "coordinate"), 100*made.share, f.coordinates, 100*made.wrong)
	}
	_, err := fmt.Fprint(a.out, b.String())
	return err
}

// embeds says what coordinates there are.
func embeds(m model.Fitted) string {
	n := dimensionsOf(m)
	switch of := m.(type) {
	case *model.Compared:
		return ""
	case *model.Gram:
		if of.Report().Solution != nil {
			return ""
		}
		return fmt.Sprintf("the metric embeds in %s, by kernel values with these objects\n", plural.Of(*n, "dimension"))
	case *model.Model:
		if k, ok := of.Metric().(*kernels.Metric); ok {
			return fmt.Sprintf("the metric embeds in %s, by kernel values with %s\n", plural.Of(*n, "dimension"), plural.Of(k.Support(), "stored row"))
		}
	}
	if n == nil {
		return "the metric is a kernel metric: evaluate works with it, transform and plot do not\n"
	}
	return fmt.Sprintf("the metric embeds in %s\n", dimensions(*n))
}

// printSolution says how a kernel satisfies its constraints.
func (a *app) printSolution(b *strings.Builder, g *model.Gram, on ready) {
	rep := g.Report()
	s := rep.Solution
	fmt.Fprintf(b, "status: %s after %s\n", rep.Status, plural.Of(rep.Iterations, "step"))
	if rep.Status != learners.Converged {
		fmt.Fprintf(b, "the learner stopped early: what is written is its last kernel, not the best one\n")
		if g.Recipe().Params["slack"] != ltkernel.SlackHard.String() {
			fmt.Fprintf(b, "constraints may contradict each other at too high a price of slack: a smaller c makes the problem easier\n")
		}
	}
	fmt.Fprintf(b, "objective: %.10g\nrank: %d\nKKT residual: %.3g\nduality gap: %.3g\nviolated constraints: %d\n", s.Objective, g.Rank(), rep.Residual, s.Gap, len(s.Violated))
	printViolated(b, *s, on.lines)
	if g.Rank() == 0 {
		fmt.Fprintf(b, "the learned kernel is 0: all objects coincide\n")
	}
}
