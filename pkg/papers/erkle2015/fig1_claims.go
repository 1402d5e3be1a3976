package erkle2015

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"metriclab/pkg/experiment"
	"metriclab/pkg/table"
)

// Margins of the claims, fixed before the first full run.
const (
	// "decays too rapidly to improve performance significantly": by less than a point.
	stalledMargin = 0.01
	// "vastly outperform": less than half of the error.
	vastly = 0.5
	// "by a large margin": the others' error is at least 1.5 times as large.
	largeTimes = 1.5
	// "outperformed slightly": the others' error is larger, and less than 1.5 times as large.
	slightTimes = 1.5
)

// "If only few passes through the data can be performed": up to five.
var fewPasses = []string{"1", "2", "5"}

const fiveOne = "Section 5.1, "

var fig1Claims = []experiment.Claim{
	{
		ID:        "fig1a-inverse-stalls",
		View:      "fig1a",
		Statement: "For a setting of 1/j, the learning rate decays too rapidly to improve performance significantly after j = 3000.",
		Where:     fiveOne + "Fig. 1a", Theirs: experiment.FigureOnly,
		Predicate: "The error after 3,000 triplets and that after all 10,000 differ by less than a point (the whole interval); with the losses of STE and of GNMDS.",
		Grade: func(t *table.Table) (experiment.Finding, error) {
			return readings([]string{steInverse, gnmdsInverse}, func(method string) (experiment.Finding, error) {
				d, err := differ(onlineAt(t, method, 0.3), onlineAt(t, method, 1))
				if err != nil {
					return experiment.Finding{}, err
				}
				return experiment.GradeEquivalent([]experiment.Unit{{Name: method, Diffs: d}}, experiment.EquivalenceRule{Margin: stalledMargin, Scale: 100, Unit: "points"})
			})
		},
	},
	{
		ID:        "fig1a-root-better",
		View:      "fig1a",
		Statement: "The learning rate 1/√j performs better [than 1/j].",
		Where:     fiveOne + "Fig. 1a", Theirs: experiment.FigureOnly,
		Predicate: "Error with 1/j − that with 1/√j > 0 after all triplets, paired; with the losses of STE and of GNMDS.",
		Grade: func(t *table.Table) (experiment.Finding, error) {
			return rootReadings(func(root, inverse string) (experiment.Finding, error) {
				return gradeDifference(onlineAt(t, inverse, 1), onlineAt(t, root, 1))
			})
		},
	},
	{
		ID:        "fig1a-root-levels-off",
		View:      "fig1a",
		Statement: "1/√j still levels off, quicker than the final two methods [constant STE-ERKLE and PA-ERKLE].",
		Where:     fiveOne + "Fig. 1a", Theirs: experiment.FigureOnly,
		Predicate: "From half of the triplets to all, the error of each of the two falls by a greater share of itself than that of 1/√j (difference of the shares > 0, paired); with the losses of STE and of GNMDS for 1/√j.",
		Grade: func(t *table.Table) (experiment.Finding, error) {
			return rootReadings(func(root, _ string) (experiment.Finding, error) {
				slow, err := falls(onlineAt(t, root, 0.5), onlineAt(t, root, 1))
				if err != nil {
					return experiment.Finding{}, err
				}
				var units []experiment.Unit
				for _, method := range []string{steERKLE, paERKLE} {
					fast, err := falls(onlineAt(t, method, 0.5), onlineAt(t, method, 1))
					if err != nil {
						return experiment.Finding{}, err
					}
					units = append(units, experiment.Unit{Name: method, Diffs: minus(fast, slow, 1)})
				}
				return experiment.GradeUnits(units, experiment.UnitRule{Scale: 100, Unit: "% of the error"})
			})
		},
	},
	{
		ID:        "fig1a-vastly",
		View:      "fig1a",
		Statement: "STE-ERKLE with a constant learning rate and PA-ERKLE vastly outperform the alternative learning rates based on number of observations.",
		Where:     fiveOne + "Fig. 1a", Theirs: experiment.FigureOnly,
		Predicate: "Half of the error with 1/j and with 1/√j − that of each of the two > 0 after all triplets, paired; with the losses of STE and of GNMDS for 1/j and 1/√j.",
		Grade: func(t *table.Table) (experiment.Finding, error) {
			return rootReadings(func(root, inverse string) (experiment.Finding, error) {
				var units []experiment.Unit
				for _, method := range []string{steERKLE, paERKLE} {
					for _, rival := range []string{inverse, root} {
						own, err := onlineAt(t, method, 1)()
						if err != nil {
							return experiment.Finding{}, err
						}
						theirs, err := onlineAt(t, rival, 1)()
						if err != nil {
							return experiment.Finding{}, err
						}
						half := minus(theirs, theirs, vastly)
						units = append(units, experiment.Unit{Name: method + " against " + rival, Diffs: minus(half, own, 1)})
					}
				}
				return experiment.GradeUnits(units, experiment.UnitRule{Scale: 100, Unit: "points below half"})
			})
		},
	},
	{
		ID:        "fig1b-one-pass",
		View:      "fig1b",
		Statement: "With a single pass over the data, both ERKLE methods outperformed all batch methods slightly.",
		Where:     fiveOne + "Fig. 1b", Theirs: experiment.FigureOnly,
		Predicate: "Error of each batch method − that of each ERKLE method with β = 1 > 0, and 1.5 times the latter − the former > 0 (slightly), after all triplets: the smaller of the two differences, paired. With one τ by validation, one best on test, τ by validation at each size, and up to 1000 iterations.",
		Grade: func(t *table.Table) (experiment.Finding, error) {
			return againstBatch(t, []string{paERKLE, steERKLE}, func(batch, online []float64) []float64 {
				out := minus(batch, online, 1)
				for i := range out {
					out[i] = min(out[i], slightTimes*online[i]-batch[i])
				}
				return out
			}, "points")
		},
	},
	{
		ID:        "fig1b-ten-passes",
		View:      "fig1b",
		Statement: "With ten passes over the data, the ERKLE methods outperformed the batch methods by a large margin.",
		Where:     fiveOne + "Fig. 1b", Theirs: experiment.FigureOnly,
		Predicate: "Error of each batch method − 1.5 times that of each ERKLE method with β = 10 > 0 after all triplets, paired; with one τ by validation, one best on test, τ by validation at each size, and up to 1000 iterations.",
		Grade: func(t *table.Table) (experiment.Finding, error) {
			return againstBatch(t, []string{paERKLETen, steERKLETen}, func(batch, online []float64) []float64 { return minus(batch, online, largeTimes) }, "points beyond 1.5 times")
		},
	},
	{
		ID:        "fig1b-levels-off",
		View:      "fig1b",
		Statement: "The batch methods level off more quickly than the ERKLE methods.",
		Where:     fiveOne + "Fig. 1b", Theirs: experiment.FigureOnly,
		Predicate: "From the third last size (4,329 triplets) to the last (10,000), the error of each ERKLE method, β = 1 and 10, falls by a greater share of itself than that of each batch method (difference of the shares > 0, paired); with one τ by validation, one best on test, τ by validation at each size, and up to 1000 iterations.",
		Grade: func(t *table.Table) (experiment.Finding, error) {
			sizes, err := batchSizesOf(t)
			if err != nil {
				return experiment.Finding{}, err
			}
			early := sizes[len(sizes)-3]
			return readings(batchReadings, func(reading string) (experiment.Finding, error) {
				var units []experiment.Unit
				for _, method := range erkles {
					fast, err := falls(errorAt(t, onlineCell, method, "", early), errorAt(t, onlineCell, method, "", lastSize(t)))
					if err != nil {
						return experiment.Finding{}, err
					}
					for _, b := range batches {
						slow, err := falls(errorAt(t, batchCell, b.name, reading, early), errorAt(t, batchCell, b.name, reading, lastSize(t)))
						if err != nil {
							return experiment.Finding{}, err
						}
						units = append(units, experiment.Unit{Name: method + " against " + b.name, Diffs: minus(fast, slow, 1)})
					}
				}
				return experiment.GradeUnits(units, experiment.UnitRule{Scale: 100, Unit: "% of the error"})
			})
		},
	},
	{
		ID:        "fig1c-few-passes",
		View:      "fig1c",
		Statement: "Clearly, if only few passes through the data can be performed, then ERKLE is the better choice.",
		Where:     fiveOne + "Fig. 1c", Theirs: experiment.FigureOnly,
		Predicate: "Error of the batch method after 1, 2 and 5 gradient steps − that of the ERKLE method of its loss after as many passes > 0, paired; with step sizes by validation and best on test, and for accelerated steps.",
		Grade: func(t *table.Table) (experiment.Finding, error) {
			c := t.Where("cell", passesCell)
			return readings([]string{byValidation, byTest, accelerated}, func(reading string) (experiment.Finding, error) {
				var units []experiment.Unit
				for _, pair := range fig1Pairs {
					for _, passes := range fewPasses {
						batch, err := perTrial(c, "method", pair.batch.name, "reading", reading, "passes", passes)
						if err != nil {
							return experiment.Finding{}, err
						}
						online, err := perTrial(c, "method", pair.online, "passes", passes)
						if err != nil {
							return experiment.Finding{}, err
						}
						units = append(units, experiment.Unit{Name: pair.online + " against " + pair.batch.name + ", " + passes, Diffs: minus(batch, online, 1)})
					}
				}
				return experiment.GradeUnits(units, experiment.UnitRule{Scale: 100, Unit: "points"})
			})
		},
	},
	{
		ID:        "fig1-gradient",
		View:      "fig1a",
		Statement: "Ours: the printed matrix G, though not the gradient of the loss, learns better than the true gradient.",
		Where:     "not in the paper (Eq. 4.10)", Theirs: "not in the paper",
		Predicate: "Error with the Frobenius gradient − that with G > 0 after all triplets, paired, for PA-ERKLE and STE-ERKLE.",
		Grade: func(t *table.Table) (experiment.Finding, error) {
			var units []experiment.Unit
			for _, pair := range [][2]string{{paFrobenius, paERKLE}, {steFrobenius, steERKLE}} {
				d, err := differ(onlineAt(t, pair[0], 1), onlineAt(t, pair[1], 1))
				if err != nil {
					return experiment.Finding{}, err
				}
				units = append(units, experiment.Unit{Name: pair[1], Diffs: d})
			}
			return experiment.GradeUnits(units, experiment.UnitRule{Scale: 100, Unit: "points"})
		},
	},
}

