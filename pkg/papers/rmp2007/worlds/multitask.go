package worlds

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets"
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners/cluster"
	"metriclab/pkg/learners/mapping"
	"metriclab/pkg/metric"
	"metriclab/pkg/papers/rmp2007/clusters"
	"metriclab/pkg/papers/rmp2007/digits"
	"metriclab/pkg/papers/rmp2007/protocol"
	"metriclab/pkg/plots"
	"metriclab/pkg/random"
	"metriclab/pkg/table"
)

// Methods of the multitask experiment beside RMP and FTL.
const (
	multiOwn    = "own pixel per task"
	multiRandom = "random shared pixels"
	multiBest   = "best map found"
)

// multitaskCounts are the numbers of shared features.
var multitaskCounts = []int{3, 10}

// Multitask chooses a few pixels that serve all 45 pairs of digits.
var Multitask = experiment.Spec{
	ID:      "rmp2007/multitask",
	Title:   "A few pixels that tell apart all 45 pairs of digits: shared by RMP, one per task, at random",
	Source:  "Section 1, application 2, which the paper only names",
	Ours:    true,
	Version: 1,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		s := multitaskSettings{M: multitaskCounts, Rounds: 400, Steps: 5000}
		if scale == experiment.Smoke {
			s.Rounds, s.Steps = 40, 200
		}
		return []experiment.Cell{{
			Name: "digit pairs", Dataset: protocol.DigitDataset(scale), Settings: s,
			Methods: map[string]int{"RMP": mapping.RMPVersion, "FTL": mapping.FTLVersion, "k-medoids": cluster.KMedoidsVersion},
		}}
	},
	Trials: experiment.Trials(10),
	Kinds: []experiment.Kind{
		{Name: "loss", Meaning: "a learner's loss so far"},
		{Name: "final", Meaning: "a learner's last map, and the best map found in hindsight"},
		{Name: "map", Meaning: "one task in the last map of RMP with the printed η; first trial only"},
	},
	Columns: multitaskColumns,
	Trial:   multitaskTrial,
	Views: []experiment.View{
		{Name: "multitask", Title: "Loss of shared pixels on 45 tasks", Draw: multitaskView.Draw},
		{Name: "multitask-pixels", Title: "The pixels that RMP shares among 45 tasks", Draw: multitaskPixels.Draw},
	},
	Claims: multitaskClaims,
	Cost:   20 * time.Second,
}

// multitaskSettings are the settings of the cell.
type multitaskSettings struct {
	M      []int `key:"m"`
	Rounds int   `key:"rounds"`
	Steps  int   `key:"chain steps"` // R of the walk of a round
}

var multitaskColumns = experiment.Columns{
	experiment.Text("kind", "what the row is of"),
	experiment.Text("method", "learner, or the best map found"),
	experiment.Text("m", "most signed pixels that the tasks share"),
	experiment.Text("round", "rounds so far"),
	experiment.Text("task", "pair of digits").In("map"),
	experiment.Number("loss", "", "sum over rounds and tasks of the loss so far; final: of the best map over all rounds").In("loss", "final"),
	experiment.Number("fresh", "", "sum over tasks of the last map's mean loss on rounds of other images").In("final"),
	experiment.Number("tasks", "", "tasks that the losses are summed over").In("loss", "final"),
	experiment.Number("used", "", "signed pixels that the last map uses").In("final"),
	experiment.Number("prototype", "", "signed pixel of the task, from 0; the second half are the pixels that shall have ink on the second digit").In("map"),
	experiment.Number("side", "", "pixels in a row of the image").In("map"),
}

// multitaskFresh is the number of rounds of other images on which a final map is scored.
const multitaskFresh = 100

// digitPairs are the tasks.
func digitPairs() []protocol.DigitTask {
	var out []protocol.DigitTask
	for a := range 10 {
		for b := a + 1; b < 10; b++ {
			out = append(out, protocol.DigitTask{A: a, B: b})
		}
	}
	return out
}

