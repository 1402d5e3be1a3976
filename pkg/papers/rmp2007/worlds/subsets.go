package worlds

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/learners/cluster"
	"metriclab/pkg/learners/mapping"
	"metriclab/pkg/metric"
	"metriclab/pkg/papers/rmp2007/protocol"
	"metriclab/pkg/plots"
	"metriclab/pkg/random"
	"metriclab/pkg/table"
)

// randomSubsets is the rival that may use m random subsets of the collection.
const randomSubsets = "random subsets"

// subsetMethods are the learners in the order of a table.
var subsetMethods = []string{protocol.RMPPrinted, protocol.RMPCorrected, randomSubsets}

// subsetSizes and subsetCounts are the pixels of a subset, and the subsets that are shared.
var (
	subsetSizes  = []int{1, 3, 9}
	subsetCounts = []int{3, 9}
)

// Subsets shares a few small subsets of pixels, out of a collection, among all 45 pairs of digits.
var Subsets = experiment.Spec{
	ID:      "rmp2007/subsets",
	Title:   "A few small subsets of pixels that tell apart all 45 pairs of digits: of 1, 3 and 9 pixels",
	Source:  "Section 1, application 2 (\"or that B is a collection of small subsets of features F\"), which the paper only names",
	Ours:    true,
	Version: 1,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		s := subsetSettings{Sizes: subsetSizes, M: subsetCounts, Rounds: 300, Steps: 2000, Fresh: 100, Starts: 3}
		if scale == experiment.Smoke {
			s.Rounds, s.Steps, s.Fresh = 30, 100, 20
		}
		return []experiment.Cell{{
			Name: "digit pairs", Dataset: protocol.DigitDataset(scale), Settings: s,
			Methods: map[string]int{"RMP": mapping.RMPVersion, "k-medoids": cluster.KMedoidsVersion},
		}}
	},
	Trials: experiment.Trials(10),
	Kinds: []experiment.Kind{
		{Name: "loss", Meaning: "a learner's loss so far"},
		{Name: "final", Meaning: "a learner's last map, and the best map found in hindsight"},
	},
	Columns: subsetColumns,
	Trial:   subsetTrial,
	Views:   []experiment.View{{Name: "subsets", Title: "Loss of shared subsets of pixels on 45 tasks", Draw: subsetsView.Draw}},
	Claims:  subsetClaims,
	Cost:    15 * time.Second,
}

// subsetSettings are the settings of the cell.
type subsetSettings struct {
	Sizes  []int `key:"sizes,list"` // pixels of a subset
	M      []int `key:"m,list"`     // subsets that are shared
	Rounds int   `key:"rounds"`
	Steps  int   `key:"chain steps"`  // R of the walk of a round
	Fresh  int   `key:"fresh rounds"` // of other images, on which a last map is scored
	Starts int   `key:"starts"`       // of the search for the best map
}

var subsetColumns = experiment.Columns{
	experiment.Text("kind", "what the row is of"),
	experiment.Text("method", "learner, or the best map found"),
	experiment.Text("size", "signed pixels of a subset"),
	experiment.Text("m", "most subsets that the tasks share"),
	experiment.Text("round", "rounds so far"),
	experiment.Number("loss", "", "sum over rounds and tasks of the loss so far; final: of the best map over all rounds"),
	experiment.Number("tasks", "", "tasks that the losses are summed over"),
	experiment.Number("fresh", "", "mean loss per task of the last map on rounds of other images").In("final"),
	experiment.Number("mistaken", "share", "of these rounds and tasks in which the subset takes the two images for each other; half of those in which it cannot tell").In("final"),
	experiment.Number("used", "", "subsets that the last map uses").In("final"),
}

// A pixelSubset is some pixels, each with the digit of a pair on which it shall have ink: sign +1 for the first.
type pixelSubset struct {
	pixel []int
	sign  []float64
}

