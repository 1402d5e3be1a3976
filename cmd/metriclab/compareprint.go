package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"metriclab/internal/atomicfile"
	"metriclab/internal/plural"
	"metriclab/pkg/limits"
	"metriclab/pkg/model"
	"metriclab/pkg/plots"
)

func (a *app) printComparison(f *compareFlags, q *comparison, on ready, r *model.Comparison) error {
	var b strings.Builder
	b.WriteString(on.about(r.Items))
	scaling := q.scaled
	if q.base.Raw {
		scaling = q.raw
	}
	if scaling != "" {
		scaling = "; " + scaling
	}
	fmt.Fprintf(&b, "%s%s; everything learned anew in each split\n", divided(r.Plan, &r.Facts), scaling)
	if r.Classes != nil {
		fmt.Fprintln(&b, describeKs(r.Plan.Ks))
	}
	if given := givenParams(q.plan.Params); given != "" {
		fmt.Fprintf(&b, "other parameters than the defaults: %s\n", given)
	}
	fmt.Fprintln(&b)
	if len(r.Ranked) > 0 {
		w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
		fmt.Fprintln(w, "learner\t"+r.Measure+" in %, 95 % interval\tminus the best\tp\tp (Holm)\tCPU time of a fit\tpeak memory\tof a fit, estimated")
		for i, e := range r.Ranked {
			minus := interval(e.Difference)
			if i == 0 {
				minus = "-"
			}
			peak := "-"
			if e.Peak > 0 {
				peak = limits.Size(e.Peak)
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", e.Recipe.Learner, interval(e.Score.Summary), minus, pValue(e.P), pValue(e.Holm), seconds(e.Fit), peak, limits.Size(e.Cost.Bytes))
		}
		if s := r.ByValidation; s != nil {
			fmt.Fprintf(w, "best by validation\t%s\t\t\t\t\t\t\n", interval(s.Summary))
		}
		w.Flush()
		fmt.Fprintln(&b)
	}
	if len(r.Chosen) > 0 {
		within := "folds of the training rows"
		if len(r.Classes) == 0 {
			within = "divisions of what is learned from"
		}
		fmt.Fprintf(&b, "Best by validation: %d %s chose %s.\n", r.Validation, within, chosenWords(r.Chosen))
	}
	for _, e := range r.Others {
		fmt.Fprintf(&b, "%s: %s: %s.\n", upperFirst(string(e.State)), e.Recipe.Learner, e.Reason)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "Note: %s.\n", n)
	}
	switch {
	case r.Err == nil:
	case errors.Is(r.Err, context.DeadlineExceeded):
		fmt.Fprintf(&b, "The time limit of %v ended the comparison.%s\n", f.limit, hintResume(f.resume))
	default:
		fmt.Fprintf(&b, "Interrupted.%s\n", hintResume(f.resume))
	}
	fmt.Fprintln(&b, advice(r))
	if f.figure != "" && len(r.Ranked) > 0 {
		fmt.Fprintf(&b, "plotted to %s\n", f.figure)
	}
	_, err := io.WriteString(a.out, b.String())
	return err
}

func hintResume(path string) string {
	if path == "" {
		return " --resume FILE would keep what is done."
	}
	return " The same command goes on from " + path + "."
}

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// chosenWords counts names: "fda in 30 splits, lmnn in 20".
func chosenWords(names []string) string {
	count := map[string]int{}
	for _, n := range names {
		count[n]++
	}
	order := slices.Compact(slices.Sorted(slices.Values(names)))
	slices.SortStableFunc(order, func(x, y string) int { return count[y] - count[x] })
	var parts []string
	for _, n := range order {
		parts = append(parts, fmt.Sprintf("%s in %s", n, plural.Of(count[n], "split")))
	}
	return strings.Join(parts, ", ")
}

