package erkle2015

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/experiment"
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
		TestTimed: func(t, times *table.Table) judge.Test {
			var d []float64
			for _, trial := range t.Unique("trial") {
				var x, y []float64
				for _, r := range speedRuns(t.Where("trial", trial, "kind", speedStructured), times) {
					if r.twice() {
						x, y = append(x, math.Log(float64(r.objects))), append(y, math.Log(r.mean(2*r.objects)))
					}
				}
				_, p := stat.LinearRegression(x, y, nil, false)
				d = append(d, quadratic-p)
			}
			mean, half := judge.Summarize(d).Interval()
			return judge.Shown{
				Test: judge.Positive{Units: []judge.Unit{{Name: "exponent", Diffs: d}}},
				Ours: fmt.Sprintf("exponent %.2f ± %.2f", quadratic-mean, half),
			}
		},
	},
	{
		ID: "speed-structured", View: "speed-objects",
		Ours:      true,
		Title:     "Ours: the structure of the kernel makes an update at least ten times as fast as a full eigendecomposition.",
		Statement: "Ours: the structure of the kernel makes an update at least ten times as fast as one by a full eigendecomposition.",
		Where:     "ours", Theirs: "no number",
		Predicate: "CPU time per active triplet of the dense cone divided by the mean of the structured one over the whole stream, base-2 logarithm minus log₂ 10 > 0, paired, for n = 100, 250, 500 and 1000.",
		TestTimed: func(t, times *table.Table) judge.Test {
			order, dense := byObjects(t, times, speedDense)
			_, structured := byObjects(t, times, speedStructured)
			var units []judge.Unit
			for _, n := range order {
				u := judge.Unit{Name: fmt.Sprintf("n = %d", n)}
				if !slices.EqualFunc(dense[n], structured[n], func(a, b speedRun) bool { return a.trial == b.trial }) {
					judge.Refuse("erkle2015: %s: structured and dense runs are not of the same trials", u.Name)
				}
				for i, slow := range dense[n] {
					fast := structured[n][i]
					u.Diffs = append(u.Diffs, math.Log2(slow.mean(slow.end())/fast.mean(fast.end())/structuredTimes))
				}
				units = append(units, u)
			}
			return judge.Positive{Units: units, Rule: judge.Rule{Unit: "doublings"}}
		},
	},
})

// speedRun is one run of one trial: after to[i] triplets, active[i] updates, bytes[i] saved, and spent[i] seconds since the checkpoint before.
type speedRun struct {
	trial                string
	objects              int
	to                   []int
	active, spent, bytes []float64
}

// speedRuns reads the runs of one kind and one trial, by cell.
func speedRuns(g, times *table.Table) []speedRun {
	var out []speedRun
	for cell, c := range g.Group("cell") {
		r := speedRun{
			trial: experiment.FirstName(c, "trial"), objects: count("objects", experiment.FirstName(c, "objects")),
			to: countsIn(c, "triplets"), active: c.Values("active"), bytes: c.Values("bytes"),
		}
		spent := spentOn(times.Where("cell", cell, "trial", r.trial))
		for i, to := range r.to {
			r.spent = append(r.spent, spent[speedPhase(c.Index("kind")[i], to)])
		}
		out = append(out, r)
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

// mean is the mean time per active triplet up to the last checkpoint that is not beyond so many triplets.
func (r speedRun) mean(triplets int) float64 {
	sum, active := 0.0, 0.0
	for i, to := range r.to {
		if to <= triplets {
			sum += r.spent[i]
			active = r.active[i]
		}
	}
	if active == 0 {
		judge.Refuse("erkle2015: n = %d: no active triplet among the first %d", r.objects, triplets)
	}
	return sum / active
}

// end is the last checkpoint.
func (r speedRun) end() int { return experiment.Last("checkpoints", r.to) }

// twice reports whether the stream has 2n triplets or more.
func (r speedRun) twice() bool { return r.end() >= 2*r.objects }

// perTriplet are the times per active triplet between checkpoints.
func (r speedRun) perTriplet() []float64 {
	out := make([]float64, len(r.to))
	before := 0.0
	for i := range out {
		out[i] = r.spent[i] / (r.active[i] - before)
		before = r.active[i]
	}
	return out
}

// byObjects groups the runs of a kind over all trials by the number of objects.
func byObjects(t, times *table.Table, kind string) (order []int, runs map[int][]speedRun) {
	runs = map[int][]speedRun{}
	for _, trial := range t.Unique("trial") {
		for _, r := range speedRuns(t.Where("trial", trial, "kind", kind), times) {
			if runs[r.objects] == nil {
				order = append(order, r.objects)
			}
			runs[r.objects] = append(runs[r.objects], r)
		}
	}
	return order, runs
}

// readTimes are the times to read the kernel once, by the number of objects.
func readTimes(t, times *table.Table) (order []int, seconds map[int][]float64) {
	seconds = map[int][]float64{}
	g := t.Where("kind", speedRead)
	for i, cell := range g.Index("cell") {
		n := count("objects", g.Index("objects")[i])
		spent := times.Where("cell", cell, "trial", g.Index("trial")[i], "phase", speedPhase(speedRead, 0)).Values("cpu_s")
		if len(spent) != 1 {
			continue
		}
		if seconds[n] == nil {
			order = append(order, n)
		}
		seconds[n] = append(seconds[n], max(leastTime, spent[0])/g.Values("repeats")[i])
	}
	return order, seconds
}
