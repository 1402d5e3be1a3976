// Package vector has what learners do with single vectors.
package vector

import (
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

// Of returns x as gonum's BLAS takes vectors.
func Of(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Inc: 1, Data: x} }

// Short is the length below which a plain loop beats a call of gonum's kernel.
const Short = 12

// Dot returns xᵀy; x and y have the same length.
func Dot(x, y []float64) float64 {
	if len(x) >= Short {
		return floats.Dot(x, y)
	}
	var s float64
	y = y[:len(x)]
	for i, a := range x {
		s += a * y[i]
	}
	return s
}

// AddScaled adds c·x to dst; both have the same length.
func AddScaled(dst []float64, c float64, x []float64) {
	if len(x) >= Short {
		floats.AddScaled(dst, c, x)
		return
	}
	dst = dst[:len(x)]
	for i, a := range x {
		dst[i] += c * a
	}
}
