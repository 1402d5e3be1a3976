package erkle2015

import (
	"fmt"
	"math"
	"slices"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
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

// shareOfSizes and shareOfObjects are the rules of differences of such shares.
var (
	shareOfSizes   = judge.Rule{Scale: 100, Unit: "% of the sizes above one half"}
	shareOfObjects = judge.Rule{Scale: 100, Unit: "% of the objects"}
)

// compares says what a claim compares under a reading.
type compares func(r reading) frame.Units

// lessError compares errors on a part, of which the better of each pair has the smaller, by a margin.
func lessError(part string, margin float64, pairs ...[2]string) compares {
	return func(r reading) frame.Units { return r.less(part, margin, pairs...) }
}

// onMusic tests the answers about music under readings.
func onMusic(readings []reading, rule judge.Rule, what compares) frame.Test {
	return frame.Under(readings, func(r reading) (string, frame.Test) { return r.name, onSplits(rule, what(r.on(music))) })
}

// ranksOnMusic tests ranks under readings and by two tolerances; of gets those at the smallest and at the largest size, as shares
// of the objects.
func ranksOnMusic(readings []reading, of func(first, last frame.Measure) frame.Measure) frame.Test {
	var out []frame.Reading
	for _, column := range []string{looseRank, fineRank} {
		share := frame.Column(column).Times(1 / musicObjects)
		for _, r := range readings {
			at := func(b string, at func([]string) []string) frame.Measure { return r.on(music).as("", at).of(b, share) }
			units := frame.Over(batchNames, func(b string) (string, frame.Measure) { return b, of(at(b, atStart), at(b, atEnd)) })
			out = append(out, frame.Reading{Name: column + ", " + r.name, Test: onSplits(shareOfObjects, units)})
		}
	}
	return frame.Readings(out...)
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

// What the claims of Section 5.3 compare that are tested on the named programs, too.
var (
	steWorse     = lessError("test", -considerable, steAgainstOthers()...)
	paAsWell     = lessError("test", asWell, against(paERKLE, batchNames)...)
	paBetter     = lessError("test", 0, slices.Concat(against(paERKLE, batchNames), against(paERKLETen, batchNames))...)
	steFitsWorse = lessError("train", -considerable, steAgainstOthers()...)
)

// oftenBetter compares the share of sizes at which ten passes have the smaller error, or half of an equal one, with a half.
func oftenBetter(r reading) frame.Units {
	return frame.Over(batchNames, func(b string) (string, frame.Measure) {
		return b, r.mean(func(size string) frame.Measure {
			errors := errorShare("test", r.tie)
			return r.after(size, b, errors).Minus(r.after(size, paERKLETen, errors)).Map(func(d float64) float64 { return (1 + sign(d)) / 2 })
		}).Plus(-often)
	})
}

// The ranks of which claims are that they are low, and that they grow.
func rankIsLow(first, _ frame.Measure) frame.Measure    { return first.Times(-1).Plus(lowRank) }
func rankGrows(first, last frame.Measure) frame.Measure { return last.Minus(first) }

// rankReadings are those of the claims about ranks.
var rankReadings = []reading{judgedBy(byValidation), judgedBy(byTest), afterRunOn}

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
		Test:      onMusic(judgedReadings, points, steWorse),
	},
	{
		ID: "fig3-as-well", View: "fig3a",
		Statement: "PA-ERKLE performs as well as the batch methods.",
		Where:     section53 + ", Fig. 3a", Theirs: experiment.FigureOnly,
		Predicate: "The test error of PA-ERKLE with one pass is less than that of each batch method plus 1 point." + readingsNote + cleanedNote,
		Test:      onMusic(judgedReadings, points, paAsWell),
	},
	{
		ID: "fig3-often-better", View: "fig3a",
		Statement: "PA-ERKLE performs often better (than the batch methods) when multiple passes are taken.",
		Where:     section53 + ", Fig. 3a", Theirs: experiment.FigureOnly,
		Predicate: "Per batch method, PA-ERKLE with ten passes has the smaller test error at more than half of the 12 sizes (the share of sizes minus ½ is > 0; equal errors count half). Readings: τ by validation over all sizes, by validation at the end or best on test, a tie an error or half of one." + cleanedNote,
		Test:      onMusic([]reading{judgedBy(byValidation), judgedBy(byTest), tiesHalf}, shareOfSizes, oftenBetter),
	},
	{
		ID: "fig3-no-trace", View: "fig3a",
		Statement: "Our method outperforms batch methods that use trace regularization.",
		Where:     section53 + ", Fig. 3c", Theirs: experiment.FigureOnly,
		Predicate: "The test error of PA-ERKLE, with one and with ten passes, is less than that of each batch method." + readingsNote + cleanedNote,
		Test:      onMusic(judgedReadings, points, paBetter),
	},
	{
		ID: "fig3-train-ste", View: "fig3b",
		Title:     "STE-ERKLE is greatly affected by conflicts: its kernel does not fit a large number of the observed triplets.",
		Statement: "The STE-ERKLE models are greatly affected by the presence of conflicts in that they do not learn a kernel that fits to a large number of the observed triplets.",
		Where:     section53 + ", Fig. 3b", Theirs: experiment.FigureOnly,
		Predicate: "The error of STE-ERKLE (δ = 1) on the triplets seen so far minus that of PA-ERKLE and of each batch method is more than 2 points, with one and with ten passes." + readingsNote + cleanedNote,
		Test:      onMusic(judgedReadings, points, steFitsWorse),
	},
	{
		ID: "fig3-train-pa", View: "fig3b",
		Title:     "PA-ERKLE fits the observed triplets better, and thus has better test accuracy, too.",
		Statement: "PA-ERKLE, on the other hand, is able to fit better to the set of observed triplets, thus resulting in better test accuracy as well.",
		Where:     section53 + ", Fig. 3b", Theirs: experiment.FigureOnly,
		Predicate: "Both the error on the triplets seen so far and the test error of PA-ERKLE are less than those of STE-ERKLE (δ = 1), with one and with ten passes (four units)." + readingsNote + cleanedNote,
		Test: onMusic(judgedReadings, points, func(r reading) frame.Units {
			pairs := [][2]string{{paERKLE, steERKLE}, {paERKLETen, steERKLETen}}
			return frame.Together(r.less("train", 0, pairs...).Named("", ", train"), r.less("test", 0, pairs...).Named("", ", test"))
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
		Test:      ranksOnMusic(rankReadings, rankIsLow),
	},
	{
		ID: "fig3-rank", View: "fig3c",
		Statement: "As the number of triplets are observed, the rank (of the kernels of the batch methods) increases.",
		Where:     section53 + ", Fig. 3c", Theirs: experiment.FigureOnly,
		Predicate: "Per batch method, the rank at all training triplets minus that at the smallest size (100 triplets) is > 0, as a share of the number of objects. Readings: eigenvalues above 10⁻³ or 10⁻⁶ of the largest, τ by validation, best on test, or by validation with the fits run on to 1,000 iterations." + cleanedNote,
		Test:      ranksOnMusic(rankReadings, rankGrows),
	},
	{
		ID: "fig3-step", View: "fig3-settings",
		Ours:      true,
		Statement: "Ours: with δ chosen on validation triplets STE-ERKLE performs as well as PA-ERKLE.",
		Where:     section53 + ", Fig. 3a", Theirs: "no number",
		Predicate: "At the end, the test error of STE-ERKLE with the δ of {0.03, 0.1, 0.3, 1} that has the least validation error after one pass is less than that of PA-ERKLE plus 1 point, with one and with ten passes." + cleanedNote,
		Test:      familyTest(families[0], asWell),
	},
	{
		ID: "fig3-reject", View: "fig3-settings",
		Ours:      true,
		Title:     "Ours: leaving out triplets whose step would be too long lowers the test error of PA-ERKLE.",
		Statement: "Ours, after the paper's future work (\"a threshold on the passive-aggressive learning rate\"): leaving out triplets whose step would be too long, by a threshold chosen on validation triplets, lowers the test error of PA-ERKLE.",
		Where:     "Section 6", Theirs: "no number",
		Predicate: "At the end, the test error of PA-ERKLE minus that with the largest step of {0.15, 0.2, 0.3, 0.5, none} that has the least validation error after one pass is > 0, with one and with ten passes." + cleanedNote,
		Test:      familyTest(families[2], 0),
	},
})

func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}

