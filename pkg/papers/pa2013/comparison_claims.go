package pa2013

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/table"
)

// Margins of the qualitative claims, fixed before the first full run. Errors are shares.
const (
	// "not significant", "very competitive", "preserving good performance results": 2 points.
	equivalent = 0.02
	// "most of the cases": more than half.
	most = 0.5
	// Values of Table 2: within 2 points in at least 90 % of the cells.
	tableShare = 0.9
	// "reduce dramatically the time": to half or less.
	dramatic = 2.0
	// "close to 200 %", "about twice": within a quarter of it.
	aboutTwice = 0.5
	// "a good trade-off": as many steps again gain less than one point.
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
		Test:      testTable1,
	},
	{
		ID: "fig1-reasonable", View: "fig1",
		Statement: "All online learning algorithms have lead to reasonably good behavior according to the predictive 0–1 loss.",
		Where:     section3 + ", Fig. 1", Theirs: experiment.FigureOnly,
		Predicate: "Per database and method, the loss after T steps is less than that of the better constant prediction (all similar, or all dissimilar)." + standInNote,
		Test: func(t *table.Table) judge.Test {
			return positive(corrected, public(resultsOf(t)), onlineNames, func(r results, method string) []float64 {
				share := quotient(r.column("size", "", similarLinks, "count"), r.column("size", "", links, "count"))
				for i, s := range share {
					share[i] = math.Min(s, 1-s)
				}
				return judge.Minus(share, r.losses(method))
			})
		},
	},
	{
		ID: "fig1-negative", View: "fig1",
		Title:     "In 5 of 6 databases, negative methods have a better predictive loss than positive versions of the same methods.",
		Statement: "In 5 out of 6 databases, negative methods have led to better results (predictive loss) compared to positive versions of the same methods.",
		Where:     section3 + ", Fig. 1", Theirs: "5 out of 6",
		Predicate: "Per database, loss of + minus loss of − after T steps > 0, with one exception; for each of the three rules." + standInNote,
		Test: func(t *table.Table) judge.Test {
			return judge.Each(rules, func(v versions) (string, judge.Test) {
				p := positive(corrected, public(resultsOf(t)), undivided, func(r results, _ string) []float64 {
					return judge.Minus(r.losses(v.plus()), r.losses(v.minus()))
				})
				p.Exceptions = 1
				return v.name, p
			})
		},
	},
	{
		ID: "fig1-largest", View: "fig1",
		Statement: "The case of the two biggest databases is specially remarkable (the advantage of negative methods).",
		Where:     section3 + ", Fig. 1", Theirs: experiment.FigureOnly,
		Predicate: "The relative reduction of the loss by − on nist16 is larger than its mean over wine, ionosphere, balance and soybean; for each of the three rules. The other big database is not public.",
		Test: func(t *table.Table) judge.Test {
			return judge.Each(rules, func(v versions) (string, judge.Test) {
				gain := func(r results) []float64 {
					p := r.losses(v.plus())
					return quotient(judge.Minus(p, r.losses(v.minus())), p)
				}
				big := experiment.NotEmpty("big database", named(resultsOf(t), "nist16"))[0]
				var small [][]float64
				for _, r := range named(resultsOf(t), "wine", "ionosphere", "balance", "soybean") {
					small = append(small, gain(r))
				}
				diff := addMean(gain(big), -1, experiment.NotEmpty("small databases", small))
				return v.name, judge.Positive{
					Units: []judge.Unit{{Name: "nist16", Diffs: diff}}, Rule: judge.Rule{Scale: 100, Unit: "% of the loss", TestRatio: big.testRatio()},
				}
			})
		},
	},
	{
		ID: "fig1-ls", View: "fig1",
		Statement: "The LS methods exhibit significantly worse behavior in wine, balance, soybean and BDG10 databases.",
		Where:     section3 + ", Fig. 1", Theirs: experiment.FigureOnly,
		Predicate: "Per database, for + and −, the loss of PA-LS minus the mean loss of PA-I and PA-II is > 0; on wine, balance and soybean (BDG10 is not public).",
		Test: func(t *table.Table) judge.Test {
			return positive(corrected, named(resultsOf(t), "wine", "balance", "soybean", bdg10.cell), ls, func(r results, method string) []float64 {
				sign := strings.TrimPrefix(method, "PA-LS")
				return addMean(r.losses(method), -1, [][]float64{r.losses("PA-I" + sign), r.losses("PA-II" + sign)})
			})
		},
	},
	{
		ID: "c-matters", View: "choice",
		Statement: "The performance of the different online learning algorithms strongly depends on the value of the parameter C.",
		Where:     "Section 2.4", Theirs: "no number",
		Predicate: "The validation error with the worst C of the grid is at least 2 points above that with the best; worst and best are read from the same means over trials. Everywhere (our word): per database and method. On the whole: per method, mean over the databases." + standInNote,
		Test:      testCMatters,
	},
	{
		ID: "table2-values", View: "table2",
		Statement: "The average classification errors are those of Table 2.",
		Where:     section3 + ", Table 2", Theirs: "Table 2",
		Predicate: "Per database and method, our mean error with the paper's rule (best k on the test rows) differs from the printed one by less than 2 points, with its interval, in at least 90 % of the 35 cells; for two rules for tied votes. " +
			"The intervals are ours; those of the paper are not known." + standInNote,
		Test: func(t *table.Table) judge.Test {
			ties := map[string]string{nearestOfTied: "ties to the nearest", firstName: "ties to the first class name"}
			return judge.Each([]string{nearestOfTied, firstName}, func(column string) (string, judge.Test) {
				return ties[column], alike(t, tableShare, judged, func(r results, method string) []float64 {
					e, _ := r.optimistic(method, column)
					floats.AddConst(-printed[r.database().paper][method].percent/100, e)
					return e
				})
			})
		},
	},
	{
		ID: "table2-not-significant", View: "significance",
		Statement: "The differences among different classification results are not significant in most of the cases.",
		Where:     section3 + ", Table 2", Theirs: "Table 2",
		Predicate: "In more than half of the 105 cases (21 pairs of methods on five databases) the whole corrected interval of the difference of errors lies within ±2 points: that a test finds nothing would show nothing. For k by validation and the paper's best k." + standInNote,
		Test: func(t *table.Table) judge.Test {
			return judge.Shown{
				Test: byK(func(errors measure) judge.Test {
					return alike(t, most, couples(), func(r results, c couple) []float64 { return judge.Minus(errors(r, c.a), errors(r, c.b)) })
				}),
				Note: fmt.Sprintf("Friedman's test over the five databases: p = %.2g.", friedman(public(resultsOf(t))).P),
			}
		},
	},
	{
		ID: "table2-competitive", View: "table2",
		Statement: "All algorithms lead to very competitive results (with ITML).",
		Where:     section3 + ", Table 2", Theirs: "Table 2",
		Predicate: "Per database and online method, its error is less than ITML's plus 2 points; for k by validation and the paper's best k." + standInNote,
		Test: func(t *table.Table) judge.Test {
			return byK(func(errors measure) judge.Test {
				return positive(corrected, public(resultsOf(t)), onlineNames, func(r results, method string) []float64 {
					return difference(errors(r, itmlTuned), errors(r, method), equivalent)
				})
			})
		},
	},
	bestK,
	mostCompetitive,
	{
		ID: "table2-ls-best", View: "table2",
		Statement: "The combination of LS approach with negative matrices lead to the best results in the three last databases.",
		Where:     section3 + ", Table 2", Theirs: "8.27, 20.20 and 5.62 %",
		Predicate: "On soybean and nist16 (BDG10 is not public), the error of each of the six others minus that of PA-LS− is > 0; for k by validation and the paper's best k.",
		Test: func(t *table.Table) judge.Test {
			others := slices.DeleteFunc(slices.Clone(judged), func(m string) bool { return m == "PA-LS-" })
			return byK(func(errors measure) judge.Test {
				return positive(corrected, named(resultsOf(t), "soybean", bdg10.cell, "nist16"), others, func(r results, method string) []float64 {
					return judge.Minus(errors(r, method), errors(r, "PA-LS-"))
				})
			})
		},
	},
	{
		ID: "negative-better", View: "table2",
		Title:     "Better results in general if the PSD constraint is not enforced until the end of the online learning process.",
		Statement: "We have obtained better results in general if the PSD constraint is not enforced until the end of the online learning process.",
		Where:     "Section 2.4", Theirs: "Table 2: − is lower in 11 of 18",
		Predicate: "\"In general\": the error of + minus the error of −, mean over five databases and three rules, is > 0; for k by validation and the paper's best k." + standInNote,
		Test: func(t *table.Table) judge.Test {
			return byK(func(errors measure) judge.Test {
				all := positive(corrected, public(resultsOf(t)), rules, func(r results, v versions) []float64 {
					return judge.Minus(errors(r, v.plus()), errors(r, v.minus()))
				})
				all.Units = []judge.Unit{{Name: "mean", Diffs: meanOf(all.Units)}}
				return all
			})
		},
	},
	{
		ID: "fig2-efficient", View: "fig2",
		Title:     "All online algorithms are very efficient compared to ITML, except positive versions on ionosphere, BDG10 and nist16.",
		Statement: "All online algorithms are very efficient compared to ITML; the case of positive versions on ionosphere, BDG10 and nist16 is an exception.",
		Where:     section3 + ", Fig. 2", Theirs: experiment.FigureOnly,
		Predicate: "Per database and method but for the exceptions, the mean CPU time is less than ITML's (1 minus the quotient, jackknifed over trials, > 0); learning alone and with the choice of C or γ." + standInNote,
		TestTimed: func(t, times *table.Table) judge.Test {
			return byTime(times, func(spent measure) judge.Test {
				p := positive(shareOfTime, public(resultsOf(t)), onlineNames, func(r results, method string) []float64 {
					q := jackknifed(spent(r, method), spent(r, itmlTuned))
					return difference(make([]float64, len(q)), q, 1)
				})
				p.Units = slices.DeleteFunc(p.Units, func(u judge.Unit) bool {
					return strings.HasSuffix(u.Name, "⁺") && (strings.HasPrefix(u.Name, "ionosphere") || strings.HasPrefix(u.Name, bdg10.cell) || strings.HasPrefix(u.Name, "nist16"))
				})
				return p
			})
		},
	},
	{
		ID: "fig2-positive", View: "fig2",
		Statement: "Positive versions on ionosphere, BDG10 and nist16 databases get close to 200% (of ITML's time).",
		Where:     section3 + ", Fig. 2", Theirs: "close to 200%",
		Predicate: "The mean CPU time divided by ITML's (jackknifed over trials), averaged over the three positive versions on ionosphere and nist16 (BDG10 is not public), is 2 within 0.5; learning alone and with the choice of C or γ.",
		TestTimed: func(t, times *table.Table) judge.Test {
			return byTime(times, func(spent measure) judge.Test {
				return positiveTimes(named(resultsOf(t), "ionosphere", bdg10.cell, "nist16"), spent)
			})
		},
	},
	{
		ID: "fig2-negative", View: "fig2",
		Statement: "The negative online algorithms reduce dramatically the time spent by their corresponding positive versions.",
		Where:     section3 + ", Fig. 2", Theirs: experiment.FigureOnly,
		Predicate: "Per database and rule, − takes at most half of the CPU time of + (base-2 logarithm of the quotient minus 1 > 0, so that means are geometric); learning alone and with the choice of C." + standInNote,
		TestTimed: func(t, times *table.Table) judge.Test {
			return byTime(times, func(spent measure) judge.Test {
				return positive(doublings, public(resultsOf(t)), rules, func(r results, v versions) []float64 {
					return log2(quotient(spent(r, v.plus()), spent(r, v.minus())), math.Log2(dramatic))
				})
			})
		},
	},
	{
		ID: "fig2-preserving", View: "table2",
		Statement: "... while preserving good performance results (the negative versions).",
		Where:     section3 + ", Fig. 2", Theirs: "Table 2",
		Predicate: "Per database and rule, the error of − is less than that of + plus 2 points; for k by validation and the paper's best k." + standInNote,
		Test: func(t *table.Table) judge.Test {
			return byK(func(errors measure) judge.Test {
				return positive(corrected, public(resultsOf(t)), rules, func(r results, v versions) []float64 {
					return difference(errors(r, v.plus()), errors(r, v.minus()), equivalent)
				})
			})
		},
	},
	{
		ID: "fig2-ls-time", View: "fig2",
		Statement: "The running times are kept relatively low even in the case of PA-LS(-).",
		Where:     section3 + ", end", Theirs: experiment.FigureOnly,
		Predicate: "Per database, PA-LS− takes less than twice the CPU time of PA-I− and of PA-II− (1 minus the base-2 logarithm of the quotient > 0); learning alone and with the choice of C." + standInNote,
		TestTimed: func(t, times *table.Table) judge.Test {
			return byTime(times, func(spent measure) judge.Test {
				return positive(doublings, public(resultsOf(t)), []string{"against PA-I-", "against PA-II-"}, func(r results, against string) []float64 {
					return log2(quotient(spent(r, strings.TrimPrefix(against, "against ")), spent(r, "PA-LS-")), -math.Log2(dramatic))
				})
			})
		},
	},
	{
		ID: "fig2-updates", View: "fig2",
		Statement: "PA-LS(-) needs about twice the number of updates with regard to the other negative online algorithms.",
		Where:     section3 + ", end", Theirs: "about twice",
		Predicate: "The number of updates of PA-LS− divided by the mean of PA-I− and PA-II−, mean over five databases, is 2 within 0.5." + standInNote,
		Test: func(t *table.Table) judge.Test {
			quotients := unitsOf(public(resultsOf(t)), undivided, func(r results, _ string) []float64 {
				of := func(method string) []float64 { return r.column("work", method, updates, "count") }
				others := addMean(make([]float64, len(of("PA-I-"))), 1, [][]float64{of("PA-I-"), of("PA-II-")})
				return quotient(of("PA-LS-"), others)
			})
			return judge.Shown{
				Test: judge.Number{Theirs: 2, Ours: meanOf(quotients), Tolerance: aboutTwice},
				Note: byDatabase(quotients, "%.2f") + without(quotients, "nist16"),
			}
		},
	},
	{
		ID: "tradeoff", View: "tradeoff",
		Title:     "20 % of all pairs is a good trade-off between computational cost and performance.",
		Statement: "20 % of the total number of pairs has been proved as a good trade off between computational cost and performance.",
		Where:     section3, Theirs: experiment.FigureOnly,
		Predicate: "Per database and method, going on to 40 % lowers the error by less than one point; and stopping at 5 % raises it (> 0). Both must hold." + standInNote,
		Test: func(t *table.Table) judge.Test {
			change := func(part, margin float64) judge.Test {
				return positive(corrected, public(resultsOf(t)), onlineNames, func(r results, method string) []float64 {
					after := func(part float64) []float64 {
						return r.shares(r.column("snapshot", method, table.Format(part), "count"))
					}
					return difference(after(part), after(mainSettings.Part), margin)
				})
			}
			return judge.Both{{Name: "going on", Test: change(lastSnapshot, littleGain)}, {Name: "stopping early", Test: change(snapshots[0], 0)}}
		},
	},
	{
		ID: "tolerance", View: "tolerance",
		Ours:      true,
		Title:     "Ours: a tolerance of 0.4 on the residual makes PA-LS faster by half at no cost in error.",
		Statement: "Ours: a tolerance of 0.4 on the residual makes PA-LS faster by half at no cost in error (the paper names such a tolerance as work in progress).",
		Where:     "Section 4", Theirs: "no number",
		Predicate: "Per database, for + and −: CPU time to learn at tolerance 0 is at least 1.5 times that at 0.4 (base-2 logarithm of the quotient minus log2 1.5 > 0); and the error grows by less than 1 point. Both must hold. On all six databases, for no statement of the paper is graded.",
		TestTimed: func(t, times *table.Table) judge.Test {
			return judge.Both{
				{Name: "time", Test: positive(doublings, resultsOf(t), ls, func(r results, method string) []float64 {
					return log2(quotient(r.times(times, learnPhase(method)), r.times(times, tolerancePhase(method, gradedTolerance))), math.Log2(worthwhile))
				})},
				{Name: "error", Test: positive(corrected, resultsOf(t), ls, func(r results, method string) []float64 {
					tolerant := r.shares(r.column("tolerance", method, table.Format(gradedTolerance), "count"))
					return difference(r.validated(method), tolerant, littleGain)
				})},
			}
		},
	},
})

