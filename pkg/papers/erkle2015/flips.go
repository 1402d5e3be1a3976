package erkle2015

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"metriclab/pkg/experiment"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/metric"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// flipShares are the probabilities that an answer is flipped.
var flipShares = []float64{0, .05, .1, .2, .3}

// Methods of erkle2015/flips beside those of all figures.
const (
	paLow      = "PA-ERKLE, P = 0.6"
	paRejectsA = "PA-ERKLE, reject γ > 0.15"
	paRejectsB = "PA-ERKLE, reject γ > 0.2"
	paRejectsC = "PA-ERKLE, reject γ > 0.3"
)

// flipRejects are the largest steps by method. A step of 0.1 satisfies a triplet that is a tie by the margin of 1.
var flipRejects = map[string]float64{paRejectsA: .15, paRejectsB: .2, paRejectsC: .3}

// flipRejecting are the methods of flipRejects, in order.
var flipRejecting = []string{paRejectsA, paRejectsB, paRejectsC}

// flipOnline are the online methods.
var flipOnline = slices.Concat(erkles, []string{paLow}, flipRejecting)

// flipBatches are the batch methods.
var flipBatches = batches[:2]

// flipTaus are the weights of the trace from which one is chosen per trial, on validation triplets that are flipped too.
var flipTaus = []float64{0.1, 1, 3, 10, 30, 100, 300}

func flipParams(method string) (triplets.ERKLEParams, error) {
	if method == paLow {
		return triplets.ERKLEParams{Loss: triplets.STE, P: .6}, nil
	}
	if reject, ok := flipRejects[method]; ok {
		return triplets.ERKLEParams{Reject: reject}, nil
	}
	return erkleParams(method)
}

// flipName is the cell of a share.
func flipName(share float64) string { return fmt.Sprintf("%g %%", 100*share) }

// Flips learns from answers of which a growing share is flipped.
var Flips = experiment.Spec{
	ID:      "erkle2015/flips",
	Title:   "A growing share of flipped answers",
	Source:  "Section 5.3, which explains what it finds by noise, and Section 6, which suggests to reject long steps",
	Ours:    true,
	Version: 1,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		d := dataSets[0]
		var cells []experiment.Cell
		for _, share := range flipShares {
			params := d.params(scale)
			params["flipped"], params["τ"], params["iterations"] = table.Format(share), formatAll(flipTaus), strconv.Itoa(batchIterations)
			cells = append(cells, experiment.Cell{Name: flipName(share), Dataset: d.datasetAt(scale), Params: params, Methods: methodVersions})
		}
		return cells
	},
	Trials: experiment.Trials(7),
	Index:  flipsIndex,
	Values: flipsValues,
	Trial:  flipsTrial,
	Views: []experiment.View{
		{Name: "flips", Title: "Error on clean triplets against the share of flipped answers", Draw: drawFlips},
		{Name: "flips-errors", Title: "Errors, rejected steps and τ by the share of flipped answers", Draw: drawFlipsErrors},
	},
	Claims: flipsClaims,
	Cost:   8 * time.Second,
}

var (
	flipsIndex  = []string{"method", "share"}
	flipsValues = slices.Concat(errorColumns("validation"), errorColumns("test"), []string{"active", "rejected", "tau", "iterations"})
)

// flipped returns ts with each triplet's answer flipped with the probability share. With the same stream the triplets that are flipped at a
// share are flipped at every larger one.
func flipped(rng *rand.Rand, ts []metric.Triplet, share float64) []metric.Triplet {
	out := slices.Clone(ts)
	for i, t := range out {
		if rng.Float64() < share {
			out[i] = metric.Triplet{A: t.A, Near: t.Far, Far: t.Near}
		}
	}
	return out
}

