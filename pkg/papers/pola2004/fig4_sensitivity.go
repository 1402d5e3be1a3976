package pola2004

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
	"metriclab/pkg/text"
)

// filterVariants change one open choice of Fig. 4's protocol each, for POLA with
// the nearest pair; runsAll says that all algorithms run (PAUM with all margins in
// the main setting, which chooses them), runsGrid that POLA runs over the grid of
// relaxations.
var filterVariants = []struct {
	name              string
	runsAll, runsGrid bool
	change            func(*filterSettings)
}{
	{name: mainVariant, runsAll: true, change: func(*filterSettings) {}},
	{name: variantFirst, runsAll: true, change: func(s *filterSettings) { s.Warm = warmDocuments }},
	{name: variantGrid, runsGrid: true, change: func(*filterSettings) {}},
	{name: "b1 = 0", change: func(s *filterSettings) { s.B1 = 0 }},
	{name: "b1 = 10", change: func(s *filterSettings) { s.B1 = 10 }},
	{name: "250 words", change: func(s *filterSettings) { s.Words /= 2 }},
	{name: "1000 words", change: func(s *filterSettings) { s.Words *= 2 }},
	{name: "words by information gain", change: func(s *filterSettings) { s.Select = text.InformationGain }},
	{name: "training part of ModApte", change: func(s *filterSettings) { s.Documents = modApteTrain }},
	{name: "all 21,578 documents", change: func(s *filterSettings) { s.Documents = allDocuments }},
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
				params := s.at(scale).params()
				params["variant"], params["topic"] = v.name, topic
				cells = append(cells, experiment.Cell{
					Name: topic + " " + v.name, Dataset: newsDataset(scale), Params: params, Methods: newsMethods,
				})
			}
		}
		return cells
	},
	Trials: func(experiment.Scale) int { return 1 },
	Index:  fig4Index,
	Values: fig4Values,
	Trial: func(ctx context.Context, env *experiment.Env, cell experiment.Cell, seed experiment.Seed) (*table.Table, error) {
		topic, variant := cell.Params["topic"], cell.Params["variant"]
		s := mainFilter
		var run []contender
		for _, v := range filterVariants {
			if v.name != variant {
				continue
			}
			v.change(&s)
			nearest := func(relax relaxation) contender { return polaContender(seed, topic, variant, s.B1, relax, nearestPair) }
			switch {
			case v.runsAll:
				paums := []margins{paumChosen}
				if variant == mainVariant {
					paums = paumGrid
				}
				run = contenders(seed, topic, variant, s.B1, paums)
			case v.runsGrid:
				for _, relax := range relaxations {
					run = append(run, nearest(relax))
				}
			default:
				run = []contender{nearest(plainPOLA), nearest(relaxedPOLA)}
			}
		}
		return filterTopic(ctx, env, seed, topic, variant, s.at(env.Scale), run)
	},
	Views: []experiment.View{
		{Name: "fig4-sensitivity", Title: "Open choices of Fig. 4: mean error over rarer topics", Draw: drawFig4Sensitivity},
		{Name: "fig4-sensitivity-relaxation", Title: "POLA's error over γ and the length of documents, on rarer topics", Draw: drawRelaxations},
		{Name: "fig4-sensitivity-paum", Title: "PAUM's error over its margins, on rarer topics", Draw: drawPAUM(settingsRatioLow, topicRatioLow, "Fig. 4 has the margins with the least error here.")},
	},
	Cost: 40 * time.Second,
}

// variantName is what a reader sees of a variant.
func variantName(v string) string {
	if v == variantFirst {
		return "words of the first documents"
	}
	return symbols.Replace(v)
}

// overTopics returns, per segment, the mean over the topics.
func overTopics(values [][]float64) []float64 {
	out := make([]float64, len(experiment.NotEmpty("topics", values)[0]))
	for _, v := range values {
		experiment.SameLength("segments of two topics", out, v)
		for i, e := range v {
			out[i] += e / float64(len(values))
		}
	}
	return out
}

// meanOverTopics returns the mean of a method's balanced errors over the topics
// of a setting, and the half-width of its interval.
func meanOverTopics(t *table.Table, setting, method string) (center, half float64, err error) {
	_, plain, values, err := balancedErrors(t, setting, method)
	if err != nil {
		return 0, 0, err
	}
	_, half = experiment.Summarize(overTopics(values)).Interval()
	return stat.Mean(plain, nil), half, nil
}

// bestRelaxation returns the relaxation with the least mean error over the
// topics; the first of equals.
func bestRelaxation(t *table.Table) (relaxation, error) {
	best, least := plainPOLA, math.Inf(1)
	for _, relax := range relaxations {
		e, err := meanError(t, variantGrid, nearestPair.method(relax))
		if err != nil {
			return best, err
		}
		if e < least {
			best, least = relax, e
		}
	}
	return best, nil
}

// rarerTopics names the topics of a table in captions.
func rarerTopics(t *table.Table) string {
	topics := t.Unique("topic")
	slices.Sort(topics)
	return fmt.Sprintf("topics that are rarer than those of Fig. 4 (ratio of relevant to irrelevant documents from %g to %g: %s)",
		settingsRatioLow, topicRatioLow, strings.Join(topics, ", "))
}

