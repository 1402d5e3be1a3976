package erkle2015

import (
	"fmt"
	"time"

	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// Fig2Larger is Fig2Errors at a larger size, with the step sizes that were chosen there.
var Fig2Larger = experiment.Spec{
	ID:      "erkle2015/fig2-larger",
	Title:   "1,250 objects: error of PA-ERKLE and of GNMDS with few gradient steps per mini-batch",
	Source:  "Section 5.2, Fig. 2b, at a quarter of its size",
	Version: 1,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		d, err := dataSetOf(synthetic1250)
		if err != nil {
			panic(err)
		}
		s := d.settings(scale)
		cells := []experiment.Cell{{Name: paERKLE, Dataset: d.datasetAt(scale), Settings: errorsOnline{s, paERKLE}, Methods: methodVersions}}
		for _, name := range largerSteps {
			cells = append(cells, experiment.Cell{Name: name, Dataset: d.datasetAt(scale), Settings: errorsSteps{s, name, largerDeltas, nil}, Methods: methodVersions})
		}
		return cells
	},
	Trials:  experiment.Trials(judge.MinTrials),
	Kinds:   fig2ErrorsKinds,
	Columns: fig2ErrorsColumns,
	Trial:   fig2ErrorsTrial,
	Views:   []experiment.View{{Name: "fig2b-larger", Title: "Fig. 2b at n = 1250: error of PA-ERKLE and of batch GNMDS with few gradient steps", Draw: drawFig2Larger}},
	Claims:  fig2LargerClaims,
	Cost:    40 * time.Second,
}

// largerSteps are the methods that go on from the kernel before, and largerDeltas the step sizes that nearly all trials of fig2-errors chose for them,
// with τ = 0.
var (
	largerSteps  = []string{stepMethods[0].name, stepMethods[1].name}
	largerDeltas = list[float64]{0.3, 1}
)

func drawFig2Larger(t *table.Table) (plots.Drawing, error) {
	d := plots.Drawing{Columns: 2, Text: &plots.TextTable{Head: []string{"method", "δ", "test error, mean over the curve (%)", "ties half (%)", "chosen by validation in", "best on test in"}}}
	test := 0.0
	for _, pn := range []struct {
		title string
		of    func(*table.Table, string) []float64
	}{{chosenTest + " (the paper's rule)", strictErrors}, {chosenTest + ", ties half", halfErrors}} {
		p := plots.Panel{Title: pn.title, XLabel: "triplets seen", YLabel: "test error (%)", XLog: true}
		for cell, g := range t.Where("kind", curveRow).Group("cell") {
			r := g
			if cell != paERKLE {
				r = g.Where("rule", chosenTest)
			}
			if r.Len() == 0 {
				continue
			}
			test = experiment.First(r, "test triplets")
			style := fig2ErrorsStyles[cell]
			style.Name = cell
			p.Marks = append(p.Marks, curveOf(r, "triplets", style, func(t *table.Table) []float64 { return pn.of(t, "test") }))
		}
		if len(p.Marks) > 0 {
			d.Panels = append(d.Panels, p)
		}
	}
	for key, g := range groups(t.Where("kind", settingRow), "cell", "delta") {
		row := key
		for _, shares := range [][]float64{testErrors(g), halfErrors(g, "test")} {
			row = append(row, fmt.Sprintf("%.2f", 100*judge.Summarize(shares).Mean))
		}
		for _, rule := range []string{chosenValid, chosenTest} {
			row = append(row, fmt.Sprint(len(t.Where("cell", key[0], "kind", curveRow, "rule", rule, "delta", key[1]).Unique("trial"))))
		}
		d.Text.Rows = append(d.Text.Rows, row)
	}
	d.Caption = plots.Caption{Shows: fmt.Sprintf("As Fig. 2b at n = 500 (erkle2015/fig2-errors), a quarter of the paper's objects and triplets: 1,250 points drawn from N(0, I) in R⁵⁰ (30 at smoke scale). Share of %.0f other comparisons that the kernels do not satisfy (a tie, as of objects of which nothing is known yet, is an error, which is the paper's measure; right, half of one), against the triplets seen. "+
		"PA-ERKLE takes one pass. GNMDS takes one or two gradient steps on all triplets so far after every mini-batch, a twentieth of all, going on from the kernel before, with τ = 0 and the step size δ, 0.3 or 1, that has the least error summed over the curve, per trial; with n = 500 nearly all trials chose one of these. "+
		"The table has both. A step takes time proportional to n³: at n = 5000 the 60 steps of the two curves with one δ would take more than an hour of CPU per trial. ", test) + trialsNote(t)}
	return orMissing(d, "any trial")
}

