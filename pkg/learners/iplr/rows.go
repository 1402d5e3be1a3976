package iplr

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/internal/subspace"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
	"metriclab/pkg/sparse"
)

// rows are the rows of an n×d matrix: those of dense, or of sparse if dense is nil.
type rows struct {
	dense  *mat.Dense
	sparse *sparse.Matrix
}

// rowsOf returns the rows of x, and panics if it is nil or empty.
func rowsOf(function string, x mat.Matrix) rows {
	if s, ok := x.(*sparse.Matrix); ok && s != nil {
		if n, _ := s.Dims(); n > 0 {
			return rows{sparse: s}
		}
	}
	xd := matrix.Dense(x)
	if xd == nil || xd.IsEmpty() {
		panic("iplr: " + function + ": x is nil or empty")
	}
	return rows{dense: xd}
}

// matrix returns the matrix of the rows.
func (x rows) matrix() mat.Matrix {
	if x.dense == nil {
		return x.sparse
	}
	return x.dense
}

func (x rows) dims() (n, d int) { return x.matrix().Dims() }

// check returns an error if an entry is NaN or infinite, as none of a sparse matrix is.
func (x rows) check() error {
	if x.dense == nil {
		return nil
	}
	return metric.CheckFinite(x.dense)
}

// addTo adds s times row i to dst.
func (x rows) addTo(dst []float64, s float64, i int) {
	if x.dense == nil {
		x.sparse.Row(i).AddTo(dst, s)
		return
	}
	floats.AddScaled(dst, s, x.dense.RawRowView(i))
}

// some returns copies of the rows of these numbers, at least one.
func (x rows) some(idx []int) (mat.Matrix, error) {
	if x.dense == nil {
		return x.sparse.Rows(idx)
	}
	_, d := x.dims()
	out := mat.NewDense(len(idx), d, nil)
	for i, r := range idx {
		out.SetRow(i, x.dense.RawRowView(r))
	}
	return out, nil
}

// vectors returns k vectors of zeros as long as the rows.
func (x rows) vectors(k int) (*mat.Dense, error) {
	_, d := x.dims()
	if err := limits.Check(fmt.Sprintf("%d vectors of %d numbers", k, d), limits.Floats(k, d)); err != nil {
		return nil, fmt.Errorf("iplr: %w", err)
	}
	return mat.NewDense(k, d, nil), nil
}

// projectSparse sets z, r and ‖x_i − x_j‖² of links between sparse rows.
func (p *pairs) projectSparse(ctx context.Context, x *sparse.Matrix, u *mat.Dense, ends func(link int) (i, j int)) error {
	var v sparse.Vector
	for l := range p.links {
		if l%looks == 0 && ctx.Err() != nil {
			return fmt.Errorf("iplr: %w", ctx.Err())
		}
		i, j := ends(l)
		v = sparse.Difference(v, x.Row(i), x.Row(j))
		p.sq[l], p.r[l] = subspace.Split(p.of(l), u, v)
		if err := p.finite(l); err != nil {
			return err
		}
	}
	return nil
}

// near1 returns x times a power of two with which sums of squares neither overflow nor vanish: x itself where its largest entry is ordinary. It
// returns an error if x is zero.
func (x rows) near1() (rows, error) {
	var largest float64
	n, d := x.dims()
	if x.dense != nil {
		largest = max(mat.Max(x.dense), -mat.Min(x.dense))
	} else {
		for i := range n {
			for _, v := range x.sparse.Row(i).Value {
				largest = max(largest, math.Abs(v))
			}
		}
	}
	if largest == 0 {
		return rows{}, errZeroRows
	}
	_, e := math.Frexp(largest)
	if -ordinary <= e && e <= ordinary {
		return x, nil
	}
	if x.dense != nil {
		if err := limits.Check(fmt.Sprintf("a copy of %d×%d numbers", n, d), limits.Floats(n, d)); err != nil {
			return rows{}, fmt.Errorf("iplr: %w", err)
		}
		scaled := mat.NewDense(n, d, nil)
		scaled.Apply(func(_, _ int, a float64) float64 { return math.Ldexp(a, -e) }, x.dense)
		return rows{dense: scaled}, nil
	}
	var b sparse.Builder
	for i := range n {
		row := x.sparse.Row(i)
		v := sparse.Vector{Index: row.Index, Value: slices.Clone(row.Value)}
		for j, a := range v.Value {
			v.Value[j] = math.Ldexp(a, -e)
		}
		if err := b.Add(v); err != nil {
			return rows{}, fmt.Errorf("iplr: %w", err)
		}
	}
	scaled, err := b.Matrix(d)
	if err != nil {
		return rows{}, fmt.Errorf("iplr: %w", err)
	}
	return rows{sparse: scaled}, nil
}

// ordinary bounds the exponent of the largest entry that needs no other unit.
const ordinary = 300

var errZeroRows = errors.New("iplr: basis: x is zero, want singular vectors with a singular value above 0")
