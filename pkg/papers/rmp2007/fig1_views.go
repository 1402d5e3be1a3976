package rmp2007

import (
	"fmt"
	"slices"

	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

var fig1Views = []experiment.View{
	{Name: "fig1", Title: "Fig. 1: regret of RMP and EM in online clustering", Draw: func(t *table.Table) (plots.Drawing, error) {
		return drawRegret(t, fig1Main, []string{rmpPrinted, rmpCorrected, ftlName, emSpherical, emDiagonal, emFull, groupsKnown},
			fig1Known+" The paper's curves have no numbers in its text. The dashed grey line is √t through RMP's final regret (η printed). "+
				"Points are drawn from four Gaussians of standard deviation 1.5 around centres with coordinates of standard deviation 1: the nearest centre is right for more than 99.5 % of the points by all 50 coordinates, and for less than 95 % by 15.")
	}},
	{Name: "fig1-eta", Title: "The learning rate in online clustering", Draw: func(t *table.Table) (plots.Drawing, error) {
		return drawRegret(t, fig1Main, append(append([]string{}, fig1RMP[:5]...), ftlName),
			"The points and rounds of Fig. 1, for five learning rates: as printed in Theorem 2.1, as its proof needs it (corrected: the printed one divided by about A), anytime (corrected for the rounds so far), and 10 and 100 times the printed one. "+
				"Follow-the-leader (FTL) is the limit of a large rate; it may do well here since rounds are alike. The dashed grey line is √t through RMP's final regret (η printed).")
	}},
	{Name: "fig1-sparse", Title: "Online clustering of sparse, high-dimensional points", Draw: func(t *table.Table) (plots.Drawing, error) {
		return drawRegret(t, fig1Sparse, []string{rmpPrinted, rmpCorrected, ftlName, emSpherical, emDiagonal, groupsKnown},
			"The paper names no data for its remark on sparse, high-dimensional ones; these are ours, with 100 coordinates in four groups. Sparse words: coordinates 0 and 1, a point has each of the five words of its group with probability .8 and any other with .005. "+
				"Sparse Gaussians: the points of Fig. 1 with each coordinate kept with probability .2 and else 0. Full covariance matrices are left out: components of about 100 points in 100 coordinates, most of them 0, are too few for them. "+
				fig1Known+" The dashed grey line is √t through RMP's final regret (η printed).")
	}},
	{Name: "fig1-width-one", Title: "Fig. 1 with narrower Gaussians, other starts of EM, and k-means", Draw: func(t *table.Table) (plots.Drawing, error) {
		return drawRegret(t, []string{cellSquaredOne, cellL1One}, []string{rmpPrinted, rmpCorrected, ftlName, emSpherical, emSphereRow, kMeansName, groupsKnown},
			fig1Known+" The dashed grey line is √t through RMP's final regret (η printed). Points are drawn as in Fig. 1, but from Gaussians of standard deviation 1: the nearest centre is wrong for about 3 % of the points by 15 coordinates. EM spherical; rows starts from four random points. "+
				"k-means is the best of ten runs on the coordinates so far.")
	}},
	{Name: "fig1-restarts", Title: "Runs of RMP and of EM on the same points", Draw: drawRestarts},
	{Name: "fig1-final", Title: "Final regrets in online clustering", Draw: drawFinals},
	{Name: "fig1-optimum", Title: "The best map in hindsight, and how it is certified", Draw: drawOptimum},
}

// fig1Setup describes what all views share.
const fig1Setup = "Cumulative regret after t rounds against π*, the best map with at most m = 4 prototypes in hindsight (certified: see fig1-optimum): 400 points (60 at smoke scale), one coordinate of each revealed per round, the cost of mapping i to j being the squared or absolute (L1) difference of " +
	"their coordinates over the largest such difference in the data, so that costs are in [0, 1]. RMP draws its set by 5,000 steps of Metropolis–Hastings per round (200 at smoke scale) from the set of the round before; where weights are far apart, in late rounds and with rates 10 and 100 times the printed one, so short a walk stays at sets that a draw by the law would hardly give, so that those curves show the walk rather than the law. " +
	"FTL takes the best set that FasterPAM finds from the one before, which need not be the best of all. EM, which the paper shows \"not to provide a fair comparison\" but for the robustness of its own algorithm, is fitted anew in each round to the coordinates so far, spherical, diagonal or full covariance matrices, one run from k-means++, " +
	"variances at least a thousandth of the mean one, and maps the points of a component to the point nearest to its mean; before the first round it is a random map."

const fig1Known = "Groups known: who knew from which group each point was drawn, but not the coordinates to come, and took the member of least cost so far as its prototype; the regret that is left is for the prototypes, which π* chooses by coordinates that nobody has seen."

// fig1Styles are the lines of the methods.
var fig1Styles = map[string]plots.Line{
	rmpPrinted: {Color: 0}, emSpherical: {Color: 1}, emDiagonal: {Color: 2}, emFull: {Color: 3}, ftlName: {Color: 4, Dashed: true}, rmpCorrected: {Color: 5, Dashed: true},
	emSphereRow: {Color: 2}, kMeansName: {Color: 3},
	rmpAnytime: {Color: 6, Dashed: true}, rmpTen: {Color: 1, Dashed: true}, rmpHundred: {Color: 3, Dashed: true}, groupsKnown: {Color: plots.Grey},
}

// drawRegret draws regret against rounds, a panel per cell.
func drawRegret(t *table.Table, cells, methods []string, about string) (plots.Drawing, error) {
	d := plots.Drawing{Columns: 2}
	for _, cell := range cells {
		c := t.Where("cell", cell, "kind", "loss")
		if c.Len() == 0 {
			continue
		}
		p := plots.Panel{Title: cell, XLabel: "round t", YLabel: "regret"}
		best := c.Where("method", bestMap)
		var guide plots.Line
		for _, method := range methods {
			line := fig1Styles[method]
			line.Name = method
			for at, g := range c.Where("method", method).Group("round") {
				addMean(&line, float64(whole("round", at)), 1, fig1Regrets(g, best.Where("round", at)))
			}
			if method == rmpPrinted {
				guide = root(line)
			}
			p.Marks = append(p.Marks, line)
		}
		p.Marks = append(p.Marks, guide)
		d.Panels = append(d.Panels, p)
	}
	if len(d.Panels) == 0 {
		return plots.Missing("any trial"), nil
	}
	d.Caption = plots.Caption{Shows: fig1Setup + " " + about + " " + trialsNote(t)}
	return d, nil
}

// root is √t through the last point of a line.
func root(line plots.Line) plots.Line {
	out := plots.Line{Name: "√t", Color: plots.Grey, Dashed: true}
	if len(line.X) == 0 {
		return out
	}
	last := len(line.X) - 1
	for k := range 41 {
		share := float64(k) / 40
		out.X, out.Y = append(out.X, share*share*line.X[last]), append(out.Y, share*line.Y[last])
	}
	return out
}

// fig1Regrets returns the losses of g minus those of the best map, by trial.
func fig1Regrets(g, best *table.Table) []float64 {
	if !slices.Equal(g.Index("trial"), best.Index("trial")) {
		judge.Refuse("rmp2007: %d trials of a method against %d of the best map", g.Len(), best.Len())
	}
	return judge.Minus(g.Values("loss"), best.Values("loss"))
}

func drawFinals(t *table.Table) (plots.Drawing, error) {
	text := &plots.TextTable{Head: []string{"data", "method", "final regret", "in % of the best map's loss", "standard deviation", "exponent", "acceptance, early (%)", "acceptance, last (%)"}}
	for cell, c := range t.Group("cell") {
		if cell == cellRestarts { // fig1-restarts has it
			continue
		}
		r := finalsOf(c)
		loss := judge.Summarize(c.Where("kind", "optimum").Values("loss")).Mean
		for method, g := range c.Where("kind", "loss").Group("method") {
			if method == bestMap {
				continue
			}
			end := each(r, func(x finals) float64 { return x.end[method] })
			mid := judge.Summarize(each(r, func(x finals) float64 { return x.half[method] }))
			mean, width := judge.Summarize(end).Interval()
			row := []string{cell, method, fmt.Sprintf("%.1f ± %.1f", mean, width), fmt.Sprintf("%.1f", 100*mean/loss),
				fmt.Sprintf("%.1f", deviation(end, everyTrial)), fmt.Sprintf("%.2f", exponent(mid.Mean, mean)), "", ""}
			rounds := g.Unique("round")
			for i, at := range []string{"3", rounds[len(rounds)-1]} {
				if a := judge.Summarize(g.Where("round", at).Values("acceptance")).Mean; a == a {
					row[6+i] = fmt.Sprintf("%.2g", 100*a)
				}
			}
			text.Rows = append(text.Rows, row)
		}
	}
	if len(text.Rows) == 0 {
		return plots.Missing("any trial"), nil
	}
	return plots.Drawing{Text: text, Caption: plots.Caption{Shows: fmt.Sprintf("Regret at the end, against the best map. The exponent is that of a power law through the mean regrets after half of the rounds and at the end: 1 is linear, ½ is √t. The standard deviation is over trials. Acceptance is the share of steps of the random walk that changed the set, in round 3 and in the last one. "+
		"Theorem 2.1's bound (as printed, δ = .05) is %.3g after 50 rounds, the corrected one is larger still, and no regret can exceed the number of points times that of rounds, 20,000 at full scale: at that size the bounds say nothing. RMP walks 5,000 steps of Metropolis–Hastings per round, a short walk 500; a heat-bath walk has the same law. EM starts from k-means++ or, \"rows\", from random points; k-means is the best of ten runs. %s", fig1Bound(50), trialsNote(t))}}, nil
}

func drawOptimum(t *table.Table) (plots.Drawing, error) {
	text := &plots.TextTable{Head: []string{"data", "loss of the best map", "mean gap (%)", "largest gap (%)", "exact in", "gap of the dual bound alone (%)", "prototypes left", "the groups drawn from cost more by (%)", "mistaken with 15 coordinates (%)", "with all (%)"}}
	for cell, c := range t.Group("cell") {
		o := c.Where("kind", "optimum")
		if o.Len() == 0 || slices.Contains(samePoints, cell) {
			continue
		}
		var gap, dual, groups []float64
		exact := 0
		for i, upper := range o.Values("loss") {
			gap = append(gap, 1-o.Values("lower")[i]/upper)
			dual = append(dual, 1-o.Values("dual")[i]/upper)
			groups = append(groups, o.Values("groups")[i]/upper-1)
			if gap[i] == 0 {
				exact++
			}
		}
		row := []string{cell, fmt.Sprintf("%.1f", judge.Summarize(o.Values("loss")).Mean), fmt.Sprintf("%.3g", 100*judge.Summarize(gap).Mean), fmt.Sprintf("%.3g", 100*slices.Max(gap)),
			fmt.Sprintf("%d of %d", exact, o.Len()), fmt.Sprintf("%.3g", 100*max(0, judge.Summarize(dual).Mean)), fmt.Sprintf("%.3g", judge.Summarize(o.Values("left")).Mean), fmt.Sprintf("%.3g", 100*judge.Summarize(groups).Mean)}
		for _, g := range c.Where("kind", "separable").Group("round") {
			row = append(row, fmt.Sprintf("%.2g", 100*judge.Summarize(g.Values("mistaken")).Mean))
		}
		text.Rows = append(text.Rows, row)
	}
	if len(text.Rows) == 0 {
		return plots.Missing("any trial"), nil
	}
	return plots.Drawing{Text: text, Caption: plots.Caption{Shows: fmt.Sprintf("The best map with at most four prototypes over all rounds, found by FasterPAM from %d random sets, and what is proved of it. The Lagrangian dual of the k-median problem gives a loss that no map can fall below, and with it a list of the prototypes that a better map could use; "+
		"where few are left all their sets are tried, which settles the optimum. A gap is the share by which the proved lower bound is below the map's loss, 0 where it is exact: a regret against the true optimum is larger by at most that share of the loss. "+
		"The groups that points were drawn from, each with its best prototype, cost more. The last columns give the share of points that are not nearest to the centre of their group, by the first 15 and by all coordinates. Means over %d trials.", searchStarts, len(t.Unique("trial")))}}, nil
}
