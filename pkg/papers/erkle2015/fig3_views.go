package erkle2015

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

var fig3Views = []experiment.View{
	{Name: "fig3a", Title: "Fig. 3a: test error on the music survey", Draw: musicErrors("test")},
	{Name: "fig3b", Title: "Fig. 3b: error on the triplets seen so far, music survey", Draw: musicErrors("train")},
	{Name: "fig3c", Title: "Fig. 3c: rank of the kernels, music survey", Draw: drawMusicRanks},
	{Name: "fig3-conflicts", Title: "How much the answers of the music survey conflict, and what a conflict does", Draw: drawMusicConflicts},
	{Name: "fig3-settings", Title: "Ours: other settings of ERKLE on the music survey", Draw: experiment.WithEnds(drawMusicSettings, familyChoices)},
	{Name: "fig3-stopping", Title: "How the batch fits to the music survey ended", Draw: fitEndings(music)},
}

// allMethods are those of a figure, in the order of its legend.
var allMethods = slices.Concat(erkles, batchNames)

// tauReadings are the rules for τ that differ on a data set.
func tauReadings(data string) []string {
	for _, b := range batchNames {
		if c := tauOf(data, b); c.validated != c.bestOnTest {
			return []string{byValidation, byTest}
		}
	}
	return []string{byValidation}
}

// describeTau says which weights were taken.
func describeTau(data string) string {
	var out []string
	for _, b := range batchNames {
		c := tauOf(data, b)
		out = append(out, fmt.Sprintf("%s %s (%s; %s)", b, table.Format(c.validated), table.Format(c.bestOnTest), table.Format(c.atEnd)))
	}
	return "τ is " + strings.Join(out, ", ") + "."
}

// tauRule says how τ is chosen.
const tauRule = "τ, one per method for all sizes and trials, is that of the least mean validation error in erkle2015/tau, and in brackets that of the least mean test error, which is the paper's rule, and that of the least validation error at the largest size. "

// splitsNote describes intervals over random splits of the same answers.
func splitsNote(t *table.Table) string {
	n := len(t.Unique("trial"))
	if n < judge.MinTrials {
		return fmt.Sprintf("Means over %d random split(s); fewer than %d, so no intervals are given.", n, judge.MinTrials)
	}
	return fmt.Sprintf("Means over %d random splits; bands and ± are 95 %% intervals corrected for splits of the same answers (Nadeau and Bengio).", n)
}

// musicProtocol describes the data and the split.
var musicProtocol = func(c counts) string {
	return fmt.Sprintf("Music survey (aset400) as released with the code of Stochastic Triplet Embedding: %d artists, 9,090 answers without repetitions and direct contradictions (the paper has 16,385). Each split has %d training triplets, %d validation triplets for τ and %d for the test (paper: 10,000, 1,000 and the rest, 5,385). All methods start from K = I; "+
		"batch methods are fitted to the first 100 to %d triplets at %d sizes, each from the kernel of the size before, and stop at a residual of %g or after %d iterations; \"run on\" is a fit after up to %d more (the paper: every 100 triplets, 1000 iterations or a change of the objective below 10⁻⁷).",
		c.Objects, c.Train, c.Validation, c.Test, c.Train, batchSizes, batchTol, batchIterations, convergedIterations)
}(judgements[0].full)

// musicCaption is a caption about the music survey.
func musicCaption(shows, protocol string, t *table.Table) plots.Caption {
	return plots.Caption{Shows: shows, Protocol: strings.TrimPrefix(protocol+" "+musicProtocol, " "), Intervals: splitsNote(t)}
}

// errorPanels draw the errors of all methods on a part, a panel per rule for τ.
func errorPanels(data, part, title string, b frame.Band) []frame.Panel {
	taus := tauReadings(data)
	var out []frame.Panel
	for _, tau := range taus {
		p := frame.Panel{Panel: plots.Panel{Title: title, XLabel: "triplets seen", YLabel: errorLabels[part]}}
		if part == "test" {
			p.YMax = 60
		}
		if len(taus) > 1 {
			p.Title = strings.TrimPrefix(title+", ", ", ") + tau
		}
		for _, method := range allMethods {
			p.Of = append(p.Of, judgedBy(tau).on(data).line(styles[method], method, strictIn(part), b))
		}
		out = append(out, p)
	}
	return out
}

