package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"metriclab/internal/plural"
	"metriclab/pkg/feedback"
	"metriclab/pkg/judge"
	"metriclab/pkg/metric"
	"metriclab/pkg/model"
)

// tripletFlags are the flags of fit, evaluate and compare on relative comparisons.
type tripletFlags struct {
	triplets, coordinates string
	objects, dim          int
	guard                 bool // names in coordinates are no formulas
}

func (g *tripletFlags) add(c *cobra.Command, dim string) {
	c.Flags().StringVar(&g.triplets, "triplets", "", "file of relative comparisons of objects, in place of a table")
	c.Flags().IntVar(&g.objects, "objects", 0, fmt.Sprintf("number of objects, at most %d, with --triplets (default: one more than the largest number)", feedback.MaxObjects))
	c.Flags().IntVar(&g.dim, "dim", 0, dim)
}

// given reports whether the command line is about triplets. It returns an error if a flag does not go with that.
func (g *tripletFlags) given(c *cobra.Command) (bool, error) {
	changed := c.Flags().Changed
	if !changed("triplets") {
		for _, name := range []string{"objects", "dim", "coordinates", "guard-formulas"} {
			if changed(name) {
				return false, usageError{fmt.Errorf("flag --%s: only together with --triplets", name)}
			}
		}
		return false, nil
	}
	others := append(withoutHeader(columnFlags), "pairs", "no-standardise", "factor-npy", "matrix-npy", "model", "gram", "constraints", "labels", "kernel-out", "k")
	if c.Name() == "fit" {
		others = append(others, "seed") // what is drawn has a parameter
	}
	for _, name := range others {
		if changed(name) {
			return false, usageError{fmt.Errorf("flag --%s: not together with --triplets", name)}
		}
	}
	if g.triplets == "" {
		return false, usageError{errors.New("flag --triplets: no file given")}
	}
	if changed("objects") && (g.objects < 3 || g.objects > feedback.MaxObjects) {
		return false, usageError{fmt.Errorf("flag --objects: %d is not allowed, want 3 to %d", g.objects, feedback.MaxObjects)}
	}
	return true, atLeastOne(c, "dim", g.dim)
}

// recipe turns the flags into a recipe with all defaults.
func (g *tripletFlags) recipe(c *cobra.Command, f *recipeFlags) (model.TripletRecipe, error) {
	if f.learner == "" {
		return model.TripletRecipe{}, usageError{fmt.Errorf("flag --learner: none given, want %s", namesOf(model.TripletLearners()))}
	}
	if err := atLeastOne(c, "passes", f.passes); err != nil {
		return model.TripletRecipe{}, err
	}
	params, err := parseParams(f.params)
	if err != nil {
		return model.TripletRecipe{}, usageError{err}
	}
	r, err := model.TripletRecipe{Learner: f.learner, Params: params, Passes: f.passes}.Resolved()
	if err != nil {
		return model.TripletRecipe{}, usageError{err}
	}
	return r, nil
}

// read reads the triplets, and tells its notes.
func (g *tripletFlags) read(ctx context.Context, a *app, form feedback.Form) (*feedback.Triplets, error) {
	t, err := readTold(ctx, a, g.triplets, func(r io.Reader) (*feedback.Triplets, error) {
		return feedback.ReadTriplets(r, tableName(g.triplets), g.objects, form)
	})
	if err == nil {
		a.note(tableName(g.triplets), t.Notes)
	}
	return t, err
}

// outputs completes the paths of the files to write.
func (g *tripletFlags) outputs(c *cobra.Command, out string) (string, error) {
	changed := c.Flags().Changed
	if !changed("out") && !changed("coordinates") {
		return "", usageError{errors.New("flags --out and --coordinates: no file given, want one for the model, for coordinates, or both")}
	}
	if ending := strings.ToLower(filepath.Ext(out)); ending == ".csv" || ending == ".npy" {
		return "", usageError{fmt.Errorf("flag --out: %s is the file of the model, which is JSON; want --coordinates %s", out, out)}
	}
	if ending := strings.ToLower(filepath.Ext(g.coordinates)); changed("guard-formulas") && ending != ".csv" {
		return "", usageError{errors.New("flag --guard-formulas: only together with a .csv file of --coordinates, which has names")}
	}
	if !changed("coordinates") && changed("dim") {
		return "", usageError{errors.New("flag --dim: only together with --coordinates: the model has all dimensions")}
	}
	if ending := strings.ToLower(filepath.Ext(g.coordinates)); changed("coordinates") && ending != ".csv" && ending != ".npy" {
		return "", usageError{fmt.Errorf("flag --coordinates: %q is not allowed, want a file name that ends in .csv or .npy", g.coordinates)}
	}
	if g.dim == 0 {
		g.dim = 2
	}
	err := outPaths(c, []string{g.triplets}, outFile{flag: "out", path: &out}, outFile{flag: "coordinates", path: &g.coordinates})
	return out, err
}

