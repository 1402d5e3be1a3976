package learners

import (
	"fmt"
	"math"

	"metriclab/internal/ranges"
)

// PlateauParams are the parameters of a Plateau.
type PlateauParams struct {
	// Window ≥ 1 is the number of steps over which values are averaged.
	Window int `range:">= 1"`
	// Fall in [0, 1) is the share of the least mean by which a later mean must be less to
	// count as progress; 0 counts any fall.
	Fall float64 `range:">= 0 and < 1"`
	// Patience ≥ 1 is the number of windows in a row without progress that end the run.
	Patience int `range:">= 1"`
}

// Plateau is a convergence criterion for online learners: it says when a value that each step
// reports, such as its loss or its step size, has stopped falling. Values are averaged over
// windows of steps; progress is a mean below (1 − Fall) times the least one so far, and the run
// has settled after Patience windows in a row without progress. It looks at no label that the
// learner has not seen, takes O(1) time and memory, and never ends a run that goes on falling.
//
// Perez-Suay and Ferri, Online Metric Learning Methods Using Soft Margins and Least Squares
// Formulations, 2013, Section 4, have such criteria "under study" and define none.
type Plateau struct {
	p     PlateauParams
	steps int     // in this window
	sum   float64 // of this window
	least float64
	stale int // windows in a row without progress
}

// NewPlateau returns a criterion that has seen nothing, or an error if a parameter is out of
// range.
func NewPlateau(p PlateauParams) (*Plateau, error) {
	if err := ranges.Check("plateau", p); err != nil {
		return nil, err
	}
	return &Plateau{p: p, least: math.Inf(1)}, nil
}

// Add takes the value of a step, which is not negative, and reports whether the run has
// settled with it. A mean of 0 can only settle. It panics if the value is negative or NaN, or
// unless NewPlateau made c.
func (c *Plateau) Add(value float64) (settled bool) {
	if c == nil || c.p.Window == 0 {
		panic("learners: Plateau: zero value, use NewPlateau")
	}
	if !(value >= 0) {
		panic(fmt.Sprintf("learners: Plateau: value %v, want a number of at least 0", value))
	}
	c.sum += value
	if c.steps++; c.steps < c.p.Window {
		return c.stale >= c.p.Patience
	}
	mean := c.sum / float64(c.steps)
	c.steps, c.sum = 0, 0
	c.stale++
	if mean < (1-c.p.Fall)*c.least {
		c.least, c.stale = mean, 0
	}
	return c.stale >= c.p.Patience
}
