package rmp2007

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/datasets"
	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners/classify"
	"metriclab/pkg/learners/linear"
	"metriclab/pkg/learners/mapping"
	"metriclab/pkg/metric"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// Overfit is how much better ridge regression does on the images that pixels were chosen on than on others.
var Overfit = experiment.Spec{
	ID:      "rmp2007/overfit",
	Title:   "Pixels chosen without and with labels: training error against test error",
	Source:  "Section 5.2 (\"by selecting features without labels, we are less prone to overfitting\"), which has no experiment",
	Ours:    true,
	Version: 1,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		checkpoints := []int{10, 20, 50, 100}
		if scale == experiment.Smoke {
			checkpoints = []int{10, 20, 50}
		}
		methods := map[string]int{"RMP": mapping.RMPVersion, "RFE": linear.RFEVersion, "SVM": linear.SVMVersion, "ridge": linear.RidgeVersion}
		return digitCells(scale, slices.Max(checkpoints), methods, func(s digitSettings) any {
			s.Variants = slices.DeleteFunc(slices.Clone(s.Variants), func(v mapVariant) bool { return !slices.Contains(overfitVariants, v.name) })
			return overfitSettings{s, checkpoints, rfeStrengths, fixedStrength}
		})
	},
	Trials:  experiment.Trials(10),
	Columns: overfitColumns,
	Trial:   overfitTrial,
	Views:   []experiment.View{{Name: "overfit", Title: "Test error minus training error of ridge regression on chosen pixels", Draw: drawOverfit}},
	Claims:  overfitClaims,
	Cost:    16 * time.Second,
}

// overfitVariants are those of mapVariants that are played: η as printed and as corrected.
var overfitVariants = []string{"squared, printed eta", "squared, corrected eta"}

// overfitSettings are the settings of a cell.
type overfitSettings struct {
	digitSettings
	Checkpoints []int     `key:"checkpoints"`
	C           []float64 `key:"C"`     // of the support vector machine in RFE
	Ridge       float64   `key:"ridge"` // strength beside the one by generalised cross-validation
}

// The ridges that judge, as the table names them.
const (
	ridgeGCV   = "cross-validated"
	ridgeFixed = "fixed"
)

var overfitColumns = experiment.Columns{
	experiment.Text("method", "how the pixels are chosen"),
	experiment.Text("variant", "settings of RMP or RFE"),
	experiment.Text("m", "most pixels that may be chosen; empty for all pixels"),
	experiment.Text("ridge", "how the strength of ridge regression is set: by generalised cross-validation, or fixed"),
	experiment.Text("images", "training images seen"),
	experiment.Number("seen_error", "share", "of the images seen that are classified wrongly"),
	experiment.Number("error", "share", "of the test images that are classified wrongly"),
	experiment.Number("seen_loss", "", "mean squared residual on the images seen, targets −1 and 1"),
	experiment.Number("loss", "", "the same on the test images"),
}

// An overfitStream is the images of one trial, first to last, and the test images.
type overfitStream struct {
	x, tested *mat.Dense
	y, truth  []classify.Label
	ridge     float64
	rows      *table.Table
}

// judge fits ridge regression to the first n images on some pixels, once per ridge, and adds its errors and losses on
// these images and on the test images.
func (s *overfitStream) judge(ctx context.Context, key table.Key, n int, pixels []int) error {
	targets, err := classify.Targets(s.y[:n])
	if err != nil {
		return err
	}
	truth, err := classify.Targets(s.truth)
	if err != nil {
		return err
	}
	_, d := s.x.Dims()
	seen, tested := columns(s.x.Slice(0, n, 0, d).(*mat.Dense), pixels), columns(s.tested, pixels)
	for _, kind := range []string{ridgeGCV, ridgeFixed} {
		strength := 0.0
		if kind == ridgeFixed {
			strength = s.ridge
		}
		ridge, err := linear.FitRidge(ctx, seen, targets, linear.RidgeParams{Strength: strength})
		if err != nil {
			return err
		}
		v := table.Values{}
		v["seen_error"], v["seen_loss"] = errorsOf(ridge, seen, s.y[:n], targets)
		v["error"], v["loss"] = errorsOf(ridge, tested, s.truth, truth)
		s.rows.Add(table.Key{"method": key["method"], "variant": key["variant"], "m": key["m"], "ridge": kind, "images": strconv.Itoa(n)}, v)
	}
	return nil
}

