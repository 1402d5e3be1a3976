package pa2013

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

var detailsViews = []experiment.View{
	{Name: "projection", Title: "Projection after every q updates: error and what it leaves negative", Draw: onDatabases(1, "projections on any database", drawProjection)},
	{Name: "start", Title: "Nine initial models", Draw: onDatabases(1, "starts on any database", drawStart)},
	{Name: "order", Title: "Other orders of the last pairs, and of all", Draw: onDatabases(1, "orders on any database", drawOrder)},
	{Name: "stop", Title: "When to stop: fixed parts and two criteria", Draw: onDatabases(1, "stops on any database", drawStop)},
}

// overDatabases is the mean over databases of a value, by trial.
func overDatabases(all []results, kind, method, at, value string) []float64 {
	return meanOf(unitsOf(all, undivided, func(r results, _ string) []float64 { return r.detail(kind, method, at, value) }))
}

// detailsNote ends each caption.
func detailsNote(all []results) string {
	n := len(all[0].t.Unique("trial"))
	note := fmt.Sprintf("Means over %d random splits and %s.", n, databaseNames(all))
	if n >= judge.MinTrials {
		note += " Bars and bands: corrected resampled 95 % t intervals; they end where shares do."
	}
	return note + fmt.Sprintf(" Features %s with numbers from the training rows; C from 10⁻⁴ to 10² and k by the error on validation rows, as in pa2013/comparison; splits of this experiment's own. Which C and k were chosen is not kept here; pa2013/comparison, whose rule this is, names the ends of grids that were taken.", describeScaling[mainSettings.Scaling.String()])
}

func databaseNames(all []results) string {
	names := ""
	for i, r := range all {
		if i > 0 {
			names += ", "
		}
		names += r.cell
	}
	return names
}

// intervalOf is the mean and half-width of values by trial, in per cent.
func intervalOf(all []results, values []float64) (mean, half float64) {
	mean, half = judge.SummarizeResampled(values, classesRule(all).TestRatio).Interval()
	return 100 * mean, 100 * half
}

func drawProjection(all []results) plots.Drawing {
	d := plots.Drawing{Columns: 3, Text: &plots.TextTable{Head: []string{"rule", "updates between projections", "test error (%)", "validation error (%)", "predictive loss (%)", "decompositions before the end", "negative eigenvalues after T steps", "their share of the magnitudes (%)"}}}
	at, ticks := everyTicks()
	var panels []plots.Panel
	for _, y := range []string{"test error (%)", "negative eigenvalues", "negative share of magnitudes (%)"} {
		panels = append(panels, plots.Panel{XLabel: "updates between projections", YLabel: y, XLog: true, XTicks: ticks})
	}
	for i, v := range rules {
		lines := make([]plots.Line, 3)
		for k := range lines {
			lines[k] = plots.Line{Name: v.name, Color: i}
		}
		for j, q := range everyUpdates {
			get := func(value string) []float64 { return overDatabases(all, kindProjection, v.name, everyName(q), value) }
			mean, half := intervalOf(all, get("error"))
			for k, value := range []string{"error", "negative", "mass"} {
				y, width := intervalOf(all, get(value))
				if value == "negative" { // a count, not a share
					y, width = y/100, width/100
				}
				lines[k].X, lines[k].Y = append(lines[k].X, at[j]), append(lines[k].Y, y)
				lines[k].Lo, lines[k].Hi = append(lines[k].Lo, max(y-width, 0)), append(lines[k].Hi, y+width)
			}
			d.Text.Rows = append(d.Text.Rows, []string{v.name, everyName(q), withHalf(mean, half), fmt.Sprintf("%.2f", 100*stat.Mean(get("validation"), nil)), fmt.Sprintf("%.2f", 100*stat.Mean(get("loss"), nil)),
				fmt.Sprintf("%.0f", stat.Mean(get("decompositions"), nil)), fmt.Sprintf("%.1f", stat.Mean(get("negative"), nil)), fmt.Sprintf("%.2f", 100*stat.Mean(get("mass"), nil))})
		}
		for k := range panels {
			panels[k].Marks = append(panels[k].Marks, lines[k])
		}
	}
	d.Panels = panels
	d.Caption = plots.Caption{Shows: "The matrix is projected on the positive semi-definite cone, and b made at least 1, after every q updates and at the end. q = 1 is the paper's ⁺, \"end\" its ⁻. C and k are chosen for each q. Negative eigenvalues are those of the running matrix after T steps, before the projection at the end. " +
		"Decompositions stand for time: a projection of several eigenvalues needs all eigenpairs, that of one at each step only the least. \"end\": only at the end. " + detailsNote(all)}
	return d
}

// withHalf writes a mean with its interval, if there is one.
func withHalf(mean, half float64) string {
	if math.IsNaN(half) || half == 0 {
		return fmt.Sprintf("%.2f", mean)
	}
	return fmt.Sprintf("%.2f ± %.2f", mean, half)
}

