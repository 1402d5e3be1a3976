package rmp2007

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/datasets"
	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/classify"
	"metriclab/pkg/learners/linear"
	"metriclab/pkg/learners/mapping"
	"metriclab/pkg/metric"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// Methods of Fig. 2, as the table names them.
const (
	fig2RMP    = "RMP"
	fig2RFE    = "RFE"
	fig2Random = "random"
	fig2All    = "all pixels"
)

// Fig2 is one run per task for all panels of Fig. 2: test error of ridge regression on the pixels that each
// method has chosen after so many images.
var Fig2 = experiment.Spec{
	ID:      "rmp2007/fig2",
	Title:   "Pixels chosen by RMP, by recursive feature elimination and at random: test error against number of images",
	Source:  "Section 5.2, Fig. 2",
	Version: 1,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		checkpoints := fig2Checkpoints(scale)
		methods := map[string]int{"RMP": mapping.RMPVersion, "RFE": linear.RFEVersion, "SVM": linear.SVMVersion, "ridge": linear.RidgeVersion}
		return digitCells(scale, slices.Max(checkpoints), methods, func(s digitSettings) any {
			return fig2Settings{s, checkpoints, rfeStrengths, fixedStrength}
		})
	},
	Trials:  experiment.Trials(10),
	Columns: fig2Columns,
	Trial:   fig2Trial,
	Views: []experiment.View{
		{Name: "fig2", Title: "Fig. 2: error against number of images, four ways to choose pixels", Draw: drawFig2},
		{Name: "fig2-settings", Title: "Fig. 2 under the open settings of RMP and RFE", Draw: drawFig2Settings},
	},
	Claims: fig2Claims,
	Cost:   time.Minute,
}

// fig2Settings are the settings of a cell.
type fig2Settings struct {
	digitSettings
	Checkpoints []int     `key:"checkpoints"`
	C           []float64 `key:"C"`     // of the support vector machine in RFE
	Ridge       float64   `key:"ridge"` // strength beside the one by generalised cross-validation
}

var fig2Columns = experiment.Columns{
	experiment.Text("method", "how the pixels are chosen"),
	experiment.Text("variant", "settings of RMP or RFE"),
	experiment.Text("m", "most pixels that may be chosen; empty for all pixels"),
	experiment.Text("images", "training images seen"),
	experiment.Number("wrong", "", "test images classified wrongly, ridge strength by generalised cross-validation"),
	experiment.Number(wrongFixed, "", "test images classified wrongly, ridge strength as in the settings"),
	experiment.Number("tested", "", "test images of the two digits"),
	experiment.Number("features", "", "pixels chosen"),
	experiment.Number("pixels", "", "pixels of an image"),
	experiment.Number("converged", "", "1 if every fit of RFE's support vector machine converged, else 0"),
	experiment.Number("moved", "share", "steps of RMP's walk on the last image that changed the set"),
}

// fig2Checkpoints are the numbers of images after which pixels are chosen and judged.
func fig2Checkpoints(scale experiment.Scale) []int {
	if scale == experiment.Smoke {
		return []int{5, 20, 50}
	}
	return []int{5, 10, 20, 30, 50, 75, 100, 150, 200}
}

// fixedStrength is a strength of ridge regression on pixels from 0 to 1 beside the one by generalised cross-validation, which
// can take the largest of its grid where there are few images. It was set before the first full run.
const fixedStrength = 1.0

// wrongFixed is the column of errors with fixedStrength; those by generalised cross-validation are "wrong".
const wrongFixed = "wrong_fixed"

// rfeStrengths are the C of the support vector machine in RFE. The first is the main one: nearly no slack, since
// the paper names none. The paper's toolbox is not public any more.
var rfeStrengths = []float64{100, 1, 0.01}

func rfeName(c float64) string { return "C = " + table.Format(c) }

// fig2Stream is what one trial of a task works on.
type fig2Stream struct {
	x      *mat.Dense // images in the order in which they come
	y      []classify.Label
	tested *mat.Dense
	truth  []classify.Label
	ridge  float64 // strength of the second regression
	rows   *table.Table
}

// first returns the first n images of the stream.
func (s *fig2Stream) first(n int) *mat.Dense {
	_, d := s.x.Dims()
	return s.x.Slice(0, n, 0, d).(*mat.Dense)
}

// columns copies the given columns of x.
func columns(x *mat.Dense, features []int) *mat.Dense {
	n, _ := x.Dims()
	out := mat.NewDense(n, len(features), nil)
	for i := range n {
		from, to := x.RawRowView(i), out.RawRowView(i)
		for k, j := range features {
			to[k] = from[j]
		}
	}
	return out
}

