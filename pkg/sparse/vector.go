// Package sparse holds vectors and matrices of which few entries are not 0: compressed rows,
// their products with dense matrices, and dot products of all rows by postings. It is a leaf:
// it knows neither texts nor learners.
//
// Every sum is taken in the ascending order of its indices, without fused operations, so that
// results have equal bits on all processors, and Vector.Dot, Postings.Dots, Matrix.Gram and
// Matrix.Between agree to the bit.
//
// # How it is built
//
// Sparse rows are one type from reading to learning: datasets.ReadSVMLight and text.Vectorizer.Matrix make a
// *Matrix, whose rows are views, and learners such as labels.FitLSA take it. It is a mat.Matrix too, so that
// whatever reads one takes it by a dense copy.
//
// It is our own. gonum has no sparse matrix. james-bowman/sparse sums in assembly on amd64, in other orders than
// its pure Go, has no products of all rows by postings, and does not limit sizes.
package sparse

import (
	"fmt"
	"math"
)

// Vector is a vector of which few entries are not 0: entry Index[k] is Value[k]. Functions that
// take one rely on what Check tests, but for the values.
type Vector struct {
	Index []int // ascending, from 0
	Value []float64
}

// Check returns an error unless Index and Value have one length, the indices ascend and lie
// below dim, and the values are finite.
func (v Vector) Check(dim int) error {
	if len(v.Index) != len(v.Value) {
		return fmt.Errorf("sparse: %d indices with %d values, want one each", len(v.Index), len(v.Value))
	}
	for k, i := range v.Index {
		switch {
		case i < 0 || i >= dim:
			return fmt.Errorf("sparse: index %d is not allowed, want 0 to %d", i, dim-1)
		case k > 0 && i <= v.Index[k-1]:
			return fmt.Errorf("sparse: index %d behind %d is not allowed, want ascending ones", i, v.Index[k-1])
		case math.IsNaN(v.Value[k]) || math.IsInf(v.Value[k], 0):
			return fmt.Errorf("sparse: entry %d: %v is not allowed, want a finite number", i, v.Value[k])
		}
	}
	return nil
}

// Dense sets dst to the vector. It panics if an index is not below len(dst).
func (v Vector) Dense(dst []float64) {
	clear(dst)
	for k, i := range v.Index {
		dst[i] = v.Value[k]
	}
}

// Dot returns Σᵢ vᵢ·wᵢ over the indices that both have, in ascending order.
func (v Vector) Dot(w Vector) float64 {
	var sum float64
	for a, b := 0, 0; a < len(v.Index) && b < len(w.Index); {
		switch i, j := v.Index[a], w.Index[b]; {
		case i < j:
			a++
		case i > j:
			b++
		default:
			sum += float64(v.Value[a] * w.Value[b]) // the conversion forbids fusing
			a, b = a+1, b+1
		}
	}
	return sum
}

// DotDense returns Σᵢ vᵢ·xᵢ in ascending order. It panics if an index is not below len(x).
func (v Vector) DotDense(x []float64) float64 {
	var sum float64
	for k, i := range v.Index {
		sum += float64(v.Value[k] * x[i])
	}
	return sum
}

// SqNorm returns ‖v‖², to the bit v.Dot(v).
func (v Vector) SqNorm() float64 {
	var sum float64
	for _, x := range v.Value {
		sum += float64(x * x)
	}
	return sum
}

// Difference returns v − w, in the memory of dst if that is large enough. Entries that are equal
// in both are left out.
func Difference(dst, v, w Vector) Vector {
	dst.Index, dst.Value = dst.Index[:0], dst.Value[:0]
	v.each(w, func(i int, x, y float64) {
		if x != y {
			dst.Index, dst.Value = append(dst.Index, i), append(dst.Value, x-y)
		}
	})
	return dst
}

// SqDist returns ‖v − w‖².
func (v Vector) SqDist(w Vector) float64 {
	var sum float64
	v.each(w, func(_ int, x, y float64) {
		d := x - y
		sum += float64(d * d)
	})
	return sum
}

// each calls f for each index that one of the vectors has, in ascending order, with both entries.
func (v Vector) each(w Vector, f func(i int, x, y float64)) {
	for a, b := 0, 0; a < len(v.Index) || b < len(w.Index); {
		switch {
		case b == len(w.Index) || a < len(v.Index) && v.Index[a] < w.Index[b]:
			f(v.Index[a], v.Value[a], 0)
			a++
		case a == len(v.Index) || v.Index[a] > w.Index[b]:
			f(w.Index[b], 0, w.Value[b])
			b++
		default:
			f(v.Index[a], v.Value[a], w.Value[b])
			a, b = a+1, b+1
		}
	}
}

// AddTo adds s·v to dst. It panics if an index is not below len(dst).
func (v Vector) AddTo(dst []float64, s float64) { addScaled(dst, s, v) }