// errorLabels and errorsShown say what the errors on a part are.
var (
	errorLabels = map[string]string{"test": "test error (%)", "train": "error on triplets seen (%)"}
	errorsShown = map[string]string{
		"test":  "Share of the test triplets that a kernel does not satisfy",
		"train": "Share of the training triplets seen so far that a kernel does not satisfy",
	}
)

// errorRows are rows of a text table: the errors at the end under the readings.
func errorRows(t *table.Table, data, part string, methods []string, b frame.Band) (out [][]string) {
	last := experiment.Last("sizes", judgedBy(byValidation).on(data).sizes(t))
	for _, method := range methods {
		row := []string{method}
		for _, r := range []reading{judgedBy(byValidation), tiesHalf, judgedBy(byTest), judgedBy(byEnd), afterRunOn} {
			e := frame.PlusMinus("", r.on(data).after(last, method, errorShare(part, r.tie)), b, "%.2f").Of(t)
			if !isBatch(method) && len(row) > 2 {
				e = "–"
			}
			row = append(row, e)
		}
		if row[1] != "–" {
			out = append(out, row)
		}
	}
	return out
}

var errorHead = []string{"method", "error (%), τ by validation", "ties half (%)", "τ best on test (%)", "τ by validation at the end (%)", "τ by validation, run on (%)"}

// musicErrors draws the errors on a part.
func musicErrors(part string) func(t *table.Table) (plots.Drawing, error) {
	return func(t *table.Table) (plots.Drawing, error) {
		if len(judgedBy(byValidation).on(music).sizes(t)) == 0 {
			return plots.Missing("errors of any batch method"), nil
		}
		d := plots.Drawing{Columns: 1, Text: &plots.TextTable{Head: errorHead, Rows: errorRows(t, music, part, allMethods, ofSplits(t))}}
		for _, all := range frame.Each(errorPanels(music, part, "", ofSplits(t))...)(t) {
			d.Panels = append(d.Panels, apart(all)...)
		}
		d.Caption = musicCaption(errorsShown[part]+", a tie of the two distances counting as not satisfied, against the number of triplets seen; the table has it after all of them, and with a tie as half an error.",
			"PA-ERKLE: margin 1; STE-ERKLE: δ = 1; with 10 passes, each new triplet is followed by 9 updates on earlier ones. "+tauRule+describeTau(music), t)
		return d, nil
	}
}

// apart draws the methods of a panel in two, whose axes are equal, with names at the lines' ends: ERKLE, and the batch methods beside ten passes of PA-ERKLE.
func apart(all plots.Panel) []plots.Panel {
	const most = 60
	online, batch := all, all
	online.Marks, batch.Marks = nil, nil
	least := float64(most)
	for _, mark := range all.Marks {
		l := mark.(plots.Line)
		least = min(least, slices.Min(l.Y))
		if isBatch(l.Name) || l.Name == erkles[2] {
			batch.Marks = append(batch.Marks, l)
		}
		if !isBatch(l.Name) {
			online.Marks = append(online.Marks, l)
		}
	}
	out := []plots.Panel{online, batch}
	for i, title := range []string{"ERKLE", "batch methods"} {
		p := &out[i]
		p.Title = strings.TrimSuffix(title+", "+p.Title, ", ")
		p.XLog, p.Direct = true, true
		p.YMin, p.YMax, p.YLog = 0.8*least, most, least > 10 // training errors reach 0
	}
	return out
}

func drawMusicRanks(t *table.Table) (plots.Drawing, error) {
	b := ofSplits(t)
	b.Scale = 1
	taus := tauReadings(music)
	var panels []frame.Panel
	for _, tau := range taus {
		for _, column := range []string{looseRank, fineRank} {
			p := frame.Panel{Panel: plots.Panel{Title: "eigenvalues above " + map[string]string{looseRank: "10⁻³", fineRank: "10⁻⁶"}[column] + " of the largest", XLabel: "triplets seen", YLabel: "rank", XLog: true}}
			if len(taus) > 1 {
				p.Title += ", " + tau
			}
			for _, method := range allMethods {
				p.Of = append(p.Of, judgedBy(tau).on(music).line(styles[method], method, frame.Column(column), b))
			}
			for _, method := range batchNames {
				if tau == byValidation {
					p.Of = append(p.Of, runOnPoints(method, column, b))
				}
			}
			panels = append(panels, p)
		}
	}
	return frame.View{
		From: withNumber(looseRank), Panels: frame.Each(panels...), Columns: 2, Missing: "kernels of any method",
		Caption: func(t *table.Table) plots.Caption {
			return musicCaption("Number of eigenvalues of the kernel that are above a share of the largest one, against the number of triplets seen. The paper shows the batch methods and names no tolerance; ERKLE is added. An object that no triplet has named yet keeps the eigenvalue that K = I gives it, until the weight of the trace removes it. Points: the first and the last fit after up to 1000 more iterations.",
				tauRule+describeTau(music), t)
		},
	}.Draw(t)
}

