package vectors

import (
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/papers/logdet2012/protocol"
	"metriclab/pkg/table"
)

// "marginal gains", and "high classification accuracy can be obtained by using a relatively small subset": less than
// optimalMargin is gained.
const marginalPoints = "3 points"

// wordsKnown is what was known when these claims were added.
const wordsKnown = "the errors of all methods on the stand-in"

// moreWordClaims are sentences of Section 6.1 about the other programs and about few features.
var moreWordClaims = experiment.Claims([]experiment.Claim{
	{
		ID: "fig1b-marginal", View: "fig1b", Afterwards: wordsKnown,
		Title:     "For Mpg321, Foxpro and Iptables, learned metrics yield only marginal gains over the Euclidean distance.",
		Statement: "In general, for the Mpg321, Foxpro, and Iptables datasets, learned metrics yield only marginal gains over the baseline Euclidean distance measure.",
		Where:     clarifyPlace, Theirs: experiment.FigureOnly,
		Predicate: "With 20 features, per learned metric (LogDet Linear, LogDet-InvCov, MCML, LMNN) and program: the error of Euclidean minus its own is < " + marginalPoints + "." + clarifyNote,
		Test: onCounts(frame.Positive(Points, perProgram([]string{protocol.LogDetLinear, protocol.LogDetInvCov, protocol.Mcml, protocol.Lmnn}, func(m string) frame.Measure {
			return worse(m, protocol.Euclidean, printedDims).Plus(optimalMargin)
		}))).On(frame.Rows(allWordRows).Then(frame.Only("program", "", programs[1].name, programs[2].name, programs[3].name))),
	},
	{
		ID: "fig1b-few", View: "fig1c", Afterwards: wordsKnown,
		Statement: "High classification accuracy can be obtained by using a relatively small subset of available features.",
		Where:     clarifyPlace, Theirs: experiment.FigureOnly,
		Predicate: "Per method of Fig. 1(b) and program: its error with 20 features minus that with 25, the most that are tried, is < " + marginalPoints + ". (Ha et al. 2007 showed it; all features at once are not run.)" + clarifyNote,
		Test: onCounts(frame.Positive(Points, perProgram(clarifyMethods, func(m string) frame.Measure {
			return func(rows *table.Table) []float64 {
				all := experiment.NotEmpty("numbers of features", dims(rows))
				return with(m, all[len(all)-1]).Minus(with(m, printedDims)).Plus(optimalMargin)(rows)
			}
		}))).On(allWordRows),
	},
})
