package model

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/feedback"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
	"metriclab/pkg/random"
)

// TripletPlan says how a TripletRecipe is evaluated.
type TripletPlan struct {
	// Dim is the number of dimensions in which distances count, those of Compared.Coordinates; 0 means the whole kernel.
	Dim int
	// Folds is the number of parts of a cross-validation; 0 means 5, otherwise at least 2.
	Folds int
	// Repeats is how often the questions are divided anew, at most MaxRepeats; 0 means 2.
	Repeats int
	// Seed is the origin of the division into folds; 0 means 1.
	Seed uint64
	// Progress is told of splits.
	Progress Progress
}

// Resolved returns p with its defaults filled in.
func (p TripletPlan) Resolved() TripletPlan {
	if p.Folds == 0 {
		p.Folds = 5
	}
	if p.Repeats == 0 {
		p.Repeats = 2
	}
	if p.Seed == 0 {
		p.Seed = 1
	}
	return p
}

// TripletEvaluation is what EvaluateTriplets found.
type TripletEvaluation struct {
	Recipe TripletRecipe // resolved
	Plan   TripletPlan   // resolved
	// Objects is the number of objects that occur, Triplets that of the answers.
	Objects, Triplets int
	// Agreement says how far the answers agree with each other.
	Agreement feedback.Agreement
	// Errors holds the share of the test triplets that each split's kernel does not satisfy, a tie as half of one: split repeat·folds + fold. Taus holds
	// the weights of the trace, of learners that have one.
	Errors, Taus []float64
	// Summary is the mean of Errors with its corrected interval (see judge.SummarizeResampled). A coin has 0.5.
	Summary judge.Summary
	// Notes are warnings on what the numbers mean.
	Notes []string
}

// EvaluateTriplets estimates how often a recipe is wrong about triplets that it has not seen, by repeated cross-validation. Folds are of
// questions, an object and two to compare with it, so that no answer to a question is seen while another is tested. All that a learner chooses, such as
// the weight of the trace, it chooses on the training triplets. An object that no training triplet has ties with others at best. Splits run in
// parallel; the answer does not depend on how many at a time, nor on the order of the triplets: an online learner sees those of a split in a random one.
//
// It returns the errors of FitTriplets, naming the split, and an *OptionError if the plan does not suit the number of questions or objects.
// It panics if set is nil or has no triplet.
func EvaluateTriplets(ctx context.Context, set *feedback.Triplets, r TripletRecipe, p TripletPlan) (*TripletEvaluation, error) {
	if set == nil || len(set.List) == 0 {
		panic("model: EvaluateTriplets: no triplets")
	}
	r, entry, v, err := r.resolve()
	if err != nil {
		return nil, err
	}
	all, err := layTriplets(set, p)
	if err != nil {
		return nil, err
	}
	p = all.plan
	e := &TripletEvaluation{Recipe: r, Plan: p, Objects: all.objects, Triplets: len(all.list), Agreement: all.agreement, Notes: all.notes}
	splits := p.Folds * p.Repeats
	e.Errors, e.Taus = make([]float64, splits), make([]float64, splits)
	if err := parallel(ctx, splits, p.Progress, func(ctx context.Context, s int) error {
		learned, tested := all.part(s)
		shuffled(learned, p.Seed, s)
		k, rep, err := all.fit(ctx, entry, v, learned, r.Passes, nil)
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return fmt.Errorf("model: repeat %d, fold %d: %w", s/p.Folds+1, s%p.Folds+1, err)
		}
		_, e.Errors[s] = triplets.Errors(k, tested)
		e.Taus[s] = rep.Tau
		return nil
	}); err != nil {
		return nil, err
	}
	if entry.Feedback.Online() {
		e.Taus = nil
	}
	e.Summary = judge.SummarizeResampled(e.Errors, 1/float64(p.Folds-1))
	return e, nil
}

// laidTriplets are triplets that are divided into folds.
type laidTriplets struct {
	plan      TripletPlan // resolved
	objects   int
	list      []metric.Triplet
	agreement feedback.Agreement
	folds     [][]int // of each repeat
	notes     []string
}

// layTriplets divides the triplets of set, in an order that does not depend on that of the file.
func layTriplets(set *feedback.Triplets, p TripletPlan) (*laidTriplets, error) {
	given := p.Folds
	p = p.Resolved()
	all := &Compared{}
	ts, err := all.number(set)
	if err != nil {
		return nil, fmt.Errorf("model: %s: %w", set.Name, err)
	}
	n := len(all.names)
	sortTriplets(ts) // of objects in the order of their names
	l := &laidTriplets{objects: n, list: ts, agreement: set.Agreement()}
	questions := l.agreement.Questions
	if given == 0 && questions >= 2 && p.Folds > questions {
		p.Folds = questions
		l.notes = append(l.notes, fmt.Sprintf("%d folds in place of 5: there are no more questions", questions))
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
	l.plan, l.folds = p, make([][]int, p.Repeats)
	for i := range l.folds {
		rng := random.Seed{Base: p.Seed, Experiment: "model/triplets", Trial: i}.Stream("folds")
		if l.folds[i], err = sample.TripletFolds(rng, ts, p.Folds); err != nil {
			return nil, notAllowed("%w", err)
		}
	}
	return l, nil
}

// part returns the triplets that split s learns from, and those that it tests.
func (l *laidTriplets) part(s int) (learned, tested []metric.Triplet) {
	return partTriplets(l.list, l.folds[s/l.plan.Folds], s%l.plan.Folds)
}

// partTriplets returns the triplets outside of fold k and those in it.
func partTriplets(ts []metric.Triplet, folds []int, k int) (learned, tested []metric.Triplet) {
	for i, t := range ts {
		if folds[i] == k {
			tested = append(tested, t)
		} else {
			learned = append(learned, t)
		}
	}
	return learned, tested
}

// fit returns the kernel that a learner makes of triplets, of Dim coordinates if the plan has it.
func (l *laidTriplets) fit(ctx context.Context, e catalog.Entry, v catalog.Values, ts []metric.Triplet, passes int, told Progress) (*mat.SymDense, TripletReport, error) {
	var rep TripletReport
	k, err := learnTriplets(ctx, e, v, l.objects, ts, passes, told, &rep)
	if err == nil && l.plan.Dim > 0 {
		k, err = reduced(ctx, k, l.plan.Dim)
	}
	return k, rep, err
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

// ErrorOf returns the share of the triplets of set, which m was fitted to, that coordinates contradict, a tie as half of one.
func (m *Compared) ErrorOf(z Coordinates, set *feedback.Triplets) (float64, error) {
	ts, err := (&Compared{}).number(set)
	if err != nil {
		return 0, fmt.Errorf("model: %s: %w", set.Name, err)
	}
	return contradicted(z.Z, ts), nil
}
