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
	"metriclab/pkg/learners"
	"metriclab/pkg/metric"
)

// leastLeft is the share of the largest κ(x, x) below which what is left of all objects is taken for nothing: further landmarks would
// make the Gram matrix of the landmarks singular to half the digits of float64.
const leastLeft = 1e-8

// nystrom are landmarks among t objects.
type nystrom struct {
	chosen []int      // landmarks, in the order in which they were chosen
	z      *mat.Dense // coordinates of the t objects in the span of the landmarks, t×m; rows chosen are lower triangular
	left   float64    // share of the trace
}

// newNystrom chooses at most m landmarks of t objects with the kernel values at (a pivoted Cholesky decomposition of their Gram
// matrix, of which only the diagonal and the columns of the landmarks are computed).
func newNystrom(ctx context.Context, t, m int, at func(i, j int) float64) (*nystrom, error) {
	rest := make([]float64, t)
	for i := range rest {
		rest[i] = at(i, i)
		if v := rest[i]; math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("entry (%d, %d) is %v, want a finite number", i, i, v)
		}
	}
	trace, largest := floats.Sum(rest), floats.Max(rest)
	z := mat.NewDense(t, m, nil)
	n := &nystrom{}
	for len(n.chosen) < m {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c := floats.MaxIdx(rest) // the first of equals
		if least := floats.Min(rest); least < -metric.PSDTolerance*max(largest, 0)*float64(t) {
			return nil, fmt.Errorf("it is %w: beside %d landmarks, %g is left of a diagonal entry, of at most %g", metric.ErrNotPSD, len(n.chosen), least, largest)
		}
		if rest[c] <= leastLeft*largest {
			break
		}
		k, root, row := len(n.chosen), math.Sqrt(rest[c]), z.RawRowView(c)
		for i := range t {
			v := at(i, c)
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("entry (%d, %d) is %v, want a finite number", i, c, v)
			}
			other := z.RawRowView(i)
			other[k] = (v - floats.Dot(other[:k], row[:k])) / root
			if i != c {
				rest[i] -= other[k] * other[k]
			}
		}
		row[k], rest[c] = root, 0
		for _, i := range n.chosen { // round-off
			z.Set(i, k, 0)
			rest[i] = 0
		}
		n.chosen = append(n.chosen, c)
	}
	if len(n.chosen) == 0 {
		return nil, errors.New("all kernel values are 0")
	}
	n.z = mat.DenseCopyOf(z.Slice(0, t, 0, len(n.chosen)))
	n.left = max(floats.Sum(rest)/trace, 0)
	return n, nil
}

// factor returns the m×m lower triangular matrix L of the landmarks, LLᵀ their Gram matrix.
func (n *nystrom) factor() *mat.TriDense {
	l := mat.NewTriDense(len(n.chosen), mat.Lower, nil)
	for a, i := range n.chosen {
		for b, v := range n.z.RawRowView(i)[:a+1] {
			l.SetTri(a, b, v)
		}
	}
	return l
}

// fitLandmarks is fitBlock with W = I outside the span of p.Landmarks objects.
func fitLandmarks(ctx context.Context, objects []int, landmarks int, at func(i, j int) float64, links []metric.Link, p Params) (KernelResult, error) {
	n, err := newNystrom(ctx, len(objects), min(landmarks, len(objects)), at)
	if err != nil {
		return KernelResult{}, fmt.Errorf("itml: kernel matrix: %w", err)
	}
	inside := within(objects, links)
	f, err := newInputForm(ctx, n.z, nil)
	if err != nil {
		return KernelResult{}, err
	}
	if p.Upper == 0 {
		if p.Upper, p.Lower, err = p.Bounds.within(ctx, n.z, inside, f.metric()); err != nil {
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
		Solution: l.solution(p), Landmarks: len(n.chosen), Left: n.left,
	}
	if floats.Max(l.lambda) == 0 {
		return r, nil
	}
	// S = L⁻ᵀ(M − I)L⁻¹ for the M of the coordinates.
	var inverse mat.TriDense
	if err := inverse.InverseTri(n.factor()); err != nil {
		if c, ok := errors.AsType[mat.Condition](err); !ok || math.IsInf(float64(c), 1) {
			return KernelResult{}, errSingular
		}
	}
	m := len(n.chosen)
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
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(n.chosen[a], n.chosen[b]) })
	r.Alpha, r.S = 1, mat.NewSymDense(m, nil)
	for a, i := range order {
		r.Support = append(r.Support, objects[n.chosen[i]])
		for b, j := range order[:a+1] {
			r.S.SetSym(a, b, s.At(i, j)/2+s.At(j, i)/2)
		}
	}
	return r, nil
}
