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
	"metriclab/pkg/learners/lines"
	"metriclab/pkg/model"
	"metriclab/pkg/vectors"
)

// vectorFlags are the flags on a file of vectors.
type vectorFlags struct {
	vectors, ids string
	rank         int
	unit         bool
	// triplets is the file of --triplets, a flag that is not for vectors alone.
	triplets *string
}

// compared reports whether the feedback is relative comparisons.
func (v *vectorFlags) compared() bool { return v.triplets != nil && *v.triplets != "" }

// add adds the flags that name vectors.
func (v *vectorFlags) add(c *cobra.Command) {
	addVectors(c, &v.vectors)
	c.Flags().StringVar(&v.ids, "ids", "", "file with an id per line for the rows of --vectors, by which pairs name them")
}

func addVectors(c *cobra.Command, path *string) {
	c.Flags().StringVar(path, "vectors", "", ".npy file of float32 or float64, a vector per row")
	completeFlag(c, "vectors", func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return []cobra.Completion{"npy"}, cobra.ShellCompDirectiveFilterFileExt
	})
}

// addRecipe adds those on what is learned.
func (v *vectorFlags) addRecipe(c *cobra.Command) {
	v.add(c)
	c.Flags().IntVar(&v.rank, "rank", 0, "keep so many directions of the metric, those of the largest eigenvalues, with --vectors (default: all)")
	c.Flags().BoolVar(&v.unit, "unit", false, "divide each vector by its length, with --vectors")
}

// given reports whether the command line is about vectors. It returns an error if a flag does not go with that; others are flags that do not.
func (v *vectorFlags) given(c *cobra.Command, others ...string) (bool, error) {
	changed := c.Flags().Changed
	if !changed("vectors") {
		for _, name := range []string{"ids", "rank", "unit"} {
			if changed(name) {
				return false, usageError{fmt.Errorf("flag --%s: only together with --vectors", name)}
			}
		}
		return false, nil
	}
	for _, name := range others {
		if changed(name) {
			return false, usageError{fmt.Errorf("flag --%s: not together with --vectors", name)}
		}
	}
	if v.vectors == "" {
		return false, usageError{errors.New("flag --vectors: no file given")}
	}
	if changed("triplets") && !v.compared() {
		return false, usageError{errors.New("flag --triplets: no file given")}
	}
	if changed("ids") && v.ids == "" {
		return false, usageError{errors.New("flag --ids: no file given")}
	}
	return true, nil
}

// tableFlags are those of fit, evaluate and compare that are for tables and Gram matrices.
var tableFlags = append(withoutHeader(columnFlags), "gram", "constraints", "labels", "kernel-out", "objects", "dim", "coordinates", "guard-formulas")

// withoutHeader leaves out --no-header, which a file of feedback has, too.
func withoutHeader(flags []string) []string {
	return slices.DeleteFunc(slices.Clone(flags), func(name string) bool { return name == "no-header" })
}

// recipe turns the flags into a recipe with all defaults.
func (v *vectorFlags) recipe(c *cobra.Command, f *recipeFlags) (model.VectorRecipe, error) {
	var errs []error
	wrong := func(err error) { errs = append(errs, usageError{err}) }
	learners := model.VectorLearners()
	if v.compared() {
		learners = model.VectorTripletLearners()
	}
	switch {
	case f.pairs.file == "" && !v.compared():
		wrong(errors.New("flags --pairs and --triplets: no file given, want one with pairs of vectors and their labels, or with relative comparisons"))
	case f.pairs.file != "" && v.compared() || v.compared() && c.Flags().Changed("pairs"):
		wrong(errors.New("flag --pairs: not together with --triplets"))
	}
	numbers := atLeastOne(c, "passes", f.passes, "rank", v.rank)
	errs = append(errs, numbers)
	params, err := parseParams(f.params)
	if err != nil {
		wrong(err)
	}
	r := model.VectorRecipe{Learner: f.learner, Params: params, Triplets: v.compared(), Passes: f.passes, Rank: v.rank, Unit: v.unit, Raw: f.raw}
	if f.learner == "" {
		wrong(fmt.Errorf("flag --learner: none given, want %s", namesOf(learners)))
	} else if numbers == nil { // which the recipe would refuse again
		if r, err = r.Resolved(); err != nil {
			wrong(err)
		}
	}
	return r, together(errs...)
}

