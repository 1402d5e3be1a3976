package batch

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/papers/erkle2015/learning"
	"metriclab/pkg/papers/erkle2015/protocol"
	"metriclab/pkg/papers/erkle2015/variants"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// restartData are the data sets, and restartDims the numbers of coordinates.
var (
	restartData = []string{protocol.SyntheticPoints, protocol.Material, protocol.Zappos}
	restartDims = []int{2, 10, 50}
)

// How starts came to a number of triplets, as tables name it.
const (
	fromAnew     = "anew"     // from their random X
	fromFollowed = "followed" // from where they were at the size before
	fromKernel   = "kernel"   // the fit of a kernel in their place, from that of the size before
	fromOnline   = "online"
)

// Margins, fixed before the first full run.
const (
	// anotherMinimum is by how much two objectives differ that are of different minima, in units of the objective at 0: ten times the
	// residual at which fits end, as in erkle2015/released.
	anotherMinimum = 0.01
	// passedOver is by how much another start is better than the one that was best.
	passedOver = 0.001
)

// wrongShare is a share of the test triplets.
func wrongShare(column string) frame.Measure { return frame.Share(column, "test triplets") }

// firstErrors are the test errors of the start that was best at the first number of triplets.
var firstErrors = wrongShare("first wrong")

// In units of the objective of all objects in one place: by how much the worst start is above the best, and the former best above it.
var (
	restartSpread = perZero("largest objective").Minus(perZero("objective"))
	aboveBest     = perZero("former").Minus(perZero("objective"))
)

func perZero(column string) frame.Measure { return frame.Share(column, "objective at 0") }

// restartLine is the line of a loss.
func restartLine(b, what string) plots.Line {
	return plots.Line{Name: b + what, Color: protocol.Styles[b].Color}
}

func drawRestarts(t *table.Table) (plots.Drawing, error) {
	d := plots.Drawing{Columns: len(restartData), Text: &plots.TextTable{Head: []string{
		"data", "loss", "coordinates", "best start above the kernel (% of F(0))", "worst above the best (% of F(0))", "test error, best (%)", "one start (%)", "least and largest (%)", "kernel (%)", "converged (%)", "largest residual",
	}}}
	for _, errors := range []bool{false, true} {
		d.Panels = append(d.Panels, frame.PerGroup(func(cells []string) frame.Panel { return restartPanel(cells[0], errors) }, "cell")(t)...)
	}
	for key, g := range frame.Groups(t.Where("from", fromAnew), "cell", "method", "coordinates") {
		kernel := variants.AfterAll(t.Where("cell", key[0], "method", key[1], "from", fromKernel))
		mean := func(m frame.Measure) string { return frame.Of("", m, frame.Percent, "%.2f").Of(g) }
		above := perZero("objective").Minus(func(*table.Table) []float64 { return perZero("objective")(kernel) })
		d.Text.Rows = append(d.Text.Rows, append(key,
			mean(above), mean(restartSpread), judge.Summarize(protocol.TestErrors(g)).Percent(), mean(wrongShare("mean wrong")),
			mean(wrongShare("least wrong"))+", "+mean(wrongShare("largest wrong")), judge.Summarize(protocol.TestErrors(kernel)).Percent(),
			fmt.Sprintf("%.0f", 100*judge.Summarize(g.Values("converged")).Mean/experiment.First(g, "starts")), Largest("", "largest residual").Of(g),
		))
	}
	return frame.Given("any trial", d, func() plots.Caption {
		return restartCaption("Above: by how much the objective of the worst of ten starts exceeds that of the best, in per cent of F(0). Below: test error of the best start and of fits of a kernel.", t)
	}), nil
}

// restartPanel draws the errors of the best starts and their rivals, or how far apart starts end.
func restartPanel(data string, errors bool) frame.Panel {
	p := frame.Panel{Panel: plots.Panel{Title: data, XLabel: "coordinates", YLabel: "worst start above best (%)", XLog: true}}
	y := restartSpread
	if errors {
		y, p.YLabel = protocol.TestErrors, "test error (%)"
	}
	for _, b := range learning.BatchNames {
		p.Of = append(p.Of, frame.Line(restartLine(b, ", coordinates"), "coordinates", y, frame.Percent).Where("method", b, "from", fromAnew))
		if errors {
			kernel := restartLine(b, ", kernel")
			kernel.Dash = plots.Dashed
			p.Of = append(p.Of, level(protocol.TestErrors.On(variants.AfterAll).Where("method", b, "from", fromKernel), kernel))
		}
	}
	if errors {
		p.Of = append(p.Of, level(protocol.TestErrors.On(variants.AfterAll).Where("method", protocol.PAERKLETen), protocol.Styles[protocol.PAERKLETen]))
	}
	return p
}

