// Package worlds has the experiments on worlds of ours: objects that move, sensors, several tasks, and their subsets.
package worlds

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/datasets"
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

// Learners of the experiment beside those of rmp2007.go and moving.go.
const (
	rmpCorrectedSwap = "RMP corrected; one swap"
	bestExchange     = "best exchange"
)

// An adaptWorld is a stream of images whose second half is of another kind.
type adaptWorld struct {
	name          string
	before, after []int // digits
	turned        bool  // the second half is turned by a quarter
}

var adaptWorlds = []adaptWorld{
	{"1 then 0", []int{1}, []int{0}, false},
	{"3-8 then turned", []int{3, 8}, []int{3, 8}, true},
}

// adaptParts are the parts of a run of which losses are kept.
const adaptParts = 10

// Adapt chooses pixels of images that change in the middle of the stream.
var Adapt = experiment.Spec{
	ID:      "rmp2007/adapt",
	Title:   "Pixels chosen of images that change: the whole subset at once against one pixel per round",
	Source:  "Section 5.2, second paragraph (\"our chosen subset of features can completely change between rounds\"), which has no experiment",
	Version: 1,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		s := adaptSettings{M: protocol.FeatureCounts, Rounds: 80, Steps: 5000, Methods: []string{protocol.RMPPrinted, protocol.RMPCorrected, rmpOneSwap, rmpCorrectedSwap, bestExchange}}
		if scale == experiment.Smoke {
			s.Rounds, s.Steps = 20, 200
		}
		var cells []experiment.Cell
		for _, s.World = range adaptWorlds {
			cells = append(cells, experiment.Cell{
				Name: s.World.name, Dataset: protocol.DigitDataset(scale), Settings: s,
				Methods: map[string]int{"RMP": mapping.RMPVersion, "k-medoids": cluster.KMedoidsVersion},
			})
		}
		return cells
	},
	Trials:  experiment.Trials(6),
	Columns: adaptColumns,
	Trial:   adaptTrial,
	Views:   []experiment.View{{Name: "adapt", Title: "Loss of chosen pixels before and after the images change", Draw: adaptView.Draw}},
	Claims:  adaptClaims,
	Cost:    15 * time.Second,
}

// adaptSettings are the settings of a cell.
type adaptSettings struct {
	World   adaptWorld `key:"-" because:"it is the cell's name"`
	M       []int      `key:"m,list"`
	Rounds  int        `key:"rounds"`
	Steps   int        `key:"chain steps"` // R of the walk of a round
	Methods []string   `key:"methods,list"`
}

var adaptColumns = experiment.Columns{
	experiment.Text("method", "learner"),
	experiment.Text("m", "most pixels that may be chosen"),
	experiment.Text("round", "rounds so far: the end of a tenth of the run"),
	experiment.Number("loss", "", "sum of the costs of all pixels in this tenth of the rounds"),
	experiment.Number("pixels", "", "pixels of an image"),
	experiment.Number("kept", "share", "of a round's pixels that the round before had, too: mean over the rounds of this tenth but the first of the run"),
	experiment.Number("least_kept", "share", "the least of these"),
}

// stream returns the images in the order in which they come.
func (w adaptWorld) stream(rounds int, train *datasets.Images, order []int) (*mat.Dense, error) {
	half := rounds / 2
	first := train.Filter(order, w.before...)
	if len(first) < half {
		return nil, fmt.Errorf("rmp2007: %s: %d images before the change, want at least %d", w.name, len(first), half)
	}
	first = first[:half]
	later := train.Filter(slices.DeleteFunc(slices.Clone(order), func(i int) bool { return slices.Contains(first, i) }), w.after...)
	if len(later) < rounds-half {
		return nil, fmt.Errorf("rmp2007: %s: %d images after the change, want at least %d", w.name, len(later), rounds-half)
	}
	x := train.Rows(slices.Concat(first, later[:rounds-half]), datasets.Scale01)
	if w.turned {
		for t := half; t < rounds; t++ {
			turn(x.RawRowView(t), train.W)
		}
	}
	return x, nil
}

// turn turns a square image of a side by a quarter, clockwise.
func turn(image []float64, side int) {
	from := slices.Clone(image)
	for r := range side {
		for c := range side {
			image[c*side+side-1-r] = from[r*side+c]
		}
	}
}

// A chooser suffers a round with the map it has, and says which pixels that uses.
type chooser func(f metric.CostRound) (loss float64, set []int, err error)

// chooser returns a learner.
func (s adaptSettings) chooser(seed random.Seed, method string, m, pixels int) (chooser, error) {
	purpose := fmt.Sprintf("maps %s %s %d", s.World.name, method, m)
	if method == bestExchange {
		return (&exchanger{set: slices.Sorted(slices.Values(seed.Stream(purpose).Perm(pixels)[:m])), total: mat.NewDense(pixels, pixels, nil)}).pay, nil
	}
	rule, steps := method, s.Steps
	switch method {
	case rmpOneSwap:
		rule, steps = protocol.RMPPrinted, 1
	case rmpCorrectedSwap:
		rule, steps = protocol.RMPCorrected, 1
	}
	l, err := protocol.NewRMP(seed.PCG(purpose), rule, pixels, pixels, s.Rounds, mapping.RMPParams{M: m, ChainSteps: steps, Sampler: mapping.SampleMetropolis})
	if err != nil {
		return nil, err
	}
	return func(f metric.CostRound) (float64, []int, error) {
		set := protocol.Image(l.Predict(f))
		o, err := l.Step(f)
		return o.Loss, set, err
	}, nil
}

