package erkle2015

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

const fig2Setup = "Comparisons of n points drawn from N(0, I) in R⁵⁰, answered without error; CPU times on one machine. " +
	"A batch step is one of projected gradient descent on the hinge losses of GNMDS over all 2n training triplets, from K = I with δ = 0.1 and τ = 0, and takes the full eigendecomposition of the kernel, as the paper's: gonum's, by QR iterations; there are faster ones. "

// bandOf is a curve of means over trials with intervals; values[i] has one value per trial at x[i].
func bandOf(style plots.Line, x []float64, values [][]float64) plots.Line {
	for i, v := range values {
		frame.Band{}.AddTo(&style, x[i], v)
	}
	return style
}

// bandOfLogs is bandOf for a logarithmic axis: the line goes through geometric means, and the band is the interval of
// the mean logarithm, so that it stays positive.
func bandOfLogs(style plots.Line, x []float64, values [][]float64) plots.Line {
	logs := make([][]float64, len(values))
	for i, of := range values {
		for _, v := range of {
			if !(v > 0) {
				judge.Refuse("erkle2015: a time of %v s at %v, want more than 0", v, x[i])
			}
			logs[i] = append(logs[i], math.Log(v))
		}
	}
	out := bandOf(style, x, logs)
	for _, ends := range [][]float64{out.Y, out.Lo, out.Hi} {
		for i, v := range ends {
			ends[i] = math.Exp(v)
		}
	}
	return out
}

func drawFig2a(t, times *table.Table) (plots.Drawing, error) {
	trials := fig2TimesOf(t, times)
	if len(trials) == 0 {
		return plots.Missing("any trial"), nil
	}
	d := plots.Drawing{Columns: 2}
	for _, n := range []int{trials[0].middle(), trials[0].large()} {
		at := trials[0].passes[n]
		for _, r := range trials {
			if len(r.passes[n]) != len(at) {
				judge.Refuse("erkle2015: n = %d: trial %s has %d checkpoints, trial %s has %d", n, r.trial, len(r.passes[n]), trials[0].trial, len(at))
			}
		}
		var x, seen []float64
		var pass, one, two [][]float64
		for i, to := range at {
			seen, pass = append(seen, float64(to)), append(pass, mapped(trials, func(r fig2Times) float64 { return r.pass(n)[i] }))
		}
		steps := drawnSteps(trials, n)
		for i := range fig2Batches {
			x, one = append(x, float64((i+1)*minibatch(n, fig2Batches))), append(one, mapped(steps, func(s float64) float64 { return float64(i+1) * s }))
			two = append(two, mapped(steps, func(s float64) float64 { return 2 * float64(i+1) * s }))
		}
		p := plots.Panel{Title: fmt.Sprintf("n = %d", n), XLabel: "triplets seen", YLabel: "cumulative CPU time (s)", YLog: true, Marks: []plots.Mark{
			bandOfLogs(plots.Line{Name: paERKLE, Color: 0}, seen, pass),
			bandOfLogs(plots.Line{Name: "GNMDS, 1 step per mini-batch", Color: 2, Dashed: true}, x, one),
			bandOfLogs(plots.Line{Name: "GNMDS, 2 steps per mini-batch", Color: 3, Dashed: true}, x, two),
		}}
		for _, r := range trials {
			if s, ok := r.measured(); ok && n == r.large() {
				p.Marks = append(p.Marks, plots.Points{Name: "one step at this n, run once", X: []float64{float64(minibatch(n, fig2Batches))}, Y: []float64{s}, Color: 2})
			}
		}
		p.Marks = append(p.Marks, plots.Reference{Name: "a single step of GNMDS", At: judge.Summarize(steps).Mean, Color: plots.Grey})
		d.Panels = append(d.Panels, p)
	}
	d.Caption = plots.Caption{Shows: fig2Setup + "Solid: PA-ERKLE, one update per triplet, a pass over 2n. " +
		"Dashed: GNMDS with one and two steps after each of 20 mini-batches, which are as many times a single step: measured in each trial on the left; on the right one step of that size was run in the first trial (the dot at the first mini-batch), and the others have it times the quotient of their steps to that trial's at the smaller n, as in the verdict. Lines are geometric means over trials, bands 95 % t intervals of the mean logarithm.", Intervals: experiment.TrialsNote(t, "")}
	return d, nil
}

// drawnSteps are the times of one step by trial, at the largest n as in the verdict, or by the power law where none was measured.
func drawnSteps(trials []fig2Times, n int) []float64 {
	if out, _ := stepTimes(trials, stepPhase, n); out != nil {
		return out
	}
	return mapped(trials, func(r fig2Times) float64 { return r.one(stepPhase, n) })
}

