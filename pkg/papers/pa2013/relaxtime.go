package pa2013

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/learners/pairs"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// RelaxTime times the projections of Details.
var RelaxTime = experiment.Spec{
	ID:      "pa2013/relaxtime",
	Title:   "Time against the number of updates between projections, on four databases",
	Source:  "Section 2.4 (\"it is possible to relax this by allowing negative models during a fixed amount of learning steps\"), which has no experiment",
	Ours:    true,
	Version: 1,
	Timing:  true,
	Cells: func(scale experiment.Scale) (cells []experiment.Cell) {
		for _, d := range smallAt(scale, 1) {
			s := mainSettings
			if d.small() {
				s.Repeats = repeatsOfSmall
			}
			cells = append(cells, experiment.Cell{Name: d.cell, Dataset: d.dataset, Methods: map[string]int{"PA": pairs.PAVersion, "kNN": nearest.KNNVersion}, Settings: s})
		}
		return cells
	},
	Trials:  experiment.Trials(10),
	Columns: relaxTimeColumns,
	Trial:   relaxTimeTrial,
	Views: []experiment.View{
		{Name: "relaxtime", Title: "CPU time against the number of updates between projections", DrawTimed: drawRelaxTime},
		{Name: "relaxtime-choice", Title: "What was chosen for each number of updates between projections", Draw: experiment.WithEnds(relaxChoiceView.Draw, relaxTimeChoices)},
	},
	Claims:  relaxTimeClaims,
	Choices: relaxTimeChoices,
	Cost:    4 * time.Second,
}

var relaxTimeColumns = experiment.Columns{
	experiment.Text("method", "name of the rule"),
	experiment.Text("at", "updates between projections, or \"end\""),
	experiment.Number("c", "", "the chosen C"),
	experiment.Number("k", "", "the chosen number of neighbours"),
	experiment.Number("error", "share", "test rows classified wrongly"),
	experiment.Number("ratio", "", "test rows divided by training rows"),
	experiment.Number("steps", "", "steps taken, T"),
	experiment.Number("updates", "", "steps that moved matrix or threshold"),
	experiment.Number("repeats", "", "how often the T steps were taken and timed"),
}

func relaxPhase(rule, at string) string { return fmt.Sprintf("learning %s, q = %s", rule, at) }

func relaxTimeTrial(ctx context.Context, run *experiment.Run) error {
	s := run.Cell.Settings.(settings)
	p, err := newProblem(run.Env, run.Seed, run.Cell.Dataset, s)
	if err != nil {
		return err
	}
	t := &details{problem: p, set: s}
	for _, v := range rules {
		for _, q := range everyUpdates {
			params := everyParams(v, q)
			chosen, err := t.tune(ctx, params)
			if err != nil {
				return fmt.Errorf("%s, q = %d: %w", v.name, q, err)
			}
			params.C = chosen.c
			k, _ := chosen.best()
			var l *pairs.PA
			var w work
			for range s.Repeats {
				end := run.Lap(relaxPhase(v.name, everyName(q)))
				if l, w, err = t.runPA(ctx, params, t.order[:t.steps]); err == nil {
					l.Final() // the projection at the end counts
				}
				end()
				if err != nil {
					return fmt.Errorf("%s, q = %d: %w", v.name, q, err)
				}
			}
			e, err := t.errorOf(ctx, l.Metric(), k)
			if err != nil {
				return err
			}
			run.Rows.Add(table.Key{"method": v.name, "at": everyName(q)}, table.Values{
				"c": chosen.c, "k": float64(k), "error": e, "ratio": float64(len(t.test.y)) / float64(len(t.train.y)),
				"steps": float64(w.steps), "updates": float64(w.updates), "repeats": float64(s.Repeats),
			})
		}
	}
	return nil
}

// everyParams are those of a rule that projects after every q updates; 0 is only at the end.
func everyParams(v versions, q int) pairs.PAParams {
	if q == 1 { // the same hypotheses by a cheaper way
		return pairs.PAParams{Rule: v.rule, PSD: pairs.PSDEachStep}
	}
	return pairs.PAParams{Rule: v.rule, PSD: pairs.PSDAtEnd, Every: q}
}

// relaxSeconds is the CPU time of learning once on one database, by trial.
func relaxSeconds(times *table.Table, rule string, q int) frame.Measure {
	return func(t *table.Table) []float64 {
		phase := relaxPhase(rule, everyName(q))
		spent := times.Where("cell", experiment.FirstName(t, "cell"), "phase", phase).Values("cpu_s")
		repeats := t.Where("method", rule, "at", everyName(q)).Values("repeats")
		judge.SameLength(fmt.Sprintf("pa2013: %s: times and rows", phase), spent, repeats)
		out := make([]float64, len(spent))
		for i, n := range repeats {
			if !(n > 0) {
				judge.Refuse("pa2013: %s: %v repeats, want at least 1", phase, n)
			}
			out[i] = max(spent[i], leastTime) / n
		}
		return out
	}
}

// leastTime, in seconds, stands for a time that the clock shows as none.
const leastTime = 1e-9

// relaxSaved is the base-2 logarithm of the time of projecting at each step over that of projecting after q updates,
// by trial.
func relaxSaved(times *table.Table, x relaxation) frame.Measure {
	return relaxSeconds(times, x.rule.name, 1).Over(relaxSeconds(times, x.rule.name, x.q)).Map(math.Log2)
}

