package plots

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Points made from the half axes satisfy tᵀMt = 1, and the extent touches the
// farthest of them.
func TestEllipseAxes(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		a, b, c := rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()
		m := Ellipse{M: [2][2]float64{{a*a + 0.1, a * b}, {a * b, b*b + c*c + 0.1}}, Center: [2]float64{a, c}}
		short, long := m.axes()
		far := [2]float64{}
		for i := range 1000 {
			sin, cos := math.Sincos(2 * math.Pi * float64(i) / 1000)
			x, y := cos*short[0]+sin*long[0], cos*short[1]+sin*long[1]
			q := x*x*m.M[0][0] + 2*x*y*m.M[0][1] + y*y*m.M[1][1]
			const tol = 1e-10 // eigenvalues down to 0.1 of numbers below 100
			if math.Abs(q-1) > tol {
				t.Fatalf("M = %v: tᵀMt = %v", m.M, q)
			}
			far[0], far[1] = max(far[0], x), max(far[1], y)
		}
		sx, sy := m.extent(nil)
		// 1000 points miss the extreme one by at most 1 − cos(π/1000).
		const miss = 1e-5
		for i, s := range []span{sx, sy} {
			half := (s.hi - s.lo) / 2
			if math.Abs(half-far[i]) > miss*half || math.Abs((s.hi+s.lo)/2-m.Center[i]) > 1e-9 {
				t.Fatalf("M = %v: extent %v, farthest point %v", m.M, s, far[i])
			}
		}
	}
}

// An ellipse that is very long must not shrink the data to a dot.
func TestFlatEllipseLeavesRoomForData(t *testing.T) {
	for _, small := range []float64{0, 1e-14, 1e-8, 1e-4} {
		n := notes{}
		p, err := Panel{Marks: []Mark{
			Points{X: []float64{-1, 1}, Y: []float64{-1, 1}},
			Ellipse{M: [2][2]float64{{1, 0}, {0, small}}},
		}}.prepare(&n)
		if err != nil {
			t.Fatal(err)
		}
		if h := p.y.hi - p.y.lo; h > 10 {
			t.Errorf("smaller eigenvalue %v: the y axis is %v long for data of length 2", small, h)
		}
	}
}
