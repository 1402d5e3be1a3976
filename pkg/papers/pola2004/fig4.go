package pola2004

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"

	"metriclab/pkg/learners/linear"
	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/learners/pairs"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
	"metriclab/pkg/text"
)

// Methods of Fig. 4 beside POLA and PAUM, as the table names them.
const (
	oneNN       = "1-NN"
	perceptron  = "Perceptron"
	paum        = "PAUM" // with the chosen margins
	relaxedName = "relaxed POLA"

	wholeStream = "whole"
	firstWords  = "first"
)

// vocabularies are the two readings of "after selecting 500 words", as the table
// and as figures name them.
var vocabularies = []vocabularyReading{{wholeStream, "words of the whole stream", 0}, {firstWords, "words of the first documents", warmDocuments}}

type vocabularyReading struct {
	key, name string
	warm      int
}

// vocabulary returns what a reader sees of a key.
func vocabulary(key string) string {
	for _, v := range vocabularies {
		if v.key == key {
			return v.name
		}
	}
	return key
}

var newsMethods = map[string]int{
	pola: pairs.POLAVersion, oneNN: nearest.OnlineNNVersion, perceptron: linear.PerceptronVersion, paum: linear.PAUMVersion,
	"tracker": nearest.TrackerVersion, "text": text.Version,
}

// Fig4 compares algorithms that filter the documents of one topic out of a
// stream of news.
var Fig4 = experiment.Spec{
	ID:      "pola2004/fig4",
	Title:   "Filtering Reuters-21578 by topic: POLA against 1-NN, Perceptron and PAUM",
	Source:  "Section 7, Fig. 4",
	Version: 1,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		var cells []experiment.Cell
		for _, v := range vocabularies {
			s := mainFilter
			s.Warm = v.warm
			for _, topic := range newsTopics(scale, false) {
				cells = append(cells, experiment.Cell{
					Name: topic + " " + v.key, Dataset: newsDataset(scale), Methods: newsMethods,
					Settings: fig4Settings{s.at(scale, topic), v.key},
				})
			}
		}
		return cells
	},
	Trials:  func(experiment.Scale) int { return 1 },
	Kinds:   fig4Kinds,
	Columns: fig4Columns,
	Trial: func(ctx context.Context, run *experiment.Run) error {
		s := run.Cell.Settings.(fig4Settings)
		return filterTopic(ctx, run, s.Vocabulary, s.filterSettings, contenders(s.B1, paumGrid))
	},
	Views: []experiment.View{
		{Name: "fig4", Title: "Fig. 4: error of POLA against 1-NN, Perceptron and PAUM", Draw: fig4View.Draw},
		{Name: "fig4-rules", Title: "Fig. 4 under three rules for the pairs that update POLA", Draw: fig4Rules.Draw},
		{Name: "fig4-paum", Title: "PAUM's error over its margins", Draw: paumView(topicRatioLow, topicRatioHigh, "In Fig. 4 "+paumNote).Draw},
		{Name: "fig4-stream", Title: "Error along the stream", Draw: fig4Stream.Draw},
		{Name: "fig4-errors", Title: "All errors of Fig. 4 as a table", Draw: drawFig4Errors},
	},
	Claims: fig4Claims,
	Cost:   30 * time.Second,
}

type fig4Settings struct {
	filterSettings
	Vocabulary string `key:"vocabulary"`
}

var fig4Kinds = []experiment.Kind{
	{Name: "size", Meaning: "how many documents or words there are"},
	{Name: "errors", Meaning: "errors of a method in a segment of the stream"},
}

var fig4Columns = experiment.Columns{
	experiment.Text("kind", "what the row is of"),
	experiment.Text("topic", "topic to be filtered out"),
	experiment.Text("setting", "vocabulary, or the open choice that is changed"),
	experiment.Text("method", "errors: algorithm with its parameters; size: what is counted"),
	experiment.Text("segment", "number of the segment, in the order of time, from 0").In("errors"),
	experiment.Number("relevant", "", "relevant documents in the segment").In("errors"),
	experiment.Number("irrelevant", "", "irrelevant documents in the segment").In("errors"),
	experiment.Number("missed", "", "relevant documents taken for irrelevant").In("errors"),
	experiment.Number("alarms", "", "irrelevant documents taken for relevant").In("errors"),
	experiment.Number("value", "", "the count: documents of the stream, words of the vocabulary, documents without such a word").In("size"),
}

// Sizes that the captions state.
const (
	sizeDocuments = "documents"
	sizeWords     = "words"
	sizeEmpty     = "documents without a word"
)

