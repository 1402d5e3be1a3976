package batch

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/papers/erkle2015/learning"
	"metriclab/pkg/papers/erkle2015/protocol"
	"metriclab/pkg/papers/erkle2015/variants"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// SplitsNote describes intervals over random splits of the same answers.
func SplitsNote(t *table.Table) string {
	n := len(t.Unique("trial"))
	if n < judge.MinTrials {
		return fmt.Sprintf("Means over %d random split(s); fewer than %d, so no intervals are given.", n, judge.MinTrials)
	}
	return fmt.Sprintf("Means over %d random splits; bands and ± are 95 %% intervals corrected for splits of the same answers (Nadeau and Bengio).", n)
}

// ErrorLabels and ErrorsShown say what the errors on a part are.
var (
	ErrorLabels = map[string]string{"test": "test error (%)", "train": "error on triplets seen (%)"}
	ErrorsShown = map[string]string{
		"test":  "Share of the test triplets that a kernel does not satisfy",
		"train": "Share of the training triplets seen so far that a kernel does not satisfy",
	}
)

// StandIns are the data sets that stand in for the paper's.
var StandIns = []string{protocol.Material, protocol.Zappos}

// SurveyOf is the survey about music that a table has: all of it where a user has supplied it, else its public part.
func SurveyOf(t *table.Table) string {
	if t.Where("cell", protocol.FullSurvey).Len() > 0 {
		return protocol.FullSurvey
	}
	return protocol.Music
}

// SurveyRows are those of the whole survey, or else all.
func SurveyRows(t *table.Table) *table.Table {
	if SurveyOf(t) == protocol.FullSurvey {
		return t.Where("cell", protocol.FullSurvey)
	}
	return t
}

// ScenesOf are the answers about outdoor scenes where a table has them, else the stand-ins.
func ScenesOf(t *table.Table) []string {
	if t.Where("cell", protocol.OutdoorScenes).Len() > 0 {
		return []string{protocol.OutdoorScenes}
	}
	return StandIns
}

// ScenesBand has the intervals of splits of the answers about outdoor scenes, or plain ones, and ScenesNote describes them.
func ScenesBand(t *table.Table) frame.Band {
	if g := t.Where("cell", protocol.OutdoorScenes); g.Len() > 0 {
		return OfSplits(g)
	}
	return Plain
}

func ScenesNote(t *table.Table) string {
	if g := t.Where("cell", protocol.OutdoorScenes); g.Len() > 0 {
		return SplitsNote(g)
	}
	return DrawsNote(t, false)
}

// DrawsNote describes intervals over random parts of the answers, which are small but in ownFiles.
func DrawsNote(t *table.Table, ownFiles bool) string {
	n := len(t.Unique("trial"))
	if n < judge.MinTrials {
		return fmt.Sprintf("Means over %d random draw(s) of triplets; fewer than %d, so no intervals are given.", n, judge.MinTrials)
	}
	note := fmt.Sprintf("Means over %d random draws of triplets with plain 95 %% t intervals, which cover the draw of triplets, given the objects and the people asked", n)
	if ownFiles {
		return note + "; every draw has nearly all triplets of both files, so that they cover little more than the order."
	}
	return note + "; two draws share few triplets."
}

// How the rows of erkle2015/released and erkle2015/released-answers were learned. The named programs are those of
// triplets.FitReleased.
const (
	onlineHow    = "online"
	singleHow    = "named programs, single fits"
	chainedHow   = "named programs, chained"
	certifiedHow = "certified"
)

// The parts of the synthetic cells.
const (
	singlePart        = "single fits"
	chainedPart       = "chained fits"
	passesPart        = "passes"
	chainedPassesPart = "passes, chained"
)

