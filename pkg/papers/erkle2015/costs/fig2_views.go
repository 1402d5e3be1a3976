package costs

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/papers/erkle2015/learning"
	"metriclab/pkg/papers/erkle2015/protocol"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// fig2Batches is the number of mini-batches of 2n triplets.
const fig2Batches = 20

// minibatch is the number of triplets of a mini-batch; 500 for n = 5000, as in the paper.
func minibatch(n, batches int) int { return max(1, 2*n/batches) }

// The kinds of rows.
const (
	fig2Pass = "pass"
	fig2Step = "step"
)

// Names of the phases that are timed. A pass is timed from each mini-batch to the next.
func passPhase(n, to int) string { return fmt.Sprintf("pass n=%d to %d", n, to) }

func stepPhase(n int) string { return fmt.Sprintf("step n=%d", n) }

func twicePhase(n int) string { return fmt.Sprintf("two steps n=%d", n) }

func fitPhase(n int) string { return fmt.Sprintf("step of FitBatch n=%d", n) }

func ownPhase(n int) string { return fmt.Sprintf("step by our eigendecomposition n=%d", n) }

func namedPhase(n int) string { return fmt.Sprintf("step of the named program n=%d", n) }

// fig2Times are the CPU times of one trial in seconds, by phase.
type fig2Times struct {
	trial string
	spent map[string]float64
	// passes are the numbers of triplets of the checkpoints by number of objects; steps are the sizes at which steps were timed.
	passes map[int][]int
	steps  []int
}

func fig2TimesOf(t, times *table.Table) (out []fig2Times) {
	for trial, g := range t.Group("trial") {
		r := fig2Times{trial: trial, spent: spentOn(times.Where("trial", trial)), passes: map[int][]int{}}
		objects, seen := protocol.CountsIn(g, "objects"), protocol.CountsIn(g, "triplets")
		for i, kind := range g.Index("kind") {
			switch n := objects[i]; kind {
			case fig2Pass:
				r.passes[n] = append(r.passes[n], seen[i])
			case fig2Step:
				r.steps = append(r.steps, n)
			}
		}
		out = append(out, r)
	}
	return out
}

// Sizes are the numbers of objects of the passes, ascending.
func (r fig2Times) Sizes() []int { return slices.Sorted(maps.Keys(r.passes)) }

// large is the number of objects of the main pass, 0 if there is none.
func (r fig2Times) large() int { return slices.Max(append(r.Sizes(), 0)) }

// middle is the largest number of objects but that of the main pass, 0 if there is none.
func (r fig2Times) middle() int {
	if s := r.Sizes(); len(s) > 1 {
		return s[len(s)-2]
	}
	return 0
}

// measured is the time of the step at the largest size, if it was timed.
func (r fig2Times) measured() (float64, bool) {
	s, ok := r.spent[stepPhase(r.large())]
	return s, ok
}

// pass returns the cumulative times of a pass at its checkpoints.
func (r fig2Times) pass(n int) []float64 {
	out := make([]float64, len(r.passes[n]))
	sum := 0.0
	for i, to := range r.passes[n] {
		sum += r.spent[passPhase(n, to)]
		out[i] = sum
	}
	return out
}

// whole is the time of a whole pass, over 2n triplets.
func (r fig2Times) whole(n int) float64 {
	return experiment.Last(fmt.Sprintf("checkpoints of the pass with %d objects in trial %s", n, r.trial), r.pass(n))
}

// one is the time of one step; at the largest n by a power law through the others.
func (r fig2Times) one(phase func(n int) string, n int) float64 {
	if n == r.large() {
		s, _ := r.stepLaw(phase, n)
		return s
	}
	return r.spent[phase(n)]
}

