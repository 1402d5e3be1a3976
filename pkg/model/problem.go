package model

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"

	"metriclab/pkg/learners"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
)

// Problem is items and what is known of them:
//
//	items         feedback       made by                 Fit returns   what Evaluate and Compare hold out, and the measure
//	a table       classes        ByClasses               *Model        folds of rows; the nearest-neighbour error
//	a table       pairs          PairsOfRows             *Model        rows that pairs name; AUC, error at a threshold, recall
//	a table       chunklets      ByChunklets             *Model        rows of chunklets; the same
//	vectors       pairs          PairsOfVectors          *Vectors      vectors; the same
//	vectors       comparisons    ComparisonsOfVectors    *Vectors      vectors; the share of comparisons contradicted
//	vectors       judgements     QueriesOfVectors        *Vectors      queries; nDCG, and the share of comparisons contradicted
//	Gram matrix   classes        ByGram                  *Gram         folds of objects; the nearest-neighbour error
//	Gram matrix   constraints    ByConstraints           *Gram         nothing: a kernel satisfies them or does not
//	names         comparisons    ByComparisons           *Compared     folds of questions; the share of answers contradicted
//
// The data may be nil where only learners, recipes and defaults are asked for.
type Problem struct{ task }

// task is a kind of items with a kind of feedback.
type task interface {
	// about names both.
	about() string
	// entries are the learners that take it, with their parameters here.
	entries() []catalog.Entry
	// rivals are the baselines that stand beside what a recipe learns.
	rivals(r Recipe) rivals
	scope() scope
	fit(ctx context.Context, f fitting, told Progress) (Fitted, error)
	// lay checks plan and data, fills in the defaults of the plan, and tells of the data. It may leave out what makes no sense.
	lay(p *Comparing, fits *[]fitting, facts *Facts) (*course, error)
	// cost estimates a fit.
	cost(f fitting) catalog.Cost
	// digest writes what tells it from others.
	digest(h io.Writer)
	// sample is the task of n of its rows, pairs or answers, said in words.
	sample(rng *rand.Rand, n int) (task, string, error)
}

// rivals are names of baselines, in the order in which they are shown: verdict are those that it is about; constants answer without a distance, and take no part
// in comparisons.
type rivals struct{ shown, verdict, constants []string }

// Fitted is what Fit learns: a *Model, *Vectors, *Gram or *Compared.
type Fitted interface {
	Save(w io.Writer) error
	// Recipe returns what it was fitted by, all defaults filled in.
	Recipe() Recipe
	// LearnerVersion returns the version of the learner that fitted it.
	LearnerVersion() int
	// Report returns what there is to say of the fit. What was loaded has none: the zero value.
	Report() Report
}

// Progress is told how much of a work is done. It may be nil. It is called from
// one goroutine at a time. Fit tells of pairs or comparisons seen by an online learner and of iterations made
// by a batch learner, where total is their cap and a fit that converges ends before it; a
// learner in closed form tells nothing. Evaluate tells of splits.
type Progress func(done, total int)

// of returns p for a learner of the catalog.
func (p Progress) of() catalog.Progress {
	if p == nil {
		return nil
	}
	return func(q learners.Progress) { p(q.Iteration, q.Cap) }
}

// Fit learns from all of a problem; the type of what it returns follows from the problem, see there. What it draws depends on the seed, the feedback and the
// numbers in the recipe only, so that learners see the same pairs.
//
// It returns a *tables.OptionError if the recipe is not allowed (see Problem.Resolved), and an error if the data are not fit for it or the fit would exceed
// limits.Memory by its estimate. Those of the learner come as they are, among them an *InfeasibleError where no kernel satisfies constraints. An error wraps that of ctx when
// ctx is done first, which batch learners notice in the middle of a fit (see learners.Progress).
func Fit(ctx context.Context, pr Problem, r Recipe, told Progress) (Fitted, error) {
	f, err := pr.resolve(r)
	if err != nil {
		return nil, err
	}
	if all := pr.entries(); !slices.ContainsFunc(all, func(e catalog.Entry) bool { return e.Name == f.entry.Name }) {
		return nil, notAllowed("learner %s learns nothing: want one of %s", f.entry.Name, namesOf(all))
	}
	return pr.fit(ctx, f, told)
}

// Estimate returns what a fit of r costs, roughly (see catalog.Cost), the zero value where there is no estimate. It returns the *tables.OptionError of Resolved.
func (pr Problem) Estimate(r Recipe) (catalog.Cost, error) {
	f, err := pr.resolve(r)
	if err != nil {
		return catalog.Cost{}, err
	}
	return pr.cost(f), nil
}

