package erkle2015

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets/synthetic"
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/metric"
	"metriclab/pkg/plots"
	"metriclab/pkg/random"
	"metriclab/pkg/table"
)

// The methods as tables name them.
const (
	paERKLE     = "PA-ERKLE"
	steERKLE    = "STE-ERKLE"
	paERKLETen  = "PA-ERKLE, 10 passes"
	steERKLETen = "STE-ERKLE, 10 passes"
	gnmdsBatch  = "GNMDS-Batch"
	steBatch    = "STE-Batch"
	cklBatch    = "CKL-Batch"
)

// tenPasses is β of the paper's figures with more than one pass.
const tenPasses = 10

// erkles are the online methods of the paper's comparisons: PA with the hinge of margin 1 (Eq. 4.18), and STE with
// the constant step δ = 1.
var erkles = []string{paERKLE, steERKLE, paERKLETen, steERKLETen}

// onlineMethods are the parameters of all online methods that have a name.
var onlineMethods = map[string]triplets.ERKLEParams{
	paERKLE:     {},
	steERKLE:    {Loss: triplets.STE, Step: triplets.StepConstant, Delta: 1},
	paERKLETen:  {Beta: tenPasses},
	steERKLETen: {Loss: triplets.STE, Step: triplets.StepConstant, Delta: 1, Beta: tenPasses},

	steInverse:     {Loss: triplets.STE, Step: triplets.StepInverse, Delta: 1},
	steInverseSqrt: {Loss: triplets.STE, Step: triplets.StepInverseSqrt, Delta: 1},
	gnmdsInverse:   {Step: triplets.StepInverse, Delta: 1},
	gnmdsRoot:      {Step: triplets.StepInverseSqrt, Delta: 1},
	gnmdsConstant:  {Step: triplets.StepConstant, Delta: 1},
	paFrobenius:    {Gradient: triplets.GradientFrobenius},
	steFrobenius:   {Loss: triplets.STE, Step: triplets.StepConstant, Delta: 1, Gradient: triplets.GradientFrobenius},

	paLow:      {Loss: triplets.STE, P: .6},
	paRejectsA: {Reject: .15},
	paRejectsB: {Reject: .2},
	paRejectsC: {Reject: .3},
}

// erkleParams returns the parameters of an online method.
func erkleParams(method string) (triplets.ERKLEParams, error) {
	p, ok := onlineMethods[method]
	if !ok {
		return p, fmt.Errorf("erkle2015: online method: %q is not known", method)
	}
	return p, nil
}

// batchMethod is a batch method by its loss.
type batchMethod struct {
	name string
	loss triplets.Loss
}

// batches are the batch methods of the paper's comparisons.
var batches = []batchMethod{{gnmdsBatch, triplets.GNMDS}, {steBatch, triplets.STE}, {cklBatch, triplets.CKL}}

// batchOf returns the batch method of that name.
func batchOf(name string) (batchMethod, error) {
	for _, b := range batches {
		if b.name == name {
			return b, nil
		}
	}
	return batchMethod{}, fmt.Errorf("erkle2015: batch method: %q is not known", name)
}

// methodVersions are the versions of what the experiments use.
var methodVersions = map[string]int{"ERKLE": triplets.ERKLEVersion, "batch": triplets.BatchVersion}

// counts are the numbers of objects and of triplets of a split.
type counts struct {
	Objects    int       `key:"objects"`
	Train      int       `key:"train"`
	Validation int       `key:"validation"`
	Test       testCount `key:"test"`
}

// testCount is a number of test triplets; 0 means that all other comparisons of the objects test.
type testCount int

func (c testCount) String() string {
	if c == 0 {
		return "all others"
	}
	return strconv.Itoa(int(c))
}

// splitSettings say which split a trial draws.
type splitSettings struct {
	Data string `key:"data"` // the name of a dataSet
	counts
}

// draws are the settings of the split of any settings that embed them.
func (s splitSettings) draws() splitSettings { return s }

// stopping are the settings by which a batch method stops.
type stopping struct {
	Iterations int     `key:"iterations"`
	Tol        float64 `key:"tolerance"`
}

// stopsEarly are those of batch methods that are fitted at several sizes.
var stopsEarly = stopping{batchIterations, batchTol}

// list is a list of numbers or names in the settings.
type list[T any] []T

func (l list[T]) String() string {
	out := make([]string, len(l))
	for i, x := range l {
		if v, ok := any(x).(float64); ok {
			out[i] = table.Format(v)
		} else {
			out[i] = fmt.Sprint(x)
		}
	}
	return strings.Join(out, ", ")
}