// stepLaw fits times of steps as c·nᵖ through all sizes but the largest, in logarithms, and returns the value at n, and p.
func (r fig2Times) stepLaw(phase func(n int) string, n int) (seconds, p float64) {
	var x, y []float64
	for _, k := range r.steps {
		if k < r.large() {
			x, y = append(x, math.Log(float64(k))), append(y, math.Log(r.spent[phase(k)]))
		}
	}
	experiment.NotEmpty("steps timed at fewer than the most objects in trial "+r.trial, x)
	c, p := stat.LinearRegression(x, y, nil, false)
	return math.Exp(c + p*math.Log(float64(n))), p
}

// What the paper prints on eigenpairs at n = 5000 with 10,000 triplets, and the tolerances, fixed before the first full run.
const (
	printedComputations = 724.2
	printedTriplets     = 10000
	// 5 % of it.
	computationsTolerance = 36
	// "roughly 93% of the time".
	PrintedSkipped   = 0.93
	SkippedTolerance = 0.02
)

// skipsReading is a way to count the eigenpairs of a run, by the column that does.
type skipsReading struct{ name, column string }

var skipsReadings = []skipsReading{
	{"the printed rule", "printed"}, {"negative eigenvalues only", "projected"},
}

// stepTimes returns the time of a step at n by trial, or nil if no trial has timed it. Where only some have, the first that has is
// taken for all. The spread of one step is not known from one. In its place stands that at the largest smaller size that all trials have
// timed, as the quotient of the trial's step there and that of the trial that measured.
func stepTimes(trials []fig2Times, phase func(n int) string, n int) (out []float64, once bool) {
	measured := slices.DeleteFunc(slices.Clone(trials), func(r fig2Times) bool { return !(r.spent[phase(n)] > 0) })
	if len(measured) == 0 {
		return nil, false
	}
	if len(measured) == len(trials) {
		return protocol.Mapped(trials, func(r fig2Times) float64 { return r.spent[phase(n)] }), false
	}
	before := 0
	for _, k := range measured[0].steps {
		if k < n && k > before && !slices.ContainsFunc(trials, func(r fig2Times) bool { return !(r.spent[phase(k)] > 0) }) {
			before = k
		}
	}
	if before == 0 {
		judge.Refuse("erkle2015: %s was timed in %d of %d trials, and no smaller one in all", phase(n), len(measured), len(trials))
	}
	first := measured[0].spent
	return protocol.Mapped(trials, func(r fig2Times) float64 { return first[phase(n)] * r.spent[phase(before)] / first[phase(before)] }), true
}

// wholePass are the rows of the whole pass, over 2n triplets, at the largest n that has one.
func wholePass(t *table.Table) *table.Table {
	pass, most := t.Rows(), 0
	for objects, g := range t.Where("kind", fig2Pass).Group("objects") {
		if n := protocol.Count("objects", objects); learning.LastSize(g) == 2*n && n > most {
			pass, most = g, n
		}
	}
	return pass
}

// What the captions of times say of the data and of a batch step.
const (
	fig2Data     = "Random triplets of n points drawn from N(0, I) in R⁵⁰, answered without error; CPU times on one machine."
	fig2Protocol = "A batch step is one of projected gradient descent on the hinge losses of GNMDS over all 2n training triplets, from K = I with δ = 0.1 and τ = 0. As the paper's, it takes the full eigendecomposition of the kernel: gonum's, by QR iterations; there are faster ones. "
)

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
			seen, pass = append(seen, float64(to)), append(pass, protocol.Mapped(trials, func(r fig2Times) float64 { return r.pass(n)[i] }))
		}
		steps := drawnSteps(trials, n)
		for i := range fig2Batches {
			x, one = append(x, float64((i+1)*minibatch(n, fig2Batches))), append(one, protocol.Mapped(steps, func(s float64) float64 { return float64(i+1) * s }))
			two = append(two, protocol.Mapped(steps, func(s float64) float64 { return 2 * float64(i+1) * s }))
		}
		p := plots.Panel{Title: fmt.Sprintf("n = %d", n), XLabel: "triplets seen", YLabel: "cumulative CPU time (s)", YLog: true, Marks: []plots.Mark{
			bandOfLogs(protocol.Styles.Line(protocol.PAERKLE), seen, pass),
			bandOfLogs(learning.StepStyles.Line(learning.LargerSteps[0]), x, one), bandOfLogs(learning.StepStyles.Line(learning.LargerSteps[1]), x, two),
		}}
		for _, r := range trials {
			if s, ok := r.measured(); ok && n == r.large() {
				p.Marks = append(p.Marks, plots.Points{Name: "one step at this n, run once", X: []float64{float64(minibatch(n, fig2Batches))}, Y: []float64{s}, Color: plots.Green})
			}
		}
		p.Marks = append(p.Marks, plots.Reference{Name: "a single step of GNMDS", At: judge.Summarize(steps).Mean, Color: plots.Grey})
		d.Panels = append(d.Panels, p)
	}
	d.Caption = plots.Caption{
		Shows:     "Cumulative time of PA-ERKLE, one update per triplet, in a pass over 2n, and of GNMDS with one and two steps after each of 20 mini-batches, which are as many times a single step.",
		Data:      fig2Data,
		Protocol:  fig2Protocol + "It is measured in each trial on the left. On the right one step of that size was run in the first trial (the dot at the first mini-batch). The others have it times the quotient of their steps to that trial's at the smaller n, as in the verdict.",
		Intervals: "Lines are geometric means over trials, bands 95 % t intervals of the mean logarithm. " + experiment.TrialsNote(t, ""),
	}
	return d, nil
}

