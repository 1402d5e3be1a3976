// Package pola2004 declares the experiments of
//
//	Shalev-Shwartz, Singer, Ng. Online and Batch Learning of Pseudo-Metrics.
//	ICML 2004.
//
// Each file is one experiment: its cells, its trial, its views and its claims.
package pola2004

import (
	"strings"

	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/plots"
)

// Paper lists the experiments: those of the paper in its order, then ours.
var Paper = experiment.Paper{
	Key:         "pola2004",
	Citation:    "S. Shalev-Shwartz, Y. Singer, A. Y. Ng. Online and Batch Learning of Pseudo-Metrics. ICML 2004.",
	Experiments: []experiment.Spec{Theorem1, Bounds, Batch, Fig2, Fig3, Readings, Fig4, Rings, Sensitivity, Fig4Sensitivity},
}

// styles are how figures draw metrics and algorithms. 1-NN of Fig. 4 is the Euclidean metric's.
var styles = plots.Styles{
	pola:            {Color: plots.Blue},
	euclidean:       {Color: plots.Vermillion, Dash: plots.Dashed, Shape: plots.Triangle},
	oneNN:           {Color: plots.Vermillion, Dash: plots.Dashed, Shape: plots.Triangle},
	relaxedName:     {Color: plots.Purple, Dash: plots.LongDashed, Shape: plots.Diamond},
	polaTop:         {Color: plots.Green, Dash: plots.Dotted, Shape: plots.Square},
	kernelGaussian:  {Color: plots.Orange, Shape: plots.Downward},
	kernelQuadratic: {Color: plots.Sky, Dash: plots.LongDashed, Shape: plots.Plus},
	perceptron:      {Color: plots.Black, Dash: plots.DashDotDot, Shape: plots.Cross},
	paum:            {Color: plots.Olive, Shape: plots.Ring},
	rca:             {Color: plots.Indigo, Dash: plots.Dashed, Shape: plots.Cross},
	fda:             {Color: plots.Brown, Dash: plots.TwoDashes, Shape: plots.Downward},
	fdaPlain:        {Color: plots.Brown, Dash: plots.TwoDashes, Shape: plots.Downward},
	fdaRidge:        {Color: plots.Olive, Dash: plots.Dashed, Shape: plots.Diamond},
}

// inPoints is the rule of differences of errors or other shares.
var inPoints = judge.Rule{Scale: 100, Unit: "points"}

// duel compares the errors of two methods, with a point per problem.
type duel struct {
	plots.Points
	wins int // problems in which the method on the vertical axis has the lower error
}

func (d *duel) add(x, y judge.Summary) {
	xm, xh := x.Interval()
	ym, yh := y.Interval()
	d.X, d.XErr = append(d.X, 100*xm), append(d.XErr, 100*xh)
	d.Y, d.YErr = append(d.Y, 100*ym), append(d.YErr, 100*yh)
	if ym < xm {
		d.wins++
	}
}

// duelPanel is a panel of duels between two methods.
func duelPanel(x, y string, duels ...duel) plots.Panel {
	p := plots.Panel{XLabel: "error of " + x + " (%)", YLabel: "error of " + y + " (%)", Equal: true,
		Marks: []plots.Mark{plots.Diagonal{Name: "equal error"}}}
	for _, d := range duels {
		d.Possible = [2]float64{0, 100}
		p.Marks = append(p.Marks, d.Points)
	}
	return p
}

// symbols turns the names of cells and settings, which are keys, into what a
// reader sees.
var symbols = strings.NewReplacer("b1 =", "b₁ =", "gamma =", "γ =")

// drawsOnly is what the intervals of a figure cover; see experiment.TrialsNote.
const drawsOnly = ", which cover the random draws of a trial and nothing else"

// one is 1 for what is true.
func one(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
