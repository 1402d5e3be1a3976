package triplets

import (
	"errors"
	"testing"

	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
	"metriclab/pkg/persist/persisttest"
)

// No number of a file makes the loader or the learner panic, or take more memory
// than its file warrants.
func TestNumbersOfFiles(t *testing.T) {
	use := func(l *ERKLE) {
		for _, q := range []metric.Triplet{{A: 0, Near: 1, Far: 2}, {A: 1, Near: 2, Far: 0}} {
			if l.Objects() > 2 {
				l.Predict(q)
			}
			_, _ = l.Step(q)
		}
		if l.Objects() < 100 {
			l.Kernel()
		}
	}
	for _, p := range allForms(3) {
		persisttest.Numbers(t, savedERKLE(t, p), LoadERKLE, use)
	}
	persisttest.Numbers(t, sparseERKLE(t), LoadERKLE, use)
}

// The history of triplets that Beta > 1 keeps ends where it has no room.
func TestHistoryEndsAtTheLimit(t *testing.T) {
	t.Cleanup(func() { limits.SetMemory(0) })
	l, err := NewERKLE(4, ERKLEParams{Beta: 2})
	if err != nil {
		t.Fatal(err)
	}
	limits.SetMemory(24 * 10)
	for step := range 12 {
		before := string(persisttest.Saved(l))
		_, err := l.Step(metric.Triplet{A: step % 2, Near: 2, Far: 3})
		var large *limits.MemoryError
		if refused := errors.As(err, &large); refused != (step > 10) {
			t.Errorf("step %d: error %v", step, err)
		}
		if err != nil && string(persisttest.Saved(l)) != before {
			t.Errorf("step %d: the refused triplet changed the learner", step)
		}
	}
}
