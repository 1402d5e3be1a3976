package logdet2012

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

var fig2abViews = []experiment.View{
	{Name: "fig2a", Title: "Fig. 2(a): Classic3, accuracy of nearest neighbours against the size of the basis", Draw: drawn("errors on Classic3", mainTextOf("a"), drawTextPanel)},
	{Name: "fig2b", Title: "Fig. 2(b): 20 Newsgroups, accuracy of nearest neighbours against the size of the basis", Draw: drawn("errors on 20 Newsgroups", mainTextOf("b"), drawTextPanel)},
	{Name: "readings", Title: "Texts: the declared readings, and ℓ doubled", Draw: drawn("errors on texts", textResultsOf, drawTextReadings)},
	{Name: "pairs", Title: "Texts: pairs that no metric of the basis satisfies, or that ask for nothing", Draw: drawn("pairs of texts", textResultsOf, drawTextPairs)},
	{Name: "choices", Title: "Texts: what was chosen on the training folds, and fits that did not converge", Draw: experiment.WithEnds(drawn("choices on texts", textResultsOf, drawTextChoices), fig2abChoices)},
	{Name: "data", Title: "Texts: documents, words, bounds and bases", Draw: drawn("sizes of texts", textResultsOf, drawTextData)},
}

// mainTextOf returns what a table has of a panel in the first reading.
func mainTextOf(panel string) func(*table.Table) []textResults {
	return func(t *table.Table) []textResults {
		var out []textResults
		for _, r := range textResultsOf(t) {
			if r.panel == panel && r.norm == textReadings[0].String() {
				out = append(out, r)
			}
		}
		return out
	}
}

// textProtocol describes data and settings in captions.
func textProtocol(r results) string {
	data := map[string]string{
		"Classic3":      "Classic3: 3,889 abstracts of CISI, CRAN and MED, titles and abstracts (two of CRAN are empty and left out)",
		"20 Newsgroups": "20 Newsgroups, version \"bydate\", both parts: 18,846 posts (the paper says 20,000), subject and body, since senders' addresses would tell the group",
	}[r.name]
	if data == "" {
		data = "built-in, made-up news, in place of the paper's"
	}
	return fmt.Sprintf("Data: %s. Words are stemmed by Porter's algorithm of 1980; stop words are left out, and all but the %.0f words in most training documents (tf·ln(N/df)). Vocabulary, idf and means are those of the training fold, also in the cross-validation inside it. "+
		"Protocol: k = %.0f neighbours, equal distances in the order of the training documents, tied votes to the class of the nearest. Per class %.0f similar pairs within it and %.0f between it and the others. u and ℓ: 1st and 99th percentile of the squared Euclidean distances between %.0f training documents. "+
		"Basis: the class means; means of randomly chosen classes if it is smaller; k-means of each class if it is larger. γ from 0.01 to 1000, t from −0.5 to 300 and μ of LMNN (¼, ½, ¾, with 3 targets) are chosen per size by a two-fold cross-validation on %.0f documents of the training fold, the first of equals. "+
		"LMNN learns from %.0f training documents, for its cost. Folds and pairs are the same for all methods. %s",
		data, r.size(wordsOf), r.size(neighbours), r.size(pairsPerClass), r.size(pairsPerClass), r.size(boundDocuments), r.size(innerDocuments), r.size(lmnnDocuments), foldsNote(r.t))
}

// textBands adds a line of a method: accuracies in per cent with bands.
func textBands(p *plots.Panel, r results, color int, method string) {
	line := plots.Line{Name: method, Color: color, Dashed: method == euclidean} // which may cover another
	for _, k := range r.basisSizes() {
		s := summary(r.accuracies(method, k))
		mean, half := s.Interval()
		line.X, line.Y = append(line.X, float64(k)), append(line.Y, 100*mean)
		line.Lo, line.Hi = append(line.Lo, 100*(mean-half)), append(line.Hi, 100*math.Min(1, mean+half))
	}
	p.Marks = append(p.Marks, line)
}

func drawTextPanel(all []textResults) plots.Drawing {
	r := all[0].results
	d := plots.Drawing{Columns: 2, Text: &plots.TextTable{Head: []string{"method, accuracy (%)"}}}
	for _, part := range []struct {
		title   string
		methods []string
	}{{"the paper's lines", textLines}, {"controls", textControls}} {
		p := plots.Panel{Title: r.name + ": " + part.title, XLabel: "size of the basis", YLabel: "accuracy (%)"}
		for color, m := range part.methods {
			textBands(&p, r, color, m)
		}
		d.Panels = append(d.Panels, p)
	}
	for _, k := range r.basisSizes() {
		d.Text.Head = append(d.Text.Head, fmt.Sprintf("basis of %d", k))
	}
	for _, m := range textMethods {
		row := []string{m}
		for _, k := range r.basisSizes() {
			row = append(row, summary(r.accuracies(m, k)).Percent())
		}
		d.Text.Rows = append(d.Text.Rows, row)
	}
	d.Caption = plots.Caption{Shows: "Accuracy of the k nearest training documents, tf-idf of unit length, against the size of the basis, with bands of 95 % intervals. Left: the lines of the paper, which gives no numbers; LSA is centred, LMNN learns in its coordinates, Euclidean has no basis. " +
		"Right, ours: is it what LogDet learns, or the labels in the basis? The basis alone (distances in its coordinates, nothing learned); W = I + tUUᵀ, one number learned; LMNN in the coordinates of the basis; LSA not centred. " + textProtocol(r)}
	return d
}

