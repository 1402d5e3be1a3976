package protocol

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/plots"
	"metriclab/pkg/random"
	"metriclab/pkg/table"
)

// TauGrid are the weights among which is chosen on most data sets.
var TauGrid = List[float64]{0.01, 0.1, 1, 10, 100}

// Methods of Fig. 1 beside those of all figures: other step rules, and other readings of the gradient.
const (
	STEInverse     = "STE-ERKLE, δ = 1/j"
	STEInverseSqrt = "STE-ERKLE, δ = 1/√j"
	GNMDSInverse   = "GNMDS-ERKLE, δ = 1/j"
	GNMDSRoot      = "GNMDS-ERKLE, δ = 1/√j"
	GNMDSConstant  = "GNMDS-ERKLE, δ = 1"
	PAFrobenius    = "PA-ERKLE, Frobenius gradient"
	STEFrobenius   = "STE-ERKLE, Frobenius gradient"
)

// Methods of Fig. 4 beside those of all figures, of which the paper has none.
const (
	PATrace       = "PA-ERKLE, trace"
	FeaturesAlone = "features, no learning"
	PAFeatures    = "PA-ERKLE from features"
	PAFeaturesTen = "PA-ERKLE from features, 10 passes"
)

// Methods of erkle2015/flips beside those of all figures.
const (
	PALow      = "PA-ERKLE, P = 0.6"
	PARejectsA = "PA-ERKLE, reject γ > 0.15"
	PARejectsB = "PA-ERKLE, reject γ > 0.2"
	PARejectsC = "PA-ERKLE, reject γ > 0.3"
)

// TenPasses is β of the paper's figures with more than one pass.
const TenPasses = 10

// ERKLEs are the online methods of the paper's figures: PA with the hinge of margin 1 (Eq. 4.18), and STE with
// the constant step δ = 1.
var ERKLEs = []string{PAERKLE, STEERKLE, PAERKLETen, STEERKLETen}

// OnlineMethods are the parameters of all online methods that have a name.
var OnlineMethods = map[string]triplets.ERKLEParams{
	PAERKLE:     {},
	STEERKLE:    {Loss: triplets.STE, Step: triplets.StepConstant, Delta: 1},
	PAERKLETen:  {Beta: TenPasses},
	STEERKLETen: {Loss: triplets.STE, Step: triplets.StepConstant, Delta: 1, Beta: TenPasses},

	STEInverse:     {Loss: triplets.STE, Step: triplets.StepInverse, Delta: 1},
	STEInverseSqrt: {Loss: triplets.STE, Step: triplets.StepInverseSqrt, Delta: 1},
	GNMDSInverse:   {Step: triplets.StepInverse, Delta: 1},
	GNMDSRoot:      {Step: triplets.StepInverseSqrt, Delta: 1},
	GNMDSConstant:  {Step: triplets.StepConstant, Delta: 1},
	PAFrobenius:    {Gradient: triplets.GradientFrobenius},
	STEFrobenius:   {Loss: triplets.STE, Step: triplets.StepConstant, Delta: 1, Gradient: triplets.GradientFrobenius},

	PALow:      {Loss: triplets.STE, P: .6},
	PARejectsA: {Reject: .15},
	PARejectsB: {Reject: .2},
	PARejectsC: {Reject: .3},
}

// ErkleParams are the parameters of an online method. Another name is a bug.
func ErkleParams(method string) triplets.ERKLEParams {
	p, ok := OnlineMethods[method]
	if !ok {
		panic(fmt.Sprintf("protocol: online method: %q is not known", method))
	}
	return p
}

// named is the one of a name among all. Another name is a bug.
func named[T any](name string, all []T, of func(T) string) T {
	i := slices.IndexFunc(all, func(x T) bool { return of(x) == name })
	if i < 0 {
		panic(fmt.Sprintf("protocol: %q is not known", name))
	}
	return all[i]
}

// BatchOf is the batch method of that name.
func BatchOf(name string) BatchMethod {
	return named(name, Batches, func(b BatchMethod) string { return b.Name })
}

// MethodVersions are the versions of what the experiments use, and ERKLEVersion is that of those with ERKLE alone.
var (
	MethodVersions = map[string]int{"ERKLE": triplets.ERKLEVersion, "batch": triplets.BatchVersion}
	ERKLEVersion   = map[string]int{"ERKLE": triplets.ERKLEVersion}
)

func (c TestCount) String() string {
	if c == 0 {
		return "all others"
	}
	return strconv.Itoa(int(c))
}

// Draws are the settings of the split of any settings that embed them.
func (s SplitSettings) Draws() SplitSettings { return s }

// Stopping are the settings by which a batch method stops.
type Stopping struct {
	Iterations int     `key:"iterations"`
	Tol        float64 `key:"tolerance"`
}

