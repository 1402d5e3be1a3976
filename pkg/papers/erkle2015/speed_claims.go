package erkle2015

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
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
var belowQuadratic frame.Measure = func(t *table.Table) (out []float64) {
	log := func(column frame.Measure, g *table.Table) []float64 { return column.Map(math.Log)(g) }
	for _, g := range t.Where("kind", speedStructured, "per object", "2").Group("trial") {
		_, p := stat.LinearRegression(log(frame.Cells("objects"), g), log(frame.Column("mean"), g), nil, false)
		out = append(out, quadratic-p)
	}
	return out
}

// denseOver is the base-2 logarithm of the time of the dense cone over that of the structured one, less the claimed one.
var denseOver = atLast(frame.Column("mean")).Where("kind", speedDense).Over(atLast(frame.Column("mean")).Where("kind", speedStructured)).Map(func(times float64) float64 {
	return math.Log2(times / structuredTimes)
})

// ofTimes is a test of timed rows.
func ofTimes(test frame.Test) func(t, times *table.Table) judge.Test {
	return func(t, times *table.Table) judge.Test { return test(timed(t, times)) }
}

// timed adds to each row the mean time per active triplet in seconds, "between" the checkpoint before and this one and "mean" up to this
// one, or the time to read the kernel once, and how many triplets there are "per object".
func timed(t, times *table.Table) *table.Table {
	out := table.New(append(slices.Clone(t.IndexNames()), "per object"), append(slices.Clone(t.ValueNames()), "between", "mean"))
	for cells, g := range frame.Groups(t, "cell", "trial", "kind") {
		spent := spentOn(times.Where("cell", cells[0], "trial", cells[1]))
		sum, before := 0.0, 0.0
		for i := range g.Len() {
			key, v := g.Row(i)
			s := spent[speedPhase(cells[2], key["triplets"])]
			if sum += s; v["active"] == 0 {
				judge.Refuse("erkle2015: %s: no active triplet among the first %s", cells[0], key["triplets"])
			}
			v["between"], v["mean"] = s/(v["active"]-before), sum/v["active"]
			if before = v["active"]; cells[2] == speedRead {
				v["mean"] = s / v["repeats"]
			}
			key["per object"] = table.Format(frame.Parse("triplets", key["triplets"]) / frame.Parse("objects", key["objects"]))
			out.Add(key, v)
		}
	}
	return out
}

// leastTime is what a phase takes at least, in seconds: the clock's resolution, so that logarithms exist.
const leastTime = 1e-6

// spentOn are the CPU times of the phases of a job, in seconds.
func spentOn(times *table.Table) map[string]float64 {
	out := map[string]float64{}
	for i, phase := range times.Index("phase") {
		out[phase] = max(leastTime, times.Values("cpu_s")[i])
	}
	return out
}