// interval says which kind of interval a claim needs.
type interval int

const (
	// corrected for splits of the same objects: errors and losses, in points.
	corrected interval = iota
	// doublings: base-2 logarithms of times, plain.
	doublings
	// shareOfTime: of ITML's, plain.
	shareOfTime
)

func (k interval) rule(all []results) judge.Rule {
	switch k {
	case doublings:
		return judge.Rule{Unit: "doublings"}
	case shareOfTime:
		return judge.Rule{Scale: 100, Unit: "% of ITML's time"}
	}
	// The largest n_test/n_train: halves of an odd number differ by a row.
	ratio := 0.0
	for _, r := range all {
		ratio = math.Max(ratio, r.testRatio())
	}
	return judge.Rule{Scale: 100, Unit: "points", TestRatio: ratio}
}

// Choices of unitsOf: both PA-LS, and one unit per database.
var (
	ls        = []string{"PA-LS+", "PA-LS-"}
	undivided = []string{""}
)

// unitsOf returns a unit per database and choice, named by both.
func unitsOf[T any](all []results, choices []T, diffs func(r results, choice T) []float64) (out []judge.Unit) {
	for _, r := range all {
		for _, c := range choices {
			name := r.cell
			if what := shown.Replace(fmt.Sprint(c)); what != "" {
				name += ", " + what
			}
			out = append(out, judge.Unit{Name: name, Diffs: diffs(r, c)})
		}
	}
	return out
}

