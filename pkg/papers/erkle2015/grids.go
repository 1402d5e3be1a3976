package erkle2015

import (
	"slices"

	"metriclab/pkg/experiment"
	"metriclab/pkg/table"
)

// familyChoices are the settings of the families that the splits of a figure chose.
func familyChoices(t *table.Table) []experiment.Choice {
	var out []experiment.Choice
	for cell, g := range t.Group("cell") {
		for _, f := range append(slices.Clone(families), traceFamily) {
			if chosen := g.Where("kind", chosenKind, "method", f.name).Values("count"); len(chosen) > 0 {
				out = append(out, experiment.Choice{
					What: cell + ", " + f.name + ": " + f.varies, Grid: f.values, Chosen: chosen,
					NoHigher: slices.Contains(f.values, noLimit),
				})
			}
		}
	}
	return out
}

// tauChoices are the weights of the trace with the least validation error, one per data set and method.
func tauChoices(t *table.Table) []experiment.Choice {
	var out []experiment.Choice
	for key, g := range groups(t, "data", "method") {
		c := experiment.Choice{What: key[0] + ", " + key[1] + ": τ", Chosen: []float64{choiceOf(g).validated}}
		for _, tau := range g.Unique("tau") {
			c.Grid = append(c.Grid, numberIn("tau", tau))
		}
		out = append(out, c)
	}
	return out
}

// stepChoices are the settings of GNMDS with few steps that trials chose on validation triplets: a size δ with τ = 0,
// and the weight τ with that δ.
func stepChoices(t *table.Table) []experiment.Choice {
	var out []experiment.Choice
	for _, m := range stepMethods {
		chosen := t.Where("cell", m.name, "kind", curveRow, "rule", chosenValid)
		delta := experiment.Choice{What: m.name + ": δ", Grid: stepDeltas}
		tau := experiment.Choice{What: m.name + ": τ", Grid: append(list[float64]{0}, stepTaus...), NoLower: true}
		for _, g := range chosen.Group("trial") {
			delta.Chosen = append(delta.Chosen, numberIn("delta", g.Unique("delta")[0]))
			tau.Chosen = append(tau.Chosen, numberIn("tau", g.Unique("tau")[0]))
		}
		if len(delta.Chosen) > 0 {
			out = append(out, delta, tau)
		}
	}
	return out
}

// flipChoices are the weights of the trace that each trial chose on flipped validation triplets, by share and batch method.
func flipChoices(t *table.Table) []experiment.Choice {
	var out []experiment.Choice
	for key, g := range groups(t, "cell", "method") {
		c := experiment.Choice{What: key[0] + " flipped, " + key[1] + ": τ", Grid: flipTaus}
		for _, tau := range g.Values("tau") {
			if tau == tau { // ERKLE has none
				c.Chosen = append(c.Chosen, tau)
			}
		}
		if len(c.Chosen) > 0 {
			out = append(out, c)
		}
	}
	return out
}

// fig1Choices are what each trial of Fig. 1 chose: the weight of the trace at each size, and the size of plain gradient
// steps for each number of them, on validation or on test triplets.
func fig1Choices(t *table.Table) []experiment.Choice {
	var out []experiment.Choice
	d := dataSets[0]
	for key, g := range groups(t.Where("cell", batchCell, "reading", atEachSize), "method", "triplets") {
		out = append(out, experiment.Choice{What: key[0] + ", " + key[1] + " triplets: τ", Grid: d.grid(key[0]), Chosen: g.Values("tau")})
	}
	for key, g := range groups(t.Where("cell", passesCell), "method", "reading", "passes") {
		if !slices.Contains(tauRules, key[1]) || !slices.ContainsFunc(batches, func(b batchMethod) bool { return b.name == key[0] }) {
			continue
		}
		on := "validation"
		if key[1] == byTest {
			on = "test"
		}
		out = append(out, experiment.Choice{What: key[0] + ", gradient steps: " + key[2] + ", on " + on + " triplets: δ", Grid: fig1Steps, Chosen: g.Values("step")})
	}
	return out
}

// denoiseChoices are the thresholds with the least validation error, by share of flipped answers and number of passes.
func denoiseChoices(t *table.Table) []experiment.Choice {
	var out []experiment.Choice
	for cell, g := range t.Group("cell") {
		for _, passes := range g.Unique("passes") {
			_, thresholds := chosenThreshold(g, passes)
			if len(thresholds) > 0 {
				out = append(out, experiment.Choice{What: cell + " flipped, " + passesTitle(int(numberIn("passes", passes))) + ": threshold on γ", Grid: rejectThresholds, Chosen: thresholds})
			}
		}
	}
	return out
}