// perTrial returns the strict test errors of the rows with the given cells, which must be one per trial.
func perTrial(t *table.Table, nameValue ...string) ([]float64, error) {
	g := t.Where(nameValue...)
	if n := len(t.Unique("trial")); g.Len() != n || len(g.Unique("trial")) != n {
		return nil, fmt.Errorf("erkle2015: %q: %d rows for %d trials", nameValue, g.Len(), n)
	}
	return strictErrors(g, "test"), nil
}

// perTrialFunc returns a number per trial.
type perTrialFunc func() ([]float64, error)

// errorAt is the error after so many triplets.
func errorAt(t *table.Table, cell, method, reading string, size int) perTrialFunc {
	return func() ([]float64, error) {
		return perTrial(t, "cell", cell, "method", method, "reading", reading, "triplets", strconv.Itoa(size))
	}
}

// onlineAt is errorAt of an online method after a share of the training triplets.
func onlineAt(t *table.Table, method string, share float64) perTrialFunc {
	return errorAt(t, onlineCell, method, "", int(math.Round(share*float64(lastSize(t)))))
}

// lastSize is the number of training triplets.
func lastSize(t *table.Table) int {
	last := 0
	for _, s := range t.Unique("triplets") {
		if n, err := strconv.Atoi(s); err == nil {
			last = max(last, n)
		}
	}
	return last
}

