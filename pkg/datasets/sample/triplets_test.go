package sample

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"metriclab/pkg/metric"
)

func TestSplitTriplets(t *testing.T) {
	ts := make([]metric.Triplet, 100)
	for i := range ts {
		ts[i] = metric.Triplet{A: i, Near: i + 1, Far: i + 2}
	}
	parts, err := SplitTriplets(newRand(1), ts, 55, 0, 6)
	if err != nil {
		t.Fatal(err)
	}
	var sizes, all []int
	for _, part := range parts {
		sizes = append(sizes, len(part))
		for _, a := range part {
			all = append(all, a.A)
		}
	}
	if !slices.Equal(sizes, []int{55, 0, 6, 39}) {
		t.Errorf("sizes are %v", sizes)
	}
	if slices.IsSorted(all) {
		t.Error("the triplets are in their old order")
	}
	slices.Sort(all)
	for i, a := range all {
		if a != i {
			t.Fatalf("triplets %v are not 0 to 99", all)
		}
	}
	for i, a := range ts {
		if a.A != i {
			t.Fatal("the given triplets changed their order")
		}
	}
	parts[0] = append(parts[0], metric.Triplet{})
	if parts[2][0] == (metric.Triplet{}) {
		t.Error("parts overlap in memory")
	}
	for _, bad := range [][]int{{-1}, {101}, {60, 41}} {
		if _, err := SplitTriplets(newRand(1), ts, bad...); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("sizes[%d]", len(bad)-1)) {
			t.Errorf("sizes %v: error %v", bad, err)
		}
	}
}

func TestChoosePanics(t *testing.T) {
	for _, k := range []int{3, -1} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Choose %d of 2 does not panic", k)
				}
			}()
			Choose(newRand(1), 2, k)
		}()
	}
}

func TestTripletFolds(t *testing.T) {
	var ts []metric.Triplet
	for a := range 23 {
		ts = append(ts, metric.Triplet{A: a, Near: 30, Far: 31}, metric.Triplet{A: a, Near: 31, Far: 30}, metric.Triplet{A: a, Near: 30, Far: 31})
	}
	fold, err := TripletFolds(newRand(3), ts, 5, false)
	if err != nil {
		t.Fatal(err)
	}
	sizes := make([]int, 5)
	for i := range 23 {
		if fold[3*i] != fold[3*i+1] || fold[3*i] != fold[3*i+2] {
			t.Errorf("the answers to question %d are in folds %v", i, fold[3*i:3*i+3])
		}
		sizes[fold[3*i]]++
	}
	if slices.Min(sizes) != 4 || slices.Max(sizes) != 5 {
		t.Errorf("questions per fold: %v", sizes)
	}
	for a := range 20 { // the two comparisons of an answer that 31 is the odd one out, about other three objects each
		ts[2*a], ts[2*a+1] = metric.Triplet{A: a, Near: 30, Far: 31}, metric.Triplet{A: 30, Near: a, Far: 31}
	}
	for _, threes := range []bool{true, false} {
		fold, err := TripletFolds(newRand(3), ts[:40], 5, threes)
		if err != nil {
			t.Fatal(err)
		}
		apart := 0
		for a := range 20 {
			if fold[2*a] != fold[2*a+1] {
				apart++
			}
		}
		if threes != (apart == 0) {
			t.Errorf("by three %v: %d answers are in two folds", threes, apart)
		}
	}
	ts = ts[:0]
	for a := range 23 {
		ts = append(ts, metric.Triplet{A: a, Near: 30, Far: 31})
	}
	for _, folds := range []int{1, 24, -1} {
		if _, err := TripletFolds(newRand(3), ts, folds, false); err == nil || !strings.Contains(err.Error(), "the number of questions, 23") {
			t.Errorf("%d folds: %v", folds, err)
		}
	}
}
