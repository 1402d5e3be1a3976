package kernels

import (
	"strconv"
	"testing"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/experimenttest"
)

// What is kept follows from the pairs and the features, not from the objects.
func TestLargeKeepsWhatPairsJoin(t *testing.T) {
	cell := Large.Cells(experiment.Smoke)[0]
	s := cell.Settings.(largeSettings)
	tb, err := Large.Run(t.Context(), experimenttest.Env(), cell, experimenttest.Seed(cell.Dataset))
	if err != nil {
		t.Fatal(err)
	}
	const d = 4 // features of the built-in data
	for _, n := range s.Objects {
		of := func(what string) float64 {
			return tb.Where("objects", strconv.Itoa(n), "at", what).Values("value")[0]
		}
		most := float64(2 * s.Pairs)
		if of(metricKept) != d*d || of(allObjects) != float64(n*n) || of(kernelKept) <= 0 || of(kernelKept) > most*(most+d) {
			t.Errorf("%d objects: %g, %g and %g numbers", n, of(metricKept), of(kernelKept), of(allObjects))
		}
	}
}
