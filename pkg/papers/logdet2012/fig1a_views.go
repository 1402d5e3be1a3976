package logdet2012

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

var fig1aViews = []experiment.View{
	{Name: "fig1a", Title: "Fig. 1(a): error of nearest neighbours under the learned metrics", Draw: drawn("errors on any data set", readingsOf, drawFig1a)},
	{Name: "bounds", Title: "What the rule of the bounds does: percentiles of distances against shares of their range", Draw: drawn("errors on features as they are", publishedOf, drawBounds)},
	{Name: "choices", Title: "What was chosen on the training folds, and fits that did not converge", Draw: experiment.WithEnds(drawn("choices on any data set", readingsOf, drawChoices), fig1aChoices)},
	{Name: "data", Title: "The data sets, and the pairs drawn from their classes", Draw: drawn("sizes of any data set", publishedOf, drawData)},
}

// drawn returns the Draw of a view. It reads results with of, and notes what is missing if
// there are none.
func drawn[T any](missing string, of func(*table.Table) []T, draw func(all []T) plots.Drawing) func(*table.Table) (plots.Drawing, error) {
	return func(t *table.Table) (plots.Drawing, error) {
		all := of(t)
		if len(all) == 0 {
			return plots.Missing(missing), nil
		}
		return draw(all), nil
	}
}

// addErrors adds a mean error in per cent with its interval, and returns it as text.
func addErrors(m *plots.Intervals, label string, errors []float64) string {
	s := summary(errors)
	mean, half := s.Interval()
	m.Labels, m.X, m.Err, m.Possible = append(m.Labels, label), append(m.X, 100*mean), append(m.Err, 100*half), [2]float64{0, 100}
	return s.Percent()
}