// drawnSteps are the times of one step by trial, at the largest n as in the verdict, or by the power law where none was measured.
func drawnSteps(trials []fig2Times, n int) []float64 {
	if out, _ := stepTimes(trials, stepPhase, n); out != nil {
		return out
	}
	return protocol.Mapped(trials, func(r fig2Times) float64 { return r.one(stepPhase, n) })
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
	large, sizes := trials[0].large(), trials[0].Sizes()
	panel := plots.Panel{XLabel: "objects n", YLabel: "CPU time (s)", XLog: true, YLog: true}
	text := &plots.TextTable{Head: []string{"n", "what", "CPU time (s)", "eigenvalues removed"}}
	row := func(n int, what string, v []float64, removed string) {
		text.Rows = append(text.Rows, []string{strconv.Itoa(n), what, plusMinus(v, 3), removed})
	}
	type curve struct {
		name, legend string
		of           func(r fig2Times, n int) float64
		law          func(r fig2Times, n int) (float64, float64) // nil: measured at the largest n, too
		style        plots.Line
	}
	curves := []curve{{"pass of PA-ERKLE", "pass of PA-ERKLE over 2n triplets", fig2Times.whole, nil, plots.Line{}}}
	for k, step := range fig2Steps {
		curves = append(curves, curve{
			"one batch step, " + step.name, "one batch step, " + step.name,
			func(r fig2Times, n int) float64 { return r.one(step.phase, n) },
			func(r fig2Times, n int) (float64, float64) { return r.stepLaw(step.phase, n) }, plots.Line{Color: plots.Green + k, Dash: plots.LongDashed + k},
		})
	}
	for k, c := range curves {
		style := c.style
		style.Name = c.legend
		var x, laws, powers []float64
		var spent [][]float64
		for _, n := range sizes {
			if n == large && c.law != nil {
				continue
			}
			v := protocol.Mapped(trials, func(r fig2Times) float64 { return c.of(r, n) })
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
		style.Name, style.Dash = "", plots.Dotted
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
			panel.Marks = append(panel.Marks, plots.Points{Name: "one batch step, full eigendecomposition, measured once", X: []float64{float64(large)}, Y: []float64{s}, Color: plots.Green})
			row(large, "one batch step, full eigendecomposition, measured once", []float64{s},
				fmt.Sprintf("%.0f", experiment.First(t.Where("kind", fig2Step, "objects", strconv.Itoa(large)), "negative")))
		}
	}
	for k, other := range []struct {
		name  string
		phase func(n int) string
		at    []int
	}{{"one batch step, our full eigendecomposition", ownPhase, sizes}, {"one step of the named program", namedPhase, sizes}, {"one batch step, FitBatch", fitPhase, []int{large}}} {
		style := plots.Line{Name: other.name, Color: plots.Orange + k, Dash: plots.TwoDashes * k}
		for _, n := range other.at {
			v := slices.DeleteFunc(protocol.Mapped(trials, func(r fig2Times) float64 { return r.spent[other.phase(n)] }), func(s float64) bool { return !(s > 0) })
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
		Caption: plots.Caption{
			Shows:     "Time of one batch step and of a pass of PA-ERKLE, one update for each of 2n triplets, against the number of objects. Lines go through means over trials; dotted ones, which go on to the paper's n, are power laws c·nᵖ fitted to the logarithms of the times of steps in each trial.",
			Data:      fig2Data,
			Protocol:  fig2Protocol + "Our full eigendecomposition is by divide and conquer; FitBatch takes it, too, from 150 objects on, and adds up the eigenvectors of one sign. The named program is GNMDS as van der Maaten and Weinberger released it, whose matrix is not symmetric: a general eigendecomposition, gonum's, at the largest n in the first trial.",
			Intervals: experiment.TrialsNote(t, ""),
		},
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
		frame.Line(plots.Line{Name: "a tie is an error"}, "triplets", protocol.TestErrors, frame.Percent),
		frame.Line(plots.Line{Name: "a tie is half an error", Color: plots.Vermillion, Dash: plots.Dashed}, "triplets", protocol.TestHalf, frame.Percent),
	}}),
	Caption: frame.Says("Share of 50,000 other triplets (300 at smoke scale) that PA-ERKLE's kernel does not satisfy during one pass. A triplet of objects of which nothing is known yet is a tie, which the paper's measure counts as an error.",
		"n = 5000 points drawn from N(0, I) in R⁵⁰ (60 at smoke scale).", "The curves of batch GNMDS need an eigendecomposition of minutes per step here and are shown at n = 500 (fig2b).", ""),
}

