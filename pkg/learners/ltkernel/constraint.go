package ltkernel

import (
	"errors"
	"fmt"
	"math"

	"metriclab/internal/enum"
)

// Sense is the relation between the two sides of a Constraint.
type Sense int

// The senses of a constraint.
const (
	SenseAtMost Sense = iota
	SenseAtLeast
	SenseExactly
)

var senseNames = enum.Of[Sense]("unknown sense %d", "at most", "at least", "exactly")

// String names the sense.
func (s Sense) String() string { return senseNames.Text(s) }

// Dist is Weight times the squared distance of the objects I and J.
type Dist struct {
	I, J   int
	Weight float64
}

// Constraint is linear in the learned kernel matrix K: tr(CK) ≤, ≥ or = Bound with
//
//	tr(CK) = Σ Weight·(K_ii − 2K_ij + K_jj) + Trace·tr K.
//
// AtMost, AtLeast, Exactly, Nearer and TraceAtMost make those that people ask for.
type Constraint struct {
	Dists []Dist
	Trace float64
	Sense Sense
	Bound float64
}

// AtMost asks for d²(i, j) ≤ bound.
func AtMost(i, j int, bound float64) Constraint {
	return Constraint{Dists: []Dist{{i, j, 1}}, Sense: SenseAtMost, Bound: bound}
}

// AtLeast asks for d²(i, j) ≥ bound.
func AtLeast(i, j int, bound float64) Constraint {
	return Constraint{Dists: []Dist{{i, j, 1}}, Sense: SenseAtLeast, Bound: bound}
}

// Exactly asks for d²(i, j) = value.
func Exactly(i, j int, value float64) Constraint {
	return Constraint{Dists: []Dist{{i, j, 1}}, Sense: SenseExactly, Bound: value}
}

// Nearer asks for d²(a, near) + margin ≤ d²(a, far).
func Nearer(a, near, far int, margin float64) Constraint {
	return Constraint{Dists: []Dist{{a, near, 1}, {a, far, -1}}, Sense: SenseAtMost, Bound: -margin}
}

// TraceAtMost asks for tr K ≤ bound.
func TraceAtMost(bound float64) Constraint {
	return Constraint{Trace: 1, Sense: SenseAtMost, Bound: bound}
}

// ConstraintError says which constraint a fit refuses.
type ConstraintError struct {
	Index int // of the constraint, from 0
	Err   error
}

func (e *ConstraintError) Error() string { return fmt.Sprintf("constraint %d: %v", e.Index, e.Err) }

// Unwrap returns what is wrong with the constraint.
func (e *ConstraintError) Unwrap() error { return e.Err }

// check returns an error unless the constraint is about n objects and its numbers are finite.
func (c Constraint) check(n int) error {
	if c.Sense < SenseAtMost || c.Sense > SenseExactly {
		return errors.New(c.Sense.String())
	}
	if math.IsNaN(c.Bound) || math.IsInf(c.Bound, 0) {
		return fmt.Errorf("bound is %v, want a finite number", c.Bound)
	}
	if math.IsNaN(c.Trace) || math.IsInf(c.Trace, 0) {
		return fmt.Errorf("trace is %v, want a finite number", c.Trace)
	}
	if len(c.Dists) == 0 && c.Trace == 0 {
		return errors.New("it has neither distances nor a trace")
	}
	for k, d := range c.Dists {
		for _, i := range []int{d.I, d.J} {
			if i < 0 || i >= n {
				return fmt.Errorf("distance %d: object %d, want 0 to %d", k, i, n-1)
			}
		}
		if d.I == d.J {
			return fmt.Errorf("distance %d: object %d twice", k, d.I)
		}
		if math.IsNaN(d.Weight) || math.IsInf(d.Weight, 0) || d.Weight == 0 {
			return fmt.Errorf("distance %d: weight is %v, want a finite number but 0", k, d.Weight)
		}
	}
	return nil
}