// fitTriplets is fit on relative comparisons.
func (a *app) fitTriplets(c *cobra.Command, f *recipeFlags, out string, g *tripletFlags) error {
	recipe, err := g.recipe(c, f)
	out, bad := g.outputs(c, out)
	if err := together(err, bad); err != nil {
		return err
	}
	ctx := c.Context()
	counted := work{noun: "triplet"}
	if recipe.Passes == 0 {
		counted = work{noun: "iteration", capped: true}
	}
	var set *feedback.Triplets
	var z model.Coordinates
	var wrong float64 // of the coordinates
	progress, done := a.meter(ctx, counted)
	fitted, err := atOnce(ctx, func() (*model.Compared, error) {
		var err error
		if set, err = g.read(ctx, a, f.form()); err != nil {
			return nil, err
		}
		m, err := model.FitTriplets(ctx, set, recipe, progress)
		if err != nil {
			return nil, err
		}
		if g.coordinates != "" {
			if strings.EqualFold(filepath.Ext(g.coordinates), ".npy") && m.Report().Missing > 0 {
				return nil, fmt.Errorf("flag --coordinates: %s has a row per object, but %s in no triplet; want a .csv file, which has their numbers",
					g.coordinates, occur(m.Report().Missing))
			}
			if z, err = m.Coordinates(ctx, g.dim); err != nil {
				return nil, tableError(err)
			}
			if wrong, err = m.ErrorOf(z, set); err != nil {
				return nil, err
			}
		}
		return m, nil
	})
	done()
	if err != nil {
		return err
	}
	if err := writeOutputs(output{out, fitted.Save}, output{g.coordinates, func(w io.Writer) error {
		if strings.EqualFold(filepath.Ext(g.coordinates), ".npy") {
			return metric.WriteNPY(w, z.Z)
		}
		return writeObjects(ctx, w, fitted.Names(), z, g.guard)
	}}); err != nil {
		return err
	}
	return a.printTriplets(fitted, set, z, wrong, out, g)
}

// printTriplets says what was fitted.
func (a *app) printTriplets(m *model.Compared, set *feedback.Triplets, z model.Coordinates, wrong float64, out string, g *tripletFlags) error {
	var b strings.Builder
	r, rep := m.Recipe(), m.Report()
	b.WriteString(describeTriplets(set, m.Objects()))
	fmt.Fprintf(&b, "%s\n", describeTripletRecipe(r))
	if rep.TauChosen {
		fmt.Fprintf(&b, "tau=%g, chosen on a fifth of the questions\n", rep.Tau)
	} else if r.Params["tau"] == "auto" {
		fmt.Fprintf(&b, "tau=%g: too few questions to choose it\n", rep.Tau)
	}
	printStatus(&b, rep.Status)
	if r.Passes > 0 {
		fmt.Fprintf(&b, "in the last pass %.2f %% of the triplets were predicted wrongly, each before the update on it\n", 100*float64(rep.Mistakes)/float64(len(set.List)))
	}
	fmt.Fprintf(&b, "the learned kernel contradicts %.2f %% of the triplets that it was learned from; metriclab evaluate tells of others\n", 100*rep.Error)
	if out != "" {
		fmt.Fprintf(&b, "written to %s\n", out)
	}
	if g.coordinates != "" {
		fmt.Fprintf(&b, "%s per object, which show %.3g %% of the spread of the kernel, written to %s; they contradict %.2f %% of the triplets\n", plural.Of(g.dim, "coordinate"), 100*z.Share, g.coordinates, 100*wrong)
	}
	_, err := fmt.Fprint(a.out, b.String())
	return err
}

