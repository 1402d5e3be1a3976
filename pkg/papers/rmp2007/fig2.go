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
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/classify"
	"metriclab/pkg/learners/mapping"
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
		cells := make([]experiment.Cell, len(digitTasks))
		for i, task := range digitTasks {
			params := map[string]string{"images": strconv.Itoa(slices.Max(checkpoints)), "checkpoints": fmt.Sprint(checkpoints), "m": fmt.Sprint(featureCounts), "C": fmt.Sprint(rfeStrengths), "ridge": table.Format(fixedStrength)}
			for k, v := range mapVariants {
				params["variant "+strconv.Itoa(k)] = v.at(scale).key()
			}
			cells[i] = experiment.Cell{
				Name: task.name, Dataset: digitDataset(scale), Params: params,
				Methods: map[string]int{"RMP": mapping.RMPVersion, "RFE": classify.RFEVersion, "SVM": classify.SVMVersion, "ridge": classify.RidgeVersion},
			}
		}
		return cells
	},
	Trials: experiment.Trials(10),
	Index:  fig2Index,
	Values: fig2Values,
	Trial:  fig2Trial,
	Views: []experiment.View{
		{Name: "fig2", Title: "Fig. 2: error against number of images, four ways to choose pixels", Draw: drawFig2},
		{Name: "fig2-settings", Title: "Fig. 2 under the open settings of RMP and RFE", Draw: drawFig2Settings},
	},
	Claims: fig2Claims,
	Cost:   time.Minute,
}

