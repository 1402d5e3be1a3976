package sample

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"testing"
)

// classesOf returns labels with the given counts, out of order.
func classesOf(counts ...int) []int {
	var y []int
	for c, n := range counts {
		y = append(y, slices.Repeat([]int{c * 7}, n)...)
	}
	newRand(3).Shuffle(len(y), func(a, b int) { y[a], y[b] = y[b], y[a] })
	return y
}

// The parts divide the rows, the training part has round(share·n) of them, and each
// class has its share of the training part up to less than one row.
func TestStratifiedSplit(t *testing.T) {
	for _, counts := range [][]int{{23, 1, 8, 40}, {1, 1}, {200, 200, 200}, {2, 59, 71, 48}} {
		y := classesOf(counts...)
		n := len(y)
		for _, share := range []float64{0.5, 0.7, 1.0 / 3, 0.9, 0.05} {
			size := int(math.Round(share * float64(n)))
			train, test, err := StratifiedSplit(newRand(1), y, share)
			if size == 0 || size == n {
				if err == nil {
					t.Errorf("%v, share %v: a part is empty, want an error", counts, share)
				}
				continue
			}
			if err != nil || len(train) != size || !slices.IsSorted(train) || !slices.IsSorted(test) {
				t.Fatalf("%v, share %v: %d training rows, want %d, error %v", counts, share, len(train), size, err)
			}
			all := slices.Sorted(slices.Values(append(slices.Clone(train), test...)))
			for i, j := range all {
				if i != j || len(all) != n {
					t.Fatalf("%v, share %v: the parts do not divide the rows", counts, share)
				}
			}
			for c, of := range counts {
				got := 0
				for _, i := range train {
					if y[i] == c*7 {
						got++
					}
				}
				if want := float64(size*of) / float64(n); math.Abs(float64(got)-want) >= 1 {
					t.Errorf("%v, share %v: class %d has %d training rows, want about %v", counts, share, c, got, want)
				}
			}
		}
	}
}

// Each row of a class is as likely a training row as any other, and equal
// generators give equal parts.
func TestStratifiedSplitIsUniform(t *testing.T) {
	y := classesOf(4, 10)
	const draws = 4000
	hits := make([]int, len(y))
	rng := newRand(5)
	for range draws {
		train, _, err := StratifiedSplit(rng, y, 0.5)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range train {
			hits[i]++
		}
	}
	// Five standard deviations of a fair coin; the seed is fixed, so this cannot flake.
	tol := 5 * math.Sqrt(draws) / 2
	for i, h := range hits {
		if math.Abs(float64(h)-draws/2) > tol {
			t.Errorf("row %d was drawn %d times of %d, want half of them", i, h, draws)
		}
	}
	a, _, _ := StratifiedSplit(newRand(9), y, 0.5)
	b, _, _ := StratifiedSplit(newRand(9), y, 0.5)
	c, _, _ := StratifiedSplit(newRand(10), y, 0.5)
	if !slices.Equal(a, b) || slices.Equal(a, c) {
		t.Errorf("equal seeds give %v and %v, another %v", a, b, c)
	}
}

func TestStratifiedSplitErrors(t *testing.T) {
	for _, tc := range []struct {
		y     []int
		share float64
		want  string
	}{
		{[]int{1, 2}, 0, "share: 0 is not allowed, want more than 0"},
		{[]int{1, 2}, 1, "share: 1 is not allowed"},
		{[]int{1, 2}, -1, "share: -1"},
		{[]int{1, 2}, math.NaN(), "share: NaN"},
		{[]int{1, 2}, 0.1, "with 2 rows: the training part would have 0"},
		{[]int{1, 2}, 0.9, "with 2 rows: the training part would have 2"},
		{nil, 0.5, "with 0 rows"},
	} {
		if _, _, err := StratifiedSplit(newRand(1), tc.y, tc.share); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%v, share %v: error %v, want %q", tc.y, tc.share, err, tc.want)
		}
	}
}

// Folds differ by at most one row, and so does the share of each class; the
// division is random.
func TestStratifiedFolds(t *testing.T) {
	y := classesOf(23, 1, 8, 40)
	for _, folds := range []int{2, 5, 72} {
		of := StratifiedFolds(newRand(1), y, folds)
		all := make([]int, folds)
		per := make([][]int, 4)
		for c := range per {
			per[c] = make([]int, folds)
		}
		for i, f := range of {
			all[f]++
			per[y[i]/7][f]++
		}
		for _, counts := range append(per, all) {
			if slices.Max(counts)-slices.Min(counts) > 1 {
				t.Errorf("%d folds: counts %v", folds, counts)
			}
		}
	}
	if slices.Equal(StratifiedFolds(newRand(2), y, 5), StratifiedFolds(newRand(1), y, 5)) {
		t.Error("two seeds divide alike")
	}
	defer func() {
		if recover() == nil {
			t.Error("0 folds do not panic")
		}
	}()
	StratifiedFolds(newRand(1), y, 0)
}

// Folds are dealt from the rows in random order, sorted by class.
func TestStratifiedFoldsReference(t *testing.T) {
	y := []int{3, -1, 3, 0, 3, 0, math.MaxInt, 3, -1, 0, 3, math.MinInt}
	order := Choose(newRand(4), len(y), len(y))
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(y[i], y[j]) })
	want := make([]int, len(y))
	for k, i := range order {
		want[i] = k % 3
	}
	if got := StratifiedFolds(newRand(4), y, 3); !slices.Equal(got, want) {
		t.Errorf("folds %v, want %v", got, want)
	}
}
