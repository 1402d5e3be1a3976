package logdet2012

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

var fig1aViews = []experiment.View{
	{Name: "fig1a", Title: "Fig. 1(a): error of nearest neighbours under the learned metrics", Draw: drawFig1a},
	{Name: "bounds", Title: "What the rule of the bounds does: percentiles of distances against shares of their range", Draw: drawBounds},
	{Name: "choices", Title: "What was chosen on the training folds, and fits that did not converge", Draw: drawChoices},
	{Name: "data", Title: "The data sets, and the pairs drawn from their classes", Draw: drawData},
}

// foldsNote says what the intervals are. A table has one row of an error per trial and fold.
func foldsNote(t *table.Table) string {
	trials := len(t.Unique("trial"))
	if trials*folds < experiment.MinTrials {
		return fmt.Sprintf("Means over %d trial(s), each a stratified two-fold cross-validation; fewer than %d folds, so no intervals are given.", trials, experiment.MinTrials)
	}
	return fmt.Sprintf("Means over both folds of %d trials, each a stratified two-fold cross-validation, with 95 %% t intervals of the folds' errors, corrected for training sets that overlap (Nadeau and Bengio 2003; Bouckaert and Frank 2004; test/train = 1).", trials)
}

// protocol describes data and settings in captions.
func protocol(all []results) string {
	data := "wine, ionosphere, balance-scale, iris and, since the paper does not say which soybean, the complete rows of soybean-large (UCI)"
	if !slices.ContainsFunc(databases, func(d database) bool { return d.name == all[0].database }) {
		data = "built-in, mixtures of Gaussians, in place of the paper's"
	}
	r := all[0]
	return fmt.Sprintf("Data: %s. k = %.0f; equal distances in the order of the training rows, tied votes to the class of the nearest. Pairs from the training labels: per class %.0f similar ones within it and %.0f between it and the others, or all there are. "+
		"u and ℓ: 1st and 99th percentile of the squared distances between all pairs of training rows, Euclidean or of the Gaussian kernel. Each method chooses by a two-fold cross-validation inside the training fold, the first of equals: "+
		"γ from 0.01 to 1000; with it σ² of the kernel exp(−d²/(2σ²)) among ½, 1 and 2 medians of the squared distances; η of LogDet Online (one pass, each pair once) from 0.01 to 10⁶ in 1/ℓ²; the targets (1, 3, 5) and μ (¼, ½, ¾) of LMNN. "+
		"Folds and pairs are the same for all methods.", data, r.size(neighbours), r.size(pairsPerClass), r.size(pairsPerClass))
}

// readingsOf returns the readings that a table has, each with its data sets.
func readingsOf(t *table.Table) (readings []reading, sets [][]results) {
	for _, rd := range allReadings {
		all := resultsOf(t, rd.features)
		if len(all) > 0 && len(all[0].errors(logDetLinear, rd.bounds)) > 0 {
			readings, sets = append(readings, rd), append(sets, all)
		}
	}
	return readings, sets
}

func drawFig1a(t *table.Table) (plots.Drawing, error) {
	rds, sets := readingsOf(t)
	if len(rds) == 0 {
		return plots.Missing("errors on any data set"), nil
	}
	d := plots.Drawing{Columns: 2, Text: &plots.TextTable{Head: append([]string{"data set", "error (%)"}, methodNames...)}}
	for i, rd := range rds {
		p := plots.Panel{Title: rd.String(), XLabel: "test error (%)"}
		for color, method := range methodNames {
			mark := plots.Intervals{Name: method, Color: color}
			for _, r := range sets[i] {
				m, half := summary(r.errors(method, rd.bounds)).Interval()
				mark.Labels, mark.X, mark.Err = append(mark.Labels, r.title()), append(mark.X, 100*m), append(mark.Err, 100*half)
			}
			p.Marks = append(p.Marks, mark)
		}
		if rd.bounds == percentiles { // the panel of the other rule would differ in three marks only
			d.Panels = append(d.Panels, p)
		}
		for _, r := range sets[i] {
			row := []string{r.title(), rd.String()}
			for _, method := range methodNames {
				row = append(row, summary(r.errors(method, rd.bounds)).Percent())
			}
			d.Text.Rows = append(d.Text.Rows, row)
		}
	}
	d.Caption = "Test error of the k nearest training rows under each metric, learned from the training fold alone. The paper does not say how features were scaled; its axis reaches 35 %, as only unscaled ones do, which are on the left; on the right each is standardised by its training fold. " +
		"The paper gives no numbers. The table adds u and ℓ at the same shares of the range (bins), on unscaled features, where the methods without bounds are as before. " + foldsNote(t) + " " + protocol(sets[0])
	return d, nil
}

