package triplets

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
	"metriclab/pkg/spectral"
)

// TieTolerance says when two squared distances are equal: when they differ by at most TieTolerance
// times the larger magnitude.
const TieTolerance = 1e-12

// Tied reports whether two squared distances are equal by TieTolerance. Under K = I all are, and
// which of them round-off makes the smaller is luck. Round-off can make them negative, too.
//
// The tolerance is relative to the two alone. One relative to the entries of K would let the
// scale of one object decide about the others, and take the order of near objects far from the origin for
// a tie. So where A, Near and Far coincide but for the round-off of K, its two distances tie only if they are equal.
func Tied(sqNear, sqFar float64) bool {
	return math.Abs(sqNear-sqFar) <= TieTolerance*max(math.Abs(sqNear), math.Abs(sqFar))
}

// Errors returns the share of the triplets that the kernel k does not satisfy: strict counts a tie
// (Tied) as an error, half as half of one. It panics if ts is empty, an index is outside of k or a
// squared distance is not finite.
func Errors(k mat.Symmetric, ts []metric.Triplet) (strict, half float64) {
	if len(ts) == 0 {
		panic("triplets: Errors of no triplet")
	}
	var wrong, ties int
	for _, t := range ts {
		near, far := sqDist(k, t.A, t.Near), sqDist(k, t.A, t.Far)
		switch {
		case math.IsNaN(near-far) || math.IsInf(near-far, 0):
			panic(fmt.Sprintf("triplets: Errors: the squared distances of %v are %v and %v", t, near, far))
		case Tied(near, far):
			ties++
		case near > far:
			wrong++
		}
	}
	m := float64(len(ts))
	return float64(wrong+ties) / m, (float64(wrong) + float64(ties)/2) / m
}

// sqDist returns d²(i, j) = K_ii + K_jj − 2K_ij.
func sqDist(k mat.Symmetric, i, j int) float64 {
	return k.At(i, i) + k.At(j, j) - 2*k.At(i, j)
}

// RankTolerance is the default tolerance of Rank.
const RankTolerance = 1e-6

// Rank returns the number of eigenvalues of k greater than tol times the largest; tol 0 means
// RankTolerance. It is 0 if no eigenvalue is positive. It panics if k is nil, empty or not finite,
// or if tol is negative.
func Rank(k mat.Symmetric, tol float64) int {
	if !(tol >= 0) {
		panic("triplets: Rank: tol is negative or NaN")
	}
	if tol == 0 {
		tol = RankTolerance
	}
	values, _ := eigen(k, false)
	return rank(values, tol)
}

// rank returns the number of values greater than 0 and than tol times the largest.
func rank(values []float64, tol float64) int {
	top := 0.0
	for _, v := range values {
		top = max(top, v)
	}
	r := 0
	for _, v := range values {
		if v > tol*top {
			r++
		}
	}
	return r
}

// eigen returns the eigenvalues of k, ascending, and its eigenvectors as columns if they are
// wanted.
func eigen(k mat.Symmetric, vectors bool) ([]float64, *mat.Dense) {
	if err := checkFinite(k); err != nil {
		panic("triplets: " + err.Error())
	}
	var eig spectral.EigenSym
	if !eig.Factorize(k, vectors) {
		panic("triplets: the eigendecomposition of a finite matrix did not converge")
	}
	if !vectors {
		return eig.Values(nil), nil
	}
	var v mat.Dense
	eig.VectorsTo(&v)
	return eig.Values(nil), &v
}

// checkFinite returns an error unless every entry of k is finite.
func checkFinite(k mat.Symmetric) error {
	n := k.SymmetricDim()
	for i := range n {
		for j := i; j < n; j++ {
			if v := k.At(i, j); math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("entry (%d, %d): %v is not allowed, want a finite number", i, j, v)
			}
		}
	}
	return nil
}
