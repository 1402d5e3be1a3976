package rmp2007

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets"
	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners/cluster"
	"metriclab/pkg/learners/mapping"
	"metriclab/pkg/plots"
	"metriclab/pkg/random"
	"metriclab/pkg/table"
)

// objectiveImages is T, that of Fig. 3.
const objectiveImages = 50

// Objective is the paper's objective (3) of online feature selection, against a map that is certified.
var Objective = experiment.Spec{
	ID:      "rmp2007/objective",
	Title:   "Online feature selection: regret (3) of RMP on pixels against a best map that is bounded from below",
	Source:  "Section 5.2, Eq. (3)",
	Version: 1,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		methods := map[string]int{"RMP": mapping.RMPVersion, "k-medoids": cluster.KMedoidsVersion}
		return digitCells(scale, objectiveImages, methods, func(s digitSettings) any {
			s.Variants = s.Variants[:3] // the walk aside, which has no part in (3)
			return s
		})
	},
	Trials: experiment.Trials(6),
	Kinds: []experiment.Kind{
		{Name: "best", Meaning: "the best map in hindsight, and what is proved of it"},
		{Name: "loss", Meaning: "losses of RMP so far"},
	},
	Columns: objectiveColumns,
	Trial:   objectiveTrial,
	Views:   []experiment.View{{Name: "objective", Title: "Objective (3) in online feature selection", Draw: drawObjective}},
	Claims:  objectiveClaims,
	Cost:    30 * time.Second,
}

var objectiveColumns = experiment.Columns{
	experiment.Text("kind", "what the row is of"),
	experiment.Text("m", "most prototypes of the map"),
	experiment.Text("method", "variant of RMP; best: the distortion").In("best", "loss"),
	experiment.Text("round", "images so far").In("loss"),
	experiment.Number("loss", "", "sum over images and pixels of the distortion so far; best: of all images").In("best", "loss"),
	experiment.Number("against", "", "the same of the map that is best after all images").In("loss"),
	experiment.Number("lower", "", "proved bound: no map costs less after all images").In("best"),
	experiment.Number("pixels", "", "number of pixels").In("best"),
}

// objectiveCheckpoints are the numbers of images at which losses are kept.
func objectiveCheckpoints(images int) []int {
	var out []int
	for k := 1; k <= 10; k++ {
		out = append(out, k*images/10)
	}
	return out
}

func objectiveTrial(ctx context.Context, run *experiment.Run) error {
	s := run.Cell.Settings.(digitSettings)
	train, _, err := openDigits(run.Env, run.Seed, 1000, 500)
	if err != nil {
		return err
	}
	idx, err := s.Task.draw(run.Seed.Stream("images "+s.Task.String()), train, s.Images)
	if err != nil {
		return err
	}
	x := train.Rows(idx, datasets.Scale01)
	_, pixels := x.Dims()
	cost := mat.NewDense(pixels, pixels, nil)
	best := map[string][]int{} // by distortion and m
	for _, d := range distortions {
		total := mat.NewDense(pixels, pixels, nil)
		for t := range s.Images {
			total.Add(total, pixelCosts(cost, x.RawRowView(t), compare[d]).Cost)
		}
		for _, m := range s.M {
			name := fmt.Sprintf("%s %d", d, m)
			found, err := findOptimum(ctx, total, m, 10, run.Seed.Stream("best map "+s.Task.String()+" "+name))
			if err != nil {
				return err
			}
			best[name] = found.Prototype
			run.Rows.Add(table.Key{"kind": "best", "m": strconv.Itoa(m), "method": string(d)},
				table.Values{"loss": found.Cost, "lower": found.Lower, "pixels": float64(pixels)})
		}
	}
	kept := objectiveCheckpoints(s.Images)
	for _, m := range s.M {
		for _, v := range s.Variants {
			if err := v.pay(ctx, run.Seed, x, s.Task, m, best[fmt.Sprintf("%s %d", v.distortion, m)], func(n int, loss, against float64) {
				for _, at := range kept {
					if n == at {
						run.Rows.Add(table.Key{"kind": "loss", "m": strconv.Itoa(m), "method": v.name, "round": strconv.Itoa(n)}, table.Values{"loss": loss, "against": against})
					}
				}
			}); err != nil {
				return fmt.Errorf("%s, m = %d: %w", v.name, m, err)
			}
		}
	}
	return nil
}

// pay runs RMP over the images, one per row of x, and calls after with what it and the map pi have paid so far.
func (v mapVariant) pay(ctx context.Context, seed random.Seed, x *mat.Dense, task digitTask, m int, pi []int, after func(n int, loss, against float64)) error {
	images, pixels := x.Dims()
	l, err := newRMP(seed.PCG(fmt.Sprintf("maps %s %d %s", task, m, v.name)), v.rule, pixels, pixels, images, mapping.RMPParams{M: m, Sampler: v.sampler, ChainSteps: v.steps})
	if err != nil {
		return err
	}
	cost := mat.NewDense(pixels, pixels, nil)
	loss, against := 0.0, 0.0
	for t := range images {
		if err := ctx.Err(); err != nil {
			return err
		}
		f := pixelCosts(cost, x.RawRowView(t), compare[v.distortion])
		o, err := l.Step(f)
		if err != nil {
			return err
		}
		loss, against = loss+o.Loss, against+lossOf(pi, f)
		after(t+1, loss, against)
	}
	return nil
}

// objectiveRegret is (3) after so many images, by trial, and the number of images in all.
func objectiveRegret(t *table.Table, task digitTask, m int, variant string, half bool) ([]float64, int) {
	g := t.Where("kind", "loss", "cell", task.String(), "m", strconv.Itoa(m), "method", variant)
	images := experiment.Last("losses of "+variant, shown(g, "round"))
	at := images
	if half {
		at = images / 2
	}
	g = g.Where("round", strconv.Itoa(at))
	return judge.Minus(g.Values("loss"), g.Values("against")), images
}

