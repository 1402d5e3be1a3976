package vectors

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/papers/logdet2012/protocol"
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
			for _, m := range drawnMethods {
				p.Of = append(p.Of, frame.Dots(protocol.Styles.Intervals(m), "data set", Share, ErrorBand).Where("kind", "wrong", "method", m))
			}
			return p
		}, "reading"),
		Text: &frame.Text{By: []string{"reading", "", "data set", "data set"}, Cells: append([]frame.Cell{frame.Name("error (%)", "reading")}, errorCells(drawnMethods)...)},
		Caption: Shown("Test error of the k nearest training rows under each metric, learned from the training fold alone. Left: features as they are. The paper does not say how they were scaled; only unscaled ones reach the 35 % of its axis. It gives no numbers. Right: each feature is standardised by its training fold. "+
			"Wider grid: σ² from 1/32 to 8 medians, where most folds chose an end of ½, 1 and 2. The table adds u and ℓ at the same shares of the range (bins), on unscaled features; methods without bounds are as before.", fig1aMeans),
	}.Draw},
	{Name: "bounds", Title: "What the rule of the bounds does: percentiles of distances against shares of their range", Draw: frame.View{
		Of: []string{"features", asPublished.features}, Columns: 3, Missing: "errors on features as they are",
		From: frame.Named("panel", boundedMethods, func(m string) (string, frame.Rows) { return m, frame.Only("method", "", m) }).Then(Titled),
		Panels: frame.PerGroup(func(cells []string) frame.Panel {
			p := frame.Panel{Panel: plots.Panel{Title: cells[0], XLabel: "test error (%)"}}
			for _, rule := range []string{percentiles, bins} {
				p.Of = append(p.Of, frame.Dots(boundStyles.Intervals("bounds by "+rule), "data set", Share, ErrorBand).Where("kind", "wrong", "bounds", rule))
			}
			return p
		}, "panel"),
		Text: &frame.Text{By: []string{"panel", "", "data set", "data set"}, Cells: []frame.Cell{
			BoundCell("u by percentiles (medians)", "bounds", percentiles, "at", protocol.UpperBound), BoundCell("ℓ", "bounds", percentiles, "at", protocol.LowerBound),
			BoundCell("u by bins (medians)", "bounds", bins, "at", protocol.UpperBound), BoundCell("ℓ", "bounds", bins, "at", protocol.LowerBound),
			frame.Name("method", "panel"),
			ErrorCell("error by percentiles (%)", errorBy(percentiles)), ErrorCell("error by bins (%)", errorBy(bins)), ErrorCell("bins minus percentiles (percentage points)", errorBy(bins).Minus(errorBy(percentiles))),
		}},
		Caption: Shown("Features as they are. The paper takes u and ℓ from the 1st and 99th percentiles of the distances. The program of Davis et al. (2007), which its authors used before, speaks of percentiles. It divides the range of the distances into 100 equal bins, and takes the centres of two of them: "+
			"here the first and the last but one, 1 and 99. Where a few rows are far from all others, ℓ is then beyond nearly all distances. u and ℓ are squared distances in units of their median, Euclidean; those of the Gaussian kernel are by the same rules.", fig1aMeans),
	}.Draw},
	{Name: "choices", Title: "What was chosen on the training folds, and fits that did not converge", Draw: experiment.WithEnds(frame.View{
		From: fig1aRows(true).Then(frame.Only("method", drawnMethods...)), Missing: "choices on any data set",
		Text:    &frame.Text{By: []string{"reading", "", "data set", "data set", "method", ""}, Cells: append([]frame.Cell{frame.Name("reading", "reading"), frame.Name("method", "method")}, ChoiceCells...)},
		Caption: ShownBy(choiceNote, fig1aProtocol),
	}.Draw, protocol.Fig1aChoices)},
	{Name: "data", Title: "The data sets, and the pairs drawn from their classes", Draw: frame.View{
		Of: []string{"features", asPublished.features}, From: Titled, Missing: "sizes of any data set",
		Text:    &frame.Text{By: []string{"data set", "data set"}, Cells: SizeCells(protocol.Objects, protocol.Features, protocol.Classes, protocol.TrainRows, protocol.SimilarPairs, protocol.DissimilarPairs)},
		Caption: Shown("Sizes, and what a fold has: training rows and pairs of them, means over folds and trials. A pair of rows of two classes may be drawn for both.", fig1aProtocol),
	}.Draw},
}

