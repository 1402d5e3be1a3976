package model

import (
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/plural"
)

// Zeros counts vectors of zeros. These have no direction: divided by their length they would lie at one distance from all others, and be neighbours of most.
type Zeros struct {
	Count int
	First int // the lowest row, if there is one
}

// add takes in row i.
func (z *Zeros) add(i int) {
	if z.Count == 0 || i < z.First {
		z.First = i
	}
	z.Count++
}

// join takes in those of another part.
func (z *Zeros) join(other Zeros) {
	if other.Count > 0 {
		z.add(other.First)
		z.Count += other.Count - 1
	}
}

// String says how many there are: "2 vectors of zeros, the first in row 5".
func (z Zeros) String() string {
	if z.Count == 1 {
		return fmt.Sprintf("1 vector of zeros, row %d", z.First)
	}
	return fmt.Sprintf("%d vectors of zeros, the first in row %d", z.Count, z.First)
}

// zero tells whether all numbers of a vector are 0.
func zero(x []float64) bool { return floats.Count(func(v float64) bool { return v != 0 }, x) == 0 }

// zeroRows tells of each row of x whether it is zero, and counts those that are; row 0 of x is row of(0) elsewhere.
func zeroRows(x *mat.Dense, of func(i int) int) (none []bool, z Zeros) {
	n, _ := x.Dims()
	none = make([]bool, n)
	for i := range n {
		if none[i] = zero(x.RawRowView(i)); none[i] {
			z.add(of(i))
		}
	}
	return none, z
}

// leftOut returns a note on the comparisons that name a vector of zeros, so many of all, each called what. It returns an error if none else is there.
func (z Zeros) leftOut(left, all int, what string) (string, error) {
	of := fmt.Sprintf("%s of %s, without direction", plural.Of(left, what), z)
	if left == all {
		return "", fmt.Errorf("model: %s, and no other", of)
	}
	return of + ": left out", nil
}

// directed returns the pairs of vectors that have a direction, with a note on the others. It returns an error if there is no such pair.
func (n *namedPairs) directed() (*namedPairs, []string, error) {
	none, z := zeroRows(n.x, func(i int) int { return n.rows[i] })
	if z.Count == 0 {
		return n, nil, nil
	}
	p := n.part(none, false)
	for k, item := range p.rows {
		p.rows[k] = n.rows[item]
	}
	note, err := z.leftOut(len(n.links)-len(p.links), len(n.links), "pair")
	return p, []string{note}, err
}

// directed is that of namedPairs; item i is row rows[i] of the file.
func (n *namedTriplets) directed(rows []int) (*namedTriplets, []string, error) {
	none, z := zeroRows(n.x, func(i int) int { return rows[i] })
	if z.Count == 0 {
		return n, nil, nil
	}
	p := n.part(none, false)
	note, err := z.leftOut(len(n.list)-len(p.list), len(n.list), "comparison")
	return p, []string{note}, err
}

// undirected returns an error about rows that Unit would have to divide by 0.
func (z Zeros) undirected() error {
	return fmt.Errorf("model: unit: %s: without direction, so that no coordinates are right; leave them out of the file, or learn without unit", z)
}
