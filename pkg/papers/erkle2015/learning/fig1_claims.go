// Package learning has the experiments on the errors of one pass and of several: Figs. 1 and 2(b).
package learning

import (
	"math"
	"slices"
	"strconv"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/papers/erkle2015/protocol"
	"metriclab/pkg/table"
)

// The cells of Fig. 1. They see the same split in a trial.
const (
	onlineCell = "online" // ERKLE against triplets seen
	batchCell  = "batch"  // batch methods against triplets seen
	passesCell = "passes" // both against passes over all triplets
)

// The readings of the batch methods beside protocol.ByValidation and protocol.ByTest.
const (
	atEachSize    = "τ by validation at each size"
	ToConvergence = "τ by validation, up to 1000 iterations"
	accelerated   = "accelerated"
)

// BatchNames are the batch methods in their order.
var BatchNames = []string{protocol.GNMDSBatch, protocol.STEBatch, protocol.CKLBatch}

// batchReadings are the readings of the batch methods of Fig. 1b.
var batchReadings = []string{protocol.ByValidation, protocol.ByTest, atEachSize, ToConvergence}

// Fig1Pairs are the online methods of Fig. 1c, each with the batch method of its loss.
var Fig1Pairs = []struct {
	Online string
	Batch  protocol.BatchMethod
}{{protocol.PAERKLE, protocol.Batches[0]}, {protocol.STEERKLE, protocol.Batches[1]}}

// fig1Afterwards are claims on the published errors of Fig. 1b.
var fig1Afterwards = experiment.Claims([]experiment.Claim{
	{
		ID:         "fig1b-further",
		View:       "fig1b",
		Afterwards: "the errors of Fig. 1b",
		Statement:  "If more triplets were obtained, the ERKLE methods would further outperform even the batch methods.",
		Where:      FiveOne + "Fig. 1b", Theirs: experiment.FigureOnly,
		Predicate: "From the third last size (4,329 triplets) to the last (10,000), the error of each batch method minus that of each ERKLE method, β = 1 and 10, grows in points (growth > 0, paired). The trend stands for the sizes beyond 10,000, which were not run. With one τ by validation, one best on test, τ by validation at each size, and up to 1000 iterations.",
		Test: againstBatch(protocol.ERKLEs, protocol.Points, func(cell, method, reading string) frame.Measure {
			return errorAt(cell, method, reading, earlySize).Minus(lastError(cell, method, reading))
		}, moreOnline),
	},
	{
		ID:         "fig1b-passes",
		View:       "fig1b",
		Afterwards: "the errors of Fig. 1b",
		Statement:  "Stochastic methods perform best when multiple passes are performed on the observed samples; ERKLE may benefit from revisiting triplets.",
		Where:      "Section 4.3, of β; Fig. 1b", Theirs: experiment.FigureOnly,
		Predicate: "Error with β = 1 − that with β = 10 > 0 after all triplets, paired, of PA-ERKLE and of STE-ERKLE.",
		Test: frame.Positive(protocol.Points, frame.Over([][2]string{{protocol.PAERKLE, protocol.PAERKLETen}, {protocol.STEERKLE, protocol.STEERKLETen}}, func(passes [2]string) (string, frame.Measure) {
			return passes[0], onlineAt(passes[0], 1).Minus(onlineAt(passes[1], 1))
		})),
	},
})

// Margins of the claims, fixed before the first full run.
const (
	// "decays too rapidly to improve performance significantly": by less than a percentage point.
	stalledMargin = 0.01
	// "vastly outperform": less than half of the error.
	vastly = 0.5
	// "by a large margin": the others' error is at least 1.5 times as large.
	largeTimes = 1.5
	// "outperformed slightly": the others' error is larger, and less than 1.5 times as large.
	slightTimes = 1.5
)

// "If only few passes through the data can be performed": up to five.
var FewPasses = []string{"1", "2", "5"}

const FiveOne = "Section 5.1, "

