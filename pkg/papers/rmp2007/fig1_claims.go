package rmp2007

import (
	"fmt"
	"math"
	"strconv"

	"metriclab/pkg/experiment"
	"metriclab/pkg/learners/mapping"
	"metriclab/pkg/table"
)

// Margins of the claims, fixed before the first full run.
const (
	// "roughly O(√T)": regret grows like t to the power ½ ± 0.2 from half of the rounds to all.
	rootMargin = 0.2
	// "quite variable": the standard deviation of the final regret is more than twice that of RMP.
	variableTimes = 2
	// "substantially better": less than half of the regret.
	substantially = 0.5
	// "efficiently compute the optimal offline clustering": proved to within a thousandth.
	certified = 1e-3
	// "mixes very rapidly": a walk of a tenth of the steps changes the final regret by less than a twentieth.
	mixingMargin = 0.05
)

const fiveOneFig1 = "Section 5.1, Fig. 1"

var (
	fig1Main   = []string{"squared", "L1"}
	fig1Sparse = []string{"sparse words", "sparse Gaussians"}
	// fig1Rules are the readings of η: as printed, and as the proof of Theorem 2.1 needs it.
	fig1Rules = []string{rmpPrinted, rmpCorrected}
)

var fig1Claims = []experiment.Claim{
	{
		ID:        "fig1-optimum",
		View:      "fig1-optimum",
		Statement: "We were able to efficiently compute the optimal offline clustering π*.",
		Where:     fiveOneFig1, Theirs: "no number",
		Predicate: "In every trial the map that regret is measured against is proved to cost at most a thousandth more than any other, for both distortions.",
		Grade: func(t *table.Table) (experiment.Finding, error) {
			var holds []bool
			exact := 0
			worst := 0.0
			for _, g := range t.Where("kind", "optimum").Group("trial") {
				all := true
				for i, cell := range g.Index("cell") {
					if cell != fig1Main[0] && cell != fig1Main[1] {
						continue
					}
					gap := 1 - g.Values("lower")[i]/g.Values("loss")[i]
					all = all && gap <= certified
					worst = max(worst, gap)
					if gap == 0 {
						exact++
					}
				}
				holds = append(holds, all)
			}
			f, err := experiment.GradeAlways(holds)
			f.Ours += fmt.Sprintf("; largest gap %.2g; the optimum is exact in %d of %d", worst, exact, len(fig1Main)*len(holds))
			return f, err
		},
	},
	{
		ID:        "fig1-sublinear",
		View:      "fig1",
		Statement: "The regret of our algorithm is sublinear in T.",
		Where:     fiveOneFig1, Theirs: experiment.FigureOnly,
		Predicate: "Twice the regret at half of the rounds − that at the end > 0, paired; for η printed and corrected, and both distortions.",
		Grade: func(t *table.Table) (experiment.Finding, error) {
			return fig1Readings(t, func(c *table.Table, rule string) (experiment.Finding, error) {
				return gradeOne(c, func(r finals) float64 { return 2*r.half[rule] - r.end[rule] })
			})
		},
	},
	{
		ID:        "fig1-root",
		View:      "fig1",
		Statement: "The regret appears to be roughly O(√T).",
		Where:     fiveOneFig1, Theirs: experiment.FigureOnly,
		Predicate: "The exponent log₂(regret at the end/regret at half of the rounds) is ½ ± 0.2 (its whole interval); for η printed and corrected, and both distortions.",
		Grade: func(t *table.Table) (experiment.Finding, error) {
			return fig1Readings(t, func(c *table.Table, rule string) (experiment.Finding, error) {
				d, err := perTrial(c, func(r finals) float64 { return exponent(r.half[rule], r.end[rule]) - 0.5 })
				if err != nil {
					return experiment.Finding{}, err
				}
				f, err := experiment.GradeEquivalent([]experiment.Unit{{Name: rule, Diffs: d}}, experiment.EquivalenceRule{Margin: rootMargin})
				if err == nil {
					s := experiment.Summarize(d)
					_, half := s.Interval()
					f.Ours = fmt.Sprintf("exponent %.2f ± %.2f", s.Mean+0.5, half)
				}
				return f, err
			})
		},
	},
	{
		ID:        "fig1-em-poor",
		View:      "fig1",
		Statement: "EM clustering has relatively poor performance: RMP's regret is smaller.",
		Where:     fiveOneFig1, Theirs: experiment.FigureOnly,
		Predicate: "Final regret of EM − that of RMP > 0, paired; for each form of the covariance matrices, η printed and corrected, and both distortions.",
		Grade: func(t *table.Table) (experiment.Finding, error) {
			return againstEM(t, fig1Main, fig1EM, func(c *table.Table, rule, em string) (experiment.Finding, error) {
				return gradeOne(c, func(r finals) float64 { return r.end[em] - r.end[rule] })
			})
		},
	},
	{
		ID:        "fig1-em-variable",
		View:      "fig1-final",
		Statement: "The performance of EM was quite variable; our sampling algorithm is apparently quite robust.",
		Where:     fiveOneFig1, Theirs: experiment.FigureOnly,
		Predicate: "Standard deviation over trials of EM's final regret, as a share of the best map's loss, − twice that of RMP's > 0, jackknifed; each trial has data of its own; for each form of the covariance matrices, η printed and corrected, and both distortions.",
		Grade: func(t *table.Table) (experiment.Finding, error) {
			return againstEM(t, fig1Main, fig1EM, func(c *table.Table, rule, em string) (experiment.Finding, error) {
				x, err := perTrial(c, func(r finals) float64 { return r.end[em] / r.best })
				if err != nil {
					return experiment.Finding{}, err
				}
				y, err := perTrial(c, func(r finals) float64 { return r.end[rule] / r.best })
				if err != nil {
					return experiment.Finding{}, err
				}
				if len(x) < 3 { // none is left of two when the jackknife drops one
					return experiment.Finding{Verdict: experiment.Undecided, Reason: "Only " + strconv.Itoa(len(x)) + " trials."}, nil
				}
				d := experiment.PseudoValues(len(x), func(keep func(int) bool) float64 {
					return deviation(x, keep) - variableTimes*deviation(y, keep)
				})
				f, err := experiment.GradeUnits([]experiment.Unit{{Name: em, Diffs: d}}, experiment.UnitRule{})
				all := func(int) bool { return true }
				f.Ours = fmt.Sprintf("standard deviation %.3g against %.3g of the best map's loss", deviation(x, all), deviation(y, all))
				return f, err
			})
		},
	},
	{
		ID:        "fig1-bound",
		View:      "fig1-final",
		Statement: "The regret is at most the bound of Theorem 2.1 (with probability 1 − δ), which is what we would expect given our bound.",
		Where:     "Section 2, Theorem 2.1; Section 5.1", Theirs: "the printed bound",
		Predicate: "The final regret is at most the printed bound with δ = 0.05, in every trial; for η printed and corrected, and both distortions. At this size the bound is above A·T, which no regret exceeds: it cannot fail.",
		Grade: func(t *table.Table) (experiment.Finding, error) {
			return fig1Readings(t, func(c *table.Table, rule string) (experiment.Finding, error) {
				r, err := finalsOf(c)
				if err != nil {
					return experiment.Finding{}, err
				}
				var holds []bool
				for _, x := range r {
					holds = append(holds, x.end[rule] <= fig1Bound(x.rounds))
				}
				f, err := experiment.GradeAlways(holds)
				if len(r) > 0 {
					f.Ours += fmt.Sprintf("; the bound is %.3g, A·T is %d", fig1Bound(r[0].rounds), fig1Points*r[0].rounds)
				}
				return f, err
			})
		},
	},
	{
		ID:        "fig1-mixing",
		View:      "fig1-final",
		Statement: "In all cases we have tested, this Markov chain mixes very rapidly.",
		Where:     "Section 3, last paragraph", Theirs: "no number",
		Predicate: "With η printed, the final regret with R = 500 steps per round differs from that with R = 5,000, and that with a heat-bath walk of 5,000 steps from both, by less than 5 % of the mean (the whole interval of each), for both distortions.",
		Grade: func(t *table.Table) (experiment.Finding, error) {
			var units []experiment.Unit
			for _, cell := range fig1Main {
				c := t.Where("cell", cell)
				for _, pair := range [][2]string{{rmpShort, rmpPrinted}, {rmpHeatBath, rmpPrinted}, {rmpShort, rmpHeatBath}} {
					base, err := perTrial(c, func(r finals) float64 { return r.end[rmpPrinted] })
					if err != nil {
						return experiment.Finding{}, err
					}
					scale := experiment.Summarize(base).Mean
					d, err := perTrial(c, func(r finals) float64 { return (r.end[pair[0]] - r.end[pair[1]]) / scale })
					if err != nil {
						return experiment.Finding{}, err
					}
					units = append(units, experiment.Unit{Name: cell + ", " + pair[0] + " against " + pair[1], Diffs: d})
				}
			}
			return experiment.GradeEquivalent(units, experiment.EquivalenceRule{Margin: mixingMargin, Scale: 100, Unit: "% of the regret"})
		},
	},
	{
		ID:        "fig1-sparse",
		View:      "fig1-sparse",
		Statement: "Other experiments suggest that RMP performs substantially better than EM on sparse, high-dimensional data.",
		Where:     fiveOneFig1, Theirs: "no number",
		Predicate: "Half of EM's final regret − that of RMP > 0, paired; for two kinds of sparse data in 100 dimensions, spherical and diagonal covariance matrices, η printed and corrected.",
		Grade: func(t *table.Table) (experiment.Finding, error) {
			return againstEM(t, fig1Sparse, sparseEM, func(c *table.Table, rule, em string) (experiment.Finding, error) {
				return gradeOne(c, func(r finals) float64 { return substantially*r.end[em] - r.end[rule] })
			})
		},
	},
}

