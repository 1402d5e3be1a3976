package frame

import (
	"math"

	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/judge"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// leastSeconds is what a phase takes at least, the clock's resolution, so that logarithms exist.
const leastSeconds = 1e-6

// Seconds is the CPU time of what a row is of, in a table with times: that of WithSeconds.
var Seconds = Cells("seconds")

// WithSeconds adds the CPU time of a phase of each row's job; the phase "" is none.
func WithSeconds(t, times *table.Table, phase func(row table.Key) string) *table.Table {
	cells := make([]string, t.Len())
	for i := range cells {
		row, _ := t.Row(i)
		at := phase(row)
		if at == "" {
			continue
		}
		spent := times.Where("cell", row["cell"], "trial", row["trial"], "phase", at).Values("cpu_s")
		if len(spent) != 1 {
			judge.Refuse("%s, trial %s: %d times of phase %q, want 1", row["cell"], row["trial"], len(spent), at)
		}
		cells[i] = table.Format(max(spent[0], leastSeconds))
	}
	return t.With("seconds", cells)
}

// TestTimed is a test of rows with the CPU times of their phases.
func TestTimed(phase func(row table.Key) string, test Test) func(t, times *table.Table) judge.Test {
	return func(t, times *table.Table) judge.Test { return test(WithSeconds(t, times, phase)) }
}

// DrawTimed is a view of rows with the CPU times of their phases.
func DrawTimed(phase func(row table.Key) string, v View) func(t, times *table.Table) (plots.Drawing, error) {
	return func(t, times *table.Table) (plots.Drawing, error) { return v.Draw(WithSeconds(t, times, phase)) }
}

// Exponent is, for each trial, the slope of the least-squares line of log y against log x: the power of x as which y grows.
func Exponent(x, y Measure) Measure {
	return func(t *table.Table) (out []float64) {
		for trial, g := range t.Group("trial") {
			logX, logY := x.Map(math.Log)(g), y.Map(math.Log)(g)
			judge.SameLength("trial "+trial+": an exponent", logX, logY)
			if len(logX) < 2 {
				judge.Refuse("trial %s: an exponent of %d points, want at least 2", trial, len(logX))
			}
			_, p := stat.LinearRegression(logX, logY, nil, false)
			out = append(out, p)
		}
		return out
	}
}