var Fig1Claims = experiment.Claims([]experiment.Claim{
	{
		ID:        "fig1a-inverse-stalls",
		View:      "fig1a",
		Statement: "For a setting of 1/j, the learning rate decays too rapidly to improve performance significantly after j = 3000.",
		Where:     FiveOne + "Fig. 1a", Theirs: experiment.FigureOnly,
		Predicate: "The error after 3,000 triplets and that after all 10,000 differ by less than a point (the whole interval); with the losses of STE and of GNMDS.",
		Test: frame.UnderNames([]string{protocol.STEInverse, protocol.GNMDSInverse}, func(method string) frame.Test {
			return frame.Equivalent(stalledMargin, 1, protocol.Points, frame.Unit(method, onlineAt(method, 0.3).Minus(onlineAt(method, 1))))
		}),
	},
	{
		ID:        "fig1a-root-better",
		View:      "fig1a",
		Statement: "The learning rate 1/√j performs better [than 1/j].",
		Where:     FiveOne + "Fig. 1a", Theirs: experiment.FigureOnly,
		Predicate: "Error with 1/j − that with 1/√j > 0 after all triplets, paired; with the losses of STE and of GNMDS.",
		Test: rootReadings(func(root, inverse string) frame.Test {
			return frame.Positive(protocol.Points, frame.Unit("error", onlineAt(inverse, 1).Minus(onlineAt(root, 1))))
		}),
	},
	{
		ID:        "fig1a-root-levels-off",
		View:      "fig1a",
		Statement: "1/√j still levels off, quicker than the final two methods [constant STE-ERKLE and PA-ERKLE].",
		Where:     FiveOne + "Fig. 1a", Theirs: experiment.FigureOnly,
		Predicate: "From half of the triplets to all, the error of each of the two falls by a greater share of itself than that of 1/√j (difference of the shares > 0, paired); with the losses of STE and of GNMDS for 1/√j.",
		Test: rootReadings(func(root, _ string) frame.Test {
			late := func(method string) frame.Measure { return fall(onlineAt(method, 0.5), onlineAt(method, 1)) }
			return frame.Positive(OfTheError, frame.Over([]string{protocol.STEERKLE, protocol.PAERKLE}, func(method string) (string, frame.Measure) {
				return method, late(method).Minus(late(root))
			}))
		}),
	},
	{
		ID:        "fig1a-vastly",
		View:      "fig1a",
		Statement: "STE-ERKLE with a constant learning rate and PA-ERKLE vastly outperform the alternative learning rates based on number of observations.",
		Where:     FiveOne + "Fig. 1a", Theirs: experiment.FigureOnly,
		Predicate: "Half of the error with 1/j and with 1/√j − that of each of the two > 0 after all triplets, paired; with the losses of STE and of GNMDS for 1/j and 1/√j.",
		Test: rootReadings(func(root, inverse string) frame.Test {
			return frame.Margin(judge.Margin{What: "the factor", Value: vastly, From: 0, To: 1}, func(factor float64) frame.Test {
				return frame.Positive(judge.Rule{Scale: 100, Unit: "points below half"}, Against([]string{protocol.STEERKLE, protocol.PAERKLE}, []string{inverse, root}, func(method, rival string) frame.Measure {
					return onlineAt(rival, 1).Times(factor).Minus(onlineAt(method, 1))
				}))
			})
		}),
	},
	{
		ID:        "fig1b-one-pass",
		Sentence:  "released-one-pass",
		View:      "fig1b",
		Statement: "With a single pass over the data, both ERKLE methods outperformed all batch methods slightly.",
		Where:     FiveOne + "Fig. 1b", Theirs: experiment.FigureOnly,
		Predicate: "Error of each batch method − that of each ERKLE method with β = 1 > 0, and 1.5 times the latter − the former > 0 (slightly), after all triplets: the smaller of the two differences, paired. With one τ by validation, one best on test, τ by validation at each size, and up to 1000 iterations.",
		Test:      againstBatch([]string{protocol.PAERKLE, protocol.STEERKLE}, protocol.Points, lastError, Slightly),
	},
	{
		ID:        "fig1b-ten-passes",
		Sentence:  "released-ten-passes",
		View:      "fig1b",
		Statement: "With ten passes over the data, the ERKLE methods outperformed the batch methods by a large margin.",
		Where:     FiveOne + "Fig. 1b", Theirs: experiment.FigureOnly,
		Predicate: "Error of each batch method − 1.5 times that of each ERKLE method with β = 10 > 0 after all triplets, paired; with one τ by validation, one best on test, τ by validation at each size, and up to 1000 iterations.",
		Test:      againstBatch([]string{protocol.PAERKLETen, protocol.STEERKLETen}, Beyond, lastError, ByMuch),
	},
	{
		ID:        "fig1b-levels-off",
		Sentence:  "released-levels-off",
		View:      "fig1b",
		Statement: "The batch methods level off more quickly than the ERKLE methods.",
		Where:     FiveOne + "Fig. 1b", Theirs: experiment.FigureOnly,
		Predicate: "From the third last size (4,329 triplets) to the last (10,000), the error of each ERKLE method, β = 1 and 10, falls by a greater share of itself than that of each batch method (difference of the shares > 0, paired); with one τ by validation, one best on test, τ by validation at each size, and up to 1000 iterations.",
		Test: againstBatch(protocol.ERKLEs, OfTheError, func(cell, method, reading string) frame.Measure {
			return fall(errorAt(cell, method, reading, earlySize), lastError(cell, method, reading))
		}, moreOnline),
	},
	{
		ID:        "fig1c-few-passes",
		Sentence:  "released-few-passes",
		View:      "fig1c",
		Statement: "Clearly, if only few passes through the data can be performed, then ERKLE is the better choice.",
		Where:     FiveOne + "Fig. 1c", Theirs: experiment.FigureOnly,
		Predicate: "Error of the batch method after 1, 2 and 5 gradient steps − that of the ERKLE method of its loss after as many passes > 0, paired; with step sizes by validation and best on test, and for accelerated steps.",
		Test: frame.UnderNames([]string{protocol.ByValidation, protocol.ByTest, accelerated}, func(reading string) frame.Test {
			var units []frame.Units
			for _, pair := range Fig1Pairs {
				units = append(units, frame.Over(FewPasses, func(passes string) (string, frame.Measure) {
					batch := protocol.TestErrors.PerTrial("method", pair.Batch.Name, "reading", reading, "passes", passes)
					return pair.Online + " against " + pair.Batch.Name + ", " + passes, batch.Minus(protocol.TestErrors.PerTrial("method", pair.Online, "passes", passes))
				}))
			}
			return frame.Positive(protocol.Points, frame.Together(units...)).Where("cell", passesCell)
		}).Headline(protocol.ByTest, frame.AsPrinted),
	},
	{
		ID:        "fig1-gradient",
		Ours:      true,
		View:      "fig1a",
		Statement: "Ours: the printed matrix G, though not the gradient of the loss, learns better than the true gradient.",
		Where:     "not in the paper (Eq. 4.10)", Theirs: "not in the paper",
		Predicate: "Error with the Frobenius gradient − that with G > 0 after all triplets, paired, for PA-ERKLE and STE-ERKLE.",
		Test: frame.Positive(protocol.Points, frame.Over([][2]string{{protocol.PAERKLE, protocol.PAFrobenius}, {protocol.STEERKLE, protocol.STEFrobenius}}, func(pair [2]string) (string, frame.Measure) {
			return pair[0], onlineAt(pair[1], 1).Minus(onlineAt(pair[0], 1))
		})),
	},
})