// open opens the vectors and reads the ids.
func (v *vectorFlags) open(ctx context.Context, a *app) (*lines.Vectors, error) {
	f, err := vectors.Open(v.vectors)
	if err != nil {
		return nil, err
	}
	out := &lines.Vectors{File: f, Objects: feedback.Objects{Count: f.Rows()}}
	if v.ids != "" {
		out.Objects.Names, err = atOnce(ctx, func() ([]string, error) {
			return readTold(ctx, a, v.ids, func(r io.Reader) ([]string, error) { return vectors.ReadIDs(r, v.ids, f.Rows()) })
		})
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return out, nil
}

// fitVectors is fit on vectors.
func (a *app) fitVectors(c *cobra.Command, f *recipeFlags, out *fitOutputs, v *vectorFlags) error {
	recipe, err := v.recipe(c, f)
	if err == nil && c.Flags().Changed("seed") {
		err = usageError{fmt.Errorf("flag --seed: nothing is drawn for %s; some learners have a parameter seed", recipe.Learner)}
	}
	given := f.pairs.file
	if v.compared() {
		given = *v.triplets
	}
	if err := together(err, out.check(c, v.vectors, v.ids, given)); err != nil {
		return err
	}
	ctx := c.Context()
	in, err := v.open(ctx, a)
	if err != nil {
		return err
	}
	defer in.File.Close()
	counted := work{noun: "pair"}
	if recipe.Passes == 0 {
		counted = work{noun: "iteration", capped: true}
	}
	progress, done := a.meter(ctx, counted)
	var compared *feedback.Triplets
	m, err := atOnce(ctx, func() (*model.Vectors, error) {
		if v.compared() {
			var err error
			if compared, err = a.readCompared(ctx, given, in.Objects, f.form()); err != nil {
				return nil, err
			}
			return model.FitVectorTriplets(ctx, in.File, compared.List, recipe, progress)
		}
		pairs, err := a.readPairs(ctx, f.pairs.file, in.Objects, f.form())
		if err != nil {
			return nil, err
		}
		a.warnLongVectors(in.File, pairs.Links, recipe, 1)
		return model.FitVectors(ctx, in.File, pairs.Links, recipe, progress)
	})
	done()
	if err != nil {
		return tableError(err)
	}
	if err := out.write(m, m.Factor); err != nil {
		return err
	}
	if compared != nil {
		return a.printCompared(in.File, m, compared, out.model)
	}
	return a.printVectors(in.File, m, out.model)
}

// printCompared says what was fitted to relative comparisons.
func (a *app) printCompared(f *vectors.File, m *model.Vectors, set *feedback.Triplets, path string) error {
	r, rep := m.Recipe(), m.Report()
	var b strings.Builder
	fmt.Fprintf(&b, "%s; %s of %d of them\n", aboutFile(f), plural.Of(rep.Triplets, "comparison"), rep.Items)
	if set.Degenerate > 0 {
		fmt.Fprintf(&b, "dropped, since their vectors are not distinct: %s\n", plural.Of(set.Degenerate, "comparison"))
	}
	fmt.Fprintf(&b, "%s\n", describeVectors(r))
	printNotes(&b, rep.Notes)
	printStatus(&b, rep.Status)
	if r.Rank > 0 {
		fmt.Fprintf(&b, "rank %d: %.3g %% of the trace is lost\n", m.Rows(), 100*rep.Lost)
	}
	fmt.Fprintf(&b, "the metric contradicts %.1f %% of the comparisons of the fit\n", 100*float64(rep.Contradicted)/float64(rep.Triplets))
	fmt.Fprintf(&b, "the metric embeds in %s\nwritten to %s\n", dimensions(m.Rows()), path)
	_, err := fmt.Fprint(a.out, b.String())
	return err
}

// printVectors says what was fitted.
func (a *app) printVectors(f *vectors.File, m *model.Vectors, path string) error {
	r, rep := m.Recipe(), m.Report()
	var b strings.Builder
	pairs := rep.Similar + rep.Dissimilar
	fmt.Fprintf(&b, "%s; %s, %d similar, of %d of them\n%s\n", aboutFile(f), plural.Of(pairs, "pair"), rep.Similar, rep.Items, describeVectors(r))
	printNotes(&b, rep.Notes)
	if r.Passes > 0 {
		fmt.Fprintf(&b, "in the last pass %.1f %% of the pairs were predicted wrongly, each before the update on it\n", 100*float64(rep.Mistakes)/float64(pairs))
	}
	printStatus(&b, rep.Status)
	if s := rep.Span; s != nil {
		fmt.Fprintf(&b, "learned in the span of %s; similar pairs that no metric of this span brings near enough: %d\n", plural.Of(s.Rank, "vector"), s.Infeasible)
	}
	if r.Rank > 0 {
		fmt.Fprintf(&b, "rank %d: %.3g %% of the trace is lost\n", m.Rows(), 100*rep.Lost)
	}
	fmt.Fprintf(&b, "pairs at squared distances up to %.6g are taken for similar: %.1f %% of the pairs of the fit are wrong\n", m.Threshold(), 100*float64(rep.Wrong)/float64(pairs))
	fmt.Fprintf(&b, "the metric embeds in %s\nwritten to %s\n", dimensions(m.Rows()), path)
	_, err := fmt.Fprint(a.out, b.String())
	return err
}

// evaluateVectors is evaluate on vectors.
func (a *app) evaluateVectors(c *cobra.Command, f *recipeFlags, v *vectorFlags, p model.VectorPlan, asJSON bool) error {
	recipe, err := v.recipe(c, f)
	if err != nil {
		return err
	}
	if f.seed == 0 {
		return usageError{errors.New("flag --seed: 0 is not allowed, want at least 1")}
	}
	p.Seed = f.seed
	ctx := c.Context()
	in, err := v.open(ctx, a)
	if err != nil {
		return err
	}
	defer in.File.Close()
	progress, inside, done := a.insideSplits(ctx, p.Splits)
	p.Progress, p.Inside = progress, inside
	if v.compared() {
		e, err := atOnce(ctx, func() (*model.VectorTripletEvaluation, error) {
			set, err := a.readCompared(ctx, *v.triplets, in.Objects, f.form())
			if err != nil {
				return nil, err
			}
			return model.EvaluateVectorTriplets(ctx, in.File, set.List, recipe, p)
		})
		done()
		if err != nil {
			return tableError(err)
		}
		if asJSON {
			return a.printJSON(comparedVectorsJSON(in.File, e, a.noted))
		}
		return a.printComparedEvaluation(in.File, e)
	}
	e, err := atOnce(ctx, func() (*model.VectorEvaluation, error) {
		pairs, err := a.readPairs(ctx, f.pairs.file, in.Objects, f.form())
		if err != nil {
			return nil, err
		}
		a.warnLongVectors(in.File, pairs.Links, recipe, p.Splits)
		return model.EvaluateVectors(ctx, in.File, pairs.Links, recipe, p)
	})
	done()
	if err != nil {
		return tableError(err)
	}
	if asJSON {
		return a.printJSON(evaluatedVectors{filepath.Base(in.File.Name()), e.Recipe, heldOutJSON(e.Recipe.Learner, &e.HeldOut, a.noted)})
	}
	return a.printVectorEvaluation(in.File, e)
}

func (a *app) printVectorEvaluation(f *vectors.File, e *model.VectorEvaluation) error {
	fmt.Fprintf(a.out, "%s; %s, %d similar, of %d of them\n%s\n", aboutFile(f), plural.Of(e.Similar+e.Dissimilar, "pair"), e.Similar, e.Items, describeVectors(e.Recipe))
	return a.printHeldOut(e.Recipe.Learner, "items", &e.HeldOut)
}

// printHeldOut prints what was found on held-out items.
func (a *app) printHeldOut(name, items string, e *model.HeldOut) error {
	fmt.Fprintf(a.out, "%s, %.3g %% of the %s held out, seed %d; on average %.0f pairs to learn from, %.0f held out, %.0f across dropped\n\n",
		plural.Of(e.Plan.Splits, "split"), 100*e.Plan.Share, items, e.Plan.Seed, average(e.Train), average(e.Test), average(e.Dropped))
	w := tabwriter.NewWriter(a.out, 0, 0, 3, ' ', 0)
	fmt.Fprintf(w, "distance\tAUC in %%, 95 %% interval\terror in %%\trecall at %d in %%\n", e.Plan.K)
	for _, s := range []struct {
		name  string
		score *model.VectorScore
	}{{"Euclidean, raw", e.Raw}, {"Euclidean", &e.Euclidean}, {"cosine", &e.Cosine}, {name, &e.Learner}, {name + " minus Euclidean", &e.OverEuclidean}, {name + " minus cosine", &e.OverCosine}} {
		if s.score != nil {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", s.name, interval(s.score.AUCSummary), interval(s.score.ErrorSummary), interval(s.score.RecallSummary))
		}
	}
	fmt.Fprintf(w, "always \"similar\"\t\t%s\t\n", interval(e.AlwaysSimilar.ErrorSummary))
	fmt.Fprintf(w, "always \"dissimilar\"\t\t%s\t\n", interval(e.AlwaysDissimilar.ErrorSummary))
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(a.out)
	for _, n := range e.Notes {
		fmt.Fprintf(a.out, "Note: %s.\n", n)
	}
	_, err := fmt.Fprintln(a.out, heldOutVerdict(name, e))
	return err
}

func (a *app) printComparedEvaluation(f *vectors.File, e *model.VectorTripletEvaluation) error {
	fmt.Fprintf(a.out, "%s; %s of %d of them\n%s\n", aboutFile(f), plural.Of(e.Triplets, "comparison"), e.Items, describeVectors(e.Recipe))
	fmt.Fprintf(a.out, "%s, %.3g %% of the items held out, seed %d; on average %.0f comparisons to learn from, %.0f held out, %.0f across dropped\n\n",
		plural.Of(e.Plan.Splits, "split"), 100*e.Plan.Share, e.Plan.Seed, average(e.Train), average(e.Test), average(e.Dropped))
	w := tabwriter.NewWriter(a.out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "distance\ttriplet error in %, 95 % interval")
	name := e.Recipe.Learner
	for _, s := range []struct {
		name  string
		score model.VectorTripletScore
	}{{"Euclidean", e.Euclidean}, {"cosine", e.Cosine}, {name, e.Learner}, {name + " minus Euclidean", e.OverEuclidean}, {name + " minus cosine", e.OverCosine}} {
		fmt.Fprintf(w, "%s\t%s\n", s.name, interval(s.score.Summary))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(a.out)
	for _, n := range e.Notes {
		fmt.Fprintf(a.out, "Note: %s.\n", n)
	}
	_, err := fmt.Fprintln(a.out, comparedVerdict(e))
	return err
}

// comparedVerdict says what the intervals of the differences say.
func comparedVerdict(e *model.VectorTripletEvaluation) string {
	euclidean, cosine := e.OverEuclidean.Summary, e.OverCosine.Summary
	name := e.Recipe.Learner
	switch {
	case !euclidean.HasInterval:
		return "Too few splits to compare."
	case euclidean.Side() == judge.For || cosine.Side() == judge.For:
		return fmt.Sprintf("%s is worse than a distance without learning: an interval of the difference in error is above zero.", name)
	case euclidean.Side() == judge.Against && cosine.Side() == judge.Against:
		return fmt.Sprintf("%s predicts comparisons of held-out items better than Euclidean and cosine: both intervals of the difference in error are below zero.", name)
	}
	return "These comparisons do not tell whether learning helps: an interval of the difference in error contains zero."
}

// comparedVectors is the JSON of evaluate on relative comparisons of vectors. Errors are shares.
type comparedVectors struct {
	Vectors       string             `json:"vectors"`
	Items         int                `json:"items"`
	Triplets      int                `json:"triplets"`
	Recipe        model.VectorRecipe `json:"recipe"`
	TestShare     float64            `json:"test_share"`
	Seed          uint64             `json:"seed"`
	Train         []int              `json:"train_triplets"`
	Test          []int              `json:"test_triplets"`
	Dropped       []int              `json:"dropped_triplets"`
	Level         float64            `json:"level"`
	Learner       evaluatedSplits    `json:"learner"`
	Euclidean     evaluatedSplits    `json:"euclidean"`
	Cosine        evaluatedSplits    `json:"cosine"`
	OverEuclidean evaluatedSplits    `json:"minus_euclidean"`
	OverCosine    evaluatedSplits    `json:"minus_cosine"`
	Notes         []string           `json:"notes"`
	Verdict       string             `json:"verdict"`
	IntervalFrom  string             `json:"interval"`
}

func comparedVectorsJSON(f *vectors.File, e *model.VectorTripletEvaluation, noted []string) comparedVectors {
	score := func(s model.VectorTripletScore) evaluatedSplits { return evaluatedSplits{meanJSON(s.Summary), s.Error} }
	return comparedVectors{
		Vectors: filepath.Base(f.Name()), Items: e.Items, Triplets: e.Triplets, Recipe: e.Recipe, TestShare: e.Plan.Share, Seed: e.Plan.Seed,
		Train: e.Train, Test: e.Test, Dropped: e.Dropped, Level: 0.95,
		Learner: score(e.Learner), Euclidean: score(e.Euclidean), Cosine: score(e.Cosine), OverEuclidean: score(e.OverEuclidean), OverCosine: score(e.OverCosine),
		Notes: slices.Concat([]string{}, noted, e.Notes), Verdict: comparedVerdict(e), IntervalFrom: "corrected resampled t (Nadeau and Bengio 2003)",
	}
}

// heldOutVerdict says what the intervals of the differences in AUC say.
func heldOutVerdict(name string, e *model.HeldOut) string {
	euclidean, cosine := e.OverEuclidean.AUCSummary, e.OverCosine.AUCSummary
	if !euclidean.HasInterval {
		return "Too few splits to compare."
	}
	better, worse := 0, 0
	for _, s := range []judge.Summary{euclidean, cosine} {
		switch s.Side() {
		case judge.For:
			better++
		case judge.Against:
			worse++
		}
	}
	switch {
	case better == 2:
		return fmt.Sprintf("%s tells held-out similar pairs from dissimilar ones better than Euclidean and cosine: both intervals of the difference in AUC are above zero.", name)
	case worse > 0:
		return fmt.Sprintf("%s is worse than a distance without learning: an interval of the difference in AUC is below zero.", name)
	default:
		return "These pairs do not tell whether learning helps: an interval of the difference in AUC contains zero."
	}
}

// evaluatedVectors is the JSON of evaluate on pairs of vectors.
type evaluatedVectors struct {
	Vectors string             `json:"vectors"`
	Recipe  model.VectorRecipe `json:"recipe"`
	heldOut
}

// heldOut is the JSON of what was found on held-out items. All numbers are shares; an interval is mean ± half_width, left out below 6 splits.
type heldOut struct {
	Items            int              `json:"items"`
	Similar          int              `json:"similar"`
	Dissimilar       int              `json:"dissimilar"`
	K                int              `json:"k"`
	TestShare        float64          `json:"test_share"`
	Seed             uint64           `json:"seed"`
	Train            []int            `json:"train_pairs"`
	Test             []int            `json:"test_pairs"`
	Dropped          []int            `json:"dropped_pairs"`
	Level            float64          `json:"level"`
	Learner          evaluatedVector  `json:"learner"`
	Euclidean        evaluatedVector  `json:"euclidean"`
	Cosine           evaluatedVector  `json:"cosine"`
	Raw              *evaluatedVector `json:"euclidean_raw,omitempty"` // of rows as they are, if they are scaled otherwise
	OverEuclidean    evaluatedVector  `json:"minus_euclidean"`
	OverCosine       evaluatedVector  `json:"minus_cosine"`
	AlwaysSimilar    evaluatedSplits  `json:"always_similar_error"`
	AlwaysDissimilar evaluatedSplits  `json:"always_dissimilar_error"`
	Notes            []string         `json:"notes"`
	Verdict          string           `json:"verdict"`
	IntervalFrom     string           `json:"interval"`
}

type evaluatedVector struct {
	AUC    evaluatedSplits `json:"auc"`
	Error  evaluatedSplits `json:"error"`
	Recall evaluatedSplits `json:"recall"`
}

type evaluatedSplits struct {
	evaluatedMean
	Splits []float64 `json:"splits"`
}

func heldOutJSON(name string, e *model.HeldOut, noted []string) heldOut {
	splits := func(s judge.Summary, values []float64) evaluatedSplits { return evaluatedSplits{meanJSON(s), values} }
	score := func(s *model.VectorScore) evaluatedVector {
		return evaluatedVector{splits(s.AUCSummary, s.AUC), splits(s.ErrorSummary, s.Error), splits(s.RecallSummary, s.Recall)}
	}
	out := heldOut{
		Items: e.Items, Similar: e.Similar, Dissimilar: e.Dissimilar,
		K: e.Plan.K, TestShare: e.Plan.Share, Seed: e.Plan.Seed, Train: e.Train, Test: e.Test, Dropped: e.Dropped, Level: 0.95,
		Learner: score(&e.Learner), Euclidean: score(&e.Euclidean), Cosine: score(&e.Cosine),
		OverEuclidean: score(&e.OverEuclidean), OverCosine: score(&e.OverCosine),
		AlwaysSimilar: splits(e.AlwaysSimilar.ErrorSummary, e.AlwaysSimilar.Error), AlwaysDissimilar: splits(e.AlwaysDissimilar.ErrorSummary, e.AlwaysDissimilar.Error),
		Notes: slices.Concat([]string{}, noted, e.Notes), Verdict: heldOutVerdict(name, e), IntervalFrom: "corrected resampled t (Nadeau and Bengio 2003)",
	}
	if e.Raw != nil {
		out.Raw = new(score(e.Raw))
	}
	return out
}
