package plain

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
)

// OASIS learns the matrix W of a similarity S(x, y) = xᵀWy from comparisons of vectors "a is more like near than like
// far", one at a time. W need be neither symmetric nor positive semi-definite.
//
// Source: Chechik, Sharma, Shalit, Bengio, Large Scale Online Learning of Image Similarity Through Ranking, JMLR 11
// (2010), Section 3.
type OASIS struct {
	W *mat.Dense
	C float64 // the longest step
}

// NewOASIS returns OASIS with W = I for vectors of length dim.
func NewOASIS(dim int, c float64) *OASIS {
	return &OASIS{W: mat.DenseCopyOf(scaledIdentity(dim, 1)), C: c}
}

// Step learns from a comparison and returns its loss max(0, 1 − S(a, near) + S(a, far)) before, and τ.
func (l *OASIS) Step(c metric.Comparison) (loss, tau float64) {
	a, v := mat.NewVecDense(len(c.A), c.A), difference(c.Near, c.Far)
	loss = math.Max(0, 1-mat.Inner(a, l.W, v))
	if loss == 0 {
		return 0, 0
	}
	tau = math.Min(l.C, loss/(mat.Dot(a, a)*mat.Dot(v, v))) // ‖avᵀ‖² = ‖a‖²‖v‖²
	l.W.RankOne(l.W, tau, a, v)
	return loss, tau
}