var fig2SkipsView = frame.View{
	From: wholePass, Missing: "a whole pass",
	Panels: frame.PerGroup(func(objects []string) frame.Panel { return skipsPanel("n = "+objects[0], false) }, "objects"),
	Text: &frame.Text{Head: []string{"rule", "eigenpairs per 10,000 triplets", "standard deviation", "share of triplets without (%)"}, Rows: append(append(
		[]frame.Row{{Names: []string{"as the paper prints it", table.Format(printedComputations), "3.7", withoutEigenpair(printedComputations)}}},
		protocol.Mapped(skipsReadings, func(r skipsReading) frame.Row {
			return frame.Row{Names: []string{r.name}, Cells: spreadCells(frame.Column(r.column).Times(printedTriplets).Over(frame.Cells("triplets")), withoutEigenpair)}
		})...),
		frame.Row{Names: []string{"beside: updates that the printed rule skips"}, Cells: spreadCells(frame.Column("active").Minus(frame.Column("printed")), func(float64) string { return "" })},
	)},
	Caption: skipsCaption("2n random triplets of n points drawn from N(0, I) in R⁵⁰, answered without error.", "A pass of PA-ERKLE from K = I. "),
}

// withoutEigenpair is the share of the printed triplets that have none of so many eigenpairs, in per cent.
func withoutEigenpair(n float64) string { return fmt.Sprintf("%.1f", 100*(1-n/printedTriplets)) }

// spreadCells are the mean over trials at the last checkpoint, its standard deviation, and what the mean says.
func spreadCells(m frame.Measure, says func(mean float64) string) []frame.Cell {
	of := func(show func(v []float64) string) frame.Cell {
		return frame.Cell{Of: func(t *table.Table) string { return show(learning.AtLast(m)(t)) }}
	}
	return []frame.Cell{
		of(func(v []float64) string { return plusMinus(v, 5) }), of(func(v []float64) string { return fmt.Sprintf("%.1f", stat.StdDev(v, nil)) }),
		of(func(v []float64) string { return says(stat.Mean(v, nil)) }),
	}
}

