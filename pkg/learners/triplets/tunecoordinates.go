package triplets

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/learners"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
)

// TunedCoordinatesVersion changes whenever FitTunedCoordinates gives other numbers for the same input while CoordinatesVersion stays.
const TunedCoordinatesVersion = 1

const (
	// mostTunedDim is the largest number of coordinates that FitTunedCoordinates tries by default.
	mostTunedDim = 6
	// tunedStarts and tunedIterations bound the fits by which it chooses.
	tunedStarts     = 3
	tunedIterations = 500
)

// TunedCoordinatesParams are the parameters of FitTunedCoordinates. Tau, Dim and Initial are not read.
type TunedCoordinatesParams struct {
	CoordinatesParams
	// Taus are the candidates for τ, each from 0 to MaxStep; nil means 100, 10, 1, 0.1 and 0.01.
	Taus []float64 `range:">= 0 and <= 1e100"`
	// Dims are the candidates for the number of coordinates, each at least 1, in ascending order; nil means 1 to 6, as far as they are below the number of objects.
	Dims []int `range:">= 1"`
	// Threes is that of TunedParams.
	Threes bool
}

// Resolved returns p with its defaults filled in: those of CoordinatesParams but for Alpha, which follows each of Dims, and Taus. Dims stays nil.
func (p TunedCoordinatesParams) Resolved() TunedCoordinatesParams {
	alpha := p.Alpha
	p.CoordinatesParams = p.CoordinatesParams.Resolved()
	p.Alpha = alpha
	if p.Taus == nil {
		p.Taus = slices.Clone(tunedTaus)
	}
	return p
}

// TunedCoordinatesResult is what FitTunedCoordinates returns.
type TunedCoordinatesResult struct {
	CoordinatesResult
	// Tau and Dim are those of X, and Dims the candidates.
	Tau  float64
	Dim  int
	Dims []int
	// Errors holds the share of the held-out triplets that X of each of Dims, with its best τ, does not satisfy, a tie as half of one; nil if nothing was held out.
	Errors []float64
}

// FitTunedCoordinates is FitCoordinates with a τ of p.Taus and a number of coordinates of p.Dims that it chooses by held-out questions. A question is an
// object A and the two that are compared with it; all answers to one stay together. It holds out each of five fifths of the questions in turn, and counts the
// triplets about them that the fit to the others does not satisfy. Of τ it takes the one of the least error,
// the largest of equals. Of Dims it takes the smallest whose error is at most one standard error above the least one: the
// one-standard-error rule of Breiman et al. 1984 (Section 3.4.3), with the standard error that the difference over the same held-out triplets has if neither
// is better (McNemar 1947), so that one triplet alone never decides. X is then fitted to all triplets.
//
// The fits by which it chooses a dimension have the same Alpha, 1 unless it is given, lest the tail is chosen in place of the dimension. The fits by which it
// chooses have 2 or 3 starts, the first of them at the X of the τ before, which may be 0 and lead nowhere, and 500 iterations at most. With fewer than 10 questions
// nothing is held out; τ is then DefaultTau, or the only candidate, and the dimension 2, or the candidate nearest to that.
//
// The errors are those of FitCoordinates, and one if there are no candidates. It panics if rng is nil.
func FitTunedCoordinates(ctx context.Context, rng *rand.Rand, n int, ts []metric.Triplet, p TunedCoordinatesParams) (TunedCoordinatesResult, error) {
	if rng == nil {
		panic("triplets: FitTunedCoordinates: rng is nil")
	}
	own := rand.New(rand.NewPCG(rng.Uint64(), rng.Uint64())) // what is abandoned goes on drawing
	fit := func(ctx context.Context, progress func(learners.Progress)) (TunedCoordinatesResult, error) {
		p.Progress = progress
		return fitTunedCoordinates(ctx, own, n, ts, p.Resolved())
	}
	var r TunedCoordinatesResult
	var err error
	if abandon.Long(len(ts), 32) { // there are loops over triplets that do not look at ctx
		ts, p.Taus, p.Dims = slices.Clone(ts), slices.Clone(p.Taus), slices.Clone(p.Dims)
		r, err = abandon.Run(ctx, "fit", p.Progress, fit)
	} else {
		r, err = fit(ctx, p.Progress)
	}
	if err != nil {
		return TunedCoordinatesResult{}, fmt.Errorf("coordinates: %w", err)
	}
	return r, nil
}

// candidate returns the parameters of the fit with a candidate of each.
func (p TunedCoordinatesParams) candidate(dim int, tau float64) CoordinatesParams {
	q := p.CoordinatesParams
	q.Dim, q.Tau, q.Initial = dim, tau, nil
	return q.Resolved()
}

// check is for resolved parameters.
func (p TunedCoordinatesParams) check() error {
	if len(p.Taus) == 0 || len(p.Dims) == 0 {
		return errors.New("taus, dims: none given, want at least one")
	}
	for _, tau := range p.Taus {
		if !(tau >= 0 && tau <= MaxStep) {
			return fmt.Errorf("taus: %v is not allowed, want a number from 0 to %v", tau, MaxStep)
		}
	}
	for i, dim := range p.Dims {
		if dim < 1 || i > 0 && dim <= p.Dims[i-1] {
			return fmt.Errorf("dims: %d is not allowed, want numbers of at least 1 in ascending order", dim)
		}
	}
	return p.candidate(p.Dims[0], p.Taus[0]).check()
}

