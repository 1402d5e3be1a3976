package protocol

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/datasets/synthetic"
	"metriclab/pkg/experiment"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/metric"
	"metriclab/pkg/random"
	"metriclab/pkg/table"
)

const PaperKey = "erkle2015"

// RelationNames are those of tables.
var RelationNames = [...]string{triplets.RelationUnordered: "new", triplets.RelationImplied: "agreeing", triplets.RelationConflicting: "conflicting"}

// Relations returns how each triplet stands to those before it.
func Relations(ts []metric.Triplet) []triplets.Relation {
	var o triplets.Order
	out := make([]triplets.Relation, len(ts))
	for i, t := range ts {
		out[i] = o.Relation(t)
		o.Add(t)
	}
	return out
}

// Contradicted counts the triplets of ts whose opposite the known ones imply: a kernel that satisfies all of
// known violates them.
func Contradicted(known, ts []metric.Triplet) int {
	var o triplets.Order
	for _, t := range known {
		o.Add(t)
	}
	n := 0
	for _, t := range ts {
		if o.Relation(t) == triplets.RelationConflicting {
			n++
		}
	}
	return n
}

// The methods as tables name them.
const (
	PAERKLE     = "PA-ERKLE"
	STEERKLE    = "STE-ERKLE"
	PAERKLETen  = "PA-ERKLE, 10 passes"
	STEERKLETen = "STE-ERKLE, 10 passes"
	GNMDSBatch  = "GNMDS-Batch"
	STEBatch    = "STE-Batch"
	CKLBatch    = "CKL-Batch"
)

// BatchMethod is a batch method by its loss.
type BatchMethod struct {
	Name string
	Loss triplets.Loss
}

// Batches are the batch methods of the paper's figures.
var Batches = []BatchMethod{{GNMDSBatch, triplets.GNMDS}, {STEBatch, triplets.STE}, {CKLBatch, triplets.CKL}}

// Counts are the numbers of objects and of triplets of a split.
type Counts struct {
	Objects    int       `key:"objects"`
	Train      int       `key:"train"`
	Validation int       `key:"validation"`
	Test       TestCount `key:"test"`
}

// TestCount is a number of test triplets; 0 means that all other triplets of the objects test.
type TestCount int

// SplitSettings say which split a trial draws.
type SplitSettings struct {
	Data string `key:"data"` // the name of a DataSet
	Counts
}

// List is a list of numbers or names in the settings.
type List[T any] []T

// DataSet is a source of splits that several experiments share: in a trial all of them see the same one.
type DataSet struct {
	// Name is that of the cells, dataset that in the registry, or of a generator.
	Name, Dataset string
	Full, Smoke   Counts
	// least is the smallest number of triplets at which batch methods are fitted at full scale.
	least int
	// Batches are the batch methods that run on it.
	Batches []BatchMethod
	// taus are the weights of the trace to choose from, ascending, of the methods whose grid is not TauGrid.
	taus map[string]List[float64]
	// draw returns the split of a trial.
	draw func(env *experiment.Env, seed random.Seed, c Counts) (Split, error)
}

// At returns the counts of a scale.
func (d DataSet) At(scale experiment.Scale) Counts {
	if scale == experiment.Smoke {
		return d.Smoke
	}
	return d.Full
}

// Settings are those of a cell at a scale.
func (d DataSet) Settings(scale experiment.Scale) SplitSettings {
	return SplitSettings{d.Name, d.At(scale)}
}

// Cell is a cell about the data set at a scale. Batch fits of many objects have a version of their own.
func (d DataSet) Cell(scale experiment.Scale, name string, settings any, methods map[string]int) experiment.Cell {
	if _, batch := methods["batch"]; batch && d.At(scale).Objects >= triplets.BatchLarge {
		methods = maps.Clone(methods)
		methods["large batch"] = triplets.BatchLargeVersion
	}
	return experiment.Cell{Name: name, Dataset: d.DatasetAt(scale), Settings: settings, Methods: methods, Supplied: IsSupplied(d.Name)}
}

// BatchSizes is the number of sizes at which batch methods are fitted.
const BatchSizes = 12

// Sizes are the numbers of training triplets at which batch methods are fitted.
func (d DataSet) Sizes(scale experiment.Scale) []int {
	c := d.At(scale)
	least, n := d.least, BatchSizes
	if scale == experiment.Smoke {
		least, n = max(10, c.Train/20), 4
	}
	return LogSizes(least, c.Train, n)
}

// LogSizes returns n sizes from least to most, equally spaced in their logarithms.
func LogSizes(least, most, n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = int(math.Round(float64(least) * math.Pow(float64(most)/float64(least), float64(i)/float64(n-1))))
	}
	return slices.Compact(out)
}

// Split is the split of one trial. No triplet stands in two parts.
type Split struct {
	Objects                 int
	Train, Validation, Test []metric.Triplet
	// All is nil, or the comparisons from which the parts were drawn, of which in place of test those test that
	// are in no other part.
	All *synthetic.Comparisons
	// Clean are train and validation before their answers were flipped; nil if none is.
	Clean []metric.Triplet
}

