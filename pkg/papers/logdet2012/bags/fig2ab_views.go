package bags

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/papers/logdet2012/protocol"
	"metriclab/pkg/papers/logdet2012/vectors"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

var fig2abViews = []experiment.View{
	{Name: "fig2a", Title: "Fig. 2(a): Classic3, accuracy of nearest neighbours against the size of the basis", Draw: drawTextPanel("a", "errors on Classic3")},
	{Name: "fig2b", Title: "Fig. 2(b): 20 Newsgroups, accuracy of nearest neighbours against the size of the basis", Draw: drawTextPanel("b", "errors on 20 Newsgroups")},
	{Name: "readings", Title: "Texts: the declared readings, and ℓ doubled", Draw: frame.View{
		From: eachTextRows(func(r textReading) frame.Rows {
			return frame.Named("shown", textMethodNames(r != allRaw), besideEuclidean)
		}), Missing: "errors on texts",
		Text: &frame.Text{By: []string{"collection", "collection", "vectors", "vectors", "shown", "method", "size", "basis"}, Cells: []frame.Cell{
			vectors.ErrorCell("accuracy (%)", shownAccuracy),
			{Head: "minus that of Euclidean (percentage points)", Of: func(rows *table.Table) string {
				if experiment.FirstName(rows, "shown") == protocol.Euclidean {
					return "–"
				}
				return vectors.Summary(shownAccuracy.Minus(accuracy.Where("method", protocol.Euclidean))(rows)).Percent()
			}},
		}},
		Caption: vectors.Shown(fmt.Sprintf("What the paper leaves open: the length of the vectors, here 1 or tf-idf as it is, and pairs that no metric of the basis satisfies: kept, with slack on the full squared distance, or dropped, as Eq. 11 has it without such a slack. Beside that ℓ twice the 99th percentile, and LSA centred or not. "+
			"Tf-idf as it is has at most %d training documents, drawn; of 20 Newsgroups also all, without LMNN, for its cost.", rawTrain), textProtocol),
	}.Draw},
	{Name: "pairs", Title: "Texts: pairs that no metric of the basis satisfies, or that ask for nothing", Draw: frame.View{
		From: textRows.Then(frame.Only("method", protocol.LogDetLinear, logDetDropped, logDetFar)).Where("kind", "pairs"), Missing: "pairs of texts",
		Text: &frame.Text{By: []string{"collection", "collection", "vectors", "vectors", "method", "method", "basis", "basis"}, Cells: []frame.Cell{
			pairsCell("similar pairs that are infeasible (%)", infeasiblePairs), pairsCell("dissimilar pairs that ask for nothing (%)", vacuousPairs), pairsCell("pairs that no F moves (%)", skippedPairs),
		}},
		Caption: vectors.Shown("Means over folds and trials. Only the part of a distance inside the basis can change. A similar pair whose part outside is longer than u is infeasible: it is kept with slack, or dropped. A dissimilar pair whose part outside is longer than ℓ is satisfied already.", textProtocol),
	}.Draw},
	{Name: "choices", Title: "Texts: what was chosen on the training folds, and fits that did not converge", Draw: experiment.WithEnds(frame.View{
		From: textRows.Then(frame.Only("method", protocol.LogDetLinear, logDetDropped, logDetFar, scaledI, protocol.Lmnn, basisLMNN)), Missing: "choices on texts",
		Text:    &frame.Text{By: []string{"collection", "collection", "vectors", "vectors", "basis", "basis", "method", "method"}, Cells: vectors.ChoiceCells},
		Caption: vectors.ShownBy(vectors.ChoiceNoteOn("half of its documents"), textProtocol),
	}.Draw, protocol.Fig2abChoices)},
	{Name: "data", Title: "Texts: documents, words, bounds and bases", Draw: frame.View{
		From: textRows, Missing: "sizes of texts",
		Text: &frame.Text{By: []string{"collection", "collection", "vectors", "vectors"}, Cells: append(vectors.SizeCells(protocol.Objects, protocol.Classes, protocol.TrainRows, wordsOf, emptyTrain, emptyTest, protocol.SimilarPairs, protocol.DissimilarPairs),
			vectors.BoundCell("u (medians)", "at", protocol.UpperBound), vectors.BoundCell("ℓ (medians)", "at", protocol.LowerBound),
			frame.Cell{Head: "dimensions of the bases", Of: func(rows *table.Table) string {
				var ranks []string
				for _, g := range rows.Where("kind", "rank").Group("basis") {
					ranks = append(ranks, fmt.Sprintf("%.4g of %.0f", stat.Mean(g.Values("value"), nil), floats.Max(g.Values("of"))))
				}
				return strings.Join(ranks, ", ")
			}})},
		Caption: vectors.Shown("Means over folds and trials; u and ℓ in medians of the squared Euclidean distances.", textProtocol),
	}.Draw},
}

// textRows are the rows in the order of the lengths, by the names of these.
var textRows = eachTextRows(func(textReading) frame.Rows { return func(t *table.Table) *table.Table { return t } })

// eachTextRows are rows of each length, in the order of textRows.
func eachTextRows(rows func(r textReading) frame.Rows) frame.Rows {
	return frame.Named("vectors", textReadings, func(r textReading) (string, frame.Rows) {
		return r.name, frame.Only("length", r.length).Then(rows(r))
	})
}

