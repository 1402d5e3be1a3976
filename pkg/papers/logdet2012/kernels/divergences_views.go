package kernels

import (
	"cmp"
	"fmt"
	"math"
	"strconv"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/papers/logdet2012/protocol"
	"metriclab/pkg/papers/logdet2012/vectors"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

var divergenceViews = []experiment.View{
	{Name: "divergences", Title: "Error of nearest neighbours under four φ, c, α and τ chosen on training rows", Draw: divergenceErrors(settingChosen, chosenNote).Draw},
	{Name: "divergences-fixed", Title: "Error of nearest neighbours under four φ, nothing chosen", Draw: divergenceErrors(settingFixed, fixedNote).Draw},
	{Name: "spectra", Title: "Spectra of the learned W", Draw: frame.View{
		From: scaled, Columns: 2, Missing: "spectra",
		Panels: frame.PerGroup(func(cells []string) frame.Panel {
			p := frame.Panel{Panel: plots.Panel{Title: cells[1] + ", " + cells[0], XLabel: "eigenvalue number", YLabel: "share of the largest", YLog: true, YMin: leastShare / 2, YMax: 2}}
			for _, name := range phiNames {
				p.Of = append(p.Of, spectrum(phiStyles.Line(name)).Where("kind", "spectrum", "method", name, "setting", settingFixed))
			}
			return p
		}, "scaling", "data set"),
		Text: &frame.Text{By: []string{"scaling", "", "data set", "data set"}, Cells: rankCells()},
		Caption: vectors.Shown("Eigenvalues of W, descending, as shares of the largest, with c, α and τ = 1: geometric means over folds and trials. Shares below 10⁻⁴, zeros among them, are shown there. The table has the mean rank, also with c, α and τ chosen on training rows.",
			divergenceProtocol),
	}.Draw},
	{Name: "divergences-time", Title: "CPU time to the same KKT residual", DrawTimed: frame.DrawTimed(phiPhase, frame.View{
		From: scaled.Then(frame.Only("method", phiNames...)), Columns: 2, Missing: "times",
		Panels: frame.PerGroup(func(by []string) frame.Panel {
			p := frame.Panel{Panel: plots.Panel{Title: "features " + by[0], XLabel: "CPU time of two fits (s)", XLog: true}}
			for _, name := range phiNames {
				p.Of = append(p.Of, frame.Dots(phiStyles.Intervals(name), "data set", phiSeconds(settingFixed), frame.Band{}).Where("method", name))
			}
			return p
		}, "scaling"),
		Text: &frame.Text{By: []string{"scaling", "", "method", "", "data set", "data set"}, Cells: []frame.Cell{
			frame.Name("features", "scaling"), frame.Name("φ", "method"),
			secondsCell("fixed: CPU time (s)", phiSeconds(settingFixed)), stepsCell(settingFixed), vectors.StoppedCell("at the cap", "setting", settingFixed),
			secondsCell("chosen: CPU time (s)", phiSeconds(settingChosen)), stepsCell(settingChosen), secondsCell("choosing: CPU time (s)", frame.Seconds.Where("kind", "chosen", "fold", "0")),
		}},
		Caption: func(t *table.Table) plots.Caption {
			c := divergenceProtocol(t)
			c.Shows = "CPU time of one core, both folds of a trial. The figure has c, α and τ = 1, the same problem for all φ. The table has those chosen on training rows, too, and the inner cross-validation, with its neighbours."
			c.Protocol += fmt.Sprintf(" Fits go from λ = 0 to a KKT residual of 10⁻⁶, or to the cap of %.0f Newton steps; in choosing to a residual of 10⁻² or 30 steps.", experiment.First(t.Where("kind", "steps", "method", phiLogDet, "setting", settingFixed), "of"))
			c.Intervals = experiment.TrialsNote(t, "")
			return c
		},
	})},
	{Name: "divergences-choices", Title: "What was chosen on the training folds, and fits that did not converge", Draw: experiment.WithEnds(frame.View{
		From: scaled.Then(frame.Only("method", phiNames...)).Where("setting", settingChosen), Missing: "choices",
		Text: &frame.Text{By: []string{"scaling", "", "data set", "data set", "method", ""}, Cells: append([]frame.Cell{frame.Name("features", "scaling"), frame.Name("φ", "method")}, vectors.ChoiceCells...)},
		Caption: vectors.Shown("Errors of the candidates are means over trials and folds of the inner cross-validation, on half of the training rows each. A fit in choosing that ends after 30 Newton steps before a residual of 10⁻², or at the end after 100 before 10⁻⁶, has not converged.",
			divergenceBy(chosenNote)),
	}.Draw, protocol.DivergenceChoices)},
}

// phiStyles are those of the functions φ beside the methods'.
var phiStyles = protocol.StylesWith(plots.Ordered(phiNames...))

// scaled are the rows by the scaling of the features.
var scaled = frame.Only("features", scalings...).Then(frame.Called("scaling", "features", func(by string) string { return vectors.Describe[by] })).Then(vectors.Titled)

// divergenceProtocol describes data and settings in captions.
func divergenceProtocol(t *table.Table) plots.Caption {
	size := vectors.SizesOf(t)
	return plots.Caption{Data: vectors.UCI(t), Protocol: fmt.Sprintf("Pairs as in fig1a: per class %.0f similar and %.0f dissimilar ones of training rows, or all there are, at squared distances of at most u and at least ℓ. These are the 1st and 99th percentile of the training rows; slack costs (c/2)·s². "+
		"The unit of length is such that the median squared distance of training rows is 1. k = %.0f neighbours.", size(protocol.PairsPerClass), size(protocol.PairsPerClass), size(protocol.Neighbours)), Intervals: vectors.FoldsNote(t)}
}

// divergenceBy is divergenceProtocol with a setting.
func divergenceBy(note string) func(t *table.Table) plots.Caption {
	return func(t *table.Table) plots.Caption {
		c := divergenceProtocol(t)
		c.Protocol += " " + note
		return c
	}
}

// chosenNote and fixedNote describe the settings.
const (
	chosenNote = "Each φ chooses by a two-fold cross-validation inside the training fold, the first of equals: c from 0.01 to 10 (features as they are: 0.1 to 100), with it α of Frobenius from 0 and 1, and τ of trace from 0.1, 1 and 10."
	fixedNote  = "Nothing is chosen: c, α and τ are 1."
)

// divergenceErrors is the view of errors with a setting.
func divergenceErrors(setting, note string) frame.View {
	const mean = "mean of the data sets"
	methods := append([]string{protocol.Euclidean}, phiNames...)
	cells := []frame.Cell{frame.Name("error (%)", "features scaled")}
	for _, m := range methods {
		cells = append(cells, vectors.ErrorCell(m, phiError(m, setting)))
	}
	return frame.View{
		From: scaled.Then(frame.Called("features scaled", "scaling", func(by string) string { return "features " + by })).Then(frame.Named("row", []string{"", mean}, func(row string) (string, frame.Rows) {
			return row, frame.Called("set or mean", "data set", func(name string) string { return cmp.Or(row, name) })
		})), Columns: 2, Missing: "errors",
		Panels: frame.PerGroup(func(by []string) frame.Panel {
			p := frame.Panel{Panel: plots.Panel{Title: by[0], XLabel: "test error (%)"}}
			for _, m := range methods {
				p.Of = append(p.Of, frame.Dots(phiStyles.Intervals(m), "data set", phiError(m, setting), vectors.ErrorBand))
			}
			return p
		}, "features scaled").Where("row", ""),
		Text:    &frame.Text{By: []string{"features scaled", "", "row", "", "set or mean", "data set"}, Cells: cells},
		Caption: vectors.Shown("Test error of the k nearest training rows under the W of each φ, and under the Euclidean distance.", divergenceBy(note)),
	}
}

// rankCells are columns with the scaling, the order of W and its mean rank under each φ.
func rankCells() []frame.Cell {
	out := []frame.Cell{frame.Name("features", "scaling"), frame.Of("order of W", frame.Column("of").Where("kind", "spectrum"), frame.Band{}, "%.0f")}
	for _, name := range phiNames {
		rank := frame.Column("value").Where("kind", "spectrum", "method", name)
		out = append(out, frame.Of(name+": mean rank, fixed", rank.Where("setting", settingFixed), frame.Band{}, "%.1f"), frame.Of("chosen", rank.Where("setting", settingChosen), frame.Band{}, "%.1f"))
	}
	return out
}

// leastShare is where eigenvalues below it, 0 among them, are shown.
const leastShare = 1e-4

// spectrum shows a mean spectrum.
func spectrum(line plots.Line) frame.Mark {
	return func(g *table.Table) plots.Mark {
		if g.Len() == 0 {
			return nil
		}
		largest := g.Values("eigenvalue0")
		for k := range experiment.Whole("order of W", experiment.First(g, "of"), 1, mostFeatures) {
			logs := make([]float64, g.Len())
			for i, v := range g.Values("eigenvalue" + strconv.Itoa(k)) {
				share := 0.0
				if largest[i] > 0 {
					share = v / largest[i]
				}
				logs[i] = math.Log(max(share, leastShare))
			}
			s := vectors.Summary(logs)
			mean, half := s.Interval()
			line.X, line.Y = append(line.X, float64(k+1)), append(line.Y, math.Exp(mean))
			if s.HasInterval {
				line.Lo, line.Hi = append(line.Lo, max(math.Exp(mean-half), leastShare)), append(line.Hi, min(math.Exp(mean+half), 1))
			}
		}
		return line
	}
}

// stepsCell is a column with the mean number of Newton steps.
func stepsCell(setting string) frame.Cell {
	return frame.Of("Newton steps", frame.Column("value").Where("kind", "steps", "setting", setting), frame.Band{}, "%.0f")
}

// secondsCell is a column with a mean time.
func secondsCell(head string, m frame.Measure) frame.Cell {
	return frame.Cell{Head: head, Of: func(rows *table.Table) string {
		s := judge.Summarize(m(rows))
		if !s.HasInterval {
			return fmt.Sprintf("%.2g", s.Mean)
		}
		return fmt.Sprintf("%.2g ± %.1g", s.Mean, s.Half)
	}}
}
