package variants

import (
	"context"
	"fmt"
	"slices"
	"time"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/papers/erkle2015/learning"
	"metriclab/pkg/papers/erkle2015/protocol"
	"metriclab/pkg/table"
)

// drawKinds are the ways to draw earlier triplets.
var drawKinds = []triplets.Draws{triplets.DrawUniform, triplets.DrawSeldom}

// drawMethods are the methods that draw.
var drawMethods = []string{protocol.PAERKLETen, protocol.STEERKLETen}

// Repeats draws earlier triplets that were drawn less often.
var Repeats = experiment.Spec{
	ID:      "erkle2015/repeats",
	Title:   "Ten passes that favour triplets drawn less often, against uniform draws",
	Source:  "Appendix B: \"More sophisticated random selection procedures may be used in order ensure triplets obtained initially do not get selected drastically more times than those obtained later\"",
	Ours:    true,
	Version: 1,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		return protocol.Mapped(protocol.DataSets[:len(weightSets)], func(d protocol.DataSet) experiment.Cell {
			return d.Cell(scale, d.Name, repeatsSettings{d.Settings(scale)}, protocol.ERKLEVersion)
		})
	},
	Trials:  experiment.Trials(10),
	Columns: repeatsColumns,
	Trial:   protocol.Measured,
	Views:   []experiment.View{{Name: "repeats", Title: "Test error by which triplets are repeated", Draw: repeatsView.Draw}},
	Claims:  repeatsClaims,
	Cost:    15 * time.Second,
}

// repeatsSettings are those of a cell.
type repeatsSettings struct{ protocol.SplitSettings }

var repeatsColumns = slices.Concat(experiment.Columns{
	experiment.Text("method", "the online method"),
	experiment.Text("draws", "how earlier triplets are drawn"),
	experiment.Text("triplets", "training triplets seen"),
}, protocol.ErrorColumns("train"), protocol.ErrorColumns("test"))

func (repeatsSettings) Measure(ctx context.Context, r protocol.SplitRun) error {
	s := r.Split
	for _, method := range drawMethods {
		p := protocol.ErkleParams(method)
		for _, p.Draws = range drawKinds {
			if err := protocol.RunERKLE(ctx, s, p, r.Seed, []int{len(s.Train) / 4, len(s.Train)}, func(seen int, l *triplets.ERKLE) {
				v, k := table.Values{}, l.Kernel()
				protocol.ErrorsOf(k, s.Train[:seen]).Put(v, "train")
				s.TestErrors(k).Put(v, "test")
				r.Rows.Add(table.Key{"method": method, "draws": p.Draws.String(), "triplets": fmt.Sprint(seen)}, v)
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

var repeatsView = frame.View{
	Text: &frame.Text{
		By: []string{"cell", "data", "method", "method", "triplets", "triplets", "draws", "draws"},
		Cells: []frame.Cell{
			frame.Of("training error (%)", protocol.StrictIn("train"), frame.Percent, "%.2f"), frame.Of("test error (%)", protocol.TestErrors, frame.Percent, "%.2f"), frame.Half("±", protocol.TestErrors, frame.Percent, "%.2f"),
		},
	},
	Caption: frame.Says("Share of triplets that the kernel does not satisfy, a tie counting as not satisfied, after ten passes.",
		"Points from N(0, I) in R⁵⁰, answers without error: 100 of them with 10,000 training triplets, 500 with 1,000 (20 and 25 in R⁵ with 300 and 50 at smoke scale).",
		"Ten passes (β = 10) of PA-ERKLE and STE-ERKLE (δ = 1), where each round repeats nine of the triplets so far. Uniform is the paper's draw; seldom draws each with a probability in proportion to 1/(1 + how often it was drawn before) (ours).", ""),
	Missing: "errors on any data",
}

var repeatsClaims = experiment.Claims([]experiment.Claim{
	{
		ID: "repeats-seldom", View: "repeats",
		Ours:      true,
		Statement: "Ours, after Appendix B: ten passes generalise better if they favour triplets drawn less often.",
		Where:     "Appendix B, suggested: \"when a triplet gets chosen on line 7, one could reduce the probability of that triplet being chosen subsequently\"", Theirs: "not in the paper",
		Predicate: "After all training triplets the test error with uniform draws minus that with draws in proportion to 1/(1 + times drawn), paired by trial, is positive on 100 points and on 500. Readings: PA-ERKLE and STE-ERKLE.",
		Test: frame.UnderNames(drawMethods, func(method string) frame.Test {
			of := func(d triplets.Draws) frame.Measure {
				return learning.AtLast(protocol.TestErrors.PerTrial("draws", d.String()))
			}
			return frame.Positive(protocol.Points, frame.OverCells("cell", weightSets, of(triplets.DrawUniform).Minus(of(triplets.DrawSeldom)))).Where("method", method)
		}),
	},
})

// weightSets are the data sets, and weightTrain their largest numbers of training triplets: a step with a trace costs far more than
// one without.
var (
	weightSets  = []string{protocol.SyntheticPoints, protocol.Synthetic500}
	weightTrain = map[string]int{protocol.SyntheticPoints: 2000, protocol.Synthetic500: 500}
)
