// Package logdet has what the cyclic projections of itml and iplr share: when they stop, and what proves how good an answer is.
package logdet

import (
	"cmp"
	"fmt"
	"math"

	"metriclab/pkg/learners"
)

// LeastBound and LargestBound bound u and ℓ, so that squares of λ, which is about
// 1/ξ, and products of squared distances neither overflow nor vanish.
const LeastBound, LargestBound = 1e-140, 1e140

const (
	// RemakeAfter is the number of projections over which a matrix follows λ by updates,
	// each of which adds a round-off of about ε.
	RemakeAfter = 1 << 16
	// Sound is the largest KKT residual of an answer that counts as converged. With
	// 240 links of three classes that overlap it was between 0.1 and 2 when λ changed
	// by 0.004 per cycle and γ = 1, but in the thousands at 0.002 and γ = 100.
	Sound = 1
)

// CheckGiven returns an error, in the words of a package of that name, unless u and ℓ are both 0, for bounds by a rule, or in order.
func CheckGiven(name string, upper, lower float64) error {
	switch {
	case (upper == 0) != (lower == 0):
		return fmt.Errorf("%s: upper: %v and lower: %v are not allowed, want both or neither", name, upper, lower)
	case upper > 0 && upper >= lower:
		return fmt.Errorf("%s: upper: %v and lower: %v are not allowed, want upper < lower: swap them, or make lower larger", name, upper, lower)
	}
	return nil
}

// Loop is a fit by projections onto one constraint after the other, with a multiplier λ ≥ 0 for each.
type Loop struct {
	// Lambda are the multipliers.
	Lambda []float64
	// Cycle projects onto each constraint in turn.
	Cycle func() error
	// Projections returns the number of projections so far that moved the matrix.
	Projections func() int
	// Remake makes the matrix anew from λ, and Finish does so with the KKT residual of the answer, which it returns.
	Remake func() bool
	Finish func() (kkt float64, err error)
	// Stopped returns an error if the context is done.
	Stopped func() error
}

// Rule says when a Loop stops.
type Rule struct {
	Tol       float64
	MaxCycles int // 0: those of Steps steps
	Steps     int
	Progress  func(learners.Progress)
}

// Run makes cycles until λ settles: see itml.Fit. It returns the number of cycles and the change of λ over the last one.
func (r Rule) Run(l Loop) (status learners.Status, cycles int, change float64, err error) {
	most := cmp.Or(r.MaxCycles, (r.Steps+len(l.Lambda)-1)/len(l.Lambda))
	old := make([]float64, len(l.Lambda))
	for made := 0; cycles < most; {
		copy(old, l.Lambda)
		if err := l.Cycle(); err != nil {
			return learners.NotRun, cycles, change, err
		}
		cycles++
		change = relativeChange(l.Lambda, old)
		if r.Progress != nil {
			r.Progress(learners.Progress{Iteration: cycles, Cap: most, Objective: math.NaN(), Residual: change})
		}
		if err := l.Stopped(); err != nil {
			return learners.NotRun, cycles, change, err
		}
		if change < r.Tol {
			kkt, err := l.Finish()
			if err != nil {
				return learners.NotRun, cycles, change, err
			}
			if kkt <= Sound {
				return learners.Converged, cycles, change, nil
			}
			made = l.Projections()
		}
		if l.Projections()-made >= RemakeAfter {
			l.Remake()
			made = l.Projections()
		}
	}
	_, err = l.Finish()
	return learners.IterationCap, cycles, change, err
}

// relativeChange returns ‖a − b‖₁/(‖a‖₂ + ‖b‖₂), 0 if both are zero.
func relativeChange(a, b []float64) float64 {
	var diff, sqA, sqB float64
	for k, x := range a {
		diff += math.Abs(x - b[k])
		sqA += x * x
		sqB += b[k] * b[k]
	}
	if diff == 0 {
		return 0
	}
	return diff / (math.Sqrt(sqA) + math.Sqrt(sqB))
}

// Certificate is how far an answer is from the optimum: see itml.Solution.
type Certificate struct{ KKT, Gap float64 }

// Add adds the terms of a link: its squared distance p, its slack ξ and multiplier λ, its bound ξ₀, and δ = 1 if it is similar, else −1.
func (c *Certificate) Add(delta, p, xi, lambda, bound, gamma float64) {
	c.KKT = max(c.KKT, delta*(p-xi)/xi, lambda*math.Abs(p-xi))
	best := bound
	if !math.IsInf(gamma, 1) {
		if delta*(p-best) > 0 {
			best = p
		}
		r := best/xi - 1
		c.Gap += gamma * (r - math.Log1p(r))
	}
	c.Gap += lambda * delta * (best - p)
}