// An exchanger adds and removes features one by one, as Levi and Ullman (2006) do by another measure: after each round
// it makes the one exchange that saves most on all rounds so far, if any saves.
type exchanger struct {
	set   []int
	total *mat.Dense
}

func (e *exchanger) pay(f metric.CostRound) (float64, []int, error) {
	pi, _, err := cluster.Assign(e.total, e.set)
	if err != nil {
		return 0, nil, err
	}
	loss, had := protocol.LossOf(pi, f), e.set
	e.total.Add(e.total, f.Cost)
	change, err := cluster.SwapCosts(e.total, e.set)
	if err != nil {
		return 0, nil, err
	}
	out, in, least := -1, -1, 0.0
	for k := range e.set {
		for j, v := range change.RawRowView(k) {
			if v < least && !slices.Contains(e.set, j) {
				out, in, least = k, j, v
			}
		}
	}
	if out >= 0 {
		e.set = slices.Clone(e.set)
		e.set[out] = in
		slices.Sort(e.set)
	}
	return loss, had, nil
}

func adaptTrial(ctx context.Context, run *experiment.Run) error {
	s := run.Cell.Settings.(adaptSettings)
	train, _, err := protocol.OpenDigits(run.Env, run.Seed, 1000, 10)
	if err != nil {
		return err
	}
	x, err := s.World.stream(s.Rounds, train, run.Seed.Stream("images "+s.World.name).Perm(train.N))
	if err != nil {
		return err
	}
	pixels := train.Dim()
	cost := mat.NewDense(pixels, pixels, nil)
	for _, m := range s.M {
		for _, method := range s.Methods {
			end := run.Lap(method)
			pay, err := s.chooser(run.Seed, method, m, pixels)
			if err != nil {
				return fmt.Errorf("%s, m = %d: %w", method, m, err)
			}
			var before []int
			loss, kept := 0.0, []float64(nil)
			for t := range s.Rounds {
				if err := ctx.Err(); err != nil {
					return err
				}
				paid, set, err := pay(protocol.PixelCosts(cost, x.RawRowView(t), protocol.Compare[protocol.Squared]))
				if err != nil {
					return fmt.Errorf("%s, m = %d: %w", method, m, err)
				}
				loss += paid
				if before != nil {
					kept = append(kept, keptOf(before, set))
				}
				before = set
				if (t+1)%(s.Rounds/adaptParts) == 0 {
					run.Rows.Add(table.Key{"method": method, "m": strconv.Itoa(m), "round": strconv.Itoa(t + 1)},
						table.Values{"loss": loss, "pixels": float64(pixels), "kept": stat.Mean(kept, nil), "least_kept": slices.Min(kept)})
					loss, kept = 0, nil
				}
			}
			end()
		}
	}
	return nil
}

// keptOf is the share of a round's pixels that the round before had, too.
func keptOf(before, set []int) float64 {
	both := slices.DeleteFunc(slices.Clone(set), func(j int) bool { return !slices.Contains(before, j) })
	return float64(len(both)) / float64(len(set))
}

// perPixel is the loss per pixel, of the rounds of a tenth.
var perPixel = protocol.Losses.Over(frame.Column("pixels"))

// laterLoss is the loss per pixel and round after the images change.
func laterLoss(rows *table.Table) []float64 {
	var parts []frame.Measure
	for part := adaptParts/2 + 1; part <= adaptParts; part++ {
		parts = append(parts, protocol.After(part, perPixel))
	}
	return frame.Mean("rmp2007: losses", parts...).Times(adaptParts / float64(protocol.LastRound(rows)))(rows)
}

// slower tests that the loss after the change is more with one method than with another, in each world for each m.
func slower(method, than string) frame.Test {
	var units []frame.Units
	for _, w := range adaptWorlds {
		for _, m := range protocol.FeatureCounts {
			units = append(units, frame.Unit(fmt.Sprintf("%s, m = %d", w.name, m), protocol.More(laterLoss, method, than).Where("cell", w.name, "m", strconv.Itoa(m))))
		}
	}
	return frame.Positive(judge.Rule{Scale: 1000, Unit: "thousandths of the loss per pixel"}, frame.Together(units...))
}

// completely tests that some round from a tenth on keeps no pixel, in each trial: in all worlds with all m, or in some.
func completely(method string, from int, some bool) frame.Test {
	return frame.Always(func(trial *table.Table) bool {
		for _, w := range adaptWorlds {
			for _, m := range protocol.FeatureCounts {
				g := trial.Where("cell", w.name, "m", strconv.Itoa(m), "method", method)
				first, rounds, changed := protocol.LastRound(g)*from/adaptParts, frame.Cells("round")(g), false
				for i, kept := range g.Values("least_kept") {
					changed = changed || rounds[i] >= float64(first) && kept == 0
				}
				if changed == some {
					return some
				}
			}
		}
		return !some
	})
}

