package pa2013

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/table"
)

// Margins of the qualitative claims, fixed before the first full run. Errors are shares.
const (
	// "not significant", "very competitive", "preserving good performance results": 2 percentage points.
	equivalent = 0.02
	// "most of the cases": more than half.
	most = 0.5
	// Values of Table 2: within 2 points in at least 90 % of the cells.
	tableShare = 0.9
	// "reduce dramatically the time": to half or less.
	dramatic = 2.0
	// "close to 200 %", "about twice": within a quarter of it.
	aboutTwice = 0.5
	// "a good trade-off": as many steps again gain less than one percentage point.
	littleGain = 0.01
	// Ours: the tolerance that is graded, and what it must save.
	gradedTolerance = 0.4
	worthwhile      = 1.5
)

const (
	standInNote = " The sixth database is not public; its stand-in is drawn and takes no part; where a user supplies the data, they do."
	section3    = "Section 3"
)

var comparisonClaims = experiment.Claims([]experiment.Claim{
	{
		ID: "table1", View: "table1",
		Statement: "Wine, ionosphere, balance, soybean and nist16 have the sizes, dimensions and numbers of classes of Table 1.",
		Where:     section3 + ", Table 1", Theirs: "178, 351, 625, 266, 2000 objects",
		Predicate: "Objects, features and classes of all five are equal to the printed ones, in every trial." + standInNote,
		Test:      table1Test,
	},
	{
		ID: "fig1-reasonable", View: "fig1",
		Statement: "All online learning algorithms have lead to reasonably good behavior according to the predictive 0–1 loss.",
		Where:     section3 + ", Fig. 1", Theirs: experiment.FigureOnly,
		Predicate: "Per database and method, the loss after T steps is less than that of the better constant prediction (all similar, or all dissimilar)." + standInNote,
		Test: positive(corrected, each(onlineNames, func(method string) frame.Measure {
			constant := column("size", "", similarLinks, "count").Over(column("size", "", links, "count")).Map(func(s float64) float64 { return math.Min(s, 1-s) })
			return constant.Minus(losses(method))
		})).On(public),
	},
	{
		ID: "fig1-negative", View: "fig1",
		Title:     "In 5 of 6 databases, negative methods have a better predictive loss than positive versions of the same methods.",
		Statement: "In 5 out of 6 databases, negative methods have led to better results (predictive loss) compared to positive versions of the same methods.",
		Where:     section3 + ", Fig. 1", Theirs: "5 out of 6",
		Predicate: "Per database, loss of + minus loss of − after T steps > 0, with one exception; for each of the three rules." + standInNote,
		Test: frame.Under(rules, func(v versions) (string, frame.Test) {
			return v.name, allBut(1, corrected, frame.OverGroups(losses(v.plus()).Minus(losses(v.minus())), "cell")).On(public)
		}).AsParts(),
	},
	{
		ID: "fig1-largest", View: "fig1",
		Statement: "The case of the two biggest databases is specially remarkable (the advantage of negative methods).",
		Where:     section3 + ", Fig. 1", Theirs: experiment.FigureOnly,
		Predicate: "The relative reduction of the loss by − on nist16 is larger than its mean over wine, ionosphere, balance and soybean; for each of the three rules. The other big database is not public.",
		Test: frame.Under(rules, func(v versions) (string, frame.Test) {
			gain := losses(v.plus()).Minus(losses(v.minus())).Over(losses(v.plus()))
			return v.name, func(t *table.Table) judge.Test {
				big := experiment.NotEmpty("big database", resultsOf(named("nist16")(t)))[0]
				small := named("wine", "ionosphere", "balance", "soybean")(t)
				return judge.Positive{
					Units: []judge.Unit{judge.Paired("nist16", gain(big.t), gain.MeanOver("cell")(small))}, Rule: judge.Rule{Scale: 100, Unit: "% of the loss", TestRatio: big.testRatio()},
				}
			}
		}).AsParts(),
	},
	{
		ID: "fig1-ls", View: "fig1",
		Statement: "The LS methods exhibit significantly worse behavior in wine, balance, soybean and BDG10 databases.",
		Where:     section3 + ", Fig. 1", Theirs: experiment.FigureOnly,
		Predicate: "Per database, for + and −, the loss of PA-LS minus the mean loss of PA-I and PA-II is > 0; on wine, balance and soybean (BDG10 is not public).",
		Test: positive(corrected, each(ls, func(method string) frame.Measure {
			sign := strings.TrimPrefix(method, "PA-LS")
			return losses(method).Minus(frame.Mean("trials of two methods", losses("PA-I"+sign), losses("PA-II"+sign)))
		})).On(named("wine", "balance", "soybean", bdg10.cell)),
	},
	{
		ID: "c-matters", View: "choice",
		Statement: "The performance of the different online learning algorithms strongly depends on the value of the parameter C.",
		Where:     "Section 2.4", Theirs: "no number",
		Predicate: "The validation error with the worst C of the grid is at least 2 points above that with the best; worst and best are read from the same means over trials. Everywhere (our word): per database and method. On the whole: per method, mean over the databases." + standInNote,
		Test:      cMatters,
	},
	{
		ID: "table2-values", View: "table2",
		Statement: "The average classification errors are those of Table 2.",
		Where:     section3 + ", Table 2", Theirs: "Table 2",
		Predicate: "Per database and method, our mean error with the paper's rule (best k on the test rows) differs from the printed one by less than 2 points, with its interval, in at least 90 % of the 35 cells; for two rules for tied votes. " +
			"The intervals are ours; those of the paper are not known." + standInNote,
		Test: frame.Under(tieRules, func(tie reading) (string, frame.Test) {
			return tie.name, asPrinted(corrected, each(inTable2, func(method string) frame.Measure { return lessPrinted(optimistic(method, tie.column), method) })).On(public)
		}),
	},
	{
		ID: "table2-not-significant", View: "significance",
		Statement: "The differences among different classification results are not significant in most of the cases.",
		Where:     section3 + ", Table 2", Theirs: "Table 2",
		Predicate: "In more than half of the 105 cases (21 pairs of methods on five databases) the whole corrected interval of the difference of errors lies within ±2 points: that a test finds nothing would show nothing. For k by validation and the paper's best k." + standInNote,
		Test: byK(func(errors measure) frame.Test {
			return alike(most, corrected, each(couples(), func(c couple) frame.Measure { return errors(c.a).Minus(errors(c.b)) })).On(public)
		}).Told(func(t *table.Table) judge.Shown {
			return judge.Shown{Note: fmt.Sprintf("Friedman's test over the five databases: p = %.2g.", friedman(resultsOf(public(t))).P)}
		}),
	},
	{
		ID: "table2-competitive", View: "table2",
		Statement: "All algorithms lead to very competitive results (with ITML).",
		Where:     section3 + ", Table 2", Theirs: "Table 2",
		Predicate: "Per database and online method, its error is less than ITML's plus 2 points; for k by validation and the paper's best k." + standInNote,
		Test: byK(func(errors measure) frame.Test {
			return positive(corrected, each(onlineNames, func(method string) frame.Measure { return errors(itmlTuned).Minus(errors(method)).Plus(equivalent) })).On(public)
		}),
	},
	{
		ID: "table2-k", View: "table2",
		Statement: "The best numbers of neighbours are those of Table 2.",
		Where:     section3 + ", Table 2", Theirs: "Table 2",
		Afterwards: "our errors by number of neighbours",
		Predicate: "Per database and method, our mean error with the printed k is above the least over k by less than 1 point, with its interval, in at least 90 % of the 35 cells; for two rules for tied votes. " +
			"The finding tells how many k are equal." + standInNote,
		Test: frame.Under(tieRules, func(tie reading) (string, frame.Test) {
			return tie.name, printedK(corrected, func(r results, method string) map[string][]float64 { return r.byNeighbours(method, tie.column) }).On(public)
		}),
	},
	{
		ID: "itml-competitive", View: "table2",
		Statement: "ITML is one of the most competitive metric learning algorithms.",
		Where:     section3 + ", experimentation setup", Theirs: "Table 2: ITML has the least error on none of six databases",
		Afterwards: "the errors of Table 2",
		Predicate:  "Per database and other method (the six, and Euclidean distances), the other's error minus that of ITML is > −2 points; for k by validation and the paper's best k." + standInNote,
		Test: byK(func(errors measure) frame.Test {
			return positive(corrected, each(append(slices.Clone(onlineNames), euclidean), func(method string) frame.Measure {
				return errors(method).Minus(errors(itmlTuned)).Plus(equivalent)
			})).On(public)
		}),
	},
	{
		ID: "table2-ls-best", View: "table2",
		Statement: "The combination of LS approach with negative matrices lead to the best results in the three last databases.",
		Where:     section3 + ", Table 2", Theirs: "8.27, 20.20 and 5.62 %",
		Predicate: "On soybean and nist16 (BDG10 is not public), the error of each of the six others minus that of PA-LS− is > 0; for k by validation and the paper's best k.",
		Test: byK(func(errors measure) frame.Test {
			others := slices.DeleteFunc(slices.Clone(inTable2), func(m string) bool { return m == "PA-LS-" })
			return positive(corrected, each(others, func(method string) frame.Measure { return errors(method).Minus(errors("PA-LS-")) })).On(named("soybean", bdg10.cell, "nist16"))
		}),
	},
	{
		ID: "negative-better", View: "table2",
		Title:     "Better results in general if the PSD constraint is not enforced until the end of the online learning process.",
		Statement: "We have obtained better results in general if the PSD constraint is not enforced until the end of the online learning process.",
		Where:     "Section 2.4", Theirs: "Table 2: − is lower in 11 of 18",
		Predicate: "\"In general\": the error of + minus the error of −, mean over five databases and three rules, is > 0; for k by validation and the paper's best k." + standInNote,
		Test: byK(func(errors measure) frame.Test {
			return positive(corrected, frame.Unit("mean", overRules(func(v versions) frame.Measure { return errors(v.plus()).Minus(errors(v.minus())) }).MeanOver("cell"))).On(public)
		}),
	},
	{
		ID: "fig2-efficient", View: "fig2",
		Title:     "All online algorithms are very efficient compared to ITML, except positive versions on ionosphere, BDG10 and nist16.",
		Statement: "All online algorithms are very efficient compared to ITML; the case of positive versions on ionosphere, BDG10 and nist16 is an exception.",
		Where:     section3 + ", Fig. 2", Theirs: experiment.FigureOnly,
		Predicate: "Per database and method but for the exceptions, the mean CPU time is less than ITML's (1 minus the quotient, jackknifed over trials, > 0); learning alone and with the choice of C or γ." + standInNote,
		TestTimed: byTime(func(spent measure) frame.Test {
			units := each(onlineNames, func(method string) frame.Measure { return over(spent(method), spent(itmlTuned)).Times(-1).Plus(1) })
			return positive(shareOfTime, func(t *table.Table) []judge.Unit {
				return slices.DeleteFunc(units(t), func(u judge.Unit) bool {
					return strings.HasSuffix(u.Name, "⁺") && (strings.HasPrefix(u.Name, "ionosphere") || strings.HasPrefix(u.Name, bdg10.cell) || strings.HasPrefix(u.Name, "nist16"))
				})
			}).On(public)
		}),
	},
	{
		ID: "fig2-positive", View: "fig2",
		Statement: "Positive versions on ionosphere, BDG10 and nist16 databases get close to 200% (of ITML's time).",
		Where:     section3 + ", Fig. 2", Theirs: "close to 200%",
		Predicate: "The mean CPU time divided by ITML's (jackknifed over trials), averaged over the three positive versions on ionosphere and nist16 (BDG10 is not public), is 2 within 0.5; learning alone and with the choice of C or γ.",
		TestTimed: byTime(func(spent measure) frame.Test {
			quotient := overRules(func(v versions) frame.Measure { return over(spent(v.plus()), spent(itmlTuned)) })
			return frame.Printed(2, quotient.MeanOver("cell"), aboutTwice).Told(func(t *table.Table) judge.Shown {
				return judge.Shown{Note: byDatabase(t, quotient, "%.2f")}
			}).On(named("ionosphere", bdg10.cell, "nist16"))
		}),
	},
	{
		ID: "fig2-negative", View: "fig2",
		Statement: "The negative online algorithms reduce dramatically the time spent by their corresponding positive versions.",
		Where:     section3 + ", Fig. 2", Theirs: experiment.FigureOnly,
		Predicate: "Per database and rule, − takes at most half of the CPU time of + (base-2 logarithm of the quotient minus 1 > 0, so that means are geometric); learning alone and with the choice of C." + standInNote,
		TestTimed: byTime(func(spent measure) frame.Test {
			return positive(doublings, each(rules, func(v versions) frame.Measure {
				return spent(v.plus()).Over(spent(v.minus())).Map(math.Log2).Plus(-math.Log2(dramatic))
			})).On(public)
		}),
	},
	{
		ID: "fig2-preserving", View: "table2",
		Statement: "... while preserving good performance results (the negative versions).",
		Where:     section3 + ", Fig. 2", Theirs: "Table 2",
		Predicate: "Per database and rule, the error of − is less than that of + plus 2 points; for k by validation and the paper's best k." + standInNote,
		Test: byK(func(errors measure) frame.Test {
			return positive(corrected, each(rules, func(v versions) frame.Measure { return errors(v.plus()).Minus(errors(v.minus())).Plus(equivalent) })).On(public)
		}),
	},
	{
		ID: "fig2-ls-time", View: "fig2",
		Statement: "The running times are kept relatively low even in the case of PA-LS(-).",
		Where:     section3 + ", end", Theirs: experiment.FigureOnly,
		Predicate: "Per database, PA-LS− takes less than twice the CPU time of PA-I− and of PA-II− (1 minus the base-2 logarithm of the quotient > 0); learning alone and with the choice of C." + standInNote,
		TestTimed: byTime(func(spent measure) frame.Test {
			return positive(doublings, each([]string{"against PA-I-", "against PA-II-"}, func(against string) frame.Measure {
				return spent(strings.TrimPrefix(against, "against ")).Over(spent("PA-LS-")).Map(math.Log2).Plus(math.Log2(dramatic))
			})).On(public)
		}),
	},
	{
		ID: "fig2-updates", View: "fig2",
		Statement: "PA-LS(-) needs about twice the number of updates with regard to the other negative online algorithms.",
		Where:     section3 + ", end", Theirs: "about twice",
		Predicate: "The number of updates of PA-LS− divided by the mean of PA-I− and PA-II−, mean over five databases, is 2 within 0.5." + standInNote,
		Test: frame.Printed(2, updatesOfLS.MeanOver("cell"), aboutTwice).Told(func(t *table.Table) judge.Shown {
			return judge.Shown{Note: byDatabase(t, updatesOfLS, "%.2f") + without(t, updatesOfLS, "nist16")}
		}).On(public),
	},
	{
		ID: "tradeoff", View: "tradeoff",
		Title:     "20 % of all pairs is a good trade-off between computational cost and performance.",
		Statement: "20 % of the total number of pairs has been proved as a good trade off between computational cost and performance.",
		Where:     section3, Theirs: experiment.FigureOnly,
		Predicate: "Per database and method, going on to 40 % lowers the error by less than one point; and stopping at 5 % raises it (> 0). Both must hold." + standInNote,
		Test:      frame.Parts([]string{"going on", "stopping early"}, changeTo(lastSnapshot, littleGain), changeTo(snapshots[0], 0)),
	},
	{
		ID: "tolerance", View: "tolerance",
		Ours:      true,
		Title:     "Ours: a tolerance of 0.4 on the residual makes PA-LS faster by half at no cost in error.",
		Statement: "Ours: a tolerance of 0.4 on the residual makes PA-LS faster by half at no cost in error (the paper names such a tolerance as work in progress).",
		Where:     "Section 4", Theirs: "no number",
		Predicate: "Per database, for + and −: CPU time to learn at tolerance 0 is at least 1.5 times that at 0.4 (base-2 logarithm of the quotient minus log2 1.5 > 0); and the error grows by less than 1 point. Both must hold. On all six databases, for no statement of the paper is graded.",
		TestTimed: func(t, times *table.Table) judge.Test {
			return frame.Parts([]string{"time", "error"},
				positive(doublings, each(ls, func(method string) frame.Measure {
					return spent(times, learnPhase(method)).Over(spent(times, tolerancePhase(method, gradedTolerance))).Map(math.Log2).Plus(-math.Log2(worthwhile))
				})),
				positive(corrected, each(ls, func(method string) frame.Measure {
					return validated(method).Minus(ofSize(column("tolerance", method, table.Format(gradedTolerance), "count"), "", testRows)).Plus(littleGain)
				})),
			)(t)
		},
	},
})

