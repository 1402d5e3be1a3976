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
	{Name: "fig1b", Title: "Fig. 1(b), stand-in (nine Reuters topics) unless the traces are supplied: error of nearest neighbours with 20 features", Draw: drawWords("errors on the stand-in", drawFig1b)},
	{Name: "fig1c", Title: "Fig. 1(c), stand-in (nine Reuters topics) unless the traces are supplied: error against the number of features", Draw: drawWords("errors on the stand-in", drawFig1c)},
	{Name: "choices", Title: "Stand-in, or traces if supplied: what was chosen on the training folds, and fits that did not converge", Draw: experiment.WithEnds(drawWords("choices on the stand-in", drawWordChoices), protocol.Fig1bcChoices)},
	{Name: "data", Title: "Stand-in, or traces if supplied: the classes, and documents without a selected word", Draw: drawWords("sizes of the stand-in", drawTopics)},
	{Name: "words", Title: "Stand-in, or traces if supplied: the words that information gain selects", Draw: drawWords("words of the stand-in", drawSelected)},
}

// drawWords returns the Draw of a view of the readings that a table has.
func drawWords(missing string, draw func(all []results) plots.Drawing) func(*table.Table) (plots.Drawing, error) {
	return func(t *table.Table) (plots.Drawing, error) {
		all := wordResultsOf(t)
		if len(all) == 0 {
			return plots.Missing(missing), nil
		}
		return draw(all), nil
	}
}

// clarifyCurveMethods are those of Fig. 1(c).
var clarifyCurveMethods = []string{protocol.LogDetLinear, protocol.Euclidean, protocol.Mcml, protocol.Lmnn}

// wordCaption is a caption with data and settings; on the stand-in they begin with what the data are not.
func wordCaption(shows string, r results) plots.Caption {
	size := SizesOf(r.t)
	c := plots.Caption{Shows: shows, Intervals: FoldsNote(r.t), Data: "Traces of the Clarify system as supplied, all runs of Latex, Mpg321, Foxpro and Iptables."}
	class, same := "class", "Folds"
	features := "how often a run called each of the functions of greatest information gain about the class on the training fold, each with its best threshold"
	if r.program == "" {
		class, same, c.Data = "topic", "Documents, folds", standInData(r)
		features = "how often a document has each of the stemmed words whose presence has the greatest information gain about the topic on the training fold"
	}
	pairs := size(protocol.PairsPerClass)
	c.Protocol = fmt.Sprintf("Features: %s; the inner cross-validation has the same. k = %.0f. Equal distances count in the order of the training rows, tied votes for the class of the nearest. Pairs from the training labels: per %s %.0f similar ones within it and %.0f between it and the others, or all there are. "+
		"u and ℓ: 1st and 99th percentile of the squared distances between all pairs of training rows under W₀, which is I, and for LogDet-InvCov the inverse covariance. Each method chooses by a two-fold cross-validation inside the training fold, the first of equals: γ from 0.01 to 1000; the targets (1, 3, 5) and μ (¼, ½, ¾) of LMNN. "+
		"%s and pairs are the same for all methods and numbers of features.", features, size(protocol.Neighbours), class, pairs, pairs, same)
	return c
}

// standInData describes the documents in place of the traces.
func standInData(r results) string {
	topics := r.t.Where("kind", "class").Unique("at")
	const not = "Stand-in: nine Reuters topics; the Clarify traces are not public, and the paper gives but one number of them. "
	if !slices.Contains(topics, "earn") {
		return not + fmt.Sprintf("Built-in, made-up news of %d topics, in place of Reuters.", len(topics))
	}
	most := slices.Max(experiment.NotEmpty("rows of kind class", r.t.Where("kind", "class").Values("value")))
	return not + fmt.Sprintf("Documents of the ModApte split of Reuters-21578, of both parts, that have one topic only, of the %d topics with most of them. Each trial draws at most %.0f of each, so that trials share documents. They are in the order of time.", len(topics), most)
}

