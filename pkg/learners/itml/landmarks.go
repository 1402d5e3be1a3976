package itml

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/product"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners"
	"metriclab/pkg/metric"
)

// leastLeft is the share of the largest κ(x, x) below which what is left of all objects is taken for nothing: further landmarks would
// make the Gram matrix of the landmarks singular to half the digits of float64.
const leastLeft = 1e-8

// fitLandmarks is fitBlock with W = I outside the span of p.Landmarks objects.
func fitLandmarks(ctx context.Context, objects []int, landmarks int, at func(i, j int) float64, links []metric.Link, p Params) (KernelResult, error) {
	n, err := kernels.NewFactor(ctx, len(objects), at, kernels.FactorParams{Most: landmarks, Tol: leastLeft})
	if err != nil {
		return KernelResult{}, fmt.Errorf("itml: kernel matrix: %w", err)
	}
	inside := within(objects, links)
	z, chosen := n.Rows(), n.Pivots()
	f, err := newInputForm(ctx, z, nil)
	if err != nil {
		return KernelResult{}, err
	}
	if p.Upper == 0 {
		if p.Upper, p.Lower, err = p.Bounds.within(ctx, z, inside, f.metric()); err != nil {
			return KernelResult{}, err
		}
	}
	l := newLoop(ctx, f, inside, p)
	status, err := l.run(p)
	if err != nil {
		return KernelResult{}, err
	}
	r := KernelResult{
		Result:   learners.Result{Status: status, Iterations: l.cycles, Residual: l.change},
		Solution: l.solution(p), Landmarks: len(chosen), Left: n.Left(),
	}
	if floats.Max(l.lambda) == 0 {
		return r, nil
	}
	// S = L⁻ᵀ(M − I)L⁻¹ for the M of the coordinates.
	var inverse mat.TriDense
	if err := inverse.InverseTri(n.Triangle()); err != nil {
		if c, ok := errors.AsType[mat.Condition](err); !ok || math.IsInf(float64(c), 1) {
			return KernelResult{}, errSingular
		}
	}
	m := len(chosen)
	change := mat.DenseCopyOf(f.metric().M())
	for i := range m {
		change.Set(i, i, change.At(i, i)-1)
	}
	li := mat.DenseCopyOf(&inverse)
	right, s := mat.NewDense(m, m, nil), mat.NewDense(m, m, nil)
	product.Gemm(blas.NoTrans, blas.NoTrans, change.RawMatrix(), li.RawMatrix(), right.RawMatrix())
	product.Gemm(blas.Trans, blas.NoTrans, li.RawMatrix(), right.RawMatrix(), s.RawMatrix())
	order := make([]int, m) // of the landmarks, ascending
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(chosen[a], chosen[b]) })
	r.Alpha, r.S = 1, mat.NewSymDense(m, nil)
	for a, i := range order {
		r.Support = append(r.Support, objects[chosen[i]])
		for b, j := range order[:a+1] {
			r.S.SetSym(a, b, s.At(i, j)/2+s.At(j, i)/2)
		}
	}
	return r, nil
}
