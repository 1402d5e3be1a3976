package erkle2015

import (
	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/datasets/synthetic"
	"metriclab/pkg/experiment"
	"metriclab/pkg/metric"
	"metriclab/pkg/random"
)

// The data sets of human judgements. Music is the paper's survey in a cleaned, smaller release; material and zappos stand
// in for the answers about outdoor scenes, which are not public.
const (
	music       = "music"
	material    = "material"
	materialOwn = "material, its own test file"
	zappos      = "zappos"

	// materialTest is the data set of the test file of material.
	materialTest = "material-test"
)

// judgements are they. At smoke scale all are noisy answers about points.
var judgements = []dataSet{
	{
		name: music, dataset: music,
		full: counts{Objects: 412, Train: 5500, Validation: 550, Test: 3040}, smoke: counts{Objects: 16, Train: 150, Validation: 50, Test: 80},
		least: 100, batches: batches, draw: drawAnswers,
	},
	{
		name: material, dataset: material,
		full: counts{Objects: 100, Train: 1000, Validation: 600, Test: 1000}, smoke: counts{Objects: 14, Train: 80, Validation: 40, Test: 60},
		least: 50, batches: batches, draw: drawAnswers,
	},
	{
		name: zappos, dataset: zappos,
		full: counts{Objects: 85, Train: 1000, Validation: 600, Test: 1000}, smoke: counts{Objects: 12, Train: 80, Validation: 40, Test: 60},
		least: 50, batches: batches, draw: drawAnswers,
	},
	{
		name: materialOwn, dataset: material,
		full: counts{Objects: 100, Train: 20806, Validation: 600, Test: 2738}, smoke: counts{Objects: 14, Train: 80, Validation: 40, Test: 60},
		least: 50, batches: batches, draw: drawOwnFiles,
	},
}

// What the answers of smoke scale are like.
const (
	noisyDim   = 3
	noisyShare = 0.1 // of the answers are turned round
)

// noisyAnswers are random comparisons of points, some turned round: what smoke scale has in place of people.
func noisyAnswers(seed random.Seed, c counts) (split, error) {
	all, err := noisyPoints(seed, c)
	if err != nil {
		return split{}, err
	}
	parts, err := all.Sample(seed.Stream("triplets"), c.Train, c.Validation, int(c.Test))
	if err != nil {
		return split{}, err
	}
	noise := seed.Stream("noise")
	for _, part := range parts {
		for i, t := range part {
			if noise.Float64() < noisyShare {
				part[i] = metric.Triplet{A: t.A, Near: t.Far, Far: t.Near}
			}
		}
	}
	return split{objects: c.Objects, train: parts[0], validation: parts[1], test: parts[2]}, nil
}

func noisyPoints(seed random.Seed, c counts) (*synthetic.Comparisons, error) {
	return synthetic.GaussianComparisons(seed.Stream("points"), c.Objects, noisyDim)
}

// drawAnswers divides the answers at random.
func drawAnswers(env *experiment.Env, seed random.Seed, c counts) (split, error) {
	return divide(env, seed, c, "split", c.Train, c.Validation, int(c.Test))
}

// drawOwnFiles keeps the files' own division into training and test answers.
func drawOwnFiles(env *experiment.Env, seed random.Seed, c counts) (split, error) {
	s, err := divide(env, seed, c, "own split", c.Train, c.Validation)
	if err != nil || env.Scale == experiment.Smoke {
		return s, err
	}
	test, err := env.Data.Triplets(materialTest)
	if err != nil {
		return split{}, err
	}
	s.test = test.Triplets
	return s, nil
}

// divide draws parts of the sizes given from the answers of a data set: training, validation and, if there are
// three, test triplets.
func divide(env *experiment.Env, seed random.Seed, c counts, stream string, sizes ...int) (split, error) {
	if env.Scale == experiment.Smoke {
		return noisyAnswers(seed, c)
	}
	set, err := env.Data.Triplets(seed.Dataset)
	if err != nil {
		return split{}, err
	}
	parts, err := sample.SplitTriplets(seed.Stream(stream), set.Triplets, sizes...)
	if err != nil {
		return split{}, err
	}
	parts = append(parts, nil)
	return split{objects: set.Objects, train: parts[0], validation: parts[1], test: parts[2]}, nil
}

// featureKernel returns the Gram matrix of the zappos features, of centred rows and scaled so that the mean squared
// distance of two objects is 2, as it is under K = I.
func featureKernel(env *experiment.Env, seed random.Seed, c counts) (*mat.SymDense, error) {
	var x *mat.Dense
	if env.Scale == experiment.Smoke {
		all, err := noisyPoints(sharedSeed(seed), c)
		if err != nil {
			return nil, err
		}
		x = all.Points()
	} else {
		set, err := env.Data.Triplets(seed.Dataset)
		if err != nil {
			return nil, err
		}
		x = set.Features
	}
	return scaledGram(x), nil
}

// scaledGram returns XXᵀ of the centred rows of x, scaled so that the mean squared distance of two of them is 2.
func scaledGram(x *mat.Dense) *mat.SymDense {
	n, d := x.Dims()
	centred := mat.DenseCopyOf(x)
	for j := range d {
		mean := mat.Sum(x.ColView(j)) / float64(n)
		for i := range n {
			centred.Set(i, j, x.At(i, j)-mean)
		}
	}
	k := mat.NewSymDense(n, nil)
	k.SymOuterK(1, centred)
	// Of centred rows the squared distances of all ordered pairs sum to 2n·trace.
	scale := float64(n-1) / mat.Trace(k)
	k.ScaleSym(scale, k)
	return k
}
