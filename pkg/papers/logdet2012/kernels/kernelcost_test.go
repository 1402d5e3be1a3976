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
	for _, m := range []string{kernelLogDet, kernelPOLA} {
		for _, n := range s.Objects {
			of := func(kind string) float64 {
				return tb.Where("kind", kind, "method", m, "objects", strconv.Itoa(n)).Values("value")[0]
			}
			if steps, updates := of("steps"), of("updates"); steps != float64(n*s.Passes) || updates <= 0 || updates > steps {
				t.Errorf("%s, %d objects: %g steps, %g updates, want %d steps", m, n, steps, updates, n*s.Passes)
			}
		}
	}
}
