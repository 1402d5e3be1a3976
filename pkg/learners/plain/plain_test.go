package plain_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners/plain"
)

// All other algorithms are compared with the fast ones in the tests of those. Maps are drawn with the probabilities that
// Algorithm 1 gives them, and by a long walk, too: counts are within five standard deviations.
func TestRMPDraws(t *testing.T) {
	const n = 4000
	l := plain.NewRMP(2, 4, 2, 1.5)
	l.Step(mat.NewDense(2, 4, []float64{0.3, 0.9, 0.1, 0.6, 0.8, 0.2, 0.7, 0.5}))
	want := map[string]float64{}
	sets, p := l.Law()
	for k, s := range sets {
		w := func(i, j int) float64 { return math.Exp(-l.Eta * l.C.At(i, j)) }
		for _, x := range s {
			for _, y := range s {
				want[fmt.Sprint([]int{x, y})] += p[k] * w(0, x) / (w(0, s[0]) + w(0, s[1])) * w(1, y) / (w(1, s[0]) + w(1, s[1]))
			}
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name string
		draw func() []int
	}{
		{"draw", func() []int { return l.Draw(rng) }},
		{"walk", func() []int { pi, _ := l.Walk(rng, []int{0, 1}, 40); return pi }},
	} {
		got := map[string]float64{}
		for range n {
			got[fmt.Sprint(c.draw())]++
		}
		if len(got) > len(want) {
			t.Errorf("%s: %d maps, want at most %d", c.name, len(got), len(want))
		}
		for pi, q := range want {
			if math.Abs(got[pi]-n*q) > 5*math.Sqrt(n*q*(1-q)) {
				t.Errorf("%s: %s %v times, expected %.1f", c.name, pi, got[pi], n*q)
			}
		}
	}
}
