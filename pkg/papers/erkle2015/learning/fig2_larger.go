package learning

import (
	"time"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/papers/erkle2015/protocol"
	"metriclab/pkg/table"
)

// Fig2Larger is Fig2Errors at a larger size, with the step sizes that were chosen there.
var Fig2Larger = experiment.Spec{
	ID:      "erkle2015/fig2-larger",
	Title:   "1,250 objects: error of PA-ERKLE and of GNMDS with few gradient steps per mini-batch",
	Source:  "Section 5.2, Fig. 2b, at a quarter of its size",
	Version: 1,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		d := protocol.DataSetOf(protocol.Synthetic1250)
		s := d.Settings(scale)
		cells := []experiment.Cell{d.Cell(scale, protocol.PAERKLE, ErrorsOnline{s, protocol.PAERKLE}, protocol.MethodVersions)}
		for _, name := range LargerSteps {
			cells = append(cells, d.Cell(scale, name, errorsSteps{s, name, largerDeltas, nil}, protocol.MethodVersions))
		}
		return cells
	},
	Trials:  experiment.Trials(judge.MinTrials),
	Kinds:   fig2ErrorsKinds,
	Columns: fig2ErrorsColumns,
	Trial:   protocol.Measured,
	Views:   []experiment.View{{Name: "fig2b-larger", Title: "Fig. 2b at n = 1250: error of PA-ERKLE and of batch GNMDS with few gradient steps", Draw: fig2LargerView.Draw}},
	Claims:  Fig2LargerClaims,
	Cost:    40 * time.Second,
}

// largerDeltas are the step sizes that nearly all trials of fig2-errors chose for LargerSteps, with τ = 0.
var largerDeltas = protocol.List[float64]{0.3, 1}

var fig2LargerView = frame.View{
	Columns: 2, Missing: "any trial",
	Panels: frame.Each(paperPanel(asInThePaper, ChosenTest), abovePA(ChosenTest, LargerSteps...)),
	Text:   &frame.Text{Head: []string{"method", "δ"}, Rows: largerRows(), Cells: settingsCells},
	Caption: frame.Says("Left: share of 12,500 other triplets (200 at smoke scale) that the kernels do not satisfy, against the triplets seen; a tie, as of objects of which nothing is known yet, is an error, which is the paper's measure. Right: by how much it exceeds that of PA-ERKLE in the same trial, a tie being half an error, in percentage points.",
		"As Fig. 2b at n = 500 (erkle2015/fig2-errors), a quarter of the paper's objects and triplets: 1,250 points drawn from N(0, I) in R⁵⁰ (30 at smoke scale).", "PA-ERKLE takes one pass. GNMDS takes one or two gradient steps on all triplets so far after every mini-batch, a twentieth of all, going on from the kernel before. τ is 0, and the step size δ that of 0.3 and 1 with the least error summed over the curve, per trial; with n = 500 nearly all trials chose one of these. "+
			"The table has both. A step takes time proportional to n³: at n = 5000 the 60 steps of the two curves with one δ would take more than an hour of CPU per trial.", ""),
}

// largerRows are those of each method and step size.
func largerRows() (out []frame.Row) {
	for _, method := range LargerSteps {
		for _, delta := range largerDeltas {
			names := []string{method, table.Format(delta)}
			out = append(out, frame.Row{Names: names, Of: []string{"cell", names[0], "delta", names[1]}})
		}
	}
	return out
}

const (
	atAQuarter = " At n = 1250 with 2,500 training triplets and mini-batches of 125, a quarter of the paper's sizes: what holds here is taken to hold there at equal numbers of triplets per object." +
		" GNMDS goes on from the kernel of the mini-batch before. Readings: δ of 0.3 and 1 by validation, and best on test, the paper's rule."
	largerKnown = "the curves of fig2-errors at n = 500, and that of PA-ERKLE at n = 5000"
)

// LargerCrossing is the number of triplets that are as many per object as 2500 of 10,000, and LargerAround as 1000.
const (
	LargerCrossing = 625
	LargerAround   = 250
)

var Fig2LargerClaims = experiment.Claims([]experiment.Claim{
	{
		ID:        "fig2-larger-initially",
		Sentence:  "fig2-initially",
		Statement: "Initially, the batch methods perform better (than PA-ERKLE), at n = 1250.",
		Where:     FiveTwo + "b", Theirs: experiment.FigureOnly, Afterwards: largerKnown,
		Predicate: "Test error of PA-ERKLE − that of GNMDS with one and with two steps, mean over the checkpoints before 625 triplets, > 0, paired, for both." + atAQuarter,
		Test:      stepsTest(largerReadings, initially(LargerCrossing), allPositive),
	},
	{
		ID:        "fig2-larger-outperforms",
		Sentence:  "fig2-outperforms",
		Statement: "Around 2500 triplets, PA-ERKLE outperforms the batch methods, at n = 1250: around 625.",
		Where:     FiveTwo + "b", Theirs: experiment.FigureOnly, Afterwards: largerKnown,
		Predicate: "Test error of GNMDS with one and with two steps − that of PA-ERKLE, mean over the checkpoints after 625 triplets, > 0, paired, for both." + atAQuarter,
		Test:      stepsTest(largerReadings, outperforms(LargerCrossing), allPositive),
	},
	{
		ID:        "fig2-larger-crossing",
		Sentence:  "fig2-crossing",
		Statement: "The curves cross around 2500 triplets, at n = 1250: around 625.",
		Where:     FiveTwo + "b", Theirs: "around 2500 triplets", Afterwards: largerKnown,
		Predicate: "The number of triplets up to which GNMDS is not worse, which is 125 times the number of checkpoints where that is so if the curves cross once, mean over one and two steps, is 625 within 250." + atAQuarter,
		Test:      stepsTest(largerReadings, notWorse, crossesAt(LargerCrossing, LargerAround)),
	},
	{
		ID:        "fig2-larger-competitive",
		Sentence:  "fig2-competitive",
		Statement: "PA-ERKLE can achieve competitive results with batch methods in a single pass over the data, at n = 1250.",
		Where:     FiveTwo + "b", Theirs: experiment.FigureOnly, Afterwards: largerKnown,
		Predicate: "Final test error of GNMDS + 2 points − that of PA-ERKLE > 0, paired, for one step and two steps per mini-batch." + atAQuarter,
		Test:      stepsTest(largerReadings, competes, allPositive),
	},
})

// largerReadings have both rules for δ.
var largerReadings = []stepsReading{{ChosenValid, ChosenValid, LargerSteps}, {ChosenTest, ChosenTest, LargerSteps}}
