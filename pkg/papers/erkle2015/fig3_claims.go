package erkle2015

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/table"
)

// Margins of the qualitative claims, fixed before the first full run. Errors are shares.
const (
	// "considerably worse", "does not fit a large number": by 2 points.
	considerable = 0.02
	// "as well as", "comparable": 1 point.
	asWell = 0.01
	// "often": in more than half of the sizes.
	often = 0.5
	// "low-rank": less than half of the objects.
	lowRank = 0.5
)

// section53 is where the claims of Fig. 3 stand.
const section53 = "Section 5.3"

// cleanedNote says what the data are.
const cleanedNote = " The data are the public release of the survey: 9,090 answers, none of which contradicts another directly, of the paper's 16,385."

// readingsNote lists judgedReadings.
const readingsNote = " Readings: at the end of the training triplets or the mean over the 12 sizes, τ by validation over all sizes, by validation at the end or best on test, a tie an error or half of one, the batch methods stopped after 100 iterations or run on to 1,000 at the end."

// fig3Results are the results of Fig. 3; its data set has that name also at smoke scale.
func fig3Results(t *table.Table) judgedResults { return judgedResults{music, t} }

// rule is that of differences between errors, in points, or of shares of something else.
func (r judgedResults) rule(unit string) judge.Rule {
	return judge.Rule{Scale: 100, Unit: unit, TestRatio: r.testRatio()}
}

// byReading tests under each of judgedReadings that the better of each pair of methods has a smaller error on a part,
// by a margin.
func byReading(part string, margin float64, pairs ...[2]string) func(t *table.Table) judge.Test {
	return readingsOf(func(r judgedResults, rd judgedReading, sizes []string) []judge.Unit {
		return r.less(part, rd, sizes, margin, pairs...)
	})
}

// readingsOf tests units under each of judgedReadings, which says at which sizes.
func readingsOf(units func(r judgedResults, rd judgedReading, sizes []string) []judge.Unit) func(t *table.Table) judge.Test {
	return func(t *table.Table) judge.Test {
		r := fig3Results(t)
		return judge.Each(judgedReadings, func(rd judgedReading) (string, judge.Test) {
			sizes := r.sizes()
			if !rd.over {
				sizes = sizes[len(sizes)-1:]
			}
			return rd.name, judge.Positive{Units: units(r, rd, sizes), Rule: r.rule("points")}
		})
	}
}

// others are the methods with which an online method of as many passes is compared: the batch methods and
// the other online one.
func others(online string) []string {
	rival := map[string]string{steERKLE: paERKLE, steERKLETen: paERKLETen, paERKLE: steERKLE, paERKLETen: steERKLETen}[online]
	return append([]string{rival}, batchNames...)
}

// against pairs a method, which is to be better, with each of others.
func against(method string, others []string) (out [][2]string) {
	for _, o := range others {
		out = append(out, [2]string{method, o})
	}
	return out
}

// steAgainstOthers pairs every other method with STE-ERKLE of as many passes.
func steAgainstOthers() (out [][2]string) {
	for _, ste := range []string{steERKLE, steERKLETen} {
		for _, o := range others(ste) {
			out = append(out, [2]string{o, ste})
		}
	}
	return out
}

