package losstest_test

import (
	"math"
	"sync/atomic"
	"testing"

	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/learners/triplets/losstest"
	"metriclab/pkg/metric"
)

// made is a loss of two functions.
type made struct{ loss, slope func(d float64) float64 }

func (m made) Loss(_ metric.Triplet, d float64) float64  { return m.loss(d) }
func (m made) Slope(_ metric.Triplet, d float64) float64 { return m.slope(d) }

var _ triplets.OwnLoss = made{}

// recorder counts the errors that a check reports.
type recorder struct {
	testing.TB
	errors int
}

func (r *recorder) Helper()               {}
func (r *recorder) Errorf(string, ...any) { r.errors++ }
func (r *recorder) Error(...any)          { r.errors++ }

func hinge(d float64) float64 { return max(0, 1+d) }

func step(at float64) func(d float64) float64 {
	return func(d float64) float64 {
		if d > at {
			return 1
		}
		return 0
	}
}

func TestCheck(t *testing.T) {
	ts := []metric.Triplet{{A: 0, Near: 1, Far: 2}, {A: 2, Near: 0, Far: 1}}
	logistic := made{
		func(d float64) float64 { return max(0, d) + math.Log1p(math.Exp(-math.Abs(d))) },
		func(d float64) float64 { return 1 / (1 + math.Exp(-d)) },
	}
	ramp := made{func(d float64) float64 { return min(2, hinge(d)) }, func(d float64) float64 { return step(-1)(d) - step(1)(d) }}
	for name, l := range map[string]made{"hinge": {hinge, step(-1)}, "logistic": logistic, "ramp": ramp} {
		losstest.Check(t, l, ts)
		r := recorder{TB: t}
		if losstest.Check(&r, l, ts); r.errors > 0 {
			t.Errorf("%s: %d errors", name, r.errors)
		}
	}
	var calls atomic.Int64
	for name, l := range map[string]made{
		"another margin":  {hinge, step(-.5)},
		"slope of half":   {hinge, func(d float64) float64 { return step(-1)(d) / 2 }},
		"negative slope":  {hinge, func(d float64) float64 { return step(-1)(d) - 1e-3 }},
		"negative loss":   {func(d float64) float64 { return 1 + d }, func(float64) float64 { return 1 }},
		"falling loss":    {func(d float64) float64 { return max(0, -d) }, func(float64) float64 { return 0 }},
		"not finite":      {func(d float64) float64 { return math.Exp(d) }, math.Exp},
		"not a number":    {func(d float64) float64 { return math.Log(d) }, step(0)},
		"remembers calls": {hinge, func(d float64) float64 { return step(-1)(d) * (1 + 1e-9*float64(calls.Add(1))) }},
	} {
		r := recorder{TB: t}
		if losstest.Check(&r, l, ts); r.errors == 0 {
			t.Errorf("%s: no error", name)
		}
	}
}