func flipsTrial(ctx context.Context, env *experiment.Env, cell experiment.Cell, seed experiment.Seed) (*table.Table, error) {
	share, err := strconv.ParseFloat(cell.Params["flipped"], 64)
	if err != nil {
		return nil, fmt.Errorf("erkle2015: share of flipped answers: %w", err)
	}
	clean, err := splitOf(env, dataSets[0], seed)
	if err != nil {
		return nil, err
	}
	s := clean
	s.train = flipped(seed.Stream("flipped training answers"), clean.train, share)
	s.validation = flipped(seed.Stream("flipped validation answers"), clean.validation, share)
	rows := table.New(flipsIndex, flipsValues)
	add := func(method string, validation, test errorCount, v table.Values) {
		validation.put(v, "validation")
		test.put(v, "test")
		rows.Add(table.Key{"method": method, "share": table.Format(share)}, v)
	}
	for _, method := range flipOnline {
		p, err := flipParams(method)
		if err != nil {
			return nil, err
		}
		if err := runERKLE(ctx, s, p, seed, []int{len(s.train)}, func(_ int, l *triplets.ERKLE) error {
			// Which comparisons test is told by their objects, not by the answers.
			add(method, errorsOf(l.Kernel(), s.validation), clean.testErrors(l.Kernel()), table.Values{"active": float64(l.Stats().Active), "rejected": float64(l.Stats().Rejected)})
			return nil
		}); err != nil {
			return nil, fmt.Errorf("%s: %w", method, err)
		}
	}
	for _, b := range flipBatches {
		var best triplets.BatchResult
		var least errorCount
		var chosen float64
		for _, tau := range flipTaus {
			f, err := triplets.FitBatch(ctx, s.objects, s.train, triplets.BatchParams{Loss: b.loss, Tau: tau, Iterations: batchIterations, Tol: batchTol})
			if err != nil {
				return nil, fmt.Errorf("%s: %w", b.name, err)
			}
			if c := errorsOf(f.Kernel, s.validation); best.Kernel == nil || c.wrong < least.wrong {
				best, least, chosen = f, c, tau
			}
		}
		add(b.name, least, clean.testErrors(best.Kernel), table.Values{"tau": chosen, "iterations": float64(best.Iterations)})
	}
	return rows, nil
}

// flipStyles are the lines of methods of this figure alone.
var flipStyles = map[string]plots.Line{
	paLow:      {Name: paLow, Color: 4},
	paRejectsA: {Name: paRejectsA, Color: 2},
	paRejectsB: {Name: paRejectsB, Color: 3},
	paRejectsC: {Name: paRejectsC, Color: 5},
}

const flipsAbout = "The answers to 10,000 comparisons of 100 points from N(0, I) in R⁵⁰ (300 of 20 points in R⁵ at smoke scale), each flipped with the probability on the axis, train (ours); 1,000 flipped alike validate, and the error is the share of all others, not flipped, that the kernel does not satisfy, a tie counting as not satisfied. " +
	"With 10 passes each answer is followed by 9 more updates with random earlier ones. STE-ERKLE has the constant step δ = 1. PA-ERKLE has the margin 1; P = 0.6 is the step with a smaller margin, log(P/(1−P)) = 0.41; with a threshold a step longer than it is not made (the paper's suggestion): a triplet that is a tie needs γ = 0.1."

var flipsBatchNote = fmt.Sprintf("Batch methods minimise Σ l + τ·trace K from K = I in up to %d accelerated steps, τ chosen per trial from %s on the flipped validation answers.", batchIterations, formatAll(flipTaus))

func drawFlips(t *table.Table) (plots.Drawing, error) {
	d := plots.Drawing{Columns: 2}
	for _, panel := range []struct {
		title   string
		methods []string
	}{
		{"step rules and batch methods", slices.Concat(erkles, []string{gnmdsBatch, steBatch})},
		{"PA-ERKLE with other steps", slices.Concat([]string{paERKLE}, flipRejecting, []string{paLow})},
	} {
		p := plots.Panel{Title: panel.title, XLabel: "flipped answers (%)", YLabel: "error on other, clean triplets (%)"}
		for _, method := range panel.methods {
			style, ok := styles[method]
			if !ok {
				style = flipStyles[method]
			}
			g := t.Where("method", method)
			if g.Len() == 0 {
				continue
			}
			line, err := curveOf(g, "share", style, func(g *table.Table) []float64 { return strictErrors(g, "test") })
			if err != nil {
				return d, err
			}
			for i := range line.X {
				line.X[i] *= 100
			}
			p.Marks = append(p.Marks, line)
		}
		if len(p.Marks) > 0 {
			d.Panels = append(d.Panels, p)
		}
	}
	if len(d.Panels) == 0 {
		return plots.Missing("any trial"), nil
	}
	d.Caption = flipsAbout + " " + flipsBatchNote + " " + trialsNote(t)
	return d, nil
}

