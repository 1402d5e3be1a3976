package metrictest

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"metriclab/pkg/metric"
)

// recorder is a testing.TB that keeps complaints instead of failing.
type recorder struct {
	testing.TB
	said []string
}

func (r *recorder) Helper()                   {}
func (r *recorder) Error(args ...any)         { r.said = append(r.said, fmt.Sprint(args...)) }
func (r *recorder) Errorf(f string, a ...any) { r.said = append(r.said, fmt.Sprintf(f, a...)) }

type fn func(x, y []float64) float64

func (f fn) SqDist(x, y []float64) float64 { return f(x, y) }

// TestCheckFindsFaults gives Check distances with one fault each. A translation
// cannot be given one: only the two types of package metric promise it.
func TestCheckFindsFaults(t *testing.T) {
	points := [][]float64{{0, 0}, {1, 2}, {2, 4}, {3, -1}}
	e := metric.Euclidean{}
	for want, d := range map[string]fn{
		"want a finite number ≥ 0": func(x, y []float64) float64 { return x[0] - y[0] },
		"2 is NaN, want a finite":  func(x, y []float64) float64 { return math.Sqrt(1 - y[0]) },
		"to itself is 1, want 0":   func(x, y []float64) float64 { return e.SqDist(x, y) + 1 },
		"the other way round":      func(x, y []float64) float64 { return e.SqDist(x, y) * (1 + x[0]) },
		"triangle":                 func(x, y []float64) float64 { d := e.SqDist(x, y); return d * d },
		"point 1 was modified":     func(x, y []float64) float64 { d := e.SqDist(x, y); x[0] = 0; return d },
		"did not panic":            func(x, y []float64) float64 { return 0 },
	} {
		r := &recorder{TB: t}
		Check(r, d, clone(points), 1e-12)
		if !strings.Contains(strings.Join(r.said, "\n"), want) {
			t.Errorf("Check said %q, want a complaint with %q", r.said, want)
		}
	}
	r := &recorder{TB: t}
	Check(r, e, points, 1e-12)
	if len(r.said) != 0 {
		t.Errorf("Check of the Euclidean distance said %q", r.said)
	}
}