// A rule is that of a claim about a table. It says which kind of interval a claim needs.
type rule func(t *table.Table) judge.Rule

// corrected is for splits of the same objects: errors and losses, in points.
func corrected(t *table.Table) judge.Rule {
	out := judge.Rule{Scale: 100, Unit: "points"}
	for _, r := range resultsOf(t) { // halves of an odd number differ by a row
		out.TestRatio = math.Max(out.TestRatio, r.testRatio())
	}
	return out
}

// corrects is corrected for a rule, of a table with the ratios.
func corrects(r judge.Rule) rule {
	return func(t *table.Table) judge.Rule {
		r := r
		r.TestRatio = slices.Max(experiment.NotEmpty("ratios of test to training rows", t.Values("ratio")))
		return r
	}
}

var (
	bySplits = corrects(judge.Rule{Scale: 100, Unit: "points"})
	ofSteps  = corrects(judge.Rule{Scale: 100, Unit: "% of T"})
	ofTimes  = corrects(judge.Rule{Unit: "doublings"}) // as doublings

	// doublings: base-2 logarithms of times, with plain intervals.
	doublings rule = func(*table.Table) judge.Rule { return judge.Rule{Unit: "doublings"} }
	// shareOfTime: of ITML's, likewise.
	shareOfTime rule = func(*table.Table) judge.Rule { return judge.Rule{Scale: 100, Unit: "% of ITML's time"} }
)

