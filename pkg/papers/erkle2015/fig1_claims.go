package erkle2015

import (
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
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

var fig1Claims = experiment.Claims([]experiment.Claim{
	{
		ID:        "fig1a-inverse-stalls",
		View:      "fig1a",
		Statement: "For a setting of 1/j, the learning rate decays too rapidly to improve performance significantly after j = 3000.",
		Where:     fiveOne + "Fig. 1a", Theirs: experiment.FigureOnly,
		Predicate: "The error after 3,000 triplets and that after all 10,000 differ by less than a point (the whole interval); with the losses of STE and of GNMDS.",
		Test: func(t *table.Table) judge.Test {
			return judge.Under([]string{steInverse, gnmdsInverse}, func(method string) judge.Test {
				return judge.Equivalent{Units: []judge.Unit{judge.Paired(method, onlineAt(t, method, 0.3), onlineAt(t, method, 1))}, Margin: stalledMargin, Rule: points}
			})
		},
	},
	{
		ID:        "fig1a-root-better",
		View:      "fig1a",
		Statement: "The learning rate 1/√j performs better [than 1/j].",
		Where:     fiveOne + "Fig. 1a", Theirs: experiment.FigureOnly,
		Predicate: "Error with 1/j − that with 1/√j > 0 after all triplets, paired; with the losses of STE and of GNMDS.",
		Test: func(t *table.Table) judge.Test {
			return rootReadings(func(root, inverse string) judge.Test {
				return judge.Positive{Units: []judge.Unit{judge.Paired("error", onlineAt(t, inverse, 1), onlineAt(t, root, 1))}, Rule: points}
			})
		},
	},
	{
		ID:        "fig1a-root-levels-off",
		View:      "fig1a",
		Statement: "1/√j still levels off, quicker than the final two methods [constant STE-ERKLE and PA-ERKLE].",
		Where:     fiveOne + "Fig. 1a", Theirs: experiment.FigureOnly,
		Predicate: "From half of the triplets to all, the error of each of the two falls by a greater share of itself than that of 1/√j (difference of the shares > 0, paired); with the losses of STE and of GNMDS for 1/√j.",
		Test: func(t *table.Table) judge.Test {
			late := func(method string) []float64 { return falls(onlineAt(t, method, 0.5), onlineAt(t, method, 1)) }
			return rootReadings(func(root, _ string) judge.Test {
				var units []judge.Unit
				for _, method := range []string{steERKLE, paERKLE} {
					units = append(units, judge.Paired(method, late(method), late(root)))
				}
				return judge.Positive{Units: units, Rule: ofTheError}
			})
		},
	},
	{
		ID:        "fig1a-vastly",
		View:      "fig1a",
		Statement: "STE-ERKLE with a constant learning rate and PA-ERKLE vastly outperform the alternative learning rates based on number of observations.",
		Where:     fiveOne + "Fig. 1a", Theirs: experiment.FigureOnly,
		Predicate: "Half of the error with 1/j and with 1/√j − that of each of the two > 0 after all triplets, paired; with the losses of STE and of GNMDS for 1/j and 1/√j.",
		Test: func(t *table.Table) judge.Test {
			return rootReadings(func(root, inverse string) judge.Test {
				var units []judge.Unit
				for _, method := range []string{steERKLE, paERKLE} {
					for _, rival := range []string{inverse, root} {
						units = append(units, judge.Paired(method+" against "+rival, scaled(vastly, onlineAt(t, rival, 1)), onlineAt(t, method, 1)))
					}
				}
				return judge.Positive{Units: units, Rule: judge.Rule{Scale: 100, Unit: "points below half"}}
			})
		},
	},
	{
		ID:        "fig1b-one-pass",
		View:      "fig1b",
		Statement: "With a single pass over the data, both ERKLE methods outperformed all batch methods slightly.",
		Where:     fiveOne + "Fig. 1b", Theirs: experiment.FigureOnly,
		Predicate: "Error of each batch method − that of each ERKLE method with β = 1 > 0, and 1.5 times the latter − the former > 0 (slightly), after all triplets: the smaller of the two differences, paired. With one τ by validation, one best on test, τ by validation at each size, and up to 1000 iterations.",
		Test: func(t *table.Table) judge.Test {
			return againstBatch([]string{paERKLE, steERKLE}, points, lastErrors(t), func(batch, online []float64) []float64 {
				out := judge.Minus(batch, online)
				for i := range out {
					out[i] = min(out[i], slightTimes*online[i]-batch[i])
				}
				return out
			})
		},
	},
	{
		ID:        "fig1b-ten-passes",
		View:      "fig1b",
		Statement: "With ten passes over the data, the ERKLE methods outperformed the batch methods by a large margin.",
		Where:     fiveOne + "Fig. 1b", Theirs: experiment.FigureOnly,
		Predicate: "Error of each batch method − 1.5 times that of each ERKLE method with β = 10 > 0 after all triplets, paired; with one τ by validation, one best on test, τ by validation at each size, and up to 1000 iterations.",
		Test: func(t *table.Table) judge.Test {
			rule := judge.Rule{Scale: 100, Unit: "points beyond 1.5 times"}
			return againstBatch([]string{paERKLETen, steERKLETen}, rule, lastErrors(t), func(batch, online []float64) []float64 { return judge.Minus(batch, scaled(largeTimes, online)) })
		},
	},
	{
		ID:        "fig1b-levels-off",
		View:      "fig1b",
		Statement: "The batch methods level off more quickly than the ERKLE methods.",
		Where:     fiveOne + "Fig. 1b", Theirs: experiment.FigureOnly,
		Predicate: "From the third last size (4,329 triplets) to the last (10,000), the error of each ERKLE method, β = 1 and 10, falls by a greater share of itself than that of each batch method (difference of the shares > 0, paired); with one τ by validation, one best on test, τ by validation at each size, and up to 1000 iterations.",
		Test: func(t *table.Table) judge.Test {
			sizes := batchSizesOf(t)
			early, late := sizes[len(sizes)-3], lastSize(t)
			fall := func(cell, method, reading string) []float64 {
				return falls(errorAt(t, cell, method, reading, early), errorAt(t, cell, method, reading, late))
			}
			return againstBatch(erkles, ofTheError, fall, func(batch, online []float64) []float64 { return judge.Minus(online, batch) })
		},
	},
	{
		ID:        "fig1c-few-passes",
		View:      "fig1c",
		Statement: "Clearly, if only few passes through the data can be performed, then ERKLE is the better choice.",
		Where:     fiveOne + "Fig. 1c", Theirs: experiment.FigureOnly,
		Predicate: "Error of the batch method after 1, 2 and 5 gradient steps − that of the ERKLE method of its loss after as many passes > 0, paired; with step sizes by validation and best on test, and for accelerated steps.",
		Test: func(t *table.Table) judge.Test {
			c := t.Where("cell", passesCell)
			return judge.Under([]string{byValidation, byTest, accelerated}, func(reading string) judge.Test {
				var units []judge.Unit
				for _, pair := range fig1Pairs {
					for _, passes := range fewPasses {
						units = append(units, judge.Paired(pair.online+" against "+pair.batch.name+", "+passes,
							perTrial(c, "method", pair.batch.name, "reading", reading, "passes", passes), perTrial(c, "method", pair.online, "passes", passes)))
					}
				}
				return judge.Positive{Units: units, Rule: points}
			})
		},
	},
	{
		ID:        "fig1-gradient",
		View:      "fig1a",
		Statement: "Ours: the printed matrix G, though not the gradient of the loss, learns better than the true gradient.",
		Where:     "not in the paper (Eq. 4.10)", Theirs: "not in the paper",
		Predicate: "Error with the Frobenius gradient − that with G > 0 after all triplets, paired, for PA-ERKLE and STE-ERKLE.",
		Test: func(t *table.Table) judge.Test {
			return judge.Positive{Rule: points, Units: []judge.Unit{
				judge.Paired(paERKLE, onlineAt(t, paFrobenius, 1), onlineAt(t, paERKLE, 1)),
				judge.Paired(steERKLE, onlineAt(t, steFrobenius, 1), onlineAt(t, steERKLE, 1)),
			}}
		},
	},
})

// ofTheError are differences of shares of an error.
var ofTheError = judge.Rule{Scale: 100, Unit: "% of the error"}

// errorAt is the error after so many triplets, by trial.
func errorAt(t *table.Table, cell, method, reading string, size int) []float64 {
	return perTrial(t, "cell", cell, "method", method, "reading", reading, "triplets", strconv.Itoa(size))
}

// lastErrors is errorAt after all training triplets.
func lastErrors(t *table.Table) func(cell, method, reading string) []float64 {
	last := lastSize(t)
	return func(cell, method, reading string) []float64 { return errorAt(t, cell, method, reading, last) }
}

// onlineAt is errorAt of an online method after a share of the training triplets.
func onlineAt(t *table.Table, method string, share float64) []float64 {
	return errorAt(t, onlineCell, method, "", int(math.Round(share*float64(lastSize(t)))))
}

// lastSize is the number of training triplets.
func lastSize(t *table.Table) int { return slices.Max(append(countsIn(t, "triplets"), 0)) }

// atLast is a measure of the rows after all training triplets.
func atLast(m frame.Measure) frame.Measure {
	return func(t *table.Table) []float64 { return m.Where("triplets", strconv.Itoa(lastSize(t)))(t) }
}

// batchSizesOf are the sizes at which batch methods were fitted, ascending.
func batchSizesOf(t *table.Table) []int {
	out := countsIn(t.Where("cell", batchCell), "triplets")
	slices.Sort(out)
	if out = slices.Compact(out); len(out) < 3 {
		judge.Refuse("erkle2015: batch methods at %d sizes, want at least 3", len(out))
	}
	return out
}

// scaled multiplies each number.
func scaled(by float64, v []float64) []float64 { return floats.ScaleTo(make([]float64, len(v)), by, v) }

// falls returns the share of the early error by which the late one is smaller; 0 if there is no early error.
func falls(early, late []float64) []float64 {
	judge.SameLength("trials early and late", early, late)
	out := make([]float64, len(early))
	for i := range early {
		if early[i] > 0 {
			out[i] = 1 - late[i]/early[i]
		}
	}
	return out
}

// rootReadings tests a claim about 1/√j and 1/j with each loss: the paper does not say which one they have.
func rootReadings(test func(root, inverse string) judge.Test) judge.Test {
	return judge.Each([][2]string{{steInverseSqrt, steInverse}, {gnmdsRoot, gnmdsInverse}}, func(pair [2]string) (string, judge.Test) {
		return pair[0], test(pair[0], pair[1])
	})
}

// againstBatch tests a comparison of online methods with all batch methods by a number of each, for each reading.
func againstBatch(online []string, rule judge.Rule, of func(cell, method, reading string) []float64, compare func(batch, online []float64) []float64) judge.Test {
	return judge.Under(batchReadings, func(reading string) judge.Test {
		var units []judge.Unit
		for _, method := range online {
			for _, b := range batches {
				units = append(units, judge.Unit{Name: method + " against " + b.name, Diffs: compare(of(batchCell, b.name, reading), of(onlineCell, method, ""))})
			}
		}
		return judge.Positive{Units: units, Rule: rule}
	})
}
