package lbfgs

import (
	"context"
	"math"
	"testing"

	"metriclab/internal/vector"
)

// rosenbrock is Σ 100(x_{i+1} − x_i²)² + (1 − x_i)², least at (1, …, 1), and its gradient.
func rosenbrock(x, g []float64) (f float64) {
	clear(g)
	for i := range len(x) - 1 {
		a, b := x[i+1]-x[i]*x[i], 1-x[i]
		f += 100*a*a + b*b
		g[i] -= 400*a*x[i] + 2*b
		g[i+1] += 200 * a
	}
	return f
}

// A descent reaches the minimum whatever the memory, each step lowers the objective, and Direction leads down.
func TestDescent(t *testing.T) {
	const tol = 1e-6
	for _, memory := range []int{1, 3, 10} {
		c := New(6, memory)
		for i := range c.X {
			c.X[i] = -1
		}
		now := rosenbrock(c.X, c.G)
		c.Scale = 1e-3
		steps := 0
		for ; vector.Dot(c.G, c.G) > tol*tol && steps < 2000; steps++ {
			c.Aim()
			if vector.Dot(c.G, c.Direction) >= 0 {
				t.Fatalf("memory %d: step %d leads up", memory, steps)
			}
			var value float64
			if !c.Search(t.Context(), now, func() float64 { value = rosenbrock(c.Next, c.GNext); return value }) {
				t.Fatalf("memory %d: no step at %v", memory, c.X)
			}
			if value > now+1e-14*now {
				t.Errorf("memory %d: step %d leads from %v to %v", memory, steps, now, value)
			}
			c.Remember()
			now = value
		}
		for i, v := range c.X {
			if math.Abs(v-1) > 10*tol {
				t.Errorf("memory %d: x_%d = %v after %d steps", memory, i, v, steps)
			}
		}
	}
}

// Nothing is found where the context is done, uphill, or where the objective only rises; Resize keeps what fits.
func TestNoStep(t *testing.T) {
	c := New(2, 3)
	c.Resize(1)
	c.X = c.X[:1]
	c.G[0], c.Direction[0] = 1, -1
	done, cancel := context.WithCancel(t.Context())
	cancel()
	falls := func() float64 { return -1 }
	if c.Search(done, 0, falls) || !c.Search(t.Context(), 0, falls) || c.Next[0] != -1 {
		t.Error("a search goes on although the context is done, or finds no step")
	}
	if c.Search(t.Context(), 0, func() float64 { return math.NaN() }) || c.Search(t.Context(), 0, func() float64 { return 1 }) {
		t.Error("a step is found where there is none")
	}
	if c.Direction[0] = 1; c.Search(t.Context(), 0, falls) {
		t.Error("a search goes uphill")
	}
	c.G[0], c.GNext[0], c.Next[0] = 1, 2, -1 // concave along the step
	if c.Remember(); c.Pairs != 0 || c.X[0] != -1 {
		t.Errorf("a pair of negative curvature is kept: %d", c.Pairs)
	}
}
