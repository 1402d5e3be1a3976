package erkle2015

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/table"
)

// eachTest is the rule for τ that helps a batch method most: at each number of triplets the one of the least mean test error.
const eachTest = "τ best on test at each size"

// releasedRules are the readings of how τ is chosen, one τ for all trials: of the least mean error over trials, and over sizes but
// in eachTest. The paper's is one of the last two.
var releasedRules = []string{byValidation, byTest, eachTest}

// knownThen is what was known when these claims were added.
const knownThen = "the errors of ERKLE in Figs. 1, 3 and 4, and the programs' errors on other points of another seed"

// releasedRead reads the rows of a data set.
type releasedRead struct{ t *table.Table }

// candidates are the rows of a method learned in one way, outside those where passes are varied.
func (r releasedRead) candidates(method, how string) *table.Table {
	g := r.t.Where("method", method, "how", how)
	if slices.Contains(g.IndexNames(), "passes") {
		g = g.Where("passes", "")
	}
	return g
}

// chosenRows returns the rows of g with the weight and, where they differ, the first step of the least mean error on a part;
// the first of equals.
func chosenRows(g *table.Table, part string) *table.Table {
	columns := []string{"tau"}
	if slices.Contains(g.IndexNames(), "first step") {
		columns = append(columns, "first step")
	}
	var best *table.Table
	least := math.Inf(1)
	for _, rows := range groups(g, columns...) {
		if e := judge.Summarize(strictErrors(rows, part)).Mean; best == nil || e < least {
			best, least = rows, e
		}
	}
	if best == nil {
		judge.Refuse("erkle2015: no rows to choose τ among")
	}
	return best
}

// under returns the rows at a size under a rule for τ.
func (r releasedRead) under(rule string, g *table.Table, size string) *table.Table {
	at := g.Where("triplets", size)
	switch rule {
	case eachTest:
		return chosenRows(at, "test")
	case byTest:
		return chosenRows(g, "test").Where("triplets", size)
	}
	return chosenRows(g, "validation").Where("triplets", size)
}

// errors are the shares of a part that a method leaves unsatisfied at a size, by trial. An online method has no rule.
func (r releasedRead) errors(part, method, how, rule, size string) []float64 {
	g := r.under(rule, r.candidates(method, how), size)
	return r.byTrial(g, strictErrors(g, part), method, size)
}

// byTrial returns values, which must be one per trial.
func (r releasedRead) byTrial(g *table.Table, values []float64, method, size string) []float64 {
	if n := len(r.t.Unique("trial")); g.Len() != n || len(g.Unique("trial")) != n {
		judge.Refuse("erkle2015: %s after %s triplets: %d rows for %d trials", method, size, g.Len(), n)
	}
	return values
}

// mean averages errors over sizes, by trial.
func (r releasedRead) mean(part, method, how, rule string, sizes []string) []float64 {
	var out []float64
	for _, size := range experiment.NotEmpty("sizes", sizes) {
		e := r.errors(part, method, how, rule, size)
		if out == nil {
			out = make([]float64, len(e))
		}
		judge.SameLength(method+": trials at several sizes", out, e)
		for i, x := range e {
			out[i] += x / float64(len(sizes))
		}
	}
	return out
}

// sizes are the numbers of triplets at which batch methods were fitted in one way, ascending.
func (r releasedRead) sizes(how string) []string {
	var at []int
	for _, n := range countsIn(r.t.Where("how", how), "triplets") {
		if !slices.Contains(at, n) {
			at = append(at, n)
		}
	}
	slices.Sort(at)
	out := make([]string, len(at))
	for i, n := range at {
		out[i] = strconv.Itoa(n)
	}
	return experiment.NotEmpty("sizes of "+how, out)
}

// last is the largest of the sizes.
func (r releasedRead) last(how string) string { return experiment.Last("sizes", r.sizes(how)) }

// less returns a unit per pair of methods, better first, of which either may be a batch method: the error of the worse minus that of
// the better, averaged over sizes, plus a margin.
func (r releasedRead) less(part, how, rule string, sizes []string, margin float64, pairs ...[2]string) []judge.Unit {
	of := func(method string) []float64 {
		if !isBatch(method) {
			return r.mean(part, method, onlineHow, rule, sizes)
		}
		return r.mean(part, method, how, rule, sizes)
	}
	out := make([]judge.Unit, len(pairs))
	for i, p := range pairs {
		out[i] = judge.Unit{Name: p[0] + " and " + p[1], Diffs: excess(of(p[1]), of(p[0]), margin)}
	}
	return out
}