var relaxTimeClaims = experiment.Claims([]experiment.Claim{{
	ID: "relaxed-time", View: "relaxtime",
	Ours:      true,
	Title:     "Ours: relaxing the constraint during a fixed amount of steps saves time.",
	Statement: "Ours: relaxing the constraint during a fixed amount of steps saves time (the paper says so of relaxing it until the end).",
	Where:     "Sections 2.4 and 3, Fig. 2", Theirs: "not in the paper",
	Predicate: "The base-2 logarithm of the CPU time with projections at each step, minus that with projections after every q updates (3, 10, 30, 100, 300, or at the end), is positive. C is chosen for each q and not timed. On the whole: per rule and q, mean over wine, ionosphere, balance and soybean. Everywhere: per database, rule and q.",
	TestTimed: func(t, times *table.Table) judge.Test {
		var everywhere []frame.Units
		for _, x := range relaxed {
			for _, cell := range t.Unique("cell") {
				everywhere = append(everywhere, frame.Unit(cell+", "+x.String(), relaxSaved(times, x).Where("cell", cell)))
			}
		}
		return frame.Readings(
			frame.Reading{Name: "on the whole", Test: positive(ofTimes, whole(relaxed, func(x relaxation) frame.Measure { return relaxSaved(times, x).MeanOver("cell") }))},
			frame.Reading{Name: "everywhere", Test: positive(ofTimes, frame.Together(everywhere...))},
		)(t)
	},
}})

// relaxTimeChoices are those of C; k has a grid by the number of rows, and nothing below 1.
func relaxTimeChoices(t *table.Table) []experiment.Choice {
	var out []experiment.Choice
	for cell, g := range t.Group("cell") {
		for _, v := range rules {
			if c := g.Where("method", v.name).Values("c"); len(c) > 0 {
				out = append(out, experiment.Choice{What: cell + ", " + v.name + ": C", Grid: mainSettings.Cs, Chosen: c})
			}
		}
	}
	return out
}

// everyTicks are the ticks of an axis of updates between projections, logarithmic, on which "end" stands at 1000.
func everyTicks() (at []float64, ticks []plots.Tick) {
	for _, q := range everyUpdates {
		x := float64(q)
		if q == 0 {
			x = 1000
		}
		at, ticks = append(at, x), append(ticks, plots.Tick{At: x, Label: everyName(q)})
	}
	return at, ticks
}

func drawRelaxTime(t, times *table.Table) (plots.Drawing, error) {
	if t.Len() == 0 || times.Len() == 0 {
		return plots.Missing("times on any database"), nil
	}
	d := plots.Drawing{Columns: 2, Text: &plots.TextTable{Head: []string{"database", "rule", "updates between projections", "CPU time (ms)", "test error (%)", "updates", "steps"}}}
	at, ticks := everyTicks()
	for cell, of := range t.Group("cell") {
		p := plots.Panel{Title: cell, XLabel: "updates between projections", YLabel: "CPU time (ms)", XLog: true, YLog: true, XTicks: ticks}
		for _, v := range rules {
			line := styles.Line(v.name)
			for j, q := range everyUpdates {
				g := of.Where("method", v.name, "at", everyName(q))
				logs := relaxSeconds(times, v.name, q).Map(func(s float64) float64 { return math.Log(1e3 * s) })(of)
				if len(logs) == 0 {
					continue
				}
				mean, half := judge.SummarizeResampled(logs, ofTimes(t).TestRatio).Interval()
				line.X, line.Y = append(line.X, at[j]), append(line.Y, math.Exp(mean))
				line.Lo, line.Hi = append(line.Lo, math.Exp(mean-half)), append(line.Hi, math.Exp(mean+half))
				d.Text.Rows = append(d.Text.Rows, []string{cell, v.name, everyName(q), fmt.Sprintf("%.3g", math.Exp(mean)), fmt.Sprintf("%.2f", 100*stat.Mean(g.Values("error"), nil)),
					fmt.Sprintf("%.0f", stat.Mean(g.Values("updates"), nil)), fmt.Sprintf("%.0f", stat.Mean(g.Values("steps"), nil))})
			}
			p.Marks = append(p.Marks, line)
		}
		d.Panels = append(d.Panels, p)
	}
	d.Caption = plots.Caption{
		Shows: "CPU time of the T steps and the projection at the end, with the matrix projected on the positive semi-definite cone, and b made at least 1, after every q updates. q = 1 is the paper's ⁺, \"end\" its ⁻.",
		Protocol: fmt.Sprintf("A projection of several eigenvalues needs all eigenpairs, that of one at each step only the least. C and k are chosen for each q by the error on validation rows, which is not timed. "+
			"Small databases are learned %d times in a row.", repeatsOfSmall),
		Intervals: fmt.Sprintf("Geometric means over %d random splits; bands are corrected resampled 95 %% t intervals of the logarithm.", len(t.Unique("trial"))),
	}
	return d, nil
}

var relaxChoiceView = frame.View{
	Text:    &frame.Text{By: []string{"cell", "database", "method", "rule"}, Cells: relaxChoiceCells()},
	Missing: "choices on any database",
	Caption: func(*table.Table) plots.Caption {
		return plots.Caption{Shows: "C chosen by the error on validation rows: lower median over the splits, with the least and the largest.", Protocol: "The grid has seven values from 10⁻⁴ to 10²; of equals the smallest is taken."}
	},
}

func relaxChoiceCells() (cells []frame.Cell) {
	for _, q := range everyUpdates {
		cells = append(cells, frame.Cell{Head: "q = " + everyName(q), Of: func(t *table.Table) string {
			c := slices.Sorted(slices.Values(t.Where("at", everyName(q)).Values("c")))
			if len(c) == 0 {
				return "–"
			}
			return fmt.Sprintf("%s (%s to %s)", table.Format(c[(len(c)-1)/2]), table.Format(c[0]), table.Format(c[len(c)-1]))
		}})
	}
	return cells
}
