package rmp2007

import (
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets"
	"metriclab/pkg/experiment"
	"metriclab/pkg/learners/classify"
	"metriclab/pkg/learners/mapping"
	"metriclab/pkg/metric"
)

// digitTask is a classification problem of Figs. 2 and 3. Features are pixels, scaled to 0 to 1.
type digitTask struct {
	name string
	a, b int
}

var digitTasks = []digitTask{{"1-8", 1, 8}, {"3-8", 3, 8}}

// featureCounts are the paper's m.
var featureCounts = []int{10, 50}

func taskOf(name string) (digitTask, error) {
	for _, t := range digitTasks {
		if t.name == name {
			return t, nil
		}
	}
	return digitTask{}, fmt.Errorf("rmp2007: task %q is not known", name)
}

// title names a task for a reader.
func (t digitTask) title() string { return fmt.Sprintf("%d against %d", t.a, t.b) }

// digitDataset names the data of a scale: MNIST, or the built-in glyphs.
func digitDataset(scale experiment.Scale) string {
	if scale == experiment.Smoke {
		return "glyphs"
	}
	return "mnist"
}

// digitsShown names the data in captions.
func digitsShown(pixels float64) string {
	if pixels == datasets.GlyphSide*datasets.GlyphSide {
		return "built-in 12×12 glyphs, a stand-in for MNIST"
	}
	return "MNIST"
}

// openDigits returns the training and the test images of a scale. The glyphs of a trial are the same
// for both tasks.
func openDigits(env *experiment.Env, seed experiment.Seed) (train, test *datasets.Images, err error) {
	if env.Scale == experiment.Smoke {
		train, test = datasets.GlyphDigits(seed.Stream("glyphs"), 1000, 500)
		return train, test, nil
	}
	return env.Data.MNIST()
}

// draw returns n random images of the two digits, the same for all methods, in the order in which they come.
func (t digitTask) draw(rng *rand.Rand, images *datasets.Images, n int) ([]int, error) {
	idx := images.Filter(rng.Perm(images.N), t.a, t.b)
	if len(idx) < n {
		return nil, fmt.Errorf("rmp2007: task %s: %d training images, want at least %d", t.name, len(idx), n)
	}
	return idx[:n], nil
}

// labels makes the task's second digit the positive class.
func (t digitTask) labels(y []int) []classify.Label {
	out := make([]classify.Label, len(y))
	for i, digit := range y {
		out[i] = classify.Negative
		if digit == t.b {
			out[i] = classify.Positive
		}
	}
	return out
}

// pixelCosts fills dst, F×F, with the distortion of feature i by feature j on one image (Section 5.2).
func pixelCosts(dst *mat.Dense, x []float64, d distortion) metric.CostRound {
	for i, a := range x {
		row := dst.RawRowView(i)
		for j, b := range x {
			row[j] = d.of(a, b)
		}
	}
	return metric.CostRound{Cost: dst}
}

// mapVariant is one way to run RMP on pixels that the paper leaves open or gets wrong.
type mapVariant struct {
	name       string
	rule       string // of rmpParams
	distortion string
	sampler    mapping.Sampler
	steps      int // R
}

// The first variant is the main one. None was chosen by an error: the distortions are the paper's two examples, the
// learning rates the printed and the corrected one; the walk is the paper's Algorithm 2, and the heat bath has the
// same law but comes nearer to it in as many steps.
var mapVariants = []mapVariant{
	{"squared, printed eta", rmpPrinted, "squared", mapping.Metropolis, 5000},
	{"L1, printed eta", rmpPrinted, "L1", mapping.Metropolis, 5000},
	{"squared, corrected eta", rmpCorrected, "squared", mapping.Metropolis, 5000},
	{"squared, printed eta, heat bath", rmpPrinted, "squared", mapping.HeatBath, 5000},
}

// at returns the variant at a scale: smoke walks fewer steps.
func (v mapVariant) at(scale experiment.Scale) mapVariant {
	if scale == experiment.Smoke {
		v.steps /= 10
	}
	return v
}

// key describes the variant in a cell's key.
func (v mapVariant) key() string {
	return fmt.Sprintf("%s: %s, %s, %v, %d steps", v.name, v.rule, v.distortion, v.sampler, v.steps)
}

// learner returns RMP on F pixels for a stream of the given number of images.
func (v mapVariant) learner(src *rand.PCG, pixels, m, images int) (*mapping.RMP, distortion, error) {
	d, err := distortionOf(v.distortion)
	if err != nil {
		return nil, d, err
	}
	p, err := rmpParams(v.rule, pixels, pixels, m, images)
	if err != nil {
		return nil, d, err
	}
	p.Sampler, p.ChainSteps = v.sampler, v.steps
	l, err := mapping.NewRMP(src, pixels, pixels, p)
	return l, d, err
}

// describeVariants explains the variants in captions.
const describeVariants = "Distortion of pixel i by pixel j on an image: (xᵢ − xⱼ)² or |xᵢ − xⱼ| (L1). Learning rate η: as printed in Theorem 2.1 (for losses up to 1) or corrected (divided by the number of pixels, " +
	"with the exact bound on the number of maps), for the length of the stream. The set is drawn by R = 5000 steps per image (500 at smoke scale) of Algorithm 2 of the paper, a Metropolis–Hastings walk, or of a heat-bath walk " +
	"that tends to the same law and more often proposes what is likely; both start from the set of the image before."
