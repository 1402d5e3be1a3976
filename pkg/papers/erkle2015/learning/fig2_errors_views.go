package learning

import (
	"fmt"
	"slices"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/papers/erkle2015/protocol"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

var fig2ErrorsViews = []experiment.View{
	{Name: "fig2b", Title: "Fig. 2b at n = 500: error of PA-ERKLE and of batch GNMDS with few gradient steps", Draw: fig2bView.Draw},
	{Name: "fig2b-settings", Title: "Settings of the batch steps and what they give", Draw: experiment.WithEnds(fig2bSettings.Draw, stepChoices)},
}

// stepsLines are those of the cells.
var stepsLines = []plots.Line{
	{Name: protocol.PAERKLE, Color: 0}, {Name: stepMethods[0].Name, Color: 2}, {Name: stepMethods[1].Name, Color: 3},
	{Name: stepMethods[2].Name, Color: 2, Dash: plots.Dashed}, {Name: stepMethods[3].Name, Color: 3, Dash: plots.Dashed}, {Name: gnmdsMany, Color: 4},
}

// minibatchPanel has the curves with the settings of a rule.
func minibatchPanel(title, rule string, errors frame.Measure) frame.Panel {
	p := frame.Panel{
		Panel: plots.Panel{Title: title, XLabel: "triplets seen", YLabel: "test error (%)", XLog: true},
		Of:    frame.Lines("cell", stepsLines, "triplets", errors, frame.Percent),
	}
	for i, line := range stepsLines {
		of := rule
		if line.Name == protocol.PAERKLE {
			of = NoSettings
		}
		p.Of[i] = p.Of[i].Where("kind", protocol.CurveRow, "rule", of)
	}
	return p
}

var fig2bView = frame.View{
	Columns: 1, Missing: "any trial",
	Panels: frame.Each(
		minibatchPanel(ChosenValid, ChosenValid, protocol.TestErrors), minibatchPanel(ChosenTest, ChosenTest, protocol.TestErrors), minibatchPanel(ChosenValid+", ties half", ChosenValid, protocol.TestHalf),
	),
	Caption: protocol.SaysOf(func(t *table.Table) string {
		return fmt.Sprintf("Share of %.0f other comparisons that the kernels do not satisfy (a tie, as of objects of which nothing is known yet, is an error, which is the paper's measure; below, half of one), against the triplets seen: 500 points drawn from N(0, I) in R⁵⁰ (25 at smoke scale), a tenth of the paper's objects and triplets.", experiment.First(t.Where("kind", protocol.CurveRow), "test triplets"))
	}, "", "PA-ERKLE takes one pass and has no settings. GNMDS takes one or two gradient steps on all triplets so far after every mini-batch, a twentieth of all, going on from the kernel before or, dashed, from K = I; 100 iterations: at most that many accelerated ones after every fourth mini-batch, from the kernel before, with τ of erkle2015/tau. "+
		"Step size δ and weight τ of the trace are those with the least error summed over the curve, per trial, on validation triplets or, the paper's rule, on the test triplets."),
}

// settingsCells say what a setting gave, and in how many trials it was chosen.
var settingsCells = []frame.Cell{
	frame.Of("test error, mean over the curve (%)", protocol.TestErrors.Where("kind", protocol.SettingRow), frame.Percent, "%.2f"), frame.Of("ties half (%)", protocol.TestHalf.Where("kind", protocol.SettingRow), frame.Percent, "%.2f"),
	trialsOf("chosen by validation in", "kind", protocol.CurveRow, "rule", ChosenValid), trialsOf("best on test in", "kind", protocol.CurveRow, "rule", ChosenTest),
}

// trialsOf is a column with the number of trials that have rows with some cells.
func trialsOf(head string, nameValue ...string) frame.Cell {
	return frame.Cell{Head: head, Of: func(g *table.Table) string { return fmt.Sprint(len(g.Where(nameValue...).Unique("trial"))) }}
}

var fig2bSettings = frame.View{
	From: frame.Only("cell", protocol.Mapped(stepMethods, func(m protocol.StepMethod) string { return m.Name })...),
	Text: &frame.Text{
		By:    []string{"cell", "method", "delta", "δ", "tau", "τ"},
		Cells: append([]frame.Cell{trialsOf("trials tried", "kind", protocol.SettingRow)}, settingsCells...),
	},
	Caption: func(*table.Table) plots.Caption {
		return plots.Caption{Shows: fmt.Sprintf("Settings of GNMDS with few steps that were tried: first the step sizes δ with τ = 0, then the weights τ of the trace (%s) with the best δ, by the errors summed over all checkpoints of a trial; δ multiplies the gradient of the sum over triplets. "+
			"The last two columns count the trials in which a setting was chosen.", stepTaus)}
	},
	Missing: "settings of any trial",
}

// ChosenNumbers are the different numbers in a column, in order of first appearance.
func ChosenNumbers(g *table.Table, column string) []float64 {
	return protocol.Mapped(g.Unique(column), func(cell string) float64 { return frame.Parse(column, cell) })
}

// stepChoices are the settings of GNMDS with few steps that trials chose on validation triplets: a size δ with τ = 0,
// and the weight τ with that δ.
var stepChoices = ChoicesOf(func(cells []string, g *table.Table) []experiment.Choice {
	delta := experiment.Choice{What: cells[0] + ": δ", Grid: stepDeltas}
	tau := experiment.Choice{What: cells[0] + ": τ", Grid: append(protocol.List[float64]{0}, stepTaus...), NoLower: true}
	if slices.ContainsFunc(stepMethods, func(m protocol.StepMethod) bool { return m.Name == cells[0] }) {
		for _, trial := range g.Where("kind", protocol.CurveRow, "rule", ChosenValid).Group("trial") {
			delta.Chosen = append(delta.Chosen, ChosenNumbers(trial, "delta")[0])
			tau.Chosen = append(tau.Chosen, ChosenNumbers(trial, "tau")[0])
		}
	}
	return []experiment.Choice{delta, tau}
}, "cell")