// contender is an algorithm of Fig. 4. rng draws its random pairs.
type contender struct {
	method string
	build  func(dim int, rng *rand.Rand) (newsFilter, error)
}

func polaContender(b1 float64, relax relaxation, rule pairRule) contender {
	return contender{rule.method(relax), func(dim int, rng *rand.Rand) (newsFilter, error) {
		return newPOLAFilter(dim, b1, relax, rule, rng)
	}}
}

// contenders are all algorithms of Fig. 4, PAUM with each of the given margins.
func contenders(b1 float64, paums []margins) []contender {
	var out []contender
	for _, r := range polaReadings {
		out = append(out, polaContender(b1, r.relax, r.rule))
	}
	out = append(out,
		contender{oneNN, func(dim int, _ *rand.Rand) (newsFilter, error) { return classifierFilter(nearest.NewOnlineNN(dim)) }},
		contender{perceptron, func(dim int, _ *rand.Rand) (newsFilter, error) { return classifierFilter(linear.NewPerceptron(dim)) }})
	for _, m := range paums {
		out = append(out, contender{m.method(), func(dim int, _ *rand.Rand) (newsFilter, error) {
			return classifierFilter(linear.NewPAUM(dim, linear.PAUMParams{TauPositive: m.Positive, TauNegative: m.Negative}))
		}})
	}
	return out
}

// filterTopic runs algorithms on the stream of one topic.
func filterTopic(ctx context.Context, run *experiment.Run, setting string, s filterSettings, among []contender) error {
	end := run.Lap("documents to vectors")
	n, err := loadNews(run.Env, run.Seed, s)
	end()
	if err != nil {
		return err
	}
	for _, c := range []struct {
		label string
		n     int
	}{{sizeDocuments, n.documents}, {sizeWords, n.dim}, {sizeEmpty, n.empty}} {
		run.Rows.Add(table.Key{"kind": "size", "topic": s.Topic, "setting": setting, "method": c.label}, table.Values{"value": float64(c.n)})
	}
	for _, c := range among {
		end := run.Lap(c.method)
		filter, err := c.build(n.dim, run.Seed.Stream("pairs of "+s.Topic+", "+setting))
		if err != nil {
			return fmt.Errorf("%s: %w", c.method, err)
		}
		tallies, err := n.run(ctx, s, filter)
		end()
		if err != nil {
			return fmt.Errorf("%s: %w", c.method, err)
		}
		for i, t := range tallies {
			run.Rows.Add(table.Key{"kind": "errors", "topic": s.Topic, "setting": setting, "method": c.method, "segment": strconv.Itoa(i)}, table.Values{
				"relevant": float64(t.relevant), "irrelevant": float64(t.irrelevant), "missed": float64(t.missed), "alarms": float64(t.alarms),
			})
		}
	}
	return nil
}

// errorCounts are one method's errors on one topic under one setting, by segment.
type errorCounts struct{ relevant, irrelevant, missed, alarms []float64 }

// counts returns the errors in some rows of one method, topic and setting.
func counts(t *table.Table) errorCounts {
	if t.Len() < 2 {
		judge.Refuse("pola2004: %d segments with %s, want at least 2", t.Len(), t.Selection())
	}
	return errorCounts{t.Values("relevant"), t.Values("irrelevant"), t.Values("missed"), t.Values("alarms")}
}

// balanced returns the mean of the shares of relevant documents missed and of
// irrelevant ones taken for relevant, over the segments to keep.
func (c errorCounts) balanced(keep func(segment int) bool) float64 {
	var relevant, irrelevant, missed, alarms float64
	for i := range c.relevant {
		if keep(i) {
			relevant, irrelevant = relevant+c.relevant[i], irrelevant+c.irrelevant[i]
			missed, alarms = missed+c.missed[i], alarms+c.alarms[i]
		}
	}
	return (share(missed, relevant) + share(alarms, irrelevant)) / 2
}

// share returns k/n, and 0 for n = 0.
func share(k, n float64) float64 {
	if n == 0 {
		return 0
	}
	return k / n
}

// balancedError is the error of one method under one setting, the mean over the topics, and then
// its pseudo-values, one per segment; see jackknife.
var balancedError = frame.Measure(func(t *table.Table) []float64 {
	c := counts(t)
	return append([]float64{c.balanced(func(int) bool { return true })}, judge.PseudoValues(len(c.relevant), c.balanced)...)
}).MeanOver("topic")

func balanced(method string) frame.Measure {
	return balancedError.Where("kind", "errors", "method", method)
}

