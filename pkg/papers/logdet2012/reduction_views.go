package logdet2012

import (
	"fmt"
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
		out = append(out, reduced{name, g})
	}
	return out
}

// of returns the rows of a kind, J and number of columns, one per trial.
func (r reduced) of(kind, j string, k int) *table.Table {
	return r.t.Where("kind", kind, "J", j, "k", strconv.Itoa(k))
}

// ks are the numbers of columns of a kind of J, ascending.
func (r reduced) ks(j string) []int {
	var out []int
	for _, text := range r.t.Where("kind", "objective", "J", j).Unique("k") {
		k, err := strconv.Atoi(text)
		if err != nil {
			judge.Refuse("logdet2012: k: %w", err)
		}
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// only is the single number of columns of a kind of J.
func (r reduced) only(j string) int {
	ks := r.ks(j)
	if len(ks) != 1 {
		judge.Refuse("logdet2012: %s: %s has %d numbers of columns, want 1", r.name, j, len(ks))
	}
	return ks[0]
}

// excess are the objectives above that of FitKernel, as shares of it, by trial.
func (r reduced) excess(j string, k int) []float64 {
	g := r.of("objective", j, k)
	out := make([]float64, g.Len())
	for i, v := range g.Values("value") {
		out[i] = excess(v, g.Values("of")[i])
	}
	return out
}

// errors are the shares of test rows that are wrong, by trial.
func (r reduced) errors(j string, k int) []float64 { return shares(r.of("wrong", j, k)) }

// seconds are the CPU times of a fit, by trial.
func (r reduced) seconds(times *table.Table, j string, k int) []float64 {
	return results{name: r.name, t: r.t}.seconds(times, reductionPhase(j, k))
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
func (r reduced) lineOf(style plots.Line, j string, values func(k int) judge.Summary, scale float64) plots.Line {
	for _, k := range r.ks(j) {
		s := values(k)
		mean, half := s.Interval()
		style.X, style.Y = append(style.X, float64(k)), append(style.Y, scale*mean)
		if s.HasInterval {
			style.Lo, style.Hi = append(style.Lo, scale*max(mean-half, 0)), append(style.Hi, scale*(mean+half))
		}
	}
	return style
}

func drawReduction(all []reduced) plots.Drawing {
	d := plots.Drawing{Columns: 2, Text: &plots.TextTable{Head: []string{"data set, φ", "J", "k", "independent", "objective above the exact one (%)", "test error (%)"}}}
	for _, r := range all {
		over := plots.Panel{Title: r.name, XLabel: "columns k of J", YLabel: "excess objective (%)", XLog: true}
		wrong := plots.Panel{Title: r.name, XLabel: "columns k of J", YLabel: "test error (%)", XLog: true}
		exact := r.only(fitKernel)
		for c, j := range append([]string{fitKernel, noReduction}, jNames...) {
			for _, k := range r.ks(j) {
				rank := judge.Summarize(r.of("rank", j, k).Values("value"))
				d.Text.Rows = append(d.Text.Rows, []string{r.name, j, strconv.Itoa(k), fmt.Sprintf("%.1f", rank.Mean),
					judge.Summarize(r.excess(j, k)).Percent(), judge.SummarizeResampled(r.errors(j, k), testRatio).Percent()})
			}
			if c >= 2 {
				over.Marks = append(over.Marks, r.lineOf(plots.Line{Name: j, Color: c - 2}, j, func(k int) judge.Summary { return judge.Summarize(r.excess(j, k)) }, 100))
				wrong.Marks = append(wrong.Marks, r.lineOf(plots.Line{Name: j, Color: c - 2}, j, func(k int) judge.Summary { return judge.SummarizeResampled(r.errors(j, k), testRatio) }, 100))
			}
		}
		d.Text.Rows = append(d.Text.Rows, []string{r.name, euclidean, "", "", "", judge.SummarizeResampled(r.errors(euclidean, 0), testRatio).Percent()})
		wrong.Marks = append(wrong.Marks,
			plots.Reference{Name: "exact (" + fitKernel + ")", At: 100 * judge.Summarize(r.errors(fitKernel, exact)).Mean, Color: 3},
			plots.Reference{Name: "nothing learned", At: 100 * judge.Summarize(r.errors(euclidean, 0)).Mean, Color: plots.Grey})
		d.Panels = append(d.Panels, over, wrong)
	}
	d.Caption = "Left: how far the objective of the best K = αK₀ + K₀JLJᵀK₀ lies above that without a reduction. Right: test error of 10 nearest neighbours. J is of random normal numbers, of indicators of k clusters, or of indicators of k of the constrained points, of which all make the reduction exact. " + reductionNote(all)
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
				d.Text.Rows = append(d.Text.Rows, []string{r.name, j, strconv.Itoa(k), secondsText(s), fmt.Sprintf("%.0f", judge.Summarize(r.of("steps", j, k).Values("value")).Mean)})
			}
			at := func(k int) judge.Summary { return judge.Summarize(r.seconds(times, j, k)) }
			if c >= 2 {
				p.Marks = append(p.Marks, r.lineOf(plots.Line{Name: j, Color: c - 2}, j, at, 1))
			} else {
				p.Marks = append(p.Marks, plots.Reference{Name: j, At: at(r.only(j)).Mean, Color: 3 + c})
			}
		}
		d.Panels = append(d.Panels, p)
	}
	d.Caption = "CPU time of one core to make J and to fit, to a KKT residual of 10⁻⁶ or 150 Newton steps. " + fitKernel + " leaves out the objects without pairs by itself, which is the reduction by indicators of the constrained points; the line of " + noReduction + " keeps all training rows. FitReduced checks the whole K₀, FitKernel its part. " + reductionNote(all)
	return d, nil
}
