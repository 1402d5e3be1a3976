package erkle2015

import (
	"slices"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/table"
)

// section54 is where the claims of Fig. 4 stand.
const section54 = "Section 5.4"

// standInNote says why the claims have no verdict.
const standInNote = " The answers about outdoor scenes are not public: the finding is that on materials and shoes."

const (
	// "a small number of triplets": a quarter of them.
	fewTriplets = 250
	// "given enough triplets (at least 500)".
	enoughTriplets = 500
)

// standIns are the data sets that stand in for the paper's.
var standIns = []string{material, zappos}

// onStandIns tests a claim on the stand-ins under readings.
func onStandIns(readings []reading, what compares) frame.Test {
	return frame.Under(readings, func(r reading) (string, frame.Test) {
		var all []frame.Units
		for _, data := range standIns {
			all = append(all, what(r.on(data)).Where("cell", data).Named(data+", ", ""))
		}
		return r.name, frame.Positive(points, frame.Together(all...))
	}).StandIn("stand-ins")
}

// few and enough are the sizes of which the paper speaks; all, where it speaks of none of them (at smoke scale).
func few(sizes []string) []string {
	return sizesOr(sizes, func(n float64) bool { return n > fewTriplets })
}

func enough(sizes []string) []string {
	return sizesOr(sizes, func(n float64) bool { return n < enoughTriplets })
}

func sizesOr(sizes []string, leave func(float64) bool) []string {
	kept := slices.DeleteFunc(slices.Clone(sizes), func(size string) bool { return leave(frame.Parse("triplets", size)) })
	if len(kept) == 0 {
		return sizes
	}
	return kept
}

// What the claims of Section 5.4 compare.
var (
	paTrainsWell = lessError("train", asWell, slices.Concat(against(paERKLE, others(paERKLE)), against(paERKLETen, others(paERKLETen)))...)
	fig4Readings = []reading{judgedBy(byValidation), judgedBy(byTest)}
)

func steConsistently(r reading) frame.Units {
	return func(t *table.Table) (out []judge.Unit) {
		for _, size := range r.sizes(t) {
			one := r.as(r.name, func([]string) []string { return []string{size} })
			out = append(out, one.less("test", 0, [2]string{steERKLE, steBatch}, [2]string{steERKLETen, steBatch}).Named("", " after "+size)(t)...)
		}
		return out
	}
}

func steOnFew(r reading) frame.Units {
	return r.as(r.name, few).less("test", 0, against(steERKLE, []string{paERKLE, paERKLETen, gnmdsBatch, steBatch, cklBatch})...)
}

func paOnEnough(r reading) frame.Units {
	return r.as(r.name, enough).less("test", asWell, [2]string{paERKLE, gnmdsBatch}, [2]string{paERKLETen, gnmdsBatch})
}

var fig4Claims = experiment.Claims([]experiment.Claim{
	{
		ID: "fig4-ste", View: "fig4a",
		Statement: "STE-ERKLE consistently outperforms STE-Batch.",
		Where:     section54 + ", Fig. 4a", Theirs: experiment.FigureOnly,
		Predicate: "At each of the 12 sizes, the test error of STE-Batch minus that of STE-ERKLE (δ = 1) is > 0, with one and with ten passes, on both stand-ins. Readings: τ by validation or best on test." + standInNote,
		Test:      onStandIns(fig4Readings, steConsistently),
	},
	{
		ID: "fig4-ste-few", View: "fig4a",
		Statement: "STE-ERKLE performs well under a small number of triplets relative to all other methods.",
		Where:     section54 + ", Fig. 4a", Theirs: experiment.FigureOnly,
		Predicate: "Averaged over the sizes up to 250 triplets, the test error of STE-ERKLE (δ = 1, one pass) is less than that of each other method, on both stand-ins. Readings: τ by validation or best on test." + standInNote,
		Test:      onStandIns(fig4Readings, steOnFew),
	},
	{
		ID: "fig4-pa", View: "fig4a",
		Statement: "PA-ERKLE is comparable or outperforms its batch counterpart in GNMDS-Batch, given enough triplets (at least 500).",
		Where:     section54 + ", Fig. 4a", Theirs: "at least 500",
		Predicate: "Averaged over the sizes from 500 triplets on, the test error of PA-ERKLE is less than that of GNMDS-Batch plus 1 point, with one and with ten passes, on both stand-ins. Readings: τ by validation or best on test." + standInNote,
		Test:      onStandIns(fig4Readings, paOnEnough),
	},
	{
		ID: "fig4-train", View: "fig4b",
		Statement: "PA-ERKLE performs quite well in training error compared to all other methods.",
		Where:     section54 + ", Fig. 4b", Theirs: experiment.FigureOnly,
		Predicate: "Averaged over the 12 sizes, the error of PA-ERKLE on the triplets seen so far is less than that of each other method plus 1 point, one pass against one pass and ten against ten and each against all batch methods, on both stand-ins. Readings: τ by validation or best on test." + standInNote,
		Test:      onStandIns(fig4Readings, paTrainsWell),
	},
	{
		ID: "fig4-features", View: "fig4a",
		Ours:      true,
		Title:     "Ours: starting from a kernel of image features instead of I lowers the error of PA-ERKLE on few answers.",
		Statement: "Ours: starting PA-ERKLE from a kernel of image features instead of K = I lowers its test error on few answers.",
		Where:     section54, Theirs: "no number",
		Predicate: "On the shoes, averaged over the 12 sizes, the test error of PA-ERKLE from K = I minus that from the features is > 0, with one and with ten passes.",
		Test:      frame.Positive(points, judgedBy(byValidation).on(zappos).less("test", 0, [2]string{paFeatures, paERKLE}, [2]string{paFeaturesTen, paERKLETen})).Where("cell", zappos),
	},
	{
		ID: "fig4-trace", View: "fig4a",
		Ours:      true,
		Title:     "Ours: a trace penalty chosen on validation triplets lowers the test error of PA-ERKLE on few answers.",
		Statement: "Ours, after the paper's future work (\"online trace regularization\"): a trace penalty with a weight chosen on validation triplets lowers the test error of PA-ERKLE on few answers.",
		Where:     "Section 6", Theirs: "no number",
		Predicate: "At the end (1,000 triplets), the test error of PA-ERKLE with ten passes minus that with the weight τ of {0.01, 0.03, 0.05} that has the least validation error there is > 0, on materials and on shoes.",
		Test: frame.Positive(points, frame.Over(standIns, func(data string) (string, frame.Measure) {
			r := judgedBy(byValidation).as("", atEnd).on(data)
			return data, r.errors("test", paERKLETen).Minus(r.errors("test", traceFamily.name)).Where("cell", data)
		})),
	},
})
