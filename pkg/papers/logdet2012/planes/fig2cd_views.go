package planes

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat"

	"metriclab/internal/plural"
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/papers/logdet2012/protocol"
	"metriclab/pkg/papers/logdet2012/vectors"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// planeView is a view of planes, in the order of the kernels.
func planeView(of frame.Rows, columns int, panels frame.Panels, text *frame.Text, shows string) func(*table.Table) (plots.Drawing, error) {
	return frame.View{
		From: frame.Only("kernel", planeKernels...).Then(of), Columns: columns, Panels: panels, Text: text, Caption: vectors.Shown(shows, planeProtocol), Missing: "planes of digits",
	}.Draw
}

var fig2cdViews = []experiment.View{
	{Name: "fig2cd", Title: "Fig. 2(c, d): USPS digits in the plane", Draw: planesOf([]string{ssikdrTop, pcaLabelled}, medianRank, 3,
		"Left: Trace-SSIKDR, the top two directions of W in (26). Right: kernel PCA, centred. Of the seeds in the order of the number of digits that Trace-SSIKDR separates, then of its mean F1, this is the median, the lower of two.")},
	{Name: "fig2cd-counts", Title: "How many digits each plane separates", Draw: planeView(frame.Only("kind", "f1", "wrong"), 1, func(rows *table.Table) []plots.Panel {
		dots := frame.PerMark(plots.Panel{Title: "digits separated, queries from zip.test", XLabel: "digits of ten", XMin: 0, XMax: 10}, "kernel", func(_ int, kernel string) frame.Mark {
			return frame.Dots(planeStyles.Intervals(kernel), "method", counted(voteRule, separatedF1), frame.Band{Possible: [2]float64{0, digitCount}})
		})(rows.Where("queries", testQueries))
		for i := range dots {
			dots[i].Marks = append(dots[i].Marks, printed(printedSeven, 7), printed(printedThree, 3))
		}
		return dots
	}, &frame.Text{By: []string{"kernel", "kernel", "method", "plane", "queries", "queries"}, Cells: []frame.Cell{
		frame.PlusMinus("separated (5-NN, F1 ≥ 0.7)", counted(voteRule, separatedF1), frame.Band{}, "%.1f"), frame.PlusMinus("F1 ≥ 0.8", counted(voteRule, strictF1), frame.Band{}, "%.1f"),
		frame.PlusMinus("separated (class means, F1 ≥ 0.7)", counted(meanRule, separatedF1), frame.Band{}, "%.1f"), frame.PlusMinus("F1 ≥ 0.8", counted(meanRule, strictF1), frame.Band{}, "%.1f"),
		frame.WithInterval("mean F1 (5-NN)", meanF1, frame.Band{}), frame.WithInterval("wrong by labelled digits (%)", vectors.Share.Where("kind", "wrong"), frame.Band{}),
	}}, "Number of digits that a plane separates, mean over seeds. The table has a higher F1 and nearest class means in place of the vote, too, and the error of the 5 nearest labelled digits on the queries. τ of rank 2 is the least on the grid at which W has rank 2 or less.")},
	{Name: "fig2cd-digits", Title: "Which digits each plane separates", Draw: planeView(frame.Only("rule", voteRule), 0, nil,
		&frame.Text{By: []string{"kernel", "kernel", "method", "plane", "queries", "queries"}, Cells: digitCells()},
		"F1 of each digit by the leave-one-out vote in the plane, mean over seeds, and in brackets the number of seeds with which it is separated.")},
	// Ranks stand against τ on an axis from the largest τ, where W vanishes.
	{Name: "fig2cd-path", Title: "Rank of W against τ", Draw: planeView(frame.Only("kind", "path"), 1, func(rows *table.Table) []plots.Panel {
		lines := frame.PerMark(plots.Panel{Title: "rank of the W of (26)", XLabel: "τ, share of the largest", YLabel: "rank of W", XLog: true}, "kernel", func(_ int, kernel string) frame.Mark {
			return frame.Line(planeStyles.Line(kernel), "at", frame.Column("value"), frame.Band{Possible: [2]float64{0, math.Inf(1)}})
		})(rows)
		for i := range lines {
			lines[i].Marks = append(lines[i].Marks, planeStyles.Reference(thePlane, dims))
		}
		return lines
	}, &frame.Text{By: []string{"kernel", "kernel", "at", "τ, share of the largest"}, Cells: []frame.Cell{frame.PlusMinus("rank of W", frame.Column("value"), frame.Band{}, "%.1f"), rankRange("least to largest")}},
		"τ of (26), as a share of the least at which W vanishes, against the rank of W; means over seeds. Kernel and C are those chosen for the top two directions.")},
	{Name: "fig2cd-seeds", Title: "USPS digits in the plane, with W of rank 2 and with other seeds", Draw: planesOf(mapMethods, quartileRanks, 1,
		"Rows: the seeds at the lower quartile, the median and the upper quartile, in the order of the number of digits that Trace-SSIKDR, top two directions, separates, then of its mean F1. Left: the top two directions of W in (26). Middle: a W of rank 2 learned as such. Right: kernel PCA, centred.")},
	{Name: "fig2cd-choices", Title: "What was chosen on the labelled digits, and the rank of W", Draw: experiment.WithEnds(planeView(frame.Only("kind", "inner", "rank"), 0, nil,
		&frame.Text{By: []string{"kernel", "kernel", "method", "plane"}, Cells: []frame.Cell{
			frame.WithInterval("error in the choice (%)", vectors.Share.Where("kind", "inner"), frame.Band{}),
			inRank(rankRange("rank of W, least to largest")),
			{Head: "chosen (seeds)", Of: func(rows *table.Table) string { return vectors.Tallied(rows.Where("kind", "inner").Index("at")) }},
		}},
		"Candidates that had the fewest errors on the labelled digits, the first of equals, with the number of seeds; the error is that of the chosen one there, which is less than on other digits."), fig2cdChoices)},
}