// releasedReadings tests under each way to fit and each rule for τ.
func releasedReadings(hows []string, test func(how, rule string) judge.Test) judge.Readings {
	var out judge.Readings
	for _, how := range hows {
		for _, rule := range releasedRules {
			out = append(out, judge.Reading{Name: how + ", " + rule, Test: test(how, rule)})
		}
	}
	return out
}

// namedHows are the ways to run the named programs.
var namedHows = []string{singleHow, chainedHow}

// againstNamed compares online methods with all batch methods after all triplets, under each reading.
func againstNamed(online []string, hows []string, rule judge.Rule, compare func(batch, online []float64) []float64) func(t *table.Table) judge.Test {
	return func(t *table.Table) judge.Test {
		return releasedReadings(hows, func(how, tau string) judge.Test {
			r := releasedRead{t}
			last := r.last(how)
			var units []judge.Unit
			for _, method := range online {
				for _, b := range batchNames {
					units = append(units, judge.Unit{Name: method + " against " + b, Diffs: compare(r.errors("test", b, how, tau, last), r.errors("test", method, onlineHow, tau, last))})
				}
			}
			return judge.Positive{Units: units, Rule: rule}
		})
	}
}

// slightly is the smaller of two differences: batch − online, and 1.5·online − batch.
func slightly(batch, online []float64) []float64 {
	out := judge.Minus(batch, online)
	for i := range out {
		out[i] = min(out[i], slightTimes*online[i]-batch[i])
	}
	return out
}

// byMuch is batch − 1.5·online.
func byMuch(batch, online []float64) []float64 { return judge.Minus(batch, scaled(largeTimes, online)) }

const (
	namedNote     = " The batch methods are the programs that the paper names, as they were released. Readings: each fit from I, or from the kernel of the mini-batch before (then 100 iterations at most, and CKL's first step 0.1 in place of 10⁻⁵); "
	certifiedNote = " The batch methods are solved to a certified residual of 10⁻³. Readings: "
	rulesNote     = "one τ by validation, one best on test, one best on test at each size."
	solvedNote    = "Ours: the same against batch methods that are solved: "
)

var beyond = judge.Rule{Scale: 100, Unit: "points beyond 1.5 times"}

