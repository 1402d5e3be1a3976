package pa2013

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

var detailsViews = []experiment.View{
	{Name: "projection", Title: "Projection after every q updates: error and what it leaves negative", Draw: detailsView("projections on any database", projectionView)},
	{Name: "start", Title: "Nine initial models", Draw: detailsView("starts on any database", startView)},
	{Name: "order", Title: "Other orders of the last pairs, and of all", Draw: detailsView("orders on any database", orderView)},
	{Name: "stop", Title: "When to stop: fixed parts and two criteria", Draw: detailsView("stops on any database", stopView)},
}

// detailsView shows means over databases; b is for shares.
func detailsView(missing string, view func(b frame.Band) frame.View) func(*table.Table) (plots.Drawing, error) {
	return func(t *table.Table) (plots.Drawing, error) {
		if t.Len() == 0 {
			return plots.Missing(missing), nil
		}
		v := view(frame.Percent.By(func(values []float64) judge.Summary { return judge.SummarizeResampled(values, bySplits(t).TestRatio) }))
		v.Missing = missing
		return v.Draw(t)
	}
}

// overDatabases is the mean over databases of a value, by trial.
func overDatabases(value string) frame.Measure { return frame.Column(value).MeanOver("cell") }

// detailsCaption is a caption with the protocol of all views.
func detailsCaption(shows, how string) func(*table.Table) plots.Caption {
	return func(t *table.Table) plots.Caption {
		n, all := len(t.Unique("trial")), strings.Join(t.Unique("cell"), ", ")
		note := fmt.Sprintf("Means over %d random splits and the databases.", n)
		if n >= judge.MinTrials {
			note = fmt.Sprintf("Means over %d random splits and the databases with corrected resampled 95 %% t intervals.", n)
		}
		return plots.Caption{
			Shows: shows, Data: fmt.Sprintf("Databases: %s. Features are %s with numbers from the training rows.", all, describeScaling[mainSettings.Scaling.String()]),
			Protocol: how + "C from 10⁻⁴ to 10² and k by the error on validation rows, as in pa2013/comparison, on splits of this experiment's own. " +
				"Which C and k were chosen is not kept here; pa2013/comparison, whose rule this is, names the ends of grids that were taken.",
			Intervals: note,
		}
	}
}

// byMethod is a table with a column for each online method.
func byMethod(head ...string) *frame.Text {
	out := &frame.Text{Head: head}
	for _, m := range onlineNames {
		out.Cells = append(out.Cells, frame.Cell{Head: shown.Replace(m)})
	}
	return out
}

// methodsRow is a row of it: the mean over databases of a value, of the rows at a point.
func methodsRow(names []string, at string, cell func(head string, m frame.Measure, b frame.Band, format string) frame.Cell, value string, b frame.Band) frame.Row {
	row := frame.Row{Names: names, Of: []string{"at", at}}
	for _, m := range onlineNames {
		row.Cells = append(row.Cells, cell("", overDatabases(value).Where("method", m), b, "%.2f"))
	}
	return row
}

func projectionView(b frame.Band) frame.View {
	dots := func(what, value string, b frame.Band) frame.Panel {
		p := frame.Panel{Panel: plots.Panel{XLabel: what}}
		for _, v := range rules {
			p.Of = append(p.Of, frame.Dots(styles.Intervals(v.name), "shown", overDatabases(value), b).Where("method", v.name))
		}
		return p
	}
	counts := b
	counts.Scale, counts.Possible = 1, [2]float64{0, math.Inf(1)}
	return frame.View{
		Of: []string{"kind", kindProjection},
		From: frame.Called("shown", "at", func(at string) string {
			if at == everyName(0) {
				return "at the end"
			}
			return "q = " + at
		}),
		Columns: 3,
		Panels:  frame.Each(dots("test error (%)", "error", b), dots("negative eigenvalues", "negative", counts), dots("share of magnitudes (%)", "mass", b)),
		Text: &frame.Text{By: []string{"method", "rule", "at", "updates between projections"}, Cells: []frame.Cell{
			frame.PlusMinus("test error (%)", overDatabases("error"), b, "%.2f"),
			frame.Of("validation error (%)", overDatabases("validation"), frame.Percent, "%.2f"),
			frame.Of("predictive loss (%)", overDatabases("loss"), frame.Percent, "%.2f"),
			frame.Of("decompositions before the end", overDatabases("decompositions"), frame.Band{}, "%.0f"),
			frame.Of("negative eigenvalues after T steps", overDatabases("negative"), frame.Band{}, "%.1f"),
			frame.Of("their share of the magnitudes (%)", overDatabases("mass"), frame.Percent, "%.2f"),
		}},
		Caption: detailsCaption("The matrix is projected on the positive semi-definite cone, and b made at least 1, after every q updates and at the end. q = 1 is the paper's ⁺, \"end\" its ⁻. Negative eigenvalues, and their share of the magnitudes of all, are those of the running matrix after T steps, before the projection at the end.",
			"C and k are chosen for each q. Decompositions stand for time: a projection of several eigenvalues needs all eigenpairs, that of one at each step only the least. "),
	}
}

