package model

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/feedback"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/learners/ltkernel"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
	"metriclab/pkg/random"
)

// ByComparisons is the problem of objects of which only relative comparisons are known: the answers of set. Objects without a name are called by their number. An evaluation holds out folds of questions, so that no answer to a question is seen while another
// is tested. A question is an object and two to compare with it; where answers name the odd one out of three objects, or the most central, it is the three. All that a
// learner chooses, such as the weight of the trace, it chooses on the training answers. An object that no training answer has ties with others at best.
func ByComparisons(set *feedback.Triplets) Problem { return Problem{answers{set}} }

type answers struct{ set *feedback.Triplets }

func (t answers) about() string             { return "relative comparisons alone" }
func (t answers) scope() scope              { return scope{} }
func (t answers) rivals(Recipe) rivals      { return rivals{verdict: []string{coin}} }
func (t answers) cost(fitting) catalog.Cost { return catalog.Cost{} }
func (t answers) entries() []catalog.Entry  { return TripletLearners() }

// TripletLearners returns the learners of the catalog that learn the kernel of objects from relative comparisons.
func TripletLearners() []catalog.Entry {
	return catalog.Of(catalog.Triplets, catalog.Comparisons)
}

func (t answers) given() *feedback.Triplets {
	if t.set == nil || len(t.set.List) == 0 {
		panic("model: ByComparisons: no triplets")
	}
	return t.set
}

func (t answers) sample(rng *rand.Rand, n int) (task, string, error) {
	set, words := *t.given(), ""
	if n >= len(set.List) {
		return t, "", nil
	}
	set.List = slices.Clone(set.List)
	sortTriplets(set.List)
	set.List, words = sampled(rng, "comparison", set.List, func(metric.Triplet) int { return 0 }, n)
	return answers{&set}, words, nil
}

func (t answers) fit(ctx context.Context, f fitting, told Progress) (Fitted, error) {
	set := t.given()
	c := &Compared{recipe: f.recipe, learner: f.entry.Version}
	ts, err := c.number(set)
	if err != nil {
		return nil, fmt.Errorf("model: %s: %w", set.Name, err)
	}
	if err := f.fitsDim(len(c.names)); err != nil {
		return nil, err
	}
	if c.k, err = learnTriplets(ctx, f, len(c.names), ts, set.Threes > 0, told, &c.report); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	c.dim = c.report.Dim
	_, wrong := triplets.Errors(c.k, ts)
	c.report.Comparisons, c.report.Error, c.fitted = len(ts), wrong, ts
	return c, nil
}

