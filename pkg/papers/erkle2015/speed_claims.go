package erkle2015

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/table"
)

// Margins of the claims on speed, fixed before the first full run.
const (
	// "O(n²)": the exponent of the time per active triplet is at most 2.
	quadratic = 2
	// Ours: ten times as fast as the dense cone.
	structuredTimes = 10
)

var speedClaims = []experiment.Claim{
	{
		ID: "speed-quadratic", View: "speed-objects",
		Statement: "ERKLE can incorporate a triplet into a kernel in O(n²) time.",
		Where:     "Section 4.2, after Theorem 4.1", Theirs: "O(n²)",
		Predicate: "2 − the exponent of n in the mean CPU time per active triplet over the first 2n triplets, a power law fitted in each trial to n = 100, 250, 500 and 1000, is > 0.",
		GradeTimed: func(t, times *table.Table) (experiment.Finding, error) {
			var d []float64
			for _, trial := range t.Unique("trial") {
				var x, y []float64
				for _, r := range speedRuns(t.Where("trial", trial, "kind", speedStructured), times) {
					if !r.twice() {
						continue
					}
					s, err := r.mean(2 * r.objects)
					if err != nil {
						return experiment.Finding{}, err
					}
					x, y = append(x, math.Log(float64(r.objects))), append(y, math.Log(s))
				}
				_, p := stat.LinearRegression(x, y, nil, false)
				d = append(d, quadratic-p)
			}
			f, err := experiment.GradeUnits([]experiment.Unit{{Name: "exponent", Diffs: d}}, experiment.UnitRule{})
			if err == nil {
				s := experiment.Summarize(d)
				_, half := s.Interval()
				f.Ours = fmt.Sprintf("exponent %.2f ± %.2f", quadratic-s.Mean, half)
			}
			return f, err
		},
	},
	{
		ID: "speed-structured", View: "speed-objects",
		Statement: "Ours: the structure of the kernel makes an update at least ten times as fast as one by a full eigendecomposition.",
		Where:     "ours", Theirs: "no number",
		Predicate: "CPU time per active triplet of the dense cone divided by the mean of the structured one over the whole stream, base-2 logarithm minus log₂ 10 > 0, paired, for n = 100, 250, 500 and 1000.",
		GradeTimed: func(t, times *table.Table) (experiment.Finding, error) {
			units := map[int]*experiment.Unit{}
			var order []int
			for _, trial := range t.Unique("trial") {
				g := t.Where("trial", trial)
				structured := map[int]speedRun{}
				for _, r := range speedRuns(g.Where("kind", speedStructured), times) {
					structured[r.objects] = r
				}
				for _, r := range speedRuns(g.Where("kind", speedDense), times) {
					s := structured[r.objects]
					fast, err := s.mean(experiment.Last("checkpoints", s.to))
					if err != nil {
						return experiment.Finding{}, err
					}
					slow, err := r.mean(experiment.Last("checkpoints", r.to))
					if err != nil {
						return experiment.Finding{}, err
					}
					if units[r.objects] == nil {
						units[r.objects] = &experiment.Unit{Name: fmt.Sprintf("n = %d", r.objects)}
						order = append(order, r.objects)
					}
					u := units[r.objects]
					u.Diffs = append(u.Diffs, math.Log2(slow/fast/structuredTimes))
				}
			}
			var all []experiment.Unit
			for _, n := range order {
				all = append(all, *units[n])
			}
			return experiment.GradeUnits(all, experiment.UnitRule{Unit: "doublings"})
		},
	},
}

// speedRun is one run of one trial: after to[i] triplets, active[i] updates, bytes[i] saved, and spent[i] seconds since the checkpoint before.
type speedRun struct {
	objects              int
	to                   []int
	active, spent, bytes []float64
}

// speedRuns reads the runs of one kind and one trial, by cell.
func speedRuns(g, times *table.Table) []speedRun {
	var out []speedRun
	for cell, c := range g.Group("cell") {
		own := times.Where("cell", cell, "trial", experiment.FirstName(c, "trial"))
		spent := map[string]float64{}
		for i, phase := range own.Index("phase") {
			spent[phase] = max(leastTime, own.Values("cpu_s")[i])
		}
		r := speedRun{active: c.Values("active"), bytes: c.Values("bytes")}
		for i, to := range c.Index("triplets") {
			r.to = append(r.to, count(to))
			r.objects = count(c.Index("objects")[i])
			r.spent = append(r.spent, spent[speedPhase(c.Index("kind")[i], r.to[i])])
		}
		out = append(out, r)
	}
	return out
}

// number reads a number of objects or triplets in an index cell.
func number(s string) float64 { return float64(count(s)) }

// maxCount is the largest number of objects or triplets.
const maxCount = 1_000_000_000

func count(s string) int {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		experiment.Refuse("erkle2015: %q is not a number of objects or triplets", s)
	}
	return experiment.Whole("erkle2015: number of objects or triplets", v, 1, maxCount)
}

// mean is the mean time per active triplet up to the last checkpoint that is not beyond so many triplets.
func (r speedRun) mean(triplets int) (float64, error) {
	sum, active := 0.0, 0.0
	for i, to := range r.to {
		if to <= triplets {
			sum += r.spent[i]
			active = r.active[i]
		}
	}
	if active == 0 {
		return 0, fmt.Errorf("erkle2015: n = %d: no active triplet among the first %d", r.objects, triplets)
	}
	return sum / active, nil
}

// twice reports whether the stream has 2n triplets or more.
func (r speedRun) twice() bool { return experiment.Last("checkpoints", r.to) >= 2*r.objects }

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
		n := count(strings.TrimPrefix(cell, "n = "))
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