// errorsOf returns the share of rows that a hyperplane classifies wrongly, and its mean squared residual.
func errorsOf(h *linear.Ridge, x *mat.Dense, want []classify.Label, targets []float64) (wrong, loss float64) {
	n := float64(len(targets))
	for i, y := range targets {
		r := h.Predict(x.RawRowView(i)).Score - y
		loss += r * r / n
	}
	return float64(h.Errors(x, want)) / n, loss
}

func overfitTrial(ctx context.Context, run *experiment.Run) error {
	set := run.Cell.Settings.(overfitSettings)
	task := set.Task
	train, test, err := openDigits(run.Env, run.Seed, 1000, 500)
	if err != nil {
		return err
	}
	idx, err := task.draw(run.Seed.Stream("images "+task.String()), train, set.Images)
	if err != nil {
		return err
	}
	held := test.Filter(test.All(), task.A, task.B)
	s := &overfitStream{
		x: train.Rows(idx, datasets.Scale01), y: task.labels(train.Y(idx)),
		tested: test.Rows(held, datasets.Scale01), truth: task.labels(test.Y(held)),
		ridge: set.Ridge, rows: run.Rows,
	}
	all := make([]int, train.Dim())
	for j := range all {
		all[j] = j
	}
	random, order := run.Seed.Stream("random pixels "+task.String()), run.Seed.Stream("order of the rows "+task.String())
	for _, n := range set.Checkpoints {
		if err := s.judge(ctx, table.Key{"method": fig2All}, n, all); err != nil {
			return err
		}
		for _, m := range set.M {
			if err := s.judge(ctx, table.Key{"method": fig2Random, "m": strconv.Itoa(m)}, n, slices.Sorted(slices.Values(random.Perm(len(all))[:m]))); err != nil {
				return err
			}
		}
		for _, c := range set.C {
			rfe, err := linear.FitRFE(ctx, order, s.x.Slice(0, n, 0, len(all)), s.y[:n], linear.RFEParams{SVM: linear.SVMParams{C: c}})
			if err != nil {
				return err
			}
			for _, m := range set.M {
				if err := s.judge(ctx, table.Key{"method": fig2RFE, "variant": rfeName(c), "m": strconv.Itoa(m)}, n, rfe.Top(m)); err != nil {
					return err
				}
			}
		}
	}
	for _, v := range set.Variants {
		for _, m := range set.M {
			err := v.follow(ctx, run.Seed, s.x, task, m, func(n int, l *mapping.RMP, round metric.CostRound) error {
				if !slices.Contains(set.Checkpoints, n) {
					return nil
				}
				return s.judge(ctx, table.Key{"method": fig2RMP, "variant": v.name, "m": strconv.Itoa(m)}, n, image(l.Predict(round)))
			})
			if err != nil {
				return fmt.Errorf("%s, m = %d: %w", v.name, m, err)
			}
		}
	}
	return nil
}

// gapOf names a quantity that is compared on images seen and on test images.
type gapOf string

const (
	gapError gapOf = "error"
	gapLoss  gapOf = "loss"
)

var gapsOf = []gapOf{gapError, gapLoss}

// gap returns a quantity on the test images minus that on the images seen, by trial, after n images.
func (w fig2Way) gap(t *table.Table, q gapOf, task digitTask, m, n int) []float64 {
	g := w.overfitRows(t, task, m, n)
	return judge.Minus(g.Values(string(q)), g.Values("seen_"+string(q)))
}