const (
	atAQuarter = " At n = 1250 with 2,500 training triplets and mini-batches of 125, a quarter of the paper's sizes: what holds here is taken to hold there at equal numbers of triplets per object." +
		" GNMDS goes on from the kernel of the mini-batch before. Readings: δ of 0.3 and 1 by validation, and best on test, the paper's rule."
	largerKnown = "the curves of fig2-errors at n = 500, and that of PA-ERKLE at n = 5000"
)

// largerCrossing is the number of triplets that are as many per object as 2500 of 10,000, and largerAround as 1000.
const (
	largerCrossing = 625
	largerAround   = 250
)

var fig2LargerClaims = experiment.Claims([]experiment.Claim{
	{
		ID:        "fig2-larger-initially",
		Statement: "Initially, the batch methods perform better (than PA-ERKLE), at n = 1250.",
		Where:     fiveTwo + "b", Theirs: experiment.FigureOnly, Afterwards: largerKnown,
		Predicate: "Test error of PA-ERKLE − that of GNMDS with one and with two steps, mean over the checkpoints before 625 triplets, > 0, paired, for both." + atAQuarter,
		Test: func(t *table.Table) judge.Test {
			return largerReadings(t, func(pa, batch []float64, at []int) float64 {
				return meanWhere(at, func(to int) bool { return to < largerCrossing }, pa, batch)
			}, testPositive)
		},
	},
	{
		ID:        "fig2-larger-outperforms",
		Statement: "Around 2500 triplets, PA-ERKLE outperforms the batch methods, at n = 1250: around 625.",
		Where:     fiveTwo + "b", Theirs: experiment.FigureOnly, Afterwards: largerKnown,
		Predicate: "Test error of GNMDS with one and with two steps − that of PA-ERKLE, mean over the checkpoints after 625 triplets, > 0, paired, for both." + atAQuarter,
		Test: func(t *table.Table) judge.Test {
			return largerReadings(t, func(pa, batch []float64, at []int) float64 {
				return meanWhere(at, func(to int) bool { return to > largerCrossing }, batch, pa)
			}, testPositive)
		},
	},
	{
		ID:        "fig2-larger-crossing",
		Statement: "The curves cross around 2500 triplets, at n = 1250: around 625.",
		Where:     fiveTwo + "b", Theirs: "around 2500 triplets", Afterwards: largerKnown,
		Predicate: "The number of triplets up to which GNMDS is not worse, which is 125 times the number of checkpoints where that is so if the curves cross once, mean over one and two steps, is 625 within 250." + atAQuarter,
		Test: func(t *table.Table) judge.Test {
			return largerReadings(t, notWorse, func(units []judge.Unit) judge.Test { return crossesAt(units, largerCrossing, largerAround) })
		},
	},
	{
		ID:        "fig2-larger-competitive",
		Statement: "PA-ERKLE can achieve competitive results with batch methods in a single pass over the data, at n = 1250.",
		Where:     fiveTwo + "b", Theirs: experiment.FigureOnly, Afterwards: largerKnown,
		Predicate: "Final test error of GNMDS + 2 points − that of PA-ERKLE > 0, paired, for one step and two steps per mini-batch." + atAQuarter,
		Test: func(t *table.Table) judge.Test {
			return largerReadings(t, func(pa, batch []float64, _ []int) float64 {
				return batch[len(batch)-1] + competitive - pa[len(pa)-1]
			}, testPositive)
		},
	},
})

// largerReadings tests a number per trial, made of the curves of PA-ERKLE and of GNMDS, with both rules for δ.
func largerReadings(t *table.Table, of func(pa, batch []float64, at []int) float64, test func([]judge.Unit) judge.Test) judge.Test {
	pa, at := testCurves(t, paERKLE, noSettings)
	return judge.Under([]string{chosenValid, chosenTest}, func(rule string) judge.Test {
		return test(errorsUnits(t, largerSteps, rule, pa, at, of))
	})
}
