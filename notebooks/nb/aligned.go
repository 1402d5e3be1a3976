package nb

import (
	"fmt"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// Aligned returns the n points of x, its rows, moved, rotated or reflected, but not
// scaled, to be nearest to those of y in the sum of squares. Pictures of equal configurations that a
// method has turned in different ways can so be compared. It panics unless x and y
// have the same shape.
func Aligned(x, y *mat.Dense) *mat.Dense {
	n, d := x.Dims()
	if r, c := y.Dims(); r != n || c != d {
		panic(fmt.Sprintf("nb: Aligned of a %d×%d and a %d×%d matrix, want equal shapes", n, d, r, c))
	}
	from, to := centred(x), centred(y)
	var cross mat.Dense
	cross.Mul(from.T(), to)
	var svd mat.SVD
	if !svd.Factorize(&cross, mat.SVDFull) {
		panic("nb: Aligned: no singular values, are all numbers finite?")
	}
	var u, v, q, out mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	q.Mul(&u, v.T()) // the orthogonal matrix nearest to cross
	out.Mul(from, &q)
	for j := range d {
		middle := stat.Mean(mat.Col(nil, j, y), nil)
		for i := range n {
			out.Set(i, j, out.At(i, j)+middle)
		}
	}
	return &out
}

// centred returns x minus the mean of its rows.
func centred(x *mat.Dense) *mat.Dense {
	out := mat.DenseCopyOf(x)
	n, d := x.Dims()
	for j := range d {
		middle := stat.Mean(mat.Col(nil, j, x), nil)
		for i := range n {
			out.Set(i, j, out.At(i, j)-middle)
		}
	}
	return out
}
