// Package matrix takes the matrices that functions only read.
//
// # How it is built
//
// Exported functions of pkg/, papers apart, take what they only read as a mat.Matrix or mat.Symmetric. Dense and
// Given make of it the *mat.Dense to work with: the argument itself if it is one, else a copy. Whatever is written
// into or returned is a *mat.Dense.
//
// Mul and Outer are the products of all fits. Where the right factor has at most 48 rows or columns they call
// gonum: there the bits of published results stay, and a product costs little beside the rest of a fit. Elsewhere
// they call package product, which is twenty times as fast as gonum's SymOuterK on a tall matrix. gonum also
// multiplies a SymDense element by element.
package matrix

import (
	"math"
	"reflect"

	"metriclab/internal/cores"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Dense returns x itself if it is a *mat.Dense, else a copy with its entries, and nil if x is
// nil (see IsNil). What has no row or no column becomes the empty matrix.
func Dense(x mat.Matrix) *mat.Dense {
	if d, ok := x.(*mat.Dense); ok {
		return d
	}
	if IsNil(x) {
		return nil
	}
	if n, d := x.Dims(); n == 0 || d == 0 { // gonum has no copy of it
		return new(mat.Dense)
	}
	return mat.DenseCopyOf(x)
}

// Given is Dense for an argument that must not be nil: it panics with what, the name of
// package, function and argument, if it is.
func Given(what string, x mat.Matrix) *mat.Dense {
	d := Dense(x)
	if d == nil {
		panic(what + " is nil")
	}
	return d
}

// Rows calls do for rows 0 to n, of width numbers each, in blocks, on the cores that are idle.
func Rows(n, width int, do func(lo, hi int)) {
	const numbers = 1 << 16 // of a block: a core has some .02 ms to do
	per := max(numbers/max(width, 1), 1)
	cores.Do((n+per-1)/per, func(b int) { do(b*per, min((b+1)*per, n)) })
}

// RowSource is a matrix that shows its rows, as a *mat.Dense does. They may lie in a file, and be read when they are asked for.
type RowSource interface {
	mat.Matrix
	mat.RawRowViewer
}

// RowsFrom is Dense for whoever asks for rows alone: a RowSource is returned as it is.
func RowsFrom(x mat.Matrix) RowSource {
	if r, ok := x.(RowSource); ok && !IsNil(x) {
		return r
	}
	if d := Dense(x); d != nil {
		return d
	}
	return nil
}

// IsNil tells whether x is nil, or a nil pointer in a mat.Matrix, as a *mat.Dense that was
// never set becomes.
func IsNil(x mat.Matrix) bool {
	if x == nil {
		return true
	}
	v := reflect.ValueOf(x)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// ToUnit divides each row by its length, but for rows of zeros, which have no direction.
func ToUnit(x *mat.Dense) {
	n, _ := x.Dims()
	for i := range n {
		row := x.RawRowView(i)
		largest := floats.Norm(row, math.Inf(1))
		if largest == 0 {
			continue
		}
		_, e := math.Frexp(largest)                                                  // by a power of two first: squares may overflow or vanish
		if power := math.Ldexp(1, -e); power >= 0x1p-1022 && !math.IsInf(power, 1) { // a product has the bits of Ldexp
			floats.Scale(power, row)
		} else {
			for j, v := range row {
				row[j] = math.Ldexp(v, -e)
			}
		}
		floats.Scale(1/floats.Norm(row, 2), row)
	}
}