// fig2Steps are the two kinds of batch steps.
var fig2Steps = []struct {
	name  string
	phase func(n int) string
}{{"full eigendecomposition", stepPhase}, {"FitBatch", fitPhase}}

func drawFig2Steps(t, times *table.Table) (plots.Drawing, error) {
	trials := fig2TimesOf(t, times)
	if len(trials) == 0 {
		return plots.Missing("any trial"), nil
	}
	large, sizes := trials[0].large(), trials[0].sizes()
	panel := plots.Panel{XLabel: "objects n", YLabel: "CPU time (s)", XLog: true, YLog: true}
	text := &plots.TextTable{Head: []string{"n", "what", "CPU time (s)", "eigenvalues removed"}}
	row := func(n int, what string, v []float64, removed string) {
		text.Rows = append(text.Rows, []string{strconv.Itoa(n), what, plusMinus(v, 3), removed})
	}
	type curve struct {
		name, legend string
		of           func(r fig2Times, n int) float64
		law          func(r fig2Times, n int) (float64, float64) // nil: measured at the largest n, too
		color        int
	}
	curves := []curve{{"pass of PA-ERKLE", "pass of PA-ERKLE over 2n triplets", fig2Times.whole, nil, 0}}
	for k, step := range fig2Steps {
		curves = append(curves, curve{
			"one batch step, " + step.name, "one batch step, " + step.name,
			func(r fig2Times, n int) float64 { return r.one(step.phase, n) },
			func(r fig2Times, n int) (float64, float64) { return r.stepLaw(step.phase, n) }, 2 + k,
		})
	}
	for k, c := range curves {
		style := plots.Line{Name: c.legend, Color: c.color}
		var x, laws, powers []float64
		var spent [][]float64
		for _, n := range sizes {
			if n == large && c.law != nil {
				continue
			}
			v := mapped(trials, func(r fig2Times) float64 { return c.of(r, n) })
			x, spent = append(x, float64(n)), append(spent, v)
			removed := ""
			switch k {
			case 0:
				removed = fmt.Sprintf("%.0f", judge.Summarize(t.Where("kind", fig2Pass, "objects", strconv.Itoa(n), "triplets", strconv.Itoa(2*n)).Values("projected")).Mean)
			case 1:
				removed = fmt.Sprintf("%.0f", judge.Summarize(t.Where("kind", fig2Step, "objects", strconv.Itoa(n)).Values("negative")).Mean)
			}
			row(n, c.name, v, removed)
		}
		panel.Marks = append(panel.Marks, bandOf(style, x, spent))
		if c.law == nil {
			continue
		}
		for _, r := range trials {
			law, p := c.law(r, large)
			laws, powers = append(laws, law), append(powers, p)
		}
		p, end := judge.Summarize(powers).Mean, stat.GeometricMean(laws, nil) // the mean of the fitted lines
		style.Name, style.Dashed = "", true
		if k == 1 {
			style.Name = "power laws through the steps"
		}
		experiment.NotEmpty("sizes below the largest", x)
		for i := range 21 { // from the least n to the largest
			n := math.Exp(math.Log(x[0]) + float64(i)/20*math.Log(float64(large)/x[0]))
			style.X, style.Y = append(style.X, n), append(style.Y, end*math.Pow(n/float64(large), p))
		}
		panel.Marks = append(panel.Marks, style)
		row(large, fmt.Sprintf("%s, extrapolated (n^%.2f)", c.name, p), laws, "")
	}
	for _, r := range trials {
		if s, ok := r.measured(); ok {
			panel.Marks = append(panel.Marks, plots.Points{Name: "one batch step, full eigendecomposition, measured once", X: []float64{float64(large)}, Y: []float64{s}, Color: 2})
			row(large, "one batch step, full eigendecomposition, measured once", []float64{s},
				fmt.Sprintf("%.0f", experiment.First(t.Where("kind", fig2Step, "objects", strconv.Itoa(large)), "negative")))
		}
	}
	for k, other := range []struct {
		name  string
		phase func(n int) string
		at    []int
	}{{"one batch step, our full eigendecomposition", ownPhase, sizes}, {"one step of the named program", namedPhase, sizes}, {"one batch step, FitBatch", fitPhase, []int{large}}} {
		style := plots.Line{Name: other.name, Color: 4 + k}
		for _, n := range other.at {
			v := slices.DeleteFunc(mapped(trials, func(r fig2Times) float64 { return r.spent[other.phase(n)] }), func(s float64) bool { return !(s > 0) })
			switch {
			case len(v) == 0:
				continue
			case len(v) < len(trials):
				row(n, other.name+", measured once", v[:1], "")
				v = v[:1]
			default:
				row(n, other.name, v, "")
			}
			style.X, style.Y = append(style.X, float64(n)), append(style.Y, judge.Summarize(v).Mean)
		}
		switch len(style.X) {
		case 0:
		case 1:
			panel.Marks = append(panel.Marks, plots.Points{Name: other.name + ", measured", X: style.X, Y: style.Y, Color: style.Color})
		default:
			panel.Marks = append(panel.Marks, style)
		}
	}
	return plots.Drawing{
		Panels: []plots.Panel{panel}, Text: text,
		Caption: plots.Caption{Shows: fig2Setup + "FitBatch is ours and computes only the eigenpairs that it needs where that is cheaper; our full eigendecomposition is by divide and conquer. The named program is GNMDS as van der Maaten and Weinberger released it, whose matrix is not symmetric: a general eigendecomposition, gonum's, at the largest n in the first trial. A pass of PA-ERKLE is one update for each of 2n triplets. Lines go through means over trials; dashed ones, which go on to the paper's n, are power laws c·nᵖ fitted to the logarithms of the times of steps in each trial.", Intervals: experiment.TrialsNote(t, "")},
	}, nil
}

