package variants

import (
	"fmt"
	"math"
	"slices"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/papers/erkle2015/learning"
	"metriclab/pkg/papers/erkle2015/protocol"
	"metriclab/pkg/table"
)

// rejectThresholds are the largest steps among which validation chooses, ascending: those of erkle2015/flips.
var rejectThresholds = []float64{.15, .2, .3}

func handleReject(threshold float64) string { return fmt.Sprintf("reject γ > %g", threshold) }

// handleRejects are the names of the thresholds.
var handleRejects = protocol.Mapped(rejectThresholds, handleReject)

func passesTitle(passes int) string {
	if passes == 1 {
		return "1 pass"
	}
	return fmt.Sprintf("%d passes", passes)
}

// rejectedErrors are, by trial, the test errors of the threshold with the least validation error, and chosenThreshold is its number.
var rejectedErrors, chosenThreshold = frame.Least(protocol.StrictIn("validation"), protocol.TestErrors, "handling", handleRejects...)

// Label writes a value of a family for a reader.
func (f Family) Label(x float64) string {
	switch {
	case x == noLimit:
		return "no limit"
	case f.varies == gradientForm:
		if x == 1 {
			return "Frobenius"
		}
		return "printed"
	}
	return f.varies + " " + table.Format(x)
}

// flipTaus are the weights of the trace from which one is chosen per trial, on validation triplets that are flipped too.
var flipTaus = []float64{0.1, 1, 3, 10, 30, 100, 300}

// chosenTaus are the weights τ that a batch method chose; ERKLE has none.
func chosenTaus(g *table.Table) []float64 {
	return slices.DeleteFunc(slices.Clone(g.Values("tau")), math.IsNaN)
}

// FamilyChoices are the settings of the families that the splits of a figure chose.
var FamilyChoices = learning.ChoicesOf(func(cells []string, g *table.Table) []experiment.Choice {
	return protocol.Mapped(append(slices.Clone(Families), TraceFamily), func(f Family) experiment.Choice {
		forms := f.varies == gradientForm // the numbers stand for names
		return experiment.Choice{
			What: cells[0] + ", " + f.Name + ": " + f.varies, Grid: f.Values, Chosen: g.Where("kind", ChosenKind, "method", f.Name).Values("count"),
			NoLower: forms, NoHigher: forms || slices.Contains(f.Values, noLimit),
		}
	})
}, "cell")

// TauChoices are the weights of the trace with the least validation error, one per data set and method.
var TauChoices = learning.ChoicesOf(func(cells []string, g *table.Table) []experiment.Choice {
	return []experiment.Choice{{What: cells[0] + ", " + cells[1] + ": τ", Grid: learning.ChosenNumbers(g, "tau"), Chosen: []float64{ChoiceOf(g, "tau").Validated}}}
}, "data", "method")

// SuppliedTaus are the weights of the trace with the least validation error on data that a user has supplied, in Figs. 3 and 4.
var SuppliedTaus = learning.ChoicesOf(func(cells []string, g *table.Table) []experiment.Choice {
	if !protocol.IsSupplied(cells[0]) || !learning.IsBatch(cells[1]) {
		return nil
	}
	return []experiment.Choice{{What: cells[0] + ", " + cells[1] + ": τ", Grid: learning.ChosenNumbers(g, "setting"), Chosen: []float64{ChoiceOf(g, "setting").Validated}}}
}, "cell", "method")

// flipChoices are the weights of the trace that each trial chose on flipped validation triplets, by share and batch method.
var flipChoices = learning.ChoicesOf(func(cells []string, g *table.Table) []experiment.Choice {
	return []experiment.Choice{{What: cells[0] + " flipped, " + cells[1] + ": τ", Grid: flipTaus, Chosen: chosenTaus(g)}}
}, "cell", "method")

