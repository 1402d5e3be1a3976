package kernels

import (
	"math"
	"strconv"
	"testing"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/table"
)

// Both methods are shown as many pairs; an update is a step.
func TestKernelCostCountsSteps(t *testing.T) {
	cell := KernelCost.Cells(experiment.Smoke)[0]
	s := cell.Settings.(kernelCostSettings)
	tb, err := KernelCost.Run(t.Context(), experimenttest.Env(), cell, experimenttest.Seed(cell.Dataset))
	if err != nil {
		t.Fatal(err)
	}
	for m, objects := range map[string][]int{kernelLogDet: s.Objects, kernelPOLA: s.Objects, printedPOLA: s.Printed} {
		passes := s.Passes
		if m == printedPOLA {
			passes = 1
		}
		for _, n := range objects {
			of := func(kind string) float64 {
				return tb.Where("kind", kind, "method", m, "objects", strconv.Itoa(n)).Values("value")[0]
			}
			if steps, updates := of("steps"), of("updates"); steps != float64(n*passes) || updates <= 0 || updates > steps {
				t.Errorf("%s, %d objects: %g steps, %g updates, want %d steps", m, n, steps, updates, n*passes)
			}
		}
	}
}

// For each number of pairs kept the same step is timed, which changes the hypothesis.
func TestStepsByPairsKept(t *testing.T) {
	cell := KernelCost.Cells(experiment.Smoke)[1]
	tb, err := KernelCost.Run(t.Context(), experimenttest.Env(), cell, experimenttest.Seed(cell.Dataset))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range cell.Settings.(kernelCostSettings).Kept {
		for _, kind := range []string{"steps", "updates"} {
			if got := tb.Where("kind", kind, "method", printedStep, "objects", strconv.Itoa(n)).Values("value"); len(got) != 1 || got[0] != stepsTimed {
				t.Errorf("%d pairs kept: %s %v, want %d", n, kind, got, stepsTimed)
			}
		}
	}
}

// Times that grow as the cube have the exponent 3, in each trial.
func TestExponent(t *testing.T) {
	var objects []float64
	rows := table.New([]string{"kind", "method", "objects", "seconds"}, []string{"value"})
	for _, n := range []float64{10, 20, 50} {
		objects = append(objects, n)
		for _, scale := range []float64{1, 7} {
			rows.Add(table.Key{"kind": "updates", "method": printedPOLA, "objects": table.Format(n), "seconds": table.Format(2 * scale * n * n * n)}, table.Values{"value": 2})
		}
	}
	got := exponent(printedPOLA, objects)(rows)
	if len(got) != 2 || math.Abs(got[0]-3) > 1e-12 || math.Abs(got[1]-3) > 1e-12 {
		t.Errorf("exponents %v, want 3 and 3", got)
	}
}