// Caps, declared before any full run. The paper's is 1000.
const (
	releasedCap = 1000
	// chainedCap is that of each of the 100 mini-batches, which start from the kernel of the one before.
	chainedCap = 100
	// answersCap and musicCap are those of few answers and of music, where an iteration takes .3 s.
	answersCap = 300
	musicCap   = 100
	// certifiedCap is that of triplets.BatchFactored, which needs some hundred.
	certifiedCap = 5000
)

// cappedEta is the first step of CKL where its cap is less than the paper's. From the program's 1e-5, which grows by 1 % an iteration, 100 iterations
// would not leave I, by our cap and not by the program: 1,000 of its steps add up to 21, and 100 from 0.1 to 17.
const cappedEta = 0.1

// releasedTaus are the weights to choose from, in the form τ = λ/(1 − λ), by method. The programs' CKL has no trace term, so that its τ is 0;
// certified fits of CKL have protocol.TauGrid, and those of GNMDS, which were best at the end of this one, 0.0001 too.
var releasedTaus = map[string]protocol.List[float64]{protocol.GNMDSBatch: {0.001, 0.01, 0.1, 1, 10}, protocol.STEBatch: protocol.TauGrid, protocol.CKLBatch: {0}}

// fewTaus are those where a fit takes long.
var fewTaus = map[string]protocol.List[float64]{protocol.GNMDSBatch: {0.1, 1, 10}, protocol.STEBatch: {0.1, 1, 10}, protocol.CKLBatch: {0}}

// musicTaus are those of music.
var musicTaus = map[string]protocol.List[float64]{protocol.GNMDSBatch: {1, 10}, protocol.STEBatch: {1, 10}, protocol.CKLBatch: {0}}

// releasedEtas are the first steps to choose from in Fig. 1c; 1 is the programs' own.
var releasedEtas = protocol.List[float64]{0.1, 0.3, 1, 3, 10}

// eachTest is the rule for τ that helps a batch method most: at each number of triplets the one of the least mean test error.
const eachTest = "τ best on test at each size"

// releasedRules are the readings of how τ is chosen, one τ for all trials: of the least mean error over trials, and over sizes but
// in eachTest. The paper's is one of the last two.
var releasedRules = []string{protocol.ByValidation, protocol.ByTest, eachTest}

// released is the reading of batch methods learned in one way, with τ and, where they differ, the first step by a rule; outside the rows where
// passes are varied.
func released(how, rule string) Reading {
	return Reading{Name: how + ", " + rule, At: AtAll, Rows: func(_, method string) frame.Rows {
		way := how
		if !learning.IsBatch(method) {
			way = onlineHow
		}
		return func(t *table.Table) *table.Table {
			g, columns := t.Where("method", method, "how", way), []string{"tau"}
			if slices.Contains(g.IndexNames(), "passes") {
				g, columns = g.Where("passes", ""), append(columns, "first step")
			}
			switch rule {
			case protocol.ByTest:
				return variants.BestRows("test", columns...)(g)
			case eachTest:
				return Joined("triplets", func(string) frame.Rows { return variants.BestRows("test", columns...) })(g)
			}
			return variants.BestRows("validation", columns...)(g)
		}
	}}
}