// ls are both PA-LS.
var ls = []string{"PA-LS+", "PA-LS-"}

// each has a unit per database and choice, named by both.
func each[T any](choices []T, m func(choice T) frame.Measure) frame.Units {
	return func(t *table.Table) (out []judge.Unit) {
		for cell, g := range t.Group("cell") {
			for _, c := range choices {
				out = append(out, judge.Unit{Name: cell + ", " + shown.Replace(fmt.Sprint(c)), Diffs: m(c)(g)})
			}
		}
		return out
	}
}

// positive tests that the differences are positive in every unit.
func positive(r rule, units frame.Units) frame.Test { return allBut(0, r, units) }

func allBut(exceptions int, r rule, units frame.Units) frame.Test {
	return func(t *table.Table) judge.Test { return frame.AllBut(exceptions, r(t), units)(t) }
}

// alike tests that the differences are no larger than 2 points in a share of the units.
func alike(share float64, r rule, units frame.Units) frame.Test {
	return func(t *table.Table) judge.Test { return frame.Equivalent(equivalent, share, r(t), units)(t) }
}

// asPrinted tests that the errors are those of Table 2, of which units are the differences to them.
func asPrinted(r rule, units frame.Units) frame.Test {
	return func(t *table.Table) judge.Test { return frame.Values(equivalent, tableShare, r(t), units)(t) }
}

