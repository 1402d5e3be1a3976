package cluster

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
	"metriclab/pkg/sparse"
)

// points are the rows that Lloyd's iteration clusters. Dense and sparse ones have the same clusters.
type points interface {
	Dims() (n, d int)
	// setRow sets dst to row i.
	setRow(dst []float64, i int)
	// between returns the squared distance of two rows.
	between(i, j int) float64
	// nearest returns the first nearest centre of each row, and the squared distances up to round-off. It ends early when ctx is done.
	nearest(ctx context.Context, centres *mat.Dense) (index []int, sq []float64)
	// exact sets sq to the squared distances of the rows to their centres.
	exact(sq []float64, centres *mat.Dense, assignment []int)
	// inertia returns the sum of these.
	inertia(centres *mat.Dense, assignment []int) float64
	// addDeviation adds s·(row i − row first) to dst.
	addDeviation(dst []float64, s float64, i, first int)
	// checkSpread returns an error if sums of squared distances could overflow, or if rows differ but all squared distances vanish.
	checkSpread() error
}

// denseRows are the rows of a matrix; diff is memory for one.
type denseRows struct {
	*mat.Dense
	diff []float64
}

func rowsOf(x *mat.Dense) denseRows {
	_, d := x.Dims()
	return denseRows{x, make([]float64, d)}
}

func (x denseRows) setRow(dst []float64, i int) { copy(dst, x.RawRowView(i)) }

func (x denseRows) between(i, j int) float64 {
	return metric.Euclidean{}.SqDist(x.RawRowView(i), x.RawRowView(j))
}

func (x denseRows) nearest(ctx context.Context, centres *mat.Dense) (index []int, sq []float64) {
	return nearestUntil(ctx, x.Dense, centres)
}

func (x denseRows) exact(sq []float64, centres *mat.Dense, assignment []int) {
	for i, c := range assignment {
		sq[i] = metric.Euclidean{}.SqDist(x.RawRowView(i), centres.RawRowView(c))
	}
}

func (x denseRows) inertia(centres *mat.Dense, assignment []int) float64 {
	var sum float64
	for i, c := range assignment {
		sum += metric.Euclidean{}.SqDist(x.RawRowView(i), centres.RawRowView(c))
	}
	return sum
}

func (x denseRows) addDeviation(dst []float64, s float64, i, first int) {
	floats.SubTo(x.diff, x.RawRowView(i), x.RawRowView(first))
	floats.AddScaled(dst, s, x.diff)
}

func (x denseRows) checkSpread() error { return checkSpread(x.Dense) }

// sparseRows are compressed rows.
type sparseRows struct{ *sparse.Matrix }

func (x sparseRows) setRow(dst []float64, i int) { x.Row(i).Dense(dst) }

func (x sparseRows) between(i, j int) float64 { return x.Row(i).SqDist(x.Row(j)) }

// parts returns the squared distance of a row and a centre, of squared length sq: what the entries of the row add, and what the rest of the centre does.
func parts(row sparse.Vector, centre []float64, sq float64) (inside, rest float64) {
	rest = sq
	for e, j := range row.Index {
		c := centre[j]
		d := row.Value[e] - c
		inside += float64(d * d)
		rest -= float64(c * c)
	}
	return inside, max(rest, 0)
}

func sqNorms(centres *mat.Dense) []float64 {
	k, _ := centres.Dims()
	out := make([]float64, k)
	for c := range out {
		for _, a := range centres.RawRowView(c) {
			out[c] += float64(a * a)
		}
	}
	return out
}

// nearest decides by the entries of a row alone, unless two centres are as near up to round-off: then as denseRows does.
func (x sparseRows) nearest(ctx context.Context, centres *mat.Dense) (index []int, sq []float64) {
	n, d := x.Dims()
	lengths := sqNorms(centres)
	index, sq = make([]int, n), make([]float64, n)
	// Both sums, and that of all d squares, are off by at most (d + 4)ε/2 of the squares that they are made of.
	off, underflow := 4*float64(d+8)*0x1p-52, 4*float64(d+8)*math.SmallestNonzeroFloat64
	near, slack := make([]float64, len(lengths)), make([]float64, len(lengths))
	var row []float64
	for i := range n {
		if i%looks == 0 && ctx.Err() != nil {
			break
		}
		limit := math.Inf(1)
		for c, l := range lengths {
			inside, rest := parts(x.Row(i), centres.RawRowView(c), l)
			near[c], slack[c] = inside+rest, off*(inside+l)+underflow
			limit = min(limit, near[c]+slack[c])
		}
		close := 0
		for c, v := range near {
			if v-slack[c] <= limit {
				if close++; close == 1 {
					index[i], sq[i] = c, v
				}
			}
		}
		if close < 2 {
			continue
		}
		if row == nil {
			row = make([]float64, d)
		}
		x.setRow(row, i)
		least := math.Inf(1)
		for c, v := range near {
			if v-slack[c] > limit {
				continue
			}
			if s := (metric.Euclidean{}).SqDist(row, centres.RawRowView(c)); s < least {
				least, index[i], sq[i] = s, c, s
			}
		}
	}
	return index, sq
}

func (x sparseRows) exact(sq []float64, centres *mat.Dense, assignment []int) {
	_, d := x.Dims()
	row := make([]float64, d)
	for i, c := range assignment {
		x.setRow(row, i)
		sq[i] = metric.Euclidean{}.SqDist(row, centres.RawRowView(c))
	}
}

func (x sparseRows) inertia(centres *mat.Dense, assignment []int) float64 {
	lengths := sqNorms(centres)
	var sum float64
	for i, c := range assignment {
		inside, rest := parts(x.Row(i), centres.RawRowView(c), lengths[c])
		sum += inside + rest
	}
	return sum
}

func (x sparseRows) addDeviation(dst []float64, s float64, i, first int) {
	sparse.Difference(sparse.Vector{}, x.Row(i), x.Row(first)).AddTo(dst, s)
}

func (x sparseRows) checkSpread() error {
	n, d := x.Dims()
	limit := largestEntry(n, d)
	var widest float64
	var diff sparse.Vector
	for i := range n {
		for _, v := range x.Row(i).Value {
			if math.Abs(v) > limit {
				return errOverflow
			}
		}
		diff = sparse.Difference(diff, x.Row(i), x.Row(0))
		for _, v := range diff.Value {
			widest = max(widest, math.Abs(v))
		}
	}
	return checkWidest(widest)
}

var (
	errOverflow = errors.New("x: squared distances overflow float64: rescale the features")
	errVanish   = errors.New("x: squared distances vanish in float64, though rows differ: rescale the features")
)

// largestEntry is the largest entry with which sums of squared distances of n rows of d cannot overflow.
func largestEntry(n, d int) float64 {
	return math.Sqrt(math.MaxFloat64) / (8 * math.Sqrt(float64(n)*float64(d)))
}

// checkWidest returns an error if rows differ, by at most widest in an entry, but all squared distances vanish.
func checkWidest(widest float64) error {
	if widest > 0 && widest*widest < metric.LeastNormal {
		return errVanish
	}
	return nil
}
