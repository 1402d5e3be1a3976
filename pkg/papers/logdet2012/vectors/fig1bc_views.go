package vectors

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/papers/logdet2012/protocol"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

var fig1bcViews = []experiment.View{
	{Name: "fig1b", Title: "Fig. 1(b), stand-in (nine Reuters topics) unless the traces are supplied: error of nearest neighbours with 20 features", Draw: drawFig1b},
	{Name: "fig1c", Title: "Fig. 1(c), stand-in (nine Reuters topics) unless the traces are supplied: error against the number of features", Draw: frame.View{
		From: frame.Rows(wordRows).Then(onLatex).Where("kind", "wrong").Then(frame.Called("number", "dims", func(n string) string { return n + " features" })), Columns: 2, Missing: "errors on the stand-in",
		Panels: func(rows *table.Table) []plots.Panel {
			return slices.Concat(frame.PerGroup(wordErrors, "program", "reading")(rows), frame.PerGroup(wordDifferences, "program", "reading")(rows))
		},
		Text: &frame.Text{By: []string{"reading", "reading", "dims", "features"}, Cells: append([]frame.Cell{{Head: "error (%)", Of: func(*table.Table) string { return "" }}}, errorCells(clarifyMethods)...)},
		Caption: func(t *table.Table) plots.Caption {
			rows := firstWords(t)
			feature, _ := nouns(rows)
			c := Shown("Above: test error against the number of "+feature+"s that are features, for the methods of the paper's figure; the table has intervals, and all methods. Below: the error less that of "+protocol.LogDetLinear+" in the same fold.", wordProtocol)(t)
			c.Data += " " + withoutNote(rows)
			return c
		},
	}.Draw},
	{Name: "choices", Title: "Stand-in, or traces if supplied: what was chosen on the training folds, and fits that did not converge", Draw: experiment.WithEnds(frame.View{
		// The others choose nothing and need no iterations.
		From: frame.Rows(wordRows).Then(frame.Only("method", protocol.LogDetLinear, protocol.LogDetInvCov, protocol.Lmnn, protocol.Mcml)), Missing: "choices on the stand-in",
		Text:    &frame.Text{By: []string{"reading", "reading", "dims", "features", "method", "method"}, Cells: ChoiceCells},
		Caption: ShownBy(func(t *table.Table) string { return choiceNote(firstWords(t)) }, wordProtocol),
	}.Draw, protocol.Fig1bcChoices)},
	{Name: "data", Title: "Stand-in, or traces if supplied: the classes, and documents without a selected word", Draw: drawTopics},
	{Name: "words", Title: "Stand-in, or traces if supplied: the words that information gain selects", Draw: drawSelected},
}

// clarifyCurveMethods are those of Fig. 1(c).
var clarifyCurveMethods = []string{protocol.LogDetLinear, protocol.Euclidean, protocol.Mcml, protocol.Lmnn}

// firstWords are the rows of the first program in the first reading: sizes, classes and words are the same in all readings.
func firstWords(t *table.Table) *table.Table {
	rows := wordRows(t)
	if rows.Len() == 0 {
		return rows
	}
	return rows.Where("reading", experiment.FirstName(rows, "reading"))
}

// wordProtocol describes data and settings in captions; on the stand-in the data begin with what they are not.
func wordProtocol(t *table.Table) plots.Caption {
	rows := firstWords(t)
	c := plots.Caption{Intervals: FoldsNote(rows), Data: "Traces of the Clarify system as supplied, all runs of Latex, Mpg321, Foxpro and Iptables."}
	class, same := "class", "Folds"
	features := "how often a run called each of the functions of greatest information gain about the class on the training fold, each with its best threshold"
	if experiment.FirstName(rows, "program") == "" {
		class, same, c.Data = "topic", "Documents, folds", standInData(rows)
		features = "how often a document has each of the stemmed words whose presence has the greatest information gain about the topic on the training fold"
	}
	c.Protocol = fmt.Sprintf("Features: %s; the inner cross-validation has the same. %s "+
		"u and ℓ: 1st and 99th percentile of the squared distances between all pairs of training rows under W₀, which is I, and for LogDet-InvCov the inverse covariance. Each method chooses by a two-fold cross-validation inside the training fold, the first of equals: γ from 0.01 to 1000; the targets (1, 3, 5) and μ (¼, ½, ¾) of LMNN. "+
		"%s and pairs are the same for all methods and numbers of features.", features, votesAndPairs(rows, class), same)
	return c
}