// whole has a unit per choice: a mean over databases.
func whole[T any](choices []T, m func(choice T) frame.Measure) frame.Units {
	return frame.Over(choices, func(c T) (string, frame.Measure) { return shown.Replace(fmt.Sprint(c)), m(c) })
}

// onTheWhole tests a mean over databases, and the same of each of them.
func onTheWhole[T any](r rule, choices []T, m func(choice T) frame.Measure) frame.Test {
	return frame.Readings(
		frame.Reading{Name: "on the whole", Test: positive(r, whole(choices, m))},
		frame.Reading{Name: "everywhere", Test: positive(r, each(choices, m))},
	)
}

// overRules is the mean over the rules.
func overRules(m func(v versions) frame.Measure) frame.Measure {
	var of []frame.Measure
	for _, v := range rules {
		of = append(of, m(v))
	}
	return frame.Mean("trials of the rules", of...)
}

// changeTo tests that the error after a part of the pairs, less that after the paper's, is above −margin.
func changeTo(part, margin float64) frame.Test {
	return positive(corrected, each(onlineNames, func(method string) frame.Measure {
		after := func(part float64) frame.Measure {
			return ofSize(column("snapshot", method, table.Format(part), "count"), "", testRows)
		}
		return after(part).Minus(after(mainSettings.Part)).Plus(margin)
	})).On(public)
}

