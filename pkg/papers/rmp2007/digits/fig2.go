// Package digits has the experiments on features of digits: Figs. 2 and 3, and what they rest on.
package digits

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/datasets"
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/classify"
	"metriclab/pkg/learners/linear"
	"metriclab/pkg/learners/mapping"
	"metriclab/pkg/metric"
	"metriclab/pkg/papers/rmp2007/protocol"
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
// method has chosen after a number of images.
var Fig2 = experiment.Spec{
	ID:      "rmp2007/fig2",
	Title:   "Pixels chosen by RMP, by recursive feature elimination and at random: test error against number of images",
	Source:  "Section 5.2, Fig. 2",
	Version: 1,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		checkpoints := fig2Checkpoints(scale)
		methods := map[string]int{"RMP": mapping.RMPVersion, "RFE": linear.RFEVersion, "SVM": linear.SVMVersion, "ridge": linear.RidgeVersion}
		return protocol.DigitCells(scale, slices.Max(checkpoints), methods, func(s protocol.DigitSettings) any {
			return fig2Settings{s, checkpoints, rfeStrengths, fixedStrength}
		})
	},
	Trials:  experiment.Trials(10),
	Columns: fig2Columns,
	Trial: func(ctx context.Context, run *experiment.Run) error {
		return choosePixels(ctx, run, (*digitStream).score)
	},
	Views: []experiment.View{
		{Name: "fig2", Title: "Fig. 2: error against number of images, four ways to choose pixels", Draw: fig2View.Draw},
		{Name: "fig2-settings", Title: "Fig. 2 under the open settings of RMP and RFE", Draw: fig2SettingsView.Draw},
	},
	Claims: fig2Claims,
	Cost:   time.Minute,
}

