package erkle2015

import (
	"fmt"
	"slices"
	"strings"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

var scenesViews = []experiment.View{
	{Name: "scenes", Title: "Questions asked as in Section 5.4, stand-ins: test error", Draw: experiment.WithEnds(drawScenes(testErrors, "test error (%)", "Share of the test triplets, themselves asked for in that way, that a kernel does not satisfy"), scenesChoices)},
	{Name: "scenes-train", Title: "Questions asked as in Section 5.4, stand-ins: error on the triplets seen so far", Draw: drawScenes(strictIn("train"), "error on triplets seen (%)", "Share of the training triplets seen so far that a kernel does not satisfy")},
	{Name: "scenes-random", Title: "Questions asked as in Section 5.4, stand-ins: error on answers to random questions", Draw: drawScenes(heldErrors, "error on random answers (%)", "Share of 1,000 answers to random questions, none of which is ever asked for, that a kernel does not satisfy")},
	{Name: "scenes-fits", Title: "How the batch fits to few answers ended", Draw: scenesFits.Draw},
}

// drawScenes draws a share of errors, per data set and way of asking, with τ by validation.
func drawScenes(of frame.Measure, label, shown string) func(t *table.Table) (plots.Drawing, error) {
	return func(t *table.Table) (plots.Drawing, error) {
		d := plots.Drawing{Columns: 2, Text: &plots.TextTable{Head: []string{"data", "answers", "method", "after the first triplets (%)", "mean over sizes (%)", "after all (%)", "after all, τ best on test (%)"}}}
		for key, g := range frame.Groups(t, "cell", "answers") {
			r := map[string]reading{}
			for _, rule := range []string{byValidation, byTest} {
				r[rule] = scenesBy(strings.Split(key[1], ",")[0], 0, rule).on(key[0])
			}
			p := frame.Panel{Panel: plots.Panel{Title: key[0] + ": " + key[1], XLabel: "triplets seen", YLabel: label}}
			for _, m := range allMethods {
				p.Of = append(p.Of, r[byValidation].line(styles[m], m, of, frame.Percent))
				if g.Where("method", m).Len() == 0 {
					continue
				}
				at := func(rule string, at func([]string) []string) string {
					return frame.WithInterval("", r[rule].as("", at).of(m, of), frame.Percent).Of(g)
				}
				d.Text.Rows = append(d.Text.Rows, append(key, m, at(byValidation, atStart), at(byValidation, atAll), at(byValidation, atEnd), at(byTest, atEnd)))
			}
			fewest := slices.Concat(scenesNames(t.Where("cell", key[0]), askedAdaptive)[:1], scenesNames(t.Where("cell", key[0]), askedRandom)[:1])
			if slices.Contains(fewest, key[1]) {
				d.Panels = append(d.Panels, frame.Each(p)(g)...)
			}
		}
		return frame.Given("any trial", d, func() plots.Caption {
			return plots.Caption{Shows: shown + ", a tie counting as not satisfied, against the number of triplets seen.", Protocol: scenesAbout, Intervals: experiment.TrialsNote(t, ", which cover the choice of questions and of parts, given the objects and the people asked")}
		}), nil
	}
}

var scenesAbout = fmt.Sprintf("Stand-ins for the paper's answers about 200 outdoor scenes, which are not public: people's answers about 100 materials (majorities of votes) and 85 shoes, of which those are taken that a protocol asks for. Adaptive: after 6 random questions about each object, rounds with one question about each: of up to %d random ones that have an answer, the one with the greatest expected information gain "+
	"(Tamuz et al. 2011, μ = 0.05) under the kernel of CKL with τ = %d, fitted before each round to all answers in up to %d iterations. Random: random questions about each object in turn. Section 5.4 names 3,600 answers and rounds that sum up to 5,200; panels show 3,600, the table both. Of these answers 1,000 random ones train, 600 validate τ and 1,000 test. "+
	"PA-ERKLE: margin 1; STE-ERKLE: δ = 1; with 10 passes, each new triplet is followed by 9 updates on earlier ones. Batch methods: each fit starts from the kernel of the size before and stops at a residual of %g or after %d iterations, with each trial's τ of {%s} that has the least validation error over the sizes.",
	300, activeTau, activeIterations, batchTol, convergedIterations, scenesTaus)

var scenesFits = frame.View{
	From: withNumber("residual"), Missing: "fits on any data",
	Text: &frame.Text{By: []string{"cell", "data", "answers", "answers", "method", "method", "tau", "τ"}, Cells: []frame.Cell{
		mean("iterations", "iterations", "%.0f"),
		frame.Of("fits above "+table.Format(batchTol)+" (%)", frame.Column("residual").Map(func(r float64) float64 {
			if r > batchTol {
				return 1
			}
			return 0
		}), frame.Percent, "%.0f"),
		largest("largest residual", "residual"),
	}},
	Caption: func(*table.Table) plots.Caption {
		return plots.Caption{Shows: fmt.Sprintf("How the batch fits of erkle2015/scenes ended, by L-BFGS on factors with projected steps, over all sizes and trials: mean iterations, of at most %d, the share of fits that ended above the residual of %g (GNMDS and STE: a bound on the distance from the minimum in units of the objective of K = 0; CKL: of its linearisation), and the largest residual.", convergedIterations, batchTol)}
	},
}
