// Package losstest checks that a loss of the user's own keeps the promises of triplets.OwnLoss. It is for tests of
// losses, here and in other modules.
package losstest

import (
	"math"
	"testing"

	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/metric"
)

// Reach bounds the differences D at which Check integrates: from −Reach to Reach.
const Reach = 8.0

// steps is the number of steps of the integral from −Reach to Reach.
const steps = 1 << 14

// Check reports through t the ways in which l breaks the contract of triplets.OwnLoss on the triplets ts:
//
//   - Loss and Slope are finite and ≥ 0, from D = −1e150 to 1e150;
//   - the same arguments give the same bits, also when both methods are called concurrently;
//   - Loss does not fall as D rises, by more than 1e-12 of its size;
//   - Slope is the derivative: its integral over each 64th of −Reach to Reach is the difference of Loss, within .002 times the
//     largest slope there and 1e-9 of the loss. That allows for one jump or kink of the slope in each part.
//
// It panics if ts is empty.
func Check(t testing.TB, l triplets.OwnLoss, ts []metric.Triplet) {
	t.Helper()
	if len(ts) == 0 {
		panic("losstest: Check: no triplets")
	}
	for _, x := range ts {
		if !finite(t, l, x) {
			continue
		}
		integral(t, l, x)
	}
	again(t, l, ts)
}

// grid are the differences at which values are looked at.
func grid() []float64 {
	d := []float64{0}
	for e := -150; e <= 150; e += 3 {
		d = append(d, math.Pow(10, float64(e)), -math.Pow(10, float64(e)))
	}
	for i := -64; i <= 64; i++ {
		d = append(d, Reach*float64(i)/64)
	}
	return d
}

func good(v float64) bool { return v >= 0 && v <= math.MaxFloat64 }

func finite(t testing.TB, l triplets.OwnLoss, x metric.Triplet) bool {
	t.Helper()
	for _, d := range grid() {
		if v := l.Loss(x, d); !good(v) {
			t.Errorf("Loss(%v, %v) = %v, want a finite number ≥ 0", x, d, v)
			return false
		}
		if v := l.Slope(x, d); !good(v) {
			t.Errorf("Slope(%v, %v) = %v, want a finite number ≥ 0", x, d, v)
			return false
		}
	}
	return true
}

func integral(t testing.TB, l triplets.OwnLoss, x metric.Triplet) {
	t.Helper()
	const part = steps / 64
	width := 2 * Reach / steps
	at := func(i int) float64 { return -Reach + width*float64(i) }
	for from := 0; from < steps; from += part {
		// The midpoint rule: a jump of the slope costs at most half a step of it.
		var sum, most float64
		for i := range part {
			s := l.Slope(x, at(from+i)+width/2)
			sum, most = sum+s*width, max(most, s)
		}
		before, after := l.Loss(x, at(from)), l.Loss(x, at(from+part))
		if after < before-1e-12*(1+before) {
			t.Errorf("Loss(%v, D) falls from %v at D = %v to %v at %v", x, before, at(from), after, at(from+part))
			return
		}
		if diff := math.Abs(sum - (after - before)); diff > .002*most+1e-9*(1+after) {
			t.Errorf("%v: the integral of Slope from %v to %v is %v, Loss rises by %v", x, at(from), at(from+part), sum, after-before)
			return
		}
	}
}

// again calls both methods from several goroutines, and compares the bits with those of before.
func again(t testing.TB, l triplets.OwnLoss, ts []metric.Triplet) {
	t.Helper()
	values := func() []float64 {
		var out []float64
		for _, x := range ts {
			for _, d := range grid() {
				out = append(out, l.Loss(x, d), l.Slope(x, d))
			}
		}
		return out
	}
	want := values()
	results := make(chan []float64)
	for range 4 {
		go func() { results <- values() }()
	}
	changed := false
	for range 4 {
		for i, v := range <-results {
			changed = changed || math.Float64bits(v) != math.Float64bits(want[i])
		}
	}
	if changed {
		t.Error("the same arguments do not give the same bits")
	}
}
