// Package lbfgs descends by L-BFGS (Liu and Nocedal, Math. Programming 45, 1989) with a line search by Armijo's rule. The caller owns
// the function: it may change between two steps, as it does in a method of multipliers.
package lbfgs

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"metriclab/internal/product"
	"metriclab/internal/vector"
)

// mostTrials is the number of step lengths that a line search tries.
const mostTrials = 20

// State is where a descent is, where it looks, and the last pairs of steps and changes of the gradient.
type State struct {
	X, Next    []float64
	G, GNext   []float64 // gradients there
	Direction  []float64
	s, y       [][]float64
	rho, alpha []float64
	Pairs      int     // how many were stored; 0 forgets them
	Scale      float64 // of the first inverse Hessian; 0: unknown
}

// New returns the state for size variables, all 0, which keeps as many pairs as memory says.
func New(size, memory int) State {
	vec := func() []float64 { return make([]float64, size) }
	c := State{X: vec(), Next: vec(), G: vec(), GNext: vec(), Direction: vec(), rho: make([]float64, memory), alpha: make([]float64, memory)}
	for range memory {
		c.s, c.y = append(c.s, vec()), append(c.y, vec())
	}
	return c
}

// Resize makes all but X have size variables, at most those of New.
func (c *State) Resize(size int) {
	for _, v := range []*[]float64{&c.Next, &c.G, &c.GNext, &c.Direction} {
		*v = (*v)[:size]
	}
	for i := range c.s {
		c.s[i], c.y[i] = c.s[i][:size], c.y[i][:size]
	}
}

// Search sets Next to X + t·Direction with a step t that lowers the objective enough (Armijo's rule), which is now at X and
// value() at Next. It reports whether there is one.
func (c *State) Search(ctx context.Context, now float64, value func() float64) bool {
	slope := vector.Dot(c.G, c.Direction)
	if !(slope < 0) || math.IsInf(slope, 0) {
		return false
	}
	t := 1.0
	for range mostTrials {
		if ctx.Err() != nil {
			return false
		}
		copy(c.Next, c.X)
		product.AddScaled(c.Next, t, c.Direction)
		rise := value() - now
		if rise <= 1e-4*t*slope+1e-14*math.Abs(now) { // which is known up to round-off
			return true
		}
		shorter := -slope * t / (2 * (rise - t*slope)) // the minimum of a parabola
		if !(shorter > 0.1) {
			shorter = 0.1
		}
		t *= min(0.6, shorter)
	}
	return false
}

// Aim sets Direction to −HG, H the inverse Hessian of L-BFGS.
func (c *State) Aim() {
	d := vector.Of(c.Direction)
	for i, v := range c.G {
		c.Direction[i] = -v
	}
	oldest := max(0, c.Pairs-len(c.s))
	for p := c.Pairs - 1; p >= oldest; p-- {
		i := p % len(c.s)
		c.alpha[i] = c.rho[i] * blas64.Dot(vector.Of(c.s[i]), d)
		blas64.Axpy(-c.alpha[i], vector.Of(c.y[i]), d)
	}
	blas64.Scal(c.Scale, d)
	for p := oldest; p < c.Pairs; p++ {
		i := p % len(c.s)
		beta := c.rho[i] * blas64.Dot(vector.Of(c.y[i]), d)
		blas64.Axpy(c.alpha[i]-beta, vector.Of(c.s[i]), d)
	}
}

// Remember stores the pair of the last step, if the objective is convex along it, and makes Next X.
func (c *State) Remember() {
	i := c.Pairs % len(c.s)
	s, y := c.s[i], c.y[i]
	for j, v := range c.Next {
		s[j] = v - c.X[j]
		y[j] = c.GNext[j] - c.G[j]
	}
	sy, ss, yy := vector.Dot(s, y), vector.Dot(s, s), vector.Dot(y, y)
	if sy > 1e-10*math.Sqrt(ss)*math.Sqrt(yy) {
		c.rho[i] = 1 / sy
		c.Scale = sy / yy
		c.Pairs++
	}
	c.X, c.Next = c.Next, c.X
	c.G, c.GNext = c.GNext, c.G
}
