package worlds

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners/cluster"
	"metriclab/pkg/learners/mapping"
	"metriclab/pkg/metric"
	"metriclab/pkg/papers/rmp2007/protocol"
	"metriclab/pkg/plots"
	"metriclab/pkg/random"
	"metriclab/pkg/table"
)

// What becomes of the groups of objects that move, and how the learner is asked.
const (
	together  = "together"
	regrouped = "regrouped"
	gradual   = "gradual"
	asked     = "asked"
)

var movingWorlds = []string{together, regrouped, gradual}

// Learners of moving objects, beside those of rmp2007.go.
const (
	rmpOneSwap = "RMP printed; one swap"
	rmpShare   = "RMP fixed share"
)

const (
	movingSpread = 0.05 // of the objects about the centre of their group
	movingJitter = 0.02 // of an object from round to round
	movingParts  = 10   // of a run, in each of which a comparator may have another map
)

// movingSettings are the settings of a cell.
type movingSettings struct {
	World   string   `key:"-" because:"it is the cell's name"`
	Objects int      `key:"objects"`
	M       int      `key:"m"` // prototypes, and groups
	Rounds  int      `key:"rounds"`
	Steps   int      `key:"chain steps"` // R of the walk of a round
	Starts  int      `key:"starts"`      // of the search for the best map
	Methods []string `key:"methods,list"`
}

// Moving clusters objects that move, against maps that change through time, or asked for one object at a time.
var Moving = experiment.Spec{
	ID:      "rmp2007/moving",
	Title:   "Clustering of objects that move: comparators that change, and one object asked for per round",
	Source:  "Section 2, scenario (a) and footnote 1; Section 5.1, second paragraph; Section 5.2, which only name them",
	Version: 1,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		s := movingSettings{Objects: 40, M: 4, Rounds: 400, Steps: 500, Starts: 10, Methods: []string{protocol.RMPPrinted, protocol.RMPCorrected, rmpOneSwap, rmpShare, protocol.FTL}}
		if scale == experiment.Smoke {
			s.Objects, s.Rounds, s.Steps = 16, 40, 50
		}
		var cells []experiment.Cell
		for _, s.World = range slices.Concat(movingWorlds, []string{asked}) {
			if s.World == asked {
				s.Rounds, s.Methods = 20*s.Rounds, []string{protocol.RMPPrinted, protocol.RMPCorrected, protocol.FTL}
			}
			cells = append(cells, experiment.Cell{
				Name: s.World, Dataset: "moving groups", Settings: s,
				Methods: map[string]int{"RMP": mapping.RMPVersion, "FTL": mapping.FTLVersion, "k-medoids": cluster.KMedoidsVersion},
			})
		}
		return cells
	},
	Trials:  experiment.Trials(20),
	Kinds:   []experiment.Kind{{Name: "loss", Meaning: "losses of a learner so far"}},
	Columns: movingColumns,
	Trial:   movingTrial,
	Views:   []experiment.View{{Name: "moving", Title: "Clustering of objects that move: regret against one map and against ten", Draw: movingView.Draw}},
	Claims:  movingClaims,
	Cost:    2 * time.Second,
}

var movingColumns = experiment.Columns{
	experiment.Text("kind", "what the row is of"),
	experiment.Text("method", "learner"),
	experiment.Text("round", "rounds so far"),
	experiment.Number("loss", "", "sum of the costs of all objects so far"),
	experiment.Number("best", "", "the same of the best fixed map found"),
	experiment.Number("tracked", "", "the same of the best map found of each tenth of the rounds"),
}

// A crowd is objects in groups that move in the unit square.
type crowd struct {
	s     movingSettings
	rng   *rand.Rand
	group []int
	own   [][2]float64 // places in the group
	phase [][2]float64 // of the groups
}

