package people

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/papers/erkle2015/batch"
	"metriclab/pkg/papers/erkle2015/learning"
	"metriclab/pkg/papers/erkle2015/protocol"
	"metriclab/pkg/papers/erkle2015/variants"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

var fig3Views = []experiment.View{
	{Name: "fig3a", Title: "Fig. 3a: test error on the music survey", Draw: onSurvey(musicErrors("test"))},
	{Name: "fig3b", Title: "Fig. 3b: error on the triplets seen so far, music survey", Draw: onSurvey(musicErrors("train"))},
	{Name: "fig3c", Title: "Fig. 3c: rank of the kernels, music survey", Draw: onSurvey(drawMusicRanks)},
	{Name: "fig3-conflicts", Title: "How much the answers of the music survey conflict, and what a conflict does", Draw: onSurvey(drawMusicConflicts)},
	{Name: "fig3-settings", Title: "Ours: other settings of ERKLE on the music survey", Draw: experiment.WithEnds(onSurvey(drawMusicSettings), answeredChoices)},
	{Name: "fig3-stopping", Title: "How the batch fits to the music survey ended", Draw: onSurvey(musicEndings)},
}

// onSurvey renders the whole survey where a table has it, else its public part.
func onSurvey(draw func(t *table.Table) (plots.Drawing, error)) func(t *table.Table) (plots.Drawing, error) {
	return func(t *table.Table) (plots.Drawing, error) { return draw(batch.SurveyRows(t)) }
}

// musicEndings tells how the batch fits to the survey ended.
func musicEndings(t *table.Table) (plots.Drawing, error) { return fitEndings(batch.SurveyOf(t))(t) }

// describeTau says which weights were taken.
func describeTau(t *table.Table, data string) string {
	var out []string
	for _, b := range learning.BatchNames {
		if protocol.IsSupplied(data) && t.Where("method", b).Len() == 0 {
			continue
		}
		c := batch.TauOf(t, data, b)
		out = append(out, fmt.Sprintf("%s %s (%s; %s)", b, table.Format(c.Validated), table.Format(c.BestOnTest), table.Format(c.AtEnd)))
	}
	return "τ is " + strings.Join(out, ", ") + "."
}

// onlineAbout says what the ERKLE methods are, and tauRule how τ is chosen.
const (
	onlineAbout = "PA-ERKLE: margin 1; STE-ERKLE: δ = 1; with 10 passes, each new triplet is followed by 9 updates on earlier ones. "
	tauRule     = "τ is one per method for all sizes and trials: that of the least mean validation error in erkle2015/tau. The paper has a validation set here, too. In brackets stand that of the least mean test error, the paper's rule on synthetic data, and that of the least validation error at the largest size. "
)

// suppliedRule is tauRule on data that a user has supplied.
var suppliedRule = strings.Replace(tauRule, "in erkle2015/tau", "over these, and fits run on with each trial's own", 1)

// rulesOf says how τ is chosen, and what was.
func rulesOf(t *table.Table, data string) string {
	rule := tauRule
	if protocol.IsSupplied(data) {
		rule = suppliedRule
	}
	return rule + describeTau(t, data)
}

// musicAbout describes the survey with its splits, and how the methods learn from them.
func musicAbout(data string) (about, fits string) {
	c := protocol.DataSetOf(data).Full
	about = fmt.Sprintf("Music survey (aset400) as released with the code of Stochastic Triplet Embedding: %d artists, 9,090 answers without repetitions and direct contradictions (the paper has 16,385). Each split has %d training triplets, %d validation triplets for τ and %d for the test (paper: 10,000, 1,000 and the rest, 5,385).",
		c.Objects, c.Train, c.Validation, c.Test)
	if data == protocol.FullSurvey {
		about = fmt.Sprintf("Music survey (aset400) as supplied: %d artists. As in the paper each split has %d training triplets, %d validation triplets for τ and the rest for the test.", c.Objects, c.Train, c.Validation)
	}
	return about, fmt.Sprintf("All methods start from K = I. Batch methods are fitted to the first 100 to %d triplets at %d sizes, each from the kernel of the size before. They stop at a residual of %g or after %d iterations; \"run on\" is a fit after up to %d more. The paper fits every 100 triplets and stops after 1000 iterations or at a change of the objective below 10⁻⁷.",
		c.Train, protocol.BatchSizes, protocol.BatchTol, protocol.BatchIterations, protocol.ConvergedIterations)
}

