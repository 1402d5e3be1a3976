package product

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

// Symv sets y to Ax. Of A it reads the upper triangle once. It does not keep the chains of Gemm: its bits are those of
//
//	y_i += a_ii·x_i + Dot(a_i, x);  AddScaled(y, x_i, a_i)
//
// for the rows i in ascending order, a_i being row i right of the diagonal, with gonum's floats.Dot and
// floats.AddScaled, which round products and have bits of their own on each architecture. It panics if a.Uplo is not
// blas.Upper, if the lengths of x and y are not the order of A, or if A is malformed. x and y must not overlap.
func Symv(a blas64.Symmetric, x, y []float64) { symv(current, a, x, y) }

func symv(p path, a blas64.Symmetric, x, y []float64) {
	n := a.N
	if a.Uplo != blas.Upper {
		panic("product: a.Uplo is not blas.Upper")
	}
	check("a", blas64.General{Rows: n, Cols: n, Stride: a.Stride, Data: a.Data})
	if len(x) != n || len(y) != n {
		panic(fmt.Sprintf("product: a of order %d, x of length %d and y of length %d", n, len(x), len(y)))
	}
	clear(y)
	i := 0
	if p >= viaAVX2 {
		const least = 12 // columns that are worth a call
		for ; n-i >= least; i += 4 {
			fourRows(a.Data[i*a.Stride+i:], a.Stride, x[i:], y[i:])
		}
	}
	for ; i < n; i++ {
		row := a.Data[i*a.Stride+i:][:n-i]
		y[i] += float64(row[0]*x[i]) + floats.Dot(row[1:], x[i+1:])
		floats.AddScaled(y[i+1:], x[i], row[1:])
	}
}

// fourRows does the first four rows of an upper triangle of order len(x), at least 8, with numbers stride apart.
//
// The dot product of gonum has four chains, one for each remainder of the index by 4. The last numbers, fewer than four, are
// added to the first chain. In the end it adds the third to the first, the fourth to the second, and both.
func fourRows(a []float64, stride int, x, y []float64) {
	const rows = 4
	n := len(x)
	whole := (n - rows - (rows - 1)) &^ 3 // columns from the fourth on that are no last numbers of any row
	var sums [rows * 4]float64            // those of row r at 4r; column j belongs to the chain at j%4
	// term adds what row r has in column j.
	term := func(r, j int) {
		v, at := a[r*stride+j], j%4
		if length := n - r - 1; j-r-1 >= length&^3 {
			at = (r + 1) % 4
		}
		sums[4*r+at] += float64(v * x[j])
		y[j] += float64(v * x[r])
	}
	for r := range rows {
		for j := r + 1; j < rows; j++ {
			term(r, j)
		}
	}
	_, _ = a[(rows-1)*stride+rows+whole-1], y[rows+whole-1]
	rowsAVX2(whole, &a[rows], stride, &x[rows], &x[0], &y[rows], &sums[0])
	for j := rows + whole; j < n; j++ {
		for r := range rows {
			term(r, j)
		}
	}
	for r := range rows {
		s := sums[4*r:][:4]
		at := r + 1 // of the first chain
		y[r] += float64(a[r*stride+r]*x[r]) + ((s[at%4] + s[(at+2)%4]) + (s[(at+1)%4] + s[(at+3)%4]))
	}
}

// Dots returns the products of x with a, b, c and d, with the bits of gonum's floats.Dot. It panics if lengths differ.
func Dots(x, a, b, c, d []float64) [4]float64 { return dots(current, x, a, b, c, d) }

func dots(p path, x, a, b, c, d []float64) (out [4]float64) {
	const least = 8 // numbers that are worth a call
	if p < viaAVX2 || len(x) < least {
		return [4]float64{floats.Dot(x, a), floats.Dot(x, b), floats.Dot(x, c), floats.Dot(x, d)}
	}
	if n := len(x); len(a) != n || len(b) != n || len(c) != n || len(d) != n {
		panic(fmt.Sprintf("product: vectors of lengths %d, %d, %d, %d and %d", n, len(a), len(b), len(c), len(d)))
	}
	dotsAVX2(len(x), &x[0], &a[0], &b[0], &c[0], &d[0], &out[0])
	return out
}