// namedPrograms says what the named programs are.
const namedPrograms = "The batch methods are GNMDS, STE and CKL as van der Maaten and Weinberger released them, which the paper names as what it ran. They are repeated from a description and started from I, as in the paper: " +
	"a gradient on one side of the diagonal, a general eigendecomposition, an end after five iterations in a row that do not lower the cost. "

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
		survey := t.Where("cell", SurveyOf(t))
		ranks := OfSplits(survey)
		ranks.Scale = 1
		return frame.View{
			Columns: 1, Missing: "answers about music",
			Panels: frame.Each(
				namedErrors("", "test", OfSplits(survey)), namedErrors("", "train", OfSplits(survey)),
				namedPanel(plots.Panel{YLabel: "rank of the kernel"}, learning.BatchNames, singleHow, frame.Column(LooseRank), ranks)),
			Caption: func(*table.Table) plots.Caption {
				return plots.Caption{
					Shows: "Share of the test triplets and of the training triplets seen so far that a kernel does not satisfy, a tie counting as not satisfied, and eigenvalues above 10⁻³ of the largest. fig3a and fig3b have the other ERKLE methods.",
					Data:  "The music survey of Fig. 3.",
					Protocol: namedPrograms + fmt.Sprintf("Each fit starts from I and has at most %d iterations (declared beforehand for their cost; the paper's cap is 1000). ", musicCap) + cappedNote +
						releasedTau + musicTaus[protocol.GNMDSBatch].String() + ", the one best on test over sizes and trials. PA-ERKLE: margin 1; STE-ERKLE: δ = 1.",
					Intervals: SplitsNote(t),
				}
			},
		}.Draw(survey)
	}},
	{Name: "released-fig4", Title: "Fig. 4 with the named programs, stand-ins unless the answers are supplied", Draw: func(t *table.Table) (plots.Drawing, error) {
		data, about := ScenesOf(t), "The stand-ins for answers about outdoor scenes of Fig. 4."
		if protocol.IsSupplied(data[0]) {
			about = "The answers about outdoor scenes of Fig. 4, as supplied."
		}
		return frame.View{
			From: frame.Only("cell", data...), Columns: 2, Missing: "stand-ins",
			Panels: frame.PerGroup(func(cells []string) frame.Panel { return namedErrors(cells[0], "test", ScenesBand(t)) }, "cell"),
			Caption: func(t *table.Table) plots.Caption {
				return plots.Caption{
					Shows: "Share of the test triplets that a kernel does not satisfy, a tie counting as not satisfied. fig4a has the other ERKLE methods.",
					Data:  about,
					Protocol: namedPrograms + fmt.Sprintf("Each fit starts from I and has at most %d iterations. ", answersCap) + cappedNote +
						releasedTau + fewTaus[protocol.GNMDSBatch].String() + ", the one best on test over sizes and trials. PA-ERKLE: margin 1; STE-ERKLE: δ = 1.",
					Intervals: ScenesNote(t),
				}
			},
		}.Draw(t)
	}},
	{Name: "released-answers-final", Title: "Errors of the named programs on answers after all triplets", Draw: frame.View{
		From: endsOf(singleHow), Missing: "any fit",
		Text: &frame.Text{By: []string{"cell", "data", "method", "method", "rule", "τ chosen", "τ", "τ"}, Cells: append([]frame.Cell{
			answersErrors("test error (%)", protocol.TestErrors), answersErrors("ties count half (%)", protocol.TestHalf), answersErrors("error on triplets seen (%)", protocol.StrictIn("train")),
		}, endings...)},
		Caption: func(t *table.Table) plots.Caption {
			data, corrected := "The music survey of Fig. 3 and the stand-ins of Fig. 4.", "on music"
			if slices.ContainsFunc(t.Unique("cell"), protocol.IsSupplied) {
				data, corrected = data+" Those of aset400 and of outdoor scenes are the paper's own answers, as supplied.", "on music and on the paper's own answers"
			}
			return frame.Says("Errors after all training triplets, and how the fits ended.", data,
				namedPrograms+fmt.Sprintf("At most %d iterations on music, %d elsewhere. ", musicCap, answersCap)+cappedNote+releasedTau+fewTaus[protocol.GNMDSBatch].String()+" (music: "+musicTaus[protocol.GNMDSBatch].String()+"); CKL has no trace term. "+
					starNote+"± are 95 % intervals, "+corrected+" corrected for splits of the same answers.", "")(t)
		},
	}.Draw},
}

// answersErrors is a cell with errors of one data set after all triplets.
func answersErrors(head string, m frame.Measure) frame.Cell {
	return frame.Cell{Head: head, Of: func(g *table.Table) string {
		b := Plain
		if name := experiment.FirstName(g, "cell"); name == protocol.Music || protocol.IsSupplied(name) {
			b = OfSplits(g)
		}
		return frame.WithInterval(head, m, b).Of(g)
	}}
}

