package sample

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
)

// StratifiedSplit divides the rows 0..len(y)−1 at random into a training part of
// round(share·n) rows and a test part of the others, both ascending. Each class
// gives its share of the training rows, rounded up or down; which of its rows is
// uniform. It returns an error unless 0 < share < 1 and both parts get a row.
func StratifiedSplit(rng *rand.Rand, y []int, share float64) (train, test []int, err error) {
	if !(share > 0 && share < 1) {
		return nil, nil, fmt.Errorf("sample: share: %v is not allowed, want more than 0 and less than 1", share)
	}
	n := len(y)
	size := int(math.Round(share * float64(n)))
	if size < 1 || size >= n {
		return nil, nil, fmt.Errorf("sample: share: %v is not allowed with %d rows: the training part would have %d", share, n, size)
	}
	// Row k of the order is a training row where ⌊k·size/n⌋ grows, in whole numbers:
	// any stretch of the order, a class too, has its share of them up to less than 1.
	for k, i := range byClassShuffled(rng, y) {
		if (k+1)*size/n > k*size/n {
			train = append(train, i)
		} else {
			test = append(test, i)
		}
	}
	slices.Sort(train)
	slices.Sort(test)
	return train, test, nil
}

// StratifiedFolds returns the fold 0..folds−1 of each row of a cross-validation:
// rows of a class, in random order, are dealt to the folds in turn, and the next
// class goes on where it stopped. So neither folds nor the parts of a class in them
// differ by more than one row. It panics unless folds ≥ 1.
func StratifiedFolds(rng *rand.Rand, y []int, folds int) []int {
	if folds < 1 {
		panic(fmt.Sprintf("sample: StratifiedFolds with %d folds", folds))
	}
	out := make([]int, len(y))
	for k, i := range byClassShuffled(rng, y) {
		out[i] = k % folds
	}
	return out
}

// byClassShuffled returns all rows class by class, each class in random order.
func byClassShuffled(rng *rand.Rand, y []int) []int {
	rows := map[int][]int{}
	for _, i := range Choose(rng, len(y), len(y)) {
		rows[y[i]] = append(rows[y[i]], i)
	}
	order := make([]int, 0, len(y))
	for _, c := range slices.Sorted(maps.Keys(rows)) {
		order = append(order, rows[c]...)
	}
	return order
}
