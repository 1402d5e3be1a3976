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

// StepStyles are those of GNMDS with few steps: the colour tells the number of steps, broken lines start from K = I.
var StepStyles = plots.Styles{
	stepMethods[0].Name: {Color: plots.Green}, stepMethods[1].Name: {Color: plots.Purple, Dash: plots.LongDashed},
	stepMethods[2].Name: {Color: plots.Green, Dash: plots.Dashed}, stepMethods[3].Name: {Color: plots.Purple, Dash: plots.Dotted}, gnmdsMany: {Color: plots.Orange},
}

// paperPanel has the curves of the paper, with a rule for settings, and what a kernel errs by chance that ties nothing.
func paperPanel(title, rule string) frame.Panel {
	p := frame.Panel{
		Panel: plots.Panel{Title: title, XLabel: "triplets seen", YLabel: "test error (%)"},
		Of:    []frame.Mark{curveLine(protocol.Styles.Line(protocol.PAERKLE), NoSettings, protocol.TestErrors, frame.Percent)},
	}
	for _, method := range LargerSteps {
		p.Of = append(p.Of, curveLine(StepStyles.Line(method), rule, protocol.TestErrors, frame.Percent))
	}
	return frame.Panel{Panel: p.Panel, Of: append(p.Of, frame.Fixed(plots.Reference{Name: "chance", At: 50, Color: plots.Grey}))}
}

// asInThePaper names its rule for settings.
const asInThePaper = ChosenTest + ", as in the paper"

// curveLine is a measure of the cell that a line is named after, with the settings of a rule.
func curveLine(l plots.Line, rule string, m frame.Measure, b frame.Band) frame.Mark {
	return frame.Line(l, "triplets", m, b).Where("cell", l.Name, "kind", protocol.CurveRow, "rule", rule)
}

// abovePA has by how much the errors of some methods exceed those of PA-ERKLE, a tie being half of one: by trial, from a fifth of the triplets on.
func abovePA(rule string, methods ...string) frame.Panel {
	p := frame.Panel{Panel: plots.Panel{Title: rule + ", a tie half an error", XLabel: "triplets seen", YLabel: "test error above PA-ERKLE's (points)"}}
	for _, method := range methods {
		above := protocol.TestHalf.PerTrial("cell", method, "rule", rule).Minus(protocol.TestHalf.PerTrial("cell", protocol.PAERKLE))
		p.Of = append(p.Of, frame.Line(StepStyles.Line(method), "triplets", above, frame.Band{Scale: 100}).On(func(t *table.Table) *table.Table {
			t = t.Where("kind", protocol.CurveRow)
			at := t.Where("cell", method).Unique("triplets")
			return frame.Only("triplets", slices.DeleteFunc(slices.Clone(at), func(cell string) bool { return 5*protocol.Count("triplets", cell) < LastSize(t) })...)(t)
		}))
	}
	return p
}

var fig2bView = frame.View{
	Columns: 1, Missing: "any trial",
	Panels: frame.Each(paperPanel(asInThePaper, ChosenTest), abovePA(ChosenValid, append(protocol.Mapped(stepMethods, func(m protocol.StepMethod) string { return m.Name }), gnmdsMany)...)),
	Caption: frame.Says("Above: share of 5,000 other triplets (200 at smoke scale) that the kernels do not satisfy, against the triplets seen. A tie, as of objects of which nothing is known yet, is an error, which is the paper's measure; a kernel without ties that knows nothing errs on half of them. Below: by how much the share exceeds that of PA-ERKLE in the same trial, a tie being half an error, in percentage points.",
		"500 points drawn from N(0, I) in R⁵⁰ (25 at smoke scale), a tenth of the paper's objects and triplets.", "PA-ERKLE takes one pass and has no settings. GNMDS takes one or two gradient steps on all triplets so far after every mini-batch, a twentieth of all, going on from the kernel before or, in broken lines, from K = I. 100 iterations: at most that many accelerated ones after every fourth mini-batch, from the kernel before, with τ of erkle2015/tau. "+
			"Step size δ and weight τ of the trace are those with the least error summed over the curve, per trial, on validation triplets or, the paper's rule, on the test triplets.", ""),
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
		return plots.Caption{
			Shows:    "Errors of GNMDS with few steps by its settings. The last two columns count the trials in which a setting was chosen.",
			Protocol: fmt.Sprintf("First the step sizes δ were tried with τ = 0, then the weights τ of the trace (%s) with the best δ, by the errors summed over all checkpoints of a trial. δ multiplies the gradient of the sum over triplets.", stepTaus),
		}
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