// collection returns as many subsets of so many different pixels as there are signed pixels, 2F. Those of one pixel
// are all signed pixels; larger ones are drawn at random, pixels and signs, since the paper does not say what the
// collection holds.
func collection(rng *rand.Rand, pixels, size int) []pixelSubset {
	out := make([]pixelSubset, 2*pixels)
	for j := range out {
		if size == 1 {
			out[j] = pixelSubset{[]int{j % pixels}, []float64{1 - 2*float64(j/pixels)}}
			continue
		}
		s := pixelSubset{pixel: rng.Perm(pixels)[:size], sign: make([]float64, size)}
		for k := range s.sign {
			s.sign[k] = float64(2*rng.IntN(2) - 1)
		}
		out[j] = s
	}
	return out
}

// cost of a subset S for a pair of images u and v of two digits is
//
//	(1 − clip(Σ_{f in S} s_f (u_f − v_f)))/2,
//
// clip to [−1, 1], which is signedCosts' of one pixel. A mean in place of the sum would make subsets useless: the best
// pixel of a subset would cost no more than the subset.
func (s pixelSubset) cost(u, v []float64) float64 {
	sum := 0.0
	for k, f := range s.pixel {
		sum += s.sign[k] * (u[f] - v[f])
	}
	return (1 - min(max(sum, -1), 1)) / 2
}

// subsetCosts fills dst, 45 by the number of subsets, with the costs of a round.
func subsetCosts(dst *mat.Dense, subsets []pixelSubset, images [10][]float64) metric.CostRound {
	for k, pair := range digitPairs() {
		row := dst.RawRowView(k)
		for j, s := range subsets {
			row[j] = s.cost(images[pair.A], images[pair.B])
		}
	}
	return metric.CostRound{Cost: dst}
}

// rivals returns the learners of m shared subsets.
func (s subsetSettings) rivals(seed random.Seed, tasks, subsets, size, m int) ([]rival, error) {
	var of []rival
	for _, name := range subsetMethods {
		r := rival{name: name, rule: name, purpose: fmt.Sprintf("maps %s %d %d", name, size, m), m: m}
		if name == randomSubsets {
			r.rule, r.within = protocol.RMPPrinted, seed.Stream(fmt.Sprintf("random subsets %d %d", size, m)).Perm(subsets)[:m]
		}
		of = append(of, r)
	}
	return newRivals(seed, tasks, subsets, s.Rounds, s.Steps, of...)
}

func subsetTrial(ctx context.Context, run *experiment.Run) error {
	s := run.Cell.Settings.(subsetSettings)
	train, _, err := protocol.OpenDigits(run.Env, run.Seed, 1000, 10)
	if err != nil {
		return err
	}
	drawn, err := drawDigits(run.Seed.Stream("images"), train, s.Rounds+s.Fresh)
	if err != nil {
		return err
	}
	for _, size := range s.Sizes {
		subsets := collection(run.Seed.Stream(fmt.Sprintf("collection %d", size)), train.Dim(), size)
		for _, m := range s.M {
			if err := s.share(ctx, run.Seed, drawn, subsets, m, table.Key{"size": strconv.Itoa(size), "m": strconv.Itoa(m)}, run.Rows); err != nil {
				return fmt.Errorf("subsets of %d, m = %d: %w", size, m, err)
			}
		}
	}
	return nil
}