// batchSizesOf are the sizes at which batch methods were fitted, ascending.
func batchSizesOf(t *table.Table) ([]int, error) {
	var out []int
	for _, s := range t.Where("cell", batchCell).Unique("triplets") {
		n, err := strconv.Atoi(s)
		if err != nil {
			return nil, fmt.Errorf("erkle2015: column triplets: %w", err)
		}
		out = append(out, n)
	}
	slices.Sort(out)
	if len(out) < 3 {
		return nil, fmt.Errorf("erkle2015: batch methods at %d sizes, want at least 3", len(out))
	}
	return out, nil
}

// minus returns a − times·b.
func minus(a, b []float64, times float64) []float64 {
	experiment.SameLength("trials of two methods", a, b)
	out := make([]float64, len(a))
	for i := range a {
		out[i] = a[i] - times*b[i]
	}
	return out
}

// differ returns a − b.
func differ(a, b perTrialFunc) ([]float64, error) {
	x, err := a()
	if err != nil {
		return nil, err
	}
	y, err := b()
	if err != nil {
		return nil, err
	}
	return minus(x, y, 1), nil
}

// falls returns the share of the early error by which the late one is smaller; 0 if there is no early error.
func falls(early, late perTrialFunc) ([]float64, error) {
	x, err := early()
	if err != nil {
		return nil, err
	}
	y, err := late()
	if err != nil {
		return nil, err
	}
	experiment.SameLength("trials early and late", x, y)
	out := make([]float64, len(x))
	for i := range x {
		if x[i] > 0 {
			out[i] = 1 - y[i]/x[i]
		}
	}
	return out, nil
}

