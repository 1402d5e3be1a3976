package pola2004

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"metriclab/pkg/experiment"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
	"metriclab/pkg/text"
)

// filterVariants change one open choice of Fig. 4's protocol each. In two of them all
// algorithms run, elsewhere POLA with the nearest pair alone.
var filterVariants = []struct {
	name   string
	change func(*filterSettings)
}{
	{mainVariant, func(*filterSettings) {}},
	{variantFirst, func(s *filterSettings) { s.Warm = warmDocuments }},
	{variantGrid, func(*filterSettings) {}},
	{"b1 = 0", func(s *filterSettings) { s.B1 = 0 }},
	{"b1 = 10", func(s *filterSettings) { s.B1 = 10 }},
	{"250 words", func(s *filterSettings) { s.Words /= 2 }},
	{"1000 words", func(s *filterSettings) { s.Words *= 2 }},
	{"words by information gain", func(s *filterSettings) { s.Select = text.SelectInformationGain }},
	{"training part of ModApte", func(s *filterSettings) { s.Documents = modApteTrain }},
	{"all 21,578 documents", func(s *filterSettings) { s.Documents = allDocuments }},
}

const (
	variantFirst = "first words"
	variantGrid  = "relaxations"
)

// Fig4Sensitivity sweeps what the paper leaves open in Fig. 4, on topics that
// are not in the figure, and chooses the main setting and PAUM's margins.
var Fig4Sensitivity = experiment.Spec{
	ID:      "pola2004/fig4-sensitivity",
	Title:   "How the open choices of Fig. 4's protocol move its errors, on rarer topics",
	Source:  "Section 7, Fig. 4; choices that the paper does not state",
	Ours:    true,
	Version: 2,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		var cells []experiment.Cell
		for _, topic := range newsTopics(scale, true) {
			for _, v := range filterVariants {
				s := mainFilter
				v.change(&s)
				cells = append(cells, experiment.Cell{
					Name: topic + " " + v.name, Dataset: newsDataset(scale), Methods: newsMethods,
					Settings: filterVariantSettings{s.at(scale, topic), v.name},
				})
			}
		}
		return cells
	},
	Trials:  func(experiment.Scale) int { return 1 },
	Kinds:   fig4Kinds,
	Columns: fig4Columns,
	Trial: func(ctx context.Context, run *experiment.Run) error {
		s := run.Cell.Settings.(filterVariantSettings)
		return filterTopic(ctx, run, s.Variant, s.filterSettings, s.contenders())
	},
	Views: []experiment.View{
		{Name: "fig4-sensitivity", Title: "Open choices of Fig. 4: mean error over rarer topics", Draw: experiment.WithEnds(drawFig4Sensitivity, fig4GridChoices)},
		{Name: "fig4-sensitivity-relaxation", Title: "POLA's error over γ and the length of documents, on rarer topics", Draw: drawRelaxations},
		{Name: "fig4-sensitivity-paum", Title: "PAUM's error over its margins, on rarer topics", Draw: paumView(settingsRatioLow, topicRatioLow, "Fig. 4 has the margins with the least error here.").Draw},
	},
	Choices: fig4GridChoices,
	Cost:    40 * time.Second,
}

type filterVariantSettings struct {
	filterSettings
	Variant string `key:"variant"`
}

// contenders are the algorithms that run. The main setting and the words of the first
// documents have all, PAUM with all margins in the main setting, which chooses them.
// Elsewhere POLA runs alone, with the nearest pair.
func (s filterVariantSettings) contenders() []contender {
	relax := []relaxation{plainPOLA, relaxedPOLA}
	switch s.Variant {
	case mainVariant:
		return contenders(s.B1, paumGrid)
	case variantFirst:
		return contenders(s.B1, []margins{paumChosen})
	case variantGrid:
		relax = relaxations
	}
	var out []contender
	for _, r := range relax {
		out = append(out, polaContender(s.B1, r, nearestPair))
	}
	return out
}

// variantName is what a reader sees of a variant.
func variantName(v string) string {
	if v == variantFirst {
		return "words of the first documents"
	}
	return symbols.Replace(v)
}

// fig4GridChoices are the settings of Fig. 4, each with the least mean error over the rarer topics.
// A margin, a length and γ = 0 (no slack) are numbers with ends; below γ = 0 there is nothing.
func fig4GridChoices(t *table.Table) []experiment.Choice {
	var out []experiment.Choice
	if grid := t.Where("setting", variantGrid); grid.Len() > 0 {
		gamma, length := experiment.Choice{What: "POLA: γ", NoLower: true}, experiment.Choice{What: "POLA: length of documents"}
		for _, r := range relaxations {
			gamma.Grid, length.Grid = append(gamma.Grid, r.Gamma), append(length.Grid, r.Length)
		}
		r := bestRelaxation(grid)
		gamma.Chosen, length.Chosen = []float64{r.Gamma}, []float64{r.Length}
		out = append(out, gamma, length)
	}
	if main := t.Where("setting", mainVariant); main.Len() > 0 {
		relevant, irrelevant := experiment.Choice{What: "PAUM: margin of relevant documents"}, experiment.Choice{What: "PAUM: margin of irrelevant documents"}
		for _, m := range paumGrid {
			relevant.Grid, irrelevant.Grid = append(relevant.Grid, m.Positive), append(irrelevant.Grid, m.Negative)
		}
		m := bestOf(main)
		relevant.Chosen, irrelevant.Chosen = []float64{m.Positive}, []float64{m.Negative}
		out = append(out, relevant, irrelevant)
	}
	return out
}