// Apart shows the methods of a panel in two of one range, with names at the lines' ends: ERKLE, and the batch methods beside ten passes of PA-ERKLE.
func Apart(of frame.Panel) frame.Panels {
	return func(t *table.Table) (out []plots.Panel) {
		for _, all := range frame.Each(of)(t) {
			online, rest := all, all
			online.Title, rest.Title = strings.TrimPrefix(all.Title+": ERKLE", ": "), strings.TrimPrefix(all.Title+": batch methods", ": ")
			online.Marks, rest.Marks = nil, nil
			least, most := math.Inf(1), math.Inf(-1)
			for _, mark := range all.Marks {
				l := mark.(plots.Line)
				least, most = min(least, slices.Min(slices.Concat(l.Y, l.Lo))), max(most, slices.Max(slices.Concat(l.Y, l.Hi)))
				if !learning.IsBatch(l.Name) {
					online.Marks = append(online.Marks, l)
				}
				if learning.IsBatch(l.Name) || l.Name == protocol.PAERKLETen {
					rest.Marks = append(rest.Marks, l)
				}
			}
			for _, p := range []*plots.Panel{&online, &rest} {
				p.YMin, p.YMax = max(0, math.Floor(least)-1), math.Ceil(most)+1
			}
			out = append(out, online, rest)
		}
		return out
	}
}

// namedPanel shows a measure of methods against the triplets, with the τ best on test.
func namedPanel(p plots.Panel, methods []string, how string, m frame.Measure, b frame.Band) frame.Panel {
	p.XLabel, p.XLog = "triplets seen", true
	out := frame.Panel{Panel: p}
	for _, method := range methods {
		out.Of = append(out.Of, released(how, protocol.ByTest).Line(method, m, b))
	}
	return out
}

// namedErrors are the errors of the named programs on a part, beside those of ten passes of PA-ERKLE.
func namedErrors(title, part string, b frame.Band) frame.Panel {
	p := plots.Panel{Title: title, YLabel: ErrorLabels[part]}
	if part == "test" {
		p.YMin, p.YMax = 10, 65
	}
	return namedPanel(p, append([]string{protocol.PAERKLETen}, learning.BatchNames...), singleHow, protocol.StrictIn(part), b)
}

var releasedFig1b = frame.View{
	Columns: 1, Missing: "any trial",
	Panels: frame.Each(methodsPanel(singleHow, "the named programs, each fit from I"), methodsPanel(chainedHow, "the named programs, each from the kernel of the mini-batch before"), methodsPanel(certifiedHow, "batch methods solved to a residual of 10⁻³")),
	Caption: frame.Says("Test error against the number of triplets seen."+learning.ErrorIs, learning.Fig1Data,
		namedPrograms+fmt.Sprintf("They have at most %d iterations in the first panel, as the paper says, and %d per mini-batch of 100 triplets in the second. Below: our own fits of the same objectives, with a bound on how far each is from its minimum. "+cappedNote, releasedCap, chainedCap)+
			releasedTau+releasedTaus[protocol.GNMDSBatch].String()+" (GNMDS; solved also 0.0001) or "+protocol.TauGrid.String()+" (others), chained "+fewTaus[protocol.GNMDSBatch].String()+": one per method, best on test over sizes and trials, which is the paper's rule."+learning.NinePasses, ""),
}

// methodsPanel shows the test errors of all methods.
func methodsPanel(how, title string) frame.Panel {
	return namedPanel(plots.Panel{Title: title, YLabel: "test error (%)", YLog: true, YMin: 10, YMax: 60}, learning.AllMethods, how, protocol.TestErrors, Plain)
}