// standInData describes the documents in place of the traces.
func standInData(rows *table.Table) string {
	classes := rows.Where("kind", "class")
	topics := classes.Unique("at")
	const not = "Stand-in: nine Reuters topics; the Clarify traces are not public, and the paper gives but one number of them. "
	if !slices.Contains(topics, "earn") {
		return not + fmt.Sprintf("Built-in, made-up news of %d topics, in place of Reuters.", len(topics))
	}
	most := slices.Max(experiment.NotEmpty("rows of kind class", classes.Values("value")))
	return not + fmt.Sprintf("Documents of the ModApte split of Reuters-21578, of both parts, that have one topic only, of the %d topics with most of them. Each trial draws at most %.0f of each, so that trials share documents. They are in the order of time.", len(topics), most)
}

// nouns are what a caption calls the features and objects of rows.
func nouns(rows *table.Table) (feature, object string) {
	if rows.Len() > 0 && experiment.FirstName(rows, "program") != "" {
		return "function", "runs"
	}
	return "word", "documents"
}

// countStyles are those of the scalings of the counts.
var countStyles = plots.Ordered("counts "+Describe[protocol.Readings[0].String()], "counts "+Describe[protocol.Readings[1].String()])

// drawFig1b has a row of text per method, and columns per reading.
func drawFig1b(t *table.Table) (plots.Drawing, error) {
	text := &frame.Text{By: []string{"method", "method"}}
	for reading := range wordRows(t).Group("reading") {
		of := func(m frame.Measure) frame.Measure { return m.Where("reading", reading) }
		text.Cells = append(text.Cells, ErrorCell(reading+": error (%)", of(Share)), frame.Cell{Head: "minus that of " + protocol.LogDetLinear + " (percentage points)", Of: func(rows *table.Table) string {
			m := experiment.FirstName(rows, "method")
			if m == protocol.LogDetLinear {
				return "–"
			}
			return Summary(of(worse(m, protocol.LogDetLinear, printedDims))(wordRows(t))).Percent()
		}})
	}
	rows := firstWords(t)
	feature, object := nouns(rows)
	as := ""
	if feature == "word" {
		as = ", as the function counts of the paper's programs, and"
	} else {
		as = " and"
	}
	v := frame.View{
		From: frame.Rows(wordRows).Where("kind", "wrong", "dims", strconv.Itoa(printedDims)).Then(frame.Only("method", clarifyMethods...)), Missing: "errors on the stand-in", Text: text,
		Panels: frame.PerGroup(func(cells []string) frame.Panel {
			p := frame.Panel{Panel: plots.Panel{Title: cmp.Or(cells[0], "stand-in: Reuters topics") + ", " + featuresOf(printedDims), XLabel: "test error (%)"}}
			for _, by := range protocol.Readings {
				p.Of = append(p.Of, frame.Dots(countStyles.Intervals("counts "+Describe[by.String()]), "method", Share, ErrorBand).Where("features", by.String()))
			}
			return p
		}, "program"),
		Caption: Shown(fmt.Sprintf("Test error of the k nearest training %s under each metric, with %d %ss as features: counts as they are%s standardised by the training fold.", object, printedDims, feature, as), wordProtocol),
	}
	if feature != "word" {
		v.Columns = 2
	}
	return v.Draw(t)
}

// wordTitle is that of a panel of a program and reading.
func wordTitle(cells []string) string {
	if cells[0] == "" {
		return "stand-in: " + cells[1]
	}
	return cells[1]
}

// wordErrors are lines against the number of features, wordDifferences the same less those of LogDet Linear.
func wordErrors(cells []string) frame.Panel {
	p := frame.Panel{Panel: plots.Panel{Title: wordTitle(cells), XLabel: "number of features", YLabel: "test error (%)"}}
	for _, m := range clarifyCurveMethods {
		p.Of = append(p.Of, frame.Line(protocol.Styles.Line(m), "dims", Share, ErrorLine.Without()).Where("method", m))
	}
	return p
}

func wordDifferences(cells []string) frame.Panel {
	p := frame.Panel{Panel: plots.Panel{Title: wordTitle(cells), XLabel: "test error less that of " + protocol.LogDetLinear + " (percentage points)"}}
	for _, m := range clarifyCurveMethods[1:] {
		p.Of = append(p.Of, frame.Dots(protocol.Styles.Intervals(m), "number", ErrorOf(m).Minus(ErrorOf(protocol.LogDetLinear)), frame.Band{Scale: 100}.By(Summary)))
	}
	p.Of = append(p.Of, frame.Fixed(plots.Reference{Vertical: true, Color: protocol.Styles[protocol.LogDetLinear].Color}))
	return p
}