func startView(b frame.Band) frame.View {
	text := byMethod("initial model", "quantity")
	for _, s := range starts {
		for _, q := range [][2]string{{"error", "test error (%)"}, {"validation", "validation error (%)"}, {"loss", "predictive loss (%)"}} {
			text.Rows = append(text.Rows, methodsRow([]string{s.String(), q[1]}, s.String(), frame.Of, q[0], frame.Percent))
		}
	}
	panels := []frame.Panel{
		{Panel: plots.Panel{Title: "constraints at each step", XLabel: "test error (%)"}},
		{Panel: plots.Panel{Title: "constraints at the end", XLabel: "test error (%)"}},
	}
	for i, o := range onlines {
		mark := frame.Dots(styles.Intervals(rules[i/2].name), "at", overDatabases("error"), b)
		panels[i%2].Of = append(panels[i%2].Of, mark.Where("method", o.name))
	}
	return frame.View{
		Of:      []string{"kind", kindStart},
		Columns: 2,
		Panels:  frame.Each(panels...),
		Text:    text,
		Caption: detailsCaption("Test error from nine initial models: b⁰ of 0, 1 and 10 and M⁰ of 0, 0.1 and 1 times the identity; the paper has (0, 0).", "C and k are chosen for each. "),
	}
}

func orderView(b frame.Band) frame.View {
	dots := func(name string, color int, at string) frame.Mark {
		return frame.Dots(plots.Intervals{Name: name, Color: color, Shape: color}, "shown", overDatabases("range"), b).Where("at", at)
	}
	text := byMethod("shuffled", "quantity")
	for _, at := range []string{orderTail, orderAll} {
		text.Rows = append(text.Rows, methodsRow([]string{at, "range (percentage points)"}, at, frame.PlusMinus, "range", b), methodsRow([]string{"", "mean test error (%)"}, at, frame.Of, "error", frame.Percent))
	}
	return frame.View{
		Of:   []string{"kind", kindOrder},
		From: frame.Called("shown", "method", shown.Replace),
		Panels: frame.Each(frame.Panel{
			Panel: plots.Panel{XLabel: "largest minus least test error over ten orders (percentage points)"},
			Of:    []frame.Mark{dots("the last tenth of the steps shuffled", 0, orderTail), dots("all steps shuffled", 1, orderAll)},
		}),
		Text:    text,
		Caption: detailsCaption(fmt.Sprintf("How far the test errors of %d orders of the same steps lie apart: the last tenth of the steps in other orders, or all.", orders), "C and k are those of the order that was drawn first. "),
	}
}

func stopView(b frame.Band) frame.View {
	steps := frame.Band{Scale: 100 * mainSettings.Part}
	var ends []string
	for _, s := range snapshots {
		ends = append(ends, table.Format(s))
	}
	return frame.View{
		Of: []string{"kind", kindStop},
		From: frame.Only("at", slices.Concat(ends, []string{byLoss, byStep})...).Then(frame.Only("method", onlineNames...)).Then(frame.Called("shown", "method", shown.Replace)).
			Then(frame.Called("ends", "at", func(at string) string {
				if slices.Contains(ends, at) {
					return "fixed part"
				}
				return at
			})),
		Columns: 3,
		Panels: func(t *table.Table) (out []plots.Panel) {
			for _, v := range rules {
				p := plots.Panel{Title: v.name, XLabel: "steps (% of all training pairs)", YLabel: "test error (%)"}
				for j, m := range []string{v.plus(), v.minus()} {
					line := plots.Line{Name: []string{"⁺, fixed part", "⁻, fixed part"}[j], Color: j, Dash: map[bool]int{true: plots.Dashed}[j == 1]}
					for at, g := range t.Where("method", m).Group("at") {
						x, y := steps.Mean(overDatabases("steps")(g)), b.Mean(overDatabases("error")(g))
						if slices.Contains(ends, at) {
							line.X, line.Y = append(line.X, x), append(line.Y, y)
							continue
						}
						p.Marks = append(p.Marks, plots.Points{Name: []string{"⁺, ", "⁻, "}[j] + at, X: []float64{x}, Y: []float64{y}, Color: j, Shape: 2*slices.Index([]string{byLoss, byStep}, at) + j})
					}
					p.Marks = append(p.Marks, line)
				}
				out = append(out, p)
			}
			return out
		},
		Text: &frame.Text{By: []string{"method", "", "at", "", "shown", "method", "ends", "ends"}, Cells: []frame.Cell{
			frame.Of("steps (% of all pairs)", overDatabases("steps"), steps, "%.1f"), frame.PlusMinus("test error (%)", overDatabases("error"), b, "%.2f"),
		}},
		Caption: detailsCaption(fmt.Sprintf("Test error after fixed parts of all pairs of training rows as steps, and where a criterion ends them by itself. That is after %d windows of %d steps in a row whose mean loss, or mean |τ|, is not less by %g %% than the least so far; at 40 %% at the latest.",
			stopping.Patience, stopping.Window, 100*stopping.Fall), "C and k are those chosen for 20 %. The figure has no intervals; the table has. "),
	}
}