func newCrowd(rng *rand.Rand, s movingSettings) *crowd {
	c := &crowd{s: s, rng: rng, group: make([]int, s.Objects), own: make([][2]float64, s.Objects), phase: make([][2]float64, s.M)}
	for i := range c.own {
		c.group[i], c.own[i] = rng.IntN(s.M), [2]float64{movingSpread * rng.NormFloat64(), movingSpread * rng.NormFloat64()}
	}
	for k := range c.phase {
		c.phase[k] = [2]float64{2 * math.Pi * rng.Float64(), 2 * math.Pi * rng.Float64()}
	}
	return c
}

// at returns the positions of round t, counted from 0; it is called for one round after the other.
func (c *crowd) at(t int) [][2]float64 {
	switch {
	case c.s.World == regrouped && t == c.s.Rounds/2:
		for i := range c.group {
			c.group[i] = c.rng.IntN(c.s.M)
		}
	case c.s.World == gradual && t > 0 && t%(c.s.Rounds/movingParts) == 0:
		for _, i := range c.rng.Perm(c.s.Objects)[:c.s.Objects/10] {
			c.group[i] = c.rng.IntN(c.s.M)
		}
	}
	out := make([][2]float64, c.s.Objects)
	for i, k := range c.group {
		for axis := range 2 {
			// Three turns in x and four in y, from a phase of the group's own.
			angle := c.phase[k][axis] + 2*math.Pi*float64(3+axis)*float64(t)/float64(c.s.Rounds)
			out[i][axis] = min(max(0.5+0.35*math.Cos(angle)+c.own[i][axis]+movingJitter*c.rng.NormFloat64(), 0), 1)
		}
	}
	return out
}

// fill sets dst to the squared distances of the objects over the largest that the square has, 2; of only one object if
// only ≥ 0.
func (c *crowd) fill(dst *mat.Dense, at [][2]float64, only int) metric.CostRound {
	dst.Zero()
	for i, a := range at {
		if only >= 0 && i != only {
			continue
		}
		for j, b := range at {
			dst.Set(i, j, ((a[0]-b[0])*(a[0]-b[0])+(a[1]-b[1])*(a[1]-b[1]))/2)
		}
	}
	return metric.CostRound{Cost: dst}
}

// sharer is a fixed share of copies of RMP that start anew at each tenth of the rounds. A fixed share of all maps has
// no weights that are products, so that Algorithm 2 cannot draw from it; one of copies has.
type sharer struct {
	rng        *rand.Rand
	copies     []protocol.Learner
	every      int
	rate       float64 // per loss of one object
	alpha      float64
	log        []float64 // logarithms of the weights of the copies that have started
	start      func(k int) (protocol.Learner, error)
	perObjects float64
}

// newSharer returns the fixed share (Herbster and Warmuth 1998) with the rate and α that Cesa-Bianchi and Lugosi (2006,
// Corollary 5.1) give for n = movingParts experts and n − 1 switches: α = (n−1)/(T−1), η = √(8/T·(n ln n + (T−1)H(α))).
func newSharer(rng *rand.Rand, s movingSettings, start func(k int) (protocol.Learner, error)) *sharer {
	n, rounds := float64(movingParts), float64(s.Rounds)
	alpha := (n - 1) / (rounds - 1)
	entropy := -alpha*math.Log(alpha) - (1-alpha)*math.Log(1-alpha)
	return &sharer{
		rng: rng, every: s.Rounds / movingParts, alpha: alpha, start: start, perObjects: 1 / float64(s.Objects),
		rate: math.Sqrt(8 / rounds * (n*math.Log(n) + (rounds-1)*entropy)),
	}
}

