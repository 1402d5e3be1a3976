package model

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/plural"
	"metriclab/internal/vector"
	"metriclab/pkg/limits"
	"metriclab/pkg/vectors"
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

// undirected returns an error about rows that Unit would have to divide by 0.
func (z Zeros) undirected() error {
	return fmt.Errorf("model: unit: %s: without direction, so that no coordinates are right; leave them out of the file, or learn without unit", z)
}

// VectorLook is what LookVectors finds.
type VectorLook struct {
	// Shortest and Longest are the least and greatest length of a vector that is not zero; both 0 if there is none.
	Shortest, Longest float64
	Zeros             Zeros
	// Repeated is the number of vectors that equal an earlier one.
	Repeated int
}

// LookVectors passes over the vectors of a file once, in blocks. Beside a block it holds a number for each vector. It returns the errors of the file and the one of ctx.
func LookVectors(ctx context.Context, f *vectors.File) (*VectorLook, error) {
	if err := limits.Check(fmt.Sprintf("%s: a number for each of %d vectors", f.Name(), f.Rows()), limits.Product(4, 8, f.Rows())); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	out := &VectorLook{}
	seen := make(map[uint64]bool, f.Rows()) // two of 10⁸ different vectors have one hash with a probability of 3·10⁻⁴
	per := max(1, vectorBlock/f.Dim())
	buffer := make([]float64, min(per, f.Rows())*f.Dim())
	for top := 0; top < f.Rows(); top += per {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n := min(per, f.Rows()-top)
		if err := f.ReadRows(buffer[:n*f.Dim()], top); err != nil {
			return nil, err
		}
		for i := range n {
			row := buffer[i*f.Dim() : (i+1)*f.Dim()]
			if zero(row) {
				out.Zeros.add(top + i)
				continue
			}
			length := floats.Norm(row, 2)
			if out.Longest == 0 {
				out.Shortest = length
			}
			out.Shortest, out.Longest = min(out.Shortest, length), max(out.Longest, length)
			h := vector.Hash(row)
			if seen[h] {
				out.Repeated++
			}
			seen[h] = true
		}
	}
	return out, nil
}

// Notes says what may be meant and makes numbers wrong if it is not.
func (l *VectorLook) Notes() (notes []string) {
	if l.Zeros.Count > 0 {
		notes = append(notes, l.Zeros.String()+": without direction, so that --unit leaves them out, and cosine cannot judge them")
	}
	if l.Repeated > 0 {
		notes = append(notes, fmt.Sprintf("%s equal to an earlier one: items that are held out may be learned from all the same", plural.Of(l.Repeated, "vector")))
	}
	return notes
}