// Look tells of the data as an evaluation with defaults would, before anything is learned: how much there is, and warnings.
func (pr Problem) Look() (*Facts, error) {
	facts := &Facts{Problem: pr}
	fits := []fitting{{recipe: Recipe{Learner: Euclidean, Seed: 1}, entry: baselineOf(Euclidean)}}
	_, err := pr.lay(&Comparing{Plan: Plan{Seed: 1}}, &fits, facts)
	return facts, err
}

// Learners returns the learners that take the problem, and the baselines that learn nothing.
func (pr Problem) Learners() []catalog.Entry {
	all := slices.Clone(pr.entries())
	with := pr.rivals(Recipe{})
	for _, e := range baselines {
		if slices.Contains(slices.Concat(with.verdict, with.shown), e.Name) && !slices.ContainsFunc(all, func(o catalog.Entry) bool { return o.Name == e.Name }) {
			all = append(all, e)
		}
	}
	return all
}

// String says what the items and the feedback are: "a table with classes".
func (pr Problem) String() string { return pr.about() }

// Sample returns the problem of n of the rows or objects, stratified by class, of the pairs, stratified by label, or of the comparisons, and says so in words.
// It returns a *tables.OptionError unless n is at least 1, and pr itself if there are no more than n.
func (pr Problem) Sample(rng *rand.Rand, n int) (Problem, string, error) {
	if n < 1 {
		return pr, "", notAllowed("sample: %d is not allowed, want at least 1", n)
	}
	t, words, err := pr.task.sample(rng, n)
	return Problem{t}, words, err
}

// The baselines, which learn nothing. EuclideanRaw leaves features as they are, too: a Recipe with it is Raw.
const (
	Euclidean        = "euclidean"
	EuclideanRaw     = "euclidean-raw"
	Cosine           = "cosine"
	alwaysSimilar    = `always "similar"`
	alwaysDissimilar = `always "dissimilar"`
	coin             = "a coin"
)

var baselines = []catalog.Entry{
	baseline(Euclidean, "no learning: the Euclidean distance of the prepared rows, or under the kernel: the baseline"),
	baseline(EuclideanRaw, "no learning and no scaling: the Euclidean distance of the rows as they are"),
	baseline(Cosine, "no learning: the Euclidean distance of the rows divided by their lengths"),
}

func isBaseline(name string) bool {
	return slices.Contains([]string{Euclidean, EuclideanRaw, Cosine, alwaysSimilar, alwaysDissimilar, coin}, name)
}

// baselineOf returns the entry of a baseline; one that is no distance has no constructor.
func baselineOf(name string) catalog.Entry {
	if i := slices.IndexFunc(baselines, func(e catalog.Entry) bool { return e.Name == name }); i >= 0 {
		return baselines[i]
	}
	return catalog.Entry{Name: name, Version: 1, Use: catalog.Use{Feedback: catalog.Data}}
}

// besides returns the fittings of baselines beside f.
func (f fitting) besides(names []string) (out []fitting) {
	for _, name := range names {
		if name == f.recipe.Learner {
			continue
		}
		r := Recipe{Learner: name, Params: map[string]string{}, Seed: f.recipe.Seed, ImputeMean: f.recipe.ImputeMean, Raw: f.recipe.Raw || name == EuclideanRaw}
		out = append(out, fitting{recipe: r, entry: baselineOf(name)})
	}
	return out
}

func baseline(name, doc string) catalog.Entry {
	return catalog.Entry{
		Name: name, Doc: doc, Version: 1, Form: catalog.Linear,
		Cost: func(s catalog.Size, _ catalog.Values) catalog.Cost {
			return catalog.Cost{Seconds: 1e-5, Bytes: limits.Floats(s.Features, s.Features)}
		},
		Use: catalog.Use{Feedback: catalog.Data, Fit: func(_ context.Context, in catalog.Input, _ catalog.Values, _ catalog.Progress) (catalog.Learned, error) {
			_, d := in.X.Dims()
			if err := limits.Check(fmt.Sprintf("a metric of %d features", d), limits.Floats(d, d)); err != nil {
				return catalog.Learned{}, err
			}
			return catalog.Learned{Distance: metric.Identity(d), Result: learners.Result{Status: learners.Closed}}, nil
		}},
	}
}
