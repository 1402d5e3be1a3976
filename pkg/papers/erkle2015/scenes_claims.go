package erkle2015

import (
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/table"
)

// scenesResults reads the rows of one data set whose answers were asked for in one way.
type scenesResults struct {
	data string
	t    *table.Table
}

// scenesNames are the ways of asking that begin with how, the one with the fewest answers first.
func scenesNames(c *table.Table, how string) []string {
	var out []string
	for _, name := range c.Unique("answers") {
		if strings.HasPrefix(name, how+",") {
			out = append(out, name)
		}
	}
	return experiment.NotEmpty(how+" answers", out)
}

// scenesOf returns the results on a data set of one of the ways of asking that begin with how, by its place in scenesNames.
func scenesOf(t *table.Table, data, how string, place int) scenesResults {
	c := t.Where("cell", data)
	names := scenesNames(c, how)
	if place >= len(names) {
		judge.Refuse("erkle2015: %s: %d numbers of %s answers, want more than %d", data, len(names), how, place)
	}
	return scenesResults{data, c.Where("answers", names[place])}
}

func (r scenesResults) sizes() []string {
	return experiment.NotEmpty(r.data+": sizes", r.t.Unique("triplets"))
}

// rows are those of a method, of a batch method with each trial's τ of the least mean error over sizes on validation triplets or,
// the paper's rule, on the test triplets.
func (r scenesResults) rows(method, rule string) *table.Table {
	g := r.t.Where("method", method)
	if !isBatch(method) {
		return g
	}
	part := "validation"
	if rule == byTest {
		part = "test"
	}
	out := table.New(g.IndexNames(), g.ValueNames())
	for _, rows := range g.Group("trial") {
		chosen := rows.Where("tau", table.Format(bestTau(rows, part)))
		for i := range chosen.Len() {
			out.Add(chosen.Row(i))
		}
	}
	return out
}

// heldErrors are the shares of the random answers never asked for that are not satisfied, by row.
func heldErrors(t *table.Table) []float64 {
	out := slices.Clone(t.Values(heldWrong))
	floats.Div(out, t.Values(heldCount))
	return out
}

// mean is an error of a method, averaged over sizes, by trial.
func (r scenesResults) mean(method, rule string, sizes []string, of func(*table.Table) []float64) []float64 {
	rows := r.rows(method, rule)
	var sum []float64
	for _, size := range sizes {
		e := of(rows.Where("triplets", size))
		if sum == nil {
			sum = make([]float64, len(e))
		}
		judge.SameLength(r.data+", "+method+": trials at several sizes", sum, e)
		floats.AddScaled(sum, 1/float64(len(sizes)), e)
	}
	return sum
}

// The ways to count the answers that were collected.
var scenesCounts = []string{"3,600 answers", "5,200 answers"}

// scenesReadings tests on the stand-ins, with both totals and both rules for τ.
func scenesReadings(units func(r scenesResults, rule string) []judge.Unit) func(t *table.Table) judge.Test {
	return func(t *table.Table) judge.Test {
		var readings judge.Readings
		for place, count := range scenesCounts {
			for _, rule := range []string{byValidation, byTest} {
				var all []judge.Unit
				for _, data := range standIns {
					for _, u := range units(scenesOf(t, data, askedAdaptive, place), rule) {
						all = append(all, judge.Unit{Name: data + ", " + u.Name, Diffs: u.Diffs})
					}
				}
				readings = append(readings, judge.Reading{Name: count + ", " + rule, Test: judge.Positive{Units: all, Rule: points}})
			}
		}
		return judge.StandIn{Where: "stand-ins", Test: readings}
	}
}

// less returns a unit per pair of methods, better first: the mean error of the worse minus that of the better, plus a margin.
func (r scenesResults) less(part, rule string, sizes []string, margin float64, pairs ...[2]string) []judge.Unit {
	of := func(t *table.Table) []float64 { return strictErrors(t, part) }
	out := make([]judge.Unit, len(pairs))
	for i, p := range pairs {
		out[i] = judge.Unit{Name: p[0] + " and " + p[1], Diffs: excess(r.mean(p[1], rule, sizes, of), r.mean(p[0], rule, sizes, of), margin)}
	}
	return out
}

const (
	scenesKnown    = "the findings of erkle2015/fig4 on the same people's answers, drawn at random"
	scenesNote     = " Questions are asked as in Section 5.4. Readings: of 3,600 collected answers (the paper's total) or 5,200 (the sum of its rounds), τ by validation or best on test." + standInNote
	scenesReadNote = " Readings: τ by validation or best on test." + standInNote
)

