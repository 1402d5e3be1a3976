package logdet2012

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

var reductionViews = []experiment.View{
	{Name: "reduction", Title: "Error of a reduced kernel against the columns of J", Draw: drawn("reduced fits", reducedResults, drawReduction)},
	{Name: "reduction-time", Title: "Time of a reduced fit against the columns of J", DrawTimed: drawReductionTimes},
}

// reduced are the rows of one data set and φ.
type reduced struct {
	name string
	t    *table.Table
}

func reducedResults(t *table.Table) (out []reduced) {
	for name, g := range t.Group("cell") {
		out = append(out, reduced{name, withAll(g)})
	}
	return out
}

// allColumns is the k of a J with all columns that its kind can have, whose number differs by trial: a row drawn for pairs may get none.
const allColumns = "all"

// withAll returns the rows of one cell in which k is allColumns where it is the largest of a trial, of kinds of J with a largest one.
func withAll(g *table.Table) *table.Table {
	most := map[[2]string]int{}
	ends := []string{fitKernel, noReduction, jConstrained}
	out := table.New(g.IndexNames(), g.ValueNames())
	for pass := range 2 {
		for i := range g.Len() {
			key, values := g.Row(i)
			if at := [2]string{key["trial"], key["J"]}; slices.Contains(ends, key["J"]) {
				k := columnsIn(key["k"])
				if pass == 0 {
					most[at] = max(most[at], k)
				} else if k == most[at] {
					key["k"] = allColumns
				}
			}
			if pass == 1 {
				out.Add(key, values)
			}
		}
	}
	return out
}

// columnsIn reads a number of columns.
func columnsIn(text string) int {
	k, err := strconv.Atoi(text)
	if err != nil {
		judge.Refuse("logdet2012: k: %w", err)
	}
	return k
}

// of returns the rows of a kind, J and number of columns, one per trial.
func (r reduced) of(kind, j, k string) *table.Table { return r.t.Where("kind", kind, "J", j, "k", k) }

// ks are the numbers of columns of a kind of J, ascending, allColumns last.
func (r reduced) ks(j string) []string {
	out := r.t.Where("kind", "objective", "J", j).Unique("k")
	size := func(k string) int {
		if k == allColumns {
			return math.MaxInt
		}
		return columnsIn(k)
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Compare(size(a), size(b)) })
	return out
}

// columns are the numbers of columns, by trial.
func (r reduced) columns(j, k string) []float64 { return r.of("rank", j, k).Values("of") }

// excess are the objectives above that of FitKernel, as shares of it, by trial.
func (r reduced) excess(j, k string) []float64 {
	g := r.of("objective", j, k)
	out := make([]float64, g.Len())
	for i, v := range g.Values("value") {
		out[i] = excess(v, g.Values("of")[i])
	}
	return out
}

// errors are the shares of test rows that are wrong, by trial.
func (r reduced) errors(j, k string) []float64 { return shares(r.of("wrong", j, k)) }

// seconds are the CPU times of a fit, by trial.
func (r reduced) seconds(times *table.Table, j, k string) []float64 {
	g := r.of("rank", j, k)
	out := make([]float64, g.Len())
	for i, trial := range g.Index("trial") {
		phase := reductionPhase(j, experiment.Whole("columns of J", g.Values("of")[i], 1, math.MaxInt32))
		spent := times.Where("cell", r.name, "trial", trial, "phase", phase).Values("cpu_s")
		if len(spent) != 1 {
			judge.Refuse("logdet2012: %s, trial %s: %d times of phase %q, want 1", r.name, trial, len(spent), phase)
		}
		out[i] = max(spent[0], leastSeconds)
	}
	return out
}

// splits says that the values are differences of errors on random halves of the same data.
var splits = judge.Rule{Scale: 100, Unit: "points", TestRatio: testRatio}

func reductionNote(all []reduced) string {
	r := all[0]
	size := func(r reduced, what string) float64 {
		return experiment.First(r.t.Where("kind", "size", "at", what), "value")
	}
	var sizes []string
	for _, r := range all {
		sizes = append(sizes, fmt.Sprintf("%s: %.0f training rows, %.0f with pairs, %.0f pairs", r.name, size(r, trainRows), size(r, constrainedRows), size(r, pairsGiven)))
	}
	text := ""
	for _, s := range sizes {
		text += s + "; "
	}
	return text + "standardised features, Gaussian kernel with σ² = the median squared distance, scaled so that the median squared distance in the kernel's space is 1; u and ℓ its 1st and 99th percentile; slack costs ½s²; τ of trace is 1. " +
		fmt.Sprintf("Means over %d trials, each a random half of the rows for training, with 95 %% t intervals; those of errors are corrected for training sets that overlap (Nadeau and Bengio 2003).", len(r.t.Unique("trial")))
}