// advice is the sentence on which learner to take.
func advice(r *model.Comparison) string {
	if len(r.Ranked) == 0 {
		return "No learner has finished."
	}
	best := r.Ranked[0].Recipe.Learner
	tied := r.Tied()
	take, ok := r.Take()
	switch {
	case len(r.Ranked) == 1:
		return fmt.Sprintf("Only %s has finished: there is nothing to compare it with.", best)
	case !ok:
		return fmt.Sprintf("Too few splits to compare; %s has the least error on these.", best)
	case len(tied) == 1:
		return fmt.Sprintf("Take %s: it is better than each other at a level of 0.05, corrected for their number.", best)
	}
	var others []string
	for _, e := range tied[1:] {
		others = append(others, e.Recipe.Learner)
	}
	from := strings.Join(others, ", ")
	if len(tied) == len(r.Ranked) && len(others) > 1 {
		from = "any other"
	}
	data := "rows"
	if len(r.Classes) == 0 {
		data = "data"
	}
	s := fmt.Sprintf("These %s do not tell %s from %s. ", data, best, from)
	switch take.Recipe.Learner {
	case model.Euclidean, model.EuclideanRaw, model.Cosine:
		return s + fmt.Sprintf("Take %s: nothing needs to be learned.", take.Recipe.Learner)
	case best:
		return s + fmt.Sprintf("Take %s: it has the least error and is the cheapest of these.", best)
	}
	return s + fmt.Sprintf("Take %s, the cheapest of these, by estimate.", take.Recipe.Learner)
}

// drawComparison renders the errors.
func drawComparison(path, name string, r *model.Comparison) error {
	files, err := r.Drawing(name).Render("compare", plots.Options{})
	if err != nil {
		return err
	}
	ending := strings.ToLower(filepath.Ext(path))
	for _, f := range files {
		if f.Name == "compare"+ending {
			return atomicfile.Write(path, f.Data)
		}
	}
	return nil
}

// compared is the JSON of compare. Errors are shares; p-values are null where there is no test.
type compared struct {
	factsJSON
	Measure      string            `json:"measure"` // of which errors are shares
	Validation   int               `json:"validation_folds"`
	Ranked       []comparedLearner `json:"ranked"`
	ByValidation *scoreJSON        `json:"best_by_validation"`
	Chosen       []string          `json:"chosen_by_validation"` // in each split
	Others       []comparedOther   `json:"others"`
	Take         string            `json:"take"`
	Tied         []string          `json:"tied"`
	Complete     bool              `json:"complete"` // neither time limit nor interrupt ended it
	Advice       string            `json:"advice"`
}

type comparedLearner struct {
	Recipe model.Recipe `json:"recipe"`
	scoreJSON
	Difference meanJSON `json:"minus_best"`
	P          *float64 `json:"p"`
	Holm       *float64 `json:"p_holm"`
	FitSeconds float64  `json:"fit_cpu_seconds"`
	FitBytes   int64    `json:"fit_bytes_estimated"`
	PeakBytes  int64    `json:"peak_bytes"` // of the process, for the splits that ran at a time; 0 if not measured
}

type comparedOther struct {
	Learner string      `json:"learner"`
	State   model.State `json:"state"`
	Reason  string      `json:"reason"`
}

func (a *app) comparisonJSON(on ready, r *model.Comparison) compared {
	number := func(p float64) *float64 {
		if math.IsNaN(p) {
			return nil
		}
		return &p
	}
	out := compared{
		factsJSON: a.factsJSON(on, &r.Facts, r.Plan), Measure: r.Measure, Validation: r.Validation,
		Ranked: []comparedLearner{}, Chosen: append([]string{}, r.Chosen...), Others: []comparedOther{}, Tied: []string{}, Complete: r.Err == nil, Advice: advice(r),
	}
	for _, e := range r.Ranked {
		out.Ranked = append(out.Ranked, comparedLearner{e.Recipe, scoreOf(e.Score), meanOf(e.Difference), number(e.P), number(e.Holm), e.Fit, e.Cost.Bytes, e.Peak})
	}
	if s := r.ByValidation; s != nil {
		out.ByValidation = new(scoreOf(*s))
	}
	for _, e := range r.Others {
		out.Others = append(out.Others, comparedOther{e.Recipe.Learner, e.State, e.Reason})
	}
	if take, ok := r.Take(); ok {
		out.Take = take.Recipe.Learner
	}
	for _, e := range r.Tied() {
		out.Tied = append(out.Tied, e.Recipe.Learner)
	}
	return out
}
