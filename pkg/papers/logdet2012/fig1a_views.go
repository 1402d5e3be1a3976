package logdet2012

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

var fig1aViews = []experiment.View{
	{Name: "fig1a", Title: "Fig. 1(a): error of nearest neighbours under the learned metrics", Draw: frame.View{
		From: fig1aRows(false), Columns: 2, Missing: "errors on any data set",
		Panels: frame.PerGroup(func(cells []string) frame.Panel {
			if cells[0] == byBins.String() { // the panel of the other rule would differ in three marks only
				return frame.Panel{}
			}
			p := frame.Panel{Panel: plots.Panel{Title: cells[0], XLabel: "test error (%)"}}
			for color, m := range drawnMethods {
				p.Of = append(p.Of, frame.Dots(plots.Intervals{Name: m, Color: color}, "data set", share, errorBand).Where("kind", "wrong", "method", m))
			}
			return p
		}, "reading"),
		Text: &frame.Text{By: []string{"reading", "", "data set", "data set"}, Cells: append([]frame.Cell{frame.Name("error (%)", "reading")}, errorCells(drawnMethods)...)},
		Caption: shownBy(func(t *table.Table) string {
			return "Test error of the k nearest training rows under each metric, learned from the training fold alone. The paper does not say how features were scaled; its axis reaches 35 %, as only unscaled ones do, which are on the left; on the right each is standardised by its training fold. " +
				"The paper gives no numbers. The table adds u and ℓ at the same shares of the range (bins), on unscaled features, where the methods without bounds are as before. Wider grid: σ² from 1/32 to 8 medians, where most folds chose the end of ½, 1 and 2. " + foldsNote(t)
		}, protocol),
	}.Draw},
	{Name: "bounds", Title: "What the rule of the bounds does: percentiles of distances against shares of their range", Draw: frame.View{
		Of: []string{"features", asPublished.features}, Columns: 3, Missing: "errors on features as they are",
		From: frame.Named("panel", boundedMethods, func(m string) (string, frame.Rows) { return m, frame.Only("method", "", m) }).Then(titled),
		Panels: frame.PerGroup(func(cells []string) frame.Panel {
			p := frame.Panel{Panel: plots.Panel{Title: cells[0], XLabel: "test error (%)"}}
			for color, rule := range []string{percentiles, bins} {
				p.Of = append(p.Of, frame.Dots(plots.Intervals{Name: "bounds by " + rule, Color: color}, "data set", share, errorBand).Where("kind", "wrong", "bounds", rule))
			}
			return p
		}, "panel"),
		Text: &frame.Text{By: []string{"panel", "", "data set", "data set"}, Cells: []frame.Cell{
			boundCell("u by percentiles (medians)", "bounds", percentiles, "at", upperBound), boundCell("ℓ", "bounds", percentiles, "at", lowerBound),
			boundCell("u by bins (medians)", "bounds", bins, "at", upperBound), boundCell("ℓ", "bounds", bins, "at", lowerBound),
			frame.Name("method", "panel"),
			errorCell("error by percentiles (%)", errorBy(percentiles)), errorCell("error by bins (%)", errorBy(bins)), errorCell("bins minus percentiles (points)", errorBy(bins).Minus(errorBy(percentiles))),
		}},
		Caption: shownBy(func(t *table.Table) string {
			return "Features as they are. The paper takes u and ℓ from the 1st and 99th percentiles of the distances. The program of Davis et al. (2007), which its authors used before, speaks of percentiles but divides the range of the distances into 100 equal bins, and takes the centres of two of them: " +
				"here the first and the last but one, 1 and 99. Where a few rows are far from all others ℓ is then beyond nearly all distances. u and ℓ are squared distances in units of their median, Euclidean; those of the Gaussian kernel are by the same rules. " + foldsNote(t)
		}, protocol),
	}.Draw},
	{Name: "choices", Title: "What was chosen on the training folds, and fits that did not converge", Draw: experiment.WithEnds(frame.View{
		From: fig1aRows(true).Then(frame.Only("method", drawnMethods...)), Missing: "choices on any data set",
		Text:    &frame.Text{By: []string{"reading", "", "data set", "data set", "method", ""}, Cells: append([]frame.Cell{frame.Name("reading", "reading"), frame.Name("method", "method")}, choiceCells...)},
		Caption: shownBy(choiceNote, protocol),
	}.Draw, fig1aChoices)},
	{Name: "data", Title: "The data sets, and the pairs drawn from their classes", Draw: frame.View{
		Of: []string{"features", asPublished.features}, From: titled, Missing: "sizes of any data set",
		Text:    &frame.Text{By: []string{"data set", "data set"}, Cells: sizeCells(objects, features, classes, trainRows, similarPairs, dissimilarPairs)},
		Caption: shown("Sizes, and what a fold has: training rows and pairs of them, means over folds and trials. A pair of rows of two classes may be drawn for both.", protocol),
	}.Draw},
}

