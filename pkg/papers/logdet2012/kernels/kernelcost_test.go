package kernels

import (
	"strconv"
	"testing"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/experimenttest"
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
