package erkle2015

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"

	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
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

// flipRejecting are the methods with a largest step, ascending. A step of 0.1 satisfies a triplet that is a tie by the margin of 1.
var flipRejecting = []string{paRejectsA, paRejectsB, paRejectsC}

// flipOnline are the online methods.
var flipOnline = slices.Concat(erkles, []string{paLow}, flipRejecting)

// flipBatches are the batch methods.
var flipBatches = batches[:2]

// flipTaus are the weights of the trace from which one is chosen per trial, on validation triplets that are flipped too.
var flipTaus = []float64{0.1, 1, 3, 10, 30, 100, 300}

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
			cells = append(cells, experiment.Cell{
				Name: flipName(share), Dataset: d.datasetAt(scale), Methods: methodVersions, Settings: flipsSettings{d.settings(scale), share, flipTaus, batchIterations},
			})
		}
		return cells
	},
	Trials:  experiment.Trials(7),
	Columns: flipsColumns,
	Trial:   flipsTrial,
	Views: []experiment.View{
		{Name: "flips", Title: "Error on clean triplets against the share of flipped answers", Draw: drawFlips},
		{Name: "flips-errors", Title: "Errors, rejected steps and τ by the share of flipped answers", Draw: experiment.WithEnds(drawFlipsErrors, flipChoices)},
	},
	Claims:  flipsClaims,
	Choices: flipChoices,
	Cost:    8 * time.Second,
}

// flipsSettings are those of a cell.
type flipsSettings struct {
	splitSettings
	Flipped    float64   `key:"flipped"` // probability that an answer is flipped
	Taus       []float64 `key:"τ,list"`  // candidate weights of the trace
	Iterations int       `key:"iterations"`
}

var flipsColumns = slices.Concat(experiment.Columns{
	experiment.Text("method", "the learner"),
	experiment.Text("share", "probability that a training or validation answer is flipped"),
}, errorColumns("validation"), errorColumns("test"), experiment.Columns{
	experiment.Number("active", "", "updates of ERKLE that moved the kernel"),
	experiment.Number("rejected", "", "updates of ERKLE left out because their step γ was above the threshold"),
	experiment.Number("tau", "", "weight τ of the trace that a batch method chose by its validation error"),
	experiment.Number("iterations", "", "iterations of the batch fit with that weight"),
})

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

func flipsTrial(ctx context.Context, run *experiment.Run) error {
	settings := run.Cell.Settings.(flipsSettings)
	clean, err := splitOf(run.Env, settings.splitSettings, run.Seed)
	if err != nil {
		return err
	}
	s := clean
	s.train = flipped(run.Seed.Stream("flipped training answers"), clean.train, settings.Flipped)
	s.validation = flipped(run.Seed.Stream("flipped validation answers"), clean.validation, settings.Flipped)
	add := func(method string, validation, test errorCount, v table.Values) {
		validation.put(v, "validation")
		test.put(v, "test")
		run.Rows.Add(table.Key{"method": method, "share": table.Format(settings.Flipped)}, v)
	}
	for _, method := range flipOnline {
		p, err := erkleParams(method)
		if err != nil {
			return err
		}
		if err := runERKLE(ctx, s, p, run.Seed, []int{len(s.train)}, func(_ int, l *triplets.ERKLE) {
			// Which comparisons test is told by their objects, not by the answers.
			add(method, errorsOf(l.Kernel(), s.validation), clean.testErrors(l.Kernel()), table.Values{"active": float64(l.Stats().Active), "rejected": float64(l.Stats().Rejected)})
		}); err != nil {
			return fmt.Errorf("%s: %w", method, err)
		}
	}
	for _, b := range flipBatches {
		var best triplets.BatchResult
		var least errorCount
		var chosen float64
		for _, tau := range settings.Taus {
			f, err := triplets.FitBatch(ctx, s.objects, s.train, triplets.BatchParams{Method: triplets.BatchAccelerated, Loss: b.loss, Tau: tau, Iterations: settings.Iterations, Tol: batchTol})
			if err != nil {
				return fmt.Errorf("%s: %w", b.name, err)
			}
			if c := errorsOf(f.Kernel, s.validation); best.Kernel == nil || c.wrong < least.wrong {
				best, least, chosen = f, c, tau
			}
		}
		add(b.name, least, clean.testErrors(best.Kernel), table.Values{"tau": chosen, "iterations": float64(best.Iterations)})
	}
	return nil
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

var flipsBatchNote = fmt.Sprintf("Batch methods minimise Σ l + τ·trace K from K = I in up to %d accelerated steps, τ chosen per trial from %s on the flipped validation answers.", batchIterations, list[float64](flipTaus))

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
			line := curveOf(g, "share", style, testErrors)
			floats.Scale(100, line.X)
			p.Marks = append(p.Marks, line)
		}
		if len(p.Marks) > 0 {
			d.Panels = append(d.Panels, p)
		}
	}
	d.Caption = plots.Caption{Shows: flipsAbout + " " + flipsBatchNote + " " + trialsNote(t)}
	return orMissing(d, "any trial")
}

