package pairs

import (
	"errors"
	"math/rand/v2"
	"testing"

	"metriclab/pkg/learners"
	"metriclab/pkg/limits"
	"metriclab/pkg/persist/persisttest"
)

type growing interface {
	learners.Pair
	persisttest.Saver
}

// A learner that grows with its stream refuses the pair for which it has no room, and
// stays as it is.
func TestStepsEndAtTheLimit(t *testing.T) {
	t.Cleanup(func() { limits.SetMemory(0) })
	const dim = 500
	for name, make := range map[string]func() growing{
		"pola":          func() growing { return mustPOLA(t, dim, POLAParams{}) },
		"pa at the end": func() growing { return must(NewPA(dim, PAParams{PSD: PSDAtEnd})) },
		"kernel-pola":   func() growing { return must(NewKernelPOLA(dim, gaussian(1.0/dim), POLAParams{})) },
	} {
		limits.SetMemory(1 << 18)
		l := make()
		var large *limits.MemoryError
		steps := 0
		for _, f := range randomLabels(rand.New(rand.NewPCG(62, 1)), dim, 200) {
			before := string(persisttest.Saved(l))
			if _, err := l.Step(f); err != nil {
				if !errors.As(err, &large) {
					t.Fatalf("%s: error %v, want a *limits.MemoryError", name, err)
				}
				if string(persisttest.Saved(l)) != before {
					t.Errorf("%s: the refused pair changed the learner", name)
				}
				limits.SetMemory(0)
				if _, err := l.Step(f); err != nil {
					t.Errorf("%s: with more room: %v", name, err)
				}
				break
			}
			steps++
		}
		if large == nil || steps < 5 {
			t.Errorf("%s: %d steps, then the error %v", name, steps, large)
		}
	}
}