var fig3Claims = experiment.Claims([]experiment.Claim{
	{
		ID: "fig3-ste-worse", View: "fig3a",
		Statement: "STE-ERKLE performs considerably worse than the other methods (on the test set).",
		Where:     section53 + ", Fig. 3a", Theirs: experiment.FigureOnly,
		Predicate: "The test error of STE-ERKLE (δ = 1) minus that of PA-ERKLE and of each batch method is more than 2 points, with one and with ten passes." + readingsNote + cleanedNote,
		Test:      byReading("test", -considerable, steAgainstOthers()...),
	},
	{
		ID: "fig3-as-well", View: "fig3a",
		Statement: "PA-ERKLE performs as well as the batch methods.",
		Where:     section53 + ", Fig. 3a", Theirs: experiment.FigureOnly,
		Predicate: "The test error of PA-ERKLE with one pass is less than that of each batch method plus 1 point." + readingsNote + cleanedNote,
		Test:      byReading("test", asWell, against(paERKLE, batchNames)...),
	},
	{
		ID: "fig3-often-better", View: "fig3a",
		Statement: "PA-ERKLE performs often better (than the batch methods) when multiple passes are taken.",
		Where:     section53 + ", Fig. 3a", Theirs: experiment.FigureOnly,
		Predicate: "Per batch method, PA-ERKLE with ten passes has the smaller test error at more than half of the 12 sizes (the share of sizes minus ½ is > 0; equal errors count half). Readings: τ by validation over all sizes, by validation at the end or best on test, a tie an error or half of one." + cleanedNote,
		Test:      testOften,
	},
	{
		ID: "fig3-no-trace", View: "fig3a",
		Statement: "Our method outperforms batch methods that use trace regularization.",
		Where:     section53 + ", Fig. 3c", Theirs: experiment.FigureOnly,
		Predicate: "The test error of PA-ERKLE, with one and with ten passes, is less than that of each batch method." + readingsNote + cleanedNote,
		Test:      byReading("test", 0, slices.Concat(against(paERKLE, batchNames), against(paERKLETen, batchNames))...),
	},
	{
		ID: "fig3-train-ste", View: "fig3b",
		Title:     "STE-ERKLE is greatly affected by conflicts: its kernel does not fit a large number of the observed triplets.",
		Statement: "The STE-ERKLE models are greatly affected by the presence of conflicts in that they do not learn a kernel that fits to a large number of the observed triplets.",
		Where:     section53 + ", Fig. 3b", Theirs: experiment.FigureOnly,
		Predicate: "The error of STE-ERKLE (δ = 1) on the triplets seen so far minus that of PA-ERKLE and of each batch method is more than 2 points, with one and with ten passes." + readingsNote + cleanedNote,
		Test:      byReading("train", -considerable, steAgainstOthers()...),
	},
	{
		ID: "fig3-train-pa", View: "fig3b",
		Title:     "PA-ERKLE fits the observed triplets better, and thus has better test accuracy, too.",
		Statement: "PA-ERKLE, on the other hand, is able to fit better to the set of observed triplets, thus resulting in better test accuracy as well.",
		Where:     section53 + ", Fig. 3b", Theirs: experiment.FigureOnly,
		Predicate: "Both the error on the triplets seen so far and the test error of PA-ERKLE are less than those of STE-ERKLE (δ = 1), with one and with ten passes (four units)." + readingsNote + cleanedNote,
		Test: readingsOf(func(r judgedResults, rd judgedReading, sizes []string) []judge.Unit {
			var out []judge.Unit
			for _, part := range []string{"train", "test"} {
				for _, u := range r.less(part, rd, sizes, 0, [2]string{paERKLE, steERKLE}, [2]string{paERKLETen, steERKLETen}) {
					out = append(out, judge.Unit{Name: u.Name + ", " + part, Diffs: u.Diffs})
				}
			}
			return out
		}),
	},
	{
		ID: "fig3-drastic", View: "fig3-conflicts",
		Title:     "A conflicting triplet makes STE-ERKLE perform a relatively more drastic update; PA-ERKLE is much more robust to noise.",
		Statement: "Triplets that are in agreement with previously obtained triplets do not influence the learned kernel greatly (in STE-ERKLE). However, a conflicting triplet will make STE-ERKLE perform a relatively more drastic update; PA-ERKLE is much more robust to noise due to the minimal step size.",
		Where:     section53, Theirs: "no number",
		Predicate: "In one pass, the mean length of a step on a triplet that contradicts a chain of earlier ones, divided by that on one that such a chain implies, is larger for STE-ERKLE (δ = 1) than for PA-ERKLE (base-2 logarithm of the quotient of the quotients > 0; both quotients in the reason). Lengths are γ, so that a step lowers D by 10γ." + cleanedNote,
		Test:      testDrastic,
	},
	{
		ID: "fig3-low-rank", View: "fig3c",
		Statement: "The batch methods generally produce low-rank kernels under a small number of triplets.",
		Where:     section53 + ", Fig. 3c", Theirs: experiment.FigureOnly,
		Predicate: "Per batch method, the rank at the smallest size (100 triplets) is less than half of the number of objects. Readings: eigenvalues above 10⁻³ or 10⁻⁶ of the largest, τ by validation, best on test, or by validation with the fits run on to 1,000 iterations." + cleanedNote,
		Test: byRank(func(first, _ []float64) []float64 {
			out := slices.Clone(first)
			for i := range out {
				out[i] = lowRank - out[i]/musicObjects
			}
			return out
		}),
	},
	{
		ID: "fig3-rank", View: "fig3c",
		Statement: "As the number of triplets are observed, the rank (of the kernels of the batch methods) increases.",
		Where:     section53 + ", Fig. 3c", Theirs: experiment.FigureOnly,
		Predicate: "Per batch method, the rank at all training triplets minus that at the smallest size (100 triplets) is > 0, as a share of the number of objects. Readings: eigenvalues above 10⁻³ or 10⁻⁶ of the largest, τ by validation, best on test, or by validation with the fits run on to 1,000 iterations." + cleanedNote,
		Test: byRank(func(first, last []float64) []float64 {
			out := judge.Minus(last, first)
			for i := range out {
				out[i] /= musicObjects
			}
			return out
		}),
	},
	{
		ID: "fig3-step", View: "fig3-settings",
		Statement: "Ours: with δ chosen on validation triplets STE-ERKLE performs as well as PA-ERKLE.",
		Where:     section53 + ", Fig. 3a", Theirs: "no number",
		Predicate: "At the end, the test error of STE-ERKLE with the δ of {0.03, 0.1, 0.3, 1} that has the least validation error after one pass is less than that of PA-ERKLE plus 1 point, with one and with ten passes." + cleanedNote,
		Test:      familyTest(families[0], asWell),
	},
	{
		ID: "fig3-reject", View: "fig3-settings",
		Title:     "Ours: leaving out triplets whose step would be too long lowers the test error of PA-ERKLE.",
		Statement: "Ours, after the paper's future work (\"a threshold on the passive-aggressive learning rate\"): leaving out triplets whose step would be too long, by a threshold chosen on validation triplets, lowers the test error of PA-ERKLE.",
		Where:     "Section 6", Theirs: "no number",
		Predicate: "At the end, the test error of PA-ERKLE minus that with the largest step of {0.15, 0.2, 0.3, 0.5, none} that has the least validation error after one pass is > 0, with one and with ten passes." + cleanedNote,
		Test:      familyTest(families[2], 0),
	},
})