// plusMinus prints a mean with its interval, to so many digits.
func plusMinus(v []float64, digits int) string {
	s := judge.Summarize(v)
	mean, half := s.Interval()
	if !s.HasInterval {
		return fmt.Sprintf("%.*g", digits, mean)
	}
	return fmt.Sprintf("%.*g ± %.2g", digits, mean, half)
}

var fig2bLargeView = frame.View{
	From: wholePass, Missing: "any trial",
	Panels: frame.Each(frame.Panel{Panel: plots.Panel{XLabel: "triplets seen", YLabel: "test error (%)"}, Of: []frame.Mark{
		frame.Line(plots.Line{Name: "a tie is an error", Color: 0}, "triplets", testErrors, frame.Percent),
		frame.Line(plots.Line{Name: "a tie is half an error", Color: 1}, "triplets", testHalf, frame.Percent),
	}}),
	Caption: saysOf(func(t *table.Table) string {
		return fmt.Sprintf("Share of 50,000 other comparisons (300 at smoke scale) that PA-ERKLE's kernel does not satisfy during one pass, n = %s points drawn from N(0, I) in R⁵⁰. A comparison of objects of which nothing is known yet is a tie, which the paper's measure counts as an error.", experiment.FirstName(t, "objects"))
	}, "", "The curves of batch GNMDS need an eigendecomposition of minutes per step here and are drawn at n = 500 (fig2b)."),
}

var fig2SkipsView = frame.View{
	From: wholePass, Missing: "a whole pass",
	Panels: frame.PerGroup(func(objects []string) frame.Panel { return skipsPanel("n = "+objects[0], false) }, "objects"),
	Text: &frame.Text{Head: []string{"rule", "eigenpairs per 10,000 triplets", "standard deviation", "share of triplets without (%)"}, Rows: append(append(
		[]frame.Row{{Names: []string{"as the paper prints it", table.Format(printedComputations), "3.7", withoutEigenpair(printedComputations)}}},
		mapped(skipsReadings, func(r skipsReading) frame.Row {
			return frame.Row{Names: []string{r.name}, Cells: spreadCells(frame.Column(r.column).Times(printedTriplets).Over(frame.Cells("triplets")), withoutEigenpair)}
		})...),
		frame.Row{Names: []string{"beside: updates that the printed rule skips"}, Cells: spreadCells(frame.Column("active").Minus(frame.Column("printed")), func(float64) string { return "" })},
	)},
	Caption: saysOf(func(t *table.Table) string {
		return skipsShare + "A pass of PA-ERKLE, from K = I, over 2n random comparisons of n points drawn from N(0, I) in R⁵⁰, answered without error. " + skipsRule + skipsOurs(t)
	}, "", ""),
}

// withoutEigenpair is the share of the printed triplets that have none of so many eigenpairs, in per cent.
func withoutEigenpair(n float64) string { return fmt.Sprintf("%.1f", 100*(1-n/printedTriplets)) }

// spreadCells are the mean over trials at the last checkpoint, its standard deviation, and what the mean says.
func spreadCells(m frame.Measure, says func(mean float64) string) []frame.Cell {
	of := func(show func(v []float64) string) frame.Cell {
		return frame.Cell{Of: func(t *table.Table) string { return show(atLast(m)(t)) }}
	}
	return []frame.Cell{
		of(func(v []float64) string { return plusMinus(v, 5) }), of(func(v []float64) string { return fmt.Sprintf("%.1f", stat.StdDev(v, nil)) }),
		of(func(v []float64) string { return says(stat.Mean(v, nil)) }),
	}
}