// runOnPoints are the ranks of the fits that have run on.
func runOnPoints(method, column string, b frame.Band) frame.Mark {
	return func(t *table.Table) plots.Mark {
		mark := plots.Points{Name: runOn(method), Color: styles[method].Color}
		for size, g := range t.Where("method", runOn(method)).Group("triplets") {
			mean, half := b.Summarize(g.Values(column)).Interval()
			mark.X, mark.Y, mark.YErr = append(mark.X, frame.Parse("triplets", size)), append(mark.Y, mean), append(mark.YErr, half)
		}
		if len(mark.X) == 0 {
			return nil
		}
		return mark
	}
}

func drawMusicConflicts(t *table.Table) (plots.Drawing, error) {
	steps, b := t.Where("kind", stepKind), ofSplits(t)
	b.Scale = 1
	text := &plots.TextTable{Head: []string{"what", "method", "mean over splits"}}
	for what, g := range t.Where("kind", countKind).Group("setting") {
		text.Rows = append(text.Rows, []string{what, "", plainMean(g.Values("count"))})
	}
	p := plots.Panel{XLabel: "mean length γ of a step in one pass", XMin: 0}
	for i, method := range []string{paERKLE, steERKLE} {
		mark := plots.Intervals{Name: method, Color: styles[method].Color}
		for _, rel := range []relation{agreeing, newTriplet, conflicting} {
			name := relationNames[rel]
			if i == 0 {
				counts := steps.Where("method", method, "setting", name).Values("count")
				text.Rows = append(text.Rows, []string{"training answers: " + describeRelation[rel], "", plainMean(counts)})
			}
			// Without such triplets in a trial there is no mean.
			lengths := slices.DeleteFunc(meanStep(method, rel)(t), math.IsNaN)
			if len(lengths) == 0 {
				continue
			}
			mean, half := b.Summarize(lengths).Interval()
			mark.Labels, mark.X, mark.Err = append(mark.Labels, name), append(mark.X, mean), append(mark.Err, half)
			text.Rows = append(text.Rows, []string{"mean length of a step: " + describeRelation[rel], method, fmt.Sprintf("%.3f", mean)})
			p.XMax = math.Max(p.XMax, 1.1*(mean+half))
		}
		p.Marks = append(p.Marks, mark)
	}
	if steps.Len() == 0 {
		return plots.Missing("steps of ERKLE"), nil
	}
	return plots.Drawing{
		Panels: []plots.Panel{p}, Text: text,
		Caption: musicCaption("A triplet says that one pair of objects is closer than another, and chains of triplets imply more such orders. A training triplet is agreeing if a chain of those before it implies it, conflicting if one implies its opposite (no kernel can then satisfy all of them), else new. Figure: how far ERKLE steps on them on average in one pass, steps of length 0 included; "+
			"a step of length γ lowers d²(a, near) − d²(a, far) by 10γ before the projection. PA-ERKLE: margin 1; STE-ERKLE: δ = 1. \"At most\": so many triplets are left out if each that conflicts with those kept before it is; a kernel satisfies all the others, so that conflicts alone force no larger training error.", "", t),
	}, nil
}

// describeRelation names the relations in text.
var describeRelation = [...]string{newTriplet: "neither implied nor contradicted by earlier ones", agreeing: "implied by earlier ones", conflicting: "contradicted by earlier ones"}

func plainMean(v []float64) string {
	return strconv.FormatFloat(math.Round(10*stat.Mean(v, nil))/10, 'f', -1, 64)
}