// drawDigits returns, for each of n rounds, one image of each of the ten digits, no image twice, pixels from 0 to 1.
func drawDigits(rng *rand.Rand, images *datasets.Images, n int) ([][10][]float64, error) {
	out := make([][10][]float64, n)
	order := rng.Perm(images.N)
	for digit := range 10 {
		idx := images.Filter(order, digit)
		if len(idx) < n {
			return nil, fmt.Errorf("rmp2007: %d images of digit %d, want at least %d", len(idx), digit, n)
		}
		x := images.Rows(idx[:n], datasets.Scale01)
		for t := range out {
			out[t][digit] = x.RawRowView(t)
		}
	}
	return out, nil
}

// signedCosts fills dst, 45×2F, with the cost of feature f and sign s for each pair of digits,
//
//	(1 − s(u − v))/2,
//
// where u and v are the pixel on this round's images of the pair's first and second digit. Features 0 to F−1
// are pixels that shall have ink on the first digit, F to 2F−1 the same pixels for the second. A pixel that is alike
// on both costs ½.
func signedCosts(dst *mat.Dense, images [10][]float64) metric.CostRound {
	for k, pair := range digitPairs() {
		row := dst.RawRowView(k)
		u, v := images[pair.A], images[pair.B]
		for f := range u {
			row[f], row[len(u)+f] = (1-(u[f]-v[f]))/2, (1+(u[f]-v[f]))/2
		}
	}
	return metric.CostRound{Cost: dst}
}

// rival is a learner with the prototypes that it may use.
type rival struct {
	name, rule string
	purpose    string // of its random numbers
	m          int
	within     []int // nil for all
	l          protocol.Learner
	loss       float64
}

// newRivals gives rivals their learners of maps of a objects to b prototypes.
func newRivals(seed random.Seed, a, b, rounds, steps int, rivals ...rival) ([]rival, error) {
	for k, r := range rivals {
		of := b
		if r.within != nil {
			of = len(r.within)
		}
		l, err := protocol.NewLearner(seed.PCG(r.purpose), r.rule, a, of, rounds, mapping.RMPParams{M: r.m, ChainSteps: steps, Sampler: mapping.SampleMetropolis})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.name, err)
		}
		rivals[k].l = l
	}
	return rivals, nil
}

// contest shows each round to all rivals, which suffer their losses, adds up the costs in total, and calls at after
// the rounds of tenths.
func contest(ctx context.Context, rivals []rival, rounds int, round func(t int) metric.CostRound, total *mat.Dense, at func(n int) error) error {
	for t := range rounds {
		if err := ctx.Err(); err != nil {
			return err
		}
		f := round(t)
		total.Add(total, f.Cost)
		for k, r := range rivals {
			o, err := r.l.Step(r.costs(f))
			if err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
			rivals[k].loss += o.Loss
		}
		if slices.Contains(tenths(rounds), t+1) {
			if err := at(t + 1); err != nil {
				return err
			}
		}
	}
	return nil
}

// costs returns the round as the rival sees it.
func (r rival) costs(f metric.CostRound) metric.CostRound {
	if r.within == nil {
		return f
	}
	return metric.CostRound{Cost: digits.Columns(f.Cost.(*mat.Dense), r.within)}
}

// current returns the current map to the prototypes of all, which no round changes.
func (r rival) current() []int {
	pi := r.l.Predict(metric.CostRound{})
	if r.within != nil {
		for i, j := range pi {
			pi[i] = r.within[j]
		}
	}
	return pi
}