// positive tests that the differences are positive for every database and choice.
func positive[T any](kind interval, all []results, choices []T, diffs func(r results, choice T) []float64) judge.Positive {
	return judge.Positive{Units: unitsOf(all, choices, diffs), Rule: kind.rule(all)}
}

// alike tests that the differences are no larger than 2 points in a share of the public
// databases and choices.
func alike[T any](t *table.Table, share float64, choices []T, diffs func(r results, choice T) []float64) judge.Test {
	all := public(resultsOf(t))
	return judge.Equivalent{Units: unitsOf(all, choices, diffs), Margin: equivalent, Share: share, Rule: corrected.rule(all)}
}

// meanOf is the mean over units, by trial.
func meanOf(units []judge.Unit) []float64 {
	var columns [][]float64
	for _, u := range experiment.NotEmpty("database to judge", units) {
		columns = append(columns, u.Diffs)
	}
	return addMean(make([]float64, len(columns[0])), 1, columns)
}

// addMean returns a plus a multiple of the mean over columns, by trial.
func addMean(a []float64, factor float64, columns [][]float64) []float64 {
	out := slices.Clone(a)
	for _, c := range columns {
		judge.SameLength("trials of two databases or methods", out, c)
		floats.AddScaled(out, factor/float64(len(columns)), c)
	}
	return out
}