// boundStyles are those of the rules of the bounds.
var boundStyles = plots.Ordered("bounds by "+percentiles, "bounds by "+bins)

// Titled names the data sets for a reader.
var Titled = frame.Called("data set", "database", titleOf)

// errorBy is the error with the bounds of a rule.
func errorBy(rule string) frame.Measure { return Share.Where("kind", "wrong", "bounds", rule) }

// BoundCell is a column with a mean of u or ℓ, in medians of the squared distances.
func BoundCell(head string, where ...string) frame.Cell {
	return frame.Of(head, Share.Where(append([]string{"kind", "bound"}, where...)...), frame.Band{}, "%.3g")
}

// fig1aRows are the rows of each reading, with those of the methods that use no bounds in every reading, or in one.
func fig1aRows(once bool) frame.Rows {
	return frame.Named("reading", allReadings, func(rd reading) (string, frame.Rows) {
		bounds := []string{"", rd.bounds}
		if once && rd.bounds != percentiles {
			bounds = bounds[1:]
		}
		return rd.String(), frame.Only("features", rd.features).Then(frame.Only("bounds", bounds...))
	}).Then(Titled)
}

// errorCells are columns with the errors of methods, a dash where there are none.
func errorCells(methods []string, where ...string) (out []frame.Cell) {
	for _, m := range methods {
		out = append(out, OrElse("–", ErrorOf(m, where...), ErrorCell(m, ErrorOf(m, where...))))
	}
	return out
}

// FoldsNote says what the intervals are. A table has one row of an error per trial and fold.
func FoldsNote(t *table.Table) string {
	trials := len(t.Unique("trial"))
	if trials*protocol.Folds < judge.MinTrials {
		return fmt.Sprintf("Means over %d trial(s), each a stratified two-fold cross-validation; fewer than %d folds, so no intervals are given.", trials, judge.MinTrials)
	}
	return fmt.Sprintf("Means over both folds of %d trials, each a stratified two-fold cross-validation, with 95 %% t intervals of the folds' errors, corrected for training sets that overlap (Nadeau and Bengio 2003; Bouckaert and Frank 2004; test/train = 1).", trials)
}

// UCI describes the data sets of Fig. 1(a), or the built-in ones in their place.
func UCI(t *table.Table) string {
	if first := experiment.FirstName(t, "database"); !slices.ContainsFunc(protocol.Databases, func(d protocol.Database) bool { return d.Name == first }) {
		return "Built-in mixtures of Gaussians, in place of the paper's data."
	}
	return "Wine, ionosphere, balance-scale, iris and, as the paper does not say which soybean, the complete rows of soybean-large (UCI)."
}

// fig1aProtocol describes data and settings in captions, fig1aMeans also what intervals are.
func fig1aProtocol(t *table.Table) plots.Caption {
	return plots.Caption{Data: UCI(t), Protocol: votesAndPairs(t, "class") + " " +
		"u and ℓ: 1st and 99th percentile of the squared distances between all pairs of training rows, Euclidean or of the Gaussian kernel. Each method chooses by a two-fold cross-validation inside the training fold, the first of equals: " +
		"γ from 0.01 to 1000; with it σ² of the kernel exp(−d²/(2σ²)) among ½, 1 and 2 medians of the squared distances; η of LogDet Online (one pass, each pair once) from 0.01 to 10⁶ in 1/ℓ²; the targets (1, 3, 5) and μ (¼, ½, ¾) of LMNN. " +
		"Folds and pairs are the same for all methods."}
}

