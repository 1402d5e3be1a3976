package planes

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/papers/logdet2012/protocol"
	"metriclab/pkg/papers/logdet2012/vectors"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

var sweepViews = []experiment.View{
	{Name: "fig2cd-sweep", Title: "Digits that a plane separates, over settings that the paper leaves open", Draw: experiment.WithEnds(frame.View{
		Columns: 3, Missing: "settings of the sweep",
		Panels: frame.Each(
			sweepPanel("W of rank 2", ssikdrRank), sweepPanel("top two directions of (26)", ssikdrTop),
			sweepPanel("kernel PCA", pcaLabelled),
		).Where("queries", testQueries),
		Text: &frame.Text{By: []string{"method", "plane", "queries", "queries"}, Cells: []frame.Cell{
			{Head: "settings", Of: func(rows *table.Table) string { return fmt.Sprint(len(overSettings(rows))) }},
			quantileCell("least", 0), quantileCell("lower quartile", 0.25), quantileCell("median", 0.5), quantileCell("upper quartile", 0.75), quantileCell("largest", 1),
			frame.Of("largest of one seed", separatedDigits.Reduce(slices.Max), frame.Band{}, "%.0f"),
			{Head: "settings with 6.5 or more", Of: func(rows *table.Table) string {
				return fmt.Sprint(len(slices.DeleteFunc(overSettings(rows), func(v float64) bool { return v < atLeastSeven })))
			}},
			frame.PlusMinus(sweepMain, separatedDigits.Where("setting", sweepMain), frame.Band{}, "%.1f"),
			frame.PlusMinus(theChosen, validated(separatedDigits), frame.Band{}, "%.1f"),
		}},
		Caption: vectors.Shown("Number of digits that a plane of queries from zip.test separates, mean over seeds, against the error of the validation on the labelled digits. One dot per setting; of kernel PCA one per kernel. "+
			"The dot of the validation is the mean over the seeds of what each seed chooses. The table has quantiles over settings.", sweepProtocol),
	}.Draw, sweepChoices)},
	{Name: "fig2cd-sweep-factors", Title: "Digits that a plane separates, one choice changed at a time", Draw: frame.View{
		Columns: 4, Missing: "settings that differ in one factor",
		Panels:  frame.Each(factorPanels()...).Where("queries", testQueries),
		Caption: vectors.Shown("Number of digits that a plane of queries from zip.test separates, mean over seeds, with one factor changed and all others as in the main setting.", sweepProtocol),
	}.Draw},
	{Name: "fig2cd-sweep-settings", Title: "All settings of the sweep", Draw: frame.View{
		Missing: "settings of the sweep",
		Text:    &frame.Text{By: []string{"setting", "setting"}, Cells: settingCells()},
		Caption: vectors.Shown("All settings, with the number of digits that the planes of queries from zip.test and from zip.train separate, mean over seeds, and the error of the validation on the labelled digits.", sweepProtocol),
	}.Draw},
}

// Names of the marks of the sweep.
const (
	oneFactor = "one choice changed"
	drawnOnes = "drawn from all grids"
	theChosen = "chosen by validation"
)

var sweepStyles = protocol.StylesWith(plots.Styles{
	sweepMain: {Color: plots.Black, Shape: plots.Cross}, oneFactor: {Color: plots.Blue}, drawnOnes: {Color: plots.Sky, Shape: plots.Triangle}, theChosen: {Color: plots.Vermillion, Shape: plots.Square},
	printedSeven: planeStyles[printedSeven], printedThree: planeStyles[printedThree],
}, plots.Ordered(sweepWays...))

