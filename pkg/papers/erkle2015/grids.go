package erkle2015

import (
	"slices"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/table"
)

// choicesOf are the choices of the rows of each combination of cells of some columns, but those that nothing was chosen for.
func choicesOf(of func(cells []string, g *table.Table) []experiment.Choice, columns ...string) func(*table.Table) []experiment.Choice {
	return func(t *table.Table) (out []experiment.Choice) {
		for cells, g := range frame.Groups(t, columns...) {
			out = append(out, slices.DeleteFunc(of(cells, g), func(c experiment.Choice) bool { return len(c.Chosen) == 0 })...)
		}
		return out
	}
}

// familyChoices are the settings of the families that the splits of a figure chose.
var familyChoices = choicesOf(func(cells []string, g *table.Table) []experiment.Choice {
	return mapped(append(slices.Clone(families), traceFamily), func(f family) experiment.Choice {
		return experiment.Choice{
			What: cells[0] + ", " + f.name + ": " + f.varies, Grid: f.values, Chosen: g.Where("kind", chosenKind, "method", f.name).Values("count"),
			NoHigher: slices.Contains(f.values, noLimit),
		}
	})
}, "cell")

// tauChoices are the weights of the trace with the least validation error, one per data set and method.
var tauChoices = choicesOf(func(cells []string, g *table.Table) []experiment.Choice {
	return []experiment.Choice{{What: cells[0] + ", " + cells[1] + ": τ", Grid: chosenNumbers(g, "tau"), Chosen: []float64{choiceOf(g).validated}}}
}, "data", "method")

// chosenNumbers are the different numbers in a column, in order of first appearance.
func chosenNumbers(g *table.Table, column string) []float64 {
	return mapped(g.Unique(column), func(cell string) float64 { return frame.Parse(column, cell) })
}

// stepChoices are the settings of GNMDS with few steps that trials chose on validation triplets: a size δ with τ = 0,
// and the weight τ with that δ.
var stepChoices = choicesOf(func(cells []string, g *table.Table) []experiment.Choice {
	delta := experiment.Choice{What: cells[0] + ": δ", Grid: stepDeltas}
	tau := experiment.Choice{What: cells[0] + ": τ", Grid: append(list[float64]{0}, stepTaus...), NoLower: true}
	if slices.ContainsFunc(stepMethods, func(m stepMethod) bool { return m.name == cells[0] }) {
		for _, trial := range g.Where("kind", curveRow, "rule", chosenValid).Group("trial") {
			delta.Chosen = append(delta.Chosen, chosenNumbers(trial, "delta")[0])
			tau.Chosen = append(tau.Chosen, chosenNumbers(trial, "tau")[0])
		}
	}
	return []experiment.Choice{delta, tau}
}, "cell")

// flipChoices are the weights of the trace that each trial chose on flipped validation triplets, by share and batch method.
var flipChoices = choicesOf(func(cells []string, g *table.Table) []experiment.Choice {
	return []experiment.Choice{{What: cells[0] + " flipped, " + cells[1] + ": τ", Grid: flipTaus, Chosen: chosenTaus(g)}}
}, "cell", "method")

// fig1Choices are what each trial of Fig. 1 chose: the weight of the trace at each size, and the size of plain gradient
// steps for each number of them, on validation or on test triplets.
func fig1Choices(t *table.Table) []experiment.Choice {
	return slices.Concat(fig1Taus(t.Where("cell", batchCell, "reading", atEachSize)), fig1Deltas(t.Where("cell", passesCell)))
}

var (
	fig1Taus = choicesOf(func(cells []string, g *table.Table) []experiment.Choice {
		return []experiment.Choice{{What: cells[0] + ", " + cells[1] + " triplets: τ", Grid: dataSets[0].grid(cells[0]), Chosen: g.Values("tau")}}
	}, "method", "triplets")
	fig1Deltas = choicesOf(func(cells []string, g *table.Table) []experiment.Choice {
		on := map[string]string{byValidation: "validation", byTest: "test"}[cells[1]]
		if on == "" || !isBatch(cells[0]) {
			return nil
		}
		return []experiment.Choice{{What: cells[0] + ", gradient steps: " + cells[2] + ", on " + on + " triplets: δ", Grid: fig1Steps, Chosen: g.Values("step")}}
	}, "method", "reading", "passes")
)

// denoiseChoices are the thresholds with the least validation error, by share of flipped answers and number of passes.
var denoiseChoices = choicesOf(func(cells []string, g *table.Table) []experiment.Choice {
	return []experiment.Choice{{
		What: cells[0] + " flipped, " + passesTitle(int(frame.Parse("passes", cells[1]))) + ": threshold on γ", Grid: rejectThresholds,
		Chosen: mapped(chosenThreshold(g), func(k int) float64 { return rejectThresholds[k] }),
	}}
}, "cell", "passes")