// pay draws a copy by its weight, pays for its map, and has all copies learn.
func (h *sharer) pay(t int, f metric.CostRound) (float64, error) {
	if t%h.every == 0 && len(h.copies) < movingParts {
		l, err := h.start(len(h.copies))
		if err != nil {
			return 0, err
		}
		h.copies = append(h.copies, l)
		// A new copy has an equal share.
		n := float64(len(h.copies))
		for k := range h.log {
			h.log[k] += math.Log((n - 1) / n)
		}
		h.log = append(h.log, -math.Log(n))
	}
	q := make([]float64, len(h.log))
	for k, v := range h.log {
		q[k] = math.Exp(v)
	}
	u, chosen := h.rng.Float64()*floats.Sum(q), 0
	for chosen < len(q)-1 && u >= q[chosen] {
		u -= q[chosen]
		chosen++
	}
	paid := 0.0
	for k, l := range h.copies {
		o, err := l.Step(f)
		if err != nil {
			return 0, err
		}
		if k == chosen {
			paid = o.Loss
		}
		h.log[k] -= h.rate * o.Loss * h.perObjects
	}
	norm := floats.LogSumExp(h.log)
	for k, v := range h.log {
		h.log[k] = math.Log((1-h.alpha)*math.Exp(v-norm) + h.alpha/float64(len(h.log)))
	}
	return paid, nil
}

// players returns the learners.
func (s movingSettings) players(seed random.Seed) ([]protocol.Player, error) {
	var out []protocol.Player
	for _, method := range s.Methods {
		name := fmt.Sprintf("maps %s %s", s.World, method)
		rmp := func(purpose, rule string, steps int) (protocol.Learner, error) {
			return protocol.NewLearner(seed.PCG(purpose), rule, s.Objects, s.Objects, s.Rounds, mapping.RMPParams{M: s.M, ChainSteps: steps, Sampler: mapping.SampleMetropolis})
		}
		rule, steps := method, s.Steps
		switch method {
		case rmpShare:
			h := newSharer(seed.Stream(name), s, func(k int) (protocol.Learner, error) {
				return rmp(fmt.Sprintf("%s copy %d", name, k), protocol.RMPPrinted, s.Steps)
			})
			out = append(out, protocol.Player{Method: method, Pay: func(t int, f metric.CostRound) (float64, float64, error) {
				loss, err := h.pay(t, f)
				return loss, math.NaN(), err
			}})
			continue
		case rmpOneSwap:
			rule, steps = protocol.RMPPrinted, 1
		}
		l, err := rmp(name, rule, steps)
		if err != nil {
			return nil, err
		}
		out = append(out, protocol.OnlinePlayer(method, l))
	}
	return out, nil
}

func movingTrial(ctx context.Context, run *experiment.Run) error {
	s := run.Cell.Settings.(movingSettings)
	c := newCrowd(run.Seed.Stream(fmt.Sprintf("objects %s", s.World)), s)
	ask, search := run.Seed.Stream("asked"), run.Seed.Stream(fmt.Sprintf("best map %s", s.World))
	players, err := s.players(run.Seed)
	if err != nil {
		return err
	}
	cost, total, part := mat.NewDense(s.Objects, s.Objects, nil), mat.NewDense(s.Objects, s.Objects, nil), mat.NewDense(s.Objects, s.Objects, nil)
	losses, tracked := make([]float64, len(players)), 0.0
	for t := range s.Rounds {
		if err := ctx.Err(); err != nil {
			return err
		}
		only := -1
		if s.World == asked {
			only = ask.IntN(s.Objects)
		}
		f := c.fill(cost, c.at(t), only)
		for k, p := range players {
			loss, _, err := p.Pay(t, f)
			if err != nil {
				return fmt.Errorf("%s: %w", p.Method, err)
			}
			losses[k] += loss
		}
		total.Add(total, cost)
		part.Add(part, cost)
		if (t+1)%(s.Rounds/movingParts) != 0 {
			continue
		}
		params := cluster.MedoidsParams{M: s.M, Starts: s.Starts}
		fixed, err := cluster.FitFasterPAM(ctx, search, total, params)
		if err != nil {
			return err
		}
		own, err := cluster.FitFasterPAM(ctx, search, part, params)
		if err != nil {
			return err
		}
		part.Zero()
		tracked += own.Cost
		for k, p := range players {
			run.Rows.Add(table.Key{"kind": "loss", "method": p.Method, "round": strconv.Itoa(t + 1)}, table.Values{"loss": losses[k], "best": fixed.Cost, "tracked": tracked})
		}
	}
	return nil
}