// meanStep is the mean length of a step on triplets of a relation, by trial.
func meanStep(method string, r relation) frame.Measure {
	return frame.Share("sum", "count").Where("kind", stepKind, "method", method, "setting", relationNames[r])
}

// testDrastic compares the steps on conflicting and on agreeing triplets.
func testDrastic(t *table.Table) judge.Test {
	more := map[string]frame.Measure{}
	times := map[string]float64{}
	for _, method := range []string{paERKLE, steERKLE} {
		more[method] = meanStep(method, conflicting).Over(meanStep(method, agreeing)).Map(math.Log2)
		q := more[method](t)
		if i := slices.IndexFunc(q, func(q float64) bool { return math.IsNaN(q) || math.IsInf(q, 0) }); i >= 0 {
			return judge.Unsettled{Ours: "no quotient", Reason: fmt.Sprintf("Trial %d has no step on conflicting or on agreeing triplets (%s).", i, method)}
		}
		times[method] = math.Exp2(judge.Summarize(q).Mean)
	}
	return judge.Shown{
		Test: onSplits(judge.Rule{Unit: "doublings"}, frame.Unit("steps", more[steERKLE].Minus(more[paERKLE])))(t),
		Note: fmt.Sprintf("Steps on conflicting triplets are %.2g times as long as on agreeing ones in STE-ERKLE, %.2g times in PA-ERKLE (geometric means).", times[steERKLE], times[paERKLE]),
	}
}

// musicObjects is the number of artists of the survey.
var musicObjects = float64(judgements[0].full.Objects)

// familyTest tests that a family has less error at the end than PA-ERKLE plus a margin: with one pass and the setting that
// each trial chose, and with ten passes, which have that setting alone.
func familyTest(f family, margin float64) frame.Test {
	r := judgedBy(byValidation).as("", atEnd).on(music)
	return onSplits(points, frame.Together(
		frame.Unit("one pass", r.errors("test", paERKLE).Minus(r.errors("test", f.name)).Plus(margin)),
		frame.Unit("ten passes", r.errors("test", paERKLETen).Minus(r.errors("test", f.ten())).Plus(margin)),
	))
}