func drawStart(all []results) plots.Drawing {
	d := plots.Drawing{Columns: 2, Text: &plots.TextTable{Head: append([]string{"initial model", "quantity"}, shownNames(onlineNames)...)}}
	for _, plus := range []bool{true, false} {
		p := plots.Panel{Title: map[bool]string{true: "constraints at each step", false: "constraints at the end"}[plus], XLabel: "test error (%)"}
		for i, o := range onlines {
			if (i%2 == 0) != plus {
				continue
			}
			mark := plots.Intervals{Name: rules[i/2].name, Color: i / 2, Possible: [2]float64{0, 100}}
			for _, s := range starts {
				mean, half := intervalOf(all, overDatabases(all, kindStart, o.name, s.String(), "error"))
				mark.Labels, mark.X, mark.Err = append(mark.Labels, s.String()), append(mark.X, mean), append(mark.Err, half)
			}
			p.Marks = append(p.Marks, mark)
		}
		d.Panels = append(d.Panels, p)
	}
	for _, s := range starts {
		for _, what := range []struct{ column, name string }{{"error", "test error (%)"}, {"validation", "validation error (%)"}, {"loss", "predictive loss (%)"}} {
			row := []string{s.String(), what.name}
			for _, m := range onlineNames {
				row = append(row, fmt.Sprintf("%.2f", 100*stat.Mean(overDatabases(all, kindStart, m, s.String(), what.column), nil)))
			}
			d.Text.Rows = append(d.Text.Rows, row)
		}
	}
	d.Caption = plots.Caption{Shows: "Test error from nine initial models: b⁰ of 0, 1 and 10 and M⁰ of 0, 0.1 and 1 times the identity; the paper has (0, 0). C and k are chosen for each. " + detailsNote(all)}
	return d
}

func drawOrder(all []results) plots.Drawing {
	p := plots.Panel{XLabel: "largest minus least test error over ten orders (points)"}
	d := plots.Drawing{Text: &plots.TextTable{Head: append([]string{"shuffled", "quantity"}, shownNames(onlineNames)...)}}
	for i, at := range []string{orderTail, orderAll} {
		mark := plots.Intervals{Name: map[string]string{orderTail: "the last tenth of the steps shuffled", orderAll: "all steps shuffled"}[at], Color: i, Possible: [2]float64{0, 100}}
		rows := [][]string{{at, "range (points)"}, {"", "mean test error (%)"}}
		for _, m := range onlineNames {
			mean, half := intervalOf(all, overDatabases(all, kindOrder, m, at, "range"))
			mark.Labels, mark.X, mark.Err = append(mark.Labels, shown.Replace(m)), append(mark.X, mean), append(mark.Err, half)
			rows[0] = append(rows[0], withHalf(mean, half))
			rows[1] = append(rows[1], fmt.Sprintf("%.2f", 100*stat.Mean(overDatabases(all, kindOrder, m, at, "error"), nil)))
		}
		p.Marks = append(p.Marks, mark)
		d.Text.Rows = append(d.Text.Rows, rows...)
	}
	d.Panels = []plots.Panel{p}
	d.Caption = plots.Caption{Shows: fmt.Sprintf("How far the test errors of %d orders of the same steps lie apart, with the C and k of the order that was drawn first: the last tenth of the steps in other orders, or all. ", orders) + detailsNote(all)}
	return d
}

func drawStop(all []results) plots.Drawing {
	d := plots.Drawing{Columns: 3, Text: &plots.TextTable{Head: []string{"method", "ends", "steps (% of all pairs)", "test error (%)"}}}
	part := 100 * mainSettings.Part
	ends := []string{}
	for _, s := range snapshots {
		ends = append(ends, table.Format(s))
	}
	for _, v := range rules {
		p := plots.Panel{Title: v.name, XLabel: "steps (% of all training pairs)", YLabel: "test error (%)"}
		for j, m := range []string{v.plus(), v.minus()} {
			line := plots.Line{Name: []string{"⁺, fixed part", "⁻, fixed part"}[j], Color: j, Dashed: j == 1}
			for _, at := range slices.Concat(ends, []string{byLoss, byStep}) {
				x := part * stat.Mean(overDatabases(all, kindStop, m, at, "steps"), nil)
				mean, half := intervalOf(all, overDatabases(all, kindStop, m, at, "error"))
				name := at
				if slices.Contains(ends, at) {
					line.X, line.Y = append(line.X, x), append(line.Y, mean)
					name = "fixed part"
				} else {
					shape := slices.Index([]string{byLoss, byStep}, at)
					p.Marks = append(p.Marks, plots.Points{Name: []string{"⁺, ", "⁻, "}[j] + at, X: []float64{x}, Y: []float64{mean}, Color: j, Shape: shape})
				}
				d.Text.Rows = append(d.Text.Rows, []string{shown.Replace(m), name, fmt.Sprintf("%.1f", x), withHalf(mean, half)})
			}
			p.Marks = append(p.Marks, line)
		}
		d.Panels = append(d.Panels, p)
	}
	d.Caption = plots.Caption{Shows: fmt.Sprintf("Test error after fixed parts of all pairs of training rows as steps, and where a criterion ends them by itself: after %d windows of %d steps in a row whose mean loss, or mean |τ|, is not less by %g %% than the least so far; at 40 %% at the latest. ",
		stopping.Patience, stopping.Window, 100*stopping.Fall) + "C and k are those chosen for 20 %. Intervals are in the table. " + detailsNote(all)}
	return d
}