func fitTunedCoordinates(ctx context.Context, rng *rand.Rand, n int, ts []metric.Triplet, p TunedCoordinatesParams) (out TunedCoordinatesResult, err error) {
	if p.Dims == nil {
		for d := 1; d <= max(1, min(mostTunedDim, n-1)); d++ {
			p.Dims = append(p.Dims, d)
		}
	}
	if err := p.check(); err != nil {
		return out, err
	}
	out.Dims = p.Dims
	out.Tau, out.Dim = DefaultTau, p.Dims[0]
	if len(p.Taus) == 1 {
		out.Tau = p.Taus[0]
	}
	for _, d := range p.Dims[1:] {
		if d <= 2 {
			out.Dim = d
		}
	}
	told, ahead := p.Progress, 0 // iterations of the fits before, each to its cap
	last := p.Starts * p.Iterations
	total := last
	tell := func(own int) func(learners.Progress) {
		before := ahead
		ahead += own
		if told == nil {
			return nil
		}
		return func(q learners.Progress) {
			q.Iteration, q.Cap = q.Iteration+before, total
			told(q)
		}
	}
	if fold, err := sample.TripletFolds(rng, ts, leastTuned, p.Threes); err == nil && len(p.Dims)*len(p.Taus) > 1 {
		fold = fifths(fold)
		inner := p
		inner.Starts, inner.Iterations = max(2, min(tunedStarts, p.Starts)), min(tunedIterations, p.Iterations)
		each := inner.Starts * inner.Iterations
		total += tunedFolds * len(p.Dims) * len(p.Taus) * each
		if err := limits.Check(fmt.Sprintf("the choice among %d fits to %d triplets", len(p.Dims)*len(p.Taus), len(ts)), limits.Product(len(p.Dims)*len(p.Taus), len(ts))); err != nil {
			return out, fmt.Errorf("dims, taus: %w", err)
		}
		wrong := make([][]uint8, len(p.Dims)*len(p.Taus)) // halves of errors on each held-out triplet, for each dimension by τ
		for k := range tunedFolds {
			learned, tested := sample.PartTriplets(ts, fold, k)
			for i, dim := range p.Dims {
				var x *mat.Dense
				for j, tau := range p.Taus {
					q := inner.candidate(dim, tau)
					if p.Alpha == 0 && len(p.Dims) > 1 {
						q.Alpha = 1 // else more coordinates may be better by their lighter tail alone
					}
					q.Progress = tell(each)
					if x != nil && mat.Norm(x, 2) <= MaxStep {
						q.Initial = x
					}
					r, err := fitCoordinates(ctx, rng, n, learned, q)
					if err != nil {
						return out, err
					}
					x = r.X
					c := i*len(p.Taus) + j
					wrong[c] = append(wrong[c], halves(x, tested)...)
				}
			}
		}
		best := p.choose(&out, wrong)
		out.Tau, out.Dim = p.Taus[best%len(p.Taus)], p.Dims[best/len(p.Taus)]
	}
	q := p.candidate(out.Dim, out.Tau)
	q.Progress = tell(last)
	out.CoordinatesResult, err = fitCoordinates(ctx, rng, n, ts, q)
	return out, err
}

// choose sets the errors of the dimensions, and returns which candidate is taken.
func (p TunedCoordinatesParams) choose(out *TunedCoordinatesResult, wrong [][]uint8) int {
	best := make([]int, len(p.Dims)) // of each dimension
	out.Errors = make([]float64, len(p.Dims))
	least := 0 // of all
	for i := range p.Dims {
		out.Errors[i] = 2
		for j, tau := range p.Taus {
			c := i*len(p.Taus) + j
			sum := 0
			for _, h := range wrong[c] {
				sum += int(h)
			}
			if e := float64(sum) / 2 / float64(len(wrong[c])); e < out.Errors[i] || e == out.Errors[i] && tau > p.Taus[best[i]%len(p.Taus)] {
				out.Errors[i], best[i] = e, c
			}
		}
		if out.Errors[i] < out.Errors[least] {
			least = i
		}
	}
	m := float64(len(wrong[0]))
	for i := range p.Dims[:least] {
		above := out.Errors[i] - out.Errors[least]
		var squares float64
		for k, h := range wrong[best[i]] {
			d := (float64(h) - float64(wrong[best[least]][k])) / 2
			squares += d * d
		}
		if above <= math.Sqrt(squares)/m {
			return best[i]
		}
	}
	return best[least]
}

// halves returns for each triplet 2 if the rows of x do not satisfy it, 1 for a tie, else 0.
func halves(x *mat.Dense, ts []metric.Triplet) []uint8 {
	out := make([]uint8, len(ts))
	for i, t := range ts {
		a := x.RawRowView(t.A)
		near, far := metric.Euclidean{}.SqDist(a, x.RawRowView(t.Near)), metric.Euclidean{}.SqDist(a, x.RawRowView(t.Far))
		switch {
		case Tied(near, far):
			out[i] = 1
		case near > far:
			out[i] = 2
		}
	}
	return out
}
