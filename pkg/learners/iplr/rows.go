package iplr

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/internal/matrix"
	"metriclab/internal/subspace"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
	"metriclab/pkg/sparse"
	"metriclab/pkg/spectral"
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

// sparseSingular is SingularBasis of sparse rows, by products with the matrix where few of many vectors are wanted.
func sparseSingular(ctx context.Context, x *sparse.Matrix, k int) (*Basis, error) {
	n, d := x.Dims()
	m := min(n, d)
	var largest float64
	for i := range n {
		for _, v := range x.Row(i).Value {
			largest = max(largest, math.Abs(v))
		}
	}
	if largest == 0 {
		return nil, errZeroRows
	}
	_, e := math.Frexp(largest)
	few := m > fewProducts && 8*k <= m
	size := limits.Floats(4, m, m)
	if few {
		size = limits.Floats(m, m/2) // the Krylov space
	}
	if err := limits.Check(fmt.Sprintf("singular vectors of %d×%d numbers", n, d), size); err != nil {
		return nil, fmt.Errorf("iplr: %w", err)
	}
	if err := limits.Check(fmt.Sprintf("a basis of %d vectors in %d dimensions", k, d), limits.Floats(4, k, d)); err != nil {
		return nil, fmt.Errorf("iplr: %w", err)
	}
	return abandon.Do(ctx, "iplr", func(ctx context.Context) (*Basis, error) { // x never changes
		values, vectors, err := sparseEigen(ctx, x, k, e, few)
		if err != nil {
			return nil, err
		}
		kept := vectors.Slice(0, aboveNoise(values), 0, m).(*mat.Dense)
		if n <= d {
			t, err := x.MulTrans(ctx, kept.T())
			if err != nil {
				return nil, fmt.Errorf("iplr: %w", err)
			}
			kept = mat.DenseCopyOf(t.T())
		}
		return signedBasis(ctx, kept, k)
	})
}

// sparseEigen returns the k largest eigenvalues, up to a power of two, of the smaller of XXᵀ and XᵀX, and eigenvectors as rows. Entries of X are at most 2^e.
func sparseEigen(ctx context.Context, x *sparse.Matrix, k, e int, few bool) ([]float64, *mat.Dense, error) {
	n, d := x.Dims()
	m := min(n, d)
	scale := func(v []float64) {
		for i, a := range v {
			v[i] = math.Ldexp(a, -e)
		}
	}
	first, second := x.MulVec, x.MulTransVec
	if n <= d {
		first, second = second, first
	}
	between := make([]float64, max(n, d))
	op := spectral.Func{N: m, Mul: func(dst, v []float64) {
		if ctx.Err() != nil { // the answer is not looked at
			clear(dst)
			return
		}
		first(between, v)
		scale(between) // neither product overflows or vanishes
		second(dst, between)
		scale(dst)
	}}
	if few {
		r := spectral.Largest(op, k, spectral.Options{Tol: 1e-13, MaxProducts: m / 2})
		if err := ctx.Err(); err != nil {
			return nil, nil, fmt.Errorf("iplr: %w", err)
		}
		if r.Status == spectral.Converged {
			return r.Values, r.Vectors, nil
		}
		if err := limits.Check(fmt.Sprintf("singular vectors of %d×%d numbers", n, d), limits.Floats(4, m, m)); err != nil {
			return nil, nil, fmt.Errorf("iplr: %w", err)
		}
	}
	gram := mat.NewSymDense(m, nil)
	unit, column := make([]float64, m), make([]float64, m)
	for j := range m {
		if err := ctx.Err(); err != nil {
			return nil, nil, fmt.Errorf("iplr: %w", err)
		}
		unit[j] = 1
		op.Mul(column, unit)
		unit[j] = 0
		for i := range j + 1 {
			gram.SetSym(i, j, column[i])
		}
	}
	return topEigen(gram, k)
}

// topEigen returns the k largest eigenvalues of a, descending, and eigenvectors as rows.
func topEigen(a *mat.SymDense, k int) ([]float64, *mat.Dense, error) {
	m := a.SymmetricDim()
	var eig spectral.EigenSym
	if !eig.Factorize(a, true) {
		return nil, nil, errors.New("iplr: eigendecomposition did not converge")
	}
	values := eig.Values(nil)[m-k:]
	slices.Reverse(values)
	var q mat.Dense
	eig.VectorsTo(&q)
	vectors := mat.NewDense(k, m, nil)
	for i := range k {
		mat.Col(vectors.RawRowView(i), m-1-i, &q)
	}
	return values, vectors, nil
}

// aboveNoise returns how many of values, which descend, are those of singular values above 1e-8 of the largest.
func aboveNoise(values []float64) int {
	keep := 0
	for keep < len(values) && values[keep] > dependent*dependent*values[0] {
		keep++
	}
	return keep
}

// signedBasis is NewBasis with signs that do not depend on how the vectors were found; asked counts those that were wanted.
func signedBasis(ctx context.Context, vectors *mat.Dense, asked int) (*Basis, error) {
	b, err := NewBasis(ctx, vectors)
	if err != nil {
		return nil, err
	}
	for i := range b.Rank() {
		metric.FixSign(b.u.RawRowView(i))
	}
	b.asked = asked
	return b, nil
}

var errZeroRows = errors.New("iplr: basis: x is zero, want singular vectors with a singular value above 0")