// lay divides the answers, in an order that does not depend on that of the file.
func (t answers) lay(p *Comparing, fits *[]fitting, facts *Facts) (*course, error) {
	set := t.given()
	if p.Share != 0 || p.Ks != nil {
		return nil, notAllowed("test-share and k: they do not apply: folds of questions are held out")
	}
	all := &Compared{}
	ts, err := all.number(set)
	if err != nil {
		return nil, fmt.Errorf("model: %s: %w", set.Name, err)
	}
	n := len(all.names)
	sortTriplets(ts) // of objects in the order of their names
	agreement := set.Agreement()
	questions := agreement.Questions
	if p.Repeats == 0 {
		p.Repeats = 2
	}
	if p.Folds == 0 {
		if p.Folds = 5; questions >= 2 && p.Folds > questions {
			p.Folds = questions
			facts.Notes = append(facts.Notes, fmt.Sprintf("%d folds in place of 5: there are no more questions", questions))
		}
	}
	switch {
	case p.Folds < 2 || p.Folds > questions:
		return nil, notAllowed("folds: %d is not allowed, want 2 to the number of questions, %d", p.Folds, questions)
	case p.Repeats < 1 || p.Repeats > MaxRepeats:
		return nil, notAllowed("repeats: %d is not allowed, want 1 to %d", p.Repeats, MaxRepeats)
	case p.Dim < 0 || p.Dim > n:
		return nil, notAllowed("dim: %d is not allowed, want 1 to the number of objects, %d", p.Dim, n)
	}
	if err := limits.Check(fmt.Sprintf("%d x %d splits of %d triplets", p.Repeats, p.Folds, len(ts)), limits.Floats(p.Repeats, len(ts)+2*p.Folds)); err != nil {
		return nil, notAllowed("folds, repeats: %w", err)
	}
	if err := p.checkValidation(len(*fits)); err != nil {
		return nil, err
	}
	plan, v := p.Plan, p.Validation
	folds := make([][]int, p.Repeats)
	for i := range folds {
		rng := random.Seed{Base: p.Seed, Experiment: "model/triplets", Trial: i}.Stream("folds")
		if folds[i], err = sample.TripletFolds(rng, ts, p.Folds, set.Threes > 0); err != nil {
			return nil, notAllowed("%w", err)
		}
	}
	facts.Measures, facts.Items, facts.Known, facts.Agreement, facts.Choice = byAnswers, n, len(ts), &agreement, "tau"
	for _, f := range *fits {
		if err := f.fitsDim(n); err != nil {
			return nil, err
		}
		if f.recipe.Params["dim"] == "auto" {
			facts.Choice = "dim"
		}
	}
	return &course{
		splits: plan.Folds * plan.Repeats, ratio: 1 / float64(plan.Folds-1),
		named: func(s int) string { return fmt.Sprintf("repeat %d, fold %d", s/plan.Folds+1, s%plan.Folds+1) },
		cost:  func(fitting) (catalog.Cost, float64, error) { return catalog.Cost{}, 0, nil },
		trial: func(ctx context.Context, r run) (outcome, error) {
			learned, tested := sample.PartTriplets(ts, folds[r.split/plan.Folds], r.split%plan.Folds)
			if r.inner > 0 {
				within, err := sample.TripletFolds(random.Seed{Base: plan.Seed, Experiment: "model/compare", Trial: r.split}.Stream("folds"), learned, v, set.Threes > 0)
				if err != nil {
					return outcome{}, fmt.Errorf("model: %w", err)
				}
				learned, tested = sample.PartTriplets(learned, within, r.inner-1)
			}
			if r.recipe.Learner == coin {
				return share(.5, len(tested)), nil
			}
			shuffled(learned, plan.Seed, r.split)
			var rep Report
			k, err := learnTriplets(ctx, r.fitting, n, learned, set.Threes > 0, r.told, &rep)
			r.fitted()
			if err == nil && plan.Dim > 0 && rep.Dim != plan.Dim {
				k, err = reduced(ctx, k, plan.Dim)
			}
			if err != nil {
				return outcome{}, err
			}
			_, wrong := triplets.Errors(k, tested)
			o := share(wrong, len(tested))
			switch {
			case facts.Choice == "dim":
				o.chosen = float64(rep.Dim)
			case !r.entry.Feedback.Online():
				o.chosen = rep.Tau
			}
			return o, nil
		},
	}, nil
}

// reduced returns the kernel of the coordinates in dim dimensions.
func reduced(ctx context.Context, k *mat.SymDense, dim int) (*mat.SymDense, error) {
	z, err := (&Compared{names: make([]string, k.SymmetricDim()), k: k}).Coordinates(ctx, dim)
	if err != nil {
		return nil, err
	}
	out := mat.NewSymDense(k.SymmetricDim(), nil)
	out.SymOuterK(1, z.Z)
	return out, nil
}

// ByConstraints is the problem of objects of which only the Gram matrix k0 is known, n×n, with constraints on their learned kernel. It can be fitted, not evaluated: nothing is held out.
func ByConstraints(k0 mat.Symmetric, constraints []ltkernel.Constraint) Problem {
	return Problem{constrained{k0, constraints}}
}

type constrained struct {
	k0          mat.Symmetric
	constraints []ltkernel.Constraint
}

func (t constrained) about() string             { return "a Gram matrix with constraints" }
func (t constrained) scope() scope              { return scope{} }
func (t constrained) rivals(Recipe) rivals      { return rivals{} }
func (t constrained) cost(fitting) catalog.Cost { return catalog.Cost{} }

func (t constrained) entries() []catalog.Entry { return catalog.Of(catalog.Constraints) }

func (t constrained) sample(*rand.Rand, int) (task, string, error) { return t, "", errNothing }

func (t constrained) lay(*Comparing, *[]fitting, *Facts) (*course, error) { return nil, errNothing }

var errNothing = errors.New("model: nothing is held out: a kernel satisfies constraints or does not; with classes (--labels) it has an error")

func (t constrained) fit(ctx context.Context, f fitting, told Progress) (Fitted, error) {
	if matrix.IsNil(t.k0) || t.k0.SymmetricDim() == 0 {
		panic("model: ByConstraints: k0 is nil or empty")
	}
	constraints := slices.Clone(t.constraints)
	for i := range constraints {
		constraints[i].Dists = slices.Clone(constraints[i].Dists)
	}
	return fitGram(ctx, t.k0, f, told, func(ctx context.Context, g *Gram, told catalog.Progress) error {
		return g.fitConstraints(ctx, f, constraints, told)
	})
}
