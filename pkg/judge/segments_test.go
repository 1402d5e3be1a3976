package judge_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/judge"
)

// The pseudo-values of a mean of equal segments are the segments' own means.
func TestPseudoValuesOfAMean(t *testing.T) {
	x := []float64{3, -1, 4, 1, -5, 9, 2, 6}
	mean := func(keep func(int) bool) float64 {
		var s, n float64
		for i, v := range x {
			if keep(i) {
				s, n = s+v, n+1
			}
		}
		return s / n
	}
	for i, got := range judge.PseudoValues(len(x), mean) {
		if math.Abs(got-x[i]) > 1e-13 { // some roundings of n·θ, below 50
			t.Errorf("pseudo-value %d is %v, want %v", i, got, x[i])
		}
	}
}

// On a ratio of sums the interval covers the true ratio about as often as it
// says: 95 % within 2 points (5 standard deviations of 10,000 draws are 1.1, the
// rest is the approximation).
func TestPseudoValuesCover(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	const n, draws, truth = 20, 10000, 0.25
	covered := 0
	for range draws {
		var top, bottom [n]float64
		for i := range n {
			for range 40 {
				if rng.IntN(4) == 0 { // a rare class
					bottom[i]++
					if rng.Float64() < truth {
						top[i]++
					}
				}
			}
		}
		s := judge.Summarize(judge.PseudoValues(n, func(keep func(int) bool) float64 {
			var a, b float64
			for i := range n {
				if keep(i) {
					a, b = a+top[i], b+bottom[i]
				}
			}
			return a / b
		}))
		if math.Abs(s.Mean-truth) <= s.Half {
			covered++
		}
	}
	if share := float64(covered) / draws; math.Abs(share-0.95) > 0.02 {
		t.Errorf("the 95 %% interval covers the truth in %.1f %% of the draws", 100*share)
	}
}

// The bias of order 1/n goes: the variance with divisor n becomes unbiased.
func TestPseudoValuesRemoveBias(t *testing.T) {
	x := []float64{2, 7, 1, 8, 2, 8}
	of := func(keep func(int) bool) float64 {
		var kept []float64
		for i, v := range x {
			if keep(i) {
				kept = append(kept, v)
			}
		}
		return stat.PopVariance(kept, nil)
	}
	got := stat.Mean(judge.PseudoValues(len(x), of), nil)
	if want := stat.Variance(x, nil); math.Abs(got-want) > 1e-12*want { // a closed-form identity, up to round-off
		t.Errorf("jackknifed variance %v, want %v", got, want)
	}
}

func TestPseudoValuesPanic(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	judge.PseudoValues(1, func(func(int) bool) float64 { return 0 })
}