// titled names the data sets for a reader.
var titled = frame.Called("data set", "database", titleOf)

// errorBy is the error with the bounds of a rule.
func errorBy(rule string) frame.Measure { return share.Where("kind", "wrong", "bounds", rule) }

// boundCell is a column with a mean of u or ℓ, in medians of the squared distances.
func boundCell(head string, where ...string) frame.Cell {
	return frame.Of(head, share.Where(append([]string{"kind", "bound"}, where...)...), frame.Band{}, "%.3g")
}

// fig1aRows are the rows of each reading, with those of the methods that use no bounds in every reading, or in one.
func fig1aRows(once bool) frame.Rows {
	return frame.Named("reading", allReadings, func(rd reading) (string, frame.Rows) {
		bounds := []string{"", rd.bounds}
		if once && rd.bounds != percentiles {
			bounds = bounds[1:]
		}
		return rd.String(), frame.Only("features", rd.features).Then(frame.Only("bounds", bounds...))
	}).Then(titled)
}

// errorCells are columns with the errors of methods, a dash where there are none.
func errorCells(methods []string, where ...string) (out []frame.Cell) {
	for _, m := range methods {
		out = append(out, orElse("–", errorOf(m, where...), errorCell(m, errorOf(m, where...))))
	}
	return out
}

// foldsNote says what the intervals are. A table has one row of an error per trial and fold.
func foldsNote(t *table.Table) string {
	trials := len(t.Unique("trial"))
	if trials*folds < judge.MinTrials {
		return fmt.Sprintf("Means over %d trial(s), each a stratified two-fold cross-validation; fewer than %d folds, so no intervals are given.", trials, judge.MinTrials)
	}
	return fmt.Sprintf("Means over both folds of %d trials, each a stratified two-fold cross-validation, with 95 %% t intervals of the folds' errors, corrected for training sets that overlap (Nadeau and Bengio 2003; Bouckaert and Frank 2004; test/train = 1).", trials)
}

// protocol describes data and settings in captions.
func protocol(t *table.Table) plots.Caption {
	data := "wine, ionosphere, balance-scale, iris and, since the paper does not say which soybean, the complete rows of soybean-large (UCI)"
	if first := experiment.FirstName(t, "database"); !slices.ContainsFunc(databases, func(d database) bool { return d.name == first }) {
		data = "built-in, mixtures of Gaussians, in place of the paper's"
	}
	size := sizesOf(t)
	return plots.Caption{Data: "Data: " + data + ".", Protocol: fmt.Sprintf("k = %.0f; equal distances in the order of the training rows, tied votes to the class of the nearest. Pairs from the training labels: per class %.0f similar ones within it and %.0f between it and the others, or all there are. "+
		"u and ℓ: 1st and 99th percentile of the squared distances between all pairs of training rows, Euclidean or of the Gaussian kernel. Each method chooses by a two-fold cross-validation inside the training fold, the first of equals: "+
		"γ from 0.01 to 1000; with it σ² of the kernel exp(−d²/(2σ²)) among ½, 1 and 2 medians of the squared distances; η of LogDet Online (one pass, each pair once) from 0.01 to 10⁶ in 1/ℓ²; the targets (1, 3, 5) and μ (¼, ½, ¾) of LMNN. "+
		"Folds and pairs are the same for all methods.", size(neighbours), size(pairsPerClass), size(pairsPerClass))}
}

