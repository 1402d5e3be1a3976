package synthetic

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets"
	"metriclab/pkg/limits"
)

// Rings returns n points of the plane on concentric rings about the origin, row i
// on ring i mod len(radii), which is its label. The angle is uniform and the radius
// that of the ring plus Gaussian noise of the given standard deviation. It returns
// an error unless n ≥ 1, there is a radius, all radii are finite and > 0, and
// noise is finite and ≥ 0.
//
// No Mahalanobis metric tells two rings apart by a threshold. Let r < R be the radii and
// u any unit vector. The points Ru and −Ru belong together at d² = 4R²·uᵀMu; Ru and ru do
// not, at (R−r)²·uᵀMu, which is smaller.
func Rings(rng *rand.Rand, n int, radii []float64, noise float64) (*datasets.Set, error) {
	if n < 1 {
		return nil, fmt.Errorf("synthetic: n: %d is not allowed, want at least 1", n)
	}
	if len(radii) == 0 {
		return nil, fmt.Errorf("synthetic: radii: none is not allowed, want at least one")
	}
	for i, r := range radii {
		if !(r > 0) || math.IsInf(r, 1) {
			return nil, fmt.Errorf("synthetic: radii[%d]: %v is not allowed, want a finite number > 0", i, r)
		}
	}
	if !(noise >= 0) || math.IsInf(noise, 1) {
		return nil, fmt.Errorf("synthetic: noise: %v is not allowed, want a finite number ≥ 0", noise)
	}
	if err := limits.Check(fmt.Sprintf("%d points on rings", n), limits.Floats(3, n)); err != nil {
		return nil, fmt.Errorf("synthetic: n: %w", err)
	}
	s := &datasets.Set{Name: "rings", X: mat.NewDense(n, 2, nil), Y: make([]int, n)}
	for k := range radii {
		s.Classes = append(s.Classes, fmt.Sprintf("ring %d", k+1))
	}
	for i := range n {
		k := i % len(radii)
		sin, cos := math.Sincos(2 * math.Pi * rng.Float64())
		r := radii[k] + noise*rng.NormFloat64()
		s.X.SetRow(i, []float64{r * cos, r * sin})
		s.Y[i] = k
	}
	return s, nil
}