// judge fits ridge regression to the first n images on the given pixels, its strength by generalised
// cross-validation on the same images or fixed, and adds its errors on the test images.
func (s *fig2Stream) judge(ctx context.Context, key table.Key, n int, features []int, more table.Values) error {
	targets, err := classify.Targets(s.y[:n])
	if err != nil {
		return err
	}
	x, tested := columns(s.first(n), features), columns(s.tested, features)
	_, pixels := s.x.Dims()
	v := table.Values{"tested": float64(len(s.truth)), "features": float64(len(features)), "pixels": float64(pixels)}
	for column, strength := range map[string]float64{"wrong": 0, wrongFixed: s.ridge} {
		ridge, err := linear.FitRidge(ctx, x, targets, linear.RidgeParams{Strength: strength})
		if err != nil {
			return err
		}
		wrong := 0.0
		for i, l := range ridge.Classify(tested) {
			if l != s.truth[i] {
				wrong++
			}
		}
		v[column] = wrong
	}
	maps.Copy(v, more)
	key["images"] = strconv.Itoa(n)
	s.rows.Add(key, v)
	return nil
}

func fig2Trial(ctx context.Context, run *experiment.Run) error {
	set := run.Cell.Settings.(fig2Settings)
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
	s := &fig2Stream{
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
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.judge(ctx, table.Key{"method": fig2All}, n, all, nil); err != nil {
			return err
		}
		for _, m := range set.M {
			chosen := random.Perm(len(all))[:m]
			slices.Sort(chosen)
			if err := s.judge(ctx, table.Key{"method": fig2Random, "m": strconv.Itoa(m)}, n, chosen, nil); err != nil {
				return err
			}
		}
		for _, c := range set.C {
			end := run.Lap("RFE")
			rfe, err := linear.FitRFE(ctx, order, s.first(n), s.y[:n], linear.RFEParams{SVM: linear.SVMParams{C: c}})
			end()
			if err != nil {
				return err
			}
			converged := 0.0
			if rfe.Status == learners.Converged {
				converged = 1
			}
			for _, m := range set.M {
				if err := s.judge(ctx, table.Key{"method": fig2RFE, "variant": rfeName(c), "m": strconv.Itoa(m)}, n, rfe.Top(m), table.Values{"converged": converged}); err != nil {
					return err
				}
			}
		}
	}
	for _, v := range set.Variants {
		for _, m := range set.M {
			end := run.Lap("RMP")
			err := v.follow(ctx, run.Seed, s.x, task, m, func(n int, l *mapping.RMP, round metric.CostRound) error {
				if !slices.Contains(set.Checkpoints, n) {
					return nil
				}
				return s.judge(ctx, table.Key{"method": fig2RMP, "variant": v.name, "m": strconv.Itoa(m)}, n, image(l.Predict(round)),
					table.Values{"moved": l.Diagnostics().Acceptance()})
			})
			end()
			if err != nil {
				return fmt.Errorf("%s, m = %d: %w", v.name, m, err)
			}
		}
	}
	return nil
}

// image returns the prototypes that a map uses, in ascending order.
func image(pi []int) []int {
	return slices.Compact(slices.Sorted(slices.Values(pi)))
}

// fig2Way is a method with its variant, as a figure shows it.
type fig2Way struct {
	name, method, variant string
	color                 int
	dashed                bool
	fixed                 bool // ridge regression of fixedStrength
}

// fig2Main are the four methods of the paper's figure.
var fig2Main = []fig2Way{
	{fig2RMP, fig2RMP, mapVariants[0].name, 0, false, false},
	{fig2RFE, fig2RFE, rfeName(rfeStrengths[0]), 1, false, false},
	{"random pixels", fig2Random, "", 2, false, false},
	{"all pixels", fig2All, "", plots.Grey, true, false},
}

// fig2Ways are all variants of RMP and RFE.
func fig2Ways() []fig2Way {
	var out []fig2Way
	for k, v := range mapVariants {
		out = append(out, fig2Way{fig2RMP + ": " + etaShown.Replace(v.name), fig2RMP, v.name, k, false, false})
	}
	for k, c := range rfeStrengths {
		out = append(out, fig2Way{fig2RFE + ": " + rfeName(c), fig2RFE, rfeName(c), len(mapVariants) + k, true, false})
	}
	return out
}

// etaShown turns the names of variants, which are keys, into what a reader sees.
var etaShown = strings.NewReplacer("eta", "η")

