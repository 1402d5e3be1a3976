package vectors

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
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
		Test: func(t *table.Table) judge.Test {
			others := slices.DeleteFunc(allWordResults(t), func(r results) bool { return r.program == latex })
			return onCounts(others, func(all []results) judge.Test {
				var units []judge.Unit
				for _, r := range all {
					for _, m := range []string{protocol.LogDetLinear, protocol.LogDetInvCov, protocol.Mcml, protocol.Lmnn} {
						u := judge.Paired(m, r.errors(m, printedDims), r.errors(protocol.Euclidean, printedDims))
						floats.AddConst(optimalMargin, u.Diffs)
						units = append(units, r.named(u))
					}
				}
				return judge.Positive{Units: units, Rule: Points}
			})
		},
	},
	{
		ID: "fig1b-few", View: "fig1c", Afterwards: wordsKnown,
		Statement: "High classification accuracy can be obtained by using a relatively small subset of available features.",
		Where:     clarifyPlace, Theirs: experiment.FigureOnly,
		Predicate: "Per method of Fig. 1(b) and program: its error with 20 features minus that with 25, the most that are tried, is < " + marginalPoints + ". (Ha et al. 2007 showed it; all features at once are not run.)" + clarifyNote,
		Test: func(t *table.Table) judge.Test {
			return onCounts(allWordResults(t), func(all []results) judge.Test {
				var units []judge.Unit
				for _, r := range all {
					numbers := r.numbers()
					most := numbers[len(numbers)-1]
					for _, m := range clarifyMethods {
						u := judge.Paired(m, r.errors(m, most), r.errors(m, printedDims))
						floats.AddConst(optimalMargin, u.Diffs)
						units = append(units, r.named(u))
					}
				}
				return judge.Positive{Units: units, Rule: Points}
			})
		},
	},
})