func drawTopics(t *table.Table) (plots.Drawing, error) {
	heads := []string{"topic", "documents drawn in a trial", "of those with this topic only"}
	if feature, _ := nouns(firstWords(t)); feature != "word" {
		heads = []string{"program and class", "runs in a trial", "of all runs of this class"}
	}
	return frame.View{
		From: frame.Rows(wordRows).Where("features", protocol.Readings[0].String(), "kind", "class"), Missing: "sizes of the stand-in",
		Text: &frame.Text{By: []string{"program", "", "at", ""}, Cells: []frame.Cell{
			{Head: heads[0], Of: func(rows *table.Table) string {
				return strings.TrimPrefix(experiment.FirstName(rows, "program")+", "+experiment.FirstName(rows, "at"), ", ")
			}},
			frame.Of(heads[1], frame.Column("value"), frame.Band{}, "%.0f"), frame.Of(heads[2], frame.Column("of"), frame.Band{}, "%.0f"),
		}},
		Caption: ShownBy(func(t *table.Table) string {
			rows := firstWords(t)
			return fmt.Sprintf("The classes. %s Similar and dissimilar pairs of a training fold: %.0f and %.0f.", withoutNote(rows), SizesOf(rows)(protocol.SimilarPairs), SizesOf(rows)(protocol.DissimilarPairs))
		}, wordProtocol),
	}.Draw(t)
}

// withoutNote says how many documents the selected words do not tell apart.
func withoutNote(rows *table.Table) string {
	feature, of := nouns(rows)
	if program := experiment.FirstName(rows, "program"); program != "" {
		of += " of " + program
	}
	var without []string
	for _, n := range dims(rows) {
		without = append(without, fmt.Sprintf("%.0f with %d "+feature+"s", SizesOf(rows.Where("dims", strconv.Itoa(n)))(wordless), n))
	}
	return fmt.Sprintf("Of the %.0f "+of+" of a trial, half of which train, so many have none of the selected "+feature+"s, and are equal under any metric: %s (means over folds and trials).", SizesOf(rows)(protocol.Objects), strings.Join(without, ", "))
}

// shownWords is the number of words in the view of words.
const shownWords = 40

// drawSelected shows the words, which are the same in all readings; of the traces, the functions of Latex.
func drawSelected(t *table.Table) (plots.Drawing, error) {
	rows := firstWords(t)
	if rows.Len() == 0 {
		return plots.Missing("words of the stand-in"), nil
	}
	feature, _ := nouns(rows)
	dims := dims(rows)
	most := strconv.Itoa(slices.Max(experiment.NotEmpty("numbers of features", dims)))
	text := &plots.TextTable{Head: []string{"word (stem)"}}
	if program := experiment.FirstName(rows, "program"); program != "" {
		text.Head[0] = "function of " + program
	}
	for _, n := range dims {
		text.Head = append(text.Head, fmt.Sprintf("training folds that select it, %d "+feature+"s", n))
	}
	text.Head = append(text.Head, "mean place where among "+most)
	type selected struct {
		word  string
		times []int // by number of words
		place float64
	}
	var words []selected
	for word, g := range rows.Where("kind", "word").Group("at") {
		w := selected{word: word}
		for _, n := range dims {
			w.times = append(w.times, g.Where("dims", strconv.Itoa(n)).Len())
		}
		w.place = stat.Mean(g.Where("dims", most).Values("value"), nil)
		words = append(words, w)
	}
	at := max(slices.Index(dims, printedDims), 0)
	slices.SortFunc(words, func(a, b selected) int {
		return cmp.Or(cmp.Compare(b.times[at], a.times[at]), cmp.Compare(a.place, b.place), cmp.Compare(a.word, b.word))
	})
	for _, w := range words[:min(shownWords, len(words))] {
		row := []string{w.word}
		for _, n := range w.times {
			row = append(row, strconv.Itoa(n))
		}
		text.Rows = append(text.Rows, append(row, fmt.Sprintf("%.1f", w.place)))
	}
	shows := fmt.Sprintf("The %d "+feature+"s selected most often with %d features, of %d that any training fold selected.", len(text.Rows), printedDims, len(words))
	return plots.Drawing{Text: text, Caption: Shown(shows, wordProtocol)(t)}, nil
}
