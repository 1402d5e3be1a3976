package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"metriclab/internal/plural"
	"metriclab/pkg/judge"
	"metriclab/pkg/model"
)

// divided says how the data were divided.
func divided(p model.Plan, e *model.Facts) string {
	switch {
	case p.Share > 0:
		what := plural.Of(0, noun(e))[2:]
		return fmt.Sprintf("%s, %.3g %% of the items held out, seed %d; on average %.0f %s to learn from, %.0f held out, %.0f across dropped",
			plural.Of(e.Planned, "split"), 100*p.Share, p.Seed, average(e.Train), what, average(e.Test), average(e.Dropped))
	case noun(e) == "judgement":
		return fmt.Sprintf("%d x %d-fold cross-validation over queries, whose documents are known, seed %d", p.Repeats, p.Folds, p.Seed)
	case e.Classes == nil && e.Train != nil:
		return fmt.Sprintf("%d x %d-fold cross-validation over questions, whose items are known on both sides, seed %d", p.Repeats, p.Folds, p.Seed)
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
	chose := slices.ContainsFunc(e.Methods, func(m model.Method) bool { return m.Scores[0].Chosen != nil }) && (e.Choice != "tau" || e.Recipe.Params["tau"] == "auto")
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
	Judgements   int            `json:"judgements,omitempty"`
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
	case "judgement":
		out.Judgements = e.Known
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

// noun is that of what is known of the items; "" of classes.
func noun(e *model.Facts) string {
	switch {
	case e.Known == 0:
		return ""
	case e.Measures[0].Name == model.MeasureTriplets:
		return "comparison"
	case e.Measures[0].Name == model.MeasureNDCG:
		return "judgement"
	}
	return "pair"
}
