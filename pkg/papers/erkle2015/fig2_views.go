package erkle2015

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

const fig2Setup = "Comparisons of n points drawn from N(0, I) in R⁵⁰, answered without error; CPU times on one machine. " +
	"A batch step is one of projected gradient descent on the hinge losses of GNMDS over all 2n training triplets, from K = I with δ = 0.1 and τ = 0, and takes the full eigendecomposition of the kernel, as the paper's. "

// bandOf is a curve of means over trials with intervals; values[i] has one value per trial at x[i].
func bandOf(style plots.Line, x []float64, values [][]float64) plots.Line {
	for i, v := range values {
		s := experiment.Summarize(v)
		mean, half := s.Interval()
		style.X, style.Y = append(style.X, x[i]), append(style.Y, mean)
		if s.HasInterval {
			style.Lo, style.Hi = append(style.Lo, mean-half), append(style.Hi, mean+half)
		}
	}
	return style
}

func drawFig2a(t, times *table.Table) (plots.Drawing, error) {
	trials, err := fig2TimesOf(t, times)
	if err != nil || len(trials) == 0 {
		return plots.Missing("any trial"), err
	}
	n := trials[0].large()
	at := trials[0].passes[n]
	pass, one, two := make([][]float64, len(at)), make([][]float64, len(at)), make([][]float64, len(at))
	var x, power []float64
	for i, to := range at {
		x = append(x, float64(to))
		for _, r := range trials {
			law, _ := r.law(stepPhase, n)
			pass[i] = append(pass[i], r.pass(n)[i])
			one[i] = append(one[i], float64(i+1)*law)
			two[i] = append(two[i], 2*float64(i+1)*law)
		}
	}
	for _, r := range trials {
		_, p := r.law(stepPhase, n)
		power = append(power, p)
	}
	panel := plots.Panel{XLabel: "triplets seen", YLabel: "cumulative CPU time (s)", YLog: true, Marks: []plots.Mark{
		bandOf(plots.Line{Name: paERKLE, Color: 0}, x, pass),
		bandOf(plots.Line{Name: "GNMDS, 1 step per mini-batch (extrapolated)", Color: 2, Dashed: true}, x, one),
		bandOf(plots.Line{Name: "GNMDS, 2 steps per mini-batch (extrapolated)", Color: 3, Dashed: true}, x, two),
	}}
	for _, r := range trials {
		if s, ok := r.spent[stepPhase(n)]; ok {
			panel.Marks = append(panel.Marks, plots.Reference{Name: "a single step of GNMDS, measured once", At: s, Color: plots.Grey})
		}
	}
	return plots.Drawing{
		Panels: []plots.Panel{panel},
		Caption: fig2Setup + fmt.Sprintf("Solid: PA-ERKLE, one update per triplet, n = %d. Dashed: GNMDS with one and two steps after each mini-batch of %d triplets, not run but extrapolated in each trial by a power law through the steps timed at smaller n (exponent %.2f; fig2-steps shows it). "+
			"The horizontal line is one step at this n that was run, in the first trial. ", n, at[0], experiment.Summarize(power).Mean) + trialsNote(t),
	}, nil
}

func drawFig2Steps(t, times *table.Table) (plots.Drawing, error) {
	trials, err := fig2TimesOf(t, times)
	if err != nil || len(trials) == 0 {
		return plots.Missing("any trial"), err
	}
	large := trials[0].large()
	var sizes []int
	for n := range trials[0].passes {
		sizes = append(sizes, n)
	}
	slices.Sort(sizes)
	panel := plots.Panel{XLabel: "objects n", YLabel: "CPU time (s)", XLog: true, YLog: true}
	text := &plots.TextTable{Head: []string{"n", "what", "CPU time (s)", "eigenvalues removed"}}
	row := func(n int, what string, v []float64, removed string) {
		text.Rows = append(text.Rows, []string{strconv.Itoa(n), what, plusMinus(v, 3), removed})
	}
	var x []float64
	var passes [][]float64
	for _, n := range sizes {
		var v []float64
		for _, r := range trials {
			pass := r.pass(n)
			v = append(v, pass[len(pass)-1])
		}
		x, passes = append(x, float64(n)), append(passes, v)
		done := t.Where("kind", "pass", "objects", strconv.Itoa(n), "triplets", strconv.Itoa(2*n)).Values("projected")
		row(n, "pass of PA-ERKLE", v, fmt.Sprintf("%.0f", experiment.Summarize(done).Mean))
	}
	panel.Marks = append(panel.Marks, bandOf(plots.Line{Name: "pass of PA-ERKLE over 2n triplets", Color: 0}, x, passes))
	for k, step := range fig2Steps {
		var x []float64
		var spent [][]float64
		for _, n := range sizes {
			if n == large {
				continue
			}
			var v []float64
			for _, r := range trials {
				v = append(v, r.spent[step.phase(n)])
			}
			x, spent = append(x, float64(n)), append(spent, v)
			removed := ""
			if k == 0 {
				removed = fmt.Sprintf("%.0f", experiment.Summarize(t.Where("kind", "step", "objects", strconv.Itoa(n)).Values("negative")).Mean)
			}
			row(n, "one batch step, "+step.name, v, removed)
		}
		style := plots.Line{Name: "one batch step, " + step.name, Color: 2 + k}
		panel.Marks = append(panel.Marks, bandOf(style, x, spent))
		style.Name, style.Dashed = "", true
		if k == 0 {
			style.Name = "power law through it"
		}
		var laws, powers []float64
		for _, r := range trials {
			law, p := r.law(step.phase, large)
			laws, powers = append(laws, law), append(powers, p)
		}
		p := experiment.Summarize(powers).Mean
		end := experiment.Summarize(laws).Mean
		for i := range 21 { // from the least n to the largest
			n := math.Exp(math.Log(x[0]) + float64(i)/20*math.Log(float64(large)/x[0]))
			style.X, style.Y = append(style.X, n), append(style.Y, end*math.Pow(n/float64(large), p))
		}
		panel.Marks = append(panel.Marks, style)
		row(large, fmt.Sprintf("one batch step, %s, extrapolated (n^%.2f)", step.name, p), laws, "")
	}
	for _, r := range trials {
		if s, ok := r.spent[stepPhase(large)]; ok {
			panel.Marks = append(panel.Marks, plots.Points{Name: "one batch step, full eigendecomposition, measured once", X: []float64{float64(large)}, Y: []float64{s}, Color: 2})
			row(large, "one batch step, full eigendecomposition, measured once", []float64{s},
				fmt.Sprintf("%.0f", t.Where("kind", "step", "objects", strconv.Itoa(large)).Values("negative")[0]))
		}
	}
	return plots.Drawing{
		Panels: []plots.Panel{panel}, Text: text,
		Caption: fig2Setup + "FitBatch is ours and computes only the eigenpairs that it needs where that is cheaper. A pass of PA-ERKLE is one update for each of 2n triplets. Lines go through means over trials, dashed ones are power laws c·nᵖ fitted to their logarithms in each trial. " + trialsNote(t),
	}, nil
}