// A caption is said of a table, as is a note in one.
type (
	caption = func(t *table.Table) plots.Caption
	note    = func(t *table.Table) string
)

// shown is a caption that shows something by a protocol.
func shown(shows string, protocol caption) caption {
	return shownBy(func(*table.Table) string { return shows }, protocol)
}

// shownBy is shown of what the rows tell.
func shownBy(shows note, protocol caption) caption {
	return func(t *table.Table) plots.Caption {
		c := protocol(t)
		c.Shows = shows(t)
		return c
	}
}

// boundedMethods are those of the figure that use u and ℓ.
var boundedMethods = slices.DeleteFunc(slices.Clone(methodNames), func(m string) bool { return !bounded(m) })

// drawnMethods are those of the figure, and the one with a wider grid, where it was run.
var drawnMethods = append(slices.Clone(methodNames), logDetWider)

// choiceNote explains choiceCells.
var choiceNote = choiceNoteOn("half of the training rows")

// choiceNoteOn is choiceNote for an inner cross-validation whose folds are of something else.
func choiceNoteOn(rows string) note {
	return func(t *table.Table) string {
		size := sizesOf(t)
		return fmt.Sprintf("Two folds per trial. Errors of the candidates are means over trials and folds of the inner cross-validation, on %s each. A fit of LogDet that is stopped at the cap of %.0f Bregman projections at the end, or %.0f in choosing, has not converged (the program of Davis et al. 2007 stops at 100,000), nor has one of "+
			"MCML or LMNN after %.0f iterations, or %.0f in choosing. A candidate that float64 does not allow counts all its rows as wrong.",
			rows, size(projectionCap(finalFits)), size(projectionCap(choiceFits)), size(iterationCap(finalFits)), size(iterationCap(choiceFits)))
	}
}

// choiceSpread is the place of the candidates' errors in choiceCells.
const choiceSpread = 3

// choiceCells say what a method has chosen.
var choiceCells = []frame.Cell{
	{Head: "chosen (folds)", Of: func(rows *table.Table) string { return tallied(rows.Where("kind", "chosen").Index("at")) }},
	frame.Of("as good as the chosen one, mean number", frame.Column("value").Where("kind", "chosen"), frame.Band{}, "%.1f"),
	frame.Of("of", frame.Column("of").Where("kind", "chosen"), frame.Band{}, "%.0f"),
	{Head: "least and greatest error of the candidates (%)", Of: func(rows *table.Table) string {
		var means []float64
		for _, g := range rows.Where("kind", "inner").Group("at") {
			means = append(means, floats.Sum(g.Values("value"))/floats.Sum(g.Values("of")))
		}
		if means == nil {
			return "–"
		}
		return fmt.Sprintf("%.2f to %.2f", 100*slices.Min(means), 100*slices.Max(means))
	}},
	stoppedCell("not converged: in choosing", "at", choiceFits),
	stoppedCell("at the end", "at", finalFits),
	{Head: "impossible fits", Of: func(rows *table.Table) string {
		return fmt.Sprintf("%.0f", floats.Sum(rows.Where("kind", "failed").Values("value")))
	}},
}

// stoppedCell is a column with how many fits did not converge.
func stoppedCell(head string, where ...string) frame.Cell {
	return frame.Cell{Head: head, Of: func(rows *table.Table) string {
		g := rows.Where("kind", "stopped").Where(where...)
		return fmt.Sprintf("%.0f of %.0f", floats.Sum(g.Values("value")), floats.Sum(g.Values("of")))
	}}
}