var adaptClaims = experiment.Claims([]experiment.Claim{
	{
		ID:        "adapt-completely",
		Title:     "The chosen subset of features can completely change between rounds, allowing faster adaptation.",
		Statement: "Our chosen subset of features can completely change between rounds, allowing faster adaptation to new information in a changing environment (than adding and removing features one by one).",
		Where:     "Section 5.2, second paragraph", Theirs: "no number",
		Predicate: "In every trial, world and m there is a round whose pixels are all others than those of the round before. Readings: η as printed and corrected, for all rounds and for those after the images change; and, added, in some world with some m, since the paper says \"can\". " +
			"And the loss after the images change of a learner that exchanges at most one pixel per round, minus that of RMP, paired by trial, is positive for both worlds and each m. Readings: η as printed and corrected, against one swap of the same walk per round and against the exchange that saves most on all rounds so far.",
		Test: frame.Parts([]string{"can completely change", "faster adaptation"},
			frame.Readings(slices.Concat(completelyReadings(protocol.RMPPrinted), completelyReadings(protocol.RMPCorrected))...),
			frame.Under([][2]string{{protocol.RMPPrinted, rmpOneSwap}, {protocol.RMPCorrected, rmpCorrectedSwap}, {protocol.RMPPrinted, bestExchange}, {protocol.RMPCorrected, bestExchange}}, func(p [2]string) (string, frame.Test) {
				return p[0] + " against " + p[1], slower(p[1], p[0])
			})).StandIn(protocol.OurWorlds),
	},
})

// completelyReadings are those of a rule of η.
func completelyReadings(rule string) []frame.Reading {
	return []frame.Reading{
		{Name: rule + ", all rounds", Test: completely(rule, 1, false)},
		{Name: rule + ", after the change", Test: completely(rule, adaptParts/2+1, false)},
		{Name: rule + ", in some world with some m", Test: completely(rule, 1, true), Afterwards: "the least kept in each world with each m"},
	}
}

// adaptLine is the loss per pixel and round of each tenth, drawn at its middle.
func adaptLine(style plots.Line) frame.Mark {
	return func(rows *table.Table) plots.Mark {
		part := float64(protocol.LastRound(rows)) / adaptParts
		for at, g := range rows.Where("method", style.Name).Group("round") {
			frame.Band{}.AddTo(&style, frame.Parse("round", at)-part/2, perPixel.Times(1/part)(g))
		}
		return style
	}
}

var adaptView = frame.View{
	Columns: 2,
	Panels: frame.PerGroup(func(cells []string) frame.Panel {
		p := frame.Panel{Panel: plots.Panel{Title: cells[0] + ", m = " + cells[1], XLabel: "rounds", YLabel: "loss per pixel"}}
		for _, style := range styles.Lines(protocol.RMPPrinted, protocol.RMPCorrected, rmpOneSwap, rmpCorrectedSwap, bestExchange) {
			p.Of = append(p.Of, adaptLine(style))
		}
		p.Of = append(p.Of, func(rows *table.Table) plots.Mark {
			return plots.Reference{Name: "the images change", At: float64(protocol.LastRound(rows)) / 2, Vertical: true, Color: plots.Grey}
		})
		return p
	}, "cell", "m"),
	Text: &frame.Text{By: []string{"cell", "world", "m", "m", "method", "method"}, Cells: []frame.Cell{
		frame.PlusMinus("loss per pixel after the change", laterLoss, frame.Band{}, "%.4f"),
		frame.Of("pixels kept per round, last tenth before it (%)", protocol.After(adaptParts/2, frame.Column("kept")), protocol.Percent, "%.0f"),
		frame.Of("first tenth after it (%)", protocol.After(adaptParts/2+1, frame.Column("kept")), protocol.Percent, "%.0f"),
		{Head: "least kept in any round after it (%)", Of: func(rows *table.Table) string {
			least := math.Inf(1)
			for part := adaptParts/2 + 1; part <= adaptParts; part++ {
				least = slices.Min(append(protocol.After(part, frame.Column("least_kept"))(rows), least))
			}
			return fmt.Sprintf("%.0f", 100*least)
		}},
	}},
	Caption: frame.Says("Loss per pixel and round of m pixels that stand for all pixels of an image, by tenths of the run (ours; the paper only says that its subset can completely change, and so adapts faster).",
		"One image comes per round; pixel i costs (xᵢ − xⱼ)² where pixel j stands for it. In the middle the images change: from 1 to 0, or from upright 3 and 8 to such that are turned by a quarter. MNIST, built-in glyphs at smoke scale.",
		"RMP draws anew in each round, by 5000 steps of Algorithm 2 from the set before (200 at smoke scale), η as printed or corrected for the length of the run. "+
			"One swap: one step of that walk per round. Best exchange: after each round the exchange of one pixel that saves most on all rounds so far, if any does; its map is the best for its set.", protocol.TrialsCover),
	Missing: "losses in any world",
}
