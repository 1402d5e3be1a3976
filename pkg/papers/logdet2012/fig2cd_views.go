package logdet2012

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"

	"metriclab/internal/plural"
	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

var fig2cdViews = []experiment.View{
	{Name: "fig2cd", Title: "Fig. 2(c, d): USPS digits in the plane, three seeds", Draw: drawn("planes of digits", planesIn, drawPlanes)},
	{Name: "fig2cd-counts", Title: "How many digits each plane separates", Draw: drawn("planes of digits", planesIn, drawPlaneCounts)},
	{Name: "fig2cd-digits", Title: "Which digits each plane separates", Draw: drawn("planes of digits", planesIn, drawPlaneDigits)},
	{Name: "fig2cd-path", Title: "Rank of W against τ", Draw: drawn("planes of digits", planesIn, drawPlaneRanks)},
	{Name: "fig2cd-choices", Title: "What was chosen on the labelled digits, and the rank of W", Draw: experiment.WithEnds(drawn("planes of digits", planesIn, drawPlaneChoices), fig2cdChoices)},
}

// planesIn returns what a table has, in the order of planeKernels.
func planesIn(t *table.Table) []planes {
	var out []planes
	for _, k := range planeKernels {
		if p := (planes{k, t.Where("kernel", k)}); p.t.Where("kind", "f1").Len() > 0 {
			out = append(out, p)
		}
	}
	return out
}

// planeMethodsIn lists the methods of a kernel, in their order.
func (p planes) methods() []string { return p.t.Where("kind", "f1").Unique("method") }

// size returns a size of the data.
func (p planes) size(what string) float64 {
	return experiment.First(p.t.Where("kind", "size", "at", what), "value")
}

// planeNote describes data and protocol in captions.
func planeNote(all []planes) string {
	p := all[0]
	return fmt.Sprintf("Data: USPS in the files of The Elements of Statistical Learning; at smoke scale made-up digits. Each seed draws from zip.train %.0f labelled digits, as many of each class, and %.0f unlabelled ones; the %.0f queries are other digits, from zip.test and from zip.train. "+
		"Protocol: all pairs within a class are similar and 20 per two classes dissimilar, with quadratic slack; u and ℓ are the 1st and 99th percentile of squared distances in the kernel's space. Gaussian kernel, made data-dependent by a graph of 6 neighbours. Width, weight of the graph, C, τ and ridge are chosen by a two-fold cross-validation on the labelled digits. "+
		"A digit is separated if the leave-one-out vote of the 5 nearest queries in the plane has an F1 of at least %v. %d seeds; 95 %% t intervals over seeds, from 6 on, are over draws of digits from these data.",
		p.size(labelledDigits), p.size(unlabelledDigits), p.size(queryDigits), separatedF1, len(p.t.Unique("trial")))
}

// typical returns three trials: those at the lower quartile, the median and the upper quartile in the order of the number of digits that
// Trace-SSIKDR separates, then of its mean F1. With fewer than three trials it returns all.
func (p planes) typical() []string {
	f1 := p.f1(ssikdrTop, testQueries, voteRule)
	trials := p.t.Where("kind", "f1", "method", ssikdrTop, "queries", testQueries, "rule", voteRule).Index("trial")
	counts := p.separated(ssikdrTop, testQueries)
	order := make([]int, len(trials))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(counts[a], counts[b]), cmp.Compare(stat.Mean(f1[a], nil), stat.Mean(f1[b], nil)))
	})
	n := len(order)
	if n >= 3 {
		order = []int{order[(n-1)/4], order[(n-1)/2], order[(3*(n-1)+3)/4]}
	}
	out := make([]string, len(order))
	for i, k := range order {
		out[i] = trials[k]
	}
	return out
}

