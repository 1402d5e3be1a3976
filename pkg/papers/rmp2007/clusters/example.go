// Package clusters has the experiments on clusters: Fig. 1, set cover, the example of Section 5.1, and what medoids cost.
package clusters

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners/mapping"
	"metriclab/pkg/metric"
	"metriclab/pkg/papers/rmp2007/protocol"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// The vectors A, B and C of Section 5.1, and the clusters asked for.
const (
	exampleVectors  = 3
	exampleClusters = 2
)

// exampleRules are the learning rates of RMP. The first two know the horizon.
var exampleRules = []string{protocol.RMPPrinted, protocol.RMPCorrected, protocol.RMPAnytime, protocol.RMPDoubling}

// exampleHorizons are the T after whose T+1 rounds regrets are taken.
func exampleHorizons(scale experiment.Scale) []int {
	if scale == experiment.Smoke {
		return []int{25, 50, 100}
	}
	return []int{25, 50, 100, 200, 400, 800, 1600}
}

// Example is the sequence on which follow-the-leader is always wrong.
var Example = experiment.Spec{
	ID:      "rmp2007/example",
	Title:   "Three vectors on which follow-the-leader is always wrong: its regret, and the exact expected regret of RMP",
	Source:  "Section 5.1, last paragraph",
	Version: 1,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		var cells []experiment.Cell
		for _, d := range protocol.Distortions {
			cells = append(cells, experiment.Cell{
				Name: string(d), Dataset: "three vectors",
				Settings: exampleSettings{Distortion: d, Horizons: exampleHorizons(scale), M: exampleClusters},
				Methods:  map[string]int{"RMP": mapping.RMPVersion, "FTL": mapping.FTLVersion},
			})
		}
		return cells
	},
	Trials: experiment.Trials(20),
	Kinds: []experiment.Kind{
		{Name: "named", Meaning: "in how many rounds the clustering that the paper names is the only one of least cost"},
		{Name: "regret", Meaning: "losses at the end of a run of its own for each horizon"},
		{Name: "course", Meaning: "losses in the course of RMP's run with the longest horizon"},
	},
	Columns: exampleColumns,
	Trial:   exampleTrial,
	Views: []experiment.View{
		{Name: "example", Title: "Regret on the three vectors", Draw: exampleView.Draw},
		{Name: "example-bounds", Title: "Regret on the three vectors against the bounds", Draw: exampleBoundsView.Draw},
	},
	Claims: exampleClaims,
	Cost:   time.Second,
}

// exampleSettings are the settings of a cell.
type exampleSettings struct {
	Distortion protocol.Distortion `key:"-" because:"it is the cell's name"`
	Horizons   []int               `key:"horizons"`
	M          int                 `key:"m"`
}

var exampleColumns = experiment.Columns{
	experiment.Text("kind", "what the row is of"),
	experiment.Text("method", "FTL, or RMP by the rule of its learning rate").In("regret", "course"),
	experiment.Text("horizon", "T of the run, which has T + 1 rounds; FTL does not know it"),
	experiment.Text("t", "rounds so far, less one").In("regret", "course"),
	experiment.Number("loss", "", "loss so far of the maps as drawn; named: rounds in which the named clustering alone is best"),
	experiment.Number("expected", "", "loss so far in expectation over the draws of the maps, by enumeration").In("regret", "course"),
	experiment.Number("best", "", "loss so far of the best fixed map").In("regret", "course"),
}

// exampleRound returns the costs of round t = 1, 2, ...
func exampleRound(t int, of func(a, b float64) float64) metric.CostRound {
	v := [exampleVectors]float64{1, 0, 0}
	if t == 1 {
		v[0] = 0.5
	}
	if t%2 == 0 {
		v[1] = 1
	}
	c := mat.NewDense(exampleVectors, exampleVectors, nil)
	for i, a := range v {
		for j, b := range v {
			c.Set(i, j, of(a, b))
		}
	}
	return metric.CostRound{Cost: c}
}