var (
	fig2Index  = []string{"method", "variant", "m", "images"}
	fig2Values = []string{"wrong", wrongFixed, "tested", "features", "pixels", "converged", "moved"}
)

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
func (s *fig2Stream) judge(key table.Key, n int, features []int, more table.Values) error {
	targets, err := classify.Targets(s.y[:n])
	if err != nil {
		return err
	}
	x, tested := columns(s.first(n), features), columns(s.tested, features)
	_, pixels := s.x.Dims()
	v := table.Values{"tested": float64(len(s.truth)), "features": float64(len(features)), "pixels": float64(pixels)}
	for column, strength := range map[string]float64{"wrong": 0, wrongFixed: fixedStrength} {
		ridge, err := classify.FitRidge(x, targets, classify.RidgeParams{Strength: strength})
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

func fig2Trial(ctx context.Context, env *experiment.Env, cell experiment.Cell, seed experiment.Seed) (*table.Table, error) {
	task, err := taskOf(cell.Name)
	if err != nil {
		return nil, err
	}
	train, test, err := openDigits(env, seed)
	if err != nil {
		return nil, err
	}
	checkpoints := fig2Checkpoints(env.Scale)
	idx, err := task.draw(seed.Stream("images "+task.name), train, slices.Max(checkpoints))
	if err != nil {
		return nil, err
	}
	held := test.Filter(test.All(), task.a, task.b)
	s := &fig2Stream{
		x: train.Rows(idx, datasets.Unit01), y: task.labels(train.Y(idx)),
		tested: test.Rows(held, datasets.Unit01), truth: task.labels(test.Y(held)),
		rows: table.New(fig2Index, fig2Values),
	}
	all := make([]int, train.Dim())
	for j := range all {
		all[j] = j
	}
	random, order := seed.Stream("random pixels "+task.name), seed.Stream("order of the rows "+task.name)
	for _, n := range checkpoints {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := s.judge(table.Key{"method": fig2All}, n, all, nil); err != nil {
			return nil, err
		}
		for _, m := range featureCounts {
			chosen := random.Perm(len(all))[:m]
			slices.Sort(chosen)
			if err := s.judge(table.Key{"method": fig2Random, "m": strconv.Itoa(m)}, n, chosen, nil); err != nil {
				return nil, err
			}
		}
		for _, c := range rfeStrengths {
			end := env.Lap("RFE")
			rfe, err := classify.FitRFE(s.first(n), s.y[:n], classify.RFEParams{SVM: classify.SVMParams{C: c}}, order)
			end()
			if err != nil {
				return nil, err
			}
			converged := 0.0
			if rfe.Status() == learners.Converged {
				converged = 1
			}
			for _, m := range featureCounts {
				if err := s.judge(table.Key{"method": fig2RFE, "variant": rfeName(c), "m": strconv.Itoa(m)}, n, rfe.Top(m), table.Values{"converged": converged}); err != nil {
					return nil, err
				}
			}
		}
	}
	for _, v := range mapVariants {
		for _, m := range featureCounts {
			end := env.Lap("RMP")
			err := s.followMaps(ctx, v.at(env.Scale), m, checkpoints, seed, task)
			end()
			if err != nil {
				return nil, fmt.Errorf("%s, m = %d: %w", v.name, m, err)
			}
		}
	}
	return s.rows, nil
}

// followMaps runs RMP over the stream and judges the image of its current map at each checkpoint.
func (s *fig2Stream) followMaps(ctx context.Context, v mapVariant, m int, checkpoints []int, seed experiment.Seed, task digitTask) error {
	n, pixels := s.x.Dims()
	l, d, err := v.learner(seed.PCG(fmt.Sprintf("maps %s %d %s", task.name, m, v.name)), pixels, m, n)
	if err != nil {
		return err
	}
	costs := mat.NewDense(pixels, pixels, nil)
	for t := range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		round := pixelCosts(costs, s.x.RawRowView(t), d)
		if _, err := l.Step(round); err != nil {
			return err
		}
		if !slices.Contains(checkpoints, t+1) {
			continue
		}
		if err := s.judge(table.Key{"method": fig2RMP, "variant": v.name, "m": strconv.Itoa(m)}, t+1, image(l.Predict(round)),
			table.Values{"moved": l.Diagnostics().Acceptance()}); err != nil {
			return err
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
func (w fig2Way) of(t *table.Table, task string, m int) *table.Table {
	g := t.Where("cell", task, "method", w.method, "variant", w.variant)
	if w.method != fig2All {
		g = g.Where("m", strconv.Itoa(m))
	}
	return g
}

// errors returns the error of each trial after n images.
func (w fig2Way) errors(t *table.Table, task string, m, n int) []float64 {
	g := w.of(t, task, m).Where("images", strconv.Itoa(n))
	column := "wrong"
	if w.fixed {
		column = wrongFixed
	}
	out := slices.Clone(g.Values(column))
	floats.Div(out, g.Values("tested"))
	return out
}

// fig2Shown returns the checkpoints of a table, in ascending order.
func fig2Shown(t *table.Table) ([]int, error) {
	var out []int
	for _, s := range t.Unique("images") {
		n, err := strconv.Atoi(s)
		if err != nil {
			return nil, fmt.Errorf("rmp2007: images %q, want a number", s)
		}
		out = append(out, n)
	}
	slices.Sort(out)
	return out, nil
}

// fig2Panels draws the ways' errors, a panel per task and m.
func fig2Panels(t *table.Table, ways []fig2Way, bands bool) ([]plots.Panel, error) {
	checkpoints, err := fig2Shown(t)
	if err != nil {
		return nil, err
	}
	var out []plots.Panel
	for _, task := range digitTasks {
		for _, m := range featureCounts {
			p := plots.Panel{Title: fmt.Sprintf("%s, m = %d", task.title(), m), XLabel: "images seen", YLabel: "test error (%)", XLog: true}
			for _, w := range ways {
				line := plots.Line{Name: w.name, Color: w.color, Dashed: w.dashed}
				for _, n := range checkpoints {
					e := w.errors(t, task.name, m, n)
					if len(e) == 0 {
						continue
					}
					mean, half := experiment.Summarize(e).Interval()
					line.X, line.Y = append(line.X, float64(n)), append(line.Y, 100*mean)
					if bands {
						line.Lo, line.Hi = append(line.Lo, 100*(mean-half)), append(line.Hi, 100*(mean+half))
					}
				}
				p.Marks = append(p.Marks, line)
			}
			out = append(out, p)
		}
	}
	return out, nil
}

// fig2Protocol describes data and settings in captions.
func fig2Protocol(t *table.Table) string {
	tested := ""
	for _, task := range digitTasks {
		if v := t.Where("cell", task.name).Values("tested"); len(v) > 0 {
			tested += fmt.Sprintf(", %.0f for %s", v[0], task.title())
		}
	}
	return fmt.Sprintf("Data: %s, pixels scaled to 0 to 1. Per trial and task a stream of random training images, the same for all methods; after so many images each method chooses at most m pixels. A ridge regression "+
		"(strength by generalised cross-validation on the images seen) on these pixels is judged on all test images of the two digits (%s). RMP chooses the image of its current map, without labels, "+
		"which may be fewer than m pixels; RFE sees the labels and eliminates one pixel at a time by the weights of a linear support vector machine; random pixels are drawn anew each time. %s "+
		"The test images are the same in all trials: the intervals do not cover other test images.",
		digitsShown(stat.Mean(t.Values("pixels"), nil)), strings.TrimPrefix(tested, ", "), trialsNote(t))
}

func drawFig2(t *table.Table) (plots.Drawing, error) {
	if t.Len() == 0 {
		return plots.Missing("errors of any task"), nil
	}
	panels, err := fig2Panels(t, fig2Main, true)
	if err != nil {
		return plots.Drawing{}, err
	}
	return plots.Drawing{Panels: panels, Columns: 2, Caption: fmt.Sprintf("Test error against the number of images seen, with four ways to choose pixels; lower is better. RMP: squared distortion, printed η; RFE: C = %s. Bands are 95 %% intervals of the mean. %s %s",
		table.Format(rfeStrengths[0]), fig2Protocol(t), describeVariants)}, nil
}

func drawFig2Settings(t *table.Table) (plots.Drawing, error) {
	if t.Len() == 0 {
		return plots.Missing("errors of any task"), nil
	}
	checkpoints, err := fig2Shown(t)
	if err != nil {
		return plots.Drawing{}, err
	}
	panels, err := fig2Panels(t, fig2Ways(), false)
	if err != nil {
		return plots.Drawing{}, err
	}
	text := &plots.TextTable{Head: []string{"task", "m", "method", "quantity"}}
	for _, n := range checkpoints {
		text.Head = append(text.Head, strconv.Itoa(n))
	}
	for _, task := range digitTasks {
		for _, m := range featureCounts {
			for _, w := range slices.Concat(fig2Ways(), fig2Main[2:]) {
				row := []string{task.title(), strconv.Itoa(m), w.name, "error (%)"}
				for _, n := range checkpoints {
					row = append(row, percentOrDash(w.errors(t, task.name, m, n)))
				}
				text.Rows = append(text.Rows, row)
				row = []string{task.title(), strconv.Itoa(m), w.name, "error, ridge " + table.Format(fixedStrength) + " (%)"}
				for _, n := range checkpoints {
					row = append(row, percentOrDash(w.withFixed().errors(t, task.name, m, n)))
				}
				text.Rows = append(text.Rows, row)
				if w.method == fig2RMP {
					text.Rows = append(text.Rows, diagnosticRow(w, t, task, m, checkpoints, "features", "pixels chosen", "%.1f", 1), diagnosticRow(w, t, task, m, checkpoints, "moved", "steps that changed the set (%)", "%.2g", 100))
				}
				if w.method == fig2RFE {
					text.Rows = append(text.Rows, diagnosticRow(w, t, task, m, checkpoints, "converged", "trials with all fits to tolerance (%)", "%.0f", 100))
				}
			}
		}
	}
	return plots.Drawing{Panels: panels, Columns: 2, Text: text, Caption: fmt.Sprintf("Test error against the number of images seen under the settings that the paper leaves open; the first of RMP and of RFE are those of Fig. 2, and none was chosen by its error. "+
		"The table adds the error with a ridge of strength 1 in place of generalised cross-validation, the number of pixels in the image of RMP's map, the share of the walk's steps that changed the set in the last round, and the share of trials in which every fit of the support vector machine closed its duality gap to 1e-4 within 1000 passes. %s %s C is the weight of the hinge losses: the larger, the less slack.",
		describeVariants, fig2Protocol(t))}, nil
}

func percentOrDash(e []float64) string {
	if len(e) == 0 {
		return "–"
	}
	return experiment.Summarize(e).Percent()
}

// diagnosticRow formats the mean of a column at each checkpoint.
func diagnosticRow(w fig2Way, t *table.Table, task digitTask, m int, checkpoints []int, column, what, format string, scale float64) []string {
	row := []string{task.title(), strconv.Itoa(m), w.name, what}
	for _, n := range checkpoints {
		v := w.of(t, task.name, m).Where("images", strconv.Itoa(n)).Values(column)
		if len(v) == 0 {
			row = append(row, "–")
			continue
		}
		row = append(row, fmt.Sprintf(format, scale*stat.Mean(v, nil)))
	}
	return row
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
	ways := fig2Ways()
	rmps, rfes := ways[:len(mapVariants)], ways[len(mapVariants):]
	for _, w := range rmps {
		out = append(out, fig2Pair{w.name + " against " + rfes[0].name, w, rfes[0]})
	}
	for _, w := range rfes[1:] {
		out = append(out, fig2Pair{rmps[0].name + " against " + w.name, rmps[0], w})
	}
	a, b := rmps[0].withFixed(), rfes[0].withFixed()
	out = append(out, fig2Pair{a.name + " against " + b.name, a, b})
	return out
}

// lead returns the mean of b's error minus a's over the checkpoints that keep holds of, one number per trial.
func lead(t *table.Table, a, b fig2Way, task string, m int, keep func(n int) bool) ([]float64, error) {
	checkpoints, err := fig2Shown(t)
	if err != nil {
		return nil, err
	}
	checkpoints = slices.DeleteFunc(checkpoints, func(n int) bool { return !keep(n) })
	var sum []float64
	for _, n := range checkpoints {
		ea, eb := a.errors(t, task, m, n), b.errors(t, task, m, n)
		if len(ea) != len(eb) || sum != nil && len(ea) != len(sum) {
			return nil, fmt.Errorf("rmp2007: task %s, m = %d, %d images: %d trials of %s, %d of %s", task, m, n, len(ea), a.name, len(eb), b.name)
		}
		if sum == nil {
			sum = make([]float64, len(ea))
		}
		floats.Add(sum, eb)
		floats.Sub(sum, ea)
	}
	if len(checkpoints) == 0 {
		return nil, fmt.Errorf("rmp2007: no checkpoint of the table belongs to the claim")
	}
	floats.Scale(1/float64(len(checkpoints)), sum)
	return sum, nil
}

// fig2Curves returns, for each task and m, the lead of a over b.
func fig2Curves(t *table.Table, a, b fig2Way, keep func(n int) bool) ([]experiment.Unit, error) {
	var units []experiment.Unit
	for _, task := range digitTasks {
		for _, m := range featureCounts {
			diffs, err := lead(t, a, b, task.name, m, keep)
			if err != nil {
				return nil, err
			}
			units = append(units, experiment.Unit{Name: fmt.Sprintf("%s, m = %d", task.name, m), Diffs: diffs})
		}
	}
	return units, nil
}

// underReadings grades a claim about RMP against RFE under all readings.
func underReadings(grade func(p fig2Pair) (experiment.Finding, error)) (experiment.Finding, error) {
	var out []experiment.Reading
	for _, p := range fig2Readings() {
		f, err := grade(p)
		if err != nil {
			return f, err
		}
		out = append(out, experiment.Reading{Name: p.name, Finding: f})
	}
	return experiment.AllReadings(out), nil
}

func isFew(n int) bool    { return n <= fewImages }
func isEnough(n int) bool { return n >= enoughImages }

var fig2Rule = experiment.UnitRule{Scale: 100, Unit: "points"}

const fig2ReadingsNote = " Readings: each variant of RMP (distortion, η, walk) against RFE with C = 100, and the first variant against RFE with C = 1 and C = 0.01, and against C = 100 with a ridge of strength 1 in place of generalised cross-validation."

var fig2Claims = []experiment.Claim{
	{
		ID:        "fig2-few-points",
		View:      "fig2",
		Statement: "RMP doesn't appear to perform well with only a few data points.",
		Where:     "Section 5.2, Fig. 2", Theirs: experiment.FigureOnly,
		Predicate: "RMP's error minus RFE's, averaged over the checkpoints up to 20 images and paired by trial, is positive on each of the four curves (task and m)." + fig2ReadingsNote,
		Grade: func(t *table.Table) (experiment.Finding, error) {
			return underReadings(func(p fig2Pair) (experiment.Finding, error) {
				units, err := fig2Curves(t, p.rfe, p.rmp, isFew)
				if err != nil {
					return experiment.Finding{}, err
				}
				return experiment.GradeUnits(units, fig2Rule)
			})
		},
	},
	{
		ID:        "fig2-from-50",
		View:      "fig2",
		Statement: "When given at least 50 data points, RMP clearly outperforms RFE for the larger choice of m.",
		Where:     "Section 5.2, Fig. 2", Theirs: experiment.FigureOnly,
		Predicate: "At m = 50, RFE's error minus RMP's, paired by trial, is positive for both tasks at every checkpoint from 50 images on; a unit is a task at a checkpoint." + fig2ReadingsNote,
		Grade: func(t *table.Table) (experiment.Finding, error) {
			checkpoints, err := fig2Shown(t)
			if err != nil {
				return experiment.Finding{}, err
			}
			return underReadings(func(p fig2Pair) (experiment.Finding, error) {
				var units []experiment.Unit
				for _, task := range digitTasks {
					for _, n := range checkpoints {
						if !isEnough(n) {
							continue
						}
						diffs, err := lead(t, p.rmp, p.rfe, task.name, slices.Max(featureCounts), func(k int) bool { return k == n })
						if err != nil {
							return experiment.Finding{}, err
						}
						units = append(units, experiment.Unit{Name: fmt.Sprintf("%s, %d images", task.name, n), Diffs: diffs})
					}
				}
				return experiment.GradeUnits(units, fig2Rule)
			})
		},
	},
	{
		ID:        "fig2-supervised",
		View:      "fig2",
		Statement: "Unsupervised, we can outperform supervised selection methods.",
		Where:     "Section 5.2, first paragraph", Theirs: experiment.FigureOnly,
		Predicate: "RFE's error minus RMP's, averaged over the checkpoints from 50 images on and paired by trial, is positive on at least one of the four curves (task and m): the other three are excepted." + fig2ReadingsNote,
		Grade: func(t *table.Table) (experiment.Finding, error) {
			return underReadings(func(p fig2Pair) (experiment.Finding, error) {
				units, err := fig2Curves(t, p.rmp, p.rfe, isEnough)
				if err != nil {
					return experiment.Finding{}, err
				}
				rule := fig2Rule
				rule.Exceptions = len(units) - 1
				return experiment.GradeUnits(units, rule)
			})
		},
	},
	{
		ID:        "fig2-harder",
		View:      "fig2",
		Statement: "1 against 8 is an easy task, 3 against 8 a slightly harder one.",
		Where:     "Section 5.2, before Fig. 2", Theirs: experiment.FigureOnly,
		Predicate: "With all pixels, the error of 3 against 8 minus that of 1 against 8, paired by trial, is positive at every checkpoint from 50 images on.",
		Grade: func(t *table.Table) (experiment.Finding, error) {
			checkpoints, err := fig2Shown(t)
			if err != nil {
				return experiment.Finding{}, err
			}
			all := fig2Main[3]
			var units []experiment.Unit
			for _, n := range checkpoints {
				if !isEnough(n) {
					continue
				}
				easy, hard := all.errors(t, digitTasks[0].name, 0, n), all.errors(t, digitTasks[1].name, 0, n)
				if len(easy) != len(hard) {
					return experiment.Finding{}, fmt.Errorf("rmp2007: %d images: %d trials of one task, %d of the other", n, len(easy), len(hard))
				}
				floats.Sub(hard, easy)
				units = append(units, experiment.Unit{Name: fmt.Sprintf("%d images", n), Diffs: hard})
			}
			return experiment.GradeUnits(units, fig2Rule)
		},
	},
	{
		ID:        "fig2-random",
		View:      "fig2",
		Statement: "Ours: RMP's pixels serve better than random ones.",
		Where:     "not in the paper", Theirs: "not in the paper",
		Predicate: "The error with random pixels minus RMP's, averaged over the checkpoints from 50 images on and paired by trial, is positive on each of the four curves (task and m). Readings: each variant of RMP (distortion, η, walk), and the first with a ridge of strength 1.",
		Grade: func(t *table.Table) (experiment.Finding, error) {
			var out []experiment.Reading
			ways := fig2Ways()[:len(mapVariants)]
			for _, w := range append(ways, ways[0].withFixed()) {
				random := fig2Main[2]
				random.fixed = w.fixed
				units, err := fig2Curves(t, w, random, isEnough)
				if err != nil {
					return experiment.Finding{}, err
				}
				f, err := experiment.GradeUnits(units, fig2Rule)
				if err != nil {
					return f, err
				}
				out = append(out, experiment.Reading{Name: w.name, Finding: f})
			}
			return experiment.AllReadings(out), nil
		},
	},
}