func drawPlanes(all []planes) plots.Drawing {
	p := all[0]
	if p.kernel != knownGraph || p.t.Where("kind", "map").Len() == 0 {
		return plots.Missing("planes under the kernel with " + knownGraph)
	}
	d := plots.Drawing{Columns: len(mapMethods)}
	for _, trial := range p.typical() {
		for _, m := range mapMethods {
			one := planes{p.kernel, p.t.Where("trial", trial)}
			n := one.separated(m, testQueries)
			panel := plots.Panel{Title: fmt.Sprintf("seed %s, %s: %s", trial, m, plural.Of(int(n[0]), "digit")), Equal: true, XMin: -1.05, XMax: 1.05, YMin: -1.05, YMax: 1.05}
			for digit := range digitCount {
				g := one.t.Where("kind", "map", "method", m, "at", strconv.Itoa(digit))
				mark := plots.Points{Name: strconv.Itoa(digit), Color: digit}
				for k := range mapPoints {
					x, y := g.Values(fmt.Sprint("x", k)), g.Values(fmt.Sprint("y", k))
					for i := range x {
						if !math.IsNaN(x[i]) || !math.IsNaN(y[i]) {
							mark.X, mark.Y = append(mark.X, x[i]), append(mark.Y, y[i])
						}
					}
				}
				panel.Marks = append(panel.Marks, mark)
			}
			d.Panels = append(d.Panels, panel)
		}
	}
	d.Caption = plots.Caption{Shows: "Queries from zip.test in the plane that the labelled digits give, coloured by digit, about their mean and with the largest coordinate 1. Rows: the seeds at the lower quartile, the median and the upper quartile in the order of the number of digits that Trace-SSIKDR, top two directions, separates, then of its mean F1. " +
		"Titles count the digits that a plane separates. Left: the top two directions of W in (26); middle: a W of rank 2 learned as such; right: kernel PCA, centred. Kernel: data-dependent, with a graph of all known digits. " + planeNote(all)}
	return d
}

func drawPlaneCounts(all []planes) plots.Drawing {
	d := plots.Drawing{Columns: 1, Text: &plots.TextTable{Head: []string{"kernel", "plane", "queries", "separated (5-NN, F1 ≥ 0.7)", "F1 ≥ 0.8", "separated (class means, F1 ≥ 0.7)", "F1 ≥ 0.8", "mean F1 (5-NN)", "wrong by labelled digits (%)"}}}
	panel := plots.Panel{Title: "digits separated, queries from zip.test", XLabel: "digits of ten", XMin: 0, XMax: 10}
	for c, p := range all {
		marks := plots.Intervals{Name: p.kernel, Color: c, Possible: [2]float64{0, digitCount}}
		for _, m := range p.methods() {
			for _, q := range queryParts {
				vote := p.f1(m, q, voteRule)
				means := make([]float64, len(vote))
				for i, f := range vote {
					means[i] = stat.Mean(f, nil)
				}
				s := judge.Summarize(p.separated(m, q))
				row := []string{p.kernel, m, q, digitsText(s)}
				for _, r := range []struct {
					rule  string
					least float64
				}{{voteRule, strictF1}, {meanRule, separatedF1}, {meanRule, strictF1}} {
					row = append(row, digitsText(judge.Summarize(p.counted(m, q, r.rule, r.least))))
				}
				d.Text.Rows = append(d.Text.Rows, append(row, judge.Summarize(means).Percent(), judge.Summarize(shares(p.t.Where("kind", "wrong", "method", m, "queries", q))).Percent()))
				if q == testQueries {
					mean, half := s.Interval()
					marks.Labels, marks.X, marks.Err = append(marks.Labels, m), append(marks.X, mean), append(marks.Err, half)
				}
			}
		}
		panel.Marks = append(panel.Marks, marks)
	}
	panel.Marks = append(panel.Marks, plots.Reference{Name: "seven, as the paper says of Trace-SSIKDR", At: 7, Vertical: true, Color: plots.Grey}, plots.Reference{Name: "three, of kernel PCA", At: 3, Vertical: true, Color: plots.Grey})
	d.Panels = []plots.Panel{panel}
	d.Caption = plots.Caption{Shows: "Number of digits that a plane separates, mean over seeds with 95 % intervals. The table has a higher F1 and nearest class means in place of the vote, too, and the error of the 5 nearest labelled digits on the queries. τ of rank 2 is the least on the grid at which W has rank 2 or less. " + planeNote(all)}
	return d
}

// digitsText tells a number of digits.
func digitsText(s judge.Summary) string {
	if !s.HasInterval {
		return fmt.Sprintf("%.1f", s.Mean)
	}
	return fmt.Sprintf("%.1f ± %.1f", s.Mean, s.Half)
}

