package erkle2015

import (
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
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
		Test: againstBatch(erkles, points, func(cell, method, reading string) frame.Measure {
			return errorAt(cell, method, reading, earlySize).Minus(lastError(cell, method, reading))
		}, moreOnline),
	},
	{
		ID:         "fig1b-passes",
		View:       "fig1b",
		Afterwards: "the errors of Fig. 1b",
		Statement:  "Stochastic methods perform best when multiple passes are performed on the observed samples; ERKLE may benefit from revisiting triplets.",
		Where:      "Section 4.3, of β; Fig. 1b", Theirs: experiment.FigureOnly,
		Predicate: "Error with β = 1 − that with β = 10 > 0 after all triplets, paired, of PA-ERKLE and of STE-ERKLE.",
		Test: frame.Positive(points, frame.Over([][2]string{{paERKLE, paERKLETen}, {steERKLE, steERKLETen}}, func(passes [2]string) (string, frame.Measure) {
			return passes[0], onlineAt(passes[0], 1).Minus(onlineAt(passes[1], 1))
		})),
	},
})
