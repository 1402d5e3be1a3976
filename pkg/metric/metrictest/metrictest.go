// Package metrictest checks that a squared distance keeps the promises of
// package metric. It is for tests of metrics, here and in other modules.
package metrictest

import (
	"math"
	"testing"

	"metriclab/pkg/metric"
)

// Check reports through t every way in which d breaks the laws of the square of
// a pseudo-metric on the given points:
//
//   - d(x, y)² is finite and ≥ 0, and d(x, x)² = 0 exactly;
//   - d(x, y)² = d(y, x)²;
//   - d(x, z) ≤ d(x, y) + d(y, z) for the distances, the square roots;
//   - for a *metric.Mahalanobis or metric.Euclidean, translation changes nothing;
//   - the arguments are not modified;
//   - SqDist panics for vectors of different length.
//
// Comparisons of squared distances hold within tol·D², where D² is the largest of
// all, and those of distances within √tol·D. It panics with fewer than two points.
func Check(t testing.TB, d metric.SqDister, points [][]float64, tol float64) {
	t.Helper()
	n := len(points)
	if n < 2 {
		panic("metrictest: fewer than two points")
	}
	before := clone(points)
	sq := make([][]float64, n)
	var largest float64
	for i, x := range points {
		sq[i] = make([]float64, n)
		for j, y := range points {
			v := d.SqDist(x, y)
			if !(v >= 0) || math.IsInf(v, 1) {
				t.Errorf("squared distance of points %d and %d is %v, want a finite number ≥ 0", i, j, v)
				return
			}
			sq[i][j] = v
			largest = math.Max(largest, v)
		}
	}
	for i := range n {
		if sq[i][i] != 0 {
			t.Errorf("squared distance of point %d to itself is %v, want 0", i, sq[i][i])
		}
		for j := range i {
			if math.Abs(sq[i][j]-sq[j][i]) > tol*largest {
				t.Errorf("squared distance of points %d and %d is %v, the other way round %v", i, j, sq[i][j], sq[j][i])
			}
		}
	}
	for i := range n {
		for j := range n {
			for k := range n {
				direct, around := math.Sqrt(sq[i][k]), math.Sqrt(sq[i][j])+math.Sqrt(sq[j][k])
				if direct > around+math.Sqrt(tol*largest) {
					t.Errorf("triangle: distance of points %d and %d is %v, through %d it is %v", i, k, direct, j, around)
				}
			}
		}
	}
	switch d.(type) {
	case *metric.Mahalanobis, metric.Euclidean:
		moved := clone(points)
		for _, p := range moved {
			for j := range p {
				p[j] += 1 + float64(j%5)/4
			}
		}
		for i := range n {
			for j := range n {
				if v := d.SqDist(moved[i], moved[j]); math.Abs(v-sq[i][j]) > tol*largest {
					t.Errorf("translation: squared distance of points %d and %d was %v, is %v", i, j, sq[i][j], v)
				}
			}
		}
	}
	for i := range points {
		for j := range points[i] {
			if points[i][j] != before[i][j] {
				t.Errorf("point %d was modified", i)
				break
			}
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("SqDist of vectors of different length did not panic")
		}
	}()
	d.SqDist(points[0], make([]float64, len(points[0])+1))
}

func clone(points [][]float64) [][]float64 {
	out := make([][]float64, len(points))
	for i, p := range points {
		out[i] = append([]float64{}, p...)
	}
	return out
}
