package ltkernel

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/pkg/learners"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
)

func TestBadInput(t *testing.T) {
	x := normal(4, 3, 1)
	bad := mat.DenseCopyOf(x)
	bad.Set(1, 2, math.NaN())
	huge := mat.DenseCopyOf(x)
	huge.Scale(1e200, huge)
	negative := mat.NewSymDense(2, []float64{1, 2, 2, 1})
	one := []Constraint{AtMost(0, 1, 1)}
	for _, tt := range []struct {
		x    *mat.Dense
		cs   []Constraint
		p    Params
		want string
	}{
		{x, nil, Params{}, "no constraints given"},
		{x, []Constraint{AtMost(0, 4, 1)}, Params{}, "constraint 0: distance 0: object 4, want 0 to 3"},
		{x, []Constraint{AtMost(0, 1, 1), AtLeast(2, 2, 1)}, Params{}, "constraint 1: distance 0: object 2 twice"},
		{x, []Constraint{AtMost(0, 1, math.Inf(1))}, Params{}, "constraint 0: bound is +Inf"},
		{x, []Constraint{{Trace: math.NaN()}}, Params{}, "constraint 0: trace is NaN"},
		{x, []Constraint{{Bound: 1}}, Params{}, "neither distances nor a trace"},
		{x, []Constraint{{Dists: []Dist{{0, 1, 0}}}}, Params{}, "weight is 0"},
		{x, []Constraint{{Dists: []Dist{{0, 1, 1}}, Sense: 7}}, Params{}, "unknown sense 7"},
		{x, one, Params{C: -1}, "c: -1"},
		{x, one, Params{Tol: math.NaN()}, "tol: NaN"},
		{x, one, Params{MaxIterations: -1}, "max_iterations: -1"},
		{x, one, Params{Slack: 9}, "unknown slack 9"},
		{bad, one, Params{}, "NaN"},
		{huge, one, Params{}, "scale the data down"},
	} {
		if _, err := Fit(t.Context(), tt.x, tt.cs, tt.p); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("error is %v, want %q", err, tt.want)
		}
	}
	if _, err := FitKernel(t.Context(), negative, one, Params{}); !errors.Is(err, metric.ErrNotPSD) {
		t.Errorf("error is %v, want ErrNotPSD", err)
	}
	for _, v := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, err := ParseDivergence("frobenius", v, 0); err == nil {
			t.Errorf("alpha = %v: no error", v)
		}
		if _, err := ParseDivergence("trace", 0, v); err == nil {
			t.Errorf("tau = %v: no error", v)
		}
	}
	if _, err := ParseDivergence("burg", 0, 0); err == nil {
		t.Error("unknown divergence: no error")
	}
	defer limits.SetMemory(limits.Memory())
	limits.SetMemory(100)
	if _, err := Fit(t.Context(), x, one, Params{}); err == nil {
		t.Error("no room: no error")
	}
}

// TestCancelled: a fit ends with its context, also in the middle of a step, and an answer that nobody wants writes nothing.
func TestCancelled(t *testing.T) {
	abandon.Always(t)
	x := normal(12, 5, 1)
	cs := mixed(x, 8, 2)
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	_, err := Fit(ctx, x, cs, Params{Tol: 1e-300, Progress: func(learners.Progress) {
		if calls++; calls == 2 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || calls != 2 {
		t.Errorf("error is %v after %d calls", err, calls)
	}
	if _, err := FitKernel(ctx, gramOf(x), cs, Params{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
	if _, err := FitReduced(ctx, gramOf(x), normal(12, 2, 3), cs, Params{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}

// TestDuplicates: a pair of duplicates can be neither near nor far; whether it may be is all that its constraint says.
func TestDuplicates(t *testing.T) {
	x := mat.NewDense(3, 1, []float64{1, 1, 3})
	for _, tt := range []struct {
		c    Constraint
		want learners.Status
	}{{AtMost(0, 1, 0), learners.Converged}, {AtLeast(0, 1, 1), learners.Infeasible}, {Exactly(0, 1, 0), learners.Converged}} {
		for _, phi := range divergences(t) {
			got, err := Fit(t.Context(), x, []Constraint{tt.c, AtMost(0, 2, 1)}, Params{Divergence: phi})
			if err != nil || got.Status != tt.want {
				t.Errorf("%s %v: %v, %v, want %v", phi.Name(), tt.c, got.Status, err, tt.want)
			}
		}
	}
}

// TestFarBounds: bounds that no float64 of W meets are not taken for met. A residual that is lost beside a large λ, or is small beside the
// size of a constraint alone, does not end a fit.
func TestFarBounds(t *testing.T) {
	k0 := gramOf(normal(7, 10, 5))
	for _, phi := range divergences(t) {
		for _, c := range []Constraint{AtLeast(0, 1, 1e300), Nearer(0, 1, 2, 1e300)} {
			r, err := FitKernel(t.Context(), k0, []Constraint{c}, Params{Divergence: phi, MaxIterations: 100})
			if err != nil {
				t.Fatal(err)
			}
			if r.Status == learners.Converged {
				t.Errorf("%s: %v is met, with %v", phi.Name(), c, r.Sides)
			}
			if !slices.Equal(r.Violated, []int{0}) {
				t.Errorf("%s: %v: violated are %v", phi.Name(), c, r.Violated)
			}
		}
	}
	// One pair: W has the eigenvalue bound/d² along its difference, and 1 elsewhere.
	bounds := []float64{1e-4, 1e-6, 1e-7}
	if runtime.GOARCH == "amd64" { // elsewhere products and sums are fused, and of a distance of 1e-8, a sum of numbers about 10, too few digits are left
		bounds = append(bounds, 1e-8)
	}
	for _, bound := range bounds {
		c := AtMost(0, 1, bound)
		r, err := FitKernel(t.Context(), k0, []Constraint{c}, Params{})
		if err != nil {
			t.Fatal(err)
		}
		x := bound / side(c, k0)
		if want := LogDet().Value(x); r.Status != learners.Converged || math.Abs(r.Objective-want) > 1e-6 {
			t.Errorf("at most %v: %v, objective %v, want %v", bound, r.Status, r.Objective, want)
		}
		if math.Abs(r.Sides[0]-bound) > 1e-6*bound {
			t.Errorf("at most %v: the distance is %v", bound, r.Sides[0])
		}
	}
}

// TestConstraintError: a refused constraint is named.
func TestConstraintError(t *testing.T) {
	k0 := gramOf(normal(4, 3, 5))
	for _, tt := range []struct {
		last Constraint
		p    Params
	}{
		{AtMost(0, 4, 1), Params{}},
		{AtMost(0, 0, 1), Params{}},
		{AtMost(0, 1, math.NaN()), Params{}},
		{AtMost(0, 1, 1e300), Params{Slack: SlackL2}},
		{AtMost(0, 1, 1e300), Params{Slack: SlackL1, C: 1e10}},
	} {
		_, err := FitKernel(t.Context(), k0, []Constraint{AtMost(0, 1, 1), tt.last}, tt.p)
		if e, ok := errors.AsType[*ConstraintError](err); !ok || e.Index != 1 || e.Unwrap() == nil {
			t.Errorf("%v: error %v, want one of constraint 1", tt.last, err)
		}
	}
}
