package mapping

import (
	"math/rand/v2"
	"testing"

	"metriclab/pkg/persist/persisttest"
)

// No number of a file makes a loader or a learner panic, or take more memory than
// its file warrants.
func TestNumbersOfFiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 29))
	useRMP := func(l *RMP) {
		if a, b := l.Dims(); a*b < 1000 {
			_, _ = l.Step(round(rng, a, b))
		}
	}
	for _, p := range []RMPParams{
		{}, {Sampler: SampleMetropolis, ChainSteps: 2}, {Sampler: SampleHeatBath, ChainSteps: 2}, {Eta: EtaFixed, Rate: 0.1}, {M: 3, Eta: EtaAnytime}, {Eta: EtaCorrected, Rounds: 2},
	} {
		persisttest.Numbers(t, savedRMP(t, p), LoadRMP, useRMP)
	}
	for _, shape := range [][3]int{{2, 3, 2}, {3, 70, 4}} {
		persisttest.Numbers(t, savedFTL(t, shape[0], shape[1], shape[2]), LoadFTL, func(l *FTL) {
			if a, b := l.Dims(); a*b < 1000 {
				_, _ = l.Step(round(rng, a, b))
			}
		})
	}
}
