package plain

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
)

// IPLR learns W = I + ULUᵀ: the identity plus a matrix in the span of the rows of ut, Uᵀ, k×d with orthonormal rows. The
// result has F = I + L in place of K, which starts as I. A link has the squared distance p + r, p = zᵀFz with z = Uᵀv,
// and r = ‖v‖² − ‖z‖² that no F changes. S is nil.
// gamma = +Inf, no slack, is for links that some F satisfies: u > r for similar ones.
//
// Source: Jain, Kulis, Davis, Dhillon, Metric and Kernel Learning Using a Linear Transformation, JMLR 13, 2012,
// Section 3.6, Eq. 11, by Algorithm 1.
func IPLR(x, ut mat.Matrix, links []metric.Link, b Bounds, gamma float64, cycles int) LogDetResult {
	k, _ := ut.Dims()
	f := scaledIdentity(k, 1) // F ≻ 0. printed in Eq. 8: L ⪰ 0, under which no distance could shrink
	lambda, xi := make([]float64, len(links)), make([]float64, len(links))
	for i, l := range links {
		xi[i] = b.of(l)
	}
	for range cycles {
		for i, l := range links {
			v := difference(mat.Row(nil, l.I, x), mat.Row(nil, l.J, x))
			var z, fz mat.VecDense
			z.MulVec(ut, v)
			fz.MulVec(f, &z)
			p, r, delta := mat.Dot(&z, &fz), mat.Dot(v, v)-mat.Dot(&z, &z), float64(l.Label)
			if p == 0 || l.Label == metric.Dissimilar && r >= b.Lower {
				continue // no F moves the pair, or each F has it far enough apart
			}
			// The new p' has p' + r = ξ', 1/p' = 1/p − δα and 1/ξ' = 1/ξ + δα/γ. So c·p'² + (cr − 1/γ − 1)p' − r/γ = 0.
			// printed: p' = ξ' for bounds u − r and ℓ − r, which cannot be where u < r
			c := 1/xi[i] + 1/(gamma*p)
			h := (1 + 1/gamma - c*r) / 2
			root := math.Sqrt(h*h + c*r/gamma)
			next := (h + root) / c
			if h < 0 {
				next = r / gamma / (root - h) // the same root, of which h + root would lose the digits
			}
			alpha := math.Min(lambda[i], delta*(1/p-1/next))
			beta := delta * alpha / (1 - delta*alpha*p)
			xi[i] /= 1 + delta*alpha*xi[i]/gamma
			lambda[i] -= alpha
			f.SymRankOne(f, beta, &fz)
		}
	}
	return LogDetResult{K: f, Lambda: lambda, Xi: xi}
}
