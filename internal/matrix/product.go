package matrix

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/product"
)

// small decides who multiplies: gonum if the right factor has at most small rows or columns, else package product.
// Products of such thin matrices cost little beside what else a fit does; gonum keeps the bits of published
// results of few features, and is faster where package product runs pure Go. The left factor does not
// count, so that above small a row of a product has the same bits whatever rows are multiplied with it.
const small = 48

func isSmall(right mat.Matrix) bool { return min(right.Dims()) <= small }

// Mul returns ab. A factor that is neither a *mat.Dense nor the transpose of one, such as a *mat.SymDense, is copied
// first: gonum would multiply it element by element. Mul panics if the dimensions do not fit or one is 0.
func Mul(a, b mat.Matrix) *mat.Dense {
	m, _ := a.Dims()
	_, n := b.Dims()
	dst := mat.NewDense(m, n, nil)
	MulTo(dst, a, b)
	return dst
}

// MulTo sets dst, which overlaps neither factor, to ab, as Mul does.
func MulTo(dst *mat.Dense, a, b mat.Matrix) {
	m, k := a.Dims()
	l, n := b.Dims()
	if r, c := dst.Dims(); k != l || r != m || c != n {
		panic(mat.ErrShape)
	}
	x, tx := factor(a)
	y, ty := factor(b)
	if isSmall(b) {
		blas64.Gemm(tx, ty, 1, x, y, 0, dst.RawMatrix())
		return
	}
	product.Gemm(tx, ty, x, y, dst.RawMatrix())
}

// Outer returns α·aaᵀ, and so α·aᵀa if it is given a.T(). It panics if a has no row or no column.
func Outer(alpha float64, a mat.Matrix) *mat.SymDense {
	n, _ := a.Dims()
	dst := mat.NewSymDense(n, nil)
	if isSmall(a) {
		dst.SymOuterK(alpha, a)
		return dst
	}
	x, t := factor(a)
	product.Syrk(t, x, dst.RawSymmetric())
	if alpha != 1 {
		dst.ScaleSym(alpha, dst)
	}
	return dst
}

// Complete copies the upper triangle of a, which is square, to the lower one.
func Complete(a blas64.General) {
	const tile = 16 // so that both stay in the cache
	Rows((a.Rows+tile-1)/tile, tile*a.Cols, func(lo, hi int) {
		for i0 := lo * tile; i0 < min(hi*tile, a.Rows); i0 += tile {
			for j0 := 0; j0 <= i0; j0 += tile {
				for i := i0; i < min(i0+tile, a.Rows); i++ {
					for j := j0; j < min(j0+tile, i); j++ {
						a.Data[i*a.Stride+j] = a.Data[j*a.Stride+i]
					}
				}
			}
		}
	})
}

// Symmetric returns (a + aᵀ)/2, whose entries do not overflow. It panics if a is not square.
func Symmetric(a mat.Matrix) *mat.SymDense {
	n, c := a.Dims()
	if n != c {
		panic(mat.ErrShape)
	}
	s := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			s.SetSym(i, j, a.At(i, j)/2+a.At(j, i)/2)
		}
	}
	return s
}

// AddOuter adds Σ wᵢvᵢvᵢᵀ to dst for the rows vᵢ of v and weights wᵢ ≥ 0. It overwrites v. It panics if there
// is not one weight per row or dst does not have the order of a row.
func AddOuter(dst *mat.SymDense, w []float64, v *mat.Dense) {
	k, n := v.Dims()
	if len(w) != k || dst.SymmetricDim() != n {
		panic(mat.ErrShape)
	}
	if n <= small {
		for i, a := range w {
			dst.SymRankOne(dst, a, v.RowView(i))
		}
		return
	}
	for i, a := range w {
		floats.Scale(math.Sqrt(a), v.RawRowView(i))
	}
	dst.AddSym(dst, Outer(1, v.T()))
}

// factor returns the elements of a and how to read them.
func factor(a mat.Matrix) (blas64.General, blas.Transpose) {
	if t, ok := a.(mat.Transpose); ok {
		if d, ok := t.Matrix.(*mat.Dense); ok {
			return d.RawMatrix(), blas.Trans
		}
	}
	return Dense(a).RawMatrix(), blas.NoTrans
}
