package erkle2015

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/table"
)

// Margins of the claims on the errors, fixed before the first full run. Errors are shares.
const (
	// "around 2500 triplets" of 10,000, at a tenth of the size.
	crossing = 250
	// "around": within 100 of them.
	crossingTolerance = 100
	// "competitive results": at most 2 points more.
	competitive = 0.02
)

const atATenth = " At n = 500 with 1,000 training triplets and mini-batches of 50, a tenth of the paper's sizes, since a batch step at n = 5000 takes minutes: what holds here is taken to hold there at equal numbers of triplets per object." +
	" Read with the kernel of the mini-batch before as the start, and from K = I each time; with settings by validation, and best on test, the paper's rule."

var fig2ErrorsClaims = experiment.Claims([]experiment.Claim{
	{
		ID: "fig2-initially", View: "fig2b",
		Statement: "Initially, the batch methods perform better (than PA-ERKLE).",
		Where:     fiveTwo + "b", Theirs: experiment.FigureOnly,
		Predicate: "Test error of PA-ERKLE − that of GNMDS with one and with two steps, mean over the checkpoints before 250 triplets, > 0, paired, for both." + atATenth,
		Test: func(t *table.Table) judge.Test {
			return errorsReadings(t, false, func(pa, batch []float64, at []int) float64 {
				return meanWhere(at, func(to int) bool { return to < crossing }, pa, batch)
			}, testPositive)
		},
	},
	{
		ID: "fig2-outperforms", View: "fig2b",
		Statement: "Around 2500 triplets, PA-ERKLE outperforms the batch methods.",
		Where:     fiveTwo + "b", Theirs: experiment.FigureOnly,
		Predicate: "Test error of GNMDS with one and with two steps − that of PA-ERKLE, mean over the checkpoints after 250 triplets, > 0, paired, for both." + atATenth,
		Test: func(t *table.Table) judge.Test {
			return errorsReadings(t, false, func(pa, batch []float64, at []int) float64 {
				return meanWhere(at, func(to int) bool { return to > crossing }, batch, pa)
			}, testPositive)
		},
	},
	{
		ID: "fig2-crossing", View: "fig2b",
		Statement: "The curves cross around 2500 triplets.",
		Where:     fiveTwo + "b", Theirs: "around 2500 triplets",
		Predicate: "The number of triplets up to which GNMDS is not worse, which is 50 times the number of checkpoints where that is so if the curves cross once, mean over one and two steps, is 250 within 100." + atATenth,
		Test: func(t *table.Table) judge.Test {
			return errorsReadings(t, false, notWorse, func(units []judge.Unit) judge.Test { return crossesAt(units, crossing, crossingTolerance) })
		},
	},
	{
		ID: "fig2-competitive", View: "fig2b",
		Statement: "PA-ERKLE can achieve competitive results with batch methods in a single pass over the data.",
		Where:     fiveTwo + "b", Theirs: experiment.FigureOnly,
		Predicate: "Final test error of GNMDS + 2 points − that of PA-ERKLE > 0, paired, for one step and two steps per mini-batch, and 100 accelerated iterations on all." + atATenth,
		Test: func(t *table.Table) judge.Test {
			return errorsReadings(t, true, func(pa, batch []float64, _ []int) float64 {
				return batch[len(batch)-1] + competitive - pa[len(pa)-1]
			}, testPositive)
		},
	},
})

func testPositive(units []judge.Unit) judge.Test { return judge.Positive{Units: units, Rule: points} }

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

// crossesAt tests that the mean over units is a number of triplets.
func crossesAt(units []judge.Unit, theirs, tolerance float64) judge.Test {
	mean := slices.Clone(experiment.NotEmpty("units", units)[0].Diffs)
	for _, u := range units[1:] {
		judge.SameLength(u.Name, mean, u.Diffs)
		floats.Add(mean, u.Diffs)
	}
	return judge.Number{Theirs: theirs, Ours: scaled(1/float64(len(units)), mean), Tolerance: tolerance}
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

// errorsReadings tests a number per trial, made of the curves of PA-ERKLE and of GNMDS, for each reading; with 100 iterations, which have
// fewer checkpoints, among the units if many is true.
func errorsReadings(t *table.Table, many bool, of func(pa, batch []float64, at []int) float64, test func([]judge.Unit) judge.Test) judge.Test {
	pa, at := testCurves(t, paERKLE, noSettings)
	var out judge.Readings
	for k, start := range []string{"going on", "from I"} {
		for _, rule := range []string{chosenValid, chosenTest} {
			var names []string
			for _, m := range stepMethods {
				if m.afresh == (k == 1) {
					names = append(names, m.name)
				}
			}
			if many {
				names = append(names, gnmdsMany)
			}
			units := errorsUnits(t, names, rule, pa, at, of)
			out = append(out, judge.Reading{Name: start + ", " + rule, Test: test(units)})
		}
	}
	return out
}

// errorsUnits are a number per trial of each method's curves against those of PA-ERKLE, at the checkpoints at.
func errorsUnits(t *table.Table, names []string, rule string, pa [][]float64, at []int, of func(pa, batch []float64, at []int) float64) []judge.Unit {
	var units []judge.Unit
	for _, name := range names {
		batch, same := testCurves(t, name, rule)
		if len(batch) != len(pa) || name != gnmdsMany && !slices.Equal(at, same) || at[len(at)-1] != same[len(same)-1] {
			judge.Refuse("erkle2015: %s: %d trials at %v, want %d at %v", name, len(batch), same, len(pa), at)
		}
		u := judge.Unit{Name: name}
		for i := range batch {
			u.Diffs = append(u.Diffs, of(pa[i], batch[i], at))
		}
		units = append(units, u)
	}
	return units
}

// testCurves returns the test errors of a method at its checkpoints, by trial.
func testCurves(t *table.Table, method, rule string) (curves [][]float64, at []int) {
	for trial, g := range t.Where("cell", method, "kind", curveRow, "rule", rule).Group("trial") {
		first := at
		if at = countsIn(g, "triplets"); curves != nil && !slices.Equal(at, first) {
			judge.Refuse("erkle2015: %s, %s: trial %s has checkpoints %v, others have %v", method, rule, trial, at, first)
		}
		curves = append(curves, testErrors(g))
	}
	return experiment.NotEmpty("curves of "+method+", "+rule, curves), at
}