// votesAndPairs describes neighbours and pairs in captions.
func votesAndPairs(t *table.Table, class string) string {
	size := SizesOf(t)
	return fmt.Sprintf("k = %.0f. Equal distances count in the order of the training rows, tied votes for the class of the nearest. Pairs from the training labels: per %s %.0f similar ones within it and %.0f between it and the others, or all there are.",
		size(protocol.Neighbours), class, size(protocol.PairsPerClass), size(protocol.PairsPerClass))
}

func fig1aMeans(t *table.Table) plots.Caption {
	c := fig1aProtocol(t)
	c.Intervals = FoldsNote(t)
	return c
}

// A caption is said of a table, as is a note in one.
type (
	caption = func(t *table.Table) plots.Caption
	note    = func(t *table.Table) string
)

// Shown is a caption that shows something by a protocol.
func Shown(shows string, about caption) caption {
	return ShownBy(func(*table.Table) string { return shows }, about)
}

// ShownBy is shown of what the rows tell.
func ShownBy(shows note, about caption) caption {
	return func(t *table.Table) plots.Caption {
		c := about(t)
		c.Shows = shows(t)
		return c
	}
}

// boundedMethods are those of the figure that use u and ℓ.
var boundedMethods = slices.DeleteFunc(slices.Clone(protocol.MethodNames), func(m string) bool { return !bounded(m) })

// drawnMethods are those of the figure, and the one with a wider grid, where it was run.
var drawnMethods = append(slices.Clone(protocol.MethodNames), protocol.LogDetWider)

// choiceNote explains ChoiceCells.
var choiceNote = ChoiceNoteOn("half of the training rows")

// ChoiceNoteOn is choiceNote for an inner cross-validation whose folds are of something else.
func ChoiceNoteOn(rows string) note {
	return func(t *table.Table) string {
		size := SizesOf(t)
		return fmt.Sprintf("Two folds per trial. Errors of the candidates are means over trials and folds of the inner cross-validation, on %s each. A fit of LogDet that is stopped at the cap of %.0f Bregman projections at the end, or %.0f in choosing, has not converged (the program of Davis et al. 2007 stops at 100,000), nor has one of "+
			"MCML or LMNN after %.0f iterations, or %.0f in choosing. A candidate that float64 does not allow counts all its rows as wrong.",
			rows, size(protocol.ProjectionCap(protocol.FinalFits)), size(protocol.ProjectionCap(protocol.ChoiceFits)), size(protocol.IterationCap(protocol.FinalFits)), size(protocol.IterationCap(protocol.ChoiceFits)))
	}
}

// choiceSpread is the place of the candidates' errors in ChoiceCells.
const choiceSpread = 3

// ChoiceCells say what a method has chosen.
var ChoiceCells = []frame.Cell{
	{Head: "chosen (folds)", Of: func(rows *table.Table) string { return Tallied(rows.Where("kind", "chosen").Index("at")) }},
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
	StoppedCell("not converged: in choosing", "at", protocol.ChoiceFits),
	StoppedCell("at the end", "at", protocol.FinalFits),
	{Head: "impossible fits", Of: func(rows *table.Table) string {
		return fmt.Sprintf("%.0f", floats.Sum(rows.Where("kind", "failed").Values("value")))
	}},
}

// StoppedCell is a column with how many fits did not converge.
func StoppedCell(head string, where ...string) frame.Cell {
	return frame.Cell{Head: head, Of: func(rows *table.Table) string {
		g := rows.Where("kind", "stopped").Where(where...)
		return fmt.Sprintf("%.0f of %.0f", floats.Sum(g.Values("value")), floats.Sum(g.Values("of")))
	}}
}

// Tallied tells how often each label occurs, the most frequent first.
func Tallied(labels []string) string {
	count := map[string]int{}
	var order []string
	for _, l := range labels {
		if count[l] == 0 {
			order = append(order, l)
		}
		count[l]++
	}
	slices.SortStableFunc(order, func(a, b string) int { return count[b] - count[a] })
	for i, l := range order {
		order[i] = fmt.Sprintf("%s (%d)", l, count[l])
	}
	return strings.Join(order, "; ")
}