// gradeDifference grades that a − b is positive.
func gradeDifference(a, b perTrialFunc) (experiment.Finding, error) {
	d, err := differ(a, b)
	if err != nil {
		return experiment.Finding{}, err
	}
	return experiment.GradeUnits([]experiment.Unit{{Name: "error", Diffs: d}}, experiment.UnitRule{Scale: 100, Unit: "points"})
}

// readings grades a claim under each reading.
func readings(names []string, grade func(name string) (experiment.Finding, error)) (experiment.Finding, error) {
	var out []experiment.Reading
	for _, name := range names {
		f, err := grade(name)
		if err != nil {
			return f, err
		}
		out = append(out, experiment.Reading{Name: name, Finding: f})
	}
	return experiment.AllReadings(out), nil
}

// rootReadings grades a claim about 1/√j and 1/j with each loss: the paper does not say which one they have.
func rootReadings(grade func(root, inverse string) (experiment.Finding, error)) (experiment.Finding, error) {
	inverse := map[string]string{steInverseSqrt: steInverse, gnmdsRoot: gnmdsInverse}
	return readings([]string{steInverseSqrt, gnmdsRoot}, func(root string) (experiment.Finding, error) { return grade(root, inverse[root]) })
}

// againstBatch grades a comparison of online methods with all batch methods after all triplets, for each reading.
func againstBatch(t *table.Table, online []string, compare func(batch, online []float64) []float64, unit string) (experiment.Finding, error) {
	last := lastSize(t)
	return readings(batchReadings, func(reading string) (experiment.Finding, error) {
		var units []experiment.Unit
		for _, method := range online {
			own, err := errorAt(t, onlineCell, method, "", last)()
			if err != nil {
				return experiment.Finding{}, err
			}
			for _, b := range batches {
				theirs, err := errorAt(t, batchCell, b.name, reading, last)()
				if err != nil {
					return experiment.Finding{}, err
				}
				units = append(units, experiment.Unit{Name: method + " against " + b.name, Diffs: compare(theirs, own)})
			}
		}
		return experiment.GradeUnits(units, experiment.UnitRule{Scale: 100, Unit: unit})
	})
}
