package pola2004

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
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
		{Name: "fig4-sensitivity", Title: "Open choices of Fig. 4: mean error over rarer topics", Draw: experiment.WithEnds(fig4SensitivityView.Draw, fig4GridChoices)},
		{Name: "fig4-sensitivity-relaxation", Title: "POLA's error over γ and the length of documents, on rarer topics", Draw: relaxationsView.Draw},
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
		r := least(grid, relaxations, nearestPair.method, 1)
		gamma.Chosen, length.Chosen = []float64{r.Gamma}, []float64{r.Length}
		out = append(out, gamma, length)
	}
	if main := t.Where("setting", mainVariant); main.Len() > 0 {
		relevant, irrelevant := experiment.Choice{What: "PAUM: margin of relevant documents"}, experiment.Choice{What: "PAUM: margin of irrelevant documents"}
		for _, m := range paumGrid {
			relevant.Grid, irrelevant.Grid = append(relevant.Grid, m.Positive), append(irrelevant.Grid, m.Negative)
		}
		m := least(main, paumGrid, margins.method, 1)
		relevant.Chosen, irrelevant.Chosen = []float64{m.Positive}, []float64{m.Negative}
		out = append(out, relevant, irrelevant)
	}
	return out
}

// rarerTopics names the topics of a table in captions.
func rarerTopics(t *table.Table) string {
	topics := t.Unique("topic")
	slices.Sort(topics)
	return fmt.Sprintf("topics that are rarer than those of Fig. 4 (ratio of relevant to irrelevant documents from %g to %g: %s)",
		settingsRatioLow, topicRatioLow, strings.Join(topics, ", "))
}

// relaxed are the relaxations by the method that has them.
var relaxed = func() map[string]relaxation {
	out := map[string]relaxation{}
	for _, r := range relaxations {
		out[nearestPair.method(r)] = r
	}
	return out
}()

var relaxationsView = frame.View{
	Of: []string{"setting", variantGrid, "kind", "errors"},
	From: frame.Called("gamma", "method", func(method string) string { return table.Format(relaxed[method].Gamma) }).
		Then(frame.Called("length", "method", func(method string) string { return table.Format(relaxed[method].Length) })),
	Panels: frame.Each(frame.Panel{
		Panel: plots.Panel{XLabel: "length of the documents", YLabel: "γ"},
		Of:    []frame.Mark{heat(relaxations, func(r relaxation) (row, column float64) { return r.Gamma, r.Length }, nearestPair.method)},
	}),
	Text:    &frame.Text{By: []string{"gamma", "γ"}, Cells: []frame.Cell{atLength("0.5"), atLength("1"), atLength("2"), atLength("4")}},
	Missing: "the grid of relaxations",
	Caption: func(t *table.Table) plots.Caption {
		best := least(t, relaxations, nearestPair.method, 1)
		return plots.Caption{
			Shows:    fmt.Sprintf("Mean balanced error of POLA with the nearest pair over %s, for the relaxation γ of Eq. 12 (0 is the algorithm of Fig. 1) and the Euclidean length to which documents are scaled.", rarerTopics(t)),
			Protocol: fmt.Sprintf("Least at γ = %s and length %s, which is the relaxed POLA of Fig. 4.", table.Format(best.Gamma), table.Format(best.Length)),
		}
	},
}

// atLength is a column with the error for documents of a length.
func atLength(length string) frame.Cell {
	return frame.PlusMinus("length "+length, balancedError.Where("length", length), jackknifed, "%.1f")
}

var fig4SensitivityView = frame.View{
	Needs: withErrors,
	From: func(t *table.Table) *table.Table {
		settings := slices.DeleteFunc(t.Unique("setting"), func(setting string) bool { return setting == variantGrid })
		named := frame.Called("shown", "setting", variantName).Then(frame.Called("reading", "method", fig4Name))
		return frame.Only("kind", "errors").Then(frame.Only("setting", settings...)).Then(frame.Only("method", fig4Methods...)).Then(named)(t)
	},
	Columns: 2,
	Panels: frame.Each(
		frame.Panel{Panel: plots.Panel{Title: "one choice changed", XLabel: "mean error (%)"}, Of: marksChanged},
		frame.Panel{Panel: plots.Panel{Title: "algorithms", XLabel: "mean error (%)"}, Of: marksOfAll},
	),
	Text:    &frame.Text{Head: []string{"setting", "method"}, Rows: fig4SensitivityRows, Cells: []frame.Cell{frame.PlusMinus("error (%)", balancedError, jackknifed, "%.1f")}},
	Missing: noErrors,
	Caption: func(t *table.Table) plots.Caption {
		return plots.Caption{
			Shows: "Mean balanced error. Left: POLA with the nearest pair, one choice changed at a time: start threshold b₁, number and choice of words (by information gain: " +
				"about the topic's labels in the whole stream), documents in the stream. Right: all algorithms in the main setting, and with words of the first documents only; PAUM with the margins of Fig. 4.",
			Data: fmt.Sprintf("Documents on %s. No topic of Fig. 4 took part, but documents of these topics often have one of Fig. 4's too: nearly all on soybean also have oilseed.", rarerTopics(t)),
			Protocol: "The protocol is that of Fig. 4. What the other algorithms gain by a change of one choice was not run. " +
				"The main setting chose PAUM's margins and POLA's relaxation for Fig. 4.",
			Intervals: "95 % intervals are a jackknife over consecutive segments of the stream.",
		}
	},
}

var marksChanged, marksOfAll, fig4SensitivityRows = sensitivityMarks()

// sensitivityMarks are the marks of both panels, and the rows of the table in their order.
func sensitivityMarks() (changed, algorithms []frame.Mark, rows []frame.Row) {
	mark := func(style plots.Intervals, labels string, of ...string) frame.Mark {
		return frame.Dots(style, labels, balancedError, jackknifed).Where(of...)
	}
	row := func(setting, method string) {
		rows = append(rows, frame.Row{Names: []string{variantName(setting), method}, Of: []string{"setting", setting, "method", method}})
	}
	for _, form := range polaForms {
		method := nearestPair.method(form.relax)
		changed = append(changed, mark(styles.Intervals(form.name), "shown", "method", method))
		for _, v := range filterVariants {
			if v.name != variantGrid {
				row(v.name, method)
			}
		}
	}
	for k, setting := range []string{mainVariant, variantFirst} {
		algorithms = append(algorithms, mark(plots.Intervals{Name: variantName(setting), Color: []int{plots.Black, plots.Olive}[k], Shape: plots.Cross + k}, "reading", "setting", setting))
		for _, method := range fig4Methods {
			row(setting, method)
		}
	}
	return changed, algorithms, rows
}
