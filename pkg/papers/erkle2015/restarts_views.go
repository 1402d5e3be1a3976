package erkle2015

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// restartStyles are the lines of the losses.
var restartStyles = map[string]plots.Line{gnmdsBatch: {Color: 0}, steBatch: {Color: 1}, cklBatch: {Color: 2}}

func drawRestarts(t *table.Table) (plots.Drawing, error) {
	d := plots.Drawing{Columns: len(restartData), Text: &plots.TextTable{Head: []string{
		"data", "loss", "coordinates", "best start above the kernel (% of F(0))", "worst above the best (% of F(0))", "test error, best (%)", "one start (%)", "least and largest (%)", "kernel (%)", "converged (%)", "largest residual",
	}}}
	var spreads, errors []plots.Panel
	for data, c := range t.Group("cell") {
		spread := plots.Panel{Title: data, XLabel: "coordinates", YLabel: "worst start above best (%)", XLog: true}
		wrong := plots.Panel{Title: data, XLabel: "coordinates", YLabel: "test error (%)", XLog: true}
		for method, g := range c.Where("from", fromAnew).Group("method") {
			style := restartStyles[method]
			style.Name = method + ", coordinates"
			wrong.Marks = append(wrong.Marks, curveOf(g, "coordinates", style, testErrors))
			spread.Marks = append(spread.Marks, curveOf(g, "coordinates", style, restartSpread))
			kernel := atAll(c.Where("method", method, "from", fromKernel))
			wrong.Marks = append(wrong.Marks, level(g, kernel, plots.Line{Name: method + ", kernel", Color: style.Color, Dashed: true}))
			for dim, rows := range g.Group("coordinates") {
				mean := func(shares []float64) string { return fmt.Sprintf("%.2f", 100*judge.Summarize(shares).Mean) }
				above := judge.Minus(perZero(rows, "objective"), perZero(kernel, "objective"))
				d.Text.Rows = append(d.Text.Rows, []string{
					data, method, dim, mean(above), mean(restartSpread(rows)), judge.Summarize(testErrors(rows)).Percent(), mean(wrongShares(rows, "mean wrong")),
					mean(wrongShares(rows, "least wrong")) + ", " + mean(wrongShares(rows, "largest wrong")), judge.Summarize(testErrors(kernel)).Percent(),
					fmt.Sprintf("%.0f", 100*judge.Summarize(rows.Values("converged")).Mean/experiment.First(rows, "starts")), fmt.Sprintf("%.2g", slices.Max(rows.Values("largest residual"))),
				})
			}
		}
		wrong.Marks = append(wrong.Marks, level(c.Where("from", fromAnew), atAll(c.Where("method", paERKLETen)), plots.Line{Name: paERKLETen, Color: plots.Grey}))
		spreads, errors = append(spreads, spread), append(errors, wrong)
	}
	d.Panels = append(spreads, errors...)
	d.Caption = plots.Caption{Shows: "Above: by how much the objective of the worst of ten starts exceeds that of the best, in per cent of F(0). Below: test error of the best start and of fits of a kernel. " + restartAbout(t)}
	return orMissing(d, "any trial")
}

// level is the mean test error of a rival, across the numbers of coordinates of g.
func level(g, rival *table.Table, style plots.Line) plots.Line {
	dims := experiment.NotEmpty("numbers of coordinates", countsIn(g, "coordinates"))
	mean := 100 * judge.Summarize(testErrors(rival)).Mean
	style.X, style.Y = []float64{float64(slices.Min(dims)), float64(slices.Max(dims))}, []float64{mean, mean}
	return style
}

// perZero are objectives in units of that of all objects in one place, by row.
func perZero(g *table.Table, column string) []float64 {
	out := slices.Clone(g.Values(column))
	floats.Div(out, g.Values("objective at 0"))
	return out
}

// restartSpread is by how much the worst start is above the best, in these units, by row.
func restartSpread(g *table.Table) []float64 {
	return judge.Minus(perZero(g, "largest objective"), perZero(g, "objective"))
}

func restartAbout(t *table.Table) string {
	return "Coordinates X of the objects in place of a kernel K = XXᵀ minimise the same objective F, Σ l + τ‖X‖², from ten random starts, X from N(0, 1/d), by L-BFGS (GNMDS by way of its Moreau envelope), with the τ of erkle2015/tau for the fit of K (Section 2: \"the best is chosen among them\"). " +
		"F(0) is the objective of all objects in one place. A start ends where the size of its gradient is 0.001 in these units, or after 1,000 iterations, as most of GNMDS do, whose objective has kinks. Fits of K, convex with GNMDS and STE, end at a residual of 0.001, for these a bound on the distance from the minimum, or after as many. Synthetic: 10,000 comparisons of 100 points in R⁵⁰, as in Fig. 1; materials and shoes: 1,000 answers, as in Fig. 4. " + trialsNote(t)
}

func drawRestartsFollowed(t *table.Table) (plots.Drawing, error) {
	d := plots.Drawing{Columns: len(restartData), Text: &plots.TextTable{Head: []string{
		"data", "loss", "coordinates", "triplets", "another start is best (% of trials)", "former best above it (% of F(0))", "test error, best (%)", "first best (%)", "kernel (%)",
	}}}
	for data, c := range t.Group("cell") {
		followed := c.Where("from", fromFollowed)
		dims := followed.Unique("coordinates")
		if len(dims) == 0 {
			continue
		}
		p := plots.Panel{Title: data + ", " + dims[0] + " coordinates", XLabel: "triplets seen", YLabel: "test error (%)", XLog: true}
		for key, g := range groups(followed, "method", "coordinates") {
			if key[1] == dims[0] {
				style := restartStyles[key[0]]
				style.Name = key[0] + ", best start"
				best := curveOf(g, "triplets", style, testErrors)
				best.Lo, best.Hi = nil, nil
				style.Name, style.Dashed = key[0]+", best at first", true
				first := curveOf(g, "triplets", style, firstErrors)
				first.Lo, first.Hi = nil, nil
				p.Marks = append(p.Marks, best, first)
			}
			for at, rows := range g.Group("triplets") {
				another, above := 0.0, "-"
				if former := perZero(rows, "former"); !floats.HasNaN(former) {
					over := judge.Minus(former, perZero(rows, "objective"))
					for _, o := range over {
						if o > passedOver {
							another += 100 / float64(len(over))
						}
					}
					above = fmt.Sprintf("%.2f", 100*judge.Summarize(over).Mean)
				}
				d.Text.Rows = append(d.Text.Rows, []string{
					data, key[0], key[1], at, fmt.Sprintf("%.0f", another), above, judge.Summarize(testErrors(rows)).Percent(), judge.Summarize(firstErrors(rows)).Percent(),
					judge.Summarize(testErrors(c.Where("method", key[0], "from", fromKernel, "triplets", at))).Percent(),
				})
			}
		}
		d.Panels = append(d.Panels, p)
	}
	d.Caption = plots.Caption{Shows: "Each start is fitted to the first number of triplets and then goes on from its own solution to the next. The start with the least objective at each number, and, dashed, the one that had it at the first; the table has all numbers of coordinates. Another start is best if the one that was best at the number before is more than 0.1 % of F(0) above it. " + restartAbout(t)}
	return orMissing(d, "any trial")
}

// firstErrors are the test errors of the start that was best at the first number of triplets, by row.
func firstErrors(g *table.Table) []float64 { return wrongShares(g, "first wrong") }
