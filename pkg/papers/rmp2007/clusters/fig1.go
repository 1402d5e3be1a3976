package clusters

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/learners/cluster"
	"metriclab/pkg/learners/mapping"
	"metriclab/pkg/metric"
	"metriclab/pkg/papers/rmp2007/protocol"
	"metriclab/pkg/random"
	"metriclab/pkg/table"
)

// Fig1 is the regret of RMP and of EM in online clustering.
var Fig1 = experiment.Spec{
	ID:      "rmp2007/fig1",
	Title:   "Online clustering of 400 points: regret of RMP, EM and follow-the-leader against a certified optimum",
	Source:  "Section 5.1, Fig. 1",
	Version: 1,
	// Two cells of Fig. 1, and two of the remark on sparse data; then those of fig1_starts.go.
	Cells: func(scale experiment.Scale) []experiment.Cell {
		return append([]experiment.Cell{
			fig1Cell(scale, cellSquared, "gaussians", fig1Settings{Distortion: protocol.Squared, Rounds: 50, RMP: fig1RMP, EM: fig1EM}),
			fig1Cell(scale, cellL1, "gaussians", fig1Settings{Distortion: protocol.Absolute, Rounds: 50, RMP: fig1RMP, EM: fig1EM}),
			fig1Cell(scale, cellWords, "words", fig1Settings{Distortion: protocol.Squared, Rounds: 100, RMP: protocol.EtaReadings, EM: sparseEM}),
			fig1Cell(scale, cellMasked, "masked gaussians", fig1Settings{Distortion: protocol.Squared, Rounds: 100, RMP: protocol.EtaReadings, EM: sparseEM}),
		}, fig1StartCells(scale)...)
	},
	Trials:  experiment.Trials(20),
	Kinds:   fig1Kinds,
	Columns: fig1Columns,
	Trial:   fig1Trial,
	Views:   fig1Views,
	Claims:  fig1Claims,
	Cost:    8 * time.Second,
}

var fig1Kinds = []experiment.Kind{
	{Name: "separable", Meaning: "how well who knows the centres of the groups tells them apart"},
	{Name: "optimum", Meaning: "the best map in hindsight, and what is proved of it"},
	{Name: "loss", Meaning: "losses of a method so far"},
}

var fig1Columns = experiment.Columns{
	experiment.Text("kind", "what the row is of"),
	experiment.Text("method", "learner, or the map that is compared with").In("optimum", "loss"),
	experiment.Text("round", "rounds so far; separable: coordinates that are known").In("separable", "loss"),
	experiment.Number("loss", "", "sum of the costs of all points so far; optimum: in all rounds").In("optimum", "loss"),
	experiment.Number("acceptance", "share", "steps of RMP's walk in this round that changed the set").In("loss"),
	experiment.Number("lower", "", "proved bound: no map costs less in all rounds").In("optimum"),
	experiment.Number("dual", "", "the bound that the Lagrangian dual alone proves").In("optimum"),
	experiment.Number("left", "", "prototypes that the search for a better map had left; m where the dual bound alone proves that there is none").In("optimum"),
	experiment.Number("groups", "", "cost in all rounds of the groups drawn from, each with its best prototype").In("optimum"),
	experiment.Number("mistaken", "share", "points that are not nearest to the centre of their group in the coordinates known").In("separable"),
}

// fig1Checkpoints are the rounds at which losses are kept: the first three and every tenth part.
func fig1Checkpoints(rounds int) []int {
	out := append([]int{1, 2, 3}, EveryTenth(rounds)...)
	slices.Sort(out)
	return slices.Compact(out)
}

// EveryTenth are the rounds at the end of each tenth.
func EveryTenth(rounds int) (out []int) {
	for k := 1; k <= 10; k++ {
		out = append(out, k*rounds/10)
	}
	return out
}