// dataSet is a source of splits that several experiments share: in a trial all of them see the same one.
type dataSet struct {
	// name is that of the cells, dataset that in the registry, or of a generator.
	name, dataset string
	full, smoke   counts
	// least is the smallest number of triplets at which batch methods are fitted at full scale.
	least int
	// batches are the batch methods that run on it.
	batches []batchMethod
	// taus are the weights of the trace to choose from, ascending, of the methods whose grid is not tauGrid.
	taus map[string]list[float64]
	// draw returns the split of a trial.
	draw func(env *experiment.Env, seed random.Seed, c counts) (split, error)
}

// The data sets by name.
const (
	syntheticPoints = "synthetic"
	synthetic500    = "synthetic, n = 500"
	synthetic1250   = "synthetic, n = 1250"
)

// dataSets are those on which batch methods run.
var dataSets = append([]dataSet{
	{
		name: syntheticPoints, dataset: "points in R50",
		full: counts{Objects: 100, Train: 10000, Validation: 1000}, smoke: counts{Objects: 20, Train: 300, Validation: 100},
		least: 100, batches: batches, taus: map[string]list[float64]{gnmdsBatch: {0.0001, 0.001, 0.01, 0.1, 1}}, draw: drawSynthetic,
	},
	{
		// The large synthetic data with the ratio of triplets to objects kept.
		name: synthetic500, dataset: "500 points in R50",
		full: counts{Objects: 500, Train: 1000, Validation: 500, Test: 5000}, smoke: counts{Objects: 25, Train: 50, Validation: 25, Test: 200},
		least: 50, batches: batches[:1], taus: map[string]list[float64]{gnmdsBatch: {0.00001, 0.0001, 0.001, 0.01, 0.1}}, draw: drawSynthetic,
	},
	{
		// The same at a quarter of the paper's size, for steps alone: none is fitted with a chosen τ.
		name: synthetic1250, dataset: "1250 points in R50",
		full: counts{Objects: 1250, Train: 2500, Validation: 1250, Test: 12500}, smoke: counts{Objects: 30, Train: 60, Validation: 30, Test: 200},
		least: 125, draw: drawSynthetic,
	},
}, judgements...)

// dataSetOf returns the data set of that name.
func dataSetOf(name string) (dataSet, error) {
	for _, d := range dataSets {
		if d.name == name {
			return d, nil
		}
	}
	return dataSet{}, fmt.Errorf("erkle2015: data set: %q is not known", name)
}

// grid are the weights of the trace to choose from.
func (d dataSet) grid(method string) list[float64] {
	if g, ok := d.taus[method]; ok {
		return g
	}
	return tauGrid
}

// at returns the counts of a scale.
func (d dataSet) at(scale experiment.Scale) counts {
	if scale == experiment.Smoke {
		return d.smoke
	}
	return d.full
}

// datasetAt is the cell's data set at a scale: at smoke scale all are generated.
func (d dataSet) datasetAt(scale experiment.Scale) string {
	if scale == experiment.Smoke {
		return "generated " + d.dataset
	}
	return d.dataset
}

// settings are those of a cell at a scale.
func (d dataSet) settings(scale experiment.Scale) splitSettings {
	return splitSettings{d.name, d.at(scale)}
}

// batchSizes is the number of sizes at which batch methods are fitted.
const batchSizes = 12

// sizes are the numbers of training triplets at which batch methods are fitted.
func (d dataSet) sizes(scale experiment.Scale) []int {
	c := d.at(scale)
	least, n := d.least, batchSizes
	if scale == experiment.Smoke {
		least, n = max(10, c.Train/20), 4
	}
	return logSizes(least, c.Train, n)
}

// logSizes returns n sizes from least to most, equally spaced in their logarithms.
func logSizes(least, most, n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = int(math.Round(float64(least) * math.Pow(float64(most)/float64(least), float64(i)/float64(n-1))))
	}
	return slices.Compact(out)
}

// split is the split of one trial. No triplet stands in two parts.
type split struct {
	objects                 int
	train, validation, test []metric.Triplet
	// all is nil, or the comparisons from which the parts were drawn, of which in place of test those test that
	// are in no other part.
	all *synthetic.Comparisons
	// clean are train and validation before their answers were flipped; nil if none is.
	clean []metric.Triplet
}

// splitOf draws the split of a trial, the same in all experiments of the paper.
func splitOf(env *experiment.Env, s splitSettings, seed random.Seed) (split, error) {
	d, err := dataSetOf(s.Data)
	if err != nil {
		return split{}, err
	}
	return d.draw(env, sharedSeed(seed), s.counts)
}