var releasedFig1c = frame.View{
	Columns: 1, Missing: "any trial",
	Panels: frame.Each(stepsPanel(passesPart, singleHow, "steps on all triplets, from I"), stepsPanel(chainedPassesPart, chainedHow, "steps on each mini-batch, from the kernel of the one before")),
	Caption: frame.Says("Test error after all training triplets against the number of passes: β of ERKLE, full gradient steps of the named programs."+learning.ErrorIs, learning.Fig1Data,
		namedPrograms+"Each number of steps has the first step η, one of "+releasedEtas.String()+", and τ, one of "+fewTaus[protocol.GNMDSBatch].String()+" (second panel: 1), that are best on test, the paper's rule for the step.", ""),
}

// stepsPanel shows the errors after passes of ERKLE, and after as many steps of the named programs.
func stepsPanel(cell, how, title string) frame.Panel {
	p := frame.Panel{Panel: plots.Panel{Title: title, XLabel: "passes, or gradient steps", YLabel: "test error (%)", XLog: true}}
	for _, pair := range learning.Fig1Pairs {
		p.Of = append(p.Of, stepsLine(passesPart, pair.Online, onlineHow), stepsLine(cell, pair.Batch.Name, how))
	}
	return p
}

// stepsLine is the least mean error of a method among the settings of each number of passes.
func stepsLine(cell, method, how string) frame.Mark {
	best := protocol.TestErrors.On(variants.BestRows("test", "tau", "first step"))
	return frame.Line(protocol.Styles.Line(method), "passes", best, frame.Percent).Where("cell", cell, "method", method, "how", how)
}

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
				g = variants.AfterAll(released(how, rule).Rows("", method)(g))
				g = g.With("rule", slices.Repeat([]string{rule}, g.Len()))
				parts = append(parts, frame.Called("τ", "tau", func(tau string) string { return starred(tau, among) })(g))
			}
		}
		for _, method := range protocol.ERKLEs {
			add(onlineHow, method, "")
		}
		for _, how := range hows {
			for _, b := range learning.BatchNames {
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
	given("iterations", frame.Of("iterations", frame.Column("iterations"), frame.Band{}, "%.0f")),
	given("iterations", frame.Cell{Head: "ended by five failures (%)", Of: func(g *table.Table) string {
		return strconv.Itoa(100 * g.Where("stopped", "no progress").Len() / g.Len())
	}}),
	frame.Of("rank", frame.Column(LooseRank), frame.Band{}, "%.1f"),
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
		[]frame.Cell{frame.WithInterval("test error (%)", protocol.TestErrors, frame.Percent), frame.WithInterval("ties count half (%)", protocol.TestHalf, frame.Percent)}, endings,
		[]frame.Cell{given("excess", frame.WithInterval("above the minimum (%)", frame.Column("excess"), frame.Percent)), given("residual", Largest("largest residual", "residual"))})},
	Caption: frame.Says("Errors after all training triplets, and how the fits ended."+learning.ErrorIs, learning.Fig1Data, namedPrograms+"Certified fits are our own of the same objectives, each with a bound on how far it is from its minimum, in units of the objective of K = 0 (the residual). Above the minimum is by how much the program's objective is greater than that of the certified fit with the same τ, in the same units. The programs' CKL has no trace term. Single fits have at most 1000 iterations, chained ones 100 per mini-batch. "+starNote+cappedNote, ""),
}

// Reading is one way to compare the methods on a data set.
type Reading struct {
	Name, data string
	// Rows are those of a method, one per trial and number of triplets.
	Rows func(data, method string) frame.Rows
	// At says at which of the numbers of triplets methods are compared that batch methods were fitted to.
	At func(sizes []string) []string
	// Tie is what a tie is taken off an error.
	Tie float64
}

// On is the reading of a data set.
func (r Reading) On(data string) Reading {
	r.data = data
	return r
}

// The numbers of triplets at which readings compare.
func AtAll(sizes []string) []string { return sizes }

