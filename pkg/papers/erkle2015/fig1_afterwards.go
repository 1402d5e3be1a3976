package erkle2015

import (
	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/table"
)

// fig1Afterwards are claims on the published errors of Fig. 1b.
var fig1Afterwards = experiment.Claims([]experiment.Claim{
	{
		ID:         "fig1b-further",
		View:       "fig1b",
		Afterwards: "the errors of Fig. 1b",
		Statement:  "If more triplets were obtained, the ERKLE methods would further outperform even the batch methods.",
		Where:      fiveOne + "Fig. 1b", Theirs: experiment.FigureOnly,
		Predicate: "From the third last size (4,329 triplets) to the last (10,000), the error of each batch method minus that of each ERKLE method, β = 1 and 10, grows in points (growth > 0, paired). The trend stands for the sizes beyond 10,000, which were not run. With one τ by validation, one best on test, τ by validation at each size, and up to 1000 iterations.",
		Test: func(t *table.Table) judge.Test {
			sizes := batchSizesOf(t)
			early, late := sizes[len(sizes)-3], lastSize(t)
			drop := func(cell, method, reading string) []float64 {
				return judge.Minus(errorAt(t, cell, method, reading, early), errorAt(t, cell, method, reading, late))
			}
			return againstBatch(erkles, points, drop, func(batch, online []float64) []float64 { return judge.Minus(online, batch) })
		},
	},
	{
		ID:         "fig1b-passes",
		View:       "fig1b",
		Afterwards: "the errors of Fig. 1b",
		Statement:  "Stochastic methods perform best when multiple passes are performed on the observed samples; ERKLE may benefit from revisiting triplets.",
		Where:      "Section 4.3, of β; Fig. 1b", Theirs: experiment.FigureOnly,
		Predicate: "Error with β = 1 − that with β = 10 > 0 after all triplets, paired, of PA-ERKLE and of STE-ERKLE.",
		Test: func(t *table.Table) judge.Test {
			return judge.Positive{Rule: points, Units: []judge.Unit{
				judge.Paired("PA-ERKLE", onlineAt(t, paERKLE, 1), onlineAt(t, paERKLETen, 1)),
				judge.Paired("STE-ERKLE", onlineAt(t, steERKLE, 1), onlineAt(t, steERKLETen, 1)),
			}}
		},
	},
})
