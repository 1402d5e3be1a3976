package logdet2012

import (
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/gonum/floats"

	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

var divergenceViews = []experiment.View{
	{Name: "divergences", Title: "Error of nearest neighbours under four φ, c, α and τ chosen on training rows", Draw: drawn("errors", scaledResults, drawDivergences(settingChosen))},
	{Name: "divergences-fixed", Title: "Error of nearest neighbours under four φ, nothing chosen", Draw: drawn("errors", scaledResults, drawDivergences(settingFixed))},
	{Name: "spectra", Title: "Spectra of the learned W", Draw: drawn("spectra", scaledResults, drawSpectra)},
	{Name: "divergences-time", Title: "CPU time to the same KKT residual", DrawTimed: drawDivergenceTimes},
	{Name: "divergences-choices", Title: "What was chosen on the training folds, and fits that did not converge", Draw: experiment.WithEnds(drawn("choices", scaledResults, drawDivergenceChoices), divergenceChoices)},
}

// scaled are the data sets under one scaling of the features.
type scaled struct {
	features string
	sets     []results
}

func (s scaled) String() string { return "features " + describe[s.features] }

func scaledResults(t *table.Table) (out []scaled) {
	for _, features := range scalings {
		if all := divergenceResults(t, features); len(all) > 0 {
			out = append(out, scaled{features, all})
		}
	}
	return out
}

// divergenceProtocol describes data and settings in captions.
func divergenceProtocol(all []scaled) string {
	r := all[0].sets[0]
	data := "wine, ionosphere, balance-scale, iris and soybean-large (UCI)"
	if r.name == generatedLinear {
		data = "built-in, mixtures of Gaussians"
	}
	return fmt.Sprintf("Data: %s. Pairs as in fig1a: per class %.0f similar and %.0f dissimilar ones of training rows, or all there are, at squared distances of at most u and at least ℓ, the 1st and 99th percentile of the training rows, with slack that costs (c/2)·s². "+
		"The unit of length is such that the median squared distance of training rows is 1. k = %.0f neighbours. ", data, r.size(pairsPerClass), r.size(pairsPerClass), r.size(neighbours)) + foldsNote(r.t)
}

// chosenNote and fixedNote describe the settings.
const (
	chosenNote = "Each φ chooses by a two-fold cross-validation inside the training fold, the first of equals: c from 0.01 to 10 (features as they are: 0.1 to 100), with it α of Frobenius from 0 and 1, and τ of trace from 0.1, 1 and 10. "
	fixedNote  = "Nothing is chosen: c, α and τ are 1. "
)

func drawDivergences(setting string) func([]scaled) plots.Drawing {
	return func(all []scaled) plots.Drawing {
		methods := append([]string{euclidean}, phiNames...)
		d := plots.Drawing{Columns: 2, Text: &plots.TextTable{Head: append([]string{"data set", "error (%)"}, methods...)}}
		for _, s := range all {
			p := plots.Panel{Title: s.String(), XLabel: "test error (%)"}
			rows := make([][]string, len(s.sets)+1)
			for i, r := range s.sets {
				rows[i] = []string{r.name, s.String()}
			}
			rows[len(s.sets)] = []string{"mean of the data sets", s.String()}
			for k, method := range methods {
				mark := plots.Intervals{Name: method, Color: k - 1}
				if k == 0 {
					mark.Color = plots.Grey
				}
				for i, r := range s.sets {
					rows[i] = append(rows[i], addErrors(&mark, r.name, r.errors(method, setting)))
				}
				rows[len(s.sets)] = append(rows[len(s.sets)], summary(meanError(s.sets, method, setting)).Percent())
				p.Marks = append(p.Marks, mark)
			}
			d.Panels, d.Text.Rows = append(d.Panels, p), append(d.Text.Rows, rows...)
		}
		note := chosenNote
		if setting == settingFixed {
			note = fixedNote
		}
		d.Caption = plots.Caption{Shows: "Test error of the k nearest training rows under the W of each φ, and under the Euclidean distance. " + note + divergenceProtocol(all)}
		return d
	}
}

// leastShare is where eigenvalues below it, 0 among them, are drawn.
const leastShare = 1e-4

func drawSpectra(all []scaled) plots.Drawing {
	d := plots.Drawing{Columns: 2, Text: &plots.TextTable{Head: []string{"data set", "features", "order of W"}}}
	for _, name := range phiNames {
		d.Text.Head = append(d.Text.Head, name+": mean rank, fixed", "chosen")
	}
	for _, s := range all {
		for _, r := range s.sets {
			p := plots.Panel{Title: r.name + ", " + describe[s.features], XLabel: "eigenvalue number", YLabel: "share of the largest", YLog: true, YMin: leastShare / 2, YMax: 2}
			row := []string{r.name, describe[s.features], ""}
			for k, name := range phiNames {
				g := r.of("spectrum", name, settingFixed)
				if g.Len() == 0 {
					continue
				}
				rank, order := r.meanRank(name, settingFixed)
				chosen, _ := r.meanRank(name, settingChosen)
				row[2] = fmt.Sprintf("%.0f", order)
				row = append(row, fmt.Sprintf("%.1f", rank), fmt.Sprintf("%.1f", chosen))
				line := plots.Line{Name: name, Color: k, Dashed: name == phiTrace} // which may cover another
				p.Marks = append(p.Marks, spectrumLine(g, line, experiment.Whole("order of W", order, 1, mostFeatures)))
			}
			d.Panels, d.Text.Rows = append(d.Panels, p), append(d.Text.Rows, row)
		}
	}
	d.Caption = plots.Caption{Shows: "Eigenvalues of W, descending, as shares of the largest, with c, α and τ = 1: geometric means over folds and trials, with bands of their 95 % intervals (corrected as errors are). Shares below 10⁻⁴, zeros among them, are drawn there. The table has the mean rank, also with c, α and τ chosen on training rows. " + divergenceProtocol(all)}
	return d
}

// spectrumLine is the mean spectrum of the rows of a table.
func spectrumLine(g *table.Table, line plots.Line, order int) plots.Line {
	largest := g.Values("eigenvalue0")
	for k := range order {
		logs := make([]float64, g.Len())
		for i, v := range g.Values("eigenvalue" + strconv.Itoa(k)) {
			share := 0.0
			if largest[i] > 0 {
				share = v / largest[i]
			}
			logs[i] = math.Log(max(share, leastShare))
		}
		s := summary(logs)
		mean, half := s.Interval()
		line.X, line.Y = append(line.X, float64(k+1)), append(line.Y, math.Exp(mean))
		if s.HasInterval {
			line.Lo, line.Hi = append(line.Lo, max(math.Exp(mean-half), leastShare)), append(line.Hi, min(math.Exp(mean+half), 1))
		}
	}
	return line
}

func drawDivergenceTimes(t, times *table.Table) (plots.Drawing, error) {
	all := scaledResults(t)
	if len(all) == 0 {
		return plots.Missing("times"), nil
	}
	d := plots.Drawing{Columns: 2, Text: &plots.TextTable{Head: []string{"data set", "features", "φ", "fixed: CPU time (s)", "Newton steps", "at the cap", "chosen: CPU time (s)", "Newton steps", "choosing: CPU time (s)"}}}
	for _, s := range all {
		p := plots.Panel{Title: s.String(), XLabel: "CPU time of two fits (s)", XLog: true}
		for k, name := range phiNames {
			mark := plots.Intervals{Name: name, Color: k}
			for _, r := range s.sets {
				fixed := judge.Summarize(r.seconds(times, fitPhase(name, settingFixed)))
				mean, half := fixed.Interval()
				mark.Labels, mark.X, mark.Err = append(mark.Labels, r.name), append(mark.X, mean), append(mark.Err, half)
				stopped := r.of("stopped", name, settingFixed)
				d.Text.Rows = append(d.Text.Rows, []string{
					r.name, describe[s.features], name, secondsText(fixed), meanSteps(r, name, settingFixed),
					fmt.Sprintf("%.0f of %.0f", floats.Sum(stopped.Values("value")), floats.Sum(stopped.Values("of"))),
					secondsText(judge.Summarize(r.seconds(times, fitPhase(name, settingChosen)))), meanSteps(r, name, settingChosen),
					secondsText(judge.Summarize(r.seconds(times, choicePhase(name)))),
				})
			}
			p.Marks = append(p.Marks, mark)
		}
		d.Panels = append(d.Panels, p)
	}
	r := all[0].sets[0]
	d.Caption = plots.Caption{Shows: fmt.Sprintf("CPU time of one core, both folds of a trial, from λ = 0 to a KKT residual of 10⁻⁶, or to the cap of %.0f Newton steps. The figure has c, α and τ = 1, the same problem for all φ; the table also those chosen on training rows, and the inner cross-validation, to a residual of 10⁻² or 30 steps, with its neighbours. Means over trials with 95 %% t intervals. ",
		experiment.First(r.of("steps", phiLogDet, settingFixed), "of")) + divergenceProtocol(all)}
	return d, nil
}

// secondsText is a mean with its interval.
func secondsText(s judge.Summary) string {
	mean, half := s.Interval()
	if !s.HasInterval {
		return fmt.Sprintf("%.2g", mean)
	}
	return fmt.Sprintf("%.2g ± %.1g", mean, half)
}

// meanSteps is the mean number of Newton steps of a fit, as text.
func meanSteps(r results, name, setting string) string {
	g := r.of("steps", name, setting)
	return fmt.Sprintf("%.0f", floats.Sum(g.Values("value"))/float64(max(g.Len(), 1)))
}

func drawDivergenceChoices(all []scaled) plots.Drawing {
	text := &plots.TextTable{Head: append([]string{"data set", "features", "φ"}, choiceHead...)}
	for _, s := range all {
		for _, r := range s.sets {
			for _, name := range phiNames {
				text.Rows = append(text.Rows, append([]string{r.name, describe[s.features], name}, oldChoiceCells(r, name, settingChosen)...))
			}
		}
	}
	return plots.Drawing{Text: text, Caption: plots.Caption{Shows: "Errors of the candidates are means over trials and folds of the inner cross-validation, on half of the training rows each. " + chosenNote + "A fit in choosing that ends after 30 Newton steps before a residual of 10⁻², or at the end after 100 before 10⁻⁶, has not converged. " + divergenceProtocol(all)}}
}