func drawFlipsErrors(t *table.Table) (plots.Drawing, error) {
	text := &plots.TextTable{Head: []string{"flipped", "method", "error on clean triplets (%)", "ties count half (%)", "error on flipped validation answers (%)", "steps rejected (% of those asked for)", "τ, smallest to largest"}}
	for share, c := range t.Group("cell") {
		for method, g := range c.Group("method") {
			row := []string{share, method}
			for _, shares := range [][]float64{strictErrors(g, "test"), halfErrors(g, "test"), strictErrors(g, "validation")} {
				row = append(row, experiment.Summarize(shares).Percent())
			}
			active, rejected := g.Values("active"), g.Values("rejected")
			if tau := g.Values("tau"); tau[0] == tau[0] {
				row = append(row, "", fmt.Sprintf("%g to %g", slices.Min(tau), slices.Max(tau)))
			} else {
				cut := make([]float64, len(active))
				for i := range cut {
					cut[i] = rejected[i] / max(1, active[i]+rejected[i])
				}
				row = append(row, fmt.Sprintf("%.1f", 100*experiment.Summarize(cut).Mean), "")
			}
			text.Rows = append(text.Rows, row)
		}
	}
	if len(text.Rows) == 0 {
		return plots.Missing("any trial"), nil
	}
	return plots.Drawing{Text: text, Caption: flipsAbout + " " + flipsBatchNote + " " + trialsNote(t)}, nil
}

var flipsClaims = []experiment.Claim{
	{
		ID:        "flips-degrades",
		View:      "flips",
		Statement: "Ours, after Section 5.3: PA-ERKLE is more robust to noise than STE-ERKLE: with more flipped answers its error grows less.",
		Where:     "Section 5.3 says so of the music data: \"PA-ERKLE, however, is much more robust to noise\"", Theirs: "not in the paper for these data",
		Predicate: "The growth of the error from no flipped answers to 5, 10, 20 and 30 % of STE-ERKLE (δ = 1) minus that of PA-ERKLE, paired by trial, is positive for each share. Readings: growth in points, and as a share of what the method can lose, 50 % minus its error without flipped answers; 1 and 10 passes each.",
		Grade: func(t *table.Table) (experiment.Finding, error) {
			var out []experiment.Reading
			for _, growth := range []struct {
				name  string
				rule  experiment.UnitRule
				share bool
			}{
				{"points", experiment.UnitRule{Scale: 100, Unit: "points"}, false},
				{"share of what can be lost", experiment.UnitRule{Scale: 100, Unit: "%"}, true},
			} {
				rs, err := flipReadings(t, growth.rule, func(share float64, ste, pa string) ([]float64, error) {
					return differ(flipGrowth(t, ste, share, growth.share), flipGrowth(t, pa, share, growth.share))
				})
				if err != nil {
					return experiment.Finding{}, err
				}
				for _, r := range rs {
					out = append(out, experiment.Reading{Name: growth.name + ", " + r.Name, Finding: r.Finding})
				}
			}
			return experiment.AllReadings(out), nil
		},
	},
	{
		ID:        "flips-lower",
		View:      "flips",
		Statement: "Ours, after Section 5.3: with flipped answers PA-ERKLE has a smaller error than STE-ERKLE.",
		Where:     "Section 5.3 says so of the music data: \"STE-ERKLE performs considerably worse than the other methods, most likely due to the noise\"", Theirs: "not in the paper for these data",
		Predicate: "The error of STE-ERKLE (δ = 1) minus that of PA-ERKLE, paired by trial, is positive with 5, 10, 20 and 30 % of flipped answers. Readings: 1 and 10 passes.",
		Grade: func(t *table.Table) (experiment.Finding, error) {
			rs, err := flipReadings(t, experiment.UnitRule{Scale: 100, Unit: "points"}, func(share float64, ste, pa string) ([]float64, error) {
				return differ(flipError(t, ste, share), flipError(t, pa, share))
			})
			if err != nil {
				return experiment.Finding{}, err
			}
			return experiment.AllReadings(rs), nil
		},
	},
	{
		ID:        "flips-rejection",
		View:      "flips",
		Statement: "Ours, after Section 6: a threshold on the passive-aggressive step helps when answers are flipped.",
		Where:     "Section 6, suggested as future work: \"using a threshold on the passive-aggressive learning rate\"", Theirs: "not in the paper",
		Predicate: "The error of PA-ERKLE minus that with the threshold, paired by trial, is positive with 5, 10, 20 and 30 % of flipped answers; the threshold is, per trial, that of 0.15, 0.2 and 0.3 with the least error on flipped validation answers, the smallest of equals.",
		Grade:     gradeRejection,
	},
}

