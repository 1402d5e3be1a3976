package protocol

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

// DigitTask is a classification problem of Figs. 2 and 3: digit A against B. Features are pixels, scaled to 0 to 1.
type DigitTask struct{ A, B int }

var DigitTasks = []DigitTask{{1, 8}, {3, 8}}

// DigitSettings are the settings of a cell of Fig. 3, and of Fig. 2.
type DigitSettings struct {
	Task     DigitTask    `key:"-" because:"it is the cell's name"`
	Images   int          `key:"images"`
	M        []int        `key:"m"`
	Variants []MapVariant `key:"variant %v"`
}

// DigitCells are the cells of both tasks. settings turns what they share into settings.
func DigitCells(scale experiment.Scale, images int, methods map[string]int, settings func(DigitSettings) any) []experiment.Cell {
	variants := slices.Clone(MapVariants)
	if scale == experiment.Smoke {
		for k := range variants {
			variants[k].Steps /= 10
		}
	}
	var cells []experiment.Cell
	for _, task := range DigitTasks {
		cells = append(cells, experiment.Cell{
			Name: task.String(), Dataset: DigitDataset(scale), Methods: methods,
			Settings: settings(DigitSettings{task, images, FeatureCounts, variants}),
		})
	}
	return cells
}

// A curve is of a task at a number of pixels: a panel of a figure, a unit of a claim.
type Curve struct {
	Task DigitTask
	M    int
}

// Curves are those of the paper.
var Curves = []Curve{{DigitTasks[0], 10}, {DigitTasks[0], 50}, {DigitTasks[1], 10}, {DigitTasks[1], 50}}

// FeatureCounts are the paper's m.
var FeatureCounts = []int{10, 50}

func (c Curve) String() string { return fmt.Sprintf("%s, m = %d", c.Task, c.M) }

// ByTask are the rows with the title of their task.
var ByTask = frame.Called("task", "cell", func(cell string) string { return strings.Replace(cell, "-", " against ", 1) })

// Of are the cells of its rows.
func (c Curve) Of(more ...string) []string {
	return append([]string{"cell", c.Task.String(), "m", strconv.Itoa(c.M)}, more...)
}

// OverCurves are a unit for each curve.
func OverCurves(m func(c Curve) frame.Measure) frame.Units {
	return frame.Over(Curves, func(c Curve) (string, frame.Measure) { return c.String(), m(c) })
}

// String names a task in tables.
func (t DigitTask) String() string { return fmt.Sprintf("%d-%d", t.A, t.B) }

// Title names a task for a reader.
func (t DigitTask) Title() string { return fmt.Sprintf("%d against %d", t.A, t.B) }

// DigitDataset names the data of a scale: MNIST, or the built-in glyphs.
func DigitDataset(scale experiment.Scale) string {
	if scale == experiment.Smoke {
		return "glyphs"
	}
	return "mnist"
}

// DigitsShown names the data in captions.
func DigitsShown(pixels float64) string {
	if pixels == synthetic.GlyphSide*synthetic.GlyphSide {
		return "built-in 12×12 glyphs, a stand-in for MNIST"
	}
	return "MNIST"
}

// OpenDigits returns the training and the test images, of glyphs as many as asked for. The glyphs of a trial are the
// same for both tasks.
func OpenDigits(env *experiment.Env, seed random.Seed, glyphs, testGlyphs int) (train, test *datasets.Images, err error) {
	if seed.Dataset == "glyphs" {
		train, test = synthetic.GlyphDigits(seed.Stream("glyphs"), glyphs, testGlyphs)
		return train, test, nil
	}
	return env.Data.MNIST()
}

// Open opens the images, and draws n training images of the task for a trial.
func (t DigitTask) Open(run *experiment.Run, n int) (train, test *datasets.Images, idx []int, err error) {
	if train, test, err = OpenDigits(run.Env, run.Seed, 1000, 500); err == nil {
		idx, err = t.Draw(run.Seed.Stream("images "+t.String()), train, n)
	}
	return train, test, idx, err
}

