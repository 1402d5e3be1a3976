package kernels

import (
	"math"

	"metriclab/pkg/datasets"
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/papers/logdet2012/protocol"
	"metriclab/pkg/papers/logdet2012/vectors"
	"metriclab/pkg/table"
)

// The four φ, by the names of a reader, in the order of the paper.
const (
	phiLogDet     = "LogDet"
	phiVonNeumann = "von Neumann"
	phiFrobenius  = "Frobenius"
	phiTrace      = "trace"
)

var phiNames = []string{phiLogDet, phiVonNeumann, phiFrobenius, phiTrace}

// The settings of a φ: chosen by the inner cross-validation, or the fixed ones.
const (
	settingChosen = "chosen"
	settingFixed  = "fixed"
)

// mostFeatures is the largest number of features of the databases.
const mostFeatures = 35

// Phases of the timing table: the inner cross-validation of a φ, and its fits to the training folds.
func choicePhase(name string) string { return name + ", choice" }

func fitPhase(name, setting string) string { return name + ", fit, " + setting }

// Margins of logdet2012/divergences, fixed before its first full run.
const (
	// "the same error": within 2 points of LogDet on the average of the data sets.
	samePhiMargin = 0.02
	// The data set whose features differ most in scale: the variance of proline is 10⁶ times that of hue.
	unscaledDatabase = "wine"
)

// Readings: wine alone is also run with its features as they are, to keep the run short. That was decided before the first full
// run, after the time of single trials of another seed was seen, but none of their errors.
const divergenceReadings = " Readings: features standardised; as they are, on wine alone."

var divergenceClaims = experiment.Claims([]experiment.Claim{
	{
		ID: "divergences-error", View: "divergences",
		Ours:      true,
		Title:     "Ours: with all parameters chosen on training rows, the four φ have the same mean error of nearest neighbours.",
		Statement: "Ours: with c, α and τ chosen on training rows, the four φ have the same error of nearest neighbours, on the average of the data sets.",
		Where:     "ours", Theirs: "no number",
		Predicate: "Per φ but LogDet: the whole corrected interval of its error minus that of LogDet, mean over the data sets per fold, lies within ±2 points." + divergenceReadings,
		Test: eachScaling(frame.Equivalent(samePhiMargin, 0, vectors.Points, overPhis(phiNames[1:], func(name string) frame.Measure {
			return phiError(name, settingChosen).Minus(phiError(phiLogDet, settingChosen))
		}))),
	},
	{
		ID: "divergences-gain", View: "divergences",
		Ours:      true,
		Title:     "Ours: under each φ the learned metric has a lower mean error than the Euclidean distance.",
		Statement: "Ours: under each φ the learned metric has a lower error than the Euclidean distance, on the average of the data sets.",
		Where:     "ours", Theirs: "no number",
		Predicate: "Per φ, c, α and τ chosen on training rows: the error of Euclidean minus its own, mean over the data sets per fold, is > 0." + divergenceReadings,
		Test: eachScaling(frame.Positive(vectors.Points, overPhis(phiNames, func(name string) frame.Measure {
			return phiError(protocol.Euclidean, settingChosen).Minus(phiError(name, settingChosen))
		}))),
	},
	{
		ID: "divergences-scale", View: "divergences",
		Ours:      true,
		Title:     "Ours: where features differ much in scale, von Neumann has a lower error than Frobenius and trace.",
		Statement: "Ours: where features differ much in scale, von Neumann, which changes W by factors, has a lower error than Frobenius and trace, which change it by sums.",
		Where:     "ours", Theirs: "no number",
		Predicate: "Wine, features as they are, c, α and τ chosen on training rows: the error of Frobenius and that of trace minus that of von Neumann are > 0.",
		Test: func(t *table.Table) judge.Test {
			wine := t.Where("features", datasets.AsIs.String(), "database", unscaledDatabase)
			if wine.Len() == 0 {
				return judge.Unfit{Ours: "none", Reason: "There are no results on " + unscaledDatabase + "."}
			}
			return frame.Positive(vectors.Points, overPhis([]string{phiFrobenius, phiTrace}, func(name string) frame.Measure {
				return phiError(name, settingChosen).Minus(phiError(phiVonNeumann, settingChosen))
			}))(wine)
		},
	},
	{
		ID: "divergences-default", View: "divergences-fixed",
		Ours:      true,
		Statement: "Ours: a user who chooses nothing does best with LogDet, on the average of the data sets.",
		Where:     "ours", Theirs: "no number",
		Predicate: "With c, α and τ = 1 in units of the median squared distance, per φ but LogDet: its error minus that of LogDet, mean over the data sets per fold, is > 0." + divergenceReadings,
		Test: eachScaling(frame.Positive(vectors.Points, overPhis(phiNames[1:], func(name string) frame.Measure {
			return phiError(name, settingFixed).Minus(phiError(phiLogDet, settingFixed))
		}))),
	},
	{
		ID: "divergences-rank", View: "spectra",
		Ours:      true,
		Statement: "Ours: the trace learns the W of the lowest rank on each data set.",
		Where:     "ours", Theirs: "no number",
		Predicate: "With c, α and τ = 1, per data set: the rank of the W of Frobenius as a share of its order, minus that of trace, is > 0. (LogDet and von Neumann have full rank by their formulas.)" + divergenceReadings,
		Test:      eachScaling(frame.Positive(vectors.Points, frame.OverGroups(vectors.ShareOf("spectrum", phiFrobenius, "setting", settingFixed).Minus(vectors.ShareOf("spectrum", phiTrace, "setting", settingFixed)), "data set"))),
	},
	{
		ID: "divergences-time", View: "divergences-time",
		Ours:      true,
		Statement: "Ours: to the same KKT residual LogDet takes the most time of the four.",
		Where:     "ours", Theirs: "no number",
		Predicate: "With c, α and τ = 1, per other φ: the base-2 logarithm of the CPU time of LogDet, both folds, minus that of the other φ, mean over the data sets per trial, is > 0. A fit of LogDet that ends at the cap on steps counts with the time until then." + divergenceReadings,
		TestTimed: frame.TestTimed(phiPhase, eachScaling(frame.Positive(judge.Rule{Unit: "doublings"}, overPhis(phiNames[1:], func(name string) frame.Measure {
			return phiDoublings(phiLogDet).Minus(phiDoublings(name))
		})))),
	},
})

