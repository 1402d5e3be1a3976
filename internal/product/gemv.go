package product

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"metriclab/internal/cores"
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
	if h := half(a.Cols); twoCores(h, a) {
		left, right := a, a
		left.Cols, right.Cols, right.Data = h, a.Cols-h, a.Data[h:]
		cores.Do(2, func(part int) {
			if part == 0 {
				addGemvT(p, y[:h], alpha, left, x)
			} else {
				addGemvT(p, y[h:], alpha, right, x)
			}
		})
		return
	}
	addGemvT(p, y, alpha, a, x)
}

// addGemvT is gemvT for arguments that have been checked, on one core.
func addGemvT(p path, y []float64, alpha float64, a blas64.General, x []float64) {
	const least = 16 // columns that are worth a call
	if p >= viaAVX2 && a.Cols >= least {
		i := 0
		for ; i+rows <= a.Rows; i += rows {
			sumFour(a.Data[i*a.Stride:], a.Stride, fetchAhead(a.Cols), []float64{alpha * x[i], alpha * x[i+1], alpha * x[i+2], alpha * x[i+3]}, y)
		}
		if i == a.Rows {
			return
		}
		a.Rows, a.Data, x = a.Rows-i, a.Data[i*a.Stride:], x[i:]
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
	if h := half(a.Rows); !both && twoCores(h, a) { // each row by itself
		upper, lower := a, a
		upper.Rows, lower.Rows, lower.Data = h, a.Rows-h, a.Data[h*a.Stride:]
		cores.Do(2, func(part int) {
			if part == 0 {
				rowsGerGemv(p, upper, by.to(h), x.to(h), y.to(h))
			} else {
				rowsGerGemv(p, lower, by.from(h), x.from(h), y.from(h))
			}
		})
		return
	}
	rowsGerGemv(p, a, by, x, y)
}

// rowsGerGemv is gerGemv for arguments that have been checked, on one core.
func rowsGerGemv(p path, a blas64.General, by, x, y Ends) {
	update, both := len(by.Col) > 0, y.Row != nil
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

// half returns about half of n, such that neither half has a remainder that n does not have.
func half(n int) int { return n / 2 &^ 7 }

// twoCores reports whether a is worth two cores, of which one has the rows or columns up to half, and a second one is idle.
func twoCores(half int, a blas64.General) bool {
	const least = 25_000 // numbers, some 3 µs
	return half > 0 && a.Rows*a.Cols >= least && cores.Idle() > 0
}

// to returns the ends of the rows up to r.
func (e Ends) to(r int) Ends {
	if len(e.Col) > 0 {
		e.Col = e.Col[:r]
	}
	return e
}

// from returns the ends of the rows from r on.
func (e Ends) from(r int) Ends {
	if len(e.Col) > 0 {
		e.Col = e.Col[r:]
	}
	return e
}
