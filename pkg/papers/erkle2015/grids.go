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