// withFixed returns the way with ridge regression of fixedStrength.
func (w fig2Way) withFixed() fig2Way {
	w.name += ", ridge " + table.Format(fixedStrength)
	w.fixed = true
	return w
}

// of returns the rows of a way in one task at one m.
func (w fig2Way) of(t *table.Table, task digitTask, m int) *table.Table {
	g := t.Where("cell", task.String(), "method", w.method, "variant", w.variant)
	if w.method != fig2All {
		g = g.Where("m", strconv.Itoa(m))
	}
	return g
}

// errors returns the error of each trial after n images.
func (w fig2Way) errors(t *table.Table, task digitTask, m, n int) []float64 {
	g := w.of(t, task, m).Where("images", strconv.Itoa(n))
	column := "wrong"
	if w.fixed {
		column = wrongFixed
	}
	out := slices.Clone(g.Values(column))
	floats.Div(out, g.Values("tested"))
	return out
}

// fig2Panels draws the ways' errors, a panel per task and m.
func fig2Panels(t *table.Table, ways []fig2Way, bands bool) []plots.Panel {
	checkpoints := shown(t, "images")
	var out []plots.Panel
	for _, task := range digitTasks {
		for _, m := range featureCounts {
			p := plots.Panel{Title: fmt.Sprintf("%s, m = %d", task.title(), m), XLabel: "images seen", YLabel: "test error (%)", XLog: true}
			for _, w := range ways {
				line := plots.Line{Name: w.name, Color: w.color, Dashed: w.dashed}
				for _, n := range checkpoints {
					if e := w.errors(t, task, m, n); len(e) > 0 {
						addMean(&line, float64(n), 100, e)
					}
				}
				if !bands {
					line.Lo, line.Hi = nil, nil
				}
				p.Marks = append(p.Marks, line)
			}
			out = append(out, p)
		}
	}
	return out
}

// fig2Protocol describes data and settings in captions.
func fig2Protocol(t *table.Table) string {
	tested := ""
	for _, task := range digitTasks {
		if v := t.Where("cell", task.String()).Values("tested"); len(v) > 0 {
			tested += fmt.Sprintf(", %.0f for %s", v[0], task.title())
		}
	}
	return fmt.Sprintf("Data: %s, pixels scaled to 0 to 1. Per trial and task a stream of random training images, the same for all methods; after so many images each method chooses at most m pixels. A ridge regression "+
		"(strength by generalised cross-validation on the images seen, of 25 from 10⁻⁸ to 100 times the largest eigenvalue of their scatter; which one is not kept, and it can be an end) on these pixels is judged on all test images of the two digits (%s). RMP chooses the image of its current map, without labels, "+
		"which may be fewer than m pixels; RFE sees the labels and eliminates one pixel at a time by the weights of a linear support vector machine; random pixels are drawn anew each time. %s "+
		"The test images are the same in all trials: the intervals do not cover other test images.",
		digitsShown(stat.Mean(t.Values("pixels"), nil)), strings.TrimPrefix(tested, ", "), trialsNote(t))
}

func drawFig2(t *table.Table) (plots.Drawing, error) {
	if t.Len() == 0 {
		return plots.Missing("errors of any task"), nil
	}
	return plots.Drawing{Panels: fig2Panels(t, fig2Main, true), Columns: 2, Caption: plots.Caption{Shows: fmt.Sprintf("Test error against the number of images seen, with four ways to choose pixels; lower is better. RMP: squared distortion, printed η; RFE: C = %s. Bands are 95 %% intervals of the mean. %s %s",
		table.Format(rfeStrengths[0]), fig2Protocol(t), describeVariants)}}, nil
}

