package synthetic_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/datasets/synthetic"
	"metriclab/pkg/metric"
)

func TestRings(t *testing.T) {
	const n, noise = 3000, 0.1
	radii := []float64{1, 3}
	s, err := synthetic.Rings(rand.New(rand.NewPCG(1, 1)), n, radii, noise)
	if err != nil {
		t.Fatal(err)
	}
	by := make([][]float64, len(radii))
	for i, y := range s.Y {
		by[y] = append(by[y], math.Hypot(s.X.At(i, 0), s.X.At(i, 1)))
	}
	for k, r := range by {
		// Five standard errors of a mean and of a deviation of n/2 values.
		if len(r) != n/2 || math.Abs(stat.Mean(r, nil)-radii[k]) > 5*noise/math.Sqrt(n/2) || math.Abs(stat.StdDev(r, nil)-noise) > 5*noise/math.Sqrt(n) {
			t.Errorf("ring %d: %d points, radius %v ± %v", k, len(r), stat.Mean(r, nil), stat.StdDev(r, nil))
		}
	}
	for _, axis := range []int{0, 1} { // the rings are about the origin
		if m := stat.Mean(mat.Col(nil, axis, s.X), nil); math.Abs(m) > 5*3/math.Sqrt(n) {
			t.Errorf("mean of axis %d is %v", axis, m)
		}
	}
	for name, f := range map[string]func() error{
		"no points": func() error { _, err := synthetic.Rings(rand.New(rand.NewPCG(1, 1)), 0, radii, noise); return err },
		"no radii":  func() error { _, err := synthetic.Rings(rand.New(rand.NewPCG(1, 1)), 9, nil, noise); return err },
		"radius 0": func() error {
			_, err := synthetic.Rings(rand.New(rand.NewPCG(1, 1)), 9, []float64{0}, noise)
			return err
		},
		"negative noise": func() error { _, err := synthetic.Rings(rand.New(rand.NewPCG(1, 1)), 9, radii, -1); return err },
		"noise not a number": func() error {
			_, err := synthetic.Rings(rand.New(rand.NewPCG(1, 1)), 9, radii, math.NaN())
			return err
		},
	} {
		if f() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// The statement of the doc comment, for many metrics and directions.
func TestNoMahalanobisMetricSeparatesRings(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	const inner, outer = 1.0, 3.0
	for range 200 {
		m := metric.FromFactor(mat.NewDense(2, 2, []float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}))
		sin, cos := math.Sincos(2 * math.Pi * rng.Float64())
		far, near := []float64{outer * cos, outer * sin}, []float64{inner * cos, inner * sin}
		same := m.SqDist(far, []float64{-far[0], -far[1]})
		if other := m.SqDist(far, near); !(same > other) {
			t.Fatalf("points of one ring at d² = %v, of two rings at %v", same, other)
		}
	}
}
