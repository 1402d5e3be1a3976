package learning

import (
	"slices"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/papers/erkle2015/protocol"
	"metriclab/pkg/table"
)

const FiveTwo = "Section 5.2, Fig. 2"

var stepMethods = []protocol.StepMethod{
	{Name: "GNMDS, 1 step", Steps: 1, Afresh: false}, {Name: "GNMDS, 2 steps", Steps: 2, Afresh: false}, {Name: "GNMDS, 1 step from I", Steps: 1, Afresh: true}, {Name: "GNMDS, 2 steps from I", Steps: 2, Afresh: true},
}

// LargerSteps are the methods that go on from the kernel before.
var LargerSteps = []string{stepMethods[0].Name, stepMethods[1].Name}

// gnmdsMany is GNMDS nearer to convergence: up to protocol.BatchIterations accelerated iterations after every fourth mini-batch, from the kernel before.
const gnmdsMany = "GNMDS, 100 iterations"

// The grids from which the settings of the steps are chosen: first the size δ with τ = 0, then the weight τ of the trace with that δ. The
// objective sums over triplets.
var (
	stepDeltas = protocol.List[float64]{0.01, 0.03, 0.1, 0.3, 1}
	stepTaus   = protocol.List[float64]{0.1, 1, 10}
)

// How the settings of a curve were chosen. PA-ERKLE has none.
const (
	NoSettings  = "no settings"
	ChosenValid = "settings by validation"
	ChosenTest  = "settings best on test"
)

// Margins of the claims on the errors, fixed before the first full run. Errors are shares.
const (
	// "around 2500 triplets" of 10,000, at a tenth of the size.
	crossing = 250
	// "around": within 100 of them.
	crossingTolerance = 100
	// "competitive results": at most 2 percentage points more.
	competitive = 0.02
)

const atATenth = " At n = 500 with 1,000 training triplets and mini-batches of 50, a tenth of the paper's sizes, since a batch step at n = 5000 takes minutes: what holds here is taken to hold there at equal numbers of triplets per object." +
	" Read with the kernel of the mini-batch before as the start, and from K = I each time; with settings by validation, and best on test, the paper's rule."

var fig2ErrorsClaims = experiment.Claims([]experiment.Claim{
	{
		ID: "fig2-initially", View: "fig2b",
		Statement: "Initially, the batch methods perform better (than PA-ERKLE).",
		Where:     FiveTwo + "b", Theirs: experiment.FigureOnly,
		Predicate: "Test error of PA-ERKLE − that of GNMDS with one and with two steps, mean over the checkpoints before 250 triplets, > 0, paired, for both." + atATenth,
		Test:      stepsTest(errorsReadings(), initially(crossing), allPositive),
	},
	{
		ID: "fig2-outperforms", View: "fig2b",
		Statement: "Around 2500 triplets, PA-ERKLE outperforms the batch methods.",
		Where:     FiveTwo + "b", Theirs: experiment.FigureOnly,
		Predicate: "Test error of GNMDS with one and with two steps − that of PA-ERKLE, mean over the checkpoints after 250 triplets, > 0, paired, for both." + atATenth,
		Test:      stepsTest(errorsReadings(), outperforms(crossing), allPositive),
	},
	{
		ID: "fig2-crossing", View: "fig2b",
		Statement: "The curves cross around 2500 triplets.",
		Where:     FiveTwo + "b", Theirs: "around 2500 triplets",
		Predicate: "The number of triplets up to which GNMDS is not worse, which is 50 times the number of checkpoints where that is so if the curves cross once, mean over one and two steps, is 250 within 100." + atATenth,
		Test:      stepsTest(errorsReadings(), notWorse, crossesAt(crossing, crossingTolerance)),
	},
	{
		ID: "fig2-competitive", View: "fig2b",
		Statement: "PA-ERKLE can achieve competitive results with batch methods in a single pass over the data.",
		Where:     FiveTwo + "b", Theirs: experiment.FigureOnly,
		Predicate: "Final test error of GNMDS + 2 points − that of PA-ERKLE > 0, paired, for one step and two steps per mini-batch, and 100 accelerated iterations on all." + atATenth,
		Test:      stepsTest(errorsReadings(gnmdsMany), competes, allPositive),
	},
})

// curvesNumber is a number of the curves of PA-ERKLE and of GNMDS in a trial, at the same checkpoints.
type curvesNumber func(pa, batch []float64, at []int) float64

