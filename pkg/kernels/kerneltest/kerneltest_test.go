package kerneltest

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/kernels"
)

// recorder is a testing.TB that keeps complaints instead of failing.
type recorder struct {
	testing.TB
	said []string
}

func (r *recorder) Helper()                   {}
func (r *recorder) Error(args ...any)         { r.said = append(r.said, fmt.Sprint(args...)) }
func (r *recorder) Errorf(f string, a ...any) { r.said = append(r.said, fmt.Sprintf(f, a...)) }

// wrong is an Inner kernel whose fast path disagrees with Eval.
type wrong struct{ kernels.Linear }

func (wrong) OfInner(xy, xx, yy float64) float64 { return xy + 1 }

// TestCheckFindsFaults gives Check kernels with one fault each.
func TestCheckFindsFaults(t *testing.T) {
	x := mat.NewDense(4, 2, []float64{0, 1, 2, 3, -1, 5, 2, 2})
	for want, k := range map[string]kernels.Kernel{
		"the other way round":      kernels.Func(func(x, y []float64) float64 { return floats.Dot(x, y) + x[0] }),
		"want a finite number":     kernels.Func(func(x, y []float64) float64 { return math.Log(-1) }),
		"smallest eigenvalue":      kernels.Func(func(x, y []float64) float64 { return -floats.Dot(x, y) }),
		"Gram differs":             wrong{},
		"GramRect(x, x) differs":   wrong{},
		"first and second half":    wrong{},
		"did not panic":            kernels.Func(func(x, y []float64) float64 { return 1 }),
		"the data were modified":   kernels.Func(func(x, y []float64) float64 { x[0], y[0] = 0, 0; return 1 }),
		"second and first half di": wrong{},
	} {
		r := &recorder{TB: t}
		Check(r, k, mat.DenseCopyOf(x), 1e-12)
		if !strings.Contains(strings.Join(r.said, "\n"), want) {
			t.Errorf("Check said %q, want a complaint with %q", r.said, want)
		}
	}
	r := &recorder{TB: t}
	Check(r, kernels.Linear{}, x, 1e-12)
	if len(r.said) != 0 {
		t.Errorf("Check of the linear kernel said %q", r.said)
	}
}