// share has all learners share m of the subsets, and adds their losses to rows.
func (s subsetSettings) share(ctx context.Context, seed random.Seed, drawn [][10][]float64, subsets []pixelSubset, m int, key table.Key, rows *table.Table) error {
	tasks := len(digitPairs())
	rivals, err := s.rivals(seed, tasks, len(subsets), len(subsets[0].pixel), m)
	if err != nil {
		return err
	}
	add := func(kind, method string, round int, v table.Values) {
		v["tasks"] = float64(tasks)
		rows.Add(table.Key{"kind": kind, "method": method, "size": key["size"], "m": key["m"], "round": strconv.Itoa(round)}, v)
	}
	costs, total := mat.NewDense(tasks, len(subsets), nil), mat.NewDense(tasks, len(subsets), nil)
	round := func(t int) metric.CostRound { return subsetCosts(costs, subsets, drawn[t]) }
	if err := contest(ctx, rivals, s.Rounds, round, total, func(n int) error {
		for _, r := range rivals {
			add("loss", r.name, n, table.Values{"loss": r.loss})
		}
		return nil
	}); err != nil {
		return err
	}
	best, err := cluster.FitFasterPAM(ctx, seed.Stream(fmt.Sprintf("best map %s %d", key["size"], m)), total, cluster.MedoidsParams{M: m, Starts: s.Starts})
	if err != nil {
		return err
	}
	final := func(name string, pi []int, loss float64) {
		cost, mistaken := scoreSubsets(pi, subsets, drawn[s.Rounds:])
		add("final", name, s.Rounds, table.Values{"loss": loss, "fresh": cost, "mistaken": mistaken, "used": float64(len(protocol.Image(pi)))})
	}
	final(multiBest, best.Prototype, best.Cost)
	for _, r := range rivals {
		final(r.name, r.current(), r.loss)
	}
	return nil
}

// scoreSubsets returns the mean cost of a map over rounds and tasks, and the share of those in which the subset takes
// one image for the other, with half of those in which it cannot tell.
func scoreSubsets(pi []int, subsets []pixelSubset, rounds [][10][]float64) (cost, mistaken float64) {
	per := 1 / float64(len(rounds)*len(pi))
	for _, images := range rounds {
		for k, pair := range digitPairs() {
			c := subsets[pi[k]].cost(images[pair.A], images[pair.B])
			cost += per * c
			switch {
			case c > .5:
				mistaken += per
			case c == .5:
				mistaken += per / 2
			}
		}
	}
	return cost, mistaken
}

var subsetsView = frame.View{
	From:    frame.Only("method", append([]string{multiBest}, subsetMethods...)...),
	Columns: 2,
	Panels: frame.PerGroup(func(cells []string) frame.Panel {
		p := frame.Panel{Panel: plots.Panel{Title: "m = " + cells[0] + " subsets", XLabel: "rounds", YLabel: "mean loss per task so far", XLog: true}}
		for k, size := range subsetSizes {
			at := strconv.Itoa(size)
			p.Of = append(p.Of,
				frame.Line(plots.Line{Name: "RMP, size " + at, Color: k}, "round", protocol.PerRound(lossPerTask), frame.Band{}).Where("method", protocol.RMPPrinted, "size", at),
				frame.Line(plots.Line{Name: "random, size " + at, Color: k, Dash: plots.Dashed}, "round", protocol.PerRound(lossPerTask), frame.Band{}).Where("method", randomSubsets, "size", at))
		}
		return p
	}, "m").Where("kind", "loss"),
	Text: &frame.Text{By: []string{"m", "m", "size", "pixels of a subset", "method", "method"}, Cells: []frame.Cell{
		frame.PlusMinus("loss", protocol.After(10, protocol.PerRound(lossPerTask)).Where("kind", "final"), frame.Band{}, "%.4f"),
		frame.PlusMinus("loss on other images", frame.Column("fresh").Where("kind", "final"), frame.Band{}, "%.4f"),
		frame.WithInterval("images taken for each other (%)", frame.Column("mistaken").Where("kind", "final"), frame.Band{}),
		frame.Of("subsets used", frame.Column("used").Where("kind", "final"), frame.Band{}, "%.1f"),
	}},
	Caption: func(t *table.Table) plots.Caption {
		return frame.Says("Mean loss per task and round so far of subsets of pixels shared among 45 tasks (ours; the paper only names the application).",
			"A task is one of the 45 pairs of digits; in each round one image of each digit comes. The collection B has as many subsets as there are signed pixels: all of them, or random subsets of 3 or 9 pixels with random signs, drawn anew per trial. A sign says on which of the two digits the pixel shall have ink. MNIST (built-in glyphs at smoke scale).",
			fmt.Sprintf("A subset S costs (1 − clip(Σ s(u − v)))/2, the sum over its pixels u and v on the two images, clipped to [−1, 1]. RMP maps the 45 tasks to at most m subsets, η as printed in the figure. Random: the same over m random subsets of the collection. "+
				"The table has the loss after %d rounds, beside the loss of the best map in hindsight that 3 runs of FasterPAM find, and how the last map does on rounds of other images.", protocol.LastRound(t)), protocol.TrialsCover)(t)
	},
	Missing: "losses of any trial",
}