func (w fig2Way) overfitRows(t *table.Table, task digitTask, m, n int) *table.Table {
	ridge := ridgeGCV
	if w.fixed {
		ridge = ridgeFixed
	}
	return w.of(t, task, m).Where("ridge", ridge, "images", strconv.Itoa(n))
}

// overfitWays are RMP by its two η, RFE by its C, random pixels and all pixels.
func overfitWays() (rmps, rfes, rest []fig2Way) {
	for _, w := range fig2Ways() {
		switch {
		case w.method == fig2RFE:
			rfes = append(rfes, w)
		case slices.Contains(overfitVariants, w.variant):
			rmps = append(rmps, w)
		}
	}
	return rmps, rfes, fig2Main[2:]
}

// overfitPairs are the ways to compare RMP with RFE: each η against C = 100, η printed against the other C, and with
// the fixed ridge.
func overfitPairs() []fig2Pair {
	var out []fig2Pair
	add := func(a, b fig2Way) { out = append(out, fig2Pair{a.name + " against " + b.name, a, b}) }
	rmps, rfes, _ := overfitWays()
	for _, w := range rmps {
		add(w, rfes[0])
	}
	for _, w := range rfes[1:] {
		add(rmps[0], w)
	}
	add(rmps[0].withFixed(), rfes[0].withFixed())
	return out
}

// gapLead returns RFE's gap minus RMP's, the mean over the checkpoints that keep holds of, by trial.
func gapLead(t *table.Table, p fig2Pair, q gapOf, task digitTask, m int, keep func(n int) bool) []float64 {
	checkpoints := slices.DeleteFunc(shown(t, "images"), func(n int) bool { return !keep(n) })
	var sum []float64
	for _, n := range experiment.NotEmpty("checkpoints of the claim", checkpoints) {
		lead := judge.Minus(p.rfe.gap(t, q, task, m, n), p.rmp.gap(t, q, task, m, n))
		if sum == nil {
			sum = make([]float64, len(lead))
		}
		judge.SameLength(fmt.Sprintf("rmp2007: task %s, m = %d, %d images: %s", task, m, n, p.name), sum, lead)
		floats.Add(sum, lead)
	}
	floats.Scale(1/float64(len(checkpoints)), sum)
	return sum
}

// underGaps tests a claim under all readings: each pair of ways, by errors and by squared residuals.
func underGaps(units func(p fig2Pair, q gapOf) []judge.Unit) judge.Test {
	var out judge.Readings
	for _, q := range gapsOf {
		rule := fig2Rule
		if q == gapLoss {
			rule = judge.Rule{}
		}
		for _, p := range overfitPairs() {
			out = append(out, judge.Reading{Name: fmt.Sprintf("%s; %s", q, p.name), Test: judge.Positive{Units: units(p, q), Rule: rule}})
		}
	}
	return out
}

const (
	overfitNote  = " Readings: by classification error and by squared residual; η printed and corrected against RFE with C = 100, η printed against C = 1 and C = 0.01, and both main ones with a ridge of strength 1 in place of generalised cross-validation."
	overfitKnown = "the test errors of Fig. 2, which are one side of each gap"
)