func exampleTrial(ctx context.Context, run *experiment.Run) error {
	s := run.Cell.Settings.(exampleSettings)
	of := protocol.Compare[s.Distortion]
	most := s.Horizons[len(s.Horizons)-1]

	// One pass for what does not depend on a learner: the best fixed map, and whether the clusterings
	// that the paper names are the best ones.
	best := make([]float64, most+2) // best[n] is the loss of the best fixed map in rounds 1 to n
	sum := mat.NewDense(exampleVectors, exampleVectors, nil)
	named := 0.0
	for t := 1; t <= most+1; t++ {
		sum.Add(sum, exampleRound(t, of).Cost)
		ab, bc, ac := sum.At(0, 1), sum.At(1, 2), sum.At(0, 2) // what the pair in one cluster costs
		best[t] = min(ab, bc, ac)
		if t%2 == 1 && bc < min(ab, ac) || t%2 == 0 && ab < min(bc, ac) {
			named++
		}
	}
	run.Rows.Add(table.Key{"kind": "named", "horizon": strconv.Itoa(most)}, table.Values{"loss": named})

	for _, rule := range slices.Concat([]string{protocol.FTL}, exampleRules) {
		for _, horizon := range s.Horizons {
			if err := ctx.Err(); err != nil {
				return err
			}
			l, err := protocol.NewLearner(run.Seed.PCG(rule+", horizon "+strconv.Itoa(horizon)), rule, exampleVectors, exampleVectors, horizon+1, mapping.RMPParams{M: s.M})
			if err != nil {
				return err
			}
			var loss, expected float64
			for t := 1; t <= horizon+1; t++ {
				f := exampleRound(t, of)
				e, exact := l.Loss(f), true
				if rmp, draws := l.(*mapping.RMP); draws {
					e, exact = rmp.ExpectedLoss(f)
				}
				if !exact {
					return fmt.Errorf("rmp2007: %s: the sets were not enumerated", rule)
				}
				o, err := l.Step(f)
				if err != nil {
					return err
				}
				loss, expected = loss+o.Loss, expected+e
				add := func(kind string) {
					run.Rows.Add(table.Key{"kind": kind, "method": rule, "horizon": strconv.Itoa(horizon), "t": strconv.Itoa(t - 1)},
						table.Values{"loss": loss, "expected": expected, "best": best[t]})
				}
				if t == horizon+1 {
					add("regret")
				}
				if rule != protocol.FTL && horizon == most && t > 1 && (t-1)%(most/curvePoints) == 0 {
					add("course")
				}
			}
		}
	}
	return nil
}

// curvePoints are the points at which the longest run is shown.
const curvePoints = 20

// Regrets of the maps as drawn and in expectation, and T of their run.
var (
	drawnRegret    = protocol.Losses.Minus(protocol.Bests)
	expectedRegret = frame.Column("expected").Minus(protocol.Bests)
	horizon        = frame.Cells("horizon")
)

var exampleView = frame.View{
	Columns: 2,
	Panels:  examplePanels,
	Caption: func(t *table.Table) plots.Caption {
		return plots.Caption{
			Shows: "Regret after T + 1 rounds against the best fixed map. Left: the course of one run. Right: a run of its own for each T, on logarithmic axes, where √T is a line of slope ½. " +
				"The dotted blue line is the regret of maps as drawn, with its band.",
			Data: "The three vectors A = (.5, 1, 1, 1, ...), B = (0, 1, 0, 1, ...), C = (0, 0, 0, ...), two clusters, one coordinate per round, for the absolute (L1) and the squared difference of coordinates.",
			Protocol: "Follow-the-leader (FTL) is wrong in every round from the second on. RMP's regret is its exact expectation over its draws, by enumeration of the three sets of two prototypes, for four rules of the learning rate η: as printed in Theorem 2.1, " +
				"as its proof needs it (corrected), without a horizon (anytime), and printed with the doubling trick.",
			Intervals: experiment.TrialsNote(t, protocol.TrialsCover) + " Only the drawn regret is random: all else is the same in every trial.",
		}
	},
	Missing: "any trial",
}

// examplePanels are, for each distortion, the course of the longest run and the ends of the runs of all horizons.
func examplePanels(t *table.Table) (out []plots.Panel) {
	line := func(style plots.Line, kind string, y frame.Measure, b frame.Band, method string) frame.Mark {
		return frame.Line(style, "t", y, b).Where("kind", kind, "method", method)
	}
	for cell, g := range t.Group("cell") {
		course := frame.Panel{Panel: plots.Panel{Title: cell + ", one run with horizon " + experiment.FirstName(g.Where("kind", "named"), "horizon"), XLabel: "T", YLabel: "regret"}}
		final := frame.Panel{Panel: plots.Panel{Title: cell + ", horizon T", XLabel: "T", YLabel: "regret", XLog: true, YLog: true}}
		for kind, p := range map[string]*frame.Panel{"course": &course, "regret": &final} {
			p.Of = append(p.Of, line(styles.Line(protocol.FTL), "regret", drawnRegret, frame.Band{}.Without(), protocol.FTL))
			for k, rule := range exampleRules {
				style := styles.Line(rule)
				style.Name += ", expected"
				p.Of = append(p.Of, line(style, kind, expectedRegret, frame.Band{}.Without(), rule))
				if k == 0 {
					p.Of = append(p.Of, line(plots.Line{Name: rule + ", drawn", Color: style.Color, Dash: plots.Dotted}, kind, drawnRegret, frame.Band{}, rule))
				}
			}
			p.Of = append(p.Of, line(plots.Line{Name: "√T", Color: plots.Grey, Dash: plots.TwoDashes}, "regret", frame.Cells("t").Map(math.Sqrt), frame.Band{}.Without(), protocol.FTL))
		}
		out = append(out, frame.Each(course, final)(g)...)
	}
	return out
}