var scenesClaims = experiment.Claims([]experiment.Claim{
	{
		ID: "scenes-ste", View: "scenes",
		Statement: "STE-ERKLE consistently outperforms STE-Batch (questions asked as in Section 5.4).",
		Where:     section54 + ", Fig. 4a", Theirs: experiment.FigureOnly, Afterwards: scenesKnown,
		Predicate: "At each of the 5 sizes, the test error of STE-Batch minus that of STE-ERKLE (δ = 1) is > 0, with one and with ten passes, on both stand-ins." + scenesNote,
		Test: scenesReadings(func(r scenesResults, rule string) (out []judge.Unit) {
			for _, size := range r.sizes() {
				for _, u := range r.less("test", rule, []string{size}, 0, [2]string{steERKLE, steBatch}, [2]string{steERKLETen, steBatch}) {
					out = append(out, judge.Unit{Name: u.Name + " after " + size, Diffs: u.Diffs})
				}
			}
			return out
		}),
	},
	{
		ID: "scenes-ste-few", View: "scenes",
		Statement: "STE-ERKLE performs well under a small number of triplets relative to all other methods (questions asked as in Section 5.4).",
		Where:     section54 + ", Fig. 4a", Theirs: experiment.FigureOnly, Afterwards: scenesKnown,
		Predicate: "Averaged over the sizes up to 250 triplets, the test error of STE-ERKLE (δ = 1, one pass) is less than that of each other method, on both stand-ins." + scenesNote,
		Test: scenesReadings(func(r scenesResults, rule string) []judge.Unit {
			return r.less("test", rule, few(r.sizes()), 0, against(steERKLE, []string{paERKLE, paERKLETen, gnmdsBatch, steBatch, cklBatch})...)
		}),
	},
	{
		ID: "scenes-pa", View: "scenes",
		Title:     "PA-ERKLE is comparable to GNMDS-Batch or outperforms it, given at least 500 triplets (asked as in Section 5.4).",
		Statement: "PA-ERKLE is comparable or outperforms its batch counterpart in GNMDS-Batch, given enough triplets (at least 500; questions asked as in Section 5.4).",
		Where:     section54 + ", Fig. 4a", Theirs: "at least 500", Afterwards: scenesKnown,
		Predicate: "Averaged over the sizes from 500 triplets on, the test error of PA-ERKLE is less than that of GNMDS-Batch plus 1 point, with one and with ten passes, on both stand-ins." + scenesNote,
		Test: scenesReadings(func(r scenesResults, rule string) []judge.Unit {
			return r.less("test", rule, enough(r.sizes()), asWell, [2]string{paERKLE, gnmdsBatch}, [2]string{paERKLETen, gnmdsBatch})
		}),
	},
	{
		ID: "scenes-train", View: "scenes-train",
		Statement: "PA-ERKLE performs quite well in training error compared to all other methods (questions asked as in Section 5.4).",
		Where:     section54 + ", Fig. 4b", Theirs: experiment.FigureOnly, Afterwards: scenesKnown,
		Predicate: "Averaged over the 5 sizes, the error of PA-ERKLE on the triplets seen so far is less than that of each other method plus 1 point, one pass against one pass and ten against ten and each against all batch methods, on both stand-ins." + scenesNote,
		Test: scenesReadings(func(r scenesResults, rule string) []judge.Unit {
			return r.less("train", rule, r.sizes(), asWell, slices.Concat(against(paERKLE, others(paERKLE)), against(paERKLETen, others(paERKLETen)))...)
		}),
	},
	{
		ID: "scenes-challenging", View: "scenes",
		Statement: "The experiment is especially challenging: the adaptive selection intentionally chooses triplets that give disparate information.",
		Where:     section54, Theirs: "no number",
		Predicate: "Averaged over the 5 sizes, the test error on 3,600 answers asked adaptively minus that on as many asked at random, paired by trial, is > 0 for each of the 7 methods on both stand-ins; each is trained, validated and tested on parts of its own answers." + scenesReadNote,
		Test: func(t *table.Table) judge.Test {
			return judge.StandIn{Where: "stand-ins", Test: scenesAsked(t, testErrors, func(adaptive, random []float64) []float64 { return judge.Minus(adaptive, random) })}
		},
	},
	{
		ID: "scenes-teach", View: "scenes-random",
		Statement: "Ours: of equally many answers, those to adaptively chosen questions teach more about answers to random questions.",
		Where:     "not in the paper, which tests on adaptively chosen triplets", Theirs: "not in the paper", Afterwards: "the errors of PA-ERKLE, STE-Batch and CKL-Batch in erkle2015/active on points",
		Predicate: "Averaged over the 5 sizes, the error on random answers that are never asked for, with training triplets from 3,600 answers asked at random minus that with triplets from as many asked adaptively, paired by trial, is > 0 for each of the 7 methods on both data sets. Readings: τ by validation or best on test.",
		Test: func(t *table.Table) judge.Test {
			return scenesAsked(t, heldErrors, func(adaptive, random []float64) []float64 { return judge.Minus(random, adaptive) })
		},
	},
})

// allScenes are the methods of the paper's Fig. 4.
var allScenes = slices.Concat(erkles, batchNames)

// scenesAsked tests, with both rules for τ, a difference of errors of each method by how its triplets were asked for.
func scenesAsked(t *table.Table, of func(*table.Table) []float64, diff func(adaptive, random []float64) []float64) judge.Test {
	return judge.Under([]string{byValidation, byTest}, func(rule string) judge.Test {
		var units []judge.Unit
		for _, data := range standIns {
			adaptive, random := scenesOf(t, data, askedAdaptive, 0), scenesOf(t, data, askedRandom, 0)
			for _, m := range allScenes {
				units = append(units, judge.Unit{Name: data + ", " + m, Diffs: diff(adaptive.mean(m, rule, adaptive.sizes(), of), random.mean(m, rule, random.sizes(), of))})
			}
		}
		return judge.Positive{Units: units, Rule: points}
	})
}

// scenesChoices are the weights of the trace that trials chose on validation triplets, one per way of asking and method.
func scenesChoices(t *table.Table) []experiment.Choice {
	var out []experiment.Choice
	for key, g := range groups(t, "cell", "answers", "method") {
		if !isBatch(key[2]) {
			continue
		}
		c := experiment.Choice{What: key[0] + ", " + key[1] + ", " + key[2] + ": τ"}
		for _, tau := range g.Unique("tau") {
			c.Grid = append(c.Grid, numberIn("tau", tau))
		}
		for _, rows := range g.Group("trial") {
			c.Chosen = append(c.Chosen, bestTau(rows, "validation"))
		}
		out = append(out, c)
	}
	return out
}
