package nearest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/internal/vector"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
	"metriclab/pkg/sparse"
)

// sparseRows are training rows that stay sparse. With the coordinates z of rows in the basis of a metric.LowRank, F = GᵀG, squared distances are
//
//	‖x‖² + zᵀ(F − I)z + ‖x'‖² + z'ᵀ(F − I)z' − 2(xᵀx' + zᵀ(F − I)z').
type sparseRows struct {
	x        *sparse.Matrix
	postings *sparse.Postings
	low      *metric.LowRank // nil: metric.Euclidean
	z        *mat.Dense      // n×k
	change   *mat.Dense      // F − I
	stretch  float64         // bounds what F makes of a squared length
	eps      float64         // bounds the round-off of a squared distance, relative to ‖x‖² + ‖x'‖²
	self     []float64       // ‖x‖² + zᵀ(F − I)z of each row
	length   []float64       // ‖x‖²
}

// newSparse is NewKNN for sparse rows under metric.Euclidean, where low is nil, or low.
func newSparse(m metric.SqDister, low *metric.LowRank, x *sparse.Matrix, y []int, o KNNOptions) (*KNN, error) {
	n, d := x.Dims()
	if low != nil && low.Dim() != d {
		return nil, fmt.Errorf("knn: training set has %d columns, the metric has dimension %d", d, low.Dim())
	}
	k := 0
	if low != nil {
		k = low.Rank()
	}
	if err := limits.Check(fmt.Sprintf("knn: coordinates of %d rows in %d dimensions", n, k), limits.Floats(n, k+2)); err != nil {
		return nil, fmt.Errorf("knn: %w", err)
	}
	postings, err := sparse.NewPostings(x)
	if err != nil {
		return nil, fmt.Errorf("knn: %w", err)
	}
	s := &sparseRows{x: x, postings: postings, low: low, self: make([]float64, n), length: x.SqNorms()}
	most := 0
	for i := range n {
		most = max(most, len(x.Row(i).Index))
	}
	s.stretch = 1
	if low != nil {
		s.z = low.Coordinates(x)
		f := low.F()
		s.change = mat.NewDense(k, k, nil)
		for i := range k {
			for j := range k {
				v := f.At(i, j)
				if i == j {
					v--
				}
				s.change.Set(i, j, v)
			}
		}
		// The rows of a basis may be off orthonormal ones, and ‖v‖² − ‖z‖² with them from what lies outside.
		gram := matrix.Outer(1, low.Basis())
		var off float64
		for i := range k {
			for j := range k {
				v := gram.At(i, j)
				if i == j {
					v--
				}
				off = max(off, math.Abs(v))
			}
		}
		s.stretch = 1 + mat.Norm(s.change, 2)
		s.eps = 4 * float64(k) * off
	}
	// Each of the at most 2·most + 2k terms of a squared distance, and of the coordinates in them, is off by as many rounding errors; the distance itself, as documented, too.
	s.eps += 32 * float64(most+k+8) * 0x1p-53 * s.stretch
	for i := range n {
		s.self[i] = s.length[i]
		if low != nil {
			z := s.z.RawRowView(i)
			s.self[i] += vector.Dot(s.changed(nil, z), z)
		}
		if !representable(s.length[i] * s.stretch) {
			return nil, fmt.Errorf("knn: training set: row %d: squared distances overflow float64: rescale the features", i)
		}
	}
	return &KNN{metric: m, dim: d, labels: slices.Clone(y), opts: o, sparse: s}, nil
}

// changed returns (F − I)z, in dst if that is not nil.
func (s *sparseRows) changed(dst, z []float64) []float64 {
	if dst == nil {
		dst = make([]float64, len(z))
	}
	for i := range dst {
		dst[i] = vector.Dot(s.change.RawRowView(i), z)
	}
	return dst
}

// sqDist is the squared distance that decides.
func (s *sparseRows) sqDist(x, y sparse.Vector) float64 {
	if s.low == nil {
		return x.SqDist(y)
	}
	return s.low.SqDistSparse(x, y)
}

// given returns queries as the search takes them: sparse if the training rows are, else dense. It panics if they are nil.
func (c *KNN) given(what string, queries mat.Matrix) (mat.Matrix, error) {
	if matrix.IsNil(queries) {
		panic("nearest: " + what + ": queries is nil")
	}
	if n, _ := queries.Dims(); n == 0 {
		return nil, errors.New("knn: no queries")
	}
	if c.made().sparse == nil {
		if s, ok := queries.(*sparse.Matrix); ok {
			d, err := s.Dense()
			if err != nil {
				return nil, fmt.Errorf("knn: queries: %w", err)
			}
			return d, nil
		}
		return matrix.Dense(queries), nil
	}
	s, err := sparse.Compress(queries)
	if err != nil {
		return nil, fmt.Errorf("knn: queries: %w", err)
	}
	return s, nil
}

// searchSparse is search among sparse rows.
func (c *KNN) searchSparse(ctx context.Context, queries *sparse.Matrix, k int, f func(int, []Neighbour)) error {
	s := c.sparse
	self := queries == nil
	if self {
		queries = s.x
	}
	m, _ := queries.Dims()
	n := len(c.labels)
	lengths := queries.SqNorms()
	for i, l := range lengths {
		if !representable(l * s.stretch) {
			return fmt.Errorf("knn: queries: row %d: squared distances overflow float64: rescale the features", i)
		}
	}
	parallel(ctx, m, 16, func() func(lo, hi int) {
		dots, best := make([]float64, n), newBest(k)
		var z, t []float64
		if s.low != nil {
			z, t = make([]float64, s.low.Rank()), make([]float64, s.low.Rank())
		}
		return func(lo, hi int) {
			for i := lo; i < hi && ctx.Err() == nil; i++ {
				q := queries.Row(i)
				s.postings.Dots(dots, q)
				own := lengths[i]
				if s.low != nil {
					s.low.CoordinatesOf(z, q)
					own += vector.Dot(s.changed(t, z), z)
				}
				best.reset()
				for j, dot := range dots {
					if self && i == j {
						continue
					}
					if s.low != nil {
						dot += vector.Dot(t, s.z.RawRowView(j))
					}
					mid, slack := own+s.self[j]-2*dot, s.eps*(lengths[i]+s.length[j])+1e-300
					best.offer(j, mid-slack, mid+slack)
				}
				f(i, best.nearest(func(x candidate) float64 { return s.sqDist(q, s.x.Row(x.index)) }))
			}
		}
	})
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("knn: %w", err)
	}
	return nil
}
