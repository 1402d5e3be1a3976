package model

import (
	"slices"
	"testing"

	"metriclab/pkg/experiment"
)

// Folds differ by at most one row, and so does the share of each class; the
// division is random.
func TestStratify(t *testing.T) {
	var y []int
	for c, n := range []int{23, 1, 8, 40} {
		y = append(y, slices.Repeat([]int{c}, n)...)
	}
	seed := experiment.Seed{Base: 1}
	for _, folds := range []int{2, 5, 72} {
		of := stratify(seed, y, folds)
		all := make([]int, folds)
		per := make([][]int, 4)
		for c := range per {
			per[c] = make([]int, folds)
		}
		for i, f := range of {
			all[f]++
			per[y[i]][f]++
		}
		for _, counts := range append(per, all) {
			if slices.Max(counts)-slices.Min(counts) > 1 {
				t.Errorf("%d folds: counts %v", folds, counts)
			}
		}
	}
	seed.Trial = 1
	if slices.Equal(stratify(seed, y, 5), stratify(experiment.Seed{Base: 1}, y, 5)) {
		t.Error("two repeats are divided alike")
	}
}