func drawMusicSettings(t *table.Table) (plots.Drawing, error) {
	b, last := ofSplits(t), afterAll(t.Where("kind", curveKind))
	if t.Where("kind", chosenKind).Len() == 0 {
		return plots.Missing("other settings and batch methods"), nil
	}
	d := plots.Drawing{Columns: 2, Text: &plots.TextTable{Head: []string{"method", "setting", "validation error (%)", "test error (%)", "test error, ties half (%)", "training error (%)", "chosen (splits)"}}}
	row := func(method, setting string, g *table.Table, chosen string) {
		cells := []string{method, setting}
		for _, m := range []frame.Measure{strictIn("validation"), testErrors, testHalf, strictIn("train")} {
			cells = append(cells, b.Summarize(m(g)).Percent())
		}
		d.Text.Rows = append(d.Text.Rows, append(cells, chosen))
	}
	for _, f := range families {
		validation := plots.Intervals{Name: "validation", Color: 1}
		test := plots.Intervals{Name: "test", Color: 0}
		percent := frame.Percent.By(b.Summarize)
		add := func(label string, g *table.Table) {
			percent.AddRow(&validation, label, strictIn("validation")(g))
			percent.AddRow(&test, label, testErrors(g))
		}
		count := map[float64]int{}
		for _, c := range t.Where("kind", chosenKind, "method", f.name).Values("count") {
			count[c]++
		}
		for _, x := range f.values {
			g := last.Where("method", f.name, "setting", table.Format(x))
			add(f.label(x), g)
			row(f.name, f.label(x), g, strconv.Itoa(count[x]))
		}
		g := last.Where("method", f.ten())
		add("chosen, 10 passes", g)
		row(f.ten(), "chosen after one pass", g, "")
		d.Panels = append(d.Panels, plots.Panel{Title: f.name, XLabel: "error at the end (%)", Marks: []plots.Mark{validation, test}})
	}
	for _, method := range erkles {
		row(method, "paper", last.Where("method", method), "")
	}
	d.Caption = musicCaption("Other settings of ERKLE after all training triplets: the constant step δ of STE-ERKLE (paper: 1), the margin of PA-ERKLE (1), a largest step beyond which PA-ERKLE leaves a triplet out (none), and the form of the gradient: the paper's, or the true gradient in the Frobenius inner product, whose off-diagonal entries are half as large. One setting is changed at a time. "+
		"Shown: one pass with each value, and ten passes with the value of the least validation error after one pass, which each split chooses for itself (the first of equals).", "", t)
	return d, nil
}

// label writes a value of a family for a reader.
func (f family) label(x float64) string {
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

// fitEndings draws a table of how batch fits ended, of data or else of those that cells are named after.
func fitEndings(data string) func(t *table.Table) (plots.Drawing, error) {
	rounded := func(head, column string) frame.Cell {
		return frame.Cell{Head: head, Of: func(g *table.Table) string { return plainMean(g.Values(column)) }}
	}
	view := frame.View{
		From: withNumber("iterations"), Text: &frame.Text{By: []string{"cell", "data", "method", "method", "setting", "τ", "triplets", "triplets"}, Cells: []frame.Cell{
			rounded("iterations", "iterations"), largest("largest residual", "residual"),
			{Head: "stopped (splits)", Of: func(g *table.Table) string {
				var why []string
				for s, g := range g.Group("stopped") {
					why = append(why, fmt.Sprintf("%s (%d)", s, g.Len()))
				}
				slices.Sort(why)
				return strings.Join(why, ", ")
			}},
			rounded("rank (10⁻³)", looseRank), rounded("rank (10⁻⁶)", fineRank),
		}},
		Caption: func(t *table.Table) plots.Caption {
			return plots.Caption{Shows: fmt.Sprintf("Iterations (mean over %d splits, at most %d, or %d more where a fit has run on), the residual of the stopping rule, which asks for %g, the reasons for stopping, and mean ranks: eigenvalues above 10⁻³ and 10⁻⁶ of the largest. Fits start from the kernel of the size before, the first from K = I.",
				len(t.Unique("trial")), batchIterations, convergedIterations, batchTol)}
		},
		Missing: "fits of any batch method",
	}
	return func(t *table.Table) (plots.Drawing, error) {
		d, err := view.Draw(t)
		if d.Text != nil && data != "" {
			for _, row := range d.Text.Rows {
				row[0] = data
			}
		}
		return d, err
	}
}
