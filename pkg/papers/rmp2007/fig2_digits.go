package rmp2007

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets"
	"metriclab/pkg/datasets/synthetic"
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/learners/classify"
	"metriclab/pkg/learners/mapping"
	"metriclab/pkg/metric"
	"metriclab/pkg/random"
)

// digitTask is a classification problem of Figs. 2 and 3: digit A against B. Features are pixels, scaled to 0 to 1.
type digitTask struct{ A, B int }

var digitTasks = []digitTask{{1, 8}, {3, 8}}

// digitSettings are the settings of a cell of Fig. 3, and of Fig. 2.
type digitSettings struct {
	Task     digitTask    `key:"-" because:"it is the cell's name"`
	Images   int          `key:"images"`
	M        []int        `key:"m"`
	Variants []mapVariant `key:"variant %v"`
}

// digitCells are the cells of both tasks. settings turns what they share into settings.
func digitCells(scale experiment.Scale, images int, methods map[string]int, settings func(digitSettings) any) []experiment.Cell {
	variants := slices.Clone(mapVariants)
	if scale == experiment.Smoke {
		for k := range variants {
			variants[k].steps /= 10
		}
	}
	var cells []experiment.Cell
	for _, task := range digitTasks {
		cells = append(cells, experiment.Cell{
			Name: task.String(), Dataset: digitDataset(scale), Methods: methods,
			Settings: settings(digitSettings{task, images, featureCounts, variants}),
		})
	}
	return cells
}

// A curve is of a task at a number of pixels: a panel of a figure, a unit of a claim.
type curve struct {
	task digitTask
	m    int
}

// curves are those of the paper.
var curves = []curve{{digitTasks[0], 10}, {digitTasks[0], 50}, {digitTasks[1], 10}, {digitTasks[1], 50}}

// featureCounts are the paper's m.
var featureCounts = []int{10, 50}

func (c curve) String() string { return fmt.Sprintf("%s, m = %d", c.task, c.m) }

// byTask are the rows with the title of their task.
var byTask = frame.Called("task", "cell", func(cell string) string { return strings.Replace(cell, "-", " against ", 1) })

// of are the cells of its rows.
func (c curve) of(more ...string) []string {
	return append([]string{"cell", c.task.String(), "m", strconv.Itoa(c.m)}, more...)
}

// overCurves are a unit for each curve.
func overCurves(m func(c curve) frame.Measure) frame.Units {
	return frame.Over(curves, func(c curve) (string, frame.Measure) { return c.String(), m(c) })
}

// String names a task in tables.
func (t digitTask) String() string { return fmt.Sprintf("%d-%d", t.A, t.B) }

// title names a task for a reader.
func (t digitTask) title() string { return fmt.Sprintf("%d against %d", t.A, t.B) }

// digitDataset names the data of a scale: MNIST, or the built-in glyphs.
func digitDataset(scale experiment.Scale) string {
	if scale == experiment.Smoke {
		return "glyphs"
	}
	return "mnist"
}

// digitsShown names the data in captions.
func digitsShown(pixels float64) string {
	if pixels == synthetic.GlyphSide*synthetic.GlyphSide {
		return "built-in 12×12 glyphs, a stand-in for MNIST"
	}
	return "MNIST"
}

// openDigits returns the training and the test images, of glyphs as many as asked for. The glyphs of a trial are the
// same for both tasks.
func openDigits(env *experiment.Env, seed random.Seed, glyphs, testGlyphs int) (train, test *datasets.Images, err error) {
	if seed.Dataset == "glyphs" {
		train, test = synthetic.GlyphDigits(seed.Stream("glyphs"), glyphs, testGlyphs)
		return train, test, nil
	}
	return env.Data.MNIST()
}

// open opens the images, and draws n training images of the task for a trial.
func (t digitTask) open(run *experiment.Run, n int) (train, test *datasets.Images, idx []int, err error) {
	if train, test, err = openDigits(run.Env, run.Seed, 1000, 500); err == nil {
		idx, err = t.draw(run.Seed.Stream("images "+t.String()), train, n)
	}
	return train, test, idx, err
}

