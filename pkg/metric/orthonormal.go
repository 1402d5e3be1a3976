package metric

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Orthonormalise makes the rows of the k×d matrix w orthonormal in place and in
// order, by Gram–Schmidt, done twice. Rows must be nearly unit vectors or nearly
// zero; one that is nearly zero, or lies in the span of those before it up to
// round-off, is replaced by the direction that the first suitable unit vector
// adds. It panics if k > d.
func Orthonormalise(w *mat.Dense) {
	k, d := w.Dims()
	if k > d {
		panic(mat.ErrShape)
	}
	// A new row keeps at least this part of its length unless it is dependent up
	// to round-off; of d unit vectors one keeps √((d−i)/d).
	const dependent = 1e-4
	next := 0
	for i := range k {
		r := w.RawRowView(i)
		for {
			before := floats.Norm(r, 2)
			for range 2 {
				for j := range i {
					o := w.RawRowView(j)
					floats.AddScaled(r, -floats.Dot(o, r), o)
				}
			}
			if after := floats.Norm(r, 2); before > 0.5 && after > dependent*before {
				floats.Scale(1/after, r)
				break
			}
			clear(r)
			r[next] = 1
			next++
		}
	}
}