// Draw returns n random images of the two digits, the same for all methods, in the order in which they come.
func (t DigitTask) Draw(rng *rand.Rand, images *datasets.Images, n int) ([]int, error) {
	idx := images.Filter(rng.Perm(images.N), t.A, t.B)
	if len(idx) < n {
		return nil, fmt.Errorf("rmp2007: task %s: %d training images, want at least %d", t, len(idx), n)
	}
	return idx[:n], nil
}

// Labels makes the task's second digit the positive class.
func (t DigitTask) Labels(y []int) []classify.Label {
	out := make([]classify.Label, len(y))
	for i, digit := range y {
		out[i] = classify.Negative
		if digit == t.B {
			out[i] = classify.Positive
		}
	}
	return out
}

// PixelCosts fills dst, F×F, with the distortion of feature i by feature j on one image (Section 5.2).
func PixelCosts(dst *mat.Dense, x []float64, of func(a, b float64) float64) metric.CostRound {
	for i, a := range x {
		row := dst.RawRowView(i)
		for j, b := range x {
			row[j] = of(a, b)
		}
	}
	return metric.CostRound{Cost: dst}
}

// TotalCosts are the sums of these over images, one per row of x.
func TotalCosts(x *mat.Dense, of func(a, b float64) float64) *mat.Dense {
	images, pixels := x.Dims()
	total, cost := mat.NewDense(pixels, pixels, nil), mat.NewDense(pixels, pixels, nil)
	for t := range images {
		total.Add(total, PixelCosts(cost, x.RawRowView(t), of).Cost)
	}
	return total
}

// MapVariant is one way to run RMP on pixels that the paper leaves open or gets wrong.
type MapVariant struct {
	Name       string
	rule       string // of NewRMP
	Distortion Distortion
	sampler    mapping.Sampler
	Steps      int // R
}

// The first variant is the main one. None was chosen by an error. The distortions are the paper's two examples, the
// learning rates the printed and the corrected one. The walk is the paper's Algorithm 2; the heat bath has the same
// law but comes nearer to it in as many steps.
var MapVariants = []MapVariant{
	{"squared, printed eta", RMPPrinted, Squared, mapping.SampleMetropolis, 5000},
	{"L1, printed eta", RMPPrinted, Absolute, mapping.SampleMetropolis, 5000},
	{"squared, corrected eta", RMPCorrected, Squared, mapping.SampleMetropolis, 5000},
	{"squared, printed eta, heat bath", RMPPrinted, Squared, mapping.SampleHeatBath, 5000},
}

// VariantNames are the names of the variants.
func VariantNames() (out []string) {
	for _, v := range MapVariants {
		out = append(out, v.Name)
	}
	return out
}

// String is what a cell's key has of the variant.
func (v MapVariant) String() string {
	return fmt.Sprintf("%s: %s, %s, %v, %d steps", v.Name, v.rule, v.Distortion, v.sampler, v.Steps)
}

// Follow runs RMP over the images, one per row of x, and calls after with the number of an image, its costs and what RMP
// paid for it.
func (v MapVariant) Follow(ctx context.Context, seed random.Seed, x *mat.Dense, task DigitTask, m int, after func(n int, l *mapping.RMP, f metric.CostRound, paid float64) error) error {
	images, pixels := x.Dims()
	src := seed.PCG(fmt.Sprintf("maps %s %d %s", task, m, v.Name))
	l, err := NewRMP(src, v.rule, pixels, pixels, images, mapping.RMPParams{M: m, Sampler: v.sampler, ChainSteps: v.Steps})
	if err != nil {
		return err
	}
	costs := mat.NewDense(pixels, pixels, nil)
	for t := range images {
		if err := ctx.Err(); err != nil {
			return err
		}
		round := PixelCosts(costs, x.RawRowView(t), Compare[v.Distortion])
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

// DescribeVariants explains the variants in captions.
const DescribeVariants = "Distortion of pixel i by pixel j on an image: (xᵢ − xⱼ)² or |xᵢ − xⱼ| (L1). Learning rate η: as printed in Theorem 2.1 (for losses up to 1) or corrected (divided by the number of pixels, " +
	"with the exact bound on the number of maps), for the length of the stream. The set is drawn by R = 5000 steps per image (500 at smoke scale) of Algorithm 2 of the paper, a Metropolis–Hastings walk, or of a heat-bath walk " +
	"that tends to the same law and more often proposes what is likely; both start from the set of the image before."
