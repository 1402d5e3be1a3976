package clusters

import (
	"fmt"
	"math"
	"slices"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/papers/rmp2007/protocol"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

var fig1Views = []experiment.View{
	{Name: "fig1", Title: "Fig. 1: regret of RMP and EM in online clustering", Draw: regretView(fig1Main, []string{protocol.RMPPrinted, protocol.RMPCorrected, protocol.FTL, emSpherical, emDiagonal, emFull, groupsKnown},
		"Points are drawn from four Gaussians of standard deviation 1.5 around centres with coordinates of standard deviation 1. The nearest centre is right for more than 99.5 % of the points by all 50 coordinates, and for less than 95 % by 15. "+
			"The paper's curves have no numbers in its text.", fig1Known).Draw},
	{Name: "fig1-eta", Title: "The learning rate in online clustering", Draw: regretView(fig1Main, slices.Concat(fig1RMP[:5], []string{protocol.FTL}),
		"The points and rounds are those of Fig. 1.",
		"Five learning rates: as printed in Theorem 2.1, as its proof needs it (corrected: the printed one divided by about A), anytime (corrected for the rounds so far), and 10 and 100 times the printed one. "+
			"Follow-the-leader (FTL) is the limit of a large rate; it may do well here since rounds are alike.").Draw},
	{Name: "fig1-sparse", Title: "Online clustering of sparse, high-dimensional points", Draw: regretView([]string{cellWords, cellMasked}, []string{protocol.RMPPrinted, protocol.RMPCorrected, protocol.FTL, emSpherical, emDiagonal, groupsKnown},
		"The paper names no data for its remark on sparse, high-dimensional ones; these are ours, with 100 coordinates in four groups. Sparse words: coordinates 0 and 1, a point has each of the five words of its group with probability .8 and any other with .005. "+
			"Sparse Gaussians: the points of Fig. 1 with each coordinate kept with probability .2 and else 0.",
		fig1Known+" Full covariance matrices are left out: components of about 100 points in 100 coordinates, most of them 0, are too few for them.").Draw},
	{Name: "fig1-width-one", Title: "Fig. 1 with narrower Gaussians, other starts of EM, and k-means", Draw: regretView([]string{cellSquaredOne, cellL1One}, []string{protocol.RMPPrinted, protocol.RMPCorrected, protocol.FTL, emSpherical, emSphereRow, kMeansName, groupsKnown},
		"Points are drawn as in Fig. 1, but from Gaussians of standard deviation 1: the nearest centre is wrong for about 3 % of the points by 15 coordinates.",
		fig1Known+" EM spherical; rows starts from four random points. k-means is the best of ten runs on the coordinates so far.").Draw},
	{Name: "fig1-restarts", Title: "Runs of RMP and of EM on the same points", Draw: restartsView.Draw},
	{Name: "fig1-final", Title: "Final regrets in online clustering", Draw: finalsView.Draw},
	{Name: "fig1-optimum", Title: "The best map in hindsight, and how it is certified", Draw: optimumView.Draw},
}

// What all views of regret share.
const (
	fig1Shows = "Cumulative regret after t rounds against π*, the best map with at most m = 4 prototypes in hindsight (certified: see fig1-optimum). The dashed grey line is √t through RMP's final regret (η printed)."
	fig1Data  = "400 points (60 at smoke scale), one coordinate of each revealed per round. Mapping i to j costs the squared or absolute (L1) difference of their coordinates over the largest such difference in the data: costs are in [0, 1]. "
	fig1Setup = "RMP draws its set by 5,000 steps of Metropolis–Hastings per round (200 at smoke scale) from the set of the round before. Where weights are far apart, in late rounds and with rates 10 and 100 times the printed one, so short a walk stays at sets that a draw by the law would hardly give. Those curves show the walk, not the law. " +
		"FTL takes the best set that FasterPAM finds from the one before, which need not be the best of all. EM, which the paper shows \"not to provide a fair comparison\" but for the robustness of its own algorithm, is fitted anew in each round to the coordinates so far: spherical, diagonal or full covariance matrices, one run from k-means++, " +
		"variances at least a thousandth of the mean one. It maps the points of a component to the point nearest to its mean; before the first round it is a random map. "
)

const fig1Known = "Groups known: who knew from which group each point was drawn, but not the coordinates to come, and took the member of least cost so far as its prototype; the regret that is left is for the prototypes, which π* chooses by coordinates that nobody has seen."

// styles are those of the clusterings.
var styles = protocol.Styles(plots.Styles{
	emSpherical: {Color: plots.Sky}, emDiagonal: {Color: plots.Olive, Dash: plots.Dashed}, emFull: {Color: plots.Purple, Dash: plots.LongDashed},
	emSphereRow: {Color: plots.Brown, Dash: plots.DashDotDot}, kMeansName: {Color: plots.Black, Dash: plots.Dotted}, groupsKnown: {Color: plots.Grey},
	medoidsInTurn: {Color: plots.Purple}, medoidsFaster: {Color: plots.Green, Dash: plots.Dashed},
})

// regretView shows regret against rounds, a panel per cell. RMP as printed and as corrected alone has bands: those of the others would hide
// each other.
func regretView(cells, methods []string, data, about string) frame.View {
	var of []frame.Mark
	for _, method := range methods {
		b := frame.Band{None: !slices.Contains(protocol.EtaReadings, method)}
		of = append(of, frame.Line(styles.Line(method), "round", regret, b).Where("method", method))
	}
	of = append(of, root)
	return frame.View{
		From: frame.Only("cell", cells...).Then(withBest), Columns: 2,
		Panels: frame.PerGroup(func(cells []string) frame.Panel {
			return frame.Panel{Panel: plots.Panel{Title: cells[0], XLabel: "round t", YLabel: "regret"}, Of: of}
		}, "cell"),
		Caption: frame.Says(fig1Shows, fig1Data+data, fig1Setup+about, protocol.TrialsCover+". Bands are those of RMP with η as printed and as corrected; intervals of the final regrets are in a table"),
		Missing: "any trial",
	}
}

// root is √t through RMP's final regret.
func root(rows *table.Table) plots.Mark {
	out := plots.Line{Name: "√t", Color: plots.Grey, Dash: plots.TwoDashes}
	last, final := float64(protocol.LastRound(rows)), atEnd.Where("method", protocol.RMPPrinted).Averaged()(rows)[0]
	for k := range 41 {
		share := float64(k) / 40
		out.X, out.Y = append(out.X, share*share*last), append(out.Y, share*final)
	}
	return out
}

// finalCells are those whose final regrets are listed; the restarts have a view of their own. optimumCells have points of
// their own.
var (
	finalCells   = slices.Concat(optimumCells[:4], []string{cellSquaredRow, cellL1Row}, optimumCells[4:6], []string{cellWordsRow, cellMaskedRow}, optimumCells[6:])
	optimumCells = append([]string{cellSquared, cellL1, cellWords, cellMasked, cellSquaredOne, cellL1One}, widthNames...)
)

var finalsView = frame.View{
	From: frame.Only("cell", finalCells...).Then(withBest),
	Text: &frame.Text{By: []string{"cell", "data", "method", "method"}, Cells: []frame.Cell{
		frame.PlusMinus("final regret", atEnd, frame.Band{}, "%.1f"),
		frame.Of("in % of the best map's loss", atEnd.Averaged().Over(protocol.After(10, bestLoss).Averaged()), protocol.Percent, "%.1f"),
		frame.Of("standard deviation", atEnd.Reduce(deviation), frame.Band{}, "%.1f"),
		frame.Of("exponent", exponent(halfway.Averaged(), atEnd.Averaged()), frame.Band{}, "%.2f"),
		acceptanceIn("acceptance, early (%)", acceptance.Where("round", "3")),
		acceptanceIn("acceptance, last (%)", protocol.After(10, acceptance)),
	}},
	Caption: frame.Says("Regret at the end, against the best map.", "",
		fmt.Sprintf("The exponent is that of a power law through the mean regrets after half of the rounds and at the end: 1 is linear, ½ is √t. The standard deviation is over trials. Acceptance is the share of steps of the random walk that changed the set, in round 3 and in the last one. "+
			"Theorem 2.1's bound (as printed, δ = .05) is %.3g after 50 rounds, the corrected one is larger still, and no regret can exceed the number of points times that of rounds, 20,000 at full scale: at that size the bounds say nothing. RMP walks 5,000 steps of Metropolis–Hastings per round, a short walk 500; a heat-bath walk has the same law. EM starts from k-means++ or, \"rows\", from random points; k-means is the best of ten runs.", fig1Bound(50)), protocol.TrialsCover),
	Missing: "any trial",
}

var acceptance = frame.Column("acceptance")

// acceptanceIn is a column that is empty for methods that do not walk.
func acceptanceIn(head string, m frame.Measure) frame.Cell {
	return frame.Cell{Head: head, Of: func(rows *table.Table) string {
		if v := protocol.Percent.Mean(m(rows)); !math.IsNaN(v) {
			return fmt.Sprintf("%.2g", v)
		}
		return ""
	}}
}

var optimumView = frame.View{
	From: frame.Only("cell", optimumCells...),
	Text: &frame.Text{By: []string{"cell", "data"}, Cells: []frame.Cell{
		frame.Of("loss of the best map", protocol.Losses.Where("kind", "optimum"), frame.Band{}, "%.1f"),
		frame.Of("mean gap (%)", optimumGap, protocol.Percent, "%.3g"),
		frame.Of("largest gap (%)", optimumGap.Reduce(slices.Max), protocol.Percent, "%.3g"),
		{Head: "exact in", Of: func(rows *table.Table) string {
			gaps := optimumGap(rows)
			return fmt.Sprintf("%d of %d", exactly(gaps), len(gaps))
		}},
		frame.Of("gap of the dual bound alone (%)", below("dual").Averaged().Map(func(v float64) float64 { return max(0, v) }), protocol.Percent, "%.3g"),
		frame.Of("prototypes left", frame.Column("left").Where("kind", "optimum"), frame.Band{}, "%.3g"),
		frame.Of("the groups drawn from cost more by (%)", frame.Share("groups", "loss").Plus(-1).Where("kind", "optimum"), protocol.Percent, "%.3g"),
		frame.Of("mistaken with 15 coordinates (%)", frame.Column("mistaken").Where("kind", "separable", "round", "15"), protocol.Percent, "%.2g"),
		frame.Of("with all (%)", protocol.After(10, frame.Column("mistaken")).Where("kind", "separable"), protocol.Percent, "%.2g"),
	}},
	Caption: func(t *table.Table) plots.Caption {
		return plots.Caption{
			Shows: fmt.Sprintf("The best map with at most four prototypes over all rounds, found by FasterPAM from %d random sets, and what is proved of it.", searchStarts),
			Protocol: "The Lagrangian dual of the k-median problem gives a loss that no map can fall below, and with it a list of the prototypes that a better map could use; " +
				"where few are left all their sets are tried, which settles the optimum. A gap is the share by which the proved lower bound is below the map's loss, 0 where it is exact: a regret against the true optimum is larger by at most that share of the loss. " +
				"The groups that points were drawn from, each with its best prototype, cost more. The last columns give the share of points that are not nearest to the centre of their group, by the first 15 and by all coordinates.",
			Intervals: fmt.Sprintf("Means over %d trials.", len(t.Unique("trial"))),
		}
	},
	Missing: "any trial",
}

// exactly counts the gaps that are none.
func exactly(gaps []float64) int {
	return len(slices.DeleteFunc(slices.Clone(gaps), func(gap float64) bool { return gap != 0 }))
}
