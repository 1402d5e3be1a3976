package product

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

// AddScaled adds cx to y, with the bits of gonum's floats.AddScaled. It panics if lengths differ.
func AddScaled(y []float64, c float64, x []float64) { addScaled(current, y, c, x) }

func addScaled(p path, y []float64, c float64, x []float64) {
	if len(x) != len(y) {
		panic(fmt.Sprintf("product: vectors of lengths %d and %d", len(y), len(x)))
	}
	whole := 0
	if p >= viaAVX2 && len(x) >= 4 {
		whole = len(x) &^ 3
		addScaledAVX2(whole, &y[0], c, &x[0])
	}
	if whole < len(x) {
		floats.AddScaled(y[whole:], c, x[whole:])
	}
}

// AddRows adds to y the rows of A with the indices at, each times its number of c, with the bits of gonum's floats.AddScaled, one row
// after the other. It panics if lengths differ, an index is not a row of A, or A is malformed.
func AddRows(y []float64, c []float64, a blas64.General, at []int32) { addRows(current, y, c, a, at) }

func addRows(p path, y, c []float64, a blas64.General, at []int32) {
	checkAt(a, at, c, y)
	whole := 0
	if p >= viaAVX2 && len(at) > 0 && a.Rows > 0 && a.Cols >= 4 && addRowsAVX2(len(at), &at[0], &c[0], a.Cols&^3, &a.Data[0], a.Stride, a.Rows, &y[0]) {
		if whole = a.Cols &^ 3; whole == a.Cols {
			return
		}
	}
	checkRows(a, at)
	for q, i := range at {
		floats.AddScaled(y[whole:], c[q], rowOf(a, i)[whole:])
	}
}

// AddToRows adds x to the rows of A with the indices at, each time multiplied by its number of c, with the bits of gonum's floats.AddScaled,
// one row after the other. It panics if lengths differ, an index is not a row of A, or A is malformed. x must not overlap those rows.
func AddToRows(a blas64.General, at []int32, c, x []float64) { addToRows(current, a, at, c, x) }

func addToRows(p path, a blas64.General, at []int32, c, x []float64) {
	checkAt(a, at, c, x)
	whole := 0
	if p >= viaAVX2 && len(at) > 0 && a.Rows > 0 && a.Cols >= 4 && addToRowsAVX2(len(at), &at[0], &c[0], a.Cols&^3, &a.Data[0], a.Stride, a.Rows, &x[0]) {
		if whole = a.Cols &^ 3; whole == a.Cols {
			return
		}
	}
	checkRows(a, at)
	for q, i := range at {
		floats.AddScaled(rowOf(a, i)[whole:], c[q], x[whole:])
	}
}

// DotRows sets dst to Ax, with the bits of gonum's floats.Dot for each row. It panics if lengths differ, or if A is malformed.
func DotRows(dst []float64, a blas64.General, x []float64) { dotRows(current, dst, a, x) }

func dotRows(p path, dst []float64, a blas64.General, x []float64) {
	check("a", a)
	Ends{Row: x, Col: dst}.check(a, true, true)
	i := 0
	if whole := a.Rows &^ 3; p >= viaAVX2 && whole > 0 && a.Cols > 0 {
		dotRowsAVX2(whole, a.Cols, &x[0], &a.Data[0], a.Stride, &dst[0])
		i = whole
	}
	for ; i < a.Rows; i++ {
		dst[i] = floats.Dot(a.Data[i*a.Stride:][:a.Cols], x)
	}
}

// DotsAt sets dst to the products of x with the rows of A that have the indices at, with the bits of gonum's floats.Dot. It panics if
// lengths differ, an index is not a row of A, or A is malformed.
func DotsAt(dst []float64, a blas64.General, at []int32, x []float64) { dotsAt(current, dst, a, at, x) }

func dotsAt(p path, dst []float64, a blas64.General, at []int32, x []float64) {
	checkAt(a, at, dst, x)
	q := 0
	if whole := len(at) &^ 3; p >= viaAVX2 && whole > 0 && a.Rows > 0 && a.Cols > 0 {
		q = whole - dotsAtAVX2(whole, &at[0], a.Cols, &x[0], &a.Data[0], a.Stride, a.Rows, &dst[0])
	}
	checkRows(a, at[q:])
	for ; q < len(at); q++ {
		dst[q] = floats.Dot(rowOf(a, at[q]), x)
	}
}

func rowOf(a blas64.General, i int32) []float64 { return a.Data[int(i)*a.Stride:][:a.Cols] }

// checkAt panics unless c has a number for each index and x one for each column, or if A is malformed.
func checkAt(a blas64.General, at []int32, c, x []float64) {
	check("a", a)
	if len(c) != len(at) || len(x) != a.Cols {
		panic(fmt.Sprintf("product: a is %d×%d, with %d rows and vectors of lengths %d and %d", a.Rows, a.Cols, len(at), len(c), len(x)))
	}
}

// checkRows panics if an index is not a row of A.
func checkRows(a blas64.General, at []int32) {
	last := int32(min(a.Rows-1, math.MaxInt32))
	bad := int32(0) // negative if one of them is
	for _, i := range at {
		bad |= i | (last - i)
	}
	if bad < 0 {
		out := slices.IndexFunc(at, func(i int32) bool { return i < 0 || i > last })
		panic(fmt.Sprintf("product: row %d of %d", at[out], a.Rows))
	}
}