// fig2Settings are the settings of a cell of Fig. 2, and of overfit.go.
type fig2Settings struct {
	protocol.DigitSettings
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

// fig2Checkpoints are the numbers of images after which pixels are chosen and scored.
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

// digitStream is what one trial of a task works on.
type digitStream struct {
	x      *mat.Dense // images in the order in which they come
	y      []classify.Label
	tested *mat.Dense
	truth  []classify.Label
	ridge  float64 // strength of the second regression
	rows   *table.Table
}

// first returns the first n images of the stream.
func (s *digitStream) first(n int) *mat.Dense {
	_, d := s.x.Dims()
	return s.x.Slice(0, n, 0, d).(*mat.Dense)
}

// Columns copies the given columns of x.
func Columns(x *mat.Dense, features []int) *mat.Dense {
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

// score fits ridge regression to the first n images on the given pixels, its strength by generalised
// cross-validation on the same images or fixed, and adds its errors on the test images.
func (s *digitStream) score(ctx context.Context, key table.Key, n int, features []int, more table.Values) error {
	targets, err := classify.Targets(s.y[:n])
	if err != nil {
		return err
	}
	x, tested := Columns(s.first(n), features), Columns(s.tested, features)
	_, pixels := s.x.Dims()
	v := table.Values{"tested": float64(len(s.truth)), "features": float64(len(features)), "pixels": float64(pixels)}
	for column, strength := range map[string]float64{"wrong": 0, wrongFixed: s.ridge} {
		ridge, err := linear.FitRidge(ctx, x, targets, linear.RidgeParams{Strength: strength})
		if err != nil {
			return err
		}
		v[column] = float64(ridge.Errors(tested, s.truth))
	}
	maps.Copy(v, more)
	key["images"] = strconv.Itoa(n)
	s.rows.Add(key, v)
	return nil
}

// choosePixels has each method choose pixels after some numbers of images of a stream, and score scores them.
func choosePixels(ctx context.Context, run *experiment.Run, score func(s *digitStream, ctx context.Context, key table.Key, n int, pixels []int, more table.Values) error) error {
	set := run.Cell.Settings.(fig2Settings)
	task := set.Task
	train, test, idx, err := task.Open(run, set.Images)
	if err != nil {
		return err
	}
	held := test.Filter(test.All(), task.A, task.B)
	s := &digitStream{
		x: train.Rows(idx, datasets.Scale01), y: task.Labels(train.Y(idx)),
		tested: test.Rows(held, datasets.Scale01), truth: task.Labels(test.Y(held)),
		ridge: set.Ridge, rows: run.Rows,
	}
	all := make([]int, train.Dim())
	for j := range all {
		all[j] = j
	}
	random, order := run.Seed.Stream("random pixels "+task.String()), run.Seed.Stream("order of the rows "+task.String())
	for _, n := range set.Checkpoints {
		type choice struct {
			method, variant, m string
			pixels             []int
			more               table.Values
		}
		choices := []choice{{method: fig2All, pixels: all}}
		for _, m := range set.M {
			choices = append(choices, choice{fig2Random, "", strconv.Itoa(m), slices.Sorted(slices.Values(random.Perm(len(all))[:m])), nil})
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
				choices = append(choices, choice{fig2RFE, rfeName(c), strconv.Itoa(m), rfe.Top(m), table.Values{"converged": converged}})
			}
		}
		for _, c := range choices {
			if err := score(s, ctx, table.Key{"method": c.method, "variant": c.variant, "m": c.m}, n, c.pixels, c.more); err != nil {
				return err
			}
		}
	}
	for _, v := range set.Variants {
		for _, m := range set.M {
			end := run.Lap("RMP")
			err := v.Follow(ctx, run.Seed, s.x, task, m, func(n int, l *mapping.RMP, round metric.CostRound, _ float64) error {
				if !slices.Contains(set.Checkpoints, n) {
					return nil
				}
				key := table.Key{"method": fig2RMP, "variant": v.Name, "m": strconv.Itoa(m)}
				return score(s, ctx, key, n, protocol.Image(l.Predict(round)), table.Values{"moved": l.Diagnostics().Acceptance()})
			})
			end()
			if err != nil {
				return fmt.Errorf("%s, m = %d: %w", v.Name, m, err)
			}
		}
	}
	return nil
}

// variantStyles are those of RMP's variants; styles, those of the ways to choose pixels.
var (
	variantStyles = plots.Styles{
		protocol.MapVariants[0].Name: {Color: plots.Blue},
		protocol.MapVariants[1].Name: {Color: plots.Sky, Dash: plots.LongDashed, Shape: plots.Cross},
		protocol.MapVariants[2].Name: {Color: plots.Vermillion, Dash: plots.Dashed, Shape: plots.Triangle},
		protocol.MapVariants[3].Name: {Color: plots.Indigo, Dash: plots.Dotted, Shape: plots.Plus},
	}
	styles = func() plots.Styles {
		out := plots.Styles{
			fig2RMP: {Color: plots.Blue}, "random pixels": {Color: plots.Olive, Dash: plots.Solid, Shape: plots.Diamond}, fig2All: {Color: plots.Grey, Dash: plots.Dashed},
		}
		for _, v := range protocol.MapVariants {
			out[fig2RMP+": "+etaShown.Replace(v.Name)] = variantStyles[v.Name]
		}
		for k, c := range rfeStrengths {
			out[fig2RFE+": "+rfeName(c)] = []plots.Style{
				{Color: plots.Green, Dash: plots.DashDotDot, Shape: plots.Square}, {Color: plots.Purple, Dash: plots.TwoDashes, Shape: plots.Ring}, {Color: plots.Black, Dash: plots.LongDashed, Shape: plots.Downward},
			}[k]
		}
		out[fig2RFE] = out[fig2RFE+": "+rfeName(rfeStrengths[0])]
		return out
	}()
)

// fig2Way is a method with its variant, as a figure shows it.
type fig2Way struct {
	name, method, variant string
	fixed                 bool // ridge regression of fixedStrength
}

// fig2Main are the four methods of the paper's figure.
var fig2Main = []fig2Way{
	{fig2RMP, fig2RMP, protocol.MapVariants[0].Name, false},
	{fig2RFE, fig2RFE, rfeName(rfeStrengths[0]), false},
	{"random pixels", fig2Random, "", false},
	{"all pixels", fig2All, "", false},
}

// fig2Ways are all variants of RMP and RFE.
func fig2Ways() []fig2Way {
	var out []fig2Way
	for _, v := range protocol.MapVariants {
		out = append(out, fig2Way{fig2RMP + ": " + etaShown.Replace(v.Name), fig2RMP, v.Name, false})
	}
	for _, c := range rfeStrengths {
		out = append(out, fig2Way{fig2RFE + ": " + rfeName(c), fig2RFE, rfeName(c), false})
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

// Of are the cells of the rows of a way on a curve; all pixels are the same for each m.
func (w fig2Way) Of(c protocol.Curve) []string {
	of := []string{"cell", c.Task.String(), "method", w.method, "variant", w.variant}
	if w.method != fig2All {
		of = append(of, "m", strconv.Itoa(c.M))
	}
	return of
}

// wrong is the column of its errors.
func (w fig2Way) wrong() string {
	return map[bool]string{false: "wrong", true: wrongFixed}[w.fixed]
}

// errors are the test errors on a curve.
func (w fig2Way) errors(c protocol.Curve) frame.Measure {
	return frame.Share(w.wrong(), "tested").Where(w.Of(c)...)
}

// lead is by how much the errors of RFE, or of what stands in its place, are larger than those of RMP.
func (p fig2Pair) lead(c protocol.Curve) frame.Measure { return p.rfe.errors(c).Minus(p.rmp.errors(c)) }

// chosenBy are the rows of some ways with their names, a task's title and an m; those of all pixels are for each m.
func chosenBy(ways []fig2Way) frame.Rows {
	return protocol.ByTask.Then(frame.Named("at m", protocol.FeatureCounts, func(m int) (string, frame.Rows) {
		return strconv.Itoa(m), frame.Only("m", strconv.Itoa(m), "")
	})).Then(frame.Named("way", ways, func(w fig2Way) (string, frame.Rows) {
		return w.name, frame.Only("method", w.method).Where("variant", w.variant)
	}))
}

// fig2Panels show the ways' errors, a panel per curve.
func fig2Panels(ways []fig2Way, b frame.Band) frame.Panels {
	var lines []plots.Line
	for _, w := range ways {
		lines = append(lines, styles.Line(w.name))
	}
	return frame.PerGroup(func(cells []string) frame.Panel {
		return frame.Panel{
			Panel: plots.Panel{Title: cells[0] + ", m = " + cells[1], XLabel: "images seen", YLabel: "test error (%)", XLog: true},
			Of:    frame.Lines("way", lines, "images", frame.Share("wrong", "tested"), b),
		}
	}, "task", "at m")
}

// fig2Caption says what is shown, the data and settings of both figures, and more at the end.
func fig2Caption(shows, end string) func(t *table.Table) plots.Caption {
	return func(t *table.Table) plots.Caption {
		var tested []string
		for task, g := range protocol.ByTask(t).Group("task") {
			tested = append(tested, fmt.Sprintf("%.0f for %s", experiment.First(g, "tested"), task))
		}
		return plots.Caption{
			Shows: shows,
			Data:  fmt.Sprintf("Images of %s, pixels scaled to 0 to 1.", protocol.DigitsShown(stat.Mean(t.Values("pixels"), nil))),
			Protocol: fmt.Sprintf("Per trial and task a stream of random training images, the same for all methods; after some numbers of images each method chooses at most m pixels. A ridge regression "+
				"(strength by generalised cross-validation on the images seen, of 25 from 10⁻⁸ to 100 times the largest eigenvalue of their scatter) on these pixels is scored on all test images of the two digits (%s). Which strength was chosen is not kept, and it can be an end. RMP chooses the image of its current map, without labels, "+
				"which may be fewer than m pixels; RFE sees the labels and eliminates one pixel at a time by the weights of a linear support vector machine; random pixels are drawn anew each time. %s", strings.Join(tested, ", "), end),
			Intervals: experiment.TrialsNote(t, protocol.TrialsCover) + " The test images are the same in all trials: the intervals do not cover other test images.",
		}
	}
}

var fig2View = frame.View{
	From:    chosenBy(fig2Main),
	Columns: 2,
	Panels:  fig2Panels(fig2Main, protocol.Percent),
	Caption: fig2Caption("Test error against the number of images seen, with four ways to choose pixels; lower is better. RMP: squared distortion, printed η; RFE: C = "+table.Format(rfeStrengths[0])+".", protocol.DescribeVariants),
	Missing: "errors of any task",
}

var fig2SettingsView = frame.View{
	From:    chosenBy(slices.Concat(fig2Ways(), fig2Main[2:])),
	Columns: 2,
	Panels:  fig2Panels(fig2Ways(), protocol.Percent.Without()),
	Text:    fig2SettingsText(),
	Caption: fig2Caption("Test error against the number of images seen under the settings that the paper leaves open; the first of RMP and of RFE are those of Fig. 2, and none was chosen by its error. "+
		"The table adds the error with a ridge of strength 1 in place of generalised cross-validation. It adds the number of pixels in the image of RMP's map, and the share of the walk's steps that changed the set in the last round. It also says how often all fits were exact: in which share of trials every support vector machine closed its duality gap to 1e-4 within 1000 passes.",
		protocol.DescribeVariants+" C is the weight of the hinge losses: the larger, the less slack."),
	Missing: "errors of any task",
}

// fig2SettingsText has a row per curve, way and quantity, and a column per number of images.
func fig2SettingsText() *frame.Text {
	checkpoints := fig2Checkpoints(experiment.Full)
	out := &frame.Text{Head: []string{"task", "m", "method", "quantity"}}
	for _, n := range checkpoints {
		out.Cells = append(out.Cells, frame.Cell{Head: strconv.Itoa(n)})
	}
	for _, c := range protocol.Curves {
		for _, w := range slices.Concat(fig2Ways(), fig2Main[2:]) {
			type cell = func(head string, m frame.Measure, b frame.Band, format string) frame.Cell
			add := func(quantity string, of cell, m frame.Measure, b frame.Band, format string) {
				row := frame.Row{Names: []string{c.Task.Title(), strconv.Itoa(c.M), w.name, quantity}, Of: []string{"cell", c.Task.String(), "at m", strconv.Itoa(c.M), "way", w.name}}
				for _, n := range checkpoints {
					row.Cells = append(row.Cells, of("", m.Where("images", strconv.Itoa(n)), b, format))
				}
				out.Rows = append(out.Rows, row)
			}
			for _, way := range []fig2Way{w, w.withFixed()} {
				add("error"+strings.TrimPrefix(way.name, w.name)+" (%)", frame.PlusMinus, frame.Share(way.wrong(), "tested"), protocol.Percent, "%.2f")
			}
			switch w.method {
			case fig2RMP:
				add("pixels chosen", frame.Of, frame.Column("features"), frame.Band{}, "%.1f")
				add("steps that changed the set (%)", frame.Of, frame.Column("moved"), protocol.Percent, "%.2g")
			case fig2RFE:
				add("trials with all fits to tolerance (%)", frame.Of, frame.Column("converged"), protocol.Percent, "%.0f")
			}
		}
	}
	return out
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

// fig2Pairs compares each way of RMP with the main RFE, the main RMP with each other RFE, and both main ones with the
// other ridge.
func fig2Pairs(rmps, rfes []fig2Way) []fig2Pair {
	var out []fig2Pair
	add := func(a, b fig2Way) { out = append(out, fig2Pair{a.name + " against " + b.name, a, b}) }
	for _, w := range rmps {
		add(w, rfes[0])
	}
	for _, w := range rfes[1:] {
		add(rmps[0], w)
	}
	add(rmps[0].withFixed(), rfes[0].withFixed())
	return out
}

// fig2Readings are all declared ways to compare RMP with RFE.
func fig2Readings() []fig2Pair {
	ways := fig2Ways()
	return fig2Pairs(ways[:len(protocol.MapVariants)], ways[len(protocol.MapVariants):])
}

// overCheckpoints is the mean of a measure over the numbers of images that keep holds of.
func overCheckpoints(keep func(images float64) bool, m frame.Measure) frame.Measure {
	return func(rows *table.Table) []float64 {
		var of []frame.Measure
		for _, n := range rows.Unique("images") {
			if keep(frame.Parse("images", n)) {
				of = append(of, m.Where("images", n))
			}
		}
		return frame.Mean("rmp2007: errors by number of images", experiment.NotEmpty("checkpoints of the claim", of)...)(rows)
	}
}

// underReadings tests under all readings that RFE's error less RMP's, times a sign, is positive over the checkpoints
// that keep holds of, on each curve but some.
func underReadings(sign float64, keep func(images float64) bool, exceptions int) frame.Test {
	return frame.Under(fig2Readings(), func(p fig2Pair) (string, frame.Test) {
		return p.name, frame.AllBut(exceptions, fig2Rule, protocol.OverCurves(func(c protocol.Curve) frame.Measure { return overCheckpoints(keep, p.lead(c).Times(sign)) }))
	})
}

func isFew(images float64) bool { return images <= fewImages }

func isEnough(images float64) bool { return images >= enoughImages }

// fromEnough are a unit for each number of images from 50 on.
func fromEnough(prefix string, m frame.Measure) frame.Units {
	return func(t *table.Table) (out []judge.Unit) {
		for _, n := range t.Unique("images") {
			if isEnough(frame.Parse("images", n)) {
				out = append(out, judge.Unit{Name: prefix + n + " images", Diffs: m.Where("images", n)(t)})
			}
		}
		return out
	}
}

var fig2Rule = judge.Rule{Scale: 100, Unit: "points"}

const fig2ReadingsNote = " Readings: each variant of RMP (distortion, η, walk) against RFE with C = 100, and the first variant against RFE with C = 1 and C = 0.01, and against C = 100 with a ridge of strength 1 in place of generalised cross-validation."

var fig2Claims = experiment.Claims([]experiment.Claim{
	{
		ID:        "fig2-few-points",
		Statement: "RMP doesn't appear to perform well with only a few data points.",
		Where:     "Section 5.2, Fig. 2", Theirs: experiment.FigureOnly,
		Predicate: "RMP's error minus RFE's, averaged over the checkpoints up to 20 images and paired by trial, is positive on each of the four curves (task and m)." + fig2ReadingsNote,
		Test:      underReadings(-1, isFew, 0),
	},
	{
		ID:        "fig2-from-50",
		Statement: "When given at least 50 data points, RMP clearly outperforms RFE for the larger choice of m.",
		Where:     "Section 5.2, Fig. 2", Theirs: experiment.FigureOnly,
		Predicate: "At m = 50, RFE's error minus RMP's, paired by trial, is positive for both tasks at every checkpoint from 50 images on; a unit is a task at a checkpoint." + fig2ReadingsNote,
		Test: frame.Under(fig2Readings(), func(p fig2Pair) (string, frame.Test) {
			return p.name, frame.Positive(fig2Rule, frame.Together(fromEnough("1-8, ", p.lead(protocol.Curves[1])), fromEnough("3-8, ", p.lead(protocol.Curves[3]))))
		}),
	},
	{
		ID:        "fig2-supervised",
		Statement: "Unsupervised, we can outperform supervised selection methods.",
		Where:     "Section 5.2, first paragraph", Theirs: experiment.FigureOnly,
		Predicate: "RFE's error minus RMP's, averaged over the checkpoints from 50 images on and paired by trial, is positive on at least one of the four curves (task and m): the other three are excepted." + fig2ReadingsNote,
		Test:      underReadings(1, isEnough, 3),
	},
	{
		ID:        "fig2-harder",
		Statement: "1 against 8 is an easy task, 3 against 8 a slightly harder one.",
		Where:     "Section 5.2, before Fig. 2", Theirs: experiment.FigureOnly,
		Predicate: "With all pixels, the error of 3 against 8 minus that of 1 against 8, paired by trial, is positive at every checkpoint from 50 images on.",
		Test:      frame.Positive(fig2Rule, fromEnough("", fig2Main[3].errors(protocol.Curves[2]).Minus(fig2Main[3].errors(protocol.Curves[0])))),
	},
	{
		ID:        "fig2-random",
		Ours:      true,
		Statement: "Ours: RMP's pixels serve better than random ones.",
		Where:     "not in the paper", Theirs: "not in the paper",
		Predicate: "The error with random pixels minus RMP's, averaged over the checkpoints from 50 images on and paired by trial, is positive on each of the four curves (task and m). Readings: each variant of RMP (distortion, η, walk), and the first with a ridge of strength 1.",
		Test: frame.Under(append(fig2Ways()[:len(protocol.MapVariants)], fig2Ways()[0].withFixed()), func(w fig2Way) (string, frame.Test) {
			random := fig2Main[2]
			random.fixed = w.fixed
			return w.name, frame.Positive(fig2Rule, protocol.OverCurves(func(c protocol.Curve) frame.Measure {
				return overCheckpoints(isEnough, fig2Pair{rmp: w, rfe: random}.lead(c))
			}))
		}),
	},
})