// fig1Points is K of the full scale.
const fig1Points = 400

// fig1Bound is the bound of Theorem 2.1 at full scale.
func fig1Bound(rounds int) float64 {
	experiment.Whole("rmp2007: rounds of the best map", float64(rounds), 1, maxRounds)
	return mapping.PrintedRegretBound(fig1Points, fig1Points, fig1Groups, rounds, confidence)
}

// finals are the regrets of a trial by method, after half of the rounds and at the end.
type finals struct {
	rounds    int
	half, end map[string]float64
	best      float64 // loss of the best map
}

// finalsOf returns the regrets of all trials of one cell.
func finalsOf(c *table.Table) ([]finals, error) {
	var out []finals
	for trial, g := range c.Where("kind", "loss").Group("trial") {
		r := finals{half: map[string]float64{}, end: map[string]float64{}}
		best := g.Where("method", bestMap)
		against := map[string]float64{}
		for i, at := range best.Index("round") {
			n, err := strconv.Atoi(at)
			if err != nil {
				return nil, err
			}
			r.rounds = max(r.rounds, n)
			against[at] = best.Values("loss")[i]
		}
		last, mid := strconv.Itoa(r.rounds), strconv.Itoa(r.rounds/2)
		r.best = against[last]
		for i, at := range g.Index("round") {
			method, regret := g.Index("method")[i], g.Values("loss")[i]-against[at]
			switch at {
			case last:
				r.end[method] = regret
			case mid:
				r.half[method] = regret
			}
		}
		if len(r.end) == 0 || len(r.half) != len(r.end) {
			return nil, fmt.Errorf("rmp2007: trial %s: regrets of %d methods at half of the rounds and of %d at the end", trial, len(r.half), len(r.end))
		}
		out = append(out, r)
	}
	return out, nil
}