var releasedClaims = experiment.Claims([]experiment.Claim{
	{
		ID: "released-one-pass", View: "released-fig1b", Afterwards: knownThen,
		Statement: "With a single pass over the data, both ERKLE methods outperformed all batch methods slightly.",
		Where:     fiveOne + "Fig. 1b", Theirs: experiment.FigureOnly,
		Predicate: "Error of each batch method − that of each ERKLE method with β = 1 > 0, and 1.5 times the latter − the former > 0 (slightly), after all triplets: the smaller of the two differences, paired." + namedNote + rulesNote,
		Test:      againstNamed([]string{paERKLE, steERKLE}, namedHows, points, slightly),
	},
	{
		ID: "released-one-pass-better", View: "released-fig1b", Afterwards: knownThen,
		Statement: "Ours: with a single pass over the data, both ERKLE methods outperform all batch methods, by however much.",
		Where:     fiveOne + "Fig. 1b", Theirs: experiment.FigureOnly,
		Predicate: "Error of each batch method − that of each ERKLE method with β = 1 > 0 after all triplets, paired." + namedNote + rulesNote,
		Test:      againstNamed([]string{paERKLE, steERKLE}, namedHows, points, judge.Minus),
	},
	{
		ID: "released-ten-passes", View: "released-fig1b", Afterwards: knownThen,
		Statement: "With ten passes over the data, the ERKLE methods outperformed the batch methods by a large margin.",
		Where:     fiveOne + "Fig. 1b", Theirs: experiment.FigureOnly,
		Predicate: "Error of each batch method − 1.5 times that of each ERKLE method with β = 10 > 0 after all triplets, paired." + namedNote + rulesNote,
		Test:      againstNamed([]string{paERKLETen, steERKLETen}, namedHows, beyond, byMuch),
	},
	{
		ID: "released-levels-off", View: "released-fig1b", Afterwards: knownThen,
		Statement: "The batch methods level off more quickly than the ERKLE methods.",
		Where:     fiveOne + "Fig. 1b", Theirs: experiment.FigureOnly,
		Predicate: "From the third last size to the last, the error of each ERKLE method, β = 1 and 10, falls by a greater share of itself than that of each batch method (difference of the shares > 0, paired)." + namedNote + rulesNote,
		Test: func(t *table.Table) judge.Test {
			return releasedReadings(namedHows, func(how, rule string) judge.Test {
				r := releasedRead{t}
				sizes := r.sizes(how)
				if len(sizes) < 3 {
					judge.Refuse("erkle2015: batch methods at %d sizes, want at least 3", len(sizes))
				}
				fall := func(method, how string) []float64 {
					return falls(r.errors("test", method, how, rule, sizes[len(sizes)-3]), r.errors("test", method, how, rule, sizes[len(sizes)-1]))
				}
				var units []judge.Unit
				for _, method := range erkles {
					for _, b := range batchNames {
						units = append(units, judge.Paired(method+" against "+b, fall(method, onlineHow), fall(b, how)))
					}
				}
				return judge.Positive{Units: units, Rule: ofTheError}
			})
		},
	},
	{
		ID: "released-few-passes", View: "released-fig1c", Afterwards: knownThen,
		Statement: "Clearly, if only few passes through the data can be performed, then ERKLE is the better choice.",
		Where:     fiveOne + "Fig. 1c", Theirs: experiment.FigureOnly,
		Predicate: "Error of the batch method after 1, 2 and 5 gradient steps − that of the ERKLE method of its loss after as many passes > 0, paired. The batch methods are the programs that the paper names, as they were released. " +
			"Readings: so many steps on all triplets from I, or on each mini-batch from the kernel of the one before; τ and first step by validation, or best on test.",
		Test: func(t *table.Table) judge.Test {
			var out judge.Readings
			for _, how := range namedHows {
				for _, part := range []string{"validation", "test"} {
					var units []judge.Unit
					for _, pair := range fig1Pairs {
						for _, passes := range fewPasses {
							r := releasedRead{t}
							g := chosenRows(t.Where("method", pair.batch.name, "how", how, "passes", passes), part)
							batch := r.byTrial(g, testErrors(g), pair.batch.name, passes)
							units = append(units, judge.Paired(pair.online+" against "+pair.batch.name+", "+passes, batch, perTrial(t, "method", pair.online, "passes", passes)))
						}
					}
					out = append(out, judge.Reading{Name: how + ", steps by " + part, Test: judge.Positive{Units: units, Rule: points}})
				}
			}
			return out
		},
	},
	{
		ID: "certified-one-pass", View: "released-fig1b", Afterwards: knownThen,
		Statement: solvedNote + "with a single pass both ERKLE methods outperform them slightly.",
		Where:     fiveOne + "Fig. 1b", Theirs: experiment.FigureOnly,
		Predicate: "As released-one-pass." + certifiedNote + rulesNote,
		Test:      againstNamed([]string{paERKLE, steERKLE}, []string{certifiedHow}, points, slightly),
	},
	{
		ID: "certified-ten-passes", View: "released-fig1b", Afterwards: knownThen,
		Title:     "Ours: with ten passes the ERKLE methods outperform batch methods that are solved by a large margin.",
		Statement: solvedNote + "with ten passes the ERKLE methods outperform them by a large margin.",
		Where:     fiveOne + "Fig. 1b", Theirs: experiment.FigureOnly,
		Predicate: "As released-ten-passes." + certifiedNote + rulesNote,
		Test:      againstNamed([]string{paERKLETen, steERKLETen}, []string{certifiedHow}, beyond, byMuch),
	},
	{
		ID: "released-unsolved", View: "released-final",
		Statement: "Ours: the named programs do not solve the problem that they state: they end far above its minimum.",
		Where:     "not in the paper", Theirs: "not in the paper",
		Afterwards: "costs of the named programs in a pilot with another seed",
		Predicate:  "After all triplets the objective of GNMDS and of STE by the named program (single fits), minus that of the certified fit with the same τ, minus a hundredth of the objective of K = 0 is > 0, with the τ of the three rules.",
		Test: func(t *table.Table) judge.Test {
			r := releasedRead{t}
			return judge.Under(releasedRules, func(rule string) judge.Test {
				var units []judge.Unit
				for _, b := range []string{gnmdsBatch, steBatch} {
					last := r.last(singleHow)
					g := r.under(rule, r.candidates(b, singleHow), last)
					over := slices.Clone(r.byTrial(g, g.Values("excess"), b, last))
					for i := range over {
						over[i] -= farAbove
					}
					units = append(units, judge.Unit{Name: b, Diffs: over})
				}
				return judge.Positive{Units: units, Rule: judge.Rule{Scale: 100, Unit: "% of the objective of K = 0, beyond one"}}
			})
		},
	},
})

