package pola2004

import (
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/table"
)

// Margins of the qualitative claims, fixed before the first full run.
const (
	// "greatly reduces the error rate": the mean error over the problems falls by at least a quarter.
	greatReduction = 0.25
	// "much worse": at least half as much error again.
	muchWorse = 1.5
)

var fig3Claims = experiment.Claims([]experiment.Claim{
	{
		ID:        "fig3-euclidean",
		View:      "fig3-euclidean",
		Title:     "With POLA before it, kNN has a lower error than vanilla kNN in all of the 45 binary problems.",
		Statement: "The error when using POLA as a pre-processing step is lower than the vanilla kNN in all of the 45 binary problems.",
		Where:     "Section 7, Fig. 3 top left", Theirs: "all of the 45",
		Predicate: "Per problem, Euclidean error − POLA error > 0, paired over trials.",
		Test:      wins(pola, euclidean, 0),
	},
	{
		ID:        "fig3-euclidean-great",
		View:      "fig3-euclidean",
		Statement: "Using the learned pseudo-metric greatly reduces the error rate.",
		Where:     "Section 7, Fig. 3 top left", Theirs: experiment.FigureOnly,
		Predicate: "Mean over the problems of POLA's error ≤ (1 − 0.25) × mean of the Euclidean error.",
		Test:      ratio(pola, euclidean, 1-greatReduction, false),
	},
	{
		ID:        "fig3-fda",
		View:      "fig3-fda",
		Statement: "kNN with POLA (projected onto its largest eigenvector) clearly outperforms kNN with FDA on all of the problems.",
		Where:     "Section 7, Fig. 3 top right", Theirs: "all of the problems",
		Predicate: "Per problem, FDA error − POLA-first-eigenvector error > 0, paired over trials; FDA without a ridge (pseudo-inverse) and with a validated one.",
		Test:      frame.UnderNames([]string{fdaPlain, fdaRidge}, func(x string) frame.Test { return wins(polaTop, x, 0) }),
	},
	{
		ID:        "fig3-rca",
		View:      "fig3-rca",
		Statement: "Without PCA, POLA outperforms RCA on all of the 45 binary problems.",
		Where:     "Section 7, Fig. 3 middle left", Theirs: "all of the 45",
		Predicate: "Per problem, RCA error − POLA error > 0, paired over trials; RCA without a ridge (pseudo-inverse) and with a validated one.",
		Test:      frame.UnderNames([]string{rcaPlain, rcaRidge}, func(x string) frame.Test { return wins(pola, x, 0) }),
	},
	{
		ID:        "fig3-rca-worse",
		View:      "fig3-errors",
		Statement: "Without the dimensionality reduction step the results of RCA are much worse.",
		Where:     "Section 7, Fig. 3 middle left", Theirs: experiment.FigureOnly,
		Predicate: "Mean over the problems of RCA's error without PCA ≥ 1.5 × that after PCA; without a ridge (pseudo-inverse) and with a validated one.",
		Test:      frame.UnderNames([]string{rcaPlain, rcaRidge}, func(x string) frame.Test { return ratio(x, rcaPCA, muchWorse, true) }),
	},
	{
		ID:        "fig3-rca-pca",
		View:      "fig3-rca-pca",
		Statement: "POLA outperforms RCA (after PCA to 40 dimensions) on all but one of the 45 binary problems.",
		Where:     "Section 7, Fig. 3 middle right", Theirs: "all but one of the 45",
		Predicate: "Per problem, RCA error − POLA error > 0, paired over trials, with one exception allowed.",
		Test:      wins(pola, rcaPCA, 1),
	},
	{
		ID:        "fig3-0-8-pola",
		View:      "fig3-0-8",
		Statement: "The points projected on POLA's two largest eigenvectors form two perfectly separable clusters, each of one digit.",
		Where:     "Section 7, Fig. 3 bottom right", Theirs: experiment.FigureOnly,
		Predicate: "A straight line separates the 100 projected images of 0 and 8 (a feasible linear program) in every trial; for training and for held-out images.",
		Test:      separable(pola, true),
	},
	{
		ID:        "fig3-0-8-pca",
		View:      "fig3-0-8",
		Statement: "The analogous clusters when using PCA are interleaved.",
		Where:     "Section 7, Fig. 3 bottom left", Theirs: experiment.FigureOnly,
		Predicate: "No straight line separates the 100 projected images in any trial; for training and for held-out images.",
		Test:      separable(embedPCA, false),
	},
})

// wins tests "y has a lower error than x in every problem but exceptions".
func wins(y, x string, exceptions int) frame.Test {
	return frame.AllBut(exceptions, inPoints, frame.OverGroups(errorOf(x).Minus(errorOf(y)), "cell").Where("kind", "error"))
}

// ratio tests "the mean error of y is at most (at least) bound × that of x",
// paired over trials.
func ratio(y, x string, bound float64, atLeast bool) frame.Test {
	asked := judge.Ratio{Bound: bound, AtLeast: atLeast, What: "mean over the problems", Rule: judge.Rule{Scale: 100, Unit: "%"}}
	return frame.Ratio(asked, errorOf(y).PerTrialMean(), errorOf(x).PerTrialMean())
}

// separable tests whether a line separates (or, if want is false, never
// separates) the plotted images, on training and held-out images.
func separable(method string, want bool) frame.Test {
	return frame.UnderNames([]string{onTraining, onHeldOut}, func(split string) frame.Test {
		return separated(want).Where("kind", "separable", "method", method, "split", split)
	})
}

// separated tests whether a line separates images.
func separated(want bool) frame.Test {
	return frame.Always(func(g *table.Table) bool { return experiment.First(g, "value") == one(want) })
}