// SharedSeed is the seed of what all experiments of the paper share.
func SharedSeed(seed random.Seed) random.Seed {
	seed.Experiment = PaperKey
	return seed
}

// ErrorCount counts the triplets that a kernel does not satisfy; ties, which count among the wrong, are those
// whose two distances agree up to triplets.TieTolerance.
type ErrorCount struct{ Wrong, Ties, Of int }

// ErrorsOf counts a kernel's errors on triplets.
func ErrorsOf(k mat.Symmetric, ts []metric.Triplet) ErrorCount {
	strict, half := triplets.Errors(k, ts)
	return NewErrorCount(strict, half, len(ts))
}

func NewErrorCount(strict, half float64, of int) ErrorCount {
	n := float64(of)
	return ErrorCount{int(math.Round(strict * n)), int(math.Round(2 * (strict - half) * n)), of}
}

// Errors are the cells of a kernel's errors on the validation and the test triplets.
func (s Split) Errors(k mat.Symmetric) table.Values {
	v := table.Values{}
	ErrorsOf(k, s.Validation).Put(v, "validation")
	s.TestErrors(k).Put(v, "test")
	return v
}

// TestErrors counts a kernel's errors on the test triplets.
func (s Split) TestErrors(k mat.Symmetric) ErrorCount {
	if s.All == nil {
		return ErrorsOf(k, s.Test)
	}
	known := s.Clean
	if known == nil {
		known = slices.Concat(s.Train, s.Validation)
	}
	strict, half := s.All.Errors(k, triplets.TieTolerance, known...)
	return NewErrorCount(strict, half, s.All.Len()-len(known))
}

// Put sets the columns of a part.
func (c ErrorCount) Put(v table.Values, part string) {
	v[part+" wrong"], v[part+" ties"], v[part+" triplets"] = float64(c.Wrong), float64(c.Ties), float64(c.Of)
}

// The names of data sets of people's answers. Music is the paper's survey in a cleaned, smaller release; material and zappos stand
// in for the answers about outdoor scenes, which are not public.
const (
	Music       = "music"
	Material    = "material"
	MaterialOwn = "material, its own test file"
	Zappos      = "zappos"

	// FullSurvey and OutdoorScenes are the paper's own answers.
	FullSurvey    = "aset400"
	OutdoorScenes = "outdoor scenes"

	// materialTest is the data set of the test file of material.
	materialTest = "material-test"
)

// Answered are the data sets of answers. At smoke scale all are noisy answers about points.
var Answered = []DataSet{
	{
		Name: Music, Dataset: Music,
		Full: Counts{Objects: 412, Train: 5500, Validation: 550, Test: 3040}, Smoke: Counts{Objects: 16, Train: 150, Validation: 50, Test: 80},
		least: 100, Batches: Batches, draw: drawAnswers,
	},
	{
		Name: Material, Dataset: Material,
		Full: Counts{Objects: 100, Train: 1000, Validation: 600, Test: 1000}, Smoke: Counts{Objects: 14, Train: 80, Validation: 40, Test: 60},
		least: 50, Batches: Batches, draw: drawAnswers,
	},
	{
		Name: Zappos, Dataset: Zappos,
		Full: Counts{Objects: 85, Train: 1000, Validation: 600, Test: 1000}, Smoke: Counts{Objects: 12, Train: 80, Validation: 40, Test: 60},
		least: 50, Batches: Batches, draw: drawAnswers,
	},
	{
		Name: MaterialOwn, Dataset: Material,
		Full: Counts{Objects: 100, Train: 20806, Validation: 600, Test: 2738}, Smoke: Counts{Objects: 14, Train: 80, Validation: 40, Test: 60},
		least: 50, Batches: Batches, draw: drawOwnFiles,
	},
}

// Supplied are the paper's own answers, in place of music and of the stand-ins. Only a user can supply them, at full scale; erkle2015/tau does not run on
// them, so that τ is chosen among the fits of the experiments themselves.
var Supplied = []DataSet{
	{
		Name: FullSurvey, Dataset: "aset400",
		Full:  Counts{Objects: 412, Train: 10000, Validation: 1000}, // and the rest
		least: 100, Batches: Batches, draw: drawAnswers,
	},
	{
		Name: OutdoorScenes, Dataset: "osr",
		Full:  Counts{Objects: 200, Train: 1000, Validation: 600, Test: 1000},
		least: 50, Batches: Batches, draw: drawAnswers,
	},
}

// IsSupplied reports whether a data set is one of Supplied.
func IsSupplied(name string) bool {
	return slices.ContainsFunc(Supplied, func(d DataSet) bool { return d.Name == name })
}

// What the answers of smoke scale are like.
const (
	noisyDim   = 3
	noisyShare = 0.1 // of the answers are turned round
)

