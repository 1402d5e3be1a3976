package learning

import (
	"time"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/papers/erkle2015/protocol"
)

// Fig2Curves is Fig2Larger at the paper's size: one trial, since its steps take three hours, with the step size that most
// trials of Fig2Larger chose by validation. It has no claims: one trial has no interval.
var Fig2Curves = experiment.Spec{
	ID:      "erkle2015/fig2-curves",
	Title:   "5,000 objects: error of PA-ERKLE and of GNMDS with few gradient steps per mini-batch",
	Source:  "Section 5.2, Fig. 2b",
	Version: 1,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		d := protocol.DataSetOf(protocol.Synthetic5000)
		s := d.Settings(scale)
		online := map[string]int{"ERKLE": triplets.ERKLEVersion, "large ERKLE": triplets.ERKLELargeVersion}
		steps := map[string]int{"batch": triplets.BatchVersion}
		cells := []experiment.Cell{d.Cell(scale, protocol.PAERKLE, ErrorsOnline{s, protocol.PAERKLE}, online)}
		for _, name := range LargerSteps {
			cells = append(cells, d.Cell(scale, name, errorsSteps{s, name, protocol.List[float64]{curvesDelta}, nil}, steps))
		}
		return cells
	},
	Trials:  func(experiment.Scale) int { return 1 },
	Kinds:   fig2ErrorsKinds,
	Columns: fig2ErrorsColumns,
	Trial:   protocol.Measured,
	Views:   []experiment.View{{Name: "fig2b-curves", Title: "Fig. 2b: error of PA-ERKLE and of batch GNMDS with few gradient steps, 5,000 objects", Draw: fig2CurvesView.Draw}},
	Cost:    3 * time.Hour,
}

// curvesDelta is the δ of largerDeltas that four of six trials of fig2-larger chose by validation, for one step and for two.
const curvesDelta = 1

var fig2CurvesView = frame.View{
	Columns: 2, Missing: "any trial",
	Panels: frame.Each(paperPanel("the paper's measure: a tie is an error", ChosenValid), abovePA(ChosenValid, LargerSteps...)),
	Caption: frame.Says("Left: share of 50,000 other triplets (200 at smoke scale) that the kernels do not satisfy, against the triplets seen; a tie, as of objects of which nothing is known yet, is an error, which is the paper's measure. Right: by how much it exceeds that of PA-ERKLE, a tie being half an error, in percentage points.",
		"The paper's size: 5,000 points drawn from N(0, I) in R⁵⁰ (30 at smoke scale), one draw.", "PA-ERKLE takes one pass. GNMDS takes one or two gradient steps on all triplets so far after every mini-batch of 500, going on from the kernel before, by our own batch step. "+
			"τ is 0, and δ is 1, as four of six trials with 1,250 objects chose by validation (erkle2015/fig2-larger).", ""),
}
