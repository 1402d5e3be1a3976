package costs

import (
	"math"
	"strings"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/papers/erkle2015/learning"
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
		Test: frame.Under([]updates{{"active updates", frame.Column("active")}, {"triplets", frame.Cells("triplets")}}, func(all updates) (string, frame.Test) {
			return all.name, paPositive(ofTheUpdates, frame.Column("printed").Over(all.of).Times(-1).Plus(1).Plus(-oftenSkipped))
		}),
	},
	{
		ID: "skips-approximation", View: "skips-counts",
		Statement: "d² under K'_j is a good approximation to d² under K_j, as the negative eigenvalue tends to be quite small.",
		Where:     "Section 4.3, below Eq. 4.20", Theirs: "no number",
		Predicate: "Over the updates of PA-ERKLE that remove an eigenvalue, the mean distance of d²(a, c) − d²(a, b) under K_j from the margin 1, which it has under K'_j, is less than 0.1; for n = 100, 500 and 1000 over 10,000 triplets.",
		Test:      paPositive(judge.Rule{Unit: "below 0.1"}, frame.Column("moved").Over(frame.Column("projected").Map(func(n float64) float64 { return max(1, n) })).Times(-1).Plus(goodApproximation)),
	},
	{
		ID: "skips-small-steps", View: "skips-counts",
		Statement: "Minimally sized (passive-aggressive) updates are less likely to result in non-PSD matrices than larger steps.",
		Where:     "Section 4.3", Theirs: "no number",
		Predicate: "The share of active updates with a negative eigenvalue under the constant step δ = 1 (hinge loss) − that under the passive-aggressive one > 0, paired, for n = 100 and 500 over 10,000 triplets.",
		Test: frame.Positive(ofTheUpdates, func(t *table.Table) (units []judge.Unit) {
			share := learning.AtLast(frame.Share("projected", "active"))
			for _, cell := range t.Unique("cell") {
				if base, ok := strings.CutSuffix(cell, constantSuffix); ok {
					units = append(units, judge.Unit{Name: base, Diffs: share.Where("cell", cell).Minus(share.Where("cell", base))(t)})
				}
			}
			return units
		}),
	},
	{
		ID: "skips-certificates", View: "skips",
		Ours:      true,
		Statement: "Ours: certificates that use the structure of the kernel skip nearly all updates that need no eigenpair.",
		Where:     "ours", Theirs: "no number",
		Predicate: "Of the active updates without a negative eigenvalue, the share for which no eigenpair is computed is more than 0.9, for n = 100, 500 and 1000 over 10,000 triplets.",
		Test: paPositive(ofTheUpdates, frame.Column("active").Minus(frame.Column("computed")).Over(frame.Column("active").Minus(frame.Column("projected"))).Map(func(found float64) float64 {
			if math.IsNaN(found) || math.IsInf(found, 0) {
				return 1 // there is none to find
			}
			return found
		}).Plus(-foundByCertificates)),
	},
})

// updates are of what a share is taken.
type updates struct {
	name string
	of   frame.Measure
}

// ofTheUpdates are differences of shares of the active updates.
var ofTheUpdates = judge.Rule{Scale: 100, Unit: "% of the updates"}

// paPositive tests that a measure of the last checkpoint is positive in each cell of the passive-aggressive step.
func paPositive(rule judge.Rule, m frame.Measure) frame.Test {
	return frame.Positive(rule, frame.OverGroups(learning.AtLast(m), "cell")).On(paRows)
}
