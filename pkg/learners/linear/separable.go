package linear

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/pkg/metric"
)

// SeparationTolerance is the smallest distance between two convex hulls that
// LinearlySeparable tells from 0, relative to the radius of the data.
const SeparationTolerance = 1e-9

// LinearlySeparable reports whether a hyperplane strictly separates the two
// classes of the rows of the n×d matrix x, that is whether the linear program
//
//	yᵢ(w·xᵢ + c) ≥ 1 for all i,  yᵢ = ±1,
//
// is feasible, and returns the largest margin min yᵢ(w·xᵢ + c)/‖w‖ in the units
// of x, or 0 if they are not separable. Any two integers are labels.
//
// The program is feasible iff the convex hulls of the classes are disjoint. The shortest
// vector v from one hull to the other is found by Wolfe's algorithm (Finding the nearest
// point in a polytope, 1976) on the differences of points. Either end comes with a proof.
// All points of one class lie beyond those of the other along v by more than
// SeparationTolerance·R, where R is the largest distance of a point from the mean; or the
// hulls have points closer than that. The margin is half the distance that is proved,
// within 1e-10 of the largest.
//
// It returns an error unless there are exactly two classes, if x and y differ in
// length, if an entry is NaN or infinite or the distances overflow, or if
// round-off leaves neither end proved. It panics if x is nil. Each step costs
// n·d + d·s² with s ≤ d+1 active points; it is meant for few dimensions.
func LinearlySeparable(x mat.Matrix, y []int) (separable bool, margin float64, err error) {
	xd := matrix.Given("linear: LinearlySeparable: x", x)
	n, d := xd.Dims()
	if len(y) != n {
		return false, 0, fmt.Errorf("separable: %d labels for %d rows", len(y), n)
	}
	classes := slices.Compact(slices.Sorted(slices.Values(y)))
	if len(classes) != 2 {
		return false, 0, fmt.Errorf("separable: %d classes, want exactly 2", len(classes))
	}
	if err := metric.CheckFinite(xd); err != nil {
		return false, 0, fmt.Errorf("separable: %w", err)
	}
	points := mat.NewDense(n, d, nil)
	centre := make([]float64, d)
	for i := range n {
		floats.AddScaled(centre, 1/float64(n), xd.RawRowView(i))
	}
	var radius float64
	for i := range n {
		floats.SubTo(points.RawRowView(i), xd.RawRowView(i), centre)
		radius = max(radius, floats.Norm(points.RawRowView(i), 2))
	}
	if math.IsInf(radius, 1) {
		return false, 0, errors.New("separable: distances overflow float64: rescale the features")
	}
	if radius == 0 {
		return false, 0, nil // all points coincide
	}
	var sides [2][][]float64
	for i := range n {
		row := points.RawRowView(i)
		for j := range row {
			row[j] /= radius
		}
		side := slices.Index(classes, y[i])
		sides[side] = append(sides[side], row)
	}
	distance, err := hullDistance(sides[0], sides[1])
	if err != nil {
		return false, 0, fmt.Errorf("separable: %w", err)
	}
	if distance <= SeparationTolerance {
		return false, 0, nil
	}
	return true, distance / 2 * radius, nil
}

// hullDistance returns a lower bound on the distance between the convex hulls of
// a and b, within 1e-10 of it, or some number ≤ SeparationTolerance if the
// distance is. Points have norm ≤ 1.
func hullDistance(a, b [][]float64) (float64, error) {
	const (
		gapTol   = 1e-10 // relative to ‖v‖²
		roundOff = 1e-15 // of an inner product of v with a difference, relative to ‖v‖
		weight0  = 1e-14 // a weight that round-off made out of 0
	)
	limit := 1000 + 10*(len(a)+len(b))
	dim := len(a[0])
	difference := func(i, j int) []float64 { return metric.Sub(nil, a[i], b[j]) }
	corral := [][]float64{difference(0, 0)} // affinely independent differences
	weights := []float64{1}                 // of v as their convex combination
	v := make([]float64, dim)
	for range limit {
		clear(v)
		for k, p := range corral {
			floats.AddScaled(v, weights[k], p)
		}
		norm := floats.Norm(v, 2)
		if norm <= SeparationTolerance {
			return norm, nil
		}
		near, far := 0, 0
		low, high := math.Inf(1), math.Inf(-1)
		for i, p := range a {
			if s := floats.Dot(v, p); s < low {
				near, low = i, s
			}
		}
		for j, p := range b {
			if s := floats.Dot(v, p); s > high {
				far, high = j, s
			}
		}
		bound := (low - high) / norm
		gap := norm*norm - (low - high)
		p := difference(near, far)
		stuck := gap <= roundOff*norm || slices.ContainsFunc(corral, func(q []float64) bool { return slices.Equal(p, q) })
		if gap <= gapTol*norm*norm || stuck {
			if bound > SeparationTolerance {
				return bound, nil
			}
			return 0, fmt.Errorf("undecided: the distance of the convex hulls is between %.3g and %.3g of the radius of the data", max(bound, 0), norm)
		}
		corral = append(corral, p)
		weights = append(weights, 0)
		for {
			target, ok := affineMinimum(corral)
			if !ok {
				return 0, errors.New("undecided: points on the convex hulls are degenerate to working precision")
			}
			if floats.Min(target) > weight0 {
				weights = target
				break
			}
			// Go towards the target until the first weight vanishes, and drop it.
			step, drop := 1.0, -1
			for k, t := range target {
				if t <= weight0 {
					if s := weights[k] / (weights[k] - t); drop < 0 || s < step {
						step, drop = min(max(s, 0), 1), k
					}
				}
			}
			for k, t := range target {
				weights[k] = max(weights[k]+step*(t-weights[k]), 0)
			}
			weights = slices.Delete(weights, drop, drop+1)
			corral = slices.Delete(corral, drop, drop+1)
			floats.Scale(1/floats.Sum(weights), weights)
		}
	}
	return 0, errors.New("undecided: Wolfe's algorithm reached its cap on iterations")
}

// affineMinimum returns the coefficients, of sum 1, of the shortest vector in
// the affine hull of points.
func affineMinimum(points [][]float64) ([]float64, bool) {
	s, d := len(points)-1, len(points[0])
	if s == 0 {
		return []float64{1}, true
	}
	if s > d {
		return nil, false
	}
	edges := mat.NewDense(d, s, nil)
	for k, p := range points[1:] {
		edges.SetCol(k, metric.Sub(nil, p, points[0]))
	}
	var qr mat.QR
	qr.Factorize(edges)
	var beta mat.VecDense
	if err := qr.SolveVecTo(&beta, false, mat.NewVecDense(d, points[0])); err != nil {
		return nil, false
	}
	out := make([]float64, s+1)
	out[0] = 1
	for k := range s {
		out[k+1] = -beta.AtVec(k)
		out[0] += beta.AtVec(k)
	}
	return out, true
}
