package erkle2015

import (
	"fmt"

	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

var fig2ErrorsViews = []experiment.View{
	{Name: "fig2b", Title: "Fig. 2b at n = 500: error of PA-ERKLE and of batch GNMDS with few gradient steps", Draw: drawFig2b},
	{Name: "fig2b-settings", Title: "Settings of the batch steps and what they give", Draw: experiment.WithEnds(drawFig2bSettings, stepChoices)},
}

var fig2ErrorsStyles = map[string]plots.Line{
	paERKLE: {Color: 0}, stepMethods[0].name: {Color: 2}, stepMethods[1].name: {Color: 3}, stepMethods[2].name: {Color: 2, Dashed: true}, stepMethods[3].name: {Color: 3, Dashed: true},
	gnmdsMany: {Color: 4},
}

func drawFig2b(t *table.Table) (plots.Drawing, error) {
	d := plots.Drawing{Columns: 1}
	test := 0.0
	for _, pn := range []struct {
		title, rule string
		of          func(*table.Table, string) []float64
	}{
		{chosenValid, chosenValid, strictErrors}, {chosenTest, chosenTest, strictErrors},
		{chosenValid + ", ties half", chosenValid, halfErrors},
	} {
		rule := pn.rule
		p := plots.Panel{Title: pn.title, XLabel: "triplets seen", YLabel: "test error (%)", XLog: true, Direct: true}
		for cell, g := range t.Where("kind", curveRow).Group("cell") {
			r := g.Where("rule", rule)
			if cell == paERKLE {
				r = g
			}
			if r.Len() == 0 {
				continue
			}
			test = experiment.First(r, "test triplets")
			style := fig2ErrorsStyles[cell]
			style.Name = cell
			p.Marks = append(p.Marks, curveOf(r, "triplets", style, func(t *table.Table) []float64 { return pn.of(t, "test") }))
		}
		if len(p.Marks) > 0 {
			d.Panels = append(d.Panels, p)
		}
	}
	d.Caption = plots.Caption{Shows: fmt.Sprintf("Share of %.0f other comparisons that the kernels do not satisfy (a tie, as of objects of which nothing is known yet, is an error, which is the paper's measure; below, half of one), against the triplets seen: 500 points drawn from N(0, I) in R⁵⁰ (25 at smoke scale), a tenth of the paper's objects and triplets. "+
		"PA-ERKLE takes one pass and has no settings. GNMDS takes one or two gradient steps on all triplets so far after every mini-batch, a twentieth of all, going on from the kernel before or, dashed, from K = I; 100 iterations: at most that many accelerated ones after every fourth mini-batch, from the kernel before, with τ of erkle2015/tau. "+
		"Step size δ and weight τ of the trace are those with the least error summed over the curve, per trial, on validation triplets or, the paper's rule, on the test triplets. ", test) + trialsNote(t)}
	return orMissing(d, "any trial")
}

func drawFig2bSettings(t *table.Table) (plots.Drawing, error) {
	text := &plots.TextTable{Head: []string{"method", "δ", "τ", "trials tried", "test error, mean over the curve (%)", "ties half (%)", "chosen by validation in", "best on test in"}}
	for key, g := range groups(t.Where("kind", settingRow), "cell", "delta", "tau") {
		row := append(key, fmt.Sprint(g.Len()))
		for _, shares := range [][]float64{testErrors(g), halfErrors(g, "test")} {
			row = append(row, fmt.Sprintf("%.2f", 100*judge.Summarize(shares).Mean))
		}
		for _, rule := range []string{chosenValid, chosenTest} {
			chosen := t.Where("cell", key[0], "kind", curveRow, "rule", rule, "delta", key[1], "tau", key[2])
			row = append(row, fmt.Sprint(len(chosen.Unique("trial"))))
		}
		text.Rows = append(text.Rows, row)
	}
	return orMissing(plots.Drawing{Text: text, Caption: plots.Caption{Shows: fmt.Sprintf("Settings of GNMDS with few steps that were tried: first the step sizes δ with τ = 0, then the weights τ of the trace (%s) with the best δ, by the errors summed over all checkpoints of a trial; δ multiplies the gradient of the sum over triplets. "+
		"The last two columns count the trials in which a setting was chosen.", stepTaus)}}, "settings of any trial")
}