// bestRelaxation returns the relaxation with the least mean error over the topics.
func bestRelaxation(t *table.Table) relaxation { return least(t, relaxations, nearestPair.method, 1) }

// rarerTopics names the topics of a table in captions.
func rarerTopics(t *table.Table) string {
	topics := t.Unique("topic")
	slices.Sort(topics)
	return fmt.Sprintf("topics that are rarer than those of Fig. 4 (ratio of relevant to irrelevant documents from %g to %g: %s)",
		settingsRatioLow, topicRatioLow, strings.Join(topics, ", "))
}

func drawRelaxations(t *table.Table) (plots.Drawing, error) {
	if t = t.Where("setting", variantGrid); t.Len() == 0 {
		return plots.Missing("the grid of relaxations"), nil
	}
	var cells []string
	h := heat(relaxations, func(r relaxation) (row, column float64) { return r.Gamma, r.Length }, func(r relaxation) balancedError {
		e := meanError(t, nearestPair.method(r))
		cells = append(cells, e.String())
		return e
	})
	text := &plots.TextTable{Head: []string{"γ"}}
	for _, length := range h.XTicks {
		text.Head = append(text.Head, "length "+length.Label)
	}
	for i, gamma := range h.YTicks { // the order of the grid
		text.Rows = append(text.Rows, append([]string{gamma.Label}, cells[i*len(h.XTicks):(i+1)*len(h.XTicks)]...))
	}
	best := bestRelaxation(t)
	return plots.Drawing{
		Panels: []plots.Panel{{XLabel: "length of the documents", YLabel: "γ", Marks: []plots.Mark{h}}},
		Text:   text,
		Caption: plots.Caption{
			Shows:    fmt.Sprintf("Mean balanced error of POLA with the nearest pair over %s, for the relaxation γ of Eq. 12 (0 is the algorithm of Fig. 1) and the Euclidean length to which documents are scaled.", rarerTopics(t)),
			Protocol: fmt.Sprintf("Least at γ = %s and length %s, which is the relaxed POLA of Fig. 4.", table.Format(best.Gamma), table.Format(best.Length)),
		},
	}, nil
}

func drawFig4Sensitivity(t *table.Table) (plots.Drawing, error) {
	if t.Where(withErrors...).Len() == 0 {
		return plots.Missing(noErrors), nil
	}
	d := plots.Drawing{Columns: 2, Text: &plots.TextTable{Head: []string{"setting", "method", "error (%)"}}}
	add := func(mark *plots.Intervals, setting, method, label string) {
		e := meanError(t.Where("setting", setting), method)
		mean, half := e.Interval()
		mark.Labels, mark.X, mark.Err = append(mark.Labels, label), append(mark.X, 100*mean), append(mark.Err, 100*half)
		d.Text.Rows = append(d.Text.Rows, []string{variantName(setting), method, e.String()})
	}
	left := plots.Panel{Title: "one choice changed", XLabel: "mean error (%)"}
	for k, form := range polaForms {
		mark := plots.Intervals{Name: form.name, Color: k}
		for _, setting := range t.Unique("setting") {
			if setting != variantGrid {
				add(&mark, setting, nearestPair.method(form.relax), variantName(setting))
			}
		}
		left.Marks = append(left.Marks, mark)
	}
	right := plots.Panel{Title: "algorithms", XLabel: "mean error (%)"}
	for k, v := range []string{mainVariant, variantFirst} {
		if t.Where("setting", v).Len() == 0 {
			continue
		}
		mark := plots.Intervals{Name: variantName(v), Color: k + len(polaForms)}
		for _, r := range polaReadings {
			add(&mark, v, r.method, r.name)
		}
		for _, r := range rivalsOfPOLA {
			add(&mark, v, r.method, r.method)
		}
		right.Marks = append(right.Marks, mark)
	}
	d.Panels = []plots.Panel{left, right}
	d.Caption = plots.Caption{
		Shows: fmt.Sprintf("Mean balanced error over %s; the protocol is that of Fig. 4.", rarerTopics(t)),
		Protocol: "Left: POLA with the nearest pair, one choice changed at a time: start threshold b₁, number and choice of words (by information gain: " +
			"about the topic's labels in the whole stream), documents in the stream; what the other algorithms gain by such a change was not run. Right: all algorithms in the main setting, and with words of the first documents only; PAUM with the margins of Fig. 4. " +
			"The main setting chose PAUM's margins and POLA's relaxation for Fig. 4. No topic of Fig. 4 took part, but documents of these topics often have one of Fig. 4's too: nearly all on soybean also have oilseed.",
		Intervals: "95 % intervals are a jackknife over consecutive segments of the stream.",
	}
	return d, nil
}