// testOften tests the share of sizes at which ten passes have the smaller error.
func testOften(t *table.Table) judge.Test {
	r := fig3Results(t)
	sizes := r.sizes()
	return judge.Each([]judgedReading{{name: byValidation, tau: byValidation}, {name: byTest, tau: byTest}, {name: "ties half", tau: byValidation, tie: 0.5}}, func(rd judgedReading) (string, judge.Test) {
		var units []judge.Unit
		for _, b := range batchNames {
			var share []float64
			for _, size := range sizes {
				diff := judge.Minus(r.errorsAt("test", b, rd, size), r.errorsAt("test", paERKLETen, rd, size))
				if share == nil {
					share = make([]float64, len(diff))
				}
				judge.SameLength("trials at two sizes", share, diff)
				for i, d := range diff {
					// 1 for a smaller error, ½ for an equal one.
					share[i] += (1 + sign(d)) / 2 / float64(len(sizes))
				}
			}
			floats.AddConst(-often, share)
			units = append(units, judge.Unit{Name: b, Diffs: share})
		}
		return rd.name, judge.Positive{Units: units, Rule: r.rule("% of the sizes above one half")}
	})
}

func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}

// meanSteps returns the mean length of a step on triplets of a relation, by trial.
func meanSteps(t *table.Table, method string, r relation) []float64 {
	g := t.Where("kind", stepKind, "method", method, "setting", relationNames[r])
	out := slices.Clone(g.Values("sum"))
	floats.Div(out, g.Values("count"))
	return out
}