// jackknife summarizes what balanced gives: the error itself, with the interval of the pseudo-values.
func jackknife(values []float64) judge.Summary {
	s := judge.Summarize(experiment.NotEmpty("topics", values)[1:])
	s.Mean = values[0]
	return s
}

// jackknifed draws what balanced gives, in per cent.
var jackknifed = frame.Band{Scale: 100}.By(jackknife)

// least returns the choice with the least mean error over the topics of a setting, or
// with sign −1 that with the largest; the first of equals.
func least[T any](t *table.Table, choices []T, method func(T) string, sign float64) (best T) {
	e := math.Inf(1)
	for _, c := range choices {
		if x := sign * jackknifed.Mean(balanced(method(c))(t)); x < e {
			best, e = c, x
		}
	}
	return best
}

// heat draws the mean error of each choice of a grid, at its row and column. A cell
// without a choice is NaN.
func heat[T any](grid []T, at func(T) (row, column float64), method func(T) string) frame.Mark {
	var rows, columns []float64
	for _, c := range grid {
		row, column := at(c)
		if !slices.Contains(rows, row) {
			rows = append(rows, row)
		}
		if !slices.Contains(columns, column) {
			columns = append(columns, column)
		}
	}
	return func(t *table.Table) plots.Mark {
		h := plots.Heat{BarLabel: "mean error (%)", XTicks: ticks(columns), YTicks: ticks(rows)}
		for range rows {
			h.Z = append(h.Z, slices.Repeat([]float64{math.NaN()}, len(columns)))
		}
		for _, c := range grid {
			row, column := at(c)
			h.Z[slices.Index(rows, row)][slices.Index(columns, column)] = jackknifed.Mean(balanced(method(c))(t))
		}
		return h
	}
}

// ticks labels the rows or columns of a heat map.
func ticks(values []float64) []plots.Tick {
	out := make([]plots.Tick, len(values))
	for i, v := range values {
		out[i] = plots.Tick{At: float64(i), Label: table.Format(v)}
	}
	return out
}

// rivalsOfPOLA are the columns of Fig. 4.
var rivalsOfPOLA = []struct{ name, method string }{
	{oneNN, oneNN}, {perceptron, perceptron}, {paum, paumChosen.method()},
}

// filterCaption is a caption with the data and settings of a table, of topics with some ratios.
func filterCaption(t *table.Table, low, high float64, shows, protocol string) plots.Caption {
	size := func(label string) []float64 {
		return experiment.NotEmpty("rows of kind size with "+label, t.Where("kind", "size", "method", label).Values("value"))
	}
	source := "Reuters-21578"
	if slices.Max(size(sizeDocuments)) <= smokeItems {
		source = "made-up news, a stand-in for Reuters-21578"
	}
	segments := len(t.Where("kind", "errors").Unique("segment"))
	return plots.Caption{
		Shows: shows,
		Data: fmt.Sprintf("%s, the %.0f documents of the ModApte split (training and test) in the order of time; topics whose ratio of relevant to irrelevant documents is in [%g, %g].",
			source, slices.Max(size(sizeDocuments)), low, high),
		Protocol: fmt.Sprintf("%s %.0f words by document frequency after stop words and stemming; tf·log(N/df), each document scaled to one length. "+
			"Words and idf are those of the whole stream, which knows the future, or of its first documents (%d of Reuters-21578), after which errors count. "+
			"The error is the mean of the shares of relevant documents missed and of irrelevant ones taken for relevant. b₁ = %s.",
			protocol, stat.Mean(size(sizeWords), nil), warmDocuments, table.Format(mainFilter.B1)),
		Intervals: fmt.Sprintf("There is one stream: 95 %% intervals are a jackknife over %d consecutive segments of it. "+
			"It counts the trend of learning as variation: intervals of what learns slowly, as relaxed POLA does, are too wide.", segments),
	}
}

// rarerNote says on what settings were chosen.
const rarerNote = "twelve rarer topics (pola2004/fig4-sensitivity; none is shown here, but many of their documents also have a topic shown here)"

var paumNote = fmt.Sprintf("PAUM has the margins %s, those with the least mean error on %s.", paumChosen, rarerNote)

var relaxedNote = fmt.Sprintf("POLA is the algorithm of Fig. 1 on documents of length 1. Relaxed POLA has γ = %s (Eq. 12) and documents of length %s: of a declared grid, those with the least mean error with the nearest pair on %s. For the other rules nothing was chosen.",
	table.Format(relaxedPOLA.Gamma), table.Format(relaxedPOLA.Length), rarerNote)

