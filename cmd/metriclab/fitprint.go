package main

import (
	"fmt"
	"slices"
	"strings"

	"metriclab/internal/plural"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/ltkernel"
	"metriclab/pkg/model"
)

// mapped are coordinates of objects that were written.
type mapped struct {
	dim          int
	share, wrong float64
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
	Dim           int                 `json:"dim,omitempty"`
	Dims          []int               `json:"dims_tried,omitempty"`
	DimErrors     []float64           `json:"dims_held_out_error,omitempty"`
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
		Dim: rep.Dim, Dims: rep.Dims, DimErrors: rep.DimErrors,
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
	share := "a fifth"
	if rep.Dim > 0 {
		share = "fifths"
	}
	if rep.DimErrors != nil {
		b.WriteString("dimension, and error on held-out questions in %:")
		for i, d := range rep.Dims {
			fmt.Fprintf(&b, "  %d: %.2f", d, 100*rep.DimErrors[i])
		}
		fmt.Fprintf(&b, "\ndim=%d, the smallest within a standard error of the best\n", rep.Dim)
	}
	say(rep.Dims != nil && rep.DimErrors == nil, "dim=%d: too few questions to choose it", rep.Dim)
	say(rep.TauChosen, "tau=%g, chosen on %s of the questions", rep.Tau, share)
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
		what := "learned kernel contradicts"
		switch {
		case rep.Dim == 1:
			what = "fitted coordinate contradicts"
		case rep.Dim > 1:
			what = fmt.Sprintf("%d fitted coordinates contradict", rep.Dim)
		}
		say(true, "the %s %.2f %% of the comparisons that it was learned from; metriclab evaluate tells of others", what, 100*rep.Error)
	case *model.Gram:
		if s := rep.Solution; s != nil {
			a.printSolution(&b, m, on)
		}
	}
	b.WriteString(embeds(m))
	say(f.model != "", "written to %s", f.model)
	say(f.kernel != "", "learned kernel written to %s", f.kernel)
	if made != nil {
		shows := fmt.Sprintf(", which show %.3g %% of the spread", 100*made.share)
		if made.dim == rep.Dim {
			shows = ""
		}
		say(true, "%s per object%s, written to %s; they contradict %.2f %% of the comparisons", plural.Of(made.dim, "coordinate"), shows, f.coordinates, 100*made.wrong)
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