// testDrastic compares the steps on conflicting and on agreeing triplets.
func testDrastic(t *table.Table) judge.Test {
	ratio := fig3Results(t).testRatio()
	more := map[string][]float64{}
	for _, method := range []string{paERKLE, steERKLE} {
		bad, good := meanSteps(t, method, conflicting), meanSteps(t, method, agreeing)
		judge.SameLength(method+": trials with steps", bad, good)
		for i := range bad {
			q := math.Log2(bad[i] / good[i])
			if math.IsNaN(q) || math.IsInf(q, 0) {
				return judge.Unsettled{Ours: "no quotient", Reason: fmt.Sprintf("Trial %d has no step on conflicting or on agreeing triplets (%s).", i, method)}
			}
			more[method] = append(more[method], q)
		}
	}
	return judge.Shown{
		Test: judge.Positive{Units: []judge.Unit{judge.Paired("steps", more[steERKLE], more[paERKLE])}, Rule: judge.Rule{Unit: "doublings", TestRatio: ratio}},
		Note: fmt.Sprintf("Steps on conflicting triplets are %.2g times as long as on agreeing ones in STE-ERKLE, %.2g times in PA-ERKLE (geometric means).",
			math.Exp2(judge.Summarize(more[steERKLE]).Mean), math.Exp2(judge.Summarize(more[paERKLE]).Mean)),
	}
}

// musicObjects is the number of artists of the survey.
var musicObjects = float64(judgements[0].full.Objects)

// byRank tests ranks for two tolerances, two rules for τ and fits that have run on; of gets the ranks at the smallest
// and the largest size, by trial.
func byRank(of func(first, last []float64) []float64) func(t *table.Table) judge.Test {
	return func(t *table.Table) judge.Test {
		r := fig3Results(t)
		sizes := r.sizes()
		var out judge.Readings
		for _, column := range []string{looseRank, fineRank} {
			for _, rd := range []judgedReading{{name: byValidation, tau: byValidation}, {name: byTest, tau: byTest}, {name: "run on", tau: byValidation, on: true}} {
				var units []judge.Unit
				for _, b := range batchNames {
					at := func(size string) []float64 { return r.fits(b, rd).Where("triplets", size).Values(column) }
					units = append(units, judge.Unit{Name: b, Diffs: of(at(sizes[0]), at(r.last()))})
				}
				out = append(out, judge.Reading{Name: column + ", " + rd.name, Test: judge.Positive{Units: units, Rule: r.rule("% of the objects")}})
			}
		}
		return out
	}
}

// familyTest tests that a family has less error at the end than PA-ERKLE plus a margin: with one pass and the setting that
// each trial chose, and with ten passes, which have that setting alone.
func familyTest(f family, margin float64) func(t *table.Table) judge.Test {
	return func(t *table.Table) judge.Test {
		r := fig3Results(t)
		end := func(rows *table.Table) []float64 { return testErrors(rows.Where("triplets", r.last())) }
		unit := func(name, pa string, ours *table.Table) judge.Unit {
			return judge.Unit{Name: name, Diffs: excess(end(r.curve(pa, "")), end(ours), margin)}
		}
		return judge.Positive{Rule: r.rule("points"), Units: []judge.Unit{
			unit("one pass", paERKLE, r.chosen(f)),
			unit("ten passes", paERKLETen, r.t.Where("kind", curveKind, "method", f.ten())),
		}}
	}
}