// fig1Trial plays a game of online clustering: each player pays for the same rounds.
func fig1Trial(ctx context.Context, run *experiment.Run) error {
	s := run.Cell.Settings.(fig1Settings)
	draw := pointSets[run.Cell.Dataset]
	if s.Width != 0 {
		draw = gaussiansOf(s.Width)
	}
	p := draw(run.Seed.Stream("points"), s.Points, s.Rounds)
	g, err := newGame(p.x, s.Distortion)
	if err != nil {
		return err
	}
	for _, d := range []int{min(15, s.Rounds), s.Rounds} {
		run.Rows.Add(table.Key{"kind": "separable", "round": strconv.Itoa(d)}, table.Values{"mistaken": p.mistaken(d)})
	}

	end := run.Lap("optimum")
	total := g.total()
	o, err := FindOptimum(ctx, total, s.M, s.Starts, run.Seed.Stream("search"))
	if err != nil {
		return err
	}
	end()
	groups, _ := byGroups(total, p.group)
	run.Rows.Add(table.Key{"kind": "optimum", "method": bestMap}, table.Values{
		"loss": o.Cost, "lower": o.Lower, "dual": o.Dual, "left": float64(o.Left), "groups": groups,
	})

	players, err := s.players(ctx, run.Seed, p, o.Prototype)
	if err != nil {
		return err
	}
	for _, player := range players {
		if err := s.play(ctx, run, g, player); err != nil {
			return err
		}
	}
	return nil
}

// players are the best map, and RMP and EM, several runs of each on the same points or once; then also who knows the groups,
// follow-the-leader and k-means.
func (s fig1Settings) players(ctx context.Context, seed random.Seed, p points, best []int) ([]protocol.Player, error) {
	out := []protocol.Player{mapPlayer(bestMap, func(int, metric.CostRound) ([]int, error) { return best, nil })}
	rules := s.RMP
	if s.Restarts == 0 {
		out, rules = append(out, s.knowingPlayer(p.group)), slices.Concat(rules, []string{protocol.FTL})
	}
	for run := 1; run <= max(s.Restarts, 1); run++ {
		name := func(method string) string { return method }
		if s.Restarts > 0 {
			name = func(method string) string { return restarted(method, run) }
		}
		for _, method := range rules {
			l, err := s.learner(seed.PCG(name(method)), method)
			if err != nil {
				return nil, err
			}
			out = append(out, protocol.OnlinePlayer(name(method), l))
		}
		for _, method := range s.EM {
			rng, params := seed.Own("EM", name(method)), cluster.MixtureParams{K: s.M, Covariance: emForms[method], Floor: s.Floor, Start: emStarts[method]}
			out = append(out, s.batchPlayer(name(method), p.x, rng, func(revealed *mat.Dense) (clustering, error) { return cluster.FitMixture(ctx, rng, revealed, params) }))
		}
	}
	if s.KMeansStarts > 0 {
		out = append(out, s.kMeansPlayer(ctx, p.x, seed.Own("EM", kMeansName)))
	}
	return out, nil
}

// knowingPlayer knows the groups from the start, but not the coordinates to come, and takes the best prototype so
// far of each: this regret is for prototypes alone.
func (s fig1Settings) knowingPlayer(group []int) protocol.Player {
	soFar := mat.NewDense(s.Points, s.Points, nil)
	return mapPlayer(groupsKnown, func(_ int, f metric.CostRound) ([]int, error) {
		_, pi := byGroups(soFar, group)
		soFar.Add(soFar, f.Cost)
		return pi, nil
	})
}

// play has a player pay for all rounds and adds its losses so far at the checkpoints.
func (s fig1Settings) play(ctx context.Context, run *experiment.Run, g game, p protocol.Player) error {
	defer run.Lap(p.Method)()
	cost, sum := mat.NewDense(s.Points, s.Points, nil), 0.0
	for t := range s.Rounds {
		if err := ctx.Err(); err != nil {
			return err
		}
		loss, acceptance, err := p.Pay(t, g.round(t, cost))
		if err != nil {
			return fmt.Errorf("%s: %w", p.Method, err)
		}
		sum += loss
		if slices.Contains(fig1Checkpoints(s.Rounds), t+1) {
			run.Rows.Add(table.Key{"kind": "loss", "method": p.Method, "round": strconv.Itoa(t + 1)}, table.Values{"loss": sum, "acceptance": acceptance})
		}
	}
	return nil
}