func drawBounds(t *table.Table) (plots.Drawing, error) {
	all := resultsOf(t, asPublished.features)
	if len(all) == 0 {
		return plots.Missing("errors on features as they are"), nil
	}
	text := &plots.TextTable{Head: []string{"data set", "u by percentiles (medians)", "ℓ", "u by bins (medians)", "ℓ", "method", "error by percentiles (%)", "error by bins (%)", "bins minus percentiles (points)"}}
	d := plots.Drawing{Columns: 3, Text: text}
	for i, method := range methodNames {
		if !bounded(method) {
			continue
		}
		p := plots.Panel{Title: method, XLabel: "test error (%)"}
		for color, rule := range []string{percentiles, bins} {
			mark := plots.Intervals{Name: "bounds by " + rule, Color: color}
			for _, r := range all {
				m, half := summary(r.errors(method, rule)).Interval()
				mark.Labels, mark.X, mark.Err = append(mark.Labels, r.title()), append(mark.X, 100*m), append(mark.Err, 100*half)
			}
			p.Marks = append(p.Marks, mark)
		}
		d.Panels = append(d.Panels, p)
		for _, r := range all {
			row := []string{r.title()}
			for _, rule := range []string{percentiles, bins} {
				row = append(row, fmt.Sprintf("%.3g", r.relativeBound(rule, upperBound)), fmt.Sprintf("%.3g", r.relativeBound(rule, lowerBound)))
			}
			a, b := r.errors(method, percentiles), r.errors(method, bins)
			diff := minus(b, a)
			text.Rows = append(text.Rows, append(row, methodNames[i], summary(a).Percent(), summary(b).Percent(), summary(diff).Percent()))
		}
	}
	d.Caption = "Features as they are. The paper takes u and ℓ from the 1st and 99th percentiles of the distances. The program of Davis et al. (2007), which its authors used before, speaks of percentiles but divides the range of the distances into 100 equal bins, and takes the centres of two of them: " +
		"here the first and the last but one, 1 and 99. Where a few rows are far from all others ℓ is then beyond nearly all distances. u and ℓ are squared distances in units of their median, Euclidean; those of the Gaussian kernel are by the same rules. " + foldsNote(t) + " " + protocol(all)
	return d, nil
}

func drawChoices(t *table.Table) (plots.Drawing, error) {
	rds, sets := readingsOf(t)
	if len(rds) == 0 {
		return plots.Missing("choices on any data set"), nil
	}
	text := &plots.TextTable{Head: append([]string{"data set", "reading", "method"}, choiceHead...)}
	for i, rd := range rds {
		for _, r := range sets[i] {
			for _, method := range methodNames {
				if rd.bounds == bins && !bounded(method) {
					continue
				}
				cells := choiceCells(func(kind string) *table.Table { return r.of(kind, method, rd.bounds) })
				text.Rows = append(text.Rows, append([]string{r.title(), rd.String(), method}, cells...))
			}
		}
	}
	r := sets[0][0]
	return plots.Drawing{Text: text, Caption: choiceNote(r.size) + protocol(sets[0])}, nil
}

// choiceNote explains the cells of choiceHead; size gives a size by its name.
func choiceNote(size func(string) float64) string {
	return fmt.Sprintf("Two folds per trial. Errors of the candidates are means over trials and folds of the inner cross-validation, on half of the training rows each. A fit of LogDet that is stopped at the cap of %.0f Bregman projections at the end, or %.0f in choosing, has not converged (the program of Davis et al. 2007 stops at 100,000), nor has one of "+
		"MCML or LMNN after %.0f iterations, or %.0f in choosing. A candidate that float64 does not allow counts all its rows as wrong. ",
		size(projectionCap(finalFits)), size(projectionCap(choiceFits)), size(iterationCap(finalFits)), size(iterationCap(choiceFits)))
}

// choiceHead names choiceCells.
var choiceHead = []string{"chosen (folds)", "as good as the chosen one, mean number", "of", "least and greatest error of the candidates (%)", "not converged: in choosing", "at the end", "impossible fits"}

// choiceCells says what a method has chosen, of which it has the rows of a kind.
func choiceCells(of func(kind string) *table.Table) []string {
	chosen := of("chosen")
	var names []string
	for _, at := range mostFrequent(chosen) {
		names = append(names, fmt.Sprintf("%s (%d)", at, chosen.Where("at", at).Len()))
	}
	spread := "–"
	if low, high, ok := spreadOf(of("inner")); ok {
		spread = fmt.Sprintf("%.2f to %.2f", 100*low, 100*high)
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

// mostFrequent returns the candidates that were chosen, the most frequent first.
func mostFrequent(chosen *table.Table) []string {
	names := chosen.Unique("at")
	slices.SortStableFunc(names, func(a, b string) int {
		return cmp.Compare(chosen.Where("at", b).Len(), chosen.Where("at", a).Len())
	})
	return names
}

// spreadOf returns the least and the greatest mean error of a method's candidates in the inner
// cross-validation, and whether there is any choice.
func spreadOf(inner *table.Table) (low, high float64, ok bool) {
	var means []float64
	for _, g := range inner.Group("at") {
		means = append(means, floats.Sum(g.Values("value"))/floats.Sum(g.Values("of")))
	}
	if means == nil {
		return 0, 0, false
	}
	return slices.Min(means), slices.Max(means), true
}

func drawData(t *table.Table) (plots.Drawing, error) {
	all := resultsOf(t, asPublished.features)
	if len(all) == 0 {
		return plots.Missing("sizes of any data set"), nil
	}
	text := &plots.TextTable{Head: []string{"data set", objects, features, classes, trainRows, similarPairs, dissimilarPairs}}
	for _, r := range all {
		row := []string{r.title()}
		for _, what := range text.Head[1:] {
			row = append(row, fmt.Sprintf("%.0f", r.size(what)))
		}
		text.Rows = append(text.Rows, row)
	}
	return plots.Drawing{Text: text, Caption: "Sizes, and what a fold has: training rows and pairs of them, means over folds and trials. A pair of rows of two classes may be drawn for both. " + protocol(all)}, nil
}
