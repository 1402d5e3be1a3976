package triplets

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners"
	"metriclab/pkg/metric"
)

// lineAnswers draws comparisons of n points on a line, of which some are turned round.
func lineAnswers(rng *rand.Rand, n, m int, flip float64) []metric.Triplet {
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.Float64()
	}
	var ts []metric.Triplet
	for range m {
		o := rng.Perm(n)
		t := metric.Triplet{A: o[0], Near: o[1], Far: o[2]}
		near, far := x[t.A]-x[t.Near], x[t.A]-x[t.Far]
		if (near*near > far*far) != (rng.Float64() < flip) {
			t.Near, t.Far = t.Far, t.Near
		}
		ts = append(ts, t)
	}
	return ts
}

// FitTuned takes the candidate of the least error on what it holds out, and fits all triplets with it.
func TestFitTuned(t *testing.T) {
	ts := lineAnswers(rand.New(rand.NewPCG(4, 5)), 12, 300, 0.1)
	for _, loss := range []Loss{GNMDS, STE, CKL} {
		calls := 0
		p := TunedParams{BatchParams: BatchParams{Loss: loss, Iterations: 200, Progress: func(q learners.Progress) {
			calls++
			if q.Cap != 6*200 || q.Iteration < 1 || q.Iteration > q.Cap {
				t.Fatalf("%v: progress %+v", loss, q)
			}
		}}}
		r, err := FitTuned(t.Context(), rand.New(rand.NewPCG(1, 1)), 12, ts, p)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Errors) != 5 || calls == 0 {
			t.Fatalf("%v: %+v", loss, r)
		}
		best := 0
		for k, e := range r.Errors {
			if e < r.Errors[best] {
				best = k
			}
		}
		if want := p.Resolved().Taus[best]; r.Tau != want {
			t.Errorf("%v: τ = %v of errors %v, want %v", loss, r.Tau, r.Errors, want)
		}
		p.BatchParams.Progress, p.BatchParams.Tau = nil, r.Tau
		want, err := FitBatch(t.Context(), 12, ts, p.BatchParams)
		if err != nil || !mat.Equal(want.Kernel, r.Kernel) {
			t.Errorf("%v: not the kernel of FitBatch with that τ: %v", loss, err)
		}
	}
}

func TestFitTunedErrors(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	few := []metric.Triplet{{A: 0, Near: 1, Far: 2}}
	if r, err := FitTuned(t.Context(), rng, 3, few, TunedParams{}); err != nil || r.Tau != DefaultTau || r.Errors != nil {
		t.Errorf("one question: %+v, %v", r, err)
	}
	for _, c := range []struct {
		p    TunedParams
		want string
	}{{TunedParams{Taus: []float64{}}, "taus: none given"}, {TunedParams{Taus: []float64{1, -1}}, "taus: -1 is not allowed"}, {TunedParams{BatchParams: BatchParams{Margin: -1}}, "not allowed"}} {
		if _, err := FitTuned(t.Context(), rng, 3, few, c.p); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.p, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := FitTuned(ctx, rng, 12, lineAnswers(rng, 12, 100, 0), TunedParams{}); !errors.Is(err, context.Canceled) || r.Kernel != nil {
		t.Errorf("cancelled: %+v, %v", r, err)
	}
}