// draw returns n random images of the two digits, the same for all methods, in the order in which they come.
func (t digitTask) draw(rng *rand.Rand, images *datasets.Images, n int) ([]int, error) {
	idx := images.Filter(rng.Perm(images.N), t.A, t.B)
	if len(idx) < n {
		return nil, fmt.Errorf("rmp2007: task %s: %d training images, want at least %d", t, len(idx), n)
	}
	return idx[:n], nil
}

// labels makes the task's second digit the positive class.
func (t digitTask) labels(y []int) []classify.Label {
	out := make([]classify.Label, len(y))
	for i, digit := range y {
		out[i] = classify.Negative
		if digit == t.B {
			out[i] = classify.Positive
		}
	}
	return out
}

// pixelCosts fills dst, F×F, with the distortion of feature i by feature j on one image (Section 5.2).
func pixelCosts(dst *mat.Dense, x []float64, of func(a, b float64) float64) metric.CostRound {
	for i, a := range x {
		row := dst.RawRowView(i)
		for j, b := range x {
			row[j] = of(a, b)
		}
	}
	return metric.CostRound{Cost: dst}
}

// totalCosts are the sums of these over images, one per row of x.
func totalCosts(x *mat.Dense, of func(a, b float64) float64) *mat.Dense {
	images, pixels := x.Dims()
	total, cost := mat.NewDense(pixels, pixels, nil), mat.NewDense(pixels, pixels, nil)
	for t := range images {
		total.Add(total, pixelCosts(cost, x.RawRowView(t), of).Cost)
	}
	return total
}

// mapVariant is one way to run RMP on pixels that the paper leaves open or gets wrong.
type mapVariant struct {
	name       string
	rule       string // of newRMP
	distortion distortion
	sampler    mapping.Sampler
	steps      int // R
}

// The first variant is the main one. None was chosen by an error. The distortions are the paper's two examples, the
// learning rates the printed and the corrected one. The walk is the paper's Algorithm 2; the heat bath has the same
// law but comes nearer to it in as many steps.
var mapVariants = []mapVariant{
	{"squared, printed eta", rmpPrinted, squared, mapping.SampleMetropolis, 5000},
	{"L1, printed eta", rmpPrinted, absolute, mapping.SampleMetropolis, 5000},
	{"squared, corrected eta", rmpCorrected, squared, mapping.SampleMetropolis, 5000},
	{"squared, printed eta, heat bath", rmpPrinted, squared, mapping.SampleHeatBath, 5000},
}

// variantNames are the names of the variants.
func variantNames() (out []string) {
	for _, v := range mapVariants {
		out = append(out, v.name)
	}
	return out
}

// String is what a cell's key has of the variant.
func (v mapVariant) String() string {
	return fmt.Sprintf("%s: %s, %s, %v, %d steps", v.name, v.rule, v.distortion, v.sampler, v.steps)
}

// follow runs RMP over the images, one per row of x, and calls after with the number of an image, its costs and what RMP
// paid for it.
func (v mapVariant) follow(ctx context.Context, seed random.Seed, x *mat.Dense, task digitTask, m int, after func(n int, l *mapping.RMP, f metric.CostRound, paid float64) error) error {
	images, pixels := x.Dims()
	src := seed.PCG(fmt.Sprintf("maps %s %d %s", task, m, v.name))
	l, err := newRMP(src, v.rule, pixels, pixels, images, mapping.RMPParams{M: m, Sampler: v.sampler, ChainSteps: v.steps})
	if err != nil {
		return err
	}
	costs := mat.NewDense(pixels, pixels, nil)
	for t := range images {
		if err := ctx.Err(); err != nil {
			return err
		}
		round := pixelCosts(costs, x.RawRowView(t), compare[v.distortion])
		o, err := l.Step(round)
		if err != nil {
			return err
		}
		if err := after(t+1, l, round, o.Loss); err != nil {
			return err
		}
	}
	return nil
}

// describeVariants explains the variants in captions.
const describeVariants = "Distortion of pixel i by pixel j on an image: (xᵢ − xⱼ)² or |xᵢ − xⱼ| (L1). Learning rate η: as printed in Theorem 2.1 (for losses up to 1) or corrected (divided by the number of pixels, " +
	"with the exact bound on the number of maps), for the length of the stream. The set is drawn by R = 5000 steps per image (500 at smoke scale) of Algorithm 2 of the paper, a Metropolis–Hastings walk, or of a heat-bath walk " +
	"that tends to the same law and more often proposes what is likely; both start from the set of the image before."
