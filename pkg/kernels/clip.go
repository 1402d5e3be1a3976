package kernels

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/internal/matrix"
	"metriclab/pkg/metric"
	"metriclab/pkg/spectral"
)

// Clipped is a matrix of similarities between n objects without its negative eigenvalues, and what that means for new objects. With
// K = VΛVᵀ and the projection P = V₊V₊ᵀ on the eigenvectors whose eigenvalues are not negative,
//
//	K⁺ = V max(Λ, 0) Vᵀ = PK,  k⁺(x) = Pk(x),
//
// so that an object of the n and a new one are treated alike (Chen, Garcia, Gupta, Rahimi and Cazzanti, Similarity-based
// Classification, JMLR 10, 2009). New objects choose nothing: P is that of the n. The diagonal of K⁺ is that of K or more.
//
// A Clipped is immutable and safe for concurrent use.
type Clipped struct {
	gram     *mat.SymDense
	negative *mat.Dense // V₋ᵀ, a row per eigenvector; nil if there is none
	share    float64
}

// Clip clips the n×n matrix k. If k is positive semi-definite up to round-off (CheckGram), nothing changes, to the bit. It returns
// an error if an entry is NaN or infinite, if eigenvalues overflow, if none is positive, or if ctx is done. It panics if k is nil or empty. It costs a
// Cholesky decomposition, and one into eigenvalues where that fails.
func Clip(ctx context.Context, k mat.Symmetric) (*Clipped, error) {
	demandGiven("k", k)
	n := k.SymmetricDim()
	if n == 0 {
		panic(mat.ErrZeroLength)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("kernels: clip: %w", err)
	}
	own := mat.NewSymDense(n, nil)
	own.CopySym(k)
	if !abandon.Long(n, n, n) {
		return clip(own)
	}
	return abandon.Do(ctx, "kernels: clip", func(context.Context) (*Clipped, error) { return clip(own) })
}

// clip clips k, which it keeps.
func clip(k *mat.SymDense) (*Clipped, error) {
	n := k.SymmetricDim()
	err := CheckGram(k)
	if err == nil {
		return &Clipped{gram: k}, nil
	}
	if !errors.Is(err, metric.ErrNotPSD) {
		return nil, fmt.Errorf("kernels: clip: %w", err)
	}
	var eig spectral.EigenSym
	if !eig.Factorize(k, true) {
		return nil, errors.New("kernels: clip: its eigenvalues overflow float64: scale it down")
	}
	values := eig.Values(nil)
	m := 0
	var negative, all float64
	for m < n && values[m] < 0 {
		negative -= values[m]
		m++
	}
	all = negative
	for _, v := range values[m:] {
		all += v
	}
	if all == negative {
		return nil, errors.New("kernels: clip: no eigenvalue is positive")
	}
	var vectors mat.Dense
	eig.VectorsTo(&vectors)
	c := &Clipped{negative: mat.DenseCopyOf(vectors.Slice(0, n, 0, m).T()), share: negative / all}
	weighted := mat.DenseCopyOf(c.negative)
	for i := range m {
		row := weighted.RawRowView(i)
		for j := range row {
			row[j] *= values[i]
		}
	}
	less := matrix.Mul(c.negative.T(), weighted) // the negative part of k
	for i := range n {
		for j := range i + 1 {
			k.SetSym(i, j, k.At(i, j)-(less.At(i, j)+less.At(j, i))/2)
		}
	}
	c.gram = k
	return c, nil
}

// made returns c, and panics if Clip did not make it.
func (c *Clipped) made() *Clipped {
	if c == nil || c.gram == nil {
		panic("kernels: Clipped: nil or the zero value, use Clip")
	}
	return c
}

// Gram returns a copy of K⁺, n×n, positive semi-definite up to round-off.
func (c *Clipped) Gram() *mat.SymDense {
	out := mat.NewSymDense(c.made().gram.SymmetricDim(), nil)
	out.CopySym(c.gram)
	return out
}

// Cross returns the m×n matrix of k⁺(x) for the m×n matrix of similarities between m new objects, one row each, and the n. It panics
// if cross is nil or empty, or does not have n columns.
func (c *Clipped) Cross(cross mat.Matrix) *mat.Dense {
	x := matrix.Given("kernels: Clipped: cross", cross)
	m, n := x.Dims()
	if m == 0 {
		panic(mat.ErrZeroLength)
	}
	if n != c.made().gram.SymmetricDim() {
		panic(mat.ErrShape)
	}
	out := mat.DenseCopyOf(x)
	if c.negative != nil {
		out.Sub(out, matrix.Mul(matrix.Mul(x, c.negative.T()), c.negative))
	}
	return out
}

// Removed returns the number of eigenvalues that were clipped.
func (c *Clipped) Removed() int {
	if c.made().negative == nil {
		return 0
	}
	m, _ := c.negative.Dims()
	return m
}

// Share returns the sum of the magnitudes of the clipped eigenvalues in that of all, from 0 to less than 1.
func (c *Clipped) Share() float64 { return c.made().share }