// learner returns follow-the-leader, or RMP as a method names it.
func (s fig1Settings) learner(src *rand.PCG, method string) (protocol.Learner, error) {
	rule, p := method, mapping.RMPParams{M: s.M, ChainSteps: s.Steps, Sampler: mapping.SampleMetropolis}
	switch method {
	case rmpShort:
		rule, p.ChainSteps = protocol.RMPPrinted, s.Steps/10
	case rmpHeatBath:
		rule, p.Sampler = protocol.RMPPrinted, mapping.SampleHeatBath
	}
	return protocol.NewLearner(src, rule, s.Points, s.Points, s.Rounds, p)
}

// byGroups returns what the groups cost if the points of each are mapped to its best member, and that map.
func byGroups(total *mat.Dense, group []int) (float64, []int) {
	best, least, _ := bestMembers(total, group, fig1Groups)
	sum := 0.0
	for _, v := range least { // floats.Sum adds in another order
		sum += v
	}
	return sum, through(group, best)
}

// bestMembers returns for each of m groups its best member, to which mapping all members costs least, of equal ones the
// first. It also returns these costs, and how many entries of cost were read. A group without members has −1 and 0.
func bestMembers(cost *mat.Dense, group []int, m int) (best []int, least []float64, read float64) {
	best, least = slices.Repeat([]int{-1}, m), make([]float64, m)
	for j, k := range group {
		sum := 0.0
		for i, of := range group {
			if of == k {
				sum += cost.At(i, j)
				read++
			}
		}
		if best[k] < 0 || sum < least[k] {
			best[k], least[k] = j, sum
		}
	}
	return best, least, read
}

// fig1Widths are the standard deviations of the Gaussians to compare, where that of the coordinates of
// their centres is 1.
var fig1Widths = []float64{0.5, 1, gaussianWidth, 2.5}

// Fig1Width shows how Fig. 1 depends on the width of the Gaussians, which the paper does not print.
var Fig1Width = experiment.Spec{
	ID:      "rmp2007/fig1-width",
	Title:   "Fig. 1 for Gaussians of other widths: is the regret sublinear, and is EM poor?",
	Source:  "Section 5.1, Fig. 1, whose width is not printed",
	Ours:    true,
	Version: 1,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		var cells []experiment.Cell
		for i, w := range fig1Widths {
			cells = append(cells, fig1Cell(scale, widthNames[i], "gaussians",
				fig1Settings{Distortion: protocol.Squared, Rounds: 50, RMP: []string{protocol.RMPPrinted, protocol.RMPTen}, EM: []string{emSpherical}, Width: w}))
		}
		return cells
	},
	Trials:  experiment.Trials(10),
	Kinds:   fig1Kinds,
	Columns: fig1Columns,
	Trial:   fig1Trial,
	Views: []experiment.View{
		{Name: "fig1-width", Title: "Fig. 1 for Gaussians of four widths", Draw: regretView(widthNames, []string{protocol.RMPPrinted, protocol.RMPTen, protocol.FTL, emSpherical, groupsKnown},
			"Squared differences, for four standard deviations of the Gaussians where that of the coordinates of their centres is 1; 1.5 is that of Fig. 1 here.", "RMP printed x10 has ten times the printed η. "+fig1Known).Draw},
		{Name: "fig1-width-final", Title: "Final regrets for Gaussians of four widths", Draw: finalsView.Draw},
		{Name: "fig1-width-optimum", Title: "Separability and the best map for Gaussians of four widths", Draw: optimumView.Draw},
	},
	Cost: 2 * time.Second,
}