func drawPlaneDigits(all []planes) plots.Drawing {
	d := plots.Drawing{Text: &plots.TextTable{Head: []string{"kernel", "plane", "queries"}}}
	for digit := range digitCount {
		d.Text.Head = append(d.Text.Head, strconv.Itoa(digit))
	}
	for _, p := range all {
		for _, m := range p.methods() {
			for _, q := range queryParts {
				var sums, often [digitCount]float64
				f1 := p.f1(m, q, voteRule)
				for _, f := range f1 {
					for digit, v := range f {
						sums[digit] += v / float64(len(f1))
						if v >= separatedF1 {
							often[digit]++
						}
					}
				}
				row := []string{p.kernel, m, q}
				for digit := range digitCount {
					row = append(row, fmt.Sprintf("%.2f (%.0f)", sums[digit], often[digit]))
				}
				d.Text.Rows = append(d.Text.Rows, row)
			}
		}
	}
	d.Caption = plots.Caption{Shows: "F1 of each digit by the leave-one-out vote in the plane, mean over seeds, and in brackets the number of seeds with which it is separated. " + planeNote(all)}
	return d
}

// drawPlaneRanks has ranks against τ on an axis from the largest τ, where W vanishes.
func drawPlaneRanks(all []planes) plots.Drawing {
	d := plots.Drawing{Columns: 1, Text: &plots.TextTable{Head: []string{"kernel", "τ, share of the largest", "rank of W", "least to largest"}}}
	panel := plots.Panel{Title: "rank of the W of (26)", XLabel: "τ, share of the largest", YLabel: "rank of W", XLog: true}
	for c, p := range all {
		path := p.t.Where("kind", "path")
		line := plots.Line{Name: p.kernel, Color: c}
		for _, at := range path.Unique("at") {
			share, err := strconv.ParseFloat(at, 64)
			if err != nil {
				judge.Refuse("logdet2012: %s: τ is %q, want a number", p.kernel, at)
			}
			ranks := path.Where("at", at).Values("value")
			s := judge.Summarize(ranks)
			mean, half := s.Interval()
			d.Text.Rows = append(d.Text.Rows, []string{p.kernel, at, digitsText(s), fmt.Sprintf("%.0f to %.0f", slices.Min(ranks), slices.Max(ranks))})
			line.X, line.Y = append(line.X, share), append(line.Y, mean)
			line.Lo, line.Hi = append(line.Lo, max(mean-half, 0)), append(line.Hi, mean+half)
		}
		panel.Marks = append(panel.Marks, line)
	}
	panel.Marks = append(panel.Marks, plots.Reference{Name: "the plane", At: dims, Color: plots.Grey})
	d.Panels = []plots.Panel{panel}
	d.Caption = plots.Caption{Shows: "τ of (26), as a share of the least at which W vanishes, against the rank of W; means over seeds with 95 % intervals. Kernel and C are those chosen for the top two directions. " + planeNote(all)}
	return d
}

func drawPlaneChoices(all []planes) plots.Drawing {
	d := plots.Drawing{Text: &plots.TextTable{Head: []string{"kernel", "plane", "error in the choice (%)", "rank of W, least to largest", "chosen (seeds)"}}}
	for _, p := range all {
		for _, m := range p.methods() {
			g := p.t.Where("kind", "inner", "method", m)
			ranks := p.t.Where("kind", "rank", "method", m).Values("value")
			text := "–"
			if len(ranks) > 0 {
				text = fmt.Sprintf("%.0f to %.0f", slices.Min(ranks), slices.Max(ranks))
			}
			d.Text.Rows = append(d.Text.Rows, []string{p.kernel, m, judge.Summarize(shares(g)).Percent(), text, tallied(g.Index("at"))})
		}
	}
	d.Caption = plots.Caption{Shows: "Candidates that had the fewest errors on the labelled digits, the first of equals, with the number of seeds; the error is that of the chosen one there, which is less than on other digits. " + planeNote(all)}
	return d
}

// tallied tells how often each label occurs, the most frequent first.
func tallied(labels []string) string {
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
