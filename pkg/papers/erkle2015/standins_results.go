package erkle2015

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// judgedResults reads the rows of one data set of Figs. 3 and 4.
type judgedResults struct {
	data string
	t    *table.Table
}

// judgedReading is one way to compare the methods.
type judgedReading struct {
	name string
	tau  string  // how τ was chosen
	over bool    // the mean over the sizes in place of the end
	tie  float64 // what a tie is taken off an error
	on   bool    // batch fits have run on
}

// judgedReadings are those of the claims about errors. The paper's rule for τ is the third.
var judgedReadings = []judgedReading{
	{name: "at the end", tau: byValidation},
	{name: "mean over sizes", tau: byValidation, over: true},
	{name: "at the end, " + byTest, tau: byTest},
	{name: "at the end, " + byEnd, tau: byEnd},
	{name: "at the end, ties half", tau: byValidation, tie: 0.5},
	{name: "at the end, batch methods run on", tau: byValidation, on: true},
}

// isBatch reports whether a method has a τ.
func isBatch(method string) bool { return slices.Contains(batchNames, method) }

// batchNames are the batch methods in their order.
var batchNames = []string{gnmdsBatch, steBatch, cklBatch}

// curve returns the rows of a method: those of the chosen τ of a batch method, of the chosen
// weight of traceFamily, and all of the paper's ERKLE.
func (r judgedResults) curve(method, tau string) *table.Table {
	if method == traceFamily.name {
		return r.chosen(traceFamily)
	}
	setting := ""
	if isBatch(method) {
		setting = table.Format(tauOf(r.data, method).of(tau))
	}
	return r.t.Where("kind", curveKind, "method", method, "setting", setting)
}

// fits returns the rows of a method under a reading.
func (r judgedResults) fits(method string, rd judgedReading) *table.Table {
	if rd.on && isBatch(method) {
		return r.t.Where("kind", curveKind, "method", runOn(method))
	}
	return r.curve(method, rd.tau)
}

// hasBatch reports whether a batch method is there: without one there are no sizes to compare at.
func (r judgedResults) hasBatch() bool { return len(r.maybeSizes()) > 0 }

// sizes are the numbers of triplets at which all methods are judged, ascending.
func (r judgedResults) sizes() []string {
	return experiment.NotEmpty(r.data+": sizes of a batch method", r.maybeSizes())
}

func (r judgedResults) maybeSizes() (out []string) {
	for _, b := range batchNames {
		if out = r.t.Where("kind", curveKind, "method", b).Unique("triplets"); len(out) > 0 {
			break
		}
	}
	return out
}

// last is the number of all training triplets.
func (r judgedResults) last() string { return experiment.Last("sizes", r.sizes()) }

// errorsAt are a method's errors on a part after so many triplets, by trial.
func (r judgedResults) errorsAt(part, method string, rd judgedReading, size string) []float64 {
	return errorShares(r.fits(method, rd).Where("triplets", size), part, rd.tie)
}

// meanErrors are a method's errors on a part, averaged over sizes, by trial.
func (r judgedResults) meanErrors(part, method string, rd judgedReading, sizes []string) []float64 {
	var sum []float64
	for _, size := range sizes {
		e := r.errorsAt(part, method, rd, size)
		if sum == nil {
			sum = make([]float64, len(e))
		}
		judge.SameLength(r.data+", "+method+": trials at several sizes", sum, e)
		floats.AddScaled(sum, 1/float64(len(sizes)), e)
	}
	return sum
}

// less returns a unit per pair of methods, better first: the mean error over some sizes of the worse
// minus that of the better, plus a margin, by trial.
func (r judgedResults) less(part string, rd judgedReading, sizes []string, margin float64, pairs ...[2]string) []judge.Unit {
	out := make([]judge.Unit, len(pairs))
	for i, p := range pairs {
		out[i] = judge.Unit{Name: p[0] + " and " + p[1], Diffs: excess(r.meanErrors(part, p[1], rd, sizes), r.meanErrors(part, p[0], rd, sizes), margin)}
	}
	return out
}

// chosen are the rows of a family's method with each trial's chosen setting.
func (r judgedResults) chosen(f family) *table.Table {
	out := table.New(r.t.IndexNames(), r.t.ValueNames())
	for _, g := range r.t.Group("trial") {
		for _, x := range g.Where("kind", chosenKind, "method", f.name).Values("count") {
			rows := g.Where("kind", curveKind, "method", f.name, "setting", table.Format(x))
			for i := range rows.Len() {
				out.Add(rows.Row(i))
			}
		}
	}
	return out
}

// testRatio is n_test/n_train of the splits.
func (r judgedResults) testRatio() float64 {
	of := r.t.Where("kind", curveKind).Values("test triplets")
	return experiment.SizeRatio(r.data+": test to training triplets", experiment.NotEmpty("rows of a curve", of)[0], numberIn("triplets", r.last()))
}

// excess returns a − b plus a margin.
func excess(a, b []float64, margin float64) []float64 {
	out := judge.Minus(a, b)
	floats.AddConst(margin, out)
	return out
}

// line draws a value per row of a method against the number of triplets, as a mean over trials; with bands, those of
// summarize.
func line(g *table.Table, style plots.Line, values func(*table.Table) []float64, summarize summary) plots.Line {
	for at, rows := range g.Group("triplets") {
		x, y := numberIn("triplets", at), values(rows)
		if math.IsNaN(stat.Mean(y, nil)) {
			continue // not measured there
		}
		s := summarize(y)
		mean, half := s.Interval()
		style.X, style.Y = append(style.X, x), append(style.Y, mean)
		if s.HasInterval {
			style.Lo, style.Hi = append(style.Lo, max(mean-half, min(mean, 0))), append(style.Hi, mean+half) // none of the measures is negative
		}
	}
	return style
}