// objectiveVariants are the names of the variants.
func objectiveVariants() []string {
	var out []string
	for _, v := range mapVariants[:3] {
		out = append(out, v.name)
	}
	return out
}

var objectiveClaims = experiment.Claims([]experiment.Claim{
	{
		ID:        "objective-sublinear",
		View:      "objective",
		Title:     "The algorithm performs nearly as well as the best offline map in hindsight, in the long run.",
		Statement: "The goal of the algorithm is to perform nearly as well as the best offline map in hindsight, that is, to minimize (3); we can prove bounds on how well our method will perform in the long run.",
		Where:     "Section 5.2, Eq. (3)", Theirs: "no number",
		Predicate: "Twice the regret (3) at half of the 50 images − that at the end > 0, paired, for both tasks and both m: it grows less than linearly. Readings: each variant of RMP (distortion, η).",
		Test: func(t *table.Table) judge.Test {
			return judge.Under(objectiveVariants(), func(variant string) judge.Test {
				return judge.Positive{Units: taskUnits(func(task digitTask, m int) []float64 {
					half, _ := objectiveRegret(t, task, m, variant, true)
					end, _ := objectiveRegret(t, task, m, variant, false)
					for i := range half {
						half[i] *= 2
					}
					return judge.Minus(half, end)
				})}
			})
		},
	},
	{
		ID:        "objective-bound",
		View:      "objective",
		Title:     "Theorem 2.1 gives a performance guarantee for the dynamically chosen feature set, by the measure in (3).",
		Statement: "Due to Theorem 2.1, we have a performance guarantee for the dynamically chosen feature set, at least with respect to the measure in (3).",
		Where:     "Section 5.2, after the protocol", Theirs: "the printed bound",
		Predicate: "The regret (3) after 50 images is at most the printed bound with δ = 0.05, in every trial, for both tasks and both m. Where the bound is above A·T, which no regret exceeds, it cannot fail. Readings: each variant of RMP (distortion, η).",
		Test: func(t *table.Table) judge.Test {
			return judge.Under(objectiveVariants(), func(variant string) judge.Test {
				var holds judge.Holds
				says := false
				for _, task := range digitTasks {
					pixels := int(experiment.Whole("rmp2007: pixels", experiment.NotEmpty("best maps", t.Where("kind", "best", "cell", task.String()).Values("pixels"))[0], 1, largestSide*largestSide))
					for _, m := range featureCounts {
						regrets, images := objectiveRegret(t, task, m, variant, false)
						bound := mapping.PrintedRegretBound(pixels, pixels, m, images, confidence)
						says = says || bound < float64(pixels*images)
						if holds == nil {
							holds = make(judge.Holds, len(regrets))
							for i := range holds {
								holds[i] = true
							}
						}
						if len(regrets) != len(holds) {
							judge.Refuse("rmp2007: %s, m = %d: %d trials, want %d", task, m, len(regrets), len(holds))
						}
						for i, r := range regrets {
							holds[i] = holds[i] && r <= bound
						}
					}
				}
				if says {
					return holds
				}
				return judge.Check{Test: holds, Why: "No regret exceeds A·T, and the bound is above it."}
			})
		},
	},
})

func drawObjective(t *table.Table) (plots.Drawing, error) {
	d := plots.Drawing{Columns: 2, Text: &plots.TextTable{Head: []string{"task", "m", "variant", "regret (3)", "in % of the best map's loss", "the best map's gap (%)"}}}
	for _, task := range digitTasks {
		for _, m := range featureCounts {
			g := t.Where("kind", "loss", "cell", task.String(), "m", strconv.Itoa(m))
			if g.Len() == 0 {
				continue
			}
			p := plots.Panel{Title: fmt.Sprintf("%s, m = %d", task.title(), m), XLabel: "images", YLabel: "regret (3)"}
			for k, v := range mapVariants[:3] {
				line := plots.Line{Name: v.name, Color: k}
				for at, r := range g.Where("method", v.name).Group("round") {
					addMean(&line, float64(whole("round", at)), 1, judge.Minus(r.Values("loss"), r.Values("against")))
				}
				p.Marks = append(p.Marks, line)
				b := t.Where("kind", "best", "cell", task.String(), "m", strconv.Itoa(m), "method", string(v.distortion))
				regrets, _ := objectiveRegret(t, task, m, v.name, false)
				loss := judge.Summarize(b.Values("loss")).Mean
				mean, half := judge.Summarize(regrets).Interval()
				d.Text.Rows = append(d.Text.Rows, []string{task.String(), strconv.Itoa(m), v.name, fmt.Sprintf("%.0f ± %.0f", mean, half), fmt.Sprintf("%.1f", 100*mean/loss),
					fmt.Sprintf("%.2g", 100*(1-judge.Summarize(b.Values("lower")).Mean/loss))})
			}
			d.Panels = append(d.Panels, p)
		}
	}
	if len(d.Panels) == 0 {
		return plots.Missing("losses of any task"), nil
	}
	d.Caption = plots.Caption{Shows: "Regret (3) of the pixels that RMP chooses, image by image, against the map that is best after all of them (" + digitsShown(experiment.NotEmpty("best maps", t.Where("kind", "best").Values("pixels"))[0]) +
		"). The best map is the best of 10 runs of FasterPAM; its gap is the share by which a proved lower bound is below its loss, so that a regret against the true optimum is larger by at most that share of the loss. " + describeVariants + " " + trialsNote(t)}
	return d, nil
}