func multitaskTrial(ctx context.Context, run *experiment.Run) error {
	s := run.Cell.Settings.(multitaskSettings)
	train, _, err := protocol.OpenDigits(run.Env, run.Seed, 1500, 10)
	if err != nil {
		return err
	}
	drawn, err := drawDigits(run.Seed.Stream("images"), train, s.Rounds+multitaskFresh)
	if err != nil {
		return err
	}
	tasks, features := len(digitPairs()), 2*train.Dim()
	for _, m := range s.M {
		rivals, err := s.rivals(run.Seed, tasks, features, m)
		if err != nil {
			return err
		}
		costs, total := mat.NewDense(tasks, features, nil), mat.NewDense(tasks, features, nil)
		round := func(t int) metric.CostRound { return signedCosts(costs, drawn[t]) }
		if err := contest(ctx, rivals, s.Rounds, round, total, func(n int) error {
			for _, r := range rivals {
				run.Rows.Add(table.Key{"kind": "loss", "method": r.name, "m": strconv.Itoa(m), "round": strconv.Itoa(n)}, table.Values{"loss": r.loss, "tasks": float64(tasks)})
			}
			return nil
		}); err != nil {
			return fmt.Errorf("m = %d: %w", m, err)
		}
		best, err := cluster.FitFasterPAM(ctx, run.Seed.Stream(fmt.Sprintf("best map %d", m)), total, cluster.MedoidsParams{M: m, Starts: 10})
		if err != nil {
			return err
		}
		final := func(name string, pi []int, loss float64) {
			v := table.Values{"tasks": float64(tasks), "used": float64(len(protocol.Image(pi))), "fresh": 0, "loss": loss}
			for _, images := range drawn[s.Rounds:] {
				round := signedCosts(costs, images)
				for k, f := range pi {
					v["fresh"] += round.Cost.At(k, f) / multitaskFresh
				}
			}
			run.Rows.Add(table.Key{"kind": "final", "method": name, "m": strconv.Itoa(m), "round": strconv.Itoa(s.Rounds)}, v)
		}
		final(multiBest, best.Prototype, best.Cost)
		for _, r := range rivals {
			final(r.name, r.current(), math.NaN())
		}
		if run.Seed.Trial > 0 {
			continue
		}
		for k, f := range rivals[0].current() {
			run.Rows.Add(table.Key{"kind": "map", "method": rivals[0].name, "m": strconv.Itoa(m), "round": strconv.Itoa(s.Rounds), "task": digitPairs()[k].String()},
				table.Values{"prototype": float64(f), "side": float64(train.W)})
		}
	}
	return nil
}

// tenths are the checkpoints of a run: powers of two up to a tenth of the rounds, then every tenth.
func tenths(rounds int) []int {
	var out []int
	for n := 1; n < rounds/10; n *= 2 {
		out = append(out, n)
	}
	return append(out, clusters.EveryTenth(rounds)...)
}

// rivals returns the learners for m shared features.
func (s multitaskSettings) rivals(seed random.Seed, tasks, features, m int) ([]rival, error) {
	random := seed.Stream(fmt.Sprintf("random pixels %d", m)).Perm(features)[:m]
	of := func(name, rule string, m int, within []int) rival {
		return rival{name: name, rule: rule, purpose: fmt.Sprintf("maps %s %d", name, m), m: m, within: within}
	}
	return newRivals(seed, tasks, features, s.Rounds, s.Steps, of(protocol.RMPPrinted, protocol.RMPPrinted, m, nil), of(protocol.RMPCorrected, protocol.RMPCorrected, m, nil),
		of(multiOwn, protocol.RMPPrinted, features, nil), of(multiRandom, protocol.RMPPrinted, m, random), of(protocol.FTL, protocol.FTL, m, nil))
}

// multitaskMethods are the learners in the order of a figure.
var multitaskMethods = []string{protocol.RMPPrinted, protocol.RMPCorrected, multiOwn, multiRandom, protocol.FTL}

// Losses per task: so far, and of the last map on a round of other images.
var (
	lossPerTask  = protocol.Losses.Over(frame.Column("tasks"))
	freshPerTask = frame.Column("fresh").Over(frame.Column("tasks")).Where("kind", "final")
)