func drawFig2Settings(t *table.Table) (plots.Drawing, error) {
	if t.Len() == 0 {
		return plots.Missing("errors of any task"), nil
	}
	checkpoints := shown(t, "images")
	text := &plots.TextTable{Head: []string{"task", "m", "method", "quantity"}}
	for _, n := range checkpoints {
		text.Head = append(text.Head, strconv.Itoa(n))
	}
	for _, task := range digitTasks {
		for _, m := range featureCounts {
			for _, w := range slices.Concat(fig2Ways(), fig2Main[2:]) {
				// add adds a quantity at each checkpoint.
				add := func(quantity string, of func(n int) string) {
					row := []string{task.title(), strconv.Itoa(m), w.name, quantity}
					for _, n := range checkpoints {
						row = append(row, of(n))
					}
					text.Rows = append(text.Rows, row)
				}
				// mean adds the mean of a column.
				mean := func(column, quantity, format string, scale float64) {
					add(quantity, func(n int) string {
						v := w.of(t, task, m).Where("images", strconv.Itoa(n)).Values(column)
						return ifAny(v, fmt.Sprintf(format, scale*stat.Mean(v, nil)))
					})
				}
				for _, way := range []fig2Way{w, w.withFixed()} {
					quantity := "error" + strings.TrimPrefix(way.name, w.name) + " (%)"
					add(quantity, func(n int) string {
						e := way.errors(t, task, m, n)
						return ifAny(e, judge.Summarize(e).Percent())
					})
				}
				switch w.method {
				case fig2RMP:
					mean("features", "pixels chosen", "%.1f", 1)
					mean("moved", "steps that changed the set (%)", "%.2g", 100)
				case fig2RFE:
					mean("converged", "trials with all fits to tolerance (%)", "%.0f", 100)
				}
			}
		}
	}
	return plots.Drawing{Panels: fig2Panels(t, fig2Ways(), false), Columns: 2, Text: text, Caption: plots.Caption{Shows: fmt.Sprintf("Test error against the number of images seen under the settings that the paper leaves open; the first of RMP and of RFE are those of Fig. 2, and none was chosen by its error. "+
		"The table adds the error with a ridge of strength 1 in place of generalised cross-validation, the number of pixels in the image of RMP's map, the share of the walk's steps that changed the set in the last round, and the share of trials in which every fit of the support vector machine closed its duality gap to 1e-4 within 1000 passes. %s %s C is the weight of the hinge losses: the larger, the less slack.",
		describeVariants, fig2Protocol(t))}}, nil
}

// ifAny is a text on values, and a dash if there are none.
func ifAny(values []float64, text string) string {
	if len(values) == 0 {
		return "–"
	}
	return text
}

// What the text's numbers of images are taken to mean.
const (
	fewImages    = 20 // "only a few data points": at most
	enoughImages = 50 // "at least 50 data points"
)

// fig2Pair is a way of RMP against a way of RFE.
type fig2Pair struct {
	name     string
	rmp, rfe fig2Way
}

// fig2Readings are all declared ways to compare RMP with RFE: each variant of RMP with the main RFE, the main RMP with
// each other RFE, and both main ones with the other ridge.
func fig2Readings() []fig2Pair {
	var out []fig2Pair
	add := func(a, b fig2Way) { out = append(out, fig2Pair{a.name + " against " + b.name, a, b}) }
	ways := fig2Ways()
	rmps, rfes := ways[:len(mapVariants)], ways[len(mapVariants):]
	for _, w := range rmps {
		add(w, rfes[0])
	}
	for _, w := range rfes[1:] {
		add(rmps[0], w)
	}
	add(rmps[0].withFixed(), rfes[0].withFixed())
	return out
}

// lead returns the mean of b's error minus a's over the checkpoints that keep holds of, one number per trial.
func lead(t *table.Table, a, b fig2Way, task digitTask, m int, keep func(n int) bool) []float64 {
	checkpoints := slices.DeleteFunc(shown(t, "images"), func(n int) bool { return !keep(n) })
	var sum []float64
	for _, n := range experiment.NotEmpty("checkpoints of the claim", checkpoints) {
		ea, eb := a.errors(t, task, m, n), b.errors(t, task, m, n)
		if sum == nil {
			sum = make([]float64, len(ea))
		}
		judge.SameLength(fmt.Sprintf("rmp2007: task %s, m = %d, %d images: %s and %s", task, m, n, a.name, b.name), sum, ea, eb)
		floats.Add(sum, eb)
		floats.Sub(sum, ea)
	}
	floats.Scale(1/float64(len(checkpoints)), sum)
	return sum
}

// overCurves tests that b's error is more than a's over the checkpoints that keep holds of, on each curve but some.
func overCurves(t *table.Table, a, b fig2Way, keep func(n int) bool, exceptions int) judge.Test {
	units := taskUnits(func(task digitTask, m int) []float64 { return lead(t, a, b, task, m, keep) })
	return judge.Positive{Units: units, Exceptions: exceptions, Rule: fig2Rule}
}

// underReadings tests a claim about RMP against RFE under all readings.
func underReadings(test func(p fig2Pair) judge.Test) judge.Test {
	return judge.Each(fig2Readings(), func(p fig2Pair) (string, judge.Test) { return p.name, test(p) })
}

func isFew(n int) bool    { return n <= fewImages }
func isEnough(n int) bool { return n >= enoughImages }