// perTrial returns a number per trial of one cell.
func perTrial(c *table.Table, of func(finals) float64) ([]float64, error) {
	r, err := finalsOf(c)
	out := make([]float64, len(r))
	for i, x := range r {
		out[i] = of(x)
	}
	return out, err
}

// gradeOne grades that a number per trial is positive.
func gradeOne(c *table.Table, of func(finals) float64) (experiment.Finding, error) {
	d, err := perTrial(c, of)
	if err != nil {
		return experiment.Finding{}, err
	}
	return experiment.GradeUnits([]experiment.Unit{{Name: "regret", Diffs: d}}, experiment.UnitRule{})
}

// exponent is that of the power law through regrets at half of the rounds and at the end. Regrets of 0 or less
// count as tiny ones, so that the exponent is far from any claimed.
func exponent(half, end float64) float64 {
	const tiny = 1e-9
	return math.Log2(max(end, tiny) / max(half, tiny))
}

// deviation is the standard deviation of the kept values, with divisor n−1.
func deviation(v []float64, keep func(int) bool) float64 {
	n, mean, sq := 0.0, 0.0, 0.0
	for i, x := range v {
		if keep(i) {
			n++
			d := x - mean
			mean += d / n
			sq += d * (x - mean)
		}
	}
	return math.Sqrt(sq / (n - 1))
}

// fig1Readings grades a claim on RMP for each distortion and reading of η.
func fig1Readings(t *table.Table, grade func(c *table.Table, rule string) (experiment.Finding, error)) (experiment.Finding, error) {
	var out []experiment.Reading
	for _, cell := range fig1Main {
		for _, rule := range fig1Rules {
			f, err := grade(t.Where("cell", cell), rule)
			if err != nil {
				return f, err
			}
			out = append(out, experiment.Reading{Name: rule + ", " + cell, Finding: f})
		}
	}
	return experiment.AllReadings(out), nil
}

// againstEM grades a claim for each set, reading of η and form of EM.
func againstEM(t *table.Table, cells, forms []string, grade func(c *table.Table, rule, em string) (experiment.Finding, error)) (experiment.Finding, error) {
	var out []experiment.Reading
	for _, cell := range cells {
		for _, rule := range fig1Rules {
			for _, em := range forms {
				f, err := grade(t.Where("cell", cell), rule, em)
				if err != nil {
					return f, err
				}
				out = append(out, experiment.Reading{Name: rule + " against " + em + ", " + cell, Finding: f})
			}
		}
	}
	return experiment.AllReadings(out), nil
}