// denoiseChoices are the thresholds with the least validation error, by share of flipped answers and number of passes.
var denoiseChoices = learning.ChoicesOf(func(cells []string, g *table.Table) []experiment.Choice {
	return []experiment.Choice{{
		What: cells[0] + " flipped, " + passesTitle(int(frame.Parse("passes", cells[1]))) + ": threshold on γ", Grid: rejectThresholds,
		Chosen: protocol.Mapped(chosenThreshold(g), func(k int) float64 { return rejectThresholds[k] }),
	}}
}, "cell", "passes")

// BestRows are the rows with the cells of some columns that have the least mean error on a part: the first of equals.
func BestRows(part string, columns ...string) frame.Rows {
	return func(t *table.Table) *table.Table {
		best, least := t, math.Inf(1)
		for _, g := range t.Groups(columns...) {
			if e := judge.Summarize(protocol.StrictIn(part)(g)).Mean; e < least {
				best, least = g, e
			}
		}
		return best
	}
}

// AfterAll are the rows after all training triplets.
func AfterAll(t *table.Table) *table.Table {
	if t.Len() == 0 {
		return t
	}
	return t.Where("triplets", table.Format(experiment.Last("numbers of triplets", frame.Numbers(t, "triplets"))))
}

// The kinds of rows of Figs. 3 and 4.
const (
	CurveKind  = "curve"
	ChosenKind = "chosen"
	StepKind   = "step"
	CountKind  = "count"
)

// Family is a setting of ERKLE that the paper leaves open or fixes, varied.
type Family struct {
	Name   string // of the method
	varies string // what the numbers are, for a reader
	Values []float64
	Params func(x float64) triplets.ERKLEParams
}

// Families are the readings of ERKLE that are chosen on validation triplets. Each has the paper's own value.
var Families = []Family{
	{"STE-ERKLE, step", "δ", []float64{0.03, 0.1, 0.3, 1}, func(x float64) triplets.ERKLEParams {
		return triplets.ERKLEParams{Loss: triplets.STE, Step: triplets.StepConstant, Delta: x}
	}},
	{"PA-ERKLE, margin", "margin", []float64{0.1, 0.3, 1, 3}, func(x float64) triplets.ERKLEParams {
		return triplets.ERKLEParams{Margin: x}
	}},
	{"PA-ERKLE, largest step", "largest step", []float64{0.15, 0.2, 0.3, 0.5, noLimit}, func(x float64) triplets.ERKLEParams {
		return triplets.ERKLEParams{Reject: x}
	}},
	{"PA-ERKLE, gradient", gradientForm, []float64{1, 2}, func(x float64) triplets.ERKLEParams {
		g := triplets.GradientPrinted
		if x == 1 {
			g = triplets.GradientFrobenius
		}
		return triplets.ERKLEParams{Gradient: g}
	}},
}

// gradientForm marks the family of the forms of the gradient, by their off-diagonal entries.
const gradientForm = "gradient"

// TraceFamily is the trace penalty of the paper's future work, with ten passes. Its values span the improvement on the validation
// triplets of one split that no trial has.
var TraceFamily = Family{protocol.PATrace, "τ", []float64{0.01, 0.03, 0.05}, func(x float64) triplets.ERKLEParams {
	return triplets.ERKLEParams{Trace: x, Beta: protocol.TenPasses}
}}

// noLimit is a largest step that no step reaches.
const noLimit = 1e6

// Ten is the name of a family's method with ten passes.
func (f Family) Ten() string { return f.Name + ", 10 passes" }

// ChoiceOf is what the rows of one data set and method choose among the weights in a column.
func ChoiceOf(g *table.Table, column string) protocol.TauChoice {
	best := func(part string, g *table.Table) float64 {
		return frame.Parse(column, experiment.FirstName(BestRows(part, column)(g), column))
	}
	return protocol.TauChoice{Validated: best("validation", g), BestOnTest: best("test", g), AtEnd: best("validation", AfterAll(g))}
}