// NoisyAnswers are answers to random questions about points, some turned round: what smoke scale has in place of people.
func NoisyAnswers(seed random.Seed, c Counts) (Split, error) {
	s, err := answersAbout(seed, c, noisyDim)
	noise := seed.Stream("noise")
	for _, part := range []*[]metric.Triplet{&s.Train, &s.Validation, &s.Test} {
		*part = Flipped(noise, *part, noisyShare)
	}
	return s, err
}

// Flipped returns ts with each triplet's answer flipped with the probability share. With the same stream the triplets that are flipped at a
// share are flipped at every larger one.
func Flipped(rng *rand.Rand, ts []metric.Triplet, share float64) []metric.Triplet {
	out := slices.Clone(ts)
	for i, t := range out {
		if rng.Float64() < share {
			out[i] = metric.Triplet{A: t.A, Near: t.Far, Far: t.Near}
		}
	}
	return out
}

// answersAbout are answers without error to random questions about points from a Gaussian.
func answersAbout(seed random.Seed, c Counts, dim int) (Split, error) {
	all, err := synthetic.GaussianComparisons(seed.Stream("points"), c.Objects, dim)
	if err != nil {
		return Split{}, err
	}
	parts, err := all.Sample(seed.Stream("triplets"), c.Train, c.Validation, int(c.Test))
	if err != nil {
		return Split{}, err
	}
	s := Split{Objects: c.Objects, Train: parts[0], Validation: parts[1], Test: parts[2]}
	if c.Test == 0 {
		s.All = all
	}
	return s, nil
}

// drawAnswers divides the answers at random. If no number of test answers is given, all that are left test.
func drawAnswers(env *experiment.Env, seed random.Seed, c Counts) (Split, error) {
	sizes := []int{c.Train, c.Validation}
	if c.Test > 0 {
		sizes = append(sizes, int(c.Test))
	}
	s, err := divide(env, seed, c, "split", sizes...)
	if err == nil && len(s.Test) == 0 {
		err = fmt.Errorf("erkle2015: %s: no answer is left to test beside %d that train and %d that validate", seed.Dataset, c.Train, c.Validation)
	}
	return s, err
}

// drawOwnFiles keeps the files' own division into training and test answers.
func drawOwnFiles(env *experiment.Env, seed random.Seed, c Counts) (Split, error) {
	s, err := divide(env, seed, c, "own split", c.Train, c.Validation)
	if err != nil || env.Scale == experiment.Smoke {
		return s, err
	}
	test, err := env.Data.Triplets(materialTest)
	if err != nil {
		return Split{}, err
	}
	s.Test = test.Triplets
	return s, nil
}

// divide draws parts of the sizes given from the answers of a data set: training, validation and, if there are
// three, test triplets; else all others are these.
func divide(env *experiment.Env, seed random.Seed, c Counts, stream string, sizes ...int) (Split, error) {
	if env.Scale == experiment.Smoke {
		return NoisyAnswers(seed, c)
	}
	set, err := env.Data.Triplets(seed.Dataset)
	if err != nil {
		return Split{}, err
	}
	parts, err := sample.SplitTriplets(seed.Stream(stream), set.Triplets, sizes...)
	if err != nil {
		return Split{}, fmt.Errorf("erkle2015: answers of %s: %w", seed.Dataset, err)
	}
	return Split{Objects: set.Objects, Train: parts[0], Validation: parts[1], Test: parts[2]}, nil
}

// FeatureKernel returns the Gram matrix of the zappos features, of centred rows and scaled so that the mean squared
// distance of two objects is 2, as it is under K = I.
func FeatureKernel(env *experiment.Env, seed random.Seed, c Counts) (*mat.SymDense, error) {
	var x *mat.Dense
	if env.Scale == experiment.Smoke {
		all, err := synthetic.GaussianComparisons(SharedSeed(seed).Stream("points"), c.Objects, noisyDim)
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
	return ScaledGram(x), nil
}

// ScaledGram returns XXᵀ of the centred rows of x, scaled so that the mean squared distance of two of them is 2.
func ScaledGram(x *mat.Dense) *mat.SymDense {
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

// AnsweredSettings are the settings that all cells of Figs. 3 and 4 have.
type AnsweredSettings struct {
	SplitSettings
	Sizes []int `key:"sizes,list"` // numbers of triplets at which all methods are scored
	// Every is the number of triplets from one evaluation of the paper's ERKLE methods to the next. The
	// cell of MaterialOwn does not heed it.
	Every int `key:"every,omitzero"`
	// Families are the values to choose from, by family of ERKLE methods.
	Families map[string]List[float64] `key:"%v"`
}

// Scored returns the settings of a scale.
func (d DataSet) Scored(scale experiment.Scale) AnsweredSettings {
	return AnsweredSettings{SplitSettings: d.Settings(scale), Sizes: d.Sizes(scale)}
}

// ErrorsAfter are the cells of the errors of a kernel that was learned from the first triplets, on these, too.
func (s Split) ErrorsAfter(seen int, k mat.Symmetric) table.Values {
	v := s.Errors(k)
	ErrorsOf(k, s.Train[:seen]).Put(v, "train")
	return v
}