// byProgram groups results, those of the stand-in together.
func byProgram(all []results) [][]results {
	var out [][]results
	for _, r := range all {
		if n := len(out); n > 0 && out[n-1][0].program == r.program {
			out[n-1] = append(out[n-1], r)
		} else {
			out = append(out, []results{r})
		}
	}
	return out
}

// nouns are what a caption calls the features and objects of results.
func (r results) nouns() (feature, object string) {
	if r.program != "" {
		return "function", "runs"
	}
	return "word", "documents"
}

// curves are the results of Fig. 1(c): of Latex, or on the stand-in.
func curves(all []results) []results {
	return slices.DeleteFunc(slices.Clone(all), func(r results) bool { return r.program != "" && r.program != latex })
}

func drawFig1b(all []results) plots.Drawing {
	text := &plots.TextTable{Head: []string{"method"}, Rows: make([][]string, len(clarifyMethods))}
	d := plots.Drawing{Columns: 2, Text: text}
	for _, group := range byProgram(all) {
		title := "stand-in: Reuters topics, "
		if program := group[0].program; program != "" {
			title = program + ", "
		}
		p := plots.Panel{Title: title + featuresOf(printedDims), XLabel: "test error (%)"}
		for _, r := range group {
			text.Head = append(text.Head, r.name+": error (%)", "minus that of "+protocol.LogDetLinear+" (percentage points)")
			mark := countStyles.Intervals("counts " + Describe[r.features])
			for i, m := range clarifyMethods {
				if text.Rows[i] == nil {
					text.Rows[i] = []string{m}
				}
				less := "–"
				if m != protocol.LogDetLinear {
					less = Summary(r.worse(m, protocol.LogDetLinear, printedDims).Diffs).Percent()
				}
				ErrorBand.AddRow(&mark, m, r.errors(m, printedDims))
				text.Rows[i] = append(text.Rows[i], Summary(r.errors(m, printedDims)).Percent(), less)
			}
			p.Marks = append(p.Marks, mark)
		}
		d.Panels = append(d.Panels, p)
	}
	if len(d.Panels) == 1 {
		d.Columns = 0
	}
	of := "20 words as features: counts as they are, as the function counts of the paper's programs, and standardised by the training fold."
	if all[0].program != "" {
		of = "20 functions as features: counts as they are and standardised by the training fold."
	}
	_, object := all[0].nouns()
	d.Caption = wordCaption("Test error of the k nearest training "+object+" under each metric, with "+of, all[0])
	return d
}

// countStyles are those of the scalings of the counts.
var countStyles = plots.Ordered("counts "+Describe[protocol.Readings[0].String()], "counts "+Describe[protocol.Readings[1].String()])

func drawFig1c(all []results) plots.Drawing {
	if all = curves(all); len(all) == 0 {
		return plots.Missing("errors on Latex")
	}
	d := plots.Drawing{Columns: 2, Text: &plots.TextTable{Head: append([]string{"reading", "features", "error (%)"}, clarifyMethods...)}}
	var note string
	var differences []plots.Panel
	for _, r := range all {
		dims := r.numbers()
		note = r.withoutNote(dims) // the documents are the same in all readings
		title := r.name
		if r.program == "" {
			title = "stand-in: " + r.name
		}
		errors := plots.Panel{Title: title, XLabel: "number of features", YLabel: "test error (%)"}
		less := plots.Panel{Title: title, XLabel: "test error less that of " + protocol.LogDetLinear + " (percentage points)"}
		for _, m := range clarifyCurveMethods {
			line, mark := protocol.Styles.Line(m), protocol.Styles.Intervals(m)
			for _, n := range dims {
				ErrorLine.Without().AddTo(&line, float64(n), r.errors(m, n))
				frame.Band{Scale: 100}.By(Summary).AddRow(&mark, featuresOf(n), r.worse(m, protocol.LogDetLinear, n).Diffs)
			}
			errors.Marks = append(errors.Marks, line)
			if m != protocol.LogDetLinear {
				less.Marks = append(less.Marks, mark)
			}
		}
		less.Marks = append(less.Marks, plots.Reference{Vertical: true, Color: protocol.Styles[protocol.LogDetLinear].Color})
		d.Panels, differences = append(d.Panels, errors), append(differences, less)
		for _, n := range dims {
			row := []string{r.name, strconv.Itoa(n), ""}
			for _, m := range clarifyMethods {
				row = append(row, Summary(r.errors(m, n)).Percent())
			}
			d.Text.Rows = append(d.Text.Rows, row)
		}
	}
	d.Panels = append(d.Panels, differences...)
	feature, _ := all[0].nouns()
	d.Caption = wordCaption("Above: test error against the number of "+feature+"s that are features, for the methods of the paper's figure; the table has intervals, and all methods. Below: the error less that of "+protocol.LogDetLinear+" in the same fold.", all[0])
	d.Caption.Data += " " + note
	return d
}