func drawFlipsErrors(t *table.Table) (plots.Drawing, error) {
	text := &plots.TextTable{Head: []string{"flipped", "method", "error on clean triplets (%)", "ties count half (%)", "error on flipped validation answers (%)", "steps rejected (% of those asked for)", "τ, smallest to largest"}}
	for row, g := range groups(t, "cell", "method") {
		for _, shares := range [][]float64{testErrors(g), halfErrors(g, "test"), strictErrors(g, "validation")} {
			row = append(row, judge.Summarize(shares).Percent())
		}
		active, rejected := g.Values("active"), g.Values("rejected")
		if tau := g.Values("tau"); tau[0] == tau[0] {
			row = append(row, "", fmt.Sprintf("%g to %g", slices.Min(tau), slices.Max(tau)))
		} else {
			cut := make([]float64, len(active))
			for i := range cut {
				cut[i] = rejected[i] / max(1, active[i]+rejected[i])
			}
			row = append(row, fmt.Sprintf("%.1f", 100*judge.Summarize(cut).Mean), "")
		}
		text.Rows = append(text.Rows, row)
	}
	return orMissing(plots.Drawing{Text: text, Caption: plots.Caption{Shows: flipsAbout + " " + flipsBatchNote + " " + trialsNote(t)}}, "any trial")
}

var flipsClaims = experiment.Claims([]experiment.Claim{
	{
		ID:        "flips-degrades",
		View:      "flips",
		Statement: "Ours, after Section 5.3: PA-ERKLE is more robust to noise than STE-ERKLE: with more flipped answers its error grows less.",
		Where:     "Section 5.3 says so of the music data: \"PA-ERKLE, however, is much more robust to noise\"", Theirs: "not in the paper for these data",
		Predicate: "The growth of the error from no flipped answers to 5, 10, 20 and 30 % of STE-ERKLE (δ = 1) minus that of PA-ERKLE, paired by trial, is positive for each share. Readings: growth in points, and as a share of what the method can lose, 50 % minus its error without flipped answers; 1 and 10 passes each.",
		Test: func(t *table.Table) judge.Test {
			growth := func(name, unit string, ofLoss bool) judge.Readings {
				return flipReadings(name+", ", unit, func(method string, share float64) []float64 { return flipGrowth(t, method, share, ofLoss) })
			}
			return slices.Concat(growth("points", "points", false), growth("share of what can be lost", "%", true))
		},
	},
	{
		ID:        "flips-lower",
		View:      "flips",
		Statement: "Ours, after Section 5.3: with flipped answers PA-ERKLE has a smaller error than STE-ERKLE.",
		Where:     "Section 5.3 says so of the music data: \"STE-ERKLE performs considerably worse than the other methods, most likely due to the noise\"", Theirs: "not in the paper for these data",
		Predicate: "The error of STE-ERKLE (δ = 1) minus that of PA-ERKLE, paired by trial, is positive with 5, 10, 20 and 30 % of flipped answers. Readings: 1 and 10 passes.",
		Test: func(t *table.Table) judge.Test {
			return flipReadings("", "points", func(method string, share float64) []float64 { return flipError(t, method, share) })
		},
	},
	{
		ID:        "flips-rejection",
		View:      "flips",
		Statement: "Ours, after Section 6: a threshold on the passive-aggressive step helps when answers are flipped.",
		Where:     "Section 6, suggested as future work: \"using a threshold on the passive-aggressive learning rate\"", Theirs: "not in the paper",
		Predicate: "The error of PA-ERKLE minus that with the threshold, paired by trial, is positive with 5, 10, 20 and 30 % of flipped answers; the threshold is, per trial, that of 0.15, 0.2 and 0.3 with the least error on flipped validation answers, the smallest of equals.",
		Test:      testRejection,
	},
})

// flipError is the error of a method at a share of flipped answers.
func flipError(t *table.Table, method string, share float64) []float64 {
	return perTrial(t.Where("cell", flipName(share)), "method", method)
}

// flipGrowth is the growth of a method's error from no flipped answers to a share of them, by trial; ofLoss as a share of what it can
// lose, ½ minus the error without flipped answers.
func flipGrowth(t *table.Table, method string, share float64, ofLoss bool) []float64 {
	clean := flipError(t, method, 0)
	growth := judge.Minus(flipError(t, method, share), clean)
	if !ofLoss {
		return growth
	}
	for i, e := range clean {
		if e >= 0.5 {
			judge.Refuse("erkle2015: %s: error of %v without flipped answers, want below ½", method, e)
		}
		growth[i] /= 0.5 - e
	}
	return growth
}

// flipReadings tests that STE-ERKLE has more of something than PA-ERKLE at each share, for 1 and 10 passes.
func flipReadings(prefix, unit string, of func(method string, share float64) []float64) judge.Readings {
	return judge.Each([]struct{ name, ste, pa string }{{"1 pass", steERKLE, paERKLE}, {"10 passes", steERKLETen, paERKLETen}}, func(pair struct{ name, ste, pa string }) (string, judge.Test) {
		var units []judge.Unit
		for _, share := range flipShares[1:] {
			units = append(units, judge.Paired(flipName(share), of(pair.ste, share), of(pair.pa, share)))
		}
		return prefix + pair.name, judge.Positive{Units: units, Rule: judge.Rule{Scale: 100, Unit: unit}}
	})
}

func testRejection(t *table.Table) judge.Test {
	var units []judge.Unit
	for _, share := range flipShares[1:] {
		plain := flipError(t, paERKLE, share)
		least := make([]float64, len(plain)) // on validation, by trial
		diffs := make([]float64, len(plain))
		for k, method := range flipRejecting {
			g := t.Where("cell", flipName(share), "method", method)
			test := flipError(t, method, share)
			judge.SameLength("trials of "+method, plain, test)
			for i, v := range strictErrors(g, "validation") {
				if k == 0 || v < least[i] {
					least[i], diffs[i] = v, plain[i]-test[i]
				}
			}
		}
		units = append(units, judge.Unit{Name: flipName(share), Diffs: diffs})
	}
	return judge.Positive{Units: units, Rule: points}
}