// "far": by a hundredth of the objective of K = 0, ten times the certified residual.
const farAbove = 0.01

// answersIn reads the rows of a data set of people's answers.
func answersIn(t *table.Table, data string) releasedRead {
	return releasedRead{t: t.Where("cell", data)}
}

// ratio is n_test/n_train of the splits.
func (r releasedRead) ratio() float64 {
	of := experiment.NotEmpty("rows of a data set", r.t.Values("test triplets"))
	return experiment.SizeRatio("test to training triplets", of[0], numberIn("triplets", r.last(singleHow)))
}

// onMusic tests differences under each rule for τ, at the end and as the mean over the sizes.
func onMusic(units func(r releasedRead, rule string, sizes []string) []judge.Unit) func(t *table.Table) judge.Test {
	return func(t *table.Table) judge.Test {
		r := answersIn(t, music)
		sizes := r.sizes(singleHow)
		var out judge.Readings
		for _, rule := range releasedRules {
			out = append(out,
				judge.Reading{Name: "at the end, " + rule, Test: judge.Positive{Units: units(r, rule, sizes[len(sizes)-1:]), Rule: r.answersRule("points")}},
				judge.Reading{Name: "mean over sizes, " + rule, Test: judge.Positive{Units: units(r, rule, sizes), Rule: r.answersRule("points")}})
		}
		return out
	}
}

// answersRule is that of differences between errors on splits of the same answers.
func (r releasedRead) answersRule(unit string) judge.Rule {
	return judge.Rule{Scale: 100, Unit: unit, TestRatio: r.ratio()}
}

// lessOnMusic tests that the better of each pair has a smaller error on a part, by a margin.
func lessOnMusic(part string, margin float64, pairs ...[2]string) func(t *table.Table) judge.Test {
	return onMusic(func(r releasedRead, rule string, sizes []string) []judge.Unit {
		return r.less(part, singleHow, rule, sizes, margin, pairs...)
	})
}

// ranksOnMusic tests a number of the ranks at the smallest and at the largest size, as a share of the objects.
func ranksOnMusic(of func(first, last float64) float64) func(t *table.Table) judge.Test {
	return func(t *table.Table) judge.Test {
		r := answersIn(t, music)
		sizes := r.sizes(singleHow)
		var out judge.Readings
		for _, column := range []string{looseRank, fineRank} {
			for _, rule := range releasedRules {
				var units []judge.Unit
				for _, b := range batchNames {
					at := func(size string) []float64 {
						g := r.under(rule, r.candidates(b, singleHow), size)
						return r.byTrial(g, g.Values(column), b, size)
					}
					first, last := at(sizes[0]), at(sizes[len(sizes)-1])
					judge.SameLength("trials at two sizes", first, last)
					diffs := make([]float64, len(first))
					for i := range diffs {
						diffs[i] = of(first[i]/musicObjects, last[i]/musicObjects)
					}
					units = append(units, judge.Unit{Name: b, Diffs: diffs})
				}
				out = append(out, judge.Reading{Name: column + ", " + rule, Test: judge.Positive{Units: units, Rule: r.answersRule("% of the objects")}})
			}
		}
		return out
	}
}

// named says what the batch methods are in the claims on answers.
var named = fmt.Sprintf(" The batch methods are the programs that the paper names, as they were released, each fit from I, stopped after %d iterations (few answers: %d), with CKL's first step %v in place of 10⁻⁵. Readings: ", musicCap, answersCap, cappedEta)

const (
	onMusicNote = "at the end or the mean over 4 sizes; " + rulesNote + cleanedNote
	ranksNote   = "eigenvalues above 10⁻³ or 10⁻⁶ of the largest; " + rulesNote + cleanedNote
)