// addPoint adds a mean error in per cent with the band of its interval, and returns it as text.
func addPoint(l *plots.Line, x int, errors []float64) string {
	s := summary(errors)
	mean, half := s.Interval()
	l.X, l.Y = append(l.X, float64(x)), append(l.Y, 100*mean)
	l.Lo, l.Hi = append(l.Lo, 100*max(0, mean-half)), append(l.Hi, 100*(mean+half))
	return s.Percent()
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
func protocol(all []results) string {
	data := "wine, ionosphere, balance-scale, iris and, since the paper does not say which soybean, the complete rows of soybean-large (UCI)"
	if !slices.ContainsFunc(databases, func(d database) bool { return titleOf(d.name) == all[0].name }) {
		data = "built-in, mixtures of Gaussians, in place of the paper's"
	}
	r := all[0]
	return fmt.Sprintf("Data: %s. k = %.0f; equal distances in the order of the training rows, tied votes to the class of the nearest. Pairs from the training labels: per class %.0f similar ones within it and %.0f between it and the others, or all there are. "+
		"u and ℓ: 1st and 99th percentile of the squared distances between all pairs of training rows, Euclidean or of the Gaussian kernel. Each method chooses by a two-fold cross-validation inside the training fold, the first of equals: "+
		"γ from 0.01 to 1000; with it σ² of the kernel exp(−d²/(2σ²)) among ½, 1 and 2 medians of the squared distances; η of LogDet Online (one pass, each pair once) from 0.01 to 10⁶ in 1/ℓ²; the targets (1, 3, 5) and μ (¼, ½, ¾) of LMNN. "+
		"Folds and pairs are the same for all methods.", data, r.size(neighbours), r.size(pairsPerClass), r.size(pairsPerClass))
}

// readResults are the data sets under one reading.
type readResults struct {
	reading
	sets []results
}

// readingsOf returns the readings that a table has.
func readingsOf(t *table.Table) (out []readResults) {
	for _, rd := range allReadings {
		all := resultsOf(t, rd.features)
		if len(all) > 0 && len(all[0].errors(logDetLinear, rd.bounds)) > 0 {
			out = append(out, readResults{rd, all})
		}
	}
	return out
}

// publishedOf returns the data sets with their features as they are.
func publishedOf(t *table.Table) []results { return resultsOf(t, asPublished.features) }

// drawnMethods are those of the figure, and the one with a wider grid, where it was run.
var drawnMethods = append(slices.Clone(methodNames), logDetWider)

func drawFig1a(all []readResults) plots.Drawing {
	d := plots.Drawing{Columns: 2, Text: &plots.TextTable{Head: append([]string{"data set", "error (%)"}, drawnMethods...)}}
	for _, rd := range all {
		p := plots.Panel{Title: rd.String(), XLabel: "test error (%)"}
		rows := make([][]string, len(rd.sets))
		for i, r := range rd.sets {
			rows[i] = []string{r.name, rd.String()}
		}
		for color, method := range drawnMethods {
			mark := plots.Intervals{Name: method, Color: color}
			for i, r := range rd.sets {
				cell := "–"
				if e := r.errors(method, rd.bounds); len(e) > 0 {
					cell = addErrors(&mark, r.name, e)
				}
				rows[i] = append(rows[i], cell)
			}
			if mark.Labels != nil {
				p.Marks = append(p.Marks, mark)
			}
		}
		if rd.bounds == percentiles { // the panel of the other rule would differ in three marks only
			d.Panels = append(d.Panels, p)
		}
		d.Text.Rows = append(d.Text.Rows, rows...)
	}
	d.Caption = plots.Caption{Shows: "Test error of the k nearest training rows under each metric, learned from the training fold alone. The paper does not say how features were scaled; its axis reaches 35 %, as only unscaled ones do, which are on the left; on the right each is standardised by its training fold. " +
		"The paper gives no numbers. The table adds u and ℓ at the same shares of the range (bins), on unscaled features, where the methods without bounds are as before. Wider grid: σ² from 1/32 to 8 medians, where most folds chose the end of ½, 1 and 2. " + foldsNote(all[0].sets[0].t) + " " + protocol(all[0].sets)}
	return d
}

func drawBounds(all []results) plots.Drawing {
	d := plots.Drawing{Columns: 3, Text: &plots.TextTable{Head: []string{"data set", "u by percentiles (medians)", "ℓ", "u by bins (medians)", "ℓ", "method", "error by percentiles (%)", "error by bins (%)", "bins minus percentiles (points)"}}}
	for _, method := range methodNames {
		if !bounded(method) {
			continue
		}
		rules := []string{percentiles, bins}
		marks := []plots.Intervals{{Name: "bounds by " + percentiles, Color: 0}, {Name: "bounds by " + bins, Color: 1}}
		for _, r := range all {
			row, errors := []string{r.name}, []string{method}
			for i, rule := range rules {
				row = append(row, fmt.Sprintf("%.3g", r.relativeBound(rule, upperBound)), fmt.Sprintf("%.3g", r.relativeBound(rule, lowerBound)))
				errors = append(errors, addErrors(&marks[i], r.name, r.errors(method, rule)))
			}
			more := judge.Minus(r.errors(method, bins), r.errors(method, percentiles))
			d.Text.Rows = append(d.Text.Rows, slices.Concat(row, errors, []string{summary(more).Percent()}))
		}
		d.Panels = append(d.Panels, plots.Panel{Title: method, XLabel: "test error (%)", Marks: []plots.Mark{marks[0], marks[1]}})
	}
	d.Caption = plots.Caption{Shows: "Features as they are. The paper takes u and ℓ from the 1st and 99th percentiles of the distances. The program of Davis et al. (2007), which its authors used before, speaks of percentiles but divides the range of the distances into 100 equal bins, and takes the centres of two of them: " +
		"here the first and the last but one, 1 and 99. Where a few rows are far from all others ℓ is then beyond nearly all distances. u and ℓ are squared distances in units of their median, Euclidean; those of the Gaussian kernel are by the same rules. " + foldsNote(all[0].t) + " " + protocol(all)}
	return d
}

func drawChoices(all []readResults) plots.Drawing {
	text := &plots.TextTable{Head: append([]string{"data set", "reading", "method"}, choiceHead...)}
	for _, rd := range all {
		for _, r := range rd.sets {
			for _, method := range drawnMethods {
				if len(r.errors(method, rd.bounds)) > 0 && (rd.bounds == percentiles || bounded(method)) {
					text.Rows = append(text.Rows, append([]string{r.name, rd.String(), method}, choiceCells(r, method, rd.bounds)...))
				}
			}
		}
	}
	sets := all[0].sets
	return plots.Drawing{Text: text, Caption: plots.Caption{Shows: choiceNote(sets[0]) + protocol(sets)}}
}

// choiceNote explains the cells of choiceHead.
func choiceNote(r results) string { return choiceNoteOn(r, "half of the training rows") }

// choiceNoteOn is choiceNote for an inner cross-validation whose folds are of something else.
func choiceNoteOn(r results, rows string) string {
	return fmt.Sprintf("Two folds per trial. Errors of the candidates are means over trials and folds of the inner cross-validation, on %s each. A fit of LogDet that is stopped at the cap of %.0f Bregman projections at the end, or %.0f in choosing, has not converged (the program of Davis et al. 2007 stops at 100,000), nor has one of "+
		"MCML or LMNN after %.0f iterations, or %.0f in choosing. A candidate that float64 does not allow counts all its rows as wrong. ",
		rows, r.size(projectionCap(finalFits)), r.size(projectionCap(choiceFits)), r.size(iterationCap(finalFits)), r.size(iterationCap(choiceFits)))
}

// choiceSpread is the place of the candidates' errors in choiceHead and choiceCells.
const choiceSpread = 3

// choiceHead names choiceCells.
var choiceHead = []string{"chosen (folds)", "as good as the chosen one, mean number", "of", "least and greatest error of the candidates (%)", "not converged: in choosing", "at the end", "impossible fits"}

// choiceCells says what a method has chosen where the varied column has a value.
func choiceCells(r results, method string, value any) []string {
	of := func(kind string) *table.Table { return r.of(kind, method, value) }
	chosen := of("chosen")
	names := chosen.Unique("at") // the most frequent first
	times := func(at string) int { return chosen.Where("at", at).Len() }
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(times(b), times(a)) })
	for i, at := range names {
		names[i] = fmt.Sprintf("%s (%d)", at, times(at))
	}
	var means []float64 // errors of the candidates
	for _, g := range of("inner").Group("at") {
		means = append(means, floats.Sum(g.Values("value"))/floats.Sum(g.Values("of")))
	}
	spread := "–"
	if means != nil {
		spread = fmt.Sprintf("%.2f to %.2f", 100*slices.Min(means), 100*slices.Max(means))
	}
	cells := []string{strings.Join(names, "; "), fmt.Sprintf("%.1f", stat.Mean(chosen.Values("value"), nil)), fmt.Sprintf("%.0f", experiment.First(chosen, "of")), spread}
	failed := 0.0
	for _, at := range []string{choiceFits, finalFits} {
		stopped := of("stopped").Where("at", at)
		cells = append(cells, fmt.Sprintf("%.0f of %.0f", floats.Sum(stopped.Values("value")), floats.Sum(stopped.Values("of"))))
		failed += floats.Sum(of("failed").Where("at", at).Values("value"))
	}
	return append(cells, fmt.Sprintf("%.0f", failed))
}

func drawData(all []results) plots.Drawing {
	text := &plots.TextTable{Head: []string{"data set", objects, features, classes, trainRows, similarPairs, dissimilarPairs}}
	for _, r := range all {
		row := []string{r.name}
		for _, what := range text.Head[1:] {
			row = append(row, fmt.Sprintf("%.0f", r.size(what)))
		}
		text.Rows = append(text.Rows, row)
	}
	return plots.Drawing{Text: text, Caption: plots.Caption{Shows: "Sizes, and what a fold has: training rows and pairs of them, means over folds and trials. A pair of rows of two classes may be drawn for both. " + protocol(all)}}
}