// level is the mean of a rival's measure, across the numbers of coordinates.
func level(rival frame.Measure, style plots.Line) frame.Mark {
	return func(t *table.Table) plots.Mark {
		dims := experiment.NotEmpty("numbers of coordinates", frame.Numbers(t.Where("from", fromAnew), "coordinates"))
		mean := frame.Percent.Mean(rival(t))
		style := style
		style.X, style.Y = []float64{dims[0], dims[len(dims)-1]}, []float64{mean, mean}
		return style
	}
}

func restartCaption(shows string, t *table.Table) plots.Caption {
	return plots.Caption{Shows: shows, Protocol: "Coordinates X of the objects in place of a kernel K = XXᵀ minimise the same objective F, Σ l + τ‖X‖², from ten random starts, X from N(0, 1/d), by L-BFGS (GNMDS by way of its Moreau envelope), with the τ of erkle2015/tau for the fit of K (Section 2: \"the best is chosen among them\"). " +
		"F(0) is the objective of all objects in one place. A start ends where the size of its gradient is 0.001 in these units, or after 1,000 iterations, as most of GNMDS do, whose objective has kinks. Fits of K, convex with GNMDS and STE, end at a residual of 0.001, for these a bound on the distance from the minimum, or after as many. Synthetic: 10,000 comparisons of 100 points in R⁵⁰, as in Fig. 1; materials and shoes: 1,000 answers, as in Fig. 4.", Intervals: experiment.TrialsNote(t, "")}
}

func drawRestartsFollowed(t *table.Table) (plots.Drawing, error) {
	d := plots.Drawing{Columns: len(restartData), Text: &plots.TextTable{Head: []string{
		"data", "loss", "coordinates", "triplets", "another start is best (% of trials)", "former best above it (% of F(0))", "test error, best (%)", "first best (%)", "kernel (%)",
	}}}
	followed := t.Where("from", fromFollowed)
	for data, c := range followed.Group("cell") {
		dim := c.Unique("coordinates")[0]
		p := frame.Panel{Panel: plots.Panel{Title: data + ", " + dim + " coordinates", XLabel: "triplets seen", YLabel: "test error (%)", XLog: true}}
		for _, b := range learning.BatchNames {
			first := restartLine(b, ", best at first")
			first.Dash = plots.Dashed
			p.Of = append(p.Of, frame.Line(restartLine(b, ", best start"), "triplets", protocol.TestErrors, frame.Percent.Without()).Where("method", b), frame.Line(first, "triplets", firstErrors, frame.Percent.Without()).Where("method", b))
		}
		d.Panels = append(d.Panels, frame.Each(p)(c.Where("coordinates", dim))...)
	}
	for key, g := range frame.Groups(followed, "cell", "method", "coordinates", "triplets") {
		another, above := 0.0, "-"
		if over := aboveBest(g); !floats.HasNaN(over) {
			another = 100 * float64(len(slices.DeleteFunc(over, func(o float64) bool { return o <= passedOver }))) / float64(g.Len())
			above = frame.Of("", aboveBest, frame.Percent, "%.2f").Of(g)
		}
		kernel := t.Where("cell", key[0], "method", key[1], "from", fromKernel, "triplets", key[3])
		d.Text.Rows = append(d.Text.Rows, append(key, fmt.Sprintf("%.0f", another), above, judge.Summarize(protocol.TestErrors(g)).Percent(), judge.Summarize(firstErrors(g)).Percent(), judge.Summarize(protocol.TestErrors(kernel)).Percent()))
	}
	return frame.Given("any trial", d, func() plots.Caption {
		return restartCaption("Each start is fitted to the first number of triplets and then goes on from its own solution to the next. The start with the least objective at each number, and, dashed, the one that had it at the first; the table has all numbers of coordinates. Another start is best if the one that was best at the number before is more than 0.1 % of F(0) above it.", t)
	}), nil
}
