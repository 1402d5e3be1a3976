package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"metriclab/internal/plural"
	"metriclab/pkg/judge"
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

// add adds the flags. limit is the time limit by default, said by so many words.
func (f *planFlags) add(c *cobra.Command, sample *int, limit time.Duration) {
	byDefault := model.Plan{}.Resolved()
	c.Flags().IntSliceVar(&f.ks, "k", byDefault.Ks, "numbers of neighbours, separated by commas; of several, each split takes its best; of pairs one number, 10 by default")
	c.Flags().IntVar(&f.folds, "folds", byDefault.Folds, "parts of a cross-validation, from 2 to the number of rows, objects or questions")
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
		Long: "Learn from a part of the data, judge by the other, again and again. The problems:\n" + usages("constraints") + `
classes        folds of the rows or objects are classified by their nearest neighbours
pairs, chunklets, comparisons of vectors   items are held out, and all that is known of them
comparisons alone   folds of questions are held out: an object and two to compare with it

In each split everything is learned anew: the means of missing cells, the scales, the pairs
and the metric. Of several --k each split takes the one with the fewest errors when its
training rows are classified with one left out, for each distance separately. --model takes
columns and recipe from a fitted model of a table, never its metric, which may have seen the
test rows.

AUC is how often a similar pair is nearer than a dissimilar one; the error is the share of
pairs on the wrong side of the threshold that is best on the training pairs; the recall is
the share of the held-out items similar to one that is among its --k nearest ones. The triplet
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
	var progress model.Progress
	var inside func(split, done, total int)
	end := func() {}
	plan.Estimated = func(seconds float64) error { return a.agree(ctx, "an evaluation of "+recipe.Learner, seconds) }
	plan.Progress = func(done, total int) {
		if progress == nil { // after the estimate, which may ask
			progress, inside, end = a.insideSplits(ctx, total)
		}
		progress(done, total)
	}
	plan.Inside = func(split, done, total int) {
		if inside != nil {
			inside(split, done, total)
		}
	}
	e, err := atOnce(ctx, func() (*model.Evaluation, error) { return model.Evaluate(ctx, on.problem, recipe, plan) })
	end()
	if err != nil {
		return tableError(err)
	}
	if asJSON {
		return a.printJSON(a.evaluationJSON(on, e))
	}
	return a.printEvaluation(q, on, e)
}

// divided says how the data were divided.
func divided(p model.Plan, e *model.Facts) string {
	switch {
	case p.Share > 0:
		what := plural.Of(0, noun(e))[2:]
		return fmt.Sprintf("%s, %.3g %% of the items held out, seed %d; on average %.0f %s to learn from, %.0f held out, %.0f across dropped",
			plural.Of(e.Planned, "split"), 100*p.Share, p.Seed, average(e.Train), what, average(e.Test), average(e.Dropped))
	case e.Classes == nil:
		return fmt.Sprintf("%d x %d-fold cross-validation over questions, seed %d", p.Repeats, p.Folds, p.Seed)
	}
	return fmt.Sprintf("%d x %d-fold stratified cross-validation, seed %d", p.Repeats, p.Folds, p.Seed)
}

// printEvaluation prints what was found: a row for each method, a column for each measure.
func (a *app) printEvaluation(q *posed, on ready, e *model.Evaluation) error {
	var b strings.Builder
	b.WriteString(on.about(e.Items))
	b.WriteString(q.describe(e.Recipe))
	if e.Plan.Dim > 0 {
		fmt.Fprintf(&b, "; distances in %s", plural.Of(e.Plan.Dim, "dimension"))
	}
	fmt.Fprintf(&b, "\n%s; everything learned anew in each split\n", divided(e.Plan, &e.Facts))
	if e.Classes != nil {
		fmt.Fprintln(&b, describeKs(e.Plan.Ks))
	}
	fmt.Fprintln(&b)
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	head := []string{"distance"}
	for k, m := range e.Measures {
		title := m.Name + " in %"
		if m.Name == model.MeasureRecall {
			title = fmt.Sprintf("recall at %d in %%", e.Plan.Ks[0])
		}
		if k == 0 {
			title += ", 95 % interval"
		}
		head = append(head, title)
	}
	chose := slices.ContainsFunc(e.Methods, func(m model.Method) bool { return m.Scores[0].Chosen != nil }) && (e.Choice == "k" || e.Recipe.Params["tau"] == "auto")
	if chose {
		head = append(head, e.Choice+" taken")
	}
	fmt.Fprintln(w, strings.Join(head, "\t"))
	row := func(name string, m model.Method) {
		cells := []string{name}
		for _, s := range m.Scores {
			cell := ""
			if s.Values != nil {
				cell = interval(s.Summary)
			}
			cells = append(cells, cell)
		}
		if chose && m.Scores[0].Chosen != nil {
			cells = append(cells, taken(m.Scores[0].Chosen))
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	at := 0
	for i, m := range e.Methods {
		row(m.Title(), m)
		if m.Name == e.Recipe.Learner {
			at = i
		}
	}
	for _, m := range e.Over {
		row(e.Methods[at].Name+" minus "+m.Title(), m)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	b.WriteString("\n")
	printNotes(&b, e.Notes)
	fmt.Fprintln(&b, e.Verdict())
	_, err := fmt.Fprint(a.out, b.String())
	return err
}

// factsJSON is what evaluate and compare say of the data; what does not apply is left out.
type factsJSON struct {
	Schema       int            `json:"schema"`
	Data         string         `json:"data"`
	Problem      string         `json:"problem"`
	Rows         int            `json:"rows,omitempty"`  // of a table
	Items        int            `json:"items,omitempty"` // that are divided
	Features     int            `json:"features,omitempty"`
	Classes      map[string]int `json:"classes,omitempty"`
	Pairs        int            `json:"pairs,omitempty"`
	Similar      int            `json:"similar,omitempty"`
	Dissimilar   int            `json:"dissimilar,omitempty"`
	Comparisons  int            `json:"comparisons,omitempty"`
	Questions    int            `json:"questions,omitempty"`
	Contradicted *int           `json:"contradicted,omitempty"` // questions answered both ways
	Outvoted     *int           `json:"outvoted,omitempty"`     // answers that any distances contradict
	Counts       map[string]int `json:"counts,omitempty"`
	Plan         planJSON       `json:"plan"`
	Level        float64        `json:"level"`
	Interval     string         `json:"interval"`
	Notes        []string       `json:"notes"`
}

type planJSON struct {
	Folds     int     `json:"folds,omitempty"`
	Repeats   int     `json:"repeats"`
	TestShare float64 `json:"test_share,omitempty"`
	Dim       int     `json:"dim,omitempty"`
	Ks        []int   `json:"ks,omitempty"`
	Seed      uint64  `json:"seed"`
	Splits    int     `json:"splits"` // made
	Of        int     `json:"of"`     // planned
	Train     []int   `json:"train,omitempty"`
	Test      []int   `json:"test,omitempty"`
	Dropped   []int   `json:"dropped,omitempty"`
}

func (a *app) factsJSON(on ready, e *model.Facts, p model.Plan) factsJSON {
	out := factsJSON{
		Schema: schema, Data: on.name, Problem: on.problem.String(), Rows: e.Rows, Items: e.Items, Features: e.Features, Similar: e.Similar, Counts: on.counts,
		Plan:  planJSON{p.Folds, p.Repeats, p.Share, p.Dim, p.Ks, p.Seed, e.Made, e.Planned, e.Train, e.Test, e.Dropped},
		Level: 0.95, Interval: "corrected resampled t (Nadeau and Bengio 2003)", Notes: slices.Concat([]string{}, a.noted, e.Notes),
	}
	if on.data != nil {
		out.Rows, _ = on.data.Dims()
	}
	for i, c := range e.Classes {
		if out.Classes == nil {
			out.Classes = map[string]int{}
		}
		out.Classes[c] = e.Counts[i]
	}
	switch noun(e) {
	case "pair":
		out.Pairs, out.Dissimilar = e.Known, e.Known-e.Similar
	case "comparison":
		out.Comparisons = e.Known
	}
	if g := e.Agreement; g != nil {
		out.Questions, out.Contradicted, out.Outvoted = g.Questions, &g.Contradicted, &g.Outvoted
	}
	return out
}

// evaluated is the JSON of evaluate. Values are shares.
type evaluated struct {
	factsJSON
	Recipe      model.Recipe  `json:"recipe"`
	Measures    []measureJSON `json:"measures"` // the verdict is about the first
	Learner     string        `json:"learner"`
	Methods     []methodJSON  `json:"methods"`
	Differences []methodJSON  `json:"learner_minus"`
	Verdict     string        `json:"verdict"`
}

type measureJSON struct {
	Name string `json:"name"`
	Less bool   `json:"less_is_better"`
}

type methodJSON struct {
	Name   string               `json:"name"`
	Scores map[string]scoreJSON `json:"scores"` // by measure
}

// meanJSON is a mean with its interval, mean ± half_width, which is left out below 6 splits.
type meanJSON struct {
	Mean float64  `json:"mean"`
	Half *float64 `json:"half_width,omitempty"`
}

type scoreJSON struct {
	meanJSON
	Splits []float64 `json:"splits"`
	Chosen []float64 `json:"chosen,omitempty"` // k or tau, in each split
}

func meanOf(s judge.Summary) meanJSON {
	if !s.HasInterval || math.IsNaN(s.Half) {
		return meanJSON{Mean: s.Mean}
	}
	return meanJSON{s.Mean, new(s.Half)}
}

func scoreOf(s model.Score) scoreJSON { return scoreJSON{meanOf(s.Summary), s.Values, s.Chosen} }

func (a *app) evaluationJSON(on ready, e *model.Evaluation) evaluated {
	methods := func(all []model.Method) []methodJSON {
		out := []methodJSON{}
		for _, m := range all {
			j := methodJSON{m.Name, map[string]scoreJSON{}}
			for k, s := range m.Scores {
				if s.Values != nil {
					j.Scores[e.Measures[k].Name] = scoreOf(s)
				}
			}
			out = append(out, j)
		}
		return out
	}
	out := evaluated{factsJSON: a.factsJSON(on, &e.Facts, e.Plan), Recipe: e.Recipe, Learner: e.Recipe.Learner, Methods: methods(e.Methods), Differences: methods(e.Over), Verdict: e.Verdict()}
	for _, m := range e.Measures {
		out.Measures = append(out.Measures, measureJSON{m.Name, m.Less})
	}
	return out
}