// Names of reference lines: what the paper counts, and the rank of a plane.
const (
	printedSeven = "seven, as the paper says of Trace-SSIKDR"
	printedThree = "three, of kernel PCA"
	thePlane     = "the plane"
)

var planeStyles = protocol.StylesWith(plots.Ordered(planeKernels...), plots.Styles{
	thePlane: {Color: plots.Grey}, printedSeven: {Color: plots.Black}, printedThree: {Color: plots.Orange},
})

// printed is a line at a number of digits that the paper names.
func printed(name string, at float64) plots.Reference {
	l := planeStyles.Reference(name, at)
	l.Vertical = true
	return l
}

// rankRange is a column with the least and the largest of some ranks.
func rankRange(head string) frame.Cell {
	return frame.Cell{Head: head, Of: func(rows *table.Table) string {
		ranks := rows.Values("value")
		if len(ranks) == 0 {
			return "–"
		}
		return fmt.Sprintf("%.0f to %.0f", slices.Min(ranks), slices.Max(ranks))
	}}
}

// inRank is a column of the rows of ranks.
func inRank(c frame.Cell) frame.Cell {
	return frame.Cell{Head: c.Head, Of: func(rows *table.Table) string { return c.Of(rows.Where("kind", "rank")) }}
}

// digitCells are columns with the mean F1 of each digit, and how often it is separated.
func digitCells() (out []frame.Cell) {
	for digit := range digitCount {
		out = append(out, frame.Cell{Head: strconv.Itoa(digit), Of: func(rows *table.Table) string {
			f1, often := rows.Values(digitColumn(digit)), 0
			for _, v := range f1 {
				if v >= separatedF1 {
					often++
				}
			}
			return fmt.Sprintf("%.2f (%d)", stat.Mean(f1, nil), often)
		}})
	}
	return out
}

// planeProtocol describes data and protocol in captions.
func planeProtocol(t *table.Table) plots.Caption {
	size := vectors.SizesOf(t.Where("kernel", experiment.FirstName(t, "kernel")))
	return plots.Caption{
		Data: fmt.Sprintf("USPS as in the files of The Elements of Statistical Learning; at smoke scale made-up digits. Each seed draws from zip.train %.0f labelled digits, as many of each class, and %.0f unlabelled ones. The %.0f queries are other digits, from zip.test and from zip.train.",
			size(labelledDigits), size(unlabelledDigits), size(queryDigits)),
		Protocol: fmt.Sprintf("All pairs within a class are similar and 20 per two classes dissimilar, with quadratic slack; u and ℓ are the 1st and 99th percentile of squared distances in the kernel's space. The Gaussian kernel is made data-dependent by a graph of 6 neighbours. "+
			"Width, weight of the graph, C, τ and ridge are chosen by a two-fold cross-validation on the labelled digits. A digit is separated if the leave-one-out vote of the 5 nearest queries in the plane has an F1 of at least %v.", separatedF1),
		Intervals: fmt.Sprintf("%d seeds; 95 %% t intervals over seeds, from 6 on, are over draws of digits from these data.", len(t.Unique("trial"))),
	}
}