// evaluateTriplets is evaluate on relative comparisons.
func (a *app) evaluateTriplets(c *cobra.Command, f *recipeFlags, g *tripletFlags, plan model.TripletPlan, asJSON bool) error {
	recipe, err := g.recipe(c, f)
	if err != nil {
		return err
	}
	if f.seed == 0 {
		return usageError{errors.New("flag --seed: 0 is not allowed, want at least 1")}
	}
	if !c.Flags().Changed("repeats") {
		plan.Repeats = 0 // its own default
	}
	ctx := c.Context()
	plan.Dim, plan.Seed = g.dim, f.seed
	var set *feedback.Triplets
	progress, done := a.meter(ctx, work{noun: "split"})
	plan.Progress = progress
	e, err := atOnce(ctx, func() (*model.TripletEvaluation, error) {
		var err error
		if set, err = g.read(ctx, a, f.form()); err != nil {
			return nil, err
		}
		e, err := model.EvaluateTriplets(ctx, set, recipe, plan)
		return e, tableError(err)
	})
	done()
	if err != nil {
		return err
	}
	if asJSON {
		return a.printJSON(tripletsJSON(set, e, a.noted))
	}
	var b strings.Builder
	b.WriteString(describeTriplets(set, e.Objects))
	fmt.Fprintf(&b, "%s", describeTripletRecipe(e.Recipe))
	if e.Plan.Dim > 0 {
		fmt.Fprintf(&b, "; distances in %s", plural.Of(e.Plan.Dim, "dimension"))
	}
	fmt.Fprintf(&b, "\n%d x %d-fold cross-validation over questions, seed %d; everything learned anew in each split\n\n", e.Plan.Repeats, e.Plan.Folds, e.Plan.Seed)
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "\ttriplet error in %, 95 % interval")
	fmt.Fprintf(w, "%s\t%s\n", e.Recipe.Learner, interval(e.Summary))
	fmt.Fprintln(w, "a coin\t50.00")
	if err := w.Flush(); err != nil {
		return err
	}
	b.WriteString("\n")
	if e.Recipe.Params["tau"] == "auto" {
		fmt.Fprintf(&b, "tau taken: %s\n", takenTaus(e.Taus))
	}
	for _, n := range e.Notes {
		fmt.Fprintf(&b, "Note: %s.\n", n)
	}
	fmt.Fprintf(&b, "%s\n", tripletVerdict(e))
	_, err = fmt.Fprint(a.out, b.String())
	return err
}

// takenTaus lists the weights of the trace and how many splits took each.
func takenTaus(taus []float64) string {
	count := map[float64]int{}
	for _, t := range taus {
		count[t]++
	}
	var parts []string
	for _, t := range slices.Compact(slices.Sorted(slices.Values(taus))) {
		parts = append(parts, fmt.Sprintf("%g (%dx)", t, count[t]))
	}
	return strings.Join(parts, ", ")
}

// tripletVerdict says what the interval of the error says.
func tripletVerdict(e *model.TripletEvaluation) string {
	against := e.Summary
	against.Mean -= .5
	switch {
	case !e.Summary.HasInterval:
		return fmt.Sprintf("Fewer than %d splits give no interval.", judge.MinTrials)
	case against.Side() == judge.Against:
		return fmt.Sprintf("%s predicts answers that it has not seen better than a coin.", e.Recipe.Learner)
	case against.Side() == judge.For:
		return fmt.Sprintf("%s predicts answers that it has not seen worse than a coin.", e.Recipe.Learner)
	}
	return "These answers do not tell whether it is better than a coin: the interval contains 50 %."
}

// comparedJSON is the JSON of evaluate --triplets. Errors are shares.
type comparedJSON struct {
	Data         string              `json:"data"`
	Triplets     int                 `json:"triplets"`
	Objects      int                 `json:"objects"`
	Questions    int                 `json:"questions"`
	Contradicted int                 `json:"contradicted"` // questions answered both ways
	Outvoted     int                 `json:"outvoted"`     // answers that any distances contradict
	Degenerate   int                 `json:"degenerate"`
	Ties         int                 `json:"ties"`
	Recipe       model.TripletRecipe `json:"recipe"`
	Dim          int                 `json:"dim,omitempty"`
	Folds        int                 `json:"folds"`
	Repeats      int                 `json:"repeats"`
	Seed         uint64              `json:"seed"`
	Level        float64             `json:"level"`
	Error        evaluatedMean       `json:"error"`
	Errors       []float64           `json:"errors"`
	Taus         []float64           `json:"taus,omitempty"`
	Coin         float64             `json:"coin"`
	Notes        []string            `json:"notes"`
	Verdict      string              `json:"verdict"`
	IntervalFrom string              `json:"interval"`
}

func tripletsJSON(set *feedback.Triplets, e *model.TripletEvaluation, noted []string) comparedJSON {
	out := comparedJSON{
		Data: filepath.Base(set.Name), Triplets: e.Triplets, Objects: e.Objects, Questions: e.Agreement.Questions, Contradicted: e.Agreement.Contradicted,
		Outvoted: e.Agreement.Outvoted, Degenerate: set.Degenerate, Ties: set.Ties, Recipe: e.Recipe, Dim: e.Plan.Dim, Folds: e.Plan.Folds, Repeats: e.Plan.Repeats,
		Seed: e.Plan.Seed, Level: 0.95, Error: evaluatedMean{Mean: e.Summary.Mean}, Errors: e.Errors, Taus: e.Taus, Coin: .5, Notes: slices.Concat([]string{}, noted, e.Notes), Verdict: tripletVerdict(e),
		IntervalFrom: "corrected resampled t (Nadeau and Bengio 2003)",
	}
	if e.Summary.HasInterval {
		out.Error.Half = new(e.Summary.Half)
	}
	return out
}
