// Package matrix takes the matrices that functions only read.
//
// # How it is built
//
// Products of matrices in fits go through internal/matrix (Mul, Outer), which calls internal/product. Where the
// right factor has at most 48 rows or columns it calls gonum: there the bits of published results stay, and a
// product costs little beside the rest of a fit. gonum's SymOuterK reaches 2 to 3 GF/s on a tall matrix, a twentieth
// of internal/product, and its product with a SymDense is a loop over single elements.
//
// A matrix that is only read is a mat.Matrix in exported functions of pkg/ (papers apart), a symmetric one a
// mat.Symmetric. internal/matrix gives the *mat.Dense to work with: the argument itself if it is one, else a copy.
// Nil and a nil pointer are one, and a panic with a message of ours where nil has no meaning. What is written into,
// and what is returned, is a *mat.Dense.
package matrix

import (
	"reflect"

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

// IsNil tells whether x is nil, or a nil pointer in a mat.Matrix, as a *mat.Dense that was
// never set becomes.
func IsNil(x mat.Matrix) bool {
	if x == nil {
		return true
	}
	v := reflect.ValueOf(x)
	return v.Kind() == reflect.Pointer && v.IsNil()
}
