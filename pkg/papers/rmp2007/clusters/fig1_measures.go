package clusters

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/learners/mapping"
	"metriclab/pkg/papers/rmp2007/protocol"
	"metriclab/pkg/table"
)

// Margins of the claims, fixed before the first full run.
const (
	// "O(√T)": regret over √T grows by at most a tenth while T grows sixteenfold, where a linear regret
	// would make it four times as large.
	growthAllowed = 1.1
	// Confidence is δ of Theorem 2.1.
	Confidence = 0.05
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

var fig1Main = []string{cellSquared, cellL1}

// fig1Bound is the bound of Theorem 2.1 at full scale.
func fig1Bound(rounds int) float64 {
	return mapping.PrintedRegretBound(fig1Points, fig1Points, fig1Groups, rounds, Confidence)
}

// withBest are the losses of the methods, with that of the best map of the same game and round in a column.
func withBest(t *table.Table) *table.Table {
	t = protocol.Beside("best", bestMap, "loss", "cell", "trial", "round")(t.Where("kind", "loss"))
	return frame.Only("method", slices.DeleteFunc(t.Unique("method"), func(m string) bool { return m == bestMap })...)(t)
}

// Regrets of withBest, so far, at half of the rounds and at the end; and at the end as a share of the best map's loss.
var (
	bestLoss = frame.Cells("best")
	regret   = protocol.Losses.Minus(bestLoss)
	halfway  = protocol.After(5, regret)
	atEnd    = protocol.After(10, regret)
	relative = protocol.After(10, regret.Over(bestLoss))
)

// below is the share by which a bound is below the loss of the best map.
func below(bound string) frame.Measure {
	return frame.Share(bound, "loss").Times(-1).Plus(1).Where("kind", "optimum")
}

var optimumGap = below("lower")

// exponent is that of the power law through regrets at half of the rounds and at the end. Regrets of 0 or less
// count as tiny ones, so that the exponent is far from any claimed.
func exponent(half, end frame.Measure) frame.Measure {
	log := func(v float64) float64 { return math.Log2(max(v, 1e-9)) }
	return end.Map(log).Minus(half.Map(log))
}

// deviation is the standard deviation, with divisor n−1.
func deviation(v []float64) float64 { return stat.StdDev(v, nil) }

// alone are no forms of EM: a claim is on RMP alone.
var alone = []string{""}

// The cells of Fig. 1 that were added afterwards: EM from random rows on the points of the first four, Gaussians of
// the other width that fits the paper's words, and restarts on the same points.
const (
	cellSquared    = "squared"
	cellL1         = "L1"
	cellWords      = "sparse words"
	cellMasked     = "sparse Gaussians"
	cellSquaredRow = "squared; EM from rows"
	cellL1Row      = "L1; EM from rows"
	cellWordsRow   = "sparse words; EM from rows"
	cellMaskedRow  = "sparse Gaussians; EM from rows"
	cellSquaredOne = "squared; width 1"
	cellL1One      = "L1; width 1"
	cellRestarts   = "squared; restarts"
)

const (
	// otherWidth is the other standard deviation of which the Gaussians are "easily separable" by all coordinates
	// and "non-separable" by fewer than "roughly" 15: who knew the centres would mistake about 3 % by 15.
	otherWidth = 1
	// kMeansStarts are the runs of k-means of a round, of which it takes the best.
	kMeansStarts = 10
	// fig1Restarts are the runs of a method on the same points.
	fig1Restarts = 4
)

// restarted names a run of a method on points that other runs have, too; runs count from 1.
func restarted(method string, run int) string { return method + "; run " + strconv.Itoa(run) }

// overRuns are the final regrets of a method in the runs on the points of a trial, as shares of the best map's loss: what f
// makes of them.
func overRuns(method string, f func(runs []float64) float64) frame.Measure {
	return func(rows *table.Table) (out []float64) {
		for _, trial := range rows.Where("cell", cellRestarts).Group("trial") {
			var v []float64
			for run := 1; run <= fig1Restarts; run++ {
				v = append(v, experiment.NotEmpty("regrets of "+restarted(method, run), relative.Where("method", restarted(method, run))(trial))[0])
			}
			out = append(out, f(v))
		}
		return out
	}
}

// restartsView shows how much the final regret of a method varies on the same points.
var restartsView = frame.View{
	From: frame.Rows(withBest).Where("cell", cellRestarts),
	Text: &frame.Text{
		Head: []string{"method", "mean final regret (% of the best map's loss)", "standard deviation over runs (%)", "largest of a trial (%)"},
		Rows: []frame.Row{restartsRow(protocol.RMPPrinted), restartsRow(emSpherical), restartsRow(emSphereRow)},
	},
	Caption: frame.Says(fmt.Sprintf("Runs that differ by the method's own draws only: %d of each method on the points of each trial (squared differences, width 1.5).", fig1Restarts),
		"", "EM spherical starts from k-means++, EM spherical; rows from four random points.", protocol.TrialsCover),
	Missing: "any trial",
}

func restartsRow(method string) frame.Row {
	spread := overRuns(method, deviation)
	return frame.Row{Names: []string{method}, Cells: []frame.Cell{
		frame.Of("", overRuns(method, func(v []float64) float64 { return stat.Mean(v, nil) }), protocol.Percent, "%.1f"),
		frame.PlusMinus("", spread, protocol.Percent, "%.2f"), frame.Of("", spread.Reduce(slices.Max), protocol.Percent, "%.2f"),
	}}
}
