package triplets

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/learners"
	"metriclab/pkg/metric"
)

// TunedVersion changes whenever FitTuned gives other numbers for the same input while those of FitBatch stay.
const TunedVersion = 1

// DefaultTau is the weight of the trace that FitTuned takes if there are too few questions to choose it.
const DefaultTau = 1.

// tunedTaus are the weights of the trace that FitTuned tries by default, the largest first.
var tunedTaus = []float64{100, 10, 1, 0.1, 0.01}

// tunedFolds says which share of the questions is held out, and leastTuned how many questions a choice wants.
const (
	tunedFolds = 5
	leastTuned = 10
)

// TunedParams are the parameters of FitTuned. Tau is not read.
type TunedParams struct {
	BatchParams
	// Taus are the candidates for τ, each from 0 to MaxStep; nil means 100, 10, 1, 0.1 and 0.01.
	Taus []float64 `range:">= 0 and <= 1e100"`
	// Threes says that answers are about three objects, such as the odd one out: all triplets of the same three then are one question.
	Threes bool
}

// Resolved returns p with its defaults filled in: those of BatchParams, and Taus.
func (p TunedParams) Resolved() TunedParams {
	p.BatchParams = p.BatchParams.Resolved()
	if p.Taus == nil {
		p.Taus = slices.Clone(tunedTaus)
	}
	return p
}

// FitTuned is FitBatch with a τ that it chooses: the one of p.Taus whose kernel, fitted to four fifths of the questions, satisfies the most triplets about
// the others, the largest of equals. The kernel is then fitted to all triplets. A question is an object A and the two that are compared with it; all answers to one stay together. With fewer
// than 10 questions τ is DefaultTau.
//
// The errors are those of FitBatch, and one if there are no candidates. The cost is that of len(Taus) + 1 fits, each but
// the first and the last from the kernel of the one before. It panics if rng is nil.
func FitTuned(ctx context.Context, rng *rand.Rand, n int, ts []metric.Triplet, p TunedParams) (BatchResult, error) {
	if rng == nil {
		panic("triplets: FitTuned: rng is nil")
	}
	r, err := fitTuned(ctx, rng, n, ts, p.Resolved())
	if err != nil {
		return BatchResult{}, err
	}
	return r, nil
}

func fitTuned(ctx context.Context, rng *rand.Rand, n int, ts []metric.Triplet, p TunedParams) (out BatchResult, err error) {
	if len(p.Taus) == 0 {
		return out, fmt.Errorf("taus: none given, want at least one")
	}
	for _, tau := range p.Taus {
		q := p.BatchParams
		if q.Tau = tau; q.check() != nil {
			return out, fmt.Errorf("taus: %v is not allowed, want a number from 0 to %v", tau, MaxStep)
		}
	}
	chosen, errors := DefaultTau, []float64(nil)
	most := p.Iterations
	told := func(fit, fits int) func(learners.Progress) {
		if p.Progress == nil {
			return nil
		}
		return func(q learners.Progress) {
			q.Iteration += fit * most
			q.Cap = fits * most
			p.Progress(q)
		}
	}
	fits := 1
	if fold, err := sample.TripletFolds(rng, ts, leastTuned, p.Threes); err == nil { // there are enough
		fits = len(p.Taus) + 1
		learned, tested := sample.PartTriplets(ts, fifths(fold), 0)
		best := 2.
		var last mat.Symmetric
		for k, tau := range p.Taus {
			q := p.BatchParams
			q.Tau, q.Progress = tau, told(k, fits)
			if last != nil && mat.Trace(last) > 0 {
				q.Initial = last
			}
			r, err := FitBatch(ctx, n, learned, q)
			if err != nil {
				return out, err
			}
			last = r.Kernel
			_, wrong := Errors(r.Kernel, tested)
			errors = append(errors, wrong)
			if wrong < best || wrong == best && tau > chosen {
				best, chosen = wrong, tau
			}
		}
	}
	q := p.BatchParams
	q.Tau, q.Progress = chosen, told(fits-1, fits)
	out, err = FitBatch(ctx, n, ts, q)
	out.Errors = errors
	return out, err
}

// fifths joins leastTuned folds into tunedFolds.
func fifths(fold []int) []int {
	for i, k := range fold {
		fold[i] = k * tunedFolds / leastTuned
	}
	return fold
}
