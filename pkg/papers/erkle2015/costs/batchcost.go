package costs

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/metric"
	"metriclab/pkg/papers/erkle2015/protocol"
	"metriclab/pkg/plots"
	"metriclab/pkg/spectral"
	"metriclab/pkg/table"
)

// BatchCost is the time of a step of batch GNMDS against the number of objects.
var BatchCost = experiment.Spec{
	ID:      "erkle2015/batchcost",
	Title:   "Time of a step of batch GNMDS, with its projection onto the PSD cone, against the number of objects",
	Source:  "Sections 1 and 4: the projection \"is of O(n³) time complexity for n objects\"",
	Version: 1,
	Timing:  true,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		s := batchCostSettings{Objects: []int{100, 200, 400, 800, 1600}, Delta: fig2Delta}
		if scale == experiment.Smoke {
			s.Objects = []int{10, 20, 40}
		}
		return []experiment.Cell{{Name: "steps", Dataset: "points in R50", Settings: s, Methods: map[string]int{"batch": triplets.BatchVersion, "large batch": triplets.BatchLargeVersion}}}
	},
	Trials: experiment.Trials(judge.MinTrials),
	Columns: experiment.Columns{
		experiment.Text("step", "how the step projects onto the cone"),
		experiment.Text("objects", "number of objects n; the step is on 2n triplets"),
		experiment.Number("repeats", "", "how often the same step is made in the time measured"),
	},
	Trial:  batchCostTrial,
	Views:  batchCostViews,
	Claims: batchCostClaims,
	Cost:   40 * time.Second,
}

type batchCostSettings struct {
	Objects []int   `key:"objects,list"`
	Delta   float64 `key:"delta"`
}

// batchStep is one step of batch GNMDS from k without a trace term: projected gradient descent on the hinge losses of ts.
type batchStep struct {
	name string
	make func(ctx context.Context, k *mat.SymDense, ts []metric.Triplet, delta float64) error
}

// batchSteps differ in the projection alone. The first is that of erkle2015/fig2, in place of MATLAB's eig.
var batchSteps = []batchStep{
	{"full eigendecomposition, gonum's", func(_ context.Context, k *mat.SymDense, ts []metric.Triplet, delta float64) error {
		_, _, err := fullStep(new(mat.EigenSym), k, ts, delta)
		return err
	}},
	{"full eigendecomposition, ours", func(_ context.Context, k *mat.SymDense, ts []metric.Triplet, delta float64) error {
		_, _, err := fullStep(new(spectral.EigenSym), k, ts, delta)
		return err
	}},
	{"FitBatch", func(ctx context.Context, k *mat.SymDense, ts []metric.Triplet, delta float64) error {
		_, err := triplets.FitBatch(ctx, k.SymmetricDim(), ts, triplets.BatchParams{Method: triplets.BatchFixed, Delta: delta, Iterations: 1})
		return err
	}},
}

func batchCostPhase(row table.Key) string { return row["step"] + ", n=" + row["objects"] }

func batchCostTrial(ctx context.Context, run *experiment.Run) error {
	s := run.Cell.Settings.(batchCostSettings)
	most := s.Objects[len(s.Objects)-1]
	for _, n := range s.Objects {
		split, err := (&fig2Run{Run: run}).split(n, 0)
		if err != nil {
			return err
		}
		k, repeats := IdentityOf(n), (most/n)*(most/n)
		for _, step := range batchSteps {
			key := table.Key{"step": step.name, "objects": strconv.Itoa(n)}
			end := run.Lap(batchCostPhase(key))
			for range repeats {
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := step.make(ctx, k, split.Train, s.Delta); err != nil {
					return fmt.Errorf("%s, %d objects: %w", step.name, n, err)
				}
			}
			end()
			run.Rows.Add(key, table.Values{"repeats": float64(repeats)})
		}
	}
	return nil
}

// perBatchStep is the CPU time of one step in seconds.
var perBatchStep = frame.Seconds.Over(frame.Column("repeats"))

// stepExponent is by trial the power of n as which the time of a step grows.
func stepExponent(step string) frame.Measure {
	return frame.Exponent(frame.Cells("objects"), perBatchStep).Where("step", step)
}

// What a cube is told apart from, half-way: the fourth power, and the square, as in logdet2012/kernelcost.
const (
	belowFourth = 3.5
	aboveSquare = 2.5
)

const stepsNote = " Steps are of batch GNMDS from K = I on 2n triplets, and differ in the projection: by gonum's full eigendecomposition, in place of MATLAB's; by our own; and FitBatch's, which below 150 objects computes only the eigenpairs that it needs."

// knownCost is what was known when the claims were declared.
const knownCost = "the times of the same steps in erkle2015/fig2, at n = 250 to 1,600, where that by gonum's eigendecomposition grows as n^3.16 and FitBatch's as n^2.97"