// lineOf draws values against the columns of J.
func (r reduced) lineOf(style plots.Line, j string, values func(k string) judge.Summary, scale float64) plots.Line {
	for _, k := range r.ks(j) {
		s := values(k)
		mean, half := s.Interval()
		style.X, style.Y = append(style.X, judge.Summarize(r.columns(j, k)).Mean), append(style.Y, scale*mean)
		if s.HasInterval {
			style.Lo, style.Hi = append(style.Lo, scale*max(mean-half, 0)), append(style.Hi, scale*(mean+half))
		}
	}
	return style
}

// columnsText tells a number of columns.
func (r reduced) columnsText(j, k string) string {
	if k != allColumns {
		return k
	}
	return fmt.Sprintf("all, %.1f", judge.Summarize(r.columns(j, k)).Mean)
}

func drawReduction(all []reduced) plots.Drawing {
	d := plots.Drawing{Columns: 2, Text: &plots.TextTable{Head: []string{"data set, φ", "J", "k", "independent", "objective above the exact one (%)", "test error (%)"}}}
	for _, r := range all {
		over := plots.Panel{Title: r.name, XLabel: "columns k of J", YLabel: "excess objective (%)", XLog: true}
		wrong := plots.Panel{Title: r.name, XLabel: "columns k of J", YLabel: "test error (%)", XLog: true}
		for c, j := range append([]string{fitKernel, noReduction}, jNames...) {
			for _, k := range r.ks(j) {
				rank := judge.Summarize(r.of("rank", j, k).Values("value"))
				d.Text.Rows = append(d.Text.Rows, []string{r.name, j, r.columnsText(j, k), fmt.Sprintf("%.1f", rank.Mean),
					judge.Summarize(r.excess(j, k)).Percent(), judge.SummarizeResampled(r.errors(j, k), testRatio).Percent()})
			}
			if c >= 2 {
				over.Marks = append(over.Marks, r.lineOf(plots.Line{Name: j, Color: c - 2}, j, func(k string) judge.Summary { return judge.Summarize(r.excess(j, k)) }, 100))
				wrong.Marks = append(wrong.Marks, r.lineOf(plots.Line{Name: j, Color: c - 2}, j, func(k string) judge.Summary { return judge.SummarizeResampled(r.errors(j, k), testRatio) }, 100))
			}
		}
		d.Text.Rows = append(d.Text.Rows, []string{r.name, euclidean, "", "", "", judge.SummarizeResampled(r.errors(euclidean, "0"), testRatio).Percent()})
		wrong.Marks = append(wrong.Marks,
			plots.Reference{Name: "exact (" + fitKernel + ")", At: 100 * judge.Summarize(r.errors(fitKernel, allColumns)).Mean, Color: 3},
			plots.Reference{Name: "nothing learned", At: 100 * judge.Summarize(r.errors(euclidean, "0")).Mean, Color: plots.Grey})
		d.Panels = append(d.Panels, over, wrong)
	}
	d.Caption = plots.Caption{Shows: "Left: how far the objective of the best K = αK₀ + K₀JLJᵀK₀ lies above that without a reduction. Right: test error of 10 nearest neighbours. J is of random normal numbers, of indicators of k clusters, or of indicators of k of the constrained points, of which all make the reduction exact. " + reductionNote(all)}
	return d
}

func drawReductionTimes(t, times *table.Table) (plots.Drawing, error) {
	all := reducedResults(t)
	if len(all) == 0 {
		return plots.Missing("reduced fits"), nil
	}
	d := plots.Drawing{Columns: 2, Text: &plots.TextTable{Head: []string{"data set, φ", "J", "k", "CPU time (s)", "Newton steps"}}}
	for _, r := range all {
		p := plots.Panel{Title: r.name, XLabel: "columns k of J", YLabel: "CPU time (s)", XLog: true, YLog: true}
		for c, j := range append([]string{fitKernel, noReduction}, jNames...) {
			for _, k := range r.ks(j) {
				s := judge.Summarize(r.seconds(times, j, k))
				d.Text.Rows = append(d.Text.Rows, []string{r.name, j, r.columnsText(j, k), secondsText(s), fmt.Sprintf("%.0f", judge.Summarize(r.of("steps", j, k).Values("value")).Mean)})
			}
			at := func(k string) judge.Summary { return judge.Summarize(r.seconds(times, j, k)) }
			if c >= 2 {
				p.Marks = append(p.Marks, r.lineOf(plots.Line{Name: j, Color: c - 2}, j, at, 1))
			} else {
				p.Marks = append(p.Marks, plots.Reference{Name: j, At: at(allColumns).Mean, Color: 3 + c})
			}
		}
		d.Panels = append(d.Panels, p)
	}
	d.Caption = plots.Caption{Shows: "CPU time of one core to make J and to fit, to a KKT residual of 10⁻⁶ or 150 Newton steps. " + fitKernel + " leaves out the objects without pairs by itself, which is the reduction by indicators of the constrained points; the line of " + noReduction + " keeps all training rows. FitReduced checks the whole K₀, FitKernel its part. " + reductionNote(all)}
	return d, nil
}
