package plain

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
)

// Bounds are u and ℓ: wanted are squared distances of at most Upper for similar links, and at least Lower for others.
type Bounds struct{ Upper, Lower float64 }

// of returns the bound of a link.
func (b Bounds) of(l metric.Link) float64 {
	if l.Label == metric.Similar {
		return b.Upper
	}
	return b.Lower
}

// LogDetResult is the state of Algorithm 1: the matrix K or W, and of each link the multiplier λ ≥ 0 and the slack ξ, the
// squared distance that is wanted. K = K₀ + K₀SK₀, so that of new objects x and y k(x, y) = k₀(x, y) + k₀(x)ᵀSk₀(y), where
// k₀(x) has the kernel values of x with all objects.
type LogDetResult struct {
	K, S       *mat.SymDense
	Lambda, Xi []float64
	k0         mat.Symmetric
}

// NewLogDet is the state before the first projection, K = k0, where a link has the bound xi.
func NewLogDet(k0 mat.Symmetric, xi []float64) *LogDetResult {
	n := k0.SymmetricDim()
	r := &LogDetResult{mat.NewSymDense(n, nil), mat.NewSymDense(n, nil), make([]float64, len(xi)), slices.Clone(xi), k0}
	r.K.CopySym(k0)
	return r
}

// Project is one projection of Algorithm 1, lines 3.2 to 3.8, onto the link i, with the squared distance p = vᵀKv. It returns
// p before, and α.
func (r *LogDetResult) Project(i int, v mat.Vector, label metric.Label, gamma float64) (p, alpha float64) {
	p, delta := mat.Inner(v, r.K, v), float64(label)
	if p == 0 {
		return 0, 0 // duplicate points; the paper divides by p
	}
	share := 1 / (1 + 1/gamma) // γ/(γ + 1) of the gap is closed by the distance; the slack closes the rest
	alpha = math.Min(r.Lambda[i], delta*share*(1/p-1/r.Xi[i]))
	beta := delta * alpha / (1 - delta*alpha*p)
	r.Xi[i] /= 1 + delta*alpha*r.Xi[i]/gamma // ξ ← γξ/(γ + δαξ)
	r.Lambda[i] -= alpha
	var kv, k0v, sv mat.VecDense
	kv.MulVec(r.K, v)
	r.K.SymRankOne(r.K, beta, &kv) // K ← K + βKvvᵀK
	k0v.MulVec(r.k0, v)
	sv.MulVec(r.S, &k0v)
	sv.AddVec(&sv, v)
	r.S.SymRankOne(r.S, beta, &sv) // S ← S + β(v + SK₀v)(v + SK₀v)ᵀ
	return p, alpha
}

// LogDet learns the kernel matrix K that is nearest to k0 in LogDet divergence, with slack of weight gamma, by Bregman
// projections on one link after another. gamma = +Inf has no slack.
//
// Source: Jain, Kulis, Davis, Dhillon, Metric and Kernel Learning Using a Linear Transformation, JMLR 13, 2012,
// Algorithm 1.
func LogDet(k0 mat.Symmetric, links []metric.Link, b Bounds, gamma float64, cycles int) LogDetResult {
	n := k0.SymmetricDim()
	v := make([]*mat.VecDense, len(links)) // eᵢ − eⱼ
	for k, l := range links {
		v[k] = mat.NewVecDense(n, nil)
		v[k].SetVec(l.I, 1)
		v[k].SetVec(l.J, -1)
	}
	return projections(k0, v, links, b, gamma, cycles)
}

// ITML is LogDet in input space: the matrix W nearest to w0, for rows of x. With K = XWXᵀ it is the same algorithm.
//
// Source: Davis, Kulis, Jain, Sra, Dhillon, Information-Theoretic Metric Learning, ICML 2007.
func ITML(w0 mat.Symmetric, x mat.Matrix, links []metric.Link, b Bounds, gamma float64, cycles int) LogDetResult {
	v := make([]*mat.VecDense, len(links))
	for k, l := range links {
		v[k] = difference(mat.Row(nil, l.I, x), mat.Row(nil, l.J, x))
	}
	return projections(w0, v, links, b, gamma, cycles)
}

// projections is the loop of Algorithm 1, with vectors v for which vᵀKv is the squared distance.
func projections(k0 mat.Symmetric, v []*mat.VecDense, links []metric.Link, b Bounds, gamma float64, cycles int) LogDetResult {
	xi := make([]float64, len(links))
	for i, l := range links {
		xi[i] = b.of(l)
	}
	r := NewLogDet(k0, xi)
	for range cycles {
		for i, l := range links {
			r.Project(i, v[i], l.Label, gamma)
		}
	}
	return *r
}
