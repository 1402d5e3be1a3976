package ltkernel

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners"
)

// mostTried is the largest number of constraints of which Conflict tries each one.
const mostTried = 64

// Conflict returns constraints, by index and ascending, that contradict each other, given the certificate
// of a fit that ended with learners.Infeasible (see Solution.Certificate). The second value is that of these constraints
// alone, in their order.
//
// If they are at most 64, none can be left out: without it FitKernel finds no contradiction among the others.
// Conflict repeats the fit for this, of the constraints with the largest shares in the certificate first, then of as
// many others as it needs, then without each one in turn. It returns an error if ctx is done. It panics if the
// certificate is empty, or of another number of constraints.
func Conflict(ctx context.Context, k0 mat.Symmetric, constraints []Constraint, certificate []float64, p Params) ([]int, []float64, error) {
	if len(certificate) == 0 || len(certificate) != len(constraints) {
		panic("ltkernel: Conflict: no certificate for these constraints")
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	p.Progress = nil
	var order []int
	share := make([]float64, len(constraints))
	for i, v := range certificate {
		if v != 0 {
			order = append(order, i)
			share[i] = math.Abs(v) * constraints[i].size(k0)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case share[a] > share[b]:
			return -1
		case share[a] < share[b]:
			return 1
		}
		return 0
	})
	proof := func(of []int) ([]float64, error) {
		var some []Constraint
		for _, i := range of {
			some = append(some, constraints[i])
		}
		if len(some) == 0 {
			return nil, nil
		}
		res, err := FitKernel(ctx, k0, some, p)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil || res.Status != learners.Infeasible {
			return nil, nil
		}
		return res.Certificate, nil
	}
	found, weights := order, make([]float64, 0, len(order))
	for _, i := range order {
		weights = append(weights, certificate[i])
	}
	for n := 1; n < len(order); n *= 2 {
		v, err := proof(order[:n])
		if err != nil {
			return nil, nil, err
		}
		if v != nil {
			found, weights = order[:n], v
			break
		}
	}
	if len(found) <= mostTried {
		for at := len(found) - 1; at >= 0; at-- { // the smallest shares first
			without := slices.Delete(slices.Clone(found), at, at+1)
			v, err := proof(without)
			if err != nil {
				return nil, nil, err
			}
			if v != nil {
				found, weights = without, v
			}
		}
	}
	at := make([]int, len(found))
	for i := range at {
		at[i] = i
	}
	slices.SortFunc(at, func(a, b int) int { return found[a] - found[b] })
	indices, sorted := make([]int, len(at)), make([]float64, len(at))
	for i, a := range at {
		indices[i], sorted[i] = found[a], weights[a]
	}
	return indices, sorted, nil
}

// size is that of the terms of the constraint under k0, or its bound if that is larger.
func (c Constraint) size(k0 mat.Symmetric) float64 {
	s := 0.0
	for _, d := range c.Dists {
		s += math.Abs(d.Weight) * (k0.At(d.I, d.I) - 2*k0.At(d.I, d.J) + k0.At(d.J, d.J))
	}
	if c.Trace != 0 {
		s += math.Abs(c.Trace) * mat.Trace(k0)
	}
	return max(s, math.Abs(c.Bound))
}