// enough are the checkpoints of a table from 50 images on.
func enough(t *table.Table) []int {
	return slices.DeleteFunc(shown(t, "images"), func(n int) bool { return !isEnough(n) })
}

var fig2Rule = judge.Rule{Scale: 100, Unit: "points"}

const fig2ReadingsNote = " Readings: each variant of RMP (distortion, η, walk) against RFE with C = 100, and the first variant against RFE with C = 1 and C = 0.01, and against C = 100 with a ridge of strength 1 in place of generalised cross-validation."

var fig2Claims = experiment.Claims([]experiment.Claim{
	{
		ID:        "fig2-few-points",
		View:      "fig2",
		Statement: "RMP doesn't appear to perform well with only a few data points.",
		Where:     "Section 5.2, Fig. 2", Theirs: experiment.FigureOnly,
		Predicate: "RMP's error minus RFE's, averaged over the checkpoints up to 20 images and paired by trial, is positive on each of the four curves (task and m)." + fig2ReadingsNote,
		Test: func(t *table.Table) judge.Test {
			return underReadings(func(p fig2Pair) judge.Test { return overCurves(t, p.rfe, p.rmp, isFew, 0) })
		},
	},
	{
		ID:        "fig2-from-50",
		View:      "fig2",
		Statement: "When given at least 50 data points, RMP clearly outperforms RFE for the larger choice of m.",
		Where:     "Section 5.2, Fig. 2", Theirs: experiment.FigureOnly,
		Predicate: "At m = 50, RFE's error minus RMP's, paired by trial, is positive for both tasks at every checkpoint from 50 images on; a unit is a task at a checkpoint." + fig2ReadingsNote,
		Test: func(t *table.Table) judge.Test {
			return underReadings(func(p fig2Pair) judge.Test {
				var units []judge.Unit
				for _, task := range digitTasks {
					for _, n := range enough(t) {
						diffs := lead(t, p.rmp, p.rfe, task, slices.Max(featureCounts), func(k int) bool { return k == n })
						units = append(units, judge.Unit{Name: fmt.Sprintf("%s, %d images", task, n), Diffs: diffs})
					}
				}
				return judge.Positive{Units: units, Rule: fig2Rule}
			})
		},
	},
	{
		ID:        "fig2-supervised",
		View:      "fig2",
		Statement: "Unsupervised, we can outperform supervised selection methods.",
		Where:     "Section 5.2, first paragraph", Theirs: experiment.FigureOnly,
		Predicate: "RFE's error minus RMP's, averaged over the checkpoints from 50 images on and paired by trial, is positive on at least one of the four curves (task and m): the other three are excepted." + fig2ReadingsNote,
		Test: func(t *table.Table) judge.Test {
			return underReadings(func(p fig2Pair) judge.Test { return overCurves(t, p.rmp, p.rfe, isEnough, 3) })
		},
	},
	{
		ID:        "fig2-harder",
		View:      "fig2",
		Statement: "1 against 8 is an easy task, 3 against 8 a slightly harder one.",
		Where:     "Section 5.2, before Fig. 2", Theirs: experiment.FigureOnly,
		Predicate: "With all pixels, the error of 3 against 8 minus that of 1 against 8, paired by trial, is positive at every checkpoint from 50 images on.",
		Test: func(t *table.Table) judge.Test {
			var units []judge.Unit
			for _, n := range enough(t) {
				of := func(task digitTask) []float64 { return fig2Main[3].errors(t, task, 0, n) }
				units = append(units, judge.Paired(fmt.Sprintf("%d images", n), of(digitTasks[1]), of(digitTasks[0])))
			}
			return judge.Positive{Units: units, Rule: fig2Rule}
		},
	},
	{
		ID:        "fig2-random",
		View:      "fig2",
		Statement: "Ours: RMP's pixels serve better than random ones.",
		Where:     "not in the paper", Theirs: "not in the paper",
		Predicate: "The error with random pixels minus RMP's, averaged over the checkpoints from 50 images on and paired by trial, is positive on each of the four curves (task and m). Readings: each variant of RMP (distortion, η, walk), and the first with a ridge of strength 1.",
		Test: func(t *table.Table) judge.Test {
			ways := fig2Ways()[:len(mapVariants)]
			return judge.Each(append(ways, ways[0].withFixed()), func(w fig2Way) (string, judge.Test) {
				random := fig2Main[2]
				random.fixed = w.fixed
				return w.name, overCurves(t, w, random, isEnough, 0)
			})
		},
	},
})
