package erkle2015

import (
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"metriclab/pkg/experiment"
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

var skipsClaims = []experiment.Claim{
	{
		ID: "skips-often", View: "skips",
		Statement: "Bounding the smallest eigenvalue after each step often allows updates to be performed in constant time.",
		Where:     "Section 1; Section 4.2", Theirs: "no number",
		Predicate: "The share of updates that the printed rule skips is more than one half, for n = 100, 500 and 1000 over 10,000 triplets; of the active updates, and of all triplets, of which those that need no update are skipped too.",
		Grade: func(t *table.Table) (experiment.Finding, error) {
			return readings([]string{"active updates", "triplets"}, func(of string) (experiment.Finding, error) {
				return skipsUnits(t, func(last *table.Table) float64 {
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
		Grade: func(t *table.Table) (experiment.Finding, error) {
			var units []experiment.Unit
			for _, cell := range paCells(t) {
				units = append(units, experiment.Unit{Name: cell, Diffs: lastOf(t, cell, func(last *table.Table) float64 {
					return goodApproximation - experiment.First(last, "moved")/max(1, experiment.First(last, "projected"))
				})})
			}
			return experiment.GradeUnits(units, experiment.UnitRule{Unit: "below 0.1"})
		},
	},
	{
		ID: "skips-small-steps", View: "skips-counts",
		Statement: "Minimally sized (passive-aggressive) updates are less likely to result in non-PSD matrices than larger steps.",
		Where:     "Section 4.3", Theirs: "no number",
		Predicate: "The share of active updates with a negative eigenvalue under the constant step δ = 1 (hinge loss) − that under the passive-aggressive one > 0, paired, for n = 100 and 500 over 10,000 triplets.",
		Grade: func(t *table.Table) (experiment.Finding, error) {
			share := func(last *table.Table) float64 {
				return experiment.First(last, "projected") / experiment.First(last, "active")
			}
			var units []experiment.Unit
			for _, cell := range t.Unique("cell") {
				base, ok := strings.CutSuffix(cell, constantSuffix)
				if !ok {
					continue
				}
				d := lastOf(t, cell, share)
				other := lastOf(t, base, share)
				experiment.SameLength("cells "+cell+" and "+base, d, other)
				floats.Sub(d, other)
				units = append(units, experiment.Unit{Name: base, Diffs: d})
			}
			return gradeSkips(units)
		},
	},
	{
		ID: "skips-certificates", View: "skips",
		Statement: "Ours: certificates that use the structure of the kernel skip nearly all updates that need no eigenpair.",
		Where:     "ours", Theirs: "no number",
		Predicate: "Of the active updates without a negative eigenvalue, the share for which no eigenpair is computed is more than 0.9, for n = 100, 500 and 1000 over 10,000 triplets.",
		Grade: func(t *table.Table) (experiment.Finding, error) {
			return skipsUnits(t, func(last *table.Table) float64 {
				active, projected := experiment.First(last, "active"), experiment.First(last, "projected")
				if active == projected {
					return 1 - foundByCertificates // there is none to find
				}
				return (active-experiment.First(last, "computed"))/(active-projected) - foundByCertificates
			})
		},
	},
}

// paCells are the cells of the passive-aggressive step, by increasing n.
func paCells(t *table.Table) []string {
	return slices.DeleteFunc(slices.Clone(t.Unique("cell")), func(cell string) bool { return strings.HasSuffix(cell, constantSuffix) })
}

// lastOf returns a number of the last checkpoint of a cell, by trial.
func lastOf(t *table.Table, cell string, of func(last *table.Table) float64) []float64 {
	var out []float64
	for _, g := range t.Where("cell", cell).Group("trial") {
		at := g.Index("triplets")
		out = append(out, of(g.Where("triplets", at[len(at)-1])))
	}
	return out
}

// skipsUnits grades that a number of each cell of the passive-aggressive step is positive.
func skipsUnits(t *table.Table, of func(last *table.Table) float64) (experiment.Finding, error) {
	var units []experiment.Unit
	for _, cell := range paCells(t) {
		units = append(units, experiment.Unit{Name: cell, Diffs: lastOf(t, cell, of)})
	}
	return gradeSkips(units)
}

func gradeSkips(units []experiment.Unit) (experiment.Finding, error) {
	return experiment.GradeUnits(units, experiment.UnitRule{Scale: 100, Unit: "% of the updates"})
}

// tripletsOf is the number of triplets of the rows of one checkpoint.
func tripletsOf(g *table.Table) float64 { return number(experiment.FirstName(g, "triplets")) }
