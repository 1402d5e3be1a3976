package planes

import (
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
)

// sweepKnown is what was known when the claims of the sweep were written.
const sweepKnown = "the numbers of digits in fig2cd, and that narrower kernels with a squared Laplacian, 10 neighbours and weights by the heat kernel had 5.6 and 5.8"

const sweepRule = "Each method has the setting of the sweep with the least error of the two-fold cross-validation on the labelled digits, of equals the first; 500 digits are known, 100 of them with labels. "

var separatedDigits = frame.Column("separated")

// chosenDigits is how many digits are separated with the setting that the rule of choice takes.
func chosenDigits(method, queries string) frame.Measure {
	return validated(separatedDigits).Where("method", method, "queries", queries)
}

var sweepClaims = experiment.Claims([]experiment.Claim{
	{
		ID: "sweep-seven", Sentence: "fig2c-seven", View: "fig2cd-sweep",
		Statement: fig2cdClaims[0].Statement,
		Where:     planePlace, Theirs: fig2cdClaims[0].Theirs, Afterwards: sweepKnown,
		Predicate: planeMeasure + sweepRule + "The number of digits that Trace-SSIKDR separates, minus 6.5, is > 0. Readings: the top two directions of (26) and a W of rank 2 learned as such; queries from zip.test and from unseen zip.train.",
		Test: eachPlane(graphKernels[:1], ssikdrSwept, func(of plane) frame.Units {
			return frame.Unit(of.method, chosenDigits(of.method, of.queries).Plus(-atLeastSeven))
		}),
	},
	{
		ID: "sweep-three", Sentence: "fig2d-three", View: "fig2cd-sweep",
		Statement: fig2cdClaims[1].Statement,
		Where:     planePlace, Theirs: fig2cdClaims[1].Theirs, Afterwards: sweepKnown,
		Predicate: planeMeasure + sweepRule + "3.5 minus the number of digits that kernel PCA of the 100 labelled digits separates is > 0. Readings: queries from zip.test and from unseen zip.train.",
		Test: eachPlane(graphKernels[:1], []string{pcaLabelled}, func(of plane) frame.Units {
			return frame.Unit(of.method, chosenDigits(of.method, of.queries).Plus(-atMostThree).Times(-1))
		}),
	},
	{
		ID: "sweep-more", Sentence: "fig2cd-more", View: "fig2cd-sweep",
		Statement: fig2cdClaims[2].Statement,
		Where:     planePlace, Theirs: fig2cdClaims[2].Theirs, Afterwards: sweepKnown,
		Predicate: planeMeasure + sweepRule + "The number of digits that Trace-SSIKDR separates minus that of kernel PCA of the 100 labelled digits, each with its own setting, is > 0. Readings: the top two directions of (26) and a W of rank 2 learned as such; queries from zip.test and from unseen zip.train.",
		Test: eachPlane(graphKernels[:1], ssikdrSwept, func(of plane) frame.Units {
			return frame.Unit(of.method, chosenDigits(of.method, of.queries).Minus(chosenDigits(pcaLabelled, of.queries)))
		}),
	},
})