func drawWordChoices(all []results) plots.Drawing {
	text := &plots.TextTable{Head: []string{"reading", "features", "method"}}
	for _, c := range ChoiceCells {
		text.Head = append(text.Head, c.Head)
	}
	for _, r := range all {
		for _, n := range r.numbers() {
			for _, m := range []string{protocol.LogDetLinear, protocol.LogDetInvCov, protocol.Lmnn, protocol.Mcml} { // the others choose nothing and need no iterations
				row, g := []string{r.name, strconv.Itoa(n), m}, r.t.Where("method", m, "dims", strconv.Itoa(n))
				for _, c := range ChoiceCells {
					row = append(row, c.Of(g))
				}
				text.Rows = append(text.Rows, row)
			}
		}
	}
	return plots.Drawing{Text: text, Caption: wordCaption(choiceNote(all[0].t), all[0])}
}

func drawTopics(all []results) plots.Drawing {
	r := all[0] // the documents are the same in all readings
	dims := r.numbers()
	text := &plots.TextTable{Head: []string{"topic", "documents drawn in a trial", "of those with this topic only"}}
	if r.program != "" {
		text.Head = []string{"program and class", "runs in a trial", "of all runs of this class"}
	}
	for _, group := range byProgram(all) {
		for topic, g := range group[0].t.Where("kind", "class").Group("at") {
			if p := group[0].program; p != "" {
				topic = p + ", " + topic
			}
			text.Rows = append(text.Rows, []string{topic, fmt.Sprintf("%.0f", stat.Mean(g.Values("value"), nil)), fmt.Sprintf("%.0f", stat.Mean(g.Values("of"), nil))})
		}
	}
	return plots.Drawing{Text: text, Caption: wordCaption(fmt.Sprintf("The classes. %s Similar and dissimilar pairs of a training fold: %.0f and %.0f.", r.withoutNote(dims), SizesOf(r.t)(protocol.SimilarPairs), SizesOf(r.t)(protocol.DissimilarPairs)), r)}
}

// withoutNote says how many documents the selected words do not tell apart.
func (r results) withoutNote(dims []int) string {
	feature, of := r.nouns()
	if r.program != "" {
		of += " of " + r.program
	}
	var without []string
	for _, n := range dims {
		without = append(without, fmt.Sprintf("%.0f with %d "+feature+"s", SizesOf(r.t.Where("dims", strconv.Itoa(n)))(wordless), n))
	}
	return fmt.Sprintf("Of the %.0f "+of+" of a trial, half of which train, so many have none of the selected "+feature+"s, and are equal under any metric: %s (means over folds and trials).", SizesOf(r.t)(protocol.Objects), strings.Join(without, ", "))
}

// shownWords is the number of words in the view of words.
const shownWords = 40

func drawSelected(all []results) plots.Drawing {
	r := all[0] // the words are the same in all readings; of the traces, Latex is shown
	feature, _ := r.nouns()
	dims := r.numbers()
	most := strconv.Itoa(slices.Max(experiment.NotEmpty("numbers of features", dims)))
	text := &plots.TextTable{Head: []string{"word (stem)"}}
	if r.program != "" {
		text.Head[0] = "function of " + r.program
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
	for word, g := range r.t.Where("kind", "word").Group("at") {
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
	return plots.Drawing{Text: text, Caption: wordCaption(fmt.Sprintf("The %d "+feature+"s selected most often with %d features, of %d that any training fold selected.", len(text.Rows), printedDims, len(words)), r)}
}