// plusMinus prints a mean with its interval, to so many digits.
func plusMinus(v []float64, digits int) string {
	s := experiment.Summarize(v)
	mean, half := s.Interval()
	if !s.HasInterval {
		return fmt.Sprintf("%.*g", digits, mean)
	}
	return fmt.Sprintf("%.*g ± %.2g", digits, mean, half)
}

func drawFig2bLarge(t *table.Table) (plots.Drawing, error) {
	p := plots.Panel{XLabel: "triplets seen", YLabel: "test error (%)"}
	n := ""
	for objects, g := range t.Where("kind", "pass").Group("objects") {
		if of := g.Values("test triplets"); len(of) == 0 || math.IsNaN(of[0]) {
			continue
		}
		n = objects
		for i, ties := range []string{"a tie is an error", "a tie is half an error"} {
			shares := strictErrors
			if i == 1 {
				shares = halfErrors
			}
			line, err := curveOf(g, "triplets", plots.Line{Name: ties, Color: i}, func(t *table.Table) []float64 { return shares(t, "test") })
			if err != nil {
				return plots.Drawing{}, err
			}
			p.Marks = append(p.Marks, line)
		}
	}
	if len(p.Marks) == 0 {
		return plots.Missing("any trial"), nil
	}
	return plots.Drawing{
		Panels: []plots.Panel{p},
		Caption: fmt.Sprintf("Share of 50,000 other comparisons (300 at smoke scale) that PA-ERKLE's kernel does not satisfy during one pass, n = %s points drawn from N(0, I) in R⁵⁰. A comparison of objects of which nothing is known yet is a tie, which the paper's measure counts as an error. "+
			"The curves of batch GNMDS need an eigendecomposition of minutes per step here and are drawn at n = 500 (fig2b). ", n) + trialsNote(t),
	}, nil
}

func drawFig2Skips(t *table.Table) (plots.Drawing, error) {
	passes := t.Where("kind", "pass")
	if passes.Len() == 0 {
		return plots.Missing("any trial"), nil
	}
	g := passes.Where("objects", passes.Index("objects")[0]) // the main pass comes first
	p, err := skipsPanel(g, "")
	if err != nil {
		return plots.Drawing{}, err
	}
	p.XLog = false
	at := g.Unique("triplets")
	last := g.Where("triplets", at[len(at)-1])
	text := &plots.TextTable{Head: []string{"rule", "eigenpairs in the whole pass", "standard deviation", "share of triplets without (%)"}}
	row := func(name, mean, deviation string, n float64) {
		text.Rows = append(text.Rows, []string{name, mean, deviation, fmt.Sprintf("%.1f", 100*(1-n/tripletsOf(last)))})
	}
	if tripletsOf(last) == 2*largeObjects {
		row("as the paper prints it", table.Format(printedComputations), "3.7", printedComputations)
	}
	for _, r := range skipsReadings {
		v := last.Values(r.column)
		row(r.name, plusMinus(v, 5), fmt.Sprintf("%.1f", stat.StdDev(v, nil)), stat.Mean(v, nil))
	}
	return plots.Drawing{
		Panels: []plots.Panel{p}, Text: text,
		Caption: skipsShare + fmt.Sprintf("One pass of PA-ERKLE, from K = I, over random comparisons of n = %s points drawn from N(0, I) in R⁵⁰, answered without error. ", g.Index("objects")[0]) + skipsRule + skipsOurs + trialsNote(t),
	}, nil
}