var exampleBoundsView = frame.View{
	Of: []string{"kind", "regret"},
	Text: &frame.Text{By: []string{"cell", "distortion", "horizon", "T"}, Cells: []frame.Cell{
		exampleCell("best fixed map", protocol.Bests.Where("method", protocol.FTL)),
		exampleCell("FTL, loss", protocol.Losses.Where("method", protocol.FTL)),
		exampleCell("RMP printed, expected regret", expectedRegret.Where("method", protocol.RMPPrinted)),
		exampleCell("bound for this η", exampleBound[protocol.RMPPrinted]),
		exampleCell("RMP corrected, expected regret", expectedRegret.Where("method", protocol.RMPCorrected)),
		exampleCell("bound for this η", exampleBound[protocol.RMPCorrected]),
		exampleCell("Theorem 2.1 as printed, δ = .05", examplePrintedBound),
		exampleCell("largest drawn regret, RMP printed", drawnRegret.Where("method", protocol.RMPPrinted).Reduce(slices.Max)),
	}},
	Caption: frame.Says("The three vectors after T + 1 rounds.", "", "The bound for an η is that on the expected regret of exponential weights with losses in [0, 3] and that rate "+
		"(Cesa-Bianchi and Lugosi 2006, Theorem 2.2); Theorem 2.1 is said to hold with probability 1 − δ. No regret exceeds 3(T + 1), and all bounds are below it: with so few maps they say something. Losses and expected regrets are the same in every trial.", protocol.TrialsCover),
	Missing: "any trial",
}

// exampleCell is a column of numbers, the same in all trials.
func exampleCell(head string, m frame.Measure) frame.Cell {
	return frame.Of(head, m, frame.Band{}, "%.4g")
}

// byRounds is a function of the rounds of a run, one more than its horizon.
func byRounds(f func(rounds int) float64) frame.Measure {
	return horizon.Map(func(v float64) float64 {
		return f(experiment.Whole("rmp2007: column horizon", v, 0, protocol.MaxRounds-1) + 1)
	})
}

// examplePrintedBound is the bound of Theorem 2.1.
var examplePrintedBound = byRounds(func(rounds int) float64 {
	return mapping.PrintedRegretBound(exampleVectors, exampleVectors, exampleClusters, rounds, Confidence)
})

// exampleBound has the bounds on the expected regret of RMP by its rule.
var exampleBound = map[string]frame.Measure{
	protocol.RMPPrinted:   expectedBound(mapping.PrintedEta),
	protocol.RMPCorrected: expectedBound(mapping.CorrectedEta),
	protocol.RMPAnytime: byRounds(func(rounds int) float64 {
		return mapping.AnytimeRegretBound(exampleVectors, exampleVectors, exampleClusters, rounds)
	}),
}

// expectedBound is that for an η.
func expectedBound(eta func(a, b, m, rounds int) float64) frame.Measure {
	const a, b, m = exampleVectors, exampleVectors, exampleClusters
	return byRounds(func(rounds int) float64 { return mapping.ExpectedRegretBound(a, b, m, rounds, eta(a, b, m, rounds)) })
}

const fiveOne = "Section 5.1, last paragraph"

// oneSequence says why the statements about the leader cannot fail.
const oneSequence = "The sequence is the paper's, and nothing is drawn."