// OfTheError are differences of shares of an error.
var OfTheError = judge.Rule{Scale: 100, Unit: "% of the error"}

// errorAt is the error after a number of triplets, by trial.
func errorAt(cell, method, reading string, size tripletCount) frame.Measure {
	return func(t *table.Table) []float64 {
		return protocol.TestErrors.PerTrial("cell", cell, "method", method, "reading", reading, "triplets", strconv.Itoa(size(t)))(t)
	}
}

// lastError is errorAt after all training triplets.
func lastError(cell, method, reading string) frame.Measure {
	return errorAt(cell, method, reading, LastSize)
}

// onlineAt is errorAt of an online method after a share of the training triplets.
func onlineAt(method string, share float64) frame.Measure {
	return errorAt(onlineCell, method, "", func(t *table.Table) int { return int(math.Round(share * float64(LastSize(t)))) })
}

// tripletCount is a number of triplets that a table has.
type tripletCount func(t *table.Table) int

// LastSize is the number of training triplets.
func LastSize(t *table.Table) int { return slices.Max(append(protocol.CountsIn(t, "triplets"), 0)) }

// AtLast is a measure of the rows after all training triplets.
func AtLast(m frame.Measure) frame.Measure {
	return func(t *table.Table) []float64 { return m.Where("triplets", strconv.Itoa(LastSize(t)))(t) }
}

