// Package vector has what learners do with single vectors.
package vector

import (
	"math"

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

// Hash returns a number that equal vectors have in common: FNV-1a of the Bits of the numbers, eight bytes at a time.
func Hash(x []float64) uint64 {
	h := uint64(14695981039346656037)
	for _, v := range x {
		h = Mix(h, Bits(v))
	}
	return h
}

// Mix returns the hash h after v, too.
func Mix(h, v uint64) uint64 {
	h = (h ^ v) * 1099511628211
	return h ^ h>>29
}

// Bits returns those of a number, the same for 0 and −0 and for all NaN.
func Bits(v float64) uint64 {
	if v != v {
		return 1
	}
	return math.Float64bits(v + 0)
}

// IsZero tells whether all numbers are 0.
func IsZero(x []float64) bool {
	return floats.Count(func(v float64) bool { return v != 0 }, x) == 0
}
