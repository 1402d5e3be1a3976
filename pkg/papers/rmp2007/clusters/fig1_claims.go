package clusters

import (
	"fmt"
	"slices"
	"strconv"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/papers/rmp2007/protocol"
	"metriclab/pkg/table"
)

const fiveOneFig1 = "Section 5.1, Fig. 1"

var fig1Claims = experiment.Claims([]experiment.Claim{
	{
		ID:        "fig1-optimum",
		View:      "fig1-optimum",
		Statement: "We were able to efficiently compute the optimal offline clustering π*.",
		Where:     fiveOneFig1, Theirs: "no number",
		Predicate: "In every trial the map that regret is measured against is proved to cost at most a thousandth more than any other, for both distortions.",
		Test: frame.NeverNegative(optimumGap.Times(-1).Plus(certified)).Told(func(t *table.Table) judge.Shown {
			gaps := optimumGap(t)
			return judge.Shown{More: fmt.Sprintf("; largest gap %.2g; the optimum is exact in %d of %d", slices.Max(append(gaps, 0)), exactly(gaps), len(gaps))}
		}).On(frame.Only("cell", fig1Main...)).Check("Each map comes with a lower bound on the cost of all others.", 0),
	},
	{
		ID:        "fig1-sublinear",
		Statement: "The regret of our algorithm is sublinear in T.",
		Where:     fiveOneFig1, Theirs: experiment.FigureOnly,
		Predicate: "Twice the regret at half of the rounds − that at the end > 0, paired; for η printed and corrected, both distortions, and widths 1.5 and 1.",
		Test:      fig1Test(fig1Alone, func(c fig1Case, rule, _ string) frame.Test { return positive(c.Of(rule, protocol.Sublinear(regret))) }),
	},
	{
		ID:        "fig1-root",
		Statement: "The regret appears to be roughly O(√T).",
		Where:     fiveOneFig1, Theirs: experiment.FigureOnly,
		Predicate: "The exponent log₂(regret at the end/regret at half of the rounds) is ½ ± 0.2 (its whole interval); for η printed and corrected, both distortions, and widths 1.5 and 1.",
		Test: fig1Test(fig1Alone, func(c fig1Case, rule, _ string) frame.Test {
			m := c.Of(rule, exponent(halfway, atEnd)).Plus(-0.5)
			return frame.Equivalent(rootMargin, 0, judge.Rule{}, frame.Unit(rule, m)).Told(func(t *table.Table) judge.Shown {
				mean, half := judge.Summarize(m(t)).Interval()
				return judge.Shown{Ours: fmt.Sprintf("exponent %.2f ± %.2f", mean+0.5, half)}
			})
		}),
	},
	{
		ID:        "fig1-em-poor",
		Statement: "EM clustering has relatively poor performance: RMP's regret is smaller.",
		Where:     fiveOneFig1, Theirs: experiment.FigureOnly,
		Predicate: "Final regret of EM − that of RMP > 0, paired; for each form of the covariance matrices, EM from k-means++ and from random rows, η printed and corrected, both distortions, and widths 1.5 and 1.",
		Test:      lessRegret(fig1Against, 1),
	},
	{
		ID:        "fig1-kmeans",
		Ours:      true,
		View:      "fig1-width-one",
		Title:     "Ours: K-means, too, has a larger regret than RMP in Fig. 1.",
		Statement: "Ours, after \"a more subtle issue associated with applying a 'find the best' algorithm, such as K-means\": K-means has a larger regret than RMP in Fig. 1, too.",
		Where:     fiveOneFig1, Theirs: "not in the paper",
		Afterwards: "the regrets of RMP, follow-the-leader and EM from k-means++",
		Predicate:  "Final regret of k-means (each round the best of ten runs on the coordinates so far) − that of RMP > 0, paired; for η printed and corrected, both distortions, and widths 1.5 and 1.",
		Test:       lessRegret(fig1Best, 1),
	},
	{
		ID:        "fig1-em-variable",
		View:      "fig1-final",
		Statement: "The performance of EM was quite variable; our sampling algorithm is apparently quite robust.",
		Where:     fiveOneFig1, Theirs: experiment.FigureOnly,
		Predicate: "Standard deviation over trials of EM's final regret, as a share of the best map's loss, − twice that of RMP's > 0, jackknifed; each trial has data of its own; for each form of the covariance matrices, η printed and corrected, and both distortions. And, added: standard deviation over four runs on the same points, η printed and squared differences, − twice that of RMP > 0, paired by points; spherical, from k-means++ and from random rows.",
		Test:      frame.Readings(append(fig1Readings(fig1Against[:2], moreVariable), restartReadings()...)...).On(withBest),
	},
	{
		ID:        "fig1-bound",
		View:      "fig1-final",
		Title:     "The regret is at most the bound of Theorem 2.1 (with probability 1 − δ), as expected.",
		Statement: "The regret is at most the bound of Theorem 2.1 (with probability 1 − δ), which is what we would expect given our bound.",
		Where:     "Section 2, Theorem 2.1; Section 5.1", Theirs: "the printed bound",
		Predicate: "The final regret is at most the printed bound with δ = 0.05, in every trial; for η printed and corrected, and both distortions. At this size the bound is above A·T, which no regret exceeds: it cannot fail.",
		Test: fig1Test(fig1Alone[:2], func(c fig1Case, rule, _ string) frame.Test {
			return func(t *table.Table) judge.Test {
				rounds := protocol.LastRound(t.Where("cell", c.cells[0]))
				bound := fig1Bound(rounds)
				test := frame.NeverNegative(c.Of(rule, atEnd).Times(-1).Plus(bound))(t)
				if bound >= float64(fig1Points*rounds) {
					test = judge.Check{Test: test, Why: "No regret exceeds A·T, and the bound is above it."}
				}
				return judge.Shown{Test: test, More: fmt.Sprintf("; the bound is %.3g, A·T is %d", bound, fig1Points*rounds)}
			}
		}),
	},
	{
		ID:        "fig1-mixing",
		View:      "fig1-final",
		Statement: "In all cases we have tested, this Markov chain mixes very rapidly.",
		Where:     "Section 3, last paragraph", Theirs: "no number",
		Predicate: "With η printed, the final regret with R = 500 steps per round differs from that with R = 5,000, and that with a heat-bath walk of 5,000 steps from both, by less than 5 % of the mean (the whole interval of each), for both distortions.",
		Test:      frame.Equivalent(mixingMargin, 0, judge.Rule{Scale: 100, Unit: "% of the regret"}, frame.Together(sameRegret(cellSquared), sameRegret(cellL1))).On(withBest),
	},
	{
		ID:        "fig1-sparse",
		View:      "fig1-sparse",
		Statement: "Other experiments suggest that RMP performs substantially better than EM on sparse, high-dimensional data.",
		Where:     fiveOneFig1, Theirs: "no number",
		Predicate: "Half of EM's final regret − that of RMP > 0, paired; for two kinds of sparse data in 100 dimensions, spherical and diagonal covariance matrices, EM from k-means++ and from random rows, η printed and corrected.",
		Test:      lessRegret(fig1Sparse4, substantially).StandIn(protocol.OurWorlds),
	},
})

