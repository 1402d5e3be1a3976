package digits

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"metriclab/pkg/datasets"
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners/cluster"
	"metriclab/pkg/learners/mapping"
	"metriclab/pkg/metric"
	"metriclab/pkg/papers/rmp2007/clusters"
	"metriclab/pkg/papers/rmp2007/protocol"
	"metriclab/pkg/plots"
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
		return protocol.DigitCells(scale, objectiveImages, methods, func(s protocol.DigitSettings) any {
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
	Views:   []experiment.View{{Name: "objective", Title: "Objective (3) in online feature selection", Draw: objectiveView.Draw}},
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

func objectiveTrial(ctx context.Context, run *experiment.Run) error {
	s := run.Cell.Settings.(protocol.DigitSettings)
	train, _, idx, err := s.Task.Open(run, s.Images)
	if err != nil {
		return err
	}
	x := train.Rows(idx, datasets.Scale01)
	_, pixels := x.Dims()
	best := map[string][]int{} // by distortion and m
	for _, d := range protocol.Distortions {
		total := protocol.TotalCosts(x, protocol.Compare[d])
		for _, m := range s.M {
			name := fmt.Sprintf("%s %d", d, m)
			found, err := clusters.FindOptimum(ctx, total, m, 10, run.Seed.Stream("best map "+s.Task.String()+" "+name))
			if err != nil {
				return err
			}
			best[name] = found.Prototype
			run.Rows.Add(table.Key{"kind": "best", "m": strconv.Itoa(m), "method": string(d)},
				table.Values{"loss": found.Cost, "lower": found.Lower, "pixels": float64(pixels)})
		}
	}
	for _, m := range s.M {
		for _, v := range s.Variants {
			loss, against := 0.0, 0.0
			pi := best[fmt.Sprintf("%s %d", v.Distortion, m)]
			if err := v.Follow(ctx, run.Seed, x, s.Task, m, func(n int, _ *mapping.RMP, f metric.CostRound, paid float64) error {
				loss, against = loss+paid, against+protocol.LossOf(pi, f)
				if slices.Contains(clusters.EveryTenth(s.Images), n) {
					run.Rows.Add(table.Key{"kind": "loss", "m": strconv.Itoa(m), "method": v.Name, "round": strconv.Itoa(n)}, table.Values{"loss": loss, "against": against})
				}
				return nil
			}); err != nil {
				return fmt.Errorf("%s, m = %d: %w", v.Name, m, err)
			}
		}
	}
	return nil
}

// objectiveRegret is (3), of rows of losses.
var objectiveRegret = protocol.Losses.Minus(frame.Column("against"))

// objectiveVariants are the names of the variants.
var objectiveVariants = protocol.VariantNames()[:3]

var objectiveClaims = experiment.Claims([]experiment.Claim{
	{
		ID:        "objective-sublinear",
		Title:     "The algorithm performs nearly as well as the best offline map in hindsight, in the long run.",
		Statement: "The goal of the algorithm is to perform nearly as well as the best offline map in hindsight, that is, to minimize (3); we can prove bounds on how well our method will perform in the long run.",
		Where:     "Section 5.2, Eq. (3)", Theirs: "no number",
		Predicate: "Twice the regret (3) at half of the 50 images − that at the end > 0, paired, for both tasks and both m: it grows less than linearly. Readings: each variant of RMP (distortion, η).",
		Test: frame.UnderNames(objectiveVariants, func(variant string) frame.Test {
			return frame.Positive(judge.Rule{}, protocol.OverCurves(func(c protocol.Curve) frame.Measure {
				return protocol.Sublinear(objectiveRegret).Where(c.Of("kind", "loss", "method", variant)...)
			}))
		}),
	},
	{
		ID:        "objective-bound",
		Title:     "Theorem 2.1 gives a performance guarantee for the dynamically chosen feature set, by the measure in (3).",
		Statement: "Due to Theorem 2.1, we have a performance guarantee for the dynamically chosen feature set, at least with respect to the measure in (3).",
		Where:     "Section 5.2, after the protocol", Theirs: "the printed bound",
		Predicate: "The regret (3) after 50 images is at most the printed bound with δ = 0.05, in every trial, for both tasks and both m. Where the bound is above A·T, which no regret exceeds, it cannot fail. Readings: each variant of RMP (distortion, η).",
		Test: frame.UnderNames(objectiveVariants, func(variant string) frame.Test {
			return func(t *table.Table) judge.Test {
				says := false
				holds := frame.Always(func(trial *table.Table) bool {
					return !slices.ContainsFunc(protocol.Curves, func(c protocol.Curve) bool {
						g := trial.Where(c.Of("kind", "loss", "method", variant)...)
						pixels, images := experiment.Whole("rmp2007: pixels", experiment.First(trial.Where(c.Of("kind", "best")...), "pixels"), 1, protocol.LargestSide*protocol.LargestSide), protocol.LastRound(g)
						bound := mapping.PrintedRegretBound(pixels, pixels, c.M, images, clusters.Confidence)
						says = says || bound < float64(pixels*images)
						return slices.Max(experiment.NotEmpty("regrets", protocol.After(10, objectiveRegret)(g))) > bound
					})
				})(t)
				if says {
					return holds
				}
				return judge.Check{Test: holds, Why: "No regret exceeds A·T, and the bound is above it."}
			}
		}),
	},
})

var objectiveView = frame.View{
	From:    protocol.ByTask,
	Columns: 2,
	Panels: frame.PerGroup(func(cells []string) frame.Panel {
		return frame.Panel{
			Panel: plots.Panel{Title: cells[0] + ", m = " + cells[1], XLabel: "images", YLabel: "regret (3)"},
			Of:    frame.Lines("method", variantStyles.Lines(objectiveVariants...), "round", objectiveRegret, frame.Band{}),
		}
	}, "task", "m").Where("kind", "loss"),
	Text: objectiveText(),
	Caption: func(t *table.Table) plots.Caption {
		return frame.Says("Regret (3) of the pixels that RMP chooses, image by image, against the map that is best after all of them.",
			"Images of "+protocol.DigitsShown(experiment.First(t.Where("kind", "best"), "pixels"))+".",
			"The best map is the best of 10 runs of FasterPAM. Its gap is the share by which a proved lower bound is below its loss: a regret against the true optimum is larger by at most that share of the loss. "+protocol.DescribeVariants, protocol.TrialsCover)(t)
	},
	Missing: "losses of any task",
}

// objectiveText has a row per curve and variant.
func objectiveText() *frame.Text {
	out := &frame.Text{Head: []string{"task", "m", "variant", "regret (3)", "in % of the best map's loss", "the best map's gap (%)"}}
	for _, c := range protocol.Curves {
		for _, v := range protocol.MapVariants[:3] {
			best := func(column string) frame.Measure {
				return frame.Column(column).Where("kind", "best", "method", string(v.Distortion)).Averaged()
			}
			regret := protocol.After(10, objectiveRegret).Where("kind", "loss", "method", v.Name)
			out.Rows = append(out.Rows, frame.Row{Names: []string{c.Task.String(), strconv.Itoa(c.M), v.Name}, Of: c.Of(), Cells: []frame.Cell{
				frame.PlusMinus("", regret, frame.Band{}, "%.0f"),
				frame.Of("", regret.Averaged().Over(best("loss")), protocol.Percent, "%.1f"),
				frame.Of("", best("lower").Over(best("loss")).Times(-1).Plus(1), protocol.Percent, "%.2g"),
			}})
		}
	}
	return out
}
