package logdet2012

import (
	"slices"

	"metriclab/pkg/datasets"
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"

	"metriclab/pkg/learners/itml"
	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/table"
)

// logDetWider is LogDet Gaussian whose widths reach beyond those of the figure.
const logDetWider = logDetGaussian + ", wider grid"

// widerWidths reach as far beyond ½ and 2 medians, in steps of four, as errors of the inner
// cross-validation of one fold of another seed asked for, on ionosphere and wine: the least
// were at ⅛ and 2 medians. No test error had been seen of these widths.
var widerWidths = []float64{1. / 32, 1. / 8, 1. / 2, 2, 8}

// widening is a data set with a scaling of its features.
type widening struct {
	database
	by datasets.Preprocessing
}

// widened are the data sets and scalings where more than half of the published folds chose
// one end of ½, 1 and 2 medians.
var widened = []widening{
	{database{"wine", "wine"}, datasets.AsIs},
	{database{ionosphere, ionosphere}, datasets.AsIs},
	{database{"wine", "wine"}, datasets.ZScore},
	{database{ionosphere, ionosphere}, datasets.ZScore},
	{database{"soybean", "soybean-large"}, datasets.ZScore},
}

// widerKnown is what was known when the readings were added.
const widerKnown = "the errors with widths of ½, 1 and 2 medians"

// widerCells have LogDet Gaussian alone, on the folds and pairs of the other cells.
func widerCells(scale experiment.Scale) []experiment.Cell {
	all := widened
	if scale == experiment.Smoke {
		all = slices.Clone(all[:1])
		all[0].database = generated[0]
	}
	var cells []experiment.Cell
	for _, w := range all {
		s := settingsOf(w.by, scale)
		s.Rules, s.Widths = []itml.BoundRule{itml.BoundPercentiles}, widerWidths
		cells = append(cells, experiment.Cell{
			Name: w.name + " features " + describe[w.by.String()] + ", wider grid", Dataset: w.dataset,
			Methods:  map[string]int{"KernelLogDet": itml.KernelVersion, "kNN": nearest.KNNVersion},
			Settings: fig1aSettings{Database: w.name, Only: logDetWider, settings: s},
		})
	}
	return cells
}

// widest is the error of LogDet Gaussian with the widest grid that a data set has.
func widest(rows *table.Table) []float64 {
	if e := errorOf(logDetWider)(rows); len(e) > 0 {
		return e
	}
	return errorOf(logDetGaussian, "bounds", percentiles)(rows)
}

// widerReadings are those of the claim about LogDet Gaussian with the wider grids.
func widerReadings() (out []frame.Reading) {
	for _, rd := range allReadings {
		if rd.bounds == percentiles {
			for _, r := range rd.against(widest) {
				test := func(t *table.Table) judge.Test {
					if t.Where("kind", "wrong", "method", logDetWider).Len() == 0 {
						judge.Refuse("logdet2012: there are no results of %s", logDetWider)
					}
					return r.Test(t)
				}
				out = append(out, frame.Reading{Name: r.Name + ", wider grid of σ²", Test: test, Afterwards: widerKnown})
			}
		}
	}
	return out
}