// A subsetWay is a method with the size and the number of its subsets.
type subsetWay struct {
	method  string
	size, m int
}

// fresh is the loss on other images.
func (w subsetWay) fresh() frame.Measure {
	return frame.Column("fresh").Where("kind", "final", "method", w.method, "size", strconv.Itoa(w.size), "m", strconv.Itoa(w.m))
}

// lessFresh tests that the first of each two ways costs more on other images than the second.
func lessFresh(ways ...[2]subsetWay) frame.Test {
	return frame.Positive(hundredths, frame.Over(ways, func(w [2]subsetWay) (string, frame.Measure) {
		return fmt.Sprintf("%d of %d pixels", w[1].m, w[1].size), w[0].fresh().Minus(w[1].fresh())
	}))
}

const subsetNamed = "not in the paper (Section 1, application 2, names the application)"

var subsetClaims = experiment.Claims([]experiment.Claim{
	{
		ID:        "subsets-salient",
		Ours:      true,
		Title:     "Ours: of small subsets of features, RMP finds a small number that cost less than random ones.",
		Statement: "Ours: of a collection of small subsets of features, RMP finds a small number that are salient on the tasks: they cost less than random ones.",
		Where:     subsetNamed, Theirs: "not in the paper",
		Predicate: "On other images, the loss of the last map over m random subsets minus that of RMP's, paired by trial, is positive for each size (1, 3, 9 pixels) and m (3, 9). Readings: η as printed and corrected.",
		Test: frame.UnderNames(protocol.EtaReadings, func(rule string) frame.Test {
			var ways [][2]subsetWay
			for _, size := range subsetSizes {
				for _, m := range subsetCounts {
					ways = append(ways, [2]subsetWay{{randomSubsets, size, m}, {rule, size, m}})
				}
			}
			return lessFresh(ways...)
		}),
	},
	{
		ID:        "subsets-larger",
		Ours:      true,
		Statement: "Ours: subsets as prototypes pay: as many shared subsets of three features cost less than shared single features.",
		Where:     subsetNamed, Theirs: "not in the paper",
		Predicate: "On other images, the loss of RMP's last map with m single pixels minus that with m subsets of three, paired by trial, is positive for each m. Readings: η as printed and corrected.",
		Test: frame.UnderNames(protocol.EtaReadings, func(rule string) frame.Test {
			return lessFresh([2]subsetWay{{rule, 1, 3}, {rule, 3, 3}}, [2]subsetWay{{rule, 1, 9}, {rule, 3, 9}})
		}),
	},
	{
		ID:        "subsets-pixels",
		Ours:      true,
		Statement: "Ours: for as many pixels in all, a few larger subsets cost less than more and smaller ones.",
		Where:     subsetNamed, Theirs: "not in the paper",
		Predicate: "On other images, the loss of RMP's last map with 9 single pixels minus that with 3 subsets of three, and with 9 subsets of three minus that with 3 of nine, paired by trial, are positive. Readings: η as printed and corrected.",
		Test: frame.UnderNames(protocol.EtaReadings, func(rule string) frame.Test {
			return lessFresh([2]subsetWay{{rule, 1, 9}, {rule, 3, 3}}, [2]subsetWay{{rule, 3, 9}, {rule, 9, 3}})
		}),
	},
})