var exampleClaims = experiment.Claims([]experiment.Claim{
	{
		ID:        "example-leader",
		Title:     "The optimal clustering alternates between {A}, {B, C} after odd rounds and {A, B}, {C} after even ones.",
		Statement: "After round 1 the optimal clustering is {A} and {B, C}; after 2 rounds {A, B} and {C}; after 3 rounds {A} and {B, C} again; and so on.",
		Where:     fiveOne, Theirs: "as stated",
		Predicate: "After every round the named clustering is the only one of least cost, for both distortions (no draw is involved).",
		Test:      frame.NeverNegative(protocol.Losses.Minus(horizon).Plus(-1).Map(func(v float64) float64 { return -math.Abs(v) })).Where("kind", "named").Check(oneSequence, 1),
	},
	{
		ID:        "example-ftl-loss",
		View:      "example-bounds",
		Statement: "The total loss of follow-the-leader is going to be at least T after T + 1 time steps.",
		Where:     fiveOne, Theirs: "T",
		Predicate: "Loss ≥ T at every recorded T, for both distortions (no draw is involved).",
		Test:      frame.NeverNegative(protocol.Losses.Minus(horizon)).Where("kind", "regret", "method", protocol.FTL).Check(oneSequence, 1),
	},
	{
		ID:        "example-best",
		View:      "example-bounds",
		Statement: "The loss of the best fixed clustering will be at most T/2.",
		Where:     fiveOne, Theirs: "T/2",
		Predicate: "The best fixed map's loss after T + 1 rounds is at most T/2 at every recorded T, for both distortions (no draw is involved).",
		Test:      frame.NeverNegative(horizon.Times(.5).Minus(protocol.Bests)).Where("kind", "regret", "method", protocol.FTL).Check(oneSequence, 1),
	},
	{
		ID:        "example-ftl-linear",
		Statement: "The regret of follow-the-leader will be linear in T.",
		Where:     fiveOne, Theirs: "no number",
		Predicate: "Regret ≥ T/2 at every recorded T, for both distortions (no draw is involved).",
		Test:      frame.NeverNegative(drawnRegret.Minus(horizon.Times(.5))).Where("kind", "regret", "method", protocol.FTL).Check(oneSequence, 1),
	},
	{
		ID:        "example-rmp-root",
		Statement: "The regret of the randomized algorithm will be O(√T).",
		Where:     fiveOne, Theirs: "no number",
		Predicate: "Exact expected regret/√T at the largest T is at most 1.1 times that at a sixteenth of it; for η printed, corrected, anytime and with the doubling trick, and both distortions.",
		Test: exampleReadings(func(t, r []float64) bool {
			last := len(t) - 1
			before := max(0, last-4) // horizons double
			return r[last]/math.Sqrt(t[last]) <= growthAllowed*r[before]/math.Sqrt(t[before])
		}),
	},
	{
		ID:        "example-rmp-vanishes",
		Statement: "Thus the per-round regret will approach 0 for large T.",
		Where:     fiveOne, Theirs: "no number",
		Predicate: "Exact expected regret/T falls whenever T doubles, to at most a fifth as T grows from 25 to 1600; the same rules and distortions.",
		Test: exampleReadings(func(t, r []float64) bool {
			for i := 1; i < len(t); i++ {
				if r[i]/t[i] >= r[i-1]/t[i-1] {
					return false
				}
			}
			last := len(t) - 1
			return r[last]/t[last] <= 0.2*r[0]/t[0]
		}),
	},
	{
		ID:        "example-theorem21",
		View:      "example-bounds",
		Title:     "Theorem 2.1: with probability at least 1 − δ the regret is at most the printed bound.",
		Statement: "Theorem 2.1: with probability at least 1 − δ the regret is at most A√(T/2·(m ln(B/m) + A ln m)) + A√(T/2·ln(1/δ)).",
		Where:     "Section 2, Theorem 2.1", Theirs: "the printed bound",
		Predicate: "Drawn regret ≤ the printed bound with δ = 0.05 at every recorded T, in every trial; for η printed and corrected, and both distortions.",
		Test: frame.UnderNames(protocol.EtaReadings, func(rule string) frame.Test {
			return frame.NeverNegative(examplePrintedBound.Minus(drawnRegret)).Where("kind", "regret", "method", rule).Check("Section 2 proves it.", 0)
		}),
	},
	{
		ID:        "example-expected-bound",
		Ours:      true,
		View:      "example-bounds",
		Title:     "Ours: the expected regret is at most LogMaps/η + ηTA²/8, η printed or corrected, and at most its anytime bound.",
		Statement: "Ours: the expected regret of Algorithm 1 is at most LogMaps/η + ηTA²/8 for η printed and corrected, and at most its anytime bound.",
		Where:     "docs/errata.md", Theirs: "not in the paper",
		Predicate: "Exact expected regret ≤ the bound at every recorded T, for both distortions (no draw is involved).",
		Test: frame.UnderNames(exampleRules[:3], func(rule string) frame.Test {
			return frame.NeverNegative(exampleBound[rule].Minus(expectedRegret)).Where("kind", "regret", "method", rule).Check("docs/errata.md has the proof.", 1)
		}),
	},
})

// exampleReadings tests a statement about the exact expected regrets of each rule at the horizons, of both
// distortions.
func exampleReadings(is func(horizons, regrets []float64) bool) frame.Test {
	return frame.UnderNames(exampleRules, func(rule string) frame.Test {
		return frame.Always(func(trial *table.Table) bool {
			all := true
			for _, g := range trial.Group("cell") {
				all = all && is(horizon(g), expectedRegret(g))
			}
			return all
		}).Told(func(t *table.Table) (s judge.Shown) {
			for cell, g := range t.Where("trial", "0").Group("cell") {
				h, r := horizon(g), expectedRegret(g)
				last := len(h) - 1
				s.More += fmt.Sprintf(", %s: expected regret %.3g at T = %g, %.3g at T = %g", cell, r[0], h[0], r[last], h[last])
			}
			return s
		}).Where("kind", "regret", "method", rule).Check("Expected regrets are exact, and Theorem 2.1 bounds them.", 1)
	})
}
