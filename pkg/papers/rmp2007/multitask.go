package rmp2007

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/datasets"
	"metriclab/pkg/experiment"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/cluster"
	"metriclab/pkg/learners/mapping"
	"metriclab/pkg/metric"
	"metriclab/pkg/plots"
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
		return []experiment.Cell{{
			Name: "digit pairs", Dataset: digitDataset(scale),
			Params:  map[string]string{"m": fmt.Sprint(multitaskCounts), "rounds": strconv.Itoa(multitaskRounds(scale)), "chain steps": strconv.Itoa(multitaskSteps(scale))},
			Methods: map[string]int{"RMP": mapping.RMPVersion, "FTL": mapping.FTLVersion, "k-medoids": cluster.KMedoidsVersion},
		}}
	},
	Trials: experiment.Trials(10),
	Index:  multitaskIndex,
	Values: multitaskValues,
	Trial:  multitaskTrial,
	Views: []experiment.View{
		{Name: "multitask", Title: "Loss of shared pixels on 45 tasks", Draw: drawMultitask},
		{Name: "multitask-pixels", Title: "The pixels that RMP shares among 45 tasks", Draw: drawMultitaskPixels},
	},
	Claims: multitaskClaims,
	Cost:   20 * time.Second,
}

var (
	multitaskIndex  = []string{"kind", "method", "m", "round", "task"}
	multitaskValues = []string{"loss", "fresh", "tasks", "used", "prototype", "side"}
)

func multitaskRounds(scale experiment.Scale) int {
	if scale == experiment.Smoke {
		return 40
	}
	return 400
}

func multitaskSteps(scale experiment.Scale) int {
	if scale == experiment.Smoke {
		return 200
	}
	return 5000
}

// multitaskFresh is the number of rounds of other images on which a final map is judged.
const multitaskFresh = 100