// fig4Caption is a caption of the topics of the figure.
func fig4Caption(t *table.Table, shows, protocol string) plots.Caption {
	c := filterCaption(t, topicRatioLow, topicRatioHigh, shows, protocol)
	c.Data += fmt.Sprintf(" The paper has 13 topics, which it does not name; the rule gives %d here.", len(t.Unique("topic")))
	return c
}

// bothNotes is for figures that show relaxed POLA and PAUM.
var bothNotes = relaxedNote + fmt.Sprintf(" PAUM has the margins %s, those with the least mean error on the same topics.", paumChosen)

// withErrors are the rows that a view of the errors needs; noErrors is what it misses without them.
var withErrors = []string{"kind", "errors"}

const noErrors = "errors on any topic"

// filterScatter is a panel with a point per topic for each vocabulary; its title says how often y has the lower error.
func filterScatter(t *table.Table, x, xName, y, yName string) plots.Panel {
	var duels []duel
	var below []string
	for k, v := range vocabularies {
		d := duel{Points: plots.Points{Name: "one topic, " + v.name, Color: k, Shape: k}}
		for _, g := range t.Where("setting", v.key).Group("topic") {
			d.add(jackknife(balanced(x)(g)), jackknife(balanced(y)(g)))
		}
		if len(d.X) == 0 {
			continue
		}
		duels, below = append(duels, d), append(below, strconv.Itoa(d.wins))
	}
	p := duelPanel(xName, yName, duels...)
	whose, _, _ := strings.Cut(yName, ", ")
	p.Title = fmt.Sprintf("%s lower on %s of %d", whose, strings.Join(below, " and "), len(t.Unique("topic")))
	return p
}

// lowerNote explains the titles of filterScatter.
const lowerNote = "Titles: on how many topics POLA's error is the lower, with words of the whole stream and of its first documents."

var fig4View = frame.View{
	Needs:   withErrors,
	Columns: len(rivalsOfPOLA),
	Panels: func(t *table.Table) (out []plots.Panel) {
		for _, form := range polaForms {
			for _, r := range rivalsOfPOLA {
				out = append(out, filterScatter(t, r.method, r.name, nearestPair.method(form.relax), form.name))
			}
		}
		return out
	},
	Missing: noErrors,
	Caption: func(t *table.Table) plots.Caption {
		return fig4Caption(t, "Balanced error per topic: POLA (vertical) against 1-NN, Perceptron and PAUM; below the diagonal POLA is better. "+lowerNote,
			"POLA learns from the pair of each document and the nearest relevant one seen before, the pair its prediction rests on. "+bothNotes)
	},
}

var fig4Rules = frame.View{
	Needs:   withErrors,
	Columns: len(pairRules),
	Panels: func(t *table.Table) (out []plots.Panel) {
		for _, form := range polaForms {
			for _, rule := range pairRules {
				out = append(out, filterScatter(t, oneNN, oneNN, rule.method(form.relax), form.name+", "+rule.String()))
			}
		}
		return out
	},
	Missing: noErrors,
	Caption: func(t *table.Table) plots.Caption {
		return fig4Caption(t, "Balanced error per topic: POLA (vertical) under three rules against 1-NN. "+lowerNote, "The paper does not say from which pairs POLA learns when a document's label comes. Nearest: the document and the relevant one nearest to it. "+
			"Random: the document and a random relevant one. Worst: the document and the relevant one with the largest loss, the farthest if the document is relevant, else the nearest. One step per document in all three; the random documents are one draw, which no interval covers. "+relaxedNote)
	},
}

// paumView shows the mean error over the topics for each pair of margins.
func paumView(low, high float64, note string) frame.View {
	return frame.View{
		Needs:   withErrors,
		From:    withGrid,
		Columns: 2,
		Panels: frame.PerGroup(func(cells []string) frame.Panel {
			return frame.Panel{
				Panel: plots.Panel{Title: vocabulary(cells[0]), XLabel: "margin of irrelevant documents", YLabel: "margin of relevant documents"},
				Of:    []frame.Mark{heat(paumGrid, func(m margins) (row, column float64) { return m.Positive, m.Negative }, margins.method)},
			}
		}, "setting"),
		Missing: "errors of PAUM",
		Caption: func(t *table.Table) plots.Caption {
			var best []string
			t = withGrid(t)
			for setting, g := range t.Group("setting") {
				m := least(g, paumGrid, margins.method, 1)
				best = append(best, fmt.Sprintf("%s: %s with %.1f %%", vocabulary(setting), m, jackknifed.Mean(balanced(m.method())(g))))
			}
			return filterCaption(t, low, high, "Mean balanced error of PAUM over the topics, for each pair of margins of the declared grid (margin of relevant documents/margin of irrelevant ones; 0/0 is a perceptron). "+
				"The margin of the rarer class is never the smaller: the other cells, grey, were not run. Least error: "+strings.Join(best, "; ")+".", note)
		},
	}
}

