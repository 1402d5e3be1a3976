package people

import (
	"fmt"
	"slices"
	"strings"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/papers/erkle2015/batch"
	"metriclab/pkg/papers/erkle2015/learning"
	"metriclab/pkg/papers/erkle2015/protocol"
	"metriclab/pkg/papers/erkle2015/variants"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// activeTau and activeIterations are those of the batch methods, which are fitted anew, starting from the kernel
// before, once per answer and object.
const (
	activeTau        = 1
	activeIterations = 50
)

// scenesTaus are the weights of the trace to choose from. With ends at 0.01 and at 0.001 most trials chose these for GNMDS or CKL, and with one at 10 that
// for CKL, on validation triplets.
var scenesTaus = protocol.List[float64]{0.0001, 0.001, 0.01, 0.1, 1, 10, 100}

// How answers were collected, as tables name it.
const (
	askedAdaptive = "adaptive"
	askedRandom   = "random"
)

const (
	heldWrong = "random wrong"
	heldCount = "random triplets"
)

// scenesNames are the ways of asking that begin with how, the one with the fewest answers first.
func scenesNames(c *table.Table, how string) []string {
	var out []string
	for _, name := range c.Unique("answers") {
		if strings.HasPrefix(name, how+",") {
			out = append(out, name)
		}
	}
	return experiment.NotEmpty(how+" answers", out)
}

// scenesBy is the reading of one of the ways of asking that begin with how, by its place in scenesNames. Of a batch method it is
// with each trial's τ of the least mean error over sizes on validation triplets, as in the paper, or on the test triplets.
func scenesBy(how string, place int, rule string) batch.Reading {
	part := map[string]string{protocol.ByValidation: "validation", protocol.ByTest: "test"}[rule]
	return batch.Reading{Name: rule, At: batch.AtAll, Rows: func(data, method string) frame.Rows {
		return func(t *table.Table) *table.Table {
			names := scenesNames(t, how)
			if place >= len(names) {
				judge.Refuse("erkle2015: %s: %d numbers of %s answers, want more than %d", data, len(names), how, place)
			}
			return batch.Joined("trial", func(string) frame.Rows { return variants.BestRows(part, "tau") })(t.Where("answers", names[place], "method", method))
		}
	}}
}

// heldErrors are the shares of the random answers never asked for that are not satisfied, by row.
var heldErrors = frame.Share(heldWrong, heldCount)

// scenesChoices are the weights of the trace that trials chose on validation triplets, one per way of asking and method.
func scenesChoices(t *table.Table) []experiment.Choice {
	var out []experiment.Choice
	for key, g := range t.Groups("cell", "answers", "method") {
		if !learning.IsBatch(key[2]) {
			continue
		}
		c := experiment.Choice{What: strings.Join(key, ", ") + ": τ", Grid: frame.Numbers(g, "tau")}
		for _, rows := range g.Group("trial") {
			c.Chosen = append(c.Chosen, variants.ChoiceOf(rows, "tau").Validated)
		}
		out = append(out, c)
	}
	return out
}

var scenesViews = []experiment.View{
	{Name: "scenes", Title: "Questions asked as in Section 5.4, stand-ins: test error", Draw: experiment.WithEnds(drawScenes(protocol.TestErrors, "test error (%)", "Share of the test triplets, themselves asked for in that way, that a kernel does not satisfy"), scenesChoices)},
	{Name: "scenes-train", Title: "Questions asked as in Section 5.4, stand-ins: error on the triplets seen so far", Draw: drawScenes(protocol.StrictIn("train"), "error on triplets seen (%)", "Share of the training triplets seen so far that a kernel does not satisfy")},
	{Name: "scenes-random", Title: "Questions asked as in Section 5.4, stand-ins: error on answers to random questions", Draw: drawScenes(heldErrors, "error on random answers (%)", "Share of 1,000 answers to random questions, none of which is ever asked for, that a kernel does not satisfy")},
	{Name: "scenes-fits", Title: "How the batch fits to few answers ended", Draw: scenesFits.Draw},
}

// drawScenes shows a share of errors, per data set and way of asking, with τ by validation.
func drawScenes(of frame.Measure, label, shown string) func(t *table.Table) (plots.Drawing, error) {
	return func(t *table.Table) (plots.Drawing, error) {
		d := plots.Drawing{Columns: 2, Text: &plots.TextTable{Head: []string{"data", "answers", "method", "after the first triplets (%)", "mean over sizes (%)", "after all (%)", "after all, τ best on test (%)"}}}
		for key, g := range t.Groups("cell", "answers") {
			by := func(rule string) batch.Reading { return scenesBy(strings.Split(key[1], ",")[0], 0, rule).On(key[0]) }
			p := frame.Panel{Panel: plots.Panel{Title: key[0] + ": " + key[1], XLabel: "triplets seen", YLabel: label}}
			for _, m := range learning.AllMethods {
				p.Of = append(p.Of, by(protocol.ByValidation).Line(m, of, frame.Percent))
				if g.Where("method", m).Len() == 0 {
					continue
				}
				at := func(rule string, at func([]string) []string) string {
					return frame.WithInterval("", by(rule).As("", at).Of(m, of), frame.Percent).Of(g)
				}
				d.Text.Rows = append(d.Text.Rows, append(key, m, at(protocol.ByValidation, batch.AtStart), at(protocol.ByValidation, batch.AtAll), at(protocol.ByValidation, batch.AtEnd), at(protocol.ByTest, batch.AtEnd)))
			}
			fewest := slices.Concat(scenesNames(t.Where("cell", key[0]), askedAdaptive)[:1], scenesNames(t.Where("cell", key[0]), askedRandom)[:1])
			if slices.Contains(fewest, key[1]) {
				d.Panels = append(d.Panels, batch.Apart(p)(g)...)
			}
		}
		return frame.Given("any trial", d, func() plots.Caption {
			return plots.Caption{Shows: shown + ", a tie counting as not satisfied, against the number of triplets seen.", Data: scenesData, Protocol: scenesAbout, Intervals: experiment.TrialsNote(t, ", which cover the choice of questions and of parts, given the objects and the people asked")}
		}), nil
	}
}

const scenesData = "Stand-ins for the paper's answers about 200 outdoor scenes, which are not public: people's answers about 100 materials (majorities of votes) and 85 shoes, of which those are taken that a protocol asks for. Of these 1,000 random ones train, 600 validate τ and 1,000 test."

var scenesAbout = fmt.Sprintf("Adaptive: after 6 random questions about each object come rounds with one question about each. Of up to %d random ones that have an answer, the one with the greatest expected information gain is asked "+
	"(Tamuz et al. 2011, μ = 0.05) under the kernel of CKL. That has τ = %d and is fitted before each round to all answers in up to %d iterations. Random: random questions about each object in turn. Section 5.4 names 3,600 answers and rounds that sum up to 5,200; panels show 3,600, the table both. "+
	onlineAbout+"Batch methods: each fit starts from the kernel of the size before and stops at a residual of %g or after %d iterations, with each trial's τ of {%s} that has the least validation error over the sizes.",
	300, activeTau, activeIterations, protocol.BatchTol, protocol.ConvergedIterations, scenesTaus)

var scenesFits = frame.View{
	From: batch.WithNumber("residual"), Missing: "fits on any data",
	Text: &frame.Text{By: []string{"cell", "data", "answers", "answers", "method", "method", "tau", "τ"}, Cells: []frame.Cell{
		frame.Of("iterations", frame.Column("iterations"), frame.Band{}, "%.0f"),
		frame.Of("fits above "+table.Format(protocol.BatchTol)+" (%)", frame.Column("residual").Map(func(r float64) float64 {
			if r > protocol.BatchTol {
				return 1
			}
			return 0
		}), frame.Percent, "%.0f"),
		batch.Largest("largest residual", "residual"),
	}},
	Caption: func(*table.Table) plots.Caption {
		return plots.Caption{
			Shows:    fmt.Sprintf("How the batch fits of erkle2015/scenes ended, over all sizes and trials: mean iterations, of at most %d, the share of fits that ended above the residual of %g, and the largest residual.", protocol.ConvergedIterations, protocol.BatchTol),
			Protocol: "Fits are by L-BFGS on factors with projected steps. The residual of GNMDS and STE bounds the distance from the minimum in units of the objective of K = 0, that of CKL the distance from that of its linearisation.",
		}
	},
}