// flipError is the error of a method at a share of flipped answers.
func flipError(t *table.Table, method string, share float64) perTrialFunc {
	return func() ([]float64, error) {
		return perTrial(t.Where("cell", flipName(share)), "method", method)
	}
}

// flipGrowth is the growth of a method's error from no flipped answers to a share of them, by trial; ofLoss as a share of what it can
// lose, ½ minus the error without flipped answers.
func flipGrowth(t *table.Table, method string, share float64, ofLoss bool) perTrialFunc {
	return func() ([]float64, error) {
		clean, err := flipError(t, method, 0)()
		if err != nil {
			return nil, err
		}
		growth, err := differ(flipError(t, method, share), flipError(t, method, 0))
		if err != nil || !ofLoss {
			return growth, err
		}
		for i, e := range clean {
			if e >= 0.5 {
				return nil, fmt.Errorf("erkle2015: %s: error of %v without flipped answers, want below ½", method, e)
			}
			growth[i] /= 0.5 - e
		}
		return growth, nil
	}
}

// flipReadings grades that a difference is positive at each share, for 1 and 10 passes.
func flipReadings(t *table.Table, rule experiment.UnitRule, difference func(share float64, ste, pa string) ([]float64, error)) ([]experiment.Reading, error) {
	var out []experiment.Reading
	for _, pair := range []struct{ name, ste, pa string }{{"1 pass", steERKLE, paERKLE}, {"10 passes", steERKLETen, paERKLETen}} {
		var units []experiment.Unit
		for _, share := range flipShares[1:] {
			d, err := difference(share, pair.ste, pair.pa)
			if err != nil {
				return nil, err
			}
			units = append(units, experiment.Unit{Name: flipName(share), Diffs: d})
		}
		f, err := experiment.GradeUnits(units, rule)
		if err != nil {
			return nil, err
		}
		out = append(out, experiment.Reading{Name: pair.name, Finding: f})
	}
	return out, nil
}

func gradeRejection(t *table.Table) (experiment.Finding, error) {
	var units []experiment.Unit
	for _, share := range flipShares[1:] {
		plain, err := flipError(t, paERKLE, share)()
		if err != nil {
			return experiment.Finding{}, err
		}
		least := make([]float64, len(plain)) // on validation, by trial
		diffs := make([]float64, len(plain))
		for k, method := range flipRejecting {
			g := t.Where("cell", flipName(share), "method", method)
			test, err := flipError(t, method, share)()
			if err != nil {
				return experiment.Finding{}, err
			}
			for i, v := range strictErrors(g, "validation") {
				if k == 0 || v < least[i] {
					least[i], diffs[i] = v, plain[i]-test[i]
				}
			}
		}
		units = append(units, experiment.Unit{Name: flipName(share), Diffs: diffs})
	}
	return experiment.GradeUnits(units, experiment.UnitRule{Scale: 100, Unit: "points"})
}