// splitRun is a trial with its split.
type splitRun struct {
	*experiment.Run
	split split
}

// measured is the trial of a cell whose settings say which split it draws, and measure with it what they say.
func measured(ctx context.Context, run *experiment.Run) error {
	part := run.Cell.Settings.(interface {
		draws() splitSettings
		measure(ctx context.Context, r splitRun) error
	})
	s, err := splitOf(run.Env, part.draws(), run.Seed)
	if err != nil {
		return err
	}
	return part.measure(ctx, splitRun{run, s})
}

// sharedSeed is the seed of what all experiments of the paper share.
func sharedSeed(seed random.Seed) random.Seed {
	seed.Experiment = paperKey
	return seed
}

// drawSynthetic answers random comparisons of points from a Gaussian without error (Section 5.1).
func drawSynthetic(env *experiment.Env, seed random.Seed, c counts) (split, error) {
	dim := 50
	if env.Scale == experiment.Smoke {
		dim = 5
	}
	all, err := synthetic.GaussianComparisons(seed.Stream("points"), c.Objects, dim)
	if err != nil {
		return split{}, err
	}
	parts, err := all.Sample(seed.Stream("triplets"), c.Train, c.Validation, int(c.Test))
	if err != nil {
		return split{}, err
	}
	s := split{objects: c.Objects, train: parts[0], validation: parts[1], test: parts[2]}
	if c.Test == 0 {
		s.all = all
	}
	return s, nil
}

// errorCount counts the triplets that a kernel does not satisfy; ties, which count among the wrong, are those
// whose two distances agree up to triplets.TieTolerance.
type errorCount struct{ wrong, ties, of int }

// errorsOf counts a kernel's errors on triplets.
func errorsOf(k mat.Symmetric, ts []metric.Triplet) errorCount {
	strict, half := triplets.Errors(k, ts)
	return newErrorCount(strict, half, len(ts))
}

func newErrorCount(strict, half float64, of int) errorCount {
	n := float64(of)
	return errorCount{int(math.Round(strict * n)), int(math.Round(2 * (strict - half) * n)), of}
}

// errors are the cells of a kernel's errors on the validation and the test triplets.
func (s split) errors(k mat.Symmetric) table.Values {
	v := table.Values{}
	errorsOf(k, s.validation).put(v, "validation")
	s.testErrors(k).put(v, "test")
	return v
}

// testErrors counts a kernel's errors on the test triplets.
func (s split) testErrors(k mat.Symmetric) errorCount {
	if s.all == nil {
		return errorsOf(k, s.test)
	}
	known := s.clean
	if known == nil {
		known = slices.Concat(s.train, s.validation)
	}
	strict, half := s.all.Errors(k, triplets.TieTolerance, known...)
	return newErrorCount(strict, half, s.all.Len()-len(known))
}

// errorColumns declare the columns of an errorCount of a part, "test", "validation" or "train", in rows of the kinds named; in all if
// none is.
func errorColumns(part string, kinds ...string) experiment.Columns {
	of := part + " triplets"
	if part == "train" {
		of = "training triplets seen so far"
	}
	out := experiment.Columns{
		experiment.Number(part+" wrong", "", of+" that the kernel does not satisfy, ties among them"),
		experiment.Number(part+" ties", "", of+" whose two distances agree up to rounding"),
		experiment.Number(part+" triplets", "", "how many "+of+" there are"),
	}
	for i := range out {
		out[i].Kinds = kinds
	}
	return out
}

// put sets the columns of a part.
func (c errorCount) put(v table.Values, part string) {
	v[part+" wrong"], v[part+" ties"], v[part+" triplets"] = float64(c.wrong), float64(c.ties), float64(c.of)
}

// strictIn is the share of triplets of a part that are not satisfied, a tie being an error (the paper's measure).
func strictIn(part string) frame.Measure { return errorShare(part, 0) }

// halfIn is strictIn with a tie as half an error.
func halfIn(part string) frame.Measure { return errorShare(part, 0.5) }

// The measures of the test triplets.
var (
	testErrors = strictIn("test")
	testHalf   = halfIn("test")
)

func errorShare(part string, tie float64) frame.Measure {
	return frame.Column(part + " wrong").Minus(frame.Column(part + " ties").Times(tie)).Over(frame.Column(part + " triplets"))
}