// positive tests that a number is positive.
func positive(m frame.Measure) frame.Test {
	return frame.Positive(judge.Rule{}, frame.Unit("regret", m))
}

// lessRegret tests that RMP's final regret is less than a share of its rival's.
func lessRegret(cases []fig1Case, share float64) frame.Test {
	rule := judge.Rule{}
	if share != 1 {
		rule.Unit = fmt.Sprintf("below %v times that of EM", share)
	}
	return fig1Test(cases, func(c fig1Case, rmp, rival string) frame.Test {
		return frame.Positive(rule, frame.Unit("regret", c.Of(rival, atEnd).Times(share).Minus(c.Of(rmp, atEnd))))
	})
}

// moreVariable tests that the final regret of EM varies over trials more than variableTimes as much as that of RMP.
func moreVariable(c fig1Case, rule, em string) frame.Test {
	return func(t *table.Table) judge.Test {
		x, y := c.Of(em, relative)(t), c.Of(rule, relative)(t)
		if len(x) < 3 { // none is left of two when the jackknife drops one
			return judge.Unsettled{Reason: "Only " + strconv.Itoa(len(x)) + " trials.", Need: "at least " + strconv.Itoa(judge.MinTrials) + " trials"}
		}
		judge.SameLength("trials of "+em+" and "+rule, x, y)
		d := judge.PseudoValues(len(x), func(keep func(int) bool) float64 {
			var of, than []float64
			for i := range x {
				if keep(i) {
					of, than = append(of, x[i]), append(than, y[i])
				}
			}
			return deviation(of) - variableTimes*deviation(than)
		})
		return judge.Shown{
			Test: judge.Positive{Units: []judge.Unit{{Name: em, Diffs: d}}},
			Ours: fmt.Sprintf("standard deviation %.3g against %.3g of the best map's loss", deviation(x), deviation(y)),
		}
	}
}

// sameRegret are the differences of three walks in a cell, in units of RMP's mean regret.
func sameRegret(cell string) frame.Units {
	return frame.Over([][2]string{{rmpShort, protocol.RMPPrinted}, {rmpHeatBath, protocol.RMPPrinted}, {rmpShort, rmpHeatBath}}, func(pair [2]string) (string, frame.Measure) {
		return cell + ", " + pair[0] + " against " + pair[1], frame.Measure(func(rows *table.Table) []float64 {
			scale := atEnd.Where("method", protocol.RMPPrinted).Averaged()(rows)[0]
			return protocol.More(atEnd, pair[0], pair[1]).Times(1 / scale)(rows)
		}).Where("cell", cell)
	})
}
