package ssikdr

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/ltkernel"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
)

func TestBadInput(t *testing.T) {
	x := normal(4, 3, 1)
	k0 := gramOf(x)
	nan := mat.NewSymDense(2, []float64{1, math.NaN(), math.NaN(), 1})
	negative := mat.NewSymDense(2, []float64{1, 2, 2, 1})
	one := []ltkernel.Constraint{ltkernel.AtMost(0, 1, 1)}
	for _, tt := range []struct {
		k0   mat.Symmetric
		cs   []ltkernel.Constraint
		p    Params
		want string
	}{
		{k0, nil, Params{}, "ssikdr: no constraints given"},
		{k0, []ltkernel.Constraint{ltkernel.AtMost(0, 4, 1)}, Params{}, "ssikdr: constraint 0: distance 0: object 4, want 0 to 3"},
		{k0, []ltkernel.Constraint{ltkernel.AtMost(0, 1, math.NaN())}, Params{}, "constraint 0: bound is NaN"},
		{k0, one, Params{Tau: -1}, "tau: -1"},
		{k0, one, Params{Tau: math.Inf(1)}, "tau: +Inf"},
		{k0, one, Params{C: math.NaN()}, "c: NaN"},
		{k0, one, Params{Tol: -1}, "tol: -1"},
		{k0, one, Params{MaxIterations: -1}, "max_iterations: -1"},
		{k0, one, Params{Slack: 3}, "unknown slack 3"},
		{k0, one, Params{Slack: ltkernel.SlackL2, C: 1e-323}, "scale the data"},
		{k0, []ltkernel.Constraint{{Dists: []ltkernel.Dist{{I: 0, J: 1, Weight: 1e300}}, Bound: 1}}, Params{}, "scale the data"},
		{nan, one, Params{}, "entry (1, 0) is NaN"},
		{negative, one, Params{}, "not positive semi-definite"},
	} {
		if _, err := FitGram(t.Context(), tt.k0, tt.cs, tt.p); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("error is %v, want %q", err, tt.want)
		}
		q := RankParams{Tau: tt.p.Tau, Slack: tt.p.Slack, C: tt.p.C, Tol: tt.p.Tol, MaxIterations: tt.p.MaxIterations}
		if _, err := FitRank(t.Context(), rand.New(rand.NewPCG(1, 1)), tt.k0, tt.cs, 2, q); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("FitRank: error is %v, want %q", err, tt.want)
		}
	}
	if _, err := FitGram(t.Context(), negative, one, Params{}); !errors.Is(err, metric.ErrNotPSD) {
		t.Errorf("error is %v, want ErrNotPSD", err)
	}
	if _, err := FitRank(t.Context(), rand.New(rand.NewPCG(1, 1)), k0, one, 0, RankParams{}); err == nil || !strings.Contains(err.Error(), "rank: 0") {
		t.Errorf("rank 0: error %v", err)
	}
	if _, err := Path(t.Context(), k0, one, nil, Params{}); err == nil {
		t.Error("no tau: no error")
	}
	if _, err := Path(t.Context(), k0, one, []float64{1, math.NaN()}, Params{}); err == nil || !strings.Contains(err.Error(), "tau: NaN") {
		t.Errorf("tau NaN: error %v", err)
	}
	bad := mat.DenseCopyOf(x)
	bad.Set(1, 1, math.Inf(1))
	if _, err := Fit(t.Context(), kernels.Linear{}, bad, one, Params{}); err == nil || !strings.Contains(err.Error(), "+Inf") {
		t.Errorf("x infinite: error %v", err)
	}
	defer limits.SetMemory(limits.Memory())
	limits.SetMemory(200)
	var e *limits.MemoryError
	for name, f := range map[string]func() error{
		"FitGram": func() error { _, err := FitGram(t.Context(), k0, one, Params{}); return err },
		"Fit":     func() error { _, err := Fit(t.Context(), kernels.Linear{}, x, one, Params{}); return err },
		"MaxTau":  func() error { _, err := MaxTau(t.Context(), k0, one, Params{}); return err },
		"FitRank": func() error {
			_, err := FitRank(t.Context(), rand.New(rand.NewPCG(1, 1)), k0, one, math.MaxInt, RankParams{})
			return err
		},
	} {
		if err := f(); !errors.As(err, &e) {
			t.Errorf("%s: no room: error %v", name, err)
		}
	}
	limits.SetMemory(1 << 20)
	if _, err := FitRank(t.Context(), rand.New(rand.NewPCG(1, 1)), k0, one, 1, RankParams{Starts: math.MaxInt}); !errors.As(err, &e) {
		t.Errorf("many starts: error %v", err)
	}
}