// mapped is a function of each of some values.
func mapped[T, R any](values []T, of func(T) R) []R {
	out := make([]R, len(values))
	for i, v := range values {
		out[i] = of(v)
	}
	return out
}

// points are differences of errors.
var points = judge.Rule{Scale: 100, Unit: "points"}

// maxCount is the largest number of objects or triplets.
const maxCount = 1_000_000_000

// count reads a number of objects or triplets in a column of names.
func count(column, cell string) int {
	return experiment.Whole("erkle2015: column "+column, frame.Parse(column, cell), 1, maxCount)
}

// countsIn reads the numbers of objects or triplets in a column of names.
func countsIn(t *table.Table, column string) []int {
	out := make([]int, t.Len())
	for i, cell := range t.Index(column) {
		out[i] = count(column, cell)
	}
	return out
}

// runERKLE feeds the training triplets to ERKLE and calls at after each number of triplets in checkpoints, which
// ascend. What the learner draws depends on the trial alone.
func runERKLE(ctx context.Context, s split, p triplets.ERKLEParams, seed random.Seed, checkpoints []int, at func(seen int, l *triplets.ERKLE)) error {
	p.Seed = seed.PCG("passes").Uint64()
	l, err := triplets.NewERKLE(s.objects, p)
	if err != nil {
		return err
	}
	for i, t := range s.train {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := l.Step(t); err != nil {
			return err
		}
		if len(checkpoints) > 0 && checkpoints[0] == i+1 {
			at(i+1, l)
			checkpoints = checkpoints[1:]
		}
	}
	return nil
}

// Stopping of the batch methods. The paper stops after 1000 iterations, or when the objective changes by less than 1e-7.
const (
	// batchIterations is the cap where a batch method is fitted at several sizes.
	batchIterations = 100
	// convergedIterations is the cap of the readings that run on; with many triplets not all of their fits converge.
	convergedIterations = 1000
	// convergedTol is the residual at which these stop.
	convergedTol = 1e-4
	// batchTol is the residual at which a batch method stops: the duality gap in units of the objective of K = 0.
	batchTol = 1e-3
)

// fitPath fits a batch method to the first sizes[0], sizes[1], ... training triplets, each time starting from the kernel of the
// size before, and calls at with each result. p.Initial is that of the first.
func fitPath(ctx context.Context, s split, sizes []int, p triplets.BatchParams, at func(seen int, r triplets.BatchResult)) error {
	for _, size := range sizes {
		r, err := triplets.FitBatch(ctx, s.objects, s.train[:size], p)
		if err != nil {
			return err
		}
		at(size, r)
		p.Initial = r.Kernel
	}
	return nil
}

// The readings of how τ is chosen: one for all numbers of triplets, except for byEnd.
const (
	byValidation = "τ by validation"
	byTest       = "τ best on test"
	byEnd        = "τ by validation after all triplets"
)

// saysOf is frame.Says of what a table says is shown.
func saysOf(shows func(t *table.Table) string, data, protocol string) func(*table.Table) plots.Caption {
	return func(t *table.Table) plots.Caption { return frame.Says(shows(t), data, protocol, "")(t) }
}

// stylesOf are the lines of some methods.
func stylesOf(methods []string) []plots.Line {
	return mapped(methods, func(method string) plots.Line { return styles[method] })
}

// styles are the lines of the methods.
var styles = map[string]plots.Line{
	paERKLE:     {Name: paERKLE, Color: 0, Dashed: true},
	paERKLETen:  {Name: paERKLETen, Color: 0},
	steERKLE:    {Name: steERKLE, Color: 1, Dashed: true},
	steERKLETen: {Name: steERKLETen, Color: 1},
	gnmdsBatch:  {Name: gnmdsBatch, Color: 2},
	steBatch:    {Name: steBatch, Color: 3},
	cklBatch:    {Name: cklBatch, Color: 4},

	steInverse:     {Name: steInverse, Color: 2},
	steInverseSqrt: {Name: steInverseSqrt, Color: 3},
	gnmdsInverse:   {Name: gnmdsInverse, Color: 2},
	gnmdsRoot:      {Name: gnmdsRoot, Color: 3},
	gnmdsConstant:  {Name: gnmdsConstant, Color: 4},
	paFrobenius:    {Name: paFrobenius, Color: 0},
	steFrobenius:   {Name: steFrobenius, Color: 1},

	paLow:      {Name: paLow, Color: 4},
	paRejectsA: {Name: paRejectsA, Color: 2},
	paRejectsB: {Name: paRejectsB, Color: 3},
	paRejectsC: {Name: paRejectsC, Color: 5},
}
