package pola2004

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/learners/classify"
	"metriclab/pkg/learners/pairs"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
	"metriclab/pkg/text"
)

// Methods of Fig. 4 beside POLA and PAUM, as the table names them.
const (
	oneNN      = "1-NN"
	perceptron = "Perceptron"
	paum       = "PAUM" // with the chosen margins

	wholeStream = "whole"
	firstWords  = "first"
)

// vocabularies are the two readings of "after selecting 500 words", as the table
// and as figures name them.
var vocabularies = []struct {
	key, name string
	warm      int
}{{wholeStream, "words of the whole stream", 0}, {firstWords, "words of the first documents", warmDocuments}}

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
	pola: pairs.POLAVersion, oneNN: classify.OnlineNNVersion, perceptron: classify.PerceptronVersion, paum: classify.PAUMVersion,
	"tracker": classify.TrackerVersion, "text": text.Version,
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
			for _, topic := range newsTopics(scale, false) {
				s := mainFilter
				s.Warm = v.warm
				params := s.at(scale).params()
				params["topic"], params["vocabulary"] = topic, v.key
				cells = append(cells, experiment.Cell{
					Name: topic + " " + v.key, Dataset: newsDataset(scale), Params: params, Methods: newsMethods,
				})
			}
		}
		return cells
	},
	Trials: func(experiment.Scale) int { return 1 },
	Index:  fig4Index,
	Values: fig4Values,
	Trial: func(ctx context.Context, env *experiment.Env, cell experiment.Cell, seed experiment.Seed) (*table.Table, error) {
		s := mainFilter
		for _, v := range vocabularies {
			if v.key == cell.Params["vocabulary"] {
				s.Warm = v.warm
			}
		}
		topic, setting := cell.Params["topic"], cell.Params["vocabulary"]
		return filterTopic(ctx, env, seed, topic, setting, s.at(env.Scale), contenders(seed, topic, setting, s.B1, paumGrid))
	},
	Views: []experiment.View{
		{Name: "fig4", Title: "Fig. 4: error of POLA against 1-NN, Perceptron and PAUM", Draw: drawFig4},
		{Name: "fig4-rules", Title: "Fig. 4 under three rules for the pairs that update POLA", Draw: drawFig4Rules},
		{Name: "fig4-paum", Title: "PAUM's error over its margins", Draw: drawPAUM(topicRatioLow, topicRatioHigh, "In Fig. 4 "+paumNote)},
		{Name: "fig4-stream", Title: "Error along the stream", Draw: drawFig4Stream},
		{Name: "fig4-errors", Title: "All errors of Fig. 4 as a table", Draw: drawFig4Errors},
	},
	Claims: fig4Claims,
	Cost:   30 * time.Second,
}

var (
	fig4Index  = []string{"kind", "topic", "setting", "method", "segment"}
	fig4Values = []string{"relevant", "irrelevant", "missed", "alarms", "value"}
)

// Sizes that the captions state.
const (
	sizeDocuments = "documents"
	sizeWords     = "words"
	sizeEmpty     = "documents without a word"
)

// contender is an algorithm of Fig. 4.
type contender struct {
	method string
	build  func(dim int) (newsFilter, error)
}

// polaContender is POLA on the stream of one topic.
func polaContender(seed experiment.Seed, topic, setting string, b1 float64, relax relaxation, rule pairRule) contender {
	return contender{rule.method(relax), func(dim int) (newsFilter, error) {
		return newPOLAFilter(dim, b1, relax, rule, seed.Stream("pairs of "+topic+", "+setting))
	}}
}

// contenders are all algorithms of Fig. 4, PAUM with each of the given margins.
func contenders(seed experiment.Seed, topic, setting string, b1 float64, paums []margins) []contender {
	var out []contender
	for _, relax := range []relaxation{plainPOLA, relaxedPOLA} {
		for _, rule := range pairRules {
			out = append(out, polaContender(seed, topic, setting, b1, relax, rule))
		}
	}
	out = append(out, contender{oneNN, func(dim int) (newsFilter, error) {
		l, err := classify.NewOnlineNN(dim)
		return classifierFilter(l), err
	}}, contender{perceptron, func(dim int) (newsFilter, error) {
		l, err := classify.NewPerceptron(dim)
		return classifierFilter(l), err
	}})
	for _, m := range paums {
		out = append(out, contender{m.method(), func(dim int) (newsFilter, error) { return newPAUMFilter(dim, m) }})
	}
	return out
}