// initially is by how much GNMDS is better before a number of triplets, outperforms by how much PA-ERKLE is after it.
func initially(before int) curvesNumber {
	return func(pa, batch []float64, at []int) float64 {
		return meanWhere(at, func(to int) bool { return to < before }, pa, batch)
	}
}

func outperforms(after int) curvesNumber {
	return func(pa, batch []float64, at []int) float64 {
		return meanWhere(at, func(to int) bool { return to > after }, batch, pa)
	}
}

// competes is by how much PA-ERKLE is within the margin at the end.
func competes(pa, batch []float64, _ []int) float64 {
	return batch[len(batch)-1] + competitive - pa[len(pa)-1]
}

// notWorse is the number of triplets up to which a batch method is not worse, if the curves cross once.
func notWorse(pa, batch []float64, at []int) float64 {
	n := 0
	for i := range at {
		if batch[i] <= pa[i] {
			n++
		}
	}
	return float64(n * at[0])
}

// meanWhere is the mean of a − b over checkpoints, 0 if there are none.
func meanWhere(at []int, in func(to int) bool, a, b []float64) float64 {
	n, sum := 0.0, 0.0
	for i, to := range at {
		if in(to) {
			n++
			sum += a[i] - b[i]
		}
	}
	if n == 0 {
		return 0
	}
	return sum / n
}

// stepsReading is a way to run and to choose GNMDS with few steps.
type stepsReading struct {
	name, rule string
	methods    []string
}

// errorsReadings go on from the kernel before or start from I; more methods may be among those of each.
func errorsReadings(more ...string) (out []stepsReading) {
	for k, start := range []string{"going on", "from I"} {
		methods := append(protocol.Mapped(stepMethods[2*k:2*k+2], func(m protocol.StepMethod) string { return m.Name }), more...)
		for _, rule := range []string{ChosenValid, ChosenTest} {
			out = append(out, stepsReading{start + ", " + rule, rule, methods})
		}
	}
	return out
}

// stepsTest tests a number per trial of each method, for each reading.
func stepsTest(readings []stepsReading, number curvesNumber, test func(methods []string, of func(method string) frame.Measure) frame.Test) frame.Test {
	return frame.Under(readings, func(r stepsReading) (string, frame.Test) {
		return r.name, test(r.methods, func(method string) frame.Measure { return againstPA(method, r.rule, number) })
	}).Headline(readings[slices.IndexFunc(readings, func(r stepsReading) bool { return r.rule == ChosenTest })].name, frame.AsPrinted)
}

func allPositive(methods []string, of func(method string) frame.Measure) frame.Test {
	return frame.Positive(protocol.Points, frame.Over(methods, func(method string) (string, frame.Measure) { return method, of(method) }))
}

// crossesAt tests that the mean over methods is a number of triplets.
func crossesAt(theirs, tolerance float64) func(methods []string, of func(method string) frame.Measure) frame.Test {
	return func(methods []string, of func(method string) frame.Measure) frame.Test {
		return frame.Printed(theirs, frame.Mean("trials of the methods", protocol.Mapped(methods, of)...), tolerance)
	}
}

// againstPA is a number per trial of a method's curves against those of PA-ERKLE; that of gnmdsMany has fewer checkpoints.
func againstPA(method, rule string, number curvesNumber) frame.Measure {
	return func(t *table.Table) []float64 {
		pa, at := testCurves(t, protocol.PAERKLE, NoSettings)
		batch, same := testCurves(t, method, rule)
		if len(batch) != len(pa) || method != gnmdsMany && !slices.Equal(at, same) || at[len(at)-1] != same[len(same)-1] {
			judge.Refuse("erkle2015: %s: %d trials at %v, want %d at %v", method, len(batch), same, len(pa), at)
		}
		out := make([]float64, len(pa))
		for i := range out {
			out[i] = number(pa[i], batch[i], at)
		}
		return out
	}
}

// testCurves returns the test errors of a method at its checkpoints, by trial.
func testCurves(t *table.Table, method, rule string) (curves [][]float64, at []int) {
	for trial, g := range t.Where("cell", method, "kind", protocol.CurveRow, "rule", rule).Group("trial") {
		first := at
		if at = protocol.CountsIn(g, "triplets"); curves != nil && !slices.Equal(at, first) {
			judge.Refuse("erkle2015: %s, %s: trial %s has checkpoints %v, others have %v", method, rule, trial, at, first)
		}
		curves = append(curves, protocol.TestErrors(g))
	}
	return experiment.NotEmpty("curves of "+method+", "+rule, curves), at
}