// namedOnStandIns tests a claim on the stand-ins of Fig. 4 under each rule for τ.
func namedOnStandIns(units func(r releasedRead, rule string, sizes []string) []judge.Unit) func(t *table.Table) judge.Test {
	return func(t *table.Table) judge.Test {
		return judge.StandIn{Where: "stand-ins", Test: judge.Under(releasedRules, func(rule string) judge.Test {
			var all []judge.Unit
			for _, data := range standIns {
				r := answersIn(t, data)
				for _, u := range units(r, rule, r.sizes(singleHow)) {
					all = append(all, judge.Unit{Name: data + ", " + u.Name, Diffs: u.Diffs})
				}
			}
			return judge.Positive{Units: all, Rule: points}
		})}
	}
}

var releasedAnswersClaims = experiment.Claims([]experiment.Claim{
	{
		ID: "released-fig3-ste-worse", View: "released-fig3", Afterwards: knownThen,
		Statement: "STE-ERKLE performs considerably worse than the other methods (on the test set).",
		Where:     section53 + ", Fig. 3a", Theirs: experiment.FigureOnly,
		Predicate: "The test error of STE-ERKLE (δ = 1) minus that of PA-ERKLE and of each batch method is more than 2 points, with one and with ten passes." + named + onMusicNote,
		Test:      lessOnMusic("test", -considerable, steAgainstOthers()...),
	},
	{
		ID: "released-fig3-as-well", View: "released-fig3", Afterwards: knownThen,
		Statement: "PA-ERKLE performs as well as the batch methods.",
		Where:     section53 + ", Fig. 3a", Theirs: experiment.FigureOnly,
		Predicate: "The test error of PA-ERKLE with one pass is less than that of each batch method plus 1 point." + named + onMusicNote,
		Test:      lessOnMusic("test", asWell, against(paERKLE, batchNames)...),
	},
	{
		ID: "released-fig3-often-better", View: "released-fig3", Afterwards: knownThen,
		Statement: "PA-ERKLE performs often better (than the batch methods) when multiple passes are taken.",
		Where:     section53 + ", Fig. 3a", Theirs: experiment.FigureOnly,
		Predicate: "Per batch method, PA-ERKLE with ten passes has the smaller test error at more than half of the 4 sizes (the share of sizes minus ½ is > 0; equal errors count half)." + named + rulesNote + cleanedNote,
		Test: func(t *table.Table) judge.Test {
			r := answersIn(t, music)
			sizes := r.sizes(singleHow)
			return judge.Under(releasedRules, func(rule string) judge.Test {
				var units []judge.Unit
				for _, b := range batchNames {
					var share []float64
					for _, size := range sizes {
						d := judge.Minus(r.errors("test", b, singleHow, rule, size), r.errors("test", paERKLETen, onlineHow, rule, size))
						if share == nil {
							share = make([]float64, len(d))
						}
						judge.SameLength("trials at two sizes", share, d)
						for i, x := range d {
							share[i] += (1 + sign(x)) / 2 / float64(len(sizes))
						}
					}
					for i := range share {
						share[i] -= often
					}
					units = append(units, judge.Unit{Name: b, Diffs: share})
				}
				return judge.Positive{Units: units, Rule: r.answersRule("% of the sizes above one half")}
			})
		},
	},
	{
		ID: "released-fig3-no-trace", View: "released-fig3", Afterwards: knownThen,
		Statement: "Our method outperforms batch methods that use trace regularization.",
		Where:     section53 + ", Fig. 3c", Theirs: experiment.FigureOnly,
		Predicate: "The test error of PA-ERKLE, with one and with ten passes, is less than that of each batch method." + named + onMusicNote,
		Test:      lessOnMusic("test", 0, slices.Concat(against(paERKLE, batchNames), against(paERKLETen, batchNames))...),
	},
	{
		ID: "released-fig3-train-ste", View: "released-fig3", Afterwards: knownThen,
		Title:     "STE-ERKLE is greatly affected by conflicts: its kernel does not fit a large number of the observed triplets.",
		Statement: "The STE-ERKLE models are greatly affected by the presence of conflicts in that they do not learn a kernel that fits to a large number of the observed triplets.",
		Where:     section53 + ", Fig. 3b", Theirs: experiment.FigureOnly,
		Predicate: "The error of STE-ERKLE (δ = 1) on the triplets seen so far minus that of PA-ERKLE and of each batch method is more than 2 points, with one and with ten passes." + named + onMusicNote,
		Test:      lessOnMusic("train", -considerable, steAgainstOthers()...),
	},
	{
		ID: "released-fig3-low-rank", View: "released-fig3", Afterwards: knownThen,
		Statement: "The batch methods generally produce low-rank kernels under a small number of triplets.",
		Where:     section53 + ", Fig. 3c", Theirs: experiment.FigureOnly,
		Predicate: "Per batch method, the rank at the smallest size is less than half of the number of objects." + named + ranksNote,
		Test:      ranksOnMusic(func(first, _ float64) float64 { return lowRank - first }),
	},
	{
		ID: "released-fig3-rank", View: "released-fig3", Afterwards: knownThen,
		Statement: "As the number of triplets are observed, the rank (of the kernels of the batch methods) increases.",
		Where:     section53 + ", Fig. 3c", Theirs: experiment.FigureOnly,
		Predicate: "Per batch method, the rank at all training triplets minus that at the smallest size is > 0, as a share of the number of objects." + named + ranksNote,
		Test:      ranksOnMusic(func(first, last float64) float64 { return last - first }),
	},
	{
		ID: "released-fig4-ste", View: "released-fig4", Afterwards: knownThen,
		Statement: "STE-ERKLE consistently outperforms STE-Batch.",
		Where:     section54 + ", Fig. 4a", Theirs: experiment.FigureOnly,
		Predicate: "At each of the 12 sizes, the test error of STE-Batch minus that of STE-ERKLE (δ = 1) is > 0, with one and with ten passes, on both stand-ins." + named + rulesNote + standInNote,
		Test: namedOnStandIns(func(r releasedRead, rule string, sizes []string) []judge.Unit {
			var out []judge.Unit
			for _, size := range sizes {
				for _, u := range r.less("test", singleHow, rule, []string{size}, 0, [2]string{steERKLE, steBatch}, [2]string{steERKLETen, steBatch}) {
					out = append(out, judge.Unit{Name: u.Name + " after " + size, Diffs: u.Diffs})
				}
			}
			return out
		}),
	},
	{
		ID: "released-fig4-ste-few", View: "released-fig4", Afterwards: knownThen,
		Statement: "STE-ERKLE performs well under a small number of triplets relative to all other methods.",
		Where:     section54 + ", Fig. 4a", Theirs: experiment.FigureOnly,
		Predicate: "Averaged over the sizes up to 250 triplets, the test error of STE-ERKLE (δ = 1, one pass) is less than that of each other method, on both stand-ins." + named + rulesNote + standInNote,
		Test: namedOnStandIns(func(r releasedRead, rule string, sizes []string) []judge.Unit {
			return r.less("test", singleHow, rule, few(sizes), 0, against(steERKLE, []string{paERKLE, paERKLETen, gnmdsBatch, steBatch, cklBatch})...)
		}),
	},
	{
		ID: "released-fig4-pa", View: "released-fig4", Afterwards: knownThen,
		Statement: "PA-ERKLE is comparable or outperforms its batch counterpart in GNMDS-Batch, given enough triplets (at least 500).",
		Where:     section54 + ", Fig. 4a", Theirs: "at least 500",
		Predicate: "Averaged over the sizes from 500 triplets on, the test error of PA-ERKLE is less than that of GNMDS-Batch plus 1 point, with one and with ten passes, on both stand-ins." + named + rulesNote + standInNote,
		Test: namedOnStandIns(func(r releasedRead, rule string, sizes []string) []judge.Unit {
			return r.less("test", singleHow, rule, enough(sizes), asWell, [2]string{paERKLE, gnmdsBatch}, [2]string{paERKLETen, gnmdsBatch})
		}),
	},
	{
		ID: "released-fig4-train", View: "released-fig4", Afterwards: knownThen,
		Statement: "PA-ERKLE performs quite well in training error compared to all other methods.",
		Where:     section54 + ", Fig. 4b", Theirs: experiment.FigureOnly,
		Predicate: "Averaged over the 12 sizes, the error of PA-ERKLE on the triplets seen so far is less than that of each other method plus 1 point, one pass against one pass and ten against ten and each against all batch methods, on both stand-ins." + named + rulesNote + standInNote,
		Test: namedOnStandIns(func(r releasedRead, rule string, sizes []string) []judge.Unit {
			return r.less("train", singleHow, rule, sizes, asWell, slices.Concat(against(paERKLE, others(paERKLE)), against(paERKLETen, others(paERKLETen)))...)
		}),
	},
})