// musicCaption is a caption about the music survey.
func musicCaption(shows, protocol string, t *table.Table) plots.Caption {
	about, fits := musicAbout(batch.SurveyOf(t))
	return plots.Caption{Shows: shows, Data: about, Protocol: strings.TrimPrefix(protocol+" "+fits, " "), Intervals: batch.SplitsNote(t)}
}

// errorPanels show the errors of all methods on a part of a data set, with τ by validation.
func errorPanels(data, part, title string, b frame.Band) frame.Panels {
	p := frame.Panel{Panel: plots.Panel{Title: title, XLabel: "triplets seen", YLabel: batch.ErrorLabels[part], XLog: data == protocol.MaterialOwn}}
	for _, method := range learning.AllMethods {
		p.Of = append(p.Of, batch.ByRule(protocol.ByValidation).On(data).Line(method, protocol.StrictIn(part), b))
	}
	return batch.Apart(p)
}

// errorRows are rows of a text table: the errors at the end under the readings.
func errorRows(t *table.Table, data, part string, methods []string, b frame.Band) (out [][]string) {
	last := experiment.Last("sizes", batch.ByRule(protocol.ByValidation).On(data).Sizes(t))
	for _, method := range methods {
		row := []string{method}
		for _, r := range []batch.Reading{batch.ByRule(protocol.ByValidation), batch.TiesHalf, batch.ByRule(protocol.ByTest), batch.ByRule(protocol.ByEnd), batch.AfterRunOn} {
			e := frame.PlusMinus("", r.On(data).After(last, method, protocol.ErrorShare(part, r.Tie)), b, "%.2f").Of(t)
			if !learning.IsBatch(method) && len(row) > 2 {
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

// musicErrors shows the errors on a part.
func musicErrors(part string) func(t *table.Table) (plots.Drawing, error) {
	return func(t *table.Table) (plots.Drawing, error) {
		data := batch.SurveyOf(t)
		if len(batch.ByRule(protocol.ByValidation).On(data).Sizes(t)) == 0 {
			return plots.Missing("errors of any batch method"), nil
		}
		d := plots.Drawing{
			Panels: errorPanels(data, part, "", batch.OfSplits(t))(t),
			Text:   &plots.TextTable{Head: errorHead, Rows: errorRows(t, data, part, learning.AllMethods, batch.OfSplits(t))},
		}
		d.Caption = musicCaption(batch.ErrorsShown[part]+", a tie of the two distances counting as not satisfied, against the number of triplets seen. The table has it after all of them, and with a tie as half an error.",
			onlineAbout+rulesOf(t, data), t)
		return d, nil
	}
}

// drawMusicRanks shows the ranks of the batch methods, as the paper does, and tells those of ERKLE.
func drawMusicRanks(t *table.Table) (plots.Drawing, error) {
	b := batch.OfSplits(t)
	b.Scale = 1
	data := batch.SurveyOf(t)
	r, p := batch.ByRule(protocol.ByValidation).On(data), frame.Panel{Panel: plots.Panel{XLabel: "triplets seen", YLabel: "eigenvalues above 10⁻³ of the largest"}}
	for _, method := range learning.BatchNames {
		p.Of = append(p.Of, r.Line(method, frame.Column(batch.LooseRank), b), runOnPoints(method, b))
	}
	return frame.View{
		From: batch.WithNumber(batch.LooseRank), Panels: frame.Each(p), Missing: "kernels of any method",
		Caption: func(t *table.Table) plots.Caption {
			shows := "Rank of the kernels of the batch methods against the number of triplets seen. The paper names no tolerance; fig3-stopping has the ranks by 10⁻⁶, too. Points: the first and the last fit after up to 1000 more iterations."
			var online []float64
			ranked := batch.WithNumber(batch.LooseRank)(t) // at most sizes only errors were counted
			for _, method := range protocol.ERKLEs {
				if l, ok := r.Line(method, frame.Column(batch.LooseRank), b)(ranked).(plots.Line); ok {
					online = append(online, l.Y...)
				}
			}
			if len(online) > 0 {
				shows += fmt.Sprintf(" ERKLE, which the paper leaves out here, has a mean rank of %.0f to %.0f: an object that no triplet has named yet keeps the eigenvalue that K = I gives it, until the weight of the trace removes it.", slices.Min(online), slices.Max(online))
			}
			return musicCaption(shows, rulesOf(t, data), t)
		},
	}.Draw(t)
}

// runOnPoints are the ranks of the fits that have run on.
func runOnPoints(method string, b frame.Band) frame.Mark {
	return func(t *table.Table) plots.Mark {
		mark := protocol.Styles.Points(method)
		mark.Name = batch.RunOn(method)
		for size, g := range t.Where("method", batch.RunOn(method)).Group("triplets") {
			mean, half := b.Summarize(g.Values(batch.LooseRank)).Interval()
			mark.X, mark.Y, mark.YErr = append(mark.X, frame.Parse("triplets", size)), append(mark.Y, mean), append(mark.YErr, half)
		}
		if len(mark.X) == 0 {
			return nil
		}
		return mark
	}
}

func drawMusicConflicts(t *table.Table) (plots.Drawing, error) {
	steps, b := t.Where("kind", variants.StepKind), batch.OfSplits(t)
	b.Scale = 1
	text := &plots.TextTable{Head: []string{"what", "method", "mean over splits"}}
	for what, g := range t.Where("kind", variants.CountKind).Group("setting") {
		text.Rows = append(text.Rows, []string{what, "", plainMean(g.Values("count"))})
	}
	p := plots.Panel{XLabel: "mean length γ of a step in one pass", XMin: 0}
	for i, method := range []string{protocol.PAERKLE, protocol.STEERKLE} {
		mark := protocol.Styles.Intervals(method)
		for _, rel := range []triplets.Relation{triplets.RelationImplied, triplets.RelationUnordered, triplets.RelationConflicting} {
			name := protocol.RelationNames[rel]
			if i == 0 {
				counts := steps.Where("method", method, "setting", name).Values("count")
				text.Rows = append(text.Rows, []string{"training answers: " + describeRelation[rel], "", plainMean(counts)})
			}
			// Without such triplets in a trial there is no mean.
			lengths := slices.DeleteFunc(batch.MeanStep(method, rel)(t), math.IsNaN)
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
			"a step of length γ lowers d²(a, near) − d²(a, far) by 10γ before the projection. \"At most\": so many triplets are left out if each that conflicts with those kept before it is. A kernel satisfies all the others, so that conflicts alone force no larger training error.", "PA-ERKLE: margin 1; STE-ERKLE: δ = 1.", t),
	}, nil
}

// describeRelation names the relations in text.
var describeRelation = [...]string{triplets.RelationUnordered: "neither implied nor contradicted by earlier ones", triplets.RelationImplied: "implied by earlier ones", triplets.RelationConflicting: "contradicted by earlier ones"}

func plainMean(v []float64) string {
	return strconv.FormatFloat(math.Round(10*stat.Mean(v, nil))/10, 'f', -1, 64)
}

func drawMusicSettings(t *table.Table) (plots.Drawing, error) {
	b, last := batch.OfSplits(t), variants.AfterAll(t.Where("kind", variants.CurveKind))
	if t.Where("kind", variants.ChosenKind).Len() == 0 {
		return plots.Missing("other settings and batch methods"), nil
	}
	d := plots.Drawing{Columns: 2, Text: &plots.TextTable{Head: []string{"method", "setting", "validation error (%)", "test error (%)", "test error, ties half (%)", "training error (%)", "chosen (splits)"}}}
	row := func(method, setting string, g *table.Table, chosen string) {
		cells := []string{method, setting}
		for _, m := range []frame.Measure{protocol.StrictIn("validation"), protocol.TestErrors, protocol.TestHalf, protocol.StrictIn("train")} {
			cells = append(cells, b.Summarize(m(g)).Percent())
		}
		d.Text.Rows = append(d.Text.Rows, append(cells, chosen))
	}
	for _, f := range variants.Families {
		validation := plots.Intervals{Name: "validation", Color: plots.Vermillion, Shape: plots.Triangle}
		test := plots.Intervals{Name: "test"}
		percent := frame.Percent.By(b.Summarize)
		add := func(label string, g *table.Table) {
			percent.AddRow(&validation, label, protocol.StrictIn("validation")(g))
			percent.AddRow(&test, label, protocol.TestErrors(g))
		}
		count := map[float64]int{}
		for _, c := range t.Where("kind", variants.ChosenKind, "method", f.Name).Values("count") {
			count[c]++
		}
		for _, x := range f.Values {
			g := last.Where("method", f.Name, "setting", table.Format(x))
			add(f.Label(x), g)
			row(f.Name, f.Label(x), g, strconv.Itoa(count[x]))
		}
		g := last.Where("method", f.Ten())
		add("chosen, 10 passes", g)
		row(f.Ten(), "chosen after one pass", g, "")
		d.Panels = append(d.Panels, plots.Panel{Title: f.Name, XLabel: "error at the end (%)", Marks: []plots.Mark{validation, test}})
	}
	for _, method := range protocol.ERKLEs {
		row(method, "paper", last.Where("method", method), "")
	}
	d.Caption = musicCaption("Errors after all training triplets of other settings of ERKLE: one pass with each value, and ten passes with the value of the least validation error after one pass, which each split chooses for itself (the first of equals).",
		"One setting is changed at a time: the constant step δ of STE-ERKLE (paper: 1), the margin of PA-ERKLE (1), a largest step beyond which PA-ERKLE leaves a triplet out (none), and the form of the gradient. That is the paper's, or the true gradient in the Frobenius inner product, whose off-diagonal entries are half as large.", t)
	return d, nil
}

// fitEndings returns a table of how batch fits ended, of data or else of those that cells are named after.
func fitEndings(data string) func(t *table.Table) (plots.Drawing, error) {
	rounded := func(head, column string) frame.Cell {
		return frame.Cell{Head: head, Of: func(g *table.Table) string { return plainMean(g.Values(column)) }}
	}
	view := frame.View{
		From: batch.WithNumber("iterations"), Text: &frame.Text{By: []string{"cell", "data", "method", "method", "setting", "τ", "triplets", "triplets"}, Cells: []frame.Cell{
			rounded("iterations", "iterations"), batch.Largest("largest residual", "residual"),
			{Head: "stopped (splits)", Of: func(g *table.Table) string {
				var why []string
				for s, g := range g.Group("stopped") {
					why = append(why, fmt.Sprintf("%s (%d)", s, g.Len()))
				}
				slices.Sort(why)
				return strings.Join(why, ", ")
			}},
			rounded("rank (10⁻³)", batch.LooseRank), rounded("rank (10⁻⁶)", batch.FineRank),
		}},
		Caption: func(t *table.Table) plots.Caption {
			return plots.Caption{Shows: fmt.Sprintf("Iterations (mean over %d splits, at most %d, or %d more where a fit has run on), the residual of the stopping rule, which asks for %g, and the reasons for stopping. Mean ranks: eigenvalues above 10⁻³ and 10⁻⁶ of the largest.", len(t.Unique("trial")), protocol.BatchIterations, protocol.ConvergedIterations, protocol.BatchTol),
				Protocol: "Fits start from the kernel of the size before, the first from K = I."}
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