// earlySize is the third last size at which batch methods were fitted.
func earlySize(t *table.Table) int {
	sizes := protocol.CountsIn(t.Where("cell", batchCell), "triplets")
	slices.Sort(sizes)
	if sizes = slices.Compact(sizes); len(sizes) < 3 {
		judge.Refuse("erkle2015: batch methods at %d sizes, want at least 3", len(sizes))
	}
	return sizes[len(sizes)-3]
}

// fall is the share of the early error by which the late one is smaller; 0 if there is no early error.
func fall(early, late frame.Measure) frame.Measure {
	return late.Over(early).Map(func(left float64) float64 {
		if math.IsNaN(left) || math.IsInf(left, 0) {
			return 0
		}
		return 1 - left
	})
}

// rootReadings tests a claim about 1/√j and 1/j with each loss: the paper does not say which one they have.
func rootReadings(test func(root, inverse string) frame.Test) frame.Test {
	return frame.Under([][2]string{{protocol.STEInverseSqrt, protocol.STEInverse}, {protocol.GNMDSRoot, protocol.GNMDSInverse}}, func(pair [2]string) (string, frame.Test) {
		return pair[0], test(pair[0], pair[1])
	})
}

// againstBatch tests online methods against all batch methods by a number of each, for each reading.
func againstBatch(online []string, rule judge.Rule, of func(cell, method, reading string) frame.Measure, compare func(batch, online frame.Measure) frame.Measure) frame.Test {
	return frame.UnderNames(batchReadings, func(reading string) frame.Test {
		return frame.Positive(rule, Against(online, BatchNames, func(method, b string) frame.Measure {
			return compare(of(batchCell, b, reading), of(onlineCell, method, ""))
		}))
	}).Headline(protocol.ByTest, frame.AsPrinted)
}

// Against is a unit for each of some methods against each rival.
func Against(methods, rivals []string, compare func(method, rival string) frame.Measure) frame.Units {
	return frame.Over(protocol.Pairs(methods, rivals), func(p [2]string) (string, frame.Measure) { return p[0] + " against " + p[1], compare(p[0], p[1]) })
}

// Slightly is the smaller of two differences: batch − online, and 1.5·online − batch.
func Slightly(batch, online frame.Measure) frame.Measure {
	return func(t *table.Table) []float64 {
		out := judge.Minus(batch(t), online(t))
		for i, d := range online.Times(slightTimes).Minus(batch)(t) {
			out[i] = min(out[i], d)
		}
		return out
	}
}

// ByMuch is batch − 1.5·online, and Beyond its rule.
func ByMuch(batch, online frame.Measure) frame.Measure { return batch.Minus(online.Times(largeTimes)) }

var Beyond = judge.Rule{Scale: 100, Unit: "points beyond 1.5 times"}

// moreOnline compares what should be more of online methods.
func moreOnline(batch, online frame.Measure) frame.Measure { return online.Minus(batch) }