// ranked are the trials in the order of the number of digits that Trace-SSIKDR separates, then of its mean F1.
func ranked(t *table.Table) []string {
	g := t.Where("kind", "f1", "kernel", knownGraph, "method", ssikdrTop, "queries", testQueries, "rule", voteRule)
	trials, counts, means := g.Index("trial"), counted(voteRule, separatedF1)(g), meanF1(g)
	order := protocol.Numbers(len(trials))
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(counts[a], counts[b]), cmp.Compare(means[a], means[b]))
	})
	out := make([]string, len(order))
	for i, k := range order {
		out[i] = trials[k]
	}
	return out
}

// medianRank has the place of the median of n ranked trials, quartileRanks also those of the quartiles; of fewer than three all.
func medianRank(n int) []int { return slices.Repeat([]int{(n - 1) / 2}, min(n, 1)) }

func quartileRanks(n int) []int {
	if n < 3 {
		return protocol.Numbers(n)
	}
	return []int{(n - 1) / 4, (n - 1) / 2, (3*(n-1) + 3) / 4}
}

// planesOf is a view of planes: a row for each of some of n trials by their rank, a column for each of some methods.
func planesOf(methods []string, ranks func(n int) []int, turns int, shows string) func(*table.Table) (plots.Drawing, error) {
	return func(t *table.Table) (plots.Drawing, error) {
		var panels []plots.Panel
		trials := ranked(t)
		for _, rank := range ranks(len(trials)) {
			for _, m := range methods {
				one := t.Where("kernel", knownGraph, "trial", trials[rank], "method", m)
				if places := one.Where("kind", "map"); places.Len() > 0 {
					n := experiment.NotEmpty("planes of "+m, counted(voteRule, separatedF1)(one.Where("queries", testQueries)))
					title := fmt.Sprintf("%s\nseed %s: %s", m, trials[rank], plural.Of(int(n[0]), "digit"))
					panels = append(panels, plots.Panel{Title: title, XLabel: "first direction", YLabel: "second direction", Equal: true, XMin: -1.05, XMax: 1.05, YMin: -1.05, YMax: 1.05, Marks: numerals(places, turns)})
				}
			}
		}
		return frame.View{
			Columns: len(methods), Panels: func(*table.Table) []plots.Panel { return panels }, Missing: "planes under the kernel with " + knownGraph,
			Caption: vectors.Shown(fmt.Sprintf("%s Titles count the digits that a plane separates. Numerals are queries from zip.test, at most %d of each digit, about the mean of all and with the largest coordinate of all 1. Kernel: data-dependent, with a graph of all known digits.", shows, turns*mapPoints), planeProtocol),
		}.Draw(t)
	}
}

// numerals are queries of a plane, at most mapPoints of each digit in a turn: with all queries most numerals would hide
// others. The digits take turns, so that none is drawn over all others.
func numerals(places *table.Table, most int) (out []plots.Mark) {
	var xs, ys [mapPoints][]float64
	for k := range mapPoints {
		xs[k], ys[k] = places.Values(fmt.Sprint("x", k)), places.Values(fmt.Sprint("y", k))
	}
	turn, turns := map[string]int{}, [][]plots.Mark{}
	for row, at := range places.Index("at") {
		if turn[at] == most {
			continue
		}
		mark := plots.Points{Glyph: at, Color: int(frame.Parse("at", at))}
		for k := range mapPoints {
			if x, y := xs[k][row], ys[k][row]; !math.IsNaN(x) || !math.IsNaN(y) {
				mark.X, mark.Y = append(mark.X, x), append(mark.Y, y)
			}
		}
		if turn[at] == len(turns) {
			turns = append(turns, nil)
		}
		turns[turn[at]] = append(turns[turn[at]], mark)
		turn[at]++
	}
	return slices.Concat(turns...)
}
