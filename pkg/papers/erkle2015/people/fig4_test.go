package people

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/papers/erkle2015/protocol"
)

// The distances of the scaled Gram matrix are those of the rows, but for a factor; their squares are 2 on average.
func TestScaledGram(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	const n, d = 6, 9
	x := mat.NewDense(n, d, nil)
	for i := range n {
		for j := range d {
			x.Set(i, j, 5+rng.NormFloat64())
		}
	}
	k := protocol.ScaledGram(x)
	sq := func(i, j int) float64 { return k.At(i, i) + k.At(j, j) - 2*k.At(i, j) }
	row := func(i, j int) float64 {
		var s float64
		for l := range d {
			s += (x.At(i, l) - x.At(j, l)) * (x.At(i, l) - x.At(j, l))
		}
		return s
	}
	const tol = 1e-12 // ≈ d·ε of numbers near 2
	var mean float64
	for i := range n {
		for j := range n {
			mean += sq(i, j) / (n * (n - 1))
			if q := sq(i, j)/row(i, j) - sq(0, 1)/row(0, 1); i != j && math.Abs(q) > tol {
				t.Errorf("objects %d and %d: quotient of distances differs by %v", i, j, q)
			}
		}
	}
	if math.Abs(mean-2) > tol {
		t.Errorf("mean squared distance %v, want 2", mean)
	}
	if _, err := triplets.NewERKLE(n, triplets.ERKLEParams{Initial: k}); err != nil {
		t.Errorf("ERKLE refuses it: %v", err)
	}
}
