package erkle2015

import (
	"fmt"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"

	"metriclab/pkg/experiment"
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

var fig2ErrorsClaims = []experiment.Claim{
	{
		ID: "fig2-initially", View: "fig2b",
		Statement: "Initially, the batch methods perform better (than PA-ERKLE).",
		Where:     fiveTwo + "b", Theirs: experiment.FigureOnly,
		Predicate: "Test error of PA-ERKLE − that of GNMDS with one and with two steps, mean over the checkpoints before 250 triplets, > 0, paired, for both." + atATenth,
		Grade: func(t *table.Table) (experiment.Finding, error) {
			return errorsReadings(t, func(pa, batch []float64, at []int) float64 {
				return meanWhere(at, func(to int) bool { return to < crossing }, pa, batch)
			}, gradePositive)
		},
	},
	{
		ID: "fig2-outperforms", View: "fig2b",
		Statement: "Around 2500 triplets, PA-ERKLE outperforms the batch methods.",
		Where:     fiveTwo + "b", Theirs: experiment.FigureOnly,
		Predicate: "Test error of GNMDS with one and with two steps − that of PA-ERKLE, mean over the checkpoints after 250 triplets, > 0, paired, for both." + atATenth,
		Grade: func(t *table.Table) (experiment.Finding, error) {
			return errorsReadings(t, func(pa, batch []float64, at []int) float64 {
				return meanWhere(at, func(to int) bool { return to > crossing }, batch, pa)
			}, gradePositive)
		},
	},
	{
		ID: "fig2-crossing", View: "fig2b",
		Statement: "The curves cross around 2500 triplets.",
		Where:     fiveTwo + "b", Theirs: "around 2500 triplets",
		Predicate: "The number of triplets up to which GNMDS is not worse, which is 50 times the number of checkpoints where that is so if the curves cross once, mean over one and two steps, is 250 within 100." + atATenth,
		Grade: func(t *table.Table) (experiment.Finding, error) {
			return errorsReadings(t, func(pa, batch []float64, at []int) float64 {
				n := 0
				for i := range at {
					if batch[i] <= pa[i] {
						n++
					}
				}
				return float64(n * at[0])
			}, func(units []experiment.Unit) (experiment.Finding, error) {
				mean := slices.Clone(experiment.NotEmpty("units", units)[0].Diffs)
				for _, u := range units[1:] {
					experiment.SameLength(u.Name, mean, u.Diffs)
					floats.Add(mean, u.Diffs)
				}
				floats.Scale(1/float64(len(units)), mean)
				return experiment.GradeNumber(crossing, mean, crossingTolerance)
			})
		},
	},
	{
		ID: "fig2-competitive", View: "fig2b",
		Statement: "PA-ERKLE can achieve competitive results with batch methods in a single pass over the data.",
		Where:     fiveTwo + "b", Theirs: experiment.FigureOnly,
		Predicate: "Final test error of GNMDS + 2 points − that of PA-ERKLE > 0, paired, for one step and two steps per mini-batch, and 100 accelerated iterations on all." + atATenth,
		Grade: func(t *table.Table) (experiment.Finding, error) {
			return errorsReadingsOf(t, true, func(pa, batch []float64, _ []int) float64 {
				return batch[len(batch)-1] + competitive - pa[len(pa)-1]
			}, gradePositive)
		},
	},
}

func gradePositive(units []experiment.Unit) (experiment.Finding, error) {
	return experiment.GradeUnits(units, experiment.UnitRule{Scale: 100, Unit: "points"})
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

// errorsReadings grades a number per trial, made of the curves of PA-ERKLE and of GNMDS, for each reading.
func errorsReadings(t *table.Table, of func(pa, batch []float64, at []int) float64, grade func([]experiment.Unit) (experiment.Finding, error)) (experiment.Finding, error) {
	return errorsReadingsOf(t, false, of, grade)
}

// errorsReadingsOf is errorsReadings, with 100 iterations, which have fewer checkpoints, among the units if many is true.
func errorsReadingsOf(t *table.Table, many bool, of func(pa, batch []float64, at []int) float64, grade func([]experiment.Unit) (experiment.Finding, error)) (experiment.Finding, error) {
	pa, at, err := testCurves(t, paERKLE, noSettings)
	if err != nil {
		return experiment.Finding{}, err
	}
	var readings []experiment.Reading
	for _, afresh := range []bool{false, true} {
		for _, rule := range []string{chosenValid, chosenTest} {
			var units []experiment.Unit
			add := func(name string) error {
				batch, same, err := testCurves(t, name, rule)
				if err != nil {
					return err
				}
				if len(batch) != len(pa) || name != gnmdsMany && !slices.Equal(at, same) || at[len(at)-1] != same[len(same)-1] {
					return fmt.Errorf("erkle2015: %s: %d trials at %v, want %d at %v", name, len(batch), same, len(pa), at)
				}
				u := experiment.Unit{Name: name}
				for i := range batch {
					u.Diffs = append(u.Diffs, of(pa[i], batch[i], at))
				}
				units = append(units, u)
				return nil
			}
			for _, m := range stepMethods {
				if m.afresh == afresh {
					if err := add(m.name); err != nil {
						return experiment.Finding{}, err
					}
				}
			}
			if many {
				if err := add(gnmdsMany); err != nil {
					return experiment.Finding{}, err
				}
			}
			f, err := grade(units)
			if err != nil {
				return f, err
			}
			start := "going on"
			if afresh {
				start = "from I"
			}
			readings = append(readings, experiment.Reading{Name: start + ", " + rule, Finding: f})
		}
	}
	return experiment.AllReadings(readings), nil
}

// testCurves returns the test errors of a method at its checkpoints, by trial.
func testCurves(t *table.Table, method, rule string) (curves [][]float64, at []int, err error) {
	for trial, g := range t.Where("cell", method, "kind", "curve", "rule", rule).Group("trial") {
		first := at
		at = nil
		for _, v := range g.Index("triplets") {
			to, err := strconv.Atoi(v)
			if err != nil {
				return nil, nil, fmt.Errorf("erkle2015: column triplets: %w", err)
			}
			at = append(at, to)
		}
		if curves != nil && !slices.Equal(at, first) {
			return nil, nil, fmt.Errorf("erkle2015: %s, %s: trial %s has checkpoints %v, others have %v", method, rule, trial, at, first)
		}
		curves = append(curves, strictErrors(g, "test"))
	}
	if len(curves) == 0 {
		return nil, nil, fmt.Errorf("erkle2015: no curve of %s, %s", method, rule)
	}
	return curves, at, nil
}