// filterTopic runs algorithms on the stream of one topic.
func filterTopic(ctx context.Context, env *experiment.Env, seed experiment.Seed, topic, setting string, s filterSettings, run []contender) (*table.Table, error) {
	end := env.Lap("documents to vectors")
	n, err := loadNews(env, seed, topic, s)
	end()
	if err != nil {
		return nil, err
	}
	rows := table.New(fig4Index, fig4Values)
	for _, c := range []struct {
		label string
		n     int
	}{{sizeDocuments, n.documents}, {sizeWords, n.dim}, {sizeEmpty, n.empty}} {
		rows.Add(table.Key{"kind": "size", "topic": topic, "setting": setting, "method": c.label}, table.Values{"value": float64(c.n)})
	}
	for _, c := range run {
		end := env.Lap(c.method)
		filter, err := c.build(n.dim)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.method, err)
		}
		tallies, err := n.run(ctx, s, filter)
		end()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.method, err)
		}
		for i, t := range tallies {
			rows.Add(table.Key{"kind": "errors", "topic": topic, "setting": setting, "method": c.method, "segment": strconv.Itoa(i)}, table.Values{
				"relevant": float64(t.relevant), "irrelevant": float64(t.irrelevant), "missed": float64(t.missed), "alarms": float64(t.alarms),
			})
		}
	}
	return rows, nil
}

// errorCounts are one method's errors on one topic under one setting, by segment.
type errorCounts struct{ relevant, irrelevant, missed, alarms []float64 }