var batchCostClaims = experiment.Claims([]experiment.Claim{
	{
		ID: "batchcost-bound", View: "batchcost", Afterwards: knownCost,
		Title:     "The projection of a batch method onto the PSD cone is of O(n³) time complexity for n objects.",
		Statement: "Without any prior assumptions on the data this operation (the projection of a batch method onto the PSD cone) is of O(n³) time complexity for n objects.",
		Where:     "Section 1, and Section 4: \"this is an O(n³) operation\"", Theirs: "O(n³)",
		Predicate: "3.5 minus the exponent as which the CPU time of a step grows from 100 to 1,600 objects, by a least-squares line of the logarithms in each trial, is > 0: an upper bound, told apart from n⁴ half-way, since an operation takes longer where matrices leave the cache. " +
			"Readings: each step; and with 3 in place of 3.5, by which such a growth counts against the sentence." + stepsNote,
		TestTimed: frame.TestTimed(batchCostPhase, frame.Readings(append(exponentBelow(belowFourth), exponentBelow(3)...)...)),
	},
	{
		ID: "batchcost-grows", View: "batchcost", Afterwards: knownCost, Ours: true,
		Statement: "Ours: the time of a step grows as n³, and not as a smaller power.",
		Where:     "Sections 1 and 4 say O(n³), which is an upper bound", Theirs: "no number",
		Predicate: "The same exponent minus 2.5, half-way to a square, is > 0. Terms of lower order make it smaller at few objects than it is at many. Readings: each step." + stepsNote,
		TestTimed: frame.TestTimed(batchCostPhase, frame.Under(batchSteps, func(s batchStep) (string, frame.Test) {
			return s.name, exponentTest("exponent minus 2.5", s, stepExponent(s.name).Plus(-aboveSquare))
		})),
	},
})

// exponentBelow tests that the exponent of each step is below a bound.
func exponentBelow(bound float64) []frame.Reading {
	return protocol.Mapped(batchSteps, func(s batchStep) frame.Reading {
		return frame.Reading{Name: fmt.Sprintf("%s, below %v", s.name, bound), Test: exponentTest(fmt.Sprintf("%v minus exponent", bound), s, stepExponent(s.name).Times(-1).Plus(bound))}
	})
}

// exponentTest tests that a margin of an exponent is positive, and tells the exponent.
func exponentTest(what string, s batchStep, margin frame.Measure) frame.Test {
	return frame.Positive(judge.Rule{}, frame.Unit(what, margin)).Told(func(t *table.Table) judge.Shown {
		return judge.Shown{Ours: "exponent " + plusMinus(stepExponent(s.name)(t), 3)}
	})
}

var batchCostStyles = plots.Ordered(protocol.Mapped(batchSteps, func(s batchStep) string { return s.name })...)

var batchCostViews = []experiment.View{{Name: "batchcost", Title: "CPU time of a step of batch GNMDS against the number of objects", DrawTimed: frame.DrawTimed(batchCostPhase, frame.View{
	Columns: 1, Missing: "any trial",
	Panels: frame.Each(frame.Panel{
		Panel: plots.Panel{XLabel: "objects n", YLabel: "CPU time of a step (s)", XLog: true, YLog: true},
		Of:    frame.Lines("step", protocol.Mapped(batchSteps, func(s batchStep) plots.Line { return batchCostStyles.Line(s.name) }), "objects", perBatchStep, frame.Band{Possible: [2]float64{0, math.Inf(1)}}),
	}),
	Text: &frame.Text{By: []string{"step", "projection", "objects", "n"}, Cells: []frame.Cell{
		{Head: "CPU time of a step (s)", Of: func(g *table.Table) string { return plusMinus(perBatchStep(g), 3) }},
		frame.Of("steps timed", frame.Column("repeats"), frame.Band{}, "%.0f"),
	}},
	Caption: func(t *table.Table) plots.Caption {
		shows := "CPU time of one step of batch GNMDS against the number of objects. Exponents of its growth, by a line through the logarithms in each trial: "
		for i, s := range batchSteps {
			shows += fmt.Sprintf("%s%s %s", map[bool]string{true: "; "}[i > 0], s.name, plusMinus(stepExponent(s.name)(t), 3))
		}
		return plots.Caption{
			Shows: shows + ".", Data: speedData,
			Protocol:  "Each step is one of projected gradient descent on the hinge losses over all 2n triplets, from K = I with δ = 0.1 and τ = 0. The steps differ in the projection: the full eigendecomposition of gonum, by QR iterations; ours, by divide and conquer; and FitBatch's, which is ours from 150 objects on, and below computes only the eigenpairs that it needs. With fewer objects a step is made more often, and the time divided.",
			Intervals: experiment.TrialsNote(t, "; each has other points and triplets"),
		}
	},
})}}
