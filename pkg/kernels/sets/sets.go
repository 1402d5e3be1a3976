// Package sets has kernels on sets of feature vectors, such as the local features of an image. A set is an n×d matrix with
// a feature per row; the order of the rows does not matter, and sets may differ in size. Each kernel is 1 between a set and
// itself.
//
// Pyramid is a positive semi-definite kernel, from matches in histograms of several resolutions. BestMatch is not: package
// kernels clips its Gram matrix (kernels.Clip).
//
// # How it is built
//
// A kernel on sets has a small interface of its own, by which what is compared of a set is prepared once.
//
// Bins of the pyramid are numbered once for a Gram matrix, and weights are powers of two: so sums are exact and
// the matrix is symmetric. The spatial pyramid is a pyramid with codes, in which features of different codes never
// match. BestMatch multiplies the features of a set with those of many sets at once.
package sets

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/pkg/limits"
)

// Kernel is a similarity of sets, symmetric, finite, and 1 between a set and itself. P is what is compared of a set.
type Kernel[P any] interface {
	// Prepare returns what is compared of a set, n×d with a feature per row. It keeps no reference to set. It returns an error
	// if there is no feature, if d is wrong, or if an entry is not allowed.
	Prepare(set mat.Matrix) (P, error)
	// Eval returns the similarity of two sets that this kernel prepared.
	Eval(a, b P) float64
}

// batcher is a Kernel that compares a set with many at once.
type batcher[P any] interface {
	// batch returns a function that sets dst[j] to the similarity of a and all[from+j]. It is for one goroutine.
	batch(all []P) (row func(dst []float64, a P, from int), err error)
}

var (
	_ batcher[Histogram] = (*Pyramid)(nil)
	_ batcher[Features]  = (*BestMatch)(nil)
)

// Gram returns the n×n matrix of similarities of n sets. Off the diagonal it equals calls of Eval, of BestMatch up to
// round-off; the diagonal is 1. It returns an error that names the set if Prepare refuses one, if the matrix does not fit
// limits.Memory, or if ctx is done. It panics if there is no set or one is nil.
func Gram[P any](ctx context.Context, k Kernel[P], given []mat.Matrix) (*mat.SymDense, error) {
	n := len(given)
	if err := checkSize(n, n); err != nil {
		return nil, err
	}
	all, err := prepare(ctx, k, given)
	if err != nil {
		return nil, err
	}
	row, err := rows(k, all)
	if err != nil {
		return nil, err
	}
	g := mat.NewSymDense(n, nil)
	raw := g.RawSymmetric()
	for i := range n {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("sets: row %d of the Gram matrix: %w", i, err)
		}
		to := raw.Data[i*raw.Stride+i : i*raw.Stride+n]
		to[0] = 1
		if len(to) > 1 {
			row(to[1:], all[i], i+1)
		}
	}
	return g, nil
}

// Cross returns the n×m matrix of similarities between n sets and m others, as calls of Eval give them; of BestMatch up to
// round-off. Errors and panics are those of Gram.
func Cross[P any](ctx context.Context, k Kernel[P], given, others []mat.Matrix) (*mat.Dense, error) {
	n, m := len(given), len(others)
	if err := checkSize(n, m); err != nil {
		return nil, err
	}
	a, err := prepare(ctx, k, given)
	if err != nil {
		return nil, err
	}
	b, err := prepare(ctx, k, others)
	if err != nil {
		return nil, err
	}
	row, err := rows(k, b)
	if err != nil {
		return nil, err
	}
	out := mat.NewDense(n, m, nil)
	for i := range n {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("sets: row %d of the matrix: %w", i, err)
		}
		row(out.RawRowView(i), a[i], 0)
	}
	return out, nil
}

func checkSize(n, m int) error {
	if n == 0 || m == 0 {
		panic("sets: there is no set")
	}
	if err := limits.Check(fmt.Sprintf("a matrix of %d×%d similarities", n, m), limits.Floats(n, m)); err != nil {
		return fmt.Errorf("sets: %w", err)
	}
	return nil
}

func prepare[P any](ctx context.Context, k Kernel[P], given []mat.Matrix) ([]P, error) {
	out := make([]P, len(given))
	for i, s := range given {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("sets: set %d: %w", i, err)
		}
		p, err := k.Prepare(s)
		if err != nil {
			return nil, fmt.Errorf("sets: set %d: %w", i, err)
		}
		out[i] = p
	}
	return out, nil
}

// rows returns what fills a row of similarities: the kernel's own way, or calls of Eval.
func rows[P any](k Kernel[P], all []P) (func(dst []float64, a P, from int), error) {
	if b, ok := k.(batcher[P]); ok {
		return b.batch(all)
	}
	return func(dst []float64, a P, from int) {
		for j := range dst {
			dst[j] = k.Eval(a, all[from+j])
		}
	}, nil
}

// features returns a set as a matrix. It returns an error unless the set has a row and d columns (any number if d = 0) of
// finite numbers; it panics if set is nil.
func features(set mat.Matrix, d int) (*mat.Dense, error) {
	if matrix.IsNil(set) {
		panic("sets: the set is nil")
	}
	n, c := set.Dims()
	if n == 0 || c == 0 {
		return nil, errors.New("no features, want at least one row")
	}
	if d > 0 && c != d {
		return nil, fmt.Errorf("%d numbers per feature, want %d", c, d)
	}
	x := matrix.Dense(set)
	for i := range n {
		for j, v := range x.RawRowView(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("feature %d, column %d is %v, want a finite number", i, j, v)
			}
		}
	}
	return x, nil
}

// Mean returns the mean of similarity matrices of the same objects, each n×m, entry by entry. As a kernel it stands for the
// pairs of all images, and it is positive semi-definite if all parts are. It panics if there is no part, or if one is nil, empty or of
// another shape.
func Mean(parts ...mat.Matrix) *mat.Dense {
	if len(parts) == 0 {
		panic("sets: Mean: there is no matrix")
	}
	var out *mat.Dense
	for _, p := range parts {
		x := matrix.Given("sets: Mean: a part", p)
		if out == nil {
			n, m := x.Dims()
			out = mat.NewDense(n, m, nil)
		}
		out.Add(out, x)
	}
	out.Scale(1/float64(len(parts)), out)
	return out
}
