package sample

import (
	"fmt"
	"math/rand/v2"

	"metriclab/pkg/metric"
)

// EachClassLinks draws for every class of y n similar pairs, of distinct rows of that
// class, and n dissimilar ones, of a row of it and a row of any other class. The pairs of a
// set are different, and each set of n is equally likely. Where there are fewer pairs than
// n, all of them are taken. So for c classes Jain, Kulis, Davis and Dhillon (Metric and
// Kernel Learning Using a Linear Transformation, JMLR 13, 2012, Section 6) have 100c
// similar and 100c dissimilar pairs; PerClassLinks draws for every two classes.
//
// A pair of rows of two classes may be drawn for both, and is then there twice. The
// links are in random order. Classes are any integers. EachClassLinks returns an error
// if n < 0 or the links do not fit limits.Memory; a class of one row has no similar pairs, and a single class no dissimilar
// ones.
func EachClassLinks(rng *rand.Rand, y []int, n int) ([]metric.Link, error) {
	if err := checkCount("n", n); err != nil {
		return nil, err
	}
	classes, members := byClass(y)
	var total int64
	for _, rows := range members {
		m := len(rows)
		total += int64(min(n, m*(m-1)/2)) + int64(min(n, m*(len(y)-m)))
	}
	if err := linksFit(total); err != nil {
		return nil, fmt.Errorf("sample: n: %w", err)
	}
	var out []metric.Link
	for c, rows := range members {
		m := len(rows)
		within, err := DistinctLinks(rng, make([]int, m), min(n, m*(m-1)/2))
		if err != nil {
			return nil, err
		}
		for _, l := range within {
			out = append(out, metric.Link{I: rows[l.I], J: rows[l.J], Label: metric.Similar})
		}
		var others []int
		for j, label := range y {
			if label != classes[c] {
				others = append(others, j)
			}
		}
		for _, r := range Choose(rng, m*len(others), min(n, m*len(others))) {
			out = append(out, metric.Link{I: rows[r/len(others)], J: others[r%len(others)], Label: metric.Dissimilar})
		}
	}
	rng.Shuffle(len(out), func(a, b int) { out[a], out[b] = out[b], out[a] })
	return out, nil
}