// accuracy is 1 minus the error, shownAccuracy that of the method that rows show beside Euclidean.
var (
	accuracy      = vectors.Share.Map(func(v float64) float64 { return 1 - v })
	shownAccuracy = frame.Measure(func(rows *table.Table) []float64 {
		return accuracy.Where("method", experiment.FirstName(rows, "shown"))(rows)
	})
)

// pairsCell is a column with the share of pairs that a fit cannot use.
func pairsCell(head, what string) frame.Cell {
	return frame.Of(head, vectors.Share.Where("at", what), frame.Percent, "%.1f")
}

// bySize are the errors by the size of the basis; those of Euclidean, which has none, stand at each.
var bySize = vectors.AtEach("size", "basis", protocol.Euclidean)

// besideEuclidean are the errors of a method and of Euclidean by size; of Euclidean itself all.
func besideEuclidean(method string) (string, frame.Rows) {
	if method == protocol.Euclidean {
		all := func(string) string { return "–" }
		return method, frame.Only("kind", "wrong").Where("method", protocol.Euclidean).Then(frame.Called("size", "basis", all))
	}
	return method, bySize.Then(frame.Only("method", method, protocol.Euclidean))
}

// textProtocol describes data and settings in captions.
func textProtocol(t *table.Table) plots.Caption {
	t = t.Where("length", experiment.FirstName(t, "length"))
	var data []string
	for name := range t.Group("collection") {
		data = append(data, map[string]string{
			"Classic3":      "Classic3: 3,889 abstracts of CISI, CRAN and MED, titles and abstracts (two of CRAN are empty and left out).",
			"20 Newsgroups": "20 Newsgroups, version \"bydate\", both parts: 18,846 posts (the paper says 20,000), subject and body, since senders' addresses would tell the group.",
		}[name])
	}
	if data[0] == "" {
		data = []string{"Built-in, made-up news, in place of the paper's."}
	}
	size := func(what string) string { // in each collection
		var each []string
		for _, g := range t.Group("collection") {
			each = append(each, fmt.Sprintf("%.0f", vectors.SizesOf(g)(what)))
		}
		return strings.Join(slices.Compact(each), " or ")
	}
	return plots.Caption{Data: strings.Join(data, " "), Protocol: fmt.Sprintf("Words are stemmed by Porter's algorithm of 1980. Stop words are left out, and all but the %s words in most training documents (tf·ln(N/df)). Vocabulary, idf and means are those of the training fold, also in the cross-validation inside it. "+
		"k = %s neighbours. Equal distances count in the order of the training documents, tied votes for the class of the nearest. Per class %s similar pairs within it and %s between it and the others. u and ℓ: 1st and 99th percentile of the squared Euclidean distances between %s training documents. "+
		"Basis: the class means; means of randomly chosen classes if it is smaller; k-means of each class if it is larger. γ from 0.01 to 1000, t from −0.5 to 300 and μ of LMNN (¼, ½, ¾, with 3 targets) are chosen per size by a two-fold cross-validation on %s documents of the training fold, the first of equals. "+
		"LMNN learns from %s training documents, for its cost. Folds and pairs are the same for all methods.",
		size(wordsOf), size(protocol.Neighbours), size(protocol.PairsPerClass), size(protocol.PairsPerClass), size(boundDocuments), size(innerDocuments), size(lmnnDocuments)), Intervals: vectors.FoldsNote(t)}
}

// drawTextPanel is a panel of the figure, in the first reading, and its controls.
func drawTextPanel(panel, missing string) func(*table.Table) (plots.Drawing, error) {
	return func(t *table.Table) (plots.Drawing, error) {
		v := frame.View{
			Of: []string{"panel", panel, "length", textReadings[0].length}, From: bySize.Then(frame.Only("method", textMethods...)), Columns: 2, Missing: missing,
			Text: &frame.Text{By: []string{"method", "method, accuracy (%)"}},
			Caption: vectors.Shown("Accuracy of the k nearest training documents, tf-idf of unit length, against the size of the basis. Left: the lines of the paper, which gives no numbers; LSA is centred, LMNN learns in its coordinates, Euclidean has no basis. "+
				"Right, ours: is it what LogDet learns, or the labels in the basis? The basis alone (distances in its coordinates, nothing learned); W = I + tUUᵀ, one number learned; LMNN in the coordinates of the basis; LSA not centred.", textProtocol),
		}
		v.Panels = func(rows *table.Table) (out []plots.Panel) {
			for name, g := range rows.Group("collection") {
				out = append(out, frame.Each(textLinesOf(name+": the paper's lines", textLines), textLinesOf(name+": controls", textControls))(g)...)
			}
			return out
		}
		for _, k := range bySize(t.Where(v.Of...)).Unique("size") {
			v.Text.Cells = append(v.Text.Cells, vectors.ErrorCell("basis of "+k, accuracy.Where("size", k)))
		}
		return v.Draw(t)
	}
}

// textLinesOf is a panel with the accuracies of methods.
func textLinesOf(title string, methods []string) frame.Panel {
	p := frame.Panel{Panel: plots.Panel{Title: title, XLabel: "size of the basis", YLabel: "accuracy (%)"}}
	for _, m := range methods {
		p.Of = append(p.Of, frame.Line(textStyles.Line(m), "size", accuracy, frame.Band{Scale: 100, Possible: [2]float64{math.Inf(-1), 1}}.By(vectors.Summary)).Where("method", m))
	}
	return p
}