// sweepPanel has a dot for each setting of a method, and one for what is chosen.
func sweepPanel(title, method string) frame.Panel {
	cloud := func(name string, is func(changed string) bool) frame.Mark {
		return func(rows *table.Table) plots.Mark {
			m := sweepStyles.Points(name)
			for cells, g := range rows.Where("method", method).Groups("setting", "changed") {
				if is(cells[1]) {
					m.X, m.Y = append(m.X, 100*stat.Mean(g.Values("inner"), nil)), append(m.Y, stat.Mean(g.Values("separated"), nil))
				}
			}
			if len(m.X) == 0 {
				return nil
			}
			return m
		}
	}
	return frame.Panel{Panel: plots.Panel{Title: title, XLabel: "error in the validation (%)", YLabel: "digits separated, of ten", YMin: 0, YMax: 10}, Of: []frame.Mark{
		cloud(drawnOnes, func(changed string) bool { return changed == allFactors }),
		cloud(oneFactor, func(changed string) bool { return changed != allFactors && changed != noFactor }),
		cloud(sweepMain, func(changed string) bool { return changed == noFactor }),
		frame.Scatter(sweepStyles.Points(theChosen), validated(frame.Column("inner")).Times(100).Averaged(), validated(separatedDigits).Averaged()).Where("method", method),
		frame.Fixed(planeStyles.Reference(printedSeven, 7)), frame.Fixed(planeStyles.Reference(printedThree, 3)),
	}}
}

// overSettings are the means over trials of the number of digits, by setting, ascending.
func overSettings(rows *table.Table) (out []float64) {
	for _, g := range rows.Group("setting") {
		out = append(out, stat.Mean(g.Values("separated"), nil))
	}
	slices.Sort(out)
	return out
}

// quantileCell is a column with a quantile over settings of the number of digits.
func quantileCell(head string, p float64) frame.Cell {
	return frame.Cell{Head: head, Of: func(rows *table.Table) string {
		return fmt.Sprintf("%.1f", stat.Quantile(p, stat.Empirical, overSettings(rows), nil))
	}}
}

// factorPanels are a panel for each factor, with the settings that differ in it alone.
func factorPanels() (out []frame.Panel) {
	for _, f := range sweepFactors {
		p := frame.Panel{Panel: plots.Panel{Title: f.title, XLabel: "digits of ten", XMin: 0, XMax: 10}}
		of := func(t *table.Table) *table.Table {
			var cells []string
			for _, v := range f.values {
				cells = append(cells, table.Format(v))
			}
			return frame.Only(f.column, cells...)(frame.Only("changed", noFactor, f.column)(t))
		}
		for _, m := range sweepWays {
			p.Of = append(p.Of, frame.Dots(sweepStyles.Intervals(m), f.column, separatedDigits, frame.Band{Possible: [2]float64{0, digitCount}}).Where("method", m).On(of))
		}
		out = append(out, p)
	}
	return out
}

// settingCells are columns with the factors of a setting, and what its planes separate.
func settingCells() (out []frame.Cell) {
	for _, f := range sweepFactors {
		out = append(out, frame.Name(f.title, f.column))
	}
	for _, m := range sweepWays {
		of := func(head, queries string, measure frame.Measure, b frame.Band, format string) {
			out = append(out, frame.Of(m+head, measure.Where("method", m, "queries", queries), b, format))
		}
		of(", zip.test", testQueries, separatedDigits, frame.Band{}, "%.1f")
		of(", zip.train", trainQueries, separatedDigits, frame.Band{}, "%.1f")
		of(", validation (%)", testQueries, frame.Column("inner"), frame.Percent, "%.1f")
	}
	return out
}

// sweepProtocol describes data and protocol in captions.
func sweepProtocol(t *table.Table) plots.Caption {
	return plots.Caption{
		Data: "USPS as in the files of The Elements of Statistical Learning; at smoke scale made-up digits. Each seed draws 100 labelled and 400 unlabelled digits of zip.train, and 2,000 queries of zip.test and of zip.train each.",
		Protocol: fmt.Sprintf("As in logdet2012/fig2cd, with all open choices fixed. The main setting is what most seeds of fig2cd chose for a W of rank 2. It has σ² of one median, C = 100, and τ = 0.003 of that at which W vanishes. Its graph has 6 neighbours, edges of weight 1, the Laplacian's first power, and weight 1. Settings differ from this in one factor, or are %d draws from the product of the grids of the second view, but that of known digits. "+
			"The validation is a two-fold one of the 3 nearest labelled digits in the plane: each seed takes the setting of least error, of equals the first. No query enters it. Not swept: τ of rank 2, the third plane of fig2cd, which follows from ranks, and kernel PCA of all known digits.", drawnSettings),
		Intervals: experiment.TrialsNote(t, "; each draws other digits from these data"),
	}
}
