package learning

import (
	"slices"
	"strconv"
	"testing"

	"metriclab/pkg/experiment"
	"metriclab/pkg/papers/erkle2015/protocol"
)

// The checkpoints that the claims name are measured at both scales.
func TestFig1Checkpoints(t *testing.T) {
	for _, scale := range []experiment.Scale{experiment.Smoke, experiment.Full} {
		online, steps := fig1Passes(scale)
		for _, p := range FewPasses {
			n, err := strconv.Atoi(p)
			if err != nil || !slices.Contains(online, n) || !slices.Contains(steps, n) {
				t.Errorf("%s: %s passes are not measured", scale, p)
			}
		}
	}
	if 0.3*fig1Parts != 6 || protocol.DataSets[0].Full.Train*6/fig1Parts != 3000 {
		t.Error("3,000 triplets are no checkpoint")
	}
}
