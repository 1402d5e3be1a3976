package triplets

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/pkg/metric"
)

// RespondentVersion counts the changes of the answers that a Respondent gives.
const RespondentVersion = 1

// Respondent answers questions in place of a person. It knows the squared distances of the objects, and each
// answer is flipped with the same probability, independently, so that answers may conflict with others, also with
// one to the same question. Where the two distances are Tied, the answer is a coin flip.
type Respondent struct {
	n    int
	sq   func(i, j int) float64
	flip float64
	rng  *rand.Rand
}

// NewKernelRespondent returns a Respondent with the squared distances of the kernel k, which it keeps and which must not change. Answers
// are flipped with the probability flip, from 0 to 1. It returns an error unless k is finite with at
// least 3 objects, and flip is allowed. It panics if src is nil.
func NewKernelRespondent(src *rand.PCG, k mat.Symmetric, flip float64) (*Respondent, error) {
	if err := checkFinite(k); err != nil {
		return nil, fmt.Errorf("respondent: kernel: %w", err)
	}
	return newRespondent(src, k.SymmetricDim(), flip, func(i, j int) float64 { return sqDist(k, i, j) })
}

// NewPointRespondent is NewKernelRespondent with the squared Euclidean distances of the rows of x,
// which it keeps and which must not change; of what is not a *mat.Dense it keeps a copy.
func NewPointRespondent(src *rand.PCG, x mat.Matrix, flip float64) (*Respondent, error) {
	xd := matrix.Dense(x)
	if xd == nil {
		panic("triplets: NewPointRespondent: x is nil")
	}
	n, _ := xd.Dims()
	for i := range n {
		for j, v := range xd.RawRowView(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("respondent: point %d, coordinate %d: %v is not allowed, want a finite number", i, j, v)
			}
		}
	}
	return newRespondent(src, n, flip, func(i, j int) float64 { return metric.Euclidean{}.SqDist(xd.RawRowView(i), xd.RawRowView(j)) })
}

func newRespondent(src *rand.PCG, n int, flip float64, sq func(i, j int) float64) (*Respondent, error) {
	if src == nil {
		panic("triplets: the source of a Respondent is nil")
	}
	switch {
	case n < 3:
		return nil, fmt.Errorf("respondent: n: %d is not allowed, want at least 3 objects", n)
	case !(flip >= 0 && flip <= 1):
		return nil, fmt.Errorf("respondent: flip: %v is not allowed, want a number from 0 to 1", flip)
	}
	return &Respondent{n, sq, flip, rand.New(src)}, nil
}

// Answer answers q. It panics unless q compares three different objects.
func (r *Respondent) Answer(q Query) metric.Triplet {
	if err := Check(r.n, q.Answer(q.B)); err != nil {
		panic(err.Error())
	}
	flipped := r.rng.Float64() < r.flip
	b, c := r.sq(q.Head, q.B), r.sq(q.Head, q.C)
	closer := b < c
	if Tied(b, c) {
		closer = r.rng.IntN(2) == 0
	}
	if closer != flipped {
		return q.Answer(q.B)
	}
	return q.Answer(q.C)
}
