package costs

import (
	"fmt"
	"math"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/papers/erkle2015/learning"
	"metriclab/pkg/table"
)

// Margins of the claims on speed, fixed before the first full run.
const (
	// "O(n²)": the exponent of the time per active triplet is at most 2.
	quadratic = 2
	// Ours: ten times as fast as the dense cone.
	structuredTimes = 10
)

var speedClaims = experiment.Claims([]experiment.Claim{
	{
		ID: "speed-quadratic", View: "speed-objects",
		Statement: "ERKLE can incorporate a triplet into a kernel in O(n²) time.",
		Where:     "Section 4.2, after Theorem 4.1", Theirs: "O(n²)",
		Predicate: "2 − the exponent of n in the mean CPU time per active triplet over the first 2n triplets, a power law fitted in each trial to n = 100, 250, 500 and 1000, is > 0.",
		TestTimed: ofTimes(frame.Positive(judge.Rule{}, frame.Unit("exponent", belowQuadratic)).Told(func(t *table.Table) judge.Shown {
			mean, half := judge.Summarize(belowQuadratic(t)).Interval()
			return judge.Shown{Ours: fmt.Sprintf("exponent %.2f ± %.2f", quadratic-mean, half)}
		})),
	},
	{
		ID: "speed-structured", View: "speed-objects",
		Ours:      true,
		Title:     "Ours: the structure of the kernel makes an update at least ten times as fast as a full eigendecomposition.",
		Statement: "Ours: the structure of the kernel makes an update at least ten times as fast as one by a full eigendecomposition.",
		Where:     "ours", Theirs: "no number",
		Predicate: "CPU time per active triplet of the dense cone divided by the mean of the structured one over the whole stream, base-2 logarithm minus log₂ 10 > 0, paired, for n = 100, 250, 500 and 1000.",
		TestTimed: ofTimes(frame.Positive(judge.Rule{Unit: "doublings"}, frame.OverGroups(denseOver, "cell")).On(func(t *table.Table) *table.Table {
			return frame.Only("cell", t.Where("kind", speedDense).Unique("cell")...)(t)
		})),
	},
})

// belowQuadratic is, by trial, by how much the exponent of n is below 2 in the time per active triplet over the first 2n.
var belowQuadratic = frame.Exponent(frame.Cells("objects"), frame.Column("mean")).Where("kind", speedStructured, "per object", "2").Times(-1).Plus(quadratic)

// denseOver is the base-2 logarithm of the time of the dense cone over that of the structured one, less the claimed one.
var denseOver = learning.AtLast(frame.Column("mean")).Where("kind", speedDense).Over(learning.AtLast(frame.Column("mean")).Where("kind", speedStructured)).Map(func(times float64) float64 {
	return math.Log2(times / structuredTimes)
})

// ofTimes is a test of timed rows.
func ofTimes(test frame.Test) func(t, times *table.Table) judge.Test {
	return func(t, times *table.Table) judge.Test { return test(timed(t, times)) }
}