// updatesOfLS are those of PA-LS− over the mean of the other negative methods.
var updatesOfLS = column("work", "PA-LS-", updates, "count").
	Over(frame.Mean("trials of two methods", column("work", "PA-I-", updates, "count"), column("work", "PA-II-", updates, "count")))

// measure gives the errors or the CPU times of a method, by trial.
type measure func(method string) frame.Measure

// byK tests errors with both choices of the number of neighbours.
func byK(test func(errors measure) frame.Test) frame.Test {
	return frame.Readings(
		frame.Reading{Name: "k by validation", Test: test(validated)},
		frame.Reading{Name: "best k", Test: test(func(method string) frame.Measure { return optimistic(method, nearestOfTied) })},
	).Headline("best k", frame.AsPrinted)
}

// byTime tests CPU times without and with the choice of C or γ.
func byTime(test func(spent measure) frame.Test) func(t, times *table.Table) judge.Test {
	return func(t, times *table.Table) judge.Test {
		return frame.Readings(
			frame.Reading{Name: "learning alone", Test: test(func(method string) frame.Measure { return spent(times, learnPhase(method)) })},
			frame.Reading{Name: "with the choice", Test: test(func(method string) frame.Measure { return total(times, method) })},
		)(t)
	}
}

// table1Test tests the sizes of each database.
var table1Test = frame.Always(func(trial *table.Table) bool {
	for _, r := range resultsOf(trial) {
		d := r.database()
		for what, n := range map[string]int{objects: d.objects, features: d.features, classesOf: d.classes} {
			if r.size(what) != float64(n) {
				return false
			}
		}
	}
	return true
}).On(public).Check("The databases are files: nothing is drawn.", 5)
