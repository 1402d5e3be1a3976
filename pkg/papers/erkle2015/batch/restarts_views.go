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

func drawRestarts(t *table.Table) (plots.Drawing, error) {
	d := plots.Drawing{Columns: 2, Text: &plots.TextTable{Head: []string{
		"data", "loss", "coordinates", "best start above the kernel (% of F(0))", "worst above the best (% of F(0))", "test error, best (%)", "one start (%)", "least and largest (%)", "kernel (%)", "converged (%)", "largest residual",
	}}}
	for data, g := range t.Group("cell") {
		d.Panels = append(d.Panels, frame.Each(spreadPanel(data), restartErrors(data))(g)...)
	}
	for key, g := range t.Where("from", fromAnew).Groups("cell", "method", "coordinates") {
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
		return restartCaption("Left: by how much the objective of the worst of ten starts exceeds that of the best, in per cent of F(0). Right: test error of the best start, at the right end that of the fit of a kernel, and that of ten passes of PA-ERKLE.", t)
	}), nil
}

// spreadPanel shows how far apart starts end.
func spreadPanel(data string) frame.Panel {
	return frame.Panel{
		Panel: plots.Panel{Title: data, XLabel: "coordinates", YLabel: "worst start above best (%)", XLog: true},
		Of:    protocol.Mapped(learning.BatchNames, func(b string) frame.Mark { return startsLine(b, "coordinates", restartSpread) }),
	}
}

// startsLine is a measure of the best of the starts that a batch method has anew.
func startsLine(b, x string, of frame.Measure) frame.Mark {
	return frame.Line(protocol.Styles.Line(b), x, of, frame.Percent).Where("method", b, "from", fromAnew)
}

// restartErrors shows the errors of the best starts, at the right end those of a kernel, and PA-ERKLE's.
func restartErrors(data string) frame.Panel {
	p := frame.Panel{Panel: plots.Panel{Title: data, XLabel: "coordinates", YLabel: "test error (%)", XLog: true}}
	for _, d := range restartDims {
		p.XTicks = append(p.XTicks, plots.Tick{At: float64(d), Label: fmt.Sprint(d)})
	}
	p.XTicks = append(p.XTicks, plots.Tick{At: atKernel, Label: "kernel"})
	for _, b := range learning.BatchNames {
		p.Of = append(p.Of, func(t *table.Table) plots.Mark {
			l, ok := startsLine(b, "coordinates", protocol.TestErrors)(t).(plots.Line)
			if !ok {
				return nil
			}
			frame.Percent.AddTo(&l, atKernel, protocol.TestErrors(variants.AfterAll(t.Where("method", b, "from", fromKernel))))
			return l
		})
	}
	return frame.Panel{Panel: p.Panel, Of: append(p.Of, func(t *table.Table) plots.Mark {
		errors := protocol.TestErrors(variants.AfterAll(t.Where("method", protocol.PAERKLETen)))
		return protocol.Styles.Reference(protocol.PAERKLETen, frame.Percent.Mean(errors))
	})}
}

// atKernel is where the axis of coordinates has the fit of a kernel, which has as many as there are objects.
const atKernel = 250

func restartCaption(shows string, t *table.Table) plots.Caption {
	return plots.Caption{
		Shows: shows, Data: "Synthetic: 10,000 triplets of 100 points in R⁵⁰, as in Fig. 1; materials and shoes: 1,000 answers, as in Fig. 4.",
		Protocol: "Coordinates X of the objects in place of a kernel K = XXᵀ minimise the same objective F, Σ l + τ‖X‖², from ten random starts, X from N(0, 1/d) (Section 2: \"the best is chosen among them\"). Fits are by L-BFGS, of GNMDS by way of its Moreau envelope, with the τ of erkle2015/tau for the fit of K. " +
			"F(0) is the objective of all objects in one place. A start ends where the size of its gradient is 0.001 in these units, or after 1,000 iterations, as most of GNMDS do, whose objective has kinks. Fits of K, convex with GNMDS and STE, end at a residual of 0.001, for these a bound on the distance from the minimum, or after as many.",
		Intervals: experiment.TrialsNote(t, ""),
	}
}

func drawRestartsFollowed(t *table.Table) (plots.Drawing, error) {
	d := plots.Drawing{Columns: len(restartData), Text: &plots.TextTable{Head: []string{
		"data", "loss", "coordinates", "triplets", "another start is best (% of trials)", "former best above it (% of F(0))", "test error, best (%)", "first best (%)", "kernel (%)",
	}}}
	followed := t.Where("from", fromFollowed)
	for data, c := range followed.Group("cell") {
		dim := c.Unique("coordinates")[0]
		p := frame.Panel{Panel: plots.Panel{Title: data + ", " + dim + " coordinates", XLabel: "triplets seen", YLabel: "error above the best start's (points)", XLog: true}, Of: frame.Lines(
			"method", protocol.Mapped(learning.BatchNames, protocol.Styles.Line), "triplets", firstErrors.Minus(protocol.TestErrors), frame.Band{Scale: 100},
		)}
		d.Panels = append(d.Panels, frame.Each(p)(c.Where("coordinates", dim))...)
	}
	for key, g := range followed.Groups("cell", "method", "coordinates", "triplets") {
		another, above := 0.0, "-"
		if over := aboveBest(g); !floats.HasNaN(over) {
			another = 100 * float64(len(slices.DeleteFunc(over, func(o float64) bool { return o <= passedOver }))) / float64(g.Len())
			above = frame.Of("", aboveBest, frame.Percent, "%.2f").Of(g)
		}
		kernel := t.Where("cell", key[0], "method", key[1], "from", fromKernel, "triplets", key[3])
		d.Text.Rows = append(d.Text.Rows, append(key, fmt.Sprintf("%.0f", another), above, judge.Summarize(protocol.TestErrors(g)).Percent(), judge.Summarize(firstErrors(g)).Percent(), judge.Summarize(protocol.TestErrors(kernel)).Percent()))
	}
	return frame.Given("any trial", d, func() plots.Caption {
		return restartCaption("Each start is fitted to the first number of triplets and then goes on from its own solution to the next. By how much the test error of the start that had the least objective at the first number exceeds that of the start that has it at each, in percentage points; the table has both, for all numbers of coordinates. Another start is best if the one that was best at the number before is more than 0.1 % of F(0) above it.", t)
	}), nil
}