// scalings are those of the features, the main one first.
var scalings = []string{datasets.ZScore.String(), datasets.AsIs.String()}

// eachScaling is a test under each scaling of the features.
func eachScaling(test frame.Test) frame.Test {
	return frame.Under(scalings, func(features string) (string, frame.Test) {
		return "features " + vectors.Describe[features], test.On(vectors.Titled).Where("features", features)
	})
}

// overPhis is a unit per φ.
func overPhis(names []string, unit func(name string) frame.Measure) frame.Units {
	return frame.Over(names, func(name string) (string, frame.Measure) { return name, unit(name) })
}

// phiError is the error of a method, mean over the data sets; Euclidean has no setting.
func phiError(method, setting string) frame.Measure {
	if method == protocol.Euclidean {
		setting = ""
	}
	return vectors.ErrorOf(method, "setting", setting).MeanOver("database")
}

// phiPhase is that of a row: fits stand in the rows of errors, choices in those of what was chosen, of fold 0 for both.
func phiPhase(row table.Key) string {
	switch {
	case row["fold"] != "0" || row["method"] == protocol.Euclidean:
		return ""
	case row["kind"] == "wrong":
		return fitPhase(row["method"], row["setting"])
	case row["kind"] == "chosen":
		return choicePhase(row["method"])
	}
	return ""
}

// phiSeconds is the CPU time of the fits with a setting.
func phiSeconds(setting string) frame.Measure {
	return frame.Seconds.Where("kind", "wrong", "setting", setting, "fold", "0")
}

// phiDoublings is log₂ of the CPU time of a φ, mean over the data sets.
func phiDoublings(name string) frame.Measure {
	return phiSeconds(settingFixed).Where("method", name).Map(math.Log2).MeanOver("database")
}