// skipsMarks are the curves of the figure: shares of the active updates for which no eigenpair is computed.
var skipsMarks = []frame.Mark{
	skipsMark(plots.Line{Name: "the paper's rule", Color: plots.Purple, Dash: plots.LongDashed}, SkippedBut("printed", "active")),
	skipsMark(plots.Line{Name: slackCurve, Color: plots.Vermillion, Dash: plots.Dotted}, skippedBy("weyl", "slack")),
	skipsMark(plots.Line{Name: "slack and block", Color: plots.Green, Dash: plots.DashDotDot}, skippedBy("weyl", "slack", "block")),
	skipsMark(plots.Line{Name: "slack, block and bound"}, SkippedBut("computed", "active")),
	skipsMark(plots.Line{Name: "the most possible", Color: plots.Grey, Dash: plots.Dashed}, SkippedBut("projected", "active")),
}

// skippedBy is the share of the active updates that some columns count.
func skippedBy(columns ...string) frame.Measure {
	sum := frame.Share(columns[0], "active")
	for _, column := range columns[1:] {
		sum = sum.Minus(frame.Share(column, "active").Times(-1))
	}
	return sum
}

// skipsMark is a curve, without the slack where there is none.
func skipsMark(style plots.Line, share frame.Measure) frame.Mark {
	return func(rows *table.Table) plots.Mark {
		style := style
		if slackless(rows) {
			if style.Name == slackCurve {
				return nil
			}
			style.Name = strings.NewReplacer("slack and ", "", "slack, ", "").Replace(style.Name)
		}
		return frame.Line(style, "triplets", share, frame.Percent)(rows)
	}
}

const slackCurve = "slack"

// slackless tells that no update was decided by a slack: ERKLE has none from version 3 on.
func slackless(t *table.Table) bool {
	return !slices.ContainsFunc(t.Values("slack"), func(v float64) bool { return v != 0 })
}

// What the captions of skips say.
const (
	skipsData  = "10,000 random triplets (200 at smoke scale) of n points drawn from N(0, I) in R⁵⁰, answered without error."
	skipsSetup = "One pass of ERKLE from K = I, with passive-aggressive steps unless said otherwise. "
	skipsRule  = "The paper's rule subtracts 3γ from a bound λ̂ on the smallest eigenvalue at each update and computes the eigenpair where λ̂ is negative; it is followed beside the learner, whose kernels are the same. "
)

// skipsCaption is that of the shares of one or more streams.
func skipsCaption(data, setup string) func(*table.Table) plots.Caption {
	return func(t *table.Table) plots.Caption {
		slack := "a slack per object that is updated in constant time; "
		if slackless(t) {
			slack = ""
		}
		return frame.Says("Share of the active updates so far for which no eigenpair is computed, by what shows that there is no negative eigenvalue. The most possible: the updates after which no eigenvalue is negative.", data,
			setup+skipsRule+"Ours, each tried where the one before fails: "+slack+"the exact smallest eigenvalue of the block of objects that triplets connect; a bound from a Krylov space. An update without a certificate costs an eigenpair.", "")(t)
	}
}

// skipsPanel has the shares of one stream.
func skipsPanel(title string, log bool) frame.Panel {
	return frame.Panel{Panel: plots.Panel{Title: title, XLabel: "triplets seen", YLabel: "updates without an eigenpair (%)", XLog: log, YMin: -2, YMax: 102}, Of: skipsMarks}
}

// leastTime is what a phase takes at least, in seconds: the clock's resolution, so that logarithms exist.
const leastTime = 1e-6

// spentOn are the CPU times of the phases of a job, in seconds.
func spentOn(times *table.Table) map[string]float64 {
	out := map[string]float64{}
	for i, phase := range times.Index("phase") {
		out[phase] = max(leastTime, times.Values("cpu_s")[i])
	}
	return out
}

// SkippedBut is the share of some rows' triplets or updates that a column does not count.
func SkippedBut(column, of string) frame.Measure { return frame.Share(column, of).Times(-1).Plus(1) }
