package kernels

import (
	"fmt"
	"math"
	"slices"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/papers/logdet2012/protocol"
	"metriclab/pkg/papers/logdet2012/vectors"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// The kinds of J, the fit without one, and the fit with J = I.
const (
	jRandom      = "random"
	jKMeans      = "k-means"
	jConstrained = "constrained points"
	noReduction  = "none (J = I)"
	fitKernel    = "FitKernel"
)

// jNames are the kinds of J with k columns.
var jNames = []string{jRandom, jKMeans, jConstrained}

// Sizes of logdet2012/reduction.
const (
	constrainedRows = "constrained rows"
	pairsGiven      = "pairs"
)

// reductionPhase is the phase of a fit, in which J is made, too.
func reductionPhase(j, k string) string { return j + ", k = " + k }

var reductionViews = []experiment.View{
	{Name: "reduction", Title: "Error of a reduced kernel against the columns of J", Draw: frame.View{
		From: reductionRows, Columns: 2, Missing: "reduced fits",
		Panels: reductionPanels,
		Text: &frame.Text{By: []string{"cell", "data set, φ", "J", "J", "columns", ""}, Cells: []frame.Cell{
			columnsCell, vectors.OrElse("", rank, frame.Of("independent", rank, frame.Band{}, "%.1f")),
			vectors.OrElse("", excess, frame.WithInterval("objective above the exact one (%)", excess, frame.Band{})), vectors.ErrorCell("test error (%)", vectors.Share.Where("kind", "wrong")),
		}},
		Caption: vectors.Shown("Left: how far the objective of the best K = αK₀ + K₀JLJᵀK₀ lies above that without a reduction. Right: test error of 10 nearest neighbours. J is of random normal numbers, of indicators of k clusters, or of indicators of k of the constrained points, of which all make the reduction exact.", reductionProtocol),
	}.Draw},
	{Name: "reduction-time", Title: "Time of a reduced fit against the columns of J", DrawTimed: drawTimed(reductionPhaseOf, frame.View{
		From: reductionRows.Then(frame.Only("J", append([]string{fitKernel, noReduction}, jNames...)...)), Columns: 2, Missing: "reduced fits",
		Panels: frame.PerGroup(func(cells []string) frame.Panel {
			p := overColumns(plots.Panel{Title: cells[0], YLabel: "CPU time (s)", YLog: true}, reductionTime, frame.Band{Possible: [2]float64{0, math.Inf(1)}})
			p.Of = append([]frame.Mark{
				meanLine(plots.Reference{Name: fitKernel, Color: 3}, reductionSeconds(fitKernel, allColumns), 1),
				meanLine(plots.Reference{Name: noReduction, Color: 4}, reductionSeconds(noReduction, allColumns), 1),
			}, p.Of...)
			return p
		}, "cell"),
		Text: &frame.Text{By: []string{"cell", "data set, φ", "J", "J", "columns", ""}, Cells: []frame.Cell{
			columnsCell, secondsCell("CPU time (s)", reductionTime), frame.Of("Newton steps", frame.Column("value").Where("kind", "steps"), frame.Band{}, "%.0f"),
		}},
		Caption: vectors.Shown("CPU time of one core to make J and to fit, to a KKT residual of 10⁻⁶ or 150 Newton steps. "+fitKernel+" leaves out the objects without pairs by itself, which is the reduction by indicators of the constrained points; the line of "+noReduction+" keeps all training rows. FitReduced checks the whole K₀, FitKernel its part.", reductionProtocol),
	})},
}

// reductionRows are the rows in the order of the views.
var reductionRows = frame.Rows(withAll).Then(frame.Only("J", slices.Concat([]string{fitKernel, noReduction}, jNames, []string{protocol.Euclidean})...))

// allColumns is the number of columns of a J with all that its kind can have, which differs by trial: a row drawn for pairs may get none.
const allColumns = "all"

// withAll adds the columns of J as a name: allColumns where they are the most of a trial, of kinds of J with a largest one.
func withAll(t *table.Table) *table.Table {
	cells, trials, kinds, ks := t.Index("cell"), t.Index("trial"), t.Index("J"), t.Index("k")
	most, out := map[[3]string]float64{}, slices.Clone(ks)
	for pass := range 2 {
		for i, j := range kinds {
			if j != fitKernel && j != noReduction && j != jConstrained {
				continue
			}
			at, k := [3]string{cells[i], trials[i], j}, frame.Parse("k", ks[i])
			if pass == 0 {
				most[at] = max(most[at], k)
			} else if k == most[at] {
				out[i] = allColumns
			}
		}
	}
	return t.With("columns", out)
}

// The numbers of a fit, by trial: independent columns of J, columns, and the objective above that of FitKernel as a share of it.
var (
	rank      = frame.Column("value").Where("kind", "rank")
	jColumns  = frame.Column("of").Where("kind", "rank")
	objective = frame.Column("of").Where("kind", "objective")
	excess    = frame.Column("value").Where("kind", "objective").Minus(objective).Over(objective.Map(math.Abs))
)

// reductionError is the share of test rows that are wrong, by trial.
func reductionError(j, k string) frame.Measure {
	return vectors.Share.Where("kind", "wrong", "J", j, "columns", k)
}

// reductionPhaseOf is the phase of a row.
func reductionPhaseOf(row table.Key) string {
	if row["kind"] != "rank" {
		return ""
	}
	return reductionPhase(row["J"], row["k"])
}

// reductionTime is the CPU time of each fit, reductionSeconds that of one.
var reductionTime = seconds.Where("kind", "rank")

func reductionSeconds(j, k string) frame.Measure { return reductionTime.Where("J", j, "columns", k) }

// splits says that the values are differences of errors on random halves of the same data.
var splits = judge.Rule{Scale: 100, Unit: "points", TestRatio: protocol.TestRatio}

// reductionProtocol describes data and settings in captions.
func reductionProtocol(t *table.Table) plots.Caption {
	data := ""
	for name, g := range t.Group("cell") {
		size := vectors.SizesOf(g)
		data += fmt.Sprintf("%s: %.0f training rows, %.0f with pairs, %.0f pairs; ", name, size(protocol.TrainRows), size(constrainedRows), size(pairsGiven))
	}
	return plots.Caption{
		Data:      data + "standardised features, Gaussian kernel with σ² = the median squared distance, scaled so that the median squared distance in the kernel's space is 1; u and ℓ its 1st and 99th percentile; slack costs ½s²; τ of trace is 1.",
		Intervals: fmt.Sprintf("Means over %d trials, each a random half of the rows for training, with 95 %% t intervals; those of errors are corrected for training sets that overlap (Nadeau and Bengio 2003).", len(t.Unique("trial"))),
	}
}

// overColumns draws a measure of each kind of J with k columns against their mean number.
func overColumns(panel plots.Panel, m frame.Measure, b frame.Band) frame.Panel {
	p := frame.Panel{Panel: panel}
	p.XLabel, p.XLog = "columns k of J", true
	for color, j := range jNames {
		p.Of = append(p.Of, func(rows *table.Table) plots.Mark {
			l := plots.Line{Name: j, Color: color}
			for _, g := range rows.Where("J", j).Group("columns") {
				b.AddTo(&l, judge.Summarize(jColumns(g)).Mean, m(g))
			}
			return l
		})
	}
	return p
}

// meanLine is a horizontal line at the mean of a measure.
func meanLine(style plots.Reference, m frame.Measure, scale float64) frame.Mark {
	return func(rows *table.Table) plots.Mark {
		style.At = scale * judge.Summarize(m(rows)).Mean
		return style
	}
}

// columnsCell tells a number of columns.
var columnsCell = frame.Cell{Head: "k", Of: func(rows *table.Table) string {
	k := experiment.FirstName(rows, "columns")
	switch {
	case experiment.FirstName(rows, "J") == protocol.Euclidean:
		return ""
	case k != allColumns:
		return k
	}
	return fmt.Sprintf("all, %.1f", judge.Summarize(jColumns(rows)).Mean)
}}

// reductionPanels are those of errors: the excess objective and the test error of each data set and φ.
func reductionPanels(rows *table.Table) (out []plots.Panel) {
	positive := frame.Band{Scale: 100, Possible: [2]float64{0, math.Inf(1)}}
	for name, g := range rows.Group("cell") {
		over := overColumns(plots.Panel{Title: name, YLabel: "excess objective (%)"}, excess, positive)
		wrong := overColumns(plots.Panel{Title: name, YLabel: "test error (%)"}, vectors.Share.Where("kind", "wrong"), vectors.ErrorLine)
		wrong.Of = append(wrong.Of,
			meanLine(plots.Reference{Name: "exact (" + fitKernel + ")", Color: 3}, reductionError(fitKernel, allColumns), 100),
			meanLine(plots.Reference{Name: "nothing learned", Color: plots.Grey}, reductionError(protocol.Euclidean, "0"), 100))
		out = append(out, frame.Each(over, wrong)(g)...)
	}
	return out
}
