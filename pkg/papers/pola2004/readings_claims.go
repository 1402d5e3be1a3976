package pola2004

import (
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
)

// notNeeded is the margin of "does not require dimensionality reduction": without it the mean error is at most a tenth larger.
const notNeeded = 1.1

// knownFromFig3 is what was known when these readings were written: the errors of fig3 and of sensitivity.
const knownFromFig3 = "the errors of fig3 and sensitivity"

var readingsClaims = experiment.Claims([]experiment.Claim{
	{
		ID: "readings-rca-pca", Sentence: "fig3-rca-pca", View: "readings-rca", Afterwards: knownFromFig3,
		Title:     "POLA outperforms RCA (after PCA) on all but one of the 45 problems (by other readings).",
		Statement: "POLA outperforms RCA (after PCA to 40 dimensions) on all but one of the 45 binary problems (by other readings: POLA after PCA, too; RCA's chunklets).",
		Where:     "Section 7, Fig. 3 middle right", Theirs: "all but one of the 45",
		Predicate: "Per problem, RCA error − POLA error > 0, paired over trials, with one exception allowed; for POLA on pixels and after PCA, and for RCA with the chunklets of the pairs, of 2, 5 and 20 images, and one per digit.",
		Test: frame.Readings(func() (out []frame.Reading) {
			for _, y := range []string{pola, polaPCA} {
				for _, x := range rcaRivals() {
					out = append(out, frame.Reading{Name: y + " against " + x, Test: wins(y, x, 1)})
				}
			}
			return out
		}()...),
	},
	{
		ID: "readings-no-reduction", View: "readings-errors", Afterwards: knownFromFig3,
		Statement: "POLA does not require dimensionality reduction.",
		Where:     "Section 7, Fig. 3 middle", Theirs: "no number",
		Predicate: "Mean over the problems of POLA's error on pixels ≤ 1.1 × that after PCA to 40 dimensions.",
		Test:      ratio(pola, polaPCA, notNeeded, false),
	},
	{
		ID: "readings-fda", Sentence: "fig3-fda", View: "readings-fda", Afterwards: knownFromFig3,
		Title:     "kNN with POLA (largest eigenvector) clearly outperforms kNN with FDA on all problems (k for each metric).",
		Statement: "kNN with POLA (projected onto its largest eigenvector) clearly outperforms kNN with FDA on all of the problems (k for each metric).",
		Where:     "Section 7, Fig. 3 top right", Theirs: "all of the problems",
		Predicate: "Per problem, FDA error − POLA-first-eigenvector error > 0, paired over trials, each with the k of the least leave-one-out error under the metric itself; FDA without a ridge and with a validated one.",
		Test:      frame.UnderNames([]string{fdaPlainOwn, fdaRidgeOwn}, func(x string) frame.Test { return wins(polaTopOwnK, x, 0) }),
	},
	{
		ID: "readings-half", Sentence: "fig3-euclidean", View: "readings-rca", Afterwards: knownFromFig3,
		Title:     "With POLA before it, kNN has a lower error in all 45 problems (half of the pairs similar).",
		Statement: "The error when using POLA as a pre-processing step is lower than the vanilla kNN in all of the 45 binary problems (half of the pairs similar).",
		Where:     "Section 7, Fig. 3 top left", Theirs: "all of the 45",
		Predicate: "Per problem, Euclidean error − POLA error > 0, paired over trials; half of POLA's 1,000 pairs are similar.",
		Test:      wins(polaHalf, euclidean, 0),
	},
	{
		ID: "readings-0-8", Sentence: "fig3-0-8-pola", View: "readings-errors", Afterwards: knownFromFig3,
		Title:     "POLA's two largest eigenvectors form two perfectly separable clusters (learned from the 100 images that are shown).",
		Statement: "The points projected on POLA's two largest eigenvectors form two perfectly separable clusters (learned from the 100 images that are shown).",
		Where:     "Section 7, Fig. 3 bottom right", Theirs: experiment.FigureOnly,
		Predicate: "A straight line separates the 100 projected images of 0 and 8, from 1,000 pairs of which POLA learned, in every trial (a feasible linear program).",
		Test:      separated(true).Where("kind", "separable", "method", pola),
	},
})