// counts returns the errors of a method; t holds one topic under one setting.
func counts(t *table.Table, method string) (errorCounts, error) {
	g := t.Where("kind", "errors", "method", method)
	if g.Len() < 2 {
		return errorCounts{}, fmt.Errorf("pola2004: %d segments of %s, want at least 2", g.Len(), method)
	}
	return errorCounts{g.Values("relevant"), g.Values("irrelevant"), g.Values("missed"), g.Values("alarms")}, nil
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

// values are the jackknife's pseudo-values of the balanced error.
func (c errorCounts) values() []float64 { return experiment.PseudoValues(len(c.relevant), c.balanced) }

// all keeps every segment.
func all(int) bool { return true }

// balancedErrors returns the balanced errors of a method on each topic under a
// setting: the error itself, and its pseudo-values.
func balancedErrors(t *table.Table, setting, method string) (topics []string, plain []float64, values [][]float64, err error) {
	for topic, g := range t.Where("setting", setting).Group("topic") {
		c, err := counts(g, method)
		if err != nil {
			return nil, nil, nil, fmt.Errorf("topic %s, %s: %w", topic, setting, err)
		}
		topics, plain, values = append(topics, topic), append(plain, c.balanced(all)), append(values, c.values())
	}
	return topics, plain, values, nil
}

// meanError returns the mean over the topics of a setting of a method's balanced
// error.
func meanError(t *table.Table, setting, method string) (float64, error) {
	_, plain, _, err := balancedErrors(t, setting, method)
	if err != nil {
		return 0, err
	}
	return stat.Mean(plain, nil), nil
}

// bestOf returns the PAUM margins with the least mean error over the topics of a
// setting; the first of equals.
func bestOf(t *table.Table, setting string) (margins, error) {
	best, least := margins{}, math.Inf(1)
	for _, m := range paumGrid {
		e, err := meanError(t, setting, m.method())
		if err != nil {
			return best, err
		}
		if e < least {
			best, least = m, e
		}
	}
	return best, nil
}

// rivalsOfPOLA are the columns of Fig. 4.
var rivalsOfPOLA = []struct{ name, method string }{
	{oneNN, oneNN}, {perceptron, perceptron}, {paum, paumChosen.method()},
}

// polaForms are the rows of Fig. 4.
var polaForms = []struct {
	name  string
	relax relaxation
}{{pola, plainPOLA}, {"relaxed POLA", relaxedPOLA}}

// filterProtocol describes data and settings in captions, of a table with the
// settings that are drawn.
func filterProtocol(t *table.Table, low, high float64) string {
	size := func(label string) []float64 {
		return experiment.NotEmpty("rows of kind size with "+label, t.Where("kind", "size", "method", label).Values("value"))
	}
	source := "Reuters-21578"
	if slices.Max(size(sizeDocuments)) <= smokeItems {
		source = "made-up news, a stand-in for Reuters-21578"
	}
	segments := len(t.Where("kind", "errors").Unique("segment"))
	return fmt.Sprintf("Data: %s, the %.0f documents of the ModApte split (training and test) in the order of time; %.0f words by document frequency after stop words and stemming; tf·log(N/df), each document scaled to one length; "+
		"topics whose ratio of relevant to irrelevant documents is in [%g, %g]. Words and idf are those of the whole stream, which knows the future, or of its first documents (%d of Reuters-21578), "+
		"after which errors count. The error is the mean of the shares of relevant documents missed and of irrelevant ones taken for relevant. b₁ = %s. "+
		"There is one stream: 95 %% intervals are a jackknife over %d consecutive segments of it. It counts the trend of learning as variation, so that intervals of what learns slowly, as relaxed POLA does, are too wide.",
		source, slices.Max(size(sizeDocuments)), stat.Mean(size(sizeWords), nil), low, high, warmDocuments,
		table.Format(mainFilter.B1), segments)
}

// fig4Protocol is filterProtocol for the topics of the figure.
func fig4Protocol(t *table.Table) string {
	return filterProtocol(t, topicRatioLow, topicRatioHigh) + fmt.Sprintf(" The paper has 13 topics, which it does not name; the rule gives %d here.", len(t.Unique("topic")))
}

// rarerNote says on what settings were chosen.
const rarerNote = "twelve rarer topics (pola2004/fig4-sensitivity; none is shown here, but many of their documents also have a topic shown here)"

var paumNote = fmt.Sprintf("PAUM has the margins %s, those with the least mean error on %s.", paumChosen, rarerNote)

var relaxedNote = fmt.Sprintf("POLA is the algorithm of Fig. 1 on documents of length 1; relaxed POLA has γ = %s (Eq. 12) and documents of length %s, those with the least mean error, with the nearest pair, of a declared grid on %s: for the other rules nothing was chosen.",
	table.Format(relaxedPOLA.Gamma), table.Format(relaxedPOLA.Length), rarerNote)

// bothNotes is for figures that show relaxed POLA and PAUM.
var bothNotes = relaxedNote + fmt.Sprintf(" PAUM has the margins %s, those with the least mean error on the same topics.", paumChosen)

// filterScatter is a panel with a point per topic for each vocabulary, and says
// how often y has the lower error.
func filterScatter(t *table.Table, x, xName, y, yName string) (plots.Panel, string, error) {
	p := plots.Panel{XLabel: "error of " + xName + " (%)", YLabel: "error of " + yName + " (%)", Equal: true,
		Marks: []plots.Mark{plots.Diagonal{Name: "equal error"}}}
	var below []string
	for k, v := range vocabularies {
		if t.Where("setting", v.key).Len() == 0 {
			continue
		}
		topics, ex, vx, err := balancedErrors(t, v.key, x)
		if err != nil {
			return p, "", err
		}
		_, ey, vy, err := balancedErrors(t, v.key, y)
		if err != nil {
			return p, "", err
		}
		pts := plots.Points{Name: "one topic, " + v.name, Color: k, Shape: k}
		wins := 0
		for i := range topics {
			_, hx := experiment.Summarize(vx[i]).Interval()
			_, hy := experiment.Summarize(vy[i]).Interval()
			pts.X, pts.XErr = append(pts.X, 100*ex[i]), append(pts.XErr, 100*hx)
			pts.Y, pts.YErr = append(pts.Y, 100*ey[i]), append(pts.YErr, 100*hy)
			if ey[i] < ex[i] {
				wins++
			}
		}
		p.Marks = append(p.Marks, pts)
		below = append(below, fmt.Sprintf("%d", wins))
	}
	return p, strings.Join(below, " and "), nil
}

func drawFig4(t *table.Table) (plots.Drawing, error) {
	if t.Where("kind", "errors").Len() == 0 {
		return plots.Missing("errors on any topic"), nil
	}
	d := plots.Drawing{Columns: len(rivalsOfPOLA)}
	var below []string
	for _, form := range polaForms {
		for _, r := range rivalsOfPOLA {
			p, wins, err := filterScatter(t, r.method, r.name, nearestPair.method(form.relax), form.name)
			if err != nil {
				return d, err
			}
			d.Panels = append(d.Panels, p)
			below = append(below, fmt.Sprintf("%s against %s %s", form.name, r.name, wins))
		}
	}
	d.Caption = fmt.Sprintf("Balanced error per topic: POLA (vertical) against 1-NN, Perceptron and PAUM; below the diagonal POLA is better. POLA learns from the pair of each document and the nearest relevant one seen before, "+
		"the pair its prediction rests on. Of %d topics, those on which POLA's error is the lower (words of the whole stream, and of its first documents): %s. %s %s",
		len(t.Unique("topic")), strings.Join(below, ", "), bothNotes, fig4Protocol(t))
	return d, nil
}

func drawFig4Rules(t *table.Table) (plots.Drawing, error) {
	if t.Where("kind", "errors").Len() == 0 {
		return plots.Missing("errors on any topic"), nil
	}
	d := plots.Drawing{Columns: len(pairRules)}
	for _, form := range polaForms {
		for _, rule := range pairRules {
			p, _, err := filterScatter(t, oneNN, oneNN, rule.method(form.relax), form.name)
			if err != nil {
				return d, err
			}
			p.Title = rule.String()
			d.Panels = append(d.Panels, p)
		}
	}
	d.Caption = "Balanced error per topic: POLA (vertical) under three rules against 1-NN. The paper does not say from which pairs POLA learns when a document's label comes. Nearest: the document and the relevant one nearest to it. " +
		"Random: the document and a random relevant one. Worst: the document and the relevant one with the largest loss, the farthest if the document is relevant, else the nearest. One step per document in all three; the random documents are one draw, which no interval covers. " + relaxedNote + " " + fig4Protocol(t)
	return d, nil
}

// drawPAUM draws the mean error over the topics for each pair of margins.
func drawPAUM(low, high float64, note string) func(t *table.Table) (plots.Drawing, error) {
	return func(t *table.Table) (plots.Drawing, error) {
		if t.Where("kind", "errors").Len() == 0 {
			return plots.Missing("errors on any topic"), nil
		}
		var rows, cols []float64
		for _, m := range paumGrid {
			if !slices.Contains(rows, m.Positive) {
				rows = append(rows, m.Positive)
			}
			if !slices.Contains(cols, m.Negative) {
				cols = append(cols, m.Negative)
			}
		}
		d := plots.Drawing{Columns: 2}
		var best []string
		var drawn *table.Table
		for _, setting := range t.Unique("setting") {
			if !slices.Contains(t.Where("setting", setting).Unique("method"), paumGrid[0].method()) {
				continue // this setting was run without the grid
			}
			drawn = t.Where("setting", setting)
			z := make([][]float64, len(rows))
			h := plots.Heat{Z: z, BarLabel: "mean error (%)"}
			for i, p := range rows {
				z[i] = make([]float64, len(cols))
				h.YTicks = append(h.YTicks, plots.Tick{At: float64(i), Label: table.Format(p)})
				for j, n := range cols {
					z[i][j] = math.NaN()
					m := margins{p, n}
					if !slices.Contains(paumGrid, m) {
						continue
					}
					e, err := meanError(t, setting, m.method())
					if err != nil {
						return d, err
					}
					z[i][j] = 100 * e
				}
			}
			for j, n := range cols {
				h.XTicks = append(h.XTicks, plots.Tick{At: float64(j), Label: table.Format(n)})
			}
			d.Panels = append(d.Panels, plots.Panel{Title: vocabulary(setting), XLabel: "margin of irrelevant documents", YLabel: "margin of relevant documents", Marks: []plots.Mark{h}})
			m, err := bestOf(t, setting)
			if err != nil {
				return d, err
			}
			e, err := meanError(t, setting, m.method())
			if err != nil {
				return d, err
			}
			best = append(best, fmt.Sprintf("%s: %s with %.1f %%", vocabulary(setting), m, 100*e))
		}
		if len(d.Panels) == 0 {
			return plots.Missing("errors of PAUM"), nil
		}
		d.Caption = fmt.Sprintf("Mean balanced error of PAUM over the topics, for each pair of margins of the declared grid (margin of relevant documents/margin of irrelevant ones; 0/0 is a perceptron; the margin of the rarer class is never the smaller: "+
			"the other cells, grey, were not run). Least error: %s. %s %s", strings.Join(best, "; "), note, filterProtocol(drawn, low, high))
		return d, nil
	}
}

func drawFig4Stream(t *table.Table) (plots.Drawing, error) {
	if t.Where("kind", "errors").Len() == 0 {
		return plots.Missing("errors on any topic"), nil
	}
	d := plots.Drawing{Columns: 2}
	for _, setting := range t.Unique("setting") {
		g := t.Where("setting", setting)
		p := plots.Panel{Title: vocabulary(setting), XLabel: "share of the stream seen (%)", YLabel: "error so far (%)"}
		lines := slices.Clone(rivalsOfPOLA)
		for _, form := range polaForms {
			lines = append(lines, struct{ name, method string }{form.name, nearestPair.method(form.relax)})
		}
		for k, c := range lines {
			line := plots.Line{Name: c.name, Color: k}
			n := len(g.Where("kind", "errors").Unique("segment"))
			for end := 1; end <= n; end++ {
				var e []float64
				for _, topic := range g.Group("topic") {
					counted, err := counts(topic, c.method)
					if err != nil {
						return d, err
					}
					e = append(e, counted.balanced(func(s int) bool { return s < end }))
				}
				line.X, line.Y = append(line.X, 100*float64(end)/float64(n)), append(line.Y, 100*stat.Mean(e, nil))
			}
			p.Marks = append(p.Marks, line)
		}
		d.Panels = append(d.Panels, p)
	}
	d.Caption = "Balanced error of all documents up to a point of the stream, mean over the topics (of a topic without a relevant document so far, the share of false alarms alone, halved). POLA learns from the nearest pair. " + bothNotes + " " + fig4Protocol(t)
	return d, nil
}

func drawFig4Errors(t *table.Table) (plots.Drawing, error) {
	if t.Where("kind", "errors").Len() == 0 {
		return plots.Missing("errors on any topic"), nil
	}
	var methods []string
	for _, form := range polaForms {
		for _, r := range pairRules {
			methods = append(methods, r.method(form.relax))
		}
	}
	for _, r := range rivalsOfPOLA {
		methods = append(methods, r.method)
	}
	text := &plots.TextTable{Head: append([]string{"words", "topic", "relevant"}, methods...)}
	var empty []string
	for _, setting := range t.Unique("setting") {
		g := t.Where("setting", setting)
		sums := make([]float64, len(methods))
		topics := g.Unique("topic")
		for _, topic := range topics {
			row := []string{vocabulary(setting), topic, ""}
			for j, m := range methods {
				c, err := counts(g.Where("topic", topic), m)
				if err != nil {
					return plots.Drawing{}, err
				}
				e := c.balanced(all)
				sums[j] += e
				_, half := experiment.Summarize(c.values()).Interval()
				row[2] = fmt.Sprintf("%.0f", stat.Mean(c.relevant, nil)*float64(len(c.relevant)))
				row = append(row, fmt.Sprintf("%.1f ± %.1f", 100*e, 100*half))
			}
			text.Rows = append(text.Rows, row)
		}
		last := []string{vocabulary(setting), "mean", ""}
		for _, s := range sums {
			last = append(last, fmt.Sprintf("%.1f", 100*s/float64(len(topics))))
		}
		text.Rows = append(text.Rows, last)
		empty = append(empty, fmt.Sprintf("%.0f (%s)", experiment.First(g.Where("kind", "size", "method", sizeEmpty), "value"), vocabulary(setting)))
	}
	return plots.Drawing{Caption: fmt.Sprintf("Balanced error in per cent per topic, ± half of the 95 %% interval. Documents without a word of the vocabulary, which are the zero vector: %s. %s %s", strings.Join(empty, ", "), bothNotes, fig4Protocol(t)), Text: text}, nil
}
