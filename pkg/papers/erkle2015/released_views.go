package erkle2015

import (
	"fmt"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// namedPrograms says what the named programs are.
const namedPrograms = "The batch methods are GNMDS, STE and CKL as van der Maaten and Weinberger released them, which the paper names as what it ran; repeated from a description, the start being I as in the paper: a gradient on one side of the diagonal, a general eigendecomposition, an end after five iterations in a row that do not lower the cost. "

// cappedNote says how CKL starts where the cap is less than the paper's.
var cappedNote = "CKL starts with η = " + table.Format(cappedEta) + " there, since from the program's 10⁻⁵ so few iterations would not leave I. "

const releasedTau = "The weight τ = λ/(1 − λ) is one of " // and the grids follow

var releasedViews = []experiment.View{
	{Name: "released-fig1b", Title: "Fig. 1b with the named programs, and with batch methods that are solved", Draw: releasedFig1b.Draw},
	{Name: "released-fig1c", Title: "Fig. 1c with the named programs", Draw: releasedFig1c.Draw},
	{Name: "released-final", Title: "Errors after all triplets, and how far from the minimum the fits ended", Draw: releasedFinal.Draw},
}

var releasedAnswersViews = []experiment.View{
	{Name: "released-fig3", Title: "Fig. 3 with the named programs", Draw: func(t *table.Table) (plots.Drawing, error) {
		ranks := ofSplits(t.Where("cell", music))
		ranks.Scale = 1
		return frame.View{
			Of: []string{"cell", music}, Columns: 1, Missing: "answers about music",
			Panels: frame.Each(
				namedErrors("", "test", ofSplits(t.Where("cell", music))), namedErrors("", "train", ofSplits(t.Where("cell", music))),
				namedPanel(plots.Panel{YLabel: "rank of the kernel"}, batchNames, singleHow, frame.Column(looseRank), ranks)),
			Caption: func(*table.Table) plots.Caption {
				return plots.Caption{
					Shows: "Music survey: share of the test triplets and of the training triplets seen so far that a kernel does not satisfy, a tie counting as not satisfied, and eigenvalues above 10⁻³ of the largest.",
					Protocol: namedPrograms + fmt.Sprintf("Each fit starts from I and has at most %d iterations (declared beforehand for their cost; the paper's cap is 1000). ", musicCap) + cappedNote +
						releasedTau + musicTaus[gnmdsBatch].String() + ", the one best on test over sizes and trials. PA-ERKLE: margin 1; STE-ERKLE: δ = 1.",
					Intervals: splitsNote(t),
				}
			},
		}.Draw(t)
	}},
	{Name: "released-fig4", Title: "Fig. 4, stand-ins, with the named programs", Draw: frame.View{
		Columns: 1, Missing: "stand-ins",
		Panels: func(t *table.Table) (out []plots.Panel) {
			for _, data := range standIns {
				out = append(out, frame.Each(namedErrors(data, "test", plain)).Where("cell", data)(t)...)
			}
			return out
		},
		Caption: func(t *table.Table) plots.Caption {
			return plots.Caption{
				Shows: "Stand-ins for answers about outdoor scenes: share of the test triplets that a kernel does not satisfy, a tie counting as not satisfied.",
				Protocol: namedPrograms + fmt.Sprintf("Each fit starts from I and has at most %d iterations. ", answersCap) + cappedNote +
					releasedTau + fewTaus[gnmdsBatch].String() + ", the one best on test over sizes and trials. PA-ERKLE: margin 1; STE-ERKLE: δ = 1.",
				Intervals: drawsNote(t, false),
			}
		},
	}.Draw},
	{Name: "released-answers-final", Title: "Errors of the named programs on answers after all triplets", Draw: frame.View{
		From: endsOf(singleHow), Missing: "any fit",
		Text: &frame.Text{By: []string{"cell", "data", "method", "method", "rule", "τ chosen", "τ", "τ"}, Cells: append([]frame.Cell{
			answersErrors("test error (%)", testErrors), answersErrors("ties count half (%)", testHalf), answersErrors("error on triplets seen (%)", strictIn("train")),
		}, endings...)},
		Caption: frame.Says("After all training triplets.", "",
			namedPrograms+fmt.Sprintf("At most %d iterations on music, %d elsewhere. ", musicCap, answersCap)+cappedNote+releasedTau+fewTaus[gnmdsBatch].String()+" (music: "+musicTaus[gnmdsBatch].String()+"); CKL has no trace term. "+
				starNote+"± are 95 % intervals, on music corrected for splits of the same answers.", ""),
	}.Draw},
}

// answersErrors is a cell with errors of one data set after all triplets.
func answersErrors(head string, m frame.Measure) frame.Cell {
	return frame.Cell{Head: head, Of: func(g *table.Table) string {
		b := plain
		if experiment.FirstName(g, "cell") == music {
			b = ofSplits(g)
		}
		return frame.WithInterval(head, m, b).Of(g)
	}}
}

// namedPanel draws a measure of methods against the triplets, with the τ best on test.
func namedPanel(p plots.Panel, methods []string, how string, m frame.Measure, b frame.Band) frame.Panel {
	p.XLabel, p.XLog, p.Direct = "triplets seen", true, true
	out := frame.Panel{Panel: p}
	for _, method := range methods {
		out.Of = append(out.Of, released(how, byTest).line(styles[method], method, m, b))
	}
	return out
}

// namedErrors are the errors of the named programs on a part.
func namedErrors(title, part string, b frame.Band) frame.Panel {
	return namedPanel(plots.Panel{Title: title, YLabel: errorLabels[part], YMax: 60}, allMethods, singleHow, strictIn(part), b)
}

var releasedFig1b = frame.View{
	Columns: 1, Missing: "any trial",
	Panels: frame.Each(methodsPanel(singleHow, "the named programs, each fit from I"), methodsPanel(chainedHow, "the named programs, each from the kernel of the mini-batch before"), methodsPanel(certifiedHow, "batch methods solved to a residual of 10⁻³")),
	Caption: frame.Says("Test error against the number of triplets seen.", "",
		namedPrograms+fmt.Sprintf("They have at most %d iterations in the first panel, as the paper says, and %d per mini-batch of 100 triplets in the second; below, our own fits of the same objectives, with a bound on how far each is from its minimum. "+cappedNote, releasedCap, chainedCap)+
			releasedTau+releasedTaus[gnmdsBatch].String()+" (GNMDS; solved also 0.0001) or "+tauGrid.String()+" (others), chained "+fewTaus[gnmdsBatch].String()+": one per method, best on test over sizes and trials, which is the paper's rule."+ninePasses+" "+fig1Setup, ""),
}

// methodsPanel draws the test errors of all methods.
func methodsPanel(how, title string) frame.Panel {
	return namedPanel(plots.Panel{Title: title, YLabel: "test error (%)", YLog: true, YMin: 10, YMax: 60}, allMethods, how, testErrors, plain)
}

var releasedFig1c = frame.View{
	Columns: 1, Missing: "any trial",
	Panels: frame.Each(stepsPanel(singleHow, "steps on all triplets, from I"), stepsPanel(chainedHow, "steps on each mini-batch, from the kernel of the one before")),
	Caption: frame.Says("Test error after all training triplets against the number of passes: β of ERKLE, full gradient steps of the named programs.", "",
		namedPrograms+"Each number of steps has the first step η, one of "+releasedEtas.String()+", and τ, one of "+fewTaus[gnmdsBatch].String()+" (second panel: 1), that are best on test, the paper's rule for the step. "+fig1Setup, ""),
}

// stepsPanel draws the errors after passes of ERKLE, and after as many steps of the named programs.
func stepsPanel(how, title string) frame.Panel {
	p := frame.Panel{Panel: plots.Panel{Title: title, XLabel: "passes, or gradient steps", YLabel: "test error (%)", XLog: true, Direct: true}}
	for _, pair := range fig1Pairs {
		p.Of = append(p.Of, stepsLine(pair.online, onlineHow), stepsLine(pair.batch.name, how))
	}
	return p
}

// stepsLine is the least mean error of a method among the settings of each number of passes.
func stepsLine(method, how string) frame.Mark {
	best := testErrors.On(bestRows("test", "tau", "first step"))
	return frame.Line(styles[method], "passes", best, frame.Percent).On(passesRows).Where("method", method, "how", how)
}

// passesRows are the rows in which passes are varied.
var passesRows = joined("passes", func(passes string) frame.Rows {
	if passes == "" {
		return func(t *table.Table) *table.Table { return t.Rows() }
	}
	return frame.Only("passes", passes)
})

// starred is a weight, with a star if it is at an end of the weights among which it was chosen.
func starred(tau string, among []string) string {
	if tau == "" {
		return "" // of an online method
	}
	var grid []float64
	for _, x := range among {
		grid = append(grid, frame.Parse("tau", x))
	}
	if x := frame.Parse("tau", tau); len(grid) > 1 && (x == slices.Min(grid) || x == slices.Max(grid)) {
		return tau + "*"
	}
	return tau
}

// starNote explains the star of starred.
const starNote = "A star marks a τ at an end of its grid. "

// endsOf are the rows of all methods in each cell after all triplets, under each rule for τ. New columns name the rule and the τ, with a star at an end of its grid.
func endsOf(hows ...string) frame.Rows {
	return func(t *table.Table) *table.Table {
		parts := []*table.Table{t.Rows().With("rule", nil).With("τ", nil)}
		add := func(how, method, rule string) {
			for _, g := range t.Group("cell") {
				among := g.Where("method", method, "how", how).Unique("tau")
				g = afterAll(released(how, rule).rows("", method)(g))
				g = g.With("rule", slices.Repeat([]string{rule}, g.Len()))
				parts = append(parts, frame.Called("τ", "tau", func(tau string) string { return starred(tau, among) })(g))
			}
		}
		for _, method := range erkles {
			add(onlineHow, method, "")
		}
		for _, how := range hows {
			for _, b := range batchNames {
				for _, rule := range releasedRules {
					add(how, b, rule)
				}
			}
		}
		return table.Concat(parts...)
	}
}

// endings are the mean number of iterations, the share of fits that ended by five failures, and the rank.
var endings = []frame.Cell{
	given("iterations", mean("iterations", "iterations", "%.0f")),
	given("iterations", frame.Cell{Head: "ended by five failures (%)", Of: func(g *table.Table) string {
		return strconv.Itoa(100 * g.Where("stopped", "no progress").Len() / g.Len())
	}}),
	mean("rank", looseRank, "%.1f"),
}

// given is a cell that is empty where a column has no number.
func given(column string, c frame.Cell) frame.Cell {
	return frame.Cell{Head: c.Head, Of: func(g *table.Table) string {
		if floats.HasNaN(g.Values(column)) {
			return ""
		}
		return c.Of(g)
	}}
}

var releasedFinal = frame.View{
	From: endsOf(singleHow, chainedHow, certifiedHow), Missing: "any trial",
	Text: &frame.Text{By: []string{"how", "how", "method", "method", "rule", "τ chosen", "τ", "τ"}, Cells: slices.Concat(
		[]frame.Cell{frame.WithInterval("test error (%)", testErrors, frame.Percent), frame.WithInterval("ties count half (%)", testHalf, frame.Percent)}, endings,
		[]frame.Cell{given("excess", frame.WithInterval("above the minimum (%)", frame.Column("excess"), frame.Percent)), given("residual", largest("largest residual", "residual"))})},
	Caption: frame.Says("After all training triplets.", "", namedPrograms+"Certified fits are our own of the same objectives, each with a bound on how far it is from its minimum, in units of the objective of K = 0 (the residual); above the minimum is by how much the program's objective is greater than that of the certified fit with the same τ, in the same units. The programs' CKL has no trace term. Single fits have at most 1000 iterations, chained ones 100 per mini-batch. "+starNote+cappedNote+fig1Setup, ""),
}
