package vectors

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/floats"

	"metriclab/internal/plural"
	"metriclab/internal/vector"
	"metriclab/pkg/limits"
)

// Zeros counts vectors of zeros. These have no direction: divided by their length they would lie at one distance from all others, and be neighbours of most.
type Zeros struct {
	Count int
	First int // the lowest row, if there is one
}

// Add takes in row i.
func (z *Zeros) Add(i int) {
	if z.Count == 0 || i < z.First {
		z.First = i
	}
	z.Count++
}

// Join takes in those of another part.
func (z *Zeros) Join(other Zeros) {
	if other.Count > 0 {
		z.Add(other.First)
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

// lookBlock is about how many numbers Look holds of a block.
const lookBlock = 1 << 19

// Looked is what one pass over a file finds.
type Looked struct {
	// Shortest and Longest are the least and greatest length of a vector that is not zero; both 0 if there is none.
	Shortest, Longest float64
	Zeros             Zeros
	// Repeated is the number of vectors that equal an earlier one.
	Repeated int
}

// Look passes over the vectors of a file once, in blocks. Beside a block it holds a number for each vector. It returns the errors of the file and the one of ctx.
func (f *File) Look(ctx context.Context) (*Looked, error) {
	if err := limits.Check(fmt.Sprintf("%s: a number for each of %d vectors", f.Name(), f.Rows()), limits.Product(4, 8, f.Rows())); err != nil {
		return nil, fmt.Errorf("vectors: %w", err)
	}
	out := &Looked{}
	seen := make(map[uint64]bool, f.Rows()) // two of 10⁸ different vectors have one hash with a probability of 3·10⁻⁴
	per := max(1, lookBlock/f.Dim())
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
			if vector.IsZero(row) {
				out.Zeros.Add(top + i)
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
func (l *Looked) Notes() (notes []string) {
	if l.Zeros.Count > 0 {
		notes = append(notes, l.Zeros.String()+": without direction, so that --unit leaves them out, and they have no cosine")
	}
	if l.Repeated > 0 {
		notes = append(notes, fmt.Sprintf("%s equal to an earlier one: items that are held out may be learned from all the same", plural.Of(l.Repeated, "vector")))
	}
	return notes
}
