package kernels

import (
	"fmt"
	"math"
	"slices"
	"strings"

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
	{Name: "reduction", Title: "Error of a reduced kernel, less that of the exact one", Draw: frame.View{
		From: reductionRows, Columns: 2, Missing: "reduced fits",
		Panels: frame.PerGroup(func(cells []string) frame.Panel {
			p := frame.Panel{Panel: plots.Panel{Title: cells[0], XLabel: "test error less that of the exact kernel (percentage points)"}}
			for _, j := range jNames {
				p.Of = append(p.Of, lessExact(j))
			}
			p.Of = append(p.Of, exactLine, nothingLearned)
			return p
		}, "cell"),
		Text: &frame.Text{By: []string{"cell", "data set, φ", "J", "J", "columns", ""}, Cells: []frame.Cell{
			columnsCell, vectors.OrElse("", rank, frame.Of("independent", rank, frame.Band{}, "%.1f")),
			vectors.OrElse("", excess, frame.WithInterval("objective above the exact one (%)", excess, frame.Band{})), vectors.ErrorCell("test error (%)", vectors.Share.Where("kind", "wrong")),
		}},
		Caption: vectors.Shown("Test error of 10 nearest neighbours under K = αK₀ + K₀JLJᵀK₀ less that of the exact kernel, by "+fitKernel+", of the same trial, in percentage points, by the k columns of J. Euclidean: the mean with nothing learned. "+ofJ, reductionProtocol),
	}.Draw},
	{Name: "reduction-objective", Title: "Objective of a reduced kernel against the columns of J", Draw: frame.View{
		From: reductionRows, Columns: 2, Missing: "reduced fits",
		Panels: frame.PerGroup(func(cells []string) frame.Panel {
			return overColumns(plots.Panel{Title: cells[0], YLabel: "excess objective (%)"}, excess.Map(aboveZero), frame.Band{Scale: 100, Possible: [2]float64{0, math.Inf(1)}})
		}, "cell"),
		Caption: vectors.Shown("How far the objective of the best K = αK₀ + K₀JLJᵀK₀ lies above that without a reduction. "+ofJ, reductionProtocol),
	}.Draw},
	{Name: "reduction-time", Title: "Time of a reduced fit against the columns of J", DrawTimed: frame.DrawTimed(reductionPhaseOf, frame.View{
		From: reductionRows.Then(frame.Only("J", append([]string{fitKernel, noReduction}, jNames...)...)), Columns: 2, Missing: "reduced fits",
		Panels: frame.PerGroup(func(cells []string) frame.Panel {
			p := overColumns(plots.Panel{Title: cells[0], YLabel: "CPU time (s)", YLog: true}, reductionTime, positive)
			p.Of = append([]frame.Mark{meanSeconds(fitKernel), meanSeconds(noReduction)}, p.Of...)
			return p
		}, "cell"),
		Text: &frame.Text{By: []string{"cell", "data set, φ", "J", "J", "columns", ""}, Cells: []frame.Cell{
			columnsCell, secondsCell("CPU time (s)", reductionTime), frame.Of("Newton steps", frame.Column("value").Where("kind", "steps"), frame.Band{}, "%.0f"),
		}},
		Caption: vectors.Shown("CPU time of one core to make J and to fit. "+fitKernel+" leaves out the objects without pairs by itself, which is the reduction by indicators of the constrained objects; the line of "+noReduction+" keeps all training rows. FitReduced checks the whole K₀, FitKernel its part.", reductionProtocol),
	})},
}

// reductionStyles are those of the kinds of J, and of what they are compared with.
var reductionStyles = protocol.StylesWith(plots.Ordered(jNames...), plots.Styles{fitKernel: {Color: plots.Black}, noReduction: {Color: plots.Orange}})

// ofJ is what captions say of J.
const ofJ = "J is of random normal numbers, of indicators of k clusters, or of indicators of k of the constrained objects, of which all make the reduction exact."

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
var reductionTime = frame.Seconds.Where("kind", "rank")

func reductionSeconds(j, k string) frame.Measure { return reductionTime.Where("J", j, "columns", k) }

// splits says that the values are differences of errors on random halves of the same data.
var splits = judge.Rule{Scale: 100, Unit: "points", TestRatio: protocol.TestRatio}

// reductionProtocol describes data and settings in captions.
func reductionProtocol(t *table.Table) plots.Caption {
	data := ""
	for cell, g := range t.Group("cell") {
		name, ok := strings.CutSuffix(cell, ", "+phiLogDet)
		if !ok { // the rows of each φ are the same
			continue
		}
		size := vectors.SizesOf(g)
		data += fmt.Sprintf("%s: %.0f training rows, %.0f with pairs, %.0f pairs; ", name, size(protocol.TrainRows), size(constrainedRows), size(pairsGiven))
	}
	return plots.Caption{
		Data:      strings.TrimSuffix(data, "; ") + ".",
		Protocol:  "Fits end at a KKT residual of 10⁻⁶, or after 150 Newton steps. Standardised features. Gaussian kernel with σ² = the median squared distance, scaled so that the median squared distance in the kernel's space is 1; u and ℓ its 1st and 99th percentile; slack costs ½s²; τ of trace is 1.",
		Intervals: experiment.TrialsNote(t, "; each trains on a random half of the rows. Intervals of errors are corrected for training sets that overlap (Nadeau and Bengio 2003)"),
	}
}

// aboveZero takes round-off away.
func aboveZero(v float64) float64 { return max(v, 0) }

// overColumns shows a measure of each kind of J with k columns against their mean number.
func overColumns(panel plots.Panel, m frame.Measure, b frame.Band) frame.Panel {
	p := frame.Panel{Panel: panel}
	p.XLabel, p.XLog = "columns k of J", true
	for _, j := range jNames {
		p.Of = append(p.Of, func(rows *table.Table) plots.Mark {
			l := reductionStyles.Line(j)
			for _, g := range rows.Where("J", j).Group("columns") {
				b.AddTo(&l, judge.Summarize(jColumns(g)).Mean, m(g))
			}
			return l
		})
	}
	return p
}

// meanSeconds is a horizontal line at the mean time of a fit with all columns of J.
func meanSeconds(j string) frame.Mark {
	return func(rows *table.Table) plots.Mark {
		return reductionStyles.Reference(j, judge.Summarize(reductionSeconds(j, allColumns)(rows)).Mean)
	}
}

// lessExact are the errors with a kind of J less those of FitKernel, by the columns of J.
func lessExact(j string) frame.Mark {
	return func(rows *table.Table) plots.Mark {
		m := reductionStyles.Intervals(j)
		for _, k := range rows.Where("kind", "wrong", "J", j).Unique("columns") {
			if k != allColumns { // which are exact
				frame.Band{Scale: 100}.By(vectors.Summary).AddRow(&m, "k = "+k, beyondExact(j, k)(rows))
			}
		}
		return m
	}
}

// beyondExact is the error of a fit less that of FitKernel, by trial.
func beyondExact(j, k string) frame.Measure {
	return reductionError(j, k).Minus(reductionError(fitKernel, allColumns))
}

// exactLine is where errors equal that of FitKernel.
func exactLine(*table.Table) plots.Mark {
	l := reductionStyles.Reference(fitKernel, 0)
	l.Vertical = true
	return l
}

// nothingLearned is a line at the mean error of the Euclidean distance less that of FitKernel.
func nothingLearned(rows *table.Table) plots.Mark {
	l := reductionStyles.Reference(protocol.Euclidean, 100*judge.Summarize(beyondExact(protocol.Euclidean, "0")(rows)).Mean)
	l.Vertical = true
	return l
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