// Sizes are the numbers of triplets to compare at, ascending: none without a batch method.
func (r Reading) Sizes(t *table.Table) []string {
	for _, b := range learning.BatchNames {
		if sizes := r.Rows(r.data, b)(t).Unique("triplets"); len(sizes) > 0 {
			return r.At(sizes)
		}
	}
	return nil
}

// mean is the mean over these numbers of what of measures at each.
func (r Reading) mean(of func(size string) frame.Measure) frame.Measure {
	return func(t *table.Table) []float64 {
		var each []frame.Measure
		for _, size := range experiment.NotEmpty(r.data+": sizes of a batch method", r.Sizes(t)) {
			each = append(each, of(size))
		}
		return frame.Mean(r.data+": trials at several sizes", each...)(t)
	}
}

// After is a measure of a method's rows after a number of triplets, by trial.
func (r Reading) After(size, method string, m frame.Measure) frame.Measure {
	return m.PerTrial("triplets", size).On(r.Rows(r.data, method))
}

// Of is a measure of a method, the mean over the numbers of triplets, by trial. Its rows are chosen once for all of them.
func (r Reading) Of(method string, m frame.Measure) frame.Measure {
	return func(t *table.Table) []float64 {
		rows := r.Rows(r.data, method)(t)
		chosen := r
		chosen.Rows = func(data, name string) frame.Rows {
			if name == method {
				return func(*table.Table) *table.Table { return rows }
			}
			return r.Rows(data, name)
		}
		return chosen.mean(func(size string) frame.Measure { return chosen.After(size, method, m) })(t)
	}
}

// Errors are those of a method on a part.
func (r Reading) Errors(part, method string) frame.Measure {
	return r.Of(method, protocol.ErrorShare(part, r.Tie))
}

// less is a unit per pair of methods, better first: the error of the worse minus that of the better, plus a margin.
func (r Reading) less(part string, margin float64, pairs ...[2]string) frame.Units {
	return frame.Over(pairs, func(p [2]string) (string, frame.Measure) {
		return p[0] + " and " + p[1], r.Errors(part, p[1]).Minus(r.Errors(part, p[0])).Plus(margin)
	})
}

// Line is a measure of a method against the number of triplets.
func (r Reading) Line(method string, m frame.Measure, b frame.Band) frame.Mark {
	return frame.Line(protocol.Styles.Line(method), "triplets", m, b).On(r.Rows(r.data, method))
}

// Joined are the rows that are picked from those of each cell of a column.
func Joined(column string, pick func(cell string) frame.Rows) frame.Rows {
	return func(t *table.Table) *table.Table {
		parts := []*table.Table{t.Rows()}
		for cell, g := range t.Group(column) {
			parts = append(parts, pick(cell)(g))
		}
		return table.Concat(parts...)
	}
}

// WithNumber are the rows that have a number in a column.
func WithNumber(column string) frame.Rows {
	return func(t *table.Table) *table.Table {
		var rows []int
		for i, v := range t.Values(column) {
			if !math.IsNaN(v) {
				rows = append(rows, i)
			}
		}
		return t.Rows(rows...)
	}
}

// splitRatio is n_test/n_train of the splits of the same answers.
func splitRatio(t *table.Table) float64 {
	rows := WithNumber("test triplets")(t)
	return experiment.SizeRatio("test to training triplets", experiment.First(rows, "test triplets"), experiment.Last("numbers of triplets", frame.Numbers(rows, "triplets")))
}

// The intervals of lines that are not negative: plain ones, in per cent, and those of splits of the same answers.
var Plain = frame.Band{Scale: 100, Possible: [2]float64{0, math.Inf(1)}}

func OfSplits(t *table.Table) frame.Band {
	return Plain.By(func(v []float64) judge.Summary { return judge.SummarizeResampled(v, splitRatio(t)) })
}

// Rank counts the eigenvalues above a share of the largest one: the paper names no tolerance.
const (
	LooseRank = "rank 1e-3"
	FineRank  = "rank 1e-6"
)