var overfitClaims = experiment.Claims([]experiment.Claim{
	{
		ID:         "overfit-less",
		View:       "overfit",
		Statement:  "By selecting features without labels, we are less prone to overfitting.",
		Where:      "Section 5.2, advantages of objective (3)",
		Afterwards: overfitKnown, Theirs: "no number",
		Predicate: "RFE's gap, test minus training, minus RMP's, averaged over 10, 20, 50 and 100 images and paired by trial, is positive on each of the four curves (task and m)." + overfitNote,
		Test: func(t *table.Table) judge.Test {
			return underGaps(func(p fig2Pair, q gapOf) []judge.Unit {
				return taskUnits(func(task digitTask, m int) []float64 {
					return gapLead(t, p, q, task, m, func(int) bool { return true })
				})
			})
		},
	},
	{
		ID:         "overfit-few",
		View:       "overfit",
		Statement:  "... less prone to overfitting, especially when there is a large number of features but only few data points.",
		Where:      "Section 5.2, advantages of objective (3)",
		Afterwards: overfitKnown, Theirs: "no number",
		Predicate: "The lead of overfit-less at up to 20 images minus that from 50 on, paired by trial, is positive on each of the four curves; the number of features is that of the pixels." + overfitNote,
		Test: func(t *table.Table) judge.Test {
			return underGaps(func(p fig2Pair, q gapOf) []judge.Unit {
				return taskUnits(func(task digitTask, m int) []float64 {
					return judge.Minus(gapLead(t, p, q, task, m, isFew), gapLead(t, p, q, task, m, isEnough))
				})
			})
		},
	},
})

func drawOverfit(t *table.Table) (plots.Drawing, error) {
	if t.Len() == 0 {
		return plots.Missing("errors of any task"), nil
	}
	checkpoints := shown(t, "images")
	rmps, rfes, rest := overfitWays()
	d := plots.Drawing{Columns: 2, Text: &plots.TextTable{Head: []string{"task", "m", "method", "images", "error on images seen (%)", "test error (%)", "gap (points)", "gap of squared residuals"}}}
	for _, task := range digitTasks {
		for _, m := range featureCounts {
			p := plots.Panel{Title: fmt.Sprintf("%s, m = %d", task.title(), m), XLabel: "images seen", YLabel: "test − training error (points)", XLog: true}
			for k, w := range slices.Concat(rmps, rfes, rest) {
				line := plots.Line{Name: w.name, Color: k}
				for _, n := range checkpoints {
					g := w.overfitRows(t, task, m, n)
					if g.Len() == 0 {
						continue
					}
					gap := w.gap(t, gapError, task, m, n)
					addMean(&line, float64(n), 100, gap)
					d.Text.Rows = append(d.Text.Rows, []string{task.title(), strconv.Itoa(m), w.name, strconv.Itoa(n), fmt.Sprintf("%.1f", 100*stat.Mean(g.Values("seen_error"), nil)),
						fmt.Sprintf("%.1f", 100*stat.Mean(g.Values("error"), nil)), judge.Summarize(gap).Percent(), plusMinus(w.gap(t, gapLoss, task, m, n))})
				}
				if k == 1 || w.method == fig2Random { // bands of all would hide each other
					line.Lo, line.Hi = nil, nil
				}
				// C = 1 and 0.01 stand in the table only, as does the gap of all pixels.
				if w.method != fig2All && k != len(rmps)+1 && k != len(rmps)+2 {
					p.Marks = append(p.Marks, line)
				}
			}
			d.Panels = append(d.Panels, p)
		}
	}
	d.Caption = plots.Caption{Shows: fmt.Sprintf("Test error minus training error of ridge regression on at most m pixels chosen on the same images (ours; the paper only says that choosing without labels overfits less). Strength by generalised cross-validation on the images seen, of 25 from 10⁻⁸ to 100 times the largest eigenvalue of their scatter; which one is not kept, and it can be an end. "+
		"RMP sees no labels (squared distortion; η as printed or corrected for %d images, R = 5000 steps of Algorithm 2 per image, 500 at smoke scale); RFE sees them. A gap counts all overfitting, that of the choice and that of the regression after it; random pixels show the latter alone. "+
		"Bands are 95 %% intervals of RMP with η printed and of RFE; those of the others are in the table. Data: MNIST, built-in glyphs at smoke scale. %s The test images are the same in all trials: the intervals do not cover other test images.", slices.Max(checkpoints), trialsNote(t))}
	return d, nil
}