func drawTextReadings(all []textResults) plots.Drawing {
	text := &plots.TextTable{Head: []string{"collection", "vectors", "method", "basis", "accuracy (%)", "minus that of Euclidean (points)"}}
	for _, r := range all {
		for _, m := range textMethods {
			for _, k := range r.basisSizes() {
				basis := strconv.Itoa(k)
				if m == euclidean {
					basis = "–"
				}
				mine := r.accuracies(m, k)
				more := "–"
				if m != euclidean {
					more = summary(judge.Minus(mine, r.accuracies(euclidean, noBasis))).Percent()
				}
				text.Rows = append(text.Rows, []string{r.name, describeNorm[r.norm], m, basis, summary(mine).Percent(), more})
				if m == euclidean {
					break
				}
			}
		}
	}
	return plots.Drawing{Text: text, Caption: plots.Caption{Shows: fmt.Sprintf("What the paper leaves open: the length of the vectors, here 1 or tf-idf as it is, and pairs that no metric of the basis satisfies: kept, with slack on the full squared distance, or dropped, as Eq. 11 has it without such a slack. Beside that ℓ twice the 99th percentile, and LSA centred or not. "+
		"Tf-idf as it is has at most %d training documents, drawn. ", otherTrain) + textProtocol(all[0].results)}}
}

func drawTextPairs(all []textResults) plots.Drawing {
	text := &plots.TextTable{Head: []string{"collection", "vectors", "method", "basis", "similar pairs that are infeasible (%)", "dissimilar pairs that ask for nothing (%)", "pairs that no F moves (%)"}}
	for _, r := range all {
		for _, m := range []string{logDetLinear, logDetDropped, logDetFar} {
			for _, k := range r.basisSizes() {
				row := []string{r.name, describeNorm[r.norm], m, strconv.Itoa(k)}
				for _, what := range []string{infeasiblePairs, vacuousPairs, skippedPairs} {
					row = append(row, fmt.Sprintf("%.1f", 100*stat.Mean(shares(r.of("pairs", m, k).Where("at", what)), nil)))
				}
				text.Rows = append(text.Rows, row)
			}
		}
	}
	return plots.Drawing{Text: text, Caption: plots.Caption{Shows: "Means over folds and trials. Only the part of a distance inside the basis can change. A similar pair whose part outside is longer than u is infeasible: it is kept with slack, or dropped. A dissimilar pair whose part outside is longer than ℓ is satisfied already. " + textProtocol(all[0].results)}}
}

func drawTextChoices(all []textResults) plots.Drawing {
	text := &plots.TextTable{Head: append([]string{"collection", "vectors", "basis", "method"}, choiceHead...)}
	for _, r := range all {
		for _, k := range r.basisSizes() {
			for _, m := range []string{logDetLinear, logDetDropped, logDetFar, scaledI, lmnn, basisLMNN} {
				text.Rows = append(text.Rows, append([]string{r.name, describeNorm[r.norm], strconv.Itoa(k), m}, oldChoiceCells(r.results, m, k)...))
			}
		}
	}
	return plots.Drawing{Text: text, Caption: plots.Caption{Shows: choiceNoteOn(all[0].t, "half of its documents") + " " + textProtocol(all[0].results)}}
}

func drawTextData(all []textResults) plots.Drawing {
	shown := []string{objects, classes, trainRows, wordsOf, emptyTrain, emptyTest, similarPairs, dissimilarPairs}
	text := &plots.TextTable{Head: append([]string{"collection", "vectors"}, append(shown, "u (medians)", "ℓ (medians)", "dimensions of the bases")...)}
	for _, r := range all {
		row := []string{r.name, describeNorm[r.norm]}
		for _, what := range shown {
			row = append(row, fmt.Sprintf("%.0f", r.size(what)))
		}
		for _, at := range []string{upperBound, lowerBound} {
			row = append(row, fmt.Sprintf("%.3g", stat.Mean(shares(r.t.Where("kind", "bound", "at", at)), nil)))
		}
		var ranks []string
		for _, k := range r.basisSizes() {
			g := r.t.Where("kind", "rank", "basis", strconv.Itoa(k))
			ranks = append(ranks, fmt.Sprintf("%.4g of %.0f", stat.Mean(g.Values("value"), nil), floats.Max(experiment.NotEmpty("rows of kind rank", g.Values("of")))))
		}
		text.Rows = append(text.Rows, append(row, strings.Join(ranks, ", ")))
	}
	return plots.Drawing{Text: text, Caption: plots.Caption{Shows: "Means over folds and trials; u and ℓ in medians of the squared Euclidean distances. " + textProtocol(all[0].results)}}
}
