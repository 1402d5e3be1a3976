// Package subspace splits sparse vectors into their parts inside and outside a subspace.
package subspace

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/sparse"
)

// short is the share of ‖v‖² below which a difference of squared lengths would lose more than 4 of the digits of the part outside.
const short = 1e-4

// Split sets z to Uv, for the rows of u, which are orthonormal, and returns ‖v‖² and the squared length of v − UᵀUv, which lies
// outside their span. It takes O(k) steps for each entry of v, and O(kd) more where less than 1e-4 of ‖v‖² is outside. It
// panics unless z has a number per row of u.
func Split(z []float64, u *mat.Dense, v sparse.Vector) (sq, outside float64) {
	k, d := u.Dims()
	if len(z) != k {
		panic(mat.ErrShape)
	}
	sq, outside = v.SqNorm(), v.SqNorm()
	for c := range z {
		z[c] = v.DotDense(u.RawRowView(c))
		outside -= float64(z[c] * z[c])
	}
	if outside >= short*sq {
		return sq, outside
	}
	rest := make([]float64, d)
	v.Dense(rest)
	for c, a := range z {
		floats.AddScaled(rest, -a, u.RawRowView(c))
	}
	return sq, floats.Dot(rest, rest)
}