// TestUnits: in other units of the kernel, with bounds to match, W is the same to the bit where the units are a power of four, and up to round-off else. So it is with slack,
// whose weight is per unit.
func TestUnits(t *testing.T) {
	x, y := blobs(12, 3, 3, 1)
	k0 := gramOf(x)
	cs := pairsOf(y, 20, 1)
	for _, slack := range slacks {
		p := Params{Tau: 0.5, Slack: slack, C: 2, Tol: 1e-8}
		want := fit(t, k0, cs, p)
		for _, unit := range []float64{0x1p-200, 0x1p300, 1e-150, 1e150, 1.7} {
			scaled := mat.NewSymDense(12, nil)
			scaled.ScaleSym(unit, k0)
			own := cloned(cs)
			for i := range own {
				own[i].Bound *= unit
			}
			q := p
			switch slack {
			case ltkernel.SlackL1:
				q.C /= unit
			case ltkernel.SlackL2:
				if q.C = q.C / unit / unit; q.C == 0 || math.IsInf(q.C, 1) {
					continue
				}
			}
			got := fit(t, scaled, own, q)
			exact := math.Abs(math.Log2(unit)) == math.Trunc(math.Abs(math.Log2(unit))) && unit != 1e-150 && unit != 1e150
			if exact && got.Objective != want.Objective || math.Abs(got.Objective-want.Objective) > 1e-6*want.Objective || got.Rank != want.Rank {
				t.Errorf("slack %v, unit %v: objective %v, rank %d, want %v, %d", slack, unit, got.Objective, got.Rank, want.Objective, want.Rank)
			}
			for i, v := range got.Values {
				if math.Abs(v-want.Values[i]) > 1e-5*want.Values[0] {
					t.Errorf("slack %v, unit %v: eigenvalue %d is %v, want %v", slack, unit, i, v, want.Values[i])
				}
			}
			r, err := FitRank(t.Context(), rand.New(rand.NewPCG(1, 1)), scaled, own, 2, RankParams{Tau: 0.5, Slack: slack, C: q.C, Starts: 2})
			if err != nil || r.Rank == 0 || math.IsNaN(r.Objective) {
				t.Errorf("slack %v, unit %v: rank %d, objective %v, error %v", slack, unit, r.Rank, r.Objective, err)
			}
		}
	}
}

// TestDegenerate: duplicates, objects at 0 and constraints given twice end with an answer or a status.
func TestDegenerate(t *testing.T) {
	at, far, is := ltkernel.AtMost, ltkernel.AtLeast, ltkernel.Exactly
	x := mat.NewDense(4, 1, []float64{1, 1, 3, 0})
	zero := mat.NewSymDense(4, nil)
	for name, tt := range map[string]struct {
		k0   *mat.SymDense
		cs   []ltkernel.Constraint
		want learners.Status
	}{
		"duplicates near":  {gramOf(x), []ltkernel.Constraint{at(0, 1, 0), at(0, 2, 1)}, learners.Converged},
		"duplicates apart": {gramOf(x), []ltkernel.Constraint{far(0, 1, 1), at(0, 2, 1)}, learners.Infeasible},
		"duplicates equal": {gramOf(x), []ltkernel.Constraint{is(0, 1, 0), far(0, 2, 1)}, learners.Converged},
		"zero kernel":      {zero, []ltkernel.Constraint{at(0, 1, 1)}, learners.Converged},
		"zero kernel far":  {zero, []ltkernel.Constraint{far(0, 1, 1)}, learners.Infeasible},
		"twice":            {gramOf(x), []ltkernel.Constraint{far(0, 2, 9), far(0, 2, 9), far(2, 0, 9), is(0, 2, 9)}, learners.Converged},
		"trace":            {gramOf(x), []ltkernel.Constraint{ltkernel.TraceAtMost(1), far(0, 2, 0.1)}, learners.Converged},
	} {
		for _, slack := range slacks {
			for _, tau := range []float64{0, 1} {
				got := fit(t, tt.k0, tt.cs, Params{Tau: tau, Slack: slack})
				want := tt.want
				if slack != ltkernel.SlackHard {
					want = learners.Converged
				}
				if got.Status != want {
					t.Errorf("%s, slack %v, tau %v: %v after %d, residual %v, want %v", name, slack, tau, got.Status, got.Iterations, got.Residual, want)
				}
				r, err := FitRank(t.Context(), rand.New(rand.NewPCG(1, 1)), tt.k0, tt.cs, 3, RankParams{Tau: tau, Slack: slack, Starts: 2})
				if err != nil || math.IsNaN(r.Objective) || slack != ltkernel.SlackHard && r.Objective < got.Objective-1e-4*(1+got.Objective) {
					t.Errorf("%s, slack %v, tau %v: FitRank: objective %v, error %v, convex %v", name, slack, tau, r.Objective, err, got.Objective)
				}
			}
		}
	}
}

// TestCap: a fit that does not get there says so, and returns what it has.
func TestCap(t *testing.T) {
	k0, cs := digits(40, 150, 3)
	r := fit(t, k0, cs, Params{Tau: 1, MaxIterations: 3})
	if r.Status != learners.IterationCap || r.Iterations != 3 || r.Violated == 0 || r.G == nil {
		t.Errorf("%v after %d, %d violated", r.Status, r.Iterations, r.Violated)
	}
	q := fitOfRank(t, k0, cs, 2, RankParams{Tau: 1, MaxIterations: 2, Starts: 2})
	if q.Status != learners.IterationCap || q.Iterations > 3 {
		t.Errorf("FitRank: %v after %d", q.Status, q.Iterations)
	}
}

// TestCancelled: a fit ends with its context, also in the middle of a step, and an answer that nobody wants writes nothing.
func TestCancelled(t *testing.T) {
	abandon.Always(t)
	k0, cs := digits(40, 150, 3)
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	_, err := FitGram(ctx, k0, cs, Params{Tol: 1e-300, Progress: func(learners.Progress) {
		if calls++; calls == 2 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || calls != 2 {
		t.Errorf("error is %v after %d calls", err, calls)
	}
	if _, err := FitRank(ctx, rand.New(rand.NewPCG(1, 1)), k0, cs, 2, RankParams{}); !errors.Is(err, context.Canceled) {
		t.Errorf("FitRank: error is %v", err)
	}
	if _, err := MaxTau(ctx, k0, cs, Params{}); !errors.Is(err, context.Canceled) {
		t.Errorf("MaxTau: error is %v", err)
	}
}

// TestSame: the same input gives the same bits.
func TestSame(t *testing.T) {
	k0, cs := digits(80, 300, 3)
	p := Params{Tau: 2, Slack: ltkernel.SlackL2}
	if a, b := fit(t, k0, cs, p), fit(t, k0, cs, p); !reflect.DeepEqual(a, b) {
		t.Error("two fits differ")
	}
}