// Regrets per round against one map, and against a map for each tenth of the rounds.
var (
	movingRegret  = protocol.PerRound(protocol.Losses.Minus(protocol.Bests))
	trackedRegret = protocol.PerRound(protocol.Losses.Minus(frame.Column("tracked")))
)

// movingMore tests that the loss per round of one method is more than that of another in each of some worlds.
func movingMore(method, than string, worlds ...string) frame.Test {
	return frame.Positive(judge.Rule{}, frame.OverCells("cell", worlds, protocol.More(protocol.After(movingParts, protocol.PerRound(protocol.Losses)), method, than)))
}

var movingClaims = experiment.Claims([]experiment.Claim{
	{
		ID:        "moving-vanishing",
		Title:     "Where objects are in fact moving, the per-round regret diminishes (in worlds of ours).",
		Statement: "More generally, we could consider a setting where our objects are in fact moving (and the per-round regret diminishes, here in worlds of ours).",
		Where:     "Section 5.1, second paragraph; Section 2, after Theorem 2.1", Theirs: "no number",
		Predicate: "RMP's regret per round against the best fixed map is smaller after all rounds than after a tenth of them, paired by trial, in the worlds together, regrouped and gradual. Readings: η as printed and corrected.",
		Test:      protocol.Vanishing(movingRegret, judge.Rule{}, movingWorlds...).StandIn(protocol.OurWorlds),
	},
	{
		ID:        "moving-sharing",
		Ours:      true,
		Title:     "Ours: where groups change, a fixed share of copies of RMP that start anew loses less than RMP.",
		Statement: "Ours, after footnote 1 (comparators that change through time): where groups change, a fixed share of copies of RMP that start anew loses less than RMP.",
		Where:     "Section 1, footnote 1", Theirs: "not in the paper",
		Predicate: "Loss of RMP, η printed, minus that of the fixed share, paired by trial, is positive in the worlds regrouped and gradual.",
		Test:      movingMore(protocol.RMPPrinted, rmpShare, movingWorlds[1:]...),
	},
	{
		ID:        "moving-sharing-price",
		Ours:      true,
		Statement: "Ours: where groups stay, the fixed share has a price: it loses more than RMP.",
		Where:     "Section 1, footnote 1", Theirs: "not in the paper",
		Predicate: "Loss of the fixed share minus that of RMP, η printed, paired by trial, is positive in the world together.",
		Test:      movingMore(rmpShare, protocol.RMPPrinted, together),
	},
	{
		ID:        "moving-adapts",
		Sentence:  "adapt-completely",
		Title:     "The chosen subset can completely change between rounds, allowing faster adaptation (of prototypes, in a world of ours).",
		Statement: "Our chosen subset of features can completely change between rounds, allowing faster adaptation to new information in a changing environment (here of prototypes, in a world of ours).",
		Where:     "Section 5.2, second paragraph", Theirs: "no number",
		Predicate: "In the world regrouped, the loss after the change of RMP with one swap of its walk per round, whose subset changes by one element at a time, minus that of RMP with the whole walk, is positive, paired by trial; η printed.",
		Test:      frame.Positive(judge.Rule{}, frame.OverCells("cell", []string{regrouped}, protocol.More(secondHalf(protocol.Losses).Over(secondHalf(frame.Cells("round"))), rmpOneSwap, protocol.RMPPrinted))).StandIn(protocol.OurWorlds),
	},
	{
		ID:        "asked-vanishing",
		Title:     "Scenario (a), asked where one element is mapped: the per-round regret diminishes (in a world of ours).",
		Statement: "Scenario (a): at each time step we are asked where an individual element i is mapped (and the per-round regret diminishes, here in a world of ours).",
		Where:     "Section 2, scenario (a)", Theirs: "no number",
		Predicate: "RMP's regret per round against the best fixed map is smaller after all rounds than after a tenth of them, paired by trial. Readings: η as printed and corrected.",
		Test:      protocol.Vanishing(movingRegret, judge.Rule{}, asked).StandIn(protocol.OurWorlds),
	},
	{
		ID:        "asked-eta",
		Ours:      true,
		Title:     "Ours: in scenario (a) the printed η is the one that the proof needs; the corrected one loses more.",
		Statement: "Ours: in scenario (a) a loss is in [0, 1], so that the printed η is the one that the proof of Theorem 2.1 needs; the corrected one, which is divided by about A, loses more.",
		Where:     "Section 2, scenario (a)", Theirs: "not in the paper",
		Predicate: "Loss of RMP with η corrected minus that with η printed, paired by trial, is positive.",
		Test:      movingMore(protocol.RMPCorrected, protocol.RMPPrinted, asked),
	},
})

