package erkle2015

import (
	"slices"
	"strings"

	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/table"
)

// Margins of the claims on skips, fixed before the first full run.
const (
	// "often": more than half of the updates.
	oftenSkipped = 0.5
	// "a good approximation": within a tenth of the margin.
	goodApproximation = 0.1
	// Ours: of the updates that need no eigenpair, the certificates find at least 90 %.
	foundByCertificates = 0.9
)

var skipsClaims = experiment.Claims([]experiment.Claim{
	{
		ID: "skips-often", View: "skips",
		Statement: "Bounding the smallest eigenvalue after each step often allows updates to be performed in constant time.",
		Where:     "Section 1; Section 4.2", Theirs: "no number",
		Predicate: "The share of updates that the printed rule skips is more than one half, for n = 100, 500 and 1000 over 10,000 triplets; of the active updates, and of all triplets, of which those that need no update are skipped too.",
		Test: func(t *table.Table) judge.Test {
			return judge.Under([]string{"active updates", "triplets"}, func(of string) judge.Test {
				return testSkips(t, ofTheUpdates, func(last *table.Table) float64 {
					all := experiment.First(last, "active")
					if of == "triplets" {
						all = tripletsOf(last)
					}
					return 1 - experiment.First(last, "printed")/all - oftenSkipped
				})
			})
		},
	},
	{
		ID: "skips-approximation", View: "skips-counts",
		Statement: "d² under K'_j is a good approximation to d² under K_j, as the negative eigenvalue tends to be quite small.",
		Where:     "Section 4.3, below Eq. 4.20", Theirs: "no number",
		Predicate: "Over the updates of PA-ERKLE that remove an eigenvalue, the mean distance of d²(a, c) − d²(a, b) under K_j from the margin 1, which it has under K'_j, is less than 0.1; for n = 100, 500 and 1000 over 10,000 triplets.",
		Test: func(t *table.Table) judge.Test {
			return testSkips(t, judge.Rule{Unit: "below 0.1"}, func(last *table.Table) float64 {
				return goodApproximation - experiment.First(last, "moved")/max(1, experiment.First(last, "projected"))
			})
		},
	},
	{
		ID: "skips-small-steps", View: "skips-counts",
		Statement: "Minimally sized (passive-aggressive) updates are less likely to result in non-PSD matrices than larger steps.",
		Where:     "Section 4.3", Theirs: "no number",
		Predicate: "The share of active updates with a negative eigenvalue under the constant step δ = 1 (hinge loss) − that under the passive-aggressive one > 0, paired, for n = 100 and 500 over 10,000 triplets.",
		Test: func(t *table.Table) judge.Test {
			share := func(last *table.Table) float64 {
				return experiment.First(last, "projected") / experiment.First(last, "active")
			}
			var units []judge.Unit
			for _, cell := range t.Unique("cell") {
				if base, ok := strings.CutSuffix(cell, constantSuffix); ok {
					units = append(units, judge.Paired(base, lastOf(t, cell, share), lastOf(t, base, share)))
				}
			}
			return judge.Positive{Units: units, Rule: ofTheUpdates}
		},
	},
	{
		ID: "skips-certificates", View: "skips",
		Ours:      true,
		Statement: "Ours: certificates that use the structure of the kernel skip nearly all updates that need no eigenpair.",
		Where:     "ours", Theirs: "no number",
		Predicate: "Of the active updates without a negative eigenvalue, the share for which no eigenpair is computed is more than 0.9, for n = 100, 500 and 1000 over 10,000 triplets.",
		Test: func(t *table.Table) judge.Test {
			return testSkips(t, ofTheUpdates, func(last *table.Table) float64 {
				active, projected := experiment.First(last, "active"), experiment.First(last, "projected")
				if active == projected {
					return 1 - foundByCertificates // there is none to find
				}
				return (active-experiment.First(last, "computed"))/(active-projected) - foundByCertificates
			})
		},
	},
})

// paCells are the cells of the passive-aggressive step, by increasing n.
func paCells(t *table.Table) []string {
	return slices.DeleteFunc(slices.Clone(t.Unique("cell")), func(cell string) bool { return strings.HasSuffix(cell, constantSuffix) })
}

// lastOf returns a number of the last checkpoint of a cell, by trial.
func lastOf(t *table.Table, cell string, of func(last *table.Table) float64) []float64 {
	var out []float64
	for _, g := range t.Where("cell", cell).Group("trial") {
		out = append(out, of(lastRows(g)))
	}
	return out
}

// lastRows are the rows of the last checkpoint.
func lastRows(g *table.Table) *table.Table {
	return g.Where("triplets", experiment.Last("checkpoints", g.Index("triplets")))
}

// ofTheUpdates are differences of shares of the active updates.
var ofTheUpdates = judge.Rule{Scale: 100, Unit: "% of the updates"}

// testSkips tests that a number of each cell of the passive-aggressive step is positive.
func testSkips(t *table.Table, rule judge.Rule, of func(last *table.Table) float64) judge.Test {
	var units []judge.Unit
	for _, cell := range paCells(t) {
		units = append(units, judge.Unit{Name: cell, Diffs: lastOf(t, cell, of)})
	}
	return judge.Positive{Units: units, Rule: rule}
}

// tripletsOf is the number of triplets of the rows of one checkpoint.
func tripletsOf(g *table.Table) float64 {
	return float64(count("triplets", experiment.FirstName(g, "triplets")))
}