var multitaskView = frame.View{
	From:    frame.Only("method", append([]string{multiBest}, multitaskMethods...)...),
	Columns: 2,
	Panels: frame.PerGroup(func(cells []string) frame.Panel {
		return frame.Panel{
			Panel: plots.Panel{Title: "m = " + cells[0], XLabel: "rounds", YLabel: "mean loss per task so far", XLog: true},
			Of:    frame.Lines("method", styles.Lines(multitaskMethods...), "round", protocol.PerRound(lossPerTask), frame.Band{}),
		}
	}, "m").Where("kind", "loss"),
	Text: &frame.Text{By: []string{"m", "m", "method", "method"}, Cells: []frame.Cell{
		frame.PlusMinus("loss", func(rows *table.Table) []float64 {
			kind := "loss"
			if rows.Where("kind", kind).Len() == 0 {
				kind = "final" // the best map found has no course
			}
			return protocol.After(10, protocol.PerRound(lossPerTask))(rows.Where("kind", kind))
		}, frame.Band{}, "%.4f"),
		frame.PlusMinus("loss on other images", freshPerTask, frame.Band{}, "%.4f"),
		frame.Of("pixels used", frame.Column("used").Where("kind", "final"), frame.Band{}, "%.1f"),
	}},
	Caption: func(t *table.Table) plots.Caption {
		return frame.Says("Mean loss per task and round so far of features shared among 45 tasks (ours; the paper only names the application).",
			"A task is one of the 45 pairs of digits; a feature is a pixel with a sign, which says on which of the two digits it shall have ink. In each round one image of each digit comes. Feature f costs task (a, b) (1 − s(u − v))/2, where u and v are the pixel on the images of a and b. That is ½ if it does not tell them apart, 0 if it is all ink on the right one only. Images of "+
				protocol.DigitsShown(protocol.Square(slices.Max(append(t.Where("kind", "map").Values("side"), 0))))+".",
			fmt.Sprintf("RMP maps the 45 tasks to at most m shared features. Own: each task has exponential weights over all features of its own (m is the number of features), with η as printed. Random: the same over m random features. FTL: follow-the-leader, by k-medoids. "+
				"The table has the loss after %d rounds, beside that of the best map with m features in hindsight that 10 runs of FasterPAM find. It adds the loss of the last map on %d rounds of other images, and the number of signed pixels that it uses.",
				protocol.LastRound(t), multitaskFresh), protocol.TrialsCover)(t)
	},
	Missing: "losses of any trial",
}

var multitaskPixels = frame.View{
	Columns: len(multitaskCounts),
	Panels: frame.PerGroup(func(cells []string) frame.Panel {
		return frame.Panel{Panel: plots.Panel{Title: "m = " + cells[0], HideAxes: true}, Of: []frame.Mark{tasksServed}}
	}, "m").Where("kind", "map"),
	Caption: func(*table.Table) plots.Caption {
		return plots.Caption{Shows: "How many of the 45 pairs of digits RMP's last map serves by each pixel, with either sign (ours; first trial): a pixel that is dark on one digit and light on another can serve all pairs of such digits.", Protocol: "η as printed."}
	},
	Missing: "the first trial",
}

// tasksServed counts for each pixel the tasks that a map sends to it.
func tasksServed(rows *table.Table) plots.Mark {
	side := experiment.Whole("rmp2007: side of the images", experiment.First(rows, "side"), 1, protocol.LargestSide)
	g := digits.Grid{H: side, W: side}
	count := make([]float64, g.Pixels())
	for _, f := range rows.Values("prototype") {
		count[experiment.Whole("rmp2007: prototype of a map", f, 0, 2*g.Pixels()-1)%g.Pixels()]++
	}
	return plots.Heat{Z: g.Rows(count), BarLabel: "tasks"}
}

var multitaskClaims = experiment.Claims([]experiment.Claim{
	{
		ID:        "multitask-random",
		Ours:      true,
		Statement: "Ours: the features that RMP shares among tasks are more salient on them than random ones.",
		Where:     "not in the paper (Section 1 names the application)", Theirs: "not in the paper",
		Predicate: "On other images, the loss of the last map over m random features minus that of RMP's, paired by trial, is positive for each m. Readings: η as printed and corrected.",
		Test:      frame.UnderNames(protocol.EtaReadings, func(rule string) frame.Test { return moreFresh(multiRandom, rule) }),
	},
	{
		ID:        "multitask-own",
		Ours:      true,
		Title:     "Ours: in the end one feature of its own costs a task less than the best of m shared ones.",
		Statement: "Ours: sharing has a price: in the end one feature of its own costs a task less than the best of m shared ones.",
		Where:     "not in the paper (Section 1 names the application)", Theirs: "not in the paper",
		Predicate: "On other images, the loss of RMP's last map with m shared features minus that of one feature per task, paired by trial, is positive for each m. Readings: η as printed and corrected for the shared ones.",
		Test:      frame.UnderNames(protocol.EtaReadings, func(rule string) frame.Test { return moreFresh(rule, multiOwn) }),
	},
})

// moreFresh tests that one method costs more on other images than another.
func moreFresh(method, than string) frame.Test {
	return frame.Positive(hundredths, frame.Over(multitaskCounts, func(m int) (string, frame.Measure) {
		return fmt.Sprintf("m = %d", m), protocol.More(freshPerTask.Where("m", strconv.Itoa(m)), method, than)
	}))
}

var hundredths = judge.Rule{Scale: 100, Unit: "hundredths of the loss per task"}