// secondHalf is what a sum grows by in the second half of the rounds.
func secondHalf(m frame.Measure) frame.Measure {
	return protocol.After(movingParts, m).Minus(protocol.After(movingParts/2, m))
}

// ofFirst shows a cell of the first method alone, since it is the same for all.
func ofFirst(head string, m frame.Measure) frame.Cell {
	return frame.Cell{Head: head, Of: func(rows *table.Table) string {
		if rows.Where("method", protocol.RMPPrinted).Len() == 0 {
			return ""
		}
		return frame.Of("", m, frame.Band{}, "%.4f").Of(rows)
	}}
}

// styles are those of the learners in all worlds.
var styles = protocol.Styles(plots.Styles{
	rmpOneSwap: {Color: plots.Indigo, Dash: plots.Dashed}, rmpCorrectedSwap: {Color: plots.Brown, Dash: plots.LongDashed}, bestExchange: {Color: plots.Black, Dash: plots.DashDotDot},
	rmpShare: {Color: plots.Purple, Dash: plots.LongDashed}, sensorStart: {Color: plots.Olive},
	multiOwn: {Color: plots.Green, Dash: plots.LongDashed}, multiRandom: {Color: plots.Purple},
})

var movingView = frame.View{
	Columns: 2,
	Panels: frame.PerGroup(func(cells []string) frame.Panel {
		return frame.Panel{
			Panel: plots.Panel{Title: cells[0], XLabel: "rounds", YLabel: "regret per round"},
			Of:    append(frame.Lines("method", styles.Lines(protocol.RMPPrinted, protocol.RMPCorrected, rmpOneSwap, rmpShare, protocol.FTL), "round", movingRegret, frame.Band{}), protocol.NoRegret),
		}
	}, "cell"),
	Text: &frame.Text{By: []string{"cell", "world", "method", "method"}, Cells: []frame.Cell{
		frame.Of("loss per round", protocol.After(movingParts, protocol.PerRound(protocol.Losses)), frame.Band{}, "%.4f"),
		ofFirst("best fixed map", protocol.After(movingParts, protocol.PerRound(protocol.Bests))),
		ofFirst("best map of each tenth", protocol.After(movingParts, protocol.PerRound(frame.Column("tracked")))),
		frame.PlusMinus("regret against one map", protocol.After(movingParts, movingRegret), frame.Band{}, "%.4f"),
		frame.PlusMinus("regret against ten", protocol.After(movingParts, trackedRegret), frame.Band{}, "%.4f"),
	}},
	Caption: frame.Says("Regret per round so far of the clustering of objects that move (ours; the paper only names it): the loss minus that of the best fixed map of as many rounds, as found by 10 runs of FasterPAM. "+
		"The last column of the table is the regret against a comparator that may have another map in each tenth of the rounds.",
		"Forty objects in four groups move in the unit square (16 at smoke scale). An object costs half of its squared distance from its prototype, one of the objects. A loss is the sum over the objects, or the cost of the one asked for. "+
			"Worlds: together: objects stay in their groups. regrouped: after half of the rounds each object gets another group at random. gradual: after each tenth of the rounds a tenth of the objects does. "+
			"asked: objects stay in their groups, and in each round one of them, drawn at random, is asked for and costs (20 times as many rounds).",
		"RMP: η as printed or corrected for the length of the run, 500 steps of the walk per round, or one swap. Fixed share: of ten copies of RMP that start anew at each tenth. FTL: follow-the-leader, by k-medoids.", protocol.TrialsCover),
	Missing: "losses in any world",
}