// log2 returns the base-2 logarithms, less a margin.
func log2(values []float64, margin float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = math.Log2(v) - margin
	}
	return out
}

// measure returns the errors or the CPU times of a method, by trial.
type measure func(r results, method string) []float64

// byK tests errors with both choices of the number of neighbours.
func byK(test func(errors measure) judge.Test) judge.Test {
	return judge.Readings{
		{Name: "k by validation", Test: test(results.validated)},
		{Name: "best k", Test: test(func(r results, method string) []float64 {
			e, _ := r.optimistic(method, nearestOfTied)
			return e
		})},
	}
}

// byTime tests CPU times without and with the choice of C or γ.
func byTime(times *table.Table, test func(spent measure) judge.Test) judge.Test {
	return judge.Readings{
		{Name: "learning alone", Test: test(func(r results, method string) []float64 { return r.times(times, learnPhase(method)) })},
		{Name: "with the choice", Test: test(func(r results, method string) []float64 { return r.total(times, method) })},
	}
}

func testTable1(t *table.Table) judge.Test {
	all := experiment.NotEmpty("database to judge", public(resultsOf(t)))
	holds := judge.Holds(slices.Repeat([]bool{true}, len(all[0].column("size", "", objects, "count"))))
	for _, r := range all {
		d := r.database()
		for what, n := range map[string]int{objects: d.objects, features: d.features, classesOf: d.classes} {
			sizes := r.column("size", "", what, "count")
			if len(sizes) != len(holds) {
				judge.Refuse("pa2013: %s: %d rows with the number of %s, want %d", r.cell, len(sizes), what, len(holds))
			}
			for trial, size := range sizes {
				holds[trial] = holds[trial] && size == float64(n)
			}
		}
	}
	return holds
}