func drawRelaxations(t *table.Table) (plots.Drawing, error) {
	if t.Where("setting", variantGrid).Len() == 0 {
		return plots.Missing("the grid of relaxations"), nil
	}
	var gammas, lengths []float64
	for _, r := range relaxations {
		if !slices.Contains(gammas, r.Gamma) {
			gammas = append(gammas, r.Gamma)
		}
		if !slices.Contains(lengths, r.Length) {
			lengths = append(lengths, r.Length)
		}
	}
	text := &plots.TextTable{Head: []string{"γ"}}
	h := plots.Heat{BarLabel: "mean error (%)"}
	for j, length := range lengths {
		h.XTicks = append(h.XTicks, plots.Tick{At: float64(j), Label: table.Format(length)})
		text.Head = append(text.Head, "length "+table.Format(length))
	}
	for i, gamma := range gammas {
		h.YTicks = append(h.YTicks, plots.Tick{At: float64(i), Label: table.Format(gamma)})
		row, cells := []float64{}, []string{table.Format(gamma)}
		for _, length := range lengths {
			e, half, err := meanOverTopics(t, variantGrid, nearestPair.method(relaxation{gamma, length}))
			if err != nil {
				return plots.Drawing{}, err
			}
			row, cells = append(row, 100*e), append(cells, fmt.Sprintf("%.1f ± %.1f", 100*e, 100*half))
		}
		h.Z, text.Rows = append(h.Z, row), append(text.Rows, cells)
	}
	best, err := bestRelaxation(t)
	if err != nil {
		return plots.Drawing{}, err
	}
	return plots.Drawing{
		Panels: []plots.Panel{{XLabel: "length of the documents", YLabel: "γ", Marks: []plots.Mark{h}}},
		Text:   text,
		Caption: fmt.Sprintf("Mean balanced error of POLA with the nearest pair over %s, for the relaxation γ of Eq. 12 (0 is the algorithm of Fig. 1) and the Euclidean length to which documents are scaled. "+
			"Least at γ = %s and length %s, which is the relaxed POLA of Fig. 4.", rarerTopics(t), table.Format(best.Gamma), table.Format(best.Length)),
	}, nil
}

func drawFig4Sensitivity(t *table.Table) (plots.Drawing, error) {
	if t.Where("kind", "errors").Len() == 0 {
		return plots.Missing("errors on any topic"), nil
	}
	d := plots.Drawing{Columns: 2, Text: &plots.TextTable{Head: []string{"setting", "method", "error (%)"}}}
	add := func(mark *plots.Intervals, setting, method, label string) error {
		e, half, err := meanOverTopics(t, setting, method)
		if err != nil {
			return err
		}
		mark.Labels, mark.X, mark.Err = append(mark.Labels, label), append(mark.X, 100*e), append(mark.Err, 100*half)
		d.Text.Rows = append(d.Text.Rows, []string{variantName(setting), method, fmt.Sprintf("%.1f ± %.1f", 100*e, 100*half)})
		return nil
	}
	left := plots.Panel{Title: "one choice changed", XLabel: "mean error (%)"}
	for k, form := range polaForms {
		mark := plots.Intervals{Name: form.name, Color: k}
		for _, setting := range t.Unique("setting") {
			if setting == variantGrid {
				continue
			}
			if err := add(&mark, setting, nearestPair.method(form.relax), variantName(setting)); err != nil {
				return d, err
			}
		}
		left.Marks = append(left.Marks, mark)
	}
	d.Panels = append(d.Panels, left)
	right := plots.Panel{Title: "algorithms", XLabel: "mean error (%)"}
	for k, v := range []string{mainVariant, variantFirst} {
		if t.Where("setting", v).Len() == 0 {
			continue
		}
		mark := plots.Intervals{Name: variantName(v), Color: k + len(polaForms)}
		for _, form := range polaForms {
			for _, r := range pairRules {
				if err := add(&mark, v, r.method(form.relax), form.name+", "+r.String()); err != nil {
					return d, err
				}
			}
		}
		for _, m := range []string{oneNN, perceptron, paumChosen.method()} {
			if err := add(&mark, v, m, m); err != nil {
				return d, err
			}
		}
		right.Marks = append(right.Marks, mark)
	}
	d.Panels = append(d.Panels, right)
	d.Caption = fmt.Sprintf("Mean balanced error over %s; the protocol is that of Fig. 4. Left: POLA with the nearest pair, one choice changed at a time: start threshold b₁, number and choice of words (by information gain: "+
		"about the topic's labels in the whole stream), documents in the stream; what the other algorithms gain by such a change was not run. Right: all algorithms in the main setting, and with words of the first documents only; PAUM with the margins of Fig. 4. "+
		"The main setting chose PAUM's margins and POLA's relaxation for Fig. 4. No topic of Fig. 4 took part, but documents of these topics often have one of Fig. 4's too: nearly all on soybean also have oilseed. "+
		"95 %% intervals are a jackknife over consecutive segments of the stream.",
		rarerTopics(t))
	return d, nil
}
