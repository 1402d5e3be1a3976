package product

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"metriclab/internal/vector"
)

// Ends are vectors at the ends of a matrix: Row has a number for each of its columns, Col one for each of its rows.
type Ends struct{ Row, Col []float64 }

// Gemv sets dst to Ax, with the bits of gonum's Dgemv. It panics if lengths differ, or if A is malformed.
func Gemv(dst []float64, a blas64.General, x []float64) {
	clear(dst)
	GerGemv(a, Ends{}, Ends{Row: x}, Ends{Col: dst})
}

// GemvT adds α·Aᵀx to y, with the bits of gonum's Dgemv. It panics if lengths differ, or if A is malformed.
func GemvT(y []float64, alpha float64, a blas64.General, x []float64) { gemvT(current, y, alpha, a, x) }

func gemvT(p path, y []float64, alpha float64, a blas64.General, x []float64) {
	check("a", a)
	Ends{Row: y, Col: x}.check(a, true, true)
	const least = 16 // columns that are worth a call
	if p >= viaAVX2 && a.Cols >= least {
		for ; a.Rows >= rows; a.Rows, a.Data, x = a.Rows-rows, a.Data[rows*a.Stride:], x[rows:] {
			sumFour(a.Data, a.Stride, fetchAhead(a.Cols), []float64{alpha * x[0], alpha * x[1], alpha * x[2], alpha * x[3]}, y)
		}
	}
	if a.Rows > 0 {
		blas64.Gemv(blas.Trans, alpha, a, vector.Of(x), 1, vector.Of(y))
	}
}

// GerGemv sets A to A + stᵀ, s being by.Col and t by.Row, unless by.Col is empty. Then it adds A·x.Row to y.Col, and Aᵀ·x.Col to y.Row
// unless y.Row is nil. It reads A once, and has the bits of gonum's Dger, Dgemv and Dgemv of the transpose, one after the other. It
// panics if the lengths are not those of A, or if A is malformed. The vectors of y must not overlap others.
func GerGemv(a blas64.General, by, x, y Ends) { gerGemv(current, a, by, x, y) }

func gerGemv(p path, a blas64.General, by, x, y Ends) {
	check("a", a)
	update, both := len(by.Col) > 0, y.Row != nil
	x.check(a, true, both)
	y.check(a, both, true)
	by.check(a, update, update)
	const least = 16 // columns that are worth a call
	if whole := a.Rows &^ (rows - 1); p >= viaAVX2 && a.Cols >= least && whole > 0 {
		switch {
		case update && both:
			gerGemvBothAVX2(whole, a.Cols, &a.Data[0], a.Stride, &by.Col[0], &by.Row[0], &x.Row[0], &y.Col[0], &x.Col[0], &y.Row[0])
		case update:
			gerGemvAVX2(whole, a.Cols, &a.Data[0], a.Stride, &by.Col[0], &by.Row[0], &x.Row[0], &y.Col[0], nil, nil)
		case both:
			gemvBothAVX2(whole, a.Cols, &a.Data[0], a.Stride, nil, nil, &x.Row[0], &y.Col[0], &x.Col[0], &y.Row[0])
		default:
			gemvAVX2(whole, a.Cols, &a.Data[0], a.Stride, nil, nil, &x.Row[0], &y.Col[0], nil, nil)
		}
		if whole == a.Rows {
			return
		}
		a.Rows, a.Data = a.Rows-whole, a.Data[whole*a.Stride:]
		by, x, y = by.from(whole), x.from(whole), y.from(whole)
	}
	if update {
		blas64.Ger(1, vector.Of(by.Col), vector.Of(by.Row), a)
	}
	blas64.Gemv(blas.NoTrans, 1, a, vector.Of(x.Row), 1, vector.Of(y.Col))
	if both {
		blas64.Gemv(blas.Trans, 1, a, vector.Of(x.Col), 1, vector.Of(y.Row))
	}
}

// check panics if the vectors that are used are not of the lengths of a.
func (e Ends) check(a blas64.General, row, col bool) {
	if row && len(e.Row) != a.Cols || col && len(e.Col) != a.Rows {
		panic(fmt.Sprintf("product: a is %d×%d, with vectors of lengths %d and %d", a.Rows, a.Cols, len(e.Col), len(e.Row)))
	}
}

// from returns the ends of the rows from r on.
func (e Ends) from(r int) Ends {
	if len(e.Col) > 0 {
		e.Col = e.Col[r:]
	}
	return e
}