// withGrid are the rows of settings that were run with all margins of PAUM.
func withGrid(t *table.Table) *table.Table {
	return frame.Only("setting", t.Where("method", paumGrid[0].method()).Unique("setting")...)(t)
}

var fig4Stream = frame.View{
	Needs:   withErrors,
	Columns: 2,
	Panels: frame.PerGroup(func(cells []string) frame.Panel {
		p := frame.Panel{Panel: plots.Panel{Title: vocabulary(cells[0]), XLabel: "share of the stream seen (%)", YLabel: "error so far (%)"}}
		for _, c := range rivalsOfPOLA {
			p.Of = append(p.Of, alongStream(c.name, c.method))
		}
		for _, form := range polaForms {
			p.Of = append(p.Of, alongStream(form.name, nearestPair.method(form.relax)))
		}
		return p
	}, "setting"),
	Missing: noErrors,
	Caption: func(t *table.Table) plots.Caption {
		return fig4Caption(t, "Balanced error of all documents up to a point of the stream, mean over the topics (of a topic without a relevant document so far, the share of false alarms alone, halved). POLA learns from the nearest pair.", bothNotes)
	},
}

// alongStream is the error up to each segment of the stream.
func alongStream(name, method string) frame.Mark {
	return func(t *table.Table) plots.Mark {
		line := styles.Line(name)
		n := len(t.Where("kind", "errors").Unique("segment"))
		for end := 1; end <= n; end++ {
			var e []float64
			for _, topic := range t.Group("topic") {
				e = append(e, counts(topic.Where("kind", "errors", "method", method)).balanced(func(s int) bool { return s < end }))
			}
			line.X, line.Y = append(line.X, 100*float64(end)/float64(n)), append(line.Y, 100*stat.Mean(e, nil))
		}
		return line
	}
}

// withJackknife is a column with the error of a method and its interval.
func withJackknife(method string) frame.Cell {
	return frame.PlusMinus("error (%)", balanced(method), jackknifed, "%.1f")
}

// fig4Methods are the methods of the figure, in the order of its table.
var fig4Methods = func() (out []string) {
	for _, r := range polaReadings {
		out = append(out, r.method)
	}
	for _, r := range rivalsOfPOLA {
		out = append(out, r.method)
	}
	return out
}()

// fig4Name is a method on an axis: the relaxed POLA's without its parameters.
func fig4Name(method string) string {
	for _, r := range polaReadings {
		if r.method == method {
			return r.name
		}
	}
	return method
}

// drawFig4Errors has a row per vocabulary and topic, and their means.
func drawFig4Errors(t *table.Table) (plots.Drawing, error) {
	if t.Where(withErrors...).Len() == 0 {
		return plots.Missing(noErrors), nil
	}
	var empty []string
	text := &plots.TextTable{Head: append([]string{"words", "topic", "relevant"}, fig4Methods...)}
	for setting, g := range t.Group("setting") {
		last := []string{vocabulary(setting), "mean", ""}
		for topic, of := range g.Group("topic") {
			row := []string{vocabulary(setting), topic, fmt.Sprintf("%.0f", floats.Sum(of.Where("kind", "errors", "method", oneNN).Values("relevant")))}
			for _, m := range fig4Methods {
				row = append(row, withJackknife(m).Of(of))
			}
			text.Rows = append(text.Rows, row)
		}
		for _, m := range fig4Methods {
			last = append(last, fmt.Sprintf("%.1f", jackknifed.Mean(balanced(m)(g))))
		}
		text.Rows = append(text.Rows, last)
		empty = append(empty, fmt.Sprintf("%.0f (%s)", experiment.First(g.Where("kind", "size", "method", sizeEmpty), "value"), vocabulary(setting)))
	}
	shows := fmt.Sprintf("Balanced error in per cent per topic, ± half of the 95 %% interval. Documents without a word of the vocabulary, which are the zero vector: %s.", strings.Join(empty, ", "))
	return plots.Drawing{Text: text, Caption: fig4Caption(t, shows, bothNotes)}, nil
}
