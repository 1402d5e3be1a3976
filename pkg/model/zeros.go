package model

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/plural"
	"metriclab/internal/vector"
	"metriclab/pkg/vectors"
)

// zeroRows tells of each row of x whether it is zero, and counts those that are; row 0 of x is row of(0) elsewhere.
func zeroRows(x *mat.Dense, of func(i int) int) (none []bool, z vectors.Zeros) {
	n, _ := x.Dims()
	none = make([]bool, n)
	for i := range n {
		if none[i] = vector.IsZero(x.RawRowView(i)); none[i] {
			z.Add(of(i))
		}
	}
	return none, z
}

// leftOut returns a note on the comparisons that name a vector of zeros, left of all, each called what. It returns an error if none else is there.
func leftOut(z vectors.Zeros, left, all int, what string) (string, error) {
	of := fmt.Sprintf("%s of %s, without direction", plural.Of(left, what), z)
	if left == all {
		return "", fmt.Errorf("model: %s, and no other", of)
	}
	return of + ": left out", nil
}

// undirected returns an error about rows that Unit would have to divide by 0.
func undirected(z vectors.Zeros) error {
	return fmt.Errorf("model: unit: %s: without direction, so that no coordinates are right; leave them out of the file, or learn without unit", z)
}