// StopsEarly are those of batch methods that are fitted at several sizes.
var StopsEarly = Stopping{BatchIterations, BatchTol}

func (l List[T]) String() string {
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

// The data sets by name.
const (
	SyntheticPoints = "synthetic"
	Synthetic500    = "synthetic, n = 500"
	Synthetic1250   = "synthetic, n = 1250"
	Synthetic5000   = "synthetic, n = 5000"
)

// DataSets are those on which batch methods run.
var DataSets = append([]DataSet{
	{
		Name: SyntheticPoints, Dataset: "points in R50",
		Full: Counts{Objects: 100, Train: 10000, Validation: 1000}, Smoke: Counts{Objects: 20, Train: 300, Validation: 100},
		least: 100, Batches: Batches, taus: map[string]List[float64]{GNMDSBatch: {0.0001, 0.001, 0.01, 0.1, 1}}, draw: DrawSynthetic,
	},
	{
		// The large synthetic data with the ratio of triplets to objects kept.
		Name: Synthetic500, Dataset: "500 points in R50",
		Full: Counts{Objects: 500, Train: 1000, Validation: 500, Test: 5000}, Smoke: Counts{Objects: 25, Train: 50, Validation: 25, Test: 200},
		least: 50, Batches: Batches[:1], taus: map[string]List[float64]{GNMDSBatch: {0.00001, 0.0001, 0.001, 0.01, 0.1}}, draw: DrawSynthetic,
	},
	{
		// The same at a quarter of the paper's size, for steps alone: none is fitted with a chosen τ.
		Name: Synthetic1250, Dataset: "1250 points in R50",
		Full: Counts{Objects: 1250, Train: 2500, Validation: 1250, Test: 12500}, Smoke: Counts{Objects: 30, Train: 60, Validation: 30, Test: 200},
		least: 125, draw: DrawSynthetic,
	},
	{
		// The paper's size, for steps alone.
		Name: Synthetic5000, Dataset: "5000 points in R50",
		Full: Counts{Objects: 5000, Train: 10000, Validation: 5000, Test: 50000}, Smoke: Counts{Objects: 30, Train: 60, Validation: 30, Test: 200},
		least: 500, draw: DrawSynthetic,
	},
}, Answered...)

// DataSetOf is the data set of that name.
func DataSetOf(name string) DataSet {
	return named(name, slices.Concat(DataSets, Supplied), func(d DataSet) string { return d.Name })
}

// Grid are the weights of the trace to choose from.
func (d DataSet) Grid(method string) List[float64] {
	if g, ok := d.taus[method]; ok {
		return g
	}
	return TauGrid
}

// DatasetAt is the cell's data set at a scale: at smoke scale all are generated.
func (d DataSet) DatasetAt(scale experiment.Scale) string {
	if scale == experiment.Smoke {
		return "generated " + d.Dataset
	}
	return d.Dataset
}

// SplitOf draws the split of a trial, the same in all experiments of the paper.
func SplitOf(env *experiment.Env, s SplitSettings, seed random.Seed) (Split, error) {
	return DataSetOf(s.Data).draw(env, SharedSeed(seed), s.Counts)
}

// SplitRun is a trial with its split.
type SplitRun struct {
	*experiment.Run
	Split Split
}

// Measured is the trial of a cell whose settings say which split it draws, and measure with it what they say.
func Measured(ctx context.Context, run *experiment.Run) error {
	part := run.Cell.Settings.(interface {
		Draws() SplitSettings
		Measure(ctx context.Context, r SplitRun) error
	})
	s, err := SplitOf(run.Env, part.Draws(), run.Seed)
	if err != nil {
		return err
	}
	return part.Measure(ctx, SplitRun{run, s})
}

// DrawSynthetic draws answers about points as in Section 5.1.
func DrawSynthetic(env *experiment.Env, seed random.Seed, c Counts) (Split, error) {
	if env.Scale == experiment.Smoke {
		return answersAbout(seed, c, 5)
	}
	return answersAbout(seed, c, 50)
}

// ErrorColumns declare the columns of an ErrorCount of a part, "test", "validation" or "train", in rows of the kinds named; in all if
// none is.
func ErrorColumns(part string, kinds ...string) experiment.Columns {
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

// StrictIn is the share of triplets of a part that are not satisfied, a tie being an error (the paper's measure).
func StrictIn(part string) frame.Measure { return ErrorShare(part, 0) }

// halfIn is StrictIn with a tie as half an error.
func halfIn(part string) frame.Measure { return ErrorShare(part, 0.5) }

// The measures of the test triplets.
var (
	TestErrors = StrictIn("test")
	TestHalf   = halfIn("test")
)

func ErrorShare(part string, tie float64) frame.Measure {
	return frame.Column(part + " wrong").Minus(frame.Column(part + " ties").Times(tie)).Over(frame.Column(part + " triplets"))
}

// Mapped is a function of each of some values.
func Mapped[T, R any](values []T, of func(T) R) []R {
	out := make([]R, len(values))
	for i, v := range values {
		out[i] = of(v)
	}
	return out
}

// Pairs are each of some values with each of others, the first outermost.
func Pairs(first, second []string) (out [][2]string) {
	for _, a := range first {
		for _, b := range second {
			out = append(out, [2]string{a, b})
		}
	}
	return out
}

// Points are differences of errors.
var Points = judge.Rule{Scale: 100, Unit: "points"}

// maxCount is the largest number of objects or triplets.
const maxCount = 1_000_000_000

// Count reads a number of objects or triplets in a column of names.
func Count(column, cell string) int {
	return experiment.Whole("erkle2015: column "+column, frame.Parse(column, cell), 1, maxCount)
}

// CountsIn reads the numbers of objects or triplets in a column of names.
func CountsIn(t *table.Table, column string) []int {
	out := make([]int, t.Len())
	for i, cell := range t.Index(column) {
		out[i] = Count(column, cell)
	}
	return out
}

// RunERKLE feeds the training triplets to ERKLE and calls at after each number of triplets in checkpoints, which
// ascend. What the learner draws depends on the trial alone.
func RunERKLE(ctx context.Context, s Split, p triplets.ERKLEParams, seed random.Seed, checkpoints []int, at func(seen int, l *triplets.ERKLE)) error {
	p.Seed = seed.PCG("passes").Uint64()
	l, err := triplets.NewERKLE(s.Objects, p)
	if err != nil {
		return err
	}
	for i, t := range s.Train {
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
	// BatchIterations is the cap where a batch method is fitted at several sizes.
	BatchIterations = 100
	// ConvergedIterations is the cap of the readings that run on; with many triplets not all of their fits converge.
	ConvergedIterations = 1000
	// ConvergedTol is the residual at which these stop.
	ConvergedTol = 1e-4
	// BatchTol is the residual at which a batch method stops: the duality gap in units of the objective of K = 0.
	BatchTol = 1e-3
)

// FitPath fits a batch method to the first sizes[0], sizes[1], ... training triplets, each time starting from the kernel of the
// size before, and calls at with each result. p.Initial is that of the first.
func FitPath(ctx context.Context, s Split, sizes []int, p triplets.BatchParams, at func(seen int, r triplets.BatchResult)) error {
	for _, size := range sizes {
		r, err := triplets.FitBatch(ctx, s.Objects, s.Train[:size], p)
		if err != nil {
			return err
		}
		at(size, r)
		p.Initial = r.Kernel
	}
	return nil
}

// The readings of how τ is chosen: one for all numbers of triplets, except for ByEnd.
const (
	ByValidation = "τ by validation"
	ByTest       = "τ best on test"
	ByEnd        = "τ by validation after all triplets"
)

// Styles are those of the methods: the colour is that of the loss, ERKLE's or a batch method's. No two are alike in grey where they meet.
var Styles = plots.Styles{
	PAERKLE:     {Color: plots.Blue, Dash: plots.Dashed},
	PAERKLETen:  {Color: plots.Blue},
	STEERKLE:    {Color: plots.Vermillion, Dash: plots.Dotted, Shape: plots.Triangle},
	STEERKLETen: {Color: plots.Vermillion, Dash: plots.LongDashed, Shape: plots.Triangle},
	GNMDSBatch:  {Color: plots.Green, Dash: plots.DashDotDot, Shape: plots.Square},
	STEBatch:    {Color: plots.Purple, Dash: plots.TwoDashes, Shape: plots.Diamond},
	CKLBatch:    {Color: plots.Orange, Shape: plots.Downward},

	STEInverse:     {Color: plots.Vermillion, Dash: plots.DashDotDot},
	STEInverseSqrt: {Color: plots.Vermillion, Dash: plots.LongDashed},
	GNMDSInverse:   {Color: plots.Sky, Dash: plots.DashDotDot},
	GNMDSRoot:      {Color: plots.Sky, Dash: plots.LongDashed},
	GNMDSConstant:  {Color: plots.Sky, Dash: plots.Dotted},
	PAFrobenius:    {Color: plots.Blue, Dash: plots.TwoDashes},
	STEFrobenius:   {Color: plots.Vermillion, Dash: plots.TwoDashes},

	PALow:      {Color: plots.Black},
	PARejectsA: {Color: plots.Blue, Dash: plots.Dotted},
	PARejectsB: {Color: plots.Blue, Dash: plots.LongDashed},
	PARejectsC: {Color: plots.Blue, Dash: plots.DashDotDot},

	PATrace:       {Color: plots.Black},
	FeaturesAlone: {Color: plots.Grey, Dash: plots.LongDashed},
	PAFeatures:    {Color: plots.Sky, Dash: plots.Dashed},
	PAFeaturesTen: {Color: plots.Sky},
}