// digitPairs are the tasks.
func digitPairs() [][2]int {
	var out [][2]int
	for a := range 10 {
		for b := a + 1; b < 10; b++ {
			out = append(out, [2]int{a, b})
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
		x := images.Rows(idx[:n], datasets.Unit01)
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
// where u and v are the pixel on this round's images of the pair's first and second digit: features 0 to F−1
// are pixels that shall have ink on the first digit, F to 2F−1 the same pixels for the second. A pixel that is alike
// on both costs ½.
func signedCosts(dst *mat.Dense, images [10][]float64) metric.CostRound {
	for k, pair := range digitPairs() {
		row := dst.RawRowView(k)
		u, v := images[pair[0]], images[pair[1]]
		for f := range u {
			row[f], row[len(u)+f] = (1-(u[f]-v[f]))/2, (1+(u[f]-v[f]))/2
		}
	}
	return metric.CostRound{Cost: dst}
}

// mapLearner is a learner of maps.
type mapLearner = learners.Online[metric.CostRound, []int]

// rival is a learner with the prototypes that it may use.
type rival struct {
	name   string
	l      mapLearner
	within []int // nil for all
}

// costs returns the round as the rival sees it.
func (r rival) costs(f metric.CostRound) metric.CostRound {
	if r.within == nil {
		return f
	}
	return metric.CostRound{Cost: columns(f.Cost.(*mat.Dense), r.within)}
}

// current returns the current map to the prototypes of all.
func (r rival) current(f metric.CostRound) []int {
	pi := r.l.Predict(r.costs(f))
	if r.within != nil {
		for i, j := range pi {
			pi[i] = r.within[j]
		}
	}
	return pi
}

func multitaskTrial(ctx context.Context, env *experiment.Env, cell experiment.Cell, seed experiment.Seed) (*table.Table, error) {
	var train *datasets.Images
	var err error
	if env.Scale == experiment.Smoke {
		train, _ = datasets.GlyphDigits(seed.Stream("glyphs"), 1500, 10)
	} else if train, _, err = env.Data.MNIST(); err != nil {
		return nil, err
	}
	rounds := multitaskRounds(env.Scale)
	drawn, err := drawDigits(seed.Stream("images"), train, rounds+multitaskFresh)
	if err != nil {
		return nil, err
	}
	tasks, features := len(digitPairs()), 2*train.Dim()
	rows := table.New(multitaskIndex, multitaskValues)
	for _, m := range multitaskCounts {
		rivals, err := multitaskRivals(seed, tasks, features, m, rounds, multitaskSteps(env.Scale))
		if err != nil {
			return nil, err
		}
		costs, total := mat.NewDense(tasks, features, nil), mat.NewDense(tasks, features, nil)
		losses := make([]float64, len(rivals))
		for t := range rounds {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			round := signedCosts(costs, drawn[t])
			total.Add(total, round.Cost)
			for k, r := range rivals {
				o, err := r.l.Step(r.costs(round))
				if err != nil {
					return nil, fmt.Errorf("%s, m = %d: %w", r.name, m, err)
				}
				losses[k] += o.Loss
				if slices.Contains(tenths(rounds), t+1) {
					rows.Add(table.Key{"kind": "loss", "method": r.name, "m": strconv.Itoa(m), "round": strconv.Itoa(t + 1)},
						table.Values{"loss": losses[k], "tasks": float64(tasks)})
				}
			}
		}
		best, err := cluster.FitFasterPAM(total, cluster.MedoidsParams{M: m, Starts: 10}, seed.Stream(fmt.Sprintf("best map %d", m)))
		if err != nil {
			return nil, err
		}
		final := map[string][]int{multiBest: best.Prototype}
		order := []string{multiBest}
		for _, r := range rivals {
			final[r.name] = r.current(metric.CostRound{Cost: total})
			order = append(order, r.name)
		}
		for _, name := range order {
			v := table.Values{"tasks": float64(tasks), "used": float64(len(image(final[name]))), "fresh": 0}
			if name == multiBest {
				v["loss"] = best.Cost
			}
			for _, images := range drawn[rounds:] {
				round := signedCosts(costs, images)
				for k, f := range final[name] {
					v["fresh"] += round.Cost.At(k, f) / multitaskFresh
				}
			}
			rows.Add(table.Key{"kind": "final", "method": name, "m": strconv.Itoa(m), "round": strconv.Itoa(rounds)}, v)
		}
		if seed.Trial == 0 {
			for k, f := range final[rmpPrinted] {
				pair := digitPairs()[k]
				rows.Add(table.Key{"kind": "map", "method": rmpPrinted, "m": strconv.Itoa(m), "round": strconv.Itoa(rounds), "task": fmt.Sprintf("%d-%d", pair[0], pair[1])},
					table.Values{"prototype": float64(f), "side": float64(train.W)})
			}
		}
	}
	return rows, nil
}

// tenths are the checkpoints of a run: powers of two up to a tenth of the rounds, then every tenth.
func tenths(rounds int) []int {
	var out []int
	for n := 1; n < rounds/10; n *= 2 {
		out = append(out, n)
	}
	for k := 1; k <= 10; k++ {
		out = append(out, k*rounds/10)
	}
	return out
}

// multitaskRivals returns the learners for m shared features.
func multitaskRivals(seed experiment.Seed, tasks, features, m, rounds, steps int) ([]rival, error) {
	var out []rival
	add := func(name, rule string, m int, within []int) error {
		b := features
		if within != nil {
			b = len(within)
		}
		p, err := rmpParams(rule, tasks, b, m, rounds)
		if err != nil {
			return err
		}
		p.Sampler, p.ChainSteps = mapping.Metropolis, steps
		l, err := mapping.NewRMP(seed.PCG(fmt.Sprintf("maps %s %d", name, m)), tasks, b, p)
		out = append(out, rival{name, l, within})
		return err
	}
	random := seed.Stream(fmt.Sprintf("random pixels %d", m)).Perm(features)[:m]
	for _, c := range []struct {
		name, rule string
		m          int
		within     []int
	}{
		{rmpPrinted, rmpPrinted, m, nil}, {rmpCorrected, rmpCorrected, m, nil}, {multiOwn, rmpPrinted, features, nil}, {multiRandom, rmpPrinted, m, random},
	} {
		if err := add(c.name, c.rule, c.m, c.within); err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
	}
	ftl, err := mapping.NewFTL(tasks, features, mapping.FTLParams{M: m})
	return append(out, rival{ftlName, ftl, nil}), err
}

// multitaskMethods are the learners in the order of a figure.
var multitaskMethods = []string{rmpPrinted, rmpCorrected, multiOwn, multiRandom, ftlName}

func drawMultitask(t *table.Table) (plots.Drawing, error) {
	losses := t.Where("kind", "loss")
	if losses.Len() == 0 {
		return plots.Missing("losses of any trial"), nil
	}
	d := plots.Drawing{Columns: 2, Text: &plots.TextTable{Head: []string{"m", "method", "loss", "loss on other images", "pixels used"}}}
	rounds := 0.0
	for _, m := range multitaskCounts {
		p := plots.Panel{Title: fmt.Sprintf("m = %d", m), XLabel: "rounds", YLabel: "mean loss per task so far", XLog: true}
		for k, method := range multitaskMethods {
			g := losses.Where("method", method, "m", strconv.Itoa(m))
			line := plots.Line{Name: method, Color: k}
			for _, at := range g.Unique("round") {
				n, err := strconv.ParseFloat(at, 64)
				if err != nil {
					return d, fmt.Errorf("rmp2007: round %q, want a number", at)
				}
				rounds = max(rounds, n)
				v := perTask(g.Where("round", at), "loss", n)
				mean, half := experiment.Summarize(v).Interval()
				line.X, line.Y = append(line.X, n), append(line.Y, mean)
				line.Lo, line.Hi = append(line.Lo, mean-half), append(line.Hi, mean+half)
			}
			p.Marks = append(p.Marks, line)
		}
		d.Panels = append(d.Panels, p)
		for _, method := range append([]string{multiBest}, multitaskMethods...) {
			g := t.Where("kind", "final", "method", method, "m", strconv.Itoa(m))
			if g.Len() == 0 {
				continue
			}
			loss := perTask(g, "loss", rounds)
			if method != multiBest {
				loss = perTask(losses.Where("method", method, "m", strconv.Itoa(m), "round", fmt.Sprint(rounds)), "loss", rounds)
			}
			d.Text.Rows = append(d.Text.Rows, []string{strconv.Itoa(m), method, plusMinus(loss), plusMinus(perTask(g, "fresh", 1)), fmt.Sprintf("%.1f", stat.Mean(g.Values("used"), nil))})
		}
	}
	d.Caption = fmt.Sprintf("Mean loss per task and round so far of features shared among 45 tasks (ours; the paper only names the application). A task is one of the 45 pairs of digits; a feature is a pixel with a sign, which says on which of the two digits it shall have ink. In each round one image of each digit comes; "+
		"feature f costs task (a, b) (1 − s(u − v))/2, where u and v are the pixel on the images of a and b: ½ if it does not tell them apart, 0 if it is all ink on the right one only. RMP maps the 45 tasks to at most m shared features. "+
		"Own: each task has exponential weights over all features of its own (m is the number of features), with η as printed. Random: the same over m random features. FTL: follow-the-leader, by k-medoids. Bands are 95 %% intervals. "+
		"The table has the loss after %.0f rounds, beside that of the best map with m features in hindsight that 10 runs of FasterPAM find, the loss of the last map on %d rounds of other images, and the number of signed pixels that it uses. Data: %s. %s",
		rounds, multitaskFresh, digitsShown(square(slices.Max(append(t.Where("kind", "map").Values("side"), 0)))), trialsNote(t))
	return d, nil
}

func square(v float64) float64 { return v * v }

// perTask returns a column divided by the number of tasks and of rounds.
func perTask(t *table.Table, column string, rounds float64) []float64 {
	out := slices.Clone(t.Values(column))
	floats.Div(out, t.Values("tasks"))
	floats.Scale(1/rounds, out)
	return out
}

func plusMinus(v []float64) string {
	if len(v) == 0 {
		return "–"
	}
	s := experiment.Summarize(v)
	if !s.HasInterval {
		return fmt.Sprintf("%.4f", s.Mean)
	}
	return fmt.Sprintf("%.4f ± %.4f", s.Mean, s.Half)
}

// largestSide bounds the side of the images that a map is drawn of; digits have 28 pixels.
const largestSide = 1024

func drawMultitaskPixels(t *table.Table) (plots.Drawing, error) {
	shown := t.Where("kind", "map")
	if shown.Len() == 0 {
		return plots.Missing("the first trial"), nil
	}
	d := plots.Drawing{Columns: len(multitaskCounts)}
	for _, m := range multitaskCounts {
		r := shown.Where("m", strconv.Itoa(m))
		if r.Len() == 0 {
			continue
		}
		side := experiment.Whole("rmp2007: side of the images", experiment.First(r, "side"), 1, largestSide)
		g := grid{side, side}
		count := make([]float64, g.pixels())
		for _, f := range r.Values("prototype") {
			count[experiment.Whole("rmp2007: prototype of a map", f, 0, 2*g.pixels()-1)%g.pixels()]++
		}
		d.Panels = append(d.Panels, plots.Panel{Title: fmt.Sprintf("m = %d", m), HideAxes: true, Marks: []plots.Mark{plots.Heat{Z: g.rows(count), BarLabel: "tasks"}}})
	}
	d.Caption = "How many of the 45 pairs of digits RMP's last map serves by each pixel, with either sign (ours; first trial): a pixel that is dark on one digit and light on another can serve all pairs of such digits. η as printed."
	return d, nil
}

var multitaskClaims = []experiment.Claim{
	{
		ID:        "multitask-random",
		View:      "multitask",
		Statement: "Ours: the features that RMP shares among tasks are more salient on them than random ones.",
		Where:     "not in the paper (Section 1 names the application)", Theirs: "not in the paper",
		Predicate: "On other images, the loss of the last map over m random features minus that of RMP's, paired by trial, is positive for each m. Readings: η as printed and corrected.",
		Grade: func(t *table.Table) (experiment.Finding, error) {
			return rulesReadings([]string{rmpPrinted, rmpCorrected}, func(rule string) (experiment.Finding, error) {
				return gradeMultitask(t, multiRandom, rule)
			})
		},
	},
	{
		ID:        "multitask-own",
		View:      "multitask",
		Statement: "Ours: sharing has a price: in the end one feature of its own costs a task less than the best of m shared ones.",
		Where:     "not in the paper (Section 1 names the application)", Theirs: "not in the paper",
		Predicate: "On other images, the loss of RMP's last map with m shared features minus that of one feature per task, paired by trial, is positive for each m. Readings: η as printed and corrected for the shared ones.",
		Grade: func(t *table.Table) (experiment.Finding, error) {
			return rulesReadings([]string{rmpPrinted, rmpCorrected}, func(rule string) (experiment.Finding, error) {
				return gradeMultitask(t, rule, multiOwn)
			})
		},
	},
}

// gradeMultitask grades that a's loss on other images is larger than b's.
func gradeMultitask(t *table.Table, a, b string) (experiment.Finding, error) {
	var units []experiment.Unit
	for _, m := range multitaskCounts {
		of := func(method string) []float64 {
			return perTask(t.Where("kind", "final", "method", method, "m", strconv.Itoa(m)), "fresh", 1)
		}
		more, less := of(a), of(b)
		if len(more) != len(less) {
			return experiment.Finding{}, fmt.Errorf("rmp2007: m = %d: %d trials of %s, %d of %s", m, len(more), a, len(less), b)
		}
		floats.Sub(more, less)
		units = append(units, experiment.Unit{Name: fmt.Sprintf("m = %d", m), Diffs: more})
	}
	return experiment.GradeUnits(units, experiment.UnitRule{Scale: 100, Unit: "hundredths of the loss per task"})
}
